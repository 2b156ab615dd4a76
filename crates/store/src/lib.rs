//! The state store: sets of states, and what they promise.
//!
//! A store takes successors in batches, so that it can prefetch for all of them before it looks at the
//! first: one look-up at a time costs the latency of memory, a batch costs its throughput.
//!
//! * [`Exact`] keeps whole states, numbered in the order of arrival;
//! * [`Keys`] keeps whole keys of a few words, without numbers; [`Regions`] divides them for several threads, which
//!   leave work to each other and do not wait ([`Mailbox`]);
//! * [`Quotient`] keeps of keys of one or two words what their place in the table does not say;
//! * [`Compact`] keeps 64 or 128 bits of each ("hash compaction");
//! * [`Bitstate`] keeps a few bits in one large field ("Supertrace").
//!
//! Only the first three lines can be the base of "holds": see [`Guarantee`].

#![deny(unsafe_code)]

mod bitstate;
mod combine;
mod compact;
mod exact;
mod keys;
mod lines;
mod machine;
mod mixing;
mod omission;
mod quotient;
mod regions;
mod scan;
mod split;

pub use bitstate::Bitstate;
pub use combine::{Atomic, Cell, Combine, Exclusive, Mailbox, Primitives, Standard};
pub use compact::{Compact, Fingerprint};
pub use exact::Exact;
pub use keys::Keys;
pub use omission::{Guarantee, collision_probability};
pub use quotient::Quotient;
pub use regions::{Region, Regions};

use stubborn_system::{Batch, Vector};
use thiserror::Error;

/// A set of states.
pub trait Store<S: Vector + ?Sized> {
    /// Inserts the states of `batch` in order and appends one entry for each to `out`.
    ///
    /// The store may grow by at most `room` bytes. If that is not enough it takes nothing of the batch.
    fn insert(&mut self, batch: &Batch<S>, room: usize, out: &mut Vec<Entry>) -> Result<(), Full>;

    /// The state with this number, if the store keeps whole states; in the room if it is not kept as it is.
    fn state<'s>(&'s self, id: u32, room: &'s mut S::Rows) -> Option<&'s S> {
        let _ = (id, room);
        None
    }

    /// Whether [`Store::state`] answers.
    fn keeps_states(&self) -> bool {
        false
    }

    /// How many states are in the store, as far as it can tell.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory in use, in bytes.
    fn bytes(&self) -> usize;

    /// What the store promises, for the states inserted so far.
    fn guarantee(&self) -> Guarantee;

    /// Frees what is needed for inserting only. After this, inserting panics; states can still be read.
    fn seal(&mut self) {}
}

/// A set of keys of a few words that tells which are new, and nothing else. It is exact.
pub trait KeySet<const N: usize> {
    /// Inserts keys in order, and appends the places in the list of those that are new, in any order. The set may grow by at most `room`
    /// bytes; if that is not enough it takes nothing.
    fn insert(&mut self, keys: &[[u64; N]], room: usize, new: &mut Vec<u32>) -> Result<(), Full>;

    /// How many keys there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory in use, in bytes.
    fn bytes(&self) -> usize;
}

/// What became of an inserted state: its number, and whether it was new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(u32);

impl Entry {
    /// How many states can be numbered: a table of 2^31 slots, four fifths full.
    pub const MAX_STATES: usize = (1 << 31) / 5 * 4;
    const NEW: u32 = 1 << 31;
    /// In place of a number that the store does not know.
    pub const UNKNOWN: u32 = Self::NEW - 1;

    /// A state that was new and has got the number `id`.
    #[inline]
    pub fn new(id: u32) -> Self {
        Self(id | Self::NEW)
    }

    /// A state that was there already.
    #[inline]
    pub fn known(id: u32) -> Self {
        Self(id)
    }

    /// The number of the state; [`Entry::UNKNOWN`] for a known state of a store without numbers.
    #[inline]
    pub fn id(self) -> u32 {
        self.0 & !Self::NEW
    }

    /// Whether the state was new.
    #[inline]
    pub fn is_new(self) -> bool {
        self.0 & Self::NEW != 0
    }
}

/// The store cannot take more.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Full {
    /// It would need more memory than it may have.
    #[error("the state store needs {needed} more bytes")]
    Memory {
        /// How many more bytes.
        needed: usize,
    },
    /// It has run out of numbers.
    #[error("more than {} states", Entry::MAX_STATES)]
    Numbers,
}

#[cfg(test)]
mod testing {
    use super::{Full, KeySet};
    use std::collections::HashSet;

    /// A set that gets too little room takes nothing, and all when there is enough; how many keys these are.
    pub(crate) fn takes_nothing_without_room(set: &mut dyn KeySet<1>) -> usize {
        let keys: Vec<[u64; 1]> = (0..if cfg!(miri) { 2_000 } else { 100_000 }).map(|i| [i]).collect();
        let mut n_refused = 0;
        for batch in keys.chunks(100) {
            let (before, mut new) = (set.len(), Vec::new());
            if let Err(full) = set.insert(batch, 1000, &mut new) {
                assert!(matches!(full, Full::Memory { needed } if needed > 1000));
                assert!(set.len() == before && new.is_empty());
                n_refused += 1;
                set.insert(batch, 10_000_000, &mut new).unwrap();
            }
            assert_eq!((set.len(), new.len()), (before + batch.len(), batch.len()));
        }
        assert!(n_refused > if cfg!(miri) { 1 } else { 5 }, "{n_refused}");
        keys.len()
    }

    /// Inserts keys into a set and a standard one, and compares what is new; the same key may come more than once.
    pub(crate) fn insert_both<const N: usize>(
        set: &mut dyn KeySet<N>,
        standard: &mut HashSet<[u64; N]>,
        keys: &[[u64; N]],
    ) {
        let mut new = Vec::new();
        set.insert(keys, usize::MAX, &mut new).unwrap();
        new.sort_unstable();
        let expected = (0..keys.len()).filter(|&i| standard.insert(keys[i])).map(|i| i as u32);
        assert_eq!(new, expected.collect::<Vec<_>>());
        assert_eq!(set.len(), standard.len());
    }
}
