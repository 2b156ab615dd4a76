//! What is claimed, how sure it is, and on what evidence.
//!
//! [`analyse`] answers questions about a system: it plans searches, looks at what they found, and builds a
//! [`Verdict`] for each question. The data's way: `kinds` lets systems in; `analysis` plans and asks; `engine` says on which states, in `attempts`, `threads` by whom; `phase` runs one search;
//! `graph_questions` looks at the edges; `linear` asks about runs, `linear_engine` searches for them; `rejections` asks what processes reject, `rejection_states`, `rejection_engine` and `rejection_race` with which sets and on which states; `lift` turns paths of representatives into real ones, `original` those of a smaller system; `replay`
//! runs every counterexample again before anyone sees it; `verdict` is the result, `row` what it rests on.
//!
//! Invariants:
//! * [`Holds`] can only be built by [`Holds::conclude`] from a finished search, an exact store and a reduction
//!   that preserves the question;
//! * [`Violated`] carries a trace that `replay` has accepted;
//! * `replay` uses firing and the checks of the system and nothing of searches, stores or reductions.

#![forbid(unsafe_code)]

mod analysis;
mod attempts;
mod engine;
mod graph_questions;
mod kinds;
mod lift;
mod linear;
mod linear_engine;
mod messages;
mod options;
mod original;
mod phase;
mod race;
mod rejection_engine;
mod rejection_race;
mod rejection_states;
mod rejections;
mod replay;
mod representatives;
mod row;
mod threads;
mod trace;
mod verdict;

pub use analysis::{Analysis, Answer, Broken};
pub use engine::EngineKind;
pub use kinds::{AnySystem, Kind, MakeReduction, WordKind, analyse, analyse_with, check_rejections};
pub use linear::{LinearPlan, MakeGuide, ProductReport, RunProperty, check_runs, replay_run};
pub use options::{Guided, Options, SearchKind, StoreKind};
pub use original::{OpenCycle, on_original};
pub use phase::{Overtaken, PhaseReport};
pub use race::RaceRules;
pub use rejections::RejectionOptions;
pub use replay::{Region, Rejection, Replayed, Witness, replay};
pub use row::Row;
pub use stubborn_reduce::ReductionKind;
pub use threads::OneThread;
pub use trace::{Change, Step, Trace};
pub use verdict::{Contradiction, Evidence, Holds, Inconclusive, Verdict, Violated};
