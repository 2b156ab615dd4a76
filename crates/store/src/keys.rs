//! Keys of a few words, and nothing else: the leanest exact store.
//!
//! **Implements** a table of whole keys in lines of 64 bytes: one look at one line tells whether a key is known. There are
//! no numbers, so it serves searches that keep no edges; who wants the way to a state searches again with
//! [`Exact`](crate::Exact). The highest bit of a key's last word must be zero: set, it marks a slot that is in use.
//! **Preserves** everything: keys are compared in full.
//! It doubles in place, line by line ([`Splitter`]).
//! **Checked by** the tests below against a standard set.

use crate::lines::{FIRST_LINES, Lines, home_of};
use crate::machine::with_widest;
use crate::regions::within_region;
use crate::scan::{Eyes, Plain, Sight};
use crate::split::Splitter;
use crate::{Entry, Full, KeySet};
use std::hint::select_unpredictable;
use stubborn_system::Vector;

/// Marks a slot in use.
pub(crate) const USED: u64 = 1 << 63;

/// Lines that are asked for ahead of time when the table grows.
const AHEAD: usize = 16;

/// The store of keys.
#[derive(Debug)]
pub struct Keys<const N: usize> {
    lines: Lines<u64>,
    n_states: usize,
    /// Where the keys at hand are looked for: the first slot of a line.
    places: Vec<usize>,
    /// Those that are looked for further on.
    late: Vec<u32>,
}

impl<const N: usize> Keys<N> {
    /// How full the table may get. Lines of few keys overflow sooner.
    const FULL: (usize, usize) = if N == 1 { (5, 6) } else { (3, 4) };

    /// An empty store.
    pub fn new() -> Self {
        Self::with_lines(FIRST_LINES)
    }

    /// An empty store of so many lines.
    pub(crate) fn with_lines(n: usize) -> Self {
        let lines = Lines::new(n, vec![0; Lines::<u64>::slots_for(n)]);
        Self { lines, n_states: 0, places: Vec::new(), late: Vec::new() }
    }

    /// How many lines there must be for a batch of keys that may all be new. If it is small, the table is a little fuller in the end.
    fn size_for(&self, batch: usize) -> usize {
        let ((part, of), mut n) = (Self::FULL, self.lines.n());
        let width = Lines::<u64>::WIDTH;
        while n * width / of * part < self.n_states * N || n * width < (self.n_states + batch) * N {
            n *= 2;
        }
        n
    }

    /// Makes it a table of twice as many lines.
    #[cold]
    fn double(&mut self) -> Result<(), Full> {
        let old = self.lines.n();
        if !self.lines.grow(2 * old) {
            return Err(Full::Memory { needed: Lines::<u64>::bytes_for(old) });
        }
        let mut splitter = Splitter::<N>::new(2 * old);
        for at in (0..old).rev() {
            self.lines.prefetch(at.saturating_sub(AHEAD));
            let line = self.lines.line(at).try_into().expect("a line has eight words");
            let halves = splitter.split(at, line);
            self.lines.two_lines_mut(2 * at).copy_from_slice(halves.as_flattened());
        }
        for slot in splitter.rest() {
            let mut line = self.lines.slot(home(&slot, 2 * old));
            while look_at::<Plain, N>(&mut self.lines, line, &slot) == Outcome::LATE {
                line = self.lines.slot_after(line);
            }
        }
        Ok(())
    }
}

/// The line of a table of `n` lines where a slot belongs.
#[inline(always)]
pub(crate) fn home<const N: usize>(slot: &[u64; N], n: usize) -> usize {
    let mut key = *slot;
    key[N - 1] &= !USED;
    home_of(within_region(key.hash64()), n)
}

/// What became of a key in a line: whether it is new and was put there, or may be in the next line.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Outcome {
    is_new: bool,
    is_late: bool,
}

impl Outcome {
    const LATE: Self = Self { is_new: false, is_late: true };
}

/// Looks for a key, as it is in a slot, in the line that begins there, and puts it there if it is new and there is room. There is no branch:
/// whether a key is new cannot be predicted.
#[inline(always)]
fn look_at<E: Eyes, const N: usize>(lines: &mut Lines<u64>, line: usize, wanted: &[u64; N]) -> Outcome {
    let slots = lines.slots_mut();
    let seen = E::look(slots[line..line + 8].try_into().expect("a line has eight words"), wanted);
    let is_full = seen.used == 8 / N;
    let is_new = !seen.is_there & !is_full;
    let slot = select_unpredictable(is_new, line + seen.used * N, slots.len() - 8);
    slots[slot..slot + N].copy_from_slice(wanted);
    Outcome { is_new, is_late: !seen.is_there & is_full }
}

/// A key as it is in a slot.
#[inline(always)]
fn slot_of<const N: usize>(key: &[u64; N]) -> [u64; N] {
    let mut slot = *key;
    slot[N - 1] |= USED;
    slot
}

/// Keys that are looked for; those that are new are put where they belong, and their places in the list appended.
struct Look<'a, const N: usize> {
    store: &'a mut Keys<N>,
    keys: &'a [[u64; N]],
    new: &'a mut Vec<u32>,
}

impl<const N: usize> Sight for Look<'_, N> {
    #[inline(always)]
    fn with<E: Eyes>(self) {
        let Look { store: Keys { lines, places, late, .. }, keys, new } = self;
        // Everything is noted, and what is not true is written over.
        let mut n_new = new.len();
        new.resize(n_new + keys.len(), 0);
        let mut n_late = 0;
        late.resize(keys.len(), 0);
        for (i, (key, &place)) in keys.iter().zip(places.iter()).enumerate() {
            let outcome = look_at::<E, N>(lines, place, &slot_of(key));
            new[n_new] = i as u32;
            n_new += usize::from(outcome.is_new);
            late[n_late] = i as u32;
            n_late += usize::from(outcome.is_late);
        }
        // Keys whose line is full may be in the next one. All of them one line further each time, so that the next lines are on
        // their way meanwhile; the same keys keep their order.
        while n_late > 0 {
            for &i in &late[..n_late] {
                let place = &mut places[i as usize];
                *place = lines.slot_after(*place);
                lines.prefetch_slot(*place);
            }
            let n = n_late;
            n_late = 0;
            for j in 0..n {
                let i = late[j];
                let outcome = look_at::<E, N>(lines, places[i as usize], &slot_of(&keys[i as usize]));
                new[n_new] = i;
                n_new += usize::from(outcome.is_new);
                late[n_late] = i;
                n_late += usize::from(outcome.is_late);
            }
        }
        new.truncate(n_new);
    }
}

impl<const N: usize> Default for Keys<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> KeySet<N> for Keys<N> {
    fn insert(&mut self, keys: &[[u64; N]], room: usize, new: &mut Vec<u32>) -> Result<(), Full> {
        let most = self.n_states + keys.len();
        if most > Entry::MAX_STATES {
            return Err(Full::Numbers);
        }
        let n = self.size_for(keys.len());
        let needed = Lines::<u64>::bytes_for(n) - Lines::<u64>::bytes_for(self.lines.n());
        if needed > room {
            return Err(Full::Memory { needed });
        }
        while self.lines.n() < n {
            self.double()?;
        }
        self.places.clear();
        self.places.extend(keys.iter().map(|key| {
            assert!(key[N - 1] & USED == 0, "the highest bit of a key is not free");
            let slot = self.lines.slot(self.lines.home(within_region(key.hash64())));
            self.lines.prefetch_slot(slot);
            slot
        }));
        let before = new.len();
        with_widest(Look { store: self, keys, new });
        self.n_states += new.len() - before;
        Ok(())
    }

    fn len(&self) -> usize {
        self.n_states
    }

    fn bytes(&self) -> usize {
        self.lines.bytes() + self.places.len() * 12
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{insert_both, takes_nothing_without_room};
    use std::collections::HashSet;

    fn compare<const N: usize>(bits: u32) {
        let mut seed = 11u64;
        let mut store = Keys::<N>::new();
        let mut set = HashSet::new();
        // Miri does the same with less.
        for round in 0..if cfg!(miri) { 11 } else { 700 } {
            let key = |_| {
                std::array::from_fn(|_| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    seed >> (64 - bits)
                })
            };
            let keys: Vec<[u64; N]> = (0..round % 131).map(key).collect();
            insert_both(&mut store, &mut set, &keys);
        }
        assert!(set.len() > if cfg!(miri) { 50 } else { 3_000 }, "{}", set.len());
    }

    #[test]
    fn the_store_agrees_with_a_standard_set_while_it_grows() {
        compare::<1>(14);
        compare::<1>(63);
        compare::<2>(7);
        compare::<2>(63);
        compare::<4>(4);
        compare::<4>(63);
    }

    #[test]
    fn a_store_without_room_takes_nothing() {
        let mut store = Keys::<1>::new();
        let n = takes_nothing_without_room(&mut store);
        assert!(store.bytes() < 20 * n);
    }
}
