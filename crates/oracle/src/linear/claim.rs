//! Whether a never claim can be fulfilled, by the product of network and claim.
//!
//! **Implements** what SPIN does with claims (its manual page `never`): the claim moves first, in the state
//! where the network is, then the network; where the network cannot move, the claim goes on alone. A claim that
//! cannot move ends the branch. It is fulfilled if it ends, if an assertion of it fails, or if it passes
//! accepting locations for ever. Steps of a claim that are atomic are one move.
//! **Checked by** SPIN's counts: the product has as many states and transitions as SPIN stores
//! (`tests/all/linear_spin.rs`).

use super::{Arc, Marked, Run, Runs};
use std::collections::HashMap;
use stubborn_network::{Claim, LocationId, Network};

/// The mark of accepting locations; those below are marks of fairness.
const ACCEPTING: u128 = 1 << 64;

/// How a claim is fulfilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fulfilment {
    /// It ended, or an assertion of it failed.
    Ended,
    /// It accepts this run.
    Accepted(Run),
}

/// What is known about a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// How the claim is fulfilled, if it can be.
    pub fulfilment: Option<Fulfilment>,
    /// Pairs of states and locations.
    pub states: usize,
    /// Steps of the product.
    pub transitions: usize,
}

/// Decides a claim on the runs of a network. With `is_fair`, only weakly fair runs are accepted; a claim that
/// ends has seen a finite run, which every fair run can begin with.
pub fn fulfilment(
    network: &Network,
    claim: &Claim,
    runs: &Runs,
    states: &[Vec<u8>],
    is_fair: bool,
) -> Product {
    let mut numbers = HashMap::from([((0, claim.entry), 0)]);
    let mut pairs = vec![(0, claim.entry)];
    let mut arcs: Vec<Vec<Arc>> = Vec::new();
    let mut has_ended = claim.locations[claim.entry.index()].is_end;
    while arcs.len() < pairs.len() {
        let (state, location) = pairs[arcs.len()];
        let mut moves = Moves { network, claim, state: &states[state], ends: Vec::new(), has_ended: false };
        moves.from(location, 0);
        has_ended |= moves.has_ended;
        let is_accepting = claim.locations[location.index()].is_accept;
        let accepting = if is_accepting { ACCEPTING } else { 0 };
        let mut here = Vec::new();
        for next in moves.ends {
            for step in runs.outgoing(state) {
                let target = *numbers.entry((step.target, next)).or_insert_with_key(|&pair| {
                    pairs.push(pair);
                    pairs.len() - 1
                });
                here.push(Arc { target, marks: accepting | runs.fair_marks(state, step) });
            }
        }
        arcs.push(here);
    }
    let (states, transitions) = (pairs.len(), arcs.iter().map(Vec::len).sum());
    let all = if is_fair { ACCEPTING | Runs::FAIR } else { ACCEPTING };
    let fulfilment = if has_ended {
        Some(Fulfilment::Ended)
    } else {
        Marked { initial: vec![0], arcs }.lasso(all).map(|(stem, cycle)| {
            let states = |nodes: Vec<usize>| nodes.into_iter().map(|node| pairs[node].0).collect();
            Fulfilment::Accepted(Run { stem: states(stem), cycle: states(cycle) })
        })
    };
    Product { fulfilment, states, transitions }
}

/// The moves of a claim in a state.
struct Moves<'a> {
    network: &'a Network,
    claim: &'a Claim,
    state: &'a [u8],
    /// Where they lead.
    ends: Vec<LocationId>,
    /// Whether the claim ends in one of them, or fails an assertion.
    has_ended: bool,
}

impl Moves<'_> {
    fn from(&mut self, location: LocationId, depth: usize) {
        let is_blocked = self.network.is_blocked(self.state);
        let moves = self.network.claim_moves(self.claim, location, self.state, is_blocked);
        if moves.is_empty() && depth > 0 {
            // An atomic sequence that cannot go on stops where it is.
            self.ends.push(location);
        }
        for made in moves {
            let step = &self.claim.locations[location.index()].steps[made.step];
            self.has_ended |= !made.troubles.is_empty() || self.claim.locations[made.next.index()].is_end;
            if step.is_atomic && depth < self.claim.locations.len() {
                self.from(made.next, depth + 1);
            } else {
                self.ends.push(made.next);
            }
        }
    }
}
