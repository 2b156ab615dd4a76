//! What a few states tell about parts: how many values they have, and which are too large.
//!
//! States are those of walks at random, which come further than a search that was just begun. A part that leads an
//! agent and has a new value in many of them would never be seen again: it is taken finer apart.

use crate::codec::Values;
use stubborn_system::{Batch, Composed, Fault, Parts, System, Tracer, Vector};

/// Steps of walks at random, and of one walk at most.
const STEPS: usize = 1 << 14;
const LONGEST_WALK: usize = 1 << 10;

/// A leading part is too large if it has had more values than this, and more than one for so many states.
const MANY_VALUES: usize = 512;
const STATES_PER_VALUE: usize = 8;

/// Bits that a key should have to spare: to begin again because one was missing costs more than a second word.
const SPARE: usize = 6;

/// States that were looked at.
pub struct Sample<'y, S: Vector + ?Sized> {
    pub(crate) tracer: Box<dyn Tracer<S> + 'y>,
    pub(crate) values: Box<Values>,
}

impl<'y, S: Vector + ?Sized> Sample<'y, S> {
    /// Looks at states of a system; `None` if it cannot tell its parts.
    pub fn new<Y: Composed<State = S> + ?Sized>(system: &'y Y) -> Result<Option<Self>, Fault> {
        let Some(tracer) = system.tracer() else { return Ok(None) };
        Self::traced(system, tracer, STEPS, MANY_VALUES).map(Some)
    }

    /// The same with a tracer, so many steps, and parts that are too large if they have more than `many` values.
    pub fn traced<Y: System<State = S> + ?Sized>(
        system: &Y,
        mut tracer: Box<dyn Tracer<S> + 'y>,
        n_steps: usize,
        many: usize,
    ) -> Result<Self, Fault> {
        let walks = walk(system, n_steps)?;
        loop {
            let mut values = Box::<Values>::default();
            let mut parts = Parts::default();
            for i in 0..walks.len() {
                parts.clear();
                tracer.take_apart(walks.state(i), &mut parts);
                values.learn(&parts, &mut *tracer);
            }
            let most = many.max(walks.len() / STATES_PER_VALUE);
            let is_split = values.large_root(most).is_some_and(|(shape, part)| tracer.split(shape, part));
            if !is_split {
                return Ok(Self { tracer, values });
            }
        }
    }

    /// How many words a key needs, with a few bits to spare.
    pub fn n_words(&self) -> usize {
        (self.values.n_bits() + SPARE).div_ceil(64)
    }
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
        if system.successors(from.state(0), &mut successors).is_err() || successors.is_empty() {
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
