//! Who explores packed states in a thread of a search for states alone.

use stubborn_packed::States;
use stubborn_system::{Batch, Fault};

/// Why only a search in order can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// Something was seen, or went wrong; only a search in order can tell what.
    Seen,
    /// Choices would not be a function of the state any more, or it takes too long to see that nothing is ignored, or it matters who comes first to what is.
    Unsteady,
}

impl From<Fault> for Unclear {
    fn from(_: Fault) -> Self {
        Self::Seen
    }
}

/// What was counted while states were expanded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Their transitions.
    pub edges: u64,
    /// How many of them are terminal.
    pub terminal: u64,
    /// How many of them were expanded a second time, in full.
    pub repairs: u64,
}

impl Counts {
    /// Adds others.
    pub(crate) fn add(&mut self, others: Self) {
        self.edges += others.edges;
        self.terminal += others.terminal;
        self.repairs += others.repairs;
    }
}

/// A note of a state: nothing need be seen to any more.
pub const SETTLED: u32 = u32::MAX;

/// Makes successors in a thread, and looks at states there.
pub trait Explorer<const N: usize> {
    /// Appends the successors of states from number `*n` on, which is moved on, until there are `enough`. Those that are found anyway from a
    /// state of the same level, or of one before, may be left out, but not from the counts. If ignoring is minded, a note of a state is its number
    /// in the level: each successor gets the number of the state that it is found from, and states from which one is known to be reached where nothing is left out get [`SETTLED`].
    fn expand(
        &mut self,
        states: &mut States<N>,
        n: &mut usize,
        enough: usize,
        out: &mut States<N>,
    ) -> Result<Counts, Unclear>;

    /// Whether something may be left out in a state, so that it must be seen to that nothing is ignored.
    fn minds_ignoring(&self) -> bool {
        false
    }

    /// Sees to it that a state that is not known to lead to one of the next level leads to one where nothing is left out: appends all its successors, if
    /// need be.
    fn settle(&mut self, key: &[u64; N], out: &mut States<N>) -> Result<Counts, Unclear> {
        let _ = (key, out);
        Ok(Counts::default())
    }

    /// Looks at states that are new, in a list of others.
    fn arrive(&mut self, keys: &[[u64; N]], new: &[u32]) -> Result<(), Unclear>;

    /// Whether [`Explorer::arrive`] wants to see every new state.
    fn looks_at_new(&self) -> bool;

    /// Memory that is used for what this thread remembers, in bytes.
    fn bytes(&self) -> usize {
        0
    }

    /// What choosing has taken so far.
    fn choosing(&self) -> u64 {
        0
    }
}

/// What a thread does with its explorer.
pub type Work<'a, const N: usize> = dyn FnMut(&mut dyn Explorer<N>) + 'a;

/// What each thread needs.
pub trait Crew<const N: usize> {
    /// The initial state, in a batch.
    fn initial(&self, out: &mut Batch<[u64; N]>) -> Result<(), Fault>;

    /// Calls `work` once in the thread that asks, with who explores there.
    fn join(&self, work: &mut Work<'_, N>);
}
