//! Searches for rejections with and without reduction take turns of a few states. Whoever comes to the end, and however often they were
//! interrupted, the verdicts are those of brute force, and what is shown is shortest.

use crate::testers::{options, told, words};
use stubborn_explore::Unwatched;
use stubborn_lts::{Composition, CompositionJob, with_composition};
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::times;
use stubborn_oracle::processes::{Brute, Network, random_network};
use stubborn_system::RejectionKind;
use stubborn_verdict::{
    Analysis, EngineKind, Options, RaceRules, RejectionOptions, SearchKind, Verdict, WordKind,
    check_rejections,
};

/// How races ended.
#[derive(Default)]
pub(crate) struct Ended {
    /// Searches without reduction that overtook one with.
    pub(crate) overtaken: usize,
    /// Reduced searches that had more states than they could find in their first turn.
    cut: usize,
    /// Races in which each of the two answered something.
    mixed: usize,
}

/// Runs that show something of these kinds are as short as can be.
pub(crate) fn are_shortest(
    analysis: &Analysis,
    network: &Network,
    brute: &Brute,
    seed: u64,
    of: impl Fn(RejectionKind) -> bool,
) {
    for (answer, rejected) in analysis.answers.iter().zip(&network.rejected) {
        if let Verdict::Violated(violated) = &answer.verdict
            && of(rejected.kind)
        {
            let trace = violated.trace();
            let depth = trace.cycle_start.unwrap_or(trace.steps.len());
            assert_eq!(Some(depth), brute.depth(rejected), "{:?}, seed {seed}", rejected.kind);
        }
    }
}

/// Races with turns of many lengths, from a single state on.
pub(crate) fn races(
    network: &Network,
    brute: &Brute,
    seed: u64,
    check: impl Fn(&Options) -> Analysis,
) -> Ended {
    let wrong = network.rejected.iter().map(|rejected| brute.rejects(rejected));
    let expected: Vec<&str> = wrong.map(|is_wrong| if is_wrong { "violated" } else { "holds" }).collect();
    let mut ended = Ended::default();
    for (lap, first_turn) in [(0, 1), (1, 1), (6, 1 << 20), (12, 4)] {
        // On keys the search is looked at after each level.
        for engine in [EngineKind::Auto, EngineKind::Packed] {
            let race = Some(RaceRules { lap, first_turn, next_turn: 2, ..RaceRules::default() });
            let options = Options { race, engine, ..options() };
            let say = format!("{lap} {first_turn} {engine:?}, seed {seed}");
            let raced = check(&options);
            assert_eq!(words(&raced), expected, "{say}");
            are_shortest(&raced, network, brute, seed, |kind| !kind.is_about_cycles());
            assert_eq!(told(&raced), told(&check(&options)), "the same again, {say}");
            let first = words(&check(&Options { all_errors: false, ..options }));
            assert!(first.iter().zip(&expected).all(|(a, b)| a == b || *a == "inconclusive"), "{say}");
            let n_violated = first.iter().filter(|&&word| word == "violated").count();
            assert_eq!(n_violated > 0, expected.contains(&"violated"), "first, {say}");
            // Only a cycle may show several.
            let has_cycles = network.rejected.iter().any(|rejected| rejected.kind.is_about_cycles());
            assert!(has_cycles || n_violated <= 1, "{n_violated} violated, {say}");
            ended.count(&raced, lap);
        }
    }
    ended
}

impl Ended {
    fn count(&mut self, raced: &Analysis, lap: u64) {
        let of_states = || raced.phases.iter().filter(|phase| phase.search == SearchKind::BreadthFirst);
        let is_full = |reduction: &str| reduction == "none";
        self.overtaken += of_states().filter(|phase| phase.overtaken.is_some()).count();
        self.cut +=
            of_states().filter(|phase| !is_full(&phase.reduction) && phase.stats.states > lap).count();
        let n_full = of_states().filter(|phase| is_full(&phase.reduction)).count();
        self.mixed += usize::from((1..of_states().count()).contains(&n_full));
    }
}

/// Networks that know nothing of each other, side by side, so that much can be left out. What is asked is about states.
fn side_by_side(rng: &mut Rng) -> Network {
    let mut all = Network::default();
    for _ in 0..rng.between(2, 4) {
        let network = random_network(rng);
        let (first, first_label) = (all.processes.len(), all.n_labels);
        all.n_labels += network.n_labels;
        for mut process in network.processes {
            process.edges.iter_mut().for_each(|edge| edge.1 = edge.1.map(|label| label + first_label));
            process.alphabet.iter_mut().for_each(|label| *label += first_label);
            all.processes.push(process);
        }
        for mut rejected in network.rejected {
            rejected.parts.iter_mut().for_each(|part| part.0 += first);
            all.rejected.push(rejected);
        }
    }
    all.rejected.retain(|rejected| !rejected.kind.is_about_cycles());
    all
}

struct Judge<'a> {
    network: &'a Network,
    brute: &'a Brute,
    seed: u64,
}

impl<S: WordKind + ?Sized> CompositionJob<S> for Judge<'_> {
    type Output = Ended;

    fn run(self, composition: &Composition<'_, S>) -> Ended {
        let Self { network, brute, seed } = self;
        races(network, brute, seed, |options| {
            check_rejections(composition, RejectionOptions { reduced: true }, options, &mut Unwatched)
                .unwrap_or_else(|broken| panic!("seed {seed}: {:?}", broken.fault))
        })
    }
}

#[test]
fn searches_for_rejections_that_take_turns_tell_the_truth() {
    const LEAST: usize = 100;
    let (mut n_networks, mut all, mut seed) = (0, Ended::default(), 3_000_000);
    while n_networks < 200 * times() {
        seed += 1;
        let network = side_by_side(&mut Rng::new(seed));
        let Some(brute) = Brute::new(&network, 3_000) else { continue };
        if network.rejected.is_empty() || brute.tuples.len() < LEAST {
            continue;
        }
        n_networks += 1;
        let plan = network.plan();
        let ended = with_composition(&plan, Judge { network: &network, brute: &brute, seed }).unwrap();
        all.overtaken += ended.overtaken;
        all.cut += ended.cut;
        all.mixed += ended.mixed;
    }
    println!("{n_networks} networks, {} overtaken, {} cut, {} mixed", all.overtaken, all.cut, all.mixed);
    // Otherwise the campaign says nothing: either may win, and both may answer.
    let is_often = |n: usize| n > n_networks / 2;
    assert!(is_often(all.overtaken) && is_often(all.cut) && is_often(all.mixed));
}
