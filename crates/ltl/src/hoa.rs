//! Writes the Hanoi Omega-Automata format, version 1.
//!
//! Checked by `tests/all/hoa.rs`: what is written reads back the same.

use crate::Automaton;
use crate::dot::shown_sets;
use crate::guard::Signs;
use std::fmt::Write;

const HOA: Signs = Signs { always: "t", never: "f", not: "!", and: "&", or: " | " };

/// The automaton in HOA. `name` is its name; it may be empty.
pub fn to_hoa(automaton: &Automaton, name: &str) -> String {
    let mut out = String::from("HOA: v1\n");
    if !name.is_empty() {
        let _ = writeln!(out, "name: {}", quoted(name));
    }
    let _ = writeln!(out, "States: {}", automaton.n_states());
    for state in automaton.initial() {
        let _ = writeln!(out, "Start: {state}");
    }
    let _ = write!(out, "AP: {}", automaton.propositions().len());
    for proposition in automaton.propositions().iter() {
        let _ = write!(out, " {}", quoted(&proposition.text));
    }
    out.push('\n');
    write_acceptance(automaton.n_sets(), &mut out);
    out += "properties: trans-labels explicit-labels";
    out += if automaton.has_state_acceptance() { " state-acc" } else { " trans-acc" };
    if automaton.is_deterministic() {
        out += " deterministic";
    }
    out += "\n--BODY--\n";
    for state in automaton.states() {
        let _ = writeln!(out, "State: {state}{}", shown_sets(automaton.state_marks(state)));
        for edge in automaton.edges(state) {
            let guard = edge.guard.show(HOA, &|i| i.to_string());
            let _ = writeln!(out, "[{guard}] {}{}", edge.target, shown_sets(edge.marks));
        }
    }
    out + "--END--\n"
}

fn write_acceptance(n_sets: u32, out: &mut String) {
    let name = match n_sets {
        0 => "all".to_owned(),
        1 => "Buchi".to_owned(),
        n => format!("generalized-Buchi {n}"),
    };
    let all: Vec<String> = (0..n_sets).map(|i| format!("Inf({i})")).collect();
    let condition = if all.is_empty() { "t".to_owned() } else { all.join("&") };
    let _ = writeln!(out, "acc-name: {name}\nAcceptance: {n_sets} {condition}");
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
