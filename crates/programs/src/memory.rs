//! Accesses to memory: which cells they touch, which of them race, and loops that wait.
//!
//! A cell is four bytes, and its value is how often it was written: what the program keeps there is its own business. A task
//! that makes the same reads again and again, and nothing was written there, waits until something is: else runs would not
//! end. A loop that gives up after some rounds is not told apart from one that goes on for ever, if it makes as many.
//! **Checked by** `tests/programs.rs`.

use stubborn_schedule::objects::Object;
use stubborn_schedule::{Action, ObjectId, Op, Part, Update, Width, World};

/// Bytes of a cell.
const CELL: u64 = 4;
/// Bytes of one access, at most.
const MOST_BYTES: u64 = 4_096;
/// A loop waits if it has gone round so many times.
const SPIN_AFTER: usize = 10;
/// Reads in a loop, at most.
const MAX_PERIOD: usize = 8;

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// The process, or the shared memory.
    pub(crate) space: u64,
    pub(crate) address: u64,
    size: u64,
    pub(crate) is_write: bool,
    is_atomic: bool,
}

impl Access {
    /// From what the program says: flags in the two lowest bits, then the size. None if it is too long to be followed.
    pub(crate) fn new(space: u64, address: u64, packed: u64) -> Option<Access> {
        let size = (packed >> 2).max(1);
        let access = Access { space, address, size, is_write: packed & 1 != 0, is_atomic: packed & 2 != 0 };
        (size <= MOST_BYTES).then_some(access)
    }

    /// Addresses of the cells.
    pub(crate) fn cells(self) -> impl Iterator<Item = u64> {
        let last = self.address.saturating_add(self.size - 1);
        (self.address / CELL..=last / CELL).map(|cell| cell * CELL)
    }

    /// Whether two accesses at the same time are a data race.
    pub(crate) fn races_with(self, other: Access) -> bool {
        let meets = self.space == other.space
            && self.address < other.address.saturating_add(other.size)
            && other.address < self.address.saturating_add(self.size);
        meets && (self.is_write || other.is_write) && !(self.is_atomic && other.is_atomic)
    }

    /// The access as an operation on its cells.
    pub(crate) fn op(self, cells: &[ObjectId]) -> Op {
        let action = if self.is_write { Action::Update(Update::Add, Width::WORD, 1) } else { Action::Read };
        let parts: Vec<Part> = cells.iter().map(|&object| Part { object, action }).collect();
        Op::on_all(&parts)
    }
}

/// What a task has read since it last did anything else: where, and from which cells with which values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spin(Vec<(u64, Vec<(ObjectId, u64)>)>);

impl Spin {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Before an access: what to wait for, if it is the next of a loop that waits.
    pub(crate) fn before(
        &mut self,
        site: u64,
        cells: &[ObjectId],
        access: Access,
        world: &World,
    ) -> Option<Vec<Part>> {
        if access.is_write {
            self.clear();
            return None;
        }
        let value = |object: ObjectId| match world.object(object) {
            Object::Variable(variable) => variable.value(),
            _ => 0,
        };
        if let Some(period) = self.period(site) {
            let around = &self.0[self.0.len() - period..];
            let is_unchanged =
                around.iter().flat_map(|read| &read.1).all(|&(object, seen)| value(object) == seen);
            if is_unchanged {
                let mut parts: Vec<Part> = Vec::new();
                for &(object, seen) in around.iter().flat_map(|read| &read.1) {
                    let part = Part { object, action: Action::Await(seen) };
                    if !parts.contains(&part) {
                        parts.push(part);
                    }
                }
                self.clear();
                return Some(parts);
            }
        }
        // The value when it is announced; if it is another when it is done, the next round shows that.
        self.0.push((site, cells.iter().map(|&object| (object, value(object))).collect()));
        None
    }

    fn period(&self, site: u64) -> Option<usize> {
        (1..=MAX_PERIOD).find(|&period| {
            let n = self.0.len();
            n >= period * SPIN_AFTER
                && self.0[n - period].0 == site
                && (n - period * (SPIN_AFTER - 1)..n).all(|i| self.0[i] == self.0[i - period])
        })
    }
}
