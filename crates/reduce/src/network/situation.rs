//! A state with its tables: what the presence of a node in a stubborn set requires there.
//!
//! **Implements** the static rules of strong stubborn sets (V93, V15 section IV) for processes:
//! * an enabled node brings the nodes that do not accord with it, and for each clause of its guard those that
//!   may falsify one literal that is true now;
//! * a disabled node brings, for one clause that is false now, the nodes that may make one of its literals
//!   true; if its process is elsewhere, also the steps that its process can take now and that lead towards
//!   it, or the steps that lead directly to it, will do;
//! * V: an enabled node that may change the truth of a proposition brings all such nodes;
//! * a step for when nothing else can be done brings nothing: an enabled member stays enabled, so nothing
//!   outside the set can make that step possible.
//!
//! Evaluating a guard may go wrong, whether or not its step is enabled then. That is an imaginary transition of its
//! own, which stands behind its step: whatever decides that it goes wrong comes with the step, enabled or not,
//! and what the step waits for does not help if its process is not there yet.
//!
//! Nodes that their process cannot reach any more are left out: they are never enabled again.

use super::flow::Flow;
use super::population::{Fact, LiteralRow, Population, Row};
use fixedbitset::FixedBitSet;
use std::cell::RefCell;
use std::rc::Rc;
use stubborn_network::{LocationId, Network, View};

/// A state with its tables.
pub(super) struct Situation<'a> {
    network: &'a Network,
    flow: &'a Flow,
    view: &'a View<'a>,
    pub(super) population: RefCell<&'a mut Population>,
    locations: Vec<LocationId>,
    /// Nodes that may still be enabled some time.
    pub(super) live: FixedBitSet,
    pub(super) enabled: FixedBitSet,
    n_nodes: usize,
    n_steps: usize,
    /// What was found out about each node.
    known: RefCell<Vec<Option<Rc<Vec<FixedBitSet>>>>>,
}

impl<'a> Situation<'a> {
    /// `enabled` are the enabled nodes.
    pub(super) fn new(
        network: &'a Network,
        flow: &'a Flow,
        view: &'a View<'a>,
        population: &'a mut Population,
        enabled: FixedBitSet,
    ) -> Self {
        let (n_nodes, n_steps) = (population.n_nodes(), population.nodes.len());
        let locations: Vec<LocationId> = (0..view.n_processes()).map(|pid| view.location(pid)).collect();
        let mut live = FixedBitSet::with_capacity(n_nodes);
        for (pid, at) in locations.iter().enumerate() {
            live.union_with(&population.reach[pid][at.index()]);
        }
        live.insert_range(n_steps..n_nodes);
        let population = RefCell::new(population);
        let known = RefCell::new(vec![None; n_nodes]);
        Self { network, flow, view, population, locations, live, enabled, n_nodes, n_steps, known }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Whether a node is a step, and not a check.
    pub(super) fn is_step(&self, node: usize) -> bool {
        node < self.n_steps
    }

    /// The process of a step.
    pub(super) fn pid(&self, node: usize) -> usize {
        self.population.borrow().nodes[node].pid
    }

    /// Whether a step is one that its process may take now.
    pub(super) fn is_current(&self, node: usize) -> bool {
        let node = self.population.borrow().nodes[node];
        self.locations[node.pid] == node.location
    }

    /// The steps that a process may take now.
    pub(super) fn current(&self, pid: usize) -> std::ops::Range<usize> {
        self.population.borrow().at(pid, self.locations[pid])
    }

    fn is_true(&self, pid: usize, literal: &LiteralRow) -> Option<bool> {
        let (expr, wanted) = literal.truth.as_ref()?;
        Some((self.view.value(pid, expr) != 0) == *wanted)
    }

    /// The sets of which one must come with `node`; nothing must if there is none.
    pub(super) fn alternatives(&self, node: usize) -> Rc<Vec<FixedBitSet>> {
        if let Some(known) = &self.known.borrow()[node] {
            return known.clone();
        }
        let mut sets = Vec::new();
        self.find_alternatives(node, &mut sets);
        let sets = Rc::new(sets);
        self.known.borrow_mut()[node] = Some(sets.clone());
        sets
    }

    fn find_alternatives(&self, node: usize, out: &mut Vec<FixedBitSet>) {
        if !self.is_step(node) {
            let row = self.population.borrow().checks[node - self.n_steps].clone();
            self.until_clause_holds(0, &row, out);
        } else if self.enabled.contains(node) {
            out.push(self.with_enabled(node));
        } else if self.is_current(node) {
            let row = self.row_now(node);
            self.disabled(node, &row, out);
            if let Some(risks) = self.risks(node) {
                if out.is_empty() {
                    out.push(FixedBitSet::with_capacity(self.n_nodes));
                }
                out.iter_mut().for_each(|set| set.union_with(&risks));
            }
        } else {
            out.push(self.towards(node));
            let mut before = self.population.borrow().before[node].clone();
            before.intersect_with(&self.live);
            out.push(before);
            // Evaluating may go wrong whatever its clauses are.
            if self.risks(node).is_none() {
                let row = self.population.borrow_mut().static_row(node);
                self.until_clause_holds(self.pid(node), &row, out);
            }
        }
    }

    /// The nodes that may decide that evaluating the guard of a node goes wrong, if it can. Whatever is known of
    /// the locals of its process now does not help: the process may come back with others.
    fn risks(&self, node: usize) -> Option<FixedBitSet> {
        let row = self.population.borrow_mut().static_row(node);
        let mut risks = row.risks.clone()?;
        risks.intersect_with(&self.live);
        Some(risks)
    }

    fn row_now(&self, node: usize) -> Rc<Row> {
        self.population.borrow_mut().row_now(self.network, self.flow, self.view, node)
    }

    /// Appends everything that the choice depends on: two states of one population with the same facts have the
    /// same stubborn sets.
    pub(super) fn facts(&self, out: &mut Vec<u8>) {
        for (pid, location) in self.locations.iter().enumerate() {
            out.extend(location.0.to_le_bytes());
            let facts = self.population.borrow_mut().facts(pid, *location);
            self.ask(&facts, out);
            for node in self.current(pid) {
                out.push(u8::from(self.enabled.contains(node)));
                if self.population.borrow().has_selectors(node) {
                    self.population.borrow().selected(self.view, node, out);
                    self.ask(&self.row_now(node).facts, out);
                }
            }
        }
        let checks = self.population.borrow().checks.clone();
        checks.iter().for_each(|row| self.ask(&row.facts, out));
    }

    /// Appends the answers, eight to a byte.
    fn ask(&self, facts: &[Fact], out: &mut Vec<u8>) {
        for eight in facts.chunks(8) {
            let bits = eight.iter().enumerate().map(|(i, fact)| {
                let is_so = match fact {
                    Fact::Truth(pid, expr) => self.view.value(*pid, expr) != 0,
                    Fact::Met(demand) => self.is_met(demand),
                };
                u8::from(is_so) << i
            });
            out.push(bits.fold(0, |all, bit| all | bit));
        }
    }

    /// What an enabled node brings.
    pub(super) fn with_enabled(&self, node: usize) -> FixedBitSet {
        let row = self.row_now(node);
        let pid = self.pid(node);
        let mut set = row.conflicts.clone();
        set.extend(self.risks(node).iter().flat_map(|risks| risks.ones()));
        for (demand, nodes) in &row.unless {
            if !self.is_met(demand) {
                set.union_with(nodes);
            }
        }
        for clause in &row.clauses {
            let known = clause.iter().filter(|literal| self.is_true(pid, literal) == Some(true));
            let size = |literal: &&LiteralRow| literal.falsifiers.intersection(&self.live).count();
            match known.min_by_key(size) {
                Some(literal) => set.union_with(&literal.falsifiers),
                None => clause.iter().for_each(|literal| set.union_with(&literal.falsifiers)),
            }
        }
        if self.population.borrow().visible.contains(node) {
            // V: nothing visible is overtaken.
            set.union_with(&self.population.borrow().visible);
        }
        set.intersect_with(&self.live);
        set
    }

    fn is_met(&self, demand: &super::accord::Demand) -> bool {
        let Some(kind) = self.view.channel_kind(demand.channel) else { return false };
        let Some(n) = self.view.n_messages(demand.channel) else { return false };
        let capacity = self.network.channels[kind].capacity;
        if demand.is_room { n + demand.count <= capacity } else { n >= demand.count }
    }

    /// What must happen before a disabled node at the location of its process can be enabled.
    fn disabled(&self, node: usize, row: &Row, out: &mut Vec<FixedBitSet>) {
        let population = self.population.borrow();
        if population.is_timeout(node) {
            return;
        }
        let pid = population.nodes[node].pid;
        drop(population);
        if !self.until_clause_holds(pid, row, out) {
            // One of the clauses of which nothing is known does not hold.
            let mut set = FixedBitSet::with_capacity(self.n_nodes);
            let mut is_any = false;
            for clause in &row.clauses {
                if !clause.iter().any(|literal| self.is_true(pid, literal) == Some(true)) {
                    is_any = true;
                    clause.iter().for_each(|literal| set.union_with(&literal.enablers));
                }
            }
            set.intersect_with(&self.live);
            out.push(if is_any { set } else { self.live.clone() });
        }
    }

    /// For each clause that is known to be false, what may make it true. Whether there is such a clause.
    fn until_clause_holds(&self, pid: usize, row: &Row, out: &mut Vec<FixedBitSet>) -> bool {
        let before = out.len();
        for clause in &row.clauses {
            if clause.iter().all(|literal| self.is_true(pid, literal) == Some(false)) {
                let mut set = FixedBitSet::with_capacity(self.n_nodes);
                clause.iter().for_each(|literal| set.union_with(&literal.enablers));
                set.intersect_with(&self.live);
                out.push(set);
            }
        }
        out.len() > before
    }

    /// The steps that the process of `node` can take now and from which it can get there.
    fn towards(&self, node: usize) -> FixedBitSet {
        let population = self.population.borrow();
        let pid = population.nodes[node].pid;
        let mut set = FixedBitSet::with_capacity(self.n_nodes);
        for first in population.at(pid, self.locations[pid]) {
            let stops = &self.flow.stops[population.nodes[first].step];
            if stops.iter().any(|stop| population.reach[pid][stop.index()].contains(node)) {
                set.insert(first);
            }
        }
        set
    }
}
