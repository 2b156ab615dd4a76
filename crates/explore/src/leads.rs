//! Which states of a level lead on, to a state of the next one.
//!
//! **Implements** half of what [`settle`](crate::settle) needs: a state that leads to one of the next level leads to something that is expanded later, which leads on itself or is looked
//! at; so only states that lead to none must be looked at. Who inserts a state may be another thread than the one that found it, so the states of a level have
//! numbers, each successor is passed on with the number of the state that it was found from, and whoever inserts it marks that, if the successor is new, or was new to the same thread
//! at this level ([`Young`]).

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use stubborn_system::Vector;

/// A mark for each state of a level.
#[derive(Default)]
pub(crate) struct Leads {
    /// Whether anybody wants to know.
    minds: AtomicBool,
    marks: RwLock<Vec<AtomicBool>>,
}

impl Leads {
    /// From now on somebody wants to know.
    pub(crate) fn mind(&self) {
        self.minds.store(true, Relaxed);
    }

    /// Whether anybody wants to know.
    #[inline]
    pub(crate) fn is_minded(&self) -> bool {
        self.minds.load(Relaxed)
    }

    /// A level of so many states begins. Nobody marks any meanwhile.
    pub(crate) fn begin(&self, n: usize) {
        let mut marks = self.marks.write().unwrap_or_else(PoisonError::into_inner);
        marks.clear();
        marks.resize_with(n, AtomicBool::default);
    }

    /// The marks of the level.
    pub(crate) fn marks(&self) -> Marks<'_> {
        Marks(self.marks.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.marks.read().unwrap_or_else(PoisonError::into_inner).capacity()
    }
}

/// The marks of a level.
pub(crate) struct Marks<'l>(RwLockReadGuard<'l, Vec<AtomicBool>>);

impl Marks<'_> {
    /// A state leads on.
    #[inline]
    pub(crate) fn mark(&self, number: u32) {
        if let Some(mark) = self.0.get(number as usize) {
            mark.store(true, Relaxed);
        }
    }

    /// Whether a state leads on.
    #[inline]
    pub(crate) fn is_marked(&self, number: u32) -> bool {
        self.0.get(number as usize).is_some_and(|mark| mark.load(Relaxed))
    }
}

/// States that a thread remembers to be of the next level, as a power of two.
const REMEMBERED: u32 = 16;

/// States of the next level that a thread has inserted: each has one place, where the last one stays.
pub(crate) struct Young<const N: usize> {
    keys: Vec<[u64; N]>,
    /// For each place: the level of what is there, or 0 if nothing is.
    levels: Vec<u32>,
}

impl<const N: usize> Young<N> {
    /// None.
    pub(crate) fn new() -> Self {
        Self { keys: vec![[0; N]; 1 << REMEMBERED], levels: vec![0; 1 << REMEMBERED] }
    }

    /// Some states are inserted, of which those in a list are new, and belong to a level. Calls `then` with each that is known to belong to it.
    pub(crate) fn meet(&mut self, keys: &[[u64; N]], new: &[u32], level: u32, mut then: impl FnMut(usize)) {
        for &i in new {
            let place = self.place(&keys[i as usize]);
            (self.keys[place], self.levels[place]) = (keys[i as usize], level);
        }
        for (i, key) in keys.iter().enumerate() {
            let place = self.place(key);
            if self.levels[place] == level && self.keys[place] == *key {
                then(i);
            }
        }
    }

    #[inline]
    fn place(&self, key: &[u64; N]) -> usize {
        (key.hash64() >> 8) as usize & (self.keys.len() - 1)
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.keys[..]) + size_of_val(&self.levels[..])
    }
}
