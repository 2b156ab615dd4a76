//! The intermediate representation of concurrent systems, and its meaning.
//!
//! A [`Network`] is process types (locations and guarded steps between them), variables with widths,
//! channels, and the processes that exist at the beginning. Its states are flat byte vectors: the globals,
//! then one segment per process and per channel, in the order of their creation; processes die, and
//! channels with them, last in, first out.
//!
//! [`Network::expand`] is the meaning of a model: the reference interpreter. It is written for the reader,
//! has no cache, no unsafe code and no options. Faster engines are measured against it, and replay uses
//! nothing else.
//!
//! The semantics is SPIN's, as its verifier implements it: what is one step, what is atomic, who may die
//! when, what `else` and `timeout` mean. The successors of a state are those that SPIN would store: states
//! within an atomic sequence are passed through, not shown.

#![forbid(unsafe_code)]

mod arithmetic;
mod check;
mod claim;
mod component;
mod engine;
mod evaluate;
mod event;
mod execute;
mod expand;
mod expr;
mod footprint;
mod frame;
mod narrate;
mod network;
mod open;
mod optimise;
mod reduce;
mod step;
mod system;
mod trace;
mod validate;
mod view;
mod width;

pub use arithmetic::arithmetic;
pub use claim::{Claim, ClaimMove};
pub use component::Component;
pub use engine::{Compiled, Condition, Engine, Traced};
pub use event::{Event, Trouble};
pub use expand::{Expansion, Micro, Successor};
pub use expr::{BinaryOp, ChannelTest, Expr, Index, Place, Scope, UnaryOp};
pub use footprint::{Access, ChannelPart, Footprint};
pub use narrate::Told;
pub use network::{
    ChannelKind, Initial, Initialiser, Location, LocationId, Network, ProcessKind, Start, StepId, Variable,
};
pub use open::{NotOpen, OpenChannel, OpenMove, OpenProcess};
pub use optimise::{Optimisations, Optimised};
pub use step::{Action, Pattern, Run, Step};
pub use trace::Trace;
pub use view::View;
pub use width::Width;
