//! A look at a state: the only way in which a choice depends on a state, beyond where its processes are and which steps
//! are enabled.
//!
//! Every question and its answer is written down, so that what was chosen can be chosen again wherever the answers are
//! the same ([`memo`](super::memo)).

use super::accord::Demand;
use super::flow::Flow;
use super::population::Population;
use super::rows::Row;
use super::shape::Shape;
use std::cell::RefCell;
use std::rc::Rc;
use stubborn_network::{Engine, Network};

/// Something that the rules ask of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether one of the population's facts is so.
    Fact(usize),
    /// Whether a channel is as demanded.
    Met(Demand),
    /// Which of its different rows a node has now.
    Row(usize),
}

/// What is kept from look to look, so that nothing is allocated.
#[derive(Debug, Default)]
pub(super) struct Notes {
    truths: Vec<Option<bool>>,
    /// What was asked, in the order in which it was asked first.
    pub(super) asked: Vec<(Question, i32)>,
}

/// A state that is looked at.
pub(super) struct Look<'a, 'n> {
    network: &'n Network,
    pub(super) flow: &'a Flow,
    state: &'a [u8],
    shape: &'a Shape,
    engine: RefCell<&'a mut Engine<'n>>,
    pub(super) population: RefCell<&'a mut Population>,
    notes: RefCell<&'a mut Notes>,
}

impl<'a, 'n> Look<'a, 'n> {
    /// `shape` is that of the state.
    pub(super) fn new(
        (network, flow): (&'n Network, &'a Flow),
        (state, shape): (&'a [u8], &'a Shape),
        engine: &'a mut Engine<'n>,
        population: &'a mut Population,
        notes: &'a mut Notes,
    ) -> Self {
        notes.truths.clear();
        notes.asked.clear();
        engine.look_at(state);
        let (engine, population) = (RefCell::new(engine), RefCell::new(population));
        Self { network, flow, state, shape, engine, population, notes: RefCell::new(notes) }
    }

    /// The answer to a question, without a note.
    #[inline]
    pub(super) fn answer(&self, question: Question) -> i32 {
        let mut population = self.population.borrow_mut();
        match question {
            Question::Fact(fact) => {
                let mut engine = self.engine.borrow_mut();
                population.facts[fact].holds(self.network, &mut engine, self.state).into()
            }
            Question::Met(demand) => {
                let messages = self.shape.n_messages(self.state, demand.channel);
                let is_met = messages.is_some_and(|(kind, n)| {
                    let capacity = self.network.channels[kind].capacity;
                    if demand.is_room { n + demand.count <= capacity } else { n >= demand.count }
                });
                is_met.into()
            }
            Question::Row(node) => {
                population.number_now(self.network, self.flow, self.state, self.shape, node) as i32
            }
        }
    }

    /// Whether one of the population's facts is so.
    pub(super) fn is_true(&self, fact: usize) -> bool {
        let known = self.notes.borrow().truths.get(fact).copied().flatten();
        known.unwrap_or_else(|| {
            let truth = self.ask(Question::Fact(fact)) != 0;
            let truths = &mut self.notes.borrow_mut().truths;
            if truths.len() <= fact {
                truths.resize(fact + 1, None);
            }
            truths[fact] = Some(truth);
            truth
        })
    }

    /// Whether a channel has room or messages as demanded.
    pub(super) fn is_met(&self, demand: Demand) -> bool {
        self.ask(Question::Met(demand)) != 0
    }

    /// What a node requires as long as its process stays where it is.
    pub(super) fn row_now(&self, node: usize) -> Rc<Row> {
        if !self.population.borrow().is_selective(node) {
            return self.population.borrow_mut().static_row(node);
        }
        let number = self.ask(Question::Row(node)) as usize;
        self.population.borrow().row_now(node, number)
    }

    fn ask(&self, question: Question) -> i32 {
        let answer = self.answer(question);
        let mut notes = self.notes.borrow_mut();
        if !notes.asked.iter().any(|&(known, _)| known == question) {
            notes.asked.push((question, answer));
        }
        answer
    }
}
