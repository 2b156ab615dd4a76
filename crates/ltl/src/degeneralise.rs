//! From several acceptance sets on edges to one on states.
//!
//! **Implements** the usual copies: copy `l` of a state waits for the `l`-th set of its component, the last
//! copy is accepting and begins anew. Copies are made within accepting components only, and for the sets that
//! this component needs; entering a component begins at one of them. An edge moves on by as many sets as it
//! and all that can follow it within the component are in (Babiak and others, *Compositional approach to
//! suspension and other improvements to LTL translation*, 2013, have such shortcuts). Several orders of the
//! sets and both ways to begin are tried; the smallest result after [`simplify`] wins.
//!
//! **Checked by** `tests/all/words.rs`.

use crate::components::Components;
use crate::translate::size;
use crate::{Automaton, State, simplify};
use rustc_hash::FxHashMap;

/// Orders that are tried.
const MAX_ORDERS: usize = 6;

/// Automata with more states and edges (before copies) are given only one try.
const LARGE: usize = 200;

/// A Büchi automaton with accepting states and one initial state for the same language.
pub fn degeneralise(automaton: &Automaton) -> Automaton {
    if automaton.is_buchi() && automaton.initial().len() == 1 {
        return simplify(automaton);
    }
    let single = automaton.with_one_initial();
    let components = Components::new(&single);
    let orders = orders(single.n_sets());
    let is_large = single.n_states() + single.n_edges() > LARGE;
    let tries = if is_large { 1 } else { orders.len() };
    let mut best: Option<Automaton> = None;
    for order in &orders[..tries] {
        for begins_accepting in [false, true] {
            for looks_ahead in [true, false] {
                let copies = Copies {
                    automaton: &single,
                    components: &components,
                    order,
                    begins_accepting,
                    looks_ahead,
                };
                let found = simplify(&copies.build());
                if is_large {
                    return found;
                }
                if best.as_ref().is_none_or(|b| size(&found) < size(b)) {
                    best = Some(found);
                }
            }
        }
    }
    best.unwrap_or(single)
}

/// Some orders of the sets: all rotations and reversals, as far as there is room.
fn orders(n_sets: u32) -> Vec<Vec<u32>> {
    let n = n_sets.max(1);
    let mut orders: Vec<Vec<u32>> = Vec::new();
    for start in 0..n {
        let forwards: Vec<u32> = (0..n_sets).map(|i| (i + start) % n).collect();
        let backwards: Vec<u32> = forwards.iter().rev().copied().collect();
        for order in [forwards, backwards] {
            if !orders.contains(&order) && orders.len() < MAX_ORDERS {
                orders.push(order);
            }
        }
    }
    orders
}

struct Copies<'a> {
    automaton: &'a Automaton,
    components: &'a Components,
    order: &'a [u32],
    begins_accepting: bool,
    looks_ahead: bool,
}

impl Copies<'_> {
    fn build(&self) -> Automaton {
        let needed = self.needed();
        let common = self.common();
        let mut out = Automaton::new(self.automaton.propositions().clone(), 1);
        let mut numbers: FxHashMap<(State, usize), State> = FxHashMap::default();
        let mut work: Vec<(State, usize)> = Vec::new();
        let mut add = |out: &mut Automaton, work: &mut Vec<_>, copy: (State, usize)| {
            *numbers.entry(copy).or_insert_with(|| {
                work.push(copy);
                out.add_state(u64::from(self.is_accepting(copy, &needed)))
            })
        };
        for &state in self.automaton.initial() {
            let number = add(&mut out, &mut work, (state, self.begin(state, &needed)));
            out.add_initial(number);
        }
        while let Some((state, level)) = work.pop() {
            let source = add(&mut out, &mut work, (state, level));
            for edge in self.automaton.edges(state) {
                let target = edge.target;
                let to = if self.components.stays(state, target) {
                    let sets = &needed[self.components.of[state as usize]];
                    let ahead = if self.looks_ahead { common[target as usize] } else { 0 };
                    let marks = self.automaton.marks(state, edge) | ahead;
                    let mut to = if level == sets.len() { 0 } else { level };
                    while to < sets.len() && marks >> sets[to] & 1 == 1 {
                        to += 1;
                    }
                    to
                } else {
                    self.begin(target, &needed)
                };
                let target = add(&mut out, &mut work, (target, to));
                out.add_edge(source, edge.guard.clone(), target, 0);
            }
        }
        out
    }

    /// For each component the sets that some of its edges lack, in order.
    fn needed(&self) -> Vec<Vec<u32>> {
        let mut lacking = vec![0u64; self.components.len()];
        for state in self.automaton.states() {
            for edge in self.automaton.edges(state) {
                if self.components.stays(state, edge.target) {
                    lacking[self.components.of[state as usize]] |= !self.automaton.marks(state, edge);
                }
            }
        }
        let sets = |c: usize| match self.components.accepts[c] {
            true => self.order.iter().copied().filter(|set| lacking[c] >> set & 1 == 1).collect(),
            false => Vec::new(),
        };
        (0..self.components.len()).map(sets).collect()
    }

    /// For each state the sets that all edges on which a run can stay in its component are in.
    fn common(&self) -> Vec<u64> {
        let of_state = |state: State| {
            let inner = self.automaton.edges(state).iter().filter(|e| self.components.stays(state, e.target));
            let marks = inner.map(|e| self.automaton.marks(state, e)).reduce(|a, b| a & b);
            marks.unwrap_or(0)
        };
        self.automaton.states().map(of_state).collect()
    }

    fn begin(&self, state: State, needed: &[Vec<u32>]) -> usize {
        if self.begins_accepting { needed[self.components.of[state as usize]].len() } else { 0 }
    }

    fn is_accepting(&self, (state, level): (State, usize), needed: &[Vec<u32>]) -> bool {
        let component = self.components.of[state as usize];
        self.components.accepts[component] && level == needed[component].len()
    }
}
