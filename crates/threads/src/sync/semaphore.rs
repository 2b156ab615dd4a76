//! A counting semaphore.

use crate::runtime::object::Handle;
use crate::runtime::visible_on;
use stubborn_schedule::{Action, ObjectId, objects};

/// A counting semaphore.
#[derive(Debug)]
pub struct Semaphore {
    handle: Handle,
    permits: u64,
}

impl Semaphore {
    /// A semaphore with so many permits.
    #[track_caller]
    pub const fn new(permits: u64) -> Semaphore {
        Semaphore { handle: Handle::new("semaphore"), permits }
    }

    fn id(&self) -> ObjectId {
        self.handle.id(|| objects::Semaphore::new(self.permits).into())
    }

    /// Takes a permit; waits until there is one.
    #[track_caller]
    pub fn acquire(&self) {
        visible_on(self.id(), Action::Acquire);
    }

    /// Takes a permit if there is one.
    #[track_caller]
    pub fn try_acquire(&self) -> bool {
        visible_on(self.id(), Action::TryAcquire) == 1
    }

    /// Gives a permit.
    #[track_caller]
    pub fn release(&self) {
        visible_on(self.id(), Action::Release);
    }
}
