//! The stack of a depth-first search, without recursion and without an allocation for each state.

use stubborn_reduce::Reduction;
use stubborn_system::{Batch, Fault, System, TransitionId, Vector};

/// A state on the stack.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Its successors in `pending` that were not looked at.
    next: usize,
    end: usize,
}

/// The states from where a search began to the one in hand, and what is to be looked at from them.
pub(super) struct Walk<S: Vector + ?Sized> {
    /// The states, with the transitions that led to them.
    states: Batch<S>,
    frames: Vec<Frame>,
    /// The successors of all frames, one list behind the other.
    pending: Batch<S>,
}

impl<S: Vector + ?Sized> Walk<S> {
    pub(super) fn new() -> Self {
        Self { states: Batch::new(), frames: Vec::new(), pending: Batch::new() }
    }

    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.frames.clear();
        self.pending.clear();
    }

    /// Number of states on the stack.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// The last state.
    pub(super) fn top(&self) -> &S {
        self.states.state(self.states.len() - 1)
    }

    /// The transition that led to state number `i`.
    pub(super) fn via(&self, i: usize) -> TransitionId {
        self.states.via(i)
    }

    /// The transitions that led to the states behind number `first`.
    pub(super) fn steps_behind(&self, first: usize) -> impl Iterator<Item = TransitionId> + '_ {
        (first + 1..self.states.len()).map(|i| self.states.via(i))
    }

    /// Puts a state on top. How many successors it has.
    pub(super) fn enter<Y: System<State = S> + ?Sized>(
        &mut self,
        system: &Y,
        reduction: &mut dyn Reduction<Y>,
        state: &S,
        via: TransitionId,
    ) -> Result<usize, Fault> {
        self.states.push(via, state);
        let next = self.pending.len();
        reduction.expand(system, state, &mut self.pending)?;
        self.pending.take_flag();
        self.frames.push(Frame { next, end: self.pending.len() });
        Ok(self.pending.len() - next)
    }

    /// The place of the next successor of the last state that was not looked at.
    pub(super) fn next(&mut self) -> Option<usize> {
        let frame = self.frames.last_mut()?;
        (frame.next < frame.end).then(|| {
            frame.next += 1;
            frame.next - 1
        })
    }

    /// The successor at a place: transition and state.
    pub(super) fn successor(&self, place: usize) -> (TransitionId, &S) {
        (self.pending.via(place), self.pending.state(place))
    }

    /// Removes the last state.
    pub(super) fn leave(&mut self) {
        self.frames.pop();
        self.states.pop();
        self.pending.truncate(self.frames.last().map_or(0, |frame| frame.end));
    }

    /// Memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.states.bytes() + self.pending.bytes() + self.frames.len() * size_of::<Frame>()
    }
}
