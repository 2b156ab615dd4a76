//! The explicit system of a composition: every state and every transition, or what a reduction leaves of them.
//!
//! States are numbered in the order of a breadth-first search. The transitions of a state are a set: two rules that
//! lead to one state with one action are one transition.
//! **Checked by** the counts of token rings; reduced ones by comparison with the whole (`oracle`).

use crate::composition::{Composition, CompositionError, n_words};
use crate::followed::Followed;
use crate::lsts::{Action, Lsts, LstsBuilder, Mark, TooLarge};
use crate::plan::Plan;
use stubborn_explore::{
    End, Job, Keep, Limits, Patience, Stats, Stop, Unobserved, Watch, breadth_first_with,
};
use stubborn_reduce::{Full, Observing, Reduction, ReductionKind, Semantics};
use stubborn_store::{Exact, Store};
use stubborn_system::{Fault, System, TransitionId, WordVector};
use thiserror::Error;

/// What a composition can say of itself, however it is made.
pub trait Composed: System {
    /// The plan.
    fn plan(&self) -> &Plan;
    /// The action of a transition.
    fn action(&self, t: TransitionId) -> Action;
    /// The state of a component.
    fn local(&self, state: &Self::State, component: usize) -> u32;
    /// Whether the expression of a proposition rule holds.
    fn holds(&self, state: &Self::State, rule: usize) -> bool;
}

/// Something to do with a composition that has these states.
pub trait CompositionJob<S: ?Sized> {
    /// What comes of it.
    type Output;
    /// Does it.
    fn run(self, composition: &Composition<'_, S>) -> Self::Output;
}

/// Does `job` with the composition of `plan`, with the narrowest states.
pub fn with_composition<J, T>(plan: &Plan, job: J) -> Result<T, CompositionError>
where
    J: CompositionJob<[u64; 1], Output = T>
        + CompositionJob<[u64; 2], Output = T>
        + CompositionJob<[u64; 4], Output = T>
        + CompositionJob<[u64], Output = T>,
{
    Ok(match n_words(plan) {
        1 => job.run(&Composition::<[u64; 1]>::new(plan)?),
        2 => job.run(&Composition::<[u64; 2]>::new(plan)?),
        3 | 4 => job.run(&Composition::<[u64; 4]>::new(plan)?),
        _ => job.run(&Composition::<[u64]>::new(plan)?),
    })
}

/// Why there is no explicit system.
#[derive(Debug, Error)]
pub enum Unfinished {
    /// The composition cannot be made.
    #[error(transparent)]
    Composition(#[from] CompositionError),
    /// A limit was reached.
    #[error("{0}")]
    Stopped(Stop),
    /// Something broke.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// It is too large to be explicit.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// An explicit system, and how it was found.
#[derive(Debug)]
pub struct Unfolded {
    /// The system.
    pub lsts: Lsts,
    /// The numbers of the search.
    pub stats: Stats,
}

/// Makes the explicit system of a plan. With `names`, states are called by the states of their components.
pub fn unfold(
    plan: &Plan,
    limits: Limits,
    names: bool,
    watch: &mut dyn Watch,
) -> Result<Unfolded, Unfinished> {
    if plan.is_followed() {
        let followed = Followed::new(plan)?;
        return unfold_with(&followed, &mut Full, Patience::Endless, limits, names, watch);
    }
    with_composition(plan, Unfold { reduced: None, limits, names, watch })?
}

/// What stubborn sets leave of it, found by an algorithm of [`ReductionKind::BY_RULES`]: a system that is the same under
/// `semantics`. A plan with cuts is unfolded in full: rules say nothing about states that are not expanded.
pub fn unfold_reduced(
    plan: &Plan,
    algorithm: ReductionKind,
    semantics: Semantics,
    limits: Limits,
    names: bool,
    watch: &mut dyn Watch,
) -> Result<Unfolded, Unfinished> {
    let reduced = (!plan.has_cuts()).then_some((algorithm, semantics));
    with_composition(plan, Unfold { reduced, limits, names, watch })?
}

struct Unfold<'w> {
    reduced: Option<(ReductionKind, Semantics)>,
    limits: Limits,
    names: bool,
    watch: &'w mut dyn Watch,
}

impl<S: WordVector + ?Sized> CompositionJob<S> for Unfold<'_> {
    type Output = Result<Unfolded, Unfinished>;

    fn run(self, composition: &Composition<'_, S>) -> Self::Output {
        let Self { limits, names, watch, .. } = self;
        let Some((algorithm, semantics)) = self.reduced else {
            return unfold_with(composition, &mut Full, Patience::Endless, limits, names, watch);
        };
        let patience = match semantics {
            Semantics::Deadlocks => Patience::Endless,
            Semantics::Traces | Semantics::Failures => Patience::Traces,
            Semantics::Cffd => Patience::Runs,
        };
        let mut reduction = Observing::new(composition, algorithm, semantics);
        unfold_with(composition, &mut reduction, patience, limits, names, watch)
    }
}

/// The same for a composition and a reduction.
fn unfold_with<Y: Composed>(
    composition: &Y,
    reduction: &mut dyn Reduction<Y>,
    patience: Patience,
    limits: Limits,
    names: bool,
    watch: &mut dyn Watch,
) -> Result<Unfolded, Unfinished> {
    let mut store: Exact<Y::State> = Exact::new();
    let job = Job {
        system: composition,
        reduction,
        store: &mut store,
        visitor: &mut Unobserved,
        watch,
        limits,
        keep: Keep::Labels,
        all_errors: false,
        no_ignoring: false,
    };
    let outcome = breadth_first_with(job, patience);
    match outcome.end {
        End::Complete | End::Sighted => {}
        End::Stopped(stop) => return Err(Unfinished::Stopped(stop)),
        End::Fault(fault, _) => return Err(Unfinished::Fault(fault)),
    }
    store.seal();
    let graph = outcome.graph.expect("edges were kept");
    let plan = composition.plan();
    let n = outcome.stats.states;
    let mut builder = LstsBuilder::new(n)?;
    for name in plan.alphabet() {
        builder.action(name);
    }
    for state in 0..n as u32 {
        for (edge, target) in graph.edges(state) {
            let t = graph.label(edge).expect("labels were kept");
            builder.add_transition(state, composition.action(t), target);
        }
    }
    drop(graph);
    add_propositions(composition, &store, n as u32, &mut builder);
    if names {
        let mut room = Default::default();
        for id in 0..n as u32 {
            let state = store.state(id, &mut room).expect("the store keeps states");
            let locals = (0..plan.components().len()).map(|i| (composition.local(state, i) + 1).to_string());
            builder.name_state(id, locals.collect::<Vec<_>>().join(" "));
        }
    }
    Ok(Unfolded { lsts: builder.build()?, stats: outcome.stats })
}

/// The results of proposition rules; rejections are none of them: they were looked at before.
fn add_propositions<Y: Composed>(
    composition: &Y,
    store: &Exact<Y::State>,
    n: u32,
    builder: &mut LstsBuilder,
) {
    let mut room = Default::default();
    for (i, rule) in composition.plan().propositions().iter().enumerate() {
        if matches!(rule.result, Mark::Special(_)) {
            continue;
        }
        let holds = |&id: &u32| {
            let state = store.state(id, &mut room).expect("the store keeps states");
            composition.holds(state, i)
        };
        let states: Vec<u32> = (0..n).filter(holds).collect();
        builder.add_proposition(rule.result.clone(), states);
    }
}
