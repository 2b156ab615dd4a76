//! What is known of a process when its steps are resolved: values, cells, channels, and what expressions look at.
//!
//! An answer may be too coarse, never too fine: what is not known is everything that it could be.

use super::super::channels::Channels;
use super::super::flow::{Flow, end_of};
use super::super::touch::{Read, Span, Wants};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use stubborn_network::{
    BinaryOp, Expr, Index, Initial, Initialiser, LocationId, Network, Pattern, Place, Run, Scope, Step,
    UnaryOp, View, Width, arithmetic,
};

/// Owner of the locals of processes that do not exist yet.
const NOBODY: u16 = u16::MAX;

/// A local of a process that does not exist yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Newborn {
    /// It has this value.
    Number(i32),
    /// It is a channel that the process opens.
    Fresh,
}

/// What is known, and of whom.
pub(in super::super) struct Known<'a> {
    pub(super) network: &'a Network,
    pub(super) flow: &'a Flow,
    pub(super) view: &'a View<'a>,
    /// The process; `None` if it does not exist yet.
    pub(super) pid: Option<usize>,
    pub(in super::super) kind: usize,
    /// If it does not exist yet: what is known of its locals.
    pub(in super::super) newborn: &'a [(usize, Newborn)],
    /// Whether somebody will ask whether it can do something: what is told of it how to find out.
    pub(in super::super) is_asked: bool,
    /// Those of its locals that are known to be as they are.
    pub(super) selectors: &'a [(usize, Width)],
    /// Bytes of its locals that the transition writes, so that they are not known after its first step.
    pub(super) dirty: RefCell<Vec<Span>>,
    /// Locals on whose values the answer depends.
    pub(super) used: RefCell<Vec<Span>>,
    /// Whether an index may be out of range, or a channel may be none.
    pub(super) doubt: Cell<bool>,
    /// The rendezvous channels on which it may ever receive, once that was asked.
    pub(super) wants_ever: OnceCell<Option<Rc<Wants>>>,
}

impl<'a> Known<'a> {
    pub(in super::super) fn new(
        network: &'a Network,
        flow: &'a Flow,
        view: &'a View<'a>,
        pid: Option<usize>,
        kind: usize,
        selectors: &'a [(usize, Width)],
    ) -> Self {
        let (dirty, used, doubt) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()), Cell::new(false));
        Self {
            network,
            flow,
            view,
            pid,
            kind,
            newborn: &[],
            is_asked: true,
            selectors,
            dirty,
            used,
            doubt,
            wants_ever: OnceCell::new(),
        }
    }

    fn owner(&self) -> u16 {
        self.pid.map_or(NOBODY, |pid| pid as u16 + 1)
    }

    pub(super) fn span(&self, scope: Scope, from: usize, to: usize) -> Span {
        let owner = if scope == Scope::Global { 0 } else { self.owner() };
        Span { owner, from: from as u32, to: to as u32 }
    }

    /// The value of an expression, if it is known.
    pub(super) fn constant(&self, expr: &Expr) -> Option<i32> {
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
    pub(in super::super) fn newborn_of(&self, run: &Run) -> Vec<(usize, Newborn)> {
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

    /// Which element an index means, if it is known and there is one.
    fn element(&self, index: &Index) -> Option<usize> {
        let value = self.constant(&index.value).and_then(|v| usize::try_from(v).ok());
        value.filter(|&v| v < index.length)
    }

    /// The bytes where a place may be, and whether that is exactly one scalar.
    pub(super) fn range(&self, place: &Place) -> (usize, usize, bool) {
        let (mut from, mut reach) = (place.offset, 0);
        for index in &place.indices {
            match self.element(index) {
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
    pub(super) fn channels(&self, expr: &Expr) -> Channels {
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
            let values = self.element(index).map_or(0..index.length, |i| i..i + 1);
            let all = offsets.iter().flat_map(|o| values.clone().map(move |i| o + i * index.stride));
            offsets = all.collect();
        }
        offsets
    }

    /// The buffered, and the rendezvous channels among some.
    pub(super) fn sorts(&self, channels: &Channels) -> (Channels, Channels) {
        // A message may have the wrong number of fields only if the channel is not known, or could be another.
        if channels.single().is_none() {
            self.doubt.set(true);
        }
        let is_buffered = |number: i32| {
            self.view.channel_kind(number).is_some_and(|kind| self.network.channels[kind].capacity > 0)
        };
        let all = &self.network.channels;
        let unknown = (all.iter().any(|c| c.capacity > 0), all.iter().any(|c| c.capacity == 0));
        channels.sorted(self.view.n_channels(), is_buffered, unknown)
    }

    /// Whether evaluating an expression may go wrong although evaluating its parts does not, as far as is known.
    pub(super) fn is_fallible(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Load(place) => place.indices.iter().any(|index| self.element(index).is_none()),
            Expr::RemoteLoad { place, .. } => !place.indices.is_empty(),
            Expr::Binary(BinaryOp::Divide | BinaryOp::Modulo, _, by) => {
                self.constant(by).is_none_or(|by| by == 0)
            }
            // A channel of a process ends with it.
            Expr::Channel(_, channel) => {
                let is_lasting = |one: i32| {
                    self.view.channel_kind(one).is_some() && self.view.channel_owner(one).is_none()
                };
                !self.channels(channel).single().is_some_and(is_lasting)
            }
            Expr::Poll { .. } | Expr::Enabled(_) => true,
            _ => false,
        }
    }

    /// What evaluating an expression looks at.
    pub(super) fn reads(&self, expr: &Expr, out: &mut Vec<Read>) {
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

    /// The same as a list.
    pub(super) fn reads_of(&self, expr: &Expr) -> Vec<Read> {
        let mut reads = Vec::new();
        self.reads(expr, &mut reads);
        reads
    }

    /// What the values that a message must have depend on; whether there are none.
    pub(super) fn pattern_reads(&self, fields: &[Pattern], out: &mut Vec<Read>) -> bool {
        let mut is_free = true;
        for field in fields {
            if let Pattern::Match(expr) = field {
                is_free = false;
                self.reads(expr, out);
            }
        }
        is_free
    }

    /// The steps of a kind at a location.
    pub(super) fn steps(&self, location: LocationId) -> &'a [Step] {
        &self.network.processes[self.kind].locations[location.index()].steps
    }

    /// All steps of a sequence that is one step.
    pub(super) fn steps_within(&self, entry: LocationId) -> Vec<&'a Step> {
        let mut found = Vec::new();
        let mut seen = vec![entry];
        let mut work = vec![entry];
        while let Some(at) = work.pop() {
            for step in self.steps(at) {
                found.push(step);
                if step.next != LocationId::EXIT && !seen.contains(&step.next) {
                    seen.push(step.next);
                    work.push(step.next);
                }
            }
        }
        found
    }

    fn read_place(&self, place: &Place, out: &mut Vec<Read>) {
        let (from, to, _) = self.range(place);
        if !self.flow.is_stable(place.scope, self.kind, from, to) {
            out.push(Read::Cells(self.span(place.scope, from, to)));
        }
    }
}
