//! Objects of the user's.
//!
//! Every order matters unless the object says otherwise, which is sound and explores the most.

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, ProcessId};
use std::fmt::Debug;

/// An object that is defined outside: values, partial operations with a number and an input, and a dependency
/// relation (see the module `objects` for what it must satisfy).
pub trait CustomObject: Debug + Send + Sync {
    /// Whether operation `code` is defined.
    fn enabled(&self, me: ProcessId, code: u32, input: u64) -> bool;
    /// Does it on the value; gives the output.
    fn execute(&mut self, me: ProcessId, code: u32, input: u64) -> u64;
    /// Between how many outcomes an operation that is enabled chooses.
    fn choices(&self, _code: u32, _input: u64) -> u32 {
        1
    }
    /// Does it with one of these outcomes. An object that has a choice defines this, and `execute` by it.
    fn choose(&mut self, me: ProcessId, code: u32, input: u64, _choice: u32) -> u64 {
        self.execute(me, code, input)
    }
    /// How two operations relate, with their outputs. The answer `Independent` must hold for all values in which
    /// the operations can follow each other with these outputs; `Ordered` only if the second is not enabled before the
    /// first, `Conflict` only if it is.
    fn relation(&self, _first: (u32, u64, u64), _second: (u32, u64, u64)) -> Relation {
        Relation::Doubtful
    }
    /// A copy.
    fn copy(&self) -> Box<dyn CustomObject>;
    /// The value, for people.
    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

impl Clone for Box<dyn CustomObject> {
    fn clone(&self) -> Self {
        self.copy()
    }
}

fn custom(action: Action) -> (u32, u64) {
    match action {
        Action::Custom { code, input } => (code, input),
        _ => (u32::MAX, 0),
    }
}

impl Table for Box<dyn CustomObject> {
    fn enabled(&self, me: ProcessId, action: Action) -> bool {
        let (code, input) = custom(action);
        (**self).enabled(me, code, input)
    }

    fn choices(&self, action: Action) -> u32 {
        let (code, input) = custom(action);
        (**self).choices(code, input)
    }

    fn peek(&self, me: ProcessId, action: Action, choice: u32) -> Effect {
        if Table::enabled(self, me, action) {
            self.clone().execute(me, action, choice)
        } else {
            Effect::default()
        }
    }

    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let (code, input) = custom(action);
        Effect { out: (**self).choose(me, code, input, choice), stamp: 0 }
    }

    fn relation(&self, first: &Label, second: &Label) -> Relation {
        let operation = |label: &Label| {
            let (code, input) = custom(label.action);
            (code, input, label.effect.out)
        };
        (**self).relation(operation(first), operation(second))
    }

    /// Outputs are not known beforehand.
    fn interferes(&self, _: Action, _: Action) -> bool {
        true
    }

    fn describe(&self) -> String {
        (**self).describe()
    }
}
