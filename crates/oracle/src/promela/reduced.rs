//! Reductions of Promela models against full search.
//!
//! [`Candidate`] is a reduction by name and how to get it for a network; a new one is tested by making a
//! candidate of it. [`compare`] explores what it fires in a plain loop, without the kernel, and compares with
//! the full graph what the reduction says that it preserves. [`compare_answers`] asks the kernel, with all that
//! belongs to it, and compares its answers.

use super::{Plain, Watched, compiled};
use std::cell::Cell;
use stubborn_explore::{End, Unwatched};
use stubborn_network::{Expr, Network, Optimisations};
use stubborn_reduce::{Full, NetworkReduction, Preserves, Reduction};
use stubborn_system::Question;
use stubborn_verdict::{
    Analysis, AnySystem, EngineKind, Inconclusive, MakeReduction, Options, PhaseReport, RaceRules,
    ReductionKind, SearchKind, Verdict, analyse_with,
};

/// How a reduction is got for a network, of which these invariants are asked.
pub type Make = dyn for<'a> Fn(&'a Network, &'a [Expr]) -> Box<dyn Reduction<Watched<'a>> + 'a>;

/// A reduction under test.
pub struct Candidate {
    /// The word for it.
    pub name: String,
    /// How to get it.
    pub make: Box<Make>,
}

impl Candidate {
    /// A reduction that is made by a function.
    pub fn new(
        name: &str,
        make: impl for<'a> Fn(&'a Network, &'a [Expr]) -> Box<dyn Reduction<Watched<'a>> + 'a> + 'static,
    ) -> Self {
        Self { name: name.to_owned(), make: Box::new(make) }
    }

    /// A reduction by its kind.
    pub fn of(kind: ReductionKind) -> Self {
        Self::new(kind.word(), move |network, invariants| match kind {
            ReductionKind::None => Box::new(Full),
            _ => Box::new(NetworkReduction::new(network, invariants, kind)),
        })
    }
}

/// The sizes of a model: its states, and those that the best reduction left.
pub type Sizes = (usize, usize);

/// Compares what each candidate explores with the full graph. `None` if that has more than `limit` states;
/// an error names the candidate and what is not as in the full graph.
pub fn compare(
    text: &str,
    invariants: &[String],
    candidates: &[Candidate],
    limit: usize,
) -> Result<Option<Sizes>, String> {
    let (network, invariants) = compiled(text, invariants)?;
    let Some(full) = Plain::full(&network, limit) else { return Ok(None) };
    let system = Watched { network: &network, invariants: &invariants };
    let fewest = fewest_explored((&full, &system), &system, candidates, limit)?;
    Ok(Some((full.n_states(), fewest)))
}

/// Compares what each candidate explores of `searched` with the full graph of the model as written; the fewest states.
fn fewest_explored(
    (full, as_written): (&Plain, &Watched<'_>),
    searched: &Watched<'_>,
    candidates: &[Candidate],
    limit: usize,
) -> Result<usize, String> {
    let mut fewest = full.n_states();
    for candidate in candidates {
        let mut reduction = (candidate.make)(searched.network, searched.invariants);
        let say = |what: String| format!("{}: {what}", candidate.name);
        let reduced = Plain::reduced(searched, &mut *reduction, limit).map_err(say)?;
        let reduced = reduced.ok_or_else(|| say("more states than there are".into()))?;
        agree((full, as_written), (&reduced, searched), reduction.preserves()).map_err(say)?;
        fewest = fewest.min(reduced.n_states());
    }
    Ok(fewest)
}

/// The terminal states that a candidate explores, without the kernel; `None` if there are more than `limit`
/// states.
pub fn terminal_states(
    network: &Network,
    candidate: &Candidate,
    limit: usize,
) -> Result<Option<std::collections::BTreeSet<Vec<u8>>>, String> {
    let system = Watched { network, invariants: &[] };
    let mut reduction = (candidate.make)(network, &[]);
    let explored = Plain::reduced(&system, &mut *reduction, limit)?;
    Ok(explored.map(|explored| explored.terminal_states()))
}

/// Compares what is explored with merged steps, in full and by each candidate, with the full graph of the model as
/// written. `None` if that has more than `limit` states, or nothing is merged.
pub fn compare_merged(
    text: &str,
    invariants: &[String],
    candidates: &[Candidate],
    limit: usize,
) -> Result<Option<Sizes>, String> {
    let (network, invariants) = compiled(text, invariants)?;
    let readers: Vec<&Expr> = invariants.iter().collect();
    let merged = network.optimised(Optimisations { merge: true, ..Optimisations::default() }, &readers);
    if merged.is_unchanged() {
        return Ok(None);
    }
    let Some(full) = Plain::full(&network, limit) else { return Ok(None) };
    let as_written = Watched { network: &network, invariants: &invariants };
    let system = Watched { network: &merged.network, invariants: &invariants };
    let fewest = fewest_explored((&full, &as_written), &system, candidates, limit)?;
    Ok(Some((full.n_states(), fewest)))
}

/// What is preserved is as in the full graph.
fn agree(
    (full, system): (&Plain, &Watched<'_>),
    (reduced, searched): (&Plain, &Watched<'_>),
    preserves: Preserves,
) -> Result<(), String> {
    let same = |what: &str, full: bool, reduced: bool| {
        let say = || format!("{what}: {full} in full, {reduced} reduced");
        (full == reduced).then_some(()).ok_or_else(say)
    };
    if full.terminal_states() != reduced.terminal_states() {
        let (n, m) = (full.terminal_states().len(), reduced.terminal_states().len());
        return Err(format!("terminal states: {n} in full, {m} reduced, or not the same ones"));
    }
    same("ends well", full.ends_well(system), reduced.ends_well(searched))?;
    same("can run for ever", full.can_run_for_ever(), reduced.can_run_for_ever())?;
    same("always may terminate", full.always_may_terminate(), reduced.always_may_terminate())?;
    // Without termination, what D0, D1 and D2 keep does not tell about safety; but a violation is one.
    let keeps_safety = preserves == Preserves::Everything || full.always_may_terminate();
    if keeps_safety || !reduced.is_safe(searched) {
        same("is safe", full.is_safe(system), reduced.is_safe(searched))?;
    }
    Ok(())
}

/// The reduction that a network has of a kind.
fn own_reduction<'n, 'y>(
    network: &'n Network,
    invariants: &[Expr],
    kind: ReductionKind,
) -> Option<Box<dyn Reduction<AnySystem<'y, [u8]>> + 'n>> {
    let make = || Box::new(NetworkReduction::new(network, invariants, kind));
    (kind != ReductionKind::None).then(|| make() as Box<dyn Reduction<AnySystem<'y, [u8]>> + 'n>)
}

/// Has the kernel answer with each reduction, and compares with the truth. `None` if there are more than
/// `limit` states.
pub fn compare_answers(
    text: &str,
    invariants: &[String],
    reductions: &[ReductionKind],
    limit: usize,
) -> Result<Option<Sizes>, String> {
    let (network, invariants) = compiled(text, invariants)?;
    let Some(full) = Plain::full(&network, limit) else { return Ok(None) };
    let system = Watched { network: &network, invariants: &invariants };
    let make = |kind: ReductionKind| own_reduction(&network, &invariants, kind);
    let mut fewest = full.n_states();
    for &reduction in reductions {
        for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
            let way = format!("{} {}", reduction.word(), search.word());
            let say = |what: String| format!("{way}: {what}");
            // Both engines have their turn with each reduction.
            let engine = match search {
                SearchKind::BreadthFirst => EngineKind::Packed,
                SearchKind::DepthFirst => EngineKind::Interpreter,
            };
            let options = Options { reduction, search, engine, all_errors: true, ..Options::default() };
            let analysis = true_answers(&full, &system, &make, &options).map_err(say)?;
            let stats = analysis.phases[0].stats;
            if stats.terminal_states as usize != full.terminal_states().len() {
                return Err(say(format!("{} terminal states", stats.terminal_states)));
            }
            let counts = full.counts();
            let is_same = (stats.states, stats.edges) == (counts.states as u64, counts.transitions as u64);
            if reduction == ReductionKind::None && !is_same {
                return Err(say(format!("{stats:?}, not {counts:?}")));
            }
            fewest = fewest.min(stats.states as usize);
        }
    }
    Ok(Some((full.n_states(), fewest)))
}

/// Has a search with a reduction and one without take turns, and compares their answers with the truth. Nearly nothing is left to the first turns, so
/// that small models see all of it. Counts how often the one without answered. `None` if there are more than `limit` states; else states in full, and of the searches that answered.
pub fn compare_races(
    text: &str,
    invariants: &[String],
    limit: usize,
    n_overtaken: &Cell<usize>,
) -> Result<Option<Sizes>, String> {
    let (network, invariants) = compiled(text, invariants)?;
    let Some(full) = Plain::full(&network, limit) else { return Ok(None) };
    let system = Watched { network: &network, invariants: &invariants };
    let make = |kind: ReductionKind| own_reduction(&network, &invariants, kind);
    let mut fewest = full.n_states();
    for (first_turn, all_errors) in [(2, false), (2, true), (40, false), (1 << 20, false), (1 << 20, true)] {
        let say = |what: String| format!("{first_turn} {all_errors}: {what}");
        let race = Some(RaceRules { lap: 1, most_work: 1, first_turn, next_turn: 2, ..RaceRules::default() });
        let questions = Some(vec![Question::Safety, Question::Deadlock]);
        let reduction = ReductionKind::Smaller;
        let options = Options { questions, reduction, race, all_errors, ..Options::default() };
        let analysis = analyse_with(&system, &make, &options, &mut Unwatched);
        let analysis = analysis.map_err(|broken| say(broken.fault.to_string()))?;
        for answer in &analysis.answers {
            // Whoever stops at the first that is wrong need not know of others.
            if !matches!(answer.verdict, Verdict::Inconclusive(Inconclusive::StoppedAtOther)) {
                judge(&full, &system, &answer.question, &answer.verdict).map_err(say)?;
            } else if all_errors || full.is_safe(&system) && full.ends_well(&system) {
                return Err(say(format!("{}: {:?}", answer.question, answer.verdict)));
            }
        }
        let PhaseReport { stats, overtaken, end, .. } = &analysis.phases[0];
        n_overtaken.set(n_overtaken.get() + usize::from(overtaken.is_some()));
        let counts = full.counts();
        let is_same = (stats.states, stats.edges) == (counts.states as u64, counts.transitions as u64);
        if *end == End::Complete && overtaken.is_some() && !is_same {
            return Err(say(format!("{stats:?}, not {counts:?}")));
        }
        fewest = fewest.min(stats.states as usize);
    }
    Ok(Some((full.n_states(), fewest)))
}

/// Has searches that keep nothing but states answer, by one thread and several, and compares with the truth. Counts the searches that were made by several threads. `None` if
/// there are more than `limit` states.
pub fn compare_sifted(
    text: &str,
    invariants: &[String],
    reductions: &[ReductionKind],
    limit: usize,
    n_together: &Cell<usize>,
) -> Result<Option<Sizes>, String> {
    let (network, invariants) = compiled(text, invariants)?;
    let Some(full) = Plain::full(&network, limit) else { return Ok(None) };
    let system = Watched { network: &network, invariants: &invariants };
    let make = |kind: ReductionKind| own_reduction(&network, &invariants, kind);
    let mut fewest = full.n_states();
    for (&reduction, threads) in reductions.iter().flat_map(|kind| (1..=3).map(move |n| (kind, n))) {
        let say = |what: String| format!("{}, {threads} threads: {what}", reduction.word());
        let questions = Some(vec![Question::Safety, Question::Deadlock]);
        let engine = EngineKind::Packed;
        let options = Options {
            questions,
            reduction,
            engine,
            threads,
            all_errors: true,
            show_no_return: false,
            ..Options::default()
        };
        let analysis = true_answers(&full, &system, &make, &options).map_err(say)?;
        let PhaseReport { stats, threads: made_by, .. } = &analysis.phases[0];
        if stats.terminal_states as usize != full.terminal_states().len() {
            return Err(say(format!("{} terminal states", stats.terminal_states)));
        }
        n_together.set(n_together.get() + usize::from(*made_by > 1));
        fewest = fewest.min(stats.states as usize);
    }
    Ok(Some((full.n_states(), fewest)))
}

/// The answers of the kernel, all of which are the true ones.
fn true_answers<'w>(
    full: &Plain,
    system: &Watched<'w>,
    make: &MakeReduction<'_, 'w, [u8]>,
    options: &Options,
) -> Result<Analysis, String> {
    let analysis = analyse_with(system, make, options, &mut Unwatched);
    let analysis = analysis.map_err(|broken| broken.fault.to_string())?;
    for answer in &analysis.answers {
        judge(full, system, &answer.question, &answer.verdict)?;
    }
    Ok(analysis)
}

/// The answer is the true one.
fn judge(full: &Plain, system: &Watched<'_>, question: &Question, verdict: &Verdict) -> Result<(), String> {
    let holds = match question {
        Question::Safety => full.is_safe(system),
        Question::Deadlock => full.ends_well(system),
        Question::MayTerminate => full.always_may_terminate(),
        other => return Err(format!("there is no truth about `{other}`")),
    };
    match verdict {
        Verdict::Holds(_) if holds => Ok(()),
        Verdict::Violated(_) if !holds => Ok(()),
        other => Err(format!("{question}: truth {holds}, but {other:?}")),
    }
}
