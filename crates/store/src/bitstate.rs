//! Supertrace: a few bits of one large field for each state.
//!
//! **Implements** Holzmann's bit-state hashing (V93 section 5 uses it with testers) with several hash
//! functions made from one 128-bit hash by double hashing.
//! **Preserves** every violation that it shows (each is replayed); it may miss states. The number of
//! omitted states is estimated as the search goes: a state that is taken for new now would have been
//! overlooked with probability (share of set bits)^k, so each such state stands for p/(1-p) overlooked ones.
//! **Checked by** the tests below, which compare the estimate with what was really overlooked.

use crate::lines::zeros;
use crate::machine::prefetch;
use crate::{Entry, Full, Guarantee, Store};
use std::marker::PhantomData;
use stubborn_system::{Batch, Vector};
use xxhash_rust::xxh3::xxh3_128;

/// The bitstate store.
#[derive(Debug)]
pub struct Bitstate<S: ?Sized> {
    field: Vec<u64>,
    /// The field has `2^log2` bits.
    log2: u32,
    /// How many bits stand for a state.
    n_functions: u32,
    n_states: usize,
    n_set: u64,
    overlooked: f64,
    hashes: Vec<u128>,
    state: PhantomData<fn(&S)>,
}

impl<S: Vector + ?Sized> Bitstate<S> {
    /// A field of `2^log2` bits (at least 2^10, at most 2^40) and `n_functions` bits per state.
    pub fn new(log2: u32, n_functions: u32) -> Result<Self, Full> {
        let log2 = log2.clamp(10, 40);
        let words = 1usize << (log2 - 6);
        let field = zeros(words).ok_or(Full::Memory { needed: words * 8 })?;
        Ok(Self {
            field,
            log2,
            n_functions: n_functions.clamp(1, 16),
            n_states: 0,
            n_set: 0,
            overlooked: 0.0,
            hashes: Vec::new(),
            state: PhantomData,
        })
    }

    #[inline]
    fn bit(&self, hash: u128, i: u32) -> u64 {
        let (first, step) = ((hash >> 64) as u64, hash as u64 | 1);
        first.wrapping_add(step.wrapping_mul(u64::from(i))) >> (64 - self.log2)
    }

    /// Sets the bits of a state; true if one was not set before.
    fn mark(&mut self, hash: u128) -> bool {
        let mut fresh = 0;
        for i in 0..self.n_functions {
            let bit = self.bit(hash, i);
            let word = &mut self.field[(bit >> 6) as usize];
            fresh += u64::from(*word >> (bit & 63) & 1 == 0);
            *word |= 1 << (bit & 63);
        }
        if fresh > 0 {
            let share = self.n_set as f64 / (1u64 << self.log2) as f64;
            let p = share.powi(self.n_functions as i32);
            self.overlooked += p / (1.0 - p).max(f64::MIN_POSITIVE);
        }
        self.n_set += fresh;
        fresh > 0
    }
}

impl<S: Vector + ?Sized> Store<S> for Bitstate<S> {
    fn insert(&mut self, batch: &Batch<S>, _room: usize, out: &mut Vec<Entry>) -> Result<(), Full> {
        if self.n_states + batch.len() > Entry::MAX_STATES {
            return Err(Full::Numbers);
        }
        self.hashes.clear();
        for i in 0..batch.len() {
            let hash = xxh3_128(batch.state(i).as_bytes());
            for f in 0..self.n_functions {
                prefetch(self.field.as_ptr().wrapping_add((self.bit(hash, f) >> 6) as usize).cast());
            }
            self.hashes.push(hash);
        }
        for i in 0..batch.len() {
            if self.mark(self.hashes[i]) {
                out.push(Entry::new(self.n_states as u32));
                self.n_states += 1;
            } else {
                out.push(Entry::known(Entry::UNKNOWN));
            }
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.n_states
    }

    fn bytes(&self) -> usize {
        self.field.len() * 8
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Bitstate {
            bits: 1 << self.log2,
            functions: self.n_functions,
            hash_factor: (1u64 << self.log2) as f64 / (self.n_states.max(1)) as f64,
            overlooked: self.overlooked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stubborn_system::TransitionId;

    #[test]
    #[cfg_attr(miri, ignore = "a measurement")]
    fn the_estimate_of_overlooked_states_is_near_the_truth() {
        let mut store = Bitstate::<[u64; 1]>::new(16, 2).unwrap();
        let n = 20_000;
        let mut out = Vec::new();
        for i in 0..n {
            let mut batch = Batch::new();
            batch.push(TransitionId(0), &[i]);
            store.insert(&batch, 0, &mut out).unwrap();
        }
        let really = (n as usize - store.len()) as f64;
        let Guarantee::Bitstate { overlooked, hash_factor, .. } = store.guarantee() else { panic!() };
        assert!(really > 500.0 && (overlooked / really - 1.0).abs() < 0.1, "{overlooked} for {really}");
        assert!((hash_factor - 65536.0 / store.len() as f64).abs() < 1e-9);
    }

    #[test]
    fn what_was_marked_stays_marked() {
        let mut store = Bitstate::<[u8]>::new(20, 3).unwrap();
        let mut batch = Batch::<[u8]>::new();
        batch.push(TransitionId(0), b"a");
        batch.push(TransitionId(0), b"b");
        batch.push(TransitionId(0), b"a");
        let mut out = Vec::new();
        store.insert(&batch, 0, &mut out).unwrap();
        assert_eq!(out.iter().map(|e| e.is_new()).collect::<Vec<_>>(), [true, true, false]);
    }
}
