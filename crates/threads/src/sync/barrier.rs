//! Barriers.

use crate::runtime::object::Handle;
use crate::runtime::visible;
use std::fmt;
use stubborn_schedule::{Action, Op, objects};

/// See [`std::sync::Barrier`].
pub struct Barrier {
    handle: Handle,
    n: usize,
}

/// See [`std::sync::BarrierWaitResult`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// See [`std::sync::BarrierWaitResult::is_leader`].
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// See [`std::sync::Barrier::new`].
    #[track_caller]
    pub const fn new(n: usize) -> Barrier {
        Barrier { handle: Handle::new("barrier"), n }
    }

    /// See [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let id = self.handle.id(|| objects::Barrier::new(self.n as u64).into());
        let out = visible(Op::on(id, Action::Arrive));
        visible(Op::on(id, Action::Leave(objects::Barrier::generation(out))));
        BarrierWaitResult(objects::Barrier::leads(out))
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
