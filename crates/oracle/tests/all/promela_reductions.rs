//! Reductions of random Promela models against full search: terminal states, termination, safety.
//!
//! What a candidate explores is compared without the kernel, and the kernel's answers are compared with the
//! truth. Reductions that lose something must be found, or the campaign would be worth nothing.
//! `STUBBORN_TIMES=300 cargo test -p stubborn-oracle --test all promela_reductions::` is the long form.

use std::cell::Cell;
use stubborn_network::{Expr, Network};
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{Tally, fail, seeds};
use stubborn_oracle::promela::reduced::{
    Candidate, compare, compare_answers, compare_merged, compare_races, terminal_states,
};
use stubborn_oracle::promela::{Model, Plain, Watched, compiled, shrink_model};
use stubborn_reduce::{Preserves, Reduction};
use stubborn_system::{Batch, Fault, System, TransitionId};
use stubborn_verdict::ReductionKind;

/// Models with more states are passed over.
const LIMIT: usize = 1500;

fn candidates() -> Vec<Candidate> {
    ReductionKind::ALL.into_iter().map(Candidate::of).collect()
}

#[test]
fn what_reductions_explore_is_enough() {
    let test = "what_reductions_explore_is_enough";
    let judge = |m: &Model| compare(&m.to_string(), &m.invariants, &candidates(), LIMIT);
    campaign(test, 50, judge);
}

#[test]
fn what_is_left_with_merged_steps_is_enough() {
    let test = "what_is_left_with_merged_steps_is_enough";
    let judge = |m: &Model| compare_merged(&m.to_string(), &m.invariants, &candidates(), LIMIT);
    campaign(test, 100, judge);
}

#[test]
fn answers_about_models_are_true() {
    let judge = |m: &Model| compare_answers(&m.to_string(), &m.invariants, &ReductionKind::ALL, LIMIT);
    campaign("answers_about_models_are_true", 50, judge);
}

#[test]
fn searches_that_take_turns_tell_the_truth() {
    let (n_models, n_overtaken) = (Cell::new(0), Cell::new(0));
    let judge = |m: &Model| {
        n_models.set(n_models.get() + 1);
        compare_races(&m.to_string(), &m.invariants, LIMIT, &n_overtaken)
    };
    campaign("searches_that_take_turns_tell_the_truth", 100, judge);
    // Models whose first states are wrong are not searched any further. Builds with one engine have no race.
    let has_race = !cfg!(any(feature = "always-packed", feature = "always-interpreter"));
    let least = if has_race { n_models.get() / 2 } else { 0 };
    assert!(
        n_overtaken.get() >= least && (has_race || n_overtaken.get() == 0),
        "{n_overtaken:?} of {n_models:?}"
    );
}

/// States in full and reduced, `None` if there are too many; or what is wrong.
type Judged = Result<Option<(usize, usize)>, String>;

fn campaign(test: &str, n: usize, judge: impl Fn(&Model) -> Judged) {
    let (mut tally, mut n_refused, mut n_all) = (Tally::new(), 0, 0);
    for seed in seeds(n) {
        n_all += 1;
        let model = Model::random(&mut Rng::new(seed));
        match judge(&model) {
            Ok(Some((full, reduced))) => tally.count(full, reduced),
            Ok(None) => {}
            // Options that begin with selections may bring two `else` together, which means nothing.
            Err(what) if what.contains("error[P0336]") => n_refused += 1,
            Err(what) => {
                let is_refused = what.contains("error");
                let fails = |m: &Model| judge(m).is_err_and(|what| what.contains("error") == is_refused);
                let small = shrink_model(&model, 5_000, fails);
                let what = judge(&small).expect_err("it still fails");
                fail("promela_reductions", test, seed, format!("{what}\n{:?}\n{small}", small.invariants));
            }
        }
    }
    assert!(n_refused * 10 <= n_all, "{n_refused} of {n_all} models were refused");
    tally.assert_not_degenerate(6, 0.2);
}

/// Fires what the youngest process that can move does, and nothing else: wrong, of course.
struct Youngest;

impl<'a> Reduction<Watched<'a>> for Youngest {
    fn name(&self) -> String {
        "youngest".into()
    }

    fn preserves(&self) -> Preserves {
        Preserves::Basic
    }

    fn expand(&mut self, system: &Watched<'a>, state: &[u8], out: &mut Batch<[u8]>) -> Result<(), Fault> {
        let mut all = Batch::new();
        system.successors(state, &mut all)?;
        let process = |i: usize| system.network.group(all.via(i)).pid;
        for i in (0..all.len()).filter(|&i| process(i) == process(0)) {
            out.push(all.via(i), all.state(i));
        }
        Ok(())
    }

    fn stubborn_set(&mut self, _: &Watched<'a>, _: &[u8], _: &mut Vec<TransitionId>) -> Result<(), Fault> {
        Ok(())
    }
}

fn youngest<'a>(_: &'a Network, _: &'a [Expr]) -> Box<dyn Reduction<Watched<'a>> + 'a> {
    Box::new(Youngest)
}

#[test]
fn a_wrong_reduction_is_found_and_its_model_shrinks() {
    let wrong = [Candidate::new("youngest", youngest)];
    let is_wrong = |m: &Model| {
        let what = compare(&m.to_string(), &m.invariants, &wrong, LIMIT);
        what.is_err_and(|what| what.starts_with("youngest:"))
    };
    let n_found = (0..60).filter(|&seed| is_wrong(&Model::random(&mut Rng::new(seed)))).count();
    println!("{n_found} of 60 models show it");
    assert!(n_found >= 15, "only {n_found} of 60 models show it");
    let first = (0..60).map(|seed| Model::random(&mut Rng::new(seed))).find(is_wrong).expect("just counted");
    let small = shrink_model(&first, 20_000, is_wrong);
    assert!(is_wrong(&small) && small.to_string().lines().count() <= 30, "{small}");
}

#[test]
fn terminal_states_are_told_apart_by_their_bytes() {
    let text = "byte x; active [2] proctype P() { x = _pid }";
    let (network, _) = compiled(text, &[]).expect("it is right");
    let all = Plain::full(&network, 100).expect("it is small").terminal_states();
    let full = Candidate::of(ReductionKind::None);
    assert_eq!((all.len(), terminal_states(&network, &full, 100)), (2, Ok(Some(all))));
    let few = terminal_states(&network, &Candidate::new("youngest", youngest), 100);
    assert_eq!(few.map(|few| few.map(|few| few.len())), Ok(Some(1)));
}
