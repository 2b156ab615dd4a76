//! All successors of one state with their transitions, for searches that keep nothing but states and choose among transitions.
//!
//! **Implements** what [`System::successors`] of a packed system does, with states and transitions in lists of their own and most of them taken from the slots where
//! they lie, without a look at what comes after those.
//! **Preserves** everything: the same successors in the same order.
//! **Checked by** `oracle/tests/all/packed.rs`, which compares them state by state.

use crate::keys_only::{Odd, States};
use crate::{Core, Expanded, Failure, Halt, Packed, changed};
use stubborn_system::{Batch, Fault, System, TransitionId, Vector};

impl<Y: System + ?Sized, const N: usize> Packed<'_, Y, N> {
    /// Appends the successors of a state, with a note of each, and their transitions. What is odd, if anything but that there may be none; then they
    /// need not be all.
    #[inline]
    pub fn fan_out(
        &self,
        key: &[u64; N],
        note: u32,
        out: &mut States<N>,
        vias: &mut Vec<TransitionId>,
    ) -> Result<Option<Odd>, Fault> {
        let before = (out.len(), vias.len());
        let expanded = {
            let mut core = self.core.borrow_mut();
            core.memo.now += 1;
            core.fan_out(key, note, out, vias)
        };
        match expanded {
            Ok(Expanded::Done) => Ok(None),
            Ok(Expanded::LeftToSystem) | Err(Halt::Fault) => {
                out.truncate(before.0);
                vias.truncate(before.1);
                self.refer_fan(key, note, out, vias)
            }
            Err(Halt::TooNarrow) => Err(self.fail(Failure::TooNarrow)),
            Err(Halt::Useless) => Err(self.fail(Failure::Useless)),
        }
    }

    /// Has the system expand a state.
    #[cold]
    fn refer_fan(
        &self,
        key: &[u64; N],
        note: u32,
        out: &mut States<N>,
        vias: &mut Vec<TransitionId>,
    ) -> Result<Option<Odd>, Fault> {
        let mut made = Batch::new();
        self.refer(key, &mut made)?;
        (0..made.len()).for_each(|i| out.push(made.state(i), note));
        vias.extend_from_slice(made.vias());
        Ok(if made.take_cut().is_some() { Some(Odd::Cut) } else { made.take_flag().then_some(Odd::Flagged) })
    }
}

impl<S: Vector + ?Sized, const N: usize> Core<'_, S, N> {
    #[inline]
    fn fan_out(
        &mut self,
        key: &[u64; N],
        note: u32,
        out: &mut States<N>,
        vias: &mut Vec<TransitionId>,
    ) -> Result<Expanded, Halt> {
        if self.is_by_number {
            return Ok(Expanded::LeftToSystem);
        }
        let before = out.len();
        let shape = self.shape_of(key);
        for agent in 0..self.memo.shapes[shape].len() {
            let at = &self.memo.shapes[shape][agent];
            let root = at.root(key);
            let units = at.units(root);
            if units.len() == 1
                && let Some((slot, _)) = self.memo.glance(units.start, key)
            {
                let (slot, made_by) = (self.memo.slot(slot), self.memo.vias(slot));
                for (difference, via) in slot.near.iter().zip(made_by).take(slot.n as usize) {
                    out.push(&changed(key, difference), note);
                    vias.push(*via);
                }
            } else if let Expanded::LeftToSystem =
                self.fan_out_agent((key, note), (shape, agent), out, vias)?
            {
                return Ok(Expanded::LeftToSystem);
            }
        }
        let is_odd = out.len() == before && !self.tracer.is_complete();
        Ok(if is_odd { Expanded::LeftToSystem } else { Expanded::Done })
    }

    /// The successors that an agent makes with several units, or of which not everything was found at the first glance.
    #[inline(never)]
    fn fan_out_agent(
        &mut self,
        (key, note): (&[u64; N], u32),
        (shape, agent): (usize, usize),
        out: &mut States<N>,
        vias: &mut Vec<TransitionId>,
    ) -> Result<Expanded, Halt> {
        let at = &self.memo.shapes[shape][agent];
        let root = at.root(key);
        let mut units = at.units(root);
        if units.is_empty() {
            units = self.find_units(key, shape, agent, root);
        }
        // Where the outcomes of the step that a unit goes on with begin.
        let mut first = out.len();
        for number in units {
            let goes_on = self.memo.goes_on(number);
            if !goes_on {
                first = out.len();
            }
            let earlier = (out.len() - first) as u32;
            let mut push = |(difference, via): ([u64; N], TransitionId)| {
                out.push(&changed(key, &difference), note);
                vias.push(TransitionId(via.0 + earlier));
            };
            match self.memo.find(number, key) {
                Some(at) if self.memo.slot(at).is_unknown() => return Ok(Expanded::LeftToSystem),
                Some(at) => self.memo.made(at).for_each(push),
                None => {
                    if let Expanded::LeftToSystem = self.make(key, agent, number)? {
                        return Ok(Expanded::LeftToSystem);
                    }
                    self.differences.iter().copied().for_each(&mut push);
                }
            }
            if goes_on && (out.len() - first) as u32 > self.n_outcomes {
                return Ok(Expanded::LeftToSystem);
            }
        }
        Ok(Expanded::Done)
    }
}
