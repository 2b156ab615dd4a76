//! Loops that wait: a thread that repeats the same reads and gets the same waits until one of them would get something else.
//! Attempts that fail (`try_lock`, `try_recv`) and questions (`is_finished`) are reads, too.
//!
//! A loop with `yield_now` or `spin_loop` is noticed when it has read the same twice; one without, when it has
//! done so `spin_after` times. Then it is tried out: it gets the same again, without anybody else moving, for `ROUNDS` rounds.
//! If it has gone round so often, it is taken to wait, and the exploration begins again with this knowledge; the number of such
//! assumptions is in the report. If it does something else before (it gives up after some rounds), it never waits: every one of its
//! reads is a step. `tests/all/gaps.rs` has loops of both kinds.

use super::state::{State, with_state};
use super::turn;
use std::collections::HashSet;
use stubborn_schedule::objects::EMPTY;
use stubborn_schedule::{Action, Attempt, Part, ProcessId};

/// What a thread has read since it last did anything else.
#[derive(Default)]
pub(crate) struct Spin {
    reads: Vec<(u64, Part, u64)>,
    /// Where `yield_now` was called, as lengths of `reads`.
    yields: Vec<usize>,
    /// The loop that is being tried out.
    trial: Option<Trial>,
}

/// A loop that gets the same again and again: the last reads of its thread.
#[derive(Clone, Copy)]
struct Trial {
    key: (u64, ProcessId),
    period: usize,
    n_reads: usize,
}

/// What is known of loops, by the place of the read at which they were noticed, and the thread.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    waiting: HashSet<(u64, ProcessId)>,
    bounded: HashSet<(u64, ProcessId)>,
}

/// Loops of at most so many reads are noticed.
const MAX_PERIOD: usize = 8;
/// A loop that goes round so often goes round for ever.
const ROUNDS: usize = 10_000;

/// What an operation is to a loop that waits.
enum Outcome {
    /// It has done something.
    Did,
    /// It has got something that will change when this can be done.
    Read(Action),
    /// It has got something that will never change.
    Known,
}

/// An action, if it may be one of a loop that waits.
#[inline(always)]
pub(super) fn may_spin(part: Part) -> Option<Part> {
    use Action::{
        CompareExchange, IsComplete, IsFinished, Read, TryAcquire, TryLock, TryReadLock, TryReceive,
        TryWriteLock,
    };
    match part.action {
        Read
        | CompareExchange { .. }
        | TryLock
        | TryReadLock
        | TryWriteLock
        | TryAcquire
        | TryReceive
        | IsComplete
        | IsFinished => Some(part),
        _ => None,
    }
}

fn outcome(action: Action, out: u64) -> Outcome {
    let retry = |attempt| Outcome::Read(Action::Retry(attempt));
    match (action, out) {
        (Action::Read, _) => Outcome::Read(Action::Await(out)),
        (Action::CompareExchange { expected, .. }, _) if expected != out => Outcome::Read(Action::Await(out)),
        (Action::TryLock, 0) => retry(Attempt::Lock),
        (Action::TryReadLock, 0) => retry(Attempt::ReadLock),
        (Action::TryWriteLock, 0) => retry(Attempt::WriteLock),
        (Action::TryAcquire, 0) => retry(Attempt::Acquire),
        (Action::TryReceive, EMPTY) => retry(Attempt::Receive),
        (Action::IsComplete, 0) => retry(Attempt::Completion),
        (Action::IsFinished, 0) => retry(Attempt::End),
        (Action::IsComplete | Action::IsFinished, _) => Outcome::Known,
        _ => Outcome::Did,
    }
}

/// What to do with an operation of a thread of which something is noted.
pub(super) enum Before {
    /// To do it.
    Do,
    /// To wait first until something has changed.
    Wait(Vec<Part>),
    /// To get the same again.
    Again(u64),
    /// To begin the exploration again: something was learned of a loop.
    Learned,
}

/// Before an operation; `part` is given if it may be one of a loop that waits.
pub(super) fn before(state: &mut State, site: u64, part: Option<Part>) -> Before {
    let loops = state.settings.loops.clone();
    let mut loops = loops.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let spin_after = state.settings.spin_after;
    let spin = &mut state.me().spin;
    if spin.trial.is_some() {
        return spin.go_on(site, part, &mut loops);
    }
    let Some(part) = part else {
        spin.clear();
        return Before::Do;
    };
    let Some(period) = spin.period(site, &part, spin_after) else { return Before::Do };
    let key = (site, turn::current());
    if loops.bounded.contains(&key) {
        spin.clear();
        return Before::Do;
    }
    let parts = spin.awaited(period);
    if parts.is_empty() {
        return Before::Do;
    }
    if !loops.waiting.contains(&key) {
        spin.trial = Some(Trial { key, period, n_reads: 0 });
        return spin.go_on(site, Some(part), &mut loops);
    }
    spin.clear();
    state.n_spins += 1;
    Before::Wait(parts)
}

/// After an operation that may be one of a loop that waits: notes what was read, or that something was done.
pub(super) fn after(site: u64, part: Part, out: u64) {
    let reads = !matches!(outcome(part.action, out), Outcome::Did);
    if !reads && !turn::is_noted() {
        return;
    }
    with_state(|state| {
        let spin = &mut state.me().spin;
        if reads {
            spin.reads.push((site, part, out))
        } else {
            spin.clear()
        }
        turn::set_noted(reads);
    });
}

/// Notes that a thread has nothing better to do.
pub(crate) fn hint() {
    if super::switch::is_task() {
        with_state(|state| {
            let spin = &mut state.me().spin;
            if spin.trial.is_none() {
                let here = spin.reads.len();
                spin.yields.push(here);
                turn::set_noted(true);
            }
        });
    }
}

/// The end of a thread: true if it has left a loop that was being tried out.
pub(crate) fn ends(state: &mut State) -> bool {
    let loops = state.settings.loops.clone();
    let mut loops = loops.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let trial = state.me().spin.trial.take();
    trial.is_some_and(|trial| loops.bounded.insert(trial.key))
}

impl Spin {
    /// Something else was done.
    pub(super) fn clear(&mut self) {
        self.reads.clear();
        self.yields.clear();
        self.trial = None;
    }

    /// The next operation of a loop that is being tried out.
    fn go_on(&mut self, site: u64, part: Option<Part>, loops: &mut Loops) -> Before {
        let Some(trial) = &mut self.trial else { return Before::Do };
        let next = self.reads[self.reads.len() - trial.period + trial.n_reads % trial.period];
        if Some((next.0, next.1)) != part.map(|part| (site, part)) {
            loops.bounded.insert(trial.key);
            return Before::Learned;
        }
        trial.n_reads += 1;
        if trial.n_reads == ROUNDS * trial.period {
            loops.waiting.insert(trial.key);
            return Before::Learned;
        }
        Before::Again(next.2)
    }

    /// What the last reads wait for.
    fn awaited(&self, period: usize) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for (_, read, out) in &self.reads[self.reads.len() - period..] {
            if let Outcome::Read(action) = outcome(read.action, *out) {
                let awaited = Part { object: read.object, action };
                if !parts.contains(&awaited) {
                    parts.push(awaited);
                }
            }
        }
        parts
    }

    /// The length of the loop whose next operation this is.
    fn period(&self, site: u64, part: &Part, spin_after: usize) -> Option<usize> {
        if let [.., before, last] = self.yields.as_slice() {
            let first = self.yields.len().checked_sub(3).map_or(0, |i| self.yields[i]);
            let (one, two) = (&self.reads[first..*before], &self.reads[*before..*last]);
            if *last == self.reads.len()
                && !two.is_empty()
                && one == two
                && (two[0].0, two[0].1) == (site, *part)
            {
                return Some(two.len());
            }
        }
        (1..=MAX_PERIOD).find(|&period| {
            let n = self.reads.len();
            n >= period * spin_after
                && (self.reads[n - period].0, self.reads[n - period].1) == (site, *part)
                && (n - period * (spin_after - 1)..n).all(|i| self.reads[i] == self.reads[i - period])
        })
    }
}
