//! Programs as the engine sees them.

use crate::op::ProcessId;
use crate::world::World;

/// What can be explored: processes that run by themselves between visible operations.
///
/// The engine calls `reset`, and then `resume` once per visible operation. After each call every process that has
/// been started has announced its next operation or has ended: the system is in a global state (VS).
/// Whatever the program does must be a function of the calls made since `reset`.
pub trait Program {
    /// Starts over in an empty world: creates objects, lets the first processes announce.
    fn reset(&mut self, world: &mut World);

    /// Said before `reset`: the first so many steps of the next run are those of the last one.
    fn repeat(&mut self, _steps: usize) {}

    /// The operation that a process had announced was done, with this output: lets the process run until it
    /// announces the next, or ends. It may create objects and start other processes, which announce too.
    fn resume(&mut self, process: ProcessId, out: u64, world: &mut World) -> Result<(), Failure>;

    /// A limit that was reached in `reset`: then nothing is known of the run, not even that it differs from another.
    fn limit_of_reset(&self) -> Option<Failure> {
        None
    }

    /// Nobody can move. Whether that is a deadlock, with `blocked` not empty.
    fn is_deadlock(&self, _blocked: &[ProcessId]) -> bool {
        true
    }

    /// Whether a run that turns out to be a repetition must be driven to its end all the same.
    fn must_end(&self) -> bool {
        false
    }

    /// The run is over, or is given up here. Not called after a failure of `resume`.
    fn finish(&mut self) {}
}

/// What is wrong with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FailureKind {
    /// Some processes wait, and nobody can move.
    Deadlock,
    /// An assertion does not hold.
    Assertion,
    /// A process gave up.
    Panic,
    /// A process ran for too long without a visible operation.
    Divergence,
    /// The same schedule led to another operation: the program depends on something that is not controlled.
    Nondeterminism,
    /// A process used more stack than it has.
    StackOverflow,
    /// Two processes access the same memory, one of them writes, and nothing orders them.
    DataRace,
}

impl FailureKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            FailureKind::Deadlock => "deadlock",
            FailureKind::Assertion => "assertion",
            FailureKind::Panic => "panic",
            FailureKind::Divergence => "divergence",
            FailureKind::Nondeterminism => "nondeterminism",
            FailureKind::StackOverflow => "stack-overflow",
            FailureKind::DataRace => "data-race",
        }
    }
}

/// A failure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// Of which process, if it is one's.
    pub process: Option<ProcessId>,
    /// What it says.
    pub message: String,
    /// A limit of the program's own was reached: the run says nothing.
    pub is_limit: bool,
}

impl Failure {
    /// A failure of a process.
    pub fn new(kind: FailureKind, process: ProcessId, message: impl Into<String>) -> Failure {
        Failure { kind, process: Some(process), message: message.into(), is_limit: false }
    }

    /// A limit of the program's own.
    pub fn limit(process: ProcessId, message: impl Into<String>) -> Failure {
        Failure { is_limit: true, ..Failure::new(FailureKind::Divergence, process, message) }
    }
}
