//! The trait that a model implements.

use crate::{Footprint, Layout, Question, State};
use stubborn_system::{Fault, Requirements, TransitionId};

/// A model: variables, numbered deterministic transitions, and what to ask.
///
/// Firing must be a function of the state alone: no clocks, no random numbers, no memory. A
/// nondeterministic step is written as several transitions.
pub trait Model: Send + Sync {
    /// What the model is called.
    fn name(&self) -> String;

    /// The variables.
    fn layout(&self) -> &Layout;

    /// How many transitions there are.
    fn n_transitions(&self) -> usize;

    /// What to verify.
    fn questions(&self) -> Vec<Question>;

    /// Fires transition `t`: changes the state and returns true; or returns false because it is disabled,
    /// and leaves the state alone.
    fn fire(&self, t: usize, s: &mut State<'_>) -> bool;

    /// What transition `t` is called.
    fn transition_name(&self, t: usize) -> String {
        format!("t{t}")
    }

    /// Sets the initial state; each variable has its smallest value before.
    fn initial(&self, s: &mut State<'_>) {
        let _ = s;
    }

    /// The state in one line, if `name=value` pairs are not good enough.
    fn show(&self, s: &State<'_>) -> Option<String> {
        let _ = s;
        None
    }

    /// For [`Question::Safety`]: says what is wrong with the state, if anything.
    fn check(&self, s: &State<'_>) -> Result<(), String> {
        let _ = s;
        Ok(())
    }

    /// For [`Question::Deadlock`]: says why it is wrong to stop here. By default it always is.
    fn check_deadlock(&self, s: &State<'_>) -> Result<(), String> {
        let _ = s;
        Err("deadlock".into())
    }

    /// For [`Question::MayProgress`]: whether this is a progress state.
    fn is_may_progress(&self, s: &State<'_>) -> bool {
        let _ = s;
        false
    }

    /// For [`Question::MustProgress`]: whether this is a progress state.
    fn is_must_progress(&self, s: &State<'_>) -> bool {
        let _ = s;
        false
    }

    /// Whether [`Model::represent`] is written.
    fn has_symmetry(&self) -> bool {
        false
    }

    /// Replaces the state by the representative of its orbit. The checks must not tell the states of an
    /// orbit apart.
    fn represent(&self, s: &mut State<'_>) {
        let _ = s;
    }

    /// Whether [`Model::rules`] is written.
    fn has_rules(&self) -> bool {
        false
    }

    /// Hand-written stubborn rules: what must be in the stubborn set of this state if `t` is.
    fn rules(&self, t: usize, s: &State<'_>, need: &mut Needs<'_>) {
        let _ = (t, s);
        need.all();
    }

    /// What `t` may touch in any state. If every transition has a footprint, rules are derived.
    fn footprint(&self, t: usize) -> Option<Footprint> {
        let _ = t;
        None
    }

    /// What [`Model::check`] may read. Without it, a derived rule assumes that it reads everything.
    fn check_footprint(&self) -> Option<Footprint> {
        None
    }
}

/// Collects what a hand-written rule requires.
pub struct Needs<'a> {
    out: &'a mut Requirements,
    n_transitions: usize,
    fault: Option<Fault>,
}

impl<'a> Needs<'a> {
    pub(crate) fn new(out: &'a mut Requirements, n_transitions: usize) -> Self {
        Self { out, n_transitions, fault: None }
    }

    /// Transition `t` must be in.
    pub fn transition(&mut self, t: usize) {
        if t < self.n_transitions {
            self.out.add(TransitionId(t as u32));
        } else {
            self.fault.get_or_insert(Fault::NoSuchTransition { named: t, n_transitions: self.n_transitions });
        }
    }

    /// All transitions must be in.
    pub fn all(&mut self) {
        self.out.add_all(self.n_transitions);
    }

    pub(crate) fn finish(self) -> Result<(), Fault> {
        self.fault.map_or(Ok(()), Err)
    }
}
