//! How threads share the regions of a set of keys, in every interleaving: `store::Mailbox` and `store::Exclusive` as they are, with atomics and cells of the explorer.
//! Each key is new for exactly one thread, nobody has a region while another one has it, and when all threads have come to the end of a level nothing
//! is left. Mistakes that are planted must be found.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use stubborn_store::{Atomic, Cell, Combine, Exclusive, Mailbox, Primitives};
use stubborn_threads::sync::atomic::{AtomicU8, Ordering::SeqCst};
use stubborn_threads::sync::{Arc, Mutex};
use stubborn_threads::{Builder, Report, Verdict, hint, thread};

/// An atomic whose every interleaving is tried.
struct Tried(AtomicU8);

impl Atomic for Tried {
    #[track_caller]
    fn new() -> Self {
        Self(AtomicU8::new(0))
    }

    fn load(&self) -> u8 {
        self.0.load(SeqCst)
    }

    fn store(&self, value: u8) {
        // When a run is given up, tasks are unwound one by one, and nobody runs again.
        if !std::thread::panicking() {
            self.0.store(value, SeqCst);
        }
    }

    fn replace(&self, old: u8, value: u8) -> bool {
        self.0.compare_exchange(old, value, SeqCst, SeqCst).is_ok()
    }
}

/// One that is replaced by a read and a write.
struct LookThenWrite(Tried);

impl Atomic for LookThenWrite {
    #[track_caller]
    fn new() -> Self {
        Self(Tried::new())
    }

    fn load(&self) -> u8 {
        self.0.load()
    }

    fn store(&self, value: u8) {
        self.0.store(value);
    }

    fn replace(&self, old: u8, value: u8) -> bool {
        let is_old = self.load() == old;
        if is_old {
            self.store(value);
        }
        is_old
    }
}

/// A place where two threads at a time are noticed, because coming and going are operations that others can come between.
struct Watched<T>(Mutex<T>);

impl<T> Cell<T> for Watched<T> {
    #[track_caller]
    fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.0.try_lock().expect("nobody else is there"))
    }
}

/// Primitives of the explorer, with or without a mistake.
macro_rules! primitives {
    ($(#[$doc:meta])* $name:ident, $atomic:ty, $looks_again:literal, $tries_again:literal) => {
        $(#[$doc])*
        struct $name;
        impl Primitives for $name {
            type Atomic = $atomic;
            type Cell<T> = Watched<T>;
            const LOOKS_AGAIN: bool = $looks_again;
            const TRIES_AGAIN: bool = $tries_again;
        }
    };
}
primitives!(/** As it should be. */ Right, Tried, true, true);
primitives!(/** Who gives a region back does not look again. */ NoSecondLook, Tried, false, true);
primitives!(/** Who leaves a batch does not try again. */ NoSecondTry, Tried, true, false);
primitives!(/** Two threads can take the same. */ NotAtOnce, LookThenWrite, true, true);

/// When a thread says that it has come to the end of a level.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrives {
    /// When it has passed on all that it had, and what others left with it.
    InTime,
    /// Though it may have batches that were handed back.
    WithBatches,
    /// Before it passes on the last of what it has.
    TooEarly,
}

/// What threads insert: batches of keys, each with its region.
#[derive(Clone)]
struct Case {
    n_regions: usize,
    threads: Vec<Vec<(usize, Vec<u64>)>>,
}

/// Keys to which a thread may not leave more.
const MANY: usize = 2;

/// What happened in the runs of an exploration.
#[derive(Default)]
struct Seen {
    left: AtomicUsize,
    handed_back: AtomicUsize,
    applied_for_others: AtomicUsize,
}

/// Where threads meet at the end of a level.
#[derive(Default)]
struct Floor {
    coming: Vec<u64>,
    n_idle: usize,
}

struct Hall<P: Primitives> {
    regions: Vec<Exclusive<BTreeSet<u64>, P>>,
    mail: Vec<Mailbox<Vec<u64>, P>>,
    floor: Mutex<Floor>,
    case: Case,
    arrives: Arrives,
    seen: std::sync::Arc<Seen>,
}

/// Inserts keys, and has those that are new.
#[derive(Default)]
struct Inserting {
    new: Vec<u64>,
    n_applied: usize,
}

impl Combine<BTreeSet<u64>, Vec<u64>> for Inserting {
    type Error = Infallible;

    fn apply(&mut self, region: &mut BTreeSet<u64>, keys: &Vec<u64>) -> Result<(), Infallible> {
        assert!(!keys.is_empty(), "there is no empty batch");
        self.new.extend(keys.iter().filter(|&&key| region.insert(key)));
        self.n_applied += 1;
        Ok(())
    }

    fn digest(&mut self, keys: &mut Vec<u64>) -> Result<(), Infallible> {
        keys.clear();
        Ok(())
    }

    fn join(&mut self, left: &mut Vec<u64>, keys: &mut Vec<u64>) -> bool {
        left.append(keys);
        left.len() < MANY
    }
}

impl<P: Primitives> Hall<P> {
    #[track_caller]
    fn new(case: &Case, arrives: Arrives, seen: &std::sync::Arc<Seen>) -> Self {
        Self {
            regions: (0..case.n_regions).map(|_| Exclusive::new(BTreeSet::new())).collect(),
            mail: (0..case.n_regions).map(|_| Mailbox::new(case.threads.len())).collect(),
            floor: Mutex::default(),
            case: case.clone(),
            arrives,
            seen: seen.clone(),
        }
    }

    /// What a thread does on a level; see `Hands::work` of `explore/src/together.rs`.
    fn work(&self, thread: usize) {
        let mut inserting = Inserting::default();
        let mut spare = Vec::new();
        let mut found = vec![Vec::new(); self.case.n_regions];
        let mut pass = |region: usize, found: &mut Vec<u64>, inserting: &mut Inserting| {
            let before = inserting.n_applied;
            let Ok(is_passed) =
                self.mail[region].pass(&self.regions[region], thread, found, &mut spare, inserting);
            assert!(is_passed == found.is_empty() && spare.is_empty());
            let n_applied = inserting.n_applied - before;
            self.seen.left.fetch_add(usize::from(is_passed && n_applied == 0), Relaxed);
            self.seen.handed_back.fetch_add(usize::from(!is_passed), Relaxed);
            self.seen.applied_for_others.fetch_add(usize::from(n_applied > 1), Relaxed);
            is_passed
        };
        for (region, keys) in &self.case.threads[thread] {
            found[*region].extend(keys);
            pass(*region, &mut found[*region], &mut inserting);
        }
        if self.arrives == Arrives::TooEarly {
            self.arrive(&[]);
        }
        for (region, found) in found.iter_mut().enumerate() {
            while !found.is_empty() && !pass(region, found, &mut inserting) {
                if self.arrives == Arrives::WithBatches {
                    break;
                }
                while !self.mail[region].may_pass(&self.regions[region], thread) {
                    hint::spin_loop();
                }
            }
        }
        if self.arrives == Arrives::TooEarly {
            self.floor.lock().unwrap().coming.extend(&inserting.new);
        } else {
            self.arrive(&inserting.new);
        }
    }

    /// Gives new keys to the next level, which the last to come begins.
    fn arrive(&self, new: &[u64]) {
        let mut floor = self.floor.lock().unwrap();
        floor.coming.extend(new);
        floor.n_idle += 1;
        if floor.n_idle == self.case.threads.len() {
            assert!(self.mail.iter().all(Mailbox::is_empty), "something is left");
            let all = self.case.threads.iter().flatten().flat_map(|(_, keys)| keys.iter().copied());
            floor.coming.sort_unstable();
            let expected: Vec<u64> = all.collect::<BTreeSet<_>>().into_iter().collect();
            assert_eq!(floor.coming, expected, "each key is new once");
        }
    }
}

/// Explores a case. Runs fail if a key is new for two threads or for none, or if something is left.
fn explored<P: Primitives + 'static>(case: &Case, arrives: Arrives, seen: &std::sync::Arc<Seen>) -> Report
where
    P::Atomic: Send + Sync,
    P::Cell<BTreeSet<u64>>: Send + Sync,
    P::Cell<Vec<u64>>: Send + Sync,
{
    let (case, seen) = (case.clone(), seen.clone());
    Builder::new().check(move || {
        let hall = Arc::new(Hall::<P>::new(&case, arrives, &seen));
        let others: Vec<_> = (1..case.threads.len())
            .map(|other| {
                let hall = hall.clone();
                thread::spawn(move || hall.work(other))
            })
            .collect();
        hall.work(0);
        others.into_iter().for_each(|other| other.join().unwrap());
    })
}

/// Two threads with one region and with two, and three threads.
fn cases() -> Vec<Case> {
    let case = |n_regions, threads: &[&[(usize, &[u64])]]| {
        let batches =
            |thread: &&[(usize, &[u64])]| thread.iter().map(|&(r, keys)| (r, keys.to_vec())).collect();
        Case { n_regions, threads: threads.iter().map(batches).collect() }
    };
    vec![
        case(1, &[&[(0, &[1])], &[(0, &[1])]]),
        case(1, &[&[(0, &[1, 2])], &[(0, &[2]), (0, &[3, 1])]]),
        case(1, &[&[(0, &[1]), (0, &[2])], &[(0, &[2]), (0, &[1])]]),
        case(2, &[&[(0, &[1]), (1, &[2])], &[(1, &[2]), (0, &[1])]]),
        case(1, &[&[(0, &[1])], &[(0, &[1])], &[(0, &[2])]]),
    ]
}

#[test]
fn every_batch_is_inserted_once_in_every_interleaving() {
    let seen = std::sync::Arc::new(Seen::default());
    let mut n_runs = 0;
    for case in cases() {
        let report = explored::<Right>(&case, Arrives::InTime, &seen);
        assert!(matches!(report.verdict, Verdict::Holds), "{report}");
        println!("{} threads, {} regions: {} runs", case.threads.len(), case.n_regions, report.stats.runs);
        n_runs += report.stats.runs;
    }
    let seen = [&seen.left, &seen.handed_back, &seen.applied_for_others].map(|n| n.load(Relaxed));
    println!("{n_runs} runs; left, handed back and applied for others: {seen:?}");
    assert!(n_runs > 10_000 && seen.iter().all(|&n| n > 10_000), "{n_runs} runs, {seen:?}");
}

/// In how many cases a mistake is found, in one of these ways.
fn n_found<P: Primitives + 'static>(arrives: Arrives, ways: &[&str]) -> usize
where
    P::Atomic: Send + Sync,
    P::Cell<BTreeSet<u64>>: Send + Sync,
    P::Cell<Vec<u64>>: Send + Sync,
{
    let is_found = |case: &&Case| {
        let report = explored::<P>(case, arrives, &Default::default());
        report.counterexample().is_some_and(|failure| {
            assert!(ways.iter().any(|way| failure.message.contains(way)), "{report}");
            true
        })
    };
    cases().iter().filter(is_found).count()
}

/// How it shows that a batch was not inserted.
const MISSED: [&str; 2] = ["something is left", "each key is new once"];

#[test]
fn not_to_look_again_after_giving_a_region_back_is_found_out() {
    assert_eq!(n_found::<NoSecondLook>(Arrives::InTime, &MISSED), cases().len());
}

#[test]
fn not_to_try_again_after_leaving_a_batch_is_found_out() {
    assert_eq!(n_found::<NoSecondTry>(Arrives::InTime, &MISSED), cases().len());
}

#[test]
fn a_region_that_two_threads_can_take_is_found_out() {
    let ways = ["nobody else is there", "each key is new once"];
    assert_eq!(n_found::<NotAtOnce>(Arrives::InTime, &ways), cases().len());
}

#[test]
fn a_level_that_is_over_while_something_is_left_is_found_out() {
    // Only who has two batches of a region can have one handed back.
    assert!(n_found::<Right>(Arrives::WithBatches, &MISSED) > 0);
    assert_eq!(n_found::<Right>(Arrives::TooEarly, &MISSED), cases().len());
}
