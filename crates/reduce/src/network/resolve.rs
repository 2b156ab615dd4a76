//! From the steps of a process to what its transitions wait for and do.
//!
//! What is known of a process decides how exact the answer is: its number; variables that no step writes, such
//! as most parameters; and, for a process that a stubborn set keeps where it is, its locals in the state at
//! hand, as long as the transition itself does not write them.

use super::channels::Channels;
use super::flow::{Flow, end_of};
use super::touch::{ChannelOp, Clause, Effect, Literal, Op, Read, Span, Test, Touch};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use stubborn_network::{
    Action, BinaryOp, ChannelTest, Expr, Initial, Initialiser, LocationId, Network, Pattern, Place, Run,
    Scope, Step, StepId, UnaryOp, View, Width,
};

/// Owner of the locals of processes that do not exist yet.
const NOBODY: u16 = u16::MAX;

/// Clauses that a guard is taken apart into, at most; what is more is taken as a whole.
const MOST_CLAUSES: usize = 8;

/// The local variables whose values say which cells and channels a transition is about.
pub(super) type Selectors = Vec<(usize, Width)>;

/// A local of a process that does not exist yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Newborn {
    /// It has this value.
    Number(i32),
    /// It is a channel that the process opens.
    Fresh,
}

/// What is known, and of whom.
pub(super) struct Known<'a> {
    pub(super) network: &'a Network,
    pub(super) flow: &'a Flow,
    pub(super) view: &'a View<'a>,
    /// The process; `None` if it does not exist yet.
    pub(super) pid: Option<usize>,
    pub(super) kind: usize,
    /// If it does not exist yet: what is known of its locals.
    pub(super) newborn: &'a [(usize, Newborn)],
    /// Those of its locals that are known to be as they are.
    pub(super) selectors: &'a [(usize, Width)],
    /// Bytes of its locals that the transition writes, so that they are not known after its first step.
    pub(super) dirty: RefCell<Vec<Span>>,
    /// Locals on whose values the answer depends.
    pub(super) used: RefCell<Vec<Span>>,
    /// Whether an index may be out of range, or a channel may be none.
    doubt: Cell<bool>,
}

impl<'a> Known<'a> {
    pub(super) fn new(
        network: &'a Network,
        flow: &'a Flow,
        view: &'a View<'a>,
        pid: Option<usize>,
        kind: usize,
        selectors: &'a [(usize, Width)],
    ) -> Self {
        let (dirty, used, doubt) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()), Cell::new(false));
        Self { network, flow, view, pid, kind, newborn: &[], selectors, dirty, used, doubt }
    }

    fn owner(&self) -> u16 {
        self.pid.map_or(NOBODY, |pid| pid as u16 + 1)
    }

    fn span(&self, scope: Scope, from: usize, to: usize) -> Span {
        let owner = if scope == Scope::Global { 0 } else { self.owner() };
        Span { owner, from: from as u32, to: to as u32 }
    }

    /// The value of an expression, if it is known.
    fn constant(&self, expr: &Expr) -> Option<i32> {
        match expr {
            Expr::Constant(value) => Some(*value),
            Expr::Pid => self.pid.map(|pid| pid as i32),
            Expr::Load(place) => self.load(place),
            Expr::Unary(op, a) => {
                let a = self.constant(a)?;
                Some(match op {
                    UnaryOp::Not => i32::from(a == 0),
                    UnaryOp::Minus => a.wrapping_neg(),
                    UnaryOp::Complement => !a,
                })
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                arithmetic(*op, a, b)
            }
            _ => None,
        }
    }

    fn load(&self, place: &Place) -> Option<i32> {
        let (from, to, is_exact) = self.range(place);
        if !is_exact {
            return None;
        }
        match (place.scope, self.pid) {
            (Scope::Global, _) => self
                .flow
                .is_stable(Scope::Global, self.kind, from, to)
                .then(|| self.view.load(Scope::Global, 0, from, place.width)),
            (Scope::Local, None) => match self.newborn_at(place)? {
                Newborn::Number(value) => Some(value),
                Newborn::Fresh => None,
            },
            (Scope::Local, Some(pid)) => {
                let value = || self.view.load(Scope::Local, pid, from, place.width);
                if self.flow.is_constant(self.kind, from, to) {
                    return Some(value());
                }
                let span = self.span(Scope::Local, from, to);
                let is_selector = self.selectors.contains(&(from, place.width));
                let is_known = is_selector && !self.dirty.borrow().iter().any(|d| d.meets(&span));
                is_known.then(|| {
                    self.used.borrow_mut().push(span);
                    value()
                })
            }
        }
    }

    fn newborn_at(&self, place: &Place) -> Option<Newborn> {
        let found = self.newborn.iter().find(|(offset, _)| *offset == place.offset)?;
        place.indices.is_empty().then_some(found.1)
    }

    /// What is known of a process that this one starts.
    pub(super) fn newborn_of(&self, run: &Run) -> Vec<(usize, Newborn)> {
        let kind = &self.network.processes[run.kind];
        let mut known = Vec::new();
        for (place, argument) in kind.parameters.iter().zip(&run.arguments) {
            let end = place.offset + place.width.bytes();
            if !self.flow.is_constant(run.kind, place.offset, end) {
                continue;
            }
            let is_fresh = matches!(argument, Expr::Load(p)
                if p.scope == Scope::Local && self.pid.is_none() && self.newborn_at(p) == Some(Newborn::Fresh));
            match self.constant(argument) {
                Some(value) => known.push((place.offset, Newborn::Number(place.width.cut(value)))),
                None if is_fresh => known.push((place.offset, Newborn::Fresh)),
                None => {}
            }
        }
        for Initialiser { place, initial } in &kind.initialisers {
            let end = place.offset + place.width.bytes();
            if matches!(initial, Initial::Channel(_)) && self.flow.is_constant(run.kind, place.offset, end) {
                known.push((place.offset, Newborn::Fresh));
            }
        }
        known
    }

    /// The bytes where a place may be, and whether that is exactly one scalar.
    fn range(&self, place: &Place) -> (usize, usize, bool) {
        let (mut from, mut reach) = (place.offset, 0);
        for index in &place.indices {
            let value = self.constant(&index.value).and_then(|v| usize::try_from(v).ok());
            match value.filter(|&v| v < index.length) {
                Some(i) => from += i * index.stride,
                None => {
                    reach += (index.length - 1) * index.stride;
                    self.doubt.set(true);
                }
            }
        }
        (from, from + reach + place.width.bytes(), reach == 0)
    }

    /// The channels that an expression may name.
    fn channels(&self, expr: &Expr) -> Channels {
        let n_channels = self.view.n_channels();
        let mut channels = Channels::default();
        if let Some(number) = self.constant(expr) {
            channels.insert(number, n_channels);
            return channels;
        }
        let Expr::Load(place) = expr else { return Channels::ANY };
        if self.pid.is_none() && place.scope == Scope::Local {
            return self.newborn_at(place).map_or(Channels::ANY, |_| Channels::FRESH);
        }
        let (from, to) = (place.offset, end_of(place));
        let is_known = self.flow.is_stable(place.scope, self.kind, from, to)
            && (place.scope == Scope::Global || self.pid.is_some());
        if !is_known || place.width.bytes() != 1 {
            return Channels::ANY;
        }
        // Any element of an array of channels. Bytes of other fields in between do no harm.
        let elements = self.elements(place);
        for offset in elements {
            let number = self.view.load(place.scope, self.pid.unwrap_or(0), offset, place.width);
            channels.insert(number, n_channels);
        }
        channels
    }

    /// The offsets that a place may have.
    fn elements(&self, place: &Place) -> Vec<usize> {
        let mut offsets = vec![place.offset];
        for index in &place.indices {
            let value = self.constant(&index.value).and_then(|v| usize::try_from(v).ok());
            let values: Vec<usize> = match value.filter(|&v| v < index.length) {
                Some(i) => vec![i],
                None => (0..index.length).collect(),
            };
            offsets = offsets.iter().flat_map(|o| values.iter().map(move |i| o + i * index.stride)).collect();
        }
        offsets
    }

    /// The buffered, and the rendezvous channels among some.
    fn sorts(&self, channels: &Channels) -> (Channels, Channels) {
        // A message may have the wrong number of fields only if the channel is not known, or could be another.
        if channels.single().is_none() {
            self.doubt.set(true);
        }
        let capacity = |number: i32| {
            self.view.channel_kind(number).map_or(0, |kind| self.network.channels[kind].capacity)
        };
        let all = &self.network.channels;
        let n = self.view.n_channels();
        (
            channels.filter(n, |c| capacity(c) > 0, all.iter().any(|c| c.capacity > 0)),
            channels.filter(n, |c| capacity(c) == 0, all.iter().any(|c| c.capacity == 0)),
        )
    }

    /// What evaluating an expression looks at.
    fn reads(&self, expr: &Expr, out: &mut Vec<Read>) {
        expr.walk(&mut |expr| match expr {
            Expr::Binary(BinaryOp::Divide | BinaryOp::Modulo, _, b)
                if self.constant(b).is_none_or(|b| b == 0) =>
            {
                self.doubt.set(true);
            }
            Expr::Load(place) => self.read_place(place, out),
            Expr::Channel(_, channel) => {
                let channels = self.channels(channel);
                if channels.single().is_none() {
                    self.doubt.set(true);
                }
                out.push(Read::Contents(channels));
            }
            Expr::Enabled(_) => {
                self.doubt.set(true);
                out.push(Read::Everything);
            }
            Expr::Poll { channel, .. } => {
                let channels = self.channels(channel);
                // A rendezvous channel cannot be polled.
                if !self.sorts(&channels).1.is_empty() {
                    self.doubt.set(true);
                }
                out.push(Read::Contents(channels));
            }
            Expr::ProcessCount => out.push(Read::Population),
            Expr::Timeout | Expr::NonProgress | Expr::Accepting | Expr::PcValue(_) | Expr::Priority(_) => {
                out.push(Read::Everything)
            }
            Expr::RemoteLocation { kind, process, .. } | Expr::RemoteLoad { kind, process, .. } => {
                out.push(Read::Population);
                let pid =
                    process.as_ref().and_then(|p| self.constant(p)).and_then(|p| usize::try_from(p).ok());
                match pid {
                    Some(pid) => out.push(Read::Process(pid)),
                    // Without a number, or with one that is not known: any process may be asked.
                    None if process.is_none() => out.push(Read::Kind(*kind)),
                    None => out.push(Read::Everything),
                }
            }
            _ => {}
        });
    }

    fn read_place(&self, place: &Place, out: &mut Vec<Read>) {
        let (from, to, _) = self.range(place);
        if !self.flow.is_stable(place.scope, self.kind, from, to) {
            out.push(Read::Cells(self.span(place.scope, from, to)));
        }
    }
}

fn arithmetic(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Subtract => a.wrapping_sub(b),
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide | BinaryOp::Modulo if b == 0 => return None,
        BinaryOp::Divide => a.wrapping_div(b),
        BinaryOp::Modulo => a.wrapping_rem(b),
        BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Equal
        | BinaryOp::NotEqual => i32::from(super::accord::compares(op, a, b)),
        BinaryOp::And => i32::from(a != 0 && b != 0),
        BinaryOp::Or => i32::from(a != 0 || b != 0),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => return None,
    })
}

/// Which rendezvous each process may want at each location, and with which steps.
pub(super) trait Partners {
    /// What a process would take at a location.
    fn wants(&self, pid: usize, location: LocationId) -> Channels;
    /// The steps with which other processes than `pid` may take what is offered on `channels`.
    fn takers(&self, pid: Option<usize>, channels: &Channels) -> Vec<(usize, LocationId, usize)>;
}

/// Nobody wants anything: to find out what they want.
pub(super) struct NoPartners;

impl Partners for NoPartners {
    fn wants(&self, _: usize, _: LocationId) -> Channels {
        Channels::default()
    }

    fn takers(&self, _: Option<usize>, _: &Channels) -> Vec<(usize, LocationId, usize)> {
        Vec::new()
    }
}

/// The channels on which an action may take part in a rendezvous as the receiver.
pub(super) fn wanted(known: &Known<'_>, action: &Action) -> Channels {
    match action {
        Action::Receive { channel, .. } => known.sorts(&known.channels(channel)).1,
        Action::Sequence(entry) => {
            let mut all = Channels::default();
            for step in &known.network.processes[known.kind].locations[entry.index()].steps {
                all.union(&wanted(known, &step.action));
            }
            all
        }
        _ => Channels::default(),
    }
}

/// Makes the touch of the transitions of a process that begin with a step.
pub(super) fn touch(known: &Known<'_>, location: LocationId, step: usize, partners: &dyn Partners) -> Touch {
    let mut builder = Builder { known, partners, touch: Touch::default() };
    builder.transition(location, step);
    builder.touch.may_fail |= known.doubt.get();
    builder.touch
}

/// The clauses of an expression that must hold (or must not), seen from outside the processes.
pub(super) fn check(known: &Known<'_>, expr: &Expr, is_positive: bool) -> Touch {
    let mut builder = Builder { known, partners: &NoPartners, touch: Touch::default() };
    builder.touch.guard = builder.clauses(expr, is_positive);
    builder.touch
}

struct Builder<'a> {
    known: &'a Known<'a>,
    partners: &'a dyn Partners,
    touch: Touch,
}

impl Builder<'_> {
    fn steps(&self, location: LocationId) -> &[Step] {
        &self.known.network.processes[self.known.kind].locations[location.index()].steps
    }

    fn transition(&mut self, location: LocationId, index: usize) {
        let known = self.known;
        let network = known.network;
        let id = StepId(network.first_step(known.kind, location).0 + index as u32);
        let run = &known.flow.runs[id.0 as usize];
        let step = &network.processes[known.kind].locations[location.index()].steps[index];
        // The guard is asked before anything is written.
        self.guard(location, index);
        if known.doubt.get() {
            self.find_risks(location, index);
        }
        self.mark_dirty(step, run);
        self.mentions(step);
        self.effects(&step.action, false);
        self.reset(&step.resets);
        self.moves(location, id);
        for &(at, i) in run {
            let step = &network.processes[known.kind].locations[at.index()].steps[i];
            self.mentions(step);
            self.inner(&step.action);
            self.reset(&step.resets);
        }
        self.touch.has_loop |= has_loop(known, step, run);
        if let Some(provided) = network.processes[known.kind].provided.as_ref().filter(|_| !run.is_empty()) {
            self.read(provided);
        }
    }

    /// Locals that the transition writes are not known while it goes on.
    fn mark_dirty(&mut self, step: &Step, run: &[(LocationId, usize)]) {
        if self.known.selectors.is_empty() {
            return;
        }
        let network = self.known.network;
        let locations = &network.processes[self.known.kind].locations;
        let mut actions = vec![&step.action];
        actions.extend(run.iter().map(|&(at, i)| &locations[at.index()].steps[i].action));
        let is_single = run.is_empty() && !matches!(step.action, Action::Sequence(_));
        let mut dirty = Vec::new();
        let mut done = Vec::new();
        while let Some(action) = actions.pop() {
            if let Action::Sequence(entry) = action
                && !done.contains(entry)
            {
                done.push(*entry);
                let mut work = vec![*entry];
                let mut seen = vec![*entry];
                while let Some(at) = work.pop() {
                    for step in &locations[at.index()].steps {
                        actions.push(&step.action);
                        if step.next != LocationId::EXIT && !seen.contains(&step.next) {
                            seen.push(step.next);
                            work.push(step.next);
                        }
                    }
                }
            }
            for place in action.targets().into_iter().filter(|p| p.scope == Scope::Local) {
                dirty.push(self.known.span(Scope::Local, place.offset, end_of(place)));
            }
        }
        // A receive may bind a variable that is an index of the next field.
        if !is_single || matches!(step.action, Action::Receive { .. }) {
            *self.known.dirty.borrow_mut() = dirty;
        }
    }

    fn moves(&mut self, from: LocationId, step: StepId) {
        let Some(pid) = self.known.pid else { return self.moves_of_nobody(from) };
        let to = self.known.flow.stops[step.0 as usize].clone();
        let mut wants_after = Channels::default();
        to.iter().for_each(|&l| wants_after.union(&self.partners.wants(pid, l)));
        let wants_before = self.partners.wants(pid, from);
        self.touch.ops.push(Op::Move { pid, from, to, wants_before, wants_after });
    }

    /// A process that does not exist yet may want whatever its kind ever wants.
    fn moves_of_nobody(&mut self, from: LocationId) {
        let mut wants = Channels::default();
        for (_, step) in self.known.network.steps_of(self.known.kind) {
            wants.union(&wanted(self.known, &step.action));
        }
        let (wants_before, wants_after) = (wants, wants);
        self.touch.ops.push(Op::Move { pid: usize::MAX, from, to: Vec::new(), wants_before, wants_after });
    }

    /// What the first step waits for.
    fn guard(&mut self, location: LocationId, index: usize) {
        let known = self.known;
        let steps = &known.network.processes[known.kind].locations[location.index()].steps;
        let step = &steps[index];
        let mut guard = self.action_guard(location, &step.action, index);
        for escape in steps[..index].iter().filter(|s| s.escape != 0 && s.escape != step.escape) {
            guard.extend(self.not(location, &escape.action));
        }
        if let Some(provided) = &known.network.processes[known.kind].provided {
            guard.extend(self.clauses(provided, true));
        }
        self.touch.guard.append(&mut guard);
    }

    /// What decides whether evaluating the guard goes wrong: indices, divisors and channels; and whether it is
    /// evaluated at all, which `provided` and the escapes before it tell.
    fn find_risks(&mut self, location: LocationId, index: usize) {
        let known = self.known;
        let mut risks = Vec::new();
        self.guard_risks(&self.steps(location)[index].action, &mut risks);
        let provided = known.network.processes[known.kind].provided.as_ref();
        provided.iter().flat_map(|expr| expr.risks()).for_each(|expr| known.reads(expr, &mut risks));
        if risks.is_empty() {
            return;
        }
        provided.iter().for_each(|expr| known.reads(expr, &mut risks));
        let steps = &known.network.processes[known.kind].locations[location.index()].steps;
        for escape in steps[..index].iter().filter(|s| s.escape != 0) {
            let clauses = self.action_guard(location, &escape.action, 0);
            risks.extend(clauses.into_iter().flatten().flat_map(reads_of));
        }
        self.touch.risks = risks;
    }

    fn guard_risks(&self, action: &Action, out: &mut Vec<Read>) {
        let known = self.known;
        match action {
            Action::Guard(expr) => expr.risks().into_iter().for_each(|expr| known.reads(expr, out)),
            Action::Send { channel, .. } => known.reads(channel, out),
            Action::Receive { channel, fields, .. } => {
                known.reads(channel, out);
                let is_risky = |field: &Pattern| matches!(field, Pattern::Match(expr) if expr.may_fail());
                if fields.iter().any(is_risky) {
                    // Which values are compared depends on the message.
                    out.push(Read::Contents(known.channels(channel)));
                    self.pattern_reads(fields, out);
                }
            }
            Action::Sequence(entry) => {
                self.steps(*entry).iter().for_each(|step| self.guard_risks(&step.action, out));
            }
            _ => {}
        }
    }

    fn action_guard(&mut self, location: LocationId, action: &Action, index: usize) -> Vec<Clause> {
        match action {
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::SetPriority(..)
            | Action::Run(_) => Vec::new(),
            Action::Guard(expr) => self.clauses(expr, true),
            Action::Else => {
                let known = self.known;
                let steps = &known.network.processes[known.kind].locations[location.index()].steps;
                steps[..index].iter().flat_map(|s| self.not(location, &s.action)).collect()
            }
            Action::Send { channel, fields, .. } => {
                let (buffered, rendezvous) = self.known.sorts(&self.known.channels(channel));
                let mut clause = Vec::new();
                if !buffered.is_empty() {
                    clause.push(self.channel_literal(Test::NotFull(buffered), channel, ChannelTest::NotFull));
                }
                if !rendezvous.is_empty() {
                    let mut reads = Vec::new();
                    self.known.reads(channel, &mut reads);
                    fields.iter().for_each(|f| self.known.reads(f, &mut reads));
                    for (pid, location, step) in self.partners.takers(self.known.pid, &rendezvous) {
                        self.taker_reads(pid, location, step, &mut reads);
                    }
                    let pid = self.known.pid.unwrap_or(usize::MAX);
                    clause.push(Literal {
                        test: Test::Partner { pid, channels: rendezvous },
                        reads,
                        truth: None,
                    });
                }
                vec![clause]
            }
            Action::Receive { channel, is_random, fields, .. } => {
                self.receive_guard(channel, *is_random, fields)
            }
            Action::End => match self.known.pid {
                Some(pid) => {
                    vec![vec![Literal { test: Test::Youngest(pid), reads: Vec::new(), truth: None }]]
                }
                None => vec![vec![self.other(vec![Read::Population])]],
            },
            Action::Sequence(entry) => {
                let known = self.known;
                match known.network.processes[known.kind].locations[entry.index()].steps.as_slice() {
                    [only] => self.action_guard(*entry, &only.action, 0),
                    steps => {
                        let mut reads = Vec::new();
                        let mut offered = Channels::default();
                        for (i, step) in steps.iter().enumerate() {
                            for literal in self.action_guard(*entry, &step.action, i).into_iter().flatten() {
                                reads.extend(reads_of(literal));
                            }
                            offered.union(&wanted(known, &step.action));
                        }
                        let mut clause = vec![self.other(reads)];
                        if !offered.is_empty() {
                            let pid = known.pid.unwrap_or(usize::MAX);
                            let test = Test::Offered { pid, channels: offered };
                            clause.push(Literal { test, reads: Vec::new(), truth: None });
                        }
                        vec![clause]
                    }
                }
            }
        }
    }

    fn receive_guard(&mut self, channel: &Expr, is_random: bool, fields: &[Pattern]) -> Vec<Clause> {
        let (buffered, rendezvous) = self.known.sorts(&self.known.channels(channel));
        let mut reads = Vec::new();
        self.known.reads(channel, &mut reads);
        let is_free = self.pattern_reads(fields, &mut reads);
        let mut clauses = Vec::new();
        if !buffered.is_empty() {
            let poll = Expr::Poll { channel: Box::new(channel.clone()), is_random, fields: fields.to_vec() };
            if is_random && !is_free {
                let truth = Some((poll, true));
                clauses.push(vec![Literal { test: Test::SomeMatches(buffered), reads, truth }]);
            } else {
                let not_empty =
                    self.channel_literal(Test::NotEmpty(buffered), channel, ChannelTest::NotEmpty);
                clauses.push(vec![not_empty]);
                if !is_free {
                    let empty = Expr::Channel(ChannelTest::Empty, Box::new(channel.clone()));
                    let truth = Expr::Binary(BinaryOp::Or, Box::new(empty), Box::new(poll));
                    let truth = Some((truth, true));
                    clauses.push(vec![Literal { test: Test::FirstMatches(buffered), reads, truth }]);
                }
            }
        }
        if !rendezvous.is_empty() {
            let pid = self.known.pid.unwrap_or(usize::MAX);
            let test = Test::Offered { pid, channels: rendezvous };
            let literal = Literal { test, reads: Vec::new(), truth: None };
            if clauses.is_empty() {
                clauses.push(vec![literal]);
            } else {
                // One or the other, but which is not known.
                clauses.iter_mut().for_each(|clause| clause.push(literal.clone()));
            }
        }
        clauses
    }

    /// What the values that a message must have depend on; whether there are none.
    fn pattern_reads(&self, fields: &[Pattern], reads: &mut Vec<Read>) -> bool {
        let mut is_free = true;
        for field in fields {
            if let Pattern::Match(expr) = field {
                is_free = false;
                self.known.reads(expr, reads);
            }
        }
        is_free
    }

    fn taker_reads(&self, pid: usize, location: LocationId, step: usize, reads: &mut Vec<Read>) {
        let known = self.known;
        let kind = known.view.kind(pid);
        let taker = Known::new(known.network, known.flow, known.view, Some(pid), kind, &[]);
        let step = &known.network.processes[kind].locations[location.index()].steps[step];
        let mut actions = vec![&step.action];
        if let Action::Sequence(entry) = &step.action {
            actions = known.network.processes[kind].locations[entry.index()]
                .steps
                .iter()
                .map(|s| &s.action)
                .collect();
        }
        for action in actions {
            if let Action::Receive { channel, fields, .. } = action {
                taker.reads(channel, reads);
                for field in fields {
                    if let Pattern::Match(expr) = field {
                        taker.reads(expr, reads);
                    }
                }
            }
        }
        known.network.processes[kind].provided.iter().for_each(|e| taker.reads(e, reads));
        // Its own locals do not change while it waits there.
        reads.retain(|read| !matches!(read, Read::Cells(span) if usize::from(span.owner) == pid + 1));
    }

    /// That an action cannot be done.
    fn not(&mut self, location: LocationId, action: &Action) -> Vec<Clause> {
        if let Action::Guard(expr) = action {
            return self.clauses(expr, false);
        }
        let clauses = self.action_guard(location, action, 0);
        let mut literals = clauses.into_iter().flatten();
        let (Some(only), None) = (literals.next(), literals.next()) else {
            let mut reads = Vec::new();
            for literal in self.action_guard(location, action, 0).into_iter().flatten() {
                reads.extend(reads_of(literal));
            }
            return vec![vec![self.other(reads)]];
        };
        let Literal { test, reads, truth } = only;
        let truth = truth.map(|(expr, is_so)| (expr, !is_so));
        let test = match test {
            Test::NotEmpty(c) => Test::Empty(c),
            Test::NotFull(c) => Test::Full(c),
            // A rendezvous that nobody offers cannot be taken by oneself: `else` does not wait for it.
            Test::Offered { .. } => return Vec::new(),
            test => {
                let reads = reads_of(Literal { test, reads, truth: None });
                return vec![vec![Literal { test: Test::Other, reads, truth }]];
            }
        };
        vec![vec![Literal { test, reads, truth }]]
    }

    fn other(&self, reads: Vec<Read>) -> Literal {
        Literal { test: Test::Other, reads, truth: None }
    }

    fn channel_literal(&self, test: Test, channel: &Expr, asked: ChannelTest) -> Literal {
        let mut reads = Vec::new();
        self.known.reads(channel, &mut reads);
        Literal { test, reads, truth: Some((Expr::Channel(asked, Box::new(channel.clone())), true)) }
    }

    /// An expression that must hold (or must not) in conjunctive normal form.
    fn clauses(&mut self, expr: &Expr, is_positive: bool) -> Vec<Clause> {
        let known = self.known;
        if let Some(value) =
            known.constant(expr).filter(|_| known.used.borrow().is_empty() || known.selectors.is_empty())
        {
            // A clause without a literal never holds.
            return if (value != 0) == is_positive { Vec::new() } else { vec![Vec::new()] };
        }
        match expr {
            Expr::Unary(UnaryOp::Not, a) => self.clauses(a, !is_positive),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let (a, b) = (self.clauses(a, is_positive), self.clauses(b, is_positive));
                if (*op == BinaryOp::And) == is_positive {
                    return a.into_iter().chain(b).collect();
                }
                if a.len() * b.len() > MOST_CLAUSES {
                    return vec![vec![self.whole(expr, is_positive)]];
                }
                let product = a.iter().flat_map(|x| b.iter().map(|y| [x.clone(), y.clone()].concat()));
                product.collect()
            }
            Expr::Timeout => {
                self.touch.is_timeout |= is_positive;
                Vec::new()
            }
            Expr::Poll { channel, is_random, fields } if is_positive => {
                let (buffered, rendezvous) = known.sorts(&known.channels(channel));
                if buffered.is_empty() || !rendezvous.is_empty() {
                    return vec![vec![self.whole(expr, is_positive)]];
                }
                self.receive_guard(channel, *is_random, fields)
            }
            _ => vec![vec![self.literal(expr, is_positive)]],
        }
    }

    /// A fact that is looked at as a whole.
    fn whole(&self, expr: &Expr, is_positive: bool) -> Literal {
        let mut reads = Vec::new();
        self.known.reads(expr, &mut reads);
        Literal { test: Test::Other, reads, truth: Some((expr.clone(), is_positive)) }
    }

    fn literal(&self, expr: &Expr, is_positive: bool) -> Literal {
        let test = match expr {
            Expr::Load(place) => self.compare(place, BinaryOp::NotEqual, 0),
            Expr::Binary(op, a, b) => self.comparison(*op, a, b),
            Expr::Channel(test, channel) => {
                let channels = self.known.channels(channel);
                channels.single().and_then(|_| match test {
                    ChannelTest::Empty => Some((Test::Empty(channels), self.channel_reads(channel))),
                    ChannelTest::NotEmpty => Some((Test::NotEmpty(channels), self.channel_reads(channel))),
                    ChannelTest::Full => Some((Test::Full(channels), self.channel_reads(channel))),
                    ChannelTest::NotFull => Some((Test::NotFull(channels), self.channel_reads(channel))),
                    ChannelTest::Len => None,
                })
            }
            Expr::RemoteLocation { process: Some(process), location, .. } => {
                let pid = self.known.constant(process).and_then(|p| usize::try_from(p).ok());
                pid.map(|pid| (Test::At { pid, location: *location, is_there: true }, vec![Read::Population]))
            }
            _ => None,
        };
        let Some((test, reads)) = test else { return self.whole(expr, is_positive) };
        let test = if is_positive { Some(test) } else { negated(test) };
        let Some(test) = test else { return self.whole(expr, is_positive) };
        Literal { test, reads, truth: Some((expr.clone(), is_positive)) }
    }

    fn channel_reads(&self, channel: &Expr) -> Vec<Read> {
        let mut reads = Vec::new();
        self.known.reads(channel, &mut reads);
        reads
    }

    fn comparison(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<(Test, Vec<Read>)> {
        if !is_comparison(op) {
            return None;
        }
        let is_used = self.known.used.borrow().len();
        match (a, b) {
            (Expr::Load(place), value) | (value, Expr::Load(place)) => {
                let value = self.known.constant(value);
                // The constant may be a local in the state at hand: then the fact depends on that, too.
                let used: Vec<Read> =
                    self.known.used.borrow()[is_used..].iter().map(|span| Read::Cells(*span)).collect();
                let op = if matches!(a, Expr::Load(p) if p == place) { op } else { mirrored(op) };
                let (test, mut reads) = self.compare(place, op, value?)?;
                reads.extend(used);
                Some((test, reads))
            }
            _ => None,
        }
    }

    fn compare(&self, place: &Place, op: BinaryOp, value: i32) -> Option<(Test, Vec<Read>)> {
        let is_used = self.known.used.borrow().len();
        let (from, to, is_exact) = self.known.range(place);
        let used = self.known.used.borrow()[is_used..].iter().map(|span| Read::Cells(*span)).collect();
        let cell = self.known.span(place.scope, from, to);
        is_exact.then_some((Test::Compare { cell, width: place.width, op, value }, used))
    }

    fn read(&mut self, expr: &Expr) {
        let mut reads = Vec::new();
        self.known.reads(expr, &mut reads);
        self.touch.ops.extend(reads.into_iter().map(Op::Read));
    }

    /// What a step mentions has no effect, but it may go wrong.
    fn mentions(&mut self, step: &Step) {
        // The doubts of the whole, and what they depend on.
        step.mentions.iter().for_each(|expr| self.known.reads(expr, &mut Vec::new()));
        step.risks().into_iter().for_each(|expr| self.read(expr));
    }

    /// What a later step of an atomic sequence waits for decides how far the transition goes.
    fn inner(&mut self, action: &Action) {
        match action {
            Action::Guard(expr) => self.read(expr),
            Action::End => self.touch.ops.push(Op::Read(Read::Population)),
            _ => {}
        }
        self.effects(action, true);
    }

    /// What an action does.
    fn effects(&mut self, action: &Action, is_inner: bool) {
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
                self.read(channel);
                self.count_fields(channel, fields.len());
                for field in fields {
                    match field {
                        Pattern::Match(expr) => self.read(expr),
                        Pattern::Bind(place) => self.write(place, Effect::Any),
                        Pattern::Ignore => {}
                    }
                }
                let op = match (is_copy, is_random) {
                    (true, _) => ChannelOp::Copy,
                    (false, true) => ChannelOp::ReceiveRandom,
                    (false, false) => ChannelOp::Receive,
                };
                let (buffered, _) = self.known.sorts(&self.known.channels(channel));
                self.queue(buffered, op, is_inner);
                self.watch(channel);
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
            let steps = &known.network.processes[kind].locations[location.index()].steps;
            let run = &known.flow.runs[id.0 as usize];
            builder.inner_of(&steps[step].action);
            builder.reset(&steps[step].resets);
            builder.moves(location, id);
            for &(at, i) in run {
                // An offer in the sequence of a taker: whoever takes that is not followed further.
                let step = &known.network.processes[kind].locations[at.index()].steps[i];
                if wants_everything(&step.action, &taker) {
                    builder.touch.ops.push(Op::Read(Read::Everything));
                } else {
                    builder.mentions(step);
                    builder.inner(&step.action);
                    builder.reset(&step.resets);
                }
            }
            self.touch.has_loop = true;
            self.touch.may_fail |= builder.touch.may_fail || taker.doubt.get();
            self.touch.ops.append(&mut builder.touch.ops);
        }
    }

    /// A taker's own step: what it binds, and what must match.
    fn inner_of(&mut self, action: &Action) {
        match action {
            Action::Receive { channel, fields, .. } => {
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
            other => self.effects(other, true),
        }
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
        self.touch.may_fail = true;
        let mut seen = vec![entry];
        let mut work = vec![entry];
        while let Some(at) = work.pop() {
            let steps = self.steps(at).to_vec();
            for step in &steps {
                self.mentions(step);
                self.inner(&step.action);
                self.reset(&step.resets);
                if step.next != LocationId::EXIT && !seen.contains(&step.next) {
                    seen.push(step.next);
                    work.push(step.next);
                }
            }
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

    fn reset(&mut self, places: &[Place]) {
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

/// Everything that a literal depends on.
fn reads_of(literal: Literal) -> Vec<Read> {
    let mut reads = literal.reads;
    match literal.test {
        Test::Compare { cell, .. } => reads.push(Read::Cells(cell)),
        Test::NotEmpty(c)
        | Test::Empty(c)
        | Test::NotFull(c)
        | Test::Full(c)
        | Test::FirstMatches(c)
        | Test::SomeMatches(c) => reads.push(Read::Contents(c)),
        Test::At { pid, .. } => reads.extend([Read::Process(pid), Read::Population]),
        Test::Youngest(_) => reads.push(Read::Population),
        Test::Partner { .. } => reads.push(Read::Everything),
        Test::Offered { .. } | Test::Other => {}
    }
    reads
}

fn negated(test: Test) -> Option<Test> {
    Some(match test {
        Test::Compare { cell, width, op, value } => {
            let op = match op {
                BinaryOp::Less => BinaryOp::GreaterEqual,
                BinaryOp::LessEqual => BinaryOp::Greater,
                BinaryOp::Greater => BinaryOp::LessEqual,
                BinaryOp::GreaterEqual => BinaryOp::Less,
                BinaryOp::Equal => BinaryOp::NotEqual,
                _ => BinaryOp::Equal,
            };
            Test::Compare { cell, width, op, value }
        }
        Test::NotEmpty(c) => Test::Empty(c),
        Test::Empty(c) => Test::NotEmpty(c),
        Test::NotFull(c) => Test::Full(c),
        Test::Full(c) => Test::NotFull(c),
        Test::At { pid, location, is_there } => Test::At { pid, location, is_there: !is_there },
        _ => return None,
    })
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual
    )
}

/// The operator with its sides exchanged.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    }
}

/// Whether a run may come to a location twice: it can lose its locations one by one, always one that no other
/// leads to, unless there is a loop.
fn has_loop(known: &Known<'_>, first: &Step, run: &[(LocationId, usize)]) -> bool {
    let locations = &known.network.processes[known.kind].locations;
    let mut left: BTreeSet<LocationId> = run.iter().map(|(at, _)| *at).collect();
    let mut edges: Vec<(LocationId, LocationId)> = Vec::new();
    for &(at, i) in run {
        let step = &locations[at.index()].steps[i];
        if step.is_atomic {
            edges.push((at, step.next));
        }
    }
    debug_assert!(run.is_empty() || left.contains(&first.next));
    while let Some(&free) =
        left.iter().find(|at| !edges.iter().any(|(from, to)| to == *at && left.contains(from)))
    {
        left.remove(&free);
    }
    !left.is_empty()
}
