//! Writes LSTS files.
//!
//! Actions by number, propositions in their order with ranges of states, one row for each state that has
//! transitions; so equal systems are equal bytes. Lines are cut after some 72 columns, never inside a
//! transition. Nothing is collected: what is written goes out at once.
//! **Checked by** round trips, and by equal bytes for equal systems.

use crate::document::{Document, Extras};
use crate::lsts::{Lsts, Mark};
use fixedbitset::FixedBitSet;
use std::io::{self, Write};

/// Writes `lsts` as text.
pub fn write_lsts(lsts: &Lsts, out: &mut dyn Write) -> io::Result<()> {
    write(lsts, &Extras::default(), out)
}

/// The same with what else was in the file that it comes from.
pub fn write_document(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    write(&document.lsts, &document.extras, out)
}

fn write(lsts: &Lsts, extras: &Extras, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Begin Lsts")?;
    if !extras.history.is_empty() {
        write!(out, "\nBegin History\n ")?;
        out.write_all(&extras.history)?;
        writeln!(out, "\nEnd History")?;
    }
    writeln!(out, "\nBegin Header")?;
    writeln!(out, " State_cnt = {}", lsts.n_states())?;
    writeln!(out, " Action_cnt = {}", lsts.action_names().len())?;
    writeln!(out, " Transition_cnt = {}", lsts.n_transitions())?;
    writeln!(out, " State_prop_cnt = {}", lsts.propositions().len())?;
    write!(out, " Initial_states = {}", lsts.initial() + 1)?;
    for state in &extras.initial_states {
        write!(out, " {}", state + 1)?;
    }
    writeln!(out, ";")?;
    for attribute in &extras.attributes {
        write!(out, " ")?;
        out.write_all(attribute)?;
        writeln!(out)?;
    }
    writeln!(out, "End Header")?;
    writeln!(out, "\nBegin Action_names")?;
    for (i, name) in lsts.action_names().iter().enumerate() {
        write!(out, " {} = ", i + 1)?;
        write_string(name, out)?;
        writeln!(out)?;
    }
    writeln!(out, "End Action_names")?;
    if lsts.has_state_names() {
        writeln!(out, "\nBegin State_names")?;
        for state in 0..lsts.n_states() as u32 {
            if let Some(name) = lsts.state_name(state) {
                write!(out, " {} = ", state + 1)?;
                write_string(name, out)?;
                writeln!(out)?;
            }
        }
        writeln!(out, "End State_names")?;
    }
    if !lsts.propositions().is_empty() {
        writeln!(out, "\nBegin State_props")?;
        for proposition in lsts.propositions() {
            write!(out, " ")?;
            match &proposition.mark {
                Mark::Named(name) => write_string(name, out)?,
                Mark::Special(special) => write!(out, "{}", special.word())?,
            }
            write!(out, " :")?;
            write_ranges(&proposition.states, out)?;
            writeln!(out, ";")?;
        }
        writeln!(out, "End State_props")?;
    }
    if let Some(divergent) = &extras.divergent {
        write!(out, "\nBegin Div_bits\n ")?;
        write_ranges(divergent, out)?;
        writeln!(out, "\nEnd Div_bits")?;
    }
    if let Some(acceptances) = &extras.acceptances {
        writeln!(out, "\nBegin Acc_sets")?;
        for (state, sets) in acceptances {
            write!(out, " {}", state + 1)?;
            for set in sets {
                let actions: Vec<String> = set.iter().map(u32::to_string).collect();
                write!(out, " {{{}}}", actions.join(" "))?;
            }
            writeln!(out, ";")?;
        }
        writeln!(out, "End Acc_sets")?;
    }
    writeln!(out, "\nBegin Transitions")?;
    let mut line = Vec::new();
    for state in (0..lsts.n_states() as u32).filter(|&state| !lsts.range(state).is_empty()) {
        line.clear();
        write!(line, " {}:", state + 1)?;
        for (action, target) in lsts.edges(state) {
            if line.len() > 72 {
                line.push(b'\n');
                out.write_all(&line)?;
                line.clear();
                line.extend(b"  ");
            }
            write!(line, " {},{action}", target + 1)?;
            if let Some((data, layout)) = extras.data.get(&(state, action, target)) {
                write_strings(data.as_deref(), layout.as_deref(), &mut line)?;
            }
        }
        line.extend(b";\n");
        out.write_all(&line)?;
    }
    writeln!(out, "End Transitions")?;
    if !extras.layout.is_empty() {
        writeln!(out, "\nBegin Layout")?;
        for (state, x, y) in &extras.layout {
            writeln!(out, " {} {x} {y}", state + 1)?;
        }
        writeln!(out, "End Layout")?;
    }
    write!(out, "\nEnd Lsts")?;
    if let Some(remark) = &extras.remark {
        write!(out, " ")?;
        write_string(remark, out)?;
    }
    writeln!(out)
}

/// What is behind a transition.
fn write_strings(data: Option<&str>, layout: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(data) = data {
        write!(out, " ")?;
        write_string(data, out)?;
    }
    if let Some(layout) = layout {
        write!(out, " {{")?;
        write_string(layout, out)?;
        write!(out, "}}")?;
    }
    Ok(())
}

/// Writes a string with quotes and escapes.
pub(crate) fn write_string(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut bytes = vec![b'"'];
    for byte in crate::source::to_latin1(text) {
        match byte {
            b'"' => bytes.extend(b"\\\""),
            b'\\' => bytes.extend(b"\\!"),
            b'\n' => bytes.extend(b"\\n"),
            32..=126 | 160..=254 => bytes.push(byte),
            _ => bytes.extend(format!("\\{byte:02x}").bytes()),
        }
    }
    bytes.push(b'"');
    out.write_all(&bytes)
}

fn write_ranges(states: &FixedBitSet, out: &mut dyn Write) -> io::Result<()> {
    let mut ones = states.ones().peekable();
    let mut column = 0;
    while let Some(first) = ones.next() {
        let mut last = first;
        while ones.peek() == Some(&(last + 1)) {
            last += 1;
            ones.next();
        }
        let text =
            if first == last { format!(" {}", first + 1) } else { format!(" {}..{}", first + 1, last + 1) };
        if column > 72 {
            write!(out, "\n  ")?;
            column = 0;
        }
        column += text.len();
        write!(out, "{text}")?;
    }
    Ok(())
}
