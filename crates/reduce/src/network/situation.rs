//! A state with its tables: what the presence of a node in a stubborn set requires there.
//!
//! **Implements** the static rules of strong stubborn sets (V93, V15 section IV) for processes:
//! * an enabled node brings the nodes that do not accord with it, and for each clause of its guard those that
//!   may falsify one literal that is true now;
//! * a disabled node brings, for one clause that is false now, the nodes that may make one of its literals
//!   true; if its process is elsewhere, also the steps that its process can take now and that lead towards
//!   it, or the steps that lead directly to it, will do;
//! * V: an enabled node that may change the truth of a proposition brings all such nodes;
//! * L, if cycles are minded: an enabled node that may close a cycle of states brings all such nodes, too;
//! * a step for when nothing else can be done brings nothing: an enabled member stays enabled, so nothing
//!   outside the set can make that step possible.
//!
//! Evaluating a guard may go wrong, whether or not its step is enabled then. That is an imaginary transition of its
//! own, which stands behind its step: whatever decides that it goes wrong comes with the step, enabled or not,
//! and what the step waits for does not help if its process is not there yet.
//!
//! Nodes that their process cannot reach any more are left out: they are never enabled again.

use super::look::Look;
use super::population::Population;
use super::rows::{LiteralRow, Row};
use fixedbitset::FixedBitSet;
use std::cell::{Ref, RefCell, RefMut};
use std::ops::{Index, Range};
use std::rc::Rc;
use stubborn_network::LocationId;

/// What is made in a situation; kept from state to state, so that nothing is allocated.
#[derive(Debug, Default)]
pub(super) struct Room {
    sets: RefCell<Sets>,
}

/// Sets of nodes that were made for a state.
#[derive(Debug, Default)]
pub(super) struct Sets {
    made: Vec<Rc<FixedBitSet>>,
    free: Vec<FixedBitSet>,
    /// Nodes that are still to be looked at, for sets that are being closed.
    pub(super) work: Vec<usize>,
    /// For each node: which of them are its alternatives, once that is known.
    of_node: Vec<Option<(u32, u32)>>,
}

impl Sets {
    fn clear(&mut self, n_nodes: usize) {
        self.free.extend(self.made.drain(..).filter_map(Rc::into_inner));
        self.free.retain(|set| set.len() == n_nodes);
        self.of_node.clear();
        self.of_node.resize(n_nodes, None);
    }

    /// An empty set.
    fn take(&mut self, n_nodes: usize) -> FixedBitSet {
        let mut set = self.free.pop().unwrap_or_else(|| FixedBitSet::with_capacity(n_nodes));
        set.clear();
        set
    }
}

impl Index<Range<usize>> for Sets {
    type Output = [Rc<FixedBitSet>];

    fn index(&self, range: Range<usize>) -> &[Rc<FixedBitSet>] {
        &self.made[range]
    }
}

/// A state with its tables.
pub(super) struct Situation<'a, 'n> {
    look: Look<'a, 'n>,
    /// Nodes that may still be enabled some time.
    pub(super) live: Rc<FixedBitSet>,
    sets: &'a RefCell<Sets>,
    n_nodes: usize,
    n_steps: usize,
}

impl<'a, 'n> Situation<'a, 'n> {
    pub(super) fn new(look: Look<'a, 'n>, room: &'a mut Room) -> Self {
        let population = look.population.borrow();
        let (n_nodes, n_steps) = (population.n_nodes(), population.nodes.len());
        let live = population.live(look.here.live);
        drop(population);
        room.sets.get_mut().clear(n_nodes);
        Self { look, live, sets: &room.sets, n_nodes, n_steps }
    }

    /// Which nodes are enabled, of processes that were asked.
    pub(super) fn enabled(&self) -> &'a FixedBitSet {
        &self.look.here.enabled
    }

    /// Whether a node is enabled.
    pub(super) fn is_enabled(&self, node: usize) -> bool {
        self.is_step(node) && {
            self.look.ask_about(self.pid(node));
            self.enabled().contains(node)
        }
    }

    /// Where a process is.
    fn location(&self, pid: usize) -> LocationId {
        self.look.ask_about(pid);
        self.look.here.locations[pid]
    }

    /// Asks about the process of a node.
    pub(super) fn ask_about(&self, node: usize) {
        if self.is_step(node) {
            self.look.ask_about(self.pid(node));
        }
    }

    /// Asks about all processes.
    pub(super) fn ask_about_all(&self) {
        (0..self.n_processes()).for_each(|pid| self.look.ask_about(pid));
    }

    pub(super) fn n_processes(&self) -> usize {
        self.look.here.locations.len()
    }

    /// Whether deletion may be tried.
    pub(super) fn may_delete(&self) -> bool {
        self.look.may_delete()
    }

    /// Whether more than so many nodes are enabled.
    pub(super) fn are_more_than(&self, n: usize) -> bool {
        self.look.are_more_than(n)
    }

    pub(super) fn population(&self) -> Ref<'_, &'a mut Population> {
        self.look.population.borrow()
    }

    fn population_mut(&self) -> RefMut<'_, &'a mut Population> {
        self.look.population.borrow_mut()
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
        self.population().nodes[node].pid
    }

    /// Whether a step is one that its process may take now.
    pub(super) fn is_current(&self, node: usize) -> bool {
        let node = self.population().nodes[node];
        self.location(node.pid) == node.location
    }

    /// The steps that a process may take now.
    pub(super) fn current(&self, pid: usize) -> Range<usize> {
        let location = self.location(pid);
        self.population().at(pid, location)
    }

    /// Whether a process can do something, and nothing that others may ever do from here on is in the way of the steps that it may take
    /// now, or may enable them, whatever the values of variables are.
    pub(super) fn is_apart(&self, pid: usize) -> bool {
        self.look.is_apart(pid)
            && self.current(pid).all(|node| self.enabled().contains(node) || self.is_explained(node))
    }

    /// Whether it is known what a disabled step that its process may take now waits for.
    fn is_explained(&self, node: usize) -> bool {
        if self.population().is_timeout(node) {
            return true;
        }
        let row = self.row_now(node);
        let is_no_help = |literal: &LiteralRow| !self.is_true(literal).unwrap_or(row.may_go_round);
        row.clauses.iter().any(|clause| clause.iter().all(is_no_help))
    }

    fn is_true(&self, literal: &LiteralRow) -> Option<bool> {
        literal.fact.map(|(fact, wanted)| self.look.is_true(fact) == wanted)
    }

    /// The sets of which one must come with `node`, among [`Situation::sets`]; nothing must if there is none.
    pub(super) fn alternatives(&self, node: usize) -> Range<usize> {
        if let Some((from, to)) = self.sets.borrow().of_node[node] {
            return from as usize..to as usize;
        }
        let from = self.sets.borrow().made.len();
        self.find_alternatives(node, from);
        let mut sets = self.sets.borrow_mut();
        let to = sets.made.len();
        sets.of_node[node] = Some((from as u32, to as u32));
        from..to
    }

    /// The sets made so far.
    pub(super) fn sets(&self) -> Ref<'_, Sets> {
        self.sets.borrow()
    }

    pub(super) fn sets_mut(&self) -> RefMut<'_, Sets> {
        self.sets.borrow_mut()
    }

    /// An empty set.
    pub(super) fn take(&self) -> FixedBitSet {
        self.sets.borrow_mut().take(self.n_nodes)
    }

    /// Takes back a set that is not needed any more.
    pub(super) fn give(&self, set: FixedBitSet) {
        self.sets.borrow_mut().free.push(set);
    }

    /// Adds an alternative: what is live of a set.
    fn push(&self, mut set: FixedBitSet) {
        set.intersect_with(&self.live);
        self.sets.borrow_mut().made.push(Rc::new(set));
    }

    fn find_alternatives(&self, node: usize, from: usize) {
        if !self.is_step(node) {
            let row = self.population().checks[node - self.n_steps].clone();
            if !self.until_clause_holds(&row) {
                self.until_unknown_holds(&row);
            }
        } else if self.is_enabled(node) {
            self.with_enabled(node);
        } else if self.is_current(node) {
            let row = self.row_now(node);
            self.disabled(node, &row);
            let fixed = self.population_mut().static_row(node);
            if let Some(risks) = &fixed.risks {
                if self.sets.borrow().made.len() == from {
                    self.push(self.take());
                }
                for set in &mut self.sets.borrow_mut().made[from..] {
                    let set = Rc::make_mut(set);
                    set.union_with(risks);
                    set.intersect_with(&self.live);
                }
            }
        } else {
            let (location, live) = (self.location(self.pid(node)), self.look.here.live);
            let elsewhere = self.population_mut().elsewhere(self.look.flow, node, location, live);
            self.sets.borrow_mut().made.extend([elsewhere.towards.clone(), elsewhere.before.clone()]);
            // Evaluating may go wrong whatever its clauses are.
            if elsewhere.row.risks.is_none() {
                for (clause, enablers) in elsewhere.row.clauses.iter().zip(&elsewhere.enablers) {
                    if clause.iter().all(|literal| self.is_true(literal) == Some(false)) {
                        self.sets.borrow_mut().made.push(enablers.clone());
                    }
                }
            }
        }
    }

    fn row_now(&self, node: usize) -> Rc<Row> {
        self.look.row_now(node)
    }

    /// What an enabled node brings.
    fn with_enabled(&self, node: usize) {
        let row = self.row_now(node);
        let mut set = self.take();
        set.union_with(&row.conflicts);
        let fixed = self.population_mut().static_row(node);
        if let Some(risks) = &fixed.risks {
            set.union_with(risks);
        }
        for (demand, nodes) in &row.unless {
            if !self.look.is_met(*demand) {
                set.union_with(nodes);
            }
        }
        for clause in &row.clauses {
            let known = clause.iter().filter(|literal| self.is_true(literal) == Some(true));
            let size = |literal: &&LiteralRow| literal.falsifiers.intersection_count(&self.live);
            match known.min_by_key(size) {
                Some(literal) => set.union_with(&literal.falsifiers),
                None => clause.iter().for_each(|literal| set.union_with(&literal.falsifiers)),
            }
        }
        let population = self.population();
        if population.visible.contains(node) || population.closing.contains(node) {
            // V: nothing visible is overtaken. L: where a cycle may be closed nothing visible is put off.
            set.union_with(&self.population().visible);
        }
        self.push(set);
    }

    /// What must happen before a disabled node at the location of its process can be enabled.
    fn disabled(&self, node: usize, row: &Row) {
        if self.population().is_timeout(node) {
            return;
        }
        // If its run may go round for ever, that may be why it is disabled, and not what is unknown of its guard.
        if !self.until_clause_holds(row) && (row.may_go_round || !self.until_unknown_holds(row)) {
            let mut set = self.take();
            set.union_with(&self.live);
            self.push(set);
        }
    }

    /// If nothing is known of some clauses, one of them does not hold: what may make any of them true. Whether there
    /// are such clauses.
    fn until_unknown_holds(&self, row: &Row) -> bool {
        let mut set = self.take();
        let mut is_any = false;
        for clause in &row.clauses {
            if !clause.iter().any(|literal| self.is_true(literal) == Some(true)) {
                is_any = true;
                clause.iter().for_each(|literal| set.union_with(&literal.enablers));
            }
        }
        if is_any {
            self.push(set);
        } else {
            self.give(set);
        }
        is_any
    }

    /// For each clause that is known to be false, what may make it true. Whether there is such a clause.
    fn until_clause_holds(&self, row: &Row) -> bool {
        let mut is_any = false;
        for clause in &row.clauses {
            if clause.iter().all(|literal| self.is_true(literal) == Some(false)) {
                let mut set = self.take();
                clause.iter().for_each(|literal| set.union_with(&literal.enablers));
                self.push(set);
                is_any = true;
            }
        }
        is_any
    }
}
