//! Runs at random, for what is too big.
//!
//! **Implements** the uniform random walk: a process is chosen with a probability proportional to the number of
//! operations that it still has to do, as far as earlier runs tell; so all interleavings would be equally
//! likely if processes did the same in each.
//! **Preserves** nothing: without a failure the result is inconclusive.

use super::run::End;
use super::search::Explorer;
use super::{Found, Why};
use crate::op::ProcessId;
use crate::program::{Failure, FailureKind, Program};
use crate::schedule::{Schedule, Turn};
use crate::set::Set;

/// Numbers that look random (xorshift64*).
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `n`, which is not zero.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let random = u128::from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D));
        ((random * u128::from(n)) >> 64) as u64
    }
}

/// What runs at random remember of each other.
struct Walk {
    random: Random,
    /// Per process, the most operations that it had in a run.
    lengths: Vec<u64>,
    /// How many of these are left in this run.
    left: Vec<u64>,
    turns: Vec<Turn>,
}

impl Walk {
    fn begin(&mut self) {
        self.turns.clear();
        self.left.clone_from(&self.lengths);
    }

    #[inline]
    fn left(&self, process: u32) -> u64 {
        self.left[process as usize].max(1)
    }

    /// Somebody who can move.
    #[inline]
    fn choose(&mut self, enabled: &Set) -> Option<ProcessId> {
        if let Some(only) = enabled.only() {
            return Some(only);
        }
        let total: u64 = enabled.iter().map(|process| self.left(process)).sum();
        if total == 0 {
            return None;
        }
        let mut rest = self.random.below(total);
        for process in enabled.iter() {
            let left = self.left(process);
            if rest < left {
                return Some(process);
            }
            rest -= left;
        }
        None
    }

    fn note(&mut self, turn: Turn) {
        let i = turn.process as usize;
        // Whoever has more to do than ever before has had that many.
        self.lengths[i] += u64::from(self.left[i] == 0);
        self.left[i] = self.left[i].saturating_sub(1);
        self.turns.push(turn);
    }
}

impl<P: Program + ?Sized> Explorer<'_, P> {
    pub(super) fn explore_at_random(&mut self, seed: u64) -> Found {
        let random = Random::new(seed);
        let mut walk = Walk { random, lengths: Vec::new(), left: Vec::new(), turns: Vec::new() };
        loop {
            if let Some(why) = self.limit() {
                return Found::Inconclusive(if why == Why::Stopped { why } else { Why::Random });
            }
            let failure = self.random_run(&mut walk);
            self.stats.runs += 1;
            self.stats.longest = self.stats.longest.max(walk.turns.len());
            match failure {
                Some(failure) if failure.is_limit => {
                    return Found::Inconclusive(Why::Program(failure.message));
                }
                Some(failure) => return Found::Failure(failure, Schedule(walk.turns)),
                None => {}
            }
        }
    }

    fn random_run(&mut self, walk: &mut Walk) -> Option<Failure> {
        self.world.clear();
        self.program.reset(&mut self.world);
        walk.begin();
        while walk.turns.len() < self.options.max_steps {
            let n = self.world.n_processes() as usize;
            if n > walk.lengths.len() {
                walk.lengths.resize(n, 1);
                walk.left.resize(n, 1);
            }
            let Some(process) = walk.choose(self.world.enabled()) else {
                let failure = (self.end() == End::Deadlock).then(|| self.deadlock());
                self.program.finish();
                return failure;
            };
            let choices = self.world.pending(process).map_or(1, |op| self.world.choices(op));
            let choice = if choices > 1 { walk.random.below(u64::from(choices)) as u32 } else { 0 };
            let turn = Turn { process, choice };
            walk.note(turn);
            if let Err(failure) = self.perform(turn) {
                return Some(failure);
            }
        }
        self.stats.cut += 1;
        self.program.finish();
        None
    }

    /// Follows a schedule as far as it goes (turns that cannot be taken are skipped), and then on to an end with as
    /// few preemptions as possible. Gives what was done, and the failure.
    pub(super) fn follow(&mut self, guide: &[Turn]) -> (Vec<Turn>, Option<Failure>) {
        self.world.clear();
        self.program.reset(&mut self.world);
        let mut turns: Vec<Turn> = Vec::new();
        let mut guide = guide.iter();
        while turns.len() < self.options.max_steps {
            let enabled = self.world.enabled();
            let guided = guide.by_ref().find(|turn| enabled.contains(turn.process)).copied();
            let last = turns.last().map(|turn| turn.process).filter(|&last| enabled.contains(last));
            let free = last.or(enabled.first()).map(|process| Turn { process, choice: 0 });
            let Some(mut turn) = guided.or(free) else {
                let failure = (self.end() == End::Deadlock).then(|| self.deadlock());
                self.program.finish();
                return (turns, failure);
            };
            let choices = self.world.pending(turn.process).map_or(1, |op| self.world.choices(op));
            turn.choice = turn.choice.min(choices - 1);
            turns.push(turn);
            if let Err(failure) = self.perform(turn) {
                return (turns, Some(failure));
            }
        }
        self.program.finish();
        (turns, None)
    }

    /// Runs a schedule as it is, and on to an end if it does not say how.
    pub fn replay(&mut self, schedule: &Schedule) -> (Schedule, Option<Failure>) {
        let (turns, failure) = self.follow(&schedule.0);
        let strays = turns.len() < schedule.0.len() || turns[..schedule.0.len()] != schedule.0[..];
        let failure = match failure {
            None if strays => Some(Failure {
                kind: FailureKind::Nondeterminism,
                process: None,
                message: "the schedule cannot be followed: the program is not the one it was made for"
                    .to_owned(),
                is_limit: false,
            }),
            failure => failure,
        };
        (Schedule(turns), failure)
    }
}
