//! Attempts at a search: by the system itself, then with keys of the width that is needed.
//!
//! **Implements** the choice of the engine for every search that can do without it or with it: small systems are searched as they
//! are, since that takes less time than to look at them first. A search that does not end soon begins again with keys
//! ([`Packed`](stubborn_packed::Packed)). If a part turns out to have more values than its field has room for, it begins again with
//! wider ones, and if nothing is gained by remembering, without.
//! **Preserves** what each attempt finds: none knows anything of those before it.
//! **Checked by** `oracle/tests/all/packed.rs` and `cli/tests/all/linear_engines.rs`.

use crate::{EngineKind, Options};
use stubborn_explore::Limits;
use stubborn_packed::{Failure, Packed, Sample};
use stubborn_reduce::{Preserves, Reduction};
use stubborn_system::{Composed, Vector};

/// States that the system itself makes first: to look at a system and to learn what its agents do takes about as long.
const FIRST: u64 = 1 << 12;

/// The same of a reduced search, which has to learn what is asked of keys besides.
const FIRST_REDUCED: u64 = 3 << 11;

/// Steps after which it is decided how keys are made: of a system that is known to be large, and of any. With half as many `train` and `leader` of SPIN's examples begin again.
const STEPS: usize = 1 << 11;
const FEW_STEPS: usize = 1 << 8;

/// Attempts with keys of the smallest possible width; then each gets a word more.
const ATTEMPTS: usize = 6;

/// What became of an attempt: an answer, or what was seen.
pub(crate) enum Attempt<'y, S: Vector + ?Sized, F> {
    Done(F),
    /// The keys were too narrow.
    Again(Sample<'y, S>),
    /// Another search is to be tried with them.
    Next(Sample<'y, S>),
    Useless,
}

impl<'y, S: Vector + ?Sized, F> Attempt<'y, S, F> {
    /// What a search with keys has found, if it was not the keys that ended it.
    pub(crate) fn new<Y: Composed<State = S> + ?Sized, const N: usize>(
        packed: Packed<'y, Y, N>,
        found: F,
    ) -> Self {
        match packed.failure() {
            None => Self::Done(found),
            Some(failure) => Self::after(failure, || packed.into_sample()),
        }
    }

    /// What to do after a failure, with what was seen.
    pub(crate) fn after(failure: Failure, sample: impl FnOnce() -> Sample<'y, S>) -> Self {
        match failure {
            Failure::TooNarrow => Self::Again(sample()),
            Failure::Useless => Self::Useless,
        }
    }
}

/// A search that can be made by either engine.
pub(crate) trait Search<'y, Y: Composed + ?Sized> {
    /// What it finds.
    type Found;

    /// Whether keys may be of use: see [`can_sift`].
    fn can_gain(&self) -> bool;

    /// Whether sets are chosen in each state.
    fn is_reduced(&self) -> bool {
        false
    }

    /// Searches by the system itself. `is_first`: with keys if that is not enough.
    fn plain(&mut self, limits: Limits, is_first: bool) -> Self::Found;

    /// Whether what was found is all within this limit of states.
    fn is_cut(found: &Self::Found, states: u64) -> bool;

    /// Searches with keys of `N` words.
    fn attempt<const N: usize>(&mut self, sample: Sample<'y, Y::State>)
    -> Attempt<'y, Y::State, Self::Found>;
}

/// Whether successors that are remembered are of use to a reduction.
pub(crate) fn can_sift<Y: Composed + ?Sized>(reduction: &dyn Reduction<Y>) -> bool {
    reduction.preserves() == Preserves::Everything || reduction.can_sift()
}

/// Searches with the engine that is asked for.
pub(crate) fn by_engine<'y, Y: Composed + ?Sized, S: Search<'y, Y>>(
    system: &'y Y,
    options: &Options,
    limits: Limits,
    search: &mut S,
) -> S::Found {
    let engine = decided(options.engine);
    if engine == EngineKind::Auto {
        if !search.can_gain() || system.tracer().is_none() {
            return search.plain(limits, false);
        }
        let states = limits.states.min(if search.is_reduced() { FIRST_REDUCED } else { FIRST });
        let first = search.plain(Limits { states, ..limits }, true);
        if !S::is_cut(&first, states) || states == limits.states {
            return first;
        }
    }
    let found = if engine == EngineKind::Interpreter { None } else { packed(system, engine, search) };
    found.unwrap_or_else(|| search.plain(limits, false))
}

/// The engine that is asked for. Builds for tests may leave nothing open: small systems, which nearly all of the tests have, are then
/// searched with keys from the first state on, or large ones without.
fn decided(engine: EngineKind) -> EngineKind {
    match engine {
        EngineKind::Auto if cfg!(feature = "always-packed") => EngineKind::Packed,
        EngineKind::Auto if cfg!(feature = "always-interpreter") => EngineKind::Interpreter,
        engine => engine,
    }
}

/// Whether a search that does not end soon is made with keys, if it can gain.
pub(crate) fn is_on_keys<Y: Composed + ?Sized>(system: &Y, options: &Options) -> bool {
    decided(options.engine) != EngineKind::Interpreter && system.tracer().is_some()
}

/// Searches with keys; `None` if that is not possible or not worth it.
fn packed<'y, Y: Composed + ?Sized, S: Search<'y, Y>>(
    system: &'y Y,
    engine: EngineKind,
    search: &mut S,
) -> Option<S::Found> {
    // What is known to be large is worth a closer look.
    let n_steps = if engine == EngineKind::Auto { STEPS } else { FEW_STEPS };
    let mut sample = match Sample::new(system, n_steps) {
        Ok(sample) => sample?,
        Err(_) => return None,
    };
    let mut n_attempts = 0;
    loop {
        let n_words = sample.n_words().max(1 + n_attempts / ATTEMPTS);
        let done = match n_words {
            1 => search.attempt::<1>(sample),
            2 => search.attempt::<2>(sample),
            3 | 4 => search.attempt::<4>(sample),
            _ => return None,
        };
        sample = match done {
            Attempt::Done(found) => return Some(found),
            Attempt::Again(sample) => {
                n_attempts += 1;
                sample
            }
            Attempt::Next(sample) => sample,
            Attempt::Useless => return None,
        };
    }
}
