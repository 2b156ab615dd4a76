//! The search: runs that share their beginnings.
//!
//! **Implements** stateless depth-first search (VS). The present run is a stack of nodes and a trace of events; the
//! next run repeats it up to the deepest node where something is left to do. Every operation of a repeated
//! beginning is compared with the one that was done there before.
//! **Preserves** whatever the algorithm preserves: from every class of runs that differ in the order of independent
//! operations only, one is made, so every deadlock and every failure of a process is found.
//! **Differs from the text** in that a run which turns out to be a repetition can be driven to its end (some
//! programs cannot be left in the middle); a failure on the way is one all the same.
//! **Checked by** `tests/random_programs.rs`.

use super::optimal::Branch;
use super::persistent::Futures;
use super::{Algorithm, Fault, Found, Options, Outcome, Stats, Why, bound, optimal, sleep, source};
use crate::op::{Op, ProcessId};
use crate::program::{Failure, FailureKind, Program};
use crate::schedule::{Schedule, Turn};
use crate::set::Set;
use crate::trace::Trace;
use crate::world::{Effects, World};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A global state of the present run.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Who can move.
    pub(super) enabled: Set,
    /// Whose move would lead to repetitions.
    pub(super) sleep: Set,
    /// Whose move has been explored.
    pub(super) done: Set,
    /// Whose move is to be explored, or has been.
    pub(super) backtrack: Set,
    /// Who moves in the present run, with which outcome of how many.
    pub(super) turn: Turn,
    pub(super) choices: u32,
    /// The outcome that was explored first; the others follow in order.
    pub(super) first_choice: u32,
    /// Preemptions before this state.
    pub(super) preemptions: u32,
    /// Whether the present move is one.
    pub(super) preempts: bool,
    /// For `optimal`: what is to be explored, in order; the first branch is the present one.
    pub(super) tree: Vec<Branch>,
    /// For `optimal`: what the processes that sleep or are done would do here, or did.
    pub(super) asleep: Vec<(ProcessId, Op, Effects)>,
    pub(super) n_objects: u32,
}

impl Node {
    /// Turns to the next outcome of the present move, if there is one.
    fn next_choice(&mut self) -> bool {
        let Turn { choice, .. } = self.turn;
        let mut next = if choice == self.first_choice { 0 } else { choice + 1 };
        next += u32::from(next == self.first_choice);
        let is_left = next < self.choices;
        if is_left {
            self.turn.choice = next;
        }
        is_left
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nobody waits.
    Complete,
    /// Somebody waits, and nobody can move.
    Deadlock,
}

/// The end of one run.
pub(super) enum Ended {
    /// At an end.
    At(End),
    /// It was a repetition.
    Blocked,
    /// It was too long, or had too many preemptions.
    Cut,
    /// It failed.
    Failed(Failure),
    /// The program learned something: begin again.
    Restart,
}

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
    next_sleep: Set,
    /// The first event of this run that no run had before.
    first_new: u32,
    /// Whether a race was found that `optimal` cannot deal with.
    pub(super) in_doubt: bool,
    /// Whether a process did what it had never done before.
    learned: bool,
    /// Steps behind the nodes: of a repetition that is driven to its end.
    tail: Vec<Turn>,
    pub(super) n_races: u64,
    /// Runs that were made before the search began again.
    runs_before: u64,
    started: Instant,
    why: Option<Why>,
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
                let found = match failure.is_limit {
                    true => Found::Inconclusive(Why::Program(failure.message)),
                    false => Found::Failure(failure, schedule),
                };
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

    /// Makes one run: what the nodes say, and then on to an end.
    fn run(&mut self) -> Ended {
        self.first_new = self.trace.len() as u32;
        if let Err(failure) = self.start_over() {
            return Ended::Failed(failure);
        }
        let ended = match self.learned {
            true => Ended::Restart,
            false => self.extend(),
        };
        self.stats.longest = self.stats.longest.max(self.nodes.len() + self.tail.len());
        match ended {
            Ended::Failed(_) => {}
            _ => self.program.finish(),
        }
        if self.in_doubt {
            self.in_doubt = false;
            self.options.algorithm = Algorithm::Source;
            return match ended {
                Ended::Failed(failure) => Ended::Failed(failure),
                _ => Ended::Restart,
            };
        }
        ended
    }

    /// Repeats what the nodes say.
    pub(super) fn start_over(&mut self) -> Result<(), Failure> {
        self.tail.clear();
        self.next_sleep = Set::new();
        self.world.clear();
        self.learned = false;
        self.program.reset(&mut self.world);
        self.note(None);
        (0..self.nodes.len()).try_for_each(|depth| self.replay_step(depth))
    }

    /// Notes what was announced, if the algorithm needs that.
    fn note(&mut self, mover: Option<ProcessId>) {
        if self.options.algorithm.is_persistent() {
            self.learned |= self.learn(mover);
        }
    }

    /// Beyond what the nodes say.
    fn extend(&mut self) -> Ended {
        loop {
            let enabled = self.world.enabled();
            if enabled.is_empty() {
                self.look_for_races();
                return Ended::At(self.end());
            }
            if self.nodes.len() >= self.options.max_steps {
                self.why.get_or_insert(Why::Steps(self.options.max_steps));
                return Ended::Cut;
            }
            match self.node(enabled) {
                Choice::Made(node) => self.nodes.push(node),
                Choice::Blocked => {
                    self.look_for_races();
                    return self.drain();
                }
                Choice::Cut => {
                    return match self.drain() {
                        Ended::Blocked => Ended::Cut,
                        ended => ended,
                    };
                }
            }
            match self.step(self.nodes.len() - 1) {
                Ok(()) if self.learned => return Ended::Restart,
                Ok(()) => {}
                Err(failure) => return Ended::Failed(failure),
            }
        }
    }

    pub(super) fn end(&self) -> End {
        let blocked: Vec<ProcessId> = self.world.waiting().map(|(process, _)| process).collect();
        match !blocked.is_empty() && self.program.is_deadlock(&blocked) {
            true => End::Deadlock,
            false => End::Complete,
        }
    }

    /// Drives a repetition to its end, if the program cannot be left.
    pub(super) fn drain(&mut self) -> Ended {
        if !self.program.must_end() {
            return Ended::Blocked;
        }
        let mut last = self.nodes.last().map_or(0, |node| node.turn.process);
        while self.tail.len() < self.options.max_steps {
            let enabled = self.world.enabled();
            let Some(first) = enabled.first() else {
                return match self.end() {
                    End::Deadlock => Ended::Failed(self.deadlock()),
                    End::Complete => Ended::Blocked,
                };
            };
            last = if enabled.contains(last) { last } else { first };
            let turn = Turn { process: last, choice: 0 };
            self.tail.push(turn);
            if let Err(failure) = self.perform(turn) {
                return Ended::Failed(failure);
            }
        }
        Ended::Blocked
    }

    /// The state that is reached, with the first move to be explored.
    pub(super) fn node(&mut self, enabled: Set) -> Choice {
        let (sleep, asleep, mut tree) = self.inherited();
        let previous = self.nodes.last().map(|node| node.turn.process);
        let preemptions = bound::preemptions(self.nodes.last(), &enabled);
        let awake = enabled.without(&sleep);
        if awake.is_empty() {
            return Choice::Blocked;
        }
        let mut backtrack = match self.options.algorithm {
            Algorithm::Dfs | Algorithm::Sleep => enabled.clone(),
            Algorithm::Source | Algorithm::Optimal => Set::new(),
            _ => self.persistent_set(&enabled),
        };
        let candidates = if backtrack.is_empty() { awake.clone() } else { backtrack.without(&sleep) };
        // Who moved last moves on: fewer preemptions, and shorter stories.
        let stays = previous.filter(|&process| candidates.contains(process));
        let Some(mut process) = stays.or(candidates.first()) else { return Choice::Blocked };
        let mut choice = 0;
        if let Some(branch) = tree.first().filter(|branch| awake.contains(branch.process)) {
            (process, choice) = (branch.process, branch.choice);
        } else {
            tree.clear();
            if self.options.algorithm == Algorithm::Optimal {
                tree.push(Branch::alone(process));
            }
        }
        if bound::exceeded(&self.options, previous, preemptions, process, &enabled) {
            match bound::within(&self.options, previous, preemptions, &candidates, &enabled) {
                Some(other) => process = other,
                None => return Choice::Cut,
            }
        }
        backtrack.insert(process);
        let preempts = bound::is_preemption(previous, process, &enabled);
        Choice::Made(Node {
            enabled,
            sleep,
            done: Set::new(),
            backtrack,
            turn: Turn { process, choice },
            choices: 0,
            first_choice: choice,
            preemptions,
            preempts,
            tree,
            asleep,
            n_objects: self.world.n_objects(),
        })
    }

    /// What the next node gets from the last one. Must be called before the step was forgotten: `step` keeps it.
    fn inherited(&mut self) -> (Set, Vec<(ProcessId, Op, Effects)>, Vec<Branch>) {
        let sleep = std::mem::take(&mut self.next_sleep);
        let asleep = match self.options.algorithm {
            Algorithm::Optimal => sleep::labels(&self.world, &sleep),
            _ => Vec::new(),
        };
        let tree = self.nodes.last_mut().map_or(Vec::new(), |node| {
            let now = |branch: &&mut Branch| {
                (branch.process, branch.choice) == (node.turn.process, node.turn.choice)
            };
            node.tree.iter_mut().find(now).map_or(Vec::new(), |branch| std::mem::take(&mut branch.children))
        });
        (sleep, asleep, tree)
    }

    /// A step of a beginning that is repeated; the last one may be new.
    fn replay_step(&mut self, depth: usize) -> Result<(), Failure> {
        let turn = self.nodes[depth].turn;
        let Some(op) = self.world.pending(turn.process) else {
            return Err(nondeterminism(depth, turn.process, "nothing", self.recorded(depth)));
        };
        if depth < self.trace.len() {
            let event = &self.trace.events()[depth];
            if event.op != *op {
                let now = format!("{op:?}");
                return Err(nondeterminism(depth, turn.process, &now, self.recorded(depth)));
            }
            self.perform(turn)?;
            self.note(Some(turn.process));
            return Ok(());
        }
        if self.world.enabled() != self.nodes[depth].enabled {
            return Err(nondeterminism(
                depth,
                turn.process,
                "that others can move than before",
                String::new(),
            ));
        }
        self.step(depth)
    }

    fn recorded(&self, depth: usize) -> String {
        self.trace.events().get(depth).map_or(String::new(), |event| format!("{:?}", event.op))
    }

    /// Does what a process has announced, without looking at it.
    pub(super) fn perform(&mut self, turn: Turn) -> Result<(), Failure> {
        let Some(op) = self.world.take_pending(turn.process) else {
            return Err(nondeterminism(self.world.now as usize, turn.process, "nothing", String::new()));
        };
        let (out, _) = self.world.execute(turn.process, &op, turn.choice);
        self.stats.steps += 1;
        if op.fails {
            return Err(Failure::new(FailureKind::Assertion, turn.process, "assertion violated"));
        }
        self.program.resume(turn.process, out, &mut self.world)
    }

    /// A new step.
    pub(super) fn step(&mut self, depth: usize) -> Result<(), Failure> {
        let turn = self.nodes[depth].turn;
        let Some(op) = self.world.take_pending(turn.process) else {
            return Err(nondeterminism(depth, turn.process, "nothing", String::new()));
        };
        self.nodes[depth].choices = self.world.choices(&op);
        self.next_sleep = match self.options.algorithm {
            Algorithm::Dfs => Set::new(),
            _ => sleep::after(&self.world, &self.nodes[depth], &op, self.options.fault),
        };
        let joined = self.world.joined(turn.process).into();
        let (out, effects) = self.world.execute(turn.process, &op, turn.choice);
        self.stats.steps += 1;
        let fails = op.fails;
        self.trace.push(&self.world, turn, op, (out, effects), joined);
        if self.options.algorithm == Algorithm::Source {
            source::races(self, depth as u32);
        }
        if fails {
            return Err(Failure::new(FailureKind::Assertion, turn.process, "assertion violated"));
        }
        self.program.resume(turn.process, out, &mut self.world)?;
        self.note(Some(turn.process));
        Ok(())
    }

    /// At the end of a run, also of one that is a repetition: those who wait might have come first.
    fn look_for_races(&mut self) {
        if self.options.fault == Some(Fault::ForgottenWaiters) {
            return;
        }
        match self.options.algorithm {
            Algorithm::Source => source::races_of_waiters(self),
            Algorithm::Optimal => optimal::all_races(self, self.first_new),
            _ => {}
        }
    }

    /// Makes the first run again, and compares.
    fn repeat(&mut self) -> Option<Found> {
        self.world.clear();
        self.program.reset(&mut self.world);
        for depth in 0..self.nodes.len() {
            let turn = self.nodes[depth].turn;
            let op = self.world.pending(turn.process);
            if op != Some(&self.trace.events()[depth].op) {
                let now = op.map_or("nothing".to_owned(), |op| format!("{op:?}"));
                let failure = nondeterminism(depth, turn.process, &now, self.recorded(depth));
                return Some(Found::Failure(failure, self.schedule()));
            }
            if let Err(failure) = self.perform(turn) {
                return Some(Found::Failure(failure, self.schedule()));
            }
        }
        // A run that was cut goes on, of course.
        if self.stats.cut > 0 || self.stats.blocked > 0 {
            self.program.finish();
            return None;
        }
        if !self.world.enabled().is_empty() {
            let message = "a schedule that had come to an end goes on when it is repeated";
            let failure = Failure {
                kind: FailureKind::Nondeterminism,
                process: None,
                message: message.to_owned(),
                is_limit: false,
            };
            return Some(Found::Failure(failure, self.schedule()));
        }
        self.program.finish();
        None
    }

    /// Goes back to the deepest node where something is left to do.
    pub(super) fn backtrack(&mut self) -> bool {
        self.tail.clear();
        while self.nodes.len() > self.floor {
            let depth = self.nodes.len() - 1;
            let node = &mut self.nodes[depth];
            let reached = self.trace.len() > depth;
            if self.options.algorithm == Algorithm::Optimal && reached {
                optimal::leave(node, &self.trace.events()[depth]);
            }
            self.trace.truncate(depth);
            if node.next_choice() {
                return true;
            }
            node.done.insert(node.turn.process);
            let left = match self.options.algorithm {
                Algorithm::Optimal => optimal::next(node),
                _ => node.backtrack.without(&node.done).without(&node.sleep).first(),
            };
            let previous = depth.checked_sub(1).map(|above| self.nodes[above].turn.process);
            let node = &mut self.nodes[depth];
            if let Some(process) = left {
                let choice = node.tree.first().map_or(0, |branch| branch.choice);
                node.turn = Turn { process, choice };
                (node.choices, node.first_choice) = (0, choice);
                node.preempts = bound::is_preemption(previous, process, &node.enabled);
                if bound::exceeded(&self.options, previous, node.preemptions, process, &node.enabled) {
                    self.stats.cut += 1;
                    continue;
                }
                return true;
            }
            self.nodes.pop();
        }
        false
    }
}

/// The first move at a state.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
pub(super) enum Choice {
    Made(Node),
    Blocked,
    Cut,
}

pub(super) fn nondeterminism(depth: usize, process: ProcessId, now: &str, before: String) -> Failure {
    let message = format!(
        "the same schedule led to another operation: at step {} process {process} announced {now}{}",
        depth + 1,
        if before.is_empty() { String::new() } else { format!(", was {before}") },
    );
    Failure::new(FailureKind::Nondeterminism, process, message)
}
