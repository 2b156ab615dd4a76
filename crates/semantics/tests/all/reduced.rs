//! Reduced compositions of token rings: the same as the whole ones, and small.

use stubborn_explore::{Limits, Unwatched};
use stubborn_gallery::customer_ring::CustomerRing;
use stubborn_gallery::process_ring::ProcessRing;
use stubborn_lts::{
    Files, Lsts, MemoryFiles, NoComponent, Plan, ReadOptions, read_lsts, read_rules, unfold, unfold_reduced,
};
use stubborn_reduce::{ReductionKind, Semantics};
use stubborn_semantics::{Comparison, Limit, Minimization, Model, compare, minimize};

const ALGORITHMS: [ReductionKind; 4] = [
    ReductionKind::Closure,
    ReductionKind::StrongComponents,
    ReductionKind::Deletion,
    ReductionKind::Smaller,
];

fn plan(files: Vec<(String, String)>) -> Plan {
    let files = MemoryFiles(files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect());
    let options = ReadOptions::default();
    let mut load = |path: &str| {
        let bytes = files.load(path).map_err(NoComponent::Load)?;
        read_lsts(path, bytes, &files, options).map_err(NoComponent::Refused)
    };
    read_rules("ring.ext", files.load("ring.ext").unwrap(), &files, &mut load, options).unwrap()
}

/// A ring of which requests, grants and releases of the first client are seen, and nothing else.
fn ring(n: usize) -> Plan {
    plan(ProcessRing { visible: true, token: false, rejections: false, ..ProcessRing::new(n) }.files())
}

fn whole(plan: &Plan) -> Lsts {
    unfold(plan, Limits::default(), false, &mut Unwatched).unwrap().lsts
}

fn reduced(plan: &Plan, algorithm: ReductionKind, semantics: Semantics) -> Lsts {
    unfold_reduced(plan, algorithm, semantics, Limits::default(), false, &mut Unwatched).unwrap().lsts
}

/// Whether a reduced composition is the same as the whole.
fn is_same(whole: &Lsts, small: &Lsts, semantics: Semantics) -> bool {
    let model = match semantics {
        Semantics::Deadlocks => return whole.deadlocks().count() == small.deadlocks().count(),
        Semantics::Traces => Model::Traces,
        Semantics::Failures => Model::Failures,
        Semantics::Cffd => Model::Cffd,
    };
    compare(whole, small, &Comparison::new(model)).unwrap().is_none()
}

#[test]
fn rings_are_the_same_and_no_larger_than_those_of_the_original_tool() {
    // What the original tool leaves: for deadlocks, for CSP, for CFFD.
    let originals = [
        (3, [(500, 996), (500, 996), (528, 1_051)]),
        (4, [(3_054, 7_453), (3_054, 7_453), (3_054, 7_453)]),
        (5, [(17_882, 51_573), (17_882, 51_573), (23_376, 63_426)]),
    ];
    for (n, [deadlocks, csp, cffd]) in originals {
        let plan = ring(n);
        let all = (n < 5).then(|| whole(&plan));
        for algorithm in [ReductionKind::StrongComponents, ReductionKind::Deletion, ReductionKind::Smaller] {
            for (semantics, (states, transitions)) in
                Semantics::ALL.into_iter().zip([deadlocks, csp, csp, cffd])
            {
                let small = reduced(&plan, algorithm, semantics);
                let found = (small.n_states(), small.n_transitions());
                assert!(found.0 <= states && found.1 <= transitions, "{n} {semantics:?}: {found:?}");
                let is_same = all.as_ref().is_none_or(|all| is_same(all, &small, semantics));
                assert!(is_same, "{n} {algorithm:?} {semantics:?}");
            }
        }
    }
}

#[test]
fn rings_whose_tokens_are_seen_are_the_same() {
    for n in 2..=3 {
        let plan = plan(ProcessRing { visible: true, rejections: false, ..ProcessRing::new(n) }.files());
        let all = whole(&plan);
        assert_eq!(all.propositions().len(), n);
        for algorithm in ALGORITHMS {
            for semantics in Semantics::ALL {
                let small = reduced(&plan, algorithm, semantics);
                assert!(is_same(&all, &small, semantics), "{n} {algorithm:?} {semantics:?}");
            }
        }
    }
}

#[test]
fn a_ring_with_round_robin_access_is_linear_in_its_size() {
    for n in 2..=8 {
        let plan = plan(CustomerRing { size: n, visible: true }.files());
        let all = whole(&plan);
        assert_eq!(all.n_states(), 9 * n * (1 << n) / 4, "n = {n}");
        for semantics in Semantics::ALL {
            let small = reduced(&plan, ReductionKind::StrongComponents, semantics);
            assert_eq!((small.n_states(), small.n_transitions()), (7 * n, 10 * n), "{n} {semantics:?}");
            assert!(is_same(&all, &small, semantics), "{n} {semantics:?}");
        }
    }
    let large = plan(CustomerRing { size: 100, visible: true }.files());
    assert_eq!(reduced(&large, ReductionKind::StrongComponents, Semantics::Cffd).n_states(), 700);
}

#[test]
fn the_view_of_a_client_has_four_states_however_long_the_ring_is() {
    for n in 2..=6 {
        let small = reduced(&ring(n), ReductionKind::StrongComponents, Semantics::Cffd);
        let how = Minimization::Cffd { initial_stability: false };
        let form = minimize(&small, how, Limit::default()).unwrap();
        assert_eq!((form.n_states(), form.n_transitions()), (4, 5), "n = {n}");
    }
}
