//! Closures of nodes under what a situation requires.
//!
//! **Implements** the closures that the algorithms of [`algorithms`](super::algorithms) compare: of one enabled node, of
//! everything that may fail, of everything that leads towards a goal. Of several alternatives the one is taken that
//! costs least where it is needed first.
//! **Preserves** D0, D1, D2 wherever a closure has an enabled node.
//! **Checked by** the definition, per state and algorithm, and by the campaign.

use super::situation::Situation;
use fixedbitset::FixedBitSet;

/// One enabled node of each process that has one, the youngest first.
pub(super) fn seeds<'s>(situation: &'s Situation<'_, '_>) -> impl Iterator<Item = usize> + 's {
    let first = |pid: usize| situation.current(pid).find(|&node| situation.enabled().contains(node));
    (0..situation.n_processes()).rev().filter_map(first)
}

/// What to do about disabled nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Disabled {
    Everything,
    Process,
    Necessary,
}

/// The smallest closure of a seed, in enabled nodes. `None` means everything. No more is asked than it takes: at least two
/// processes can do something, so one node is less than everything.
pub(super) fn smallest(situation: &Situation<'_, '_>, disabled: Disabled) -> Option<FixedBitSet> {
    let mut best: Option<(FixedBitSet, usize)> = None;
    let is_best = |best: &Option<(FixedBitSet, usize)>, size: usize| match best {
        Some((_, best_size)) => size < *best_size,
        None => size == 1 || situation.are_more_than(size),
    };
    let is_one = |best: &Option<(FixedBitSet, usize)>| matches!(best, Some((_, 1)));
    if disabled == Disabled::Necessary {
        // What is independent whatever the state is found at once.
        for pid in (0..situation.n_processes()).rev() {
            if !is_one(&best) && situation.is_apart(pid) {
                let current = situation.current(pid);
                let size = situation.enabled().count_ones(current.clone());
                // Others can do something, too.
                if best.as_ref().is_none_or(|&(_, best_size)| size < best_size) {
                    let mut set = situation.take();
                    set.insert_range(current);
                    best = Some((set, size));
                }
            }
        }
    }
    let mut seeds = seeds(situation);
    while !is_one(&best) {
        let Some(seed) = seeds.next() else { break };
        let is_enough = |size: usize| !is_best(&best, size);
        let (set, size) = close_and_count(situation, &[seed], disabled, &is_enough);
        if is_best(&best, size) {
            best = Some((set, size));
        } else {
            situation.give(set);
        }
    }
    best.map(|(set, _)| set)
}

/// The smallest closure that has an invisible node if one is enabled: without any visible one if possible (I).
pub(super) fn for_runs(situation: &Situation<'_, '_>) -> Option<FixedBitSet> {
    let visible = situation.population().visible.clone();
    let is_visible = |n: &usize| visible.contains(*n);
    let n_enabled = situation.enabled().count_ones(..);
    let has_invisible = |set: &FixedBitSet| set.intersection(situation.enabled()).any(|n| !is_visible(&n));
    let must_have_invisible = situation.enabled().ones().any(|n| !is_visible(&n));
    let mut best: Option<FixedBitSet> = None;
    let mut best_size = n_enabled;
    for seed in seeds(situation) {
        let is_enough = |size: usize| size >= best_size;
        let (set, size) = close_and_count(situation, &[seed], Disabled::Necessary, &is_enough);
        if size < best_size && (!must_have_invisible || has_invisible(&set)) {
            (best, best_size) = (Some(set), size);
        }
    }
    best
}

/// Whatever may bring a goal about, closed. `None` means everything: something in it may change what is to be kept.
pub(super) fn towards(situation: &Situation<'_, '_>) -> Option<FixedBitSet> {
    let goals: Vec<usize> = situation.live.ones().filter(|&n| !situation.is_step(n)).collect();
    let set = close(situation, &goals);
    let population = situation.population();
    let keeps = set.intersection(situation.enabled()).all(|n| !population.changing.contains(n));
    keeps.then_some(set)
}

/// Everything that may fail, closed; and an enabled node.
pub(super) fn up_set(situation: &Situation<'_, '_>) -> FixedBitSet {
    let may_fail = |&n: &usize| !situation.is_step(n) || situation.population().may_fail(n);
    let mut failing: Vec<usize> = situation.live.ones().filter(may_fail).collect();
    let set = close(situation, &failing);
    if set.intersection(situation.enabled()).next().is_some() {
        return set;
    }
    let closures = seeds(situation).map(|seed| {
        failing.push(seed);
        let set = close(situation, &failing);
        failing.pop();
        set
    });
    closures.min_by_key(|set| set.intersection_count(situation.enabled())).unwrap_or(set)
}

/// The closure of some nodes.
pub(super) fn close(situation: &Situation<'_, '_>, seeds: &[usize]) -> FixedBitSet {
    close_and_count(situation, seeds, Disabled::Necessary, &|_| false).0
}

/// The closure of some nodes, with the number of its enabled nodes. Given up, with some set, once that is enough.
fn close_and_count(
    situation: &Situation<'_, '_>,
    seeds: &[usize],
    disabled: Disabled,
    is_enough: &dyn Fn(usize) -> bool,
) -> (FixedBitSet, usize) {
    let mut closure = Closure::new(situation);
    closure.set.extend(seeds.iter().copied());
    seeds.iter().for_each(|&seed| situation.ask_about(seed));
    let mut n_before = 0;
    closure.work.extend(seeds);
    closure.n_enabled = closure.set.intersection_count(situation.enabled());
    while let Some(node) = closure.work.pop() {
        let is_waiting = situation.is_step(node) && !situation.is_enabled(node);
        if is_waiting && disabled == Disabled::Everything {
            closure.set.union_with(&situation.live);
            closure.n_enabled = closure.set.intersection_count(situation.enabled());
            break;
        }
        if closure.covered.contains(node) {
            continue;
        }
        if is_waiting && !situation.is_current(node) && closure.covers(situation.pid(node)) {
            // Before it can be enabled its process must take one of the steps that are in already.
            continue;
        }
        if is_waiting && disabled == Disabled::Process {
            let mut all = situation.take();
            if situation.is_current(node) {
                // All that may change what it waits for.
                let range = situation.alternatives(node);
                situation.sets()[range].iter().for_each(|set| all.union_with(set));
            } else {
                all.extend(situation.current(situation.pid(node)));
            }
            closure.add(&all);
            situation.give(all);
        } else {
            let range = situation.alternatives(node);
            let sets = situation.sets();
            // The alternative that costs least: enabled nodes that are new, then nodes that are new.
            match &sets[range] {
                [] => {}
                [only] => closure.add(only),
                several => {
                    let least = several.iter().min_by_key(|wanted| closure.cost(wanted));
                    least.into_iter().for_each(|wanted| closure.add(wanted));
                }
            }
        }
        if closure.n_enabled > n_before && is_enough(closure.n_enabled) {
            break;
        }
        n_before = closure.n_enabled;
    }
    let Closure { set, covered, work, n_enabled, .. } = closure;
    situation.give(covered);
    situation.sets_mut().work = work;
    (set, n_enabled)
}

/// A set that is being closed.
struct Closure<'s, 'a, 'n> {
    situation: &'s Situation<'a, 'n>,
    set: FixedBitSet,
    /// Nodes of processes all of whose current steps are in the set. They come in without bringing anything.
    covered: FixedBitSet,
    /// Nodes of the set that may bring others.
    work: Vec<usize>,
    n_enabled: usize,
}

impl<'s, 'a, 'n> Closure<'s, 'a, 'n> {
    fn new(situation: &'s Situation<'a, 'n>) -> Self {
        let (set, covered) = (situation.take(), situation.take());
        let mut work = std::mem::take(&mut situation.sets_mut().work);
        work.clear();
        Self { situation, set, covered, work, n_enabled: 0 }
    }

    /// Whether all steps that a process may take now are in the set.
    fn covers(&mut self, pid: usize) -> bool {
        let current = self.situation.current(pid);
        let covers = self.set.contains_all_in_range(current.clone());
        if covers {
            let all = self.situation.population().range(pid);
            self.covered.insert_range(all.start..current.start);
            self.covered.insert_range(current.end..all.end);
        }
        covers
    }

    /// How many enabled nodes, and how many nodes, would be new.
    fn cost(&self, wanted: &FixedBitSet) -> (u32, u32) {
        let mut cost = (0, 0);
        let blocks = wanted.as_slice().iter().zip(self.set.as_slice());
        for (i, ((w, s), e)) in blocks.zip(self.situation.enabled().as_slice()).enumerate() {
            let new = w & !s;
            if new == 0 {
                continue;
            }
            ones(i, new).for_each(|node| self.situation.ask_about(node));
            cost.0 += (new & e).count_ones();
            cost.1 += new.count_ones();
        }
        cost
    }

    /// Adds nodes.
    fn add(&mut self, wanted: &FixedBitSet) {
        let blocks = self.set.as_mut_slice().iter_mut().zip(wanted.as_slice());
        let others = self.situation.enabled().as_slice().iter().zip(self.covered.as_slice());
        for (i, ((s, w), (e, covered))) in blocks.zip(others).enumerate() {
            let mut new = w & !*s;
            if new == 0 {
                continue;
            }
            *s |= new;
            self.n_enabled += (new & e).count_ones() as usize;
            new &= !covered;
            for node in ones(i, new) {
                self.situation.ask_about(node);
                self.work.push(node);
            }
        }
    }
}

/// The nodes in a block of a set.
fn ones(block: usize, mut bits: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(block * usize::BITS as usize + first)
    })
}

/// The steps of one process if nobody can ever be in their way. `None` means everything.
pub(super) fn ample(situation: &Situation<'_, '_>) -> Option<FixedBitSet> {
    seeds(situation).find_map(|seed| {
        let pid = situation.pid(seed);
        let current = situation.current(pid);
        let mut set = FixedBitSet::with_capacity(situation.n_nodes());
        set.extend(current.clone());
        for node in current {
            let range = situation.alternatives(node);
            let alternatives = &situation.sets()[range];
            if !alternatives.is_empty() && !alternatives.iter().any(|wanted| wanted.is_subset(&set)) {
                return None;
            }
        }
        Some(set)
    })
}
