//! Properties of runs with either engine: the same verdicts, runs, numbers of states and pairs, and reports, in every way to
//! search. Random models are compared in `linear_campaign.rs`, and what is remembered of propositions in `recall.rs` of the oracle, with a
//! planted fault.

use crate::common::{Files, Run, stubborn_with, whatever_the_engine};
use serde_json::Value;
use std::path::Path;

/// Ways to search.
const WAYS: [&[&str]; 8] = [
    &[],
    &["--reduction", "none"],
    &["--search", "dfs"],
    &["--search", "dfs", "--reduction", "none"],
    &["--fair"],
    &["--guided", "always"],
    &["--tester"],
    &["--optimise", "none", "--first-look", "2"],
];

fn ask(model: &str, questions: &[&str], way: &[&str], engine: &str) -> Run {
    let words = ["check", model, "--json", "--max-states", "60000", "--engine", engine].into_iter();
    stubborn_with(words.chain(questions.iter().copied()).chain(way.iter().copied()))
}

/// The engines that searches for runs have used.
fn engines(json: &Value) -> Vec<String> {
    let phases = json["phases"].as_array().into_iter().flatten();
    let of_runs = phases.filter(|phase| !phase["product"].is_null());
    of_runs.map(|phase| phase["engine"].as_str().unwrap_or("?").to_owned()).collect()
}

/// Asks both engines, and compares. How many searches were made with keys.
#[track_caller]
fn compare(model: &str, questions: &[&str], way: &[&str]) -> usize {
    let [interpreted, packed] = ["interpreter", "packed"].map(|engine| ask(model, questions, way, engine));
    let what = format!("{model} {questions:?} {way:?}");
    assert_eq!(interpreted.code, packed.code, "{what}: {}{}", interpreted.err, packed.err);
    if interpreted.out.is_empty() {
        assert!(packed.out.is_empty(), "{what}");
        return 0;
    }
    let [interpreted, packed] = [interpreted.json(), packed.json()];
    assert!(engines(&interpreted).iter().all(|engine| engine == "interpreter"), "{what}");
    let n_packed = engines(&packed).iter().filter(|engine| *engine == "packed").count();
    assert_eq!(whatever_the_engine(interpreted), whatever_the_engine(packed), "{what}");
    n_packed
}

const QUESTIONS: [&str; 6] =
    ["--question", "linear", "--question", "acceptance", "--question", "non-progress"];

#[test]
fn both_engines_say_the_same_of_our_models_in_every_way() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models");
    let mut paths: Vec<String> = std::fs::read_dir(models)
        .expect("the models are there")
        .flatten()
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.ends_with(".pml"))
        .collect();
    paths.sort();
    let mut n_packed = [0; WAYS.len()];
    for (i, path) in paths.iter().enumerate() {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let has_property = text.contains("ltl ") || text.contains("never");
        for (k, way) in WAYS.iter().enumerate() {
            // Those without a property of their own in turn.
            if has_property || k == i % WAYS.len() {
                n_packed[k] += compare(path, &QUESTIONS, way);
            }
        }
    }
    println!("{} models, searches with keys: {n_packed:?}", paths.len());
    assert!(paths.len() > 100 && n_packed.iter().all(|&n| n > 20), "{n_packed:?}");
}

/// Clients that ask for a resource in rounds, over channels; the order of requests makes many states.
const CLIENTS: &str = "
#define N 3
chan ask = [N] of { byte };
chan answer[N] = [1] of { bit };
byte served[N];
bool is_held;
active proctype server() {
    byte who;
end: do :: atomic { ask?who; is_held = 1 } served[who] = (served[who] + 1) % 3; answer[who]!1; is_held = 0 od
}
proctype client(byte me) {
    bit got;
    do :: ask!me; answer[me]?got; accept_got: progress_got: got = 0 od
}
init { atomic { byte i; for (i : 0 .. N - 1) { run client(i) } } }
";

/// Formulas that hold and formulas that do not; some notice stuttering.
const FORMULAS: [&str; 6] = [
    "[] (is_held -> <> !is_held)",
    "[]<> (served[0] == 1)",
    "<>[] (served[1] == 0) -> []<> is_held",
    "[] (served[2] == 1 -> (served[2] == 1 W served[2] == 2))",
    "[] (served[0] == 1 -> X (served[0] == 1))",
    "[] ((served[0] == 1 && served[1] == 1) -> <> (served[0] == 2 || is_held))",
];

#[test]
fn both_engines_say_the_same_of_a_larger_model_in_every_way() {
    let files = Files::new("linear-engines");
    let model = files.write("clients.pml", CLIENTS);
    for way in WAYS {
        for formula in FORMULAS {
            let n = compare(&model, &["--question", "linear", "--ltl", formula], way);
            assert!(n > 0, "{way:?} {formula}: not with keys");
        }
        compare(&model, &["--question", "acceptance", "--question", "non-progress"], way);
    }
}

#[test]
#[cfg_attr(
    any(feature = "always-packed", feature = "always-interpreter"),
    ignore = "this build has no choice"
)]
fn what_is_large_is_searched_with_keys_and_what_is_small_without() {
    let files = Files::new("linear-auto");
    let model = files.write("clients.pml", CLIENTS);
    let is_held = ["--question", "linear", "--ltl", FORMULAS[2]];
    for way in [&["--reduction", "none"][..], &["--reduction", "none", "--search", "dfs"]] {
        let large = ask(&model, &is_held, way, "auto").json();
        assert_eq!(engines(&large), ["packed"], "{way:?}");
        let interpreted = ask(&model, &is_held, way, "interpreter").json();
        assert_eq!(whatever_the_engine(large), whatever_the_engine(interpreted), "{way:?}");
    }
    let small = files.write("small.pml", "bit b; active proctype P() { do :: b = 1 - b od }");
    let json = ask(&small, &["--question", "linear", "--ltl", "[]<> b"], &[], "auto").json();
    assert_eq!(engines(&json), ["interpreter"]);
}
