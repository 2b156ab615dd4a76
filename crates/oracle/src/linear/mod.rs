//! Linear time by brute force: whether all runs of a small system satisfy a formula, whether a claim can be
//! fulfilled, whether there is a cycle of some kind.
//!
//! [`Runs`] is an explicit graph with a letter per state. [`violation`] decides a formula on it by truth
//! assignments to subformulas, [`fulfilment`] decides a never claim by the product of network and claim as SPIN
//! describes it, [`acceptance_cycle`] and [`non_progress_cycle`] decide what labels ask for; [`Runs::lassos`] walks
//! along all short runs. All of them end in [`Marked::lasso`]: strong components by petgraph.
//!
//! Nothing here comes from the automata of the `ltl` crate, which are what is judged; only its formulas and
//! the meaning of formulas on a single word.

mod claim;
mod cycles;
mod marked;
mod runs;
mod tableau;

pub use claim::{Fulfilment, Product, fulfilment};
pub use cycles::{acceptance_cycle, non_progress_cycle};
pub use marked::{Arc, Marked};
pub use runs::{Belongs, Run, Runs, Step};
pub use tableau::{MAX_TEMPORAL, violation};
