//! One run: the beginning that is repeated, the steps that are new, and the end.
//!
//! **Implements** VS's execution of a schedule. Every operation of a repeated beginning is compared with the one that was
//! done there before; from there on every step is an event of the trace, whose races are looked at.
//! **Differs from the text** in that a run which turns out to be a repetition can be driven to its end (some
//! programs cannot be left in the middle); a failure on the way is one all the same.
//! **Checked by** `tests/all/random_programs.rs`, and `crates/threads/tests/all/bad_input.rs` for what is not deterministic.

use super::node::Choice;
use super::search::Explorer;
use super::{Algorithm, Fault, Found, Why, optimal, sleep, source};
use crate::op::ProcessId;
use crate::program::{Failure, FailureKind, Program};
use crate::schedule::Turn;
use crate::set::Set;
use smallvec::SmallVec;

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

impl<P: Program + ?Sized> Explorer<'_, P> {
    /// Makes one run: what the nodes say, and then on to an end.
    pub(super) fn run(&mut self) -> Ended {
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
        self.program.repeat(self.trace.len().min(self.nodes.len()));
        self.program.reset(&mut self.world);
        if let Some(failure) = self.program.limit_of_reset() {
            return Err(failure);
        }
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
            let enabled = self.world.enabled().clone();
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
        let blocked: SmallVec<[ProcessId; 8]> = self.world.waiting().map(|(process, _)| process).collect();
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
            let enabled = self.world.enabled().clone();
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
            if self.trace.events()[depth].sequel != *self.world.sequel() {
                let now = format!("what belongs to it: {:?}", self.world.sequel());
                return Err(nondeterminism(depth, turn.process, &now, self.recorded(depth)));
            }
            self.note(Some(turn.process));
            return Ok(());
        }
        if *self.world.enabled() != self.nodes[depth].enabled {
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
        let Some((out, fails)) = self.world.perform(turn.process, turn.choice) else {
            return Err(nondeterminism(self.world.now as usize, turn.process, "nothing", String::new()));
        };
        self.stats.steps += 1;
        if fails {
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
        let after = (self.world.joined(turn.process).into(), self.world.woken(turn.process));
        let (out, effects) = self.world.execute(turn.process, &op, turn.choice);
        self.stats.steps += 1;
        let fails = op.fails;
        self.trace.push(&self.world, turn, op, (out, effects), after);
        if self.options.algorithm == Algorithm::Source {
            source::races(self, depth as u32);
        }
        if fails {
            return Err(Failure::new(FailureKind::Assertion, turn.process, "assertion violated"));
        }
        self.program.resume(turn.process, out, &mut self.world)?;
        if !self.world.sequel().is_empty() {
            self.trace.follow(self.world.sequel());
        }
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
    pub(super) fn repeat(&mut self) -> Option<Found> {
        self.world.clear();
        self.program.reset(&mut self.world);
        if let Some(failure) = self.program.limit_of_reset() {
            return Some(Found::of(failure, self.schedule()));
        }
        for depth in 0..self.nodes.len() {
            let turn = self.nodes[depth].turn;
            let op = self.world.pending(turn.process);
            if op != Some(&self.trace.events()[depth].op) {
                let now = op.map_or("nothing".to_owned(), |op| format!("{op:?}"));
                let failure = nondeterminism(depth, turn.process, &now, self.recorded(depth));
                return Some(Found::Failure(failure, self.schedule()));
            }
            if let Err(failure) = self.perform(turn) {
                return Some(Found::of(failure, self.schedule()));
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
}

pub(super) fn nondeterminism(depth: usize, process: ProcessId, now: &str, before: String) -> Failure {
    let message = format!(
        "the same schedule led to another operation: at step {} process {process} announced {now}{}",
        depth + 1,
        if before.is_empty() { String::new() } else { format!(", was {before}") },
    );
    Failure::new(FailureKind::Nondeterminism, process, message)
}
