//! `check`: a Promela model, from its file to a report.

use crate::args::{CheckArgs, OptimiseWord, PromelaArgs, SearchWord};
use crate::asked::Asked;
use crate::entry::{say, show};
use crate::run::{About, Analyse, Failure, options_for, questions};
use crate::subject::Subject;
use crate::trail;
use crate::unreached::unreached;
use crate::watch::Terminal;
use std::path::{Path, PathBuf};
use stubborn_explore::End;
use stubborn_model::Question;
use stubborn_network::{Network, Optimised};
use stubborn_promela::ast::{Ident, Item};
use stubborn_promela::{Compiled, Options as CompileOptions, compile};
use stubborn_reduce::{NetworkReduction, Reduction};
use stubborn_report::{Report, clean};
use stubborn_system::{Batch, Observed, System};
use stubborn_text::{LoadError, Loader, render};
use stubborn_verdict::{PhaseReport, ReductionKind, StoreKind, on_original};

/// The largest text that is read.
const MAX_BYTES: u64 = 16 << 20;

/// Verifies the model in a file.
pub(crate) fn check(
    file: &Path,
    promela: &PromelaArgs,
    args: &CheckArgs,
    optimise: OptimiseWord,
    trail: Option<&Path>,
) -> Result<u8, Failure> {
    let Some(Loaded { network, asked }) = load(file, promela)? else { return Ok(2) };
    let name = file.display().to_string();
    let optimised = network.optimised(optimise.into(), &asked.readers());
    let as_written = Subject::new(&network, &asked).stood_in_by(&optimised);
    let subject = Subject::new(&optimised.network, &asked);
    let reduction = refuse_methods(args).and_then(|()| reduction(args, &asked));
    let mut report = reduction.and_then(|reduction| report(&name, &subject, &asked, reduction, args));
    if let Ok(report) = &mut report {
        let Optimised { hidden, reset, .. } = &optimised;
        let (word, hidden, reset) = (optimise.word(), hidden.clone(), reset.clone());
        report.optimise = Some(stubborn_report::Optimised { word, hidden, reset });
        show_as_written(report, &subject, &as_written, &asked, args)?;
    }
    if let (Some(trail), Ok(report)) = (trail, &report) {
        trail::save(trail, file, &as_written, report)?;
    }
    let is_full = report.as_ref().is_ok_and(|report| report.analysis.phases.iter().any(is_full));
    let is_told = is_full && (args.json || !args.quiet);
    let unreached = is_told.then(|| unreached(&network, &subject.executed()));
    Ok(show(&name, report, unreached.as_deref(), args))
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
        *report = self::report(&report.model.clone(), as_written, asked, ReductionKind::None, args)?;
        let word = OptimiseWord::None.word();
        report.optimise = Some(stubborn_report::Optimised { word, ..Default::default() });
    }
    Ok(())
}

/// Whether a search has executed all that can be executed.
fn is_full(phase: &PhaseReport) -> bool {
    phase.end == End::Complete
        && phase.store == StoreKind::Exact
        && (phase.reduction == ReductionKind::None.word() || phase.no_ignoring)
        && !phase.symmetry
}

/// A model that was accepted.
pub(crate) struct Loaded {
    /// What it means.
    pub(crate) network: Network,
    /// What the user asks of it.
    pub(crate) asked: Asked,
}

/// Reads and compiles a model; prints what is wrong with it. `None` if it is refused.
pub(crate) fn load(file: &Path, args: &PromelaArgs) -> Result<Option<Loaded>, Failure> {
    let unreadable = |error: String| Failure::Usage(format!("{}: {error}", file.display()));
    let text = read(file).map_err(unreadable)?;
    let parent = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = parent.canonicalize().map_err(|error| unreadable(error.to_string()))?;
    let name = file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let definitions = args.define.iter().map(|d| definition(d)).collect::<Result<_, _>>()?;
    let invariants = Asked::texts(args);
    let options = CompileOptions { definitions, invariants, ..CompileOptions::default() };
    let Compiled { model, network, invariants, diagnostics, map, .. } =
        compile(&name, &text, &Directory(directory), &options);
    for diagnostic in &diagnostics {
        say(render(diagnostic, &map).trim_end());
    }
    if network.is_some() {
        for claim in model.items.iter().filter_map(claim_name) {
            say(&format!("warning: {claim} is not checked: this version does not look at claims"));
        }
    }
    let Some(network) = network else { return Ok(None) };
    let asked = Asked::new(&network, args, invariants).map_err(Failure::Usage)?;
    Ok(Some(Loaded { network, asked }))
}

/// What is claimed beyond assertions and end states.
fn claim_name(item: &Item) -> Option<String> {
    let named = |kind: &str, name: &Option<Ident>| {
        name.as_ref().map_or(format!("`{kind}`"), |name| format!("`{kind} {}`", clean(&name.name)))
    };
    match item {
        Item::Never { name, .. } => Some(named("never", name)),
        Item::Ltl { name, .. } => Some(named("ltl", name)),
        _ => None,
    }
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

/// Verifies a model that was loaded.
pub(crate) fn report(
    name: &str,
    subject: &Subject<'_>,
    asked: &Asked,
    reduction: ReductionKind,
    args: &CheckArgs,
) -> Result<Report, Failure> {
    let network = subject.network();
    let options = options_for(all_questions(name, subject, asked, args)?, reduction, args);
    let mut initial = Batch::new();
    let state_bits = network.initial(&mut initial).map_or(0, |()| 8 * initial.state(0).len());
    let about = About { name: name.to_owned(), n_transitions: network.n_steps, state_bits, rules: None };
    let checks = subject.checks();
    let make = |kind: ReductionKind| {
        let algorithm = kind.algorithm()?;
        let reduction = NetworkReduction::new(network, &checks, algorithm);
        let reduction = options.check.into_iter().fold(reduction, NetworkReduction::checked);
        Some(Box::new(reduction) as Box<dyn Reduction<Subject<'_>>>)
    };
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

/// The reduction that was asked for; or else the best, if the search can make sure that nothing is ignored.
fn reduction(args: &CheckArgs, asked: &Asked) -> Result<ReductionKind, Failure> {
    let is_plain = args.store_kind() == StoreKind::Exact && args.search == SearchWord::Bfs;
    let best = if is_plain { ReductionKind::Smaller } else { ReductionKind::None };
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
