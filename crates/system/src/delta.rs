//! States in few bytes: each is written as what it differs in from a state shortly before it.
//!
//! States that a search finds one after the other have nearly everything in common. They lie in blocks of 64:
//! the first of a block is written in full, every eighth as its difference from the first, the others as
//! their difference from the eighth before them. So a state is read with one copy and at most two
//! differences, wherever it lies.
//!
//! A difference is the new length (a zero if it is that of the other state), then pieces: a byte with the
//! distance from the piece before (31 means that more follows) and the number of bytes, less one, then the
//! bytes. Behind its end a state is compared as if zeros followed.
//!
//! **Checked by** the test below against a plain list, and by every count of a search over byte vectors.

use crate::vector::{Archive, FlatRows};

/// States in a block, and in a group within it.
const BLOCK: usize = 64;
const GROUP: usize = 8;

/// The largest distance in the first byte of a piece.
const FAR: usize = 31;

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
    fn row(&self, i: usize) -> &[u8] {
        let end = if i + 1 == self.n_states { self.data.len() } else { self.start(i + 1) };
        &self.data[self.start(i)..end]
    }

    #[inline]
    fn decode(&self, i: usize, out: &mut Vec<u8>) {
        let (block, group) = (i - i % BLOCK, i - i % GROUP);
        out.clear();
        out.extend_from_slice(self.row(block));
        if group != block {
            apply(self.row(group), out);
        }
        if i != group {
            apply(self.row(i), out);
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
        // At worst every eighth byte is the beginning of a piece.
        self.data.try_reserve(states.saturating_mul(len + len / 8 + 16)).is_ok()
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
    write_number(if state.len() == other.len() { 0 } else { state.len() + 1 }, out);
    let is_same = |at: usize| state[at] == other.get(at).copied().unwrap_or(0);
    let (mut at, mut done) = (0, 0);
    loop {
        at = skip_words(other, state, at);
        while at < state.len() && is_same(at) {
            at += 1;
            if at.is_multiple_of(8) {
                at = skip_words(other, state, at);
            }
        }
        if at >= state.len() {
            return;
        }
        let from = at;
        while at < state.len() && at - from < 8 && !is_same(at) {
            at += 1;
        }
        let gap = from - done;
        out.push((gap.min(FAR) << 3 | (at - from - 1)) as u8);
        if gap >= FAR {
            write_number(gap - FAR, out);
        }
        out.extend_from_slice(&state[from..at]);
        done = at;
    }
}

/// The first place from `at` on that is not the beginning of eight equal bytes.
#[inline]
fn skip_words(other: &[u8], state: &[u8], mut at: usize) -> usize {
    while at + 8 <= state.len().min(other.len()) && state[at..at + 8] == other[at..at + 8] {
        at += 8;
    }
    at
}

/// Makes the other state from `state` and a difference.
#[inline]
fn apply(row: &[u8], state: &mut Vec<u8>) {
    let mut from = 0;
    let length = read_number(row, &mut from);
    if length > 0 {
        state.resize(length - 1, 0);
    }
    let mut at = 0;
    while from < row.len() {
        let piece = row[from];
        from += 1;
        let gap = usize::from(piece >> 3);
        at += if gap < FAR { gap } else { FAR + read_number(row, &mut from) };
        for _ in 0..=piece & 7 {
            state[at] = row[from];
            at += 1;
            from += 1;
        }
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
