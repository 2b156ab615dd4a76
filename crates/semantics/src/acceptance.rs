//! The acceptance graph: what a system may do, refuse or diverge from after each trace.
//!
//! **Implements** determinisation with HVV's notion of what can be seen: a node is the set of the states that a system
//! may be in after a trace, closed under invisible steps; its edges are pairs of an action, or tau that changes
//! propositions, and the valuation behind it. A node says whether a state of it diverges and which sets of actions its
//! stable states offer, of which only the smallest count: they determine the refusals. A state with a tau of either
//! kind is not stable. Nodes are made when they are asked for.
//! **Checked by** the definition on random pairs (`oracle`).

use crate::NoAnswer;
use crate::loops::Loops;
use crate::system::System;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use stubborn_lts::TAU;

/// How far determinisation may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Most nodes.
    pub nodes: usize,
    /// Most members of all nodes together; each takes four bytes.
    pub members: usize,
}

impl Default for Limit {
    fn default() -> Self {
        Self { nodes: 1_000_000, members: 250_000_000 }
    }
}

impl Limit {
    /// The default for members, and so many nodes.
    pub fn of_nodes(nodes: usize) -> Self {
        Self { nodes, ..Self::default() }
    }
}

/// What is known after a trace.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) valuation: u32,
    pub(crate) diverges: bool,
    /// The smallest sets of actions that are offered in stable states, by number, sorted.
    pub(crate) offers: Vec<u32>,
    /// Action, valuation behind it, and node; sorted.
    pub(crate) edges: Vec<(u32, u32, u32)>,
}

/// The graph, as far as it was asked for.
pub(crate) struct Graph<'a> {
    pub(crate) system: &'a System,
    diverging: FixedBitSet,
    /// By state: the number of the set of actions that it offers; none if it is not stable.
    offer: Vec<Option<u32>>,
    /// Sets of actions, sorted.
    pub(crate) offers: Vec<Vec<u32>>,
    numbers: FxHashMap<Rc<[u32]>, u32>,
    sets: Vec<Rc<[u32]>>,
    nodes: Vec<Option<Rc<Node>>>,
    n_members: usize,
    limit: Limit,
    /// For closures: the states that are in the set at hand.
    inside: FixedBitSet,
}

impl<'a> Graph<'a> {
    /// The graph of a system, without nodes.
    pub(crate) fn new(system: &'a System, limit: Limit) -> Self {
        let offered = |state: u32| {
            let mut actions: Vec<u32> = system.edges.of(state).map(|edge| edge.0).collect();
            actions.dedup();
            system.is_stable(state).then_some(actions)
        };
        let by_state: Vec<Option<Vec<u32>>> = (0..system.n_states() as u32).map(offered).collect();
        let mut offers: Vec<Vec<u32>> = by_state.iter().flatten().cloned().collect();
        offers.sort_unstable();
        offers.dedup();
        let number = |actions: &Vec<u32>| offers.binary_search(actions).ok().map(|i| i as u32);
        let offer = by_state.iter().map(|actions| actions.as_ref().and_then(number)).collect();
        Self {
            system,
            diverging: Loops::new(system).diverging(system),
            offer,
            offers,
            numbers: FxHashMap::default(),
            sets: Vec::new(),
            nodes: Vec::new(),
            n_members: 0,
            limit,
            inside: FixedBitSet::with_capacity(system.n_states()),
        }
    }

    /// The node of an initial state.
    pub(crate) fn initial(&mut self, which: usize) -> Result<u32, NoAnswer> {
        self.number(vec![self.system.initials[which]])
    }

    /// How many nodes were asked for.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// The node of the closure of some states.
    fn number(&mut self, mut states: Vec<u32>) -> Result<u32, NoAnswer> {
        states.sort_unstable();
        states.dedup();
        self.inside.extend(states.iter().map(|&state| state as usize));
        let mut next = 0;
        while let Some(&state) = states.get(next) {
            next += 1;
            for (label, target) in self.system.edges.of(state).take_while(|edge| edge.0 == TAU) {
                if self.system.is_invisible(state, label, target) && !self.inside.put(target as usize) {
                    states.push(target);
                }
            }
        }
        states.iter().for_each(|&state| self.inside.set(state as usize, false));
        states.sort_unstable();
        if let Some(&known) = self.numbers.get(states.as_slice()) {
            return Ok(known);
        }
        self.n_members += states.len();
        if self.sets.len() >= self.limit.nodes || self.n_members > self.limit.members {
            return Err(NoAnswer::Limit { nodes: self.limit.nodes, members: self.limit.members });
        }
        let (number, set): (u32, Rc<[u32]>) = (self.sets.len() as u32, states.into());
        self.numbers.insert(set.clone(), number);
        self.sets.push(set);
        self.nodes.push(None);
        Ok(number)
    }

    /// A node by its number.
    pub(crate) fn node(&mut self, number: u32) -> Result<Rc<Node>, NoAnswer> {
        if let Some(node) = &self.nodes[number as usize] {
            return Ok(node.clone());
        }
        let set = self.sets[number as usize].clone();
        let mut steps = Vec::new();
        for &state in set.iter() {
            for (label, target) in self.system.edges.of(state) {
                if !self.system.is_invisible(state, label, target) {
                    steps.push((label, self.system.valuation[target as usize], target));
                }
            }
        }
        steps.sort_unstable();
        let mut edges = Vec::new();
        for group in steps.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let targets = group.iter().map(|step| step.2).collect();
            edges.push((group[0].0, group[0].1, self.number(targets)?));
        }
        let node = Rc::new(Node {
            valuation: self.system.valuation[set[0] as usize],
            diverges: set.iter().any(|&state| self.diverging.contains(state as usize)),
            offers: self.smallest(&set),
            edges,
        });
        self.nodes[number as usize] = Some(node.clone());
        Ok(node)
    }

    /// The smallest sets of actions that stable states of a set offer.
    fn smallest(&self, set: &[u32]) -> Vec<u32> {
        let mut all: Vec<u32> = set.iter().filter_map(|&state| self.offer[state as usize]).collect();
        all.sort_unstable();
        all.dedup();
        let is_smallest = |&&one: &&u32| !all.iter().any(|&other| other != one && self.is_within(other, one));
        all.iter().filter(is_smallest).copied().collect()
    }

    /// Whether all actions of one set are in another.
    pub(crate) fn is_within(&self, small: u32, large: u32) -> bool {
        let large = &self.offers[large as usize];
        self.offers[small as usize].iter().all(|action| large.binary_search(action).is_ok())
    }
}
