//! Fourteen pairs of systems whose differences were found by hand, under every model.

use stubborn_lts::{Lsts, LstsBuilder, Mark, TAU};
use stubborn_semantics::{Comparison, Limit, Minimization, Model, NoAnswer, Reason, Side, compare, minimize};

/// A system: edges as "0 a 1, 1 t 0" where t is tau, and states where the propositions P and Q hold. All know the
/// actions a, b and c. Initially in state 0.
fn system(edges: &str, p: &[u32], q: &[u32]) -> Lsts {
    let mut builder = LstsBuilder::new(8).unwrap();
    ["a", "b", "c"].iter().for_each(|name| {
        builder.action(name);
    });
    for edge in edges.split(", ") {
        let words: Vec<&str> = edge.split(' ').collect();
        let action = if words[1] == "t" { TAU } else { builder.action(words[1]) };
        builder.add_transition(words[0].parse().unwrap(), action, words[2].parse().unwrap());
    }
    builder.add_proposition(Mark::Named("P".into()), p.iter().copied());
    builder.add_proposition(Mark::Named("Q".into()), q.iter().copied());
    builder.build().unwrap()
}

fn plain(edges: &str) -> Lsts {
    system(edges, &[], &[])
}

/// Both systems, the models under which they are equal, those under which the first refines the second, and those
/// under which the second refines the first.
type Pair = (Lsts, Lsts, &'static str, &'static str, &'static str);

const ALL: &str = "cffd ndfd failures csp traces";

#[rustfmt::skip]
fn pairs() -> [Pair; 14] {
    let p = |edges: &str| system(edges, &[1], &[]);
    let (two_cycle, three_cycle) = ("0 a 1, 1 t 2, 2 t 1", "0 a 1, 1 t 2, 2 t 3, 3 t 1");
    [
        (plain("0 a 1, 1 b 2, 1 c 3"), plain("0 a 1, 0 a 2, 1 b 3, 2 c 4"), "traces", ALL, "traces"),
        (plain("0 a 1, 0 a 2, 1 b 3, 2 c 4"), plain("0 a 1, 1 t 2, 1 t 3, 2 b 4, 3 c 5"), ALL, ALL, ALL),
        (plain("0 a 1"), plain("0 t 1, 1 a 2"), "cffd ndfd failures csp traces branching", ALL, ALL),
        // The second is never stable at the start: it refuses nothing there, not even the empty set.
        (plain("0 a 1"), plain("0 t 0, 0 a 1"), "traces", "ndfd csp traces", "failures traces"),
        (plain("0 t 0, 0 a 1, 1 b 2"), plain("0 t 0, 0 a 1, 1 c 2"), "csp", "csp", "csp"),
        (plain("0 t 0, 0 a 2"), plain("0 t 0, 0 a 2, 0 t 1, 1 a 2"), "ndfd csp traces", ALL, "ndfd csp traces"),
        (system("0 a 1", &[0], &[]), system("0 a 1", &[0, 1], &[]), "", "", ""),
        (system(two_cycle, &[1], &[2]), system(three_cycle, &[1], &[2]), "", "", ""),
        (p("0 t 1, 1 a 2, 0 a 3"), p("0 t 1, 1 a 2, 0 a 3, 0 t 4, 4 t 1"), ALL, ALL, ALL),
        (p("0 t 1, 1 a 2, 0 a 3"), p("0 t 1, 1 a 2, 0 a 3, 0 t 4, 4 a 3"), "traces", ALL, "traces"),
        (plain("0 t 1, 1 a 2, 0 t 3, 3 a 2, 3 b 2"), plain("0 t 1, 1 a 2, 0 b 2"), ALL, ALL, ALL),
        (plain("0 t 1, 1 t 0"), plain("0 t 0"), "cffd ndfd failures csp traces strong branching", ALL, ALL),
        (plain("0 a 1"), plain("0 a 1, 1 t 1"), "traces", "ndfd csp traces", "failures traces"),
        (p("0 t 1"), p("0 t 1, 0 t 2, 2 t 1"), "cffd ndfd failures csp traces branching", ALL, ALL),
    ]
}

fn holding(holds: impl Fn(Model) -> bool, bisimilarities: bool) -> String {
    let models = Model::ALL.into_iter().filter(|model| bisimilarities || !model.is_bisimilarity());
    let names: Vec<String> = models.filter(|&model| holds(model)).map(|model| model.to_string()).collect();
    names.join(" ")
}

#[test]
fn the_pairs_are_equal_exactly_under_these_models() {
    for (number, (one, two, equal, refines, is_refined)) in (1..).zip(pairs()) {
        let is_equal = |model| compare(&one, &two, &Comparison::new(model)).unwrap().is_none();
        assert_eq!(holding(is_equal, true), equal, "pair {number}");
        let there = |model| compare(&one, &two, &Comparison::new(model).refines()).unwrap().is_none();
        assert_eq!(holding(there, false), refines, "pair {number}, preorder");
        let back = |model| compare(&two, &one, &Comparison::new(model).refines()).unwrap().is_none();
        assert_eq!(holding(back, false), is_refined, "pair {number}, preorder back");
    }
}

#[test]
fn equal_normal_forms_are_equal_systems() {
    let how = Minimization::Cffd { initial_stability: false };
    for (number, (one, two, equal, ..)) in (1..).zip(pairs()) {
        let form = |lsts: &Lsts| minimize(lsts, how, Limit::default()).unwrap();
        assert_eq!(form(&one) == form(&two), equal.contains("cffd"), "pair {number}");
    }
}

/// The difference of a pair under CFFD: who has more, the trace, why.
fn shown(number: usize) -> (Side, String, Reason) {
    let (one, two, ..) = &pairs()[number - 1];
    let found = compare(one, two, &Comparison::new(Model::Cffd)).unwrap().unwrap();
    let steps = found.trace.iter().map(|step| format!("{}{}", step.action, step.holding.concat()));
    (found.side, steps.collect::<Vec<_>>().join(" "), found.reason)
}

#[test]
fn differences_are_shown_by_a_shortest_trace_and_a_reason() {
    let refusal = |names: &[&str]| Reason::Refusal { refused: names.iter().map(|&n| n.into()).collect() };
    assert_eq!(shown(1), (Side::Right, "a".into(), refusal(&["a", "c"])));
    assert_eq!(shown(4), (Side::Right, String::new(), Reason::Divergence));
    assert_eq!(shown(5), (Side::Left, "a".into(), refusal(&["a", "c"])));
    assert_eq!(shown(6), (Side::Right, String::new(), refusal(&["b", "c"])));
    assert_eq!(shown(7), (Side::Left, "a".into(), Reason::Holding { holding: vec![] }));
    assert_eq!(shown(8), (Side::Left, "aP tauQ tauP".into(), Reason::Trace));
    assert_eq!(shown(10), (Side::Right, String::new(), refusal(&["b", "c"])));
    assert_eq!(shown(13), (Side::Right, "a".into(), Reason::Divergence));
}

#[test]
fn initial_stability_counts_if_asked_for() {
    let (one, two, ..) = &pairs()[2];
    let asked = Comparison { initial_stability: true, ..Comparison::new(Model::Cffd) };
    let found = compare(one, two, &asked).unwrap().unwrap();
    assert_eq!((found.side, found.reason), (Side::Right, Reason::InitialTau));
    assert_eq!(compare(one, two, &asked.refines()), Ok(None));
    let form = |lsts: &Lsts, initial_stability| {
        minimize(lsts, Minimization::Cffd { initial_stability }, Limit::default()).unwrap()
    };
    assert_eq!([form(two, false).n_states(), form(two, true).n_states()], [2, 3]);
    assert_eq!(form(one, true), form(one, false));
    assert_eq!(compare(&form(two, true), two, &asked), Ok(None));
}

#[test]
fn names_count_even_if_unused() {
    let one = plain("0 a 1");
    let mut builder = LstsBuilder::new(2).unwrap();
    let a = builder.action("a");
    builder.add_transition(0, a, 1);
    let two = builder.build().unwrap();
    let found = compare(&one, &two, &Comparison::new(Model::Traces)).unwrap().unwrap();
    assert_eq!((found.side, found.reason), (Side::Left, Reason::Alphabet { action: "b".into() }));
    let found = compare(&two, &one, &Comparison::new(Model::Strong)).unwrap().unwrap();
    assert_eq!(found.side, Side::Right);
    let asked = Comparison::new(Model::Strong).refines();
    assert_eq!(compare(&one, &one, &asked), Err(NoAnswer::NoPreorder(Model::Strong)));
}

#[test]
fn a_limit_is_an_answer() {
    // The tenth letter from the end is a: a thousand sets.
    let mut builder = LstsBuilder::new(11).unwrap();
    let (a, b) = (builder.action("a"), builder.action("b"));
    for action in [a, b] {
        builder.add_transition(0, action, 0);
        (1..10).for_each(|state| builder.add_transition(state, action, state + 1));
    }
    builder.add_transition(0, a, 1);
    let exploding = builder.build().unwrap();
    let how = Minimization::Cffd { initial_stability: false };
    let limited = minimize(&exploding, how, Limit::of_nodes(1_000));
    assert!(matches!(limited, Err(NoAnswer::Limit { nodes: 1_000, .. })), "{limited:?}");
    assert!(minimize(&exploding, how, Limit::of_nodes(1_024)).is_ok());
}
