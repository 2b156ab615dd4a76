//! The rows of the tables: which nodes a transition does not accord with, and who may change the facts that it waits for.
//!
//! A node is held to account for what the processes do that it starts. Several may start the same, so each deed is
//! compared once, for all of them; and so is each of the things that are done or waited for ([`ledger`](super::ledger)).
//! **Checked by** the definition of D1 and D2 at the states of all test models, and by random programs (`oracle`).

use super::accord::{Conflict, Demand, changes, conflict, demand};
use super::ledger::Hits;
use super::nodes::{Block, Nodes, blocks_of, nodes, unite};
use super::population::Population;
use super::signature::Signature;
use super::touch::{Literal, Read, Touch};
use fixedbitset::FixedBitSet;

/// What a node requires.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    /// Nodes that come with it where it is enabled, whatever else is so: those that do not accord with it, and those that may falsify
    /// a clause of its guard that is one literal.
    pub(super) brought: Nodes,
    /// Whether these are all.
    pub(super) is_plain: bool,
    /// Nodes that do not accord with it unless the channel is as demanded.
    pub(super) unless: Vec<(Demand, Nodes)>,
    /// Nodes that may decide that evaluating its guard goes wrong; `None` if it cannot.
    pub(super) risks: Option<Nodes>,
    /// Its guard.
    pub(super) clauses: Vec<ClauseRow>,
    /// Whether its run may go round for ever, so that it is disabled although its guard holds.
    pub(super) may_go_round: bool,
}

/// Facts of which one must be so, and who may make one so.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClauseRow {
    pub(super) literals: Vec<LiteralRow>,
    pub(super) enablers: Nodes,
    /// Whether it may be known to be false: there are facts for all of it.
    pub(super) may_be_false: bool,
}

/// A fact, and who may change that it is so.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LiteralRow {
    pub(super) falsifiers: Nodes,
    /// Which of [`Population::facts`] it is, and whether that must be true or false.
    pub(super) fact: Option<(usize, bool)>,
}

impl Population {
    /// The row of a touch.
    pub(super) fn row(&self, touch: &Touch, of: Option<usize>) -> Row {
        let kind_of = |pid: usize| self.kinds.get(pid).copied();
        let mut row = Row { may_go_round: touch.may_go_round, ..Row::default() };
        let mut brought = self.conflicts(touch, of, &mut row);
        if self.is_risky(touch, of) {
            row.risks = Some(self.nodes_of(&self.ledger.borrow().affecting(&touch.risks, &kind_of)));
        }
        row.clauses = touch.guard.iter().map(|clause| self.clause_row(clause, &kind_of)).collect();
        row.is_plain = row.unless.is_empty();
        for clause in &row.clauses {
            match &clause.literals[..] {
                [only] => unite(&mut brought, &only.falsifiers),
                _ => row.is_plain = false,
            }
        }
        row.brought = nodes(&brought);
        row
    }

    /// The nodes of others that do not accord with a touch, and those of its own process that it excludes. Adds those that do not
    /// accord with it unless something is so to its row.
    fn conflicts(&self, touch: &Touch, of: Option<usize>, row: &mut Row) -> FixedBitSet {
        let kind_of = |pid: usize| self.kinds.get(pid).copied();
        let mut ledger = self.ledger.borrow_mut();
        let mut found = Found::new(self.deeds.len());
        for op in &touch.ops {
            let hits = ledger.hits(op, &self.deeds, &kind_of);
            found.add(touch, &hits);
        }
        found.always.difference_with(&self.timeouts);
        found.unless.iter_mut().for_each(|(_, deeds)| deeds.difference_with(&self.timeouts));
        for clause in &touch.guard {
            if let [only] = &clause[..] {
                found.exclude(&ledger.excluded(only));
            }
        }
        found.always.union_with(&found.risky);
        found.settle();
        debug_assert!(self.deeds.iter().enumerate().all(|(i, deed)| {
            let (theirs, vague) = (Signature::vague(deed), Signature::vague(touch));
            let conflict = conflict((touch, &vague), (deed, &theirs), &kind_of);
            let (ours, theirs) = (Signature::of(touch), Signature::of(deed));
            conflict == self::conflict((touch, &ours), (deed, &theirs), &kind_of) && conflict == found.with(i)
        }));
        let own = of.map_or(0..0, |of| self.range(self.nodes[of].pid));
        let mut conflicts = FixedBitSet::with_capacity(self.n_nodes());
        for (demand, deeds) in &found.unless {
            conflicts.clear();
            self.add_nodes(deeds, &mut conflicts);
            conflicts.remove_range(own.clone());
            if !conflicts.is_clear() {
                row.unless.push((*demand, nodes(&conflicts)));
            }
        }
        conflicts.clear();
        self.add_nodes(&found.always, &mut conflicts);
        conflicts.remove_range(own);
        if let Some(of) = of {
            // Of one process, those of the place where it is.
            conflicts.insert_range(self.at(self.nodes[of].pid, self.nodes[of].location));
            conflicts.remove(of);
        }
        if !self.checked.is_empty() {
            let ours = Signature::of(touch);
            for (i, check) in self.checked.iter().enumerate() {
                let found = conflict((touch, &ours), (check, &self.check_signatures[i]), &kind_of);
                conflicts.set(self.nodes.len() + i, found != Conflict::Never);
            }
        }
        conflicts
    }

    /// Adds the nodes that are held to account for some deeds.
    fn add_nodes(&self, deeds: &FixedBitSet, out: &mut FixedBitSet) {
        let n_steps = self.nodes.len();
        // The first deeds are those of the nodes themselves.
        for Block { at, bits } in blocks_of(0..n_steps) {
            out.as_mut_slice()[at as usize] |= deeds.as_slice()[at as usize] & bits;
        }
        for (started, nodes) in &self.starters {
            if deeds.contains_any_in_range(started.clone()) {
                unite(out, nodes);
            }
        }
    }

    /// The nodes that are held to account for some deeds.
    fn nodes_of(&self, deeds: &FixedBitSet) -> Nodes {
        let mut set = FixedBitSet::with_capacity(self.n_nodes());
        self.add_nodes(deeds, &mut set);
        nodes(&set)
    }

    /// Whether evaluating the guard may go wrong in a way that matters. What depends on locals of the process alone
    /// is decided by its own steps, and all those that it may take now are chosen together; so only up-sets, which
    /// must know where something goes wrong first, care.
    fn is_risky(&self, touch: &Touch, of: Option<usize>) -> bool {
        let owner = of.map(|n| self.nodes[n].pid + 1);
        let is_own =
            |read: &Read| matches!(read, Read::Cells(span) if Some(usize::from(span.owner)) == owner);
        !touch.risks.is_empty() && (self.minds_all_risks || !touch.risks.iter().all(is_own))
    }

    fn clause_row(&self, clause: &[Literal], kind_of: &dyn Fn(usize) -> Option<usize>) -> ClauseRow {
        let changers = |literal: &Literal| {
            let changers = self.ledger.borrow_mut().changers(literal, kind_of);
            debug_assert!(self.deeds.iter().enumerate().all(|(i, deed)| {
                let found = deed.ops.iter().map(|op| changes(op, literal, kind_of));
                let all = found.fold((false, false), |a, b| (a.0 || b.0, a.1 || b.1));
                all == (changers.enablers.contains(i), changers.falsifiers.contains(i))
            }));
            let nodes_of = || (self.nodes_of(&changers.enablers), self.nodes_of(&changers.falsifiers));
            changers.nodes.get_or_init(nodes_of).clone()
        };
        let all: Vec<(Nodes, Nodes)> = clause.iter().map(changers).collect();
        let enablers = match &all[..] {
            [(only, _)] => only.clone(),
            several => {
                let mut sum = FixedBitSet::with_capacity(self.n_nodes());
                several.iter().for_each(|(enablers, _)| unite(&mut sum, enablers));
                nodes(&sum)
            }
        };
        let literals = all.into_iter().map(|(_, falsifiers)| LiteralRow { falsifiers, fact: None }).collect();
        let may_be_false = clause.iter().all(|literal| literal.truth.is_some());
        ClauseRow { literals, enablers, may_be_false }
    }
}

/// The deeds that a transition does not accord with.
struct Found {
    risky: FixedBitSet,
    always: FixedBitSet,
    unless: Vec<(Demand, FixedBitSet)>,
}

impl Found {
    fn new(n_deeds: usize) -> Self {
        let none = FixedBitSet::with_capacity(n_deeds);
        Self { risky: none.clone(), always: none, unless: Vec::new() }
    }

    /// Adds what an op of the transition is in the way of.
    fn add(&mut self, touch: &Touch, hits: &Hits) {
        self.risky.union_with(&hits.risky);
        self.always.union_with(&hits.always);
        if hits.unless.is_clear() {
            return;
        }
        match hits.demand.and_then(|(channels, is_room)| demand(touch, &channels, is_room)) {
            None => self.always.union_with(&hits.unless),
            Some(demand) => match self.unless.iter_mut().find(|(known, _)| *known == demand) {
                Some((_, deeds)) => deeds.union_with(&hits.unless),
                None => self.unless.push((demand, hits.unless.clone())),
            },
        }
    }

    /// Takes out deeds that are never possible together with the transition.
    fn exclude(&mut self, deeds: &FixedBitSet) {
        self.always.difference_with(deeds);
        self.unless.iter_mut().for_each(|(_, unless)| unless.difference_with(deeds));
    }

    /// With which two channels must be as demanded, that is not accorded with at all.
    fn settle(&mut self) {
        for i in 0..self.unless.len() {
            let (before, rest) = self.unless.split_at(i);
            for (_, other) in before {
                self.always.extend(rest[0].1.intersection(other));
            }
        }
        let always = &self.always;
        self.unless.iter_mut().for_each(|(_, deeds)| deeds.difference_with(always));
    }

    /// What was found of a deed.
    fn with(&self, deed: usize) -> Conflict {
        if self.always.contains(deed) {
            return Conflict::Always;
        }
        let unless = self.unless.iter().find(|(_, deeds)| deeds.contains(deed));
        unless.map_or(Conflict::Never, |(demand, _)| Conflict::Unless(*demand))
    }
}

impl Row {
    /// Adds every node that it may bring.
    pub(super) fn add_all(&self, out: &mut FixedBitSet) {
        unite(out, &self.brought);
        self.unless.iter().for_each(|(_, nodes)| unite(out, nodes));
        self.risks.iter().for_each(|nodes| unite(out, nodes));
        self.add_guard(out);
    }

    /// Adds every node that may change the truth of its guard.
    pub(super) fn add_guard(&self, out: &mut FixedBitSet) {
        for clause in &self.clauses {
            unite(out, &clause.enablers);
            clause.literals.iter().for_each(|literal| unite(out, &literal.falsifiers));
        }
    }
}
