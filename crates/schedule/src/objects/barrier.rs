//! Barriers: so many processes wait for each other, again and again.
//!
//! Arrivals have ranks. Two of them commute if both are of the same generation in either order, and, unless nobody asks who leads a generation, if
//! neither is its last, which leads it. Leaving waits for all arrivals of its generation.
//!
//! The relation must hold for labels of the same state as well (what a sleeping process would do), so it asks whether there is room for one more.

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, ProcessId};

/// A barrier.
#[derive(Clone, Debug)]
pub struct Barrier {
    size: u64,
    n_arrived: u64,
    /// Whether it matters who leads.
    has_leader: bool,
}

impl Barrier {
    /// A barrier for so many; none counts as one.
    pub fn new(size: u64) -> Barrier {
        Barrier { size: size.max(1), n_arrived: 0, has_leader: true }
    }

    /// A barrier of which nobody asks who leads.
    pub fn without_leader(size: u64) -> Barrier {
        Barrier { has_leader: false, ..Barrier::new(size) }
    }
}

/// What an arrival gets: its generation, and whether it leads.
impl Barrier {
    /// The generation of an arrival.
    pub fn generation(out: u64) -> u64 {
        out >> 1
    }

    /// Whether an arrival leads its generation.
    pub fn leads(out: u64) -> bool {
        out & 1 == 1
    }
}

impl Table for Barrier {
    fn enabled(&self, _: ProcessId, action: Action) -> bool {
        !matches!(action, Action::Leave(generation) if self.n_arrived / self.size <= generation)
    }

    fn peek(&self, _: ProcessId, action: Action, _: u32) -> Effect {
        let generation = self.n_arrived / self.size;
        match action {
            Action::Leave(generation) => Effect { out: 0, stamp: generation },
            _ => {
                let leads = self.has_leader && (self.n_arrived + 1).is_multiple_of(self.size);
                Effect { out: generation << 1 | u64::from(leads), stamp: self.n_arrived }
            }
        }
    }

    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let effect = self.peek(me, action, choice);
        self.n_arrived += u64::from(action == Action::Arrive);
        effect
    }

    fn relation(&self, first: &Label, second: &Label) -> Relation {
        match (first.action, second.action) {
            (Action::Arrive, Action::Arrive) => {
                let (one, two) = (first.effect.stamp, second.effect.stamp);
                let behind = one.max(two) + 1;
                let is_last = (behind + 1).is_multiple_of(self.size);
                let commutes =
                    one.min(two) / self.size == behind / self.size && !(self.has_leader && is_last);
                if commutes { Relation::Independent } else { Relation::Conflict }
            }
            (Action::Arrive, Action::Leave(generation)) if first.effect.stamp / self.size <= generation => {
                Relation::Ordered
            }
            _ => Relation::Independent,
        }
    }

    fn commutes(&self, one: Action, two: Action) -> bool {
        one != Action::Arrive && two != Action::Arrive
    }

    fn interferes(&self, _: Action, other: Action) -> bool {
        other == Action::Arrive
    }

    fn describe(&self) -> String {
        format!("{} of {} arrived", self.n_arrived % self.size, self.size)
    }
}
