//! The rows of the tables: which nodes a transition does not accord with, and who may change the facts that it waits for.
//!
//! A node is held to account for what the processes do that it starts. Several may start the same, so each deed is
//! compared once, for all of them; and so is each of the things that are done or waited for ([`ledger`](super::ledger)).
//! **Checked by** the definition of D1 and D2 at the states of all test models, and by random programs (`oracle`).

use super::accord::{Conflict, Demand, changes, conflict};
use super::ledger::{Awaited, Deed, Hits, Ledger};
use super::nodes::{Block, Nodes, blocks_of, nodes, unite};
use super::population::Population;
use super::signature::Signature;
use super::touch::Read;
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
    /// The row of a deed.
    pub(super) fn row(&self, deed: &Deed, of: Option<usize>) -> Row {
        let kind_of = |pid: usize| self.kinds.get(pid).copied();
        let mut row = Row { may_go_round: deed.may_go_round, ..Row::default() };
        let mut brought = self.conflicts(deed, of, &mut row);
        if self.is_risky(deed, of) {
            row.risks = Some(self.nodes_of(&self.ledger.affecting(&deed.risks, &kind_of)));
        }
        row.clauses = self.ledger.clauses(deed).map(|clause| self.clause_row(clause, &kind_of)).collect();
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

    /// The nodes of others that do not accord with a deed, and those of its own process that it excludes. Adds those that do not
    /// accord with it unless something is so to its row.
    fn conflicts(&self, deed: &Deed, of: Option<usize>, row: &mut Row) -> FixedBitSet {
        let kind_of = |pid: usize| self.kinds.get(pid).copied();
        let ledger = &self.ledger;
        let mut found = Found::new(ledger.deeds().len());
        ledger.all_hits(deed, &kind_of).for_each(|hits| found.add(ledger, deed, hits));
        found.always.difference_with(&self.timeouts);
        found.unless.iter_mut().for_each(|(_, deeds)| deeds.difference_with(&self.timeouts));
        for clause in ledger.clauses(deed) {
            if let [only] = clause {
                found.exclude(ledger.excluded(only.literal));
            }
        }
        found.always.union_with(&found.risky);
        found.settle();
        debug_assert!(self.is_what_pairs_say(deed, &found));
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
            let touch = ledger.touch(deed);
            let ours = Signature::of(&touch);
            for (i, check) in self.checked.iter().enumerate() {
                let found = conflict((&touch, &ours), (check, &self.check_signatures[i]), &kind_of);
                conflicts.set(self.nodes.len() + i, found != Conflict::Never);
            }
        }
        conflicts
    }

    /// Whether comparing a deed with each other one finds the same, with signatures and without.
    fn is_what_pairs_say(&self, deed: &Deed, found: &Found) -> bool {
        let kind_of = |pid: usize| self.kinds.get(pid).copied();
        let touch = self.ledger.touch(deed);
        let (ours, vague) = (Signature::of(&touch), Signature::vague(&touch));
        self.ledger.deeds().iter().enumerate().all(|(i, other)| {
            let other = self.ledger.touch(other);
            let (theirs, anything) = (Signature::of(&other), Signature::vague(&other));
            let expected = conflict((&touch, &vague), (&other, &anything), &kind_of);
            expected == conflict((&touch, &ours), (&other, &theirs), &kind_of) && expected == found.with(i)
        })
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
        if deeds.is_empty() {
            return self.nobody.clone();
        }
        let mut set = FixedBitSet::with_capacity(self.n_nodes());
        self.add_nodes(deeds, &mut set);
        nodes(&set)
    }

    /// Whether evaluating the guard may go wrong in a way that matters. What depends on locals of the process alone
    /// is decided by its own steps, and all those that it may take now are chosen together; so only up-sets, which
    /// must know where something goes wrong first, care.
    fn is_risky(&self, deed: &Deed, of: Option<usize>) -> bool {
        let owner = of.map(|n| self.nodes[n].pid + 1);
        let is_own =
            |read: &Read| matches!(read, Read::Cells(span) if Some(usize::from(span.owner)) == owner);
        !deed.risks.is_empty() && (self.minds_all_risks || !deed.risks.iter().all(is_own))
    }

    fn clause_row(&self, clause: &[Awaited], kind_of: &dyn Fn(usize) -> Option<usize>) -> ClauseRow {
        let changers = |awaited: &Awaited| {
            let ledger = &self.ledger;
            let (literal, changers) = ledger.changers(awaited.literal, kind_of);
            debug_assert!(ledger.deeds().iter().enumerate().all(|(i, deed)| {
                let found = ledger.ops(deed).map(|op| changes(op, literal, kind_of));
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
        let may_be_false = clause.iter().all(|awaited| awaited.truth.is_some());
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
        let (risky, always) = (FixedBitSet::new(), FixedBitSet::with_capacity(n_deeds));
        Self { risky, always, unless: Vec::new() }
    }

    /// Adds what an op of a deed is in the way of.
    fn add(&mut self, ledger: &Ledger, deed: &Deed, hits: &Hits) {
        self.risky.union_with(&hits.risky);
        self.always.union_with(&hits.always);
        if hits.unless.is_clear() {
            return;
        }
        match hits.demand.and_then(|(channels, is_room)| ledger.demand(deed, &channels, is_room)) {
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
