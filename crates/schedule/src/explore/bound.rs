//! Preemption bounding: few preemptions show most mistakes.
//!
//! **Implements** Musuvathi and Qadeer's bound on preemptions: switches away from a process that could have gone on.
//! **Preserves** nothing: a search that left out runs is inconclusive. It is a first pass.

use super::Options;
use super::node::Node;
use crate::op::ProcessId;
use crate::set::Set;

/// Preemptions before a state, given the node above it.
pub(super) fn preemptions(above: Option<&Node>, _enabled: &Set) -> u32 {
    above.map_or(0, |node| node.preemptions + u32::from(node.preempts))
}

/// Whether a move is a preemption.
pub(super) fn is_preemption(previous: Option<ProcessId>, process: ProcessId, enabled: &Set) -> bool {
    previous.is_some_and(|previous| previous != process && enabled.contains(previous))
}

/// Whether a move would be one preemption too many.
pub(super) fn exceeded(
    options: &Options,
    previous: Option<ProcessId>,
    preemptions: u32,
    process: ProcessId,
    enabled: &Set,
) -> bool {
    let before = preemptions + u32::from(is_preemption(previous, process, enabled));
    options.preemptions.is_some_and(|max| before > max)
}

/// Somebody whose move is not too many.
pub(super) fn within(
    options: &Options,
    previous: Option<ProcessId>,
    preemptions: u32,
    candidates: &Set,
    enabled: &Set,
) -> Option<ProcessId> {
    candidates.iter().find(|&process| !exceeded(options, previous, preemptions, process, enabled))
}
