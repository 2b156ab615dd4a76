//! `stubborn lts check`: the rejections of a composition, on the fly.

use super::args::{ReadArgs, TesterArgs};
use super::rules::is_rules;
use super::{BAD_INPUT, files, promela, tester};
use crate::args::{CheckArgs, ReductionWord};
use crate::entry::{say, show};
use crate::machine;
use crate::run::{Failure, may_race, options_for};
use crate::watch::Terminal;
use std::path::Path;
use std::rc::Rc;
use stubborn_lts::{
    Composition, CompositionJob, Followed, Plan, TesterError, attach, check_tester, is_tester, n_bits,
    single, with_composition,
};
use stubborn_report::{Report, clean};
use stubborn_system::Rejecting;
use stubborn_verdict::{
    Analysis, Broken, Options, RaceRules, ReductionKind, RejectionOptions, WordKind, check_rejections,
};

/// Checks what a system and its testers reject, and shows the report.
pub(crate) fn check(
    system: &Path,
    testers: &TesterArgs,
    read: &ReadArgs,
    args: &CheckArgs,
) -> Result<u8, Failure> {
    refuse_methods(args)?;
    let name = system.display().to_string();
    let Some(mut plan) = open(system, testers, read)? else { return Ok(BAD_INPUT) };
    for component in plan.components().iter().filter(|component| is_tester(&component.lsts)) {
        let wrong = |error| Failure::Usage(format!("{}: {error}", component.name));
        check_tester(&component.lsts).map_err(wrong)?;
    }
    for source in tester::sources(testers) {
        let Some(lsts) = source.make(MAX_TESTER, plan.alphabet(), read)? else { return Ok(BAD_INPUT) };
        let wrong = |error: &dyn std::fmt::Display| Failure::Usage(format!("{source}: {error}"));
        let (tested, unseen) = match attach(&plan, lsts, &source.to_string()) {
            Ok(attached) => attached,
            // What is no action may be a proposition.
            Err(TesterError::UnknownAction(_)) if source.has_propositions() => {
                (source.beside(&plan, MAX_TESTER)?, Vec::new())
            }
            Err(error) => return Err(wrong(&error)),
        };
        if !unseen.is_empty() && !args.quiet && !args.json {
            say(&format!("note: {source} does not see {}", some(&unseen)));
        }
        plan = tested;
    }
    let report = report(&name, &plan, args);
    if report.is_err()
        && let Some(code) = files::not_followed(&plan)
    {
        return Ok(code);
    }
    if report.is_ok() && !args.quiet && !args.json {
        tell_what_was_not_met(&plan);
    }
    Ok(show(&name, report, None, args))
}

/// Most states of a tester that is made.
const MAX_TESTER: usize = 1_000_000;

/// Rules, or a process by itself. `None` if it is refused.
fn open(system: &Path, testers: &TesterArgs, read: &ReadArgs) -> Result<Option<Plan>, Failure> {
    // Formulas and automata speak of all actions, and some of them of states.
    let is_followed = testers.ltl.is_empty() && testers.automaton.is_empty();
    if is_rules(system) {
        return if is_followed { files::follow_rules(system, read) } else { files::open_rules(system, read) };
    }
    if is_followed && promela::is_promela(system) {
        return follow(system, testers, read);
    }
    let name = system.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(files::open(system, read)?.map(|lsts| single(lsts, &name)))
}

/// A Promela model by itself, followed as far as its testers let it come. What they do not know happens unseen.
fn follow(system: &Path, testers: &TesterArgs, read: &ReadArgs) -> Result<Option<Plan>, Failure> {
    let Some(growing) = promela::grow(system, read)? else { return Ok(None) };
    let name = system.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let whole = growing.whole(read.unfold_first).map_err(|error| promela::not_grown(system, &error))?;
    if let Some(lsts) = whole {
        return Ok(Some(single(lsts, &name)));
    }
    for source in tester::sources(testers) {
        let Some(tester) = source.make(MAX_TESTER, &[], read)? else { return Ok(None) };
        for action in tester.action_names() {
            growing.action(action);
        }
    }
    let mut plan = single(growing.names(), &name);
    plan.follow(0, Rc::new(growing), true);
    Ok(Some(plan))
}

/// Actions that rules or testers name and a component that is followed has not done may be misspelt.
fn tell_what_was_not_met(plan: &Plan) {
    for (i, component) in plan.components().iter().enumerate() {
        let Some(growing) = plan.growing(i) else { continue };
        let names = component.lsts.action_names().iter().filter(|name| !growing.has_met(name));
        let names: Vec<String> = names.cloned().collect();
        if !names.is_empty() {
            say(&format!("note: as far as it was followed, {} does not do {}", component.name, some(&names)));
        }
    }
}

/// The first names of a list.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let shown = clean(&names[..names.len().min(SHOWN)].join(", ")).into_owned();
    if names.len() > SHOWN { format!("{shown} and {} others", names.len() - SHOWN) } else { shown }
}

/// Refuses what has no meaning for processes.
fn refuse_methods(args: &CheckArgs) -> Result<(), Failure> {
    let is_known = matches!(args.reduction, None | Some(ReductionWord::None | ReductionWord::Scc));
    if args.symmetry || args.rules.is_some() || args.strict_progress || !args.question.is_empty() || !is_known
    {
        let message = "rejections are checked with --reduction scc, which is goal-oriented here, or with --reduction none; \
                       --question, --rules, --symmetry and --strict-progress are for models";
        return Err(Failure::Usage(message.into()));
    }
    Ok(())
}

/// Checks the rejections of a plan.
pub(crate) fn report(name: &str, plan: &Plan, args: &CheckArgs) -> Result<Report, Failure> {
    // What is cut off would have to be known to the sets.
    let reduced = args.reduction != Some(ReductionWord::None) && !plan.has_cuts();
    if args.reduction == Some(ReductionWord::Scc) && plan.has_cuts() {
        let message =
            "--reduction scc: some states are cut off (%p), which can only be checked without reduction";
        return Err(Failure::Usage(message.into()));
    }
    let race = may_race(args).then(RaceRules::of_rejections);
    let options = Options { race, ..options_for(Vec::new(), ReductionKind::None, args) };
    let mut watch = Terminal::new(args.time, args.quiet);
    let job = Check { options: &options, reduced, watch: &mut watch };
    let made = if plan.is_followed() {
        Followed::new(plan).map(|followed| job.check(&followed))
    } else {
        with_composition(plan, job)
    };
    let (n_transitions, result) = made.map_err(|error| Failure::Usage(error.to_string()))?;
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
        state_bits: if plan.is_followed() { 32 * plan.components().len() } else { n_bits(plan) },
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

/// The number of transitions, and the answers if there are rejections.
type Checked = (usize, Option<Result<Analysis, Box<Broken>>>);

impl<S: WordKind + ?Sized> CompositionJob<S> for Check<'_> {
    type Output = Checked;

    fn run(self, composition: &Composition<'_, S>) -> Checked {
        self.check(composition)
    }
}

impl Check<'_> {
    fn check<Y: Rejecting<State: WordKind>>(self, composition: &Y) -> Checked {
        let n = composition.n_transitions();
        if composition.rejections().is_empty() {
            return (n, None);
        }
        let options = RejectionOptions { reduced: self.reduced };
        (n, Some(check_rejections(composition, options, self.options, self.watch)))
    }
}
