//! The rows of the soundness table: what an answer rests on.
//!
//! A row says which conditions make an answer from an explored part true of the whole. V15 is Valmari,
//! "Stop It, and Be Stubborn!".

use std::fmt;

/// What an answer rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Row {
    /// Every reachable state was visited.
    FullSearch,
    /// D0, D1 and D2 preserve all terminal states (V15 Theorem 1).
    TerminalStates,
    /// D0, D1 and D2 preserve "termination always remains possible" (V15 Theorem 3).
    Termination,
    /// The model always may terminate, so the check's failure would have been found (V15 Theorem 4).
    SafetyByTermination,
    /// D0, D1 and D2, and no transition is ignored: every terminal strong component of the explored part fires
    /// what is enabled throughout it (condition S).
    SafetyNoIgnoring,
    /// D1, and whatever fails in the end, something of each set must happen first (up-sets).
    SafetyByUpSets,
    /// The model always may terminate, so progress is a matter of its terminal states (V15 Theorem 5).
    ProgressByTermination,
    /// The model always may terminate, so the cycle would have been found (V15 Theorem 6).
    FairByTermination,
    /// D0, D1, D2, V, I and no cycle that puts anything off: runs are the same up to stuttering.
    Stuttering,
    /// The same, and where the automaton must be led on to accept anything: everything that may do so.
    Guided,
    /// D0, D1, D2, everything that the guard may do except at livelock monitors, and there something without the
    /// guard: what is rejected is found, or a livelock (V93 Theorem 4.1).
    Testers,
    /// A run of the model that was replayed: true whatever was left out.
    Replay,
}

impl Row {
    /// The word for it in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::FullSearch => "full-search",
            Self::TerminalStates => "d0-d1-d2-terminal-states",
            Self::Termination => "d0-d1-d2-may-terminate",
            Self::SafetyByTermination => "may-terminating-safety",
            Self::SafetyNoIgnoring => "no-ignoring-safety",
            Self::SafetyByUpSets => "up-sets-safety",
            Self::ProgressByTermination => "may-terminating-progress",
            Self::FairByTermination => "may-terminating-fair",
            Self::Stuttering => "stutter-equivalent-runs",
            Self::Guided => "guided-by-automaton",
            Self::Testers => "goal-oriented-testers",
            Self::Replay => "replay",
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FullSearch => "every reachable state was visited",
            Self::TerminalStates => "stubborn sets (D0 D1 D2) keep all terminal states [V15 Theorem 1]",
            Self::Termination => "stubborn sets (D0 D1 D2) keep \"always may terminate\" [V15 Theorem 3]",
            Self::SafetyByTermination => {
                "the model always may terminate, so stubborn sets (D0 D1 D2) keep safety [V15 Theorems 3, 4]"
            }
            Self::SafetyNoIgnoring => {
                "stubborn sets (D0 D1 D2) that ignore no transition for ever (S) keep safety"
            }
            Self::SafetyByUpSets => {
                "before anything fails, something of each stubborn set must happen (up-sets)"
            }
            Self::ProgressByTermination => {
                "the model always may terminate, so terminal states decide progress [V15 Theorems 3, 5]"
            }
            Self::FairByTermination => {
                "the model always may terminate, so stubborn sets (D0 D1 D2) keep the cycle [V15 Theorems 3, 6]"
            }
            Self::Stuttering => {
                "stubborn sets (D0 D1 D2 V I) without cycles that put anything off (L) keep all runs up to stuttering"
            }
            Self::Guided => {
                "stubborn sets (D0 D1 D2) with all that may lead the automaton on keep a run that it accepts"
            }
            Self::Testers => {
                "goal-oriented stubborn sets keep what testers reject, or a livelock, and there is none [V93 Theorem 4.1]"
            }
            Self::Replay => "a run of the model, replayed step by step",
        })
    }
}
