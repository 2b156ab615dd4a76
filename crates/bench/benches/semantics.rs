//! Minimisation of token rings of HVV, of which the first client's requests, grants and releases are seen.
//!
//! `cargo bench -p stubborn-bench --bench semantics [-- ROUNDS]` measures the ring of six servers (950,400 states,
//! 5,562,240 transitions, no propositions) under strong and branching bisimilarity and CFFD. States and transitions are
//! those of the result; time is without the composition, memory with it. With `--features merc` the crate merc_reduction
//! does the same beside it, in the same rounds, from the same system in its own representation.

use stubborn_bench::{Measured, median};
use stubborn_explore::{Limits, Unwatched};
use stubborn_gallery::process_ring::ProcessRing;
use stubborn_lts::{Files, Lsts, MemoryFiles, NoComponent, ReadOptions, read_lsts, read_rules, unfold};
use stubborn_semantics::{Limit, Minimization, minimize};

const WAYS: [(&str, Minimization); 3] = [
    ("strong", Minimization::Strong),
    ("branching", Minimization::Branching),
    ("cffd", Minimization::Cffd { initial_stability: false }),
];

/// The same by merc: what it is called, the equivalence, and ours that it is held against.
#[cfg(feature = "merc")]
const PEERS: [(&str, merc_reduction::Equivalence); 2] = [
    ("merc-strong", merc_reduction::Equivalence::StrongBisim),
    ("merc-branching", merc_reduction::Equivalence::BranchingBisimDivergencePreserving),
];

/// Runs a peer, if it is one that was asked for.
#[cfg(feature = "merc")]
fn peer(asked: &str) -> bool {
    use merc_lts::{LTS, LabelIndex, LabelledTransitionSystem, StateIndex, TransitionLabel};
    let Some(&(_, how)) = PEERS.iter().find(|peer| peer.0 == asked) else { return false };
    let lts = {
        let ring = ring(6);
        let labels = std::iter::once(String::tau_label()).chain(ring.action_names().iter().cloned());
        let initial = StateIndex::new(ring.initial() as usize);
        LabelledTransitionSystem::with_successors(initial, ring.n_states(), labels.collect(), |state| {
            let edges: Vec<_> = ring.edges(*state as u32).collect();
            let index = |(action, target): (u32, u32)| {
                (LabelIndex::new(action as usize), StateIndex::new(target as usize))
            };
            edges.into_iter().map(index)
        })
    };
    Measured::of(|| {
        let small = merc_reduction::reduce_lts(lts, how, false, &merc_utilities::Timing::new());
        (small.num_of_states() as u64, small.num_of_transitions() as u64)
    })
    .print();
    true
}

#[cfg(feature = "merc")]
fn contestants() -> Vec<&'static str> {
    vec!["strong", "merc-strong", "branching", "merc-branching", "cffd"]
}

#[cfg(not(feature = "merc"))]
fn peer(_: &str) -> bool {
    false
}

#[cfg(not(feature = "merc"))]
fn contestants() -> Vec<&'static str> {
    WAYS.map(|way| way.0).to_vec()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let asked = arguments.first().map_or("", String::as_str);
    match WAYS.iter().find(|way| way.0 == asked) {
        Some(&(_, how)) => {
            let ring = ring(6);
            Measured::of(|| {
                let small = minimize(&ring, how, Limit::default()).expect("it is small");
                (small.n_states() as u64, small.n_transitions() as u64)
            })
            .print();
        }
        None if peer(asked) => {}
        None => measure(asked.parse().unwrap_or(3)),
    }
}

fn measure(rounds: usize) {
    println!("ring of 6, medians of {rounds} rounds, processor time");
    println!("| under | states | transitions | cpu s | MB |");
    println!("|---|---|---|---|---|");
    let names = contestants();
    // All of them in each round, so that a busy machine is busy for all.
    let runs: Vec<Vec<Measured>> =
        (0..rounds).map(|_| names.iter().map(|name| Measured::in_child(&[name])).collect()).collect();
    for (i, name) in names.iter().enumerate() {
        let m = median(runs.iter().map(|round| round[i]).collect());
        println!("| {name} | {} | {} | {:.2} | {:.0} |", m.states, m.edges, m.cpu, m.rss / 1e6);
    }
}

/// A ring without the tokens' propositions.
fn ring(size: usize) -> Lsts {
    let ring = ProcessRing { visible: true, token: false, rejections: false, ..ProcessRing::new(size) };
    let files: Vec<(String, String)> = ring.files();
    let files = MemoryFiles(files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect());
    let options = ReadOptions::default();
    let mut load = |path: &str| {
        let bytes = files.load(path).map_err(NoComponent::Load)?;
        read_lsts(path, bytes, &files, options).map_err(NoComponent::Refused)
    };
    let bytes = files.load("ring.ext").expect("it was made");
    let plan = read_rules("ring.ext", bytes, &files, &mut load, options).expect("it is right");
    let lsts = unfold(&plan, Limits::default(), false, &mut Unwatched).expect("it ends").lsts;
    assert!(lsts.propositions().is_empty(), "they are hidden");
    lsts
}
