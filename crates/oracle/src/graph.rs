//! Every reachable state and every edge, found in the plainest way there is.
//!
//! A breadth-first search with a hash map of byte vectors from the standard library. It shares no code
//! with the real searches and stores, so that an error in one of those shows as a difference. An error
//! here would show the same way, in every campaign at once.

use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use stubborn_system::{Batch, Fault, System, TransitionId, Vector};

/// An edge of the graph; states are numbered in the order in which they were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it starts.
    pub source: usize,
    /// What was fired.
    pub transition: TransitionId,
    /// Where it ends.
    pub target: usize,
}

/// The reachable part of a system. State 0 is the state where the search began.
#[derive(Debug)]
pub struct FullGraph<S: Vector + ?Sized> {
    states: Batch<S>,
    numbers: HashMap<Vec<u8>, usize, FxBuildHasher>,
    /// Length of a shortest path to each state.
    depths: Vec<usize>,
    /// Sorted by source.
    edges: Vec<Edge>,
    /// Where the edges of each state begin, and the end of the last.
    starts: Vec<usize>,
}

impl<S: Vector + ?Sized> FullGraph<S> {
    /// Everything that is reachable from the initial state, or `None` if that is more than `limit` states.
    ///
    /// # Panics
    /// If the system is faulty: the systems of the oracle are not.
    pub fn explore<Y: System<State = S> + ?Sized>(system: &Y, limit: usize) -> Option<Self> {
        let mut initial = Batch::new();
        not_faulty(system.initial(&mut initial));
        Self::explore_where(system, initial.state(0), limit, |_| true)
    }

    /// Everything that is reachable from `start` by the transitions that are `allowed`, or `None` if that
    /// is more than `limit` states.
    ///
    /// # Panics
    /// If the system is faulty.
    pub fn explore_where<Y: System<State = S> + ?Sized>(
        system: &Y,
        start: &S,
        limit: usize,
        allowed: impl Fn(TransitionId) -> bool,
    ) -> Option<Self> {
        let mut graph = Self::just(start);
        let mut next = 0;
        while next < graph.n_states() {
            graph.starts.push(graph.edges.len());
            for t in (0..system.n_transitions()).map(TransitionId::from).filter(|&t| allowed(t)) {
                if let Some(after) = fire(system, graph.states.state(next), t) {
                    let target = graph.number_of(after.state(0), graph.depths[next] + 1);
                    graph.edges.push(Edge { source: next, transition: t, target });
                }
            }
            if graph.n_states() > limit {
                return None;
            }
            next += 1;
        }
        graph.starts.push(graph.edges.len());
        Some(graph)
    }

    fn just(start: &S) -> Self {
        let mut graph = Self {
            states: Batch::new(),
            numbers: HashMap::default(),
            depths: Vec::new(),
            edges: Vec::new(),
            starts: Vec::new(),
        };
        graph.number_of(start, 0);
        graph
    }

    /// The number of `state`; a new one, at `depth`, if it has none.
    fn number_of(&mut self, state: &S, depth: usize) -> usize {
        if let Some(&number) = self.numbers.get(state.as_bytes()) {
            return number;
        }
        let number = self.numbers.len();
        self.numbers.insert(state.as_bytes().to_vec(), number);
        self.states.push(TransitionId(0), state);
        self.depths.push(depth);
        number
    }

    /// Number of states.
    pub fn n_states(&self) -> usize {
        self.depths.len()
    }

    /// State number `i`.
    pub fn state(&self, i: usize) -> &S {
        self.states.state(i)
    }

    /// The number of `state`, if it is reachable.
    pub fn find(&self, state: &S) -> Option<usize> {
        self.numbers.get(state.as_bytes()).copied()
    }

    /// Number of transitions on a shortest path from state 0 to state `i`.
    pub fn depth(&self, i: usize) -> usize {
        self.depths[i]
    }

    /// All edges, sorted by source.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges that leave state `i`.
    pub fn outgoing(&self, i: usize) -> &[Edge] {
        &self.edges[self.starts[i]..self.starts[i + 1]]
    }

    /// Whether nothing can be fired in state `i` (nothing that was allowed).
    pub fn is_terminal(&self, i: usize) -> bool {
        self.outgoing(i).is_empty()
    }
}

/// The state after `t`, as the only element of a batch, if `t` is enabled.
pub(crate) fn fire<Y: System + ?Sized>(
    system: &Y,
    state: &Y::State,
    t: TransitionId,
) -> Option<Batch<Y::State>> {
    let mut after = Batch::new();
    not_faulty(system.fire(state, t, &mut after)).then_some(after)
}

/// The answer of a system that has no faults.
pub(crate) fn not_faulty<T>(answer: Result<T, Fault>) -> T {
    answer.unwrap_or_else(|fault| panic!("a faulty system is no test: {fault}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Network;

    fn two_switches() -> Network {
        Network::parse("label a 0\nlabel b 1\ncomponent 2 a:0>1\ncomponent 2 b:0>1 b:1>0").unwrap()
    }

    #[test]
    fn every_state_and_edge_is_there_once() {
        let graph = FullGraph::explore(&two_switches(), 100).unwrap();
        assert_eq!((graph.n_states(), graph.edges().len()), (4, 6));
        let last = graph.find(&[1, 1]).unwrap();
        assert_eq!((graph.depth(last), graph.state(last)), (2, &[1u8, 1][..]));
        assert_eq!(graph.outgoing(last).len(), 1);
        assert!(!graph.is_terminal(last));
    }

    #[test]
    fn the_limit_is_the_largest_number_that_is_allowed() {
        assert!(FullGraph::explore(&two_switches(), 4).is_some());
        assert!(FullGraph::explore(&two_switches(), 3).is_none());
    }

    #[test]
    fn only_what_is_allowed_is_fired() {
        let network = two_switches();
        let graph = FullGraph::explore_where(&network, &[1, 0], 100, |t| t.index() != 2).unwrap();
        let edge = Edge { source: 0, transition: TransitionId(1), target: 1 };
        assert_eq!(graph.edges(), [edge]);
        assert!(graph.is_terminal(1));
    }
}
