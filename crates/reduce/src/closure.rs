//! Stubborn sets by closure: one enabled transition, and everything that the rules bring.
//!
//! **Implements** the simplest algorithm over the rules (VS Algorithm 3 with a fixed choice): start from
//! the enabled transition with the highest number and close.
//! **Preserves** D0, D1, D2 (`Preserves::Basic`).
//! **Differs from the text** in that a disabled transition with several necessary enabling sets takes the
//! smallest.
//! **Checked by** `Checked` (the definition, per state) and the campaign in `oracle`.

use crate::{Preserves, Reduction};
use stubborn_system::{Batch, Fault, Requirements, Rules, TransitionId};

/// The closure of one enabled transition.
#[derive(Debug, Default)]
pub struct Closure {
    closer: Closer,
}

impl<Y: Rules + ?Sized> Reduction<Y> for Closure {
    fn name(&self) -> String {
        "closure".into()
    }

    fn preserves(&self) -> Preserves {
        Preserves::Basic
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        for t in (0..system.n_transitions()).rev().map(TransitionId::from) {
            if !system.fire(state, t, out)? {
                continue;
            }
            // Members are fired in the order in which they came in; the start is the first of them.
            for &u in &self.closer.close(system, state, &[t])?[1..] {
                if u.index() < system.n_transitions() {
                    system.fire(state, u, out)?;
                }
            }
            return Ok(());
        }
        Ok(())
    }

    fn stubborn_set(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        let mut successors = Batch::new();
        self.expand(system, state, &mut successors)?;
        self.closer.close_fired(system, state, &successors, out)
    }
}

/// Computes closures; keeps its memory between states.
#[derive(Debug, Default)]
pub(crate) struct Closer {
    /// A node is a member if its stamp is the current one.
    stamps: Vec<u32>,
    stamp: u32,
    members: Vec<TransitionId>,
    required: Requirements,
}

impl Closer {
    /// The smallest set that contains `start` and is closed under the rules, in the order of insertion.
    pub(crate) fn close<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        state: &Y::State,
        start: &[TransitionId],
    ) -> Result<&[TransitionId], Fault> {
        next_stamp(&mut self.stamps, &mut self.stamp, system.n_nodes());
        self.members.clear();
        for &t in start {
            self.insert(t);
        }
        // `members` doubles as the work list: everything before `next` has been expanded.
        let mut next = 0;
        while next < self.members.len() {
            let t = self.members[next];
            if let Some(nodes) = system.ready(state, t) {
                nodes.iter().for_each(|&t| self.insert(t));
            } else {
                let mut required = std::mem::take(&mut self.required);
                required.clear();
                system.require(state, t, &mut required)?;
                required.smallest().iter().for_each(|t| self.insert(t));
                self.required = required;
            }
            next += 1;
        }
        Ok(&self.members)
    }

    /// Appends the closure of what was fired to `out`.
    pub(crate) fn close_fired<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        state: &Y::State,
        successors: &Batch<Y::State>,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        let fired: Vec<_> = (0..successors.len()).map(|i| successors.via(i)).collect();
        out.extend_from_slice(self.close(system, state, &fired)?);
        Ok(())
    }

    #[inline]
    fn insert(&mut self, t: TransitionId) {
        let stamp = &mut self.stamps[t.index()];
        if *stamp != self.stamp {
            *stamp = self.stamp;
            self.members.push(t);
        }
    }
}

/// Makes all stamps old, for `n` nodes.
pub(crate) fn next_stamp(stamps: &mut Vec<u32>, stamp: &mut u32, n: usize) {
    stamps.resize(n, 0);
    *stamp = stamp.wrapping_add(1);
    if *stamp == 0 {
        stamps.fill(0);
        *stamp = 1;
    }
}
