//! The ignoring problem where no edges are kept: packed states, of which something may be left out.
//!
//! **Implements** condition S of the soundness page for searches that keep nothing but the states. A state is *settled* if a way that is explored leads from it to a state in which nothing is left out, or
//! that is terminal. If all states are, each terminal strong component has such a state, and so it ignores nothing ([`ignoring`](crate::ignoring) says why that is enough). A state that leads
//! to one of the next level of the search is settled if that is. So when a level is done, only those of its states that are not known to lead to one are looked at
//! ([`leads`](crate::leads)): depth-first along what is explored from there, until something settled is found. Mostly it is the first state or the second. If there is nothing settled anywhere, or not
//! soon, the state is expanded in full, which settles it; several threads leave that to one, so that counts are always the same.
//! **Preserves**, together with D0, D1 and D2, every failure of a check. What is explored from a state must be a function of the state, for all threads ([`stubborn_reduce::Sieve`]).
//! **Differs from** `ignoring` in that a state is expanded in full where a component leaves something out in each of its states, though each transition may be fired in one of them: more is explored, never less.
//! States that are known to be settled are remembered in a small table in which new ones take the place of old ones, because all of them are not needed.
//! **Checked by** `oracle/tests/all/steady.rs`: random models in which much is put off, against brute force; without this, some of their failures are missed.

use crate::explorer::{Counts, Explorer, SETTLED, Unclear};
use crate::{Sighting, Visitor};
use rustc_hash::FxHashSet;
use stubborn_packed::{Packed, States};
use stubborn_reduce::{Sieve, SieveOnKeys, Sifted};
use stubborn_system::{Batch, Fault, System, Vector};

/// States that are known to be settled, as a power of two: so many are remembered.
const REMEMBERED: u32 = 15;

/// States that are looked at from one before it is expanded in full; and how many may be looked at for each that is expanded, and in any case: if that is not enough,
/// edges are better.
const MOST_MET: usize = 1 << 12;
const MOST_AGAIN: u64 = 2;
const FREE_AGAIN: u64 = 1 << 16;

/// A packed system of which a sieve says what is explored, and who looks at its states.
pub struct SiftingScout<'a, 'y, Y: System + ?Sized, V, const N: usize> {
    packed: &'a Packed<'y, Y, N>,
    sieve: SieveOnKeys<'a, Y::State, N>,
    visitor: V,
    minds_ignoring: bool,
    may_repair: bool,
    settled: Settled<N>,
    /// States that were expanded in full.
    repaired: FxHashSet<[u64; N]>,
    n_expanded: u64,
    n_again: u64,
    /// For looking: where it went, with what is still to be tried from there, and all states that were met.
    path: Vec<([u64; N], usize)>,
    ahead: States<N>,
    met: FxHashSet<[u64; N]>,
}

impl<'a, 'y, Y: System + ?Sized, V: Visitor<[u64; N]>, const N: usize> SiftingScout<'a, 'y, Y, V, N> {
    /// Explores what the sieve leaves of this system.
    pub fn new(packed: &'a Packed<'y, Y, N>, sieve: &'a mut dyn Sieve<Y::State>, visitor: V) -> Self {
        Self {
            packed,
            sieve: SieveOnKeys::new(sieve),
            visitor,
            minds_ignoring: true,
            may_repair: true,
            settled: Settled::new(),
            repaired: FxHashSet::default(),
            n_expanded: 0,
            n_again: 0,
            path: Vec::new(),
            ahead: States::default(),
            met: FxHashSet::default(),
        }
    }

    /// The same, given up where a state would be expanded in full. Which states are depends on who comes first, and with them how many states there are.
    #[must_use]
    pub fn without_repairs(self) -> Self {
        Self { may_repair: false, ..self }
    }

    /// The same, where it does not matter whether something is put off for ever.
    #[must_use]
    pub fn ignoring(self) -> Self {
        Self { minds_ignoring: false, ..self }
    }

    /// Whether a way leads from a state to one that is settled, as far as it is looked for. If so, all on the way are.
    fn leads_to_settled(&mut self, key: &[u64; N]) -> Result<bool, Unclear> {
        self.path.clear();
        self.ahead.clear();
        self.met.clear();
        let mut next = *key;
        loop {
            if self.met.insert(next) {
                self.path.push((next, self.ahead.len()));
                if self.go_to(&next)? {
                    self.path.iter().for_each(|(key, _)| self.settled.insert(key));
                    return Ok(true);
                }
            }
            // Back to where something is still to be tried.
            while let Some(&(_, first)) = self.path.last()
                && self.ahead.len() == first
            {
                self.path.pop();
            }
            match self.ahead.pop() {
                Some(key) if self.met.len() < MOST_MET => next = key,
                _ => return Ok(false),
            }
        }
    }

    /// Puts what is explored from a state ahead; whether the state is settled.
    fn go_to(&mut self, key: &[u64; N]) -> Result<bool, Unclear> {
        self.n_again += 1;
        if self.n_again > FREE_AGAIN + MOST_AGAIN * self.n_expanded {
            return Err(Unclear::Unsteady);
        }
        let first = self.ahead.len();
        let sifted = sift(&mut self.sieve, self.packed, key, 0, &mut self.ahead)?;
        let mut ahead = self.ahead.keys[first..].iter();
        Ok(sifted == Sifted::Whole
            || self.repaired.contains(key)
            || ahead.any(|key| self.settled.contains(key)))
    }
}

/// Appends what is explored from a state. What is odd about it must be told in order.
fn sift<Y: System + ?Sized, const N: usize>(
    sieve: &mut SieveOnKeys<'_, Y::State, N>,
    packed: &Packed<'_, Y, N>,
    key: &[u64; N],
    note: u32,
    out: &mut States<N>,
) -> Result<Sifted, Unclear> {
    match sieve.successors(packed, key, note, out)? {
        Sifted::Odd => Err(Unclear::Seen),
        Sifted::Unsteady => Err(Unclear::Unsteady),
        sifted => Ok(sifted),
    }
}

/// Nothing may be there to be told.
pub(crate) fn nothing(judged: Result<Option<Sighting>, Fault>) -> Result<(), Unclear> {
    if judged?.is_none() { Ok(()) } else { Err(Unclear::Seen) }
}

impl<Y: System + ?Sized, V: Visitor<[u64; N]>, const N: usize> Explorer<N> for SiftingScout<'_, '_, Y, V, N> {
    fn expand(
        &mut self,
        states: &mut States<N>,
        n: &mut usize,
        enough: usize,
        out: &mut States<N>,
    ) -> Result<Counts, Unclear> {
        let mut counts = Counts::default();
        while *n < states.len() && out.len() < enough {
            let (key, number) = (&states.keys[*n], states.notes[*n]);
            let first = out.len();
            let sifted = sift(&mut self.sieve, self.packed, key, number, out)?;
            let found = &out.keys[first..];
            if found.is_empty() {
                counts.terminal += 1;
                nothing(self.visitor.terminal(key))?;
            }
            let is_settled = || sifted == Sifted::Whole || found.iter().any(|key| self.settled.contains(key));
            if self.minds_ignoring && is_settled() {
                self.settled.insert(key);
                states.notes[*n] = SETTLED;
            }
            counts.edges += found.len() as u64;
            self.n_expanded += 1;
            *n += 1;
        }
        Ok(counts)
    }

    fn minds_ignoring(&self) -> bool {
        self.minds_ignoring
    }

    fn settle(&mut self, key: &[u64; N], out: &mut States<N>) -> Result<Counts, Unclear> {
        if self.leads_to_settled(key)? {
            return Ok(Counts::default());
        }
        if !self.may_repair {
            return Err(Unclear::Unsteady);
        }
        let before = out.len();
        // What is wrong here was seen when it was expanded first.
        let mut made = Batch::new();
        self.packed.successors(key, &mut made)?;
        (0..made.len()).for_each(|i| out.push(made.state(i), SETTLED));
        self.repaired.insert(*key);
        self.settled.insert(key);
        Ok(Counts { edges: (out.len() - before) as u64, terminal: 0, repairs: 1 })
    }

    fn arrive(&mut self, keys: &[[u64; N]], new: &[u32]) -> Result<(), Unclear> {
        new.iter().try_for_each(|&i| nothing(self.visitor.arrive(&keys[i as usize])))
    }

    fn looks_at_new(&self) -> bool {
        self.visitor.looks_at_found()
    }

    fn bytes(&self) -> usize {
        let met = self.met.capacity() + self.repaired.capacity();
        self.packed.bytes() + self.sieve.bytes() + self.settled.bytes() + met * size_of::<[u64; N]>()
    }

    fn choosing(&self) -> u64 {
        self.sieve.work()
    }
}

/// States that are known to be settled: each has one place, where the last one stays.
struct Settled<const N: usize>(Vec<[u64; N]>);

impl<const N: usize> Settled<N> {
    fn new() -> Self {
        let mut settled = Self(vec![[0; N]; 1 << REMEMBERED]);
        // A place is empty as long as a key is there that belongs to another.
        let first = settled.place(&[0; N]);
        let stranger = (1..).map(|i| [i; N]).find(|key| settled.place(key) != first);
        settled.0[first] = stranger.unwrap_or([0; N]);
        settled
    }

    #[inline]
    fn place(&self, key: &[u64; N]) -> usize {
        (key.hash64() >> 8) as usize & (self.0.len() - 1)
    }

    #[inline]
    fn insert(&mut self, key: &[u64; N]) {
        let place = self.place(key);
        self.0[place] = *key;
    }

    #[inline]
    fn contains(&self, key: &[u64; N]) -> bool {
        self.0[self.place(key)] == *key
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.0[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_settled_is_known_until_another_takes_its_place() {
        let mut settled = Settled::<1>::new();
        let keys: Vec<[u64; 1]> = (0..100_000).map(|i| [i]).collect();
        assert!(keys.iter().all(|key| !settled.contains(key)), "nothing is settled yet");
        for key in &keys {
            settled.insert(key);
            assert!(settled.contains(key));
        }
        let n_known = keys.iter().filter(|key| settled.contains(key)).count();
        assert!(n_known > 1 << (REMEMBERED - 1) && n_known <= 1 << REMEMBERED);
    }
}
