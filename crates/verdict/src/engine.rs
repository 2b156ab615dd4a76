//! Which engine makes the successors: the system itself, or what is remembered of it on packed keys.
//!
//! Which of the two it is [`attempts`] says. With keys, several threads can search.

use crate::attempts::{self, Attempt, by_engine, can_sift};
use crate::phase::{Broken, Made, Searched, is_simple, run_phase};
use crate::threads::{Alone, Members, must_be_one};
use crate::{OneThread, Options};
use stubborn_explore::{
    End, Ended, Limits, Outcome, Pace, Stats, Stop, Watch, breadth_first_alone, breadth_first_together,
};
use stubborn_packed::{Failure, Packed, Sample, Team};
use stubborn_reduce::{OnKeys, Reduction};
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

/// A search under way.
pub(crate) struct Search<'a, 'y, Y: Observed + Composed + ?Sized> {
    pub(crate) system: &'y Y,
    /// Made once: its tables may have taken time.
    pub(crate) reduction: Box<dyn Reduction<Y> + 'a>,
    pub(crate) questions: &'a [Question],
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn Watch,
}

/// What became of a search without numbers of states.
pub(crate) enum Lean {
    Made(Made),
    Failed(Failure),
    /// One thread must do it, in order.
    InOrder(OneThread),
}

impl Lean {
    pub(crate) fn new(ended: Ended, stats: Stats, n_threads: usize) -> Self {
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

impl<'y, Y: Observed + Composed + ?Sized> Search<'_, 'y, Y> {
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

impl<'y, Y: Observed + Composed + ?Sized> attempts::Search<'y, Y> for Search<'_, 'y, Y> {
    type Found = Result<Searched, Box<Broken>>;

    fn can_gain(&self) -> bool {
        can_sift(&*self.reduction)
    }

    fn is_reduced(&self) -> bool {
        self.reduction.preserves().is_reduced()
    }

    fn plain(&mut self, limits: Limits, is_first: bool) -> Self::Found {
        let options = Options { limits, ..self.options.clone() };
        self.reduction.begin_again();
        let (reduction, questions) = (&mut *self.reduction, self.questions);
        let mut done = run_phase(self.system, reduction, false, None, questions, &options, self.watch)?;
        done.report.one_thread = is_first.then_some(OneThread::Small);
        Ok(done)
    }

    fn is_cut(found: &Self::Found, states: u64) -> bool {
        found.as_ref().is_ok_and(|searched| searched.was_cut_at(states))
    }

    fn attempt<const N: usize>(
        &mut self,
        mut sample: Sample<'y, Y::State>,
    ) -> Attempt<'y, Y::State, Self::Found> {
        let (questions, options) = (self.questions, self.options);
        let mut lean = self.together::<N>(&mut sample);
        if let Some(Lean::Failed(failure)) = lean {
            return Attempt::after(failure, || sample);
        }
        let packed = match Packed::<Y, N>::new(self.system, sample) {
            Ok(packed) => packed.within(self.options.limits.bytes),
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
        Attempt::new(packed, done)
    }
}

impl<'y, Y: Observed + Composed + ?Sized> Search<'_, 'y, Y> {
    /// Searches with several threads, if there are any and that can be done.
    fn together<const N: usize>(&mut self, sample: &mut Sample<'y, Y::State>) -> Option<Lean> {
        let (questions, n_threads) = (self.questions, self.options.threads);
        if n_threads == 1 || must_be_one(questions, self.reduction.preserves(), self.options).is_some() {
            return None;
        }
        let shared = self.system.shared()?;
        let Some(team) = Team::<N>::new(sample) else { return Some(Lean::Failed(Failure::TooNarrow)) };
        let store = self.options.store.key_set();
        let (pace, limits) = (Pace::of(n_threads), self.options.limits);
        let crew = Members { shared: &*shared, team: &team, questions, share: limits.bytes / n_threads };
        let (ended, stats) = breadth_first_together(&crew, &store, pace, limits, self.watch);
        let failure = team.disband(sample);
        Some(failure.map_or_else(|| Lean::new(ended, stats, n_threads), Lean::Failed))
    }

    /// Searches with one thread.
    fn alone<const N: usize>(&mut self, packed: &Packed<'y, Y, N>) -> Lean {
        let crew = Alone { packed, questions: self.questions };
        let limits = self.options.limits;
        let store = self.options.store.key_set();
        let (ended, stats) = breadth_first_alone(&crew, &store, limits, self.watch);
        packed.failure().map_or_else(|| Lean::new(ended, stats, 1), Lean::Failed)
    }
}
