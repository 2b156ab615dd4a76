//! A state, taken apart: where its processes and channels begin.
//!
//! The vector is read from the left: globals, then segments. A segment begins with a tag; tags below the
//! number of process kinds are processes, the others channels. A process is its tag, its location (two
//! bytes), its priority if there are any, and its locals; a channel is its tag and, unless it is a
//! rendezvous channel, its length and its slots. Slots behind the length are zero.

use crate::{Initial, Initialiser, LocationId, Network, Place, Scope, Trouble, Width};
use std::rc::Rc;

/// A segment of the vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) kind: usize,
    pub(crate) offset: usize,
}

/// A state that can be read and changed.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'n> {
    pub(crate) network: &'n Network,
    pub(crate) bytes: Vec<u8>,
    /// Most steps leave the segments where they are, so copies of a frame share them.
    pub(crate) processes: Rc<Vec<Segment>>,
    pub(crate) channels: Rc<Vec<Segment>>,
}

impl<'n> Frame<'n> {
    /// Takes a state apart.
    pub(crate) fn new(network: &'n Network, state: &[u8]) -> Self {
        let (mut processes, mut channels) = (Vec::new(), Vec::new());
        let mut offset = network.globals_size;
        while offset < state.len() {
            let tag = usize::from(state[offset]);
            if tag < network.processes.len() {
                processes.push(Segment { kind: tag, offset });
                offset += network.process_size(tag);
            } else {
                let kind = tag - network.processes.len();
                channels.push(Segment { kind, offset });
                offset += network.channel_size(kind);
            }
        }
        debug_assert_eq!(offset, state.len(), "the state ends within a segment");
        Self { network, bytes: state.to_vec(), processes: Rc::new(processes), channels: Rc::new(channels) }
    }

    /// The kind of a process.
    pub(crate) fn kind(&self, pid: usize) -> usize {
        self.processes[pid].kind
    }

    /// Where a process is.
    pub(crate) fn location(&self, pid: usize) -> LocationId {
        let at = self.processes[pid].offset + 1;
        LocationId(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]))
    }

    /// Moves a process.
    pub(crate) fn set_location(&mut self, pid: usize, location: LocationId) {
        let at = self.processes[pid].offset + 1;
        self.bytes[at..at + 2].copy_from_slice(&location.0.to_le_bytes());
    }

    /// The priority of a process.
    pub(crate) fn priority(&self, pid: usize) -> u8 {
        if self.network.has_priorities { self.bytes[self.processes[pid].offset + 3] } else { 1 }
    }

    /// Changes the priority of a process.
    pub(crate) fn set_priority(&mut self, pid: usize, priority: u8) {
        if self.network.has_priorities {
            let at = self.processes[pid].offset + 3;
            self.bytes[at] = priority;
        }
    }

    fn address(&self, scope: Scope, pid: usize, offset: usize) -> usize {
        match scope {
            Scope::Global => offset,
            Scope::Local => self.processes[pid].offset + self.network.header_size() + offset,
        }
    }

    /// Reads a scalar at an offset that the caller has checked.
    pub(crate) fn load(&self, scope: Scope, pid: usize, offset: usize, width: Width) -> i32 {
        width.read(&self.bytes[self.address(scope, pid, offset)..])
    }

    /// Writes a scalar at an offset that the caller has checked.
    pub(crate) fn store(&mut self, scope: Scope, pid: usize, offset: usize, width: Width, value: i32) {
        let at = self.address(scope, pid, offset);
        width.write(&mut self.bytes[at..], value);
    }

    /// Remembers who moved, if anybody asks.
    pub(crate) fn set_last(&mut self, pid: usize) {
        if let Some(last) = &self.network.last {
            self.store(last.scope, pid, last.offset, last.width, pid as i32);
        }
    }

    /// Appends a process; its parameters and initialisers are the caller's business.
    pub(crate) fn start(&mut self, kind: usize, priority: u8) -> Result<usize, Trouble> {
        if self.processes.len() >= self.network.limits.processes {
            return Err(Trouble::TooManyProcesses);
        }
        let offset = self.bytes.len();
        self.grow(self.network.process_size(kind))?;
        self.bytes[offset] = kind as u8;
        Rc::make_mut(&mut self.processes).push(Segment { kind, offset });
        let pid = self.processes.len() - 1;
        self.set_location(pid, self.network.processes[kind].entry);
        self.set_priority(pid, priority);
        Ok(pid)
    }

    /// Appends a channel and returns its number.
    pub(crate) fn open(&mut self, kind: usize) -> Result<i32, Trouble> {
        if self.channels.len() >= 255 {
            return Err(Trouble::TooManyChannels);
        }
        let offset = self.bytes.len();
        self.grow(self.network.channel_size(kind))?;
        self.bytes[offset] = (self.network.processes.len() + kind) as u8;
        Rc::make_mut(&mut self.channels).push(Segment { kind, offset });
        Ok(self.channels.len() as i32)
    }

    fn grow(&mut self, size: usize) -> Result<(), Trouble> {
        let size = self.bytes.len() + size;
        if size > self.network.limits.vector {
            return Err(Trouble::VectorTooLarge);
        }
        self.bytes.resize(size, 0);
        Ok(())
    }

    /// Removes the youngest process with its channels.
    pub(crate) fn bury(&mut self) {
        if let Some(youngest) = Rc::make_mut(&mut self.processes).pop() {
            Rc::make_mut(&mut self.channels).retain(|channel| channel.offset < youngest.offset);
            self.bytes.truncate(youngest.offset);
        }
    }

    /// The channel with this number.
    pub(crate) fn channel(&self, number: i32) -> Result<Segment, Trouble> {
        let index = usize::try_from(number - 1).map_err(|_| Trouble::NoChannel)?;
        self.channels.get(index).copied().ok_or(Trouble::NoChannel)
    }

    /// How many messages a channel holds.
    pub(crate) fn n_messages(&self, channel: Segment) -> usize {
        if self.network.channels[channel.kind].capacity == 0 {
            0
        } else {
            usize::from(self.bytes[channel.offset + 1])
        }
    }

    fn slot(&self, channel: Segment, slot: usize) -> usize {
        channel.offset + 2 + slot * self.network.channels[channel.kind].message_size()
    }

    /// A message.
    pub(crate) fn message(&self, channel: Segment, slot: usize) -> Vec<i32> {
        let mut at = self.slot(channel, slot);
        let fields = &self.network.channels[channel.kind].fields;
        let read = fields.iter().map(|width| {
            let value = width.read(&self.bytes[at..]);
            at += width.bytes();
            value
        });
        read.collect()
    }

    /// Inserts a message before slot `slot`; there must be room.
    pub(crate) fn insert(&mut self, channel: Segment, slot: usize, message: &[i32]) {
        let kind = &self.network.channels[channel.kind];
        let (from, end) = (self.slot(channel, slot), self.slot(channel, self.n_messages(channel)));
        self.bytes.copy_within(from..end, from + kind.message_size());
        let mut at = from;
        for (i, width) in kind.fields.iter().enumerate() {
            width.write(&mut self.bytes[at..], message.get(i).copied().unwrap_or(0));
            at += width.bytes();
        }
        self.bytes[channel.offset + 1] += 1;
    }

    /// Removes the message in slot `slot`.
    pub(crate) fn remove(&mut self, channel: Segment, slot: usize) {
        let size = self.network.channels[channel.kind].message_size();
        let (from, end) = (self.slot(channel, slot), self.slot(channel, self.n_messages(channel)));
        self.bytes.copy_within(from + size..end, from);
        self.bytes[end - size..end].fill(0);
        self.bytes[channel.offset + 1] -= 1;
    }

    /// Opens a channel for an initialiser and assigns it, if it is that kind of initialiser.
    pub(crate) fn open_for(&mut self, initialiser: &Initialiser, pid: usize) -> Result<bool, Trouble> {
        let Initial::Channel(kind) = initialiser.initial else { return Ok(false) };
        let number = self.open(kind)?;
        let Place { scope, offset, width, .. } = initialiser.place;
        self.store(scope, pid, offset, width, number);
        Ok(true)
    }
}
