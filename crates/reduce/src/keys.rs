//! A reduction of a system, used where its states are packed keys.
//!
//! **Implements** nothing of its own: successors come from [`Packed`], which remembers them, and the reduction of the
//! original says which of them are explored. What it asks of states is remembered by the parts of the key that the answer depends on,
//! so that the state behind the key need hardly ever be looked at.
//! **Preserves** what the reduction does.
//! **Checked by** `oracle/tests/all/packed.rs`.

use crate::{Answer, Explored, Preserves, Reduction, Root, Shown, Sieve, Trees};
use fixedbitset::FixedBitSet;
use std::convert::Infallible;
use std::ops::Range;
use stubborn_packed::{Packed, Recall, States};
use stubborn_system::{Batch, Fault, System, TransitionId, Vector};

/// Answers that are remembered, at most.
const MOST: usize = 1 << 18;

/// A reduction of the original system, used on keys.
pub struct OnKeys<'r, R: ?Sized, S: Vector + ?Sized, const N: usize> {
    inner: &'r mut R,
    made: Batch<[u64; N]>,
    list: Vec<(TransitionId, u64)>,
    kept: FixedBitSet,
    states: Batch<S>,
    memory: Memory<N>,
    /// Whether everything was kept.
    is_whole: bool,
    could_sift: bool,
}

/// By question: what was answered before.
#[derive(Default)]
struct Memory<const N: usize> {
    questions: Vec<Recall<N, i32>>,
    n_answers: usize,
}

/// A state behind a key.
struct Behind<'s, 'y, Y: System + ?Sized, const N: usize> {
    system: &'s Packed<'y, Y, N>,
    key: &'s [u64; N],
    memory: &'s mut Memory<N>,
}

impl<Y: System + ?Sized, const N: usize> Shown<Y::State> for Behind<'_, '_, Y, N> {
    fn show(&mut self, look: &mut dyn FnMut(&Y::State)) {
        self.system.with_state(self.key, look);
    }

    fn known(&mut self, questions: Range<usize>, out: &mut Vec<i32>) -> bool {
        let Some(recalls) = self.memory.questions.get(questions) else { return false };
        let before = out.len();
        out.extend(recalls.iter().map_while(|recall| recall.known(self.key)));
        out.len() - before == recalls.len()
    }

    fn walk(&self, trees: &Trees, root: Root) -> Option<u32> {
        trees.find(root, |question| self.memory.questions.get(question as usize)?.known(self.key))
    }

    #[inline]
    fn recall(&mut self, question: usize, answer: &mut Answer<'_, Y::State>) -> i32 {
        let Memory { questions, n_answers } = &mut *self.memory;
        if let Some(known) = questions.get(question).and_then(|recall| recall.known(self.key)) {
            return known;
        }
        if questions.len() <= question {
            questions.resize_with(question + 1, Recall::default);
        }
        let recall = &mut questions[question];
        let before = recall.len();
        let answer = |state: &Y::State, bytes: &mut _| Ok::<_, Infallible>(answer(state, Some(bytes)));
        let Ok(answer) = self.system.recall(recall, self.key, answer);
        *n_answers += recall.len();
        *n_answers -= before;
        if recall.len() > before && *n_answers > MOST {
            recall.rest();
        }
        answer
    }
}

impl<'r, R: ?Sized, S: Vector + ?Sized, const N: usize> OnKeys<'r, R, S, N> {
    /// Uses `inner` on keys.
    pub fn new<Y: System<State = S> + ?Sized>(inner: &'r mut R) -> Self
    where
        R: Reduction<Y>,
    {
        let could_sift = inner.can_sift();
        let (made, list, kept) = (Batch::new(), Vec::new(), FixedBitSet::new());
        let (states, memory) = (Batch::new(), Memory::default());
        Self { could_sift, inner, made, list, kept, states, memory, is_whole: false }
    }

    /// Has the original expanded.
    fn refer<Y: System<State = S> + ?Sized>(
        &mut self,
        system: &Packed<'_, Y, N>,
        key: &[u64; N],
        out: &mut Batch<[u64; N]>,
    ) -> Result<(), Fault>
    where
        R: Reduction<Y>,
    {
        let states = &mut self.states;
        states.clear();
        system.with_state(key, |state| self.inner.expand(system.original(), state, states))?;
        self.is_whole = self.inner.is_whole();
        if states.take_flag() {
            out.flag();
        }
        states.take_cut().into_iter().for_each(|too_much| out.cut(too_much));
        system.pack(states, out)
    }
}

impl<Y: System + ?Sized, R: Reduction<Y> + ?Sized, const N: usize> Reduction<Packed<'_, Y, N>>
    for OnKeys<'_, R, Y::State, N>
{
    fn name(&self) -> String {
        self.inner.name()
    }

    fn preserves(&self) -> Preserves {
        self.inner.preserves()
    }

    fn expand(
        &mut self,
        system: &Packed<'_, Y, N>,
        key: &[u64; N],
        out: &mut Batch<[u64; N]>,
    ) -> Result<(), Fault> {
        if !self.inner.preserves().is_reduced() {
            self.is_whole = true;
            return system.successors(key, out);
        }
        self.made.clear();
        if let Err(fault) = system.successors(key, &mut self.made) {
            // What is wrong may be left out.
            return if system.failure().is_some() { Err(fault) } else { self.refer(system, key, out) };
        }
        let made = &mut self.made;
        let (is_flagged, too_much) = (made.take_flag(), made.take_cut());
        self.list.clear();
        self.list.extend((0..made.len()).map(|i| (made.via(i), made.state(i).hash64())));
        self.kept.clear();
        self.kept.grow(made.len());
        self.kept.insert_range(..made.len());
        let mut behind = Behind { system, key, memory: &mut self.memory };
        // Where something is missing the reduction must see for itself what it leaves out.
        let is_whole = !is_flagged && too_much.is_none();
        if !is_whole || self.inner.sift(&self.list, &mut behind, &mut self.kept)?.is_none() {
            if self.could_sift && !self.inner.can_sift() {
                // To look at every state behind its key takes longer than to do without keys.
                return Err(system.give_up());
            }
            return self.refer(system, key, out);
        }
        let before = out.len();
        let mut explore = |i: usize| out.push(self.made.via(i), self.made.state(i));
        match self.inner.order() {
            Some(order) => order.iter().for_each(|&i| explore(i as usize)),
            None => self.kept.ones().for_each(&mut explore),
        }
        self.is_whole = out.len() - before == self.made.len();
        Ok(())
    }

    fn can_sift(&self) -> bool {
        self.inner.can_sift()
    }

    fn begin_again(&mut self) {
        self.memory = Memory::default();
        self.inner.begin_again();
    }

    fn within(&mut self, limit: usize) {
        self.inner.within(limit);
    }

    fn bytes(&self) -> usize {
        self.inner.bytes()
    }

    fn work(&self) -> u64 {
        self.inner.work()
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn is_partial(&self) -> bool {
        self.inner.is_partial()
    }

    fn is_steady(&self) -> bool {
        self.inner.is_steady()
    }

    fn class(&self, t: TransitionId) -> u32 {
        self.inner.class(t)
    }

    fn stubborn_set(
        &mut self,
        system: &Packed<'_, Y, N>,
        key: &[u64; N],
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        system.with_state(key, |state| self.inner.stubborn_set(system.original(), state, out))
    }
}

/// A sieve of the original system, used on keys.
pub struct SieveOnKeys<'r, S: Vector + ?Sized, const N: usize> {
    sieve: &'r mut dyn Sieve<S>,
    vias: Vec<TransitionId>,
    memory: Memory<N>,
}

/// What became of a state that was sifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sifted {
    /// Nothing was left out.
    Whole,
    /// Something was left out.
    Partial,
    /// Something was noted while the successors were made, or some are missing: there are none now.
    Odd,
    /// The choice is not a function of the state: there are no successors now.
    Unsteady,
}

impl<'r, S: Vector + ?Sized, const N: usize> SieveOnKeys<'r, S, N> {
    /// Uses `sieve` on keys.
    pub fn new(sieve: &'r mut dyn Sieve<S>) -> Self {
        Self { sieve, vias: Vec::new(), memory: Memory::default() }
    }

    /// Appends the successors that are explored, with the note.
    pub fn successors<Y: System<State = S> + ?Sized>(
        &mut self,
        system: &Packed<'_, Y, N>,
        key: &[u64; N],
        note: u32,
        out: &mut States<N>,
    ) -> Result<Sifted, Fault> {
        let first = out.len();
        self.vias.clear();
        if system.fan_out(key, note, out, &mut self.vias)?.is_some() {
            out.truncate(first);
            return Ok(Sifted::Odd);
        }
        if self.vias.len() <= 1 {
            return Ok(Sifted::Whole);
        }
        let mut behind = Behind { system, key, memory: &mut self.memory };
        match self.sieve.sift(&self.vias, &mut behind)? {
            None => {
                out.truncate(first);
                Ok(Sifted::Unsteady)
            }
            Some(Explored::Everything) => Ok(Sifted::Whole),
            Some(explored) => {
                out.keep(first, |i| explored.contains(i));
                let is_whole = out.len() - first == self.vias.len();
                Ok(if is_whole { Sifted::Whole } else { Sifted::Partial })
            }
        }
    }

    /// Memory in use for what is remembered of choices, in bytes.
    pub fn bytes(&self) -> usize {
        self.sieve.bytes()
    }

    /// What choosing has taken.
    pub fn work(&self) -> u64 {
        self.sieve.work()
    }
}
