//! A process at a location: the steps that it may take there, and which of them lead where.
//!
//! Many of its other nodes lie behind the same of these steps. They are a *group*: what holds of the steps that lead to one of them
//! holds of those that lead to any, so it is found out once for all.

use super::nodes::{Block, Sets, WIDTH};
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
        let mut groups = vec![0; all.len()];
        // Told apart by as many of the steps at a time as there are bits.
        for reach in reach.chunks(WIDTH) {
            let mut known: Vec<(u32, usize)> = Vec::new();
            for (node, group) in all.clone().zip(&mut groups) {
                let bits =
                    reach.iter().rev().fold(0, |bits, reach| bits << 1 | usize::from(reach.contains(node)));
                let found = known.iter().position(|known| *known == (*group, bits));
                *group = found.unwrap_or_else(|| {
                    known.push((*group, bits));
                    known.len() - 1
                }) as u32;
            }
        }
        let (mut towards, mut members) = (Sets::default(), Sets::default());
        for group in 0..=groups.iter().copied().max().unwrap_or_default() {
            let nodes = all.clone().filter(|node| groups[node - all.start] == group);
            let leads = |node| {
                let steps = current.clone().zip(reach);
                steps.filter(move |(_, reach)| reach.contains(node)).map(|(step, _)| step)
            };
            towards.push(nodes.clone().next().into_iter().flat_map(leads));
            members.push(nodes.filter(|node| !current.contains(node)));
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
