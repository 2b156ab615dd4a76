//! What a few states tell about parts: how many values they have, and which are too large.
//!
//! States are those of walks at random, which come far, and the first of a search, which comes everywhere. A part that leads an
//! agent and has a new value in many of them would never be seen again: it is taken finer apart.

use crate::Failure;
use crate::codec::Values;
use rustc_hash::FxHashSet;
use stubborn_system::{Batch, Composed, Fault, Parts, System, Tracer, Vector};

/// Steps of one walk at random, at most.
const LONGEST_WALK: usize = 1 << 10;

/// One state of a search for so many steps.
const STEPS_PER_STATE: usize = 4;

/// A leading part is too large if it has had more values than this, and more than one for so many states.
const MANY_VALUES: usize = 512;
const STATES_PER_VALUE: usize = 8;

/// Bits that a key should have to spare: to begin again because one was missing costs more than a second word.
const SPARE: usize = 8;

/// States that were looked at.
pub struct Sample<'y, S: Vector + ?Sized> {
    pub(crate) tracer: Box<dyn Tracer<S> + 'y>,
    pub(crate) values: Box<Values>,
}

impl<'y, S: Vector + ?Sized> Sample<'y, S> {
    /// Looks at states of a system, as many steps far; `None` if it cannot tell its parts.
    pub fn new<Y: Composed<State = S> + ?Sized>(
        system: &'y Y,
        n_steps: usize,
    ) -> Result<Option<Self>, Fault> {
        let Some(tracer) = system.tracer() else { return Ok(None) };
        Self::traced(system, tracer, n_steps, MANY_VALUES).map(Some)
    }

    /// The same with a tracer, so many steps, and parts that are too large if they have more than `many` values.
    pub fn traced<Y: System<State = S> + ?Sized>(
        system: &Y,
        mut tracer: Box<dyn Tracer<S> + 'y>,
        n_steps: usize,
        many: usize,
    ) -> Result<Self, Fault> {
        let mut walks = walk(system, n_steps)?;
        let half = walks.len() / 2;
        search(system, n_steps / STEPS_PER_STATE, &mut walks)?;
        let mut splits: Vec<(Vec<u8>, u16)> = Vec::new();
        loop {
            let mut values = Box::<Values>::default();
            let mut parts = Parts::default();
            for i in 0..walks.len() {
                if i == half {
                    values.look_back();
                }
                parts.clear();
                tracer.take_apart(walks.state(i), &mut parts);
                values.learn(&parts, &mut *tracer);
            }
            let most = many.max(walks.len() / STATES_PER_VALUE);
            let large = values.large_root(most).map(|(shape, part)| (shape.to_vec(), part));
            match large {
                Some((shape, part)) if tracer.split(&shape, part) => splits.push((shape, part)),
                _ => {
                    values.splits = splits;
                    if let Some(places) = tracer.places() {
                        values.take_as_they_are(&places);
                    }
                    return Ok(Self { tracer, values });
                }
            }
        }
    }

    /// Notes why a packing did not serve.
    pub(crate) fn note(&mut self, failure: Option<Failure>) {
        self.values.n_failures += u32::from(failure == Some(Failure::TooNarrow));
    }

    /// Whether successors are to be in the order of descending numbers.
    pub fn is_by_number(&self) -> bool {
        self.tracer.is_by_number()
    }

    /// How many words a key needs, with a few bits to spare.
    pub fn n_words(&self) -> usize {
        self.values.words_as_they_are().unwrap_or_else(|| (self.values.n_bits() + SPARE).div_ceil(64))
    }
}

/// Appends the first states of a search.
fn search<Y: System + ?Sized>(system: &Y, most: usize, out: &mut Batch<Y::State>) -> Result<(), Fault> {
    let first = out.len();
    system.initial(out)?;
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    let mut successors = Batch::new();
    let mut next = first;
    while next < out.len() && out.len() - first < most {
        successors.clear();
        let made = system.successors(out.state(next), &mut successors);
        if successors.take_cut().is_some() {
            break;
        }
        if made.is_ok() {
            for i in 0..successors.len() {
                // If two states have one hash, one of them is not looked at: no harm is done.
                if seen.insert(successors.state(i).hash64()) {
                    out.push(successors.via(i), successors.state(i));
                }
            }
        }
        next += 1;
    }
    Ok(())
}

/// States on walks at random from the initial state.
fn walk<Y: System + ?Sized>(system: &Y, n_steps: usize) -> Result<Batch<Y::State>, Fault> {
    let mut seen = Batch::new();
    let mut successors = Batch::new();
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut begin = Batch::new();
    system.initial(&mut begin)?;
    let mut from = begin.clone();
    for step in 0..n_steps {
        if step % LONGEST_WALK == 0 {
            from = begin.clone();
        }
        successors.clear();
        // What is wrong with a state the search will find.
        let made = system.successors(from.state(0), &mut successors);
        let is_cut = successors.take_cut().is_some();
        if made.is_err() || successors.is_empty() || is_cut {
            // What has limits may take long to come to them, and would again.
            if is_cut || from.state(0) == begin.state(0) {
                break;
            }
            from = begin.clone();
            continue;
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let i = (random >> 33) as usize % successors.len();
        from.clear();
        from.push(successors.via(i), successors.state(i));
        seen.push(successors.via(i), successors.state(i));
    }
    Ok(seen)
}
