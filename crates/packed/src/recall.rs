//! Functions of states, remembered by the parts that they look at.
//!
//! **Implements** a memory for whoever asks the same of every state, such as which propositions hold: the first time the state
//! behind the key is looked at, and the bytes that were read are noted; later the bits of all parts that were ever looked at tell
//! one answer from another. When one more part is looked at than before, everything is forgotten.
//! **Preserves** the answers exactly: each depends on the shape and on the parts that it looked at, all of which are compared.
//! **Checked by** `oracle/tests/all/recall.rs`, which compares with the states and finds a function that does not tell all that it
//! looks at.

use crate::Packed;
use std::ops::Range;
use stubborn_system::System;

/// Answers that are remembered, at most.
const MOST: usize = 1 << 16;

/// Makes hashes.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// What was answered so far.
#[derive(Debug)]
pub struct Recall<const N: usize, T> {
    /// The bits of the shape and of what was looked at.
    mask: [u64; N],
    /// What is known: open addressing, a power of two, at most half full.
    slots: Vec<Slot<N, T>>,
    shift: u32,
    n: usize,
    /// Whether it is not known what answers depend on.
    is_off: bool,
    /// Room to work in.
    bytes: Vec<Range<usize>>,
    touched: Vec<u16>,
}

/// What was answered for keys whose bits look like this; `None` if the slot is free.
#[derive(Clone, Copy, Debug)]
struct Slot<const N: usize, T> {
    key: [u64; N],
    answer: Option<T>,
}

/// The distance of the highest bit of a hash: for two slots.
const TWO: u32 = 63;

impl<const N: usize, T> Default for Recall<N, T> {
    fn default() -> Self {
        let (bytes, touched) = (Vec::new(), Vec::new());
        Self { mask: [0; N], slots: Vec::new(), shift: TWO, n: 0, is_off: false, bytes, touched }
    }
}

impl<const N: usize, T: Copy> Recall<N, T> {
    /// How many answers are remembered.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Remembers nothing more.
    pub fn rest(&mut self) {
        self.is_off = true;
    }

    #[inline(always)]
    fn masked(&self, key: &[u64; N]) -> [u64; N] {
        std::array::from_fn(|word| key[word] & self.mask[word])
    }

    /// Where a key belongs. The highest bits of a product depend on all bits below them.
    #[inline(always)]
    fn home(&self, masked: &[u64; N]) -> usize {
        let mix = |hash: u64, &word: &u64| (hash.rotate_right(32) ^ word).wrapping_mul(MULTIPLIER);
        (masked.iter().fold(0, mix) >> self.shift) as usize
    }

    /// Where the answer for a key is, or is to be; `None` if there is no slot at all.
    #[inline(always)]
    fn find(&self, masked: &[u64; N]) -> Option<usize> {
        let mut at = self.home(masked);
        loop {
            let slot = self.slots.get(at)?;
            if slot.answer.is_none() || slot.key == *masked {
                return Some(at);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// What was answered before.
    #[inline(always)]
    pub fn known(&self, key: &[u64; N]) -> Option<T> {
        self.slots[self.find(&self.masked(key))?].answer
    }

    fn insert(&mut self, key: &[u64; N], touched: &[u64; N], answer: T) {
        if (0..N).any(|word| touched[word] & !self.mask[word] != 0) {
            self.mask.iter_mut().zip(touched).for_each(|(mask, touched)| *mask |= touched);
            self.slots.clear();
            (self.n, self.shift) = (0, TWO);
        }
        if self.n >= MOST {
            return;
        }
        if 2 * (self.n + 1) > self.slots.len() {
            let n_slots = (2 * self.slots.len()).max(2);
            let free = Slot { key: [0; N], answer: None };
            let old = std::mem::replace(&mut self.slots, vec![free; n_slots]);
            self.shift = 64 - n_slots.trailing_zeros();
            old.into_iter().filter(|slot| slot.answer.is_some()).for_each(|slot| self.put(slot));
        }
        self.n += 1;
        self.put(Slot { key: self.masked(key), answer: Some(answer) });
    }

    fn put(&mut self, slot: Slot<N, T>) {
        if let Some(at) = self.find(&slot.key) {
            self.slots[at] = slot;
        }
    }
}

impl<Y: System + ?Sized, const N: usize> Packed<'_, Y, N> {
    /// What `look` answers about the state of a key, or answered before. It appends the bytes of the state that the answer depends
    /// on besides the shape, and says whether it has done so.
    #[inline]
    pub fn recall<T: Copy, E>(
        &self,
        memory: &mut Recall<N, T>,
        key: &[u64; N],
        look: impl FnOnce(&Y::State, &mut Vec<Range<usize>>) -> Result<(T, bool), E>,
    ) -> Result<T, E> {
        if let Some(known) = memory.known(key) {
            return Ok(known);
        }
        self.look(memory, key, look)
    }

    #[cold]
    fn look<T: Copy, E>(
        &self,
        memory: &mut Recall<N, T>,
        key: &[u64; N],
        look: impl FnOnce(&Y::State, &mut Vec<Range<usize>>) -> Result<(T, bool), E>,
    ) -> Result<T, E> {
        self.with_state(key, |state| {
            memory.bytes.clear();
            let (answer, is_noted) = look(state, &mut memory.bytes)?;
            if !memory.is_off {
                let mut core = self.core.borrow_mut();
                memory.touched.clear();
                let is_known = is_noted && core.tracer.parts_at(state, &memory.bytes, &mut memory.touched);
                memory.is_off = !is_known;
                let mut mask = [0; N];
                core.codec.mark_shape(&mut mask);
                memory.touched.iter().for_each(|&part| core.codec.mark(part, &mut mask));
                if is_known {
                    memory.insert(key, &mask, answer);
                }
            }
            Ok(answer)
        })
    }
}
