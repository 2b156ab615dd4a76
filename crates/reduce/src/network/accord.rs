//! Which transitions accord, and which make each other possible.
//!
//! **Implements** accordance (V93; VS calls it "do not accord" for operations on objects): two transitions
//! accord if in every state where both are enabled, neither disables the other and both orders lead to the
//! same state. Being asked only where both are enabled is what makes a send and a receive accord: the channel
//! is then neither full nor empty. Of an atomic sequence only the first step is known to be possible, so a
//! receive frees a place that a later send of the sequence may wait for; unless there is room in the state
//! at hand ([`Conflict::Unless`]), which nobody outside a stubborn set can take away (VS, conditional
//! dependency).
//! What goes wrong in evaluating a guard is an effect, too, and happens where the transition is not enabled:
//! who decides it is in the way even of a transition that is never enabled at the same time.
//! **Checked by** the definition of D1 and D2 at the states of all test models, and by random programs
//! (`oracle`).

use super::channels::Channels;
use super::signature::Signature;
use super::touch::{ChannelOp, Effect, Literal, Op, Read, Test, Touch};
use stubborn_network::{BinaryOp, LocationId, Width, arithmetic};

/// Whether two transitions of different processes are in each other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    Never,
    Always,
    /// Unless the channel has room for (or holds) this many messages in the state at hand.
    Unless(Demand),
}

/// Whether two ops are in each other's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clash {
    Never,
    Always,
    /// Unless the channels have what the transition of the first one [`demand`]s of them.
    UnlessMet,
}

/// What the first of two transitions needs of a channel, so as not to block within.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Demand {
    pub(super) channel: i32,
    /// Room or messages.
    pub(super) is_room: bool,
    pub(super) count: usize,
}

/// Whether an op changes what is read.
pub(super) fn affects(op: &Op, read: &Read, kind_of: impl Fn(usize) -> Option<usize>) -> bool {
    let concerns = |pid: usize| match read {
        Read::Process(p) => *p == pid,
        Read::Kind(kind) => kind_of(pid).is_none_or(|k| k == *kind),
        Read::Everything => true,
        _ => false,
    };
    match op {
        Op::Read(_) => false,
        Op::Write { cells, .. } => match read {
            Read::Cells(span) => span.meets(cells),
            Read::Everything => true,
            _ => cells.owner > 0 && concerns(usize::from(cells.owner) - 1),
        },
        Op::Channel { op: ChannelOp::Copy, .. } => false,
        Op::Channel { channels, .. } | Op::Close(channels) => match read {
            Read::Contents(c) => c.meets(channels),
            Read::Everything => true,
            _ => false,
        },
        Op::Move { pid, .. } => concerns(*pid),
        Op::Run | Op::End => !matches!(read, Read::Cells(_) | Read::Contents(_)),
        Op::Offer { .. } => matches!(read, Read::Everything),
    }
}

/// Whether an op may decide that evaluating the guard of a transition goes wrong.
pub(super) fn risks(op: &Op, touch: &Touch, kind_of: &dyn Fn(usize) -> Option<usize>) -> bool {
    touch.risks.iter().any(|read| affects(op, read, kind_of))
}

/// Whether an op may make a literal true, and whether it may make it false.
pub(super) fn changes(op: &Op, literal: &Literal, kind_of: &dyn Fn(usize) -> Option<usize>) -> (bool, bool) {
    if literal.reads.iter().any(|read| affects(op, read, kind_of)) {
        return (true, true);
    }
    let sends = |op: ChannelOp| matches!(op, ChannelOp::Send | ChannelOp::SendSorted);
    let takes = |op: ChannelOp| matches!(op, ChannelOp::Receive | ChannelOp::ReceiveRandom);
    let closes = |channels: &Channels| matches!(op, Op::Close(c) if c.meets(channels));
    let does = |channels: &Channels, what: &dyn Fn(ChannelOp) -> bool| {
        matches!(op, Op::Channel { channels: c, op, .. } if c.meets(channels) && what(*op))
            || closes(channels)
    };
    match &literal.test {
        Test::Compare { cell, width, op: compare, value } => match op {
            Op::Write { cells, width: written, effect } if cells.meets(cell) => match effect {
                Effect::Set(v) if written == width => {
                    let holds = compares(*compare, width.cut(*v), *value);
                    (holds, !holds)
                }
                _ => (true, true),
            },
            _ => (false, false),
        },
        Test::NotEmpty(c) | Test::SomeMatches(c) => (does(c, &sends), does(c, &takes)),
        Test::Empty(c) => (does(c, &takes), does(c, &sends)),
        Test::NotFull(c) => (does(c, &takes), does(c, &sends)),
        Test::Full(c) => (does(c, &sends), does(c, &takes)),
        Test::FirstMatches(c) => {
            let moves_first = does(c, &|op| takes(op) || op == ChannelOp::SendSorted);
            (moves_first, moves_first)
        }
        Test::At { pid, location, is_there } => match op {
            Op::Move { pid: p, from, to, .. } if p == pid => {
                let (arrives, leaves) = (to.contains(location), from == location);
                if *is_there { (arrives, leaves) } else { (leaves, arrives) }
            }
            Op::Run | Op::End => (true, true),
            _ => (false, false),
        },
        Test::SomeAt { kind, location } => match op {
            Op::Move { pid, from, to, .. } => {
                let is_meant = kind.is_none_or(|kind| kind_of(*pid).is_none_or(|k| k == kind));
                let moves = |to: &LocationId| (to == location) != (from == location);
                let may = is_meant && (to.is_empty() || to.iter().any(moves));
                (may, may)
            }
            Op::Run | Op::End => (true, true),
            _ => (false, false),
        },
        Test::Youngest(_) => (*op == Op::End, *op == Op::Run),
        Test::Partner { pid, channels } => match op {
            Op::Move { pid: p, wants: Some(wants), .. } if p != pid => {
                (wants.after.meets(channels), wants.before.meets(channels))
            }
            _ => (false, false),
        },
        Test::Offered { channels, .. } => match op {
            Op::Offer { channels: c, .. } => (c.meets(channels), false),
            _ => (false, false),
        },
        Test::Other => (false, false),
    }
}

/// How two numbers compare.
fn compares(op: BinaryOp, a: i32, b: i32) -> bool {
    arithmetic(op, a, b).is_some_and(|holds| holds != 0)
}

/// Whether transition `u` is in the way of the effects of `t`, or `t` in the way of `u`. That `u` may disable
/// `t` is left out: it depends on which facts `t` relies on in the state at hand.
pub(super) fn conflict(
    (t, ours): (&Touch, &Signature),
    (u, theirs): (&Touch, &Signature),
    kind_of: &dyn Fn(usize) -> Option<usize>,
) -> Conflict {
    if !ours.may_conflict(theirs) {
        return Conflict::Never;
    }
    let ops = || t.ops.iter().enumerate().filter(|&(i, _)| ours.op_may_conflict(i, theirs));
    if !u.risks.is_empty() && ops().any(|(_, op)| risks(op, u, kind_of)) {
        return Conflict::Always;
    }
    if u.is_timeout || exclude(t, u) {
        return Conflict::Never;
    }
    let mut found = Conflict::Never;
    for (i, a) in ops() {
        for (j, literal) in u.guard.iter().flatten().enumerate() {
            if ours.op_may_falsify(i, theirs, j) && changes(a, literal, kind_of).1 {
                return Conflict::Always;
            }
        }
        for (j, b) in u.ops.iter().enumerate() {
            if !ours.ops_may_clash(i, theirs, j) {
                continue;
            }
            match (clash(a, b, kind_of), a) {
                (Clash::Never, _) => {}
                (Clash::UnlessMet, Op::Channel { channels, op, .. }) => {
                    let demand = demand(t.ops.iter(), t.has_loop, channels, *op == ChannelOp::Send);
                    match demand.map(Conflict::Unless) {
                        Some(unless) if found == Conflict::Never || found == unless => found = unless,
                        _ => return Conflict::Always,
                    }
                }
                _ => return Conflict::Always,
            }
        }
    }
    found
}

/// Whether the guards of two transitions never hold together.
fn exclude(t: &Touch, u: &Touch) -> bool {
    let single = |clause: &'_ [Literal]| if let [only] = clause { Some(only.test.clone()) } else { None };
    let (ours, theirs): (Vec<_>, Vec<_>) = (
        t.guard.iter().filter_map(|c| single(c)).collect(),
        u.guard.iter().filter_map(|c| single(c)).collect(),
    );
    ours.iter().any(|a| theirs.iter().any(|b| contradict(a, b) || contradict(b, a)))
}

/// Whether two facts are never so together.
pub(super) fn contradict(a: &Test, b: &Test) -> bool {
    let same = |a: &Channels, b: &Channels| a == b && a.single().is_some();
    match (a, b) {
        (
            Test::Compare { cell, width, op, value },
            Test::Compare { cell: cell2, width: width2, op: op2, value: value2 },
        ) if cell == cell2 && width == width2 => match (op, op2) {
            (BinaryOp::Equal, _) => !compares(*op2, *value, *value2),
            (BinaryOp::Less, BinaryOp::GreaterEqual) => value <= value2,
            (BinaryOp::LessEqual, BinaryOp::Greater) => value <= value2,
            (BinaryOp::Less, BinaryOp::Greater) => i64::from(*value) <= i64::from(*value2) + 1,
            (BinaryOp::LessEqual, BinaryOp::GreaterEqual) => value < value2,
            _ => false,
        },
        (Test::Empty(a), Test::NotEmpty(b) | Test::SomeMatches(b)) => same(a, b),
        (Test::Full(a), Test::NotFull(b)) => same(a, b),
        _ => false,
    }
}

/// Whether an op is in the way of another.
pub(super) fn clash(a: &Op, b: &Op, kind_of: &dyn Fn(usize) -> Option<usize>) -> Clash {
    let always = |is_so: bool| if is_so { Clash::Always } else { Clash::Never };
    match (a, b) {
        (Op::Read(Read::Contents(r)), Op::Channel { .. })
        | (Op::Channel { .. }, Op::Read(Read::Contents(r))) => {
            let other = if matches!(a, Op::Read(_)) { b } else { a };
            always(affects(other, &Read::Contents(*r), kind_of))
        }
        (Op::Read(read), op) | (op, Op::Read(read)) => always(affects(op, read, kind_of)),
        (Op::Write { cells, width, effect }, Op::Write { cells: cells2, width: width2, effect: effect2 }) => {
            always(cells.meets(cells2) && !commute((*width, *effect), (*width2, *effect2)))
        }
        (Op::Channel { channels, op, is_inner }, Op::Channel { channels: c2, op: op2, is_inner: inner2 }) => {
            if !channels.meets(c2) {
                Clash::Never
            } else {
                queue((*op, *is_inner), (*op2, *inner2))
            }
        }
        (Op::Close(c), Op::Channel { channels, .. } | Op::Offer { channels, .. })
        | (Op::Channel { channels, .. } | Op::Offer { channels, .. }, Op::Close(c)) => {
            always(c.meets(channels))
        }
        (Op::Offer { channels, .. }, Op::Offer { channels: c2, .. }) => always(channels.meets(c2)),
        (Op::Offer { channels, is_inner }, Op::Move { wants: Some(wants), .. })
        | (Op::Move { wants: Some(wants), .. }, Op::Offer { channels, is_inner }) => {
            always(wants.before.meets(channels) || (*is_inner && wants.after.meets(channels)))
        }
        (Op::Move { pid, from, .. }, Op::Move { pid: pid2, from: from2, .. }) => {
            always(pid == pid2 && from == from2)
        }
        (Op::Run, Op::Run | Op::End) | (Op::End, Op::Run) => Clash::Always,
        _ => Clash::Never,
    }
}

fn commute(a: (Width, Effect), b: (Width, Effect)) -> bool {
    match (a.1, b.1) {
        (Effect::Set(v), Effect::Set(w)) => a.0 == b.0 && a.0.cut(v) == a.0.cut(w),
        (Effect::Add, Effect::Add) => a.0 == b.0,
        _ => false,
    }
}

/// Two operations on the same channel.
fn queue(a: (ChannelOp, bool), b: (ChannelOp, bool)) -> Clash {
    use ChannelOp::{Copy, Receive, ReceiveRandom, Send, SendSorted};
    let (op, is_inner) = a;
    match (op, b.0) {
        (Copy, Copy) => Clash::Never,
        // What is at the end of the queue does not matter at its beginning, and the other way round.
        (Send, Receive | ReceiveRandom) | (Receive | ReceiveRandom | Copy, Send) => {
            if !is_inner && !b.1 {
                Clash::Never
            } else if b.1 {
                Clash::Always
            } else {
                Clash::UnlessMet
            }
        }
        (Send, Copy) if !is_inner && !b.1 => Clash::Never,
        (SendSorted, _) | (_, SendSorted) => Clash::Always,
        _ => Clash::Always,
    }
}

/// How many messages a transition that does `ops` sends to, or takes from, a channel, if that is known.
pub(super) fn demand<'o>(
    ops: impl Iterator<Item = &'o Op>,
    has_loop: bool,
    channels: &Channels,
    is_room: bool,
) -> Option<Demand> {
    let channel = channels.single().filter(|_| !has_loop)?;
    let mut count = 0;
    for op in ops {
        if let Op::Channel { channels: c, op, .. } = op
            && c.meets(channels)
        {
            match op {
                ChannelOp::Send if is_room => count += 1,
                ChannelOp::Receive | ChannelOp::Copy if !is_room => count += 1,
                _ => return None,
            }
        }
    }
    Some(Demand { channel, is_room, count })
}
