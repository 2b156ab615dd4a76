//! Every model of the gallery, with every reduction, order and store: the same answers, and stubborn sets
//! that satisfy their definition in every state.

use stubborn_explore::Unwatched;
use stubborn_model::{Model, ModelSystem, RuleSource};
use stubborn_reduce::CheckDepth;
use stubborn_verdict::{Analysis, Options, ReductionKind, SearchKind, StoreKind, analyse};

/// Small sizes, so that the definition can be checked in every state.
fn small_models() -> Vec<Box<dyn Model>> {
    let mut models = Vec::new();
    for entry in stubborn_gallery::entries() {
        for (variant, _) in entry.variants {
            let size = (*entry.sizes.start()).max(2).min(*entry.sizes.end());
            models.push(entry.build(Some(size), Some(variant)).unwrap());
        }
    }
    models.push(stubborn_gallery::build("token-ring", Some(4), None).unwrap());
    models.push(stubborn_gallery::build("philosophers", Some(4), Some("leaving")).unwrap());
    models
}

fn run(model: &dyn Model, source: RuleSource, options: &Options) -> Analysis {
    // Flat words hold every model; the narrow forms are used by the binary.
    let system = ModelSystem::<[u64]>::new(model, source).unwrap();
    analyse(&system, options, &mut Unwatched).unwrap_or_else(|b| panic!("{}: {}", model.name(), b.fault))
}

fn verdicts(analysis: &Analysis) -> Vec<(String, &'static str)> {
    analysis.answers.iter().map(|a| (a.text.clone(), a.verdict.word())).collect()
}

#[test]
fn all_ways_to_search_agree_and_all_sets_are_stubborn() {
    for model in small_models() {
        let model = &*model;
        let plain = Options { all_errors: true, ..Options::default() };
        let truth = run(model, RuleSource::None, &plain);
        let truth = verdicts(&truth);
        assert!(truth.iter().all(|(_, word)| ["holds", "violated"].contains(word)), "{truth:?}");
        let mut sources = vec![RuleSource::Derived];
        if model.has_rules() {
            sources.push(RuleSource::Hand);
        }
        for source in sources {
            for reduction in ReductionKind::BY_RULES {
                for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
                    for symmetry in if model.has_symmetry() { vec![false, true] } else { vec![false] } {
                        let check = Some(CheckDepth::Everything);
                        let options = Options { reduction, search, symmetry, check, ..plain.clone() };
                        let analysis = run(model, source, &options);
                        let way = format!("{} {source:?} {options:?}", model.name());
                        assert_eq!(verdicts(&analysis), truth, "{way}");
                    }
                }
            }
        }
    }
}

#[test]
fn stores_that_may_omit_states_find_what_is_wrong_and_prove_nothing() {
    let stores =
        [StoreKind::Compact64, StoreKind::Compact128, StoreKind::Bitstate { log2: 22, functions: 3 }];
    let mut n_violated = 0;
    for model in small_models() {
        for store in stores {
            for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
                let options = Options { store, search, all_errors: true, ..Options::default() };
                let analysis = run(&*model, RuleSource::None, &options);
                let exact = run(&*model, RuleSource::None, &Options { store: StoreKind::Exact, ..options });
                assert_eq!(analysis.phases[0].stats.states, exact.phases[0].stats.states, "{}", model.name());
                for (answer, truth) in analysis.answers.iter().zip(&exact.answers) {
                    let about_states = ["safety", "deadlock"].contains(&answer.question.word());
                    let expected = match truth.verdict.word() {
                        "violated" if about_states => "violated",
                        _ => "inconclusive",
                    };
                    n_violated += usize::from(expected == "violated");
                    assert_eq!(answer.verdict.word(), expected, "{} {}", model.name(), answer.text);
                }
            }
        }
    }
    assert!(n_violated > 20, "{n_violated}");
}
