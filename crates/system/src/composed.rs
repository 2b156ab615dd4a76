//! Systems whose states are made of parts, and whose transitions are those of agents that look at few of them.
//!
//! A [`Tracer`] takes states apart, makes successors agent by agent, and says which parts they depended on. That is
//! all that crate `packed` needs to remember what agents can do.

use crate::{Batch, Fault, Observed, Rules, Symmetric, System, Vector};
use std::ops::Range;

/// A system that may be able to tell its parts and agents.
pub trait Composed: System {
    /// Looks at states part by part; `None` if the system cannot.
    fn tracer(&self) -> Option<Box<dyn Tracer<Self::State> + '_>> {
        None
    }

    /// Lends the system to other threads; `None` if it cannot be had there.
    fn shared(&self) -> Option<Box<dyn Shared<Self::State> + '_>> {
        None
    }
}

/// A system of which verdicts can be had, whatever it is.
pub trait Whole: Rules + Observed + Symmetric + Composed {}

impl<Y: Rules + Observed + Symmetric + Composed + ?Sized> Whole for Y {}

/// Lends a system to threads.
pub trait Shared<S: Vector + ?Sized>: Sync {
    /// Calls `work` in the thread that asks, with a system that does the same in every one: firing, checks, rules, and tracers
    /// that take states apart in the same way.
    fn lend(&self, work: &mut dyn FnMut(&dyn Whole<State = S>));
}

/// Lends one system to all threads.
pub struct Lent<'y, Y: ?Sized>(pub &'y Y);

impl<Y: Whole + Sync> Shared<Y::State> for Lent<'_, Y> {
    fn lend(&self, work: &mut dyn FnMut(&dyn Whole<State = Y::State>)) {
        work(self.0);
    }
}

/// Takes states apart, and makes successors agent by agent.
///
/// Invariant: what a unit makes of a state is a function of the state's shape and of the parts that were touched. In
/// a state of the same shape with the same values in these parts it touches the same parts, changes them in the same
/// way, and leaves all others as they are.
pub trait Tracer<S: Vector + ?Sized> {
    /// Takes a state apart.
    fn take_apart(&mut self, state: &S, parts: &mut Parts);

    /// Appends the state that has these parts.
    fn put_together(&mut self, parts: &Parts, out: &mut S::Rows);

    /// Appends the parts of a state that have some of these places of it: bytes, or whatever a system counts that says what it looked at ([`Rules::tell`]). `false` if it does not.
    fn parts_at(&mut self, state: &S, places: &[Range<usize>], touched: &mut Vec<u16>) -> bool {
        let _ = (state, places, touched);
        false
    }

    /// If states are keys already: where each part lies in their words. Its value is then the number that it is there, in
    /// four bytes, lowest first; and there is one shape.
    fn places(&self) -> Option<Vec<Bits>> {
        None
    }

    /// Appends the state with these words, of which the first are its own: for who has [`Tracer::places`].
    fn put_words(&mut self, words: &[u64], out: &mut S::Rows) {
        let _ = (words, out);
    }

    /// The agents of the state that was taken apart last, in the order of their successors: for each the number of the
    /// part that tells best what it can do.
    fn agents(&mut self, roots: &mut Vec<u16>);

    /// What an agent does in a state, cut into units: each is a part of its successors, in order. Which there are
    /// depends on the shape and on the agent's root alone.
    fn units(&mut self, state: &S, agent: usize, units: &mut Vec<Unit>);

    /// Appends the successors that a unit of an agent makes and notes which parts they depend on. `None` if only
    /// [`System::successors`] can say what happens; that, too, depends on what was touched.
    fn expand(
        &mut self,
        state: &S,
        agent: usize,
        unit: Unit,
        touched: &mut Vec<u16>,
        out: &mut Batch<S>,
    ) -> Result<Option<()>, Fault>;

    /// Whether [`Observed::check_found`] has nothing to say about a state; notes which parts that depends on, as for
    /// [`Tracer::expand`]. `None` if only it can say.
    fn is_fine(&mut self, state: &S, touched: &mut Vec<u16>) -> Option<bool> {
        let _ = (state, touched);
        None
    }

    /// Whether a state in which no agent can do anything is terminal. If not, [`System::successors`] must say.
    fn is_complete(&self) -> bool;

    /// Outcomes of one step that have numbers of their own: see [`Unit::goes_on`].
    fn n_outcomes(&self) -> u32;

    /// Whether successors are to be in the order of descending numbers, whatever agent they come from.
    fn is_by_number(&self) -> bool;

    /// Takes a part of states of this shape finer apart from now on, and others like it; `false` if it cannot. Numbers
    /// of parts may mean something else then.
    fn split(&mut self, shape: &[u8], part: u16) -> bool;
}

/// Some bits of a word, at most 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// Which word.
    pub word: u16,
    /// The lowest bit.
    pub shift: u8,
    /// How many.
    pub bits: u8,
}

/// A part of what an agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Which, in the words of the tracer.
    pub code: u32,
    /// Whether it makes further outcomes of the step of the unit before it: they are numbered on.
    pub goes_on: bool,
}

/// The parts of a state.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Tells which parts there are, and what else agents may depend on at any time.
    pub shape: Vec<u8>,
    /// The values of the parts, one behind the other.
    pub bytes: Vec<u8>,
    /// The number of each part and where its value ends. Numbers ascend, and a number means the same in all states of
    /// one shape.
    pub list: Vec<(u16, u32)>,
}

impl Parts {
    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.shape.clear();
        self.bytes.clear();
        self.list.clear();
    }

    /// Appends a part.
    #[inline]
    pub fn push(&mut self, number: u16, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.list.push((number, self.bytes.len() as u32));
    }

    /// The parts: numbers and values.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &[u8])> {
        let starts = std::iter::once(0).chain(self.list.iter().map(|&(_, end)| end));
        let ends = self.list.iter();
        starts.zip(ends).map(|(start, &(number, end))| (number, &self.bytes[start as usize..end as usize]))
    }
}
