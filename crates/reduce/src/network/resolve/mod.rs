//! From the steps of a process to what its transitions wait for and do.
//!
//! What is known of a process decides how exact the answer is: its number; variables that no step writes, such
//! as most parameters; and, for a process that a stubborn set keeps where it is, its locals in the state at
//! hand, as long as the transition itself does not write them.
//!
//! [`known`] answers what is known, [`guard`] says what a step waits for, [`effects`] what it does; this file puts
//! the transitions of a process together from their steps.

mod effects;
mod guard;
mod known;

pub(super) use known::{Known, Newborn};

use super::channels::Channels;
use super::flow::end_of;
use super::touch::{Op, Touch, Wants};
use rustc_hash::FxHashSet;
use stubborn_network::{Action, Expr, LocationId, Scope, Step, StepId, Width};

/// The local variables whose values say which cells and channels a transition is about.
pub(super) type Selectors = Vec<(usize, Width)>;

/// Ops that are too many to compare each with all others.
const MANY: usize = 12;

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
    // Once is enough, but for what is counted.
    let ops = &mut builder.touch.ops;
    let is_counted = |op: &Op| matches!(op, Op::Channel { .. });
    if ops.len() > MANY {
        let mut known = FxHashSet::default();
        let is_new: Vec<bool> = ops.iter().map(|op| is_counted(op) || known.insert(op)).collect();
        let mut is_new = is_new.into_iter();
        ops.retain(|_| is_new.next().unwrap_or(true));
    } else {
        for i in (1..ops.len()).rev() {
            if !is_counted(&ops[i]) && ops[..i].contains(&ops[i]) {
                ops.remove(i);
            }
        }
    }
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
        let has_loop = known.flow.loops[id.0 as usize];
        self.touch.has_loop |= has_loop;
        self.touch.may_go_round |= has_loop;
        if let Some(provided) = network.processes[known.kind].provided.as_ref().filter(|_| !run.is_empty()) {
            self.read(provided);
        }
    }

    /// Locals that the transition writes are not known while it goes on.
    fn mark_dirty(&mut self, step: &Step, run: &[(LocationId, usize)]) {
        if self.known.selectors.is_empty() {
            return;
        }
        let known = self.known;
        let mut steps = vec![step];
        steps.extend(run.iter().map(|&(at, i)| &known.steps(at)[i]));
        let is_single = run.is_empty() && !matches!(step.action, Action::Sequence(_));
        let mut dirty = Vec::new();
        let mut done = Vec::new();
        while let Some(Step { action, .. }) = steps.pop() {
            if let Action::Sequence(entry) = action
                && !done.contains(entry)
            {
                done.push(*entry);
                steps.extend(known.steps_within(*entry));
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
        self.touch.ops.push(Op::Move { pid, from, to, wants: Wants::new(wants_before, wants_after) });
    }

    /// A process that does not exist yet may want whatever its kind ever wants.
    fn moves_of_nobody(&mut self, from: LocationId) {
        let known = self.known;
        let wants = known.wants_ever.get_or_init(|| {
            let mut wants = Channels::default();
            let steps = known.network.steps_of(known.kind);
            steps.for_each(|(_, step)| wants.union(&wanted(known, &step.action)));
            Wants::new(wants, wants)
        });
        let (to, wants) = (known.flow.nowhere.clone(), wants.clone());
        self.touch.ops.push(Op::Move { pid: usize::MAX, from, to, wants });
    }
}
