//! What every operation asks for: a few words of the operating system thread's own, without destructors and borrows.
//!
//! Everything else that tasks share is in `state`, which an operation looks at only if one of these words says so.

use std::cell::Cell;
use stubborn_schedule::ProcessId;

thread_local! {
    static RUN: Cell<u64> = const { Cell::new(0) };
    static CURRENT: Cell<ProcessId> = const { Cell::new(0) };
    static IS_ENDING: Cell<bool> = const { Cell::new(false) };
    static HAS_NEWS: Cell<bool> = const { Cell::new(false) };
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
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
    /// The task that runs has created or started something.
    HAS_NEWS: bool, has_news, set_news;
    /// Something is noted of the thread that runs: what it has read, or what it owes.
    IS_NOTED: bool, is_noted, set_noted;
    /// Steps are recorded.
    RECORDS: bool, records, set_records;
}
