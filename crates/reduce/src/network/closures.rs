//! Closures of nodes under what a situation requires.
//!
//! **Implements** the closures that the algorithms of [`algorithms`](super::algorithms) compare: of one enabled node, of
//! everything that may fail, of everything that leads towards a goal. Of several alternatives the one is taken that
//! costs least where it is needed first.
//! **Preserves** D0, D1, D2 wherever a closure has an enabled node.
//! **Differs from the text** in that nodes that are not live count as members until the closure is done: so they cost
//! nothing and bring nothing.
//! **Checked by** the definition, per state and algorithm, and by the campaign.

use super::cheapest::{Cheapest, count};
use super::elsewhere::elsewhere;
use super::nodes::{
    Block, WIDTH, Words, add, block_of, blocks, blocks_of, contains, copy, insert, intersection, is_within,
    reset, unite,
};
use super::situation::{Chooser, Situation};
use fixedbitset::FixedBitSet;

/// What to do about disabled nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Disabled {
    Everything,
    Process,
    Necessary,
}

/// When a closure is given up.
#[derive(Clone, Copy)]
enum Limit {
    Never,
    /// Once it has so many enabled nodes.
    Enabled(usize),
    /// Once it has more than one, and all that are enabled.
    Everything,
}

impl Limit {
    fn is_reached(self, situation: &Situation<'_, '_>, n_enabled: usize) -> bool {
        match self {
            Limit::Never => false,
            Limit::Enabled(most) => n_enabled >= most,
            Limit::Everything => n_enabled != 1 && !situation.are_more_than(n_enabled),
        }
    }
}

/// One enabled node of each process that has one, the youngest first.
pub(super) fn seeds<'s>(situation: &'s Situation<'_, '_>) -> impl Iterator<Item = usize> + 's {
    (0..situation.n_processes()).rev().filter_map(|pid| situation.seed(pid))
}

/// Makes closures; kept from state to state, so that nothing is allocated.
#[derive(Default)]
pub(super) struct Closures {
    closure: Closure,
    best: Words,
    /// Seeds whose closures were made.
    closed: Words,
}

impl Closures {
    /// The smallest closure of a seed, in enabled nodes. `None` means everything. No more is asked than it takes: at least two
    /// processes can do something, so one node is less than everything.
    pub(super) fn smallest(
        &mut self,
        situation: &Situation<'_, '_>,
        disabled: Disabled,
    ) -> Option<FixedBitSet> {
        let mut best_size = None;
        if disabled == Disabled::Necessary {
            // What is independent whatever the state is found at once.
            for pid in situation.apart() {
                let current = situation.current(pid);
                let size = situation.enabled().count_ones(current.clone());
                // Others can do something, too.
                if best_size.is_none_or(|best_size| size < best_size) {
                    best_size = Some(size);
                    reset(&mut self.best, situation.n_nodes());
                    blocks_of(current).for_each(|block| add(&mut self.best, &[block]));
                }
                if size == 1 {
                    break;
                }
            }
        }
        let mut seeds = seeds(situation);
        reset(&mut self.closed, situation.n_nodes());
        while best_size != Some(1) {
            let Some(seed) = seeds.next() else { break };
            let limit = best_size.map_or(Limit::Everything, Limit::Enabled);
            // What has a seed whose closure is not the smallest is not it, either; nor what has the seed of the smallest so far.
            if self.closure.close_without(situation, &[seed], disabled, limit, &self.closed) {
                best_size = Some(self.closure.n_enabled);
                std::mem::swap(&mut self.best, &mut self.closure.set);
            }
            insert(&mut self.closed, seed);
        }
        best_size.map(|_| intersection(&self.best, &situation.live))
    }

    /// The smallest closure that has an invisible node if one is enabled: without any visible one if possible (I).
    pub(super) fn for_runs(&mut self, situation: &Situation<'_, '_>) -> Option<FixedBitSet> {
        let visible = situation.population().visible.clone();
        let is_visible = |n: &usize| visible.contains(*n);
        let n_enabled = situation.enabled().count_ones(..);
        let has_invisible =
            |set: &Words| intersection(set, situation.enabled()).ones().any(|n| !is_visible(&n));
        let must_have_invisible = situation.enabled().ones().any(|n| !is_visible(&n));
        let mut best: Option<FixedBitSet> = None;
        let mut best_size = n_enabled;
        for seed in seeds(situation) {
            let limit = Limit::Enabled(best_size);
            self.closure.close(situation, &[seed], Disabled::Necessary, limit);
            let size = self.closure.n_enabled;
            if size < best_size && (!must_have_invisible || has_invisible(&self.closure.set)) {
                (best, best_size) = (Some(self.closure.live_set(situation)), size);
            }
        }
        best
    }

    /// Whatever may bring a goal about, closed. `None` means everything: something in it may change what is to be kept.
    pub(super) fn towards(&mut self, situation: &Situation<'_, '_>) -> Option<FixedBitSet> {
        let goals: Vec<usize> = situation.live.ones().filter(|&n| !situation.is_step(n)).collect();
        let set = self.close(situation, &goals);
        let population = situation.population();
        let keeps = set.intersection(situation.enabled()).all(|n| !population.changing.contains(n));
        keeps.then_some(set)
    }

    /// Everything that may fail, closed; and an enabled node.
    pub(super) fn up_set(&mut self, situation: &Situation<'_, '_>) -> FixedBitSet {
        let may_fail = |&n: &usize| !situation.is_step(n) || situation.population().may_fail(n);
        let mut failing: Vec<usize> = situation.live.ones().filter(may_fail).collect();
        let set = self.close(situation, &failing);
        if set.intersection(situation.enabled()).next().is_some() {
            return set;
        }
        let closures = seeds(situation).map(|seed| {
            failing.push(seed);
            let set = self.close(situation, &failing);
            failing.pop();
            set
        });
        closures.min_by_key(|set| set.intersection_count(situation.enabled())).unwrap_or(set)
    }

    /// The closure of some nodes.
    pub(super) fn close(&mut self, situation: &Situation<'_, '_>, seeds: &[usize]) -> FixedBitSet {
        self.closure.close(situation, seeds, Disabled::Necessary, Limit::Never);
        self.closure.live_set(situation)
    }
}

/// A set that is being closed.
#[derive(Default)]
struct Closure {
    /// Besides its members, all nodes that are not live.
    set: Words,
    /// Nodes of groups all of whose steps towards them are in the set. They come in without bringing anything.
    covered: Words,
    /// Nodes of the set that may bring others, as they came in: what comes next is the last node of the last block.
    work: Vec<Block>,
    n_enabled: usize,
    /// The alternative that costs least of those that were shown.
    least: Vec<Block>,
}

impl Closure {
    /// Makes the closure of some nodes. Given up, with some set, at a limit.
    fn close(&mut self, situation: &Situation<'_, '_>, seeds: &[usize], disabled: Disabled, limit: Limit) {
        self.close_without(situation, seeds, disabled, limit, &[]);
    }

    /// The same, given up as well when one of the enabled nodes in `unwanted` comes in. Whether it was not given up.
    fn close_without(
        &mut self,
        situation: &Situation<'_, '_>,
        seeds: &[usize],
        disabled: Disabled,
        limit: Limit,
        unwanted: &[usize],
    ) -> bool {
        self.begin(situation, seeds);
        let mut n_before = 0;
        while let Some(node) = self.next() {
            let (is_step, is_enabled) = (situation.is_step(node), situation.is_enabled(node));
            let is_waiting = is_step && !is_enabled;
            if is_waiting && disabled == Disabled::Everything {
                self.set.fill(usize::MAX);
                self.n_enabled = situation.enabled().count_ones(..);
                break;
            }
            if is_enabled {
                situation.with_enabled(node, |set| self.add(situation, set));
            } else if is_waiting && !situation.is_current(node) {
                if disabled == Disabled::Process {
                    self.add_current(situation, situation.pid(node));
                } else {
                    self.add_elsewhere(situation, node);
                }
            } else if is_waiting && disabled == Disabled::Process {
                // All that may change what it waits for.
                let mut all = FixedBitSet::with_capacity(situation.n_nodes());
                situation.alternatives(node, &mut All(&mut all));
                self.add(situation, &blocks(&all).collect::<Vec<_>>());
            } else if !self
                .add_cheapest(situation, |chooser| situation.until_false_clause_holds(node, chooser))
            {
                situation.with_brought(node, |set| self.add(situation, set));
            }
            if self.n_enabled > n_before {
                if limit.is_reached(situation, self.n_enabled) || has_any(&self.set, unwanted) {
                    return false;
                }
                n_before = self.n_enabled;
            }
        }
        !limit.is_reached(situation, self.n_enabled)
    }

    fn begin(&mut self, situation: &Situation<'_, '_>, seeds: &[usize]) {
        copy(&mut self.set, situation.dead());
        reset(&mut self.covered, situation.n_nodes());
        seeds.iter().for_each(|&seed| insert(&mut self.set, seed));
        seeds.iter().for_each(|&seed| situation.ask_about_node(seed));
        self.work.clear();
        self.work.extend(seeds.iter().map(|&seed| block_of(seed)));
        self.n_enabled = seeds.iter().filter(|&&seed| situation.is_enabled(seed)).count();
    }

    /// The node that came in last of those that may bring others.
    #[inline]
    fn next(&mut self) -> Option<usize> {
        while let Some(Block { at, bits }) = self.work.last_mut() {
            let rest = *bits & !self.covered[*at as usize];
            if rest != 0 {
                let last = WIDTH - 1 - rest.leading_zeros() as usize;
                *bits = rest ^ 1 << last;
                return Some(*at as usize * WIDTH + last);
            }
            self.work.pop();
        }
        None
    }

    /// The members.
    fn live_set(&self, situation: &Situation<'_, '_>) -> FixedBitSet {
        intersection(&self.set, &situation.live)
    }

    /// Adds the alternative that costs least of a node whose process is elsewhere. If all steps towards it are in the set, the process must take
    /// one of them before it can be enabled, and the same is true of its whole group.
    fn add_elsewhere(&mut self, situation: &Situation<'_, '_>, node: usize) {
        let place = situation.place(situation.pid(node));
        let group = place.group(node);
        let towards = place.towards(group);
        let least = elsewhere(situation, &self.set, node, towards);
        if let Some(least) = least {
            self.add(situation, least);
        }
        if is_within(towards, &self.set) {
            add(&mut self.covered, place.members(group));
        }
    }

    /// Adds nodes.
    #[inline]
    fn add(&mut self, situation: &Situation<'_, '_>, nodes: &[Block]) {
        let Self { set, covered, work, n_enabled, .. } = self;
        let (enabled, unasked) = (situation.firing(), situation.unasked());
        for &Block { at, bits } in nodes {
            let block = at as usize;
            let new = bits & !set[block];
            if new == 0 {
                continue;
            }
            set[block] |= new;
            if new & unasked[block].get() != 0 {
                situation.ask_about(Block { at, bits: new });
            }
            let firing = new & enabled[block];
            if firing != 0 {
                *n_enabled += count(firing) as usize;
            }
            let rest = new & !covered[block];
            if rest != 0 {
                work.push(Block { at, bits: rest });
            }
        }
    }

    /// Adds the steps that a process may take now.
    fn add_current(&mut self, situation: &Situation<'_, '_>, pid: usize) {
        for node in situation.current(pid) {
            if !contains(&self.set, node) {
                insert(&mut self.set, node);
                self.n_enabled += usize::from(situation.is_enabled(node));
                self.work.push(block_of(node));
            }
        }
    }

    /// Adds the alternative that costs least: enabled nodes that are new, then nodes that are new. Gives what showing them gave.
    #[inline]
    fn add_cheapest<'s, 'a, 'n, A>(
        &mut self,
        situation: &'s Situation<'a, 'n>,
        show: impl FnOnce(&mut Cheapest<'_, 's, 'a, 'n>) -> A,
    ) -> A {
        let mut least = std::mem::take(&mut self.least);
        least.clear();
        let mut cheapest = Cheapest::new(situation, &self.set, least);
        let shown = show(&mut cheapest);
        let (is_free, least) = (cheapest.is_free(), cheapest.least);
        if !is_free {
            self.add(situation, &least);
        }
        self.least = least;
        shown
    }
}

/// Whether some of the nodes that are wanted nowhere are in a set, of whose nodes they are.
fn has_any(set: &[usize], unwanted: &[usize]) -> bool {
    set.iter().zip(unwanted).any(|(set, unwanted)| set & unwanted != 0)
}

/// The sum of all alternatives.
struct All<'c>(&'c mut FixedBitSet);

impl Chooser for All<'_> {
    fn is_welcome(&mut self, _: &[Block]) -> bool {
        true
    }

    fn take(&mut self, nodes: &[Block]) -> bool {
        unite(self.0, nodes);
        false
    }
}

/// The steps of one process if nobody can ever be in their way. `None` means everything.
pub(super) fn ample(situation: &Situation<'_, '_>) -> Option<FixedBitSet> {
    seeds(situation).find_map(|seed| {
        let current = situation.current(situation.pid(seed));
        let mut set = FixedBitSet::with_capacity(situation.n_nodes());
        set.insert_range(current.clone());
        let mut others = (*situation.live).clone();
        others.difference_with(&set);
        let is_free = |node: usize| {
            let mut within = Avoiding { others: &others, is_any: false };
            situation.alternatives(node, &mut within);
            within.is_any
        };
        current.into_iter().all(is_free).then_some(set)
    })
}

/// Whether there is an alternative without certain nodes.
struct Avoiding<'c> {
    others: &'c FixedBitSet,
    is_any: bool,
}

impl Chooser for Avoiding<'_> {
    fn is_welcome(&mut self, nodes: &[Block]) -> bool {
        let others = self.others.as_slice();
        nodes.iter().all(|block| block.bits & others[block.at as usize] == 0)
    }

    fn take(&mut self, _: &[Block]) -> bool {
        self.is_any = true;
        true
    }
}
