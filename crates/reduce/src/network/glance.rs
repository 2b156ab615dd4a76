//! A glance at a state that may be behind a key: whether it is known already what to choose for it.
//!
//! **Implements** the answers that a [`memo`](super::memo) of choices wants. Where processes are and what they can do is known when it is asked; what only the state itself can tell
//! is recalled, by the number of the question, from what was told of states that look the same to it ([`Shown::recall`]). So nearly always nobody has to see the state.
//! **Preserves** the answers exactly: each depends on bytes of the state that are noted when it is given, and on where segments lie.
//! **Checked by** the sets that are held against their definition, and by `oracle`, which compares searches on keys with those on states.

use super::flow::Flow;
use super::look::{Here, Question, Reader};
use super::population::Population;
use super::shape::Shape;
use crate::Shown;
use stubborn_network::{Engine, Network};

/// Numbers of questions: which processes there are, what is known of each by itself, and then whatever is asked by choices.
pub(super) const PROCESSES: usize = 0;
pub(super) const FIRST_PROCESS: usize = 1;
pub(super) const FIRST_OTHER: usize = FIRST_PROCESS + 256;

/// A state that may be behind a key.
pub(super) struct Glance<'a, 'n> {
    pub(super) network: &'n Network,
    pub(super) flow: &'a Flow,
    pub(super) shape: &'a mut Shape,
    pub(super) engine: &'a mut Engine<'n>,
    pub(super) population: &'a mut Population,
    pub(super) shown: &'a mut dyn Shown<[u8]>,
    /// Whether the engine looks at the state already, because that is at hand.
    pub(super) looks: bool,
}

impl Glance<'_, '_> {
    /// The answer to a question, which has this number.
    #[inline]
    pub(super) fn answer(&mut self, question: Question, number: usize, here: &Here) -> i32 {
        let Self { network, flow, shape, engine, population, .. } = self;
        here.answer(question, population).unwrap_or_else(|| {
            if let Some(state) = self.shown.at_hand() {
                if !self.looks {
                    shape.fit(network, state);
                    engine.look_at(state);
                    self.looks = true;
                }
                return Reader { network, flow, shape, state }.read(question, engine, population);
            }
            self.shown.recall(number, &mut |state, bytes| {
                shape.fit(network, state);
                engine.look_at(state);
                let reader = Reader { network, flow, shape, state };
                match bytes {
                    Some(bytes) => reader.read_noting(question, engine, population, bytes),
                    None => (reader.read(question, engine, population), false),
                }
            })
        })
    }
}
