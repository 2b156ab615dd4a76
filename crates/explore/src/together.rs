//! Breadth-first search for states alone, by one thread or several.
//!
//! **Implements** the search of [`breadth_first`](crate::breadth_first), level by level, for questions about single states: the
//! states of a level lie in chunks, threads take chunks, sort successors by the regions of one set of keys, insert them region by region and put what was new
//! into chunks of the next level. If another thread has a region, it is left what was found of it, and the new states of that are its own ([`Mailbox`]). Nobody waits for a
//! region, but for a thread that is far behind: what it may keep is bounded. A thread comes to the end of a level when it has passed on all that it found and has inserted what was left to it; so
//! when all have come, nothing is left. Small levels are left to one thread; the others sleep. Nobody asks which transition led to
//! a state, so these are not made.
//! **Preserves** everything: which states are on a level does not depend on who finds them, so a search that comes to its
//! end has the states, transitions, terminal states and levels of a search by one thread.
//! **Differs** from the search in order in that there is no order within a level. So nothing is told about what is
//! sighted: whoever asks must search again in order ([`Ended::InOrder`]). Numbers of a search that is cut short depend on who was first.
//! **Checked by** `oracle/tests/all/threads.rs`, and `oracle/tests/all/combining.rs` for how regions are shared and levels end.

use crate::explorer::{Counts, Crew, Explorer, SETTLED, Unclear};
use crate::leads::{Leads, Young};
use crate::run::{BATCH, no_room};
use crate::{Limits, Stats, Stop, Watch};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stubborn_packed::States;
use stubborn_store::{Combine, Mailbox, Region, Regions};
use stubborn_system::Batch;

/// How often the clock is looked at by a thread that has nothing to do.
const LOOK: Duration = Duration::from_millis(20);

/// How often a thread that has nothing to do looks whether others are done, before it sleeps.
const PATIENCE: u32 = 1 << 10;

/// Batches between two looks at the watch.
const TICK: u64 = 4;

/// Batches of a region that all threads together may leave for the one that has the region, and may keep when they have.
const BEHIND: usize = 128;

/// States that are settled between two batches: each may take as long as thousands take that are expanded.
const MOST_SETTLED: u32 = 64;

/// How long a thread sleeps that cannot go on without a region, after it has tried a while.
const PAUSE: Duration = Duration::from_micros(100);

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
        Self { threads, chunk: if threads == 1 { 1024 } else { 256 }, many: 8 }
    }
}

/// How a search by several threads ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything reachable was visited, and there was nothing to be seen.
    Complete,
    /// It gave up.
    Stopped(Stop),
    /// Only a search in order can go on.
    InOrder(Unclear),
}

/// Searches breadth-first, by several threads. The set is empty.
pub fn breadth_first_together<const N: usize>(
    crew: &(dyn Crew<N> + Sync),
    store: &Regions<N>,
    pace: Pace,
    limits: Limits,
    watch: &mut dyn Watch,
) -> (Ended, Stats) {
    let hall = Hall::new(store, limits, pace);
    hall.begin(crew);
    std::thread::scope(|scope| {
        for _ in 1..hall.pace.threads {
            scope.spawn(|| hall.guarded(crew, None));
        }
        hall.guarded(crew, Some(watch));
    });
    hall.close()
}

/// The same by the thread that calls it.
pub fn breadth_first_alone<const N: usize>(
    crew: &dyn Crew<N>,
    store: &Regions<N>,
    limits: Limits,
    watch: &mut dyn Watch,
) -> (Ended, Stats) {
    let hall = Hall::new(store, limits, Pace::of(1));
    hall.begin(crew);
    hall.guarded(crew, Some(watch));
    hall.close()
}

/// Some states of a level.
#[derive(Default)]
struct Chunk<const N: usize> {
    states: States<N>,
    /// If ignoring is minded: the number of the first in the level.
    first: u32,
}

/// Where threads meet.
struct Hall<'a, const N: usize> {
    store: &'a Regions<N>,
    /// For each region, what was found while another thread had it.
    mail: Vec<Mailbox<States<N>>>,
    limits: Limits,
    pace: Pace,
    floor: Mutex<Floor<N>>,
    /// Rung when there is work again, or will be none any more.
    bell: Condvar,
    is_over: AtomicBool,
    leads: Leads,
    /// How often threads that wait were called.
    n_calls: AtomicU64,
    /// Threads that have come so far.
    n_hands: AtomicUsize,
    n_chunks: AtomicUsize,
    /// Room for batches beyond one for each thread and region.
    n_rooms: AtomicUsize,
    /// Bytes that all threads remember.
    remembered: AtomicUsize,
    n_expanded: AtomicU64,
    edges: AtomicU64,
    terminal_states: AtomicU64,
    repairs: AtomicU64,
    choosing: AtomicU64,
    depth: AtomicU64,
    peak_bytes: AtomicUsize,
}

/// What is only touched one at a time.
struct Floor<const N: usize> {
    /// What is left of the level in hand.
    level: Vec<Chunk<N>>,
    /// If ignoring is minded: what was expanded of it, and whether that is what is in hand now.
    expanded: Vec<Chunk<N>>,
    looks_back: bool,
    coming: Vec<Chunk<N>>,
    /// Empty ones.
    spare: Vec<Chunk<N>>,
    /// Threads that sleep.
    n_idle: usize,
    ended: Option<Ended>,
}

impl<'a, const N: usize> Hall<'a, N> {
    fn new(store: &'a Regions<N>, limits: Limits, pace: Pace) -> Self {
        let pace = Pace { threads: pace.threads.max(1), chunk: pace.chunk.max(1), ..pace };
        let floor = Floor {
            level: Vec::new(),
            expanded: Vec::new(),
            looks_back: false,
            coming: Vec::new(),
            spare: Vec::new(),
            n_idle: 0,
            ended: None,
        };
        let mail = (0..store.n()).map(|_| Mailbox::new(pace.threads)).collect();
        Self {
            store,
            mail,
            limits,
            pace,
            floor: Mutex::new(floor),
            bell: Condvar::new(),
            is_over: AtomicBool::new(false),
            leads: Leads::default(),
            n_calls: AtomicU64::new(0),
            n_hands: AtomicUsize::new(0),
            n_chunks: AtomicUsize::new(0),
            n_rooms: AtomicUsize::new(0),
            remembered: AtomicUsize::new(0),
            n_expanded: AtomicU64::new(0),
            edges: AtomicU64::new(0),
            terminal_states: AtomicU64::new(0),
            repairs: AtomicU64::new(0),
            choosing: AtomicU64::new(0),
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
        let mut begun = Err(Ended::InOrder(Unclear::Seen));
        if crew.initial(&mut batch).is_ok() {
            let mut states = States::default();
            (0..batch.len()).for_each(|i| states.push(batch.state(i), 0));
            crew.join(&mut |explorer| {
                if explorer.minds_ignoring() {
                    self.leads.mind();
                }
                let mut hands = Hands::new(self);
                begun = hands.sort(&states, explorer).and_then(|()| hands.pass_all(explorer));
                hands.give(1);
            });
        }
        match begun {
            Ok(()) => self.next_level(&mut self.floor()),
            Err(ended) => self.end(ended),
        }
    }

    /// Goes on to the next level, or to the end; before that, once more through the level that was expanded, if ignoring is minded.
    fn next_level(&self, floor: &mut Floor<N>) {
        debug_assert!(self.mail.iter().all(Mailbox::is_empty), "a level ends when everything is inserted");
        floor.looks_back = !floor.expanded.is_empty();
        if floor.looks_back {
            std::mem::swap(&mut floor.level, &mut floor.expanded);
        } else if floor.coming.is_empty() {
            floor.ended.get_or_insert(Ended::Complete);
            self.is_over.store(true, Relaxed);
            self.bell.notify_all();
            return;
        } else {
            std::mem::swap(&mut floor.level, &mut floor.coming);
            self.depth.fetch_add(1, Relaxed);
            if self.leads.is_minded() {
                self.number(&mut floor.level);
            }
        }
        if floor.level.len() >= self.pace.many {
            floor.n_idle = 0;
            self.n_calls.fetch_add(1, Relaxed);
            self.bell.notify_all();
        }
    }

    /// Gives the states of a level numbers.
    fn number(&self, level: &mut [Chunk<N>]) {
        let mut n = 0;
        for chunk in level {
            chunk.first = n as u32;
            n += chunk.states.len();
        }
        self.leads.begin(n);
    }

    /// Takes part in the search; ends it if this thread panics, because others would wait for ever.
    fn guarded(&self, crew: &dyn Crew<N>, watch: Option<&mut dyn Watch>) {
        struct Guard<'g, 'a, const N: usize>(&'g Hall<'a, N>);
        impl<const N: usize> Drop for Guard<'_, '_, N> {
            fn drop(&mut self) {
                // If there is a cause already, it stays.
                self.0.end(Ended::InOrder(Unclear::Seen));
            }
        }
        let _guard = Guard(self);
        let mut watch = watch;
        crew.join(&mut |explorer| {
            let mut hands = Hands::new(self);
            if let Err(ended) = hands.work(explorer, &mut watch) {
                self.end(ended);
            }
            hands.account(explorer);
        });
    }

    /// Bytes in use.
    fn bytes(&self) -> usize {
        let state = size_of::<[u64; N]>() + size_of::<u32>();
        let found = self.pace.threads * self.store.n() + self.n_rooms.load(Relaxed);
        self.store.bytes()
            + self.remembered.load(Relaxed)
            + self.leads.bytes()
            + self.n_chunks.load(Relaxed) * self.pace.chunk * state
            + found * BATCH * state
    }

    /// States of a region with which a thread is far behind.
    fn many_behind(&self) -> usize {
        (BEHIND / self.pace.threads).max(1) * BATCH
    }

    /// Makes sure that so many states find room in a batch. One for each thread and region is accounted for already; these grow by themselves.
    fn make_room(&self, batch: &mut States<N>, more: usize) {
        let (len, room) = (batch.len(), batch.keys.capacity());
        if len + more > room && (room == 0 || room >= BATCH) {
            let n = (len + more - room).max(room).div_ceil(BATCH);
            batch.keys.reserve_exact(room + n * BATCH - len);
            batch.notes.reserve_exact(room + n * BATCH - len);
            self.n_rooms.fetch_add(n, Relaxed);
        }
    }

    fn close(&self) -> (Ended, Stats) {
        let ended = self.floor().ended.take().unwrap_or(Ended::InOrder(Unclear::Seen));
        (ended, self.stats())
    }

    fn stats(&self) -> Stats {
        // The one beyond the limit does not count.
        let states = (self.store.len() as u64).min(self.limits.states);
        Stats {
            states,
            edges: self.edges.load(Relaxed),
            terminal_states: self.terminal_states.load(Relaxed),
            // The first level has no number.
            depth: self.depth.load(Relaxed).saturating_sub(1),
            repairs: self.repairs.load(Relaxed),
            choosing: self.choosing.load(Relaxed),
            queue: states.saturating_sub(self.n_expanded.load(Relaxed)),
            peak_bytes: self.peak_bytes.load(Relaxed).max(self.bytes()),
            ..Stats::default()
        }
    }
}

/// A thread at work.
struct Hands<'h, 'a, const N: usize> {
    hall: &'h Hall<'a, N>,
    /// Its number among those that are at work.
    thread: usize,
    /// The region that it begins with.
    first: usize,
    /// States that were found, by the region of their keys.
    found: Vec<States<N>>,
    /// What another thread has found is taken in exchange for this, which is empty.
    spare: States<N>,
    /// New states that are not given to others yet.
    mine: Chunk<N>,
    /// If ignoring is minded: states of the next level.
    young: Option<Young<N>>,
    /// Whether the chunk in hand was expanded before.
    looks_back: bool,
    new: Vec<u32>,
    /// Bytes that were accounted for, and what choosing has taken.
    remembered: usize,
    choosing: u64,
    /// What is not accounted for yet.
    n_expanded: u64,
    counts: Counts,
    n_batches: u64,
}

impl<'h, 'a, const N: usize> Hands<'h, 'a, N> {
    fn new(hall: &'h Hall<'a, N>) -> Self {
        let number = hall.n_hands.fetch_add(1, Relaxed);
        Self {
            hall,
            // The one that finds the initial state is gone when others come.
            thread: number % hall.pace.threads,
            first: number * hall.store.n() / hall.pace.threads,
            found: vec![States::default(); hall.store.n()],
            spare: States::default(),
            mine: Chunk::default(),
            young: hall.leads.is_minded().then(Young::new),
            looks_back: false,
            new: Vec::new(),
            remembered: 0,
            choosing: 0,
            n_expanded: 0,
            counts: Counts::default(),
            n_batches: 0,
        }
    }

    /// Takes chunks until there are none any more.
    fn work(
        &mut self,
        explorer: &mut dyn Explorer<N>,
        watch: &mut Option<&mut dyn Watch>,
    ) -> Result<(), Ended> {
        let mut batch = States::default();
        let mut chunk = Chunk::default();
        loop {
            if !self.take(&mut chunk) {
                self.pass_all(explorer)?;
                self.give(1);
                // There may be many levels and never a full batch.
                self.look(explorer, watch)?;
                if !self.wait(&mut chunk, watch)? {
                    return Ok(());
                }
            }
            let mut done = 0;
            while done < chunk.states.len() {
                let before = done;
                let counts = if self.looks_back {
                    self.look_back(&chunk.states, &mut done, &mut batch, explorer)?
                } else {
                    explorer.expand(&mut chunk.states, &mut done, BATCH, &mut batch)?
                };
                self.n_expanded += if self.looks_back { 0 } else { (done - before) as u64 };
                self.counts.add(counts);
                self.sort(&batch, explorer)?;
                batch.clear();
                self.tick(explorer, watch)?;
            }
        }
    }

    /// Settles states from number `*n` on, which is moved on, until enough was found.
    fn look_back(
        &self,
        states: &States<N>,
        n: &mut usize,
        out: &mut States<N>,
        explorer: &mut dyn Explorer<N>,
    ) -> Result<Counts, Unclear> {
        let marks = self.hall.leads.marks();
        let (mut counts, mut n_settled) = (Counts::default(), 0);
        while *n < states.len() && out.len() < BATCH && n_settled < MOST_SETTLED {
            let (key, note) = (&states.keys[*n], states.notes[*n]);
            if note != SETTLED && !marks.is_marked(note) {
                counts.add(explorer.settle(key, out)?);
                n_settled += 1;
            }
            *n += 1;
        }
        Ok(counts)
    }

    /// Sorts states that were found by the regions of their keys, and passes those of a region on when they are many.
    fn sort(&mut self, states: &States<N>, explorer: &mut dyn Explorer<N>) -> Result<(), Ended> {
        for (key, &note) in states.keys.iter().zip(&states.notes) {
            let region = self.hall.store.region_of(key);
            let found = &mut self.found[region];
            found.keys.push(*key);
            found.notes.push(note);
            if found.len().is_multiple_of(BATCH) {
                while !self.pass(region, explorer)? && self.found[region].len() >= self.hall.many_behind() {
                    self.wait_for(region)?;
                }
            }
        }
        Ok(())
    }

    /// Passes on everything that was found. Threads come to this at the same time, so each begins with another region.
    fn pass_all(&mut self, explorer: &mut dyn Explorer<N>) -> Result<(), Ended> {
        let n = self.found.len();
        for i in 0..n {
            let region = (self.first + i) % n;
            while !self.pass(region, explorer)? {
                self.wait_for(region)?;
            }
        }
        Ok(())
    }

    /// Waits until it is worth trying again to pass on what was found of a region, if this thread cannot do any more without.
    #[cold]
    fn wait_for(&self, region: usize) -> Result<(), Ended> {
        let Hall { store, mail, is_over, .. } = self.hall;
        for n in 0.. {
            if is_over.load(Relaxed) {
                // The cause is known.
                return Err(Ended::InOrder(Unclear::Seen));
            }
            if mail[region].may_pass(store.region(region), self.thread) {
                break;
            }
            if n < PATIENCE { std::hint::spin_loop() } else { std::thread::sleep(PAUSE) }
        }
        Ok(())
    }

    /// Inserts what was found of a region, or leaves it for the thread that has the region; takes in what is new of that and of what others have left. If the answer
    /// is `false`, neither was possible yet.
    fn pass(&mut self, region: usize, explorer: &mut dyn Explorer<N>) -> Result<bool, Ended> {
        if self.found[region].is_empty() {
            return Ok(true);
        }
        let hall = self.hall;
        let mut found = std::mem::take(&mut self.found[region]);
        let mut spare = std::mem::take(&mut self.spare);
        let (mail, thread) = (&hall.mail[region], self.thread);
        let mut inserting = Inserting { hands: self, explorer };
        let passed = mail.pass(hall.store.region(region), thread, &mut found, &mut spare, &mut inserting);
        // If it was left, this is another one, which may never have been in use.
        hall.make_room(&mut found, 1);
        (self.found[region], self.spare) = (found, spare);
        passed
    }

    /// Inserts keys into a region that this thread has, and notes which are new.
    fn insert(
        &mut self,
        region: &mut Region<N>,
        keys: &[[u64; N]],
        explorer: &dyn Explorer<N>,
    ) -> Result<(), Ended> {
        let (hall, limits) = (self.hall, self.hall.limits);
        let bytes = explorer.bytes() + self.young.as_ref().map_or(0, Young::bytes);
        let before = std::mem::replace(&mut self.remembered, bytes);
        if self.remembered != before {
            hall.remembered.fetch_add(self.remembered.wrapping_sub(before), Relaxed);
        }
        let used = hall.bytes();
        if used > hall.peak_bytes.load(Relaxed) {
            hall.peak_bytes.fetch_max(used, Relaxed);
        }
        if used > limits.bytes {
            return Err(Ended::Stopped(Stop::Memory { limit: limits.bytes, needed: used - limits.bytes }));
        }
        self.new.clear();
        // More at a time would not stay in the cache between the first look at a key and the second.
        for (i, keys) in keys.chunks(BATCH).enumerate() {
            let before = self.new.len();
            let room = limits.bytes.saturating_sub(if i == 0 { used } else { hall.bytes() });
            let inserted = hall.store.insert(region, keys, room, &mut self.new);
            inserted.map_err(|full| Ended::Stopped(no_room(&full, limits.bytes)))?;
            self.new[before..].iter_mut().for_each(|new| *new += (i * BATCH) as u32);
        }
        Ok(())
    }

    /// Takes in what is new of states that were inserted.
    fn take_in(&mut self, found: &States<N>, explorer: &mut dyn Explorer<N>) -> Result<(), Ended> {
        let (hall, limits) = (self.hall, self.hall.limits);
        if !self.new.is_empty() && hall.store.len() as u64 > limits.states {
            return Err(Ended::Stopped(Stop::States { limit: limits.states }));
        }
        if explorer.looks_at_new() {
            explorer.arrive(&found.keys, &self.new)?;
        }
        if let Some(young) = &mut self.young {
            let (marks, level) = (hall.leads.marks(), hall.depth.load(Relaxed) as u32 + 1);
            self.new.iter().for_each(|&i| marks.mark(found.notes[i as usize]));
            young.meet(&found.keys, &self.new, level, |i| marks.mark(found.notes[i]));
        }
        let new = std::mem::take(&mut self.new);
        let mut rest = &new[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(hall.pace.chunk - self.mine.states.len()));
            self.mine.states.extend(found, now);
            self.give(hall.pace.chunk);
            rest = later;
        }
        self.new = new;
        Ok(())
    }

    /// Gives new states to others, if there are so many.
    fn give(&mut self, least: usize) {
        if self.mine.states.len() < least {
            return;
        }
        let mut floor = self.hall.floor();
        let spare = floor.spare.pop().unwrap_or_default();
        floor.coming.push(std::mem::replace(&mut self.mine, spare));
        if self.mine.states.keys.capacity() == 0 {
            self.mine.states.keys.reserve_exact(self.hall.pace.chunk);
            self.mine.states.notes.reserve_exact(self.hall.pace.chunk);
            self.hall.n_chunks.fetch_add(1, Relaxed);
        }
    }

    /// Gives back a chunk that is done, and takes another; whether there was one.
    fn take(&mut self, chunk: &mut Chunk<N>) -> bool {
        let mut floor = self.hall.floor();
        self.exchange(&mut floor, chunk)
    }

    fn exchange(&mut self, floor: &mut Floor<N>, chunk: &mut Chunk<N>) -> bool {
        let mut done = std::mem::take(chunk);
        if done.states.keys.capacity() > 0 {
            if self.hall.leads.is_minded() && !self.looks_back {
                floor.expanded.push(done);
            } else {
                done.states.clear();
                floor.spare.push(done);
            }
        }
        let Some(next) = floor.level.pop().filter(|_| floor.ended.is_none()) else { return false };
        *chunk = next;
        self.looks_back = floor.looks_back;
        if self.hall.leads.is_minded() && !self.looks_back {
            (chunk.first..).zip(&mut chunk.states.notes).for_each(|(number, note)| *note = number);
        }
        true
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
                hall.next_level(&mut floor);
                continue;
            }
            // Whoever calls has the floor, and whoever ends the search says so there.
            let n_calls = hall.n_calls.load(Relaxed);
            let is_called = || hall.n_calls.load(Relaxed) != n_calls;
            drop(floor);
            // Others will be done soon: to sleep and be woken takes longer.
            (0..PATIENCE).find(|_| {
                std::hint::spin_loop();
                is_called()
            });
            floor = hall.floor();
            while !is_called() && floor.ended.is_none() {
                let Some(watch) = watch else {
                    floor = hall.bell.wait(floor).unwrap_or_else(PoisonError::into_inner);
                    continue;
                };
                floor = hall.bell.wait_timeout(floor, LOOK).unwrap_or_else(PoisonError::into_inner).0;
                if !is_called() && floor.ended.is_none() {
                    drop(floor);
                    watch.tick(&hall.stats()).map_or(Ok(()), |stop| Err(Ended::Stopped(stop)))?;
                    floor = hall.floor();
                }
            }
        }
    }

    /// From time to time, looks whether to go on.
    fn tick(&mut self, explorer: &dyn Explorer<N>, watch: &mut Option<&mut dyn Watch>) -> Result<(), Ended> {
        self.n_batches += 1;
        if self.n_batches.is_multiple_of(TICK) { self.look(explorer, watch) } else { Ok(()) }
    }

    /// Accounts for what was done, and looks whether to go on.
    fn look(&mut self, explorer: &dyn Explorer<N>, watch: &mut Option<&mut dyn Watch>) -> Result<(), Ended> {
        self.account(explorer);
        if let Some(watch) = watch {
            watch.tick(&self.hall.stats()).map_or(Ok(()), |stop| Err(Ended::Stopped(stop)))?;
        }
        // The cause is known.
        if self.hall.is_over.load(Relaxed) { Err(Ended::InOrder(Unclear::Seen)) } else { Ok(()) }
    }

    fn account(&mut self, explorer: &dyn Explorer<N>) {
        let hall = self.hall;
        let Counts { edges, terminal, repairs } = std::mem::take(&mut self.counts);
        hall.n_expanded.fetch_add(std::mem::take(&mut self.n_expanded), Relaxed);
        hall.edges.fetch_add(edges, Relaxed);
        hall.terminal_states.fetch_add(terminal, Relaxed);
        hall.repairs.fetch_add(repairs, Relaxed);
        let before = std::mem::replace(&mut self.choosing, explorer.choosing());
        hall.choosing.fetch_add(self.choosing - before, Relaxed);
    }
}

/// What a thread does with states that were found, by itself or by another one.
struct Inserting<'i, 'h, 'a, const N: usize> {
    hands: &'i mut Hands<'h, 'a, N>,
    explorer: &'i mut dyn Explorer<N>,
}

impl<const N: usize> Combine<Region<N>, States<N>> for Inserting<'_, '_, '_, N> {
    type Error = Ended;

    fn apply(&mut self, region: &mut Region<N>, found: &States<N>) -> Result<(), Ended> {
        self.hands.insert(region, &found.keys, self.explorer)
    }

    fn digest(&mut self, found: &mut States<N>) -> Result<(), Ended> {
        self.hands.take_in(found, self.explorer)?;
        found.clear();
        Ok(())
    }

    fn join(&mut self, left: &mut States<N>, found: &mut States<N>) -> bool {
        if left.is_empty() {
            std::mem::swap(left, found);
        } else {
            self.hands.hall.make_room(left, found.len());
            left.keys.append(&mut found.keys);
            left.notes.append(&mut found.notes);
        }
        left.len() < self.hands.hall.many_behind()
    }
}

impl From<Unclear> for Ended {
    fn from(why: Unclear) -> Self {
        Self::InOrder(why)
    }
}
