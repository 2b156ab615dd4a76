//! Does a formula, or an automaton with its complement, notice stuttering?
//!
//! **Implements**: a language L is closed under stuttering if and only if no word of L and no word outside of L
//! can be stretched to the same word. (Two words are equivalent under stuttering exactly if they have a common
//! stretching.) With an automaton A for L and one B for its complement that is emptiness of sl(A) ∩ sl(B),
//! where sl(A) may repeat the letter that it has just read without a step of A (Michaud and Duret-Lutz,
//! *Practical stutter-invariance checks for ω-regular languages*, 2015). No automaton is complemented: for
//! a formula, B is the automaton of its negation.
//!
//! A run of sl(A) must make infinitely many steps of A. Acceptance counts on steps only, and there is at least
//! one acceptance set, so that is so.
//!
//! **Differs from the text** in that the product is built at once: both automata have read the same last
//! letter, so a state is a state of A, a state of B and that letter. For one letter there are three moves: both
//! step, or one steps and the other repeats.
//!
//! **Checked by** `tests/all/stutter.rs`.

use crate::closure::letters;
use crate::{Automaton, Edge, Formula, Guard, Letter, Propositions, State, TranslateError, translate};
use rustc_hash::FxHashMap;

/// More edges in the product, and the question is left to the syntax.
const MAX_PRODUCT: usize = 2_000_000;

/// Whether stuttering is noticed, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuttering {
    /// Decided exactly: it is not noticed.
    Invariant,
    /// Decided exactly: it is noticed.
    Sensitive,
    /// The automata are too large for the exact decision, but there is no `X`, so it is not noticed.
    InvariantBySyntax,
    /// The automata are too large for the exact decision, and there is an `X`: not known.
    Unknown,
}

impl Stuttering {
    /// Whether it is certain that stuttering is not noticed.
    pub fn is_invariant(self) -> bool {
        matches!(self, Self::Invariant | Self::InvariantBySyntax)
    }

    /// Whether it was decided by automata rather than by looking for `X`.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Invariant | Self::Sensitive)
    }
}

/// Whether a formula notices stuttering: exactly if its automata are small, else by its syntax.
pub fn stuttering(formula: &Formula, propositions: &Propositions) -> Stuttering {
    let automata = || -> Result<(Automaton, Automaton), TranslateError> {
        let positive = translate(formula, propositions)?.buchi;
        Ok((positive, translate(&formula.clone().negated(), propositions)?.buchi))
    };
    let decided = automata().ok().and_then(|(a, b)| is_closed(&a, &b));
    match (decided, formula.has_next()) {
        (Some(true), _) => Stuttering::Invariant,
        (Some(false), _) => Stuttering::Sensitive,
        (None, false) => Stuttering::InvariantBySyntax,
        (None, true) => Stuttering::Unknown,
    }
}

/// Whether the language of `a` is closed under stuttering, where `b` accepts its complement; both are Büchi
/// automata over the same propositions. `None` if they are too large.
pub fn is_closed(a: &Automaton, b: &Automaton) -> Option<bool> {
    if !a.is_buchi() || !b.is_buchi() || a.propositions() != b.propositions() {
        return None;
    }
    let letters = letters(a.support() | b.support(), a.n_states().max(b.n_states())).ok()?;
    let mut product = Stretched {
        out: Automaton::new(Propositions::new(), 2),
        numbers: FxHashMap::default(),
        work: Vec::new(),
        n_edges: 0,
    };
    for &x in a.initial() {
        for &y in b.initial() {
            let state = product.add((x, y, None));
            product.out.add_initial(state);
        }
    }
    while let Some((x, y, last)) = product.work.pop() {
        let source = product.add((x, y, last));
        for &letter in &letters {
            let steps = |automaton: &Automaton, state: State| -> Vec<State> {
                let edges = automaton.edges(state).iter().filter(|e| e.guard.holds(letter));
                edges.map(|e| e.target).collect()
            };
            let (of_a, of_b) = (steps(a, x), steps(b, y));
            let (mark_a, mark_b) = (u64::from(a.is_accepting(x)), u64::from(b.is_accepting(y)) << 1);
            for &to in &of_a {
                for &other in &of_b {
                    product.edge(source, (to, other, Some(letter)), mark_a | mark_b);
                }
            }
            if last == Some(letter) {
                of_a.iter().for_each(|&to| product.edge(source, (to, y, last), mark_a));
                of_b.iter().for_each(|&to| product.edge(source, (x, to, last), mark_b));
            }
        }
        if product.n_edges > MAX_PRODUCT {
            return None;
        }
    }
    Some(product.out.is_empty())
}

type Triple = (State, State, Option<Letter>);

struct Stretched {
    out: Automaton,
    numbers: FxHashMap<Triple, State>,
    work: Vec<Triple>,
    n_edges: usize,
}

impl Stretched {
    fn add(&mut self, triple: Triple) -> State {
        *self.numbers.entry(triple).or_insert_with(|| {
            self.work.push(triple);
            self.out.add_state(0)
        })
    }

    fn edge(&mut self, source: State, target: Triple, marks: u64) {
        let target = self.add(target);
        // Guards are of no interest any more: every edge can be taken.
        self.out.push_edge(source, Edge { guard: Guard::never(), target, marks });
        self.n_edges += 1;
    }
}
