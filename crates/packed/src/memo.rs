//! What agents did before: successors as differences of keys.
//!
//! **Implements** a memory of what each unit of an agent made of a state. The value of the agent's root is an index;
//! then the bits of all parts that the unit has ever touched at this root tell one memory from another. Which parts
//! these are is learned: when a unit touches one more than before, what was remembered at this root is forgotten.
//! What a search needs lies close together: what to look at ([`Look`]), and the first two differences beside what they
//! belong to ([`Slot`]). Transitions lie elsewhere, because most searches do not ask for them.
//!
//! **Preserves** the successors exactly: what a unit does is a function of the shape, the root and the parts that it
//! touched ([`stubborn_system::Tracer`]), all of which are compared; and a part that it changes is touched, so its
//! difference is that of the same two values.
//! **Checked by** `oracle/tests/all/packed.rs`, which compares every state's successors with those of the system.

use crate::fields::Field;
use std::ops::Range;
use stubborn_system::{TransitionId, Unit};

/// New ones after which a unit is judged at a root, and how many states must have been expanded for each.
const TRIAL: u32 = 1 << 12;
const WORTH: u64 = 4;

/// The first multiplier; and how many are tried, in tables of at most so many slots.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const MULTIPLIERS: u64 = 12;
const SMALL: usize = 64;

/// Slots of a table that is large: it may be half full, smaller ones a quarter.
const LARGE: usize = 1 << 12;

/// A difference, and the transition that makes it.
pub(crate) type Difference<const N: usize> = ([u64; N], TransitionId);

/// Agents that can be asleep: the first so many.
const SLEEPERS: usize = u32::BITS as usize;

/// Differences that lie in a slot itself.
pub(crate) const NEAR: usize = 2;

/// What a unit made of states that look the same. Aligned so that it does not straddle lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Slot<const N: usize> {
    /// What they look like.
    key: [u64; N],
    /// The first successors; if there are fewer, the others mean nothing.
    pub(crate) near: [[u64; N]; NEAR],
    /// How many there are; or [`FREE`], or [`UNKNOWN`].
    pub(crate) n: u32,
    /// Where the others begin.
    rest: u32,
}

/// Nothing is remembered here.
const FREE: u32 = u32::MAX;

/// Only the system can say what happens.
const UNKNOWN: u32 = u32::MAX - 1;

impl<const N: usize> Slot<N> {
    const EMPTY: Self = Self { key: [0; N], near: [[0; N]; NEAR], n: FREE, rest: 0 };

    /// Whether only the system can say what happens.
    #[inline]
    pub(crate) fn is_unknown(&self) -> bool {
        self.n == UNKNOWN
    }

    /// Where the successors are that do not lie here.
    #[inline]
    pub(crate) fn rest(&self) -> Range<usize> {
        let first = self.rest as usize;
        first..first + (self.n as usize).saturating_sub(NEAR)
    }
}

/// How to find what a unit made, at a root.
#[derive(Clone, Copy, Debug)]
struct Look<const N: usize> {
    /// The bits of what it has touched, without the root.
    mask: [u64; N],
    /// The same with the agent's own.
    looks: [u64; N],
    /// Makes a hash of these, such that few of them are in each other's way.
    multiplier: u64,
    /// Its slots: open addressing, a power of two, at most half full, or a quarter, so that most are found at once; and the distance of the highest bits of a hash.
    first: u32,
    shift: u8,
    /// Whether it goes on with the step of the unit before.
    goes_on: bool,
}

impl<const N: usize> Look<N> {
    #[inline(always)]
    fn masked(&self, key: &[u64; N]) -> [u64; N] {
        let mut masked = *key;
        for (word, mask) in masked.iter_mut().zip(&self.mask) {
            *word &= mask;
        }
        masked
    }

    #[inline(always)]
    fn home(&self, masked: &[u64; N]) -> usize {
        let mut hash = 0u64;
        for (i, &word) in masked.iter().enumerate() {
            // The highest bits of a product depend on all bits below them.
            hash = (hash.rotate_right(if i == 0 { 0 } else { 32 }) ^ word).wrapping_mul(self.multiplier);
        }
        (hash >> self.shift) as usize
    }

    fn n_slots(&self) -> usize {
        1 << (64 - self.shift)
    }
}

/// A unit at a root.
#[derive(Clone, Copy, Debug)]
struct Known {
    unit: Unit,
    n: u32,
    /// States expanded when it came up first.
    since: u64,
    is_off: bool,
}

/// All that was made.
#[derive(Debug, Default)]
pub(crate) struct Memo<const N: usize> {
    /// Memory that may be used, in bytes; then no more is remembered.
    pub(crate) room: usize,
    /// All units at all roots.
    looks: Vec<Look<N>>,
    known: Vec<Known>,
    slots: Vec<Slot<N>>,
    /// The transitions of each slot.
    vias: Vec<[TransitionId; NEAR]>,
    /// What does not fit the slots.
    pub(crate) rest: Vec<Difference<N>>,
    /// By shape: the agents.
    pub(crate) shapes: Vec<Vec<Agent<N>>>,
    /// States expanded so far.
    pub(crate) now: u64,
}

/// An agent: where its root lies, and by value of the root, which units it has.
#[derive(Debug)]
pub(crate) struct Agent<const N: usize> {
    word: u8,
    shift: u8,
    most: u32,
    /// The bits of its root and of the shape: it always looks at these.
    pub(crate) own: [u64; N],
    /// Its bit in a mask of agents that are asleep; none if it never is.
    pub(crate) bit: u32,
    units: Vec<(u32, u32)>,
    /// The unit if there is one only, else [`NO_UNIT`]: that is what is looked up all the time.
    only: Vec<u32>,
}

/// The number of no unit: there are never so many.
const NO_UNIT: u32 = u32::MAX;

/// What is found at the first glance.
pub(crate) struct Glance<'m, const N: usize> {
    /// The number of the slot.
    pub(crate) at: usize,
    /// What is there: all that the unit makes.
    pub(crate) slot: &'m Slot<N>,
    /// The bits that the agent depends on.
    pub(crate) looks: &'m [u64; N],
}

impl<const N: usize> Agent<N> {
    fn new(number: usize, root: Field, shape: Field) -> Self {
        let mut own = [0; N];
        own[usize::from(root.word)] |= root.mask();
        own[usize::from(shape.word)] |= shape.mask();
        let (word, shift, most) = (root.word, root.shift, root.most() as u32);
        let bit = if number < SLEEPERS { 1 << number } else { 0 };
        Self { word, shift, most, own, bit, units: Vec::new(), only: Vec::new() }
    }

    /// The value of its root.
    #[inline(always)]
    pub(crate) fn root(&self, key: &[u64; N]) -> u32 {
        // The number of words is a power of two, so this needs no check.
        (key[usize::from(self.word) & (N - 1)] >> (self.shift & 63)) as u32 & self.most
    }

    /// Its units where the root has this value; none if that was never asked.
    #[inline(always)]
    pub(crate) fn units(&self, root: u32) -> Range<usize> {
        self.units.get(root as usize).map_or(0..0, |&(first, end)| first as usize..end as usize)
    }
}

impl<const N: usize> Memo<N> {
    /// Slots of a unit that has made nothing yet: two.
    const FIRST_SHIFT: u8 = 63;

    /// Notes the agents of a new shape, by their roots; and where shapes are written.
    pub(crate) fn add_shape(&mut self, roots: impl Iterator<Item = Field>, shape: Field) {
        let agents = roots.enumerate().map(|(number, root)| Agent::new(number, root, shape));
        self.shapes.push(agents.collect());
    }

    /// Notes the units of an agent where its root has this value.
    pub(crate) fn add_units(
        &mut self,
        shape: usize,
        agent: usize,
        root: u32,
        units: &[Unit],
    ) -> Range<usize> {
        let Agent { units: table, only, own, .. } = &mut self.shapes[shape][agent];
        let own = *own;
        if table.len() <= root as usize {
            table.resize(root as usize + 1, (0, 0));
            only.resize(root as usize + 1, NO_UNIT);
        }
        let first = self.known.len();
        table[root as usize] = (first as u32, (first + units.len()) as u32);
        only[root as usize] = if units.len() == 1 { first as u32 } else { NO_UNIT };
        for &unit in units {
            self.add_unit(unit, own);
        }
        first..self.known.len()
    }

    /// Notes a unit of an agent with these bits of its own; none if it is something that is asked of any state of a shape: that has no root.
    pub(crate) fn add_unit(&mut self, unit: Unit, own: [u64; N]) -> usize {
        self.known.push(Known { unit, n: 0, since: self.now, is_off: false });
        let goes_on = unit.goes_on;
        let (first, shift) = (0, Self::FIRST_SHIFT);
        self.looks.push(Look { mask: [0; N], looks: own, multiplier: MULTIPLIER, first, shift, goes_on });
        let number = self.known.len() - 1;
        self.renew(number, Self::FIRST_SHIFT);
        number
    }

    /// Whether nothing is remembered of a unit, because that was not worth it.
    pub(crate) fn is_off(&self, number: usize) -> bool {
        self.known[number].is_off
    }

    /// Which unit that is.
    #[inline]
    pub(crate) fn unit(&self, number: usize) -> Unit {
        self.known[number].unit
    }

    /// Whether a unit goes on with the step of the one before.
    #[inline]
    pub(crate) fn goes_on(&self, number: usize) -> bool {
        self.looks[number].goes_on
    }

    /// The slot where what an agent made of a state is most likely to be, if the agent has one unit there, and the slot holds all that it made.
    #[inline(always)]
    pub(crate) fn glance(&self, agent: &Agent<N>, key: &[u64; N]) -> Option<Glance<'_, N>> {
        let number = *agent.only.get(agent.root(key) as usize)?;
        let look = self.looks.get(number as usize)?;
        let masked = look.masked(key);
        let at = look.first as usize + look.home(&masked);
        let slot = self.slots.get(at)?;
        // A free slot has the largest number of all.
        (slot.n <= NEAR as u32 && slot.key == masked).then_some(Glance { at, slot, looks: &look.looks })
    }

    /// Where it is what a unit made of a state that looks the same.
    #[inline]
    pub(crate) fn find(&self, number: usize, key: &[u64; N]) -> Option<usize> {
        let look = &self.looks[number];
        let masked = look.masked(key);
        let first = look.first as usize;
        let mut at = look.home(&masked);
        loop {
            let slot = &self.slots[first + at];
            if slot.n == FREE {
                return None;
            }
            if slot.key == masked {
                return Some(first + at);
            }
            at = (at + 1) & (look.n_slots() - 1);
        }
    }

    /// The bits that a unit depends on at its root.
    #[inline]
    pub(crate) fn looks(&self, number: usize) -> &[u64; N] {
        &self.looks[number].looks
    }

    /// What was found.
    #[inline]
    pub(crate) fn slot(&self, at: usize) -> &Slot<N> {
        &self.slots[at]
    }

    /// The transitions of the first differences of a slot.
    #[inline]
    pub(crate) fn vias(&self, at: usize) -> &[TransitionId; NEAR] {
        &self.vias[at]
    }

    /// The differences of a slot and their transitions, in order.
    #[inline]
    pub(crate) fn made(&self, at: usize) -> impl Iterator<Item = Difference<N>> {
        let slot = &self.slots[at];
        let near = slot.near.into_iter().zip(self.vias[at]).take(slot.n as usize);
        near.chain(self.rest[slot.rest()].iter().copied())
    }

    /// Gives a unit new, empty slots.
    fn renew(&mut self, number: usize, shift: u8) -> Range<usize> {
        let look = &mut self.looks[number];
        let old = look.first as usize..look.first as usize + look.n_slots();
        (look.first, look.shift) = (self.slots.len() as u32, shift);
        self.slots.resize(self.slots.len() + look.n_slots(), Slot::EMPTY);
        self.vias.resize(self.slots.len(), [TransitionId(0); NEAR]);
        old
    }

    fn put(&mut self, number: usize, slot: Slot<N>, vias: [TransitionId; NEAR]) {
        let look = &self.looks[number];
        let mut at = look.home(&slot.key);
        while self.slots[look.first as usize + at].n != FREE {
            at = (at + 1) & (look.n_slots() - 1);
        }
        self.slots[look.first as usize + at] = slot;
        self.vias[look.first as usize + at] = vias;
    }

    /// Remembers what was made of a state, `None` if only the system can say, if that is worth it; `touched` are the bits
    /// of what it depended on, the root's left out.
    pub(crate) fn insert(
        &mut self,
        number: usize,
        key: &[u64; N],
        touched: &[u64; N],
        made: Option<&[Difference<N>]>,
    ) {
        if self.known[number].is_off || self.bytes() > self.room {
            return;
        }
        if (0..N).any(|word| touched[word] & !self.looks[number].mask[word] != 0) {
            let Look { mask, looks, .. } = &mut self.looks[number];
            for ((mask, looks), touched) in mask.iter_mut().zip(looks).zip(touched) {
                *mask |= touched;
                *looks |= touched;
            }
            self.renew(number, Self::FIRST_SHIFT);
            self.known[number].n = 0;
        }
        let Known { n, since, .. } = self.known[number];
        if n >= TRIAL && n.is_power_of_two() && (self.now - since) / WORTH < u64::from(n) {
            self.known[number].is_off = true;
            self.renew(number, Self::FIRST_SHIFT);
            return;
        }
        if self.bytes() + 4 * self.looks[number].n_slots() * size_of::<Slot<N>>() > self.room {
            return;
        }
        self.make_room(number, n as usize, key);
        let differences = made.unwrap_or_default();
        let near = |i: usize| differences.get(i).copied().unwrap_or(([0; N], TransitionId(0)));
        let slot = Slot {
            key: self.looks[number].masked(key),
            near: std::array::from_fn(|i| near(i).0),
            n: if made.is_some() { differences.len() as u32 } else { UNKNOWN },
            rest: self.rest.len() as u32,
        };
        self.rest.extend(differences.iter().skip(NEAR));
        self.put(number, slot, std::array::from_fn(|i| near(i).1));
        self.known[number].n += 1;
    }

    /// Makes sure that there is room for one more than `n`, and if possible that none of them is in the way of another.
    fn make_room(&mut self, number: usize, n: usize, key: &[u64; N]) {
        let look = self.looks[number];
        let old = look.first as usize..look.first as usize + look.n_slots();
        let masked = look.masked(key);
        let is_full = (n + 1) * (if look.n_slots() < LARGE { 4 } else { 2 }) > look.n_slots();
        if !is_full && self.slots[old.start + look.home(&masked)].n == FREE {
            return;
        }
        let mut best = look;
        if look.n_slots() <= SMALL {
            let keys = self.slots[old.clone()].iter().filter(|slot| slot.n != FREE).map(|slot| slot.key);
            let keys: Vec<[u64; N]> = keys.chain([masked]).collect();
            let fewest = (u8::from(is_full)..3).flat_map(|more| (0..MULTIPLIERS).map(move |i| (more, i)));
            let tried = fewest.map(|(more, i)| {
                let multiplier = MULTIPLIER.wrapping_mul(2 * i + 1);
                Look { multiplier, shift: look.shift - more, ..look }
            });
            let is_perfect = |look: &Look<N>| {
                // Tables are small enough for a bit each.
                let mut taken = [0u64; SMALL * 4 / 64];
                keys.iter().all(|key| {
                    let at = look.home(key);
                    let is_free = taken[at / 64] >> (at % 64) & 1 == 0;
                    taken[at / 64] |= 1 << (at % 64);
                    is_free
                })
            };
            best = tried.clone().find(is_perfect).unwrap_or(look);
        }
        if is_full && best.shift == look.shift {
            best.shift -= 1;
        }
        if (best.multiplier, best.shift) == (look.multiplier, look.shift) {
            return;
        }
        self.looks[number].multiplier = best.multiplier;
        self.renew(number, best.shift);
        for at in old {
            let slot = self.slots[at];
            if slot.n != FREE {
                self.put(number, slot, self.vias[at]);
            }
        }
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * (size_of::<Slot<N>>() + size_of::<[TransitionId; NEAR]>())
            + self.rest.len() * size_of::<Difference<N>>()
            + self.known.len() * (size_of::<Known>() + size_of::<Look<N>>())
    }
}
