//! What testers and rejection rules say, against brute force: every algorithm, every reduction, every store.

use crate::tester_races::{are_shortest, races};
use std::collections::HashMap;
use stubborn_explore::{Limits, Unwatched};
use stubborn_lts::{Composition, CompositionJob, with_composition};
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::times;
use stubborn_oracle::processes::{Brute, Move, Network, random_network, random_pair};
use stubborn_reduce::{CheckDepth, GoalOriented, Reduction};
use stubborn_system::{Batch, Rejecting, RejectionKind, System, WordVector};
use stubborn_verdict::{
    Analysis, EngineKind, Options, RejectionOptions, SearchKind, StoreKind, Trace, Verdict, WordKind,
    check_rejections,
};

/// States of the whole graph, at most; the rest is drawn again.
const LIMIT: usize = 400;

/// The part of the graph that a reduction leaves.
fn reduced<S: WordVector + ?Sized>(composition: &Composition<'_, S>, reduction: &mut GoalOriented) -> Brute {
    let n = composition.plan().components().len();
    let tuple = |state: &S| (0..n).map(|i| composition.local(state, i) as usize).collect::<Vec<_>>();
    let mut states = Batch::new();
    composition.initial(&mut states).unwrap();
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::from([(states.state(0).as_bytes().to_vec(), 0)]);
    let mut brute = Brute { tuples: vec![tuple(states.state(0))], moves: Vec::new() };
    while brute.moves.len() < brute.tuples.len() {
        let mut out = Batch::new();
        reduction.expand(composition, states.state(brute.moves.len()), &mut out).unwrap();
        let mut moves = Vec::new();
        for i in 0..out.len() {
            let target = *numbers.entry(out.state(i).as_bytes().to_vec()).or_insert_with(|| {
                states.push(out.via(i), out.state(i));
                brute.tuples.push(tuple(out.state(i)));
                brute.tuples.len() - 1
            });
            moves.push(Move { who: composition.participants(out.via(i)).collect(), label: None, target });
        }
        brute.moves.push(moves);
    }
    brute
}

pub(crate) fn options() -> Options {
    Options { all_errors: true, limits: Limits::default(), ..Options::default() }
}

/// Verdicts with their runs, and the counts of all searches.
pub(crate) type Told<'a> = (Vec<(&'static str, Option<&'a Trace>)>, Vec<[u64; 4]>);

/// All that is told, but for memory and time.
pub(crate) fn told(analysis: &Analysis) -> Told<'_> {
    fn trace(verdict: &Verdict) -> Option<&Trace> {
        let Verdict::Violated(violated) = verdict else { return None };
        Some(violated.trace())
    }
    let answers =
        analysis.answers.iter().map(|answer| (answer.verdict.word(), trace(&answer.verdict))).collect();
    let stats = analysis.phases.iter().map(|phase| phase.stats);
    (answers, stats.map(|s| [s.states, s.edges, s.terminal_states, s.depth]).collect())
}

pub(crate) fn words(analysis: &Analysis) -> Vec<&'static str> {
    analysis.answers.iter().map(|answer| answer.verdict.word()).collect()
}

#[derive(Default)]
struct Tally {
    networks: usize,
    /// By kind: how often it is rejected.
    rejected: [usize; 4],
    full_states: usize,
    reduced_states: usize,
    /// How often a reduced space showed a livelock in place of something else.
    instead: usize,
    missed_by_bitstate: usize,
    searches_on_keys: usize,
    overtaken: usize,
}

struct Judge<'a> {
    network: &'a Network,
    brute: &'a Brute,
    seed: u64,
    tally: &'a mut Tally,
}

impl<S: WordKind + ?Sized> CompositionJob<S> for Judge<'_> {
    type Output = ();

    fn run(self, composition: &Composition<'_, S>) {
        let Self { network, brute, seed, tally } = self;
        let wrong: Vec<bool> = network.rejected.iter().map(|r| brute.rejects(r)).collect();
        for (rejected, &is_wrong) in network.rejected.iter().zip(&wrong) {
            tally.rejected[rejected.kind as usize] += usize::from(is_wrong);
        }
        tally.networks += 1;
        tally.full_states += brute.tuples.len();
        let expected: Vec<&str> = wrong.iter().map(|&w| if w { "violated" } else { "holds" }).collect();
        let check = |reduced: bool, options: &Options| {
            check_rejections(composition, RejectionOptions { reduced }, options, &mut Unwatched)
                .unwrap_or_else(|broken| panic!("seed {seed}: {:?}", broken.fault))
        };
        for reduced in [false, true] {
            for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
                for all_errors in [false, true] {
                    let engines = [EngineKind::Interpreter, EngineKind::Packed];
                    let [ours, keys] = engines
                        .map(|engine| check(reduced, &Options { engine, search, all_errors, ..options() }));
                    assert_eq!(told(&ours), told(&keys), "engines, seed {seed}");
                    let on_keys = keys.phases.iter().filter(|phase| phase.key_words.is_some());
                    tally.searches_on_keys += on_keys.count();
                }
            }
        }
        let everything = Options { check: Some(CheckDepth::Everything), ..options() };
        let all = if seed.is_multiple_of(16) { everything } else { options() };
        let full = check(false, &all);
        assert_eq!(words(&full), expected, "full, seed {seed}");
        are_shortest(&full, network, brute, seed, |kind| kind != RejectionKind::Infinite);
        assert_eq!(words(&check(true, &all)), expected, "reduced, seed {seed}");
        for reduced in [false, true] {
            let first = check(reduced, &Options { all_errors: false, ..options() });
            for (i, word) in words(&first).into_iter().enumerate() {
                assert!(word == expected[i] || word == "inconclusive", "seed {seed}: {word}");
            }
            assert_eq!(words(&first).contains(&"violated"), wrong.contains(&true), "first, seed {seed}");
            let store = StoreKind::Bitstate { log2: 10, functions: 2 };
            let search =
                if seed.is_multiple_of(2) { SearchKind::DepthFirst } else { SearchKind::BreadthFirst };
            let small = check(reduced, &Options { store, search, ..options() });
            for (i, answer) in small.answers.iter().enumerate() {
                match answer.verdict {
                    Verdict::Violated(_) => assert!(wrong[i], "bitstate, seed {seed}"),
                    Verdict::Inconclusive(_) => tally.missed_by_bitstate += usize::from(wrong[i]),
                    _ => panic!("bitstate, seed {seed}: {}", answer.verdict.word()),
                }
            }
        }
        let races = races(network, brute, seed, |options| check(true, options));
        tally.overtaken += races.overtaken;
        theorem(network, &wrong, composition, seed, tally);
    }
}

/// V93 Theorem 4.1 for each guard: what is found is real; what is there is found, or else a livelock is.
fn theorem<S: WordVector + ?Sized>(
    network: &Network,
    wrong: &[bool],
    composition: &Composition<'_, S>,
    seed: u64,
    tally: &mut Tally,
) {
    let rejections = composition.rejections();
    let n_guards = rejections.iter().map(|rejection| rejection.guard + 1).max().unwrap_or(0);
    for guard in 0..n_guards {
        let of: Vec<usize> = (0..rejections.len()).filter(|&i| rejections[i].guard == guard).collect();
        let with = reduced(composition, &mut GoalOriented::new(composition, guard));
        let without = reduced(composition, &mut GoalOriented::without_monitors(guard));
        tally.reduced_states += with.tuples.len();
        let has_livelock = of.iter().any(|&i| {
            network.rejected[i].kind == RejectionKind::Livelock && with.rejects(&network.rejected[i])
        });
        for &i in &of {
            let rejected = &network.rejected[i];
            let found = with.rejects(rejected);
            assert!(!found || wrong[i], "it is not real, seed {seed}, rejection {i}");
            assert!(!wrong[i] || found || has_livelock, "it was missed, seed {seed}, rejection {i}");
            tally.instead += usize::from(wrong[i] && !found);
            if rejected.kind == RejectionKind::Deadlock {
                assert_eq!(found, wrong[i], "deadlocks, seed {seed}");
            }
            if rejected.kind != RejectionKind::Livelock {
                assert_eq!(
                    without.rejects(rejected),
                    wrong[i],
                    "without monitors, seed {seed}, rejection {i}"
                );
            }
        }
    }
}

fn campaign(n: usize, first_seed: u64, draw: impl Fn(&mut Rng) -> Network) -> Tally {
    let mut tally = Tally::default();
    let mut seed = first_seed;
    while tally.networks < n * times() {
        seed += 1;
        let network = draw(&mut Rng::new(seed));
        let Some(brute) = Brute::new(&network, LIMIT) else { continue };
        let plan = network.plan();
        let judge = Judge { network: &network, brute: &brute, seed, tally: &mut tally };
        with_composition(&plan, judge).unwrap();
    }
    println!(
        "{} networks, rejected {:?}, {} states, {} reduced, {} livelocks instead, {} missed by bitstate, {} overtaken",
        tally.networks,
        tally.rejected,
        tally.full_states,
        tally.reduced_states,
        tally.instead,
        tally.missed_by_bitstate,
        tally.overtaken
    );
    tally
}

#[test]
fn testers_say_what_brute_force_says() {
    let tally = campaign(1_250, 1_000_000, random_pair);
    // Otherwise the campaign says nothing.
    let is_some = |&n: &usize| n * 100 > tally.networks * 6 && n * 100 < tally.networks * 94;
    assert!(tally.rejected.iter().all(is_some), "{:?}", tally.rejected);
    assert!(tally.reduced_states * 10 < tally.full_states * 9, "{}", tally.reduced_states);
    assert!(tally.instead > 0);
    assert!(tally.searches_on_keys > tally.networks * 2, "{}", tally.searches_on_keys);
    assert!(tally.overtaken > tally.networks, "{}", tally.overtaken);
}

#[test]
fn conditions_on_several_processes_are_decided_as_by_brute_force() {
    let tally = campaign(500, 2_000_000, random_network);
    assert!(tally.rejected.iter().all(|&n| n * 10 > tally.networks), "{:?}", tally.rejected);
}
