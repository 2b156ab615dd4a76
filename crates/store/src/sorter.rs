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
    /// Keys that were not at home, which is in a group before: most of them in the next one.
    away: Vec<[u64; N]>,
    /// Keys that find their new line full.
    left_over: Vec<[u64; N]>,
}

impl<const N: usize> Sorter<N> {
    /// From a table of `old` lines to one of `new` lines.
    pub(crate) fn new(old: usize, new: usize) -> Self {
        let (mut common, mut rest) = (old, new);
        while rest > 0 {
            (common, rest) = (rest, common % rest);
        }
        let (n_old, n_new) = (old / common, new / common);
        let (room, used) = (vec![[0; 8]; n_new], vec![0; n_new]);
        Self { old, new, n_old, n_new, room, used, away: Vec::new(), left_over: Vec::new() }
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
            let mut key: [u64; N] = slot.try_into().expect("a slot has a key");
            key[N - 1] &= !USED;
            let hash = key.hash64();
            if home_of(hash, self.old) == at {
                self.put(first, hash, &key);
            } else {
                self.away.push(key);
            }
        }
    }

    /// Puts a key into its line of the group whose first new line this is, or leaves it over.
    #[inline(always)]
    fn put(&mut self, first: usize, hash: u64, key: &[u64; N]) {
        let to = home_of(hash, self.new) - first;
        let used = self.used[to];
        if used == 8 / N {
            self.left_over.push(*key);
            return;
        }
        self.room[to][used * N..][..N].copy_from_slice(key);
        self.room[to][used * N + N - 1] |= USED;
        self.used[to] = used + 1;
    }

    /// The new lines of a group whose old lines were taken. Groups come from the last to the first.
    pub(crate) fn give(&mut self, group: usize) -> impl Iterator<Item = (usize, &[u64; 8])> {
        let first = group * self.n_new;
        let mut away = std::mem::take(&mut self.away);
        away.retain(|key| {
            let hash = key.hash64();
            let is_here = (first..first + self.n_new).contains(&home_of(hash, self.new));
            if is_here {
                self.put(first, hash, key);
            }
            !is_here
        });
        self.away = away;
        for (line, used) in self.room.iter_mut().zip(&mut self.used) {
            line[*used * N..].fill(0);
            *used = 0;
        }
        (first..).zip(&self.room)
    }

    /// The keys that have no place yet, when all groups were given.
    pub(crate) fn rest(mut self) -> Vec<[u64; N]> {
        self.left_over.append(&mut self.away);
        self.left_over
    }
}
