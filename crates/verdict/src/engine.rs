//! Which engine makes the successors: the system itself, or what is remembered of it on packed keys.
//!
//! Which of the two it is [`attempts`] says. With keys, several threads can search.

use crate::attempts::{self, Attempt, by_engine, can_sift};
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

/// Makes a store without numbers.
type MakeLean<const N: usize> = fn() -> Box<dyn Store<[u64; N]>>;

/// The store of keys without numbers that is asked for. Keys of four words are kept whole.
fn lean<const N: usize>(kind: StoreKind) -> MakeLean<N> {
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

impl<'y, Y: Observed + Composed> Search<'_, 'y, Y> {
    /// Searches with the engine that is asked for.
    pub(crate) fn run(mut self) -> Result<Searched, Box<Broken>> {
        let (system, options) = (self.system, self.options);
        let mut searched = by_engine(system, options, options.limits, &mut self)?;
        let must = must_be_one(self.questions, self.reduction.preserves(), self.options);
        let why = must.or(searched.report.one_thread).unwrap_or(OneThread::Engine);
        let is_one = self.options.threads > 1 && searched.report.threads == 1;
        searched.report.one_thread = is_one.then_some(why);
        Ok(searched)
    }
}

impl<'y, Y: Observed + Composed> attempts::Search<'y, Y> for Search<'_, 'y, Y> {
    type Found = Result<Searched, Box<Broken>>;

    fn can_gain(&self) -> bool {
        can_sift(&*self.reduction)
    }

    fn plain(&mut self, limits: Limits, is_first: bool) -> Self::Found {
        let options = Options { limits, ..self.options.clone() };
        self.reduction.begin_again();
        let (reduction, questions) = (&mut *self.reduction, self.questions);
        let mut done = run_phase(self.system, reduction, false, Lean::No, questions, &options, self.watch)?;
        done.report.one_thread = is_first.then_some(OneThread::Small);
        Ok(done)
    }

    fn is_cut(found: &Self::Found, states: u64) -> bool {
        let end = found.as_ref().ok().map(|searched| &searched.report.end);
        end == Some(&End::Stopped(Stop::States { limit: states }))
    }

    fn attempt<const N: usize>(
        &mut self,
        mut sample: Sample<'y, Y::State>,
    ) -> Attempt<'y, Y::State, Self::Found> {
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
            Ok(packed) => packed,
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
        Attempt::new(packed, done)
    }
}

impl<'y, Y: Observed + Composed> Search<'_, 'y, Y> {
    /// Searches with several threads, if that can be done.
    fn together<const N: usize>(&mut self, sample: &mut Sample<'y, Y::State>) -> Together {
        let questions = self.questions;
        if let Some(why) = must_be_one(questions, self.reduction.preserves(), self.options) {
            return Together::Alone(why);
        }
        let Some(shared) = self.system.shared() else { return Together::Alone(OneThread::Engine) };
        let Some(team) = Team::<N>::new(sample) else { return Together::Failed(Failure::TooNarrow) };
        let store = SharedKeys::<N>::new(self.options.threads);
        let crew = Members { shared: &*shared, team: &team, questions };
        let (n_threads, limits) = (self.options.threads, self.options.limits);
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
