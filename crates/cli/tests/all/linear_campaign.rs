//! Linear time against brute force: random models with random formulas, claims, accepting and progress labels.
//!
//! The program is asked as a user asks it, about formulas, claims and the cycles of labels at once: each pair of model and formula
//! with reduction, without, by nested search with reduction, and with weak fairness; and in turn, so that each way is
//! tried on more than 250 pairs, in the other ways of [`WAYS`]. What it says must be the truth
//! (`stubborn_oracle::linear`), about more than 1,200 pairs of model and formula per test run. A pair on which
//! it is wrong is shrunk. One of the ways, in turn, is asked again with the packed engine, and all of the report must be the same.
//! `STUBBORN_TIMES` makes the campaign longer, `STUBBORN_SEED` repeats one model.
//!
//! It was tried out by planting faults: with V, I, L, the closure of claims under stuttering, or a half of what is
//! visible left out, it fails.

use crate::common::{Files, Run, stubborn_with, whatever_the_engine};
use serde_json::Value;
use stubborn_ltl::Formula;
use stubborn_oracle::campaign::{SEED_VARIABLE, fail, seeds};
use stubborn_oracle::linear::Belongs;
use stubborn_oracle::promela::{Pairs, Truths, shrink_model};

/// Models with more states are passed over.
const LIMIT: usize = 250;

/// Formulas per model.
const FORMULAS: usize = 8;

/// The ways to ask, and whether only fair runs count.
const WAYS: [(&[&str], usize); 12] = [
    (&[], 0),
    (&["--reduction", "none"], 0),
    (&["--search", "dfs"], 0),
    (&["--fair"], 1),
    // In turn.
    (&["--guided", "always"], 0),
    (&["--optimise", "none"], 0),
    (&["--search", "dfs", "--reduction", "none"], 0),
    (&["--tester"], 0),
    (&["--fair", "--reduction", "none"], 1),
    // As if the models were large.
    (&["--first-look", "3", "--guided", "never"], 0),
    (&["--first-look", "1", "--reduction", "none"], 0),
    (&["--first-look", "2", "--fair"], 1),
];

/// So many of the ways are tried on every model, and so many of the others.
const ALWAYS: usize = 4;
const IN_TURN: usize = 2;

/// Claims per model.
const CLAIMS: usize = 3;

/// Asks the program.
fn ask(pairs: &Pairs, way: &[&str], files: &Files) -> Run {
    let model = files.write("model.pml", pairs.text());
    let formulas: Vec<String> = pairs.formulas.iter().map(|formula| pairs.show(formula)).collect();
    let mut arguments = vec!["check", &model, "--json"];
    arguments.extend(["linear", "acceptance", "non-progress"].iter().flat_map(|word| ["--question", word]));
    arguments.extend(formulas.iter().flat_map(|formula| ["--ltl", formula]));
    arguments.extend(way);
    stubborn_with(arguments)
}

/// Whether both engines say the same, numbers and runs included; and for how many searches of the packed one there were keys.
fn compare_engines(pairs: &Pairs, way: &[&str], files: &Files) -> Result<usize, String> {
    let [interpreted, packed] = ["interpreter", "packed"].map(|engine| {
        let way: Vec<&str> = way.iter().copied().chain(["--engine", engine]).collect();
        ask(pairs, &way, files).json()
    });
    let phases = packed["phases"].as_array().into_iter().flatten();
    let n_packed = phases.filter(|phase| phase["engine"] == "packed").count();
    let [interpreted, packed] = [interpreted, packed].map(whatever_the_engine);
    if interpreted == packed {
        return Ok(n_packed);
    }
    Err(format!("{way:?}: engines differ: {interpreted:#}\n{packed:#}\n{}", pairs.text()))
}

/// What the program says: the verdicts on the formulas, on the claims, on acceptance and on progress, and how many states of
/// the model it found for each.
fn answers(pairs: &Pairs, way: &[&str], files: &Files) -> Result<Vec<(String, u64)>, String> {
    let run = ask(pairs, way, files);
    if run.out.is_empty() {
        return Err(run.err);
    }
    let json = run.json();
    let results = json["results"].as_array().ok_or_else(|| run.out.clone())?;
    let answer = |result: &Value| {
        let word = result["verdict"].as_str().unwrap_or("?").to_owned();
        (word, result["product"]["system_states"].as_u64().unwrap_or(0))
    };
    Ok(results.iter().filter(|result| result["question"] == "linear").map(answer).collect())
}

/// The truth in the order of the answers.
fn expected(truths: &Truths, fair: usize) -> Vec<bool> {
    let properties = truths.formulas.iter().chain(&truths.claims).map(|both| both[fair]);
    properties.chain([truths.acceptance[fair], truths.progress[fair]]).collect()
}

/// What is wrong with what the program says, if anything, and the answers.
fn judge(pairs: &Pairs, truths: &Truths, way: usize, files: &Files) -> Result<Vec<(String, u64)>, String> {
    let (arguments, fair) = WAYS[way];
    let answers = answers(pairs, arguments, files).map_err(|error| format!("{arguments:?}: {error}"))?;
    let expected = expected(truths, fair);
    if answers.len() != expected.len() {
        return Err(format!("{arguments:?}: {} answers", answers.len()));
    }
    for (i, ((word, _), holds)) in answers.iter().zip(&expected).enumerate() {
        if word != if *holds { "holds" } else { "violated" } {
            let formulas = pairs.formulas.iter().map(|formula| pairs.show(formula));
            let labels = ["acceptance", "non-progress"].map(str::to_owned);
            let mut all = formulas.chain(pairs.claims.iter().cloned()).chain(labels);
            let what = all.nth(i).unwrap_or_default();
            return Err(format!("{arguments:?}: {what}: truth {holds}, said: {word}"));
        }
    }
    Ok(answers)
}

/// A smaller model and a single formula on which the program is wrong in the same way.
fn shrunk(pairs: &Pairs, way: usize, files: &Files) -> String {
    let is_wrong = |pairs: &Pairs| {
        let truths = pairs.truths(Belongs::ToAll, LIMIT)?;
        judge(pairs, &truths, way, files).err().filter(|what| what.contains("truth"))
    };
    let none = Pairs { model: pairs.model.clone(), formulas: Vec::new(), claims: Vec::new() };
    let one = |formula: &Formula| Pairs { formulas: vec![formula.clone()], ..none.clone() };
    let claim = |claim: &String| Pairs { claims: vec![claim.clone()], ..none.clone() };
    let all = std::iter::once(none.clone()).chain(pairs.formulas.iter().map(one));
    let all: Vec<Pairs> = all.chain(pairs.claims.iter().map(claim)).collect();
    let Some(mut best) = all.into_iter().find(|pairs| is_wrong(pairs).is_some()) else {
        return "not shrunk".to_owned();
    };
    let first = best.clone();
    best.model = shrink_model(&first.model, 1500, |model| {
        is_wrong(&Pairs { model: model.clone(), ..first.clone() }).is_some()
    });
    // A part of the formula may do.
    while let Some(formula) = best.formulas.first() {
        let parts: Vec<Formula> = formula.parts().into_iter().cloned().collect();
        let smaller = |part: Formula| Pairs { formulas: vec![part], ..best.clone() };
        let Some(smaller) = parts.into_iter().map(smaller).find(|p| is_wrong(p).is_some()) else { break };
        best = smaller;
    }
    format!("{}\n{}", is_wrong(&best).unwrap_or_default(), best.text())
}

#[test]
fn random_pairs_are_judged_as_brute_force_judges_them() {
    let files = Files::new("linear-campaign");
    let (mut n_pairs, mut n_models, mut n_violated, mut n_reduced, mut n_unfair) = (0, 0, 0, 0, 0);
    let (mut n_claims, mut n_fulfilled) = (0, 0);
    let mut n_asked = [0; WAYS.len()];
    let mut n_packed = 0;
    let mut wrong = Vec::new();
    for seed in seeds(200) {
        let pairs = Pairs::random(seed, FORMULAS).with_claims(seed, CLAIMS);
        let Some(truths) = pairs.truths(Belongs::ToAll, LIMIT) else { continue };
        n_models += 1;
        n_pairs += pairs.formulas.len();
        n_claims += truths.claims.len();
        n_fulfilled += truths.claims.iter().filter(|both| !both[0]).count();
        n_violated += truths.formulas.iter().filter(|both| !both[0]).count();
        n_unfair += truths.formulas.iter().filter(|both| both[0] != both[1]).count();
        let others = WAYS.len() - ALWAYS;
        let in_turn = (0..IN_TURN).map(|i| ALWAYS + (IN_TURN * n_models + i) % others);
        for way in (0..ALWAYS).chain(in_turn) {
            n_asked[way] += pairs.formulas.len();
            match judge(&pairs, &truths, way, &files) {
                Ok(answers) if way == 0 => {
                    let states = |word: &str| {
                        answers.iter().filter(|(w, _)| w == word).map(|(_, states)| *states as usize).min()
                    };
                    n_reduced += usize::from(states("holds").is_some_and(|n| n < truths.states));
                }
                Ok(_) => {}
                Err(what) => {
                    let small = shrunk(&pairs, way, &files);
                    let what = format!("seed {seed:#x}: {what}\n{small}");
                    println!("{what}");
                    wrong.push(what);
                    break;
                }
            }
        }
        match compare_engines(&pairs, WAYS[n_models % WAYS.len()].0, &files) {
            Ok(n) => n_packed += n,
            Err(what) => wrong.push(format!("seed {seed:#x}: {what}")),
        }
        assert!(wrong.len() < 5, "too much is wrong:\n{}", wrong.join("\n"));
    }
    for ((way, _), n) in WAYS.iter().zip(n_asked) {
        println!("{n} pairs: {way:?}");
    }
    println!(
        "{n_pairs} pairs of {n_models} models; {n_violated} violated, {n_unfair} otherwise with fairness; \
         {n_reduced} models reduced; {n_claims} claims, {n_fulfilled} fulfilled; {n_packed} searches with keys"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if std::env::var_os(SEED_VARIABLE).is_none() {
        assert!(n_pairs >= 1200, "only {n_pairs} pairs");
        assert!(n_asked.iter().all(|&n| n >= 250), "{n_asked:?}");
        assert!(n_packed >= 1200, "only {n_packed} searches with keys");
        assert!(n_violated * 5 > n_pairs && n_violated * 5 < n_pairs * 4, "{n_violated} violated");
        assert!(n_unfair * 400 > n_pairs && n_reduced * 5 > n_models, "{n_unfair}, {n_reduced}");
        assert!(n_fulfilled * 5 > n_claims && n_fulfilled * 5 < n_claims * 4, "{n_fulfilled} of {n_claims}");
    }
}

#[test]
fn of_a_model_with_one_run_a_formula_or_its_negation_holds_and_not_both() {
    let files = Files::new("linear-single");
    let (mut n_pairs, mut n_hold) = (0, 0);
    for seed in seeds(25) {
        let mut pairs = Pairs::single(seed, 4);
        let not = |formula: &Formula| Formula::Not(Box::new(formula.clone()));
        let negated: Vec<Formula> = pairs.formulas.iter().map(not).collect();
        pairs.formulas.extend(negated);
        for (way, _) in WAYS {
            let answers = answers(&pairs, way, &files).unwrap_or_else(|error| panic!("{error}"));
            for i in 0..4 {
                let both = [&*answers[i].0, &*answers[4 + i].0];
                let formula = pairs.show(&pairs.formulas[i]);
                if both != ["holds", "violated"] && both != ["violated", "holds"] {
                    let what = format!("{way:?}: {formula}: {both:?}\n{}", pairs.text());
                    let test = "of_a_model_with_one_run_a_formula_or_its_negation_holds_and_not_both";
                    fail("linear_campaign", test, seed, what);
                }
                n_pairs += 1;
                n_hold += usize::from(both[0] == "holds");
            }
        }
    }
    println!("{n_hold} of {n_pairs} hold");
    assert!(
        n_pairs <= 4 * WAYS.len() || (n_hold * 5 > n_pairs && n_hold * 5 < n_pairs * 4),
        "{n_hold} of {n_pairs}"
    );
}
