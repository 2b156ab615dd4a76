//! Keys as short numbers that are spread evenly, and back.
//!
//! [`Squeeze`] takes the bits out of a word that some key has, and puts them back. [`mix`] and [`unmix`] are a bijection of the numbers
//! of `k` bits: multiplications by odd numbers, and shifts by at least half of the bits, each of which can be undone.

/// All ones in the low `k` bits.
#[inline]
pub(crate) fn ones(k: u32) -> u64 {
    if k == 0 { 0 } else { u64::MAX >> (64 - k) }
}

const A: u64 = 0x9e37_79b9_7f4a_7c15;
const B: u64 = 0xd6e8_feb8_6659_fd93;

/// The number whose product with an odd number is one, modulo 2^64 and so modulo any smaller power.
const fn inverse(odd: u64) -> u64 {
    // Each step of Newton's method doubles the bits that are right: three of them at first.
    let mut x = odd;
    let mut step = 0;
    while step < 5 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        step += 1;
    }
    x
}

/// A number of `k` bits for a number of `k` bits.
#[inline]
pub(crate) fn mix(mut x: u64, k: u32) -> u64 {
    let half = k.div_ceil(2);
    x ^= x >> half;
    x = x.wrapping_mul(A) & ones(k);
    x ^= x >> half;
    x = x.wrapping_mul(B) & ones(k);
    x ^ x >> half
}

/// The number that [`mix`] made this of.
pub(crate) fn unmix(mut x: u64, k: u32) -> u64 {
    let half = k.div_ceil(2);
    // What is shifted out is not needed: such a shift undoes itself.
    x ^= x >> half;
    x = x.wrapping_mul(const { inverse(B) }) & ones(k);
    x ^= x >> half;
    x = x.wrapping_mul(const { inverse(A) }) & ones(k);
    x ^ x >> half
}

/// Bits of a word, moved together: Hacker's Delight, section 7-4.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Squeeze {
    pub(crate) mask: u64,
    /// Which bits move by 1, 2, 4, ... places.
    moves: [u64; 6],
}

impl Squeeze {
    pub(crate) fn new(mask: u64) -> Self {
        let mut moves = [0; 6];
        let mut left = mask;
        // Places to the right of each that are not in the mask, by parity of ever higher bits of their number.
        let mut holes = !mask << 1;
        for (i, moved) in moves.iter_mut().enumerate() {
            let mut odd = holes;
            for shift in [1, 2, 4, 8, 16, 32] {
                odd ^= odd << shift;
            }
            *moved = odd & left;
            left = (left ^ *moved) | *moved >> (1 << i);
            holes &= !odd;
        }
        Self { mask, moves }
    }

    /// How many bits there are.
    #[inline]
    pub(crate) fn n_bits(&self) -> u32 {
        self.mask.count_ones()
    }

    /// The bits of a word that has no others, in the lowest places.
    #[inline]
    pub(crate) fn squeeze(&self, mut word: u64) -> u64 {
        for (i, moves) in self.moves.iter().enumerate() {
            let moved = word & moves;
            word = (word ^ moved) | moved >> (1 << i);
        }
        word
    }

    /// The word that has these bits.
    pub(crate) fn release(&self, mut bits: u64) -> u64 {
        for (i, moves) in self.moves.iter().enumerate().rev() {
            let moved = bits << (1 << i) & moves;
            bits = (bits & !(moves >> (1 << i))) | moved;
        }
        bits & self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *seed ^ *seed >> 31
    }

    #[test]
    fn mixing_is_a_bijection_for_every_number_of_bits() {
        // Miri does the same with less.
        let (few_bits, n) = if cfg!(miri) { (7, 4) } else { (14, 2_000) };
        for k in 0..=few_bits {
            let mut seen = vec![false; 1 << k];
            for x in 0..1u64 << k {
                let mixed = mix(x, k);
                assert!(!std::mem::replace(&mut seen[mixed as usize], true), "{k} bits, {x}");
                assert_eq!(unmix(mixed, k), x);
            }
        }
        let mut seed = 3;
        for k in few_bits + 1..=64 {
            for _ in 0..n {
                let x = random(&mut seed) & ones(k);
                assert!(mix(x, k) <= ones(k) && unmix(mix(x, k), k) == x, "{k} bits, {x}");
            }
        }
    }

    #[test]
    fn bits_that_are_squeezed_come_back() {
        let mut seed = 5;
        for round in 0..if cfg!(miri) { 5 } else { 2_000 } {
            let mask = match round {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << 63,
                _ => random(&mut seed) & random(&mut seed).rotate_left(round % 64),
            };
            let squeeze = Squeeze::new(mask);
            for _ in 0..20 {
                let word = random(&mut seed) & mask;
                let bits = squeeze.squeeze(word);
                let places = (0..64).filter(|place| mask >> place & 1 == 1);
                let expected = places.enumerate().fold(0, |all, (i, place)| all | (word >> place & 1) << i);
                assert_eq!(bits, expected, "{mask:x} {word:x}");
                assert_eq!(squeeze.release(bits), word, "{mask:x} {word:x}");
            }
        }
    }
}
