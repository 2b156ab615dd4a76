//! Stubborn sets by the rules of a system, and a memory of them for states behind keys.
//!
//! **Implements** nothing of its own but the memory: an algorithm over the rules chooses, and what it does is a function of what the rules say of the nodes that it asks about, and of whether these are
//! enabled, in the order in which it asks. That is a tree of questions ([`Trees`]), and a system that tells what its answers depend on ([`Rules::tell`]) lets a key give them, so that
//! neither the state is looked at nor the algorithm run where a choice was made before. To each node there are two questions: what is found at the first place that is looked at, such as where a process is, and what
//! is required there, if anything else is looked at; for on the first depends what that is.
//! **Preserves** what the algorithm does, and which successors come in which order.
//! **Differs from** `network/memo.rs` in that what is asked about are rules and not tables, so it serves any system that tells.
//! **Checked by** `oracle/tests/all/told.rs`: what is chosen on keys is what the algorithm chooses, for random models and those of the gallery; a system that does not tell all that it looks at is found out. New choices are
//! held against the definition now and then.

use crate::check::Sampler;
use crate::noting::Noting;
use crate::{
    CheckDepth, Closure, Deletion, Explored, Full, Preserves, Reduction, ReductionKind, Root, Shown, Sieve,
    Sieves, Smaller, StrongComponents, Trees,
};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::ops::Range;
use stubborn_system::{Batch, Fault, Requirements, Rules, Shared, System, TransitionId, Whole};

/// Memory that choices may take, in bytes; and the part of all memory.
const ROOM: usize = 1 << 26;
const PART: usize = 16;

/// New choices after which it is judged whether they come again.
const TRIAL: u64 = 1 << 13;

/// Transitions whose numbers are bits of a word.
const FEW: usize = 64;

/// Sets that an algorithm chooses over the rules of a system.
pub struct OnRules<'y, Y: System + ?Sized> {
    system: Noting<'y, Y>,
    kind: ReductionKind,
    algorithm: Box<dyn Reduction<Noting<'y, Y>> + 'y>,
    check: Option<CheckDepth>,
    sampler: Option<Sampler>,
    choices: Choices,
    /// What is fired in the state at hand, and where that is among its successors: in the order in which the algorithm fires it.
    fired: Batch<Y::State>,
    order: Vec<u32>,
    kept: FixedBitSet,
}

/// What was chosen so far.
#[derive(Default)]
struct Choices {
    root: Option<Root>,
    trees: Trees,
    /// What was fired, each once.
    found: Vec<Fired>,
    numbers: FxHashMap<Box<[TransitionId]>, u32>,
    questions: Questions,
    n_found: u64,
    n_new: u64,
    /// Nodes that were asked about for new ones.
    n_asked: u64,
    room: Option<usize>,
    /// Whether choices do not come again, or it is not known what they depend on.
    is_off: bool,
}

/// What was fired in a state.
struct Fired {
    /// In this order.
    vias: Box<[TransitionId]>,
    /// The same as bits, if there are few transitions.
    bits: u64,
}

/// What is asked of a state. Questions below the number of nodes are about the first place that is looked at to find out about a node.
#[derive(Default)]
struct Questions {
    /// The others: about which node they are; and by node and what was found at that place, if anything else is looked at then.
    nodes: Vec<TransitionId>,
    numbers: FxHashMap<(TransitionId, i32), Option<u32>>,
    /// What was required, each once, and whether the node was enabled.
    answers: FxHashMap<Box<[u32]>, i32>,
    /// Room to work in.
    required: Requirements,
    places: Vec<Range<usize>>,
    words: Vec<u32>,
}

impl Questions {
    /// The answer to a question; `None` if the system does not say what it depends on.
    fn ask<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        question: u32,
        state: &mut dyn Shown<Y::State>,
    ) -> Result<Option<i32>, Fault> {
        let n_nodes = system.n_nodes();
        let is_first = (question as usize) < n_nodes;
        let node = if is_first { TransitionId(question) } else { self.nodes[question as usize - n_nodes] };
        let mut wrong = Ok(Some(()));
        let answer = state.recall(question as usize, &mut |state, places| {
            self.required.clear();
            self.places.clear();
            let told = match system.tell(state, node, &mut self.required, &mut self.places) {
                Ok(Some(told)) => told,
                other => {
                    wrong = other.map(|_| None);
                    return (0, false);
                }
            };
            if is_first {
                self.places.truncate(1);
            }
            if let Some(places) = places {
                places.append(&mut self.places);
            }
            (if is_first { told.first as i32 } else { self.number(told.is_enabled) }, true)
        });
        wrong.map(|known| known.map(|()| answer))
    }

    /// The number of what is required at last.
    fn number(&mut self, is_enabled: bool) -> i32 {
        self.words.clear();
        self.words.push(is_enabled.into());
        for i in 0..self.required.n_alternatives() {
            let alternative = self.required.alternative(i);
            self.words.extend([alternative.below, alternative.nodes.len() as u32]);
            self.words.extend(alternative.nodes.iter().map(|t| t.0));
        }
        if let Some(&known) = self.answers.get(&self.words[..]) {
            return known;
        }
        let number = self.answers.len() as i32;
        self.answers.insert(self.words.clone().into_boxed_slice(), number);
        number
    }

    /// The question what is required of a node where this is found at the first place; `None` if that says so already.
    fn question<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        node: TransitionId,
        first: i32,
        state: &Y::State,
    ) -> Result<Option<u32>, Fault> {
        if let Some(&known) = self.numbers.get(&(node, first)) {
            return Ok(known);
        }
        self.required.clear();
        self.places.clear();
        system.tell(state, node, &mut self.required, &mut self.places)?;
        let looks_at_more = self.places.iter().any(|place| *place != self.places[0]);
        let question = looks_at_more.then(|| {
            self.nodes.push(node);
            (system.n_nodes() + self.nodes.len() - 1) as u32
        });
        self.numbers.insert((node, first), question);
        Ok(question)
    }

    fn bytes(&self) -> usize {
        // What is required is a list of some nodes.
        self.nodes.len() * 64 + self.answers.len() * 128
    }
}

impl Choices {
    fn bytes(&self) -> usize {
        self.trees.bytes() + self.questions.bytes() + self.found.len() * 2 * size_of::<Fired>()
    }

    fn room(&self) -> usize {
        self.room.map_or(ROOM, |room| room.min(ROOM))
    }

    fn number(&mut self, fired: &[TransitionId]) -> u32 {
        if let Some(&known) = self.numbers.get(fired) {
            return known;
        }
        let bits = fired.iter().filter(|t| t.index() < FEW).fold(0, |bits, t| bits | 1 << t.0);
        self.found.push(Fired { vias: fired.into(), bits });
        self.numbers.insert(fired.into(), self.found.len() as u32 - 1);
        self.found.len() as u32 - 1
    }
}

impl<'y, Y: Whole + ?Sized> OnRules<'y, Y> {
    /// Chooses by the rules of a system, and holds what is chosen against the definition as often as is said.
    pub fn new(system: &'y Y, kind: ReductionKind, check: Option<CheckDepth>) -> Self {
        Self {
            system: Noting::new(system),
            kind,
            algorithm: algorithm(kind),
            check,
            sampler: check.map(Sampler::new),
            choices: Choices::default(),
            fired: Batch::new(),
            order: Vec::new(),
            kept: FixedBitSet::new(),
        }
    }

    /// What is fired in a state; `None` if that is not known without looking at it.
    #[inline]
    fn choose(&mut self, state: &mut dyn Shown<Y::State>) -> Result<Option<u32>, Fault> {
        let Choices { root, trees, n_found, is_off, .. } = &mut self.choices;
        if *is_off {
            return Ok(None);
        }
        if let Some(found) = root.and_then(|root| state.walk(trees, root)) {
            *n_found += 1;
            return Ok(Some(found));
        }
        self.choose_anew(state)
    }

    #[cold]
    fn choose_anew(&mut self, state: &mut dyn Shown<Y::State>) -> Result<Option<u32>, Fault> {
        let mut chosen = Ok(Vec::new());
        state.show(&mut |state| chosen = self.fire(state));
        let asked = chosen?;
        let Self { system, choices, fired, .. } = self;
        let (mut answers, n_asked) = (Vec::new(), asked.len() as u64);
        for node in asked {
            let mut question = Ok(Some(node.0));
            while let Some(number) = question? {
                let Some(answer) = choices.questions.ask(system.system, number, state)? else {
                    choices.is_off = true;
                    return Ok(None);
                };
                answers.push((number, answer));
                question = Ok(None);
                if number == node.0 {
                    let questions = &mut choices.questions;
                    state
                        .show(&mut |state| question = questions.question(system.system, node, answer, state));
                }
            }
        }
        choices.n_new += 1;
        choices.n_asked += n_asked;
        let found = choices.number(fired.vias());
        if choices.n_new >= TRIAL && choices.n_found < choices.n_new {
            *choices = Choices { is_off: true, n_asked: choices.n_asked, ..Choices::default() };
            return Ok(None);
        }
        if choices.bytes() <= choices.room() {
            let root = choices.trees.insert(choices.root, answers.into_iter(), found);
            choices.root = choices.root.or(root);
        }
        Ok(Some(found))
    }

    /// Has the algorithm fire what it chooses, and holds that against the definition now and then; the nodes that it asked about.
    fn fire(&mut self, state: &Y::State) -> Result<Vec<TransitionId>, Fault> {
        let Self { system, algorithm, fired, .. } = self;
        fired.clear();
        let asked = system.asked(|| algorithm.expand(system, state, fired))?;
        let has_fired = !fired.is_empty();
        self.hold_against_definition(state, has_fired)?;
        Ok(asked)
    }

    fn hold_against_definition(&mut self, state: &Y::State, has_fired: bool) -> Result<(), Fault> {
        let Self { system, algorithm, sampler, .. } = self;
        let Some(sampler) = sampler else { return Ok(()) };
        sampler.check(system.system, state, has_fired, |set| algorithm.stubborn_set(system, state, set))
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

/// The algorithm of this name.
fn algorithm<'y, Y: Rules + ?Sized>(kind: ReductionKind) -> Box<dyn Reduction<Noting<'y, Y>> + 'y> {
    match kind {
        ReductionKind::None
        | ReductionKind::Ample
        | ReductionKind::Persistent1
        | ReductionKind::Persistent2
        | ReductionKind::Persistent3
        | ReductionKind::UpSets => Box::new(Full),
        ReductionKind::Closure => Box::new(Closure::default()),
        ReductionKind::StrongComponents => Box::new(StrongComponents::default()),
        ReductionKind::Deletion => Box::new(Deletion::default()),
        ReductionKind::Smaller => Box::new(Smaller::new(StrongComponents::default(), Deletion::default())),
    }
}

impl<Y: Whole + ?Sized> Reduction<Y> for OnRules<'_, Y> {
    fn name(&self) -> String {
        self.algorithm.name()
    }

    fn preserves(&self) -> Preserves {
        self.algorithm.preserves()
    }

    fn expand(&mut self, _: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        let before = out.len();
        self.algorithm.expand(&self.system, state, out)?;
        if self.preserves().is_reduced() {
            self.hold_against_definition(state, out.len() > before)?;
        }
        Ok(())
    }

    fn can_sift(&self) -> bool {
        // Sets that are to be checked in every state are chosen there.
        let is_wanted = self.check != Some(CheckDepth::Everything);
        is_wanted && !self.choices.is_off && self.preserves().is_reduced() && self.system.system.tells()
    }

    fn within(&mut self, limit: usize) {
        self.choices.room = Some(limit / PART);
    }

    fn bytes(&self) -> usize {
        self.choices.bytes()
    }

    fn work(&self) -> u64 {
        self.choices.n_asked
    }

    fn sift(
        &mut self,
        made: &[(TransitionId, u64)],
        state: &mut dyn Shown<Y::State>,
        kept: &mut FixedBitSet,
    ) -> Result<Option<()>, Fault> {
        if !self.can_sift() {
            return Ok(None);
        }
        let Some(found) = self.choose(state)? else { return Ok(None) };
        if !self.put_in_order(made.iter().map(|&(via, _)| via), found) {
            debug_assert!(false, "what is fired is among the successors");
            return Ok(None);
        }
        kept.clear();
        self.order.iter().for_each(|&place| kept.insert(place as usize));
        Ok(Some(()))
    }

    fn order(&self) -> Option<&[u32]> {
        Some(&self.order)
    }

    fn sieve(&mut self) -> Option<&mut dyn Sieve<Y::State>> {
        if Reduction::<Y>::can_sift(self) { Some(self) } else { None }
    }

    fn sieves(&self) -> Option<Box<dyn Sieves<Y::State> + '_>> {
        if !Reduction::<Y>::can_sift(self) {
            return None;
        }
        let shared = self.system.system.shared()?;
        Some(Box::new(Elsewhere { shared, kind: self.kind, room: self.choices.room }))
    }

    fn stubborn_set(&mut self, _: &Y, state: &Y::State, out: &mut Vec<TransitionId>) -> Result<(), Fault> {
        self.algorithm.stubborn_set(&self.system, state, out)
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
            debug_assert_eq!(bits.count_ones() as usize, fired.vias.len());
            return Ok(Some(Explored::Bits(bits)));
        }
        if !self.put_in_order(made.iter().copied(), found) {
            debug_assert!(false, "what is fired is among the successors");
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
        self.choices.n_asked
    }
}

/// What it takes to choose the same in another thread.
struct Elsewhere<'y, S: ?Sized> {
    shared: Box<dyn Shared<S> + 'y>,
    kind: ReductionKind,
    room: Option<usize>,
}

impl<S: stubborn_system::Vector + ?Sized> Sieves<S> for Elsewhere<'_, S> {
    fn lend(&self, work: &mut dyn FnMut(&mut dyn Sieve<S>)) {
        self.shared.lend(&mut |system| {
            let mut reduction = OnRules::new(system, self.kind, None);
            reduction.choices.room = self.room;
            work(&mut reduction);
        });
    }
}
