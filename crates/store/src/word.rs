//! The atomic operations that the shared table is made of.
//!
//! A trait, so that the very same table can be explored with atomics whose every interleaving is tried
//! (`oracle/tests/shared_table.rs`).

use std::sync::atomic::{AtomicU64, Ordering};

/// A word that several threads read and write.
pub trait Word: Sync {
    /// With a first value.
    fn new(value: u64) -> Self;

    /// Reads; what was written before a [`Word::store`] of this value is seen afterwards.
    fn load(&self) -> u64;

    /// Writes, after everything that this thread wrote before.
    fn store(&self, value: u64);

    /// Writes if the value is zero; the value if it is not.
    fn claim(&self, value: u64) -> Result<(), u64>;

    /// For who has it alone.
    fn get_mut(&mut self) -> &mut u64;

    /// To be called again and again while waiting for another thread, with the number of calls before.
    fn wait(n: u32);
}

/// Rounds of waiting after which the processor is left to others.
const PATIENCE: u32 = 1 << 6;

impl Word for AtomicU64 {
    fn new(value: u64) -> Self {
        Self::new(value)
    }

    #[inline]
    fn load(&self) -> u64 {
        self.load(Ordering::Acquire)
    }

    #[inline]
    fn store(&self, value: u64) {
        self.store(value, Ordering::Release);
    }

    #[inline]
    fn claim(&self, value: u64) -> Result<(), u64> {
        self.compare_exchange(0, value, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }

    #[inline]
    fn get_mut(&mut self) -> &mut u64 {
        self.get_mut()
    }

    fn wait(n: u32) {
        if n < PATIENCE { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}
