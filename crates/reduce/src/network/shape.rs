//! Where the processes and channels of a state lie, found again only when they differ from those of the state before.

use std::ops::Range;
use stubborn_network::{LocationId, Network, Width};

/// The segments of a state: kind and offset of each.
#[derive(Debug, Default)]
pub(super) struct Shape {
    processes: Vec<(usize, usize)>,
    channels: Vec<(usize, usize)>,
    /// Bytes of a process before its locals.
    header: usize,
    length: usize,
}

impl Shape {
    /// Makes this the shape of `state`.
    pub(super) fn fit(&mut self, network: &Network, state: &[u8]) {
        let n_kinds = network.processes.len();
        let is_the_same = self.length == state.len()
            && self.processes.iter().all(|&(kind, at)| usize::from(state[at]) == kind)
            && self.channels.iter().all(|&(kind, at)| usize::from(state[at]) == kind + n_kinds);
        if is_the_same && self.length > 0 {
            return;
        }
        self.processes.clear();
        self.channels.clear();
        (self.header, self.length) = (network.header_size(), state.len());
        let mut offset = network.globals_size;
        while offset < state.len() {
            let tag = usize::from(state[offset]);
            if tag < n_kinds {
                self.processes.push((tag, offset));
                offset += network.process_size(tag);
            } else {
                self.channels.push((tag - n_kinds, offset));
                offset += network.channel_size(tag - n_kinds);
            }
        }
    }

    pub(super) fn n_processes(&self) -> usize {
        self.processes.len()
    }

    /// The kind of a process.
    pub(super) fn kind(&self, pid: usize) -> usize {
        self.processes[pid].0
    }

    /// Where a process is.
    pub(super) fn location(&self, state: &[u8], pid: usize) -> LocationId {
        let at = self.processes[pid].1 + 1;
        LocationId(u16::from_le_bytes([state[at], state[at + 1]]))
    }

    /// The bytes that say where a process is.
    pub(super) fn place_of_location(&self, pid: usize) -> Range<usize> {
        let at = self.processes[pid].1 + 1;
        at..at + 2
    }

    /// The bytes of a local of a process.
    pub(super) fn place(&self, pid: usize, offset: usize, width: Width) -> Range<usize> {
        let at = self.processes[pid].1 + self.header + offset;
        at..at + width.bytes()
    }

    /// The byte that says how many messages a channel holds.
    pub(super) fn counter(&self, channel: i32) -> Option<Range<usize>> {
        let &(_, at) = self.channels.get(usize::try_from(channel - 1).ok()?)?;
        Some(at + 1..at + 2)
    }

    /// A local of a process.
    pub(super) fn local(&self, state: &[u8], pid: usize, offset: usize, width: Width) -> i32 {
        width.read(&state[self.processes[pid].1 + self.header + offset..])
    }

    /// How many messages a channel that is no rendezvous channel holds, and its kind.
    pub(super) fn n_messages(&self, state: &[u8], channel: i32) -> Option<(usize, usize)> {
        let &(kind, at) = self.channels.get(usize::try_from(channel - 1).ok()?)?;
        Some((kind, state.get(at + 1).map_or(0, |&n| usize::from(n))))
    }
}
