//! The token ring of HVV: counts of the original tool, to the unit; one token; both formats of rules.

use stubborn_explore::{Limits, Unwatched};
use stubborn_gallery::process_ring::ProcessRing;
use stubborn_lts::{
    Files, MemoryFiles, NoComponent, Plan, ReadOptions, Unfolded, read_lsts, read_rules, unfold,
    write_extended_rules, write_lsts, write_numeric_rules,
};

fn plan_of(files: &MemoryFiles, rules: &str) -> Plan {
    let options = ReadOptions::default();
    let mut load = |path: &str| {
        let bytes = files.load(path).map_err(NoComponent::Load)?;
        read_lsts(path, bytes, files, options).map_err(NoComponent::Refused)
    };
    let bytes = files.load(rules).unwrap();
    read_rules(rules, bytes, files, &mut load, options).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn files(ring: ProcessRing) -> MemoryFiles {
    MemoryFiles(ring.files().into_iter().map(|(name, text)| (name, text.into_bytes())).collect())
}

fn unfolded(plan: &Plan) -> Unfolded {
    unfold(plan, Limits::default(), false, &mut Unwatched).unwrap()
}

fn counts(ring: ProcessRing) -> (u64, u64, u64) {
    let Unfolded { stats, .. } = unfolded(&plan_of(&files(ring), "ring.ext"));
    (stats.states, stats.edges, stats.terminal_states)
}

#[test]
fn counts_are_those_of_the_original_tool() {
    let ring = ProcessRing::new;
    assert_eq!(counts(ring(2)), (132, 298, 2));
    assert_eq!(counts(ring(3)), (1_320, 4_164, 3));
    assert_eq!(counts(ring(4)), (12_320, 49_936, 4));
    let (states, edges, _) = counts(ring(5));
    assert_eq!((states, edges), (110_000, 544_800));
    let (states, edges, _) = counts(ring(6));
    assert_eq!((states, edges), (950_400, 5_562_240));
    let fault = |fault, n| counts(ring(n).with_fault(fault));
    assert_eq!(
        [fault(1, 2), fault(1, 3), fault(1, 4)],
        [(253, 562, 10), (4_829, 15_659, 34), (86_977, 369_332, 116)]
    );
    assert_eq!(
        [fault(2, 2), fault(2, 3), fault(2, 4)],
        [(143, 325, 2), (1_441, 4_568, 3), (13_420, 54_552, 4)]
    );
    assert_eq!(
        [fault(3, 2), fault(3, 3), fault(3, 4)],
        [(138, 309, 4), (1_360, 4_272, 7), (12_600, 50_940, 12)]
    );
}

#[test]
fn there_is_exactly_one_token_in_every_state() {
    for n in 2..=4 {
        let lsts = unfolded(&plan_of(&files(ProcessRing::new(n)), "ring.ext")).lsts;
        let tokens: Vec<_> = lsts.propositions().iter().filter(|p| p.mark.is_permanent()).collect();
        assert_eq!(tokens.len(), n);
        for state in 0..lsts.n_states() {
            assert_eq!(tokens.iter().filter(|token| token.states.contains(state)).count(), 1, "n = {n}");
        }
    }
    let faulty = unfolded(&plan_of(&files(ProcessRing::new(3).with_fault(1)), "ring.ext")).lsts;
    let count = |s| faulty.propositions().iter().filter(|p| p.states.contains(s)).count();
    assert!((0..faulty.n_states()).any(|state| count(state) == 2));
}

#[test]
fn both_formats_of_rules_make_the_same_bytes() {
    let mut files = files(ProcessRing { visible: true, ..ProcessRing::new(3) });
    let plan = plan_of(&files, "ring.ext");
    let (mut extended, mut numeric) = (Vec::new(), Vec::new());
    write_extended_rules(&plan, &mut extended).unwrap();
    write_numeric_rules(&plan, &mut numeric).unwrap();
    files.0.push(("again.ext".into(), extended.clone()));
    files.0.push(("ring.rules".into(), numeric.clone()));
    let text = |plan: &Plan| {
        let mut out = Vec::new();
        write_lsts(&unfolded(plan).lsts, &mut out).unwrap();
        out
    };
    let expected = text(&plan);
    for name in ["again.ext", "ring.rules"] {
        let again = plan_of(&files, name);
        assert_eq!(text(&again), expected, "{name}");
        let (mut one, mut other) = (Vec::new(), Vec::new());
        write_extended_rules(&again, &mut one).unwrap();
        write_numeric_rules(&again, &mut other).unwrap();
        assert!(one == extended && other == numeric, "{name}");
    }
}
