//! Every reduction gives the verdicts of the full search, on Promela models.
//!
//! The models are those of the front-end's tests and, if SPIN is installed, the examples that come with it.
//! `STUBBORN_MODELS=/a/directory` has it look elsewhere, and `STUBBORN_MOST_STATES` sets what is too large. With
//! `--nocapture` every model has its line: what was compared and how long it took, or why it was not compared.

use crate::files::{Directory, EXAMPLES, compile_file, models, promela_files};
use std::path::PathBuf;
use std::time::Instant;
use stubborn_explore::{Limits, Unwatched};
use stubborn_network::{Expr, Network, Optimisations};
use stubborn_promela::{Options as CompileOptions, compile};
use stubborn_reduce::{NetworkReduction, Reduction};
use stubborn_system::Question;
use stubborn_verdict::{Analysis, AnySystem, EngineKind, Options, ReductionKind, Verdict, analyse_with};

fn analysis(network: &Network, reduction: ReductionKind, most: u64) -> Option<Analysis> {
    checked(network, &[], reduction, most)
}

/// `checks` take part in the choice of stubborn sets; nobody looks whether they hold.
fn checked(network: &Network, checks: &[Expr], reduction: ReductionKind, most: u64) -> Option<Analysis> {
    let make = |kind: ReductionKind| {
        let make = || {
            Box::new(NetworkReduction::new(network, checks, kind)) as Box<dyn Reduction<AnySystem<'_, [u8]>>>
        };
        (kind != ReductionKind::None).then(make)
    };
    let options = Options {
        questions: Some(vec![Question::Safety, Question::Deadlock, Question::MayTerminate]),
        reduction,
        // The full search without, the others with what is remembered.
        engine: if reduction == ReductionKind::None { EngineKind::Interpreter } else { EngineKind::Packed },
        limits: Limits { states: most, ..Limits::default() },
        all_errors: true,
        ..Options::default()
    };
    analyse_with(network, &make, &options, &mut Unwatched).ok()
}

fn words(analysis: &Analysis) -> Vec<&'static str> {
    analysis.answers.iter().map(|answer| answer.verdict.word()).collect()
}

#[test]
fn every_reduction_gives_the_verdicts_of_the_full_search() {
    let directories = match std::env::var_os("STUBBORN_MODELS") {
        Some(directory) => vec![PathBuf::from(directory)],
        None => vec![models(), PathBuf::from(EXAMPLES)],
    };
    let most = std::env::var("STUBBORN_MOST_STATES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let (mut n_compared, mut n_violated, mut n_reduced) = (0, 0, 0);
    for path in directories.iter().flat_map(|directory| promela_files(directory)) {
        let (name, started) = (path.display(), Instant::now());
        let Some(network) = compile_file(&path).network else {
            println!("{name}: refused");
            continue;
        };
        let Some(full) = analysis(&network, ReductionKind::None, most) else {
            println!("{name}: a fault of the model");
            continue;
        };
        if full.answers.iter().any(|answer| matches!(answer.verdict, Verdict::Inconclusive(_))) {
            println!("{name}: more than {most} states");
            continue;
        }
        n_compared += 1;
        n_violated += usize::from(words(&full).contains(&"violated"));
        // What `check` does by default.
        let optimised = network.optimised(Optimisations::ALL, &[]).network;
        let default = analysis(&optimised, ReductionKind::Smaller, u64::MAX).expect("no fault");
        assert_eq!(words(&default), words(&full), "{}, optimised", path.display());
        for reduction in ReductionKind::ALL.into_iter().filter(|&r| r != ReductionKind::None) {
            let reduced = analysis(&network, reduction, u64::MAX).expect("no fault");
            assert_eq!(words(&reduced), words(&full), "{}, {}", path.display(), reduction.word());
            let (states, all) = (reduced.phases[0].stats.states, full.phases[0].stats.states);
            assert!(states <= all, "{}, {}: {states} of {all}", path.display(), reduction.word());
            n_reduced += usize::from(states < all);
            // What was explored is part of the whole, so as many terminal states are the same ones.
            let terminal = |analysis: &Analysis| analysis.phases[0].stats.terminal_states;
            if reduction != ReductionKind::UpSets {
                assert_eq!(terminal(&reduced), terminal(&full), "{name}, {}", reduction.word());
            }
            if full.answers[0].verdict.word() == "holds" {
                assert_eq!(reduced.answers[0].phase, 0, "{}, {}", path.display(), reduction.word());
            }
        }
        let (states, answers) = (full.phases[0].stats.states, words(&full).join(", "));
        println!("{name}: {states} states, {answers}; {:.1} s", started.elapsed().as_secs_f64());
    }
    println!("{n_compared} models compared, {n_violated} of them violated, {n_reduced} searches smaller");
    assert!(
        n_compared >= 100 && n_violated >= 20 && n_reduced >= 200,
        "{n_compared} {n_violated} {n_reduced}"
    );
}

/// V15, Table I, "correct": states without reduction, and with the hand-written rules of figure 4. Here the
/// rules are derived, from a model at the same level of detail.
#[test]
fn peterson_is_reduced_at_least_as_well_as_by_the_rules_of_figure_4() {
    for (n, all, by_hand) in [(2, 574, 378), (3, 96_854, 44_868)] {
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let exclusion = pairs.map(|(i, j)| format!("!(customer[{i}]@critical && customer[{j}]@critical)"));
        let options = CompileOptions {
            definitions: vec![("N".into(), n.to_string())],
            invariants: exclusion.collect(),
            ..CompileOptions::default()
        };
        let text = include_str!("../models/peterson_n.pml");
        let compiled = compile("peterson_n.pml", text, &Directory(PathBuf::new()), &options);
        let network = compiled.network.expect("a good model");
        assert_eq!(compiled.invariants.len(), n * (n - 1) / 2);
        let states = |reduction: ReductionKind| {
            let analysis = checked(&network, &compiled.invariants, reduction, u64::MAX).expect("no fault");
            assert_eq!(words(&analysis), ["holds", "holds", "holds"]);
            analysis.phases[0].stats.states
        };
        assert_eq!(states(ReductionKind::None), all);
        let reduced = states(ReductionKind::Smaller);
        println!("{n} customers: {reduced} of {all} states, {by_hand} with the rules of figure 4");
        assert!(reduced <= by_hand);
    }
}
