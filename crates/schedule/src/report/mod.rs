//! What was found, for people and machines: the same for all programs that are explored.

mod chart;
mod json;
mod story;
mod text;

pub use json::replay_from_json;
pub use story::{Names, Naming, Recorded, tell};

use crate::explore::{Algorithm, Stats};
use crate::program::{Failure, FailureKind};
use std::fmt;
use std::time::Duration;

/// The result of an exploration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// What kind of program it is about: the format of the report for machines.
    pub format: &'static str,
    /// What is claimed.
    pub verdict: Verdict,
    /// How runs were chosen.
    pub algorithm: Algorithm,
    /// How much was done.
    pub stats: Stats,
    /// How much was done besides, with wake-ups for nothing.
    pub spurious: Option<Spurious>,
    /// Loops that were assumed to wait until what they read changes.
    pub spins: u64,
    /// Time taken, in seconds.
    pub seconds: f64,
}

/// Further explorations, in which those who wait on condition variables may wake up for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spurious {
    /// How often every thread may; if nothing was said, one does once in each run.
    pub most: Option<u32>,
    /// How much was done.
    pub stats: Stats,
}

/// What is claimed.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// No run fails, up to the order of independent operations.
    Holds,
    /// A run fails.
    Violated(Box<Counterexample>),
    /// No run that was made fails, and not all were made.
    Inconclusive(String),
}

/// A run that fails; it was made twice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counterexample {
    /// In which way.
    pub kind: FailureKind,
    /// What is wrong.
    pub message: String,
    /// Of which thread, if it is one's.
    pub thread: Option<String>,
    /// The run.
    pub steps: Vec<Step>,
    /// Who waits at the end, for what.
    pub waiting: Vec<Waiting>,
    /// Threads that wait for each other, in a circle.
    pub cycle: Vec<String>,
    /// Switches away from a thread that could have gone on.
    pub preemptions: u32,
    /// The recipe for this run.
    pub replay: String,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Its number, from 1.
    pub number: usize,
    /// Whose.
    pub thread: String,
    /// What was done, in a word.
    pub operation: String,
    /// To what.
    pub object: String,
    /// With which value, or what came of it.
    pub value: String,
    /// Where.
    pub file: String,
    /// Where.
    pub line: u32,
}

/// A thread that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// Who.
    pub thread: String,
    /// What it wants to do, in a word.
    pub operation: String,
    /// To what.
    pub object: String,
    /// The value of that.
    pub value: String,
    /// Where.
    pub file: String,
    /// Where.
    pub line: u32,
    /// Who has it, and since which step.
    pub held_by: Vec<(String, Option<usize>)>,
}

impl Report {
    /// A report on nothing.
    pub fn new(format: &'static str, algorithm: Algorithm, time: Duration) -> Report {
        Report {
            format,
            verdict: Verdict::Inconclusive("nothing was done".to_owned()),
            algorithm,
            stats: Stats::default(),
            spurious: None,
            spins: 0,
            seconds: time.as_secs_f64(),
        }
    }

    /// The run that fails, if there is one.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        match &self.verdict {
            Verdict::Violated(story) => Some(story),
            _ => None,
        }
    }

    /// 0 holds, 1 violated, 3 inconclusive; 2 if the code is not fit to be explored.
    pub fn exit_code(&self) -> u8 {
        match &self.verdict {
            Verdict::Holds => 0,
            Verdict::Violated(story) if story.kind == FailureKind::Nondeterminism => 2,
            Verdict::Violated(_) => 1,
            Verdict::Inconclusive(_) => 3,
        }
    }

    /// The report for machines.
    pub fn json(&self) -> String {
        json::report_json(self)
    }

    /// Writes the report for machines to a file, from which its run can be made again.
    pub fn save(&self, path: impl AsRef<std::path::Path>) -> std::io::Result<()> {
        std::fs::write(path, self.json())
    }

    /// The run that fails as a chart: one column per thread.
    pub fn chart(&self) -> String {
        self.counterexample().map_or(String::new(), chart::chart_text)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::report_text(self))
    }
}

impl Counterexample {
    /// A failure of which no more is known, of a process with this name.
    pub fn bare(failure: Failure, thread: Option<String>, replay: String) -> Counterexample {
        Counterexample {
            kind: failure.kind,
            message: failure.message,
            thread,
            steps: Vec::new(),
            waiting: Vec::new(),
            cycle: Vec::new(),
            preemptions: 0,
            replay,
        }
    }
}
