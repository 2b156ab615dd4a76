//! Visible operations: what a process announces before it may do it.
//!
//! An operation consists of parts, each an action on one object. Nearly all have one part. Waiting on a
//! condition variable has two (it releases the mutex), waiting for one of several variables to change has
//! as many as there are variables, and a toss has none.

use smallvec::{SmallVec, smallvec};

/// The number of a process. The same process has the same number in every run.
pub type ProcessId = u32;

/// The number of an object: objects are numbered as they are created in a run, so that runs that begin with
/// the same schedule agree on the objects created by then, and on no others.
pub type ObjectId = u32;

/// How a read-modify-write operation computes the new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// The operand.
    Swap,
    /// The sum, wrapping.
    Add,
    /// The difference, wrapping.
    Sub,
    /// Bitwise and.
    And,
    /// The complement of bitwise and.
    Nand,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The larger.
    Max,
    /// The smaller.
    Min,
}

/// The integers that a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Width {
    /// Bits, 1 to 64.
    pub bits: u8,
    /// Whether the largest bit is the sign.
    pub signed: bool,
}

impl Width {
    /// Unsigned integers of 64 bits.
    pub const WORD: Width = Width { bits: 64, signed: false };

    /// The new value, of this width.
    pub fn apply(self, update: Update, old: u64, operand: u64) -> u64 {
        let new = match update {
            Update::Swap => operand,
            Update::Add => old.wrapping_add(operand),
            Update::Sub => old.wrapping_sub(operand),
            Update::And => old & operand,
            Update::Nand => !(old & operand),
            Update::Or => old | operand,
            Update::Xor => old ^ operand,
            Update::Max if self.less(old, operand) => operand,
            Update::Min if self.less(operand, old) => operand,
            Update::Max | Update::Min => old,
        };
        if self.bits == 64 { new } else { new & ((1 << self.bits) - 1) }
    }

    fn less(self, a: u64, b: u64) -> bool {
        let shift = 64 - u32::from(self.bits);
        if self.signed { ((a << shift) as i64) < (b << shift) as i64 } else { a < b }
    }
}

/// What a process may try to do, or ask for, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The words are those of the actions.
pub enum Attempt {
    Lock,
    ReadLock,
    WriteLock,
    Acquire,
    Send,
    Receive,
    Completion,
    End,
}

/// What is done to an object. Which actions an object understands is said in its file of `objects`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // The words are those of the objects' files.
pub enum Action {
    // Variables.
    Read,
    Write(u64),
    Complement,
    Update(Update, Width, u64),
    CompareExchange {
        expected: u64,
        new: u64,
    },
    /// Waits until the variable differs from a value.
    Await(u64),
    // Mutexes.
    Lock,
    TryLock,
    Unlock,
    // Locks for several readers or one writer.
    ReadLock,
    WriteLock,
    TryReadLock,
    TryWriteLock,
    ReadUnlock,
    WriteUnlock,
    // Condition variables.
    Wait,
    Wake,
    TimedWake,
    NotifyOne,
    NotifyAll,
    // Semaphores.
    Acquire,
    TryAcquire,
    Release,
    // Channels.
    Send(u64),
    TrySend(u64),
    Receive,
    TryReceive,
    Length,
    Empty,
    Full,
    /// Waits until the message with this rank was received.
    Taken(u64),
    DropSender,
    DropReceiver,
    // Barriers.
    Arrive,
    Leave(u64),
    // Cells that are initialised once.
    Begin,
    Complete,
    Abandon,
    IsComplete,
    // Processes.
    Exit,
    Join,
    IsFinished,
    Park,
    TimedPark,
    Unpark,
    /// Waits until an attempt would succeed, and makes none: it is how a loop that tries again and again waits.
    Retry(Attempt),
    // Objects of the user's.
    Custom {
        code: u32,
        input: u64,
    },
}

/// Operations of custom objects whose codes are not less only wait.
pub const WAITS: u32 = 1 << 31;

impl Action {
    /// Whether it waits for a change and does nothing. Of several such parts one that is enabled is enough.
    #[inline]
    pub fn only_waits(self) -> bool {
        match self {
            Action::Await(_) | Action::Retry(_) => true,
            Action::Custom { code, .. } => code >= WAITS,
            _ => false,
        }
    }
}

/// An action on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// The object.
    pub object: ObjectId,
    /// What is done to it.
    pub action: Action,
}

/// A visible operation.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Op {
    /// What it does to which objects.
    pub parts: SmallVec<[Part; 1]>,
    /// A toss: the operation has so many outcomes, besides those that its parts have.
    pub toss: u32,
    /// The operation is an assertion that fails.
    pub fails: bool,
    /// Where it comes from; means nothing to the engine, but must be the same in every run.
    pub site: u64,
}

/// Copies the parts at once; operations are cloned all the time.
impl Clone for Op {
    fn clone(&self) -> Op {
        Op { parts: SmallVec::from_slice(&self.parts), toss: self.toss, fails: self.fails, site: self.site }
    }
}

impl Op {
    /// An action on one object.
    pub fn on(object: ObjectId, action: Action) -> Op {
        Op { parts: smallvec![Part { object, action }], toss: 1, fails: false, site: 0 }
    }

    /// Actions on several objects.
    pub fn on_all(parts: &[Part]) -> Op {
        Op { parts: SmallVec::from_slice(parts), toss: 1, fails: false, site: 0 }
    }

    /// Waits on a condition variable: enters its queue and releases the mutex, at once.
    pub fn wait(condvar: ObjectId, mutex: ObjectId) -> Op {
        Op::on_all(&[
            Part { object: condvar, action: Action::Wait },
            Part { object: mutex, action: Action::Unlock },
        ])
    }

    /// A choice between `n` outcomes, 0 to `n - 1`.
    pub fn toss(n: u32) -> Op {
        Op { parts: SmallVec::new(), toss: n.max(1), fails: false, site: 0 }
    }

    /// An assertion.
    pub fn assert(holds: bool) -> Op {
        Op { parts: SmallVec::new(), toss: 1, fails: !holds, site: 0 }
    }

    /// The same operation, with where it comes from.
    pub fn at(mut self, site: u64) -> Op {
        self.site = site;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_respect_width_and_sign() {
        let byte = Width { bits: 8, signed: false };
        let signed = Width { bits: 8, signed: true };
        assert_eq!(byte.apply(Update::Add, 255, 1), 0);
        assert_eq!(byte.apply(Update::Max, 255, 1), 255);
        assert_eq!(signed.apply(Update::Max, 255, 1), 1);
        assert_eq!(signed.apply(Update::Min, 255, 1), 255);
        assert_eq!(byte.apply(Update::Nand, 3, 1), 254);
        assert_eq!(Width::WORD.apply(Update::Sub, 0, 1), u64::MAX);
    }
}
