//! LSTSs for Graphviz: states with their numbers and propositions, transitions with their actions.

use crate::lsts::{Lsts, Mark, TAU};
use crate::source::to_latin1;
use std::io::{self, Write};

/// Writes `lsts` for `dot`.
pub fn write_dot(lsts: &Lsts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "digraph lsts {{\n  charset=\"latin1\";\n  start [shape=point];")?;
    for state in 0..lsts.n_states() as u32 {
        let mut label = format!("{}", state + 1);
        for proposition in lsts.propositions().iter().filter(|p| p.states.contains(state as usize)) {
            label.push_str("\\n");
            match &proposition.mark {
                Mark::Named(name) => label.push_str(&escaped(name)),
                Mark::Special(special) => label.push_str(special.word()),
            }
        }
        write!(out, "  s{} [label=\"", state + 1)?;
        out.write_all(&to_latin1(&label))?;
        writeln!(out, "\"];")?;
    }
    writeln!(out, "  start -> s{};", lsts.initial() + 1)?;
    for state in 0..lsts.n_states() as u32 {
        for (action, target) in lsts.edges(state) {
            let style = if action == TAU { ", style=dashed" } else { "" };
            write!(out, "  s{} -> s{} [label=\"", state + 1, target + 1)?;
            out.write_all(&to_latin1(&escaped(lsts.action_name(action))))?;
            writeln!(out, "\"{style}];")?;
        }
    }
    writeln!(out, "}}")
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
