//! What can be asked.

use crate::{RejectionKind, TransitionId};
use std::fmt;

/// A question about a system. Each is answered with the row of the soundness table that the answer
/// rests on (crate `verdict`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Question {
    /// No reachable state fails the state check.
    Safety,
    /// No reachable terminal state fails the deadlock check.
    Deadlock,
    /// From every reachable state a progress state is reachable (AG EF progress).
    MayProgress {
        /// Whether a terminal state counts as progress.
        terminal_counts: bool,
    },
    /// Every run keeps meeting progress states: no cycle and no terminal state without one (AG AF progress).
    MustProgress {
        /// Whether a terminal state counts as progress.
        terminal_counts: bool,
    },
    /// From every reachable state a terminal state is reachable (AG EF terminal).
    MayTerminate,
    /// No run fires `often` infinitely often and every transition of `rarely` only finitely often.
    Fair {
        /// The transition that occurs infinitely often in a violating run.
        often: TransitionId,
        /// The transitions that occur only finitely often in a violating run.
        rarely: Vec<TransitionId>,
    },
    /// Nothing is rejected by a condition on states.
    Rejection {
        /// What is wrong where the condition holds.
        kind: RejectionKind,
        /// The condition.
        text: String,
    },
    /// Every run satisfies a property of linear time.
    Linear {
        /// Its name, or the property itself.
        name: String,
    },
}

impl Question {
    /// The word for it on the command line, in JSON and in the guide.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Safety => "safety",
            Self::Deadlock => "deadlock",
            Self::MayProgress { .. } => "may-progress",
            Self::MustProgress { .. } => "must-progress",
            Self::MayTerminate => "may-terminate",
            Self::Fair { .. } => "fair",
            Self::Rejection { kind, .. } => kind.word(),
            Self::Linear { .. } => "linear",
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strict = |counts: &bool| if *counts { "" } else { ", terminal states not excused" };
        match self {
            Self::Safety => write!(f, "no reachable state fails the check"),
            Self::Deadlock => write!(f, "no illegal deadlock"),
            Self::MayProgress { terminal_counts } => {
                write!(f, "progress always remains possible{}", strict(terminal_counts))
            }
            Self::MustProgress { terminal_counts } => {
                write!(f, "progress is always made in the end{}", strict(terminal_counts))
            }
            Self::MayTerminate => write!(f, "termination always remains possible"),
            Self::Fair { often, rarely } => {
                write!(f, "no run fires {often} for ever without firing one of {rarely:?} for ever")
            }
            Self::Rejection { kind, text } => match kind {
                RejectionKind::State => write!(f, "never {text}"),
                RejectionKind::Deadlock => write!(f, "no deadlock where {text}"),
                RejectionKind::Livelock => write!(f, "no livelock where {text}"),
                RejectionKind::Infinite => write!(f, "no infinite trace through {text}"),
            },
            Self::Linear { name } => write!(f, "every run satisfies {name}"),
        }
    }
}
