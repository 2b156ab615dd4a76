//! Networks with fewer states and the same answers.
//!
//! **Implements** the three optimisations that SPIN's verifier does unless it is told not to: local variables
//! become zero when nobody will read them before they are written again (`dead`, SPIN's `-o1` switches it
//! off), global variables that nobody reads are no part of the state (`hide`, SPIN's `-o2`), and steps that concern
//! nobody else are done together with the step before (`merge`, SPIN's `-o3`).
//!
//! **Preserves** everything that can be asked, but for `merge`, which is for questions about states: two states that
//! differ only in dead locals and hidden globals
//! have the same steps, which do the same and go wrong in the same way, and lead to such states again. So
//! the optimised network is a quotient of the network by a bisimulation. Expressions of questions count as
//! readers, because they look at states from outside.
//!
//! Steps, locations, transitions and the layout of states stay what they are: a state of one network is a
//! state of the other. Hidden globals stay where they are and are zero.
//!
//! **Differs** from SPIN where its analysis is wrong: it does not see all indices if a record occurs twice in
//! a statement, nor the first argument of `set_priority`; here they are read.
//! **Checked by** the comparison with the counts of `spin -a -o3`, and by comparing all events of both
//! networks, in the Promela front-end's tests.

mod dead;
mod hide;
mod merge;

use crate::frame::Frame;
use crate::{Expr, LocationId, Network, Scope, StepId};
use dead::Dead;
use std::collections::HashSet;
use stubborn_system::TransitionId;

/// Which optimisations are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Optimisations {
    /// Set dead local variables to zero.
    pub dead: bool,
    /// Take global variables that nobody reads out of the states.
    pub hide: bool,
    /// Do what concerns nobody else together with the step before. Not for properties of runs.
    pub merge: bool,
}

impl Optimisations {
    /// All of them.
    pub const ALL: Self = Self { dead: true, hide: true, merge: true };
    /// Those that every question may be put to: the network has the same runs, with the same steps.
    pub const OF_RUNS: Self = Self { merge: false, ..Self::ALL };

    /// Without what properties of runs would notice.
    pub fn of_runs(self) -> Self {
        Self { merge: false, ..self }
    }
}

/// A network that was optimised, and what was done to it.
#[derive(Clone, Debug)]
pub struct Optimised {
    /// The network to be searched.
    pub network: Network,
    /// Names of the globals that are hidden.
    pub hidden: Vec<String>,
    /// Names of the locals that some step sets to zero, with the names of their kinds: `kind.name`.
    pub reset: Vec<String>,
    /// Indices in [`Network::globals`].
    hidden_globals: Vec<usize>,
    /// For each kind; empty if nothing is reset.
    dead: Vec<Dead>,
    /// For each kind: the locations that processes pass in one go.
    passed: Vec<HashSet<LocationId>>,
}

impl Network {
    /// The network with fewer states. `readers` are expressions of questions about its states.
    pub fn optimised(&self, wanted: Optimisations, readers: &[&Expr]) -> Optimised {
        let mut network = self.clone();
        // In this order: what is assigned to a hidden variable counts as read, as in SPIN.
        let dead = if wanted.dead { dead::reset(&mut network, readers) } else { Vec::new() };
        let hidden_globals = if wanted.hide { hide::hide(&mut network, readers) } else { Vec::new() };
        let hidden = hidden_globals.iter().map(|&v| self.globals[v].name.clone()).collect();
        let reset = reset_names(&network);
        let passed = if wanted.merge { merge::merge(&mut network, readers) } else { Vec::new() };
        Optimised { network, hidden, reset, hidden_globals, dead, passed }
    }
}

impl Optimised {
    /// Whether nothing was done.
    pub fn is_unchanged(&self) -> bool {
        self.hidden.is_empty() && self.reset.is_empty() && self.n_merged() == 0
    }

    /// How many locations are passed in one go.
    pub fn n_merged(&self) -> usize {
        self.passed.iter().map(HashSet::len).sum()
    }

    /// The transitions of the network as written that this one does together with the one before, where they are
    /// possible in a state.
    pub fn merged_steps(&self, state: &[u8]) -> Vec<TransitionId> {
        let frame = Frame::new(&self.network, state);
        let mut steps = Vec::new();
        for pid in 0..frame.processes.len() {
            let (kind, location) = (frame.kind(pid), frame.location(pid));
            if self.passed.get(kind).is_some_and(|passed| passed.contains(&location)) {
                let first = self.network.first_step(kind, location).0;
                let n = self.network.processes[kind].locations[location.index()].steps.len() as u32;
                steps.extend((first..first + n).map(|step| self.network.transition(pid, StepId(step), 0)));
            }
        }
        steps
    }

    /// The state without what does not matter: with hidden globals, and locals that are dead where their
    /// processes are, set to zero. States with the same live part have the same future.
    pub fn live_part(&self, state: &[u8]) -> Vec<u8> {
        let mut frame = Frame::new(&self.network, state);
        for &variable in &self.hidden_globals {
            let v = &self.network.globals[variable];
            for i in 0..v.length {
                frame.store(Scope::Global, 0, v.offset + i * v.stride, v.width, 0);
            }
        }
        for pid in 0..frame.processes.len() {
            let (kind, location) = (frame.kind(pid), frame.location(pid));
            let Some(dead) = self.dead.get(kind) else { continue };
            for v in dead.at(location).map(|variable| &self.network.processes[kind].locals[variable]) {
                frame.store(Scope::Local, pid, v.offset, v.width, 0);
            }
        }
        frame.bytes
    }
}

fn reset_names(network: &Network) -> Vec<String> {
    let mut names = Vec::new();
    for (kind, process) in network.processes.iter().enumerate() {
        let places = || network.steps_of(kind).flat_map(|(_, step)| &step.resets);
        let variables = process.locals.iter().filter(|v| places().any(|place| place.offset == v.offset));
        // SPIN's name for `init` has colons.
        names.extend(variables.map(|v| format!("{}.{}", process.name.trim_matches(':'), v.name)));
    }
    names
}
