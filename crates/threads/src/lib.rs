//! Rust threads, explored systematically. **Memory is sequentially consistent here: every operation takes effect at
//! once and for everybody, whatever ordering an atomic operation is given. Mistakes that only weaker memory
//! orderings allow are not found.** Everything else that can go wrong because of the order in which threads come is:
//! each run of the code is deterministic, and from every set of runs that differ in the order of independent
//! operations only, one is made.
//!
//! Use the types of [`sync`] and [`thread`] instead of those of the standard library, and call the code in
//! [`explore`]:
//!
//! ```should_panic
//! use stubborn_threads::sync::{Arc, Mutex};
//! use stubborn_threads::{explore, thread};
//!
//! explore(|| {
//!     let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
//!     let (a2, b2) = (a.clone(), b.clone());
//!     let other = thread::spawn(move || {
//!         let _b = b2.lock();
//!         let _a = a2.lock();
//!     });
//!     let _a = a.lock();
//!     let _b = b.lock(); // The threads can wait for each other: the report says how.
//!     drop((_b, _a));
//!     other.join().unwrap();
//! });
//! ```
//!
//! What else is not controlled: time, random numbers, input and output, primitives of other crates. Code that depends on
//! them is reported when it behaves differently in the same schedule. Reference counts of [`sync::Arc`] are explored where somebody can tell
//! them; those of the standard library's own `Arc` are not. There are no spurious wake-ups; timeouts are up at any time.

#![deny(unsafe_code)]

mod explore;
mod report;
mod runtime;
pub mod sync;
pub mod thread;
mod watchdog;

pub use explore::{Builder, ReplayError, explore};
pub use stubborn_schedule::objects::WakeOrder;
pub use stubborn_schedule::report::{Counterexample, Report, Step, Verdict, Waiting};
pub use stubborn_schedule::{Algorithm, FailureKind, NoSchedule, Stats};

/// Chooses a number below `n`; every one is explored. VeriSoft's `VS_toss(n - 1)`.
#[track_caller]
pub fn toss(n: u32) -> u32 {
    runtime::visible(stubborn_schedule::Op::toss(n)) as u32
}

/// What `std::hint` has for loops that wait.
pub mod hint {
    /// See [`std::hint::spin_loop`]: says that a loop waits.
    pub fn spin_loop() {
        crate::runtime::spin::hint();
    }
}
