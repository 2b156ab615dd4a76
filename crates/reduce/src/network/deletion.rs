//! Deletion on the sets of a situation.
//!
//! **Implements** what [`Deletion`](crate::Deletion) of the kernel does: from all live nodes, enabled ones are deleted in turn,
//! with all that cannot stay without them, as long as an enabled one stays. Here a member has a *reason*: one of its
//! alternatives, all of which is there. When something goes, those whose reason it is in look for another, and go if
//! there is none. A reason that was found on the way is one before, too, so nothing is to be done about them if what
//! was deleted comes back. An alternative that is nobody's reason is never asked for. A node that could not be deleted
//! will not be deleted later, from less, and neither will what it brings: a deletion that comes to such a node has failed.
//!
//! Most nodes are such whose process is elsewhere, and their reasons are what leads towards them or what comes just before them. Who has
//! these is seen in the tables. Other reasons are larger sets, and few: who has one is noted for its blocks and looks again when something
//! goes from one of them that anybody uses.
//! **Preserves** D0, D1, D2.
//! **Differs from the text** in the order in which members go, which does not matter: what stays is the largest set
//! without the node whose members all have a reason.
//! **Checked by** comparison with the kernel's algorithm on all test models, and by the definition.

use super::nodes::{
    Block, WIDTH, Words, add, blocks_of, contains, copy, insert, intersection, is_within, remove,
    remove_range, reset,
};
use super::places::Place;
use super::situation::{Chooser, Situation};
use fixedbitset::FixedBitSet;

/// Everything but what can be deleted; kept from state to state, so that nothing is allocated.
#[derive(Default)]
pub(super) struct Deletion {
    /// What is there, and all nodes that are not live.
    left: Words,
    /// Nodes whose process is elsewhere and whose reason is what leads towards them.
    towards: Words,
    /// Such nodes whose reason is what comes just before them.
    before: Words,
    /// Nodes of a process just before which something has gone.
    severed: Words,
    /// For each other node: where its reason begins and ends among the blocks.
    reasons: Vec<(u32, u32)>,
    blocks: Vec<Block>,
    /// What these reasons are made of, all together.
    used: Words,
    /// For each block, a list: which other nodes have a reason there, or had, and where the list goes on.
    users: Vec<u32>,
    links: Vec<(u32, u32)>,
    /// Blocks from which something has gone that their users do not know of.
    changed: Vec<usize>,
    is_changed: Vec<bool>,
    /// What the deletion at hand has deleted so far.
    deleted: Vec<usize>,
    n_enabled: usize,
    /// What cannot be deleted any more.
    needed: Words,
    /// How many of that are enabled.
    n_needed: usize,
    work: Vec<usize>,
}

/// The end of a list.
const END: u32 = u32::MAX;

impl Deletion {
    /// A set from which no enabled node can be deleted, if fewer than `most` are left then. All processes were asked.
    pub(super) fn stubborn_set(&mut self, situation: &Situation<'_, '_>, most: usize) -> Option<FixedBitSet> {
        self.begin(situation);
        for node in situation.enabled().ones().rev() {
            if self.n_enabled > 1 && contains(&self.left, node) && !contains(&self.needed, node) {
                let n_enabled = self.n_enabled;
                if !self.delete(situation, node) {
                    self.n_enabled = n_enabled;
                    self.deleted.iter().for_each(|&node| insert(&mut self.left, node));
                    self.need(situation, node);
                    // They will all be left.
                    if self.n_needed >= most {
                        return None;
                    }
                }
            }
        }
        (self.n_enabled < most).then(|| intersection(&self.left, &situation.live))
    }

    /// Everything is there, and everything that is live has a reason.
    fn begin(&mut self, situation: &Situation<'_, '_>) {
        let n_nodes = situation.n_nodes();
        let n_blocks = n_nodes.div_ceil(WIDTH);
        for set in [&mut self.needed, &mut self.left, &mut self.before, &mut self.used] {
            reset(set, n_nodes);
        }
        self.left.fill(usize::MAX);
        self.is_changed.resize(n_blocks, false);
        self.reasons.resize(n_nodes, (0, 0));
        self.users.clear();
        self.users.resize(n_blocks, END);
        self.blocks.clear();
        self.links.clear();
        self.n_enabled = situation.enabled().count_ones(..);
        self.n_needed = 0;
        copy(&mut self.towards, &situation.live);
        for pid in 0..situation.n_processes() {
            let current = situation.current(pid);
            remove_range(&mut self.towards, current.clone());
            current.for_each(|node| self.begin_with(situation, node));
        }
        remove_range(&mut self.towards, situation.checks());
        situation.checks().for_each(|check| self.begin_with(situation, check));
    }

    fn begin_with(&mut self, situation: &Situation<'_, '_>, node: usize) {
        let has_reason = self.find_other_reason(situation, node);
        debug_assert!(has_reason, "everything is there");
    }

    /// Deletes a node and what cannot stay without it. Whether that can be: something enabled is left, and nothing that is needed goes.
    fn delete(&mut self, situation: &Situation<'_, '_>, node: usize) -> bool {
        self.deleted.clear();
        self.changed.clear();
        self.is_changed.fill(false);
        if !self.remove(situation, node) {
            return false;
        }
        let mut next = 0;
        loop {
            // These first: if the deletion fails, then mostly because of them.
            while let Some(block) = self.changed.pop() {
                self.is_changed[block] = false;
                if !self.settle_users(situation, block) {
                    return false;
                }
            }
            let Some(&gone) = self.deleted.get(next) else { return true };
            next += 1;
            if !self.settle_followers(situation, gone) {
                return false;
            }
        }
    }

    fn remove(&mut self, situation: &Situation<'_, '_>, node: usize) -> bool {
        remove(&mut self.left, node);
        self.deleted.push(node);
        if contains(&self.used, node) && !std::mem::replace(&mut self.is_changed[node / WIDTH], true) {
            self.changed.push(node / WIDTH);
        }
        self.n_enabled -= usize::from(situation.is_enabled(node));
        self.n_enabled > 0 && !contains(&self.needed, node)
    }

    /// Something has gone from a block: finds other reasons for those who need one, or deletes them. Whether they could be deleted then.
    fn settle_users(&mut self, situation: &Situation<'_, '_>, block: usize) -> bool {
        let mut link = self.users[block];
        while link != END {
            let (user, rest) = self.links[link as usize];
            link = rest;
            let user = user as usize;
            if contains(&self.left, user) && !self.has_reason(user) && !self.settle(situation, user) {
                return false;
            }
        }
        true
    }

    /// A node has gone: the same for nodes of its process whose reason is what leads towards them or comes just before them.
    fn settle_followers(&mut self, situation: &Situation<'_, '_>, gone: usize) -> bool {
        if !situation.is_step(gone) {
            return true;
        }
        if situation.is_current(gone) && !self.settle_place(situation, situation.place(situation.pid(gone))) {
            return false;
        }
        situation.after(gone).iter().all(|&Block { at, bits }| {
            let bits = bits & self.before[at as usize];
            self.settle_all(situation, Block { at, bits })
        })
    }

    /// The same for nodes whose reason was what leads towards them: for most of them, what comes just before them will do.
    fn settle_place(&mut self, situation: &Situation<'_, '_>, place: &Place) -> bool {
        reset(&mut self.severed, situation.n_nodes());
        for Block { at, bits } in blocks_of(place.all()) {
            for gone in (Block { at, bits: bits & !self.left[at as usize] }).ones() {
                add(&mut self.severed, situation.after(gone));
            }
        }
        for group in place.groups() {
            if is_within(place.towards(group), &self.left) {
                continue;
            }
            for &Block { at, bits } in place.members(group) {
                let block = at as usize;
                let towards = bits & self.towards[block] & self.left[block];
                let severed = towards & self.severed[block];
                self.towards[block] ^= towards ^ severed;
                self.before[block] |= towards ^ severed;
                if !self.settle_all(situation, Block { at, bits: severed }) {
                    return false;
                }
            }
        }
        true
    }

    /// Finds other reasons for those of some nodes that are there, or deletes them. Whether they could be deleted then.
    fn settle_all(&mut self, situation: &Situation<'_, '_>, nodes: Block) -> bool {
        let bits = nodes.bits & self.left.as_slice()[nodes.at as usize];
        (Block { bits, ..nodes }).ones().all(|node| self.settle(situation, node))
    }

    /// The same for one.
    fn settle(&mut self, situation: &Situation<'_, '_>, node: usize) -> bool {
        self.find_reason(situation, node) || self.remove(situation, node)
    }

    /// An enabled node cannot be deleted, so it is in every stubborn set that is left, and with it all that it brings.
    fn need(&mut self, situation: &Situation<'_, '_>, node: usize) {
        insert(&mut self.needed, node);
        self.n_needed += 1;
        self.work.push(node);
        while let Some(node) = self.work.pop() {
            situation.with_enabled(node, |nodes| {
                for &Block { at, bits } in nodes {
                    let new = bits & !self.needed[at as usize];
                    self.needed[at as usize] |= new;
                    let bits = new & situation.firing()[at as usize];
                    self.n_needed += bits.count_ones() as usize;
                    self.work.extend((Block { at, bits }).ones());
                }
            });
        }
    }

    /// Whether the reason of a node is whole, if it is neither what leads towards it nor what comes just before it.
    #[inline]
    fn has_reason(&self, node: usize) -> bool {
        let (from, to) = self.reasons[node];
        is_within(&self.blocks[from as usize..to as usize], &self.left)
    }

    /// Finds an alternative of a node that is there, if there is one: then that is its reason.
    fn find_reason(&mut self, situation: &Situation<'_, '_>, node: usize) -> bool {
        if !situation.is_step(node) || situation.is_current(node) {
            return self.find_other_reason(situation, node);
        }
        let place = situation.place(situation.pid(node));
        let leads = is_within(place.towards(place.group(node)), &self.left);
        let comes = !leads && is_within(situation.before(node), &self.left);
        // What goes keeps what its reason was: it may come back.
        let has_reason = leads || comes || self.find_other_reason(situation, node);
        if has_reason {
            let (towards, before) = (&mut self.towards, &mut self.before);
            if leads {
                insert(towards, node)
            } else {
                remove(towards, node)
            }
            if comes { insert(before, node) } else { remove(before, node) }
        }
        has_reason
    }

    /// Finds an alternative that is no step of the process of the node, if that is elsewhere.
    fn find_other_reason(&mut self, situation: &Situation<'_, '_>, node: usize) -> bool {
        let from = self.blocks.len();
        let mut search = Search { left: &self.left, blocks: &mut self.blocks, is_found: false };
        situation.others(node, &mut search);
        if !search.is_found {
            return false;
        }
        self.reasons[node] = (from as u32, self.blocks.len() as u32);
        add(&mut self.used, &self.blocks[from..]);
        for &Block { at, .. } in &self.blocks[from..] {
            let rest = std::mem::replace(&mut self.users[at as usize], self.links.len() as u32);
            self.links.push((node as u32, rest));
        }
        true
    }
}

/// Finds an alternative that is there.
struct Search<'d> {
    left: &'d [usize],
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
