//! Compositions whose components are followed are those of explicit components.

use std::rc::Rc;
use stubborn_explore::{Limits, Unwatched};
use stubborn_lts::{
    Behaviour, Component, Followed, Growing, Lsts, LstsBuilder, Mark, Plan, Special, TAU, unfold,
};
use stubborn_oracle::Rng;
use stubborn_oracle::processes::{Brute, random_network, random_pair};
use stubborn_reduce::CheckDepth;
use stubborn_system::System;
use stubborn_verdict::{Options, RejectionOptions, check_rejections};

/// An explicit process as one that is followed.
struct Explicit {
    lsts: Lsts,
    marks: Vec<Mark>,
}

impl Explicit {
    fn new(lsts: &Lsts) -> Self {
        Self { lsts: lsts.clone(), marks: lsts.propositions().iter().map(|p| p.mark.clone()).collect() }
    }
}

fn number(state: &[u8]) -> u32 {
    u32::from_le_bytes(state.try_into().unwrap())
}

impl Behaviour for Explicit {
    fn initial(&self) -> Vec<u8> {
        self.lsts.initial().to_le_bytes().to_vec()
    }

    fn moves(&self, state: &[u8], out: &mut Vec<(String, Vec<u8>)>) -> Result<(), String> {
        for (action, target) in self.lsts.edges(number(state)) {
            let name = if action == TAU { "" } else { self.lsts.action_name(action) };
            out.push((name.to_owned(), target.to_le_bytes().to_vec()));
        }
        Ok(())
    }

    fn propositions(&self) -> &[Mark] {
        &self.marks
    }

    fn holds(&self, state: &[u8], proposition: usize) -> bool {
        self.lsts.propositions()[proposition].states.contains(number(state) as usize)
    }
}

/// The plan with some of its components followed.
fn followed(plan: &Plan, rng: &mut Rng) -> Plan {
    let mut out = plan.clone();
    for (i, component) in plan.components().iter().enumerate() {
        if rng.below(3) > 0 {
            let growing = Growing::new(Box::new(Explicit::new(&component.lsts)), Limits::default()).unwrap();
            for name in component.lsts.action_names() {
                growing.action(name);
            }
            out.follow(i, Rc::new(growing), false);
        }
    }
    out
}

#[test]
fn followed_components_make_the_same_compositions_and_verdicts() {
    let (mut n, mut n_followed, mut n_violated, mut seed) = (0, 0, 0, 7_000_000);
    while n < 1_500 {
        seed += 1;
        let mut rng = Rng::new(seed);
        let network = if seed % 2 == 0 { random_network(&mut rng) } else { random_pair(&mut rng) };
        let Some(brute) = Brute::new(&network, 200) else { continue };
        n += 1;
        let explicit = network.plan();
        let plan = followed(&explicit, &mut rng);
        n_followed += usize::from(plan.is_followed());
        let sizes = |plan: &Plan| {
            let unfolded = unfold(plan, Limits::default(), false, &mut Unwatched).unwrap();
            let lsts = unfolded.lsts;
            let marks: Vec<_> =
                lsts.propositions().iter().map(|p| (p.mark.clone(), p.states.count_ones(..))).collect();
            (lsts.n_states(), lsts.n_transitions(), unfolded.stats.edges, lsts.deadlocks().count(), marks)
        };
        assert_eq!(sizes(&plan), sizes(&explicit), "seed {seed}");
        let composition = Followed::new(&plan).unwrap();
        for reduced in [false, true] {
            let check = seed.is_multiple_of(8).then_some(CheckDepth::Everything);
            let options = Options { all_errors: true, check, ..Options::default() };
            let analysis =
                check_rejections(&composition, RejectionOptions { reduced }, &options, &mut Unwatched)
                    .unwrap_or_else(|broken| panic!("seed {seed}: {:?}", broken.fault));
            for (answer, rejected) in analysis.answers.iter().zip(&network.rejected) {
                let expected = if brute.rejects(rejected) { "violated" } else { "holds" };
                n_violated += usize::from(expected == "violated");
                assert_eq!(answer.verdict.word(), expected, "seed {seed}, reduced {reduced}");
            }
        }
    }
    // Otherwise this says nothing.
    assert!(n_followed > 1_000 && n_violated > 500, "{n_followed} followed, {n_violated} violated");
}

/// Counts for ever.
struct Counter;

impl Behaviour for Counter {
    fn initial(&self) -> Vec<u8> {
        0u64.to_le_bytes().to_vec()
    }

    fn moves(&self, state: &[u8], out: &mut Vec<(String, Vec<u8>)>) -> Result<(), String> {
        let n = u64::from_le_bytes(state.try_into().unwrap());
        out.push(("up".into(), (n + 1).to_le_bytes().to_vec()));
        out.push(("jump".into(), (n + 1_000).to_le_bytes().to_vec()));
        Ok(())
    }

    fn propositions(&self) -> &[Mark] {
        &[]
    }

    fn holds(&self, _: &[u8], _: usize) -> bool {
        false
    }
}

#[test]
fn a_process_without_end_is_followed_as_far_as_the_others_let_it() {
    let growing = Rc::new(Growing::new(Box::new(Counter), Limits::default()).unwrap());
    let mut builder = LstsBuilder::new(6).unwrap();
    let up = builder.action("up");
    (0..5).for_each(|i| builder.add_transition(i, up, i + 1));
    builder.add_proposition(Mark::Special(Special::DlRej), [5]);
    growing.action("up");
    let mut plan = Plan::new();
    for (i, lsts) in [growing.names(), builder.build().unwrap()].into_iter().enumerate() {
        let component =
            Component { number: i as u64 + 1, prefix: String::new(), name: i.to_string(), lsts: lsts.into() };
        plan.add_component(component);
    }
    let result = plan.result("up");
    plan.add_rule(vec![(0, 1), (1, 1)], result).unwrap();
    plan.finish();
    plan.follow(0, growing.clone(), false);
    let unfolded = unfold(&plan, Limits::default(), true, &mut Unwatched).unwrap();
    assert_eq!((unfolded.lsts.n_states(), unfolded.lsts.n_transitions()), (6, 5));
    // Each state that is met, and those that its moves name.
    assert_eq!(growing.n_states(), 1 + 2 * 6);
    let composition = Followed::new(&plan).unwrap();
    assert!(composition.n_transitions() < 10);
    let options = RejectionOptions { reduced: true };
    let found = check_rejections(&composition, options, &Options::default(), &mut Unwatched).unwrap();
    assert_eq!(found.answers[0].verdict.word(), "violated");
    // Without limits it does not end, with one it says so.
    let growing = Growing::new(Box::new(Counter), Limits { states: 50, ..Limits::default() }).unwrap();
    let mut alone = Plan::new();
    let lsts = growing.names().into();
    alone.add_component(Component { number: 1, prefix: String::new(), name: "c".into(), lsts });
    alone.finish();
    alone.follow(0, Rc::new(growing), true);
    let error = unfold(&alone, Limits::default(), false, &mut Unwatched).unwrap_err();
    assert!(error.to_string().contains("more than 50 states"), "{error}");
}
