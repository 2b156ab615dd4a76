//! Whoever makes the successors of a state, they are the same: the reference interpreter, the engine, and packed keys.
//!
//! [`engine_agrees`] compares the engine with the reference interpreter, [`crate::keys::compare_keys`] keys with the engine, both
//! state by state. [`engines_agree`] does so for the model that any bytes are, for the fuzzer and for tests.

use super::Model;
use super::fuzz::network_of;
use crate::Rng;
use crate::keys::{WAYS, Way, compare_keys};
use std::collections::{HashSet, VecDeque};
use stubborn_network::{Network, Optimisations};
use stubborn_system::{Batch, Composed, TransitionId};

/// States of a model that the fuzzer looks at: many models are better than large ones.
const MOST: usize = 200;

/// Compares the successors of the first states of the model that these bytes are: as a text, if it is a model, or else as the choices that lead
/// to a random one. Once as it is written and once optimised, with keys of one, two and four words. How many states of keys there were.
///
/// # Panics
/// If somebody makes other successors, with the model.
pub fn engines_agree(bytes: &[u8]) -> usize {
    let written = String::from_utf8_lossy(bytes);
    let (network, text) = match network_of(&written) {
        Some(network) => (network, written.into_owned()),
        None => {
            let text = Model::random(&mut Rng::led_by(bytes)).to_string();
            let Some(network) = network_of(&text) else { return 0 };
            (network, text)
        }
    };
    let optimised = network.optimised(Optimisations::ALL, &[]).network;
    let mut n_states = 0;
    for network in [network, optimised] {
        match agree(&network, bytes.len()) {
            Ok(n) => n_states += n,
            Err(wrong) => panic!("{wrong}\n{text}"),
        }
    }
    n_states
}

/// Compares the reference interpreter with the engine, and the engine with keys; any number says which width goes with which way.
fn agree(network: &Network, any: usize) -> Result<usize, String> {
    engine_agrees(network, MOST)?;
    let mut n_states = 0;
    for (i, way) in WAYS.into_iter().enumerate() {
        let way = Way { n_steps: way.n_steps.min(MOST), n_words: [1, 2, 4][(i + any) % 3], ..way };
        let Some(tracer) = network.tracer() else { return Ok(n_states) };
        n_states += compare_keys(network, tracer, way, MOST).map_err(|wrong| format!("{wrong}, {way:?}"))?;
    }
    Ok(n_states)
}

/// Compares the engine with the reference interpreter in the first `most` states. Of how many states the engine itself has made the successors; or
/// where they disagree.
pub fn engine_agrees(network: &Network, most: usize) -> Result<usize, String> {
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
            if seen.len() < most && seen.insert(successor.state.clone()) {
                queue.push_back(successor.state);
            }
        }
    }
    // Else the comparison would be one of the reference with itself.
    let n_compiled = (seen.len() as u64).saturating_sub(engine.n_referred());
    Ok(n_compiled as usize)
}
