//! Stubborn sets towards a state: what must happen before the condition of a rejection can hold.
//!
//! **Implements** up-sets: the set is the closure of transitions of which one must be fired before the condition can hold.
//! Any way there then has a member; the first one can come first (D1), and the way gets shorter. If nothing in the
//! set is enabled, the condition can never hold, and nothing is fired at all. Of several such sets, one for each false part of a
//! conjunction, the one with the fewest enabled transitions is taken.
//! **Preserves** whether the condition can hold (C1 of V93), and nothing else: not even D0.
//! **Differs from the text** (V93 Algorithm 4.3, where the set is the closure of all that the tester offers) in that a part of the
//! condition is enough, that it may be known that a process cannot get there, and that no deadlock has to be kept.
//! **Checked by** brute force on random networks and testers (`oracle`).

use crate::closure::Closer;
use crate::{Preserves, Reduction};
use stubborn_system::{Batch, Fault, Rejecting, Requirements, System, TransitionId};

/// Sets for one rejection that is about states.
pub struct Towards<Y: System + ?Sized> {
    rejection: usize,
    closer: Closer,
    enablers: Requirements,
    members: Vec<TransitionId>,
    /// The successors of the best set so far.
    best: Batch<Y::State>,
    scratch: Batch<Y::State>,
}

impl<Y: System + ?Sized> Towards<Y> {
    /// Sets for this rejection.
    pub fn new(rejection: usize) -> Self {
        Self {
            rejection,
            closer: Closer::default(),
            enablers: Requirements::default(),
            members: Vec::new(),
            best: Batch::new(),
            scratch: Batch::new(),
        }
    }
}

impl<Y: Rejecting + ?Sized> Towards<Y> {
    /// After this, `members` is the set and `best` has its successors.
    fn choose(&mut self, system: &Y, state: &Y::State) -> Result<(), Fault> {
        self.members.clear();
        self.best.clear();
        if system.rejects(state, self.rejection) {
            return Ok(());
        }
        self.enablers.clear();
        system.enablers(state, self.rejection, &mut self.enablers);
        for i in 0..self.enablers.n_alternatives() {
            let set = self.closer.close(system, state, self.enablers.alternative(i).nodes)?;
            self.scratch.clear();
            for &t in set.iter().filter(|t| t.index() < system.n_transitions()) {
                system.fire(state, t, &mut self.scratch)?;
            }
            if i == 0 || self.scratch.len() < self.best.len() {
                std::mem::swap(&mut self.scratch, &mut self.best);
                self.members.clear();
                self.members.extend_from_slice(set);
            }
        }
        Ok(())
    }
}

impl<Y: Rejecting + ?Sized> Reduction<Y> for Towards<Y> {
    fn name(&self) -> String {
        "towards".into()
    }

    fn preserves(&self) -> Preserves {
        Preserves::OnlyFailures
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.choose(system, state)?;
        for i in 0..self.best.len() {
            out.push(self.best.via(i), self.best.state(i));
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
        out.extend_from_slice(&self.members);
        Ok(())
    }
}
