//! Systems whose states are keys of a few words, and whose successors are remembered.
//!
//! **Implements** the packed engine: a state is a key in which each part (a process with its locals, a channel, a
//! variable) is the number of its value (`codec`); what an agent does is remembered as the differences between keys
//! that it makes, under all that it looked at (`memo`). Almost all successors are then an exclusive or. What was not
//! seen before is left to the system, whose [`Tracer`] says what it depended on.
//! **Preserves** everything: the same transitions in the same order lead to the same states, in other clothes.
//! **Differs from other tools** in that parts and what agents look at are found by watching, not by analysis: no front
//! end has to be right about them but the one function through which its states are read and written.
//! **Checked by** `oracle/tests/all/packed.rs`, which compares every state's successors with those of the system.

#![forbid(unsafe_code)]

mod codec;
mod dictionary;
mod fan;
mod fields;
mod fine;
mod keys_only;
mod memo;
mod recall;
mod represent;
mod sample;
mod team;

pub use keys_only::{Look, Odd, States};
pub use recall::Recall;
pub use sample::Sample;
pub use team::Team;

use codec::{Codec, TooNarrow};
use fine::Fine;
use keys_only::Reach;
use memo::{Difference, Glance, Memo};
use std::cell::{Cell, RefCell};
use stubborn_system::{
    Batch, Fault, Observed, Part, Parts, Question, Rows, System, Tracer, TransitionId, Unit, Vector,
};

/// States after which it is judged whether anything is remembered, and of how many looks at an agent one may find nothing: to learn what it does takes about as long as the system takes for ten.
const TRIAL: u64 = 1 << 14;
const WORTH: u64 = 10;

/// Memory that values may take, and as much again what was made of them, in bytes; the part of all memory that each may take;
/// and how often values are looked at.
const ROOM: usize = 1 << 26;
const PART: usize = 4;
const LOOK: u64 = 1 << 10;

/// A system with states as keys of `N` words.
pub struct Packed<'y, Y: System + ?Sized, const N: usize> {
    system: &'y Y,
    core: RefCell<Core<'y, Y::State, N>>,
    /// Set when there is no way on with this packing.
    failure: Cell<Option<Failure>>,
}

/// Why a packing does not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A part has more values than its field: others may do, with [`Packed::into_sample`].
    TooNarrow,
    /// What is remembered is hardly ever of use.
    Useless,
}

struct Core<'y, S: Vector + ?Sized, const N: usize> {
    tracer: Box<dyn Tracer<S> + 'y>,
    codec: Codec<N>,
    memo: Memo<N>,
    is_by_number: bool,
    n_outcomes: u32,
    /// By shape: where it is remembered which states are fine.
    fine: Vec<Fine<N>>,
    /// Units of which nothing was known.
    n_new: u64,
    /// Room to work in.
    parts: Parts,
    state: S::Rows,
    /// The key whose state that is, if it was not taken by somebody.
    unpacked: Option<[u64; N]>,
    successors: Batch<S>,
    touched: Vec<u16>,
    units: Vec<Unit>,
    differences: Vec<Difference<N>>,
    /// The bits of what the unit looked at that was expanded last, but for its root.
    dependence: [u64; N],
    reach: Vec<Reach<N>>,
}

/// What a unit made of a state, one way or the other.
enum Expanded {
    Done,
    /// Only the system can say what happens in this state.
    LeftToSystem,
}

impl<'y, Y: System + ?Sized, const N: usize> Packed<'y, Y, N> {
    /// The system with keys that have room for what was seen and more; the sample again if `N` words are too few.
    pub fn new(system: &'y Y, sample: Sample<'y, Y::State>) -> Result<Self, Sample<'y, Y::State>> {
        let Sample { tracer, values } = sample;
        let codec = match Codec::new(values) {
            Ok(codec) => codec,
            Err(values) => return Err(Sample { tracer, values }),
        };
        Ok(Self::with(system, tracer, codec))
    }

    fn with(system: &'y Y, tracer: Box<dyn Tracer<Y::State> + 'y>, codec: Codec<N>) -> Self {
        let core = Core {
            is_by_number: tracer.is_by_number(),
            n_outcomes: tracer.n_outcomes(),
            tracer,
            codec,
            memo: Memo::default(),
            fine: Vec::new(),
            n_new: 0,
            parts: Parts::default(),
            state: Default::default(),
            unpacked: None,
            successors: Batch::new(),
            touched: Vec::new(),
            units: Vec::new(),
            differences: Vec::new(),
            dependence: [0; N],
            reach: Vec::new(),
        };
        Self { system, core: RefCell::new(core), failure: Cell::new(None) }.within(usize::MAX)
    }

    /// Remembers no more than is right where a search has so many bytes for everything.
    #[must_use]
    pub fn within(self, limit: usize) -> Self {
        self.core.borrow_mut().memo.room = ROOM.min(limit / PART);
        self
    }

    /// The system that is packed.
    pub fn original(&self) -> &'y Y {
        self.system
    }

    /// Why this packing does not serve, if it was found that it does not. Then a search has ended with a fault that
    /// is none of the system.
    pub fn failure(&self) -> Option<Failure> {
        self.failure.get()
    }

    /// What was seen, for another packing.
    pub fn into_sample(self) -> Sample<'y, Y::State> {
        let core = self.core.into_inner();
        let mut sample = Sample { tracer: core.tracer, values: core.codec.values };
        sample.note(self.failure.get());
        sample
    }

    /// Lets `look` see the state of a key.
    pub fn with_state<R>(&self, key: &[u64; N], look: impl FnOnce(&Y::State) -> R) -> R {
        let state = self.core.borrow_mut().take_state(key);
        // Whoever looks may look at another one meanwhile.
        let answer = look(state.get(0));
        self.core.borrow_mut().give_state(key, state);
        answer
    }

    /// Appends the keys of some states.
    pub fn pack(&self, states: &Batch<Y::State>, out: &mut Batch<[u64; N]>) -> Result<(), Fault> {
        let mut core = self.core.borrow_mut();
        for i in 0..states.len() {
            let key = core.pack(states.state(i)).map_err(|TooNarrow| self.fail(Failure::TooNarrow))?;
            out.push(states.via(i), &key);
        }
        Ok(())
    }

    /// There is nothing to be gained from keys. The fault ends a search that is made again without.
    pub fn give_up(&self) -> Fault {
        self.fail(Failure::Useless)
    }

    #[cold]
    fn fail(&self, failure: Failure) -> Fault {
        self.failure.set(Some(failure));
        Fault::Broken("the states do not fit their keys".into())
    }

    /// Whether the successors of a state were made, or the system must make them.
    #[inline]
    fn is_done(&self, expanded: Result<Expanded, Halt>) -> Result<bool, Fault> {
        match expanded {
            Ok(Expanded::Done) => Ok(true),
            Ok(Expanded::LeftToSystem) | Err(Halt::Fault) => Ok(false),
            Err(Halt::TooNarrow) => Err(self.fail(Failure::TooNarrow)),
            Err(Halt::Useless) => Err(self.fail(Failure::Useless)),
        }
    }

    /// The successors by the system itself.
    #[cold]
    fn refer(&self, key: &[u64; N], out: &mut Batch<[u64; N]>) -> Result<(), Fault> {
        let mut made = std::mem::take(&mut self.core.borrow_mut().successors);
        made.clear();
        let done = self.with_state(key, |state| self.system.successors(state, &mut made));
        if made.take_flag() {
            out.flag();
        }
        made.take_cut().into_iter().for_each(|too_much| out.cut(too_much));
        let done = done.and_then(|()| self.pack(&made, out));
        self.core.borrow_mut().successors = made;
        done
    }
}

impl<S: Vector + ?Sized, const N: usize> Core<'_, S, N> {
    /// The state of a key, which is to be given back.
    fn take_state(&mut self, key: &[u64; N]) -> S::Rows {
        let mut state = std::mem::take(&mut self.state);
        if self.unpacked.take() != Some(*key) {
            self.unpack(key, &mut state);
        }
        state
    }

    fn unpack(&mut self, key: &[u64; N], state: &mut S::Rows) {
        self.codec.meet(key);
        self.codec.state(key, &mut self.parts, &mut *self.tracer, state);
    }

    fn give_state(&mut self, key: &[u64; N], state: S::Rows) {
        (self.state, self.unpacked) = (state, Some(*key));
    }

    fn pack(&mut self, state: &S) -> Result<[u64; N], TooNarrow> {
        self.parts.clear();
        self.tracer.take_apart(state, &mut self.parts);
        self.codec.key(&self.parts, &mut *self.tracer)
    }

    /// The shape of a key, whose agents are known then.
    #[inline]
    fn shape_of(&mut self, key: &[u64; N]) -> usize {
        let shape = self.codec.shape_of(key);
        if self.memo.shapes.len() <= shape {
            self.meet_shapes(key, shape);
        }
        shape
    }

    #[cold]
    fn meet_shapes(&mut self, key: &[u64; N], shape: usize) {
        self.codec.meet(key);
        while self.memo.shapes.len() <= shape {
            let roots = &self.codec.shape(self.memo.shapes.len()).roots;
            let shape = self.codec.shape_field();
            self.memo.add_shape(roots.iter().map(|&root| self.codec.field(root)), shape);
        }
    }

    /// Adds the successors that all agents make.
    #[inline]
    fn expand(&mut self, key: &[u64; N], out: &mut impl Sink<N>) -> Result<Expanded, Halt> {
        let before = out.len();
        let shape = self.shape_of(key);
        for agent in 0..self.memo.shapes[shape].len() {
            let at = &self.memo.shapes[shape][agent];
            if let Some(Glance { at, slot, .. }) = self.memo.glance(at, key) {
                // Mostly all that it makes lies where it is looked for.
                for (difference, via) in slot.near.iter().zip(self.memo.vias(at)).take(slot.n as usize) {
                    out.push(*via, &changed(key, difference));
                }
            } else if let Expanded::LeftToSystem = self.expand_units(key, shape, agent, out)? {
                return Ok(Expanded::LeftToSystem);
            }
        }
        if out.len() == before && !self.tracer.is_complete() {
            return Ok(Expanded::LeftToSystem);
        }
        if self.is_by_number {
            out.sort_from(before);
        }
        Ok(Expanded::Done)
    }

    /// Adds the successors that an agent makes with several units, or of which not everything was found at the first glance.
    #[inline(never)]
    fn expand_units(
        &mut self,
        key: &[u64; N],
        shape: usize,
        agent: usize,
        out: &mut impl Sink<N>,
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
            let mut push = |(difference, via): Difference<N>| {
                out.push(TransitionId(via.0 + earlier), &changed(key, &difference));
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

    #[cold]
    fn find_units(
        &mut self,
        key: &[u64; N],
        shape: usize,
        agent: usize,
        root: u32,
    ) -> std::ops::Range<usize> {
        let state = self.take_state(key);
        self.units.clear();
        self.tracer.units(state.get(0), agent, &mut self.units);
        self.give_state(key, state);
        self.memo.add_units(shape, agent, root, &self.units)
    }

    /// Has a unit expanded, and remembers what it made, which is in `differences` then.
    #[cold]
    fn make(&mut self, key: &[u64; N], agent: usize, number: usize) -> Result<Expanded, Halt> {
        self.n_new += 1;
        let n_agents = self.memo.shapes[self.codec.shape_of(key)].len() as u64;
        let is_new_to_it = self.memo.now > TRIAL && WORTH * self.n_new > self.memo.now * n_agents;
        if is_new_to_it || self.n_new.is_multiple_of(LOOK) && self.codec.values.bytes() > self.memo.room {
            return Err(Halt::Useless);
        }
        let state = self.take_state(key);
        let mut made = std::mem::take(&mut self.successors);
        made.clear();
        self.touched.clear();
        let unit = self.memo.unit(number);
        let result = self.tracer.expand(state.get(0), agent, unit, &mut self.touched, &mut made);
        let result = result.map_err(|_| Halt::Fault).and_then(|is_known| {
            let mut mask = [0; N];
            self.touched.iter().for_each(|&part| self.codec.mark(part, &mut mask));
            self.differences.clear();
            for i in 0..made.len() {
                let successor = self.pack(made.state(i))?;
                self.codec.mark_differing(key, &successor, &mut mask);
                self.differences.push((changed(key, &successor), made.via(i)));
            }
            let root = self.codec.field(self.codec.shape(self.codec.shape_of(key)).roots[agent]);
            mask[usize::from(root.word)] &= !root.mask();
            self.dependence = mask;
            self.memo.insert(number, key, &mask, is_known.map(|()| &self.differences[..]));
            Ok(if is_known.is_some() { Expanded::Done } else { Expanded::LeftToSystem })
        });
        self.give_state(key, state);
        self.successors = made;
        result
    }
}

/// Why nothing is made.
enum Halt {
    TooNarrow,
    Useless,
    /// The system will say what is wrong.
    Fault,
}

impl From<TooNarrow> for Halt {
    fn from(_: TooNarrow) -> Self {
        Self::TooNarrow
    }
}

/// Who takes successors.
trait Sink<const N: usize> {
    /// Takes one.
    fn push(&mut self, via: TransitionId, key: &[u64; N]);

    /// How many there are.
    fn len(&self) -> usize;

    /// Puts those from a number on in the order of their transitions.
    fn sort_from(&mut self, first: usize);
}

impl<const N: usize> Sink<N> for Batch<[u64; N]> {
    #[inline]
    fn push(&mut self, via: TransitionId, key: &[u64; N]) {
        self.push(via, key);
    }

    #[inline]
    fn len(&self) -> usize {
        self.len()
    }

    fn sort_from(&mut self, first: usize) {
        self.sort_from(first);
    }
}

/// The key that differs so.
#[inline(always)]
fn changed<const N: usize>(key: &[u64; N], difference: &[u64; N]) -> [u64; N] {
    let mut other = *key;
    for (word, difference) in other.iter_mut().zip(difference) {
        *word ^= difference;
    }
    other
}

impl<Y: System + ?Sized, const N: usize> System for Packed<'_, Y, N> {
    type State = [u64; N];

    fn n_transitions(&self) -> usize {
        self.system.n_transitions()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        self.system.transition_name(t)
    }

    fn initial(&self, out: &mut Batch<[u64; N]>) -> Result<(), Fault> {
        let mut states = Batch::new();
        self.system.initial(&mut states)?;
        self.pack(&states, out)
    }

    fn fire(&self, key: &[u64; N], t: TransitionId, out: &mut Batch<[u64; N]>) -> Result<bool, Fault> {
        let mut made = Batch::new();
        let fired = self.with_state(key, |state| self.system.fire(state, t, &mut made))?;
        self.pack(&made, out)?;
        Ok(fired)
    }

    #[inline]
    fn successors(&self, key: &[u64; N], out: &mut Batch<[u64; N]>) -> Result<(), Fault> {
        let before = out.len();
        let expanded = {
            let mut core = self.core.borrow_mut();
            core.memo.now += 1;
            core.expand(key, out)
        };
        if self.is_done(expanded)? {
            return Ok(());
        }
        out.truncate(before);
        self.refer(key, out)
    }

    fn bytes(&self) -> usize {
        let core = self.core.borrow();
        core.memo.bytes() + core.codec.values.bytes() + core.fine.iter().map(Fine::bytes).sum::<usize>()
    }

    fn values(&self, key: &[u64; N]) -> Vec<(String, String)> {
        self.with_state(key, |state| self.system.values(state))
    }

    fn show(&self, key: &[u64; N]) -> String {
        self.with_state(key, |state| self.system.show(state))
    }

    fn explain(&self, key: &[u64; N], t: TransitionId) -> Vec<Part> {
        self.with_state(key, |state| self.system.explain(state, t))
    }
}

impl<Y: Observed + ?Sized, const N: usize> Observed for Packed<'_, Y, N> {
    fn questions(&self) -> Vec<Question> {
        self.system.questions()
    }

    fn check(&self, key: &[u64; N]) -> Result<Option<String>, Fault> {
        self.with_state(key, |state| self.system.check(state))
    }

    fn fails_in_steps(&self) -> bool {
        self.system.fails_in_steps()
    }

    fn looks_at_found(&self) -> bool {
        self.system.looks_at_found()
    }

    fn check_found(&self, key: &[u64; N]) -> Result<Option<String>, Fault> {
        if !self.system.looks_at_found() || self.core.borrow_mut().is_fine(key) {
            return Ok(None);
        }
        self.with_state(key, |state| self.system.check_found(state))
    }

    fn check_deadlock(&self, key: &[u64; N]) -> Result<Option<String>, Fault> {
        self.with_state(key, |state| self.system.check_deadlock(state))
    }

    fn is_may_progress(&self, key: &[u64; N]) -> Result<bool, Fault> {
        self.with_state(key, |state| self.system.is_may_progress(state))
    }

    fn is_must_progress(&self, key: &[u64; N]) -> Result<bool, Fault> {
        self.with_state(key, |state| self.system.is_must_progress(state))
    }
}
