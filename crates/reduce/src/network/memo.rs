//! Sets that were chosen before.
//!
//! **Implements** a memory of choices. What is chosen is a function of the tables, of which nodes are live, and of the answers to the
//! questions that were asked of the state meanwhile ([`look`](super::look)), where its processes are and what they can do among
//! them: a tree of questions for each beginning ([`tree`](super::tree)). Few of a state's variables, and not all of its processes, are ever asked for.
//!
//! **Preserves** every choice: beginnings are compared as they are. Where few choices come again the memory is given up.
//! **Checked by** the sets that are held against their definition: each is made anew there and compared; and by searches
//! with and without it on all test models.

use super::census::Census;
use super::glance::{FIRST_OTHER, Glance};
use super::look::{Here, Question};
use super::shortcuts::{Shortcut, Shortcuts};
use crate::{Root, Shown, Trees};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use stubborn_network::Micro;
use stubborn_system::TransitionId;

/// Memory that it may take, in bytes, and as much again for shortcuts; and the part of all memory that each may take. Then nothing more is
/// remembered.
const ROOM: usize = 1 << 26;
const PART: usize = 16;

/// Choices after which it is judged: more than a search makes that begins again with keys and makes them a second time.
const TRIAL: u64 = 8_192;

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

/// For each question of a population: one more than its number, or nothing yet.
#[derive(Debug, Default)]
struct Numbers {
    /// Those that are asked most are found by what they are about.
    processes: Vec<u32>,
    facts: Vec<u32>,
    others: FxHashMap<Question, u32>,
}

impl Numbers {
    #[inline]
    fn of(&mut self, question: Question) -> &mut u32 {
        let (list, at) = match question {
            Question::Process(pid) => (&mut self.processes, pid),
            Question::Fact(fact) => (&mut self.facts, fact),
            _ => return self.others.entry(question).or_default(),
        };
        if list.len() <= at {
            list.resize(at + 1, 0);
        }
        &mut list[at]
    }
}

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
    numbers: Vec<Numbers>,
    /// What the choice at hand begins with.
    pub(super) key: Beginning,
    n_found: u64,
    n_new: u64,
    /// What choices take in memory, in bytes.
    n_bytes: usize,
    is_off: bool,
    /// What is known without a look at where processes are.
    shortcuts: Shortcuts,
    /// What it may be, and what shortcuts may be.
    room: Option<usize>,
}

impl Memo {
    /// What was chosen for states that look the same from outside, if there is a shortcut to it.
    #[inline]
    pub(super) fn find_short(
        &mut self,
        may_delete: bool,
        made: &[TransitionId],
        state: &dyn Shown<[u8]>,
    ) -> Option<Shortcut> {
        let shortcut = self.shortcuts.find(may_delete, made, state);
        self.n_found += u64::from(shortcut.is_some());
        shortcut
    }

    /// Whether a shortcut is wanted to what is found for the state at hand.
    pub(super) fn wants_short(&self) -> bool {
        self.shortcuts.is_wanted()
    }

    /// Remembers a shortcut to what was found for the state at hand.
    pub(super) fn insert_short(&mut self, shortcut: Shortcut) {
        let room = self.room();
        self.shortcuts.insert(shortcut, room);
    }

    /// What was chosen for the key and for the answers that a glance gives. The census is that of the state, `groups` what is enabled.
    pub(super) fn find(
        &mut self,
        glance: &mut Glance<'_, '_>,
        here: &Here,
        census: &Census,
        groups: &[Micro],
    ) -> Option<Known> {
        let Self { roots, trees, questions, shortcuts, .. } = self;
        let mut reasons = shortcuts.reasons(census, groups, &glance.population.kinds);
        let known = trees.find(*roots.get(&self.key)?, |number| {
            let question = questions[number as usize];
            let answer = glance.answer(question, FIRST_OTHER + number as usize, here);
            reasons.add(question, number, answer);
            Some(answer)
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
        if self.numbers.len() <= population {
            self.numbers.resize_with(population + 1, Numbers::default);
        }
        let (numbers, questions) = (&mut self.numbers[population], &mut self.questions);
        let asked = asked.iter().map(|&(question, answer)| {
            let number = numbers.of(question);
            if *number == 0 {
                questions.push(question);
                *number = questions.len() as u32;
            }
            (*number - 1, answer)
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

    /// Remembers no more than is right where there are so many bytes for everything.
    pub(super) fn within(&mut self, limit: usize) {
        self.confine(limit / PART);
    }

    /// Remembers no more than so many bytes, and as much again for shortcuts.
    pub(super) fn confine(&mut self, room: usize) {
        self.room = Some(room);
    }

    /// What it may be, in bytes, without shortcuts.
    pub(super) fn room(&self) -> usize {
        self.room.map_or(ROOM, |room| room.min(ROOM))
    }

    /// Memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.n_bytes + self.trees.bytes() + self.shortcuts.bytes()
    }
}
