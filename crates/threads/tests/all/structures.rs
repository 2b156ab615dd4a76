//! Structures that people build: right ones hold, and the same with a usual mistake do not.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use stubborn_threads::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst, fence};
use stubborn_threads::sync::{Arc, Condvar, Mutex, OnceLock, RwLock, mpsc};
use stubborn_threads::{Builder, FailureKind, Report, Verdict, hint, thread};

#[track_caller]
fn holds(f: impl Fn() + Send + Sync + 'static) -> Report {
    let report = Builder::new().check(f);
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    report
}

#[track_caller]
fn fails(kind: FailureKind, f: impl Fn() + Send + Sync + 'static) {
    let report = Builder::new().check(f);
    let story = report.counterexample().unwrap_or_else(|| panic!("{report}"));
    assert_eq!(story.kind, kind, "{report}");
}

/// Chase and Lev's deque with room for four: the owner pushes and pops at the bottom, thieves steal from the top.
struct Deque {
    top: AtomicUsize,
    bottom: AtomicUsize,
    tasks: [AtomicUsize; 4],
    /// Whether the owner asks for the last task as thieves do.
    careful: bool,
}

impl Deque {
    fn new(careful: bool) -> Deque {
        let tasks = std::array::from_fn(|_| AtomicUsize::new(0));
        Deque { top: AtomicUsize::new(0), bottom: AtomicUsize::new(0), tasks, careful }
    }

    fn push(&self, task: usize) {
        let bottom = self.bottom.load(SeqCst);
        self.tasks[bottom % 4].store(task, SeqCst);
        self.bottom.store(bottom + 1, SeqCst);
    }

    fn pop(&self) -> Option<usize> {
        let bottom = self.bottom.load(SeqCst).checked_sub(1)?;
        self.bottom.store(bottom, SeqCst);
        let top = self.top.load(SeqCst);
        if top > bottom {
            self.bottom.store(bottom + 1, SeqCst);
            return None;
        }
        let task = self.tasks[bottom % 4].load(SeqCst);
        if top < bottom || !self.careful {
            return Some(task);
        }
        let won = self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok();
        self.bottom.store(bottom + 1, SeqCst);
        won.then_some(task)
    }

    fn steal(&self) -> Option<usize> {
        let top = self.top.load(SeqCst);
        let bottom = self.bottom.load(SeqCst);
        if top >= bottom {
            return None;
        }
        let task = self.tasks[top % 4].load(SeqCst);
        self.top.compare_exchange(top, top + 1, SeqCst, SeqCst).is_ok().then_some(task)
    }
}

fn steals(careful: bool) {
    let deque = Arc::new(Deque::new(careful));
    deque.push(1);
    deque.push(2);
    let thief = thread::spawn({
        let deque = deque.clone();
        move || [deque.steal(), deque.steal()]
    });
    let mut done: Vec<usize> = [deque.pop(), deque.pop()].into_iter().flatten().collect();
    done.extend(thief.join().unwrap().into_iter().flatten());
    done.sort_unstable();
    assert!(done.windows(2).all(|two| two[0] != two[1]), "a task is done twice");
}

#[test]
fn tasks_are_stolen_once() {
    holds(|| steals(true));
    fails(FailureKind::Panic, || steals(false));
}

/// A sequence lock around two numbers that must agree.
fn sequence_lock(checks_again: bool) {
    let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)));
    let writer = thread::spawn({
        let shared = shared.clone();
        move || {
            shared.0.fetch_add(1, SeqCst);
            shared.1.store(1, SeqCst);
            shared.2.store(1, SeqCst);
            shared.0.fetch_add(1, SeqCst);
        }
    });
    loop {
        let before = shared.0.load(SeqCst);
        if before % 2 == 1 {
            hint::spin_loop();
            continue;
        }
        let seen = (shared.1.load(SeqCst), shared.2.load(SeqCst));
        fence(SeqCst);
        if !checks_again || shared.0.load(SeqCst) == before {
            assert_eq!(seen.0, seen.1);
            break;
        }
    }
    writer.join().unwrap();
}

#[test]
fn readers_of_a_sequence_lock_see_one_version() {
    holds(|| sequence_lock(true));
    fails(FailureKind::Assertion, || sequence_lock(false));
}

struct BoundedBuffer {
    items: Mutex<VecDeque<usize>>,
    not_full: Condvar,
    not_empty: Condvar,
}

impl BoundedBuffer {
    fn put(&self, item: usize, late: bool) {
        let items = self.items.lock().unwrap();
        let mut items = self.not_full.wait_while(items, |items| items.len() == 1).unwrap();
        items.push_back(item);
        if late {
            drop(items);
        }
        self.not_empty.notify_one();
    }

    fn take(&self) -> usize {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() {
            items = self.not_empty.wait(items).unwrap();
        }
        let item = items.pop_front().unwrap();
        self.not_full.notify_one();
        item
    }
}

fn buffered(late: bool) {
    let buffer = Arc::new(BoundedBuffer {
        items: Mutex::default(),
        not_full: Condvar::new(),
        not_empty: Condvar::new(),
    });
    let producers: Vec<_> = (1..=2)
        .map(|i| {
            let buffer = buffer.clone();
            thread::spawn(move || buffer.put(i, late))
        })
        .collect();
    assert_eq!(buffer.take() + buffer.take(), 3);
    producers.into_iter().for_each(|producer| producer.join().unwrap());
}

#[test]
fn a_buffer_hands_everything_over_whenever_it_notifies() {
    holds(|| buffered(false));
    holds(|| buffered(true));
}

/// A cell that is initialised when it is first asked for, with a look before the lock.
struct Lazy {
    is_ready: AtomicBool,
    lock: Mutex<()>,
    value: AtomicUsize,
    n_made: AtomicUsize,
}

impl Lazy {
    fn get(&self, looks_again: bool) -> usize {
        if !self.is_ready.load(SeqCst) {
            let _guard = self.lock.lock().unwrap();
            if !looks_again || !self.is_ready.load(SeqCst) {
                self.n_made.fetch_add(1, SeqCst);
                self.value.store(7, SeqCst);
                self.is_ready.store(true, SeqCst);
            }
        }
        self.value.load(SeqCst)
    }
}

fn initialised(looks_again: bool) {
    let lazy = Arc::new(Lazy {
        is_ready: AtomicBool::new(false),
        lock: Mutex::new(()),
        value: AtomicUsize::new(0),
        n_made: AtomicUsize::new(0),
    });
    let other = thread::spawn({
        let lazy = lazy.clone();
        move || lazy.get(looks_again)
    });
    assert_eq!((lazy.get(looks_again), other.join().unwrap()), (7, 7));
    assert_eq!(lazy.n_made.load(SeqCst), 1);
}

#[test]
fn a_lock_after_a_look_needs_a_second_look() {
    holds(|| initialised(true));
    fails(FailureKind::Assertion, || initialised(false));
}

/// What readers have stays as it was; the writer puts something new in its place.
#[test]
fn readers_of_a_snapshot_are_not_disturbed() {
    holds(|| {
        let current = Arc::new(RwLock::new(Arc::new(vec![1, 1])));
        let writer = thread::spawn({
            let current = current.clone();
            move || {
                let mut next = (**current.read().unwrap()).clone();
                next.iter_mut().for_each(|n| *n += 1);
                *current.write().unwrap() = Arc::new(next);
            }
        });
        let snapshot = current.read().unwrap().clone();
        assert_eq!(snapshot[0], snapshot[1]);
        writer.join().unwrap();
        assert_eq!(*current.read().unwrap().as_slice(), [2, 2]);
    });
}

#[test]
fn a_pointer_is_swapped_and_the_old_value_freed_when_nobody_reads() {
    let swapped = |waits: bool| {
        let (pointer, readers) = (AtomicPtr::new(Box::into_raw(Box::new(1))), AtomicUsize::new(0));
        let freed = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                readers.fetch_add(1, SeqCst);
                let seen = pointer.load(SeqCst);
                // Stands for a use of what is seen.
                let is_old = readers.load(SeqCst) > 0 && !seen.is_null();
                assert!(
                    !(is_old && freed.load(SeqCst) && seen != pointer.load(SeqCst)),
                    "used after it was freed"
                );
                readers.fetch_sub(1, SeqCst);
            });
            let old = pointer.swap(Box::into_raw(Box::new(2)), SeqCst);
            while waits && readers.load(SeqCst) > 0 {
                thread::yield_now();
            }
            freed.store(true, SeqCst);
            // SAFETY: a test; the reader does not use what it sees.
            drop(unsafe { Box::from_raw(old) });
        });
        // SAFETY: nobody else is left.
        drop(unsafe { Box::from_raw(pointer.load(SeqCst)) });
    };
    holds(move || swapped(true));
    fails(FailureKind::Panic, move || swapped(false));
}

#[test]
fn scoped_threads_share_what_is_on_the_stack() {
    holds(|| {
        let (mut numbers, total) = ([1, 2, 3, 4], Mutex::new(0));
        thread::scope(|scope| {
            for half in numbers.chunks_mut(2) {
                let total = &total;
                scope.spawn(move || {
                    half.iter_mut().for_each(|n| *n *= 2);
                    *total.lock().unwrap() += half.iter().sum::<i32>();
                });
            }
        });
        assert_eq!((total.into_inner().unwrap(), numbers[3]), (20, 8));
    });
}

#[test]
fn messages_of_several_senders_come_in_every_order() {
    let orders = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let into = orders.clone();
    holds(move || {
        let (sender, receiver) = mpsc::channel();
        for i in 0..3 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(i).unwrap());
        }
        drop(sender);
        let order: Vec<i32> = receiver.iter().collect();
        into.lock().unwrap().insert(order);
    });
    assert_eq!(orders.lock().unwrap().len(), 6);
}

type Job = Box<dyn FnOnce() + Send>;

/// Workers that take jobs until there is nobody left to send any.
struct Pool {
    sender: Option<mpsc::Sender<Job>>,
    workers: Vec<thread::JoinHandle<()>>,
}

impl Pool {
    fn new(n: usize) -> Pool {
        let (sender, receiver) = mpsc::channel::<Job>();
        let receiver = Arc::new(Mutex::new(receiver));
        let worker = |_| {
            let receiver = receiver.clone();
            thread::spawn(move || {
                loop {
                    let job = receiver.lock().unwrap().recv();
                    match job {
                        Ok(job) => job(),
                        Err(_) => return,
                    }
                }
            })
        };
        Pool { sender: Some(sender), workers: (0..n).map(worker).collect() }
    }

    fn run(&self, job: impl FnOnce() + Send + 'static) {
        self.sender.as_ref().unwrap().send(Box::new(job)).unwrap();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        drop(self.sender.take());
        self.workers.drain(..).for_each(|worker| worker.join().unwrap());
    }
}

#[test]
fn a_pool_does_all_its_jobs_before_it_goes() {
    holds(|| {
        let done = Arc::new(AtomicUsize::new(0));
        let pool = Pool::new(2);
        for _ in 0..2 {
            let done = done.clone();
            pool.run(move || {
                done.fetch_add(1, SeqCst);
            });
        }
        drop(pool);
        assert_eq!(done.load(SeqCst), 2);
    });
}

/// A pool whose workers wait on a condition variable, and are told to go.
fn pool_with_a_flag(notifies_all: bool) {
    struct Shared {
        state: Mutex<(VecDeque<usize>, bool)>,
        changed: Condvar,
    }
    let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut state = shared.state.lock().unwrap();
                loop {
                    if state.0.pop_front().is_some() {
                        continue;
                    }
                    if state.1 {
                        return;
                    }
                    state = shared.changed.wait(state).unwrap();
                }
            })
        })
        .collect();
    shared.state.lock().unwrap().0.push_back(1);
    shared.changed.notify_one();
    shared.state.lock().unwrap().1 = true;
    match notifies_all {
        true => shared.changed.notify_all(),
        false => shared.changed.notify_one(),
    }
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

#[test]
fn all_workers_must_be_told_to_go() {
    holds(|| pool_with_a_flag(true));
    fails(FailureKind::Deadlock, || pool_with_a_flag(false));
}

/// A lock that hands out tickets, around data of its own.
struct TicketLock {
    next: AtomicUsize,
    serving: AtomicUsize,
    data: UnsafeCell<usize>,
}

// SAFETY: who has been served has the data alone.
unsafe impl Sync for TicketLock {}

#[test]
fn tickets_are_served_one_by_one() {
    holds(|| {
        let lock = Arc::new(TicketLock {
            next: AtomicUsize::new(0),
            serving: AtomicUsize::new(0),
            data: UnsafeCell::new(0),
        });
        let add = |lock: &TicketLock| {
            let mine = lock.next.fetch_add(1, SeqCst);
            while lock.serving.load(SeqCst) != mine {
                hint::spin_loop();
            }
            // SAFETY: as said above.
            unsafe { *lock.data.get() += 1 };
            lock.serving.fetch_add(1, SeqCst);
        };
        let others: Vec<_> = (0..2)
            .map(|_| {
                let lock = lock.clone();
                thread::spawn(move || add(&lock))
            })
            .collect();
        add(&lock);
        others.into_iter().for_each(|other| other.join().unwrap());
        // SAFETY: nobody else is left.
        assert_eq!(unsafe { *lock.data.get() }, 3);
    });
}

#[test]
fn a_configuration_is_made_once() {
    holds(|| {
        let (cell, n) = (Arc::new(OnceLock::new()), Arc::new(AtomicUsize::new(0)));
        let others: Vec<_> = (0..2)
            .map(|i| {
                let (cell, n) = (cell.clone(), n.clone());
                thread::spawn(move || {
                    *cell.get_or_init(|| {
                        n.fetch_add(1, SeqCst);
                        i
                    })
                })
            })
            .collect();
        let seen: Vec<i32> = others.into_iter().map(|other| other.join().unwrap()).collect();
        assert_eq!((seen[0], n.load(SeqCst)), (seen[1], 1));
    });
}
