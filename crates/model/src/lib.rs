//! Models as Rust code: the counterpart of ASSET's C++ functions.
//!
//! A [`Model`] declares variables in a [`Layout`], numbers its transitions, and fires them on a
//! [`State`]. Everything else (checks, progress, symmetry, rules, footprints) is optional.
//!
//! ```
//! use stubborn_model::*;
//!
//! /// Two lamps, each switched on once. Can both be on?
//! struct Lamps { layout: Layout, on: Array }
//!
//! impl Lamps {
//!     fn new() -> Self {
//!         let mut layout = Layout::new();
//!         let on = layout.array("on", 2, 0..=1);
//!         Self { layout, on }
//!     }
//! }
//!
//! impl Model for Lamps {
//!     fn name(&self) -> String { "lamps".into() }
//!     fn layout(&self) -> &Layout { &self.layout }
//!     fn n_transitions(&self) -> usize { 2 }
//!     fn questions(&self) -> Vec<Question> { vec![Question::Safety] }
//!     fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
//!         if s.is(self.on[t], 1) { return false; }
//!         s.set(self.on[t], 1);
//!         true
//!     }
//!     fn check(&self, s: &State<'_>) -> Result<(), String> {
//!         if s.is(self.on[0], 1) && s.is(self.on[1], 1) { return Err("both lamps are on".into()); }
//!         Ok(())
//!     }
//! }
//! # let lamps = Lamps::new();
//! # assert_eq!(lamps.layout().n_bits(), 2);
//! ```
//!
//! The data's way: `layout` says where variables live; `state` reads and writes them (and can record
//! what it did); `model` is the trait; `footprint` is what a transition may touch in any state;
//! `derived` turns footprints into stubborn rules; `adapter` makes a kernel system of it all, and `traced` tells what
//! its transitions look at.

#![forbid(unsafe_code)]

mod adapter;
mod derived;
mod footprint;
mod layout;
mod model;
mod state;
mod traced;

pub use adapter::{ModelError, ModelSystem, RuleSource};
pub use footprint::{Footprint, Observation, Values};
pub use layout::{Array, Layout, LayoutError, Var};
pub use model::{Model, Needs};
pub use state::State;
pub use stubborn_system::{Question, TransitionId, WordVector};
