//! Condition variables.
//!
//! `Wait` enters the queue (its operation also releases the mutex), `Wake` is enabled when somebody has notified
//! the process; the process then locks the mutex again. A notification that finds nobody waiting reads that
//! the queue is empty. Whom `NotifyOne` wakes is a choice of a place in the queue unless the order is said to be first in, first
//! out. `TimedWake` is always enabled: if nobody has notified the process, time is up.

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, ProcessId};
use smallvec::SmallVec;

/// Whom a notification of one wakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WakeOrder {
    /// Any that waits.
    #[default]
    Any,
    /// The one that has waited longest.
    Fifo,
}

/// A condition variable.
#[derive(Clone, Debug, Default)]
pub struct Condvar {
    order: WakeOrder,
    waiting: SmallVec<[ProcessId; 4]>,
    /// Who was notified, and by which notification.
    notified: SmallVec<[(ProcessId, u64); 1]>,
    n_notifications: u64,
}

impl Condvar {
    /// A condition variable on which nobody waits.
    pub fn new(order: WakeOrder) -> Condvar {
        Condvar { order, ..Condvar::default() }
    }

    /// Whether somebody waits to be notified.
    pub fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn notification(&self, me: ProcessId) -> Option<u64> {
        self.notified.iter().find(|n| n.0 == me).map(|n| n.1)
    }
}

/// The stamp of a notification that nobody heard, and of a time that was up. Others are numbers of notifications.
const NOBODY: u64 = 0;

impl Table for Condvar {
    #[inline]
    fn enabled(&self, me: ProcessId, action: Action) -> bool {
        !matches!(action, Action::Wake) || self.notification(me).is_some()
    }

    fn choices(&self, action: Action) -> u32 {
        match (action, self.order) {
            (Action::NotifyOne, WakeOrder::Any) => self.waiting.len().max(1) as u32,
            _ => 1,
        }
    }

    /// A wake-up gets 1 if it was notified, a notification the number of processes that it wakes.
    #[inline]
    fn peek(&self, me: ProcessId, action: Action, _: u32) -> Effect {
        let n = match action {
            Action::NotifyOne => self.waiting.len().min(1),
            Action::NotifyAll => self.waiting.len(),
            Action::Wake | Action::TimedWake => {
                let number = self.notification(me);
                return Effect { out: u64::from(number.is_some()), stamp: number.unwrap_or(NOBODY) };
            }
            _ => return Effect::default(),
        };
        Effect { out: n as u64, stamp: if n == 0 { NOBODY } else { self.n_notifications + 1 } }
    }

    #[inline]
    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let effect = self.peek(me, action, choice);
        match action {
            Action::Wait => self.waiting.push(me),
            Action::NotifyOne | Action::NotifyAll if effect.stamp != NOBODY => {
                self.n_notifications += 1;
                if matches!(action, Action::NotifyOne) {
                    let woken = self.waiting.remove(choice as usize % self.waiting.len());
                    self.notified.push((woken, effect.stamp));
                } else {
                    self.notified.extend(self.waiting.drain(..).map(|woken| (woken, effect.stamp)));
                }
            }
            Action::Wake | Action::TimedWake => {
                self.waiting.retain(|process| *process != me);
                self.notified.retain(|n| n.0 != me);
            }
            _ => {}
        }
        effect
    }

    fn relation(&self, first: &Label, second: &Label) -> Relation {
        use Action::*;
        let notifies = |label: &Label| matches!(label.action, NotifyOne | NotifyAll);
        let heard = |label: &Label| label.effect.stamp;
        match (first.action, second.action) {
            _ if notifies(first) && notifies(second) && heard(first) == NOBODY && heard(second) == NOBODY => {
                Relation::Independent
            }
            (NotifyOne | NotifyAll, Wake) if heard(first) == heard(second) => Relation::Ordered,
            (NotifyOne | NotifyAll, TimedWake) if heard(first) == heard(second) => Relation::Conflict,
            // Time was up for one that waits: a notification might have come first, or found it there.
            (TimedWake, NotifyOne | NotifyAll) if heard(first) == NOBODY => Relation::Conflict,
            (NotifyOne | NotifyAll, TimedWake) if heard(second) == NOBODY => Relation::Conflict,
            (Wake | TimedWake, _) | (_, Wake | TimedWake) => Relation::Independent,
            _ => Relation::Conflict,
        }
    }

    fn interferes(&self, action: Action, other: Action) -> bool {
        use Action::*;
        match (action, other) {
            (Wake, NotifyOne | NotifyAll) => true,
            (Wake, _) | (_, Wake) => false,
            (Wait, Wait) => true,
            (TimedWake, TimedWake | Wait) | (Wait, TimedWake) => false,
            _ => true,
        }
    }

    fn enables(&self, _: Action, other: Action, _: ProcessId) -> bool {
        matches!(other, Action::NotifyOne | Action::NotifyAll)
    }

    fn describe(&self) -> String {
        format!("{} waiting", self.waiting.len())
    }
}
