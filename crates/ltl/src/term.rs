//! Formulas in negation normal form, each stored once.
//!
//! Negation stands only before propositions; the operators are `&&`, `||`, `X`, `U` and `V`. Parts of
//! conjunctions and disjunctions are sorted and different. Equal formulas have equal numbers, so that the
//! rewriting and the translation can remember what they did.

use crate::Formula;
use rustc_hash::FxHashMap;

/// The number of a formula.
pub(crate) type Id = u32;

pub(crate) const TRUE: Id = 0;
pub(crate) const FALSE: Id = 1;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    True,
    False,
    Literal { proposition: usize, is_positive: bool },
    And(Vec<Id>),
    Or(Vec<Id>),
    Next(Id),
    Until(Id, Id),
    Release(Id, Id),
}

#[derive(Debug)]
pub(crate) struct Terms {
    nodes: Vec<Node>,
    ids: FxHashMap<Node, Id>,
    negations: FxHashMap<Id, Id>,
}

impl Terms {
    pub(crate) fn new() -> Self {
        let mut terms =
            Self { nodes: Vec::new(), ids: FxHashMap::default(), negations: FxHashMap::default() };
        terms.intern(Node::True);
        terms.intern(Node::False);
        terms
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }

    pub(crate) fn literal(&mut self, proposition: usize, is_positive: bool) -> Id {
        self.intern(Node::Literal { proposition, is_positive })
    }

    pub(crate) fn next(&mut self, a: Id) -> Id {
        if a == TRUE || a == FALSE { a } else { self.intern(Node::Next(a)) }
    }

    pub(crate) fn until(&mut self, a: Id, b: Id) -> Id {
        if b == TRUE || b == FALSE || a == FALSE || a == b { b } else { self.intern(Node::Until(a, b)) }
    }

    pub(crate) fn release(&mut self, a: Id, b: Id) -> Id {
        if b == TRUE || b == FALSE || a == TRUE || a == b { b } else { self.intern(Node::Release(a, b)) }
    }

    pub(crate) fn and(&mut self, parts: impl IntoIterator<Item = Id>) -> Id {
        self.join(parts, true)
    }

    pub(crate) fn or(&mut self, parts: impl IntoIterator<Item = Id>) -> Id {
        self.join(parts, false)
    }

    /// A conjunction or a disjunction: flat, sorted, without repetition, without constants, and constant if
    /// it has a proposition with its negation.
    fn join(&mut self, parts: impl IntoIterator<Item = Id>, is_and: bool) -> Id {
        let (neutral, absorbing) = if is_and { (TRUE, FALSE) } else { (FALSE, TRUE) };
        let mut all = Vec::new();
        for part in parts {
            match (self.node(part), is_and) {
                (Node::And(inner), true) | (Node::Or(inner), false) => all.extend(inner),
                _ => all.push(part),
            }
        }
        all.retain(|&part| part != neutral);
        all.sort_unstable();
        all.dedup();
        if all.contains(&absorbing) || self.has_opposites(&all) {
            return absorbing;
        }
        match all[..] {
            [] => neutral,
            [one] => one,
            _ => self.intern(if is_and { Node::And(all) } else { Node::Or(all) }),
        }
    }

    fn has_opposites(&self, parts: &[Id]) -> bool {
        let (mut positive, mut negative) = (0u64, 0u64);
        for &part in parts {
            if let Node::Literal { proposition, is_positive } = *self.node(part) {
                *(if is_positive { &mut positive } else { &mut negative }) |= 1 << (proposition & 63);
            }
        }
        positive & negative != 0
    }

    /// The negation, again in normal form.
    pub(crate) fn negate(&mut self, id: Id) -> Id {
        if let Some(&negation) = self.negations.get(&id) {
            return negation;
        }
        let negation = match self.node(id).clone() {
            Node::True => FALSE,
            Node::False => TRUE,
            Node::Literal { proposition, is_positive } => self.literal(proposition, !is_positive),
            Node::And(parts) => {
                let parts: Vec<Id> = parts.into_iter().map(|part| self.negate(part)).collect();
                self.or(parts)
            }
            Node::Or(parts) => {
                let parts: Vec<Id> = parts.into_iter().map(|part| self.negate(part)).collect();
                self.and(parts)
            }
            Node::Next(a) => {
                let a = self.negate(a);
                self.next(a)
            }
            Node::Until(a, b) => {
                let (a, b) = (self.negate(a), self.negate(b));
                self.release(a, b)
            }
            Node::Release(a, b) => {
                let (a, b) = (self.negate(a), self.negate(b));
                self.until(a, b)
            }
        };
        self.negations.insert(id, negation);
        self.negations.insert(negation, id);
        negation
    }

    /// The normal form of a formula.
    pub(crate) fn add(&mut self, formula: &Formula) -> Id {
        match formula {
            Formula::True => TRUE,
            Formula::False => FALSE,
            Formula::Atom(number) => self.literal(*number, true),
            Formula::Not(a) => {
                let a = self.add(a);
                self.negate(a)
            }
            Formula::And(parts) => {
                let parts: Vec<Id> = parts.iter().map(|part| self.add(part)).collect();
                self.and(parts)
            }
            Formula::Or(parts) => {
                let parts: Vec<Id> = parts.iter().map(|part| self.add(part)).collect();
                self.or(parts)
            }
            Formula::Implies(a, b) => {
                let (a, b) = (self.add(a), self.add(b));
                let not_a = self.negate(a);
                self.or([not_a, b])
            }
            Formula::Equivalent(a, b) => {
                let (a, b) = (self.add(a), self.add(b));
                let (not_a, not_b) = (self.negate(a), self.negate(b));
                let (both, neither) = (self.and([a, b]), self.and([not_a, not_b]));
                self.or([both, neither])
            }
            Formula::Next(a) => {
                let a = self.add(a);
                self.next(a)
            }
            Formula::Always(a) => {
                let a = self.add(a);
                self.release(FALSE, a)
            }
            Formula::Eventually(a) => {
                let a = self.add(a);
                self.until(TRUE, a)
            }
            Formula::Until(a, b) => {
                let (a, b) = (self.add(a), self.add(b));
                self.until(a, b)
            }
            Formula::WeakUntil(a, b) => {
                // a W b = b V (a || b)
                let (a, b) = (self.add(a), self.add(b));
                let either = self.or([a, b]);
                self.release(b, either)
            }
            Formula::Release(a, b) => {
                let (a, b) = (self.add(a), self.add(b));
                self.release(a, b)
            }
        }
    }

    /// The formula as a tree, with `[]` and `<>` where they fit; `None` if the tree has more than `limit`
    /// nodes (what is stored once may occur very often).
    pub(crate) fn formula(&self, id: Id, limit: usize) -> Option<Formula> {
        let mut left = limit;
        self.tree(id, &mut left)
    }

    fn tree(&self, id: Id, left: &mut usize) -> Option<Formula> {
        *left = left.checked_sub(1)?;
        Some(match self.node(id) {
            Node::True => Formula::True,
            Node::False => Formula::False,
            Node::Literal { proposition, is_positive: true } => Formula::Atom(*proposition),
            Node::Literal { proposition, .. } => Formula::Not(Box::new(Formula::Atom(*proposition))),
            Node::And(parts) => {
                Formula::And(parts.iter().map(|&part| self.tree(part, left)).collect::<Option<_>>()?)
            }
            Node::Or(parts) => {
                Formula::Or(parts.iter().map(|&part| self.tree(part, left)).collect::<Option<_>>()?)
            }
            Node::Next(a) => Formula::Next(Box::new(self.tree(*a, left)?)),
            Node::Until(TRUE, b) => Formula::Eventually(Box::new(self.tree(*b, left)?)),
            Node::Release(FALSE, b) => Formula::Always(Box::new(self.tree(*b, left)?)),
            Node::Until(a, b) => {
                Formula::Until(Box::new(self.tree(*a, left)?), Box::new(self.tree(*b, left)?))
            }
            Node::Release(a, b) => {
                Formula::Release(Box::new(self.tree(*a, left)?), Box::new(self.tree(*b, left)?))
            }
        })
    }
}
