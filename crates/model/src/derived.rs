//! Stubborn rules derived from footprints.
//!
//! **Implements** the static rules of V15 section VI ("a complete implementation would contain a
//! preprocessor tool that reasons these rules from the model") for models as code. The trick: `fire` is a
//! function of what it reads, so running it once with a recorder tells exactly what the transition depends
//! on *here*. Only what other transitions may do *later* must be declared ([`Footprint`]).
//!
//! For `t` in the stubborn set of `s`, these must be in:
//! * every `u` that may write a value that changes an outcome that `t` saw (so outside transitions leave
//!   `t` enabled with the same effect, or disabled: D2, and the first half of D1);
//! * if `t` is enabled, every `u` that may see a change that `t` makes, and every `u` that may write
//!   another value to a variable that `t` writes (the second half of D1);
//! * if `t` is enabled and may turn the failing state check off: the imaginary transition `t_c`;
//! * for `t_c`, either of: every `u` that may change an outcome that the check saw; or every `u` that may
//!   change a declared fact towards failing (a check whose footprint says "the more of these, the worse"
//!   cannot begin to fail unless one of them becomes true).
//!
//! **Preserves** D1 and D2 for every closed set, also with `t_c` among the transitions.
//! **Differs from the text** in that the hand-made rule of V15 figure 4 case 4 ("nobody else can turn
//! `T[j] != i` false") follows from declared values of writes, and cases 2, 3 and 6 name only the customers
//! that matter.
//! **Checked by** `reduce::check` on every model of the gallery, and the campaign on random guarded
//! commands in `oracle`.

use crate::state::{Recorder, State, raw_in};
use crate::{Footprint, Layout, Model, ModelError, Observation, Values, Var};
use std::ops::Range;
use stubborn_system::{Fault, Requirements, TransitionId};

/// Who may read and write each variable; the tables behind the derived rules, made once per model.
#[derive(Debug)]
pub(crate) struct Derived {
    footprints: Vec<Footprint>,
    /// By variable: who may look at it, and how.
    readers: Vec<Vec<(TransitionId, Observation)>>,
    /// By variable: who may assign what to it.
    writers: Vec<Vec<(TransitionId, Values)>>,
    /// How the state check looks at its variables; `None` if there is no check to preserve.
    check: Option<Footprint>,
    recorder: Recorder,
}

impl Derived {
    /// The tables of `model`.
    pub(crate) fn new(model: &dyn Model, with_check: bool) -> Result<Self, ModelError> {
        let footprints: Vec<Footprint> = (0..model.n_transitions())
            .map(|t| model.footprint(t))
            .collect::<Option<_>>()
            .ok_or(ModelError::NoRules { wanted: "footprints for all transitions" })?;
        for (t, footprint) in footprints.iter().enumerate() {
            let blame = |wrong| ModelError::Footprint { of: model.transition_name(t), wrong };
            validate(footprint, false).map_err(blame)?;
        }
        let n_vars = model.layout().n_vars();
        let mut readers = vec![Vec::new(); n_vars];
        let mut writers = vec![Vec::new(); n_vars];
        for (t, footprint) in footprints.iter().enumerate() {
            let t = TransitionId::from(t);
            for &(var, how) in &footprint.reads {
                if let Some(list) = readers.get_mut(var.index()) {
                    list.push((t, how));
                }
            }
            for &(var, values) in &footprint.writes {
                if let Some(list) = writers.get_mut(var.index()) {
                    list.push((t, values));
                }
            }
        }
        let everything = || model.layout().vars().fold(Footprint::new(), Footprint::reads);
        let check = with_check.then(|| model.check_footprint().unwrap_or_else(everything));
        if let Some(check) = &check {
            let blame = |wrong| ModelError::Footprint { of: "the check".into(), wrong };
            validate(check, true).map_err(blame)?;
        }
        Ok(Self { footprints, readers, writers, check, recorder: Recorder::default() })
    }

    /// Fires `t` in the state `words`, changing it, and holds what it does against its footprint: rules that
    /// rest on a false declaration would make a false answer.
    pub(crate) fn fire(&self, model: &dyn Model, words: &mut [u64], t: TransitionId) -> Result<bool, Fault> {
        self.recorder.clear();
        let mut s = State::recorded(words, model.layout(), &self.recorder);
        let fired = model.fire(t.index(), &mut s);
        if let Some(fault) = s.take_fault() {
            return Err(*fault);
        }
        let footprint = &self.footprints[t.index()];
        self.check_reads(model.layout(), footprint)?;
        if fired {
            self.check_writes(model.layout(), footprint, words)?;
        }
        Ok(fired)
    }

    /// Runs the state check, and holds what it reads against its footprint.
    pub(crate) fn check(&self, model: &dyn Model, words: &mut [u64]) -> Result<Option<String>, Fault> {
        self.recorder.clear();
        let mut s = State::recorded(words, model.layout(), &self.recorder);
        let wrong = model.check(&s).err();
        if let Some(fault) = s.take_fault() {
            return Err(*fault);
        }
        if let Some(footprint) = &self.check {
            self.check_reads(model.layout(), footprint).map_err(|fault| fault.of("the check".into()))?;
        }
        Ok(wrong)
    }

    fn check_reads(&self, layout: &Layout, footprint: &Footprint) -> Result<(), Fault> {
        for &(var, how) in self.recorder.reads.borrow().iter() {
            if !footprint.allows_read(var, how) {
                return Err(undeclared(layout, "read", var));
            }
        }
        Ok(())
    }

    fn check_writes(&self, layout: &Layout, footprint: &Footprint, after: &[u64]) -> Result<(), Fault> {
        for &var in self.recorder.writes.borrow().iter() {
            // An intermediate value that was overwritten again is nobody's business; the last one is.
            if !footprint.allows_write(var, raw_in(after, var)) {
                return Err(undeclared(layout, "wrote", var));
            }
        }
        Ok(())
    }

    /// Number of nodes: the transitions, and `t_c` if there is a check.
    pub(crate) fn n_nodes(&self) -> usize {
        self.footprints.len() + usize::from(self.check.is_some())
    }

    /// What node `t` requires in the state `words`, and whether it is enabled there. `scratch` is a copy of the state.
    pub(crate) fn require(
        &self,
        model: &dyn Model,
        words: &[u64],
        scratch: &mut [u64],
        t: TransitionId,
        out: &mut Requirements,
    ) -> Result<bool, Fault> {
        if t.index() == self.footprints.len() {
            // The search stops where the check fails, so here t_c is disabled. Should a search go on
            // regardless, there is nothing more to preserve about the check.
            self.check(model, scratch)?;
            self.require_for_looks(words, t, out);
            // Not a matter of what the check happened to look at: a check that branches on a fact may turn
            // to another fact when the first one is gone.
            out.or();
            for &(var, how) in self.check.iter().flat_map(|footprint| &footprint.reads) {
                self.require_writers(words, t, var, how, out);
            }
            return Ok(false);
        }
        let enabled = self.fire(model, scratch, t)?;
        self.require_for_looks(words, t, out);
        if enabled {
            self.require_for_effect(words, scratch, t, out);
        }
        Ok(enabled)
    }

    /// Appends the numbers of the variables that the last answer of [`Derived::require`] depends on, which was about node `t`.
    pub(crate) fn note(&self, t: TransitionId, places: &mut Vec<Range<usize>>) {
        self.recorder.note(places);
        if t.index() == self.footprints.len() {
            let reads = self.check.iter().flat_map(|footprint| &footprint.reads);
            places.extend(reads.map(|(var, _)| var.index()..var.index() + 1));
        }
    }

    /// Requires every transition but `t` that may change an outcome that was just recorded.
    fn require_for_looks(&self, words: &[u64], t: TransitionId, out: &mut Requirements) {
        for &(var, how) in self.recorder.reads.borrow().iter() {
            self.require_writers(words, t, var, how, out);
        }
    }

    /// Requires every transition but `t` that may change what is seen of `var`.
    fn require_writers(
        &self,
        words: &[u64],
        t: TransitionId,
        var: Var,
        how: Observation,
        out: &mut Requirements,
    ) {
        let now = raw_in(words, var);
        for &(u, written) in &self.writers[var.index()] {
            if u != t && how.may_be_changed(var, now, written) {
                out.add(u);
            }
        }
    }

    /// The requirements that come from what `t` writes; `after` is the state that it leads to.
    fn require_for_effect(&self, before: &[u64], after: &[u64], t: TransitionId, out: &mut Requirements) {
        let mut may_turn_check_off = false;
        for &var in self.recorder.writes.borrow().iter() {
            let (old, new) = (raw_in(before, var), raw_in(after, var));
            for &(u, written) in &self.writers[var.index()] {
                if u != t && Observation::Value.may_be_changed(var, new, written) {
                    out.add(u);
                }
            }
            for &(u, how) in &self.readers[var.index()] {
                if u != t && how.sees(old, new) {
                    out.add(u);
                }
            }
            if let Some(check) = &self.check {
                may_turn_check_off |=
                    check.reads.iter().any(|&(v, how)| v.index == var.index && how.sees(old, new));
            }
        }
        if may_turn_check_off {
            out.add(TransitionId::from(self.footprints.len()));
        }
    }
}

/// Says what is wrong with a declaration, if anything.
fn validate(footprint: &Footprint, is_check: bool) -> Result<(), &'static str> {
    let vars = footprint.reads.iter().map(|&(v, _)| v).chain(footprint.writes.iter().map(|&(v, _)| v));
    if vars.into_iter().any(|v| v.word == Var::NOWHERE) {
        return Err("it names an element that its array does not have");
    }
    if !is_check && footprint.reads.iter().any(|(_, how)| matches!(how, Observation::Raises(_))) {
        return Err("`fails_by` is for checks; say `tests`");
    }
    if is_check && !footprint.writes.is_empty() {
        return Err("a check writes nothing");
    }
    Ok(())
}

#[cold]
fn undeclared(layout: &Layout, did: &str, var: Var) -> Fault {
    Fault::Footprint { access: format!("it {did} `{}` in a way that is not declared", layout.name(var)) }
}
