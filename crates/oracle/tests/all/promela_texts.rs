//! The harness of the fuzz targets (`fuzz/`), on a corpus of models and on what their tokens can be made into.
//!
//! `STUBBORN_SECONDS` makes a longer campaign of it; `STUBBORN_SEED` begins it elsewhere.

use std::time::{Duration, Instant};
use stubborn_oracle::Rng;
use stubborn_oracle::promela::{Model, directives_never_panic, never_panics};

/// Models of the front-end's tests.
fn corpus() -> Vec<String> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../promela/tests/models");
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the models").flatten() {
        if entry.path().extension().is_some_and(|e| e == "pml") {
            texts.push(String::from_utf8_lossy(&std::fs::read(entry.path()).expect("a text")).into_owned());
        }
    }
    texts.sort();
    texts
}

/// Words, numbers, strings, and single other characters; white space stays with what follows.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in text.chars() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let is_same = is_word(c) && is_word(last) || last.is_whitespace() && !tokens.is_empty();
        match tokens.last_mut() {
            Some(token) if is_same => token.push(c),
            _ => tokens.push(c.to_string()),
        }
        last = c;
    }
    tokens
}

/// Takes tokens away, doubles them, exchanges them, or puts tokens of another model in their place.
fn mutate(tokens: &[String], other: &[String], rng: &mut Rng) -> String {
    let mut tokens = tokens.to_vec();
    for _ in 0..rng.between(1, 5) {
        if tokens.is_empty() || other.is_empty() {
            break;
        }
        let (at, from) = (rng.below(tokens.len()), rng.below(other.len()));
        let length = rng.between(1, 6);
        let end = (at + length).min(tokens.len());
        let piece = other[from..(from + length).min(other.len())].to_vec();
        match rng.below(5) {
            0 => drop(tokens.drain(at..end)),
            1 => drop(tokens.splice(at..at, tokens[at..end].to_vec())),
            2 => {
                let with = rng.below(tokens.len());
                tokens.swap(at, with);
            }
            3 => drop(tokens.splice(at..at, piece)),
            _ => drop(tokens.splice(at..end, piece)),
        }
    }
    tokens.concat()
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn the_harness_runs_on_its_corpus() {
    let texts = corpus();
    let n_accepted = texts.iter().filter(|text| never_panics(text)).count();
    assert!(n_accepted == texts.len() && n_accepted >= 110, "{n_accepted} of {}", texts.len());
}

#[test]
fn random_models_are_accepted() {
    let n_accepted = (0..300).filter(|&seed| never_panics(&Model::random(&mut Rng::new(seed)).to_string()));
    let n_accepted = n_accepted.count();
    assert!(n_accepted >= 290, "only {n_accepted} of 300");
}

#[test]
fn mutated_tokens_never_panic() {
    let mut rng = Rng::new(number("STUBBORN_SEED", 1));
    let mut texts: Vec<Vec<String>> = corpus().iter().map(|text| tokens(text)).collect();
    texts.extend((0..50).map(|_| tokens(&Model::random(&mut rng).to_string())));
    let seconds = Duration::from_secs(number("STUBBORN_SECONDS", 4));
    let (begin, mut n_tried, mut n_accepted, mut slowest) = (Instant::now(), 0, 0, Duration::ZERO);
    while begin.elapsed() < seconds {
        let (one, other) = (rng.below(texts.len()), rng.below(texts.len()));
        let text = mutate(&texts[one], &texts[other], &mut rng);
        let start = Instant::now();
        n_accepted += usize::from(never_panics(&text));
        n_tried += 1;
        if start.elapsed() > slowest {
            slowest = start.elapsed();
            assert!(slowest < Duration::from_secs(20), "{slowest:?}:\n{text}");
        }
    }
    println!("{n_tried} texts, {n_accepted} accepted, the slowest took {slowest:?}");
    assert!(n_tried > 300 && n_accepted > 30, "only {n_tried} tried, {n_accepted} accepted");
}

/// What directives are made of.
const PIECES: [&str; 24] = [
    "#define ",
    "#undef ",
    "#if ",
    "#ifdef ",
    "#ifndef ",
    "#else\n",
    "#elif ",
    "#endif\n",
    "#include ",
    "\\\n",
    "a",
    "b",
    "c(x,y)",
    "c(",
    ")",
    "(",
    "x##y",
    "#x",
    "defined(a)",
    "1",
    " && ",
    "\n",
    "\"",
    "/*",
];

#[test]
fn directives_of_any_kind_never_panic() {
    let mut rng = Rng::new(2);
    let mut n_accepted = 0;
    for _ in 0..20_000 {
        let text: String = (0..rng.between(1, 14)).map(|_| *rng.pick(&PIECES)).collect();
        n_accepted += usize::from(directives_never_panic(&text));
    }
    assert!(n_accepted > 20, "only {n_accepted} accepted");
}
