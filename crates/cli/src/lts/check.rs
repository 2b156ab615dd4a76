//! `stubborn lts check`: the rejections of a composition, on the fly.

use super::args::ReadArgs;
use super::{BAD_INPUT, files};
use crate::args::{CheckArgs, ReductionWord};
use crate::entry::show;
use crate::machine;
use crate::run::{Failure, options_for};
use crate::watch::Terminal;
use std::path::Path;
use stubborn_lts::{Composition, CompositionJob, Plan, n_bits, with_composition};
use stubborn_report::Report;
use stubborn_system::{Rejecting, System, WordVector};
use stubborn_verdict::{Analysis, Broken, Options, ReductionKind, RejectionOptions, check_rejections};

/// Checks the rejections of rules and shows the report.
pub(crate) fn check(rules: &Path, read: &ReadArgs, args: &CheckArgs) -> Result<u8, Failure> {
    refuse_methods(args)?;
    let Some(plan) = files::open_rules(rules, read)? else { return Ok(BAD_INPUT) };
    let name = rules.display().to_string();
    Ok(show(&name, report(&name, &plan, args), None, args))
}

/// Refuses what has no meaning for processes.
fn refuse_methods(args: &CheckArgs) -> Result<(), Failure> {
    let is_known = matches!(args.reduction, None | Some(ReductionWord::None));
    if args.symmetry || args.rules.is_some() || args.strict_progress || !args.question.is_empty() || !is_known
    {
        let message = "rejections are checked with goal-oriented sets, or with --reduction none; \
                       --question, --rules, --symmetry and --strict-progress are for models";
        return Err(Failure::Usage(message.into()));
    }
    Ok(())
}

/// Checks the rejections of a plan.
pub(crate) fn report(name: &str, plan: &Plan, args: &CheckArgs) -> Result<Report, Failure> {
    // What is cut off would have to be known to the sets.
    let reduced = args.reduction.is_none() && !plan.has_cuts();
    let options = options_for(Vec::new(), ReductionKind::None, args);
    let mut watch = Terminal::new(args.time, args.quiet);
    let job = Check { options: &options, reduced, watch: &mut watch };
    let (n_transitions, result) =
        with_composition(plan, job).map_err(|error| Failure::Usage(error.to_string()))?;
    let Some(result) = result else {
        return Err(Failure::Usage(format!(
            "{name}: nothing is rejected; write rules such as `2.\"p\" -> rej;`, or use a tester"
        )));
    };
    let seconds = watch.seconds();
    drop(watch);
    Ok(Report {
        model: name.to_owned(),
        n_transitions,
        state_bits: n_bits(plan),
        rules: Some("derived"),
        optimise: None,
        analysis: result.map_err(Failure::Broken)?,
        seconds,
        peak_rss: machine::peak_rss(),
    })
}

struct Check<'a> {
    options: &'a Options,
    reduced: bool,
    watch: &'a mut Terminal,
}

impl CompositionJob for Check<'_> {
    /// The number of transitions, and the answers if there are rejections.
    type Output = (usize, Option<Result<Analysis, Box<Broken>>>);

    fn run<S: WordVector + ?Sized>(self, composition: &Composition<'_, S>) -> Self::Output {
        let n = composition.n_transitions();
        if composition.rejections().is_empty() {
            return (n, None);
        }
        let options = RejectionOptions { reduced: self.reduced };
        (n, Some(check_rejections(composition, options, self.options, self.watch)))
    }
}
