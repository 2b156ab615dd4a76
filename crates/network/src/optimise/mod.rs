//! Networks with fewer states and the same answers.
//!
//! **Implements** the two optimisations that SPIN's verifier does unless it is told not to: local variables
//! become zero when nobody will read them before they are written again (`dead`, SPIN's `-o1` switches it
//! off), and global variables that nobody reads are no part of the state (`hide`, SPIN's `-o2`).
//!
//! **Preserves** everything that can be asked: two states that differ only in dead locals and hidden globals
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

use crate::frame::Frame;
use crate::{Expr, Network, Scope};
use dead::Dead;

/// Which optimisations are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Optimisations {
    /// Set dead local variables to zero.
    pub dead: bool,
    /// Take global variables that nobody reads out of the states.
    pub hide: bool,
}

impl Optimisations {
    /// All of them.
    pub const ALL: Self = Self { dead: true, hide: true };
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
        Optimised { network, hidden, reset, hidden_globals, dead }
    }
}

impl Optimised {
    /// Whether nothing was done.
    pub fn is_unchanged(&self) -> bool {
        self.hidden.is_empty() && self.reset.is_empty()
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
