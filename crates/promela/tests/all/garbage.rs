//! No text makes the front-end panic, and no network that it accepts makes the interpreter panic.
//!
//! `STUBBORN_SEED` and `STUBBORN_SECONDS` make a longer campaign of it, `STUBBORN_MODELS` one over other
//! models.

use std::time::{Duration, Instant};
use stubborn_promela::{Options, compile};
use stubborn_text::{Limits, NoLoader, render};

/// A small generator of random numbers (Marsaglia's xorshift): tests must not depend on one from outside.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Pieces that are likely to confuse.
const PIECES: [&str; 30] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    "::",
    "->",
    "if",
    "fi",
    "do",
    "od",
    "atomic",
    "d_step",
    "unless",
    "else",
    "goto L",
    "break",
    "#define x x",
    "#if 1",
    "byte",
    "chan",
    "?",
    "!",
    "\"",
    "é",
    "99999999999",
    "run",
    ":",
];

fn mutate(text: &str, random: &mut Random) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(chars.len() + 1);
        let length = random.below(12).min(chars.len() - at);
        match random.below(4) {
            0 => drop(chars.drain(at..at + length)),
            1 => {
                let piece = PIECES[random.below(PIECES.len())];
                drop(chars.splice(at..at, format!(" {piece} ").chars()));
            }
            2 => {
                let copied: Vec<char> = chars[at..at + length].to_vec();
                let to = random.below(chars.len() + 1);
                drop(chars.splice(to..to, copied));
            }
            _ => {
                if let Some(c) = chars.get_mut(at) {
                    *c = char::from(32 + random.below(95) as u8);
                }
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn mutated_models_never_panic() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let models = std::env::var("STUBBORN_MODELS")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models").to_owned());
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(models).expect("the models").flatten() {
        if entry.path().extension().is_some_and(|e| e == "pml") {
            texts.push(String::from_utf8_lossy(&std::fs::read(entry.path()).expect("a text")).into_owned());
        }
    }
    texts.sort();
    let options = Options { limits: Limits { vector: 4096, ..Limits::default() }, ..Options::default() };
    let mut random = Random(number("STUBBORN_SEED", 0x9e37_79b9_7f4a_7c15));
    let seconds = Duration::from_secs(number("STUBBORN_SECONDS", 4));
    let begin = Instant::now();
    let (mut n_tried, mut n_accepted) = (0, 0);
    while begin.elapsed() < seconds {
        let text = mutate(&texts[random.below(texts.len())], &mut random);
        let compiled = compile("m.pml", &text, &NoLoader, &options);
        compiled.diagnostics.iter().for_each(|d| drop(render(d, &compiled.map)));
        n_tried += 1;
        let Some(network) = compiled.network else { continue };
        n_accepted += 1;
        let mut state = network.initial_state().expect("it was tried");
        for _ in 0..30 {
            let mut successors = network.expand(&state).successors;
            if successors.is_empty() {
                break;
            }
            state = successors.swap_remove(random.below(successors.len())).state;
        }
    }
    assert!(n_tried > 500 && n_accepted > 50, "only {n_tried} tried, {n_accepted} accepted");
}
