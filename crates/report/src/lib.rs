//! Verdicts for people and machines. The only crate that knows JSON.
//!
//! Everything here turns plain data into text; printing it is the business of the command line.

#![forbid(unsafe_code)]

mod built;
mod chart;
mod clean;
mod difference;
mod json;
mod ltl;
mod number;
mod table;
mod text;

pub use built::{built_json, built_text};
pub use chart::chart_text;
pub use clean::clean;
pub use difference::ComparedProcesses;
pub use json::{
    JsonError, RecordedWitness, Unreached, broken_json, comparison_json, error_json, report_json,
    with_unreached, witnesses_from_json,
};
pub use ltl::{LtlReport, ltl_json, ltl_text};
pub use number::{human_bytes, with_commas};
pub use table::{Comparison, PaperRow, comparison_table, paper_table};
pub use text::{broken_text, report_text};

use stubborn_verdict::{Analysis, Verdict};

/// An analysis, and what is known besides.
#[derive(Clone, Debug)]
pub struct Report {
    /// The model's name.
    pub model: String,
    /// How many transitions it has.
    pub n_transitions: usize,
    /// Bits in a state.
    pub state_bits: usize,
    /// Where the stubborn rules come from, if there are any.
    pub rules: Option<&'static str>,
    /// What was done to the model before it was searched, if that is possible for such models.
    pub optimise: Option<Optimised>,
    /// The answers.
    pub analysis: Analysis,
    /// Time taken, in seconds.
    pub seconds: f64,
    /// The largest amount of memory that the process has used, in bytes, if known.
    pub peak_rss: Option<usize>,
}

/// How a model was made smaller without changing an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Optimised {
    /// What was asked for, in the words of the command line.
    pub word: &'static str,
    /// Global variables that are no part of the states.
    pub hidden: Vec<String>,
    /// Local variables that are set to zero when they are dead.
    pub reset: Vec<String>,
    /// How many locations are passed in one go with the step before.
    pub merged: usize,
}

impl Report {
    /// The verdict that decides the exit code: the worst.
    pub fn worst(&self) -> usize {
        let badness = |i: &usize| match self.analysis.answers[*i].verdict {
            Verdict::Contradiction(_) => 3,
            Verdict::Violated(_) => 2,
            Verdict::Inconclusive(_) => 1,
            Verdict::Holds(_) => 0,
        };
        // `max_by_key` gives the last of several; the first is wanted.
        (0..self.analysis.answers.len()).rev().max_by_key(badness).unwrap_or(0)
    }

    /// The worse of two exit codes: contradiction, violated, inconclusive, holds.
    pub fn worse(one: u8, other: u8) -> u8 {
        let badness = |code: u8| [0, 3, 1, 2, 4].iter().position(|&c| c == code).unwrap_or(5);
        if badness(other) > badness(one) { other } else { one }
    }

    /// The exit code: 0 holds, 1 violated, 3 inconclusive, 4 contradiction.
    pub fn exit_code(&self) -> u8 {
        match self.analysis.answers.get(self.worst()).map(|answer| &answer.verdict) {
            Some(Verdict::Holds(_)) => 0,
            Some(Verdict::Violated(_)) => 1,
            Some(Verdict::Inconclusive(_)) | None => 3,
            Some(Verdict::Contradiction(_)) => 4,
        }
    }
}
