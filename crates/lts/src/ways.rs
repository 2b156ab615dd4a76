//! Which components must move before an expression can have a value.
//!
//! A component that does not have the value of a proposition must move, and if it can never come to where it has it,
//! whatever the others do, there is no way. For a conjunction that is to hold one of its false parts is enough, for a
//! disjunction all parts count. **Checked by** `oracle`, through the sets that `reduce::Towards` makes of it.

use crate::expr::Expr;
use crate::lsts::{Lsts, Mark, Special, TAU};
use crate::plan::Plan;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// For propositions of reject rules: from which states of their components they can get a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    /// By component, proposition and value: the states where it has the value, and those that can come there.
    tables: FxHashMap<(usize, usize, bool), (FixedBitSet, FixedBitSet)>,
}

impl Ways {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut wanted = Vec::new();
        for rule in plan.propositions().iter().filter(|rule| rule.result == Mark::Special(Special::Rej)) {
            propositions(&rule.expr, &mut wanted);
        }
        wanted.sort_unstable();
        wanted.dedup();
        let mut tables = FxHashMap::default();
        for (component, proposition) in wanted {
            if plan.growing(component).is_some() {
                // Nobody knows where it can come to.
                continue;
            }
            let lsts = &plan.components()[component].lsts;
            let moves = moves(plan, component);
            for value in [false, true] {
                let mut holds = lsts.propositions()[proposition].states.clone();
                if !value {
                    holds.grow(lsts.n_states());
                    holds.toggle_range(..);
                }
                let reaches = reaching(lsts, &moves, &holds);
                tables.insert((component, proposition, value), (holds, reaches));
            }
        }
        Self { tables }
    }

    /// Alternatives, each a set of components of which one must move before `expr`, which does not have the value
    /// `wanted`, gets it. An empty one says that it never does.
    pub(crate) fn towards(
        &self,
        expr: &Expr,
        wanted: bool,
        local: &impl Fn(usize) -> u32,
        holds: &impl Fn(usize, usize) -> bool,
    ) -> Vec<Vec<usize>> {
        match expr {
            Expr::Constant(_) => vec![Vec::new()],
            Expr::Holds { component, proposition } => {
                let can = self
                    .tables
                    .get(&(*component, *proposition, wanted))
                    .is_none_or(|(_, reaches)| reaches.contains(local(*component) as usize));
                vec![if can { vec![*component] } else { Vec::new() }]
            }
            Expr::Not(inside) => self.towards(inside, !wanted, local, holds),
            Expr::And(parts) | Expr::Or(parts) => {
                let mut left = parts
                    .iter()
                    .filter(|part| part.value(holds) != wanted)
                    .map(|part| self.towards(part, wanted, local, holds));
                if matches!(expr, Expr::And(_)) == wanted {
                    // Every part must have the value: any one that does not will do.
                    return left.flatten().collect();
                }
                // One part must get it: all of them count.
                let first = left.next().and_then(smallest).unwrap_or_default();
                let mut all = left.filter_map(smallest).fold(first, |mut all, more| {
                    all.extend(more);
                    all
                });
                all.sort_unstable();
                all.dedup();
                vec![all]
            }
        }
    }
}

fn smallest(alternatives: Vec<Vec<usize>>) -> Option<Vec<usize>> {
    alternatives.into_iter().min_by_key(Vec::len)
}

fn propositions(expr: &Expr, out: &mut Vec<(usize, usize)>) {
    match expr {
        Expr::Constant(_) => {}
        Expr::Holds { component, proposition } => out.push((*component, *proposition)),
        Expr::Not(inside) => propositions(inside, out),
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| propositions(part, out)),
    }
}

/// The actions of a component that can happen at all: tau, and those with a rule.
fn moves(plan: &Plan, component: usize) -> Vec<bool> {
    let mut moves = vec![false; plan.components()[component].lsts.n_actions()];
    moves[TAU as usize] = true;
    for (_, action) in plan.rules().iter().flat_map(|rule| &rule.parts).filter(|part| part.0 == component) {
        moves[*action as usize] = true;
    }
    moves
}

/// The states from which one of `targets` can be reached by these actions.
fn reaching(lsts: &Lsts, moves: &[bool], targets: &FixedBitSet) -> FixedBitSet {
    let mut sources: Vec<(u32, u32)> = Vec::with_capacity(lsts.n_transitions());
    for state in 0..lsts.n_states() as u32 {
        sources.extend(lsts.edges(state).filter(|edge| moves[edge.0 as usize]).map(|edge| (edge.1, state)));
    }
    sources.sort_unstable();
    let mut reached = targets.clone();
    let mut waiting: Vec<u32> = targets.ones().map(|state| state as u32).collect();
    while let Some(state) = waiting.pop() {
        let first = sources.partition_point(|&(target, _)| target < state);
        for &(_, source) in sources[first..].iter().take_while(|&&(target, _)| target == state) {
            if !reached.put(source as usize) {
                waiting.push(source);
            }
        }
    }
    reached
}
