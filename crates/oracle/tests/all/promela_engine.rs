//! The engine against the reference interpreter on random Promela models, as written and optimised: the same
//! successors with the same numbers in the same order, in every state. And the harness of the fuzz target `engines`, which compares packed
//! keys as well, on bytes at random.
//!
//! `STUBBORN_TIMES=100 cargo test -p stubborn-oracle --test all promela_engine::` is the long form.

use stubborn_network::Optimisations;
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::promela::{Model, compiled, engine_agrees, engines_agree, shrink_model};

/// States of a model that are looked at.
const LIMIT: usize = 2000;

/// How many states were compared; or where they disagree.
fn judge(model: &Model) -> Result<usize, String> {
    let Ok((network, _)) = compiled(&model.to_string(), &[]) else { return Ok(0) };
    let optimised = network.optimised(Optimisations::ALL, &[]).network;
    Ok(engine_agrees(&network, LIMIT)? + engine_agrees(&optimised, LIMIT)?)
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

#[test]
fn whoever_makes_successors_of_what_bytes_lead_to_makes_the_same() {
    let mut n_states = 0;
    for seed in seeds(150) {
        let mut rng = Rng::new(seed);
        let bytes: Vec<u8> = (0..rng.below(400)).map(|_| rng.below(256) as u8).collect();
        match std::panic::catch_unwind(|| engines_agree(&bytes)) {
            Ok(n) => n_states += n,
            Err(_) => {
                let test = "whoever_makes_successors_of_what_bytes_lead_to_makes_the_same";
                fail("promela_engine", test, seed, "see above");
            }
        }
    }
    println!("{n_states} states");
    assert!(n_states > 10_000, "only {n_states} states");
}
