//! A Promela model under check: its network, what is asked besides, and what was executed.
//!
//! A wrapper from a system to a system. It adds invariants to the check of states, and notes which steps the
//! expanded states made; otherwise the network answers.

use crate::unreached::Executed;
use std::cell::RefCell;
use stubborn_network::{Expr, Network};
use stubborn_system::{
    Batch, Fault, Observed, Part, Question, Requirements, Rules, Symmetric, System, TransitionId,
};

/// An expression that must hold in every state.
#[derive(Clone, Debug)]
pub(crate) struct Invariant {
    /// As the user wrote it.
    pub(crate) text: String,
    /// What it means.
    pub(crate) expr: Expr,
}

/// A network with invariants.
pub(crate) struct Subject<'a> {
    network: &'a Network,
    invariants: &'a [Invariant],
    /// The steps that were executed, if that is of interest. A search expands states through a shared
    /// reference.
    executed: Option<RefCell<Executed<'a>>>,
}

impl<'a> Subject<'a> {
    /// With all `invariants` to be checked.
    pub(crate) fn new(network: &'a Network, invariants: &'a [Invariant]) -> Self {
        Self { network, invariants, executed: None }
    }

    /// The same, and notes what is executed.
    pub(crate) fn recording(self) -> Self {
        Self { executed: Some(RefCell::new(Executed::new(self.network))), ..self }
    }

    /// What was executed, if it was noted.
    pub(crate) fn into_executed(self) -> Option<Executed<'a>> {
        self.executed.map(RefCell::into_inner)
    }

    /// Whether something must hold in every state.
    pub(crate) fn has_invariants(&self) -> bool {
        !self.invariants.is_empty()
    }

    /// What it is about.
    pub(crate) fn network(&self) -> &'a Network {
        self.network
    }

    /// Whether a state itself is wrong, and not a step that can be done in it.
    pub(crate) fn is_wrong(&self, state: &[u8]) -> bool {
        self.violated(state).is_some()
    }

    fn violated(&self, state: &[u8]) -> Option<String> {
        let violated = self.invariants.iter().find(|i| !self.network.holds(state, &i.expr))?;
        Some(format!("invariant violated: {}", violated.text))
    }
}

impl System for Subject<'_> {
    type State = [u8];

    fn n_transitions(&self) -> usize {
        self.network.n_transitions()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        self.network.transition_name(t)
    }

    fn initial(&self, out: &mut Batch<[u8]>) -> Result<(), Fault> {
        self.network.initial(out)
    }

    fn fire(&self, state: &[u8], t: TransitionId, out: &mut Batch<[u8]>) -> Result<bool, Fault> {
        self.network.fire(state, t, out)
    }

    fn successors(&self, state: &[u8], out: &mut Batch<[u8]>) -> Result<(), Fault> {
        let before = out.len();
        self.network.successors(state, out)?;
        if let Some(executed) = &self.executed {
            executed.borrow_mut().note(state, (before..out.len()).map(|i| out.via(i)));
        }
        if !self.fails_in_steps() {
            // Every state is checked where it is found; once is enough.
            out.take_flag();
        }
        Ok(())
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        self.network.values(state)
    }

    fn show(&self, state: &[u8]) -> String {
        self.network.show(state)
    }

    fn explain(&self, state: &[u8], t: TransitionId) -> Vec<Part> {
        self.network.explain(state, t)
    }
}

impl Observed for Subject<'_> {
    fn questions(&self) -> Vec<Question> {
        self.network.questions()
    }

    fn check(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        match self.violated(state) {
            Some(message) => Ok(Some(message)),
            None => self.network.check(state),
        }
    }

    fn fails_in_steps(&self) -> bool {
        !self.has_invariants() && self.network.fails_in_steps()
    }

    fn check_deadlock(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        self.network.check_deadlock(state)
    }

    fn is_may_progress(&self, state: &[u8]) -> Result<bool, Fault> {
        self.network.is_may_progress(state)
    }

    fn is_must_progress(&self, state: &[u8]) -> Result<bool, Fault> {
        self.network.is_must_progress(state)
    }
}

impl Rules for Subject<'_> {
    fn n_nodes(&self) -> usize {
        self.network.n_nodes()
    }

    fn require(&self, state: &[u8], t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        self.network.require(state, t, out)
    }
}

impl Symmetric for Subject<'_> {
    fn represent(&self, state: &mut [u8]) -> Result<(), Fault> {
        self.network.represent(state)
    }
}
