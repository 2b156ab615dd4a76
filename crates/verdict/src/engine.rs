//! Which engine makes the successors: the system itself, or what is remembered of it on packed keys.
//!
//! Which of the two it is [`attempts`] says. With keys, several threads can search, and a search without reduction may turn out to be the
//! faster one ([`race`](crate::race)).

use crate::attempts::{self, Attempt, by_engine, can_sift};
use crate::phase::{Broken, Made, Overtaken, Searched, is_simple, run_phase};
use crate::race::{Lap, Race, Rival, Starter, Turn};
use crate::threads::{Alone, Members, minds_ignoring, must_be_one};
use crate::{OneThread, Options};
use std::cell::RefCell;
use stubborn_explore::{
    End, Ended, Limits, Outcome, Pace, Stats, Stop, Unclear, Watch, breadth_first_alone,
    breadth_first_together,
};
use stubborn_packed::{Failure, Packed, Sample, Team};
use stubborn_reduce::{Full, OnKeys, Reduction};
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
    pub(crate) race: Race,
}

/// What became of a search without numbers of states.
pub(crate) enum Lean {
    Made(Made),
    Failed(Failure),
    /// One thread must do it, in order.
    InOrder(OneThread),
}

impl Lean {
    /// Whether a search without reduction that ended like this has an answer, or can have one in order, within the same limit.
    fn is_useful(&self) -> bool {
        match self {
            Self::Made(made) => match &made.0.end {
                End::Stopped(stop) => stop.is_by_user(),
                _ => true,
            },
            Self::Failed(_) => true,
            Self::InOrder(why) => *why == OneThread::Seen,
        }
    }

    /// `no_ignoring`: something was left out, and it was seen to that nothing is ignored.
    pub(crate) fn new((ended, stats): (Ended, Stats), n_threads: usize, no_ignoring: bool) -> Self {
        let end = match ended {
            Ended::Complete => End::Complete,
            // Which states are the first so many is a matter of order.
            Ended::Stopped(Stop::States { .. }) => return Self::InOrder(OneThread::Limit),
            Ended::Stopped(stop) => End::Stopped(stop),
            Ended::InOrder(Unclear::Seen) => return Self::InOrder(OneThread::Seen),
            Ended::InOrder(Unclear::Unsteady) => return Self::InOrder(OneThread::Unsteady),
        };
        let no_ignoring = no_ignoring && end == End::Complete;
        let outcome = Outcome { end, stats, found: Vec::new(), graph: None, no_ignoring };
        Self::Made(Box::new((outcome, n_threads)))
    }
}

impl<'y, Y: Observed + Composed + ?Sized> Search<'_, 'y, Y> {
    /// Searches with the engine that is asked for.
    pub(crate) fn run(mut self) -> Result<Searched, Box<Broken>> {
        let (system, options) = (self.system, self.options);
        self.reduction.within(options.limits.bytes);
        let mut searched = by_engine(system, options, options.limits, &mut self)?;
        if let Race::Full(Turn { states, .. }) = self.race {
            searched.report.overtaken = Some(Overtaken { reduction: self.reduction.name(), states });
        }
        let must = must_be_one(self.questions, self.can_lend(), self.options);
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
        let is_first_of_two = is_first && limits.states < self.options.limits.states;
        let rules = self.options.race.filter(|_| is_first_of_two && self.may_race());
        self.race = rules.map_or(Race::Off, Race::Announced);
        self.reduction.begin_again();
        let mut starter = Starter::new(&mut *self.watch, self.race);
        let (reduction, questions) = (&mut *self.reduction, self.questions);
        let mut done = run_phase(self.system, reduction, false, None, questions, &options, &mut starter)?;
        if rules.is_some_and(|rules| !rules.on_keys) {
            self.race = Race::Begun(starter.lap(&done.report.stats));
        }
        done.report.one_thread = is_first.then_some(OneThread::Small);
        Ok(done)
    }

    fn is_cut(found: &Self::Found, states: u64) -> bool {
        let is_cut = |searched: &Searched| {
            searched.was_cut_at(states) || searched.report.end == End::Stopped(Stop::Work)
        };
        found.as_ref().is_ok_and(is_cut)
    }

    fn attempt<const N: usize>(
        &mut self,
        mut sample: Sample<'y, Y::State>,
    ) -> Attempt<'y, Y::State, Self::Found> {
        let could_gain = attempts::Search::can_gain(self);
        // Which search it is must be clear before others join.
        let is_racing = matches!(self.race, Race::Begun(_) | Race::Announced(_));
        let mut lean = if is_racing { None } else { self.together::<N>(&mut sample) };
        if let Some(Lean::Failed(failure)) = lean {
            return Attempt::after(failure, || sample);
        }
        let packed = match Packed::<Y, N>::new(self.system, sample) {
            Ok(packed) => packed.within(self.options.limits.bytes),
            Err(sample) => return Attempt::Again(sample),
        };
        let mut one_thread = None;
        if let Race::Announced(_) = self.race {
            lean = self.alone(&packed);
            one_thread = lean.is_some().then_some(OneThread::Small);
            if !matches!((&lean, self.race), (Some(Lean::Failed(_)), _) | (_, Race::Begun(_))) {
                self.race = Race::Off;
            }
        }
        if let Race::Begun(lap) = self.race {
            lean = self.race_against(lap, &packed);
            if let Some(failure) = packed.failure() {
                self.race = Race::Begun(lap);
                return Attempt::after(failure, || packed.into_sample());
            }
            if self.options.threads > 1 {
                return Attempt::Next(packed.into_sample());
            }
        }
        let (questions, options) =
            (self.questions, Options { limits: self.limits(), ..self.options.clone() });
        let is_unsteady = matches!(lean, Some(Lean::InOrder(OneThread::Unsteady)));
        if (lean.is_none() || is_unsteady) && is_simple(questions, &options) {
            lean = self.alone(&packed);
        }
        if could_gain && !attempts::Search::can_gain(self) && !self.is_full() {
            return Attempt::Useless;
        }
        if self.is_full() && !lean.as_ref().is_some_and(Lean::is_useful) {
            let is_cut = matches!(lean, Some(Lean::InOrder(OneThread::Limit)));
            return self.reduced_after_all(packed, is_cut);
        }
        let (made, one_thread) = match lean {
            Some(Lean::Failed(failure)) => return Attempt::after(failure, || packed.into_sample()),
            Some(Lean::InOrder(why)) => (None, Some(why)),
            Some(Lean::Made(made)) => (Some(made), is_unsteady.then_some(OneThread::Unsteady).or(one_thread)),
            None => (None, None),
        };
        self.reduction.begin_again();
        let mut done = if self.is_full() {
            run_phase(&packed, &mut Full, false, made, questions, &options, self.watch)
        } else {
            let mut reduction = OnKeys::<_, Y::State, N>::new(&mut *self.reduction);
            let mut starter = Starter::new(&mut *self.watch, self.race);
            run_phase(&packed, &mut reduction, false, made, questions, &options, &mut starter)
        };
        if let (Race::Reduced(turn), Ok(searched)) = (self.race, &done)
            && searched.report.end == End::Stopped(Stop::Work)
            && packed.failure().is_none()
        {
            self.race = turn.next();
            return Attempt::Next(packed.into_sample());
        }
        if let Ok(Searched { report, .. }) = &done
            && let End::Stopped(stop) = &report.end
            && self.is_full()
            && !stop.is_by_user()
        {
            let is_cut = matches!(stop, Stop::States { .. });
            return self.reduced_after_all(packed, is_cut);
        }
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
        let (questions, n_threads, limits) = (self.questions, self.options.threads, self.limits());
        if n_threads == 1 || must_be_one(questions, self.can_lend(), self.options).is_some() {
            return None;
        }
        let sieves = if self.leaves_out() { self.reduction.sieves() } else { None };
        let sieves = sieves.as_deref();
        let shared = self.system.shared()?;
        let Some(team) = Team::<N>::new(sample) else { return Some(Lean::Failed(Failure::TooNarrow)) };
        let store = self.options.store.key_set();
        let share = limits.bytes / n_threads;
        let crew = Members { shared: &*shared, team: &team, sieves, questions, share };
        let mut starter = Starter::new(&mut *self.watch, self.race);
        let ended = breadth_first_together(&crew, &store, Pace::of(n_threads), limits, &mut starter);
        let failure = team.disband(sample);
        Some(failure.map_or_else(
            || Lean::new(ended, n_threads, sieves.is_some() && minds_ignoring(questions)),
            Lean::Failed,
        ))
    }

    /// Searches with one thread, if that can be done.
    fn alone<const N: usize>(&mut self, packed: &Packed<'y, Y, N>) -> Option<Lean> {
        let (questions, limits) = (self.questions, self.limits());
        // To see where there is no return takes edges.
        if self.leaves_out() && self.options.show_no_return {
            return None;
        }
        let sieve = if self.leaves_out() { Some(RefCell::new(self.reduction.sieve()?)) } else { None };
        let no_ignoring = sieve.is_some() && minds_ignoring(questions);
        let crew = Alone { packed, sieve, questions };
        let mut starter = Starter::new(&mut *self.watch, self.race);
        let ended = breadth_first_alone(&crew, &self.options.store.key_set(), limits, &mut starter);
        // Where choices do not come again nothing is left but to choose on states, which is more work still.
        let is_cut = matches!(ended.0, Ended::Stopped(Stop::Work) | Ended::InOrder(Unclear::Unsteady));
        if is_cut && matches!(self.race, Race::Announced(_)) && packed.failure().is_none() {
            self.race = Race::Begun(starter.lap(&ended.1));
            return None;
        }
        Some(packed.failure().map_or_else(|| Lean::new(ended, 1, no_ignoring), Lean::Failed))
    }

    /// Whether the search that goes on leaves something out.
    fn leaves_out(&self) -> bool {
        !self.is_full() && self.reduction.preserves().is_reduced()
    }

    /// Whether threads can do what the search does that goes on.
    fn can_lend(&self) -> bool {
        !self.leaves_out() || !self.options.show_no_return && self.reduction.sieves().is_some()
    }

    /// Whether a search without reduction would answer the same questions.
    fn may_race(&self) -> bool {
        self.reduction.preserves().is_reduced() && is_simple(self.questions, self.options)
    }

    /// Whether the search without reduction is the one that goes on.
    fn is_full(&self) -> bool {
        matches!(self.race, Race::Full(_))
    }

    /// How far the search may go that goes on.
    fn limits(&self) -> Limits {
        let limits = self.options.limits;
        match self.race {
            Race::Full(turn) => Limits { states: limits.states.min(turn.most_states()), ..limits },
            _ => limits,
        }
    }

    /// Searches without reduction; no further than it takes to see that this is more work than to go on with the reduced search, or if threads are to do the rest.
    fn race_against<const N: usize>(&mut self, lap: Lap, packed: &Packed<'y, Y, N>) -> Option<Lean> {
        let (turn, is_short) = (lap.turn(), self.options.threads > 1);
        self.race = Race::Full(turn);
        let crew = Alone { packed, sieve: None, questions: self.questions };
        let (store, limits) = (self.options.store.key_set(), self.limits());
        let mut rival = Rival::new(&mut *self.watch, lap, is_short);
        let (ended, stats) = breadth_first_alone(&crew, &store, limits, &mut rival);
        if matches!(ended, Ended::Stopped(_)) && !lap.is_reached(&stats) {
            self.race = Race::Off;
            return None;
        }
        (!is_short).then(|| Lean::new((ended, stats), 1, false))
    }

    /// The search without reduction did not come to its end: the reduced one has its turn, or goes on if more states would not help.
    fn reduced_after_all<const N: usize>(
        &mut self,
        packed: Packed<'y, Y, N>,
        is_cut: bool,
    ) -> Attempt<'y, Y::State, Result<Searched, Box<Broken>>> {
        if let Some(failure) = packed.failure() {
            return Attempt::after(failure, || packed.into_sample());
        }
        let is_cut = is_cut && self.limits().states < self.options.limits.states;
        self.race = match self.race {
            Race::Full(turn) if is_cut => Race::Reduced(turn),
            _ => Race::Off,
        };
        Attempt::Next(packed.into_sample())
    }
}
