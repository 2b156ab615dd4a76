//! Tests only: the truth about small systems, and small systems to tell it about.
//!
//! Brute force ([`FullGraph`], [`Brute`]) answers every question by its definition on the full graph. Two
//! kinds of random systems are made to be hard for reductions: label-synchronised networks
//! ([`Network::random`]) with rules of their own, into which faults can be [`Planted`]; and programs of
//! guarded commands ([`Program::random`]), whose rules are derived from footprints. [`definition`] tests
//! single stubborn sets against D0, D1 and D2. [`shrink()`] makes a failing network small, and its text form
//! can be pasted into a test. [`promela`] makes random Promela models and has SPIN and plain search judge what
//! is said about them. [`keys`] compares packed keys with the system, state by state; [`sleep`] has sleep
//! sets by their definition. [`campaign`] has what all campaigns need: seeds, and a guard against testing
//! nothing.
//!
//! ```
//! use stubborn_oracle::{Brute, FullGraph, Network};
//! use stubborn_system::Question;
//!
//! let network = Network::parse("label a 0 1\ncomponent 2 a:0>1\ncomponent 2 a:0>1\nstuck 0=0").unwrap();
//! let graph = FullGraph::explore(&network, 1000).unwrap();
//! assert!(Brute::new(&network, &graph).holds(&Question::Deadlock));
//! ```
//!
//! Invariant: no truth told here comes from the reductions, stores and searches that it is used to test.

#![forbid(unsafe_code)]

mod brute;
pub mod campaign;
pub mod closure;
mod commands;
mod commands_random;
mod commands_text;
pub mod definition;
mod fault;
mod formula;
mod graph;
pub mod keys;
pub mod linear;
mod network;
mod network_random;
mod network_rules;
mod network_text;
pub mod processes;
pub mod promela;
mod rng;
pub mod semantics;
mod shrink;
pub mod sleep;

pub use brute::Brute;
pub use commands::Program;
pub use fault::Planted;
pub use graph::{Edge, FullGraph};
pub use network::{Component, Conflicts, Fairness, Label, LocalEdge, Network, OneOf, Plan, Watch};
pub use network_random::Shape;
pub use rng::Rng;
pub use shrink::shrink;
