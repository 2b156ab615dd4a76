//! Programs that are explored in several tests: small, well known, and the same for every explorer.

use stubborn_threads::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use stubborn_threads::sync::{Arc, Condvar, Mutex, RwLock};
use stubborn_threads::thread;

include!("all.rs");
