//! Promela to network: the front-end for SPIN's modelling language.
//!
//! ```
//! use stubborn_promela::{Options, compile};
//! use stubborn_text::NoLoader;
//!
//! let text = "byte x; active proctype A() { x = 1; assert(x == 2) }";
//! let compiled = compile("model.pml", text, &NoLoader, &Options::default());
//! let network = compiled.network.expect("the model is right");
//!
//! let first = network.initial_state().expect("it can begin");
//! let second = &network.expand(&first).successors[0].state;
//! let events = &network.expand(second).successors[0].events;
//! assert_eq!(network.describe(&events[0]), "assertion violated in A[0] assert(x == 2)");
//! ```
//!
//! The way of the data: `lexer` (text to tokens), `preprocess` (macros, conditions, includes), `parser`
//! (tokens to syntax tree; inlines are expanded here, textually, as in SPIN), `lower` (names, types, control
//! flow; syntax tree to network). Each stage collects as many errors as it can and never panics; the next
//! one runs only if there are none.
//!
//! The whole language is accepted except embedded C (`refuse`). Never claims are lowered to automata of the
//! network, which its interpreter leaves alone, and from there to Büchi automata ([`claim_automaton`]); `ltl`
//! formulas become properties over propositions that the network evaluates ([`Compiled::formulas`]).
//!
//! Where this differs from SPIN:
//! * `hidden` variables are part of the state. In SPIN a state is found again although a hidden value
//!   differs, so that its counts depend on the order of the search.
//! * An index outside its array reads zero and writes nothing, with an event; so does a division by zero.
//!   SPIN's verifier reads and writes whatever is there, and dies of a division by zero.
//! * Priorities are part of the state. SPIN's verifier masks them as padding in processes whose locals do
//!   not fill a word, and so takes different states for the same.
//! * A `d_step` that begins with an assertion waits like any other statement while a rendezvous of other
//!   processes is under way. SPIN's verifier executes it in the place of the receiver.
//! * The channel of a receive is evaluated once. SPIN's verifier evaluates it again when a part of the message
//!   has been received, so that it may change in between (`q[x]?x`).
//! * A message is what it is. When SPIN's verifier takes a receive back, it makes the message again from the
//!   variable; if that was too narrow, its counts depend on the order of the search.
//! * A variable in a block may have the name of a global one.

#![forbid(unsafe_code)]

pub mod ast;
mod ast_walk;
mod condition;
mod lexer;
mod lower;
mod parser;
mod preprocess;
mod property;
mod refuse;
mod token;
pub mod trail;

pub use property::{Property, TooManyGuards, claim_automaton};

use preprocess::{Preprocessed, preprocess};
use stubborn_network::Network;
use stubborn_text::{Diagnostic, Limits, Loader, SourceMap};

/// What became of a model.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The syntax tree.
    pub model: ast::Model,
    /// The network, unless there are errors.
    pub network: Option<Network>,
    /// The invariants of the options, in their order, unless there are errors. [`Network::holds`] evaluates
    /// them.
    pub invariants: Vec<stubborn_network::Expr>,
    /// The formulas: those of the model in their order, then those of the options.
    pub formulas: Vec<Property>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that spans point into.
    pub map: SourceMap,
}

/// What to compile with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Definitions from outside: names with their texts.
    pub definitions: Vec<(String, String)>,
    /// Expressions over globals, labels and variables of processes, written with the model's macros. They are
    /// compiled together with the model, because a label that they name needs a state of its own.
    pub invariants: Vec<String>,
    /// Formulas of linear temporal logic, written with the model's macros.
    pub formulas: Vec<String>,
    /// What a text may cost.
    pub limits: Limits,
}

/// Compiles a model. `name` is the name of its file, relative to the directory of the model; includes are
/// relative to it.
pub fn compile(name: &str, text: &str, loader: &dyn Loader, options: &Options) -> Compiled {
    let mut map = SourceMap::new();
    let file = map.add(name, text.to_owned(), None);
    let limits = &options.limits;
    let invariants = options.invariants.iter().map(|text| ("<invariant>", text.as_str()));
    let formulas = options.formulas.iter().map(|text| ("<formula>", text.as_str()));
    let outside: Vec<(&str, &str)> = invariants.chain(formulas).collect();
    let Preprocessed { tokens, mut expressions, mut diagnostics } =
        preprocess(file, &mut map, loader, &options.definitions, &outside, limits);
    let formulas = expressions.split_off(options.invariants.len());
    let (model, found) = parser::parse(tokens, expressions, formulas, limits);
    diagnostics.extend(found);
    let (mut network, mut invariants, mut formulas) = (None, Vec::new(), Vec::new());
    if !diagnostics.iter().any(Diagnostic::is_error) {
        let lowered = lower::lower(&model, &map, limits);
        (network, invariants, formulas) = (lowered.network, lowered.invariants, lowered.formulas);
        diagnostics.extend(lowered.diagnostics);
    }
    Compiled { model, network, invariants, formulas, diagnostics, map }
}
