//! Processes as labelled state transition systems: formats, composition by rules, testers.
//!
//! The data's way: `lexer` and `read_lsts`, `aut` make an [`Lsts`] of a text, `write_lsts`, `aut` and `dot` write
//! one. HVV is Hansen, Virtanen, Valmari, *Merging State-Based and Action-Based Verification* (2003); V93 is
//! Valmari, *On-the-fly verification with stubborn sets* (1993).
//!
//! Invariant: this crate touches no file; [`Files`] gives it bytes.

#![forbid(unsafe_code)]

mod aut;
mod automaton_tester;
mod canonical;
mod composition;
mod default_rules;
mod document;
mod dot;
mod expr;
mod followed;
mod growing;
mod lexer;
mod lsts;
mod offers;
mod plain;
mod plan;
mod preprocess;
mod read_lsts;
mod read_rules;
mod source;
mod state_formulas;
mod tester;
mod traced;
mod unfold;
mod ways;
mod write_lsts;
mod write_rules;

pub use aut::{Tau, read_aut, write_aut};
pub use automaton_tester::{AutomatonTesterError, automaton_tester, formula_tester};
pub use canonical::{CanonicalError, canonical_tester};
pub use composition::{Composition, CompositionError, n_bits, n_words};
pub use default_rules::{Renaming, default_plan, read_renaming, read_visible};
pub use document::{Document, Extras};
pub use dot::write_dot;
pub use expr::Expr;
pub use followed::Followed;
pub use growing::{Behaviour, Growing, Moves, NotGrown};
pub use lsts::{Action, Lsts, LstsBuilder, MAX_STATES, Mark, Proposition, Special, TAU, TooLarge};
pub use plain::{Mover, Tuple, confirm, initial, successors};
pub use plan::{Component, Plan, PlanError, PropositionRule, Rule};
pub use read_lsts::{ReadOptions, read_document, read_lsts};
pub use read_rules::{Components, NoComponent, read_rules};
pub use source::{Files, MemoryFiles, NoFiles, Refusal, latin1, to_latin1};
pub use state_formulas::{with_automaton, with_formula};
pub use tester::{TesterError, attach, check_tester, is_tester, single};
pub use unfold::{Composed, CompositionJob, Unfinished, Unfolded, unfold, unfold_reduced, with_composition};
pub use write_lsts::{write_document, write_lsts};
pub use write_rules::{write_extended_rules, write_numeric_rules};
