//! Minimisation of token rings of HVV, of which the first client's requests, grants and releases are seen.
//!
//! `cargo bench -p stubborn-bench --bench semantics [-- ROUNDS]` measures the ring of six servers (950,400 states,
//! 5,562,240 transitions, no propositions) under strong and branching bisimilarity and CFFD. States and transitions are
//! those of the result; time is without the composition, memory with it.

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
        None => measure(asked.parse().unwrap_or(3)),
    }
}

fn measure(rounds: usize) {
    println!("ring of 6, medians of {rounds} rounds, processor time");
    println!("| under | states | transitions | cpu s | MB |");
    println!("|---|---|---|---|---|");
    for (name, _) in WAYS {
        let m = median((0..rounds).map(|_| Measured::in_child(name)).collect());
        println!("| {name} | {} | {} | {:.2} | {:.0} |", m.states, m.edges, m.cpu, m.rss / 1e6);
    }
}

/// A ring without the tokens' propositions.
fn ring(size: usize) -> Lsts {
    let ring = ProcessRing { visible: true, rejections: false, ..ProcessRing::new(size) };
    let mut files: Vec<(String, String)> = ring.files();
    files[0].1 += "Begin State_prop_rules\n";
    (1..=size).for_each(|i| files[0].1 += &format!("hide \"/{i}.T\";\n"));
    files[0].1 += "End State_prop_rules\n";
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
