//! The smaller of two choices, state by state.
//!
//! **Preserves** what both preserve: each choice is a function of the state and satisfies the conditions of
//! that state alone, so they may be mixed. (Conditions that speak of cycles would not allow this.)
//! **Checked by** the campaign.

use crate::{Preserves, Reduction};
use stubborn_system::{Batch, Fault, System, TransitionId, Vector};

/// Takes the choice with fewer successors; the first if they have equally many.
#[derive(Debug)]
pub struct Smaller<A, B, S: Vector + ?Sized> {
    first: A,
    second: B,
    scratch: Batch<S>,
}

impl<A, B, S: Vector + ?Sized> Smaller<A, B, S> {
    /// The smaller of `first` and `second`.
    pub fn new(first: A, second: B) -> Self {
        Self { first, second, scratch: Batch::new() }
    }
}

impl<A: Reduction<Y>, B: Reduction<Y>, Y: System + ?Sized> Reduction<Y> for Smaller<A, B, Y::State> {
    fn name(&self) -> String {
        format!("{}+{}", self.first.name(), self.second.name())
    }

    fn preserves(&self) -> Preserves {
        match (self.first.preserves(), self.second.preserves()) {
            (Preserves::Everything, Preserves::Everything) => Preserves::Everything,
            (Preserves::Failures, Preserves::Failures) => Preserves::Failures,
            _ => Preserves::Basic,
        }
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        let before = out.len();
        self.first.expand(system, state, out)?;
        if out.len() - before <= 1 {
            return Ok(());
        }
        self.scratch.clear();
        self.second.expand(system, state, &mut self.scratch)?;
        if self.scratch.len() < out.len() - before {
            out.truncate(before);
            for i in 0..self.scratch.len() {
                out.push(self.scratch.via(i), self.scratch.state(i));
            }
        }
        Ok(())
    }

    fn stubborn_set(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        let (mut one, mut other) = (Batch::new(), Batch::new());
        self.first.expand(system, state, &mut one)?;
        self.second.expand(system, state, &mut other)?;
        if one.len() <= 1 || one.len() <= other.len() {
            self.first.stubborn_set(system, state, out)
        } else {
            self.second.stubborn_set(system, state, out)
        }
    }
}
