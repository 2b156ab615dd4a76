//! The reduction: what to fire in a state, and which questions the choice preserves.
//!
//! Each algorithm over the rules is one file: [`Full`], [`Closure`], [`StrongComponents`], [`Deletion`],
//! and [`Smaller`] of two. [`Quotient`] is symmetry, a wrapper from a system to a system that combines with
//! all of them through [`OnRepresentatives`]. [`Checked`] tests the definition of stubborn sets at the states where it is used.

#![forbid(unsafe_code)]

mod check;
mod closure;
mod components;
mod deletion;
mod full;
mod goal;
mod keys;
mod kind;
mod network;
mod observing;
mod on_rules;
mod recalled;
mod smaller;
mod symmetry;
mod towards;
mod tree;

pub use check::{CheckDepth, Checked};
pub use closure::Closure;
pub use components::StrongComponents;
pub use deletion::Deletion;
pub use full::Full;
pub use goal::GoalOriented;
pub use keys::{OnKeys, SieveOnKeys, Sifted};
pub use kind::ReductionKind;
pub use network::NetworkReduction;
pub use observing::{Observing, Semantics};
pub use on_rules::OnRules;
pub use smaller::Smaller;
pub use symmetry::{OnRepresentatives, Quotient};
pub use towards::Towards;
pub use tree::{Root, Trees};

use fixedbitset::FixedBitSet;
use std::ops::Range;
use stubborn_system::{Batch, Fault, System, TransitionId};

/// Says something about a state. If anybody wants to know, appends the places of it that the answer depends on, as the system counts them, besides which parts there are; whether
/// it has done so.
pub type Answer<'a, S> = dyn FnMut(&S, Option<&mut Vec<Range<usize>>>) -> (i32, bool) + 'a;

/// A state that a reduction may look at: as it is, or behind a key.
pub trait Shown<S: ?Sized> {
    /// Lets `look` see it.
    fn show(&mut self, look: &mut dyn FnMut(&S));

    /// The state, if it need not be made from a key.
    fn at_hand(&self) -> Option<&S> {
        None
    }

    /// Appends what is remembered of some questions with numbers in a row; whether there was something of each.
    fn known(&mut self, questions: Range<usize>, out: &mut Vec<i32>) -> bool {
        let _ = (questions, out);
        false
    }

    /// What was found for the answers to the questions of a tree, by their numbers; `None` if not all of the answers are remembered, or nothing was found for them.
    fn walk(&self, trees: &Trees, root: Root) -> Option<u32> {
        let _ = (trees, root);
        None
    }

    /// What `answer` says about it. Who has keys remembers that by the number of the question, which is always about the same.
    fn recall(&mut self, question: usize, answer: &mut Answer<'_, S>) -> i32;
}

/// A state as it is.
pub(crate) struct AsItIs<'s, S: ?Sized>(pub(crate) &'s S);

impl<S: ?Sized> Shown<S> for AsItIs<'_, S> {
    fn show(&mut self, look: &mut dyn FnMut(&S)) {
        look(self.0);
    }

    fn at_hand(&self) -> Option<&S> {
        Some(self.0)
    }

    fn recall(&mut self, _: usize, answer: &mut Answer<'_, S>) -> i32 {
        answer(self.0, None).0
    }
}

/// Chooses what to fire.
///
/// The choice must be a function of the state, because searches expand a state again to find the way to it; but a
/// reduction that does not pay may leave it out for some states, by counts and not by a clock.
pub trait Reduction<Y: System + ?Sized> {
    /// The word for it on the command line, in JSON and in the guide.
    fn name(&self) -> String;

    /// What the choice preserves.
    fn preserves(&self) -> Preserves;

    /// Appends the successors to explore. Appends none only if the state is terminal, or if what is preserved says that
    /// nothing that matters can follow.
    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault>;

    /// Whether [`Reduction::sift`] ever answers: if not, there is nothing to be gained from keys.
    fn can_sift(&self) -> bool {
        false
    }

    /// Another search begins: counts of what was chosen before mean nothing for it.
    fn begin_again(&mut self) {}

    /// Remembers no more than is right where a search has so many bytes for everything.
    fn within(&mut self, limit: usize) {
        let _ = limit;
    }

    /// Memory in use for what is remembered, in bytes.
    fn bytes(&self) -> usize {
        0
    }

    /// What choosing has taken since it began, in steps of processes that were compared; what is remembered takes nothing.
    fn work(&self) -> u64 {
        0
    }

    /// Says which of all the successors of a state are explored, if that is all that it does to them: `made` are their
    /// transitions, in order, with a hash of each; those that are left out are taken out of `kept`. Searches whose
    /// states are keys make successors in their own way. `None` if it must be asked by [`Reduction::expand`].
    fn sift(
        &mut self,
        made: &[(TransitionId, u64)],
        state: &mut dyn Shown<Y::State>,
        kept: &mut FixedBitSet,
    ) -> Result<Option<()>, Fault> {
        let _ = (made, state, kept);
        Ok(None)
    }

    /// Where the successors that [`Reduction::sift`] kept at last are among all, in the order in which they are explored; `None` if they stay in the order of all.
    fn order(&self) -> Option<&[u32]> {
        None
    }

    /// Whether the last expansion is known to have left out nothing at all.
    fn is_whole(&self) -> bool {
        false
    }

    /// Whether the last expansion may have left out something that can be seen: a transition that may change
    /// the truth of a proposition and was not in the set.
    fn is_partial(&self) -> bool {
        true
    }

    /// Whether the choice is a function of the state during all of a search, and every cycle of explored states has one in which nothing
    /// that can be seen was left out (L), so that a search need not look for such cycles.
    fn is_steady(&self) -> bool {
        false
    }

    /// The choice as a function of the state, until another search begins; `None` if it cannot be had so. What is preserved is the same, if nothing is ignored.
    fn sieve(&mut self) -> Option<&mut dyn Sieve<Y::State>> {
        None
    }

    /// The same choice for threads, as if [`Reduction::sieve`] were asked now.
    fn sieves(&self) -> Option<Box<dyn Sieves<Y::State> + '_>> {
        None
    }

    /// Transitions of one class are chosen together, in every state.
    fn class(&self, t: TransitionId) -> u32 {
        t.0
    }

    /// The whole set behind [`Reduction::expand`], with its disabled members and imaginary nodes.
    fn stubborn_set(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault>;
}

impl<Y: System + ?Sized> Reduction<Y> for Box<dyn Reduction<Y> + '_> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn preserves(&self) -> Preserves {
        (**self).preserves()
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        (**self).expand(system, state, out)
    }

    fn can_sift(&self) -> bool {
        (**self).can_sift()
    }

    fn begin_again(&mut self) {
        (**self).begin_again();
    }

    fn within(&mut self, limit: usize) {
        (**self).within(limit);
    }

    fn bytes(&self) -> usize {
        (**self).bytes()
    }

    fn work(&self) -> u64 {
        (**self).work()
    }

    fn sift(
        &mut self,
        made: &[(TransitionId, u64)],
        state: &mut dyn Shown<Y::State>,
        kept: &mut FixedBitSet,
    ) -> Result<Option<()>, Fault> {
        (**self).sift(made, state, kept)
    }

    fn order(&self) -> Option<&[u32]> {
        (**self).order()
    }

    fn is_whole(&self) -> bool {
        (**self).is_whole()
    }

    fn is_partial(&self) -> bool {
        (**self).is_partial()
    }

    fn is_steady(&self) -> bool {
        (**self).is_steady()
    }

    fn sieve(&mut self) -> Option<&mut dyn Sieve<Y::State>> {
        (**self).sieve()
    }

    fn sieves(&self) -> Option<Box<dyn Sieves<Y::State> + '_>> {
        (**self).sieves()
    }

    fn class(&self, t: TransitionId) -> u32 {
        (**self).class(t)
    }

    fn stubborn_set(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        (**self).stubborn_set(system, state, out)
    }
}

/// Chooses like a [`Reduction`], and the choice is a function of the state: whoever makes it, whenever, and whatever was chosen before.
/// So searches that keep nothing but the states can use it, and threads.
pub trait Sieve<S: ?Sized> {
    /// Which of the successors of a state are explored: `made` are their transitions, in order, at least two. `None` if the choice
    /// would not be a function of the state, or will not be from now on.
    fn sift(
        &mut self,
        made: &[TransitionId],
        state: &mut dyn Shown<S>,
    ) -> Result<Option<Explored<'_>>, Fault>;

    /// Whether states may be expanded in full where something would be ignored for ever. If not, a search with edges must look after that.
    fn may_repair(&self) -> bool {
        true
    }

    /// Memory in use for what is remembered, in bytes.
    fn bytes(&self) -> usize;

    /// What choosing has taken since it began, in steps of processes that were compared.
    fn work(&self) -> u64;
}

/// Successors that are explored, by their places in a list.
#[derive(Clone, Copy, Debug)]
pub enum Explored<'s> {
    /// All of them.
    Everything,
    /// Those of at most 64 whose bits are set.
    Bits(u64),
    /// Those in a set.
    Set(&'s FixedBitSet),
}

impl Explored<'_> {
    /// Whether a successor is explored.
    #[inline]
    pub fn contains(&self, i: usize) -> bool {
        match self {
            Self::Everything => true,
            Self::Bits(bits) => bits >> i & 1 != 0,
            Self::Set(set) => set.contains(i),
        }
    }
}

/// Sieves for threads: all of them choose the same.
pub trait Sieves<S: ?Sized>: Sync {
    /// Calls `work` in the thread that asks, with a sieve.
    fn lend(&self, work: &mut dyn FnMut(&mut dyn Sieve<S>));
}

/// What the explored part of the state space tells about all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preserves {
    /// Everything: all enabled transitions are fired.
    Everything,
    /// What D0, D1 and D2 preserve: the terminal states, whether there is an infinite run, whether
    /// termination always remains possible; and if it does, reachability of the check's failure
    /// (V15 Theorems 1 and 3 to 6).
    Basic,
    /// The same, and reachability of failures in any case: no sequence of transitions outside the set leads to
    /// one.
    Failures,
    /// Reachability of failures, and nothing else: where nothing can fail any more, nothing is fired.
    OnlyFailures,
    /// What [`Preserves::Basic`] says; and what is rejected for one guard is found, or else a livelock of that
    /// guard is (V93 Theorem 4.1).
    Rejections,
    /// What [`Preserves::Basic`] says; and the sets satisfy V and I for certain propositions, so that runs look
    /// the same up to stuttering, if the search sees to it that no cycle puts anything off for ever.
    Stuttering,
    /// Whether there is a run that an automaton accepts: the sets depend on where it is, and have what leads it on.
    Acceptance,
}

impl Preserves {
    /// Whether something may have been left out.
    pub fn is_reduced(self) -> bool {
        self != Self::Everything
    }
}
