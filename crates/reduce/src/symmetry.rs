//! Symmetry: explore one representative of each orbit.
//!
//! **Implements** ASSET's symmetry: every state is replaced by its representative before it is looked up.
//! [`Quotient`] is the system of representatives. A reduction of the original system is a reduction of the
//! quotient through [`OnRepresentatives`]: it chooses in the representative, by the original's rules (the
//! definition of stubborn sets speaks of the original: in the quotient a transition's number changes its
//! meaning from one state to the next), and the successors are represented.
//! **Preserves** the answers to all questions whose checks do not tell the states of an orbit apart. A
//! question that names transitions (`Question::Fair`) does; it is refused under symmetry.
//! **Differs from the text** in that counterexamples are turned back into real paths (crate `verdict`), and
//! that the symmetry is tested where it is used: a state and its representative must lead to the same orbits
//! and look the same to the questions. Where that is so in every state, the quotient is bisimilar to the
//! original, which is all that the questions need.
//! **Checked by** the token ring's published counts, the campaign on random symmetric models, a model
//! with a symmetry that is none, and `oracle/tests/all/packed_symmetry.rs` where states are keys.

use crate::check::Sampler;
use crate::{CheckDepth, Preserves, Reduction};
use std::collections::BTreeSet;
use stubborn_system::{Batch, Fault, Observed, Part, Question, Symmetric, System, TransitionId, Vector};

/// The system of representatives.
#[derive(Debug)]
pub struct Quotient<'y, Y: ?Sized> {
    inner: &'y Y,
}

impl<'y, Y: Symmetric + ?Sized> Quotient<'y, Y> {
    /// The representatives of `inner`.
    pub fn new(inner: &'y Y) -> Self {
        Self { inner }
    }

    /// The original system.
    pub fn original(&self) -> &'y Y {
        self.inner
    }
}

impl<Y: Symmetric + ?Sized> System for Quotient<'_, Y> {
    type State = Y::State;

    fn n_transitions(&self) -> usize {
        self.inner.n_transitions()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        self.inner.transition_name(t)
    }

    fn initial(&self, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.inner.initial(out)?;
        self.inner.represent(out.state_mut(out.len() - 1))
    }

    #[inline]
    fn fire(&self, state: &Y::State, t: TransitionId, out: &mut Batch<Y::State>) -> Result<bool, Fault> {
        let fired = self.inner.fire(state, t, out)?;
        if fired {
            self.inner.represent(out.state_mut(out.len() - 1))?;
        }
        Ok(fired)
    }

    fn bytes(&self) -> usize {
        self.inner.bytes()
    }

    fn values(&self, state: &Y::State) -> Vec<(String, String)> {
        self.inner.values(state)
    }

    fn show(&self, state: &Y::State) -> String {
        self.inner.show(state)
    }

    fn explain(&self, state: &Y::State, t: TransitionId) -> Vec<Part> {
        self.inner.explain(state, t)
    }
}

impl<Y: Symmetric + Observed + ?Sized> Observed for Quotient<'_, Y> {
    fn questions(&self) -> Vec<Question> {
        self.inner.questions()
    }

    fn check(&self, state: &Y::State) -> Result<Option<String>, Fault> {
        self.inner.check(state)
    }

    fn fails_in_steps(&self) -> bool {
        self.inner.fails_in_steps()
    }

    fn check_found(&self, state: &Y::State) -> Result<Option<String>, Fault> {
        self.inner.check_found(state)
    }

    fn check_deadlock(&self, state: &Y::State) -> Result<Option<String>, Fault> {
        self.inner.check_deadlock(state)
    }

    fn is_may_progress(&self, state: &Y::State) -> Result<bool, Fault> {
        self.inner.is_may_progress(state)
    }

    fn is_must_progress(&self, state: &Y::State) -> Result<bool, Fault> {
        self.inner.is_must_progress(state)
    }
}

/// A reduction of the original system, used on representatives.
#[derive(Debug)]
pub struct OnRepresentatives<R> {
    inner: R,
    check: Option<Sampler>,
}

impl<R> OnRepresentatives<R> {
    /// Uses `inner` on representatives. With `check`, successors are compared with their representatives:
    /// those of some states, or of all.
    pub fn new(inner: R, check: Option<CheckDepth>) -> Self {
        Self { inner, check: check.map(Sampler::new) }
    }
}

impl<'y, Y: Symmetric + Observed + ?Sized, R: Reduction<Y>> Reduction<Quotient<'y, Y>>
    for OnRepresentatives<R>
{
    fn name(&self) -> String {
        self.inner.name()
    }

    fn preserves(&self) -> Preserves {
        self.inner.preserves()
    }

    fn bytes(&self) -> usize {
        self.inner.bytes()
    }

    fn work(&self) -> u64 {
        self.inner.work()
    }

    fn expand(
        &mut self,
        system: &Quotient<'y, Y>,
        state: &Y::State,
        out: &mut Batch<Y::State>,
    ) -> Result<(), Fault> {
        let before = out.len();
        self.inner.expand(system.inner, state, out)?;
        if self.check.as_mut().is_some_and(|sampler| sampler.is_next()) {
            for i in before..out.len() {
                check_representative(system.inner, out.state(i))?;
            }
        }
        for i in before..out.len() {
            system.inner.represent(out.state_mut(i))?;
        }
        Ok(())
    }

    fn stubborn_set(
        &mut self,
        system: &Quotient<'y, Y>,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        self.inner.stubborn_set(system.inner, state, out)
    }
}

/// A state and its representative look the same to the questions and lead to the same orbits; and the
/// representative represents itself.
fn check_representative<Y: Symmetric + Observed + ?Sized>(system: &Y, state: &Y::State) -> Result<(), Fault> {
    let mut both = Batch::new();
    both.push(TransitionId(0), state);
    both.push(TransitionId(0), state);
    system.represent(both.state_mut(1))?;
    let representative = both.state(1);
    let wrong = |what: &str| {
        let (state, representative) = (system.show(state), system.show(representative));
        Err(Fault::Broken(format!(
            "the symmetry is wrong: {state} is represented by {representative}, but {what}"
        )))
    };
    let mut again = Batch::new();
    again.push(TransitionId(0), representative);
    system.represent(again.state_mut(0))?;
    if again.state(0) != representative {
        return wrong("that is not its own representative");
    }
    if facts_of(system, state)? != facts_of(system, representative)? {
        return wrong("a question tells them apart");
    }
    if orbits_after(system, state)? != orbits_after(system, representative)? {
        return wrong("they do not lead to the same orbits");
    }
    Ok(())
}

/// The representatives of the successors of `state`.
fn orbits_after<Y: Symmetric + ?Sized>(system: &Y, state: &Y::State) -> Result<BTreeSet<Vec<u8>>, Fault> {
    let mut successors = Batch::new();
    system.successors(state, &mut successors)?;
    for i in 0..successors.len() {
        system.represent(successors.state_mut(i))?;
    }
    Ok((0..successors.len()).map(|i| successors.state(i).as_bytes().to_vec()).collect())
}

/// What the questions of `system` see of a state.
fn facts_of<Y: Observed + ?Sized>(system: &Y, state: &Y::State) -> Result<Vec<bool>, Fault> {
    let look = |question: &Question| match question {
        Question::Safety => system.check(state).map(|wrong| wrong.is_some()),
        // Only terminal states are ever asked this; others need not be prepared for it.
        Question::Deadlock => {
            let mut successors = Batch::new();
            system.successors(state, &mut successors)?;
            Ok(successors.is_empty() && system.check_deadlock(state)?.is_some())
        }
        Question::MayProgress { .. } => system.is_may_progress(state),
        Question::MustProgress { .. } => system.is_must_progress(state),
        _ => Ok(false),
    };
    system.questions().iter().map(look).collect()
}
