//! The successors of a state: the meaning of a model.
//!
//! **Implements** SPIN's plain semantics, the graph that `spin -a -o1 -o2 -o3` compiled with
//! `-DNOREDUCE -DSAFETY` and run with `-c0` stores. In words:
//! * Processes are tried from the youngest to the oldest, the steps of a location in their order.
//! * After a step within an atomic sequence the process keeps the control: it goes on alone, and the state
//!   between is not a successor. If it cannot go on, the state is one, and anybody may move there.
//! * A rendezvous is one step of two: the sender moves first, then a receiver that wants the message. The
//!   sender loses the control, the receiver keeps it if its step is within an atomic sequence.
//! * `timeout` holds if without it nothing can be done in the state.
//!
//! **Differs** from SPIN where an atomic sequence never ends: SPIN follows it down to the limit of its
//! depth; here it ends where it comes back to a state that it passed, with an event. One that is too long to be followed is cut, so that the search is inconclusive.
//! **Checked by** the comparison with SPIN's counts in the Promela front-end's tests.

use crate::execute::Moment;
use crate::frame::Frame;
use crate::{Action, Event, LocationId, Network, Pattern, Place, Step, StepId, Trouble};
use std::collections::HashSet;
use stubborn_system::TransitionId;

/// How many states an atomic sequence may pass on the way to an end, and all together on the ways to all of its ends. SPIN's depth is 10,000 if nobody says otherwise.
pub(crate) const LONGEST_ATOMIC: usize = 1 << 18;
pub(crate) const MOST_ATOMIC: usize = 1 << 24;

/// One step of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Micro {
    /// The process.
    pub pid: usize,
    /// Its step.
    pub step: StepId,
}

/// A successor: where it leads, and by which steps. Several in an atomic sequence or a rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The transition: first process, first step, and which of its outcomes.
    pub transition: TransitionId,
    /// The state.
    pub state: Vec<u8>,
    /// The steps on the way.
    pub trail: Vec<Micro>,
    /// What went wrong on the way.
    pub events: Vec<Event>,
}

/// All that can happen in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The successors.
    pub successors: Vec<Successor>,
    /// What went wrong without leading to a successor.
    pub events: Vec<Event>,
}

impl Expansion {
    /// All events, of the state and of its successors.
    pub fn all_events(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().chain(self.successors.iter().flat_map(|s| &s.events))
    }
}

/// A state on the way, and who has the control there.
pub(crate) struct Move<'n> {
    pub(crate) frame: Frame<'n>,
    keeper: Option<usize>,
    pub(crate) trail: Vec<Micro>,
    pub(crate) events: Vec<Event>,
}

impl Network {
    /// The state in which everything begins.
    pub fn initial_state(&self) -> Result<Vec<u8>, Trouble> {
        let mut frame = Frame::new(self, &vec![0; self.globals_size]);
        let mut troubles = Vec::new();
        frame.initialise(0, &self.initialisers, &mut troubles)?;
        frame.begin_trace();
        for start in &self.starts {
            frame.spawn(start.kind, start.priority, &[], &mut troubles)?;
        }
        Ok(frame.bytes)
    }

    /// The successors of a state, and what goes wrong in it.
    pub fn expand(&self, state: &[u8]) -> Expansion {
        let frame = Frame::new(self, state);
        let mut expansion = Expansion::default();
        for is_timeout in [false, true] {
            let mut has_moved = false;
            expansion.events.clear();
            for pid in (0..frame.processes.len()).rev() {
                for first in self.moves(&frame, pid, is_timeout, &mut expansion.events) {
                    has_moved = true;
                    self.follow(first, &mut expansion);
                }
            }
            if has_moved {
                return expansion;
            }
        }
        let processes = self.misplaced(&frame);
        if !processes.is_empty() {
            expansion.events.push(Event { trouble: Trouble::InvalidEnd { processes }, step: None });
        } else if !frame.processes.is_empty() && !frame.is_trace_finished() {
            expansion.events.push(Event { trouble: Trouble::TraceUnfinished, step: None });
        }
        expansion
    }

    /// The processes that may not stay where they are.
    fn misplaced(&self, frame: &Frame<'_>) -> Vec<usize> {
        let is_misplaced = |&pid: &usize| {
            let kind = &self.processes[frame.kind(pid)];
            !kind.locations[frame.location(pid).index()].is_end
        };
        (0..frame.processes.len()).filter(is_misplaced).collect()
    }

    /// Follows an atomic sequence to all its ends.
    fn follow<'n>(&'n self, first: Move<'n>, expansion: &mut Expansion) {
        let Micro { pid, step } = first.trail[0];
        // A rendezvous with several receivers begins several times with the same step.
        let earlier = expansion.successors.iter().rev().take_while(|s| s.trail[0] == first.trail[0]).count();
        let before = expansion.successors.len() - earlier;
        if first.keeper.is_none() {
            // Most steps are no atomic sequences.
            expansion.successors.push(Successor {
                transition: self.transition(pid, step, earlier),
                trail: first.trail,
                events: first.events,
                state: first.frame.bytes,
            });
            return;
        }
        // The states passed on the way to the move on top of the stack, with the steps and events there.
        let mut passed: Vec<Move<'n>> = Vec::new();
        let mut known: HashSet<Vec<u8>> = HashSet::new();
        let mut stack = vec![(0, first)];
        let mut n_followed = 0;
        while let Some((depth, next)) = stack.pop() {
            n_followed += 1;
            // Whoever asked says that these are too many.
            if expansion.successors.len() - before > self.n_outcomes {
                return;
            }
            if depth > LONGEST_ATOMIC || n_followed > MOST_ATOMIC {
                let step = next.trail.last().map(|m| (m.pid, m.step));
                expansion.events.push(Event { trouble: Trouble::AtomicTooLong, step });
                return;
            }
            for back in passed.drain(depth..) {
                known.remove(&back.frame.bytes);
            }
            if let Some(keeper) = next.keeper {
                let mut events = Vec::new();
                let moves = self.moves(&next.frame, keeper, false, &mut events);
                expansion.events.append(&mut events);
                if !moves.is_empty() {
                    if !known.insert(next.frame.bytes.clone()) {
                        let step = next.trail.last().map(|m| (m.pid, m.step));
                        expansion.events.push(Event { trouble: Trouble::EndlessAtomic, step });
                        continue;
                    }
                    passed.push(next);
                    stack.extend(moves.into_iter().rev().map(|m| (depth + 1, m)));
                    continue;
                }
            }
            let way = || passed.iter().chain([&next]);
            let ordinal = expansion.successors.len() - before;
            expansion.successors.push(Successor {
                transition: self.transition(pid, step, ordinal),
                trail: way().flat_map(|m| m.trail.iter().copied()).collect(),
                events: way().flat_map(|m| m.events.iter().cloned()).collect(),
                state: next.frame.bytes,
            });
        }
    }

    /// What one process can do, alone or as the sender of a rendezvous.
    pub(crate) fn moves<'n>(
        &'n self,
        frame: &Frame<'n>,
        pid: usize,
        is_timeout: bool,
        events: &mut Vec<Event>,
    ) -> Vec<Move<'n>> {
        let mut moves = Vec::new();
        let mut moment = Moment { is_timeout, has_moved: false };
        let location = frame.location(pid);
        let steps = &self.processes[frame.kind(pid)].locations[location.index()].steps;
        let first_step = self.first_step(frame.kind(pid), location);
        let mut escape = 0;
        for (i, step) in steps.iter().enumerate() {
            if escape != 0 && step.escape != escape {
                break;
            }
            let micro = Micro { pid, step: StepId(first_step.0 + i as u32) };
            let mut troubles = Vec::new();
            let before = moves.len();
            if self.may_move(frame, pid, moment, &mut troubles)
                && frame.evaluator(pid, moment, &mut troubles).can(&step.action)
            {
                self.attempt(frame, step, micro, moment, &mut troubles, &mut moves);
            }
            let tell = |trouble| Event { trouble, step: Some((pid, micro.step)) };
            if moves.len() > before {
                moment.has_moved = true;
                escape = step.escape;
                for done in &mut moves[before..] {
                    done.events.extend(troubles.iter().cloned().map(tell));
                }
            } else {
                events.extend(troubles.into_iter().map(tell));
            }
        }
        moves
    }

    /// Whether the process is provided for, and no enabled process has a higher priority.
    fn may_move(&self, frame: &Frame<'_>, pid: usize, moment: Moment, troubles: &mut Vec<Trouble>) -> bool {
        let mut evaluator = frame.evaluator(pid, moment, troubles);
        evaluator.is_provided()
            && (!self.has_priorities
                || !(0..frame.processes.len()).any(|other| {
                    frame.priority(other) > frame.priority(pid) && evaluator.of(other).is_enabled()
                }))
    }

    fn attempt<'n>(
        &'n self,
        frame: &Frame<'n>,
        step: &Step,
        micro: Micro,
        moment: Moment,
        troubles: &mut Vec<Trouble>,
        moves: &mut Vec<Move<'n>>,
    ) {
        let pid = micro.pid;
        if let Action::Send { channel, fields, .. } = &step.action {
            let mut found = Vec::new();
            if let Ok((channel, message)) = frame.message_to_send(pid, channel, fields, moment, &mut found)
                && self.channels[channel.kind].capacity == 0
            {
                troubles.append(&mut found);
                let widths = &self.channels[channel.kind].fields;
                let message: Vec<i32> = widths.iter().zip(message).map(|(w, v)| w.cut(v)).collect();
                return self.rendezvous(frame, channel.offset, &message, (step, micro), troubles, moves);
            }
        }
        frame.mention(pid, step, moment, troubles);
        let mut next = frame.clone();
        if let Err(trouble) = next.perform(pid, &step.action, moment, troubles) {
            troubles.push(trouble);
            return;
        }
        if step.action != Action::End {
            next.reset(pid, &step.resets);
            next.set_location(pid, step.next);
        }
        next.set_last(pid);
        let keeper = step.is_atomic.then_some(pid);
        moves.push(Move { frame: next, keeper, trail: vec![micro], events: Vec::new() });
    }

    /// Finds receivers for a message that is offered on the rendezvous channel at `offset`.
    fn rendezvous<'n>(
        &'n self,
        frame: &Frame<'n>,
        offset: usize,
        message: &[i32],
        (sent, sender): (&Step, Micro),
        lost: &mut Vec<Trouble>,
        moves: &mut Vec<Move<'n>>,
    ) {
        let mut offered = frame.clone();
        offered.set_location(sender.pid, sent.next);
        for pid in (0..frame.processes.len()).rev().filter(|&pid| pid != sender.pid) {
            let location = offered.location(pid);
            let steps = &self.processes[offered.kind(pid)].locations[location.index()].steps;
            let first_step = self.first_step(offered.kind(pid), location);
            let mut escape = 0;
            for (i, step) in steps.iter().enumerate() {
                if escape != 0 && step.escape != escape {
                    break;
                }
                let mut troubles = Vec::new();
                let Some(Wanted { fields, resets, rest }) =
                    wants(&offered, pid, step, offset, message, &mut troubles)
                else {
                    continue;
                };
                let mut next = offered.clone();
                next.watch(true, offset, message, &mut troubles);
                next.watch(false, offset, message, &mut troubles);
                next.bind(pid, fields, message, Moment::default(), &mut troubles);
                next.reset(pid, resets);
                if let Err(trouble) = next.sequence(pid, rest, Moment::default(), &mut troubles) {
                    lost.push(trouble);
                    continue;
                }
                escape = step.escape;
                next.reset(pid, &step.resets);
                next.reset(sender.pid, &sent.resets);
                next.set_location(pid, step.next);
                next.set_last(pid);
                let receiver = Micro { pid, step: StepId(first_step.0 + i as u32) };
                let tell = |trouble| Event { trouble, step: Some((pid, receiver.step)) };
                moves.push(Move {
                    frame: next,
                    keeper: step.is_atomic.then_some(pid),
                    trail: vec![sender, receiver],
                    events: troubles.into_iter().map(tell).collect(),
                });
            }
        }
    }
}

/// A receive that takes an offered message, and what is left to do after it.
pub(crate) struct Wanted<'n> {
    pub(crate) fields: &'n [Pattern],
    /// Of the receive within a sequence.
    pub(crate) resets: &'n [Place],
    /// Where the sequence goes on.
    pub(crate) rest: LocationId,
}

/// The receive that takes an offered message, if the step is one and wants it. A sequence that is one step
/// may begin with such a receive.
pub(crate) fn wants<'n>(
    offered: &Frame<'n>,
    pid: usize,
    step: &'n Step,
    offset: usize,
    message: &[i32],
    troubles: &mut Vec<Trouble>,
) -> Option<Wanted<'n>> {
    match &step.action {
        Action::Receive { channel, fields, .. } => {
            let mut evaluator = offered.evaluator(pid, Moment::default(), troubles);
            let is_meant = evaluator.channel(channel)?.offset == offset;
            let is_wanted = is_meant && evaluator.is_provided() && evaluator.matches(fields, message);
            is_wanted.then_some(Wanted { fields, resets: &[], rest: LocationId::EXIT })
        }
        Action::Sequence(entry) => {
            let kind = &offered.network.processes[offered.kind(pid)];
            let mut first = kind.locations[entry.index()].steps.iter();
            first.find_map(|inner| {
                let Wanted { fields, .. } = wants(offered, pid, inner, offset, message, troubles)?;
                Some(Wanted { fields, resets: &inner.resets, rest: inner.next })
            })
        }
        _ => None,
    }
}
