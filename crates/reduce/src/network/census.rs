//! Which processes there are in a state, and where each is.
//!
//! Processes of the same kinds with the same values in the locals that never change have the same tables. So kinds and such
//! values get numbers, and their list is what tables are found by, with whether any of them may still start others. Each process is asked about for itself, so that answers can be recalled
//! where states are behind keys ([`glance`](super::glance)).

use super::flow::Flow;
use super::glance::{FIRST_PROCESS, PROCESSES};
use super::shape::Shape;
use crate::Shown;
use rustc_hash::FxHashMap;
use stubborn_network::{LocationId, Network, Width};

/// The number of all values for which there is no other: what fits an answer beside a location.
pub(super) const OTHERS: i32 = (1 << 15) - 1;

/// The processes of the state that was asked last.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// By kind: the bytes of its locals that never change.
    constant_bytes: Vec<Vec<usize>>,
    /// Lists of kinds, and by kind the values of these bytes: which number they have.
    kinds: FxHashMap<Vec<usize>, i32>,
    constants: Vec<FxHashMap<Vec<u8>, i32>>,
    n_constants: i32,
    /// Each list of kinds, by its number.
    lists: Vec<Vec<usize>>,
    /// Room to work in.
    list: Vec<usize>,
    /// The number of that list, which is mostly the one that was asked for last.
    last: Option<i32>,
    values: Vec<u8>,
    /// By process: the values that were asked for last, of which kind, and their number.
    latest: Vec<(usize, Vec<u8>, i32)>,
    answers: Vec<i32>,
    /// What tables depend on: the list of kinds, the values of each process, and whether any of them may start others.
    pub(super) key: Vec<i32>,
    pub(super) locations: Vec<LocationId>,
}

impl Census {
    pub(super) fn new(network: &Network, flow: &Flow) -> Self {
        let n_kinds = network.processes.len();
        let constant_bytes = (0..n_kinds).map(|kind| flow.constant_bytes(kind).collect()).collect();
        Self { constant_bytes, constants: vec![FxHashMap::default(); n_kinds], ..Self::default() }
    }

    /// Asks a state.
    pub(super) fn take(
        &mut self,
        network: &Network,
        flow: &Flow,
        shape: &mut Shape,
        state: &mut dyn Shown<[u8]>,
    ) {
        self.ask(network, shape, state);
        self.key.push(self.may_start(flow).into());
    }

    /// Whether any process of the state that was asked last may start others from where it is.
    pub(super) fn may_start(&self, flow: &Flow) -> bool {
        let kinds = &self.lists[self.key[0] as usize];
        kinds.iter().zip(&self.locations).any(|(&kind, &at)| flow.may_start(kind, at))
    }

    fn ask(&mut self, network: &Network, shape: &mut Shape, state: &mut dyn Shown<[u8]>) {
        self.key.clear();
        self.locations.clear();
        if let Some(state) = state.at_hand() {
            shape.fit(network, state);
            let list = self.number_of_kinds(shape);
            self.key.push(list);
            for pid in 0..shape.n_processes() {
                let number = self.number_of_constants(state, shape, pid);
                self.key.push(number);
                self.locations.push(shape.location(state, pid));
            }
            return;
        }
        let list = state.recall(PROCESSES, &mut |state, _| {
            shape.fit(network, state);
            (self.number_of_kinds(shape), true)
        });
        self.key.push(list);
        let n = self.lists[list as usize].len();
        self.answers.clear();
        let n_known = if state.known(FIRST_PROCESS..FIRST_PROCESS + n, &mut self.answers) { n } else { 0 };
        for &answer in &self.answers[..n_known] {
            self.key.push(answer >> 16);
            self.locations.push(LocationId(answer as u16));
        }
        for pid in n_known..n {
            let answer = state.recall(FIRST_PROCESS + pid, &mut |state, bytes| {
                shape.fit(network, state);
                let number = self.number_of_constants(state, shape, pid);
                if let Some(bytes) = bytes {
                    bytes.push(shape.place_of_location(pid));
                    let constants = self.constant_bytes[shape.kind(pid)].iter();
                    bytes.extend(constants.map(|&i| shape.place(pid, i, Width::Byte)));
                }
                (answer(shape.location(state, pid), number), true)
            });
            self.key.push(answer >> 16);
            self.locations.push(LocationId(answer as u16));
        }
    }

    /// Whether processes of a kind have locals that never change.
    pub(super) fn has_constants(&self, kind: usize) -> bool {
        !self.constant_bytes[kind].is_empty()
    }

    /// What a process of the state that was asked last answers.
    pub(super) fn answer(&self, pid: usize) -> i32 {
        answer(self.locations[pid], self.key[1 + pid])
    }

    fn number_of_kinds(&mut self, shape: &Shape) -> i32 {
        let kinds = (0..shape.n_processes()).map(|pid| shape.kind(pid));
        if self.last.is_some() && kinds.clone().eq(self.list.iter().copied()) {
            return self.last.unwrap_or(0);
        }
        self.list.clear();
        self.list.extend(kinds);
        let number = self.number_of_list();
        self.last = Some(number);
        number
    }

    fn number_of_list(&mut self) -> i32 {
        if let Some(&known) = self.kinds.get(&self.list) {
            return known;
        }
        let n = self.lists.len() as i32;
        self.lists.push(self.list.clone());
        self.kinds.insert(self.list.clone(), n);
        n
    }

    fn number_of_constants(&mut self, state: &[u8], shape: &Shape, pid: usize) -> i32 {
        let kind = shape.kind(pid);
        let bytes = self.constant_bytes[kind].iter();
        let mut values = bytes.map(|&i| shape.local(state, pid, i, Width::Byte) as u8);
        // Mostly they are what they were in the state before.
        if let Some((of, latest, number)) = self.latest.get(pid)
            && *of == kind
            && latest.iter().all(|&value| values.next() == Some(value))
        {
            return *number;
        }
        let bytes = self.constant_bytes[kind].iter();
        self.values.clear();
        self.values.extend(bytes.map(|&i| shape.local(state, pid, i, Width::Byte) as u8));
        let number = self.number_of_values(kind);
        self.latest.resize(self.latest.len().max(pid + 1), (usize::MAX, Vec::new(), 0));
        let (of, latest, known) = &mut self.latest[pid];
        latest.clone_from(&self.values);
        (*of, *known) = (kind, number);
        number
    }

    fn number_of_values(&mut self, kind: usize) -> i32 {
        if let Some(&known) = self.constants[kind].get(&self.values) {
            return known;
        }
        let n = self.n_constants;
        if n < OTHERS {
            self.n_constants += 1;
            self.constants[kind].insert(self.values.clone(), n);
        }
        n
    }
}

/// What is known of a process by itself: where it is, and the number of the values of its locals that never change.
fn answer(location: LocationId, number: i32) -> i32 {
    i32::from(location.0) | number << 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_for_which_there_are_no_numbers_are_not_taken_for_others() {
        let mut census = Census { constants: vec![FxHashMap::default()], ..Census::default() };
        let mut number = |value: u32| {
            census.values = value.to_le_bytes().to_vec();
            let number = census.number_of_values(0);
            // What becomes of it in an answer.
            assert_eq!((number << 16 | 0xffff) >> 16, number);
            number
        };
        let first: Vec<i32> = (0..100).map(&mut number).collect();
        let later: Vec<i32> = (100..70_000).map(&mut number).collect();
        assert!(later.iter().all(|number| !first.contains(number)));
        assert_eq!((number(69_999), number(7)), (OTHERS, first[7]));
    }
}
