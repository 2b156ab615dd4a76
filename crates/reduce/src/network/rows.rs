//! The rows of the tables: which nodes a transition does not accord with, and who may change the facts that it waits for.
//!
//! A node is held to account for what the processes do that it starts. Several may start the same, so each [`Deed`] is
//! compared once, for all of them.
//! **Checked by** the definition of D1 and D2 at the states of all test models, and by random programs (`oracle`).

use super::accord::{Conflict, Demand, changes, conflict, risks};
use super::population::Population;
use super::signature::{Signature, of_literal, of_read};
use super::touch::{Literal, Read, Touch};
use fixedbitset::FixedBitSet;
use stubborn_network::Expr;

/// What may be done, and by which nodes.
#[derive(Debug)]
pub(super) struct Deed {
    pub(super) touch: Touch,
    pub(super) signature: Signature,
    /// The node itself, or all those that start a process that does it.
    pub(super) nodes: Vec<usize>,
}

/// What a node requires.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    /// Nodes that do not accord with it.
    pub(super) conflicts: FixedBitSet,
    /// Nodes that do not accord with it unless the channel is as demanded.
    pub(super) unless: Vec<(Demand, FixedBitSet)>,
    /// Nodes that may decide that evaluating its guard goes wrong; `None` if it cannot.
    pub(super) risks: Option<FixedBitSet>,
    /// Its guard.
    pub(super) clauses: Vec<Vec<LiteralRow>>,
    /// Whether its run may go round for ever, so that it is disabled although its guard holds.
    pub(super) may_go_round: bool,
}

/// A fact, and who may change it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LiteralRow {
    pub(super) enablers: FixedBitSet,
    pub(super) falsifiers: FixedBitSet,
    /// Which of [`Population::facts`] it is, and whether that must be true or false.
    pub(super) fact: Option<(usize, bool)>,
}

impl Deed {
    pub(super) fn new(touch: Touch, nodes: Vec<usize>) -> Self {
        Self { signature: Signature::of(&touch), touch, nodes }
    }
}

impl Population {
    /// The row of a touch, and for each literal of its guard how to find out whether it is so.
    pub(super) fn row(&self, touch: &Touch, of: Option<usize>) -> (Row, Vec<Option<(Expr, bool)>>) {
        let n = self.n_nodes();
        let kind_of = |pid: usize| self.kinds.get(pid).copied();
        let conflicts = FixedBitSet::with_capacity(n);
        let mut row = Row { conflicts, may_go_round: touch.may_go_round, ..Row::default() };
        let signature = Signature::of(touch);
        for (i, check) in self.checked.iter().enumerate() {
            let found = conflict((touch, &signature), (check, &Signature::of(check)), &kind_of);
            row.conflicts.set(self.nodes.len() + i, found != Conflict::Never);
        }
        let own = of.map_or(0..0, |of| self.range(self.nodes[of].pid));
        if let Some(of) = of {
            // Of one process, those of the place where it is.
            row.conflicts.insert_range(self.at(self.nodes[of].pid, self.nodes[of].location));
            row.conflicts.remove(of);
        }
        for Deed { touch: other, signature: theirs, nodes } in &self.deeds {
            let others = || nodes.iter().copied().filter(|u| !own.contains(u));
            if others().next().is_none() {
                continue;
            }
            let found = conflict((touch, &signature), (other, theirs), &kind_of);
            debug_assert_eq!(found, {
                let (ours, theirs) = (Signature::vague(touch), Signature::vague(other));
                conflict((touch, &ours), (other, &theirs), &kind_of)
            });
            match found {
                Conflict::Never => {}
                Conflict::Always => row.conflicts.extend(others()),
                Conflict::Unless(demand) => row.unless_for(demand, n).extend(others()),
            }
        }
        if self.is_risky(touch, of) {
            row.risks = Some(self.risks(touch, &kind_of));
        }
        for clause in &touch.guard {
            let literals = clause.iter().map(|literal| self.literal_row(literal, &kind_of));
            row.clauses.push(literals.collect());
        }
        (row, touch.guard.iter().flatten().map(|literal| literal.truth.clone()).collect())
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

    fn risks(&self, touch: &Touch, kind_of: &dyn Fn(usize) -> Option<usize>) -> FixedBitSet {
        let mut nodes = FixedBitSet::with_capacity(self.n_nodes());
        let minded = touch.risks.iter().map(of_read).fold(0, |a, b| a | b);
        let decides = |deed: &&Deed| {
            deed.signature.may_change(minded) && deed.touch.ops.iter().any(|op| risks(op, touch, kind_of))
        };
        nodes.extend(self.deeds.iter().filter(decides).flat_map(|deed| deed.nodes.iter().copied()));
        nodes
    }

    fn literal_row(&self, literal: &Literal, kind_of: &dyn Fn(usize) -> Option<usize>) -> LiteralRow {
        let n = self.n_nodes();
        let (mut enablers, mut falsifiers) = (FixedBitSet::with_capacity(n), FixedBitSet::with_capacity(n));
        let minded = of_literal(literal);
        for Deed { touch, signature, nodes } in &self.deeds {
            if !signature.may_change(minded) {
                debug_assert!(touch.ops.iter().all(|op| changes(op, literal, kind_of) == (false, false)));
                continue;
            }
            for (i, op) in touch.ops.iter().enumerate() {
                if !signature.op_may_change(i, minded) {
                    debug_assert_eq!(changes(op, literal, kind_of), (false, false));
                    continue;
                }
                let (enables, falsifies) = changes(op, literal, kind_of);
                if enables {
                    enablers.extend(nodes.iter().copied());
                }
                if falsifies {
                    falsifiers.extend(nodes.iter().copied());
                }
            }
        }
        LiteralRow { enablers, falsifiers, fact: None }
    }
}

impl Row {
    /// Adds every node that it may bring.
    pub(super) fn add_all(&self, out: &mut FixedBitSet) {
        out.union_with(&self.conflicts);
        self.unless.iter().for_each(|(_, nodes)| out.union_with(nodes));
        self.risks.iter().for_each(|nodes| out.union_with(nodes));
        for literal in self.clauses.iter().flatten() {
            out.union_with(&literal.enablers);
            out.union_with(&literal.falsifiers);
        }
    }

    fn unless_for(&mut self, demand: Demand, n: usize) -> &mut FixedBitSet {
        let found = self.unless.iter().position(|(d, _)| *d == demand);
        let i = found.unwrap_or_else(|| {
            self.unless.push((demand, FixedBitSet::with_capacity(n)));
            self.unless.len() - 1
        });
        &mut self.unless[i].1
    }
}
