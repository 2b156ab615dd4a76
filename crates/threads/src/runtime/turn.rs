//! What every operation asks for: a few words of the operating system thread's own, without destructors and borrows.
//!
//! Everything else that tasks share is in `state`, which an operation looks at only if one of these words says so.

use std::cell::Cell;
use std::panic::Location;
use stubborn_schedule::ProcessId;

thread_local! {
    static RUN: Cell<u64> = const { Cell::new(0) };
    static CURRENT: Cell<ProcessId> = const { Cell::new(0) };
    static IS_ENDING: Cell<bool> = const { Cell::new(false) };
    static HAS_NEWS: Cell<bool> = const { Cell::new(false) };
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
    static MAY_FOLLOW: Cell<bool> = const { Cell::new(false) };
    static PLACE: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
    static STAGES: Cell<u64> = const { Cell::new(0) };
    static RECORDS: Cell<bool> = const { Cell::new(false) };
}

macro_rules! word {
    ($($(#[$doc:meta])* $word:ident: $type:ty, $get:ident, $set:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub(crate) fn $get() -> $type {
            $word.get()
        }

        #[inline]
        pub(crate) fn $set(value: $type) {
            $word.set(value);
        }
    )*};
}

word! {
    /// The number of the present run.
    RUN: u64, run, set_run;
    /// The thread that runs.
    CURRENT: ProcessId, current, set_current;
    /// The run is given up: operations are nothing.
    IS_ENDING: bool, is_ending, set_ending;
    /// Threads were started that have not run.
    HAS_NEWS: bool, has_news, set_news;
    /// Something is noted of the thread that runs: what it has read, or what it owes.
    IS_NOTED: bool, is_noted, set_noted;
    /// What the task that runs does belongs to the step in which it moved, if it commutes to the left.
    MAY_FOLLOW: bool, may_follow, set_may_follow;
    /// Where the task that ran last has asked for something.
    PLACE: Option<&'static Location<'static>>, place, set_place;
    /// Who waits or notifies, see `waits`: bits, the last of which is for all processes from there on.
    STAGES: u64, stages, set_stages;
    /// Steps are recorded.
    RECORDS: bool, records, set_records;
}

fn stage_bit(process: ProcessId) -> u64 {
    1 << process.min(63)
}

/// Whether a process may be waiting or notifying.
#[inline]
pub(crate) fn has_stage(process: ProcessId) -> bool {
    stages() & stage_bit(process) != 0
}

/// Says that a process waits or notifies.
#[inline]
pub(crate) fn add_stage(process: ProcessId) {
    set_stages(stages() | stage_bit(process));
}

/// Says that a process does neither any more.
#[inline]
pub(crate) fn remove_stage(process: ProcessId) {
    if process < 63 {
        set_stages(stages() & !stage_bit(process));
    }
}
