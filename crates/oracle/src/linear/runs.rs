//! The runs of a small system, as a graph with a letter per state.
//!
//! A state without steps is repeated for ever. Each step says which processes moved, and each state which
//! could: a run is weakly fair if no process stands still for ever that can move for ever, that is, if every
//! process infinitely often moves or infinitely often cannot.

use super::{Arc, Marked};
use std::collections::HashMap;
use stubborn_ltl::{Lasso, Letter};
use stubborn_network::{Expr, Network};

/// Whom a step of several processes belongs to: one of SPIN's riddles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Belongs {
    /// To all that take part in it: a process that is waited for can move, and it moves.
    ToAll,
    /// To the process that begins it, the sender of a rendezvous. So it is in SPIN, where a process that
    /// waits for a message on a rendezvous channel counts as one that cannot move.
    ToFirst,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where it leads.
    pub target: usize,
    /// The processes that move, as bits.
    pub movers: u64,
}

/// A graph; runs begin in state 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// What is true in each state.
    pub letters: Vec<Letter>,
    /// The steps of each state.
    pub steps: Vec<Vec<Step>>,
    /// The processes that can move in each state, as bits.
    pub enabled: Vec<u64>,
    /// Whether a process is at an accepting label, per state.
    pub is_accepting: Vec<bool>,
    /// Whether a process is at a progress label, per state.
    pub is_progress: Vec<bool>,
}

/// An infinite run: states before the cycle, and those of the cycle. Neighbours have a step between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Before the cycle.
    pub stem: Vec<usize>,
    /// The cycle; not empty.
    pub cycle: Vec<usize>,
}

impl Runs {
    /// A graph with these letters and steps, all of them by process 0.
    pub fn new(letters: &[Letter], steps: &[(usize, usize)]) -> Self {
        let n = letters.len();
        let mut runs = Self {
            letters: letters.to_vec(),
            steps: vec![Vec::new(); n],
            enabled: vec![0; n],
            is_accepting: vec![false; n],
            is_progress: vec![false; n],
        };
        for &(source, target) in steps {
            runs.steps[source].push(Step { target, movers: 1 });
            runs.enabled[source] = 1;
        }
        runs
    }

    /// The runs of a network, with the truth of some expressions as letters. `None` if there are more than
    /// `limit` states. States come in the order in which they are found.
    pub fn of_network(
        network: &Network,
        propositions: &[Expr],
        belongs: Belongs,
        limit: usize,
    ) -> Option<(Self, Vec<Vec<u8>>)> {
        let initial = network.initial_state().ok()?;
        let mut numbers = HashMap::from([(initial.clone(), 0)]);
        let mut states = vec![initial];
        let mut runs = Self::default();
        while runs.steps.len() < states.len() {
            let state = states[runs.steps.len()].clone();
            let mut steps = Vec::new();
            let mut enabled = 0;
            for successor in network.expand(&state).successors {
                let target = *numbers.entry(successor.state).or_insert_with_key(|state| {
                    states.push(state.clone());
                    states.len() - 1
                });
                let movers = match belongs {
                    Belongs::ToAll => successor.trail.iter().fold(0, |movers, micro| movers | bit(micro.pid)),
                    Belongs::ToFirst => bit(successor.trail[0].pid),
                };
                enabled |= movers;
                steps.push(Step { target, movers });
            }
            if states.len() > limit {
                return None;
            }
            runs.steps.push(steps);
            runs.enabled.push(enabled);
            let truth = propositions.iter().enumerate();
            let letter = truth.fold(0, |all, (i, p)| all | u64::from(network.holds(&state, p)) << i);
            runs.letters.push(letter);
            let view = network.view(&state);
            let is_at = |wanted: fn(&stubborn_network::Location) -> bool| {
                (0..view.n_processes()).any(|pid| {
                    let kind = &network.processes[view.kind(pid)];
                    wanted(&kind.locations[view.location(pid).index()])
                })
            };
            runs.is_accepting.push(is_at(|location| location.is_accept));
            runs.is_progress.push(is_at(|location| location.is_progress));
        }
        Some((runs, states))
    }

    /// Number of states.
    pub fn n_states(&self) -> usize {
        self.steps.len()
    }

    /// The steps of a state; where there are none, the one that repeats it.
    pub fn outgoing(&self, state: usize) -> Vec<Step> {
        let steps = &self.steps[state];
        if steps.is_empty() { vec![Step { target: state, movers: 0 }] } else { steps.clone() }
    }

    /// The marks of a step for weak fairness: the processes that move or cannot.
    pub fn fair_marks(&self, state: usize, step: Step) -> u128 {
        u128::from(step.movers | !self.enabled[state])
    }

    /// All marks that a weakly fair run passes for ever.
    pub const FAIR: u128 = u64::MAX as u128;

    /// The graph itself, without marks but those of fairness.
    pub fn marked(&self) -> Marked {
        let arcs = (0..self.n_states()).map(|state| {
            let arc = |step: Step| Arc { target: step.target, marks: self.fair_marks(state, step) };
            self.outgoing(state).into_iter().map(arc).collect()
        });
        Marked { initial: vec![0], arcs: arcs.collect() }
    }

    /// The word of a run.
    pub fn word(&self, run: &Run) -> Lasso {
        let letters = |states: &[usize]| states.iter().map(|&state| self.letters[state]).collect();
        Lasso { stem: letters(&run.stem), cycle: letters(&run.cycle) }
    }

    /// Whether there is such a run.
    pub fn has(&self, run: &Run) -> bool {
        let all: Vec<usize> = run.stem.iter().chain(&run.cycle).copied().collect();
        let is_step = |a: usize, b: usize| self.outgoing(a).iter().any(|step| step.target == b);
        let back = run.cycle.last().zip(run.cycle.first()).is_some_and(|(&a, &b)| is_step(a, b));
        all.first() == Some(&0) && all.windows(2).all(|pair| is_step(pair[0], pair[1])) && back
    }

    /// Whether the states of a run can be passed in a weakly fair way: between two states there may be steps
    /// of several processes, and each round may take others.
    pub fn can_be_fair(&self, run: &Run) -> bool {
        let next = run.cycle.iter().cycle().skip(1);
        let marks = run.cycle.iter().zip(next).flat_map(|(&a, &b)| {
            let steps = self.outgoing(a).into_iter().filter(move |step| step.target == b);
            steps.map(move |step| self.fair_marks(a, step))
        });
        marks.fold(0, |all, marks| all | marks) == Self::FAIR
    }

    /// All runs with at most `length` different positions, stem and cycle together, up to a number of them.
    pub fn lassos(&self, length: usize, most: usize) -> Vec<Run> {
        let mut found = Vec::new();
        let mut stack = vec![vec![0]];
        while let Some(path) = stack.pop() {
            let last = *path.last().expect("it begins with the first state");
            for step in self.outgoing(last) {
                for (i, _) in path.iter().enumerate().filter(|(_, state)| **state == step.target) {
                    found.push(Run { stem: path[..i].to_vec(), cycle: path[i..].to_vec() });
                    if found.len() == most {
                        return found;
                    }
                }
                if path.len() < length {
                    stack.push([&path[..], &[step.target]].concat());
                }
            }
        }
        found
    }
}

fn bit(pid: usize) -> u64 {
    1 << pid.min(63)
}
