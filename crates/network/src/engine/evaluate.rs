//! Expressions over a state. What goes wrong is only noted: the engine then leaves the state to the
//! reference, which says what it was. The values are those of the reference all the same.

use super::layout::{Channel, Layout};
use super::notes::Notes;
use super::program::{Act, Code, Element, Field, Location, Program, Receive, Remote, Scalar, Target};
use crate::{BinaryOp, ChannelTest, arithmetic};

/// Who evaluates, and in which state.
pub(super) struct View<'a> {
    pub(super) program: &'a Program,
    pub(super) layout: &'a Layout,
    bytes: &'a [u8],
    pub(super) pid: usize,
    /// Where the locals of the process begin.
    pub(super) locals: usize,
    pub(super) is_timeout: bool,
    /// The process that the step has started.
    pub(super) started: i32,
    /// Set when something goes wrong.
    pub(super) notes: &'a Notes,
}

impl<'a> View<'a> {
    /// As process `pid`; if there is none, only globals may be asked for.
    #[inline]
    pub(super) fn new(
        program: &'a Program,
        layout: &'a Layout,
        bytes: &'a [u8],
        pid: usize,
        is_timeout: bool,
        notes: &'a Notes,
    ) -> Self {
        let locals = layout.processes.get(pid).map_or(0, |process| process.locals);
        Self { program, layout, bytes, pid, locals, is_timeout, started: 0, notes }
    }

    /// The value of an expression; the most frequent ones at once.
    #[inline]
    pub(super) fn value(&self, code: &Code) -> i32 {
        match code {
            Code::Constant(value) => *value,
            Code::Global(at) => self.byte(*at as usize),
            Code::Local(at) => self.byte(self.locals + *at as usize),
            _ => self.compound(code),
        }
    }

    #[inline]
    fn byte(&self, at: usize) -> i32 {
        self.notes.touch(at, 1);
        i32::from(self.bytes[at])
    }

    #[inline]
    fn read(&self, scalar: Scalar, at: usize) -> i32 {
        self.notes.touch(at, scalar.n_bytes());
        scalar.read(self.bytes, at)
    }

    fn location(&self, pid: usize) -> u16 {
        self.layout.processes[pid].location(self.bytes, self.notes)
    }

    fn compound(&self, code: &Code) -> i32 {
        match code {
            Code::Constant(_) | Code::Global(_) | Code::Local(_) => self.value(code),
            Code::Scalar(scalar) => {
                let base = if scalar.is_local { self.locals } else { 0 };
                self.read(*scalar, base + scalar.offset as usize)
            }
            Code::Element(element) => self.element(element, self.locals),
            Code::GlobalIs(at, c) => i32::from(self.byte(*at as usize) == *c),
            Code::GlobalIsNot(at, c) => i32::from(self.byte(*at as usize) != *c),
            Code::LocalIs(at, c) => i32::from(self.byte(self.locals + *at as usize) == *c),
            Code::LocalIsNot(at, c) => i32::from(self.byte(self.locals + *at as usize) != *c),
            Code::Not(a) => i32::from(self.value(a) == 0),
            Code::Minus(a) => self.value(a).wrapping_neg(),
            Code::Complement(a) => !self.value(a),
            Code::And(pair) => i32::from(self.holds(&pair[0]) && self.holds(&pair[1])),
            Code::Or(pair) => i32::from(self.holds(&pair[0]) || self.holds(&pair[1])),
            Code::Equal(pair) => i32::from(self.value(&pair[0]) == self.value(&pair[1])),
            Code::NotEqual(pair) => i32::from(self.value(&pair[0]) != self.value(&pair[1])),
            Code::Binary(op, pair) => self.binary(*op, self.value(&pair[0]), self.value(&pair[1])),
            Code::Conditional(parts) => {
                let [a, b, c] = &**parts;
                if self.holds(a) { self.value(b) } else { self.value(c) }
            }
            Code::Channel(test, channel) => self.channel_test(*test, channel),
            Code::Poll(receive) => i32::from(self.poll(receive)),
            Code::Pid => self.pid as i32,
            Code::ProcessCount => self.layout.processes.len() as i32,
            Code::Timeout => i32::from(self.is_timeout),
            Code::NonProgress => i32::from(!self.is_anybody_at(|location| location.is_progress)),
            Code::Accepting => i32::from(self.is_anybody_at(|location| location.is_accept)),
            Code::PcValue(process) => {
                let pid = self.process(process);
                pid.map_or(0, |pid| i32::from(self.location(pid)))
            }
            Code::RemoteLocation(remote, location) => {
                let pid = self.remote(remote);
                let is_there = |pid: usize| self.location(pid) == *location;
                i32::from(pid.is_some_and(is_there))
            }
            Code::RemoteLoad(remote, element) => {
                let pid = self.remote(remote);
                let owner = pid.filter(|&pid| self.layout.processes[pid].kind == remote.kind);
                owner.map_or(0, |pid| self.element(element, self.layout.processes[pid].locals))
            }
            Code::Started => self.started,
        }
    }

    /// Evaluates, only to see what goes wrong.
    pub(super) fn mention(&self, codes: &[Code]) {
        for code in codes {
            self.value(code);
        }
    }

    /// Whether an expression is not zero.
    #[inline]
    pub(super) fn holds(&self, code: &Code) -> bool {
        self.value(code) != 0
    }

    #[cold]
    fn trouble(&self) {
        self.notes.trouble.set(true);
    }

    fn binary(&self, op: BinaryOp, a: i32, b: i32) -> i32 {
        arithmetic(op, a, b).unwrap_or_else(|| {
            self.trouble();
            0
        })
    }

    /// Where an element lies, unless an index is out of range.
    #[inline]
    fn address(&self, element: &Element, locals: usize) -> Option<usize> {
        let base = if element.scalar.is_local { locals } else { 0 };
        let mut at = base + element.scalar.offset as usize;
        for index in &element.indices {
            // A negative index is a large one.
            let value = self.value(&index.value) as u32 as usize;
            if value >= index.length {
                self.trouble();
                return None;
            }
            at += value * index.stride;
        }
        Some(at)
    }

    fn element(&self, element: &Element, locals: usize) -> i32 {
        self.address(element, locals).map_or(0, |at| self.read(element.scalar, at))
    }

    /// Where an assignment goes.
    #[inline]
    pub(super) fn target(&self, target: &Target) -> Option<usize> {
        match target {
            Target::Scalar(scalar) => {
                Some(if scalar.is_local { self.locals } else { 0 } + scalar.offset as usize)
            }
            Target::Element(element) => self.address(element, self.locals),
        }
    }

    /// The channel that an expression names.
    #[inline]
    pub(super) fn channel(&self, code: &Code) -> Option<Channel> {
        let index = self.value(code).wrapping_sub(1) as u32 as usize;
        let found = self.layout.channels.get(index).copied();
        if found.is_none() {
            self.trouble();
        }
        found
    }

    /// How many messages a channel holds. Who asks may go on to read or change them.
    #[inline]
    pub(super) fn n_messages(&self, channel: Channel) -> usize {
        if channel.capacity == 0 {
            return 0;
        }
        self.notes.touch(channel.offset, self.program.channels[channel.kind as usize].size);
        usize::from(self.bytes[channel.offset + 1])
    }

    fn channel_test(&self, test: ChannelTest, channel: &Code) -> i32 {
        let Some(channel) = self.channel(channel) else { return 0 };
        let length = self.n_messages(channel);
        let capacity = channel.capacity.max(1) as usize;
        match test {
            ChannelTest::Len => length as i32,
            ChannelTest::Full => i32::from(length == capacity),
            ChannelTest::NotFull => i32::from(length < capacity),
            ChannelTest::Empty => i32::from(length == 0),
            ChannelTest::NotEmpty => i32::from(length > 0),
        }
    }

    fn poll(&self, receive: &Receive) -> bool {
        let Some(channel) = self.channel(&receive.channel) else { return false };
        if channel.capacity == 0 {
            self.trouble();
            return false;
        }
        self.find_message(channel, receive).is_some()
    }

    /// Where the message lies that a receive takes.
    #[inline]
    pub(super) fn find_message(&self, channel: Channel, receive: &Receive) -> Option<usize> {
        let length = self.n_messages(channel);
        if length == 0 {
            return None;
        }
        let slots = if receive.is_random { length } else { length.min(1) };
        let kind = &self.program.channels[channel.kind as usize];
        let first = channel.offset + 2;
        (0..slots).map(|slot| first + slot * kind.message_size).find(|&at| {
            receive.fields.iter().zip(&kind.fields).all(|(field, scalar)| match field {
                Field::Match(code) => self.value(code) == self.read(*scalar, at + scalar.offset as usize),
                Field::Bind(_) | Field::Ignore => true,
            })
        })
    }

    /// Whether a message has the values that a receiver wants.
    pub(super) fn matches(&self, fields: &[Field], message: &[i32]) -> bool {
        fields.iter().zip(message).all(|(field, &value)| match field {
            Field::Match(code) => self.value(code) == value,
            Field::Bind(_) | Field::Ignore => true,
        })
    }

    fn is_anybody_at(&self, is_such: impl Fn(&Location) -> bool) -> bool {
        let mut processes = self.layout.processes.iter();
        processes.any(|process| is_such(&self.program.locations[process.place(self.bytes, self.notes)]))
    }

    fn process(&self, code: &Code) -> Option<usize> {
        let pid = self.value(code) as u32 as usize;
        (pid < self.layout.processes.len()).then_some(pid)
    }

    fn remote(&self, remote: &Remote) -> Option<usize> {
        match &remote.process {
            Some(code) => self.process(code),
            None => self.layout.processes.iter().position(|process| process.kind == remote.kind),
        }
    }

    /// Whether the process may move at all.
    #[inline]
    pub(super) fn is_provided(&self) -> bool {
        let kind = self.layout.processes[self.pid].kind as usize;
        self.program.kinds[kind].provided.as_ref().is_none_or(|code| self.holds(code))
    }

    /// Whether a step within a sequence can be done.
    fn can(&self, act: &Act) -> bool {
        match act {
            Act::Skip | Act::Mention(_) | Act::Else | Act::Assign(..) | Act::Assert(_) | Act::Run(_) => true,
            Act::Guard(code) => self.holds(code),
            Act::Send(send) => {
                let Some(channel) = self.channel(&send.channel) else { return false };
                channel.capacity == 0 || self.n_messages(channel) < channel.capacity as usize
            }
            Act::Receive(receive) => {
                let Some(channel) = self.channel(&receive.channel) else { return false };
                self.find_message(channel, receive).is_some()
            }
            Act::End => self.pid + 1 == self.layout.processes.len(),
            Act::Sequence(_) => {
                // Not compiled: see there. The reference answers.
                self.trouble();
                false
            }
        }
    }

    /// The number of the first step that can be done at a location of a sequence.
    pub(super) fn first(&self, location: u16) -> Option<usize> {
        let process = &self.layout.processes[self.pid];
        let location = &self.program.locations[process.first_location as usize + usize::from(location)];
        let steps = location.first as usize..(location.first + location.n_steps) as usize;
        steps.into_iter().find(|&step| self.can(&self.program.steps[step].act))
    }
}
