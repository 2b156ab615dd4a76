//! What all campaigns share: seeds that can be repeated, and a guard against testing nothing.
//!
//! A campaign that draws trivial systems passes whatever the engine does. So it counts, and fails if the
//! median number of states or the share of systems on which reduction acts falls below a stated bound.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment variable that repeats a single seed.
pub const SEED_VARIABLE: &str = "STUBBORN_SEED";

/// The environment variable that makes campaigns so many times as long: for nightly runs.
pub const TIMES_VARIABLE: &str = "STUBBORN_TIMES";

/// Where the fixed half of every campaign starts.
const FIXED_BASE: u64 = 0x5eed_0000_0000_0000;

/// `n` seeds, one per system: the first half always the same, the second half fresh from the clock.
/// If `STUBBORN_SEED` is set, only that one; if `STUBBORN_TIMES` is set, that many times as many. What was
/// chosen is printed.
///
/// # Panics
/// If one of the two is set, but not to a number.
pub fn seeds(n: usize) -> Vec<u64> {
    if let Some(seed) = repeated_seed() {
        println!("only seed {seed:#x}, from {SEED_VARIABLE}");
        return vec![seed];
    }
    let n = n * times();
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    let fresh_base = crate::Rng::new(clock).bits();
    let n_fixed = n.div_ceil(2);
    println!("{n_fixed} seeds from {FIXED_BASE:#x} and {} from {fresh_base:#x}", n - n_fixed);
    let run = |base: u64, n: usize| (0..n as u64).map(move |i| base.wrapping_add(i));
    run(FIXED_BASE, n_fixed).chain(run(fresh_base, n - n_fixed)).collect()
}

/// How many times as long campaigns are to be: 1 unless `STUBBORN_TIMES` is set.
///
/// # Panics
/// If it is set, but not to a number.
pub fn times() -> usize {
    number_in(TIMES_VARIABLE).unwrap_or(1) as usize
}

/// The seed in the environment, if one is to be repeated.
fn repeated_seed() -> Option<u64> {
    number_in(SEED_VARIABLE)
}

fn number_in(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(parse_number(&text).unwrap_or_else(|| panic!("{variable}={text} is not a number")))
}

fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Fails a test, and names the one command that repeats the failure. `file` is the file in `tests/all`
/// (empty for the tests inside the crate), `test` the name of the test function. The crate is the one whose tests
/// cargo runs.
///
/// # Panics
/// Always: that is its purpose.
#[track_caller]
pub fn fail(file: &str, test: &str, seed: u64, what: impl fmt::Display) -> ! {
    panic!("{}", failure(file, test, seed, what))
}

/// The message of [`fail`].
pub fn failure(file: &str, test: &str, seed: u64, what: impl fmt::Display) -> String {
    let target = if file.is_empty() { format!("--lib {test}") } else { format!("--test all {file}::{test}") };
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "stubborn-oracle".to_owned());
    format!("{what}\nrepeat with: {SEED_VARIABLE}={seed:#x} cargo test -p {package} {target} -- --nocapture")
}

/// What a campaign has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of systems.
    pub systems: usize,
    /// The number of states of each; sorted on demand.
    pub states: Vec<usize>,
    /// Number of systems of which reduction left fewer states.
    pub reduced: usize,
}

impl Tally {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more system, with so many states, of which reduction left so many.
    pub fn count(&mut self, full: usize, reduced: usize) {
        self.systems += 1;
        self.states.push(full);
        self.reduced += usize::from(reduced < full);
    }

    /// The median number of states; 0 if there was no system.
    pub fn median_states(&self) -> usize {
        self.states_at(50)
    }

    /// The number of states that so many per cent of the systems do not exceed.
    pub fn states_at(&self, per_cent: usize) -> usize {
        let mut sorted = self.states.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        sorted.get((sorted.len() * per_cent / 100).min(last)).copied().unwrap_or(0)
    }

    /// The share of systems on which reduction acted, from 0 to 1.
    pub fn share_reduced(&self) -> f64 {
        if self.systems == 0 { 0.0 } else { self.reduced as f64 / self.systems as f64 }
    }

    /// Fails if the campaign tested next to nothing. A single repeated seed is not judged.
    ///
    /// # Panics
    /// If the median number of states or the share of reduced systems is below its bound.
    #[track_caller]
    pub fn assert_not_degenerate(&self, min_median: usize, min_share: f64) {
        println!("{self}");
        if repeated_seed().is_none() {
            self.assert_at_least(min_median, min_share);
        }
    }

    #[track_caller]
    fn assert_at_least(&self, min_median: usize, min_share: f64) {
        assert!(self.median_states() >= min_median, "degenerate: median below {min_median}: {self}");
        assert!(self.share_reduced() >= min_share, "degenerate: share below {min_share}: {self}");
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (median, high) = (self.median_states(), self.states_at(99));
        let share = 100.0 * self.share_reduced();
        write!(f, "{} systems, states median {median} / 99th {high}, reduced {share:.0}%", self.systems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_seeds_are_always_the_same() {
        if repeated_seed().is_none() && number_in(TIMES_VARIABLE).is_none() {
            let (a, b) = (seeds(9), seeds(9));
            assert_eq!((a.len(), &a[..5]), (9, &b[..5]));
            assert_ne!(a[5..], b[5..]);
        }
        assert_eq!(
            (parse_number("12"), parse_number("0xff"), parse_number("x")),
            (Some(12), Some(255), None)
        );
    }

    #[test]
    fn a_failure_names_the_command_that_repeats_it() {
        let message = failure("campaign", "deadlocks_agree", 26, "lost a deadlock");
        let command = "STUBBORN_SEED=0x1a cargo test -p stubborn-oracle --test all campaign::deadlocks_agree";
        assert!(message.starts_with("lost a deadlock\n") && message.contains(command), "{message}");
        assert!(failure("", "t", 1, "x").contains(" --lib t"));
    }

    #[test]
    fn the_tally_knows_medians_and_shares() {
        let mut tally = Tally::new();
        assert_eq!((tally.median_states(), tally.share_reduced()), (0, 0.0));
        for (full, reduced) in [(9, 9), (1, 1), (5, 2), (7, 6)] {
            tally.count(full, reduced);
        }
        assert_eq!((tally.median_states(), tally.share_reduced()), (7, 0.5));
        assert_eq!((tally.states_at(0), tally.states_at(100)), (1, 9));
        tally.assert_at_least(7, 0.5);
    }

    #[test]
    #[should_panic(expected = "degenerate: median below 2")]
    fn trivial_systems_are_noticed() {
        let mut tally = Tally::new();
        tally.count(1, 1);
        tally.assert_at_least(2, 0.0);
    }

    #[test]
    #[should_panic(expected = "degenerate: share below 0.1")]
    fn idle_reduction_is_noticed() {
        let mut tally = Tally::new();
        tally.count(5, 5);
        tally.assert_at_least(2, 0.1);
    }
}
