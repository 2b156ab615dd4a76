//! Random numbers whose sequence never changes.
//!
//! SplitMix64 (Steele, Lea, Flood 2014), written out here so that a seed in an old failure report still
//! makes the same system after any update of any dependency. The test holds the published first values.

/// A generator; two with the same seed give the same numbers for ever.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
    /// What decides before chance does, the last first.
    choices: Vec<u8>,
}

impl Rng {
    /// The generator of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed, choices: Vec::new() }
    }

    /// A generator for a fuzzer: each byte decides one choice, so that a small change of the bytes is one of what is made. After the
    /// last one goes on as the generator of 0 does.
    pub fn led_by(bytes: &[u8]) -> Self {
        Self { state: 0, choices: bytes.iter().rev().copied().collect() }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        // Choices go by the highest bits.
        if let Some(choice) = self.choices.pop() {
            return u64::from(choice) << 56;
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which must not be zero.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "no number is below zero");
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// True `times` out of `of` times.
    pub fn chance(&mut self, times: usize, of: usize) -> bool {
        self.below(of) < times
    }

    /// One of `items`, of which there must be one.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// `n` different numbers below `of`, in random order.
    pub fn sample(&mut self, n: usize, of: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..of).collect();
        for i in 0..n.min(of) {
            let j = self.between(i, of - 1);
            all.swap(i, j);
        }
        all.truncate(n);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut rng = Rng::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| rng.bits()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn bytes_decide_before_chance_does() {
        let mut rng = Rng::led_by(&[0, 255, 128]);
        assert_eq!([rng.below(10), rng.below(10), rng.between(3, 4)], [0, 9, 4]);
        assert_eq!(rng.bits(), Rng::new(0).bits());
    }

    #[test]
    fn every_number_below_the_bound_occurs() {
        let mut rng = Rng::new(1);
        let mut seen = [0; 5];
        (0..1000).for_each(|_| seen[rng.below(5)] += 1);
        assert!(seen.iter().all(|&n| n > 120), "{seen:?}");
        let mut sample = rng.sample(4, 4);
        sample.sort_unstable();
        assert_eq!(sample, [0, 1, 2, 3]);
    }
}
