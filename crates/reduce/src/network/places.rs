//! A process at a location: the steps that it may take there, and which of them lead where.

use super::nodes::{Block, Sets};
use fixedbitset::FixedBitSet;
use std::ops::Range;

/// A process at a location.
#[derive(Debug)]
pub(super) struct Place {
    /// The steps that the process may take.
    pub(super) current: Range<usize>,
    /// All steps of the process.
    pub(super) all: Range<usize>,
    /// For each node of the process: the steps from which it can get there.
    towards: Sets,
}

impl Place {
    /// `all` are the nodes of the process, and `reach` tells the nodes that come after each of those at the location.
    pub(super) fn new(all: Range<usize>, current: Range<usize>, reach: &[FixedBitSet]) -> Self {
        let mut towards = Sets::default();
        for node in all.clone() {
            let leads_there = current.clone().zip(reach).filter(|(_, reach)| reach.contains(node));
            towards.push(leads_there.map(|(step, _)| step));
        }
        Self { current, all, towards }
    }

    /// The steps that the process may take now and from which it can get to a node.
    #[inline]
    pub(super) fn towards(&self, node: usize) -> &[Block] {
        self.towards.get(node - self.all.start)
    }

    /// What it takes in memory, roughly, in numbers.
    pub(super) fn size(&self) -> usize {
        self.towards.size()
    }
}
