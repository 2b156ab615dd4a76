//! A process at a location: the steps that it may take there, and which of them lead where.
//!
//! Many of its other nodes lie behind the same of these steps. They are a *group*: what holds of the steps that lead to one of them
//! holds of those that lead to any, so it is found out once for all.

use super::nodes::{Block, Sets, blocks_of};
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
    /// `all` are the nodes of the process, and `after` tells the nodes of a block that come after each of those at the location.
    pub(super) fn new(
        all: Range<usize>,
        current: Range<usize>,
        after: impl Fn(usize, usize) -> usize,
    ) -> Self {
        let mut parts: Vec<(Vec<usize>, Vec<Block>)> = vec![(Vec::new(), blocks_of(all.clone()).collect())];
        for step in current.clone() {
            for i in 0..parts.len() {
                let (towards, nodes) = &mut parts[i];
                let mut behind = nodes.clone();
                let (mut is_any, mut are_all) = (false, true);
                for (Block { at, bits }, behind) in nodes.iter_mut().zip(&mut behind) {
                    behind.bits &= after(step, *at as usize);
                    *bits &= !behind.bits;
                    is_any |= behind.bits != 0;
                    are_all &= *bits == 0;
                }
                if are_all {
                    towards.push(step);
                    *nodes = behind;
                } else if is_any {
                    let mut towards = towards.clone();
                    towards.push(step);
                    parts.push((towards, behind));
                }
            }
        }
        let (mut towards, mut members) = (Sets::default(), Sets::default());
        let mut groups = vec![0; all.len()];
        for (group, (steps, nodes)) in parts.into_iter().enumerate() {
            let all_of_it = nodes.into_iter().flat_map(Block::ones);
            towards.push(steps.into_iter());
            members.push(all_of_it.filter(|node| {
                groups[node - all.start] = group as u32;
                !current.contains(node)
            }));
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
