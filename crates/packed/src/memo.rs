//! What agents did before: successors as differences of keys.
//!
//! **Implements** a memory of what each unit of an agent made of a state. The value of the agent's root is an index;
//! then the bits of all parts that the unit has ever touched at this root tell one memory from another. Which parts
//! these are is learned: when a unit touches one more than before, what was remembered at this root is forgotten.
//!
//! **Preserves** the successors exactly: what a unit does is a function of the shape, the root and the parts that it
//! touched ([`stubborn_system::Tracer`]), all of which are compared; and a part that it changes is touched, so its
//! difference is that of the same two values.
//! **Checked by** `tests/packed.rs` and the campaign that compares every state's successors with those of the system.

use crate::fields::Field;
use std::ops::Range;
use stubborn_system::{TransitionId, Unit};

/// Memory that differences may take, in bytes; then no more are remembered.
const ROOM: usize = 1 << 28;

/// New ones after which a unit is judged at a root, and how many states must have been expanded for each.
const TRIAL: u32 = 1 << 12;
const WORTH: u64 = 4;

/// What was made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Made {
    /// These differences.
    Differences { start: u32, end: u32 },
    /// Only the system can say what happens.
    Unknown,
}

/// A unit at a root.
#[derive(Clone, Debug)]
pub(crate) struct Known<const N: usize> {
    pub(crate) unit: Unit,
    /// The bits of what it has touched, without the root.
    mask: [u64; N],
    /// Open addressing; a power of two of slots, at most half full.
    slots: Vec<Slot<N>>,
    /// Distance of the highest bits of a hash.
    shift: u32,
    n: u32,
    /// States expanded when it came up first.
    since: u64,
    is_off: bool,
}

#[derive(Clone, Copy, Debug)]
struct Slot<const N: usize> {
    key: [u64; N],
    /// `start == FREE` if there is nothing; `UNKNOWN` if only the system can say.
    start: u32,
    end: u32,
}

const FREE: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX - 1;

impl<const N: usize> Slot<N> {
    const EMPTY: Self = Self { key: [0; N], start: FREE, end: 0 };

    #[inline]
    fn made(self) -> Made {
        if self.start == UNKNOWN {
            Made::Unknown
        } else {
            Made::Differences { start: self.start, end: self.end }
        }
    }
}

impl<const N: usize> Known<N> {
    fn new(unit: Unit, since: u64) -> Self {
        Self { unit, mask: [0; N], slots: vec![Slot::EMPTY; 2], shift: 63, n: 0, since, is_off: false }
    }

    #[inline]
    fn masked(&self, key: &[u64; N]) -> [u64; N] {
        std::array::from_fn(|word| key[word] & self.mask[word])
    }

    #[inline]
    fn home(&self, masked: &[u64; N]) -> usize {
        let mut hash = 0u64;
        for &word in masked {
            // Two rounds: the high bits of a product depend on all bits below.
            hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 32;
        }
        (hash.wrapping_mul(0xd6e8_feb8_6659_fd93) >> self.shift) as usize
    }

    /// What was made of a state that looks the same.
    #[inline]
    pub(crate) fn find(&self, key: &[u64; N]) -> Option<Made> {
        let masked = self.masked(key);
        let mut at = self.home(&masked);
        loop {
            let slot = self.slots[at];
            if slot.start == FREE {
                return None;
            }
            if slot.key == masked {
                return Some(slot.made());
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn put(&mut self, slot: Slot<N>) {
        let mut at = self.home(&slot.key);
        while self.slots[at].start != FREE {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = slot;
    }

    /// Remembers what was made of a state; `touched` are the bits of what it depended on, the root's left out. `None` if
    /// it is not worth it, else the memory that was added, in bytes.
    fn insert(&mut self, key: &[u64; N], touched: &[u64; N], made: Made, now: u64) -> Option<usize> {
        if self.is_off {
            return None;
        }
        if (0..N).any(|word| touched[word] & !self.mask[word] != 0) {
            for word in 0..N {
                self.mask[word] |= touched[word];
            }
            (self.slots, self.shift, self.n) = (vec![Slot::EMPTY; 2], 63, 0);
        }
        if self.n >= TRIAL && self.n.is_power_of_two() && (now - self.since) / WORTH < u64::from(self.n) {
            (self.is_off, self.slots) = (true, vec![Slot::EMPTY; 2]);
            self.shift = 63;
            return None;
        }
        let mut bytes = 0;
        if (self.n as usize + 1) * 2 > self.slots.len() {
            bytes = self.slots.len() * size_of::<Slot<N>>();
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![Slot::EMPTY; old.len() * 2];
            self.shift -= 1;
            old.into_iter().filter(|slot| slot.start != FREE).for_each(|slot| self.put(slot));
        }
        let (start, end) = match made {
            Made::Differences { start, end } => (start, end),
            Made::Unknown => (UNKNOWN, 0),
        };
        self.put(Slot { key: self.masked(key), start, end });
        self.n += 1;
        Some(bytes)
    }
}

/// All that was made.
#[derive(Debug, Default)]
pub(crate) struct Memo<const N: usize> {
    /// All units at all roots.
    pub(crate) known: Vec<Known<N>>,
    /// Differences, with the transitions that make them.
    pub(crate) differences: Vec<([u64; N], TransitionId)>,
    /// By shape: the agents.
    pub(crate) shapes: Vec<Vec<Agent>>,
    n_bytes: usize,
    /// States expanded so far.
    pub(crate) now: u64,
}

/// An agent: where its root lies, and by value of the root, which of [`Memo::known`] are its units.
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
        let (first, now) = (self.known.len(), self.now);
        self.known.extend(units.iter().map(|&unit| Known::new(unit, now)));
        table[root as usize] = (first as u32, self.known.len() as u32);
        self.n_bytes += units.len() * (size_of::<Known<N>>() + 2 * size_of::<Slot<N>>());
        first..self.known.len()
    }

    /// Remembers what was made of a state; `None` if only the system can say.
    pub(crate) fn insert(
        &mut self,
        known: usize,
        key: &[u64; N],
        touched: &[u64; N],
        made: Option<&[([u64; N], TransitionId)]>,
    ) {
        if self.n_bytes > ROOM {
            return;
        }
        let now = self.now;
        let start = self.differences.len();
        let differences = made.unwrap_or_default();
        let end = start + differences.len();
        let made = made.map_or(Made::Unknown, |_| Made::Differences { start: start as u32, end: end as u32 });
        if let Some(bytes) = self.known[known].insert(key, touched, made, now) {
            self.differences.extend_from_slice(differences);
            self.n_bytes += bytes + differences.len() * size_of::<([u64; N], TransitionId)>();
        }
    }

    /// Memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.n_bytes
    }
}
