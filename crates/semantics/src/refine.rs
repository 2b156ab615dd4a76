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
use rustc_hash::{FxHashMap, FxHasher};
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
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
    let Partition { block, n_blocks } = strong(&system.edges, &system.valuation);
    // All states of a block have the same edges to blocks; the first that is met breadth first stands for all.
    let mut place = vec![u32::MAX; n_blocks];
    let mut order: Vec<u32> = Vec::new();
    let mut meet = |state: u32, order: &mut Vec<u32>| {
        let place = &mut place[block[state as usize] as usize];
        if *place == u32::MAX {
            *place = order.len() as u32;
            order.push(state);
        }
        *place
    };
    let initials = system.initials.iter().map(|&state| meet(state, &mut order)).collect();
    let mut list = Vec::new();
    let mut next = 0;
    while let Some(&state) = order.get(next) {
        list.extend(system.edges.of(state).map(|(label, to)| (next as u32, label, meet(to, &mut order))));
        next += 1;
    }
    System {
        initials,
        names: system.names.clone(),
        marks: system.marks.clone(),
        valuations: system.valuations.clone(),
        valuation: order.iter().map(|&state| system.valuation[state as usize]).collect(),
        edges: Edges::new(order.len(), list),
    }
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
    /// The states by block, and where each is. In a block, those come first whose signature may have changed.
    order: Vec<u32>,
    position: Vec<u32>,
    blocks: Vec<Block>,
    waiting: VecDeque<u32>,
    /// For the block at hand: which signature a state has.
    group: Vec<u32>,
    known: Signatures,
    /// Room for the states of the block at hand.
    dirty: Vec<u32>,
    leaving: Vec<u32>,
}

/// A block: its states are `order[start..end]`, and the first `n_dirty` of them are to be looked at again.
#[derive(Clone, Copy)]
struct Block {
    start: u32,
    end: u32,
    n_dirty: u32,
}

/// The signatures of a block, each once, in the order in which they were met.
#[derive(Default)]
struct Signatures {
    /// One behind the other, and where each ends.
    items: Vec<u64>,
    ends: Vec<usize>,
    hashes: Vec<u64>,
    /// By hash the last signature with it, and before each the one before; only if there are many.
    last: FxHashMap<u64, u32>,
    before: Vec<u32>,
}

/// Up to so many signatures are compared one by one.
const FEW: usize = 16;

const NONE: u32 = u32::MAX;

impl Signatures {
    fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
        self.hashes.clear();
        // Clearing a table takes as long as it is large.
        if !self.last.is_empty() {
            self.last = FxHashMap::default();
        }
        self.before.clear();
    }

    fn get(&self, number: u32) -> &[u64] {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.items[start..self.ends[number]]
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of a signature; it is added if it is new.
    fn number(&mut self, signature: &[u64]) -> u32 {
        let mut hasher = FxHasher::default();
        signature.hash(&mut hasher);
        let hash = hasher.finish();
        if self.len() <= FEW {
            let is_same = |&i: &usize| self.hashes[i] == hash && self.get(i as u32) == signature;
            if let Some(found) = (0..self.len()).find(is_same) {
                return found as u32;
            }
        } else {
            let mut next = self.last.get(&hash).copied().unwrap_or(NONE);
            while next != NONE {
                if self.get(next) == signature {
                    return next;
                }
                next = self.before[next as usize];
            }
        }
        let number = self.len() as u32;
        self.items.extend_from_slice(signature);
        self.ends.push(self.items.len());
        self.hashes.push(hash);
        match self.len().cmp(&(FEW + 1)) {
            Ordering::Less => {}
            // There are many now: all of them go to the table.
            Ordering::Equal => (0..self.len() as u32).for_each(|i| self.enter(i)),
            Ordering::Greater => self.enter(number),
        }
        number
    }

    fn enter(&mut self, number: u32) {
        let before = self.last.insert(self.hashes[number as usize], number);
        self.before.push(before.unwrap_or(NONE));
    }
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
            blocks: Vec::new(),
            waiting: VecDeque::new(),
            group: vec![0; n],
            known: Signatures::default(),
            dirty: Vec::new(),
            leaving: Vec::new(),
            order,
        };
        let mut start = 0;
        for i in 0..n {
            let state = refiner.order[i] as usize;
            refiner.position[state] = i as u32;
            refiner.block[state] = refiner.blocks.len() as u32;
            let is_last = |next: &u32| classes[*next as usize] != classes[state];
            if refiner.order.get(i + 1).is_none_or(is_last) {
                refiner.blocks.push(Block { start, end: i as u32 + 1, n_dirty: 0 });
                start = i as u32 + 1;
            }
        }
        (0..n as u32).for_each(|state| refiner.mark(state));
        refiner
    }

    /// The signature of a state may have changed.
    #[inline]
    fn mark(&mut self, state: u32) {
        let number = self.block[state as usize];
        let Block { start, end, n_dirty } = self.blocks[number as usize];
        if end - start > 1 && self.position[state as usize] >= start + n_dirty {
            if n_dirty == 0 {
                self.waiting.push_back(number);
            }
            self.swap(state, start + n_dirty);
            self.blocks[number as usize].n_dirty += 1;
        }
    }

    #[inline]
    fn is_dirty(&self, state: u32) -> bool {
        let Block { start, n_dirty, .. } = self.blocks[self.block[state as usize] as usize];
        self.position[state as usize] < start + n_dirty
    }

    /// Puts a state to a place of its block.
    #[inline]
    fn swap(&mut self, state: u32, place: u32) {
        let (here, other) = (self.position[state as usize], self.order[place as usize]);
        self.order.swap(here as usize, place as usize);
        self.position[other as usize] = here;
        self.position[state as usize] = place;
    }

    fn run(mut self) -> Partition {
        while let Some(block) = self.waiting.pop_front() {
            self.split(block);
        }
        Partition { block: self.block, n_blocks: self.blocks.len() }
    }

    /// Whether an edge stays inside its block unseen.
    #[inline]
    fn is_inert(&self, source: u32, label: u32, target: u32) -> bool {
        self.loops.is_some() && label == TAU && self.block[source as usize] == self.block[target as usize]
    }

    /// Marks what reaches marked states inside the block: its signature follows theirs.
    fn close(&mut self, block: u32) {
        let mut next = self.blocks[block as usize].start;
        while next < self.blocks[block as usize].start + self.blocks[block as usize].n_dirty {
            let state = self.order[next as usize];
            next += 1;
            for edge in self.back.range(state) {
                let (label, source) = self.back.at(edge);
                if self.is_inert(source, label, state) {
                    self.mark(source);
                }
            }
        }
    }

    /// A state whose signature has not changed; all such states have the same. It has no tau inside the block.
    fn unchanged(&self, block: u32) -> Option<u32> {
        let Block { start, end, n_dirty } = self.blocks[block as usize];
        let mut state = *self.order[(start + n_dirty) as usize..end as usize].first()?;
        let inert =
            |state: u32| self.edges.of(state).find(|&(label, target)| self.is_inert(state, label, target));
        if self.loops.is_some() {
            while let Some((_, target)) = inert(state) {
                state = target;
            }
        }
        Some(state)
    }

    /// The signature of a state; `known` are those of the block so far, the first that of unchanged states.
    fn signature(&self, state: u32, out: &mut Vec<u64>) {
        out.clear();
        if self.loops.is_some_and(|loops| loops.contains(state as usize)) {
            out.push(FOREVER);
        }
        for (label, target) in self.edges.of(state) {
            if self.is_inert(state, label, target) {
                let group = if self.is_dirty(target) { self.group[target as usize] } else { 0 };
                out.extend_from_slice(self.known.get(group));
            } else {
                out.push(u64::from(label) << 32 | u64::from(self.block[target as usize]));
            }
        }
        out.sort_unstable();
        out.dedup();
    }

    /// Puts the states of a block apart whose signatures differ.
    fn split(&mut self, block: u32) {
        if self.loops.is_some() {
            self.close(block);
        }
        let Block { start, end, n_dirty } = self.blocks[block as usize];
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.clear();
        dirty.extend_from_slice(&self.order[start as usize..(start + n_dirty) as usize]);
        if self.loops.is_some() {
            // Where tau leads to comes first.
            dirty.sort_unstable();
        }
        self.known.clear();
        let mut sizes: Vec<u32> = Vec::new();
        let mut signature = Vec::new();
        if let Some(state) = self.unchanged(block) {
            self.signature(state, &mut signature);
            self.known.number(&signature);
            sizes.push(end - start - n_dirty);
        }
        for &state in &dirty {
            self.signature(state, &mut signature);
            let group = self.known.number(&signature);
            self.group[state as usize] = group;
            if group as usize == sizes.len() {
                sizes.push(0);
            }
            sizes[group as usize] += 1;
        }
        if sizes.len() > 1 {
            self.put_apart(block, &dirty, &sizes);
        } else {
            self.blocks[block as usize].n_dirty = 0;
        }
        self.dirty = dirty;
    }

    /// Makes blocks of all groups but the largest.
    fn put_apart(&mut self, block: u32, dirty: &[u32], sizes: &[u32]) {
        let Block { start, end, n_dirty } = self.blocks[block as usize];
        let largest = (0..sizes.len()).max_by_key(|&group| (sizes[group], std::cmp::Reverse(group)));
        let largest = largest.unwrap_or(0) as u32;
        // The states that leave, by group.
        let mut ends = vec![0; sizes.len()];
        let mut sum = 0;
        for (group, &size) in sizes.iter().enumerate() {
            ends[group] = sum;
            sum += if group as u32 == largest { 0 } else { size as usize };
        }
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.clear();
        leaving.resize(sum, 0);
        let has_unchanged = end - start > n_dirty;
        if has_unchanged && largest != 0 {
            for &state in &self.order[(start + n_dirty) as usize..end as usize] {
                leaving[ends[0]] = state;
                ends[0] += 1;
            }
        }
        for &state in dirty {
            let group = self.group[state as usize];
            if group != largest {
                leaving[ends[group as usize]] = state;
                ends[group as usize] += 1;
            }
        }
        self.blocks[block as usize].n_dirty = 0;
        let mut from = 0;
        for (group, &to) in ends.iter().enumerate() {
            if group as u32 != largest {
                self.take_out(block, &leaving[from..to]);
                from = to;
            }
        }
        leaving.iter().for_each(|&state| self.mark_around(block, state));
        self.leaving = leaving;
    }

    /// Makes a block of some states of a block.
    fn take_out(&mut self, block: u32, states: &[u32]) {
        let end = self.blocks[block as usize].end;
        let number = self.blocks.len() as u32;
        let mut first = end;
        for &state in states {
            first -= 1;
            self.swap(state, first);
            self.block[state as usize] = number;
        }
        self.blocks[block as usize].end = first;
        self.blocks.push(Block { start: first, end, n_dirty: 0 });
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
