//! Steps: what a process can do at a location.

use crate::{Expr, LocationId, Place};
use stubborn_text::Span;

/// A field of a message, as a receiver sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Must have this value.
    Match(Expr),
    /// Goes to this variable.
    Bind(Place),
    /// Does not matter.
    Ignore,
}

impl Pattern {
    /// The variable that it fills.
    pub fn target(&self) -> Option<&Place> {
        match self {
            Self::Bind(place) => Some(place),
            Self::Match(_) | Self::Ignore => None,
        }
    }
}

/// A process to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its kind.
    pub kind: usize,
    /// Its arguments, evaluated by the parent.
    pub arguments: Vec<Expr>,
    /// Its priority.
    pub priority: u8,
    /// An assignment that may use [`Expr::Started`].
    pub result: Option<(Place, Expr)>,
}

/// What a step does, and when it can.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Always, nothing.
    Skip,
    /// If the expression is not zero, nothing.
    Guard(Expr),
    /// If no step listed earlier at the same location can be done, nothing.
    Else,
    /// Always, an assignment.
    Assign(Place, Expr),
    /// Always; an event if the expression is zero.
    Assert(Expr),
    /// If the channel is not full; or together with a receiver, if it is a rendezvous channel.
    Send {
        /// The channel.
        channel: Expr,
        /// Whether the message goes before the first larger one instead of to the end.
        is_sorted: bool,
        /// The message.
        fields: Vec<Expr>,
    },
    /// If there is a matching message; or together with a sender.
    Receive {
        /// The channel.
        channel: Expr,
        /// Whether any message may match, or only the oldest.
        is_random: bool,
        /// Whether the message stays.
        is_copy: bool,
        /// The message.
        fields: Vec<Pattern>,
    },
    /// Starts a process.
    Run(Run),
    /// Sets the priority of a process: which, to what.
    SetPriority(Expr, Expr),
    /// The process dies, if it is the youngest.
    End,
    /// Steps from this location until [`LocationId::EXIT`], always the first that can be done.
    Sequence(LocationId),
}

/// A step from one location to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub action: Action,
    /// Where it leads.
    pub next: LocationId,
    /// Whether the process keeps the control after it: it is within an atomic sequence.
    pub is_atomic: bool,
    /// If not zero, the step belongs to this escape; when a step of an escape can be done, only steps of
    /// the same escape are done at the location.
    pub escape: u32,
    /// Places without indices that become zero right after the step is done, also within a sequence that is
    /// one step; in a rendezvous, after the receiver got the message. Front-ends leave this empty.
    pub resets: Vec<Place>,
    /// The number of its statement over the whole model, as SPIN counts them in its trails; none if SPIN would
    /// not know it.
    pub number: Option<u32>,
    /// Expressions that are evaluated when it is done, and only that: what `printf` prints, what goes to `_`.
    /// Evaluating may go wrong. Only steps whose action is [`Action::Skip`] have any.
    pub mentions: Vec<Expr>,
    /// Where it was written.
    pub span: Span,
    /// The line where it was written, from one.
    pub line: usize,
    /// As written, on one line.
    pub text: String,
}

impl Step {
    /// The expressions in it: those of its action, and those that it only mentions.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.action.expressions().into_iter().chain(&self.mentions)
    }

    /// The parts of what it mentions whose values decide whether something goes wrong: a print of `a[i]` depends
    /// on `i`, not on `a`.
    pub fn risks(&self) -> Vec<&Expr> {
        self.mentions.iter().flat_map(Expr::risks).collect()
    }
}

impl Action {
    /// The expressions in it, those of indices of its targets included.
    pub fn expressions(&self) -> Vec<&Expr> {
        let mut out: Vec<&Expr> = Vec::new();
        match self {
            Self::Skip | Self::Else | Self::End | Self::Sequence(_) => {}
            Self::Guard(e) | Self::Assert(e) | Self::Assign(_, e) => out.push(e),
            Self::Send { channel, fields, .. } => {
                out.push(channel);
                out.extend(fields);
            }
            Self::Receive { channel, fields, .. } => {
                out.push(channel);
                out.extend(fields.iter().filter_map(|f| match f {
                    Pattern::Match(e) => Some(e),
                    Pattern::Bind(_) | Pattern::Ignore => None,
                }));
            }
            Self::Run(run) => {
                out.extend(&run.arguments);
                out.extend(run.result.iter().map(|(_, e)| e));
            }
            Self::SetPriority(a, b) => out.extend([a, b]),
        }
        out.extend(self.targets().into_iter().flat_map(|t| t.indices.iter().map(|i| &i.value)));
        out
    }

    /// The places that it writes to.
    pub fn targets(&self) -> Vec<&Place> {
        match self {
            Self::Assign(place, _) => vec![place],
            Self::Receive { fields, .. } => fields.iter().filter_map(Pattern::target).collect(),
            Self::Run(run) => run.result.iter().map(|(place, _)| place).collect(),
            _ => Vec::new(),
        }
    }
}
