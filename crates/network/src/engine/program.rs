//! A network in the form in which it runs: widths, offsets and tables resolved once.
//!
//! Expressions are trees with nodes of their own for what is frequent: bytes, and bytes compared with
//! constants. Steps lie in one table in the order of their numbers, locations of all kinds in another.

use crate::{BinaryOp, ChannelTest, Width};

/// How a scalar is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Byte,
    Unsigned16,
    Signed16,
    Word,
}

/// A scalar at a fixed place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar {
    pub(super) offset: u32,
    /// What is left of a value that is stored.
    pub(super) mask: i32,
    pub(super) size: Size,
    pub(super) is_local: bool,
}

impl Scalar {
    pub(super) fn new(offset: usize, width: Width, is_local: bool) -> Self {
        let size = match (width.bytes(), width) {
            (1, _) => Size::Byte,
            (2, Width::Short) => Size::Signed16,
            (2, _) => Size::Unsigned16,
            _ => Size::Word,
        };
        let mask = match width {
            Width::Bits(n) if n < 32 => (1 << n) - 1,
            Width::Byte => 0xff,
            Width::Short => 0xffff,
            Width::Bits(_) | Width::Int => -1,
        };
        Self { offset: offset as u32, mask, size, is_local }
    }

    /// How many bytes it takes.
    #[inline]
    pub(super) fn n_bytes(self) -> usize {
        match self.size {
            Size::Byte => 1,
            Size::Unsigned16 | Size::Signed16 => 2,
            Size::Word => 4,
        }
    }

    /// Reads the scalar at `at`.
    #[inline]
    pub(super) fn read(self, bytes: &[u8], at: usize) -> i32 {
        match self.size {
            Size::Byte => i32::from(bytes[at]),
            Size::Unsigned16 => i32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])),
            Size::Signed16 => i32::from(i16::from_le_bytes([bytes[at], bytes[at + 1]])),
            Size::Word => {
                let word = &bytes[at..at + 4];
                i32::from_le_bytes([word[0], word[1], word[2], word[3]])
            }
        }
    }

    /// Writes the scalar at `at`, cut to size.
    #[inline]
    pub(super) fn write(self, bytes: &mut [u8], at: usize, value: i32) {
        let value = value & self.mask;
        match self.size {
            Size::Byte => bytes[at] = value as u8,
            Size::Unsigned16 | Size::Signed16 => {
                bytes[at..at + 2].copy_from_slice(&(value as u16).to_le_bytes());
            }
            Size::Word => bytes[at..at + 4].copy_from_slice(&value.to_le_bytes()),
        }
    }

    /// What reading would give after writing `value`.
    pub(super) fn cut(self, value: i32) -> i32 {
        match self.size {
            Size::Signed16 => i32::from(value as i16),
            _ => value & self.mask,
        }
    }
}

/// A scalar in arrays.
#[derive(Debug)]
pub(super) struct Element {
    /// The first.
    pub(super) scalar: Scalar,
    pub(super) indices: Box<[Index]>,
}

/// An index that is not constant.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) value: Code,
    pub(super) length: usize,
    pub(super) stride: usize,
}

/// An expression.
#[derive(Debug)]
pub(super) enum Code {
    Constant(i32),
    /// A global byte.
    Global(u32),
    /// A local byte.
    Local(u32),
    Scalar(Scalar),
    Element(Box<Element>),
    /// A global byte compared with a constant.
    GlobalIs(u32, i32),
    GlobalIsNot(u32, i32),
    /// A local byte compared with a constant.
    LocalIs(u32, i32),
    LocalIsNot(u32, i32),
    Not(Box<Code>),
    Minus(Box<Code>),
    Complement(Box<Code>),
    And(Box<[Code; 2]>),
    Or(Box<[Code; 2]>),
    Equal(Box<[Code; 2]>),
    NotEqual(Box<[Code; 2]>),
    Binary(BinaryOp, Box<[Code; 2]>),
    Conditional(Box<[Code; 3]>),
    Channel(ChannelTest, Box<Code>),
    Poll(Box<Receive>),
    Pid,
    ProcessCount,
    Timeout,
    NonProgress,
    Accepting,
    PcValue(Box<Code>),
    /// Whether a process (the oldest of the kind, if none is named) is at a location.
    RemoteLocation(Box<Remote>, u16),
    RemoteLoad(Box<Remote>, Box<Element>),
    Started,
}

/// Another process.
#[derive(Debug)]
pub(super) struct Remote {
    pub(super) kind: u32,
    pub(super) process: Option<Code>,
}

/// Where a value goes.
#[derive(Debug)]
pub(super) enum Target {
    Scalar(Scalar),
    Element(Box<Element>),
}

/// A field of a message, as a receiver sees it.
#[derive(Debug)]
pub(super) enum Field {
    Match(Code),
    Bind(Target),
    Ignore,
}

#[derive(Debug)]
pub(super) struct Send {
    pub(super) channel: Code,
    pub(super) is_sorted: bool,
    pub(super) fields: Box<[Code]>,
}

#[derive(Debug)]
pub(super) struct Receive {
    pub(super) channel: Code,
    pub(super) is_random: bool,
    pub(super) is_copy: bool,
    pub(super) fields: Box<[Field]>,
}

#[derive(Debug)]
pub(super) struct Run {
    pub(super) kind: usize,
    pub(super) arguments: Box<[Code]>,
    pub(super) result: Option<(Target, Code)>,
}

/// What a step does.
#[derive(Debug)]
pub(super) enum Act {
    Skip,
    /// Always, nothing; but evaluating these may go wrong.
    Mention(Box<[Code]>),
    Else,
    Guard(Code),
    Assign(Target, Code),
    Assert(Code),
    Send(Box<Send>),
    Receive(Box<Receive>),
    Run(Box<Run>),
    End,
    /// A sequence that is one step, from this location of the process on.
    Sequence(u16),
}

#[derive(Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    pub(super) next: u16,
    pub(super) is_atomic: bool,
    pub(super) escape: u32,
    /// What becomes zero when it is done.
    pub(super) resets: Box<[Scalar]>,
}

/// Where a process can be.
#[derive(Debug)]
pub(super) struct Location {
    /// Number of its first step.
    pub(super) first: u32,
    pub(super) n_steps: u32,
    pub(super) is_progress: bool,
    pub(super) is_accept: bool,
    /// The steps that may take the message of a rendezvous.
    pub(super) receivers: Box<[u32]>,
}

/// How a new process begins.
#[derive(Debug)]
pub(super) enum Begin {
    Value(Target, Code),
    /// A new channel of this kind; its number goes here.
    Channel(Scalar, usize),
}

#[derive(Debug)]
pub(super) struct Kind {
    /// Of its location zero in the table.
    pub(super) first_location: u32,
    pub(super) size: usize,
    pub(super) entry: u16,
    pub(super) provided: Option<Code>,
    pub(super) parameters: Box<[Scalar]>,
    pub(super) begins: Box<[Begin]>,
}

#[derive(Debug)]
pub(super) struct ChannelKind {
    pub(super) size: usize,
    pub(super) capacity: usize,
    pub(super) message_size: usize,
    /// Fields of a message; offsets from its beginning.
    pub(super) fields: Box<[Scalar]>,
}

/// The compiled network.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) kinds: Vec<Kind>,
    pub(super) channels: Vec<ChannelKind>,
    /// Of all kinds, by kind and number.
    pub(super) locations: Vec<Location>,
    /// Of all kinds, by number.
    pub(super) steps: Vec<Step>,
    pub(super) globals_size: usize,
    /// Bytes of a process before its locals.
    pub(super) header: usize,
    pub(super) last: Option<Scalar>,
    /// Whether no process is ever started: then the length of a state tells its segments.
    pub(super) is_static: bool,
    pub(super) uses_timeout: bool,
    pub(super) n_outcomes: u32,
    pub(super) most_processes: usize,
    pub(super) longest_vector: usize,
}
