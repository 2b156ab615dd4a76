//! Sets that were chosen before.
//!
//! **Implements** a memory of choices. What is chosen is a function of the tables, of which nodes are live, and of the answers to the
//! questions that were asked of the state meanwhile ([`look`](super::look)), where its processes are and what they can do among
//! them. Which question comes next depends on the answers before it, so the choices for one beginning
//! are the leaves of a tree of questions. Few of a state's variables, and not all of its processes, are ever asked for.
//!
//! **Preserves** every choice. Where few choices come again the memory is given up.
//! **Checked by** the sets that are held against their definition: each is made anew there and compared; and by searches
//! with and without it on all test models.

use super::glance::{FIRST_OTHER, Glance};
use super::look::{Here, Question};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Memory that it may take, in bytes.
const ROOM: usize = 1 << 24;

/// Choices after which it is judged: more than a search makes that begins again with keys and makes them a second time.
const TRIAL: u64 = 8_192;

/// What was chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// A choice that is remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known(u32);

/// What a choice begins with: the population, and which of its sets of live nodes.
pub(super) type Beginning = (usize, usize);

/// What was chosen before.
#[derive(Debug, Default)]
pub(super) struct Memo {
    roots: FxHashMap<Beginning, u32>,
    trees: Vec<Tree>,
    /// By population: the numbers of questions that only a state can answer.
    numbers: FxHashMap<(usize, Question), usize>,
    /// What the choice at hand begins with.
    pub(super) key: Beginning,
    n_found: u64,
    n_new: u64,
    n_bytes: usize,
    is_off: bool,
}

#[derive(Debug)]
enum Tree {
    /// What comes next, for the answers that were given; and the number of the question.
    Ask(Question, usize, Vec<(i32, u32)>),
    Chosen(Choice),
}

impl Memo {
    /// What was chosen for the key and for the answers that a glance gives.
    pub(super) fn find(&mut self, glance: &mut Glance<'_, '_>, here: &Here) -> Option<Known> {
        if self.is_off {
            return None;
        }
        let mut at = *self.roots.get(&self.key)?;
        while let Tree::Ask(question, number, answers) = &self.trees[at as usize] {
            let answer = glance.answer(*question, *number, here);
            at = answers.iter().find(|&&(known, _)| known == answer)?.1;
        }
        self.n_found += 1;
        Some(Known(at))
    }

    /// Something that was found.
    pub(super) fn choice(&self, known: Known) -> Option<&Choice> {
        match self.trees.get(known.0 as usize) {
            Some(Tree::Chosen(choice)) => Some(choice),
            _ => None,
        }
    }

    /// Remembers what was chosen for the key after these questions.
    pub(super) fn insert(&mut self, asked: &[(Question, i32)], choice: &Choice) {
        self.n_new += 1;
        self.is_off |= self.n_new >= TRIAL && self.n_found < self.n_new || self.n_bytes > ROOM;
        if self.is_off {
            return self.forget();
        }
        let mut at = self.roots.get(&self.key).copied();
        let mut parent = None;
        for &(question, answer) in asked {
            let tree = at.unwrap_or_else(|| {
                let n = self.numbers.len();
                let number = *self.numbers.entry((self.key.0, question)).or_insert(n);
                self.grow(parent, Tree::Ask(question, FIRST_OTHER + number, Vec::new()))
            });
            let Tree::Ask(known, _, answers) = &self.trees[tree as usize] else {
                debug_assert!(false, "after these answers a set was chosen");
                return;
            };
            debug_assert_eq!(*known, question, "the same answers lead to the same question");
            at = answers.iter().find(|&&(known, _)| known == answer).map(|&(_, next)| next);
            parent = Some((tree, answer));
        }
        debug_assert!(at.is_none(), "after these answers more was asked");
        if at.is_none() {
            self.grow(parent, Tree::Chosen(choice.clone()));
        }
    }

    /// Forgets everything for good.
    pub(super) fn forget(&mut self) {
        (self.is_off, self.roots, self.trees) = (true, FxHashMap::default(), Vec::new());
    }

    /// Adds a tree behind an answer, or as a root.
    fn grow(&mut self, parent: Option<(u32, i32)>, tree: Tree) -> u32 {
        let number = self.trees.len() as u32;
        let n_words = match &tree {
            Tree::Ask(..) => 2,
            Tree::Chosen(choice) => choice.set.as_slice().len() * 2,
        };
        self.n_bytes += size_of::<Tree>() + n_words * size_of::<usize>();
        match parent.map(|(parent, answer)| (&mut self.trees[parent as usize], answer)) {
            Some((Tree::Ask(_, _, answers), answer)) => answers.push((answer, number)),
            Some((Tree::Chosen(_), _)) => {}
            None => {
                self.n_bytes += size_of::<(Beginning, u32)>();
                self.roots.insert(self.key, number);
            }
        }
        self.trees.push(tree);
        number
    }
}
