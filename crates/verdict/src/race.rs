//! Whether to go on with a reduction: a race against a search without one.
//!
//! **Implements** the choice between two searches that give the same answers. Stubborn sets leave fewer states, but to choose one
//! takes as long as to go through dozens of states on keys, unless it is remembered. How much a reduction leaves shows early: the ratio of states at the
//! depth where a reduced search has found its first thousand is close to the ratio at the end (docs/measurements.md). So where a reduced
//! search is not over soon, one without reduction is made up to that depth. If it gets there with less work, it goes on;
//! and if it does not come to its end by far, the reduced one does.
//! **Preserves** every answer: each of the searches is a whole one, and what is claimed rests on the one that came to its end.
//! **Differs** from running both by turns in that nothing is left to chance: counts decide, and never a clock, so runs can be repeated.
//! **Checked by** `cli/tests/all/race.rs`, and by all comparisons of searches with and without reduction.

use stubborn_explore::{Stats, Stop, Watch};

/// What the work on a state is, in units of about five hundred instructions: of a search with a reduction, and of one without, both on keys. To
/// choose a set takes about one for each step of each process.
const REDUCED: u64 = 20;
const FULL: u64 = 8;

/// States of the reduced search after which its depth is noted.
const LAP: u64 = 1 << 10;

/// Work after which the reduced search stops for the race, if it is not over by then.
const MOST_WORK: u64 = 400_000;

/// How many times the work of the reduced search the other may take to come to its end.
const MOST_TIMES: u64 = 64;

/// A reduced search and one without reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Race {
    /// There is none, or it is over and the reduced search goes on.
    #[default]
    Off,
    /// The reduced search has come so far.
    Begun(Lap),
    /// The search without reduction goes on, with so many states at most.
    Full {
        /// States of the reduced search until then.
        states: u64,
        most: u64,
    },
}

/// How far the reduced search came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lap {
    /// What it had found when its depth was noted.
    early: u64,
    pub(crate) depth: u64,
    /// What it has found since, and what choosing took.
    states: u64,
    choosing: u64,
}

impl Lap {
    fn work(&self) -> u64 {
        self.states * REDUCED + self.choosing
    }

    /// States that a search without reduction may need to come to the same depth, if it is to take less work.
    pub(crate) fn most_states(&self) -> u64 {
        self.early * self.work() / (self.states * FULL).max(1)
    }

    /// A search without reduction has come to the same depth.
    pub(crate) fn lost(&self) -> Race {
        Race::Full { states: self.states, most: MOST_TIMES * self.work() / FULL }
    }
}

/// Watches a reduced search at its beginning.
pub(crate) struct Starter<'w> {
    pub(crate) watch: &'w mut dyn Watch,
    early: Option<(u64, u64)>,
}

impl<'w> Starter<'w> {
    pub(crate) fn new(watch: &'w mut dyn Watch) -> Self {
        Self { watch, early: None }
    }

    /// How far it came.
    pub(crate) fn lap(&self, stats: &Stats) -> Lap {
        let (early, depth) = self.early.unwrap_or((stats.states, stats.depth));
        Lap { early, depth, states: stats.states, choosing: stats.choosing }
    }
}

impl Watch for Starter<'_> {
    fn tick(&mut self, stats: &Stats) -> Option<Stop> {
        if self.early.is_none() && stats.states >= LAP {
            self.early = Some((stats.states, stats.depth));
        }
        let work = stats.states * REDUCED + stats.choosing;
        self.watch.tick(stats).or_else(|| (work > MOST_WORK).then_some(Stop::Work))
    }
}
