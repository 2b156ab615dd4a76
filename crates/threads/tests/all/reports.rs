//! What reports say, and that what they say can be run again.

use crate::programs::*;
use std::time::Duration;
use stubborn_threads::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use stubborn_threads::sync::{Arc, Condvar, Mutex};
use stubborn_threads::{
    Algorithm, Builder, Counterexample, FailureKind, Report, Verdict, explore, thread, toss,
};

fn crossed() {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let other = thread::Builder::new()
        .name("other".to_owned())
        .spawn({
            let (a, b) = (a.clone(), b.clone());
            move || {
                let _b = b.lock().unwrap();
                let _a = a.lock().unwrap();
            }
        })
        .unwrap();
    let guard_a = a.lock().unwrap();
    let guard_b = b.lock().unwrap();
    drop((guard_b, guard_a));
    other.join().unwrap();
}

fn story(report: &Report) -> &Counterexample {
    report.counterexample().unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn a_deadlock_says_who_waits_for_whom_and_since_when() {
    let report = Builder::new().check(crossed);
    let story = story(&report);
    assert_eq!(story.kind, FailureKind::Deadlock);
    assert_eq!(story.preemptions, 1, "{report}");
    let steps: Vec<_> =
        story.steps.iter().map(|step| (step.thread.as_str(), step.operation.as_str())).collect();
    assert_eq!(steps, [("main", "lock"), ("other", "lock")], "{report}");
    assert!(story.steps.iter().all(|step| step.file.ends_with("reports.rs") && step.line > 0));
    assert!(story.steps[0].object.starts_with("mutex #1 ("), "{}", story.steps[0].object);
    let waiting: Vec<_> = story.waiting.iter().map(|w| (w.thread.as_str(), w.held_by.clone())).collect();
    let held = |by: &str, since| vec![(by.to_owned(), Some(since))];
    assert_eq!(waiting, [("main", held("other", 2)), ("other", held("main", 1))], "{report}");
    assert_eq!(story.cycle, ["main", "other"]);
    assert_eq!(report.exit_code(), 1);
}

#[test]
fn text_chart_and_json_tell_the_same_story() {
    let report = Builder::new().check(crossed);
    let text = report.to_string();
    for part in [
        "violated: deadlock: 2 processes wait for ever",
        "run: 2 steps, 1 preemption",
        "wait cycle: main -> other -> main",
        "replay = \"0.1\"",
        "held by other (since step 2)",
        "memory is sequentially consistent",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let chart = report.chart();
    let lines: Vec<&str> = chart.lines().collect();
    assert_eq!(
        lines,
        [
            "chart:",
            "      main           other",
            "   1  lock mutex #1  |",
            "   2  |              lock mutex #2"
        ]
    );
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["kind"], "deadlock");
    assert_eq!(json["exit_code"], 1);
    assert_eq!(json["witness"]["replay"], "0.1");
    assert_eq!(json["witness"]["steps"][1]["thread"], "other");
    assert_eq!(json["witness"]["waiting"][0]["held_by"][0]["since_step"], 2);
    assert_eq!(json["witness"]["cycle"][0], "main");
}

#[test]
fn a_replay_string_makes_the_same_run() {
    let programs: [fn(); 6] = [
        crossed,
        // Here the end of a critical section, and of a thread, is an operation of its own.
        || {
            let mutex = Arc::new(Mutex::new(0));
            let other = thread::spawn({
                let mutex = mutex.clone();
                move || *mutex.lock().unwrap() += 1
            });
            assert!(mutex.try_lock().is_ok_and(|n| *n == 0));
            other.join().unwrap();
        },
        || {
            let x = Arc::new(AtomicUsize::new(0));
            let other = thread::spawn({
                let x = x.clone();
                move || x.store(1, SeqCst)
            });
            assert!(x.load(SeqCst) == 0 || !other.is_finished());
            other.join().unwrap();
        },
        || philosophers(4, false),
        || fifo_with_a_mistake(2, 2),
        || assert_ne!(toss(3), 2, "two came up"),
    ];
    for program in programs {
        for algorithm in Algorithm::ALL {
            let first = Builder::new().algorithm(algorithm).check(program);
            let again = Builder::new().replay(&story(&first).replay, program).unwrap();
            assert_eq!(story(&again), story(&first), "{}", algorithm.word());
        }
    }
}

#[test]
fn a_replay_string_that_does_not_fit_says_so() {
    let report = Builder::new().replay("0.0.0.0.7", crossed).unwrap();
    assert_eq!(story(&report).kind, FailureKind::Nondeterminism, "{report}");
    assert!(Builder::new().replay("0.a", crossed).is_err());
    let report = Builder::new().replay("", crossed).unwrap();
    assert!(matches!(report.verdict, Verdict::Inconclusive(_)), "{report}");
}

#[test]
fn threads_of_threads_have_their_place_in_the_family() {
    let program = || {
        let x = Arc::new(AtomicUsize::new(0));
        let families: Vec<_> = (0..2)
            .map(|_| {
                let x = x.clone();
                thread::spawn(move || {
                    let child = thread::spawn({
                        let x = x.clone();
                        move || x.store(x.load(SeqCst) + 1, SeqCst)
                    });
                    child.join().unwrap();
                })
            })
            .collect();
        families.into_iter().for_each(|family| family.join().unwrap());
        assert_eq!(x.load(SeqCst), 2, "an update was lost");
    };
    let report = Builder::new().check(program);
    let story = story(&report);
    assert!(story.steps.iter().any(|step| step.thread == "thread 2/1"), "{report}");
    let again = Builder::new().replay(&story.replay, program).unwrap();
    assert_eq!(again.counterexample(), Some(story));
}

#[test]
fn a_panic_comes_with_its_message_and_place() {
    let report = Builder::new().check(|| {
        let other = thread::spawn(|| panic!("no {}", "luck"));
        other.join().unwrap();
    });
    let story = story(&report);
    assert_eq!(story.kind, FailureKind::Panic);
    assert!(story.message.starts_with("no luck (at "), "{}", story.message);
    assert_eq!(story.thread.as_deref(), Some("thread 1"));
}

#[test]
#[should_panic(expected = "wait cycle: main -> other -> main")]
fn explore_panics_with_the_report() {
    explore(crossed);
}

#[test]
#[should_panic(expected = "the limit of 3 runs was reached")]
fn explore_panics_if_not_all_runs_were_made() {
    Builder::new().max_runs(3).explore(|| last_zero(4));
}

#[test]
fn limits_end_inconclusively() {
    let report = Builder::new().max_runs(3).check(|| last_zero(4));
    assert!(matches!(&report.verdict, Verdict::Inconclusive(why) if why.contains("3 runs")), "{report}");
    let report = Builder::new().max_steps(5).check(|| last_zero(2));
    assert!(matches!(&report.verdict, Verdict::Inconclusive(why) if why.contains("5 steps")), "{report}");
    let report = Builder::new().max_time(Duration::from_millis(20)).check(|| last_zero(12));
    assert!(matches!(&report.verdict, Verdict::Inconclusive(why) if why.contains("0.0 s")), "{report}");
    assert_eq!(report.exit_code(), 3);
}

#[test]
fn few_preemptions_find_most_and_prove_nothing() {
    let report = Builder::new().preemptions(1).check(crossed);
    assert_eq!(story(&report).kind, FailureKind::Deadlock);
    let report = Builder::new().preemptions(0).check(|| last_zero(3));
    assert!(
        matches!(&report.verdict, Verdict::Inconclusive(why) if why.contains("0 preemptions")),
        "{report}"
    );
    let report = Builder::new().first_pass(0).check(|| last_zero(3));
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    assert_eq!(report.stats.runs, 12);
}

#[test]
fn random_runs_find_what_is_there_and_shrink_it() {
    let report = Builder::new().random(1).max_runs(100_000).check(|| philosophers(6, false));
    let story = story(&report);
    assert_eq!(story.kind, FailureKind::Deadlock, "{report}");
    // One lock for each philosopher is enough.
    assert_eq!(story.steps.len(), 6, "{report}");
    let report = Builder::new().random(1).max_runs(100).check(|| philosophers(3, true));
    assert!(matches!(&report.verdict, Verdict::Inconclusive(why) if why.contains("random")), "{report}");
}

#[test]
fn a_lost_wake_up_is_a_deadlock_without_a_cycle() {
    let report = Builder::new().check(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = thread::spawn({
            let pair = pair.clone();
            move || {
                *pair.0.lock().unwrap() = true;
                pair.1.notify_one();
            }
        });
        // The flag is looked at before the mutex is held for good.
        if !*pair.0.lock().unwrap() {
            let guard = pair.0.lock().unwrap();
            drop(pair.1.wait(guard).unwrap());
        }
        other.join().unwrap();
    });
    let story = story(&report);
    assert_eq!(story.kind, FailureKind::Deadlock);
    assert!(story.cycle.is_empty());
    assert!(report.to_string().contains("wants wake-up condvar"), "{report}");
}

#[test]
fn a_saved_report_is_replayed() {
    let path = std::env::temp_dir().join(format!("stubborn-threads-{}.json", std::process::id()));
    let report = Builder::new().check(crossed);
    report.save(&path).unwrap();
    let again = Builder::new().replay_file(&path, crossed).unwrap();
    assert_eq!(again.counterexample(), report.counterexample());
    std::fs::write(&path, "{}").unwrap();
    assert!(Builder::new().replay_file(&path, crossed).is_err());
    std::fs::remove_file(&path).unwrap();
    assert!(Builder::new().replay_file(&path, crossed).is_err());
}

#[test]
fn progress_is_told_and_the_estimate_ends_at_the_truth() {
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = told.clone();
    let report =
        Builder::new().progress(move |n, all| into.lock().unwrap().push((n, all))).check(|| readers(12));
    let told = told.lock().unwrap().clone();
    assert_eq!(told.len() as u64, report.stats.runs / 256);
    assert!(told.iter().all(|&(runs, all)| runs as f64 <= all), "{told:?}");
    // After the last run nothing is left to estimate.
    let (runs, all) = *told.last().unwrap();
    assert_eq!(runs, report.stats.runs);
    assert!((all - runs as f64).abs() < 1.0, "{all} of {runs}");
}
