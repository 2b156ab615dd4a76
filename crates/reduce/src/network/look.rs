//! A look at a state: the only way in which a choice depends on a state, beyond which nodes are live.
//!
//! Every question and its answer is written down, so that what was chosen can be chosen again wherever the answers are
//! the same ([`memo`](super::memo)).

use super::accord::Demand;
use super::flow::Flow;
use super::nodes::WIDTH;
use super::population::Population;
use super::rows::Row;
use super::shape::Shape;
use fixedbitset::FixedBitSet;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use stubborn_network::{Engine, LocationId, Micro, Network};

/// Nodes for which tables are made, at most.
const MOST_NODES: usize = 8_192;

/// Steps of a place that one question is about.
const AT_ONCE: usize = 15;

/// Processes that one question is about.
pub(super) const PROCESSES_AT_ONCE: usize = 30;

/// Where the processes of a state are, and what they can do. Kept from state to state, so that nothing is allocated.
#[derive(Debug, Default)]
pub(super) struct Here {
    pub(super) locations: Vec<LocationId>,
    pub(super) enabled: FixedBitSet,
    pub(super) n_enabled: usize,
    /// Which of the population's sets of live nodes.
    pub(super) live: usize,
    /// Whether deletion may be tried where a closure is not small.
    pub(super) may_delete: bool,
}

impl Here {
    /// Notes where the processes of a state are and what they can do, of which the steps in `groups` are enabled. Whether there is a choice.
    pub(super) fn find_out(
        &mut self,
        groups: &[Micro],
        locations: &[LocationId],
        population: &mut Population,
    ) -> bool {
        if population.nodes.len() > MOST_NODES {
            return false;
        }
        if self.enabled.len() != population.n_nodes() {
            self.enabled = FixedBitSet::with_capacity(population.n_nodes());
        }
        self.enabled.clear();
        for micro in groups {
            self.enabled.insert(population.node(micro));
        }
        if !self.enabled.is_disjoint(&population.timeouts) {
            return false;
        }
        self.n_enabled = self.enabled.count_ones(..);
        self.locations.clear();
        self.locations.extend_from_slice(locations);
        self.live = population.find_live(locations);
        true
    }

    /// The answer to a question; `None` if the state itself must be asked.
    #[inline]
    pub(super) fn answer(&self, question: Question, population: &mut Population) -> Option<i32> {
        Some(match question {
            Question::Process(pid) => {
                let at = self.locations[pid];
                i32::from(at.0) | self.enabled_from(population.at(pid, at)) << 16
            }
            Question::Steps(first) => {
                let node = population.nodes[first];
                self.enabled_from(first..population.at(node.pid, node.location).end)
            }
            Question::Apart(first) => self.apart_from(first, population),
            Question::MayDelete => self.may_delete.into(),
            Question::MoreThan(n) => (self.n_enabled > n).into(),
            Question::Fact(_) | Question::Met(_) | Question::Row(_) => return None,
        })
    }

    /// Which of some processes are apart, bit by bit, from the youngest on; no others than one that has but one step, which is enabled: nothing is less.
    fn apart_from(&self, first: usize, population: &mut Population) -> i32 {
        let mut bits = 0;
        for pid in (first..self.locations.len().min(first + PROCESSES_AT_ONCE)).rev() {
            let at = self.locations[pid];
            if !population.is_apart(pid, at, self.live) {
                continue;
            }
            let steps = population.at(pid, at);
            if self.enabled.contains_any_in_range(steps.clone()) {
                bits |= 1 << (pid - first);
                if steps.len() == 1 {
                    break;
                }
            }
        }
        bits
    }

    /// Which of the first of these nodes are enabled.
    #[inline]
    fn enabled_from(&self, nodes: Range<usize>) -> i32 {
        let (at, shift) = (nodes.start / WIDTH, nodes.start % WIDTH);
        let mut bits = self.enabled.as_slice().get(at).map_or(0, |bits| bits >> shift);
        if shift + AT_ONCE > WIDTH {
            bits |= self.enabled.as_slice().get(at + 1).map_or(0, |bits| bits << (WIDTH - shift));
        }
        (bits & ((1 << nodes.len().min(AT_ONCE)) - 1)) as i32
    }
}

/// A state with its shape.
pub(super) struct Reader<'a, 'n> {
    pub(super) network: &'n Network,
    pub(super) flow: &'a Flow,
    pub(super) shape: &'a Shape,
    pub(super) state: &'a [u8],
}

impl<'n> Reader<'_, 'n> {
    /// The answer to a question that the state itself must be asked. The engine looks at the state already.
    pub(super) fn read(
        &self,
        question: Question,
        engine: &mut Engine<'n>,
        population: &mut Population,
    ) -> i32 {
        match question {
            Question::Fact(fact) => population.facts[fact].holds(self.network, engine, self.state).into(),
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
            _ => unreachable!("that is known without the state"),
        }
    }

    /// The same. Appends the bytes that the answer depends on, besides where segments lie; whether it has done so.
    pub(super) fn read_noting(
        &self,
        question: Question,
        engine: &mut Engine<'n>,
        population: &mut Population,
        bytes: &mut Vec<Range<usize>>,
    ) -> (i32, bool) {
        match question {
            Question::Fact(fact) => {
                let noted = population.facts[fact].holds_noting(engine, self.state, bytes);
                let answer = noted.map_or_else(|| self.read(question, engine, population), i32::from);
                return (answer, noted.is_some());
            }
            Question::Met(demand) => bytes.extend(self.shape.counter(demand.channel)),
            Question::Row(node) => population.for_each_selector(node, |pid, offset, width| {
                bytes.push(self.shape.place(pid, offset, width));
            }),
            _ => {}
        }
        (self.read(question, engine, population), true)
    }
}

/// Something that the rules ask of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// Where a process is, and which of the first steps there are enabled.
    Process(usize),
    /// Which of the steps from this one on are enabled.
    Steps(usize),
    /// Which of the processes from this one on can do something, and nothing that others may ever do concerns them.
    Apart(usize),
    /// Whether more than so many nodes are enabled.
    MoreThan(usize),
    /// Whether deletion may be tried: not a matter of the state, but it is asked where a closure is not small only.
    MayDelete,
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
    /// What is known of the facts that the population had when the look began.
    truths: Vec<Cell<Option<bool>>>,
    pub(super) answers: Answers,
}

/// What was asked.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// For each node: one more than the number of its row, if that was asked.
    rows: Vec<u32>,
    /// For each process, whether it was asked where it is.
    processes: FixedBitSet,
    /// What was asked, in the order in which it was asked first.
    pub(super) asked: Vec<(Question, i32)>,
}

impl Notes {
    /// Forgets what was asked. From now on there are so many facts and processes.
    fn clear(&mut self, n_facts: usize, n_processes: usize) {
        let Self { truths, answers } = self;
        for (question, _) in answers.asked.drain(..) {
            match question {
                Question::Fact(fact) => truths.get(fact).into_iter().for_each(|truth| truth.set(None)),
                Question::Row(node) => answers.rows[node] = 0,
                _ => {}
            }
        }
        if truths.len() < n_facts {
            truths.resize(n_facts, Cell::new(None));
        }
        answers.processes.clear();
        answers.processes.grow(n_processes);
    }
}

/// A state that is looked at.
pub(super) struct Look<'a, 'n> {
    network: &'n Network,
    pub(super) flow: &'a Flow,
    state: &'a [u8],
    shape: &'a Shape,
    pub(super) here: &'a Here,
    engine: RefCell<&'a mut Engine<'n>>,
    pub(super) population: RefCell<&'a mut Population>,
    /// What is known of facts, but for those that came up meanwhile.
    truths: &'a [Cell<Option<bool>>],
    notes: RefCell<&'a mut Answers>,
    /// The first processes that were asked where they are, bit by bit.
    asked: Cell<u64>,
    /// For the first numbers, bit by bit: whether it was asked if more nodes are enabled, and whether so it is.
    more_than: Cell<(u64, u64)>,
}

impl<'a, 'n> Look<'a, 'n> {
    /// `shape` is that of the state, `here` what is known of it.
    pub(super) fn new(
        (network, flow): (&'n Network, &'a Flow),
        (state, shape, here): (&'a [u8], &'a Shape, &'a Here),
        engine: &'a mut Engine<'n>,
        population: &'a mut Population,
        notes: &'a mut Notes,
    ) -> Self {
        notes.clear(population.facts.len(), here.locations.len());
        engine.look_at(state);
        let (engine, population) = (RefCell::new(engine), RefCell::new(population));
        Self {
            network,
            flow,
            state,
            shape,
            here,
            engine,
            population,
            truths: &notes.truths,
            notes: RefCell::new(&mut notes.answers),
            asked: Cell::new(0),
            more_than: Cell::new((0, 0)),
        }
    }

    /// The answer to a question, without a note.
    fn answer(&self, question: Question) -> i32 {
        let population = &mut self.population.borrow_mut();
        self.here.answer(question, population).unwrap_or_else(|| {
            let engine = &mut self.engine.borrow_mut();
            let reader =
                Reader { network: self.network, flow: self.flow, shape: self.shape, state: self.state };
            reader.read(question, engine, population)
        })
    }

    /// Asks where a process is and what it can do there. Whether that was not asked before.
    #[inline]
    pub(super) fn ask_about(&self, pid: usize) -> bool {
        (pid >= 64 || self.asked.get() >> pid & 1 == 0) && self.ask_first_about(pid)
    }

    #[cold]
    fn ask_first_about(&self, pid: usize) -> bool {
        if self.notes.borrow_mut().processes.put(pid) {
            return false;
        }
        self.asked.set(self.asked.get() | 1u64.checked_shl(pid as u32).unwrap_or(0));
        self.ask(Question::Process(pid));
        let steps = self.population.borrow().at(pid, self.here.locations[pid]);
        let mut first = steps.start + AT_ONCE;
        while first < steps.end {
            self.ask(Question::Steps(first));
            first += AT_ONCE;
        }
        true
    }

    /// Which of the processes from this one on can do something, and nothing that others may ever do concerns them: see [`Here::apart_from`]. Asked once.
    pub(super) fn apart_from(&self, first: usize) -> u32 {
        self.ask(Question::Apart(first)) as u32
    }

    /// Whether deletion may be tried. Asked once.
    pub(super) fn may_delete(&self) -> bool {
        self.ask(Question::MayDelete) != 0
    }

    /// Whether more than so many nodes are enabled.
    pub(super) fn are_more_than(&self, n: usize) -> bool {
        let bit = 1u64.checked_shl(n as u32).unwrap_or(0);
        let (asked, so) = self.more_than.get();
        if asked & bit != 0 {
            return so & bit != 0;
        }
        let question = Question::MoreThan(n);
        let is_so = if bit == 0 { self.ask_again(question) } else { self.ask(question) } != 0;
        self.more_than.set((asked | bit, if is_so { so | bit } else { so }));
        is_so
    }

    /// Whether one of the population's facts is so, if it was asked.
    #[inline]
    pub(super) fn known(&self, fact: usize) -> Option<bool> {
        match self.truths.get(fact) {
            Some(truth) => truth.get(),
            None => self.known_answer(Question::Fact(fact)).map(|answer| answer != 0),
        }
    }

    /// Whether one of the population's facts is so.
    #[inline]
    pub(super) fn is_true(&self, fact: usize) -> bool {
        self.known(fact).unwrap_or_else(|| {
            let truth = self.ask(Question::Fact(fact)) != 0;
            self.truths.get(fact).into_iter().for_each(|known| known.set(Some(truth)));
            truth
        })
    }

    /// Whether a channel has room or messages as demanded.
    pub(super) fn is_met(&self, demand: Demand) -> bool {
        self.ask_again(Question::Met(demand)) != 0
    }

    /// What a node requires as long as its process stays where it is.
    pub(super) fn row_now(&self, node: usize) -> Rc<Row> {
        if !self.population.borrow().is_selective(node) {
            return self.population.borrow_mut().static_row(node);
        }
        let known = self.notes.borrow().rows.get(node).map_or(0, |&number| number);
        let number = known.checked_sub(1).unwrap_or_else(|| {
            let number = self.ask(Question::Row(node)) as u32;
            let rows = &mut self.notes.borrow_mut().rows;
            if rows.len() <= node {
                rows.resize(node + 1, 0);
            }
            rows[node] = number + 1;
            number
        });
        self.population.borrow().row_now(node, number as usize)
    }

    /// Asks something that may have been asked before.
    fn ask_again(&self, question: Question) -> i32 {
        self.known_answer(question).unwrap_or_else(|| self.ask(question))
    }

    /// The answer to a question that may have been asked before.
    #[cold]
    fn known_answer(&self, question: Question) -> Option<i32> {
        self.notes.borrow().asked.iter().find(|(known, _)| *known == question).map(|&(_, answer)| answer)
    }

    /// Asks something that was not asked before.
    fn ask(&self, question: Question) -> i32 {
        let answer = self.answer(question);
        self.notes.borrow_mut().asked.push((question, answer));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_enabled_steps_of_a_place_are_told_wherever_it_lies() {
        let n_nodes = 3 * WIDTH;
        let enabled: FixedBitSet = (0..n_nodes).filter(|n| n % 3 == 0 || n % 7 == 2).collect();
        let here = Here { enabled: enabled.clone(), ..Here::default() };
        for start in 0..n_nodes {
            for end in start..n_nodes {
                let first = (start..end).take(AT_ONCE).filter(|&node| enabled.contains(node));
                let expected: i32 = first.map(|node| 1 << (node - start)).sum();
                assert_eq!(here.enabled_from(start..end), expected, "{start}..{end}");
            }
        }
    }
}
