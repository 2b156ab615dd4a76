//! Actions, done in place. `false` means trouble: the state is of no use, and the reference must say why.

use super::evaluate::View;
use super::layout::{Channel, Layout};
use super::notes::Notes;
use super::program::{Act, Begin, Field, Program, Receive, Run, Scalar, Send, Step, Target};
use crate::LocationId;

/// Steps after which a sequence is left to the reference, which may find that it does not end.
const LONGEST_SEQUENCE: usize = 1_000_000;

/// Who acts, and what it may know besides the state.
#[derive(Clone, Copy)]
pub(super) struct Actor<'a> {
    pub(super) program: &'a Program,
    pub(super) pid: usize,
    pub(super) is_timeout: bool,
    pub(super) notes: &'a Notes,
}

impl<'a> Actor<'a> {
    #[inline]
    pub(super) fn view(self, layout: &'a Layout, bytes: &'a [u8]) -> View<'a> {
        View::new(self.program, layout, bytes, self.pid, self.is_timeout, self.notes)
    }

    #[cold]
    fn fail(self) -> bool {
        self.notes.trouble.set(true);
        false
    }

    #[inline]
    fn write(self, bytes: &mut [u8], scalar: Scalar, at: usize, value: i32) {
        self.notes.touch(at, scalar.n_bytes());
        scalar.write(bytes, at, value);
    }

    /// Assigns a value; nothing if an index is out of range.
    #[inline]
    fn assign(self, layout: &Layout, bytes: &mut [u8], target: &Target, value: i32) {
        let Actor { program, pid, is_timeout, notes } = self;
        let at = View::new(program, layout, bytes, pid, is_timeout, notes).target(target);
        if let Some(at) = at {
            self.write(bytes, scalar_of(target), at, value);
        }
    }

    /// Does an assignment.
    #[inline]
    pub(super) fn assignment(
        self,
        layout: &Layout,
        bytes: &mut [u8],
        target: &Target,
        code: &super::program::Code,
    ) {
        let Actor { program, pid, is_timeout, notes } = self;
        let view = View::new(program, layout, bytes, pid, is_timeout, notes);
        let value = view.value(code);
        if let Some(at) = view.target(target) {
            self.write(bytes, scalar_of(target), at, value);
        }
    }

    /// Sets to zero what a step sets to zero when it is done.
    #[inline]
    pub(super) fn reset(self, layout: &Layout, bytes: &mut [u8], step: &Step) {
        for scalar in &step.resets {
            let base = if scalar.is_local { layout.processes[self.pid].locals } else { 0 };
            self.write(bytes, *scalar, base + scalar.offset as usize, 0);
        }
    }

    /// Ends a step: what it sets to zero, where the process is now, and who moved last.
    #[inline]
    pub(super) fn finish(self, layout: &Layout, bytes: &mut [u8], step: &Step) {
        self.reset(layout, bytes, step);
        layout.processes[self.pid].set_location(bytes, step.next, self.notes);
        self.set_last(bytes);
    }

    /// Remembers who moved, if anybody asks.
    #[inline]
    pub(super) fn set_last(self, bytes: &mut [u8]) {
        if let Some(last) = self.program.last {
            self.write(bytes, last, last.offset as usize, self.pid as i32);
        }
    }

    /// Puts a message into a channel that is not full. `message` is room to work in.
    pub(super) fn send(
        self,
        layout: &Layout,
        bytes: &mut [u8],
        channel: Channel,
        send: &Send,
        message: &mut Vec<i32>,
    ) -> bool {
        let Actor { program, pid, is_timeout, notes } = self;
        let kind = &program.channels[channel.kind as usize];
        if send.fields.len() != kind.fields.len() {
            return self.fail();
        }
        notes.touch(channel.offset, kind.size);
        let length = usize::from(bytes[channel.offset + 1]);
        let first = channel.offset + 2;
        let end = first + length * kind.message_size;
        if send.is_sorted && length > 0 {
            let view = View::new(program, layout, bytes, pid, is_timeout, notes);
            message.clear();
            message.extend(send.fields.iter().map(|code| view.value(code)));
            let read = |at: usize, scalar: &Scalar| scalar.read(bytes, at + scalar.offset as usize);
            let is_larger =
                |&at: &usize| kind.fields.iter().map(|scalar| read(at, scalar)).gt(message.iter().copied());
            let at = (0..length).map(|slot| first + slot * kind.message_size).find(is_larger).unwrap_or(end);
            bytes.copy_within(at..end, at + kind.message_size);
            for (scalar, &value) in kind.fields.iter().zip(&*message) {
                scalar.write(bytes, at + scalar.offset as usize, value);
            }
        } else {
            // What lies behind the last message is read by nobody, so the fields can be put there one by one.
            for (scalar, code) in kind.fields.iter().zip(&send.fields) {
                let value = View::new(program, layout, bytes, pid, is_timeout, notes).value(code);
                scalar.write(bytes, end + scalar.offset as usize, value);
            }
        }
        bytes[channel.offset + 1] += 1;
        true
    }

    /// Takes the message at `at` out of a channel.
    pub(super) fn receive(
        self,
        layout: &Layout,
        bytes: &mut [u8],
        channel: Channel,
        receive: &Receive,
        at: usize,
    ) -> bool {
        let kind = &self.program.channels[channel.kind as usize];
        self.notes.touch(channel.offset, kind.size);
        if receive.fields.len() != kind.fields.len() {
            return self.fail();
        }
        for (field, scalar) in receive.fields.iter().zip(&kind.fields) {
            if let Field::Bind(target) = field {
                let value = scalar.read(bytes, at + scalar.offset as usize);
                self.assign(layout, bytes, target, value);
            }
        }
        if !receive.is_copy {
            let length = usize::from(bytes[channel.offset + 1]);
            let end = channel.offset + 2 + length * kind.message_size;
            bytes.copy_within(at + kind.message_size..end, at);
            bytes[end - kind.message_size..end].fill(0);
            bytes[channel.offset + 1] -= 1;
        }
        true
    }

    /// Gives the fields of a message to a receiver, from the left.
    pub(super) fn bind(self, layout: &Layout, bytes: &mut [u8], fields: &[Field], message: &[i32]) -> bool {
        if fields.len() != message.len() {
            return self.fail();
        }
        for (field, &value) in fields.iter().zip(message) {
            if let Field::Bind(target) = field {
                self.assign(layout, bytes, target, value);
            }
        }
        true
    }

    /// Starts a process: arguments, parameters, initialisers, and what the parent does with its number.
    pub(super) fn run(
        self,
        layout: &mut Layout,
        bytes: &mut Vec<u8>,
        run: &Run,
        message: &mut Vec<i32>,
    ) -> bool {
        let Actor { program, pid, is_timeout, notes } = self;
        let view = self.view(layout, bytes);
        message.clear();
        message.extend(run.arguments.iter().map(|code| view.value(code)));
        let child = layout.processes.len();
        let offset = bytes.len();
        let kind = &program.kinds[run.kind];
        if child >= program.most_processes || offset + kind.size > program.longest_vector {
            return self.fail();
        }
        bytes.resize(offset + kind.size, 0);
        bytes[offset] = run.kind as u8;
        layout.add_process(program, run.kind, offset);
        layout.processes[child].set_location(bytes, kind.entry, notes);
        let locals = layout.processes[child].locals;
        for (scalar, &value) in kind.parameters.iter().zip(&*message) {
            let base = if scalar.is_local { locals } else { 0 };
            self.write(bytes, *scalar, base + scalar.offset as usize, value);
        }
        let begun = Actor { program, pid: child, is_timeout: false, notes };
        if !kind.begins.iter().all(|begin| begun.begin(layout, bytes, begin)) {
            return false;
        }
        if let Some((target, code)) = &run.result {
            let mut view = View::new(program, layout, bytes, pid, is_timeout, notes);
            view.started = child as i32;
            let value = view.value(code);
            self.assign(layout, bytes, target, value);
        }
        true
    }

    fn begin(self, layout: &mut Layout, bytes: &mut Vec<u8>, begin: &Begin) -> bool {
        let program = self.program;
        match begin {
            Begin::Value(target, code) => self.assignment(layout, bytes, target, code),
            Begin::Channel(scalar, kind) => {
                let offset = bytes.len();
                let size = program.channels[*kind].size;
                if layout.channels.len() >= 255 || offset + size > program.longest_vector {
                    return self.fail();
                }
                bytes.resize(offset + size, 0);
                bytes[offset] = (program.kinds.len() + kind) as u8;
                layout.add_channel(program, *kind, offset);
                let base = if scalar.is_local { layout.processes[self.pid].locals } else { 0 };
                let number = layout.channels.len() as i32;
                self.write(bytes, *scalar, base + scalar.offset as usize, number);
            }
        }
        true
    }

    /// Does the steps of a sequence from `entry` to its exit.
    pub(super) fn sequence(
        self,
        layout: &mut Layout,
        bytes: &mut Vec<u8>,
        entry: u16,
        message: &mut Vec<i32>,
    ) -> bool {
        let mut location = entry;
        for _ in 0..LONGEST_SEQUENCE {
            if location == LocationId::EXIT.0 {
                return true;
            }
            let Some(first) = self.view(layout, bytes).first(location) else { return self.fail() };
            let step = &self.program.steps[first];
            if !self.within(layout, bytes, &step.act, message) {
                return false;
            }
            self.reset(layout, bytes, step);
            location = step.next;
        }
        self.fail()
    }

    /// Does an action of a sequence.
    fn within(self, layout: &mut Layout, bytes: &mut Vec<u8>, act: &Act, message: &mut Vec<i32>) -> bool {
        match act {
            Act::Skip | Act::Guard(_) | Act::Else => true,
            Act::Mention(codes) => {
                self.view(layout, bytes).mention(codes);
                true
            }
            Act::Assign(target, code) => {
                self.assignment(layout, bytes, target, code);
                true
            }
            Act::Assert(code) => self.view(layout, bytes).holds(code) || self.fail(),
            Act::Send(send) => {
                let Some(channel) = self.view(layout, bytes).channel(&send.channel) else { return false };
                if channel.capacity == 0 {
                    return self.fail();
                }
                self.send(layout, bytes, channel, send, message)
            }
            Act::Receive(receive) => {
                let view = self.view(layout, bytes);
                let Some(channel) = view.channel(&receive.channel) else { return false };
                let Some(at) = view.find_message(channel, receive) else { return self.fail() };
                self.receive(layout, bytes, channel, receive, at)
            }
            Act::Run(run) => self.run(layout, bytes, run, message),
            Act::End | Act::Sequence(_) => self.fail(),
        }
    }
}

#[inline]
fn scalar_of(target: &Target) -> Scalar {
    match target {
        Target::Scalar(scalar) => *scalar,
        Target::Element(element) => element.scalar,
    }
}
