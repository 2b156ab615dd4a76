//! The engine against the reference interpreter on random Promela models, as written and optimised: the same
//! successors with the same numbers in the same order, in every state.
//!
//! `STUBBORN_TIMES=100 cargo test -p stubborn-oracle --test promela_engine` is the long form.

use std::collections::{HashSet, VecDeque};
use stubborn_network::{Network, Optimisations};
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::promela::{Model, compiled, shrink_model};
use stubborn_system::{Batch, TransitionId};

/// States of a model that are looked at.
const LIMIT: usize = 2000;

/// How many states were compared; or where they disagree.
fn judge(model: &Model) -> Result<usize, String> {
    let Ok((network, _)) = compiled(&model.to_string(), &[]) else { return Ok(0) };
    let optimised = network.optimised(Optimisations::ALL, &[]).network;
    Ok(compare(&network)? + compare(&optimised)?)
}

fn compare(network: &Network) -> Result<usize, String> {
    let Ok(initial) = network.initial_state() else { return Ok(0) };
    let mut engine = network.engine();
    let mut seen = HashSet::from([initial.clone()]);
    let mut queue = VecDeque::from([initial]);
    while let Some(state) = queue.pop_front() {
        let expected = network.expand(&state).successors;
        let mut batch = Batch::new();
        if engine.successors(&state, &mut batch).is_ok() {
            let found: Vec<(TransitionId, &[u8])> =
                (0..batch.len()).map(|i| (batch.via(i), batch.state(i))).collect();
            if !found.iter().copied().eq(expected.iter().map(|s| (s.transition, &s.state[..]))) {
                return Err(format!("at {state:?}: {found:?} instead of {expected:?}"));
            }
        }
        for successor in expected {
            if seen.len() < LIMIT && seen.insert(successor.state.clone()) {
                queue.push_back(successor.state);
            }
        }
    }
    // Else the comparison would be one of the reference with itself.
    let n_compiled = (seen.len() as u64).saturating_sub(engine.n_referred());
    Ok(n_compiled as usize)
}

#[test]
fn the_engine_agrees_with_the_reference_on_random_models() {
    let mut n_states = 0;
    for seed in seeds(400) {
        let model = Model::random(&mut Rng::new(seed));
        match judge(&model) {
            Ok(n) => n_states += n,
            Err(_) => {
                let small = shrink_model(&model, 5_000, |m| judge(m).is_err());
                let what = judge(&small).expect_err("it still fails");
                let test = "the_engine_agrees_with_the_reference_on_random_models";
                fail("promela_engine", test, seed, format!("{what}\n{small}"));
            }
        }
    }
    println!("{n_states} states");
    assert!(n_states > 20_000, "only {n_states} states");
}
