//! Writes rules, in both formats. What comes out by itself is not written.
//!
//! **Checked by** reading again what was written: the plan is the same.

use crate::plan::Plan;
use crate::source::to_latin1;
use crate::write_lsts::write_string;
use std::io::{self, Write};

/// Writes the extended format, with names.
pub fn write_extended_rules(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    write_components(plan, out)?;
    writeln!(out)?;
    for rule in plan.rules() {
        for &(component, action) in &rule.parts {
            let component = &plan.components()[component];
            write!(out, "({},", component.number)?;
            write_string(component.lsts.action_name(action), out)?;
            write!(out, ") ")?;
        }
        write!(out, "-> ")?;
        match rule.result {
            crate::TAU => write!(out, "0")?,
            result => write_string(plan.action_name(result), out)?,
        }
        writeln!(out)?;
    }
    if !plan.hidden().is_empty() || plan.propositions().iter().any(|rule| !rule.is_implied) {
        writeln!(out, "\nBegin State_prop_rules")?;
        write_propositions(plan, out)?;
        writeln!(out, "End State_prop_rules")?;
    }
    Ok(())
}

/// Writes the numeric format.
pub fn write_numeric_rules(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Parallel_composition_rules_file\n\nBegin Header")?;
    writeln!(out, " Action_cnt = {}\nEnd Header\n\nBegin Action_names", plan.alphabet().len())?;
    for (i, name) in plan.alphabet().iter().enumerate() {
        write!(out, " {} = ", i + 1)?;
        write_string(name, out)?;
        writeln!(out)?;
    }
    writeln!(out, "End Action_names\n\nBegin Parcomponents")?;
    write_components(plan, out)?;
    writeln!(out, "End Parcomponents\n\nBegin State_prop_rules")?;
    write_propositions(plan, out)?;
    writeln!(out, "End State_prop_rules\n\nBegin Rules\n Amount = {}", plan.rules().len())?;
    for rule in plan.rules() {
        for &(component, action) in &rule.parts {
            write!(out, " ({},{action})", plan.components()[component].number)?;
        }
        writeln!(out, " -> {}", rule.result)?;
    }
    writeln!(out, "End Rules\n\nEnd_parallel_composition_rules")
}

fn write_components(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    for component in plan.components() {
        write!(out, "{} = ", component.number)?;
        if !component.prefix.is_empty() {
            write!(out, "<")?;
            write_string(&component.prefix, out)?;
            write!(out, "> ")?;
        }
        write_string(&component.name, out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn write_propositions(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    for name in plan.hidden() {
        write!(out, " hide ")?;
        write_string(name, out)?;
        writeln!(out, ";")?;
    }
    for rule in plan.propositions().iter().filter(|rule| !rule.is_implied) {
        write!(out, " ")?;
        out.write_all(&to_latin1(&plan.show(&rule.expr)))?;
        write!(out, " -> ")?;
        match &rule.result {
            crate::Mark::Named(name) => write_string(name, out)?,
            crate::Mark::Special(special) => write!(out, "{}", special.word())?,
        }
        writeln!(out, ";")?;
    }
    Ok(())
}
