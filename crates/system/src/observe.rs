//! What a system can say about single states: the checks that questions are made of, and symmetry.

use crate::{Fault, Question, System, TransitionId};

/// A system whose states can be judged.
///
/// Only the functions that the system's [`Observed::questions`] need are called.
pub trait Observed: System {
    /// What the system's author wants to know.
    fn questions(&self) -> Vec<Question>;

    /// Says what is wrong with `state`, if anything.
    fn check(&self, state: &Self::State) -> Result<Option<String>, Fault>;

    /// Whether the check is about steps: it fails in a state exactly if making the successors that the search
    /// asks for flags their batch. Then it is not asked for every state that is found, only where a flag is
    /// raised when a state is expanded.
    fn fails_in_steps(&self) -> bool {
        false
    }

    /// Whether [`Observed::check_found`] may ever say anything: if not, nobody need show it a state.
    fn looks_at_found(&self) -> bool {
        true
    }

    /// Says what is wrong with `state` when it is found: the check, unless that is about steps. A system that
    /// judges both steps and states says here what is wrong with the state alone; what is said here is said
    /// by [`Observed::check`], too.
    fn check_found(&self, state: &Self::State) -> Result<Option<String>, Fault> {
        if self.fails_in_steps() { Ok(None) } else { self.check(state) }
    }

    /// Says why it is wrong to stop in the terminal state `state`, if it is.
    fn check_deadlock(&self, state: &Self::State) -> Result<Option<String>, Fault>;

    /// Whether `state` is a may-progress state.
    fn is_may_progress(&self, state: &Self::State) -> Result<bool, Fault>;

    /// Whether `state` is a must-progress state.
    fn is_must_progress(&self, state: &Self::State) -> Result<bool, Fault>;
}

/// A system with a symmetry.
pub trait Symmetric: System {
    /// Replaces `state` by the representative of its orbit. States of one orbit must have the same
    /// representative, and there must be an automorphism of the system between them.
    fn represent(&self, state: &mut Self::State) -> Result<(), Fault>;

    /// The transitions that what stands in for this system does together with the one before, where they are possible.
    fn done_at_once(&self, state: &Self::State) -> Vec<TransitionId> {
        let _ = state;
        Vec::new()
    }
}
