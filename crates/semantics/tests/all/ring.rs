//! The token ring of HVV: sizes of the original tool under every minimisation.

use stubborn_explore::{Limits, Unwatched};
use stubborn_gallery::process_ring::ProcessRing;
use stubborn_lts::{
    Files, Lsts, LstsBuilder, MemoryFiles, NoComponent, ReadOptions, read_lsts, read_rules, unfold,
};
use stubborn_semantics::{Comparison, Limit, Minimization, Model, compare, determinise, minimize};

const CFFD: Minimization = Minimization::Cffd { initial_stability: false };

fn files(ring: ProcessRing) -> MemoryFiles {
    MemoryFiles(ring.files().into_iter().map(|(name, text)| (name, text.into_bytes())).collect())
}

fn process(files: &MemoryFiles, name: &str) -> Lsts {
    read_lsts(name, files.load(name).unwrap(), files, ReadOptions::default()).unwrap()
}

/// A ring of which requests, grants and releases of the first client are seen.
fn ring(n: usize) -> Lsts {
    let files = files(ProcessRing { visible: true, rejections: false, ..ProcessRing::new(n) });
    let options = ReadOptions::default();
    let mut load = |path: &str| {
        let bytes = files.load(path).map_err(NoComponent::Load)?;
        read_lsts(path, bytes, &files, options).map_err(NoComponent::Refused)
    };
    let plan = read_rules("ring.ext", files.load("ring.ext").unwrap(), &files, &mut load, options).unwrap();
    unfold(&plan, Limits::default(), false, &mut Unwatched).unwrap().lsts
}

/// The same without propositions.
fn without_propositions(lsts: &Lsts) -> Lsts {
    let mut builder = LstsBuilder::new(lsts.n_states() as u64).unwrap();
    lsts.action_names().iter().for_each(|name| {
        builder.action(name);
    });
    builder.set_initial(lsts.initial());
    for state in 0..lsts.n_states() as u32 {
        lsts.edges(state).for_each(|(action, target)| builder.add_transition(state, action, target));
    }
    builder.build().unwrap()
}

#[test]
fn the_ring_of_five_has_the_sizes_of_the_original_tool() {
    let whole = without_propositions(&ring(5));
    assert_eq!(size(&whole, Minimization::Strong), (74_300, 378_049));
    assert_eq!(size(&whole, Minimization::Branching), (12, 23));
    assert_eq!(size(&whole, CFFD), (4, 5));
}

fn size(lsts: &Lsts, how: Minimization) -> (usize, usize) {
    let small = minimize(lsts, how, Limit::default()).unwrap();
    (small.n_states(), small.n_transitions())
}

#[test]
fn clients_and_servers_are_as_small_as_can_be() {
    let files = files(ProcessRing::new(2));
    for (name, expected) in [("client.lsts", (6, 6)), ("first.lsts", (11, 29)), ("server.lsts", (11, 29))] {
        let process = process(&files, name);
        let reachable = process.reachable().count_ones(..);
        assert_eq!((reachable, process.n_transitions()), expected, "{name}");
        let form = minimize(&process, CFFD, Limit::default()).unwrap();
        assert_eq!((form.n_states(), form.n_transitions()), expected, "{name}");
        assert_eq!(compare(&process, &form, &Comparison::new(Model::Cffd)), Ok(None));
        assert_eq!(minimize(&form, CFFD, Limit::default()).as_ref(), Ok(&form), "{name}");
    }
}

#[test]
fn sizes_of_rings_are_those_of_the_original_tool() {
    let mut forms = Vec::new();
    for (n, strong) in [(2, None), (3, Some(1_064)), (4, Some(9_150))] {
        let whole = without_propositions(&ring(n));
        if let Some(strong) = strong {
            assert_eq!(size(&whole, Minimization::Strong).0, strong, "n = {n}");
            assert_eq!(size(&whole, Minimization::Branching), (12, 23), "n = {n}");
        }
        let form = minimize(&whole, CFFD, Limit::default()).unwrap();
        assert_eq!((form.n_states(), form.n_transitions()), (4, 5), "n = {n}");
        assert_eq!(compare(&whole, &form, &Comparison::new(Model::Cffd)), Ok(None), "n = {n}");
        assert_eq!(determinise(&whole, Limit::default()).unwrap().deadlocks().count(), 0, "n = {n}");
        forms.push(form);
    }
    // However long the ring is, its client sees the same.
    assert!(forms.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn rings_with_their_propositions_are_the_same_as_their_small_forms() {
    let whole = ring(3);
    assert_eq!(whole.propositions().len(), 3);
    let sizes = [Minimization::Strong, Minimization::Branching, CFFD].map(|how| {
        let small = minimize(&whole, how, Limit::default()).unwrap();
        assert_eq!(compare(&whole, &small, &Comparison::new(Model::Cffd)), Ok(None), "{how:?}");
        small.n_states()
    });
    assert!(sizes[0] >= sizes[1] && sizes[1] > 12, "{sizes:?}");
}
