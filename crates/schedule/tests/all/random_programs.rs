//! Every algorithm sees exactly what a search without reduction sees, on random programs over all objects; mistakes
//! that are made on purpose are noticed. `STUBBORN_TIMES=10` makes the campaign ten times as long.

use crate::common::{observations, random_script};
use stubborn_schedule::{Algorithm, Fault, Script};

const MAX_RUNS: u64 = 3000;

fn times() -> u64 {
    std::env::var("STUBBORN_TIMES").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Programs whose runs can all be made, with what is seen in them.
fn programs(first: u64, n: u64) -> impl Iterator<Item = (u64, Script, std::collections::BTreeSet<String>)> {
    let small = |seed| {
        let script = random_script(seed);
        let (seen, ..) = observations(&script, Algorithm::Dfs, None, MAX_RUNS)?;
        Some((seed, script, seen))
    };
    (first..).filter_map(small).take(n as usize)
}

fn differs(
    script: &Script,
    algorithm: Algorithm,
    fault: Option<Fault>,
    expected: &std::collections::BTreeSet<String>,
) -> bool {
    // Repetitions may make a reduced search longer than the full one.
    observations(script, algorithm, fault, MAX_RUNS * 20).is_none_or(|(seen, ..)| seen != *expected)
}

#[test]
fn every_algorithm_sees_what_a_full_search_sees() {
    let mut wrong = Vec::new();
    let mut n = 0;
    for (seed, script, expected) in programs(0, 500 * times()) {
        n += 1;
        for algorithm in Algorithm::ALL.into_iter().filter(|&algorithm| algorithm != Algorithm::Dfs) {
            if differs(&script, algorithm, None, &expected) {
                wrong.push((seed, algorithm));
            }
        }
    }
    assert_eq!(n, 500 * times());
    assert!(wrong.is_empty(), "{} of {n}: {:?}", wrong.len(), &wrong[..wrong.len().min(200)]);
}

#[test]
fn mistakes_are_noticed() {
    let faults = [
        (Fault::DroppedRace, Algorithm::Source),
        (Fault::DisagreeingOrder, Algorithm::Source),
        (Fault::EnablingRaces, Algorithm::Source),
        (Fault::ForgottenWaiters, Algorithm::Source),
        (Fault::DeepSleep, Algorithm::Sleep),
    ];
    // One mistake shows in one of some thousand programs only, of which the first that was found is soon met from here.
    let mut known = Vec::new();
    let mut others = programs(1_004_000, 10_000);
    for (fault, algorithm) in faults {
        let shows = |(_, script, seen): &(u64, Script, _)| differs(script, algorithm, Some(fault), seen);
        let mut is_found = known.iter().any(shows);
        while !is_found {
            let Some(program) = others.next() else { panic!("{fault:?} is not noticed") };
            is_found = shows(&program);
            known.push(program);
        }
    }
}
