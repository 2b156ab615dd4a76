//! "If this one is in, these must be": the rules from which stubborn sets are computed.
//!
//! The rules span a graph over *nodes*. Nodes below `n_transitions` are the transitions; nodes above are
//! imaginary transitions, such as the `t_c` of a state check: enabled exactly where the check fails and
//! changing nothing. An imaginary node is never fired and never counts as enabled for D0; it only
//! carries requirements from "may turn the check off" to "may turn the check on".

use crate::{Fault, System, TransitionId};
use std::ops::Range;

/// A system that knows its rules.
///
/// The owed guarantee: any set of nodes that is closed under the rules of a state (contains, for each
/// member, at least one of its alternatives completely) satisfies D1 and D2 there.
pub trait Rules: System {
    /// Number of nodes: transitions first, then imaginary ones.
    fn n_nodes(&self) -> usize {
        self.n_transitions()
    }

    /// What the presence of `t` in the stubborn set of `state` requires.
    fn require(&self, state: &Self::State, t: TransitionId, out: &mut Requirements) -> Result<(), Fault>;

    /// The smallest alternative of what [`Rules::require`] says, and of those the first, where it lies ready as a list: the same nodes in the
    /// same order. Most systems have no such lists.
    fn ready(&self, state: &Self::State, t: TransitionId) -> Option<&[TransitionId]> {
        let _ = (state, t);
        None
    }

    /// What [`Rules::require`] says, and what it depends on: appends the places of the state that were looked at to find out what is required and whether `t` is enabled. Two states
    /// that look the same there have the same answer, and looked at the same places. `None` if that is not known.
    fn tell(
        &self,
        state: &Self::State,
        t: TransitionId,
        out: &mut Requirements,
        places: &mut Vec<Range<usize>>,
    ) -> Result<Option<Told>, Fault> {
        let _ = (state, t, out, places);
        Ok(None)
    }

    /// Whether [`Rules::tell`] ever answers.
    fn tells(&self) -> bool {
        false
    }
}

/// What there is to know of a node in a state, besides what it requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Told {
    /// Whether it can be fired.
    pub is_enabled: bool,
    /// What was found at the first place that was looked at, which is the same one in all states.
    pub first: u32,
}

/// A system of whose transitions some can be seen from outside.
pub trait Visible: Rules {
    /// Whether `t` can be seen: it has a name, or may change in some state what holds there. If it cannot, nothing that
    /// holds is ever changed by it.
    fn is_visible(&self, t: TransitionId) -> bool;

    /// Whether transitions that cannot be seen come to an end, if those are left out that a closed set has which these
    /// imaginary nodes are in. May say no although it is so.
    fn ends_unseen(&self, nodes: &[TransitionId]) -> bool {
        let _ = nodes;
        false
    }
}

/// What a rule requires: one or more alternatives, each a list of nodes. Any one alternative suffices.
///
/// No alternative at all means that nothing is required.
#[derive(Clone, Debug, Default)]
pub struct Requirements {
    nodes: Vec<TransitionId>,
    /// End of each finished alternative in `nodes`; the last alternative runs to the end.
    ends: Vec<usize>,
    /// For each finished alternative, and then for the last: every node below this is in it, too.
    below: Vec<u32>,
    last_below: u32,
}

/// An alternative: every node below some number, and a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternative<'a> {
    /// Every node below this.
    pub below: u32,
    /// And these.
    pub nodes: &'a [TransitionId],
}

impl<'a> Alternative<'a> {
    /// All nodes, some of them perhaps twice.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = TransitionId> + 'a {
        (0..self.below).map(TransitionId).chain(self.nodes.iter().copied())
    }

    /// How many nodes [`Alternative::iter`] gives.
    #[inline]
    pub fn len(self) -> usize {
        self.below as usize + self.nodes.len()
    }

    /// Whether it is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl Requirements {
    /// Forgets everything.
    #[inline]
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.ends.clear();
        self.below.clear();
        self.last_below = 0;
    }

    /// The current alternative contains `t`.
    #[inline]
    pub fn add(&mut self, t: TransitionId) {
        self.nodes.push(t);
    }

    /// The current alternative contains every node below `n`. No list is made of them.
    pub fn add_all(&mut self, n: usize) {
        self.last_below = self.last_below.max(TransitionId::from(n).0);
    }

    /// Every alternative contains `t`.
    pub fn add_to_each(&mut self, t: TransitionId) {
        for end in (0..self.ends.len()).rev() {
            self.nodes.insert(self.ends[end], t);
            self.ends[end..].iter_mut().for_each(|end| *end += 1);
        }
        self.nodes.push(t);
    }

    /// What follows is another alternative.
    pub fn or(&mut self) {
        self.ends.push(self.nodes.len());
        self.below.push(std::mem::take(&mut self.last_below));
    }

    /// Number of alternatives, at least one.
    #[inline]
    pub fn n_alternatives(&self) -> usize {
        self.ends.len() + 1
    }

    /// Alternative `i`.
    #[inline]
    pub fn alternative(&self, i: usize) -> Alternative<'_> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let end = self.ends.get(i).copied().unwrap_or(self.nodes.len());
        let below = self.below.get(i).copied().unwrap_or(self.last_below);
        Alternative { below, nodes: &self.nodes[start..end] }
    }

    /// The smallest alternative; the first of those.
    #[inline]
    pub fn smallest(&self) -> Alternative<'_> {
        let mut best = self.alternative(0);
        for i in 1..self.n_alternatives() {
            let other = self.alternative(i);
            if other.len() < best.len() {
                best = other;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_told_apart() {
        let mut r = Requirements::default();
        assert_eq!(r.n_alternatives(), 1);
        assert!(r.smallest().is_empty());
        r.add(TransitionId(4));
        r.add(TransitionId(5));
        r.or();
        r.add(TransitionId(6));
        r.or();
        r.add_all(3);
        assert_eq!(r.n_alternatives(), 3);
        assert_eq!(r.alternative(0).nodes, [TransitionId(4), TransitionId(5)]);
        assert_eq!(r.smallest().iter().collect::<Vec<_>>(), [TransitionId(6)]);
        assert_eq!(r.alternative(2).iter().map(|t| t.0).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((r.alternative(1).below, r.alternative(2).len()), (0, 3));
        r.add_to_each(TransitionId(9));
        let nodes = |i: usize| r.alternative(i).iter().map(|t| t.0).collect::<Vec<_>>();
        assert_eq!([nodes(0), nodes(1), nodes(2)], [vec![4, 5, 9], vec![6, 9], vec![0, 1, 2, 9]]);
    }
}
