//! A table of slots in lines of 64 bytes, aligned to the lines of the cache.
//!
//! Zeroed memory comes from the system for free, which a vector of an aligned type would not give; so the
//! alignment is done by an offset.

use crate::machine::prefetch;

/// Lines of a new table. Under Miri, which does little, tables are to grow soon.
pub(crate) const FIRST_LINES: usize = if cfg!(miri) { 4 } else { 1 << 6 };

/// Lines of slots of type `T`, all zero at first. A line is filled from the left, so a zero slot
/// ends it; a full line overflows into the next.
#[derive(Clone, Debug)]
pub(crate) struct Lines<T> {
    slots: Vec<T>,
    /// First slot of the first line.
    base: usize,
    n: usize,
}

impl<T: Copy + Default + PartialEq> Lines<T> {
    /// Slots in a line.
    pub(crate) const WIDTH: usize = 64 / size_of::<T>();

    /// Bytes that a table of `n` lines takes.
    pub(crate) fn bytes_for(n: usize) -> usize {
        64 * n + 128
    }

    /// A new table.
    pub(crate) fn new(n: usize, zero: Vec<T>) -> Self {
        let misaligned = zero.as_ptr() as usize % 64;
        let base = if misaligned == 0 { 0 } else { (64 - misaligned) / size_of::<T>() };
        Self { slots: zero, base, n }
    }

    /// How many slots a new table of `n` lines must be given.
    pub(crate) fn slots_for(n: usize) -> usize {
        Self::WIDTH * (n + 2)
    }

    /// The size at which so many states fill no more than this part of the slots: a power of two, or one and a half times
    /// that. Tables that grow by half or a third waste less than tables that double.
    pub(crate) fn size_for(&self, states: usize, full: (usize, usize)) -> usize {
        Self::size_from(self.n, states, full)
    }

    /// The same for a table that has `n` lines now.
    pub(crate) fn size_from(mut n: usize, states: usize, (part, of): (usize, usize)) -> usize {
        while n * Self::WIDTH / of * part < states {
            n = if n.is_power_of_two() { n + n / 2 } else { n / 3 * 4 };
        }
        n
    }

    /// How many lines there are.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<T>()
    }

    /// The line where a state with this hash belongs.
    #[inline]
    pub(crate) fn home(&self, hash: u64) -> usize {
        home_of(hash, self.n)
    }

    #[inline]
    pub(crate) fn next(&self, line: usize) -> usize {
        if line + 1 == self.n { 0 } else { line + 1 }
    }

    #[inline]
    pub(crate) fn line(&self, line: usize) -> &[T] {
        &self.slots[self.base + line * Self::WIDTH..][..Self::WIDTH]
    }

    /// The first slot of a line.
    #[inline]
    pub(crate) fn slot(&self, line: usize) -> usize {
        self.base + line * Self::WIDTH
    }

    /// The first slot of the line after the one that begins there.
    #[inline]
    pub(crate) fn slot_after(&self, slot: usize) -> usize {
        let next = slot + Self::WIDTH;
        if next == self.slot(self.n) { self.base } else { next }
    }

    /// Has the line that begins with this slot brought near.
    #[inline]
    pub(crate) fn prefetch_slot(&self, slot: usize) {
        prefetch(self.slots.as_ptr().wrapping_add(slot).cast());
    }

    /// All slots. Behind the lines there is one more that belongs to nobody: what is written there is not read.
    #[inline]
    pub(crate) fn slots_mut(&mut self) -> &mut [T] {
        &mut self.slots
    }

    #[inline]
    pub(crate) fn line_mut(&mut self, line: usize) -> &mut [T] {
        &mut self.slots[self.base + line * Self::WIDTH..][..Self::WIDTH]
    }

    /// A line and the next.
    #[inline]
    pub(crate) fn two_lines_mut(&mut self, line: usize) -> &mut [T] {
        &mut self.slots[self.base + line * Self::WIDTH..][..2 * Self::WIDTH]
    }

    #[inline]
    pub(crate) fn prefetch(&self, line: usize) {
        prefetch(self.slots.as_ptr().wrapping_add(self.base + line * Self::WIDTH).cast());
    }

    /// Adds empty lines at the end, up to `n` in all; `false` if the memory cannot be had.
    pub(crate) fn grow(&mut self, n: usize) -> bool {
        let (start, end) = (self.base, self.base + self.n * Self::WIDTH);
        let more = Self::slots_for(n).saturating_sub(self.slots.len());
        if self.slots.try_reserve_exact(more).is_err() {
            return false;
        }
        // What was written where nobody reads may be read now.
        let spare = self.slots.len() - Self::WIDTH;
        self.slots[spare..].fill(T::default());
        self.slots.resize(Self::slots_for(n), T::default());
        // Memory that moved may be aligned otherwise.
        let misaligned = self.slots.as_ptr() as usize % 64;
        let base = if misaligned == 0 { 0 } else { (64 - misaligned) / size_of::<T>() };
        if base != self.base {
            self.slots.copy_within(start..end, base);
            let stale = if base < start { base + (end - start)..end } else { start..base };
            self.slots[stale].fill(T::default());
        }
        (self.base, self.n) = (base, n);
        true
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

/// The line of `n` where a state with this hash belongs: the hash as a fraction.
#[inline]
pub(crate) fn home_of(hash: u64, n: usize) -> usize {
    ((u128::from(hash) * n as u128) >> 64) as usize
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
