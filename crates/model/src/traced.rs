//! A model's states variable by variable, and its transitions by what they look at first.
//!
//! **Implements** [`Tracer`]: parts are variables. The variable that a transition reads first is the same in all states,
//! because nothing is known before; transitions that begin with the same one are an agent, and it is their root.
//! **Preserves** what firing does: it is recorded as it is for derived rules, and held against footprints if there are
//! any.
//! **Checked by** `oracle/tests/all/packed.rs`.

use crate::Var;
use crate::adapter::ModelSystem;
use crate::state::{Recorder, State, raw_in};
use std::ops::Range;
use stubborn_system::{Batch, Bits, Fault, Observed, Parts, System, Tracer, TransitionId, Unit, WordVector};

/// A model that tells what it looks at.
pub(crate) struct Traced<'y, 'm, S: WordVector + ?Sized> {
    system: &'y ModelSystem<'m, S>,
    vars: Vec<Var>,
    /// The root of each agent and its transitions, in descending order.
    agents: Vec<(u16, Vec<TransitionId>)>,
    recorder: Recorder,
    words: Vec<u64>,
}

impl<'y, 'm, S: WordVector + ?Sized> Traced<'y, 'm, S> {
    /// `None` if there are more variables than parts can be numbered, or if a transition reads nothing.
    pub(crate) fn new(system: &'y ModelSystem<'m, S>) -> Option<Self> {
        let vars: Vec<Var> = system.layout().vars().collect();
        if vars.len() >= usize::from(u16::MAX) {
            return None;
        }
        let mut traced =
            Self { system, vars, agents: Vec::new(), recorder: Recorder::default(), words: Vec::new() };
        let mut initial = Batch::new();
        system.initial(&mut initial).ok()?;
        for t in (0..system.n_transitions()).rev().map(TransitionId::from) {
            let mut words = initial.state(0).words().to_vec();
            traced.fire(&mut words, t).ok()?;
            let root = traced.recorder.reads.borrow().first()?.0.index() as u16;
            match traced.agents.iter_mut().find(|(known, _)| *known == root) {
                Some((_, transitions)) => transitions.push(t),
                None => traced.agents.push((root, vec![t])),
            }
        }
        Some(traced)
    }

    /// Notes the variables that were used since the recorder was cleared.
    fn note(&self, touched: &mut Vec<u16>) {
        touched.extend(self.recorder.reads.borrow().iter().map(|(var, _)| var.index() as u16));
        touched.extend(self.recorder.writes.borrow().iter().map(|var| var.index() as u16));
    }

    /// Fires `t` and records what it does.
    fn fire(&self, words: &mut [u64], t: TransitionId) -> Result<bool, Fault> {
        self.recorder.clear();
        let mut s = State::recorded(words, self.system.layout(), &self.recorder);
        let fired = self.system.model().fire(t.index(), &mut s);
        s.take_fault().map_or(Ok(fired), |fault| Err(*fault))
    }
}

impl<S: WordVector + ?Sized> Tracer<S> for Traced<'_, '_, S> {
    fn take_apart(&mut self, state: &S, parts: &mut Parts) {
        for (number, &var) in self.vars.iter().enumerate() {
            parts.push(number as u16, &raw_in(state.words(), var).to_le_bytes());
        }
    }

    fn put_together(&mut self, parts: &Parts, out: &mut S::Rows) {
        self.words.clear();
        self.words.resize(self.system.n_words(), 0);
        for (number, value) in parts.iter() {
            let var = self.vars[usize::from(number)];
            let raw = value.try_into().map_or(0, u32::from_le_bytes);
            self.words[usize::from(var.word)] |= u64::from(raw) << var.shift;
        }
        S::push_row(&self.words, out);
    }

    fn places(&self) -> Option<Vec<Bits>> {
        let place = |var: &Var| Bits { word: var.word, shift: var.shift, bits: var.mask.count_ones() as u8 };
        Some(self.vars.iter().map(place).collect())
    }

    fn put_words(&mut self, words: &[u64], out: &mut S::Rows) {
        S::push_row(&words[..self.system.n_words()], out);
    }

    fn parts_at(&mut self, _: &S, places: &[Range<usize>], touched: &mut Vec<u16>) -> bool {
        touched.extend(places.iter().cloned().flatten().map(|place| place as u16));
        true
    }

    fn agents(&mut self, roots: &mut Vec<u16>) {
        roots.extend(self.agents.iter().map(|(root, _)| *root));
    }

    fn units(&mut self, _: &S, _: usize, units: &mut Vec<Unit>) {
        units.push(Unit { code: 0, goes_on: false });
    }

    fn expand(
        &mut self,
        state: &S,
        agent: usize,
        _: Unit,
        touched: &mut Vec<u16>,
        out: &mut Batch<S>,
    ) -> Result<Option<()>, Fault> {
        let mut words = std::mem::take(&mut self.words);
        let mut is_known = true;
        for &t in &self.agents[agent].1 {
            words.clear();
            words.extend_from_slice(state.words());
            let fired = self.fire(&mut words, t);
            self.note(touched);
            match fired {
                Ok(true) => S::push_words(&words, t, out),
                Ok(false) if words == state.words() => {}
                // What is wrong the system itself will say.
                Ok(false) | Err(_) => is_known = false,
            }
            // It must be as declared.
            let mut trial = Batch::new();
            is_known &= self.system.fire(state, t, &mut trial).is_ok();
        }
        self.words = words;
        Ok(is_known.then_some(()))
    }

    fn is_fine(&mut self, state: &S, touched: &mut Vec<u16>) -> Option<bool> {
        let mut words = state.words().to_vec();
        self.recorder.clear();
        let s = State::recorded(&mut words, self.system.layout(), &self.recorder);
        let is_fine = self.system.model().check(&s).is_ok();
        self.note(touched);
        // It must be as declared.
        Some(is_fine && matches!(self.system.check(state), Ok(None)))
    }

    fn is_complete(&self) -> bool {
        true
    }

    fn n_outcomes(&self) -> u32 {
        1
    }

    fn is_by_number(&self) -> bool {
        true
    }

    fn split(&mut self, _: &[u8], _: u16) -> bool {
        false
    }
}
