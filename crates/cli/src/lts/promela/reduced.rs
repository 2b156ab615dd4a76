//! A Promela model as a process of as few states as CFFD needs.
//!
//! **Implements** the reduction of `docs/soundness.md` (reduced compositions) for models: V and I are those of properties of
//! runs (`NetworkReduction::for_runs`), L is that of observed systems (`Patience::Runs`). What can be seen is said by
//! expressions: an event of a variable is a change of one of its bits, a message is a change of the length of its channel.
//! **Preserves** CFFD. What is seen of a step, which is more than that it is visible, does not depend on when it is done: the values of a message are
//! in the channel before or behind it, and so are those of variables.
//! **Differs from the text** in that it is not done where this is not so or not proved: events on rendezvous channels, which keep no
//! message; events of locals, and on channels of locals; atomic sequences, inside which nobody else moves; sequences that are one step, which
//! may send and receive.
//! **Checked by** random models (`tests/all/lts_models.rs`).

use super::{Events, ReadArgs, Subject, View, is_called, limits};
use crate::args::ReductionWord;
use crate::run::Failure;
use crate::watch::Terminal;
use stubborn_explore::{End, Job, Keep, Patience, Sighting, Visitor, breadth_first_with};
use stubborn_lts::{Lsts, LstsBuilder, TAU, latin1};
use stubborn_network::{Action, BinaryOp, ChannelTest, Expr, Network, Place, Scope, Variable};
use stubborn_reduce::{NetworkReduction, ReductionKind};
use stubborn_store::{Exact, Store};
use stubborn_system::Fault;

/// Most expressions to be watched.
const MAX_WATCHED: usize = 256;

/// Looks for nothing but mistakes of the model.
struct Mistakes(bool);

impl Visitor<[u8]> for Mistakes {
    fn arrive(&mut self, _: &[u8]) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }

    fn flagged(&mut self, _: &[u8]) -> Result<Option<Sighting>, Fault> {
        self.0 = true;
        Ok(None)
    }

    fn terminal(&mut self, _: &[u8]) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }
}

impl View {
    /// The process with fewer states, if that is wanted and can be done.
    pub(super) fn reduced(&self, args: &ReadArgs) -> Result<Option<Lsts>, Failure> {
        let kind = ReductionKind::from(args.model_reduction.unwrap_or(ReductionWord::Smaller));
        let Subject::Whole { network, initial } = &self.subject else { return Ok(None) };
        if !args.is_seen_from_outside || kind == ReductionKind::None || !is_plain(network) {
            return Ok(None);
        }
        let Some(mut watched) = watched(network, initial, &self.events) else { return Ok(None) };
        watched.extend(self.events.conditions.iter().map(|(_, expr)| expr.clone()));
        watched.extend(self.marked.iter().cloned());
        if watched.len() > MAX_WATCHED {
            return Ok(None);
        }
        self.explore(network, NetworkReduction::for_runs(network, &watched, kind), args).map(Some)
    }

    fn explore(
        &self,
        network: &Network,
        mut reduction: NetworkReduction<'_>,
        args: &ReadArgs,
    ) -> Result<Lsts, Failure> {
        let wrong = |what: String| Failure::Usage(format!("{}: {what}", self.name));
        let (mut store, mut mistakes): (Exact<[u8]>, _) = (Exact::new(), Mistakes(false));
        let job = Job {
            system: network,
            reduction: &mut reduction,
            store: &mut store,
            visitor: &mut mistakes,
            watch: &mut Terminal::new(None, false),
            limits: limits(args),
            keep: Keep::Labels,
            all_errors: false,
            no_ignoring: false,
        };
        let outcome = breadth_first_with(job, Patience::Runs);
        match outcome.end {
            End::Complete | End::Sighted => {}
            End::Stopped(stop) => return Err(wrong(format!("{stop} (see --max-model-states)"))),
            End::Fault(fault, _) => return Err(wrong(fault.to_string())),
        }
        if mistakes.0 {
            self.warn();
        }
        store.seal();
        let graph = outcome.graph.ok_or_else(|| wrong("the edges are lost".into()))?;
        let n = outcome.stats.states as u32;
        let mut builder = LstsBuilder::new(u64::from(n)).map_err(|error| wrong(error.to_string()))?;
        let (mut room, mut other) = (Default::default(), Default::default());
        let lost = "the store keeps states";
        for source in 0..n {
            let from = store.state(source, &mut room).expect(lost);
            for (edge, target) in graph.edges(source) {
                let t = graph.label(edge).ok_or_else(|| wrong("a label is lost".into()))?;
                let mut names = self.messages(network, from, t);
                self.changes(from, store.state(target, &mut other).expect(lost), &mut names);
                let seen = latin1(names.join(" ").as_bytes());
                let action = if seen.is_empty() { TAU } else { builder.action(&seen) };
                builder.add_transition(source, action, target);
            }
        }
        for (mark, expr) in self.marks.iter().zip(&self.marked) {
            let holds = |&id: &u32| network.holds(store.state(id, &mut room).expect(lost), expr);
            let states: Vec<u32> = (0..n).filter(holds).collect();
            builder.add_proposition(mark.clone(), states);
        }
        builder.build().map_err(|error| wrong(error.to_string()))
    }
}

/// Whether every step is one, and of one statement.
fn is_plain(network: &Network) -> bool {
    let locations = network.processes.iter().flat_map(|process| &process.locations);
    let mut steps = locations.flat_map(|location| &location.steps);
    steps.all(|step| !step.is_atomic && !matches!(step.action, Action::Sequence(_)))
}

/// Expressions of which one changes its truth whenever there is an event of a message or a variable. `None` if there
/// are no such.
fn watched(network: &Network, initial: &[u8], events: &Events) -> Option<Vec<Expr>> {
    let mut watched = Vec::new();
    for (wanted, _) in &events.messages {
        for place in places(network, wanted, true)? {
            let number = network.view(initial).value(0, &Expr::Load(place));
            let channel = Box::new(Expr::Constant(number));
            let capacity = network.channels.iter().filter(|kind| base(&kind.name) == base(wanted));
            let capacity = capacity.map(|kind| kind.capacity).reduce(|a, b| if a == b { a } else { 0 })?;
            if number <= 0 || capacity == 0 || capacity > MAX_WATCHED {
                return None;
            }
            for n in 1..=capacity as i32 {
                let length = Expr::Channel(ChannelTest::Len, channel.clone());
                watched.push(binary(BinaryOp::GreaterEqual, length, n));
            }
        }
    }
    for wanted in &events.variables {
        for place in places(network, wanted, false)? {
            for bit in 0..8 * place.width.bytes() as u32 {
                let value = binary(BinaryOp::BitAnd, Expr::Load(place.clone()), 1i32.wrapping_shl(bit));
                watched.push(binary(BinaryOp::NotEqual, value, 0));
            }
        }
        if watched.len() > MAX_WATCHED {
            return None;
        }
    }
    Some(watched)
}

fn binary(operator: BinaryOp, left: Expr, right: i32) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(Expr::Constant(right)))
}

/// A name without the number of an element.
fn base(name: &str) -> &str {
    name.split_once('[').map_or(name, |(base, _)| base)
}

/// The elements of a global that have such a name; `None` if there is none, or something of a process has it, too.
fn places(network: &Network, wanted: &str, is_channel: bool) -> Option<Vec<Place>> {
    let mut locals = network.processes.iter().flat_map(|process| &process.locals);
    if locals.any(|local| base(&local.name) == base(wanted)) {
        return None;
    }
    let global = network.globals.iter().find(|global| global.name == base(wanted))?;
    if global.is_channel != is_channel {
        return None;
    }
    let Variable { offset, width, length, stride, is_scalar, .. } = *global;
    let name = |i: usize| if is_scalar { global.name.clone() } else { format!("{}[{i}]", global.name) };
    let place = |i: usize| {
        let (scope, indices, text) = (Scope::Global, Vec::new(), name(i));
        Place { scope, offset: offset + i * stride, width, indices, text }
    };
    let found: Vec<Place> = (0..length).filter(|&i| is_called(&name(i), wanted)).map(place).collect();
    (!found.is_empty()).then_some(found)
}
