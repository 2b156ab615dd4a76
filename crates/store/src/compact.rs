//! Hash compaction: 64 or 128 bits of each state.
//!
//! **Implements** Wolper and Leroy's hash compaction; the fingerprint is XXH3 of the state's bytes.
//! **Preserves** every violation that it shows (each is replayed), but may take a new state for a known one
//! and so miss states: the guarantee carries the probability, and nothing can be proved with it.
//! **Checked by** the tests below.

use crate::lines::{FIRST_LINES, Lines, Zeroed, zeros};
use crate::omission::{Guarantee, collision_probability};
use crate::{Entry, Full, Store};
use std::marker::PhantomData;
use stubborn_system::{Batch, Vector};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// A fingerprint: 64 or 128 bits, never zero.
#[allow(private_bounds)]
pub trait Fingerprint: Copy + Default + PartialEq + sealed::Sealed {
    /// The fingerprint of some bytes.
    fn of(bytes: &[u8]) -> Self;
    /// Its highest 64 bits.
    fn top(self) -> u64;
}

mod sealed {
    pub(crate) trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

impl Fingerprint for u64 {
    fn of(bytes: &[u8]) -> Self {
        xxh3_64(bytes).max(1)
    }
    fn top(self) -> u64 {
        self
    }
}

impl Fingerprint for u128 {
    fn of(bytes: &[u8]) -> Self {
        xxh3_128(bytes).max(1)
    }
    fn top(self) -> u64 {
        (self >> 64) as u64
    }
}

/// The hash-compacted store.
#[derive(Debug)]
pub struct Compact<K, S: ?Sized> {
    lines: Lines<K>,
    n_states: usize,
    fingerprints: Vec<K>,
    state: PhantomData<fn(&S)>,
}

#[allow(private_bounds)]
impl<K: Fingerprint, S: Vector + ?Sized> Compact<K, S>
where
    Vec<K>: Zeroed,
{
    /// An empty store.
    pub fn new() -> Self {
        let slots = vec![K::default(); Lines::<K>::slots_for(FIRST_LINES)];
        Self {
            lines: Lines::new(FIRST_LINES, slots),
            n_states: 0,
            fingerprints: Vec::new(),
            state: PhantomData,
        }
    }

    #[cold]
    fn grow(&mut self, n: usize) -> Result<(), Full> {
        let needed = Lines::<K>::bytes_for(n);
        let zero = zeros(Lines::<K>::slots_for(n)).ok_or(Full::Memory { needed })?;
        let mut lines = Lines::new(n, zero);
        for at in 0..self.lines.n() {
            for &key in self.lines.line(at).iter().filter(|&&key| key != K::default()) {
                lines.place(lines.home(key.top()), key);
            }
        }
        self.lines = lines;
        Ok(())
    }

    fn find_or_insert(&mut self, key: K) -> Entry {
        let mut at = self.lines.home(key.top());
        loop {
            for slot in self.lines.line_mut(at) {
                if *slot == key {
                    return Entry::known(Entry::UNKNOWN);
                }
                if *slot == K::default() {
                    *slot = key;
                    self.n_states += 1;
                    return Entry::new(self.n_states as u32 - 1);
                }
            }
            at = self.lines.next(at);
        }
    }
}

impl<K: Fingerprint, S: Vector + ?Sized> Default for Compact<K, S>
where
    Vec<K>: Zeroed,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Fingerprint, S: Vector + ?Sized> Store<S> for Compact<K, S>
where
    Vec<K>: Zeroed,
{
    fn insert(&mut self, batch: &Batch<S>, room: usize, out: &mut Vec<Entry>) -> Result<(), Full> {
        let most = self.n_states + batch.len();
        if most > Entry::MAX_STATES {
            return Err(Full::Numbers);
        }
        let n_lines = self.lines.size_for(most, (3, 4));
        if n_lines != self.lines.n() {
            let needed = Lines::<K>::bytes_for(n_lines);
            if needed > room {
                return Err(Full::Memory { needed });
            }
            self.grow(n_lines)?;
        }
        self.fingerprints.clear();
        for i in 0..batch.len() {
            let key = K::of(batch.state(i).as_bytes());
            self.lines.prefetch(self.lines.home(key.top()));
            self.fingerprints.push(key);
        }
        for i in 0..batch.len() {
            let entry = self.find_or_insert(self.fingerprints[i]);
            out.push(entry);
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.n_states
    }

    fn bytes(&self) -> usize {
        self.lines.bytes() + self.fingerprints.len() * size_of::<K>()
    }

    fn guarantee(&self) -> Guarantee {
        let bits = 8 * size_of::<K>() as u32;
        Guarantee::Compact { bits, omission: collision_probability(self.n_states as f64, bits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stubborn_system::TransitionId;

    fn distinct<K: Fingerprint>()
    where
        Vec<K>: Zeroed,
    {
        let mut store = Compact::<K, [u64; 1]>::new();
        let mut out = Vec::new();
        // Miri does the same with less.
        let n_blocks = if cfg!(miri) { 2 } else { 200 };
        for round in 0..2 {
            for block in 0..n_blocks {
                let mut batch = Batch::new();
                (0..100).for_each(|i| batch.push(TransitionId(0), &[block * 100 + i]));
                out.clear();
                store.insert(&batch, usize::MAX, &mut out).unwrap();
                assert!(out.iter().all(|e| e.is_new() == (round == 0)));
            }
        }
        assert_eq!(store.len(), 100 * n_blocks as usize);
        assert!(store.guarantee() != Guarantee::Exact);
    }

    #[test]
    fn states_are_told_apart_by_64_or_128_bits() {
        distinct::<u64>();
        distinct::<u128>();
    }

    #[test]
    fn growth_respects_the_room() {
        let mut store = Compact::<u64, [u64; 1]>::new();
        let mut batch = Batch::new();
        (0..if cfg!(miri) { 1_000 } else { 10_000 }).for_each(|i| batch.push(TransitionId(0), &[i]));
        assert!(matches!(store.insert(&batch, 10, &mut Vec::new()), Err(Full::Memory { .. })));
    }
}
