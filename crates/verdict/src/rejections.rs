//! Rejections: which searches answer them, and what their answers rest on.
//!
//! Wrong states and deadlocks are searched for breadth-first, so what is shown is shortest; livelocks by V93 Algorithm
//! 3.4, after which one that is found is exchanged for the nearest; infinite traces by nested search. Without reduction one search answers for all states and deadlocks, and
//! one for the cycles of each guard. With reduction all deadlocks have one search and each wrong state one with sets that lead towards it, unless
//! one without reduction is less work than all of these (`rejection_race.rs`); and
//! each guard has its own sets for cycles (V93 Algorithm 4.3): first its livelocks are searched for; if there are none,
//! the same sets serve its infinite traces (Theorem 4.1), else sets without monitors do. One livelock may hide others of its guard, so those are searched for again with sets whose
//! monitors are theirs alone. Deadlocks need nothing but plain sets. Wrong states and deadlocks may be searched for on packed keys
//! (`rejection_engine.rs`); cycles are searched for on the system's states.
//!
//! Everything that is found is fired again and then confirmed by the system's own definition of rejections.

use crate::analysis::{Analysis, Answer, Broken};
use crate::phase::{Overtaken, PhaseReport, make_store, no_room};
use crate::rejection_race::may_race;
use crate::replay::{Witness, run};
use crate::verdict::{Contradiction, Evidence, Holds, Inconclusive, Verdict, Violated};
use crate::{Options, SearchKind, StoreKind, Trace};
use stubborn_explore::reject::{
    Cycle, CycleJob, CycleOutcome, Marks, NearestJob, infinite_trace, livelock, nearest_livelock,
};
use stubborn_explore::{End, Limits, Stats, Stop, Unobserved, Watch};
use stubborn_reduce::{CheckDepth, Checked, Full, GoalOriented, Reduction};
use stubborn_store::Guarantee;
use stubborn_system::{Fault, Question, Rejecting, RejectionKind};

/// What rejections need to know besides [`Options`].
#[derive(Clone, Copy, Debug, Default)]
pub struct RejectionOptions {
    /// Whether goal-oriented sets are used; for states and deadlocks, if [`Options::race`] says so, only where they are less work.
    pub reduced: bool,
}

/// Answers for all rejections of a system, in their order.
pub(crate) fn check_rejections<Y: Rejecting + ?Sized>(
    system: &Y,
    rejection_options: RejectionOptions,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Analysis, Box<Broken>> {
    let n = system.rejections().len();
    let mut check = Check { system, options, watch, verdicts: vec![None; n], phases: Vec::new() };
    if rejection_options.reduced {
        check.reduced()?
    } else {
        check.full()?
    }
    Ok(check.finish())
}

/// The answers so far.
pub(crate) struct Check<'a, Y: Rejecting + ?Sized> {
    pub(crate) system: &'a Y,
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn Watch,
    /// By rejection: the verdict and its search.
    pub(crate) verdicts: Vec<Option<(Verdict, usize)>>,
    phases: Vec<PhaseReport>,
}

/// How states are expanded.
pub(crate) struct Sets<'r, Y: Rejecting + ?Sized> {
    pub(crate) reduction: Box<dyn Reduction<Y> + 'r>,
    /// Whether there is no cycle at a livelock monitor of the sets: because that is known, because there are no
    /// monitors, or, in a search for exactly those cycles, if none is found.
    pub(crate) no_livelock: bool,
}

impl<Y: Rejecting + ?Sized> Sets<'_, Y> {
    /// Everything is fired.
    pub(crate) fn full() -> Self {
        Self { reduction: Box::new(Full), no_livelock: false }
    }
}

/// How a search was made.
pub(crate) struct Report {
    pub(crate) search: SearchKind,
    pub(crate) guarantee: Guarantee,
    pub(crate) store: StoreKind,
    pub(crate) key_words: Option<usize>,
    pub(crate) overtaken: Option<Overtaken>,
}

/// Makes the sets for a search for these rejections.
type MakeSets<'m, 'r, Y> = dyn Fn(&[usize]) -> Sets<'r, Y> + 'm;

/// A cycle is searched for by one of two.
type SearchCycle<Y> = for<'j> fn(CycleJob<'j, Y>) -> CycleOutcome;

impl<'a, Y: Rejecting + ?Sized> Check<'a, Y> {
    fn full(&mut self) -> Result<(), Box<Broken>> {
        self.full_states()?;
        let all = |_: &[usize]| Sets::full();
        for guard in self.guards() {
            self.cycles(RejectionKind::Livelock, guard, &all)?;
            self.cycles(RejectionKind::Infinite, guard, &all)?;
        }
        Ok(())
    }

    fn reduced(&mut self) -> Result<(), Box<Broken>> {
        let (system, check) = (self.system, self.options.check);
        match may_race(self.options) {
            Some(rules) => self.race(rules)?,
            None => self.reduced_states()?,
        }
        for guard in self.guards() {
            let own = |open: &[usize]| sets(GoalOriented::with_monitors(guard, open.to_vec()), true, check);
            self.cycles(RejectionKind::Livelock, guard, &own)?;
            let is_livelock = |kind: RejectionKind, of: usize| of == guard && kind == RejectionKind::Livelock;
            let is_clear = (0..self.verdicts.len())
                .filter(|&i| self.is_of(i, &is_livelock))
                .all(|i| matches!(self.verdicts[i], Some((Verdict::Holds(_), _))));
            let goal = |_: &[usize]| {
                let goal = GoalOriented::new(system, guard);
                sets(if is_clear { goal } else { GoalOriented::without_monitors(guard) }, true, check)
            };
            self.cycles(RejectionKind::Infinite, guard, &goal)?;
        }
        Ok(())
    }

    fn guards(&self) -> Vec<usize> {
        let mut guards: Vec<usize> =
            self.system.rejections().iter().map(|rejection| rejection.guard).collect();
        guards.sort_unstable();
        guards.dedup();
        guards
    }

    fn is_of(&self, rejection: usize, wanted: &impl Fn(RejectionKind, usize) -> bool) -> bool {
        let rejection = &self.system.rejections()[rejection];
        wanted(rejection.kind, rejection.guard)
    }

    /// The rejections that are wanted and have no verdict yet.
    pub(crate) fn open(&self, wanted: &impl Fn(RejectionKind, usize) -> bool) -> Vec<usize> {
        (0..self.verdicts.len()).filter(|&i| self.verdicts[i].is_none() && self.is_of(i, wanted)).collect()
    }

    /// Whether the first violation was found and no other is wanted.
    pub(crate) fn is_over(&self) -> bool {
        let is_wrong = |verdict: &Option<(Verdict, usize)>| {
            matches!(verdict, Some((Verdict::Violated(_) | Verdict::Contradiction(_), _)))
        };
        !self.options.all_errors && self.verdicts.iter().any(is_wrong)
    }

    /// Searches for wrong cycles of a guard.
    fn cycles(
        &mut self,
        kind: RejectionKind,
        guard: usize,
        make: &MakeSets<'_, '_, Y>,
    ) -> Result<(), Box<Broken>> {
        let search: SearchCycle<Y> = if kind == RejectionKind::Livelock { livelock } else { infinite_trace };
        loop {
            let open = self.open(&|of_kind, of_guard| of_kind == kind && of_guard == guard);
            if open.is_empty() || self.is_over() {
                return Ok(());
            }
            let mut sets = make(&open);
            // Only whole states have numbers that can be relied on.
            let made = if self.options.store.is_exact() {
                make_store::<Y::State>(self.options).map(Marks::numbered)
            } else {
                make_store::<[u8]>(self.options).map(Marks::coloured)
            };
            let mut marks = match made {
                Ok(marks) => marks,
                Err(full) => {
                    self.stopped(&open, &no_room(&full, self.options));
                    return Ok(());
                }
            };
            let system = self.system;
            let outcome = search(CycleJob {
                system,
                reduction: &mut *sets.reduction,
                marks: &mut marks,
                condition: &|state| open.iter().any(|&rejection| system.rejects(state, rejection)),
                takes_part: &|t| system.takes_part(guard, t),
                visitor: &mut Unobserved,
                watch: &mut *self.watch,
                limits: self.options.limits,
            });
            let guarantee = marks.guarantee();
            let store = self.options.store.with_numbers();
            let search = SearchKind::DepthFirst;
            let report = Report { search, guarantee, store, key_words: None, overtaken: None };
            let phase = self.note(&*sets.reduction, report, outcome.stats, &outcome.end)?;
            let Some(mut cycle) = outcome.cycle else {
                self.conclude(&open, &outcome.end, guarantee, &sets, phase);
                return Ok(());
            };
            if kind == RejectionKind::Livelock && self.options.search == SearchKind::BreadthFirst {
                let nearest = self.nearest(&open, guard, &mut *sets.reduction, outcome.stats.states);
                cycle = nearest.unwrap_or(cycle);
            }
            let witness = Witness { steps: cycle.steps, cycle_start: Some(cycle.start), no_return: None };
            // All that hold where the cycle begins are shown by it.
            let states =
                run(system, &witness.steps).map_err(|rejection| self.lost(&rejection, outcome.stats))?;
            let shown: Vec<usize> =
                open.iter().copied().filter(|&i| system.rejects(states.state(cycle.start), i)).collect();
            if shown.is_empty() {
                let what = "a cycle was found where its condition does not hold".to_owned();
                self.verdicts[open[0]] = Some((Verdict::Contradiction(Contradiction { what }), phase));
            }
            for rejection in shown {
                self.violated(rejection, &witness, phase)?;
            }
        }
    }

    /// The livelock of these rejections with the shortest way to it, if it does not take too many states.
    fn nearest(
        &mut self,
        open: &[usize],
        guard: usize,
        reduction: &mut dyn Reduction<Y>,
        n_states: u64,
    ) -> Option<Cycle> {
        let system = self.system;
        let affordable = n_states.saturating_mul(10).max(1_000_000);
        let limits = self.options.limits;
        nearest_livelock(NearestJob {
            system,
            reduction,
            condition: &|state| open.iter().any(|&rejection| system.rejects(state, rejection)),
            takes_part: &|t| system.takes_part(guard, t),
            watch: &mut *self.watch,
            limits: Limits { states: limits.states.min(affordable), ..limits },
        })
    }

    fn lost(&self, rejection: &impl std::fmt::Display, stats: Stats) -> Box<Broken> {
        let fault = Fault::Broken(format!("a run that was found cannot be replayed: {rejection}"));
        Box::new(Broken { fault, trace: None, stats })
    }

    /// Replays a run and has it confirmed.
    pub(crate) fn violated(
        &mut self,
        rejection: usize,
        witness: &Witness,
        phase: usize,
    ) -> Result<(), Box<Broken>> {
        let verdict = match run(self.system, &witness.steps) {
            Err(refused) => Verdict::Contradiction(Contradiction { what: refused.to_string() }),
            Ok(states) => match self.system.confirm(rejection, &states, witness.cycle_start) {
                Ok(message) => {
                    let trace = Trace::new(self.system, &states, witness);
                    Verdict::Violated(Violated { message, trace, region: None })
                }
                Err(what) => Verdict::Contradiction(Contradiction { what }),
            },
        };
        self.verdicts[rejection] = Some((verdict, phase));
        Ok(())
    }

    /// What it means for these that nothing was found.
    pub(crate) fn conclude(
        &mut self,
        open: &[usize],
        end: &End,
        guarantee: Guarantee,
        sets: &Sets<'_, Y>,
        phase: usize,
    ) {
        for &i in open {
            let verdict = match end {
                End::Stopped(stop) => Verdict::Inconclusive(Inconclusive::Stopped(stop.clone())),
                End::Sighted => Verdict::Inconclusive(Inconclusive::StoppedAtOther),
                _ if guarantee != Guarantee::Exact => {
                    Verdict::Inconclusive(Inconclusive::Omission(guarantee))
                }
                _ => {
                    let evidence = Evidence {
                        end,
                        guarantee,
                        preserves: sets.reduction.preserves(),
                        always_may_terminate: None,
                        no_ignoring: false,
                        is_closed: false,
                        no_livelock: sets.no_livelock,
                    };
                    Holds::conclude(&self.question(i), evidence)
                        .map_or(Verdict::Inconclusive(Inconclusive::NoMethod), Verdict::Holds)
                }
            };
            self.verdicts[i] = Some((verdict, phase));
        }
    }

    pub(crate) fn stopped(&mut self, open: &[usize], stop: &Stop) {
        for &i in open {
            let verdict = Verdict::Inconclusive(Inconclusive::Stopped(stop.clone()));
            self.verdicts[i] = Some((verdict, self.phases.len().saturating_sub(1)));
        }
    }

    /// Writes down how a search went; a fault ends everything. Gives its number.
    pub(crate) fn note(
        &mut self,
        reduction: &dyn Reduction<Y>,
        report: Report,
        stats: Stats,
        end: &End,
    ) -> Result<usize, Box<Broken>> {
        if let End::Fault(fault, path) = end {
            let trace = run(self.system, path).ok().map(|states| {
                let witness = Witness { steps: path.clone(), ..Witness::default() };
                Trace::new(self.system, &states, &witness)
            });
            return Err(Box::new(Broken { fault: fault.clone(), trace, stats }));
        }
        let Report { search, guarantee, store, key_words, overtaken } = report;
        self.phases.push(PhaseReport {
            key_words,
            reduction: reduction.name(),
            symmetry: false,
            search,
            store,
            threads: 1,
            one_thread: None,
            stats,
            end: end.clone(),
            guarantee,
            no_ignoring: false,
            always_may_terminate: None,
            cannot_terminate: None,
            overtaken,
            product: None,
        });
        Ok(self.phases.len() - 1)
    }

    fn question(&self, rejection: usize) -> Question {
        let rejection = &self.system.rejections()[rejection];
        Question::Rejection { kind: rejection.kind, text: rejection.text.clone() }
    }

    fn finish(self) -> Analysis {
        let last = self.phases.len().saturating_sub(1);
        let mut answers = Vec::new();
        for (i, verdict) in self.verdicts.iter().enumerate() {
            let question = self.question(i);
            let left = || (Verdict::Inconclusive(Inconclusive::StoppedAtOther), last);
            let (verdict, phase) = verdict.clone().unwrap_or_else(left);
            answers.push(Answer { text: question.to_string(), question, verdict, phase });
        }
        Analysis { answers, phases: self.phases }
    }
}

/// Sets that are held against their definition now and then.
pub(crate) fn sets<'r, Y: Rejecting + 'r + ?Sized>(
    reduction: impl Reduction<Y> + 'r,
    no_livelock: bool,
    check: Option<CheckDepth>,
) -> Sets<'r, Y> {
    let reduction: Box<dyn Reduction<Y> + 'r> = match check {
        Some(depth) => Box::new(Checked::new(reduction, depth)),
        None => Box::new(reduction),
    };
    Sets { reduction, no_livelock }
}
