//! The engine against the reference interpreter, state by state: the same successors with the same numbers in
//! the same order, the same flag, the same fault, and the same steps executed.
//!
//! Our models and the examples that come with SPIN, as written and optimised, are walked breadth-first, up to a number of states. A
//! change of the engine that matters for a model of these shows here.

use crate::support::{EXAMPLES, models, network, promela_files};
#[allow(dead_code, reason = "each test uses its part")]
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use stubborn_network::{Engine, Expansion, Network, Optimisations, Trouble};
use stubborn_system::{Batch, System, TransitionId};

const MOST_STATES: usize = 20_000;

#[test]
fn the_engine_agrees_with_the_reference_on_our_models() {
    let n_models = promela_files(&models()).iter().filter(|path| agrees(path)).count();
    assert!(n_models >= 110, "only {n_models} models");
}

#[test]
fn the_engine_agrees_with_the_reference_on_the_examples() {
    let examples = Path::new(EXAMPLES);
    if !examples.is_dir() {
        println!("not compared: {EXAMPLES} is not there");
        return;
    }
    let n_models = promela_files(examples).iter().filter(|path| agrees(path)).count();
    assert!(n_models >= 55, "only {n_models} models");
}

/// Compares a model; `false` if it is refused.
fn agrees(path: &Path) -> bool {
    let Ok(network) = network(path) else { return false };
    compare(&network, &path.display().to_string());
    let optimised = network.optimised(Optimisations::ALL, &[]).network;
    compare(&optimised, &format!("{}, optimised", path.display()));
    true
}

fn compare(network: &Network, name: &str) {
    let (mut engine, mut some) = (network.engine(), network.engine());
    let mut executed = vec![false; network.n_steps];
    let initial = network.initial_state().expect("the model can begin");
    let mut seen = HashSet::from([initial.clone()]);
    let mut queue = VecDeque::from([initial]);
    let mut n_troubled = 0;
    while let Some(state) = queue.pop_front() {
        let expansion = network.expand(&state);
        compare_state(network, (&mut engine, &mut some), &state, &expansion, name);
        n_troubled += usize::from(expansion.all_events().any(|event| !is_end(&event.trouble)));
        let trails = expansion.successors.iter().flat_map(|successor| &successor.trail);
        trails.for_each(|micro| executed[micro.step.0 as usize] = true);
        for successor in expansion.successors {
            if seen.len() < MOST_STATES && seen.insert(successor.state.clone()) {
                queue.push_back(successor.state);
            }
        }
    }
    // The engine would agree with the reference, too, if it left everything to it.
    let is_compiled = engine.n_referred() < seen.len() as u64 || n_troubled == seen.len();
    assert!(
        !is_compiled || engine.n_referred() <= n_troubled as u64,
        "{name}: {} states",
        engine.n_referred()
    );
    if !is_compiled {
        println!("{name} is left to the reference");
    }
    let missing = (0..network.n_steps).find(|&step| executed[step] && !engine.executed()[step]);
    assert_eq!(missing, None, "{name}: a step was executed, and the engine did not note it");
}

fn compare_state(
    network: &Network,
    (engine, some): (&mut Engine<'_>, &mut Engine<'_>),
    state: &[u8],
    expansion: &Expansion,
    name: &str,
) {
    let expected: Vec<(TransitionId, &[u8])> =
        expansion.successors.iter().map(|s| (s.transition, s.state.as_slice())).collect();
    let too_much = expansion.all_events().filter_map(|event| event.trouble.too_much()).next();
    let is_safety = |t: &Trouble| t.is_error() && !is_end(t) && t.too_much().is_none();
    let is_flagged = expansion.all_events().any(|event| is_safety(&event.trouble));
    let is_fault = expected.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let mut batch = Batch::new();
    // What is there already stays.
    batch.push(TransitionId(7), state);
    let result = engine.successors(state, &mut batch);
    assert_eq!(result.is_err(), is_fault, "{name}: fault at {}", network.show(state));
    if !is_fault {
        let found: Vec<(TransitionId, &[u8])> =
            (1..batch.len()).map(|i| (batch.via(i), batch.state(i))).collect();
        assert!(found == expected, "{name}: {found:?} instead of {expected:?} at {}", network.show(state));
    }
    if !is_fault {
        compare_some(network, some, state, expansion, name);
    }
    assert_eq!(batch.take_flag(), is_flagged, "{name}: flag at {}", network.show(state));
    assert_eq!(batch.take_cut(), too_much, "{name}: cut at {}", network.show(state));
}

/// The same for the processes with even and with odd numbers.
fn compare_some(network: &Network, engine: &mut Engine<'_>, state: &[u8], expansion: &Expansion, name: &str) {
    for odd in [0, 1] {
        let pids: Vec<usize> = (0..network.n_slots).filter(|pid| pid % 2 == odd).collect();
        let wanted = expansion.successors.iter().filter(|s| s.trail[0].pid % 2 == odd);
        let expected: Vec<(TransitionId, &[u8])> =
            wanted.map(|s| (s.transition, s.state.as_slice())).collect();
        let mut batch = Batch::new();
        engine.successors_of(state, &pids, &mut batch).expect("no fault without a choice");
        let found: Vec<(TransitionId, &[u8])> =
            (0..batch.len()).map(|i| (batch.via(i), batch.state(i))).collect();
        assert!(found == expected, "{name}: {found:?} instead of {expected:?} at {}", network.show(state));
    }
}

fn is_end(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::InvalidEnd { .. } | Trouble::TraceUnfinished)
}
