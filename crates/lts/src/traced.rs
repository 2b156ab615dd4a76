//! A composition's states component by component, and its transitions by the component that owns their rule.
//!
//! **Implements** [`Tracer`]: parts are components, and agents are those that own rules, from the last to the first, as
//! successors are made. A unit is some rules with what the owner offers where it is. It depends on the owner and on the
//! other components of these rules, and on those that cuts are about; that is known from the rules, so it is told whatever happens.
//! States are keys as they are, with the places of components as they lie.
//! **Preserves** what firing does: rules are fired by [`Composition`] itself.
//! **Differs** from the tracers of models in that an agent with many partners has several units, so that each depends on few of them.
//! **Checked by** `oracle/tests/all/packed.rs`, which compares successors and verdicts, and finds a tracer that leaves a
//! component out.

use crate::composition::{Composition, bytes_of};
use std::ops::Range;
use stubborn_system::{Batch, Bits, Fault, Parts, Tracer, Unit, WordVector};

/// Bits of the components besides its owner that a unit may depend on, if it has more than one rule.
const MOST_BITS: u32 = 10;

/// A unit's code has the numbers of its first rule and of the one behind its last; this one stands for all that are left.
const LAST: u32 = u16::MAX as u32;

/// A composition that tells what its rules depend on.
pub(crate) struct Traced<'y, 'p, S: ?Sized> {
    composition: &'y Composition<'p, S>,
    /// The components that own rules, from the last to the first.
    owners: Vec<u16>,
    /// The components that cuts are about.
    cuts: Vec<u16>,
    words: Vec<u64>,
}

impl<'y, 'p, S: WordVector + ?Sized> Traced<'y, 'p, S> {
    /// `None` if there are more components than parts can be numbered.
    pub(crate) fn new(composition: &'y Composition<'p, S>) -> Option<Self> {
        let n = u16::try_from(composition.n_components()).ok()?;
        let owners = (0..n).rev().filter(|&i| composition.owns_rules(usize::from(i))).collect();
        let cuts = composition.components_of_cuts().into_iter().map(|i| i as u16).collect();
        Some(Self { composition, owners, cuts, words: Vec::new() })
    }

    /// Calls `each` with the rules that a component owns and offers its part of, in the order of their successors, and with
    /// its edges for them.
    fn owned(&self, state: &S, agent: usize, each: impl FnMut(u32, Range<usize>)) {
        self.composition.each_owned(state, usize::from(self.owners[agent]), each);
    }
}

impl<S: WordVector + ?Sized> Tracer<S> for Traced<'_, '_, S> {
    fn take_apart(&mut self, state: &S, parts: &mut Parts) {
        for i in 0..self.composition.n_components() {
            parts.push(i as u16, &self.composition.local(state, i).to_le_bytes());
        }
    }

    fn put_together(&mut self, parts: &Parts, out: &mut S::Rows) {
        let locals = parts.iter().map(|(_, value)| value.try_into().map_or(0, u32::from_le_bytes));
        self.words.clear();
        self.composition.put_locals(locals, &mut self.words);
        S::push_row(&self.words, out);
    }

    fn places(&self) -> Option<Vec<Bits>> {
        Some((0..self.composition.n_components()).map(|i| self.composition.place(i)).collect())
    }

    fn put_words(&mut self, words: &[u64], out: &mut S::Rows) {
        S::push_row(&words[..self.composition.n_state_words()], out);
    }

    /// Bytes are counted as if each component had four.
    fn parts_at(&mut self, _: &S, bytes: &[Range<usize>], touched: &mut Vec<u16>) -> bool {
        let is_meant = |i: &usize| {
            let place = bytes_of(*i);
            bytes.iter().any(|range| range.start < place.end && place.start < range.end)
        };
        touched.extend((0..self.composition.n_components()).filter(is_meant).map(|i| i as u16));
        true
    }

    fn agents(&mut self, roots: &mut Vec<u16>) {
        roots.extend_from_slice(&self.owners);
    }

    fn units(&mut self, state: &S, agent: usize, units: &mut Vec<Unit>) {
        let mut partners: Vec<u32> = Vec::new();
        let (mut first, mut next) = (0, 0);
        let mut ends = Vec::new();
        self.owned(state, agent, |rule, _| {
            let before = partners.len();
            for component in self.composition.components_of(rule).skip(1) {
                if !partners.contains(&component) {
                    partners.push(component);
                }
            }
            let bits = |i: &u32| u32::from(self.composition.place(*i as usize).bits);
            if next > first && partners.iter().map(bits).sum::<u32>() > MOST_BITS && next < LAST {
                ends.push(first << 16 | next);
                first = next;
                partners.drain(..before);
            }
            next += 1;
        });
        ends.push(first << 16 | LAST);
        units.extend(ends.into_iter().map(|code| Unit { code, goes_on: false }));
    }

    fn expand(
        &mut self,
        state: &S,
        agent: usize,
        unit: Unit,
        touched: &mut Vec<u16>,
        out: &mut Batch<S>,
    ) -> Result<Option<()>, Fault> {
        touched.extend_from_slice(&self.cuts);
        let is_cut = self.composition.is_cut(state);
        let (first, end) = (unit.code >> 16, unit.code & LAST);
        let mut number = 0;
        self.owned(state, agent, |rule, edges| {
            if number >= first && (number < end || end == LAST) {
                touched.extend(self.composition.components_of(rule).map(|i| i as u16));
                if !is_cut {
                    self.composition.fire_owned(state, rule, edges, out);
                }
            }
            number += 1;
        });
        Ok(Some(()))
    }

    fn is_complete(&self) -> bool {
        true
    }

    fn n_outcomes(&self) -> u32 {
        1
    }

    fn is_by_number(&self) -> bool {
        false
    }

    fn split(&mut self, _: &[u8], _: u16) -> bool {
        false
    }
}
