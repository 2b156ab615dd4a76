//! Code that is not fit to be explored: each has its message, and the process survives.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use stubborn_threads::sync::{Arc, Mutex};
use stubborn_threads::{Builder, FailureKind, Report, Verdict, explore, thread, toss};

#[track_caller]
fn fails(kind: FailureKind, report: &Report) -> String {
    let story = report.counterexample().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(story.kind, kind, "{report}");
    story.message.clone()
}

#[test]
fn threads_without_end_are_a_limit() {
    let report = Builder::new().max_threads(50).check(|| {
        loop {
            thread::spawn(|| ());
        }
    });
    assert!(matches!(&report.verdict, Verdict::Inconclusive(why) if why.contains("50 threads")), "{report}");
    let report = Builder::new().max_threads(50).check(|| {
        fn family() {
            thread::spawn(family).join().unwrap();
        }
        family();
    });
    assert!(matches!(&report.verdict, Verdict::Inconclusive(why) if why.contains("50 threads")), "{report}");
}

#[test]
fn a_program_that_depends_on_something_else_is_reported() {
    static CLOCK: AtomicUsize = AtomicUsize::new(0);
    let report = Builder::new().check(|| {
        // As good as a clock: it never says the same.
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let first = if CLOCK.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) { &a } else { &b };
        drop(first.lock());
        toss(CLOCK.load(Ordering::Relaxed) as u32);
    });
    let message = fails(FailureKind::Nondeterminism, &report);
    assert!(message.contains("the same schedule led to another operation"), "{message}");
    assert_eq!(report.exit_code(), 2);
}

#[test]
fn a_real_clock_is_noticed() {
    let report = Builder::new().check(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        toss(2 + (now.subsec_nanos() / 100) % 1000);
    });
    fails(FailureKind::Nondeterminism, &report);
}

struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("broken while cleaning up");
    }
}

#[test]
fn a_destructor_that_panics_is_a_panic() {
    let report = Builder::new().check(|| {
        let other = thread::spawn(|| {
            let _fragile = Fragile;
            toss(1);
        });
        other.join().unwrap();
    });
    assert!(fails(FailureKind::Panic, &report).contains("broken while cleaning up"));
}

#[test]
fn a_destructor_that_panics_after_another_failure_does_no_harm() {
    let report = Builder::new().check(|| {
        let _fragile = thread::spawn(|| {
            let fragile = Fragile;
            thread::park();
            std::mem::forget(fragile);
        });
        thread::spawn(|| panic!("first")).join().unwrap();
    });
    assert!(fails(FailureKind::Panic, &report).contains("first"));
}

#[test]
fn a_stack_that_overflows_is_a_result() {
    #[inline(never)]
    fn deeper(n: u64) -> u64 {
        let room = std::hint::black_box([n; 64]);
        if n == u64::MAX { 0 } else { deeper(n + 1) + room[(n % 64) as usize] }
    }
    let report = Builder::new().check(|| {
        let other = thread::spawn(|| std::hint::black_box(deeper(0)));
        other.join().unwrap();
    });
    let message = fails(FailureKind::StackOverflow, &report);
    assert!(message.contains("stack_size"), "{message}");
    // And again: nothing is broken.
    explore(|| drop(thread::spawn(|| ()).join()));
}

#[test]
fn a_loop_without_operations_diverges() {
    let report = Builder::new().divergence(Duration::from_millis(300)).check(|| {
        let other = thread::spawn(|| {
            toss(1);
            let started = std::time::Instant::now();
            // Long enough to be noticed; a test should end.
            while started.elapsed() < Duration::from_secs(3) {
                std::hint::spin_loop();
            }
        });
        other.join().unwrap();
    });
    let message = fails(FailureKind::Divergence, &report);
    assert!(message.contains("without a visible operation, after its operation at"), "{message}");
}

#[test]
fn operations_outside_of_an_exploration_say_so() {
    let mutex = Mutex::new(0);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(mutex.lock())));
    let message = result.unwrap_err();
    let message = message.downcast_ref::<String>().unwrap();
    assert!(message.contains("outside of `explore`"), "{message}");
}

#[test]
fn a_panic_that_is_caught_is_none() {
    explore(|| {
        let mutex = Arc::new(Mutex::new(0));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || {
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let _guard = mutex.lock().unwrap_or_else(|poison| poison.into_inner());
                    panic!("caught");
                }));
                assert!(result.is_err());
            }
        });
        drop(mutex.lock().unwrap_or_else(|poison| poison.into_inner()));
        other.join().unwrap();
        assert!(mutex.is_poisoned());
    });
}

#[test]
fn a_static_mutex_that_two_runs_use_is_free_in_each() {
    static LOCK: Mutex<()> = Mutex::new(());
    let report = Builder::new().check(|| {
        let other = thread::spawn(|| {
            let _guard = LOCK.lock().unwrap();
            thread::park();
        });
        let _guard = LOCK.lock().unwrap();
        other.join().unwrap();
    });
    fails(FailureKind::Deadlock, &report);
    let report = Builder::new().check(|| drop(LOCK.lock().unwrap()));
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
}

#[test]
fn code_that_goes_on_for_ever_is_cut() {
    let report = Builder::new().check(|| {
        let mutex = Arc::new(Mutex::new(0));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || {
                while *mutex.lock().unwrap() == 0 {
                    thread::yield_now();
                }
            }
        });
        // What the other thread waits for never comes.
        other.join().unwrap();
    });
    assert!(matches!(&report.verdict, Verdict::Inconclusive(why) if why.contains("10000 steps")), "{report}");
}
