//! Random Promela models, counted by SPIN and by us.
//!
//! States, transitions and whether something goes wrong must be the same. Twenty models per test run; the
//! campaign, whose length is a matter of `STUBBORN_TIMES` (a thousand models each):
//!
//! ```text
//! STUBBORN_TIMES=5 cargo test --release -p stubborn-oracle --test all promela_spin:: -- --ignored --nocapture
//! ```
//!
//! A model for which the counts differ is shrunk and written to a file. `STUBBORN_SEED` repeats a single one.
//! Needs `spin` and `gcc` (Debian packages); without them nothing is compared, and that is said.

use std::collections::BTreeMap;
use std::path::Path;
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{Tally, failure, seeds};
use stubborn_oracle::promela::spin::{self, NoCount};
use stubborn_oracle::promela::{Counts, Model, Plain, compiled, shrink_model};

/// Models with more states are passed over.
const LIMIT: usize = 20_000;

/// How long SPIN's verifier may take.
const SECONDS: usize = 8;

/// How many models are judged to shrink one.
const TRIES: usize = 600;

#[derive(Debug)]
enum Outcome {
    Equal(Counts),
    NotCompared(String),
    Different(String),
}

fn judge(model: &Model) -> Outcome {
    let text = model.to_string();
    let ours = match compiled(&text, &[]) {
        Ok((network, _)) => match Plain::full(&network, LIMIT) {
            Some(graph) => Ok(graph.counts()),
            None => return Outcome::NotCompared(format!("more than {LIMIT} states")),
        },
        Err(problems) => Err(problems),
    };
    match (ours, spin::count(&text, SECONDS)) {
        (Ok(ours), Ok(spin)) if ours == spin => Outcome::Equal(spin),
        (Ok(ours), Ok(spin)) => Outcome::Different(format!("SPIN has {spin:?}, we have {ours:?}")),
        (Err(problems), Ok(spin)) => {
            Outcome::Different(format!("SPIN has {spin:?}, we refuse it:\n{problems}"))
        }
        (_, Err(NoCount::Undecided(why))) => Outcome::NotCompared(why),
        (_, Err(NoCount::Refused(_))) => Outcome::NotCompared("SPIN refuses it".into()),
    }
}

/// The model of a seed, with the reason why the counts differ; shrunk, and kept in a file.
fn report(seed: u64, model: &Model, what: &str, test: &str) -> String {
    let refuses = |what: &str| what.contains("we refuse");
    let fails = |m: &Model| match judge(m) {
        Outcome::Different(found) => refuses(&found) == refuses(what),
        _ => false,
    };
    let small = shrink_model(model, TRIES, fails);
    let why = match judge(&small) {
        Outcome::Different(why) => why,
        other => format!("{other:?}"),
    };
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("different-{seed:x}.pml"));
    let comment: String = why.lines().map(|line| format!("// {line}\n")).collect();
    let kept = std::fs::write(&file, format!("{comment}{small}"));
    let kept = kept.map_or_else(|error| error.to_string(), |()| file.display().to_string());
    failure("promela_spin", test, seed, format!("{why}\n{small}\nkept in {kept}"))
}

/// Compares the models of some seeds.
fn campaign(test: &str, seeds: impl IntoIterator<Item = u64>) {
    if !spin::is_there() {
        println!("not compared: there is no spin or no gcc");
        return;
    }
    let (mut tally, mut reasons, mut differences) = (Tally::new(), BTreeMap::new(), Vec::new());
    let mut n_models = 0;
    for seed in seeds {
        n_models += 1;
        if n_models % 100 == 0 {
            println!("{} of {n_models} models are equal", tally.systems);
        }
        let model = Model::random(&mut Rng::new(seed));
        match judge(&model) {
            Outcome::Equal(counts) => tally.count(counts.states, counts.states),
            Outcome::NotCompared(why) => *reasons.entry(why).or_insert(0) += 1,
            Outcome::Different(what) => {
                println!("seed {seed:#x}: {what}");
                differences.push(report(seed, &model, &what, test));
                println!("{}", differences.last().expect("just pushed"));
            }
        }
    }
    println!("{test}: {n_models} models, {} equal, not compared {reasons:?}", tally.systems);
    println!("{tally}");
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    assert!(tally.systems * 10 >= n_models * 7 || n_models == 1, "only {} were compared", tally.systems);
    if n_models > 1 {
        assert!(tally.median_states() >= 10, "degenerate: {tally}");
    }
}

#[test]
fn twenty_models_are_as_spin_has_them() {
    campaign("twenty_models_are_as_spin_has_them", 0..20);
}

#[test]
#[ignore = "long: a thousand models for each of STUBBORN_TIMES"]
fn many_models_are_as_spin_has_them() {
    campaign("many_models_are_as_spin_has_them", seeds(1000));
}
