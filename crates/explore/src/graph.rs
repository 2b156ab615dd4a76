//! The edges that a search has found, for questions that are about more than single states.
//!
//! Four bytes per edge and four per state: the edges of a state lie together, and the last one is marked.

use crate::Stop;
use stubborn_system::TransitionId;

/// Which edges to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// None.
    Nothing,
    /// Where they lead.
    Edges,
    /// Where they lead, and by which transition.
    Labels,
}

/// Edges between numbered states.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Where the edges lead; the last edge of a state has the mark.
    targets: Vec<u32>,
    labels: Option<Vec<TransitionId>>,
    /// First edge of each state; `UNEXPANDED` or `TERMINAL` for states without edges.
    starts: Vec<u32>,
}

const LAST: u32 = 1 << 31;
const UNEXPANDED: u32 = u32::MAX;
const TERMINAL: u32 = u32::MAX - 1;
const MAX_EDGES: usize = TERMINAL as usize;

impl Graph {
    /// An empty graph, or none at all.
    pub(crate) fn new(keep: Keep) -> Option<Self> {
        let labels = match keep {
            Keep::Nothing => return None,
            Keep::Edges => None,
            Keep::Labels => Some(Vec::new()),
        };
        Some(Self { targets: Vec::new(), labels, starts: Vec::new() })
    }

    /// Adds all edges of a state.
    pub(crate) fn add(
        &mut self,
        source: u32,
        edges: impl Iterator<Item = (u32, TransitionId)>,
    ) -> Result<(), Stop> {
        let source = source as usize;
        if source >= self.starts.len() {
            self.starts.resize(source + 1, UNEXPANDED);
        }
        let start = self.targets.len();
        for (target, via) in edges {
            self.targets.push(target);
            if let Some(labels) = &mut self.labels {
                labels.push(via);
            }
        }
        if self.targets.len() >= MAX_EDGES {
            return Err(Stop::Numbers { what: "edges", limit: MAX_EDGES as u64 });
        }
        self.starts[source] = match self.targets[start..].last_mut() {
            Some(last) => {
                *last |= LAST;
                start as u32
            }
            None => TERMINAL,
        };
        Ok(())
    }

    /// Makes room for `n` states, expanded or not.
    pub(crate) fn cover(&mut self, n: usize) {
        if n > self.starts.len() {
            self.starts.resize(n, UNEXPANDED);
        }
    }

    /// Number of states that have been expanded, at most; states are numbered below it.
    pub fn n_states(&self) -> usize {
        self.starts.len()
    }

    /// Whether `state` was expanded and has no edge.
    #[inline]
    pub fn is_terminal(&self, state: u32) -> bool {
        self.starts[state as usize] == TERMINAL
    }

    /// The first edge of `state`, if it has one. Edges of a state are numbered consecutively.
    #[inline]
    pub fn first_edge(&self, state: u32) -> Option<u32> {
        let start = self.starts[state as usize];
        (start < TERMINAL).then_some(start)
    }

    /// Where edge `edge` leads, and the next edge of the same state.
    #[inline]
    pub fn edge(&self, edge: u32) -> (u32, Option<u32>) {
        let target = self.targets[edge as usize];
        (target & !LAST, (target & LAST == 0).then_some(edge + 1))
    }

    /// The transition of edge `edge`, if labels were kept.
    #[inline]
    pub fn label(&self, edge: u32) -> Option<TransitionId> {
        self.labels.as_ref().map(|labels| labels[edge as usize])
    }

    /// The edges of `state`: number and target.
    pub fn edges(&self, state: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut next = self.first_edge(state);
        std::iter::from_fn(move || {
            let edge = next?;
            let (target, following) = self.edge(edge);
            next = following;
            Some((edge, target))
        })
    }

    /// Memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        let labels = self.labels.as_ref().map_or(0, Vec::len);
        4 * (self.targets.len() + self.starts.len() + labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_a_state_lie_together_in_any_order_of_expansion() {
        let mut graph = Graph::new(Keep::Labels).unwrap();
        let t = TransitionId;
        graph.add(2, [(0, t(5)), (1, t(6))].into_iter()).unwrap();
        graph.add(0, [(2, t(7))].into_iter()).unwrap();
        graph.add(1, [].into_iter()).unwrap();
        let targets = |s| graph.edges(s).map(|(e, to)| (to, graph.label(e).unwrap().0)).collect::<Vec<_>>();
        assert_eq!(targets(0), [(2, 7)]);
        assert_eq!(targets(1), []);
        assert_eq!(targets(2), [(0, 5), (1, 6)]);
        assert!(graph.is_terminal(1) && !graph.is_terminal(0));
        assert!(Graph::new(Keep::Nothing).is_none());
    }
}
