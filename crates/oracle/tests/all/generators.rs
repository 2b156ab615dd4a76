//! What the generators make: large enough, reducible enough, and with questions that go both ways.
//!
//! The plain reduced search of `closure` must keep all terminal states; with a fault planted it must lose
//! some, or the campaigns that are built on these generators could not notice anything.

use std::collections::HashSet;
use stubborn_model::{Model, ModelSystem, RuleSource};
use stubborn_oracle::campaign::{Tally, fail, seeds};
use stubborn_oracle::closure::reduced_graph;
use stubborn_oracle::{Brute, FullGraph, Network, Planted, Program, Rng, Shape};
use stubborn_system::{Batch, Observed, Question, Symmetric, System, Vector};

const LIMIT: usize = 3000;

/// The least median and share of each preset: somewhat below what was measured.
const BOUNDS: [(usize, f64); 4] = [(4, 0.5), (6, 0.4), (18, 0.6), (35, 0.7)];

#[test]
fn every_preset_is_worth_testing_with() {
    for ((name, shape), (median, share)) in Shape::PRESETS.into_iter().zip(BOUNDS) {
        let mut tally = Tally::new();
        for seed in seeds(500) {
            let network = Network::random(&shape, &mut Rng::new(seed));
            let Some(graph) = FullGraph::explore(&network, LIMIT) else { continue };
            let reduced = reduced_graph(&network, &graph);
            let terminal: HashSet<Vec<u8>> =
                Brute::new(&network, &graph).terminal_states().into_iter().collect();
            if reduced.terminal != terminal {
                let what = format!("{name}: reduction changed the terminal states of\n{network}");
                fail("generators", "every_preset_is_worth_testing_with", seed, what);
            }
            tally.count(graph.n_states(), reduced.n_states);
        }
        print!("{name}: ");
        tally.assert_not_degenerate(median, share);
    }
}

/// How many of `n` networks lose a terminal state to the fault.
fn n_caught(shape: &Shape, planted: Planted, n: usize) -> usize {
    let mut rng = Rng::new(17);
    let loses = |_: &usize| {
        let network = Network::random(shape, &mut rng).with_planted(Some(planted));
        let Some(graph) = FullGraph::explore(&network, LIMIT) else { return false };
        let terminal = Brute::new(&network, &graph).terminal_states();
        reduced_graph(&network, &graph).terminal.len() < terminal.len()
    };
    (0..n).filter(loses).count()
}

#[test]
fn every_planted_fault_loses_terminal_states() {
    let n = 1000;
    for planted in Planted::ALL {
        let mut line = format!("networks per lost deadlock, {:36}", planted.word());
        for (name, shape) in Shape::PRESETS {
            let caught = n_caught(&shape, planted, n);
            let rate = n.checked_div(caught).map_or("never".into(), |rate| rate.to_string());
            line += &format!("  {name}: {rate}");
            let is_large = shape.is_shaped && shape.components > 3;
            assert!(!is_large || caught > 0, "{name} does not show {planted:?} in {n} networks");
        }
        println!("{line}");
    }
}

/// Counts how often each question holds.
#[derive(Default)]
struct Answers(Vec<(String, usize, usize)>);

impl Answers {
    fn count(&mut self, question: &Question, holds: bool) {
        let name = match question {
            Question::Fair { .. } => "fair".to_owned(),
            other => format!("{other:?}"),
        };
        if self.0.iter().all(|(known, ..)| *known != name) {
            self.0.push((name.clone(), 0, 0));
        }
        for (_, held, asked) in self.0.iter_mut().filter(|(known, ..)| *known == name) {
            *held += usize::from(holds);
            *asked += 1;
        }
    }

    fn assert_two_sided(&self) {
        for (name, held, asked) in &self.0 {
            let per_cent = 100 * held / asked;
            println!("{name} holds {per_cent}% of {asked} times");
            assert!((5..=95).contains(&per_cent), "{name} is nearly always answered the same way");
        }
    }
}

fn count_answers<Y: Observed>(system: &Y, answers: &mut Answers) {
    if let Some(graph) = FullGraph::explore(system, LIMIT) {
        let brute = Brute::new(system, &graph);
        system.questions().iter().for_each(|question| answers.count(question, brute.holds(question)));
    }
}

#[test]
fn questions_about_networks_go_both_ways() {
    for (name, shape) in &Shape::PRESETS[1..] {
        println!("{name}:");
        let (mut answers, mut rng) = (Answers::default(), Rng::new(18));
        (0..300).for_each(|_| count_answers(&Network::random(shape, &mut rng), &mut answers));
        assert_eq!(answers.0.len(), 8);
        answers.assert_two_sided();
    }
}

#[test]
fn questions_about_programs_go_both_ways() {
    let generators: [fn(&mut Rng) -> Program; 2] = [Program::random, Program::random_symmetric];
    for generate in generators {
        let (mut answers, mut rng) = (Answers::default(), Rng::new(19));
        for _ in 0..400 {
            let program = generate(&mut rng);
            let system = ModelSystem::<[u64]>::new(&program, RuleSource::Derived).expect("a proper model");
            count_answers(&system, &mut answers);
        }
        answers.assert_two_sided();
    }
}

/// The representatives of the successors of a state, as bytes, and what is said about the state.
fn seen_from(system: &ModelSystem<'_, [u64]>, state: &[u64]) -> (HashSet<Vec<u8>>, [bool; 4]) {
    let mut after = Batch::new();
    system.successors(state, &mut after).unwrap();
    let represented = |i: usize| {
        let mut state = after.state(i).to_vec();
        system.represent(&mut state).unwrap();
        state.as_bytes().to_vec()
    };
    let said = [
        system.check(state).unwrap().is_some(),
        system.check_deadlock(state).unwrap().is_some(),
        system.is_may_progress(state).unwrap(),
        system.is_must_progress(state).unwrap(),
    ];
    ((0..after.len()).map(represented).collect(), said)
}

#[test]
fn the_symmetry_of_symmetric_programs_is_one() {
    let (mut n_folded, mut rng) = (0, Rng::new(20));
    for _ in 0..200 {
        let program = Program::random_symmetric(&mut rng);
        assert!(program.has_symmetry() && !Program::random(&mut rng).has_symmetry());
        let system = ModelSystem::<[u64]>::new(&program, RuleSource::Derived).expect("a proper model");
        let Some(graph) = FullGraph::explore(&system, LIMIT) else { continue };
        let mut orbits = HashSet::new();
        for i in 0..graph.n_states() {
            let mut representative = graph.state(i).to_vec();
            system.represent(&mut representative).unwrap();
            assert_eq!(seen_from(&system, graph.state(i)), seen_from(&system, &representative), "{program}");
            let once = representative.clone();
            system.represent(&mut representative).unwrap();
            assert_eq!(once, representative);
            orbits.insert(once);
        }
        n_folded += usize::from(orbits.len() < graph.n_states());
    }
    assert!(n_folded > 100, "symmetry acts on {n_folded} of 200 programs only");
}

#[test]
fn a_program_says_what_it_does() {
    let program = Program::random(&mut Rng::new(21));
    let text = program.to_string();
    assert!(text.contains("process 0") && text.contains("check (declares "), "{text}");
}
