//! A tester: an automaton that moves only when something can be seen.
//!
//! **Implements** the second way of V93 (sections 3 and 4) for a Büchi automaton whose language is closed under
//! stuttering, in the form of testing automata: while the letter stays the same the tester stays, too. When it
//! changes, the tester goes wherever the automaton can get by reading the old letter once or more often, and the
//! move is accepting if the automaton can pass an accepting state on the way: infinitely many accepting moves are an
//! infinite trace that is forbidden. A place from which the automaton accepts the letter repeated for ever is a livelock
//! monitor: a run that stays there, with nothing to be seen any more, is forbidden.
//! **Preserves** the language: of a word of a closed language the lengths of blocks of equal letters do not matter,
//! so those may be chosen that suit the automaton.
//! **Differs from the text** in that tester states are made when they are met, and that the letter of a place is that of
//! the system's state.
//! **Checked by** comparing with the automaton itself on all properties of the tests.

use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;
use stubborn_ltl::{Automaton, Letter, State};

/// What a tester can do at a place: a state of the automaton while a letter lasts.
#[derive(Debug)]
pub(super) struct Behaviour {
    /// Where it can go when the letter changes, and whether it can pass an accepting state.
    pub(super) hops: Vec<(State, bool)>,
    /// Whether a run is forbidden that stays here for ever.
    pub(super) is_livelock_monitor: bool,
}

/// A tester.
#[derive(Debug)]
pub(super) struct Tester<'a> {
    automaton: &'a Automaton,
    known: RefCell<FxHashMap<(State, Letter), Rc<Behaviour>>>,
}

impl<'a> Tester<'a> {
    /// `automaton` has accepting states, and a language that is closed under stuttering.
    pub(super) fn new(automaton: &'a Automaton) -> Self {
        assert!(automaton.is_buchi(), "accepting moves are of one kind");
        Self { automaton, known: RefCell::default() }
    }

    pub(super) fn behaviour(&self, at: State, letter: Letter) -> Rc<Behaviour> {
        if let Some(known) = self.known.borrow().get(&(at, letter)) {
            return known.clone();
        }
        let made = Rc::new(Behaviour {
            hops: self.hops(at, letter),
            is_livelock_monitor: self.accepts_for_ever(at, letter),
        });
        self.known.borrow_mut().insert((at, letter), made.clone());
        made
    }

    /// The states that read `letter` next.
    fn step(&self, at: State, letter: Letter) -> impl Iterator<Item = State> + '_ {
        self.automaton.edges(at).iter().filter(move |edge| edge.guard.holds(letter)).map(|edge| edge.target)
    }

    /// What can be reached by reading `letter` once or more often, with and without passing an accepting state.
    fn hops(&self, at: State, letter: Letter) -> Vec<(State, bool)> {
        let mut seen: FxHashSet<(State, bool)> = FxHashSet::default();
        let mut work = vec![(at, false)];
        while let Some((from, passed)) = work.pop() {
            let passed = passed || self.automaton.is_accepting(from);
            for to in self.step(from, letter) {
                if seen.insert((to, passed)) {
                    work.push((to, passed));
                }
            }
        }
        let mut hops: Vec<(State, bool)> = seen.iter().copied().collect();
        // Who can pass an accepting state need not do without.
        hops.retain(|&(to, passed)| passed || !seen.contains(&(to, true)));
        hops.sort_unstable();
        hops
    }

    /// Whether the automaton accepts `letter` repeated for ever.
    fn accepts_for_ever(&self, at: State, letter: Letter) -> bool {
        let reached = self.reached(at, letter);
        let mut accepting = reached.iter().chain([&at]).filter(|&&state| self.automaton.is_accepting(state));
        accepting.any(|&state| self.reached(state, letter).contains(&state))
    }

    /// What can be reached by reading `letter` once or more often.
    fn reached(&self, at: State, letter: Letter) -> FxHashSet<State> {
        let mut seen = FxHashSet::default();
        let mut work = vec![at];
        while let Some(from) = work.pop() {
            work.extend(self.step(from, letter).filter(|&to| seen.insert(to)).collect::<Vec<_>>());
        }
        seen
    }
}
