//! A livelock that is come to as soon as possible.
//!
//! **Implements** a breadth-first search for the first state that lies on a cycle of moves without the guard where the
//! condition holds. Whether a state does is found by Tarjan's algorithm over such moves; each state is looked at once,
//! whatever state it was come to from. The cycle is then the shortest through that state.
//! **Preserves** nothing: it is asked only when there is a livelock, and if it takes too long there is no answer.
//! **Differs from the text** in that a state from which its own search comes back is known at once.
//! **Checked by** brute force on random networks (`oracle`) and by the depth of the livelock in token rings.

use super::walk::Walk;
use super::{Cycle, Halt};
use crate::run::no_room;
use crate::{Limits, Stats, Stop, Watch};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use stubborn_reduce::Reduction;
use stubborn_store::{Entry, Exact, Store};
use stubborn_system::{Batch, System, TransitionId};

/// Where a livelock is, and how long it may take to find the nearest.
pub struct NearestJob<'a, Y: System + ?Sized> {
    /// The system.
    pub system: &'a Y,
    /// What to fire in each state; a function of the state.
    pub reduction: &'a mut dyn Reduction<Y>,
    /// Whether the condition holds in a state.
    pub condition: &'a dyn Fn(&Y::State) -> bool,
    /// Whether the guard of the condition takes part in a transition.
    pub takes_part: &'a dyn Fn(TransitionId) -> bool,
    /// Who looks at the clock.
    pub watch: &'a mut dyn Watch,
    /// When to give up.
    pub limits: Limits,
}

/// The livelock with the shortest way to it; `None` if there is none, or no time to find it.
pub fn nearest_livelock<Y: System + ?Sized>(job: NearestJob<'_, Y>) -> Option<Cycle> {
    let mut search = Nearest {
        job,
        store: Exact::new(),
        single: Batch::new(),
        entries: Vec::new(),
        ways: Vec::new(),
        visits: Vec::new(),
        on_cycle: FixedBitSet::new(),
        stats: Stats::default(),
    };
    match search.run() {
        Err(Halt::Cycle(cycle)) => Some(cycle),
        _ => None,
    }
}

/// A state that Tarjan's algorithm has left for good, and one that it has not met.
const DONE: u32 = u32::MAX;
const NEW: u32 = 0;

struct Nearest<'a, Y: System + ?Sized> {
    job: NearestJob<'a, Y>,
    store: Exact<Y::State>,
    single: Batch<Y::State>,
    entries: Vec<Entry>,
    /// Of each state that was come to: from where and how.
    ways: Vec<Option<(u32, TransitionId)>>,
    /// Of each state: its number on the stack of components, from one.
    visits: Vec<u32>,
    on_cycle: FixedBitSet,
    stats: Stats,
}

impl<Y: System + ?Sized> Nearest<'_, Y> {
    fn run(&mut self) -> Result<(), Halt> {
        let mut first = Batch::new();
        self.job.system.initial(&mut first)?;
        let first = self.number(&first, 0)?;
        self.ways[first as usize] = Some((first, TransitionId(0)));
        let mut queue = vec![first];
        let mut successors = Batch::new();
        let mut next = 0;
        while let Some(&state) = queue.get(next) {
            next += 1;
            if self.is_on_cycle(state)? {
                return Err(Halt::Cycle(self.cycle(state)?));
            }
            self.expand(state, &mut successors)?;
            for i in 0..successors.len() {
                let target = self.number(&successors, i)?;
                if self.ways[target as usize].is_none() {
                    self.ways[target as usize] = Some((state, successors.via(i)));
                    queue.push(target);
                }
            }
        }
        Ok(())
    }

    /// The number of a state of a batch.
    fn number(&mut self, batch: &Batch<Y::State>, i: usize) -> Result<u32, Halt> {
        self.single.clear();
        self.single.push(batch.via(i), batch.state(i));
        self.entries.clear();
        let limit = self.job.limits.bytes;
        let used = self.store.bytes() + 16 * self.ways.capacity();
        let inserted = self.store.insert(&self.single, limit.saturating_sub(used), &mut self.entries);
        inserted.map_err(|full| Halt::Stop(no_room(&full, limit)))?;
        if self.entries[0].is_new() {
            if self.stats.states == self.job.limits.states {
                return Err(Halt::Stop(Stop::States { limit: self.job.limits.states }));
            }
            self.stats.states += 1;
            self.ways.push(None);
            self.visits.push(NEW);
            self.on_cycle.grow(self.ways.len());
            if self.stats.states.is_multiple_of(1024)
                && let Some(stop) = self.job.watch.tick(&self.stats)
            {
                return Err(Halt::Stop(stop));
            }
        }
        Ok(self.entries[0].id())
    }

    fn expand(&mut self, state: u32, out: &mut Batch<Y::State>) -> Result<(), Halt> {
        out.clear();
        let mut room = Default::default();
        let state = self.store.state(state, &mut room).expect("the store keeps states");
        self.job.reduction.expand(self.job.system, state, out)?;
        Ok(())
    }

    fn holds(&self, state: u32) -> bool {
        let mut room = Default::default();
        (self.job.condition)(self.store.state(state, &mut room).expect("the store keeps states"))
    }

    /// Whether moves without the guard lead from a state back to it, and the condition holds there.
    fn is_on_cycle(&mut self, root: u32) -> Result<bool, Halt> {
        if self.visits[root as usize] == DONE || !self.holds(root) {
            return Ok(self.on_cycle.contains(root as usize));
        }
        let mut walk: Walk<Y::State> = Walk::new();
        let mut one = Batch::new();
        // The states of the walk, each with the lowest number on the stack that it can come to.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut stack: Vec<u32> = Vec::new();
        let mut entered = Some(root);
        loop {
            if let Some(state) = entered.take() {
                let mut room = Default::default();
                let vector = self.store.state(state, &mut room).expect("the store keeps states");
                walk.enter(self.job.system, self.job.reduction, vector, TransitionId(0))?;
                stack.push(state);
                self.visits[state as usize] = stack.len() as u32;
                open.push((state, stack.len() as u32));
            }
            let Some(&(state, low)) = open.last() else { return Ok(false) };
            if let Some(place) = walk.next() {
                let (t, target) = walk.successor(place);
                if (self.job.takes_part)(t) {
                    continue;
                }
                one.clear();
                one.push(t, target);
                let target = self.number(&one, 0)?;
                if target == root {
                    return Ok(true);
                }
                match self.visits[target as usize] {
                    NEW => entered = Some(target),
                    DONE => {}
                    // A loop at one state is a cycle, although its component has one state.
                    _ if target == state => self.on_cycle.insert(state as usize),
                    visit => lower(&mut open, visit),
                }
                continue;
            }
            walk.leave();
            open.pop();
            if low == self.visits[state as usize] {
                let component = stack.split_off(low as usize - 1);
                for &member in &component {
                    self.visits[member as usize] = DONE;
                    if component.len() > 1 {
                        self.on_cycle.insert(member as usize);
                    }
                }
            } else {
                lower(&mut open, low);
            }
        }
    }

    /// The way to a state that is on a cycle, and the shortest cycle through it.
    fn cycle(&mut self, start: u32) -> Result<Cycle, Halt> {
        let mut steps = Vec::new();
        let mut at = start;
        while let Some((from, via)) = self.ways[at as usize]
            && from != at
        {
            steps.push(via);
            at = from;
        }
        steps.reverse();
        let start_of_cycle = steps.len();
        let mut from: FxHashMap<u32, (u32, TransitionId)> = FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([start]);
        let mut successors = Batch::new();
        while let Some(state) = queue.pop_front() {
            self.expand(state, &mut successors)?;
            for i in 0..successors.len() {
                let t = successors.via(i);
                if (self.job.takes_part)(t) {
                    continue;
                }
                let target = self.number(&successors, i)?;
                if from.contains_key(&target) {
                    continue;
                }
                from.insert(target, (state, t));
                if target != start {
                    queue.push_back(target);
                    continue;
                }
                let mut back = Vec::new();
                let mut at = start;
                loop {
                    let (before, via) = from[&at];
                    back.push(via);
                    at = before;
                    if at == start {
                        steps.extend(back.into_iter().rev());
                        return Ok(Cycle { steps, start: start_of_cycle });
                    }
                }
            }
        }
        Err(Halt::Stop(Stop::States { limit: self.stats.states }))
    }
}

fn lower(open: &mut [(u32, u32)], low: u32) {
    if let Some(last) = open.last_mut() {
        last.1 = last.1.min(low);
    }
}
