//! The words of `stubborn lts`.

use crate::args::{CheckArgs, ReductionWord};
use crate::{machine, quantity};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use stubborn_explore::Limits;
use stubborn_lts::{ReadOptions, Tau};
use stubborn_reduce::Semantics;
use stubborn_semantics::Model;

#[derive(Debug, Subcommand)]
pub(crate) enum LtsCommand {
    /// Convert between LSTS and .aut, or write for Graphviz
    Convert {
        /// An LSTS or .aut file, or a Promela model
        input: PathBuf,
        /// Where to write; the format is that of its ending (.lsts, .aut, .dot)
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// What to write, whatever the ending is
        #[arg(long, value_enum)]
        to: Option<FormatWord>,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Say what is in a file: states, transitions, actions, propositions
    Info {
        /// An LSTS or .aut file, or a Promela model
        input: PathBuf,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Compose processes as rules say, and write the result
    Compose {
        /// Rules, numeric or extended; components are files beside them
        rules: PathBuf,
        /// Where to write; the format is that of its ending (.lsts, .aut, .dot); by default only the figures
        /// are printed
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Name the states of the result by those of the components
        #[arg(long)]
        state_names: bool,
        /// Leave out what the semantics of --preserve does not need: closure, scc, deletion, scc+deletion or none; by default
        /// scc, if --preserve is given
        #[arg(long, value_enum)]
        reduction: Option<ReductionWord>,
        /// What the result has in common with the whole composition; by default cffd, if --reduction is given
        #[arg(long, value_enum)]
        preserve: Option<PreserveWord>,
        #[command(flatten)]
        limits: LimitArgs,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Build a system step by step, as a file says: compose, hide, rename, minimize; show the sizes on the way
    Build {
        /// The steps, e.g. `pair = minimize hide a, b in "one.lsts" | "two.lsts"`; processes are files beside it
        file: PathBuf,
        /// Where to write the last result; the format is that of its ending (.lsts, .aut, .dot)
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        /// Most states of a deterministic system, which cffd needs
        #[arg(long, value_name = "N", default_value_t = 1_000_000)]
        max_nodes: usize,
        #[command(flatten)]
        limits: LimitArgs,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Say whether two processes are the same under a semantics, or one refines the other; if not, why
    Compare {
        /// An LSTS or .aut file, or a Promela model
        left: PathBuf,
        /// Another
        right: PathBuf,
        /// What counts
        #[arg(long, value_enum, default_value_t = ModelWord::Cffd)]
        under: ModelWord,
        /// Only whether the second allows whatever the first may do
        #[arg(long)]
        preorder: bool,
        /// It counts, too, whether the initial state has tau
        #[arg(long)]
        initial_stability: bool,
        /// Most states of the deterministic system
        #[arg(long, value_name = "N", default_value_t = 1_000_000)]
        max_states: usize,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Write a small process that is the same under a semantics
    Minimize {
        /// An LSTS or .aut file, or a Promela model
        input: PathBuf,
        /// What must stay the same
        #[arg(long, value_enum, default_value_t = SmallWord::Cffd)]
        under: SmallWord,
        /// Keep whether the initial state has tau, too
        #[arg(long)]
        initial_stability: bool,
        /// Most states of the deterministic system, which cffd needs
        #[arg(long, value_name = "N", default_value_t = 1_000_000)]
        max_states: usize,
        /// Where to write; the format is that of its ending (.lsts, .aut, .dot); by default to standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Write a process with the same traces in which a trace leads to one state
    Determinise {
        /// An LSTS or .aut file, or a Promela model
        input: PathBuf,
        /// Most states of the result
        #[arg(long, value_name = "N", default_value_t = 1_000_000)]
        max_states: usize,
        /// Where to write; the format is that of its ending (.lsts, .aut, .dot); by default to standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Check on the fly what rules and testers reject: wrong states, deadlocks, livelocks, infinite traces
    Check {
        /// Rules (.ext, .rules), or one process (.lsts, .aut, .pml)
        system: PathBuf,
        #[command(flatten)]
        testers: TesterArgs,
        #[command(flatten)]
        read: ReadArgs,
        #[command(flatten)]
        check: Box<CheckArgs>,
    },
    /// Write rules by which actions of one name happen together; or convert rules between their formats
    Rules {
        /// The components, in order; or one file of rules (.ext, .rules)
        #[arg(required = true)]
        inputs: Vec<PathBuf>,
        /// A file with groups "old" "new" ...; that rename results; a group without a new name hides
        #[arg(long, value_name = "FILE")]
        rename: Option<PathBuf>,
        /// A file with the names of the results that can be seen; all others are hidden
        #[arg(long, value_name = "FILE")]
        visible: Option<PathBuf>,
        /// Write numbers in place of names, as TVT's own tools read them
        #[arg(long)]
        numeric: bool,
        /// Where to write; by default to standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Write a tester: of a specification, or of a formula or automaton over actions
    Tester {
        /// The specification, an LSTS or .aut file: what it does not allow is rejected
        #[arg(required_unless_present_any = ["ltl", "automaton"], conflicts_with_all = ["ltl", "automaton"])]
        specification: Option<PathBuf>,
        /// A formula of linear temporal logic over names of actions
        #[arg(long, value_name = "FORMULA", conflicts_with = "automaton")]
        ltl: Option<String>,
        /// An automaton of forbidden words in the Hanoi omega-automata format; its propositions are names of actions
        #[arg(long, value_name = "FILE.hoa")]
        automaton: Option<PathBuf>,
        /// For formulas and automata: another action that can be seen, as an empty letter (may be repeated)
        #[arg(long, value_name = "NAME")]
        visible: Vec<String>,
        /// Most states of the tester
        #[arg(long, value_name = "N", default_value_t = 1_000_000)]
        max_states: usize,
        /// Where to write; by default to standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        read: ReadArgs,
    },
    /// Write the files of a token ring
    Example {
        /// The directory to write to; it is made if it is not there
        directory: PathBuf,
        /// Which ring
        #[arg(long, value_enum, default_value_t = RingWord::Demand)]
        ring: RingWord,
        /// How many servers and clients
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=1000))]
        size: u32,
        /// Which fault of the paper, from 1 to 3; 0 for none
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=3))]
        fault: u8,
        /// What the first client does can be seen
        #[arg(long)]
        visible: bool,
        /// It cannot be seen where the token is
        #[arg(long)]
        hide_token: bool,
    },
}

/// What runs beside the system and rejects. Testers take part in the visible actions whose names they know.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TesterArgs {
    /// A tester: states marked Rej, Dl_rej, Ll_rej, Inf_rej are reject states and monitors (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub(crate) tester: Vec<PathBuf>,
    /// A process that allows all that the system may do: traces, stable failures, divergences (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub(crate) specification: Vec<PathBuf>,
    /// A formula over visible actions and propositions that every run must satisfy, e.g. '[] (req -> <> ack)' (may be
    /// repeated)
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,
    /// An automaton of forbidden runs, in the Hanoi omega-automata format, over visible actions and propositions (may be
    /// repeated)
    #[arg(long, value_name = "FILE.hoa")]
    pub(crate) automaton: Vec<PathBuf>,
}

/// When to give up.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// Most states to find
    #[arg(long, value_name = "N")]
    pub(crate) max_states: Option<u64>,
    /// Most memory to use, e.g. 4G; by default half of the machine's
    #[arg(long, value_name = "BYTES", value_parser = quantity::bytes)]
    pub(crate) memory: Option<usize>,
    /// Most time to take, e.g. 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time: Option<Duration>,
    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            states: self.max_states.unwrap_or(u64::MAX),
            bytes: self.memory.unwrap_or_else(machine::default_memory),
        }
    }
}

/// How files are read.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReadArgs {
    /// Take the dialects of fMBT and TEMA, too
    #[arg(long)]
    pub(crate) lenient: bool,
    /// How .aut files spell tau; by default both are read, and `i` is written
    #[arg(long, value_enum)]
    pub(crate) tau: Option<TauWord>,
    /// For Promela models (.pml): what can be seen of a step: `q!` (sends on q), `q?` (receives), `x=` (changes of x),
    /// or an expression that becomes true, e.g. P@label (may be repeated); all other steps are tau. Of a process or
    /// channel by itself (model.pml#P, model.pml#q) all sends and receives are seen
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Vec<String>,
    /// For Promela models: a proposition, as NAME:EXPR or EXPR (may be repeated)
    #[arg(long, value_name = "NAME:EXPR")]
    pub(crate) proposition: Vec<String>,
    /// For Promela models: define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,
    /// For Promela models that are compared or minimised under a semantics that allows it: how their states are left out
    /// (none, closure, scc, deletion, scc+deletion, ...); by default scc+deletion
    #[arg(long, value_enum, value_name = "REDUCTION")]
    pub(crate) model_reduction: Option<ReductionWord>,
    /// Whether CFFD is all that counts of them.
    #[arg(skip)]
    pub(crate) is_seen_from_outside: bool,
    /// For Promela models: most states of one
    #[arg(long, value_name = "N", default_value_t = 5_000_000)]
    pub(crate) max_model_states: u64,
    /// For Promela models in compositions: one with more states is followed only as far as the composition comes
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) unfold_first: usize,
}

impl ReadArgs {
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions { lenient: self.lenient }
    }

    pub(crate) fn tau(&self) -> Tau {
        match self.tau {
            None => Tau::Both,
            Some(TauWord::I) => Tau::I,
            Some(TauWord::Tau) => Tau::Tau,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TauWord {
    /// As in CADP
    I,
    /// As in mCRL2
    Tau,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatWord {
    /// The text format of TVT
    Lsts,
    /// Aldebaran: CADP, mCRL2 and others; propositions are lost
    Aut,
    /// Graphviz
    Dot,
}

/// What a reduced composition has in common with the whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PreserveWord {
    /// Deadlocks, and whether it can run for ever
    Deadlocks,
    /// Traces
    Traces,
    /// Traces and stable failures
    Failures,
    /// Traces, stable failures, divergence traces
    Cffd,
}

impl From<PreserveWord> for Semantics {
    fn from(word: PreserveWord) -> Self {
        match word {
            PreserveWord::Deadlocks => Self::Deadlocks,
            PreserveWord::Traces => Self::Traces,
            PreserveWord::Failures => Self::Failures,
            PreserveWord::Cffd => Self::Cffd,
        }
    }
}

/// A token ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RingWord {
    /// The token moves on demand: Hansen, Virtanen and Valmari
    Demand,
    /// The token goes round: after Graf and Steffen
    RoundRobin,
}

/// What of a process counts when it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelWord {
    /// Traces, stable failures, divergence traces
    Cffd,
    /// The same without failures after divergence traces
    Ndfd,
    /// Traces and stable failures
    Failures,
    /// Failures and divergences; nothing counts after a divergence trace
    Csp,
    /// Traces
    Traces,
    /// Strong bisimilarity
    Strong,
    /// Branching bisimilarity that preserves divergence
    Branching,
}

impl ModelWord {
    pub(crate) fn model(self) -> Model {
        match self {
            Self::Cffd => Model::Cffd,
            Self::Ndfd => Model::Ndfd,
            Self::Failures => Model::Failures,
            Self::Csp => Model::Csp,
            Self::Traces => Model::Traces,
            Self::Strong => Model::Strong,
            Self::Branching => Model::Branching,
        }
    }
}

/// What must stay the same when a process is made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SmallWord {
    /// Everything; only states that cannot be reached are left out
    Reachable,
    /// The same as branching, but only cycles and chains of tau are merged, in linear time
    Tau,
    /// Strong bisimilarity
    Strong,
    /// Branching bisimilarity that preserves divergence
    Branching,
    /// CFFD: equivalent processes have the same result
    Cffd,
}
