//! Which alternative of a node costs least: enabled nodes that are new in a set, then nodes that are new.
//!
//! **Asks** about the processes of an alternative only if it may turn out to cost less than the best one so far: as long
//! as they were not asked, none of their nodes counts as enabled. Nodes are counted only where enabled ones do not decide.
//! **Checked by** the definition, for the closures that are made this way.

use super::nodes::Block;
use super::situation::{Chooser, Situation};
use std::cell::Cell;

/// What an alternative would bring, all blocks in one: nodes that are new, and those of them that are enabled, or whose processes
/// were not asked.
#[derive(Clone, Copy)]
pub(super) struct Offer {
    pub(super) new: usize,
    pub(super) firing: usize,
    pub(super) unasked: usize,
}

/// How many enabled nodes would be new, in the upper half, and how many nodes.
pub(super) type Cost = u64;

/// An enabled node.
const ENABLED: Cost = 1 << 32;

/// What alternatives cost for a set that they would be added to.
#[derive(Clone, Copy)]
pub(super) struct Prices<'c, 's> {
    set: &'c [usize],
    enabled: &'c [usize],
    unasked: &'s [Cell<usize>],
}

impl<'c, 's> Prices<'c, 's> {
    #[inline]
    pub(super) fn new<'a: 'c>(situation: &'s Situation<'a, '_>, set: &'c [usize]) -> Self {
        Self { set, enabled: situation.firing(), unasked: situation.unasked() }
    }

    /// What an alternative would bring; of enabled nodes at least these, as long as processes were not asked.
    #[inline(always)]
    pub(super) fn offer(&self, nodes: &[Block]) -> Offer {
        let mut offer = Offer { new: 0, firing: 0, unasked: 0 };
        for &Block { at, bits } in nodes {
            let block = at as usize;
            let new = bits & !self.set[block];
            let unasked = new & self.unasked[block].get();
            offer.new |= new;
            offer.unasked |= unasked;
            offer.firing |= new & self.enabled[block] & !unasked;
        }
        offer
    }

    /// What an alternative costs, as far as it was asked.
    pub(super) fn cost(&self, nodes: &[Block]) -> Cost {
        let mut cost = 0;
        for &Block { at, bits } in nodes {
            let block = at as usize;
            let new = bits & !self.set[block];
            let firing = new & self.enabled[block] & !self.unasked[block].get();
            cost += count(new) + ENABLED * count(firing);
        }
        cost
    }

    /// The same of an alternative of which it is known what it would bring.
    #[inline]
    pub(super) fn cost_of(&self, nodes: &[Block], offer: Offer) -> Cost {
        // Most have one block.
        if nodes.len() == 1 { count(offer.new) + ENABLED * count(offer.firing) } else { self.cost(nodes) }
    }

    /// Asks about the processes of nodes that are new.
    pub(super) fn ask_about(&self, nodes: &[Block], situation: &Situation<'_, '_>) {
        for &Block { at, bits } in nodes {
            situation.ask_about(Block { at, bits: bits & !self.set[at as usize] });
        }
    }
}

/// Finds the first of the alternatives that cost least.
pub(super) struct Cheapest<'c, 's, 'a, 'n> {
    situation: &'s Situation<'a, 'n>,
    prices: Prices<'c, 's>,
    /// What the best one would bring, if one was shown.
    best: Option<Offer>,
    /// What it costs, if that had to be found out.
    cost: Option<Cost>,
    pub(super) least: Vec<Block>,
}

impl<'c, 's, 'a, 'n> Cheapest<'c, 's, 'a, 'n> {
    /// For a set that the alternatives would be added to. `least` is room for one of them.
    #[inline]
    pub(super) fn new(situation: &'s Situation<'a, 'n>, set: &'c [usize], least: Vec<Block>) -> Self
    where
        'a: 'c,
    {
        Self { situation, prices: Prices::new(situation, set), best: None, cost: None, least }
    }

    /// Whether there is an alternative that costs nothing.
    #[inline]
    pub(super) fn is_free(&self) -> bool {
        self.best.is_some_and(|best| best.new == 0)
    }

    /// Whether an alternative costs less than the best one.
    #[inline]
    fn is_less(&mut self, nodes: &[Block], offer: Offer) -> bool {
        let Some(best) = self.best else { return true };
        match (offer.firing != 0, best.firing != 0) {
            (false, true) => true,
            (true, false) => false,
            _ if best.new == 0 => false,
            _ => offer.new == 0 || self.has_less(nodes, offer, best),
        }
    }

    /// The same of an alternative that brings something new.
    fn has_less(&mut self, nodes: &[Block], offer: Offer, best: Offer) -> bool {
        let least = self.cost.unwrap_or_else(|| self.prices.cost_of(&self.least, best));
        self.cost = Some(least);
        least > 1 && self.prices.cost_of(nodes, offer) < least
    }

    #[inline]
    fn keep(&mut self, nodes: &[Block], offer: Offer) {
        (self.best, self.cost) = (Some(offer), None);
        self.least.clear();
        // One by one: mostly there is one.
        nodes.iter().for_each(|&block| self.least.push(block));
    }
}

/// How many bits are set: mostly none or one.
#[inline]
pub(super) fn count(bits: usize) -> Cost {
    if bits & bits.wrapping_sub(1) == 0 { (bits != 0).into() } else { bits.count_ones().into() }
}

impl Chooser for Cheapest<'_, '_, '_, '_> {
    #[inline]
    fn is_welcome(&mut self, nodes: &[Block]) -> bool {
        self.is_less(nodes, self.prices.offer(nodes))
    }

    #[inline]
    fn take(&mut self, nodes: &[Block]) -> bool {
        let mut offer = self.prices.offer(nodes);
        if offer.unasked != 0 {
            self.prices.ask_about(nodes, self.situation);
            offer = self.prices.offer(nodes);
        }
        if self.is_less(nodes, offer) {
            self.keep(nodes, offer);
        }
        self.is_free()
    }

    #[inline]
    fn show(&mut self, nodes: &[Block]) -> bool {
        let offer = self.prices.offer(nodes);
        if self.is_less(nodes, offer) {
            if offer.unasked != 0 {
                return self.take(nodes);
            }
            self.keep(nodes, offer);
        }
        self.is_free()
    }

    #[inline]
    fn show_first(&mut self, one: &[Block], other: &[Block]) -> bool {
        let (first, second) = (self.prices.offer(one), self.prices.offer(other));
        debug_assert!(first.unasked | second.unasked == 0, "their process was asked");
        let is_second = match (first.firing != 0, second.firing != 0) {
            (true, false) => true,
            (false, true) => false,
            _ => self.prices.cost_of(other, second) < self.prices.cost_of(one, first),
        };
        if is_second {
            self.keep(other, second)
        } else {
            self.keep(one, first)
        }
        self.is_free()
    }
}
