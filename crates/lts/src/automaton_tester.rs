//! A tester from a Büchi automaton, or from a formula of linear temporal logic, over actions.
//!
//! **Implements** the remark behind V93 Theorem 3.3: accepting states are infinite trace monitors. The word of a run is its
//! visible actions, one letter each, in which the proposition with the name of the action holds, if there is one, and no
//! other; if only finitely many actions can be seen, because the system stops or because it goes on unseen, the empty letter
//! follows for ever. A state from which the automaton accepts that is a livelock and a deadlock monitor; one from
//! which it accepts everything is a reject state.
//! **Preserves** the language: the tester rejects a system exactly if the automaton accepts the word of one of its runs.
//! **Differs from the text** in that a monitor that has no way on with an action goes to a state where nothing more is
//! rejected, so that it stops only with the system.
//! **Checked by** random pairs of system and formula against brute force (`oracle`).

use crate::lsts::{Lsts, LstsBuilder, Mark, Special, TooLarge};
use crate::state_formulas::accepts_for_ever;
use stubborn_ltl::{
    Automaton, Formula, ParseError, Propositions, TranslateError, degeneralise, parse, translate,
};
use thiserror::Error;

/// Why there is no tester.
#[derive(Clone, Debug, Error)]
pub enum AutomatonTesterError {
    /// The formula is wrong.
    #[error("{}", .0.message)]
    Parse(ParseError),
    /// A quote too few.
    #[error("a quote in the formula is not closed")]
    Quote,
    /// The formula is too large.
    #[error(transparent)]
    Translate(#[from] TranslateError),
    /// The tester is.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// It is larger than wanted.
    #[error("the tester has more than {limit} states")]
    States {
        /// The limit.
        limit: usize,
    },
    /// A name that the system does not have.
    #[error("the system has no visible action and no proposition called `{0}`")]
    Unknown(String),
    /// A name of two things.
    #[error("`{0}` is both a visible action and a proposition of the system; rename one of them")]
    Ambiguous(String),
}

/// The tester of a formula that every run must satisfy. Its propositions are names of actions; `visible` are all
/// actions that are letters of words.
pub fn formula_tester(text: &str, visible: &[String]) -> Result<Lsts, AutomatonTesterError> {
    automaton_tester(&forbidden(text)?, visible)
}

/// The automaton of the runs that do not satisfy a formula. Names that are no words of formulas are written in quotes.
pub(crate) fn forbidden(text: &str) -> Result<Automaton, AutomatonTesterError> {
    // The grammar of formulas has no quotes: words that do not occur stand for what is in them.
    let mut word = "quoted".to_owned();
    while text.contains(&word) {
        word.push('_');
    }
    let mut quoted: Vec<&str> = Vec::new();
    let mut plain = String::new();
    for (i, piece) in text.split('"').enumerate() {
        if i % 2 == 0 {
            plain.push_str(piece);
        } else {
            plain.push_str(&format!("{word}{}", quoted.len()));
            quoted.push(piece);
        }
    }
    if text.matches('"').count() % 2 == 1 {
        return Err(AutomatonTesterError::Quote);
    }
    let mut words = Propositions::new();
    let formula: Formula = parse(&plain, &mut words).map_err(AutomatonTesterError::Parse)?;
    let meant = |text: &str| {
        let number = text.strip_prefix(&word).and_then(|number| number.parse::<usize>().ok());
        number.and_then(|number| quoted.get(number).copied()).unwrap_or(text).to_owned()
    };
    let names: Vec<String> = words.iter().map(|proposition| meant(&proposition.text)).collect();
    let mut propositions = Propositions::from_texts(names.iter().map(String::as_str)).unwrap_or_default();
    if propositions.len() != names.len() {
        // One name with and without quotes: the words are as good.
        propositions = words;
    }
    Ok(translate(&formula.negated(), &propositions)?.buchi)
}

/// The tester of an automaton of forbidden words. Its propositions are names of actions; `visible` are all actions
/// that are letters of words.
pub fn automaton_tester(forbidden: &Automaton, visible: &[String]) -> Result<Lsts, AutomatonTesterError> {
    let forbidden = if forbidden.is_buchi() { forbidden.clone() } else { degeneralise(forbidden) };
    let forbidden = forbidden.with_one_initial();
    let n = forbidden.n_states() as u32;
    let sink = n;
    let mut builder = LstsBuilder::new(u64::from(n) + 1)?;
    let names: Vec<&str> = forbidden.propositions().iter().map(|p| strip_quotes(&p.text)).collect();
    let mut actions: Vec<(u32, u64)> =
        names.iter().enumerate().map(|(bit, name)| (builder.action(name), 1 << bit)).collect();
    for name in visible.iter().filter(|name| !names.contains(&name.as_str())) {
        actions.push((builder.action(name), 0));
    }
    let (mut rej, mut silent, mut infinite) = (Vec::new(), Vec::new(), Vec::new());
    for state in forbidden.states() {
        let is_silent = accepts_for_ever(&forbidden, state, 0);
        if forbidden.accepts_everything_from(state) {
            rej.push(state);
        }
        if is_silent {
            silent.push(state);
        }
        if forbidden.is_accepting(state) {
            infinite.push(state);
        }
        for &(action, letter) in &actions {
            let mut has_way = false;
            for edge in forbidden.edges(state).iter().filter(|edge| edge.guard.holds(letter)) {
                builder.add_transition(state, action, edge.target);
                has_way = true;
            }
            if is_silent && !has_way {
                builder.add_transition(state, action, sink);
            }
        }
    }
    match forbidden.initial() {
        &[initial] => builder.set_initial(initial),
        // Nothing is forbidden.
        _ => builder.set_initial(sink),
    }
    let marks = [
        (Special::Rej, rej),
        (Special::DlRej, silent.clone()),
        (Special::LlRej, silent),
        (Special::InfRej, infinite),
    ];
    for (special, states) in marks {
        builder.add_proposition(Mark::Special(special), states);
    }
    Ok(builder.build()?)
}

/// Names that are no words of formulas are written in quotes there.
pub(crate) fn strip_quotes(text: &str) -> &str {
    text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text)
}
