//! From a model to a system of the kernel.
//!
//! States are the packed words of the layout: a key of one, two or four words where they suffice, a flat
//! vector of words otherwise. A successor is written in place, just behind the successors found before.

use crate::derived::Derived;
use crate::state::{Recorder, raw_in};
use crate::traced::Traced;
use crate::{Layout, LayoutError, Model, Needs, State};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;
use stubborn_system::{
    Batch, Composed, Fault, Observed, Question, Requirements, Rules, Shared, Symmetric, System, Told, Tracer,
    TransitionId, Whole, WordVector,
};
use thiserror::Error;

/// Where stubborn rules come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSource {
    /// [`Model::rules`].
    Hand,
    /// [`Model::footprint`].
    Derived,
    /// There are none: every set is everything.
    None,
}

impl RuleSource {
    /// The rules that `model` brings: hand-written ones first.
    pub fn of(model: &dyn Model) -> Self {
        if model.has_rules() {
            Self::Hand
        } else if (0..model.n_transitions()).all(|t| model.footprint(t).is_some()) {
            Self::Derived
        } else {
            Self::None
        }
    }
}

/// A model that cannot even start.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelError {
    /// The layout is wrong.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Nothing to do.
    #[error("the model has no questions: return at least one from `questions`")]
    NoQuestions,
    /// A question names a transition that does not exist.
    #[error("question `{question}`: {fault}")]
    Question {
        /// The question.
        question: String,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A declared footprint cannot be.
    #[error("footprint of `{of}`: {wrong}")]
    Footprint {
        /// Whose footprint.
        of: String,
        /// What is wrong with it.
        wrong: &'static str,
    },
    /// Rules were asked for that the model does not have.
    #[error("the model has no {wanted}")]
    NoRules {
        /// What was asked for.
        wanted: &'static str,
    },
}

/// A model as a system with states of type `S`.
pub struct ModelSystem<'m, S: ?Sized> {
    model: &'m dyn Model,
    layout: &'m Layout,
    n_transitions: usize,
    n_words: usize,
    source: RuleSource,
    derived: Option<Derived>,
    recorder: Recorder,
    state: PhantomData<fn(&S)>,
}

/// A copy of a state to work on; on the stack up to 1,024 bits.
type Scratch = SmallVec<[u64; 16]>;

impl<'m, S: WordVector + ?Sized> ModelSystem<'m, S> {
    /// Checks the model and prepares its rules.
    pub fn new(model: &'m dyn Model, source: RuleSource) -> Result<Self, ModelError> {
        if let Some(error) = model.layout().error() {
            return Err(error.into());
        }
        let questions = model.questions();
        if questions.is_empty() {
            return Err(ModelError::NoQuestions);
        }
        let n_transitions = model.n_transitions();
        for question in &questions {
            if let Question::Fair { often, rarely } = question
                && let Some(t) = rarely.iter().chain([often]).find(|t| t.index() >= n_transitions)
            {
                let fault = Fault::NoSuchTransition { named: t.index(), n_transitions };
                return Err(ModelError::Question { question: question.word().into(), fault });
            }
        }
        if source == RuleSource::Hand && !model.has_rules() {
            return Err(ModelError::NoRules { wanted: "hand-written rules" });
        }
        let with_check = questions.contains(&Question::Safety);
        let derived = match source {
            RuleSource::Derived => Some(Derived::new(model, with_check)?),
            _ => None,
        };
        let n_words = model.layout().n_words();
        Ok(Self {
            model,
            layout: model.layout(),
            n_transitions,
            n_words,
            source,
            derived,
            recorder: Recorder::default(),
            state: PhantomData,
        })
    }

    /// The model behind it.
    pub fn model(&self) -> &'m dyn Model {
        self.model
    }

    /// The variables.
    pub(crate) fn layout(&self) -> &'m Layout {
        self.layout
    }

    /// How many words a state has.
    pub(crate) fn n_words(&self) -> usize {
        self.n_words
    }

    /// Where the stubborn rules come from.
    pub fn rule_source(&self) -> RuleSource {
        self.source
    }

    /// Lets the model look at a state.
    fn look<R>(&self, state: &S, look: impl FnOnce(&State<'_>) -> R) -> Result<R, Fault> {
        let mut words = Scratch::from_slice(state.words());
        let mut s = State::new(&mut words, self.layout);
        let answer = look(&s);
        match s.take_fault() {
            Some(fault) => Err(*fault),
            None => Ok(answer),
        }
    }

    /// What the model's own rules require of `t` in a state.
    fn require_by_hand(
        &self,
        mut s: State<'_>,
        t: TransitionId,
        out: &mut Requirements,
    ) -> Result<(), Fault> {
        let mut needs = Needs::new(out, self.n_transitions);
        self.model.rules(t.index(), &s, &mut needs);
        needs.finish().map_err(|fault| self.blame(t, fault))?;
        s.take_fault().map_or(Ok(()), |fault| Err(self.blame(t, *fault)))
    }

    #[cold]
    fn changed_but_disabled(&self, before: &S, after: &S) -> Fault {
        let layout = self.layout;
        let changed = layout.vars().find(|&v| raw_in(before.words(), v) != raw_in(after.words(), v));
        Fault::ChangedButDisabled { variable: changed.map_or("?", |v| layout.name(v)).to_owned() }
    }

    #[cold]
    fn blame(&self, t: TransitionId, fault: Fault) -> Fault {
        fault.of(self.transition_name(t))
    }
}

impl<S: WordVector + ?Sized> System for ModelSystem<'_, S> {
    type State = S;

    fn n_transitions(&self) -> usize {
        self.n_transitions
    }

    fn transition_name(&self, t: TransitionId) -> String {
        if t.index() < self.n_transitions {
            self.model.transition_name(t.index())
        } else {
            "the check".into()
        }
    }

    fn initial(&self, out: &mut Batch<S>) -> Result<(), Fault> {
        let mut words = vec![0; self.n_words];
        let mut s = State::new(&mut words, self.layout);
        self.model.initial(&mut s);
        if let Some(fault) = s.take_fault() {
            return Err(fault.of("initial state".into()));
        }
        S::push_words(&words, TransitionId(0), out);
        Ok(())
    }

    #[inline]
    fn fire(&self, state: &S, t: TransitionId, out: &mut Batch<S>) -> Result<bool, Fault> {
        let row = out.push_copy(t, state);
        let fired = match &self.derived {
            None => {
                let mut s = State::new(row.words_mut(), self.layout);
                let fired = self.model.fire(t.index(), &mut s);
                s.take_fault().map_or(Ok(fired), |fault| Err(*fault))
            }
            Some(derived) => derived.fire(self.model, row.words_mut(), t),
        };
        let fired = match fired {
            Ok(fired) => fired,
            Err(fault) => {
                out.pop();
                return Err(self.blame(t, fault));
            }
        };
        if !fired {
            let unchanged = row == state;
            let fault = if unchanged { None } else { Some(self.changed_but_disabled(state, row)) };
            out.pop();
            if let Some(fault) = fault {
                return Err(self.blame(t, fault));
            }
        }
        Ok(fired)
    }

    fn values(&self, state: &S) -> Vec<(String, String)> {
        let layout = self.layout;
        let value = |v: crate::Var| {
            let shown = layout.show_value(v, raw_in(state.words(), v) as usize + v.min as usize);
            (layout.name(v).to_owned(), shown)
        };
        layout.vars().map(value).collect()
    }

    fn show(&self, state: &S) -> String {
        let shown = self.look(state, |s| self.model.show(s)).ok().flatten();
        shown.unwrap_or_else(|| self.show_values(state))
    }
}

impl<S: WordVector + ?Sized> Rules for ModelSystem<'_, S> {
    fn n_nodes(&self) -> usize {
        self.derived.as_ref().map_or(self.n_transitions, Derived::n_nodes)
    }

    fn require(&self, state: &S, t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        let mut scratch = Scratch::from_slice(state.words());
        if let Some(derived) = &self.derived {
            let required = derived.require(self.model, state.words(), &mut scratch, t, out);
            return required.map(|_| ()).map_err(|fault| self.blame(t, fault));
        }
        if self.source == RuleSource::None {
            out.add_all(self.n_transitions);
            return Ok(());
        }
        self.require_by_hand(State::new(&mut scratch, self.layout), t, out)
    }

    fn tell(
        &self,
        state: &S,
        t: TransitionId,
        out: &mut Requirements,
        places: &mut Vec<Range<usize>>,
    ) -> Result<Option<Told>, Fault> {
        let mut scratch = Scratch::from_slice(state.words());
        let is_enabled = if let Some(derived) = &self.derived {
            let required = derived.require(self.model, state.words(), &mut scratch, t, out);
            let is_enabled = required.map_err(|fault| self.blame(t, fault))?;
            derived.note(t, places);
            is_enabled
        } else {
            self.recorder.clear();
            let mut s = State::recorded(&mut scratch, self.layout, &self.recorder);
            let is_enabled = self.model.fire(t.index(), &mut s);
            s.take_fault().map_or(Ok(()), |fault| Err(self.blame(t, *fault)))?;
            scratch.copy_from_slice(state.words());
            match self.source {
                RuleSource::None => out.add_all(self.n_transitions),
                _ => {
                    let s = State::recorded(&mut scratch, self.layout, &self.recorder);
                    self.require_by_hand(s, t, out)?;
                }
            }
            self.recorder.note(places);
            is_enabled
        };
        let first = places.first().and_then(|place| self.layout.vars().nth(place.start));
        Ok(Some(Told { is_enabled, first: first.map_or(0, |var| raw_in(state.words(), var)) }))
    }

    fn tells(&self) -> bool {
        true
    }
}

impl<S: WordVector + ?Sized> Observed for ModelSystem<'_, S> {
    fn questions(&self) -> Vec<Question> {
        self.model.questions()
    }

    fn check(&self, state: &S) -> Result<Option<String>, Fault> {
        match &self.derived {
            Some(derived) => derived.check(self.model, &mut Scratch::from_slice(state.words())),
            None => self.look(state, |s| self.model.check(s).err()),
        }
    }

    fn check_deadlock(&self, state: &S) -> Result<Option<String>, Fault> {
        self.look(state, |s| self.model.check_deadlock(s).err())
    }

    fn is_may_progress(&self, state: &S) -> Result<bool, Fault> {
        self.look(state, |s| self.model.is_may_progress(s))
    }

    fn is_must_progress(&self, state: &S) -> Result<bool, Fault> {
        self.look(state, |s| self.model.is_must_progress(s))
    }
}

impl<S: WordVector + ?Sized> Symmetric for ModelSystem<'_, S> {
    fn represent(&self, state: &mut S) -> Result<(), Fault> {
        let mut s = State::new(state.words_mut(), self.layout);
        self.model.represent(&mut s);
        s.take_fault().map_or(Ok(()), |fault| Err(fault.of("symmetry representative".into())))
    }
}

impl<S: WordVector + ?Sized> Composed for ModelSystem<'_, S> {
    fn tracer(&self) -> Option<Box<dyn Tracer<S> + '_>> {
        let traced = Traced::new(self)?;
        Some(Box::new(traced))
    }

    fn shared(&self) -> Option<Box<dyn Shared<S> + '_>> {
        let (model, source) = (self.model, self.source);
        Some(Box::new(Elsewhere { model, source, state: PhantomData }))
    }
}

/// Makes the system again for each thread: what it records is its own.
struct Elsewhere<'m, S: ?Sized> {
    model: &'m dyn Model,
    source: RuleSource,
    state: PhantomData<fn(&S)>,
}

impl<S: WordVector + ?Sized> Shared<S> for Elsewhere<'_, S> {
    fn lend(&self, work: &mut dyn FnMut(&dyn Whole<State = S>)) {
        if let Ok(system) = ModelSystem::<S>::new(self.model, self.source) {
            work(&system);
        }
    }
}
