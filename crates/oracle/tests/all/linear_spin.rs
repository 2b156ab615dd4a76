//! What SPIN says about claims, formulas and cycles.
//!
//! `linear/examples.csv` and `linear/models.csv` hold what SPIN 6.5.2 says about every `ltl`, `never`, `accept`
//! and `progress` property of the examples that come with it and of our own small models: `spin -a -o1 -o2
//! -o3`, `pan -a` or `pan -l`, with and without `-DNOREDUCE`, with and without `-f`, 60 seconds each. A complete
//! search is written with its states and transitions. They were written by
//!
//! ```text
//! cargo test -p stubborn-oracle --test all linear_spin::record -- --ignored --nocapture
//! ```
//!
//! `STUBBORN_ONLY=leader` records the rows of such models again and keeps the others. SPIN as Debian builds it
//! does not know `X`; formulas with it are listed as refused. The claim of page 343 of the book, in a file of its
//! own, is not listed: SPIN 6 refuses it, and the model of page 342 that it is meant for.
//!
//! The judges are judged by each other: on small models, brute force (`stubborn_oracle::linear`) says what SPIN
//! says, and the product of network and claim has the number of states that SPIN counts.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use stubborn_ltl::{Propositions, parse};
use stubborn_oracle::campaign::seeds;
use stubborn_oracle::linear::{Belongs, Runs, acceptance_cycle, fulfilment, non_progress_cycle, violation};
use stubborn_oracle::promela::Pairs;
use stubborn_oracle::promela::formulas::{formulas, with_claims};
use stubborn_oracle::promela::properties::{
    Directory, EXAMPLES, Figure, HEADING, Property, Row, Source, WAYS, named_formulas, properties,
};
use stubborn_oracle::promela::spin;
use stubborn_oracle::promela::spin_linear::{Asked, Verifier};
use stubborn_promela::{Options, compile};

/// Numbers of states that differ, and why.
const EXCEPTIONS: [(&str, &str, &str); 1] = [(
    "d20_formula_reads.pml",
    "two",
    "a claim that is chosen among several begins in SPIN where another one begins",
)];

/// How long SPIN's verifier may take.
const SECONDS: usize = 60;

/// The environment variable that records only models whose names contain its value.
const ONLY: &str = "STUBBORN_ONLY";

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/linear")
}

fn our_models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models")
}

/// Asks SPIN about all properties of some models, and writes the table. Rows of other models stay.
fn record(sources: &[Source], table: &str) {
    let only = std::env::var(ONLY).unwrap_or_default();
    let mut text = format!("{HEADING}\n");
    for source in sources {
        if !source.name.contains(&only) {
            let kept = std::fs::read_to_string(data().join(table)).unwrap_or_default();
            let kept = Row::table(&kept).into_iter().filter(|row| row.model == source.name);
            kept.for_each(|row| writeln!(text, "{row}").expect("a string"));
            continue;
        }
        let properties = properties(&source.compile()).unwrap_or_else(|problems| {
            println!("{}: refused by us:\n{problems}", source.name);
            named_formulas(&source.text)
        });
        for row in ask(source, &properties) {
            writeln!(text, "{row}").expect("a string");
        }
    }
    std::fs::create_dir_all(data()).expect("a directory");
    std::fs::write(data().join(table), text).expect("the table can be written");
}

/// Asks SPIN about all properties of a model: of the model as it is; or, if SPIN does not accept one of its
/// formulas, of the model with one formula at a time.
fn ask(source: &Source, properties: &[Property]) -> Vec<Row> {
    if properties.is_empty() {
        return Vec::new();
    }
    let whole = Verifier::new(&source.text, Some(&source.directory));
    let mut rows = Vec::new();
    for property in properties {
        let row = match (&whole, &property.asked) {
            (Err(_), Asked::Claim(Some(name))) => {
                let one = source.with_only(name);
                match Verifier::new(&one.text, Some(&one.directory)) {
                    Ok(verifier) => Row::ask(&source.name, property, &verifier.quick(), SECONDS),
                    Err(why) => Row::refused(&source.name, property, why),
                }
            }
            (Err(why), _) => Row::refused(&source.name, property, why.clone()),
            (Ok(verifier), _) => Row::ask(&source.name, property, verifier, SECONDS),
        };
        println!("{row}");
        rows.push(row);
    }
    rows
}

#[test]
#[ignore = "long: asks SPIN about everything and writes the table"]
fn record_the_examples() {
    let root = Path::new(EXAMPLES);
    record(&Source::all(root).expect("the examples are there"), "examples.csv");
}

#[test]
#[ignore = "long: asks SPIN about everything and writes the table"]
fn record_our_models() {
    record(&Source::all(&our_models()).expect("they are there"), "models.csv");
}

/// The rows of a table.
fn table(name: &str) -> Vec<Row> {
    Row::table(&std::fs::read_to_string(data().join(name)).expect("the table is there"))
}

/// What brute force says, full and fair, with the number of product states where there is a claim.
struct Truth {
    holds: [bool; 2],
    states: Option<usize>,
}

/// Decides a property of a model with at most `limit` states. Formulas are decided twice: by truth assignments,
/// and by the claim that SPIN made of them, whose text is `claims`.
fn truth(source: &Source, asked: &Asked, claims: &str, limit: usize) -> Result<Option<Truth>, String> {
    let text = with_claims(&source.text, claims);
    let written = formulas(&source.text);
    let formula = match asked {
        Asked::Claim(name) => written.iter().find(|w| w.name == *name),
        _ => None,
    };
    let mut names = Propositions::new();
    let formula = formula.map(|w| parse(&w.formula, &mut names)).transpose().map_err(|e| e.to_string())?;
    let options =
        Options { invariants: names.iter().map(|p| p.text.clone()).collect(), ..Options::default() };
    let compiled = compile("asked.pml", &text, &Directory(source.directory.clone()), &options);
    let problems = || compiled.diagnostics.iter().map(|d| format!("{}\n", d.message)).collect::<String>();
    let network = compiled.network.as_ref().ok_or_else(problems)?;
    let Some((runs, states)) = Runs::of_network(network, &compiled.invariants, Belongs::ToFirst, limit)
    else {
        return Ok(None);
    };
    let both = |decide: &dyn Fn(bool) -> bool| Truth { holds: [decide(false), decide(true)], states: None };
    let Asked::Claim(name) = asked else {
        return Ok(Some(match asked {
            Asked::Acceptance => both(&|is_fair| acceptance_cycle(&runs, is_fair).is_none()),
            _ => both(&|is_fair| non_progress_cycle(&runs, is_fair).is_none()),
        }));
    };
    // SPIN calls a formula without a name `ltl_0`.
    let is_asked = |claim: &&stubborn_network::Claim| {
        claim.name == *name || (name.is_none() && claim.name.as_deref() == Some("ltl_0"))
    };
    let claim = network.claims.iter().find(is_asked).ok_or("there is no such claim")?;
    let product = |is_fair| fulfilment(network, claim, &runs, &states, is_fair);
    let by_claim = both(&|is_fair| product(is_fair).fulfilment.is_none());
    if let Some(formula) = &formula {
        let by_formula = both(&|is_fair| violation(&runs, formula, is_fair).is_none());
        if by_claim.holds != by_formula.holds {
            return Err(format!("by claim {:?}, by formula {:?}", by_claim.holds, by_formula.holds));
        }
    }
    Ok(Some(Truth { states: Some(product(false).states), ..by_claim }))
}

/// Compares brute force with what SPIN is recorded to say; SPIN is needed for the claims of formulas. How many
/// verdicts and how many numbers of states are equal.
fn compare_with_brute_force(root: &Path, table_name: &str, limit: usize) -> (usize, usize) {
    let (mut n_verdicts, mut n_states) = (0, 0);
    let mut differences = Vec::new();
    // The model in hand, with the claims that SPIN made of its formulas.
    let mut known: Option<(String, String)> = None;
    for row in table(table_name) {
        let is_small = match row.figures[0] {
            Figure::Holds(states, _) => states <= limit,
            _ => true,
        };
        let Some(source) = is_small.then(|| Source::read(root, &row.model).ok()).flatten() else {
            println!("{} {}: not compared", row.model, row.name);
            continue;
        };
        if known.as_ref().is_none_or(|(model, _)| *model != row.model) {
            let verifier = Verifier::new(&source.text, Some(&source.directory));
            known = verifier.ok().map(|verifier| (row.model.clone(), verifier.claims()));
        }
        let (source, claims) = match &known {
            Some((_, claims)) => (source, claims.clone()),
            None => {
                // One of its formulas is refused.
                let one = source.with_only(&row.name);
                let Ok(verifier) = Verifier::new(&one.text, Some(&one.directory)) else { continue };
                (one, verifier.claims())
            }
        };
        let truth = match truth(&source, &row.asked(), &claims, limit) {
            Ok(Some(truth)) => truth,
            Ok(None) => {
                println!("{} {}: not compared: more than {limit} states", row.model, row.name);
                continue;
            }
            Err(why) => {
                differences.push(format!("{} {} {}: {why}", row.model, row.kind, row.name));
                continue;
            }
        };
        for (holds, figure) in [(truth.holds[0], &row.figures[0]), (truth.holds[1], &row.figures[2])] {
            let is_equal = match figure {
                Figure::Holds(..) => holds,
                Figure::Violated => !holds,
                Figure::Unknown(_) => continue,
            };
            n_verdicts += usize::from(is_equal);
            if !is_equal {
                differences.push(format!("{row}: brute force: {:?}", truth.holds));
            }
        }
        if let (Figure::Holds(states, _), Some(ours)) = (&row.figures[0], truth.states) {
            n_states += usize::from(ours == *states);
            let exception =
                EXCEPTIONS.iter().find(|(model, name, _)| (*model, *name) == (&row.model, &row.name));
            if let Some((_, _, why)) = exception {
                println!("{row}: the product has {ours} states: {why}");
            } else if ours != *states {
                differences.push(format!("{row}: the product has {ours} states"));
            }
        }
    }
    println!("{n_verdicts} verdicts and {n_states} numbers of states are equal");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    (n_verdicts, n_states)
}

/// Compares brute force with SPIN on the models of some seeds, one formula each.
fn compare_random(seeds: impl IntoIterator<Item = u64>) {
    if !spin::is_there() {
        println!("not compared: there is no spin or no gcc");
        return;
    }
    let (mut n_equal, mut n_violated, mut n_fair, mut differences) = (0, 0, 0, Vec::new());
    for seed in seeds {
        let pairs = Pairs::random(seed, 1);
        let Some(truths) = pairs.truths(Belongs::ToFirst, 2000) else { continue };
        let formula = pairs.show(&pairs.formulas[0]);
        let text = format!("{}\nltl p {{ {formula} }}\n", pairs.model);
        let Ok(verifier) = Verifier::new(&text, None).map(Verifier::quick) else { continue };
        let asked = Asked::Claim(Some("p".into()));
        let say = |way| verifier.ask(&asked, way, 10).ok().map(|said| !said.is_violated());
        let Some(holds) = say(WAYS[0]) else { continue };
        if holds == truths.formulas[0][0] {
            n_equal += 1;
        } else {
            differences.push(format!("seed {seed:#x}: SPIN says {holds}\n{text}"));
        }
        n_violated += usize::from(!holds);
        let fair = say(WAYS[2]);
        if fair.is_some_and(|holds| holds != truths.formulas[0][1]) {
            n_fair += 1;
            println!("seed {seed:#x}: with fairness SPIN says {fair:?}, truth {:?}\n{text}", truths.formulas);
        }
    }
    println!("{n_equal} equal, {n_violated} of them violated; {n_fair} different with fairness");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn brute_force_says_of_random_models_what_spin_says() {
    compare_random(0..12);
}

#[test]
#[ignore = "long: a hundred models for each of STUBBORN_TIMES"]
fn brute_force_says_of_many_random_models_what_spin_says() {
    compare_random(seeds(100));
}

#[test]
fn brute_force_says_of_our_models_what_spin_says() {
    if spin::is_there() {
        compare_with_brute_force(&our_models(), "models.csv", 100_000);
    }
}

#[test]
fn brute_force_says_of_the_examples_what_spin_says() {
    if spin::is_there() && Path::new(EXAMPLES).is_dir() {
        compare_with_brute_force(Path::new(EXAMPLES), "examples.csv", 30_000);
    }
}
