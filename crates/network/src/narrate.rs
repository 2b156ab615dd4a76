//! What happens on the way to a successor, step by step: for people, for charts and for trails.
//!
//! [`Network::expand`] says by which steps a successor is reached. Here they are made once more, and each
//! tells what it sent and received and what went wrong. Nothing is decided here: the moves are those of
//! the interpreter. **Checked by** the chart tests, and by SPIN, which replays the trails made of it.

use crate::check::is_safety;
use crate::execute::Moment;
use crate::expand::{Wanted, wants};
use crate::frame::{Frame, Segment};
use crate::{Action, Location, LocationId, Micro, Network, Scope, Step, Successor, Trouble};
use stubborn_system::{Message, MessageKind};

/// One step on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Which.
    pub micro: Micro,
    /// What it sends and receives; several if it is a sequence.
    pub messages: Vec<Message>,
    /// What goes wrong in it.
    pub troubles: Vec<Trouble>,
}

impl Network {
    /// The steps on the way from `state` to one of its successors.
    pub fn narrate(&self, state: &[u8], successor: &Successor) -> Vec<Told> {
        let told = |is_timeout| self.retell(state, successor, is_timeout);
        let unexplained = |&micro: &Micro| Told { micro, messages: Vec::new(), troubles: Vec::new() };
        told(false)
            .or_else(|| told(true))
            .unwrap_or_else(|| successor.trail.iter().map(unexplained).collect())
    }

    /// The steps from `state` to the first violation of safety, the one that goes wrong included.
    pub fn way_to_error(&self, state: &[u8]) -> Vec<Micro> {
        let expansion = self.expand(state);
        for successor in expansion.successors.iter().filter(|s| s.events.iter().any(is_safety)) {
            let told = self.narrate(state, successor);
            if let Some(last) = told.iter().position(|told| told.troubles.iter().any(Trouble::is_error)) {
                return told[..=last].iter().map(|told| told.micro).collect();
            }
        }
        // A step that cannot be finished; if it is not the first of an atomic sequence the way is not known.
        let frame = Frame::new(self, state);
        let lost = expansion.events.iter().filter(|event| is_safety(event)).find_map(|event| {
            let (pid, step) = event.step?;
            let (kind, location, _) = self.step(step)?;
            let is_here = frame.kind(pid) == kind && frame.location(pid) == location;
            is_here.then_some(Micro { pid, step })
        });
        lost.into_iter().collect()
    }

    /// `None` if it is not the way: `timeout` was judged wrongly.
    fn retell(&self, state: &[u8], successor: &Successor, is_timeout: bool) -> Option<Vec<Told>> {
        let mut frame = Frame::new(self, state);
        let mut out: Vec<Told> = Vec::new();
        while out.len() < successor.trail.len() {
            let rest = &successor.trail[out.len()..];
            let is_timeout = is_timeout && out.is_empty();
            let moves = self.moves(&frame, rest[0].pid, is_timeout, &mut Vec::new());
            let next = moves.into_iter().find(|m| rest.starts_with(&m.trail))?;
            let mut offered = None;
            for &micro in &next.trail {
                let mut teller = Teller { frame: frame.clone(), pid: micro.pid, is_timeout, out: Vec::new() };
                let (_, _, step) = self.step(micro.step)?;
                match offered.take() {
                    None if next.trail.len() > 1 => {
                        let (channel, values, _) = teller.offer(&step.action)?;
                        teller.out.push(teller.message(MessageKind::Send, channel, &values, 0));
                        frame.set_location(micro.pid, step.next);
                        offered = Some((channel, values));
                    }
                    None => teller.action(&step.action),
                    Some((channel, values)) => teller.accept(step, channel, &values),
                }
                let is_here = |s: &Option<(usize, crate::StepId)>| *s == Some((micro.pid, micro.step));
                let troubles = next.events.iter().filter(|e| is_here(&e.step)).map(|e| e.trouble.clone());
                out.push(Told { micro, messages: teller.out, troubles: troubles.collect() });
            }
            frame = next.frame;
        }
        (frame.bytes == successor.state).then_some(out)
    }

    /// The values of a message for people.
    pub(crate) fn message_texts(&self, kind: usize, message: &[i32]) -> Vec<String> {
        let names = self.channels[kind].names.iter().copied().chain(std::iter::repeat(None));
        message.iter().zip(names).map(|(&value, names)| self.value_text(value, names)).collect()
    }
}

/// Follows the actions of one process and notes its messages.
struct Teller<'n> {
    frame: Frame<'n>,
    pid: usize,
    is_timeout: bool,
    out: Vec<Message>,
}

impl<'n> Teller<'n> {
    fn moment(&self) -> Moment {
        Moment { is_timeout: self.is_timeout, has_moved: false }
    }

    fn message(&self, kind: MessageKind, channel: Segment, values: &[i32], slot: usize) -> Message {
        let network = self.frame.network;
        Message {
            kind,
            is_rendezvous: network.channels[channel.kind].capacity == 0,
            channel: channel_name(&self.frame, channel),
            values: network.message_texts(channel.kind, values),
            slot,
            waiting: self.frame.n_messages(channel),
            number: None,
        }
    }

    /// What a send sends: the channel, the values, and where it goes.
    fn offer(&self, action: &Action) -> Option<(Segment, Vec<i32>, usize)> {
        let Action::Send { channel, is_sorted, fields } = action else { return None };
        let mut troubles = Vec::new();
        let sent = self.frame.message_to_send(self.pid, channel, fields, self.moment(), &mut troubles);
        let (channel, message) = sent.ok()?;
        let slot = self.frame.place_to_insert(channel, *is_sorted, &message);
        let widths = &self.frame.network.channels[channel.kind].fields;
        Some((channel, widths.iter().zip(message).map(|(w, v)| w.cut(v)).collect(), slot))
    }

    fn send(&self, action: &Action) -> Option<Message> {
        let (channel, values, slot) = self.offer(action)?;
        Some(self.message(MessageKind::Send, channel, &values, slot))
    }

    /// The receiver's part of a rendezvous; a sequence may begin with it.
    fn accept(&mut self, step: &'n Step, channel: Segment, values: &[i32]) {
        self.out.push(self.message(MessageKind::Receive, channel, values, 0));
        let (moment, mut troubles) = (self.moment(), Vec::new());
        let wanted = wants(&self.frame, self.pid, step, channel.offset, values, &mut troubles);
        if let Some(Wanted { fields, resets, rest }) = wanted {
            self.frame.bind(self.pid, fields, values, moment, &mut troubles);
            self.frame.reset(self.pid, resets);
            self.sequence(rest);
        }
    }

    fn receive(&self, action: &Action) -> Option<Message> {
        let Action::Receive { channel, is_random, is_copy, fields } = action else { return None };
        let mut troubles = Vec::new();
        let mut evaluator = self.frame.evaluator(self.pid, self.moment(), &mut troubles);
        let channel = evaluator.channel(channel)?;
        let slot = evaluator.find_message(channel, *is_random, fields)?;
        let kind = if *is_copy { MessageKind::Copy } else { MessageKind::Receive };
        Some(self.message(kind, channel, &self.frame.message(channel, slot), slot))
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Sequence(entry) => self.sequence(*entry),
            _ => {
                let found = self.send(action).or_else(|| self.receive(action));
                self.out.extend(found);
            }
        }
    }

    /// A sequence that is one step, as the interpreter makes it.
    fn sequence(&mut self, entry: LocationId) {
        let network = self.frame.network;
        let locations: &'n [Location] = &network.processes[self.frame.kind(self.pid)].locations;
        let (moment, mut troubles) = (self.moment(), Vec::new());
        let mut location = entry;
        // The interpreter has come to the exit, so this ends.
        while location != LocationId::EXIT {
            let first = self.frame.evaluator(self.pid, moment, &mut troubles).first(location);
            let Some(step) = first.and_then(|first| locations[location.index()].steps.get(first)) else {
                return;
            };
            self.action(&step.action);
            if self.frame.perform(self.pid, &step.action, moment, &mut troubles).is_err() {
                return;
            }
            self.frame.reset(self.pid, &step.resets);
            location = step.next;
        }
    }
}

/// The name of a channel: of the variable that was declared with it, in its process.
pub(crate) fn channel_name(frame: &Frame<'_>, channel: Segment) -> String {
    let network = frame.network;
    let kind = &network.channels[channel.kind];
    let number = frame.channels.iter().position(|c| c.offset == channel.offset).map_or(0, |i| i as i32 + 1);
    let owner = frame.processes.iter().rposition(|p| p.offset < channel.offset);
    let of_owner = owner.map(|pid| (Scope::Local, pid, &network.processes[frame.kind(pid)].locals));
    for (scope, pid, variables) in of_owner.into_iter().chain([(Scope::Global, 0, &network.globals)]) {
        for variable in variables.iter().filter(|v| v.is_channel && is_called(&v.name, &kind.name)) {
            for i in 0..variable.length {
                let at = variable.offset + i * variable.stride;
                if frame.load(scope, pid, at, variable.width) == number {
                    let index = if variable.length > 1 { format!("[{i}]") } else { String::new() };
                    let process = match scope {
                        Scope::Local => format!("{}[{pid}].", network.processes[frame.kind(pid)].name),
                        Scope::Global => String::new(),
                    };
                    return format!("{process}{}{index}", variable.name);
                }
            }
        }
    }
    format!("{}#{number}", kind.name)
}

/// Whether a variable, or the record that it is in, has this name.
fn is_called(variable: &str, name: &str) -> bool {
    variable.split(['.', '[', '#']).next() == Some(name)
}
