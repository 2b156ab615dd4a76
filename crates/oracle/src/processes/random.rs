//! Random networks: with a tester, or with conditions on any processes.
//!
//! Processes have a spine, so that every state is locally reachable, and labels of one to three parties. The tester
//! has edges for most visible labels in most states, so that it is not always in the way.

use super::{Join, Network, Process, Rejected};
use crate::Rng;
use stubborn_system::RejectionKind;

/// A network of processes whose last one is a tester: all visible labels are in its alphabet, it has no tau loops,
/// and its deadlock monitors have no tau (V93 Definition 3.1). All four kinds of its states are rejected.
pub fn random_pair(rng: &mut Rng) -> Network {
    let mut network = system(rng);
    let n_visible = rng.between(1, network.n_labels.min(4));
    let visible = rng.sample(n_visible, network.n_labels);
    let n_states = rng.between(2, 5);
    let mut states = || (0..n_states).map(|state| state > 0 && rng.chance(1, 3)).collect::<Vec<bool>>();
    let kinds = [states(), states(), states(), states()];
    let mut edges = Vec::new();
    for (state, &is_deadlock_monitor) in kinds[1].iter().enumerate() {
        for &label in &visible {
            if rng.chance(4, 5) {
                edges.push((state, Some(label), rng.below(n_states)));
            }
            if rng.chance(1, 6) {
                edges.push((state, Some(label), rng.below(n_states)));
            }
        }
        // Only upwards, so there are no loops of tau.
        if state + 1 < n_states && !is_deadlock_monitor && rng.chance(1, 5) {
            edges.push((state, None, rng.between(state + 1, n_states - 1)));
        }
    }
    let tester = network.processes.len();
    network.processes.push(Process { n_states, edges, alphabet: visible });
    let rejected = |(kind, states): (RejectionKind, Vec<bool>)| Rejected {
        kind,
        parts: vec![(tester, states)],
        join: Join::All,
    };
    network.rejected = RejectionKind::ALL.into_iter().zip(kinds).map(rejected).collect();
    network
}

/// A network, some of its labels, and a specification over them: often a small change of what the network does.
pub fn random_refinement(rng: &mut Rng) -> (Network, Vec<usize>, Process) {
    let network = system(rng);
    let n_visible = rng.between(1, network.n_labels.min(3));
    let mut visible = rng.sample(n_visible, network.n_labels);
    visible.sort_unstable();
    let copied = rng.chance(1, 2).then(|| super::Brute::new(&network, 12)).flatten();
    let specification = match copied {
        // What the network does, with some moves more or less.
        Some(whole) => {
            let moves = whole.moves.iter().enumerate();
            let seen = |label: Option<usize>| label.filter(|label| visible.contains(label));
            let mut edges: Vec<_> = moves
                .flat_map(|(from, moves)| moves.iter().map(move |step| (from, seen(step.label), step.target)))
                .collect();
            edges.sort_unstable();
            edges.dedup();
            let n_states = whole.tuples.len();
            for _ in 0..rng.below(3) {
                if rng.chance(1, 2) && !edges.is_empty() {
                    edges.swap_remove(rng.below(edges.len()));
                } else {
                    let label = rng.chance(3, 4).then(|| *rng.pick(&visible));
                    edges.push((rng.below(n_states), label, rng.below(n_states)));
                }
            }
            Process { n_states, edges, alphabet: visible.clone() }
        }
        None => {
            let n_states = rng.between(1, 4);
            let edge = |rng: &mut Rng| {
                let label = rng.chance(3, 4).then(|| *rng.pick(&visible));
                (rng.below(n_states), label, rng.below(n_states))
            };
            let edges = (0..rng.between(1, 10)).map(|_| edge(rng)).collect();
            Process { n_states, edges, alphabet: visible.clone() }
        }
    };
    (network, visible, specification)
}

/// A network with several conditions on one to three of its processes.
pub fn random_network(rng: &mut Rng) -> Network {
    let mut network = system(rng);
    for _ in 0..rng.between(2, 6) {
        let n_parts = rng.between(1, 3.min(network.processes.len()));
        let mut of = rng.sample(n_parts, network.processes.len());
        of.sort_unstable();
        let part = |process: usize, rng: &mut Rng| {
            let n = network.processes[process].n_states;
            (process, (0..n).map(|_| rng.chance(1, 3)).collect())
        };
        let parts = of.into_iter().map(|process| part(process, rng)).collect();
        let join = *rng.pick(&[Join::All, Join::All, Join::Any, Join::NotAll]);
        let kind = *rng.pick(&RejectionKind::ALL);
        network.rejected.push(Rejected { kind, parts, join });
    }
    network
}

fn system(rng: &mut Rng) -> Network {
    let n_processes = rng.between(2, 4);
    let n_labels = rng.between(3, 8);
    let mut network = Network { n_labels, ..Network::default() };
    network.processes.resize(n_processes, Process::default());
    for label in 0..n_labels {
        let n_parties = rng.between(1, n_processes.min(3));
        for process in rng.sample(n_parties, n_processes) {
            network.processes[process].alphabet.push(label);
        }
    }
    for process in &mut network.processes {
        process.n_states = rng.between(1, 4);
        let n = process.n_states;
        let label = |rng: &mut Rng| {
            let is_tau = process.alphabet.is_empty() || rng.chance(1, 6);
            if is_tau { None } else { Some(*rng.pick(&process.alphabet)) }
        };
        let mut edges: Vec<_> = (1..n).map(|state| (rng.below(state), label(rng), state)).collect();
        for _ in 0..rng.between(0, n + 2) {
            edges.push((rng.below(n), label(rng), rng.below(n)));
        }
        edges.sort_unstable();
        edges.dedup();
        process.edges = edges;
    }
    network
}
