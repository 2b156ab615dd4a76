//! Random Rust programs that start and join threads of threads: every algorithm sees what a full search sees in which the end of
//! every critical section is an operation of its own.
//! `STUBBORN_TIMES=10` makes the campaign ten times as long.

use std::collections::BTreeSet;
use std::sync::Mutex as Plain;
use std::time::Duration;
use stubborn_threads::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use stubborn_threads::sync::{Arc, Condvar, Mutex, RwLock, mpsc};
use stubborn_threads::{Algorithm, Builder, FailureKind, Verdict, thread, toss};

#[derive(Clone, Debug)]
enum Act {
    Load(usize),
    Store(usize, usize),
    Add(usize),
    Locked(usize, Vec<Act>),
    TryLocked(usize),
    ReadLocked(Vec<Act>),
    WriteLocked(Vec<Act>),
    Spawn(Vec<Act>),
    Join,
    IsFinished,
    Send,
    TryReceive,
    Toss,
    /// Waits until something has happened, or (`true`) for a time.
    Wait(bool),
    /// Makes it happen once more and notifies one or (`true`) all, with or (`true`) without the mutex.
    Notify(bool, bool),
}

/// Which acts a program may have, besides those that all have.
#[derive(Clone, Copy)]
enum Flavour {
    Plain,
    /// Attempts to lock, which see when a critical section ends.
    Tries,
    /// Condition variables, whose mutex is always held.
    Guarded,
    /// Condition variables.
    Notifications,
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn body(rng: &mut Rng, flavour: Flavour, depth: u64, length: u64) -> Vec<Act> {
    let mut acts = Vec::new();
    for _ in 0..length {
        let place = rng.below(2) as usize;
        acts.push(match rng.below(if depth > 0 { 16 } else { 11 }) {
            0..7 if matches!(flavour, Flavour::Guarded | Flavour::Notifications) && rng.below(2) == 0 => {
                let is_bold = matches!(flavour, Flavour::Notifications);
                match rng.below(2) {
                    0 => Act::Wait(is_bold && rng.below(4) == 0),
                    _ => Act::Notify(rng.below(2) == 0, is_bold && rng.below(2) == 0),
                }
            }
            0 | 1 => Act::Load(place),
            2 | 3 => Act::Store(place, rng.below(3) as usize),
            4 => Act::Add(place),
            5 | 6 => Act::Locked(place, body(rng, flavour, 0, 1)),
            7 if matches!(flavour, Flavour::Tries) => Act::TryLocked(place),
            7 if place == 0 => Act::ReadLocked(body(rng, flavour, 0, 1)),
            7 => Act::WriteLocked(body(rng, flavour, 0, 1)),
            8 => Act::Send,
            9 => Act::TryReceive,
            10 => [Act::Toss, Act::IsFinished][rng.below(2) as usize].clone(),
            11..14 => {
                let length = 1 + rng.below(2);
                Act::Spawn(body(rng, flavour, depth - 1, length))
            }
            _ => Act::Join,
        });
    }
    acts
}

struct Shared {
    variables: [AtomicUsize; 2],
    locks: [Mutex<()>; 2],
    lock: RwLock<()>,
    happened: Mutex<usize>,
    condvar: Condvar,
    sender: mpsc::Sender<usize>,
    receiver: Mutex<mpsc::Receiver<usize>>,
    /// What each thread saw, by its path.
    seen: Plain<Vec<(Vec<usize>, Vec<usize>)>>,
}

fn perform(shared: &Arc<Shared>, path: &[usize], acts: &[Act]) {
    let (mut seen, mut children) = (Vec::new(), Vec::new());
    run(shared, path, acts, &mut seen, &mut children);
    // What is seen is kept in a mutex that is not controlled: nobody may look at it before all are done.
    children.into_iter().for_each(|child: thread::JoinHandle<()>| child.join().unwrap());
    shared.seen.lock().unwrap().push((path.to_vec(), seen));
}

fn run(
    shared: &Arc<Shared>,
    path: &[usize],
    acts: &[Act],
    seen: &mut Vec<usize>,
    children: &mut Vec<thread::JoinHandle<()>>,
) {
    for (i, act) in acts.iter().enumerate() {
        match act {
            Act::Load(v) => seen.push(shared.variables[*v].load(SeqCst)),
            Act::Store(v, value) => shared.variables[*v].store(*value, SeqCst),
            Act::Add(v) => seen.push(shared.variables[*v].fetch_add(1, SeqCst)),
            Act::Locked(m, inner) => {
                let _guard = shared.locks[*m].lock().unwrap();
                run(shared, path, inner, seen, children);
            }
            Act::ReadLocked(inner) => {
                let _guard = shared.lock.read().unwrap();
                run(shared, path, inner, seen, children);
            }
            Act::WriteLocked(inner) => {
                let _guard = shared.lock.write().unwrap();
                run(shared, path, inner, seen, children);
            }
            Act::TryLocked(m) => seen.push(usize::from(shared.locks[*m].try_lock().is_ok())),
            Act::Spawn(inner) => {
                let (shared, inner) = (shared.clone(), inner.clone());
                let path: Vec<usize> = path.iter().copied().chain([i]).collect();
                children.push(thread::spawn(move || perform(&shared, &path, &inner)));
            }
            Act::Join => children.pop().into_iter().for_each(|child| child.join().unwrap()),
            Act::IsFinished => seen.extend(children.last().map(|child| usize::from(child.is_finished()))),
            Act::Send => shared.sender.send(i).unwrap(),
            Act::TryReceive => {
                let receiver = shared.receiver.lock().unwrap();
                seen.push(receiver.try_recv().map_or(99, |message| message));
            }
            Act::Toss => seen.push(toss(2) as usize),
            Act::Wait(false) => {
                let happened = shared.happened.lock().unwrap();
                let mut happened = shared.condvar.wait_while(happened, |happened| *happened == 0).unwrap();
                *happened -= 1;
                seen.push(*happened);
            }
            Act::Wait(true) => {
                let happened = shared.happened.lock().unwrap();
                let (happened, result) = shared.condvar.wait_timeout(happened, Duration::ZERO).unwrap();
                seen.push(*happened + usize::from(result.timed_out()));
            }
            Act::Notify(all, early) => {
                let mut happened = shared.happened.lock().unwrap();
                *happened += 1;
                let held = Some(happened).filter(|_| !early);
                match all {
                    true => shared.condvar.notify_all(),
                    false => shared.condvar.notify_one(),
                }
                drop(held);
            }
        }
    }
}

fn any_waits(acts: &[Act]) -> bool {
    acts.iter().any(|act| match act {
        Act::Wait(_) => true,
        Act::Locked(_, inner) | Act::ReadLocked(inner) | Act::WriteLocked(inner) | Act::Spawn(inner) => {
            any_waits(inner)
        }
        _ => false,
    })
}

type Outcomes = BTreeSet<Vec<(Vec<usize>, Vec<usize>)>>;

/// What is seen in all runs, nothing if there is a deadlock; none if there are too many.
fn outcomes(acts: &[Act], builder: Builder, max_runs: u64) -> Option<Outcomes> {
    let all = std::sync::Arc::new(Plain::new(Outcomes::new()));
    let (into, acts) = (all.clone(), acts.to_vec());
    let waits = any_waits(&acts);
    let report = builder.max_runs(max_runs).check(move || {
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::new(Shared {
            variables: [AtomicUsize::new(0), AtomicUsize::new(0)],
            locks: [Mutex::new(()), Mutex::new(())],
            lock: RwLock::new(()),
            happened: Mutex::new(0),
            condvar: Condvar::new(),
            sender,
            receiver: Mutex::new(receiver),
            seen: Plain::default(),
        });
        let mut children = Vec::new();
        let mut seen = Vec::new();
        run(&shared, &[], &acts, &mut seen, &mut children);
        if waits {
            // Nobody waits for ever, unless main does.
            *shared.happened.lock().unwrap() += 10;
            let _held = shared.happened.lock().unwrap();
            shared.condvar.notify_all();
        }
        children.into_iter().for_each(|child| child.join().unwrap());
        let mut observed = shared.seen.lock().unwrap().clone();
        observed.push((Vec::new(), seen));
        observed.sort();
        into.lock().unwrap().insert(observed);
    });
    match &report.verdict {
        Verdict::Holds => {}
        Verdict::Inconclusive(_) => return None,
        // A thread may lock what it has locked.
        Verdict::Violated(story) => assert_eq!(story.kind, FailureKind::Deadlock, "{report}"),
    }
    if report.counterexample().is_some() {
        return Some(Outcomes::new());
    }
    let seen = all.lock().unwrap().clone();
    Some(seen)
}

#[test]
fn every_algorithm_sees_what_a_full_search_sees() {
    let times: u64 = std::env::var("STUBBORN_TIMES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let (mut n, mut deadlocks, mut mistakes) = (0, 0, 0);
    let mut wrong = Vec::new();
    for seed in 0.. {
        if n == 500 * times {
            break;
        }
        let flavours = [Flavour::Plain, Flavour::Tries, Flavour::Guarded, Flavour::Notifications];
        let flavour = flavours[seed as usize % 4];
        let acts = body(&mut Rng(seed), flavour, 2, 4);
        let full = Builder::new().algorithm(Algorithm::Dfs).visible_unlocks();
        let Some(expected) = outcomes(&acts, full, 3000) else { continue };
        if expected.len() == 1 {
            continue;
        }
        n += 1;
        deadlocks += usize::from(expected.is_empty());
        if let Flavour::Notifications = flavour {
            let mistaken = outcomes(&acts, Builder::new().trusting_guards(), 40_000);
            mistakes += usize::from(mistaken.as_ref() != Some(&expected));
        }
        for algorithm in Algorithm::ALL {
            let builder = Builder::new().algorithm(algorithm);
            if outcomes(&acts, builder, 40_000).as_ref() != Some(&expected) {
                wrong.push((seed, algorithm));
            }
        }
    }
    assert!(deadlocks > 10, "{deadlocks} deadlocks");
    assert!(mistakes > 0, "that nobody looks whether a mutex is held is not noticed");
    assert!(wrong.is_empty(), "{} of {n}: {:?}", wrong.len(), &wrong[..wrong.len().min(40)]);
}
