//! Breadth-first search: shortest counterexamples.
//!
//! **Implements** the search loop of ASSET (V15), in batches: states of a level are expanded until a batch
//! of successors is full, the batch goes to the store, and the answers are digested in the order in which
//! one-at-a-time search would have seen them, so counts are the same to the unit, also when the search stops
//! at a sighting.
//! **Preserves** everything that store and reduction preserve; any order will do for the basic method.
//! **Differs from the text** in that no parent links are kept when the store keeps states: the way back is
//! found by expanding one level again per step, which costs time only when there is something to show.
//! **Checked by** Table I of V15, whose mutex-violating rows depend on the order, and the campaign.

use crate::components::shortest_path_to;
use crate::ignoring::ignoring_states;
use crate::kinds::{AnySystem, search_any};
use crate::patience::{Patience, put_off_in_terminal_components, put_off_on_cycles};
use crate::run::{BATCH, Halt, Run};
use crate::{Job, Outcome, transition_between};
use fixedbitset::FixedBitSet;
use std::ops::Range;
use stubborn_store::Store;
use stubborn_system::{Batch, Fault, Rows, System, TransitionId, Vector};

/// Searches breadth-first.
pub fn breadth_first<Y: System + ?Sized>(job: Job<'_, Y>) -> Outcome {
    let patience = if job.no_ignoring { Patience::Firing } else { Patience::Endless };
    breadth_first_with(job, patience)
}

/// The same, with a say in what must not be put off for ever. Needs edges with labels, and an exact store.
pub fn breadth_first_with<Y: System + ?Sized>(job: Job<'_, Y>, patience: Patience) -> Outcome {
    search_any(job, |job| search_with(job, patience))
}

fn search_with<'j, S: Vector + ?Sized>(job: Job<'j, AnySystem<'j, S>>, patience: Patience) -> Outcome {
    let mut run = Run::new(job);
    let mut front = Front::new(run.job.store.keeps_states());
    front.sees_what_is_left_out = matches!(patience, Patience::Traces | Patience::Runs);
    front.sees_what_is_whole = patience == Patience::Firing;
    let result = search(&mut run, &mut front, patience);
    run.finish(result, |mut run| {
        let path = front.current.and_then(|id| front.path_to(&mut run, id).ok());
        (run, path.unwrap_or_default().into_iter().chain(front.via).collect())
    })
}

fn search<Y: System + ?Sized>(
    run: &mut Run<'_, Y>,
    front: &mut Front<Y::State>,
    patience: Patience,
) -> Result<(), Halt> {
    run.seed()?;
    front.accept(&run.batch, 0, None);
    if let Some(sighting) = run.arrive(0)? {
        run.sighted(sighting, |_| Ok(Vec::new()))?;
    }
    loop {
        while front.next_level() {
            let result = search_level(run, front);
            run.stats.queue = front.n_waiting() as u64;
            result?;
        }
        if patience == Patience::Endless || !run.job.store.keeps_states() {
            return Ok(());
        }
        if !repair(run, front, patience)? {
            run.no_ignoring = true;
            return Ok(());
        }
    }
}

/// Expands states again, in full, where something is ignored. Whether there was such a state.
fn repair<Y: System + ?Sized>(
    run: &mut Run<'_, Y>,
    front: &mut Front<Y::State>,
    patience: Patience,
) -> Result<bool, Halt> {
    let Some(graph) = &mut run.graph else { return Ok(true) };
    graph.cover(front.n_found);
    front.repaired.grow(front.n_found);
    front.whole.grow(front.n_found);
    front.partial.grow(front.n_found);
    let again = match patience {
        Patience::Endless => Vec::new(),
        Patience::Firing => ignoring_states(run, &front.whole)?,
        Patience::Traces => put_off_in_terminal_components(run, &front.partial)?,
        Patience::Runs => put_off_on_cycles(run, &front.partial)?,
    };
    for &state in &again {
        front.repaired.insert(state as usize);
        front.whole.insert(state as usize);
        front.partial.set(state as usize, false);
        run.stats.repairs += 1;
        run.batch.clear();
        let mut room = Default::default();
        let source = run.job.store.state(state, &mut room).expect("the store keeps states");
        run.job.system.successors(source, &mut run.batch)?;
        // What is wrong here was seen when it was expanded first.
        run.batch.take_flag();
        let too_much = run.batch.take_cut();
        run.too_much = run.too_much.or(too_much);
        let is_cut = too_much.is_some();
        run.insert(front.bytes())?;
        let expanded = Expanded { end: run.batch.len(), is_flagged: false, is_cut };
        digest(run, front, state as usize, &[expanded])?;
    }
    Ok(!again.is_empty())
}

fn search_level<Y: System + ?Sized>(run: &mut Run<'_, Y>, front: &mut Front<Y::State>) -> Result<(), Halt> {
    let mut ends = std::mem::take(&mut front.ends);
    let mut room = <Y::State as Vector>::Rows::default();
    while front.next < front.level.end {
        run.stats.queue = front.n_waiting() as u64;
        run.tick()?;
        let first = front.next;
        run.batch.clear();
        ends.clear();
        let mut fault = None;
        while front.next < front.level.end && run.batch.len() < BATCH {
            let state = front.state(&*run.job.store, front.next, &mut room);
            let before = run.batch.len();
            if let Err(wrong) = run.job.reduction.expand(run.job.system, state, &mut run.batch) {
                run.batch.truncate(before);
                fault = Some(wrong);
                break;
            }
            if front.sees_what_is_left_out && run.job.reduction.is_partial() {
                front.partial.grow(front.next + 1);
                front.partial.insert(front.next);
            }
            let too_much = run.batch.take_cut();
            run.too_much = run.too_much.or(too_much);
            if front.sees_what_is_whole && too_much.is_none() && run.job.reduction.is_whole() {
                front.whole.grow(front.next + 1);
                front.whole.insert(front.next);
            }
            let is_flagged = run.batch.take_flag();
            ends.push(Expanded { end: run.batch.len(), is_flagged, is_cut: too_much.is_some() });
            front.next += 1;
        }
        run.insert(front.bytes())?;
        digest(run, front, first, &ends)?;
        if let Some(fault) = fault {
            front.current = Some(front.next);
            return Err(Halt::Fault(fault));
        }
    }
    front.ends = ends;
    Ok(())
}

/// A state whose successors are in the batch.
#[derive(Clone, Copy)]
struct Expanded {
    /// Where they end.
    end: usize,
    /// Whether the system flagged them.
    is_flagged: bool,
    /// Whether some are missing.
    is_cut: bool,
}

/// Goes through an inserted batch: the successors of the states from `first` on.
fn digest<Y: System + ?Sized>(
    run: &mut Run<'_, Y>,
    front: &mut Front<Y::State>,
    first: usize,
    ends: &[Expanded],
) -> Result<(), Halt> {
    let mut room = <Y::State as Vector>::Rows::default();
    let mut i = 0;
    for (source, &Expanded { end, is_flagged, is_cut }) in (first..).zip(ends) {
        front.current = Some(source);
        if is_flagged {
            let state = front.state(&*run.job.store, source, &mut room);
            if let Some(sighting) = run.job.visitor.flagged(state)? {
                run.sighted(sighting, |run| front.path_to(run, source))?;
            }
        }
        if i == end && !is_cut {
            run.stats.terminal_states += 1;
            let state = front.state(&*run.job.store, source, &mut room);
            if let Some(sighting) = run.job.visitor.terminal(state)? {
                run.sighted(sighting, |run| front.path_to(run, source))?;
            }
        }
        if let Some(graph) = &mut run.graph {
            let edges = (i..end).map(|i| (run.entries[i].id(), run.batch.via(i)));
            graph.add(source as u32, edges).map_err(Halt::Stop)?;
        }
        while i < end {
            run.stats.edges += 1;
            if run.entries[i].is_new() {
                front.accept(&run.batch, i, Some(source));
                run.stats.depth = front.starts.len() as u64;
                let via = run.batch.via(i);
                front.via = Some(via);
                let sighting = run.arrive(i)?;
                front.via = None;
                if let Some(sighting) = sighting {
                    run.sighted(sighting, |run| {
                        let mut path = front.path_to(run, source)?;
                        path.push(via);
                        Ok(path)
                    })?;
                }
            }
            i += 1;
        }
    }
    Ok(())
}

/// The levels of the search: states are numbered in the order in which they were found.
struct Front<S: Vector + ?Sized> {
    /// The states of the level in hand.
    level: Range<usize>,
    /// The first of them that is not expanded.
    next: usize,
    n_found: usize,
    /// The state in hand, if any, and the transition whose successor is being looked at.
    current: Option<usize>,
    via: Option<TransitionId>,
    /// Room for the states whose successors are in the batch.
    ends: Vec<Expanded>,
    /// First state of each level so far.
    starts: Vec<usize>,
    /// States that were expanded again. Once there are any, levels say nothing about parents.
    repaired: FixedBitSet,
    /// States in which something that can be seen was left out.
    partial: FixedBitSet,
    /// Whether anybody asks for these.
    sees_what_is_left_out: bool,
    /// States in which nothing was left out, or that were expanded again; and whether anybody asks for these.
    whole: FixedBitSet,
    sees_what_is_whole: bool,
    /// Only for stores that keep no states.
    own: Option<Own<S>>,
}

/// What must be kept if the store keeps no states.
struct Own<S: Vector + ?Sized> {
    /// The states of the level in hand, and of the next.
    this: S::Rows,
    coming: S::Rows,
    /// Where each state came from.
    parents: Vec<(u32, TransitionId)>,
}

impl<S: Vector + ?Sized> Front<S> {
    fn new(store_keeps_states: bool) -> Self {
        let own = || Own { this: S::Rows::default(), coming: S::Rows::default(), parents: Vec::new() };
        Self {
            level: 0..0,
            next: 0,
            n_found: 0,
            current: None,
            via: None,
            ends: Vec::new(),
            starts: Vec::new(),
            repaired: FixedBitSet::new(),
            partial: FixedBitSet::new(),
            sees_what_is_left_out: false,
            whole: FixedBitSet::new(),
            sees_what_is_whole: false,
            own: (!store_keeps_states).then(own),
        }
    }

    /// Takes in successor `i` of `batch`, a new state.
    #[inline]
    fn accept(&mut self, batch: &Batch<S>, i: usize, source: Option<usize>) {
        if let Some(own) = &mut self.own {
            own.coming.push(batch.state(i));
            own.parents.push((source.unwrap_or(0) as u32, batch.via(i)));
        }
        self.n_found += 1;
    }

    /// Goes on to the next level, if there is one.
    fn next_level(&mut self) -> bool {
        self.level = self.level.end..self.n_found;
        self.next = self.level.start;
        self.starts.push(self.level.start);
        if let Some(own) = &mut self.own {
            std::mem::swap(&mut own.this, &mut own.coming);
            own.coming.clear();
        }
        !self.level.is_empty()
    }

    fn n_waiting(&self) -> usize {
        self.n_found - self.next
    }

    fn bytes(&self) -> usize {
        self.own.as_ref().map_or(0, |own| {
            let parents = own.parents.len() * size_of::<(u32, TransitionId)>();
            own.this.bytes() + own.coming.bytes() + parents
        })
    }

    /// A state of the level in hand.
    #[inline]
    fn state<'s>(&'s self, store: &'s dyn Store<S>, i: usize, room: &'s mut S::Rows) -> &'s S {
        match &self.own {
            Some(own) => own.this.get(i - self.level.start),
            None => store.state(i as u32, room).expect("the store keeps states"),
        }
    }

    /// The way from the initial state to state `target` of a level so far.
    fn path_to<Y: System<State = S> + ?Sized>(
        &self,
        run: &mut Run<'_, Y>,
        target: usize,
    ) -> Result<Vec<TransitionId>, Fault> {
        if !self.repaired.is_clear() {
            return self.path_by_edges(run, target);
        }
        let mut path = Vec::new();
        let mut target = target;
        while target > 0 {
            let (parent, via) = match &self.own {
                Some(Own { parents, .. }) => (parents[target].0 as usize, parents[target].1),
                None => self.parent_of(run, target)?,
            };
            path.push(via);
            target = parent;
        }
        path.reverse();
        Ok(path)
    }

    /// A shortest way along the edges that were kept.
    fn path_by_edges<Y: System<State = S> + ?Sized>(
        &self,
        run: &mut Run<'_, Y>,
        target: usize,
    ) -> Result<Vec<TransitionId>, Fault> {
        let lost = || Fault::Broken("a state has lost its predecessors".into());
        let graph = run.graph.as_mut().ok_or_else(lost)?;
        graph.cover(self.n_found);
        let edges = shortest_path_to(graph, target as u32);
        let mut path = Vec::new();
        let mut at = 0;
        for edge in edges.ok_or_else(lost)? {
            let to = graph.edge(edge).0;
            path.push(transition_between(run.job.system, &*run.job.store, at, to)?);
            at = to;
        }
        Ok(path)
    }

    /// The first state of the level before that leads to `target`: the one that found it.
    fn parent_of<Y: System<State = S> + ?Sized>(
        &self,
        run: &mut Run<'_, Y>,
        target: usize,
    ) -> Result<(usize, TransitionId), Fault> {
        let level = self.starts.partition_point(|&start| start <= target) - 1;
        let (mut room, mut wanted_room) = (S::Rows::default(), S::Rows::default());
        let store = &run.job.store;
        let wanted = store.state(target as u32, &mut wanted_room).expect("the store keeps states");
        let mut batch = Batch::new();
        let level = self.starts[level - 1]..self.starts[level];
        // Most of them do not lead there, whatever is chosen. A reduction may choose otherwise by now, or states of its own
        // making; then any way into the state will do.
        for (is_whole, is_chosen) in [(true, true), (false, true), (true, false)] {
            for parent in level.clone() {
                let state = store.state(parent as u32, &mut room).expect("the store keeps states");
                let position = |batch: &Batch<S>| (0..batch.len()).find(|&i| batch.state(i) == wanted);
                if is_whole {
                    batch.clear();
                    run.job.system.successors(state, &mut batch)?;
                    if position(&batch).is_none() {
                        continue;
                    }
                }
                if is_chosen {
                    batch.clear();
                    run.job.reduction.expand(run.job.system, state, &mut batch)?;
                }
                if let Some(i) = position(&batch) {
                    return Ok((parent, batch.via(i)));
                }
            }
        }
        Err(Fault::Broken(format!(
            "a state has lost its predecessor: firing or choosing is not a function of the state ({})",
            run.job.system.show(wanted)
        )))
    }
}
