//! The campaign: every reduction, order and question against brute force, on random systems.
//!
//! A system passes if each of ten ways to search gives the true answer to each question, if the terminal
//! states are all there, and if the shortest counterexamples are as short as they can be. Nothing may be
//! left inconclusive without a limit, and nothing may fail to replay. To show that this would notice a wrong
//! rule, seven faults are planted, one at a time, and each must be found.
//!
//! `STUBBORN_TIMES=400 cargo test -p stubborn-oracle --test all campaign::` is the long form.

use stubborn_explore::{Limits, Unwatched};
use stubborn_model::{Model, ModelSystem, RuleSource, WordVector};
use stubborn_oracle::campaign::{Tally, fail, seeds};
use stubborn_oracle::{Brute, FullGraph, Network, Planted, Program, Rng, Shape, shrink};
use stubborn_reduce::CheckDepth;
use stubborn_system::{Observed, Question, Whole};
use stubborn_verdict::{
    Analysis, EngineKind, Inconclusive, Kind, Options, ReductionKind, SearchKind, StoreKind, Verdict, analyse,
};

/// Systems with more states are passed over.
const LIMIT: usize = 3000;

/// States in full, and with the best reduction.
type Sizes = (usize, usize);

/// Compares all ways to search with the truth. `None` if the system is too large.
fn compare<Y: Whole<State: Kind>>(system: &Y, symmetry: bool, check: bool) -> Result<Option<Sizes>, String> {
    let Some(graph) = FullGraph::explore(system, LIMIT) else { return Ok(None) };
    let truth = Brute::new(system, &graph);
    let mut fewest = graph.n_states();
    for reduction in ReductionKind::BY_RULES {
        for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
            let check = check.then_some(CheckDepth::Everything);
            // Both engines have their turn; systems that cannot tell their parts have only one.
            let engine = match (reduction, search) {
                (ReductionKind::None, SearchKind::DepthFirst) => EngineKind::Packed,
                _ => EngineKind::Interpreter,
            };
            let options = Options {
                reduction,
                search,
                engine,
                symmetry,
                check,
                all_errors: true,
                ..Options::default()
            };
            let way = format!("{} {}", reduction.word(), search.word());
            let say = |what: String| format!("{way}: {what}");
            let analysis = run(system, &options).map_err(say)?;
            agrees(&analysis, &truth, &options).map_err(|what| format!("{way}: {what}"))?;
            fewest = fewest.min(analysis.phases[0].stats.states as usize);
            let n_terminal = analysis.phases[0].stats.terminal_states as usize;
            if !symmetry && n_terminal != truth.terminal_states().len() {
                return Err(format!("{way}: {n_terminal} terminal states"));
            }
            if !symmetry && reduction == ReductionKind::None {
                let counts = (analysis.phases[0].stats.states, analysis.phases[0].stats.edges);
                if counts != (graph.n_states() as u64, graph.edges().len() as u64) {
                    return Err(format!("{way}: {counts:?} states and edges"));
                }
            }
        }
    }
    stops_at_once(system, &truth, symmetry)?;
    proves_nothing(system, symmetry, graph.n_states() == 1)?;
    Ok(Some((graph.n_states(), fewest)))
}

fn run<Y: Whole<State: Kind>>(system: &Y, options: &Options) -> Result<Analysis, String> {
    analyse(system, options, &mut Unwatched).map_err(|broken| broken.fault.to_string())
}

/// Every answer is the true one.
fn agrees<Y: Observed>(analysis: &Analysis, truth: &Brute<'_, Y>, options: &Options) -> Result<(), String> {
    for answer in &analysis.answers {
        let holds = truth.holds(&answer.question);
        match &answer.verdict {
            Verdict::Holds(_) if holds => {}
            Verdict::Violated(violated) if !holds => {
                let is_shortest = options.search == SearchKind::BreadthFirst
                    && (answer.question == Question::Deadlock
                        || answer.question == Question::Safety && options.reduction == ReductionKind::None);
                let length = violated.trace().steps.len();
                if is_shortest && truth.shortest_violation(&answer.question) != Some(length) {
                    return Err(format!("{}: {length} steps are not the fewest", answer.text));
                }
            }
            other => return Err(format!("{}: truth {holds}, but {other:?}", answer.text)),
        }
    }
    Ok(())
}

/// Without `all_errors`: the first violation ends the search, and what is answered is true.
fn stops_at_once<Y: Whole<State: Kind>>(
    system: &Y,
    truth: &Brute<'_, Y>,
    symmetry: bool,
) -> Result<(), String> {
    let options = Options { reduction: ReductionKind::StrongComponents, symmetry, ..Options::default() };
    let analysis = run(system, &options)?;
    for answer in &analysis.answers {
        let is_true = match &answer.verdict {
            Verdict::Holds(_) => truth.holds(&answer.question),
            Verdict::Violated(_) => !truth.holds(&answer.question),
            Verdict::Inconclusive(Inconclusive::StoppedAtOther) => {
                analysis.answers.iter().any(|other| matches!(other.verdict, Verdict::Violated(_)))
            }
            _ => false,
        };
        if !is_true {
            return Err(format!("stopping at once: {}: {:?}", answer.text, answer.verdict));
        }
    }
    Ok(())
}

/// Stores that may omit states, and searches that hit a limit, never say "holds".
fn proves_nothing<Y: Whole<State: Kind>>(
    system: &Y,
    symmetry: bool,
    is_single_state: bool,
) -> Result<(), String> {
    let stores =
        [StoreKind::Compact64, StoreKind::Compact128, StoreKind::Bitstate { log2: 10, functions: 2 }];
    let mut all: Vec<Options> = Vec::new();
    for store in stores {
        for search in [SearchKind::BreadthFirst, SearchKind::DepthFirst] {
            all.push(Options { store, search, symmetry, all_errors: true, ..Options::default() });
        }
    }
    let limits = Limits { states: 1, ..Limits::default() };
    all.push(Options { limits, symmetry, ..Options::default() });
    for options in all {
        let analysis = run(system, &options)?;
        for answer in &analysis.answers {
            let claims = matches!(answer.verdict, Verdict::Holds(_) | Verdict::Contradiction(_));
            if claims && !(options.store == StoreKind::Exact && is_single_state) {
                return Err(format!("{:?} claims {}: {:?}", options.store, answer.text, answer.verdict));
            }
        }
    }
    Ok(())
}

/// Runs the campaign on `n` networks of some shapes.
fn networks(name: &str, shapes: &[Shape], n: usize, check_one_in: usize) -> Tally {
    let mut tally = Tally::new();
    for seed in seeds(n) {
        let mut rng = Rng::new(seed);
        let network = Network::random(rng.pick(shapes), &mut rng);
        let check = rng.chance(1, check_one_in);
        match compare(&network, false, check) {
            Ok(Some((full, reduced))) => tally.count(full, reduced),
            Ok(None) => {}
            Err(_) => {
                let small = shrink(&network, |n| compare(n, false, check).is_err());
                let what = compare(&small, false, check).unwrap_err();
                fail("campaign", name, seed, format!("{what}\n{small}"));
            }
        }
    }
    println!(
        "{name}: {} systems, {} states in the median, {:.0}% reduced",
        tally.systems,
        tally.median_states(),
        100.0 * tally.share_reduced()
    );
    tally
}

#[test]
fn small_networks_get_true_answers() {
    let shapes = [Shape::SHAPED_3X3, Shape::NAIVE_4X4];
    let tally = networks("small_networks_get_true_answers", &shapes, 7_500, 8);
    tally.assert_not_degenerate(5, 0.4);
}

#[test]
fn larger_networks_get_true_answers() {
    let shapes = [Shape::SHAPED_4X4, Shape::SHAPED_5X4];
    let tally = networks("larger_networks_get_true_answers", &shapes, 2_000, 40);
    tally.assert_not_degenerate(20, 0.7);
}

/// Compares a program, with states of one of the forms that it fits: keys of one, two or four words, or flat
/// words.
fn compare_program(
    program: &Program,
    form: usize,
    symmetry: bool,
    check: bool,
) -> Result<Option<Sizes>, String> {
    fn with<S: WordVector + Kind + ?Sized>(
        program: &Program,
        symmetry: bool,
        check: bool,
    ) -> Result<Option<Sizes>, String> {
        let system = ModelSystem::<S>::new(program, RuleSource::Derived).map_err(|e| e.to_string())?;
        compare(&system, symmetry, check)
    }
    match program.layout().n_words().max(form) {
        1 => with::<[u64; 1]>(program, symmetry, check),
        2 => with::<[u64; 2]>(program, symmetry, check),
        3 | 4 => with::<[u64; 4]>(program, symmetry, check),
        _ => with::<[u64]>(program, symmetry, check),
    }
}

fn programs(name: &str, n: usize, symmetry: bool, make: impl Fn(&mut Rng) -> Program) -> Tally {
    let mut tally = Tally::new();
    for seed in seeds(n) {
        let mut rng = Rng::new(seed);
        let program = make(&mut rng);
        let check = rng.chance(1, 12);
        let form = *rng.pick(&[1, 1, 2, 4, 5]);
        match compare_program(&program, form, symmetry, check) {
            Ok(Some((full, reduced))) => tally.count(full, reduced),
            Ok(None) => {}
            Err(what) => fail("campaign", name, seed, format!("{what}\n{program}")),
        }
    }
    println!("{name}: {} systems, {} states in the median", tally.systems, tally.median_states());
    tally
}

#[test]
fn programs_with_derived_rules_get_true_answers() {
    let tally = programs("programs_with_derived_rules_get_true_answers", 2_500, false, Program::random);
    tally.assert_not_degenerate(8, 0.2);
}

#[test]
fn symmetric_programs_get_true_answers() {
    let name = "symmetric_programs_get_true_answers";
    let tally = programs(name, 750, true, Program::random_symmetric);
    tally.assert_not_degenerate(8, 0.4);
}

#[test]
fn every_planted_fault_is_found() {
    for planted in Planted::ALL {
        let mut n_tried = 0;
        let found = (0..20_000u64).find(|&seed| {
            n_tried += 1;
            let mut rng = Rng::new(seed);
            let shape = rng.pick(&[Shape::SHAPED_4X4, Shape::SHAPED_5X4, Shape::SHAPED_3X3]);
            let network = Network::random(shape, &mut rng).with_planted(Some(planted));
            // Answers only, without the check of the definition: that one would find them sooner.
            compare(&network, false, false).is_err()
        });
        println!("{}: found by network {n_tried}", planted.word());
        assert!(found.is_some(), "{planted:?} was not found among {n_tried} networks");
    }
}
