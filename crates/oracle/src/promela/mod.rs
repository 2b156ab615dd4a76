//! Random Promela models, and two judges for what is said about them: SPIN, and plain search.
//!
//! [`Model::random`] makes a small model from a seed. [`spin::count`] has SPIN count its states; [`Plain`] is
//! its graph by the reference interpreter and nothing else; [`reduced`] compares reductions with that graph.
//! [`shrink_model`] makes a model small for which two of them disagree. [`never_panics`] is the property of
//! arbitrary texts, for the fuzzer and for tests; [`engines_agree`] that of the models that arbitrary bytes are.

mod claims;
mod engines;
mod expressions;
pub mod formulas;
mod fuzz;
mod looping;
mod pairs;
mod plain;
pub mod properties;
mod random;
pub mod reduced;
mod scope;
mod shrink;
pub mod spin;
pub mod spin_linear;
mod statements;
mod tree;
mod watched;

pub use engines::{engine_agrees, engines_agree};
pub use fuzz::{directives_never_panic, expand_some, never_panics};
pub use pairs::{Pairs, Truths};
pub use plain::{Counts, Plain};
pub use shrink::shrink_model;
pub use tree::{Model, Process, Statement};
pub use watched::Watched;

use stubborn_network::{Expr, Network};
use stubborn_promela::{Options, compile};
use stubborn_text::{NoLoader, render};

/// The network of a text with some invariants, or what is wrong with it.
pub fn compiled(text: &str, invariants: &[String]) -> Result<(Network, Vec<Expr>), String> {
    let options = Options { invariants: invariants.to_vec(), ..Options::default() };
    let compiled = compile("model.pml", text, &NoLoader, &options);
    let problems: String = compiled.diagnostics.iter().map(|d| render(d, &compiled.map)).collect();
    compiled.network.map(|network| (network, compiled.invariants)).ok_or(problems)
}
