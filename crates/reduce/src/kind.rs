//! Reductions by name: one word for each on the command line, in JSON and in the guide.

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
