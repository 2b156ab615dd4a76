//! Whether to go on with a reduction: a race against a search without one.
//!
//! **Implements** the choice between two searches that give the same answers. Stubborn sets leave fewer states, but to recall one
//! takes as long as to go through several states on keys, and to choose one as long as dozens. How much a reduction leaves shows early: the ratio of states at the
//! depth where a reduced search has found its first thousand is close to the ratio at the end (docs/measurements.md). So where a reduced
//! search is not over soon, one without reduction begins. If it gets to that depth with less work, it goes on, and else it ends there; and if it does not come to
//! its end with many times that work, the two take turns, each time with more. Where sets are chosen by rules, nothing is remembered without keys: so the reduced search that is held against the other one is
//! made on keys, to the end of its work, since the ratio goes on growing there (the token ring of the gallery).
//! **Preserves** every answer: each of the searches is a whole one, and what is claimed rests on the one that came to its end.
//! **Differs** from running both by turns in that nothing is left to chance: counts decide, and never a clock, so runs can be repeated.
//! **Checked by** `oracle/tests/all/promela_reductions.rs`, where random models are searched with turns of a few states and compared with brute force, and by
//! `cli/tests/all/race.rs`; sets by rules in `oracle/tests/all/told.rs`.

use stubborn_explore::{Stats, Stop, Watch};

/// What the work on a state is, of a search with a reduction, and of one without, both on keys, when what processes do is known and the choice is remembered. To choose a set that is not remembered takes about one for each step of each process.
/// (A unit is about thirty nanoseconds, or two hundred instructions: see docs/measurements.md.)
const REDUCED: u64 = 14;
const FULL: u64 = 4;

/// The same of a reduced search whose sets are chosen by rules and not by tables: these are recalled by fewer answers.
const BY_RULES: u64 = 10;

/// When a reduced search is held against one without reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RaceRules {
    /// The work on a state of the reduced search, but for what choosing takes.
    pub reduced: u64,
    /// Whether the reduced search that is held against the other one is on keys: where nothing is remembered without them.
    pub on_keys: bool,
    /// States of the reduced search after which its depth is noted.
    pub lap: u64,
    /// Work after which it stops for the race, if it is not over by then. (Searches for rejections stop at the lap.)
    pub most_work: u64,
    /// How many times the work until then the search that goes on may take to come to its end.
    pub first_turn: u64,
    /// How many times as much it has at its next turn.
    pub next_turn: u64,
}

impl Default for RaceRules {
    fn default() -> Self {
        let (reduced, on_keys) = (REDUCED, false);
        Self { reduced, on_keys, lap: 1 << 10, most_work: 1 << 19, first_turn: 256, next_turn: 8 }
    }
}

impl RaceRules {
    /// For sets that are chosen by the rules of a system.
    pub fn by_rules() -> Self {
        Self { reduced: BY_RULES, on_keys: true, lap: u64::MAX, most_work: 1 << 18, ..Self::default() }
    }

    fn work(&self, stats: &Stats) -> u64 {
        stats.states * self.reduced + stats.choosing
    }
}

impl RaceRules {
    /// Rules for rejections. The search without reduction need not begin again after a turn, so turns may be short.
    pub fn of_rejections() -> Self {
        Self { first_turn: 32, next_turn: 4, ..Self::default() }
    }
}

/// A reduced search and one without reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Race {
    /// There is none, or it is over and the reduced search goes on.
    #[default]
    Off,
    /// The reduced search begins.
    Announced(RaceRules),
    /// The reduced search has come so far.
    Begun(Lap),
    /// The search without reduction goes on.
    Full(Turn),
    /// The reduced search has its turn.
    Reduced(Turn),
}

/// A search that goes on for some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// States of the reduced search at the race.
    pub(crate) states: u64,
    /// Work that may be done.
    work: u64,
    rules: RaceRules,
}

impl Turn {
    /// States that a search without reduction may find.
    pub(crate) fn most_states(&self) -> u64 {
        self.work / FULL
    }

    /// The search without reduction has its turn again.
    pub(crate) fn next(&self) -> Race {
        Race::Full(Self { work: self.work.saturating_mul(self.rules.next_turn), ..*self })
    }
}

/// How far the reduced search came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lap {
    /// What it had found when its depth was noted.
    early: u64,
    pub(crate) depth: u64,
    /// What it has found since, and the work on that.
    states: u64,
    work: u64,
    rules: RaceRules,
}

impl Lap {
    /// States that a search without reduction may need to come to the same depth, if it is to take less work.
    fn most_states(&self) -> u64 {
        self.early * self.work / (self.states * FULL).max(1)
    }

    /// Whether a search without reduction has come to the same depth. The reduced one had found some of its last level only.
    pub(crate) fn is_reached(&self, stats: &Stats) -> bool {
        stats.depth + 1 >= self.depth
    }

    /// What a search without reduction may do that comes to the same depth with less work.
    pub(crate) fn turn(&self) -> Turn {
        let work = self.rules.first_turn.saturating_mul(self.work);
        Turn { states: self.states, work, rules: self.rules }
    }
}

/// Watches a search without reduction, which ends where it is clear that it is more work.
pub(crate) struct Rival<'w> {
    watch: &'w mut dyn Watch,
    lap: Lap,
    /// Whether it ends where it is clear that it is less work, too.
    is_short: bool,
}

impl<'w> Rival<'w> {
    pub(crate) fn new(watch: &'w mut dyn Watch, lap: Lap, is_short: bool) -> Self {
        Self { watch, lap, is_short }
    }
}

impl Watch for Rival<'_> {
    fn tick(&mut self, stats: &Stats) -> Option<Stop> {
        let Self { watch, lap, is_short } = self;
        let is_over = if lap.is_reached(stats) { *is_short } else { stats.states >= lap.most_states() };
        watch.tick(stats).or_else(|| is_over.then_some(Stop::Work))
    }
}

/// Watches how far a reduced search comes with the work that it may do.
pub(crate) struct Starter<'w> {
    watch: &'w mut dyn Watch,
    rules: RaceRules,
    early: Option<(u64, u64)>,
}

impl<'w> Starter<'w> {
    /// `race`: if it is not that of a race, there is no end to the work.
    pub(crate) fn new(watch: &'w mut dyn Watch, race: Race) -> Self {
        let rules = match race {
            Race::Announced(rules) => rules,
            Race::Reduced(Turn { work, rules, .. }) => RaceRules { lap: u64::MAX, most_work: work, ..rules },
            _ => RaceRules { lap: u64::MAX, most_work: u64::MAX, ..RaceRules::default() },
        };
        Self { watch, rules, early: None }
    }

    /// How far it came.
    pub(crate) fn lap(&self, stats: &Stats) -> Lap {
        let (early, depth) = self.early.unwrap_or((stats.states, stats.depth));
        Lap { early, depth, states: stats.states, work: self.rules.work(stats), rules: self.rules }
    }
}

impl Watch for Starter<'_> {
    fn tick(&mut self, stats: &Stats) -> Option<Stop> {
        if self.early.is_none() && stats.states >= self.rules.lap {
            self.early = Some((stats.states, stats.depth));
        }
        let is_over = self.rules.work(stats) > self.rules.most_work;
        self.watch.tick(stats).or_else(|| is_over.then_some(Stop::Work))
    }
}
