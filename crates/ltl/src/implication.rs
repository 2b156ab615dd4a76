//! What can be said of formulas by looking at them: implications, and which formulas only look forward or
//! only look back.
//!
//! **Implements** the syntactic implication of Somenzi and Bloem (*Efficient Büchi automata from LTL
//! formulae*, 2000) and the pure eventualities and universalities of Etessami and Holzmann (*Optimizing Büchi
//! automata*, 2000). All three are sound and incomplete: "true" is certain, "false" means "not seen".
//!
//! **Checked by** `what_is_seen_is_so` in `rewrite.rs`, by evaluation on words.

use crate::term::{FALSE, Id, Node, TRUE, Terms};
use rustc_hash::FxHashMap;

/// What was found out so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    implications: FxHashMap<(Id, Id), bool>,
    kinds: FxHashMap<Id, Kind>,
}

/// How a formula's truth moves along a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// If it holds somewhere, it held everywhere before.
    pub(crate) is_eventual: bool,
    /// If it holds somewhere, it holds from there on.
    pub(crate) is_universal: bool,
}

impl Kind {
    /// The same truth everywhere in a word.
    pub(crate) fn is_timeless(self) -> bool {
        self.is_eventual && self.is_universal
    }
}

impl Facts {
    pub(crate) fn kind(&mut self, terms: &Terms, id: Id) -> Kind {
        if let Some(&kind) = self.kinds.get(&id) {
            return kind;
        }
        let of = |is_eventual, is_universal| Kind { is_eventual, is_universal };
        let kind = match terms.node(id) {
            Node::True | Node::False => of(true, true),
            Node::Literal { .. } => of(false, false),
            Node::And(parts) | Node::Or(parts) => {
                let kinds: Vec<Kind> = parts.iter().map(|&part| self.kind(terms, part)).collect();
                of(kinds.iter().all(|k| k.is_eventual), kinds.iter().all(|k| k.is_universal))
            }
            Node::Next(a) => self.kind(terms, *a),
            Node::Until(a, b) => {
                let (ka, kb) = (self.kind(terms, *a), self.kind(terms, *b));
                of(*a == TRUE || kb.is_eventual, ka.is_universal && kb.is_universal)
            }
            Node::Release(a, b) => {
                let (ka, kb) = (self.kind(terms, *a), self.kind(terms, *b));
                of(ka.is_eventual && kb.is_eventual, *a == FALSE || kb.is_universal)
            }
        };
        self.kinds.insert(id, kind);
        kind
    }

    /// Whether `a` visibly implies `b`.
    pub(crate) fn implies(&mut self, terms: &Terms, a: Id, b: Id) -> bool {
        if a == b || a == FALSE || b == TRUE {
            return true;
        }
        if a == TRUE || b == FALSE {
            return false;
        }
        if let Some(&known) = self.implications.get(&(a, b)) {
            return known;
        }
        let implied = self.look(terms, a, b);
        self.implications.insert((a, b), implied);
        implied
    }

    fn look(&mut self, terms: &Terms, a: Id, b: Id) -> bool {
        use Node::{And, Next, Or, Release, Until};
        let (left, right) = (terms.node(a), terms.node(b));
        if let Or(parts) = left {
            return parts.iter().all(|&part| self.implies(terms, part, b));
        }
        if let And(parts) = right {
            return parts.iter().all(|&part| self.implies(terms, a, part));
        }
        if let And(parts) = left
            && parts.iter().any(|&part| self.implies(terms, part, b))
        {
            return true;
        }
        if let Or(parts) = right
            && parts.iter().any(|&part| self.implies(terms, a, part))
        {
            return true;
        }
        let pairwise = match (left, right) {
            (Next(x), Next(y)) => self.implies(terms, *x, *y),
            (Until(x, y), Until(u, v)) | (Release(x, y), Release(u, v)) => {
                self.implies(terms, *x, *u) && self.implies(terms, *y, *v)
            }
            _ => false,
        };
        pairwise || self.look_left(terms, a, b) || self.look_right(terms, a, b)
    }

    /// Implications by what `a` is.
    fn look_left(&mut self, terms: &Terms, a: Id, b: Id) -> bool {
        match *terms.node(a) {
            // y holds now or later, and x until then.
            Node::Until(x, y) => {
                let is_eventual = self.kind(terms, b).is_eventual;
                (is_eventual || self.implies(terms, x, b)) && self.implies(terms, y, b)
            }
            Node::Release(_, y) => self.implies(terms, y, b),
            Node::Next(x) => self.kind(terms, b).is_eventual && self.implies(terms, x, b),
            _ => false,
        }
    }

    /// Implications by what `b` is.
    fn look_right(&mut self, terms: &Terms, a: Id, b: Id) -> bool {
        match *terms.node(b) {
            Node::Until(_, y) => self.implies(terms, a, y),
            // What holds for ever need not be released.
            Node::Release(x, y) => {
                let is_universal = self.kind(terms, a).is_universal;
                (is_universal || self.implies(terms, a, x)) && self.implies(terms, a, y)
            }
            Node::Next(y) => self.kind(terms, a).is_universal && self.implies(terms, a, y),
            _ => false,
        }
    }
}
