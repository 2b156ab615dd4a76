//! Systems and reductions as the searches in order see them: by the kind of their states.
//!
//! A search is compiled for each kind of state, and not again for each system: what is fired in a state is asked through a table of functions, once
//! per state, and what the system is asked besides is asked seldom.

use crate::{Job, Outcome};
use fixedbitset::FixedBitSet;
use stubborn_reduce::{Preserves, Reduction, Shown};
use stubborn_system::{Batch, Fault, Part, System, TransitionId};

/// Any system with these states.
pub(crate) type AnySystem<'y, S> = dyn System<State = S> + 'y;

/// Makes a search of a system of which only the kind of states is known.
pub(crate) fn search_any<Y: System + ?Sized>(
    job: Job<'_, Y>,
    search: impl for<'j> FnOnce(Job<'j, AnySystem<'j, Y::State>>) -> Outcome,
) -> Outcome {
    let Job { system, reduction, store, visitor, watch, limits, keep, all_errors, no_ignoring } = job;
    let (system, reduction) = (&Behind(system), &mut Chosen { system, reduction });
    search(Job { system, reduction, store, visitor, watch, limits, keep, all_errors, no_ignoring })
}

/// A system behind a reference.
struct Behind<'a, Y: ?Sized>(&'a Y);

impl<Y: System + ?Sized> System for Behind<'_, Y> {
    type State = Y::State;

    fn n_transitions(&self) -> usize {
        self.0.n_transitions()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        self.0.transition_name(t)
    }

    fn initial(&self, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.0.initial(out)
    }

    fn fire(&self, state: &Y::State, t: TransitionId, out: &mut Batch<Y::State>) -> Result<bool, Fault> {
        self.0.fire(state, t, out)
    }

    fn successors(&self, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.0.successors(state, out)
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn values(&self, state: &Y::State) -> Vec<(String, String)> {
        self.0.values(state)
    }

    fn differing(&self, before: &Y::State, after: &Y::State) -> [Vec<(String, String)>; 2] {
        self.0.differing(before, after)
    }

    fn show(&self, state: &Y::State) -> String {
        self.0.show(state)
    }

    fn show_values(&self, state: &Y::State) -> String {
        self.0.show_values(state)
    }

    fn explain(&self, state: &Y::State, t: TransitionId) -> Vec<Part> {
        self.0.explain(state, t)
    }
}

/// A reduction of a system, with the system.
struct Chosen<'a, Y: System + ?Sized> {
    system: &'a Y,
    reduction: &'a mut dyn Reduction<Y>,
}

impl<'y, Y: System + ?Sized> Reduction<AnySystem<'y, Y::State>> for Chosen<'_, Y> {
    fn name(&self) -> String {
        self.reduction.name()
    }

    fn preserves(&self) -> Preserves {
        self.reduction.preserves()
    }

    fn expand(
        &mut self,
        _: &AnySystem<'y, Y::State>,
        state: &Y::State,
        out: &mut Batch<Y::State>,
    ) -> Result<(), Fault> {
        self.reduction.expand(self.system, state, out)
    }

    fn can_sift(&self) -> bool {
        self.reduction.can_sift()
    }

    fn begin_again(&mut self) {
        self.reduction.begin_again();
    }

    fn within(&mut self, limit: usize) {
        self.reduction.within(limit);
    }

    fn bytes(&self) -> usize {
        self.reduction.bytes()
    }

    fn work(&self) -> u64 {
        self.reduction.work()
    }

    fn order(&self) -> Option<&[u32]> {
        self.reduction.order()
    }

    fn is_whole(&self) -> bool {
        self.reduction.is_whole()
    }

    fn sift(
        &mut self,
        made: &[(TransitionId, u64)],
        state: &mut dyn Shown<Y::State>,
        kept: &mut FixedBitSet,
    ) -> Result<Option<()>, Fault> {
        self.reduction.sift(made, state, kept)
    }

    fn is_partial(&self) -> bool {
        self.reduction.is_partial()
    }

    fn is_steady(&self) -> bool {
        self.reduction.is_steady()
    }

    fn class(&self, t: TransitionId) -> u32 {
        self.reduction.class(t)
    }

    fn stubborn_set(
        &mut self,
        _: &AnySystem<'y, Y::State>,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        self.reduction.stubborn_set(self.system, state, out)
    }
}
