//! What the tests share: compiling a model of a directory, and counting its states by brute force.

mod files;

pub(crate) use files::{Directory, EXAMPLES, compile_file, models, promela_files};
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use stubborn_network::Network;
use stubborn_text::render;

/// The network of a file, or what is wrong with it.
pub(crate) fn network(path: &Path) -> Result<Network, String> {
    let compiled = compile_file(path);
    let problems: String = compiled.diagnostics.iter().map(|d| render(d, &compiled.map)).collect();
    compiled.network.ok_or(problems)
}

/// Numbers of a full search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Distinct states.
    pub(crate) states: usize,
    /// Successors of all states.
    pub(crate) transitions: usize,
    /// Whether something went wrong somewhere.
    pub(crate) has_errors: bool,
}

/// Explores everything, up to a number of states.
pub(crate) fn count(network: &Network, most: usize) -> Option<Counts> {
    let initial = network.initial_state().expect("the model can begin");
    let mut seen = HashSet::from([initial.clone()]);
    let mut queue = VecDeque::from([initial]);
    let mut counts = Counts { states: 0, transitions: 0, has_errors: false };
    while let Some(state) = queue.pop_front() {
        let expansion = network.expand(&state);
        counts.transitions += expansion.successors.len();
        counts.has_errors |= expansion.all_events().any(|event| event.trouble.is_error());
        for successor in expansion.successors {
            if seen.insert(successor.state.clone()) {
                queue.push_back(successor.state);
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    counts.states = seen.len();
    Some(counts)
}
