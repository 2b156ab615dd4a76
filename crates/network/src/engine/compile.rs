//! From a network to its program. `None` where the engine leaves everything to the reference: priorities,
//! event traces, and `enabled`.

use super::program::{
    Act, Begin, ChannelKind, Code, Element, Field, Index, Kind, Location, Program, Receive, Remote, Run,
    Scalar, Send, Size, Step, Target,
};
use crate::{
    Action, BinaryOp, Expr, Initial, Initialiser, Network, Pattern, Place, ProcessKind, Scope, UnaryOp,
};

/// Compiles a network.
pub(super) fn program(network: &Network) -> Option<Program> {
    if network.has_priorities || network.trace.is_some() {
        return None;
    }
    let has_rendezvous = network.channels.iter().any(|channel| channel.capacity == 0);
    let mut kinds = Vec::new();
    let mut locations = Vec::new();
    let mut steps = Vec::new();
    for (i, process) in network.processes.iter().enumerate() {
        kinds.push(kind(network, i, locations.len())?);
        for at in &process.locations {
            locations.push(location(process, at, has_rendezvous));
            for step in &at.steps {
                steps.push(Step {
                    act: if step.mentions.iter().any(Expr::may_fail) {
                        Act::Mention(codes(&step.mentions)?)
                    } else {
                        act(&step.action)?
                    },
                    next: step.next.0,
                    is_atomic: step.is_atomic,
                    escape: step.escape,
                    resets: step.resets.iter().map(scalar).collect(),
                });
            }
        }
    }
    let runs = |step: &Step| matches!(step.act, Act::Run(_));
    Some(Program {
        is_static: !steps.iter().any(runs),
        kinds,
        channels: (0..network.channels.len()).map(|kind| channel(network, kind)).collect(),
        locations,
        steps,
        globals_size: network.globals_size,
        header: network.header_size(),
        last: network.last.as_ref().map(scalar),
        uses_timeout: uses_timeout(network),
        n_outcomes: network.n_outcomes as u32,
        most_processes: network.limits.processes,
        longest_vector: network.limits.vector,
    })
}

fn uses_timeout(network: &Network) -> bool {
    let steps = network.processes.iter().flat_map(|p| &p.locations).flat_map(|l| &l.steps);
    let provided = network.processes.iter().filter_map(|kind| kind.provided.as_ref());
    let mut found = false;
    for expr in steps.flat_map(|step| step.expressions()).chain(provided) {
        expr.walk(&mut |e| found |= matches!(e, Expr::Timeout));
    }
    found
}

fn kind(network: &Network, number: usize, first_location: usize) -> Option<Kind> {
    let process = &network.processes[number];
    Some(Kind {
        first_location: first_location as u32,
        size: network.process_size(number),
        entry: process.entry.0,
        provided: match &process.provided {
            Some(expr) => Some(code(expr)?),
            None => None,
        },
        parameters: process.parameters.iter().map(scalar).collect(),
        begins: process.initialisers.iter().map(begin).collect::<Option<_>>()?,
    })
}

fn begin(initialiser: &Initialiser) -> Option<Begin> {
    Some(match &initialiser.initial {
        Initial::Value(expr) => Begin::Value(target(&initialiser.place)?, code(expr)?),
        Initial::Channel(kind) => Begin::Channel(scalar(&initialiser.place), *kind),
    })
}

fn channel(network: &Network, kind: usize) -> ChannelKind {
    let channel = &network.channels[kind];
    let mut offset = 0;
    let field = |&width: &crate::Width| {
        let scalar = Scalar::new(offset, width, false);
        offset += width.bytes();
        scalar
    };
    ChannelKind {
        fields: channel.fields.iter().map(field).collect(),
        size: network.channel_size(kind),
        capacity: channel.capacity,
        message_size: channel.message_size(),
    }
}

fn location(process: &ProcessKind, at: &crate::Location, has_rendezvous: bool) -> Location {
    let is_receive = |step: &crate::Step| matches!(step.action, Action::Receive { .. } | Action::Sequence(_));
    let mut receivers = Vec::new();
    let has_escape = at.steps.iter().any(|step| step.escape != 0);
    for (number, step) in (at.first_step..).zip(&at.steps) {
        let may_receive = match step.action {
            Action::Sequence(entry) => process.locations[entry.index()].steps.iter().any(is_receive),
            _ => matches!(step.action, Action::Receive { .. }),
        };
        // With escapes the order of all steps matters, not that of the receives alone.
        if has_rendezvous && (may_receive || has_escape) {
            receivers.push(number);
        }
    }
    Location {
        first: at.first_step,
        n_steps: at.steps.len() as u32,
        is_progress: at.is_progress,
        is_accept: at.is_accept,
        receivers: receivers.into(),
    }
}

fn act(action: &Action) -> Option<Act> {
    Some(match action {
        Action::Skip => Act::Skip,
        Action::Guard(expr) => Act::Guard(code(expr)?),
        Action::Else => Act::Else,
        Action::Assign(place, expr) => Act::Assign(target(place)?, code(expr)?),
        Action::Assert(expr) => Act::Assert(code(expr)?),
        Action::Send { channel, is_sorted, fields } => Act::Send(Box::new(Send {
            channel: code(channel)?,
            is_sorted: *is_sorted,
            fields: codes(fields)?,
        })),
        Action::Receive { channel, is_random, is_copy, fields } => {
            Act::Receive(Box::new(receive(channel, *is_random, *is_copy, fields)?))
        }
        Action::Run(run) => Act::Run(Box::new(Run {
            kind: run.kind,
            arguments: codes(&run.arguments)?,
            result: match &run.result {
                Some((place, expr)) => Some((target(place)?, code(expr)?)),
                None => None,
            },
        })),
        Action::SetPriority(..) => return None,
        Action::End => Act::End,
        Action::Sequence(entry) => Act::Sequence(entry.0),
    })
}

fn receive(channel: &Expr, is_random: bool, is_copy: bool, fields: &[Pattern]) -> Option<Receive> {
    let field = |pattern: &Pattern| {
        Some(match pattern {
            Pattern::Match(expr) => Field::Match(code(expr)?),
            Pattern::Bind(place) => Field::Bind(target(place)?),
            Pattern::Ignore => Field::Ignore,
        })
    };
    let fields = fields.iter().map(field).collect::<Option<_>>()?;
    Some(Receive { channel: code(channel)?, is_random, is_copy, fields })
}

/// The scalar of a place, without its indices.
pub(super) fn scalar(place: &Place) -> Scalar {
    Scalar::new(place.offset, place.width, place.scope == Scope::Local)
}

fn element(place: &Place) -> Option<Box<Element>> {
    let index = |index: &crate::Index| {
        Some(Index { value: code(&index.value)?, length: index.length, stride: index.stride })
    };
    let indices = place.indices.iter().map(index).collect::<Option<_>>()?;
    Some(Box::new(Element { scalar: scalar(place), indices }))
}

fn target(place: &Place) -> Option<Target> {
    Some(match place.indices.is_empty() {
        true => Target::Scalar(scalar(place)),
        false => Target::Element(element(place)?),
    })
}

fn codes(list: &[Expr]) -> Option<Box<[Code]>> {
    list.iter().map(code).collect()
}

fn boxed(expr: &Expr) -> Option<Box<Code>> {
    code(expr).map(Box::new)
}

fn remote(kind: usize, process: Option<&Expr>) -> Option<Box<Remote>> {
    let process = match process {
        Some(expr) => Some(code(expr)?),
        None => None,
    };
    Some(Box::new(Remote { kind: kind as u32, process }))
}

/// Compiles an expression.
pub(super) fn code(expr: &Expr) -> Option<Code> {
    Some(match expr {
        Expr::Constant(value) => Code::Constant(*value),
        Expr::Load(place) => load(place)?,
        Expr::Unary(UnaryOp::Not, a) => Code::Not(boxed(a)?),
        Expr::Unary(UnaryOp::Minus, a) => Code::Minus(boxed(a)?),
        Expr::Unary(UnaryOp::Complement, a) => Code::Complement(boxed(a)?),
        Expr::Binary(op, a, b) => binary(*op, code(a)?, code(b)?),
        Expr::Conditional(a, b, c) => Code::Conditional(Box::new([code(a)?, code(b)?, code(c)?])),
        Expr::Channel(test, channel) => Code::Channel(*test, boxed(channel)?),
        Expr::Poll { channel, is_random, fields } => {
            Code::Poll(Box::new(receive(channel, *is_random, true, fields)?))
        }
        Expr::Pid => Code::Pid,
        Expr::ProcessCount => Code::ProcessCount,
        Expr::Timeout => Code::Timeout,
        Expr::NonProgress => Code::NonProgress,
        Expr::Accepting => Code::Accepting,
        Expr::PcValue(process) => Code::PcValue(boxed(process)?),
        Expr::RemoteLocation { kind, process, location } => {
            Code::RemoteLocation(remote(*kind, process.as_deref())?, location.0)
        }
        Expr::RemoteLoad { kind, process, place } => {
            Code::RemoteLoad(remote(*kind, process.as_deref())?, element(place)?)
        }
        Expr::Started => Code::Started,
        Expr::Enabled(_) | Expr::Priority(_) => return None,
    })
}

fn load(place: &Place) -> Option<Code> {
    let scalar = scalar(place);
    Some(match (place.indices.is_empty(), scalar.size, scalar.is_local) {
        (false, _, _) => Code::Element(element(place)?),
        (true, Size::Byte, false) => Code::Global(scalar.offset),
        (true, Size::Byte, true) => Code::Local(scalar.offset),
        (true, _, _) => Code::Scalar(scalar),
    })
}

/// With a node of its own for bytes compared with constants.
fn binary(op: BinaryOp, a: Code, b: Code) -> Code {
    match (op, a, b) {
        (BinaryOp::Equal, Code::Global(at), Code::Constant(c)) => Code::GlobalIs(at, c),
        (BinaryOp::Equal, Code::Local(at), Code::Constant(c)) => Code::LocalIs(at, c),
        (BinaryOp::NotEqual, Code::Global(at), Code::Constant(c)) => Code::GlobalIsNot(at, c),
        (BinaryOp::NotEqual, Code::Local(at), Code::Constant(c)) => Code::LocalIsNot(at, c),
        (BinaryOp::And, a, b) => Code::And(Box::new([a, b])),
        (BinaryOp::Or, a, b) => Code::Or(Box::new([a, b])),
        (BinaryOp::Equal, a, b) => Code::Equal(Box::new([a, b])),
        (BinaryOp::NotEqual, a, b) => Code::NotEqual(Box::new([a, b])),
        (op, a, b) => Code::Binary(op, Box::new([a, b])),
    }
}
