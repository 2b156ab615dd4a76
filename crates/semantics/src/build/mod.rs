//! Systems built step by step: a short text that composes, hides and makes small, so that what is in between stays small.
//!
//! ```text
//! pair = minimize hide rq, gra, rel in "server.lsts" | "client.lsts"
//! two  = minimize pair | rename tl to tr, dl to dr in pair      # actions of one name happen together
//! ```
//!
//! The data's way: `lexer` and `parse` make steps of a text, `run` does them. That the result is the same as what
//! composing everything at once would give is what a congruence means: each semantics here is one for composition, hiding and
//! renaming. [`Built::same_under`] is the coarsest that was used.
//! **Checked by** `tests/all/build.rs`, and by random networks for the congruences (`oracle`).

mod lexer;
mod parse;
mod run;

pub use run::{BuildError, Built, Loaded, Row, Workshop, build};

use crate::{Minimization, Model};
use stubborn_reduce::Semantics;
use stubborn_text::Span;

/// A step: a name for what is made.
#[derive(Debug)]
struct Step {
    name: String,
    made: Expr,
    span: Span,
}

/// A name in the text, and where it is.
type Named = (String, Span);

/// What is made.
#[derive(Debug)]
enum Expr {
    /// Of a file.
    File(Named),
    /// Before.
    Name(Named),
    /// Side by side: actions of one name happen together.
    Beside(Vec<Expr>, Span),
    /// With other names, or without.
    Change(Change, Box<Expr>),
    /// Small.
    Small(Smaller, Box<Expr>, Span),
}

/// What becomes of names.
#[derive(Debug)]
enum Change {
    /// These actions become tau.
    Hide(Vec<Named>),
    /// All others do.
    Keep(Vec<Named>),
    /// Actions get other names.
    Rename(Vec<(Named, String)>),
    /// These propositions are not looked at any more.
    Forget(Vec<Named>),
}

/// How something is made small.
#[derive(Clone, Copy, Debug)]
enum Smaller {
    /// By merging states.
    Minimal(Minimization),
    /// One state for each trace.
    Deterministic,
    /// By composing with stubborn sets.
    Reduced(Semantics),
}

impl Smaller {
    /// The word for it in the text.
    fn words(self) -> &'static str {
        match self {
            Self::Minimal(Minimization::Reachable) => "minimize reachable",
            Self::Minimal(Minimization::Tau) => "minimize tau",
            Self::Minimal(Minimization::Strong) => "minimize strong",
            Self::Minimal(Minimization::Branching) => "minimize branching",
            Self::Minimal(Minimization::Cffd { .. }) => "minimize cffd",
            Self::Deterministic => "determinise",
            Self::Reduced(Semantics::Cffd) => "reduce cffd",
            Self::Reduced(Semantics::Failures) => "reduce failures",
            Self::Reduced(Semantics::Traces) => "reduce traces",
            Self::Reduced(Semantics::Deadlocks) => "reduce deadlocks",
        }
    }

    /// What stays the same.
    fn keeps(self) -> Model {
        match self {
            Self::Minimal(Minimization::Reachable | Minimization::Strong) => Model::Strong,
            Self::Minimal(Minimization::Branching | Minimization::Tau) => Model::Branching,
            Self::Minimal(Minimization::Cffd { .. }) | Self::Reduced(Semantics::Cffd) => Model::Cffd,
            Self::Reduced(Semantics::Failures) => Model::Failures,
            Self::Deterministic | Self::Reduced(_) => Model::Traces,
        }
    }
}
