//! Searches by several threads against searches by one: the same states, transitions, terminal states and levels; the same
//! verdicts with the same counterexamples; and limits, interruptions and panics that end them.

use crate::networks::{all_networks, for_random_networks};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use stubborn_explore::{
    Counts, Crew, End, Ended, Explorer, Job, Keep, Limits, Pace, Scout, Stats, Stop, Unclear, Unobserved,
    Unwatched, Watch, Work, breadth_first, breadth_first_alone, breadth_first_together,
};
use stubborn_model::{ModelSystem, RuleSource};
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::promela::compiled;
use stubborn_oracle::sleep::{Asleep, Census, census};
use stubborn_oracle::{Program, Rng};
use stubborn_packed::{Failure, Sample, States, Team};
use stubborn_reduce::Full;
use stubborn_store::{Exact, Quotient, Regions};
use stubborn_system::{Batch, Composed, Fault, Shared, System, Vector};
use stubborn_verdict::{Analysis, EngineKind, OneThread, Options, PhaseReport, StoreKind, Verdict, analyse};

/// States of a model that are looked at.
const MOST: u64 = 4_000;

/// Threads take few states at a time and are woken for few, so that they get in each other's way.
pub(crate) const RESTLESS: [Pace; 3] = [
    Pace { threads: 2, chunk: 1, many: 1 },
    Pace { threads: 3, chunk: 3, many: 2 },
    Pace { threads: 4, chunk: 16, many: 1 },
];

/// Threads that look for nothing.
struct Members<'a, S: Vector + ?Sized, const N: usize> {
    shared: &'a dyn Shared<S>,
    team: &'a Team<N>,
}

impl<S: Vector + ?Sized, const N: usize> Crew<N> for Members<'_, S, N> {
    fn initial(&self, out: &mut Batch<[u64; N]>) -> Result<(), Fault> {
        let mut done = Err(Fault::Broken("nothing is lent".into()));
        self.shared.lend(&mut |system| done = self.team.member(system).expect("a tracer").initial(out));
        done
    }

    fn join(&self, work: &mut Work<'_, N>) {
        self.shared.lend(&mut |system| {
            let packed = self.team.member(system).expect("a tracer");
            work(&mut Scout::new(&packed, Unobserved));
            packed.failure().into_iter().for_each(|failure| self.team.report(failure));
        });
    }
}

/// What is the same, however many threads there are.
pub(crate) fn counts(stats: &Stats) -> [u64; 5] {
    [stats.states, stats.edges, stats.terminal_states, stats.depth, stats.queue]
}

/// The counts of one thread; `None` if something is wrong or too large.
fn alone<Y: System>(system: &Y) -> Option<[u64; 5]> {
    let outcome = breadth_first(Job {
        system,
        reduction: &mut Full,
        store: &mut Exact::new(),
        visitor: &mut Unobserved,
        watch: &mut Unwatched,
        limits: Limits { states: MOST, ..Limits::default() },
        keep: Keep::Nothing,
        all_errors: true,
        no_ignoring: false,
    });
    (outcome.end == End::Complete).then(|| counts(&outcome.stats))
}

/// The counts of several threads, which may find keys too narrow several times; `None` if keys are of no use.
fn together<Y: Composed>(system: &Y, pace: Pace, n_steps: usize, many: usize) -> Option<[u64; 5]> {
    let mut sample = Sample::traced(system, system.tracer()?, n_steps, many).ok()?;
    loop {
        let found = match sample.n_words() {
            1 => together_with::<_, 1>(system, pace, &mut sample),
            2 => together_with::<_, 2>(system, pace, &mut sample),
            3 | 4 => together_with::<_, 4>(system, pace, &mut sample),
            _ => return None,
        };
        match found {
            Ok(found) => return Some(found),
            Err(Some(Failure::TooNarrow)) => {}
            Err(Some(Failure::Useless)) => return None,
            Err(None) => panic!("something is seen by several threads only"),
        }
    }
}

fn together_with<Y: Composed, const N: usize>(
    system: &Y,
    pace: Pace,
    sample: &mut Sample<'_, Y::State>,
) -> Result<[u64; 5], Option<Failure>> {
    let shared = system.shared().expect("it can be shared");
    let team = Team::<N>::new(sample).ok_or(Failure::TooNarrow)?;
    let crew = Members { shared: &*shared, team: &team };
    let limits = Limits::default();
    let (ended, stats) = match pace.threads {
        1 if N <= 2 && pace.chunk == 1 => {
            let store = Regions::undivided(Quotient::<N>::new());
            breadth_first_alone(&crew, &store, limits, &mut Unwatched)
        }
        1 => breadth_first_alone(&crew, &Regions::of_keys(), limits, &mut Unwatched),
        _ => breadth_first_together(&crew, &Regions::of_keys(), pace, limits, &mut Unwatched),
    };
    match team.disband(sample) {
        Some(failure) => Err(Some(failure)),
        None if ended == Ended::Complete => Ok(counts(&stats)),
        None => Err(None),
    }
}

/// Compares a system in several ways; the number of states.
fn compare<Y: Composed>(system: &Y, seed: usize) -> Result<u64, String> {
    let Some(expected) = alone(system) else { return Ok(0) };
    // With few steps, or parts that are as fine as they can be, nearly every value is new to somebody.
    let (n_steps, many) = [(500, 512), (2, 512), (100, 0)][seed % 3];
    // One thread, with one set of keys or the other, and several.
    let one = |chunk| Pace { threads: 1, chunk, many: 1 };
    for pace in [one(1), one(2), RESTLESS[seed / 3 % 3]] {
        match together(system, pace, n_steps, many) {
            Some(found) if found != expected => {
                return Err(format!("{found:?}, not {expected:?}, with {pace:?}"));
            }
            Some(_) => {}
            None => return Ok(0),
        }
    }
    Ok(expected[0])
}

#[test]
fn threads_find_what_one_thread_finds_in_all_models() {
    let (mut n_models, mut n_states) = (0, 0);
    for (i, (path, network)) in all_networks().enumerate() {
        for way in 0..3 {
            let compared = compare(&network, i + 3 * way);
            n_states += compared.unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
        }
        n_models += 1;
    }
    assert!(n_models > 100 && n_states > 20_000, "{n_models} models, {n_states} states");
}

#[test]
fn threads_find_what_one_thread_finds_in_random_models() {
    let mut n_states = 0;
    let test = ("threads", "threads_find_what_one_thread_finds_in_random_models");
    for_random_networks(300, test, |seed, _, network| {
        n_states += compare(network, seed as usize)?;
        Ok(())
    });
    assert!(n_states > 5_000, "{n_states} states");
}

#[test]
fn half_of_the_condition_for_sleep_is_noticed_by_random_models() {
    let (mut n_slept, mut n_found) = (0, [0; 2]);
    let test = ("threads", "half_of_the_condition_for_sleep_is_noticed_by_random_models");
    for_random_networks(300, test, |_, _, network| {
        let found =
            |asleep| census(network, asleep, 500).map(|found| (Census { slept: 0, ..found }, found.slept));
        let Some((expected, _)) = found(Asleep::Never) else { return Ok(()) };
        let (whole, slept) = found(Asleep::IfIndependent).expect("it is no larger");
        if whole != expected {
            return Err(format!("{whole:?}, not {expected:?}"));
        }
        n_slept += slept;
        for (n_found, half) in n_found.iter_mut().zip([Asleep::IfUndisturbed, Asleep::IfHarmless]) {
            *n_found += usize::from(found(half).is_none_or(|(found, _)| found != expected));
        }
        Ok(())
    });
    println!("asleep {n_slept} times, halves noticed in {n_found:?} models");
    assert!(n_slept > 1_000 && n_found.iter().all(|&n| n > 5), "{n_slept} times, {n_found:?} models");
}

#[test]
fn threads_find_what_one_thread_finds_in_models_as_code() {
    let mut n_states = 0;
    for seed in seeds(300) {
        let mut rng = Rng::new(seed);
        let model = Program::random(&mut rng);
        for source in [RuleSource::None, RuleSource::of(&model)] {
            let Ok(system) = ModelSystem::<[u64; 4]>::new(&model, source) else { continue };
            match compare(&system, seed as usize) {
                Ok(n) => n_states += n,
                Err(wrong) => {
                    fail("threads", "threads_find_what_one_thread_finds_in_models_as_code", seed, wrong)
                }
            }
        }
    }
    assert!(n_states > 2_000, "{n_states} states");
}

/// Verdicts with their counterexamples and the counts of every search; and how many threads made the first.
fn told(analysis: &Analysis) -> (String, usize, Option<OneThread>) {
    let answers: Vec<String> =
        analysis.answers.iter().map(|answer| format!("{:?}", answer.verdict)).collect();
    let searches: Vec<_> = analysis.phases.iter().map(|phase| (&phase.end, counts(&phase.stats))).collect();
    let first = &analysis.phases[0];
    (format!("{answers:?} {searches:?}"), first.threads, first.one_thread)
}

#[test]
fn verdicts_and_counterexamples_are_those_of_one_thread() {
    let (mut n_shared, mut n_seen) = (0, 0);
    let test = ("threads", "verdicts_and_counterexamples_are_those_of_one_thread");
    for_random_networks(200, test, |_, _, network| {
        let answer = |threads| {
            let limits = Limits { states: MOST, ..Limits::default() };
            let options = Options { engine: EngineKind::Packed, threads, limits, ..Options::default() };
            analyse(network, &options, &mut Unwatched)
        };
        match (answer(1), answer(3)) {
            (Ok(one), Ok(three)) => {
                let (expected, found) = (told(&one), told(&three));
                if found.0 != expected.0 {
                    return Err(format!("{}\nnot\n{}", found.0, expected.0));
                }
                assert!(expected.1 == 1 && expected.2.is_none());
                n_shared += usize::from(found.1 == 3 && found.2.is_none());
                n_seen += usize::from(found.2 == Some(OneThread::Seen));
            }
            (Err(one), Err(three)) => assert_eq!(one.fault, three.fault),
            _ => return Err("only one of them is broken".to_owned()),
        }
        Ok(())
    });
    assert!(n_shared > 20 && n_seen > 20, "{n_shared} by threads, {n_seen} with something to see");
}

#[test]
fn verdicts_and_counterexamples_do_not_depend_on_the_exact_store() {
    let mut n_quotient = 0;
    let test = ("threads", "verdicts_and_counterexamples_do_not_depend_on_the_exact_store");
    for_random_networks(200, test, |_, _, network| {
        let answer = |store| {
            let limits = Limits { states: MOST, ..Limits::default() };
            let options = Options { engine: EngineKind::Packed, store, limits, ..Options::default() };
            analyse(network, &options, &mut Unwatched)
        };
        match (answer(StoreKind::Exact), answer(StoreKind::Quotient)) {
            (Ok(exact), Ok(quotient)) => {
                let (expected, found) = (told(&exact).0, told(&quotient).0);
                if found != expected {
                    return Err(format!("{found}\nnot\n{expected}"));
                }
                n_quotient += usize::from(quotient.phases[0].store == StoreKind::Quotient);
            }
            (Err(exact), Err(quotient)) => assert_eq!(exact.fault, quotient.fault),
            _ => return Err("only one of them is broken".to_owned()),
        }
        Ok(())
    });
    assert!(n_quotient > 20, "{n_quotient} searches");
}

/// Four processes with Peterson's algorithm, 8,564,375 states.
const PETERSON: &str = include_str!("../../../bench/models/peterson4.pml");

fn peterson(threads: usize, limits: Limits, watch: &mut dyn Watch) -> PhaseReport {
    let (network, _) = compiled(PETERSON, &[]).expect("it is right");
    let options = Options { engine: EngineKind::Packed, threads, limits, ..Options::default() };
    let mut analysis = analyse(&network, &options, watch).expect("no fault");
    assert!(analysis.answers.iter().all(|answer| matches!(answer.verdict, Verdict::Inconclusive(_))));
    analysis.phases.remove(0)
}

#[test]
fn limits_end_a_search_by_threads() {
    // Which states are the first so many is a matter of order, so one thread counts them.
    let limits = Limits { states: 100_000, ..Limits::default() };
    let [one, two] = [1, 2].map(|threads| peterson(threads, limits, &mut Unwatched));
    assert_eq!((one.end, counts(&one.stats)), (two.end, counts(&two.stats)));
    assert_eq!((two.stats.states, two.one_thread), (100_000, Some(OneThread::Limit)));
    let bytes = 4 << 20;
    let PhaseReport { end, stats, threads, one_thread, .. } =
        peterson(2, Limits { bytes, ..Limits::default() }, &mut Unwatched);
    assert!(matches!(end, End::Stopped(Stop::Memory { .. })), "{end:?}");
    assert_eq!((threads, one_thread), (2, None));
    assert!(stats.states > 150_000 && stats.peak_bytes < bytes + (64 << 10), "{stats:?}");
}

/// A watch that has seen enough after some time.
struct Hasty(u32);

impl Watch for Hasty {
    fn tick(&mut self, _: &Stats) -> Option<Stop> {
        self.0 += 1;
        (self.0 == 20).then_some(Stop::Interrupted)
    }
}

#[test]
fn an_interruption_ends_a_search_by_threads() {
    let PhaseReport { end, stats, .. } = peterson(2, Limits::default(), &mut Hasty(0));
    assert_eq!(end, End::Stopped(Stop::Interrupted));
    assert!(stats.states > 1_000 && stats.states < 8_000_000, "{stats:?}");
}

/// 40,000 levels of one state.
const NARROW: &str = "byte a, b; bit t;
active proctype P() { do :: atomic { t == 0 -> a = (a + 1) % 200; t = (a == 0) } od }
active proctype Q() { do :: atomic { t == 1 && b < 200 -> b++; t = 0 } od }";

#[test]
fn an_interruption_ends_a_search_whose_levels_are_small() {
    let (network, _) = compiled(NARROW, &[]).expect("it is right");
    let options = Options { engine: EngineKind::Packed, ..Options::default() };
    let analysis = analyse(&network, &options, &mut Hasty(0)).expect("no fault");
    let PhaseReport { end, stats, key_words, .. } = &analysis.phases[0];
    assert_eq!((end, key_words), (&End::Stopped(Stop::Interrupted), &Some(1)));
    assert!(stats.states < 1_000, "{stats:?}");
}

/// Counts to a million, and one thread breaks down on the way.
struct Breaking(AtomicUsize);

impl Crew<1> for Breaking {
    fn initial(&self, out: &mut Batch<[u64; 1]>) -> Result<(), Fault> {
        out.push(0.into(), &[0]);
        Ok(())
    }

    fn join(&self, work: &mut Work<'_, 1>) {
        work(&mut Clumsy(&self.0));
    }
}

/// Breaks down in the middle of the work.
struct Clumsy<'a>(&'a AtomicUsize);

impl Explorer<1> for Clumsy<'_> {
    fn expand(
        &mut self,
        states: &mut States<1>,
        n: &mut usize,
        _: usize,
        out: &mut States<1>,
    ) -> Result<Counts, Unclear> {
        assert!(self.0.fetch_add(1, Relaxed) != 5_000, "as planned");
        (1..4).for_each(|i| out.push(&[(states.keys[*n][0] * 3 + i) % 1_000_000], 0));
        *n += 1;
        Ok(Counts { edges: 3, ..Counts::default() })
    }

    fn arrive(&mut self, _: &[[u64; 1]], _: &[u32]) -> Result<(), Unclear> {
        Ok(())
    }

    fn looks_at_new(&self) -> bool {
        false
    }
}

#[test]
fn a_panic_ends_a_search_by_threads_and_does_not_leave_the_others_waiting() {
    for pace in RESTLESS {
        let searched = std::panic::catch_unwind(|| {
            let (store, crew) = (Regions::of_keys(), Breaking(AtomicUsize::new(0)));
            breadth_first_together(&crew, &store, pace, Limits::default(), &mut Unwatched)
        });
        assert!(searched.is_err());
    }
}
