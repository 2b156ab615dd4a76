//! Smaller systems that are the same under a semantics, and deterministic ones with the same traces.
//!
//! States are numbered breadth first; actions and propositions are in the order of their names, and all are kept, used
//! or not: they are part of what a system is.

use crate::NoAnswer;
use crate::acceptance::Limit;
use crate::compress::compressed;
use crate::edges::Edges;
use crate::normal_form::{normal_form, whole, with_tau};
use crate::refine::{branching_quotient, strong_quotient};
use crate::system::System;
use stubborn_lts::Lsts;

/// What the smaller system has in common with the given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minimization {
    /// Everything: only states that cannot be reached are left out.
    Reachable,
    /// Branching bisimilarity that preserves divergence; only cycles and chains of tau are merged, in linear time.
    Tau,
    /// Strong bisimilarity.
    Strong,
    /// Branching bisimilarity that preserves divergence.
    Branching,
    /// CFFD; the result is the normal form.
    Cffd {
        /// Whether it counts that the initial state has tau.
        initial_stability: bool,
    },
}

/// A small system that is the same in the given sense.
pub fn minimize(lsts: &Lsts, how: Minimization, limit: Limit) -> Result<Lsts, NoAnswer> {
    let system = System::new(&[lsts]);
    let small = match how {
        Minimization::Reachable => system.with_graph(&system.initials, &system.valuation, &system.edges),
        Minimization::Tau => compressed(&system),
        Minimization::Strong => strong_quotient(&system),
        Minimization::Branching => branching_quotient(&system),
        Minimization::Cffd { initial_stability } => normal_form(&system, limit, initial_stability)?,
    };
    Ok(small.lsts()?)
}

/// The same system behind a tau. If a system begins with tau and its smaller one does not, this brings it back.
pub fn behind_tau(lsts: &Lsts) -> Result<Lsts, NoAnswer> {
    Ok(with_tau(&System::new(&[lsts])).lsts()?)
}

/// A system with the same traces, in which a trace leads to one state. A tau is left where it changes propositions.
pub fn determinise(lsts: &Lsts, limit: Limit) -> Result<Lsts, NoAnswer> {
    let small = branching_quotient(&System::new(&[lsts]));
    let nodes = whole(&small, limit)?.nodes;
    let valuation: Vec<u32> = nodes.iter().map(|node| node.valuation).collect();
    let sources = (0..).zip(&nodes);
    let list = sources.flat_map(|(source, node)| node.edges.iter().map(move |edge| (source, edge.0, edge.2)));
    let edges = Edges::new(nodes.len(), list.collect());
    Ok(small.with_graph(&[0], &valuation, &edges).lsts()?)
}
