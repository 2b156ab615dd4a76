//! A look at a state: the only way in which a choice depends on a state, beyond where its processes are and which steps
//! are enabled.
//!
//! Every question and its answer is written down, so that what was chosen can be chosen again wherever the answers are
//! the same ([`memo`](super::memo)).

use super::accord::Demand;
use super::flow::Flow;
use super::population::{Population, Row};
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

    /// The answer to a question.
    pub(super) fn answer(&self, question: Question) -> i32 {
        match question {
            Question::Fact(fact) => self.is_true(fact).into(),
            Question::Met(demand) => self.is_met(demand).into(),
            Question::Row(node) => self.number_now(node) as i32,
        }
    }

    /// Whether one of the population's facts is so.
    pub(super) fn is_true(&self, fact: usize) -> bool {
        let mut notes = self.notes.borrow_mut();
        if notes.truths.len() <= fact {
            notes.truths.resize(fact + 1, None);
        }
        if let Some(truth) = notes.truths[fact] {
            return truth;
        }
        let mut population = self.population.borrow_mut();
        let truth = population.facts[fact].holds(self.network, &mut self.engine.borrow_mut(), self.state);
        notes.truths[fact] = Some(truth);
        notes.asked.push((Question::Fact(fact), truth.into()));
        truth
    }

    /// Whether a channel has room or messages as demanded.
    pub(super) fn is_met(&self, demand: Demand) -> bool {
        let is_met = self.shape.n_messages(self.state, demand.channel).is_some_and(|(kind, n)| {
            let capacity = self.network.channels[kind].capacity;
            if demand.is_room { n + demand.count <= capacity } else { n >= demand.count }
        });
        self.note(Question::Met(demand), is_met.into());
        is_met
    }

    fn note(&self, question: Question, answer: i32) {
        let mut notes = self.notes.borrow_mut();
        if !notes.asked.iter().any(|&(known, _)| known == question) {
            notes.asked.push((question, answer));
        }
    }

    fn number_now(&self, node: usize) -> usize {
        let mut population = self.population.borrow_mut();
        let number = population.number_now(self.network, self.flow, self.state, self.shape, node);
        self.note(Question::Row(node), number as i32);
        number
    }

    /// What a node requires as long as its process stays where it is.
    pub(super) fn row_now(&self, node: usize) -> Rc<Row> {
        if !self.population.borrow().is_selective(node) {
            return self.population.borrow_mut().static_row(node);
        }
        let number = self.number_now(node);
        self.population.borrow().row_now(node, number)
    }
}
