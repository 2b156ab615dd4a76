//! Stubborn sets of Promela models, against their definition and against full searches.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use stubborn_network::{Expr, Micro, Network, Place, Scope, Variable};
use stubborn_promela::{Options, compile};
use stubborn_reduce::{CheckDepth, NetworkReduction, Reduction, ReductionKind};
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
        let expanded = reduction.expand(network, &states[next], &mut batch);
        expanded.unwrap_or_else(|fault| panic!("{fault}\n{:?}", network.view(&states[next])));
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
        for kind in ReductionKind::ALL {
            let reduction = NetworkReduction::new(&network, &[], kind);
            let mut reduction = reduction.checked(CheckDepth::Everything);
            // A set that is not stubborn is a fault.
            let (states, _, _) = reduced_states(&network, &mut reduction, 40);
            assert!(!states.is_empty(), "{name}");
        }
    }
}

#[test]
fn the_smaller_of_two_is_one_of_the_two() {
    let mut n_deleted = 0;
    for (name, network) in models() {
        let of_kind = |kind| NetworkReduction::new(&network, &[], kind);
        // Few enough for deletion not to be given up.
        let (states, _, _) = reduced_states(&network, &mut of_kind(ReductionKind::Smaller), 200);
        let mut smaller = of_kind(ReductionKind::Smaller);
        let mut closing = of_kind(ReductionKind::Persistent3);
        // The kernel's algorithm, on lists.
        let mut deleting = of_kind(ReductionKind::Deletion);
        for state in &states {
            let enabled: BTreeSet<(usize, u32)> = network
                .expand(state)
                .successors
                .iter()
                .map(|s| (s.trail[0].pid, s.trail[0].step.0))
                .collect();
            let closed = closing.set(state).expect("no fault");
            let deleted = deleting.set(state).expect("no fault");
            let pids = |set: &Option<Vec<Micro>>| -> Option<Vec<usize>> {
                let members = set.as_ref()?.iter().filter(|m| enabled.contains(&(m.pid, m.step.0)));
                Some(members.map(|m| m.pid).collect())
            };
            let (closed_pids, deleted_pids) = (pids(&closed), pids(&deleted));
            let is_one_process =
                closed_pids.as_ref().is_some_and(|pids| pids.iter().all(|pid| *pid == pids[0]));
            let size = |pids: &Option<Vec<usize>>| pids.as_ref().map_or(usize::MAX, Vec::len);
            let is_deleted = !is_one_process && size(&deleted_pids) < size(&closed_pids);
            n_deleted += usize::from(is_deleted);
            let expected = if is_deleted { deleted } else { closed };
            assert_eq!(smaller.set(state).expect("no fault"), expected, "{name}");
        }
    }
    assert!(n_deleted > 100, "deletion was better in {n_deleted} states only");
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
        for kind in ReductionKind::ALL {
            let mut reduction = NetworkReduction::new(&network, &[], kind);
            let (states, terminal, is_complete) = reduced_states(&network, &mut reduction, usize::MAX);
            assert!(is_complete && states.len() <= seen.len(), "{name}");
            assert_eq!(terminal, full, "{name}, {}", kind.word());
        }
    }
}

/// Channels have room or messages for what comes later in an atomic sequence in some states, and not in others.
const QUEUES: &str = "chan a = [3] of { byte }; chan b = [2] of { byte }; byte x;
    active [2] proctype S() { byte n; do :: n < 4 -> atomic { n++; a!n; b!n } :: else -> break od }
    active proctype R() { byte m; end: do :: atomic { x < 9 -> x++; a?m } :: a?m -> skip od }
    active proctype Q() { byte m; end: do :: b?m -> x = 0 od }";

#[test]
fn what_is_remembered_is_what_would_be_picked() {
    let directory = Directory(PathBuf::new());
    let queues = compile("queues", QUEUES, &directory, &Options::default()).network.expect("a good model");
    let mut n_expanded = 0;
    for (name, network) in models().into_iter().chain([("queues".to_owned(), queues)]) {
        for kind in ReductionKind::ALL {
            let mut remembering = NetworkReduction::new(&network, &[], kind);
            let mut forgetful = NetworkReduction::new(&network, &[], kind).forgetful();
            let (states, _, _) = reduced_states(&network, &mut remembering, 3_000);
            let mut remembering = NetworkReduction::new(&network, &[], kind);
            let (mut ours, mut theirs) = (Batch::new(), Batch::new());
            for state in &states {
                ours.clear();
                theirs.clear();
                remembering.expand(&network, state, &mut ours).expect("expanded before");
                forgetful.expand(&network, state, &mut theirs).expect("expanded before");
                let vias = |batch: &Batch<[u8]>| (0..batch.len()).map(|i| batch.via(i)).collect::<Vec<_>>();
                assert_eq!(vias(&ours), vias(&theirs), "{name}, {}: {:?}", kind.word(), network.view(state));
                n_expanded += 1;
            }
        }
    }
    assert!(n_expanded > 10_000, "only {n_expanded} states");
}

/// As long as `g` is 0 the atomic run never ends, so that the send is disabled although there is room; what is not known of
/// its guard is no reason.
const ROUND: &str = "byte g; chan q = [2] of { byte, byte }; chan r = [1] of { byte, byte };
    active proctype P() { if :: skip fi }
    active proctype R() { bit l; atomic { { q!1,1 } unless { r?g,1 }; for (l : 0 .. 0) { l = (l + 1) % 3; (g < 1) } } }
    active proctype W() { g = 1 }";

/// The same where the run that goes round is that of the partner: Q may come too late. Nobody ends, so that nobody waits for
/// the end of another.
const PARTNER: &str = "byte g; chan c = [0] of { byte }; chan stop = [1] of { byte };
    active proctype P() { before: c!1; do :: stop?_ od }
    active proctype Q() { P@before; do :: stop?_ od }
    active proctype R() { atomic { c?_; do :: g == 0 -> skip :: else -> break od }; do :: stop?_ od }
    active proctype W() { g = 1; do :: stop?_ od }";

#[test]
fn a_run_that_goes_round_for_ever_is_disabled_for_that_reason() {
    let directory = Directory(PathBuf::new());
    for model in [ROUND, PARTNER] {
        let network = compile("round", model, &directory, &Options::default()).network.expect("a good model");
        let mut full = NetworkReduction::new(&network, &[], ReductionKind::None);
        let (_, terminal, _) = reduced_states(&network, &mut full, usize::MAX);
        for kind in ReductionKind::ALL {
            let reduction = NetworkReduction::new(&network, &[], kind);
            let mut reduction = reduction.checked(CheckDepth::Everything);
            let (_, reduced, _) = reduced_states(&network, &mut reduction, usize::MAX);
            assert_eq!(reduced, terminal, "{}", kind.word());
        }
    }
}

/// What may be looked at in a model: its first and its last variable, and whether there is progress.
fn propositions(network: &Network) -> Vec<Expr> {
    let scalars: Vec<_> = network.globals.iter().filter(|v| v.is_scalar && !v.is_channel).collect();
    let value = |variable: &Variable| {
        let Variable { offset, width, ref name, .. } = *variable;
        Expr::Load(Place { scope: Scope::Global, offset, width, indices: Vec::new(), text: name.clone() })
    };
    let mut all: Vec<Expr> = scalars.first().into_iter().chain(scalars.last()).map(|v| value(v)).collect();
    all.push(Expr::NonProgress);
    all
}

/// Whether some cycle of the explored states leaves out something that can be seen in all its states; and the number of
/// states that do. `None` if there are too many states.
fn puts_off_for_ever(network: &Network, reduction: &mut NetworkReduction<'_>) -> Option<(bool, usize)> {
    let mut numbers = HashMap::from([(network.initial_state().expect("it can begin"), 0)]);
    let mut states: Vec<Vec<u8>> = numbers.keys().cloned().collect();
    let (mut edges, mut partial) = (Vec::new(), Vec::new());
    let mut batch = Batch::new();
    while partial.len() < states.len() {
        batch.clear();
        let expanded = reduction.expand(network, &states[partial.len()], &mut batch);
        expanded.unwrap_or_else(|fault| panic!("{fault}"));
        partial.push(Reduction::<Network>::is_partial(reduction));
        let mut targets = Vec::new();
        for i in 0..batch.len() {
            let next = numbers.len();
            targets.push(*numbers.entry(batch.state(i).to_vec()).or_insert_with(|| {
                states.push(batch.state(i).to_vec());
                next
            }));
        }
        edges.push(targets);
        if states.len() > 5000 {
            return None;
        }
    }
    // Whoever leads to no such state is no part of such a cycle; what is left in the end is, or leads to one.
    let mut left: HashSet<usize> = (0..states.len()).filter(|&i| partial[i]).collect();
    let n_partial = left.len();
    loop {
        let before = left.len();
        let rest: HashSet<usize> =
            left.iter().copied().filter(|&i| edges[i].iter().any(|to| left.contains(to))).collect();
        left = rest;
        if left.len() == before {
            return Some((!left.is_empty(), n_partial));
        }
    }
}

#[test]
fn steady_sets_put_nothing_off_for_ever() {
    let (mut n_partial, mut n_otherwise) = (0, 0);
    for (name, network) in models() {
        for proposition in propositions(&network) {
            let seen = std::slice::from_ref(&proposition);
            let make = || NetworkReduction::for_runs(&network, seen, ReductionKind::Smaller);
            let Some((puts_off, n)) = puts_off_for_ever(&network, &mut make().steady()) else { continue };
            assert!(!puts_off, "{name}: {proposition:?}");
            n_partial += usize::from(n > 0);
            let otherwise = puts_off_for_ever(&network, &mut make());
            n_otherwise += usize::from(otherwise.is_some_and(|(puts_off, _)| puts_off));
        }
    }
    // Something is left out, and it would be put off for ever if that were not minded.
    assert!(n_partial >= 100 && n_otherwise >= 3, "{n_partial}, {n_otherwise}");
    println!("{n_partial} with something left out, {n_otherwise} that would put it off");
}
