//! `stubborn lts compose`: the explicit system of a composition, or what stubborn sets leave of it.

use super::args::{LimitArgs, PreserveWord, ReadArgs};
use super::{BAD_INPUT, files};
use crate::args::ReductionWord;
use crate::entry::{print, say};
use crate::run::Failure;
use crate::watch::Terminal;
use std::path::Path;
use stubborn_lts::{Unfinished, unfold, unfold_reduced};
use stubborn_reduce::{ReductionKind, Semantics};
use stubborn_report::with_commas;

/// How to compose.
pub(crate) struct How {
    pub(crate) state_names: bool,
    pub(crate) reduction: Option<(ReductionKind, Semantics)>,
}

/// The reduction that was asked for; one of the two words will do.
pub(crate) fn reduction(
    reduction: Option<ReductionWord>,
    preserve: Option<PreserveWord>,
) -> Result<Option<(ReductionKind, Semantics)>, Failure> {
    if reduction.is_none() && preserve.is_none() {
        return Ok(None);
    }
    let algorithm = ReductionKind::from(reduction.unwrap_or(ReductionWord::Scc));
    if !ReductionKind::BY_RULES.contains(&algorithm) {
        let known = ReductionKind::BY_RULES.map(ReductionKind::word).join(", ");
        return Err(Failure::Usage(format!(
            "`{}` is for Promela models; compositions know {known}",
            algorithm.word()
        )));
    }
    let semantics = preserve.unwrap_or(PreserveWord::Cffd).into();
    Ok((algorithm != ReductionKind::None).then_some((algorithm, semantics)))
}

/// Composes, says how large the result is, and writes it if that is wanted.
pub(crate) fn compose(
    rules: &Path,
    output: Option<&Path>,
    how: &How,
    limits: &LimitArgs,
    read: &ReadArgs,
) -> Result<u8, Failure> {
    let format = files::format(output, None)?;
    let plan = match how.reduction {
        None => files::follow_rules(rules, read)?,
        // Reductions look at components as a whole.
        Some(_) => files::open_rules(rules, read)?,
    };
    let Some(plan) = plan else { return Ok(BAD_INPUT) };
    let mut watch = Terminal::new(limits.time, limits.quiet);
    let names = how.state_names;
    let unfolded = match how.reduction {
        None => unfold(&plan, limits.limits(), names, &mut watch),
        Some((algorithm, semantics)) => {
            unfold_reduced(&plan, algorithm, semantics, limits.limits(), names, &mut watch)
        }
    };
    let unfolded = match unfolded {
        Ok(unfolded) => unfolded,
        Err(Unfinished::Stopped(stop)) => {
            say(&format!("inconclusive: {stop}"));
            return Ok(3);
        }
        Err(error) => {
            return files::not_followed(&plan).ok_or_else(|| Failure::Usage(error.to_string()));
        }
    };
    let seconds = watch.seconds();
    drop(watch);
    let n = |count: u64| with_commas(count);
    let stats = unfolded.stats;
    let cut = how.reduction.filter(|_| plan.has_cuts());
    if cut.is_some() && !limits.quiet {
        say("note: some states are cut off; everything else was composed without reduction");
    }
    if !limits.quiet {
        print(format!(
            "{} states, {} transitions, {} terminal states, {seconds:.2} s\n",
            n(stats.states),
            n(unfolded.lsts.n_transitions() as u64),
            n(stats.terminal_states),
        ));
    }
    if output.is_some() {
        files::save(&unfolded.lsts, output, format, read)?;
    }
    Ok(0)
}
