//! Accepting cycles of a product.
//!
//! **Implements** Tarjan's algorithm without recursion, and in each strong component the union of the marks of
//! its edges: a component has an accepting cycle if and only if all sets occur. Weak fairness asks for more
//! sets of the same kind (`fairness`). Of the
//! components that accept, the one that was found first is shown, by a way through all sets that is short, not shortest.
//! **Checked by** brute force (`oracle`), whose components are petgraph's.

use super::Search;
use super::fairness::Census;
use super::product::{Cursor, Move, Product};
use crate::run::Halt;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use stubborn_system::{Fault, System, Vector};

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

    /// Memory that a look for cycles takes, in bytes: numbers, members and frames of [`Self::components`], of which there may be one for each node, and
    /// a component that accepts.
    pub(super) fn bytes_to_look_for_cycles(&self) -> usize {
        self.nodes.len() * (4 * size_of::<u32>() + size_of::<(u32, Cursor)>())
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

    fn set_of(&self, nodes: &[u32]) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(self.nodes.len());
        nodes.iter().for_each(|&node| set.insert(node as usize));
        set
    }

    /// Whether all sets occur on the edges within a component that has one.
    fn has_all_marks(&self, component: &[u32], of: &FixedBitSet) -> bool {
        let all = self.automaton.all_sets();
        let (mut marks, mut has_edge) = (0, false);
        for &node in component {
            for (target, found) in self.moves(node) {
                if of.contains(target as usize) {
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
        of: &FixedBitSet,
        mut wanted: impl FnMut(u32, u32, &Move) -> bool,
    ) -> Option<(Vec<Left>, u32)> {
        let mut way_to: FxHashMap<u32, Option<Left>> = FxHashMap::from_iter([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (target, found) in self.moves(node).filter(|(target, _)| of.contains(*target as usize)) {
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

    /// A way to a component and a cycle in it through all sets.
    fn way_through<S: Vector + ?Sized>(
        &self,
        component: &[u32],
        of: &FixedBitSet,
        census: Option<&mut Census<'_, S>>,
    ) -> Option<Way> {
        let start = *component.iter().min()?;
        let mut stem = self.way_to(start);
        stem.pop();
        let mut missing = self.automaton.all_sets();
        let mut cycle: Vec<Left> = Vec::new();
        let mut at = start;
        while missing != 0 {
            let (way, end) = self.way(at, of, |_, _, found| found.marks & missing != 0)?;
            missing &= !self.marks_of(&way, end);
            cycle.extend(way);
            at = end;
        }
        if let Some(census) = census {
            while let Some(left_behind) = census.left_behind(self, &cycle, at) {
                let (way, end) = self
                    .way(at, of, |node, _, found| census.is_satisfied(self, left_behind, node, found.edge))?;
                cycle.extend(way);
                at = end;
            }
        }
        if at != start || cycle.is_empty() {
            let (way, _) = self.way(at, of, |_, target, _| target == start)?;
            cycle.extend(way);
        }
        Some(Way { stem, cycle: Some(cycle) })
    }

    /// The sets that the edges of a way are in.
    fn marks_of(&self, way: &[Left], end: u32) -> u64 {
        let mut marks = 0;
        for (i, &(node, edge)) in way.iter().enumerate() {
            let next = way.get(i + 1).map_or(end, |&(next, _)| next);
            let taken = self.moves(node).filter(|(to, found)| *to == next && found.edge == edge);
            marks |= taken.fold(0, |all, (_, found)| all | found.marks);
        }
        marks
    }
}

impl<Y: System + ?Sized> Search<'_, Y> {
    /// An accepted run among the nodes, if there is one.
    pub(super) fn accepting_way(&mut self) -> Result<Option<Way>, Halt> {
        if let Some(component) = self.livelock()? {
            return Ok(Some(self.way_round(&component).ok_or_else(lost)?));
        }
        // Components that accept, each with the number of its first node.
        let mut accepting: Vec<(u32, Vec<u32>)> = Vec::new();
        let is_fair = self.job.fairness.is_some();
        let (product, watch, stats) = (&self.product, &mut *self.job.watch, &self.stats);
        // The nodes of the component at hand.
        let mut of = FixedBitSet::with_capacity(product.nodes.len());
        let look = |component: &[u32]| {
            let first = component.iter().copied().min().unwrap_or(0);
            // Of the good ones the first is wanted, unless fairness must be looked at.
            let is_better = is_fair || accepting.last().is_none_or(|(best, _)| first < *best);
            let is_alone = component.len() == 1 && {
                let node = component[0];
                product.moves(node).all(|(target, _)| target != node)
            };
            if is_better && !is_alone {
                component.iter().for_each(|&node| of.insert(node as usize));
                if product.has_all_marks(component, &of) {
                    if !is_fair {
                        accepting.clear();
                    }
                    accepting.push((first, component.to_vec()));
                }
                component.iter().for_each(|&node| of.remove(node as usize));
            }
        };
        let pause = || watch.tick(stats).map_or(Ok(()), |stop| Err(Halt::Stop(stop)));
        product.components(|_, _| true, look, pause)?;
        accepting.sort_unstable_by_key(|(first, _)| *first);
        if !accepting.is_empty() {
            self.shorten_if_deep();
        }
        for (_, component) in accepting {
            let of = self.product.set_of(&component);
            let Self { product, job, stats, .. } = self;
            let watch = &mut *job.watch;
            let pause = || watch.tick(stats).map_or(Ok(()), |stop| Err(Halt::Stop(stop)));
            let mut census = match &mut job.fairness {
                Some(fairness) => Some(Census::new(&mut **fairness, &*job.store)),
                None => None,
            };
            let is_accepted = match &mut census {
                Some(census) => census.is_fair(product, &component, &of, pause)?,
                None => true,
            };
            if is_accepted {
                let way = product.way_through(&component, &of, census.as_mut());
                census.and_then(|census| census.fault).map_or(Ok(()), Err)?;
                return Ok(Some(way.ok_or_else(lost)?));
            }
            self.is_unfair = true;
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
        let mut best: Option<(u32, Vec<u32>)> = None;
        let look = |component: &[u32]| {
            let (node, first) = (component[0], component.iter().copied().min().unwrap_or(0));
            let has_loop = || product.moves(node).any(|(to, found)| to == node && stays(node, &found));
            let is_better = best.as_ref().is_none_or(|(best, _)| first < *best);
            if is_better && (component.len() > 1 || has_loop()) {
                best = Some((first, component.to_vec()));
            }
        };
        let pause = || watch.tick(stats).map_or(Ok(()), |stop| Err(Halt::Stop(stop)));
        product.components(stays, look, pause)?;
        Ok(best.map(|(_, component)| component))
    }

    /// A way to such nodes and round them.
    fn way_round(&self, component: &[u32]) -> Option<Way> {
        let product = &self.product;
        let of = product.set_of(component);
        let start = *component.iter().min()?;
        let mut stem = product.way_to(start);
        stem.pop();
        let (cycle, _) = product.way(start, &of, |node, target, found| {
            target == start && product.stays_at_monitor(node, found)
        })?;
        Some(Way { stem, cycle: Some(cycle) })
    }
}
