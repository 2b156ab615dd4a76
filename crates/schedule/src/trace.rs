//! A run as a partial order: its events, and which happened before which.
//!
//! **Implements** vector clocks over the relation of `objects`: an event comes after the events of its process, after
//! the event that started its process, and after every earlier event to which it is not independent.
//! **Checked by** `tests/all/random_programs.rs`.

use crate::objects::Relation;
use crate::op::{ObjectId, Op, ProcessId};
use crate::schedule::Turn;
use crate::world::{Effects, Joined, Sequel, World};
use smallvec::SmallVec;

/// A visible operation that was done.
#[derive(Clone, Debug)]
pub struct Event {
    /// Who did it.
    pub process: ProcessId,
    /// Which of the events of this process it is, from 1.
    pub local: u32,
    /// What was done.
    pub op: Op,
    /// Which of several outcomes was chosen.
    pub choice: u32,
    /// What the process got.
    pub out: u64,
    /// What came of each part.
    pub effects: Effects,
    /// What else the process did at once, see `World::follow`.
    pub(crate) sequel: Sequel,
    /// The event before it of the same process.
    previous: Option<u32>,
    /// The last events of the processes whose end was waited for in between, and the event that let the process go on.
    joined: SmallVec<[u32; 4]>,
    clock: (u32, u32),
}

/// The events of a run.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    events: Vec<Event>,
    /// The clocks of all events, one behind the other.
    clocks: Vec<u32>,
    /// Per object, the events that touch it.
    touches: Vec<Vec<u32>>,
    /// Per process, its last event.
    last: Vec<Option<u32>>,
    room: Vec<u32>,
    /// A mistake to make on purpose: attempts that fail do not happen after what made them fail.
    forgets_attempts: bool,
}

impl Trace {
    pub(crate) fn new(forgets_attempts: bool) -> Trace {
        Trace { forgets_attempts, ..Trace::default() }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Forgets all events but the first `n`.
    pub(crate) fn truncate(&mut self, n: usize) {
        while self.events.len() > n {
            let event = self.events.pop().expect("there is one");
            let sequel = event.sequel.iter().map(|(part, _)| part);
            for part in event.op.parts.iter().chain(sequel) {
                // With several actions on an object there is one entry.
                let touches = &mut self.touches[part.object as usize];
                touches.pop_if(|last| *last as usize >= self.events.len());
            }
            self.last[event.process as usize] = event.previous;
            self.clocks.truncate(event.clock.0 as usize);
        }
    }

    fn clock(&self, event: u32) -> &[u32] {
        let (start, len) = self.events[event as usize].clock;
        &self.clocks[start as usize..(start + len) as usize]
    }

    /// Whether an event happened before another, or is it.
    pub(crate) fn before(&self, first: u32, second: u32) -> bool {
        let event = &self.events[first as usize];
        self.clock(second).get(event.process as usize).is_some_and(|&seen| seen >= event.local)
    }

    /// Whether an event happened before what a process did in `event`, or is about to do, for another reason than
    /// that operation.
    pub(crate) fn before_racer(
        &self,
        first: u32,
        process: ProcessId,
        event: Option<u32>,
        world: &World,
    ) -> bool {
        let before = |latest: Option<u32>| latest.is_some_and(|latest| self.before(first, latest));
        match event {
            Some(event) => {
                let event = &self.events[event as usize];
                before(event.previous.or_else(|| world.started(process)))
                    || event.joined.iter().any(|&joined| self.before(first, joined))
            }
            None => {
                before(self.latest(process, world))
                    || world.joined(process).iter().any(|&joined| before(self.latest(joined, world)))
                    || before(world.woken(process))
            }
        }
    }

    /// The event before the next of a process: its last one, or the one that started it.
    fn latest(&self, process: ProcessId, world: &World) -> Option<u32> {
        let own = self.last.get(process as usize).copied().flatten();
        own.or_else(|| world.started(process))
    }

    /// How many events a process has had.
    pub(crate) fn local(&self, process: ProcessId) -> u32 {
        let last = self.last.get(process as usize).copied().flatten();
        last.map_or(0, |event| self.events[event as usize].local)
    }

    /// Earlier events that touch what an operation touches, latest first, with how they relate to it.
    pub(crate) fn related<'t>(
        &'t self,
        world: &'t World,
        process: ProcessId,
        op: &'t Op,
        effects: &'t Effects,
        end: u32,
    ) -> impl Iterator<Item = (u32, Relation)> + 't {
        // With several parts an event may be met more than once; that does no harm.
        op.parts.iter().flat_map(move |part| {
            let touching = self.touches.get(part.object as usize).map_or(&[][..], |t| t.as_slice());
            touching.iter().rev().filter(move |&&e| e < end).filter_map(move |&e| {
                let event = &self.events[e as usize];
                if event.process == process {
                    return None;
                }
                let relation = self.relation(world, e, (process, op, effects));
                (relation != Relation::Independent).then_some((e, relation))
            })
        })
    }

    /// How an event relates to a later operation.
    #[inline]
    pub(crate) fn relation(&self, world: &World, e: u32, later: (ProcessId, &Op, &Effects)) -> Relation {
        let event = &self.events[e as usize];
        world.relation_with_sequel((event.process, &event.op, &event.effects), &event.sequel, later)
    }

    /// Notes what was done as part of the last event. It comes after nothing that the event does not come after: nobody else has had
    /// the lock since the process took it.
    pub(crate) fn follow(&mut self, sequel: &Sequel) {
        let last = self.events.len() as u32 - 1;
        for (part, _) in sequel {
            self.touch(part.object, last);
        }
        self.events[last as usize].sequel = sequel.clone();
    }

    #[inline]
    fn touch(&mut self, object: ObjectId, event: u32) {
        let object = object as usize;
        if object >= self.touches.len() {
            self.touches.resize_with(object + 1, Vec::new);
        }
        if self.touches[object].last() != Some(&event) {
            self.touches[object].push(event);
        }
    }

    /// Adds an event of a process to the world after it; `joined` are the processes whose end it has waited for, `woken` is the event
    /// that let it go on.
    pub(crate) fn push(
        &mut self,
        world: &World,
        turn: Turn,
        op: Op,
        (out, effects): (u64, Effects),
        (joined, woken): (Joined, Option<u32>),
    ) {
        let Turn { process, choice } = turn;
        let ends = joined.iter().filter_map(|&j| self.latest(j, world));
        let joined: SmallVec<[u32; 4]> = ends.chain(woken).collect();
        let mut clock = std::mem::take(&mut self.room);
        clock.clear();
        if let Some(latest) = self.latest(process, world) {
            clock.extend_from_slice(self.clock(latest));
        }
        for &e in &joined {
            let other = self.clock(e);
            if clock.len() < other.len() {
                clock.resize(other.len(), 0);
            }
            clock.iter_mut().zip(other).for_each(|(a, b)| *a = (*a).max(*b));
        }
        let end = self.events.len() as u32;
        let forgotten = self.forgets_attempts && is_failed_attempt(&op, &effects);
        for (e, _) in
            self.related(world, process, &op, &effects, end).take(if forgotten { 0 } else { usize::MAX })
        {
            let event = &self.events[e as usize];
            if clock.get(event.process as usize).is_none_or(|&seen| seen < event.local) {
                let other = self.clock(e);
                if clock.len() < other.len() {
                    clock.resize(other.len(), 0);
                }
                clock.iter_mut().zip(other).for_each(|(a, b)| *a = (*a).max(*b));
            }
        }
        let local = self.local(process) + 1;
        if clock.len() <= process as usize {
            clock.resize(process as usize + 1, 0);
        }
        clock[process as usize] = local;
        for part in &op.parts {
            self.touch(part.object, end);
        }
        if self.last.len() <= process as usize {
            self.last.resize(process as usize + 1, None);
        }
        let previous = self.last[process as usize].replace(end);
        let at = (self.clocks.len() as u32, clock.len() as u32);
        self.clocks.extend_from_slice(&clock);
        self.room = clock;
        let sequel = Sequel::new();
        self.events.push(Event {
            process,
            local,
            op,
            choice,
            out,
            effects,
            sequel,
            previous,
            joined,
            clock: at,
        });
    }
}

fn is_failed_attempt(op: &Op, effects: &Effects) -> bool {
    use crate::op::Action::{TryAcquire, TryLock, TryReadLock, TryWriteLock};
    let attempts = [TryLock, TryAcquire, TryReadLock, TryWriteLock];
    op.parts.first().is_some_and(|part| attempts.contains(&part.action) && effects[0].out == 0)
}
