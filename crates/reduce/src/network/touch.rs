//! What a transition of one process waits for and does, in terms of places in the state that are as exact as
//! is known: array cells with their index, channels by their number.
//!
//! A transition begins with a step. What it waits for is the guard of that step, in conjunctive normal form:
//! [`Clause`]s of [`Literal`]s. What it does are [`Op`]s, those of the steps that may follow within an atomic
//! sequence included, and those of the receivers that a rendezvous may find. Listing too much makes a
//! reduction weaker, listing too little makes it wrong.

use super::channels::Channels;
use std::rc::Rc;
use stubborn_network::{BinaryOp, Expr, LocationId, Width};

/// Some bytes of the globals (owner zero) or of the locals of process `owner - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Span {
    pub(super) owner: u16,
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Span {
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.owner == other.owner && self.from < other.to && other.from < self.to
    }
}

/// Something that is looked at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Read {
    Cells(Span),
    /// What is in channels.
    Contents(Channels),
    /// Where the process is, and its locals.
    Process(usize),
    /// The same for all processes of a kind.
    Kind(usize),
    /// Which processes and channels exist.
    Population,
    /// Everything.
    Everything,
}

/// A fact that part of a guard asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// A cell compares so with a constant.
    Compare {
        cell: Span,
        width: Width,
        op: BinaryOp,
        value: i32,
    },
    NotEmpty(Channels),
    Empty(Channels),
    NotFull(Channels),
    Full(Channels),
    /// The channels are empty, or the first message of the one that is meant has the values that are wanted.
    FirstMatches(Channels),
    /// Some message has the values that are wanted.
    SomeMatches(Channels),
    /// A process is at a location, or is not.
    At {
        pid: usize,
        location: LocationId,
        is_there: bool,
    },
    /// The process that is meant is at this location, or is not: the oldest of a kind, or any one at all.
    SomeAt {
        kind: Option<usize>,
        location: LocationId,
    },
    /// No younger process exists.
    Youngest(usize),
    /// Another process wants what this one offers.
    Partner {
        pid: usize,
        channels: Channels,
    },
    /// Another process offers what this one wants. Never true on its own: the other process moves both.
    Offered {
        pid: usize,
        channels: Channels,
    },
    /// Anything else.
    Other,
}

/// A fact, how to find out whether it is so, and what else it depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Literal {
    pub(super) test: Test,
    /// A change of any of these may change the fact in any way.
    pub(super) reads: Vec<Read>,
    /// The fact as an expression of the process, if it is one, and whether it must be true or false.
    pub(super) truth: Option<(Rc<Expr>, bool)>,
}

/// One of these facts must be so.
pub(super) type Clause = Vec<Literal>;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Effect {
    /// This value.
    Set(i32),
    /// The old value and a constant.
    Add,
    /// Some value.
    Any,
}

/// What is done to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ChannelOp {
    Send,
    SendSorted,
    Receive,
    ReceiveRandom,
    /// The message that a receive would take is read and stays.
    Copy,
}

/// Part of what a transition does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    Read(Read),
    Write {
        cells: Span,
        width: Width,
        effect: Effect,
    },
    Channel {
        channels: Channels,
        op: ChannelOp,
        /// Not with the first step, so that it may block without disabling the transition.
        is_inner: bool,
    },
    Offer {
        channels: Channels,
        is_inner: bool,
    },
    /// A process moves. Which rendezvous it wants before and after tells who finds a partner in it.
    Move {
        pid: usize,
        from: LocationId,
        to: Rc<[LocationId]>,
        /// `None` if it never wants any.
        wants: Option<Rc<Wants>>,
    },
    Run,
    End,
    /// Channels cease to exist.
    Close(Channels),
}

/// On which channels a process that moves wants rendezvous, before and after.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Wants {
    pub(super) before: Channels,
    pub(super) after: Channels,
}

impl Wants {
    /// `None` if there are none.
    pub(super) fn new(before: Channels, after: Channels) -> Option<Rc<Self>> {
        let are_none = before.is_empty() && after.is_empty();
        (!are_none).then(|| Rc::new(Self { before, after }))
    }
}

/// What a transition waits for and does.
#[derive(Clone, Debug, Default)]
pub(super) struct Touch {
    pub(super) guard: Vec<Clause>,
    pub(super) ops: Vec<Op>,
    /// If evaluating the guard may go wrong, also where the transition is not enabled: what decides that.
    pub(super) risks: Vec<Read>,
    /// It can be done only when nothing else can.
    pub(super) is_timeout: bool,
    /// Something may go wrong with it: an assertion, an index, a division, a channel that is none.
    pub(super) may_fail: bool,
    /// The atomic sequence may do one of its steps more than once.
    pub(super) has_loop: bool,
    /// It may go round for ever, so that it is disabled although its guard holds.
    pub(super) may_go_round: bool,
}
