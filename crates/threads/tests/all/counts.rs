//! Exact numbers of runs on well-known programs. `optimal` repeats nothing where programs only read and write.

use crate::programs::*;
use stubborn_threads::{Algorithm, Builder, FailureKind, Report, Verdict, WakeOrder};

fn builder() -> Builder {
    // As most systems wake, and as the numbers that these are compared with were counted.
    Builder::new().wake_order(WakeOrder::Fifo)
}

fn check(algorithm: Algorithm, f: impl Fn() + Send + Sync + 'static) -> Report {
    builder().algorithm(algorithm).check(f)
}

/// Complete runs, the same of `source` and `optimal`; nothing fails.
#[track_caller]
fn complete(runs: u64, f: impl Fn() + Send + Sync + Clone + 'static) {
    for algorithm in [Algorithm::Source, Algorithm::Optimal] {
        let report = check(algorithm, f.clone());
        assert!(matches!(report.verdict, Verdict::Holds), "{report}");
        assert_eq!(report.stats.runs, runs, "{report}");
    }
}

/// The same, and `optimal` repeats nothing.
#[track_caller]
fn complete_without_repetitions(runs: u64, f: impl Fn() + Send + Sync + Clone + 'static) {
    complete(runs, f.clone());
    assert_eq!(check(Algorithm::Optimal, f).stats.blocked, 0);
}

/// Runs until a deadlock is found.
#[track_caller]
fn deadlock(runs: u64, f: impl Fn() + Send + Sync + Clone + 'static) {
    let report = check(Algorithm::Source, f);
    let story = report.counterexample().expect("a deadlock");
    assert_eq!(story.kind, FailureKind::Deadlock, "{report}");
    assert_eq!(report.stats.runs, runs, "{report}");
}

#[test]
fn philosophers_deadlock() {
    for n in 2..=8 {
        deadlock(1 << (n - 1), move || philosophers(n, false));
    }
}

#[test]
fn philosophers_in_order_do_not() {
    complete(2, || philosophers(2, true));
    complete(6, || philosophers(3, true));
    complete(14, || philosophers(4, true));
}

#[test]
fn buffers_with_two_condition_variables_are_right() {
    complete(32, || fifo(1, 1, 3));
    complete(16, || fifo(2, 1, 1));
    complete(56, || fifo(2, 2, 1));
}

#[test]
fn buffers_with_one_condition_variable_deadlock() {
    deadlock(33, || fifo_with_a_mistake(2, 2));
}

#[test]
fn any_thread_that_waits_can_be_woken() {
    let report = Builder::new().check(|| fifo(2, 2, 1));
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    assert_eq!(report.stats.runs, 64);
}

#[test]
fn indexers_collide_from_the_twelfth_thread_on() {
    complete_without_repetitions(1, || indexer(4));
    complete_without_repetitions(8, || indexer(12));
    complete(64, || indexer(13));
}

#[test]
fn readers_come_before_or_after_the_writer() {
    complete_without_repetitions(4, || readers(2));
    complete_without_repetitions(8, || readers(3));
    complete_without_repetitions(8192, || readers(13));
}

#[test]
fn readers_of_a_lock_do_not_notice_each_other() {
    complete_without_repetitions(1, || lock_readers(4));
}

#[test]
fn the_last_zero_is_found_in_as_many_ways_as_there_are() {
    complete_without_repetitions(12, || last_zero(3));
    complete_without_repetitions(3328, || last_zero(10));
}

#[test]
fn counters_count_in_every_order() {
    complete(24, || counter(4, 1));
    complete(90, || counter(3, 2));
}

#[test]
fn private_variables_are_nobodys_business() {
    complete_without_repetitions(1, || private(4, 2));
}

#[test]
fn persistent_sets_make_as_many_runs() {
    for algorithm in [Algorithm::Persistent2, Algorithm::Persistent3] {
        let report = check(algorithm, || readers(5));
        assert!(matches!(report.verdict, Verdict::Holds), "{report}");
        assert_eq!(report.stats.runs, 32, "{report}");
        let report = check(algorithm, || philosophers(4, false));
        assert_eq!(report.counterexample().map(|story| story.kind), Some(FailureKind::Deadlock), "{report}");
    }
}

#[test]
fn several_workers_make_the_same_runs() {
    let report = builder().workers(2).check(|| last_zero(6));
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    assert_eq!(report.stats.runs, check(Algorithm::Source, || last_zero(6)).stats.runs);
    let report = builder().workers(2).check(|| philosophers(5, false));
    assert_eq!(report.counterexample().map(|story| story.kind), Some(FailureKind::Deadlock), "{report}");
}
