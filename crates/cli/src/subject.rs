//! A Promela model under check: its network, what is asked besides, and what was executed.
//!
//! A wrapper from a system to a system. It adds invariants and labels to the check of states and says what
//! progress is, and its engine notes which steps the expanded states made; otherwise the network answers.

use crate::asked::{Asked, Proposition};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use stubborn_network::{Condition, Engine, Expr, Network, Optimised, Traced};
use stubborn_system::{
    Batch, Composed, Fault, Observed, Part, Question, Requirements, Rules, Shared, Symmetric, System, Tracer,
    TransitionId, Whole,
};

/// A network with questions.
pub(crate) struct Subject<'a> {
    network: &'a Network,
    asked: &'a Asked,
    /// The invariants as the engine evaluates them; `None` where only the network can.
    conditions: Vec<Option<Condition>>,
    /// A search expands states through a shared reference.
    engine: Rc<RefCell<Engine<'a>>>,
    /// What was executed in other threads.
    elsewhere: Arc<Mutex<Vec<bool>>>,
    /// What stands for the network in a search: it says which states are the same for everybody.
    stand_in: Option<&'a Optimised>,
    /// Whether steps that go wrong are wrong, and not only states.
    minds_steps: bool,
}

impl<'a> Subject<'a> {
    /// With all that is `asked` to be checked.
    pub(crate) fn new(network: &'a Network, asked: &'a Asked) -> Self {
        let engine = network.engine();
        let conditions = asked.invariants.iter().map(|invariant| engine.condition(&invariant.expr)).collect();
        Self {
            network,
            asked,
            conditions,
            engine: Rc::new(RefCell::new(engine)),
            elsewhere: Arc::default(),
            stand_in: None,
            minds_steps: true,
        }
    }

    /// The same, to find the runs of `optimised` in.
    pub(crate) fn stood_in_by(self, optimised: &'a Optimised) -> Self {
        Self { stand_in: Some(optimised), ..self }
    }

    /// The same model, asked something else.
    pub(crate) fn asking<'b>(&self, asked: &'b Asked) -> Subject<'b>
    where
        'a: 'b,
    {
        Subject { stand_in: self.stand_in, ..Subject::new(self.network, asked) }
    }

    /// The same, but only what must hold in every state counts.
    pub(crate) fn minding_states_only(self) -> Self {
        Self { minds_steps: false, ..self }
    }

    /// By number of the step: whether it was executed in a state that was expanded.
    pub(crate) fn executed(&self) -> Vec<bool> {
        let mut executed = self.engine.borrow().executed().to_vec();
        let elsewhere = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        executed.iter_mut().zip(elsewhere.iter()).for_each(|(here, there)| *here |= there);
        executed
    }

    /// Whether something must hold in every state.
    pub(crate) fn has_invariants(&self) -> bool {
        !self.asked.invariants.is_empty() || !self.asked.unreachable.is_empty()
    }

    /// What it is about.
    pub(crate) fn network(&self) -> &'a Network {
        self.network
    }

    /// Whether a state itself is wrong, and not a step that can be done in it.
    pub(crate) fn is_wrong(&self, state: &[u8]) -> bool {
        self.violated(state).is_some()
    }

    /// What must hold in every state, as expressions.
    pub(crate) fn checks(&self) -> Vec<Expr> {
        self.asked.invariants.iter().map(|invariant| invariant.expr.clone()).collect()
    }

    fn violated(&self, state: &[u8]) -> Option<String> {
        let holds = |condition: &Option<Condition>, invariant: &Proposition| match condition {
            Some(condition) => self.engine.borrow_mut().holds(state, condition),
            None => invariant.holds(self.network, state),
        };
        let mut both = self.asked.invariants.iter().zip(&self.conditions);
        if let Some((violated, _)) = both.find(|(invariant, condition)| !holds(condition, invariant)) {
            return Some(format!("invariant violated: {}", violated.text));
        }
        self.asked.unreachable.iter().find_map(|label| label.reached(self.network, state))
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
        self.engine.borrow_mut().successors(state, out)?;
        if !self.minds_steps {
            out.take_flag();
        }
        // A state is wrong once, and an invariant is looked at when the state is found.
        if self.has_invariants() && out.take_flag() && self.violated(state).is_none() {
            out.flag();
        }
        Ok(())
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        self.network.values(state)
    }

    fn differing(&self, before: &[u8], after: &[u8]) -> [Vec<(String, String)>; 2] {
        self.network.differing(before, after)
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
            None if self.minds_steps => self.network.check(state),
            None => Ok(None),
        }
    }

    fn fails_in_steps(&self) -> bool {
        self.minds_steps && self.network.fails_in_steps()
    }

    fn looks_at_found(&self) -> bool {
        self.has_invariants()
    }

    fn check_found(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        Ok(self.violated(state))
    }

    fn check_deadlock(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        self.network.check_deadlock(state)
    }

    fn is_may_progress(&self, state: &[u8]) -> Result<bool, Fault> {
        match &self.asked.may_progress {
            Some(goal) => Ok(goal.holds(self.network, state)),
            None => self.network.is_may_progress(state),
        }
    }

    fn is_must_progress(&self, state: &[u8]) -> Result<bool, Fault> {
        match &self.asked.must_progress {
            Some(goal) => Ok(goal.holds(self.network, state)),
            None => self.network.is_must_progress(state),
        }
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

impl Composed for Subject<'_> {
    fn tracer(&self) -> Option<Box<dyn Tracer<[u8]> + '_>> {
        let traced = Traced::new(self.network, Rc::clone(&self.engine))?;
        Some(Box::new(traced))
    }

    fn shared(&self) -> Option<Box<dyn Shared<[u8]> + '_>> {
        let Self { network, asked, stand_in, minds_steps, .. } = *self;
        let elsewhere = Arc::clone(&self.elsewhere);
        Some(Box::new(Elsewhere { network, asked, stand_in, minds_steps, elsewhere }))
    }
}

/// Makes the subject again for each thread, which needs an engine of its own.
struct Elsewhere<'a> {
    network: &'a Network,
    asked: &'a Asked,
    stand_in: Option<&'a Optimised>,
    minds_steps: bool,
    elsewhere: Arc<Mutex<Vec<bool>>>,
}

impl Shared<[u8]> for Elsewhere<'_> {
    fn lend(&self, work: &mut dyn FnMut(&dyn Whole<State = [u8]>)) {
        let Self { network, asked, stand_in, minds_steps, .. } = *self;
        let subject = Subject { stand_in, minds_steps, ..Subject::new(network, asked) };
        work(&subject);
        let executed = subject.executed();
        let mut all = self.elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        all.resize(executed.len(), false);
        all.iter_mut().zip(executed).for_each(|(all, here)| *all |= here);
    }
}

impl Symmetric for Subject<'_> {
    fn represent(&self, state: &mut [u8]) -> Result<(), Fault> {
        match self.stand_in {
            Some(optimised) => state.copy_from_slice(&optimised.live_part(state)),
            None => self.network.represent(state)?,
        }
        Ok(())
    }

    fn done_at_once(&self, state: &[u8]) -> Vec<TransitionId> {
        self.stand_in.map_or_else(Vec::new, |optimised| optimised.merged_steps(state))
    }
}
