//! Testers that are made: from specifications against the preorder by definition, from formulas against brute force.

use stubborn_explore::Unwatched;
use stubborn_ltl::{Propositions, random::Random, translate};
use stubborn_lts::{
    Composition, CompositionJob, Lsts, Plan, TAU, attach, automaton_tester, canonical_tester, check_tester,
    with_automaton, with_composition,
};
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::times;
use stubborn_oracle::processes::{Brute, excess, random_network, random_refinement, violates};
use stubborn_system::{Question, RejectionKind};
use stubborn_verdict::{EngineKind, Options, RejectionOptions, Verdict, WordKind, check_rejections};

struct Check {
    reduced: bool,
    all_errors: bool,
}

impl<S: WordKind + ?Sized> CompositionJob<S> for Check {
    /// Which kinds are violated.
    type Output = Vec<RejectionKind>;

    fn run(self, composition: &Composition<'_, S>) -> Self::Output {
        let [ours, keys] =
            [EngineKind::Interpreter, EngineKind::Packed].map(|engine| self.with(engine, composition));
        assert_eq!(ours, keys, "engines");
        ours
    }
}

impl Check {
    fn with<S: WordKind + ?Sized>(
        &self,
        engine: EngineKind,
        composition: &Composition<'_, S>,
    ) -> Vec<RejectionKind> {
        let options = Options { all_errors: self.all_errors, engine, ..Options::default() };
        let rejection_options = RejectionOptions { reduced: self.reduced };
        let analysis = check_rejections(composition, rejection_options, &options, &mut Unwatched).unwrap();
        let mut kinds = Vec::new();
        for answer in &analysis.answers {
            let Question::Rejection { kind, .. } = answer.question else { panic!("{:?}", answer.question) };
            match answer.verdict {
                Verdict::Violated(_) => kinds.push(kind),
                Verdict::Contradiction(_) => panic!("{:?}", answer.verdict),
                Verdict::Inconclusive(_) => assert!(!self.all_errors, "{:?}", answer.verdict),
                Verdict::Holds(_) => {}
            }
        }
        kinds
    }
}

fn violated(plan: &Plan, tester: &Lsts, reduced: bool, all_errors: bool) -> Vec<RejectionKind> {
    let (tested, _) = attach(plan, tester.clone(), "tester").unwrap();
    with_composition(&tested, Check { reduced, all_errors }).unwrap()
}

#[test]
fn testers_of_specifications_decide_the_preorder() {
    let (mut n, mut refines, mut kinds) = (0, 0, [0; 3]);
    let mut seed = 3_000_000;
    while n < 750 * times() {
        seed += 1;
        let (network, visible, specification) = random_refinement(&mut Rng::new(seed));
        let Some(brute) = Brute::new(&network, 200) else { continue };
        n += 1;
        let expected = excess(&brute, &visible, &specification);
        let tester = canonical_tester(&network.lsts(usize::MAX, &specification), 10_000).unwrap();
        check_tester(&tester).unwrap();
        let plan = network.plan();
        let is_wrong = expected.trace || expected.failure || expected.divergence;
        refines += usize::from(!is_wrong);
        for reduced in [false, true] {
            let found = violated(&plan, &tester, reduced, true);
            let kind = |kind| found.contains(&kind);
            assert_eq!(kind(RejectionKind::State), expected.trace, "traces, seed {seed}");
            assert_eq!(kind(RejectionKind::Deadlock), expected.failure, "failures, seed {seed}");
            assert_eq!(kind(RejectionKind::Livelock), expected.divergence, "divergences, seed {seed}");
            assert_eq!(!violated(&plan, &tester, reduced, false).is_empty(), is_wrong, "seed {seed}");
        }
        let each = [expected.trace, expected.failure, expected.divergence];
        kinds.iter_mut().zip(each).for_each(|(count, is)| *count += usize::from(is));
    }
    println!("{n} pairs, {refines} refine, excess {kinds:?}");
    assert!(refines * 10 > n && kinds.iter().all(|&count| count * 10 > n), "{refines} {kinds:?}");
}

#[test]
fn testers_of_formulas_reject_the_runs_that_violate_them() {
    let (mut n, mut wrong) = (0, 0);
    let mut seed = 4_000_000;
    while n < 500 * times() {
        seed += 1;
        let mut rng = Rng::new(seed);
        let (network, visible, _) = random_refinement(&mut rng);
        let Some(brute) = Brute::new(&network, 60) else { continue };
        n += 1;
        let names: Vec<String> = visible.iter().map(|label| format!("l{label}")).collect();
        let n_propositions = rng.between(1, names.len());
        let mentioned = names[..n_propositions].iter().map(String::as_str);
        let propositions = Propositions::from_texts(mentioned).unwrap();
        let formula = Random::new(seed).formula(rng.between(2, 7), n_propositions, rng.chance(1, 2));
        let forbidden = translate(&formula.clone().negated(), &propositions).unwrap();
        let expected = violates(&brute, &visible, n_propositions, &[], &formula);
        wrong += usize::from(expected);
        let plan = network.plan();
        for automaton in [&forbidden.buchi, &forbidden.generalised] {
            let tester = automaton_tester(automaton, &names).unwrap();
            for reduced in [false, true] {
                let found = violated(&plan, &tester, reduced, reduced);
                let shown = formula.show(&propositions);
                assert_eq!(!found.is_empty(), expected, "{shown}, seed {seed}, reduced: {reduced}");
            }
        }
    }
    println!("{n} pairs, {wrong} violate");
    assert!(wrong * 5 > n && wrong * 20 < n * 17, "{wrong}");
}

#[test]
fn formulas_over_actions_and_propositions_are_decided_as_by_brute_force() {
    let (mut n, mut wrong) = (0, 0);
    let mut seed = 5_000_000;
    while n < 500 * times() {
        seed += 1;
        let mut rng = Rng::new(seed);
        let mut network = random_network(&mut rng);
        network.rejected.truncate(2);
        let Some(brute) = Brute::new(&network, 60) else { continue };
        n += 1;
        // All labels can be seen; some are propositions.
        let visible: Vec<usize> = (0..network.n_labels).collect();
        let n_actions = rng.below(3);
        let n_conditions = rng.between(1, 2);
        let conditions = &network.rejected[..n_conditions];
        let actions = (0..n_actions).map(|label| format!("l{label}"));
        let names: Vec<String> = actions.chain((0..n_conditions).map(|i| format!("c{i}"))).collect();
        let propositions = Propositions::from_texts(names.iter().map(String::as_str)).unwrap();
        let formula = Random::new(seed).formula(rng.between(2, 7), names.len(), rng.chance(1, 2));
        let forbidden = translate(&formula.clone().negated(), &propositions).unwrap().buchi;
        // Some of the labels are hidden.
        let hidden: Vec<usize> = (n_actions..network.n_labels).filter(|_| rng.chance(1, 2)).collect();
        let seen: Vec<usize> = visible.into_iter().filter(|label| !hidden.contains(label)).collect();
        let expected = violates(&brute, &seen, n_actions, conditions, &formula);
        wrong += usize::from(expected);
        let plan = hiding(&network.plan_with_propositions(), &hidden);
        let tested = with_automaton(&plan, &forbidden, 100_000).unwrap();
        for reduced in [false, true] {
            let found = with_composition(&tested, Check { reduced, all_errors: reduced }).unwrap();
            let shown = formula.show(&propositions);
            assert_eq!(!found.is_empty(), expected, "{shown}, seed {seed}, reduced: {reduced}");
        }
    }
    println!("{n} pairs, {wrong} violate");
    assert!(wrong * 5 > n && wrong * 10 < n * 9, "{wrong}");
}

/// The plan with the results of these labels hidden.
fn hiding(plan: &Plan, labels: &[usize]) -> Plan {
    let mut out = Plan::new();
    plan.components().iter().for_each(|component| {
        out.add_component(component.clone());
    });
    plan.alphabet().iter().for_each(|name| {
        out.result(name);
    });
    for rule in plan.rules() {
        let is_hidden = labels.iter().any(|label| plan.action_name(rule.result) == format!("l{label}"));
        out.add_rule(rule.parts.clone(), if is_hidden { TAU } else { rule.result }).unwrap();
    }
    for rule in plan.propositions().iter().filter(|rule| !rule.is_implied) {
        out.add_proposition(rule.expr.clone(), rule.result.clone());
    }
    out.finish();
    out
}
