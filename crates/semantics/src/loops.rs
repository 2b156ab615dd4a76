//! Cycles of invisible steps.
//!
//! **Implements** Tarjan's strong components on the invisible steps, without recursion. The states of a component have
//! one valuation and reach each other unseen, so they are one state that may diverge: no semantics here tells them
//! apart (strong bisimilarity does, and does not use this).
//! **Checked by** the random pairs of `oracle`, half of whose systems have such cycles.

use crate::edges::Edges;
use crate::system::System;
use fixedbitset::FixedBitSet;

/// The strong components of the invisible steps.
pub(crate) struct Loops {
    /// The component of each state; an invisible step never leads to a component with a larger number.
    pub(crate) component: Vec<u32>,
    /// The components with a cycle.
    pub(crate) cyclic: FixedBitSet,
}

const UNSEEN: u32 = u32::MAX;

impl Loops {
    /// Finds the components.
    pub(crate) fn new(system: &System) -> Self {
        let n = system.n_states();
        let mut component = vec![UNSEEN; n];
        let mut low = vec![UNSEEN; n];
        let (mut stack, mut calls) = (Vec::new(), Vec::new());
        let (mut n_met, mut n_components) = (0, 0);
        for root in 0..n as u32 {
            if low[root as usize] != UNSEEN {
                continue;
            }
            // A call: the state, when it was met, and the next of its edges.
            let mut entered = Some(root);
            loop {
                if let Some(state) = entered.take() {
                    low[state as usize] = n_met;
                    stack.push(state);
                    calls.push((state, n_met, system.edges.range(state).start));
                    n_met += 1;
                }
                let Some((state, met, next)) = calls.last_mut() else { break };
                let (state, met) = (*state, *met);
                while *next < system.edges.range(state).end {
                    let (label, target) = system.edges.at(*next);
                    *next += 1;
                    if !system.is_invisible(state, label, target) || component[target as usize] != UNSEEN {
                        continue;
                    }
                    if low[target as usize] == UNSEEN {
                        entered = Some(target);
                        break;
                    }
                    low[state as usize] = low[state as usize].min(low[target as usize]);
                }
                if entered.is_some() {
                    continue;
                }
                calls.pop();
                if low[state as usize] == met {
                    while let Some(member) = stack.pop() {
                        component[member as usize] = n_components;
                        if member == state {
                            break;
                        }
                    }
                    n_components += 1;
                }
                if let Some(&(parent, ..)) = calls.last() {
                    low[parent as usize] = low[parent as usize].min(low[state as usize]);
                }
            }
        }
        let mut cyclic = FixedBitSet::with_capacity(n_components as usize);
        for state in 0..n as u32 {
            for (label, target) in system.edges.of(state) {
                let inside = component[state as usize] == component[target as usize];
                if inside && system.is_invisible(state, label, target) {
                    cyclic.insert(component[state as usize] as usize);
                }
            }
        }
        Self { component, cyclic }
    }

    /// The system with one state for each component. Invisible steps lead to smaller numbers; that a component has
    /// a cycle is seen in `cyclic` only.
    pub(crate) fn collapsed(&self, system: &System) -> System {
        let n = self.cyclic.len();
        let mut valuation = vec![0; n];
        let mut list = Vec::with_capacity(system.n_states());
        for state in 0..system.n_states() as u32 {
            let source = self.component[state as usize];
            valuation[source as usize] = system.valuation[state as usize];
            for (label, target) in system.edges.of(state) {
                let place = self.component[target as usize];
                if place != source || !system.is_invisible(state, label, target) {
                    list.push((source, label, place));
                }
            }
        }
        System {
            initials: system.initials.iter().map(|&state| self.component[state as usize]).collect(),
            names: system.names.clone(),
            marks: system.marks.clone(),
            valuations: system.valuations.clone(),
            valuation,
            edges: Edges::new(n, list),
        }
    }

    /// The states from which invisible steps can go on for ever.
    pub(crate) fn diverging(&self, system: &System) -> FixedBitSet {
        let mut diverging = self.cyclic.clone();
        let mut order: Vec<u32> = (0..system.n_states() as u32).collect();
        order.sort_unstable_by_key(|&state| self.component[state as usize]);
        // Targets have smaller components, which are finished.
        for &state in &order {
            let leads = |(label, target): (u32, u32)| {
                system.is_invisible(state, label, target)
                    && diverging.contains(self.component[target as usize] as usize)
            };
            if system.edges.of(state).any(leads) {
                diverging.insert(self.component[state as usize] as usize);
            }
        }
        let states = 0..system.n_states();
        let mut result = FixedBitSet::with_capacity(system.n_states());
        result.extend(states.filter(|&state| diverging.contains(self.component[state] as usize)));
        result
    }
}
