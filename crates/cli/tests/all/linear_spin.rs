//! Linear time against SPIN: the same verdict on every `ltl`, `never`, `accept` and `progress` property of the
//! examples that come with SPIN and of our own models, with and without reduction, with and without fairness;
//! and for the same claim, the same number of product states.
//!
//! What SPIN says is recorded (`crates/oracle/tests/linear`, where it is told how). The examples must be there
//! (Debian package `spin`); where they are not, nothing is compared, and that is said. Those that take long are
//! compared by
//!
//! ```text
//! cargo test --release -p stubborn --test all linear_spin:: -- --ignored --nocapture --test-threads=1
//! ```
//!
//! which ends only when every property has an answer in every way; a search has ten minutes.

use crate::common::{Files, stubborn_with};
use serde_json::Value;
use std::path::{Path, PathBuf};
use stubborn_oracle::promela::formulas::with_claims;
use stubborn_oracle::promela::properties::{EXAMPLES, Figure, Row, Source};
use stubborn_oracle::promela::spin;
use stubborn_oracle::promela::spin_linear::{Asked, Verifier};

/// A full search of more states is left to the long test.
const SMALL: usize = 60_000;

/// Answers that differ from SPIN's, and why.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

/// Numbers of states that differ, and why.
const OTHER_COUNTS: [(&str, &str, &str); 1] = [(
    "d20_formula_reads.pml",
    "two",
    "a claim that is chosen among several begins in SPIN where another one begins",
)];

fn oracle() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../oracle/tests/linear")
}

fn our_models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models")
}

fn table(name: &str) -> Vec<Row> {
    Row::table(&std::fs::read_to_string(oracle().join(name)).expect("the table is there"))
}

/// The model of a row. One has a formula that SPIN refuses, and that we refuse: its formulas come one by one.
fn read(root: &Path, row: &Row) -> Source {
    let source = Source::read(root, &row.model).expect("the model is there");
    if row.model == "LTL/patterns.pml" { source.with_only(&row.name) } else { source }
}

/// A model in a directory of its own, with all that it may include.
fn placed(files: &Files, source: &Source, text: &str) -> String {
    for entry in std::fs::read_dir(&source.directory).expect("a directory").flatten() {
        if entry.path().is_file() {
            let content = std::fs::read(entry.path()).expect("a file");
            files.write(&entry.file_name().to_string_lossy(), content);
        }
    }
    files.write("asked.pml", text)
}

/// How a property is asked for.
fn question(asked: &Asked) -> Vec<&str> {
    match asked {
        Asked::Claim(Some(name)) => vec!["--property", name],
        Asked::Claim(None) => vec!["--question", "linear"],
        Asked::Acceptance => vec!["--question", "acceptance"],
        Asked::NonProgress => vec!["--question", "non-progress"],
    }
}

/// The answer to the only property that was asked for, within a time.
fn ask(model: &str, asked: &Asked, time: &str, more: &[&str]) -> Result<Value, String> {
    let arguments = ["check", model, "--json", "--time", time].into_iter();
    let run = stubborn_with(arguments.chain(question(asked)).chain(more.iter().copied()));
    if run.code > 1 && run.out.is_empty() {
        return Err(run.err);
    }
    let json = run.json();
    let results = json["results"].as_array().ok_or("no results")?;
    let linear: Vec<&Value> = results.iter().filter(|r| r["question"] == "linear").collect();
    match linear[..] {
        [one] => Ok(one.clone()),
        _ => Err(format!("{} answers: {}", linear.len(), run.out)),
    }
}

/// Which answer of SPIN an answer of ours is to be compared with, and how to get it.
const MODES: [(&str, usize, &[&str]); 6] = [
    ("full", 0, &["--reduction", "none"]),
    ("reduced", 0, &[]),
    ("nested", 0, &["--search", "dfs"]),
    ("nested, full", 0, &["--search", "dfs", "--reduction", "none"]),
    ("fair", 2, &["--fair"]),
    ("fair, full", 2, &["--fair", "--reduction", "none"]),
];

/// The time that a search has.
const TIME: &str = "600s";

/// Compares the verdicts of the rows that are chosen. How many were equal.
fn compare_verdicts(root: &Path, rows: &[Row], chosen: impl Fn(&Row) -> bool) -> usize {
    let files = Files::new(&format!("linear-spin-{:?}", std::thread::current().id()));
    let mut n_equal = 0;
    let mut differences = Vec::new();
    for row in rows.iter().filter(|row| chosen(row)) {
        let source = read(root, row);
        let model = placed(&files, &source, &source.text);
        for (mode, figure, arguments) in MODES {
            let begin = std::time::Instant::now();
            // SPIN is asked with and without reduction, and one answer is enough.
            let expected = match (&row.figures[figure], &row.figures[figure + 1]) {
                (Figure::Unknown(_), Figure::Holds(..)) => true,
                (Figure::Unknown(_), Figure::Violated) | (Figure::Violated, _) => false,
                (Figure::Holds(..), _) => true,
                (Figure::Unknown(_), Figure::Unknown(_)) => continue,
            };
            let exception = EXCEPTIONS.iter().find(|(m, what, _)| (*m, *what) == (&row.model, &row.name));
            let what = format!("{} {} {} {mode}", row.model, row.kind, row.name);
            let answer = ask(&model, &row.asked(), TIME, arguments);
            let verdict = answer.as_ref().map(|a| a["verdict"].as_str().unwrap_or("?").to_owned());
            let states = answer.as_ref().map_or(0, |a| a["states"].as_u64().unwrap_or(0));
            println!("{what}: {verdict:?}, {states} states, {:.1} s", begin.elapsed().as_secs_f64());
            if verdict == Ok(if expected { "holds" } else { "violated" }.to_owned()) {
                n_equal += 1;
            } else if let Some((_, _, why)) = exception {
                println!("{what}: {why}");
            } else {
                differences.push(format!("{what}: SPIN {expected}, ours {verdict:?}"));
            }
        }
    }
    println!("{n_equal} verdicts are equal");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    n_equal
}

/// Properties for which a full search needs many states before it finds what is wrong.
const SLOW: [(&str, &str); 2] = [("LTL/petersonN.pml", "bounded_bypass"), ("Book_1991/App.F.pftp.pml", "")];

fn is_small(row: &Row) -> bool {
    let is_slow = SLOW.iter().any(|slow| *slow == (&*row.model, &*row.name));
    !is_slow
        && !row.figures.iter().any(|figure| matches!(figure, Figure::Holds(states, _) if *states > SMALL))
        && !matches!(row.figures[0], Figure::Unknown(_))
}

/// The examples, if they are there.
fn examples() -> Option<&'static Path> {
    let root = Path::new(EXAMPLES);
    if !root.is_dir() {
        println!("not compared: {EXAMPLES} is not there");
    }
    root.is_dir().then_some(root)
}

#[test]
fn verdicts_on_our_models_are_those_of_spin() {
    let n_equal = compare_verdicts(&our_models(), &table("models.csv"), |_| true);
    assert!(n_equal >= 30, "only {n_equal} were compared");
}

#[test]
fn verdicts_on_the_small_examples_are_those_of_spin() {
    if let Some(root) = examples() {
        compare_verdicts(root, &table("examples.csv"), is_small);
    }
}

#[test]
#[ignore = "long: the examples with more states"]
fn verdicts_on_the_large_examples_are_those_of_spin() {
    if let Some(root) = examples() {
        compare_verdicts(root, &table("examples.csv"), |row| !is_small(row));
    }
}

/// Compares the numbers of product states, where SPIN made a complete full search; formulas in SPIN's own
/// translation, for which it is needed. How many were equal.
fn compare_states(root: &Path, rows: &[Row], limit: usize) -> usize {
    let files = Files::new(&format!("linear-states-{:?}", std::thread::current().id()));
    let mut n_equal = 0;
    let mut differences = Vec::new();
    for row in rows {
        let Figure::Holds(states, _) = row.figures[0] else { continue };
        if states > limit || !matches!(row.asked(), Asked::Claim(_)) {
            continue;
        }
        let source = read(root, row);
        let claims = if row.kind == "never" {
            String::new()
        } else if spin::is_there() {
            match Verifier::new(&source.text, Some(&source.directory)) {
                Ok(verifier) => verifier.claims(),
                Err(_) => continue,
            }
        } else {
            println!("{}: not compared: there is no spin", row.model);
            continue;
        };
        let model = placed(&files, &source, &with_claims(&source.text, &claims));
        let found = ask(&model, &row.asked(), TIME, &["--reduction", "none", "--optimise", "none"]);
        let found = found.map(|answer| answer["states"].as_u64());
        let what = format!("{} {} {}", row.model, row.kind, row.name);
        let exception = OTHER_COUNTS.iter().find(|(m, name, _)| (*m, *name) == (&row.model, &row.name));
        if found == Ok(Some(states as u64)) {
            n_equal += 1;
        } else if let Some((_, _, why)) = exception {
            println!("{what}: {why}");
        } else {
            differences.push(format!("{what}: SPIN {states}, ours {found:?}"));
        }
    }
    println!("{n_equal} numbers of states are equal");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    n_equal
}

#[test]
fn products_of_our_models_have_as_many_states_as_in_spin() {
    compare_states(&our_models(), &table("models.csv"), SMALL);
}

#[test]
fn products_of_the_small_examples_have_as_many_states_as_in_spin() {
    if let Some(root) = examples() {
        compare_states(root, &table("examples.csv"), SMALL);
    }
}

#[test]
#[ignore = "long: the examples with more states"]
fn products_of_all_examples_have_as_many_states_as_in_spin() {
    if let Some(root) = examples() {
        compare_states(root, &table("examples.csv"), usize::MAX);
    }
}

/// The geometric mean of our pairs and SPIN's states over the formulas and claims that hold, both with reduction. Of how many.
fn mean_ratio(root: &Path, rows: &[Row], limit: usize) -> (f64, usize) {
    let files = Files::new(&format!("linear-ratio-{:?}", std::thread::current().id()));
    let (mut sum, mut n) = (0.0, 0);
    for row in rows.iter().filter(|row| row.kind != "progress") {
        let Figure::Holds(theirs, _) = row.figures[1] else { continue };
        // Of a few states nothing can be left out.
        if theirs < 100 || theirs > limit {
            continue;
        }
        let source = read(root, row);
        let model = placed(&files, &source, &source.text);
        let answer = ask(&model, &row.asked(), TIME, &[]).expect("an answer");
        let ours = answer["states"].as_u64().expect("a number");
        println!("{} {}: SPIN {theirs}, ours {ours}", row.model, row.name);
        sum += (ours as f64 / theirs as f64).ln();
        n += 1;
    }
    ((sum / n as f64).exp(), n)
}

#[test]
fn reduced_products_have_at_most_three_fifths_of_the_states_of_spin() {
    if let Some(root) = examples() {
        let (mean, n) = mean_ratio(root, &table("examples.csv"), 1_000_000);
        assert!(n == 15 && mean <= 0.6, "{mean:.3} over {n}");
    }
}

#[test]
#[ignore = "long: the examples with more states"]
fn all_reduced_products_have_at_most_three_fifths_of_the_states_of_spin() {
    if let Some(root) = examples() {
        let (mean, n) = mean_ratio(root, &table("examples.csv"), usize::MAX);
        assert!(n == 16 && mean <= 0.6, "{mean:.3} over {n}");
    }
}
