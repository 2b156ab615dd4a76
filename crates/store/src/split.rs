//! A line of a table that becomes twice as large, in place.
//!
//! Lines of keys are in the order of hashes, so each line becomes two that lie together, at or behind where it was: from the last line
//! down each goes to where there is nothing any more. A key that was not in its own line, because that was full, is in one after it, so it
//! has been met when its own line comes; but for those of the last lines that went on at the first, which are left over.

use crate::keys::home;
use std::hint::select_unpredictable;

/// Words of a line.
const LINE: usize = 8;

/// Splits lines of keys of `N` words. Lines come from the last to the first.
#[derive(Debug)]
pub(crate) struct Splitter<const N: usize> {
    /// Lines of the new table.
    n: usize,
    /// Slots that were met, whose own line is to come.
    away: Vec<[u64; N]>,
    /// Slots that find their new line full.
    left_over: Vec<[u64; N]>,
}

/// Where a slot of a line goes to: the first of the two new lines, the second, to those that are away, or nowhere because it is free.
const AWAY: usize = 2;
const FREE: usize = 3;

impl<const N: usize> Splitter<N> {
    /// Into a table of `n` lines.
    pub(crate) fn new(n: usize) -> Self {
        Self { n, away: Vec::new(), left_over: Vec::new() }
    }

    /// The two lines that come of a line. There is no branch for its slots: how many there are, and where they belong, cannot be predicted.
    #[inline(always)]
    pub(crate) fn split(&mut self, at: usize, line: &[u64; LINE]) -> [[u64; LINE]; 2] {
        let first = 2 * at;
        let mut rows = [[0; LINE]; 4];
        // Words in use of each row, a byte for each.
        let mut used = 0u32;
        let mut put = |to: usize, slot: &[u64; N]| {
            let place = (used >> (8 * to)) as u8 as usize;
            used += (N as u32) << (8 * to);
            rows[to].get_mut(place..place + N).map(|free| free.copy_from_slice(slot))
        };
        for slot in line.chunks_exact(N) {
            let slot: &[u64; N] = slot.try_into().expect("a slot has a key");
            let to = home(slot, self.n).wrapping_sub(first).min(AWAY);
            put(select_unpredictable(slot[N - 1] == 0, FREE, to), slot);
        }
        // Slots that were away; those that go away now are none of them.
        for i in (0..self.away.len()).rev() {
            let to = home(&self.away[i], self.n).wrapping_sub(first);
            if to < AWAY {
                let slot = self.away.swap_remove(i);
                if put(to, &slot).is_none() {
                    self.left_over.push(slot);
                }
            }
        }
        let n_away = (used >> (8 * AWAY)) as u8 as usize;
        for slot in rows[AWAY][..n_away].chunks_exact(N) {
            self.away.push(slot.try_into().expect("a slot has a key"));
        }
        [rows[0], rows[1]]
    }

    /// The slots that have no place yet, when all lines were split.
    pub(crate) fn rest(mut self) -> Vec<[u64; N]> {
        self.left_over.append(&mut self.away);
        self.left_over
    }
}
