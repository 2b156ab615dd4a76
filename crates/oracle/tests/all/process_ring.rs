//! The faults of the token ring of HVV are caught as the paper says and the original tool confirms.

use std::collections::BTreeSet;
use stubborn_explore::Unwatched;
use stubborn_gallery::process_ring::ProcessRing;
use stubborn_lts::{
    Composition, CompositionJob, Files, MemoryFiles, NoComponent, Plan, ReadOptions, read_lsts, read_rules,
    with_composition,
};
use stubborn_reduce::{CheckDepth, GoalOriented, Reduction, StrongComponents};
use stubborn_store::{Exact, Store};
use stubborn_system::{Batch, Question, Rejecting, Requirements, Rules, System, TransitionId, WordVector};
use stubborn_verdict::{
    Analysis, EngineKind, Options, RejectionOptions, StoreKind, Verdict, WordKind, check_rejections,
};

fn plan(ring: ProcessRing) -> Plan {
    let files = ring.files().into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    let files = MemoryFiles(files);
    let options = ReadOptions::default();
    let mut load = |path: &str| {
        let bytes = files.load(path).map_err(NoComponent::Load)?;
        read_lsts(path, bytes, &files, options).map_err(NoComponent::Refused)
    };
    let bytes = files.load("ring.ext").unwrap();
    read_rules("ring.ext", bytes, &files, &mut load, options).unwrap_or_else(|refusal| panic!("{refusal}"))
}

struct Check(RejectionOptions, Options);

impl<S: WordKind + ?Sized> CompositionJob<S> for Check {
    type Output = Analysis;

    fn run(self, composition: &Composition<'_, S>) -> Analysis {
        check_rejections(composition, self.0, &self.1, &mut Unwatched)
            .unwrap_or_else(|broken| panic!("{:?}", broken.fault))
    }
}

fn checked(ring: ProcessRing, reduced: bool, options: Options) -> Analysis {
    with_composition(&plan(ring), Check(RejectionOptions { reduced }, options)).unwrap()
}

/// What is violated, in words, with the length of its run.
fn violated(analysis: &Analysis) -> Vec<(&'static str, String, usize)> {
    let mut out = Vec::new();
    for answer in &analysis.answers {
        let Question::Rejection { kind, text } = &answer.question else { panic!("{:?}", answer.question) };
        match &answer.verdict {
            Verdict::Violated(violated) => {
                let trace = violated.trace();
                out.push((kind.word(), text.clone(), trace.cycle_start.unwrap_or(trace.steps.len())));
            }
            Verdict::Holds(_) => {}
            other => panic!("{text}: {}", other.word()),
        }
    }
    out
}

fn all_errors() -> Options {
    Options { all_errors: true, check: Some(CheckDepth::Sample), ..Options::default() }
}

#[test]
fn a_correct_ring_rejects_nothing() {
    for n in 2..=4 {
        for reduced in [false, true] {
            assert_eq!(violated(&checked(ProcessRing::new(n), reduced, all_errors())), [], "n = {n}");
        }
    }
}

#[test]
fn faults_are_caught_by_the_rules_that_the_paper_names() {
    let client = |i: usize| format!("{}.\"W\"", 2 * i);
    for n in 2..=4 {
        for position in 1..=(if n == 4 { 1 } else { n }) {
            let ring = |fault| ProcessRing { position, ..ProcessRing::new(n).with_fault(fault) };
            let found = |fault, reduced| violated(&checked(ring(fault), reduced, all_errors()));
            for reduced in [false, true] {
                // Two tokens: every pair of clients can meet, and in the end the tokens block each other.
                let one = found(1, reduced);
                let kinds: BTreeSet<&str> = one.iter().map(|wrong| wrong.0).collect();
                assert_eq!(kinds, BTreeSet::from(["rej", "dl-rej"]), "n = {n}");
                assert_eq!(one.iter().filter(|wrong| wrong.0 == "rej").count(), n * (n - 1) / 2);
                // A server that gives the token away: its client waits for ever, and no other.
                let two: Vec<_> = found(2, reduced).into_iter().map(|wrong| (wrong.0, wrong.1)).collect();
                assert_eq!(two, [("ll-rej", client(position))], "n = {n}");
                // A client that leaves with access: all others wait in a deadlock.
                let three: Vec<_> = found(3, reduced).into_iter().map(|wrong| (wrong.0, wrong.1)).collect();
                let others = (1..=n).filter(|&i| i != position).map(|i| ("dl-rej", client(i)));
                assert_eq!(three, others.collect::<Vec<_>>(), "n = {n}");
            }
        }
    }
}

#[test]
fn what_breadth_first_search_shows_is_shortest() {
    let shortest_of = |n, fault, kind: &str, reduced| {
        let found = violated(&checked(ProcessRing::new(n).with_fault(fault), reduced, all_errors()));
        found.iter().filter(|wrong| wrong.0 == kind).map(|wrong| wrong.2).min()
    };
    let shortest = |n, fault, kind: &str| shortest_of(n, fault, kind, false);
    for n in 2..=4 {
        assert_eq!(shortest(n, 1, "rej"), Some(9));
        assert_eq!(shortest(n, 1, "dl-rej"), Some([11, 15, 18][n - 2]));
        assert_eq!(shortest(n, 3, "dl-rej"), Some([7, 9, 11][n - 2]));
        assert_eq!(shortest(n, 2, "ll-rej"), Some(2));
        // Of what stubborn sets leave the nearest is shown, too.
        assert_eq!(shortest_of(n, 2, "ll-rej", true), Some(n + 1));
    }
    // The first violation that is found is the paper's.
    let first = checked(ProcessRing::new(4).with_fault(1), false, Options::default());
    let violated: Vec<_> =
        first.answers.iter().filter(|a| matches!(a.verdict, Verdict::Violated(_))).collect();
    assert_eq!(violated.len(), 1);
    assert_eq!(violated[0].question.word(), "rej");
}

#[test]
#[cfg_attr(feature = "always-interpreter", ignore = "this build has no choice")]
fn large_rings_are_searched_on_keys_and_tell_the_same() {
    for fault in [0, 1, 3] {
        let by = |engine, store| {
            let options = Options { engine, store, all_errors: fault > 0, ..Options::default() };
            checked(ProcessRing::new(4).with_fault(fault), false, options)
        };
        let ours = by(EngineKind::Interpreter, StoreKind::Exact);
        let counts = |analysis: &Analysis| {
            let stats = analysis.phases.iter().map(|phase| phase.stats);
            stats.map(|s| [s.states, s.edges, s.terminal_states, s.depth]).collect::<Vec<_>>()
        };
        for store in [StoreKind::Exact, StoreKind::Quotient] {
            for engine in [EngineKind::Auto, EngineKind::Packed] {
                let other = by(engine, store);
                assert_eq!((violated(&ours), counts(&ours)), (violated(&other), counts(&other)));
                // The first search is for states; of a correct ring it tells no way.
                assert_eq!(other.phases[0].key_words, Some(1));
                let is_lean = fault == 0 && store == StoreKind::Quotient;
                assert_eq!(other.phases[0].store == StoreKind::Quotient, is_lean);
            }
        }
        assert!(ours.phases[0].stats.states > 1 << 13 && ours.phases[0].key_words.is_none());
    }
}

/// Compares what goal-oriented sets fire with what plain ones do.
struct Sizes;

impl<S: WordVector + ?Sized> CompositionJob<S> for Sizes {
    /// In how many states the goal-oriented set fires more, and by how much more than explained.
    type Output = (usize, usize);

    fn run(self, composition: &Composition<'_, S>) -> Self::Output {
        let mut store: Exact<S> = Exact::new();
        let mut waiting = Batch::new();
        composition.initial(&mut waiting).unwrap();
        let mut entries = Vec::new();
        store.insert(&waiting, usize::MAX, &mut entries).unwrap();
        let (mut more, mut unexplained, mut next, mut room) = (0, 0, 0, Default::default());
        while next < store.len() as u32 {
            let mut out = Batch::new();
            let mut copy = Batch::new();
            copy.push(TransitionId(0), store.state(next, &mut room).unwrap());
            let state = copy.state(0);
            composition.successors(state, &mut out).unwrap();
            let mut plain = Batch::new();
            StrongComponents::default().expand(composition, state, &mut plain).unwrap();
            let n_guards = composition.rejections().iter().map(|r| r.guard + 1).max().unwrap();
            for guard in 0..n_guards {
                let mut goal = Batch::new();
                GoalOriented::new(composition, guard).expand(composition, state, &mut goal).unwrap();
                let own = closure(composition, state, composition.guard_node(guard));
                let explained = (0..out.len()).filter(|&i| own.contains(&out.via(i))).count();
                more += usize::from(goal.len() > plain.len());
                unexplained = unexplained.max(goal.len().saturating_sub(plain.len() + explained));
            }
            entries.clear();
            store.insert(&out, usize::MAX, &mut entries).unwrap();
            next += 1;
        }
        (more, unexplained)
    }
}

/// Everything that a node brings.
fn closure<S: WordVector + ?Sized>(
    composition: &Composition<'_, S>,
    state: &S,
    node: TransitionId,
) -> BTreeSet<TransitionId> {
    let mut members = BTreeSet::from([node]);
    let mut work = vec![node];
    while let Some(t) = work.pop() {
        let mut required = Requirements::default();
        composition.require(state, t, &mut required).unwrap();
        work.extend(required.smallest().iter().filter(|&t| members.insert(t)).collect::<Vec<_>>());
    }
    members
}

#[test]
fn goal_oriented_sets_fire_no_more_than_plain_ones_and_the_guard_explain() {
    for n in 2..=5 {
        // The larger rings take long, and their faults say nothing new.
        for fault in 0..=(if n > 3 { 0 } else { 3 }) {
            let (more, unexplained) =
                with_composition(&plan(ProcessRing::new(n).with_fault(fault)), Sizes).unwrap();
            assert!(more > 0, "otherwise this says nothing");
            assert_eq!(unexplained, 0, "n = {n}, fault {fault}");
        }
    }
}
