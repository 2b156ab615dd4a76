//! Rejections of states and deadlocks: one search without reduction for all of them, or reduced ones for each.
//!
//! **Implements** the choice between two ways to the same answers. Without reduction one search on keys answers for all wrong states
//! and deadlocks at once; with reduction there is one for the deadlocks and one for each wrong state, and to choose a set takes as
//! long as to go through several states. So the search without reduction begins. If it is not over soon, the
//! reduced ones have a short turn, a *lap*, and the depth to which it leads is noted. If the other search comes to that depth with less work than
//! it would be for all reduced ones that are left, it goes on for long, and else these do. Whoever was wrong about that does not lose much: the
//! search without reduction stands still where it is looked at while the reduced ones have a turn, and each turn is several times as
//! long as the last.
//! **Preserves** every answer: each rests on a whole search that came to its end. What was not over at the end of a turn is
//! forgotten; what was answered in one is not asked again.
//! **Differs** from the race of models ([`race`](crate::race)) in that neither search has to begin again for the sake of
//! the other, but for the reduced one in hand. Counts decide here, too, and never a clock.
//! **Checked by** `oracle/tests/all/testers.rs`, where random networks are searched with turns of a few states and compared with brute
//! force, and by `cli/tests/all/lts_race.rs`.

use crate::attempts::is_on_keys;
use crate::phase::Overtaken;
use crate::rejection_engine::StateSearch;
use crate::rejections::{Check, Sets};
use crate::{Broken, Options, RaceRules, SearchKind};
use stubborn_explore::{End, Limits, Stats, Stop, Watch};
use stubborn_system::Rejecting;

/// The work on a state of a reduced search, of one on keys without reduction, and of one on the system's states. (A unit is
/// about 0.15 microseconds: see docs/measurements.md.)
const REDUCED: u64 = 9;
const ON_KEYS: u64 = 1;
const ON_STATES: u64 = 3;

/// How many laps' states the search without reduction may find before anything else is tried. On keys that is half of the work of a lap.
const HEAD_START: u64 = 4;

/// Of a search without reduction that is held for the faster one, the share of its work that is done for the reduced ones.
const SHARE: u64 = 8;

/// What the reduced searches did in a turn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Played {
    /// Searches that are left, with the one that was cut.
    left: u64,
    /// Which one was cut.
    reduction: String,
    /// What it had found, and the depth to which that leads.
    states: u64,
    depth: u64,
    /// States of the largest one that was over.
    largest: u64,
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The lap, when the search without reduction has found so many states.
    HeadStart,
    /// It goes on until it has come so deep, or has found so many states.
    Compare { depth: u64, states: u64 },
    /// When it has found `due` states, the reduced searches may find `states`. Who was ahead after the lap has longer turns.
    Turns { due: u64, states: u64, is_reduced_ahead: bool },
}

/// Whose turn it is.
#[derive(Clone, Debug)]
struct Turns {
    rules: RaceRules,
    /// States without reduction that are as much work as one with.
    price: u64,
    stage: Stage,
    overtaken: Option<Overtaken>,
}

impl Turns {
    fn new(rules: RaceRules, is_on_keys: bool) -> Self {
        let price = REDUCED / if is_on_keys { ON_KEYS } else { ON_STATES };
        Self { rules, price, stage: Stage::HeadStart, overtaken: None }
    }

    /// How many states the reduced searches may find now, if it is their turn. `stats` are those of the search without reduction.
    fn due(&mut self, stats: &Stats) -> Option<u64> {
        let lap = self.rules.lap;
        let long = self.rules.first_turn.saturating_mul(lap);
        match self.stage {
            Stage::HeadStart => (stats.states >= lap.saturating_mul(HEAD_START)).then_some(lap),
            // A search that was cut had found some of its last level only.
            Stage::Compare { depth, .. } if stats.depth + 1 >= depth => {
                let due = long.saturating_mul(self.price).max(stats.states + 1);
                let states = (long / SHARE).max(1);
                self.stage = Stage::Turns { due, states, is_reduced_ahead: false };
                None
            }
            Stage::Compare { states, .. } if stats.states >= states => {
                self.stage = Stage::Turns { due: stats.states, states: long, is_reduced_ahead: true };
                Some(long)
            }
            Stage::Compare { .. } => None,
            Stage::Turns { due, states, .. } => (stats.states >= due).then_some(states),
        }
    }

    /// The reduced searches had their turn, and are not all over.
    fn played(&mut self, played: Played) {
        let growth = self.rules.next_turn;
        self.stage = match self.stage {
            Stage::Turns { due, states, is_reduced_ahead } => {
                let same_work = states.saturating_mul(self.price);
                let due = if is_reduced_ahead { same_work } else { due.saturating_mul(growth) };
                Stage::Turns { due, states: states.saturating_mul(growth), is_reduced_ahead }
            }
            _ => self.compare(&played),
        };
        let Played { reduction, states, .. } = played;
        self.overtaken.get_or_insert(Overtaken { reduction, states });
    }

    /// What the search without reduction may find if it is to be less work. Where little is known of a search, those that are over say how
    /// large it may become.
    fn compare(&self, played: &Played) -> Stage {
        let is_known = played.states >= played.largest;
        let (depth, each) = if is_known { (played.depth, played.states) } else { (u64::MAX, played.largest) };
        Stage::Compare { depth, states: each.saturating_mul(played.left).saturating_mul(self.price) }
    }
}

/// Watches the search without reduction, and lets the reduced ones have their turns.
struct Rival<'c, 'a, Y: Rejecting + ?Sized> {
    check: &'c mut Check<'a, Y>,
    turns: Turns,
    broken: Option<Box<Broken>>,
}

impl<Y: Rejecting + ?Sized> Watch for Rival<'_, '_, Y> {
    fn tick(&mut self, stats: &Stats) -> Option<Stop> {
        if let Some(stop) = self.check.watch.tick(stats) {
            return Some(stop);
        }
        let states = self.turns.due(stats)?;
        match self.check.reduced_turn(states, stats.peak_bytes) {
            Ok(TurnEnd::Over) => Some(Stop::Work),
            Ok(TurnEnd::Stopped(stop)) => Some(stop),
            Ok(TurnEnd::Cut(played)) => {
                self.turns.played(played);
                None
            }
            Err(broken) => {
                self.broken = Some(broken);
                Some(Stop::Work)
            }
        }
    }
}

/// How a turn of the reduced searches ended.
enum TurnEnd {
    /// There is nothing left to answer.
    Over,
    /// The user does not want to go on.
    Stopped(Stop),
    /// With a search that was not over.
    Cut(Played),
}

impl<Y: Rejecting + ?Sized> Check<'_, Y> {
    /// Answers for wrong states and deadlocks by whoever comes first.
    pub(crate) fn race(&mut self, rules: RaceRules) -> Result<(), Box<Broken>> {
        let (system, options) = (self.system, self.options);
        let open = self.open_states();
        if open.is_empty() {
            return Ok(());
        }
        let mut sets = Sets::full();
        let turns = Turns::new(rules, is_on_keys(system, options));
        let mut rival = Rival { check: self, turns, broken: None };
        let reduction = &mut *sets.reduction;
        let found = StateSearch { system, reduction, open: &open, options, watch: &mut rival }.run();
        let Rival { turns, broken, .. } = rival;
        if let Some(broken) = broken {
            return Err(broken);
        }
        if self.is_over() || self.open_states().is_empty() {
            return Ok(());
        }
        match found {
            Ok(found) if is_useful(&found.outcome.end) => {
                self.settle(&open, found, &sets, turns.overtaken)?;
                self.full_states()
            }
            // There are too many states: there may be room for fewer.
            _ => self.reduced_states(),
        }
    }

    /// The reduced searches that are left may find so many states, all told; `bytes` are taken.
    fn reduced_turn(&mut self, states: u64, bytes: usize) -> Result<TurnEnd, Box<Broken>> {
        let mut played = Played::default();
        let all = self.options.limits;
        let mut left = states;
        while let Some((open, mut sets)) = self.next_reduced().filter(|_| !self.is_over()) {
            let limits = Limits { states: all.states.min(left), bytes: all.bytes.saturating_sub(bytes) };
            let options = Options { limits, ..self.options.clone() };
            let found = match self.search(&open, &mut sets, &options) {
                Ok(found) if is_useful(&found.outcome.end) => found,
                cut => {
                    let stats = cut.map(|found| found.outcome.stats).unwrap_or_default();
                    played.reduction = sets.reduction.name();
                    (played.states, played.depth) = (stats.states, stats.depth);
                    played.left = self.n_reduced();
                    return Ok(TurnEnd::Cut(played));
                }
            };
            if let End::Stopped(stop) = found.outcome.end {
                return Ok(TurnEnd::Stopped(stop));
            }
            let n = found.outcome.stats.states;
            played.largest = played.largest.max(n);
            left = left.saturating_sub(n);
            self.settle(&open, found, &sets, None)?;
        }
        Ok(TurnEnd::Over)
    }
}

/// Whether a search ended like this has answers, or shall have none because the user does not want them any more.
fn is_useful(end: &End) -> bool {
    !matches!(end, End::Stopped(stop) if !stop.is_by_user())
}

/// Whether there are two ways to the same answers.
pub(crate) fn may_race(options: &Options) -> Option<RaceRules> {
    let is_simple = options.search == SearchKind::BreadthFirst && options.store.is_exact();
    options.race.filter(|_| is_simple)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a race in which the search without reduction has `full` states, the reduced one `reduced`, and at the depth of the lap the first
    /// has `early`. Gives the work, who came to the end, and how often the reduced one had a turn.
    fn play(full: u64, reduced: u64, early: u64) -> (u64, &'static str, usize) {
        const DEPTH: u64 = 10;
        let mut turns = Turns::new(RaceRules::of_rejections(), true);
        let (mut work, mut n_turns) = (0, 0);
        for states in 1..=full {
            let depth = if states >= early { DEPTH } else { 0 };
            while let Some(turn) = turns.due(&Stats { states, depth, ..Stats::default() }) {
                n_turns += 1;
                work += turn.min(reduced) * REDUCED;
                if reduced < turn {
                    return (work + states, "reduced", n_turns);
                }
                turns.played(Played { left: 1, states: turn, depth: DEPTH, ..Played::default() });
            }
        }
        (work + full, "full", n_turns)
    }

    #[test]
    fn who_is_ahead_at_the_lap_goes_on() {
        // Nine times as many states are the same work.
        let lap = RaceRules::of_rejections().lap;
        assert_eq!(play(200_000, 100_000, lap * 8), (200_000 + lap * REDUCED, "full", 1));
        let early = lap * 10;
        assert_eq!(play(200_000, 20_000, early), (lap * 9 + (lap + 20_000) * REDUCED, "reduced", 2));
    }

    #[test]
    fn what_is_small_is_not_raced() {
        assert_eq!(play(4_000, 100, 100), (4_000, "full", 0));
    }

    #[test]
    fn a_wrong_guess_costs_no_more_than_some_times_the_work() {
        for early in [2_000, 200_000, u64::MAX] {
            for full in (10..23).map(|n| 1 << n) {
                for reduced in (6..20).map(|n| 1 << n) {
                    let (work, _, _) = play(full, reduced, early);
                    let least = full.min((reduced * REDUCED).max(4_096));
                    assert!(work <= 48 * least, "{full} {reduced} {early}: {work} for {least}");
                    // Who is ahead at first and is right about it loses little.
                    let is_ahead = early < 9_000 && full < reduced * REDUCED;
                    assert!(
                        !is_ahead || work * 4 <= full * 5 + 4 * 9_216,
                        "{full} {reduced} {early}: {work}"
                    );
                }
            }
        }
    }
}
