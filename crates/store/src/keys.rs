//! Keys of a few words, and nothing else: the leanest exact store.
//!
//! **Implements** a table of whole keys in lines of 64 bytes: one look at one line tells whether a key is known. There are
//! no numbers, so it serves searches that keep no edges; who wants the way to a state searches again with
//! [`Exact`](crate::Exact). The highest bit of a key's last word must be zero: set, it marks a slot that is in use.
//! **Preserves** everything: keys are compared in full.
//! **Differs from the text** in that the table grows in place: its lines are in the order of hashes, so from the last
//! line down each goes to where there is nothing any more; keys that had overflowed are put back at the end.
//! **Checked by** the tests below against a standard set.

use crate::lines::{Lines, home_of, zeros};
use crate::machine::with_widest;
use crate::scan::scan_keys;
use crate::{Entry, Full, Guarantee, Store};
use stubborn_system::{Batch, Vector};

/// Marks a slot in use.
const USED: u64 = 1 << 63;

/// How full the table may get. Lines of eight overflow sooner than lines of sixteen.
const FULL: (usize, usize) = (3, 4);

/// The store of keys.
#[derive(Debug)]
pub struct Keys<const N: usize> {
    lines: Lines<u64>,
    n_states: usize,
    hashes: Vec<u64>,
    /// Keys of the batch at hand that are looked for further on, and where that was last.
    late: Vec<(usize, usize)>,
}

impl<const N: usize> Keys<N> {
    const FIRST_LINES: usize = crate::lines::FIRST_LINES;
    /// Keys in a line.
    const WIDTH: usize = 8 / N;

    /// An empty store.
    pub fn new() -> Self {
        let slots = vec![0; Lines::<u64>::slots_for(Self::FIRST_LINES)];
        let lines = Lines::new(Self::FIRST_LINES, slots);
        Self { lines, n_states: 0, hashes: Vec::new(), late: Vec::new() }
    }

    /// The lines that so many states need.
    fn size_for(&self, states: usize) -> usize {
        self.lines.size_for(states * N, FULL)
    }

    /// The key of a slot.
    fn key(slot: &[u64]) -> [u64; N] {
        let mut key: [u64; N] = slot.try_into().expect("a slot has a key");
        key[N - 1] &= !USED;
        key
    }

    /// Puts a key that is new into the first free slot from a line on.
    fn place(&mut self, home: usize, key: &[u64; N]) {
        let mut at = home;
        loop {
            for slot in self.lines.line_mut(at).chunks_exact_mut(N) {
                if slot[N - 1] == 0 {
                    slot.copy_from_slice(key);
                    slot[N - 1] |= USED;
                    return;
                }
            }
            at = self.lines.next(at);
        }
    }

    #[cold]
    fn grow(&mut self, n: usize) -> Result<(), Full> {
        let needed = Lines::<u64>::bytes_for(n) - self.lines.bytes();
        let old = self.lines.n();
        if !self.lines.grow(n) {
            return Err(Full::Memory { needed });
        }
        // Keys that were not where they belonged.
        let mut overflowed: Vec<[u64; N]> = Vec::new();
        for at in (0..old).rev() {
            let mut line = [0u64; 8];
            line.copy_from_slice(self.lines.line(at));
            self.lines.line_mut(at).fill(0);
            for slot in line.chunks_exact(N).take_while(|slot| slot[N - 1] != 0) {
                let key = Self::key(slot);
                let hash = key.hash64();
                if home_of(hash, old) == at {
                    self.place(self.lines.home(hash), &key);
                } else {
                    overflowed.push(key);
                }
            }
        }
        overflowed.iter().for_each(|key| self.place(self.lines.home(key.hash64()), key));
        Ok(())
    }

    /// Looks for a key in one line, and puts it there if it is new and there is room. `None` if it may be in the next.
    #[inline(always)]
    fn look(&mut self, at: usize, key: &[u64; N]) -> Option<Entry> {
        let mut wanted = *key;
        wanted[N - 1] |= USED;
        let (is_there, free) = scan_keys(self.lines.line(at), &wanted);
        if is_there {
            return Some(Entry::known(Entry::UNKNOWN));
        }
        if free == Self::WIDTH {
            return None;
        }
        self.lines.line_mut(at)[free * N..(free + 1) * N].copy_from_slice(&wanted);
        self.n_states += 1;
        Some(Entry::new(Entry::UNKNOWN))
    }

    /// Looks for the keys of a batch, and puts those that are new where they belong.
    #[inline(always)]
    fn look_for(&mut self, batch: &Batch<[u64; N]>, hashes: &[u64], out: &mut Vec<Entry>) {
        let before = out.len();
        for (i, &hash) in hashes.iter().enumerate() {
            let (at, key) = (self.lines.home(hash), batch.state(i));
            assert!(key[N - 1] & USED == 0, "the highest bit of a key is not free");
            let entry = self.look(at, key);
            if entry.is_none() {
                self.late.push((i, at));
            }
            out.push(entry.unwrap_or(Entry::known(Entry::UNKNOWN)));
        }
        self.look_on(batch, &mut out[before..]);
    }

    /// Looks on for keys that were not in the line where they belong, which is full. All of them one line further each
    /// time, so that the next lines are on their way meanwhile; the same keys keep their order.
    #[inline(always)]
    fn look_on(&mut self, batch: &Batch<[u64; N]>, out: &mut [Entry]) {
        let mut late = std::mem::take(&mut self.late);
        while !late.is_empty() {
            for (_, at) in &mut late {
                *at = self.lines.next(*at);
                self.lines.prefetch(*at);
            }
            late.retain(|&(i, at)| match self.look(at, batch.state(i)) {
                Some(entry) => {
                    out[i] = entry;
                    false
                }
                None => true,
            });
        }
        self.late = late;
    }
}

impl<const N: usize> Default for Keys<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Store<[u64; N]> for Keys<N> {
    fn insert(&mut self, batch: &Batch<[u64; N]>, room: usize, out: &mut Vec<Entry>) -> Result<(), Full> {
        let most = self.n_states + batch.len();
        if most > Entry::MAX_STATES {
            return Err(Full::Numbers);
        }
        let n = self.size_for(most);
        if n != self.lines.n() {
            let needed = Lines::<u64>::bytes_for(n) - self.lines.bytes();
            if needed > room {
                return Err(Full::Memory { needed });
            }
            self.grow(n)?;
        }
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        for i in 0..batch.len() {
            let hash = batch.state(i).hash64();
            self.lines.prefetch(self.lines.home(hash));
            hashes.push(hash);
        }
        with_widest(|| self.look_for(batch, &hashes, out));
        self.hashes = hashes;
        Ok(())
    }

    fn len(&self) -> usize {
        self.n_states
    }

    fn bytes(&self) -> usize {
        self.lines.bytes() + self.hashes.len() * 8
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }

    fn seal(&mut self) {
        if let Some(zero) = zeros(Lines::<u64>::slots_for(1)) {
            self.lines = Lines::new(1, zero);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::takes_nothing_without_room;
    use std::collections::HashSet;
    use stubborn_system::TransitionId;

    fn compare<const N: usize>(bits: u32) {
        let mut seed = 11u64;
        let mut store = Keys::<N>::new();
        let mut set = HashSet::new();
        let mut out = Vec::new();
        // Miri does the same with less.
        for round in 0..if cfg!(miri) { 11 } else { 700 } {
            let mut batch = Batch::new();
            for _ in 0..round % 131 {
                let key = std::array::from_fn(|_| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    seed >> (64 - bits)
                });
                batch.push(TransitionId(0), &key);
            }
            out.clear();
            store.insert(&batch, usize::MAX, &mut out).unwrap();
            for (i, entry) in out.iter().enumerate() {
                assert_eq!(entry.is_new(), set.insert(*batch.state(i)), "round {round}");
            }
        }
        assert_eq!(store.len(), set.len());
        assert!(set.len() > if cfg!(miri) { 50 } else { 3_000 }, "{}", set.len());
    }

    #[test]
    fn the_store_agrees_with_a_standard_set_while_it_grows() {
        compare::<1>(14);
        compare::<1>(63);
        compare::<2>(7);
        compare::<2>(63);
        compare::<4>(4);
        compare::<4>(63);
    }

    #[test]
    fn a_store_without_room_takes_nothing() {
        let mut store = Keys::<1>::new();
        let n = takes_nothing_without_room(&mut store);
        assert!(store.lines.bytes() < 16 * n);
    }
}
