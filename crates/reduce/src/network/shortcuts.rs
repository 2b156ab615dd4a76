//! Shortcuts to choices, for states behind keys.
//!
//! **Implements** a memory in front of the one of choices ([`memo`](super::memo)). Which transitions are enabled is known before anything is chosen, and tells most of
//! what a choice asks: what processes can do, and where they are, for a step belongs to one location. So where the same ones are enabled as before only the rest is asked: which processes there are, where those are that
//! can do nothing, what processes were given when they were started, facts. These answers the key gives itself ([`Shown::walk`]), without a census and without a look at the state; and it is known which of the successors are kept.
//! In a long search nearly all choices are found this way.
//! **Preserves** every choice: what is asked here says at least as much of a state as what the choice asked of it.
//! **Checked by** the sets that are held against their definition, where the choice is made anew and compared; and by `oracle/tests/all/choices.rs`, step by step of searches.

use super::census::Census;
use super::glance::{FIRST_OTHER, FIRST_PROCESS, PROCESSES};
use super::look::Question;
use super::memo::Known;
use crate::{Root, Shown, Trees};
use rustc_hash::FxHashMap;
use stubborn_network::Micro;
use stubborn_system::TransitionId;

/// Successors of a state that has a shortcut, at most.
const MOST_MADE: usize = 64;

/// Shortcuts after which it is judged whether they are taken: early in a search nearly all are new.
const TRIAL: u64 = 1 << 15;

/// What is chosen for a state, and bit by bit which of its successors are kept, and would have been kept without deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shortcut {
    pub(super) known: Known,
    pub(super) kept: u64,
    pub(super) closed: u64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Shortcuts {
    /// By whether deletion may be tried, and the transitions that are enabled, in order.
    roots: FxHashMap<Box<[u32]>, Root>,
    trees: Trees,
    /// What was found there, each once.
    found: Vec<Shortcut>,
    numbers: FxHashMap<Shortcut, u32>,
    /// The beginning of the state at hand, empty if it cannot have a shortcut; and what was asked besides.
    beginning: Vec<u32>,
    asked: Vec<(u32, i32)>,
    n_found: u64,
    n_new: u64,
    /// What beginnings and shortcuts take in memory, in bytes.
    n_bytes: usize,
    is_off: bool,
}

impl Shortcuts {
    /// What was chosen for states that look the same to the choice.
    #[inline]
    pub(super) fn find(
        &mut self,
        may_delete: bool,
        made: &[TransitionId],
        state: &dyn Shown<[u8]>,
    ) -> Option<Shortcut> {
        self.beginning.clear();
        if self.is_off || made.len() > MOST_MADE || state.at_hand().is_some() {
            return None;
        }
        self.beginning.push(may_delete.into());
        self.beginning.extend(made.iter().map(|via| via.0));
        let number = state.walk(&self.trees, *self.roots.get(&self.beginning[..])?)?;
        self.n_found += 1;
        self.found.get(number as usize).copied()
    }

    /// Whether one is wanted to what is found for the state at hand.
    pub(super) fn is_wanted(&self) -> bool {
        !self.beginning.is_empty()
    }

    /// Begins to note what a choice for the state at hand depends on besides what is enabled, which `groups` tell.
    pub(super) fn reasons<'s>(
        &'s mut self,
        census: &Census,
        groups: &[Micro],
        kinds: &[usize],
    ) -> Reasons<'s> {
        self.asked.clear();
        if !self.is_wanted() {
            return Reasons(None);
        }
        self.asked.push((PROCESSES as u32, census.key[0]));
        for (pid, &kind) in kinds.iter().enumerate() {
            if census.has_constants(kind) || groups.iter().all(|micro| micro.pid != pid) {
                self.asked.push(((FIRST_PROCESS + pid) as u32, census.answer(pid)));
            }
        }
        Reasons(Some(&mut self.asked))
    }

    /// Remembers what is chosen for the state at hand, for what was noted. It takes no more than so many bytes.
    pub(super) fn insert(&mut self, shortcut: Shortcut, room: usize) {
        self.n_new += 1;
        if self.n_new >= TRIAL && self.n_found < self.n_new {
            *self = Self { is_off: true, ..Self::default() };
        }
        if self.is_off || self.bytes() > room {
            return;
        }
        let root = self.roots.get(&self.beginning[..]).copied();
        let found = *self.numbers.entry(shortcut).or_insert_with(|| {
            self.n_bytes += 3 * size_of::<Shortcut>();
            self.found.push(shortcut);
            self.found.len() as u32 - 1
        });
        let new = self.trees.insert(root, self.asked.iter().copied(), found);
        if let (None, Some(new)) = (root, new) {
            self.n_bytes += size_of_val(&self.beginning[..]) + 2 * size_of::<(Box<[u32]>, Root)>();
            self.roots.insert(self.beginning.clone().into_boxed_slice(), new);
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.n_bytes + self.trees.bytes()
    }
}

/// What a choice depends on besides what is enabled: questions that a key can answer, in the order in which they are asked, if anybody wants to know.
pub(super) struct Reasons<'s>(Option<&'s mut Vec<(u32, i32)>>);

impl Reasons<'_> {
    /// Notes the answer to a question with a number of its own.
    pub(super) fn add(&mut self, question: Question, number: u32, answer: i32) {
        let Some(asked) = &mut self.0 else { return };
        match question {
            Question::Fact(_) | Question::Met(_) | Question::Row(_) => {
                asked.push((FIRST_OTHER as u32 + number, answer));
            }
            // What is noted already says so, with where processes are.
            Question::Process(_) | Question::Apart(_) | Question::Steps(_) => {}
            Question::MoreThan(_) | Question::MayDelete => {}
        }
    }
}
