//! Reduction by simulation.
//!
//! **Implements** direct simulation, forwards and backwards (Somenzi and Bloem 2000; Clemente and Mayr,
//! *Advanced automata minimization*, 2013): q simulates p if whatever edge p can take on a letter, q can
//! take one with at least its marks to a state that simulates the target; and the mirror image. States that
//! simulate each other become one; an edge is dropped if on the same letters there is a better one: to a
//! strictly larger state, or from one, with at least its marks.
//!
//! **Differs from the text** in that letters are grouped: guards split the letters into classes that no guard
//! tells apart, and everything is done class by class. With more than [`MAX_CLASSES`] classes,
//! [`MAX_STATES`] states or [`MAX_EDGES`] edges the automaton is left as it is.
//!
//! **Checked by** `tests/all/words.rs`.

use crate::{Automaton, Cube, Edge, Guard, State};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

const MAX_CLASSES: usize = 1024;
const MAX_STATES: usize = 700;
const MAX_EDGES: usize = 4000;

/// The reduced automaton, if it is not too large for this.
pub(crate) fn reduce_forwards(automaton: &Automaton) -> Option<Automaton> {
    let table = Table::new(automaton)?;
    let simulated = table.simulation(|p, q| automaton.state_marks(p) & !automaton.state_marks(q) == 0);
    let class = representatives(automaton.n_states(), &simulated);
    let mut out = automaton.clone();
    for state in automaton.states() {
        // Only representatives are reached any more.
        let edges = automaton.edges(state);
        let kept = (0..edges.len()).filter_map(|i| {
            let guard = table.undominated(state, i, |other| {
                let (e, o) = (&edges[i], &edges[other]);
                let (from, to) = (class[e.target as usize], class[o.target as usize]);
                let is_above = if from == to {
                    e.marks != o.marks
                } else {
                    simulated[from as usize].contains(to as usize)
                };
                is_above && e.marks & !o.marks == 0
            })?;
            Some(Edge { guard, target: class[edges[i].target as usize], marks: edges[i].marks })
        });
        out.replace_edges(state, kept.collect());
    }
    // Of several initial states the simulated ones are superfluous.
    let initial: Vec<State> = automaton.initial().iter().map(|&s| class[s as usize]).collect();
    let is_below = |p: State, q: State| p != q && simulated[p as usize].contains(q as usize);
    out.replace_initial(
        initial.iter().copied().filter(|&p| !initial.iter().any(|&q| is_below(p, q))).collect(),
    );
    Some(out)
}

/// The same backwards.
pub(crate) fn reduce_backwards(automaton: &Automaton) -> Option<Automaton> {
    let table = Table::new(automaton)?.reversed();
    let is_initial = |s: State| automaton.initial().contains(&s);
    let simulated = table.simulation(|p, q| {
        automaton.state_marks(p) & !automaton.state_marks(q) == 0 && (!is_initial(p) || is_initial(q))
    });
    let class = representatives(automaton.n_states(), &simulated);
    // An edge into t from p is dropped if there is one from a state strictly above p.
    let mut incoming: Vec<Vec<(State, Edge)>> = vec![Vec::new(); automaton.n_states()];
    for state in automaton.states() {
        for edge in automaton.edges(state) {
            incoming[edge.target as usize].push((state, edge.clone()));
        }
    }
    let mut outgoing: Vec<Vec<Edge>> = vec![Vec::new(); automaton.n_states()];
    for target in automaton.states().filter(|&t| class[t as usize] == t) {
        let edges = &incoming[target as usize];
        for (i, (source, edge)) in edges.iter().enumerate() {
            let guard = table.undominated(target, i, |other| {
                let (from, o) = (class[edges[other].0 as usize], &edges[other].1);
                let here = class[*source as usize];
                let is_above = if here == from {
                    edge.marks != o.marks
                } else {
                    simulated[here as usize].contains(from as usize)
                };
                is_above && edge.marks & !o.marks == 0
            });
            if let Some(guard) = guard {
                outgoing[class[*source as usize] as usize].push(Edge { guard, target, marks: edge.marks });
            }
        }
    }
    let mut out = automaton.clone();
    for (state, edges) in outgoing.into_iter().enumerate() {
        out.replace_edges(state as State, edges);
    }
    out.replace_initial(automaton.initial().iter().map(|&s| class[s as usize]).collect());
    Some(out)
}

/// For each state the first one that is equivalent to it.
fn representatives(n: usize, simulated: &[FixedBitSet]) -> Vec<State> {
    let equivalent = |p: usize, q: usize| simulated[p].contains(q) && simulated[q].contains(p);
    (0..n).map(|p| (0..=p).find(|&q| equivalent(p, q)).unwrap_or(p) as State).collect()
}

/// Edges with their letters as sets of classes.
struct Table {
    /// By state: classes, other end, marks; in the order of the automaton's edges (or of incoming ones).
    edges: Vec<Vec<Row>>,
    /// What each class is.
    classes: Vec<Vec<Cube>>,
}

struct Row {
    classes: FixedBitSet,
    end: State,
    marks: u64,
    guard: Guard,
    source: State,
}

impl Table {
    fn new(automaton: &Automaton) -> Option<Self> {
        if automaton.n_states() > MAX_STATES || automaton.n_edges() > MAX_EDGES {
            return None;
        }
        let classes = classes(automaton)?;
        let mut known: FxHashMap<Guard, FixedBitSet> = FxHashMap::default();
        let mut set_of = |guard: &Guard| {
            let fresh = || {
                let holds = |class: &Vec<Cube>| guard.holds(class[0].positive);
                let mut set = FixedBitSet::with_capacity(classes.len());
                set.extend((0..classes.len()).filter(|&i| holds(&classes[i])));
                set
            };
            known.entry(guard.clone()).or_insert_with(fresh).clone()
        };
        let edges = automaton.states().map(|source| {
            let rows = automaton.edges(source).iter().map(|edge| Row {
                classes: set_of(&edge.guard),
                end: edge.target,
                marks: edge.marks,
                guard: edge.guard.clone(),
                source,
            });
            rows.collect()
        });
        let edges = edges.collect();
        Some(Self { edges, classes })
    }

    fn reversed(self) -> Self {
        let mut edges: Vec<Vec<Row>> = self.edges.iter().map(|_| Vec::new()).collect();
        for row in self.edges.into_iter().flatten() {
            let (source, end) = (row.source, row.end);
            edges[end as usize].push(Row { end: source, source: end, ..row });
        }
        Self { edges, classes: self.classes }
    }

    /// For each p the set of q that simulate it: the largest relation within `allowed`.
    fn simulation(&self, allowed: impl Fn(State, State) -> bool) -> Vec<FixedBitSet> {
        let n = self.edges.len();
        let mut by: Vec<FixedBitSet> = (0..n)
            .map(|p| {
                let mut set = FixedBitSet::with_capacity(n);
                set.extend((0..n).filter(|&q| allowed(p as State, q as State)));
                set
            })
            .collect();
        // Alternating directions: a fact travels along a chain of states in one sweep of the right one.
        for sweep in 0.. {
            let mut changed = false;
            for i in 0..n {
                let p = if sweep % 2 == 0 { n - 1 - i } else { i };
                let candidates: Vec<usize> = by[p].ones().filter(|&q| q != p).collect();
                for q in candidates {
                    if !self.matches(p, q, &by) {
                        by[p].set(q, false);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        by
    }

    /// Whether q can do what p can, as far as `by` goes.
    fn matches(&self, p: usize, q: usize, by: &[FixedBitSet]) -> bool {
        self.edges[p].iter().all(|row| {
            let mut rest = row.classes.clone();
            for other in &self.edges[q] {
                if row.marks & !other.marks == 0 && by[row.end as usize].contains(other.end as usize) {
                    rest.difference_with(&other.classes);
                    if rest.is_clear() {
                        return true;
                    }
                }
            }
            rest.is_clear()
        })
    }

    /// What is left of the guard of edge `i` of `state` without the cubes on which edges that dominate it can
    /// be taken; `None` if nothing is.
    fn undominated(&self, state: State, i: usize, dominates: impl Fn(usize) -> bool) -> Option<Guard> {
        let rows = &self.edges[state as usize];
        let mut better = FixedBitSet::with_capacity(self.classes.len());
        for other in (0..rows.len()).filter(|&other| other != i && dominates(other)) {
            better.union_with(&rows[other].classes);
        }
        if better.is_clear() {
            return Some(rows[i].guard.clone());
        }
        let is_covered = |cube: &Cube| {
            let meets = |class: &usize| self.classes[*class].iter().any(|part| part.and(*cube).is_some());
            rows[i].classes.ones().filter(meets).all(|class| better.contains(class))
        };
        let kept: Vec<Cube> = rows[i].guard.cubes().iter().copied().filter(|c| !is_covered(c)).collect();
        (!kept.is_empty()).then(|| Guard::any_of(kept))
    }
}

/// The classes of letters that no guard tells apart, each as disjoint cubes.
fn classes(automaton: &Automaton) -> Option<Vec<Vec<Cube>>> {
    let mut guards: Vec<&Guard> =
        automaton.states().flat_map(|s| automaton.edges(s)).map(|edge| &edge.guard).collect();
    guards.sort();
    guards.dedup();
    let mut classes = vec![vec![Cube::TRUE]];
    for guard in guards {
        let mut finer = Vec::with_capacity(classes.len());
        for class in classes {
            let mut outside = class.clone();
            for cube in guard.cubes() {
                let mut left = Vec::new();
                outside.iter().for_each(|part| part.without(*cube, &mut left));
                outside = left;
                if outside.len() > MAX_CLASSES {
                    return None;
                }
            }
            // What is inside is what is not outside.
            let mut inside = class;
            for cube in &outside {
                let mut left = Vec::new();
                inside.iter().for_each(|part| part.without(*cube, &mut left));
                inside = left;
                if inside.len() > MAX_CLASSES {
                    return None;
                }
            }
            finer.extend([inside, outside].into_iter().filter(|part| !part.is_empty()));
        }
        classes = finer;
        if classes.len() > MAX_CLASSES || classes.iter().map(Vec::len).sum::<usize>() > 16 * MAX_CLASSES {
            return None;
        }
    }
    Some(classes)
}
