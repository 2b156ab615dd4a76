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
        let reaches = can_reach(self.graph, |s| self.graph.is_terminal(s));
        self.way_to(|s| !reaches.contains(s as usize))
    }

    /// A shortest way to a state from which no progress state can be reached.
    pub(crate) fn cannot_progress(&self, terminal_counts: bool) -> Result<Option<Lasso>, Fault> {
        let progress = self.states_where(|s| self.system.is_may_progress(s))?;
        let good = |s: u32| progress.contains(s as usize) || (terminal_counts && self.graph.is_terminal(s));
        let reaches = can_reach(self.graph, good);
        Ok(self.way_to(|s| !reaches.contains(s as usize)))
    }

    /// A shortest way to a terminal state without progress.
    pub(crate) fn terminal_without_progress(&self) -> Result<Option<Lasso>, Fault> {
        let mut stuck = FixedBitSet::with_capacity(self.graph.n_states());
        let mut room = Default::default();
        for id in (0..self.graph.n_states() as u32).filter(|&id| self.graph.is_terminal(id)) {
            stuck.set(id as usize, !self.system.is_may_progress(self.state(id, &mut room))?);
        }
        Ok(self.way_to(|s| stuck.contains(s as usize)))
    }

    /// A way to a terminal state without progress, or around a cycle without progress.
    pub(crate) fn avoids_progress(&self, terminal_counts: bool) -> Result<Option<Lasso>, Fault> {
        let progress = self.states_where(|s| self.system.is_must_progress(s))?;
        let lacks = |s: u32| !progress.contains(s as usize);
        let keep = |from: u32, _: u32, to: u32| lacks(from) && lacks(to);
        let mut on_cycle = FixedBitSet::with_capacity(self.graph.n_states());
        components(self.graph, 0..self.graph.n_states() as u32, keep, |c| {
            let first = c.states[0];
            let loops = || lacks(first) && self.graph.edges(first).any(|(_, to)| to == first);
            if c.states.len() > 1 || loops() {
                on_cycle.extend(c.states.iter().map(|&s| s as usize));
            }
        });
        let ends = |s: u32| !terminal_counts && self.graph.is_terminal(s) && lacks(s);
        let Some(mut lasso) = self.way_to(|s| on_cycle.contains(s as usize) || ends(s)) else {
            return Ok(None);
        };
        let at = self.end_of(&lasso.stem);
        if on_cycle.contains(at as usize) {
            lasso.cycle = shortest_path(self.graph, at, true, keep, |s| s == at).unwrap_or_default();
        }
        Ok(Some(lasso))
    }

    /// A way around a cycle that fires `often` and none of `rarely`.
    pub(crate) fn unfair(&self, often: TransitionId, rarely: &[TransitionId]) -> Option<Lasso> {
        let allowed = |edge: u32| self.graph.label(edge).is_some_and(|t| !rarely.contains(&t));
        let n = self.graph.n_states();
        let mut component = vec![0u32; n];
        let mut next = 0;
        components(
            self.graph,
            0..n as u32,
            |_, e, _| allowed(e),
            |c| {
                next += 1;
                c.states.iter().for_each(|&s| component[s as usize] = next);
            },
        );
        let inside = |from: u32, to: u32| component[from as usize] == component[to as usize];
        let turns = |from: u32| {
            let mut edges = self.graph.edges(from);
            edges.find(|&(e, to)| allowed(e) && self.graph.label(e) == Some(often) && inside(from, to))
        };
        let mut lasso = self.way_to(|s| turns(s).is_some())?;
        let at = self.end_of(&lasso.stem);
        let (edge, to) = turns(at)?;
        let back = shortest_path(self.graph, to, false, |f, e, t| allowed(e) && inside(f, t), |s| s == at)?;
        lasso.cycle = std::iter::once(edge).chain(back).collect();
        Some(lasso)
    }

    fn way_to(&self, is_target: impl FnMut(u32) -> bool) -> Option<Lasso> {
        let stem = shortest_path(self.graph, 0, false, |_, _, _| true, is_target)?;
        Some(Lasso { stem, cycle: Vec::new() })
    }

    fn end_of(&self, stem: &[u32]) -> u32 {
        stem.last().map_or(0, |&edge| self.graph.edge(edge).0)
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
