//! Properties of runs: which search answers them, and what the answer rests on.
//!
//! **Implements**, for a property whose forbidden runs an automaton N accepts: a search with reduction if N is known to be
//! closed under stuttering; otherwise paper HK (Holzmann and Kupferman, *Not checking for closure under stuttering*): a
//! search with reduction for runs of the closure N' of N. If there is none, the property holds. If there is
//! one and N accepts it, it is violated. If N does not accept it, N is not closed under stuttering, and a
//! full search decides. (Section 4 of the paper says so; the last sentences of its section 5 have two of the
//! outcomes the other way round.)
//! If only fair runs count, the search with reduction decides if it finds no run at all, or a fair one. Otherwise a full search
//! decides, because the fair runs of the explored part do not stand for all fair runs.
//! **Preserves** what the row of the verdict says.
//! **Checked by** brute force on random systems and formulas, and SPIN's verdicts; each run that is shown is
//! lifted to the model as written, replayed there, and judged by the formula itself or the claim itself.

use crate::analysis::{Answer, Broken};
use crate::lift::lift;
use crate::linear_engine::{Found, Guides, Order, RunSearch};
use crate::phase::no_room;
use crate::replay::{Rejection, Replayed, go_on, run};
use crate::{
    AnySystem, Contradiction, Evidence, Guided, Holds, Inconclusive, OneThread, Options, PhaseReport,
    SearchKind, Trace, Verdict, Violated, Witness,
};
use std::ops::Range;
use stubborn_explore::linear::{AcceptedRun, Exits, LinearOutcome, Participants, exits};
use stubborn_explore::{End, Limits, Stop, Watch};
use stubborn_ltl::{Automaton, Letter, closure, degeneralise};
use stubborn_reduce::{Full, Preserves, Reduction};
use stubborn_store::{Full as NoRoom, Guarantee};
use stubborn_system::{Batch, Composed, Fault, Question, Symmetric, System, TransitionId, Vector};

/// A property of runs over states of a kind.
pub trait RunProperty<S: Vector + ?Sized> {
    /// Its name, or itself if it has none.
    fn name(&self) -> String;

    /// In words.
    fn text(&self) -> String;

    /// The runs that violate it.
    fn forbidden(&self) -> &Automaton;

    /// Whether the forbidden runs are known to be closed under stuttering, by its form.
    fn is_closed(&self) -> bool;

    /// Whether a run that ends counts as one that stays in its last state for ever.
    fn extends(&self) -> bool;

    /// Which propositions hold in a state: for searches, fast.
    fn letter(&mut self, state: &S) -> Result<Letter, Fault>;

    /// The same. Appends the bytes of the state on which it depends, besides which parts the state has; `None` if that is not known.
    fn traced_letter(&mut self, state: &S, bytes: &mut Vec<Range<usize>>) -> Result<Option<Letter>, Fault> {
        let _ = (state, bytes);
        Ok(None)
    }

    /// Whether the run through `states` that repeats from number `cycle` on is forbidden. Uses nothing of what
    /// the other functions use. The last of the states is the last before the run repeats.
    fn is_forbidden(&self, states: &Batch<S>, cycle: usize) -> Result<bool, Fault>;

    /// Whether such a run, of which `steps` are the steps from number `cycle` on, counts at all: if only fair runs do, whether it is
    /// fair. Independent as well.
    fn counts(&self, states: &Batch<S>, cycle: usize, steps: &[TransitionId]) -> Result<bool, Fault> {
        let _ = (states, cycle, steps);
        Ok(true)
    }

    /// The propositions that hold in a state, in words, for people.
    fn beside(&self, state: &S) -> String;
}

/// The numbers of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductReport {
    /// States of the system; `None` if only pairs were kept.
    pub system_states: Option<u64>,
    /// States of the automaton.
    pub automaton_states: usize,
    /// Whether the automaton is the closure under stuttering of the property's.
    pub is_closure: bool,
    /// Whether a run of the closure turned out to be none of the property itself: it notices stuttering.
    pub is_sensitive: bool,
    /// Whether runs were accepted, but no fair one among those that were explored, which were not all.
    pub is_unfair: bool,
    /// States that were expanded again because a cycle put something off for ever.
    pub repairs: u64,
    /// Whether only weakly fair runs count.
    pub fair: bool,
}

/// Makes a reduction towards the exits of a state of an automaton.
pub type MakeGuide<'a, Z> = dyn Fn(&Exits) -> Option<Box<dyn Reduction<Z> + 'a>> + 'a;

/// How to search a system for runs.
pub struct LinearPlan<'a, Z: System + ?Sized> {
    /// Makes a reduction for which the propositions of the automaton, a word of bits, are visible; `None` if
    /// there is none.
    pub reduction: &'a dyn Fn(u64) -> Option<Box<dyn Reduction<Z> + 'a>>,
    /// Makes a reduction towards the exits of a state of the automaton; `None` if there is none.
    pub guide: Option<&'a MakeGuide<'a, Z>>,
    /// If only weakly fair runs count: who takes part in what.
    pub fairness: Option<&'a mut dyn Participants<Z::State>>,
}

/// Answers one property. `searched` stands for `original` (or is it).
pub fn check_runs<'y>(
    searched: &AnySystem<'y, [u8]>,
    original: &AnySystem<'_, [u8]>,
    property: &mut dyn RunProperty<[u8]>,
    plan: LinearPlan<'_, AnySystem<'y, [u8]>>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<(Answer, Vec<PhaseReport>), Box<Broken>> {
    let mut phases = Vec::new();
    let verdict = answer(searched, original, property, plan, options, watch, &mut phases)?;
    let question = Question::Linear { name: property.name() };
    let phase = phases.len().saturating_sub(1);
    Ok((Answer { question, text: property.text(), verdict, phase }, phases))
}

fn answer<Z, Y>(
    searched: &Z,
    original: &Y,
    property: &mut dyn RunProperty<Z::State>,
    mut plan: LinearPlan<'_, Z>,
    options: &Options,
    watch: &mut dyn Watch,
    phases: &mut Vec<PhaseReport>,
) -> Result<Verdict, Box<Broken>>
where
    Z: Composed + ?Sized,
    Y: Symmetric + System<State = Z::State> + ?Sized,
{
    let forbidden = property.forbidden().clone();
    let is_fair = plan.fairness.is_some();
    let is_nested = !options.store.is_exact() || options.search == SearchKind::DepthFirst;
    if is_nested && !is_fair {
        return nested(searched, original, property, &plan, options, watch, phases);
    }
    if !options.store.is_exact() {
        return Ok(Verdict::Inconclusive(Inconclusive::NeedsExactStore));
    }
    let limits = options.limits;
    if let Some((automaton, is_closure)) = closed_form(&*property)
        && let Some(mut reduction) = reduction_for(&plan, options, automaton.support())
    {
        let automaton = if options.tester { degeneralise(&automaton) } else { automaton };
        let mut job = One { searched, property, options, watch, automaton: &automaton, is_closure, limits };
        let (outcome, preserves) = match plan.fairness.as_deref_mut() {
            Some(fairness) => {
                let outcome = job.search(&mut *reduction, Vec::new(), Some(fairness), false, phases)?;
                (outcome, reduction.preserves())
            }
            None => job.search_reduced(&plan, &mut *reduction, phases)?,
        };
        match outcome.run {
            // That no run is fair which was explored says nothing of the others.
            None if outcome.is_unfair && outcome.end == End::Complete => {
                mark(phases, |product| product.is_unfair = true);
            }
            None => return Ok(job.without_run(&outcome.end, preserves, true)),
            Some(run) => match judged(searched, original, property, &run, is_closure, options) {
                // The property notices stuttering, and reductions stutter.
                Judged::NotForbidden if is_closure => mark(phases, |product| product.is_sensitive = true),
                judged => return judged.verdict(&*property),
            },
        }
    }
    let fairness = plan.fairness.take();
    let (automaton, is_closure) = (&forbidden, false);
    let mut job = One { searched, property, options, watch, automaton, is_closure, limits };
    let outcome = job.search(&mut Full, Vec::new(), fairness, false, phases)?;
    let Some(run) = outcome.run else {
        return Ok(job.without_run(&outcome.end, Preserves::Everything, false));
    };
    judged(searched, original, property, &run, false, options).verdict(&*property)
}

/// An automaton for searches with reduction, and whether it is not the property's own but its closure under stuttering.
fn closed_form<S: Vector + ?Sized>(property: &dyn RunProperty<S>) -> Option<(Automaton, bool)> {
    let forbidden = property.forbidden();
    if property.is_closed() {
        return Some((forbidden.clone(), false));
    }
    closure(forbidden).ok().map(|closed| (closed, true))
}

/// Notes something about the search that was made last.
fn mark(phases: &mut [PhaseReport], note: impl FnOnce(&mut ProductReport)) {
    if let Some(product) = phases.last_mut().and_then(|phase| phase.product.as_mut()) {
        note(product);
    }
}

/// The same by nested depth-first search, with any store.
fn nested<Z, Y>(
    searched: &Z,
    original: &Y,
    property: &mut dyn RunProperty<Z::State>,
    plan: &LinearPlan<'_, Z>,
    options: &Options,
    watch: &mut dyn Watch,
    phases: &mut Vec<PhaseReport>,
) -> Result<Verdict, Box<Broken>>
where
    Z: Composed + ?Sized,
    Y: Symmetric + System<State = Z::State> + ?Sized,
{
    let limits = options.limits;
    if let Some((automaton, is_closure)) = closed_form(&*property)
        && let Some(mut reduction) = (plan.reduction)(automaton.support()).filter(|made| made.is_steady())
    {
        let automaton = degeneralise(&automaton);
        let mut job = One { searched, property, options, watch, automaton: &automaton, is_closure, limits };
        let run = match job.search_nested(&mut *reduction, true, phases)? {
            Ok(run) => run,
            Err(verdict) => return Ok(verdict),
        };
        match judged(searched, original, property, &run, is_closure, options) {
            Judged::NotForbidden if is_closure => mark(phases, |product| product.is_sensitive = true),
            judged => return judged.verdict(&*property),
        }
    }
    let automaton = degeneralise(property.forbidden());
    let is_closure = false;
    let mut job = One { searched, property, options, watch, automaton: &automaton, is_closure, limits };
    match job.search_nested(&mut Full, false, phases)? {
        Ok(run) => judged(searched, original, property, &run, false, options).verdict(&*property),
        Err(verdict) => Ok(verdict),
    }
}

/// The reduction to use with an automaton that is closed under stuttering: none is one, too, for a tester.
fn reduction_for<'a, Z: Composed + ?Sized>(
    plan: &LinearPlan<'a, Z>,
    options: &Options,
    support: u64,
) -> Option<Box<dyn Reduction<Z> + 'a>> {
    let made = (plan.reduction)(support);
    if options.tester { Some(made.unwrap_or_else(|| Box::new(Full))) } else { made }
}

/// Pairs of states after which a search is given up for one that the automaton guides, or does not guide.
const FIRST_PAIRS: u64 = 4_096;

/// By state of an automaton: the sets that lead on from it. None at all if they are missing for one that needs them.
fn guides<'a, Z: System + ?Sized>(plan: &LinearPlan<'a, Z>, automaton: &Automaton) -> Guides<'a, Z> {
    let Some(make) = plan.guide else { return Vec::new() };
    let mut guides = Vec::new();
    for exits in exits(automaton) {
        let guide = exits.as_ref().map(make);
        if matches!(guide, Some(None)) {
            return Vec::new();
        }
        guides.push(guide.flatten());
    }
    guides
}

/// One search for one automaton.
struct One<'a, 'w, Z: Composed + ?Sized> {
    searched: &'a Z,
    property: &'a mut dyn RunProperty<Z::State>,
    options: &'a Options,
    watch: &'w mut dyn Watch,
    automaton: &'a Automaton,
    is_closure: bool,
    limits: Limits,
}

impl<Z: Composed + ?Sized> One<'_, '_, Z> {
    /// With a reduction: for a while as usual, for a while guided by the automaton, which often ends soon or not at all; then
    /// as usual to the end.
    fn search_reduced(
        &mut self,
        plan: &LinearPlan<'_, Z>,
        reduction: &mut dyn Reduction<Z>,
        phases: &mut Vec<PhaseReport>,
    ) -> Result<(LinearOutcome, Preserves), Box<Broken>> {
        let Options { tester, guided, limits, .. } = *self.options;
        let is_guided = !tester && guided != Guided::Never;
        let guides = if is_guided { guides(plan, self.automaton) } else { Vec::new() };
        if guides.iter().any(Option::is_some) {
            if guided == Guided::Always || limits.states <= FIRST_PAIRS {
                let outcome = self.search(reduction, guides, None, false, phases)?;
                return Ok((outcome, Preserves::Acceptance));
            }
            for (guides, preserves) in [(Vec::new(), reduction.preserves()), (guides, Preserves::Acceptance)]
            {
                self.limits.states = FIRST_PAIRS;
                let outcome = self.search(reduction, guides, None, false, phases)?;
                self.limits = limits;
                if !matches!(outcome.end, End::Stopped(Stop::States { .. })) {
                    return Ok((outcome, preserves));
                }
                // What was seen of it counts for nothing.
                phases.pop();
            }
        }
        let outcome = self.search(reduction, Vec::new(), None, tester, phases)?;
        Ok((outcome, reduction.preserves()))
    }

    fn search(
        &mut self,
        reduction: &mut dyn Reduction<Z>,
        guides: Guides<'_, Z>,
        fairness: Option<&mut dyn Participants<Z::State>>,
        tester: bool,
        phases: &mut Vec<PhaseReport>,
    ) -> Result<LinearOutcome, Box<Broken>> {
        let fair = fairness.is_some();
        let is_guided = guides.iter().any(Option::is_some);
        // Without reduction the pairs are those of the product, all of them, as in other tools.
        let selective = !tester && !is_guided && reduction.preserves() != Preserves::Everything;
        let name = reduction.name();
        let name = if is_guided { format!("{name}, guided") } else { name };
        let order = Order::Components { tester, selective };
        let found = self.find(reduction, guides, fairness, order);
        let found = found.map_err(|_| self.broken("an exact store needs no room to begin with"))?;
        self.note(name, SearchKind::BreadthFirst, &found, fair, phases)?;
        Ok(found.outcome)
    }

    /// By nested depth-first search: a run, or what it means that there is none. `is_closed`: whether what is searched for is closed
    /// under stuttering.
    fn search_nested(
        &mut self,
        reduction: &mut dyn Reduction<Z>,
        is_closed: bool,
        phases: &mut Vec<PhaseReport>,
    ) -> Result<Result<AcceptedRun, Verdict>, Box<Broken>> {
        let (name, preserves) = (reduction.name(), reduction.preserves());
        let found = match self.find(reduction, Vec::new(), None, Order::Nested) {
            Ok(found) => found,
            Err(full) => {
                let stop = no_room(&full, self.options);
                return Ok(Err(Verdict::Inconclusive(Inconclusive::Stopped(stop))));
            }
        };
        self.note(name, SearchKind::DepthFirst, &found, false, phases)?;
        let Found { outcome, guarantee, .. } = found;
        Ok(outcome.run.ok_or_else(|| match guarantee {
            Guarantee::Exact => self.without_run(&outcome.end, preserves, is_closed),
            _ if outcome.end == End::Complete => Verdict::Inconclusive(Inconclusive::Omission(guarantee)),
            _ => self.without_run(&outcome.end, preserves, is_closed),
        }))
    }

    fn find(
        &mut self,
        reduction: &mut dyn Reduction<Z>,
        guides: Guides<'_, Z>,
        fairness: Option<&mut dyn Participants<Z::State>>,
        order: Order,
    ) -> Result<Found, NoRoom> {
        let Self { property, automaton, options, watch, .. } = self;
        let search = RunSearch {
            reduction,
            guides,
            property: &mut **property,
            fairness: fairness.map(|fairness| fairness as _),
            automaton,
            order,
            options,
            watch: &mut **watch,
        };
        search.run(self.searched, self.limits)
    }

    fn broken(&self, what: &str) -> Box<Broken> {
        let stats = stubborn_explore::Stats::default();
        Box::new(Broken { fault: Fault::Broken(what.into()), trace: None, stats })
    }

    /// Writes down how a search went; a fault of the model ends everything.
    fn note(
        &mut self,
        reduction: String,
        search: SearchKind,
        found: &Found,
        fair: bool,
        phases: &mut Vec<PhaseReport>,
    ) -> Result<(), Box<Broken>> {
        let Found { outcome, guarantee, key_words } = found;
        if let End::Fault(fault, path) = &outcome.end {
            let trace = run(self.searched, path).ok().map(|states| {
                let witness = Witness { steps: path.clone(), ..Witness::default() };
                Trace::new(self.searched, &states, &witness)
            });
            return Err(Box::new(Broken { fault: fault.clone(), trace, stats: outcome.stats }));
        }
        phases.push(PhaseReport {
            key_words: *key_words,
            reduction,
            symmetry: false,
            search,
            store: self.options.store.with_numbers(),
            threads: 1,
            one_thread: (self.options.threads > 1).then_some(OneThread::Question),
            stats: outcome.stats,
            end: outcome.end.clone(),
            guarantee: *guarantee,
            no_ignoring: false,
            always_may_terminate: None,
            cannot_terminate: None,
            overtaken: None,
            product: Some(ProductReport {
                system_states: outcome.n_states,
                automaton_states: self.automaton.n_states(),
                is_closure: self.is_closure,
                is_sensitive: false,
                is_unfair: false,
                repairs: outcome.stats.repairs,
                fair,
            }),
        });
        Ok(())
    }

    /// What it means that there is no run. `is_closed`: whether what was searched for is closed under stuttering.
    fn without_run(&self, end: &End, preserves: Preserves, is_closed: bool) -> Verdict {
        if let End::Stopped(stop) = end {
            return Verdict::Inconclusive(Inconclusive::Stopped(stop.clone()));
        }
        let evidence = Evidence {
            end,
            guarantee: Guarantee::Exact,
            preserves,
            always_may_terminate: None,
            no_ignoring: false,
            is_closed,
            no_livelock: false,
        };
        let question = Question::Linear { name: self.property.name() };
        Holds::conclude(&question, evidence)
            .map_or(Verdict::Inconclusive(Inconclusive::NoMethod), Verdict::Holds)
    }
}

/// What became of a run that a search found.
enum Judged {
    Violated(Box<Violated>),
    NotForbidden,
    OpenCycle,
    Broken(Box<Broken>),
}

impl Judged {
    fn verdict<S: Vector + ?Sized>(self, property: &dyn RunProperty<S>) -> Result<Verdict, Box<Broken>> {
        Ok(match self {
            Self::Violated(violated) => Verdict::Violated(*violated),
            Self::Broken(broken) => return Err(broken),
            Self::NotForbidden => Verdict::Contradiction(Contradiction {
                what: format!(
                    "a run that violates \"{}\" was found, but replayed it does not",
                    property.name()
                ),
            }),
            Self::OpenCycle => Verdict::Inconclusive(Inconclusive::OpenCycle),
        })
    }
}

/// Lifts a run to the original, replays it and judges it.
fn judged<Z, Y>(
    searched: &Z,
    original: &Y,
    property: &dyn RunProperty<Z::State>,
    found: &AcceptedRun,
    is_closure: bool,
    options: &Options,
) -> Judged
where
    Z: Composed + ?Sized,
    Y: Symmetric + System<State = Z::State> + ?Sized,
{
    match try_judged(searched, original, property, found, is_closure, options) {
        Ok(judged) => judged,
        Err(fault) => {
            let stats = stubborn_explore::Stats::default();
            Judged::Broken(Box::new(Broken { fault, trace: None, stats }))
        }
    }
}

fn try_judged<Z, Y>(
    searched: &Z,
    original: &Y,
    property: &dyn RunProperty<Z::State>,
    found: &AcceptedRun,
    is_closure: bool,
    options: &Options,
) -> Result<Judged, Fault>
where
    Z: Composed + ?Sized,
    Y: Symmetric + System<State = Z::State> + ?Sized,
{
    let broken = |what: &str| Fault::Broken(what.into());
    // From where the system has ended nothing is fired.
    let n_fired = found.steps.iter().take_while(|step| step.is_some()).count();
    let witness = Witness {
        steps: found.steps.iter().flatten().copied().collect(),
        no_return: None,
        cycle_start: found.cycle_start.filter(|_| n_fired == found.steps.len()),
    };
    let mut states =
        run(searched, &witness.steps).map_err(|_| broken("a run that was found cannot be run"))?;
    (0..states.len()).try_for_each(|i| original.represent(states.state_mut(i)))?;
    let Ok(mut lifted) = lift(original, &states, &witness) else { return Ok(Judged::OpenCycle) };
    let shown = lifted.steps.len();
    let Some(mut states) = forbidden_run(original, property, &mut lifted, options.replay_states)? else {
        return Ok(Judged::NotForbidden);
    };
    // Every run that goes round was found so; what is decided before can go on fairly. If only the closure has decided it, the
    // property may mind how it goes on.
    let goes_round =
        if is_closure { lifted.cycle_start } else { witness.cycle_start.and(lifted.cycle_start) };
    if let Some(start) = goes_round {
        let mut once = states.clone();
        once.truncate(states.len() - 1);
        if !property.counts(&once, start, &lifted.steps[start..])? {
            return Ok(Judged::NotForbidden);
        }
    }
    // What the closure accepts whatever comes, the property need not.
    let is_whatever = found.cycle_start.is_none() && !is_closure;
    let message = match (is_whatever, lifted.cycle_start) {
        (true, _) => "whatever comes next, the run violates the property",
        (false, Some(_)) => "the run goes round for ever and violates the property",
        (false, None) => "the run ends, and violates the property",
    };
    if is_whatever {
        lifted.steps.truncate(shown);
        lifted.cycle_start = None;
    }
    states.truncate(lifted.steps.len() + 1);
    let mut trace = Trace::new(original, &states, &lifted);
    trace.beside = (0..states.len()).map(|i| property.beside(states.state(i))).collect();
    // A run that was lifted may go round more often than the one that was found.
    if found.at.len() == states.len() {
        trace.automaton.clone_from(&found.at);
    }
    Ok(Judged::Violated(Box::new(Violated { message: message.into(), trace, region: None })))
}

/// The states of a run, if it can be run and is forbidden. One without a cycle goes on somehow, until it repeats or ends.
fn forbidden_run<Y: System + ?Sized>(
    system: &Y,
    property: &dyn RunProperty<Y::State>,
    witness: &mut Witness,
    limit: usize,
) -> Result<Option<Batch<Y::State>>, Fault> {
    let broken = |_| Fault::Broken("a run that was found cannot be run".into());
    if witness.cycle_start.is_none() {
        go_on(system, witness, limit).map_err(broken)?;
    }
    let states = run(system, &witness.steps).map_err(broken)?;
    let n = states.len();
    let is_forbidden = match witness.cycle_start {
        // The last state is the first of the cycle again.
        Some(start) if start + 1 < n && states.state(start) == states.state(n - 1) => {
            let mut once = states.clone();
            once.truncate(n - 1);
            property.is_forbidden(&once, start)?
        }
        Some(_) => false,
        None => property.extends() && property.is_forbidden(&states, n - 1)?,
    };
    Ok(is_forbidden.then_some(states))
}

/// Replays a run and judges it by a property.
pub fn replay_run<Y: System + ?Sized>(
    system: &Y,
    property: &dyn RunProperty<Y::State>,
    witness: &Witness,
    limit: usize,
) -> Result<Replayed<Y::State>, Rejection> {
    run(system, &witness.steps)?;
    let mut whole = witness.clone();
    let mut states = forbidden_run(system, property, &mut whole, limit)?.ok_or(Rejection::NoViolation)?;
    states.truncate(witness.steps.len() + 1);
    let message = format!("the run violates {}", property.text());
    Ok(Replayed { states, message, region: None })
}
