//! `stubborn lts compose`: the explicit system of a composition.

use super::args::{LimitArgs, ReadArgs};
use super::{BAD_INPUT, files};
use crate::entry::{print, say};
use crate::run::Failure;
use crate::watch::Terminal;
use std::path::Path;
use stubborn_lts::{Unfinished, unfold};
use stubborn_report::with_commas;

/// Composes, says how large the result is, and writes it if that is wanted.
pub(crate) fn compose(
    rules: &Path,
    output: Option<&Path>,
    state_names: bool,
    limits: &LimitArgs,
    read: &ReadArgs,
) -> Result<u8, Failure> {
    let format = files::format(output, None)?;
    let Some(plan) = files::open_rules(rules, read)? else { return Ok(BAD_INPUT) };
    let mut watch = Terminal::new(limits.time, limits.quiet);
    let unfolded = match unfold(&plan, limits.limits(), state_names, &mut watch) {
        Ok(unfolded) => unfolded,
        Err(Unfinished::Stopped(stop)) => {
            say(&format!("inconclusive: {stop}"));
            return Ok(3);
        }
        Err(error) => return Err(Failure::Usage(error.to_string())),
    };
    let seconds = watch.seconds();
    drop(watch);
    let n = |count: u64| with_commas(count);
    let stats = unfolded.stats;
    if !limits.quiet {
        print(format!(
            "{} states, {} transitions, {} terminal states, {seconds:.2} s\n",
            n(stats.states),
            n(stats.edges),
            n(stats.terminal_states),
        ));
    }
    if output.is_some() {
        files::save(&unfolded.lsts, output, format, read)?;
    }
    Ok(0)
}
