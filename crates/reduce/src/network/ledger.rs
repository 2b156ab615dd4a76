//! What is done and what is waited for, each thing once.
//!
//! **Implements** the tables behind the [`rows`](super::rows): the steps of a network do few different things, atomic sequences the
//! same ones again and again. So an op is compared with each different op and each different literal once, and rows are
//! unions of what was found.
//! **Preserves** what [`conflict`](super::accord::conflict) and [`changes`] say of pairs of transitions.
//! **Checked by** assertions where rows are made, so by every test with a model: all pairs are compared there.

use super::accord::{Clash, Demand, affects, changes, clash, contradict, demand};
use super::channels::Channels;
use super::nodes::Nodes;
use super::signature::{of_any, of_literal, of_read};
use super::touch::{ChannelOp, Literal, Op, Read, Touch};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHasher};
use std::cell::OnceCell;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;
use stubborn_network::Expr;

/// Everything that is done or waited for; sets are sets of deeds.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    deeds: Vec<Deed>,
    /// What they do and wait for, one behind the other.
    done: Vec<u32>,
    clauses: Vec<Range<u32>>,
    awaited: Vec<Awaited>,
    ops: Vec<Doing>,
    literals: Vec<Waiting>,
    /// By hash, and by signature: the first of the lists of those that have it.
    ops_with: FxHashMap<u64, u32>,
    literals_with: FxHashMap<u64, u32>,
    /// Lists of deeds: one of them, and where its list goes on.
    lists: Vec<(u32, u32)>,
    /// Deeds in whose guards something may go wrong, with a signature of what decides that.
    risky: Vec<(usize, u64)>,
}

/// A touch that is written down: its things have numbers.
#[derive(Debug)]
pub(super) struct Deed {
    ops: Range<u32>,
    clauses: Range<u32>,
    pub(super) risks: Box<[Read]>,
    pub(super) is_timeout: bool,
    pub(super) may_fail: bool,
    pub(super) may_go_round: bool,
    has_loop: bool,
}

/// A literal of a guard, and how to find out whether it is so.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) literal: u32,
    pub(super) truth: Option<(Rc<Expr>, bool)>,
}

/// The end of a list.
const END: u32 = u32::MAX;

/// An op, and a list of who does it.
#[derive(Debug)]
struct Doing {
    op: Op,
    signature: u64,
    by: u32,
    hits: OnceCell<Box<Hits>>,
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
    changers: OnceCell<Box<Changers>>,
    excluded: OnceCell<Box<FixedBitSet>>,
    next: u32,
}

/// What an op is in the way of. Sets in which nothing is have no room for anything.
#[derive(Debug, Default)]
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

/// Deeds that may make a literal true, and false. Sets in which nothing is have no room for anything.
#[derive(Debug, Default)]
pub(super) struct Changers {
    pub(super) enablers: FixedBitSet,
    pub(super) falsifiers: FixedBitSet,
    /// The nodes that are held to account for them, once that was asked for.
    pub(super) nodes: OnceCell<(Nodes, Nodes)>,
}

impl Ledger {
    /// A ledger with room for deeds of so many nodes.
    pub(super) fn for_nodes(n_nodes: usize) -> Self {
        let mut ledger = Self::default();
        ledger.deeds.reserve(n_nodes);
        ledger.done.reserve(2 * n_nodes);
        ledger.lists.reserve(2 * n_nodes);
        ledger.ops.reserve(n_nodes);
        ledger
    }

    /// Adds what a deed waits for and does. Deeds have numbers, in this order.
    pub(super) fn add(&mut self, touch: Touch) {
        let number = self.deeds.len();
        let deed = self.write_down(touch);
        for i in deed.ops.clone() {
            let op = &mut self.ops[self.done[i as usize] as usize];
            add(&mut op.by, number, &mut self.lists);
        }
        for clause in &self.clauses[range(&deed.clauses)] {
            for awaited in &self.awaited[range(clause)] {
                let waiting = &mut self.literals[awaited.literal as usize];
                add(&mut waiting.by, number, &mut self.lists);
                if clause.len() == 1 {
                    add(&mut waiting.alone, number, &mut self.lists);
                }
            }
        }
        if !deed.risks.is_empty() {
            self.risky.push((number, deed.risks.iter().map(of_read).fold(0, |a, b| a | b)));
        }
        self.deeds.push(deed);
    }

    /// Writes down a touch that is not one of the deeds.
    pub(super) fn write_down(&mut self, touch: Touch) -> Deed {
        let Touch { guard, ops, risks, is_timeout, may_fail, has_loop, may_go_round } = touch;
        let first = self.done.len() as u32;
        for op in ops {
            let number = self.op(op);
            self.done.push(number);
        }
        let first_clause = self.clauses.len() as u32;
        for clause in guard {
            let first = self.awaited.len() as u32;
            for mut literal in clause {
                let truth = literal.truth.take();
                let literal = self.literal(literal);
                self.awaited.push(Awaited { literal, truth });
            }
            self.clauses.push(first..self.awaited.len() as u32);
        }
        Deed {
            ops: first..self.done.len() as u32,
            clauses: first_clause..self.clauses.len() as u32,
            risks: risks.into(),
            is_timeout,
            may_fail,
            may_go_round,
            has_loop,
        }
    }

    /// Forgets what was written down last, and was not added.
    pub(super) fn forget(&mut self, deed: &Deed) {
        let first = self.clauses.get(deed.clauses.start as usize).map(|clause| clause.start as usize);
        self.awaited.truncate(first.unwrap_or(self.awaited.len()));
        self.clauses.truncate(deed.clauses.start as usize);
        self.done.truncate(deed.ops.start as usize);
    }

    pub(super) fn deeds(&self) -> &[Deed] {
        &self.deeds
    }

    /// The numbers of what a deed does.
    fn numbers(&self, deed: &Deed) -> &[u32] {
        &self.done[range(&deed.ops)]
    }

    /// What a deed does.
    pub(super) fn ops(&self, deed: &Deed) -> impl Iterator<Item = &Op> {
        self.numbers(deed).iter().map(|&number| &self.ops[number as usize].op)
    }

    /// What a deed waits for.
    pub(super) fn clauses(&self, deed: &Deed) -> impl Iterator<Item = &[Awaited]> {
        self.clauses[range(&deed.clauses)].iter().map(|clause| &self.awaited[range(clause)])
    }

    /// How many messages a deed sends to, or takes from, a channel, if that is known.
    pub(super) fn demand(&self, deed: &Deed, channels: &Channels, is_room: bool) -> Option<Demand> {
        demand(self.ops(deed), deed.has_loop, channels, is_room)
    }

    /// A deed as it was before it was written down.
    pub(super) fn touch(&self, deed: &Deed) -> Touch {
        let literal = |awaited: &Awaited| Literal {
            truth: awaited.truth.clone(),
            ..self.literals[awaited.literal as usize].literal.clone()
        };
        Touch {
            guard: self.clauses(deed).map(|clause| clause.iter().map(literal).collect()).collect(),
            ops: self.ops(deed).cloned().collect(),
            risks: deed.risks.to_vec(),
            is_timeout: deed.is_timeout,
            may_fail: deed.may_fail,
            has_loop: deed.has_loop,
            may_go_round: deed.may_go_round,
        }
    }

    /// The number of an op.
    fn op(&mut self, op: Op) -> u32 {
        let mut hasher = FxHasher::default();
        op.hash(&mut hasher);
        let first = self.ops_with.entry(hasher.finish()).or_insert(END);
        let mut at = *first;
        while let Some(known) = self.ops.get(at as usize) {
            if known.op == op {
                return at;
            }
            at = known.next;
        }
        let number = self.ops.len() as u32;
        let (signature, next) = (of_any(&op), std::mem::replace(first, number));
        self.ops.push(Doing { op, signature, by: END, hits: OnceCell::new(), next });
        number
    }

    /// The number of a literal. How its truth is found out does not matter.
    fn literal(&mut self, literal: Literal) -> u32 {
        let signature = of_literal(&literal);
        let first = self.literals_with.entry(signature).or_insert(END);
        let mut at = *first;
        while let Some(Waiting { literal: known, next, .. }) = self.literals.get(at as usize) {
            if known.test == literal.test && known.reads == literal.reads {
                return at;
            }
            at = *next;
        }
        let number = self.literals.len() as u32;
        let next = std::mem::replace(first, number);
        let (by, alone, changers, excluded) = (END, END, OnceCell::new(), OnceCell::new());
        self.literals.push(Waiting { literal, signature, by, alone, changers, excluded, next });
        number
    }

    /// Adds the deeds of a list to a set.
    fn unite(&self, set: &mut FixedBitSet, list: u32) {
        let mut at = list;
        if at != END {
            set.grow(self.deeds.len());
        }
        while let Some(&(deed, next)) = self.lists.get(at as usize) {
            set.insert(deed as usize);
            at = next;
        }
    }

    /// What each op of a deed is in the way of.
    pub(super) fn all_hits(
        &self,
        deed: &Deed,
        kind_of: &dyn Fn(usize) -> Option<usize>,
    ) -> impl Iterator<Item = &Hits> {
        self.numbers(deed).iter().map(move |&number| {
            let doing = &self.ops[number as usize];
            &**doing.hits.get_or_init(|| Box::new(self.hits(doing, kind_of)))
        })
    }

    fn hits(&self, Doing { op, signature, .. }: &Doing, kind_of: &dyn Fn(usize) -> Option<usize>) -> Hits {
        let mut hits = Hits::default();
        if let Op::Channel { channels, op, .. } = op {
            hits.demand = Some((*channels, *op == ChannelOp::Send));
        }
        for &(deed, minded) in &self.risky {
            let decides = |read: &Read| affects(op, read, kind_of);
            if minded & signature != 0 && self.deeds[deed].risks.iter().any(decides) {
                hits.risky.grow(self.deeds.len());
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
        hits
    }

    /// A literal, and who may change it.
    pub(super) fn changers(
        &self,
        number: u32,
        kind_of: &dyn Fn(usize) -> Option<usize>,
    ) -> (&Literal, &Changers) {
        let Waiting { literal, signature, changers, .. } = &self.literals[number as usize];
        let changers = changers.get_or_init(|| {
            let mut changers = Changers::default();
            for doing in self.ops.iter().filter(|doing| doing.signature & signature != 0) {
                let (enables, falsifies) = changes(&doing.op, literal, kind_of);
                if enables {
                    self.unite(&mut changers.enablers, doing.by);
                }
                if falsifies {
                    self.unite(&mut changers.falsifiers, doing.by);
                }
            }
            Box::new(changers)
        });
        (literal, changers)
    }

    /// Deeds that are never possible where this literal holds.
    pub(super) fn excluded(&self, number: u32) -> &FixedBitSet {
        let Waiting { literal: Literal { test, .. }, signature, excluded, .. } =
            &self.literals[number as usize];
        excluded.get_or_init(|| {
            let mut excluded = FixedBitSet::new();
            for waiting in self.literals.iter().filter(|waiting| waiting.signature & signature != 0) {
                let other = &waiting.literal.test;
                if contradict(test, other) || contradict(other, test) {
                    self.unite(&mut excluded, waiting.alone);
                }
            }
            Box::new(excluded)
        })
    }

    /// Deeds that may change what is read.
    pub(super) fn affecting(&self, reads: &[Read], kind_of: &dyn Fn(usize) -> Option<usize>) -> FixedBitSet {
        let minded = reads.iter().map(of_read).fold(0, |a, b| a | b);
        let mut deeds = FixedBitSet::with_capacity(self.deeds.len());
        for doing in self.ops.iter().filter(|doing| doing.signature & minded != 0) {
            if reads.iter().any(|read| affects(&doing.op, read, kind_of)) {
                self.unite(&mut deeds, doing.by);
            }
        }
        deeds
    }
}

/// Adds a deed to a list.
fn add(list: &mut u32, deed: usize, lists: &mut Vec<(u32, u32)>) {
    let next = std::mem::replace(list, lists.len() as u32);
    lists.push((deed as u32, next));
}

fn range(numbers: &Range<u32>) -> Range<usize> {
    numbers.start as usize..numbers.end as usize
}
