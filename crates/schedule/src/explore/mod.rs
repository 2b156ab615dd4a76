//! Which runs to make.
//!
//! A stateless search: a run is a sequence of choices, another run shares its beginning, and what is kept is one
//! stack of nodes, a node per global state of the present run. `search` drives it (`node`: one state; `run`: one run); the algorithms differ in what
//! they put in the `backtrack` set of a node:
//!
//! | algorithm | backtrack set |
//! | --- | --- |
//! | `dfs` | everybody who can move |
//! | `sleep` | the same, without those who sleep |
//! | `persistent-1`, `-2`, `-3` | a persistent set (VS), without those who sleep |
//! | `source` | one process, and what races demand |
//! | `optimal` | one process, and sequences that races demand |

mod bound;
mod estimate;
mod node;
mod optimal;
mod parallel;
mod persistent;
mod random;
mod run;
mod search;
mod shrink;
mod sleep;
mod source;

pub use parallel::explore_parallel;
pub use run::End;
pub use search::Explorer;
pub use shrink::shrink;

use crate::program::Failure;
use crate::schedule::Schedule;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How runs are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// All schedules.
    Dfs,
    /// All schedules, without those that sleep sets show to be repetitions.
    Sleep,
    /// Persistent sets of enabled operations, and sleep sets.
    Persistent1,
    /// Persistent sets as VeriSoft computes them, and sleep sets.
    Persistent2,
    /// Persistent sets that ask who can let a blocked process go on, and sleep sets.
    Persistent3,
    /// Source sets by race detection, and sleep sets.
    #[default]
    Source,
    /// Sequences by race detection (wake-up trees), and sleep sets.
    Optimal,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 7] = [
        Algorithm::Dfs,
        Algorithm::Sleep,
        Algorithm::Persistent1,
        Algorithm::Persistent2,
        Algorithm::Persistent3,
        Algorithm::Source,
        Algorithm::Optimal,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Algorithm::Dfs => "dfs",
            Algorithm::Sleep => "sleep",
            Algorithm::Persistent1 => "persistent-1",
            Algorithm::Persistent2 => "persistent-2",
            Algorithm::Persistent3 => "persistent-3",
            Algorithm::Source => "source",
            Algorithm::Optimal => "optimal",
        }
    }

    /// The algorithm of this name.
    pub fn from_word(word: &str) -> Option<Algorithm> {
        Algorithm::ALL.into_iter().find(|algorithm| algorithm.word() == word)
    }

    fn is_persistent(self) -> bool {
        matches!(self, Algorithm::Persistent1 | Algorithm::Persistent2 | Algorithm::Persistent3)
    }
}

/// Mistakes that can be made on purpose, so that tests show that they would be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Fault {
    /// Every third race is dropped.
    DroppedRace,
    /// Attempts that fail do not happen after what made them fail, though they race with it.
    DisagreeingOrder,
    /// Operations that let others go on are treated as races with them.
    EnablingRaces,
    /// Those who wait for ever are not looked at.
    ForgottenWaiters,
    /// Sleeping processes are never woken.
    DeepSleep,
}

/// Who is told how far a search has come: runs so far, and about how many there are in all.
#[derive(Clone)]
pub struct Progress(pub Arc<dyn Fn(u64, f64) + Send + Sync>);

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Progress")
    }
}

/// What to do and how far to go.
#[derive(Clone, Debug)]
pub struct Options {
    /// How runs are chosen.
    pub algorithm: Algorithm,
    /// Only runs with so many preemptions are made; then nothing is proved.
    pub preemptions: Option<u32>,
    /// Runs at random instead, from this seed.
    pub random: Option<u64>,
    /// At most so many runs.
    pub max_runs: Option<u64>,
    /// At most so many visible operations in a run.
    pub max_steps: usize,
    /// The search ends when so many runs were cut because they had too many operations.
    pub max_cut: Option<u64>,
    /// At most so much time.
    pub max_time: Option<Duration>,
    /// Whether to go on after a failure.
    pub keep_going: bool,
    /// Whether the first schedule is run twice.
    pub check_determinism: bool,
    /// Who is told how far the search has come.
    pub progress: Option<Progress>,
    /// Set from outside to stop.
    pub stop: Arc<AtomicBool>,
    /// A mistake to make.
    #[doc(hidden)]
    pub fault: Option<Fault>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            algorithm: Algorithm::default(),
            preemptions: None,
            random: None,
            max_runs: None,
            max_steps: 10_000,
            max_cut: None,
            max_time: None,
            keep_going: false,
            check_determinism: true,
            progress: None,
            stop: Arc::default(),
            fault: None,
        }
    }
}

/// Counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Runs to an end, since the search last began again.
    pub runs: u64,
    /// Runs that were found to be repetitions on the way.
    pub blocked: u64,
    /// Runs that were cut because they were too long or had too many preemptions.
    pub cut: u64,
    /// How often the search began again: with persistent sets because it had learned something, with `optimal` to go on
    /// with `source`.
    pub restarts: u64,
    /// Visible operations, those of repeated beginnings included.
    pub steps: u64,
    /// The longest run.
    pub longest: usize,
}

/// Why nothing is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// So many runs were made.
    Runs(u64),
    /// So many operations were done in a run, which went on.
    Steps(usize),
    /// So much time has passed.
    Time(Duration),
    /// Only runs with so many preemptions were made.
    Preemptions(u32),
    /// Runs were made at random.
    Random,
    /// Somebody said stop.
    Stopped,
    /// A limit of the program's own, in its words.
    Program(String),
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Runs(n) => write!(f, "the limit of {n} runs was reached"),
            Why::Steps(n) => write!(f, "a run was cut at the limit of {n} steps"),
            Why::Time(time) => write!(f, "the limit of {:.1} s was reached", time.as_secs_f64()),
            Why::Preemptions(n) => write!(f, "only runs with at most {n} preemptions were made"),
            Why::Random => write!(f, "runs were made at random"),
            Why::Stopped => write!(f, "stopped"),
            Why::Program(message) => write!(f, "{message}"),
        }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Found {
    /// Every run was made, up to the order of independent operations.
    Nothing,
    /// A run that fails.
    Failure(Failure, Schedule),
    /// No failure, and not all runs.
    Inconclusive(Why),
}

impl Found {
    /// A failure; a limit of the program's own is none.
    fn of(failure: Failure, schedule: Schedule) -> Found {
        match failure.is_limit {
            true => Found::Inconclusive(Why::Program(failure.message)),
            false => Found::Failure(failure, schedule),
        }
    }
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was found.
    pub found: Found,
    /// How much was done.
    pub stats: Stats,
}
