//! Graphs whose arcs bear marks, and runs that pass every mark for ever.
//!
//! **Implements** generalised Büchi emptiness in the plainest way: what can be reached, the strong components
//! of that (petgraph), and whether the arcs within one of them bear all marks. The run is then walked together
//! by breadth-first searches within the component.
//! **Checked by** `satisfies` on the walk: whoever gets a run can see for himself that it is one.

use fixedbitset::FixedBitSet;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, VecDeque};

/// An arc of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// Where it leads.
    pub target: usize,
    /// What it bears, as bits.
    pub marks: u128,
}

/// A graph.
#[derive(Clone, Debug, Default)]
pub struct Marked {
    /// Where runs may begin.
    pub initial: Vec<usize>,
    /// The arcs that leave each node.
    pub arcs: Vec<Vec<Arc>>,
}

impl Marked {
    /// A run from an initial node that passes arcs with every mark of `all` infinitely often: the nodes before
    /// the cycle, and those of the cycle.
    pub fn lasso(&self, all: u128) -> Option<(Vec<usize>, Vec<usize>)> {
        let parents = self.reached();
        let component = self.component(&parents, all)?;
        let mut inside = FixedBitSet::with_capacity(self.arcs.len());
        inside.extend(component);
        let is_inside = |node: usize| inside.contains(node);
        let start = inside.minimum().expect("components are not empty");
        let mut cycle = vec![start];
        let mut missing = all;
        while missing != 0 || cycle.len() == 1 {
            let wanted = |node: usize| {
                let arcs = self.arcs[node].iter();
                arcs.copied().find(|arc| is_inside(arc.target) && (missing == 0 || arc.marks & missing != 0))
            };
            let here = *cycle.last().expect("it has a start");
            let way = self.way(here, |node| wanted(node).is_some(), is_inside);
            let last = *way.last().unwrap_or(&here);
            let arc = wanted(last).expect("the way leads to such an arc");
            cycle.extend(way);
            cycle.push(arc.target);
            missing &= !arc.marks;
        }
        let here = *cycle.last().expect("it has a start");
        cycle.extend(self.way(here, |node| node == start, is_inside));
        cycle.pop(); // the start again
        let mut stem = Vec::new();
        let mut node = start;
        while let Some(parent) = parents[node].filter(|&parent| parent != node) {
            stem.push(parent);
            node = parent;
        }
        stem.reverse();
        Some((stem, cycle))
    }

    /// For each node that can be reached where it was reached from; initial nodes from themselves.
    fn reached(&self) -> Vec<Option<usize>> {
        let mut parents = vec![None; self.arcs.len()];
        self.initial.iter().for_each(|&node| parents[node] = Some(node));
        let mut queue: VecDeque<usize> = self.initial.iter().copied().collect();
        while let Some(node) = queue.pop_front() {
            for arc in &self.arcs[node] {
                if parents[arc.target].is_none() {
                    parents[arc.target] = Some(node);
                    queue.push_back(arc.target);
                }
            }
        }
        parents
    }

    /// A strong component that can be reached, with an arc within, whose arcs within bear all marks.
    fn component(&self, reached: &[Option<usize>], all: u128) -> Option<Vec<usize>> {
        let nodes: Vec<usize> = (0..reached.len()).filter(|&node| reached[node].is_some()).collect();
        let mut graph: DiGraph<usize, ()> = DiGraph::new();
        let mut numbers = vec![NodeIndex::end(); reached.len()];
        nodes.iter().for_each(|&node| numbers[node] = graph.add_node(node));
        for &node in &nodes {
            for arc in &self.arcs[node] {
                graph.add_edge(numbers[node], numbers[arc.target], ());
            }
        }
        let mut component_of = vec![usize::MAX; reached.len()];
        let components = tarjan_scc(&graph);
        for (i, component) in components.iter().enumerate() {
            component.iter().for_each(|&node| component_of[graph[node]] = i);
        }
        components.iter().enumerate().find_map(|(i, component)| {
            let arcs = component.iter().flat_map(|&node| &self.arcs[graph[node]]);
            let mut within = arcs.filter(|arc| component_of[arc.target] == i).peekable();
            let has_arc = within.peek().is_some();
            let marks = within.fold(0, |marks, arc| marks | arc.marks);
            (has_arc && marks & all == all).then(|| component.iter().map(|&node| graph[node]).collect())
        })
    }

    /// The nodes of a shortest way to a wanted node within a part of the graph, without the node where it
    /// begins; empty if that is wanted.
    fn way(
        &self,
        from: usize,
        wanted: impl Fn(usize) -> bool,
        is_inside: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut parents: HashMap<usize, usize> = HashMap::from([(from, from)]);
        let mut queue = VecDeque::from([from]);
        while let Some(mut node) = queue.pop_front() {
            if wanted(node) {
                let mut way = Vec::new();
                while node != from {
                    way.push(node);
                    node = parents[&node];
                }
                way.reverse();
                return way;
            }
            for arc in self.arcs[node].iter().filter(|arc| is_inside(arc.target)) {
                parents.entry(arc.target).or_insert_with(|| {
                    queue.push_back(arc.target);
                    node
                });
            }
        }
        unreachable!("within a strong component there is a way from everywhere to everywhere")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(arcs: &[(usize, usize, u128)]) -> Marked {
        let n = arcs.iter().map(|&(a, b, _)| a.max(b) + 1).max().unwrap_or(1);
        let mut graph = Marked { initial: vec![0], arcs: vec![Vec::new(); n] };
        for &(source, target, marks) in arcs {
            graph.arcs[source].push(Arc { target, marks });
        }
        graph
    }

    #[test]
    fn all_marks_must_be_in_one_component() {
        let apart = graph(&[(0, 1, 0), (1, 1, 1), (1, 2, 0), (2, 2, 2)]);
        assert_eq!(apart.lasso(3), None);
        assert_eq!(apart.lasso(2), Some((vec![0, 1], vec![2])));
        let together = graph(&[(0, 1, 0), (1, 2, 1), (2, 1, 2), (1, 1, 0)]);
        assert_eq!(together.lasso(3), Some((vec![0], vec![1, 2])));
        assert_eq!(graph(&[(0, 1, 3)]).lasso(0), None);
        assert_eq!(graph(&[(0, 1, 0), (1, 2, 0), (2, 0, 4)]).lasso(0), Some((vec![], vec![0, 1, 2])));
    }
}
