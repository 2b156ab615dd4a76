//! Packed systems of several threads whose keys mean the same.
//!
//! Each thread has a tracer, values and a memory of its own; numbers of values are given in common, under a lock. What is
//! remembered needs no lock, and that is nearly everything.
//! **Checked by** `oracle/tests/all/threads.rs`: searches by several threads find what one finds.

use crate::codec::{Codec, Values};
use crate::{Failure, Packed, Sample};
use std::sync::{Arc, Mutex, PoisonError};
use stubborn_system::{Composed, Vector};

/// What threads have in common.
pub struct Team<const N: usize> {
    codec: Codec<N>,
    common: Arc<Mutex<Values>>,
    failure: Mutex<Option<Failure>>,
}

impl<const N: usize> Team<N> {
    /// With room for what was seen and more; `None` if `N` words are too few. The sample is empty until it gets
    /// its values back.
    pub fn new<S: Vector + ?Sized>(sample: &mut Sample<'_, S>) -> Option<Self> {
        let mut codec = match Codec::new(std::mem::take(&mut sample.values)) {
            Ok(codec) => codec,
            Err(values) => {
                sample.values = values;
                return None;
            }
        };
        let common = Arc::new(Mutex::new(std::mem::take(&mut *codec.values)));
        Some(Self { codec, common, failure: Mutex::new(None) })
    }

    /// The packed system of one thread, with a tracer of its own; `None` if it cannot be traced as the sample was.
    pub fn member<'y, Y: Composed + ?Sized>(&self, system: &'y Y) -> Option<Packed<'y, Y, N>> {
        let codec = self.codec.member(&self.common);
        let mut tracer = system.tracer()?;
        let splits = &codec.values.splits;
        splits
            .iter()
            .all(|(shape, part)| tracer.split(shape, *part))
            .then(|| Packed::with(system, tracer, codec))
    }

    /// Notes that a member could not go on.
    pub fn report(&self, failure: Failure) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }

    /// Why the packing does not serve, if a member said so; and the sample has all values that were seen.
    pub fn disband<S: Vector + ?Sized>(self, sample: &mut Sample<'_, S>) -> Option<Failure> {
        let mut common = self.common.lock().unwrap_or_else(PoisonError::into_inner);
        *sample.values = std::mem::take(&mut *common);
        let failure = *self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        sample.note(failure);
        failure
    }
}
