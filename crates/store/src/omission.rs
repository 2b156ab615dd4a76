//! What a store promises, and the probability that it broke the promise.

/// What a store promises about the states inserted so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guarantee {
    /// Every state was told apart from every other.
    Exact,
    /// States with equal fingerprints were taken for one.
    Compact {
        /// Bits of a fingerprint.
        bits: u32,
        /// Probability that some two states had the same one.
        omission: f64,
    },
    /// States whose bits were all set by others were overlooked.
    Bitstate {
        /// Bits in the field.
        bits: u64,
        /// Bits per state.
        functions: u32,
        /// Bits of the field per state found; SPIN's measure ("best if > 100").
        hash_factor: f64,
        /// Estimated number of states that were overlooked where they first appeared. States that only
        /// they lead to come on top.
        overlooked: f64,
    },
}

/// The probability that among `n` random fingerprints of `bits` bits some two are equal: at most
/// n(n-1)/2^(bits+1), which is also the usual approximation; capped at one.
pub fn collision_probability(n: f64, bits: u32) -> f64 {
    (n * (n - 1.0) / 2f64.powi(bits as i32 + 1)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_billion_states_are_likely_told_apart() {
        assert!((collision_probability(1e9, 64) - 0.0271).abs() < 1e-4);
        assert!(collision_probability(1e9, 128) < 1.5e-21);
        assert_eq!(collision_probability(0.0, 64), 0.0);
        assert_eq!(collision_probability(1e12, 64), 1.0);
    }
}
