//! Successors without transitions, of many states in one go: for searches that only ask which states there are.
//!
//! **Implements** the innermost loop of such searches. Nearly always what an agent does lies in the first slot where it is
//! looked for, and has at most two outcomes: then both are written, whether they are there or not, and the next goes
//! where they end. So there is no branch that depends on what the state looks like.
//! **Preserves** the successors and their number; only their order within a state of a model as code may be another one.
//! **Checked by** `oracle/tests/packed.rs`, which compares them with those of the system, and all counts of searches.

use crate::memo::{Difference, NEAR};
use crate::{Core, Expanded, Failure, Halt, Packed, changed};
use stubborn_system::{Batch, Fault, System, Vector};

/// A state that is told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// It has no successors.
    Terminal,
    /// Something was noted while its successors were made.
    Flagged,
    /// Some of its successors are missing, because of a limit.
    Cut,
}

/// Why a run over states ended.
enum Pause {
    /// No more states, or enough successors.
    Done,
    /// The next state has no successors.
    Terminal,
    /// The system must expand the next state.
    LeftToSystem,
}

impl<Y: System + ?Sized, const N: usize> Packed<'_, Y, N> {
    /// Appends the successors of states, one after the other, until there are `enough`; how many states these were. Calls
    /// `look` for each that is odd, and ends early with its word if that is not `Ok`.
    pub fn successors_of<E: From<Fault>>(
        &self,
        keys: &[[u64; N]],
        enough: usize,
        out: &mut Vec<[u64; N]>,
        look: &mut dyn FnMut(&[u64; N], Odd) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut n = 0;
        while n < keys.len() && out.len() < enough {
            let pause = {
                let mut core = self.core.borrow_mut();
                core.expand_all(keys, &mut n, enough, out)
            };
            match pause {
                Ok(Pause::Done) => {}
                Ok(Pause::Terminal) => {
                    look(&keys[n], Odd::Terminal)?;
                    n += 1;
                }
                Ok(Pause::LeftToSystem) | Err(Halt::Fault) => {
                    self.refer_odd(&keys[n], out, look)?;
                    n += 1;
                }
                Err(Halt::TooNarrow) => return Err(self.fail(Failure::TooNarrow).into()),
                Err(Halt::Useless) => return Err(self.fail(Failure::Useless).into()),
            }
        }
        Ok(n)
    }

    /// Has the system expand a state.
    #[cold]
    fn refer_odd<E: From<Fault>>(
        &self,
        key: &[u64; N],
        out: &mut Vec<[u64; N]>,
        look: &mut dyn FnMut(&[u64; N], Odd) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut made = Batch::new();
        self.refer(key, &mut made)?;
        if made.take_flag() {
            look(key, Odd::Flagged)?;
        }
        if made.take_cut().is_some() {
            look(key, Odd::Cut)?;
        } else if made.is_empty() {
            look(key, Odd::Terminal)?;
        }
        out.extend((0..made.len()).map(|i| *made.state(i)));
        Ok(())
    }
}

impl<S: Vector + ?Sized, const N: usize> Core<'_, S, N> {
    /// Appends the successors of states from number `*n` on, which is moved on, until there are enough or one is odd.
    #[inline]
    fn expand_all(
        &mut self,
        keys: &[[u64; N]],
        n: &mut usize,
        enough: usize,
        out: &mut Vec<[u64; N]>,
    ) -> Result<Pause, Halt> {
        let mut pause = Ok(Pause::Done);
        let mut end = out.len();
        while *n < keys.len() && end < enough {
            let before = end;
            match self.expand_key(&keys[*n], &mut end, out) {
                Ok(Expanded::Done) if end == before => {
                    let is_terminal = self.tracer.is_complete();
                    pause = Ok(if is_terminal { Pause::Terminal } else { Pause::LeftToSystem });
                }
                Ok(Expanded::Done) => {
                    *n += 1;
                    continue;
                }
                Ok(Expanded::LeftToSystem) => pause = Ok(Pause::LeftToSystem),
                Err(halt) => pause = Err(halt),
            }
            end = before;
            break;
        }
        out.truncate(end);
        pause
    }

    /// Puts the successors of a state from number `*end` on, which is moved on.
    #[inline(always)]
    fn expand_key(
        &mut self,
        key: &[u64; N],
        end: &mut usize,
        out: &mut Vec<[u64; N]>,
    ) -> Result<Expanded, Halt> {
        self.memo.now += 1;
        let shape = self.shape_of(key);
        let mut agent = 0;
        loop {
            let memo = &self.memo;
            let agents = &memo.shapes[shape][agent..];
            make_room(*end + NEAR * agents.len(), out);
            let mut n = 0;
            for at in agents {
                let units = at.units(at.root(key));
                if units.len() == 1
                    && let Some(slot) = memo.glance(units.start, key)
                    && let Some(near) = out.get_mut(*end..*end + NEAR)
                {
                    near[0] = changed(key, &slot.near[0]);
                    near[1] = changed(key, &slot.near[1]);
                    *end += slot.n as usize;
                    n += 1;
                } else {
                    break;
                }
            }
            if n == agents.len() {
                return Ok(Expanded::Done);
            }
            if let Expanded::LeftToSystem = self.expand_agent(key, shape, agent + n, end, out)? {
                return Ok(Expanded::LeftToSystem);
            }
            agent += n + 1;
        }
    }

    /// The same for an agent with several units, or of which not everything was found at the first glance.
    #[inline(never)]
    fn expand_agent(
        &mut self,
        key: &[u64; N],
        shape: usize,
        agent: usize,
        end: &mut usize,
        out: &mut Vec<[u64; N]>,
    ) -> Result<Expanded, Halt> {
        let at = &self.memo.shapes[shape][agent];
        let root = at.root(key);
        let mut units = at.units(root);
        if units.is_empty() {
            units = self.find_units(key, shape, agent, root);
        }
        // Where the outcomes of the step that a unit goes on with begin.
        let mut first = *end;
        for number in units {
            let goes_on = self.memo.goes_on(number);
            if !goes_on {
                first = *end;
            }
            match self.memo.find(number, key) {
                Some(at) if self.memo.slot(at).is_unknown() => return Ok(Expanded::LeftToSystem),
                Some(at) => {
                    let slot = self.memo.slot(at);
                    make_room(*end + NEAR, out);
                    for (place, difference) in out[*end..].iter_mut().zip(&slot.near) {
                        *place = changed(key, difference);
                    }
                    *end += (slot.n as usize).min(NEAR);
                    put_all(key, self.memo.rest[slot.rest()].iter(), end, out);
                }
                None => {
                    if let Expanded::LeftToSystem = self.make(key, agent, number)? {
                        return Ok(Expanded::LeftToSystem);
                    }
                    put_all(key, self.differences.iter(), end, out);
                }
            }
            if goes_on && *end - first > self.n_outcomes as usize {
                return Ok(Expanded::LeftToSystem);
            }
        }
        Ok(Expanded::Done)
    }
}

/// Puts the successors that these differences make from number `*end` on, which is moved on.
#[inline]
fn put_all<'d, const N: usize>(
    key: &[u64; N],
    differences: impl ExactSizeIterator<Item = &'d Difference<N>>,
    end: &mut usize,
    out: &mut Vec<[u64; N]>,
) {
    make_room(*end + differences.len(), out);
    for (difference, _) in differences {
        out[*end] = changed(key, difference);
        *end += 1;
    }
}

/// Makes sure that there are so many keys to be written over.
#[inline(always)]
fn make_room<const N: usize>(n: usize, out: &mut Vec<[u64; N]>) {
    if out.len() < n {
        out.resize(n + 64, [0; N]);
    }
}
