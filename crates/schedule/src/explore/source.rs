//! Source sets by race detection.
//!
//! **Implements** Source-DPOR (Abdulla, Aronis, Jonsson, Sagonas: *Source sets: a foundation for optimal dynamic
//! partial order reduction*, 2017). When an event `x` conflicts with an earlier event `e` of another process that
//! does not happen before `x` for another reason, the state before `e` must also be left by somebody who can
//! begin `v`: the events after `e` that `e` does not happen before, and then `x`. Of several such `e` those count
//! that do not happen before another one. Processes that wait for ever are looked at in the same way at
//! the end: they might have come first.
//! **Preserves** a run of every class, with sleep sets.
//! **Differs from the text** in that blocking operations need no special case: an unlock and the lock that it lets
//! through are ordered, not in conflict, so the conflict of that lock is with the lock before. Where the relation
//! is in doubt, everybody who can move in the state before `e` is explored there, and earlier events are looked
//! at too.
//! **Checked by** `tests/all/random_programs.rs`; the faults `DroppedRace`, `EnablingRaces`, `ForgottenWaiters` and
//! `DisagreeingOrder` must be found there.

use super::Fault;
use super::search::Explorer;
use crate::objects::Relation;
use crate::op::{Op, ProcessId};
use crate::program::Program;
use crate::set::Set;
use crate::world::Effects;
use smallvec::SmallVec;

/// An operation that may race with earlier events: an event, or what somebody waits for.
pub(super) struct Racer {
    pub(super) process: ProcessId,
    pub(super) op: Op,
    pub(super) effects: Effects,
    /// Its number, if it is an event.
    pub(super) event: Option<u32>,
}

/// Looks at the races of an event.
pub(super) fn races<P: Program + ?Sized>(search: &mut Explorer<'_, P>, event: u32) {
    if let Some(racer) = racer_of_event(search, event) {
        reverse_races(search, &racer);
    }
}

/// Looks at the races of those who wait.
pub(super) fn races_of_waiters<P: Program + ?Sized>(search: &mut Explorer<'_, P>) {
    for racer in waiters(search) {
        reverse_races(search, &racer);
    }
}

/// Those who cannot move now.
pub(super) fn waiters<P: Program + ?Sized>(search: &Explorer<'_, P>) -> Vec<Racer> {
    let waits = |(process, op): &(ProcessId, &Op)| !search.world.is_enabled(*process, op);
    let racer = |(process, op): (ProcessId, &Op)| {
        let effects = search.world.peek(process, op, 0);
        Racer { process, op: op.clone(), effects, event: None }
    };
    search.world.waiting().filter(waits).map(racer).collect()
}

pub(super) fn racer_of_event<P: Program + ?Sized>(search: &Explorer<'_, P>, event: u32) -> Option<Racer> {
    let at = &search.trace.events()[event as usize];
    (!at.op.parts.is_empty()).then(|| Racer {
        process: at.process,
        op: at.op.clone(),
        effects: at.effects.clone(),
        event: Some(event),
    })
}

fn reverse_races<P: Program + ?Sized>(search: &mut Explorer<'_, P>, racer: &Racer) {
    let mut seen: SmallVec<[u32; 8]> = SmallVec::new();
    for (e, relation) in conflicts(search, racer) {
        if seen.iter().any(|&later| search.trace.before(e, later)) {
            continue;
        }
        search.n_races += 1;
        if search.options.fault == Some(Fault::DroppedRace) && search.n_races.is_multiple_of(3) {
            seen.push(e);
            continue;
        }
        if relation == Relation::Ordered {
            // Only if the mistake is asked for.
            reverse(search, e, racer);
            seen.push(e);
        } else if relation == Relation::Doubtful {
            explore_all(search, e);
        } else if reverse(search, e, racer) {
            seen.push(e);
        }
    }
}

/// Earlier events with which an operation conflicts and that do not happen before it anyway, latest first.
pub(super) fn conflicts<P: Program + ?Sized>(
    search: &Explorer<'_, P>,
    racer: &Racer,
) -> SmallVec<[(u32, Relation); 8]> {
    let end = racer.event.unwrap_or(search.trace.len() as u32);
    let least = match search.options.fault {
        Some(Fault::EnablingRaces) => Relation::Ordered,
        _ => Relation::Doubtful,
    };
    let mut found: SmallVec<[(u32, Relation); 8]> = search
        .trace
        .related(&search.world, racer.process, &racer.op, &racer.effects, end)
        .filter(|&(_, relation)| relation >= least)
        .filter(|&(e, _)| !search.trace.before_racer(e, racer.process, racer.event, &search.world))
        .collect();
    if racer.op.parts.len() > 1 {
        found.sort_unstable_by_key(|found| std::cmp::Reverse(found.0));
        found.dedup_by_key(|found| found.0);
    }
    found
}

/// Whether an event of `v` happens before the racer, which comes behind `v`.
pub(super) fn precedes_racer<P: Program + ?Sized>(search: &Explorer<'_, P>, e: u32, racer: &Racer) -> bool {
    match racer.event {
        Some(event) => search.trace.before(e, event),
        None => {
            let later = (racer.process, &racer.op, &racer.effects);
            search.trace.before_racer(e, racer.process, None, &search.world)
                || search.trace.events()[e as usize].process == racer.process
                || search.trace.relation(&search.world, e, later) != Relation::Independent
        }
    }
}

/// Everybody who can move in the state before `e` is to be explored there.
fn explore_all<P: Program + ?Sized>(search: &mut Explorer<'_, P>, e: u32) {
    let node = &mut search.nodes[e as usize];
    let enabled = node.enabled.clone();
    node.backtrack.extend(&enabled);
}

/// Sees to it that the state before `e` is also left towards the racer. False if that is not known to be possible.
fn reverse<P: Program + ?Sized>(search: &mut Explorer<'_, P>, e: u32, racer: &Racer) -> bool {
    if (e as usize) < search.floor {
        return true;
    }
    let end = racer.event.unwrap_or(search.trace.len() as u32);
    let mut v: SmallVec<[u32; 16]> = SmallVec::new();
    let mut seen = Set::new();
    let mut initials = Set::new();
    for k in e + 1..end {
        if search.trace.before(e, k) {
            continue;
        }
        let process = search.trace.events()[k as usize].process;
        if !seen.contains(process) {
            seen.insert(process);
            if !v.iter().any(|&u| search.trace.before(u, k)) {
                initials.insert(process);
            }
        }
        v.push(k);
    }
    if !seen.contains(racer.process) && !v.iter().any(|&u| precedes_racer(search, u, racer)) {
        initials.insert(racer.process);
    }
    let node = &mut search.nodes[e as usize];
    if initials.meets(&node.backtrack) || initials.meets(&node.sleep) {
        return true;
    }
    let first = match initials.contains(racer.process) {
        true => Some(racer.process),
        false => initials.first(),
    };
    match first.filter(|&process| node.enabled.contains(process)) {
        Some(process) => {
            node.backtrack.insert(process);
            true
        }
        None => {
            explore_all(search, e);
            false
        }
    }
}
