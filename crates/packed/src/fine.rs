//! States with which nothing is wrong, remembered as what agents do is.
//!
//! **Implements** the check of new states: that there is nothing to be said about a state is a function of what was looked at to find
//! it out, so it is remembered under that. If it is not known, or something is wrong, the system itself is asked.
//! **Preserves** the answers.
//! **Checked by** `oracle/tests/packed.rs`, which compares them with those of the system.

use crate::Core;
use stubborn_system::{Rows, Unit, Vector};

impl<S: Vector + ?Sized, const N: usize> Core<'_, S, N> {
    /// Whether it is known that nothing is wrong with a state.
    #[inline]
    pub(crate) fn is_fine(&mut self, key: &[u64; N]) -> bool {
        let shape = self.codec.shape_of(key);
        let Some(&number) = self.fine.get(shape) else {
            self.fine.resize_with(shape + 1, || self.memo.add_unit(Unit { code: 0, goes_on: false }));
            return false;
        };
        match self.memo.find(number, key) {
            Some(at) => !self.memo.slot(at).is_unknown(),
            None => self.find_out(key, number),
        }
    }

    #[cold]
    fn find_out(&mut self, key: &[u64; N], number: usize) -> bool {
        if self.memo.is_off(number) {
            return false;
        }
        let mut state = std::mem::take(&mut self.state);
        self.unpack(key, &mut state);
        self.touched.clear();
        let is_fine = self.tracer.is_fine(state.get(0), &mut self.touched);
        self.state = state;
        let mut mask = [0; N];
        self.touched.iter().for_each(|&part| self.codec.mark(part, &mut mask));
        let nothing: &[_] = &[];
        self.memo.insert(number, key, &mask, (is_fine == Some(true)).then_some(nothing));
        is_fine == Some(true)
    }
}
