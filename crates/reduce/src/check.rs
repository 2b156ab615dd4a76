//! A reduction that tests the definition of stubborn sets where it is used.
//!
//! **Implements** D0, D1 and D2 of V15 section IV, by definition, over everything that is reachable without
//! the set. With t outside-stable, D1 and D2 for all sequences follow from single steps: for each state `s`
//! reached by outside transitions and each member `t` that is enabled at the start,
//! `t` is enabled at `s`, and for each outside step `s -u-> s2`, `s -t-> s'` and `s' -u->` leads to where
//! `s2 -t->` leads (Lemma 2). A disabled member must stay disabled. The state check takes part as the
//! imaginary transition `t_c`.
//! **Checked by** the planted faults of `oracle`, each of which it finds.
//!
//! Hand-written rules are always looked at this way in some states ([`CheckDepth::Sample`]), because a wrong
//! rule makes a wrong "holds".

use crate::{Preserves, Reduction};
use std::cell::Cell;
use std::collections::HashSet;
use stubborn_system::{Batch, Fault, Observed, Question, Rules, TransitionId, Vector};

/// How much is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckDepth {
    /// The first 64 states and then ever fewer (those numbered by powers of two), each with 5,000 firings and
    /// 20 more per transition.
    Sample,
    /// Every state, completely.
    Everything,
}

/// A reduction, and a check of its sets.
#[derive(Debug)]
pub struct Checked<R> {
    inner: R,
    sampler: Sampler,
}

/// Says which states to check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampler {
    depth: CheckDepth,
    n_seen: u64,
}

impl Sampler {
    pub(crate) fn new(depth: CheckDepth) -> Self {
        Self { depth, n_seen: 0 }
    }

    /// How many firings the check of the next state may take; `None` if it is not to be checked.
    pub(crate) fn next(&mut self) -> Option<u64> {
        self.n_seen += 1;
        match self.depth {
            CheckDepth::Everything => Some(u64::MAX),
            CheckDepth::Sample => (self.n_seen <= 64 || self.n_seen.is_power_of_two()).then_some(5_000),
        }
    }

    /// Holds what is chosen in the next state against the definition, if that is to be checked.
    pub(crate) fn check<Y: Rules + Observed + ?Sized>(
        &mut self,
        system: &Y,
        state: &Y::State,
        has_fired: bool,
        set: impl FnOnce(&mut Vec<TransitionId>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Some(budget) = self.next() else { return Ok(()) };
        let mut members = Vec::new();
        set(&mut members)?;
        let budget = budget.saturating_add(20 * system.n_transitions() as u64);
        Definition::new(system, &members, budget).check(state, has_fired)
    }
}

impl<R> Checked<R> {
    /// Checks the sets that `inner` chooses.
    pub fn new(inner: R, depth: CheckDepth) -> Self {
        Self { inner, sampler: Sampler::new(depth) }
    }
}

impl<Y: Rules + Observed + ?Sized, R: Reduction<Y>> Reduction<Y> for Checked<R> {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn preserves(&self) -> Preserves {
        self.inner.preserves()
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        let before = out.len();
        self.inner.expand(system, state, out)?;
        let set = |set: &mut Vec<TransitionId>| self.inner.stubborn_set(system, state, set);
        self.sampler.check(system, state, out.len() > before, set)
    }

    fn class(&self, t: TransitionId) -> u32 {
        self.inner.class(t)
    }

    fn stubborn_set(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        self.inner.stubborn_set(system, state, out)
    }
}

/// A set of nodes, to be held against the definition.
struct Definition<'a, Y: ?Sized> {
    system: &'a Y,
    is_member: Vec<bool>,
    /// Whether there is a state check, and whether t_c is in the set (as it is if everything is).
    check: Option<bool>,
    /// Firings left.
    budget: Cell<u64>,
}

impl<'a, Y: Rules + Observed + ?Sized> Definition<'a, Y> {
    fn new(system: &'a Y, set: &[TransitionId], budget: u64) -> Self {
        let n = system.n_transitions();
        let mut is_member = vec![false; system.n_nodes()];
        for t in set {
            is_member[t.index()] = true;
        }
        let has_check = system.questions().contains(&Question::Safety);
        let check = has_check.then(|| is_member.get(n).copied().unwrap_or(false));
        Self { system, is_member, check, budget: Cell::new(budget) }
    }

    fn check(&self, start: &Y::State, has_fired: bool) -> Result<(), Fault> {
        let n = self.system.n_transitions();
        let mut enabled = vec![false; n];
        for (t, is_enabled) in enabled.iter_mut().enumerate() {
            *is_enabled = self.fire(start, t)?.is_some();
        }
        if !has_fired && let Some(t) = enabled.iter().position(|&e| e) {
            return Err(self.fault(
                "D0",
                start,
                &format!("nothing was fired, but {} is enabled", self.name(t)),
            ));
        }
        let fails_at_start = self.fails(start)?;
        let mut seen: HashSet<Vec<u8>> = HashSet::from([start.as_bytes().to_vec()]);
        let mut outside = Batch::new();
        outside.push(TransitionId(0), start);
        let mut next = 0;
        while next < outside.len() && self.budget.get() > 0 {
            let mut found = Batch::new();
            self.check_state(start, outside.state(next), &enabled, fails_at_start, &mut found)?;
            for i in 0..found.len() {
                if seen.insert(found.state(i).as_bytes().to_vec()) {
                    outside.push(found.via(i), found.state(i));
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// Checks one outside state `s`; appends the states that outside transitions lead to.
    fn check_state(
        &self,
        start: &Y::State,
        s: &Y::State,
        enabled: &[bool],
        fails_at_start: bool,
        found: &mut Batch<Y::State>,
    ) -> Result<(), Fault> {
        let n = self.system.n_transitions();
        let fails = self.fails(s)?;
        // Where the check fails already there is nothing more to preserve about it.
        let watches_check = !fails_at_start && fails;
        if self.check == Some(true) && watches_check {
            let what =
                format!("the check is in the set, passes at first, and fails in {}", self.system.show(s));
            return Err(self.fault("D1", start, &what));
        }
        for u in (0..n).filter(|&u| !self.has(u)) {
            self.pay();
            self.system.fire(s, TransitionId::from(u), found)?;
        }
        for t in (0..n).filter(|&t| self.has(t)) {
            if self.budget.get() == 0 {
                return Ok(());
            }
            let after = self.fire(s, t)?;
            let Some(after) = after.filter(|_| enabled[t]) else {
                self.check_disabled(start, s, t, enabled[t])?;
                continue;
            };
            let after = after.state(0);
            if self.check == Some(false) && watches_check && !self.fails(after)? {
                let what =
                    format!("{} stops the check from failing in {}", self.name(t), self.system.show(s));
                return Err(self.fault("D1", start, &what));
            }
            for i in 0..found.len() {
                let both_ways = (self.fire(found.state(i), t)?, self.fire(after, found.via(i).index())?);
                let commute = match &both_ways {
                    (Some(a), Some(b)) => a.state(0) == b.state(0),
                    // Whether t is still enabled there is asked when that state is checked.
                    (None, _) => continue,
                    (Some(_), None) => false,
                };
                if !commute {
                    let (t, u) = (self.name(t), self.name(found.via(i).index()));
                    let what = format!(
                        "{t} is in the set, {u} is not, and they do not commute in {}",
                        self.system.show(s)
                    );
                    return Err(self.fault("D1", start, &what));
                }
            }
        }
        Ok(())
    }

    /// `t` is disabled at `s`, or was disabled at the start.
    fn check_disabled(
        &self,
        start: &Y::State,
        s: &Y::State,
        t: usize,
        was_enabled: bool,
    ) -> Result<(), Fault> {
        let is_enabled = self.fire(s, t)?.is_some();
        let (condition, what) = match (was_enabled, is_enabled) {
            (true, false) => ("D2", "is in the set and enabled, but outside transitions disable it in"),
            (false, true) => ("D1", "is in the set and disabled, but outside transitions enable it in"),
            _ => return Ok(()),
        };
        Err(self.fault(condition, start, &format!("{} {what} {}", self.name(t), self.system.show(s))))
    }

    /// Whether a node is in the set; one that has got its number since is not.
    fn has(&self, t: usize) -> bool {
        self.is_member.get(t).copied().unwrap_or(false)
    }

    fn pay(&self) {
        self.budget.set(self.budget.get().saturating_sub(1));
    }

    fn fire(&self, state: &Y::State, t: usize) -> Result<Option<Batch<Y::State>>, Fault> {
        self.pay();
        let mut out = Batch::new();
        Ok(self.system.fire(state, TransitionId::from(t), &mut out)?.then_some(out))
    }

    fn fails(&self, state: &Y::State) -> Result<bool, Fault> {
        match self.check {
            Some(_) => Ok(self.system.check(state)?.is_some()),
            None => Ok(false),
        }
    }

    fn name(&self, t: usize) -> String {
        format!("`{}`", self.system.transition_name(TransitionId::from(t)))
    }

    fn fault(&self, condition: &'static str, start: &Y::State, what: &str) -> Fault {
        let n = self.system.n_transitions();
        let members: Vec<String> = (0..n).filter(|&t| self.has(t)).map(|t| self.name(t)).collect();
        let explanation =
            format!("in state {} with the set {{{}}}: {what}", self.system.show(start), members.join(", "));
        Fault::Rules { condition, explanation }
    }
}
