//! Compositions by definition: slow, and written for the reader.
//!
//! **Implements** Definition 6 of HVV word by word on tuples of states, and what it means that a run shows a rejection
//! (section 5 there; C1 to C4 of V93 Theorem 3.3). Counterexamples are confirmed by this code, which shares
//! nothing with [`crate::Composition`] but the plan.
//! **Checked by** comparing its successors with those of `Composition` on random plans.

use crate::expr::Expr;
use crate::lsts::{Action, Special, TAU};
use crate::plan::Plan;
use stubborn_system::{Rejection, RejectionKind};

/// What moves: a rule, or one component alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mover {
    /// This rule of the plan.
    Rule(usize),
    /// The tau move of this component.
    Tau(usize),
}

/// The states of the components.
pub type Tuple = Vec<u32>;

/// The initial tuple.
pub fn initial(plan: &Plan) -> Tuple {
    (0..plan.components().len()).map(|component| plan.initial(component)).collect()
}

/// All moves from a tuple: who, with which action of the result, and to where.
pub fn successors(plan: &Plan, from: &[u32]) -> Vec<(Mover, Action, Tuple)> {
    let mut out = Vec::new();
    if is_cut(plan, from) {
        return out;
    }
    for i in 0..plan.components().len() {
        for (action, target) in plan.edges(i, from[i]).unwrap_or_default() {
            if action == TAU {
                let mut to = from.to_vec();
                to[i] = target;
                out.push((Mover::Tau(i), TAU, to));
            }
        }
    }
    for (number, rule) in plan.rules().iter().enumerate() {
        let mut tuples = vec![from.to_vec()];
        for &(component, action) in &rule.parts {
            let edges = plan.edges(component, from[component]).unwrap_or_default();
            let mut next = Vec::new();
            for tuple in &tuples {
                for &(_, target) in edges.iter().filter(|(label, _)| *label == action) {
                    let mut to = tuple.clone();
                    to[component] = target;
                    next.push(to);
                }
            }
            tuples = next;
        }
        out.extend(tuples.into_iter().map(|to| (Mover::Rule(number), rule.result, to)));
    }
    out
}

/// Whether an expression holds in a tuple.
fn holds(plan: &Plan, expr: &Expr, tuple: &[u32]) -> bool {
    match expr {
        Expr::Constant(value) => *value,
        Expr::Holds { component, proposition } => plan.holds(*component, *proposition, tuple[*component]),
        Expr::Not(inside) => !holds(plan, inside, tuple),
        Expr::And(parts) => parts.iter().all(|part| holds(plan, part, tuple)),
        Expr::Or(parts) => parts.iter().any(|part| holds(plan, part, tuple)),
    }
}

fn is_cut(plan: &Plan, tuple: &[u32]) -> bool {
    plan.propositions().iter().any(|rule| rule.result.is_cut() && holds(plan, &rule.expr, tuple))
}

/// Whether one of these components moves.
fn takes_part(plan: &Plan, guard: &[usize], mover: Mover) -> bool {
    match mover {
        Mover::Tau(component) => guard.contains(&component),
        Mover::Rule(rule) => plan.rules()[rule].parts.iter().any(|(component, _)| guard.contains(component)),
    }
}

/// What a run with these actions shows, for people.
pub(crate) fn told(
    plan: &Plan,
    rejection: &Rejection,
    actions: &[Action],
    cycle_start: Option<usize>,
) -> String {
    let visible = |actions: &[Action]| {
        let seen = actions.iter().filter(|&&action| action != TAU);
        let names: Vec<&str> = seen.map(|&action| plan.action_name(action)).collect();
        if names.is_empty() { "nothing to be seen".to_owned() } else { names.join(" ") }
    };
    let (stem, cycle) = actions.split_at(cycle_start.unwrap_or(actions.len()));
    let (stem, cycle) = (visible(stem), visible(cycle));
    let text = &rejection.text;
    match rejection.kind {
        RejectionKind::State => format!("{text}; illegal trace: {stem}"),
        RejectionKind::Deadlock => format!("deadlock where {text}; illegal trace: {stem}"),
        RejectionKind::Livelock => {
            format!("livelock where {text}; illegal trace: {stem}, then for ever: {cycle}")
        }
        RejectionKind::Infinite => {
            format!("infinite trace through {text}; illegal trace: {stem}, then for ever: {cycle}")
        }
    }
}

/// Whether a run shows the rejection of proposition rule `rule`: `tuples` are its states, `movers` its steps; from
/// tuple `cycle_start` on it repeats. Says what is wrong with it if it does not.
pub fn confirm(
    plan: &Plan,
    rule: usize,
    tuples: &[Tuple],
    movers: &[Mover],
    cycle_start: Option<usize>,
) -> Result<(), String> {
    let [.., last] = tuples else { return Err("the run is empty".into()) };
    if tuples[0] != initial(plan) || movers.len() + 1 != tuples.len() {
        return Err("the run does not begin at the beginning".into());
    }
    for (i, &mover) in movers.iter().enumerate() {
        let is_move = |(who, _, to): &(Mover, Action, Tuple)| *who == mover && *to == tuples[i + 1];
        if !successors(plan, &tuples[i]).iter().any(is_move) {
            return Err(format!("step {} is none of the composition", i + 1));
        }
    }
    let expr = &plan.propositions()[rule].expr;
    let holds = |tuple: &Tuple| holds(plan, expr, tuple);
    let mut guard = Vec::new();
    expr.components(&mut guard);
    let cycle = match cycle_start {
        Some(start) if start < movers.len() && tuples[start] == *last => Some(start..movers.len()),
        Some(_) => return Err("the cycle does not close".into()),
        None => None,
    };
    let is_shown = match (plan.propositions()[rule].result.clone(), cycle) {
        (crate::Mark::Special(Special::Rej), None) => holds(last),
        (crate::Mark::Special(Special::DlRej), None) => {
            holds(last) && successors(plan, last).is_empty() && !is_cut(plan, last)
        }
        (crate::Mark::Special(Special::LlRej), Some(cycle)) => {
            cycle.clone().all(|i| holds(&tuples[i]) && !takes_part(plan, &guard, movers[i]))
        }
        (crate::Mark::Special(Special::InfRej), Some(mut cycle)) => {
            cycle.any(|i| holds(&tuples[i]) && takes_part(plan, &guard, movers[i]))
        }
        _ => false,
    };
    if is_shown { Ok(()) } else { Err("the run does not show the rejection".into()) }
}
