//! What a state is made of, for engines that store components and for people.

use crate::frame::Frame;
use crate::{LocationId, Network, Scope, Variable};

/// A part of a state that changes on its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Component {
    /// A global scalar or an element of a global array: its offset.
    Global {
        /// Index in [`Network::globals`].
        variable: usize,
        /// Which element.
        element: usize,
    },
    /// A process: kind, location, priority and locals.
    Process {
        /// Its number.
        pid: usize,
    },
    /// A channel: kind, length and messages.
    Channel {
        /// Its number, from zero.
        channel: usize,
    },
}

impl Network {
    /// The components of a state with the ranges of bytes that they occupy. They cover the vector.
    pub fn components(&self, state: &[u8]) -> Vec<(Component, std::ops::Range<usize>)> {
        let mut components = Vec::new();
        for (variable, v) in self.globals.iter().enumerate() {
            for element in 0..v.length {
                let start = v.offset + element * v.stride;
                components.push((Component::Global { variable, element }, start..start + v.width.bytes()));
            }
        }
        let frame = Frame::new(self, state);
        for (pid, segment) in frame.processes.iter().enumerate() {
            let end = segment.offset + self.process_size(segment.kind);
            components.push((Component::Process { pid }, segment.offset..end));
        }
        for (channel, segment) in frame.channels.iter().enumerate() {
            let end = segment.offset + self.channel_size(segment.kind);
            components.push((Component::Channel { channel }, segment.offset..end));
        }
        components.sort_by_key(|(_, range)| range.start);
        components
    }

    /// Whether some process is at a progress location.
    pub(crate) fn is_progress(&self, state: &[u8]) -> bool {
        let frame = Frame::new(self, state);
        (0..frame.processes.len()).any(|pid| {
            let kind = &self.processes[frame.kind(pid)];
            kind.locations[frame.location(pid).index()].is_progress
        })
    }

    /// A process of this kind that is at this location.
    pub fn who_is_at(&self, state: &[u8], kind: usize, location: LocationId) -> Option<usize> {
        let frame = Frame::new(self, state);
        (0..frame.processes.len()).find(|&pid| frame.kind(pid) == kind && frame.location(pid) == location)
    }

    /// The state by names and values, for people: globals, then each process with its locals, then channels.
    pub(crate) fn texts(&self, state: &[u8]) -> Vec<(String, String)> {
        self.some_texts(&Frame::new(self, state), &|_| true)
    }

    /// The same for the parts of two states that differ.
    pub(crate) fn differing_texts(&self, before: &[u8], after: &[u8]) -> [Vec<(String, String)>; 2] {
        let frames = [before, after].map(|state| Frame::new(self, state));
        let differs = |component: &Component| {
            let [before, after] = frames.each_ref().map(|frame| frame.bytes_of(component));
            before != after
        };
        [0, 1].map(|i| self.some_texts(&frames[i], &differs))
    }

    fn some_texts(&self, frame: &Frame<'_>, is_wanted: &dyn Fn(&Component) -> bool) -> Vec<(String, String)> {
        let mut out = Vec::new();
        for (variable, v) in self.globals.iter().enumerate() {
            if (0..v.length).any(|element| is_wanted(&Component::Global { variable, element })) {
                values(frame, Scope::Global, 0, v, "", &mut out);
            }
        }
        for pid in (0..frame.processes.len()).filter(|&pid| is_wanted(&Component::Process { pid })) {
            let kind = &self.processes[frame.kind(pid)];
            let name = format!("{}[{pid}]", kind.name);
            let first = kind.locations[frame.location(pid).index()].steps.first();
            out.push((name.clone(), first.map_or_else(String::new, |s| format!("line {}", s.line))));
            let prefix = format!("{name}.");
            kind.locals.iter().for_each(|v| values(frame, Scope::Local, pid, v, &prefix, &mut out));
        }
        let channels = frame.channels.iter().enumerate();
        for (i, &channel) in channels.filter(|&(channel, _)| is_wanted(&Component::Channel { channel })) {
            let messages = (0..frame.n_messages(channel)).map(|slot| {
                let message = self.message_texts(channel.kind, &frame.message(channel, slot));
                format!("[{}]", message.join(", "))
            });
            let name = format!("channel {} ({})", i + 1, self.channels[channel.kind].name);
            out.push((name, messages.collect::<Vec<_>>().join(" ")));
        }
        out
    }
}

impl Frame<'_> {
    /// The bytes of a component; none if there is none.
    fn bytes_of(&self, component: &Component) -> Option<&[u8]> {
        let network = self.network;
        match *component {
            Component::Global { variable, element } => {
                let Variable { offset, stride, width, .. } = network.globals[variable];
                Some(&self.bytes[offset + element * stride..][..width.bytes()])
            }
            Component::Process { pid } => {
                let segment = self.processes.get(pid)?;
                Some(&self.bytes[segment.offset..][..network.process_size(segment.kind)])
            }
            Component::Channel { channel } => {
                let segment = self.channels.get(channel)?;
                Some(&self.bytes[segment.offset..][..network.channel_size(segment.kind)])
            }
        }
    }
}

fn values(
    frame: &Frame<'_>,
    scope: Scope,
    pid: usize,
    variable: &Variable,
    prefix: &str,
    out: &mut Vec<(String, String)>,
) {
    for i in 0..variable.length {
        let value = frame.load(scope, pid, variable.offset + i * variable.stride, variable.width);
        let index = if variable.length > 1 { format!("[{i}]") } else { String::new() };
        out.push((
            format!("{prefix}{}{index}", variable.name),
            frame.network.value_text(value, variable.names),
        ));
    }
}
