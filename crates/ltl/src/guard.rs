//! Guards: Boolean functions of at most 64 propositions, as disjunctions of cubes.
//!
//! A cube is two words: propositions that must be true, propositions that must be false. A letter (what holds
//! in a state of a system) is one word. A guard is minimised by iterated consensus, which finds all prime
//! implicants, and a greedy cover; beyond [`CONSENSUS`] cubes only absorption is done, which is never wrong,
//! merely longer.
//!
//! Checked by `guards_keep_their_meaning` below: all letters over four propositions.

use crate::Propositions;
use std::fmt;

/// Which propositions are true: bit `i` is proposition `i`.
pub type Letter = u64;

/// Guards with more cubes than this are not minimised beyond absorption.
const CONSENSUS: usize = 64;

/// Cases that are looked at to find out whether a cube is superfluous.
const BUDGET: usize = 1000;

/// A conjunction of literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Cube {
    /// Propositions that must be true.
    pub positive: u64,
    /// Propositions that must be false.
    pub negative: u64,
}

impl Cube {
    /// The cube that holds of every letter.
    pub const TRUE: Self = Self { positive: 0, negative: 0 };

    /// The cube that holds of one letter only, as far as `support` goes.
    pub fn minterm(letter: Letter, support: u64) -> Self {
        Self { positive: letter & support, negative: !letter & support }
    }

    /// Whether it holds of this letter.
    pub fn holds(self, letter: Letter) -> bool {
        letter & self.positive == self.positive && letter & self.negative == 0
    }

    /// Both, unless they contradict each other.
    pub fn and(self, other: Self) -> Option<Self> {
        let both =
            Self { positive: self.positive | other.positive, negative: self.negative | other.negative };
        (both.positive & both.negative == 0).then_some(both)
    }

    /// Whether every letter of this one is a letter of the other.
    pub fn implies(self, other: Self) -> bool {
        other.positive & !self.positive == 0 && other.negative & !self.negative == 0
    }

    /// The propositions that it mentions.
    pub fn support(self) -> u64 {
        self.positive | self.negative
    }

    /// The letters of this one that are not in `other`, as disjoint cubes.
    pub fn without(self, other: Self, out: &mut Vec<Self>) {
        if self.and(other).is_none() {
            out.push(self);
            return;
        }
        let mut rest = self;
        let mut missing = other.support() & !self.support();
        while missing != 0 {
            let bit = missing & missing.wrapping_neg();
            missing &= missing - 1;
            let (mut outside, mut inside) = (rest, rest);
            if other.positive & bit != 0 {
                outside.negative |= bit;
                inside.positive |= bit;
            } else {
                outside.positive |= bit;
                inside.negative |= bit;
            }
            out.push(outside);
            rest = inside;
        }
    }

    /// The consensus of two cubes that oppose each other in exactly one proposition.
    fn consensus(self, other: Self) -> Option<Self> {
        let opposed = (self.positive & other.negative) | (self.negative & other.positive);
        (opposed.count_ones() == 1).then_some(Self {
            positive: (self.positive | other.positive) & !opposed,
            negative: (self.negative | other.negative) & !opposed,
        })
    }

    fn n_literals(self) -> u32 {
        self.support().count_ones()
    }
}

/// A disjunction of cubes; without cubes it holds of no letter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Guard {
    cubes: Vec<Cube>,
}

impl From<Cube> for Guard {
    fn from(cube: Cube) -> Self {
        Self { cubes: vec![cube] }
    }
}

impl Guard {
    /// The guard that holds of no letter.
    pub fn never() -> Self {
        Self::default()
    }

    /// The guard that holds of every letter.
    pub fn always() -> Self {
        Self::from(Cube::TRUE)
    }

    /// The disjunction of these, minimised.
    pub fn any_of(cubes: impl IntoIterator<Item = Cube>) -> Self {
        Self { cubes: minimise(cubes.into_iter().collect()) }
    }

    /// The cubes.
    pub fn cubes(&self) -> &[Cube] {
        &self.cubes
    }

    /// Whether it holds of this letter.
    pub fn holds(&self, letter: Letter) -> bool {
        self.cubes.iter().any(|cube| cube.holds(letter))
    }

    /// Whether no letter satisfies it.
    pub fn is_never(&self) -> bool {
        self.cubes.is_empty()
    }

    /// Whether every letter satisfies it. (A minimised tautology is the empty cube.)
    pub fn is_always(&self) -> bool {
        self.cubes.contains(&Cube::TRUE)
    }

    /// Both.
    pub fn and(&self, other: &Self) -> Self {
        let pairs = self.cubes.iter().flat_map(|a| other.cubes.iter().filter_map(|b| a.and(*b)));
        Self::any_of(pairs)
    }

    /// Whether some letter satisfies both.
    pub fn meets(&self, other: &Self) -> bool {
        self.cubes.iter().any(|a| other.cubes.iter().any(|b| a.and(*b).is_some()))
    }

    /// One of them.
    pub fn or(&self, other: &Self) -> Self {
        Self::any_of(self.cubes.iter().chain(&other.cubes).copied())
    }

    /// Its complement, which may be very much longer.
    pub fn not(&self) -> Self {
        self.not_within(usize::MAX).unwrap_or_default()
    }

    /// Its complement, unless that takes more than `limit` cubes on the way.
    pub(crate) fn not_within(&self, limit: usize) -> Option<Self> {
        let mut rest = vec![Cube::TRUE];
        for cube in &self.cubes {
            let mut left = Vec::new();
            for part in &rest {
                part.without(*cube, &mut left);
                if left.len() > limit {
                    return None;
                }
            }
            absorb(&mut left);
            rest = left;
        }
        Some(Self::any_of(rest))
    }

    /// Whether every letter of this one is a letter of the other.
    pub fn implies(&self, other: &Self) -> bool {
        self.cubes.iter().all(|cube| covers(&other.cubes, *cube, usize::MAX))
    }

    /// The propositions that it mentions.
    pub fn support(&self) -> u64 {
        self.cubes.iter().fold(0, |all, cube| all | cube.support())
    }

    /// A letter that satisfies it, with as few propositions as its first cube allows.
    pub fn letter(&self) -> Option<Letter> {
        self.cubes.first().map(|cube| cube.positive)
    }

    /// The same over other numbers of propositions.
    pub(crate) fn renamed(&self, number: &[usize]) -> Self {
        let word = |bits: u64| {
            (0..64).filter(|i| bits >> i & 1 == 1).fold(0, |all, i: usize| all | 1u64 << number[i])
        };
        let cubes = self.cubes.iter();
        Self::any_of(cubes.map(|c| Cube { positive: word(c.positive), negative: word(c.negative) }))
    }

    /// In Promela, with the texts of propositions.
    pub fn show_with(&self, propositions: &Propositions) -> String {
        self.show(PROMELA, &|i| propositions.operand(i))
    }

    /// In the words of `name` and the signs of `style`.
    pub(crate) fn show(&self, style: Signs, name: &dyn Fn(usize) -> String) -> String {
        if self.is_never() {
            return style.never.to_owned();
        }
        if self.is_always() {
            return style.always.to_owned();
        }
        let show_cube = |cube: &Cube| {
            let literals = (0..64).filter(|i| cube.support() >> i & 1 == 1).map(|i| {
                let sign = if cube.negative >> i & 1 == 1 { style.not } else { "" };
                format!("{sign}{}", name(i))
            });
            literals.collect::<Vec<_>>().join(style.and)
        };
        self.cubes.iter().map(show_cube).collect::<Vec<_>>().join(style.or)
    }
}

/// How a format writes Boolean functions. Conjunction binds tighter than disjunction in all of them.
#[derive(Clone, Copy)]
pub(crate) struct Signs {
    pub(crate) always: &'static str,
    pub(crate) never: &'static str,
    pub(crate) not: &'static str,
    pub(crate) and: &'static str,
    pub(crate) or: &'static str,
}

/// Promela's signs.
const PROMELA: Signs = Signs { always: "true", never: "false", not: "!", and: " && ", or: " || " };

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(PROMELA, &|i| format!("p{i}")))
    }
}

/// Whether every letter of `cube` satisfies one of `cubes`. Gives up, with false, after `budget` cases.
fn covers(cubes: &[Cube], cube: Cube, mut budget: usize) -> bool {
    let within = |c: &Cube| {
        let both = c.and(cube)?;
        Some(Cube { positive: both.positive & !cube.positive, negative: both.negative & !cube.negative })
    };
    is_tautology(cubes.iter().filter_map(within).collect(), &mut budget)
}

/// By cases of a proposition that occurs with both signs; without one, only the empty cube is a tautology.
fn is_tautology(cubes: Vec<Cube>, budget: &mut usize) -> bool {
    if cubes.contains(&Cube::TRUE) {
        return true;
    }
    let positive = cubes.iter().fold(0, |all, c| all | c.positive);
    let negative = cubes.iter().fold(0, |all, c| all | c.negative);
    let both = positive & negative;
    if both == 0 || *budget == 0 {
        return false;
    }
    *budget -= 1;
    let bit = both & both.wrapping_neg();
    let where_true = cubes.iter().filter(|c| c.negative & bit == 0);
    let where_false = cubes.iter().filter(|c| c.positive & bit == 0);
    let where_true = where_true.map(|c| Cube { positive: c.positive & !bit, ..*c }).collect();
    let where_false = where_false.map(|c| Cube { negative: c.negative & !bit, ..*c }).collect();
    is_tautology(where_true, budget) && is_tautology(where_false, budget)
}

fn absorb(cubes: &mut Vec<Cube>) {
    cubes.sort_by_key(|c| (c.n_literals(), *c));
    cubes.dedup();
    let mut kept: Vec<Cube> = Vec::with_capacity(cubes.len());
    for cube in cubes.drain(..) {
        if !kept.iter().any(|k| cube.implies(*k)) {
            kept.push(cube);
        }
    }
    *cubes = kept;
}

fn minimise(mut cubes: Vec<Cube>) -> Vec<Cube> {
    absorb(&mut cubes);
    if cubes.len() <= 1 {
        return cubes;
    }
    let before = cubes.clone();
    if !primes(&mut cubes) {
        return before;
    }
    // Every prime implicant is here; drop the longest that the others cover.
    let mut i = cubes.len();
    while i > 0 {
        i -= 1;
        let cube = cubes.remove(i);
        if !covers(&cubes, cube, BUDGET) {
            cubes.insert(i, cube);
        }
    }
    cubes.sort();
    cubes
}

/// Iterated consensus. False if there are too many cubes on the way.
fn primes(cubes: &mut Vec<Cube>) -> bool {
    loop {
        if cubes.len() > CONSENSUS {
            return false;
        }
        let mut new = Vec::new();
        for (i, a) in cubes.iter().enumerate() {
            for b in &cubes[..i] {
                if let Some(c) = a.consensus(*b)
                    && !cubes.iter().any(|k| c.implies(*k))
                {
                    new.push(c);
                }
            }
        }
        if new.is_empty() {
            return true;
        }
        cubes.append(&mut new);
        absorb(cubes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn random_cubes(random: &mut Random) -> Vec<Cube> {
        let n = random.below(5);
        let cube = |random: &mut Random| {
            let (support, letter) = (random.next() & 15, random.next());
            Cube::minterm(letter, support)
        };
        (0..n).map(|_| cube(random)).collect()
    }

    #[test]
    fn guards_keep_their_meaning() {
        let mut random = Random::new(1);
        for _ in 0..3000 {
            let (a, b) = (random_cubes(&mut random), random_cubes(&mut random));
            let (guard, other) = (Guard::any_of(a.clone()), Guard::any_of(b));
            let mut implied = true;
            for letter in 0..16 {
                assert_eq!(guard.holds(letter), a.iter().any(|c| c.holds(letter)));
                assert_eq!(guard.not().holds(letter), !guard.holds(letter));
                assert_eq!(guard.and(&other).holds(letter), guard.holds(letter) && other.holds(letter));
                assert_eq!(guard.or(&other).holds(letter), guard.holds(letter) || other.holds(letter));
                implied &= !guard.holds(letter) || other.holds(letter);
            }
            assert_eq!(guard.implies(&other), implied);
            assert_eq!(guard.meets(&other), !guard.and(&other).is_never());
            let all = (0..16).all(|letter| guard.holds(letter));
            assert_eq!(guard.is_always(), all, "a minimised tautology is one empty cube");
        }
    }
}
