//! What is done and what is waited for, each thing once.
//!
//! **Implements** the tables behind the [`rows`](super::rows): the steps of a network do few different things, atomic sequences the
//! same ones again and again. So an op is compared with each different op and each different literal once, and rows are
//! unions of what was found.
//! **Preserves** what [`conflict`](super::accord::conflict) and [`changes`] say of pairs of transitions.
//! **Checked by** assertions where rows are made, so by every test with a model: all pairs are compared there.

use super::accord::{Clash, affects, changes, clash, contradict};
use super::channels::Channels;
use super::nodes::Nodes;
use super::signature::{of_any, of_literal, of_read};
use super::touch::{ChannelOp, Literal, Op, Read, Touch};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHasher};
use std::cell::OnceCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Everything that is done or waited for; sets are sets of deeds.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    n_deeds: usize,
    ops: Vec<Doing>,
    literals: Vec<Waiting>,
    /// By hash, and by signature: the first of the lists of those that have it.
    ops_with: FxHashMap<u64, u32>,
    literals_with: FxHashMap<u64, u32>,
    /// Lists of deeds: one of them, and where its list goes on.
    deeds: Vec<(u32, u32)>,
    /// Deeds in whose guards something may go wrong, with a signature of what decides that.
    risky: Vec<(usize, u64)>,
}

/// The end of a list.
const END: u32 = u32::MAX;

/// An op, and a list of who does it.
#[derive(Debug)]
struct Doing {
    op: Op,
    signature: u64,
    by: u32,
    hits: Option<Rc<Hits>>,
    next: u32,
}

/// A literal, and a list of whose guard has it.
#[derive(Debug)]
struct Waiting {
    literal: Literal,
    signature: u64,
    by: u32,
    /// As all of a clause.
    alone: u32,
    changers: Option<Rc<Changers>>,
    excluded: Option<Rc<FixedBitSet>>,
    next: u32,
}

/// What an op is in the way of.
#[derive(Debug)]
pub(super) struct Hits {
    /// Deeds in whose guard something may go wrong because of it.
    pub(super) risky: FixedBitSet,
    /// Deeds whose guard it may falsify, or that have an op that it does not commute with.
    pub(super) always: FixedBitSet,
    /// Deeds with which it accords as long as the channels have what the transition demands.
    pub(super) unless: FixedBitSet,
    /// The channels, and whether room is demanded.
    pub(super) demand: Option<(Channels, bool)>,
}

/// Deeds that may make a literal true, and false.
#[derive(Debug)]
pub(super) struct Changers {
    pub(super) enablers: FixedBitSet,
    pub(super) falsifiers: FixedBitSet,
    /// The nodes that are held to account for them, once that was asked for.
    pub(super) nodes: OnceCell<(Nodes, Nodes)>,
}

impl Ledger {
    /// The ledger of some deeds, which are numbered in this order.
    pub(super) fn new(deeds: &[Touch]) -> Self {
        let mut ledger = Self { n_deeds: deeds.len(), ..Self::default() };
        ledger.ops.reserve(deeds.len());
        ledger.deeds.reserve(3 * deeds.len());
        for (deed, touch) in deeds.iter().enumerate() {
            for op in &touch.ops {
                let number = ledger.op(op);
                add(&mut ledger.ops[number].by, deed, &mut ledger.deeds);
            }
            for clause in &touch.guard {
                for literal in clause {
                    let number = ledger.literal(literal);
                    add(&mut ledger.literals[number].by, deed, &mut ledger.deeds);
                    if clause.len() == 1 {
                        add(&mut ledger.literals[number].alone, deed, &mut ledger.deeds);
                    }
                }
            }
            if !touch.risks.is_empty() {
                ledger.risky.push((deed, touch.risks.iter().map(of_read).fold(0, |a, b| a | b)));
            }
        }
        ledger
    }

    /// The number of an op.
    fn op(&mut self, op: &Op) -> usize {
        let mut hasher = FxHasher::default();
        op.hash(&mut hasher);
        let first = self.ops_with.entry(hasher.finish()).or_insert(END);
        let mut at = *first;
        while let Some(known) = self.ops.get(at as usize) {
            if known.op == *op {
                return at as usize;
            }
            at = known.next;
        }
        let next = std::mem::replace(first, self.ops.len() as u32);
        self.ops.push(Doing { op: op.clone(), signature: of_any(op), by: END, hits: None, next });
        self.ops.len() - 1
    }

    /// The number of a literal. How its truth is found out does not matter.
    fn literal(&mut self, literal: &Literal) -> usize {
        let signature = of_literal(literal);
        let first = self.literals_with.entry(signature).or_insert(END);
        let mut at = *first;
        while let Some(Waiting { literal: known, next, .. }) = self.literals.get(at as usize) {
            if known.test == literal.test && known.reads == literal.reads {
                return at as usize;
            }
            at = *next;
        }
        let next = std::mem::replace(first, self.literals.len() as u32);
        let literal = Literal { test: literal.test.clone(), reads: literal.reads.clone(), truth: None };
        let (by, alone, changers, excluded) = (END, END, None, None);
        self.literals.push(Waiting { literal, signature, by, alone, changers, excluded, next });
        self.literals.len() - 1
    }

    /// Adds the deeds of a list to a set.
    fn unite(&self, set: &mut FixedBitSet, list: u32) {
        let mut at = list;
        while let Some(&(deed, next)) = self.deeds.get(at as usize) {
            set.insert(deed as usize);
            at = next;
        }
    }

    /// What an op is in the way of.
    pub(super) fn hits(
        &mut self,
        op: &Op,
        deeds: &[Touch],
        kind_of: &dyn Fn(usize) -> Option<usize>,
    ) -> Rc<Hits> {
        let number = self.op(op);
        if let Some(known) = &self.ops[number].hits {
            return known.clone();
        }
        let signature = self.ops[number].signature;
        let none = FixedBitSet::with_capacity(self.n_deeds);
        let mut hits = Hits { risky: none.clone(), always: none.clone(), unless: none, demand: None };
        if let Op::Channel { channels, op, .. } = op {
            hits.demand = Some((*channels, *op == ChannelOp::Send));
        }
        for &(deed, minded) in &self.risky {
            let decides = |read: &Read| affects(op, read, kind_of);
            if minded & signature != 0 && deeds[deed].risks.iter().any(decides) {
                hits.risky.insert(deed);
            }
        }
        for waiting in self.literals.iter().filter(|waiting| waiting.signature & signature != 0) {
            if changes(op, &waiting.literal, kind_of).1 {
                self.unite(&mut hits.always, waiting.by);
            }
        }
        for doing in self.ops.iter().filter(|doing| doing.signature & signature != 0) {
            match clash(op, &doing.op, kind_of) {
                Clash::Never => {}
                Clash::Always => self.unite(&mut hits.always, doing.by),
                Clash::UnlessMet => self.unite(&mut hits.unless, doing.by),
            }
        }
        let hits = Rc::new(hits);
        self.ops[number].hits = Some(hits.clone());
        hits
    }

    /// Who may change a literal.
    pub(super) fn changers(
        &mut self,
        literal: &Literal,
        kind_of: &dyn Fn(usize) -> Option<usize>,
    ) -> Rc<Changers> {
        let number = self.literal(literal);
        if let Some(known) = &self.literals[number].changers {
            return known.clone();
        }
        let signature = self.literals[number].signature;
        let none = FixedBitSet::with_capacity(self.n_deeds);
        let mut changers = Changers { enablers: none.clone(), falsifiers: none, nodes: OnceCell::new() };
        for doing in self.ops.iter().filter(|doing| doing.signature & signature != 0) {
            let (enables, falsifies) = changes(&doing.op, literal, kind_of);
            if enables {
                self.unite(&mut changers.enablers, doing.by);
            }
            if falsifies {
                self.unite(&mut changers.falsifiers, doing.by);
            }
        }
        let changers = Rc::new(changers);
        self.literals[number].changers = Some(changers.clone());
        changers
    }

    /// Deeds that are never possible where this literal holds.
    pub(super) fn excluded(&mut self, literal: &Literal) -> Rc<FixedBitSet> {
        let number = self.literal(literal);
        if let Some(known) = &self.literals[number].excluded {
            return known.clone();
        }
        let (signature, test) = (self.literals[number].signature, &literal.test);
        let mut excluded = FixedBitSet::with_capacity(self.n_deeds);
        for waiting in self.literals.iter().filter(|waiting| waiting.signature & signature != 0) {
            let other = &waiting.literal.test;
            if contradict(test, other) || contradict(other, test) {
                self.unite(&mut excluded, waiting.alone);
            }
        }
        let excluded = Rc::new(excluded);
        self.literals[number].excluded = Some(excluded.clone());
        excluded
    }

    /// Deeds that may change what is read.
    pub(super) fn affecting(&self, reads: &[Read], kind_of: &dyn Fn(usize) -> Option<usize>) -> FixedBitSet {
        let minded = reads.iter().map(of_read).fold(0, |a, b| a | b);
        let mut deeds = FixedBitSet::with_capacity(self.n_deeds);
        for doing in self.ops.iter().filter(|doing| doing.signature & minded != 0) {
            if reads.iter().any(|read| affects(&doing.op, read, kind_of)) {
                self.unite(&mut deeds, doing.by);
            }
        }
        deeds
    }
}

/// Adds a deed to a list.
fn add(list: &mut u32, deed: usize, deeds: &mut Vec<(u32, u32)>) {
    let next = std::mem::replace(list, deeds.len() as u32);
    deeds.push((deed as u32, next));
}
