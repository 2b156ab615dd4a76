//! Actions: how a state changes. Whether an action can be done is asked first, in `evaluate`.

use crate::evaluate::Evaluator;
use crate::frame::{Frame, Segment};
use crate::{Action, Expr, Initial, Initialiser, LocationId, Pattern, Place, Run, Step, Trouble};

/// Steps after which a sequence that is one step counts as endless.
const LONGEST_SEQUENCE: usize = 1_000_000;

/// What a step may know besides the state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moment {
    /// Whether nothing else can happen.
    pub(crate) is_timeout: bool,
    /// Whether a step listed earlier at the location can be done.
    pub(crate) has_moved: bool,
}

impl<'n> Frame<'n> {
    /// Evaluates as process `pid`.
    pub(crate) fn evaluator<'a>(
        &'a self,
        pid: usize,
        moment: Moment,
        troubles: &'a mut Vec<Trouble>,
    ) -> Evaluator<'a, 'n> {
        let Moment { is_timeout, has_moved } = moment;
        Evaluator { frame: self, pid, is_timeout, has_moved, started: 0, troubles }
    }

    /// Does an action that can be done and is no rendezvous. An error means that it cannot be done after
    /// all; the state is then of no use.
    pub(crate) fn perform(
        &mut self,
        pid: usize,
        action: &Action,
        moment: Moment,
        troubles: &mut Vec<Trouble>,
    ) -> Result<(), Trouble> {
        match action {
            Action::Skip | Action::Guard(_) | Action::Else => {}
            Action::Assign(place, expr) => {
                let value = self.evaluator(pid, moment, troubles).value(expr);
                self.assign(pid, place, value, moment, troubles);
            }
            Action::Assert(expr) => {
                if !self.evaluator(pid, moment, troubles).holds(expr) {
                    troubles.push(Trouble::Assertion);
                }
            }
            Action::Send { channel, is_sorted, fields } => {
                let (channel, message) = self.message_to_send(pid, channel, fields, moment, troubles)?;
                if self.network.channels[channel.kind].capacity == 0 {
                    return Err(Trouble::RendezvousInSequence);
                }
                let slot = self.place_to_insert(channel, *is_sorted, &message);
                self.insert(channel, slot, &message);
                let last = self.message(channel, self.n_messages(channel) - 1);
                self.watch(true, channel.offset, &last, troubles);
            }
            Action::Receive { channel, is_random, is_copy, fields } => {
                let mut evaluator = self.evaluator(pid, moment, troubles);
                let channel = evaluator.channel(channel).ok_or(Trouble::NoChannel)?;
                let slot = evaluator.find_message(channel, *is_random, fields);
                let slot = slot.expect("asked before");
                let message = self.message(channel, slot);
                self.bind(pid, fields, &message, moment, troubles);
                if !is_copy {
                    let first = self.message(channel, 0);
                    self.watch(false, channel.offset, &first, troubles);
                    self.remove(channel, slot);
                }
            }
            Action::Run(run) => self.run(pid, run, moment, troubles)?,
            Action::SetPriority(process, priority) => {
                let mut evaluator = self.evaluator(pid, moment, troubles);
                let (process, priority) = (evaluator.value(process), evaluator.value(priority));
                self.change_priority(process, priority, troubles);
            }
            Action::End => self.bury(),
            Action::Sequence(entry) => self.sequence(pid, *entry, moment, troubles)?,
        }
        Ok(())
    }

    /// Evaluates what a step mentions: it may go wrong.
    pub(crate) fn mention(&self, pid: usize, step: &Step, moment: Moment, troubles: &mut Vec<Trouble>) {
        let mut evaluator = self.evaluator(pid, moment, troubles);
        for expr in &step.mentions {
            evaluator.value(expr);
        }
    }

    /// Assigns a value; an index out of range is an event, and then nothing is assigned.
    pub(crate) fn assign(
        &mut self,
        pid: usize,
        place: &Place,
        value: i32,
        moment: Moment,
        troubles: &mut Vec<Trouble>,
    ) {
        let target = self.evaluator(pid, moment, troubles).target(place);
        if let Some((scope, offset)) = target {
            self.store(scope, pid, offset, place.width, value);
        }
    }

    /// Sets places to zero.
    pub(crate) fn reset(&mut self, pid: usize, places: &[Place]) {
        for place in places {
            self.store(place.scope, pid, place.offset, place.width, 0);
        }
    }

    /// The channel and the message of a send, each field an `int` still.
    pub(crate) fn message_to_send(
        &self,
        pid: usize,
        channel: &Expr,
        fields: &[Expr],
        moment: Moment,
        troubles: &mut Vec<Trouble>,
    ) -> Result<(Segment, Vec<i32>), Trouble> {
        let mut evaluator = self.evaluator(pid, moment, troubles);
        let channel = evaluator.channel(channel).ok_or(Trouble::NoChannel)?;
        let mut message: Vec<i32> = fields.iter().map(|field| evaluator.value(field)).collect();
        let expected = self.network.channels[channel.kind].fields.len();
        if message.len() != expected {
            troubles.push(Trouble::WrongArity { expected, found: message.len() });
            message.resize(expected, 0);
        }
        Ok((channel, message))
    }

    /// The slot before which a message goes: a sorted one before the first that is larger, compared field
    /// by field from the left, as numbers before they are cut to size.
    pub(crate) fn place_to_insert(&self, channel: Segment, is_sorted: bool, message: &[i32]) -> usize {
        let length = self.n_messages(channel);
        let is_larger = |&slot: &usize| self.message(channel, slot).as_slice() > message;
        if is_sorted { (0..length).find(is_larger).unwrap_or(length) } else { length }
    }

    /// Gives the fields of a message to a receiver, from the left; fields that it lacks are zero.
    pub(crate) fn bind(
        &mut self,
        pid: usize,
        fields: &[Pattern],
        message: &[i32],
        moment: Moment,
        troubles: &mut Vec<Trouble>,
    ) {
        if fields.len() != message.len() {
            troubles.push(Trouble::WrongArity { expected: message.len(), found: fields.len() });
        }
        let message = message.iter().copied().chain(std::iter::repeat(0));
        for (field, value) in fields.iter().zip(message) {
            if let Pattern::Bind(place) = field {
                self.assign(pid, place, value, moment, troubles);
            }
        }
    }

    fn run(
        &mut self,
        pid: usize,
        run: &Run,
        moment: Moment,
        troubles: &mut Vec<Trouble>,
    ) -> Result<(), Trouble> {
        let mut evaluator = self.evaluator(pid, moment, troubles);
        let arguments: Vec<i32> = run.arguments.iter().map(|a| evaluator.value(a)).collect();
        let child = self.spawn(run.kind, run.priority, &arguments, troubles)?;
        if let Some((place, expr)) = &run.result {
            let mut evaluator = self.evaluator(pid, moment, troubles);
            evaluator.started = child as i32;
            let value = evaluator.value(expr);
            self.assign(pid, place, value, moment, troubles);
        }
        Ok(())
    }

    /// Starts a process: parameters, then initialisers.
    pub(crate) fn spawn(
        &mut self,
        kind: usize,
        priority: u8,
        arguments: &[i32],
        troubles: &mut Vec<Trouble>,
    ) -> Result<usize, Trouble> {
        let pid = self.start(kind, priority)?;
        let process = &self.network.processes[kind];
        for (place, &value) in process.parameters.iter().zip(arguments) {
            self.store(place.scope, pid, place.offset, place.width, value);
        }
        self.initialise(pid, &process.initialisers, troubles)?;
        Ok(pid)
    }

    /// Executes initialisers.
    pub(crate) fn initialise(
        &mut self,
        pid: usize,
        initialisers: &[Initialiser],
        troubles: &mut Vec<Trouble>,
    ) -> Result<(), Trouble> {
        for initialiser in initialisers {
            if !self.open_for(initialiser, pid)?
                && let Initial::Value(expr) = &initialiser.initial
            {
                let value = self.evaluator(pid, Moment::default(), troubles).value(expr);
                self.assign(pid, &initialiser.place, value, Moment::default(), troubles);
            }
        }
        Ok(())
    }

    fn change_priority(&mut self, process: i32, priority: i32, troubles: &mut Vec<Trouble>) {
        let process = usize::try_from(process).ok().filter(|&p| p < self.processes.len());
        match (process, u8::try_from(priority)) {
            (Some(pid), Ok(priority)) if priority > 0 => self.set_priority(pid, priority),
            (None, _) => {}
            _ => troubles.push(Trouble::BadPriority),
        }
    }

    /// Does the steps of a sequence from `entry` to its exit.
    pub(crate) fn sequence(
        &mut self,
        pid: usize,
        entry: LocationId,
        moment: Moment,
        troubles: &mut Vec<Trouble>,
    ) -> Result<(), Trouble> {
        let network = self.network;
        let mut location = entry;
        for _ in 0..LONGEST_SEQUENCE {
            if location == LocationId::EXIT {
                return Ok(());
            }
            let locations = &network.processes[self.kind(pid)].locations;
            let first = self.evaluator(pid, moment, troubles).first(location);
            let step = &locations[location.index()].steps[first.ok_or(Trouble::BlockedSequence)?];
            self.mention(pid, step, moment, troubles);
            self.perform(pid, &step.action, moment, troubles)?;
            self.reset(pid, &step.resets);
            location = step.next;
        }
        Err(Trouble::EndlessSequence)
    }
}
