//! The ignoring problem: states to expand again so that nothing is put off for ever.
//!
//! **Implements** condition S of the soundness page (Valmari's terminal strong components): in every terminal
//! strong component of the explored part, each transition that is enabled in all its states is fired in one
//! of them. Where that is not so, one state of the component is expanded in full, and the search goes on.
//! **Preserves**, together with D0, D1 and D2 (and the imaginary transitions of checks): every transition that
//! can be fired at all is fired, and so every failure of a check is found. Suppose `t1..tn` leads from an
//! explored state to the failure and `n` is as small as any explored state allows. If some `ti` is in the
//! set there, it can come first (D1) and leaves a shorter way. If none is, any member that is fired leaves
//! the same way open (D1, D2), and so does everything explored from there on, down to a terminal component,
//! in all states of which `t1` is enabled and in the set of none: but it is fired in one.
//! **Differs from the text** in that components are looked at when the search has ended instead of on the
//! way, and again until nothing is ignored; and only among states that do not lead to one in which nothing was left out, because a terminal
//! component that has such a state ignores nothing.
//! **Checked by** the tests of `reduce` on cyclic Promela models, and by the campaign.

use crate::run::{Halt, Run};
use crate::{Graph, can_reach, components};
use fixedbitset::FixedBitSet;
use stubborn_system::{Batch, System};

/// The states to expand in full: one of each terminal component that ignores something. `full` are those that
/// were expanded in full already.
pub(crate) fn ignoring_states<Y: System + ?Sized>(
    run: &mut Run<'_, Y>,
    full: &FixedBitSet,
) -> Result<Vec<u32>, Halt> {
    let mut again = Vec::new();
    let candidates = run.graph.as_ref().map_or_else(Vec::new, |graph| components_without(graph, full));
    for component in candidates {
        if ignores(run, &component)? {
            again.extend(component.iter().min());
        }
    }
    again.sort_unstable();
    Ok(again)
}

/// The terminal strong components that have an edge, and none of these states.
fn components_without(graph: &Graph, full: &FixedBitSet) -> Vec<Vec<u32>> {
    let settled = can_reach(graph, |s| full.contains(s as usize) || graph.is_terminal(s));
    // What is not settled leads to what is not settled.
    terminal_components(graph, (0..graph.n_states() as u32).filter(|&s| !settled.contains(s as usize)))
}

/// The terminal strong components that have an edge, and can be reached from these states.
pub(crate) fn terminal_components(graph: &Graph, roots: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let mut roots = roots.peekable();
    if roots.peek().is_none() {
        return Vec::new();
    }
    let mut of = vec![u32::MAX; graph.n_states()];
    let mut found = Vec::new();
    let mut next = 0;
    components(
        graph,
        roots,
        |_, _, _| true,
        |component| {
            component.states.iter().for_each(|&s| of[s as usize] = next);
            let stays = |&s: &u32| graph.edges(s).all(|(_, to)| of[to as usize] == next);
            if graph.first_edge(component.states[0]).is_some() && component.states.iter().all(stays) {
                found.push(component.states.to_vec());
            }
            next += 1;
        },
    );
    found
}

/// Whether some transition is enabled in all states of a component and fired in none.
fn ignores<Y: System + ?Sized>(run: &mut Run<'_, Y>, component: &[u32]) -> Result<bool, Halt> {
    let mut ignored: Option<Vec<u32>> = None;
    let (mut enabled, mut room) = (Batch::new(), Default::default());
    for &s in component {
        run.tick()?;
        let state = run.job.store.state(s, &mut room).expect("the store keeps states");
        enabled.clear();
        run.job.system.successors(state, &mut enabled)?;
        // What leads to where an edge leads is as good as fired.
        let mut is_fired = vec![false; enabled.len()];
        for (_, to) in run.graph.iter().flat_map(|graph| graph.edges(s)) {
            let target = run.job.store.state(to, &mut room).expect("the store keeps states");
            (0..enabled.len()).for_each(|i| is_fired[i] |= enabled.state(i) == target);
        }
        let class = |i: usize| run.job.reduction.class(enabled.via(i));
        // A class is fired if all of it is.
        let mut left: Vec<u32> = (0..enabled.len()).filter(|&i| !is_fired[i]).map(class).collect();
        left.retain(|c| ignored.as_ref().is_none_or(|before| before.contains(c)));
        if left.is_empty() {
            return Ok(false);
        }
        ignored = Some(left);
    }
    Ok(true)
}
