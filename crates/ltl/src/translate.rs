//! From formulas to automata.
//!
//! **Implements** Couvreur's translation (*On-the-fly verification of linear temporal logic*, 1999): a state is
//! a set of formulas that must hold; the first steps of a formula are alternatives of (literals that hold now,
//! formulas that must hold next, promises). `a U b` is `b`, or `a` now and `a U b` next with the promise of `b`;
//! `a V b` is `a` and `b`, or `b` now and `a V b` next. There is one acceptance set for each `b` that is ever
//! promised: the edges that do not promise it. Then the automaton is simplified and its acceptance sets are
//! made one.
//!
//! **Differs from the text**: alternatives are lists of cubes with absorption (an alternative that demands more,
//! later more, and promises more than another is dropped) instead of decision diagrams; formulas that others
//! in a set repeat anyway are dropped from it; what is equal beyond that is found afterwards, by simulation. Two forms of the formula are tried, as written and rewritten, and
//! several orders of acceptance sets, and the smallest automaton wins.
//!
//! **Checked by** `tests/all/words.rs` (direct evaluation on random words), `tests/all/spin.rs` (SPIN's automata).

use crate::implication::Facts;
use crate::rewrite::rewrite;
use crate::term::{FALSE, Id, Node, TRUE, Terms};
use crate::{Automaton, Cube, Formula, Guard, MAX_SETS, Propositions, State, degeneralise, simplify};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use thiserror::Error;

/// Why a formula has no automaton here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TranslateError {
    /// A state would have too many alternatives, or there would be too many states.
    #[error("the automaton would have more than {0}")]
    TooLarge(&'static str),
    /// The formula is nested too deep.
    #[error("the formula is nested deeper than {MAX_NESTING}")]
    TooDeep,
    /// A proposition has a number that the table does not know.
    #[error("proposition {0} is not in the table of propositions")]
    UnknownProposition(usize),
}

/// Formulas that are nested deeper are refused.
pub const MAX_NESTING: usize = 2000;

const MAX_ALTERNATIVES: usize = 4096;
/// Comparisons of alternatives.
const MAX_WORK: usize = 100_000_000;
const MAX_STATES: usize = 4096;
const MAX_EDGES: usize = 100_000;

/// The automata of a formula.
#[derive(Clone, Debug)]
pub struct Translation {
    /// With one acceptance set for each promise, on edges; may be much smaller.
    pub generalised: Automaton,
    /// With accepting states, and one initial state.
    pub buchi: Automaton,
}

/// The automata that accept exactly the words that satisfy `formula`.
pub fn translate(formula: &Formula, propositions: &Propositions) -> Result<Translation, TranslateError> {
    check(formula, propositions)?;
    let (mut terms, mut facts) = (Terms::new(), Facts::default());
    let id = terms.add(formula);
    let rewritten = rewrite(&mut terms, &mut facts, id);
    let mut best: Option<Translation> = None;
    let mut first_error = None;
    for (form, splits) in [(rewritten, true), (rewritten, false), (id, true)] {
        if form == id && rewritten == id && best.is_some() && splits {
            continue;
        }
        match build(&mut terms, form, splits, propositions) {
            Ok(generalised) => {
                let generalised = simplify(&generalised);
                let buchi = degeneralise(&generalised);
                let is_better = |b: &Translation| size(&buchi) < size(&b.buchi);
                if best.as_ref().is_none_or(is_better) {
                    best = Some(Translation { generalised, buchi });
                }
            }
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    match (best, first_error) {
        (Some(best), _) => Ok(best),
        (None, Some(error)) => Err(error),
        (None, None) => Err(TranslateError::TooLarge("nothing")),
    }
}

/// States first, then edges.
pub(crate) fn size(automaton: &Automaton) -> (usize, usize) {
    (automaton.n_states(), automaton.n_edges())
}

/// The formula in negation normal form after rewriting, if it is not too long to be shown.
pub fn rewritten(formula: &Formula, propositions: &Propositions) -> Result<Formula, TranslateError> {
    check(formula, propositions)?;
    let (mut terms, mut facts) = (Terms::new(), Facts::default());
    let id = terms.add(formula);
    let id = rewrite(&mut terms, &mut facts, id);
    terms.formula(id, MAX_ALTERNATIVES).ok_or(TranslateError::TooLarge("4096 operators"))
}

/// The formula in negation normal form, if it is not too long to be shown.
pub fn normal_form(formula: &Formula, propositions: &Propositions) -> Result<Formula, TranslateError> {
    check(formula, propositions)?;
    let mut terms = Terms::new();
    let id = terms.add(formula);
    terms.formula(id, MAX_ALTERNATIVES).ok_or(TranslateError::TooLarge("4096 operators"))
}

fn check(formula: &Formula, propositions: &Propositions) -> Result<(), TranslateError> {
    if formula.depth() > MAX_NESTING {
        return Err(TranslateError::TooDeep);
    }
    let mut stack = vec![formula];
    while let Some(part) = stack.pop() {
        match part {
            Formula::Atom(number) if *number >= propositions.len() => {
                return Err(TranslateError::UnknownProposition(*number));
            }
            other => stack.extend(other.parts()),
        }
    }
    Ok(())
}

/// One way to make the first step.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Alternative {
    now: Cube,
    /// Sorted.
    next: Vec<Id>,
    /// Sorted: what `U` promises.
    promises: Vec<Id>,
}

impl Alternative {
    fn and(&self, other: &Self) -> Option<Self> {
        Some(Self {
            now: self.now.and(other.now)?,
            next: union(&self.next, &other.next),
            promises: union(&self.promises, &other.promises),
        })
    }

    /// Whether this one is superfluous beside `other`.
    fn is_absorbed_by(&self, other: &Self) -> bool {
        self.now.implies(other.now)
            && is_subset(&other.next, &self.next)
            && is_subset(&other.promises, &self.promises)
    }
}

fn union(a: &[Id], b: &[Id]) -> Vec<Id> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

fn is_subset(a: &[Id], b: &[Id]) -> bool {
    a.iter().all(|x| b.binary_search(x).is_ok())
}

type Alternatives = Rc<Vec<Alternative>>;

struct Builder<'a> {
    terms: &'a mut Terms,
    known: FxHashMap<Id, Alternatives>,
    /// Whether `X (a || b)` means two alternatives rather than one with a disjunction to come.
    splits: bool,
    /// Comparisons of alternatives that may still be made.
    work: usize,
}

/// The automaton of a formula in normal form, before any simplification.
fn build(
    terms: &mut Terms,
    id: Id,
    splits: bool,
    propositions: &Propositions,
) -> Result<Automaton, TranslateError> {
    let mut builder = Builder { terms, known: FxHashMap::default(), splits, work: MAX_WORK };
    let start = builder.conjuncts(id);
    let mut numbers = FxHashMap::from_iter([(start.clone(), 0)]);
    let mut states = vec![start];
    let mut found: Vec<(State, Alternative, State)> = Vec::new();
    let mut from = 0;
    while from < states.len() {
        let alternatives = builder.of_set(&states[from].clone())?;
        for alternative in alternatives.iter() {
            let n = states.len();
            let to = *numbers.entry(alternative.next.clone()).or_insert(n as State);
            if to as usize == n {
                states.push(alternative.next.clone());
            }
            found.push((from as State, alternative.clone(), to));
        }
        if states.len() > MAX_STATES {
            return Err(TranslateError::TooLarge("4096 states on the way"));
        }
        if found.len() > MAX_EDGES {
            return Err(TranslateError::TooLarge("100000 edges on the way"));
        }
        from += 1;
    }
    assemble(states.len(), &found, propositions)
}

/// Promises become acceptance sets: an edge is in the sets of what it does not promise.
fn assemble(
    n_states: usize,
    found: &[(State, Alternative, State)],
    propositions: &Propositions,
) -> Result<Automaton, TranslateError> {
    let mut promised: Vec<Id> = found.iter().flat_map(|(_, a, _)| a.promises.iter().copied()).collect();
    promised.sort_unstable();
    promised.dedup();
    if promised.len() > MAX_SETS as usize {
        return Err(TranslateError::TooLarge("64 acceptance sets"));
    }
    let mut out = Automaton::new(propositions.clone(), promised.len() as u32);
    (0..n_states).for_each(|_| {
        out.add_state(0);
    });
    out.add_initial(0);
    let mut grouped: FxHashMap<(State, State, u64), Vec<Cube>> = FxHashMap::default();
    let mut order = Vec::new();
    for (from, alternative, to) in found {
        let broken = alternative.promises.iter().filter_map(|p| promised.binary_search(p).ok());
        let marks = out.all_sets() & !broken.fold(0, |all, i| all | 1u64 << i);
        let key = (*from, *to, marks);
        let cubes = grouped.entry(key).or_default();
        if cubes.is_empty() {
            order.push(key);
        }
        cubes.push(alternative.now);
    }
    for key in order {
        let cubes = grouped.remove(&key).unwrap_or_default();
        out.add_edge(key.0, Guard::any_of(cubes), key.1, key.2);
    }
    Ok(out)
}

impl Builder<'_> {
    /// The formula as a set of formulas that must all hold.
    fn conjuncts(&self, id: Id) -> Vec<Id> {
        match self.terms.node(id) {
            Node::True => Vec::new(),
            Node::And(parts) => parts.clone(),
            _ => vec![id],
        }
    }

    fn of_set(&mut self, set: &[Id]) -> Result<Vec<Alternative>, TranslateError> {
        let nothing = Alternative { now: Cube::TRUE, next: Vec::new(), promises: Vec::new() };
        let mut all = vec![nothing];
        for &id in set {
            let alternatives = self.of(id)?;
            all = self.product(&all, &alternatives)?;
        }
        Ok(all)
    }

    fn of(&mut self, id: Id) -> Result<Alternatives, TranslateError> {
        if let Some(known) = self.known.get(&id) {
            return Ok(known.clone());
        }
        let one = |now, next, promises| vec![Alternative { now, next, promises }];
        let result = match self.terms.node(id).clone() {
            Node::True => one(Cube::TRUE, Vec::new(), Vec::new()),
            Node::False => Vec::new(),
            Node::Literal { proposition, is_positive } => {
                let bit = 1u64 << proposition;
                let (positive, negative) = if is_positive { (bit, 0) } else { (0, bit) };
                one(Cube { positive, negative }, Vec::new(), Vec::new())
            }
            Node::And(parts) => self.of_set(&parts)?,
            Node::Or(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.of(part)?.iter().cloned());
                }
                self.absorbed(all)?
            }
            Node::Next(a) => match (self.terms.node(a), self.splits) {
                (Node::Or(parts), true) => {
                    let next = parts.iter().map(|&part| self.conjuncts(part));
                    next.flat_map(|next| one(Cube::TRUE, next, Vec::new())).collect()
                }
                _ => one(Cube::TRUE, self.conjuncts(a), Vec::new()),
            },
            Node::Until(a, b) => {
                let again = one(Cube::TRUE, vec![id], vec![b]);
                let first = self.of(a)?;
                let mut all = self.product(&first, &again)?;
                all.extend(self.of(b)?.iter().cloned());
                self.absorbed(all)?
            }
            Node::Release(a, b) => {
                let again = one(Cube::TRUE, vec![id], Vec::new());
                let mut release = if a == FALSE { Vec::new() } else { self.of(a)?.to_vec() };
                release.extend(again);
                let held = self.of(b)?;
                self.product(&held, &release)?
            }
        };
        debug_assert!(id != TRUE || result.len() == 1);
        let result = Rc::new(result);
        self.known.insert(id, result.clone());
        Ok(result)
    }

    fn product(&mut self, a: &[Alternative], b: &[Alternative]) -> Result<Vec<Alternative>, TranslateError> {
        if a.len().saturating_mul(b.len()) > 16 * MAX_ALTERNATIVES {
            return Err(TranslateError::TooLarge("4096 alternatives in one state"));
        }
        let mut all: Vec<Alternative> = a.iter().flat_map(|x| b.iter().filter_map(|y| x.and(y))).collect();
        all.iter_mut().for_each(|alternative| self.without_implied(&mut alternative.next));
        self.absorbed(all)
    }

    /// Drops `c` beside `a V b` if `c` is `b` or a part of the conjunction `b`: the first steps of `a V b` are
    /// first steps of `c` as it is, so nothing changes but the number of states.
    fn without_implied(&self, set: &mut Vec<Id>) {
        let held: Vec<Id> = set
            .iter()
            .filter_map(|&id| match self.terms.node(id) {
                Node::Release(_, b) => Some(*b),
                _ => None,
            })
            .collect();
        if held.is_empty() {
            return;
        }
        set.retain(|&id| {
            !held
                .iter()
                .any(|&b| b == id || matches!(self.terms.node(b), Node::And(parts) if parts.contains(&id)))
        });
    }

    /// Without those that others absorb. Of equal ones the first stays.
    fn absorbed(&mut self, mut all: Vec<Alternative>) -> Result<Vec<Alternative>, TranslateError> {
        // What absorbs is not longer than what it absorbs.
        all.sort_by_key(|a| a.now.support().count_ones() as usize + a.next.len() + a.promises.len());
        let mut kept: Vec<Alternative> = Vec::new();
        for alternative in all {
            let too_large = TranslateError::TooLarge("4096 alternatives in one state");
            self.work = self.work.checked_sub(kept.len()).ok_or(too_large.clone())?;
            if !kept.iter().any(|k| alternative.is_absorbed_by(k)) {
                kept.push(alternative);
            }
            if kept.len() > MAX_ALTERNATIVES {
                return Err(too_large);
            }
        }
        Ok(kept)
    }
}
