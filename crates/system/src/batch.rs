//! Successors in batches: states with the transitions that led to them.

use crate::{Rows, TransitionId, Vector};

/// A list of successors. A search fills it from many states before it touches the store, so that the
/// store can prefetch for all of them.
#[derive(Debug)]
pub struct Batch<S: Vector + ?Sized> {
    rows: S::Rows,
    /// The transition of each row.
    via: Vec<TransitionId>,
    /// Whether something went wrong while successors were made.
    flagged: bool,
    /// Why successors are missing, if any are.
    cut: Option<&'static str>,
}

impl<S: Vector + ?Sized> Clone for Batch<S> {
    fn clone(&self) -> Self {
        Self { rows: self.rows.clone(), via: self.via.clone(), flagged: self.flagged, cut: self.cut }
    }
}

impl<S: Vector + ?Sized> Default for Batch<S> {
    fn default() -> Self {
        Self { rows: S::Rows::default(), via: Vec::new(), flagged: false, cut: None }
    }
}

impl<S: Vector + ?Sized> Batch<S> {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the state that `t` led to.
    #[inline]
    pub fn push(&mut self, t: TransitionId, state: &S) {
        self.rows.push(state);
        self.via.push(t);
    }

    /// Appends a copy of `state` for `t` to change in place; [`Batch::pop`] takes it back.
    #[inline]
    pub fn push_copy(&mut self, t: TransitionId, state: &S) -> &mut S {
        self.push(t, state);
        self.rows.get_mut(self.via.len() - 1)
    }

    /// Successor `i`, to be changed in place.
    #[inline]
    pub fn state_mut(&mut self, i: usize) -> &mut S {
        self.rows.get_mut(i)
    }

    /// Removes the last successor.
    #[inline]
    pub fn pop(&mut self) {
        self.rows.pop();
        self.via.pop();
    }

    /// Removes all successors after the first `len`.
    pub fn truncate(&mut self, len: usize) {
        while self.len() > len {
            self.pop();
        }
    }

    /// Successor `i`.
    #[inline]
    pub fn state(&self, i: usize) -> &S {
        self.rows.get(i)
    }

    /// The transition that led to successor `i`.
    #[inline]
    pub fn via(&self, i: usize) -> TransitionId {
        self.via[i]
    }

    /// The transitions that led to the successors, in order.
    #[inline]
    pub fn vias(&self) -> &[TransitionId] {
        &self.via
    }

    /// Number of successors.
    #[inline]
    pub fn len(&self) -> usize {
        self.via.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.via.is_empty()
    }

    /// Notes that something went wrong while the successors of a state were made: see
    /// [`Observed::fails_in_steps`](crate::Observed::fails_in_steps).
    #[inline]
    pub fn flag(&mut self) {
        self.flagged = true;
    }

    /// Whether something was noted since the last time this was asked.
    #[inline]
    pub fn take_flag(&mut self) -> bool {
        std::mem::take(&mut self.flagged)
    }

    /// Notes that a successor is missing because of a limit: what there would be too many of.
    pub fn cut(&mut self, too_much: &'static str) {
        self.cut.get_or_insert(too_much);
    }

    /// Which limit kept a successor away since the last time this was asked, if any.
    #[inline]
    pub fn take_cut(&mut self) -> Option<&'static str> {
        self.cut.take()
    }

    /// Removes all successors and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.rows.clear();
        self.via.clear();
    }

    /// Memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.via.len() * size_of::<TransitionId>()
    }
}

impl<const N: usize> Batch<[u64; N]> {
    /// Sorts the successors from number `first` on by descending transition. They are few, and mostly in order.
    pub fn sort_from(&mut self, first: usize) {
        for end in first + 1..self.len() {
            let mut i = end;
            while i > first && self.via[i - 1] < self.via[i] {
                self.via.swap(i - 1, i);
                let (lower, upper) = (*self.state(i - 1), *self.state(i));
                *self.state_mut(i - 1) = upper;
                *self.state_mut(i) = lower;
                i -= 1;
            }
        }
    }
}
