//! SPIN's automata beside ours: `spin -f` prints a never claim; its labels are its states.
//!
//! Where SPIN is not installed nothing is compared, and the test says so.

use std::collections::HashMap;
use std::process::{Command, Stdio};
use stubborn_ltl::random::Random;
use stubborn_ltl::{Automaton, Formula, Guard, Propositions, parse, product, translate};

fn has_spin() -> bool {
    let has = Command::new("spin").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !has {
        println!("not compared: there is no spin");
    }
    has
}

/// SPIN's automaton, unless it takes more than two seconds.
fn spin(formula: &Formula, names: &Propositions) -> Option<Automaton> {
    let text = formula.show(names);
    let output = Command::new("timeout").args(["2", "spin", "-f", &text]).output().unwrap();
    let claim = String::from_utf8(output.stdout).unwrap();
    if !output.status.success() || !claim.trim_end().ends_with('}') {
        println!("no answer of spin for {text}: {}", output.status);
        return None;
    }
    Some(read_claim(&claim, names))
}

/// Reads a never claim as SPIN prints it. Labels in a row are one state.
fn read_claim(claim: &str, names: &Propositions) -> Automaton {
    let body: Vec<&str> = claim.lines().skip(1).map(str::trim).collect();
    let mut out = Automaton::new(names.clone(), 1);
    let mut numbers = HashMap::new();
    let mut follows_label = false;
    for line in &body {
        let label = line.strip_suffix(':');
        if let Some(label) = label {
            let accepts = u64::from(label.starts_with("accept"));
            let last = out.n_states() as u32;
            numbers.insert(label, if follows_label { last - 1 } else { out.add_state(accepts) });
        }
        follows_label = label.is_some();
    }
    out.add_initial(0);
    let mut state = 0;
    for line in &body {
        if let Some(label) = line.strip_suffix(':') {
            state = numbers[label];
        } else if let Some(rest) = line.strip_prefix(":: atomic {") {
            let (guard, _) = rest.split_once("-> assert").unwrap_or_else(|| panic!("{claim}"));
            out.add_edge(state, read_guard(guard, names), numbers["accept_all"], 0);
        } else if *line == ":: false" {
            // no edge
        } else if let Some(rest) = line.strip_prefix("::") {
            let (guard, label) = rest.split_once("-> goto").unwrap_or_else(|| panic!("{claim}"));
            out.add_edge(state, read_guard(guard, names), numbers[label.trim()], 0);
        } else if *line == "skip" {
            out.add_edge(state, Guard::always(), state, 0);
        } else {
            assert!(["do", "od;", "if", "fi;", "}", "false;", ""].contains(line), "{line}\n{claim}");
        }
    }
    out
}

/// A guard is a formula without temporal operators: its automaton's first edge.
fn read_guard(text: &str, names: &Propositions) -> Guard {
    let mut known = names.clone();
    let formula = parse(text.trim(), &mut known).unwrap();
    assert_eq!(known.len(), names.len(), "{text}");
    let automaton = translate(&formula, names).unwrap().generalised;
    let edges = automaton.edges(automaton.initial()[0]);
    edges.iter().fold(Guard::never(), |all, edge| all.or(&edge.guard))
}

/// Compares languages by products with the automata of the negation; gives both sizes.
fn compare(formula: &Formula, names: &Propositions) -> Option<(usize, usize)> {
    let shown = formula.show(names);
    let negation = formula.clone().negated();
    let ours = translate(formula, names).unwrap().buchi;
    let our_negation = translate(&negation, names).unwrap().buchi;
    let theirs = spin(formula, names)?;
    assert!(product(&theirs, &our_negation).unwrap().is_empty(), "spin accepts more: {shown}");
    if let Some(their_negation) = spin(&negation, names) {
        assert!(product(&ours, &their_negation).unwrap().is_empty(), "we accept more: {shown}");
    }
    Some((ours.n_states(), theirs.n_states()))
}

#[test]
fn five_hundred_random_formulas_are_smaller_than_spins_in_the_sum() {
    if !has_spin() {
        return;
    }
    let mut random = Random::new(2026);
    let names = Propositions::from_texts(["a", "b", "c"]).unwrap();
    let (mut ours, mut theirs, mut n, mut larger) = (0, 0, 0, 0);
    while n < 500 {
        let formula = random.formula(2 + n % 5, 3, false);
        let Some((our, their)) = compare(&formula, &names) else { continue };
        if our > their {
            larger += 1;
            println!("{our} > {their}: {}", formula.show(&names));
        }
        n += 1;
        ours += our;
        theirs += their;
    }
    println!("500 random formulas: {ours} states, spin {theirs}; larger {larger} times");
    assert!(ours < theirs);
}

/// The formulas of SPIN's examples (the properties and their negations; `spin -f` may know no `X`), and of
/// its manual.
const EXAMPLES: &[&str] = &[
    "[] (cs -> mutex)",
    "[] (busy -> <> !busy)",
    "<> elected",
    "<> [] one",
    "[] (none U one)",
    "![] none",
    "[] (short -> nonempty)",
    "(![]<> progress) -> [] (<> inp -> <> out)",
    "(![]<> progress) -> []<> (inp -> <> out)",
    "[]<> p",
    "<>[] p",
    "[] (p -> (q U r))",
    "p U q",
    "p V q",
    "[] (p -> <> q)",
    "<> p -> <> q",
    "([]<> p) -> ([]<> q)",
    "([]<> p && []<> q) -> []<> r",
    "[] !P",
    "<>R -> (!P U R)",
    "[] (Q -> [] !P)",
    "[] ((Q && !R && <> R) -> (!P U R))",
    "[] (Q && !R -> (!P W R))",
    "<> P",
    "!R W (P && !R)",
    "[] (!Q || <> (Q && <> P))",
    "[] (Q && !R -> (!R W (P && !R)))",
    "[] (Q && !R -> (!R U (P && !R)))",
    "[] P",
    "<>R -> (P U R)",
    "[] (Q -> [] P)",
    "[] (Q && !R && <> R -> (P U R))",
    "[] (Q && !R -> (P W R))",
    "!P W S",
    "<>R -> (!P U (S || R))",
    "[]!Q || <> (Q && (!P W S))",
    "[] ((Q && !R && <>R) -> (!P U (S || R)))",
    "[] (Q && !R -> (!P W (S || R)))",
    "[] (P -> <> S)",
    "<>R -> (P -> (!R U (S && !R))) U R",
    "[] (Q -> [] (P -> <> S))",
    "[] ((Q && !R && <>R) -> (P -> (!R U (S && !R))) U R)",
    "[] (Q && !R -> ((P -> (!R U (S && !R))) W R))",
];

#[test]
fn automata_of_spins_examples_are_no_larger_than_spins() {
    if !has_spin() {
        return;
    }
    let (mut ours, mut theirs, mut n) = (0, 0, 0);
    for text in EXAMPLES {
        // `spin -f` has no capital names.
        let lower = text.replace('P', "p").replace('Q', "q").replace('R', "r").replace('S', "s");
        let mut names = Propositions::new();
        let formula = parse(&lower, &mut names).unwrap_or_else(|e| panic!("{lower}: {e}"));
        for formula in [formula.clone(), formula.negated()] {
            let Some((our, their)) = compare(&formula, &names) else { continue };
            assert!(our <= their, "{our} > {their}: {}", formula.show(&names));
            (ours, theirs, n) = (ours + our, theirs + their, n + 1);
        }
    }
    println!("{n} formulas of spin's examples: {ours} states, spin {theirs}");
    assert!(n > 2 * EXAMPLES.len() - 6, "spin must answer nearly always");
}
