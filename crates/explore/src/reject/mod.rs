//! On-the-fly search for wrong cycles: livelocks and infinite traces.
//!
//! Both searches are depth-first on an explicit stack, mark states with colours ([`Marks`]), and so run
//! with any store: with one that may omit states, what is found is real, but not everything may be found. Where there
//! is a livelock, a third search finds the nearest.

mod infinite;
mod livelock;
mod marks;
mod nearest;
mod walk;

pub use infinite::infinite_trace;
pub use livelock::livelock;
pub use marks::Marks;
pub use nearest::{NearestJob, nearest_livelock};

use crate::run::no_room;
use crate::{End, Found, Limits, Stats, Stop, Visitor, Watch};
use stubborn_reduce::Reduction;
use stubborn_system::{Fault, System, TransitionId};

/// What to search, how, and within which limits.
pub struct CycleJob<'a, Y: System + ?Sized> {
    /// The system.
    pub system: &'a Y,
    /// What to fire in each state; a function of the state.
    pub reduction: &'a mut dyn Reduction<Y>,
    /// Marks states; empty.
    pub marks: &'a mut Marks<Y::State>,
    /// Whether the condition holds in a state.
    pub condition: &'a dyn Fn(&Y::State) -> bool,
    /// Whether the guard of the condition takes part in a transition.
    pub takes_part: &'a dyn Fn(TransitionId) -> bool,
    /// Who looks at states as they are found, and at those that are terminal.
    pub visitor: &'a mut dyn Visitor<Y::State>,
    /// Who looks at the clock.
    pub watch: &'a mut dyn Watch,
    /// When to give up.
    pub limits: Limits,
}

/// A run that repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The transitions.
    pub steps: Vec<TransitionId>,
    /// The number of the state from which on they repeat.
    pub start: usize,
}

/// What a search found.
#[derive(Debug)]
pub struct CycleOutcome {
    /// How it ended; `Sighted` if there is a cycle or a sighting.
    pub end: End,
    /// Its numbers.
    pub stats: Stats,
    /// The cycle.
    pub cycle: Option<Cycle>,
    /// What the visitor saw.
    pub found: Option<Found>,
}

/// Why a search does not go on.
enum Halt {
    Cycle(Cycle),
    Found(Found),
    Stop(Stop),
    Fault(Fault),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A search under way: the job, and what both searches do with it.
struct Search<'a, Y: System + ?Sized> {
    job: CycleJob<'a, Y>,
    stats: Stats,
    /// The amount of work at which the watch is looked at next.
    next_tick: u64,
}

/// States and transitions between two looks at the watch.
const TICK: u64 = 1024;

impl<'a, Y: System + ?Sized> Search<'a, Y> {
    fn new(job: CycleJob<'a, Y>) -> Self {
        Self { job, stats: Stats::default(), next_tick: 0 }
    }

    /// Marks a state with a colour; whether it did not have it. `others` is the memory of the search itself.
    fn mark(&mut self, state: &Y::State, colour: u8, others: usize) -> Result<bool, Halt> {
        let limit = self.job.limits.bytes;
        let used = self.job.marks.bytes() + others;
        self.stats.peak_bytes = self.stats.peak_bytes.max(used);
        if used > limit {
            return Err(Halt::Stop(Stop::Memory { limit, needed: used - limit }));
        }
        let marked = self.job.marks.mark(state, colour, limit - used);
        marked.map_err(|full| Halt::Stop(no_room(&full, limit)))
    }

    /// Counts a state that was found.
    fn count(&mut self) -> Result<(), Halt> {
        if self.stats.states == self.job.limits.states {
            return Err(Halt::Stop(Stop::States { limit: self.job.limits.states }));
        }
        self.stats.states += 1;
        let work = self.stats.states + self.stats.edges;
        if work >= self.next_tick {
            self.next_tick = work + TICK;
            if let Some(stop) = self.job.watch.tick(&self.stats) {
                return Err(Halt::Stop(stop));
            }
        }
        Ok(())
    }

    /// Closes the books; `path` leads to the state in hand.
    fn finish(self, result: Result<(), Halt>, path: Vec<TransitionId>) -> CycleOutcome {
        let (mut cycle, mut found) = (None, None);
        let end = match result {
            Ok(()) => End::Complete,
            Err(Halt::Cycle(wrong)) => {
                cycle = Some(wrong);
                End::Sighted
            }
            Err(Halt::Found(wrong)) => {
                found = Some(wrong);
                End::Sighted
            }
            Err(Halt::Stop(stop)) => End::Stopped(stop),
            Err(Halt::Fault(fault)) => End::Fault(fault, path),
        };
        CycleOutcome { end, stats: self.stats, cycle, found }
    }
}
