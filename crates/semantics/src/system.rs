//! One or two systems on common numbers: actions and propositions by their names, and a number for every valuation.
//!
//! Two systems are put side by side in one graph with two initial states, so that every algorithm sees one graph.
//! Actions, propositions and valuations are numbered in the order of their names, whatever order the files have: what
//! is computed depends on names only. Only reachable states are kept.

use crate::edges::Edges;
use rustc_hash::FxHashMap;
use stubborn_lts::{Lsts, LstsBuilder, Mark, TAU, TooLarge};

/// A graph whose states have valuations.
#[derive(Clone, Debug)]
pub(crate) struct System {
    /// One per system.
    pub(crate) initials: Vec<u32>,
    /// The visible actions; action `i` is `names[i - 1]`.
    pub(crate) names: Vec<String>,
    pub(crate) marks: Vec<Mark>,
    /// Each is the marks that hold, by number.
    pub(crate) valuations: Vec<Vec<u32>>,
    /// The valuation of each state.
    pub(crate) valuation: Vec<u32>,
    pub(crate) edges: Edges,
}

/// The word of a mark; those of the format come last.
pub(crate) fn word(mark: &Mark) -> (bool, &str) {
    match mark {
        Mark::Named(name) => (false, name),
        Mark::Special(special) => (true, special.word()),
    }
}

/// The names of the visible actions, sorted.
pub(crate) fn names(lsts: &Lsts) -> Vec<String> {
    let mut names = lsts.action_names().to_vec();
    names.sort_unstable();
    names
}

/// The propositions, sorted.
pub(crate) fn marks(lsts: &Lsts) -> Vec<Mark> {
    let mut marks: Vec<Mark> = lsts.propositions().iter().map(|p| p.mark.clone()).collect();
    marks.sort_unstable_by(|a, b| word(a).cmp(&word(b)));
    marks
}

impl System {
    /// The reachable parts of systems with the same actions and propositions, side by side.
    pub(crate) fn new(parts: &[&Lsts]) -> Self {
        let (names, marks) = (names(parts[0]), marks(parts[0]));
        let numbers: FxHashMap<&str, u32> = names.iter().map(String::as_str).zip(1..).collect();
        let (mut edges, mut initials, mut values) = (Vec::new(), Vec::new(), Vec::new());
        // Each set of propositions that hold somewhere, by the order in which they are met.
        let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        for lsts in parts {
            let first = values.len() as u32;
            let actions: Vec<u32> = std::iter::once(TAU)
                .chain(lsts.action_names().iter().map(|name| numbers[name.as_str()]))
                .collect();
            let reachable = lsts.reachable();
            let mut place = vec![0; lsts.n_states()];
            for (i, state) in reachable.ones().enumerate() {
                place[state] = first + i as u32;
            }
            let sets: Vec<_> = marks.iter().map(|mark| lsts.marked(mark)).collect();
            for state in reachable.ones() {
                let holds = |(_, set): &(u32, &Option<&_>)| {
                    set.is_some_and(|set: &fixedbitset::FixedBitSet| set.contains(state))
                };
                let holding: Vec<u32> = (0..).zip(&sets).filter(holds).map(|(i, _)| i).collect();
                let next = known.len() as u32;
                values.push(*known.entry(holding).or_insert(next));
                for (action, target) in lsts.edges(state as u32) {
                    edges.push((place[state], actions[action as usize], place[target as usize]));
                }
            }
            initials.push(place[lsts.initial() as usize]);
        }
        // Numbers in the order of what holds.
        let mut met: Vec<(Vec<u32>, u32)> = known.into_iter().collect();
        met.sort_unstable();
        let mut numbers = vec![0; met.len()];
        (0..).zip(&met).for_each(|(number, (_, met))| numbers[*met as usize] = number);
        let valuations: Vec<Vec<u32>> = met.into_iter().map(|(holding, _)| holding).collect();
        let valuation = values.iter().map(|&value: &u32| numbers[value as usize]).collect();
        let edges = Edges::new(values.len(), edges);
        Self { initials, names, marks, valuation, edges, valuations }
    }

    pub(crate) fn n_states(&self) -> usize {
        self.valuation.len()
    }

    /// Whether an edge cannot be seen.
    #[inline]
    pub(crate) fn is_invisible(&self, source: u32, label: u32, target: u32) -> bool {
        label == TAU && self.valuation[source as usize] == self.valuation[target as usize]
    }

    /// Whether a state has no tau, seen or not.
    pub(crate) fn is_stable(&self, state: u32) -> bool {
        self.edges.of(state).next().is_none_or(|(label, _)| label != TAU)
    }

    /// What is called so: an action.
    pub(crate) fn action_name(&self, action: u32) -> &str {
        if action == TAU { "tau" } else { &self.names[action as usize - 1] }
    }

    /// The words of the marks of a valuation.
    pub(crate) fn words(&self, valuation: u32) -> Vec<String> {
        let marks = &self.valuations[valuation as usize];
        marks.iter().map(|&mark| word(&self.marks[mark as usize]).1.to_owned()).collect()
    }

    /// The same actions and propositions with another graph, whose states are numbered as they are met, breadth first.
    pub(crate) fn with_graph(&self, initials: &[u32], valuation: &[u32], edges: &Edges) -> Self {
        let mut place = vec![u32::MAX; valuation.len()];
        let mut order = Vec::new();
        let mut meet = |state: u32, order: &mut Vec<u32>| {
            if place[state as usize] == u32::MAX {
                place[state as usize] = order.len() as u32;
                order.push(state);
            }
            place[state as usize]
        };
        let initials = initials.iter().map(|&state| meet(state, &mut order)).collect();
        let mut list = Vec::new();
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            for (label, target) in edges.of(state) {
                list.push((next as u32, label, meet(target, &mut order)));
            }
            next += 1;
        }
        Self {
            initials,
            names: self.names.clone(),
            marks: self.marks.clone(),
            valuations: self.valuations.clone(),
            valuation: order.iter().map(|&state| valuation[state as usize]).collect(),
            edges: Edges::new(order.len(), list),
        }
    }

    /// The first of the systems as an explicit one.
    pub(crate) fn lsts(&self) -> Result<Lsts, TooLarge> {
        let mut builder = LstsBuilder::new(self.n_states() as u64)?;
        self.names.iter().for_each(|name| {
            builder.action(name);
        });
        builder.set_initial(self.initials[0]);
        for state in 0..self.n_states() as u32 {
            for (label, target) in self.edges.of(state) {
                builder.add_transition(state, label, target);
            }
        }
        for (number, mark) in (0..).zip(&self.marks) {
            let holds = |&state: &u32| {
                self.valuations[self.valuation[state as usize] as usize].binary_search(&number).is_ok()
            };
            builder.add_proposition(mark.clone(), (0..self.n_states() as u32).filter(holds));
        }
        builder.build()
    }
}
