//! Cells that are initialised once. In a `static` they are not initialised at the beginning of each run.

use crate::runtime::object::Handle;
use crate::runtime::{switch, turn, visible_in_drop, visible_on};
use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};
use stubborn_schedule::{Action, Attempt, ObjectId, Op, objects};

/// See [`std::sync::Once`].
#[derive(Debug)]
pub struct Once {
    handle: Handle,
}

/// Gives up an initialisation that panics.
struct Running<'o> {
    once: &'o Once,
    done: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.done {
            visible_in_drop(self.once.handle.created(), || Op::on(self.once.id(), Action::Abandon));
        }
    }
}

impl Once {
    /// See [`std::sync::Once::new`].
    #[track_caller]
    pub const fn new() -> Once {
        Once { handle: Handle::new("once") }
    }

    fn id(&self) -> ObjectId {
        self.handle.id(|| objects::Once::new().into())
    }

    /// See [`std::sync::Once::call_once`].
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        if visible_on(self.id(), Action::Begin) == 1 {
            let mut running = Running { once: self, done: false };
            f();
            running.done = true;
            visible_on(self.id(), Action::Complete);
        }
    }

    /// See [`std::sync::Once::is_completed`].
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        visible_on(self.id(), Action::IsComplete) == 1
    }

    /// See [`std::sync::Once::wait`].
    #[track_caller]
    pub fn wait(&self) {
        visible_on(self.id(), Action::Retry(Attempt::Completion));
    }
}

impl Default for Once {
    #[track_caller]
    fn default() -> Once {
        Once::new()
    }
}

/// See [`std::sync::OnceLock`].
pub struct OnceLock<T> {
    once: Once,
    /// The values, with the runs they belong to. Values stay where they are until the cell is dropped: somebody may
    /// have a reference.
    values: Mutex<Vec<(u64, Box<T>)>>,
}

impl<T> OnceLock<T> {
    /// See [`std::sync::OnceLock::new`].
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        OnceLock { once: Once { handle: Handle::new("oncelock") }, values: Mutex::new(Vec::new()) }
    }

    /// The value of the present run.
    fn value(&self) -> Option<&T> {
        let run = if switch::is_task() { turn::run() } else { 0 };
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let found = values.iter().rev().find(|(of, _)| *of == run || run == 0)?;
        // Boxes are not taken out before the cell is dropped or borrowed for change.
        Some(switch::extend_borrow(self, &*found.1))
    }

    fn store(&self, value: T) {
        let run = turn::run();
        self.values.lock().unwrap_or_else(PoisonError::into_inner).push((run, Box::new(value)));
    }

    /// See [`std::sync::OnceLock::get`].
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if self.once.is_completed() { self.value() } else { None }
    }

    /// See [`std::sync::OnceLock::set`].
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.once.call_once(|| value.take().into_iter().for_each(|value| self.store(value)));
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// See [`std::sync::OnceLock::get_or_init`].
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.once.call_once(|| self.store(f()));
        self.value().expect("it was initialised")
    }

    /// See [`std::sync::OnceLock::get_mut`].
    pub fn get_mut(&mut self) -> Option<&mut T> {
        let values = self.values.get_mut().unwrap_or_else(PoisonError::into_inner);
        values.last_mut().map(|(_, value)| &mut **value)
    }

    /// See [`std::sync::OnceLock::into_inner`].
    pub fn into_inner(self) -> Option<T> {
        let mut values = self.values.into_inner().unwrap_or_else(PoisonError::into_inner);
        values.pop().map(|(_, value)| *value)
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}

/// See [`std::sync::LazyLock`]. The function may be called once per run, so it must be an `Fn`.
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    make: F,
}

impl<T, F: Fn() -> T> LazyLock<T, F> {
    /// See [`std::sync::LazyLock::new`].
    #[track_caller]
    pub const fn new(make: F) -> LazyLock<T, F> {
        LazyLock { cell: OnceLock::new(), make }
    }

    /// See [`std::sync::LazyLock::force`].
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.cell.get_or_init(|| (this.make)())
    }
}

impl<T, F: Fn() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyLock").finish_non_exhaustive()
    }
}
