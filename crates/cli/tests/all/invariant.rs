//! Invariants from the command line, and statements that are never executed.

use crate::common::{Run, stubborn, stubborn_with};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A model in the directory for temporary files, gone with the test.
struct Model(PathBuf);

impl Model {
    fn new(name: &str, text: &str) -> Self {
        let name = format!("stubborn-invariant-{}-{name}.pml", std::process::id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, text).unwrap();
        Self(file)
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }

    /// Checks it with these invariants and the words of `flags`.
    fn check(&self, invariants: &[&str], flags: &str) -> Run {
        let path = self.path();
        let invariants = invariants.iter().flat_map(|text| ["--invariant", text]);
        stubborn_with(["check", &path].into_iter().chain(invariants).chain(flags.split_whitespace()))
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const COUNTER: &str = "
#define small(v) (v <= N)
byte x;
active [2] proctype P() {
    byte mine;
    mine = x;
wait: x = mine + 1
}
";

#[test]
fn a_state_in_which_an_invariant_is_false_violates_safety() {
    let model = Model::new("counter", COUNTER);
    let run = model.check(&["x < 2"], "-D N=2");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    for words in ["violated      safety", "invariant violated: x < 2", "x: 1 -> 2"] {
        assert!(run.out.contains(words), "{words} is not in\n{}", run.out);
    }
    let holds = model.check(&["x <= 2"], "-D N=2");
    assert_eq!(holds.code, 0, "{}{}", holds.out, holds.err);
}

#[test]
fn the_initial_state_is_checked_too() {
    let model = Model::new("initial", COUNTER);
    let json = model.check(&["x > 0"], "-D N=2 --json").json();
    assert_eq!(json["reason"], "invariant violated: x > 0");
    assert_eq!(json["witness"]["steps"], json!([]));
}

#[test]
fn macros_labels_and_variables_of_processes_may_be_named() {
    let model = Model::new("names", COUNTER);
    for (invariant, code) in [
        ("small(x)", 0),
        ("x <= N", 0),
        ("x < N", 1),
        ("P[0]:mine <= 1", 0),
        ("P[1]:mine == 0", 1),
        ("!(P[0]@wait && P[1]@wait)", 1),
        ("!P[0]@wait || P[0]:mine <= 1", 0),
        ("_nr_pr == 2", 1),
        ("_last <= 1", 0),
        ("(x == 0 -> P[0]:mine == 0 : true)", 0),
        ("x\n<=\n2", 0),
    ] {
        let run = model.check(&[invariant], "-D N=2 -q --question safety");
        assert_eq!(run.code, code, "{invariant}: {}{}", run.out, run.err);
    }
}

#[test]
fn all_of_several_invariants_must_hold_and_assertions_are_still_checked() {
    let model = Model::new("several", COUNTER);
    let reason = model.check(&["x <= 2", "x != 1"], "-D N=2 --json").json()["reason"].clone();
    assert_eq!(reason, "invariant violated: x != 1");
    let asserting = Model::new("asserting", "byte x; active proctype A() { x = 1; assert(x == 2) }");
    let run = asserting.check(&["x < 2"], "--question safety");
    assert_eq!(run.code, 1);
    assert!(run.out.contains("assertion violated"), "{}", run.out);
}

#[test]
fn an_invariant_does_not_change_what_is_counted() {
    let model = Model::new("counts", COUNTER);
    let counts = |invariants: &[&str]| {
        let json = model.check(invariants, "-D N=2 --json --all-errors --reduction none").json();
        (json["states"].clone(), json["transitions"].clone(), json["finished"].clone())
    };
    assert_eq!(counts(&[]), counts(&["x < 2"]));
    assert_eq!(counts(&[]), counts(&["x < 3", "P[0]:mine <= 1"]));
}

#[test]
fn a_counterexample_to_an_invariant_is_replayed_with_the_invariant() {
    let model = Model::new("replay", COUNTER);
    let witness = Model::new("witness", &model.check(&["x < 2"], "-D N=2 --json").out);
    let (model, witness) = (model.path(), witness.path());
    let run = stubborn(&format!("replay {model} {witness} -D N=2 --invariant x<2"));
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("replayed: violates safety: invariant violated: x<2"), "{}", run.out);
    assert_eq!(stubborn(&format!("replay {model} {witness} -D N=2")).code, 2);
    let simulated = stubborn(&format!("simulate {model} -D N=2 --seed 1 --invariant x==0"));
    assert!(simulated.out.contains("invariant violated: x==0"), "{}", simulated.out);
}

#[test]
fn mistakes_in_an_invariant_are_shown_where_they_are() {
    let model = Model::new("mistakes", COUNTER);
    for (invariant, place, words) in [
        ("x == y", "<invariant>:1:6", "`y` is not declared"),
        ("x ==", "<invariant>:1:5", "expected an expression"),
        ("", "<invariant>:1:1", "expected an expression"),
        ("x == 1)", "<invariant>:1:7", "expected an operator"),
        ("x == 1; x == 2", "<invariant>:1:7", "expected an operator"),
        ("x = 1", "<invariant>:1:3", "expected an operator"),
        ("mine == 0", "<invariant>:1:1", "`mine` is not declared"),
        ("P[0]@nowhere", "<invariant>:1:6", "no label `nowhere`"),
        ("x == _pid", "<invariant>:1:6", "means nothing in an invariant"),
        ("small(x, x)", "<invariant>:1:1", "takes 1 arguments"),
        ("run P()", "<invariant>:1:1", "`run` can only"),
        ("#define Z 1", "<invariant>:1:1", "expected an expression"),
    ] {
        let run = model.check(&[invariant], "-D N=2");
        assert_eq!(run.code, 2, "{invariant}: {}{}", run.out, run.err);
        for part in [place, words, "^", "error["] {
            assert!(run.err.contains(part), "{invariant}: `{part}` is not in\n{}", run.err);
        }
    }
}

#[test]
fn an_invariant_that_would_not_be_looked_at_is_refused() {
    let model = Model::new("refused", COUNTER);
    let run = model.check(&["x < 2"], "-D N=2 --question deadlock");
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("part of safety"), "{}", run.err);
    let run = stubborn("simulate peterson --invariant x<2");
    assert_eq!(run.code, 2, "{}", run.out);
}

const UNREACHED: &str = "\
byte x;
chan q = [0] of { byte };
proctype P(byte n) {
    byte got;
    do
    :: x == 0 -> atomic { x = 1; q!n }
    :: x == 7 -> x = 8
    :: x == 1 -> goto out
    od;
out:
    skip
}
proctype Receiver() {
    byte got;
    if
    :: q?got; d_step { got = 2; if :: got = 3 :: got = 4 fi; got = 5 }
    :: q?9 -> d_step { got = 4; got = 5 }
    fi
}
init {
    run P(3);
    run Receiver();
    false;
    printf(\"never\")
}
";

#[test]
fn statements_that_are_never_executed_are_listed_with_their_lines() {
    let model = Model::new("unreached", UNREACHED);
    let expected = [
        ("P", 7, "x == 7"),
        ("P", 7, "x = 8"),
        ("Receiver", 17, "q?9"),
        ("Receiver", 17, "d_step { got = 4; got = 5 }"),
        ("init", 23, "false"),
        ("init", 24, "printf(\"never\")"),
        ("init", 25, "-end-"),
    ];
    let run = model.check(&[], "--question safety");
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let found: Vec<&str> = run.out.lines().filter(|line| line.starts_with("unreached")).collect();
    let lines = expected.map(|(p, line, text)| format!("unreached in proctype {p}: line {line}: {text}"));
    assert_eq!(found, lines);
    let list: Vec<Value> =
        expected.iter().map(|(p, line, text)| json!({ "proctype": p, "line": line, "text": text })).collect();
    assert_eq!(model.check(&[], "--question safety --json").json()["unreached"], json!(list));
    assert_eq!(model.check(&["x < 9"], "--question safety --json").json()["unreached"], json!(list));
    assert_eq!(model.check(&[], "--question safety --search dfs --json").json()["unreached"], json!(list));
}

#[test]
fn nothing_is_called_unreached_unless_everything_was_searched() {
    let model = Model::new("partly", UNREACHED);
    for flags in ["-q", "--max-states 3", "--store bitstate --bits 20", "--question deadlock"] {
        let run = model.check(&[], flags);
        assert!(!run.out.contains("unreached"), "{flags}: {}", run.out);
    }
    assert!(model.check(&[], "--max-states 3 --json").json().get("unreached").is_none());
    assert!(model.check(&[], "--all-errors").out.contains("unreached in proctype P: line 7: x = 8"));
}

#[test]
fn a_process_that_waits_for_others_to_die_has_reached_its_end() {
    let text = "byte x; active proctype A() { x = 1 } active proctype B() { end: do :: x = 2 od }";
    let list = Model::new("waits", text).check(&[], "--json").json()["unreached"].clone();
    assert_eq!(list, json!([{ "proctype": "B", "line": 1, "text": "-end-" }]));
    let all = Model::new("all", "byte x; active proctype A() { x = 1 }");
    assert_eq!(all.check(&[], "--json").json()["unreached"], json!([]));
}
