//! Processes as labelled state transition systems: formats, composition by rules, testers.
//!
//! The data's way: `lexer` and `read_lsts`, `aut` make an [`Lsts`] of a text, `write_lsts`, `aut` and `dot` write
//! one. HVV is Hansen, Virtanen, Valmari, *Merging State-Based and Action-Based Verification* (2003); V93 is
//! Valmari, *On-the-fly verification with stubborn sets* (1993).
//!
//! Invariant: this crate touches no file; [`Files`] gives it bytes.

#![forbid(unsafe_code)]

mod aut;
mod dot;
mod lexer;
mod lsts;
mod read_lsts;
mod source;
mod write_lsts;

pub use aut::{Tau, read_aut, write_aut};
pub use dot::write_dot;
pub use lsts::{Action, Lsts, LstsBuilder, MAX_STATES, Mark, Proposition, Special, TAU, TooLarge};
pub use read_lsts::{ReadOptions, read_lsts};
pub use source::{Files, MemoryFiles, NoFiles, Refusal, latin1, to_latin1};
pub use write_lsts::write_lsts;
