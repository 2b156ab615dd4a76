//! Tasks as coroutines: all code that switches stacks, and nearly all `unsafe` of the crate.
//!
//! Invariants:
//! * All tasks of an exploration run on one operating system thread, one at a time, between `resume` and `suspend`.
//! * `YIELDER` points to the yielder of the task that runs, which lives on that task's stack, and is null while none
//!   runs. Only `suspend` reads it.
//! * `WORLD` points to the world that `resume` was given, exclusively borrowed until the task is suspended, and is null while no task runs.
//!   `with_world` takes it away while it uses it, so nobody has it twice.
//! * A task that is given up is either unwound, or its stack is reset and what was on it is never used again: its
//!   objects leak. The only ways to it were through tasks of the same run, all of which are given up together.

#![allow(unsafe_code)]

use super::Request;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};
use stubborn_schedule::World;

type Switch = Yielder<u64, Request>;

thread_local! {
    static YIELDER: Cell<*const Switch> = const { Cell::new(ptr::null()) };
    static WORLD: Cell<*mut World> = const { Cell::new(ptr::null_mut()) };
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// How a task ended by itself.
#[derive(Clone, Copy)]
pub(crate) enum Ending {
    /// It returned.
    Returned,
    /// It panicked.
    Panicked,
    /// It used more stack than it has.
    Overflowed,
}

/// What a task does next.
pub(crate) enum Next {
    /// It waits for an answer.
    Asks(Request),
    /// It has ended.
    Ends(Ending),
}

/// A task.
pub(crate) struct Task {
    coroutine: Coroutine<u64, Request, Ending>,
}

/// Stacks that were used are kept for tasks to come, at most so many.
const MAX_POOLED: usize = 1024;

impl Task {
    /// A task that has not begun. None if there is no memory for its stack.
    pub(crate) fn new(stack_size: usize, body: Box<dyn FnOnce()>) -> Option<Task> {
        let pooled = STACKS.with(|stacks| stacks.borrow_mut().pop());
        let stack = match pooled {
            Some(stack) => stack,
            None => DefaultStack::new(stack_size).ok()?,
        };
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Switch, _| {
            YIELDER.set(yielder);
            match std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)) {
                Ok(()) => Ending::Returned,
                Err(payload) => {
                    // Dropping it might panic again.
                    std::mem::forget(payload);
                    Ending::Panicked
                }
            }
        });
        Some(Task { coroutine })
    }

    /// Lets the task run in a world until it asks for something, or ends.
    #[inline]
    pub(crate) fn resume(&mut self, answer: u64, world: &mut World) -> Next {
        super::overflow::watch(Some(self.coroutine.trap_handler()));
        WORLD.set(world);
        let result = self.coroutine.resume(answer);
        WORLD.set(ptr::null_mut());
        super::overflow::watch(None);
        YIELDER.set(ptr::null());
        match result {
            CoroutineResult::Yield(request) => Next::Asks(request),
            CoroutineResult::Return(ending) => Next::Ends(ending),
        }
    }

    /// Gives the task up, with its destructors.
    pub(crate) fn unwind(mut self) {
        self.coroutine.force_unwind();
        YIELDER.set(ptr::null());
        self.recycle();
    }

    /// Gives the task up without its destructors.
    pub(crate) fn leak(mut self) {
        if !self.coroutine.done() {
            // SAFETY: what is on the stack leaks, see the invariants.
            unsafe { self.coroutine.force_reset() };
        }
        self.recycle();
    }

    /// Keeps the stack of a task that has ended.
    pub(crate) fn recycle(self) {
        let stack = self.coroutine.into_stack();
        STACKS.with(|stacks| {
            let mut stacks = stacks.borrow_mut();
            if stacks.len() < MAX_POOLED {
                stacks.push(stack);
            }
        });
    }
}

/// Stacks that no exploration uses, with their size.
static SPARE: Mutex<Vec<(usize, DefaultStack)>> = Mutex::new(Vec::new());

/// Fetches spare stacks of a size for an exploration that begins on this thread.
pub(crate) fn fetch_stacks(size: usize) {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let fetched: Vec<DefaultStack> =
        spare.extract_if(.., |(of, _)| *of == size).map(|(_, stack)| stack).collect();
    STACKS.with(|stacks| *stacks.borrow_mut() = fetched);
}

/// Gives the stacks of an exploration back.
pub(crate) fn return_stacks(size: usize) {
    // At the end of the thread there may be none any more.
    let Ok(used) = STACKS.try_with(|stacks| std::mem::take(&mut *stacks.borrow_mut())) else { return };
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    let room = MAX_POOLED.saturating_sub(spare.len());
    spare.extend(used.into_iter().take(room).map(|stack| (size, stack)));
}

/// Whether a task runs on this thread.
#[inline]
pub(crate) fn is_task() -> bool {
    !YIELDER.get().is_null()
}

/// Does something in the world in which a task runs; nothing if none runs.
#[inline]
pub(crate) fn with_world<R>(f: impl FnOnce(&mut World) -> R) -> Option<R> {
    let world = WORLD.replace(ptr::null_mut());
    if world.is_null() {
        return None;
    }
    // SAFETY: it was borrowed for as long as the task runs, and nobody else can get it now, see the invariants.
    let result = f(unsafe { &mut *world });
    WORLD.set(world);
    Some(result)
}

/// Asks for something and waits for the answer. Must be called in a task.
#[inline]
pub(crate) fn suspend(request: Request) -> u64 {
    let yielder = YIELDER.get();
    assert!(!yielder.is_null(), "outside of an exploration");
    // SAFETY: it is the yielder of the running task, see the invariants.
    let answer = unsafe { (*yielder).suspend(request) };
    YIELDER.set(yielder);
    answer
}

/// Makes a closure's lifetime long.
///
/// The caller sees to it that the closure is called and dropped, or leaks, before what it borrows is gone: `scope` waits
/// for its threads before it returns, and if it is given up, all tasks of the run are.
pub(crate) fn extend_lifetime<'a>(body: Box<dyn FnOnce() + 'a>) -> Box<dyn FnOnce() + 'static> {
    // SAFETY: as said above; both types have the same layout.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce() + 'static>>(body) }
}

/// A reference to what a box holds, for as long as its owner lives.
///
/// The caller sees to it that the box is not dropped or changed while `_owner` is borrowed.
pub(crate) fn extend_borrow<'a, T, O: ?Sized>(_owner: &'a O, value: &T) -> &'a T {
    // SAFETY: as said above.
    unsafe { &*ptr::from_ref(value) }
}

/// The place that was stored, if one was. Only places that live for ever are stored.
pub(crate) fn place(stored: &AtomicPtr<Location<'static>>) -> Option<&'static Location<'static>> {
    // SAFETY: null, or made of a reference to what lives for ever and never changes.
    unsafe { stored.load(Ordering::Relaxed).as_ref() }
}
