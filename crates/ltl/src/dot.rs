//! Writes automata for Graphviz.

use crate::{Automaton, State};
use std::fmt::Write;

/// The automaton as a graph: accepting states of a Büchi automaton have two circles; other acceptance sets
/// are written in braces.
pub fn dot(automaton: &Automaton, title: &str) -> String {
    let mut out = format!("digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=circle];\n", escape(title));
    for (i, state) in automaton.initial().iter().enumerate() {
        let _ = writeln!(out, "  start{i} [shape=point];\n  start{i} -> {state};");
    }
    for state in automaton.states() {
        let _ = writeln!(out, "  {state}{};", style(automaton, state));
        for edge in automaton.edges(state) {
            let guard = edge.guard.show_with(automaton.propositions());
            let label = format!("{guard}{}", shown_sets(edge.marks));
            let _ = writeln!(out, "  {state} -> {} [label=\"{}\"];", edge.target, escape(&label));
        }
    }
    out + "}\n"
}

fn style(automaton: &Automaton, state: State) -> String {
    match automaton.is_buchi() {
        true if automaton.is_accepting(state) => " [shape=doublecircle]".to_owned(),
        true => String::new(),
        false => format!(" [label=\"{state}{}\"]", shown_sets(automaton.state_marks(state))),
    }
}

/// ` {0 2}`, or nothing for no sets.
pub(crate) fn shown_sets(marks: u64) -> String {
    let sets: Vec<String> = (0..64).filter(|i| marks >> i & 1 == 1).map(|i| i.to_string()).collect();
    if sets.is_empty() { String::new() } else { format!(" {{{}}}", sets.join(" ")) }
}

/// `text` within double quotes.
fn escape(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    visible.collect::<String>().replace('\\', "\\\\").replace('"', "\\\"")
}
