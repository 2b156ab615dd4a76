//! The graph of a model in the plainest way: successors of states, a hash map, a queue.
//!
//! The full graph comes from the reference interpreter alone. The graph of a reduction comes from a loop over
//! [`Reduction::expand`] and has nothing of the kernel's searches and stores. Both answer questions by their
//! definitions.

use std::collections::{BTreeSet, HashMap};
use stubborn_network::Network;
use stubborn_reduce::Reduction;
use stubborn_system::{Batch, Observed, System};

/// What SPIN counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Distinct states.
    pub states: usize,
    /// Successors of all states.
    pub transitions: usize,
    /// Whether something went wrong somewhere.
    pub has_errors: bool,
}

/// States and edges; state 0 is the first one.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    states: Vec<Vec<u8>>,
    /// The successors of each state, as often as they occur.
    targets: Vec<Vec<usize>>,
    has_errors: bool,
}

impl Plain {
    /// The full graph, or `None` if it has more than `limit` states or the model cannot begin.
    pub fn full(network: &Network, limit: usize) -> Option<Self> {
        let initial = network.initial_state().ok()?;
        let mut has_errors = false;
        let graph = Self::explore(initial, limit, |state| {
            let expansion = network.expand(state);
            has_errors |= expansion.all_events().any(|event| event.trouble.is_error());
            Ok(expansion.successors.into_iter().map(|successor| successor.state).collect())
        });
        let graph = graph.expect("the interpreter has no faults")?;
        Some(Self { has_errors, ..graph })
    }

    /// What a reduction explores, or `None` if that is more than `limit` states.
    pub fn reduced<Y: System<State = [u8]>>(
        system: &Y,
        reduction: &mut dyn Reduction<Y>,
        limit: usize,
    ) -> Result<Option<Self>, String> {
        let mut batch = Batch::new();
        system.initial(&mut batch).map_err(|fault| fault.to_string())?;
        let initial = batch.state(0).to_vec();
        Self::explore(initial, limit, |state| {
            batch.clear();
            reduction.expand(system, state, &mut batch).map_err(|fault| fault.to_string())?;
            Ok((0..batch.len()).map(|i| batch.state(i).to_vec()).collect())
        })
    }

    fn explore(
        initial: Vec<u8>,
        limit: usize,
        mut successors: impl FnMut(&[u8]) -> Result<Vec<Vec<u8>>, String>,
    ) -> Result<Option<Self>, String> {
        let mut numbers = HashMap::from([(initial.clone(), 0)]);
        let mut graph = Self { states: vec![initial], ..Self::default() };
        while graph.targets.len() < graph.states.len() {
            let mut targets = Vec::new();
            for state in successors(&graph.states[graph.targets.len()])? {
                let number = *numbers.entry(state).or_insert_with_key(|state| {
                    graph.states.push(state.clone());
                    graph.states.len() - 1
                });
                targets.push(number);
            }
            graph.targets.push(targets);
            if graph.states.len() > limit {
                return Ok(None);
            }
        }
        Ok(Some(graph))
    }

    /// Number of states.
    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    /// What SPIN would count; of the full graph.
    pub fn counts(&self) -> Counts {
        let transitions = self.targets.iter().map(Vec::len).sum();
        Counts { states: self.states.len(), transitions, has_errors: self.has_errors }
    }

    /// The states without successors.
    pub fn terminal_states(&self) -> BTreeSet<Vec<u8>> {
        let terminal = self.states.iter().zip(&self.targets).filter(|(_, targets)| targets.is_empty());
        terminal.map(|(state, _)| state.clone()).collect()
    }

    /// Whether a terminal state can be reached from every state.
    pub fn always_may_terminate(&self) -> bool {
        let mut sources = vec![Vec::new(); self.states.len()];
        for (source, targets) in self.targets.iter().enumerate() {
            targets.iter().for_each(|&target| sources[target].push(source));
        }
        let mut work: Vec<usize> = (0..self.states.len()).filter(|&i| self.targets[i].is_empty()).collect();
        let mut is_reached = vec![false; self.states.len()];
        while let Some(i) = work.pop() {
            if !std::mem::replace(&mut is_reached[i], true) {
                work.extend(&sources[i]);
            }
        }
        is_reached.into_iter().all(|reached| reached)
    }

    /// Whether there is an infinite run: whether taking away states whose successors are all gone leaves any.
    pub fn can_run_for_ever(&self) -> bool {
        let mut sources = vec![Vec::new(); self.states.len()];
        for (source, targets) in self.targets.iter().enumerate() {
            targets.iter().for_each(|&target| sources[target].push(source));
        }
        let mut n_left: Vec<usize> = self.targets.iter().map(Vec::len).collect();
        let mut work: Vec<usize> = (0..self.states.len()).filter(|&i| n_left[i] == 0).collect();
        let mut n_gone = 0;
        while let Some(i) = work.pop() {
            n_gone += 1;
            for &source in &sources[i] {
                n_left[source] -= 1;
                if n_left[source] == 0 {
                    work.push(source);
                }
            }
        }
        n_gone < self.states.len()
    }

    /// Whether no state fails the check of the system.
    pub fn is_safe<Y: Observed<State = [u8]>>(&self, system: &Y) -> bool {
        self.states.iter().all(|state| matches!(system.check(state), Ok(None)))
    }

    /// Whether no terminal state fails the deadlock check of the system.
    pub fn ends_well<Y: Observed<State = [u8]>>(&self, system: &Y) -> bool {
        self.terminal_states().iter().all(|state| matches!(system.check_deadlock(state), Ok(None)))
    }
}
