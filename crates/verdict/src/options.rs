//! How to answer: which reduction, order, store and limits.

use stubborn_explore::Limits;
use stubborn_reduce::{Algorithm, CheckDepth};
use stubborn_system::Question;

/// A reduction by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReductionKind {
    /// Fire everything.
    None,
    /// The steps of one process, if nobody can ever be in their way.
    Ample,
    /// VS Algorithm 1: closure over enabled transitions.
    Persistent1,
    /// VS Algorithm 2: closure over processes.
    Persistent2,
    /// VS Algorithm 3: closure with necessary enabling sets, the smallest.
    Persistent3,
    /// The closure of one enabled transition.
    Closure,
    /// The first strong component with an enabled transition.
    StrongComponents,
    /// Everything but what can be deleted.
    Deletion,
    /// The smaller of strong components and deletion, state by state.
    Smaller,
    /// The closure of everything that may fail.
    UpSets,
}

impl ReductionKind {
    /// All of them, the plainest first.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::Ample,
        Self::Persistent1,
        Self::Persistent2,
        Self::Persistent3,
        Self::Closure,
        Self::StrongComponents,
        Self::Deletion,
        Self::Smaller,
        Self::UpSets,
    ];

    /// Those that need nothing but the rules of a system; the others need its processes.
    pub const BY_RULES: [Self; 5] =
        [Self::None, Self::Closure, Self::StrongComponents, Self::Deletion, Self::Smaller];

    /// The algorithm that it is for the states of a network; `None` if everything is fired.
    pub fn algorithm(self) -> Option<Algorithm> {
        Some(match self {
            Self::None => return None,
            Self::Ample => Algorithm::Ample,
            Self::Persistent1 => Algorithm::Persistent1,
            Self::Persistent2 => Algorithm::Persistent2,
            Self::Persistent3 => Algorithm::Persistent3,
            Self::Closure => Algorithm::Closure,
            Self::StrongComponents => Algorithm::StrongComponents,
            Self::Deletion => Algorithm::Deletion,
            Self::Smaller => Algorithm::Smaller,
            Self::UpSets => Algorithm::UpSets,
        })
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ample => "ample",
            Self::Persistent1 => "persistent-1",
            Self::Persistent2 => "persistent-2",
            Self::Persistent3 => "persistent-3",
            Self::Closure => "closure",
            Self::StrongComponents => "scc",
            Self::Deletion => "deletion",
            Self::Smaller => "scc+deletion",
            Self::UpSets => "up-sets",
        }
    }
}

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
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
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
    /// Whether to hold the stubborn sets against their definition.
    pub check: Option<CheckDepth>,
    /// Whether to explore representatives only.
    pub symmetry: bool,
    /// The order.
    pub search: SearchKind,
    /// The store.
    pub store: StoreKind,
    /// When to give up.
    pub limits: Limits,
    /// Go on after a violation.
    pub all_errors: bool,
    /// How many states the replayer may visit to confirm that there is no return.
    pub replay_states: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            questions: None,
            reduction: ReductionKind::None,
            check: None,
            symmetry: false,
            search: SearchKind::BreadthFirst,
            store: StoreKind::Exact,
            limits: Limits::default(),
            all_errors: false,
            replay_states: 200_000,
        }
    }
}
