//! Functions of states, remembered by the parts that they look at.
//!
//! **Implements** a memory for whoever asks the same of every state, such as which propositions hold: the first time the state
//! behind the key is looked at, and the bytes that were read are noted; later the bits of all parts that were ever looked at tell
//! one answer from another. When one more part is looked at than before, everything is forgotten.
//! **Preserves** the answers exactly: each depends on the shape and on the parts that it looked at, all of which are compared.
//! **Checked by** `oracle/tests/recall.rs`, which compares with the states and finds a function that does not tell all that it
//! looks at.

use crate::Packed;
use rustc_hash::FxHashMap;
use std::ops::Range;
use stubborn_system::System;

/// Answers that are remembered, at most.
const MOST: usize = 1 << 16;

/// What was answered so far.
#[derive(Debug)]
pub struct Recall<const N: usize, T> {
    /// The bits of the shape and of what was looked at.
    mask: [u64; N],
    known: FxHashMap<[u64; N], T>,
    /// Whether it is not known what answers depend on.
    is_off: bool,
    /// Room to work in.
    bytes: Vec<Range<usize>>,
    touched: Vec<u16>,
}

impl<const N: usize, T> Default for Recall<N, T> {
    fn default() -> Self {
        let (bytes, touched) = (Vec::new(), Vec::new());
        Self { mask: [0; N], known: FxHashMap::default(), is_off: false, bytes, touched }
    }
}

impl<const N: usize, T: Copy> Recall<N, T> {
    /// How many answers are remembered.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Remembers nothing more.
    pub fn rest(&mut self) {
        self.is_off = true;
    }

    fn masked(&self, key: &[u64; N]) -> [u64; N] {
        std::array::from_fn(|word| key[word] & self.mask[word])
    }

    fn insert(&mut self, key: &[u64; N], touched: &[u64; N], answer: T) {
        if (0..N).any(|word| touched[word] & !self.mask[word] != 0) {
            self.mask.iter_mut().zip(touched).for_each(|(mask, touched)| *mask |= touched);
            self.known.clear();
        }
        if self.known.len() < MOST {
            self.known.insert(self.masked(key), answer);
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
        if let Some(&known) = memory.known.get(&memory.masked(key)) {
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
