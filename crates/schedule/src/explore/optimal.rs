//! Wake-up trees: sequences that races demand, instead of single processes.
//!
//! **Implements** Optimal-DPOR (Abdulla, Aronis, Jonsson, Sagonas, 2017). At the end of a run, for each race of `e` with
//! `x`, the sequence `v` (all events that `e` does not happen before, then `x`) is inserted into the tree of the
//! state before `e`, unless a sleeping process could begin it or the tree has it.
//! **Preserves** a run of every class; of programs that only read and write no run is a repetition.
//! **Differs from the text** in that only races of events that are new in a run are looked at: those of the repeated
//! beginning were looked at before. Where an operation of the tree touches an object that was created behind the
//! tree's root, two runs may number it differently, so it counts as dependent on everything. Of an operation
//! with several outcomes all are explored, those that are not in the tree with nothing to follow.
//! Where a relation is in doubt, the search begins again with source sets.
//! **Checked by** `tests/random_programs.rs` and the counts of `tests/counts.rs`.

use super::search::{Explorer, Node};
use super::source::{Racer, conflicts, precedes_racer, racer_of_event, waiters};
use crate::objects::Relation;
use crate::op::{Op, ProcessId};
use crate::program::Program;
use crate::trace::Event;
use crate::world::Effects;
use smallvec::{SmallVec, smallvec};

/// A branch of a wake-up tree: a move, and what is to follow it.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) process: ProcessId,
    pub(super) choice: u32,
    /// What the process does there, unless it was chosen freely.
    /// What comes of it, unless it is a racer.
    label: Option<(Op, Option<Effects>)>,
    pub(super) children: Vec<Branch>,
}

impl Branch {
    /// A move that was chosen freely.
    pub(super) fn alone(process: ProcessId) -> Branch {
        Branch { process, choice: 0, label: None, children: Vec::new() }
    }
}

/// The next process to be explored at a node whose present move is done.
pub(super) fn next(node: &mut Node) -> Option<ProcessId> {
    let done = node.turn.process;
    node.tree.retain(|branch| branch.process != done);
    while let Some(branch) = node.tree.first() {
        if node.enabled.contains(branch.process) && !node.sleep.contains(branch.process) {
            return Some(branch.process);
        }
        node.tree.remove(0);
    }
    None
}

/// Notes what was done at a node that is left.
pub(super) fn leave(node: &mut Node, event: &Event) {
    if !node.asleep.iter().any(|(process, ..)| *process == event.process) {
        node.asleep.push((event.process, event.op.clone(), event.effects.clone()));
    }
}

/// Looks at the races of all events from a number on, and of those who wait.
pub(super) fn all_races<P: Program + ?Sized>(search: &mut Explorer<'_, P>, first: u32) {
    for event in first..search.trace.len() as u32 {
        if let Some(racer) = racer_of_event(search, event) {
            insert_races(search, &racer);
        }
    }
    for racer in waiters(search) {
        insert_races(search, &racer);
    }
}

fn insert_races<P: Program + ?Sized>(search: &mut Explorer<'_, P>, racer: &Racer) {
    let mut seen: SmallVec<[u32; 8]> = SmallVec::new();
    for (e, relation) in conflicts(search, racer) {
        if seen.iter().any(|&later| search.trace.before(e, later)) || (e as usize) < search.floor {
            continue;
        }
        insert_race(search, e, racer);
        // A sequence that may not be possible is no wake-up sequence.
        search.in_doubt |= relation == Relation::Doubtful;
        seen.push(e);
    }
}

/// A member of `v`.
#[derive(Clone)]
struct Member {
    process: ProcessId,
    choice: u32,
    op: Op,
    effects: Effects,
    /// Its number; none for the racer, which is the last.
    event: Option<u32>,
}

fn insert_race<P: Program + ?Sized>(search: &mut Explorer<'_, P>, e: u32, racer: &Racer) {
    let v = sequence(search, e, racer);
    let node = &search.nodes[e as usize];
    // Before the sequence comes to the racer, everything in it is as it was. The racer must be able to move.
    let covered = node.asleep.iter().any(|(process, op, effects)| {
        (node.sleep.contains(*process) || node.done.contains(*process))
            && is_weak_initial(search, racer, &v, *process, Some((op, Some(effects))), u32::MAX).is_some()
    });
    if !covered {
        let mut tree = std::mem::take(&mut search.nodes[e as usize].tree);
        insert(search, racer, &mut tree, v, search.nodes[e as usize].n_objects);
        search.nodes[e as usize].tree = tree;
    }
}

/// The events that `e` does not happen before, and the racer.
fn sequence<P: Program + ?Sized>(search: &Explorer<'_, P>, e: u32, racer: &Racer) -> Vec<Member> {
    let member = |k: u32| {
        let event = &search.trace.events()[k as usize];
        let (op, effects) = (event.op.clone(), event.effects.clone());
        Member { process: event.process, choice: event.choice, op, effects, event: Some(k) }
    };
    let after = e + 1..search.trace.len() as u32;
    let is_free = |k: &u32| Some(*k) != racer.event && !search.trace.before(e, *k);
    let mut v: Vec<Member> = after.filter(is_free).map(member).collect();
    v.push(Member {
        process: racer.process,
        choice: 0,
        op: racer.op.clone(),
        effects: racer.effects.clone(),
        event: None,
    });
    v
}

/// Whether a process can begin `v`: its first event in `v` has nothing before it there (then the place of that event
/// is given), or it has none and its operation is independent of all of `v`.
fn is_weak_initial<P: Program + ?Sized>(
    search: &Explorer<'_, P>,
    racer: &Racer,
    v: &[Member],
    process: ProcessId,
    label: Option<(&Op, Option<&Effects>)>,
    n_objects: u32,
) -> Option<Option<usize>> {
    if let Some(place) = v.iter().position(|member| member.process == process) {
        let precedes = |u: &Member| match (u.event, v[place].event) {
            (Some(u), Some(k)) => search.trace.before(u, k),
            (Some(u), None) => precedes_racer(search, u, racer),
            _ => false,
        };
        return (!v[..place].iter().any(precedes)).then_some(Some(place));
    }
    let (op, effects) = label?;
    let known = op.parts.iter().all(|part| part.object < n_objects);
    // What came of the racer is not what will come of it in its new place.
    let independent = |member: &Member| match (member.event, effects) {
        (Some(_), Some(effects)) => {
            let other = (member.process, &member.op, &member.effects);
            search.world.relation((process, op, effects), other) == Relation::Independent
        }
        _ => search.world.commutes(op, &member.op),
    };
    (known && v.iter().all(independent)).then_some(None)
}

fn insert<P: Program + ?Sized>(
    search: &Explorer<'_, P>,
    racer: &Racer,
    tree: &mut Vec<Branch>,
    mut v: Vec<Member>,
    n_objects: u32,
) {
    let mut level = tree;
    loop {
        let found = level.iter().enumerate().find_map(|(i, branch)| {
            let label = branch.label.as_ref().map(|(op, effects)| (op, effects.as_ref()));
            let place = is_weak_initial(search, racer, &v, branch.process, label, n_objects)?;
            // Other outcomes of the same move are branches of their own.
            let fits = place.is_none_or(|place| v[place].choice == branch.choice);
            fits.then_some((i, place))
        });
        let Some((i, place)) = found else {
            level.push(chain(v));
            return;
        };
        if let Some(place) = place {
            v.remove(place);
        }
        if v.is_empty() || level[i].children.is_empty() {
            return;
        }
        level = &mut level[i].children;
    }
}

/// A branch that is a sequence.
fn chain(v: Vec<Member>) -> Branch {
    let mut below: SmallVec<[Branch; 1]> = smallvec![];
    for member in v.into_iter().rev() {
        let Member { process, choice, op, effects, event } = member;
        let effects = event.map(|_| effects);
        let children = below.into_iter().collect();
        below = smallvec![Branch { process, choice, label: Some((op, effects)), children }];
    }
    below.pop().unwrap_or_else(|| Branch::alone(0))
}
