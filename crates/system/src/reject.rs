//! What a system rejects: wrong states, and wrong ways to stop or to go on.
//!
//! The four conditions of V93 (Theorem 3.3, C1 to C4) and of HVV (section 5) in one form. A rejection has a condition
//! on states and a *guard*: the processes that the condition is about, which are looked at as one. A tester is a guard
//! of one process.

use crate::{Batch, Composed, Observed, Requirements, Rules, TransitionId};
use std::ops::Range;

/// What is wrong where the condition of a rejection holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RejectionKind {
    /// To be there (C1).
    State,
    /// To stop there (C2).
    Deadlock,
    /// To go on from there for ever without the guard (C3).
    Livelock,
    /// To let the guard move from there again and again (C4).
    Infinite,
}

impl RejectionKind {
    /// All of them, in the order of C1 to C4.
    pub const ALL: [Self; 4] = [Self::State, Self::Deadlock, Self::Livelock, Self::Infinite];

    /// The word for it on the screen and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::State => "rej",
            Self::Deadlock => "dl-rej",
            Self::Livelock => "ll-rej",
            Self::Infinite => "inf-rej",
        }
    }

    /// Whether it is shown by a run that repeats.
    pub fn is_about_cycles(self) -> bool {
        matches!(self, Self::Livelock | Self::Infinite)
    }
}

/// A rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// What is wrong.
    pub kind: RejectionKind,
    /// The condition, as its author wrote it.
    pub text: String,
    /// Its guard.
    pub guard: usize,
}

/// A system with rejections.
pub trait Rejecting: Rules + Observed + Composed {
    /// What is rejected.
    fn rejections(&self) -> &[Rejection];

    /// Whether the condition of a rejection holds in a state. It depends on nothing but the states of its guard.
    fn rejects(&self, state: &Self::State, rejection: usize) -> bool;

    /// Appends the bytes of a state that the condition of a rejection depends on, as [`Tracer::parts_at`](crate::Tracer::parts_at)
    /// counts them; `false` if that is not known.
    fn looks_at(&self, rejection: usize, bytes: &mut Vec<Range<usize>>) -> bool {
        let _ = (rejection, bytes);
        false
    }

    /// Whether a process of the guard takes part in a transition.
    fn takes_part(&self, guard: usize, t: TransitionId) -> bool;

    /// The imaginary node that brings all that the guard could do where it is.
    fn guard_node(&self, guard: usize) -> TransitionId;

    /// For a state where the condition of a rejection does not hold: alternatives, each a list of nodes of which one must
    /// be fired, or bring something that is, before the condition can hold. An empty one says that it never will.
    fn enablers(&self, state: &Self::State, rejection: usize, out: &mut Requirements);

    /// Confirms, by code of its own that makes no use of searches and reductions, that a run shows a rejection:
    /// `states` are its states with the transitions that led to them, from `cycle_start` on it repeats. Says what
    /// it shows; or else what is wrong with it.
    fn confirm(
        &self,
        rejection: usize,
        states: &Batch<Self::State>,
        cycle_start: Option<usize>,
    ) -> Result<String, String>;
}
