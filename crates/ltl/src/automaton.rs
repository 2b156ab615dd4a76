//! Automata on infinite words, with generalised Büchi acceptance on edges and states.
//!
//! A run is accepting if for every acceptance set `i` below [`Automaton::n_sets`] it takes infinitely often
//! an edge in `i`. Being in a set is one bit of a mark; the mark of an edge is that of the edge together with
//! that of the state that it leaves, so that acceptance on states is the special case where only states have
//! marks. A *Büchi automaton* here has one set.

use crate::{Guard, Propositions};

/// At most this many acceptance sets: a mark is one word.
pub const MAX_SETS: u32 = 64;

/// The number of a state.
pub type State = u32;

/// Where a letter may lead.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// The letters on which it may be taken.
    pub guard: Guard,
    /// Where it leads.
    pub target: State,
    /// The acceptance sets that it is in, besides those of its source.
    pub marks: u64,
}

/// An automaton. States are numbered from zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Automaton {
    propositions: Propositions,
    n_sets: u32,
    initial: Vec<State>,
    marks: Vec<u64>,
    edges: Vec<Vec<Edge>>,
}

impl Automaton {
    /// An automaton without states.
    pub fn new(propositions: Propositions, n_sets: u32) -> Self {
        assert!(n_sets <= MAX_SETS, "readers and translators check the number of sets");
        Self { propositions, n_sets, initial: Vec::new(), marks: Vec::new(), edges: Vec::new() }
    }

    /// Adds a state with these marks.
    pub fn add_state(&mut self, marks: u64) -> State {
        self.marks.push(marks);
        self.edges.push(Vec::new());
        (self.edges.len() - 1) as State
    }

    /// Adds an edge. Edges with the same target and marks become one.
    pub fn add_edge(&mut self, source: State, guard: Guard, target: State, marks: u64) {
        if guard.is_never() {
            return;
        }
        let edges = &mut self.edges[source as usize];
        match edges.iter_mut().find(|e| e.target == target && e.marks == marks) {
            Some(edge) => edge.guard = edge.guard.or(&guard),
            None => edges.push(Edge { guard, target, marks }),
        }
    }

    /// Adds an edge without looking for one like it.
    pub(crate) fn push_edge(&mut self, source: State, edge: Edge) {
        self.edges[source as usize].push(edge);
    }

    /// Makes a state initial.
    pub fn add_initial(&mut self, state: State) {
        if !self.initial.contains(&state) {
            self.initial.push(state);
        }
    }

    /// The propositions of its guards.
    pub fn propositions(&self) -> &Propositions {
        &self.propositions
    }

    /// The number of acceptance sets.
    pub fn n_sets(&self) -> u32 {
        self.n_sets
    }

    /// All acceptance sets, as a mark.
    pub fn all_sets(&self) -> u64 {
        sets(self.n_sets)
    }

    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.edges.len()
    }

    /// The number of edges.
    pub fn n_edges(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// All states.
    pub fn states(&self) -> std::ops::Range<State> {
        0..self.edges.len() as State
    }

    /// The initial states.
    pub fn initial(&self) -> &[State] {
        &self.initial
    }

    /// The edges that leave a state.
    pub fn edges(&self, state: State) -> &[Edge] {
        &self.edges[state as usize]
    }

    /// The acceptance sets that a state, and with it every edge that leaves it, is in.
    pub fn state_marks(&self, state: State) -> u64 {
        self.marks[state as usize]
    }

    /// The acceptance sets that count when `edge` is taken from `state`.
    pub fn marks(&self, state: State, edge: &Edge) -> u64 {
        self.marks[state as usize] | edge.marks
    }

    /// Whether only states have marks.
    pub fn has_state_acceptance(&self) -> bool {
        self.edges.iter().flatten().all(|edge| edge.marks == 0)
    }

    /// Whether it is a Büchi automaton with accepting states.
    pub fn is_buchi(&self) -> bool {
        self.n_sets == 1 && self.has_state_acceptance()
    }

    /// Whether a state is accepting, in a Büchi automaton with accepting states.
    pub fn is_accepting(&self, state: State) -> bool {
        self.marks[state as usize] & 1 == 1
    }

    /// Whether it is plain that every word is accepted from `state`: it can stay there on every letter, and
    /// is in all sets when it does.
    pub fn accepts_everything_from(&self, state: State) -> bool {
        let stays = |edge: &Edge| edge.target == state && edge.guard.is_always();
        let all = self.all_sets();
        self.edges(state).iter().any(|edge| stays(edge) && self.marks(state, edge) & all == all)
    }

    /// Whether it has one initial state and in every state at most one edge for each letter.
    pub fn is_deterministic(&self) -> bool {
        let clash = |edges: &Vec<Edge>| {
            (0..edges.len()).any(|i| (0..i).any(|j| edges[i].guard.meets(&edges[j].guard)))
        };
        self.initial.len() <= 1 && !self.edges.iter().any(clash)
    }

    /// The propositions that occur in guards, as a word.
    pub fn support(&self) -> u64 {
        self.edges.iter().flatten().fold(0, |all, edge| all | edge.guard.support())
    }

    /// The same automaton where only the states that `keep` keeps are left, in this order of old numbers.
    pub(crate) fn restricted(&self, keep: &[State]) -> Self {
        let mut number = vec![State::MAX; self.n_states()];
        for (new, &old) in keep.iter().enumerate() {
            number[old as usize] = new as State;
        }
        let mut out = Self::new(self.propositions.clone(), self.n_sets);
        for &old in keep {
            let new = out.add_state(self.state_marks(old));
            let kept = self.edges(old).iter().filter(|e| number[e.target as usize] != State::MAX);
            let renumbered = kept.map(|e| Edge { target: number[e.target as usize], ..e.clone() });
            out.edges[new as usize] = renumbered.collect();
        }
        for &state in &self.initial {
            if number[state as usize] != State::MAX {
                out.add_initial(number[state as usize]);
            }
        }
        out
    }

    /// The same automaton over other propositions; `number` says which is which.
    pub(crate) fn renamed(&self, propositions: Propositions, number: &[usize]) -> Self {
        let mut out = self.clone();
        out.propositions = propositions;
        out.edges.iter_mut().flatten().for_each(|edge| edge.guard = edge.guard.renamed(number));
        out
    }

    pub(crate) fn set_n_sets(&mut self, n_sets: u32) {
        self.n_sets = n_sets;
    }

    pub(crate) fn set_state_marks(&mut self, state: State, marks: u64) {
        self.marks[state as usize] = marks;
    }

    pub(crate) fn replace_edges(&mut self, state: State, edges: Vec<Edge>) {
        self.edges[state as usize].clear();
        for edge in edges {
            self.add_edge(state, edge.guard, edge.target, edge.marks);
        }
    }

    pub(crate) fn replace_initial(&mut self, initial: Vec<State>) {
        self.initial = Vec::new();
        initial.into_iter().for_each(|state| self.add_initial(state));
    }

    /// The same language with exactly one initial state.
    pub fn with_one_initial(&self) -> Self {
        if self.initial.len() == 1 {
            return self.clone();
        }
        let mut out = self.clone();
        let start = out.add_state(0);
        for &state in &self.initial {
            for edge in self.edges(state) {
                let marks = if self.has_state_acceptance() { 0 } else { self.marks(state, edge) };
                out.add_edge(start, edge.guard.clone(), edge.target, marks);
            }
        }
        out.initial = vec![start];
        out
    }
}

/// The mark with the first `n` sets.
pub(crate) fn sets(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}
