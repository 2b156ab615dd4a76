//! Strong and divergence-preserving branching bisimilarity, by partition refinement.
//!
//! **Implements** refinement by signatures (Blom, Orzan, *A distributed algorithm for strong bisimulation reduction of
//! state spaces*, 2002): the signature of a state is the set of its labels with the blocks that they lead to; states
//! of a block whose signatures differ are put apart until none are. Only states with an edge into a block that
//! lost states are looked at again, and the largest part of a block keeps its number. For branching bisimilarity the
//! signature is gathered along tau inside the block, and a state that can go on there for ever has a mark of its own;
//! cycles of tau must have been merged and tau must lead to smaller numbers (`loops`).
//! **Preserves** valuations: the first partition is by them, so that a tau that changes one is never inside a block.
//! **Checked by** partitions by definition on random systems (`oracle`) and by the sizes of token rings.

use crate::edges::Edges;
use crate::loops::Loops;
use crate::system::System;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use stubborn_lts::TAU;

/// In a signature: the state can go on for ever inside its block.
const FOREVER: u64 = u64::MAX;

/// The block of each state, and how many there are.
pub(crate) struct Partition {
    pub(crate) block: Vec<u32>,
    pub(crate) n_blocks: usize,
}

/// The coarsest strong bisimulation that is finer than `classes`.
pub(crate) fn strong(edges: &Edges, classes: &[u32]) -> Partition {
    Refiner::new(edges, classes, None).run()
}

/// One state for each class of strongly bisimilar states.
pub(crate) fn strong_quotient(system: &System) -> System {
    let partition = strong(&system.edges, &system.valuation);
    let mut list = Vec::new();
    let mut valuation = vec![u32::MAX; partition.n_blocks];
    for (state, &block) in (0..).zip(&partition.block) {
        // All states of a block have the same edges to blocks.
        if valuation[block as usize] == u32::MAX {
            valuation[block as usize] = system.valuation[state as usize];
            let target = |target: u32| partition.block[target as usize];
            list.extend(system.edges.of(state).map(|(label, to)| (block, label, target(to))));
        }
    }
    assemble(system, &partition, &valuation, list)
}

/// One state for each class of branching bisimilar states; those that diverge have a loop of tau.
pub(crate) fn branching_quotient(system: &System) -> System {
    let loops = Loops::new(system);
    let system = &loops.collapsed(system);
    let partition = Refiner::new(&system.edges, &system.valuation, Some(&loops.cyclic)).run();
    let mut list = Vec::new();
    let mut valuation = vec![0; partition.n_blocks];
    for (state, &block) in (0..).zip(&partition.block) {
        valuation[block as usize] = system.valuation[state as usize];
        for (label, target) in system.edges.of(state) {
            let target = partition.block[target as usize];
            if label != TAU || target != block {
                list.push((block, label, target));
            }
        }
        if loops.cyclic.contains(state as usize) {
            list.push((block, TAU, block));
        }
    }
    assemble(system, &partition, &valuation, list)
}

fn assemble(system: &System, partition: &Partition, valuation: &[u32], list: Vec<(u32, u32, u32)>) -> System {
    let edges = Edges::new(partition.n_blocks, list);
    let initials: Vec<u32> = system.initials.iter().map(|&state| partition.block[state as usize]).collect();
    system.with_graph(&initials, valuation, &edges)
}

struct Refiner<'a> {
    edges: &'a Edges,
    back: Edges,
    /// For branching bisimilarity: the states with a loop of tau.
    loops: Option<&'a FixedBitSet>,
    block: Vec<u32>,
    /// The states by block, and where each is.
    order: Vec<u32>,
    position: Vec<u32>,
    ranges: Vec<(u32, u32)>,
    /// By block: the states whose signature may have changed.
    dirty: Vec<Vec<u32>>,
    is_dirty: FixedBitSet,
    waiting: VecDeque<u32>,
    /// For the block at hand: which signature a state has.
    group: Vec<u32>,
}

impl<'a> Refiner<'a> {
    fn new(edges: &'a Edges, classes: &[u32], loops: Option<&'a FixedBitSet>) -> Self {
        let n = classes.len();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&state| classes[state as usize]);
        let mut refiner = Self {
            edges,
            back: edges.reversed(),
            loops,
            block: vec![0; n],
            position: vec![0; n],
            ranges: Vec::new(),
            dirty: Vec::new(),
            is_dirty: FixedBitSet::with_capacity(n),
            waiting: VecDeque::new(),
            group: vec![0; n],
            order,
        };
        let mut start = 0;
        for i in 0..n {
            let state = refiner.order[i] as usize;
            refiner.position[state] = i as u32;
            refiner.block[state] = refiner.ranges.len() as u32;
            let is_last = |next: &u32| classes[*next as usize] != classes[state];
            if refiner.order.get(i + 1).is_none_or(is_last) {
                refiner.add_block((start, i as u32 + 1));
                start = i as u32 + 1;
            }
        }
        (0..n as u32).for_each(|state| refiner.mark(state));
        refiner
    }

    fn add_block(&mut self, range: (u32, u32)) {
        self.ranges.push(range);
        self.dirty.push(Vec::new());
    }

    fn size(&self, block: u32) -> usize {
        let (start, end) = self.ranges[block as usize];
        (end - start) as usize
    }

    /// The signature of a state may have changed.
    fn mark(&mut self, state: u32) {
        let block = self.block[state as usize];
        if self.size(block) > 1 && !self.is_dirty.put(state as usize) {
            if self.dirty[block as usize].is_empty() {
                self.waiting.push_back(block);
            }
            self.dirty[block as usize].push(state);
        }
    }

    fn run(mut self) -> Partition {
        while let Some(block) = self.waiting.pop_front() {
            self.split(block);
        }
        Partition { block: self.block, n_blocks: self.ranges.len() }
    }

    /// Whether an edge stays inside its block unseen.
    #[inline]
    fn is_inert(&self, source: u32, label: u32, target: u32) -> bool {
        self.loops.is_some() && label == TAU && self.block[source as usize] == self.block[target as usize]
    }

    /// A state's signature follows those that it reaches inside the block.
    fn close(&mut self, dirty: &mut Vec<u32>) {
        let mut next = 0;
        while let Some(&state) = dirty.get(next) {
            next += 1;
            for edge in self.back.range(state) {
                let (label, source) = self.back.at(edge);
                if self.is_inert(source, label, state) && !self.is_dirty.put(source as usize) {
                    dirty.push(source);
                }
            }
        }
        // Where tau leads to comes first.
        dirty.sort_unstable();
    }

    /// A state whose signature has not changed; all such states have the same. It has no tau inside the block.
    fn unchanged(&self, block: u32) -> Option<u32> {
        let (start, end) = self.ranges[block as usize];
        let states = &self.order[start as usize..end as usize];
        let mut state = *states.iter().find(|&&state| !self.is_dirty.contains(state as usize))?;
        let inert =
            |state: u32| self.edges.of(state).find(|&(label, target)| self.is_inert(state, label, target));
        while let Some((_, target)) = inert(state) {
            state = target;
        }
        Some(state)
    }

    /// The signature of a state; `known` are those of the block so far, the first that of unchanged states.
    fn signature(&self, state: u32, known: &[Box<[u64]>], out: &mut Vec<u64>) {
        out.clear();
        if self.loops.is_some_and(|loops| loops.contains(state as usize)) {
            out.push(FOREVER);
        }
        for (label, target) in self.edges.of(state) {
            if self.is_inert(state, label, target) {
                let is_dirty = self.is_dirty.contains(target as usize);
                let group = if is_dirty { self.group[target as usize] } else { 0 };
                out.extend_from_slice(&known[group as usize]);
            } else {
                out.push(u64::from(label) << 32 | u64::from(self.block[target as usize]));
            }
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Puts the states of a block apart whose signatures differ.
    fn split(&mut self, block: u32) {
        let mut dirty = std::mem::take(&mut self.dirty[block as usize]);
        if self.loops.is_some() {
            self.close(&mut dirty);
        }
        let mut numbers: FxHashMap<Box<[u64]>, u32> = FxHashMap::default();
        let mut known: Vec<Box<[u64]>> = Vec::new();
        let mut sizes: Vec<usize> = Vec::new();
        let mut signature = Vec::new();
        let unchanged = self.unchanged(block);
        for state in unchanged.into_iter().chain(dirty.iter().copied()) {
            self.signature(state, &known, &mut signature);
            let group = match numbers.get(signature.as_slice()) {
                Some(&group) => group,
                None => {
                    let group = known.len() as u32;
                    numbers.insert(signature.as_slice().into(), group);
                    if self.loops.is_some() {
                        known.push(signature.as_slice().into());
                    } else {
                        known.push(Box::default());
                    }
                    sizes.push(0);
                    group
                }
            };
            if self.is_dirty.contains(state as usize) {
                self.group[state as usize] = group;
                sizes[group as usize] += 1;
            } else {
                sizes[group as usize] += self.size(block) - dirty.len();
            }
        }
        let largest = (0..sizes.len()).max_by_key(|&group| (sizes[group], std::cmp::Reverse(group)));
        let largest = largest.unwrap_or(0) as u32;
        let mut leaving: Vec<Vec<u32>> = vec![Vec::new(); sizes.len()];
        if unchanged.is_some() && largest != 0 {
            let (start, end) = self.ranges[block as usize];
            let states = &self.order[start as usize..end as usize];
            leaving[0].extend(states.iter().filter(|&&state| !self.is_dirty.contains(state as usize)));
        }
        for &state in &dirty {
            let group = self.group[state as usize];
            if group != largest {
                leaving[group as usize].push(state);
            }
        }
        dirty.iter().for_each(|&state| self.is_dirty.set(state as usize, false));
        leaving.iter().filter(|group| !group.is_empty()).for_each(|group| self.take_out(block, group));
        leaving.iter().flatten().for_each(|&state| self.mark_around(block, state));
    }

    /// Makes a block of some states of a block.
    fn take_out(&mut self, block: u32, states: &[u32]) {
        let (start, end) = self.ranges[block as usize];
        let mut first = end;
        for &state in states {
            first -= 1;
            let (here, other) = (self.position[state as usize], self.order[first as usize]);
            self.order.swap(here as usize, first as usize);
            self.position[other as usize] = here;
            self.position[state as usize] = first;
            self.block[state as usize] = self.ranges.len() as u32;
        }
        self.ranges[block as usize] = (start, first);
        self.add_block((first, end));
    }

    /// A state has left `old`: what leads to it has another signature, and so has the state itself if it had
    /// tau inside the block and has it no more.
    fn mark_around(&mut self, old: u32, state: u32) {
        for edge in self.back.range(state) {
            let (_, source) = self.back.at(edge);
            self.mark(source);
        }
        let mut edges = self.edges.of(state);
        let leads_back = |(label, target): (u32, u32)| label == TAU && self.block[target as usize] == old;
        if self.loops.is_some() && edges.any(leads_back) {
            drop(edges);
            self.mark(state);
        }
    }
}
