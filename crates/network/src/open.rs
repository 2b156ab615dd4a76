//! One process of a network by itself, open to whatever it communicates with; and one channel.
//!
//! The other processes do not move. A send is possible whether or not there is room, a receive for every message that
//! the channel could hold and the receiver wants: whoever is put beside the process decides. So every channel
//! operation is an event with the values of its message; all other steps are the process's own.
//! **Differs** from the process within its model in two ways. A state within an atomic sequence is a state of its own
//! where a channel operation is next, because there the process may have to wait. And a process that has ended stays.
//! What a process by itself cannot know is refused: variables that others use, contents of channels, places of others,
//! `timeout`, `else` beside a channel operation.
//! **Checked by** `tests/all/open.rs` of `cli`: processes and channels together have the states and transitions of the model.

use crate::execute::Moment;
use crate::frame::{Frame, Segment};
use crate::narrate::channel_name;
use crate::{Access, Action, Expr, LocationId, Network, Step, StepId, Trouble, Width};
use std::collections::{BTreeSet, HashSet};
use std::fmt;

/// Why a process cannot be taken out of its model, or not be followed further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotOpen(String);

impl fmt::Display for NotOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotOpen {}

fn refuse<T>(why: impl Into<String>) -> Result<T, NotOpen> {
    Err(NotOpen(why.into()))
}

/// What an open process or channel can do: an event, unless nobody sees it, and the state behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenMove {
    /// A channel operation, such as `q!1,2`.
    pub event: Option<String>,
    /// The state.
    pub state: Vec<u8>,
    /// Whether something went wrong.
    pub is_wrong: bool,
}

/// A process by itself.
#[derive(Clone, Debug)]
pub struct OpenProcess {
    network: Network,
    pid: usize,
    initial: Vec<u8>,
}

/// Messages of a channel that are tried, at most.
const MAX_MESSAGES: usize = 1 << 16;

impl OpenProcess {
    /// The process that has this number at the beginning.
    pub fn of_start(network: Network, pid: usize) -> Result<Self, NotOpen> {
        let Some(start) = network.starts.get(pid) else { return refuse("there is no such process") };
        check(&network, start.kind)?;
        let initial = network.initial_state().map_err(|trouble| NotOpen(trouble.to_string()))?;
        Ok(Self { network, pid, initial })
    }

    /// A process of this kind that is started with these arguments, beside those of the beginning.
    pub fn started(network: Network, kind: usize, arguments: &[i32]) -> Result<Self, NotOpen> {
        check(&network, kind)?;
        let expected = network.processes[kind].parameters.len();
        if arguments.len() != expected {
            return refuse(format!("it has {expected} parameters, not {}", arguments.len()));
        }
        let failed = |trouble: Trouble| NotOpen(trouble.to_string());
        let before = network.initial_state().map_err(failed)?;
        let mut frame = Frame::new(&network, &before);
        let pid = frame.spawn(kind, 1, arguments, &mut Vec::new()).map_err(failed)?;
        let initial = std::mem::take(&mut frame.bytes);
        drop(frame);
        Ok(Self { network, pid, initial })
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The initial state.
    pub fn initial(&self) -> &[u8] {
        &self.initial
    }

    /// All moves from a state.
    pub fn moves(&self, state: &[u8]) -> Result<Vec<OpenMove>, NotOpen> {
        let mut out = Vec::new();
        let mut steps = self.steps(&Frame::new(&self.network, state))?;
        // What an atomic sequence has passed on its way.
        let mut passed: HashSet<(Option<String>, Vec<u8>)> = HashSet::new();
        while let Some(Reached { event, frame, goes_on, is_wrong }) = steps.pop() {
            if goes_on && !self.is_at_channel(&frame) {
                if !passed.insert((event.clone(), frame.bytes.clone())) {
                    continue;
                }
                let next = self.steps(&frame)?;
                if !next.is_empty() {
                    // What comes first stays first: `steps` is a stack.
                    steps.extend(next.into_iter().map(|next| Reached {
                        event: event.clone(),
                        is_wrong: is_wrong || next.is_wrong,
                        ..next
                    }));
                    continue;
                }
            }
            out.push(OpenMove { event, state: frame.bytes, is_wrong });
        }
        Ok(out)
    }

    fn location<'n>(&'n self, frame: &Frame<'n>) -> &'n [Step] {
        &self.network.processes[frame.kind(self.pid)].locations[frame.location(self.pid).index()].steps
    }

    fn is_at_channel(&self, frame: &Frame<'_>) -> bool {
        self.location(frame).iter().any(|step| is_channel_operation(&step.action))
    }

    /// Single steps, last one first.
    fn steps<'n>(&'n self, frame: &Frame<'n>) -> Result<Vec<Reached<'n>>, NotOpen> {
        let pid = self.pid;
        let mut out = Vec::new();
        let mut moment = Moment::default();
        let mut escape = 0;
        for step in self.location(frame) {
            if escape != 0 && step.escape != escape {
                break;
            }
            let mut troubles = Vec::new();
            if !frame.evaluator(pid, moment, &mut troubles).is_provided() {
                continue;
            }
            let before = out.len();
            match &step.action {
                // Who has ended stays.
                Action::End => continue,
                Action::Send { .. } => self.send(frame, step, &mut out),
                Action::Receive { .. } => self.receive(frame, step, &mut out)?,
                action => {
                    if !frame.evaluator(pid, moment, &mut troubles).can(action) {
                        continue;
                    }
                    frame.mention(pid, step, moment, &mut troubles);
                    let mut next = frame.clone();
                    if next.perform(pid, action, moment, &mut troubles).is_ok() {
                        out.push(self.arrive(next, step, None, &troubles));
                    }
                }
            }
            if out.len() > before {
                moment.has_moved = true;
                escape = step.escape;
            }
        }
        out.reverse();
        Ok(out)
    }

    fn arrive<'n>(
        &self,
        mut next: Frame<'n>,
        step: &Step,
        event: Option<String>,
        troubles: &[Trouble],
    ) -> Reached<'n> {
        next.reset(self.pid, &step.resets);
        next.set_location(self.pid, step.next);
        next.set_last(self.pid);
        Reached {
            event,
            frame: next,
            goes_on: step.is_atomic,
            is_wrong: troubles.iter().any(Trouble::is_error),
        }
    }

    fn send<'n>(&self, frame: &Frame<'n>, step: &Step, out: &mut Vec<Reached<'n>>) {
        let Action::Send { channel, is_sorted, fields } = &step.action else { return };
        let mut troubles = Vec::new();
        let sent = frame.message_to_send(self.pid, channel, fields, Moment::default(), &mut troubles);
        let Ok((channel, message)) = sent else { return };
        let widths = &self.network.channels[channel.kind].fields;
        let message: Vec<i32> = widths.iter().zip(message).map(|(width, value)| width.cut(value)).collect();
        let mark = if *is_sorted { "!!" } else { "!" };
        let event = event(frame, channel, mark, &message, "");
        let mut sent = self.arrive(frame.clone(), step, Some(event), &troubles);
        // Whoever sends in a rendezvous loses the control to the receiver.
        sent.goes_on &= self.network.channels[channel.kind].capacity > 0;
        out.push(sent);
    }

    fn receive<'n>(&self, frame: &Frame<'n>, step: &Step, out: &mut Vec<Reached<'n>>) -> Result<(), NotOpen> {
        let Action::Receive { channel, is_random, is_copy, fields } = &step.action else { return Ok(()) };
        let Some(channel) = frame.evaluator(self.pid, Moment::default(), &mut Vec::new()).channel(channel)
        else {
            return Ok(());
        };
        let (mark, end) = match (is_random, is_copy) {
            (false, false) => ("?", ""),
            (true, false) => ("??", ""),
            (false, true) => ("?<", ">"),
            (true, true) => ("??<", ">"),
        };
        for message in messages(&self.network, channel.kind)? {
            let mut troubles = Vec::new();
            if !frame.evaluator(self.pid, Moment::default(), &mut troubles).matches(fields, &message) {
                continue;
            }
            let mut next = frame.clone();
            next.bind(self.pid, fields, &message, Moment::default(), &mut troubles);
            let event = event(frame, channel, mark, &message, end);
            out.push(self.arrive(next, step, Some(event), &troubles));
        }
        Ok(())
    }
}

/// Where a step leads.
struct Reached<'n> {
    event: Option<String>,
    frame: Frame<'n>,
    /// Whether the step is within an atomic sequence.
    goes_on: bool,
    is_wrong: bool,
}

fn event(frame: &Frame<'_>, channel: Segment, mark: &str, message: &[i32], end: &str) -> String {
    let values = frame.network.message_texts(channel.kind, message).join(",");
    format!("{}{mark}{values}{end}", channel_name(frame, channel))
}

/// A channel by itself: what is sent to it comes out in the same order.
#[derive(Clone, Debug)]
pub struct OpenChannel {
    network: Network,
    number: i32,
    initial: Vec<u8>,
}

impl OpenChannel {
    /// The global channel with this name, an element of an array as `q[1]`.
    pub fn new(network: Network, name: &str) -> Result<Option<Self>, NotOpen> {
        let initial = network.initial_state().map_err(|trouble| NotOpen(trouble.to_string()))?;
        let frame = Frame::new(&network, &initial);
        let found = frame.channels.iter().position(|&channel| channel_name(&frame, channel) == name);
        let Some(index) = found else { return Ok(None) };
        if network.channels[frame.channels[index].kind].capacity == 0 {
            return refuse(
                "a rendezvous channel holds nothing: let its send and its receive happen together",
            );
        }
        drop(frame);
        Ok(Some(Self { network, number: index as i32 + 1, initial }))
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The initial state.
    pub fn initial(&self) -> &[u8] {
        &self.initial
    }

    /// All moves from a state: what can be sent if there is room, and what can be received.
    pub fn moves(&self, state: &[u8]) -> Result<Vec<OpenMove>, NotOpen> {
        let frame = Frame::new(&self.network, state);
        let channel = frame.channel(self.number).map_err(|trouble| NotOpen(trouble.to_string()))?;
        let n = frame.n_messages(channel);
        let mut out = Vec::new();
        if n > 0 {
            let message = frame.message(channel, 0);
            let mut next = frame.clone();
            next.remove(channel, 0);
            let event = event(&frame, channel, "?", &message, "");
            out.push(OpenMove { event: Some(event), state: next.bytes, is_wrong: false });
        }
        if n < self.network.channels[channel.kind].capacity {
            for message in messages(&self.network, channel.kind)? {
                let mut next = frame.clone();
                next.insert(channel, n, &message);
                let event = event(&frame, channel, "!", &message, "");
                out.push(OpenMove { event: Some(event), state: next.bytes, is_wrong: false });
            }
        }
        Ok(out)
    }
}

/// All messages that a kind of channel could hold.
fn messages(network: &Network, kind: usize) -> Result<Vec<Vec<i32>>, NotOpen> {
    let channel = &network.channels[kind];
    let names = channel.names.iter().copied().chain(std::iter::repeat(None));
    let mut out: Vec<Vec<i32>> = vec![Vec::new()];
    for (&width, names) in channel.fields.iter().zip(names) {
        let values = match (names.and_then(|list| network.names.get(list)), width) {
            (Some(names), _) => 1..names.len() as i32 + 1,
            (None, Width::Byte) => 0..256,
            (None, Width::Bits(n)) if n <= 16 => 0..1 << n,
            (None, Width::Bits(_) | Width::Short | Width::Int) => return too_many(&channel.name),
        };
        if out.len() * values.len() > MAX_MESSAGES {
            return too_many(&channel.name);
        }
        out = out
            .iter()
            .flat_map(|message| values.clone().map(|value| message.iter().copied().chain([value]).collect()))
            .collect();
    }
    Ok(out)
}

fn too_many<T>(channel: &str) -> Result<T, NotOpen> {
    refuse(format!(
        "messages of `{channel}` may have more than {MAX_MESSAGES} values: who receives them by itself cannot try them \
         all; declare narrower fields"
    ))
}

fn is_channel_operation(action: &Action) -> bool {
    matches!(action, Action::Send { .. } | Action::Receive { .. })
}

/// Refuses what a process of this kind cannot do by itself.
fn check(network: &Network, kind: usize) -> Result<(), NotOpen> {
    let process = &network.processes[kind];
    if network.has_priorities {
        return refuse("processes with priorities cannot be taken apart");
    }
    let mut sequences: BTreeSet<LocationId> = BTreeSet::new();
    for (_, step) in network.steps_of(kind) {
        match &step.action {
            Action::Run(_) => return refuse(at(step, "it starts a process")),
            Action::Sequence(entry) => sequences.extend(inside(network, kind, *entry)),
            _ => {}
        }
        for expr in step.expressions() {
            expression(expr).or_else(|what| refuse(at(step, &what)))?;
        }
    }
    if let Some(provided) = &process.provided {
        expression(provided).or_else(refuse)?;
    }
    for (i, location) in process.locations.iter().enumerate() {
        let Some(channel) = location.steps.iter().find(|step| is_channel_operation(&step.action)) else {
            continue;
        };
        if sequences.contains(&LocationId(i as u16)) {
            return refuse(at(channel, "a channel operation in a d_step cannot wait for others"));
        }
        if let Some(step) = location.steps.iter().find(|step| step.action == Action::Else) {
            return refuse(at(
                step,
                "whether `else` beside a channel operation can be done depends on others",
            ));
        }
        if let Some(step) = location.steps.iter().find(|step| step.escape != 0) {
            return refuse(at(
                step,
                "which steps of an `unless` with channel operations can be done depends on others",
            ));
        }
    }
    shared(network, kind)
}

fn at(step: &Step, what: &str) -> String {
    format!("line {}: `{}`: {what}", step.line, step.text)
}

/// The locations of a sequence that is one step.
fn inside(network: &Network, kind: usize, entry: LocationId) -> BTreeSet<LocationId> {
    let mut known = BTreeSet::from([entry]);
    let mut work = vec![entry];
    while let Some(location) = work.pop() {
        for step in &network.processes[kind].locations[location.index()].steps {
            if step.next != LocationId::EXIT && known.insert(step.next) {
                work.push(step.next);
            }
        }
    }
    known
}

/// What a process by itself does not know.
fn expression(expr: &Expr) -> Result<(), String> {
    let mut unknown = None;
    expr.walk(&mut |expr| {
        let what = match expr {
            Expr::Channel(..) | Expr::Poll { .. } => "it asks what is in a channel",
            Expr::Timeout => "`timeout` depends on all processes",
            Expr::ProcessCount => "it asks how many processes there are",
            Expr::NonProgress | Expr::Accepting => "it asks where other processes are",
            Expr::Enabled(_) | Expr::PcValue(_) | Expr::Priority(_) => "it asks about other processes",
            Expr::RemoteLocation { .. } | Expr::RemoteLoad { .. } => "it looks at another process",
            _ => return,
        };
        unknown.get_or_insert(what);
    });
    unknown.map_or(Ok(()), |what| Err(what.to_owned()))
}

/// Refuses variables that others use, too, and somebody changes.
fn shared(network: &Network, kind: usize) -> Result<(), NotOpen> {
    let globals = |accesses: &BTreeSet<Access>| {
        let variable = |access: &Access| match access {
            Access::Global { variable, .. } => Some(*variable),
            _ => None,
        };
        accesses.iter().filter_map(variable).collect::<BTreeSet<usize>>()
    };
    let of_kind = |kind: usize| {
        let (mut used, mut written) = (BTreeSet::new(), BTreeSet::new());
        for location in &network.processes[kind].locations {
            for i in 0..location.steps.len() as u32 {
                let footprint = network.footprint(StepId(location.first_step + i));
                used.extend(globals(&footprint.waits));
                used.extend(globals(&footprint.reads));
                used.extend(globals(&footprint.writes));
                written.extend(globals(&footprint.writes));
            }
        }
        (used, written)
    };
    let is_run = |other: usize| {
        let runs = |step: &Step| matches!(&step.action, Action::Run(run) if run.kind == other);
        (0..network.processes.len()).any(|k| network.steps_of(k).any(|(_, step)| runs(step)))
    };
    let n_starts = |other: usize| network.starts.iter().filter(|start| start.kind == other).count();
    let (used, written) = of_kind(kind);
    for other in 0..network.processes.len() {
        let others = n_starts(other) - usize::from(other == kind && n_starts(kind) > 0);
        if others == 0 && !is_run(other) {
            continue;
        }
        let (their_used, their_written) = of_kind(other);
        let conflict = used.intersection(&their_written).chain(written.intersection(&their_used)).next();
        if let Some(&variable) = conflict {
            let name = &network.globals[variable].name;
            let whom = &network.processes[other].name;
            return refuse(format!("it shares the variable `{name}` with {whom}: variables must be its own"));
        }
    }
    Ok(())
}
