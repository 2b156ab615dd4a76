//! What an exploration has learned about the program, and the next knows from its beginning.

use super::Key;
use crate::objects;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use stubborn_schedule::ProcessId;

/// What is known from one exploration to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learned {
    /// Semaphores (set, number) that are more than counters of ones.
    pub(super) wide: FxHashSet<(u64, u64)>,
    /// Which child is waited for matters to somebody.
    pub(super) asks_which_child: bool,
    /// Processes send signals to each other, or care for the ends of their children.
    pub(super) has_signals: bool,
    /// Who has waited on a condition variable.
    pub(crate) waiters: BTreeSet<ProcessId>,
    /// A process ends while threads of it are left, and there are other processes, which can tell when; or it is copied.
    pub(super) lives: bool,
    /// Memory on a stack to which a loop writes that seems to wait, and which somebody else looks at.
    pub(super) public: FxHashSet<Key>,
    /// Names of objects, by number.
    names: FxHashMap<Vec<u8>, u64>,
    /// Texts of messages, by number and by text.
    pub(super) texts: Vec<Vec<u8>>,
    numbers: FxHashMap<Vec<u8>, u32>,
}

impl Learned {
    /// The number of a name, the same in all runs.
    pub(super) fn name(&mut self, text: Vec<u8>) -> u64 {
        let next = self.names.len() as u64;
        *self.names.entry(text).or_insert(next)
    }

    /// What the object with a number is called, or the number.
    pub(crate) fn name_of(&self, id: u64) -> String {
        let number = objects::Names::of_object(id);
        let name = self.names.iter().find(|name| Some(*name.1) == number).map(|name| name.0);
        let text = name.map(|name| String::from_utf8_lossy(name).into_owned());
        text.map_or(id.to_string(), |text| {
            text.split_once(':').map_or(text.clone(), |halves| halves.1.to_owned())
        })
    }

    /// The number of a text, the same in all runs.
    pub(super) fn number(&mut self, text: Vec<u8>) -> u32 {
        let next = self.texts.len() as u32;
        let number = *self.numbers.entry(text.clone()).or_insert(next);
        if number == next {
            self.texts.push(text);
        }
        number
    }
}
