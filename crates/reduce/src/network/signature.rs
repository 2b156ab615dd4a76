//! Signatures: 64 bits that say roughly what a touch looks at and changes, so that most pairs of touches that have
//! nothing to do with each other are told apart by one comparison.
//!
//! Things share bits, so signatures that meet mean nothing; those that do not meet mean that [`accord`](super::accord)
//! would find nothing.
//! **Checked by** assertions where the tables are made, so by every test with a model.

use super::channels::Channels;
use super::touch::{Literal, Op, Read, Span, Test, Touch};

/// Cells of the globals.
const GLOBALS: (u32, u32) = (0, 32);
/// Locals, by their owner.
const LOCALS: (u32, u32) = (32, 8);
/// Channels by number; one more for those that do not exist yet.
const CHANNELS: (u32, u32) = (40, 15);
const FRESH: u64 = 1 << 55;
/// Where processes are.
const PLACES: (u32, u32) = (56, 7);
/// Which processes and channels exist.
const POPULATION: u64 = 1 << 63;

/// The signatures of a touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    /// Of each of its ops: what it changes, or looks at.
    ops: Vec<u64>,
    /// What it changes.
    changes: u64,
    /// What its effects look at.
    reads: u64,
    /// Of each literal of its guard: what it looks at.
    literals: Vec<u64>,
    /// What its guard looks at, and what decides whether evaluating it goes wrong.
    minds: u64,
}

impl Signature {
    pub(super) fn of(touch: &Touch) -> Self {
        let mut signature = Self::default();
        for op in &touch.ops {
            let bits = of_any(op);
            let all = if matches!(op, Op::Read(_)) { &mut signature.reads } else { &mut signature.changes };
            *all |= bits;
            signature.ops.push(bits);
        }
        signature.literals.extend(touch.guard.iter().flatten().map(of_literal));
        signature.minds = signature.literals.iter().fold(0, |a, b| a | b);
        touch.risks.iter().for_each(|read| signature.minds |= of_read(read));
        signature
    }

    /// A signature that says nothing, to hold others against.
    pub(super) fn vague(touch: &Touch) -> Self {
        let (changes, reads, minds) = (u64::MAX, u64::MAX, u64::MAX);
        let literals = vec![u64::MAX; touch.guard.iter().flatten().count()];
        Self { ops: vec![u64::MAX; touch.ops.len()], changes, reads, literals, minds }
    }

    /// Whether one touch may be in the way of another.
    pub(super) fn may_conflict(&self, other: &Self) -> bool {
        self.changes & (other.changes | other.reads | other.minds) != 0 || self.reads & other.changes != 0
    }

    /// Whether its op with this number may be in the way of another touch.
    pub(super) fn op_may_conflict(&self, op: usize, other: &Self) -> bool {
        self.ops[op] & (other.changes | other.reads | other.minds) != 0
    }

    /// Whether its op with this number may be in the way of another's op.
    pub(super) fn ops_may_clash(&self, op: usize, other: &Self, other_op: usize) -> bool {
        self.ops[op] & other.ops[other_op] != 0
    }

    /// Whether its op with this number may change one of the literals of another's guard.
    pub(super) fn op_may_falsify(&self, op: usize, other: &Self, literal: usize) -> bool {
        self.ops[op] & other.literals[literal] != 0
    }
}

fn one((first, n): (u32, u32), i: usize) -> u64 {
    1 << (first + i as u32 % n)
}

fn all((first, n): (u32, u32)) -> u64 {
    ((1 << n) - 1) << first
}

fn of_span(span: &Span) -> u64 {
    if span.owner > 0 {
        return one(LOCALS, usize::from(span.owner));
    }
    let blocks = span.from / 4..=(span.to - 1) / 4;
    if blocks.clone().count() >= GLOBALS.1 as usize {
        return all(GLOBALS);
    }
    blocks.map(|block| one(GLOBALS, block as usize)).fold(0, |a, b| a | b)
}

fn of_channels(channels: &Channels) -> u64 {
    if channels.meets(&Channels::FRESH) {
        // Among others, or unknown ones.
        return if *channels == Channels::FRESH { FRESH } else { all(CHANNELS) | FRESH };
    }
    channels.iter().map(|channel| one(CHANNELS, channel as usize)).fold(0, |a, b| a | b)
}

/// What a read looks at.
pub(super) fn of_read(read: &Read) -> u64 {
    match read {
        Read::Cells(span) => of_span(span),
        Read::Contents(channels) => of_channels(channels),
        Read::Process(pid) => one(PLACES, *pid) | one(LOCALS, pid + 1) | POPULATION,
        Read::Kind(_) => all(PLACES) | all(LOCALS) | POPULATION,
        Read::Population => POPULATION,
        Read::Everything => u64::MAX,
    }
}

/// What a literal looks at.
pub(super) fn of_literal(literal: &Literal) -> u64 {
    let reads = literal.reads.iter().map(of_read).fold(0, |a, b| a | b);
    reads
        | match &literal.test {
            Test::Compare { cell, .. } => of_span(cell),
            Test::NotEmpty(c)
            | Test::Empty(c)
            | Test::NotFull(c)
            | Test::Full(c)
            | Test::FirstMatches(c)
            | Test::SomeMatches(c)
            | Test::Partner { channels: c, .. }
            | Test::Offered { channels: c, .. } => of_channels(c),
            Test::At { pid, .. } => one(PLACES, *pid) | POPULATION,
            Test::SomeAt { .. } => all(PLACES) | POPULATION,
            Test::Youngest(_) => POPULATION,
            Test::Other => 0,
        }
}

/// What an op changes, or looks at.
pub(super) fn of_any(op: &Op) -> u64 {
    match op {
        Op::Read(read) => of_read(read),
        op => of_op(op),
    }
}

/// What an op that is no read changes.
fn of_op(op: &Op) -> u64 {
    match op {
        Op::Read(_) => 0,
        Op::Write { cells, .. } => of_span(cells),
        Op::Channel { channels, .. } | Op::Offer { channels, .. } | Op::Close(channels) => {
            of_channels(channels)
        }
        Op::Move { pid, wants, .. } => {
            let wants = wants.as_ref().map_or(0, |w| of_channels(&w.before) | of_channels(&w.after));
            one(PLACES, *pid % PLACES.1 as usize) | wants
        }
        Op::Run | Op::End => POPULATION,
    }
}
