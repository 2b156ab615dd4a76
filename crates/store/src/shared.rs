//! Keys that several threads insert at the same time.
//!
//! **Implements** the table of [`Keys`](crate::Keys) for threads: see [`Table`] for how a key gets into it. Who brings a
//! batch says first how many keys it may have, so there is always room; if there is not, the table grows, for which
//! all others wait at a gate between two batches, and as many threads are at work.
//! **Preserves** everything: which keys are new does not depend on who comes first, only for whom they are.
//! **Checked by** the tests below against a standard set, with threads, and by `oracle/tests/shared_table.rs`.

use crate::lines::{FIRST_LINES, Lines};
use crate::table::Table;
use crate::{Entry, Full, KeySet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use stubborn_system::Vector;

/// How full the table may get.
const FULL: (usize, usize) = (3, 4);

/// A [`KeySet`] that several threads can have.
pub trait SharedKeySet<const N: usize>: Sync {
    /// Inserts keys and appends the places of those that were new for this thread. The set may grow by `room` bytes; if
    /// that is not enough it takes nothing.
    fn insert(&self, keys: &[[u64; N]], room: usize, desk: &mut Desk, new: &mut Vec<u32>)
    -> Result<(), Full>;

    /// How many keys there are, when no thread inserts any.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory in use, in bytes.
    fn bytes(&self) -> usize;
}

/// Where there is one thread, it never waits.
impl<const N: usize, K: KeySet<N> + Send> SharedKeySet<N> for Mutex<K> {
    fn insert(&self, keys: &[[u64; N]], room: usize, _: &mut Desk, new: &mut Vec<u32>) -> Result<(), Full> {
        self.lock().unwrap_or_else(PoisonError::into_inner).insert(keys, room, new)
    }

    fn len(&self) -> usize {
        self.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn bytes(&self) -> usize {
        self.lock().unwrap_or_else(PoisonError::into_inner).bytes()
    }
}

/// A set of keys for several threads.
#[derive(Debug)]
pub struct SharedKeys<const N: usize> {
    /// The gate: who inserts has it open, who lets the table grow has it alone.
    table: RwLock<Table<AtomicU64, N>>,
    /// Keys in the table, and those that may come of batches under way.
    n_claimed: AtomicUsize,
    n_states: AtomicUsize,
    n_bytes: AtomicUsize,
    n_threads: usize,
}

/// Room for one thread to work in.
#[derive(Debug, Default)]
pub struct Desk {
    hashes: Vec<u64>,
}

impl<const N: usize> SharedKeys<N> {
    /// An empty store for so many threads.
    pub fn new(n_threads: usize) -> Self {
        Self {
            table: RwLock::new(Table::new(FIRST_LINES)),
            n_claimed: AtomicUsize::new(0),
            n_states: AtomicUsize::new(0),
            n_bytes: AtomicUsize::new(Table::<AtomicU64, N>::bytes_for(FIRST_LINES)),
            n_threads,
        }
    }

    fn insert_claimed(
        &self,
        keys: &[[u64; N]],
        claimed: usize,
        room: usize,
        desk: &mut Desk,
        new: &mut Vec<u32>,
    ) -> Result<(), Full> {
        if claimed > Entry::MAX_STATES {
            return Err(Full::Numbers);
        }
        let mut table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        while size_for::<N>(table.n(), claimed) != table.n() {
            drop(table);
            self.grow(claimed, room)?;
            table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        }
        desk.hashes.clear();
        desk.hashes.extend(keys.iter().map(|key| {
            let hash = key.hash64();
            table.prefetch(hash);
            hash
        }));
        for (i, (key, &hash)) in keys.iter().zip(&desk.hashes).enumerate() {
            if table.insert(hash, key) {
                new.push(i as u32);
            }
        }
        Ok(())
    }

    /// Makes room for so many keys, if nobody else has done it meanwhile.
    #[cold]
    fn grow(&self, claimed: usize, room: usize) -> Result<(), Full> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let n = size_for::<N>(table.n(), claimed);
        if n == table.n() {
            return Ok(());
        }
        let bytes = Table::<AtomicU64, N>::bytes_for(n);
        let needed = bytes - Table::<AtomicU64, N>::bytes_for(table.n());
        if needed > room || !table.grow(n, self.n_threads) {
            return Err(Full::Memory { needed });
        }
        self.n_bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }
}

impl<const N: usize> SharedKeySet<N> for SharedKeys<N> {
    fn insert(
        &self,
        keys: &[[u64; N]],
        room: usize,
        desk: &mut Desk,
        new: &mut Vec<u32>,
    ) -> Result<(), Full> {
        let first = new.len();
        let claimed = self.n_claimed.fetch_add(keys.len(), Ordering::Relaxed) + keys.len();
        let inserted = self.insert_claimed(keys, claimed, room, desk, new);
        let n_new = new.len() - first;
        self.n_claimed.fetch_sub(keys.len() - n_new, Ordering::Relaxed);
        self.n_states.fetch_add(n_new, Ordering::Relaxed);
        inserted
    }

    fn len(&self) -> usize {
        self.n_states.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> usize {
        self.n_bytes.load(Ordering::Relaxed)
    }
}

/// The lines that so many states need if there are `n` now.
fn size_for<const N: usize>(n: usize, states: usize) -> usize {
    Lines::<u64>::size_from(n, states * N, FULL)
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
    fn insert_all<const N: usize>(store: &SharedKeys<N>, thread: u64, n: usize, bits: u32) -> Vec<[u64; N]> {
        let mut all = keys::<N>(thread, n, bits);
        let (mut desk, mut new, mut found) = (Desk::default(), Vec::new(), Vec::new());
        for round in 0.. {
            let batch: Vec<[u64; N]> = all.by_ref().take(1 + round % 97).collect();
            if batch.is_empty() {
                break;
            }
            new.clear();
            store.insert(&batch, usize::MAX, &mut desk, &mut new).unwrap();
            found.extend(new.iter().map(|&i| batch[i as usize]));
        }
        found
    }

    fn compare<const N: usize>(bits: u32, n_threads: usize) {
        // Miri does the same with less.
        let (n_workers, n) = if cfg!(miri) { (2, 24) } else { (3, 30_000) };
        let store = SharedKeys::<N>::new(n_threads);
        let found: Vec<Vec<[u64; N]>> = std::thread::scope(|scope| {
            let threads = (0..n_workers).map(|thread| {
                scope.spawn({
                    let store = &store;
                    move || insert_all(store, thread, n, bits)
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let expected: HashSet<[u64; N]> = (0..n_workers).flat_map(|thread| keys(thread, n, bits)).collect();
        let n_found: usize = found.iter().map(Vec::len).sum();
        let found: HashSet<[u64; N]> = found.into_iter().flatten().collect();
        assert_eq!((n_found, store.len()), (expected.len(), expected.len()), "each is new once");
        assert!(found == expected);
    }

    #[test]
    fn threads_find_each_key_once_while_the_table_grows() {
        for n_threads in if cfg!(miri) { 2..3 } else { 1..4 } {
            compare::<1>(15, n_threads);
            compare::<1>(63, n_threads);
            compare::<2>(7, n_threads);
            compare::<2>(63, n_threads);
            compare::<4>(4, n_threads);
            compare::<4>(63, n_threads);
        }
    }

    #[test]
    fn a_store_without_room_takes_nothing() {
        let store = SharedKeys::<1>::new(1);
        let n = if cfg!(miri) { 200 } else { 100_000 };
        let batch: Vec<[u64; 1]> = (0..n).map(|i| [i]).collect();
        let (mut desk, mut new) = (Desk::default(), Vec::new());
        let refused = store.insert(&batch, 1000, &mut desk, &mut new);
        assert!(matches!(refused, Err(Full::Memory { needed }) if needed > 1000));
        assert!(store.is_empty() && new.is_empty());
        store.insert(&batch, 10_000_000, &mut desk, &mut new).unwrap();
        assert_eq!((store.len(), new.len()), (n as usize, n as usize));
        assert!(store.bytes() < 16 * n as usize + 8192);
    }
}
