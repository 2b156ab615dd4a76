//! Stubborn sets on keys against those on states, step by step of a search: what is recalled by the parts of a key is what the state would say.
//! A question that does not tell all that it looks at is noticed.

use crate::networks::{all_networks, for_random_networks};
use crate::steady::Bare;
use fixedbitset::FixedBitSet;
use std::collections::{HashSet, VecDeque};
use std::panic::catch_unwind;
use std::path::PathBuf;
use stubborn_network::Network;
use stubborn_oracle::promela::compiled;
use stubborn_packed::{Packed, Sample, States};
use stubborn_reduce::{
    Answer, Explored, NetworkReduction, OnKeys, Preserves, Reduction, ReductionKind, Shown, SieveOnKeys,
    Sifted,
};
use stubborn_system::{Batch, Fault, System, TransitionId};

/// States of a model that are looked at.
const MOST: usize = 1_500;

/// How often each of them is sifted: a choice is remembered the first time, a shortcut to it the second.
const TIMES: usize = 3;

/// Models in which states have the same transitions enabled, and the same facts as far as anybody asks, and different sets because of one thing: where a process is that can do nothing, what a
/// process was given when it was started, and how many messages there is room for.
const LOOKALIKES: [&str; 3] = [
    "byte x, y;
     active proctype P() { do :: x == 1 -> y == 1 od }
     active proctype Q() { do :: y = 1 - y od }
     active proctype R() { do :: x = 1 - x od }",
    "byte a[3], b;
     proctype W(byte k) { do :: a[k] = 1 - a[k] od }
     active proctype R() { do :: b = a[1] od }
     init { if :: run W(1) :: run W(2) fi; do :: false od }",
    "chan q = [4] of { byte };
     active proctype S() { do :: atomic { q!1; q!2 } od }
     active proctype R() { do :: q?_ od }",
];

/// A reduction whose questions do not tell all that they look at.
struct Forgetful<'n>(NetworkReduction<'n>);

struct Half<'s>(&'s mut dyn Shown<[u8]>);

impl Shown<[u8]> for Half<'_> {
    fn show(&mut self, look: &mut dyn FnMut(&[u8])) {
        self.0.show(look);
    }

    fn recall(&mut self, question: usize, answer: &mut Answer<'_, [u8]>) -> i32 {
        self.0.recall(question, &mut |state, mut bytes| {
            let said = answer(state, bytes.as_deref_mut());
            bytes.into_iter().for_each(|bytes| bytes.truncate(bytes.len() / 2));
            said
        })
    }
}

impl Reduction<Network> for Forgetful<'_> {
    fn name(&self) -> String {
        "forgetful".into()
    }

    fn preserves(&self) -> Preserves {
        Reduction::<Network>::preserves(&self.0)
    }

    fn expand(&mut self, system: &Network, state: &[u8], out: &mut Batch<[u8]>) -> Result<(), Fault> {
        self.0.expand(system, state, out)
    }

    fn sift(
        &mut self,
        made: &[(TransitionId, u64)],
        state: &mut dyn Shown<[u8]>,
        kept: &mut FixedBitSet,
    ) -> Result<Option<()>, Fault> {
        Reduction::<Network>::sift(&mut self.0, made, &mut Half(state), kept)
    }

    fn stubborn_set(
        &mut self,
        system: &Network,
        state: &[u8],
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        self.0.stubborn_set(system, state, out)
    }
}

/// Compares what is fired on keys of `N` words with what is fired on states. How many states were compared, and how many of them had
/// something left out; `None` if the words are too few.
fn compare<const N: usize>(
    network: &Network,
    kind: ReductionKind,
    is_honest: bool,
) -> Option<Result<[usize; 2], String>> {
    let sample = Sample::new(network, 1_000).ok().flatten()?;
    let packed = Packed::<_, N>::new(network, sample).ok()?;
    let reduction = || NetworkReduction::new(network, &[], kind).tireless();
    let (mut on_states, mut honest, mut forgetful) = (reduction(), reduction(), Forgetful(reduction()));
    let inner: &mut dyn Reduction<Network> = if is_honest { &mut honest } else { &mut forgetful };
    let mut on_keys = OnKeys::<dyn Reduction<Network>, [u8], N>::new(inner);
    let (mut keys, mut states, mut all) = (Batch::new(), Batch::new(), Batch::new());
    packed.initial(&mut keys).ok()?;
    let mut seen = HashSet::from([*keys.state(0)]);
    let mut waiting = VecDeque::from([*keys.state(0)]);
    let (mut n_states, mut n_reduced) = (0, 0);
    while let Some(key) = waiting.pop_front() {
        keys.clear();
        states.clear();
        all.clear();
        let by_state = packed.with_state(&key, |state| on_states.expand(network, state, &mut states));
        let by_key = on_keys.expand(&packed, &key, &mut keys);
        if packed.failure().is_some() || by_state.is_err() {
            break;
        }
        let vias = |batch: &Batch<[u8]>| (0..batch.len()).map(|i| batch.via(i)).collect::<Vec<_>>();
        let fired: Vec<TransitionId> = (0..keys.len()).map(|i| keys.via(i)).collect();
        if by_key.is_err() || fired != vias(&states) {
            return Some(Err(format!("{fired:?}, not {:?}, in {}", vias(&states), packed.show(&key))));
        }
        packed.with_state(&key, |state| network.successors(state, &mut all)).ok()?;
        n_states += 1;
        n_reduced += usize::from(all.len() > states.len());
        for i in 0..keys.len() {
            if seen.len() < MOST && seen.insert(*keys.state(i)) {
                waiting.push_back(*keys.state(i));
            }
        }
    }
    Some(Ok([n_states, n_reduced]))
}

fn compare_any(network: &Network, kind: ReductionKind, is_honest: bool) -> Result<[usize; 2], String> {
    let one = || compare::<1>(network, kind, is_honest);
    let two = || compare::<2>(network, kind, is_honest);
    one().or_else(two).or_else(|| compare::<4>(network, kind, is_honest)).unwrap_or(Ok([0, 0]))
}

/// Sifts all states of a model again and again, on keys of `N` words and as they are. How many there are, and in how many of them something is left out; `None` if the words are too few, or the choice is given up.
fn sift<const N: usize>(network: &Network, kind: ReductionKind) -> Option<Result<[usize; 2], String>> {
    let sample = Sample::new(network, 1_000).ok().flatten()?;
    let packed = Packed::<_, N>::new(network, sample).ok()?;
    let mut on_states = NetworkReduction::new(network, &[], kind).forgetful();
    let mut inner = NetworkReduction::new(network, &[], kind);
    let by_state = Reduction::<Network>::sieve(&mut on_states)?;
    let mut on_keys = SieveOnKeys::<[u8], N>::new(Reduction::<Network>::sieve(&mut inner)?);
    let mut made = Batch::new();
    packed.initial(&mut made).ok()?;
    let mut seen = HashSet::from([*made.state(0)]);
    let mut all = vec![*made.state(0)];
    let (mut n_seen, mut n_reduced) = (0, 0);
    while n_seen < TIMES * all.len() {
        let key = all[n_seen % all.len()];
        made.clear();
        packed.successors(&key, &mut made).ok()?;
        if made.take_flag() || made.take_cut().is_some() {
            return None;
        }
        let mut fired = States::default();
        let sifted = on_keys.successors(&packed, &key, 0, &mut fired).ok()?;
        let mut expected = Vec::new();
        packed.with_state(&key, |state| {
            let explored = if made.len() > 1 {
                by_state.sift(made.vias(), &mut Bare(state)).ok()??
            } else {
                Explored::Everything
            };
            expected.extend((0..made.len()).filter(|&i| explored.contains(i)).map(|i| *made.state(i)));
            Some(())
        })?;
        if sifted == Sifted::Unsteady {
            return None;
        }
        if fired.keys != expected {
            let show = |keys: &[[u64; N]]| keys.iter().map(|key| packed.show(key)).collect::<Vec<_>>();
            return Some(Err(format!(
                "{:#?}, not {:#?}, behind {}",
                show(&fired.keys),
                show(&expected),
                packed.show(&key)
            )));
        }
        n_seen += 1;
        n_reduced += usize::from(expected.len() < made.len());
        // All states, not only those that are left.
        for i in 0..made.len() {
            if all.len() < MOST && seen.insert(*made.state(i)) {
                all.push(*made.state(i));
            }
        }
    }
    Some(Ok([n_seen, n_reduced]))
}

fn sift_any(network: &Network, kind: ReductionKind) -> Result<[usize; 2], String> {
    let one = || sift::<1>(network, kind);
    one().or_else(|| sift::<2>(network, kind)).or_else(|| sift::<4>(network, kind)).unwrap_or(Ok([0, 0]))
}

/// Kinds whose choice can be a function of the state.
const SIEVES: [ReductionKind; 3] =
    [ReductionKind::Smaller, ReductionKind::Persistent3, ReductionKind::StrongComponents];

#[test]
fn what_is_sifted_again_and_again_on_keys_is_what_a_sieve_without_memory_leaves_in_all_models() {
    let mut counts = [0, 0];
    let lookalikes =
        LOOKALIKES.map(|text| (PathBuf::from(text), compiled(text, &[]).expect("it is right").0));
    for (path, network) in lookalikes.into_iter().chain(all_networks()) {
        match sift_any(&network, ReductionKind::Smaller) {
            Ok(n) => {
                assert!(path.is_file() || n[1] > TIMES, "{n:?}: {}", path.display());
                counts = [counts[0] + n[0], counts[1] + n[1]];
            }
            Err(wrong) => panic!("{}: {wrong}", path.display()),
        }
    }
    assert!(counts[0] > 60_000 && counts[1] > 15_000, "{counts:?} states, and with a choice");
}

#[test]
fn what_is_sifted_again_and_again_on_keys_is_what_a_sieve_without_memory_leaves_in_random_models() {
    let mut counts = [0, 0];
    let test = (
        "choices",
        "what_is_sifted_again_and_again_on_keys_is_what_a_sieve_without_memory_leaves_in_random_models",
    );
    for_random_networks(100, test, |_, rng, network| {
        let n = sift_any(network, *rng.pick(&SIEVES))?;
        counts = [counts[0] + n[0], counts[1] + n[1]];
        Ok(())
    });
    assert!(counts[0] > 10_000 && counts[1] > 500, "{counts:?} states, and with a choice");
}

#[test]
fn what_is_fired_on_keys_is_what_is_fired_on_states_of_all_models() {
    let mut counts = [0, 0];
    for (path, network) in all_networks() {
        match compare_any(&network, ReductionKind::Smaller, true) {
            Ok(n) => counts = [counts[0] + n[0], counts[1] + n[1]],
            Err(wrong) => panic!("{}: {wrong}", path.display()),
        }
    }
    assert!(counts[0] > 20_000 && counts[1] > 5_000, "{counts:?} states, and with a choice");
}

#[test]
fn what_is_fired_on_keys_is_what_is_fired_on_states_of_random_models() {
    let mut counts = [0, 0];
    let test = ("choices", "what_is_fired_on_keys_is_what_is_fired_on_states_of_random_models");
    for_random_networks(100, test, |_, rng, network| {
        let kind = *rng.pick(&[ReductionKind::Smaller, ReductionKind::Persistent3, ReductionKind::UpSets]);
        let n = compare_any(network, kind, true)?;
        counts = [counts[0] + n[0], counts[1] + n[1]];
        Ok(())
    });
    assert!(counts[0] > 2_500 && counts[1] > 125, "{counts:?} states, and with a choice");
}

#[test]
fn a_question_that_does_not_tell_all_that_it_looks_at_is_noticed() {
    // A memory of choices notices by itself where it is lied to, in builds with assertions.
    let is_found = |(_, network): &(PathBuf, Network)| {
        let compared = catch_unwind(|| compare_any(network, ReductionKind::Smaller, false));
        !matches!(compared, Ok(Ok(_)))
    };
    let n_found = all_networks().filter(is_found).count();
    assert!(n_found > 10, "found in {n_found} models");
}
