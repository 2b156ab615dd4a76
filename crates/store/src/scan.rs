//! A line at a glance.
//!
//! A line of the exact store is looked at twice per insertion, so this is the innermost loop of all. On
//! x86_64 it uses vector instructions of the baseline; elsewhere, and as the definition, plain code.

#[cfg(target_arch = "x86_64")]
use crate::machine;

/// The slots of a line whose tag fits, as a bit mask, and the number of slots in use.
///
/// `mask` has the low bits that hold the number; `tag` has none of them. A slot in use is not zero, and the
/// slots in use come first.
#[inline(always)]
pub(crate) fn scan(line: &[u32], tag: u32, mask: u32) -> (u32, usize) {
    let line: &[u32; 16] = line.try_into().expect("a line has sixteen slots");
    #[cfg(target_arch = "x86_64")]
    return machine::scan(line, tag, mask);
    #[cfg(not(target_arch = "x86_64"))]
    return plain(line, tag, mask);
}

/// The definition.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(line: &[u32; 16], tag: u32, mask: u32) -> (u32, usize) {
    let mut candidates = 0;
    let mut used = 0;
    for (i, &slot) in line.iter().enumerate() {
        candidates |= u32::from(slot != 0 && slot & !mask == tag) << i;
        used += usize::from(slot != 0);
    }
    (candidates, used)
}

/// What a look at a line of keys tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Whether the key is there.
    pub(crate) is_there: bool,
    /// Slots in use; they come first.
    pub(crate) used: usize,
}

/// How to look at a line of keys of `N` words. A slot in use has the highest bit of its last word set.
pub(crate) trait Eyes {
    /// Looks for a key, with the highest bit set as it is in a slot.
    fn look<const N: usize>(line: &[u64; 8], wanted: &[u64; N]) -> Seen;
}

/// The words of a line that equal those of a key, and those whose highest bit is set, as bit masks; what do they say?
#[inline(always)]
pub(crate) fn seen<const N: usize>(equal: u32, highest: u32) -> Seen {
    let (equal, ones) = match N {
        1 => (equal, highest),
        2 => (equal & equal >> 1 & 0x55, highest | 0x55),
        _ => (equal & equal >> 1 & equal >> 2 & equal >> 3 & 0x11, highest | 0x77),
    };
    Seen { is_there: equal != 0, used: ones.trailing_ones() as usize / N }
}

/// By plain code.
pub(crate) struct Plain;

impl Eyes for Plain {
    #[inline(always)]
    fn look<const N: usize>(line: &[u64; 8], wanted: &[u64; N]) -> Seen {
        let (mut equal, mut highest) = (0, 0);
        for (i, word) in line.iter().enumerate() {
            equal |= u32::from(*word == wanted[i % N]) << i;
            highest |= ((word >> 63) as u32) << i;
        }
        seen::<N>(equal, highest)
    }
}

/// Something that is done with one kind of eyes or another. A trait because a closure might not be inlined.
pub(crate) trait Sight {
    /// Does it. To be inlined always, so that it is compiled for the vectors that the eyes have.
    fn with<E: Eyes>(self);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::with_widest;

    #[test]
    fn vector_and_plain_code_see_the_same() {
        let mut random = 9u64;
        // Miri does the same with less.
        for round in 0..if cfg!(miri) { 40 } else { 20_000 } {
            let mask = u32::MAX >> (1 + round % 20);
            let mut line = [0u32; 16];
            for slot in line.iter_mut().take(round as usize % 17) {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                // Few tags, so that some fit.
                *slot =
                    ((random >> 40) as u32 % 3) << 30 | ((random >> 20) as u32 & mask & 0x3fff_ffff).max(1);
            }
            for tag in [0, 1 << 30, 1 << 31] {
                let tag = tag & !mask;
                assert_eq!(scan(&line, tag, mask), plain(&line, tag, mask), "{line:x?} {tag:x} {mask:x}");
            }
        }
    }

    #[test]
    fn wide_and_plain_eyes_see_the_same_keys() {
        struct Compare<const N: usize>([u64; 8], [u64; N]);
        impl<const N: usize> Sight for Compare<N> {
            #[inline(always)]
            fn with<E: Eyes>(self) {
                let used = self.0.chunks_exact(N).take_while(|slot| slot[N - 1] != 0).count();
                let is_there = self.0.chunks_exact(N).any(|slot| slot == self.1);
                let expected = Seen { is_there, used };
                assert_eq!(E::look(&self.0, &self.1), expected);
                assert_eq!(Plain::look(&self.0, &self.1), expected);
            }
        }
        fn compare<const N: usize>(random: &mut u64) {
            let mut next = || {
                *random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                *random >> 40
            };
            // Few keys, so that some are there.
            let mut key = || {
                let mut key: [u64; N] = std::array::from_fn(|_| next() % 3);
                key[N - 1] |= 1 << 63;
                key
            };
            let mut line = [0; 8];
            let wanted = key();
            let keys: Vec<[u64; N]> = (0..8 / N).map(|_| key()).collect();
            let used = (next() % (8 / N as u64 + 1)) as usize;
            line.chunks_exact_mut(N).zip(&keys).take(used).for_each(|(slot, key)| slot.copy_from_slice(key));
            with_widest(Compare(line, wanted));
        }
        let mut random = 5;
        for _ in 0..if cfg!(miri) { 100 } else { 5_000 } {
            compare::<1>(&mut random);
            compare::<2>(&mut random);
            compare::<4>(&mut random);
        }
    }
}
