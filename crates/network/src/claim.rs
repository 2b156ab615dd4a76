//! Never claims: automata over the states of a network.
//!
//! A claim moves together with the network, and the search that checks it decides how. Here is only what it
//! can do in a state: its steps are conditions, `else`, `skip` and assertions, and they change nothing.

use crate::execute::Moment;
use crate::frame::Frame;
use crate::{Action, Expr, Location, LocationId, Network, Trouble};

/// A never claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Where it can be. Accepting locations are marked; the end of the claim is marked as an end.
    pub locations: Vec<Location>,
    /// Where it begins.
    pub entry: LocationId,
}

/// A step that a claim can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimMove {
    /// Which step of the location.
    pub step: usize,
    /// Where it leads.
    pub next: LocationId,
    /// What went wrong, e.g. an assertion.
    pub troubles: Vec<Trouble>,
}

impl Network {
    /// What a claim at `location` can do in a state. `is_timeout`: whether the state [is blocked](Network::is_blocked).
    pub fn claim_moves(
        &self,
        claim: &Claim,
        location: LocationId,
        state: &[u8],
        is_timeout: bool,
    ) -> Vec<ClaimMove> {
        let frame = Frame::new(self, state);
        let mut moment = Moment { is_timeout, has_moved: false };
        let mut moves = Vec::new();
        for (i, step) in claim.locations[location.index()].steps.iter().enumerate() {
            let mut troubles = Vec::new();
            let can = match &step.action {
                Action::Skip => {
                    frame.mention(0, step, moment, &mut troubles);
                    true
                }
                Action::Guard(expr) => frame.evaluator(0, moment, &mut troubles).holds(expr),
                Action::Else => !moment.has_moved,
                Action::Assert(expr) => {
                    if !frame.evaluator(0, moment, &mut troubles).holds(expr) {
                        troubles.push(Trouble::Assertion);
                    }
                    true
                }
                _ => false,
            };
            if can {
                moment.has_moved = true;
                moves.push(ClaimMove { step: i, next: step.next, troubles });
            }
        }
        moves
    }

    /// Whether an expression over globals and remote references holds in a state. `timeout` holds if no process
    /// can do anything without it.
    pub fn holds(&self, state: &[u8], expr: &Expr) -> bool {
        let frame = Frame::new(self, state);
        let is_timeout = expr.has_timeout() && self.is_blocked(state);
        frame.evaluator(0, Moment { is_timeout, has_moved: false }, &mut Vec::new()).holds(expr)
    }

    /// Whether no process can do anything but what waits for a timeout.
    pub fn is_blocked(&self, state: &[u8]) -> bool {
        let frame = Frame::new(self, state);
        let can_move = |pid: usize| !self.moves(&frame, pid, false, &mut Vec::new()).is_empty();
        !(0..frame.processes.len()).any(can_move)
    }
}
