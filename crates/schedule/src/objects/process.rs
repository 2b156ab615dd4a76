//! Processes as objects: they end and are waited for, and they have a permit to go on (`Park`, `Unpark`).
//!
//! The end of a process and a join never conflict. `TimedPark` is always enabled: without a permit, time is up.

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, ProcessId};

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    me: ProcessId,
    ended: bool,
    permit: bool,
}

impl Process {
    /// A process that runs.
    pub fn new(me: ProcessId) -> Process {
        Process { me, ended: false, permit: false }
    }
}

impl Process {
    /// Which process it is.
    pub fn me(&self) -> ProcessId {
        self.me
    }

    /// Whether it has ended.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Says that it has ended, if that is no operation: nobody asks whether it has.
    pub fn end(&mut self) {
        self.ended = true;
    }
}

fn about_the_end(action: Action) -> bool {
    matches!(action, Action::Exit | Action::Join | Action::IsFinished | Action::Retry(_))
}

impl Table for Process {
    fn enabled(&self, _: ProcessId, action: Action) -> bool {
        match action {
            Action::Join | Action::Retry(_) => self.ended,
            Action::Park => self.permit,
            _ => true,
        }
    }

    /// The stamp says whether there was a permit.
    fn peek(&self, _: ProcessId, action: Action, _: u32) -> Effect {
        match action {
            Action::IsFinished => Effect { out: u64::from(self.ended), stamp: 0 },
            Action::Exit | Action::Join | Action::Retry(_) => Effect::default(),
            _ => Effect { out: u64::from(self.permit), stamp: u64::from(self.permit) },
        }
    }

    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let effect = self.peek(me, action, choice);
        match action {
            Action::Exit => self.ended = true,
            Action::Park | Action::TimedPark => self.permit = false,
            Action::Unpark => self.permit = true,
            _ => {}
        }
        effect
    }

    fn relation(&self, first: &Label, second: &Label) -> Relation {
        use Action::*;
        if about_the_end(first.action) != about_the_end(second.action) {
            return Relation::Independent;
        }
        if let Some(relation) = super::relation_of_retries(first, second) {
            return relation;
        }
        match (first.action, second.action) {
            (Exit, Join) => Relation::Ordered,
            (Exit, IsFinished) | (IsFinished, Exit) => Relation::Conflict,
            (one, _) if about_the_end(one) => Relation::Independent,
            // The permit was there, and is still.
            (Unpark, Unpark) if first.effect.stamp == 1 && second.effect.stamp == 1 => Relation::Independent,
            (Unpark, Park) if first.effect.stamp == 0 => Relation::Ordered,
            _ => Relation::Conflict,
        }
    }

    fn commutes(&self, one: Action, two: Action) -> bool {
        about_the_end(one) != about_the_end(two)
    }

    fn interferes(&self, action: Action, other: Action) -> bool {
        use Action::*;
        match (action, other) {
            (one, two) if about_the_end(one) != about_the_end(two) => false,
            (Join | Retry(_), Exit) => !self.ended,
            (Exit, IsFinished) | (IsFinished, Exit) => true,
            (one, _) => !about_the_end(one),
        }
    }

    fn enables(&self, action: Action, other: Action, by: ProcessId) -> bool {
        match action {
            Action::Join | Action::Retry(_) => by == self.me && other == Action::Exit,
            _ => other == Action::Unpark,
        }
    }

    fn holders(&self, action: Action) -> Vec<ProcessId> {
        if matches!(action, Action::Join | Action::Retry(_)) { vec![self.me] } else { Vec::new() }
    }

    fn describe(&self) -> String {
        if self.ended { "ended" } else { "running" }.to_owned()
    }
}
