//! A task that runs for ever without a visible operation cannot be stopped, but it can be noticed.

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stubborn_schedule::ProcessId;

/// How far a worker has come, for who looks from outside.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    turns: AtomicU64,
    is_idle: AtomicBool,
    process: AtomicU32,
    place: AtomicPtr<Location<'static>>,
}

impl Progress {
    /// A task begins to run, after what it did there.
    pub(crate) fn turn(&self, process: ProcessId, place: Option<&'static Location<'static>>) {
        // Only this worker writes.
        self.turns.store(self.turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.process.store(process, Ordering::Relaxed);
        let place = place.map_or(std::ptr::null_mut(), |place| std::ptr::from_ref(place).cast_mut());
        self.place.store(place, Ordering::Relaxed);
    }

    /// The worker has nothing to do any more.
    pub(crate) fn rest(&self) {
        self.is_idle.store(true, Ordering::Relaxed);
    }
}

/// Workers that are watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watchdog {
    workers: Arc<Mutex<Vec<Arc<Progress>>>>,
}

/// Where a worker stood when it was looked at.
pub(crate) struct Look {
    turns: Vec<u64>,
    since: Vec<Instant>,
}

/// A worker that does not come on.
pub(crate) struct Stuck {
    pub(crate) process: ProcessId,
    pub(crate) place: Option<&'static Location<'static>>,
}

impl Watchdog {
    /// One more worker.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        let progress: Arc<Progress> = Arc::default();
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(progress.clone());
        progress
    }

    pub(crate) fn first_look(&self) -> Look {
        Look { turns: Vec::new(), since: Vec::new() }
    }

    /// A worker whose turn has lasted so long.
    pub(crate) fn look(&self, look: &mut Look, patience: Duration) -> Option<Stuck> {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        for (i, worker) in workers.iter().enumerate() {
            let turns = worker.turns.load(Ordering::Relaxed);
            if look.turns.len() <= i {
                look.turns.push(u64::MAX);
                look.since.push(Instant::now());
            }
            if look.turns[i] != turns || worker.is_idle.load(Ordering::Relaxed) {
                look.turns[i] = turns;
                look.since[i] = Instant::now();
            } else if turns > 0 && look.since[i].elapsed() >= patience {
                let process = worker.process.load(Ordering::Relaxed);
                let place = crate::runtime::switch::place(&worker.place);
                return Some(Stuck { process, place });
            }
        }
        None
    }
}
