//! `--memory`: a search that needs more ends *inconclusive* with what was done, whatever the engine, the store, the order, the reduction and the question; and the
//! process uses little more than it may.

use crate::common::{Files, stubborn_with};

/// Five counters, and ten processes that look at three of them each: more states than there is room for, and much to be remembered.
fn counters() -> String {
    let names = ["a", "b", "c", "d", "e"];
    let mut text = String::from("byte a, b, c, d, e;\n");
    for (i, x) in names.iter().enumerate() {
        text += &format!("active proctype Count{i}() {{ do :: {x} = ({x} + 1) % 41 od }}\n");
        for (j, y) in names.iter().enumerate().skip(i + 1) {
            for (k, z) in names.iter().enumerate().skip(j + 1) {
                let is_hit = format!("({x} * {y} + {z}) % 41 == 40");
                text += &format!("active proctype Look{i}{j}{k}() {{ do :: {is_hit} -> {x} = 0 od }}\n");
            }
        }
    }
    text
}

/// What a search may use.
const LIMIT: u64 = 32 << 20;

/// What it may use beyond it: a quarter, and tables that are made once.
const MORE: u64 = LIMIT / 4 + (8 << 20);

/// The words of a command with this limit end it for want of memory: with the exit code, a verdict and numbers, in so many bytes.
fn ends_within(words: &str) -> u64 {
    let limit = LIMIT.to_string();
    let run = stubborn_with(words.split_whitespace().chain(["--json", "--memory", &limit]));
    assert_eq!(run.code, 3, "{words}: {}", run.err);
    let report = run.json();
    assert_eq!(report["verdict"], "inconclusive", "{words}");
    let last = report["phases"].as_array().and_then(|phases| phases.last()).expect("a search");
    let stopped = last["stopped"].as_str().unwrap_or("it was not");
    assert!(stopped.starts_with("the memory limit of"), "{words}: {stopped}");
    assert!(last["states"].as_u64() > Some(10_000), "{words}: {last}");
    report["peak_rss_bytes"].as_u64().unwrap_or(0)
}

fn all_end_within(name: &str, ways: &[&str]) {
    let files = Files::new(name);
    let model = files.write("counters.pml", counters());
    let small = stubborn_with(["check", &model, "--max-states", "10", "--json"]).json();
    let before = small["peak_rss_bytes"].as_u64().unwrap_or(0);
    for way in ways {
        let used = ends_within(&format!("check {model} {way}")).saturating_sub(before);
        println!("{} of {LIMIT} bytes, {way}", used);
        assert!(used < LIMIT + MORE, "{way}: {used} of {LIMIT} bytes");
    }
}

#[test]
fn searches_for_states_stay_within_their_memory() {
    let ways = [
        "--engine packed --reduction none",
        "--engine packed --reduction none --store quotient",
        "--engine packed --reduction none --threads 2",
        "--engine packed --store compact64",
        "--engine packed --reduction none --store bitstate --bits 24",
        "--engine interpreter",
        "--engine interpreter --store compact64 --search dfs",
        "--engine interpreter --store bitstate --bits 24 --search dfs",
    ];
    all_end_within("memory-states", &ways);
}

#[test]
fn searches_for_runs_stay_within_their_memory() {
    let ways = [
        "--engine packed --reduction none --ltl [](<>(a<41))",
        "--engine packed --fair --ltl [](<>(a<41))",
        "--engine interpreter --ltl [](<>(a<41))",
        "--engine packed --store compact64 --ltl [](<>(a<41))",
        "--engine interpreter --search dfs --ltl [](<>(a<41))",
    ];
    all_end_within("memory-runs", &ways);
}

#[test]
fn models_as_code_stay_within_their_memory() {
    let ways = ["demo peterson --size 5", "demo token-ring --size 10 --reduction none --threads 2"];
    for way in ways {
        let used = ends_within(way);
        assert!(used < (12 << 20) + LIMIT + MORE, "{way}: {used} of {LIMIT} bytes");
    }
}
