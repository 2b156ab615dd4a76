//! Formulas over actions and propositions by brute force: the words of runs as a graph with a letter per node.
//!
//! A node is a state and what is to be seen next: an action that can come after moves of which nothing is seen, a change of
//! what holds of a process, or nothing any more, if the system can stop or go on unseen from there. `linear` decides the formula on this graph without automata.

use super::{Brute, Rejected};
use crate::linear::{Runs, violation};
use std::collections::BTreeSet;
use stubborn_ltl::Formula;

/// Whether a run of the network, of which the visible labels can be seen, violates the formula. Its propositions are
/// the first `n_actions` of the visible labels, in their order, then the conditions; other labels make letters without
/// an action.
pub fn violates(
    system: &Brute,
    visible: &[usize],
    n_actions: usize,
    conditions: &[Rejected],
    formula: &Formula,
) -> bool {
    let n_letters = visible.len() + 2;
    let change = visible.len();
    let valuation = |state: usize| {
        let holds = conditions.iter().map(|condition| condition.holds(&system.tuples[state]));
        holds.enumerate().fold(0u64, |all, (i, holds)| all | u64::from(holds) << (n_actions + i))
    };
    let n = system.tuples.len() * n_letters;
    // What is seen to change: the parts of the conditions, each by itself.
    let seen_parts = |state: usize| -> Vec<bool> {
        let parts = conditions.iter().flat_map(|condition| &condition.parts);
        parts.map(|(process, states)| states[system.tuples[state][*process]]).collect()
    };
    let node = |state: usize, letter: usize| state * n_letters + letter;
    let silence = visible.len() + 1;
    let place = |label: Option<usize>| label.and_then(|label| visible.iter().position(|&v| v == label));
    let unseen = |from: usize| {
        let mut seen = BTreeSet::from([from]);
        let mut waiting = vec![from];
        while let Some(state) = waiting.pop() {
            for step in system.moves[state].iter().filter(|step| place(step.label).is_none()) {
                if seen_parts(step.target) == seen_parts(from) && seen.insert(step.target) {
                    waiting.push(step.target);
                }
            }
        }
        seen
    };
    let mut exists = vec![false; n];
    let mut after: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
    for state in 0..system.tuples.len() {
        for &at in &unseen(state) {
            for step in &system.moves[at] {
                match place(step.label) {
                    Some(letter) => {
                        exists[node(state, letter)] = true;
                        after[node(state, letter)].insert(step.target);
                    }
                    None if seen_parts(step.target) != seen_parts(at) => {
                        exists[node(state, change)] = true;
                        after[node(state, change)].insert(step.target);
                    }
                    // It comes back to where it is: unseen for ever.
                    None => exists[node(state, silence)] |= unseen(step.target).contains(&at),
                }
            }
            exists[node(state, silence)] |= system.moves[at].is_empty();
        }
    }
    let mut letters = vec![0u64; n];
    let mut steps = Vec::new();
    for state in 0..system.tuples.len() {
        letters[node(state, silence)] = valuation(state);
        for letter in 0..=change {
            letters[node(state, letter)] =
                valuation(state) | if letter < n_actions { 1 << letter } else { 0 };
            for &target in &after[node(state, letter)] {
                let next = (0..n_letters).map(|next| node(target, next)).filter(|&next| exists[next]);
                steps.extend(next.map(|next| (node(state, letter), next)));
            }
        }
        steps.push((node(state, silence), node(state, silence)));
    }
    // Runs begin in node 0: each of the first nodes takes its turn there.
    (0..n_letters).filter(|&letter| exists[node(0, letter)]).any(|first| {
        let turned = |node: usize| {
            if node == first {
                0
            } else if node == 0 {
                first
            } else {
                node
            }
        };
        let mut letters = letters.clone();
        letters.swap(0, first);
        let steps: Vec<(usize, usize)> = steps.iter().map(|&(from, to)| (turned(from), turned(to))).collect();
        violation(&Runs::new(&letters, &steps), formula, false).is_some()
    })
}
