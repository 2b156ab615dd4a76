//! Condition variables. There are no spurious wake-ups; whom `notify_one` wakes is explored.

use crate::runtime::object::Handle;
use crate::runtime::state::with_state;
use crate::runtime::waits::{notify, wait};
use crate::sync::MutexGuard;
use std::fmt;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;
use stubborn_schedule::{ObjectId, objects};

/// See [`std::sync::Condvar`].
pub struct Condvar {
    handle: Handle,
}

/// See [`std::sync::WaitTimeoutResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// See [`std::sync::WaitTimeoutResult::timed_out`].
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// See [`std::sync::Condvar::new`].
    #[track_caller]
    pub const fn new() -> Condvar {
        Condvar { handle: Handle::new("condvar") }
    }

    fn id(&self) -> ObjectId {
        self.handle.id(|| objects::Condvar::new(with_state(|state| state.settings.wake_order)).into())
    }

    #[track_caller]
    fn wait_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        is_timed: bool,
    ) -> (LockResult<MutexGuard<'a, T>>, bool) {
        let mutex = guard.take_apart();
        let id = self.id();
        // The thread is woken and has the mutex again when this returns.
        let notified = wait(id, mutex.id(), is_timed);
        (mutex.hold(), notified)
    }

    /// See [`std::sync::Condvar::wait`].
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_for(guard, false).0
    }

    /// See [`std::sync::Condvar::wait_while`].
    #[track_caller]
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// See [`std::sync::Condvar::wait_timeout`]: time may be up at any moment.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (guard, notified) = self.wait_for(guard, true);
        let result = WaitTimeoutResult(!notified);
        match guard {
            Ok(guard) => Ok((guard, result)),
            Err(poison) => Err(PoisonError::new((poison.into_inner(), result))),
        }
    }

    /// See [`std::sync::Condvar::wait_timeout_while`].
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let mut result = WaitTimeoutResult(false);
        while condition(&mut *guard) {
            if result.timed_out() {
                return Ok((guard, result));
            }
            (guard, result) = self.wait_timeout(guard, time)?;
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// See [`std::sync::Condvar::notify_one`].
    #[track_caller]
    pub fn notify_one(&self) {
        notify(self.id(), false);
    }

    /// See [`std::sync::Condvar::notify_all`].
    #[track_caller]
    pub fn notify_all(&self) {
        notify(self.id(), true);
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
