//! A table of slots in lines of 64 bytes, aligned to the lines of the cache.
//!
//! Zeroed memory comes from the system for free, which a vector of an aligned type would not give; so the
//! alignment is done by an offset.

use crate::prefetch::prefetch;

/// `2^log2` lines of slots of type `T`, all zero at first. A line is filled from the left, so a zero slot
/// ends it; a full line overflows into the next.
#[derive(Clone, Debug)]
pub(crate) struct Lines<T> {
    slots: Vec<T>,
    /// First slot of the first line.
    base: usize,
    log2: u32,
}

impl<T: Copy + Default + PartialEq> Lines<T> {
    /// Slots in a line.
    pub(crate) const WIDTH: usize = 64 / size_of::<T>();

    /// Bytes that a table of `2^log2` lines takes.
    pub(crate) fn bytes_for(log2: u32) -> usize {
        (64usize << log2) + 64
    }

    /// A new table.
    pub(crate) fn new(log2: u32, zero: Vec<T>) -> Self {
        let misaligned = zero.as_ptr() as usize % 64;
        let base = if misaligned == 0 { 0 } else { (64 - misaligned) / size_of::<T>() };
        Self { slots: zero, base, log2 }
    }

    /// How many slots a new table of `2^log2` lines must be given.
    pub(crate) fn slots_for(log2: u32) -> usize {
        Self::WIDTH * ((1 << log2) + 1)
    }

    /// The table has two to this power of lines.
    pub(crate) fn log2(&self) -> u32 {
        self.log2
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<T>()
    }

    /// The line where a state with this hash belongs: the top bits, so that a doubled table keeps its order.
    #[inline]
    pub(crate) fn home(&self, hash: u64) -> usize {
        if self.log2 == 0 { 0 } else { (hash >> (64 - self.log2)) as usize }
    }

    #[inline]
    pub(crate) fn next(&self, line: usize) -> usize {
        (line + 1) & ((1 << self.log2) - 1)
    }

    #[inline]
    pub(crate) fn line(&self, line: usize) -> &[T] {
        &self.slots[self.base + line * Self::WIDTH..][..Self::WIDTH]
    }

    #[inline]
    pub(crate) fn line_mut(&mut self, line: usize) -> &mut [T] {
        &mut self.slots[self.base + line * Self::WIDTH..][..Self::WIDTH]
    }

    #[inline]
    pub(crate) fn prefetch(&self, line: usize) {
        prefetch(self.slots.as_ptr().wrapping_add(self.base + line * Self::WIDTH).cast());
    }

    /// Puts `slot` into the first free place from `home` on. For growing: the slot is known to be new.
    #[inline]
    pub(crate) fn place(&mut self, home: usize, slot: T) {
        let mut line = home;
        loop {
            if let Some(free) = self.line_mut(line).iter_mut().find(|s| **s == T::default()) {
                *free = slot;
                return;
            }
            line = self.next(line);
        }
    }
}

/// A vector of `n` zeros, or `None` if the memory cannot be had.
pub(crate) fn zeros<T: Copy + Default>(n: usize) -> Option<Vec<T>>
where
    Vec<T>: Zeroed,
{
    Vec::<T>::zeroed(n)
}

/// Zeroed vectors. A trait because only concrete integer types get their zeros from the system.
pub(crate) trait Zeroed: Sized {
    fn zeroed(n: usize) -> Option<Self>;
}

macro_rules! zeroed {
    ($($t:ty),*) => {$(
        impl Zeroed for Vec<$t> {
            fn zeroed(n: usize) -> Option<Self> {
                // `vec!` aborts when memory runs out; asking first, then giving it back, makes that an
                // ordinary answer. Nothing is touched in between.
                let mut trial = Vec::<$t>::new();
                trial.try_reserve_exact(n).ok()?;
                drop(std::hint::black_box(trial));
                Some(vec![0; n])
            }
        }
    )*};
}
zeroed!(u32, u64, u128);
