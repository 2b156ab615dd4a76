//! The state as a model sees it: variables to read and write.

use crate::{Layout, Observation, Var};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use stubborn_system::Fault;

/// A state that a model reads and writes through its variables.
///
/// Mistakes (a value out of range, an element that does not exist) do not panic: the first is kept and
/// reported when the model returns.
///
/// The tests [`State::is`], [`State::at_least`], ... look at less than [`State::get`] does. Where rules
/// are derived from footprints, prefer them: a transition that only tests `x == 3` does not depend on one
/// that writes 4 over 5.
pub struct State<'a> {
    words: &'a mut [u64],
    layout: &'a Layout,
    recorder: Option<&'a Recorder>,
    fault: Cell<Option<Box<Fault>>>,
}

/// What was read and written, in order.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) reads: RefCell<Vec<(Var, Observation)>>,
    pub(crate) writes: RefCell<Vec<Var>>,
}

impl Recorder {
    pub(crate) fn clear(&self) {
        self.reads.borrow_mut().clear();
        self.writes.borrow_mut().clear();
    }

    /// Appends the numbers of the variables that were used since, those that were read first, in order.
    pub(crate) fn note(&self, places: &mut Vec<Range<usize>>) {
        let (reads, writes) = (self.reads.borrow(), self.writes.borrow());
        let vars = reads.iter().map(|(var, _)| var).chain(&*writes);
        places.extend(vars.map(|var| var.index()..var.index() + 1));
    }
}

impl<'a> State<'a> {
    pub(crate) fn new(words: &'a mut [u64], layout: &'a Layout) -> Self {
        Self { words, layout, recorder: None, fault: Cell::new(None) }
    }

    pub(crate) fn recorded(words: &'a mut [u64], layout: &'a Layout, recorder: &'a Recorder) -> Self {
        Self { words, layout, recorder: Some(recorder), fault: Cell::new(None) }
    }

    pub(crate) fn take_fault(&mut self) -> Option<Box<Fault>> {
        self.fault.take()
    }

    /// The value of `var`.
    #[inline]
    pub fn get(&self, var: Var) -> usize {
        if self.recorder.is_some() {
            self.note_read(var, Observation::Value);
        }
        self.raw(var) as usize + var.min as usize
    }

    /// Whether `var` has this value.
    #[inline]
    pub fn is(&self, var: Var, value: usize) -> bool {
        if self.recorder.is_some() {
            self.note_read(var, Observation::test(var, [value]));
        }
        self.raw(var) as usize + var.min as usize == value
    }

    /// Whether the value of `var` is at least `least`.
    #[inline]
    pub fn at_least(&self, var: Var, least: usize) -> bool {
        if self.recorder.is_some() {
            self.note_read(var, Observation::test(var, least..=(var.max as usize)));
        }
        self.raw(var) as usize + var.min as usize >= least
    }

    /// Whether the value of `var` is at most `most`.
    #[inline]
    pub fn at_most(&self, var: Var, most: usize) -> bool {
        if self.recorder.is_some() {
            self.note_read(var, Observation::test(var, 0..=most.min(var.max as usize)));
        }
        self.raw(var) as usize + var.min as usize <= most
    }

    /// Assigns `value` to `var`. A value out of range is a fault of the model.
    #[inline(always)]
    pub fn set(&mut self, var: Var, value: usize) {
        if value < var.min as usize || value > var.max as usize || var.word == Var::NOWHERE {
            return self.bad_assignment(var, value);
        }
        if let Some(recorder) = self.recorder {
            recorder.writes.borrow_mut().push(var);
        }
        let word = &mut self.words[usize::from(var.word)];
        let raw = (value - var.min as usize) as u64;
        *word = *word & !(u64::from(var.mask) << var.shift) | raw << var.shift;
    }

    /// Adds `amount` (which may be negative) to `var`.
    #[inline]
    pub fn add(&mut self, var: Var, amount: isize) {
        let value = self.get(var).wrapping_add_signed(amount);
        self.set(var, value);
    }

    /// Reports a mistake of the model: a situation that its author thought impossible.
    pub fn fail(&self, message: impl Into<String>) {
        self.complain(Fault::Model(message.into()));
    }

    /// The value of `var`, counted from its smallest.
    #[inline]
    pub(crate) fn raw(&self, var: Var) -> u32 {
        match self.words.get(usize::from(var.word)) {
            Some(word) => (word >> var.shift) as u32 & var.mask,
            None => {
                self.missing(var);
                0
            }
        }
    }

    #[cold]
    fn note_read(&self, var: Var, how: Observation) {
        if let Some(recorder) = self.recorder
            && var.word != Var::NOWHERE
        {
            recorder.reads.borrow_mut().push((var, how));
        }
    }

    #[cold]
    fn bad_assignment(&self, var: Var, value: usize) {
        if var.word == Var::NOWHERE {
            return self.missing(var);
        }
        let variable = self.layout.name(var).to_owned();
        self.complain(Fault::OutOfRange { variable, value: value as i64, max: u64::from(var.max) });
    }

    #[cold]
    fn missing(&self, var: Var) {
        let (array, len) = self.layout.missing(var);
        self.complain(Fault::IndexOutOfRange { array, len });
    }

    #[cold]
    fn complain(&self, fault: Fault) {
        let first = self.fault.take().unwrap_or_else(|| Box::new(fault));
        self.fault.set(Some(first));
    }
}

/// The value of `var` in a state given as words, counted from its smallest.
#[inline]
pub(crate) fn raw_in(words: &[u64], var: Var) -> u32 {
    (words[usize::from(var.word)] >> var.shift) as u32 & var.mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_live_where_the_layout_says() {
        let mut layout = Layout::new();
        let a = layout.array("a", 3, 2..=9);
        let b = layout.var("b", 0..=1);
        let mut words = [0u64];
        let mut s = State::new(&mut words, &layout);
        s.set(a[1], 9);
        s.set(b, 1);
        s.add(a[2], 3);
        assert_eq!((s.get(a[0]), s.get(a[1]), s.get(a[2]), s.get(b)), (2, 9, 5, 1));
        assert!(s.is(a[1], 9) && s.at_least(a[2], 5) && !s.at_least(a[2], 6) && s.at_most(a[0], 2));
        assert!(s.take_fault().is_none());
    }

    #[test]
    fn the_first_mistake_is_kept() {
        let mut layout = Layout::new();
        let x = layout.var("x", 0..=5);
        let y = layout.array("y", 2, 0..=1);
        let mut words = [0u64];
        let mut s = State::new(&mut words, &layout);
        s.set(x, 6);
        s.set(y[2], 0);
        assert_eq!(*s.take_fault().unwrap(), Fault::OutOfRange { variable: "x".into(), value: 6, max: 5 });
        assert_eq!(s.get(y[7]), 0);
        assert_eq!(*s.take_fault().unwrap(), Fault::IndexOutOfRange { array: "y".into(), len: 2 });
        s.add(x, -1);
        assert_eq!(*s.take_fault().unwrap(), Fault::OutOfRange { variable: "x".into(), value: -1, max: 5 });
        assert_eq!(s.get(x), 0);
    }
}
