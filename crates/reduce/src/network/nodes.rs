//! Sets of nodes of the tables: the blocks of a bit set that are not empty.
//!
//! Most of these sets are small or lie close together, so that a few blocks say all. Sets that grow are whole bit sets
//! ([`FixedBitSet`]), and the functions here are what happens between the two.
//! **Checked by** the definition, wherever sets are held against it.

use fixedbitset::FixedBitSet;
use std::ops::Range;
use std::rc::Rc;

/// A block of a set that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Which block of the whole bit set.
    pub(super) at: u32,
    pub(super) bits: usize,
}

/// A set that does not change any more.
pub(super) type Nodes = Rc<[Block]>;

/// Nodes in a block.
pub(super) const WIDTH: usize = usize::BITS as usize;

/// Makes a set the empty one of some nodes.
pub(super) fn empty(set: &mut FixedBitSet, n_nodes: usize) {
    if set.len() == n_nodes {
        set.clear();
    } else {
        *set = FixedBitSet::with_capacity(n_nodes);
    }
}

/// A set that grows and shrinks where little else happens: its blocks, all of them. Behind the last node there may be anything.
pub(super) type Words = Vec<usize>;

/// Makes a set the empty one.
pub(super) fn reset(set: &mut Words, n_nodes: usize) {
    set.clear();
    set.resize(n_nodes.div_ceil(WIDTH), 0);
}

/// Makes a set another one.
pub(super) fn copy(set: &mut Words, other: &FixedBitSet) {
    set.clear();
    set.extend_from_slice(other.as_slice());
}

/// The nodes that are in two sets, the second of which has nothing behind the last node.
pub(super) fn intersection(set: &[usize], other: &FixedBitSet) -> FixedBitSet {
    let both = set.iter().zip(other.as_slice()).map(|(a, b)| a & b);
    FixedBitSet::with_capacity_and_blocks(other.len(), both)
}

/// Whether a node is in a set.
#[inline]
pub(super) fn contains(set: &[usize], node: usize) -> bool {
    set[node / WIDTH] >> (node % WIDTH) & 1 != 0
}

#[inline]
pub(super) fn insert(set: &mut [usize], node: usize) {
    set[node / WIDTH] |= 1 << (node % WIDTH);
}

#[inline]
pub(super) fn remove(set: &mut [usize], node: usize) {
    set[node / WIDTH] &= !(1 << (node % WIDTH));
}

/// Adds nodes to a set.
#[inline]
pub(super) fn add(set: &mut [usize], nodes: &[Block]) {
    nodes.iter().for_each(|block| set[block.at as usize] |= block.bits);
}

/// Takes the nodes in a range out of a set.
pub(super) fn remove_range(set: &mut [usize], nodes: Range<usize>) {
    blocks_of(nodes).for_each(|block| set[block.at as usize] &= !block.bits);
}

/// The blocks of a set.
pub(super) fn blocks(set: &FixedBitSet) -> impl Iterator<Item = Block> + '_ {
    let all = set.as_slice().iter().enumerate();
    all.filter(|(_, bits)| **bits != 0).map(|(at, &bits)| Block { at: at as u32, bits })
}

/// A set that does not change any more.
pub(super) fn nodes(set: &FixedBitSet) -> Nodes {
    // Mostly it is small: then it is made at one go.
    let mut few = [Block { at: 0, bits: 0 }; 8];
    let mut n = 0;
    for block in blocks(set) {
        let Some(next) = few.get_mut(n) else { return blocks(set).collect() };
        *next = block;
        n += 1;
    }
    few[..n].into()
}

/// The block of one node.
#[inline]
pub(super) fn block_of(node: usize) -> Block {
    Block { at: (node / WIDTH) as u32, bits: 1 << (node % WIDTH) }
}

/// The blocks of all nodes in a range.
pub(super) fn blocks_of(nodes: Range<usize>) -> impl Iterator<Item = Block> {
    let Range { start, end } = nodes;
    (start / WIDTH..end.div_ceil(WIDTH)).filter_map(move |block| {
        let (from, to) = (start.max(block * WIDTH), end.min((block + 1) * WIDTH));
        let bits = usize::MAX.checked_shr((WIDTH - (to - from)) as u32)? << (from % WIDTH);
        Some(Block { at: block as u32, bits })
    })
}

/// Adds nodes to a set.
pub(super) fn unite(set: &mut FixedBitSet, nodes: &[Block]) {
    add(set.as_mut_slice(), nodes);
}

/// Whether all of the nodes are in a set.
#[inline]
pub(super) fn is_within(nodes: &[Block], set: &[usize]) -> bool {
    nodes.iter().all(|block| block.bits & !set[block.at as usize] == 0)
}

/// How many of the nodes are in a set.
pub(super) fn count_within(nodes: &[Block], set: &FixedBitSet) -> u32 {
    let all = set.as_slice();
    nodes.iter().map(|block| (block.bits & all[block.at as usize]).count_ones()).sum()
}

impl Block {
    /// Its nodes.
    #[inline]
    pub(super) fn ones(self) -> impl Iterator<Item = usize> {
        let (first, mut bits) = (self.at as usize * WIDTH, self.bits);
        std::iter::from_fn(move || {
            if bits == 0 {
                return None;
            }
            let next = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            Some(first + next)
        })
    }
}

/// Sets with numbers, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Sets {
    blocks: Vec<Block>,
    ranges: Vec<Range<u32>>,
}

impl Sets {
    /// Adds a set of nodes, which come in increasing order.
    pub(super) fn push(&mut self, nodes: impl Iterator<Item = usize>) {
        let first = self.blocks.len();
        for node in nodes {
            let (at, bits) = ((node / WIDTH) as u32, 1 << (node % WIDTH));
            match self.blocks[first..].last_mut().filter(|block| block.at == at) {
                Some(block) => block.bits |= bits,
                None => self.blocks.push(Block { at, bits }),
            }
        }
        self.ranges.push(first as u32..self.blocks.len() as u32);
    }

    /// Adds a set.
    pub(super) fn push_set(&mut self, set: &FixedBitSet) {
        let first = self.blocks.len();
        self.blocks.extend(blocks(set));
        self.ranges.push(first as u32..self.blocks.len() as u32);
    }

    /// One of the sets.
    #[inline]
    pub(super) fn get(&self, number: usize) -> &[Block] {
        let Range { start, end } = self.ranges[number].clone();
        &self.blocks[start as usize..end as usize]
    }

    /// How many sets there are.
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.ranges.clear();
    }

    /// What they take in memory, roughly, in numbers.
    pub(super) fn size(&self) -> usize {
        self.ranges.len() + self.blocks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_the_set_that_they_were_made_of() {
        let nodes = [0, 1, 63, 64, 130, 300];
        let set: FixedBitSet = nodes.into_iter().collect();
        let mut sets = Sets::default();
        sets.push(std::iter::empty());
        sets.push(nodes.into_iter());
        assert!(sets.get(0).is_empty());
        let made = sets.get(1);
        assert_eq!(made, blocks(&set).collect::<Vec<_>>());
        assert_eq!(made.len(), 4);
        assert!(made.iter().flat_map(|block| block.ones()).eq(nodes));
        let mut other = FixedBitSet::with_capacity(301);
        assert!(!is_within(made, other.as_slice()));
        unite(&mut other, made);
        assert!(is_within(made, other.as_slice()) && count_within(made, &other) == 6);
        assert!(other.ones().eq(nodes));
        for range in [0..0, 5..5, 0..64, 3..64, 64..65, 60..200] {
            assert!(blocks_of(range.clone()).flat_map(Block::ones).eq(range));
        }
    }
}
