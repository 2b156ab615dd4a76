//! What goes wrong in a model, as typed events.
//!
//! As with SPIN's `-c0`, most events do not stop anything: the step in which they happen is done, and the
//! search decides. Reading outside an array gives zero and writing there does nothing; so does division by
//! zero. A step that cannot be finished at all has no successor.

use crate::StepId;
use std::fmt;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trouble {
    /// An assertion does not hold.
    Assertion,
    /// Nothing can happen, and these processes may not stay where they are.
    InvalidEnd {
        /// Their numbers.
        processes: Vec<usize>,
    },
    /// An array was indexed outside its bounds.
    IndexOutOfRange {
        /// As written.
        place: String,
        /// The index.
        index: i32,
        /// How many elements there are.
        length: usize,
    },
    /// A division, or a remainder, by zero.
    DivisionByZero,
    /// A channel was used that is none; the step cannot be done.
    NoChannel,
    /// A rendezvous channel was polled: the answer is always no.
    PollOfRendezvous,
    /// A message with too few or too many fields was sent or received.
    WrongArity {
        /// How many fields the channel has.
        expected: usize,
        /// How many the step has.
        found: usize,
    },
    /// A sequence that is one step blocked after its beginning; the step cannot be done.
    BlockedSequence,
    /// A sequence that is one step does not end; the step cannot be done.
    EndlessSequence,
    /// A sequence that is one step sends on a rendezvous channel; the step cannot be done.
    RendezvousInSequence,
    /// An atomic sequence comes back to a state that it passed; it was not followed further.
    EndlessAtomic,
    /// An atomic sequence is too long, or branches too often; it was not followed further.
    AtomicTooLong,
    /// An event that the trace does not allow, or the last one that a `notrace` forbids.
    TraceViolated,
    /// Two steps of the trace fit the same event; the first was taken.
    TraceNotDeterministic,
    /// Nothing can happen, and the trace is not at its end.
    TraceUnfinished,
    /// There are too many processes; the step cannot be done.
    TooManyProcesses,
    /// The state vector would be too large; the step cannot be done.
    VectorTooLarge,
    /// There are too many channels; the step cannot be done.
    TooManyChannels,
    /// A process asked whether it is enabled itself.
    EnabledOfSelf,
    /// A priority that is not 1 to 255 was set; it was ignored.
    BadPriority,
}

impl Trouble {
    /// Whether the model is wrong. An endless atomic sequence alone is not: it only hides what would follow.
    pub fn is_error(&self) -> bool {
        !matches!(self, Self::EndlessAtomic)
    }

    /// If a limit on the size of states or on the length of atomic sequences kept the step from being done: what there would be too much of. That says
    /// something about the tool, and nothing about the model.
    pub fn too_much(&self) -> Option<&'static str> {
        match self {
            Self::TooManyProcesses => Some("processes"),
            Self::TooManyChannels => Some("channels"),
            Self::VectorTooLarge => Some("bytes in a state"),
            Self::AtomicTooLong => Some("steps in an atomic sequence"),
            _ => None,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Assertion => write!(f, "assertion violated"),
            Self::InvalidEnd { processes } => write!(f, "invalid end state: processes {processes:?}"),
            Self::IndexOutOfRange { place, index, length } => {
                write!(f, "index {index} of `{place}` is not below {length}")
            }
            Self::DivisionByZero => write!(f, "division by zero"),
            Self::NoChannel => write!(f, "this is no channel"),
            Self::PollOfRendezvous => write!(f, "a rendezvous channel was polled: the answer is always no"),
            Self::WrongArity { expected, found } => {
                write!(f, "messages of this channel have {expected} fields, not {found}")
            }
            Self::BlockedSequence => write!(f, "a d_step blocks after its first statement"),
            Self::EndlessSequence => write!(f, "a d_step does not end"),
            Self::RendezvousInSequence => write!(f, "a d_step sends on a rendezvous channel"),
            Self::EndlessAtomic => write!(f, "an atomic sequence does not end"),
            Self::AtomicTooLong => write!(f, "an atomic sequence is too long"),
            Self::TraceViolated => write!(f, "the event trace does not allow this event"),
            Self::TraceNotDeterministic => write!(f, "the event trace is not deterministic"),
            Self::TraceUnfinished => write!(f, "the event trace is not completed"),
            Self::TooManyProcesses => write!(f, "too many processes"),
            Self::VectorTooLarge => write!(f, "the state is too large"),
            Self::TooManyChannels => write!(f, "too many channels"),
            Self::EnabledOfSelf => write!(f, "`enabled` was asked about the process itself"),
            Self::BadPriority => write!(f, "a priority must be 1 to 255"),
        }
    }
}

/// Something went wrong, in a step of a process or (without a step) in a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What.
    pub trouble: Trouble,
    /// The process, and its step.
    pub step: Option<(usize, StepId)>,
}
