//! State vectors that are made of words, for systems that pack their states.

use crate::{Batch, FlatRows, KeyRows, Rows, TransitionId, Vector};

/// State vectors that are made of 64-bit words.
pub trait WordVector: Vector {
    /// The words.
    fn words(&self) -> &[u64];
    /// The words, to be changed.
    fn words_mut(&mut self) -> &mut [u64];
    /// Appends the state with these words to `out`.
    fn push_words(words: &[u64], t: TransitionId, out: &mut Batch<Self>);
    /// The same without a transition.
    fn push_row(words: &[u64], out: &mut Self::Rows);
}

impl<const N: usize> WordVector for [u64; N] {
    #[inline]
    fn words(&self) -> &[u64] {
        self
    }
    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        self
    }
    fn push_words(words: &[u64], t: TransitionId, out: &mut Batch<Self>) {
        let mut key = [0; N];
        key[..words.len()].copy_from_slice(words);
        out.push(t, &key);
    }
    fn push_row(words: &[u64], out: &mut KeyRows<N>) {
        let mut key = [0; N];
        key[..words.len()].copy_from_slice(words);
        out.push(&key);
    }
}

impl WordVector for [u64] {
    #[inline]
    fn words(&self) -> &[u64] {
        self
    }
    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        self
    }
    fn push_words(words: &[u64], t: TransitionId, out: &mut Batch<Self>) {
        out.push(t, words);
    }
    fn push_row(words: &[u64], out: &mut FlatRows<u64>) {
        out.push(words);
    }
}
