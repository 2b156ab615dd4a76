//! Work on a value that one thread at a time has, and that nobody waits for.
//!
//! **Implements** flat combining (D. Hendler, I. Incze, N. Shavit, M. Tzafrir, *Flat combining and the synchronization-parallelism tradeoff*, SPAA 2010).
//! Who has a batch of work tries to take the value. If it gets it, it applies its batch, gives the value back, and does the same for each batch that others have left. If somebody
//! else has it, it leaves the batch in a record of its own, with what is there already, and goes on with other work. A batch may fall between two stools, left just after who has the value looked
//! for the last time; so who gave the value back looks at the records again, and who left a batch tries to take the value again. One of the two comes second, and sees what the other did.
//! **Preserves** every batch: it is applied exactly once, by one thread. Invariant: while a record is full, some thread is inside [`Mailbox::pass`] and has yet to look or to try. So when no thread is there, and each has passed on what it had, nothing is left.
//! What is promised of progress: a batch is applied, left, or handed back after a bounded number of steps, whatever others do or fail to do. Nobody sleeps or spins here. It is handed back if the record has as much as it may have,
//! or if at that very moment somebody takes what is in it; then the caller keeps it, as much of that as it likes. Who applies what others left may be kept busy by them, with work that somebody has to do.
//! It is not promised that what was left is applied before who has the value runs again: no table whose parts have owners could do that.
//! **Differs from** the paper in that nobody waits for an answer: what comes of a batch belongs to who applied it. So records need no list that grows and ages: there is one for each thread.
//! A batch is left by swapping it with an empty one, and taken in the same way, so none is allocated in the long run. Queues of other crates were not used: with these, who takes waits for who is halfway through leaving something.
//! **Checked by** `oracle/tests/all/combining.rs`, which explores every interleaving of two and three threads and finds planted mistakes. All states are sequentially consistent atomics, which is what the explorer assumes,
//! and everything else lies in mutexes, of which none is ever found locked: who comes to one has it by its state. That is asserted.

use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::sync::{Mutex, TryLockError};

/// What threads share is made of these. A trait, so that the very same code can be explored with atomics and cells whose every interleaving is tried, and
/// so that tests can plant mistakes.
pub trait Primitives {
    /// A small number.
    type Atomic: Atomic;
    /// A place for a value.
    type Cell<T>: Cell<T>;
    /// Whether who has given the value back looks whether something was left.
    const LOOKS_AGAIN: bool = true;
    /// Whether who has left something tries to take the value.
    const TRIES_AGAIN: bool = true;
}

/// A small number that several threads read and write, in one order for all of them.
pub trait Atomic {
    /// One that is 0.
    fn new() -> Self;

    /// Reads.
    fn load(&self) -> u8;

    /// Writes.
    fn store(&self, value: u8);

    /// Writes if it has a certain value; whether it did.
    fn replace(&self, old: u8, value: u8) -> bool;
}

/// A place for a value that only one thread comes to at a time.
pub trait Cell<T> {
    /// With a value.
    fn new(value: T) -> Self;

    /// Does something with the value. Panics if another thread is there.
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R;
}

/// What the standard library has.
#[derive(Debug)]
pub struct Standard;

impl Primitives for Standard {
    type Atomic = AtomicU8;
    type Cell<T> = Mutex<T>;
}

impl Atomic for AtomicU8 {
    fn new() -> Self {
        Self::new(0)
    }

    #[inline]
    fn load(&self) -> u8 {
        self.load(SeqCst)
    }

    #[inline]
    fn store(&self, value: u8) {
        self.store(value, SeqCst);
    }

    #[inline]
    fn replace(&self, old: u8, value: u8) -> bool {
        self.compare_exchange(old, value, SeqCst, SeqCst).is_ok()
    }
}

impl<T> Cell<T> for Mutex<T> {
    fn new(value: T) -> Self {
        Self::new(value)
    }

    #[inline]
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        match self.try_lock() {
            Ok(mut value) => work(&mut value),
            Err(TryLockError::Poisoned(poison)) => work(&mut poison.into_inner()),
            Err(TryLockError::WouldBlock) => panic!("two threads have the same value"),
        }
    }
}

/// Nobody has it, or nothing is in it.
const FREE: u8 = 0;
/// Somebody has it.
const TAKEN: u8 = 1;
/// Something is in it.
const FULL: u8 = 2;
/// The same, and no more may be put to it.
const CROWDED: u8 = 3;

/// A value that one thread at a time has. It has lines of the cache for itself, as pairs of them come together.
#[repr(align(128))]
pub struct Exclusive<T, P: Primitives = Standard> {
    state: P::Atomic,
    value: P::Cell<T>,
}

impl<T, P: Primitives> Exclusive<T, P> {
    /// Nobody has it yet.
    #[track_caller]
    pub fn new(value: T) -> Self {
        Self { state: P::Atomic::new(), value: P::Cell::new(value) }
    }

    /// Does something with the value, unless another thread has it.
    #[inline]
    pub fn attempt<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        /// Also if there is a panic.
        struct GiveBack<'a, A: Atomic>(&'a A);
        impl<A: Atomic> Drop for GiveBack<'_, A> {
            fn drop(&mut self) {
                self.0.store(FREE);
            }
        }
        if !self.state.replace(FREE, TAKEN) {
            return None;
        }
        let _give_back = GiveBack(&self.state);
        Some(self.value.with(work))
    }
}

/// What a thread does with batches.
pub trait Combine<T, B> {
    /// Why it does not go on.
    type Error;

    /// Applies a batch to the value, which nobody else has meanwhile.
    fn apply(&mut self, value: &mut T, batch: &B) -> Result<(), Self::Error>;

    /// Does the rest, with the value given back, and leaves the batch empty.
    fn digest(&mut self, batch: &mut B) -> Result<(), Self::Error>;

    /// Puts a batch to what was left before, if anything was, and leaves the batch empty. Whether more may be put to it.
    fn join(&mut self, left: &mut B, batch: &mut B) -> bool;
}

/// What a thread leaves.
#[repr(align(128))]
struct Record<B, P: Primitives> {
    /// The thread makes it full, who has the value makes it free, and both take it first.
    state: P::Atomic,
    batch: P::Cell<B>,
}

/// Batches that are left for whoever has a value.
pub struct Mailbox<B, P: Primitives = Standard> {
    /// One for each thread.
    records: Vec<Record<B, P>>,
}

impl<B: Default, P: Primitives> Mailbox<B, P> {
    /// For so many threads. One alone has nobody to leave anything for.
    #[track_caller]
    pub fn new(n_threads: usize) -> Self {
        let n = if n_threads > 1 { n_threads } else { 0 };
        let mut records = Vec::with_capacity(n);
        records.resize_with(n, || Record { state: P::Atomic::new(), batch: P::Cell::new(B::default()) });
        Self { records }
    }

    /// Whether nothing is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.records.iter().all(|record| record.state.load() == FREE)
    }

    /// Whether something is left that nobody is about to take or to add to.
    #[inline]
    fn has_mail(&self) -> bool {
        self.records.iter().any(|record| record.state.load() >= FULL)
    }

    /// Passes on a batch: has it applied to the value by this thread, or leaves it for the one that has the value; then applies what was left. If the
    /// answer is `false`, neither is possible now, and the batch was not touched. Otherwise it is empty. The spare one is, always.
    pub fn pass<T, C: Combine<T, B>>(
        &self,
        value: &Exclusive<T, P>,
        thread: usize,
        batch: &mut B,
        spare: &mut B,
        combine: &mut C,
    ) -> Result<bool, C::Error> {
        if self.records.is_empty() {
            // One thread alone takes nothing from anybody.
            value.value.with(|value| combine.apply(value, batch))?;
            combine.digest(batch)?;
            return Ok(true);
        }
        let mut is_passed = false;
        loop {
            let in_hand = if is_passed { &mut *spare } else { &mut *batch };
            let applied = value.attempt(|value| {
                let is_there = !is_passed || self.collect(thread, in_hand);
                if is_there { combine.apply(value, in_hand).map(|()| true) } else { Ok(false) }
            });
            match applied {
                Some(applied) => {
                    if applied? {
                        combine.digest(in_hand)?;
                    }
                    is_passed = true;
                    if !P::LOOKS_AGAIN || !self.has_mail() {
                        return Ok(true);
                    }
                }
                // Who has it has yet to look again.
                None if is_passed => return Ok(true),
                None => {
                    if !self.leave(thread, batch, combine) {
                        return Ok(false);
                    }
                    is_passed = true;
                    if !P::TRIES_AGAIN {
                        return Ok(true);
                    }
                }
            }
        }
    }

    /// Whether it is worth trying again for a thread that was handed back its batch: nobody has the value, or what it left was taken. It only reads, so a thread may wait so.
    pub fn may_pass<T>(&self, value: &Exclusive<T, P>, thread: usize) -> bool {
        value.state.load() == FREE || self.records[thread].state.load() == FREE
    }

    /// Leaves a batch, if that is possible now.
    fn leave<T, C: Combine<T, B>>(&self, thread: usize, batch: &mut B, combine: &mut C) -> bool {
        let Record { state, batch: left } = &self.records[thread];
        let before = state.load();
        // What is not possible changes nothing: threads that try again and again do not get in the way of others.
        if before == TAKEN || before == CROWDED || !state.replace(before, TAKEN) {
            return false;
        }
        let has_room = left.with(|left| combine.join(left, batch));
        state.store(if has_room { FULL } else { CROWDED });
        true
    }

    /// Takes what a thread has left in exchange for an empty batch, if there is something. Only for who has the value. Threads begin with different
    /// records, so that none is always last.
    fn collect(&self, thread: usize, batch: &mut B) -> bool {
        let (before, after) = self.records.split_at(thread.min(self.records.len()));
        after.iter().chain(before).any(|Record { state, batch: left }| {
            let before = state.load();
            // If it is taken now, the thread that adds to it will try to get the value.
            let is_there = before >= FULL && state.replace(before, TAKEN);
            if is_there {
                left.with(|left| std::mem::swap(left, batch));
                state.store(FREE);
            }
            is_there
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Adds up numbers. Two may be left, and what comes with the second.
    struct Adding;

    impl Combine<Vec<u32>, Vec<u32>> for Adding {
        type Error = Infallible;

        fn apply(&mut self, value: &mut Vec<u32>, batch: &Vec<u32>) -> Result<(), Infallible> {
            value.extend(batch);
            Ok(())
        }

        fn digest(&mut self, batch: &mut Vec<u32>) -> Result<(), Infallible> {
            batch.clear();
            Ok(())
        }

        fn join(&mut self, left: &mut Vec<u32>, batch: &mut Vec<u32>) -> bool {
            left.append(batch);
            left.len() < 2
        }
    }

    fn pass(mail: &Mailbox<Vec<u32>>, value: &Exclusive<Vec<u32>>, thread: usize, batch: &[u32]) -> bool {
        let (mut batch, mut spare) = (batch.to_vec(), Vec::new());
        let Ok(is_passed) = mail.pass(value, thread, &mut batch, &mut spare, &mut Adding);
        assert!(is_passed == batch.is_empty() && spare.is_empty());
        is_passed
    }

    #[test]
    fn what_is_left_is_applied_by_who_comes_next() {
        let (value, mail) = (Exclusive::new(Vec::new()), Mailbox::new(3));
        let attempted = value.attempt(|_| {
            assert!(value.attempt(|_| ()).is_none(), "one at a time");
            assert!(mail.is_empty() && pass(&mail, &value, 1, &[1]) && !mail.is_empty());
            assert!(pass(&mail, &value, 1, &[2, 3]));
            assert!(!pass(&mail, &value, 1, &[4]) && !mail.may_pass(&value, 1), "there is too much");
            assert!(pass(&mail, &value, 2, &[5]));
        });
        assert!(attempted.is_some() && mail.may_pass(&value, 1));
        assert!(pass(&mail, &value, 0, &[0]) && mail.is_empty());
        assert_eq!(value.attempt(std::mem::take).unwrap(), [0, 1, 2, 3, 5]);
        assert!(pass(&mail, &value, 1, &[4]));
        assert_eq!(value.attempt(std::mem::take).unwrap(), [4]);
    }

    #[test]
    fn one_thread_alone_applies_what_it_has() {
        let (value, mail) = (Exclusive::new(Vec::new()), Mailbox::new(1));
        assert!(pass(&mail, &value, 0, &[1]) && pass(&mail, &value, 0, &[2]) && mail.is_empty());
        assert_eq!(value.attempt(std::mem::take).unwrap(), [1, 2]);
    }

    #[test]
    fn a_value_is_given_back_in_a_panic() {
        let value = Exclusive::<_>::new(7);
        let panicked = catch_unwind(AssertUnwindSafe(|| value.attempt(|_| panic!("as planned"))));
        assert!(panicked.is_err());
        assert_eq!(value.attempt(|value| *value), Some(7));
    }
}
