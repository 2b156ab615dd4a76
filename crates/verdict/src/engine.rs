//! Which engine makes the successors: the system itself, or what is remembered of it on packed keys.
//!
//! Small systems are searched as they are; that takes less time than to look at them first. A search that does not
//! end soon begins again with keys ([`Packed`]). If a part turns out to have more values than its field has room for,
//! it begins again with wider ones, and if nothing is gained by remembering, without. With keys, several threads can
//! search.

use crate::phase::{Broken, Made, Searched, is_simple, run_phase};
use crate::threads::{Alone, Members, must_be_one};
use crate::{OneThread, Options, StoreKind};
use stubborn_explore::{
    End, Ended, Limits, Outcome, Pace, Stats, Stop, Watch, breadth_first_alone, breadth_first_together,
};
use stubborn_packed::{Failure, Packed, Sample, Team};
use stubborn_reduce::{OnKeys, Reduction};
use stubborn_store::{Keys, Quotient, SharedKeys};
use stubborn_system::{Composed, Observed, Question};

/// Who makes the successors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineKind {
    /// The system, and if that takes long, a memory of what it did.
    #[default]
    Auto,
    /// The system.
    Interpreter,
    /// A memory of what the system did, from the first state on.
    Packed,
}

impl EngineKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Interpreter => "interpreter",
            Self::Packed => "packed",
        }
    }
}

/// States that the system itself makes first.
const FIRST: u64 = 1 << 13;

/// Steps after which it is decided how keys are made: of a system that is known to be large, and of any.
const STEPS: usize = 1 << 12;
const FEW_STEPS: usize = 1 << 8;

/// Attempts with keys of the smallest possible width; then each gets a word more.
const ATTEMPTS: usize = 6;

/// A search under way.
pub(crate) struct Search<'a, 'y, Y: Observed + Composed> {
    pub(crate) system: &'y Y,
    /// Made once: its tables may have taken time.
    pub(crate) reduction: Box<dyn Reduction<Y> + 'a>,
    pub(crate) questions: &'a [Question],
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn Watch,
}

/// What became of a search without numbers of states.
enum Lean {
    Made(Made),
    Failed(Failure),
    /// One thread must do it, in order.
    InOrder(OneThread),
}

impl Lean {
    fn new(ended: Ended, stats: Stats, n_threads: usize) -> Self {
        let end = match ended {
            Ended::Complete => End::Complete,
            // Which states are the first so many is a matter of order.
            Ended::Stopped(Stop::States { .. }) => return Self::InOrder(OneThread::Limit),
            Ended::Stopped(stop) => End::Stopped(stop),
            Ended::Seen => return Self::InOrder(OneThread::Seen),
        };
        let outcome = Outcome { end, stats, found: Vec::new(), graph: None, no_ignoring: false };
        Self::Made(Box::new((outcome, n_threads)))
    }
}

/// What became of an attempt: an answer, or what was seen.
enum Attempt<'y, Y: Observed + Composed> {
    Done(Box<Result<Searched, Box<Broken>>>),
    Again(Sample<'y, Y::State>),
    Useless,
}

impl<'y, Y: Observed + Composed> Attempt<'y, Y> {
    fn after(failure: Failure, sample: impl FnOnce() -> Sample<'y, Y::State>) -> Self {
        match failure {
            Failure::TooNarrow => Self::Again(sample()),
            Failure::Useless => Self::Useless,
        }
    }
}

impl<'y, Y: Observed + Composed> Search<'_, 'y, Y> {
    /// Searches with the engine that is asked for.
    pub(crate) fn run(mut self) -> Result<Searched, Box<Broken>> {
        let mut searched = self.run_by_engine()?;
        let must = must_be_one(self.questions, self.reduction.preserves(), self.options);
        let why = must.or(searched.report.one_thread).unwrap_or(OneThread::Engine);
        let is_one = self.options.threads > 1 && searched.report.threads == 1;
        searched.report.one_thread = is_one.then_some(why);
        Ok(searched)
    }

    fn run_by_engine(&mut self) -> Result<Searched, Box<Broken>> {
        let limits = self.options.limits;
        let kind = self.options.engine;
        if kind == EngineKind::Auto && !self.can_gain() {
            return self.plain(limits);
        }
        if kind == EngineKind::Auto {
            let states = limits.states.min(FIRST);
            let mut first = self.plain(Limits { states, ..limits })?;
            first.report.one_thread = Some(OneThread::Small);
            let is_cut = first.report.end == End::Stopped(Stop::States { limit: states });
            if !is_cut || states == limits.states {
                return Ok(first);
            }
        }
        if kind != EngineKind::Interpreter
            && let Some(done) = self.packed()
        {
            return done;
        }
        self.plain(limits)
    }

    /// Whether keys are possible, and successors may come from what is remembered.
    fn can_gain(&self) -> bool {
        let is_reduced = self.reduction.preserves().is_reduced();
        (!is_reduced || self.reduction.can_sift()) && self.system.tracer().is_some()
    }

    fn plain(&mut self, limits: Limits) -> Result<Searched, Box<Broken>> {
        let options = Options { limits, ..self.options.clone() };
        self.reduction.begin_again();
        run_phase(self.system, &mut *self.reduction, false, None, self.questions, &options, self.watch)
    }

    /// Searches with keys; `None` if that is not possible or not worth it.
    fn packed(&mut self) -> Option<Result<Searched, Box<Broken>>> {
        // What is known to be large is worth a closer look.
        let n_steps = if self.options.engine == EngineKind::Auto { STEPS } else { FEW_STEPS };
        let mut sample = match Sample::new(self.system, n_steps) {
            Ok(sample) => sample?,
            Err(_) => return None,
        };
        for attempt in 0.. {
            let n_words = sample.n_words().max(1 + attempt / ATTEMPTS);
            let done = match n_words {
                1 => self.attempt::<1>(sample),
                2 => self.attempt::<2>(sample),
                3 | 4 => self.attempt::<4>(sample),
                _ => return None,
            };
            sample = match done {
                Attempt::Done(done) => return Some(*done),
                Attempt::Again(sample) => sample,
                Attempt::Useless => return None,
            };
        }
        None
    }

    fn attempt<const N: usize>(&mut self, mut sample: Sample<'y, Y::State>) -> Attempt<'y, Y> {
        let (questions, options) = (self.questions, self.options);
        let mut lean = self.together::<N>(&mut sample);
        if let Some(Lean::Failed(failure)) = lean {
            return Attempt::after(failure, || sample);
        }
        let packed = match Packed::<Y, N>::new(self.system, sample) {
            Ok(packed) => packed,
            Err(sample) => return Attempt::Again(sample),
        };
        if lean.is_none() && is_simple(questions, self.reduction.preserves(), options) {
            lean = Some(self.alone(&packed));
        }
        let (made, one_thread) = match lean {
            Some(Lean::Failed(failure)) => return Attempt::after(failure, || packed.into_sample()),
            Some(Lean::InOrder(why)) => (None, Some(why)),
            Some(Lean::Made(made)) => (Some(made), None),
            None => (None, None),
        };
        self.reduction.begin_again();
        let mut reduction = OnKeys::<_, Y::State, N>::new(&mut *self.reduction);
        let mut done = run_phase(&packed, &mut reduction, false, made, questions, options, self.watch);
        if let Ok(searched) = &mut done {
            searched.report.key_words = Some(N);
            searched.report.one_thread = one_thread;
        }
        match packed.failure() {
            None => Attempt::Done(Box::new(done)),
            Some(failure) => Attempt::after(failure, || packed.into_sample()),
        }
    }

    /// Searches with several threads, if there are any and that can be done.
    fn together<const N: usize>(&mut self, sample: &mut Sample<'y, Y::State>) -> Option<Lean> {
        let (questions, n_threads) = (self.questions, self.options.threads);
        if n_threads == 1 || must_be_one(questions, self.reduction.preserves(), self.options).is_some() {
            return None;
        }
        let shared = self.system.shared()?;
        let Some(team) = Team::<N>::new(sample) else { return Some(Lean::Failed(Failure::TooNarrow)) };
        let store = SharedKeys::<N>::new(n_threads);
        let crew = Members { shared: &*shared, team: &team, questions };
        let (pace, limits) = (Pace::of(n_threads), self.options.limits);
        let (ended, stats) = breadth_first_together(&crew, &store, pace, limits, self.watch);
        let failure = team.disband(sample);
        Some(failure.map_or_else(|| Lean::new(ended, stats, n_threads), Lean::Failed))
    }

    /// Searches with one thread. Keys of four words are kept whole.
    fn alone<const N: usize>(&mut self, packed: &Packed<'y, Y, N>) -> Lean {
        let crew = Alone { packed, questions: self.questions };
        let limits = self.options.limits;
        let (ended, stats) = if self.options.store == StoreKind::Quotient && N <= 2 {
            breadth_first_alone(&crew, Quotient::<N>::new(), limits, self.watch)
        } else {
            breadth_first_alone(&crew, Keys::<N>::new(), limits, self.watch)
        };
        packed.failure().map_or_else(|| Lean::new(ended, stats, 1), Lean::Failed)
    }
}
