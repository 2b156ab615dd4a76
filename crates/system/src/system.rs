//! The first seam: a system of numbered deterministic transitions.

use crate::{Batch, Fault, Message, Vector};
use std::fmt;

/// Number of a transition. Dense, starting at zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransitionId(pub u32);

impl TransitionId {
    /// As an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<usize> for TransitionId {
    #[inline]
    fn from(i: usize) -> Self {
        Self(u32::try_from(i).expect("more than 2^32 transitions"))
    }
}

impl fmt::Display for TransitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// States and transitions.
///
/// Transitions are deterministic: in each state each transition has at most one successor. Firing is a
/// function of the state alone, so a search may fire the same transition in the same state again and
/// must get the same answer.
pub trait System {
    /// How states are written down.
    type State: Vector + ?Sized;

    /// How many transitions there are.
    fn n_transitions(&self) -> usize;

    /// The name of a transition, for people.
    fn transition_name(&self, t: TransitionId) -> String;

    /// Appends the initial state to `out`. The transition recorded with it means nothing.
    fn initial(&self, out: &mut Batch<Self::State>) -> Result<(), Fault>;

    /// If `t` is enabled in `state`, appends its successor and returns true; else leaves `out` as it was.
    fn fire(&self, state: &Self::State, t: TransitionId, out: &mut Batch<Self::State>)
    -> Result<bool, Fault>;

    /// Appends all successors, highest transition first (the order of ASSET; counts of a search that
    /// stops at the first error depend on it).
    fn successors(&self, state: &Self::State, out: &mut Batch<Self::State>) -> Result<(), Fault> {
        for t in (0..self.n_transitions()).rev() {
            self.fire(state, TransitionId(t as u32), out)?;
        }
        Ok(())
    }

    /// Memory that it uses for what it remembers, in bytes. Searches ask often and count it as theirs.
    fn bytes(&self) -> usize {
        0
    }

    /// The variables of `state` by name and value, for people. A name occurs once in a state; states need
    /// not have the same variables.
    fn values(&self, state: &Self::State) -> Vec<(String, String)>;

    /// The variables of two states, in which all that differ are; those that do not may be left out.
    fn differing(&self, before: &Self::State, after: &Self::State) -> [Vec<(String, String)>; 2] {
        [self.values(before), self.values(after)]
    }

    /// The state in one line, for people.
    fn show(&self, state: &Self::State) -> String {
        self.show_values(state)
    }

    /// The variables of a state as `name=value` pairs in one line.
    fn show_values(&self, state: &Self::State) -> String {
        self.values(state).into_iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(" ")
    }

    /// What firing `t` in `state` does, part by part, for people: a transition may be several statements of
    /// several processes.
    fn explain(&self, state: &Self::State, t: TransitionId) -> Vec<Part> {
        let _ = state;
        vec![Part { process: None, line: None, text: self.transition_name(t), messages: Vec::new() }]
    }
}

/// A part of a transition, in the words of the model's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The process that does it, by name and number.
    pub process: Option<String>,
    /// The line where it was written.
    pub line: Option<usize>,
    /// As written.
    pub text: String,
    /// What is sent and received in it, in order.
    pub messages: Vec<Message>,
}
