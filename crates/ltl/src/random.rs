//! A small random generator for tests, and random formulas and words. The same seed gives the same numbers
//! for ever.

use crate::{Formula, Lasso};

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; the same seed, the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    #[allow(clippy::should_implement_trait)] // it never ends, and is no iterator
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which must not be zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A formula with about `size` operators over propositions `0..n_propositions`.
    pub fn formula(&mut self, size: usize, n_propositions: usize, with_next: bool) -> Formula {
        if size == 0 {
            return match self.below(12) {
                0 => Formula::True,
                _ => Formula::atom(self.below(n_propositions)),
            };
        }
        let one = |random: &mut Self| Box::new(random.formula(size - 1, n_propositions, with_next));
        let left = self.below(size);
        let two = |random: &mut Self| {
            let a = random.formula(left, n_propositions, with_next);
            (a, random.formula(size - 1 - left, n_propositions, with_next))
        };
        match self.below(if with_next { 12 } else { 11 }) {
            0 => Formula::Not(one(self)),
            1 => Formula::Always(one(self)),
            2 => Formula::Eventually(one(self)),
            3 | 4 => Formula::and([two(self)].into_iter().flat_map(|(a, b)| [a, b])),
            5 | 6 => Formula::or([two(self)].into_iter().flat_map(|(a, b)| [a, b])),
            7 => boxed(Formula::Implies, two(self)),
            8 => boxed(Formula::Until, two(self)),
            9 => boxed(Formula::Release, two(self)),
            10 if self.below(3) == 0 => boxed(Formula::Equivalent, two(self)),
            10 => boxed(Formula::WeakUntil, two(self)),
            _ => Formula::Next(one(self)),
        }
    }

    /// An infinite word with a stem of fewer than `stem` letters and a cycle of at most `cycle`.
    pub fn lasso(&mut self, stem: usize, cycle: usize, n_propositions: usize) -> Lasso {
        let mask = (1u64 << n_propositions) - 1;
        let stem = (0..self.below(stem)).map(|_| self.next() & mask).collect();
        let cycle = (0..=self.below(cycle)).map(|_| self.next() & mask).collect();
        Lasso { stem, cycle }
    }
}

fn boxed(make: fn(Box<Formula>, Box<Formula>) -> Formula, (a, b): (Formula, Formula)) -> Formula {
    make(Box::new(a), Box::new(b))
}
