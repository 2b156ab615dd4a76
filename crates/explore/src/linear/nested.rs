//! Nested depth-first search for a run that a Büchi automaton accepts.
//!
//! **Implements** the algorithm of Courcoubetis, Vardi, Wolper and Yannakakis (1992): when the first search leaves
//! an accepting node, a second one looks for a way from it back to it. Both searches mark nodes in one store, each in
//! its own colour, so two bits per node suffice and any store will do.
//! **Preserves** what the reduction does, if the store is exact. The reduction must be steady: what is fired is a function of the system's state
//! alone, the same in both searches and whatever the automaton does, and no cycle puts off for ever what can be seen. So it is a search
//! of all of a smaller system. With another store a run that is found is one, but none may be found although there is one.
//! **Differs from the text** in that a node where the automaton accepts whatever comes ends the search. Nodes of the way that
//! were left lend their room to new ones, and the way is part of the memory in use.
//! **Checked by** the component search, on all models of the tests and on random ones.

use super::{AcceptedRun, LinearOutcome};
use crate::run::{no_room, whole};
use crate::{End, Limits, Stats, Stop, Watch};
use stubborn_ltl::{Automaton, Letter, State};
use stubborn_reduce::Reduction;
use stubborn_store::{Entry, Store};
use stubborn_system::{Batch, Fault, System, TransitionId, Vector};

/// What to search, how, and within which limits.
pub struct NestedJob<'a, Y: System + ?Sized> {
    /// The system.
    pub system: &'a Y,
    /// What to fire in each state; steady.
    pub reduction: &'a mut dyn Reduction<Y>,
    /// Marks nodes: the bytes of a state, where the automaton is, and which search it was.
    pub store: &'a mut dyn Store<[u8]>,
    /// The letter of a state: which propositions of the automaton hold.
    pub letter: &'a mut dyn FnMut(&Y::State) -> Result<Letter, Fault>,
    /// Accepts the runs that are looked for; with accepting states.
    pub automaton: &'a Automaton,
    /// Whether a run that ends counts as one that stays in its last state for ever.
    pub extends: bool,
    /// Who looks at the clock.
    pub watch: &'a mut dyn Watch,
    /// When to give up.
    pub limits: Limits,
}

/// Searches for a run that the automaton accepts.
pub fn nested_search<Y: System + ?Sized>(job: NestedJob<'_, Y>) -> LinearOutcome {
    assert!(job.automaton.is_buchi(), "generalised acceptance is for the component search");
    assert!(job.reduction.is_steady(), "two searches must fire the same");
    let mut search = Nested {
        job,
        stats: Stats::default(),
        bytes: Vec::new(),
        key: Batch::new(),
        entries: Vec::new(),
        spare: Vec::new(),
        way_bytes: 0,
        next_tick: 0,
    };
    let mut first = Path::default();
    let result = search.first(&mut first);
    let (end, run) = match result {
        Ok(None) => (End::Complete, None),
        Ok(Some(run)) => (End::Sighted, Some(run)),
        Err(Wrong::Stop(stop)) => (End::Stopped(stop), None),
        Err(Wrong::Fault(fault)) => {
            (End::Fault(fault, first.steps().into_iter().map_while(|step| step).collect()), None)
        }
    };
    LinearOutcome { end, stats: search.stats, n_states: None, run, is_unfair: false }
}

enum Wrong {
    Stop(Stop),
    Fault(Fault),
}

impl From<Fault> for Wrong {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A node on the way, with what follows it.
struct Frame<S: Vector + ?Sized> {
    at: State,
    /// How the node was reached; `None` at the beginning and where the system stays.
    via: Option<TransitionId>,
    /// The node's state, then its successors.
    states: Batch<S>,
    /// Where the automaton can go.
    next: Vec<State>,
    /// The move to look at next: successor, then edge.
    cursor: (usize, usize),
}

impl<S: Vector + ?Sized> Frame<S> {
    /// The next move: the number of a state in the frame, where the automaton goes, and by which transition.
    fn following(&mut self, extends: bool) -> Option<(usize, State, Option<TransitionId>)> {
        let n_successors = self.states.len() - 1;
        let stays = n_successors == 0 && extends;
        let (i, edge) = self.cursor;
        let at = *self.next.get(edge)?;
        if i + 1 < n_successors {
            self.cursor = (i + 1, edge);
        } else {
            self.cursor = (0, edge + 1);
        }
        if n_successors > 0 {
            return Some((i + 1, at, Some(self.states.via(i + 1))));
        }
        stays.then_some((0, at, None))
    }
}

/// The way from the beginning to the node in hand.
struct Path<S: Vector + ?Sized> {
    frames: Vec<Frame<S>>,
}

impl<S: Vector + ?Sized> Default for Path<S> {
    fn default() -> Self {
        Self { frames: Vec::new() }
    }
}

impl<S: Vector + ?Sized> Path<S> {
    fn steps(&self) -> Vec<Option<TransitionId>> {
        self.frames.iter().skip(1).map(|frame| frame.via).collect()
    }

    fn at(&self) -> Vec<State> {
        self.frames.iter().map(|frame| frame.at).collect()
    }
}

/// Nodes and moves between two looks at the watch.
const TICK: u64 = 1024;

const FIRST: u8 = 0;
const SECOND: u8 = 1;

struct Nested<'a, Y: System + ?Sized> {
    job: NestedJob<'a, Y>,
    stats: Stats,
    /// What is marked: its bytes, as a batch.
    bytes: Vec<u8>,
    key: Batch<[u8]>,
    entries: Vec<Entry>,
    /// Room of nodes that were left, and the memory of all rooms.
    spare: Vec<Frame<Y::State>>,
    way_bytes: usize,
    /// The amount of work at which the watch is looked at next.
    next_tick: u64,
}

impl<Y: System + ?Sized> Nested<'_, Y> {
    fn first(&mut self, path: &mut Path<Y::State>) -> Result<Option<AcceptedRun>, Wrong> {
        let mut initial = Batch::new();
        self.job.system.initial(&mut initial)?;
        for &at in self.job.automaton.initial() {
            if !self.mark(initial.state(0), at, FIRST)? {
                continue;
            }
            let frame = self.frame(initial.state(0), at, None)?;
            path.frames.push(frame);
            while let Some(top) = path.frames.last_mut() {
                if self.job.automaton.accepts_everything_from(top.at) {
                    // The letter before decided it.
                    let n = path.frames.len().saturating_sub(1).max(1);
                    path.frames.truncate(n);
                    return Ok(Some(AcceptedRun { steps: path.steps(), cycle_start: None, at: path.at() }));
                }
                if let Some((i, at, via)) = top.following(self.job.extends) {
                    self.stats.edges += 1;
                    let state = top.states.state(i);
                    if self.mark(state, at, FIRST)? {
                        let frame = self.frame(state, at, via)?;
                        path.frames.push(frame);
                        self.stats.depth = self.stats.depth.max(path.frames.len() as u64);
                    }
                    continue;
                }
                if self.job.automaton.is_accepting(top.at)
                    && let Some(run) = self.second(path)?
                {
                    return Ok(Some(run));
                }
                self.spare.extend(path.frames.pop());
            }
        }
        Ok(None)
    }

    /// Looks for a way from the last node of `path` back to it.
    fn second(&mut self, path: &Path<Y::State>) -> Result<Option<AcceptedRun>, Wrong> {
        let Some(seed) = path.frames.last() else { return Ok(None) };
        if !self.mark(seed.states.state(0), seed.at, SECOND)? {
            return Ok(None);
        }
        let mut cycle = Path::default();
        cycle.frames.push(self.frame(seed.states.state(0), seed.at, None)?);
        while let Some(top) = cycle.frames.last_mut() {
            let Some((i, at, via)) = top.following(self.job.extends) else {
                self.spare.extend(cycle.frames.pop());
                continue;
            };
            self.stats.edges += 1;
            let state = top.states.state(i);
            if at == seed.at && state == seed.states.state(0) {
                let (mut steps, mut places) = (path.steps(), path.at());
                let start = steps.len();
                steps.extend(cycle.steps());
                steps.push(via);
                places.extend(cycle.at().into_iter().skip(1));
                places.push(at);
                return Ok(Some(AcceptedRun { steps, cycle_start: Some(start), at: places }));
            }
            if self.mark(state, at, SECOND)? {
                let frame = self.frame(state, at, via)?;
                cycle.frames.push(frame);
            }
        }
        Ok(None)
    }

    fn frame(
        &mut self,
        state: &Y::State,
        at: State,
        via: Option<TransitionId>,
    ) -> Result<Frame<Y::State>, Wrong> {
        let letter = (self.job.letter)(state)?;
        let Frame { mut states, mut next, .. } = self.spare.pop().unwrap_or_else(|| {
            let states = Batch::new();
            self.way_bytes += size_of::<Frame<Y::State>>() + states.bytes();
            Frame { at, via, states, next: Vec::new(), cursor: (0, 0) }
        });
        self.way_bytes -= states.bytes() + next.len() * size_of::<State>();
        next.clear();
        let edges = self.job.automaton.edges(at).iter();
        next.extend(edges.filter(|edge| edge.guard.holds(letter)).map(|edge| edge.target));
        states.clear();
        states.push(TransitionId(0), state);
        self.job.reduction.expand(self.job.system, state, &mut states)?;
        states.take_flag();
        whole(&mut states).map_err(Wrong::Stop)?;
        self.way_bytes += states.bytes() + next.len() * size_of::<State>();
        Ok(Frame { at, via, states, next, cursor: (0, 0) })
    }

    /// Marks a node; whether it was not marked before.
    fn mark(&mut self, state: &Y::State, at: State, colour: u8) -> Result<bool, Wrong> {
        self.bytes.clear();
        self.bytes.extend(state.as_bytes());
        self.bytes.extend(at.to_le_bytes());
        self.bytes.push(colour);
        self.key.clear();
        self.key.push(TransitionId(0), &self.bytes);
        self.entries.clear();
        let limit = self.job.limits.bytes;
        let used = self.job.store.bytes() + self.job.system.bytes() + self.way_bytes;
        self.stats.peak_bytes = self.stats.peak_bytes.max(used);
        if used > limit {
            return Err(Wrong::Stop(Stop::Memory { limit, needed: used - limit }));
        }
        let inserted = self.job.store.insert(&self.key, limit.saturating_sub(used), &mut self.entries);
        inserted.map_err(|full| Wrong::Stop(no_room(&full, limit)))?;
        let is_new = self.entries[0].is_new();
        if is_new && colour == FIRST {
            if self.stats.states == self.job.limits.states {
                return Err(Wrong::Stop(Stop::States { limit: self.job.limits.states }));
            }
            self.stats.states += 1;
        }
        let work = self.stats.states + self.stats.edges;
        if work >= self.next_tick {
            self.next_tick = work + TICK;
            if let Some(stop) = self.job.watch.tick(&self.stats) {
                return Err(Wrong::Stop(stop));
            }
        }
        Ok(is_new)
    }
}
