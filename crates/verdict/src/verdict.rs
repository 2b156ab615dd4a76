//! Verdicts, which can only be built soundly.

use crate::{Region, Row, Trace};
use stubborn_explore::{End, Stop};
use stubborn_reduce::Preserves;
use stubborn_store::Guarantee;
use stubborn_system::{Question, RejectionKind};
use thiserror::Error;

/// The answer to a question.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It is so.
    Holds(Holds),
    /// It is not so, and here is why.
    Violated(Violated),
    /// Not known.
    Inconclusive(Inconclusive),
    /// The tool has contradicted itself: a bug, not an answer.
    Contradiction(Contradiction),
}

impl Verdict {
    /// The word for it on the screen and in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Holds(_) => "holds",
            Self::Violated(_) => "violated",
            Self::Inconclusive(_) => "inconclusive",
            Self::Contradiction(_) => "contradiction",
        }
    }
}

/// Proof that a question holds. Only [`Holds::conclude`] makes one.
#[derive(Clone, Debug)]
pub struct Holds {
    row: Row,
}

/// What a search without a violation amounts to.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// How the search ended.
    pub end: &'a End,
    /// What the store promises.
    pub guarantee: Guarantee,
    /// What the reduction preserves.
    pub preserves: Preserves,
    /// Whether termination always remains possible in the explored part, if that is known.
    pub always_may_terminate: Option<bool>,
    /// Whether it was made sure that no transition is ignored for ever.
    pub no_ignoring: bool,
    /// For properties of runs: whether the runs that were searched for are closed under stuttering.
    pub is_closed: bool,
    /// For rejections: whether it is known that the explored part has no cycle at a livelock monitor of its sets.
    pub no_livelock: bool,
}

impl Holds {
    /// The one way to "holds": the search for a violation of `question` has ended without finding one, and
    /// a row of the soundness table says that this is enough.
    pub fn conclude(question: &Question, evidence: Evidence<'_>) -> Option<Self> {
        if *evidence.end != End::Complete || evidence.guarantee != Guarantee::Exact {
            return None;
        }
        let terminates = evidence.always_may_terminate == Some(true);
        let row = match (evidence.preserves, question) {
            (Preserves::Everything, _) => Row::FullSearch,
            (Preserves::OnlyFailures, Question::Rejection { kind: RejectionKind::State, .. }) => {
                Row::SafetyByUpSets
            }
            (Preserves::OnlyFailures, _) => return None,
            (Preserves::Stuttering, Question::Linear { .. }) if evidence.is_closed => Row::Stuttering,
            (Preserves::Acceptance, Question::Linear { .. }) if evidence.is_closed => Row::Guided,
            // Not even D0.
            (Preserves::Acceptance, _) => return None,
            (_, Question::Deadlock) => Row::TerminalStates,
            (_, Question::Rejection { kind: RejectionKind::Deadlock, .. }) => Row::TerminalStates,
            (Preserves::Rejections, Question::Rejection { .. }) if evidence.no_livelock => Row::Testers,
            (_, Question::MayTerminate) if terminates => Row::Termination,
            (Preserves::Failures, Question::Safety) => Row::SafetyByUpSets,
            (_, Question::Safety) if terminates => Row::SafetyByTermination,
            (_, Question::Safety) if evidence.no_ignoring => Row::SafetyNoIgnoring,
            (_, Question::MayProgress { .. }) if terminates => Row::ProgressByTermination,
            (_, Question::Fair { .. }) if terminates => Row::FairByTermination,
            _ => return None,
        };
        Some(Self { row })
    }

    /// What it rests on.
    pub fn row(&self) -> Row {
        self.row
    }
}

/// A violation, with a trace that was replayed. Only this crate makes one.
#[derive(Clone, Debug)]
pub struct Violated {
    pub(crate) message: String,
    pub(crate) trace: Trace,
    pub(crate) region: Option<Region>,
}

impl Violated {
    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The run that shows it.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// For progress and termination: the part of the state space from which there is no return.
    pub fn region(&self) -> Option<&Region> {
        self.region.as_ref()
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum Inconclusive {
    /// A limit was reached.
    #[error("{0}")]
    Stopped(Stop),
    /// The search stopped at a violation of another question.
    #[error("the search stopped at the violation of another question; `--all-errors` goes on")]
    StoppedAtOther,
    /// No violation was found, but states may have been missed.
    #[error("no violation found, but the store may have missed states: {}", omission(.0))]
    Omission(Guarantee),
    /// The question needs the edges between states, which such a store cannot give.
    #[error("this question needs an exact store")]
    NeedsExactStore,
    /// What was searched is smaller than the model as written, and a cycle of it is none there.
    #[error("a cycle of the optimised model does not close in the model as written: use `--optimise none`")]
    OpenCycle,
    /// No method at hand answers this question.
    #[error("no method answers this question under these options")]
    NoMethod,
}

/// The price of a store that is not exact, in words.
fn omission(guarantee: &Guarantee) -> String {
    match guarantee {
        Guarantee::Exact => "it is exact".into(),
        Guarantee::Compact { bits, omission } => {
            format!("{bits}-bit fingerprints, two states share one with probability {omission:.1e}")
        }
        Guarantee::Bitstate { hash_factor, overlooked, functions, .. } => format!(
            "bitstate with {functions} bits per state, hash factor {hash_factor:.1} (best above 100), \
             about {overlooked:.1} states overlooked"
        ),
    }
}

/// The tool caught itself.
#[derive(Clone, Debug, Error)]
#[error("{what}")]
pub struct Contradiction {
    /// What does not fit.
    pub what: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use stubborn_system::TransitionId;

    fn evidence(end: &End) -> Evidence<'_> {
        let (guarantee, preserves) = (Guarantee::Exact, Preserves::Everything);
        Evidence {
            end,
            guarantee,
            preserves,
            always_may_terminate: None,
            no_ignoring: false,
            is_closed: false,
            no_livelock: false,
        }
    }

    fn all_questions() -> Vec<Question> {
        vec![
            Question::Safety,
            Question::Deadlock,
            Question::MayProgress { terminal_counts: true },
            Question::MustProgress { terminal_counts: false },
            Question::MayTerminate,
            Question::Fair { often: TransitionId(0), rarely: Vec::new() },
            Question::Linear { name: "p".into() },
        ]
    }

    fn rejections() -> [Question; 4] {
        RejectionKind::ALL.map(|kind| Question::Rejection { kind, text: "p".into() })
    }

    #[test]
    fn what_is_rejected_needs_sets_of_its_own_and_no_livelock() {
        let proved = |preserves, no_livelock| {
            let evidence = Evidence { preserves, no_livelock, ..evidence(&End::Complete) };
            rejections().map(|question| Holds::conclude(&question, evidence).is_some())
        };
        assert_eq!(proved(Preserves::Everything, false), [true; 4]);
        assert_eq!(proved(Preserves::Rejections, false), [false, true, false, false]);
        assert_eq!(proved(Preserves::Rejections, true), [true; 4]);
        for other in [Preserves::Basic, Preserves::Failures, Preserves::Stuttering] {
            assert_eq!(proved(other, true), [false, true, false, false]);
        }
        assert_eq!(proved(Preserves::OnlyFailures, true), [true, false, false, false]);
        let only = Evidence { preserves: Preserves::OnlyFailures, ..evidence(&End::Complete) };
        assert!(all_questions().iter().all(|question| Holds::conclude(question, only).is_none()));
        let guided = Evidence { preserves: Preserves::Acceptance, ..evidence(&End::Complete) };
        assert!(all_questions().iter().all(|question| Holds::conclude(question, guided).is_none()));
    }

    #[test]
    fn an_unfinished_search_proves_nothing() {
        let ends = [
            End::Sighted,
            End::Stopped(Stop::Interrupted),
            End::Stopped(Stop::States { limit: 1 }),
            End::Fault(stubborn_system::Fault::Model("x".into()), Vec::new()),
        ];
        for end in &ends {
            for question in all_questions() {
                assert!(Holds::conclude(&question, evidence(end)).is_none());
            }
        }
    }

    #[test]
    fn a_store_that_may_omit_states_proves_nothing() {
        let guarantees = [
            Guarantee::Compact { bits: 128, omission: 0.0 },
            Guarantee::Bitstate { bits: 1, functions: 1, hash_factor: 1e9, overlooked: 0.0 },
        ];
        for guarantee in guarantees {
            for question in all_questions() {
                let evidence = Evidence { guarantee, ..evidence(&End::Complete) };
                assert!(Holds::conclude(&question, evidence).is_none());
            }
        }
    }

    #[test]
    fn a_reduced_search_proves_what_its_row_says_and_no_more() {
        for question in all_questions() {
            let full = Holds::conclude(&question, evidence(&End::Complete)).unwrap();
            assert_eq!(full.row(), Row::FullSearch);
            for (always_may_terminate, no_ignoring) in
                [None, Some(false), Some(true)].into_iter().flat_map(|may| [(may, false), (may, true)])
            {
                let basic = Evidence {
                    no_ignoring,
                    preserves: Preserves::Basic,
                    always_may_terminate,
                    ..evidence(&End::Complete)
                };
                let proved = Holds::conclude(&question, basic).is_some();
                let expected = match question {
                    Question::Deadlock => true,
                    Question::Safety if no_ignoring => true,
                    Question::MustProgress { .. } | Question::Linear { .. } => false,
                    _ => always_may_terminate == Some(true),
                };
                assert_eq!(proved, expected, "{question:?} {always_may_terminate:?}");
            }
        }
    }
}
