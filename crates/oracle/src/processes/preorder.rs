//! The preorder of traces, stable failures and divergence traces, by definition.
//!
//! After each trace, which is followed in sets of states on both sides, whatever the system may do, refuse or
//! run into must be allowed by the specification. Refusals are looked at set by set, all of them.

use super::{Brute, Process};
use std::collections::BTreeSet;

/// What a system has that its specification does not allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excess {
    /// A trace.
    pub trace: bool,
    /// A stable failure, after a trace that both have.
    pub failure: bool,
    /// A divergence trace, after a trace that both have.
    pub divergence: bool,
}

/// One side: for each state its edges; `None` is invisible.
type Edges = Vec<Vec<(Option<usize>, usize)>>;

/// Compares what a network does, seen by the visible labels, with a specification.
pub fn excess(system: &Brute, visible: &[usize], specification: &Process) -> Excess {
    let seen = |label: Option<usize>| label.filter(|label| visible.contains(label));
    let left: Edges = system
        .moves
        .iter()
        .map(|moves| moves.iter().map(|step| (seen(step.label), step.target)).collect())
        .collect();
    let mut right: Edges = vec![Vec::new(); specification.n_states];
    for &(source, label, target) in &specification.edges {
        right[source].push((label, target));
    }
    let mut found = Excess::default();
    let start = (closed(&left, [0].into()), closed(&right, [0].into()));
    let mut known = BTreeSet::from([start.clone()]);
    let mut waiting = vec![start];
    while let Some((these, those)) = waiting.pop() {
        found.divergence |= diverges(&left, &these) && !diverges(&right, &those);
        found.failure |= refusals(&left, &these, visible).any(|refused| {
            let is_allowed = refusals(&right, &those, visible).any(|allowed| allowed == refused);
            !is_allowed
        });
        for &label in visible {
            let next = (after(&left, &these, label), after(&right, &those, label));
            if next.0.is_empty() {
                continue;
            }
            if next.1.is_empty() {
                found.trace = true;
            } else if known.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    found
}

fn closed(edges: &Edges, mut states: BTreeSet<usize>) -> BTreeSet<usize> {
    loop {
        let more: Vec<usize> = states
            .iter()
            .flat_map(|&state| edges[state].iter().filter(|edge| edge.0.is_none()).map(|edge| edge.1))
            .filter(|target| !states.contains(target))
            .collect();
        if more.is_empty() {
            return states;
        }
        states.extend(more);
    }
}

fn after(edges: &Edges, states: &BTreeSet<usize>, label: usize) -> BTreeSet<usize> {
    let targets =
        states.iter().flat_map(|&s| edges[s].iter().filter(|edge| edge.0 == Some(label)).map(|edge| edge.1));
    closed(edges, targets.collect())
}

/// Whether an invisible cycle can be reached: some state comes to itself.
fn diverges(edges: &Edges, states: &BTreeSet<usize>) -> bool {
    states.iter().any(|&state| {
        let next: BTreeSet<usize> =
            edges[state].iter().filter(|edge| edge.0.is_none()).map(|edge| edge.1).collect();
        closed(edges, next).contains(&state)
    })
}

/// All sets of labels, as bits of their places, that a stable state of the set refuses.
fn refusals<'a>(
    edges: &'a Edges,
    states: &'a BTreeSet<usize>,
    visible: &'a [usize],
) -> impl Iterator<Item = u32> + 'a {
    let stable = states.iter().filter(|&&state| edges[state].iter().all(|edge| edge.0.is_some()));
    stable.flat_map(move |&state| {
        let offers = move |place: usize| edges[state].iter().any(|edge| edge.0 == Some(visible[place]));
        let is_refused = move |&set: &u32| (0..visible.len()).all(|i| set >> i & 1 == 0 || !offers(i));
        (0..1 << visible.len()).filter(is_refused)
    })
}
