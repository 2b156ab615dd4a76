//! States of the present run, and where the search goes from them.
//!
//! **Implements** the stack of VS's stateless search: at each node who can move, who need not, whose move was
//! explored and whose is to be. A new node begins with the process that moved last, if it may; going back, the deepest node with
//! something left to do is where the next run leaves this one.
//! **Checked by** `tests/all/random_programs.rs`.

use super::optimal::Branch;
use super::search::Explorer;
use super::{Algorithm, bound, optimal, sleep};
use crate::op::{Op, ProcessId};
use crate::program::Program;
use crate::schedule::Turn;
use crate::set::Set;
use crate::world::Effects;

/// A global state of the present run.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Who can move.
    pub(super) enabled: Set,
    /// Whose move would lead to repetitions.
    pub(super) sleep: Set,
    /// Whose move has been explored.
    pub(super) done: Set,
    /// Whose move is to be explored, or has been.
    pub(super) backtrack: Set,
    /// Who moves in the present run, with which outcome of how many.
    pub(super) turn: Turn,
    pub(super) choices: u32,
    /// The outcome that was explored first; the others follow in order.
    pub(super) first_choice: u32,
    /// Preemptions before this state.
    pub(super) preemptions: u32,
    /// Whether the present move is one.
    pub(super) preempts: bool,
    /// For `optimal`: what is to be explored, in order; the first branch is the present one.
    pub(super) tree: Vec<Branch>,
    /// For `optimal`: what the processes that sleep or are done would do here, or did.
    pub(super) asleep: Vec<(ProcessId, Op, Effects)>,
    pub(super) n_objects: u32,
}

impl Node {
    /// Turns to the next outcome of the present move, if there is one.
    fn next_choice(&mut self) -> bool {
        let Turn { choice, .. } = self.turn;
        let mut next = if choice == self.first_choice { 0 } else { choice + 1 };
        next += u32::from(next == self.first_choice);
        let is_left = next < self.choices;
        if is_left {
            self.turn.choice = next;
        }
        is_left
    }
}

/// The first move at a state.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
pub(super) enum Choice {
    Made(Node),
    Blocked,
    Cut,
}

impl<P: Program + ?Sized> Explorer<'_, P> {
    /// The state that is reached, with the first move to be explored.
    pub(super) fn node(&mut self, enabled: Set) -> Choice {
        let (sleep, asleep, mut tree) = self.inherited();
        let previous = self.nodes.last().map(|node| node.turn.process);
        let preemptions = bound::preemptions(self.nodes.last(), &enabled);
        let awake = enabled.without(&sleep);
        if awake.is_empty() {
            return Choice::Blocked;
        }
        let mut backtrack = match self.options.algorithm {
            Algorithm::Dfs | Algorithm::Sleep => enabled.clone(),
            Algorithm::Source | Algorithm::Optimal => Set::new(),
            _ => self.persistent_set(&enabled),
        };
        let candidates = if backtrack.is_empty() { awake.clone() } else { backtrack.without(&sleep) };
        // Who moved last moves on: fewer preemptions, and shorter stories.
        let stays = previous.filter(|&process| candidates.contains(process));
        let Some(mut process) = stays.or(candidates.first()) else { return Choice::Blocked };
        let mut choice = 0;
        if let Some(branch) = tree.first().filter(|branch| awake.contains(branch.process)) {
            (process, choice) = (branch.process, branch.choice);
        } else {
            tree.clear();
            if self.options.algorithm == Algorithm::Optimal {
                tree.push(Branch::alone(process));
            }
        }
        if bound::exceeded(&self.options, previous, preemptions, process, &enabled) {
            match bound::within(&self.options, previous, preemptions, &candidates, &enabled) {
                Some(other) => process = other,
                None => return Choice::Cut,
            }
        }
        backtrack.insert(process);
        let preempts = bound::is_preemption(previous, process, &enabled);
        Choice::Made(Node {
            enabled,
            sleep,
            done: Set::new(),
            backtrack,
            turn: Turn { process, choice },
            choices: 0,
            first_choice: choice,
            preemptions,
            preempts,
            tree,
            asleep,
            n_objects: self.world.n_objects(),
        })
    }

    /// What the next node gets from the last one. Must be called before the step was forgotten: `step` keeps it.
    fn inherited(&mut self) -> (Set, Vec<(ProcessId, Op, Effects)>, Vec<Branch>) {
        let sleep = std::mem::take(&mut self.next_sleep);
        let asleep = match self.options.algorithm {
            Algorithm::Optimal => sleep::labels(&self.world, &sleep),
            _ => Vec::new(),
        };
        let tree = self.nodes.last_mut().map_or(Vec::new(), |node| {
            let now = |branch: &&mut Branch| {
                (branch.process, branch.choice) == (node.turn.process, node.turn.choice)
            };
            node.tree.iter_mut().find(now).map_or(Vec::new(), |branch| std::mem::take(&mut branch.children))
        });
        (sleep, asleep, tree)
    }

    /// Goes back to the deepest node where something is left to do.
    pub(super) fn backtrack(&mut self) -> bool {
        self.tail.clear();
        while self.nodes.len() > self.floor {
            let depth = self.nodes.len() - 1;
            let node = &mut self.nodes[depth];
            let reached = self.trace.len() > depth;
            if self.options.algorithm == Algorithm::Optimal && reached {
                optimal::leave(node, &self.trace.events()[depth]);
            }
            self.trace.truncate(depth);
            if node.next_choice() {
                return true;
            }
            node.done.insert(node.turn.process);
            let left = match self.options.algorithm {
                Algorithm::Optimal => optimal::next(node),
                _ => node.backtrack.without(&node.done).without(&node.sleep).first(),
            };
            let previous = depth.checked_sub(1).map(|above| self.nodes[above].turn.process);
            let node = &mut self.nodes[depth];
            if let Some(process) = left {
                let choice = node.tree.first().map_or(0, |branch| branch.choice);
                node.turn = Turn { process, choice };
                (node.choices, node.first_choice) = (0, choice);
                node.preempts = bound::is_preemption(previous, process, &node.enabled);
                if bound::exceeded(&self.options, previous, node.preemptions, process, &node.enabled) {
                    self.stats.cut += 1;
                    continue;
                }
                return true;
            }
            self.nodes.pop();
        }
        false
    }
}
