//! Cycles and chains of tau, made shorter.
//!
//! **Implements** two reductions that take linear time: the states of a cycle of invisible steps become one state with a loop
//! of tau, and a state that can do nothing but one invisible step is the state that this leads to.
//! **Preserves** branching bisimilarity with divergence, so every semantics but strong bisimilarity; not whether the initial state
//! has tau.
//! **Checked by** bisimilarity by definition on random systems (`oracle`).

use crate::edges::Edges;
use crate::loops::Loops;
use crate::system::System;
use stubborn_lts::TAU;

/// The system without cycles and chains of tau.
pub(crate) fn compressed(system: &System) -> System {
    let loops = Loops::new(system);
    let merged = loops.collapsed(system);
    let n = merged.n_states();
    // Where a state may as well begin. Invisible steps lead to smaller numbers, which are finished.
    let mut place: Vec<u32> = Vec::with_capacity(n);
    for state in 0..n as u32 {
        let mut edges = merged.edges.of(state);
        let only = match (edges.next(), edges.next()) {
            (Some((label, target)), None) if merged.is_invisible(state, label, target) => Some(target),
            _ => None,
        };
        let next = only.filter(|_| !loops.cyclic.contains(state as usize));
        place.push(next.map_or(state, |target| place[target as usize]));
    }
    let mut list = Vec::new();
    for state in (0..n as u32).filter(|&state| place[state as usize] == state) {
        list.extend(merged.edges.of(state).map(|(label, target)| (state, label, place[target as usize])));
        if loops.cyclic.contains(state as usize) {
            list.push((state, TAU, state));
        }
    }
    let initials: Vec<u32> = merged.initials.iter().map(|&state| place[state as usize]).collect();
    merged.with_graph(&initials, &merged.valuation, &Edges::new(n, list))
}
