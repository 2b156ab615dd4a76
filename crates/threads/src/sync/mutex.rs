//! Mutexes. The data is in a mutex of the standard library, which is free whenever the engine's is.

use crate::runtime::object::{Handle, Known};
use crate::runtime::{see_unlocks, stop, unlock, visible_on};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
use stubborn_schedule::{Action, ObjectId, objects};

/// See [`std::sync::Mutex`].
pub struct Mutex<T: ?Sized> {
    handle: Handle,
    data: std::sync::Mutex<T>,
}

impl<T> Mutex<T> {
    /// See [`std::sync::Mutex::new`].
    #[track_caller]
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { handle: Handle::new("mutex"), data: std::sync::Mutex::new(value) }
    }

    /// See [`std::sync::Mutex::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        self.data.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    pub(crate) fn id(&self) -> ObjectId {
        match self.handle.look(|_| objects::Mutex::new().into()) {
            Known::Here(id) => id,
            Known::New(id, is_old) => {
                // What happened in another run is past.
                if is_old {
                    self.data.clear_poison();
                }
                id
            }
        }
    }

    /// The data, which nobody else has.
    #[track_caller]
    pub(crate) fn hold(&self) -> LockResult<MutexGuard<'_, T>> {
        let place = Location::caller();
        let guard = |data| MutexGuard { mutex: self, data: Some(data), place };
        match self.data.try_lock() {
            Ok(data) => Ok(guard(data)),
            Err(TryLockError::Poisoned(poison)) => Err(PoisonError::new(guard(poison.into_inner()))),
            Err(TryLockError::WouldBlock) => stop(
                "a mutex is in use outside of this run: a `static` that two explorations share at the same time, \
                 or that a run which failed has left locked"
                    .to_owned(),
            ),
        }
    }

    /// See [`std::sync::Mutex::lock`].
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        visible_on(self.id(), Action::Lock);
        self.hold()
    }

    /// See [`std::sync::Mutex::try_lock`].
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        see_unlocks();
        match visible_on(self.id(), Action::TryLock) {
            0 => Err(TryLockError::WouldBlock),
            _ => match self.hold() {
                Ok(guard) => Ok(guard),
                Err(poison) => Err(TryLockError::Poisoned(poison)),
            },
        }
    }

    /// See [`std::sync::Mutex::is_poisoned`].
    pub fn is_poisoned(&self) -> bool {
        self.data.is_poisoned()
    }

    /// See [`std::sync::Mutex::clear_poison`].
    pub fn clear_poison(&self) {
        self.data.clear_poison();
    }

    /// See [`std::sync::Mutex::get_mut`].
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.data.get_mut()
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
    }
}

/// See [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    data: Option<std::sync::MutexGuard<'a, T>>,
    /// Where it was locked.
    place: &'static Location<'static>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Gives the data back without unlocking the engine's mutex.
    pub(crate) fn take_apart(mut self) -> &'a Mutex<T> {
        let mutex = self.mutex;
        self.data = None;
        std::mem::forget(self);
        mutex
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.data = None;
        unlock(self.place, || self.mutex.id(), Action::Unlock);
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_deref().expect("the data is here until the guard is dropped")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_deref_mut().expect("the data is here until the guard is dropped")
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
