//! Search for a run that an automaton accepts.
//!
//! **Implements** emptiness of the product of a system with a generalised Büchi automaton, breadth-first: when
//! the number of nodes has doubled, and in the end, strong components are searched for one that accepts
//! (`cycles`). A node where the automaton accepts whatever comes ends the search at once, so a violation of a
//! safety property is shown by a shortest run. Where only cycles are accepted, a large search goes deep in turn with going wide,
//! and the way to a cycle is made short when it is found. Pairs that cannot be accepted any more are left out if wanted (`hope`).
//! With a reduction, states are expanded again until no cycle
//! puts off for ever what can be seen (`put_off`).
//! **Preserves** under D0, D1, D2, V and I of the reduction, and L by `put_off`: every run of the system has
//! a run of the explored part with the same letters up to stuttering. What is fired is a function of the
//! system's state alone, never of the automaton's: Siegel (CAV 2019) shows what else goes wrong.
//! With `tester`, a tester moves in the place of the automaton (`tester`).
//! **Differs from the text** (nested depth-first search) in that runs are short, that generalised acceptance
//! and weak fairness cost nothing, and in the cycle condition, which needs no stack.
//! **Checked by** brute force on random systems and formulas (`oracle`), and by SPIN's verdicts and counts.

mod cycles;
mod fairness;
mod guided;
mod hope;
mod nested;
mod product;
pub(crate) mod put_off;
mod tester;

pub use guided::{Exits, exits};
pub use nested::{NestedJob, nested_search};

use crate::run::{BATCH, Halt, no_room, whole};
use crate::{End, Graph, Keep, Limits, Stats, Stop, Watch, transition_between};
use cycles::{Left, Way};
use fixedbitset::FixedBitSet;
use hope::{Lasting, Places};
use product::{Cursor, Product};
use std::collections::VecDeque;
use stubborn_ltl::{Automaton, Letter, State};
use stubborn_reduce::Reduction;
use stubborn_store::{Entry, Store};
use stubborn_system::{Batch, Fault, System, TransitionId, Vector};

/// A set of processes, by number.
pub type Processes = [u64; 4];

/// Who takes part in what.
pub trait Participants<S: ?Sized> {
    /// Appends for each transition that is enabled in `state` the processes that take part in it.
    fn participants(&mut self, state: &S, out: &mut Vec<(TransitionId, Processes)>) -> Result<(), Fault>;
}

/// What to search, how, and within which limits.
pub struct LinearJob<'a, Y: System + ?Sized> {
    /// The system.
    pub system: &'a Y,
    /// What to fire in each state.
    pub reduction: &'a mut dyn Reduction<Y>,
    /// Where states are kept; empty, and exact.
    pub store: &'a mut dyn Store<Y::State>,
    /// The letter of a state: which propositions of the automaton hold.
    pub letter: &'a mut dyn FnMut(&Y::State) -> Result<Letter, Fault>,
    /// Accepts the runs that are looked for.
    pub automaton: &'a Automaton,
    /// Whether a run that ends counts as one that stays in its last state for ever.
    pub extends: bool,
    /// Whether a tester made of the automaton, which must have accepting states and be closed under stuttering,
    /// moves in its place.
    pub tester: bool,
    /// By state of the automaton, for all that have [`exits`] or for none: sets towards its goals. Not with a tester, nor
    /// with fairness.
    pub guides: Vec<Option<&'a mut dyn Reduction<Y>>>,
    /// Whether only pairs are made that tell something new of the system or may yet be accepted. Not with a tester, nor with
    /// guides.
    pub selective: bool,
    /// Nodes after which cycles are looked for the first time; eight times as many, and the search goes deep as well as wide.
    pub first_look: usize,
    /// If there, only runs count in which each process that can always take part from some point on does so
    /// again and again.
    pub fairness: Option<&'a mut dyn Participants<Y::State>>,
    /// Who looks at the clock.
    pub watch: &'a mut dyn Watch,
    /// When to give up.
    pub limits: Limits,
}

/// A run that the automaton accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedRun {
    /// What is fired; `None` where the system has ended and stays.
    pub steps: Vec<Option<TransitionId>>,
    /// The number of the state from which on the run repeats; `None` if the automaton accepts whatever comes.
    pub cycle_start: Option<usize>,
    /// Where the automaton is in each state of the run, before it reads the letter of the state.
    pub at: Vec<State>,
}

/// What a search found.
#[derive(Debug)]
pub struct LinearOutcome {
    /// How it ended; `Sighted` if there is a run.
    pub end: End,
    /// Its numbers: nodes and edges of the product.
    pub stats: Stats,
    /// How many states of the system were found; `None` if only pairs were kept.
    pub n_states: Option<u64>,
    /// The run.
    pub run: Option<AcceptedRun>,
    /// Whether runs were accepted that do not count because they are not fair.
    pub is_unfair: bool,
}

/// What [`LinearJob::first_look`] usually is.
pub const FIRST_LOOK: usize = 4_096;

/// Rounds through a component of the system after which all its pairs may be accepted, for all we know.
const MAX_SWEEPS: usize = 100;

/// Searches for a run that the automaton accepts.
pub fn search<Y: System + ?Sized>(job: LinearJob<'_, Y>) -> LinearOutcome {
    let keep = if job.fairness.is_some() { Keep::Labels } else { Keep::Edges };
    let graphs = [keep, Keep::Edges].map(|keep| Graph::new(keep).expect("edges are kept"));
    let is_guided = job.guides.iter().map(Option::is_some).collect();
    let product = Product::new(job.automaton, job.tester, is_guided, graphs, job.extends);
    let accepts_all: Vec<bool> =
        job.automaton.states().map(|state| job.automaton.accepts_everything_from(state)).collect();
    let lasting = hope::lasting(job.automaton, &accepts_all);
    // A violation of a safety property is to be found on a shortest way, and nothing must wait.
    let is_selective = job.selective && lasting.as_ref().is_some_and(|lasting| !lasting.is_empty());
    let mut search = Search {
        job,
        is_selective,
        product,
        accepts_all,
        lasting,
        hope: Vec::new(),
        dived: Vec::new(),
        stats: Stats::default(),
        expanded: FixedBitSet::new(),
        expanded_nodes: FixedBitSet::new(),
        partial: FixedBitSet::new(),
        agenda: VecDeque::new(),
        batch: Batch::new(),
        entries: Vec::new(),
        current: None,
        run: None,
        is_unfair: false,
    };
    let result = search.run();
    search.finish(result)
}

/// Whose edges are added.
#[derive(Clone, Copy)]
enum Source {
    State(u32),
    Node(u32),
}

/// A search under way.
struct Search<'a, Y: System + ?Sized> {
    job: LinearJob<'a, Y>,
    product: Product<'a>,
    /// By state of the automaton.
    accepts_all: Vec<bool>,
    /// Components of the automaton that can accept; `None` if it is too large to tell.
    lasting: Option<Vec<Lasting>>,
    is_selective: bool,
    /// By state: from which places the automaton may yet accept.
    hope: Vec<Places>,
    /// Nodes found by going deep, the newest last.
    dived: Vec<u32>,
    stats: Stats,
    expanded: FixedBitSet,
    /// The same for nodes that are expanded each on its own.
    expanded_nodes: FixedBitSet,
    /// States in which something that can be seen was left out.
    partial: FixedBitSet,
    /// Nodes to look at.
    agenda: VecDeque<u32>,
    batch: Batch<Y::State>,
    entries: Vec<Entry>,
    /// The node in hand, for faults.
    current: Option<u32>,
    run: Option<AcceptedRun>,
    is_unfair: bool,
}

impl<Y: System + ?Sized> Search<'_, Y> {
    fn run(&mut self) -> Result<(), Halt> {
        self.batch.clear();
        self.job.system.initial(&mut self.batch)?;
        self.insert()?;
        for &at in self.job.automaton.initial() {
            self.arrive(0, at, None)?;
        }
        let mut next_look = self.job.first_look;
        loop {
            while !self.agenda.is_empty() {
                self.expand_ahead()?;
                self.advance()?;
                self.dive()?;
                if self.product.nodes.len() >= next_look {
                    next_look = 2 * self.product.nodes.len();
                    self.look_for_cycles(false)?;
                }
            }
            self.look_for_cycles(true)?;
            if self.agenda.is_empty() && !self.fire_what_was_put_off()? {
                return Ok(());
            }
        }
    }

    /// Goes deep for a while: the newest node comes next. In large searches for cycles that is done in turn with going wide, since
    /// a short cycle may be far away. A run that is decided before it goes round is short because the oldest nodes come first.
    fn dive(&mut self) -> Result<(), Halt> {
        if !self.is_deep() {
            return Ok(());
        }
        let mut rest = std::mem::take(&mut self.agenda);
        for _ in 0..BATCH {
            let Some(node) = self.dived.pop().or_else(|| rest.pop_back()) else { break };
            self.agenda.push_back(node);
            self.expand_ahead()?;
            self.advance()?;
            self.dived.extend(self.agenda.drain(..));
        }
        if rest.is_empty() {
            rest.extend(self.dived.drain(..));
        }
        self.agenda = rest;
        self.stats.queue = (self.agenda.len() + self.dived.len()) as u64;
        Ok(())
    }

    /// Whether the search is large, and may end with a cycle.
    fn is_deep(&self) -> bool {
        let is_safety = self.lasting.as_ref().is_some_and(Vec::is_empty);
        !is_safety && self.product.nodes.len() >= self.job.first_look.saturating_mul(8)
    }

    /// Expands the states of the next nodes that were not expanded yet, until a batch is full.
    fn expand_ahead(&mut self) -> Result<(), Halt> {
        self.tick()?;
        self.batch.clear();
        let mut ends: Vec<(Source, usize)> = Vec::new();
        let mut room = <Y::State as Vector>::Rows::default();
        self.expanded_nodes.grow(self.product.nodes.len());
        for &number in self.agenda.iter().take(BATCH) {
            let node = self.product.nodes[number as usize];
            if self.is_expanded(number) || !self.product.is_alive(node) {
                continue;
            }
            self.current = Some(number);
            let state = self.job.store.state(node.state, &mut room).expect("the store keeps states");
            if let Some(Some(guide)) = self.job.guides.get_mut(node.at as usize) {
                self.expanded_nodes.insert(number as usize);
                let letter = self.product.letters[node.state as usize];
                let mut edges = self.job.automaton.edges(node.at).iter();
                if edges.any(|edge| edge.target != node.at && edge.guard.holds(letter)) {
                    self.job.system.successors(state, &mut self.batch)?;
                } else {
                    guide.expand(self.job.system, state, &mut self.batch)?;
                }
                ends.push((Source::Node(number), self.batch.len()));
            } else {
                self.expanded.insert(node.state as usize);
                self.job.reduction.expand(self.job.system, state, &mut self.batch)?;
                let is_partial = self.job.reduction.is_partial();
                self.partial.set(node.state as usize, is_partial);
                ends.push((Source::State(node.state), self.batch.len()));
            }
            self.batch.take_flag();
            whole(&mut self.batch).map_err(Halt::Stop)?;
            if self.batch.len() >= BATCH {
                break;
            }
        }
        self.current = None;
        self.insert()?;
        self.add_edges(&ends)
    }

    /// Adds the edges of an inserted batch: for each source, where its successors end.
    fn add_edges(&mut self, ends: &[(Source, usize)]) -> Result<(), Halt> {
        let mut from = 0;
        for &(source, end) in ends {
            self.stats.terminal_states += u64::from(from == end && matches!(source, Source::State(_)));
            let edges = (from..end).map(|i| (self.entries[i].id(), self.batch.via(i)));
            match source {
                Source::State(state) => self.product.graph.add(state, edges),
                Source::Node(node) => self.product.own.add(node, edges),
            }
            .map_err(Halt::Stop)?;
            from = end;
        }
        Ok(())
    }

    /// Whether it is known where a node leads.
    fn is_expanded(&self, node: u32) -> bool {
        if self.product.is_guided(node) {
            return self.expanded_nodes.contains(node as usize);
        }
        self.expanded.contains(self.product.nodes[node as usize].state as usize)
    }

    /// Goes through the moves of the nodes whose states are expanded.
    fn advance(&mut self) -> Result<(), Halt> {
        while let Some(&node) = self.agenda.front() {
            if !self.is_expanded(node) {
                // Not expanded yet; or the automaton cannot go on with its letter.
                if self.product.is_alive(self.product.nodes[node as usize]) {
                    return Ok(());
                }
                self.agenda.pop_front();
                continue;
            }
            self.agenda.pop_front();
            self.follow(node)?;
            self.stats.queue = self.agenda.len() as u64;
        }
        Ok(())
    }

    /// Runs are to be short, also if the search went deep.
    fn shorten_if_deep(&mut self) {
        if self.is_deep() {
            self.product.shorten_ways();
        }
    }

    /// Goes through the moves of a node.
    fn follow(&mut self, node: u32) -> Result<(), Halt> {
        let mut cursor = Cursor::START;
        while let Some(found) = self.product.next_move(node, &mut cursor) {
            self.stats.edges += 1;
            self.arrive(found.state, found.at, Some(node))?;
        }
        Ok(())
    }

    /// Adds a node, if it is new and wanted.
    fn arrive(&mut self, state: u32, at: State, parent: Option<u32>) -> Result<(), Halt> {
        let is_decided = self.accepts_all[at as usize];
        if self.is_selective && parent.is_some() && !is_decided && !self.is_wanted(state, at) {
            return Ok(());
        }
        let Some(node) = self.product.add(state, at, parent) else { return Ok(()) };
        if self.stats.states == self.job.limits.states {
            return Err(Halt::Stop(Stop::States { limit: self.job.limits.states }));
        }
        if node == u32::MAX - 1 {
            return Err(Halt::Stop(Stop::Numbers { what: "product states", limit: u64::from(u32::MAX - 1) }));
        }
        self.stats.states += 1;
        self.agenda.push_back(node);
        if is_decided {
            // The letter of the parent decided it.
            let last = parent.unwrap_or(node);
            self.shorten_if_deep();
            let way = Way { stem: self.product.way_to(last), cycle: None };
            self.run = Some(self.accepted_run(way)?);
            return Err(Halt::Sighted);
        }
        Ok(())
    }

    fn look_for_cycles(&mut self, is_over: bool) -> Result<(), Halt> {
        if !self.go_on_with_hope(is_over)? {
            return Ok(());
        }
        if let Some(way) = self.accepting_way()? {
            self.run = Some(self.accepted_run(way)?);
            return Err(Halt::Sighted);
        }
        Ok(())
    }

    /// Expands states in full where a cycle puts something off for ever. Whether there was such a cycle.
    fn fire_what_was_put_off(&mut self) -> Result<bool, Halt> {
        let again = self.states_that_put_off()?;
        let mut room = <Y::State as Vector>::Rows::default();
        for &state in &again {
            self.tick()?;
            self.stats.repairs += 1;
            self.partial.set(state as usize, false);
            self.batch.clear();
            let source = self.job.store.state(state, &mut room).expect("the store keeps states");
            self.job.system.successors(source, &mut self.batch)?;
            self.batch.take_flag();
            whole(&mut self.batch).map_err(Halt::Stop)?;
            self.insert()?;
            self.add_edges(&[(Source::State(state), self.batch.len())])?;
            let nodes: Vec<u32> = self.product.nodes_of(state).collect();
            self.agenda.extend(nodes);
        }
        Ok(!again.is_empty())
    }

    fn insert(&mut self) -> Result<(), Halt> {
        let hope = self.hope.len() * size_of::<Places>();
        let waiting = (self.agenda.len() + self.dived.len()) * size_of::<u32>();
        let product = self.product.bytes() + self.product.bytes_to_look_for_cycles();
        let guides = self.job.guides.iter().flatten().map(|guide| guide.bytes()).sum::<usize>();
        let remembered = self.job.system.bytes() + self.job.reduction.bytes() + guides;
        let others = product + hope + waiting + self.batch.bytes() + remembered;
        let limit = self.job.limits.bytes;
        let used = self.job.store.bytes() + others;
        self.entries.clear();
        let room = limit.saturating_sub(used);
        match self.job.store.insert(&self.batch, room, &mut self.entries) {
            Ok(()) if used <= limit => {}
            Ok(()) => return Err(Halt::Stop(Stop::Memory { limit, needed: used - limit })),
            Err(full) => return Err(Halt::Stop(no_room(&full, limit))),
        }
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.job.store.bytes() + others);
        for (i, _) in self.entries.iter().enumerate().filter(|(_, entry)| entry.is_new()) {
            self.product.letters.push((self.job.letter)(self.batch.state(i))?);
        }
        let n_found = self.product.letters.len();
        self.product.cover(n_found);
        self.expanded.grow(n_found);
        self.partial.grow(n_found);
        Ok(())
    }

    fn tick(&mut self) -> Result<(), Halt> {
        self.job.watch.tick(&self.stats).map_or(Ok(()), |stop| Err(Halt::Stop(stop)))
    }

    /// A run in transitions.
    fn accepted_run(&mut self, way: Way) -> Result<AcceptedRun, Fault> {
        let nodes = &self.product.nodes;
        let (mut steps, mut at) = (Vec::new(), Vec::new());
        let stem: Vec<Left> = way.stem.iter().map(|&node| (node, None)).collect();
        let cycle = way.cycle.unwrap_or_default();
        let has_cycle = !cycle.is_empty();
        let all: Vec<Left> = stem.into_iter().chain(cycle).collect();
        for (i, &(node, edge)) in all.iter().enumerate() {
            at.push(nodes[node as usize].at);
            let from = nodes[node as usize].state;
            let next = match all.get(i + 1) {
                Some(&(next, _)) => nodes[next as usize].state,
                None if has_cycle => nodes[all[way.stem.len()].0 as usize].state,
                None => break,
            };
            let label = edge.and_then(|edge| self.product.graph.label(edge));
            steps.push(if self.product.is_terminal(node) {
                None
            } else {
                Some(match label {
                    Some(label) => label,
                    None => transition_between(self.job.system, &*self.job.store, from, next)?,
                })
            });
        }
        if has_cycle {
            at.push(nodes[all[way.stem.len()].0 as usize].at);
        }
        Ok(AcceptedRun { steps, cycle_start: has_cycle.then_some(way.stem.len()), at })
    }

    fn finish(self, result: Result<(), Halt>) -> LinearOutcome {
        let end = match result {
            Ok(()) => End::Complete,
            Err(Halt::Sighted) => End::Sighted,
            Err(Halt::Stop(stop)) => End::Stopped(stop),
            Err(Halt::Fault(fault)) => {
                let path = self.current.map(|node| self.path_to(node)).unwrap_or_default();
                End::Fault(fault, path)
            }
        };
        let n_states = Some(self.product.letters.len() as u64);
        let is_unfair = self.is_unfair;
        LinearOutcome { end, stats: self.stats, n_states, run: self.run, is_unfair }
    }

    /// The transitions that lead to a node, as far as they are known.
    fn path_to(&self, node: u32) -> Vec<TransitionId> {
        let way = self.product.way_to(node);
        let state = |node: u32| self.product.nodes[node as usize].state;
        let pairs = way.windows(2).map(|pair| (state(pair[0]), state(pair[1])));
        pairs
            .map_while(|(from, to)| transition_between(self.job.system, &*self.job.store, from, to).ok())
            .collect()
    }
}
