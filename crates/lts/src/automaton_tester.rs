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

use crate::lsts::{Lsts, LstsBuilder, Mark, Special, TAU, TooLarge};
use rustc_hash::FxHashSet;
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
    /// The formula is too large.
    #[error(transparent)]
    Translate(#[from] TranslateError),
    /// The tester is.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// The tester of a formula that every run must satisfy. Its propositions are names of actions; `visible` are all
/// actions that are letters of words.
pub fn formula_tester(text: &str, visible: &[String]) -> Result<Lsts, AutomatonTesterError> {
    let mut propositions = Propositions::new();
    let formula: Formula = parse(text, &mut propositions).map_err(AutomatonTesterError::Parse)?;
    let forbidden = translate(&formula.negated(), &propositions)?.buchi;
    automaton_tester(&forbidden, visible)
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
        let is_silent = accepts_silence(&forbidden, state);
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
    debug_assert_eq!(TAU, 0);
    Ok(builder.build()?)
}

/// Names that are no words of formulas are written in quotes there.
fn strip_quotes(text: &str) -> &str {
    text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text)
}

/// Whether the automaton accepts the empty letter for ever.
fn accepts_silence(automaton: &Automaton, from: u32) -> bool {
    let reached = |from: u32| {
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut waiting = vec![from];
        while let Some(state) = waiting.pop() {
            for edge in automaton.edges(state).iter().filter(|edge| edge.guard.holds(0)) {
                if seen.insert(edge.target) {
                    waiting.push(edge.target);
                }
            }
        }
        seen
    };
    let all = reached(from);
    let mut accepting = all.iter().chain([&from]).filter(|&&state| automaton.is_accepting(state));
    accepting.any(|&state| reached(state).contains(&state))
}
