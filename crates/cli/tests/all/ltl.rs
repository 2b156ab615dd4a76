//! `stubborn ltl`.

use crate::common::stubborn_with;

#[test]
fn a_formula_becomes_an_automaton() {
    let run = stubborn_with(["ltl", "[] (p -> <> q)"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for line in [
        "formula: ([] (p -> (<> q)))",
        "automaton: 2 states, 4 edges",
        "generalised: 2 states, 4 edges, 1 acceptance set",
        "stutter-invariant: yes (decided exactly, by automata)",
        "state 0, initial, accepting",
    ] {
        assert!(run.out.lines().any(|l| l == line), "{line}\n{}", run.out);
    }
}

#[test]
fn formats_are_what_other_tools_read() {
    let hoa = stubborn_with(["ltl", "<> [] (x == 1)", "--format", "hoa"]);
    assert!(hoa.out.starts_with("HOA: v1\n") && hoa.out.ends_with("--END--\n"));
    assert!(hoa.out.contains("AP: 1 \"x == 1\"") && hoa.err.contains("stutter-invariant: yes"));
    let never = stubborn_with(["ltl", "[] p", "--negate", "--format", "never"]);
    assert!(never.out.starts_with("never {    /* (!([] p)) */\nT0_init:\n"), "{}", never.out);
    assert!(never.out.contains("(!p) -> goto accept_S1"), "{}", never.out);
    assert!(stubborn_with(["ltl", "p", "--format", "dot"]).out.starts_with("digraph"));
}

#[test]
fn stuttering_is_reported_and_closed() {
    let json = stubborn_with(["ltl", "p && X !p", "--json"]).json();
    assert_eq!(json["stutter_invariant"], false);
    assert_eq!(json["decided_by"], "automata");
    assert_eq!(json["closure"], false);
    assert_eq!(json["propositions"][0], "p");
    let json = stubborn_with(["ltl", "p && X !p", "--closure", "--json", "--format", "hoa"]).json();
    assert_eq!(json["closure"], true);
    assert!(
        json["automaton"].as_str().is_some_and(|text| text.contains("name: \"closure under stuttering of"))
    );
}

#[test]
fn bad_formulas_have_a_place() {
    let run = stubborn_with(["ltl", "[] (p -> q"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("`(` is never closed") && run.err.contains("formula:1:4"), "{}", run.err);
    let run = stubborn_with(["ltl", "p U", "--json"]);
    assert_eq!((run.code, run.json()["exit_code"].as_i64()), (2, Some(2)));
    assert!(run.json()["error"].as_str().is_some_and(|e| e.starts_with("column 4:")), "{}", run.out);
    let deep = "(".repeat(100_000);
    let run = stubborn_with(["ltl", &deep]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("column 251") && run.err.len() < 300, "{}", run.err.len());
    let many: Vec<String> = (0..30).map(|i| format!("[] <> (p{i} U q{i})")).collect();
    let run = stubborn_with(["ltl", &many.join(" && ")]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("the automaton would have more than"), "{}", run.err);
}
