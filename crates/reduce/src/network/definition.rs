//! The definition of stubborn sets, for sets of steps.
//!
//! **Implements** D0, D1 and D2 over what is reachable by steps outside the set, with the reference interpreter
//! and nothing of the tables: members that are enabled stay enabled, members that are disabled stay disabled,
//! and where an outside step and then a member lead, the member and then the outside step lead, too. Transitions
//! that begin with the same step count as one.
//! **Checked by** the tests of this crate on all models, which it would fail if a rule were wrong.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use stubborn_network::{Micro, Network, StepId};
use stubborn_system::Fault;

/// The states that the transitions of each step of each process lead to.
type Groups = BTreeMap<(usize, u32), BTreeSet<Vec<u8>>>;

fn groups(network: &Network, state: &[u8]) -> Groups {
    let mut groups = Groups::new();
    for successor in network.expand(state).successors {
        let Micro { pid, step } = successor.trail[0];
        groups.entry((pid, step.0)).or_default().insert(successor.state);
    }
    groups
}

/// A set of steps at a state, held against the definition with at most `budget` comparisons of two orders.
pub(super) fn check(network: &Network, state: &[u8], set: &[Micro], mut budget: u64) -> Result<(), Fault> {
    let members: BTreeSet<(usize, u32)> = set.iter().map(|m| (m.pid, m.step.0)).collect();
    let name = |g: &(usize, u32)| network.micro_name(Micro { pid: g.0, step: StepId(g.1) });
    let fault = |condition: &'static str, what: String| {
        let set: Vec<String> = members.iter().map(name).collect();
        let explanation = format!("{what}; the set is {{{}}}", set.join(", "));
        Err(Fault::Rules { condition, explanation })
    };
    let here = groups(network, state);
    if !here.is_empty() && !here.keys().any(|g| members.contains(g)) {
        return fault("D0", "nothing in the set is enabled".into());
    }
    let mut seen: HashSet<Vec<u8>> = HashSet::from([state.to_vec()]);
    let mut queue = VecDeque::from([state.to_vec()]);
    while let Some(at) = queue.pop_front() {
        let now = groups(network, &at);
        for member in &members {
            match (here.contains_key(member), now.contains_key(member)) {
                (true, false) => return fault("D2", format!("{} is disabled by others", name(member))),
                (false, true) => return fault("D1", format!("{} is enabled by others", name(member))),
                _ => {}
            }
        }
        for (u, leads) in now.iter().filter(|(g, _)| !members.contains(g)) {
            for t in members.iter().filter(|g| now.contains_key(g)) {
                if budget == 0 {
                    return Ok(());
                }
                budget -= 1;
                // What the outside step does first, the member must be able to do first. Not the other way
                // round: after the member a rendezvous may find a receiver that it did not find before.
                if !after(network, leads, *t).is_subset(&after(network, &now[t], *u)) {
                    return fault("D1", format!("{} and {} do not commute", name(t), name(u)));
                }
            }
            queue.extend(leads.iter().filter(|&state| seen.insert(state.clone())).cloned());
        }
    }
    Ok(())
}

/// Where a step leads from some states.
fn after(network: &Network, from: &BTreeSet<Vec<u8>>, step: (usize, u32)) -> BTreeSet<Vec<u8>> {
    from.iter().flat_map(|state| groups(network, state).remove(&step).unwrap_or_default()).collect()
}
