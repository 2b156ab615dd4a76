//! Barriers. Who leads a generation is explored if somebody asks.

use crate::runtime::object::Handle;
use crate::runtime::state::with_state;
use crate::runtime::{see_leaders, visible_on};
use std::fmt;
use stubborn_schedule::{Action, objects};

/// See [`std::sync::Barrier`].
pub struct Barrier {
    handle: Handle,
    n: usize,
}

/// See [`std::sync::BarrierWaitResult`].
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// See [`std::sync::BarrierWaitResult::is_leader`].
    pub fn is_leader(&self) -> bool {
        see_leaders();
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
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
        let make = match with_state(|state| state.settings.leader_is_visible) {
            true => objects::Barrier::new,
            false => objects::Barrier::without_leader,
        };
        let id = self.handle.id(|| make(self.n as u64).into());
        let out = visible_on(id, Action::Arrive);
        visible_on(id, Action::Leave(objects::Barrier::generation(out)));
        BarrierWaitResult(objects::Barrier::leads(out))
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
