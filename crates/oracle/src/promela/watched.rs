//! A network with invariants: they become part of the check of states. The command line has a wrapper of its own,
//! over the engine; this one uses the reference alone, and shares nothing with what it judges.

use stubborn_network::{Expr, Network};
use stubborn_system::{
    Batch, Composed, Fault, Lent, Observed, Part, Question, Requirements, Rules, Shared, Symmetric, System,
    Tracer, TransitionId,
};

/// A network whose states are checked for invariants, too.
#[derive(Clone, Copy, Debug)]
pub struct Watched<'a> {
    /// The network.
    pub network: &'a Network,
    /// What must hold in every state.
    pub invariants: &'a [Expr],
}

impl Watched<'_> {
    fn keeps_invariants(&self, state: &[u8]) -> bool {
        self.invariants.iter().all(|invariant| self.network.holds(state, invariant))
    }
}

impl System for Watched<'_> {
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
        self.network.successors(state, out)?;
        // A state is wrong once, and invariants are looked at when it is found.
        if !self.invariants.is_empty() && out.take_flag() && self.keeps_invariants(state) {
            out.flag();
        }
        Ok(())
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        self.network.values(state)
    }

    fn explain(&self, state: &[u8], t: TransitionId) -> Vec<Part> {
        self.network.explain(state, t)
    }
}

impl Observed for Watched<'_> {
    fn questions(&self) -> Vec<Question> {
        vec![Question::Safety, Question::Deadlock, Question::MayTerminate]
    }

    fn check(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        if self.keeps_invariants(state) {
            self.network.check(state)
        } else {
            Ok(Some("an invariant does not hold".into()))
        }
    }

    fn fails_in_steps(&self) -> bool {
        self.network.fails_in_steps()
    }

    fn check_found(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        Ok((!self.keeps_invariants(state)).then(|| "an invariant does not hold".into()))
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

impl Rules for Watched<'_> {
    fn n_nodes(&self) -> usize {
        self.network.n_nodes()
    }

    fn require(&self, state: &[u8], t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        self.network.require(state, t, out)
    }
}

impl Composed for Watched<'_> {
    fn tracer(&self) -> Option<Box<dyn Tracer<[u8]> + '_>> {
        self.network.tracer()
    }

    fn shared(&self) -> Option<Box<dyn Shared<[u8]> + '_>> {
        Some(Box::new(Lent(self)))
    }
}

impl Symmetric for Watched<'_> {
    fn represent(&self, state: &mut [u8]) -> Result<(), Fault> {
        self.network.represent(state)
    }
}
