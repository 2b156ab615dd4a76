//! Sets of keys in parts, which several threads can use.
//!
//! **Implements** one set of keys for all threads of a search: the highest bits of a key's hash say in which of sixteen regions it belongs, each a set of its own
//! behind a lock of its own. Who has found keys sorts them by region, and takes a region for a whole batch; so threads hardly ever meet, and what is done
//! with the keys is what one thread alone would do, without atomic operations. A batch that stays in one region also needs fewer pages of memory.
//! A region doubles in place when it is crowded, while others go on elsewhere. Regions begin with different sizes, so they double one after the other,
//! and all of them together have hardly more room than is needed: between 1.39 and 1.47 times what full tables would have, whatever the number of keys is.
//! Of all keys each is moved once while their number doubles.
//! **Preserves** everything: a key is in one region only, so it is new for exactly one thread.
//! **Differs from** tables without locks, as others have them. One was built first (a compare-and-swap for each new key): 1.26 times the work
//! of one thread where most keys are new, because such an instruction waits for everything before it.
//! **Checked by** the tests below against a standard set, with threads, and by `oracle/tests/all/threads.rs`.

use crate::lines::FIRST_LINES;
use crate::{Entry, Full, KeySet, Keys};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use stubborn_system::Vector;

/// Bits of a hash that say which region it is.
const BITS: u32 = 4;

/// What the region leaves of a hash.
#[inline(always)]
pub(crate) fn within_region(hash: u64) -> u64 {
    hash << BITS
}

/// A set of keys in regions.
pub struct Regions<const N: usize> {
    regions: Vec<Mutex<Box<dyn KeySet<N> + Send>>>,
    n_states: AtomicUsize,
    n_bytes: AtomicUsize,
}

impl<const N: usize> Regions<N> {
    /// An empty set of whole keys.
    pub fn of_keys() -> Self {
        let n = 1 << BITS;
        Self::new((0..n).map(|i| -> Box<dyn KeySet<N> + Send> {
            Box::new(Keys::with_lines(FIRST_LINES + FIRST_LINES * i / n))
        }))
    }

    /// A set that is one region: threads would wait for each other.
    pub fn undivided(set: impl KeySet<N> + Send + 'static) -> Self {
        Self::new(std::iter::once::<Box<dyn KeySet<N> + Send>>(Box::new(set)))
    }

    fn new(regions: impl Iterator<Item = Box<dyn KeySet<N> + Send>>) -> Self {
        let regions: Vec<_> = regions.map(Mutex::new).collect();
        let set = Self { regions, n_states: AtomicUsize::new(0), n_bytes: AtomicUsize::new(0) };
        (0..set.n()).for_each(|region| set.account(0, 0, &**set.lock(region)));
        set
    }

    fn lock(&self, region: usize) -> std::sync::MutexGuard<'_, Box<dyn KeySet<N> + Send>> {
        self.regions[region].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what has become of a region that had so many states and bytes.
    fn account(&self, states: usize, bytes: usize, region: &(dyn KeySet<N> + Send)) {
        self.n_states.fetch_add(region.len() - states, Relaxed);
        self.n_bytes.fetch_add(region.bytes().wrapping_sub(bytes), Relaxed);
    }

    /// How many regions there are.
    pub fn n(&self) -> usize {
        self.regions.len()
    }

    /// The region of a key.
    #[inline(always)]
    pub fn region_of(&self, key: &[u64; N]) -> usize {
        (key.hash64() >> (64 - BITS)) as usize & (self.regions.len() - 1)
    }

    /// Inserts keys of one region and appends the places in the list of those that are new, in any order. The set may grow by `room` bytes; if
    /// that is not enough it takes nothing.
    pub fn insert(
        &self,
        region: usize,
        keys: &[[u64; N]],
        room: usize,
        new: &mut Vec<u32>,
    ) -> Result<(), Full> {
        if self.len() + keys.len() > Entry::MAX_STATES {
            return Err(Full::Numbers);
        }
        let mut set = self.lock(region);
        let (states, bytes) = (set.len(), set.bytes());
        let inserted = set.insert(keys, room, new);
        self.account(states, bytes, &**set);
        inserted
    }

    /// How many keys there are, when no thread inserts any.
    pub fn len(&self) -> usize {
        self.n_states.load(Relaxed)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.n_bytes.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Keys of a thread, many of which others have, too.
    fn keys<const N: usize>(thread: u64, n: usize, bits: u32) -> impl Iterator<Item = [u64; N]> {
        let mut seed = thread;
        (0..n).map(move |_| {
            std::array::from_fn(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                seed >> (64 - bits)
            })
        })
    }

    /// The new keys of a thread, inserted in batches of different sizes.
    fn insert_all<const N: usize>(set: &Regions<N>, thread: u64, n: usize, bits: u32) -> Vec<[u64; N]> {
        let mut all = keys::<N>(thread, n, bits);
        let (mut new, mut found) = (Vec::new(), Vec::new());
        for round in 0.. {
            let batch: Vec<[u64; N]> = all.by_ref().take(1 + round % 997).collect();
            if batch.is_empty() {
                break;
            }
            for region in 0..set.n() {
                let mut part = batch.clone();
                part.retain(|key| set.region_of(key) == region);
                new.clear();
                set.insert(region, &part, usize::MAX, &mut new).unwrap();
                found.extend(new.iter().map(|&i| part[i as usize]));
            }
        }
        found
    }

    fn compare<const N: usize>(bits: u32, set: &Regions<N>) {
        // Miri does the same with less.
        let (n_workers, n) = if cfg!(miri) { (2, 24) } else { (3, 30_000) };
        let found: Vec<Vec<[u64; N]>> = std::thread::scope(|scope| {
            let threads = (0..n_workers).map(|thread| scope.spawn(move || insert_all(set, thread, n, bits)));
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let expected: HashSet<[u64; N]> = (0..n_workers).flat_map(|thread| keys(thread, n, bits)).collect();
        let n_found: usize = found.iter().map(Vec::len).sum();
        let found: HashSet<[u64; N]> = found.into_iter().flatten().collect();
        assert_eq!((n_found, set.len()), (expected.len(), expected.len()), "each is new once");
        assert!(found == expected);
    }

    #[test]
    fn threads_find_each_key_once_while_regions_grow() {
        compare::<1>(15, &Regions::of_keys());
        compare::<1>(63, &Regions::of_keys());
        compare::<2>(7, &Regions::of_keys());
        compare::<2>(63, &Regions::of_keys());
        compare::<4>(4, &Regions::of_keys());
        compare::<4>(63, &Regions::of_keys());
        compare::<1>(15, &Regions::undivided(crate::Quotient::new()));
    }

    #[test]
    fn regions_have_little_room_to_spare_whatever_the_number_of_keys() {
        let set = Regions::<1>::of_keys();
        let n = if cfg!(miri) { 300 } else { 3_000_000 };
        let mut parts: Vec<Vec<[u64; 1]>> = vec![Vec::new(); set.n()];
        let mut new = Vec::new();
        for key in 0..n {
            let region = set.region_of(&[key]);
            parts[region].push([key]);
            if parts[region].len() == 256 {
                new.clear();
                set.insert(region, &parts[region], usize::MAX, &mut new).unwrap();
                assert_eq!(new.len(), 256);
                parts[region].clear();
                let n = set.len();
                assert!(n < 100_000 || set.bytes() < 15 * n, "{} bytes for {n} keys", set.bytes());
            }
        }
        assert!(cfg!(miri) || set.len() > 2_900_000);
    }
}
