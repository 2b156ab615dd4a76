//! Expressions over a state. Evaluation has no effect but events.

use crate::frame::{Frame, Segment};
use crate::{
    Action, BinaryOp, ChannelTest, Expr, Location, LocationId, Pattern, Place, Scope, Trouble, UnaryOp,
    arithmetic,
};

/// Who evaluates, in which state, and what it notices.
pub(crate) struct Evaluator<'a, 'n> {
    pub(crate) frame: &'a Frame<'n>,
    /// The process that evaluates.
    pub(crate) pid: usize,
    /// Whether nothing else can happen.
    pub(crate) is_timeout: bool,
    /// Whether a step listed earlier at the location of the process that moves can be done.
    pub(crate) has_moved: bool,
    /// The process that the step has started.
    pub(crate) started: i32,
    /// What went wrong.
    pub(crate) troubles: &'a mut Vec<Trouble>,
}

impl Evaluator<'_, '_> {
    /// The same for another process.
    pub(crate) fn of(&mut self, pid: usize) -> Evaluator<'_, '_> {
        Evaluator {
            frame: self.frame,
            pid,
            is_timeout: self.is_timeout,
            has_moved: self.has_moved,
            started: self.started,
            troubles: self.troubles,
        }
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expr: &Expr) -> i32 {
        match expr {
            Expr::Constant(value) => *value,
            Expr::Load(place) => self.load(place, self.pid),
            Expr::Unary(op, a) => {
                let a = self.value(a);
                match op {
                    UnaryOp::Not => i32::from(a == 0),
                    UnaryOp::Minus => a.wrapping_neg(),
                    UnaryOp::Complement => !a,
                }
            }
            Expr::Binary(op, a, b) => self.binary(*op, a, b),
            Expr::Conditional(a, b, c) => {
                let chosen = if self.value(a) != 0 { b } else { c };
                self.value(chosen)
            }
            Expr::Channel(test, channel) => self.channel_test(*test, channel),
            Expr::Poll { channel, is_random, fields } => i32::from(self.poll(channel, *is_random, fields)),
            Expr::Pid => self.pid as i32,
            Expr::ProcessCount => self.frame.processes.len() as i32,
            Expr::Timeout => i32::from(self.is_timeout),
            Expr::NonProgress => i32::from(!self.is_anybody_at(|location| location.is_progress)),
            Expr::Accepting => i32::from(self.is_anybody_at(|location| location.is_accept)),
            Expr::Enabled(process) => self.enabled(process),
            Expr::PcValue(process) => {
                self.process(process).map_or(0, |pid| i32::from(self.frame.location(pid).0))
            }
            Expr::Priority(process) => {
                self.process(process).map_or(0, |pid| i32::from(self.frame.priority(pid)))
            }
            Expr::RemoteLocation { kind, process, location } => {
                let pid = self.remote(*kind, process.as_deref());
                i32::from(pid.is_some_and(|pid| self.frame.location(pid) == *location))
            }
            Expr::RemoteLoad { kind, process, place } => {
                let pid = self.remote(*kind, process.as_deref());
                pid.filter(|&pid| self.frame.kind(pid) == *kind).map_or(0, |pid| self.load(place, pid))
            }
            Expr::Started => self.started,
        }
    }

    /// Whether an expression is not zero.
    pub(crate) fn holds(&mut self, expr: &Expr) -> bool {
        self.value(expr) != 0
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> i32 {
        let a = self.value(a);
        let is_decided = match op {
            BinaryOp::And => a == 0,
            BinaryOp::Or => a != 0,
            _ => false,
        };
        let b = if is_decided { 0 } else { self.value(b) };
        arithmetic(op, a, b).unwrap_or_else(|| {
            self.troubles.push(Trouble::DivisionByZero);
            0
        })
    }

    /// The offset of a place, unless an index is out of range.
    pub(crate) fn offset(&mut self, place: &Place) -> Option<usize> {
        let mut offset = place.offset;
        for index in &place.indices {
            let value = self.value(&index.value);
            match usize::try_from(value).ok().filter(|&i| i < index.length) {
                Some(i) => offset += i * index.stride,
                None => {
                    let (place, length) = (place.text.clone(), index.length);
                    self.troubles.push(Trouble::IndexOutOfRange { place, index: value, length });
                    return None;
                }
            }
        }
        Some(offset)
    }

    /// The value of a place of process `owner`; indices are evaluated by this process.
    fn load(&mut self, place: &Place, owner: usize) -> i32 {
        let offset = self.offset(place);
        offset.map_or(0, |offset| self.frame.load(place.scope, owner, offset, place.width))
    }

    /// The channel that an expression names; an event if there is none.
    pub(crate) fn channel(&mut self, expr: &Expr) -> Option<Segment> {
        let number = self.value(expr);
        self.frame.channel(number).map_err(|trouble| self.troubles.push(trouble)).ok()
    }

    fn channel_test(&mut self, test: ChannelTest, channel: &Expr) -> i32 {
        let Some(channel) = self.channel(channel) else { return 0 };
        let length = self.frame.n_messages(channel);
        let capacity = self.frame.network.channels[channel.kind].capacity.max(1);
        match test {
            ChannelTest::Len => length as i32,
            ChannelTest::Full => i32::from(length == capacity),
            ChannelTest::NotFull => i32::from(length < capacity),
            ChannelTest::Empty => i32::from(length == 0),
            ChannelTest::NotEmpty => i32::from(length > 0),
        }
    }

    fn poll(&mut self, channel: &Expr, is_random: bool, fields: &[Pattern]) -> bool {
        let Some(channel) = self.channel(channel) else { return false };
        if self.frame.network.channels[channel.kind].capacity == 0 {
            self.troubles.push(Trouble::PollOfRendezvous);
            return false;
        }
        self.find_message(channel, is_random, fields).is_some()
    }

    /// The slot of the message that a receive takes.
    pub(crate) fn find_message(
        &mut self,
        channel: Segment,
        is_random: bool,
        fields: &[Pattern],
    ) -> Option<usize> {
        let length = self.frame.n_messages(channel);
        let slots = if is_random { length } else { length.min(1) };
        (0..slots).find(|&slot| {
            let message = self.frame.message(channel, slot);
            self.matches(fields, &message)
        })
    }

    /// Whether a message has the values that a receiver wants.
    pub(crate) fn matches(&mut self, fields: &[Pattern], message: &[i32]) -> bool {
        fields.iter().zip(message).all(|(field, &value)| match field {
            Pattern::Match(expr) => self.value(expr) == value,
            Pattern::Bind(_) | Pattern::Ignore => true,
        })
    }

    fn is_anybody_at(&self, is_such: impl Fn(&Location) -> bool) -> bool {
        (0..self.frame.processes.len()).any(|pid| {
            let kind = &self.frame.network.processes[self.frame.kind(pid)];
            is_such(&kind.locations[self.frame.location(pid).index()])
        })
    }

    fn process(&mut self, expr: &Expr) -> Option<usize> {
        let pid = usize::try_from(self.value(expr)).ok()?;
        (pid < self.frame.processes.len()).then_some(pid)
    }

    fn remote(&mut self, kind: usize, process: Option<&Expr>) -> Option<usize> {
        match process {
            Some(expr) => self.process(expr),
            None => (0..self.frame.processes.len()).find(|&pid| self.frame.kind(pid) == kind),
        }
    }

    fn enabled(&mut self, process: &Expr) -> i32 {
        match self.process(process) {
            Some(pid) if pid == self.pid => {
                self.troubles.push(Trouble::EnabledOfSelf);
                0
            }
            Some(pid) => i32::from(self.of(pid).is_enabled()),
            None => 0,
        }
    }

    /// Whether the process may move at all.
    pub(crate) fn is_provided(&mut self) -> bool {
        let network = self.frame.network;
        network.processes[self.frame.kind(self.pid)].provided.as_ref().is_none_or(|e| self.holds(e))
    }

    /// Whether some step of the process can be done, by itself: a rendezvous send counts, a rendezvous
    /// receive does not, and `else` is judged by the process that asks (all as in SPIN).
    pub(crate) fn is_enabled(&mut self) -> bool {
        let network = self.frame.network;
        let kind = &network.processes[self.frame.kind(self.pid)];
        let location = self.frame.location(self.pid);
        self.is_provided() && kind.locations[location.index()].steps.iter().any(|s| self.can(&s.action))
    }

    /// Whether an action can be done, apart from finding a partner.
    pub(crate) fn can(&mut self, action: &Action) -> bool {
        match action {
            Action::Skip | Action::Assign(..) | Action::Assert(_) | Action::SetPriority(..) => true,
            Action::Run(_) => true,
            Action::Guard(expr) => self.holds(expr),
            Action::Else => !self.has_moved,
            Action::Send { channel, .. } => {
                let Some(channel) = self.channel(channel) else { return false };
                let capacity = self.frame.network.channels[channel.kind].capacity;
                capacity == 0 || self.frame.n_messages(channel) < capacity
            }
            Action::Receive { channel, is_random, fields, .. } => {
                let Some(channel) = self.channel(channel) else { return false };
                let is_rendezvous = self.frame.network.channels[channel.kind].capacity == 0;
                !is_rendezvous && self.find_message(channel, *is_random, fields).is_some()
            }
            Action::End => self.pid + 1 == self.frame.processes.len(),
            Action::Sequence(entry) => self.first(*entry).is_some(),
        }
    }

    /// The first step that can be done at a location of a sequence.
    pub(crate) fn first(&mut self, location: LocationId) -> Option<usize> {
        let network = self.frame.network;
        let steps = &network.processes[self.frame.kind(self.pid)].locations[location.index()].steps;
        // In a sequence `else` is reached only if nothing before it can be done.
        let moved = std::mem::replace(&mut self.has_moved, false);
        let first = steps.iter().position(|step| self.can(&step.action));
        self.has_moved = moved;
        first
    }

    /// Where an assignment to a place goes.
    pub(crate) fn target(&mut self, place: &Place) -> Option<(Scope, usize)> {
        self.offset(place).map(|offset| (place.scope, offset))
    }
}
