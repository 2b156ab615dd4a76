//! Strong components of a graph, and what can be reached in it.
//!
//! **Implements** Tarjan's algorithm in Pearce's form (one number per state instead of two), without
//! recursion. Components come out in reverse topological order: what a component reaches comes before it.
//! **Differs from the text** in that edges can be hidden, so that one routine serves "cycles among
//! non-progress states" and "cycles without these transitions" alike.
//! **Checked by** the tests below against a definition-level twin, and the campaign (petgraph in `oracle`).

use crate::Graph;
use fixedbitset::FixedBitSet;
use stubborn_store::Store;
use stubborn_system::{Batch, Fault, System, TransitionId};

/// A strong component.
#[derive(Debug)]
pub struct Component<'a> {
    /// Its states; the one from which it was entered comes last.
    pub states: &'a [u32],
}

/// A state on the search stack: state, next edge, and whether it is the root of its component so far.
struct Frame {
    /// The highest bit says "not a root".
    state: u32,
    /// Edge to look at next; `NO_EDGE` if there is none.
    edge: u32,
}

const NOT_ROOT: u32 = 1 << 31;
const NO_EDGE: u32 = u32::MAX;

/// Calls `on_component` for every strong component of the part of `graph` that is reachable from `roots`,
/// over the edges (source, edge, target) that `keep` keeps.
pub fn components(
    graph: &Graph,
    roots: impl Iterator<Item = u32>,
    mut keep: impl FnMut(u32, u32, u32) -> bool,
    mut on_component: impl FnMut(Component<'_>),
) {
    // 0: not seen; up to `index`: seen, by discovery; from the top down: done.
    let mut number = vec![0u32; graph.n_states()];
    let mut index = 1;
    let mut done = u32::MAX;
    let mut members: Vec<u32> = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    for root in roots {
        if number[root as usize] != 0 {
            continue;
        }
        number[root as usize] = index;
        index += 1;
        frames.push(Frame { state: root, edge: graph.first_edge(root).unwrap_or(NO_EDGE) });
        while let Some(frame) = frames.last_mut() {
            let state = frame.state & !NOT_ROOT;
            if frame.edge != NO_EDGE {
                let edge = frame.edge;
                let (target, next) = graph.edge(edge);
                if !keep(state, edge, target) {
                    frame.edge = next.unwrap_or(NO_EDGE);
                } else if number[target as usize] == 0 {
                    // Come back to this edge when the target has its number.
                    number[target as usize] = index;
                    index += 1;
                    frames.push(Frame { state: target, edge: graph.first_edge(target).unwrap_or(NO_EDGE) });
                } else {
                    if number[target as usize] < number[state as usize] {
                        number[state as usize] = number[target as usize];
                        frame.state |= NOT_ROOT;
                    }
                    frame.edge = next.unwrap_or(NO_EDGE);
                }
                continue;
            }
            let is_root = frame.state & NOT_ROOT == 0;
            frames.pop();
            members.push(state);
            if is_root {
                let first = number[state as usize];
                // The members of this component are those on top with numbers from `first` on.
                let others = members[..members.len() - 1].iter().rev();
                let n = 1 + others.take_while(|&&m| number[m as usize] >= first).count();
                let start = members.len() - n;
                for &member in &members[start..] {
                    number[member as usize] = done;
                }
                index -= n as u32;
                done -= 1;
                on_component(Component { states: &members[start..] });
                members.truncate(start);
            }
        }
    }
}

/// Sweeps over all states, at most.
const SWEEPS: usize = 8;

/// The states from which a state with `is_target` can be reached.
///
/// States that a search has numbered mostly lead to later ones. So nearly all is found by going through them from the last to the first, where their
/// edges lie one behind the other; only if there is no end to it, what is left is done by strong components.
pub fn can_reach(graph: &Graph, mut is_target: impl FnMut(u32) -> bool) -> FixedBitSet {
    let states = 0..graph.n_states() as u32;
    let mut reaches = FixedBitSet::with_capacity(graph.n_states());
    reaches.extend(states.clone().filter(|&s| is_target(s)).map(|s| s as usize));
    let leads = |reaches: &FixedBitSet, s: u32| graph.edges(s).any(|(_, to)| reaches.contains(to as usize));
    for _ in 0..SWEEPS {
        let mut n_new = 0;
        for s in states.clone().rev() {
            if !reaches.contains(s as usize) && leads(&reaches, s) {
                reaches.insert(s as usize);
                n_new += 1;
            }
        }
        if n_new == 0 {
            return reaches;
        }
    }
    let known = reaches.clone();
    components(
        graph,
        states.filter(|&s| !known.contains(s as usize)),
        |_, _, to| !known.contains(to as usize),
        |component| {
            if component.states.iter().any(|&s| leads(&reaches, s)) {
                reaches.extend(component.states.iter().map(|&s| s as usize));
            }
        },
    );
    reaches
}

/// A shortest path from `from` to a state with `is_target` over kept edges; its edges. If `from` itself is
/// a target the path is empty unless `at_least_one` edge is wanted.
pub fn shortest_path(
    graph: &Graph,
    from: u32,
    at_least_one: bool,
    mut keep: impl FnMut(u32, u32, u32) -> bool,
    mut is_target: impl FnMut(u32) -> bool,
) -> Option<Vec<u32>> {
    if !at_least_one && is_target(from) {
        return Some(Vec::new());
    }
    // For each state found: the state that found it.
    let mut parents = vec![u32::MAX; graph.n_states()];
    let mut queue = std::collections::VecDeque::from([from]);
    parents[from as usize] = from;
    while let Some(state) = queue.pop_front() {
        for (edge, target) in graph.edges(state) {
            if !keep(state, edge, target) {
                continue;
            }
            if is_target(target) {
                let mut path = vec![edge];
                let mut at = state;
                while at != from {
                    let parent = parents[at as usize];
                    let edges = graph.edges(parent);
                    path.extend(
                        edges.filter(|&(e, to)| to == at && keep(parent, e, to)).map(|(e, _)| e).take(1),
                    );
                    at = parent;
                }
                path.reverse();
                return Some(path);
            }
            if parents[target as usize] == u32::MAX {
                parents[target as usize] = state;
                queue.push_back(target);
            }
        }
    }
    None
}

/// A shortest path from the first state to another; its edges.
pub(crate) fn shortest_path_to(graph: &Graph, target: u32) -> Option<Vec<u32>> {
    shortest_path(graph, 0, false, |_, _, _| true, |s| s == target)
}

/// A transition that leads from one stored state to another.
pub fn transition_between<Y: System + ?Sized>(
    system: &Y,
    store: &dyn Store<Y::State>,
    from: u32,
    to: u32,
) -> Result<TransitionId, Fault> {
    let (mut out, mut room) = (Batch::new(), Default::default());
    system.successors(store.state(from, &mut room).expect("the store keeps states"), &mut out)?;
    let target = store.state(to, &mut room).expect("the store keeps states");
    let leads = (0..out.len()).filter(|&i| out.state(i) == target).map(|i| out.via(i));
    let lost = "an edge has lost its transition: firing is not a function of the state";
    leads.min().ok_or_else(|| Fault::Broken(lost.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Keep;

    fn random_graph(seed: u64, n: u32, degree: u32) -> Graph {
        let mut state = seed;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32
        };
        let mut graph = Graph::new(Keep::Edges).unwrap();
        for source in 0..n {
            let edges: Vec<_> =
                (0..random() % (degree + 1)).map(|_| (random() % n, TransitionId(0))).collect();
            graph.add(source, edges.into_iter()).unwrap();
        }
        graph
    }

    /// Which states reach which, by the definition.
    fn closure(graph: &Graph) -> Vec<Vec<bool>> {
        let n = graph.n_states();
        let mut reach = vec![vec![false; n]; n];
        for (s, row) in reach.iter_mut().enumerate() {
            row[s] = true;
            let mut stack = vec![s as u32];
            while let Some(at) = stack.pop() {
                for (_, to) in graph.edges(at) {
                    if !std::mem::replace(&mut row[to as usize], true) {
                        stack.push(to);
                    }
                }
            }
        }
        reach
    }

    #[test]
    fn components_are_the_classes_of_mutual_reachability_in_reverse_order() {
        for seed in 0..300 {
            let graph = random_graph(seed, 1 + seed as u32 % 23, 1 + seed as u32 % 4);
            let reach = closure(&graph);
            let mut seen: Vec<u32> = Vec::new();
            components(
                &graph,
                0..graph.n_states() as u32,
                |_, _, _| true,
                |c| {
                    let first = c.states[0] as usize;
                    for (s, row) in reach.iter().enumerate() {
                        let same = reach[first][s] && row[first];
                        assert_eq!(same, c.states.contains(&(s as u32)), "seed {seed}");
                        assert!(same || !reach[first][s] || seen.contains(&(s as u32)), "order, seed {seed}");
                    }
                    seen.extend(c.states);
                },
            );
            assert_eq!(seen.len(), graph.n_states());
        }
    }

    #[test]
    fn can_reach_and_shortest_path_agree_with_the_definition() {
        for seed in 0..300 {
            let graph = random_graph(seed + 1000, 1 + seed as u32 % 19, 1 + seed as u32 % 3);
            let reach = closure(&graph);
            let target = (seed as u32 * 7) % graph.n_states() as u32;
            let set = can_reach(&graph, |s| s == target);
            for (s, row) in reach.iter().enumerate() {
                assert_eq!(set.contains(s), row[target as usize], "seed {seed}");
                let path = shortest_path(&graph, s as u32, false, |_, _, _| true, |x| x == target);
                assert_eq!(path.is_some(), row[target as usize], "seed {seed}");
                let mut at = s as u32;
                for edge in path.into_iter().flatten() {
                    assert!(graph.edges(at).any(|(e, _)| e == edge));
                    at = graph.edge(edge).0;
                    if graph.edge(edge).0 == target {
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn what_leads_back_state_by_state_is_found_too() {
        let mut graph = Graph::new(Keep::Edges).unwrap();
        graph.add(0, [].into_iter()).unwrap();
        let n = 5 * SWEEPS as u32;
        (1..n).for_each(|s| graph.add(s, [(s - 1, TransitionId(0))].into_iter()).unwrap());
        // Two that lead to each other only.
        graph.add(n, [(n + 1, TransitionId(0))].into_iter()).unwrap();
        graph.add(n + 1, [(n, TransitionId(0))].into_iter()).unwrap();
        assert!(can_reach(&graph, |s| s == 0).ones().eq(0..n as usize));
        assert!(can_reach(&graph, |_| false).is_clear());
        assert!(can_reach(&graph, |s| s == n).ones().eq([n as usize, n as usize + 1]));
    }

    #[test]
    fn hidden_edges_split_components() {
        let mut graph = Graph::new(Keep::Edges).unwrap();
        graph.add(0, [(1, TransitionId(0))].into_iter()).unwrap();
        graph.add(1, [(0, TransitionId(0))].into_iter()).unwrap();
        let mut sizes = Vec::new();
        components(&graph, 0..2, |s, _, _| s == 0, |c| sizes.push(c.states.len()));
        assert_eq!(sizes, [1, 1]);
        components(&graph, 0..2, |_, _, _| true, |c| sizes.push(c.states.len()));
        assert_eq!(sizes, [1, 1, 2]);
    }
}
