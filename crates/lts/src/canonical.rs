//! A tester from a specification: what the specification does not allow is wrong.
//!
//! **Implements** V93 section 3 (determinisation, and the canonical tester of Brinksma): tester states are the sets of
//! states that the specification may be in after a trace. An action that none of them has leads to a reject state; where
//! none of them diverges, the set is a livelock monitor; and for each smallest set of actions that meets whatever
//! the specification may offer in a stable state, there is a deadlock monitor that offers just that set: a system
//! that refuses it there has a failure that is not allowed.
//! **Preserves** the preorder of traces, stable failures and divergence traces: the tester rejects a system exactly if
//! one of its traces, stable failures or divergence traces is none of the specification's.
//! **Differs from the text** in that propositions are not looked at. There may be exponentially many sets of both kinds:
//! a limit stops it.
//! **Checked by** random pairs of system and specification against the preorder by definition (`oracle`).

use crate::lsts::{Action, Lsts, LstsBuilder, Mark, Special, TAU, TooLarge};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use thiserror::Error;

/// Why there is no tester.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CanonicalError {
    /// More states than are wanted.
    #[error(
        "the tester has more than {limit} states: determinisation may take exponentially many; minimise the specification first, or raise the limit"
    )]
    States {
        /// The limit.
        limit: usize,
    },
    /// It cannot be explicit.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
}

/// The tester of a specification, with at most `limit` states.
pub fn canonical_tester(specification: &Lsts, limit: usize) -> Result<Lsts, CanonicalError> {
    Maker {
        specification,
        diverges: diverging(specification),
        numbers: FxHashMap::default(),
        nodes: Vec::new(),
        edges: Vec::new(),
        marks: [Vec::new(), Vec::new(), Vec::new()],
        n_states: 0,
        limit,
    }
    .make()
}

struct Maker<'a> {
    specification: &'a Lsts,
    /// The states from which tau can go on for ever.
    diverges: FixedBitSet,
    /// Sets of states that were met: the tester's states.
    numbers: FxHashMap<Vec<u32>, u32>,
    /// Sets to look at: the tester's state, and the set.
    nodes: Vec<(u32, Vec<u32>)>,
    edges: Vec<(u32, Action, u32)>,
    /// Reject states, deadlock monitors, livelock monitors.
    marks: [Vec<u32>; 3],
    n_states: u32,
    limit: usize,
}

const REJ: usize = 0;
const DL: usize = 1;
const LL: usize = 2;

impl Maker<'_> {
    fn make(mut self) -> Result<Lsts, CanonicalError> {
        let start = self.closed(vec![self.specification.initial()]);
        self.node(start)?;
        let mut reject = None;
        while let Some((number, set)) = self.nodes.pop() {
            self.expand(number, &set, &mut reject)?;
        }
        let mut builder = LstsBuilder::new(u64::from(self.n_states))?;
        for name in self.specification.action_names() {
            builder.action(name);
        }
        for (source, action, target) in self.edges {
            builder.add_transition(source, action, target);
        }
        let [rej, dl, ll] = self.marks;
        for (special, states) in [(Special::Rej, rej), (Special::DlRej, dl), (Special::LlRej, ll)] {
            builder.add_proposition(Mark::Special(special), states);
        }
        Ok(builder.build()?)
    }

    fn new_state(&mut self) -> Result<u32, CanonicalError> {
        if self.n_states as usize >= self.limit {
            return Err(CanonicalError::States { limit: self.limit });
        }
        self.n_states += 1;
        Ok(self.n_states - 1)
    }

    /// The tester's state for a set.
    fn node(&mut self, set: Vec<u32>) -> Result<u32, CanonicalError> {
        if let Some(&known) = self.numbers.get(&set) {
            return Ok(known);
        }
        let number = self.new_state()?;
        self.numbers.insert(set.clone(), number);
        self.nodes.push((number, set));
        Ok(number)
    }

    fn expand(&mut self, number: u32, set: &[u32], reject: &mut Option<u32>) -> Result<(), CanonicalError> {
        let spec = self.specification;
        if !set.iter().any(|&state| self.diverges.contains(state as usize)) {
            self.marks[LL].push(number);
        }
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); spec.n_actions()];
        for &state in set {
            for (action, target) in spec.edges(state).filter(|edge| edge.0 != TAU) {
                next[action as usize].push(target);
            }
        }
        let mut targets = vec![None; spec.n_actions()];
        for action in 1..spec.n_actions() {
            let targets_of = std::mem::take(&mut next[action]);
            let target = if targets_of.is_empty() {
                match *reject {
                    Some(reject) => reject,
                    None => {
                        let made = self.new_state()?;
                        self.marks[REJ].push(made);
                        *reject.insert(made)
                    }
                }
            } else {
                let closed = self.closed(targets_of);
                self.node(closed)?
            };
            targets[action] = Some(target);
            self.edges.push((number, action as Action, target));
        }
        let offered: Vec<Vec<Action>> = set.iter().filter_map(|&state| self.offered(state)).collect();
        for mirror in hitting_sets(&offered, self.limit)? {
            let monitor = self.new_state()?;
            self.marks[DL].push(monitor);
            self.edges.push((number, TAU, monitor));
            for action in mirror {
                let target = targets[action as usize].expect("every action has a target");
                self.edges.push((monitor, action, target));
            }
        }
        Ok(())
    }

    /// What a stable state offers; `None` if it is not stable.
    fn offered(&self, state: u32) -> Option<Vec<Action>> {
        let mut labels = self.specification.labels()[self.specification.range(state)].to_vec();
        labels.dedup();
        (labels.first() != Some(&TAU)).then_some(labels)
    }

    /// The set with all that tau leads to, sorted.
    fn closed(&self, mut states: Vec<u32>) -> Vec<u32> {
        states.sort_unstable();
        states.dedup();
        let mut seen: rustc_hash::FxHashSet<u32> = states.iter().copied().collect();
        let mut next = 0;
        while next < states.len() {
            for (_, target) in self.specification.edges(states[next]).take_while(|edge| edge.0 == TAU) {
                if seen.insert(target) {
                    states.push(target);
                }
            }
            next += 1;
        }
        states.sort_unstable();
        states
    }
}

/// The states from which tau can go on for ever.
pub(crate) fn diverging(lsts: &Lsts) -> FixedBitSet {
    // A state does not diverge if all its tau lead to states that do not: peel those off.
    let n = lsts.n_states();
    let taus = |state: u32| lsts.edges(state).take_while(|edge| edge.0 == TAU).map(|edge| edge.1);
    let mut n_left: Vec<u32> = (0..n as u32).map(|state| taus(state).count() as u32).collect();
    let mut sources: Vec<(u32, u32)> =
        (0..n as u32).flat_map(|state| taus(state).map(move |target| (target, state))).collect();
    sources.sort_unstable();
    let mut diverging = FixedBitSet::with_capacity(n);
    diverging.insert_range(..);
    let mut waiting: Vec<u32> = (0..n as u32).filter(|&state| n_left[state as usize] == 0).collect();
    while let Some(state) = waiting.pop() {
        diverging.set(state as usize, false);
        let first = sources.partition_point(|&(target, _)| target < state);
        for &(_, source) in sources[first..].iter().take_while(|&&(target, _)| target == state) {
            n_left[source as usize] -= 1;
            if n_left[source as usize] == 0 {
                waiting.push(source);
            }
        }
    }
    diverging
}

/// The smallest sets that have an element of each of `sets`; none if one of them is empty.
fn hitting_sets(sets: &[Vec<Action>], limit: usize) -> Result<Vec<Vec<Action>>, CanonicalError> {
    let mut hitting: Vec<Vec<Action>> = vec![Vec::new()];
    let mut sets: Vec<&Vec<Action>> = sets.iter().collect();
    sets.sort();
    sets.dedup();
    for set in sets {
        let mut next: Vec<Vec<Action>> = Vec::new();
        for one in &hitting {
            if one.iter().any(|action| set.contains(action)) {
                next.push(one.clone());
                continue;
            }
            for &action in set {
                let mut more = one.clone();
                more.push(action);
                more.sort_unstable();
                next.push(more);
            }
        }
        next.sort_by_key(|one| (one.len(), one.clone()));
        next.dedup();
        if next.len() > limit {
            return Err(CanonicalError::States { limit });
        }
        hitting.clear();
        for one in next {
            let is_subset = |known: &Vec<Action>| known.iter().all(|action| one.contains(action));
            if !hitting.iter().any(is_subset) {
                hitting.push(one);
            }
        }
    }
    Ok(hitting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_sets_meet_every_set() {
        let found = |sets: &[&[Action]]| {
            hitting_sets(&sets.iter().map(|set| set.to_vec()).collect::<Vec<_>>(), 100).unwrap()
        };
        assert_eq!(found(&[]), [vec![0; 0]]);
        assert_eq!(found(&[&[1], &[]]), [[0; 0]; 0]);
        assert_eq!(found(&[&[1, 2], &[2, 3]]), [vec![2], vec![1, 3]]);
        assert_eq!(found(&[&[1, 2], &[1, 2], &[1]]), [vec![1]]);
    }

    #[test]
    fn tau_that_ends_somewhere_does_not_diverge() {
        let mut builder = LstsBuilder::new(5).unwrap();
        for (source, target) in [(0, 1), (1, 2), (2, 1), (3, 4), (0, 3)] {
            builder.add_transition(source, TAU, target);
        }
        let found: Vec<usize> = diverging(&builder.build().unwrap()).ones().collect();
        assert_eq!(found, [0, 1, 2]);
    }
}
