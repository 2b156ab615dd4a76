//! Breadth-first search by several threads.
//!
//! **Implements** the search of [`breadth_first`](crate::breadth_first), level by level, for questions about single states: the
//! states of a level lie in chunks, threads take chunks, insert successors into one shared store and put what was new
//! for them into chunks of the next level. Small levels are left to one thread; the others sleep.
//! **Preserves** everything: which states are on a level does not depend on who finds them, so a search that comes to its
//! end has the states, transitions, terminal states and levels of a search by one thread.
//! **Differs** from the search by one thread in that there is no order within a level. So nothing is told about what is
//! sighted: whoever asks must search again in order ([`Ended::Seen`]). Numbers of a search that is cut short depend on who was first.
//! **Checked by** `oracle/tests/threads.rs`.

use crate::run::{BATCH, no_room};
use crate::{Limits, Sighting, Stats, Stop, Visitor, Watch};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stubborn_store::{Desk, SharedKeys};
use stubborn_system::{Batch, Fault};

/// How often the clock is looked at by a thread that has nothing to do.
const LOOK: Duration = Duration::from_millis(20);

/// Batches between two looks at the watch.
const TICK: u64 = 4;

/// How threads share the work.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How many there are.
    pub threads: usize,
    /// States that one takes at a time.
    pub chunk: usize,
    /// Chunks of a level from which on it is worth waking others.
    pub many: usize,
}

impl Pace {
    /// What is best for so many threads.
    pub fn of(threads: usize) -> Self {
        Self { threads, chunk: 256, many: 8 }
    }
}

/// Makes the successors of a key.
pub type Expand<'a, const N: usize> = dyn FnMut(&[u64; N], &mut Batch<[u64; N]>) -> Result<(), Fault> + 'a;

/// What a thread does with what makes successors and who looks at states.
pub type Work<'a, const N: usize> = dyn FnMut(&mut Expand<'_, N>, &mut dyn Visitor<[u64; N]>) + 'a;

/// What each thread needs.
pub trait Crew<const N: usize>: Sync {
    /// The initial state, in a batch.
    fn initial(&self, out: &mut Batch<[u64; N]>) -> Result<(), Fault>;

    /// Memory that all threads use for what they remember, in bytes.
    fn bytes(&self) -> usize {
        0
    }

    /// Calls `work` once in the thread that asks, with what makes successors there, and who looks at states.
    fn join(&self, work: &mut Work<'_, N>);
}

/// How a search by several threads ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything reachable was visited, and there was nothing to be seen.
    Complete,
    /// It gave up.
    Stopped(Stop),
    /// Something was seen, or went wrong; only a search in order can tell what.
    Seen,
}

/// Searches breadth-first, by several threads. The store is empty.
pub fn breadth_first_together<const N: usize>(
    crew: &dyn Crew<N>,
    store: &SharedKeys<N>,
    pace: Pace,
    limits: Limits,
    watch: &mut dyn Watch,
) -> (Ended, Stats) {
    let hall = Hall::new(crew, store, limits, pace);
    hall.begin(crew);
    std::thread::scope(|scope| {
        for _ in 1..hall.pace.threads {
            scope.spawn(|| hall.guarded(crew, None));
        }
        hall.guarded(crew, Some(watch));
    });
    let ended = hall.floor().ended.take().unwrap_or(Ended::Seen);
    (ended, hall.stats())
}

type Chunk<const N: usize> = Vec<[u64; N]>;

/// Where threads meet.
struct Hall<'a, const N: usize> {
    crew: &'a dyn Crew<N>,
    store: &'a SharedKeys<N>,
    limits: Limits,
    pace: Pace,
    floor: Mutex<Floor<N>>,
    /// Rung when there is work again, or will be none any more.
    bell: Condvar,
    is_over: AtomicBool,
    n_chunks: AtomicUsize,
    n_expanded: AtomicU64,
    edges: AtomicU64,
    terminal_states: AtomicU64,
    depth: AtomicU64,
    peak_bytes: AtomicUsize,
}

/// What is only touched one at a time.
struct Floor<const N: usize> {
    /// What is left of the level in hand.
    level: Vec<Chunk<N>>,
    coming: Vec<Chunk<N>>,
    /// Empty ones.
    spare: Vec<Chunk<N>>,
    /// Threads that sleep, and how often they were woken.
    n_idle: usize,
    n_calls: u64,
    ended: Option<Ended>,
}

impl<'a, const N: usize> Hall<'a, N> {
    fn new(crew: &'a dyn Crew<N>, store: &'a SharedKeys<N>, limits: Limits, pace: Pace) -> Self {
        let pace = Pace { threads: pace.threads.max(1), chunk: pace.chunk.max(1), ..pace };
        let floor = Floor {
            level: Vec::new(),
            coming: Vec::new(),
            spare: Vec::new(),
            n_idle: 0,
            n_calls: 0,
            ended: None,
        };
        Self {
            crew,
            store,
            limits,
            pace,
            floor: Mutex::new(floor),
            bell: Condvar::new(),
            is_over: AtomicBool::new(false),
            n_chunks: AtomicUsize::new(0),
            n_expanded: AtomicU64::new(0),
            edges: AtomicU64::new(0),
            terminal_states: AtomicU64::new(0),
            depth: AtomicU64::new(0),
            peak_bytes: AtomicUsize::new(0),
        }
    }

    fn floor(&self) -> MutexGuard<'_, Floor<N>> {
        self.floor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the search for everybody. Who comes first says how.
    fn end(&self, ended: Ended) {
        self.floor().ended.get_or_insert(ended);
        self.is_over.store(true, Relaxed);
        self.bell.notify_all();
    }

    /// Finds the initial state.
    fn begin(&self, crew: &dyn Crew<N>) {
        let mut batch = Batch::new();
        let mut begun = Err(Ended::Seen);
        if crew.initial(&mut batch).is_ok() {
            crew.join(&mut |_, visitor| {
                let mut hands = Hands::new(self);
                begun = hands.insert(&batch, visitor);
                hands.give(1);
            });
        }
        match begun {
            Ok(()) => self.next_level(&mut self.floor()),
            Err(ended) => self.end(ended),
        }
    }

    /// Goes on to the next level, or to the end.
    fn next_level(&self, floor: &mut Floor<N>) {
        if floor.coming.is_empty() {
            floor.ended.get_or_insert(Ended::Complete);
            self.is_over.store(true, Relaxed);
            self.bell.notify_all();
            return;
        }
        std::mem::swap(&mut floor.level, &mut floor.coming);
        if floor.level.len() >= self.pace.many {
            floor.n_idle = 0;
            floor.n_calls += 1;
            self.bell.notify_all();
        }
    }

    /// Takes part in the search; ends it if this thread panics, because others would wait for ever.
    fn guarded(&self, crew: &dyn Crew<N>, watch: Option<&mut dyn Watch>) {
        struct Guard<'g, 'a, const N: usize>(&'g Hall<'a, N>);
        impl<const N: usize> Drop for Guard<'_, '_, N> {
            fn drop(&mut self) {
                // If there is a cause already, it stays.
                self.0.end(Ended::Seen);
            }
        }
        let _guard = Guard(self);
        let mut watch = watch;
        crew.join(&mut |expand, visitor| {
            let mut hands = Hands::new(self);
            if let Err(ended) = hands.work(expand, visitor, &mut watch) {
                self.end(ended);
            }
            hands.account();
        });
    }

    /// Bytes in use.
    fn bytes(&self) -> usize {
        let chunk = self.pace.chunk * size_of::<[u64; N]>();
        self.store.bytes() + self.crew.bytes() + self.n_chunks.load(Relaxed) * chunk
    }

    fn stats(&self) -> Stats {
        // The one beyond the limit does not count.
        let states = (self.store.len() as u64).min(self.limits.states);
        Stats {
            states,
            edges: self.edges.load(Relaxed),
            terminal_states: self.terminal_states.load(Relaxed),
            depth: self.depth.load(Relaxed),
            queue: states.saturating_sub(self.n_expanded.load(Relaxed)),
            peak_bytes: self.peak_bytes.load(Relaxed).max(self.bytes()),
            ..Stats::default()
        }
    }
}

/// A thread at work.
struct Hands<'h, 'a, const N: usize> {
    hall: &'h Hall<'a, N>,
    /// New states that are not given to others yet.
    mine: Chunk<N>,
    desk: Desk,
    new: Vec<u32>,
    /// What is not accounted for yet.
    n_expanded: u64,
    edges: u64,
    terminal_states: u64,
    n_batches: u64,
}

impl<'h, 'a, const N: usize> Hands<'h, 'a, N> {
    fn new(hall: &'h Hall<'a, N>) -> Self {
        Self {
            hall,
            mine: Chunk::new(),
            desk: Desk::default(),
            new: Vec::new(),
            n_expanded: 0,
            edges: 0,
            terminal_states: 0,
            n_batches: 0,
        }
    }

    /// Takes chunks until there are none any more.
    fn work(
        &mut self,
        expand: &mut Expand<'_, N>,
        visitor: &mut dyn Visitor<[u64; N]>,
        watch: &mut Option<&mut dyn Watch>,
    ) -> Result<(), Ended> {
        let mut batch = Batch::new();
        let mut chunk = Chunk::new();
        loop {
            if !self.take(&mut chunk) {
                self.insert(&batch, visitor)?;
                batch.clear();
                self.give(1);
                self.account();
                if !self.wait(&mut chunk, watch)? {
                    return Ok(());
                }
            }
            for key in &chunk {
                let before = batch.len();
                expand(key, &mut batch).map_err(|_| Ended::Seen)?;
                self.n_expanded += 1;
                self.edges += (batch.len() - before) as u64;
                let is_terminal = batch.len() == before;
                let is_seen = batch.take_cut().is_some()
                    || batch.take_flag() && is_seen(visitor.flagged(key))
                    || is_terminal && is_seen(visitor.terminal(key));
                if is_seen {
                    return Err(Ended::Seen);
                }
                self.terminal_states += u64::from(is_terminal);
                if batch.len() >= BATCH {
                    self.insert(&batch, visitor)?;
                    batch.clear();
                    self.tick(watch)?;
                }
            }
        }
    }

    /// Inserts a batch and takes in what is new.
    fn insert(&mut self, batch: &Batch<[u64; N]>, visitor: &mut dyn Visitor<[u64; N]>) -> Result<(), Ended> {
        let (hall, limits) = (self.hall, self.hall.limits);
        let used = hall.bytes() + hall.pace.threads * batch.bytes();
        hall.peak_bytes.fetch_max(used, Relaxed);
        if used > limits.bytes {
            return Err(Ended::Stopped(Stop::Memory { limit: limits.bytes, needed: used - limits.bytes }));
        }
        self.new.clear();
        let mut new = std::mem::take(&mut self.new);
        let inserted = hall.store.insert(batch, limits.bytes - used, &mut self.desk, &mut new);
        inserted.map_err(|full| Ended::Stopped(no_room(&full, limits.bytes)))?;
        if !new.is_empty() && hall.store.len() as u64 > limits.states {
            return Err(Ended::Stopped(Stop::States { limit: limits.states }));
        }
        for &i in &new {
            let key = batch.state(i as usize);
            if is_seen(visitor.arrive(key)) {
                return Err(Ended::Seen);
            }
            self.mine.push(*key);
            self.give(hall.pace.chunk);
        }
        self.new = new;
        Ok(())
    }

    /// Gives new states to others, if there are so many.
    fn give(&mut self, least: usize) {
        if self.mine.len() < least {
            return;
        }
        let mut floor = self.hall.floor();
        let spare = floor.spare.pop();
        floor.coming.push(std::mem::replace(&mut self.mine, spare.unwrap_or_default()));
        if self.mine.capacity() == 0 {
            self.mine.reserve_exact(self.hall.pace.chunk);
            self.hall.n_chunks.fetch_add(1, Relaxed);
        }
    }

    /// Gives back a chunk that is done, and takes another; whether there was one.
    fn take(&mut self, chunk: &mut Chunk<N>) -> bool {
        let mut floor = self.hall.floor();
        self.exchange(&mut floor, chunk)
    }

    fn exchange(&self, floor: &mut Floor<N>, chunk: &mut Chunk<N>) -> bool {
        let mut done = std::mem::take(chunk);
        if done.capacity() > 0 {
            done.clear();
            floor.spare.push(done);
        }
        match floor.level.pop() {
            Some(next) if floor.ended.is_none() => {
                *chunk = next;
                true
            }
            _ => false,
        }
    }

    /// Waits for the next level and takes a chunk of it; whether there was one. The last to come goes on to the next level.
    fn wait(&mut self, chunk: &mut Chunk<N>, watch: &mut Option<&mut dyn Watch>) -> Result<bool, Ended> {
        let hall = self.hall;
        let mut floor = hall.floor();
        loop {
            if floor.ended.is_some() {
                return Ok(false);
            }
            if self.exchange(&mut floor, chunk) {
                return Ok(true);
            }
            floor.n_idle += 1;
            if floor.n_idle == hall.pace.threads {
                // It is the one that is awake if the others are left alone.
                floor.n_idle -= 1;
                hall.depth.fetch_add(u64::from(!floor.coming.is_empty()), Relaxed);
                hall.next_level(&mut floor);
                continue;
            }
            let n_calls = floor.n_calls;
            while floor.n_calls == n_calls && floor.ended.is_none() {
                let Some(watch) = watch else {
                    floor = hall.bell.wait(floor).unwrap_or_else(PoisonError::into_inner);
                    continue;
                };
                floor = hall.bell.wait_timeout(floor, LOOK).unwrap_or_else(PoisonError::into_inner).0;
                if floor.ended.is_none() && floor.n_calls == n_calls {
                    drop(floor);
                    watch.tick(&hall.stats()).map_or(Ok(()), |stop| Err(Ended::Stopped(stop)))?;
                    floor = hall.floor();
                }
            }
        }
    }

    /// Accounts for what was done, and looks whether to go on.
    fn tick(&mut self, watch: &mut Option<&mut dyn Watch>) -> Result<(), Ended> {
        self.n_batches += 1;
        if !self.n_batches.is_multiple_of(TICK) {
            return Ok(());
        }
        self.account();
        if let Some(watch) = watch {
            watch.tick(&self.hall.stats()).map_or(Ok(()), |stop| Err(Ended::Stopped(stop)))?;
        }
        // The cause is known.
        if self.hall.is_over.load(Relaxed) { Err(Ended::Seen) } else { Ok(()) }
    }

    fn account(&mut self) {
        let hall = self.hall;
        hall.n_expanded.fetch_add(std::mem::take(&mut self.n_expanded), Relaxed);
        hall.edges.fetch_add(std::mem::take(&mut self.edges), Relaxed);
        hall.terminal_states.fetch_add(std::mem::take(&mut self.terminal_states), Relaxed);
    }
}

/// Whether there is something to be told, or something went wrong.
fn is_seen(judged: Result<Option<Sighting>, Fault>) -> bool {
    !matches!(judged, Ok(None))
}
