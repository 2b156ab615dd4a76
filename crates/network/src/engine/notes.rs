//! What is noted while successors are made: that something went wrong, and, if anybody wants to know, which bytes of
//! the state were looked at or changed.
//!
//! What a process can do depends on the state through the bytes that are noted here and on where the segments lie,
//! and on nothing else. So every read and every write of a state goes by [`Notes::touch`].

use std::cell::Cell;
use std::ops::Range;

#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) trouble: Cell<bool>,
    is_tracing: bool,
    /// A bit for each byte of the state at hand.
    touched: Vec<Cell<u64>>,
}

impl Notes {
    /// Begins to trace what is done with a state of `length` bytes.
    pub(super) fn trace(&mut self, length: usize) {
        self.is_tracing = true;
        self.touched.clear();
        self.touched.resize(length.div_ceil(64), Cell::new(0));
    }

    /// Traces no more.
    pub(super) fn rest(&mut self) {
        self.is_tracing = false;
    }

    /// Notes that `n` bytes from `at` on are read or written. Bytes that the state at hand does not have were made on
    /// the way.
    #[inline]
    pub(super) fn touch(&self, at: usize, n: usize) {
        if self.is_tracing {
            self.mark(at, n);
        }
    }

    #[cold]
    fn mark(&self, at: usize, n: usize) {
        for byte in at..at + n {
            if let Some(word) = self.touched.get(byte / 64) {
                word.set(word.get() | 1 << (byte % 64));
            }
        }
    }

    /// The bytes that were touched, of so many, as ranges.
    pub(super) fn ranges(&self, length: usize) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        std::iter::from_fn(move || {
            let start = self.next(end, length, 0).filter(|&start| start < length)?;
            end = self.next(start, length, u64::MAX).map_or(length, |end| end.min(length));
            Some(start..end)
        })
    }

    /// The first byte from `at` on whose bit is not that of a word.
    fn next(&self, at: usize, length: usize, word: u64) -> Option<usize> {
        let mut from = u64::MAX << (at % 64);
        (at / 64..length.div_ceil(64)).find_map(|i| {
            let others = (self.touched[i].get() ^ word) & std::mem::replace(&mut from, u64::MAX);
            (others != 0).then(|| i * 64 + others.trailing_zeros() as usize)
        })
    }

    /// Whether one of the bytes from `start` to `end` was touched.
    pub(super) fn is_touched(&self, start: usize, end: usize) -> bool {
        (start..end)
            .any(|byte| self.touched.get(byte / 64).is_some_and(|word| word.get() >> (byte % 64) & 1 != 0))
    }
}
