//! The explicit labelled state transition system.
//!
//! **Implements** Definition 2 of HVV (Hansen, Virtanen, Valmari, *Merging State-Based and Action-Based
//! Verification*): states, visible actions and the invisible action tau, transitions, an initial state,
//! propositions; those whose names begin with `/` are permanent. The transitions lie in three flat arrays, by
//! source, and those of a state are sorted by action and target without repetition: equal systems are equal
//! arrays. A proposition is the set of the states where it holds.
//! **Checked by** the round trips of the formats.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use thiserror::Error;

/// Number of an action; [`TAU`] is the invisible one.
pub type Action = u32;

/// The invisible action.
pub const TAU: Action = 0;

/// Most states of an explicit system: their array of rows takes 400 MB.
pub const MAX_STATES: usize = 100_000_000;

/// What a mark of states means, besides propositions that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Special {
    /// The state is not expanded.
    Cut,
    /// It is wrong to be here (reject state).
    Rej,
    /// It is wrong to stop here (deadlock monitor).
    DlRej,
    /// It is wrong to stay here while the others go on for ever (livelock monitor).
    LlRej,
    /// It is wrong to move from here again and again (infinite trace monitor).
    InfRej,
}

impl Special {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Cut, Self::Rej, Self::DlRej, Self::LlRej, Self::InfRej];

    /// The word for it in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cut => "Cut",
            Self::Rej => "Rej",
            Self::DlRej => "Dl_rej",
            Self::LlRej => "Ll_rej",
            Self::InfRej => "Inf_rej",
        }
    }

    /// The one with this word, without regard to case.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|special| special.word().eq_ignore_ascii_case(word))
    }
}

/// What a proposition is called.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// By a name.
    Named(String),
    /// By a word of the format.
    Special(Special),
}

impl Mark {
    /// The name, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Special(_) => None,
        }
    }

    /// Whether compositions keep it without being told.
    pub fn is_permanent(&self) -> bool {
        self.name().is_some_and(|name| name.starts_with('/'))
    }

    /// Whether states with it are not expanded.
    pub fn is_cut(&self) -> bool {
        *self == Self::Special(Special::Cut) || self.name().is_some_and(|name| name.starts_with('%'))
    }
}

/// A proposition and the states where it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposition {
    /// What it is called.
    pub mark: Mark,
    /// Where it holds; as long as there are states.
    pub states: FixedBitSet,
}

/// A labelled state transition system. States and actions are numbered from zero; action zero is tau.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lsts {
    initial: u32,
    /// The names of the actions; that of tau is empty.
    actions: Vec<String>,
    /// The edges of state `s` are `starts[s]..starts[s + 1]`.
    starts: Vec<u32>,
    labels: Vec<Action>,
    targets: Vec<u32>,
    propositions: Vec<Proposition>,
    /// By state; empty if states have no names.
    state_names: Vec<String>,
    /// Whether it stands for a process of which more is to come.
    is_open: bool,
}

/// Why a system cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TooLarge {
    /// Too many states.
    #[error("{n} states are more than the {MAX_STATES} that an explicit system may have")]
    States {
        /// How many.
        n: u64,
    },
    /// Too many transitions.
    #[error("more than {} transitions cannot be numbered", u32::MAX)]
    Transitions,
}

impl Lsts {
    /// The initial state.
    pub fn initial(&self) -> u32 {
        self.initial
    }

    /// Number of states.
    pub fn n_states(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of transitions.
    pub fn n_transitions(&self) -> usize {
        self.targets.len()
    }

    /// Number of actions, tau included.
    pub fn n_actions(&self) -> usize {
        self.actions.len()
    }

    /// The name of an action; `tau` for the invisible one.
    pub fn action_name(&self, action: Action) -> &str {
        if action == TAU { "tau" } else { &self.actions[action as usize] }
    }

    /// The names of the visible actions, in the order of their numbers from one.
    pub fn action_names(&self) -> &[String] {
        &self.actions[1..]
    }

    /// The number of the visible action with this name.
    pub fn action(&self, name: &str) -> Option<Action> {
        self.action_names().iter().position(|known| known == name).map(|i| i as Action + 1)
    }

    /// The edges of a state, by action and target.
    #[inline]
    pub fn edges(&self, state: u32) -> impl ExactSizeIterator<Item = (Action, u32)> + '_ {
        let range = self.range(state);
        self.labels[range.clone()].iter().copied().zip(self.targets[range].iter().copied())
    }

    /// The numbers of the edges of a state.
    #[inline]
    pub fn range(&self, state: u32) -> std::ops::Range<usize> {
        self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize
    }

    /// The actions of all edges, in the order of [`Lsts::range`].
    #[inline]
    pub fn labels(&self) -> &[Action] {
        &self.labels
    }

    /// The targets of all edges, in the order of [`Lsts::range`].
    #[inline]
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The propositions.
    pub fn propositions(&self) -> &[Proposition] {
        &self.propositions
    }

    /// The states where a mark holds, if the system has it.
    pub fn marked(&self, mark: &Mark) -> Option<&FixedBitSet> {
        self.propositions.iter().find(|p| p.mark == *mark).map(|p| &p.states)
    }

    /// The name of a state, if it has one.
    pub fn state_name(&self, state: u32) -> Option<&str> {
        self.state_names.get(state as usize).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// Whether states have names.
    pub fn has_state_names(&self) -> bool {
        !self.state_names.is_empty()
    }

    /// The same without names of states.
    pub fn without_state_names(self) -> Self {
        Self { state_names: Vec::new(), ..self }
    }

    /// The same, as the names of a process that is followed: it may have other actions, too.
    pub fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// Whether it stands for a process that may have other actions, too.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Memory in use by the arrays, in bytes.
    pub fn bytes(&self) -> usize {
        let bits: usize = self.propositions.iter().map(|p| p.states.len() / 8).sum();
        4 * (self.starts.len() + self.labels.len() + self.targets.len()) + bits
    }

    /// The states that can be reached from the initial one.
    pub fn reachable(&self) -> FixedBitSet {
        let mut seen = FixedBitSet::with_capacity(self.n_states());
        seen.insert(self.initial as usize);
        let mut stack = vec![self.initial];
        while let Some(state) = stack.pop() {
            for (_, target) in self.edges(state) {
                if !seen.put(target as usize) {
                    stack.push(target);
                }
            }
        }
        seen
    }

    /// The states without an edge.
    pub fn deadlocks(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.n_states() as u32).filter(|&state| self.range(state).is_empty())
    }
}

/// Makes a system piece by piece.
#[derive(Clone, Debug, Default)]
pub struct LstsBuilder {
    n_states: u32,
    initial: u32,
    actions: Vec<String>,
    numbers: FxHashMap<String, Action>,
    edges: Vec<(u32, Action, u32)>,
    propositions: Vec<Proposition>,
    state_names: Vec<String>,
}

impl LstsBuilder {
    /// A system of `n` states, numbered from zero.
    pub fn new(n: u64) -> Result<Self, TooLarge> {
        if n > MAX_STATES as u64 {
            return Err(TooLarge::States { n });
        }
        Ok(Self { n_states: n as u32, actions: vec![String::new()], ..Self::default() })
    }

    /// The initial state, which must be one.
    pub fn set_initial(&mut self, state: u32) {
        assert!(state < self.n_states, "the initial state is a state");
        self.initial = state;
    }

    /// The number of the visible action `name`.
    pub fn action(&mut self, name: &str) -> Action {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.actions.len() as Action;
        self.actions.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Adds a transition between states, with an action that has a number.
    pub fn add_transition(&mut self, source: u32, action: Action, target: u32) {
        assert!(source < self.n_states && target < self.n_states, "transitions are between states");
        assert!((action as usize) < self.actions.len(), "actions have names");
        self.edges.push((source, action, target));
    }

    /// Adds a proposition; one that is there already gets more states.
    pub fn add_proposition(&mut self, mark: Mark, states: impl IntoIterator<Item = u32>) {
        let n = self.n_states as usize;
        let at = self.propositions.iter().position(|p| p.mark == mark).unwrap_or_else(|| {
            self.propositions.push(Proposition { mark, states: FixedBitSet::with_capacity(n) });
            self.propositions.len() - 1
        });
        self.propositions[at].states.extend(states.into_iter().map(|s| s as usize));
    }

    /// Names a state.
    pub fn name_state(&mut self, state: u32, name: String) {
        self.state_names.resize(self.n_states as usize, String::new());
        self.state_names[state as usize] = name;
    }

    /// The system.
    pub fn build(mut self) -> Result<Lsts, TooLarge> {
        if self.edges.len() >= u32::MAX as usize {
            return Err(TooLarge::Transitions);
        }
        self.edges.sort_unstable();
        self.edges.dedup();
        let mut starts = vec![0u32; self.n_states as usize + 1];
        for &(source, ..) in &self.edges {
            starts[source as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        Ok(Lsts {
            initial: self.initial,
            actions: self.actions,
            starts,
            labels: self.edges.iter().map(|e| e.1).collect(),
            targets: self.edges.iter().map(|e| e.2).collect(),
            propositions: self.propositions,
            state_names: self.state_names,
            is_open: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_lie_by_source_action_and_target_without_repetition() {
        let mut builder = LstsBuilder::new(3).unwrap();
        let (a, b) = (builder.action("a"), builder.action("b"));
        assert_eq!((a, b, builder.action("a")), (1, 2, 1));
        for (s, l, t) in [(2, b, 0), (0, b, 1), (0, TAU, 2), (0, b, 1), (0, a, 2)] {
            builder.add_transition(s, l, t);
        }
        builder.set_initial(2);
        builder.add_proposition(Mark::Named("/p".into()), [1]);
        let lsts = builder.build().unwrap();
        assert_eq!(lsts.edges(0).collect::<Vec<_>>(), [(TAU, 2), (a, 2), (b, 1)]);
        assert_eq!(lsts.edges(1).count(), 0);
        assert_eq!(lsts.edges(2).collect::<Vec<_>>(), [(b, 0)]);
        assert_eq!((lsts.n_transitions(), lsts.deadlocks().collect::<Vec<_>>()), (4, vec![1]));
        assert!(lsts.propositions()[0].mark.is_permanent());
        assert_eq!(lsts.reachable().count_ones(..), 3);
        assert_eq!(LstsBuilder::new(1 << 40).unwrap_err(), TooLarge::States { n: 1 << 40 });
    }
}
