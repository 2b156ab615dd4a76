//! Wrong states and deadlocks: what is searched for next, and what is noted of what was found.
//!
//! Without reduction all of them have one search. With reduction the deadlocks have one, with plain sets, and each wrong state has
//! its own, with sets that lead towards it. Which of the two ways it is [`rejection_race`](crate::rejection_race) says, or the user.

use crate::phase::{Overtaken, no_room};
use crate::rejection_engine::{StateSearch, StatesFound};
use crate::rejections::{Check, Report, Sets, sets};
use crate::replay::Witness;
use crate::{Broken, Options, Verdict};
use stubborn_reduce::{StrongComponents, Towards};
use stubborn_store::Full;
use stubborn_system::{Rejecting, RejectionKind};

impl<'a, Y: Rejecting + ?Sized> Check<'a, Y> {
    /// The wrong states and deadlocks that are open.
    pub(crate) fn open_states(&self) -> Vec<usize> {
        self.open(&|kind, _| !kind.is_about_cycles())
    }

    /// Searches for wrong states and deadlocks without reduction.
    pub(crate) fn full_states(&mut self) -> Result<(), Box<Broken>> {
        self.states(|check| Some((check.open_states(), Sets::full())))
    }

    /// Searches for them with sets of their own.
    pub(crate) fn reduced_states(&mut self) -> Result<(), Box<Broken>> {
        self.states(Self::next_reduced)
    }

    /// What is searched for next with sets of its own, if anything is open.
    pub(crate) fn next_reduced(&self) -> Option<(Vec<usize>, Sets<'a, Y>)> {
        let deadlocks = self.open(&|kind, _| kind == RejectionKind::Deadlock);
        if !deadlocks.is_empty() {
            return Some((deadlocks, sets(StrongComponents::default(), false, self.options.check)));
        }
        let &state = self.open_states().first()?;
        // These sets need not have anything enabled, so they are not held against D0.
        let reduction = Box::new(Towards::new(state));
        Some((vec![state], Sets { reduction, no_livelock: false }))
    }

    /// How many searches that are: one for all deadlocks, and one for each wrong state.
    pub(crate) fn n_reduced(&self) -> u64 {
        let open = self.open_states();
        let is_deadlock = |&i: &usize| self.system.rejections()[i].kind == RejectionKind::Deadlock;
        let n_deadlocks = open.iter().copied().filter(is_deadlock).count();
        (open.len() - n_deadlocks + usize::from(n_deadlocks > 0)) as u64
    }

    /// Searches for wrong states and deadlocks: for those that `next` names, until nothing is open.
    fn states(
        &mut self,
        next: impl Fn(&Self) -> Option<(Vec<usize>, Sets<'a, Y>)>,
    ) -> Result<(), Box<Broken>> {
        while let Some((open, mut sets)) = next(self).filter(|(open, _)| !open.is_empty() && !self.is_over())
        {
            match self.search(&open, &mut sets, self.options) {
                Ok(found) => self.settle(&open, found, &sets, None)?,
                Err(full) => self.stopped(&open, &no_room(&full, self.options)),
            }
        }
        Ok(())
    }

    /// Searches for these wrong states and deadlocks.
    pub(crate) fn search(
        &mut self,
        open: &[usize],
        sets: &mut Sets<'_, Y>,
        options: &Options,
    ) -> Result<StatesFound, Full> {
        let (system, watch) = (self.system, &mut *self.watch);
        StateSearch { system, reduction: &mut *sets.reduction, open, options, watch }.run()
    }

    /// Notes what was found of these rejections. What was seen beside something else stays open, to be searched for by itself.
    pub(crate) fn settle(
        &mut self,
        open: &[usize],
        found: StatesFound,
        sets: &Sets<'_, Y>,
        overtaken: Option<Overtaken>,
    ) -> Result<(), Box<Broken>> {
        let StatesFound { outcome, seen, guarantee, store, key_words } = found;
        let report = Report { search: self.options.search, guarantee, store, key_words, overtaken };
        let phase = self.note(&*sets.reduction, report, outcome.stats, &outcome.end)?;
        for found in &outcome.found {
            let witness = Witness { steps: found.path.clone(), ..Witness::default() };
            // Others may have shown it in the meantime.
            let question = found.sighting.question;
            if !matches!(self.verdicts[question], Some((Verdict::Violated(_), _))) {
                self.violated(question, &witness, phase)?;
            }
        }
        let is_left = |&i: &usize| self.verdicts[i].is_none() && !seen[i];
        let left: Vec<usize> = open.iter().copied().filter(is_left).collect();
        self.conclude(&left, &outcome.end, guarantee, sets, phase);
        Ok(())
    }
}
