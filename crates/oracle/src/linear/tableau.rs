//! Whether a run violates a formula, by truth assignments.
//!
//! **Implements** the tableau construction of the textbooks (Lichtenstein and Pnueli 1985; Clarke, Grumberg and
//! Peled, section 4.2) on an explicit graph: a node is a state together with a guess, for every temporal
//! subformula, whether it holds in the *next* state (for `X a`: whether `a` does). With the letter, a guess determines the truth of all
//! subformulas here; it must be the truth there. What is promised must come: a formula `a U b` that holds is
//! followed by `b`, and a formula `a V b` that does not by a state without `b`.
//! **Differs from the text**: all operators have cases of their own, nothing is rewritten, no automaton is made.
//! **Checked by** the meaning of formulas on single runs, in both directions (`tests/all/linear_brute.rs`).

use super::{Arc, Marked, Run, Runs};
use std::collections::HashMap;
use stubborn_ltl::{Formula, Letter};

/// Formulas with more temporal operators are not decided: there are two to that power guesses per state.
pub const MAX_TEMPORAL: usize = 14;

/// Marks below are those of fairness.
const FIRST_PROMISE: usize = 64;

/// A run that violates a formula; `None` if all runs satisfy it. With `is_fair`, weakly fair runs only.
///
/// # Panics
/// If the formula has more than [`MAX_TEMPORAL`] temporal operators.
pub fn violation(runs: &Runs, formula: &Formula, is_fair: bool) -> Option<Run> {
    let mut temporal = Vec::new();
    collect(formula, &mut temporal);
    assert!(temporal.len() <= MAX_TEMPORAL, "{} temporal operators", temporal.len());
    let n_guesses = 1_usize << temporal.len();
    let node = |state: usize, guess: usize| state * n_guesses + guess;
    let truths = truths(runs, formula, &temporal, n_guesses);
    // By letter and by what holds of the temporal subformulas there: the guesses.
    let mut agreeing: HashMap<(Letter, usize), Vec<usize>> = HashMap::new();
    for (&letter, truths) in &truths {
        for (guess, truth) in truths.iter().enumerate() {
            agreeing.entry((letter, truth.temporal)).or_default().push(guess);
        }
    }
    let nobody = Vec::new();
    let mut arcs = Vec::with_capacity(runs.n_states() * n_guesses);
    for state in 0..runs.n_states() {
        let here = &truths[&runs.letters[state]];
        for (guess, truth) in here.iter().enumerate() {
            let mut all = Vec::new();
            for step in runs.outgoing(state) {
                let next = agreeing.get(&(runs.letters[step.target], guess)).unwrap_or(&nobody);
                let marks = truth.promises | runs.fair_marks(state, step);
                all.extend(next.iter().map(|&guess| Arc { target: node(step.target, guess), marks }));
            }
            arcs.push(all);
        }
    }
    let first = truths[&runs.letters[0]].iter().enumerate();
    let initial = first.filter(|(_, truth)| !truth.whole).map(|(guess, _)| node(0, guess)).collect();
    let promises = ((1_u128 << temporal.len()) - 1) << FIRST_PROMISE;
    let all = if is_fair { promises | Runs::FAIR } else { promises };
    let (stem, cycle) = Marked { initial, arcs }.lasso(all)?;
    let states = |nodes: Vec<usize>| nodes.into_iter().map(|node| node / n_guesses).collect();
    Some(Run { stem: states(stem), cycle: states(cycle) })
}

/// What a guess and a letter determine.
struct Truth {
    /// Of the formula.
    whole: bool,
    /// What guesses about the temporal subformulas that were made before must have said, as bits.
    temporal: usize,
    /// Marks of the temporal subformulas of which nothing is outstanding.
    promises: u128,
}

/// For every letter that occurs, what every guess determines.
fn truths(
    runs: &Runs,
    formula: &Formula,
    temporal: &[&Formula],
    n_guesses: usize,
) -> HashMap<Letter, Vec<Truth>> {
    let mut all = HashMap::new();
    for &letter in &runs.letters {
        all.entry(letter).or_insert_with(|| {
            let truth = |guess: usize| {
                let here = Here { temporal, letter, guess };
                let bits = temporal.iter().enumerate();
                Truth {
                    whole: here.holds(formula),
                    temporal: bits.clone().fold(0, |all, (i, f)| all | usize::from(here.now(f)) << i),
                    promises: bits
                        .filter(|(_, f)| here.is_settled(f))
                        .fold(0, |all, (i, _)| all | 1 << (FIRST_PROMISE + i)),
                }
            };
            (0..n_guesses).map(truth).collect()
        });
    }
    all
}

/// The temporal subformulas, each once.
fn collect<'f>(formula: &'f Formula, out: &mut Vec<&'f Formula>) {
    let is_temporal = match formula {
        Formula::True | Formula::False | Formula::Atom(_) => false,
        Formula::Not(_) | Formula::And(_) | Formula::Or(_) => false,
        Formula::Implies(..) | Formula::Equivalent(..) => false,
        Formula::Next(_) | Formula::Always(_) | Formula::Eventually(_) => true,
        Formula::Until(..) | Formula::WeakUntil(..) | Formula::Release(..) => true,
    };
    if is_temporal && !out.contains(&formula) {
        out.push(formula);
    }
    for part in formula.parts() {
        collect(part, out);
    }
}

/// A letter and a guess.
struct Here<'a> {
    temporal: &'a [&'a Formula],
    letter: Letter,
    guess: usize,
}

impl Here<'_> {
    /// What a guess about a temporal formula that is made before is about: whether the formula holds here, or
    /// for `X a`, whether `a` does.
    fn now(&self, formula: &Formula) -> bool {
        match formula {
            Formula::Next(a) => self.holds(a),
            other => self.holds(other),
        }
    }

    /// What the guess says about the next state.
    fn later(&self, formula: &Formula) -> bool {
        let i = self.temporal.iter().position(|f| *f == formula).expect("all were collected");
        self.guess >> i & 1 == 1
    }

    fn holds(&self, formula: &Formula) -> bool {
        match formula {
            Formula::True => true,
            Formula::False => false,
            Formula::Atom(number) => self.letter >> number & 1 == 1,
            Formula::Not(a) => !self.holds(a),
            Formula::And(parts) => parts.iter().all(|part| self.holds(part)),
            Formula::Or(parts) => parts.iter().any(|part| self.holds(part)),
            Formula::Implies(a, b) => !self.holds(a) || self.holds(b),
            Formula::Equivalent(a, b) => self.holds(a) == self.holds(b),
            Formula::Next(_) => self.later(formula),
            Formula::Always(a) => self.holds(a) && self.later(formula),
            Formula::Eventually(a) => self.holds(a) || self.later(formula),
            Formula::Until(a, b) | Formula::WeakUntil(a, b) => {
                self.holds(b) || (self.holds(a) && self.later(formula))
            }
            Formula::Release(a, b) => self.holds(b) && (self.holds(a) || self.later(formula)),
        }
    }

    /// Whether nothing is outstanding: least fixed points that hold have come, greatest ones that do not hold
    /// have been refuted.
    fn is_settled(&self, formula: &Formula) -> bool {
        let holds = self.holds(formula);
        match formula {
            Formula::Eventually(a) | Formula::Until(_, a) => !holds || self.holds(a),
            Formula::Always(a) => holds || !self.holds(a),
            Formula::WeakUntil(a, b) => holds || (!self.holds(a) && !self.holds(b)),
            Formula::Release(_, b) => holds || !self.holds(b),
            _ => true,
        }
    }
}
