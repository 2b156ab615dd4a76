//! Deletion on the sets of a situation.
//!
//! **Implements** what [`Deletion`](crate::Deletion) of the kernel does: from all live nodes, enabled ones are deleted in turn,
//! with all that cannot stay without them, as long as an enabled one stays. Here a member has a *reason*: one of its
//! alternatives, all of which is there. When something goes, those whose reason it is in look for another, and go if
//! there is none. A reason that was found on the way is one before, too, so nothing is to be done about them if what
//! was deleted comes back. An alternative that is nobody's reason is never asked for. A node that could not be deleted
//! will not be deleted later, from less, and neither will what it brings: a deletion that comes to such a node has failed.
//! **Preserves** D0, D1, D2.
//! **Differs from the text** in the order in which members go, which does not matter: what stays is the largest set
//! without the node whose members all have a reason.
//! **Checked by** comparison with the kernel's algorithm on all test models, and by the definition.

use super::nodes::{Block, blocks_of, empty, is_within};
use super::situation::{Chooser, Situation};
use fixedbitset::FixedBitSet;

/// Everything but what can be deleted; kept from state to state, so that nothing is allocated.
#[derive(Default)]
pub(super) struct Deletion {
    /// What is there, and all nodes that are not live.
    left: FixedBitSet,
    /// Nodes whose process is elsewhere and whose reason is as yet what leads towards them.
    towards: FixedBitSet,
    /// For each other node: where its reason begins and ends among the blocks.
    reasons: Vec<(u32, u32)>,
    blocks: Vec<Block>,
    /// For each node, a list: whose reason it is in, or was, and where the list goes on.
    users: Vec<u32>,
    links: Vec<(u32, u32)>,
    /// What the deletion at hand has deleted so far.
    deleted: Vec<usize>,
    /// What cannot be deleted any more.
    needed: FixedBitSet,
    work: Vec<usize>,
}

/// The end of a list.
const END: u32 = u32::MAX;

impl Deletion {
    /// A set from which no enabled node can be deleted. All processes were asked.
    pub(super) fn stubborn_set(&mut self, situation: &Situation<'_, '_>) -> FixedBitSet {
        self.begin(situation);
        let mut n_enabled = situation.enabled().count_ones(..);
        for node in situation.enabled().ones().rev() {
            if n_enabled > 1 && self.left.contains(node) && !self.needed.contains(node) {
                match self.delete(situation, node, n_enabled) {
                    Some(n) => n_enabled = n,
                    None => {
                        self.deleted.iter().for_each(|&node| self.left.insert(node));
                        self.need(situation, node);
                    }
                }
            }
        }
        let mut set = self.left.clone();
        set.intersect_with(&situation.live);
        set
    }

    /// Everything is there, and everything that is live has a reason.
    fn begin(&mut self, situation: &Situation<'_, '_>) {
        let n_nodes = situation.n_nodes();
        empty(&mut self.needed, n_nodes);
        empty(&mut self.left, n_nodes);
        self.left.insert_range(..);
        self.reasons.clear();
        self.reasons.resize(n_nodes, (0, 0));
        self.users.clear();
        self.users.resize(n_nodes, END);
        self.blocks.clear();
        self.links.clear();
        self.towards.clone_from(&situation.live);
        for pid in 0..situation.n_processes() {
            for node in situation.current(pid) {
                self.towards.remove(node);
                let has_reason = self.find_reason(situation, node);
                debug_assert!(has_reason, "everything is there");
            }
        }
        for check in situation.checks() {
            self.towards.remove(check);
            let has_reason = self.find_reason(situation, check);
            debug_assert!(has_reason, "everything is there");
        }
    }

    /// Deletes a node and what cannot stay without it. How many enabled nodes are left; `None` if there would be none, or
    /// something would go that cannot.
    fn delete(&mut self, situation: &Situation<'_, '_>, node: usize, mut n_enabled: usize) -> Option<usize> {
        self.deleted.clear();
        self.deleted.push(node);
        self.left.remove(node);
        let mut next = 0;
        while let Some(&gone) = self.deleted.get(next) {
            next += 1;
            n_enabled -= usize::from(situation.enabled().contains(gone));
            if n_enabled == 0 {
                return None;
            }
            let mut link = self.users[gone];
            while link != END {
                let (user, rest) = self.links[link as usize];
                link = rest;
                let user = user as usize;
                if self.left.contains(user) && !self.has_reason(user) && !self.settle(situation, user) {
                    return None;
                }
            }
            if situation.is_step(gone) && situation.is_current(gone) {
                let place = situation.place(situation.pid(gone));
                for Block { at, bits } in blocks_of(place.all.clone()) {
                    let bits =
                        bits & self.towards.as_slice()[at as usize] & self.left.as_slice()[at as usize];
                    for user in (Block { at, bits }).ones() {
                        if !is_within(place.towards(user), &self.left) && !self.settle(situation, user) {
                            return None;
                        }
                    }
                }
            }
        }
        Some(n_enabled)
    }

    /// Finds another reason for a node, or deletes it. Whether it could be deleted then.
    fn settle(&mut self, situation: &Situation<'_, '_>, node: usize) -> bool {
        if self.find_reason(situation, node) {
            self.towards.remove(node);
            return true;
        }
        self.left.remove(node);
        self.deleted.push(node);
        !self.needed.contains(node)
    }

    /// An enabled node cannot be deleted, so it is in every stubborn set that is left, and with it all that it brings.
    fn need(&mut self, situation: &Situation<'_, '_>, node: usize) {
        self.needed.insert(node);
        self.work.push(node);
        while let Some(node) = self.work.pop() {
            situation.with_enabled(node, |nodes| {
                for &Block { at, bits } in nodes {
                    let new = bits & !self.needed.as_slice()[at as usize];
                    self.needed.as_mut_slice()[at as usize] |= new;
                    let bits = new & situation.enabled().as_slice()[at as usize];
                    self.work.extend((Block { at, bits }).ones());
                }
            });
        }
    }

    /// Whether the reason of a node is whole.
    #[inline]
    fn has_reason(&self, node: usize) -> bool {
        let (from, to) = self.reasons[node];
        is_within(&self.blocks[from as usize..to as usize], &self.left)
    }

    /// Finds an alternative of a node that is there, if there is one: then that is its reason.
    #[inline]
    fn find_reason(&mut self, situation: &Situation<'_, '_>, node: usize) -> bool {
        let from = self.blocks.len();
        let mut search = Search { left: &self.left, blocks: &mut self.blocks, is_found: false };
        situation.alternatives(node, &mut search);
        if !search.is_found {
            return false;
        }
        self.reasons[node] = (from as u32, self.blocks.len() as u32);
        let live = situation.live.as_slice();
        for &Block { at, bits } in &self.blocks[from..] {
            for member in (Block { at, bits: bits & live[at as usize] }).ones() {
                let rest = std::mem::replace(&mut self.users[member], self.links.len() as u32);
                self.links.push((node as u32, rest));
            }
        }
        true
    }
}

/// Finds an alternative that is there.
struct Search<'d> {
    left: &'d FixedBitSet,
    blocks: &'d mut Vec<Block>,
    is_found: bool,
}

impl Chooser for Search<'_> {
    #[inline]
    fn is_welcome(&mut self, nodes: &[Block]) -> bool {
        is_within(nodes, self.left)
    }

    #[inline]
    fn take(&mut self, nodes: &[Block]) -> bool {
        self.blocks.extend_from_slice(nodes);
        self.is_found = true;
        true
    }
}
