//! States with which nothing is wrong, remembered by what was looked at.
//!
//! **Implements** the check of new states: that there is nothing to be said about a state is a function of what was looked at to find
//! it out. The bits of a key that were ever looked at, moved together, are the place of one bit that says so ([`Fine`]); if they are too many for
//! that, it is remembered as what agents do is. If it is not known, or something is wrong, the system itself is asked.
//! **Preserves** the answers.
//! **Checked by** `oracle/tests/all/packed.rs`, which compares them with those of the system.

use crate::Core;
use stubborn_system::{Rows, Unit, Vector};

/// Bits of keys that are looked at, at most, where each combination has a bit of its own.
const MOST_BITS: u32 = 20;

/// What is known of the states of a shape.
#[derive(Debug)]
pub(crate) struct Fine<const N: usize> {
    /// The bits that were looked at so far, as runs of neighbours.
    mask: [u64; N],
    runs: Vec<Run>,
    /// A bit for each combination: whether nothing is wrong.
    known: Vec<u64>,
    /// If there are too many: its number among what agents do.
    number: Option<usize>,
}

/// Some bits of a key that lie together, and where they go.
#[derive(Clone, Copy, Debug)]
struct Run {
    word: u8,
    /// The distance that they are moved to the right.
    shift: u8,
    /// Where they are then.
    mask: u64,
}

impl<const N: usize> Default for Fine<N> {
    fn default() -> Self {
        Self { mask: [0; N], runs: Vec::new(), known: vec![0], number: None }
    }
}

impl<const N: usize> Fine<N> {
    /// Where it is said whether nothing is wrong with a state: a word, and a bit of it.
    #[inline(always)]
    fn place(&self, key: &[u64; N]) -> (usize, u64) {
        let mut place = 0;
        for run in &self.runs {
            // Runs do not overlap where they go.
            place |= key[usize::from(run.word) & (N - 1)].rotate_right(u32::from(run.shift)) & run.mask;
        }
        ((place / 64) as usize, 1 << (place % 64))
    }

    /// Looks at these bits, too, from now on; what was known is forgotten. Whether they are not too many.
    fn look_at(&mut self, touched: &[u64; N]) -> bool {
        self.mask.iter_mut().zip(touched).for_each(|(mask, touched)| *mask |= touched);
        self.runs.clear();
        self.known.clear();
        let n_bits: u32 = self.mask.iter().map(|word| word.count_ones()).sum();
        if n_bits > MOST_BITS {
            return false;
        }
        let mut to = 0;
        for (word, &mask) in self.mask.iter().enumerate() {
            let mut left = mask;
            while left != 0 {
                let from = left.trailing_zeros();
                let n = (left >> from).trailing_ones();
                let run = (u64::MAX >> (64 - n)) << to;
                // To the left is to the right the other way round.
                self.runs.push(Run { word: word as u8, shift: ((64 + from - to) % 64) as u8, mask: run });
                left &= !((u64::MAX >> (64 - n)) << from);
                to += n;
            }
        }
        self.known.resize((1usize << n_bits).div_ceil(64), 0);
        true
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.known.len() * 8
    }
}

impl<S: Vector + ?Sized, const N: usize> Core<'_, S, N> {
    /// Whether it is known that nothing is wrong with a state.
    #[inline(always)]
    pub(crate) fn is_fine(&mut self, key: &[u64; N]) -> bool {
        let shape = self.codec.shape_of(key);
        if let Some(fine) = self.fine.get(shape) {
            let (word, bit) = fine.place(key);
            if fine.known.get(word).is_some_and(|known| known & bit != 0) {
                return true;
            }
        }
        self.is_fine_elsewhere(key, shape)
    }

    /// The same if it is not known by a bit.
    #[inline(never)]
    fn is_fine_elsewhere(&mut self, key: &[u64; N], shape: usize) -> bool {
        if self.fine.len() <= shape {
            self.fine.resize_with(shape + 1, Fine::default);
        }
        let known = self.fine[shape].number.map(|number| (number, self.memo.find(number, key)));
        match known {
            Some((_, Some(at))) => !self.memo.slot(at).is_unknown(),
            Some((number, None)) if self.memo.is_off(number) => false,
            _ => self.find_out(key, shape),
        }
    }

    #[cold]
    fn find_out(&mut self, key: &[u64; N], shape: usize) -> bool {
        let state = self.take_state(key);
        self.touched.clear();
        let is_fine = self.tracer.is_fine(state.get(0), &mut self.touched) == Some(true);
        self.give_state(key, state);
        let mut mask = [0; N];
        self.touched.iter().for_each(|&part| self.codec.mark(part, &mut mask));
        let fine = &mut self.fine[shape];
        if fine.number.is_none()
            && (0..N).any(|word| mask[word] & !fine.mask[word] != 0)
            && !fine.look_at(&mask)
        {
            fine.number = Some(self.memo.add_unit(Unit { code: 0, goes_on: false }, [0; N]));
        }
        match fine.number {
            Some(number) => {
                let nothing: &[_] = &[];
                self.memo.insert(number, key, &mask, is_fine.then_some(nothing));
            }
            None if is_fine => {
                let (word, bit) = fine.place(key);
                fine.known[word] |= bit;
            }
            None => {}
        }
        is_fine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_bits_that_are_looked_at_has_a_place_of_its_own() {
        for mask in [
            [0u64, 0],
            [1 << 63, 1],
            [0xf00f << 3, 0b1011 << 60],
            [0, 0b101_0000_0000_0111],
            [u64::MAX << 52, 0],
        ] {
            let mut fine = Fine::<2>::default();
            assert!(fine.look_at(&mask));
            let mut seen = std::collections::HashSet::new();
            // All subsets of the mask, by counting in its bits alone.
            let mut key = [0u64; 2];
            loop {
                let place = fine.place(&key);
                assert!(place.0 < fine.known.len() && seen.insert(place), "{mask:x?} {key:x?}");
                assert_eq!(place, fine.place(&[key[0] | !mask[0], key[1] | !mask[1]]), "others do not count");
                key[0] = (key[0] | !mask[0]).wrapping_add(1) & mask[0];
                if key[0] == 0 {
                    key[1] = (key[1] | !mask[1]).wrapping_add(1) & mask[1];
                    if key[1] == 0 {
                        break;
                    }
                }
            }
            assert_eq!(seen.len(), 1 << (mask[0].count_ones() + mask[1].count_ones()));
        }
        assert!(!Fine::<1>::default().look_at(&[u64::MAX >> 40]));
    }
}
