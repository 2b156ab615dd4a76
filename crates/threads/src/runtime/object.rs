//! How primitives are registered with the engine: when they are used for the first time in a run.
//!
//! `new` must be `const`, so it cannot register anything; and a primitive in a `static` outlives runs. So each primitive
//! remembers the run in which it was registered and its number there.

use super::state::{Registered, with_state};
use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use stubborn_schedule::ObjectId;
use stubborn_schedule::objects::Object;

/// The engine's side of a primitive.
#[derive(Debug)]
pub(crate) struct Handle {
    kind: &'static str,
    created: &'static Location<'static>,
    run: AtomicU64,
    id: AtomicU32,
}

/// Instead of a run: the primitive is being registered.
const BUSY: u64 = u64::MAX;

/// Whether a primitive was known in the present run.
pub(crate) enum Known {
    /// It was.
    Here(ObjectId),
    /// It was not used before, or only in a run that is past (`true`).
    New(ObjectId, bool),
}

impl Handle {
    #[track_caller]
    pub(crate) const fn new(kind: &'static str) -> Handle {
        Handle { kind, created: Location::caller(), run: AtomicU64::new(0), id: AtomicU32::new(0) }
    }

    /// The number in the present run; registers the primitive if it has none.
    #[inline]
    pub(crate) fn look(&self, make: impl FnOnce(bool) -> Object) -> Known {
        let run = super::turn::run();
        let before = self.run.load(Ordering::Relaxed);
        if before == run {
            return Known::Here(self.id.load(Ordering::Relaxed));
        }
        self.register(run, before, make)
    }

    fn register(&self, run: u64, before: u64, make: impl FnOnce(bool) -> Object) -> Known {
        let is_old = before != 0;
        // Two workers must not mix up their numbers: only one of them comes further.
        let is_mine = self.run.compare_exchange(before, BUSY, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if before == BUSY || !is_mine || is_old && super::state::is_foreign(before, run) {
            if is_mine {
                self.run.store(before, Ordering::Relaxed);
            }
            super::stop(format!(
                "the {} created at {} is used by two explorations at the same time: explore what uses a `static` \
                 with one worker, and one test after the other",
                self.kind, self.created
            ));
        }
        let registered = Registered { kind: self.kind, created: Some(self.created), process: None };
        let object = make(is_old);
        let id = with_state(|state| state.register_here(object, registered));
        self.id.store(id, Ordering::Relaxed);
        self.run.store(run, Ordering::Release);
        Known::New(id, is_old)
    }

    /// The number in the present run.
    pub(crate) fn id(&self, make: impl FnOnce() -> Object) -> ObjectId {
        match self.look(|_| make()) {
            Known::Here(id) | Known::New(id, _) => id,
        }
    }

    /// Where it was created.
    pub(crate) fn created(&self) -> &'static Location<'static> {
        self.created
    }

    /// Forgets the number: whoever has the primitive alone has changed it.
    pub(crate) fn forget(&mut self) {
        *self.run.get_mut() = 0;
    }
}
