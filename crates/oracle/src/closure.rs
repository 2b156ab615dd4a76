//! Closing a set under the rules, and the plainest reduced search that can be built on that.
//!
//! The closure expands every member once and takes whichever alternative it is told to take. The search
//! fires the smallest closure of an enabled transition. Both serve to test rules and generators, not to be
//! fast: the real algorithms live elsewhere and share no code with these.

use crate::graph::{FullGraph, not_faulty};
use fixedbitset::FixedBitSet;
use std::collections::HashSet;
use stubborn_system::{Fault, Requirements, Rules, TransitionId, Vector};

/// The smallest set of nodes that contains `start` and, for each member, all of the alternative that
/// `choose` picks from its requirements (by number).
pub fn close<Y: Rules>(
    system: &Y,
    state: &Y::State,
    start: TransitionId,
    mut choose: impl FnMut(&Requirements) -> usize,
) -> Result<Vec<TransitionId>, Fault> {
    let mut is_member = FixedBitSet::with_capacity(system.n_nodes());
    is_member.insert(start.index());
    let mut members = vec![start];
    let mut required = Requirements::default();
    // `members` doubles as the work list: everything before `next` has been expanded.
    let mut next = 0;
    while next < members.len() {
        required.clear();
        system.require(state, members[next], &mut required)?;
        for u in required.alternative(choose(&required)).iter() {
            if !is_member.put(u.index()) {
                members.push(u);
            }
        }
        next += 1;
    }
    Ok(members)
}

/// The number of the first of the smallest alternatives.
pub fn smallest(required: &Requirements) -> usize {
    let size = |&i: &usize| required.alternative(i).len();
    (0..required.n_alternatives()).min_by_key(size).unwrap_or(0)
}

/// The graph that is left if in each state only the enabled members of one stubborn set are fired: of the
/// closures of the enabled transitions, the one with the fewest enabled members.
///
/// Preserves the terminal states and whether the system can run for ever (V15 Theorem 1); nothing else is
/// claimed.
///
/// # Panics
/// If the system is faulty.
pub fn reduced_graph<Y: Rules>(system: &Y, full: &FullGraph<Y::State>) -> Reduced {
    let mut found = HashSet::from([0]);
    let mut terminal = HashSet::new();
    let mut work = vec![0];
    while let Some(i) = work.pop() {
        let fired = fewest_enabled(system, full, i);
        if fired.is_empty() {
            terminal.insert(full.state(i).as_bytes().to_vec());
        }
        for edge in full.outgoing(i).iter().filter(|e| fired.contains(&e.transition)) {
            if found.insert(edge.target) {
                work.push(edge.target);
            }
        }
    }
    Reduced { n_states: found.len(), terminal }
}

/// What a reduced search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// Number of states.
    pub n_states: usize,
    /// The terminal states, as bytes.
    pub terminal: HashSet<Vec<u8>>,
}

fn fewest_enabled<Y: Rules>(system: &Y, full: &FullGraph<Y::State>, i: usize) -> Vec<TransitionId> {
    let enabled: Vec<TransitionId> = full.outgoing(i).iter().map(|e| e.transition).collect();
    let members = |&t: &TransitionId| {
        let mut set = not_faulty(close(system, full.state(i), t, smallest));
        set.retain(|u| enabled.contains(u));
        set
    };
    enabled.iter().map(members).min_by_key(Vec::len).unwrap_or_default()
}
