//! Lines of a table that grows in place.
//!
//! Lines of keys are in the order of hashes, so when a table grows, some lines that lie together become some more lines that
//! lie together, at or behind where they were: three become four, two become three. From the last group down each goes to where there
//! is nothing any more. A group is sorted in a small room of its own, because to read a line just after words of it were written takes the
//! processor long.

use crate::keys::USED;
use crate::lines::home_of;
use std::ops::Range;
use stubborn_system::Vector;

/// Sorts keys of `N` words from a table of some lines into one of more.
#[derive(Debug)]
pub(crate) struct Sorter<const N: usize> {
    old: usize,
    new: usize,
    /// Lines of a group, old and new.
    n_old: usize,
    n_new: usize,
    /// The lines of the group in hand, and the slots of each that are in use.
    room: Vec<[u64; 8]>,
    used: Vec<usize>,
    /// Keys that were not at home, or find their new line full.
    pub(crate) left_over: Vec<[u64; N]>,
}

impl<const N: usize> Sorter<N> {
    /// From a table of `old` lines to one of `new` lines.
    pub(crate) fn new(old: usize, new: usize) -> Self {
        let (mut common, mut rest) = (old, new);
        while rest > 0 {
            (common, rest) = (rest, common % rest);
        }
        let (n_old, n_new) = (old / common, new / common);
        Self {
            old,
            new,
            n_old,
            n_new,
            room: vec![[0; 8]; n_new],
            used: vec![0; n_new],
            left_over: Vec::new(),
        }
    }

    /// The groups of some old lines, which must be whole groups.
    pub(crate) fn groups(&self, lines: Range<usize>) -> Range<usize> {
        lines.start / self.n_old..lines.end / self.n_old
    }

    /// The old lines of a group.
    pub(crate) fn from(&self, group: usize) -> Range<usize> {
        group * self.n_old..(group + 1) * self.n_old
    }

    /// Takes an old line of the group in hand.
    #[inline]
    pub(crate) fn take(&mut self, at: usize, line: &[u64; 8]) {
        let first = at / self.n_old * self.n_new;
        for slot in line.chunks_exact(N).take_while(|slot| slot[N - 1] != 0) {
            let slot: &[u64; N] = slot.try_into().expect("a slot has a key");
            let mut key = *slot;
            key[N - 1] &= !USED;
            let hash = key.hash64();
            let to = home_of(hash, self.new).wrapping_sub(first);
            if home_of(hash, self.old) == at && self.used[to] < 8 / N {
                self.room[to][self.used[to] * N..][..N].copy_from_slice(slot);
                self.used[to] += 1;
            } else {
                self.left_over.push(key);
            }
        }
    }

    /// The new lines of a group whose old lines were taken.
    pub(crate) fn give(&mut self, group: usize) -> impl Iterator<Item = (usize, &[u64; 8])> {
        let used = self.used.iter_mut();
        for (line, used) in self.room.iter_mut().zip(used) {
            line[*used * N..].fill(0);
            *used = 0;
        }
        (group * self.n_new..).zip(&self.room)
    }
}
