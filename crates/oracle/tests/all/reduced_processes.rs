//! Reduced compositions against whole ones, on random networks: every algorithm, every semantics.

use std::collections::BTreeSet;
use stubborn_explore::{Limits, Unwatched};
use stubborn_lts::{Lsts, Plan, unfold, unfold_reduced};
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{Tally, fail, seeds};
use stubborn_oracle::semantics::{random_composition, random_loose_composition};
use stubborn_reduce::{ReductionKind, Semantics};
use stubborn_semantics::{Comparison, Model, compare};

const ALGORITHMS: [ReductionKind; 4] = [
    ReductionKind::Closure,
    ReductionKind::StrongComponents,
    ReductionKind::Deletion,
    ReductionKind::Smaller,
];

/// The names of the states in which nothing can happen, and whether something can happen for ever.
fn endings(lsts: &Lsts) -> (BTreeSet<String>, bool) {
    let names = lsts.deadlocks().filter_map(|state| lsts.state_name(state)).map(str::to_owned).collect();
    let mut left: Vec<usize> = (0..lsts.n_states() as u32).map(|state| lsts.range(state).len()).collect();
    let mut ended: Vec<u32> = lsts.deadlocks().collect();
    let mut n_ended = 0;
    while let Some(state) = ended.pop() {
        n_ended += 1;
        for source in 0..lsts.n_states() as u32 {
            let n = lsts.edges(source).filter(|edge| edge.1 == state).count();
            left[source as usize] -= n;
            if n > 0 && left[source as usize] == 0 {
                ended.push(source);
            }
        }
    }
    (names, n_ended < lsts.n_states())
}

/// What is not the same.
fn difference(whole: &Lsts, reduced: &Lsts, semantics: Semantics) -> Option<String> {
    let under = |model: Model| {
        let found = compare(whole, reduced, &Comparison::new(model)).expect("they are small");
        found.map(|difference| format!("{model}: {difference:?}"))
    };
    let (before, after) = (endings(whole), endings(reduced));
    let of_deadlocks = (before != after).then(|| format!("endings: {before:?}, {after:?}"));
    of_deadlocks.or_else(|| match semantics {
        Semantics::Deadlocks => None,
        Semantics::Traces => under(Model::Traces),
        Semantics::Failures => under(Model::Failures),
        Semantics::Cffd => under(Model::Cffd),
    })
}

#[test]
fn reduced_compositions_are_the_same_under_the_semantics_that_was_chosen() {
    const TEST: &str = "reduced_compositions_are_the_same_under_the_semantics_that_was_chosen";
    let draws: [fn(&mut Rng) -> Plan; 2] = [random_loose_composition, random_composition];
    for (draw, min_share) in draws.into_iter().zip([0.3, 0.1]) {
        let seeds = seeds(500);
        let mut tally = Semantics::ALL.map(|_| Tally::new());
        for &seed in &seeds {
            let plan = draw(&mut Rng::new(seed));
            let whole = unfold(&plan, Limits::default(), true, &mut Unwatched).expect("it is small").lsts;
            for (i, semantics) in Semantics::ALL.into_iter().enumerate() {
                let mut least = usize::MAX;
                for algorithm in ALGORITHMS {
                    let limits = Limits::default();
                    let reduced = unfold_reduced(&plan, algorithm, semantics, limits, true, &mut Unwatched);
                    let reduced = reduced.expect("it is small").lsts;
                    if let Some(what) = difference(&whole, &reduced, semantics) {
                        let how = format!("{algorithm:?}, {semantics:?}: {what}\n{plan:?}");
                        fail("reduced_processes", TEST, seed, how);
                    }
                    least = least.min(reduced.n_states());
                }
                tally[i].count(whole.n_states(), least);
            }
        }
        println!("{:?}", tally.each_ref().map(|tally| tally.share_reduced()));
        if seeds.len() > 1 {
            tally.iter().for_each(|tally| tally.assert_not_degenerate(8, min_share));
        }
    }
}
