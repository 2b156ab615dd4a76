//! What both search orders have in common: inserting a batch within the limits, counting, reporting.

use crate::{End, Found, Graph, Job, Outcome, Sighting, Stats, Stop};
use stubborn_store::{Entry, Full};
use stubborn_system::{Batch, Fault, System, TransitionId, Vector};

/// Successors are collected until there are this many, then inserted together.
pub(crate) const BATCH: usize = 256;

/// States and transitions between two looks at the watch.
const TICK: u64 = 1024;

/// A search under way.
pub(crate) struct Run<'a, Y: System + ?Sized> {
    pub(crate) job: Job<'a, Y>,
    pub(crate) stats: Stats,
    pub(crate) batch: Batch<Y::State>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) graph: Option<Graph>,
    pub(crate) no_ignoring: bool,
    /// What there was too much of for a successor.
    pub(crate) too_much: Option<&'static str>,
    found: Vec<Found>,
    /// Calls of [`Run::tick`], and the amount of work at which the watch is looked at next.
    n_expanded: u64,
    next_tick: u64,
}

/// What it means for a search that its store is full.
pub(crate) fn no_room(full: &Full, limit: usize) -> Stop {
    match *full {
        Full::Memory { needed } => Stop::Memory { limit, needed },
        Full::Numbers => Stop::Numbers { what: "states", limit: Entry::MAX_STATES as u64 },
    }
}

/// Whether all successors are there, for searches that look at what never happens.
pub(crate) fn whole<S: Vector + ?Sized>(batch: &mut Batch<S>) -> Result<(), Stop> {
    batch.take_cut().map_or(Ok(()), |too_much| Err(Stop::TooMuch { too_much }))
}

/// Why a search does not go on.
pub(crate) enum Halt {
    Sighted,
    Stop(Stop),
    Fault(Fault),
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl<'a, Y: System + ?Sized> Run<'a, Y> {
    pub(crate) fn new(job: Job<'a, Y>) -> Self {
        let graph = Graph::new(job.keep);
        Self {
            job,
            stats: Stats::default(),
            batch: Batch::new(),
            entries: Vec::new(),
            graph,
            no_ignoring: false,
            too_much: None,
            found: Vec::new(),
            n_expanded: 0,
            next_tick: 0,
        }
    }

    /// Puts the initial state into the batch and the store.
    pub(crate) fn seed(&mut self) -> Result<(), Halt> {
        self.batch.clear();
        self.job.system.initial(&mut self.batch)?;
        self.insert(0)
    }

    /// Inserts the batch; `others` is the memory that the search itself uses.
    pub(crate) fn insert(&mut self, others: usize) -> Result<(), Halt> {
        let graph = self.graph.as_ref().map_or(0, Graph::bytes);
        let others = others + self.job.system.bytes() + self.job.reduction.bytes();
        let used = self.job.store.bytes() + others + graph + self.batch.bytes();
        self.stats.peak_bytes = self.stats.peak_bytes.max(used);
        let limit = self.job.limits.bytes;
        self.entries.clear();
        let room = limit.saturating_sub(used);
        let inserted = self.job.store.insert(&self.batch, room, &mut self.entries);
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.job.store.bytes() + others + graph);
        match inserted {
            Ok(()) if used <= limit => Ok(()),
            Ok(()) => Err(Halt::Stop(Stop::Memory { limit, needed: used - limit })),
            Err(full) => Err(Halt::Stop(no_room(&full, limit))),
        }
    }

    /// Counts successor `i` of the batch, if it is a new state, and shows it to the visitor.
    #[inline]
    pub(crate) fn arrive(&mut self, i: usize) -> Result<Option<Sighting>, Halt> {
        if self.stats.states == self.job.limits.states {
            return Err(Halt::Stop(Stop::States { limit: self.job.limits.states }));
        }
        self.stats.states += 1;
        Ok(self.job.visitor.arrive(self.batch.state(i))?)
    }

    /// Looks at the watch now and then. To be called before each expansion or batch of them.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), Halt> {
        self.n_expanded += 1;
        let work = self.n_expanded + self.stats.edges;
        if work < self.next_tick {
            return Ok(());
        }
        self.next_tick = work + TICK;
        self.stats.choosing = self.job.reduction.work();
        self.job.watch.tick(&self.stats).map_or(Ok(()), |stop| Err(Halt::Stop(stop)))
    }

    /// Whether a path to this sighting is wanted: the first for each question is.
    pub(crate) fn is_wanted(&self, sighting: &Sighting) -> bool {
        self.found.iter().all(|f| f.sighting.question != sighting.question)
    }

    /// Reports a sighting; `path` is asked for only if it is wanted.
    pub(crate) fn sighted(
        &mut self,
        sighting: Sighting,
        path: impl FnOnce(&mut Self) -> Result<Vec<TransitionId>, Fault>,
    ) -> Result<(), Halt> {
        self.stats.sightings += 1;
        let path = if self.is_wanted(&sighting) { Some(path(self)?) } else { None };
        self.report(sighting, path)
    }

    fn report(&mut self, sighting: Sighting, path: Option<Vec<TransitionId>>) -> Result<(), Halt> {
        self.found.extend(path.map(|path| Found { sighting, path }));
        if self.job.all_errors { Ok(()) } else { Err(Halt::Sighted) }
    }

    /// Closes the books. `path` leads to the state in hand, for faults.
    pub(crate) fn finish(
        self,
        result: Result<(), Halt>,
        path: impl FnOnce(Self) -> (Self, Vec<TransitionId>),
    ) -> Outcome {
        let (run, end) = match result {
            Ok(()) => {
                let end =
                    self.too_much.map_or(End::Complete, |too_much| End::Stopped(Stop::TooMuch { too_much }));
                (self, end)
            }
            Err(Halt::Sighted) => (self, End::Sighted),
            Err(Halt::Stop(stop)) => (self, End::Stopped(stop)),
            Err(Halt::Fault(fault)) => {
                let (run, path) = path(self);
                (run, End::Fault(fault, path))
            }
        };
        let stats = Stats { choosing: run.job.reduction.work(), ..run.stats };
        Outcome { end, stats, found: run.found, graph: run.graph, no_ignoring: run.no_ignoring }
    }
}
