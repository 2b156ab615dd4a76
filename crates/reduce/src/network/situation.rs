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
//! Nodes that their process cannot reach any more are left out: they are never enabled again. The sets that are shown
//! here may have them; whoever uses these takes them for nodes that are in already.
//!
//! **Asks** no more than it takes: whether an alternative will do is asked where somebody would take it ([`Chooser`]).
//! **Checked by** the definition, per state and algorithm, and by the campaign.

use super::look::{Look, PROCESSES_AT_ONCE};
use super::nodes::{Block, Nodes, Sets, WIDTH, blocks_of, contains, count_within, empty, unite};
use super::places::Place;
use super::population::{Node, Population};
use super::rows::{ClauseRow, LiteralRow, Row};
use fixedbitset::FixedBitSet;
use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::ops::{Deref, Range};
use std::rc::Rc;
use stubborn_network::LocationId;

/// Who is shown the alternatives of a node: sets of which one must come with it.
pub(super) trait Chooser {
    /// Whether it matters if this set will do.
    fn is_welcome(&mut self, nodes: &[Block]) -> bool;

    /// A set that was welcome will do. Whether no other need be shown.
    fn take(&mut self, nodes: &[Block]) -> bool;

    /// Shows a set that will do in any case. Whether no other need be shown.
    fn show(&mut self, nodes: &[Block]) -> bool {
        self.is_welcome(nodes) && self.take(nodes)
    }

    /// Shows two that will do, of a process that was asked, before any others. Whether no other need be shown.
    fn show_first(&mut self, one: &[Block], other: &[Block]) -> bool {
        self.show(one) || self.show(other)
    }
}

/// What is made in a situation; kept from state to state, so that nothing is allocated.
#[derive(Debug, Default)]
pub(super) struct Room {
    brought: RefCell<Brought>,
    /// Where the processes are, of those for which that was needed.
    places: Vec<OnceCell<Rc<Place>>>,
    /// Nodes of processes that were not asked yet, block by block.
    unasked: Vec<Cell<usize>>,
    /// Nodes that are not live.
    dead: FixedBitSet,
    /// For sums of sets.
    sum: RefCell<FixedBitSet>,
    made: RefCell<Sets>,
}

/// What enabled nodes bring, and disabled ones of which nothing better is known.
#[derive(Debug, Default)]
struct Brought {
    sets: Sets,
    /// For each node: one more than the number of its set, once that is known.
    numbers: Vec<u32>,
}

impl Room {
    fn clear(&mut self, (n_nodes, n_steps, n_processes): (usize, usize, usize)) {
        let brought = self.brought.get_mut();
        brought.sets.clear();
        brought.numbers.clear();
        brought.numbers.resize(n_nodes, 0);
        self.places.clear();
        self.places.resize_with(n_processes, OnceCell::new);
        self.unasked.clear();
        self.unasked.resize(n_steps / WIDTH, Cell::new(usize::MAX));
        self.unasked.resize(n_nodes.div_ceil(WIDTH), Cell::new(0));
        if n_steps % WIDTH > 0 {
            self.unasked[n_steps / WIDTH].set((1 << (n_steps % WIDTH)) - 1);
        }
        empty(self.sum.get_mut(), n_nodes);
    }
}

/// A state with its tables.
pub(super) struct Situation<'a, 'n> {
    look: Look<'a, 'n>,
    /// Nodes that may still be enabled some time.
    pub(super) live: Rc<FixedBitSet>,
    room: &'a Room,
    /// The nodes that are enabled, block by block.
    firing: &'a [usize],
    n_nodes: usize,
    // Of the population.
    nodes: Rc<[Node]>,
    before: Rc<Sets>,
    after: Rc<Sets>,
    rows: Rc<[OnceCell<Rc<Row>>]>,
}

/// What a node requires: always, or as long as its process stays where it is.
enum Required<'s> {
    Always(&'s Row),
    Now(Rc<Row>),
}

impl Deref for Required<'_> {
    type Target = Row;

    #[inline]
    fn deref(&self) -> &Row {
        match self {
            Self::Always(row) => row,
            Self::Now(row) => row,
        }
    }
}

impl<'a, 'n> Situation<'a, 'n> {
    pub(super) fn new(look: Look<'a, 'n>, room: &'a mut Room) -> Self {
        let population = look.population.borrow();
        let n_nodes = population.n_nodes();
        let live = population.live(look.here.live);
        let (nodes, rows) = (population.nodes.clone(), population.rows.clone());
        let (before, after) = (population.before.clone(), population.after.clone());
        drop(population);
        room.clear((n_nodes, nodes.len(), look.here.locations.len()));
        empty(&mut room.dead, n_nodes);
        room.dead.insert_range(..);
        room.dead.difference_with(&live);
        Self { firing: look.here.enabled.as_slice(), look, live, room, n_nodes, nodes, before, after, rows }
    }

    /// Which nodes are enabled, of processes that were asked.
    #[inline]
    pub(super) fn enabled(&self) -> &'a FixedBitSet {
        &self.look.here.enabled
    }

    /// The same, block by block.
    #[inline]
    pub(super) fn firing(&self) -> &'a [usize] {
        self.firing
    }

    /// Whether a node is enabled, if its process was asked.
    #[inline]
    pub(super) fn is_enabled(&self, node: usize) -> bool {
        contains(self.firing, node)
    }

    /// For each block: which nodes belong to processes that were not asked yet.
    #[inline]
    pub(super) fn unasked(&self) -> &[Cell<usize>] {
        &self.room.unasked
    }

    /// Asks about the processes of some nodes.
    #[inline]
    pub(super) fn ask_about(&self, nodes: Block) {
        let unasked = &self.room.unasked[nodes.at as usize];
        while let bits = nodes.bits & unasked.get()
            && bits != 0
        {
            let node = nodes.at as usize * WIDTH + bits.trailing_zeros() as usize;
            self.ask_about_process(self.pid(node));
        }
    }

    /// Asks about the process of a node.
    pub(super) fn ask_about_node(&self, node: usize) {
        self.ask_about(Block { at: (node / WIDTH) as u32, bits: 1 << (node % WIDTH) });
    }

    /// Asks about all processes.
    pub(super) fn ask_about_all(&self) {
        (0..self.n_processes()).for_each(|pid| self.ask_about_process(pid));
    }

    fn ask_about_process(&self, pid: usize) {
        if !self.look.ask_about(pid) {
            return;
        }
        for block in blocks_of(self.population().range(pid)) {
            let unasked = &self.room.unasked[block.at as usize];
            unasked.set(unasked.get() & !block.bits);
        }
    }

    /// Nodes that are not live.
    pub(super) fn dead(&self) -> &FixedBitSet {
        &self.room.dead
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

    pub(super) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Whether a node is a step, and not a check.
    #[inline]
    pub(super) fn is_step(&self, node: usize) -> bool {
        node < self.nodes.len()
    }

    /// The nodes that are checks.
    pub(super) fn checks(&self) -> Range<usize> {
        self.nodes.len()..self.n_nodes
    }

    /// The process of a step.
    #[inline]
    pub(super) fn pid(&self, node: usize) -> usize {
        self.nodes[node].pid
    }

    /// Where a process is that was asked.
    #[inline]
    fn location(&self, pid: usize) -> LocationId {
        self.look.here.locations[pid]
    }

    /// Whether a step is one that its process may take now. Its process was asked.
    #[inline]
    pub(super) fn is_current(&self, node: usize) -> bool {
        let node = &self.nodes[node];
        self.location(node.pid) == node.location
    }

    /// The steps that a process may take now.
    pub(super) fn current(&self, pid: usize) -> Range<usize> {
        self.ask_about_process(pid);
        self.population().at(pid, self.location(pid))
    }

    /// Where a process is that was asked.
    #[inline]
    pub(super) fn place(&self, pid: usize) -> &Place {
        self.room.places[pid]
            .get_or_init(|| self.look.population.borrow_mut().place(self.look.flow, pid, self.location(pid)))
    }

    /// One enabled node of a process, if it has one.
    pub(super) fn seed(&self, pid: usize) -> Option<usize> {
        self.current(pid).find(|&node| self.is_enabled(node))
    }

    /// Processes that can do something, so that nothing that others may ever do from here on is in the way of the steps that they may take
    /// now, or may enable them, whatever the values of variables are: the youngest first. Those behind one that has but one step may be missing.
    pub(super) fn apart(&self) -> impl Iterator<Item = usize> + '_ {
        let some = (0..self.n_processes()).step_by(PROCESSES_AT_ONCE).rev();
        let those = some.flat_map(|first| {
            let mut bits = self.look.apart_from(first);
            std::iter::from_fn(move || {
                let last = bits.checked_ilog2()?;
                bits ^= 1 << last;
                Some(first + last as usize)
            })
        });
        let is_explained = |&node: &usize| self.is_enabled(node) || self.is_explained(node);
        those.filter(move |&pid| self.current(pid).all(|node| is_explained(&node)))
    }

    /// Whether it is known what a disabled step that its process may take now waits for.
    fn is_explained(&self, node: usize) -> bool {
        if self.nodes[node].is_timeout {
            return true;
        }
        let row = self.row_now(node);
        let is_no_help = |literal: &LiteralRow| !self.is_true(literal).unwrap_or(row.may_go_round);
        row.clauses.iter().any(|clause| clause.literals.iter().all(is_no_help))
    }

    #[inline]
    fn is_true(&self, literal: &LiteralRow) -> Option<bool> {
        literal.fact.map(|(fact, wanted)| self.look.is_true(fact) == wanted)
    }

    /// Whether a clause may be known to be false, as far as it was asked.
    #[inline]
    pub(super) fn may_be_false(&self, clause: &ClauseRow) -> bool {
        let is_true = |literal: &LiteralRow| {
            literal.fact.is_some_and(|(fact, wanted)| self.look.known(fact) == Some(wanted))
        };
        clause.may_be_false && !clause.literals.iter().any(is_true)
    }

    /// Whether a clause is known to be false.
    #[inline]
    pub(super) fn is_false(&self, clause: &ClauseRow) -> bool {
        clause.may_be_false && clause.literals.iter().all(|literal| self.is_true(literal) == Some(false))
    }

    #[inline]
    fn static_row(&self, node: usize) -> &Row {
        match self.rows[node].get() {
            Some(row) => row,
            None => self.new_static_row(node),
        }
    }

    #[cold]
    fn new_static_row(&self, node: usize) -> &Row {
        self.look.population.borrow_mut().static_row(node);
        self.rows[node].get().expect("it was made")
    }

    /// What a node requires as long as its process stays where it is.
    #[inline]
    fn row_now(&self, node: usize) -> Required<'_> {
        if self.nodes[node].is_selective {
            return Required::Now(self.look.row_now(node));
        }
        Required::Always(self.static_row(node))
    }

    /// The nodes of its process after which a node may come next.
    #[inline]
    pub(super) fn before(&self, node: usize) -> &[Block] {
        self.before.get(node)
    }

    /// The nodes of its process that may come next after a node.
    #[inline]
    pub(super) fn after(&self, node: usize) -> &[Block] {
        self.after.get(node)
    }

    /// Shows the sets of which one must come with `node`. Its process was asked.
    pub(super) fn alternatives(&self, node: usize, chooser: &mut impl Chooser) {
        if self.is_step(node) && !self.is_current(node) {
            let place = self.place(self.pid(node));
            self.elsewhere(node, place.towards(place.group(node)), chooser);
        } else {
            self.others(node, chooser);
        }
    }

    /// The same, but for what the process of the node must do if it is elsewhere.
    pub(super) fn others(&self, node: usize, chooser: &mut impl Chooser) {
        if self.is_enabled(node) {
            self.with_enabled(node, |set| chooser.show(set));
        } else if self.is_step(node) && !self.is_current(node) {
            self.until_first_clause_holds(node, chooser);
        } else if !self.until_false_clause_holds(node, chooser) {
            self.with_brought(node, |set| chooser.show(set));
        }
    }

    /// What an enabled node brings.
    #[inline]
    pub(super) fn with_enabled<A>(&self, node: usize, then: impl FnOnce(&[Block]) -> A) -> A {
        if !self.nodes[node].is_selective {
            let row = self.static_row(node);
            if row.is_plain {
                return then(&row.brought);
            }
        }
        if self.room.brought.borrow().numbers[node] == 0 {
            self.add_brought(node, |set| self.find_brought(node, set));
        }
        self.with_brought(node, then)
    }

    /// What a node brings, if it was found.
    #[inline]
    pub(super) fn with_brought<A>(&self, node: usize, then: impl FnOnce(&[Block]) -> A) -> A {
        let brought = self.room.brought.borrow();
        then(brought.sets.get(brought.numbers[node] as usize - 1))
    }

    /// Finds what a node brings.
    fn add_brought(&self, node: usize, add: impl FnOnce(&mut FixedBitSet)) {
        let mut sum = self.room.sum.borrow_mut();
        sum.clear();
        add(&mut sum);
        let brought = &mut *self.room.brought.borrow_mut();
        brought.sets.push_set(&sum);
        brought.numbers[node] = brought.sets.len() as u32;
    }

    fn find_brought(&self, node: usize, set: &mut FixedBitSet) {
        let row = self.row_now(node);
        unite(set, &row.brought);
        for (demand, nodes) in &row.unless {
            if !self.look.is_met(*demand) {
                unite(set, nodes);
            }
        }
        for ClauseRow { literals, .. } in row.clauses.iter().filter(|clause| clause.literals.len() > 1) {
            let known = literals.iter().filter(|literal| self.is_true(literal) == Some(true));
            let size = |literal: &&LiteralRow| count_within(&literal.falsifiers, &self.live);
            match known.min_by_key(size) {
                Some(literal) => unite(set, &literal.falsifiers),
                None => literals.iter().for_each(|literal| unite(set, &literal.falsifiers)),
            }
        }
    }

    /// Shows what must happen before a node can be enabled whose process is elsewhere, for which it must take one of the steps `towards` it.
    #[inline]
    pub(super) fn elsewhere(&self, node: usize, towards: &[Block], chooser: &mut impl Chooser) {
        if !chooser.show_first(towards, self.before(node)) {
            self.until_first_clause_holds(node, chooser);
        }
    }

    /// The same, besides what its process must do: for each clause that is known to be false, what may make it true.
    #[inline]
    pub(super) fn until_first_clause_holds(&self, node: usize, chooser: &mut impl Chooser) {
        for clause in self.clauses_elsewhere(node).iter().filter(|clause| self.may_be_false(clause)) {
            if chooser.is_welcome(&clause.enablers) && self.is_false(clause) && chooser.take(&clause.enablers)
            {
                return;
            }
        }
    }

    /// The clauses for which a node whose process is elsewhere may wait.
    #[inline]
    pub(super) fn clauses_elsewhere(&self, node: usize) -> &[ClauseRow] {
        let row = self.static_row(node);
        // Evaluating may go wrong whatever its clauses are.
        if row.risks.is_none() { &row.clauses } else { &[] }
    }

    /// Shows what must happen before a disabled node at the location of its process, or a check, can be enabled, if some clauses are known to be false.
    /// Whether there are such clauses. If not, there is one alternative: what it brings.
    pub(super) fn until_false_clause_holds(&self, node: usize, chooser: &mut impl Chooser) -> bool {
        if self.room.brought.borrow().numbers[node] != 0 {
            return false;
        }
        if !self.is_step(node) {
            let row = self.population().checks[node - self.nodes.len()].clone();
            if self.until_clause_holds(&row, None, chooser) {
                return true;
            }
            self.add_brought(node, |set| {
                self.until_unknown_holds(&row, set);
            });
            return false;
        }
        let risks = self.static_row(node).risks.as_ref();
        let row = self.row_now(node);
        let is_timeout = self.nodes[node].is_timeout;
        if !is_timeout && self.until_clause_holds(&row, risks, chooser) {
            return true;
        }
        self.add_brought(node, |set| {
            // If its run may go round for ever, that may be why it is disabled, and not what is unknown of its guard.
            if !is_timeout && (row.may_go_round || !self.until_unknown_holds(&row, set)) {
                set.union_with(&self.live);
            }
            risks.into_iter().for_each(|risks| unite(set, risks));
        });
        false
    }

    /// For each clause that is known to be false, what may make it true. Whether there is such a clause.
    fn until_clause_holds(&self, row: &Row, risks: Option<&Nodes>, chooser: &mut impl Chooser) -> bool {
        let mut is_any = false;
        for clause in row.clauses.iter().filter(|clause| self.may_be_false(clause)) {
            if let Some(risks) = risks {
                if self.is_false(clause) {
                    is_any = true;
                    let (mut sum, mut made) = (self.room.sum.borrow_mut(), self.room.made.borrow_mut());
                    sum.clear();
                    unite(&mut sum, &clause.enablers);
                    unite(&mut sum, risks);
                    made.clear();
                    made.push_set(&sum);
                    chooser.show(made.get(0));
                }
            } else if chooser.is_welcome(&clause.enablers) && self.is_false(clause) {
                is_any = true;
                if chooser.take(&clause.enablers) {
                    break;
                }
            }
        }
        // One that was not welcome will do, too.
        is_any || row.clauses.iter().any(|clause| self.is_false(clause))
    }

    /// If nothing is known of some clauses, one of them does not hold: adds what may make any of them true. Whether
    /// there are such clauses.
    fn until_unknown_holds(&self, row: &Row, set: &mut FixedBitSet) -> bool {
        let mut is_any = false;
        for clause in &row.clauses {
            if !clause.literals.iter().any(|literal| self.is_true(literal) == Some(true)) {
                is_any = true;
                unite(set, &clause.enablers);
            }
        }
        is_any
    }
}
