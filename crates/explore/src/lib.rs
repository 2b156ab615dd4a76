//! The search: an order over system, reduction and store; and graphs of what was found.
//!
//! [`breadth_first`] and [`depth_first`] take the same [`Job`] and give the same [`Outcome`]. Both generate
//! successors in batches, insert them in batches, and allocate nothing per state or transition.
//! [`breadth_first_together`] does what the first does, by one thread or several, where neither order nor transitions matter.
//! [`Graph`] keeps the edges where a question needs them, [`components`] and [`can_reach`] look at it.
//!
//! Invariant: a search knows nothing of languages, clocks or terminals. It reports to a [`Visitor`] what it
//! sees and to a [`Watch`] how far it is.

#![forbid(unsafe_code)]

mod bfs;
mod components;
mod dfs;
mod explorer;
mod graph;
mod ignoring;
mod kinds;
mod leads;
pub mod linear;
mod patience;
pub mod reject;
mod run;
mod scout;
mod settle;
mod together;

pub use bfs::{breadth_first, breadth_first_with};
pub use components::{Component, can_reach, components, shortest_path, transition_between};
pub use dfs::depth_first;
pub use explorer::{Counts, Crew, Explorer, SETTLED, Unclear, Work};
pub use graph::{Graph, Keep};
pub use patience::Patience;
pub use scout::Scout;
pub use settle::SiftingScout;
pub use together::{Ended, Pace, breadth_first_alone, breadth_first_together};

use stubborn_reduce::Reduction;
use stubborn_store::Store;
use stubborn_system::{Fault, System, TransitionId};

/// What to search, how, and within which limits.
pub struct Job<'a, Y: System + ?Sized> {
    /// The system.
    pub system: &'a Y,
    /// What to fire in each state.
    pub reduction: &'a mut dyn Reduction<Y>,
    /// Where states are kept; empty.
    pub store: &'a mut dyn Store<Y::State>,
    /// Who looks at the states.
    pub visitor: &'a mut dyn Visitor<Y::State>,
    /// Who looks at the clock.
    pub watch: &'a mut dyn Watch,
    /// When to give up.
    pub limits: Limits,
    /// Which edges to keep.
    pub keep: Keep,
    /// Go on after a sighting.
    pub all_errors: bool,
    /// Expand states again until no transition is put off for ever. Needs edges and an exact store; only
    /// [`breadth_first`] does it.
    pub no_ignoring: bool,
}

/// Looks at states as they are found.
pub trait Visitor<S: ?Sized> {
    /// A state is found for the first time.
    fn arrive(&mut self, state: &S) -> Result<Option<Sighting>, Fault>;
    /// The system flagged the expansion of a state.
    fn flagged(&mut self, state: &S) -> Result<Option<Sighting>, Fault>;
    /// A state turns out to be terminal.
    fn terminal(&mut self, state: &S) -> Result<Option<Sighting>, Fault>;

    /// Whether [`Visitor::arrive`] ever has something to say.
    fn looks_at_found(&self) -> bool {
        true
    }
}

/// Something wrong with a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Which question it answers; numbered by the visitor.
    pub question: usize,
    /// What is wrong.
    pub message: String,
}

/// Looks at the clock, listens for Ctrl-C, shows progress. Called after every thousand transitions or so.
pub trait Watch {
    /// The search is here; should it stop?
    fn tick(&mut self, stats: &Stats) -> Option<Stop>;
}

/// A visitor that looks for nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl<S: ?Sized> Visitor<S> for Unobserved {
    fn arrive(&mut self, _: &S) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }

    fn flagged(&mut self, _: &S) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }

    fn terminal(&mut self, _: &S) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }
}

/// A watch that never stops a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn tick(&mut self, _: &Stats) -> Option<Stop> {
        None
    }
}

/// When to give up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most states to find.
    pub states: u64,
    /// Most memory to use, in bytes: store, queue, graph and what the system remembers together.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: u64::MAX, bytes: usize::MAX }
    }
}

/// Why a search stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// The user pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// The time is up.
    #[error("the time limit of {limit} is reached")]
    Time {
        /// The limit, in words.
        limit: String,
    },
    /// The limit on states is reached.
    #[error("the limit of {limit} states is reached and there are more")]
    States {
        /// The limit.
        limit: u64,
    },
    /// The limit on memory is reached.
    #[error("the memory limit of {limit} bytes is reached: {needed} more are needed")]
    Memory {
        /// The limit.
        limit: usize,
        /// What was asked for when it was reached.
        needed: usize,
    },
    /// A step could not be done because the state would be too large. What follows it is not known.
    #[error("a step was not done because there would be too many {too_much}; what follows it is not known")]
    TooMuch {
        /// What there would be too many of.
        too_much: &'static str,
    },
    /// The work that the search was given is done.
    #[error("the search takes more work than it was given")]
    Work,
    /// More states or edges than the numbers allow.
    #[error("there are more than {limit} {what}, which is the most that can be numbered")]
    Numbers {
        /// "states" or "edges".
        what: &'static str,
        /// The limit.
        limit: u64,
    },
}

impl Stop {
    /// Whether the user does not want to go on, whatever the search is.
    pub fn is_by_user(&self) -> bool {
        matches!(self, Self::Interrupted | Self::Time { .. })
    }
}

/// How far a search is, or was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Distinct states found, the initial one included.
    pub states: u64,
    /// Transitions fired.
    pub edges: u64,
    /// States without successor.
    pub terminal_states: u64,
    /// Breadth-first: levels after the first. Depth-first: longest path.
    pub depth: u64,
    /// States found but not expanded.
    pub queue: u64,
    /// Largest amount of memory in use so far, in bytes.
    pub peak_bytes: usize,
    /// Sightings so far.
    pub sightings: u64,
    /// States that were expanded again, in full, because something was ignored.
    pub repairs: u64,
    /// What choosing has taken, in steps of processes that were compared.
    pub choosing: u64,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything reachable (under the reduction) was visited.
    Complete,
    /// It stopped at a sighting.
    Sighted,
    /// It gave up.
    Stopped(Stop),
    /// The model is broken; the path leads to the state that shows it.
    Fault(Fault, Vec<TransitionId>),
}

/// A sighting, and a path from the initial state to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What was seen.
    pub sighting: Sighting,
    /// The transitions that lead there.
    pub path: Vec<TransitionId>,
}

/// What a search found.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Its numbers.
    pub stats: Stats,
    /// The first sighting for each question, in the order in which they were made.
    pub found: Vec<Found>,
    /// The edges, if they were to be kept.
    pub graph: Option<Graph>,
    /// Whether it was made sure that no transition is put off for ever.
    pub no_ignoring: bool,
}
