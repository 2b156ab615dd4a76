//! The seams of the kernel.
//!
//! Everything in `stubborn` is an implementation of one of four small ideas, or a wrapper from one to
//! itself. Two of them are defined here, because front-ends need them and nothing else:
//!
//! * a [`System`]: an initial state, numbered deterministic transitions, firing. Its states are
//!   [`Vector`]s: flat bytes, flat words, or a fixed key of one, two or four words;
//! * [`Rules`]: "if this transition is in the stubborn set of this state, these must be too".
//!
//! The reduction (crate `reduce`), the state store (`store`) and the search (`explore`) are the others.
//! What may be asked of a system is a [`Question`]; a system that can answer what a question needs to
//! know about single states is [`Observed`].
//!
//! Invariant: this crate does no search, no I/O and no formatting for people beyond names.

#![forbid(unsafe_code)]

mod batch;
mod composed;
mod delta;
mod fault;
mod message;
mod observe;
mod question;
mod reject;
mod rules;
mod system;
mod vector;
mod words;

pub use batch::Batch;
pub use composed::{Bits, Composed, Lent, Parts, Shared, Tracer, Unit, Whole};
pub use delta::Deltas;
pub use fault::Fault;
pub use message::{Message, MessageKind};
pub use observe::{Observed, Symmetric};
pub use question::Question;
pub use reject::{Rejecting, Rejection, RejectionKind};
pub use rules::{Alternative, Requirements, Rules, Told, Visible};
pub use system::{Part, System, TransitionId};
pub use vector::{Archive, FlatRows, KeyRows, Plain, Rows, Vector};
pub use words::WordVector;
