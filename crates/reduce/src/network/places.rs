//! A process at a location: the steps that it may take there, and which of them lead where.

use super::nodes::{Block, Sets};
use fixedbitset::FixedBitSet;
use std::ops::Range;

/// A process at a location.
#[derive(Debug)]
pub(super) struct Place {
    /// The steps that the process may take.
    pub(super) current: Range<usize>,
    /// The first node of the process.
    first: usize,
    /// For each node of the process: the steps from which it can get there.
    towards: Sets,
}

impl Place {
    /// `all` are the nodes of the process, and `reach` tells the nodes that come after each of those at the location.
    pub(super) fn new(all: Range<usize>, current: Range<usize>, reach: &[FixedBitSet]) -> Self {
        let (first, mut towards) = (all.start, Sets::default());
        for node in all {
            let leads_there = current.clone().zip(reach).filter(|(_, reach)| reach.contains(node));
            towards.push(leads_there.map(|(step, _)| step));
        }
        Self { current, first, towards }
    }

    /// The steps that the process may take now and from which it can get to a node.
    #[inline]
    pub(super) fn towards(&self, node: usize) -> &[Block] {
        self.towards.get(node - self.first)
    }

    /// What it takes in memory, roughly, in numbers.
    pub(super) fn size(&self) -> usize {
        self.towards.size()
    }
}
