//! Objects of the operating system that the engine does not know: the children of a process, and System V semaphores
//! that are used as more than counters of ones.
//!
//! **Checked by** `tests/programs.rs`.

use std::collections::BTreeSet;
use stubborn_schedule::ProcessId;
use stubborn_schedule::objects::{CustomObject, Relation};

/// A child has ended; the input says which.
pub(crate) const CHILD_ENDS: u32 = 0;
/// Waits for the child of the input; gets its number and one more.
pub(crate) const AWAIT_CHILD: u32 = 1;
/// Waits for any child, or with input 1 only looks; gets the number of one and one more, or 0.
pub(crate) const AWAIT_ANY: u32 = 2;

/// The children of a process that have ended and were not waited for.
///
/// If somebody asks which of them has ended, the order in which they do matters.
#[derive(Clone, Debug)]
pub(crate) struct Children {
    ended: BTreeSet<u64>,
    order_matters: bool,
}

impl Children {
    pub(crate) fn new(order_matters: bool) -> Children {
        Children { ended: BTreeSet::new(), order_matters }
    }
}

impl CustomObject for Children {
    fn enabled(&self, _: ProcessId, code: u32, input: u64) -> bool {
        match code {
            AWAIT_CHILD => self.ended.contains(&input),
            AWAIT_ANY => input == 1 || !self.ended.is_empty(),
            _ => true,
        }
    }

    fn execute(&mut self, _: ProcessId, code: u32, input: u64) -> u64 {
        match code {
            CHILD_ENDS => {
                self.ended.insert(input);
                0
            }
            AWAIT_CHILD => {
                self.ended.remove(&input);
                input + 1
            }
            _ => self.ended.pop_first().map_or(0, |child| child + 1),
        }
    }

    fn relation(&self, first: (u32, u64, u64), second: (u32, u64, u64)) -> Relation {
        match (first.0, second.0) {
            (CHILD_ENDS, CHILD_ENDS) if self.order_matters => Relation::Conflict,
            (AWAIT_ANY, _) | (_, AWAIT_ANY) => Relation::Doubtful,
            (CHILD_ENDS, AWAIT_CHILD) if first.1 == second.1 => Relation::Ordered,
            _ => Relation::Independent,
        }
    }

    fn copy(&self) -> Box<dyn CustomObject> {
        Box::new(self.clone())
    }

    fn describe(&self) -> String {
        format!("{} to be waited for", self.ended.len())
    }
}

/// Adds the input.
pub(crate) const ADD: u32 = 10;
/// Subtracts the input, and waits until that is possible.
pub(crate) const SUBTRACT: u32 = 11;
/// Waits for zero.
pub(crate) const AWAIT_ZERO: u32 = 12;
/// Becomes the input.
pub(crate) const SET: u32 = 13;
/// Gets the value.
pub(crate) const GET: u32 = 14;

/// A System V semaphore. Every order matters, but that of two looks.
#[derive(Clone, Debug)]
pub(crate) struct SysV(pub(crate) u64);

impl CustomObject for SysV {
    fn enabled(&self, _: ProcessId, code: u32, input: u64) -> bool {
        match code {
            SUBTRACT => self.0 >= input,
            AWAIT_ZERO => self.0 == 0,
            _ => true,
        }
    }

    fn execute(&mut self, _: ProcessId, code: u32, input: u64) -> u64 {
        match code {
            ADD => self.0 += input,
            SUBTRACT => self.0 -= input,
            SET => self.0 = input,
            _ => {}
        }
        self.0
    }

    fn relation(&self, first: (u32, u64, u64), second: (u32, u64, u64)) -> Relation {
        let looks = |code: u32| code == GET || code == AWAIT_ZERO;
        if looks(first.0) && looks(second.0) { Relation::Independent } else { Relation::Doubtful }
    }

    fn copy(&self) -> Box<dyn CustomObject> {
        Box::new(self.clone())
    }

    fn describe(&self) -> String {
        format!("value {}", self.0)
    }
}
