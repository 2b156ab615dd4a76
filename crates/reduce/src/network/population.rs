//! The processes that exist, and the tables of their transitions.
//!
//! Processes with the same kinds and the same values in the variables that never change have the same tables,
//! so these are made once per *population* and not per state; and once more where some of them may still start others. A *node* is a step of one of the processes: all
//! transitions that begin with it. Rows of the tables are made when they are first asked for.

use super::channels::Channels;
use super::flow::{Flow, for_each_selector};
use super::ledger::{Awaited, Deed, Ledger};
use super::nodes::{Block, Nodes, Sets, nodes, unite};
use super::places::Place;
use super::resolve::{Known, Newborn, Partners, Selectors, check, touch, wanted};
use super::rows::Row;
use super::shape::Shape;
use super::signature::Signature;
use super::touch::{Op, Read, Touch};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use stubborn_network::{
    Action, Condition, Engine, Expr, Location, LocationId, Micro, Network, Scope, View, Width,
};

/// Rows for the locals at hand, at most; what is more is done without them.
const MOST_ROWS: usize = 10_000;

/// What is remembered of places (in numbers), and sets of live nodes, at most; then all is found again.
const MOST_IN_PLACES: usize = 1 << 20;
const MOST_LIVES: usize = 1 << 12;

/// What is looked at from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct Watched {
    /// Expressions that are to hold in every state.
    pub(super) checks: Vec<Expr>,
    /// Expressions whose changes can be seen.
    pub(super) propositions: Vec<Expr>,
    /// Expressions that must not change on the way.
    pub(super) kept: Vec<Expr>,
    /// Whether no cycle may put off for ever what can be seen.
    pub(super) minds_cycles: bool,
}

/// A step of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) pid: usize,
    pub(super) location: LocationId,
    /// Which step of the location.
    pub(super) index: usize,
    /// Which step of the network.
    pub(super) step: usize,
    /// Whether what it requires depends on locals of its process.
    pub(super) is_selective: bool,
    /// Whether it is for when nothing else can be done.
    pub(super) is_timeout: bool,
}

/// The tables for some processes.
#[derive(Debug)]
pub(super) struct Population {
    pub(super) kinds: Vec<usize>,
    /// Whether it matters where evaluating a guard goes wrong first.
    pub(super) minds_all_risks: bool,
    pub(super) nodes: Rc<[Node]>,
    /// First node of each process.
    pub(super) bases: Vec<usize>,
    /// For each of these processes: its deeds, and the nodes that start it, or start who starts it.
    pub(super) starters: Vec<(Range<usize>, Nodes)>,
    /// What each node does, whatever its locals are, and then what the processes do that are started by some; each thing once.
    pub(super) ledger: Ledger,
    /// No nodes.
    pub(super) nobody: Nodes,
    /// The deeds that are for when nothing else can be done.
    pub(super) timeouts: FixedBitSet,
    /// By node, up to the last one that has some.
    selectors: Vec<Selectors>,
    /// What each node requires, whatever its locals are; made when it is first asked for.
    pub(super) rows: Rc<[OnceCell<Rc<Row>>]>,
    /// By node and values of its selectors: which of its different rows.
    numbers_now: FxHashMap<Vec<i32>, usize>,
    /// By node, as far as was asked.
    rows_now: Vec<Vec<Rc<Row>>>,
    /// Whether there were more than are kept, so that which rows there are depends on what was asked first.
    pub(super) is_crowded: bool,
    key: Vec<i32>,
    /// One for each check: the imaginary transition that is enabled where it fails.
    pub(super) checks: Vec<Rc<Row>>,
    pub(super) checked: Vec<Touch>,
    pub(super) check_signatures: Vec<Signature>,
    /// Nodes that may change the truth of a proposition, by themselves or through processes that they start.
    pub(super) visible: FixedBitSet,
    /// If cycles are minded: nodes of which one is fired on every cycle of states.
    pub(super) closing: FixedBitSet,
    /// Nodes with which something may go wrong.
    may_fail: FixedBitSet,
    /// Nodes that may change what is to be kept.
    pub(super) changing: FixedBitSet,
    /// For each process: the different sets of nodes from some location on, ever.
    reach: Vec<Vec<FixedBitSet>>,
    /// For each node: the nodes of its process after which it may come next, and those that may come next after it.
    pub(super) before: Rc<Sets>,
    pub(super) after: Rc<Sets>,
    /// The steps that may take part in a rendezvous as receivers, and on which channels; by process and location.
    receivers: Vec<(usize, LocationId, usize, Channels)>,
    /// What the rows ask of states.
    pub(super) facts: Vec<Fact>,
    /// For each process and location: see [`Population::needs`], once that was asked for.
    needs: Vec<Vec<Option<Needs>>>,
    /// For each process and location: which of the different sets of nodes from there on.
    reach_numbers: Vec<Rc<[u16]>>,
    /// Where processes are may matter for what is live in few ways: the sets of live nodes, by these numbers of all processes.
    lives: FxHashMap<Vec<u16>, usize>,
    live_sets: Vec<Rc<FixedBitSet>>,
    /// The number of the first of them: those that were forgotten have numbers that do not come again.
    first_live: usize,
    /// The key and the number that were asked for last.
    live_key: Vec<u16>,
    last_live: Option<usize>,
    /// For each process and location: what is known of it, once that was asked for; and how much that is.
    places: Vec<Vec<Option<Rc<Place>>>>,
    n_in_places: usize,
    /// For each process and location: its nodes.
    ranges: Vec<Vec<Range<usize>>>,
}

/// What the steps of a process at a location may bring, and for which set of live nodes it was asked last whether any of that is in it.
#[derive(Clone, Debug)]
struct Needs {
    nodes: Nodes,
    live: usize,
    are_none: bool,
}

/// Whether an expression of a process is true: something that the rules ask of a state.
#[derive(Debug)]
pub(super) struct Fact {
    pid: usize,
    expr: Rc<Expr>,
    /// Made when it is first asked; `None` if only the reference can evaluate it.
    compiled: Option<Option<Condition>>,
}

impl Fact {
    /// Whether it is so in a state that the engine looks at.
    pub(super) fn holds(&mut self, network: &Network, engine: &mut Engine<'_>, state: &[u8]) -> bool {
        match self.compiled.get_or_insert_with(|| engine.condition(&self.expr)) {
            Some(condition) => engine.holds_here(state, self.pid, condition),
            None => network.view(state).value(self.pid, &self.expr) != 0,
        }
    }

    /// Whether it is so in a state; appends the bytes that this depends on, besides where segments lie. `None` if they are not known.
    pub(super) fn holds_noting(
        &mut self,
        engine: &mut Engine<'_>,
        state: &[u8],
        bytes: &mut Vec<Range<usize>>,
    ) -> Option<bool> {
        let condition = self.compiled.get_or_insert_with(|| engine.condition(&self.expr)).as_ref()?;
        Some(engine.holds_for_noting(state, self.pid, condition, bytes))
    }
}

impl Population {
    /// Makes the tables of the processes in a state. `starts`: one of them may start others from where it is. Where none does, none will, and nobody need know what these would do.
    pub(super) fn new(
        network: &Network,
        flow: &Flow,
        view: &View<'_>,
        watched: &Watched,
        minds_all_risks: bool,
        starts: bool,
    ) -> Self {
        let kinds: Vec<usize> = (0..view.n_processes()).map(|pid| view.kind(pid)).collect();
        let mut population = Self {
            nodes: Rc::default(),
            bases: Vec::new(),
            starters: Vec::new(),
            ledger: Ledger::default(),
            nobody: Rc::default(),
            timeouts: FixedBitSet::new(),
            selectors: Vec::new(),
            rows: Rc::default(),
            numbers_now: FxHashMap::default(),
            rows_now: Vec::new(),
            is_crowded: false,
            key: Vec::new(),
            checks: Vec::new(),
            checked: Vec::new(),
            check_signatures: Vec::new(),
            visible: FixedBitSet::new(),
            closing: FixedBitSet::new(),
            may_fail: FixedBitSet::new(),
            changing: FixedBitSet::new(),
            reach: Vec::new(),
            before: Rc::default(),
            after: Rc::default(),
            receivers: Vec::new(),
            facts: Vec::new(),
            needs: Vec::new(),
            reach_numbers: Vec::new(),
            lives: FxHashMap::default(),
            live_sets: Vec::new(),
            first_live: 0,
            live_key: Vec::new(),
            last_live: None,
            places: Vec::new(),
            n_in_places: 0,
            ranges: Vec::new(),
            kinds,
            minds_all_risks,
        };
        population.number(network);
        population.ledger = Ledger::for_nodes(population.nodes.len());
        population.find_receivers(network, flow, view);
        for n in 0..population.nodes.len() {
            let Node { pid, location, index, .. } = population.nodes[n];
            let known = Known::new(network, flow, view, Some(pid), population.kinds[pid], &[]);
            let made = touch(&known, location, index, &Takers { population: &population });
            let kind = population.kinds[pid];
            let selectors = if flow.has_selectors(kind) {
                selectors(network, flow, kind, location, index)
            } else {
                Vec::new()
            };
            if let Some(nodes) = Rc::get_mut(&mut population.nodes) {
                (nodes[n].is_selective, nodes[n].is_timeout) = (!selectors.is_empty(), made.is_timeout);
            }
            population.ledger.add(made);
            if !selectors.is_empty() {
                population.selectors.resize(n, Vec::new());
                population.selectors.push(selectors);
            }
        }
        if starts {
            population.find_offspring(network, flow, view);
        }
        let deeds = population.ledger.deeds().iter().enumerate();
        population.timeouts = deeds.filter(|(_, deed)| deed.is_timeout).map(|(i, _)| i).collect();
        population.rows = vec![OnceCell::new(); population.nodes.len()].into();
        population.find_reach(flow);
        let known = Known::new(network, flow, view, None, 0, &[]);
        population.checked = watched.checks.iter().map(|expr| check(&known, expr, false)).collect();
        population.check_signatures = population.checked.iter().map(Signature::of).collect();
        for i in 0..population.checked.len() {
            let deed = population.ledger.write_down(population.checked[i].clone());
            let mut row = population.row(&deed, None);
            ask(&mut population.facts, &mut row, population.ledger.clauses(&deed), 0);
            population.ledger.forget(&deed);
            population.checks.push(Rc::new(row));
        }
        population.may_fail = population.with_deeds(|_, deed| deed.may_fail);
        population.visible = FixedBitSet::with_capacity(population.n_nodes());
        for expr in &watched.kept {
            population.show_changes(network, &known, expr);
        }
        let empty = FixedBitSet::with_capacity(population.n_nodes());
        population.changing = std::mem::replace(&mut population.visible, empty);
        for expr in &watched.propositions {
            population.show_changes(network, &known, expr);
        }
        population.closing = FixedBitSet::with_capacity(population.n_nodes());
        if watched.minds_cycles {
            population.closing = population
                .with_deeds(|ledger, deed| ledger.ops(deed).any(|op| population.may_close(flow, op)));
        }
        population
    }

    /// Whether a node may bring a process back in the order of its locations, or start one. On a cycle of states somebody moves, and whoever moves
    /// comes back to where it was, or ends; and if it ends, one like it is started. So each cycle has such a node.
    fn may_close(&self, flow: &Flow, op: &Op) -> bool {
        match op {
            Op::Move { pid, from, to, .. } => {
                self.kinds.get(*pid).is_none_or(|&kind| to.iter().any(|to| flow.leads_back(kind, *from, *to)))
            }
            // Who moves at the end of a chain of offers is not told. Who starts others has such an op.
            Op::Run | Op::Read(Read::Everything) => true,
            _ => false,
        }
    }

    /// Adds the nodes that may change the truth of a proposition to those that can be seen.
    fn show_changes(&mut self, network: &Network, known: &Known<'_>, expr: &Expr) {
        let is_such: fn(&Location) -> bool = match expr {
            Expr::NonProgress => |location| location.is_progress,
            Expr::Accepting => |location| location.is_accept,
            _ => {
                let deed = self.ledger.write_down(check(known, expr, false));
                let row = self.row(&deed, None);
                self.ledger.forget(&deed);
                row.add_guard(&mut self.visible);
                return;
            }
        };
        let shows = |op: &Op| self.shows(network, op, is_such);
        let seen = self.with_deeds(|ledger, deed| ledger.ops(deed).any(shows));
        self.visible.union_with(&seen);
    }

    /// Whether somebody may come to a location of some sort, or leave one.
    fn shows(&self, network: &Network, op: &Op, is_such: fn(&Location) -> bool) -> bool {
        match op {
            Op::Move { pid, from, to, .. } => self.kinds.get(*pid).is_none_or(|&kind| {
                let is_at = |at: &LocationId| is_such(&network.processes[kind].locations[at.index()]);
                to.iter().any(|to| is_at(to) != is_at(from))
            }),
            Op::Run | Op::End => true,
            _ => false,
        }
    }

    fn number(&mut self, network: &Network) {
        let mut nodes = Vec::new();
        for (pid, &kind) in self.kinds.iter().enumerate() {
            let locations = &network.processes[kind].locations;
            self.bases.push(nodes.len());
            self.ranges.push(Vec::with_capacity(locations.len()));
            self.places.push(vec![None; locations.len()]);
            self.needs.push(vec![None; locations.len()]);
            for (l, location) in locations.iter().enumerate() {
                self.ranges[pid].push(nodes.len()..nodes.len() + location.steps.len());
                for index in 0..location.steps.len() {
                    let (location, step) = (LocationId(l as u16), location.first_step as usize + index);
                    nodes.push(Node { pid, location, index, step, is_selective: false, is_timeout: false });
                }
            }
        }
        self.nodes = nodes.into();
    }

    fn find_receivers(&mut self, network: &Network, flow: &Flow, view: &View<'_>) {
        for (pid, &kind) in self.kinds.iter().enumerate() {
            let known = Known::new(network, flow, view, Some(pid), kind, &[]);
            for (l, location) in network.processes[kind].locations.iter().enumerate() {
                for (i, step) in location.steps.iter().enumerate() {
                    let channels = wanted(&known, &step.action);
                    if !channels.is_empty() {
                        self.receivers.push((pid, LocationId(l as u16), i, channels));
                    }
                }
            }
        }
    }

    /// Adds what the processes may do that nodes start, and those that they start.
    fn find_offspring(&mut self, network: &Network, flow: &Flow, view: &View<'_>) {
        let mut known: Vec<Offspring> = Vec::new();
        for n in 0..self.nodes.len() {
            let Node { pid, location, index, step, .. } = self.nodes[n];
            let kind = self.kinds[pid];
            let mut work = Vec::new();
            let parent = Known::new(network, flow, view, Some(pid), kind, &[]);
            for (at, i) in std::iter::once((location, index)).chain(flow.runs[step].iter().copied()) {
                let action = &network.processes[kind].locations[at.index()].steps[i].action;
                collect_runs(network, &parent, action, &mut work);
            }
            while let Some(child) = work.pop() {
                let found = known.iter().position(|offspring| offspring.child == child);
                let number = found.unwrap_or_else(|| {
                    known.push(self.add_offspring(network, flow, view, child));
                    known.len() - 1
                });
                let Offspring { nodes, starts, .. } = &mut known[number];
                if nodes.last() != Some(&n) {
                    nodes.push(n);
                    work.extend_from_slice(starts);
                }
            }
        }
        for Offspring { deeds, nodes: starters, .. } in known {
            let mut set = FixedBitSet::with_capacity(self.nodes.len());
            starters.into_iter().for_each(|n| set.insert(n));
            self.starters.push((deeds, nodes(&set)));
        }
    }

    /// Adds what a process may do that is not there yet.
    fn add_offspring(&mut self, network: &Network, flow: &Flow, view: &View<'_>, child: Child) -> Offspring {
        let mut known = Known::new(network, flow, view, None, child.0, &[]);
        (known.newborn, known.is_asked) = (&child.1, false);
        let first = self.ledger.deeds().len();
        let mut starts = Vec::new();
        for (l, location) in network.processes[child.0].locations.iter().enumerate() {
            for (i, step) in location.steps.iter().enumerate() {
                let made = touch(&known, LocationId(l as u16), i, &Takers { population: self });
                self.ledger.add(made);
                collect_runs(network, &known, &step.action, &mut starts);
            }
        }
        Offspring { child, deeds: first..self.ledger.deeds().len(), nodes: Vec::new(), starts }
    }

    fn find_reach(&mut self, flow: &Flow) {
        for (pid, &kind) in self.kinds.iter().enumerate() {
            let (numbers, firsts) = &flow.reach_numbers[kind];
            let nodes_from = |&first: &usize| {
                let mut nodes = FixedBitSet::with_capacity(self.nodes.len());
                let locations = flow.reach[kind][first].ones();
                locations.for_each(|at| nodes.insert_range(self.ranges[pid][at].clone()));
                nodes
            };
            self.reach.push(firsts.iter().map(nodes_from).collect());
            self.reach_numbers.push(numbers.clone());
        }
        let mut before = Sets::default();
        let mut leading: Vec<(usize, usize)> = Vec::new();
        for pid in 0..self.kinds.len() {
            leading.clear();
            for i in self.range(pid) {
                leading.extend(flow.stops[self.nodes[i].step].iter().map(|stop| (stop.index(), i)));
            }
            leading.sort_unstable();
            for i in self.range(pid) {
                let at = self.nodes[i].location.index();
                let first = leading.partition_point(|(stop, _)| *stop < at);
                before
                    .push(leading[first..].iter().take_while(|(stop, _)| *stop == at).map(|&(_, node)| node));
            }
        }
        let mut after = Sets::default();
        for node in &self.nodes[..] {
            let stops = flow.stops[node.step].iter();
            after.push(stops.flat_map(|stop| self.ranges[node.pid][stop.index()].clone()));
        }
        (self.before, self.after) = (Rc::new(before), Rc::new(after));
    }

    /// The node of a step of a process.
    #[inline]
    pub(super) fn node(&self, micro: &Micro) -> usize {
        let first = self.bases[micro.pid];
        first + micro.step.0 as usize - self.nodes[first].step
    }

    /// The nodes of a process.
    pub(super) fn range(&self, pid: usize) -> Range<usize> {
        self.bases[pid]..self.bases.get(pid + 1).copied().unwrap_or(self.nodes.len())
    }

    /// The nodes of a process at a location.
    pub(super) fn at(&self, pid: usize, location: LocationId) -> Range<usize> {
        self.ranges[pid][location.index()].clone()
    }

    /// What a node requires, whatever its locals are.
    pub(super) fn static_row(&mut self, n: usize) -> Rc<Row> {
        if let Some(row) = self.rows[n].get() {
            return row.clone();
        }
        let deed = &self.ledger.deeds()[n];
        let mut row = self.row(deed, Some(n));
        let risks = row.risks.clone();
        self.bring_always(n, risks.as_deref(), &mut row);
        ask(&mut self.facts, &mut row, self.ledger.clauses(deed), self.nodes[n].pid);
        self.rows[n].get_or_init(|| Rc::new(row)).clone()
    }

    /// Adds what a node brings for other reasons than what its locals are, when it is enabled.
    fn bring_always(&self, n: usize, risks: Option<&[Block]>, row: &mut Row) {
        // V: nothing visible is overtaken. L: where a cycle may be closed nothing visible is put off.
        let shows = self.visible.contains(n) || self.closing.contains(n);
        if risks.is_none() && !shows {
            return;
        }
        let mut nodes = FixedBitSet::with_capacity(self.n_nodes());
        unite(&mut nodes, &row.brought);
        risks.into_iter().for_each(|risks| unite(&mut nodes, risks));
        if shows {
            nodes.union_with(&self.visible);
        }
        row.brought = super::nodes::nodes(&nodes);
    }

    /// Whether what a node requires depends on locals of its process.
    pub(super) fn is_selective(&self, n: usize) -> bool {
        self.nodes[n].is_selective
    }

    /// The locals of its process on which it depends what a node requires.
    pub(super) fn for_each_selector(&self, n: usize, mut visit: impl FnMut(usize, usize, Width)) {
        self.selectors_of(n).iter().for_each(|&(at, width)| visit(self.nodes[n].pid, at, width));
    }

    fn selectors_of(&self, n: usize) -> &[(usize, Width)] {
        self.selectors.get(n).map_or(&[], |selectors| selectors)
    }

    /// What a node requires as long as its process stays where it is: which of its different rows.
    pub(super) fn number_now(
        &mut self,
        network: &Network,
        flow: &Flow,
        state: &[u8],
        shape: &Shape,
        n: usize,
    ) -> usize {
        let Node { pid, location, index, .. } = self.nodes[n];
        self.key.clear();
        self.key.push(n as i32);
        let selectors = self.selectors.get(n).map_or(&[][..], |selectors| selectors);
        self.key.extend(selectors.iter().map(|&(at, width)| shape.local(state, pid, at, width)));
        if let Some(&number) = self.numbers_now.get(&self.key) {
            return number;
        }
        // What serves where there is no room for more.
        let any = self.static_row(n);
        if self.rows_now.len() <= n {
            self.rows_now.resize(n + 1, Vec::new());
        }
        if self.rows_now[n].is_empty() {
            self.rows_now[n].push(any.clone());
        }
        if self.numbers_now.len() >= MOST_ROWS {
            self.is_crowded = true;
            return 0;
        }
        let view = network.view(state);
        let known = Known::new(network, flow, &view, Some(pid), self.kinds[pid], self.selectors_of(n));
        let made = touch(&known, location, index, &Takers { population: self });
        let deed = self.ledger.write_down(made);
        let mut row = self.row(&deed, Some(n));
        self.bring_always(n, any.risks.as_deref(), &mut row);
        ask(&mut self.facts, &mut row, self.ledger.clauses(&deed), pid);
        self.ledger.forget(&deed);
        let row = Rc::new(row);
        let rows = &mut self.rows_now[n];
        let number = rows.iter().position(|known| *known == row).unwrap_or(rows.len());
        if number == rows.len() {
            rows.push(row);
        }
        self.numbers_now.insert(self.key.clone(), number);
        number
    }

    /// One of the rows of a node.
    pub(super) fn row_now(&self, n: usize, number: usize) -> Rc<Row> {
        self.rows_now[n][number].clone()
    }

    /// All nodes of other processes that the steps of a process at a location may bring in any state.
    fn needs(&mut self, pid: usize, location: LocationId) -> Nodes {
        let mut needs = FixedBitSet::with_capacity(self.n_nodes());
        for n in self.at(pid, location) {
            self.static_row(n).add_all(&mut needs);
            if self.visible.contains(n) {
                needs.union_with(&self.visible);
            }
        }
        for check in self.nodes.len()..self.n_nodes() {
            if needs.contains(check) {
                self.checks[check - self.nodes.len()].add_all(&mut needs);
            }
        }
        needs.remove_range(self.nodes.len()..);
        needs.remove_range(self.range(pid));
        nodes(&needs)
    }

    /// Which nodes may still be enabled some time: which of the sets.
    pub(super) fn find_live(&mut self, locations: &[LocationId]) -> usize {
        let numbers = locations.iter().zip(&self.reach_numbers).map(|(at, numbers)| numbers[at.index()]);
        // Mostly it is the one that was found last.
        if let Some(known) = self.last_live
            && numbers.clone().eq(self.live_key.iter().copied())
        {
            return known;
        }
        self.live_key.clear();
        self.live_key.extend(numbers);
        let number = self.find_live_anew();
        self.last_live = Some(number);
        number
    }

    /// The same of the key.
    fn find_live_anew(&mut self) -> usize {
        if let Some(&known) = self.lives.get(&self.live_key) {
            return known;
        }
        if self.live_sets.len() >= MOST_LIVES {
            self.first_live += self.live_sets.len();
            self.lives.clear();
            self.live_sets.clear();
        }
        let mut live = FixedBitSet::with_capacity(self.n_nodes());
        for (&number, reach) in self.live_key.iter().zip(&self.reach) {
            live.union_with(&reach[usize::from(number)]);
        }
        live.insert_range(self.nodes.len()..self.n_nodes());
        let number = self.first_live + self.live_sets.len();
        self.lives.insert(self.live_key.clone(), number);
        self.live_sets.push(Rc::new(live));
        number
    }

    /// One of the sets of live nodes.
    pub(super) fn live(&self, number: usize) -> Rc<FixedBitSet> {
        self.live_sets[number - self.first_live].clone()
    }

    /// Whether a process at a location needs none of the live nodes of others.
    pub(super) fn is_apart(&mut self, pid: usize, location: LocationId, live: usize) -> bool {
        let nodes = match &self.needs[pid][location.index()] {
            Some(needs) if needs.live == live => return needs.are_none,
            Some(needs) => needs.nodes.clone(),
            None => self.needs(pid, location),
        };
        let set = self.live_sets[live - self.first_live].as_slice();
        let are_none = nodes.iter().all(|block| block.bits & set[block.at as usize] == 0);
        self.needs[pid][location.index()] = Some(Needs { nodes, live, are_none });
        are_none
    }

    /// A process at a location.
    pub(super) fn place(&mut self, flow: &Flow, pid: usize, location: LocationId) -> Rc<Place> {
        if let Some(known) = &self.places[pid][location.index()] {
            return known.clone();
        }
        let current = self.at(pid, location);
        let (numbers, reach) = (&self.reach_numbers[pid], &self.reach[pid]);
        let after = |step: usize, block: usize| {
            let stops = flow.stops[self.nodes[step].step].iter();
            let behind = stops.map(|stop| reach[usize::from(numbers[stop.index()])].as_slice()[block]);
            behind.fold(0, |all, behind| all | behind)
        };
        let place = Rc::new(Place::new(self.range(pid), current, after));
        if self.n_in_places >= MOST_IN_PLACES {
            self.places.iter_mut().flatten().for_each(|place| *place = None);
            self.n_in_places = 0;
        }
        self.n_in_places += place.size();
        self.places[pid][location.index()] = Some(place.clone());
        place
    }

    /// Whether something may go wrong with a node.
    pub(super) fn may_fail(&self, n: usize) -> bool {
        self.may_fail.contains(n)
    }

    /// The nodes with a deed of some sort, their own or of processes that they start.
    fn with_deeds(&self, is_such: impl Fn(&Ledger, &Deed) -> bool) -> FixedBitSet {
        let mut nodes = FixedBitSet::with_capacity(self.n_nodes());
        let (deeds, is_such) = (self.ledger.deeds(), |deed: &Deed| is_such(&self.ledger, deed));
        nodes.extend((0..self.nodes.len()).filter(|&n| is_such(&deeds[n])));
        for (started, starters) in &self.starters {
            if deeds[started.clone()].iter().any(is_such) {
                unite(&mut nodes, starters);
            }
        }
        nodes
    }

    /// How many nodes there are, the imaginary ones of the checks at the end.
    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len() + self.checked.len()
    }
}

/// Gives the literals of a row their facts.
fn ask<'l>(facts: &mut Vec<Fact>, row: &mut Row, guard: impl Iterator<Item = &'l [Awaited]>, pid: usize) {
    let literals = row.clauses.iter_mut().flat_map(|clause| &mut clause.literals);
    for (literal, known) in literals.zip(guard.flatten()) {
        let Some((expr, wanted)) = &known.truth else { continue };
        let fact = facts.iter().position(|fact| fact.pid == pid && fact.expr == *expr);
        let fact = fact.unwrap_or_else(|| {
            facts.push(Fact { pid, expr: expr.clone(), compiled: None });
            facts.len() - 1
        });
        literal.fact = Some((fact, *wanted));
    }
}

/// The kind of a process that is started, and what is known of its locals.
type Child = (usize, Vec<(usize, Newborn)>);

/// What a process that is started does, and whom it starts.
struct Offspring {
    child: Child,
    deeds: Range<usize>,
    /// The nodes that start it, or start who starts it.
    nodes: Vec<usize>,
    starts: Vec<Child>,
}

/// The processes that an action starts, with what is known of them.
fn collect_runs(network: &Network, known: &Known<'_>, action: &Action, out: &mut Vec<Child>) {
    match action {
        Action::Run(run) => out.push((run.kind, known.newborn_of(run))),
        // What a sequence contains is listed with the steps of the kind, but not with the run of this step.
        Action::Sequence(_) => {
            for (_, step) in network.steps_of(known.kind) {
                if let Action::Run(run) = &step.action {
                    out.push((run.kind, known.newborn_of(run)));
                }
            }
        }
        _ => {}
    }
}

/// The locals that indices and channels of a transition are made of, those that never change apart.
fn selectors(network: &Network, flow: &Flow, kind: usize, location: LocationId, index: usize) -> Selectors {
    let locations = &network.processes[kind].locations;
    let first = &locations[location.index()];
    let run = flow.runs[first.first_step as usize + index].iter().copied();
    // An `else` and whatever comes after an escape depend on what was listed earlier.
    let earlier = (0..index).map(|i| (location, i));
    let mut found: Selectors = Vec::new();
    for (at, i) in std::iter::once((location, index)).chain(run).chain(earlier) {
        for_each_selector(&locations[at.index()].steps[i].action, &mut |place| {
            let (from, to) = (place.offset, place.offset + place.width.bytes());
            let is_scalar = place.scope == Scope::Local && place.indices.is_empty();
            let selector = (from, place.width);
            if is_scalar && !flow.is_stable(Scope::Local, kind, from, to) && !found.contains(&selector) {
                found.push(selector);
            }
        });
    }
    found
}

/// Who takes what is offered.
struct Takers<'a> {
    population: &'a Population,
}

impl Partners for Takers<'_> {
    fn wants(&self, pid: usize, location: LocationId) -> Channels {
        let receivers = &self.population.receivers;
        let first = receivers.partition_point(|receiver| (receiver.0, receiver.1) < (pid, location));
        let those =
            receivers[first..].iter().take_while(|receiver| (receiver.0, receiver.1) == (pid, location));
        let mut wants = Channels::default();
        those.for_each(|(.., channels)| wants.union(channels));
        wants
    }

    fn takers(&self, offerer: Option<usize>, channels: &Channels) -> Vec<(usize, LocationId, usize)> {
        let receivers = self.population.receivers.iter();
        let takes = |receiver: &&(usize, LocationId, usize, Channels)| {
            Some(receiver.0) != offerer && receiver.3.meets(channels)
        };
        receivers.filter(takes).map(|&(pid, location, step, _)| (pid, location, step)).collect()
    }
}
