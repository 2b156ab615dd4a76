//! Shared variables and atomics, one word, sequentially consistent.
//!
//! Updates that leave the value as it was are reads, such as a failed compare-and-exchange. A plain write is always a
//! write: it depends on every other access whatever comes of them, which `optimal` needs to know.
//! `Complement` is VS's example of a finer operation: complements commute.
//! `Await(v)` is enabled when the value is not `v`; it is how a loop that re-reads a variable waits.

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, ProcessId};

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    value: u64,
}

const READ: u64 = 0;
const CHANGED: u64 = 1;
const COMPLEMENTED: u64 = 2;

impl Variable {
    /// A variable with its first value.
    pub fn new(value: u64) -> Variable {
        Variable { value }
    }

    /// The value.
    pub fn value(&self) -> u64 {
        self.value
    }

    fn next(&self, action: Action) -> u64 {
        match action {
            Action::Write(value) => value,
            Action::Complement => u64::from(self.value == 0),
            Action::Update(update, width, operand) => width.apply(update, self.value, operand),
            Action::CompareExchange { expected, new } if expected == self.value => new,
            _ => self.value,
        }
    }
}

impl Table for Variable {
    #[inline]
    fn enabled(&self, _: ProcessId, action: Action) -> bool {
        !matches!(action, Action::Await(value) if value == self.value)
    }

    /// Everything gets the old value, but a complement, which would not commute with its like.
    #[inline]
    fn peek(&self, _: ProcessId, action: Action, _: u32) -> Effect {
        match action {
            Action::Complement => Effect { out: 0, stamp: COMPLEMENTED },
            Action::Write(_) => Effect { out: self.value, stamp: CHANGED },
            _ if self.next(action) == self.value => Effect { out: self.value, stamp: READ },
            _ => Effect { out: self.value, stamp: CHANGED },
        }
    }

    #[inline]
    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let effect = self.peek(me, action, choice);
        self.value = self.next(action);
        effect
    }

    fn relation(&self, first: &Label, second: &Label) -> Relation {
        match (first.effect.stamp, second.effect.stamp) {
            (READ, READ) | (COMPLEMENTED, COMPLEMENTED) => Relation::Independent,
            // The change that an await waited for cannot come after it.
            (CHANGED, _) if matches!(second.action, Action::Await(v) if v == first.effect.out) => {
                Relation::Ordered
            }
            (COMPLEMENTED, _) if matches!(second.action, Action::Await(_)) => Relation::Doubtful,
            _ => Relation::Conflict,
        }
    }

    fn commutes(&self, one: Action, two: Action) -> bool {
        let reads = |action| matches!(action, Action::Read | Action::Await(_));
        reads(one) && reads(two) || (one, two) == (Action::Complement, Action::Complement)
    }

    fn never_commutes(&self, one: Action, two: Action) -> bool {
        matches!(one, Action::Write(_)) || matches!(two, Action::Write(_))
    }

    fn interferes(&self, action: Action, other: Action) -> bool {
        !self.commutes(action, other)
    }

    fn describe(&self) -> String {
        self.value.to_string()
    }
}
