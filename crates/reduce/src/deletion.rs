//! Stubborn sets by deletion: start from everything and delete while the rest stays stubborn.
//!
//! **Implements** the deletion algorithm (Valmari; V93 section 4 mentions it as the slower, better
//! alternative): the result has an inclusion-minimal set of enabled transitions. Unlike the other
//! algorithms it makes use of every alternative of a rule, not only of the smallest.
//! **Preserves** D0, D1, D2 (`Preserves::Basic`).
//! **Differs from the text** nowhere. One pass suffices: a deletion that would take the last enabled
//! transition now would also take it later, from a smaller set.
//! **Checked by** `Checked` and the campaign.

use crate::{Preserves, Reduction};
use stubborn_system::{Alternative, Batch, Fault, Requirements, Rules, TransitionId, Vector};

/// Everything but what can be deleted.
#[derive(Debug)]
pub struct Deletion<S: Vector + ?Sized> {
    /// The alternatives of all nodes, one behind the other: whose they are.
    owner: Vec<u32>,
    /// For each node, the alternatives that contain it: `users[starts[n]..starts[n + 1]]`.
    users: Vec<u32>,
    starts: Vec<u32>,
    /// The members of all alternatives, one behind the other, and where each ends.
    members: Vec<u32>,
    ends: Vec<u32>,
    /// The alternatives that contain every transition: they go with the first one that is deleted.
    everything: Vec<u32>,
    alive: Vec<bool>,
    alternative_alive: Vec<bool>,
    /// Alternatives left to each node.
    left: Vec<u32>,
    /// Of the enabled transitions, those of which one must stay.
    enabled: Vec<bool>,
    /// What the deletion in hand has deleted so far: nodes, and alternatives.
    deleted: Vec<u32>,
    deleted_alternatives: Vec<u32>,
    successors: Batch<S>,
    scratch: Requirements,
}

impl<S: Vector + ?Sized> Default for Deletion<S> {
    fn default() -> Self {
        Self {
            owner: Vec::new(),
            users: Vec::new(),
            starts: Vec::new(),
            members: Vec::new(),
            ends: Vec::new(),
            everything: Vec::new(),
            alive: Vec::new(),
            alternative_alive: Vec::new(),
            left: Vec::new(),
            enabled: Vec::new(),
            deleted: Vec::new(),
            deleted_alternatives: Vec::new(),
            successors: Batch::new(),
            scratch: Requirements::default(),
        }
    }
}

impl<S: Vector + ?Sized> Deletion<S> {
    /// Collects rules and enabledness of all nodes; everything is alive.
    fn prepare<Y: Rules<State = S> + ?Sized>(&mut self, system: &Y, state: &S) -> Result<(), Fault> {
        let n = system.n_nodes();
        self.owner.clear();
        self.members.clear();
        self.ends.clear();
        self.everything.clear();
        self.left.clear();
        for node in 0..n {
            self.scratch.clear();
            system.require(state, TransitionId::from(node), &mut self.scratch)?;
            self.left.push(self.scratch.n_alternatives() as u32);
            for i in 0..self.scratch.n_alternatives() {
                let alternative = self.owner.len() as u32;
                self.owner.push(node as u32);
                let first = self.members.len();
                let Alternative { below, nodes } = self.scratch.alternative(i);
                // Only transitions are ever the first to be deleted, so this alternative dies at once.
                let listed = if below as usize >= system.n_transitions() && below > 0 {
                    self.everything.push(alternative);
                    0
                } else {
                    below
                };
                self.members.extend(0..listed);
                self.members.extend(nodes.iter().map(|t| t.0));
                self.name_once(first);
                self.ends.push(self.members.len() as u32);
            }
        }
        self.sort_users(n);
        self.alive.clear();
        self.alive.resize(n, true);
        self.alternative_alive.clear();
        self.alternative_alive.resize(self.owner.len(), true);
        self.successors.clear();
        system.successors(state, &mut self.successors)?;
        self.enabled.clear();
        self.enabled.resize(n, false);
        for i in 0..self.successors.len() {
            self.enabled[self.successors.via(i).index()] = true;
        }
        Ok(())
    }

    /// A node may be named twice in one alternative; once is enough.
    fn name_once(&mut self, first: usize) {
        if self.members[first..].windows(2).all(|pair| pair[0] < pair[1]) {
            return;
        }
        self.members[first..].sort_unstable();
        let mut kept = first;
        for k in first..self.members.len() {
            if k == first || self.members[k] != self.members[k - 1] {
                self.members[kept] = self.members[k];
                kept += 1;
            }
        }
        self.members.truncate(kept);
    }

    /// Turns members of alternatives into alternatives of members, by counting.
    fn sort_users(&mut self, n: usize) {
        self.starts.clear();
        self.starts.resize(n + 1, 0);
        self.members.iter().for_each(|&node| self.starts[node as usize] += 1);
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.users.clear();
        self.users.resize(self.members.len(), 0);
        // Each start is an end as yet and goes down to where it belongs.
        let mut end = self.members.len();
        for alternative in (0..self.ends.len()).rev() {
            let first = if alternative == 0 { 0 } else { self.ends[alternative - 1] as usize };
            for k in (first..end).rev() {
                let start = &mut self.starts[self.members[k] as usize];
                *start -= 1;
                self.users[*start as usize] = alternative as u32;
            }
            end = first;
        }
    }

    /// Deletes `node` and all that cannot stay without it; takes it back if no enabled transition is left.
    /// `n_enabled` is the number of enabled transitions alive.
    fn try_delete(&mut self, node: u32, n_enabled: &mut usize) {
        let before = *n_enabled;
        self.deleted.clear();
        self.deleted_alternatives.clear();
        self.alive[node as usize] = false;
        self.deleted.push(node);
        for i in 0..self.everything.len() {
            self.drop_alternative(self.everything[i]);
        }
        let mut next = 0;
        while next < self.deleted.len() {
            let gone = self.deleted[next] as usize;
            next += 1;
            *n_enabled -= usize::from(self.enabled[gone]);
            if *n_enabled == 0 {
                return self.undo(n_enabled, before);
            }
            for k in self.starts[gone]..self.starts[gone + 1] {
                self.drop_alternative(self.users[k as usize]);
            }
        }
    }

    /// An alternative has lost a member; its owner goes with its last alternative.
    fn drop_alternative(&mut self, alternative: u32) {
        let owner = self.owner[alternative as usize];
        if !std::mem::replace(&mut self.alternative_alive[alternative as usize], false) {
            return;
        }
        self.deleted_alternatives.push(alternative);
        self.left[owner as usize] -= 1;
        if self.left[owner as usize] == 0 && std::mem::replace(&mut self.alive[owner as usize], false) {
            self.deleted.push(owner);
        }
    }

    fn undo(&mut self, n_enabled: &mut usize, before: usize) {
        *n_enabled = before;
        for &node in &self.deleted {
            self.alive[node as usize] = true;
        }
        for &alternative in &self.deleted_alternatives {
            self.alternative_alive[alternative as usize] = true;
            self.left[self.owner[alternative as usize] as usize] += 1;
        }
    }

    /// After this, `alive` is the stubborn set.
    fn choose<Y: Rules<State = S> + ?Sized>(&mut self, system: &Y, state: &S) -> Result<(), Fault> {
        self.choose_with(system, state, |_| true, |_| false)
    }

    /// The same if one of the transitions that are `wanted` must stay, of which there must be an enabled one, and
    /// those that should go `first` are tried first.
    pub(crate) fn choose_with<Y: Rules<State = S> + ?Sized>(
        &mut self,
        system: &Y,
        state: &S,
        wanted: impl Fn(TransitionId) -> bool,
        first: impl Fn(TransitionId) -> bool,
    ) -> Result<(), Fault> {
        self.prepare(system, state)?;
        let mut n_wanted = 0;
        for i in 0..self.successors.len() {
            let t = self.successors.via(i);
            self.enabled[t.index()] = wanted(t);
            n_wanted += usize::from(wanted(t));
        }
        for goes_first in [true, false] {
            for i in 0..self.successors.len() {
                let t = self.successors.via(i);
                let may_go = n_wanted > 1 || !self.enabled[t.index()];
                if first(t) == goes_first && may_go && self.alive[t.index()] {
                    self.try_delete(t.0, &mut n_wanted);
                }
            }
        }
        Ok(())
    }

    /// Whether a node is in the set that was chosen last.
    pub(crate) fn has(&self, t: TransitionId) -> bool {
        self.alive[t.index()]
    }
}

impl<Y: Rules + ?Sized> Reduction<Y> for Deletion<Y::State> {
    fn name(&self) -> String {
        "deletion".into()
    }

    fn preserves(&self) -> Preserves {
        Preserves::Basic
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.choose(system, state)?;
        for i in 0..self.successors.len() {
            let t = self.successors.via(i);
            if self.alive[t.index()] {
                out.push(t, self.successors.state(i));
            }
        }
        Ok(())
    }

    fn stubborn_set(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        self.choose(system, state)?;
        out.extend((0..self.alive.len()).filter(|&n| self.alive[n]).map(TransitionId::from));
        Ok(())
    }
}
