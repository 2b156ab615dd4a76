//! What can be observed of processes: when two are the same, when one refines another, and the smallest equal one.
//!
//! The data's way: `system` puts one or two [`Lsts`](stubborn_lts::Lsts) on common numbers; `loops` merges cycles of
//! invisible steps; `refine` finds bisimilar states; `acceptance` determinises; [`compare`] walks pairs of sets of
//! states; [`minimize`] and [`determinise`] write a system again; [`build`] makes one step by step. HVV is Hansen, Virtanen, Valmari, *Merging
//! State-Based and Action-Based Verification* (2003), whose Definition 7 is what CFFD means with propositions.
//!
//! Invariant: a step is invisible if its action is tau *and* it changes no proposition.

#![forbid(unsafe_code)]

mod acceptance;
mod build;
mod compare;
mod compress;
mod edges;
mod loops;
mod minimize;
mod normal_form;
mod refine;
mod system;

pub use acceptance::Limit;
pub use build::{BuildError, Built, Loaded, Row, Workshop, build};
pub use compare::{Comparison, Difference, Model, Reason, Relation, Side, Step, compare};
pub use minimize::{Minimization, behind_tau, determinise, minimize};

use stubborn_lts::TooLarge;
use thiserror::Error;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoAnswer {
    /// Determinisation takes too much.
    #[error(
        "inconclusive: the deterministic system has more than {nodes} states, or sets of states with more than {members} members in all: determinisation may take exponentially many; raise the limit, or hide less"
    )]
    Limit {
        /// Most states.
        nodes: usize,
        /// Most members of sets.
        members: usize,
    },
    /// Bisimulations are equivalences.
    #[error("{0} has no preorder; ask for equivalence")]
    NoPreorder(Model),
    /// It cannot be explicit.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}
