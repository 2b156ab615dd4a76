//! Stubborn sets of Promela models, against their definition and against full searches.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use stubborn_network::{Expansion, Micro, Network};
use stubborn_promela::{Options, compile};
use stubborn_reduce::{Algorithm, NetworkReduction, Reduction};
use stubborn_system::Batch;
use stubborn_text::{LoadError, Loader};

struct Directory(PathBuf);

impl Loader for Directory {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| LoadError::Missing)
    }
}

fn models() -> Vec<(String, Network)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&directory).expect("the models").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|e| e == "pml") {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("readable");
            let compiled = compile(&name, &text, &Directory(directory.clone()), &Options::default());
            all.push((name, compiled.network.expect("a good model")));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() >= 110, "only {} models", all.len());
    all
}

/// The states that the transitions of each group lead to.
type Groups = BTreeMap<(usize, u32), BTreeSet<Vec<u8>>>;

fn groups(expansion: &Expansion) -> Groups {
    let mut groups = Groups::new();
    for successor in &expansion.successors {
        let Micro { pid, step } = successor.trail[0];
        groups.entry((pid, step.0)).or_default().insert(successor.state.clone());
    }
    groups
}

/// D1 and D2 by definition, over what is reachable by steps outside the set, as far as the budget goes.
fn violation(network: &Network, state: &[u8], set: &[Micro], mut budget: usize) -> Option<String> {
    let members: BTreeSet<(usize, u32)> = set.iter().map(|m| (m.pid, m.step.0)).collect();
    let here = groups(&network.expand(state));
    if !here.is_empty() && !here.keys().any(|g| members.contains(g)) {
        return Some("D0: nothing enabled".into());
    }
    let name = |g: &(usize, u32)| network.micro_name(Micro { pid: g.0, step: stubborn_network::StepId(g.1) });
    let mut seen: HashSet<Vec<u8>> = HashSet::from([state.to_vec()]);
    let mut queue = VecDeque::from([state.to_vec()]);
    while let Some(at) = queue.pop_front() {
        let now = groups(&network.expand(&at));
        for member in &members {
            match (here.contains_key(member), now.contains_key(member)) {
                (true, false) => return Some(format!("D2: {} is disabled", name(member))),
                (false, true) => return Some(format!("D1: {} is enabled", name(member))),
                _ => {}
            }
        }
        for (u, leads) in now.iter().filter(|(g, _)| !members.contains(g)) {
            for t in members.iter().filter(|g| now.contains_key(g)) {
                // t and then u, u and then t: the same states.
                let after = |first: &BTreeSet<Vec<u8>>, then: &(usize, u32)| {
                    let mut all = BTreeSet::new();
                    for state in first {
                        all.extend(groups(&network.expand(state)).remove(then).unwrap_or_default());
                    }
                    all
                };
                if budget == 0 {
                    return None;
                }
                budget -= 1;
                if after(&now[t], u) != after(leads, t) {
                    return Some(format!("D1: {} and {} do not commute", name(t), name(u)));
                }
            }
            for state in leads {
                if seen.insert(state.clone()) {
                    queue.push_back(state.clone());
                }
            }
        }
    }
    None
}

/// The first states of a search with a reduction.
fn reduced_states(
    network: &Network,
    reduction: &mut NetworkReduction<'_>,
    most: usize,
) -> (Vec<Vec<u8>>, BTreeSet<Vec<u8>>, bool) {
    let mut states = vec![network.initial_state().expect("it can begin")];
    let mut seen: HashSet<Vec<u8>> = states.iter().cloned().collect();
    let mut terminal = BTreeSet::new();
    let mut next = 0;
    let mut batch = Batch::new();
    while next < states.len() && states.len() < most {
        batch.clear();
        reduction.expand(network, &states[next], &mut batch).expect("no fault");
        if batch.is_empty() {
            terminal.insert(states[next].clone());
        }
        for i in 0..batch.len() {
            if seen.insert(batch.state(i).to_vec()) {
                states.push(batch.state(i).to_vec());
            }
        }
        next += 1;
    }
    let is_complete = next == states.len();
    (states, terminal, is_complete)
}

#[test]
fn sets_are_stubborn_by_definition() {
    for (name, network) in models() {
        for algorithm in Algorithm::ALL {
            let mut reduction = NetworkReduction::new(&network, &[], algorithm);
            let (states, _, _) = reduced_states(&network, &mut reduction, 60);
            for state in states.iter().take(40) {
                if let Some(set) = reduction.set(state).expect("no fault")
                    && let Some(what) = violation(&network, state, &set, 300)
                {
                    let set: Vec<String> = set.iter().map(|m| network.micro_name(*m)).collect();
                    panic!(
                        "{name}, {}: {what}\nset {set:?}\nstate {:?}",
                        algorithm.word(),
                        network.view(state)
                    );
                }
            }
        }
    }
}

#[test]
fn terminal_states_are_those_of_the_full_search() {
    for (name, network) in models() {
        let mut full = BTreeSet::new();
        let mut seen: HashSet<Vec<u8>> = HashSet::from([network.initial_state().expect("it can begin")]);
        let mut queue: VecDeque<Vec<u8>> = seen.iter().cloned().collect();
        while let Some(state) = queue.pop_front() {
            let expansion = network.expand(&state);
            if expansion.successors.is_empty() {
                full.insert(state);
            }
            for successor in expansion.successors {
                if seen.insert(successor.state.clone()) {
                    queue.push_back(successor.state);
                }
            }
        }
        for algorithm in Algorithm::ALL {
            let mut reduction = NetworkReduction::new(&network, &[], algorithm);
            let (states, terminal, is_complete) = reduced_states(&network, &mut reduction, usize::MAX);
            assert!(is_complete && states.len() <= seen.len(), "{name}");
            assert_eq!(terminal, full, "{name}, {}", algorithm.word());
        }
    }
}
