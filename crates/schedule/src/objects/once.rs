//! Cells that are initialised once.
//!
//! `Begin` gets 1 if the caller must initialise the cell, and waits while somebody else does. `Abandon` gives up.

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, ProcessId};

/// A cell that is initialised once.
#[derive(Clone, Debug, Default)]
pub struct Once {
    running: Option<ProcessId>,
    complete: bool,
}

impl Once {
    /// A cell that is not initialised.
    pub fn new() -> Once {
        Once::default()
    }
}

/// Whether a label leaves the cell as it is.
fn reads(label: &Label) -> bool {
    match label.action {
        Action::Begin => label.effect.out == 0,
        Action::IsComplete => true,
        _ => false,
    }
}

impl Table for Once {
    fn enabled(&self, _: ProcessId, action: Action) -> bool {
        match action {
            Action::Begin => self.running.is_none(),
            Action::Retry(_) => self.complete,
            _ => true,
        }
    }

    fn peek(&self, _: ProcessId, action: Action, _: u32) -> Effect {
        match action {
            Action::Begin => Effect { out: u64::from(!self.complete), stamp: 0 },
            Action::IsComplete => Effect { out: u64::from(self.complete), stamp: 0 },
            _ => Effect::default(),
        }
    }

    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let effect = self.peek(me, action, choice);
        match action {
            Action::Begin if effect.out == 1 => self.running = Some(me),
            Action::Complete => *self = Once { running: None, complete: true },
            Action::Abandon => *self = Once::new(),
            _ => {}
        }
        effect
    }

    fn relation(&self, first: &Label, second: &Label) -> Relation {
        if let Some(relation) = super::relation_of_retries(first, second) {
            return relation;
        }
        use Action::*;
        match (first.action, second.action) {
            _ if reads(first) && reads(second) => Relation::Independent,
            (Complete | Abandon, Begin) => Relation::Ordered,
            (Begin | Abandon, IsComplete) | (IsComplete, Begin | Abandon) => Relation::Independent,
            (Begin, Complete | Abandon) => Relation::Ordered,
            _ => Relation::Conflict,
        }
    }

    fn commutes(&self, one: Action, two: Action) -> bool {
        one == Action::IsComplete && two == Action::IsComplete
    }

    fn interferes(&self, action: Action, other: Action) -> bool {
        !self.commutes(action, other)
    }

    fn enables(&self, action: Action, other: Action, by: ProcessId) -> bool {
        if matches!(action, Action::Retry(_)) {
            return matches!(other, Action::Begin | Action::Complete | Action::Abandon);
        }
        matches!(other, Action::Complete | Action::Abandon) && self.running == Some(by)
    }

    fn holders(&self, _: Action) -> Vec<ProcessId> {
        self.running.into_iter().collect()
    }

    fn describe(&self) -> String {
        match (self.running, self.complete) {
            (Some(process), _) => format!("being initialised by {process}"),
            (None, complete) => if complete { "initialised" } else { "not initialised" }.to_owned(),
        }
    }
}
