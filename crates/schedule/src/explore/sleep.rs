//! Sleep sets: whose move would only repeat what was explored before.
//!
//! **Implements** Godefroid's sleep sets: after a step, a process that slept or was explored before that step
//! goes on sleeping if its operation is independent of the step.
//! **Preserves** one run of every class, whatever set of processes is explored in a state, as long as that set is
//! enough without sleep sets.
//! **Checked by** `tests/all/random_programs.rs`.

use super::Fault;
use super::node::Node;
use crate::objects::Relation;
use crate::op::{Op, ProcessId};
use crate::set::Set;
use crate::world::{Effects, World};

/// Who sleeps after the move of a node, in the world before it.
pub(super) fn after(world: &World, node: &Node, op: &Op, fault: Option<Fault>) -> Set {
    let mover = node.turn.process;
    let mut sleep = Set::new();
    if node.sleep.is_empty() && node.done.is_empty() {
        return sleep;
    }
    let effects = world.peek(mover, op, node.turn.choice);
    let mut candidates = node.sleep.clone();
    candidates.extend(&node.done);
    for process in candidates.iter().filter(|&process| process != mover) {
        let Some(other) = world.pending(process) else { continue };
        let would = world.peek(process, other, 0);
        let relation = world.relation((mover, op, &effects), (process, other, &would));
        if relation == Relation::Independent || fault == Some(Fault::DeepSleep) {
            sleep.insert(process);
        }
    }
    sleep
}

/// What those who sleep would do.
pub(super) fn labels(world: &World, sleep: &Set) -> Vec<(ProcessId, Op, Effects)> {
    let label = |process| {
        let op = world.pending(process)?.clone();
        let effects = world.peek(process, &op, 0);
        Some((process, op, effects))
    };
    sleep.iter().filter_map(label).collect()
}
