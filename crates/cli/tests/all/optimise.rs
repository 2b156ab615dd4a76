//! `--optimise`: the default, the words, and that answers and counterexamples are those of the model as written.

use crate::common::{Files, Run, stubborn_with};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Whatever a process wrote to `g`, nobody reads it, and `x` is dead after its test.
const SMALL: &str = "
byte g;
active [2] proctype P() { byte x; if :: x = 1 :: x = 2 :: x = 3 fi; x > 0; g = _pid + 1; g++; skip; assert(_pid == 0) }
";

fn check(text: &str, arguments: &[&str]) -> Run {
    let files = Files::new(&format!("optimise-{:?}", std::thread::current().id()));
    let model = files.write("model.pml", text);
    stubborn_with(["check", model.as_str()].into_iter().chain(arguments.iter().copied()))
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}{}", run.out, run.err))
}

fn states(text: &str, arguments: &[&str]) -> u64 {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json", "--all-errors"]).collect();
    json(&check(text, &arguments))["states"].as_u64().expect("a number")
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models")
}

#[test]
fn the_default_is_all_and_an_explicit_reduction_none_means_as_written() {
    let with = |word: &str| states(SMALL, &["--reduction", "none", "--optimise", word]);
    let (none, dead, hide, spin) = (with("none"), with("dead"), with("hide"), with("spin"));
    assert!(spin < dead && dead < none && spin < hide && hide < none, "{none} {dead} {hide} {spin}");
    let (merge, all) = (with("merge"), with("all"));
    assert!(merge < none && all < spin && all < merge, "{none} {merge} {spin} {all}");
    assert_eq!(states(SMALL, &["--reduction", "none"]), none);
    assert_eq!(states(SMALL, &[]), states(SMALL, &["--optimise", "all"]));
    assert!(states(SMALL, &[]) < states(SMALL, &["--optimise", "none"]));
}

#[test]
fn the_report_says_what_was_done() {
    let report = json(&check(SMALL, &["--json"]));
    assert_eq!(report["optimise"]["word"], "all");
    assert_eq!(report["optimise"]["hidden"], serde_json::json!(["g"]));
    assert_eq!(report["optimise"]["reset"], serde_json::json!(["P.x"]));
    assert!(report["optimise"]["merged"].as_u64() > Some(0), "{}", report["optimise"]);
    let report = json(&check(SMALL, &["--json", "--reduction", "none"]));
    let nothing = serde_json::json!({ "word": "none", "hidden": [], "reset": [], "merged": 0 });
    assert_eq!(report["optimise"], nothing);
    let text = check(SMALL, &[]).out;
    assert!(text.contains("hidden, because nobody reads them: g\n"), "{text}");
    assert!(text.contains("set to zero when dead: P.x\n"), "{text}");
    assert!(text.contains("merged with the step before: "), "{text}");
    assert!(!check(SMALL, &["--optimise", "none"]).out.contains("hidden"));
}

#[test]
fn compare_has_the_states_of_the_optimised_model_if_asked() {
    let files = Files::new("optimise-compare");
    let model = files.write("model.pml", SMALL);
    let rows = |optimise: &[&str]| {
        let arguments = ["compare", &model, "--json", "--all-errors"].into_iter();
        let run = stubborn_with(arguments.chain(optimise.iter().copied()));
        assert_eq!(run.code, 1, "{}", run.err);
        json(&run)["rows"].as_array().expect("rows").clone()
    };
    let states = |rows: &[Value], i: usize| rows[i]["states"].as_u64().expect("a number");
    let (plain, all) = (rows(&[]), rows(&["--optimise", "all"]));
    assert_eq!(plain.len(), all.len());
    assert_eq!(states(&plain, 0), self::states(SMALL, &["--reduction", "none"]));
    assert_eq!(states(&all, 0), self::states(SMALL, &["--reduction", "none", "--optimise", "all"]));
    assert!((0..all.len()).all(|i| states(&all, i) < states(&plain, i)));
    assert_eq!(stubborn_with(["compare", "peterson", "--optimise", "all"]).code, 2);
}

#[test]
fn counterexamples_are_runs_of_the_model_as_written() {
    let files = Files::new("optimise-replay");
    let model = files.write("model.pml", SMALL);
    let run = stubborn_with(["check", &model, "--json"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert_eq!(json(&run)["optimise"]["hidden"][0], "g");
    // The hidden variable has its values, the local that was dead keeps its own.
    let steps = json(&run)["witness"]["steps"].as_array().expect("steps").clone();
    let last = steps.last().expect("a step")["state"].as_str().expect("a state").to_owned();
    assert!(last.contains("g=3") || last.contains("g: 3") || last.contains("g = 3"), "{last}");
    let witness = files.write("report.json", &run.out);
    let replayed = stubborn_with(["replay", &model, &witness]);
    assert_eq!(replayed.code, 1, "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.contains("replayed: violates safety: assertion violated"), "{}", replayed.out);
    let trail = stubborn_with(["check", &model, "--trail", "-q"]);
    assert_eq!(trail.code, 1, "{}", trail.err);
    let followed = stubborn_with(["simulate", &model, "--trail", &format!("{model}.trail")]);
    assert!(followed.out.contains("assertion violated"), "{}{}", followed.out, followed.err);
}

#[test]
fn what_is_asked_about_is_neither_hidden_nor_reset() {
    let quiet = SMALL.replace("assert(_pid == 0)", "skip");
    let invariant = check(&quiet, &["--json", "--invariant", "g < 3"]);
    assert_eq!(json(&invariant)["reason"], "invariant violated: g < 3");
    assert_eq!(json(&invariant)["optimise"]["hidden"], serde_json::json!([]));
    let remote = check(&quiet, &["--json", "--invariant", "P[0]:x < 3"]);
    assert_eq!(json(&remote)["reason"], "invariant violated: P[0]:x < 3");
    assert_eq!(json(&remote)["optimise"]["reset"], serde_json::json!([]));
    // `x` is three only where it is dead.
    let late = "active proctype P() { byte x; x = 3; skip; skip }";
    assert_eq!(check(late, &["--unreachable", "P@end", "-q"]).code, 2);
    assert_eq!(check(late, &["--may-progress", "P[0]:x == 3", "-q"]).code, 0);
    assert_eq!(check(late, &["--may-progress", "P[0]:x == 4", "--strict-progress", "-q"]).code, 1);
}

/// Goes round for ever and counts its rounds; nobody reads the counter.
fn counting(kind: &str) -> String {
    format!("{kind} n; active proctype P() {{ progress: skip; do :: n++ od }}")
}

#[test]
fn a_cycle_is_run_through_until_it_closes_in_the_model_as_written() {
    let run = check(&counting("byte"), &["--question", "must-progress", "--json"]);
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    let report = json(&run);
    assert_eq!(report["optimise"]["hidden"], serde_json::json!(["n"]));
    assert!(report["states"].as_u64().expect("a number") < 5);
    let (steps, start) =
        (report["witness"]["steps"].as_array().expect("steps").len(), &report["witness"]["cycle_start"]);
    assert_eq!(steps as u64 - start.as_u64().expect("a cycle"), 256);
}

#[test]
fn who_stays_before_a_progress_label_for_ever_makes_none() {
    let text = "byte g;
        active proctype P() { byte x; g = 1; x = 1; progress: (g == 5) }
        active proctype Q() { (g == 1); do :: g = 2 :: g = 1 od }";
    for word in ["none", "all"] {
        let run = check(text, &["--question", "must-progress", "--optimise", word, "-q"]);
        assert_eq!(run.code, 1, "{word}: {}{}", run.out, run.err);
    }
}

#[test]
fn a_cycle_that_does_not_close_is_looked_for_in_the_model_as_written() {
    let run = check(&counting("short"), &["--question", "must-progress", "--json"]);
    assert_eq!(run.code, 1, "{}", run.err);
    assert_eq!(json(&run)["optimise"]["word"], "none");
    assert!(json(&run)["states"].as_u64().expect("a number") > 65_536);
}

#[test]
fn no_answer_changes_on_any_model() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(models()).expect("a directory").flatten().map(|e| e.path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "pml"));
    files.sort();
    assert!(files.len() >= 150);
    let mut n_violated = 0;
    for path in files {
        let path = path.to_string_lossy().into_owned();
        let answers = |optimise: &str| {
            let questions = ["safety", "deadlock", "may-terminate"].map(|q| ["--question", q]).concat();
            let arguments =
                ["check", &path, "-q", "--all-errors", "--max-states", "20000", "--optimise", optimise];
            stubborn_with(arguments.into_iter().chain(questions))
        };
        let (plain, small) = (answers("none"), answers("all"));
        assert_eq!((plain.code, &plain.out), (small.code, &small.out), "{path}: {}{}", plain.err, small.err);
        n_violated += usize::from(plain.code == 1);
    }
    assert!(n_violated >= 30, "only {n_violated} models violate something");
}
