//! Linear temporal logic and Büchi automata.
//!
//! ```
//! use stubborn_ltl::{Propositions, parse, translate};
//!
//! let mut names = Propositions::new();
//! let formula = parse("[] (request -> <> grant)", &mut names)?;
//! let automaton = translate(&formula.negated(), &names)?.buchi;
//! let (request, grant) = (1 << 0, 1 << 1); // letters are words of bits
//! let start = automaton.initial()[0];
//! let awaiting: Vec<_> = automaton.edges(start).iter().filter(|edge| edge.guard.holds(request)).collect();
//! assert!(awaiting.iter().any(|edge| automaton.is_accepting(edge.target)));
//! assert_eq!(automaton.n_states(), 2);
//! # let _ = grant;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The way of a formula: [`parse`] (or the constructors of [`Formula`]), negation normal form, rewriting,
//! [`translate`] to generalised Büchi acceptance on edges, [`simplify`], [`degeneralise`] to accepting states.
//! Beside it: words and what formulas say of them ([`Lasso`]), products and emptiness ([`product`],
//! [`Automaton::accepting_run`]); what stuttering does ([`stuttering`], [`closure`]);
//! automata as texts ([`to_hoa`], [`from_hoa`], [`never_claim`], [`dot`]).
//!
//! Invariant: propositions are texts. This crate does not know what they mean, and no model.

#![forbid(unsafe_code)]

mod acceptance;
mod automaton;
mod closure;
mod components;
mod degeneralise;
mod dot;
mod emptiness;
mod formula;
mod guard;
mod hoa;
mod hoa_read;
mod implication;
mod lexer;
mod never;
mod parse;
mod proposition;
pub mod random;
mod rewrite;
mod simplify;
mod simulation;
mod stutter;
mod term;
mod translate;
mod word;

pub use automaton::{Automaton, Edge, MAX_SETS, State};
pub use closure::{TooManyLetters, closure};
pub use degeneralise::degeneralise;
pub use dot::dot;
pub use emptiness::{AcceptingRun, ProductError, product, word_automaton};
pub use formula::Formula;
pub use guard::{Cube, Guard, Letter};
pub use hoa::to_hoa;
pub use hoa_read::{HoaError, from_hoa};
pub use never::never_claim;
pub use parse::{MAX_DEPTH, MAX_OPERATORS, ParseError, parse};
pub use proposition::{MAX_PROPOSITIONS, Proposition, Propositions, TooManyPropositions};
pub use simplify::simplify;
pub use stutter::{Stuttering, is_closed, stuttering};
pub use translate::{MAX_NESTING, TranslateError, Translation, normal_form, rewritten, translate};
pub use word::Lasso;
