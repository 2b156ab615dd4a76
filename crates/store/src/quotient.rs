//! Keys of one or two words in as few bytes as it takes to tell them apart: the memory-saving exact store.
//!
//! **Implements** a quotient table (J. G. Cleary, *Compact hash tables using bidirectional linear probing*, 1984, calls it a compact
//! hash table): the bits that any key has had are moved together, and up to 64 of them are mixed by a bijection. The mixed number as
//! a fraction of its range says the line, and only its place in the line's interval is kept, with the bits that were not mixed. A key
//! that does not find room in its line goes to one of the next seven and keeps the distance; if these are full, too, it goes to
//! a small set of whole keys.
//! **Preserves** everything: from line, distance and slot the key can be computed, and is when the table grows.
//! **Differs from the text** in that there are lines of the cache in place of single places, that any number of lines will do, and that the table grows in
//! place, by a quarter, from the last line down. When a key has a bit that none had before, all are put into a new table.
//! **Checked by** the tests below against a standard set, for many widths of keys.

use crate::lines::{FIRST_LINES, Lines};
use crate::mixing::{Squeeze, mix, ones, unmix};
use crate::{Entry, Full, KeySet};
use std::collections::HashSet;
use stubborn_system::Vector;

/// Bits of a distance, and how far a key may be from home.
const DISTANCE_BITS: u32 = 3;
const FARTHEST: usize = (1 << DISTANCE_BITS) - 1;

/// How full the table may get, and by which part of it it grows.
const FULL: (usize, usize) = (9, 10);
const GROWTH: usize = 4;

/// How keys are written down, for a number of lines.
#[derive(Clone, Copy, Debug)]
struct Shape<const N: usize> {
    /// The bits that keys have.
    squeezed: [Squeeze; N],
    /// How many bits are mixed.
    mixed: u32,
    n_lines: usize,
    /// Bits of a place in an interval; bytes of a slot; slots of a line.
    place: u32,
    bytes: usize,
    width: usize,
}

/// Where a key belongs, and what its slot has there.
#[derive(Clone, Copy, Debug)]
struct Spot {
    home: usize,
    slot: u128,
}

impl<const N: usize> Shape<N> {
    fn new(masks: [u64; N], n_lines: usize) -> Self {
        let squeezed = masks.map(Squeeze::new);
        let n_bits: u32 = squeezed.iter().map(Squeeze::n_bits).sum();
        let mixed = n_bits.min(64);
        let kept = n_bits - mixed;
        let last = ((1u128 << mixed) - 1) / n_lines as u128;
        let place = u128::BITS - last.leading_zeros();
        // The largest number of a slot is one more than all ones.
        let bits = kept + place + DISTANCE_BITS + 1;
        let bytes = (bits.div_ceil(8) as usize).max(5);
        Self { squeezed, mixed, n_lines, place, bytes, width: 64 / bytes }
    }

    /// The bits of a key: those that are mixed, and those that are not.
    #[inline]
    fn bits(&self, key: &[u64; N]) -> (u64, u64) {
        let mut bits = 0u128;
        for (squeeze, &word) in self.squeezed.iter().zip(key) {
            bits = bits << squeeze.n_bits() | u128::from(squeeze.squeeze(word));
        }
        (bits as u64 & ones(self.mixed), if N == 1 { 0 } else { (bits >> self.mixed) as u64 })
    }

    /// The key with these bits.
    fn key(&self, low: u64, high: u64) -> [u64; N] {
        let mut bits = u128::from(high) << self.mixed | u128::from(low);
        let mut key = [0; N];
        for (squeeze, word) in self.squeezed.iter().zip(&mut key).rev() {
            *word = squeeze.release(bits as u64 & ones(squeeze.n_bits()));
            bits >>= squeeze.n_bits();
        }
        key
    }

    /// What bits that are not mixed add to those that are, so that lines depend on all.
    #[inline]
    fn salt(&self, high: u64) -> u64 {
        if N == 1 { 0 } else { [high].hash64() & ones(self.mixed) }
    }

    #[inline]
    fn spot(&self, key: &[u64; N]) -> Spot {
        let (low, high) = self.bits(key);
        let fraction = u128::from(mix(low ^ self.salt(high), self.mixed)) * self.n_lines as u128;
        let home = (fraction >> self.mixed) as usize;
        let place = (fraction as u64 & ones(self.mixed)) / self.n_lines as u64;
        let slot = if N == 1 {
            u128::from((place << DISTANCE_BITS) + 1)
        } else {
            ((u128::from(high) << self.place | u128::from(place)) << DISTANCE_BITS) + 1
        };
        Spot { home, slot }
    }

    /// The distance from home that a slot tells.
    fn distance(slot: u128) -> usize {
        (slot - 1) as usize & FARTHEST
    }

    /// Where the interval of a line begins.
    fn start(&self, home: usize) -> u64 {
        ((home as u128) << self.mixed).div_ceil(self.n_lines as u128) as u64
    }

    /// The key of a slot whose home is the line with this interval.
    fn key_at(&self, start: u64, slot: u128) -> [u64; N] {
        let number = (slot - 1) >> DISTANCE_BITS;
        let place = number as u64 & ones(self.place);
        let high = (number >> self.place) as u64;
        let low = unmix(start + place, self.mixed) ^ self.salt(high);
        self.key(low, high)
    }

    /// Slot `i` of a line; zero if it is free.
    #[inline]
    fn read(&self, line: &[u64], i: usize) -> u128 {
        let bytes: &[u8] = bytemuck::cast_slice(line);
        let at = i * self.bytes;
        if self.bytes <= 8 {
            u128::from(word(bytes, at) & ones(8 * self.bytes as u32))
        } else {
            let high = word(bytes, at + self.bytes - 8) >> (8 * (16 - self.bytes));
            u128::from(high) << 64 | u128::from(word(bytes, at))
        }
    }

    fn write(&self, line: &mut [u64], i: usize, slot: u128) {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(line);
        bytes[i * self.bytes..][..self.bytes].copy_from_slice(&slot.to_le_bytes()[..self.bytes]);
    }

    /// Whether a slot is in a line, and else the first free place, if there is one.
    #[inline]
    fn look(&self, line: &[u64], slot: u128) -> Result<(), Option<usize>> {
        for i in 0..self.width {
            let there = self.read(line, i);
            if there == slot {
                return Ok(());
            }
            if there == 0 {
                return Err(Some(i));
            }
        }
        Err(None)
    }
}

/// Eight bytes of a line.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The store.
#[derive(Debug)]
pub struct Quotient<const N: usize> {
    shape: Shape<N>,
    /// There are as many more lines as a key may be away from home.
    lines: Lines<u64>,
    /// Keys for which there was no room near home.
    others: HashSet<[u64; N]>,
    n_states: usize,
    spots: Vec<Spot>,
}

impl<const N: usize> Quotient<N> {
    /// An empty store.
    pub fn new() -> Self {
        assert!(N == 1 || N == 2, "keys of one or two words");
        let shape = Shape::new([0; N], FIRST_LINES);
        Self { lines: table(FIRST_LINES), shape, others: HashSet::new(), n_states: 0, spots: Vec::new() }
    }

    /// The shape that so many states with these bits need.
    fn shape_for(&self, states: usize, masks: [u64; N]) -> Shape<N> {
        let mut shape = self.shape;
        if masks != self.masks() {
            shape = Shape::new(masks, shape.n_lines);
        }
        while shape.n_lines * shape.width / FULL.1 * FULL.0 < states {
            shape = Shape::new(masks, shape.n_lines + shape.n_lines / GROWTH);
        }
        shape
    }

    fn masks(&self) -> [u64; N] {
        self.shape.squeezed.map(|squeeze| squeeze.mask)
    }

    /// Inserts a key that belongs here; whether it was new.
    #[inline]
    fn find_or_insert(&mut self, spot: Spot, key: &[u64; N]) -> bool {
        for distance in 0..=FARTHEST {
            let slot = spot.slot + distance as u128;
            match self.shape.look(self.lines.line(spot.home + distance), slot) {
                Ok(()) => return false,
                Err(Some(free)) => {
                    self.shape.write(self.lines.line_mut(spot.home + distance), free, slot);
                    return true;
                }
                Err(None) => {}
            }
        }
        self.others.insert(*key)
    }

    /// The keys of a line, which is empty then.
    fn take(&mut self, shape: &Shape<N>, at: usize, out: &mut Vec<[u64; N]>) {
        out.clear();
        let line = self.lines.line_mut(at);
        // Most keys of a line have one home, so it is looked up once.
        let mut known = (usize::MAX, 0);
        for i in 0..shape.width {
            let slot = shape.read(line, i);
            if slot == 0 {
                break;
            }
            let home = at - Shape::<N>::distance(slot);
            if known.0 != home {
                known = (home, shape.start(home));
            }
            out.push(shape.key_at(known.1, slot));
        }
        line.fill(0);
    }

    /// Makes room in place. From the last line down, each goes to where there is nothing any more; a key whose new home
    /// is a line that is still to be taken waits for it.
    #[cold]
    fn grow(&mut self, shape: Shape<N>) -> Result<(), Full> {
        let old = std::mem::replace(&mut self.shape, shape);
        if !self.lines.grow(shape.n_lines + FARTHEST) {
            self.shape = old;
            return Err(Full::Memory { needed: self.needed(&shape) });
        }
        let (mut keys, mut waiting) = (Vec::new(), Vec::new());
        for at in (0..old.n_lines + FARTHEST).rev() {
            self.take(&old, at, &mut keys);
            for key in &keys {
                let spot = shape.spot(key);
                if spot.home < at {
                    waiting.push(*key);
                } else {
                    self.find_or_insert(spot, key);
                }
            }
        }
        let others = std::mem::take(&mut self.others);
        for key in waiting.iter().chain(&others) {
            self.find_or_insert(shape.spot(key), key);
        }
        Ok(())
    }

    /// Puts all keys into a new table, because they are written otherwise.
    #[cold]
    fn renew(&mut self, shape: Shape<N>) -> Result<(), Full> {
        let full = Full::Memory { needed: Lines::<u64>::bytes_for(shape.n_lines + FARTHEST) };
        let old = std::mem::replace(&mut self.shape, shape);
        let Some(lines) = try_table(shape.n_lines) else {
            self.shape = old;
            return Err(full);
        };
        let mut from = Self { shape: old, lines, others: HashSet::new(), n_states: 0, spots: Vec::new() };
        std::mem::swap(&mut from.lines, &mut self.lines);
        let mut keys = Vec::new();
        for at in 0..old.n_lines + FARTHEST {
            from.take(&old, at, &mut keys);
            for key in &keys {
                self.find_or_insert(shape.spot(key), key);
            }
        }
        for key in std::mem::take(&mut self.others) {
            self.find_or_insert(shape.spot(&key), &key);
        }
        Ok(())
    }

    /// Bytes that it takes to write keys in another way.
    fn needed(&self, shape: &Shape<N>) -> usize {
        let bytes = Lines::<u64>::bytes_for(shape.n_lines + FARTHEST);
        let is_new = shape.squeezed.map(|squeeze| squeeze.mask) != self.masks();
        if is_new { bytes } else { bytes.saturating_sub(self.lines.bytes()) }
    }
}

fn table(n: usize) -> Lines<u64> {
    Lines::new(n + FARTHEST, vec![0; Lines::<u64>::slots_for(n + FARTHEST)])
}

/// The same if the memory can be had.
fn try_table(n: usize) -> Option<Lines<u64>> {
    Some(Lines::new(n + FARTHEST, crate::lines::zeros(Lines::<u64>::slots_for(n + FARTHEST))?))
}

impl<const N: usize> Default for Quotient<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> KeySet<N> for Quotient<N> {
    fn insert(&mut self, keys: &[[u64; N]], room: usize, new: &mut Vec<u32>) -> Result<(), Full> {
        let most = self.n_states + keys.len();
        if most > Entry::MAX_STATES {
            return Err(Full::Numbers);
        }
        let mut masks = self.masks();
        for key in keys {
            masks.iter_mut().zip(key).for_each(|(mask, word)| *mask |= word);
        }
        let shape = self.shape_for(most, masks);
        let is_new = masks != self.masks();
        if is_new || shape.n_lines != self.shape.n_lines {
            let needed = self.needed(&shape);
            if needed > room {
                return Err(Full::Memory { needed });
            }
            if is_new { self.renew(shape)? } else { self.grow(shape)? }
        }
        let mut spots = std::mem::take(&mut self.spots);
        spots.clear();
        for key in keys {
            let spot = shape.spot(key);
            self.lines.prefetch(spot.home);
            spots.push(spot);
        }
        for (i, (&spot, key)) in spots.iter().zip(keys).enumerate() {
            if self.find_or_insert(spot, key) {
                self.n_states += 1;
                new.push(i as u32);
            }
        }
        self.spots = spots;
        Ok(())
    }

    fn len(&self) -> usize {
        self.n_states
    }

    fn bytes(&self) -> usize {
        let others = self.others.capacity() * (size_of::<[u64; N]>() + 1);
        self.lines.bytes() + others + self.spots.len() * size_of::<Spot>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{insert_both, takes_nothing_without_room};

    /// Keys of so many random bits, at places that a mask says.
    fn compare<const N: usize>(masks: [u64; N], n: usize) {
        let mut seed = 11u64;
        let mut store = Quotient::<N>::new();
        let mut set = HashSet::new();
        let mut round = 0;
        // Miri does the same with less.
        let (largest, haste) = if cfg!(miri) { (6, 64) } else { (131, 1) };
        while set.len() < n && round < 40 * n {
            let key = |_| {
                // Higher bits come later.
                let late = 64 - (round as u32 * haste / 8).min(63);
                masks.map(|mask| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (seed ^ seed >> 29) & mask & u64::MAX >> (late - 1)
                })
            };
            let keys: Vec<[u64; N]> = (0..round % largest).map(key).collect();
            insert_both(&mut store, &mut set, &keys);
            round += 1;
        }
        // Whatever is in the table can be read again.
        let shape = store.shape;
        let (mut keys, mut all) = (Vec::new(), std::mem::take(&mut store.others));
        for at in 0..shape.n_lines + FARTHEST {
            store.take(&shape, at, &mut keys);
            all.extend(keys.iter().copied());
        }
        assert!(all == set);
    }

    #[test]
    fn the_store_agrees_with_a_standard_set_while_it_grows() {
        // Miri does the same with less.
        let (most, some, step) = if cfg!(miri) { (40, 20, 26) } else { (12_288, 700, 1) };
        for mask in [0, 1, 0x8000, 0xffff, u64::MAX >> 1, 0x00ff_00ff_00ff_00ff, 0x7000_0000_0000_ffff] {
            compare([mask], ((1usize << mask.count_ones().min(14)) * 3 / 4).min(most));
        }
        for bits in (10..63).step_by(step) {
            compare([ones(bits) << (63 - bits)], some);
        }
        for masks in
            [[u64::MAX, u64::MAX >> 1], [0xffff, 0xff], [ones(40), ones(30)], [0, ones(20)], [u64::MAX, 0]]
        {
            compare(masks, most);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "a measurement, which takes a million states")]
    fn a_state_takes_ten_bytes_at_most() {
        for bits in [40, 50, 63] {
            let mut store = Quotient::<1>::new();
            let (mut new, mut worst, mut seed) = (Vec::new(), 0.0f64, 1u64);
            while store.len() < 1_000_000 {
                let key = |_| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    [mix(seed >> 1, 63) & ones(bits)]
                };
                let keys: Vec<[u64; 1]> = (0..200).map(key).collect();
                new.clear();
                store.insert(&keys, usize::MAX, &mut new).unwrap();
                if store.len() > 100_000 {
                    worst = worst.max(store.bytes() as f64 / store.len() as f64);
                }
            }
            println!("{bits} bits: at most {worst:.2} bytes, {} others", store.others.len());
            assert!(worst <= 10.0, "{bits} bits: {worst} bytes");
        }
    }

    #[test]
    fn a_store_without_room_takes_nothing() {
        let mut store = Quotient::<1>::new();
        takes_nothing_without_room(&mut store);
    }
}
