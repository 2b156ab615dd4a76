//! Optimised networks have the same answers.
//!
//! By brute force, on all test models: the network and its optimised form are walked side by side. Each pair
//! of states must have the same live part, the same things must go wrong in both, and each successor of one
//! must have a successor of the other with the same steps. So they are bisimilar, and no question whatever
//! can tell them apart. Then what may look at states from outside: invariants, formulas.

use crate::support::{Directory, count, models, network};
#[allow(dead_code, reason = "each test uses its part")]
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::path::PathBuf;
use stubborn_network::{Expansion, Expr, Network, Optimisations, Optimised, Trouble};
use stubborn_promela::{Options, compile};

/// States of the network as written that are compared, per model.
const MOST: usize = 3_000;

fn all_models() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(models()).expect("a directory").flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "pml")).collect();
    files.sort();
    files
}

fn compiled(text: &str, invariants: &[&str]) -> (Network, Vec<Expr>) {
    let invariants = invariants.iter().map(|i| (*i).to_owned()).collect();
    let options = Options { invariants, ..Options::default() };
    let compiled = compile("test.pml", text, &Directory(models()), &options);
    (compiled.network.expect("a sound model"), compiled.invariants)
}

/// What goes wrong, without the endless atomic sequences: they may come back earlier.
fn troubles(expansion: &Expansion) -> BTreeSet<String> {
    let errors = expansion.all_events().filter(|event| event.trouble != Trouble::EndlessAtomic);
    errors.map(|event| format!("{event:?}")).collect()
}

/// The successors: first step, live part of where it leads.
fn moves(optimised: &Optimised, expansion: &Expansion) -> BTreeSet<(usize, u32, Vec<u8>)> {
    let successors = expansion.successors.iter();
    successors.map(|s| (s.trail[0].pid, s.trail[0].step.0, optimised.live_part(&s.state))).collect()
}

/// Walks both; how many pairs of states were compared.
fn compare(name: &str, network: &Network, optimised: &Optimised) -> usize {
    let begin = (network.initial_state().unwrap(), optimised.network.initial_state().unwrap());
    assert_eq!(optimised.live_part(&begin.0), optimised.live_part(&begin.1), "{name} begins differently");
    let mut seen = HashSet::from([begin.clone()]);
    let mut queue = VecDeque::from([begin]);
    while let Some((plain, small)) = queue.pop_front() {
        let (of_plain, of_small) = (network.expand(&plain), optimised.network.expand(&small));
        assert_eq!(troubles(&of_plain), troubles(&of_small), "{name}: other events");
        assert_eq!(moves(optimised, &of_plain), moves(optimised, &of_small), "{name}: other moves");
        for a in &of_plain.successors {
            let live = optimised.live_part(&a.state);
            let same = of_small.successors.iter().filter(|b| b.trail[0] == a.trail[0]);
            for b in same.filter(|b| optimised.live_part(&b.state) == live) {
                let pair = (a.state.clone(), b.state.clone());
                if seen.len() < MOST && seen.insert(pair.clone()) {
                    queue.push_back(pair);
                }
            }
        }
    }
    seen.len()
}

#[test]
fn optimised_networks_are_bisimilar_to_those_as_written() {
    let (mut n_changed, mut n_pairs) = (0, 0);
    for path in all_models() {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let network = network(&path).expect("a sound model");
        for wanted in [
            Optimisations { dead: true, ..Optimisations::default() },
            Optimisations { hide: true, ..Optimisations::default() },
            Optimisations::OF_RUNS,
        ] {
            let optimised = network.optimised(wanted, &[]);
            n_changed += usize::from(!optimised.is_unchanged());
            n_pairs += compare(&name, &network, &optimised);
        }
    }
    println!("{n_changed} networks were changed, {n_pairs} pairs of states compared");
    assert!(n_changed >= 100, "only {n_changed} networks were changed");
}

#[test]
fn errors_are_found_with_and_without() {
    let mut n_errors = 0;
    for path in all_models() {
        let network = network(&path).expect("a sound model");
        let small = network.optimised(Optimisations::OF_RUNS, &[]).network;
        let (plain, small) = (count(&network, 20_000), count(&small, 20_000));
        assert_eq!(plain.map(|c| c.has_errors), small.map(|c| c.has_errors), "{}", path.display());
        n_errors += usize::from(plain.is_some_and(|c| c.has_errors));
    }
    assert!(n_errors >= 20, "only {n_errors} models have errors");
}

#[test]
fn an_endless_atomic_sequence_leads_to_the_same_places() {
    let text = "byte n, done;
        active proctype P() { byte i; atomic { do :: n++ :: i = 3; i > 2 :: break od }; done = 1 }
        active proctype Q() { (done == 1) }";
    let (network, _) = compiled(text, &[]);
    let optimised = network.optimised(Optimisations::OF_RUNS, &[]);
    assert_eq!(
        (optimised.hidden.as_slice(), optimised.reset.as_slice()),
        (&["n".into()][..], &["P.i".into()][..])
    );
    assert!(compare("endless", &network, &optimised) > 3);
}

#[test]
fn what_an_invariant_reads_is_not_hidden_and_not_reset() {
    let text = "byte g; active proctype P() { byte x; x = 3; g = 7; skip }";
    let (network, _) = compiled(text, &[]);
    let optimised = network.optimised(Optimisations::OF_RUNS, &[]);
    assert_eq!(optimised.hidden, ["g"]);
    assert_eq!(optimised.reset, ["P.x"]);
    let (with, invariants) = compiled(text, &["g < 7", "P:x < 3"]);
    let readers: Vec<&Expr> = invariants.iter().collect();
    assert!(with.optimised(Optimisations::OF_RUNS, &readers).is_unchanged());
    // The expressions alone are enough, whatever the front-end has noted.
    assert!(network.optimised(Optimisations::OF_RUNS, &readers).is_unchanged());
}

#[test]
fn only_what_is_asked_for_is_done() {
    let (network, _) = compiled("byte g; active proctype P() { byte x; x = 3; g = 7; skip }", &[]);
    let dead = network.optimised(Optimisations { dead: true, ..Optimisations::default() }, &[]);
    assert_eq!((dead.hidden.len(), dead.reset.len()), (0, 1));
    let hide = network.optimised(Optimisations { hide: true, ..Optimisations::default() }, &[]);
    assert_eq!((hide.hidden.len(), hide.reset.len()), (1, 0));
    let none = network.optimised(Optimisations::default(), &[]);
    assert!(none.is_unchanged());
    assert_eq!(none.network, network);
}

#[test]
fn a_planted_reset_of_a_variable_in_use_is_noticed() {
    let (network, _) = compiled("active proctype P() { byte x; x = 3; skip; assert(x == 3) }", &[]);
    let mut optimised = network.optimised(Optimisations::OF_RUNS, &[]);
    assert!(optimised.is_unchanged());
    let (_, step) =
        optimised.network.steps_of(0).find(|(_, step)| step.text == "x = 3").expect("it is there");
    let place = step.action.targets()[0].clone();
    let all = optimised.network.processes[0].locations.iter_mut().flat_map(|l| &mut l.steps);
    all.filter(|step| step.text == "x = 3").for_each(|step| step.resets.push(place.clone()));
    let result = std::panic::catch_unwind(|| compare("planted", &network, &optimised));
    assert!(result.is_err(), "nobody noticed");
}

/// Goes on with steps that are merged until there is none; where all ways end.
fn settled(network: &Network, merged: &Optimised, state: Vec<u8>) -> Vec<u8> {
    let possible = merged.merged_steps(&state);
    let expansion = network.expand(&state);
    let mut next = expansion.successors.iter().filter(|s| possible.contains(&s.transition));
    match next.next() {
        None => state,
        Some(first) => {
            assert!(first.events.is_empty(), "a step that cannot go wrong did");
            settled(network, merged, first.state.clone())
        }
    }
}

/// The states that are reached and those in which something goes wrong, as far as merged steps go.
fn reached(network: &Network, searched: &Network, merged: &Optimised) -> Option<[BTreeSet<Vec<u8>>; 3]> {
    let begin = searched.initial_state().unwrap();
    let mut seen = HashSet::from([begin.clone()]);
    let mut queue = VecDeque::from([begin]);
    let mut found: [BTreeSet<Vec<u8>>; 3] = Default::default();
    while let Some(state) = queue.pop_front() {
        let expansion = searched.expand(&state);
        let here = merged.live_part(&settled(network, merged, state));
        let is_wrong = expansion.all_events().any(|event| event.trouble != Trouble::EndlessAtomic);
        if expansion.successors.is_empty() {
            found[1].insert(here.clone());
        }
        if is_wrong && expansion.successors.iter().all(|s| s.events.is_empty()) {
            found[2].insert(here.clone());
        }
        found[0].insert(here);
        for successor in expansion.successors {
            if seen.len() >= MOST {
                return None;
            }
            if seen.insert(successor.state.clone()) {
                queue.push_back(successor.state);
            }
        }
    }
    Some(found)
}

#[test]
fn merged_steps_lead_to_the_same_states() {
    let (mut n_merged, mut n_compared) = (0, 0);
    for path in all_models() {
        let network = network(&path).expect("a sound model");
        let merged = network.optimised(Optimisations { merge: true, ..Optimisations::default() }, &[]);
        if merged.n_merged() == 0 {
            continue;
        }
        n_merged += 1;
        let both = reached(&network, &network, &merged).zip(reached(&network, &merged.network, &merged));
        if let Some((plain, small)) = both {
            n_compared += 1;
            assert_eq!(plain[0].len(), small[0].len(), "{}", path.display());
            assert!(plain == small, "{}: other states", path.display());
        }
    }
    println!("{n_merged} networks have merged steps, {n_compared} were compared in full");
    assert!(n_merged >= 50 && n_compared >= 40, "{n_merged} merged, {n_compared} compared");
}

#[test]
fn a_planted_merge_of_a_step_that_others_see_is_noticed() {
    let text = "byte g; active proctype P() { g = 1; g = 0 }
        active proctype Q() { (g == 1); skip; assert(false) }";
    let (network, _) = compiled(text, &[]);
    let mut merged = network.optimised(Optimisations { merge: true, ..Optimisations::default() }, &[]);
    let all = merged.network.processes[0].locations.iter_mut().flat_map(|l| &mut l.steps);
    all.filter(|step| step.text == "g = 1").for_each(|step| step.is_atomic = true);
    let (plain, small) = (reached(&network, &network, &merged), reached(&network, &merged.network, &merged));
    assert!(plain.is_some() && plain != small, "nobody noticed");
}

#[test]
fn only_steps_that_concern_nobody_else_are_merged() {
    let merged = |text: &str| {
        let (network, _) = compiled(text, &[]);
        network.optimised(Optimisations { merge: true, ..Optimisations::default() }, &[]).n_merged()
    };
    assert_eq!(merged("byte g; active proctype P() { byte x; g = 1; x = 3; g = 2 }"), 1);
    // What begins a process follows no step.
    assert_eq!(merged("byte g; active proctype P() { g = 1; g = 2; g = 3 }"), 0);
    assert_eq!(merged("byte g, a[3]; active proctype P() { byte x; g = 1; x = a[1]; g = 2 }"), 0);
    assert_eq!(merged("byte g; active proctype P() { byte x; g = 1; x = 4 / x; g = 2 }"), 0);
    assert_eq!(merged("byte g; active proctype P() { byte x; g = 1; progress: x = 3; g = 2 }"), 0);
    assert_eq!(merged("byte g; active proctype P() provided (g < 2) { byte x; g = 1; x = 3; g = 2 }"), 0);
    // Who stays before a mark for ever makes no progress.
    assert_eq!(merged("byte g; active proctype P() { byte x; g = 1; x = 3; progress: g = 2 }"), 0);
    let looks = "byte g; active proctype P() { byte x; g = 1; L: x = 3; g = 2 }
        active proctype Q() { P@L }";
    assert_eq!(merged(looks), 0);
    // One location of a cycle stays.
    let round = "active proctype P() { byte x; do :: x < 9; x++ :: else; x = 0 od }";
    assert!(merged(round) >= 1);
    let (network, _) = compiled(round, &[]);
    let small = network.optimised(Optimisations::ALL, &[]).network;
    assert!(count(&small, 1_000).is_some_and(|counts| !counts.has_errors), "a run without an end");
}
