//! `lts check` without `--reduction`: one search without reduction for all wrong states and deadlocks, where that is less work than a reduced
//! one for each; the same verdicts, whatever else is asked for.

use crate::common::{stubborn, written};
use serde_json::Value;
use std::path::Path;

/// A token ring whose wrong states and deadlocks are asked for, and no livelocks.
fn ring(name: &str, options: &str) -> String {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lts-race").join(name);
    let run = stubborn(&format!("lts example {} {options}", directory.display()));
    assert_eq!(run.code, 0, "{}", run.err);
    let rules = std::fs::read_to_string(directory.join("ring.ext")).unwrap();
    let rules: String = rules.split_inclusive(';').filter(|rule| !rule.contains("ll_rej")).collect();
    let file = directory.join("states.ext");
    std::fs::write(&file, rules).unwrap();
    file.display().to_string()
}

/// Eight processes that go round in four states each, and concern nobody.
fn independent(rejected: &str) -> String {
    let process = "Begin Lsts\nBegin Header\n State_cnt = 4\n Action_cnt = 1\n Transition_cnt = 4\n Initial_states = 1;\nEnd Header\n\
        Begin Action_names\n 1 = \"go\"\nEnd Action_names\nBegin State_props\n \"p\" : 2;\n \"q\" : 4;\nEnd State_props\n\
        Begin Transitions\n 1: 2,1;\n 2: 3,1;\n 3: 4,1;\n 4: 1,1;\nEnd Transitions\nEnd Lsts\n";
    let file = written("lts-race-go.lsts", process);
    let name = Path::new(&file).file_name().unwrap().to_string_lossy().into_owned();
    let mut rules: String = (1..=8).map(|i| format!("{i} = \"{name}\"\n")).collect();
    rules.extend((1..=8).map(|i| format!("({i},\"go\") -> 0\n")));
    rules.push_str(&format!("Begin State_prop_rules\n{rejected}End State_prop_rules\n"));
    rules
}

fn check(file: &str, flags: &str) -> Value {
    stubborn(&format!("lts check {file} --json -q {flags}")).json()
}

/// A value of each answer.
fn each(report: &Value, key: &str) -> Vec<Value> {
    report["results"].as_array().expect("a list").iter().map(|result| result[key].clone()).collect()
}

fn lengths(report: &Value) -> Vec<Option<usize>> {
    let steps = |witness: &Value| witness["steps"].as_array().map(Vec::len);
    each(report, "witness").iter().map(steps).collect()
}

#[test]
fn one_search_without_reduction_overtakes_one_for_each_wrong_state() {
    let file = ring("overtaken", "--size 4");
    let (full, raced) = (check(&file, "--reduction none"), check(&file, ""));
    let named = check(&file, "--reduction scc");
    assert!(full["states"].as_u64() > Some(10_000), "{full}");
    for report in [&raced, &named] {
        assert_eq!(each(report, "verdict"), each(&full, "verdict"));
    }
    for key in ["reduction", "states", "transitions", "rests_on"] {
        assert_eq!(each(&raced, key), each(&full, key), "{key}");
    }
    let overtaken = &raced["overtaken"];
    assert_eq!((&overtaken["reduction"], &overtaken["states"]), (&"scc".into(), &1024.into()));
    assert_eq!((&full["overtaken"], &named["overtaken"]), (&Value::Null, &Value::Null));
    // Whoever names the sets gets them.
    let reductions = each(&named, "reduction");
    assert!(reductions.contains(&"scc".into()) && reductions.contains(&"towards".into()), "{named}");
    let text = stubborn(&format!("lts check {file}")).out;
    assert!(text.contains("less work than with reduction scc, which had found 1,024 states"), "{text}");
}

#[test]
fn sets_that_leave_little_are_used() {
    let rejected = "1.\"p\" & 2.\"q\" & 2.\"p\" -> rej;\n3.\"q\" -> dl_rej;\n";
    let file = written("lts-race-independent.ext", &independent(rejected));
    let (full, raced) = (check(&file, "--reduction none"), check(&file, ""));
    assert_eq!(full["states"], 65_536);
    assert_eq!(each(&raced, "reduction"), ["towards", "scc"]);
    assert_eq!(each(&raced, "overtaken"), [Value::Null, Value::Null]);
    assert_eq!(each(&raced, "verdict"), ["holds", "holds"]);
    assert!(raced["states"].as_u64() < Some(1_024), "{raced}");
    // There is room for them only.
    let limited = check(&file, "--max-states 6000");
    assert_eq!(each(&limited, "verdict"), ["holds", "holds"]);
}

#[test]
fn what_is_small_is_searched_at_once() {
    let raced = check(&ring("small", "--size 3"), "");
    assert!(raced["states"].as_u64() < Some(4_096), "{raced}");
    assert_eq!((&raced["reduction"], &raced["overtaken"]), (&"none".into(), &Value::Null));
}

#[test]
fn violations_are_the_same_whoever_finds_them() {
    let file = ring("violated", "--size 4 --fault 1");
    let all = [check(&file, "--all-errors"), check(&file, "--all-errors --reduction none")];
    let [raced, full] = &all;
    assert_eq!(raced["verdict"], "violated");
    assert_eq!((each(raced, "verdict"), lengths(raced)), (each(full, "verdict"), lengths(full)));
    let first = check(&file, "");
    assert_eq!(first["verdict"], "violated");
    let n_violated = each(&first, "verdict").iter().filter(|&verdict| verdict == "violated").count();
    assert_eq!(n_violated, 1, "the first ends it: {first}");
}

#[test]
fn limits_end_both() {
    let file = ring("limits", "--size 4");
    let few = check(&file, "--max-states 1500");
    assert_eq!(few["verdict"], "inconclusive");
    // The deadlocks need fewer states than the others.
    let scc = check(&file, "--reduction scc");
    let by_reduction = each(&scc, "reduction").into_iter().zip(each(&scc, "states"));
    let n_deadlock = by_reduction.filter(|(reduction, _)| reduction == "scc").map(|(_, n)| n).next();
    let n_deadlock = n_deadlock.and_then(|n| n.as_u64()).expect("there are deadlocks to ask for");
    let some = check(&file, &format!("--all-errors --max-states {}", n_deadlock + 1));
    assert_eq!(each(&some, "verdict").iter().filter(|&verdict| verdict == "holds").count(), 4, "{some}");
}
