//! What the steps of a transition do: reads, writes, channels, processes that are started and end.

use super::super::channels::Channels;
use super::super::touch::{ChannelOp, Effect, Op, Read, Touch};
use super::{Builder, Known};
use stubborn_network::{
    Action, BinaryOp, Expr, Initial, LocationId, Pattern, Place, Run, Scope, Step, StepId,
};

impl Builder<'_> {
    pub(super) fn read(&mut self, expr: &Expr) {
        let reads = self.known.reads_of(expr);
        self.touch.ops.extend(reads.into_iter().map(Op::Read));
    }

    /// What a step mentions has no effect, but it may go wrong.
    pub(super) fn mentions(&mut self, step: &Step) {
        // The doubts of the whole, and what they depend on.
        step.mentions.iter().for_each(|expr| self.known.reads(expr, &mut Vec::new()));
        step.risks().into_iter().for_each(|expr| self.read(expr));
    }

    /// What a later step of an atomic sequence waits for decides how far the transition goes.
    pub(super) fn inner(&mut self, action: &Action) {
        match action {
            Action::Guard(expr) => self.read(expr),
            Action::End => self.touch.ops.push(Op::Read(Read::Population)),
            _ => {}
        }
        self.effects(action, true);
    }

    /// What an action does.
    pub(super) fn effects(&mut self, action: &Action, is_inner: bool) {
        match action {
            Action::Skip | Action::Guard(_) | Action::Else => {}
            Action::Assign(place, expr) => {
                let effect = self.effect(place, expr);
                if effect != Effect::Add {
                    self.read(expr);
                }
                self.write(place, effect);
            }
            Action::Assert(expr) => {
                self.touch.may_fail = true;
                self.read(expr);
            }
            Action::Send { channel, is_sorted, fields } => {
                self.read(channel);
                self.count_fields(channel, fields.len());
                fields.iter().for_each(|field| self.read(field));
                let op = if *is_sorted { ChannelOp::SendSorted } else { ChannelOp::Send };
                let (buffered, rendezvous) = self.known.sorts(&self.known.channels(channel));
                self.queue(buffered, op, is_inner);
                if !rendezvous.is_empty() {
                    self.offer(rendezvous, is_inner);
                }
                self.watch(channel);
            }
            Action::Receive { channel, is_random, is_copy, fields } => {
                self.take(channel, fields);
                self.count_fields(channel, fields.len());
                let op = match (is_copy, is_random) {
                    (true, _) => ChannelOp::Copy,
                    (false, true) => ChannelOp::ReceiveRandom,
                    (false, false) => ChannelOp::Receive,
                };
                let (buffered, _) = self.known.sorts(&self.known.channels(channel));
                self.queue(buffered, op, is_inner);
            }
            Action::Run(run) => self.run(run),
            Action::SetPriority(..) => {
                self.touch.may_fail = true;
                self.touch.ops.push(Op::Read(Read::Everything));
            }
            Action::End => {
                self.touch.ops.push(Op::End);
                let mut closed = Channels::default();
                let n = self.known.view.n_channels();
                match self.known.pid {
                    Some(pid) => {
                        let own = (1..=n as i32).filter(|&c| self.known.view.channel_owner(c) == Some(pid));
                        own.for_each(|c| closed.insert(c, n));
                    }
                    // It can close what it opened, and nobody knows that yet.
                    None => closed = Channels::FRESH,
                }
                if !closed.is_empty() {
                    self.touch.ops.push(Op::Close(closed));
                }
            }
            Action::Sequence(entry) => self.sequence(*entry),
        }
    }

    /// A message with too few or too many fields is an error.
    fn count_fields(&mut self, channel: &Expr, n_fields: usize) {
        let kind = self.known.channels(channel).single().and_then(|c| self.known.view.channel_kind(c));
        self.touch.may_fail |=
            kind.is_none_or(|kind| self.known.network.channels[kind].fields.len() != n_fields);
    }

    fn queue(&mut self, channels: Channels, op: ChannelOp, is_inner: bool) {
        if !channels.is_empty() {
            self.touch.ops.push(Op::Channel { channels, op, is_inner });
        }
    }

    /// What happens to channels that an event trace is about moves the trace.
    fn watch(&mut self, channel: &Expr) {
        let Some(trace) = &self.known.network.trace else { return };
        let channels = self.known.channels(channel);
        let is_watched = trace.locations.iter().flat_map(|l| &l.steps).any(|step| match &step.action {
            Action::Send { channel, .. } | Action::Receive { channel, .. } => {
                self.known.channels(channel).meets(&channels)
            }
            _ => false,
        });
        if is_watched {
            self.touch.may_fail = true;
            let (from, to, _) = self.known.range(&trace.place);
            let cells = self.known.span(Scope::Global, from, to);
            self.touch.ops.push(Op::Read(Read::Cells(cells)));
            self.touch.ops.push(Op::Write { cells, width: trace.place.width, effect: Effect::Any });
        }
    }

    /// An offer does what its taker does, and what that goes on to do.
    fn offer(&mut self, channels: Channels, is_inner: bool) {
        self.touch.ops.push(Op::Offer { channels, is_inner });
        let known = self.known;
        for (pid, location, step) in self.partners.takers(known.pid, &channels) {
            let kind = known.view.kind(pid);
            let taker = Known::new(known.network, known.flow, known.view, Some(pid), kind, &[]);
            let mut builder = Builder { known: &taker, partners: self.partners, touch: Touch::default() };
            let id = StepId(known.network.first_step(kind, location).0 + step as u32);
            let own = &taker.steps(location)[step];
            let run = &known.flow.runs[id.0 as usize];
            match &own.action {
                Action::Receive { channel, fields, .. } => builder.take(channel, fields),
                other => builder.effects(other, true),
            }
            builder.reset(&own.resets);
            builder.moves(location, id);
            for &(at, i) in run {
                // An offer in the sequence of a taker: whoever takes that is not followed further.
                let step = &taker.steps(at)[i];
                if wants_everything(&step.action, &taker) {
                    builder.touch.ops.push(Op::Read(Read::Everything));
                    builder.touch.may_go_round = true;
                } else {
                    builder.mentions(step);
                    builder.inner(&step.action);
                    builder.reset(&step.resets);
                }
            }
            // Several may take it, one at a time.
            self.touch.has_loop = true;
            self.touch.may_go_round |= builder.touch.may_go_round || known.flow.loops[id.0 as usize];
            self.touch.may_fail |= builder.touch.may_fail || taker.doubt.get();
            self.touch.ops.append(&mut builder.touch.ops);
        }
    }

    /// What a receiver binds, and what must match.
    fn take(&mut self, channel: &Expr, fields: &[Pattern]) {
        self.read(channel);
        for field in fields {
            match field {
                Pattern::Match(expr) => self.read(expr),
                Pattern::Bind(place) => self.write(place, Effect::Any),
                Pattern::Ignore => {}
            }
        }
        self.watch(channel);
    }

    fn run(&mut self, run: &Run) {
        let known = self.known;
        run.arguments.iter().for_each(|argument| self.read(argument));
        let kind = &known.network.processes[run.kind];
        let child = Known::new(known.network, known.flow, known.view, None, run.kind, &[]);
        let mut reads = Vec::new();
        for initialiser in &kind.initialisers {
            if let Initial::Value(expr) = &initialiser.initial {
                child.reads(expr, &mut reads);
            }
        }
        self.touch.ops.extend(reads.into_iter().map(Op::Read));
        if let Some((place, expr)) = &run.result {
            self.read(expr);
            self.write(place, Effect::Any);
        }
        self.touch.ops.push(Op::Run);
        self.touch.may_fail = true;
    }

    /// All that a sequence may do; only its beginning is part of the guard.
    fn sequence(&mut self, entry: LocationId) {
        self.touch.has_loop = true;
        self.touch.may_go_round = true;
        self.touch.may_fail = true;
        for step in self.known.steps_within(entry) {
            self.mentions(step);
            self.inner(&step.action);
            self.reset(&step.resets);
        }
    }

    fn effect(&self, place: &Place, expr: &Expr) -> Effect {
        if let Some(value) = self.known.constant(expr) {
            return Effect::Set(value);
        }
        let is_same = |e: &Expr| matches!(e, Expr::Load(p) if p.scope == place.scope && p.offset == place.offset && p.indices == place.indices && p.width == place.width);
        match expr {
            Expr::Binary(BinaryOp::Add, a, b)
                if (is_same(a) && self.known.constant(b).is_some())
                    || (is_same(b) && self.known.constant(a).is_some()) =>
            {
                Effect::Add
            }
            Expr::Binary(BinaryOp::Subtract, a, b) if is_same(a) && self.known.constant(b).is_some() => {
                Effect::Add
            }
            _ => Effect::Any,
        }
    }

    pub(super) fn reset(&mut self, places: &[Place]) {
        places.iter().for_each(|place| self.write(place, Effect::Set(0)));
    }

    fn write(&mut self, place: &Place, effect: Effect) {
        place.indices.iter().for_each(|index| self.read(&index.value));
        let (from, to, _) = self.known.range(place);
        let cells = self.known.span(place.scope, from, to);
        self.touch.ops.push(Op::Write { cells, width: place.width, effect });
    }
}

/// Whether an action of a taker's sequence offers a rendezvous itself.
fn wants_everything(action: &Action, known: &Known<'_>) -> bool {
    matches!(action, Action::Send { channel, .. } if !known.sorts(&known.channels(channel)).1.is_empty())
}
