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
use crate::{Footprint, Layout, Model, Observation, Values, Var};
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
    /// The tables of `model`, or `None` if some transition has no footprint.
    pub(crate) fn new(model: &dyn Model, with_check: bool) -> Option<Self> {
        let footprints: Vec<Footprint> =
            (0..model.n_transitions()).map(|t| model.footprint(t)).collect::<Option<_>>()?;
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
        Some(Self { footprints, readers, writers, check, recorder: Recorder::default() })
    }

    /// Number of nodes: the transitions, and `t_c` if there is a check.
    pub(crate) fn n_nodes(&self) -> usize {
        self.footprints.len() + usize::from(self.check.is_some())
    }

    /// What node `t` requires in the state `words`. `scratch` is a copy of it.
    pub(crate) fn require(
        &self,
        model: &dyn Model,
        words: &[u64],
        scratch: &mut [u64],
        t: TransitionId,
        out: &mut Requirements,
    ) -> Result<(), Fault> {
        self.recorder.clear();
        let layout = model.layout();
        let mut s = State::recorded(scratch, layout, &self.recorder);
        let is_check = t.index() == self.footprints.len();
        let enabled = if is_check {
            // The search stops where the check fails, so here t_c is disabled; should a search go on
            // regardless, what t_c needs to stay enabled is what it saw, which is required below.
            let _ = model.check(&s);
            false
        } else {
            model.fire(t.index(), &mut s)
        };
        if let Some(fault) = s.take_fault() {
            return Err(*fault);
        }
        let footprint = if is_check { self.check.as_ref() } else { self.footprints.get(t.index()) };
        let Some(footprint) = footprint else {
            return Err(Fault::NoSuchTransition { named: t.index(), n_transitions: self.footprints.len() });
        };
        for &(var, how) in self.recorder.reads.borrow().iter() {
            if !footprint.allows_read(var, how) {
                return Err(undeclared(layout, "read", var));
            }
            self.require_writers(words, t, var, how, out);
        }
        if is_check {
            // Not a matter of what the check happened to look at: a check that branches on a fact may turn
            // to another fact when the first one is gone.
            out.or();
            for &(var, how) in &footprint.reads {
                self.require_writers(words, t, var, how, out);
            }
        }
        if enabled {
            self.require_for_effect(layout, words, scratch, t, out)?;
        }
        Ok(())
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
    fn require_for_effect(
        &self,
        layout: &Layout,
        before: &[u64],
        after: &[u64],
        t: TransitionId,
        out: &mut Requirements,
    ) -> Result<(), Fault> {
        let mut may_turn_check_off = false;
        for &var in self.recorder.writes.borrow().iter() {
            let (old, new) = (raw_in(before, var), raw_in(after, var));
            // An intermediate value that was overwritten again is nobody's business; the last one is.
            if !self.footprints[t.index()].allows_write(var, new) {
                return Err(undeclared(layout, "wrote", var));
            }
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
        Ok(())
    }
}

#[cold]
fn undeclared(layout: &Layout, did: &str, var: Var) -> Fault {
    Fault::Footprint { access: format!("it {did} `{}`", layout.name(var)) }
}
