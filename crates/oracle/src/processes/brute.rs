//! The whole graph of a network, and C1 to C4 on it by definition.

use super::{Network, Rejected};
use petgraph::algo::{is_cyclic_directed, tarjan_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::HashMap;
use stubborn_system::RejectionKind;

/// A move: who takes part, and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The processes that take part.
    pub who: Vec<usize>,
    /// The label; `None` if it is invisible.
    pub label: Option<usize>,
    /// The tuple that it leads to.
    pub target: usize,
}

/// The reachable tuples and all moves between them; or a part of them.
#[derive(Clone, Debug, Default)]
pub struct Brute {
    /// The tuples; the first is the initial one.
    pub tuples: Vec<Vec<usize>>,
    /// The moves of each.
    pub moves: Vec<Vec<Move>>,
}

impl Brute {
    /// Everything that can be reached; `None` if it is more than `limit` tuples.
    pub fn new(network: &Network, limit: usize) -> Option<Self> {
        let mut brute = Self { tuples: vec![vec![0; network.processes.len()]], moves: Vec::new() };
        let mut numbers: HashMap<Vec<usize>, usize> = HashMap::from([(brute.tuples[0].clone(), 0)]);
        while brute.moves.len() < brute.tuples.len() {
            let from = brute.tuples[brute.moves.len()].clone();
            let mut moves = Vec::new();
            for (who, label, to) in steps(network, &from) {
                let target = *numbers.entry(to.clone()).or_insert_with(|| {
                    brute.tuples.push(to);
                    brute.tuples.len() - 1
                });
                moves.push(Move { who, label, target });
            }
            brute.moves.push(moves);
            if brute.tuples.len() > limit {
                return None;
            }
        }
        Some(brute)
    }

    /// Whether something is rejected in this graph.
    pub fn rejects(&self, rejected: &Rejected) -> bool {
        let holds = |tuple: usize| rejected.holds(&self.tuples[tuple]);
        let all = 0..self.tuples.len();
        match rejected.kind {
            RejectionKind::State => all.into_iter().any(holds),
            RejectionKind::Deadlock => all.into_iter().any(|t| holds(t) && self.moves[t].is_empty()),
            RejectionKind::Livelock => {
                let alone = |from: usize, step: &Move| holds(from) && !rejected.takes_part(&step.who);
                is_cyclic_directed(&self.graph(alone))
            }
            RejectionKind::Infinite => {
                let mut component_of = vec![0; self.tuples.len()];
                for (i, component) in tarjan_scc(&self.graph(|_, _| true)).iter().enumerate() {
                    component.iter().for_each(|node| component_of[node.index()] = i);
                }
                let is_wrong = |from: usize, step: &Move| {
                    holds(from)
                        && rejected.takes_part(&step.who)
                        && component_of[from] == component_of[step.target]
                };
                all.into_iter().any(|from| self.moves[from].iter().any(|step| is_wrong(from, step)))
            }
        }
    }

    /// The length of the shortest way to where a state, a deadlock or a livelock is rejected, if it is one of these
    /// kinds and rejected at all.
    pub fn depth(&self, rejected: &Rejected) -> Option<usize> {
        let holds = |tuple: usize| rejected.holds(&self.tuples[tuple]);
        let is_wrong: Vec<bool> = match rejected.kind {
            RejectionKind::State => (0..self.tuples.len()).map(holds).collect(),
            RejectionKind::Deadlock => {
                (0..self.tuples.len()).map(|t| holds(t) && self.moves[t].is_empty()).collect()
            }
            RejectionKind::Livelock => {
                let graph = self.graph(|from, step| holds(from) && !rejected.takes_part(&step.who));
                let mut on_cycle = vec![false; self.tuples.len()];
                for component in tarjan_scc(&graph) {
                    let is_cycle = component.len() > 1 || graph.contains_edge(component[0], component[0]);
                    component.iter().for_each(|node| on_cycle[node.index()] = is_cycle);
                }
                on_cycle
            }
            RejectionKind::Infinite => return None,
        };
        let mut seen = vec![false; self.tuples.len()];
        seen[0] = true;
        let (mut level, mut depth) = (vec![0], 0);
        while !level.is_empty() {
            if level.iter().any(|&tuple| is_wrong[tuple]) {
                return Some(depth);
            }
            let targets = level.iter().flat_map(|&tuple: &usize| &self.moves[tuple]).map(|step| step.target);
            level = targets.filter(|&target| !std::mem::replace(&mut seen[target], true)).collect();
            depth += 1;
        }
        None
    }

    fn graph(&self, keep: impl Fn(usize, &Move) -> bool) -> DiGraph<(), ()> {
        let mut graph = DiGraph::new();
        let nodes: Vec<NodeIndex> = self.tuples.iter().map(|_| graph.add_node(())).collect();
        for (from, moves) in self.moves.iter().enumerate() {
            for step in moves.iter().filter(|step| keep(from, step)) {
                graph.add_edge(nodes[from], nodes[step.target], ());
            }
        }
        graph
    }
}

/// Who moves, with which label, and to where.
type Step = (Vec<usize>, Option<usize>, Vec<usize>);

/// All moves from a tuple.
fn steps(network: &Network, from: &[usize]) -> Vec<Step> {
    let mut out = Vec::new();
    for (i, process) in network.processes.iter().enumerate() {
        for &(source, label, target) in &process.edges {
            if label.is_none() && source == from[i] {
                let mut to = from.to_vec();
                to[i] = target;
                out.push((vec![i], None, to));
            }
        }
    }
    for label in 0..network.n_labels {
        let has = |&i: &usize| network.processes[i].alphabet.contains(&label);
        let who: Vec<usize> = (0..network.processes.len()).filter(has).collect();
        let mut tuples = if who.is_empty() { Vec::new() } else { vec![from.to_vec()] };
        for &i in &who {
            let edges = network.processes[i].edges.iter();
            let targets: Vec<usize> =
                edges.filter(|e| e.0 == from[i] && e.1 == Some(label)).map(|e| e.2).collect();
            tuples = tuples
                .iter()
                .flat_map(|tuple| {
                    targets.iter().map(move |&target| {
                        let mut to = tuple.clone();
                        to[i] = target;
                        to
                    })
                })
                .collect();
        }
        out.extend(tuples.into_iter().map(|to| (who.clone(), Some(label), to)));
    }
    out
}
