//! Mutexes.
//!
//! A failed attempt reads that the mutex is held. An unlock and the next lock are ordered; an unlock and an
//! attempt conflict, because the attempt could have come first, and failed.

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, ProcessId};

/// A mutex.
#[derive(Clone, Debug, Default)]
pub struct Mutex {
    owner: Option<ProcessId>,
}

impl Mutex {
    /// A mutex that is free.
    pub fn new() -> Mutex {
        Mutex::default()
    }

    /// Whether a process has it.
    pub fn is_held_by(&self, process: ProcessId) -> bool {
        self.owner == Some(process)
    }
}

/// The stamp of an attempt that failed.
const FAILED: u64 = 1;

fn failed(label: &Label) -> bool {
    label.action == Action::TryLock && label.effect.stamp == FAILED
}

impl Table for Mutex {
    #[inline]
    fn enabled(&self, _: ProcessId, action: Action) -> bool {
        match action {
            Action::Lock | Action::Retry(_) => self.owner.is_none(),
            _ => true,
        }
    }

    /// An attempt gets 1 if it succeeds.
    #[inline]
    fn peek(&self, _: ProcessId, action: Action, _: u32) -> Effect {
        let failed = action == Action::TryLock && self.owner.is_some();
        Effect { out: u64::from(!failed), stamp: u64::from(failed) }
    }

    #[inline]
    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let effect = self.peek(me, action, choice);
        match action {
            Action::Unlock => self.owner = None,
            Action::Retry(_) => {}
            _ if effect.stamp != FAILED => self.owner = Some(me),
            _ => {}
        }
        effect
    }

    fn relation(&self, first: &Label, second: &Label) -> Relation {
        if let Some(relation) = super::relation_of_retries(first, second) {
            return relation;
        }
        match (first.action, second.action) {
            _ if failed(first) && failed(second) => Relation::Independent,
            (Action::Unlock, Action::Lock) => Relation::Ordered,
            // An unlock lies between a failed attempt and the next lock; an attempt that succeeded too.
            (Action::TryLock, Action::Lock) if failed(first) => Relation::Ordered,
            (Action::TryLock, Action::TryLock) if failed(first) => Relation::Ordered,
            // The owner's.
            (Action::Lock, Action::Unlock) => Relation::Ordered,
            (Action::TryLock, Action::Unlock) if !failed(first) => Relation::Ordered,
            _ => Relation::Conflict,
        }
    }

    fn never_commutes(&self, one: Action, two: Action) -> bool {
        let may = |action| matches!(action, Action::TryLock | Action::Retry(_));
        !(may(one) && may(two))
    }

    fn interferes(&self, action: Action, other: Action) -> bool {
        match action {
            Action::Unlock => other == Action::TryLock,
            _ if self.owner.is_some() => other == Action::Unlock,
            _ => other != Action::Unlock,
        }
    }

    fn enables(&self, _: Action, other: Action, by: ProcessId) -> bool {
        other == Action::Unlock && self.owner == Some(by)
    }

    fn holders(&self, _: Action) -> Vec<ProcessId> {
        self.owner.into_iter().collect()
    }

    fn describe(&self) -> String {
        self.owner.map_or("free".to_owned(), |owner| format!("held by {owner}"))
    }
}
