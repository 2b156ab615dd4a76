//! States with colours, in any store.
//!
//! **Implements** the sets of states of a search that comes to states more than once and must know what for. A store that numbers
//! states has each once, with its colours as bits beside it. One that does not gets the bytes of the state and a colour,
//! so that a state with another colour is another one.
//! **Preserves** everything if the store is exact.
//! **Checked by** what checks the searches; both ways are used in `oracle/tests/all/testers.rs`.

use stubborn_store::{Entry, Full, Guarantee, Store};
use stubborn_system::{Batch, TransitionId, Vector};

/// Colours that a state may have.
const COLOURS: usize = 2;

/// Which states have which colours.
pub struct Marks<S: Vector + ?Sized> {
    store: Either<S>,
    entries: Vec<Entry>,
}

enum Either<S: Vector + ?Sized> {
    Numbered {
        store: Box<dyn Store<S>>,
        state: Batch<S>,
        /// By number of a state and colour.
        bits: Vec<u64>,
    },
    Coloured {
        store: Box<dyn Store<[u8]>>,
        state: Batch<[u8]>,
        bytes: Vec<u8>,
    },
}

impl<S: Vector + ?Sized> Marks<S> {
    /// In an empty store that gives numbers to states and finds them again.
    pub fn numbered(store: Box<dyn Store<S>>) -> Self {
        Self::new(Either::Numbered { store, state: Batch::new(), bits: Vec::new() })
    }

    /// In any empty store.
    pub fn coloured(store: Box<dyn Store<[u8]>>) -> Self {
        Self::new(Either::Coloured { store, state: Batch::new(), bytes: Vec::new() })
    }

    fn new(store: Either<S>) -> Self {
        Self { store, entries: Vec::new() }
    }

    /// Marks a state with a colour; whether it did not have it. No more than `room` bytes are used for that.
    pub(super) fn mark(&mut self, of: &S, colour: u8, room: usize) -> Result<bool, Full> {
        self.entries.clear();
        match &mut self.store {
            Either::Numbered { store, state, bits } => {
                state.clear();
                state.push(TransitionId(0), of);
                store.insert(state, room, &mut self.entries)?;
                let place = self.entries[0].id() as usize * COLOURS + usize::from(colour);
                if place / 64 >= bits.len() {
                    bits.push(0);
                }
                let word = &mut bits[place / 64];
                let is_new = *word >> (place % 64) & 1 == 0;
                *word |= 1 << (place % 64);
                Ok(is_new)
            }
            Either::Coloured { store, state, bytes } => {
                bytes.clear();
                bytes.extend_from_slice(of.as_bytes());
                bytes.push(colour);
                state.clear();
                state.push(TransitionId(0), bytes);
                store.insert(state, room, &mut self.entries)?;
                Ok(self.entries[0].is_new())
            }
        }
    }

    /// Memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.store {
            Either::Numbered { store, bits, .. } => store.bytes() + bits.capacity() * size_of::<u64>(),
            Either::Coloured { store, .. } => store.bytes(),
        }
    }

    /// What the store promises.
    pub fn guarantee(&self) -> Guarantee {
        match &self.store {
            Either::Numbered { store, .. } => store.guarantee(),
            Either::Coloured { store, .. } => store.guarantee(),
        }
    }
}
