//! Comparisons and minimal systems against the definitions, on random pairs.

use std::collections::BTreeSet;
use stubborn_explore::{Limits, Unwatched};
use stubborn_lts::{Lsts, LstsBuilder, Plan, TAU, unfold};
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{Tally, fail, seeds};
use stubborn_oracle::semantics::{
    are_bisimilar, diverges, excesses, holding, random_composition, random_systems, refuses, start, steps,
    with_components,
};
use stubborn_semantics::{
    Comparison, Difference, Limit, Minimization, Model, Reason, Side, compare, determinise, minimize,
};

const PREORDERS: [Model; 5] = [Model::Cffd, Model::Ndfd, Model::Failures, Model::Csp, Model::Traces];

/// The length of a shortest excess of the first over the second, for each of `PREORDERS`.
fn by_definition(one: &Lsts, two: &Lsts) -> [Option<usize>; 5] {
    let found = excesses(one, two);
    [found.cffd, found.ndfd, found.failures, found.csp, found.traces]
}

fn shortest(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    a.into_iter().chain(b).min()
}

fn asked(one: &Lsts, two: &Lsts, comparison: &Comparison) -> Option<Difference> {
    compare(one, two, comparison).expect("they are small")
}

/// Follows the trace of a difference: does the one side have what the other has not?
fn is_true(one: &Lsts, two: &Lsts, difference: &Difference) -> bool {
    let (more, less) = if difference.side == Side::Left { (one, two) } else { (two, one) };
    let follow = |lsts: &Lsts| {
        let mut states = start(lsts);
        let mut before = holding(lsts, lsts.initial());
        for step in &difference.trace {
            let after: BTreeSet<String> = step.holding.iter().cloned().collect();
            let name = (step.action != "tau").then(|| step.action.clone());
            let changed = before.symmetric_difference(&after).cloned().collect();
            states = steps(lsts, &states).remove(&(name, changed)).unwrap_or_default();
            before = after;
        }
        states
    };
    let (has, other) = (follow(more), follow(less));
    match &difference.reason {
        Reason::Holding { .. } if difference.trace.is_empty() => {
            holding(one, one.initial()) != holding(two, two.initial())
        }
        Reason::Trace | Reason::Holding { .. } => !has.is_empty() && other.is_empty(),
        Reason::Divergence => !other.is_empty() && diverges(more, &has) && !diverges(less, &other),
        Reason::Refusal { refused } => {
            let refused = refused.iter().cloned().collect();
            !other.is_empty() && refuses(more, &has, &refused) && !refuses(less, &other, &refused)
        }
        _ => false,
    }
}

#[test]
fn comparisons_agree_with_the_definitions() {
    const TEST: &str = "comparisons_agree_with_the_definitions";
    let mut n_equal = [0; 7];
    let seeds = seeds(2_000);
    for &seed in &seeds {
        let (one, two) = random_systems(&mut Rng::new(seed));
        let complain = |what: String| fail("semantics", TEST, seed, format!("{what}\n{one:?}\n{two:?}"));
        let (there, back) = (by_definition(&one, &two), by_definition(&two, &one));
        for (i, model) in PREORDERS.into_iter().enumerate() {
            let comparison = Comparison::new(model);
            let cases = [
                (&one, &two, comparison.refines(), there[i]),
                (&two, &one, comparison.refines(), back[i]),
                (&one, &two, comparison, shortest(there[i], back[i])),
            ];
            for (a, b, comparison, expected) in cases {
                let found = asked(a, b, &comparison);
                if found.as_ref().map(|difference| difference.trace.len()) != expected {
                    complain(format!("{comparison:?}: {found:?}, but by definition {expected:?}"));
                }
                if found.as_ref().is_some_and(|difference| !is_true(a, b, difference)) {
                    complain(format!("{comparison:?}: {found:?} is not so"));
                }
            }
            n_equal[i] += usize::from(shortest(there[i], back[i]).is_none());
        }
        for (i, model) in [(5, Model::Strong), (6, Model::Branching)] {
            let expected = are_bisimilar(&one, &two, model == Model::Strong);
            let found = asked(&one, &two, &Comparison::new(model));
            if found.is_none() != expected {
                complain(format!("{model}: {found:?}, but by definition {expected}"));
            }
            n_equal[i] += usize::from(expected);
        }
    }
    println!("{} pairs; equal under {:?}: {n_equal:?}", seeds.len(), Model::ALL.map(|m| m.to_string()));
    if seeds.len() > 1 {
        let enough = |&n: &usize| n * 20 > seeds.len() && n * 20 < seeds.len() * 19;
        assert!(n_equal.iter().all(enough), "too few pairs are equal, or too many: {n_equal:?}");
    }
}

#[test]
fn small_systems_are_the_same_and_normal_forms_are_unique() {
    const TEST: &str = "small_systems_are_the_same_and_normal_forms_are_unique";
    let mut n_smaller = 0;
    let seeds = seeds(2_000);
    for &seed in &seeds {
        let (one, two) = random_systems(&mut Rng::new(seed));
        let complain = |what: &str| fail("semantics", TEST, seed, format!("{what}\n{one:?}\n{two:?}"));
        let is_same = |lsts: &Lsts, other: &Lsts, which: usize| {
            by_definition(lsts, other)[which].or(by_definition(other, lsts)[which]).is_none()
        };
        let cffd = Minimization::Cffd { initial_stability: false };
        let forms = [small(&one, cffd), small(&two, cffd)];
        if (forms[0] == forms[1]) != is_same(&one, &two, 0) {
            complain("normal forms are not equal exactly if the systems are");
        }
        if !is_same(&one, &forms[0], 0) {
            complain("the normal form is not equivalent");
        }
        if small(&forms[0], cffd) != forms[0] {
            complain("the normal form has another normal form");
        }
        let compressed = small(&one, Minimization::Tau);
        if !are_bisimilar(&one, &compressed, false) {
            complain("what is left of tau is not bisimilar");
        }
        if compressed.n_states() < small(&one, Minimization::Branching).n_states() {
            complain("a quotient is not the smallest");
        }
        for (is_strong, how) in [(true, Minimization::Strong), (false, Minimization::Branching)] {
            let result = small(&one, how);
            if !are_bisimilar(&one, &result, is_strong) {
                complain("the quotient is not bisimilar");
            }
            if small(&result, how).n_states() != result.n_states() {
                complain("the quotient has a smaller quotient");
            }
            n_smaller += usize::from(result.n_states() < one.reachable().count_ones(..));
        }
        let determined = determinise(&one, Limit::default()).expect("it is small");
        if !is_same(&one, &determined, 4) {
            complain("the deterministic system has other traces");
        }
    }
    println!("{} systems, {n_smaller} of twice as many quotients are smaller", seeds.len());
    assert!(seeds.len() == 1 || n_smaller * 4 > seeds.len(), "too few systems can be made smaller");
}

/// What is done to a component.
type Change<'a> = &'a dyn Fn(&Lsts) -> Lsts;

/// A congruence: what is the same stays the same in every network, with actions hidden and propositions combined.
#[test]
fn networks_of_small_components_are_the_same() {
    const TEST: &str = "networks_of_small_components_are_the_same";
    let cffd = Minimization::Cffd { initial_stability: false };
    let ways: [(Model, Change<'_>); 5] = [
        (Model::Strong, &|lsts| small(lsts, Minimization::Strong)),
        (Model::Branching, &|lsts| small(lsts, Minimization::Branching)),
        (Model::Cffd, &|lsts| small(lsts, cffd)),
        (Model::Failures, &|lsts| small(&without_loops(lsts), Minimization::Branching)),
        (Model::Traces, &|lsts| determinise(lsts, Limit::default()).expect("it is small")),
    ];
    let seeds = seeds(2_000);
    let mut tally = ways.each_ref().map(|_| Tally::new());
    for &seed in &seeds {
        let plan = random_composition(&mut Rng::new(seed));
        let whole = composed(&plan);
        for (i, (model, change)) in ways.iter().enumerate() {
            let other = composed(&with_components(&plan, change));
            if let Some(difference) = asked(&whole, &other, &Comparison::new(*model)) {
                fail("semantics", TEST, seed, format!("{model}: {difference:?}\n{plan:?}"));
            }
            tally[i].count(whole.n_states(), other.n_states());
        }
    }
    if seeds.len() > 1 {
        tally.iter().for_each(|tally| tally.assert_not_degenerate(8, 0.2));
    }
}

/// The same traces and stable failures, with fewer divergence traces: a state that has another tau needs no loop of it.
fn without_loops(lsts: &Lsts) -> Lsts {
    let mut builder = LstsBuilder::new(lsts.n_states() as u64).expect("it is small");
    lsts.action_names().iter().for_each(|name| {
        builder.action(name);
    });
    builder.set_initial(lsts.initial());
    for state in 0..lsts.n_states() as u32 {
        let has_other = lsts.edges(state).any(|(action, target)| action == TAU && target != state);
        for (action, target) in lsts.edges(state) {
            if !(has_other && action == TAU && target == state) {
                builder.add_transition(state, action, target);
            }
        }
    }
    for proposition in lsts.propositions() {
        builder.add_proposition(proposition.mark.clone(), proposition.states.ones().map(|s| s as u32));
    }
    builder.build().expect("it is small")
}

fn small(lsts: &Lsts, how: Minimization) -> Lsts {
    minimize(lsts, how, Limit::default()).expect("it is small")
}

fn composed(plan: &Plan) -> Lsts {
    unfold(plan, Limits::default(), false, &mut Unwatched).expect("it is small").lsts
}
