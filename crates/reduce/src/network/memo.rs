//! Sets that were chosen before.
//!
//! **Implements** a memory of choices. What is chosen is a function of the tables, of which nodes are live, and of the answers to the
//! questions that were asked of the state meanwhile ([`look`](super::look)), where its processes are and what they can do among
//! them: a tree of questions for each beginning ([`tree`](super::tree)). Few of a state's variables, and not all of its processes, are ever asked for.
//!
//! Most of the questions are about where processes are and what they can do. So where all processes are in the same places and the same transitions
//! are enabled, there is a shorter way: only the other questions are asked, and it is known which of the successors are kept.
//!
//! **Preserves** every choice: beginnings and places are compared as they are. Where few choices come again the memory is given up.
//! **Checked by** the sets that are held against their definition: each is made anew there and compared; and by searches
//! with and without it on all test models.

use super::glance::{FIRST_OTHER, Glance};
use super::look::{Here, Question};
use super::tree::{Root, Trees};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use stubborn_network::LocationId;
use stubborn_system::TransitionId;

/// Memory that it may take, in bytes, and as much again for shorter ways; and the part of all memory that each may take. Then nothing more is
/// remembered.
const ROOM: usize = 1 << 26;
const PART: usize = 16;

/// Choices after which it is judged: more than a search makes that begins again with keys and makes them a second time. The same for
/// shorter ways.
const TRIAL: u64 = 8_192;

/// Choices before shorter ways are worth it.
const SOON: u64 = 2_048;

/// What was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Choice {
    /// Whether everything is to be fired; then there is no set.
    pub(super) is_everything: bool,
    pub(super) set: FixedBitSet,
    /// What would have been chosen without deletion, if that differs.
    pub(super) closed: Option<FixedBitSet>,
    /// Whether deletion was worth considering, and whether it brought nothing.
    pub(super) minds_deletion: bool,
    pub(super) is_vain: bool,
    /// Whether something visible was left out.
    pub(super) is_partial: bool,
}

impl Choice {
    /// A set; `None` means everything.
    pub(super) fn of(set: Option<FixedBitSet>) -> Self {
        Self { is_everything: set.is_none(), set: set.unwrap_or_default(), ..Self::default() }
    }
}

/// The number of a choice that is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Known(u32);

/// What a choice begins with: the population, and which of its sets of live nodes.
pub(super) type Beginning = (usize, usize);

/// What was chosen before.
#[derive(Debug, Default)]
pub(super) struct Memo {
    roots: FxHashMap<Beginning, Root>,
    trees: Trees,
    /// Choices, each once.
    choices: Vec<Choice>,
    choice_numbers: FxHashMap<Choice, u32>,
    /// The questions of each population, which have numbers.
    questions: Vec<Question>,
    question_numbers: FxHashMap<(usize, Question), u32>,
    /// What the choice at hand begins with.
    pub(super) key: Beginning,
    n_found: u64,
    n_new: u64,
    /// What choices take in memory, in bytes.
    n_bytes: usize,
    is_off: bool,
    shortcuts: Shortcuts,
    /// Whether there are shorter ways from the beginning.
    is_eager: bool,
    /// What it may be, and what shorter ways may be.
    room: Option<usize>,
}

impl Memo {
    /// What was chosen for the key and for the answers that a glance gives.
    pub(super) fn find(&mut self, glance: &mut Glance<'_, '_>, here: &Here) -> Option<Known> {
        let (asked, questions) = (&mut self.shortcuts.asked, &self.questions);
        asked.clear();
        let known = self.trees.find(*self.roots.get(&self.key)?, |number| {
            let question = questions[number as usize];
            let answer = glance.answer(question, FIRST_OTHER + number as usize, here);
            if !question.is_about_places() {
                asked.push((number, answer));
            }
            answer
        })?;
        self.n_found += 1;
        Some(Known(known))
    }

    /// Something that was found.
    #[inline]
    pub(super) fn choice(&self, known: Known) -> Option<&Choice> {
        self.choices.get(known.0 as usize)
    }

    /// Remembers what was chosen for the key after these questions.
    pub(super) fn insert(&mut self, asked: &[(Question, i32)], choice: &Choice) {
        if self.is_off {
            return;
        }
        self.n_new += 1;
        if self.n_new >= TRIAL && self.n_found < self.n_new {
            return self.forget();
        }
        if self.n_bytes + self.trees.bytes() > self.room() {
            return;
        }
        let known = self.number(choice);
        let population = self.key.0;
        let asked = asked.iter().map(|&(question, answer)| {
            let number = *self.question_numbers.entry((population, question)).or_insert_with(|| {
                self.questions.push(question);
                self.questions.len() as u32 - 1
            });
            (number, answer)
        });
        let root = self.roots.get(&self.key).copied();
        let new = self.trees.insert(root, asked, known.0);
        if let (None, Some(new)) = (root, new) {
            self.n_bytes += size_of::<(Beginning, Root)>();
            self.roots.insert(self.key, new);
        }
    }

    /// The number of a choice.
    fn number(&mut self, choice: &Choice) -> Known {
        if let Some(&known) = self.choice_numbers.get(choice) {
            return Known(known);
        }
        let number = self.choices.len() as u32;
        let n_words =
            choice.set.as_slice().len() + choice.closed.as_ref().map_or(0, |set| set.as_slice().len());
        self.n_bytes += 2 * (size_of::<Choice>() + n_words * size_of::<usize>());
        self.choices.push(choice.clone());
        self.choice_numbers.insert(choice.clone(), number);
        Known(number)
    }

    /// Forgets everything for good.
    pub(super) fn forget(&mut self) {
        *self = Self { is_off: true, ..Self::default() };
    }

    /// Uses shorter ways from the beginning, for whoever holds them against something.
    pub(super) fn hasten(&mut self) {
        self.is_eager = true;
    }

    /// Remembers no more than is right where there are so many bytes for everything.
    pub(super) fn within(&mut self, limit: usize) {
        self.confine(limit / PART);
    }

    /// Remembers no more than so many bytes, and as much again for shorter ways.
    pub(super) fn confine(&mut self, room: usize) {
        self.room = Some(room);
    }

    /// What it may be, in bytes, without shorter ways.
    pub(super) fn room(&self) -> usize {
        self.room.map_or(ROOM, |room| room.min(ROOM))
    }

    /// Memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.n_bytes + self.trees.bytes() + self.shortcuts.bytes()
    }

    /// What was chosen for states whose processes are in these places and can do this, if it is known.
    #[inline]
    pub(super) fn find_short(
        &mut self,
        population: usize,
        locations: &[LocationId],
        made: &[TransitionId],
        glance: &mut Glance<'_, '_>,
        here: &Here,
    ) -> Option<Shortcut> {
        let is_soon = !self.is_eager && self.n_found + self.n_new < SOON;
        let Shortcuts { roots, trees, found, place, n_found, is_off, .. } = &mut self.shortcuts;
        place.clear();
        if *is_off || is_soon || made.len() > MOST_MADE {
            return None;
        }
        place.push(population as u32);
        place.extend(locations.iter().map(|location| u32::from(location.0)));
        place.extend(made.iter().map(|via| via.0));
        let number = trees.find(*roots.get(&place[..])?, |number| {
            glance.answer(self.questions[number as usize], FIRST_OTHER + number as usize, here)
        })?;
        *n_found += 1;
        self.n_found += 1;
        found.get(number as usize).copied()
    }

    /// Whether a shorter way to what is found next is wanted: it was looked for last.
    pub(super) fn wants_short(&self) -> bool {
        !self.shortcuts.place.is_empty()
    }

    /// Remembers a shorter way to what was found last, for the places that were asked for last.
    pub(super) fn insert_short(&mut self, shortcut: Shortcut) {
        let room = self.room();
        self.shortcuts.insert(shortcut, room);
    }
}

/// Successors of a state that has a shorter way, at most.
const MOST_MADE: usize = 64;

/// What is chosen for a state, and bit by bit which of its successors are kept, and would have been kept without deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shortcut {
    pub(super) known: Known,
    pub(super) kept: u64,
    pub(super) closed: u64,
}

/// Shorter ways.
#[derive(Debug, Default)]
struct Shortcuts {
    /// By population, where processes are, and the transitions that are enabled, in order.
    roots: FxHashMap<Box<[u32]>, Root>,
    trees: Trees,
    /// What was found there, each once.
    found: Vec<Shortcut>,
    numbers: FxHashMap<Shortcut, u32>,
    /// Those of the state at hand, and what was asked beyond them.
    place: Vec<u32>,
    asked: Vec<(u32, i32)>,
    n_found: u64,
    n_new: u64,
    /// What places take in memory, in bytes.
    n_bytes: usize,
    is_off: bool,
}

impl Shortcuts {
    fn bytes(&self) -> usize {
        self.n_bytes + self.trees.bytes()
    }

    fn insert(&mut self, shortcut: Shortcut, room: usize) {
        self.n_new += 1;
        if self.n_new >= TRIAL && self.n_found < self.n_new {
            *self = Self { is_off: true, ..Self::default() };
        }
        if self.is_off || self.bytes() > room {
            return;
        }
        let root = self.roots.get(&self.place[..]).copied();
        let found = *self.numbers.entry(shortcut).or_insert_with(|| {
            self.n_bytes += 3 * size_of::<Shortcut>();
            self.found.push(shortcut);
            self.found.len() as u32 - 1
        });
        let new = self.trees.insert(root, self.asked.iter().copied(), found);
        if let (None, Some(new)) = (root, new) {
            self.n_bytes += size_of_val(&self.place[..]) + 2 * size_of::<(Box<[u32]>, Root)>();
            self.roots.insert(self.place.clone().into_boxed_slice(), new);
        }
    }
}
