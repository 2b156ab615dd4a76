//! The price of generality: Peterson-4 "correct", plain, 26,209,918 states, by the engine and by hand.
//!
//! By hand means: the same model in straight Rust, constants for sizes and shifts, states in a `u64`, one
//! loop. Once with the best general-purpose hash set at hand, and once with everything that the engine does
//! too (batches, prefetching, an open table of keys), which nobody writes for one model.
//!
//! `cargo bench -p stubborn-bench --bench peterson [-- ROUNDS]`

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use stubborn_bench::{Measured, median};
use stubborn_explore::Unwatched;
use stubborn_model::{ModelSystem, Question, RuleSource};
use stubborn_verdict::{Options, ReductionKind, analyse};

const N: u64 = 4;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match arguments.first().map(String::as_str) {
        Some("hand-fx") => Measured::of(|| by_hand(HashSet::with_hasher(FxBuildHasher))).print(),
        Some("hand-default") => Measured::of(|| by_hand(HashSet::new())).print(),
        Some("hand-batched") => Measured::of(by_hand_batched).print(),
        Some("engine") => Measured::of(|| engine(ReductionKind::None, false)).print(),
        Some("engine-all") => Measured::of(|| engine(ReductionKind::None, true)).print(),
        Some("engine-scc") => Measured::of(|| engine(ReductionKind::StrongComponents, true)).print(),
        rounds => compare(rounds.and_then(|r| r.parse().ok()).unwrap_or(3)),
    }
}

fn compare(rounds: usize) {
    let names = ["hand-fx", "hand-default", "hand-batched", "engine", "engine-all", "engine-scc"];
    let mut runs: Vec<Vec<Measured>> = vec![Vec::new(); names.len()];
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        for (name, runs) in names.iter().zip(&mut runs) {
            runs.push(Measured::in_child(&[name]));
        }
    }
    let medians: Vec<Measured> = runs.into_iter().map(median).collect();
    let best_by_hand = medians[0].cpu.min(medians[1].cpu);
    println!("Peterson-4 correct, medians of {rounds} interleaved rounds, processor time");
    println!("| run | states | edges | cpu s | M states/s | M edges/s | bytes/state | x hand |");
    println!("|---|---|---|---|---|---|---|---|");
    for (name, m) in names.iter().zip(&medians) {
        println!(
            "| {name} | {} | {} | {:.2} | {:.2} | {:.2} | {:.1} | {:.2} |",
            m.states,
            m.edges,
            m.cpu,
            m.states / m.cpu / 1e6,
            m.edges / m.cpu / 1e6,
            m.rss / m.states,
            m.cpu / best_by_hand
        );
    }
    println!("engine: safety only; engine-all: with the edges and the progress stage; engine-scc: stubborn");
    println!("sets with the progress and termination stages. x hand: against the better hash set.");
}

/// The engine, as `stubborn demo peterson --size 4` uses it.
fn engine(reduction: ReductionKind, all: bool) -> (u64, u64) {
    let model = stubborn_gallery::build("peterson", Some(N as usize), Some("correct")).expect("a model");
    let system = ModelSystem::<[u64; 1]>::new(&*model, RuleSource::Hand).expect("a system");
    let questions = (!all).then(|| vec![Question::Safety]);
    let options = Options { reduction, questions, ..Options::default() };
    let analysis = analyse(&system, &options, &mut Unwatched).expect("no fault");
    assert!(analysis.answers.iter().all(|a| a.verdict.word() == "holds"));
    (analysis.phases[0].stats.states, analysis.phases[0].stats.edges)
}

// The model by hand: for customer i, four bits of S and three each of j, k and Q, then T.

const fn at(i: u64) -> u64 {
    13 * i
}

const fn turn(j: u64) -> u64 {
    13 * N + 3 * j
}

#[inline(always)]
fn get(s: u64, shift: u64, bits: u64) -> u64 {
    s >> shift & ((1 << bits) - 1)
}

#[inline(always)]
fn put(s: u64, shift: u64, bits: u64, value: u64) -> u64 {
    s & !(((1 << bits) - 1) << shift) | value << shift
}

/// Customer `i` moves on.
#[inline(always)]
fn customer(s: u64, i: u64) -> Option<u64> {
    let (j, k) = (get(s, at(i) + 4, 3), get(s, at(i) + 7, 3));
    let to = |s: u64, location: u64| Some(put(s, at(i), 4, location));
    let set_j = |j: u64| put(s, at(i) + 4, 3, j);
    let set_k = |k: u64| put(s, at(i) + 7, 3, k);
    match get(s, at(i), 4) {
        0 => to(set_j(0), 1),
        1 => to(s, if j >= N - 1 { 7 } else { 2 }),
        2 => to(put(s, at(i) + 10, 3, j + 1), 3),
        3 => to(put(s, turn(j), 3, i), 4),
        4 if get(s, turn(j), 3) != i => to(set_j(j + 1), 1),
        4 => to(set_k(0), 5),
        5 if k >= N => to(set_j(j + 1), 1),
        5 => to(s, 6),
        6 if k == i || get(s, at(k) + 10, 3) <= j => to(set_k(k + 1), 5),
        6 => to(s, 4),
        7 => to(put(s, at(i) + 10, 3, 0), 0),
        _ => None,
    }
}

/// Customer `i` stops for good.
#[inline(always)]
fn stop(s: u64, i: u64) -> Option<u64> {
    (get(s, at(i), 4) == 0).then(|| put(s, at(i), 4, 8))
}

fn is_safe(s: u64) -> bool {
    (0..N).filter(|&i| get(s, at(i), 4) == 7).count() < 2
}

/// One loop and a set.
fn by_hand<H: BuildHasher>(mut seen: HashSet<u64, H>) -> (u64, u64) {
    let mut level = vec![0];
    let mut next = Vec::new();
    let mut edges = 0;
    seen.insert(0);
    while !level.is_empty() {
        for &s in &level {
            for i in 0..N {
                for after in [customer(s, i), stop(s, i)].into_iter().flatten() {
                    edges += 1;
                    if seen.insert(after) {
                        assert!(is_safe(after));
                        next.push(after);
                    }
                }
            }
        }
        std::mem::swap(&mut level, &mut next);
        next.clear();
    }
    (seen.len() as u64, edges)
}

/// The same, with batches, prefetching and a table of keys (zero is free: the key is inverted).
fn by_hand_batched() -> (u64, u64) {
    let mut table = vec![0u64; 1 << 16];
    let mut n = 1u64;
    let mut edges = 0;
    let mut level = vec![0u64];
    let mut next = Vec::new();
    let mut batch: Vec<(usize, u64)> = Vec::new();
    let slot = |table: &[u64], key: u64| {
        let hash = (u128::from(key) * 0x9e37_79b9_7f4a_7c15_u128) as u64;
        ((hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93) >> (64 - table.len().trailing_zeros()))
            as usize
    };
    let place = slot(&table, !0);
    table[place] = !0;
    while !level.is_empty() {
        for chunk in level.chunks(64) {
            batch.clear();
            for &s in chunk {
                for i in 0..N {
                    for after in [customer(s, i), stop(s, i)].into_iter().flatten() {
                        let place = slot(&table, !after);
                        prefetch(&table[place]);
                        batch.push((place, after));
                    }
                }
            }
            edges += batch.len() as u64;
            for &(place, after) in &batch {
                let mut place = place;
                while table[place] != 0 && table[place] != !after {
                    place = (place + 1) & (table.len() - 1);
                }
                if table[place] == 0 {
                    table[place] = !after;
                    n += 1;
                    assert!(is_safe(after));
                    next.push(after);
                }
            }
            if n as usize > table.len() / 10 * 6 {
                let old = std::mem::take(&mut table);
                table = vec![0; old.len() * 2];
                for key in old.into_iter().filter(|&key| key != 0) {
                    let mut place = slot(&table, key);
                    while table[place] != 0 {
                        place = (place + 1) & (table.len() - 1);
                    }
                    table[place] = key;
                }
            }
        }
        std::mem::swap(&mut level, &mut next);
        next.clear();
    }
    (n, edges)
}

fn prefetch(slot: &u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint, and the address is that of a live slot.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(slot).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slot;
}
