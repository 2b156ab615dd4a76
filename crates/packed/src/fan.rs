//! All successors of one state with their transitions, in lists: for searches that keep nothing but states and choose among transitions.
//!
//! **Preserves** everything: the successors that [`System::successors`] of a packed system makes, in the same order; but those of systems whose transitions come by number come agent by agent, because
//! it takes time to sort them and nobody minds.
//! **Checked by** `oracle/tests/all/packed.rs`, which compares them state by state.

use crate::keys_only::{Odd, States};
use crate::{Packed, Sink};
use stubborn_system::{Batch, Fault, System, TransitionId};

/// States with a note, and their transitions.
struct Fan<'f, const N: usize> {
    states: &'f mut States<N>,
    vias: &'f mut Vec<TransitionId>,
    note: u32,
}

impl<const N: usize> Sink<N> for Fan<'_, N> {
    #[inline]
    fn push(&mut self, via: TransitionId, key: &[u64; N]) {
        self.states.push(key, self.note);
        self.vias.push(via);
    }

    #[inline]
    fn len(&self) -> usize {
        self.vias.len()
    }

    fn sort_from(&mut self, _: usize) {}
}

impl<Y: System + ?Sized, const N: usize> Packed<'_, Y, N> {
    /// Appends the successors of a state, with a note of each, and their transitions. What is odd, if anything but that there may be none; then they
    /// need not be all.
    #[inline]
    pub fn fan_out(
        &self,
        key: &[u64; N],
        note: u32,
        out: &mut States<N>,
        vias: &mut Vec<TransitionId>,
    ) -> Result<Option<Odd>, Fault> {
        let before = (out.len(), vias.len());
        let expanded = {
            let mut core = self.core.borrow_mut();
            core.memo.now += 1;
            core.expand(key, &mut Fan { states: out, vias, note })
        };
        if self.is_done(expanded)? {
            return Ok(None);
        }
        out.truncate(before.0);
        vias.truncate(before.1);
        let mut made = Batch::new();
        self.refer(key, &mut made)?;
        (0..made.len()).for_each(|i| out.push(made.state(i), note));
        vias.extend_from_slice(made.vias());
        let is_flagged = made.take_flag();
        Ok(made.take_cut().map(|_| Odd::Cut).or(is_flagged.then_some(Odd::Flagged)))
    }
}
