//! Accepting cycles of a product.
//!
//! **Implements** Tarjan's algorithm without recursion, and in each strong component the union of the marks of
//! its edges: a component has an accepting cycle if and only if all sets occur. Weak fairness asks for more
//! sets of the same kind, one for each process: "it takes part in this edge, or it cannot in this state". Of the
//! components that accept, the one that was found first is shown, by a way through all sets that is short, not shortest.
//! **Checked by** brute force (`oracle`), whose components are petgraph's.

use super::product::{Cursor, Move, Product};
use super::{Processes, Search};
use crate::run::Halt;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use stubborn_system::{Fault, System, TransitionId, Vector};

/// An accepted run: nodes before the cycle, and the nodes of the cycle with the edges that leave them. Without
/// a cycle the last node of the stem is where it is decided.
pub(super) struct Way {
    pub(super) stem: Vec<u32>,
    pub(super) cycle: Option<Vec<Left>>,
}

/// A node and the edge of the system by which it is left; none if the system has ended.
pub(super) type Left = (u32, Option<u32>);

/// A component that accepts has an accepting cycle. That none is found must not pass for "there is none".
fn lost() -> Fault {
    Fault::Broken("an accepting component without an accepting cycle".into())
}

/// Nodes between two looks at the watch.
const PAUSE: u32 = 1 << 14;

const UNSEEN: u32 = 0;
const DONE: u32 = u32::MAX;

impl Product<'_> {
    /// The nodes from the beginning to `node`, by which it was found first.
    pub(super) fn way_to(&self, node: u32) -> Vec<u32> {
        let parent = |&node: &u32| Some(self.nodes[node as usize].parent).filter(|&parent| parent != node);
        let mut way: Vec<u32> = std::iter::successors(Some(node), parent).collect();
        way.reverse();
        way
    }

    /// Makes the ways by which nodes are found shortest again, after a search that was not breadth-first.
    pub(super) fn shorten_ways(&mut self) {
        let mut is_found = FixedBitSet::with_capacity(self.nodes.len());
        let is_first = |&node: &u32| self.nodes[node as usize].parent == node;
        let mut queue: VecDeque<u32> = (0..self.nodes.len() as u32).filter(is_first).collect();
        queue.iter().for_each(|&node| is_found.insert(node as usize));
        while let Some(node) = queue.pop_front() {
            let mut cursor = Cursor::START;
            while let Some(found) = self.next_move(node, &mut cursor) {
                let target = self.find(found.state, found.at).filter(|&to| !is_found.put(to as usize));
                if let Some(target) = target {
                    self.nodes[target as usize].parent = node;
                    queue.push_back(target);
                }
            }
        }
    }

    /// Calls `on_component` for every strong component of the nodes, over the moves that `keep` keeps, and `pause` from time to time.
    fn components(
        &self,
        keep: impl Fn(u32, &Move) -> bool,
        mut on_component: impl FnMut(&[u32]),
        mut pause: impl FnMut() -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let mut index = vec![UNSEEN; self.nodes.len()];
        let mut low = vec![UNSEEN; self.nodes.len()];
        let mut next = 1;
        let mut members: Vec<u32> = Vec::new();
        let mut frames: Vec<(u32, Cursor)> = Vec::new();
        for root in 0..self.nodes.len() as u32 {
            if index[root as usize] != UNSEEN {
                continue;
            }
            frames.push((root, Cursor::START));
            while let Some((node, cursor)) = frames.last_mut() {
                let v = *node as usize;
                if index[v] == UNSEEN {
                    (index[v], low[v]) = (next, next);
                    next += 1;
                    if next % PAUSE == 0 {
                        pause()?;
                    }
                    members.push(*node);
                }
                let Some(found) = self.next_move(*node, cursor) else {
                    let (node, _) = frames.pop().expect("there is a frame");
                    if let Some((parent, _)) = frames.last() {
                        let parent = *parent as usize;
                        low[parent] = low[parent].min(low[v]);
                    }
                    if low[v] == index[v] {
                        let start = members.iter().rposition(|&m| m == node).expect("it is a member");
                        members[start..].iter().for_each(|&m| low[m as usize] = DONE);
                        on_component(&members[start..]);
                        members.truncate(start);
                    }
                    continue;
                };
                let target = self.find(found.state, found.at).filter(|_| keep(v as u32, &found));
                let Some(target) = target else { continue };
                let w = target as usize;
                if index[w] == UNSEEN {
                    frames.push((target, Cursor::START));
                } else if low[w] != DONE {
                    low[v] = low[v].min(index[w]);
                }
            }
        }
        Ok(())
    }

    /// Whether all sets occur on the edges within a component that has one.
    fn has_all_marks(&self, component: &[u32], of: &FxHashSet<u32>) -> bool {
        let all = self.automaton.all_sets();
        let (mut marks, mut has_edge) = (0, false);
        for &node in component {
            for (target, found) in self.moves(node) {
                if of.contains(&target) {
                    has_edge = true;
                    marks |= found.marks;
                }
            }
        }
        has_edge && marks & all == all
    }

    /// A shortest way within a component from a node whose last edge is wanted: nodes with the edges that
    /// leave them, and where it ends.
    fn way(
        &self,
        from: u32,
        of: &FxHashSet<u32>,
        mut wanted: impl FnMut(u32, u32, &Move) -> bool,
    ) -> Option<(Vec<Left>, u32)> {
        let mut way_to: FxHashMap<u32, Option<Left>> = FxHashMap::from_iter([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (target, found) in self.moves(node).filter(|(target, _)| of.contains(target)) {
                if wanted(node, target, &found) {
                    let mut way = vec![(node, found.edge)];
                    let mut at = node;
                    while let Some(Some(step)) = way_to.get(&at) {
                        way.push(*step);
                        at = step.0;
                    }
                    way.reverse();
                    return Some((way, target));
                }
                way_to.entry(target).or_insert_with(|| {
                    queue.push_back(target);
                    Some((node, found.edge))
                });
            }
        }
        None
    }
}

impl<Y: System + ?Sized> Search<'_, Y> {
    /// An accepted run among the nodes, if there is one.
    pub(super) fn accepting_way(&mut self) -> Result<Option<Way>, Halt> {
        if let Some(component) = self.livelock()? {
            return Ok(Some(self.way_round(&component).ok_or_else(lost)?));
        }
        let mut accepting: Vec<Vec<u32>> = Vec::new();
        let is_fair = self.job.fairness.is_some();
        let (product, watch, stats) = (&self.product, &mut *self.job.watch, &self.stats);
        let look = |component: &[u32]| {
            let first = component.iter().min();
            // Of the good ones the first is wanted, unless fairness must be looked at.
            let is_better = is_fair || accepting.last().is_none_or(|best| first < best.iter().min());
            let is_alone = component.len() == 1 && {
                let node = component[0];
                product.moves(node).all(|(target, _)| target != node)
            };
            if is_better && !is_alone {
                let of: FxHashSet<u32> = component.iter().copied().collect();
                if product.has_all_marks(component, &of) {
                    accepting.push(component.to_vec());
                }
            }
        };
        let pause = || watch.tick(stats).map_or(Ok(()), |stop| Err(Halt::Stop(stop)));
        product.components(|_, _| true, look, pause)?;
        accepting.sort_by_key(|component| component.iter().min().copied());
        if !accepting.is_empty() {
            self.shorten_if_deep();
        }
        for component in accepting {
            let of: FxHashSet<u32> = component.iter().copied().collect();
            let census = Census::new(self, &component)?;
            if census.as_ref().is_none_or(|census| census.is_fair(&self.product, &component, &of)) {
                return Ok(Some(self.way_through(&component, &of, census.as_ref()).ok_or_else(lost)?));
            }
        }
        Ok(None)
    }

    /// The nodes of a cycle that stays at a livelock monitor, if there is a tester.
    fn livelock(&mut self) -> Result<Option<Vec<u32>>, Halt> {
        if self.product.tester.is_none() {
            return Ok(None);
        }
        let (product, watch, stats) = (&self.product, &mut *self.job.watch, &self.stats);
        let stays = |node: u32, found: &Move| product.stays_at_monitor(node, found);
        let mut first: Option<Vec<u32>> = None;
        let look = |component: &[u32]| {
            let node = component[0];
            let has_loop = || product.moves(node).any(|(to, found)| to == node && stays(node, &found));
            let is_better = first.as_ref().is_none_or(|best| component.iter().min() < best.iter().min());
            if is_better && (component.len() > 1 || has_loop()) {
                first = Some(component.to_vec());
            }
        };
        let pause = || watch.tick(stats).map_or(Ok(()), |stop| Err(Halt::Stop(stop)));
        product.components(stays, look, pause)?;
        Ok(first)
    }

    /// A way to such nodes and round them.
    fn way_round(&self, component: &[u32]) -> Option<Way> {
        let product = &self.product;
        let of: FxHashSet<u32> = component.iter().copied().collect();
        let start = *component.iter().min()?;
        let mut stem = product.way_to(start);
        stem.pop();
        let (cycle, _) = product.way(start, &of, |node, target, found| {
            target == start && product.stays_at_monitor(node, found)
        })?;
        Some(Way { stem, cycle: Some(cycle) })
    }

    /// A way to a component and a cycle in it through all sets.
    fn way_through(&self, component: &[u32], of: &FxHashSet<u32>, census: Option<&Census>) -> Option<Way> {
        let product = &self.product;
        let start = *component.iter().min()?;
        let mut stem = product.way_to(start);
        stem.pop();
        let mut missing = product.automaton.all_sets();
        let mut cycle: Vec<Left> = Vec::new();
        let mut at = start;
        while missing != 0 {
            let (way, end) = product.way(at, of, |_, _, found| found.marks & missing != 0)?;
            missing &= !self.marks_of(&way, end);
            cycle.extend(way);
            at = end;
        }
        if let Some(census) = census {
            while let Some(left_behind) = census.left_behind(product, &cycle, at) {
                let (way, end) = product.way(at, of, |node, _, found| {
                    census.is_satisfied(product, left_behind, node, found.edge)
                })?;
                cycle.extend(way);
                at = end;
            }
        }
        if at != start || cycle.is_empty() {
            let (way, _) = product.way(at, of, |_, target, _| target == start)?;
            cycle.extend(way);
        }
        Some(Way { stem, cycle: Some(cycle) })
    }

    /// The sets that the edges of a way are in.
    fn marks_of(&self, way: &[Left], end: u32) -> u64 {
        let mut marks = 0;
        for (i, &(node, edge)) in way.iter().enumerate() {
            let next = way.get(i + 1).map_or(end, |&(next, _)| next);
            let taken = self.product.moves(node).filter(|(to, found)| *to == next && found.edge == edge);
            marks |= taken.fold(0, |all, (_, found)| all | found.marks);
        }
        marks
    }
}

/// Who can take part and who does, in the states of a component.
struct Census {
    /// By state: who can take part in something.
    enabled: FxHashMap<u32, Processes>,
    /// By state and transition: who takes part.
    movers: FxHashMap<(u32, TransitionId), Processes>,
}

impl Census {
    /// `None` if nobody asks for fairness.
    fn new<Y: System + ?Sized>(search: &mut Search<'_, Y>, component: &[u32]) -> Result<Option<Self>, Fault> {
        let Some(fairness) = &mut search.job.fairness else { return Ok(None) };
        let (mut enabled, mut movers) = (FxHashMap::default(), FxHashMap::default());
        let mut room = <Y::State as Vector>::Rows::default();
        let mut out = Vec::new();
        for &node in component {
            let state = search.product.nodes[node as usize].state;
            if enabled.contains_key(&state) {
                continue;
            }
            out.clear();
            let vector = search.job.store.state(state, &mut room).expect("the store keeps states");
            fairness.participants(vector, &mut out)?;
            let mut all = Processes::default();
            for &(t, who) in &out {
                all = union(all, who);
                movers.insert((state, t), who);
            }
            enabled.insert(state, all);
        }
        Ok(Some(Self { enabled, movers }))
    }

    fn movers(&self, product: &Product<'_>, state: u32, edge: Option<u32>) -> Processes {
        let label = edge.and_then(|edge| product.graph.label(edge));
        label.and_then(|t| self.movers.get(&(state, t))).copied().unwrap_or_default()
    }

    /// Whether each process takes part somewhere in the component, or cannot.
    fn is_fair(&self, product: &Product<'_>, component: &[u32], of: &FxHashSet<u32>) -> bool {
        let mut always = [u64::MAX; 4];
        let mut moved = Processes::default();
        for &node in component {
            let state = product.nodes[node as usize].state;
            always = intersection(always, self.enabled[&state]);
            for (_, found) in product.moves(node).filter(|(target, _)| of.contains(target)) {
                moved = union(moved, self.movers(product, state, found.edge));
            }
        }
        is_subset(always, moved)
    }

    /// A process that could always take part on the way but does not; `end` is where the way leads.
    fn left_behind(&self, product: &Product<'_>, way: &[Left], end: u32) -> Option<usize> {
        let state = |node: u32| product.nodes[node as usize].state;
        let mut always = self.enabled[&state(end)];
        let mut moved = Processes::default();
        for &(node, edge) in way {
            always = intersection(always, self.enabled[&state(node)]);
            moved = union(moved, self.movers(product, state(node), edge));
        }
        (0..256).find(|&p| has(always, p) && !has(moved, p))
    }

    /// Whether a process cannot complain of a step: it takes part in it, or cannot in its state.
    fn is_satisfied(&self, product: &Product<'_>, process: usize, node: u32, edge: Option<u32>) -> bool {
        let state = product.nodes[node as usize].state;
        !has(self.enabled[&state], process) || has(self.movers(product, state, edge), process)
    }
}

fn union(a: Processes, b: Processes) -> Processes {
    std::array::from_fn(|i| a[i] | b[i])
}

fn intersection(a: Processes, b: Processes) -> Processes {
    std::array::from_fn(|i| a[i] & b[i])
}

fn is_subset(a: Processes, b: Processes) -> bool {
    intersection(a, b) == a
}

fn has(set: Processes, process: usize) -> bool {
    set[process / 64] >> (process % 64) & 1 == 1
}
