//! Where other explorers were seen to be wrong or to give up: attempts, sequential consistency, loops that wait, many
//! threads, `const` construction, and parts of the standard library that they lack.

use std::time::Duration;
use stubborn_threads::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering::SeqCst};
use stubborn_threads::sync::mpsc::{self, TryRecvError};
use stubborn_threads::sync::{
    Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Semaphore, bounded,
};
use stubborn_threads::{Algorithm, Builder, FailureKind, Report, Verdict, explore, thread, toss};

fn check(f: impl Fn() + Send + Sync + 'static) -> Report {
    Builder::new().check(f)
}

#[track_caller]
fn fails(kind: FailureKind, f: impl Fn() + Send + Sync + 'static) -> Report {
    let report = check(f);
    assert_eq!(report.counterexample().map(|story| story.kind), Some(kind), "{report}");
    report
}

/// What was seen in all runs.
fn seen<T: Ord + Send + Sync + 'static>(f: impl Fn() -> T + Send + Sync + 'static) -> Vec<T> {
    let all = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let into = all.clone();
    explore(move || {
        let value = f();
        into.lock().unwrap().insert(value);
    });
    std::sync::Arc::into_inner(all).unwrap().into_inner().unwrap().into_iter().collect()
}

#[test]
fn try_recv_sees_the_channel_empty_and_not() {
    let results = seen(|| {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        let result = match receiver.try_recv() {
            Ok(n) => n,
            Err(TryRecvError::Empty) => -1,
            Err(TryRecvError::Disconnected) => -2,
        };
        other.join().unwrap();
        result
    });
    assert_eq!(results, [-1, 1]);
}

#[test]
fn try_lock_is_no_deadlock() {
    let results = seen(|| {
        let mutex = Arc::new(Mutex::new(0));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || drop(mutex.lock().unwrap())
        });
        let got = mutex.try_lock().is_ok();
        other.join().unwrap();
        got
    });
    assert_eq!(results, [false, true]);
}

#[test]
fn dekker_is_right_with_sequential_consistency() {
    let results = seen(|| {
        let (x, y) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let other = thread::spawn({
            let (x, y) = (x.clone(), y.clone());
            move || {
                x.store(true, SeqCst);
                y.load(SeqCst)
            }
        });
        y.store(true, SeqCst);
        let mine = x.load(SeqCst);
        (mine, other.join().unwrap())
    });
    assert_eq!(results, [(false, true), (true, false), (true, true)]);
}

#[test]
fn loops_that_wait_end() {
    for hint in [None, Some(thread::yield_now as fn()), Some(stubborn_threads::hint::spin_loop as fn())] {
        let report = check(move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = thread::spawn({
                let flag = flag.clone();
                move || flag.store(true, SeqCst)
            });
            while !flag.load(SeqCst) {
                hint.into_iter().for_each(|hint| hint());
            }
            other.join().unwrap();
        });
        assert!(matches!(report.verdict, Verdict::Holds), "{report}");
        assert!(report.spins > 0 && report.stats.runs <= 12, "{report}");
    }
}

#[test]
fn a_loop_over_two_variables_waits_for_either() {
    let report = check(|| {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let others: Vec<_> = (0..2)
            .map(|i| {
                let flags = flags.clone();
                thread::spawn(move || flags[i].store(true, SeqCst))
            })
            .collect();
        while !flags[0].load(SeqCst) || !flags[1].load(SeqCst) {
            thread::yield_now();
        }
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
}

/// What is read under a lock is not seen, so the loop may be one that waits, or one that counts.
#[test]
fn a_loop_through_a_lock_ends_with_a_message() {
    let polls = |flag: &Mutex<bool>| while !*flag.lock().unwrap() {};
    let report = Builder::new().check(move || {
        let flag = Arc::new(Mutex::new(false));
        let poller = thread::Builder::new().name("poller".to_owned());
        let poller = poller.spawn({
            let flag = flag.clone();
            move || polls(&flag)
        });
        *flag.lock().unwrap() = true;
        poller.unwrap().join().unwrap();
    });
    let Verdict::Inconclusive(why) = &report.verdict else { panic!("{report}") };
    assert!(why.contains("limit of 10000 steps: poller made"), "{why}");
    assert!(why.contains("gaps.rs"), "{why}");
}

#[test]
fn a_loop_that_waits_in_vain_is_a_deadlock() {
    let report = fails(FailureKind::Deadlock, || {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {}
    });
    assert!(report.to_string().contains("wait-for-change"), "{report}");
}

#[test]
fn loops_that_try_again_and_again_end() {
    let report = check(|| {
        let (lock, rwlock) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)));
        let other = thread::spawn({
            let (lock, rwlock) = (lock.clone(), rwlock.clone());
            move || {
                *lock.lock().unwrap() += 1;
                *rwlock.write().unwrap() += 1;
            }
        });
        while lock.try_lock().is_err() {}
        while rwlock.try_read().is_err() {
            thread::yield_now();
        }
        other.join().unwrap();
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    let report = check(|| {
        let (sender, receiver) = mpsc::channel();
        let permits = Arc::new(Semaphore::new(0));
        let other = thread::spawn({
            let permits = permits.clone();
            move || {
                permits.release();
                sender.send(3).unwrap();
            }
        });
        while !permits.try_acquire() {}
        while receiver.try_recv() != Ok(3) {}
        while !other.is_finished() {
            thread::yield_now();
        }
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    fails(FailureKind::Deadlock, || {
        let lock = Mutex::new(0);
        let _held = lock.lock();
        while lock.try_lock().is_err() {}
    });
}

#[test]
fn a_loop_that_gives_up_is_explored_as_it_is() {
    for rounds in [3, 9, 30] {
        let results = seen(move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = thread::spawn({
                let flag = flag.clone();
                move || flag.store(true, SeqCst)
            });
            let mut left = rounds;
            while left > 0 && !flag.load(SeqCst) {
                left -= 1;
                thread::yield_now();
            }
            other.join().unwrap();
            left
        });
        assert_eq!(results, (0..=rounds).collect::<Vec<_>>());
    }
    // It may give up by ending, or by failing.
    let report = check(|| {
        let flag = AtomicBool::new(false);
        let other = thread::spawn(move || (0..20).any(|_| flag.load(SeqCst)));
        assert!(!other.join().unwrap());
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    let report = fails(FailureKind::Panic, || {
        let flag = AtomicBool::new(false);
        let found = (0..20).any(|_| flag.load(SeqCst));
        assert!(found, "it was not set in time");
    });
    assert_eq!(report.counterexample().map(|story| story.steps.len()), Some(20), "{report}");
}

#[test]
fn waiting_for_a_cell_is_no_loop() {
    let report = check(|| {
        let once = Arc::new(Once::new());
        let other = thread::spawn({
            let once = once.clone();
            move || once.call_once(|| ())
        });
        once.wait();
        assert!(once.is_completed());
        other.join().unwrap();
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    assert_eq!((report.spins, report.stats.runs), (0, 1), "{report}");
    fails(FailureKind::Deadlock, || Once::new().wait());
}

#[test]
fn a_spin_lock_excludes() {
    let report = check(|| {
        let lock = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
        let work = |lock: &(AtomicBool, AtomicUsize)| {
            while lock.0.compare_exchange(false, true, SeqCst, SeqCst).is_err() {
                thread::yield_now();
            }
            assert_eq!(lock.1.fetch_add(1, SeqCst), 0, "somebody is in");
            lock.1.fetch_sub(1, SeqCst);
            lock.0.store(false, SeqCst);
        };
        let other = thread::spawn({
            let lock = lock.clone();
            move || work(&lock)
        });
        work(&lock);
        other.join().unwrap();
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
}

#[test]
fn there_may_be_many_threads() {
    let report = check(|| {
        let threads: Vec<_> = (0..200).map(|i| thread::spawn(move || i)).collect();
        let sum: i32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(sum, 19900);
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    assert_eq!(report.stats.runs, 1);
}

stubborn_threads::thread_local! {
    static OWN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    static LIST: std::cell::RefCell<Vec<usize>> = std::cell::RefCell::new(Vec::new());
}

#[test]
fn several_workers_see_what_one_sees() {
    let results = |workers: usize| {
        let all = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
        let into = all.clone();
        let report = Builder::new().workers(workers).check(move || {
            let shared = Arc::new((AtomicUsize::new(0), OnceLock::new(), LazyLock::new(|| Mutex::new(5))));
            let threads: Vec<_> = (1..4)
                .map(|i| {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        let before = shared.0.fetch_add(i, SeqCst);
                        OWN.set(OWN.get() + before);
                        LIST.with_borrow_mut(|list| list.push(i));
                        let first = *shared.1.get_or_init(|| i);
                        *shared.2.lock().unwrap() += 1;
                        assert_eq!(LIST.with_borrow(Vec::len), 1);
                        (OWN.get(), first)
                    })
                })
                .collect();
            let seen: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            assert_eq!((OWN.get(), *shared.2.lock().unwrap()), (0, 8));
            into.lock().unwrap().insert(seen);
        });
        assert!(matches!(report.verdict, Verdict::Holds), "{report}");
        std::mem::take(&mut *all.lock().unwrap())
    };
    let expected = results(1);
    assert_eq!(expected.len(), 18);
    assert_eq!(results(2), expected);
    assert_eq!(results(5), expected);
}

#[test]
fn several_workers_begin_again_together() {
    let report = Builder::new().workers(3).check(|| {
        let shared = Arc::new((Mutex::new(0), AtomicBool::new(false)));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                *shared.0.lock().unwrap() += 1;
                shared.1.store(true, SeqCst);
            }
        });
        while shared.0.try_lock().is_err() {}
        while !shared.1.load(SeqCst) {}
        assert!(Arc::strong_count(&shared) <= 2);
        while !other.is_finished() {}
        assert_eq!(Arc::strong_count(&shared), 1);
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
}

/// What is in a static is in memory once. Workers that use it at the same time must not believe each other.
#[test]
fn a_static_that_workers_share_is_refused() {
    static SHARED: AtomicUsize = AtomicUsize::new(0);
    static CELL: LazyLock<Mutex<usize>> = LazyLock::new(|| Mutex::new(0));
    let mut refused = 0;
    for _ in 0..20 {
        let report = Builder::new().workers(3).check(|| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    thread::spawn(|| {
                        *CELL.lock().unwrap() += SHARED.fetch_add(1, SeqCst);
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!((SHARED.load(SeqCst), *CELL.lock().unwrap()), (4, 6));
        });
        match &report.verdict {
            Verdict::Holds => {}
            Verdict::Inconclusive(why) => {
                assert!(why.contains("explorations"), "{report}");
                refused += 1;
            }
            Verdict::Violated(_) => panic!("{report}"),
        }
    }
    assert!(refused > 0);
}

static COUNTER: AtomicUsize = AtomicUsize::new(0);
static LOCK: Mutex<u32> = Mutex::new(0);
static CELL: OnceLock<usize> = OnceLock::new();
static LAZY: LazyLock<usize> = LazyLock::new(|| COUNTER.fetch_add(1, SeqCst) + 10);
static INIT: Once = Once::new();

/// One test: statics cannot be shared by explorations at the same time.
#[test]
fn statics_begin_anew_in_each_run() {
    let results = seen(|| {
        let other = thread::spawn(|| {
            INIT.call_once(|| {
                COUNTER.fetch_add(100, SeqCst);
            });
            *CELL.get_or_init(|| 1)
        });
        INIT.call_once(|| {
            COUNTER.fetch_add(100, SeqCst);
        });
        let mine = *CELL.get_or_init(|| 2);
        let lazy = *LAZY;
        let _guard = LOCK.lock().unwrap();
        assert_eq!(mine, other.join().unwrap());
        (mine, lazy, COUNTER.load(SeqCst))
    });
    assert_eq!(results, [(1, 110, 101), (2, 110, 101)]);
}

#[test]
fn scoped_threads_borrow() {
    let report = check(|| {
        let mut numbers = vec![1, 2, 3];
        let sum = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in &numbers {
                scope.spawn(|| sum.fetch_add(*number, SeqCst));
            }
        });
        numbers.push(sum.load(SeqCst));
        assert_eq!(numbers, [1, 2, 3, 6]);
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    assert_eq!(report.stats.runs, 6);
}

stubborn_threads::thread_local! {
    static MINE: std::cell::Cell<u32> = const { std::cell::Cell::new(1) };
}

#[test]
fn thread_local_values_are_the_threads_own() {
    explore(|| {
        MINE.set(2);
        let other = thread::spawn(|| {
            assert_eq!(MINE.get(), 1);
            MINE.set(3);
        });
        other.join().unwrap();
        assert_eq!(MINE.get(), 2);
    });
}

#[test]
fn parked_threads_are_unparked() {
    explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = thread::Builder::new().name("sleeper".to_owned()).spawn({
            let flag = flag.clone();
            move || {
                while !flag.load(SeqCst) {
                    thread::park();
                }
                assert_eq!(thread::current().name(), Some("sleeper"));
            }
        });
        let other = other.unwrap();
        flag.store(true, SeqCst);
        other.thread().unpark();
        other.join().unwrap();
    });
    fails(FailureKind::Deadlock, || {
        let other = thread::spawn(thread::park);
        other.join().unwrap();
    });
}

#[test]
fn arrivals_at_a_barrier_commute_but_for_the_last() {
    let runs = |asks: bool| {
        let report = check(move || {
            let barrier = Arc::new(Barrier::new(4));
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let barrier = barrier.clone();
                    thread::spawn(move || {
                        let result = barrier.wait();
                        asks && result.is_leader()
                    })
                })
                .collect();
            let leaders = threads.into_iter().map(|thread| thread.join().unwrap());
            assert_eq!(leaders.filter(|&leads| leads).count(), usize::from(asks));
        });
        assert!(matches!(report.verdict, Verdict::Holds), "{report}");
        report.stats.runs
    };
    assert_eq!((runs(false), runs(true)), (1, 4));
}

#[test]
fn barriers_let_all_through_and_one_lead() {
    let report = check(|| {
        let barrier = Arc::new(Barrier::new(3));
        let leaders = Arc::new(AtomicUsize::new(0));
        let others: Vec<_> = (0..3)
            .map(|_| {
                let (barrier, leaders) = (barrier.clone(), leaders.clone());
                thread::spawn(move || {
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, SeqCst);
                    }
                })
            })
            .collect();
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(leaders.load(SeqCst), 1);
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    fails(FailureKind::Deadlock, || {
        Barrier::new(2).wait();
    });
}

#[test]
fn timeouts_are_up_at_any_time() {
    let results = seen(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = thread::spawn({
            let pair = pair.clone();
            move || {
                *pair.0.lock().unwrap() = true;
                pair.1.notify_one();
            }
        });
        let guard = pair.0.lock().unwrap();
        let (guard, result) =
            pair.1.wait_timeout_while(guard, Duration::from_secs(1), |ready| !*ready).unwrap();
        let ready = *guard;
        drop(guard);
        other.join().unwrap();
        (ready, result.timed_out())
    });
    assert_eq!(results, [(false, true), (true, false)]);
}

#[test]
fn rendezvous_and_disconnection_are_as_they_should_be() {
    let results = seen(|| {
        let (sender, receiver) = mpsc::sync_channel(0);
        let sent = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let sent = sent.clone();
            move || {
                sender.send(7).unwrap();
                sent.store(true, SeqCst);
            }
        });
        let before = sent.load(SeqCst);
        let got: Vec<i32> = receiver.iter().collect();
        other.join().unwrap();
        (before, got)
    });
    assert_eq!(results, [(false, vec![7])]);
    let results = seen(|| {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || drop(receiver));
        let sent = sender.send(1).is_ok();
        other.join().unwrap();
        sent
    });
    assert_eq!(results, [false, true]);
}

#[test]
fn bounded_channels_and_semaphores_have_their_own_tables() {
    let report = check(|| {
        let (sender, receiver) = bounded(2);
        let other = thread::spawn(move || (0..6).for_each(|i| sender.send(i).unwrap()));
        (0..6).for_each(|i| assert_eq!(receiver.recv(), Ok(i)));
        other.join().unwrap();
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    assert_eq!(report.stats.runs, 1, "{report}");
    explore(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let inside = Arc::new(AtomicU8::new(0));
        let others: Vec<_> = (0..2)
            .map(|_| {
                let (semaphore, inside) = (semaphore.clone(), inside.clone());
                thread::spawn(move || {
                    semaphore.acquire();
                    assert_eq!(inside.fetch_add(1, SeqCst), 0);
                    inside.fetch_sub(1, SeqCst);
                    semaphore.release();
                })
            })
            .collect();
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn pointers_are_compared_by_when_they_came() {
    let results = seen(|| {
        let (mut one, mut two) = (Box::new(1), Box::new(2));
        let (first, second): (*mut i32, *mut i32) = (&mut *one, &mut *two);
        let (first, second) = (first.expose_provenance(), second.expose_provenance());
        let pointer = Arc::new(AtomicPtr::new(std::ptr::with_exposed_provenance_mut::<i32>(first)));
        let other = thread::spawn({
            let pointer = pointer.clone();
            move || pointer.store(std::ptr::with_exposed_provenance_mut(second), SeqCst)
        });
        let now = pointer.load(SeqCst).addr();
        other.join().unwrap();
        now == first
    });
    assert_eq!(results, [false, true]);
}

#[test]
fn writers_exclude_readers() {
    let results = seen(|| {
        let lock = Arc::new(RwLock::new((0, 0)));
        let other = thread::spawn({
            let lock = lock.clone();
            move || {
                let mut both = lock.write().unwrap();
                both.0 = 1;
                both.1 = 1;
            }
        });
        let both = *lock.read().unwrap();
        other.join().unwrap();
        both
    });
    assert_eq!(results, [(0, 0), (1, 1)]);
}

#[test]
fn every_toss_comes_up() {
    assert_eq!(seen(|| (toss(2), toss(3))), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
}

#[test]
fn a_lost_update_is_found_by_every_algorithm() {
    for algorithm in Algorithm::ALL {
        let report = Builder::new().algorithm(algorithm).check(|| {
            let x = Arc::new(AtomicUsize::new(0));
            let add = |x: &AtomicUsize| x.store(x.load(SeqCst) + 1, SeqCst);
            let other = thread::spawn({
                let x = x.clone();
                move || add(&x)
            });
            add(&x);
            other.join().unwrap();
            assert_eq!(x.load(SeqCst), 2);
        });
        let story = report.counterexample().unwrap_or_else(|| panic!("{} {report}", algorithm.word()));
        assert_eq!(story.kind, FailureKind::Assertion);
    }
}
