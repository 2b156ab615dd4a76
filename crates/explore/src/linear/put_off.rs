//! Cycles that put off for ever what can be seen.
//!
//! **Implements** the cycle condition of linear time in a form that is judged when the search has ended: there is
//! no cycle of explored states in all of which one and the same transition is enabled but not in the set, and
//! in none of which the set has everything that can be seen. Where there is one, a state on it is expanded
//! in full, and the search goes on.
//! **Preserves**, together with D0, D1, D2, V and I: let `t1 t2 ...` be a run of the system from an explored
//! state, and `tk` its next visible transition. If some `ti` is in the set, the first of them can come first
//! (D1), and nothing visible is overtaken (V). Otherwise some member that is invisible can be fired (I) and leaves
//! the run as it is (D1, D2). If this went on for ever without any of `t1 .. tk`, it would pass a cycle in all
//! states of which `t1` is enabled and not in the set; then one of these states has everything visible in
//! its set, `tk` included. So `tk` is fired in the end, and so on.
//! **Differs from the text** (L: every cycle has, for each visible transition, a state whose set has it) in that
//! the transition that is put off must be enabled all the way round, and in that no stack is needed.
//! **Checked by** brute force on random systems and formulas (`oracle`).

use super::Search;
use crate::Graph;
use crate::run::Halt;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use stubborn_system::{Batch, System, Vector};

impl<Y: System + ?Sized> Search<'_, Y> {
    /// States whose full expansion breaks all such cycles among the states explored so far.
    pub(super) fn states_that_put_off(&mut self) -> Result<Vec<u32>, Halt> {
        let n = self.product.graph.n_states();
        let on_cycles = partial_states_on_cycles(&self.product.graph, &self.partial);
        if on_cycles.is_clear() {
            return Ok(Vec::new());
        }
        // For each transition that is put off somewhere: where.
        let mut put_off: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let (mut enabled, mut room) = (Batch::new(), <Y::State as Vector>::Rows::default());
        for state in on_cycles.ones() {
            self.tick()?;
            let vector = self.job.store.state(state as u32, &mut room).expect("the store keeps states");
            enabled.clear();
            self.job.system.successors(vector, &mut enabled)?;
            enabled.take_flag();
            // What leads to where an edge leads is as good as fired; a class is fired if all of it is.
            let mut is_fired = vec![false; enabled.len()];
            for (_, to) in self.product.graph.edges(state as u32) {
                let target = self.job.store.state(to, &mut room).expect("the store keeps states");
                (0..enabled.len()).for_each(|i| is_fired[i] |= enabled.state(i) == target);
            }
            let class = |i: usize| self.job.reduction.class(enabled.via(i));
            let mut left: Vec<u32> = (0..enabled.len()).filter(|&i| !is_fired[i]).map(class).collect();
            left.sort_unstable();
            left.dedup();
            left.into_iter().for_each(|class| put_off.entry(class).or_default().push(state as u32));
        }
        let mut transitions: Vec<(u32, Vec<u32>)> = put_off.into_iter().collect();
        transitions.sort_unstable();
        let mut again = FixedBitSet::with_capacity(n);
        for (_, states) in transitions {
            break_cycles(&self.product.graph, &states, &mut again);
        }
        Ok(again.ones().map(|state| state as u32).collect())
    }
}

/// The states in which something was left out that lie on cycles of such states.
pub(crate) fn partial_states_on_cycles(graph: &Graph, partial: &FixedBitSet) -> FixedBitSet {
    let mut found = FixedBitSet::with_capacity(graph.n_states());
    let is_partial = |state: u32| partial.contains(state as usize);
    let roots = partial.ones().map(|state| state as u32);
    crate::components(
        graph,
        roots,
        |from, _, to| is_partial(from) && is_partial(to),
        |component| {
            let first = component.states[0];
            let has_loop = || graph.edges(first).any(|(_, to)| to == first);
            if component.states.len() > 1 || has_loop() {
                found.extend(component.states.iter().map(|&state| state as usize));
            }
        },
    );
    found
}

/// Adds states to `again` until `states` without them has no cycle: wherever a depth-first search comes back
/// to a state that it has not left.
pub(crate) fn break_cycles(graph: &Graph, states: &[u32], again: &mut FixedBitSet) {
    #[derive(Clone, Copy, PartialEq)]
    enum Colour {
        Open,
        Done,
    }
    let member: rustc_hash::FxHashSet<u32> = states.iter().copied().collect();
    let mut colours: FxHashMap<u32, Colour> = FxHashMap::default();
    let mut frames: Vec<(u32, Option<u32>)> = Vec::new();
    for &root in states {
        if colours.contains_key(&root) {
            continue;
        }
        colours.insert(root, Colour::Open);
        frames.push((root, graph.first_edge(root)));
        while let Some((state, next)) = frames.last_mut() {
            let Some(edge) = *next else {
                colours.insert(*state, Colour::Done);
                frames.pop();
                continue;
            };
            let (target, following) = graph.edge(edge);
            *next = following;
            // A state that is expanded in full breaks every cycle through it.
            if again.contains(*state as usize) || !member.contains(&target) {
                continue;
            }
            match colours.get(&target) {
                Some(Colour::Open) => again.insert(target as usize),
                Some(Colour::Done) => {}
                None => {
                    colours.insert(target, Colour::Open);
                    frames.push((target, graph.first_edge(target)));
                }
            }
        }
    }
}
