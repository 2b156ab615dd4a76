//! Searches of representatives on packed keys against those by the system itself: the same states, transitions, terminal
//! states and levels, the same verdicts with the same counterexamples, the same faults.

use stubborn_explore::Unwatched;
use stubborn_model::{Model, ModelSystem, RuleSource};
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::{Program, Rng};
use stubborn_reduce::{CheckDepth, ReductionKind};
use stubborn_system::WordVector;
use stubborn_verdict::{EngineKind, Kind, Options, SearchKind, StoreKind, analyse};

/// What must not depend on the engine, and whether keys were used in the first search.
fn told<S: WordVector + Kind + ?Sized>(model: &dyn Model, options: &Options) -> (String, bool) {
    let system = ModelSystem::<S>::new(model, RuleSource::of(model)).expect("it is right");
    match analyse(&system, options, &mut Unwatched) {
        Ok(analysis) => {
            let mut told = String::new();
            for phase in &analysis.phases {
                let stats = &phase.stats;
                told += &format!(
                    "{} {} {} {} {} {} {:?} {:?} {:?}\n",
                    stats.states,
                    stats.edges,
                    stats.terminal_states,
                    stats.depth,
                    stats.queue,
                    stats.sightings,
                    phase.end,
                    phase.store,
                    phase.always_may_terminate
                );
            }
            for answer in &analysis.answers {
                told += &format!("{}: {:?}, {}\n", answer.text, answer.verdict, answer.phase);
            }
            (told, analysis.phases[0].key_words.is_some())
        }
        Err(broken) => (format!("{:?} {:?}", broken.fault, broken.trace), false),
    }
}

fn told_of(model: &dyn Model, options: &Options) -> (String, bool) {
    match model.layout().n_words() {
        1 => told::<[u64; 1]>(model, options),
        2 => told::<[u64; 2]>(model, options),
        3 | 4 => told::<[u64; 4]>(model, options),
        _ => told::<[u64]>(model, options),
    }
}

/// What differs from the interpreter, if anything; and whether keys were used.
fn compare(model: &dyn Model, engine: EngineKind, options: &Options) -> Result<bool, String> {
    let (expected, _) = told_of(model, &Options { engine: EngineKind::Interpreter, ..options.clone() });
    let (told, is_packed) = told_of(model, &Options { engine, ..options.clone() });
    if told == expected { Ok(is_packed) } else { Err(format!("{told}\nnot\n{expected}\n{options:?}")) }
}

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
            reduction: *rng.pick(&[ReductionKind::None, ReductionKind::None, ReductionKind::Deletion]),
            check: rng.chance(1, 4).then_some(CheckDepth::Everything),
            all_errors: rng.chance(1, 2),
            ..Options::default()
        };
        match compare(&program, EngineKind::Packed, &options) {
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
                for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
                    let options = Options { symmetry: true, search, ..Options::default() };
                    let compared = compare(&*model, EngineKind::Packed, &options);
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
        let told = told_of(&*ring, &options);
        // Representatives are searched in order, with whole states.
        let expected = told_of(&*ring, &Options { engine: EngineKind::Interpreter, ..options });
        assert_eq!(told, (expected.0, true));
    }
}
