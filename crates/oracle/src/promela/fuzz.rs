//! What holds for any text at all: the front-end ends and does not panic, and neither does the interpreter on
//! what was accepted.

use std::collections::{HashSet, VecDeque};
use stubborn_network::Network;
use stubborn_promela::{Options, compile};
use stubborn_text::{Limits, NoLoader, render};

/// Compiles a text, shows what is wrong with it, and expands the first hundred states if nothing is. Whether
/// it was accepted.
pub fn never_panics(text: &str) -> bool {
    network_of(text).is_some_and(|network| {
        expand_some(&network, 100);
        true
    })
}

/// The network of a text, within limits, if it is accepted. What is wrong with it is shown to nobody.
pub(super) fn network_of(text: &str) -> Option<Network> {
    let limits = Limits { vector: 4096, tokens: 50_000, ..Limits::default() };
    let compiled = compile("fuzz.pml", text, &NoLoader, &Options { limits, ..Options::default() });
    for diagnostic in &compiled.diagnostics {
        assert!(!render(diagnostic, &compiled.map).is_empty());
    }
    compiled.network
}

/// The same for what a text does as directives and macros before a model that is right, and as the text of a
/// macro from outside.
pub fn directives_never_panic(text: &str) -> bool {
    let model = format!("{text}\n#ifdef a\nbyte x = a;\n#endif\nactive proctype P() {{ b; c(1, 2) }}\n");
    never_panics(&model) | compiles_with(vec![("a".into(), text.into())])
}

fn compiles_with(definitions: Vec<(String, String)>) -> bool {
    let limits = Limits { tokens: 50_000, ..Limits::default() };
    let text = "byte x;\nactive proctype P() { x = a }\n";
    let compiled =
        compile("fuzz.pml", text, &NoLoader, &Options { limits, definitions, ..Options::default() });
    compiled.diagnostics.iter().for_each(|diagnostic| drop(render(diagnostic, &compiled.map)));
    compiled.network.is_some()
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
