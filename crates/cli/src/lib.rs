//! `stubborn`: a verifier for concurrent systems that explores as few states as the truth allows.
//!
//! Write a [`Model`], hand it to [`main`], and the program has the same command line as the `stubborn`
//! binary has for its gallery: `check`, `compare`, `simulate` and `replay`, with limits, reductions and JSON.
//!
//! ```no_run
//! use stubborn::prelude::*;
//!
//! /// A counter that may be raised and may be set back. It must not reach three.
//! struct Counter {
//!     layout: Layout,
//!     value: Var,
//! }
//!
//! impl Counter {
//!     fn new() -> Self {
//!         let mut layout = Layout::new();
//!         let value = layout.var("value", 0..=7);
//!         Self { layout, value }
//!     }
//! }
//!
//! impl Model for Counter {
//!     fn name(&self) -> String { "counter".into() }
//!     fn layout(&self) -> &Layout { &self.layout }
//!     fn n_transitions(&self) -> usize { 2 }
//!     fn transition_name(&self, t: usize) -> String { ["raise", "reset"][t].into() }
//!     fn questions(&self) -> Vec<Question> { vec![Question::Safety] }
//!     fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
//!         match t {
//!             0 if s.at_most(self.value, 6) => s.add(self.value, 1),
//!             1 if s.at_least(self.value, 1) => s.set(self.value, 0),
//!             _ => return false,
//!         }
//!         true
//!     }
//!     fn check(&self, s: &State<'_>) -> Result<(), String> {
//!         if s.is(self.value, 3) { Err("the counter reached three".into()) } else { Ok(()) }
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     stubborn::main(Counter::new())
//! }
//! ```
//!
//! For a family of models, [`main_with`] passes on what the user said with `--size` and `--variant`.

#![forbid(unsafe_code)]

mod args;
mod asked;
mod compare;
mod entry;
mod graph;
mod interactive;
mod ltl;
mod lts;
mod machine;
mod papers;
mod program;
mod promela;
mod quantity;
mod replay;
mod run;
mod runs;
mod simulate;
mod subject;
mod target;
mod trail;
mod unreached;
mod watch;

/// What a model needs.
pub mod prelude {
    pub use stubborn_model::{Array, Footprint, Layout, Model, Needs, Question, State, TransitionId, Var};
}

#[doc(hidden)]
pub use entry::stubborn_main;
pub use entry::{Params, main, main_with};
#[doc(no_inline)]
pub use stubborn_model::Model;
