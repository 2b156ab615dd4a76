//! The search: runs that share their beginnings.
//!
//! **Implements** stateless depth-first search (VS). The present run is a stack of nodes (`node`) and a trace of events;
//! the next run (`run`) repeats it up to the deepest node where something is left to do.
//! **Preserves** whatever the algorithm preserves: from every class of runs that differ in the order of independent
//! operations only, one is made, so every deadlock and every failure of a process is found.
//! **Checked by** `tests/all/random_programs.rs`.

use super::node::Node;
use super::persistent::Futures;
use super::run::{End, Ended};
use super::{Fault, Found, Options, Outcome, Stats, Why};
use crate::program::{Failure, FailureKind, Program};
use crate::schedule::{Schedule, Turn};
use crate::set::Set;
use crate::trace::Trace;
use crate::world::World;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// What is called at the end of each run.
pub(super) type Visitor<'p> = &'p mut dyn FnMut(&World, &Trace, End);

/// A search over the runs of a program.
pub struct Explorer<'p, P: Program + ?Sized> {
    pub(super) program: &'p mut P,
    pub(super) options: Options,
    pub(super) world: World,
    pub(super) trace: Trace,
    pub(super) nodes: Vec<Node>,
    /// Nodes below this are somebody else's to explore.
    pub(super) floor: usize,
    pub(super) stats: Stats,
    pub(super) futures: Futures,
    /// Who sleeps in the state that the last step led to.
    pub(super) next_sleep: Set,
    /// The first event of this run that no run had before.
    pub(super) first_new: u32,
    /// Whether a race was found that `optimal` cannot deal with.
    pub(super) in_doubt: bool,
    /// Whether a process did what it had never done before.
    pub(super) learned: bool,
    /// Steps behind the nodes: of a repetition that is driven to its end.
    pub(super) tail: Vec<Turn>,
    pub(super) n_races: u64,
    /// Runs that were made before the search began again.
    runs_before: u64,
    started: Instant,
    pub(super) why: Option<Why>,
    visitor: Option<Visitor<'p>>,
}

impl<'p, P: Program + ?Sized> Explorer<'p, P> {
    /// A search that has done nothing.
    pub fn new(program: &'p mut P, options: Options) -> Explorer<'p, P> {
        let forgets_attempts = options.fault == Some(Fault::DisagreeingOrder);
        Explorer {
            program,
            options,
            world: World::new(),
            trace: Trace::new(forgets_attempts),
            nodes: Vec::new(),
            floor: 0,
            stats: Stats::default(),
            futures: Futures::default(),
            next_sleep: Set::new(),
            first_new: 0,
            in_doubt: false,
            learned: false,
            tail: Vec::new(),
            n_races: 0,
            runs_before: 0,
            started: Instant::now(),
            why: None,
            visitor: None,
        }
    }

    /// Calls a function at the end of each run that is no repetition.
    pub fn visit(mut self, visitor: Visitor<'p>) -> Self {
        self.visitor = Some(visitor);
        self
    }

    /// The state in which the last run ended.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Explores.
    pub fn explore(mut self) -> Outcome {
        let found = match self.options.random {
            Some(seed) => self.explore_at_random(seed),
            None => self.explore_all(),
        };
        Outcome { found, stats: self.stats }
    }

    fn explore_all(&mut self) -> Found {
        let mut first_failure = None;
        loop {
            if let Some(why) = self.limit() {
                return first_failure.unwrap_or(Found::Inconclusive(why));
            }
            let ended = self.run();
            if let Ended::Restart = ended {
                self.begin_again();
                continue;
            }
            if let Some((failure, schedule)) = self.conclude(ended) {
                let is_final = failure.is_limit || failure.kind == FailureKind::Nondeterminism;
                let found = Found::of(failure, schedule);
                if !self.options.keep_going || is_final {
                    return found;
                }
                first_failure.get_or_insert(found);
            }
            let runs = self.stats.runs + self.stats.blocked + self.stats.cut;
            if let Some(progress) = self.options.progress.as_ref().filter(|_| runs.is_multiple_of(256)) {
                progress.0(runs, self.estimated_runs());
            }
            let is_first = self.options.check_determinism && runs == 1 && self.floor == 0;
            if let Some(failure) = is_first.then(|| self.repeat()).flatten() {
                return failure;
            }
            if !self.backtrack() {
                return match (first_failure, self.why.take()) {
                    (Some(found), _) => found,
                    (None, Some(why)) => Found::Inconclusive(why),
                    (None, None) => match self.options.preemptions {
                        Some(n) if self.stats.cut > 0 => Found::Inconclusive(Why::Preemptions(n)),
                        _ => Found::Nothing,
                    },
                };
            }
        }
    }

    /// Counts a run. Gives its failure, if it has one.
    pub(super) fn conclude(&mut self, ended: Ended) -> Option<(Failure, Schedule)> {
        let failure = match ended {
            Ended::Blocked => {
                self.stats.blocked += 1;
                return None;
            }
            Ended::Cut => {
                self.stats.cut += 1;
                return None;
            }
            Ended::At(end) => {
                self.stats.runs += 1;
                if let Some(visitor) = &mut self.visitor {
                    visitor(&self.world, &self.trace, end);
                }
                (end == End::Deadlock).then(|| self.deadlock())?
            }
            Ended::Failed(failure) => {
                self.stats.runs += 1;
                failure
            }
            Ended::Restart => return None,
        };
        Some((failure, self.schedule()))
    }

    /// The failure of a run at whose end somebody waits.
    pub(super) fn deadlock(&self) -> Failure {
        let n = self.world.waiting().count();
        let message =
            if n == 1 { "a process waits for ever".into() } else { format!("{n} processes wait for ever") };
        Failure { kind: FailureKind::Deadlock, process: None, message, is_limit: false }
    }

    /// The present run.
    pub(super) fn schedule(&self) -> Schedule {
        Schedule(self.nodes.iter().map(|node| node.turn).chain(self.tail.iter().copied()).collect())
    }

    /// A limit that was reached.
    pub(super) fn limit(&self) -> Option<Why> {
        let runs = self.runs_before + self.stats.runs + self.stats.blocked + self.stats.cut;
        if self.options.stop.load(Ordering::Relaxed) {
            return Some(Why::Stopped);
        }
        if let Some(max) = self.options.max_runs.filter(|&max| runs >= max) {
            return Some(Why::Runs(max));
        }
        let is_cut = self.options.max_cut.is_some_and(|max| self.stats.cut >= max);
        if let Some(Why::Steps(max)) = self.why.as_ref().filter(|_| is_cut) {
            return Some(Why::Steps(*max));
        }
        // The clock is not asked for every run.
        let max = self.options.max_time.filter(|_| runs.is_multiple_of(16))?;
        (self.started.elapsed() >= max).then_some(Why::Time(max))
    }

    fn begin_again(&mut self) {
        self.nodes.clear();
        self.next_sleep = Set::new();
        self.trace.truncate(0);
        self.runs_before += self.stats.runs + self.stats.blocked + self.stats.cut;
        (self.stats.runs, self.stats.blocked, self.stats.cut) = (0, 0, 0);
        self.stats.restarts += 1;
    }
}
