//! Processes that are not written down but followed: their states get numbers as they are met.
//!
//! A [`Behaviour`] says what can happen in a state, given as bytes. [`Growing`] gives numbers to states and
//! actions, asks for the moves of each state once, and keeps them. **Checked by** comparing compositions of growing
//! processes with those of the same processes when they are explicit.

use crate::lsts::{Action, Lsts, LstsBuilder, MAX_STATES, Mark, TAU, TooLarge};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use stubborn_explore::Limits;
use thiserror::Error;

/// What can happen in a state.
pub trait Behaviour {
    /// The initial state.
    fn initial(&self) -> Vec<u8>;

    /// Appends what can happen: the name of the action, empty for tau, and the state behind it.
    fn moves(&self, state: &[u8], out: &mut Vec<(String, Vec<u8>)>) -> Result<(), String>;

    /// The propositions.
    fn propositions(&self) -> &[Mark];

    /// Whether a proposition holds in a state.
    fn holds(&self, state: &[u8], proposition: usize) -> bool;
}

/// Why a process does not grow further.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotGrown {
    /// It does not know what can happen.
    #[error("{0}")]
    Behaviour(String),
    /// It has more states than it may have.
    #[error("more than {0} states")]
    States(u64),
    /// It takes more memory than it may.
    #[error("more than {0} bytes")]
    Bytes(usize),
    /// It is too large to be explicit.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// The moves of a state, by action and target, each once.
pub type Moves = Rc<[(Action, u32)]>;

/// A process that grows.
pub struct Growing {
    behaviour: Box<dyn Behaviour>,
    limits: Limits,
    known: RefCell<Known>,
    failure: RefCell<Option<NotGrown>>,
}

#[derive(Default)]
struct Known {
    numbers: FxHashMap<Rc<[u8]>, u32>,
    states: Vec<Rc<[u8]>>,
    /// By state; `None` if nobody has asked.
    moves: Vec<Option<Moves>>,
    /// The names of the actions; that of tau is empty.
    actions: Vec<String>,
    action_numbers: FxHashMap<String, Action>,
    /// By proposition: the states where it holds.
    holds: Vec<FixedBitSet>,
    /// Memory in use, about.
    bytes: usize,
}

/// What a state takes besides its vector: tables, and what memory is handed out with.
const BYTES_PER_STATE: usize = 128;

impl fmt::Debug for Growing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Growing").field("states", &self.n_states()).finish_non_exhaustive()
    }
}

impl NotGrown {
    /// Whether it is a limit, and says nothing about the process.
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::States(_) | Self::Bytes(_))
    }
}

impl Growing {
    /// A process of which nothing is known but the initial state, number zero.
    pub fn new(behaviour: Box<dyn Behaviour>, limits: Limits) -> Result<Self, NotGrown> {
        let known = Known {
            actions: vec![String::new()],
            holds: vec![FixedBitSet::new(); behaviour.propositions().len()],
            ..Known::default()
        };
        let growing = Self { limits, known: RefCell::new(known), failure: RefCell::default(), behaviour };
        growing.number(growing.behaviour.initial())?;
        Ok(growing)
    }

    /// How many states have a number.
    pub fn n_states(&self) -> usize {
        self.known.borrow().states.len()
    }

    /// The number of a state.
    fn number(&self, state: Vec<u8>) -> Result<u32, NotGrown> {
        let known = &mut *self.known.borrow_mut();
        if let Some(&number) = known.numbers.get(&state[..]) {
            return Ok(number);
        }
        if known.states.len() as u64 >= self.limits.states.min(MAX_STATES as u64) {
            return Err(NotGrown::States(self.limits.states.min(MAX_STATES as u64)));
        }
        known.bytes += state.len() + BYTES_PER_STATE;
        if known.bytes > self.limits.bytes {
            return Err(NotGrown::Bytes(self.limits.bytes));
        }
        let number = known.states.len() as u32;
        for (i, holds) in known.holds.iter_mut().enumerate() {
            holds.grow(number as usize + 1);
            holds.set(number as usize, self.behaviour.holds(&state, i));
        }
        let state: Rc<[u8]> = state.into();
        known.numbers.insert(state.clone(), number);
        known.states.push(state);
        known.moves.push(None);
        Ok(number)
    }

    /// Why it did not grow when it should have, if that has happened.
    pub fn failure(&self) -> Option<NotGrown> {
        self.failure.borrow().clone()
    }

    /// The moves of a state.
    pub fn moves(&self, state: u32) -> Result<Moves, NotGrown> {
        let moves = self.try_moves(state);
        if let Err(failure) = &moves {
            self.failure.replace(Some(failure.clone()));
        }
        moves
    }

    fn try_moves(&self, state: u32) -> Result<Moves, NotGrown> {
        if let Some(moves) = &self.known.borrow().moves[state as usize] {
            return Ok(moves.clone());
        }
        let vector = self.known.borrow().states[state as usize].clone();
        let mut found = Vec::new();
        self.behaviour.moves(&vector, &mut found).map_err(NotGrown::Behaviour)?;
        let mut moves = Vec::with_capacity(found.len());
        for (name, target) in found {
            moves.push((self.action(&name), self.number(target)?));
        }
        moves.sort_unstable();
        moves.dedup();
        let moves: Moves = moves.into();
        self.known.borrow_mut().bytes += 8 * moves.len();
        self.known.borrow_mut().moves[state as usize] = Some(moves.clone());
        Ok(moves)
    }

    /// The number of the action with this name; a new one if nobody has met it.
    pub fn action(&self, name: &str) -> Action {
        if name.is_empty() {
            return TAU;
        }
        let known = &mut *self.known.borrow_mut();
        if let Some(&action) = known.action_numbers.get(name) {
            return action;
        }
        let action = known.actions.len() as Action;
        known.actions.push(name.to_owned());
        known.action_numbers.insert(name.to_owned(), action);
        action
    }

    /// Whether a proposition holds in a state.
    pub fn holds(&self, state: u32, proposition: usize) -> bool {
        self.known.borrow().holds[proposition].contains(state as usize)
    }

    /// The names of actions and propositions as a process that is open.
    pub fn names(&self) -> Lsts {
        let known = self.known.borrow();
        let mut builder = LstsBuilder::new(1).expect("one state is not too many");
        for name in &known.actions[1..] {
            builder.action(name);
        }
        for (mark, holds) in self.behaviour.propositions().iter().zip(&known.holds) {
            builder.add_proposition(mark.clone(), holds.contains(0).then_some(0));
        }
        builder.build().expect("there are no transitions").open()
    }

    /// The process with all its states if it has at most `n`; else it has grown to more than that.
    pub fn whole(&self, n: usize) -> Result<Option<Lsts>, NotGrown> {
        let mut next = 0;
        while (next as usize) < self.n_states() {
            if self.n_states() > n {
                return Ok(None);
            }
            self.moves(next)?;
            next += 1;
        }
        self.unfolded().map(Some)
    }

    /// Whether some move has this action, as far as it is known.
    pub fn has_met(&self, name: &str) -> bool {
        let known = self.known.borrow();
        let Some(action) = known.action_numbers.get(name) else { return false };
        known.moves.iter().flatten().any(|moves| moves.iter().any(|edge| edge.0 == *action))
    }

    /// The process with all its states, in the order of a breadth-first search.
    pub fn unfolded(&self) -> Result<Lsts, NotGrown> {
        let mut next = 0;
        let mut edges = Vec::new();
        while (next as usize) < self.n_states() {
            edges.extend(self.moves(next)?.iter().map(|&(action, target)| (next, action, target)));
            next += 1;
        }
        let known = self.known.borrow();
        let mut builder = LstsBuilder::new(known.states.len() as u64)?;
        for name in &known.actions[1..] {
            builder.action(name);
        }
        for (source, action, target) in edges {
            builder.add_transition(source, action, target);
        }
        for (mark, holds) in self.behaviour.propositions().iter().zip(&known.holds) {
            builder.add_proposition(mark.clone(), holds.ones().map(|state| state as u32));
        }
        Ok(builder.build()?)
    }
}
