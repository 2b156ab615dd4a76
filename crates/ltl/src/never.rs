//! Writes never claims for SPIN.

use crate::{Automaton, State, degeneralise};
use std::fmt::Write;

/// The automaton as a never claim. One that is not a Büchi automaton with accepting states and one initial
/// state is made one first. `title` goes into a comment.
pub fn never_claim(automaton: &Automaton, title: &str) -> String {
    let is_ready = automaton.is_buchi() && automaton.initial().len() == 1;
    let automaton = if is_ready { automaton.clone() } else { degeneralise(automaton) };
    let start = automaton.initial().first().copied();
    let label = |state: State| match (Some(state) == start, automaton.is_accepting(state)) {
        (true, true) => "accept_init".to_owned(),
        (true, false) => "T0_init".to_owned(),
        (false, true) => format!("accept_S{state}"),
        (false, false) => format!("T0_S{state}"),
    };
    let mut out = format!("never {{    /* {} */\n", title.replace("*/", "* /").replace(['\n', '\r'], " "));
    // The first state of a claim is its initial one.
    let others = automaton.states().filter(|s| Some(*s) != start);
    for state in start.into_iter().chain(others) {
        let _ = writeln!(out, "{}:", label(state));
        if automaton.edges(state).is_empty() {
            out += "\tfalse;\n";
            continue;
        }
        out += "\tdo\n";
        for edge in automaton.edges(state) {
            let guard = edge.guard.show_with(automaton.propositions());
            let _ = writeln!(out, "\t:: ({guard}) -> goto {}", label(edge.target));
        }
        out += "\tod;\n";
    }
    out + "}\n"
}
