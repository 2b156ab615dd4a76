//! Objects of the operating system that the engine does not know: the children of a process and its life, message queues, pipes, names, and
//! System V semaphores that are used as more than counters of ones.
//!
//! **Checked by** `random.rs` (every algorithm sees what a search without reduction sees, on random programs over these objects; and every
//! pair of operations, in both orders), and `tests/programs.rs`.

#[cfg(test)]
mod random;

use std::collections::{BTreeMap, BTreeSet};
use stubborn_schedule::objects::{CustomObject, Relation};
use stubborn_schedule::{ProcessId, WAITS};

/// A child has ended; the input says which.
pub(crate) const CHILD_ENDS: u32 = 0;
/// Waits for the child of the input; gets its number and one more, or [`NO_CHILD`].
pub(crate) const AWAIT_CHILD: u32 = 1;
/// Waits for any child, or with input 1 only looks; gets the number of one and one more, 0, or [`NO_CHILD`].
pub(crate) const AWAIT_ANY: u32 = 2;
/// Looks whether the child of the input has ended; gets its number and one more, 0, or [`NO_CHILD`].
pub(crate) const LOOK_AT_CHILD: u32 = 3;
/// A child has been started. Only who does it can tell.
pub(crate) const CHILD_STARTS: u32 = 4;
/// Somebody else has waited for the child, or for all.
pub(crate) const NO_CHILD: u64 = u64::MAX;

/// The children of a process: which have ended, and which were waited for.
///
/// Which of several that have ended is waited for is a choice. The ends of two children commute; everything else that is
/// about any child depends on everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Children {
    started: BTreeSet<u64>,
    ended: BTreeSet<u64>,
}

impl Children {
    fn reap(&mut self, child: u64) -> u64 {
        self.started.remove(&child);
        if self.ended.remove(&child) { child + 1 } else { NO_CHILD }
    }
}

impl CustomObject for Children {
    fn enabled(&self, _: ProcessId, code: u32, input: u64) -> bool {
        match code {
            AWAIT_CHILD => self.ended.contains(&input) || !self.started.contains(&input),
            AWAIT_ANY => input == 1 || !self.ended.is_empty() || self.started.is_empty(),
            _ => true,
        }
    }

    fn choices(&self, code: u32, _: u64) -> u32 {
        if code == AWAIT_ANY { self.ended.len().max(1) as u32 } else { 1 }
    }

    fn execute(&mut self, me: ProcessId, code: u32, input: u64) -> u64 {
        self.choose(me, code, input, 0)
    }

    fn choose(&mut self, _: ProcessId, code: u32, input: u64, choice: u32) -> u64 {
        match code {
            CHILD_ENDS => {
                self.ended.insert(input);
                0
            }
            CHILD_STARTS => {
                self.started.insert(input);
                0
            }
            LOOK_AT_CHILD if self.started.contains(&input) && !self.ended.contains(&input) => 0,
            AWAIT_CHILD | LOOK_AT_CHILD => self.reap(input),
            _ => match self.ended.iter().nth(choice as usize % self.ended.len().max(1)) {
                Some(&child) => self.reap(child),
                None if self.started.is_empty() => NO_CHILD,
                None => 0,
            },
        }
    }

    fn relation(&self, first: (u32, u64, u64), second: (u32, u64, u64)) -> Relation {
        match (first.0, second.0) {
            (CHILD_ENDS, CHILD_ENDS) => Relation::Independent,
            (AWAIT_ANY, _) | (_, AWAIT_ANY) => Relation::Doubtful,
            _ if first.1 != second.1 => Relation::Independent,
            (CHILD_ENDS, AWAIT_CHILD) => Relation::Ordered,
            _ => Relation::Doubtful,
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

/// Sends the message of the input.
pub(crate) const SEND: u32 = 20;
/// Tries to, and gets 0 if the queue is full.
pub(crate) const TRY_SEND: u32 = 21;
/// Receives a message of the type of the input: the first if it is 0, the first of the least type up to its amount if it is
/// negative.
pub(crate) const RECEIVE: u32 = 22;
/// Tries to, and gets 0 if there is none.
pub(crate) const TRY_RECEIVE: u32 = 23;

/// A message: its type, how long it is, and which of the texts that were sent, in one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message(pub(crate) u64);

impl Message {
    /// None if the type is not below 65,536.
    pub(crate) fn new(kind: u64, length: usize, text: u32) -> Option<Message> {
        let fits = kind < 1 << 16 && length < 1 << 16;
        fits.then(|| Message(kind << 48 | (length as u64) << 32 | u64::from(text)))
    }

    pub(crate) fn kind(self) -> u64 {
        self.0 >> 48
    }

    fn length(self) -> u64 {
        self.0 >> 32 & 0xffff
    }

    pub(crate) fn text(self) -> u32 {
        self.0 as u32
    }
}

/// Bytes that a queue holds, as Linux has it by default.
const QUEUE_BYTES: u64 = 16_384;

/// A System V message queue. Every order matters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue(Vec<Message>);

impl Queue {
    fn has_room(&self, message: Message) -> bool {
        let held: u64 = self.0.iter().map(|message| message.length()).sum();
        held + message.length() <= QUEUE_BYTES && (self.0.len() as u64) < QUEUE_BYTES
    }

    /// The place of the message that is received.
    fn wanted(&self, kind: i64) -> Option<usize> {
        let kinds = || self.0.iter().map(|message| message.kind() as i64);
        match kind {
            0 => (!self.0.is_empty()).then_some(0),
            1.. => kinds().position(|found| found == kind),
            _ => {
                let least = kinds().filter(|&found| found <= kind.saturating_neg()).min()?;
                kinds().position(|found| found == least)
            }
        }
    }
}

impl CustomObject for Queue {
    fn enabled(&self, _: ProcessId, code: u32, input: u64) -> bool {
        match code {
            SEND => self.has_room(Message(input)),
            RECEIVE => self.wanted(input as i64).is_some(),
            _ => true,
        }
    }

    fn execute(&mut self, _: ProcessId, code: u32, input: u64) -> u64 {
        match code {
            SEND | TRY_SEND if self.has_room(Message(input)) => {
                self.0.push(Message(input));
                1
            }
            SEND | TRY_SEND => 0,
            _ => self.wanted(input as i64).map_or(0, |place| self.0.remove(place).0),
        }
    }

    fn copy(&self) -> Box<dyn CustomObject> {
        Box::new(self.clone())
    }

    fn describe(&self) -> String {
        format!("{} messages", self.0.len())
    }
}

/// One more file descriptor is an end of the pipe: 1 in the input for the end that is written to.
pub(crate) const OPEN: u32 = 30;
/// One less.
pub(crate) const CLOSE: u32 = 31;
/// Reads up to so many bytes; gets their number, or 0 if nobody can write any more.
pub(crate) const READ: u32 = 32;
/// Writes so many bytes; gets their number, or 0 if nobody can read any more.
pub(crate) const WRITE: u32 = 33;
/// The same without waiting; get -1 if they would have to.
pub(crate) const TRY_READ: u32 = 34;
/// See [`TRY_READ`].
pub(crate) const TRY_WRITE: u32 = 35;

/// Looks at an end: 1 in the input for the one that is written to. Gets 1 if something can be read, or written, and 2 if the other end is closed.
pub(crate) const LOOK: u32 = 36;
/// Waits until a look at an end finds something.
pub(crate) const LISTEN: u32 = WAITS;
/// The same, but not for ever.
pub(crate) const STOP_LISTENING: u32 = WAITS + 1;

/// Bytes that are written at once.
const ATOMIC_BYTES: u64 = 4_096;

/// Bytes that a pipe holds, as Linux has it by default.
const PIPE_BYTES: u64 = 65_536;

/// A pipe: how many bytes are in it, and how many file descriptors can read and write. Every order matters, but that of
/// opening, which only those do who have an end, that of two ends being closed, that of two looks, and that of an end being closed and somebody who
/// uses the same end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pipe {
    n_bytes: u64,
    n_readers: u64,
    n_writers: u64,
}

impl Pipe {
    fn can_read(&self) -> bool {
        self.n_bytes > 0 || self.n_writers == 0
    }

    fn can_write(&self, n: u64) -> bool {
        self.n_bytes + n <= PIPE_BYTES || self.n_readers == 0
    }

    /// What a look at an end finds.
    fn look(&self, end: u64) -> u64 {
        match end {
            1 => u64::from(self.n_bytes + ATOMIC_BYTES <= PIPE_BYTES) | u64::from(self.n_readers == 0) << 1,
            _ => u64::from(self.n_bytes > 0) | u64::from(self.n_writers == 0) << 1,
        }
    }
}

impl CustomObject for Pipe {
    fn enabled(&self, _: ProcessId, code: u32, input: u64) -> bool {
        match code {
            READ => self.can_read(),
            WRITE => self.can_write(input),
            LISTEN => self.look(input) != 0,
            _ => true,
        }
    }

    fn execute(&mut self, _: ProcessId, code: u32, input: u64) -> u64 {
        if matches!(code, LOOK | LISTEN | STOP_LISTENING) {
            return self.look(input);
        }
        let ends = if input == 1 { &mut self.n_writers } else { &mut self.n_readers };
        match code {
            OPEN => *ends += 1,
            CLOSE => *ends = ends.saturating_sub(1),
            READ | TRY_READ if self.can_read() => {
                let n = input.min(self.n_bytes);
                self.n_bytes -= n;
                return n;
            }
            WRITE | TRY_WRITE if self.n_readers == 0 => return 0,
            WRITE | TRY_WRITE if self.can_write(input) => {
                self.n_bytes += input;
                return input;
            }
            _ => return u64::MAX,
        }
        0
    }

    fn relation(&self, first: (u32, u64, u64), second: (u32, u64, u64)) -> Relation {
        let looks = |code: u32| matches!(code, LOOK | LISTEN | STOP_LISTENING);
        // Who reads cannot tell how many others could, nor can who writes.
        let is_unseen = |close: (u32, u64, u64), other: (u32, u64, u64)| {
            let end = match other.0 {
                READ | TRY_READ => 0,
                WRITE | TRY_WRITE => 1,
                code if looks(code) => other.1,
                _ => return false,
            };
            close.0 == CLOSE && close.1 == end
        };
        match (first.0, second.0) {
            (CLOSE, CLOSE) => Relation::Independent,
            (one, two) if looks(one) && looks(two) => Relation::Independent,
            _ if is_unseen(first, second) || is_unseen(second, first) => Relation::Independent,
            _ => Relation::Doubtful,
        }
    }

    fn copy(&self) -> Box<dyn CustomObject> {
        Box::new(self.clone())
    }

    fn describe(&self) -> String {
        format!("{} bytes, {} writers", self.n_bytes, self.n_writers)
    }
}

/// Does something in a process that lives; if that is nothing but a choice, the input is between how many outcomes.
pub(crate) const GO: u32 = 40;
/// Ends a process with all of its threads.
pub(crate) const DIE: u32 = 41;

/// Copies a process, in which other threads may be in the middle of something.
pub(crate) const COPY: u32 = 42;

/// A signal comes, whose number is the input.
pub(crate) const RING: u32 = 43;
/// A process takes the signal of the input. With [`EITHER`], what it was about to do had to wait: gets 0 if the signal ends that, and 1 if it
/// came just before.
pub(crate) const TAKE: u32 = 44;
/// See [`TAKE`].
pub(crate) const EITHER: u64 = 1 << 16;
/// Waits for a signal. Whoever takes one does something else, so this never ends.
pub(crate) const AWAIT_SIGNAL: u32 = 45;
/// Sleeps, unless a signal comes.
pub(crate) const SLEEP: u32 = 46;
/// Changes what is done about signals.
pub(crate) const HANDLE: u32 = 47;

/// The life of a process in which threads are left when it ends, or is copied: whatever they wait to do, they do it before or never,
/// and what is copied is how far they have come. A signal comes before or after each thing that the process does; then the process
/// is about to take it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Life {
    has_ended: bool,
}

impl CustomObject for Life {
    fn enabled(&self, _: ProcessId, code: u32, _: u64) -> bool {
        match code {
            RING => true,
            AWAIT_SIGNAL => false,
            _ => !self.has_ended,
        }
    }

    fn choices(&self, code: u32, input: u64) -> u32 {
        match code {
            GO => input.max(1) as u32,
            TAKE if input >= EITHER => 2,
            _ => 1,
        }
    }

    fn execute(&mut self, me: ProcessId, code: u32, input: u64) -> u64 {
        self.choose(me, code, input, 0)
    }

    fn choose(&mut self, _: ProcessId, code: u32, _: u64, choice: u32) -> u64 {
        self.has_ended |= code == DIE;
        u64::from(choice)
    }

    fn relation(&self, first: (u32, u64, u64), second: (u32, u64, u64)) -> Relation {
        // What threads do beside each other; and of signals only whether they have come counts.
        let goes = |code: u32| matches!(code, GO | TAKE | SLEEP | HANDLE);
        match (first.0, second.0) {
            (one, two) if goes(one) && goes(two) => Relation::Independent,
            (RING, RING) => Relation::Independent,
            _ => Relation::Doubtful,
        }
    }

    fn copy(&self) -> Box<dyn CustomObject> {
        Box::new(self.clone())
    }

    fn describe(&self) -> String {
        if self.has_ended { "ended" } else { "running" }.to_owned()
    }
}

/// Opens what has a name. The input is the number of the name, and in its two lowest bits whether it is made if it is not there, and whether
/// it must not be there. Gets its number, with bit 32 if it is new; 0 if it is not there, and `u64::MAX` if it must not be.
pub(crate) const OPEN_NAME: u32 = 50;
/// Takes a name away; gets whether it was there.
pub(crate) const REMOVE_NAME: u32 = 51;

/// The number of the first object with a name; those below are private.
const FIRST_NAMED: u64 = 1 << 20;
/// Names, at most.
pub(crate) const NAMES: u64 = 1 << 10;
const IS_NEW: u64 = 1 << 32;

/// Names of objects that processes share: how often each was made, and whether it is there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(BTreeMap<u64, (u64, bool)>);

impl Names {
    /// The name of the object with a number, unless it is private.
    pub(crate) fn of_object(id: u64) -> Option<u64> {
        Some(id.checked_sub(FIRST_NAMED)? % NAMES)
    }
}

impl CustomObject for Names {
    fn enabled(&self, _: ProcessId, _: u32, _: u64) -> bool {
        true
    }

    fn execute(&mut self, _: ProcessId, code: u32, input: u64) -> u64 {
        let name = if code == OPEN_NAME { input >> 2 } else { input };
        let (n_made, is_there) = self.0.entry(name).or_default();
        if code == REMOVE_NAME {
            return u64::from(std::mem::take(is_there));
        }
        let is_new = !*is_there && input & 1 != 0;
        if is_new {
            *n_made += 1;
            *is_there = true;
        }
        let id = FIRST_NAMED + name + NAMES * n_made.saturating_sub(1);
        match *is_there {
            true if is_new => id | IS_NEW,
            true if input & 2 != 0 => u64::MAX,
            true => id,
            false => 0,
        }
    }

    fn relation(&self, first: (u32, u64, u64), second: (u32, u64, u64)) -> Relation {
        let name = |label: (u32, u64, u64)| if label.0 == OPEN_NAME { label.1 >> 2 } else { label.1 };
        let looks =
            |label: (u32, u64, u64)| label.0 == OPEN_NAME && (label.2 < IS_NEW || label.2 == u64::MAX);
        match name(first) != name(second) || looks(first) && looks(second) {
            true => Relation::Independent,
            false => Relation::Doubtful,
        }
    }

    fn copy(&self) -> Box<dyn CustomObject> {
        Box::new(self.clone())
    }

    fn describe(&self) -> String {
        format!("{} names", self.0.values().filter(|name| name.1).count())
    }
}
