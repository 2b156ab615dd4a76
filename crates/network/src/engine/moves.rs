//! What one process can do in a state, alone or as the sender of a rendezvous.
//!
//! Each move is a copy of the state, changed in place, behind the moves before it.

use super::evaluate::View;
use super::layout::{Channel, Layout};
use super::notes::Notes;
use super::perform::Actor;
use super::program::{Act, Field, Program, Send, Step};

/// A state on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// Where its bytes begin and end in [`Moves::bytes`].
    pub(super) start: usize,
    pub(super) end: usize,
    /// The step that led to it; of a rendezvous that of the sender.
    pub(super) step: u32,
    /// The process that keeps the control.
    pub(super) keeper: Option<u32>,
}

/// Which of a process's moves are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    /// Those that begin with this step.
    Step(u32),
    /// Those in which this step, a send, finds this process to take the message; or if the channel has room for it, and
    /// the partner is the process itself, the one that puts it there.
    Meeting(u32, usize),
}

impl Wanted {
    #[inline]
    fn is_step(self, number: u32) -> bool {
        match self {
            Self::All => true,
            Self::Step(step) | Self::Meeting(step, _) => step == number,
        }
    }

    fn partner(self) -> Option<usize> {
        match self {
            Self::Meeting(_, partner) => Some(partner),
            _ => None,
        }
    }
}

/// Moves, with room to make them in.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// The states.
    pub(super) bytes: Vec<u8>,
    pub(super) list: Vec<Move>,
    /// By number of the step: whether it was ever done.
    pub(super) executed: Vec<bool>,
    /// A state whose length changes, and its segments.
    work: Vec<u8>,
    work_layout: Layout,
    /// The state in which a message is offered, and the message.
    offered: Vec<u8>,
    message: Vec<i32>,
    /// For actions.
    room: Vec<i32>,
}

impl Moves {
    /// Appends a copy of `state` as a move.
    #[inline]
    fn push(&mut self, state: &[u8], step: u32, keeper: Option<u32>) -> &mut [u8] {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(state);
        self.list.push(Move { start, end: self.bytes.len(), step, keeper });
        self.executed[step as usize] = true;
        &mut self.bytes[start..]
    }

    /// Appends the state in `work` as a move.
    fn push_work(&mut self, step: u32, keeper: Option<u32>) {
        let work = std::mem::take(&mut self.work);
        self.push(&work, step, keeper);
        self.work = work;
    }

    /// Removes all but the first `n` moves, whose bytes end at `end`.
    #[inline]
    pub(super) fn truncate(&mut self, n: usize, end: usize) {
        self.list.truncate(n);
        self.bytes.truncate(end);
    }

    /// Appends the moves of a process. If there is trouble they mean nothing.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn add(
        &mut self,
        program: &Program,
        state: &[u8],
        layout: &Layout,
        pid: usize,
        is_timeout: bool,
        wanted: Wanted,
        notes: &Notes,
    ) {
        let actor = Actor { program, pid, is_timeout, notes };
        let view = actor.view(layout, state);
        let location = &program.locations[layout.processes[pid].place(state, notes)];
        if location.n_steps == 0 || !view.is_provided() {
            return;
        }
        let (mut has_moved, mut escape) = (false, 0);
        for number in location.first..location.first + location.n_steps {
            if !wanted.is_step(number) {
                continue;
            }
            let step = &program.steps[number as usize];
            if escape != 0 && step.escape != escape {
                break;
            }
            if self.attempt(actor, &view, layout, state, (step, number), wanted, has_moved) {
                has_moved = true;
                escape = step.escape;
            }
        }
    }

    /// Appends the moves that begin with a step; whether there is one.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    fn attempt(
        &mut self,
        actor: Actor<'_>,
        view: &View<'_>,
        layout: &Layout,
        state: &[u8],
        (step, number): (&Step, u32),
        wanted: Wanted,
        has_moved: bool,
    ) -> bool {
        let process = &layout.processes[actor.pid];
        let keeper = step.is_atomic.then_some(actor.pid as u32);
        let next = match &step.act {
            Act::Guard(code) => {
                if !view.holds(code) {
                    return false;
                }
                self.push(state, number, keeper)
            }
            Act::Assign(target, code) => {
                let next = self.push(state, number, keeper);
                actor.assignment(layout, next, target, code);
                next
            }
            Act::Receive(receive) => {
                let Some(channel) = view.channel(&receive.channel) else { return false };
                let Some(at) = view.find_message(channel, receive) else { return false };
                let next = self.push(state, number, keeper);
                actor.receive(layout, next, channel, receive, at);
                next
            }
            Act::Send(send) => {
                let Some(channel) = view.channel(&send.channel) else { return false };
                if channel.capacity == 0 {
                    let partner = wanted.partner();
                    let offer = (channel, &**send);
                    return self.rendezvous(actor, view, layout, state, (step, number), offer, partner);
                }
                // Alone, a sender is its own partner.
                if wanted.partner().is_some_and(|partner| partner != actor.pid) {
                    return false;
                }
                if view.n_messages(channel) >= channel.capacity as usize {
                    return false;
                }
                let mut room = std::mem::take(&mut self.room);
                let next = self.push(state, number, keeper);
                actor.send(layout, next, channel, send, &mut room);
                actor.finish(layout, next, step);
                self.room = room;
                return true;
            }
            Act::Skip => self.push(state, number, keeper),
            Act::Mention(codes) => {
                view.mention(codes);
                self.push(state, number, keeper)
            }
            Act::Else => {
                if has_moved {
                    return false;
                }
                self.push(state, number, keeper)
            }
            Act::Assert(code) => {
                if !view.holds(code) {
                    actor.notes.trouble.set(true);
                }
                self.push(state, number, keeper)
            }
            Act::End => {
                if actor.pid + 1 != layout.processes.len() {
                    return false;
                }
                actor.notes.touch(process.offset, state.len() - process.offset);
                let next = self.push(&state[..process.offset], number, keeper);
                actor.set_last(next);
                return true;
            }
            Act::Run(_) => {
                return self.enlarge(actor, layout, state, step, number);
            }
            Act::Sequence(entry) => {
                if view.first(*entry).is_none() {
                    return false;
                }
                return self.enlarge(actor, layout, state, step, number);
            }
        };
        actor.finish(layout, next, step);
        true
    }

    /// Does a step that may change the length of the state.
    fn enlarge(&mut self, actor: Actor<'_>, layout: &Layout, state: &[u8], step: &Step, number: u32) -> bool {
        self.work.clear();
        self.work.extend_from_slice(state);
        self.work_layout.copy(layout);
        let (layout, work, room) = (&mut self.work_layout, &mut self.work, &mut self.room);
        let is_done = match &step.act {
            Act::Run(run) => actor.run(layout, work, run, room),
            Act::Sequence(entry) => actor.sequence(layout, work, *entry, room),
            _ => false,
        };
        if is_done {
            actor.finish(&self.work_layout, &mut self.work, step);
            self.push_work(number, step.is_atomic.then_some(actor.pid as u32));
        }
        is_done
    }

    /// Appends a move for each receiver that takes the message of a sender.
    #[allow(clippy::too_many_arguments)]
    fn rendezvous(
        &mut self,
        sender: Actor<'_>,
        view: &View<'_>,
        layout: &Layout,
        state: &[u8],
        (sent, number): (&Step, u32),
        (channel, send): (Channel, &Send),
        partner: Option<usize>,
    ) -> bool {
        let program = sender.program;
        let fields = &program.channels[channel.kind as usize].fields;
        if send.fields.len() != fields.len() {
            sender.notes.trouble.set(true);
            return false;
        }
        let mut message = std::mem::take(&mut self.message);
        message.clear();
        message.extend(fields.iter().zip(&send.fields).map(|(field, code)| field.cut(view.value(code))));
        let mut offered = std::mem::take(&mut self.offered);
        offered.clear();
        offered.extend_from_slice(state);
        layout.processes[sender.pid].set_location(&mut offered, sent.next, sender.notes);
        let before = self.list.len();
        for (pid, process) in layout.processes.iter().enumerate().rev() {
            if partner.is_some_and(|partner| partner != pid) {
                continue;
            }
            let location = &program.locations[process.place(&offered, sender.notes)];
            if location.receivers.is_empty() || pid == sender.pid {
                continue;
            }
            let actor = Actor { program, pid, is_timeout: false, notes: sender.notes };
            let mut escape = 0;
            for &receiver in &location.receivers {
                let step = &program.steps[receiver as usize];
                if escape != 0 && step.escape != escape {
                    break;
                }
                if self.take(actor, layout, &offered, &message, channel, step, (sender, sent, number)) {
                    self.executed[receiver as usize] = true;
                    escape = step.escape;
                }
            }
        }
        self.message = message;
        self.offered = offered;
        self.list.len() > before
    }

    /// Takes an offered message, if the step wants it.
    #[allow(clippy::too_many_arguments)]
    fn take(
        &mut self,
        actor: Actor<'_>,
        layout: &Layout,
        offered: &[u8],
        message: &[i32],
        channel: Channel,
        step: &Step,
        (sender, sent, number): (Actor<'_>, &Step, u32),
    ) -> bool {
        let keeper = step.is_atomic.then_some(actor.pid as u32);
        let view = actor.view(layout, offered);
        let Some((fields, inner)) = wants(&view, step, channel, message) else { return false };
        if let Some(inner) = inner {
            self.work.clear();
            self.work.extend_from_slice(offered);
            self.work_layout.copy(layout);
            let (layout, work, room) = (&mut self.work_layout, &mut self.work, &mut self.room);
            actor.bind(layout, work, fields, message);
            actor.reset(layout, work, inner);
            if !actor.sequence(layout, work, inner.next, room) {
                return false;
            }
            actor.finish(layout, work, step);
            sender.reset(layout, work, sent);
            self.push_work(number, keeper);
        } else {
            let next = self.push(offered, number, keeper);
            actor.bind(layout, next, fields, message);
            actor.finish(layout, next, step);
            sender.reset(layout, next, sent);
        }
        true
    }
}

/// The fields of the receive that takes an offered message, if the step is one and wants it; and the receive
/// itself, if it is within a sequence that is one step.
fn wants<'p>(
    view: &View<'p>,
    step: &'p Step,
    channel: Channel,
    message: &[i32],
) -> Option<(&'p [Field], Option<&'p Step>)> {
    match &step.act {
        Act::Receive(receive) => {
            let is_meant = view.channel(&receive.channel)?.offset == channel.offset;
            let is_wanted = is_meant && view.is_provided() && view.matches(&receive.fields, message);
            is_wanted.then_some((&receive.fields[..], None))
        }
        Act::Sequence(entry) => {
            let process = &view.layout.processes[view.pid];
            let at = &view.program.locations[process.first_location as usize + usize::from(*entry)];
            let first = &view.program.steps[at.first as usize..(at.first + at.n_steps) as usize];
            first.iter().find_map(|inner| match inner.act {
                Act::Sequence(_) => {
                    view.notes.trouble.set(true);
                    None
                }
                _ => wants(view, inner, channel, message).map(|(fields, _)| (fields, Some(inner))),
            })
        }
        _ => None,
    }
}
