//! Locks for several readers or one writer. The data is in one of the standard library.

use crate::runtime::object::{Handle, Known};
use crate::runtime::{see_unlocks, stop, unlock, visible_on};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
use stubborn_schedule::{Action, ObjectId, objects};

/// See [`std::sync::RwLock`].
pub struct RwLock<T: ?Sized> {
    handle: Handle,
    data: std::sync::RwLock<T>,
}

impl<T> RwLock<T> {
    /// See [`std::sync::RwLock::new`].
    #[track_caller]
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { handle: Handle::new("rwlock"), data: std::sync::RwLock::new(value) }
    }

    /// See [`std::sync::RwLock::into_inner`].
    pub fn into_inner(self) -> LockResult<T> {
        self.data.into_inner()
    }
}

fn in_use() -> ! {
    stop("an rwlock is in use outside of this run: a `static` that two explorations share".to_owned())
}

impl<T: ?Sized> RwLock<T> {
    fn id(&self) -> ObjectId {
        match self.handle.look(|_| objects::RwLock::new().into()) {
            Known::Here(id) => id,
            Known::New(id, is_old) => {
                if is_old {
                    self.data.clear_poison();
                }
                id
            }
        }
    }

    #[track_caller]
    fn hold_read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let place = Location::caller();
        let guard = |data| RwLockReadGuard { lock: self, data: Some(data), place };
        match self.data.try_read() {
            Ok(data) => Ok(guard(data)),
            Err(TryLockError::Poisoned(poison)) => Err(PoisonError::new(guard(poison.into_inner()))),
            Err(TryLockError::WouldBlock) => in_use(),
        }
    }

    #[track_caller]
    fn hold_write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let place = Location::caller();
        let guard = |data| RwLockWriteGuard { lock: self, data: Some(data), place };
        match self.data.try_write() {
            Ok(data) => Ok(guard(data)),
            Err(TryLockError::Poisoned(poison)) => Err(PoisonError::new(guard(poison.into_inner()))),
            Err(TryLockError::WouldBlock) => in_use(),
        }
    }

    /// See [`std::sync::RwLock::read`].
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        visible_on(self.id(), Action::ReadLock);
        self.hold_read()
    }

    /// See [`std::sync::RwLock::write`].
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        visible_on(self.id(), Action::WriteLock);
        self.hold_write()
    }

    /// See [`std::sync::RwLock::try_read`].
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        see_unlocks();
        match visible_on(self.id(), Action::TryReadLock) {
            0 => Err(TryLockError::WouldBlock),
            _ => match self.hold_read() {
                Ok(guard) => Ok(guard),
                Err(poison) => Err(TryLockError::Poisoned(poison)),
            },
        }
    }

    /// See [`std::sync::RwLock::try_write`].
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        see_unlocks();
        match visible_on(self.id(), Action::TryWriteLock) {
            0 => Err(TryLockError::WouldBlock),
            _ => match self.hold_write() {
                Ok(guard) => Ok(guard),
                Err(poison) => Err(TryLockError::Poisoned(poison)),
            },
        }
    }

    /// See [`std::sync::RwLock::is_poisoned`].
    pub fn is_poisoned(&self) -> bool {
        self.data.is_poisoned()
    }

    /// See [`std::sync::RwLock::clear_poison`].
    pub fn clear_poison(&self) {
        self.data.clear_poison();
    }

    /// See [`std::sync::RwLock::get_mut`].
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.data.get_mut()
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

macro_rules! guard {
    ($(#[$doc:meta])* $name:ident, $std:ident, $unlock:ident) => {
        $(#[$doc])*
        #[must_use = "if unused the RwLock will immediately unlock"]
        pub struct $name<'a, T: ?Sized> {
            lock: &'a RwLock<T>,
            data: Option<std::sync::$std<'a, T>>,
            /// Where it was locked.
            place: &'static Location<'static>,
        }

        impl<T: ?Sized> Drop for $name<'_, T> {
            fn drop(&mut self) {
                self.data = None;
                unlock(self.place, || self.lock.id(), Action::$unlock);
            }
        }

        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                self.data.as_deref().expect("the data is here until the guard is dropped")
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

guard!(
    /// See [`std::sync::RwLockReadGuard`].
    RwLockReadGuard,
    RwLockReadGuard,
    ReadUnlock
);
guard!(
    /// See [`std::sync::RwLockWriteGuard`].
    RwLockWriteGuard,
    RwLockWriteGuard,
    WriteUnlock
);

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_deref_mut().expect("the data is here until the guard is dropped")
    }
}
