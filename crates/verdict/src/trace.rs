//! A run in words: what each step does and what it changes. Plain data, no rendering.

use crate::Witness;
use stubborn_system::{Batch, System};

/// A run, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The initial state in one line.
    pub initial: String,
    /// Its variables, by name and value.
    pub initial_values: Vec<(String, String)>,
    /// The steps.
    pub steps: Vec<Step>,
    /// The number of the state from which there is no return (the initial state is number 0).
    pub no_return: Option<usize>,
    /// The number of the state to which the last state is equal.
    pub cycle_start: Option<usize>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the transition.
    pub transition: u32,
    /// Its name.
    pub name: String,
    /// The variables that it changed.
    pub changes: Vec<Change>,
    /// The state that it leads to, in one line.
    pub state: String,
}

/// A variable that a step changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub variable: String,
    /// Its value before.
    pub old: String,
    /// Its value after.
    pub new: String,
}

impl Trace {
    /// The run through `states`, which a replayer has produced from `witness`.
    pub fn new<Y: System + ?Sized>(system: &Y, states: &Batch<Y::State>, witness: &Witness) -> Self {
        let names = system.variables();
        let mut values = system.values(states.state(0));
        let initial_values = names.iter().cloned().zip(values.iter().cloned()).collect();
        let mut steps = Vec::new();
        for i in 1..states.len() {
            let after = system.values(states.state(i));
            let changes = names
                .iter()
                .zip(values.iter().zip(&after))
                .filter(|(_, (old, new))| old != new)
                .map(|(name, (old, new))| Change {
                    variable: name.clone(),
                    old: old.clone(),
                    new: new.clone(),
                })
                .collect();
            let t = states.via(i);
            let (name, state) = (system.transition_name(t), system.show(states.state(i)));
            steps.push(Step { transition: t.0, name, changes, state });
            values = after;
        }
        Self {
            initial: system.show(states.state(0)),
            initial_values,
            steps,
            no_return: witness.no_return,
            cycle_start: witness.cycle_start,
        }
    }
}
