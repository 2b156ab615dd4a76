//! What `std::sync` has, and a semaphore and a bounded channel for several receivers.

mod arc;
pub mod atomic;
mod barrier;
mod channel;
mod coerce;
mod condvar;
pub mod mpsc;
mod mutex;
mod once;
mod rwlock;
mod semaphore;

pub use arc::{Arc, Weak};
pub use barrier::{Barrier, BarrierWaitResult};
pub use channel::{BoundedReceiver, BoundedSender, bounded};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use once::{LazyLock, Once, OnceLock};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::Semaphore;
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
