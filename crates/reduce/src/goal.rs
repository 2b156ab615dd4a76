//! Goal-oriented stubborn sets: what may lead the guard of a rejection on, and nothing else.
//!
//! **Implements** V93 Algorithm 4.3. Where the guard is not at a livelock monitor, the set is the closure of all that the
//! guard offers; where it is at one and the others can move without it, the closure of the first strong component of
//! the rules with such a move. If nothing in the set is enabled, the first component with anything enabled is added.
//! **Preserves** D0, D1 and D2, so all deadlocks, and the conditions of V93 Theorem 4.1: of C1 to C4 for this guard,
//! what holds in the full space holds in the reduced one, or else C3 does.
//! **Differs from the text** in that a guard may be several processes: as soon as one of its transitions in the set
//! is enabled, the set gets all that the guard offers, which for one process the rules see to themselves. So the
//! guard's own transitions keep their order, and the proof of the theorem goes through with the guard as the tester.
//! No other property of testers is used there; tau loops of the guard count as its moves.
//! **Checked by** brute force on random networks and testers (`oracle`), and by `Checked`.

use crate::closure::Closer;
use crate::{Preserves, Reduction, StrongComponents};
use stubborn_system::{Batch, Fault, Rejecting, RejectionKind, TransitionId};

/// Sets for the rejections of one guard.
#[derive(Debug)]
pub struct GoalOriented {
    guard: usize,
    /// The rejections by which a state is a livelock monitor.
    monitors: Vec<usize>,
    closer: Closer,
    components: StrongComponents,
    /// The set.
    members: Vec<TransitionId>,
    start: Vec<TransitionId>,
}

impl GoalOriented {
    /// For the rejections of `guard`; its livelock rejections make monitors.
    pub fn new<Y: Rejecting + ?Sized>(system: &Y, guard: usize) -> Self {
        let is_monitor = |&i: &usize| {
            let rejection = &system.rejections()[i];
            rejection.guard == guard && rejection.kind == RejectionKind::Livelock
        };
        Self::with_monitors(guard, (0..system.rejections().len()).filter(is_monitor).collect())
    }

    /// The same if only these livelock rejections of `guard` make monitors. What the theorem calls C3 is then about
    /// them alone.
    pub fn with_monitors(guard: usize, monitors: Vec<usize>) -> Self {
        Self { monitors, ..Self::without_monitors(guard) }
    }

    /// For the rejections of `guard` that are not about livelocks: no state is a monitor, and everything else is kept
    /// whatever livelocks there are.
    pub fn without_monitors(guard: usize) -> Self {
        Self {
            guard,
            monitors: Vec::new(),
            closer: Closer::default(),
            components: StrongComponents::default(),
            members: Vec::new(),
            start: Vec::new(),
        }
    }

    /// After this, `members` is the set, and its successors are in `out`.
    fn choose<Y: Rejecting + ?Sized>(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Batch<Y::State>,
    ) -> Result<(), Fault> {
        self.start.clear();
        let is_monitor = self.monitors.iter().any(|&rejection| system.rejects(state, rejection));
        if !is_monitor {
            self.start.push(system.guard_node(self.guard));
        } else {
            let guard = self.guard;
            let alone = self.enabled(system, state, |t| !system.takes_part(guard, t))?;
            self.start.extend(alone);
        }
        if self.fire(system, state, out)? {
            return Ok(());
        }
        let any = self.enabled(system, state, |_| true)?;
        if any.is_some() {
            self.start.extend(any);
            self.fire(system, state, out)?;
        }
        Ok(())
    }

    /// An enabled transition of the first strong component that has one that is wanted.
    fn enabled<Y: Rejecting + ?Sized>(
        &mut self,
        system: &Y,
        state: &Y::State,
        wanted: impl Fn(TransitionId) -> bool,
    ) -> Result<Option<TransitionId>, Fault> {
        self.components.begin(system.n_nodes());
        let n = system.n_transitions();
        let mut found = None;
        let mut room = Batch::new();
        let mut accept = |component: &[TransitionId]| {
            for &t in component.iter().filter(|&&t| t.index() < n && wanted(t)) {
                if system.fire(state, t, &mut room)? {
                    found = Some(t);
                    return Ok(true);
                }
            }
            Ok(false)
        };
        for t in (0..n).rev().map(TransitionId::from) {
            if self.components.search(system, state, t, &mut accept)? {
                break;
            }
        }
        Ok(found)
    }

    /// Closes `start`, with the guard if one of its transitions is enabled there, and fires. Whether anything was
    /// enabled.
    fn fire<Y: Rejecting + ?Sized>(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Batch<Y::State>,
    ) -> Result<bool, Fault> {
        let node = system.guard_node(self.guard);
        let before = out.len();
        loop {
            self.members.clear();
            self.members.extend_from_slice(self.closer.close(system, state, &self.start)?);
            out.truncate(before);
            for &t in self.members.iter().filter(|t| t.index() < system.n_transitions()) {
                system.fire(state, t, out)?;
            }
            let moves_guard = (before..out.len()).any(|i| system.takes_part(self.guard, out.via(i)));
            if !moves_guard || self.start.contains(&node) {
                return Ok(out.len() > before);
            }
            self.start.push(node);
        }
    }
}

impl<Y: Rejecting + ?Sized> Reduction<Y> for GoalOriented {
    fn name(&self) -> String {
        "goal".into()
    }

    fn preserves(&self) -> Preserves {
        Preserves::Rejections
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.choose(system, state, out)
    }

    fn stubborn_set(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        let mut successors = Batch::new();
        self.choose(system, state, &mut successors)?;
        out.extend_from_slice(&self.members);
        Ok(())
    }
}
