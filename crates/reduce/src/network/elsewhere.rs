//! What comes with a node whose process is elsewhere.
//!
//! **Implements** the choice of [`Cheapest`](super::cheapest::Cheapest) for the nodes of which there are most. All that may come with them
//! lies in the tables, so nothing is copied: the steps that lead towards them, those that come just before them, and for each
//! clause of their guards that is false now whatever may make it true.
//! **Asks** what that asks.
//! **Checked by** the definition, for the closures that are made this way.

use super::cheapest::{Cost, Offer, Prices};
use super::nodes::Block;
use super::rows::ClauseRow;
use super::situation::Situation;

/// The alternative that costs least of a node whose process was asked and must take one of the steps `towards` it: the first of them.
/// Nothing if there is one that costs nothing.
#[inline]
pub(super) fn elsewhere<'s>(
    situation: &'s Situation<'_, '_>,
    set: &[usize],
    node: usize,
    towards: &'s [Block],
) -> Option<&'s [Block]> {
    let prices = Prices::new(situation, set);
    let one = prices.offer(towards);
    if one.new == 0 {
        return None;
    }
    let before = situation.before(node);
    let other = prices.offer(before);
    if other.new == 0 {
        return None;
    }
    let mut least = Least::of(prices, (towards, one), (before, other));
    for clause in situation.clauses_elsewhere(node) {
        least.show(situation, clause);
        if least.offer.new == 0 {
            return None;
        }
    }
    Some(least.nodes)
}

/// The alternative that costs least of those that were shown.
struct Least<'c, 's> {
    prices: Prices<'c, 's>,
    nodes: &'s [Block],
    offer: Offer,
    /// What it costs, if that had to be found out.
    cost: Option<Cost>,
}

impl<'c, 's> Least<'c, 's> {
    /// The cheaper of two of a process that was asked, each of which brings something.
    #[inline]
    fn of(prices: Prices<'c, 's>, one: (&'s [Block], Offer), other: (&'s [Block], Offer)) -> Self {
        debug_assert!(one.1.unasked | other.1.unasked == 0, "their process was asked");
        let is_second = match (one.1.firing != 0, other.1.firing != 0) {
            (true, false) => true,
            (false, true) => false,
            _ => prices.cost_of(other.0, other.1) < prices.cost_of(one.0, one.1),
        };
        let (nodes, offer) = if is_second { other } else { one };
        Self { prices, nodes, offer, cost: None }
    }

    /// Shows whatever may make a clause true, if that is false.
    #[inline]
    fn show(&mut self, situation: &Situation<'_, '_>, clause: &'s ClauseRow) {
        if !situation.may_be_false(clause) {
            return;
        }
        let nodes = &clause.enablers[..];
        let mut offer = self.prices.offer(nodes);
        if !self.is_less(nodes, offer) || !situation.is_false(clause) {
            return;
        }
        if offer.unasked != 0 {
            self.prices.ask_about(nodes, situation);
            offer = self.prices.offer(nodes);
            if !self.is_less(nodes, offer) {
                return;
            }
        }
        (self.nodes, self.offer, self.cost) = (nodes, offer, None);
    }

    /// Whether an alternative costs less than the best one, which costs something.
    #[inline]
    fn is_less(&mut self, nodes: &[Block], offer: Offer) -> bool {
        match (offer.firing != 0, self.offer.firing != 0) {
            (false, true) => true,
            (true, false) => false,
            _ => offer.new == 0 || self.has_less(nodes, offer),
        }
    }

    /// The same of an alternative that brings something new.
    fn has_less(&mut self, nodes: &[Block], offer: Offer) -> bool {
        let least = self.cost.unwrap_or_else(|| self.prices.cost_of(self.nodes, self.offer));
        self.cost = Some(least);
        least > 1 && self.prices.cost_of(nodes, offer) < least
    }
}
