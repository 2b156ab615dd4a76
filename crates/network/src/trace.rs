//! Event traces: an automaton that watches sends and receives.
//!
//! After each send, and before each receive, on a channel that the trace names in that role, the automaton
//! must make a step: to a send or receive of the same channel whose constant fields have the values of the
//! message. If it cannot, a `trace` is violated and stays where it is; a `notrace` stops watching. A
//! `notrace` that reaches its end is violated. Its location is a global of the state, as in SPIN.
//!
//! **Differs** from SPIN in one point: a rendezvous that is offered and not taken is no event.

use crate::execute::Moment;
use crate::frame::Frame;
use crate::{Action, Expr, Location, LocationId, Pattern, Place, Scope, Trouble};

/// What is watched, and what must or must not happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Whether the events must not happen in this order.
    pub is_negated: bool,
    /// The automaton; its steps are sends and receives.
    pub locations: Vec<Location>,
    /// Where it begins.
    pub entry: LocationId,
    /// Where it ends.
    pub end: LocationId,
    /// The global that holds its location.
    pub place: Place,
}

impl Frame<'_> {
    fn trace_location(&self, trace: &Trace) -> LocationId {
        LocationId(self.load(Scope::Global, 0, trace.place.offset, trace.place.width) as u16)
    }

    /// Whether the trace may stop where it is.
    pub(crate) fn is_trace_finished(&self) -> bool {
        let trace = self.network.trace.as_ref();
        trace.is_none_or(|trace| trace.locations[self.trace_location(trace).index()].is_end)
    }

    /// Puts the trace at its beginning.
    pub(crate) fn begin_trace(&mut self) {
        if let Some(trace) = &self.network.trace {
            let place = &trace.place;
            self.store(Scope::Global, 0, place.offset, place.width, i32::from(trace.entry.0));
        }
    }

    /// A message was sent on, or is about to be received from, the channel at `offset`.
    pub(crate) fn watch(
        &mut self,
        is_send: bool,
        offset: usize,
        message: &[i32],
        troubles: &mut Vec<Trouble>,
    ) {
        let Some(trace) = &self.network.trace else { return };
        let steps = || trace.locations.iter().flat_map(|l| &l.steps);
        if !steps().any(|step| self.concerns(&step.action, is_send, offset)) {
            return;
        }
        let here = self.trace_location(trace);
        let options = if here == trace.end { &[][..] } else { &trace.locations[here.index()].steps };
        let matching: Vec<LocationId> = options
            .iter()
            .filter(|step| self.concerns(&step.action, is_send, offset) && fits(&step.action, message))
            .map(|step| step.next)
            .collect();
        let next = match (matching.as_slice(), trace.is_negated) {
            ([], false) => {
                troubles.push(Trouble::TraceViolated);
                return;
            }
            ([], true) => trace.end,
            ([next, others @ ..], is_negated) => {
                if !others.is_empty() {
                    troubles.push(Trouble::TraceNotDeterministic);
                }
                if is_negated && *next == trace.end {
                    troubles.push(Trouble::TraceViolated);
                }
                *next
            }
        };
        self.store(Scope::Global, 0, trace.place.offset, trace.place.width, i32::from(next.0));
    }

    /// Whether a step of the trace is about a channel in this role.
    fn concerns(&self, action: &Action, is_send: bool, offset: usize) -> bool {
        let channel = match action {
            Action::Send { channel, .. } if is_send => channel,
            Action::Receive { channel, .. } if !is_send => channel,
            _ => return false,
        };
        let found = self.evaluator(0, Moment::default(), &mut Vec::new()).channel(channel);
        found.is_some_and(|segment| segment.offset == offset)
    }
}

/// Whether the constant fields of an event have the values of a message.
fn fits(action: &Action, message: &[i32]) -> bool {
    let is_value = |expr: &Expr, value: i32| !matches!(expr, Expr::Constant(c) if *c != value);
    match action {
        Action::Send { fields, .. } => fields.iter().zip(message).all(|(f, &v)| is_value(f, v)),
        Action::Receive { fields, .. } => fields.iter().zip(message).all(|(field, &v)| match field {
            Pattern::Match(expr) => is_value(expr, v),
            Pattern::Bind(_) | Pattern::Ignore => true,
        }),
        _ => false,
    }
}
