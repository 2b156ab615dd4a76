//! States in few bytes: each is written as what it differs in from a state shortly before it.
//!
//! States that a search finds one after the other have nearly everything in common. They lie in blocks of 64:
//! the first of a block is written in full, every eighth as its difference from the first, the others as
//! their difference from the eighth before them. So a state is read with one copy and at most two
//! differences, wherever it lies.
//!
//! A difference is the number of its pairs and then the pairs: how many bytes are equal, and the byte that
//! follows them. Pairs are longer than pieces of several bytes would be, and faster: reading is one loop
//! without a decision. Where more than [`FAR`] bytes are equal, a pair says only that. A difference of states of
//! different lengths, or of many pairs, begins with [`LONG`], the length, and the number of pairs. Behind its
//! end a state is compared as if zeros followed.
//!
//! **Checked by** the test below against a plain list, and by every count of a search over byte vectors.

use crate::vector::{Archive, FlatRows};

/// States in a block, and in a group within it.
const BLOCK: usize = 64;
const GROUP: usize = 8;

/// In a pair: this many bytes are equal, and no other follows.
const FAR: usize = 255;

/// In place of a number of pairs: length and number follow.
const LONG: u8 = 255;

/// Byte vectors, written as differences.
#[derive(Clone, Debug, Default)]
pub struct Deltas {
    data: Vec<u8>,
    /// Where each block begins.
    blocks: Vec<usize>,
    /// Where each state begins, from the beginning of its block.
    starts: Starts,
    n_states: usize,
    /// The first state of the last block, and that of the last group.
    block: Vec<u8>,
    group: Vec<u8>,
}

/// Small as long as all of them are.
#[derive(Clone, Debug)]
enum Starts {
    Narrow(Vec<u16>),
    Wide(Vec<u32>),
}

impl Default for Starts {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl Starts {
    #[inline]
    fn get(&self, i: usize) -> usize {
        match self {
            Self::Narrow(list) => usize::from(list[i]),
            Self::Wide(list) => list[i] as usize,
        }
    }

    fn push(&mut self, start: usize) {
        match self {
            Self::Narrow(list) => match u16::try_from(start) {
                Ok(start) => list.push(start),
                Err(_) => {
                    let mut wide: Vec<u32> = list.iter().map(|&start| u32::from(start)).collect();
                    wide.push(start as u32);
                    *self = Self::Wide(wide);
                }
            },
            Self::Wide(list) => list.push(start as u32),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Narrow(list) => 2 * list.len(),
            Self::Wide(list) => 4 * list.len(),
        }
    }
}

impl Deltas {
    #[inline]
    fn start(&self, i: usize) -> usize {
        self.blocks[i / BLOCK] + self.starts.get(i)
    }

    #[inline]
    fn decode(&self, i: usize, out: &mut Vec<u8>) {
        let (block, group) = (i - i % BLOCK, i - i % GROUP);
        let data = &self.data[self.blocks[i / BLOCK]..];
        let mut at = 0;
        let length = read_number(data, &mut at);
        out.clear();
        out.extend_from_slice(&data[at..at + length]);
        if group != block {
            apply(&data[self.starts.get(group)..], out);
        }
        if i != group {
            apply(&data[self.starts.get(i)..], out);
        }
    }
}

impl Archive<[u8]> for Deltas {
    fn push(&mut self, state: &[u8]) {
        let i = self.n_states;
        if i.is_multiple_of(BLOCK) {
            self.blocks.push(self.data.len());
        }
        self.starts.push(self.data.len() - self.blocks[i / BLOCK]);
        if i.is_multiple_of(BLOCK) {
            write_number(state.len(), &mut self.data);
            self.data.extend_from_slice(state);
            self.block.clear();
            self.block.extend_from_slice(state);
        } else if i.is_multiple_of(GROUP) {
            difference(&self.block, state, &mut self.data);
        } else {
            difference(&self.group, state, &mut self.data);
        }
        if i.is_multiple_of(GROUP) {
            self.group.clear();
            self.group.extend_from_slice(state);
        }
        self.n_states += 1;
    }

    #[inline]
    fn read<'a>(&'a self, i: usize, room: &'a mut FlatRows<u8>) -> &'a [u8] {
        assert!(i < self.n_states, "state {i} of {}", self.n_states);
        room.only(|out| self.decode(i, out))
    }

    #[inline]
    fn touch(&self, i: usize, mut hint: impl FnMut(*const u8)) {
        let address = |i: usize| self.data.as_ptr().wrapping_add(self.start(i));
        hint(address(i));
        hint(address(i - i % GROUP));
        hint(address(i - i % BLOCK));
    }

    fn len(&self) -> usize {
        self.n_states
    }

    fn bytes(&self) -> usize {
        self.data.len() + self.blocks.len() * size_of::<usize>() + self.starts.bytes()
    }

    fn try_reserve(&mut self, states: usize, len: usize) -> bool {
        // At worst every byte is a pair.
        self.data.try_reserve(states.saturating_mul(2 * len + 24)).is_ok()
    }
}

/// Appends a number, seven bits to a byte.
fn write_number(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number at `at`, and moves on.
#[inline]
fn read_number(row: &[u8], at: &mut usize) -> usize {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = row[*at];
        *at += 1;
        number |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return number;
        }
        shift += 7;
    }
}

/// Appends what `state` differs in from `other`.
fn difference(other: &[u8], state: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let is_written = state.len() == other.len() && {
        out.push(0);
        let n_pairs = write_pairs(other, state, out);
        out[start] = n_pairs.min(usize::from(LONG)) as u8;
        n_pairs < usize::from(LONG)
    };
    if !is_written {
        out.truncate(start);
        out.push(LONG);
        write_number(state.len(), out);
        // The number of pairs is known at the end; four digits are enough for a vector of 2^28 bytes.
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        let n_pairs = write_pairs(other, state, out);
        let digit = |place: usize| (n_pairs >> (7 * place)) as u8 & 0x7f;
        let digits = [digit(0) | 0x80, digit(1) | 0x80, digit(2) | 0x80, digit(3)];
        out[at..at + 4].copy_from_slice(&digits);
    }
}

/// Appends pairs; how many.
fn write_pairs(other: &[u8], state: &[u8], out: &mut Vec<u8>) -> usize {
    let start = out.len();
    // The first byte behind the last pair.
    let mut done = 0;
    let mut pair = |at: usize, byte: u8| {
        while at - done >= FAR {
            out.extend_from_slice(&[FAR as u8, 0]);
            done += FAR;
        }
        out.extend_from_slice(&[(at - done) as u8, byte]);
        done = at + 1;
    };
    let common = state.len().min(other.len()) / 8 * 8;
    let both = state[..common].as_chunks::<8>().0.iter().zip(other[..common].as_chunks::<8>().0);
    for (word, (a, b)) in both.enumerate() {
        let mut different = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        while different != 0 {
            let byte = different.trailing_zeros() as usize / 8;
            pair(8 * word + byte, a[byte]);
            different &= !(0xff << (8 * byte));
        }
    }
    for (at, &byte) in state.iter().enumerate().skip(common) {
        if byte != other.get(at).copied().unwrap_or(0) {
            pair(at, byte);
        }
    }
    (out.len() - start) / 2
}

/// Makes the other state from `state` and a difference, with which `data` begins.
#[inline]
fn apply(data: &[u8], state: &mut Vec<u8>) {
    let (mut from, mut n_pairs) = (1, usize::from(data[0]));
    if data[0] == LONG {
        state.resize(read_number(data, &mut from), 0);
        n_pairs = read_number(data, &mut from);
    }
    let mut at = 0;
    for pair in data[from..from + 2 * n_pairs].chunks_exact(2) {
        at += usize::from(pair[0]);
        if pair[0] == FAR as u8 {
            continue;
        }
        state[at] = pair[1];
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rows;

    /// A small generator with a fixed seed.
    fn random(seed: &mut u64, below: u64) -> usize {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((*seed >> 33) % below) as usize
    }

    /// States that change here and there, now and then their length, and rarely everything.
    fn states(seed: &mut u64, longest: u64) -> Vec<Vec<u8>> {
        let mut state = vec![0; random(seed, longest)];
        let next = |_| {
            match random(seed, 20) {
                0 => state.resize(random(seed, longest), 7),
                1 => state.iter_mut().for_each(|byte| *byte = random(seed, 256) as u8),
                2 => state.iter_mut().for_each(|byte| *byte = 0),
                n => {
                    for _ in 0..n / 4 {
                        if !state.is_empty() {
                            let at = random(seed, state.len() as u64);
                            state[at] = random(seed, 256) as u8;
                        }
                    }
                }
            }
            state.clone()
        };
        (0..1000).map(next).collect()
    }

    #[test]
    fn what_is_kept_is_read_again() {
        let mut seed = 1;
        for longest in [1, 2, 9, 40, 300, 5000] {
            let states = states(&mut seed, longest);
            let mut kept = Deltas::default();
            let mut room = FlatRows::default();
            room.push(b"something else");
            states.iter().for_each(|state| kept.push(state));
            assert_eq!(kept.len(), states.len());
            for (i, state) in states.iter().enumerate().rev() {
                assert_eq!(kept.read(i, &mut room), state.as_slice(), "state {i}");
                assert_eq!((room.len(), room.get(0)), (1, state.as_slice()));
            }
            let is_wide = matches!(kept.starts, Starts::Wide(_));
            assert_eq!(is_wide, longest == 5000, "both kinds of offsets are used");
        }
    }

    #[test]
    fn neighbours_that_differ_in_one_byte_take_few_bytes() {
        let mut kept = Deltas::default();
        for i in 0..6400u32 {
            let mut state = [5; 100];
            state[(i % 100) as usize] = i as u8;
            kept.push(&state);
        }
        assert!(kept.bytes() < 6400 * 11, "{} bytes", kept.bytes());
    }
}
