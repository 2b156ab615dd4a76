//! Searches of representatives on packed keys against those by the system itself: the same states, transitions, terminal
//! states and levels, the same verdicts with the same counterexamples, the same faults.

use crate::engines::{compare, told_of};
use stubborn_model::RuleSource;
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::{Program, Rng};
use stubborn_reduce::{CheckDepth, ReductionKind};
use stubborn_verdict::{EngineKind, Options, SearchKind, StoreKind};

#[test]
fn representatives_of_random_programs_are_the_same_on_keys() {
    let mut n_packed = 0;
    for seed in seeds(600) {
        let mut rng = Rng::new(seed);
        let program = Program::random_symmetric(&mut rng);
        let options = Options {
            symmetry: true,
            search: *rng.pick(&[SearchKind::BreadthFirst, SearchKind::BreadthFirst, SearchKind::DepthFirst]),
            store: *rng.pick(&[StoreKind::Exact, StoreKind::Exact, StoreKind::Compact64]),
            reduction: *rng.pick(&[
                ReductionKind::None,
                ReductionKind::StrongComponents,
                ReductionKind::Deletion,
            ]),
            check: rng.chance(1, 4).then_some(CheckDepth::Everything),
            all_errors: rng.chance(1, 2),
            ..Options::default()
        };
        match compare(&program, RuleSource::of(&program), EngineKind::Packed, &options) {
            Ok(is_packed) => n_packed += usize::from(is_packed),
            Err(wrong) => fail(
                "packed_symmetry",
                "representatives_of_random_programs_are_the_same_on_keys",
                seed,
                wrong,
            ),
        }
    }
    assert!(n_packed > 300, "{n_packed}");
}

#[test]
fn representatives_of_the_gallery_are_the_same_on_keys() {
    let (mut n_models, mut n_packed) = (0, 0);
    for entry in stubborn_gallery::entries() {
        for (variant, _) in entry.variants {
            for size in [*entry.sizes.start(), entry.default_size] {
                let Ok(model) = entry.build(Some(size), Some(variant)) else { continue };
                if !model.has_symmetry() {
                    continue;
                }
                for (search, reduction) in [
                    (SearchKind::BreadthFirst, ReductionKind::None),
                    (SearchKind::DepthFirst, ReductionKind::None),
                    (SearchKind::BreadthFirst, ReductionKind::StrongComponents),
                ] {
                    let options = Options { symmetry: true, search, reduction, ..Options::default() };
                    let compared = compare(&*model, RuleSource::of(&*model), EngineKind::Packed, &options);
                    let is_packed =
                        compared.unwrap_or_else(|e| panic!("{} {variant} {size}: {e}", entry.name));
                    n_packed += usize::from(is_packed);
                    n_models += 1;
                }
            }
        }
    }
    assert!(n_models >= 8 && n_packed * 2 >= n_models, "{n_packed} of {n_models}");
}

#[test]
#[cfg_attr(feature = "always-interpreter", ignore = "this build has no choice")]
fn a_search_of_representatives_that_takes_long_goes_on_with_keys() {
    let ring = stubborn_gallery::build("token-ring", Some(7), None).expect("it makes sense");
    for store in [StoreKind::Exact, StoreKind::Quotient] {
        let options = Options { symmetry: true, store, ..Options::default() };
        let told = told_of(&*ring, RuleSource::of(&*ring), &options);
        // Representatives are searched in order, with whole states.
        let expected =
            told_of(&*ring, RuleSource::of(&*ring), &Options { engine: EngineKind::Interpreter, ..options });
        assert_eq!(told, (expected.0, true));
    }
}
