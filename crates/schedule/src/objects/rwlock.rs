//! Locks for several readers or one writer.
//!
//! Readers commute with readers. A writer waits for all readers that are in, each of whose unlocks is ordered
//! before it.

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, Attempt, ProcessId};
use smallvec::SmallVec;

/// A lock for several readers or one writer.
#[derive(Clone, Debug, Default)]
pub struct RwLock {
    writer: Option<ProcessId>,
    readers: SmallVec<[ProcessId; 4]>,
}

impl RwLock {
    /// A lock that is free.
    pub fn new() -> RwLock {
        RwLock::default()
    }
}

/// What a label amounts to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Read,
    Write,
    Unread,
    Unwrite,
    /// An attempt that failed because of a writer.
    FailRead,
    /// An attempt to write that failed because of readers.
    FailWrite,
}

/// Stamps: a writer was in, readers were in.
const WRITER: u64 = 1;
const READERS: u64 = 2;

fn does(label: &Label) -> (Does, bool) {
    match (label.action, label.effect.stamp) {
        (Action::TryReadLock | Action::TryWriteLock, WRITER) => return (Does::FailRead, true),
        (Action::TryWriteLock, READERS) => return (Does::FailWrite, true),
        _ => {}
    }
    match label.action {
        Action::ReadLock => (Does::Read, false),
        Action::TryReadLock => (Does::Read, true),
        Action::TryWriteLock => (Does::Write, true),
        Action::ReadUnlock => (Does::Unread, false),
        Action::WriteUnlock => (Does::Unwrite, false),
        _ => (Does::Write, false),
    }
}

impl Table for RwLock {
    #[inline]
    fn enabled(&self, _: ProcessId, action: Action) -> bool {
        match action {
            Action::ReadLock | Action::Retry(Attempt::ReadLock) => self.writer.is_none(),
            Action::WriteLock | Action::Retry(_) => self.writer.is_none() && self.readers.is_empty(),
            _ => true,
        }
    }

    /// An attempt gets 1 if it succeeds.
    #[inline]
    fn peek(&self, _: ProcessId, action: Action, _: u32) -> Effect {
        let stamp = match action {
            Action::TryReadLock | Action::TryWriteLock if self.writer.is_some() => WRITER,
            Action::TryWriteLock if !self.readers.is_empty() => READERS,
            _ => 0,
        };
        Effect { out: u64::from(stamp == 0), stamp }
    }

    #[inline]
    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let effect = self.peek(me, action, choice);
        match action {
            Action::ReadUnlock => {
                if let Some(i) = self.readers.iter().position(|&reader| reader == me) {
                    self.readers.remove(i);
                }
            }
            Action::WriteUnlock => self.writer = None,
            Action::Retry(_) => {}
            _ if effect.stamp != 0 => {}
            Action::ReadLock | Action::TryReadLock => {
                // Sorted: the value must not remember the order.
                let i = self.readers.partition_point(|&reader| reader < me);
                self.readers.insert(i, me);
            }
            _ => self.writer = Some(me),
        }
        effect
    }

    fn relation(&self, first: &Label, second: &Label) -> Relation {
        if let Some(relation) = super::relation_of_retries(first, second) {
            return relation;
        }
        use Does::*;
        let ((one, _), (two, attempt)) = (does(first), does(second));
        match (one, two) {
            (Read | Unread, Read | Unread) => Relation::Independent,
            (FailRead | FailWrite, FailRead | FailWrite) => Relation::Independent,
            // A writer is in, whom readers do not touch.
            (FailRead, Unread) | (Unread, FailRead) => Relation::Independent,
            (Unread, Write) | (Unwrite, Read | Write) if !attempt => Relation::Ordered,
            (Write, Unwrite) => Relation::Ordered,
            // Never neighbours: an unlock lies between.
            (FailRead, Read | Write) => Relation::Ordered,
            (FailWrite, Write) => Relation::Ordered,
            _ => Relation::Conflict,
        }
    }

    fn commutes(&self, one: Action, two: Action) -> bool {
        let reads = |action| matches!(action, Action::ReadLock | Action::ReadUnlock);
        reads(one) && reads(two)
    }

    fn interferes(&self, action: Action, other: Action) -> bool {
        use Action::*;
        let reading = |action| matches!(action, ReadLock | TryReadLock | ReadUnlock);
        !(reading(action) && reading(other))
    }

    fn enables(&self, _: Action, other: Action, by: ProcessId) -> bool {
        match other {
            Action::WriteUnlock => self.writer == Some(by),
            // Any of the readers that are in must leave; which of them is asked for does not matter.
            Action::ReadUnlock => self.readers.first() == Some(&by),
            _ => false,
        }
    }

    fn holders(&self, _: Action) -> Vec<ProcessId> {
        self.writer.iter().chain(&self.readers).copied().collect()
    }

    fn describe(&self) -> String {
        match (self.writer, self.readers.len()) {
            (Some(writer), _) => format!("written by {writer}"),
            (None, 0) => "free".to_owned(),
            (None, _) => format!("read by {:?}", self.readers),
        }
    }
}
