//! What is in an LSTS file besides the system: what tools have noted down, and pictures.
//!
//! None of it means anything to compositions, so it is kept beside the [`Lsts`], as it was written where nobody needs to
//! understand it, and goes back to a file that is converted. An acceptance graph is a file with `Div_bits` and `Acc_sets`:
//! its states stand for sets of states, so it can be converted, but not composed. **Checked by** round trips.

use crate::lsts::{Action, Lsts};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// A file.
#[derive(Clone, Debug)]
pub struct Document {
    /// The system.
    pub lsts: Lsts,
    /// The rest.
    pub extras: Extras,
}

/// A transition: source, action, target.
pub(crate) type Transition = (u32, Action, u32);

/// Data, and what is for drawing.
pub(crate) type Strings = (Option<String>, Option<String>);

/// What is in a file besides the system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The history, as it was written.
    pub history: Vec<u8>,
    /// Attributes of the header that are not counts, as they were written.
    pub attributes: Vec<Vec<u8>>,
    /// Initial states behind the first.
    pub initial_states: Vec<u32>,
    /// Of an acceptance graph: the states that may diverge.
    pub divergent: Option<FixedBitSet>,
    /// Of an acceptance graph: states and their acceptance sets.
    pub acceptances: Option<Vec<(u32, Vec<Vec<Action>>)>>,
    /// Strings behind transitions: data, and for drawing.
    pub data: FxHashMap<Transition, Strings>,
    /// Where states are drawn.
    pub layout: Vec<(u32, i64, i64)>,
    /// What is behind the end.
    pub remark: Option<String>,
}

impl Extras {
    /// Whether the file is an acceptance graph.
    pub fn is_acceptance_graph(&self) -> bool {
        self.divergent.is_some() || self.acceptances.is_some()
    }
}
