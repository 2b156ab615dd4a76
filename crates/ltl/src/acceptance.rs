//! Acceptance component by component, and states that are of no use.
//!
//! Marks matter only on edges that can be taken infinitely often in an accepting run, that is, within
//! accepting components. Everywhere else they are cleared. Within an accepting component a set that every
//! cycle meets, or that is met whenever another set is, is of no use there: all edges of the component
//! get its mark. The sets that are left are renumbered, so the automaton has as many as its most demanding
//! component.
//!
//! Checked by `tests/all/words.rs`.

use crate::components::{Components, strong_components};
use crate::{Automaton, Edge, State};

/// Without states that are unreachable or from which no word is accepted.
pub(crate) fn trim(automaton: &Automaton) -> Automaton {
    let components = Components::new(automaton);
    // In reverse topological order, so what a component reaches is decided before it.
    let mut is_useful = components.accepts.clone();
    let mut by_component: Vec<Vec<State>> = vec![Vec::new(); components.len()];
    automaton.states().for_each(|s| by_component[components.of[s as usize]].push(s));
    for (component, states) in by_component.iter().enumerate() {
        let mut targets = states.iter().flat_map(|&s| automaton.edges(s)).map(|e| e.target);
        if targets.any(|target| is_useful[components.of[target as usize]]) {
            is_useful[component] = true;
        }
    }
    let useful = |s: State| is_useful[components.of[s as usize]];
    let mut order: Vec<State> = automaton.initial().iter().copied().filter(|&s| useful(s)).collect();
    let mut seen = vec![false; automaton.n_states()];
    order.iter().for_each(|&s| seen[s as usize] = true);
    let mut next = 0;
    while next < order.len() {
        for edge in automaton.edges(order[next]) {
            if useful(edge.target) && !std::mem::replace(&mut seen[edge.target as usize], true) {
                order.push(edge.target);
            }
        }
        next += 1;
    }
    let trimmed = automaton.restricted(&order);
    if trimmed.initial().is_empty() { empty(automaton) } else { trimmed }
}

/// The empty language: one state and no edges.
fn empty(like: &Automaton) -> Automaton {
    let mut out = Automaton::new(like.propositions().clone(), like.n_sets());
    let state = out.add_state(0);
    out.add_initial(state);
    out
}

/// Clears marks that do not matter and drops sets that do not.
pub(crate) fn normalise(automaton: &Automaton) -> Automaton {
    if automaton.has_state_acceptance() && automaton.n_sets() > 0 {
        return normalise_states(automaton);
    }
    let components = Components::new(automaton);
    let mut needed = vec![Vec::new(); components.len()];
    for (component, sets) in needed.iter_mut().enumerate() {
        if components.accepts[component] {
            *sets = needed_sets(automaton, &components, component);
        }
    }
    let n_sets = needed.iter().map(Vec::len).max().unwrap_or(0) as u32;
    let mut out = automaton.clone();
    out.set_n_sets(n_sets.max(u32::from(components.accepts.iter().any(|a| !a))));
    let all = out.all_sets();
    for state in automaton.states() {
        let component = components.of[state as usize];
        let remark = |edge: &Edge| {
            if !components.stays(state, edge.target) || !components.accepts[component] {
                return 0;
            }
            let old = automaton.marks(state, edge);
            let missing = needed[component].iter().enumerate().filter(|(_, set)| old >> **set & 1 == 0);
            all & !missing.fold(0, |bits, (i, _)| bits | 1u64 << i)
        };
        let edges = automaton.edges(state).iter().map(|e| Edge { marks: remark(e), ..e.clone() }).collect();
        out.replace_edges(state, edges);
        out.set_state_marks(state, 0);
    }
    out
}

/// The same for acceptance on states, where sets stay what they are: a component in which every cycle meets
/// a set is wholly in that set; a state on no accepting cycle is in none.
fn normalise_states(automaton: &Automaton) -> Automaton {
    let components = Components::new(automaton);
    let mut out = automaton.clone();
    let full: Vec<u64> = (0..components.len())
        .map(|c| {
            let met =
                (0..automaton.n_sets()).filter(|set| is_met_by_all_cycles(automaton, &components, c, *set));
            met.fold(0, |bits, set| bits | 1u64 << set)
        })
        .collect();
    for state in automaton.states() {
        let component = components.of[state as usize];
        let marks = automaton.state_marks(state) | full[component];
        out.set_state_marks(state, if components.accepts[component] { marks } else { 0 });
    }
    out
}

/// The sets that decide whether a cycle of the component is accepting.
fn needed_sets(automaton: &Automaton, components: &Components, component: usize) -> Vec<u32> {
    let met = |set: &u32| is_met_by_all_cycles(automaton, components, component, *set);
    let candidates: Vec<u32> = (0..automaton.n_sets()).filter(|set| !met(set)).collect();
    let marks: Vec<u64> = inner_marks(automaton, components, component);
    let implied_by = |set: u32, other: u32| marks.iter().all(|m| m >> other & 1 == 0 || m >> set & 1 == 1);
    let mut needed: Vec<u32> = Vec::new();
    for (i, &set) in candidates.iter().enumerate() {
        // A set that is met whenever another one is; of two equal sets the first is kept.
        let is_implied = candidates
            .iter()
            .enumerate()
            .any(|(j, &other)| i != j && implied_by(set, other) && (j < i || !implied_by(other, set)));
        if !is_implied {
            needed.push(set);
        }
    }
    needed
}

fn inner_marks(automaton: &Automaton, components: &Components, component: usize) -> Vec<u64> {
    let mut marks = Vec::new();
    for state in automaton.states().filter(|&s| components.of[s as usize] == component) {
        let inner = automaton.edges(state).iter().filter(|e| components.stays(state, e.target));
        marks.extend(inner.map(|e| automaton.marks(state, e)));
    }
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// Whether the component without the edges of `set` has no cycle.
fn is_met_by_all_cycles(automaton: &Automaton, components: &Components, component: usize, set: u32) -> bool {
    let outside = |source: usize| {
        let source = source as State;
        automaton.edges(source).iter().filter(move |edge| {
            components.of[source as usize] == component
                && components.of[edge.target as usize] == component
                && automaton.marks(source, edge) >> set & 1 == 0
        })
    };
    let targets = |s: usize| outside(s).map(|e| e.target as usize);
    let (of, _) = strong_components(automaton.n_states(), targets);
    let mut members = 0..automaton.n_states();
    !members.any(|s| targets(s).any(|target| of[s] == of[target]))
}
