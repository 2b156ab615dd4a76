//! Where the processes and channels of a state begin. Found again only when the population changes.

use super::notes::Notes;
use super::program::Program;

#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    pub(super) offset: usize,
    /// Where its locals begin.
    pub(super) locals: usize,
    pub(super) kind: u32,
    /// Of its kind, in the table of locations.
    pub(super) first_location: u32,
}

impl Process {
    /// Where it is: the number of the location in its kind.
    #[inline]
    pub(super) fn location(&self, bytes: &[u8], notes: &Notes) -> u16 {
        let at = self.offset + 1;
        notes.touch(at, 2);
        u16::from_le_bytes([bytes[at], bytes[at + 1]])
    }

    /// Moves it.
    #[inline]
    pub(super) fn set_location(&self, bytes: &mut [u8], location: u16, notes: &Notes) {
        let at = self.offset + 1;
        notes.touch(at, 2);
        bytes[at..at + 2].copy_from_slice(&location.to_le_bytes());
    }

    /// Where it is: the index in the table of locations.
    #[inline]
    pub(super) fn place(&self, bytes: &[u8], notes: &Notes) -> usize {
        self.first_location as usize + usize::from(self.location(bytes, notes))
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Channel {
    pub(super) offset: usize,
    pub(super) kind: u32,
    /// How many messages it holds at most; zero means rendezvous.
    pub(super) capacity: u32,
}

/// The segments of a state.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) processes: Vec<Process>,
    pub(super) channels: Vec<Channel>,
    /// Length of the states that it was made for; zero if there was none yet.
    length: usize,
}

impl Layout {
    /// Makes this the layout of `state`.
    #[inline]
    pub(super) fn fit(&mut self, program: &Program, state: &[u8]) {
        let is_known = self.length == state.len() && self.length > 0;
        if !(is_known && (program.is_static || self.has_tags(program, state))) {
            self.find(program, state);
        }
    }

    fn has_tags(&self, program: &Program, state: &[u8]) -> bool {
        let n_kinds = program.kinds.len() as u32;
        self.processes.iter().all(|p| u32::from(state[p.offset]) == p.kind)
            && self.channels.iter().all(|c| u32::from(state[c.offset]) == c.kind + n_kinds)
    }

    #[cold]
    fn find(&mut self, program: &Program, state: &[u8]) {
        self.processes.clear();
        self.channels.clear();
        let mut offset = program.globals_size;
        while offset < state.len() {
            let tag = usize::from(state[offset]);
            offset += match program.kinds.get(tag) {
                Some(kind) => {
                    self.add_process(program, tag, offset);
                    kind.size
                }
                None => {
                    let kind = tag - program.kinds.len();
                    self.add_channel(program, kind, offset);
                    program.channels[kind].size
                }
            };
        }
        self.length = state.len();
    }

    /// Notes a process at `offset`.
    pub(super) fn add_process(&mut self, program: &Program, kind: usize, offset: usize) {
        let first_location = program.kinds[kind].first_location;
        let locals = offset + program.header;
        self.processes.push(Process { offset, locals, kind: kind as u32, first_location });
    }

    /// Notes a channel at `offset`.
    pub(super) fn add_channel(&mut self, program: &Program, kind: usize, offset: usize) {
        let capacity = program.channels[kind].capacity as u32;
        self.channels.push(Channel { offset, kind: kind as u32, capacity });
    }

    /// Becomes a copy of `other`.
    pub(super) fn copy(&mut self, other: &Self) {
        self.processes.clone_from(&other.processes);
        self.channels.clone_from(&other.channels);
        self.length = other.length;
    }
}
