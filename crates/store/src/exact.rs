//! Whole states, numbered in the order of arrival.
//!
//! **Implements** the "fingerprint table + arena, batched" store: states lie one behind the other in an
//! arena (byte vectors as differences: see `Deltas`); a table of 32-bit slots in cache lines holds their numbers. A slot has as many bits for the
//! number as the table's size asks for and uses the rest as a tag of the hash, so that most wrong
//! candidates are dismissed without a look at the arena.
//! **Preserves** everything: states are compared in full.
//! **Checked by** the tests below against a standard set, and by every count that equals a published one.

use crate::lines::{FIRST_LINES, Lines, zeros};
use crate::machine::prefetch;
use crate::scan::scan;
use crate::{Entry, Full, Guarantee, Store};
use stubborn_system::{Archive, Batch, Vector};

/// The exact store.
#[derive(Debug)]
pub struct Exact<S: Vector + ?Sized> {
    rows: S::Archive,
    /// For reading rows.
    room: S::Rows,
    /// Slots: tag in the high bits, number plus one in the low bits; zero is free.
    lines: Lines<u32>,
    /// The hashes of the batch in hand.
    hashes: Vec<u64>,
    sealed: bool,
}

/// The low bits of a slot that hold the number, for a table of this size.
#[inline]
fn number_mask(lines: &Lines<u32>) -> u32 {
    ((lines.n() * 16).next_power_of_two() - 1) as u32
}

impl<S: Vector + ?Sized> Exact<S> {
    const MOST_LINES: usize = 1 << 27;

    /// Smaller tables than this grow fourfold: to place a state again takes as long as to read it.
    const SMALL: usize = 1 << 10;

    /// How full the table may get: one state in seven overflows into a second line.
    const FULL: (usize, usize) = (4, 5);

    /// An empty store.
    pub fn new() -> Self {
        let slots = vec![0; Lines::<u32>::slots_for(FIRST_LINES)];
        Self {
            rows: S::Archive::default(),
            room: S::Rows::default(),
            lines: Lines::new(FIRST_LINES, slots),
            hashes: Vec::new(),
            sealed: false,
        }
    }

    /// Lines of a table for so many states.
    fn size_for(&self, states: usize) -> usize {
        let (n, now) = (self.lines.size_for(states, Self::FULL), self.lines.n());
        if n > now && now < Self::SMALL { n.max(4 * now) } else { n }
    }

    #[cold]
    fn grow(&mut self, n: usize) -> Result<(), Full> {
        let needed = Lines::<u32>::bytes_for(n);
        let zero = zeros(Lines::<u32>::slots_for(n)).ok_or(Full::Memory { needed })?;
        // The old table is dropped first: its numbers are the numbers of the rows.
        self.lines = Lines::new(1, vec![0; Lines::<u32>::slots_for(1)]);
        let mut lines = Lines::new(n, zero);
        let mask = number_mask(&lines);
        const BLOCK: usize = 128;
        let mut hashes = [0u64; BLOCK];
        for start in (0..self.rows.len()).step_by(BLOCK) {
            let n = BLOCK.min(self.rows.len() - start);
            for (i, hash) in hashes[..n].iter_mut().enumerate() {
                *hash = self.rows.read(start + i, &mut self.room).hash64();
                lines.prefetch(lines.home(*hash));
            }
            for (i, &hash) in hashes[..n].iter().enumerate() {
                lines.place(lines.home(hash), (hash as u32 & !mask) | (start + i + 1) as u32);
            }
        }
        self.lines = lines;
        Ok(())
    }

    /// Looks for `state`; inserts it if it is not there.
    #[inline]
    fn find_or_insert(&mut self, hash: u64, state: &S) -> Entry {
        let mask = number_mask(&self.lines);
        let tag = hash as u32 & !mask;
        let mut at = self.lines.home(hash);
        loop {
            let line = self.lines.line(at);
            let (mut candidates, free) = scan(line, tag, mask);
            while candidates != 0 {
                let slot = line[candidates.trailing_zeros() as usize];
                let id = (slot & mask) - 1;
                if self.rows.read(id as usize, &mut self.room) == state {
                    return Entry::known(id);
                }
                candidates &= candidates - 1;
            }
            if free < 16 {
                let id = self.rows.len() as u32;
                self.lines.line_mut(at)[free] = tag | (id + 1);
                self.rows.push(state);
                return Entry::new(id);
            }
            at = self.lines.next(at);
        }
    }
}

impl<S: Vector + ?Sized> Default for Exact<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Vector + ?Sized> Store<S> for Exact<S> {
    fn insert(&mut self, batch: &Batch<S>, room: usize, out: &mut Vec<Entry>) -> Result<(), Full> {
        assert!(!self.sealed, "insert into a sealed store");
        let most = self.rows.len() + batch.len();
        let n_lines = self.size_for(most);
        if n_lines > Self::MOST_LINES || most > Entry::MAX_STATES {
            return Err(Full::Numbers);
        }
        let mut needed = batch.bytes();
        if n_lines != self.lines.n() {
            needed += Lines::<u32>::bytes_for(n_lines);
        }
        if needed > room || !self.rows.try_reserve(batch.len(), batch.bytes() / batch.len().max(1)) {
            return Err(Full::Memory { needed });
        }
        if n_lines != self.lines.n() {
            self.grow(n_lines)?;
        }
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        for i in 0..batch.len() {
            let hash = batch.state(i).hash64();
            self.lines.prefetch(self.lines.home(hash));
            hashes.push(hash);
        }
        let mask = number_mask(&self.lines);
        for &hash in &hashes {
            let line = self.lines.line(self.lines.home(hash));
            let (candidates, _) = scan(line, hash as u32 & !mask, mask);
            if candidates != 0 {
                let slot = line[candidates.trailing_zeros() as usize];
                self.rows.touch((slot & mask) as usize - 1, prefetch);
            }
        }
        for (i, &hash) in hashes.iter().enumerate() {
            out.push(self.find_or_insert(hash, batch.state(i)));
        }
        self.hashes = hashes;
        Ok(())
    }

    fn state<'s>(&'s self, id: u32, room: &'s mut S::Rows) -> Option<&'s S> {
        ((id as usize) < self.rows.len()).then(|| self.rows.read(id as usize, room))
    }

    fn keeps_states(&self) -> bool {
        true
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn bytes(&self) -> usize {
        self.rows.bytes() + self.lines.bytes() + self.hashes.len() * 8
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Exact
    }

    fn seal(&mut self) {
        self.lines = Lines::new(1, vec![0; Lines::<u32>::slots_for(1)]);
        self.sealed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use stubborn_system::TransitionId;

    /// A small generator with a fixed seed.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *state >> 29
    }

    fn compare<S: Vector + ?Sized>(mut states: impl FnMut(&mut u64) -> Box<S>) {
        let mut seed = 7;
        let mut store = Exact::<S>::new();
        let mut model: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut out = Vec::new();
        let mut room = S::Rows::default();
        // Miri does the same with less.
        for round in 0..if cfg!(miri) { 12 } else { 400 } {
            let mut batch = Batch::new();
            for _ in 0..round % 97 {
                batch.push(TransitionId(0), &*states(&mut seed));
            }
            out.clear();
            store.insert(&batch, usize::MAX, &mut out).unwrap();
            assert_eq!(out.len(), batch.len());
            for (i, entry) in out.iter().enumerate() {
                let next = model.len() as u32;
                let expected = *model.entry(batch.state(i).as_bytes().to_vec()).or_insert(next);
                assert_eq!((entry.id(), entry.is_new()), (expected, expected == next));
                assert_eq!(store.state(expected, &mut room).unwrap(), batch.state(i));
            }
        }
        assert_eq!(store.len(), model.len());
        assert!(model.len() > if cfg!(miri) { 51 } else { 3000 }, "{}", model.len());
    }

    #[test]
    fn the_store_agrees_with_a_standard_map_on_keys_of_every_size() {
        compare::<[u64; 1]>(|s| Box::new([random(s) % 9000]));
        compare::<[u64; 2]>(|s| Box::new([random(s) % 90, random(s) % 90]));
        compare::<[u64; 4]>(|s| Box::new([random(s) % 9, random(s) % 9, random(s) % 9, random(s) % 9]));
    }

    #[test]
    fn the_store_agrees_with_a_standard_map_on_bytes_of_one_or_many_lengths() {
        compare::<[u8]>(|s| (0..5).map(|_| (random(s) % 7) as u8).collect());
        compare::<[u8]>(|s| (0..random(s) % 9).map(|_| (random(s) % 7) as u8).collect());
        compare::<[u64]>(|s| (0..6).map(|_| random(s) % 5).collect());
    }

    #[test]
    fn a_store_without_room_takes_nothing() {
        let mut store = Exact::<[u64; 1]>::new();
        // Miri does the same with less.
        let n = if cfg!(miri) { 200 } else { 100_000 };
        let mut batch = Batch::new();
        (0..n).for_each(|i| batch.push(TransitionId(0), &[i]));
        let mut out = Vec::new();
        let refused = store.insert(&batch, 1000, &mut out);
        assert!(matches!(refused, Err(Full::Memory { needed }) if needed > 1000));
        assert!(store.is_empty() && out.is_empty());
        store.insert(&batch, 10_000_000, &mut out).unwrap();
        assert_eq!(store.len() as u64, n);
        let last = n as u32 - 1;
        store.seal();
        assert_eq!(store.state(last, &mut Default::default()), Some(&[u64::from(last)]));
    }
}
