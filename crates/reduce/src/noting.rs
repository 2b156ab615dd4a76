//! A system that notes which nodes of its rules are asked about.
//!
//! Who chooses among transitions asks what a node requires, or whether a transition can be fired; nothing else counts.

use std::cell::{Cell, RefCell};
use stubborn_system::{Batch, Fault, Requirements, Rules, System, TransitionId};

/// A system, and what an algorithm over its rules has asked.
pub(crate) struct Noting<'y, Y: ?Sized> {
    pub(crate) system: &'y Y,
    is_noting: Cell<bool>,
    asked: RefCell<Vec<TransitionId>>,
}

impl<'y, Y: ?Sized> Noting<'y, Y> {
    pub(crate) fn new(system: &'y Y) -> Self {
        Self { system, is_noting: Cell::new(false), asked: RefCell::default() }
    }

    /// The nodes that `choose` asks about, each once, in the order in which it first does.
    pub(crate) fn asked(
        &self,
        choose: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<Vec<TransitionId>, Fault> {
        self.asked.borrow_mut().clear();
        self.is_noting.set(true);
        let done = choose();
        self.is_noting.set(false);
        done.map(|()| self.asked.take())
    }

    #[inline]
    fn note(&self, t: TransitionId) {
        if self.is_noting.get() {
            let mut asked = self.asked.borrow_mut();
            if !asked.contains(&t) {
                asked.push(t);
            }
        }
    }
}

impl<Y: System + ?Sized> System for Noting<'_, Y> {
    type State = Y::State;

    fn n_transitions(&self) -> usize {
        self.system.n_transitions()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        self.system.transition_name(t)
    }

    fn initial(&self, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.system.initial(out)
    }

    #[inline]
    fn fire(&self, state: &Y::State, t: TransitionId, out: &mut Batch<Y::State>) -> Result<bool, Fault> {
        self.note(t);
        self.system.fire(state, t, out)
    }

    fn successors(&self, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        // Which they are says of each transition whether it is enabled.
        (0..self.n_transitions()).for_each(|t| self.note(t.into()));
        self.system.successors(state, out)
    }

    fn values(&self, state: &Y::State) -> Vec<(String, String)> {
        self.system.values(state)
    }
}

impl<Y: Rules + ?Sized> Rules for Noting<'_, Y> {
    fn n_nodes(&self) -> usize {
        self.system.n_nodes()
    }

    #[inline]
    fn require(&self, state: &Y::State, t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        self.note(t);
        self.system.require(state, t, out)
    }
}
