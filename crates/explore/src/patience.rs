//! What may be put off for ever, when the explored part is to look the same from outside.
//!
//! **Implements** the two cycle conditions of observed systems, both judged when the search has ended: for *traces*, in
//! every terminal strong component a transition that is enabled in all states is fired in one, or the set of one of
//! them has all that can be seen; for *runs*, the same on every cycle. Where this is not so, a state is expanded in full,
//! and the search goes on.
//! **Preserves** what `docs/soundness.md` says of processes, together with D0, D1, D2, V and, for runs, I.
//! **Differs from** `ignoring` and `linear::put_off`, which are about states: there a transition counts as fired if
//! another one leads to the same state. From outside the two may look different, so here a transition counts as fired only if it was.
//! **Checked by** random networks (`oracle`): loops that are told apart by their names alone occur there.

use crate::Graph;
use crate::ignoring::terminal_components;
use crate::linear::put_off::{break_cycles, partial_states_on_cycles};
use crate::run::{Halt, Run};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use stubborn_system::{Batch, System};

/// What must not be put off for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Anything may be.
    Endless,
    /// Every transition that can be fired is fired, or one that leads to the same state: failures are found.
    Firing,
    /// What can be seen may come in the end: all traces are there.
    Traces,
    /// What can be seen comes in the end: all runs are there.
    Runs,
}

/// What was left out in a state: see [`left_out`].
type LeftOut<'a> = dyn FnMut(u32) -> Result<Vec<u32>, Halt> + 'a;

/// The classes of transitions that are enabled in a state and were not fired, or not all of them, sorted.
fn left_out<Y: System + ?Sized>(run: &mut Run<'_, Y>, state: u32) -> Result<Vec<u32>, Halt> {
    run.tick()?;
    let (mut enabled, mut room) = (Batch::new(), Default::default());
    let source = run.job.store.state(state, &mut room).expect("the store keeps states");
    run.job.system.successors(source, &mut enabled)?;
    enabled.take_flag();
    let graph = run.graph.as_ref().expect("edges were kept");
    let fired: Vec<_> = graph.edges(state).filter_map(|(edge, _)| graph.label(edge)).collect();
    let all = (0..enabled.len()).map(|i| enabled.via(i));
    let mut left: Vec<u32> = all.filter(|t| !fired.contains(t)).map(|t| run.job.reduction.class(t)).collect();
    left.sort_unstable();
    left.dedup();
    Ok(left)
}

/// One state of each terminal component in all states of which one transition is left out, and in each something
/// that can be seen.
pub(crate) fn put_off_in_terminal_components<Y: System + ?Sized>(
    run: &mut Run<'_, Y>,
    partial: &FixedBitSet,
) -> Result<Vec<u32>, Halt> {
    let Some(graph) = &run.graph else { return Ok(Vec::new()) };
    let components = terminal_components(graph, 0..graph.n_states() as u32);
    put_off_in(&components, partial, &mut |state| left_out(run, state))
}

fn put_off_in(
    components: &[Vec<u32>],
    partial: &FixedBitSet,
    left_out: &mut LeftOut<'_>,
) -> Result<Vec<u32>, Halt> {
    let mut again = Vec::new();
    for component in components {
        if component.iter().any(|&state| !partial.contains(state as usize)) {
            continue;
        }
        let mut common: Option<Vec<u32>> = None;
        for &state in component {
            let mut left = left_out(state)?;
            left.retain(|t| common.as_ref().is_none_or(|before| before.binary_search(t).is_ok()));
            let is_none = left.is_empty();
            common = Some(left);
            if is_none {
                break;
            }
        }
        if common.is_some_and(|common| !common.is_empty()) {
            again.extend(component.iter().min());
        }
    }
    again.sort_unstable();
    Ok(again)
}

/// States without which there is no cycle in all states of which one transition is left out, and in each something
/// that can be seen.
pub(crate) fn put_off_on_cycles<Y: System + ?Sized>(
    run: &mut Run<'_, Y>,
    partial: &FixedBitSet,
) -> Result<Vec<u32>, Halt> {
    let Some(graph) = &run.graph else { return Ok(Vec::new()) };
    let on_cycles = partial_states_on_cycles(graph, partial);
    let put_off = states_by_class(&on_cycles, &mut |state| left_out(run, state))?;
    let graph = run.graph.as_ref().expect("edges were kept");
    Ok(without_cycles(graph, &put_off))
}

/// The classes that are left out in these states, in order, with the states.
fn states_by_class(states: &FixedBitSet, left_out: &mut LeftOut<'_>) -> Result<Vec<(u32, Vec<u32>)>, Halt> {
    let mut put_off: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    for state in states.ones() {
        for t in left_out(state as u32)? {
            put_off.entry(t).or_default().push(state as u32);
        }
    }
    let mut transitions: Vec<(u32, Vec<u32>)> = put_off.into_iter().collect();
    transitions.sort_unstable();
    Ok(transitions)
}

/// States without which there is no cycle of states that leave out the same class.
fn without_cycles(graph: &Graph, put_off: &[(u32, Vec<u32>)]) -> Vec<u32> {
    let mut again = FixedBitSet::with_capacity(graph.n_states());
    for (_, states) in put_off {
        break_cycles(graph, states, &mut again);
    }
    again.ones().map(|state| state as u32).collect()
}
