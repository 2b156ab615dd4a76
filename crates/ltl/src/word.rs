//! Infinite words of the form stem, then cycle for ever; and what formulas say of them.
//!
//! [`Lasso::satisfies`] is the meaning of formulas, written for the reader: it shares nothing with the
//! translation and serves as its oracle, and as the last check of a counterexample.

use crate::{Formula, Letter};

/// A word: the stem once, the cycle for ever.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lasso {
    /// Letters before the cycle; may be empty.
    pub stem: Vec<Letter>,
    /// Letters that repeat; not empty.
    pub cycle: Vec<Letter>,
}

impl Lasso {
    /// How many different positions there are.
    pub fn len(&self) -> usize {
        self.stem.len() + self.cycle.len()
    }

    /// Whether it has no letters at all: then it is no infinite word.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The letter at a position below [`Lasso::len`].
    pub fn letter(&self, position: usize) -> Letter {
        if position < self.stem.len() { self.stem[position] } else { self.cycle[position - self.stem.len()] }
    }

    /// The position after `position`.
    pub fn next(&self, position: usize) -> usize {
        if position + 1 < self.len() { position + 1 } else { self.stem.len() }
    }

    /// Whether `formula` holds at the beginning. False of a word without a cycle.
    pub fn satisfies(&self, formula: &Formula) -> bool {
        !self.cycle.is_empty() && self.truth(formula)[0]
    }

    /// Where `formula` holds, position by position.
    fn truth(&self, formula: &Formula) -> Vec<bool> {
        let all = 0..self.len();
        match formula {
            Formula::True => vec![true; self.len()],
            Formula::False => vec![false; self.len()],
            Formula::Atom(number) => all.map(|i| self.letter(i) >> number & 1 == 1).collect(),
            Formula::Not(a) => self.truth(a).into_iter().map(|x| !x).collect(),
            Formula::And(parts) => self.merge(parts, true, |x, y| x && y),
            Formula::Or(parts) => self.merge(parts, false, |x, y| x || y),
            Formula::Implies(a, b) => self.both(a, b, |x, y| !x || y),
            Formula::Equivalent(a, b) => self.both(a, b, |x, y| x == y),
            Formula::Next(a) => {
                let a = self.truth(a);
                all.map(|i| a[self.next(i)]).collect()
            }
            Formula::Always(a) => {
                let a = self.truth(a);
                self.backwards(true, |i, later| a[i] && later)
            }
            Formula::Eventually(a) => {
                let a = self.truth(a);
                self.backwards(false, |i, later| a[i] || later)
            }
            Formula::Until(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.backwards(false, |i, later| b[i] || (a[i] && later))
            }
            Formula::WeakUntil(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.backwards(true, |i, later| b[i] || (a[i] && later))
            }
            Formula::Release(a, b) => {
                let (a, b) = (self.truth(a), self.truth(b));
                self.backwards(true, |i, later| b[i] && (a[i] || later))
            }
        }
    }

    fn merge(&self, parts: &[Formula], none: bool, how: fn(bool, bool) -> bool) -> Vec<bool> {
        let mut all = vec![none; self.len()];
        for part in parts {
            let truth = self.truth(part);
            all.iter_mut().zip(truth).for_each(|(x, y)| *x = how(*x, y));
        }
        all
    }

    fn both(&self, a: &Formula, b: &Formula, how: fn(bool, bool) -> bool) -> Vec<bool> {
        let (a, b) = (self.truth(a), self.truth(b));
        a.into_iter().zip(b).map(|(x, y)| how(x, y)).collect()
    }

    /// The fixed point of `value(i) = step(i, value(next(i)))`, least if `start` is false, greatest if it is
    /// true. Two rounds over the positions, from the last, suffice: the first settles the cycle's start.
    fn backwards(&self, start: bool, step: impl Fn(usize, bool) -> bool) -> Vec<bool> {
        let mut value = vec![start; self.len()];
        for _ in 0..2 {
            for i in (0..self.len()).rev() {
                value[i] = step(i, value[self.next(i)]);
            }
        }
        value
    }

    /// The word without stuttering: equal letters in a row become one. Two words are equivalent under
    /// stuttering if and only if these are the same infinite word.
    pub fn without_stuttering(&self) -> Self {
        let mut cycle = self.cycle.clone();
        cycle.dedup();
        if cycle.len() > 1 && cycle.first() == cycle.last() {
            cycle.pop();
            // The cycle now begins with the letter that ended it.
        }
        let mut stem = self.stem.clone();
        stem.dedup();
        // The letter before the cycle may be the one that begins it.
        if stem.last() == cycle.first() {
            stem.pop();
        }
        Self { stem, cycle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_mean_what_the_textbook_says() {
        let (p, q) = (|| Box::new(Formula::atom(0)), || Box::new(Formula::atom(1)));
        let word = |stem: &[u64], cycle: &[u64]| Lasso { stem: stem.to_vec(), cycle: cycle.to_vec() };
        assert!(word(&[1, 1], &[2]).satisfies(&Formula::Until(p(), q())));
        assert!(!word(&[], &[1]).satisfies(&Formula::Until(p(), q())));
        assert!(word(&[], &[1]).satisfies(&Formula::WeakUntil(p(), q())));
        assert!(!word(&[0], &[2]).satisfies(&Formula::Until(p(), q())));
        assert!(word(&[2, 3], &[0]).satisfies(&Formula::Release(p(), q())));
        assert!(!word(&[2, 1], &[0]).satisfies(&Formula::Release(p(), q())));
        assert!(word(&[], &[2]).satisfies(&Formula::Release(p(), q())));
        assert!(word(&[0], &[0, 1]).satisfies(&Formula::Always(Box::new(Formula::Eventually(p())))));
        assert!(!word(&[1], &[0, 1]).satisfies(&Formula::Eventually(Box::new(Formula::Always(p())))));
        assert!(word(&[0], &[1]).satisfies(&Formula::Next(p())));
    }

    #[test]
    fn stuttering_is_removed() {
        let word = |stem: &[u64], cycle: &[u64]| Lasso { stem: stem.to_vec(), cycle: cycle.to_vec() };
        assert_eq!(word(&[0, 0, 1], &[1, 2, 1]).without_stuttering(), word(&[0], &[1, 2]));
        assert_eq!(word(&[0, 1, 1], &[1, 1]).without_stuttering(), word(&[0], &[1]));
        assert_eq!(word(&[], &[1, 2, 2, 1]).without_stuttering(), word(&[], &[1, 2]));
    }
}
