//! Which alternative of a node costs least: enabled nodes that are new in a set, then nodes that are new.
//!
//! **Asks** about the processes of an alternative only if it may turn out to cost less than the best one so far: as long
//! as they were not asked, none of their nodes counts as enabled.
//! **Checked by** the definition, for the closures that are made this way.

use super::nodes::Block;
use super::situation::{Chooser, Situation};
use fixedbitset::FixedBitSet;

/// How many enabled nodes, and how many nodes, would be new.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    n_enabled: u32,
    n_nodes: u32,
}

/// Finds the first of the alternatives that cost least.
pub(super) struct Cheapest<'c, 's, 'a, 'n> {
    situation: &'s Situation<'a, 'n>,
    set: &'c [usize],
    enabled: &'c [usize],
    cost: Option<Cost>,
    pub(super) least: Vec<Block>,
}

impl<'c, 's, 'a, 'n> Cheapest<'c, 's, 'a, 'n> {
    /// For a set that the alternatives would be added to. `least` is room for one of them.
    #[inline]
    pub(super) fn new(situation: &'s Situation<'a, 'n>, set: &'c FixedBitSet, least: Vec<Block>) -> Self
    where
        'a: 'c,
    {
        let (set, enabled) = (set.as_slice(), situation.enabled().as_slice());
        Self { situation, set, enabled, cost: None, least }
    }

    /// What an alternative costs; at least, as long as processes were not asked. Whether all were.
    #[inline]
    fn cost(&self, nodes: &[Block]) -> (Cost, bool) {
        let (mut cost, mut all_unasked) = (Cost::default(), 0);
        for &Block { at, bits } in nodes {
            let block = at as usize;
            let new = bits & !self.set[block];
            if new == 0 {
                continue;
            }
            let unasked = self.situation.unasked(block);
            all_unasked |= new & unasked;
            cost.n_nodes += count(new);
            let firing = new & self.enabled[block] & !unasked;
            if firing != 0 {
                cost.n_enabled += count(firing);
            }
        }
        (cost, all_unasked == 0)
    }

    #[inline]
    fn keep(&mut self, nodes: &[Block], cost: Cost) {
        self.cost = Some(cost);
        self.least.clear();
        // One by one: mostly there is one.
        nodes.iter().for_each(|&block| self.least.push(block));
    }

    /// Whether there is an alternative that costs nothing.
    #[inline]
    pub(super) fn is_free(&self) -> bool {
        self.cost == Some(Cost::default())
    }
}

/// How many bits are set: mostly one.
#[inline]
fn count(bits: usize) -> u32 {
    if bits & (bits - 1) == 0 { 1 } else { bits.count_ones() }
}

impl Chooser for Cheapest<'_, '_, '_, '_> {
    #[inline]
    fn is_welcome(&mut self, nodes: &[Block]) -> bool {
        self.cost.is_none_or(|least| self.cost(nodes).0 < least)
    }

    #[inline]
    fn take(&mut self, nodes: &[Block]) -> bool {
        let (mut cost, is_exact) = self.cost(nodes);
        if !is_exact {
            for &Block { at, bits } in nodes {
                self.situation.ask_about(Block { at, bits: bits & !self.set[at as usize] });
            }
            cost = self.cost(nodes).0;
        }
        if self.cost.is_none_or(|least| cost < least) {
            self.keep(nodes, cost);
        }
        self.is_free()
    }

    #[inline]
    fn show(&mut self, nodes: &[Block]) -> bool {
        let (cost, is_exact) = self.cost(nodes);
        if self.cost.is_none_or(|least| cost < least) {
            if !is_exact {
                return self.take(nodes);
            }
            self.keep(nodes, cost);
        }
        self.is_free()
    }
}
