//! Reduced searches that keep nothing but states: choices that are a function of the state, whoever makes them and when, and that nothing is ignored for ever.

use crate::networks::{all_networks, for_random_networks};
use crate::threads::{RESTLESS, counts};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use stubborn_explore::{
    Crew, Ended, Limits, Pace, SiftingScout, Sighting, Stats, Unclear, Unobserved, Unwatched, Visitor, Work,
    breadth_first_alone, breadth_first_together,
};
use stubborn_network::Network;
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{Tally, fail, seeds};
use stubborn_oracle::promela::reduced::compare_sifted;
use stubborn_oracle::promela::{Model, Plain, Watched, compiled, shrink_model};
use stubborn_packed::{Failure, Packed, Sample, Team};
use stubborn_reduce::{Answer, NetworkReduction, Reduction, ReductionKind, Shown, Sieve, Sieves};
use stubborn_store::Regions;
use stubborn_system::{Batch, Composed, Fault, Observed, Shared, System, TransitionId};

/// Models with more states are passed over.
const LIMIT: usize = 1_500;

/// Reductions that differ in what they leave out.
const KINDS: [ReductionKind; 4] = [
    ReductionKind::Smaller,
    ReductionKind::StrongComponents,
    ReductionKind::Persistent1,
    ReductionKind::Ample,
];

/// A state that is shown as it is.
pub(crate) struct Bare<'s>(pub(crate) &'s [u8]);

impl Shown<[u8]> for Bare<'_> {
    fn show(&mut self, look: &mut dyn FnMut(&[u8])) {
        look(self.0);
    }

    fn recall(&mut self, _: usize, answer: &mut Answer<'_, [u8]>) -> i32 {
        answer(self.0, None).0
    }
}

/// What is explored from each state, by a plain search in depth or in breadth, with a reduction of its own; `None` if the choice is given up or there are too many states.
fn explored(
    network: &Network,
    kind: ReductionKind,
    is_deep: bool,
) -> Option<HashMap<Vec<u8>, Vec<TransitionId>>> {
    let mut reduction = NetworkReduction::new(network, &[], kind);
    let sieve = Reduction::<Network>::sieve(&mut reduction)?;
    let mut made = Batch::new();
    network.initial(&mut made).ok()?;
    let mut waiting = std::collections::VecDeque::from([made.state(0).to_vec()]);
    let mut found = HashMap::new();
    while let Some(state) = if is_deep { waiting.pop_back() } else { waiting.pop_front() } {
        if found.contains_key(&state) {
            continue;
        }
        made.clear();
        network.successors(&state, &mut made).ok()?;
        if made.take_flag() || made.take_cut().is_some() || found.len() > LIMIT {
            return None;
        }
        let kept: Vec<usize> = match made.len() {
            0 | 1 => (0..made.len()).collect(),
            n => {
                let sifted = sieve.sift(made.vias(), &mut Bare(&state)).ok()??;
                (0..n).filter(|&i| sifted.contains(i)).collect()
            }
        };
        waiting.extend(kept.iter().map(|&i| made.state(i).to_vec()));
        found.insert(state, kept.iter().map(|&i| made.via(i)).collect());
    }
    Some(found)
}

/// Threads that explore what sieves leave.
struct Sifting<'a, const N: usize> {
    shared: &'a dyn Shared<[u8]>,
    sieves: &'a dyn Sieves<[u8]>,
    team: &'a Team<N>,
    may_repair: bool,
}

impl<const N: usize> Crew<N> for Sifting<'_, N> {
    fn initial(&self, out: &mut Batch<[u64; N]>) -> Result<(), Fault> {
        let mut done = Err(Fault::Broken("nothing is lent".into()));
        self.shared.lend(&mut |system| done = self.team.member(system).expect("a tracer").initial(out));
        done
    }

    fn join(&self, work: &mut Work<'_, N>) {
        self.shared.lend(&mut |system| {
            let packed = self.team.member(system).expect("a tracer");
            self.sieves.lend(&mut |sieve| {
                let scout = SiftingScout::new(&packed, sieve, Unobserved);
                work(&mut if self.may_repair { scout } else { scout.without_repairs() });
            });
            packed.failure().into_iter().for_each(|failure| self.team.report(failure));
        });
    }
}

/// How such a search ends; `None` if keys are of no use.
fn together(network: &Network, kind: ReductionKind, pace: Pace) -> Option<(Ended, Stats)> {
    let mut sample = Sample::traced(network, network.tracer()?, 500, 512).ok()?;
    loop {
        let made = match sample.n_words() {
            1 => together_with::<1>(network, kind, pace, &mut sample),
            2 => together_with::<2>(network, kind, pace, &mut sample),
            3 | 4 => together_with::<4>(network, kind, pace, &mut sample),
            _ => return None,
        };
        match made {
            Ok(ended) => return Some(ended),
            Err(Failure::TooNarrow) => {}
            Err(Failure::Useless) => return None,
        }
    }
}

fn together_with<const N: usize>(
    network: &Network,
    kind: ReductionKind,
    pace: Pace,
    sample: &mut Sample<'_, [u8]>,
) -> Result<(Ended, Stats), Failure> {
    let shared = network.shared().expect("it can be shared");
    let reduction = NetworkReduction::new(network, &[], kind);
    let sieves = Reduction::<Network>::sieves(&reduction).expect("it was sifted already");
    let team = Team::<N>::new(sample).ok_or(Failure::TooNarrow)?;
    let may_repair = pace.threads == 1;
    let crew = Sifting { shared: &*shared, sieves: &*sieves, team: &team, may_repair };
    let (store, limits) = (Regions::of_keys(), Limits::default());
    let ended = match pace.threads {
        1 => breadth_first_alone(&crew, &store, limits, &mut Unwatched),
        _ => breadth_first_together(&crew, &store, pace, limits, &mut Unwatched),
    };
    team.disband(sample).map_or(Ok(ended), Err)
}

/// Compares what is explored of a network in several orders and by several threads; how many states there are, and whether anything was left out.
fn compare_orders(
    network: &Network,
    kind: ReductionKind,
    seed: usize,
) -> Result<Option<(usize, bool)>, String> {
    let Some(deep) = explored(network, kind, true) else { return Ok(None) };
    if explored(network, kind, false).as_ref() != Some(&deep) {
        return Err("what is explored depends on the order".into());
    }
    let n_edges: usize = deep.values().map(Vec::len).sum();
    let n_terminal = deep.values().filter(|vias| vias.is_empty()).count();
    let mut is_repaired = false;
    for pace in [Pace { threads: 1, chunk: 1, many: 1 }, RESTLESS[seed % 3]] {
        let Some((ended, stats)) = together(network, kind, pace) else { continue };
        if is_repaired && ended == Ended::InOrder(Unclear::Unsteady) {
            continue;
        }
        is_repaired |= stats.repairs > 0;
        if is_repaired && ended == Ended::InOrder(Unclear::Seen) {
            // What is odd lies behind what was put off.
            continue;
        }
        let [states, edges, terminal, _, queue] = counts(&stats).map(|n| n as usize);
        let expected = (deep.len(), n_edges, n_terminal, 0);
        let is_same = match stats.repairs {
            0 => (states, edges, terminal, queue) == expected,
            _ => states >= deep.len() && edges > n_edges && terminal == n_terminal,
        };
        if ended != Ended::Complete || !is_same {
            return Err(format!("{ended:?} {stats:?}, not {expected:?}, with {pace:?}"));
        }
    }
    let full = Plain::full(network, 4 * LIMIT).map_or(usize::MAX, |full| full.counts().transitions);
    Ok(Some((deep.len(), n_edges < full)))
}

#[test]
fn what_is_explored_of_all_models_does_not_depend_on_who_explores_it_and_when() {
    let (mut n_models, mut n_reduced) = (0, 0);
    for (i, (path, network)) in all_networks().enumerate() {
        let kind = KINDS[i % KINDS.len()];
        match compare_orders(&network, kind, i) {
            Ok(found) => {
                n_models += usize::from(found.is_some());
                n_reduced += usize::from(found.is_some_and(|(_, is_reduced)| is_reduced));
            }
            Err(wrong) => panic!("{}, {}: {wrong}", path.display(), kind.word()),
        }
    }
    println!("{n_models} models, something left out in {n_reduced}");
    assert!(n_models >= 100 && n_reduced >= 40, "{n_models} {n_reduced}");
}

#[test]
fn what_is_explored_of_random_models_does_not_depend_on_who_explores_it_and_when() {
    let test = ("steady", "what_is_explored_of_random_models_does_not_depend_on_who_explores_it_and_when");
    let (mut n_models, mut n_reduced) = (0, 0);
    for_random_networks(150, test, |seed, _, network| {
        let kind = KINDS[seed as usize % KINDS.len()];
        let found = compare_orders(network, kind, seed as usize / 4)?;
        n_models += usize::from(found.is_some());
        n_reduced += usize::from(found.is_some_and(|(_, is_reduced)| is_reduced));
        Ok(())
    });
    println!("{n_models} models, something left out in {n_reduced}");
    assert!(n_models >= 50 && n_reduced * 4 >= n_models, "{n_models} {n_reduced}");
}

#[test]
fn searches_that_keep_nothing_but_states_tell_the_truth() {
    let test = "searches_that_keep_nothing_but_states_tell_the_truth";
    let (mut tally, n_together, mut n_models) = (Tally::new(), Cell::new(0), 0);
    for seed in seeds(200) {
        let mut rng = Rng::new(seed);
        let model = if seed % 3 == 0 { Model::random(&mut rng) } else { Model::looping(&mut rng) };
        let kinds = &KINDS[seed as usize / 3 % 3..][..2];
        let judge = |model: &Model| {
            // Most propositions of models that go round are false somewhere.
            let asked = match &model.invariants[..] {
                [] => &model.propositions[..seed as usize % 2],
                invariants => invariants,
            };
            compare_sifted(&model.to_string(), asked, kinds, LIMIT, &n_together)
        };
        match judge(&model) {
            Ok(Some((full, reduced))) => {
                n_models += 1;
                tally.count(full, reduced);
            }
            Ok(None) => {}
            Err(what) if what.contains("error") => {}
            Err(_) => {
                let fails = |m: &Model| judge(m).is_err_and(|what| !what.contains("error"));
                let small = shrink_model(&model, 5_000, fails);
                let what = judge(&small).expect_err("it still fails");
                let Model { invariants, propositions, .. } = &small;
                fail("steady", test, seed, format!("{what}\n{invariants:?}\n{propositions:?}\n{small}"));
            }
        }
    }
    println!("{n_models} models, {n_together:?} searches by several threads");
    assert!(n_models >= 100 && n_together.get() >= n_models / 2, "{n_models} {n_together:?}");
    tally.assert_not_degenerate(6, 0.2);
}

/// Looks for states in which an invariant does not hold.
struct Judging<'a, 'y>(&'a Packed<'y, Watched<'y>, 1>);

impl Visitor<[u64; 1]> for Judging<'_, '_> {
    fn arrive(&mut self, key: &[u64; 1]) -> Result<Option<Sighting>, Fault> {
        let found = self.0.with_state(key, |state| self.0.original().check_found(state))?;
        Ok(found.map(|message| Sighting { question: 0, message }))
    }

    fn flagged(&mut self, _: &[u64; 1]) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }

    fn terminal(&mut self, _: &[u64; 1]) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }
}

/// One thread that looks for such states, and may put things off for ever.
struct Careless<'a, 'y> {
    packed: &'a Packed<'y, Watched<'y>, 1>,
    sieve: RefCell<&'a mut dyn Sieve<[u8]>>,
    minds_ignoring: bool,
}

impl Crew<1> for Careless<'_, '_> {
    fn initial(&self, out: &mut Batch<[u64; 1]>) -> Result<(), Fault> {
        self.packed.initial(out)
    }

    fn join(&self, work: &mut Work<'_, 1>) {
        let mut sieve = self.sieve.borrow_mut();
        let scout = SiftingScout::new(self.packed, &mut **sieve, Judging(self.packed));
        work(&mut if self.minds_ignoring { scout } else { scout.ignoring() });
    }
}

/// Whether a failure is seen, and how many states were expanded in full because something was ignored; `None` if keys are of no use.
fn sees_failure(system: &Watched<'_>, minds_ignoring: bool) -> Option<(bool, u64)> {
    let sample = Sample::traced(system, system.tracer()?, 500, 512).ok()?;
    let packed = Packed::<_, 1>::new(system, sample).ok()?;
    let mut reduction = NetworkReduction::new(system.network, system.invariants, ReductionKind::Smaller);
    let sieve = RefCell::new(Reduction::<Watched<'_>>::sieve(&mut reduction)?);
    let crew = Careless { packed: &packed, sieve, minds_ignoring };
    let (ended, stats) = breadth_first_alone(&crew, &Regions::of_keys(), Limits::default(), &mut Unwatched);
    match (packed.failure(), ended) {
        (None, Ended::Complete) => Some((false, stats.repairs)),
        (None, Ended::InOrder(Unclear::Seen)) => Some((true, stats.repairs)),
        _ => None,
    }
}

#[test]
fn failures_are_missed_where_things_are_put_off_for_ever_and_not_otherwise() {
    let (mut n_failing, mut n_missed, mut n_repaired) = (0, 0, 0);
    for seed in 0..400 {
        let model = Model::looping(&mut Rng::new(seed));
        let Ok((network, invariants)) = compiled(&model.to_string(), &model.propositions[..1]) else {
            continue;
        };
        let system = Watched { network: &network, invariants: &invariants };
        let Some(full) = Plain::full(&network, LIMIT) else { continue };
        let Some((is_seen, n_repairs)) = sees_failure(&system, true) else { continue };
        assert_eq!(is_seen, !full.is_safe(&system), "seed {seed}\n{:?}\n{model}", model.propositions);
        n_failing += usize::from(is_seen);
        n_repaired += usize::from(n_repairs > 0);
        n_missed += usize::from(is_seen && sees_failure(&system, false).is_some_and(|(is_seen, _)| !is_seen));
    }
    println!("{n_failing} fail, {n_missed} missed where ignoring is not minded; repairs in {n_repaired}");
    assert!(n_failing >= 50 && n_missed >= 3 && n_repaired >= 3, "{n_failing} {n_missed} {n_repaired}");
}

#[test]
fn who_goes_round_alone_does_not_keep_others_from_failing() {
    let text = "bit a, b; active proctype P() { b = 1 } active proctype Q() { do :: a = 1 - a od }";
    let (network, invariants) = compiled(text, &["b == 0".into()]).expect("it is right");
    let system = Watched { network: &network, invariants: &invariants };
    let found =
        [false, true].map(|minds_ignoring| sees_failure(&system, minds_ignoring).expect("it has keys"));
    assert_eq!(found.map(|(is_seen, _)| is_seen), [false, true]);
}
