//! The closure of an automaton under stuttering.
//!
//! **Implements** section 3 of G. J. Holzmann and O. Kupferman, *Not checking for closure under stuttering*
//! (1996): N' accepts the words that are equivalent under stuttering to a word of N. The paper labels states;
//! a state of its transition system is a pair ⟨q, σ⟩ of a state of N and the letter that is read there, in two
//! copies: `⟨w, 1⟩` is entered when an accepting state was passed on the way, `⟨w, 0⟩` otherwise.
//! 1. and 2. at ⟨q, σ⟩ the automaton may stay, into copy 0, or go on to any ⟨q', σ'⟩ that N reaches from q by
//!    reading σ once or more often;
//! 3. it may do the second into copy 1 if N passes an accepting state on the way, both ends included.
//!
//! The alphabet is that of the propositions in the guards of N: others are of no concern to it.
//!
//! **Differs from the text** in four ways.
//! * The text defines both closures of the relation by paths of n ≥ 1 states. For rule 3 that cannot be meant:
//!   with n = 1 an accepting state could repeat for ever without any step of N, which the text itself rules
//!   out ("otherwise, it might have accepted also words with suffixes σ^ω that stutter no word accepted by
//!   A"). Here rule 3 takes at least one step of N. `the_text_read_literally_accepts_too_much` has the
//!   automaton that shows the difference.
//! * The pairs ⟨q, σ⟩ for all σ of one q are one state of N' as long as no letter has been read there; the
//!   letter becomes part of the state only when the automaton stays. The text foresees that ("we may have to
//!   add up to |W| × |Σ| new states").
//! * Instead of copies of states the edges into copy 1 are marked; acceptance is moved to states at the end.
//! * Where N itself has a loop on σ at q, staying adds nothing and is left out; and the result is simplified.
//!
//! **Preserves** the language up to stuttering. **Checked by** `tests/all/stutter.rs`.

use crate::{Automaton, Cube, Guard, Letter, State, simplify};
use rustc_hash::FxHashMap;
use thiserror::Error;

/// Letters times states may not be more than this.
const MAX_PAIRS: usize = 1 << 14;

/// The automaton or its alphabet is too large for this construction, which looks at every letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{states} states and {propositions} propositions: more than {MAX_PAIRS} pairs of state and letter")]
pub struct TooManyLetters {
    /// States of the automaton.
    pub states: usize,
    /// Propositions in its guards.
    pub propositions: u32,
}

/// The letters over the propositions in `support`, unless there are too many for so many states.
pub(crate) fn letters(support: u64, states: usize) -> Result<Vec<Letter>, TooManyLetters> {
    let propositions = support.count_ones();
    let too_many = TooManyLetters { states, propositions };
    if propositions > 14 || states.max(1) << propositions > MAX_PAIRS {
        return Err(too_many);
    }
    let bits: Vec<u32> = (0..64).filter(|i| support >> i & 1 == 1).collect();
    let spread = |code: u64| {
        let set = bits.iter().enumerate().filter(|(i, _)| code >> i & 1 == 1);
        set.fold(0, |letter: u64, (_, bit)| letter | 1 << bit)
    };
    Ok((0..1u64 << propositions).map(spread).collect())
}

/// The automaton of all words that are equivalent under stuttering to a word that `automaton` accepts.
pub fn closure(automaton: &Automaton) -> Result<Automaton, TooManyLetters> {
    let buchi = crate::degeneralise(automaton);
    let support = automaton.support();
    let letters = letters(support, buchi.n_states())?;
    let reading: Vec<Reading> = letters.iter().map(|&letter| Reading::new(&buchi, letter)).collect();
    let mut closing = Closing {
        out: Automaton::new(buchi.propositions().clone(), 1),
        numbers: FxHashMap::default(),
        work: Vec::new(),
    };
    for &state in buchi.initial() {
        let start = closing.add(Place::Free(state));
        closing.out.add_initial(start);
    }
    while let Some(place) = closing.work.pop() {
        let source = closing.add(place);
        let (state, here) = match place {
            Place::Free(state) => (state, 0..letters.len()),
            Place::Stays { state, letter } => (state, letter..letter + 1),
        };
        for number in here {
            let guard = Guard::from(Cube::minterm(letters[number], support));
            let reach = &reading[number].reach[state as usize];
            if !reading[number].has_loop(state) {
                let target = closing.add(Place::Stays { state, letter: number });
                closing.out.add_edge(source, guard.clone(), target, 0);
            }
            for &(to, passed) in reach {
                let target = closing.add(Place::Free(to));
                closing.out.add_edge(source, guard.clone(), target, u64::from(passed));
            }
        }
    }
    Ok(crate::degeneralise(&simplify(&closing.out)))
}

/// A state of the closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// At a state, before any letter is read there.
    Free(State),
    /// At a state, after this letter was read there without a step; the next letter is the same.
    Stays { state: State, letter: usize },
}

struct Closing {
    out: Automaton,
    numbers: FxHashMap<Place, State>,
    work: Vec<Place>,
}

impl Closing {
    fn add(&mut self, place: Place) -> State {
        *self.numbers.entry(place).or_insert_with(|| {
            self.work.push(place);
            self.out.add_state(0)
        })
    }
}

/// Where an automaton can get by reading one letter once or more often.
struct Reading {
    /// By state: where, and whether an accepting state is passed on the way.
    reach: Vec<Vec<(State, bool)>>,
}

impl Reading {
    fn new(automaton: &Automaton, letter: Letter) -> Self {
        let step = |state: State| {
            automaton.edges(state).iter().filter(move |e| e.guard.holds(letter)).map(|e| e.target)
        };
        let from = |start: State| {
            let passes = |state: State| automaton.is_accepting(state);
            let mut found: Vec<(State, bool)> = Vec::new();
            let mut next = vec![(start, passes(start))];
            // The start itself is no result: at least one step is taken.
            while let Some((state, passed)) = next.pop() {
                for target in step(state) {
                    let reached = (target, passed | passes(target));
                    if !found.contains(&reached) {
                        found.push(reached);
                        next.push(reached);
                    }
                }
            }
            // Rule 2 allows to pass an accepting state silently; that gives no further words.
            let accepting: Vec<State> = found.iter().filter(|f| f.1).map(|f| f.0).collect();
            found.retain(|&(s, passed)| passed || !accepting.contains(&s));
            found
        };
        Self { reach: automaton.states().map(from).collect() }
    }

    /// Whether the automaton itself can stay while it reads the letter.
    fn has_loop(&self, state: State) -> bool {
        self.reach[state as usize].iter().any(|&(to, _)| to == state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lasso, Propositions};

    /// N: an accepting state that is left at once, to a loop that accepts nothing. No word is accepted. Read
    /// with n = 1 in rule 3, the text's N' stays in the accepting state for ever and accepts p^ω.
    #[test]
    fn the_text_read_literally_accepts_too_much() {
        let names = Propositions::from_texts(["p"]).unwrap();
        let p = Guard::from(Cube { positive: 1, negative: 0 });
        let mut n = Automaton::new(names, 1);
        let (accepting, after) = (n.add_state(1), n.add_state(0));
        n.add_initial(accepting);
        n.add_edge(accepting, p.clone(), after, 0);
        n.add_edge(after, p.not(), after, 0);
        assert!(closure(&n).unwrap().is_empty());
        // Made stronger, so that trimming beforehand cannot be what saves us: p, then !p for ever, is accepted.
        let last = n.add_state(1);
        n.add_edge(after, p.not(), last, 0);
        n.add_edge(last, p.not(), last, 0);
        let closed = closure(&n).unwrap();
        assert!(!closed.accepts(&Lasso { stem: vec![], cycle: vec![1] }));
        assert!(closed.accepts(&Lasso { stem: vec![1, 1, 1], cycle: vec![0] }));
        assert!(closed.accepts(&Lasso { stem: vec![1], cycle: vec![0] }));
    }
}
