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
use rustc_hash::FxHashSet;
use std::cell::Cell;
use stubborn_system::{Batch, Fault, Observed, Question, Rules, TransitionId, Vector};

/// Firings of one check, at most, and so many more for each transition. That is what there is to begin with; and what each state earns that a set was chosen for.
const AT_ONCE: u64 = 5_000;
const OF_EACH: u64 = 20;
const EARNED: u64 = 16;

/// How much is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckDepth {
    /// The first 64 states and then ever fewer (those numbered by powers of two), each with as many firings as are left of 5,000 and 20 for each transition that there are to
    /// begin with, and 16 more for each state: so that a small search is not mostly a check of its sets.
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
    /// Firings that were made.
    n_fired: u64,
}

impl Sampler {
    pub(crate) fn new(depth: CheckDepth) -> Self {
        Self { depth, n_seen: 0, n_fired: 0 }
    }

    /// Whether the next state is to be checked.
    pub(crate) fn is_next(&mut self) -> bool {
        self.n_seen += 1;
        self.depth == CheckDepth::Everything || self.n_seen <= 64 || self.n_seen.is_power_of_two()
    }

    /// How many firings the check of this state may take.
    fn budget(&self, n_transitions: usize) -> u64 {
        let at_once = AT_ONCE + OF_EACH * n_transitions as u64;
        match self.depth {
            CheckDepth::Everything => u64::MAX,
            CheckDepth::Sample => (at_once + EARNED * self.n_seen).saturating_sub(self.n_fired).min(at_once),
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
        let budget = if self.is_next() { self.budget(system.n_transitions()) } else { 0 };
        if budget == 0 {
            return Ok(());
        }
        let mut members = Vec::new();
        set(&mut members)?;
        let definition = Definition::new(system, &members, budget);
        let checked = definition.check(state, has_fired);
        self.n_fired += budget - definition.budget.get();
        checked
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

/// Where states are put, so that a firing need not make room for them.
struct Room<S: Vector + ?Sized> {
    /// Where outside transitions lead from the state at hand, and where a member does.
    found: Batch<S>,
    after: Batch<S>,
    /// Where both lead, in the two orders.
    one_way: Batch<S>,
    other_way: Batch<S>,
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
        let mut room =
            Room { found: Batch::new(), after: Batch::new(), one_way: Batch::new(), other_way: Batch::new() };
        let mut enabled = vec![false; n];
        for (t, is_enabled) in enabled.iter_mut().enumerate() {
            *is_enabled = self.fire(start, t, &mut room.after)?;
        }
        if !has_fired && let Some(t) = enabled.iter().position(|&e| e) {
            return Err(self.fault(
                "D0",
                start,
                &format!("nothing was fired, but {} is enabled", self.name(t)),
            ));
        }
        let fails_at_start = self.fails(start)?;
        let mut seen: FxHashSet<Vec<u8>> = FxHashSet::default();
        seen.insert(start.as_bytes().to_vec());
        let mut outside = Batch::new();
        outside.push(TransitionId(0), start);
        let mut next = 0;
        while next < outside.len() && self.budget.get() > 0 {
            room.found.clear();
            self.check_state(start, outside.state(next), &enabled, fails_at_start, &mut room)?;
            for i in 0..room.found.len() {
                let state = room.found.state(i);
                if !seen.contains(state.as_bytes()) {
                    seen.insert(state.as_bytes().to_vec());
                    outside.push(room.found.via(i), state);
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// Checks one outside state `s`; finds the states that outside transitions lead to.
    fn check_state(
        &self,
        start: &Y::State,
        s: &Y::State,
        enabled: &[bool],
        fails_at_start: bool,
        room: &mut Room<Y::State>,
    ) -> Result<(), Fault> {
        let n = self.system.n_transitions();
        let Room { found, after, one_way, other_way } = room;
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
            let is_enabled = self.fire(s, t, after)?;
            if !(is_enabled && enabled[t]) {
                self.check_disabled(start, s, t, (enabled[t], is_enabled))?;
                continue;
            }
            let after = after.state(0);
            if self.check == Some(false) && watches_check && !self.fails(after)? {
                let what =
                    format!("{} stops the check from failing in {}", self.name(t), self.system.show(s));
                return Err(self.fault("D1", start, &what));
            }
            for i in 0..found.len() {
                // Whether t is still enabled there is asked when that state is checked.
                if !self.fire(found.state(i), t, one_way)? {
                    continue;
                }
                let commute = self.fire(after, found.via(i).index(), other_way)?
                    && one_way.state(0) == other_way.state(0);
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
        was_and_is_enabled: (bool, bool),
    ) -> Result<(), Fault> {
        let (condition, what) = match was_and_is_enabled {
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

    /// Fires `t`, if it is enabled; what it leads to is all that is in `out` then.
    fn fire(&self, state: &Y::State, t: usize, out: &mut Batch<Y::State>) -> Result<bool, Fault> {
        self.pay();
        out.clear();
        self.system.fire(state, TransitionId::from(t), out)
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
