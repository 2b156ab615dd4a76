//! Sets of channels, by their numbers.

/// Channels that an expression may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Channels {
    bits: [u64; 4],
    /// Whether it may be any channel, also one that does not exist yet, or none.
    is_unknown: bool,
    /// Whether it may be one that a new process opens: nobody knows it yet.
    is_fresh: bool,
}

impl Channels {
    /// Any channel.
    pub(super) const ANY: Self = Self { bits: [u64::MAX; 4], is_unknown: true, is_fresh: true };

    /// A channel that a new process opens.
    pub(super) const FRESH: Self = Self { bits: [0; 4], is_unknown: false, is_fresh: true };

    /// Adds a channel by its number; what is no number of a channel may become any.
    pub(super) fn insert(&mut self, number: i32, n_channels: usize) {
        match usize::try_from(number) {
            Ok(i) if (1..=n_channels).contains(&i) && i < 256 => self.bits[i / 64] |= 1 << (i % 64),
            _ => *self = Self::ANY,
        }
    }

    /// The only channel, if there is only one.
    pub(super) fn single(&self) -> Option<i32> {
        if self.is_unknown || self.is_fresh {
            return None;
        }
        let mut all = self.iter();
        let first = all.next()?;
        all.next().is_none().then_some(first)
    }

    /// The numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = i32> + '_ {
        let (mut bits, mut i) = (self.bits, 0);
        std::iter::from_fn(move || {
            while i < bits.len() && bits[i] == 0 {
                i += 1;
            }
            let rest = bits.get_mut(i)?;
            let number = i as i32 * 64 + rest.trailing_zeros() as i32;
            *rest &= *rest - 1;
            Some(number)
        })
    }

    /// Whether there is a channel in both.
    pub(super) fn meets(&self, other: &Self) -> bool {
        (self.is_unknown && !other.is_empty())
            || (other.is_unknown && !self.is_empty())
            || (self.is_fresh && other.is_fresh)
            || self.bits.iter().zip(&other.bits).any(|(a, b)| a & b != 0)
    }

    /// Whether there is no channel in it.
    pub(super) fn is_empty(&self) -> bool {
        !self.is_unknown && !self.is_fresh && self.bits == [0; 4]
    }

    /// The channels that `choose` says, and the others, of those that there are; unknown ones are in both, where these are wanted.
    pub(super) fn sorted(
        &self,
        n_channels: usize,
        choose: impl Fn(i32) -> bool,
        unknown: (bool, bool),
    ) -> (Self, Self) {
        let none = |unknown| Self {
            bits: [0; 4],
            is_unknown: self.is_unknown && unknown,
            is_fresh: self.is_fresh && unknown,
        };
        let (mut chosen, mut others) = (none(unknown.0), none(unknown.1));
        for number in self.iter().skip_while(|&c| c < 1).take_while(|&c| c as usize <= n_channels) {
            let side = if choose(number) { &mut chosen } else { &mut others };
            side.bits[number as usize / 64] |= 1 << (number as usize % 64);
        }
        (chosen, others)
    }

    /// Everything that is in either.
    pub(super) fn union(&mut self, other: &Self) {
        self.is_unknown |= other.is_unknown;
        self.is_fresh |= other.is_fresh;
        self.bits.iter_mut().zip(&other.bits).for_each(|(a, b)| *a |= b);
    }
}
