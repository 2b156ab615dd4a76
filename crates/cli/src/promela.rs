//! `check`: a Promela model, from its file to a report.

use crate::args::{CheckArgs, LinearArgs, OptimiseWord, PromelaArgs, QuestionWord, SearchWord};
use crate::asked::Asked;
use crate::entry::{say, show};
use crate::machine;
use crate::run::{About, Analyse, Failure, may_race, options_for, questions};
use crate::runs::{Bound, Movers, Runs, read_automata};
use crate::subject::Subject;
use crate::trail;
use crate::unreached::unreached;
use crate::watch::Terminal;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stubborn_explore::End;
use stubborn_explore::linear::{Exits, FIRST_LOOK, Participants};
use stubborn_ltl::Automaton;
use stubborn_model::Question;
use stubborn_network::{Expr, Network, Optimisations, Optimised};
use stubborn_promela::{Compiled, Options as CompileOptions, Property, compile};
use stubborn_reduce::{NetworkReduction, Reduction};
use stubborn_report::Report;
use stubborn_system::{Batch, Observed, System, TransitionId};
use stubborn_text::{LoadError, Loader, render};
use stubborn_verdict::{
    Analysis, AnySystem, Contradiction, Inconclusive, LinearPlan, Options, PhaseReport, ReductionKind,
    RunProperty, Verdict, Witness, analyse_with, check_runs, on_original, replay_run,
};

/// The largest text that is read.
const MAX_BYTES: u64 = 16 << 20;

/// What is asked of a model, in the words of the command line.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) promela: &'a PromelaArgs,
    pub(crate) linear: &'a LinearArgs,
    pub(crate) args: &'a CheckArgs,
    pub(crate) optimise: OptimiseWord,
}

/// Verifies the model in a file.
pub(crate) fn check(file: &Path, asking: Asking<'_>, trail: Option<&Path>) -> Result<u8, Failure> {
    let Asking { promela, linear, args, optimise } = asking;
    let started = Instant::now();
    let automata = read_automata(linear)?;
    let loaded = compile_file(file, promela, &linear.ltl, automata)?;
    let Some(Loaded { network, asked, formulas, automata }) = loaded else { return Ok(2) };
    let runs = Runs::all(&network, formulas, automata, linear, args)?;
    let name = file.display().to_string();
    let mut readers = asked.readers();
    readers.extend(runs.iter().flat_map(|property| &property.exprs));
    let wanted = Optimisations::from(optimise);
    let optimised = network.optimised(asked.unnoticed(wanted), &readers);
    let as_written = Subject::new(&network, &asked).stood_in_by(&optimised);
    let subject = Subject::new(&optimised.network, &asked);
    // Properties of runs would notice some of it.
    let of_runs_only = network.optimised(wanted.of_runs(), &readers);
    let run_as_written = Subject::new(&network, &asked).stood_in_by(&of_runs_only);
    let run_subject = Subject::new(&of_runs_only.network, &asked);
    let reduction = refuse_methods(args).and_then(|()| reduction(args, &asked))?;
    // Searches for runs have sets for every kind of search.
    let of_runs = args.reduction.map_or(ReductionKind::Smaller, Into::into);
    let mut report = if asks_about_states(linear, args) {
        report(&name, &subject, &asked, (reduction, may_race(args)), args)
    } else {
        Ok(nothing_yet(&name, &network))
    };
    if let Ok(report) = &mut report {
        let Optimised { hidden, reset, .. } = &optimised;
        let (word, hidden, reset) = (optimise.word(), hidden.clone(), reset.clone());
        let merged = if asks_about_states(linear, args) { optimised.n_merged() } else { 0 };
        report.optimise = Some(stubborn_report::Optimised { word, hidden, reset, merged });
        show_as_written(report, &subject, &as_written, &asked, args)?;
        let searched = if linear.fair { &run_as_written } else { &run_subject };
        for property in &runs {
            check_property(report, property, searched, &run_as_written, of_runs, asking, started)?;
        }
        report.seconds = started.elapsed().as_secs_f64();
        report.peak_rss = machine::peak_rss();
    }
    if let (Some(trail), Ok(report)) = (trail, &report) {
        trail::save(trail, file, &as_written, report)?;
    }
    let is_full = report.as_ref().is_ok_and(|report| report.analysis.phases.iter().any(is_full));
    let is_told = is_full && (args.json || !args.quiet);
    let unreached = is_told.then(|| unreached(&network, &subject.executed()));
    Ok(show(&name, report, unreached.as_deref(), args))
}

/// Whether anything is asked besides properties of runs. One property that is named is all that is asked.
fn asks_about_states(linear: &LinearArgs, args: &CheckArgs) -> bool {
    let is_about_runs = |word: &QuestionWord| word.is_about_runs();
    linear.property.is_none() && (args.question.is_empty() || !args.question.iter().all(is_about_runs))
}

fn nothing_yet(name: &str, network: &Network) -> Report {
    Report {
        model: name.to_owned(),
        n_transitions: network.n_steps,
        state_bits: state_bits(network),
        rules: None,
        optimise: None,
        analysis: Analysis { answers: Vec::new(), phases: Vec::new() },
        seconds: 0.0,
        peak_rss: machine::peak_rss(),
    }
}

fn state_bits(network: &Network) -> usize {
    let mut initial = Batch::new();
    network.initial(&mut initial).map_or(0, |()| 8 * initial.state(0).len())
}

/// Checks a property of runs, and adds the answer to the report.
fn check_property(
    report: &mut Report,
    property: &Runs,
    searched: &Subject<'_>,
    as_written: &Subject<'_>,
    reduction: ReductionKind,
    asking: Asking<'_>,
    started: Instant,
) -> Result<(), Failure> {
    let Asking { linear, args, .. } = asking;
    let options = Options {
        tester: linear.tester,
        guided: linear.guided.into(),
        first_look: linear.first_look.unwrap_or(FIRST_LOOK),
        ..options_for(Vec::new(), reduction, args)
    };
    let left = args.time.map(|limit| limit.saturating_sub(started.elapsed()));
    let mut watch = Terminal::new(left, args.quiet);
    let mut bound = property.bound(searched.network(), as_written.network()).only_fair(linear.fair);
    let mut movers = Movers(as_written.network());
    let make = |support: u64| {
        let visible = property.visible(support);
        let made = NetworkReduction::for_runs(searched.network(), &visible, reduction);
        let made = if is_plain(args) { made } else { made.steady() };
        let made = options.check.into_iter().fold(made, NetworkReduction::checked);
        (reduction != ReductionKind::None).then(|| Box::new(made) as Box<dyn Reduction<AnySystem<'_, [u8]>>>)
    };
    let guide = |exits: &Exits| {
        let goals = property.goals(&exits.goals)?;
        let kept = property.visible(exits.kept);
        let made = NetworkReduction::towards(searched.network(), &goals, &kept, reduction);
        let made = options.check.into_iter().fold(made, NetworkReduction::checked);
        Some(Box::new(made) as Box<dyn Reduction<AnySystem<'_, [u8]>>>)
    };
    let is_simple = reduction != ReductionKind::None && !linear.fair && !linear.tester && is_plain(args);
    if let Some(invariant) = property.invariant().filter(|_| is_simple) {
        let asked = Asked { invariants: vec![invariant], ..Asked::default() };
        let options = Options { race: may_race(args).then(Default::default), ..options };
        return check_invariant(report, &bound, searched, as_written, &asked, &options, watch);
    }
    let fairness = linear.fair.then_some(&mut movers as &mut dyn Participants<[u8]>);
    let plan = LinearPlan { reduction: &make, guide: Some(&guide), fairness };
    let (mut answer, phases) =
        check_runs(searched, as_written, &mut bound, plan, &options, &mut watch).map_err(Failure::Broken)?;
    let is_smaller = !std::ptr::eq(searched.network(), as_written.network());
    if is_smaller && matches!(answer.verdict, Verdict::Inconclusive(Inconclusive::OpenCycle)) {
        // What was left out counts the laps of the cycle.
        return check_property(report, property, as_written, as_written, reduction, asking, started);
    }
    answer.phase += report.analysis.phases.len();
    report.analysis.answers.push(answer);
    report.analysis.phases.extend(phases);
    Ok(())
}

/// The same for a property that says that something holds in every state: fewer states will do.
fn check_invariant(
    report: &mut Report,
    property: &Bound<'_>,
    searched: &Subject<'_>,
    as_written: &Subject<'_>,
    asked: &Asked,
    options: &Options,
    mut watch: Terminal,
) -> Result<(), Failure> {
    let network = searched.network();
    let subject = Subject::new(network, asked).minding_states_only();
    let original = as_written.asking(asked).minding_states_only();
    let checks = subject.checks();
    let options =
        Options { questions: Some(vec![Question::Safety]), show_no_return: false, ..options.clone() };
    let make = |kind: ReductionKind| own_reduction(network, &checks, &asked.readers(), kind, &options);
    let mut analysis = analyse_with(&subject, &make, &options, &mut watch).map_err(Failure::Broken)?;
    if on_original(&subject, &original, &mut analysis, &options).is_err() {
        return Err(Failure::Usage("a run without a cycle does not need to close".into()));
    }
    let before = report.analysis.phases.len();
    for mut answer in analysis.answers {
        if let Verdict::Violated(violated) = &answer.verdict {
            let steps = violated.trace().steps.iter().map(|step| TransitionId(step.transition)).collect();
            let witness = Witness { steps, ..Witness::default() };
            if let Err(rejection) = replay_run(&original, property, &witness, options.replay_states) {
                let what = format!("a state violates \"{}\", but no run does: {rejection}", answer.text);
                answer.verdict = Verdict::Contradiction(Contradiction { what });
            }
        }
        answer.question = Question::Linear { name: property.name() };
        answer.text = property.text();
        answer.phase += before;
        report.analysis.answers.push(answer);
    }
    report.analysis.phases.extend(analysis.phases);
    Ok(())
}

/// Stubborn sets that are derived from a network.
fn own_reduction<'n, 'y>(
    network: &'n Network,
    checks: &[Expr],
    readers: &[&Expr],
    kind: ReductionKind,
    options: &Options,
) -> Option<Box<dyn Reduction<AnySystem<'y, [u8]>> + 'n>> {
    let reduction = NetworkReduction::new(network, checks, kind).observed_by(readers);
    let reduction = options.check.into_iter().fold(reduction, NetworkReduction::checked);
    (kind != ReductionKind::None).then(|| Box::new(reduction) as Box<dyn Reduction<AnySystem<'y, [u8]>>>)
}

/// Counterexamples were found in the network that was searched; people get them for the model as written. If
/// a cycle does not close there, the model as written is searched for it.
fn show_as_written(
    report: &mut Report,
    searched: &Subject<'_>,
    as_written: &Subject<'_>,
    asked: &Asked,
    args: &CheckArgs,
) -> Result<(), Failure> {
    let options = options_for(Vec::new(), ReductionKind::None, args);
    if on_original(searched, as_written, &mut report.analysis, &options).is_err() {
        *report = self::report(&report.model.clone(), as_written, asked, (ReductionKind::None, false), args)?;
        let word = OptimiseWord::None.word();
        report.optimise = Some(stubborn_report::Optimised { word, ..Default::default() });
    }
    Ok(())
}

/// Whether a search has executed all that can be executed.
fn is_full(phase: &PhaseReport) -> bool {
    phase.end == End::Complete
        && phase.store.is_exact()
        && (phase.reduction == ReductionKind::None.word() || phase.no_ignoring)
        && !phase.symmetry
        && phase.product.is_none()
}

/// A model that was accepted.
pub(crate) struct Loaded {
    /// What it means.
    pub(crate) network: Network,
    /// What the user asks of it.
    pub(crate) asked: Asked,
    /// The formulas of the model, then those of the command line.
    pub(crate) formulas: Vec<Property>,
    /// Automata of forbidden runs, with what their propositions mean.
    pub(crate) automata: Vec<(String, Automaton, Vec<Expr>)>,
}

/// Reads and compiles a model; prints what is wrong with it. `None` if it is refused.
pub(crate) fn load(file: &Path, args: &PromelaArgs) -> Result<Option<Loaded>, Failure> {
    compile_file(file, args, &[], Vec::new())
}

/// The same with formulas and automata from outside.
fn compile_file(
    file: &Path,
    args: &PromelaArgs,
    ltl: &[String],
    automata: Vec<(String, Automaton)>,
) -> Result<Option<Loaded>, Failure> {
    let unreadable = |error: String| Failure::Usage(format!("{}: {error}", file.display()));
    let text = read(file).map_err(unreadable)?;
    let parent = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = parent.canonicalize().map_err(|error| unreadable(error.to_string()))?;
    let name = file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let definitions = args.define.iter().map(|d| definition(d)).collect::<Result<_, _>>()?;
    let mut invariants = Asked::texts(args);
    let n_asked = invariants.len();
    let texts = automata.iter().flat_map(|(_, automaton)| automaton.propositions().iter());
    invariants.extend(texts.map(|proposition| proposition.text.clone()));
    let formulas = ltl.to_vec();
    let options = CompileOptions { definitions, invariants, formulas, ..CompileOptions::default() };
    let Compiled { network, mut invariants, formulas, diagnostics, map, .. } =
        compile(&name, &text, &Directory(directory), &options);
    for diagnostic in &diagnostics {
        say(render(diagnostic, &map).trim_end());
    }
    let Some(network) = network else { return Ok(None) };
    let mut propositions = invariants.split_off(n_asked).into_iter();
    let automata = automata.into_iter().map(|(name, automaton)| {
        let exprs = propositions.by_ref().take(automaton.propositions().len()).collect();
        (name, automaton, exprs)
    });
    let automata = automata.collect();
    let asked = Asked::new(&network, args, invariants).map_err(Failure::Usage)?;
    Ok(Some(Loaded { network, asked, formulas, automata }))
}

/// `NAME` or `NAME=VALUE`.
fn definition(text: &str) -> Result<(String, String), Failure> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name.starts_with(|c: char| !c.is_ascii_digit());
    if !is_name {
        return Err(Failure::Usage(format!("-D {text}: write -D NAME or -D NAME=VALUE")));
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn read(path: &Path) -> Result<String, String> {
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err(format!("not a file of at most {MAX_BYTES} bytes"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Includes from the directory of the model and below.
struct Directory(PathBuf);

impl Loader for Directory {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        let path = self.0.join(path).canonicalize().map_err(|_| LoadError::Missing)?;
        // A link may lead out of the directory although its name does not.
        if !path.starts_with(&self.0) {
            return Err(LoadError::Outside);
        }
        read(&path).map_err(LoadError::Unreadable)
    }
}

/// Refuses methods that Promela models do not have.
pub(crate) fn refuse_methods(args: &CheckArgs) -> Result<(), Failure> {
    if args.symmetry || args.rules.is_some() {
        return Err(Failure::Usage(
            "Promela models have no declared symmetry, and their rules are always derived".into(),
        ));
    }
    Ok(())
}

/// Verifies a model that was loaded, with a reduction, or without if that may be and is less work.
pub(crate) fn report(
    name: &str,
    subject: &Subject<'_>,
    asked: &Asked,
    (reduction, has_race): (ReductionKind, bool),
    args: &CheckArgs,
) -> Result<Report, Failure> {
    let network = subject.network();
    let options = options_for(all_questions(name, subject, asked, args)?, reduction, args);
    // Most Promela models are meant to run for ever.
    let race = has_race.then(Default::default);
    let options = Options { show_no_return: false, race, ..options };
    let state_bits = state_bits(network);
    let about = About { name: name.to_owned(), n_transitions: network.n_steps, state_bits, rules: None };
    let checks = subject.checks();
    let make = |kind: ReductionKind| own_reduction(network, &checks, &asked.readers(), kind, &options);
    let analyse = Analyse { options: &options, watch: Terminal::new(args.time, args.quiet), about };
    let mut report = analyse.run_with(subject, &make)?;
    report.analysis.answers.iter_mut().for_each(|answer| asked.name_progress(answer));
    Ok(report)
}

/// Whether a model can be searched with a reduction. To come to a label is part of the step that leads to it or
/// passes it, as the failure of an assertion is, so no reduction overlooks it but the one that asks which steps may
/// fail.
pub(crate) fn is_possible(reduction: ReductionKind, asked: &Asked) -> bool {
    reduction != ReductionKind::UpSets || asked.unreachable.is_empty()
}

/// Whether a search can make sure that nothing is ignored.
fn is_plain(args: &CheckArgs) -> bool {
    args.store_kind().is_exact() && args.search == SearchWord::Bfs
}

/// The reduction that was asked for; or else the best, if the search can make sure that nothing is ignored.
fn reduction(args: &CheckArgs, asked: &Asked) -> Result<ReductionKind, Failure> {
    let best = if is_plain(args) { ReductionKind::Smaller } else { ReductionKind::None };
    let reduction = args.reduction.map_or(best, Into::into);
    if !is_possible(reduction, asked) {
        return Err(Failure::Usage("--reduction up-sets knows nothing of --unreachable: use another".into()));
    }
    Ok(reduction)
}

/// The questions of the model and of the user.
fn all_questions(
    name: &str,
    subject: &Subject<'_>,
    asked: &Asked,
    args: &CheckArgs,
) -> Result<Vec<Question>, Failure> {
    let network = subject.network();
    let own = network.questions();
    let of_labels =
        [Question::MayProgress { terminal_counts: true }, Question::MustProgress { terminal_counts: true }];
    let has_progress = network.processes.iter().flat_map(|p| &p.locations).any(|l| l.is_progress);
    let mut known = own.clone();
    known.extend(of_labels.into_iter().filter(|_| has_progress));
    let of_expressions = asked.questions(args);
    // Asked below in any case; here only so that their words are known.
    known.extend(of_expressions.iter().filter(|_| !has_progress).cloned());
    let mut questions = questions(name, own, known, args)?;
    for question in of_expressions {
        if !questions.contains(&question) {
            questions.push(question);
        }
    }
    if subject.has_invariants() && !questions.contains(&Question::Safety) {
        return Err(Failure::Usage(
            "an --invariant or --unreachable is part of safety: ask --question safety, too".into(),
        ));
    }
    Ok(questions)
}
