//! A state as others may look at it: who is where, and what they hold.

use crate::execute::Moment;
use crate::frame::Frame;
use crate::{Expr, LocationId, Network, Scope, Width};

/// A state, taken apart for reading.
#[derive(Clone, Debug)]
pub struct View<'n> {
    frame: Frame<'n>,
}

impl Network {
    /// Takes a state apart.
    pub fn view(&self, state: &[u8]) -> View<'_> {
        View { frame: Frame::new(self, state) }
    }
}

impl View<'_> {
    /// How many processes there are.
    pub fn n_processes(&self) -> usize {
        self.frame.processes.len()
    }

    /// The kind of a process.
    pub fn kind(&self, pid: usize) -> usize {
        self.frame.kind(pid)
    }

    /// Where a process is.
    pub fn location(&self, pid: usize) -> LocationId {
        self.frame.location(pid)
    }

    /// The bytes of the locals of a process.
    pub fn locals(&self, pid: usize) -> &[u8] {
        let network = self.frame.network;
        let start = self.frame.processes[pid].offset + network.header_size();
        &self.frame.bytes[start..start + network.processes[self.kind(pid)].locals_size]
    }

    /// A scalar at an offset of the globals or of the locals of a process.
    pub fn load(&self, scope: Scope, pid: usize, offset: usize, width: Width) -> i32 {
        self.frame.load(scope, pid, offset, width)
    }

    /// How many channels there are; their numbers begin with one.
    pub fn n_channels(&self) -> usize {
        self.frame.channels.len()
    }

    /// The kind of the channel with this number, if there is one.
    pub fn channel_kind(&self, number: i32) -> Option<usize> {
        self.frame.channel(number).ok().map(|segment| segment.kind)
    }

    /// How many messages the channel with this number holds.
    pub fn n_messages(&self, number: i32) -> Option<usize> {
        self.frame.channel(number).ok().map(|segment| self.frame.n_messages(segment))
    }

    /// The process that opened the channel with this number; `None` if it is a global one.
    pub fn channel_owner(&self, number: i32) -> Option<usize> {
        let channel = self.frame.channel(number).ok()?;
        self.frame.processes.iter().rposition(|process| process.offset < channel.offset)
    }

    /// The value of an expression for a process. Whatever goes wrong gives zero.
    pub fn value(&self, pid: usize, expr: &Expr) -> i32 {
        self.frame.evaluator(pid, Moment::default(), &mut Vec::new()).value(expr)
    }
}
