//! Claims, against SPIN: the product of network and claim has as many states and transitions as SPIN stores.
//!
//! Figures: `spin -a -o1 -o2 -o3`, `-DNOREDUCE -DSAFETY`, `-c0`, with the claim. The claim moves first, then
//! the network; where nothing can happen the claim moves alone; a claim that cannot move ends the branch.

use crate::support::{models, network};
#[allow(dead_code, reason = "each test uses its part")]
use std::collections::{HashSet, VecDeque};
use stubborn_network::{Claim, LocationId, Network};

/// States and transitions of the product.
fn product(network: &Network, claim: &Claim) -> (usize, usize) {
    let first = (network.initial_state().expect("it can begin"), claim.entry);
    let mut seen = HashSet::from([first.clone()]);
    let mut queue = VecDeque::from([first]);
    let mut n_transitions = 0;
    while let Some((state, location)) = queue.pop_front() {
        let successors = network.expand(&state).successors;
        let mut states: Vec<Vec<u8>> = successors.into_iter().map(|s| s.state).collect();
        if states.is_empty() {
            states.push(state.clone());
        }
        let moves = network.claim_moves(claim, location, &state, false);
        let next: Vec<LocationId> = moves.into_iter().map(|m| m.next).collect();
        for location in next {
            for state in &states {
                n_transitions += 1;
                let pair = (state.clone(), location);
                if seen.insert(pair.clone()) {
                    queue.push_back(pair);
                }
            }
        }
    }
    (seen.len(), n_transitions)
}

#[test]
fn products_have_spins_counts() {
    let figures = [
        ("e31_never", 4, 3),
        ("e52_claim_block", 4, 3),
        ("s58_claim", 135, 176),
        ("s59_claim_stutter", 23, 30),
    ];
    for (model, states, transitions) in figures {
        let network = network(&models().join(format!("{model}.pml"))).expect("a good model");
        assert_eq!(product(&network, &network.claims[0]), (states, transitions), "{model}");
    }
}
