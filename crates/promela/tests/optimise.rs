//! Optimised networks have the same answers.
//!
//! By brute force, on all test models: the network and its optimised form are walked side by side. Each pair
//! of states must have the same live part, the same things must go wrong in both, and each successor of one
//! must have a successor of the other with the same steps. So they are bisimilar, and no question whatever
//! can tell them apart. Then what may look at states from outside: invariants, formulas.

#[allow(dead_code, reason = "each test uses its part")]
mod support;

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::path::PathBuf;
use stubborn_network::{Expansion, Expr, Network, Optimisations, Optimised, Trouble};
use stubborn_promela::{Options, compile};
use support::{Directory, count, models, network};

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
            Optimisations { dead: true, hide: false },
            Optimisations { dead: false, hide: true },
            Optimisations::ALL,
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
        let small = network.optimised(Optimisations::ALL, &[]).network;
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
    let optimised = network.optimised(Optimisations::ALL, &[]);
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
    let optimised = network.optimised(Optimisations::ALL, &[]);
    assert_eq!(optimised.hidden, ["g"]);
    assert_eq!(optimised.reset, ["P.x"]);
    let (with, invariants) = compiled(text, &["g < 7", "P:x < 3"]);
    let readers: Vec<&Expr> = invariants.iter().collect();
    assert!(with.optimised(Optimisations::ALL, &readers).is_unchanged());
    // The expressions alone are enough, whatever the front-end has noted.
    assert!(network.optimised(Optimisations::ALL, &readers).is_unchanged());
}

#[test]
fn only_what_is_asked_for_is_done() {
    let (network, _) = compiled("byte g; active proctype P() { byte x; x = 3; g = 7; skip }", &[]);
    let dead = network.optimised(Optimisations { dead: true, hide: false }, &[]);
    assert_eq!((dead.hidden.len(), dead.reset.len()), (0, 1));
    let hide = network.optimised(Optimisations { dead: false, hide: true }, &[]);
    assert_eq!((hide.hidden.len(), hide.reset.len()), (1, 0));
    let none = network.optimised(Optimisations::default(), &[]);
    assert!(none.is_unchanged());
    assert_eq!(none.network, network);
}

#[test]
fn a_planted_reset_of_a_variable_in_use_is_noticed() {
    let (network, _) = compiled("active proctype P() { byte x; x = 3; skip; assert(x == 3) }", &[]);
    let mut optimised = network.optimised(Optimisations::ALL, &[]);
    assert!(optimised.is_unchanged());
    let (_, step) =
        optimised.network.steps_of(0).find(|(_, step)| step.text == "x = 3").expect("it is there");
    let place = step.action.targets()[0].clone();
    let all = optimised.network.processes[0].locations.iter_mut().flat_map(|l| &mut l.steps);
    all.filter(|step| step.text == "x = 3").for_each(|step| step.resets.push(place.clone()));
    let result = std::panic::catch_unwind(|| compare("planted", &network, &optimised));
    assert!(result.is_err(), "nobody noticed");
}
