//! Merged steps: what concerns nobody else is done together with the step before.
//!
//! **Implements** SPIN's third optimisation (its `-o3` switches it off), by other means: a location where a process can
//! always do exactly one thing, which reads and writes nothing but its own locals and cannot go wrong, is passed in one
//! go. Whoever comes there keeps the control, as within an atomic sequence. A choice between a condition on locals and
//! `else` is such a location, too.
//!
//! **Preserves** all questions about states, also what may be reached from them: such a step is invisible, commutes with
//! whatever others do and is never taken away (a confluent step), so the states before and after it are branching
//! bisimilar; and since every cycle keeps a location that is not passed, no run is lost. Formulas that count steps and
//! fairness would notice, so properties of runs do without.
//!
//! **Differs** from SPIN in what is merged: SPIN merges within a sequence of statements only, and some that are not
//! confluent. Nothing is merged where somebody can see where processes are or what their locals hold, where it matters who
//! moved last, and in processes that need a permission (`provided`).
//! **Checked by** `promela/tests/all/optimise.rs`, which walks both networks side by side, by the verdicts of all test models
//! and by the random models of `oracle`.

use super::dead::within_sequences;
use crate::{Action, Expr, Location, LocationId, Network, Place, ProcessKind, Scope, Step};
use std::collections::HashSet;

/// Makes processes keep the control where what comes next concerns nobody else; for each kind the locations that are passed.
pub(super) fn merge(network: &mut Network, readers: &[&Expr]) -> Vec<HashSet<LocationId>> {
    let nothing = vec![HashSet::new(); network.processes.len()];
    if network.has_priorities || network.last.is_some() || is_looked_into(network, readers) {
        return nothing;
    }
    let passed: Vec<_> = network.processes.iter().map(passed).collect();
    for (process, passed) in network.processes.iter_mut().zip(&passed) {
        let steps = process.locations.iter_mut().flat_map(|location| &mut location.steps);
        steps.filter(|step| passed.contains(&step.next)).for_each(|step| step.is_atomic = true);
    }
    passed
}

/// Whether an expression looks into processes from outside.
fn is_looked_into(network: &Network, readers: &[&Expr]) -> bool {
    let mut found = false;
    let mut look = |expr: &Expr| {
        found |= matches!(
            expr,
            Expr::RemoteLoad { .. }
                | Expr::RemoteLocation { .. }
                | Expr::PcValue(_)
                | Expr::Enabled(_)
                | Expr::NonProgress
                | Expr::Accepting
        );
    };
    let steps = network.processes.iter().flat_map(|process| &process.locations).flat_map(|l| &l.steps);
    steps.flat_map(Step::expressions).for_each(|expr| expr.walk(&mut look));
    network.processes.iter().flat_map(|p| &p.provided).for_each(|expr| expr.walk(&mut look));
    readers.iter().for_each(|expr| expr.walk(&mut look));
    found
}

/// The locations of a process that are passed: those that can be, without one of each cycle.
fn passed(process: &ProcessKind) -> HashSet<LocationId> {
    if process.provided.is_some() {
        return HashSet::new();
    }
    let within = within_sequences(process);
    let ids = || (0..process.locations.len()).map(|l| LocationId(l as u16));
    let candidates = ids().filter(|id| !within.contains(id) && can_be_passed(process, *id));
    let mut passed = HashSet::new();
    for candidate in candidates {
        if !leads_to(process, &passed, candidate) {
            passed.insert(candidate);
        }
    }
    passed
}

/// Whether a location leads back to itself through others that are passed.
fn leads_to(process: &ProcessKind, passed: &HashSet<LocationId>, target: LocationId) -> bool {
    let mut seen = HashSet::new();
    let mut work = vec![target];
    while let Some(at) = work.pop() {
        for next in process.locations[at.index()].steps.iter().map(|step| step.next) {
            if next == target {
                return true;
            }
            if passed.contains(&next) && seen.insert(next) {
                work.push(next);
            }
        }
    }
    false
}

/// Whether exactly one thing can be done at a location, always, and concerns nobody else.
fn can_be_passed(process: &ProcessKind, id: LocationId) -> bool {
    let location = &process.locations[id.index()];
    let is_marked = |location: &Location| location.is_progress || location.is_accept;
    // Who comes to a mark can be seen: a run may stay before it for ever.
    let is_quiet = |step: &Step| {
        let is_plain = !step.is_atomic && step.escape == 0 && step.mentions.is_empty();
        is_plain && process.locations.get(step.next.index()).is_some_and(|next| !is_marked(next))
    };
    if location.is_end || is_marked(location) || !location.steps.iter().all(is_quiet) {
        return false;
    }
    match location.steps.as_slice() {
        [only] => match &only.action {
            Action::Skip => true,
            Action::Guard(Expr::Constant(value)) => *value != 0,
            Action::Assign(place, value) => is_own(place) && is_private(value),
            _ => false,
        },
        [first, second] => {
            matches!(&first.action, Action::Guard(expr) if is_private(expr)) && second.action == Action::Else
        }
        _ => false,
    }
}

fn is_own(place: &Place) -> bool {
    place.scope == Scope::Local && place.indices.is_empty()
}

/// Whether the value of an expression depends on locals alone, and evaluating it cannot go wrong.
fn is_private(expr: &Expr) -> bool {
    let mut is_private = !expr.may_fail();
    expr.walk(&mut |expr| {
        is_private &= match expr {
            Expr::Load(place) => is_own(place),
            Expr::Constant(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Conditional(..) | Expr::Pid => {
                true
            }
            _ => false,
        };
    });
    is_private
}
