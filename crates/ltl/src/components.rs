//! Strong components of an automaton's graph, by Tarjan's algorithm without recursion.
//!
//! Components are numbered in reverse topological order: what a component reaches has smaller numbers.
//! Checked by the emptiness tests, which compare with direct evaluation.

use crate::{Automaton, State};

/// The components, and which of them accept.
#[derive(Debug)]
pub(crate) struct Components {
    /// The component of each state.
    pub(crate) of: Vec<usize>,
    /// Whether a run can stay in it for ever and be accepting.
    pub(crate) accepts: Vec<bool>,
}

impl Components {
    pub(crate) fn new(automaton: &Automaton) -> Self {
        let successors = |s: usize| automaton.edges(s as State).iter().map(|e| e.target as usize);
        let (of, n) = strong_components(automaton.n_states(), successors);
        let mut marks = vec![0u64; n];
        let mut has_cycle = vec![false; n];
        for state in automaton.states() {
            for edge in automaton.edges(state) {
                let component = of[state as usize];
                if component == of[edge.target as usize] {
                    marks[component] |= automaton.marks(state, edge);
                    has_cycle[component] = true;
                }
            }
        }
        let all = automaton.all_sets();
        let accepts = (0..n).map(|c| has_cycle[c] && marks[c] & all == all).collect();
        Self { of, accepts }
    }

    pub(crate) fn len(&self) -> usize {
        self.accepts.len()
    }

    /// Whether an edge from `source` to `target` stays in its component.
    pub(crate) fn stays(&self, source: State, target: State) -> bool {
        self.of[source as usize] == self.of[target as usize]
    }
}

/// The component of each of `n` states, and how many there are.
pub(crate) fn strong_components<I: Iterator<Item = usize>>(
    n: usize,
    successors: impl Fn(usize) -> I,
) -> (Vec<usize>, usize) {
    const UNSEEN: usize = usize::MAX;
    let mut of = vec![UNSEEN; n];
    let (mut index, mut low) = (vec![UNSEEN; n], vec![0; n]);
    let (mut next_index, mut n_components) = (0, 0);
    let mut members = Vec::new();
    let mut frames: Vec<(usize, I)> = Vec::new();
    for root in 0..n {
        if index[root] != UNSEEN {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(state) = enter.take() {
                index[state] = next_index;
                low[state] = next_index;
                next_index += 1;
                members.push(state);
                frames.push((state, successors(state)));
            }
            let Some((state, rest)) = frames.last_mut() else { break };
            let state = *state;
            match rest.next() {
                Some(target) if index[target] == UNSEEN => enter = Some(target),
                Some(target) if of[target] == UNSEEN => low[state] = low[state].min(index[target]),
                Some(_) => {}
                None => {
                    frames.pop();
                    if let Some((parent, _)) = frames.last() {
                        low[*parent] = low[*parent].min(low[state]);
                    }
                    if low[state] == index[state] {
                        while let Some(member) = members.pop() {
                            of[member] = n_components;
                            if member == state {
                                break;
                            }
                        }
                        n_components += 1;
                    }
                }
            }
        }
    }
    (of, n_components)
}
