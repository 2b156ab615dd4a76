//! What a step may touch in any state.
//!
//! A footprint is of one step, without regard to what follows it in an atomic sequence: whoever treats a
//! sequence as one transition takes the union along it. What a process does to its own location and locals
//! is not listed, except where others can see it. A rendezvous is a step of two: its footprint is the union
//! of both, and it waits for the locations of both.
//!
//! Three sets: what the step *waits* for (its guard reads it, so a change can enable or disable it), what
//! it *reads* besides, and what it *writes*. Reading or writing more than is listed would make a reduction
//! unsound; listing too much only makes it weaker. Channels are told apart by their kind where the variable
//! that names them is never assigned; otherwise the kind is unknown.

use crate::{Action, Expr, Index, Initial, LocationId, Network, Pattern, Place, Scope, Step, StepId};
use std::collections::BTreeSet;

/// What of a channel is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChannelPart {
    /// The oldest message: receiving takes it.
    Head,
    /// The place behind the youngest message: sending fills it.
    Tail,
    /// All messages: sorted sends, random receives, polls, lengths.
    Contents,
}

/// Something that steps touch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// A global variable; an array if no element is named.
    Global {
        /// Index in [`Network::globals`].
        variable: usize,
        /// Which element, if that is known.
        element: Option<usize>,
    },
    /// A channel.
    Channel {
        /// Its kind, if that is known.
        kind: Option<usize>,
        /// Which part.
        part: ChannelPart,
    },
    /// The locations and locals of all processes of a kind.
    Process {
        /// The kind.
        kind: usize,
    },
    /// Which processes and channels exist.
    Population,
    /// Priorities.
    Priorities,
    /// Whether something else can be done: `timeout`, `enabled`, `np_`. Everything has a part in it.
    Everything,
}

/// What a step touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// What decides whether it can be done.
    pub waits: BTreeSet<Access>,
    /// What it reads besides.
    pub reads: BTreeSet<Access>,
    /// What it changes.
    pub writes: BTreeSet<Access>,
}

impl Network {
    /// The footprint of a step.
    pub fn footprint(&self, step: StepId) -> Footprint {
        let mut footprint = Footprint::default();
        let Some((kind, location, found)) = self.step(step) else { return footprint };
        self.touch(kind, location, found, &mut footprint);
        self.wait_for_escapes(kind, location, step, &mut footprint);
        if let Some(provided) = &self.processes[kind].provided {
            self.read(kind, provided, &mut footprint.waits);
        }
        if self.has_priorities {
            footprint.waits.insert(Access::Everything);
        }
        if let Some(last) = &self.last {
            self.place(last, &mut footprint.writes);
        }
        let is_communication = footprint.writes.iter().any(|w| matches!(w, Access::Channel { .. }));
        if let Some(trace) = self.trace.as_ref().filter(|_| is_communication) {
            self.place(&trace.place, &mut footprint.reads);
            self.place(&trace.place, &mut footprint.writes);
        }
        footprint
    }

    /// A step is done only where no escape can be that comes before it, except its own.
    fn wait_for_escapes(&self, kind: usize, location: LocationId, id: StepId, footprint: &mut Footprint) {
        let location = &self.processes[kind].locations[location.index()];
        let (before, own) = location.steps.split_at((id.0 - location.first_step) as usize);
        for escape in before.iter().filter(|s| s.escape != 0 && s.escape != own[0].escape) {
            self.guard(kind, &escape.action, &mut footprint.waits);
            self.wait_for_partners(kind, &escape.action, footprint);
        }
    }

    /// Whether a rendezvous can be sent depends on where all others are.
    fn wait_for_partners(&self, kind: usize, action: &Action, footprint: &mut Footprint) {
        if let Action::Send { channel, .. } = action
            && self.channel_kind(kind, channel).is_none_or(|c| self.channels[c].capacity == 0)
        {
            footprint.waits.insert(Access::Everything);
        }
    }

    fn touch(&self, kind: usize, location: LocationId, step: &Step, footprint: &mut Footprint) {
        self.guard(kind, &step.action, &mut footprint.waits);
        match &step.action {
            Action::Skip | Action::Guard(_) => {}
            Action::Else => {
                for sibling in &self.processes[kind].locations[location.index()].steps {
                    self.guard(kind, &sibling.action, &mut footprint.waits);
                    self.wait_for_partners(kind, &sibling.action, footprint);
                }
            }
            Action::Assign(place, expr) => {
                self.read(kind, expr, &mut footprint.reads);
                self.write(kind, place, footprint);
            }
            Action::Assert(expr) => self.read(kind, expr, &mut footprint.reads),
            Action::Send { channel, is_sorted, fields } => {
                fields.iter().for_each(|field| self.read(kind, field, &mut footprint.reads));
                let part = if *is_sorted { ChannelPart::Contents } else { ChannelPart::Tail };
                let channel = self.channel_kind(kind, channel);
                footprint.writes.insert(Access::Channel { kind: channel, part });
            }
            Action::Receive { channel, is_random, is_copy, fields } => {
                for field in fields {
                    if let Pattern::Bind(place) = field {
                        self.write(kind, place, footprint);
                    }
                }
                if !is_copy {
                    let part = if *is_random { ChannelPart::Contents } else { ChannelPart::Head };
                    let channel = self.channel_kind(kind, channel);
                    footprint.writes.insert(Access::Channel { kind: channel, part });
                }
            }
            Action::Run(run) => {
                run.arguments.iter().for_each(|a| self.read(kind, a, &mut footprint.reads));
                for initialiser in &self.processes[run.kind].initialisers {
                    if let Initial::Value(expr) = &initialiser.initial {
                        self.read(run.kind, expr, &mut footprint.reads);
                    }
                }
                if let Some((place, _)) = &run.result {
                    self.write(kind, place, footprint);
                }
                footprint.writes.insert(Access::Population);
                footprint.writes.insert(Access::Process { kind: run.kind });
            }
            Action::SetPriority(process, priority) => {
                self.read(kind, process, &mut footprint.reads);
                self.read(kind, priority, &mut footprint.reads);
                footprint.writes.insert(Access::Priorities);
            }
            Action::End => {
                footprint.writes.insert(Access::Population);
            }
            Action::Sequence(entry) => self.touch_sequence(kind, *entry, footprint),
        }
        step.risks().into_iter().for_each(|expr| self.read(kind, expr, &mut footprint.reads));
        step.resets.iter().for_each(|place| self.place(place, &mut footprint.writes));
        if self.is_watched(kind) {
            footprint.writes.insert(Access::Process { kind });
        }
    }

    /// All that a sequence may do, from its entry on.
    fn touch_sequence(&self, kind: usize, entry: LocationId, footprint: &mut Footprint) {
        let mut known = BTreeSet::from([entry]);
        let mut work = vec![entry];
        while let Some(location) = work.pop() {
            let mut inner = Footprint::default();
            for step in &self.processes[kind].locations[location.index()].steps {
                self.touch(kind, location, step, &mut inner);
                if step.next != LocationId::EXIT && known.insert(step.next) {
                    work.push(step.next);
                }
            }
            // Only the beginning decides whether the step can be done.
            let waits = if location == entry { &mut footprint.waits } else { &mut footprint.reads };
            waits.append(&mut inner.waits);
            footprint.reads.append(&mut inner.reads);
            footprint.writes.append(&mut inner.writes);
        }
    }

    /// What the guard of an action reads.
    fn guard(&self, kind: usize, action: &Action, out: &mut BTreeSet<Access>) {
        match action {
            Action::Guard(expr) => self.read(kind, expr, out),
            Action::Send { channel, .. } => {
                self.read(kind, channel, out);
                let channel = self.channel_kind(kind, channel);
                out.insert(Access::Channel { kind: channel, part: ChannelPart::Tail });
            }
            Action::Receive { channel, is_random, fields, .. } => {
                self.read(kind, channel, out);
                for field in fields {
                    if let Pattern::Match(expr) = field {
                        self.read(kind, expr, out);
                    }
                }
                let part = if *is_random { ChannelPart::Contents } else { ChannelPart::Head };
                out.insert(Access::Channel { kind: self.channel_kind(kind, channel), part });
            }
            Action::Run(_) | Action::End => {
                out.insert(Access::Population);
            }
            Action::Sequence(entry) => {
                for step in &self.processes[kind].locations[entry.index()].steps {
                    self.guard(kind, &step.action, out);
                }
            }
            Action::Skip
            | Action::Else
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::SetPriority(..) => {}
        }
    }

    fn write(&self, kind: usize, place: &Place, footprint: &mut Footprint) {
        place.indices.iter().for_each(|i| self.read(kind, &i.value, &mut footprint.reads));
        self.place(place, &mut footprint.writes);
    }

    /// What evaluating an expression reads.
    fn read(&self, kind: usize, expr: &Expr, out: &mut BTreeSet<Access>) {
        expr.walk(&mut |expr| match expr {
            Expr::Load(place) => self.place(place, out),
            Expr::Channel(_, channel) | Expr::Poll { channel, .. } => {
                let kind = self.channel_kind(kind, channel);
                out.insert(Access::Channel { kind, part: ChannelPart::Contents });
            }
            Expr::ProcessCount => {
                out.insert(Access::Population);
            }
            Expr::Priority(_) => {
                out.insert(Access::Priorities);
                out.insert(Access::Population);
            }
            Expr::Timeout | Expr::NonProgress | Expr::Accepting | Expr::Enabled(_) | Expr::PcValue(_) => {
                out.insert(Access::Everything);
            }
            Expr::RemoteLocation { kind, .. } | Expr::RemoteLoad { kind, .. } => {
                out.insert(Access::Process { kind: *kind });
                out.insert(Access::Population);
            }
            _ => {}
        });
    }

    /// A global place as an access; a local one is nobody else's business.
    fn place(&self, place: &Place, out: &mut BTreeSet<Access>) {
        if place.scope == Scope::Local {
            return;
        }
        // With indices the place may be anywhere in the arrays that they run through.
        let reach: usize =
            place.indices.iter().map(|Index { length, stride, .. }| (length - 1) * stride).sum();
        for (variable, v) in self.globals.iter().enumerate() {
            let end = v.offset + (v.length - 1) * v.stride;
            if end < place.offset || v.offset > place.offset + reach {
                continue;
            }
            let element = (reach == 0).then(|| (place.offset - v.offset) / v.stride);
            out.insert(Access::Global { variable, element });
        }
    }

    /// Whether somebody reads locations or locals of processes of this kind from outside.
    fn is_watched(&self, kind: usize) -> bool {
        let mut is_watched = false;
        let mut look = |expr: &Expr| {
            is_watched |= matches!(expr,
                Expr::RemoteLocation { kind: k, .. } | Expr::RemoteLoad { kind: k, .. } if *k == kind);
        };
        for process in &self.processes {
            let steps = process.locations.iter().flat_map(|l| &l.steps);
            steps.for_each(|step| step.expressions().for_each(|e| e.walk(&mut look)));
            process.provided.iter().for_each(|e| e.walk(&mut look));
        }
        is_watched
    }

    /// The kind of the channel that an expression names, if it is always the same.
    pub fn channel_kind(&self, kind: usize, channel: &Expr) -> Option<usize> {
        let Expr::Load(place) = channel else { return None };
        let initialisers = match place.scope {
            Scope::Global => &self.initialisers,
            Scope::Local => &self.processes[kind].initialisers,
        };
        let mut kinds = BTreeSet::new();
        for initialiser in initialisers.iter().filter(|i| overlap(&i.place, place)) {
            match initialiser.initial {
                Initial::Channel(kind) => kinds.insert(kind),
                Initial::Value(_) => return None,
            };
        }
        let is_assigned = self.processes.iter().enumerate().any(|(other, process)| {
            let is_visible = place.scope == Scope::Global || other == kind;
            let is_parameter = is_visible
                && place.scope == Scope::Local
                && process.parameters.iter().any(|p| overlap(p, place));
            let mut steps = process.locations.iter().flat_map(|l| &l.steps);
            is_parameter
                || (is_visible && steps.any(|s| s.action.targets().iter().any(|t| overlap(t, place))))
        });
        if is_assigned || kinds.len() != 1 { None } else { kinds.first().copied() }
    }
}

/// Whether two places of one scope may be the same.
fn overlap(a: &Place, b: &Place) -> bool {
    let reach = |p: &Place| p.indices.iter().map(|i| (i.length - 1) * i.stride).sum::<usize>();
    a.scope == b.scope && a.offset <= b.offset + reach(b) && b.offset <= a.offset + reach(a)
}
