//! What agents did before: successors as differences of keys.
//!
//! **Implements** a memory of what each unit of an agent made of a state. The value of the agent's root is an index;
//! then the bits of all parts that the unit has ever touched at this root tell one memory from another. Which parts
//! these are is learned: when a unit touches one more than before, what was remembered at this root is forgotten.
//! What a search needs lies close together: what to look at ([`Look`]), and the first difference beside what it
//! belongs to ([`Slot`]).
//!
//! **Preserves** the successors exactly: what a unit does is a function of the shape, the root and the parts that it
//! touched ([`stubborn_system::Tracer`]), all of which are compared; and a part that it changes is touched, so its
//! difference is that of the same two values.
//! **Checked by** `oracle/tests/packed.rs`, which compares every state's successors with those of the system.

use crate::fields::Field;
use std::ops::Range;
use stubborn_system::{TransitionId, Unit};

/// New ones after which a unit is judged at a root, and how many states must have been expanded for each.
const TRIAL: u32 = 1 << 12;
const WORTH: u64 = 4;

/// A difference, and the transition that makes it.
pub(crate) type Difference<const N: usize> = ([u64; N], TransitionId);

/// What a unit made of states that look the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<const N: usize> {
    /// What they look like.
    key: [u64; N],
    /// The first successor.
    difference: [u64; N],
    via: TransitionId,
    /// How many there are; or [`FREE`], or [`UNKNOWN`].
    n: u32,
    /// Where the others begin.
    rest: u32,
}

/// Nothing is remembered here.
const FREE: u32 = u32::MAX;

/// Only the system can say what happens.
const UNKNOWN: u32 = u32::MAX - 1;

impl<const N: usize> Slot<N> {
    const EMPTY: Self = Self { key: [0; N], difference: [0; N], via: TransitionId(0), n: FREE, rest: 0 };

    /// Whether only the system can say what happens.
    #[inline]
    pub(crate) fn is_unknown(&self) -> bool {
        self.n == UNKNOWN
    }

    /// The first successor, if there is one, and where the others are.
    #[inline]
    pub(crate) fn made(&self) -> (Option<Difference<N>>, Range<usize>) {
        let first = (self.n > 0).then_some((self.difference, self.via));
        (first, self.rest as usize..(self.rest + self.n.saturating_sub(1)) as usize)
    }
}

/// How to find what a unit made, at a root.
#[derive(Clone, Copy, Debug)]
struct Look<const N: usize> {
    /// The bits of what it has touched, without the root.
    mask: [u64; N],
    /// Its slots: open addressing, a power of two, at most half full; and the distance of the highest bits of a hash.
    first: u32,
    shift: u8,
    /// Whether it goes on with the step of the unit before.
    goes_on: bool,
}

impl<const N: usize> Look<N> {
    #[inline]
    fn masked(&self, key: &[u64; N]) -> [u64; N] {
        std::array::from_fn(|word| key[word] & self.mask[word])
    }

    #[inline]
    fn home(&self, masked: &[u64; N]) -> usize {
        let mut hash = 0u64;
        for (i, &word) in masked.iter().enumerate() {
            // The highest bits of a product depend on all bits below them.
            hash =
                (hash.rotate_right(if i == 0 { 0 } else { 32 }) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
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
    /// What does not fit the slots.
    pub(crate) rest: Vec<Difference<N>>,
    /// By shape: the agents.
    pub(crate) shapes: Vec<Vec<Agent>>,
    /// States expanded so far.
    pub(crate) now: u64,
}

/// An agent: where its root lies, and by value of the root, which units it has.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    root: Field,
    units: Vec<(u32, u32)>,
}

impl Agent {
    /// The value of its root.
    #[inline]
    pub(crate) fn root<const N: usize>(&self, key: &[u64; N]) -> u32 {
        self.root.get(key)
    }

    /// Its units where the root has this value; none if that was never asked.
    #[inline]
    pub(crate) fn units(&self, root: u32) -> Range<usize> {
        self.units.get(root as usize).map_or(0..0, |&(first, end)| first as usize..end as usize)
    }
}

impl<const N: usize> Memo<N> {
    /// Slots of a unit that has made nothing yet: two.
    const FIRST_SHIFT: u8 = 63;

    /// Notes the agents of a new shape, by their roots.
    pub(crate) fn add_shape(&mut self, roots: impl Iterator<Item = Field>) {
        self.shapes.push(roots.map(|root| Agent { root, units: Vec::new() }).collect());
    }

    /// Notes the units of an agent where its root has this value.
    pub(crate) fn add_units(
        &mut self,
        shape: usize,
        agent: usize,
        root: u32,
        units: &[Unit],
    ) -> Range<usize> {
        let table = &mut self.shapes[shape][agent].units;
        if table.len() <= root as usize {
            table.resize(root as usize + 1, (0, 0));
        }
        let first = self.known.len();
        table[root as usize] = (first as u32, (first + units.len()) as u32);
        for &unit in units {
            self.known.push(Known { unit, n: 0, since: self.now, is_off: false });
            let goes_on = unit.goes_on;
            self.looks.push(Look { mask: [0; N], first: 0, shift: Self::FIRST_SHIFT, goes_on });
            self.renew(self.known.len() - 1, Self::FIRST_SHIFT);
        }
        first..self.known.len()
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

    /// What a unit made of a state that looks the same.
    #[inline]
    pub(crate) fn find(&self, number: usize, key: &[u64; N]) -> Option<&Slot<N>> {
        let look = &self.looks[number];
        let masked = look.masked(key);
        let slots = &self.slots[look.first as usize..];
        let mut at = look.home(&masked);
        loop {
            let slot = &slots[at];
            if slot.n == FREE {
                return None;
            }
            if slot.key == masked {
                return Some(slot);
            }
            at = (at + 1) & (look.n_slots() - 1);
        }
    }

    /// Gives a unit new, empty slots.
    fn renew(&mut self, number: usize, shift: u8) -> Range<usize> {
        let look = &mut self.looks[number];
        let old = look.first as usize..look.first as usize + look.n_slots();
        (look.first, look.shift) = (self.slots.len() as u32, shift);
        self.slots.resize(self.slots.len() + look.n_slots(), Slot::EMPTY);
        old
    }

    fn put(&mut self, number: usize, slot: Slot<N>) {
        let look = &self.looks[number];
        let mut at = look.home(&slot.key);
        while self.slots[look.first as usize + at].n != FREE {
            at = (at + 1) & (look.n_slots() - 1);
        }
        self.slots[look.first as usize + at] = slot;
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
            for (mask, touched) in self.looks[number].mask.iter_mut().zip(touched) {
                *mask |= touched;
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
        if (n as usize + 1) * 2 > self.looks[number].n_slots() {
            if self.bytes() + 2 * self.looks[number].n_slots() * size_of::<Slot<N>>() > self.room {
                return;
            }
            let old = self.renew(number, self.looks[number].shift - 1);
            for at in old {
                let slot = self.slots[at];
                if slot.n != FREE {
                    self.put(number, slot);
                }
            }
        }
        let differences = made.unwrap_or_default();
        let (difference, via) = differences.first().copied().unwrap_or(([0; N], TransitionId(0)));
        let slot = Slot {
            key: self.looks[number].masked(key),
            difference,
            via,
            n: if made.is_some() { differences.len() as u32 } else { UNKNOWN },
            rest: self.rest.len() as u32,
        };
        self.rest.extend(differences.iter().skip(1));
        self.put(number, slot);
        self.known[number].n += 1;
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot<N>>()
            + self.rest.len() * size_of::<Difference<N>>()
            + self.known.len() * (size_of::<Known>() + size_of::<Look<N>>())
    }
}
