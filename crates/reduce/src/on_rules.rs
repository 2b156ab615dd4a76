//! Stubborn sets by the rules of a system, and a memory of them for states behind keys.
//!
//! **Implements** nothing of its own but the memory: an algorithm over the rules chooses, and what it does is a function of what the rules say of the nodes that it asks about, and of whether these are
//! enabled, in the order in which it asks. That is a tree of questions ([`Trees`]), and a system that tells what its answers depend on ([`Rules::tell`]) lets a key give them, so that
//! neither the state is looked at nor the algorithm run where the same was answered before; and where it was not, the algorithm runs on the answers. To each node there are two questions: what is found at the first place
//! that is looked at, such as where a process is, and what is required there, if anything else is looked at; for on the first depends what that is.
//! **Preserves** what the algorithm does, and which successors come in which order.
//! **Differs from** `network/memo.rs` in that what is asked about are rules and not tables, so it serves any system that tells.
//! **Checked by** `oracle/tests/all/told.rs`: what is chosen on keys is what the algorithm chooses on states, for random models and those of the gallery; a system that does not tell all that it looks at is found out. New choices are
//! held against the definition now and then.

use crate::check::Sampler;
use crate::recalled::{Questions, Recalled};
use crate::{
    CheckDepth, Closure, Deletion, Explored, Full, Preserves, Reduction, ReductionKind, Root, Shown, Sieve,
    Sieves, Smaller, StrongComponents, Trees,
};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use stubborn_system::{Batch, Fault, Rules, Shared, System, TransitionId, Vector, Whole};

/// Memory that choices may take, in bytes; and the part of all memory.
const ROOM: usize = 1 << 26;
const PART: usize = 16;

/// New choices after which it is judged whether they come again, each time that there are twice as many; and how often a new one must come again so that it pays to remember it.
const TRIAL: u64 = 1 << 13;
const OFTEN: u64 = 16;

/// The work of asking about a node, in steps of processes that are compared.
const WORK: u64 = 2;

/// Transitions whose numbers are bits of a word.
const FEW: usize = 64;

/// Sets that an algorithm chooses over the rules of a system.
pub struct OnRules<'y, Y: System + ?Sized> {
    system: &'y Y,
    algorithm: Algorithm<Y::State>,
    check: Option<CheckDepth>,
    sampler: Option<Sampler>,
    choices: Choices,
    /// Where what is fired in the state at hand is among its successors: in the order in which the algorithm fires it.
    order: Vec<u32>,
    kept: FixedBitSet,
}

/// An algorithm over rules, with room to work in.
enum Algorithm<S: Vector + ?Sized> {
    Full(Full),
    Closure(Closure),
    StrongComponents(Box<StrongComponents>),
    Deletion(Box<Deletion<S>>),
    Smaller(Box<Smaller<StrongComponents, Deletion<S>, S>>),
}

impl<S: Vector + ?Sized> Algorithm<S> {
    fn new(kind: ReductionKind) -> Self {
        match kind {
            ReductionKind::None
            | ReductionKind::Ample
            | ReductionKind::Persistent1
            | ReductionKind::Persistent2
            | ReductionKind::Persistent3
            | ReductionKind::UpSets => Self::Full(Full),
            ReductionKind::Closure => Self::Closure(Closure::default()),
            ReductionKind::StrongComponents => Self::StrongComponents(Box::default()),
            ReductionKind::Deletion => Self::Deletion(Box::default()),
            ReductionKind::Smaller => {
                Self::Smaller(Box::new(Smaller::new(StrongComponents::default(), Deletion::default())))
            }
        }
    }

    fn of<Y: Rules<State = S> + ?Sized>(&mut self) -> &mut dyn Reduction<Y> {
        match self {
            Self::Full(full) => full,
            Self::Closure(closure) => closure,
            Self::StrongComponents(components) => &mut **components,
            Self::Deletion(deletion) => &mut **deletion,
            Self::Smaller(smaller) => &mut **smaller,
        }
    }
}

/// What was chosen so far.
struct Choices {
    kind: ReductionKind,
    /// The algorithm that runs on answers.
    algorithm: Algorithm<[u64; 1]>,
    fired: Batch<[u64; 1]>,
    root: Option<Root>,
    trees: Trees,
    /// What was fired, each once.
    found: Vec<Fired>,
    numbers: FxHashMap<Box<[TransitionId]>, u32>,
    questions: Questions,
    n_found: u64,
    n_new: u64,
    trial: Trial,
    /// Nodes that were asked about for new ones.
    n_asked: u64,
    room: usize,
    /// Whether choices do not come again, or it is not known what they depend on.
    is_off: bool,
}

/// How many choices were found again while the number of new ones doubled the last time, and until then.
#[derive(Clone, Copy, Default)]
struct Trial {
    lately: u64,
    before: u64,
}

impl Trial {
    /// Whether to go on remembering: choices come again, or do so more and more often.
    fn goes_on(&mut self, n_found: u64, n_new: u64) -> bool {
        let lately = n_found - self.before;
        let earlier = std::mem::replace(self, Self { lately, before: n_found }).lately;
        // Of half as many new ones.
        let is_rising = lately >= n_new / 2 && 2 * lately >= 5 * earlier;
        n_new < TRIAL || lately >= OFTEN * n_new / 2 || is_rising
    }
}

/// What was fired in a state.
struct Fired {
    /// In this order.
    vias: Box<[TransitionId]>,
    /// The same as bits, if there are few transitions.
    bits: u64,
}

impl Choices {
    fn new(kind: ReductionKind) -> Self {
        Self {
            kind,
            algorithm: Algorithm::new(kind),
            fired: Batch::new(),
            root: None,
            trees: Trees::default(),
            found: Vec::new(),
            numbers: FxHashMap::default(),
            questions: Questions::default(),
            n_found: 0,
            n_new: 0,
            trial: Trial::default(),
            n_asked: 0,
            room: ROOM,
            is_off: false,
        }
    }

    /// What was chosen where the answers were the same, if that is known without a look at the state.
    #[inline]
    fn find<S: ?Sized>(&mut self, state: &dyn Shown<S>) -> Option<u32> {
        let found = self.root.and_then(|root| state.walk(&self.trees, root));
        self.n_found += u64::from(found.is_some());
        found
    }

    /// What is chosen by answers; `None` if they cannot be had.
    #[cold]
    fn choose<Y: Rules + ?Sized>(&mut self, system: &Y, state: &mut dyn Shown<Y::State>) -> Option<u32> {
        self.fired.clear();
        let recalled = Recalled::new(system, state, &mut self.questions);
        // If rules are at fault, whoever looks at the state will say so.
        self.algorithm.of().expand(&recalled, &[0], &mut self.fired).ok()?;
        self.n_new += 1;
        self.n_asked += self.questions.asked.len() as u64;
        if self.n_new.is_power_of_two() && !self.trial.goes_on(self.n_found, self.n_new) {
            self.give_up();
            return None;
        }
        let found = self.number();
        if self.bytes() <= self.room {
            let root = self.trees.insert(self.root, self.questions.asked.iter().copied(), found);
            self.root = self.root.or(root);
        }
        Some(found)
    }

    /// The number of what was fired at last.
    fn number(&mut self) -> u32 {
        let fired = self.fired.vias();
        if let Some(&known) = self.numbers.get(fired) {
            return known;
        }
        let bits = fired.iter().filter(|t| t.index() < FEW).fold(0, |bits, t| bits | 1 << t.0);
        self.found.push(Fired { vias: fired.into(), bits });
        self.numbers.insert(fired.into(), self.found.len() as u32 - 1);
        self.found.len() as u32 - 1
    }

    /// Keys are of no use any more.
    fn give_up(&mut self) {
        *self = Self { is_off: true, n_asked: self.n_asked, ..Self::new(self.kind) };
    }

    fn bytes(&self) -> usize {
        self.trees.bytes() + self.questions.bytes() + self.found.len() * 2 * size_of::<Fired>()
    }
}

impl<'y, Y: Whole + ?Sized> OnRules<'y, Y> {
    /// Chooses by the rules of a system, and holds what is chosen against the definition as often as is said.
    pub fn new(system: &'y Y, kind: ReductionKind, check: Option<CheckDepth>) -> Self {
        Self {
            system,
            algorithm: Algorithm::new(kind),
            check,
            sampler: check.map(Sampler::new),
            choices: Choices::new(kind),
            order: Vec::new(),
            kept: FixedBitSet::new(),
        }
    }

    /// Whether nothing is ever left out.
    fn is_full(&self) -> bool {
        matches!(self.algorithm, Algorithm::Full(_))
    }

    /// What is fired in a state; `None` if that is not known without looking at it.
    #[inline]
    fn choose(&mut self, state: &mut dyn Shown<Y::State>) -> Result<Option<u32>, Fault> {
        match self.choices.find(state) {
            Some(found) => Ok(Some(found)),
            None => self.choose_anew(state),
        }
    }

    #[cold]
    fn choose_anew(&mut self, state: &mut dyn Shown<Y::State>) -> Result<Option<u32>, Fault> {
        if self.choices.is_off {
            return Ok(None);
        }
        let found = self.choices.choose(self.system, state);
        if let (Some(found), Some(_)) = (found, &self.sampler) {
            let has_fired = !self.choices.found[found as usize].vias.is_empty();
            let mut checked = Ok(());
            state.show(&mut |state| checked = self.hold_against_definition(state, has_fired));
            checked?;
        }
        Ok(found)
    }

    /// Holds what is chosen against the definition now and then.
    fn hold_against_definition(&mut self, state: &Y::State, has_fired: bool) -> Result<(), Fault> {
        let Self { system, algorithm, sampler, .. } = self;
        let Some(sampler) = sampler else { return Ok(()) };
        sampler.check(*system, state, has_fired, |set| algorithm.of().stubborn_set(*system, state, set))
    }

    /// Finds the places of what is fired among the successors; whether all of it is there.
    fn put_in_order(
        &mut self,
        made: impl ExactSizeIterator<Item = TransitionId> + Clone,
        found: u32,
    ) -> bool {
        self.order.clear();
        let Some(fired) = self.choices.found.get(found as usize) else { return false };
        for t in &fired.vias {
            let place = made.clone().position(|via| via == *t);
            self.order.extend(place.map(|place| place as u32));
        }
        self.order.len() == fired.vias.len()
    }
}

impl<Y: Whole + ?Sized> Reduction<Y> for OnRules<'_, Y> {
    fn name(&self) -> String {
        if self.is_full() { ReductionKind::None } else { self.choices.kind }.word().into()
    }

    fn preserves(&self) -> Preserves {
        if self.is_full() { Preserves::Everything } else { Preserves::Basic }
    }

    fn expand(&mut self, _: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        let before = out.len();
        self.choices.n_asked += self.system.n_nodes() as u64;
        self.algorithm.of().expand(self.system, state, out)?;
        if self.is_full() { Ok(()) } else { self.hold_against_definition(state, out.len() > before) }
    }

    fn can_sift(&self) -> bool {
        // Sets that are to be checked in every state are chosen there.
        let is_wanted = self.check != Some(CheckDepth::Everything);
        is_wanted && !self.choices.is_off && !self.is_full() && self.system.tells()
    }

    fn within(&mut self, limit: usize) {
        self.choices.room = ROOM.min(limit / PART);
    }

    fn bytes(&self) -> usize {
        self.choices.bytes()
    }

    fn work(&self) -> u64 {
        WORK * self.choices.n_asked
    }

    fn sift(
        &mut self,
        made: &[(TransitionId, u64)],
        state: &mut dyn Shown<Y::State>,
        kept: &mut FixedBitSet,
    ) -> Result<Option<()>, Fault> {
        if !Reduction::<Y>::can_sift(self) {
            return Ok(None);
        }
        let Some(found) = self.choose(state)? else { return Ok(None) };
        if !self.put_in_order(made.iter().map(|&(via, _)| via), found) {
            return Ok(None);
        }
        kept.clear();
        self.order.iter().for_each(|&place| kept.insert(place as usize));
        Ok(Some(()))
    }

    fn order(&self) -> Option<&[u32]> {
        Some(&self.order)
    }

    fn begin_again(&mut self) {
        self.choices.n_asked = 0;
    }

    fn sieve(&mut self) -> Option<&mut dyn Sieve<Y::State>> {
        self.choices.n_asked = 0;
        if Reduction::<Y>::can_sift(self) { Some(self) } else { None }
    }

    fn sieves(&self) -> Option<Box<dyn Sieves<Y::State> + '_>> {
        if !Reduction::<Y>::can_sift(self) {
            return None;
        }
        let shared = self.system.shared()?;
        Some(Box::new(Elsewhere { shared, kind: self.choices.kind, room: self.choices.room }))
    }

    fn stubborn_set(&mut self, _: &Y, state: &Y::State, out: &mut Vec<TransitionId>) -> Result<(), Fault> {
        self.algorithm.of().stubborn_set(self.system, state, out)
    }
}

impl<Y: Whole + ?Sized> Sieve<Y::State> for OnRules<'_, Y> {
    fn sift(
        &mut self,
        made: &[TransitionId],
        state: &mut dyn Shown<Y::State>,
    ) -> Result<Option<Explored<'_>>, Fault> {
        let Some(found) = self.choose(state)? else { return Ok(None) };
        let Some(fired) = self.choices.found.get(found as usize) else { return Ok(None) };
        if fired.vias.len() == made.len() {
            return Ok(Some(Explored::Everything));
        }
        if self.system.n_transitions() <= FEW && made.len() <= FEW {
            let bit = |(i, via): (usize, &TransitionId)| (fired.bits >> via.0 & 1) << i;
            let bits = made.iter().enumerate().map(bit).fold(0, |bits, bit| bits | bit);
            // It is, unless rules do not tell all that they look at.
            let is_complete = bits.count_ones() as usize == fired.vias.len();
            return Ok(is_complete.then_some(Explored::Bits(bits)));
        }
        if !self.put_in_order(made.iter().copied(), found) {
            return Ok(None);
        }
        self.kept.clear();
        self.kept.grow(made.len());
        self.order.iter().for_each(|&place| self.kept.insert(place as usize));
        Ok(Some(Explored::Set(&self.kept)))
    }

    /// How many states there are should not depend on whether edges are kept.
    fn may_repair(&self) -> bool {
        false
    }

    fn bytes(&self) -> usize {
        self.choices.bytes()
    }

    fn work(&self) -> u64 {
        WORK * self.choices.n_asked
    }
}

/// What it takes to choose the same in another thread.
struct Elsewhere<'y, S: ?Sized> {
    shared: Box<dyn Shared<S> + 'y>,
    kind: ReductionKind,
    room: usize,
}

impl<S: Vector + ?Sized> Sieves<S> for Elsewhere<'_, S> {
    fn lend(&self, work: &mut dyn FnMut(&mut dyn Sieve<S>)) {
        self.shared.lend(&mut |system| {
            let mut reduction = OnRules::new(system, self.kind, None);
            reduction.choices.room = self.room;
            work(&mut reduction);
        });
    }
}
