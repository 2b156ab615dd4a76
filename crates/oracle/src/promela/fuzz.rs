//! What holds for any text at all: the front-end ends and does not panic, and neither does the interpreter on
//! what was accepted.

use std::collections::{HashSet, VecDeque};
use stubborn_network::Network;
use stubborn_promela::{Options, compile};
use stubborn_text::{Limits, NoLoader, render};

/// Compiles a text, shows what is wrong with it, and expands the first hundred states if nothing is. Whether
/// it was accepted.
pub fn never_panics(text: &str) -> bool {
    let limits = Limits { vector: 4096, tokens: 50_000, ..Limits::default() };
    let compiled = compile("fuzz.pml", text, &NoLoader, &Options { limits, ..Options::default() });
    for diagnostic in &compiled.diagnostics {
        assert!(!render(diagnostic, &compiled.map).is_empty());
    }
    compiled.network.as_ref().is_some_and(|network| {
        expand_some(network, 100);
        true
    })
}

/// Expands the first `n` states, breadth first; how many there were.
pub fn expand_some(network: &Network, n: usize) -> usize {
    let Ok(initial) = network.initial_state() else { return 0 };
    let mut seen = HashSet::from([initial.clone()]);
    let mut queue = VecDeque::from([initial]);
    let mut n_expanded = 0;
    while let Some(state) = queue.pop_front()
        && n_expanded < n
    {
        n_expanded += 1;
        let expansion = network.expand(&state);
        expansion.all_events().for_each(|event| drop(network.describe(event)));
        let new = expansion.successors.into_iter().map(|s| s.state).filter(|s| seen.insert(s.clone()));
        queue.extend(new);
    }
    n_expanded
}
