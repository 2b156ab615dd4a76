//! Representatives of orbits, on keys.
//!
//! **Implements** [`Symmetric`] for packed systems: the representative of a key is the key of its state's representative. Keys that
//! are states as they are become states and keys again word by word; others are taken apart and numbered.
//! **Preserves** what the system's own symmetry does.
//! **Checked by** `oracle/tests/all/packed_symmetry.rs`: searches of representatives are the same with both engines.

use crate::Packed;
use stubborn_system::{Batch, Fault, Rows, Symmetric, TransitionId, Vector};

impl<Y: Symmetric + ?Sized, const N: usize> Symmetric for Packed<'_, Y, N> {
    #[inline]
    fn represent(&self, key: &mut [u64; N]) -> Result<(), Fault> {
        let mut core = self.core.borrow_mut();
        let mut room = core.take_state(key);
        let is_as_it_is = core.codec.values.is_as_they_are();
        drop(core);
        let state = room.get_mut(0);
        let done = self.system.represent(state);
        if is_as_it_is {
            for (word, bytes) in key.iter_mut().zip(state.as_bytes().chunks_exact(8)) {
                *word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
            }
        } else if done.is_ok() {
            let (mut states, mut keys) = (Batch::new(), Batch::new());
            states.push(TransitionId(0), state);
            self.pack(&states, &mut keys)?;
            *key = *keys.state(0);
        }
        self.core.borrow_mut().state = room;
        done
    }
}
