//! What is known of a formula, for people and machines.

use serde_json::json;

/// A formula and its automaton, in words.
#[derive(Clone, Debug)]
pub struct LtlReport {
    /// The formula that the automaton is of (negated if that was asked for).
    pub formula: String,
    /// After rewriting, if that is short enough to be shown.
    pub rewritten: Option<String>,
    /// The texts of the propositions, by number.
    pub propositions: Vec<String>,
    /// States and edges of the automaton.
    pub size: (usize, usize),
    /// States, edges and acceptance sets of the generalised automaton.
    pub generalised: (usize, usize, u32),
    /// Whether this is the closure under stuttering.
    pub is_closure: bool,
    /// Whether the formula is invariant under stuttering, if that is known.
    pub is_stutter_invariant: Option<bool>,
    /// How that is known: `automata` or `syntax`.
    pub decided_by: &'static str,
    /// Which format the automaton is in.
    pub format: &'static str,
    /// The automaton.
    pub automaton: String,
}

/// The facts, one per line.
pub fn ltl_text(report: &LtlReport) -> String {
    let mut out = format!("formula: {}\n", report.formula);
    if let Some(rewritten) = &report.rewritten {
        out += &format!("rewritten: {rewritten}\n");
    }
    let what = if report.is_closure { "closure under stuttering" } else { "automaton" };
    let (states, edges) = report.size;
    out += &format!("{what}: {}, {}\n", count(states, "state"), count(edges, "edge"));
    let (states, edges, sets) = report.generalised;
    out += &format!(
        "generalised: {}, {}, {}\n",
        count(states, "state"),
        count(edges, "edge"),
        count(sets as usize, "acceptance set")
    );
    let answer = match report.is_stutter_invariant {
        Some(true) => "yes",
        Some(false) => "no",
        None => "not known",
    };
    let how = match (report.decided_by, report.is_stutter_invariant) {
        ("automata", _) => "decided exactly, by automata",
        (_, Some(_)) => "by syntax: there is no X; the automata are too large to decide it exactly",
        (_, None) => "there is an X, and the automata are too large to decide it",
    };
    out + &format!("stutter-invariant: {answer} ({how})\n")
}

fn count(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// The same as one JSON object.
pub fn ltl_json(report: &LtlReport) -> String {
    let value = json!({
        "format": "stubborn-ltl-1",
        "formula": report.formula,
        "rewritten": report.rewritten,
        "propositions": report.propositions,
        "states": report.size.0,
        "edges": report.size.1,
        "generalised": {
            "states": report.generalised.0, "edges": report.generalised.1, "sets": report.generalised.2,
        },
        "closure": report.is_closure,
        "stutter_invariant": report.is_stutter_invariant,
        "decided_by": report.decided_by,
        "automaton_format": report.format,
        "automaton": report.automaton,
    });
    serde_json::to_string_pretty(&value).unwrap_or_default()
}
