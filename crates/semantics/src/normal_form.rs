//! The CFFD normal form: a system that is equal to all that are CFFD-equivalent to it.
//!
//! **Implements** the normal acceptance graph, which is minimal and unique up to isomorphism: the acceptance graph whose
//! nodes are merged by partition refinement, beginning with valuation, divergence and smallest offers; and its
//! translation into a system. A node that offers all its actions in one stable state is that state; any other node
//! is an unstable state with a loop of tau if it diverges, a tau to one stable state per smallest offer, and the edges that no
//! offer has. Strong bisimilarity then merges equal stable states. Nodes are numbered breadth first by the names
//! of actions and propositions, so that equivalent systems have byte-equal files.
//! **Preserves** CFFD; with `initial_stability` also whether the initial state has tau: by one more state if need be.
//! The system has few states, but it is not shown that none has fewer; the graph is minimal.
//! **Checked by** random pairs (`oracle`): equal normal forms exactly if equivalent by definition.

use crate::NoAnswer;
use crate::acceptance::{Graph, Limit, Node};
use crate::edges::Edges;
use crate::refine::{branching_quotient, strong, strong_quotient};
use crate::system::System;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use stubborn_lts::TAU;

/// All nodes of a system's acceptance graph, and the sets of actions that they mention.
pub(crate) struct Whole {
    pub(crate) nodes: Vec<Rc<Node>>,
    pub(crate) offers: Vec<Vec<u32>>,
}

/// Determinises a system as a whole.
pub(crate) fn whole(system: &System, limit: Limit) -> Result<Whole, NoAnswer> {
    let mut graph = Graph::new(system, limit);
    graph.initial(0)?;
    let mut nodes = Vec::new();
    while nodes.len() < graph.len() {
        nodes.push(graph.node(nodes.len() as u32)?);
    }
    Ok(Whole { nodes, offers: graph.offers })
}

/// The normal form of a system.
pub(crate) fn normal_form(
    system: &System,
    limit: Limit,
    initial_stability: bool,
) -> Result<System, NoAnswer> {
    let is_stable = system.is_stable(system.initials[0]);
    let small = branching_quotient(system);
    let whole = whole(&small, limit)?;
    let merged = merged(&whole);
    let form = strong_quotient(&translated(&small, &merged, &whole.offers));
    let is_changed = form.is_stable(form.initials[0]) && !is_stable;
    Ok(if initial_stability && is_changed { with_tau(&form) } else { form })
}

/// The graph with one node for each class of nodes behind which everything is the same, numbered breadth first.
fn merged(whole: &Whole) -> Vec<Node> {
    let mut numbers = FxHashMap::default();
    let classes: Vec<u32> = whole
        .nodes
        .iter()
        .map(|node| {
            let next = numbers.len() as u32;
            *numbers.entry((node.valuation, node.diverges, &node.offers)).or_insert(next)
        })
        .collect();
    let sources = (0..).zip(&whole.nodes);
    let list = sources.flat_map(|(source, node)| node.edges.iter().map(move |edge| (source, edge.0, edge.2)));
    let block = strong(&Edges::new(classes.len(), list.collect()), &classes).block;
    let mut place = FxHashMap::default();
    let mut order = Vec::new();
    let mut meet = |node: u32, order: &mut Vec<u32>| {
        *place.entry(block[node as usize]).or_insert_with(|| {
            order.push(node);
            order.len() as u32 - 1
        })
    };
    meet(0, &mut order);
    let mut nodes = Vec::new();
    while let Some(&number) = order.get(nodes.len()) {
        let mut node = (*whole.nodes[number as usize]).clone();
        node.edges.iter_mut().for_each(|edge| edge.2 = meet(edge.2, &mut order));
        nodes.push(node);
    }
    nodes
}

/// The system of a graph. Its first states are the nodes, then come their stable states.
fn translated(system: &System, nodes: &[Node], offers: &[Vec<u32>]) -> System {
    let mut valuation: Vec<u32> = nodes.iter().map(|node| node.valuation).collect();
    let mut list = Vec::new();
    for (source, node) in (0..).zip(nodes) {
        if is_one_state(node, offers) {
            list.extend(node.edges.iter().map(|&(action, _, target)| (source, action, target)));
            continue;
        }
        if node.diverges {
            list.push((source, TAU, source));
        }
        for &offer in &node.offers {
            let child = valuation.len() as u32;
            valuation.push(node.valuation);
            list.push((source, TAU, child));
            let is_offered = |action: u32| offers[offer as usize].binary_search(&action).is_ok();
            let edges = node.edges.iter().filter(|edge| is_offered(edge.0));
            list.extend(edges.map(|&(action, _, target)| (child, action, target)));
        }
        let is_offered =
            |action: u32| node.offers.iter().any(|&o| offers[o as usize].binary_search(&action).is_ok());
        let edges = node.edges.iter().filter(|edge| !is_offered(edge.0));
        list.extend(edges.map(|&(action, _, target)| (source, action, target)));
    }
    let edges = Edges::new(valuation.len(), list);
    system.with_graph(&[0], &valuation, &edges)
}

/// Whether a node is a stable state that offers all it can do.
fn is_one_state(node: &Node, offers: &[Vec<u32>]) -> bool {
    let mut actions: Vec<u32> = node.edges.iter().map(|edge| edge.0).collect();
    actions.dedup();
    let [offer] = node.offers[..] else { return false };
    !node.diverges && offers[offer as usize] == actions
}

/// A tau in front of a system.
pub(crate) fn with_tau(system: &System) -> System {
    let n = system.n_states() as u32;
    let mut valuation = system.valuation.clone();
    valuation.push(system.valuation[system.initials[0] as usize]);
    let mut list = vec![(n, TAU, system.initials[0])];
    for source in 0..n {
        list.extend(system.edges.of(source).map(|(label, target)| (source, label, target)));
    }
    system.with_graph(&[n], &valuation, &Edges::new(valuation.len(), list))
}
