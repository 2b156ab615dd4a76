//! A run in words: what each step does and what it changes. Plain data, no rendering.

use crate::Witness;
use crate::messages::number_messages;
use std::collections::HashMap;
use stubborn_system::{Batch, Part, System};

/// Bytes of text for the states of a run; about what is changed in it is always said.
const MOST_TEXT: usize = 1 << 20;

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
    /// For properties of runs: what holds in each state, from the initial one on; empty otherwise.
    pub beside: Vec<String>,
    /// And where the automaton was in each state, before it read it; empty if that is not known.
    pub automaton: Vec<u32>,
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of the transition.
    pub transition: u32,
    /// What it does, part by part.
    pub parts: Vec<Part>,
    /// The variables that it changed.
    pub changes: Vec<Change>,
    /// The state that it leads to, in one line. None where the run is so long that this would be too much text.
    pub state: Option<String>,
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
        let initial_values = system.values(states.state(0));
        let mut steps = Vec::new();
        let mut room = MOST_TEXT;
        for i in 1..states.len() {
            let (from, to, t) = (states.state(i - 1), states.state(i), states.via(i));
            let [before, after] = system.differing(from, to);
            let state = (room > 0).then(|| system.show(to));
            room = room.saturating_sub(state.as_ref().map_or(0, String::len));
            steps.push(Step {
                transition: t.0,
                parts: system.explain(from, t),
                changes: changes(&before, &after),
                state,
            });
        }
        number_messages(steps.iter_mut().flat_map(|step| &mut step.parts).flat_map(|p| &mut p.messages));
        Self {
            initial: system.show(states.state(0)),
            initial_values,
            steps,
            no_return: witness.no_return,
            cycle_start: witness.cycle_start,
            beside: Vec::new(),
            automaton: Vec::new(),
        }
    }
}

impl Step {
    /// The state that it leads to, as far as it is said.
    pub fn state_text(&self) -> &str {
        self.state.as_deref().unwrap_or("...")
    }

    /// What happens, in one line.
    pub fn text(&self) -> String {
        let part = |part: &Part| match &part.process {
            Some(process) => format!("{process}: {}", part.text),
            None => part.text.clone(),
        };
        self.parts.iter().map(part).collect::<Vec<_>>().join("; ")
    }
}

/// What is different; a variable that is not there has no value.
fn changes(before: &[(String, String)], after: &[(String, String)]) -> Vec<Change> {
    let old: HashMap<&str, &str> = before.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let new: HashMap<&str, &str> = after.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let change = |name: &str, old: Option<&&str>, new: Option<&&str>| {
        let value = |v: Option<&&str>| v.map_or("-", |v| v).to_owned();
        (old != new).then(|| Change { variable: name.to_owned(), old: value(old), new: value(new) })
    };
    let gone = before.iter().filter(|(name, _)| !new.contains_key(name.as_str()));
    let stays =
        after.iter().filter_map(|(name, value)| change(name, old.get(name.as_str()), Some(&value.as_str())));
    stays.chain(gone.filter_map(|(name, value)| change(name, Some(&value.as_str()), None))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_may_come_and_go() {
        let values = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect()
        };
        let before = values(&[("x", "1"), ("y", "2"), ("z", "3")]);
        let after = values(&[("x", "1"), ("y", "5"), ("w", "0")]);
        let said: Vec<String> =
            changes(&before, &after).iter().map(|c| format!("{} {} {}", c.variable, c.old, c.new)).collect();
        assert_eq!(said, ["y 2 5", "w - 0", "z 3 -"]);
    }
}
