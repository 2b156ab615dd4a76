//! Schedules of concurrent programs, explored systematically: every interleaving that can matter, none that cannot.
//!
//! Memory is sequentially consistent: a run is an interleaving of visible operations, each of which takes effect at
//! once and for everybody. Behaviour that only weaker memory models allow is not explored.
//!
//! A program is anything that implements [`Program`]: its processes announce visible operations on the
//! [`objects`] of a [`World`], and the engine says who may go on. Which runs are made is a matter of the
//! [`Algorithm`]; what is wrong with a run comes with the [`Schedule`] that shows it.
//! The engine knows nothing of threads: `crates/threads` drives Rust code with it.

#![forbid(unsafe_code)]

mod explore;
pub mod objects;
mod op;
mod program;
pub mod report;
mod schedule;
mod script;
mod set;
mod trace;
mod world;

pub use explore::{
    Algorithm, End, Explorer, Fault, Found, Options, Outcome, Progress, Stats, Why, explore_parallel, shrink,
};
pub use op::{Action, Attempt, ObjectId, Op, Part, ProcessId, Update, WAITS, Width};
pub use program::{Failure, FailureKind, Program};
pub use schedule::{NoSchedule, Schedule, Turn};
pub use script::{Instruction, Script};
pub use set::Set;
pub use trace::{Event, Trace};
pub use world::{Effects, Standing, World};
