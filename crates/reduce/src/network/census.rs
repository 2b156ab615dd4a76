//! Which processes there are in a state, and where each is.
//!
//! Processes of the same kinds with the same values in the locals that never change have the same tables. So kinds and such
//! values get numbers, and their list is what tables are found by. Each process is asked about for itself, so that answers can be recalled
//! where states are behind keys ([`glance`](super::glance)).

use super::flow::Flow;
use super::glance::{FIRST_PROCESS, PROCESSES};
use super::shape::Shape;
use crate::Shown;
use rustc_hash::FxHashMap;
use stubborn_network::{LocationId, Network, Width};

/// Numbers of values that fit an answer beside a location.
const MOST: usize = 1 << 15;

/// The processes of the state that was asked last.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// By kind: the bytes of its locals that never change.
    constant_bytes: Vec<Vec<usize>>,
    /// Lists of kinds, and by kind the values of these bytes: which number they have.
    kinds: FxHashMap<Vec<usize>, i32>,
    constants: Vec<FxHashMap<Vec<u8>, i32>>,
    n_constants: i32,
    /// The length of each list of kinds.
    lengths: Vec<usize>,
    /// Room to work in.
    list: Vec<usize>,
    values: Vec<u8>,
    answers: Vec<i32>,
    /// What tables depend on: the list of kinds, and the values of each process.
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
    pub(super) fn take(&mut self, network: &Network, shape: &mut Shape, state: &mut dyn Shown<[u8]>) {
        let list = state.recall(PROCESSES, &mut |state, _| {
            shape.fit(network, state);
            (self.number_of_kinds(shape), true)
        });
        self.key.clear();
        self.key.push(list);
        self.locations.clear();
        let n = self.lengths[list as usize];
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
                let is_noted = (number as usize) < MOST;
                if let Some(bytes) = bytes {
                    bytes.push(shape.place_of_location(pid));
                    let constants = self.constant_bytes[shape.kind(pid)].iter();
                    bytes.extend(constants.map(|&i| shape.place(pid, i, Width::Byte)));
                }
                (i32::from(shape.location(state, pid).0) | number << 16, is_noted)
            });
            self.key.push(answer >> 16);
            self.locations.push(LocationId(answer as u16));
        }
    }

    fn number_of_kinds(&mut self, shape: &Shape) -> i32 {
        self.list.clear();
        self.list.extend((0..shape.n_processes()).map(|pid| shape.kind(pid)));
        if let Some(&known) = self.kinds.get(&self.list) {
            return known;
        }
        let n = self.lengths.len() as i32;
        self.lengths.push(self.list.len());
        self.kinds.insert(self.list.clone(), n);
        n
    }

    fn number_of_constants(&mut self, state: &[u8], shape: &Shape, pid: usize) -> i32 {
        let kind = shape.kind(pid);
        let bytes = self.constant_bytes[kind].iter();
        self.values.clear();
        self.values.extend(bytes.map(|&i| shape.local(state, pid, i, Width::Byte) as u8));
        if let Some(&known) = self.constants[kind].get(&self.values) {
            return known;
        }
        let n = self.n_constants;
        self.n_constants += 1;
        self.constants[kind].insert(self.values.clone(), n);
        n
    }
}
