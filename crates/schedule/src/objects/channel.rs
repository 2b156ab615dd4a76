//! Bounded and unbounded first-in-first-out channels.
//!
//! **Implements** VS's example: `Send`, `Receive`, `Length`, `Empty`, `Full` over at most `N` messages, with the
//! constant table of the slides or (by default) the conditional one. In the conditional table a send and a
//! receive are dependent only if the channel is empty or full, that is, if one had to wait for the other: of a
//! run that is said by ranks. Observers (and attempts, which observe too) depend on all sends and receives.
//!
//! Besides, senders and receivers can go away: a receive from an empty channel without senders gets
//! `DISCONNECTED`, and so does a send without receivers. A channel of capacity 0 holds one message whose sender
//! waits until it is `Taken`.
//! **Differs from the text**: `Empty` and `Full` depend on every send and receive, not only on those that change
//! the answer, in algorithms that follow races; the relation by value has no partial order there. The tables by
//! value are those of `interferes`.

use super::{Effect, Label, Relation, Table};
use crate::op::{Action, Attempt, ProcessId};
use std::collections::VecDeque;

/// What an operation gets when the other side is gone.
pub const DISCONNECTED: u64 = u64::MAX;
/// What an attempt to receive gets when there is no message.
pub const EMPTY: u64 = u64::MAX - 1;
/// What an attempt to send gets when there is no room.
pub const FULL: u64 = u64::MAX - 2;

/// Which of VS's dependency relations is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tables {
    /// Sends and receives depend on each other always.
    Constant,
    /// They depend on each other if the channel is empty or full.
    #[default]
    Conditional,
}

/// A channel.
#[derive(Clone, Debug)]
pub struct Channel {
    tables: Tables,
    capacity: u64,
    messages: VecDeque<u64>,
    n_sent: u64,
    n_received: u64,
    n_senders: u64,
    n_receivers: u64,
}

impl Channel {
    /// A channel with one sender and one receiver that never go away unless they say so.
    pub fn new(capacity: u64) -> Channel {
        Channel {
            tables: Tables::default(),
            capacity: capacity.max(1),
            messages: VecDeque::new(),
            n_sent: 0,
            n_received: 0,
            n_senders: 1,
            n_receivers: 1,
        }
    }

    /// A channel with so many senders and receivers.
    pub fn with_ends(capacity: u64, n_senders: u64, n_receivers: u64) -> Channel {
        Channel { n_senders, n_receivers, ..Channel::new(capacity) }
    }

    /// A channel with another dependency relation.
    pub fn with_tables(capacity: u64, tables: Tables) -> Channel {
        Channel { tables, ..Channel::new(capacity) }
    }

    /// One more sender. Made of one that is there, so that nobody can notice.
    pub fn add_sender(&mut self) {
        self.n_senders += 1;
    }

    /// One more receiver.
    pub fn add_receiver(&mut self) {
        self.n_receivers += 1;
    }

    fn len(&self) -> u64 {
        self.n_sent - self.n_received
    }

    fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }
}

/// What a label amounts to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Send,
    Receive,
    /// A send or receive that would have returned if it could not be done: it observes too.
    TrySend,
    TryReceive,
    /// Looks, with nothing in the channel, with no room in it, or with both something and room.
    Observe,
    ObserveEmpty,
    ObserveFull,
    /// A send without receivers.
    Bounce,
    /// A receive without senders.
    Miss,
    /// Goes on because the message was received, or because it never will be.
    Take,
    GiveUp,
    LeaveSenders,
    LeaveReceivers,
}

/// Stamps of labels that move no message.
const NOTHING: u64 = u64::MAX;
const WAS_EMPTY: u64 = u64::MAX - 1;
const WAS_FULL: u64 = u64::MAX - 2;

fn does(label: &Label) -> Does {
    let gone = label.effect.out == DISCONNECTED;
    match (label.action, label.effect.stamp) {
        (Action::Send(_), _) => {
            if gone {
                Does::Bounce
            } else {
                Does::Send
            }
        }
        (Action::Receive, _) => {
            if gone {
                Does::Miss
            } else {
                Does::Receive
            }
        }
        (Action::DropSender, _) => Does::LeaveSenders,
        (Action::DropReceiver, _) => Does::LeaveReceivers,
        (Action::Taken(_), _) => {
            if label.effect.out == 1 {
                Does::Take
            } else {
                Does::GiveUp
            }
        }
        (_, WAS_EMPTY) => Does::ObserveEmpty,
        (_, WAS_FULL) => Does::ObserveFull,
        (Action::TrySend(_), 0..WAS_FULL) => Does::TrySend,
        (Action::TryReceive, 0..WAS_FULL) => Does::TryReceive,
        _ => Does::Observe,
    }
}

fn observes(does: Does) -> bool {
    matches!(does, Does::Observe | Does::ObserveEmpty | Does::ObserveFull)
}

impl Table for Channel {
    fn enabled(&self, _: ProcessId, action: Action) -> bool {
        match action {
            Action::Send(_) | Action::Retry(Attempt::Send) => !self.is_full() || self.n_receivers == 0,
            Action::Receive | Action::Retry(_) => self.len() > 0 || self.n_senders == 0,
            Action::Taken(rank) => self.n_received > rank || self.n_receivers == 0,
            _ => true,
        }
    }

    /// Stamps are ranks of messages, or say what was seen if no message was moved.
    fn peek(&self, _: ProcessId, action: Action, _: u32) -> Effect {
        let seen = match (self.len() == 0, self.is_full()) {
            (true, _) => WAS_EMPTY,
            (_, true) => WAS_FULL,
            _ => NOTHING,
        };
        let none = |out| Effect { out, stamp: seen };
        match action {
            Action::Send(_) | Action::TrySend(_) if self.n_receivers == 0 => none(DISCONNECTED),
            Action::TrySend(_) if self.is_full() => none(FULL),
            // Blocked, with the rank that it would get.
            Action::Send(_) if self.is_full() => Effect { out: FULL, stamp: self.n_sent },
            Action::Send(_) | Action::TrySend(_) => Effect { out: self.n_sent, stamp: self.n_sent },
            Action::Receive | Action::TryReceive => match self.messages.front() {
                Some(&message) => Effect { out: message, stamp: self.n_received },
                // For a receive that is blocked this is the rank that it would get.
                None if self.n_senders > 0 && action == Action::Receive => {
                    Effect { out: EMPTY, stamp: self.n_received }
                }
                None => none(if self.n_senders == 0 { DISCONNECTED } else { EMPTY }),
            },
            Action::Length => none(self.len()),
            Action::Empty => none(u64::from(self.len() == 0)),
            Action::Full => none(u64::from(self.is_full())),
            Action::Taken(rank) => Effect { out: u64::from(self.n_received > rank), stamp: rank },
            _ => Effect::default(),
        }
    }

    fn execute(&mut self, me: ProcessId, action: Action, choice: u32) -> Effect {
        let effect = self.peek(me, action, choice);
        match action {
            Action::Send(message) | Action::TrySend(message) if effect.stamp < WAS_FULL => {
                self.messages.push_back(message);
                self.n_sent += 1;
            }
            Action::Receive | Action::TryReceive if effect.stamp < WAS_FULL => {
                self.messages.pop_front();
                self.n_received += 1;
            }
            Action::DropSender => self.n_senders = self.n_senders.saturating_sub(1),
            Action::DropReceiver => self.n_receivers = self.n_receivers.saturating_sub(1),
            _ => {}
        }
        effect
    }

    fn relation(&self, first: &Label, second: &Label) -> Relation {
        if let Some(relation) = super::relation_of_retries(first, second) {
            return relation;
        }
        use Does::*;
        let (one, two) = (first.effect.stamp, second.effect.stamp);
        let (does_first, does_second) = (does(first), does(second));
        match (does_first, does_second) {
            (LeaveReceivers, Send) if second.effect.out == FULL => Relation::Independent,
            (Send, Send) | (Receive, Receive) => Relation::Conflict,
            // Needed: the message, or the room.
            (Send | TrySend, Receive) if one <= two => Relation::Ordered,
            (Receive | TryReceive, Send) if one.saturating_add(self.capacity) <= two => Relation::Ordered,
            (Send, Receive) | (Receive, Send) => match self.tables {
                Tables::Conditional => Relation::Independent,
                Tables::Constant => Relation::Conflict,
            },
            _ if observes(does_first) && observes(does_second) => Relation::Independent,
            (Miss | Bounce, two) if observes(two) => Relation::Independent,
            (one, Miss | Bounce) if observes(one) => Relation::Independent,
            // What was blocked when somebody looked.
            (ObserveEmpty, Receive) => Relation::Ordered,
            (ObserveFull, Send) => Relation::Ordered,
            (Miss, Miss) | (Bounce, Bounce) => Relation::Independent,
            // Messages that were received before the last sender left, or nobody would have missed them.
            (LeaveSenders | Send | TrySend, Miss) => Relation::Ordered,
            (LeaveReceivers, Bounce) if two == WAS_FULL => Relation::Ordered,
            (Receive | TryReceive, Bounce) => Relation::Ordered,
            (Receive | TryReceive, Take) if one <= two => Relation::Ordered,
            (LeaveReceivers, GiveUp) => Relation::Ordered,
            (Take | GiveUp, _) | (_, Take | GiveUp) => Relation::Independent,
            (LeaveSenders, LeaveSenders | LeaveReceivers | Send | TrySend | Receive | Bounce) => {
                Relation::Independent
            }
            (LeaveReceivers | Send | TrySend | Receive | Bounce, LeaveSenders) => Relation::Independent,
            (LeaveReceivers, LeaveReceivers | Receive | TryReceive | Miss) => Relation::Independent,
            (Receive | TryReceive | Miss, LeaveReceivers) => Relation::Independent,
            _ => Relation::Conflict,
        }
    }

    fn commutes(&self, one: Action, two: Action) -> bool {
        let looks = |action| matches!(action, Action::Length | Action::Empty | Action::Full);
        looks(one) && looks(two) || (one, two) == (Action::DropSender, Action::DropSender)
    }

    /// VS, the relation by value; `Length` and attempts as coarse as they are.
    fn interferes(&self, action: Action, other: Action) -> bool {
        use Action::*;
        let (n, size) = (self.len(), self.capacity);
        if self.tables == Tables::Constant {
            let observes = |action| matches!(action, Length | Empty | Full);
            return !(observes(action) && observes(other));
        }
        match (action, other) {
            (Send(_), Send(_)) => n < size,
            (Send(_), Receive) => n == size,
            (Send(_), Full) => n + 1 == size,
            // Others may receive what is there.
            (Send(_), Empty) => n < size,
            (Receive, Send(_)) => n == 0,
            (Receive, Receive) => n > 0,
            // Somebody may send first, which does not interfere with the receive.
            (Receive, Full | Empty) => n > 0,
            (Full, Send(_)) => n < size,
            (Full, Receive) => n == size,
            (Empty, Send(_)) => n == 0,
            (Empty, Receive) => n > 0,
            (Full | Empty | Length, Full | Empty | Length) => false,
            (DropSender, DropSender | Send(_) | DropReceiver) => false,
            (Send(_), DropSender) => false,
            (DropReceiver, DropReceiver | DropSender) => false,
            (Receive, DropSender) => n == 0,
            _ => true,
        }
    }

    fn enables(&self, action: Action, other: Action, _: ProcessId) -> bool {
        use Action::*;
        match action {
            Send(_) => matches!(other, Receive | TryReceive | DropReceiver),
            Receive | Retry(Attempt::Receive) => matches!(other, Send(_) | TrySend(_) | DropSender),
            _ => matches!(other, Receive | TryReceive | DropReceiver),
        }
    }

    fn describe(&self) -> String {
        if self.capacity == u64::MAX {
            format!("{} messages", self.len())
        } else {
            format!("{} of {} messages", self.len(), self.capacity)
        }
    }
}
