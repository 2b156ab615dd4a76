//! Rules against the definition of stubborn sets: for random systems, random reachable states and random
//! starting nodes, every closure satisfies D1 and D2, and D0 if it was started from an enabled transition.
//!
//! This tests the rules of networks and the rules that `model` derives from footprints. To show that it
//! would notice, each planted fault must be caught.

use stubborn_model::{Model, ModelSystem, RuleSource, WordVector};
use stubborn_oracle::campaign::{Tally, fail, seeds};
use stubborn_oracle::closure::{close, reduced_graph, smallest};
use stubborn_oracle::definition::{check_definition, check_outside};
use stubborn_oracle::{FullGraph, Network, Planted, Program, Rng, Shape, shrink};
use stubborn_system::{Observed, Requirements, Rules, TransitionId};

/// Systems with more states are passed over.
const LIMIT: usize = 3000;

/// Says which closure at some reachable state is not stubborn. Looks at `n_states` random states.
fn find_violation<Y: Rules + Observed>(
    system: &Y,
    graph: &FullGraph<Y::State>,
    n_states: usize,
    rng: &mut Rng,
) -> Result<(), String> {
    for _ in 0..n_states {
        let i = if rng.chance(1, 4) { 0 } else { rng.below(graph.n_states()) };
        let state = graph.state(i);
        let any = TransitionId::from(rng.below(system.n_nodes().max(1)));
        let enabled: Vec<TransitionId> = graph.outgoing(i).iter().map(|e| e.transition).collect();
        let starts = if enabled.is_empty() { vec![any] } else { vec![any, *rng.pick(&enabled)] };
        for start in starts.into_iter().filter(|t| t.index() < system.n_nodes()) {
            let first = |_: &Requirements| 0;
            let random = |r: &Requirements| rng.below(r.n_alternatives());
            let closures = [
                ("first", close(system, state, start, first)),
                ("smallest", close(system, state, start, smallest)),
                ("random", close(system, state, start, random)),
            ];
            for (name, set) in closures {
                let set = set.map_err(|fault| fault.to_string())?;
                let is_enabled = enabled.contains(&start);
                let judge = if is_enabled { check_definition } else { check_outside };
                judge(system, &set, state).map_err(|why| {
                    let start = system.transition_name(start);
                    format!("closure of {start} by {name} alternatives, {set:?}: {why}")
                })?;
            }
        }
    }
    Ok(())
}

/// The preset and the network of a seed.
fn network_of(seed: u64) -> (Network, Rng) {
    let mut rng = Rng::new(seed);
    let shape = rng.pick(&Shape::PRESETS).1;
    (Network::random(&shape, &mut rng), rng)
}

#[test]
fn closures_under_the_rules_of_networks_are_stubborn() {
    let mut tally = Tally::new();
    for seed in seeds(2000) {
        let (network, rng) = network_of(seed);
        let violation = |network: &Network| {
            let graph = FullGraph::explore(network, LIMIT)?;
            find_violation(network, &graph, 6, &mut rng.clone()).err()
        };
        if violation(&network).is_some() {
            let small = shrink(&network, |n| violation(n).is_some());
            let what = format!("{}\n{small}", violation(&small).unwrap_or_default());
            fail("definition", "closures_under_the_rules_of_networks_are_stubborn", seed, what);
        }
        if let Some(graph) = FullGraph::explore(&network, LIMIT) {
            tally.count(graph.n_states(), reduced_graph(&network, &graph).n_states);
        }
    }
    tally.assert_not_degenerate(8, 0.2);
}

fn judge_program(program: &Program, seed: u64, test: &str, tally: &mut Tally) {
    match program.layout().n_words() {
        1 => judge_program_as::<[u64; 1]>(program, seed, test, tally),
        _ => judge_program_as::<[u64]>(program, seed, test, tally),
    }
}

fn judge_program_as<S: WordVector + ?Sized>(program: &Program, seed: u64, test: &str, tally: &mut Tally) {
    let system = ModelSystem::<S>::new(program, RuleSource::Derived).expect("a proper model");
    let Some(graph) = FullGraph::explore(&system, LIMIT) else { return };
    if let Err(why) = find_violation(&system, &graph, 6, &mut Rng::new(seed)) {
        fail("definition", test, seed, format!("{why}\n{program}"));
    }
    tally.count(graph.n_states(), reduced_graph(&system, &graph).n_states);
}

#[test]
fn closures_under_derived_rules_are_stubborn() {
    let mut tally = Tally::new();
    for seed in seeds(2000) {
        let program = Program::random(&mut Rng::new(seed));
        judge_program(&program, seed, "closures_under_derived_rules_are_stubborn", &mut tally);
    }
    tally.assert_not_degenerate(8, 0.1);
}

#[test]
fn closures_under_derived_rules_of_symmetric_programs_are_stubborn() {
    let mut tally = Tally::new();
    for seed in seeds(500) {
        let program = Program::random_symmetric(&mut Rng::new(seed));
        let test = "closures_under_derived_rules_of_symmetric_programs_are_stubborn";
        judge_program(&program, seed, test, &mut tally);
    }
    tally.assert_not_degenerate(8, 0.1);
}

/// How many networks of the shape are needed to catch the fault; `None` if `most` do not suffice.
fn networks_until_caught(shape: &Shape, planted: Planted, seed: u64, most: usize) -> Option<usize> {
    let mut rng = Rng::new(seed);
    (1..=most).find(|_| {
        let network = Network::random(shape, &mut rng).with_planted(Some(planted));
        let graph = FullGraph::explore(&network, LIMIT);
        graph.is_some_and(|graph| find_violation(&network, &graph, 6, &mut rng).is_err())
    })
}

#[test]
fn every_planted_fault_is_caught() {
    let (runs, most) = (10, 1000);
    for planted in Planted::ALL {
        let mut line = format!("networks per caught fault, {:36}", planted.word());
        for (name, shape) in Shape::PRESETS {
            let needed: Vec<Option<usize>> =
                (0..runs).map(|run| networks_until_caught(&shape, planted, run, most)).collect();
            let n_caught = needed.iter().flatten().count();
            let n_networks: usize = needed.iter().map(|n| n.unwrap_or(most)).sum();
            line += &format!("  {name}: {}", n_networks / n_caught.max(1));
            assert!(!shape.is_shaped || n_caught == needed.len(), "{name} misses {planted:?}");
        }
        println!("{line}");
    }
}

/// Whether some closure of some node at some reachable state is not stubborn.
fn is_wrong_somewhere(network: &Network) -> bool {
    let Some(graph) = FullGraph::explore(network, LIMIT) else { return false };
    let is_wrong = |i: usize, t: usize| {
        let set = close(network, graph.state(i), t.into(), smallest).expect("networks have no faults");
        check_outside(network, &set, graph.state(i)).is_err()
    };
    (0..graph.n_states()).any(|i| (0..network.n_nodes()).any(|t| is_wrong(i, t)))
}

#[test]
fn every_planted_fault_shrinks_to_a_handful_of_edges() {
    for planted in Planted::ALL {
        let mut rng = Rng::new(14);
        let draw = || Network::random(&Shape::SHAPED_4X4, &mut rng).with_planted(Some(planted));
        let network = std::iter::repeat_with(draw).find(is_wrong_somewhere).expect("there is no end");
        let small = shrink(&network, is_wrong_somewhere);
        println!("{small}");
        let n_edges: usize = small.plan().components.iter().map(|c| c.edges.len()).sum();
        assert!(n_edges <= 6, "{n_edges} edges:\n{small}");
        assert!(!is_wrong_somewhere(&small.with_planted(None)), "without the fault:\n{small}");
    }
}
