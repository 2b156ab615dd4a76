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
use std::rc::Rc;

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
const LATEST: usize = 1 << 13;

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
    /// Hashes of states that were left out, and whether they were found, before or since.
    left_out: FxHashMap<u64, Left>,
    /// What was fired before.
    seen: Seen,
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
    /// Whether no trial ever fails.
    pub(super) is_tireless: bool,
}

/// Whether a state that was left out is found.
#[derive(Clone, Copy, Debug)]
enum Left {
    /// It was fired since.
    Found,
    /// It is if it was fired before: the number of that question.
    Asked(usize),
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
        if self.is_tireless {
            return;
        }
        let is_found = |left: &&Left| match left {
            Left::Found => true,
            Left::Asked(question) => self.seen.answer(*question),
        };
        let n_found = self.left_out.values().filter(is_found).count();
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
        if self.pause > 0 || self.is_tireless {
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
            self.left_out.entry(hash).or_insert_with(|| {
                self.seen = seen.clone();
                Left::Asked(seen.ask(hash))
            });
        }
    }

    /// The successor with this hash was fired.
    pub(super) fn fire(&mut self, hash: u64) {
        if let Some(left) = self.left_out.get_mut(&hash) {
            *left = Left::Found;
        }
    }
}

/// Hashes of states that were fired, as many as there is room for: a new one takes the place of another.
///
/// A small search ends before an answer matters. So questions wait for theirs, and hashes for their places, until it does, or until there are many.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    log: Rc<RefCell<Log>>,
}

/// What was fired and asked, in order.
#[derive(Debug, Default)]
struct Log {
    latest: Vec<u64>,
    /// How many of the latest are in the table.
    n_placed: usize,
    table: Table,
    /// Questions without answers: how many of the latest came before, and what was asked.
    questions: Vec<(usize, u64)>,
    answers: Vec<bool>,
}

impl Seen {
    pub(super) fn insert(&mut self, hash: u64) {
        let log = &mut *self.log.borrow_mut();
        if log.latest.len() == LATEST {
            log.place_all();
        }
        log.latest.push(hash);
    }

    /// Asks whether a state was fired before. Gives the number of the question.
    fn ask(&self, hash: u64) -> usize {
        let log = &mut *self.log.borrow_mut();
        log.questions.push((log.latest.len(), hash));
        log.answers.len() + log.questions.len() - 1
    }

    /// The answer to a question.
    fn answer(&self, question: usize) -> bool {
        let log = &mut *self.log.borrow_mut();
        log.settle();
        log.answers[question]
    }
}

impl Log {
    /// Answers all questions.
    fn settle(&mut self) {
        if self.questions.is_empty() {
            return;
        }
        if self.table.hashes.is_empty() {
            return self.settle_without_table();
        }
        for (n_before, hash) in std::mem::take(&mut self.questions) {
            self.place(n_before);
            self.answers.push(self.table.contains(hash));
        }
    }

    /// The same as long as nothing is in the table, which is large: says what would be in it. What is asked for is there if it was the last
    /// that came to its slot, in the table of that time.
    fn settle_without_table(&mut self) {
        let first = self.answers.len();
        self.answers.resize(first + self.questions.len(), false);
        let mut asked: Vec<Vec<usize>> = vec![Vec::new(); LEAST_ROOM];
        for (i, (_, hash)) in self.questions.iter().enumerate() {
            asked[slot(*hash, LEAST_ROOM)].push(i);
        }
        let mut room = 0;
        for (at, &hash) in self.latest.iter().enumerate() {
            room = room_for(at, room);
            for &i in &asked[slot(hash, LEAST_ROOM)] {
                let (n_before, wanted) = self.questions[i];
                if at < n_before && slot(hash, room) == slot(wanted, room) {
                    self.answers[first + i] = hash == wanted;
                }
            }
        }
        self.questions.clear();
    }

    /// Answers all questions, and puts everything in its place.
    fn place_all(&mut self) {
        self.settle();
        self.place(self.latest.len());
        self.latest.clear();
        self.n_placed = 0;
    }

    /// Puts so many of the latest in their places.
    fn place(&mut self, n: usize) {
        self.latest[self.n_placed..n].iter().for_each(|&hash| self.table.insert(hash));
        self.n_placed = n;
    }
}

/// Hashes in their places.
#[derive(Debug, Default)]
struct Table {
    hashes: Vec<u64>,
    n_inserted: usize,
}

impl Table {
    fn slot(&self, hash: u64) -> usize {
        slot(hash, self.hashes.len())
    }

    fn insert(&mut self, hash: u64) {
        let room = room_for(self.n_inserted, self.hashes.len());
        if room > self.hashes.len() {
            self.grow(room);
        }
        self.n_inserted += 1;
        let slot = self.slot(hash);
        self.hashes[slot] = hash;
    }

    #[cold]
    fn grow(&mut self, room: usize) {
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

/// Where a hash is in a table of some size, which is a power of two.
fn slot(hash: u64, room: usize) -> usize {
    (hash >> 32) as usize & room.wrapping_sub(1)
}

/// The size of a table to which one more is added.
fn room_for(n_inserted: usize, room: usize) -> usize {
    if n_inserted * 8 >= room && room < ROOM { (4 * room).max(LEAST_ROOM) } else { room }
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
        let (mut seed, mut expected): (u64, Vec<(usize, bool)>) = (7, Vec::new());
        for i in 0..20 * LATEST {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Some come again, and some share a place.
            let hash = seed & 0x0000_3fff_0000_0003;
            if i % 5 == 3 && (i / 1000) % 4 != 1 {
                expected.push((seen.ask(hash), table.contains(hash)));
            }
            if i % 3000 == 2999 || i == 700 {
                expected.drain(..).for_each(|(question, answer)| assert_eq!(seen.answer(question), answer));
            }
            seen.insert(hash);
            table.insert(hash);
        }
        assert!(!expected.is_empty());
        assert!(expected.into_iter().all(|(question, answer)| seen.answer(question) == answer));
    }
}
