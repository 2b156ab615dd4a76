//! When two systems are the same, or one refines the other; and if not, a shortest trace that shows it.
//!
//! **Implements** the walk over pairs of nodes of the acceptance graphs, breadth first: at each pair whatever the model
//! looks at must agree, or be allowed by the right system; a label that one side lacks leads to a pair with nothing on
//! that side, which is the difference. The models: *traces*; *failures*, traces with stable failures; *CFFD*, these with
//! divergence traces (infinite traces follow from traces, as systems are finite; but with propositions traces do not
//! follow from the others and are always compared); *NDFD*, CFFD without the failures after divergence traces; *CSP*,
//! CFFD up to a divergence trace and nothing behind it. Strong and divergence-preserving branching bisimilarity ask
//! whether the initial states are in one block.
//! **Differs from the text** (HVV Definition 7) in nothing; with `initial_stability` the initial states must also agree in
//! having tau, as in Kaivola and Valmari's CFFD, which is a congruence for choice.
//! Branching bisimilar states are merged first: they agree in all models, and determinisation is what costs.
//! **Checked by** the pairs of `tests/all/pairs.rs` and by random pairs against the definition (`oracle`).

use crate::NoAnswer;
use crate::acceptance::{Graph, Limit, Node};
use crate::refine::{branching_quotient, strong};
use crate::system::{System, marks, names, word};
use rustc_hash::FxHashSet;
use std::fmt;
use stubborn_lts::{Lsts, TAU};

/// What of a system counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Model {
    /// Traces, stable failures, divergence traces.
    Cffd,
    /// The same, without failures after divergence traces.
    Ndfd,
    /// Traces and stable failures.
    Failures,
    /// Failures and divergences as in CSP: nothing counts after a divergence trace.
    Csp,
    /// Traces.
    Traces,
    /// Strong bisimilarity.
    Strong,
    /// Branching bisimilarity that preserves divergence.
    Branching,
}

impl Model {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Cffd, Self::Ndfd, Self::Failures, Self::Csp, Self::Traces, Self::Strong, Self::Branching];

    /// Whether it is a bisimilarity, which has no preorder.
    pub fn is_bisimilarity(self) -> bool {
        matches!(self, Self::Strong | Self::Branching)
    }

    fn sees_divergence(self) -> bool {
        matches!(self, Self::Cffd | Self::Ndfd | Self::Csp)
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cffd => "cffd",
            Self::Ndfd => "ndfd",
            Self::Failures => "failures",
            Self::Csp => "csp",
            Self::Traces => "traces",
            Self::Strong => "strong",
            Self::Branching => "branching",
        })
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Both are the same.
    Equivalent,
    /// The right system allows whatever the left one may do.
    Refines,
}

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// What counts.
    pub model: Model,
    /// What is asked.
    pub relation: Relation,
    /// Whether it counts that an initial state has tau.
    pub initial_stability: bool,
    /// How far determinisation may go.
    pub limit: Limit,
}

impl Comparison {
    /// Whether systems are equivalent under a model.
    pub fn new(model: Model) -> Self {
        let (relation, limit) = (Relation::Equivalent, Limit::default());
        Self { model, relation, initial_stability: false, limit }
    }

    /// The same for the preorder.
    pub fn refines(self) -> Self {
        Self { relation: Relation::Refines, ..self }
    }
}

/// One of two systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    Left,
    /// The second.
    Right,
}

/// What can be seen of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The action; `tau` if only propositions change.
    pub action: String,
    /// The propositions that hold behind it.
    pub holding: Vec<String>,
}

/// What one of the systems has and the other has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An action, used or not.
    Alphabet {
        /// Its name.
        action: String,
    },
    /// A proposition, used or not.
    Proposition {
        /// Its name.
        name: String,
    },
    /// These propositions after the trace; the other can do the trace but its last step leads to others.
    Holding {
        /// The propositions that hold.
        holding: Vec<String>,
    },
    /// The trace.
    Trace,
    /// The trace and then divergence.
    Divergence,
    /// The trace and then a refusal of all these actions.
    Refusal {
        /// The actions.
        refused: Vec<String>,
    },
    /// A tau in the initial state.
    InitialTau,
    /// Only when choices are made differs, or how many invisible steps are made.
    Branching,
    /// They are not bisimilar; whether a trace shows it was not found out within the limit.
    Unshown,
}

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which system has more.
    pub side: Side,
    /// A shortest trace to it.
    pub trace: Vec<Step>,
    /// What it has.
    pub reason: Reason,
}

/// Compares two systems. `None` if they are in the relation.
pub fn compare(left: &Lsts, right: &Lsts, asked: &Comparison) -> Result<Option<Difference>, NoAnswer> {
    let Comparison { model, relation, initial_stability, limit } = *asked;
    if model.is_bisimilarity() && relation == Relation::Refines {
        return Err(NoAnswer::NoPreorder(model));
    }
    let at_start = |side, reason| Ok(Some(Difference { side, trace: Vec::new(), reason }));
    if let Some((side, reason)) = static_difference(left, right) {
        return at_start(side, reason);
    }
    let system = System::new(&[left, right]);
    let value = |which: usize| system.valuation[system.initials[which] as usize];
    if value(0) != value(1) {
        return at_start(Side::Left, Reason::Holding { holding: system.words(value(0)) });
    }
    if initial_stability {
        let is_stable = |which: usize| system.is_stable(system.initials[which]);
        match (is_stable(0), is_stable(1)) {
            (false, true) => return at_start(Side::Left, Reason::InitialTau),
            (true, false) if relation == Relation::Equivalent => {
                return at_start(Side::Right, Reason::InitialTau);
            }
            _ => {}
        }
    }
    if model == Model::Strong {
        let block = strong(&system.edges, &system.valuation).block;
        if block[system.initials[0] as usize] == block[system.initials[1] as usize] {
            return Ok(None);
        }
    }
    let system = branching_quotient(&system);
    let is_same = system.initials[0] == system.initials[1];
    match model {
        Model::Strong | Model::Branching => {
            let model = Model::Cffd;
            if is_same && asked.model == Model::Branching {
                return Ok(None);
            }
            // A trace that shows it, if there is one.
            let reason = match (Walk { model, relation, graph: Graph::new(&system, limit) }).run() {
                Ok(Some(difference)) => return Ok(Some(difference)),
                Ok(None) => Reason::Branching,
                Err(NoAnswer::Limit { .. }) => Reason::Unshown,
                Err(error) => return Err(error),
            };
            at_start(Side::Left, reason)
        }
        _ if is_same => Ok(None),
        _ => Walk { model, relation, graph: Graph::new(&system, limit) }.run(),
    }
}

/// A name that one of the systems does not know.
fn static_difference(left: &Lsts, right: &Lsts) -> Option<(Side, Reason)> {
    let only = |these: &[String], those: &[String]| {
        these.iter().find(|name| those.binary_search(name).is_err()).cloned()
    };
    let (a, b) = (names(left), names(right));
    let alphabet = |side| move |action| (side, Reason::Alphabet { action });
    let (p, q) = (marks(left), marks(right));
    let missing = |these: &[stubborn_lts::Mark], those: &[stubborn_lts::Mark]| {
        these.iter().find(|mark| !those.contains(mark)).map(|mark| word(mark).1.to_owned())
    };
    let proposition = |side| move |name| (side, Reason::Proposition { name });
    only(&a, &b)
        .map(alphabet(Side::Left))
        .or_else(|| only(&b, &a).map(alphabet(Side::Right)))
        .or_else(|| missing(&p, &q).map(proposition(Side::Left)))
        .or_else(|| missing(&q, &p).map(proposition(Side::Right)))
}

/// In a pair: the side has no node.
const NOTHING: u32 = u32::MAX;

/// A pair of nodes, and how it was reached: the pair before it, action and valuation.
struct Pair {
    nodes: [u32; 2],
    from: Option<(usize, u32, u32)>,
}

struct Walk<'a> {
    model: Model,
    relation: Relation,
    graph: Graph<'a>,
}

impl Walk<'_> {
    fn run(mut self) -> Result<Option<Difference>, NoAnswer> {
        let start = [self.graph.initial(0)?, self.graph.initial(1)?];
        let mut known = FxHashSet::from_iter([start]);
        let mut pairs = vec![Pair { nodes: start, from: None }];
        let mut next = 0;
        while let Some(&Pair { nodes: [left, right], from }) = pairs.get(next) {
            if left == NOTHING || right == NOTHING {
                let side = if right == NOTHING { Side::Left } else { Side::Right };
                let reason = self.why_missing(&pairs, from, side)?;
                return Ok(Some(self.difference(&pairs, next, side, reason)));
            }
            // What is the same set of states has no difference behind it.
            if left != right {
                let (a, b) = (self.graph.node(left)?, self.graph.node(right)?);
                if let Some((side, reason)) = self.differ(&a, &b) {
                    return Ok(Some(self.difference(&pairs, next, side, reason)));
                }
                if !(self.model == Model::Csp && b.diverges) {
                    self.descend(&a, &b, |nodes, action, valuation| {
                        if known.insert(nodes) {
                            pairs.push(Pair { nodes, from: Some((next, action, valuation)) });
                        }
                    });
                }
            }
            next += 1;
        }
        Ok(None)
    }

    /// What differs after a trace that both have.
    fn differ(&self, a: &Node, b: &Node) -> Option<(Side, Reason)> {
        let both = self.relation == Relation::Equivalent;
        if self.model.sees_divergence() {
            if a.diverges && !b.diverges {
                return Some((Side::Left, Reason::Divergence));
            }
            if both && b.diverges && !a.diverges {
                return Some((Side::Right, Reason::Divergence));
            }
        }
        let sees_refusals = match self.model {
            Model::Traces => false,
            Model::Ndfd | Model::Csp => !b.diverges,
            _ => true,
        };
        if !sees_refusals {
            return None;
        }
        let refusal = |these: &Node, those: &Node| {
            let is_new =
                |&&offer: &&u32| !those.offers.iter().any(|&known| self.graph.is_within(known, offer));
            these.offers.iter().find(is_new).map(|&offer| self.refusal(offer))
        };
        let left = refusal(a, b).map(|reason| (Side::Left, reason));
        left.or_else(|| refusal(b, a).filter(|_| both).map(|reason| (Side::Right, reason)))
    }

    fn refusal(&self, offer: u32) -> Reason {
        let offered = &self.graph.offers[offer as usize];
        let is_refused = |(action, _): &(u32, &String)| offered.binary_search(action).is_err();
        let refused = (1..).zip(&self.graph.system.names).filter(is_refused);
        Reason::Refusal { refused: refused.map(|(_, name)| name.clone()).collect() }
    }

    /// The pairs behind a pair.
    fn descend(&self, a: &Node, b: &Node, mut to: impl FnMut([u32; 2], u32, u32)) {
        let find = |node: &Node, action: u32, valuation: u32| {
            let found = node.edges.binary_search_by_key(&(action, valuation), |edge| (edge.0, edge.1));
            found.map_or(NOTHING, |at| node.edges[at].2)
        };
        for &(action, valuation, left) in &a.edges {
            to([left, find(b, action, valuation)], action, valuation);
        }
        if self.relation == Relation::Equivalent {
            for &(action, valuation, right) in &b.edges {
                if find(a, action, valuation) == NOTHING {
                    to([NOTHING, right], action, valuation);
                }
            }
        }
    }

    /// The last step is missing on one side: is it there with other propositions?
    fn why_missing(
        &mut self,
        pairs: &[Pair],
        from: Option<(usize, u32, u32)>,
        side: Side,
    ) -> Result<Reason, NoAnswer> {
        let Some((before, action, valuation)) = from else { return Ok(Reason::Trace) };
        let [left, right] = pairs[before].nodes;
        let other = self.graph.node(if side == Side::Left { right } else { left })?;
        let is_there = action != TAU && other.edges.iter().any(|edge| edge.0 == action);
        let holding = self.graph.system.words(valuation);
        Ok(if is_there { Reason::Holding { holding } } else { Reason::Trace })
    }

    fn difference(&self, pairs: &[Pair], mut at: usize, side: Side, reason: Reason) -> Difference {
        let system = self.graph.system;
        let mut trace = Vec::new();
        while let Some((before, action, valuation)) = pairs[at].from {
            let action = system.action_name(action).to_owned();
            trace.push(Step { action, holding: system.words(valuation) });
            at = before;
        }
        trace.reverse();
        Difference { side, trace, reason }
    }
}
