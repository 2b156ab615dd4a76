//! Wake-up trees: sequences that races demand, instead of single processes.
//!
//! **Implements** Optimal-DPOR (Abdulla, Aronis, Jonsson, Sagonas, 2017). At the end of a run, for each race of `e` with
//! `x`, the sequence `v` (all events that `e` does not happen before, then `x`) is inserted into the tree of the
//! state before `e`, unless a sleeping process could begin it or the tree has it.
//! **Preserves** a run of every class; of programs that only read and write no run is a repetition.
//! **Differs from the text** in that only races of events that are new in a run are looked at: those of the repeated
//! beginning were looked at before. What came of a racer is not what will come of it in its new place, and a tree that is not exact
//! misses runs: where independence depends on that, the search begins again with source sets. An operation that touches an object that was created behind the tree's root is looked up in the present run, because
//! two runs may number such objects differently. Of an operation
//! with several outcomes all are explored, those that are not in the tree with nothing to follow.
//! Where a relation is in doubt, the search begins again with source sets.
//! **Checked by** `tests/all/random_programs.rs` and the counts of `tests/all/counts.rs`.

use super::node::Node;
use super::search::Explorer;
use super::source::{Racer, conflicts, precedes_racer, racer_of_event, waiters};
use crate::objects::Relation;
use crate::op::{Action, Op, ProcessId};
use crate::program::Program;
use crate::trace::Event;
use crate::world::Effects;
use smallvec::{SmallVec, smallvec};

/// A branch of a wake-up tree: a move, and what is to follow it.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub(super) process: ProcessId,
    pub(super) choice: u32,
    /// What the process does there, unless it was chosen freely or touches what another run may number differently.
    /// With what came of it, if that is known.
    op: Option<(Op, Option<Effects>)>,
    pub(super) children: Vec<Branch>,
}

impl Branch {
    /// A move that was chosen freely.
    pub(super) fn alone(process: ProcessId) -> Branch {
        Branch { process, choice: 0, op: None, children: Vec::new() }
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
    /// What came of it, unless it is the racer: that will be in another place.
    effects: Option<Effects>,
    /// Its number; none for the racer, which is the last.
    event: Option<u32>,
}

fn insert_race<P: Program + ?Sized>(search: &mut Explorer<'_, P>, e: u32, racer: &Racer) {
    let v = sequence(search, e, racer);
    let node = &search.nodes[e as usize];
    // Before the sequence comes to the racer, everything in it is as it was. The racer must be able to move.
    let sleeps = |process| node.sleep.contains(process) || node.done.contains(process);
    let begins = node.asleep.iter().filter(|(process, ..)| sleeps(*process)).map(|(process, op, effects)| {
        is_weak_initial(search, racer, &v, *process, Some((op, Some(effects))))
    });
    let (mut covered, mut unknown) = (false, false);
    for begins in begins {
        covered |= matches!(begins, Begins::With(_) | Begins::Aside);
        unknown |= begins == Begins::Unknown;
    }
    search.in_doubt |= unknown && !covered;
    if !covered {
        let mut tree = std::mem::take(&mut search.nodes[e as usize].tree);
        let is_exact = insert(search, racer, &mut tree, v, e);
        search.in_doubt |= !is_exact;
        search.nodes[e as usize].tree = tree;
    }
}

/// The events that `e` does not happen before, and the racer.
fn sequence<P: Program + ?Sized>(search: &Explorer<'_, P>, e: u32, racer: &Racer) -> Vec<Member> {
    let member = |k: u32| {
        let event = &search.trace.events()[k as usize];
        let (op, effects) = (event.op.clone(), Some(event.effects.clone()));
        Member { process: event.process, choice: event.choice, op, effects, event: Some(k) }
    };
    let after = e + 1..search.trace.len() as u32;
    let is_free = |k: &u32| Some(*k) != racer.event && !search.trace.before(e, *k);
    let mut v: Vec<Member> = after.filter(is_free).map(member).collect();
    let op = racer.op.clone();
    v.push(Member { process: racer.process, choice: 0, op, effects: None, event: None });
    v
}

/// Whether and how a process can begin `v`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// With its first event there, at this place.
    With(usize),
    /// It has no event there, and what it does is independent of all of `v`.
    Aside,
    /// It cannot.
    Not,
    /// That depends on what comes of operations in their new places.
    Unknown,
}

/// Whether a process can begin `v`, if it does this there.
fn is_weak_initial<P: Program + ?Sized>(
    search: &Explorer<'_, P>,
    racer: &Racer,
    v: &[Member],
    process: ProcessId,
    op: Option<(&Op, Option<&Effects>)>,
) -> Begins {
    if let Some(place) = v.iter().position(|member| member.process == process) {
        let precedes = |u: &Member| match (u.event, v[place].event) {
            (Some(u), Some(k)) => search.trace.before(u, k),
            (Some(u), None) => precedes_racer(search, u, racer),
            _ => false,
        };
        let is_first = !v[..place].iter().any(precedes);
        return if is_first { Begins::With(place) } else { Begins::Not };
    }
    let Some((op, effects)) = op else { return Begins::Unknown };
    let mut begins = Begins::Aside;
    for member in v {
        match independence(search, process, (op, effects), member) {
            Some(true) => {}
            Some(false) => return Begins::Not,
            None => begins = Begins::Unknown,
        }
    }
    begins
}

/// Whether an operation is independent of a member of `v`, if that is known.
fn independence<P: Program + ?Sized>(
    search: &Explorer<'_, P>,
    process: ProcessId,
    (op, effects): (&Op, Option<&Effects>),
    member: &Member,
) -> Option<bool> {
    // Ranks of arrivals change with every process that comes before.
    let has_rank = |op: &Op| op.parts.iter().any(|part| part.action == Action::Arrive);
    let is_ranked = has_rank(op) && has_rank(&member.op);
    if let (Some(one), Some(two), false) = (effects, &member.effects, is_ranked) {
        let relation = search.world.relation((process, op, one), (member.process, &member.op, two));
        return Some(relation == Relation::Independent);
    }
    match search.world.commutes(op, &member.op) {
        true => Some(true),
        false => search.world.never_commutes(op, &member.op).then_some(false),
    }
}

/// Inserts a sequence. False if it is not known what a process of the tree does: then nothing is known.
fn insert<P: Program + ?Sized>(
    search: &Explorer<'_, P>,
    racer: &Racer,
    tree: &mut Vec<Branch>,
    mut v: Vec<Member>,
    e: u32,
) -> bool {
    let n_objects = search.nodes[e as usize].n_objects;
    let mut level = tree;
    // The moves on the way down, and whether all of them are moves of this run.
    let mut path: Vec<ProcessId> = Vec::new();
    let mut strange: Vec<ProcessId> = Vec::new();
    let mut is_exact = true;
    loop {
        let mut found = None;
        for (i, branch) in level.iter().enumerate() {
            let n = path.iter().filter(|&&process| process == branch.process).count();
            let here = (!strange.contains(&branch.process)).then(|| next_op(search, e, branch.process, n));
            let op = match &branch.op {
                Some((op, effects)) => Some((op, effects.as_ref())),
                None => here.flatten().map(|op| (op, None)),
            };
            match is_weak_initial(search, racer, &v, branch.process, op) {
                // Other outcomes of the same move are branches of their own.
                Begins::With(place) if v[place].choice == branch.choice => found = Some((i, Some(place))),
                Begins::Aside => found = Some((i, None)),
                Begins::Unknown => is_exact = false,
                _ => {}
            }
            if found.is_some() {
                break;
            }
        }
        let Some((i, place)) = found else {
            level.push(chain(v, n_objects));
            return is_exact;
        };
        path.push(level[i].process);
        match place {
            Some(place) => {
                v.remove(place);
            }
            None => strange.push(level[i].process),
        }
        if v.is_empty() || level[i].children.is_empty() {
            return is_exact;
        }
        level = &mut level[i].children;
    }
}

/// What a process does after `n` moves behind the beginning of `e`, in this run.
fn next_op<'s, P: Program + ?Sized>(
    search: &'s Explorer<'_, P>,
    e: u32,
    process: ProcessId,
    n: usize,
) -> Option<&'s Op> {
    let events = search.trace.events()[e as usize..].iter();
    let own = events.filter(|event| event.process == process).map(|event| &event.op).nth(n);
    own.or_else(|| search.world.pending(process))
}

/// A branch that is a sequence. Operations on objects that are not known at the root of the tree have no label: in a later
/// run their numbers may mean other objects.
fn chain(v: Vec<Member>, n_objects: u32) -> Branch {
    let mut below: SmallVec<[Branch; 1]> = smallvec![];
    for member in v.into_iter().rev() {
        let Member { process, choice, op, effects, .. } = member;
        let is_known = op.parts.iter().all(|part| part.object < n_objects);
        let op = is_known.then_some((op, effects));
        let children = below.into_iter().collect();
        below = smallvec![Branch { process, choice, op, children }];
    }
    below.pop().unwrap_or_else(|| Branch::alone(0))
}
