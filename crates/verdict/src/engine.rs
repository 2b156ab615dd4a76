//! Which engine makes the successors: the system itself, or what is remembered of it on packed keys.
//!
//! Small systems are searched as they are; that takes less time than to look at them first. A search that does not
//! end soon begins again with keys ([`Packed`]). If a part turns out to have more values than its field has room for,
//! it begins again with wider ones, and if nothing is gained by remembering, without. With keys, several threads can
//! search.

use crate::phase::{Broken, Lean, Made, Searched, run_phase};
use crate::threads::{Members, must_be_one};
use crate::{OneThread, Options, StoreKind};
use stubborn_explore::{End, Ended, Limits, Outcome, Pace, Stop, Watch, breadth_first_together};
use stubborn_packed::{Failure, Packed, Sample, Team};
use stubborn_reduce::{OnKeys, Reduction};
use stubborn_store::{Keys, Quotient, SharedKeys, Store};
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

/// How many steps that are.
pub(crate) fn sampled_steps(engine: EngineKind) -> usize {
    // What is known to be large is worth a closer look.
    if engine == EngineKind::Auto { STEPS } else { FEW_STEPS }
}

/// The limits of the first search, by the system itself.
pub(crate) fn first_limit(limits: Limits) -> Limits {
    Limits { states: limits.states.min(FIRST), ..limits }
}

/// Attempts with keys of the smallest possible width; then each gets a word more.
const ATTEMPTS: usize = 6;

/// Makes a store without numbers.
pub(crate) type MakeLean<const N: usize> = fn() -> Box<dyn Store<[u64; N]>>;

/// The store of keys without numbers that is asked for. Keys of four words are kept whole.
pub(crate) fn lean<const N: usize>(kind: StoreKind) -> MakeLean<N> {
    if kind == StoreKind::Quotient && N <= 2 {
        || Box::new(Quotient::<N>::new())
    } else {
        || Box::new(Keys::<N>::new())
    }
}

/// A search under way.
pub(crate) struct Search<'a, 'y, Y: Observed + Composed> {
    pub(crate) system: &'y Y,
    /// Made once: its tables may have taken time.
    pub(crate) reduction: Box<dyn Reduction<Y> + 'a>,
    pub(crate) questions: &'a [Question],
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn Watch,
}

/// What became of an attempt with several threads.
enum Together {
    Made(Made),
    Failed(Failure),
    /// One thread must do it.
    Alone(OneThread),
}

/// What became of an attempt: an answer, or what was seen.
enum Attempt<'y, Y: Observed + Composed> {
    Done(Box<Result<Searched, Box<Broken>>>),
    Again(Sample<'y, Y::State>),
    Useless,
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
            let few = first_limit(limits);
            let mut first = self.plain(few)?;
            first.report.one_thread = Some(OneThread::Small);
            if !first.was_cut_at(few.states) || few.states == limits.states {
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
        run_phase(self.system, &mut *self.reduction, false, Lean::No, self.questions, &options, self.watch)
    }

    /// Searches with keys; `None` if that is not possible or not worth it.
    fn packed(&mut self) -> Option<Result<Searched, Box<Broken>>> {
        let mut sample = match Sample::new(self.system, sampled_steps(self.options.engine)) {
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
        let lean = lean::<N>(self.options.store);
        let (mut made, mut one_thread) = (Lean::By(lean), None);
        if self.options.threads > 1 {
            match self.together::<N>(&mut sample) {
                Together::Made(by_threads) => made = Lean::Made(by_threads, lean),
                Together::Failed(Failure::TooNarrow) => return Attempt::Again(sample),
                Together::Failed(Failure::Useless) => return Attempt::Useless,
                Together::Alone(OneThread::Seen) => (made, one_thread) = (Lean::No, Some(OneThread::Seen)),
                Together::Alone(why) => one_thread = Some(why),
            }
        }
        let packed = match Packed::<Y, N>::new(self.system, sample) {
            Ok(packed) => packed.within(self.options.limits.bytes),
            Err(sample) => return Attempt::Again(sample),
        };
        self.reduction.begin_again();
        let mut reduction = OnKeys::<_, Y::State, N>::new(&mut *self.reduction);
        let (questions, options) = (self.questions, self.options);
        let mut done = run_phase(&packed, &mut reduction, false, made, questions, options, self.watch);
        if let Ok(searched) = &mut done {
            searched.report.key_words = Some(N);
            searched.report.one_thread = one_thread;
        }
        match packed.failure() {
            None => Attempt::Done(Box::new(done)),
            Some(Failure::TooNarrow) => Attempt::Again(packed.into_sample()),
            Some(Failure::Useless) => Attempt::Useless,
        }
    }

    /// Searches with several threads, if that can be done.
    fn together<const N: usize>(&mut self, sample: &mut Sample<'y, Y::State>) -> Together {
        let questions = self.questions;
        if let Some(why) = must_be_one(questions, self.reduction.preserves(), self.options) {
            return Together::Alone(why);
        }
        let Some(shared) = self.system.shared() else { return Together::Alone(OneThread::Engine) };
        let Some(team) = Team::<N>::new(sample) else { return Together::Failed(Failure::TooNarrow) };
        let store = SharedKeys::<N>::new(self.options.threads);
        let (n_threads, limits) = (self.options.threads, self.options.limits);
        let crew = Members::new(&*shared, &team, questions, limits.bytes / n_threads);
        let (ended, stats) = breadth_first_together(&crew, &store, Pace::of(n_threads), limits, self.watch);
        if let Some(failure) = team.disband(sample) {
            return Together::Failed(failure);
        }
        let end = match ended {
            Ended::Complete => End::Complete,
            // Which states are the first so many is a matter of order.
            Ended::Stopped(Stop::States { .. }) => return Together::Alone(OneThread::Limit),
            Ended::Stopped(stop) => End::Stopped(stop),
            Ended::Seen => return Together::Alone(OneThread::Seen),
        };
        let outcome = Outcome { end, stats, found: Vec::new(), graph: None, no_ignoring: false };
        Together::Made(Box::new((outcome, n_threads)))
    }
}
