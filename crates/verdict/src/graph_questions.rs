//! Questions about the edges: what can be reached from where, and which cycles there are.
//!
//! **Implements** the progress stages of ASSET (V15 section V): backward reachability of progress and of
//! termination, cycles without progress; and the cycles of V15 Theorem 6. All of it through strong
//! components of the forward edges, which needs no reversed copy of the graph.
//! **Checked by** the campaign against definition-level brute force in `oracle`.

use fixedbitset::FixedBitSet;
use stubborn_explore::{Graph, can_reach, components, shortest_path, transition_between};
use stubborn_store::Store;
use stubborn_system::{Fault, Observed, System, TransitionId, Vector};

/// A run through numbered states: the edges of a stem and of a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lasso {
    pub(crate) stem: Vec<u32>,
    pub(crate) cycle: Vec<u32>,
}

/// A finished search, as far as its edges are concerned.
pub(crate) struct Edges<'a, Y: System + ?Sized> {
    pub(crate) system: &'a Y,
    pub(crate) store: &'a dyn Store<Y::State>,
    pub(crate) graph: &'a Graph,
}

impl<Y: Observed + ?Sized> Edges<'_, Y> {
    fn state<'s>(&'s self, id: u32, room: &'s mut <Y::State as Vector>::Rows) -> &'s Y::State {
        self.store.state(id, room).expect("graphs are kept with exact stores only")
    }

    /// The states for which `fact` is true.
    fn states_where(&self, fact: impl Fn(&Y::State) -> Result<bool, Fault>) -> Result<FixedBitSet, Fault> {
        let n = self.graph.n_states();
        let mut set = FixedBitSet::with_capacity(n);
        let mut room = Default::default();
        for id in 0..n as u32 {
            set.set(id as usize, fact(self.state(id, &mut room))?);
        }
        Ok(set)
    }

    /// A shortest way to a state from which no terminal state can be reached.
    pub(crate) fn cannot_terminate(&self) -> Option<Lasso> {
        cannot_reach(self.graph, &FixedBitSet::new(), true)
    }

    /// A shortest way to a state from which no progress state can be reached.
    pub(crate) fn cannot_progress(&self, terminal_counts: bool) -> Result<Option<Lasso>, Fault> {
        let progress = self.states_where(|s| self.system.is_may_progress(s))?;
        Ok(cannot_reach(self.graph, &progress, terminal_counts))
    }

    /// A shortest way to a terminal state without progress.
    pub(crate) fn terminal_without_progress(&self) -> Result<Option<Lasso>, Fault> {
        let mut stuck = FixedBitSet::with_capacity(self.graph.n_states());
        let mut room = Default::default();
        for id in (0..self.graph.n_states() as u32).filter(|&id| self.graph.is_terminal(id)) {
            stuck.set(id as usize, !self.system.is_may_progress(self.state(id, &mut room))?);
        }
        Ok(way_to(self.graph, &stuck))
    }

    /// A way to a terminal state without progress, or around a cycle without progress.
    pub(crate) fn avoids_progress(&self, terminal_counts: bool) -> Result<Option<Lasso>, Fault> {
        let progress = self.states_where(|s| self.system.is_must_progress(s))?;
        Ok(avoids(self.graph, &progress, terminal_counts))
    }

    /// A way around a cycle that fires `often` and none of `rarely`.
    pub(crate) fn unfair(&self, often: TransitionId, rarely: &[TransitionId]) -> Option<Lasso> {
        unfair(self.graph, often, rarely)
    }

    /// The transitions of a run that starts in state 0.
    pub(crate) fn transitions(&self, lasso: &Lasso) -> Result<Vec<TransitionId>, Fault> {
        let mut at = 0;
        let mut steps = Vec::new();
        for &edge in lasso.stem.iter().chain(&lasso.cycle) {
            let to = self.graph.edge(edge).0;
            steps.push(match self.graph.label(edge) {
                Some(t) => t,
                None => transition_between(self.system, self.store, at, to)?,
            });
            at = to;
        }
        Ok(steps)
    }
}

// What is known of states is a set of their numbers from here on: nothing below is compiled again for each kind of system.

/// A shortest way to a state from which no state of `good` can be reached, nor a terminal one if these count.
fn cannot_reach(graph: &Graph, good: &FixedBitSet, terminal_counts: bool) -> Option<Lasso> {
    let is_good = |s: u32| good.contains(s as usize) || (terminal_counts && graph.is_terminal(s));
    let mut lost = can_reach(graph, is_good);
    lost.toggle_range(..);
    way_to(graph, &lost)
}

/// A way to a terminal state outside of `progress`, or around a cycle outside of it.
fn avoids(graph: &Graph, progress: &FixedBitSet, terminal_counts: bool) -> Option<Lasso> {
    let n = graph.n_states() as u32;
    let lacks = |s: u32| !progress.contains(s as usize);
    let keep = |from: u32, _: u32, to: u32| lacks(from) && lacks(to);
    let mut on_cycle = FixedBitSet::with_capacity(graph.n_states());
    components(graph, 0..n, keep, |c| {
        let first = c.states[0];
        let loops = || lacks(first) && graph.edges(first).any(|(_, to)| to == first);
        if c.states.len() > 1 || loops() {
            on_cycle.extend(c.states.iter().map(|&s| s as usize));
        }
    });
    let mut bad = on_cycle.clone();
    if !terminal_counts {
        bad.extend((0..n).filter(|&s| graph.is_terminal(s) && lacks(s)).map(|s| s as usize));
    }
    let mut lasso = way_to(graph, &bad)?;
    let at = end_of(graph, &lasso.stem);
    if on_cycle.contains(at as usize) {
        lasso.cycle = shortest_path(graph, at, true, keep, |s| s == at).unwrap_or_default();
    }
    Some(lasso)
}

/// A way around a cycle that fires `often` and none of `rarely`.
fn unfair(graph: &Graph, often: TransitionId, rarely: &[TransitionId]) -> Option<Lasso> {
    let allowed = |edge: u32| graph.label(edge).is_some_and(|t| !rarely.contains(&t));
    let n = graph.n_states();
    let mut component = vec![0u32; n];
    let mut next = 0;
    components(
        graph,
        0..n as u32,
        |_, e, _| allowed(e),
        |c| {
            next += 1;
            c.states.iter().for_each(|&s| component[s as usize] = next);
        },
    );
    let inside = |from: u32, to: u32| component[from as usize] == component[to as usize];
    let turns = |from: u32| {
        let mut edges = graph.edges(from);
        edges.find(|&(e, to)| allowed(e) && graph.label(e) == Some(often) && inside(from, to))
    };
    let stem = shortest_path(graph, 0, false, |_, _, _| true, |s| turns(s).is_some())?;
    let at = end_of(graph, &stem);
    let (edge, to) = turns(at)?;
    let back = shortest_path(graph, to, false, |f, e, t| allowed(e) && inside(f, t), |s| s == at)?;
    Some(Lasso { stem, cycle: std::iter::once(edge).chain(back).collect() })
}

/// A shortest way to one of these states.
fn way_to(graph: &Graph, targets: &FixedBitSet) -> Option<Lasso> {
    let stem = shortest_path(graph, 0, false, |_, _, _| true, |s| targets.contains(s as usize))?;
    Some(Lasso { stem, cycle: Vec::new() })
}

fn end_of(graph: &Graph, stem: &[u32]) -> u32 {
    stem.last().map_or(0, |&edge| graph.edge(edge).0)
}
