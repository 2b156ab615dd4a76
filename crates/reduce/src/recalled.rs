//! Rules as a key recalls them.
//!
//! **Implements** [`Rules`] for one state behind a key: what is required of a node, and whether it is enabled, is remembered by the parts of the key that it depends on, so an algorithm over rules
//! runs without a look at the state. The questions that it asks, and the answers, are noted in order.
//! **Preserves** what the rules say. A state of this system means nothing: there is only the one.
//! **Checked by** `oracle/tests/all/told.rs`.

use crate::Shown;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::Range;
use stubborn_system::{Batch, Fault, Requirements, Rules, System, TransitionId};

/// What is asked of states. Questions below the number of nodes are about the first place that is looked at to find out about a node.
#[derive(Default)]
pub(crate) struct Questions {
    /// The others: about which node they are. And what follows for a node from what is found at the first place.
    nodes: Vec<TransitionId>,
    firsts: FxHashMap<(TransitionId, i32), First>,
    /// What was said of nodes, each once, by its number.
    said: Vec<Said>,
    numbers: FxHashMap<Box<[u32]>, i32>,
    /// What was asked of the state at hand, and answered, in order; and by node, what is said of it, if it was asked.
    pub(crate) asked: Vec<(u32, i32)>,
    answers: Vec<Option<i32>>,
    /// Room to work in.
    required: Requirements,
    places: Vec<Range<usize>>,
    words: Vec<u32>,
}

/// What follows from what is found at the first place.
#[derive(Clone, Copy)]
enum First {
    /// Everything.
    Said(i32),
    /// What else to ask.
    Question(u32),
}

/// What is said of a node.
struct Said {
    is_enabled: bool,
    /// For each alternative: below which number all are in it, how many others, and these.
    required: Box<[u32]>,
}

/// It is not known what answers depend on.
fn untold() -> Fault {
    Fault::Broken("the rules do not tell what they look at".into())
}

impl Questions {
    /// What is said of a node in the state.
    fn said<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        node: TransitionId,
        state: &mut dyn Shown<Y::State>,
    ) -> Result<i32, Fault> {
        if let Some(Some(known)) = self.answers.get(node.index()) {
            return Ok(*known);
        }
        let first = self.ask(system, node, node.0, state)?;
        let then = match self.firsts.get(&(node, first)) {
            Some(&known) => known,
            None => self.follow(system, node, first, state)?,
        };
        let said = match then {
            First::Said(said) => said,
            First::Question(question) => self.ask(system, node, question, state)?,
        };
        if self.answers.is_empty() {
            self.answers.resize(system.n_nodes(), None);
        }
        self.answers[node.index()] = Some(said);
        Ok(said)
    }

    /// The answer to a question about a node, which is noted.
    fn ask<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        node: TransitionId,
        question: u32,
        state: &mut dyn Shown<Y::State>,
    ) -> Result<i32, Fault> {
        let is_first = question == node.0;
        let mut wrong = None;
        let answer = state.recall(question as usize, &mut |state, places| {
            let first = match self.tell(system, node, state) {
                Ok(first) => first,
                Err(fault) => {
                    wrong = Some(fault);
                    return (0, false);
                }
            };
            if is_first {
                self.places.truncate(1);
            }
            if let Some(places) = places {
                places.append(&mut self.places);
            }
            (if is_first { first as i32 } else { self.number() }, true)
        });
        if let Some(fault) = wrong {
            return Err(fault);
        }
        self.asked.push((question, answer));
        Ok(answer)
    }

    /// Has the system tell about a node: what was found at the first place. Then `words` have what is said, and `places` what was looked at.
    fn tell<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        node: TransitionId,
        state: &Y::State,
    ) -> Result<u32, Fault> {
        self.required.clear();
        self.places.clear();
        let told = system.tell(state, node, &mut self.required, &mut self.places)?.ok_or_else(untold)?;
        self.words.clear();
        self.words.push(told.is_enabled.into());
        for i in 0..self.required.n_alternatives() {
            let alternative = self.required.alternative(i);
            self.words.extend([alternative.below, alternative.nodes.len() as u32]);
            self.words.extend(alternative.nodes.iter().map(|t| t.0));
        }
        Ok(told.first)
    }

    /// The number of what was told at last.
    fn number(&mut self) -> i32 {
        if let Some(&known) = self.numbers.get(&self.words[..]) {
            return known;
        }
        let number = self.said.len() as i32;
        self.said.push(Said { is_enabled: self.words[0] != 0, required: self.words[1..].into() });
        self.numbers.insert(self.words.clone().into_boxed_slice(), number);
        number
    }

    /// What follows for a node from what is found at its first place.
    #[cold]
    fn follow<Y: Rules + ?Sized>(
        &mut self,
        system: &Y,
        node: TransitionId,
        first: i32,
        state: &mut dyn Shown<Y::State>,
    ) -> Result<First, Fault> {
        let mut told = Ok(0);
        state.show(&mut |state| told = self.tell(system, node, state));
        told?;
        let looks_at_more = self.places.iter().any(|place| *place != self.places[0]);
        let then = if looks_at_more {
            self.nodes.push(node);
            First::Question((system.n_nodes() + self.nodes.len() - 1) as u32)
        } else {
            First::Said(self.number())
        };
        self.firsts.insert((node, first), then);
        Ok(then)
    }

    pub(crate) fn bytes(&self) -> usize {
        // What is required is a list of some nodes.
        self.firsts.len() * 32 + self.said.len() * 128
    }
}

/// The rules in one state.
pub(crate) struct Recalled<'c, Y: System + ?Sized> {
    system: &'c Y,
    at: RefCell<At<'c, Y::State>>,
}

struct At<'c, S: ?Sized> {
    state: &'c mut dyn Shown<S>,
    questions: &'c mut Questions,
}

impl<'c, Y: Rules + ?Sized> Recalled<'c, Y> {
    /// Of nothing has been asked yet.
    pub(crate) fn new(
        system: &'c Y,
        state: &'c mut dyn Shown<Y::State>,
        questions: &'c mut Questions,
    ) -> Self {
        questions.asked.clear();
        questions.answers.fill(None);
        Self { system, at: RefCell::new(At { state, questions }) }
    }

    /// Looks at what is said of a node.
    fn look<R>(&self, t: TransitionId, look: impl FnOnce(&Said) -> R) -> Result<R, Fault> {
        let At { state, questions } = &mut *self.at.borrow_mut();
        let said = questions.said(self.system, t, &mut **state)?;
        Ok(look(&questions.said[said as usize]))
    }
}

impl<Y: Rules + ?Sized> System for Recalled<'_, Y> {
    type State = [u64; 1];

    fn n_transitions(&self) -> usize {
        self.system.n_transitions()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        self.system.transition_name(t)
    }

    fn initial(&self, out: &mut Batch<[u64; 1]>) -> Result<(), Fault> {
        out.push(TransitionId(0), &[0]);
        Ok(())
    }

    fn fire(&self, state: &[u64; 1], t: TransitionId, out: &mut Batch<[u64; 1]>) -> Result<bool, Fault> {
        let is_enabled = self.look(t, |said| said.is_enabled)?;
        if is_enabled {
            out.push(t, state);
        }
        Ok(is_enabled)
    }

    fn values(&self, _: &[u64; 1]) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl<Y: Rules + ?Sized> Rules for Recalled<'_, Y> {
    fn n_nodes(&self) -> usize {
        self.system.n_nodes()
    }

    fn require(&self, _: &[u64; 1], t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        self.look(t, |said| {
            let mut rest = &said.required[..];
            while let [below, n, others @ ..] = rest {
                out.add_all(*below as usize);
                let (nodes, others) = others.split_at(*n as usize);
                nodes.iter().for_each(|&node| out.add(TransitionId(node)));
                rest = others;
                if !rest.is_empty() {
                    out.or();
                }
            }
        })
    }
}
