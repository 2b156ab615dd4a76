//! Counting semaphores.
//!
//! Permits have ranks: the semaphore begins with so many, and each release adds the next. The acquire with rank `a`
//! takes permit `a` and so comes after the release that added it. An acquire and a release never conflict:
//! whichever order is possible gives the same. Two releases commute, and yet they conflict here: which of two
//! releases let an acquire go on is not a matter of order unless they are in one (see `objects`).

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, ProcessId};

/// A semaphore.
#[derive(Clone, Debug)]
pub struct Semaphore {
    first: u64,
    n_released: u64,
    n_acquired: u64,
}

impl Semaphore {
    /// A semaphore with so many permits.
    pub fn new(permits: u64) -> Semaphore {
        Semaphore { first: permits, n_released: 0, n_acquired: 0 }
    }

    fn permits(&self) -> u64 {
        self.first + self.n_released - self.n_acquired
    }
}

const FAILED: u64 = u64::MAX;

impl Table for Semaphore {
    #[inline]
    fn enabled(&self, _: ProcessId, action: Action) -> bool {
        !matches!(action, Action::Acquire | Action::Retry(_)) || self.permits() > 0
    }

    /// An attempt gets 1 if it succeeds.
    #[inline]
    fn peek(&self, _: ProcessId, action: Action, _: u32) -> Effect {
        match action {
            Action::Release => Effect { out: 0, stamp: self.n_released },
            Action::TryAcquire if self.permits() == 0 => Effect { out: 0, stamp: FAILED },
            _ => Effect { out: 1, stamp: self.n_acquired },
        }
    }

    #[inline]
    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let effect = self.peek(me, action, choice);
        match action {
            Action::Release => self.n_released += 1,
            Action::Retry(_) => {}
            _ if effect.stamp != FAILED => self.n_acquired += 1,
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
            (Acquire, Release) => Relation::Independent,
            (Release, Acquire) if self.first + first.effect.stamp <= second.effect.stamp => Relation::Ordered,
            (Release, Acquire) => Relation::Independent,
            // Never neighbours: a release lies between.
            (TryAcquire, Acquire) if first.effect.stamp == FAILED => Relation::Ordered,
            (TryAcquire, TryAcquire) if first.effect.stamp == FAILED && second.effect.stamp == FAILED => {
                Relation::Independent
            }
            _ => Relation::Conflict,
        }
    }

    fn interferes(&self, action: Action, other: Action) -> bool {
        use Action::*;
        match (action, other) {
            (Acquire, Release) => self.permits() == 0,
            (Release, Acquire) => false,
            // The value does not remember who released: there is no run here whose order could matter.
            (Release, Release) => false,
            _ => true,
        }
    }

    fn enables(&self, _: Action, other: Action, _: ProcessId) -> bool {
        other == Action::Release
    }

    fn describe(&self) -> String {
        format!("{} permits", self.permits())
    }
}
