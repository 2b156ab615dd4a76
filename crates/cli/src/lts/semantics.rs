//! `stubborn lts compare`, `minimize` and `determinise`: what can be observed of processes.

use super::args::{ModelWord, ReadArgs, SmallWord};
use super::promela::is_promela;
use super::{BAD_INPUT, files};
use crate::entry::{print, say};
use crate::run::Failure;
use std::path::Path;
use stubborn_lts::{Lsts, LstsBuilder, TAU};
use stubborn_report::{ComparedProcesses, clean, with_commas};
use stubborn_semantics::{
    Comparison, Limit, Minimization, NoAnswer, Relation, behind_tau, compare as compare_systems, determinise,
    minimize,
};

const DIFFERENT: u8 = 1;
const INCONCLUSIVE: u8 = 3;

/// What is asked about two files.
pub(crate) struct Asked {
    pub(crate) under: ModelWord,
    pub(crate) preorder: bool,
    pub(crate) initial_stability: bool,
    pub(crate) max_states: usize,
    pub(crate) json: bool,
}

/// Compares two files.
pub(crate) fn compare(files: [&Path; 2], asked: &Asked, read: &ReadArgs) -> Result<u8, Failure> {
    let read = &ReadArgs { is_seen_from_outside: !asked.under.model().is_bisimilarity(), ..read.clone() };
    let Some(left) = files::open(files[0], read)? else { return Ok(BAD_INPUT) };
    let Some(right) = files::open(files[1], read)? else { return Ok(BAD_INPUT) };
    if let Some(message) = nothing_in_common(files, [&left, &right]) {
        return Err(Failure::Usage(message));
    }
    let is_model = files.map(is_promela);
    let left = if is_model[0] { knowing(left, &right)? } else { left };
    let right = if is_model[1] { knowing(right, &left)? } else { right };
    let comparison = Comparison {
        model: asked.under.model(),
        relation: if asked.preorder { Relation::Refines } else { Relation::Equivalent },
        initial_stability: asked.initial_stability,
        limit: Limit::of_nodes(asked.max_states),
    };
    let difference = match compare_systems(&left, &right, &comparison) {
        Ok(difference) => difference,
        Err(error) => return no_answer(&error),
    };
    let names = files.map(|file| file.display().to_string());
    let answer = ComparedProcesses {
        names: [&names[0], &names[1]],
        asked: &comparison,
        difference: difference.as_ref(),
    };
    let code = if difference.is_some() { DIFFERENT } else { 0 };
    print(if asked.json { answer.json(code) + "\n" } else { answer.text() });
    Ok(code)
}

/// Alphabets that differ are an answer; alphabets without a common action are a mistake, in all likelihood.
fn nothing_in_common(files: [&Path; 2], systems: [&Lsts; 2]) -> Option<String> {
    let [left, right] = systems.map(Lsts::action_names);
    if left.is_empty() || right.is_empty() || left.iter().any(|name| right.contains(name)) {
        return None;
    }
    let some = |names: &[String]| {
        let shown: Vec<String> = names.iter().take(3).map(|name| format!("\"{}\"", clean(name))).collect();
        format!("{}{}", shown.join(", "), if names.len() > 3 { ", ..." } else { "" })
    };
    Some(format!(
        "the alphabets have no action in common: {} has {}, {} has {}; rename actions, or ask about other processes",
        files[0].display(),
        some(left),
        files[1].display(),
        some(right)
    ))
}

/// A model has events, but no list of those that it could have: what only the other process knows never happens in it.
fn knowing(model: Lsts, other: &Lsts) -> Result<Lsts, Failure> {
    if other.action_names().iter().all(|name| model.action(name).is_some()) {
        return Ok(model);
    }
    let wrong = |error: stubborn_lts::TooLarge| Failure::Usage(error.to_string());
    let mut builder = LstsBuilder::new(model.n_states() as u64).map_err(wrong)?;
    model.action_names().iter().chain(other.action_names()).for_each(|name| {
        builder.action(name);
    });
    builder.set_initial(model.initial());
    for state in 0..model.n_states() as u32 {
        model.edges(state).for_each(|(action, target)| builder.add_transition(state, action, target));
    }
    for proposition in model.propositions() {
        let states = proposition.states.ones().map(|state| state as u32);
        builder.add_proposition(proposition.mark.clone(), states);
    }
    builder.build().map_err(wrong)
}

/// How a smaller system is made.
#[derive(Clone, Copy)]
pub(crate) enum Smaller {
    Minimal(SmallWord, bool),
    Deterministic,
}

/// Writes a smaller system, or a deterministic one; says what became of its size if it goes to a file.
pub(crate) fn write(
    input: &Path,
    output: Option<&Path>,
    how: Smaller,
    max_states: usize,
    read: &ReadArgs,
) -> Result<u8, Failure> {
    let format = files::format(output, None)?;
    let is_seen_from_outside = matches!(how, Smaller::Deterministic | Smaller::Minimal(SmallWord::Cffd, _));
    let read = &ReadArgs { is_seen_from_outside, ..read.clone() };
    let Some(lsts) = files::open(input, read)? else { return Ok(BAD_INPUT) };
    let limit = Limit::of_nodes(max_states);
    let result = match how {
        Smaller::Deterministic => determinise(&lsts, limit),
        Smaller::Minimal(word, initial_stability) => {
            let how = match word {
                SmallWord::Reachable => Minimization::Reachable,
                SmallWord::Tau => Minimization::Tau,
                SmallWord::Strong => Minimization::Strong,
                SmallWord::Branching => Minimization::Branching,
                SmallWord::Cffd => Minimization::Cffd { initial_stability },
            };
            let has_tau =
                |lsts: &Lsts| lsts.edges(lsts.initial()).next().is_some_and(|(action, _)| action == TAU);
            minimize(&lsts, how, limit).and_then(|small| {
                if initial_stability && has_tau(&lsts) && !has_tau(&small) {
                    behind_tau(&small)
                } else {
                    Ok(small)
                }
            })
        }
    };
    let small = match result {
        Ok(small) => small,
        Err(error) => return no_answer(&error),
    };
    files::save(&small, output, format, read)?;
    if output.is_some() {
        print(format!("{} -> {}\n", size(&lsts), size(&small)));
    }
    Ok(0)
}

fn size(lsts: &Lsts) -> String {
    let n = |count: usize| with_commas(count as u64);
    format!("{} states, {} transitions", n(lsts.n_states()), n(lsts.n_transitions()))
}

/// A limit is inconclusive; everything else should not have been asked.
fn no_answer(error: &NoAnswer) -> Result<u8, Failure> {
    match error {
        NoAnswer::Limit { .. } => {
            say(&error.to_string());
            Ok(INCONCLUSIVE)
        }
        NoAnswer::NoPreorder(_) | NoAnswer::TooLarge(_) => Err(Failure::Usage(error.to_string())),
    }
}
