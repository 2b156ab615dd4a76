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

/// Makes a set another one.
pub(super) fn copy(set: &mut FixedBitSet, other: &FixedBitSet) {
    if set.len() == other.len() {
        set.as_mut_slice().copy_from_slice(other.as_slice());
    } else {
        *set = other.clone();
    }
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
    let all = set.as_mut_slice();
    nodes.iter().for_each(|block| all[block.at as usize] |= block.bits);
}

/// Whether all of the nodes are in a set.
#[inline]
pub(super) fn is_within(nodes: &[Block], set: &FixedBitSet) -> bool {
    let all = set.as_slice();
    nodes.iter().all(|block| block.bits & !all[block.at as usize] == 0)
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
        assert!(!is_within(made, &other));
        unite(&mut other, made);
        assert!(is_within(made, &other) && count_within(made, &other) == 6);
        assert!(other.ones().eq(nodes));
        for range in [0..0, 5..5, 0..64, 3..64, 64..65, 60..200] {
            assert!(blocks_of(range.clone()).flat_map(Block::ones).eq(range));
        }
    }
}
