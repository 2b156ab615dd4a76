//! How to answer: which reduction, order, store and limits.

use crate::{EngineKind, RaceRules};
use stubborn_explore::Limits;
use stubborn_explore::linear::FIRST_LOOK;
use stubborn_reduce::{CheckDepth, ReductionKind};
use stubborn_store::{Quotient, Regions};
use stubborn_system::Question;

/// An order of search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchKind {
    /// Level by level: shortest counterexamples.
    BreadthFirst,
    /// Along paths.
    DepthFirst,
}

impl SearchKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::BreadthFirst => "bfs",
            Self::DepthFirst => "dfs",
        }
    }
}

/// A store by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// Whole states.
    Exact,
    /// Of packed states what their place in the table does not say, where numbers of states are not needed; whole states
    /// elsewhere.
    Quotient,
    /// 64-bit fingerprints.
    Compact64,
    /// 128-bit fingerprints.
    Compact128,
    /// Bits in a field.
    Bitstate {
        /// The field has two to this power of bits.
        log2: u32,
        /// Bits per state.
        functions: u32,
    },
}

impl StoreKind {
    /// Whether nothing is missed with it.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Exact | Self::Quotient)
    }

    /// An empty set for a search that needs no numbers of states. Keys of four words are kept whole.
    pub(crate) fn key_set<const N: usize>(self) -> Regions<N> {
        let is_quotient = self == Self::Quotient && N <= 2;
        if is_quotient { Regions::undivided(Quotient::new()) } else { Regions::of_keys() }
    }

    /// What it is where states need numbers.
    pub fn with_numbers(self) -> Self {
        if self.is_exact() { Self::Exact } else { self }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Quotient => "quotient",
            Self::Compact64 => "compact64",
            Self::Compact128 => "compact128",
            Self::Bitstate { .. } => "bitstate",
        }
    }
}

/// How to answer.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which questions; `None` for those that the system asks itself.
    pub questions: Option<Vec<Question>>,
    /// The reduction to begin with. Questions that it leaves open are answered without one.
    pub reduction: ReductionKind,
    /// Whether a search without reduction may take the place of the reduced one where that is less work, and how that is found out.
    pub race: Option<RaceRules>,
    /// Whether to hold the stubborn sets against their definition.
    pub check: Option<CheckDepth>,
    /// Whether to explore representatives only.
    pub symmetry: bool,
    /// The order.
    pub search: SearchKind,
    /// The store.
    pub store: StoreKind,
    /// Who makes the successors.
    pub engine: EngineKind,
    /// How many threads may search, where that changes nothing but the time.
    pub threads: usize,
    /// When to give up.
    pub limits: Limits,
    /// Go on after a violation.
    pub all_errors: bool,
    /// For properties of runs that do not notice stuttering: whether a tester, which moves only when something can
    /// be seen, takes the place of the automaton.
    pub tester: bool,
    /// For properties of runs: when sets are chosen by where the automaton is.
    pub guided: Guided,
    /// For properties of runs: pairs of states after which cycles are looked for first.
    pub first_look: usize,
    /// Whether it is to be shown where termination ceases to be possible, if nobody asked but it was found.
    pub show_no_return: bool,
    /// How many states the replayer may visit to confirm that there is no return.
    pub replay_states: usize,
}

/// When sets are chosen by where the automaton is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guided {
    /// For a while, if the model is not small.
    #[default]
    Auto,
    /// Not at all.
    Never,
    /// To the end.
    Always,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            questions: None,
            reduction: ReductionKind::None,
            race: None,
            check: None,
            symmetry: false,
            search: SearchKind::BreadthFirst,
            store: StoreKind::Exact,
            engine: EngineKind::Auto,
            threads: 1,
            limits: Limits::default(),
            all_errors: false,
            tester: false,
            guided: Guided::Auto,
            first_look: FIRST_LOOK,
            show_no_return: true,
            replay_states: 200_000,
        }
    }
}
