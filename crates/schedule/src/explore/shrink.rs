//! Shorter stories: a failing schedule with fewer preemptions and steps that fails in the same way.
//!
//! **Implements** delta debugging (Zeller) on the turns of a schedule: pieces are left out, what cannot be done is
//! skipped, and the rest of the run goes on without preemptions. What fails with fewer preemptions, or with as many
//! and fewer turns, is kept.

use super::search::Explorer;
use super::{Options, bound};
use crate::program::{FailureKind, Program};
use crate::schedule::{Schedule, Turn};
use crate::set::Set;

/// At most so many runs are made to shrink a schedule.
const MAX_RUNS: usize = 2000;

/// A schedule that fails in the same way and is no longer; the same if none is found.
pub fn shrink<P: Program + ?Sized>(
    program: &mut P,
    options: &Options,
    schedule: &Schedule,
    kind: FailureKind,
) -> Schedule {
    let mut search = Explorer::new(program, options.clone());
    let mut left = MAX_RUNS;
    let mut attempt = |guide: &[Turn]| {
        left = left.checked_sub(1)?;
        let (turns, failure) = search.follow(guide);
        failure.filter(|failure| failure.kind == kind && !failure.is_limit).map(|_| turns)
    };
    let Some(mut best) = attempt(&schedule.0) else { return schedule.clone() };
    let mut piece = best.len().div_ceil(2);
    while piece > 0 {
        let mut from = 0;
        let mut improved = false;
        while from < best.len() {
            let mut guide = best.clone();
            guide.drain(from..(from + piece).min(guide.len()));
            match attempt(&guide) {
                Some(turns) if cost(&turns) < cost(&best) => {
                    best = turns;
                    improved = true;
                }
                _ => from += piece,
            }
        }
        piece = if improved { piece } else { piece / 2 };
    }
    Schedule(best)
}

/// Switches from one process to another, and then length.
fn cost(turns: &[Turn]) -> (usize, usize) {
    let switches = turns.windows(2).filter(|pair| pair[0].process != pair[1].process).count();
    (switches, turns.len())
}

impl<P: Program + ?Sized> Explorer<'_, P> {
    /// How many preemptions a schedule has.
    pub fn count_preemptions(&mut self, schedule: &Schedule) -> u32 {
        self.world.clear();
        self.program.reset(&mut self.world);
        let mut previous = None;
        let mut n = 0;
        for &turn in &schedule.0 {
            let enabled: Set = self.world.enabled().clone();
            n += u32::from(bound::is_preemption(previous, turn.process, &enabled));
            previous = Some(turn.process);
            if self.perform(turn).is_err() {
                return n;
            }
        }
        self.program.finish();
        n
    }
}
