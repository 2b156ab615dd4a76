//! `--threads`: the same report, but for how many threads made it; and where several cannot, one sentence.

// Threads need packed states.
#![cfg(not(feature = "always-interpreter"))]

use crate::common::{stubborn, written};
use serde_json::Value;

fn model(name: &str, text: &str) -> String {
    written(&format!("threads-{name}.pml"), text)
}

/// Three counters; what is behind `false` is never reached.
const COUNTERS: &str = "
byte x[3], sum;
active [3] proctype P() {
    do
    :: x[_pid] < 12 -> x[_pid]++
    :: x[_pid] > 0 -> atomic { x[_pid]--; sum = (sum + 1) % 5 }
    :: false -> x[_pid] = 99
    od
}";

/// The report without what may differ.
fn comparable(mut report: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for key in
                    ["threads", "one_thread", "seconds", "peak_bytes", "peak_rss_bytes", "bytes_per_state"]
                {
                    map.remove(key);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut report);
    report
}

#[test]
fn threads_give_the_report_of_one_thread() {
    let file = model("counters", COUNTERS);
    for more in ["", "--invariant x[0]+x[1]+x[2]<=36"] {
        let flags =
            format!("check {file} --reduction none --question safety --question deadlock --json {more}");
        let one = stubborn(&flags).json();
        assert_eq!(
            (one["verdict"].as_str(), one["states"].as_u64()),
            (Some("holds"), Some(253_265)),
            "{one}"
        );
        for threads in [2, 3] {
            let several = stubborn(&format!("{flags} --threads {threads}")).json();
            assert_eq!((&several["threads"], &several["one_thread"]), (&Value::from(threads), &Value::Null));
            assert!(!several["unreached"].as_array().expect("a list").is_empty());
            assert_eq!(comparable(several), comparable(one.clone()));
        }
    }
}

#[test]
fn threads_that_leave_something_out_give_the_report_of_one_thread() {
    let file = model("sifted", COUNTERS);
    for reduction in ["scc", "scc+deletion", "persistent-2", "ample"] {
        let questions = "--question safety --question deadlock";
        let flags = format!("check {file} --reduction {reduction} {questions} --json");
        let one = stubborn(&flags).json();
        let two = stubborn(&format!("{flags} --threads 2")).json();
        assert_eq!(two["phases"][0]["threads"], 2, "{two:#}");
        assert_eq!(comparable(two), comparable(one));
    }
}

#[test]
fn the_store_of_quotients_gives_the_report_of_the_exact_one_in_less_memory() {
    let file = model("quotient", COUNTERS);
    let flags = format!("check {file} --reduction none --question safety --question deadlock --json");
    let reports = ["exact", "quotient"].map(|store| stubborn(&format!("{flags} --store {store}")).json());
    assert_eq!([&reports[0]["store"], &reports[1]["store"]], ["exact", "quotient"]);
    assert!(reports[1]["peak_bytes"].as_u64() < reports[0]["peak_bytes"].as_u64());
    let without_store = |report| comparable(report).to_string().replace("\"quotient\"", "\"exact\"");
    let [exact, quotient] = reports.map(without_store);
    assert_eq!(exact, quotient);
    // A search for what can be reached from where needs numbers.
    for (question, store) in [("deadlock", "quotient"), ("safety", "quotient"), ("may-terminate", "exact")] {
        let run = stubborn(&format!("check {file} --store quotient --question {question}"));
        assert!(run.out.contains(&format!("store {store}")), "{}", run.out);
    }
}

#[test]
fn a_counterexample_does_not_depend_on_threads() {
    let file = model("violated", COUNTERS);
    let flags = format!("check {file} --reduction none --invariant x[0]+x[1]+x[2]<30 --json");
    let one = stubborn(&flags).json();
    assert_eq!(one["verdict"], "violated");
    for _ in 0..3 {
        let several = stubborn(&format!("{flags} --threads 2")).json();
        let why = several["one_thread"].as_str().expect("a sentence");
        assert!(why.contains("one thread searched again"), "{why}");
        assert_eq!(comparable(several), comparable(one.clone()));
    }
}

#[test]
fn where_threads_cannot_search_the_report_says_why() {
    let file = model("alone", COUNTERS);
    for (flags, why) in [
        ("--reduction up-sets --question deadlock", "with this reduction"),
        ("--reduction none --search dfs", "breadth-first only"),
        ("--reduction none --store compact64", "do not share this store"),
        ("--reduction none --engine interpreter", "need packed states"),
        ("--reduction none --question may-terminate", "about single states only"),
        ("--reduction none --ltl [](sum<5)", ""),
    ] {
        let run = stubborn(&format!("check {file} {flags} --threads 2"));
        assert!(run.code != 2 && run.code != 4, "{}", run.err);
        assert!(run.out.contains(why) && run.out.contains("one thread: "), "{flags}: {}", run.out);
    }
    let small = model("small", "active [2] proctype P() { skip }");
    let run = stubborn(&format!("check {small} --reduction none --threads 2"));
    // Nothing is too small for keys in a build that always has them.
    let how = if cfg!(feature = "always-packed") { ", 2 threads" } else { "one thread: the search was over" };
    assert!(run.out.contains(how), "{}", run.out);
    let run = stubborn(&format!("check {small} --reduction none"));
    assert!(!run.out.contains("one thread"), "{}", run.out);
    assert_eq!(stubborn(&format!("check {small} --threads 0")).code, 2);
}

#[test]
fn models_as_code_are_searched_by_threads() {
    let flags = "demo peterson --size 3 --reduction none --question safety --json";
    let one = stubborn(flags).json();
    let two = stubborn(&format!("{flags} --threads 2")).json();
    assert_eq!((two["threads"].as_u64(), one["states"].as_u64()), (Some(2), two["states"].as_u64()));
    assert_eq!(comparable(two), comparable(one));
}
