//! Runs at random, for what is too big.
//!
//! **Implements** the uniform random walk: a process is chosen with a probability proportional to the number of
//! operations that it still has to do, as far as earlier runs tell; so all interleavings would be equally
//! likely if processes did the same in each.
//! **Preserves** nothing: without a failure the result is inconclusive.

use super::search::{End, Explorer};
use super::{Found, Why};
use crate::program::{Failure, FailureKind, Program};
use crate::schedule::{Schedule, Turn};

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
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) % n
    }
}

impl<P: Program + ?Sized> Explorer<'_, P> {
    pub(super) fn explore_at_random(&mut self, seed: u64) -> Found {
        let mut random = Random::new(seed);
        let mut lengths: Vec<u64> = Vec::new();
        loop {
            if let Some(why) = self.limit() {
                return Found::Inconclusive(if why == Why::Stopped { why } else { Why::Random });
            }
            let (turns, failure) = self.random_run(&mut random, &mut lengths);
            self.stats.runs += 1;
            self.stats.longest = self.stats.longest.max(turns.len());
            match failure {
                Some(failure) if failure.is_limit => {
                    return Found::Inconclusive(Why::Program(failure.message));
                }
                Some(failure) => return Found::Failure(failure, Schedule(turns)),
                None => {}
            }
        }
    }

    fn random_run(&mut self, random: &mut Random, lengths: &mut Vec<u64>) -> (Vec<Turn>, Option<Failure>) {
        self.world.clear();
        self.program.reset(&mut self.world);
        let mut turns: Vec<Turn> = Vec::new();
        let mut steps: Vec<u64> = Vec::new();
        while turns.len() < self.options.max_steps {
            let enabled = self.world.enabled();
            let n = self.world.n_processes() as usize;
            steps.resize(n.max(steps.len()), 0);
            lengths.resize(n.max(lengths.len()), 1);
            let left = |p: u32| lengths[p as usize].saturating_sub(steps[p as usize]).max(1);
            let total: u64 = enabled.iter().map(left).sum();
            if total == 0 {
                let failure = (self.end() == End::Deadlock).then(|| self.deadlock());
                self.program.finish();
                return (turns, failure);
            }
            let mut rest = random.below(total);
            let chosen = enabled.iter().find(|&p| match rest.checked_sub(left(p)) {
                Some(less) => {
                    rest = less;
                    false
                }
                None => true,
            });
            let process = chosen.or(enabled.first()).unwrap_or(0);
            let choices = self.world.pending(process).map_or(1, |op| self.world.choices(op));
            let turn = Turn { process, choice: random.below(u64::from(choices.max(1))) as u32 };
            steps[process as usize] += 1;
            lengths[process as usize] = lengths[process as usize].max(steps[process as usize]);
            turns.push(turn);
            if let Err(failure) = self.perform(turn) {
                return (turns, Some(failure));
            }
        }
        self.stats.cut += 1;
        self.program.finish();
        (turns, None)
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
