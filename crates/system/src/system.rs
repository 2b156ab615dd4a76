//! The first seam: a system of numbered deterministic transitions.

use crate::{Batch, Fault, Vector};
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

    /// The names of the variables, in the order of [`System::values`].
    fn variables(&self) -> Vec<String>;

    /// The value of each variable in `state`, for people.
    fn values(&self, state: &Self::State) -> Vec<String>;

    /// The state in one line, for people.
    fn show(&self, state: &Self::State) -> String {
        self.variables()
            .iter()
            .zip(self.values(state))
            .map(|(n, v)| format!("{n}={v}"))
            .collect::<Vec<_>>()
            .join(" ")
    }
}
