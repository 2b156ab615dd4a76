//! Successors without transitions, of many states in one go: for searches that only ask which states there are.
//!
//! **Implements** the innermost loop of such searches. Nearly always what an agent does lies in the first slot where it is
//! looked for, and has at most two outcomes: then both are written, whether they are there or not, and the next goes
//! where they end. So only one branch for each agent depends on what the state looks like: whether it has successors and is awake. Few have and are,
//! so where there are many agents it nearly always goes the same way.
//!
//! Besides, sleep sets of one step, for a search level by level. Let t be found from s by agent b, and let a come before b in the order of agents,
//! such that neither looks at what the other changes at s. Then a does the same at t as at s, and what it leads to from t is where b leads to from
//! the state s' that a leads to from s. So a is *asleep* at t: its successors are counted but not made. (P. Godefroid's sleep sets keep
//! more asleep, but must be told when a state is found again; these need not.)
//! **Preserves** the states, the level of each, the number of transitions and the terminal states. Claim: what x leads to by agent e is found at the level after x's at the latest. If e is
//! awake at x, that is so at once. If not, x was found from some s by a later agent b; the claim holds for s and e, which is a level above; and for s', which is at most as low as
//! x, and b, which is later than e. So it is an induction on levels, and on agents from the last to the first. It does not matter who finds a state first.
//! **Checked by** `oracle/tests/all/packed.rs`, which compares successors with those of the system, and `oracle/tests/all/threads.rs`, which compares states, transitions,
//! terminal states and levels of searches.

use crate::memo::{Difference, Glance, NEAR};
use crate::{Core, Expanded, Failure, Halt, Packed, changed};
use stubborn_system::{Batch, Fault, System, Vector};

/// States, and what is noted of each.
#[derive(Clone, Debug, Default)]
pub struct States<const N: usize> {
    /// The states.
    pub keys: Vec<[u64; N]>,
    /// By [`Packed::successors_of`]: agents that are asleep, whose successors others find, as a bit mask. Other searches note other things.
    pub notes: Vec<u32>,
}

impl<const N: usize> States<N> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Removes all states and keeps the memory.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Appends some of other states.
    pub fn extend(&mut self, others: &Self, which: &[u32]) {
        self.keys.extend(which.iter().map(|&i| others.keys[i as usize]));
        self.notes.extend(which.iter().map(|&i| others.notes[i as usize]));
    }

    /// Appends a state, with a note of it. If that is 0, everybody is awake.
    #[inline]
    pub fn push(&mut self, key: &[u64; N], note: u32) {
        self.keys.push(*key);
        self.notes.push(note);
    }

    /// Keeps those of the states from number `first` on that are wanted, by their place among them.
    #[inline]
    pub fn keep(&mut self, first: usize, mut is_wanted: impl FnMut(usize) -> bool) {
        let mut end = first;
        for i in first..self.keys.len() {
            self.keys[end] = self.keys[i];
            self.notes[end] = self.notes[i];
            end += usize::from(is_wanted(i - first));
        }
        self.truncate(end);
    }

    /// Takes the last one away.
    pub fn pop(&mut self) -> Option<[u64; N]> {
        self.notes.pop();
        self.keys.pop()
    }

    /// Takes all after the first `n` away.
    pub fn truncate(&mut self, n: usize) {
        self.keys.truncate(n);
        self.notes.truncate(n);
    }

    /// Makes sure that there are so many to be written over.
    #[inline(always)]
    fn make_room(&mut self, n: usize) {
        if self.keys.len() < n {
            self.keys.resize(n + 64, [0; N]);
            self.notes.resize(n + 64, 0);
        }
    }
}

/// What an agent looks at and changes in a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach<const N: usize> {
    looks: [u64; N],
    changes: [u64; N],
    /// Its bit in a mask of agents that are asleep; none if it never is.
    bit: u32,
}

impl<const N: usize> Reach<N> {
    const NOTHING: Self = Self { looks: [0; N], changes: [0; N], bit: 0 };

    /// Whether neither looks at what the other changes.
    #[inline(always)]
    fn commutes(&self, other: &Self) -> bool {
        let mut common = 0;
        for word in 0..N {
            common |= self.changes[word] & other.looks[word] | other.changes[word] & self.looks[word];
        }
        common == 0
    }

    /// Which agents before this one are asleep where it leads to.
    #[inline(always)]
    fn asleep_after(&self, earlier: &[Self]) -> u32 {
        let bit = |other: &Self| other.bit & u32::from(self.commutes(other)).wrapping_neg();
        earlier.iter().fold(0, |asleep, other| asleep | bit(other))
    }
}

/// Adds bits to a mask.
#[inline(always)]
fn add<const N: usize>(mask: &mut [u64; N], bits: &[u64; N]) {
    for (mask, bits) in mask.iter_mut().zip(bits) {
        *mask |= bits;
    }
}

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

/// Looks at states that are odd.
pub type Look<'a, E, const N: usize> = dyn FnMut(&[u64; N], Odd) -> Result<(), E> + 'a;

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
    /// Appends the successors of states from number `*n` on, which is moved on, until there are `enough`. How many there are, with
    /// those that are not made because others find them. Calls `look` for each state that is odd, and ends early with its word if that is not
    /// `Ok`.
    pub fn successors_of<E: From<Fault>>(
        &self,
        states: &States<N>,
        n: &mut usize,
        enough: usize,
        out: &mut States<N>,
        look: &mut Look<'_, E, N>,
    ) -> Result<u64, E> {
        let mut n_edges = 0;
        while *n < states.len() && out.len() < enough {
            let pause = {
                let mut core = self.core.borrow_mut();
                core.expand_all(states, n, enough, out, &mut n_edges)
            };
            match pause {
                Ok(Pause::Done) => {}
                Ok(Pause::Terminal) => {
                    look(&states.keys[*n], Odd::Terminal)?;
                    *n += 1;
                }
                Ok(Pause::LeftToSystem) | Err(Halt::Fault) => {
                    n_edges += self.refer_odd(&states.keys[*n], out, look)?;
                    *n += 1;
                }
                Err(Halt::TooNarrow) => return Err(self.fail(Failure::TooNarrow).into()),
                Err(Halt::Useless) => return Err(self.fail(Failure::Useless).into()),
            }
        }
        Ok(n_edges)
    }

    /// Has the system expand a state.
    #[cold]
    fn refer_odd<E: From<Fault>>(
        &self,
        key: &[u64; N],
        out: &mut States<N>,
        look: &mut Look<'_, E, N>,
    ) -> Result<u64, E> {
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
        (0..made.len()).for_each(|i| out.push(made.state(i), 0));
        Ok(made.len() as u64)
    }
}

impl<S: Vector + ?Sized, const N: usize> Core<'_, S, N> {
    /// Appends the successors of states from number `*n` on, which is moved on, until there are enough or one is odd.
    #[inline]
    fn expand_all(
        &mut self,
        states: &States<N>,
        n: &mut usize,
        enough: usize,
        out: &mut States<N>,
        n_edges: &mut u64,
    ) -> Result<Pause, Halt> {
        let mut pause = Ok(Pause::Done);
        let mut end = out.len();
        while *n < states.len() && end < enough {
            let before = end;
            let mut made = 0;
            match self.expand_key(&states.keys[*n], states.notes[*n], &mut end, out, &mut made) {
                Ok(Expanded::Done) if made == 0 => {
                    let is_terminal = self.tracer.is_complete();
                    pause = Ok(if is_terminal { Pause::Terminal } else { Pause::LeftToSystem });
                }
                Ok(Expanded::Done) => {
                    *n += 1;
                    *n_edges += made as u64;
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

    /// Puts the successors of a state from number `*end` on, which is moved on, and adds how many there are, with those of who is
    /// asleep.
    #[inline(always)]
    fn expand_key(
        &mut self,
        key: &[u64; N],
        asleep: u32,
        end: &mut usize,
        out: &mut States<N>,
        made: &mut usize,
    ) -> Result<Expanded, Halt> {
        self.memo.now += 1;
        let shape = self.shape_of(key);
        let n_agents = self.memo.shapes[shape].len();
        if self.reach.len() <= n_agents {
            // One more, because the next is written before it is known whether it counts.
            self.reach.resize(n_agents + 1, Reach::NOTHING);
        }
        let mut agent = 0;
        // Agents so far that have successors, and how many these are.
        let (mut n_able, mut n_made) = (0, 0);
        loop {
            let Self { memo, reach, .. } = self;
            let agents = &memo.shapes[shape][agent..];
            out.make_room(*end + NEAR * agents.len());
            for at in agents {
                let Some(Glance { slot, looks, .. }) = memo.glance(at, key) else { break };
                let n = slot.n;
                let mut this = Reach { looks: *looks, changes: slot.near[0], bit: at.bit };
                add(&mut this.changes, &slot.near[1]);
                // Whether it has successors and is awake, in one comparison: few agents are both, but which of the two others lack cannot be
                // predicted.
                if u64::from(at.bit & asleep) * (NEAR as u64 + 1) < u64::from(n) {
                    let (keys, notes) = (&mut out.keys[*end..*end + NEAR], &mut out.notes[*end..*end + NEAR]);
                    for (place, difference) in keys.iter_mut().zip(&slot.near) {
                        *place = changed(key, difference);
                    }
                    notes.fill(this.asleep_after(&reach[..n_able]));
                    *end += n as usize;
                }
                reach[n_able] = this;
                n_able += n.min(1) as usize;
                n_made += n as usize;
                agent += 1;
            }
            if agent == n_agents {
                break;
            }
            let before = *end;
            let Some(this) = self.expand_agent(key, shape, agent, end, out)? else {
                return Ok(Expanded::LeftToSystem);
            };
            let n = *end - before;
            out.notes[before..*end].fill(this.asleep_after(&self.reach[..n_able]));
            if this.bit & asleep != 0 {
                *end = before;
            }
            self.reach[n_able] = this;
            n_able += usize::from(n > 0);
            n_made += n;
            agent += 1;
        }
        *made += n_made;
        Ok(Expanded::Done)
    }

    /// Puts the successors that an agent makes with several units, or of which not everything was found at the first glance. What it looks at
    /// and changes; `None` if only the system can say.
    #[inline(never)]
    fn expand_agent(
        &mut self,
        key: &[u64; N],
        shape: usize,
        agent: usize,
        end: &mut usize,
        out: &mut States<N>,
    ) -> Result<Option<Reach<N>>, Halt> {
        let at = &self.memo.shapes[shape][agent];
        let root = at.root(key);
        let mut reach = Reach { looks: at.own, bit: at.bit, ..Reach::NOTHING };
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
                Some(at) if self.memo.slot(at).is_unknown() => return Ok(None),
                Some(at) => {
                    let slot = self.memo.slot(at);
                    out.make_room(*end + NEAR);
                    for (place, difference) in out.keys[*end..].iter_mut().zip(&slot.near) {
                        *place = changed(key, difference);
                        add(&mut reach.changes, difference);
                    }
                    *end += (slot.n as usize).min(NEAR);
                    put_all(key, &self.memo.rest[slot.rest()], &mut reach, end, out);
                }
                None => {
                    if let Expanded::LeftToSystem = self.make(key, agent, number)? {
                        return Ok(None);
                    }
                    put_all(key, &self.differences, &mut reach, end, out);
                    // It may not be remembered.
                    add(&mut reach.looks, &self.dependence);
                }
            }
            add(&mut reach.looks, self.memo.looks(number));
            if goes_on && *end - first > self.n_outcomes as usize {
                return Ok(None);
            }
        }
        Ok(Some(reach))
    }
}

/// Puts the successors that these differences make from number `*end` on, which is moved on.
#[inline]
fn put_all<const N: usize>(
    key: &[u64; N],
    differences: &[Difference<N>],
    reach: &mut Reach<N>,
    end: &mut usize,
    out: &mut States<N>,
) {
    out.make_room(*end + differences.len());
    for (difference, _) in differences {
        out.keys[*end] = changed(key, difference);
        add(&mut reach.changes, difference);
        *end += 1;
    }
}
