//! Threads, as `std::thread` has them.

use crate::runtime::state::{Name, Registered, State, with_state};
use crate::runtime::{self, exit, spin, switch, turn, visible_at, visible_on};
use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stubborn_schedule::objects::Process;
use stubborn_schedule::{Action, ObjectId, Op, ProcessId, World};

pub use std::thread::{Result, available_parallelism, panicking};

/// The task of a thread: its code, the destructors of its thread-local values, its end.
fn task(process: ProcessId, body: impl FnOnce()) -> impl FnOnce() {
    move || {
        body();
        if turn::is_noted() && with_state(spin::ends) {
            runtime::stop(runtime::state::LOOPS_MATTER.to_owned());
        }
        loop {
            match with_state(|state| last_thing(state, process)) {
                // A destructor may use other values of the thread, so they go one by one.
                Last::Local(local) => drop(local),
                Last::Exit(object, created) => return exit(object, created),
                Last::Nothing => return,
            }
        }
    }
}

/// What a thread has left to do when its code has ended.
enum Last {
    Local((usize, Box<dyn Any>)),
    Exit(ObjectId, &'static Location<'static>),
    Nothing,
}

fn last_thing(state: &mut State, process: ProcessId) -> Last {
    let is_visible = state.settings.exit_is_visible;
    let Some(thread) = state.thread(process) else { return Last::Nothing };
    match (thread.locals.pop(), thread.created) {
        (Some(local), _) => Last::Local(local),
        (None, Some(created)) if is_visible || !thread.owed.is_empty() => Last::Exit(thread.object, created),
        _ => Last::Nothing,
    }
}

/// The main thread.
pub(crate) fn main_task(body: impl FnOnce() + 'static, world: &mut World) -> Box<dyn FnOnce()> {
    with_state(|state| add(state, 0, Some(Cow::Borrowed("main")), Location::caller(), Some(world)));
    Box::new(task(0, body))
}

fn add(
    state: &mut State,
    process: ProcessId,
    name: Name,
    created: &'static Location<'static>,
    world: Option<&mut World>,
) -> ObjectId {
    let registered = Registered { kind: "thread", created: Some(created), process: Some(process) };
    let object = state.register(Process::new(process).into(), registered, world);
    state.add_thread(process, name, object, created);
    object
}

/// Starts a thread; what it returns goes to the packet.
#[track_caller]
fn start<'a, T: 'a>(
    name: Name,
    body: impl FnOnce() -> T + 'a,
    packet: Packet<T>,
    at_end: impl FnOnce() + 'a,
) -> (Thread, ProcessId) {
    if !switch::is_task() {
        panic!("a thread of stubborn-threads was started outside of `explore`");
    }
    let place = Location::caller();
    let added = with_state(|state| {
        if state.n_threads >= state.settings.max_threads {
            return Err(state.n_threads);
        }
        let process = state.name_child();
        let object = switch::with_world(|world| {
            world.start(process, turn::current());
            add(state, process, name.clone(), place, Some(world))
        });
        Ok((process, object.unwrap_or_default()))
    });
    let (process, object) = match added {
        Ok(added) => added,
        Err(n) => runtime::stop(format!("a run started more than {n} threads (`max_threads`)")),
    };
    let run = move || {
        let value = body();
        *packet.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        at_end();
    };
    let body = switch::extend_lifetime(Box::new(task(process, run)));
    with_state(|state| state.newborn.push_back((process, body)));
    turn::set_news(true);
    (Thread { name, process, object }, process)
}

type Packet<T> = Arc<Mutex<Option<T>>>;

/// See [`std::thread::spawn`].
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_named(None, f)
}

#[track_caller]
fn spawn_named<F, T>(name: Name, f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let packet: Packet<T> = Packet::default();
    let (thread, process) = start(name, f, packet.clone(), || {});
    JoinHandle { thread, process, packet, joined: false }
}

/// See [`std::thread::JoinHandle`].
#[derive(Debug)]
pub struct JoinHandle<T> {
    thread: Thread,
    process: ProcessId,
    packet: Packet<T>,
    joined: bool,
}

impl<T> JoinHandle<T> {
    /// See [`std::thread::JoinHandle::join`]. A thread that panics ends the run, so the result is always `Ok`.
    #[track_caller]
    pub fn join(mut self) -> Result<T> {
        self.joined = true;
        visible_on(self.thread.object, Action::Join);
        take(&self.packet)
    }

    /// See [`std::thread::JoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// See [`std::thread::JoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        is_finished(self.thread.object)
    }
}

/// Whether a thread has ended. The ends of threads must be operations then.
#[track_caller]
fn is_finished(object: ObjectId) -> bool {
    if !with_state(|state| state.settings.exit_is_visible) {
        runtime::stop(runtime::state::ENDS_MATTER.to_owned());
    }
    visible_on(object, Action::IsFinished) == 1
}

fn take<T>(packet: &Packet<T>) -> Result<T> {
    let value = packet.lock().unwrap_or_else(PoisonError::into_inner).take();
    value.ok_or_else(|| Box::new("the run was given up") as Box<dyn Any + Send>)
}

/// A thread whose handle is dropped is on its own: it may wait for ever when main has ended.
impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if !self.joined && switch::is_task() {
            let process = self.process;
            with_state(|state| {
                if let Some(thread) = state.thread(process) {
                    thread.is_detached = true;
                }
            });
        }
    }
}

/// See [`std::thread::Builder`].
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// See [`std::thread::Builder::new`].
    pub fn new() -> Builder {
        Builder::default()
    }

    /// See [`std::thread::Builder::name`].
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Has no effect: all tasks have stacks of the size that `explore::Builder` was given.
    pub fn stack_size(self, _size: usize) -> Builder {
        self
    }

    /// See [`std::thread::Builder::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Ok(spawn_named(self.name.map(Cow::Owned), f))
    }

    /// See [`std::thread::Builder::spawn_scoped`].
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Ok(scope.spawn_named(self.name.map(Cow::Owned), f))
    }
}

/// See [`std::thread::Scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    threads: Mutex<Vec<ObjectId>>,
    running: Arc<AtomicUsize>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// See [`std::thread::scope`].
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope =
        Scope { threads: Mutex::default(), running: Arc::default(), scope: PhantomData, env: PhantomData };
    let _wait =
        WaitForAll { place: Location::caller(), threads: &scope.threads, running: scope.running.clone() };
    f(&scope)
}

/// Waits for the threads of a scope, also when the scope's closure panics: they borrow from the frames that go.
struct WaitForAll<'s> {
    place: &'static Location<'static>,
    threads: &'s Mutex<Vec<ObjectId>>,
    running: Arc<AtomicUsize>,
}

impl Drop for WaitForAll<'_> {
    fn drop(&mut self) {
        // When a run is given up, tasks are unwound one by one, and nobody runs again.
        if !switch::is_task() || turn::is_ending() {
            return;
        }
        if self.running.load(Ordering::Relaxed) == 0 && std::thread::panicking() {
            return;
        }
        // In a panic the first of these ends the run: the frames that threads borrow from stay where they are.
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for object in threads {
            visible_at(Op::on(object, Action::Join), self.place);
        }
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// See [`std::thread::Scope::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_named(None, f)
    }

    #[track_caller]
    fn spawn_named<F, T>(&'scope self, name: Name, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let packet: Packet<T> = Packet::default();
        let running = self.running.clone();
        running.fetch_add(1, Ordering::Relaxed);
        let at_end = move || {
            running.fetch_sub(1, Ordering::Relaxed);
        };
        let (thread, _) = start(name, f, packet.clone(), at_end);
        let object = thread.object;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(object);
        ScopedJoinHandle { thread, packet, scope: PhantomData }
    }
}

/// See [`std::thread::ScopedJoinHandle`].
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    packet: Packet<T>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// See [`std::thread::ScopedJoinHandle::join`].
    #[track_caller]
    pub fn join(self) -> Result<T> {
        visible_on(self.thread.object, Action::Join);
        take(&self.packet)
    }

    /// See [`std::thread::ScopedJoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// See [`std::thread::ScopedJoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        is_finished(self.thread.object)
    }
}

/// See [`std::thread::Thread`].
#[derive(Clone)]
pub struct Thread {
    name: Name,
    process: ProcessId,
    object: ObjectId,
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// See [`std::thread::ThreadId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(ProcessId);

impl Thread {
    /// See [`std::thread::Thread::unpark`].
    #[track_caller]
    pub fn unpark(&self) {
        visible_on(self.object, Action::Unpark);
    }

    /// See [`std::thread::Thread::id`].
    pub fn id(&self) -> ThreadId {
        ThreadId(self.process)
    }

    /// See [`std::thread::Thread::name`].
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// See [`std::thread::current`].
pub fn current() -> Thread {
    with_state(|state| {
        let process = turn::current();
        let me = state.me();
        Thread { name: me.name.clone(), process, object: me.object }
    })
}

/// See [`std::thread::park`]. There are no spurious wake-ups.
#[track_caller]
pub fn park() {
    let object = with_state(|state| state.me().object);
    visible_on(object, Action::Park);
}

/// See [`std::thread::park_timeout`]: returns when there is a permit, or at any other time.
#[track_caller]
pub fn park_timeout(_time: Duration) {
    let object = with_state(|state| state.me().object);
    visible_on(object, Action::TimedPark);
}

/// See [`std::thread::yield_now`]: says that a loop waits.
pub fn yield_now() {
    spin::hint();
}

/// See [`std::thread::sleep`]: time is not modelled, every interleaving is explored anyway.
pub fn sleep(_time: Duration) {
    spin::hint();
}

/// A value of each thread, as declared with [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    make: fn() -> T,
    /// A place in memory that only this key has.
    key: &'static u8,
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(key: &'static u8, make: fn() -> T) -> LocalKey<T> {
        LocalKey { make, key }
    }

    fn value(&'static self) -> std::rc::Rc<T> {
        let key = std::ptr::from_ref(self.key) as usize;
        let find = || {
            with_state(|state| {
                let found = state.me().locals.iter().find(|(other, _)| *other == key)?;
                found.1.downcast_ref::<std::rc::Rc<T>>().cloned()
            })
        };
        find().unwrap_or_else(|| {
            let value = std::rc::Rc::new((self.make)());
            let kept: Box<dyn Any> = Box::new(value.clone());
            with_state(|state| state.me().locals.push((key, kept)));
            value
        })
    }

    /// See [`std::thread::LocalKey::with`].
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        f(&self.value())
    }
}

impl<T: 'static> LocalKey<std::cell::Cell<T>> {
    /// See [`std::thread::LocalKey::set`].
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// See [`std::thread::LocalKey::get`].
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(std::cell::Cell::get)
    }

    /// See [`std::thread::LocalKey::replace`].
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// See [`std::thread::LocalKey::with_borrow`].
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// See [`std::thread::LocalKey::with_borrow_mut`].
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }
}

/// See [`std::thread_local`]; each thread of a run has its own value.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static $name:ident : $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $crate::thread_local!($(#[$attribute])* $visibility static $name: $type = $init);
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attribute:meta])* $visibility:vis static $name:ident : $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $visibility static $name: $crate::thread::LocalKey<$type> = {
            static KEY: u8 = 0;
            fn make() -> $type {
                $init
            }
            $crate::thread::LocalKey::new(&KEY, make)
        };
        $($crate::thread_local!($($rest)*);)?
    };
}
