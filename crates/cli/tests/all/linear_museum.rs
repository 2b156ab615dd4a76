//! The museum: ways in which checkers of linear time were wrong, each a small model with the right answer.
//!
//! Each answer is known by hand, is told by brute force, and must be given by the program with and without
//! reduction and optimisation. The models are reconstructions: small, and of our own making.

use crate::common::{Files, stubborn_with};
use stubborn_ltl::{Propositions, parse};
use stubborn_oracle::linear::{Belongs, Runs, violation};
use stubborn_oracle::promela::compiled;

/// Whether all runs of a model satisfy a formula: the same from everybody.
#[track_caller]
fn assert_holds(name: &str, model: &str, formula: &str, is_fair: bool, holds: bool) {
    let mut names = Propositions::new();
    let parsed = parse(formula, &mut names).expect("a formula");
    let texts: Vec<String> = names.iter().map(|p| p.text.clone()).collect();
    let (network, exprs) = compiled(model, &texts).expect("a model");
    let (runs, _) = Runs::of_network(&network, &exprs, Belongs::ToAll, 10_000).expect("a small model");
    let truth = violation(&runs, &parsed, is_fair).is_none();
    assert_eq!(truth, holds, "{name}: brute force on {formula}");
    let files = Files::new(&format!("museum-{name}"));
    let path = files.write("model.pml", model);
    for more in [&[][..], &["--reduction", "none"], &["--optimise", "none"], &["--search", "dfs"]] {
        let fair: &[&str] = if is_fair { &["--fair"] } else { &[] };
        let arguments = ["check", &path, "--question", "linear", "--ltl", formula].into_iter();
        let run = stubborn_with(arguments.chain(fair.iter().copied()).chain(more.iter().copied()));
        assert_eq!(run.code, i32::from(!holds), "{name}: {formula} {more:?}\n{}{}", run.out, run.err);
    }
}

/// LTSmin, and with it issue 222 as far as its cause is known: transitions that are visible because of the variables that they
/// write were not in the set by which visibility was tested, so nothing was visible. The second model was still answered wrongly by
/// its deletion algorithm after that had been mended.
#[test]
fn what_writes_a_variable_of_the_formula_is_visible() {
    let two = "byte x, y; active proctype P() { do :: x = 1; x = 0 od }
        active proctype Q() { do :: y = 1; y = 0 od }";
    let three = "byte x, y, z; active proctype P() { do :: y == 0 -> x = 1; x = 0 od }
        active proctype Q() { do :: y = 1; y = 0 od } active proctype R() { do :: z = 1; z = 0 od }";
    for model in [two, three] {
        assert_holds("visible", model, "[] !(x == 1 && y == 1)", false, false);
        assert_holds("visible", model, "<>[] (x == 0)", false, false);
        assert_holds("visible", model, "[]<> (x == 1) -> []<> (y == 1)", false, false);
        assert_holds("visible", model, "[] (x <= 1)", false, true);
    }
}

/// Condition V: of two visible steps neither is overtaken, whichever is fired first.
#[test]
fn nothing_visible_is_overtaken() {
    let model = "bit x, y; active proctype P() { x = 1 } active proctype Q() { y = 1 }";
    for (formula, holds) in [
        ("<> (x == 1 && y == 0)", false),
        ("<> (x == 0 && y == 1)", false),
        ("[] !(x == 1 && y == 0)", false),
        ("[] !(x == 0 && y == 1)", false),
        ("(x == y) U (y == 1)", false),
        ("(x == y) U (x == 1)", false),
        ("<> (x == 1 && y == 0) || <> (x == 0 && y == 1)", true),
    ] {
        assert_holds("overtaken", model, formula, false, holds);
    }
}

/// LTSmin issue 169: propositions about where a process is must make its steps visible.
#[test]
fn steps_to_and_from_a_label_of_the_formula_are_visible() {
    let model = "byte x, y; active proctype P() { do :: x = 1; L: x = 0 od }
        active proctype Q() { do :: y = 1; M: y = 0 od }";
    assert_holds("labels", model, "[] !(P@L && Q@M)", false, false);
    assert_holds("labels", model, "<>[] !P@L", false, false);
    assert_holds("labels", model, "[]<> P@L -> []<> Q@M", false, false);
    assert_holds("labels", model, "[] (P@L -> x == 1)", false, true);
}

/// Ignoring: a process that goes round invisibly must not put off for ever what can be seen.
#[test]
fn an_invisible_loop_puts_nothing_off() {
    let model = "byte x, y; active proctype P() { do :: y = 1 - y od } active proctype Q() { x = 1; x = 2 }";
    assert_holds("ignoring", model, "[] (x < 2)", false, false);
    assert_holds("ignoring", model, "<> (x == 2)", false, false);
    assert_holds("ignoring", model, "<> (x == 2)", true, true);
    assert_holds("ignoring", model, "[] (x == 1 -> <> (x == 2))", true, true);
}

/// Condition I: a run of invisible steps for ever is a run, also where something visible is possible all the
/// time.
#[test]
fn a_divergence_is_a_run() {
    let model =
        "byte x, y; active proctype P() { do :: x = 1 - x od } active proctype Q() { do :: y = 1 - y od }";
    assert_holds("divergence", model, "<> (x == 1)", false, false);
    assert_holds("divergence", model, "[]<> (x == 1) || <>[] (x == 0) || <>[] (x == 1)", false, true);
}

/// Siegel (CAV 2019): sets that depend on the state of the automaton, with the cycle condition on the product,
/// lose runs of automata that stay where they are on some letters and not on others. Here the automaton's
/// answer on the invisible loop differs from state to state.
#[test]
fn sets_do_not_depend_on_the_automaton() {
    let model = "bit p; byte y; active proctype P() { p = 1 } active proctype Q() { do :: y = 1 - y od }";
    for (formula, holds) in [
        ("!((!p) U (p && [] p))", false),
        ("[] !p || <>[] p", true),
        ("!(<> p && [] (p -> [] p))", false),
        ("([] !p) || ((!p) U [] p)", true),
        ("[] (!p -> (([] !p) || <> p))", true),
    ] {
        assert_holds("siegel", model, formula, false, holds);
    }
    let files = Files::new("museum-siegel-claims");
    // The same language by automata that guess: from the start, and when p comes.
    for claim in [
        "S0: if :: !p -> goto S0 :: !p -> goto S1 :: p -> goto accept_S2 fi; \
         S1: if :: p -> goto accept_S2 fi; accept_S2: if :: p -> goto accept_S2 fi",
        "S0: if :: !p -> goto S1 fi; S1: if :: !p -> goto S0 :: p -> goto accept_S2 fi; \
         accept_S2: if :: p -> goto accept_S3 fi; accept_S3: if :: p -> goto accept_S2 fi",
    ] {
        let path = files.write("model.pml", format!("{model} never {{ {claim} }}"));
        for more in [&[][..], &["--reduction", "none"]] {
            let run = stubborn_with(["check", &path, "--question", "linear"].iter().chain(more).copied());
            assert_eq!(run.code, 1, "{claim} {more:?}\n{}{}", run.out, run.err);
        }
    }
}

/// Neele, Valmari and Willemse (2020): with weak sets, what is outside may come before the key transition and
/// be seen, although in the other order nothing is seen. The sets here are strong; the order of two steps that
/// together decide a proposition must be kept whoever goes first.
#[test]
fn the_order_of_two_steps_that_decide_a_proposition_is_seen() {
    let model = "byte x, y, u; active proctype P() { x = 1; x = 0 } active proctype Q() { y = 1; y = 0 }
        active proctype R() { x == y -> u = 1 }";
    assert_holds("labelling", model, "[] !(x == 1 && y == 0)", false, false);
    assert_holds("labelling", model, "[] ((x == 1 && y == 1) -> u == 0)", false, false);
    assert_holds("labelling", model, "(x == y) W (x == 1)", false, false);
    assert_holds("labelling", model, "<> (u == 1)", false, true);
    assert_holds(
        "labelling",
        model,
        "(!(x == 1 && y == 1)) W (x == 1 && y == 0 || x == 0 && y == 1)",
        false,
        true,
    );
}

/// Stateright, pull request 3: "eventually" was remembered with the path, so that a path that joins another, or
/// closes a cycle, was forgotten.
#[test]
fn paths_that_join_and_cycles_count_for_eventually() {
    let join = "byte x; active proctype P() { if :: x = 1; x = 0 :: x = 0; x = 0 fi; x = 0 }";
    assert_holds("join", join, "<> (x == 1)", false, false);
    let other = "byte x; active proctype P() { if :: x = 0; x = 0 :: x = 1; x = 0 fi; x = 0 }";
    assert_holds("join", other, "<> (x == 1)", false, false);
    let cycle = "byte x, y; active proctype P() { do :: y = 1; y = 0 :: y = 2 -> break od; x = 1 }";
    assert_holds("cycle", cycle, "<> (x == 1)", false, false);
    let both = "byte x; active proctype P() { if :: x = 1; x = 0 :: x = 1; x = 2; x = 0 fi; x = 0 }";
    assert_holds("join", both, "<> (x == 1)", false, true);
}

/// tla-rs issue 62: a run does not stand still where something can be done. Only one that has ended does.
#[test]
fn a_run_stands_still_only_where_nothing_can_be_done() {
    let model = "byte x; active proctype P() { x = 1; x = 2 }";
    assert_holds("stuttering", model, "<> (x == 2)", false, true);
    assert_holds("stuttering", model, "<>[] (x == 2)", false, true);
    assert_holds("stuttering", model, "[]<> (x == 1)", false, false);
    let waits = "byte x; active proctype P() { x = 1; x == 5; x = 2 }";
    assert_holds("stuttering", waits, "<> (x == 2)", false, false);
    assert_holds("stuttering", waits, "<> (x == 2)", true, false);
}

/// tla-rs issue 64: what is shown as a cycle is one, also where a component must be crossed several times to
/// pass everything that is promised.
#[test]
fn a_cycle_that_is_shown_closes() {
    let model = "byte x; active proctype P() { do :: x == 0 -> x = 1 :: x == 1 -> x = 0 :: x == 0 -> x = 2 \
        :: x == 2 -> x = 0 :: x == 2 -> x = 3 :: x == 3 -> x = 2 od }";
    let formula = "!([]<> (x == 1) && []<> (x == 3) && []<> (x == 0))";
    assert_holds("cycle", model, formula, false, false);
    let files = Files::new("museum-cycle");
    let path = files.write("model.pml", model);
    let json = stubborn_with(["check", &path, "--question", "linear", "--ltl", formula, "--json"]).json();
    let witness = &json["results"][0]["witness"];
    let start = witness["cycle_start"].as_u64().expect("it has a cycle") as usize;
    let mut states = vec![witness["initial"].clone()];
    let steps = witness["steps"].as_array().expect("steps");
    states.extend(steps.iter().map(|step| step["state"].clone()));
    assert_eq!(states.get(start), states.last(), "{witness}");
    let values: Vec<&str> = states[start..].iter().filter_map(|state| state.as_str()).collect();
    for value in ["x=0", "x=1", "x=3"] {
        assert!(values.iter().any(|state| state.contains(value)), "{value}: {values:?}");
    }
}

/// hw-cbmc issue 2007: of two assumptions of fairness both count.
#[test]
fn of_two_assumptions_both_count() {
    let model = "byte x; active proctype P() { do :: x = 1 :: x = 2 :: x = 0 od }";
    assert_holds("assumptions", model, "([]<> (x == 1) && []<> (x == 2)) -> []<> (x == 0)", false, false);
    assert_holds("assumptions", model, "([]<> (x == 1) && []<> (x == 2)) -> <> (x != 0)", false, true);
    assert_holds("assumptions", model, "([]<> (x == 1) && []<> (x == 2)) -> []<> (x == 1)", false, true);
    assert_holds("assumptions", model, "[]<> (x == 1) -> []<> (x == 2)", false, false);
}

/// pono issue 380: a bad state without successors is bad.
#[test]
fn a_bad_state_in_which_a_run_ends_is_found() {
    let ends = "byte x; active proctype P() { x = 1; x = 2 }";
    assert_holds("end", ends, "[] (x < 2)", false, false);
    let stuck = "byte x; active proctype P() { x = 1; x = 2; x == 5; x = 3 } active proctype Q() { x == 7 }";
    assert_holds("end", stuck, "[] (x < 2)", false, false);
    assert_holds("end", stuck, "[] (x < 3)", false, true);
}

/// SPIN issue 38: with weak fairness, SPIN 6.5.2 does not see that a run that ends stays where it is.
#[test]
fn a_run_that_ends_is_fair() {
    let model = "byte n; active proctype P() { n = 1 } active proctype Q() { n = 2 }";
    assert_holds("fair-end", model, "<>[] (n == 1)", false, false);
    assert_holds("fair-end", model, "<>[] (n == 1)", true, false);
    assert_holds("fair-end", model, "<>[] (n == 1) || <>[] (n == 2)", true, true);
}

/// SPIN issue 78: reduction where the number of a process depends on who was started first.
#[test]
fn the_number_of_a_process_depends_on_the_order_of_starts() {
    let model = "byte x; proctype A() { x = _pid } proctype B() { skip }
        active proctype P() { run A() } active proctype Q() { run B() }";
    assert_holds("numbers", model, "[] (x != 3)", false, false);
    assert_holds("numbers", model, "[] (x != 2)", false, false);
    assert_holds("numbers", model, "<> (x >= 1)", false, true);
}

/// The next state is what reductions leave out: a formula that notices stuttering is answered all the same.
#[test]
fn a_formula_that_notices_stuttering_is_answered() {
    let model = "byte x, y; active proctype P() { x = 1 } active proctype Q() { y = 1; y = 2 }";
    assert_holds("next", model, "X (x == 1)", false, false);
    assert_holds("next", model, "X (x == 0)", false, false);
    assert_holds("next", model, "X X X X X (x == 1)", false, true);
    assert_holds("next", model, "<> (x == 0 && X (x == 1))", false, true);
    assert_holds("next", model, "[] ((y == 1) -> X (y == 2 || x == 1))", false, true);
    assert_holds("next", model, "[] ((y == 1) -> X (y == 2))", false, false);
}

/// Weak fairness and reduction: whether P can always move depends on whether A and B are off at the same time, and
/// that is a matter of the order of steps of which neither can be seen.
#[test]
fn fair_runs_are_not_reduced_to_unfair_ones() {
    let model = "bit a = 1, b = 1, x;
        active proctype A() { do :: a = 0; a = 1 od }
        active proctype B() { do :: b = 0; b = 1 od }
        active proctype P() { if :: a -> x = 1 :: b -> x = 1 fi }";
    assert_holds("fairness", model, "<> (x == 1)", true, false);
    assert_holds("fairness", model, "<> (x == 1) || []<> (!a && !b)", true, true);
    assert_holds("fairness", model, "[] (x == 1 -> [] (x == 1))", true, true);
    // What is explored with reduction has no such run, so the model is a test.
    let files = Files::new("museum-fairness-explored");
    let path = files.write("model.pml", model);
    let run = stubborn_with(["check", &path, "--question", "linear", "--ltl", "<> (x == 1)", "--fair"]);
    assert!(run.out.contains("but no fair one of those that were explored"), "{}", run.out);
}
