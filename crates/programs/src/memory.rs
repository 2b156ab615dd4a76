//! Accesses to memory: which cells they touch, which of them race, and loops that wait.
//!
//! A cell is four bytes, and its value is how often it was written: what the program keeps there is its own business. A task
//! that makes the same reads again and again, and nothing was written there, waits until something is: else runs would not
//! end. Writes to what is the task's alone do not count. A loop that gives up after some rounds is not told apart from one that goes on for ever, if it makes as many.
//! **Checked by** `tests/programs.rs`.

use rustc_hash::FxHashMap;
use stubborn_schedule::objects::Object;
use stubborn_schedule::{Action, ObjectId, Op, Part, ProcessId, Update, Width, World};

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
    /// On the stack of the thread that makes it.
    is_on_stack: bool,
}

impl Access {
    /// From what the program says: flags in the three lowest bits, then the size. None if it is too long to be followed.
    pub(crate) fn new(space: u64, address: u64, packed: u64) -> Option<Access> {
        let size = (packed >> 3).max(1);
        let access = Access {
            space,
            address,
            size,
            is_write: packed & 1 != 0,
            is_atomic: packed & 2 != 0,
            is_on_stack: packed & 4 != 0,
        };
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

/// Who has touched cells, as far as it matters to loops: a loop that waits may write to what is its thread's alone, such as what a
/// compare-and-exchange expects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owners(FxHashMap<ObjectId, Owner>);

#[derive(Clone, Copy, Debug)]
struct Owner {
    task: ProcessId,
    is_alone: bool,
    /// A loop that writes to it was taken to wait, which is nobody else's business.
    is_trusted: bool,
}

impl Owners {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Notes an access. Whether it is a write to what is the task's alone; or which cell was taken to be somebody else's alone.
    pub(crate) fn note(
        &mut self,
        task: ProcessId,
        cells: &[ObjectId],
        access: Access,
    ) -> Result<bool, ObjectId> {
        let mut is_own = access.is_write && access.is_on_stack;
        for &cell in cells {
            let owner = self.0.entry(cell).or_insert(Owner { task, is_alone: true, is_trusted: false });
            owner.is_alone &= owner.task == task;
            is_own &= owner.is_alone;
            if owner.is_trusted && !owner.is_alone {
                return Err(cell);
            }
        }
        Ok(is_own)
    }

    /// A loop that writes to these was taken to wait.
    pub(crate) fn trust(&mut self, cells: &[ObjectId]) {
        for cell in cells {
            self.0.entry(*cell).and_modify(|owner| owner.is_trusted = true);
        }
    }
}

/// What a task has read since it last did anything else: where, and from which cells with which values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spin {
    reads: Vec<(u64, Vec<(ObjectId, u64)>)>,
    /// Cells of its own that it has written to.
    own: Vec<ObjectId>,
}

impl Spin {
    pub(crate) fn clear(&mut self) {
        self.reads.clear();
        self.own.clear();
    }

    /// Before an access: what to wait for, if it is the next of a loop that waits, and what it has written.
    pub(crate) fn before(
        &mut self,
        site: u64,
        cells: &[ObjectId],
        (access, is_own): (Access, bool),
        world: &World,
    ) -> Option<(Vec<Part>, Vec<ObjectId>)> {
        if access.is_write {
            match is_own {
                true => self.own.extend(
                    cells.iter().filter(|cell| !self.own.contains(cell)).copied().collect::<Vec<_>>(),
                ),
                false => self.clear(),
            }
            return None;
        }
        let value = |object: ObjectId| match world.object(object) {
            Object::Variable(variable) => variable.value(),
            _ => 0,
        };
        if let Some(period) = self.period(site) {
            let around = &self.reads[self.reads.len() - period..];
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
                let own = std::mem::take(&mut self.own);
                self.clear();
                return Some((parts, own));
            }
        }
        // The value when it is announced; if it is another when it is done, the next round shows that.
        self.reads.push((site, cells.iter().map(|&object| (object, value(object))).collect()));
        None
    }

    fn period(&self, site: u64) -> Option<usize> {
        (1..=MAX_PERIOD).find(|&period| {
            let n = self.reads.len();
            n >= period * SPIN_AFTER
                && self.reads[n - period].0 == site
                && (n - period * (SPIN_AFTER - 1)..n).all(|i| self.reads[i] == self.reads[i - period])
        })
    }
}
