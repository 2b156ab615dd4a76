//! A table of keys that several threads fill at the same time, without locks.
//!
//! **Implements** lines of 64 bytes as in [`Keys`](crate::Keys). Slots are taken from left to right and never given back. A key of
//! one word is put into a free slot by one compare-and-swap. Of a longer key the last word is claimed first, by a mark that is not
//! the end of any key; then the other words are written, and last the last word, which makes the slot valid. The mark is a
//! function of the key: who sees another one knows that the slot will have another key, and goes on.
//! **Preserves** everything: keys are compared in full. A thread passes by a slot only if it has another key, now and for
//! ever, so a key can only be in the first slot that was free for it, and is new for exactly one thread. Only who finds the mark of
//! the very key that it wants waits for the other thread, which has at most three words left to write.
//! **Checked by** `oracle/tests/shared_table.rs`, which explores every interleaving of two and three threads on small tables, and
//! finds that a slot which is made valid too early, or claimed by a read and a write, would be wrong.

use crate::lines::home_of;
use crate::machine::prefetch;
use crate::sorter::Sorter;
use crate::word::Word;
use std::marker::PhantomData;
use std::ops::Range;
use stubborn_system::Vector;

/// Marks a slot that is valid.
const USED: u64 = 1 << 63;

/// Words in a line.
const LINE: usize = 8;

/// Numbers of lines are powers of two, or three times that: whatever they are, lines of two tables begin together after so many.
const STEP: usize = 6;

/// Lines that one thread moves alone.
const ALONE: usize = if cfg!(test) { 50 } else { 1 << 14 };

/// How a slot is taken. A type, so that tests can plant mistakes.
pub trait Protocol {
    /// Claims a slot whose last word this is, if it is free; the word as it is if not.
    #[inline]
    fn claim<W: Word>(last: &W, mark: u64) -> Result<(), u64> {
        last.claim(mark)
    }

    /// Writes a key into a slot that is claimed.
    #[inline]
    fn publish<W: Word, const N: usize>(slot: &[W], key: &[u64; N]) {
        for (word, &value) in slot.iter().zip(key) {
            word.store(value);
        }
    }
}

/// The right one.
#[derive(Debug)]
pub struct LastWordLast;

impl Protocol for LastWordLast {}

/// The table. The highest bit of a key's last word must be zero.
#[derive(Debug)]
pub struct Table<W, const N: usize, P = LastWordLast> {
    words: Vec<W>,
    /// First word of the first line.
    base: usize,
    n: usize,
    protocol: PhantomData<fn(P)>,
}

/// What became of a key in a line.
enum Seen {
    New,
    Known,
    Full,
}

impl<W: Word + Send, const N: usize, P: Protocol> Table<W, N, P> {
    /// An empty table of so many lines.
    pub fn new(n: usize) -> Self {
        let words = (0..Self::words_for(n)).map(|_| W::new(0)).collect::<Vec<_>>();
        let mut table = Self { words, base: 0, n, protocol: PhantomData };
        table.base = table.aligned();
        table
    }

    /// How many words a table of `n` lines is made of.
    fn words_for(n: usize) -> usize {
        LINE * (n + 1)
    }

    /// Bytes that a table of `n` lines takes.
    pub(crate) fn bytes_for(n: usize) -> usize {
        Self::words_for(n) * size_of::<W>()
    }

    /// Where the first line must begin to be a line of the cache.
    fn aligned(&self) -> usize {
        let misaligned = self.words.as_ptr() as usize % 64;
        if misaligned == 0 || size_of::<W>() != 8 { 0 } else { (64 - misaligned) / 8 }
    }

    /// How many lines there are.
    pub fn n(&self) -> usize {
        self.n
    }

    #[inline]
    fn line(&self, at: usize) -> &[W] {
        &self.words[self.base + at * LINE..][..LINE]
    }

    fn next(&self, at: usize) -> usize {
        if at + 1 == self.n { 0 } else { at + 1 }
    }

    /// Has the line of a key brought near.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(self.words.as_ptr().wrapping_add(self.base + home_of(hash, self.n) * LINE).cast());
    }

    /// Inserts a key with its hash; whether it was new. There must be room for one key more than there are, with those that other threads
    /// are inserting.
    #[inline]
    pub fn insert(&self, hash: u64, key: &[u64; N]) -> bool {
        assert!(key[N - 1] & USED == 0, "the highest bit of a key is not free");
        let mut wanted = *key;
        wanted[N - 1] |= USED;
        let mut at = home_of(hash, self.n);
        loop {
            let line = self.line(at);
            let seen =
                if N == 1 { Self::look_at_words(line, wanted[0]) } else { Self::look(line, hash, &wanted) };
            match seen {
                Seen::New => return true,
                Seen::Known => return false,
                Seen::Full => at = self.next(at),
            }
        }
    }

    /// A line of keys of one word.
    #[inline]
    fn look_at_words(line: &[W], wanted: u64) -> Seen {
        // All of them, without a branch.
        let words: [u64; LINE] = std::array::from_fn(|i| line[i].load());
        if words.iter().fold(false, |found, &word| found | (word == wanted)) {
            return Seen::Known;
        }
        // The first that was free, not the number of those in use: others may have been taken while these were read.
        let free = words.iter().position(|&word| word == 0).unwrap_or(LINE);
        // What was free may be taken by now, and what comes after it, too.
        for word in &line[free..] {
            match P::claim(word, wanted) {
                Ok(()) => return Seen::New,
                Err(other) if other == wanted => return Seen::Known,
                Err(_) => {}
            }
        }
        Seen::Full
    }

    /// A line of keys of several words.
    #[inline]
    fn look(line: &[W], hash: u64, wanted: &[u64; N]) -> Seen {
        let mark = hash >> 1 | 1;
        for slot in line.chunks_exact(N) {
            let mut last = slot[N - 1].load();
            if last == 0 {
                match P::claim(&slot[N - 1], mark) {
                    Ok(()) => {
                        P::publish(slot, wanted);
                        return Seen::New;
                    }
                    Err(other) => last = other,
                }
            }
            let mut n = 0;
            while last == mark {
                W::wait(n);
                n += 1;
                last = slot[N - 1].load();
            }
            if last == wanted[N - 1] && (0..N - 1).all(|i| slot[i].load() == wanted[i]) {
                return Seen::Known;
            }
        }
        Seen::Full
    }

    /// Makes it a table of `n` lines, in place, by so many threads; `false` if the memory cannot be had. Lines are in the order of
    /// hashes, so from the last one down each goes to where there is nothing any more; keys that had overflowed, or would, are put
    /// back at the end.
    pub fn grow(&mut self, n: usize, n_threads: usize) -> bool {
        let (start, old) = (self.base, self.n);
        if self.words.try_reserve_exact(Self::words_for(n) - self.words.len()).is_err() {
            return false;
        }
        self.words.resize_with(Self::words_for(n), || W::new(0));
        // Memory that moved may be aligned otherwise.
        self.base = self.aligned();
        self.shift(start, old);
        self.n = n;
        let mut left_over: Vec<[u64; N]> = Vec::new();
        let mut end = old;
        // Lines from `first` on go to `end` or beyond, where there is nothing: they can go at the same time.
        while n_threads > 1 && end > ALONE {
            let first = (end * old).div_ceil(n).next_multiple_of(STEP).min(end);
            self.move_together(first..end, old, n_threads, &mut left_over);
            end = first;
        }
        left_over.extend(self.move_lines(0..end, old));
        for mut key in left_over {
            let hash = key.hash64();
            key[N - 1] |= USED;
            self.place(hash, &key);
        }
        true
    }

    /// Moves lines of a table that had `old` of them, each thread some that lie together. Where they go does not overlap: lines of
    /// the old and of the new table begin together at every multiple of [`STEP`].
    fn move_together(&self, lines: Range<usize>, old: usize, n_threads: usize, out: &mut Vec<[u64; N]>) {
        let share = lines.len().div_ceil(n_threads).next_multiple_of(STEP);
        let move_share = |first: usize| self.move_lines(first..(first + share).min(lines.end), old);
        std::thread::scope(|scope| {
            let firsts = lines.clone().step_by(share).skip(1);
            let others: Vec<_> = firsts.map(|first| scope.spawn(move || move_share(first))).collect();
            out.extend(move_share(lines.start));
            for other in others {
                // A thread that panicked has lost keys, so this one must not go on.
                out.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
    }

    /// Moves whole groups of lines of a table that had `old` of them; the keys that are left over.
    fn move_lines(&self, lines: Range<usize>, old: usize) -> Vec<[u64; N]> {
        let mut sorter = Sorter::<N>::new(old, self.n);
        for group in sorter.groups(lines).rev() {
            for at in sorter.from(group) {
                let line = self.line(at);
                sorter.take(at, &std::array::from_fn(|i| line[i].load()));
            }
            for (at, line) in sorter.give(group) {
                self.line(at).iter().zip(line).for_each(|(word, &value)| word.store(value));
            }
        }
        sorter.rest()
    }

    fn line_mut(&mut self, at: usize) -> &mut [W] {
        &mut self.words[self.base + at * LINE..][..LINE]
    }

    /// Moves `n` lines from where they began at word `start`.
    fn shift(&mut self, start: usize, n: usize) {
        let base = self.base;
        let mut go =
            |i: usize| *self.words[base + i].get_mut() = std::mem::take(self.words[start + i].get_mut());
        match base.cmp(&start) {
            std::cmp::Ordering::Less => (0..n * LINE).for_each(go),
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => (0..n * LINE).rev().for_each(&mut go),
        }
    }

    /// Puts a slot whose key is new into the first free place.
    fn place(&mut self, hash: u64, slot: &[u64]) {
        let mut at = home_of(hash, self.n);
        loop {
            for place in self.line_mut(at).chunks_exact_mut(N) {
                if *place[N - 1].get_mut() == 0 {
                    place.iter_mut().zip(slot).for_each(|(word, &value)| *word.get_mut() = value);
                    return;
                }
            }
            at = self.next(at);
        }
    }
}
