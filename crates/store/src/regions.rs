//! Sets of keys in parts, which several threads can use.
//!
//! **Implements** one set of keys for all threads of a search: the highest bits of a key's hash say in which of sixteen regions it belongs, each a set of its own,
//! which one thread at a time has ([`Exclusive`]). Who has found keys sorts them by region, and takes a region for a whole batch by one compare-and-swap; if another thread has the region, it
//! leaves the batch to that one ([`Mailbox`](crate::Mailbox)) and goes on. So nobody waits, and what is done with the keys is what one thread alone would do, without atomic operations. A batch that stays in
//! one region also needs fewer pages of memory.
//! A region doubles in place when it is crowded, while others go on elsewhere. Regions begin with different sizes, so they double one after the other,
//! and all of them together have hardly more room than is needed: between 1.39 and 1.47 times what full tables would have, whatever the number of keys is.
//! Of all keys each is moved once while their number doubles.
//! **Preserves** everything: a key is in one region only, so it is new for exactly one thread, though not always for the one that found it.
//! **Differs from** tables as others have them, with a compare-and-swap for each new key. One was built first: 1.26 times the work
//! of one thread where most keys are new, because such an instruction waits for everything before it. On the other hand a thread that stops in the middle of a batch keeps its region, and what
//! others leave there, from everybody.
//! **Checked by** the tests below against a standard set, with threads, by `oracle/tests/all/combining.rs` in every interleaving, and by `oracle/tests/all/threads.rs`.

use crate::combine::Exclusive;
use crate::lines::FIRST_LINES;
use crate::{Entry, Full, KeySet, Keys};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use stubborn_system::Vector;

/// Bits of a hash that say which region it is.
const BITS: u32 = 4;

/// What the region leaves of a hash.
#[inline(always)]
pub(crate) fn within_region(hash: u64) -> u64 {
    hash << BITS
}

/// The keys of a region.
pub struct Region<const N: usize>(Box<dyn KeySet<N> + Send>);

/// A number that threads change often, away from what they only read.
#[derive(Default)]
#[repr(align(128))]
struct Count(AtomicUsize);

/// A set of keys in regions.
pub struct Regions<const N: usize> {
    regions: Vec<Exclusive<Region<N>>>,
    n_states: Count,
    n_bytes: Count,
}

impl<const N: usize> Regions<N> {
    /// An empty set of whole keys.
    pub fn of_keys() -> Self {
        let n = 1 << BITS;
        Self::new((0..n).map(|i| -> Box<dyn KeySet<N> + Send> {
            Box::new(Keys::with_lines(FIRST_LINES + FIRST_LINES * i / n))
        }))
    }

    /// A set that is one region: threads would leave everything to one of them.
    pub fn undivided(set: impl KeySet<N> + Send + 'static) -> Self {
        Self::new(std::iter::once::<Box<dyn KeySet<N> + Send>>(Box::new(set)))
    }

    fn new(sets: impl Iterator<Item = Box<dyn KeySet<N> + Send>>) -> Self {
        let mut all = Self { regions: Vec::new(), n_states: Count::default(), n_bytes: Count::default() };
        for set in sets {
            let region = Region(set);
            all.account(0, 0, &region);
            all.regions.push(Exclusive::new(region));
        }
        all
    }

    /// Notes what has become of a region that had so many states and bytes.
    fn account(&self, states: usize, bytes: usize, Region(set): &Region<N>) {
        let (more_states, more_bytes) = (set.len() - states, set.bytes().wrapping_sub(bytes));
        if more_states != 0 {
            self.n_states.0.fetch_add(more_states, Relaxed);
        }
        if more_bytes != 0 {
            self.n_bytes.0.fetch_add(more_bytes, Relaxed);
        }
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

    /// A region, for who can get it.
    pub fn region(&self, region: usize) -> &Exclusive<Region<N>> {
        &self.regions[region]
    }

    /// Inserts keys into their region and appends the places in the list of those that are new, in any order. The set may grow by `room` bytes; if
    /// that is not enough it takes nothing.
    pub fn insert(
        &self,
        region: &mut Region<N>,
        keys: &[[u64; N]],
        room: usize,
        new: &mut Vec<u32>,
    ) -> Result<(), Full> {
        if self.len() + keys.len() > Entry::MAX_STATES {
            return Err(Full::Numbers);
        }
        let (states, bytes) = (region.0.len(), region.0.bytes());
        let inserted = region.0.insert(keys, room, new);
        self.account(states, bytes, region);
        inserted
    }

    /// How many keys there are, when no thread inserts any.
    pub fn len(&self) -> usize {
        self.n_states.0.load(Relaxed)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.n_bytes.0.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Combine, Mailbox};
    use std::collections::HashSet;

    /// Keys of a thread, many of which others have, too.
    fn keys<const N: usize>(thread: usize, n: usize, bits: u32) -> impl Iterator<Item = [u64; N]> {
        let mut seed = thread as u64;
        (0..n).map(move |_| {
            std::array::from_fn(|_| {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                seed >> (64 - bits)
            })
        })
    }

    /// Inserts keys, and has those that are new.
    struct Inserting<'a, const N: usize> {
        set: &'a Regions<N>,
        new: Vec<u32>,
        found: Vec<[u64; N]>,
    }

    impl<const N: usize> Combine<Region<N>, Vec<[u64; N]>> for Inserting<'_, N> {
        type Error = Full;

        fn apply(&mut self, region: &mut Region<N>, keys: &Vec<[u64; N]>) -> Result<(), Full> {
            self.new.clear();
            self.set.insert(region, keys, usize::MAX, &mut self.new)
        }

        fn digest(&mut self, keys: &mut Vec<[u64; N]>) -> Result<(), Full> {
            self.found.extend(self.new.iter().map(|&i| keys[i as usize]));
            keys.clear();
            Ok(())
        }

        fn join(&mut self, left: &mut Vec<[u64; N]>, keys: &mut Vec<[u64; N]>) -> bool {
            left.append(keys);
            left.len() < 100
        }
    }

    /// The keys that are new for a thread, which inserts its own in batches of different sizes, and those that others leave.
    fn insert_all<const N: usize>(
        set: &Regions<N>,
        mail: &[Mailbox<Vec<[u64; N]>>],
        thread: usize,
        mut all: impl Iterator<Item = [u64; N]>,
    ) -> Vec<[u64; N]> {
        let mut inserting = Inserting { set, new: Vec::new(), found: Vec::new() };
        let (mut parts, mut spare) = (vec![Vec::new(); set.n()], Vec::new());
        for round in 0.. {
            let before = all.by_ref().take(1 + round % 997).map(|key| parts[set.region_of(&key)].push(key));
            let is_over = before.count() == 0;
            let mut is_done = true;
            for (region, part) in parts.iter_mut().enumerate().filter(|(_, part)| !part.is_empty()) {
                let passed = mail[region].pass(set.region(region), thread, part, &mut spare, &mut inserting);
                is_done &= passed.unwrap();
            }
            match (is_over, is_done) {
                (true, true) => break,
                (true, false) => std::thread::yield_now(),
                _ => {}
            }
        }
        inserting.found
    }

    fn compare<const N: usize>(bits: u32, set: &Regions<N>) {
        // Miri does the same with less.
        let (n_workers, n) = if cfg!(miri) { (2, 24) } else { (3, 30_000) };
        let mail: &Vec<Mailbox<_>> = &(0..set.n()).map(|_| Mailbox::new(n_workers)).collect();
        let found: Vec<Vec<[u64; N]>> = std::thread::scope(|scope| {
            let start = |thread| scope.spawn(move || insert_all(set, mail, thread, keys(thread, n, bits)));
            let threads: Vec<_> = (0..n_workers).map(start).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(mail.iter().all(Mailbox::is_empty), "nothing is left");
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
                let keys = &parts[region];
                let inserted =
                    set.region(region).attempt(|region| set.insert(region, keys, usize::MAX, &mut new));
                inserted.expect("nobody else has it").unwrap();
                assert_eq!(new.len(), 256);
                parts[region].clear();
                let n = set.len();
                assert!(n < 100_000 || set.bytes() < 15 * n, "{} bytes for {n} keys", set.bytes());
            }
        }
        assert!(cfg!(miri) || set.len() > 2_900_000);
    }
}
