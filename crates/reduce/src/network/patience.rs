//! How hard to try: what brings nothing is left out for a while.
//!
//! A transition that is not fired saves something only if the state that it leads to is not found on another way. So
//! of the states that were left out some are remembered, and it is counted how many of them are among the states that
//! the search was given before or is given later. If nearly all are, and nearly everything is fired anyway, the
//! reduction saves next to nothing: then everything is fired for a while.
//!
//! Firing everything is always right, so this decides about time only. It depends on counts and never on a clock, so
//! runs can be repeated; but a state that is expanded again may get another set.

use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// States that are remembered in a trial.
const SAMPLE: usize = 128;

/// Choices before the first state is remembered: at its beginning a search finds nearly everything.
const WARM_UP: u64 = 512;

/// Choices after which a trial is judged for the first time; again and again after twice as many, up to the last.
const FIRST_LOOK: u64 = 1_024;
const LAST_LOOK: u64 = 32_768;

/// Choices after which a trial has failed if none of them brought anything at all.
const VAIN_LOOK: u64 = 256;

/// Room for states that are known to have been fired: at first, and at most. There is more when an eighth is taken.
const LEAST_ROOM: usize = 1 << 10;
const ROOM: usize = 1 << 16;

/// The latest of them, which wait in a list.
const LATEST: usize = 1 << 11;

/// The share of the remembered states that may turn up, in per cent.
const MOST_FOUND: usize = 90;

/// The share of what is enabled that must be fired for a trial to fail, in per cent.
const LEAST_FIRED: u64 = 98;

/// After a trial that failed, so many times its choices are left out; twice as many after each that follows.
const REST: u64 = 8;
const MOST_DOUBLINGS: u32 = 3;

/// Choices until the next trial after one that did not fail.
const BETWEEN_TRIALS: u64 = 32_768;

/// Whether leaving something out pays.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// Hashes of states that were left out, and whether they were found since.
    left_out: FxHashMap<u64, bool>,
    /// Choices since the trial began, what was enabled there, and what of it was fired.
    n_choices: u64,
    n_enabled: u64,
    n_fired: u64,
    /// Choices of the trial that were made in vain.
    n_vain: u64,
    /// Choices until the next trial, and whether nothing is to be left out until then.
    pause: u64,
    is_resting: bool,
    /// Trials that failed one after the other.
    n_failed: u32,
}

impl Patience {
    /// Begins a choice; whether it is to be made.
    pub(super) fn begins(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return !self.is_resting;
        }
        self.n_choices += 1;
        if self.n_choices >= FIRST_LOOK && self.n_choices.is_power_of_two() {
            self.judge();
        }
        true
    }

    /// What beginning a choice would say.
    pub(super) fn would_begin(&self) -> bool {
        self.pause == 0 || !self.is_resting
    }

    fn judge(&mut self) {
        let n_found = self.left_out.values().filter(|&&is_found| is_found).count();
        self.is_resting = n_found * 100 >= self.left_out.len() * MOST_FOUND
            && self.n_fired * 100 >= self.n_enabled * LEAST_FIRED;
        if self.is_resting || self.n_choices >= LAST_LOOK {
            self.end_trial();
        }
    }

    fn end_trial(&mut self) {
        self.pause = if self.is_resting { (REST * self.n_choices) << self.n_failed } else { BETWEEN_TRIALS };
        self.n_failed = if self.is_resting { (self.n_failed + 1).min(MOST_DOUBLINGS) } else { 0 };
        self.left_out.clear();
        (self.n_choices, self.n_enabled, self.n_fired, self.n_vain) = (0, 0, 0, 0);
    }

    /// The choice that began last brought nothing at all.
    pub(super) fn was_in_vain(&mut self) {
        if self.pause > 0 {
            return;
        }
        self.n_vain += 1;
        if self.n_vain == self.n_choices && self.n_choices >= VAIN_LOOK {
            self.is_resting = true;
            self.end_trial();
        }
    }

    /// Counts what a choice has brought, if its size matters.
    pub(super) fn count(&mut self, n_enabled: usize, n_fired: usize) {
        self.n_enabled += n_enabled as u64;
        self.n_fired += n_fired as u64;
    }

    /// Whether it matters what is fired and what is left out.
    pub(super) fn is_on_trial(&self) -> bool {
        self.pause == 0
    }

    /// The successor with this hash was left out.
    pub(super) fn leave_out(&mut self, hash: u64, seen: &Seen) {
        if self.left_out.len() < SAMPLE && self.n_choices > WARM_UP {
            self.left_out.entry(hash).or_insert_with(|| seen.contains(hash));
        }
    }

    /// The successor with this hash was fired.
    pub(super) fn fire(&mut self, hash: u64) {
        if let Some(is_found) = self.left_out.get_mut(&hash) {
            *is_found = true;
        }
    }
}

/// Hashes of states that were fired, as many as there is room for: a new one takes the place of another.
///
/// A small search ends before anybody asks for them. So they are put in their places when somebody does, or when there are many.
#[derive(Debug, Default)]
pub(super) struct Seen {
    latest: Vec<u64>,
    table: RefCell<Table>,
}

/// Hashes in their places, and how many of the latest are there already.
#[derive(Debug, Default)]
struct Table {
    hashes: Vec<u64>,
    n_inserted: usize,
    n_latest: usize,
}

impl Seen {
    pub(super) fn insert(&mut self, hash: u64) {
        if self.latest.len() == LATEST {
            let table = self.table.get_mut();
            table.insert_all(&self.latest);
            table.n_latest = 0;
            self.latest.clear();
        }
        self.latest.push(hash);
    }

    fn contains(&self, hash: u64) -> bool {
        let mut table = self.table.borrow_mut();
        table.insert_all(&self.latest);
        table.contains(hash)
    }
}

impl Table {
    /// Inserts those of the latest that are not there yet, in their order.
    fn insert_all(&mut self, latest: &[u64]) {
        latest[self.n_latest..].iter().for_each(|&hash| self.insert(hash));
        self.n_latest = latest.len();
    }

    fn slot(&self, hash: u64) -> usize {
        (hash >> 32) as usize & self.hashes.len().wrapping_sub(1)
    }

    fn insert(&mut self, hash: u64) {
        if self.n_inserted * 8 >= self.hashes.len() && self.hashes.len() < ROOM {
            self.grow();
        }
        self.n_inserted += 1;
        let slot = self.slot(hash);
        self.hashes[slot] = hash;
    }

    #[cold]
    fn grow(&mut self) {
        let room = (4 * self.hashes.len()).max(LEAST_ROOM);
        let hashes = std::mem::replace(&mut self.hashes, vec![0; room]);
        for hash in hashes.into_iter().filter(|&hash| hash != 0) {
            let slot = self.slot(hash);
            self.hashes[slot] = hash;
        }
    }

    fn contains(&self, hash: u64) -> bool {
        self.hashes.get(self.slot(hash)) == Some(&hash)
    }
}

/// A hash of a state. Nothing but time depends on it.
pub(super) fn hash(state: &[u8]) -> u64 {
    let mut hash = state.len() as u64;
    let mut add = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
    };
    let (words, rest) = state.as_chunks();
    words.iter().for_each(|&word| add(u64::from_le_bytes(word)));
    if !rest.is_empty() {
        add(rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_wait_for_their_places_are_seen_as_if_they_were_there() {
        let (mut seen, mut table) = (Seen::default(), Table::default());
        let mut seed: u64 = 7;
        for i in 0..20 * LATEST {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Some come again, and some share a place.
            let hash = seed & 0x0000_3fff_0000_0003;
            if i % 5 == 3 && (i / 1000) % 4 != 1 {
                assert_eq!(seen.contains(hash), table.contains(hash));
            }
            seen.insert(hash);
            table.insert(hash);
        }
        assert_eq!(seen.contains(seed & 0x0000_3fff_0000_0003), table.contains(seed & 0x0000_3fff_0000_0003));
    }
}
