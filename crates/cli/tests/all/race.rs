//! Where choosing takes longer than it saves, a search without reduction takes the place of the reduced one: the same verdicts, whatever
//! else is asked for.

// Without keys there is no race, and with keys from the first state on nothing is known of the reduced search.
#![cfg(not(any(feature = "always-interpreter", feature = "always-packed")))]

use crate::common::{stubborn, written};
use serde_json::Value;

/// Processes that are always in each other's way, so nothing can be left out. `n` is the sum of what they have counted.
const WEAK: &str = "
byte x, n;
active [3] proctype P() {
    byte i;
    do
    :: atomic { i < 20 -> i++; n++; x = (x + i + _pid) % 7 }
    :: atomic { i > 0 -> i--; n--; x = (x * 3) % 7 }
    od
}";

/// Two of them, and two that concern nobody.
const STRONG: &str = "
byte x;
active [2] proctype P() {
    byte i;
    do
    :: atomic { i < 40 -> i++; x = (x + i + _pid) % 7 }
    :: atomic { i > 0 -> i--; x = (x * 3) % 7 }
    od
}
active [2] proctype Q() {
    byte i;
    do
    :: i < 9 -> i++
    :: i == 9 -> break
    od
}";

const ASKED: &str = "--question safety --question deadlock --json";

fn check(file: &str, flags: &str) -> Value {
    stubborn(&format!("check {file} {ASKED} {flags}")).json()
}

/// What must not depend on who won.
fn answers(report: &Value) -> Vec<(Value, Value)> {
    let results = report["results"].as_array().expect("a list");
    results.iter().map(|result| (result["question"].clone(), result["verdict"].clone())).collect()
}

#[test]
fn what_is_hardly_reduced_is_searched_without_reduction() {
    let file = written("race-weak.pml", WEAK);
    let full = check(&file, "--reduction none --optimise all");
    let raced = check(&file, "");
    let named = check(&file, "--reduction scc+deletion");
    assert!(full["states"].as_u64() > Some(20_000), "{full}");
    assert_eq!((&raced["reduction"], &raced["states"]), (&"none".into(), &full["states"]));
    assert_eq!(raced["transitions"], full["transitions"]);
    assert_eq!((&raced["overtaken"]["reduction"], &named["overtaken"]), (&named["reduction"], &Value::Null));
    assert_eq!(named["reduction"], "scc+deletion");
    assert_eq!([answers(&raced), answers(&named)], [answers(&full), answers(&full)]);
    let text = stubborn(&format!("check {file} --question deadlock")).out;
    assert!(text.contains("less work than with reduction scc+deletion"), "{text}");
}

#[test]
fn what_is_reduced_a_lot_stays_reduced() {
    let file = written("race-strong.pml", STRONG);
    let raced = check(&file, "");
    assert_eq!((&raced["overtaken"], &raced["reduction"]), (&Value::Null, &"scc+deletion".into()));
    assert_eq!(raced["states"], check(&file, "--reduction scc+deletion")["states"]);
    // So many that the race is run.
    assert!(raced["states"].as_u64() > Some(10_000), "{raced}");
}

#[test]
fn threads_take_part_in_what_is_searched_without_reduction() {
    let file = written("race-threads.pml", WEAK);
    let (one, two) = (check(&file, ""), check(&file, "--threads 2"));
    assert_eq!(two["threads"], 2);
    for key in ["states", "transitions", "depth", "overtaken"] {
        assert_eq!(one[key], two[key], "{key}");
    }
}

#[test]
fn a_violation_is_found_by_whoever_wins() {
    let file = written("race-violated.pml", WEAK);
    for n in [30, 60] {
        let invariant = format!("--invariant n<{n}");
        let raced = check(&file, &invariant);
        let full = check(&file, &format!("--reduction none --optimise all {invariant}"));
        assert_eq!((&raced["verdict"], answers(&raced)), (&"violated".into(), answers(&full)));
        let length = |report: &Value| {
            let mut results = report["results"].as_array().expect("a list").iter();
            results.find_map(|result| result["witness"]["steps"].as_array()).map(Vec::len)
        };
        assert_eq!(length(&raced), Some(n), "one by one");
        // Somebody who wants to see all that is wrong gets all states of the same search.
        let all = check(&file, &format!("{invariant} --all-errors"));
        let every = check(&file, &format!("--reduction none --optimise all {invariant} --all-errors"));
        assert_eq!((&all["verdict"], &all["states"]), (&"violated".into(), &every["states"]));
        assert!(every["states"].as_u64() > Some(20_000), "it goes on: {every}");
    }
}

#[test]
fn limits_end_the_search_that_goes_on() {
    let file = written("race-limits.pml", WEAK);
    let few = check(&file, "--max-states 30000");
    assert_eq!((&few["verdict"], &few["states"]), (&"inconclusive".into(), &30_000.into()));
    // The search without reduction needs more than the limit, and the other does not.
    let file = written("race-room.pml", STRONG);
    let enough = check(&file, "--max-states 30000");
    assert_eq!((&enough["verdict"], &enough["overtaken"]), (&"holds".into(), &Value::Null));
    let none = check(&file, "--memory 256K");
    assert_eq!(none["verdict"], "inconclusive");
}

#[test]
fn a_formula_about_single_states_is_searched_as_an_invariant_is() {
    let file = written("race-formula.pml", &format!("{WEAK}\nltl few {{ [] (x < 7) }}"));
    let ask = |flags: &str| stubborn(&format!("check {file} -N few --question linear --json {flags}")).json();
    let (raced, named) = (ask(""), ask("--reduction scc+deletion"));
    assert_eq!((&raced["verdict"], &named["verdict"]), (&"holds".into(), &"holds".into()));
    assert_eq!(
        (&raced["reduction"], &raced["overtaken"]["reduction"]),
        (&"none".into(), &named["reduction"])
    );
    assert_eq!((&named["reduction"], &named["overtaken"]), (&"scc+deletion".into(), &Value::Null));
    // Such a model runs for ever. To say from where on takes longer than the rest, so it is said where it is asked.
    assert_eq!(named["cannot_terminate"], Value::Null);
    let two = ask("--reduction scc+deletion --threads 2");
    assert_eq!((&two["threads"], &two["states"]), (&2.into(), &named["states"]));
}

#[test]
fn sets_by_rules_that_leave_out_little_give_way_too() {
    let ask = |flags: &str| stubborn(&format!("demo {flags} --question safety --json")).json();
    let full = ask("token-ring --size 6 --reduction none");
    // Footprints do not say that a demand and a pass may come in either order.
    let weak = ask("token-ring --size 6 --rules derived");
    assert_eq!((&weak["verdict"], &weak["states"]), (&"holds".into(), &full["states"]));
    assert_eq!(weak["overtaken"]["reduction"], "scc");
    let named = ask("token-ring --size 6 --rules derived --reduction scc");
    assert_eq!((&named["reduction"], &named["overtaken"]), (&"scc".into(), &Value::Null));
    assert!(named["states"].as_u64() < full["states"].as_u64());
    let strong = ask("token-ring --size 7");
    assert_eq!((&strong["reduction"], &strong["overtaken"]), (&"scc".into(), &Value::Null));
    assert!(strong["states"].as_u64() > Some(40_000), "{strong}");
    let two = ask("token-ring --size 6 --rules derived --threads 2");
    assert_eq!((&two["threads"], &two["states"]), (&2.into(), &full["states"]));
}
