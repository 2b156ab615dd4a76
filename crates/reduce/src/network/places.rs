//! A process at a location: the steps that it may take there, and which of them lead where.
//!
//! Many of its other nodes lie behind the same of these steps. They are a *group*: what holds of the steps that lead to one of them
//! holds of those that lead to any, so it is found out once for all.

use super::nodes::{Block, Sets};
use fixedbitset::FixedBitSet;
use std::ops::Range;

/// A process at a location.
#[derive(Debug)]
pub(super) struct Place {
    /// The first step of the process.
    first: usize,
    /// For each node of the process: its group.
    groups: Vec<u32>,
    /// For each group: the steps from which the process can get to its nodes, and those of them that are not at the location.
    towards: Sets,
    members: Sets,
}

impl Place {
    /// `all` are the nodes of the process, and `reach` tells the nodes that come after each of those at the location.
    pub(super) fn new(all: Range<usize>, current: Range<usize>, reach: &[FixedBitSet]) -> Self {
        let mut everything = FixedBitSet::with_capacity(all.end);
        everything.insert_range(all.clone());
        let mut parts = vec![(Vec::new(), everything)];
        for (step, after) in current.clone().zip(reach) {
            for i in 0..parts.len() {
                let mut behind = parts[i].1.clone();
                behind.intersect_with(after);
                if behind.is_clear() {
                    continue;
                }
                let mut towards = parts[i].0.clone();
                towards.push(step);
                parts[i].1.difference_with(after);
                if parts[i].1.is_clear() {
                    parts[i] = (towards, behind);
                } else {
                    parts.push((towards, behind));
                }
            }
        }
        let (mut towards, mut members) = (Sets::default(), Sets::default());
        let mut groups = vec![0; all.len()];
        for (group, (steps, nodes)) in parts.iter_mut().enumerate() {
            nodes.ones().for_each(|node| groups[node - all.start] = group as u32);
            nodes.remove_range(current.clone());
            towards.push(steps.iter().copied());
            members.push_set(nodes);
        }
        Self { first: all.start, groups, towards, members }
    }

    /// The group of a node of the process.
    #[inline]
    pub(super) fn group(&self, node: usize) -> usize {
        self.groups[node - self.first] as usize
    }

    pub(super) fn groups(&self) -> Range<usize> {
        0..self.towards.len()
    }

    /// All steps of the process.
    pub(super) fn all(&self) -> Range<usize> {
        self.first..self.first + self.groups.len()
    }

    /// The steps that the process may take now and from which it can get to the nodes of a group.
    #[inline]
    pub(super) fn towards(&self, group: usize) -> &[Block] {
        self.towards.get(group)
    }

    /// The nodes of a group, but for the steps that the process may take now.
    #[inline]
    pub(super) fn members(&self, group: usize) -> &[Block] {
        self.members.get(group)
    }

    /// What it takes in memory, roughly, in numbers.
    pub(super) fn size(&self) -> usize {
        self.groups.len() + self.towards.size() + self.members.size()
    }
}
