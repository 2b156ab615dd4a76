//! Footprints, against what the interpreter does.
//!
//! On random walks through all models: what a step changed must be among its writes; and a change of a
//! global that is in none of its sets must neither change whether it can be done nor what it does to the
//! rest of the state.

use crate::support::{models, network};
#[allow(dead_code, reason = "each test uses its part")]
use std::collections::BTreeSet;
use stubborn_network::{Access, Component, Footprint, Network, Successor};
use stubborn_system::{Batch, System};

fn all_networks() -> Vec<(String, Network)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(models()).expect("the models").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "pml") {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            all.push((name, network(&path).expect("a good model")));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// Union of the footprints of all steps of a transition.
fn footprint(network: &Network, successor: &Successor) -> Footprint {
    let mut union = Footprint::default();
    for micro in &successor.trail {
        let mut one = network.footprint(micro.step);
        union.waits.append(&mut one.waits);
        union.reads.append(&mut one.reads);
        union.writes.append(&mut one.writes);
    }
    union
}

fn touches_global(set: &BTreeSet<Access>, variable: usize, element: usize) -> bool {
    set.iter().any(|access| match access {
        Access::Global { variable: v, element: e } => *v == variable && e.is_none_or(|e| e == element),
        Access::Everything => true,
        _ => false,
    })
}

/// The first states of a breadth-first search.
fn states(network: &Network, most: usize) -> Vec<Vec<u8>> {
    let mut states = vec![network.initial_state().expect("it can begin")];
    let mut at = 0;
    while at < states.len() && states.len() < most {
        for successor in network.expand(&states[at]).successors {
            if !states.contains(&successor.state) {
                states.push(successor.state);
            }
        }
        at += 1;
    }
    states
}

#[test]
fn what_changes_is_among_the_writes() {
    for (name, network) in all_networks() {
        for state in states(&network, 150) {
            for successor in network.expand(&state).successors {
                let footprint = footprint(&network, &successor);
                let before = network.components(&state);
                let is_shifted = footprint.writes.contains(&Access::Population);
                for (component, range) in before {
                    if state.get(range.clone()) == successor.state.get(range) {
                        continue;
                    }
                    let is_known = match component {
                        Component::Global { variable, element } => {
                            touches_global(&footprint.writes, variable, element)
                        }
                        Component::Channel { .. } => {
                            is_shifted || footprint.writes.iter().any(|w| matches!(w, Access::Channel { .. }))
                        }
                        Component::Process { pid } => {
                            is_shifted
                                || successor.trail.iter().any(|micro| micro.pid == pid)
                                || footprint.writes.contains(&Access::Priorities)
                        }
                    };
                    assert!(is_known, "{name}: {:?} changed by {:?}", component, successor.trail);
                }
            }
        }
    }
}

#[test]
fn what_is_not_in_the_footprint_does_not_matter() {
    let mut n_tried = 0;
    for (name, network) in all_networks() {
        // Only steps that end at once: where an atomic sequence goes on, other footprints count too.
        let ends_at_once = |s: &&Successor| {
            s.trail.len() == 1 && network.step(s.trail[0].step).is_some_and(|(_, _, step)| !step.is_atomic)
        };
        for state in states(&network, 60) {
            let expansion = network.expand(&state);
            for successor in expansion.successors.iter().filter(ends_at_once) {
                let footprint = footprint(&network, successor);
                for (component, range) in network.components(&state) {
                    let Component::Global { variable, element } = component else { continue };
                    let sets = [&footprint.waits, &footprint.reads, &footprint.writes];
                    if sets.iter().any(|set| touches_global(set, variable, element)) {
                        continue;
                    }
                    if network.globals[variable].is_channel {
                        continue;
                    }
                    let mut other = state.clone();
                    other[range.start] ^= 1;
                    let mut expected = successor.state.clone();
                    expected[range.start] ^= 1;
                    let again = network.expand(&other);
                    let same = again.successors.iter().find(|s| s.trail == successor.trail);
                    let found = same.map(|s| &s.state);
                    assert_eq!(found, Some(&expected), "{name}: {}", network.globals[variable].name);
                    n_tried += 1;
                }
            }
        }
    }
    assert!(n_tried > 1000, "only {n_tried} cases");
}

#[test]
fn transitions_have_numbers_of_their_own_and_fire_alone() {
    for (name, network) in all_networks() {
        for state in states(&network, 60) {
            let successors = network.expand(&state).successors;
            let numbers: BTreeSet<u32> = successors.iter().map(|s| s.transition.0).collect();
            assert_eq!(numbers.len(), successors.len(), "{name}");
            for successor in &successors {
                assert!(successor.transition.index() < network.n_transitions(), "{name}");
                assert_eq!(network.group(successor.transition), successor.trail[0], "{name}");
                let mut alone = Batch::new();
                assert_eq!(network.fire(&state, successor.transition, &mut alone), Ok(true), "{name}");
                assert_eq!(alone.state(0), successor.state, "{name}");
            }
        }
    }
}
