//! Writes LSTS files.
//!
//! Actions by number, propositions in their order with ranges of states, one row for each state that has
//! transitions; so equal systems are equal bytes. Lines are cut after some 72 columns, never inside a
//! transition. Nothing is collected: what is written goes out at once.
//! **Checked by** round trips, and by equal bytes for equal systems.

use crate::lsts::{Lsts, Mark};
use fixedbitset::FixedBitSet;
use std::io::{self, Write};

/// Writes `lsts` as text.
pub fn write_lsts(lsts: &Lsts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Begin Lsts\n\nBegin Header")?;
    writeln!(out, " State_cnt = {}", lsts.n_states())?;
    writeln!(out, " Action_cnt = {}", lsts.action_names().len())?;
    writeln!(out, " Transition_cnt = {}", lsts.n_transitions())?;
    writeln!(out, " State_prop_cnt = {}", lsts.propositions().len())?;
    writeln!(out, " Initial_states = {};\nEnd Header", lsts.initial() + 1)?;
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
    writeln!(out, "\nBegin Transitions")?;
    for state in (0..lsts.n_states() as u32).filter(|&state| !lsts.range(state).is_empty()) {
        let mut line = format!(" {}:", state + 1);
        for (action, target) in lsts.edges(state) {
            if line.len() > 72 {
                writeln!(out, "{line}")?;
                line.clear();
                line.push_str("  ");
            }
            use std::fmt::Write as _;
            let _ = write!(line, " {},{action}", target + 1);
        }
        writeln!(out, "{line};")?;
    }
    writeln!(out, "End Transitions\n\nEnd Lsts")
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
