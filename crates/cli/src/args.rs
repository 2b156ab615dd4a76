//! The words of the command line.

use crate::lts::LtsCommand;
use crate::quantity;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use stubborn_network::Optimisations;
use stubborn_schedule::Algorithm;
use stubborn_verdict::{EngineKind, Guided, ReductionKind, SearchKind, StoreKind};

/// A verifier for concurrent systems that explores as few states as the truth allows.
#[derive(Debug, Parser)]
#[command(
    name = "stubborn",
    version,
    max_term_width = 110,
    after_help = "\
Examples:
  stubborn check model.pml -D N=3                     verify a Promela model
  stubborn check model.pml --invariant 'x < 2'        the same, and that this holds in every state
  stubborn check model.pml --may-progress 'len(q)==0' the same, and that the channel can always be emptied
  stubborn check model.pml --unreachable P@error      the same, and that no P comes to this label
  stubborn check model.pml --ltl '[] (p -> <> q)'     the same, and that every run satisfies this
  stubborn check model.pml --chart                    with the messages of a counterexample as a chart
  stubborn check model.pml --trail                    a counterexample for `spin -t -p model.pml`
  stubborn simulate model.pml --interactive           choose every step yourself
  stubborn simulate model.pml --trail model.pml.trail the run that SPIN, or check --trail, wrote
  stubborn run -- ./program arguments                 explore the schedules of a program as it is
  stubborn demo                                       what is in the gallery
  stubborn demo peterson --size 3                     verify Peterson's algorithm for three customers
  stubborn demo peterson --variant violating          a counterexample to mutual exclusion
  stubborn demo token-ring --size 7 --symmetry --json the same for machines
  stubborn compare token-ring --size 6                one row per reduction
  stubborn compare model.pml                          the same for a Promela model
  stubborn graph peterson --size 2 --output p.dot     the state space, to be drawn
  stubborn ltl '[] (p -> <> q)' --format hoa          the automaton of a formula
  stubborn lts convert client.lsts --output client.aut  the same process in another format
  stubborn papers --quick                             our figures beside the published ones

Exit codes: 0 holds, 1 violated, 2 bad input, 3 inconclusive, 4 contradiction (a bug: please report it)."
)]
pub(crate) struct Stubborn {
    #[command(subcommand)]
    pub(crate) command: StubbornCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StubbornCommand {
    /// Verify a Promela model: assertions, invalid end states, array bounds, and more
    Check {
        /// The model
        model: PathBuf,
        /// Write the counterexample as a trail for `spin -t`; by default to MODEL.trail, as SPIN does
        #[arg(long, value_name = "FILE")]
        #[allow(clippy::option_option)]
        trail: Option<Option<PathBuf>>,
        /// Make the model smaller first, as SPIN does; by default `all`, but `none` with `--reduction none`
        #[arg(long, value_enum)]
        optimise: Option<OptimiseWord>,
        #[command(flatten)]
        promela: PromelaArgs,
        #[command(flatten)]
        linear: LinearArgs,
        #[command(flatten)]
        check: CheckArgs,
    },
    /// Verify a model of the gallery; without a name, list the gallery
    Demo {
        /// Name of the model
        name: Option<String>,
        #[command(flatten)]
        params: ParamArgs,
        #[command(flatten)]
        check: CheckArgs,
    },
    /// Verify a model with every reduction and compare
    Compare {
        /// A file with a Promela model, or the name of a model of the gallery
        model: String,
        /// Make a Promela model smaller first, as SPIN does
        #[arg(long, value_enum)]
        optimise: Option<OptimiseWord>,
        #[command(flatten)]
        params: ParamArgs,
        #[command(flatten)]
        promela: PromelaArgs,
        #[command(flatten)]
        check: CheckArgs,
    },
    /// Run a model: at random, step by step, or as a trail says
    Simulate {
        /// A file with a Promela model, or the name of a model of the gallery
        model: String,
        #[command(flatten)]
        params: ParamArgs,
        #[command(flatten)]
        promela: PromelaArgs,
        #[command(flatten)]
        simulate: SimulateArgs,
    },
    /// Replay a counterexample that was written with --json
    Replay {
        /// A file with a Promela model, or the name of a model of the gallery
        model: String,
        #[command(flatten)]
        params: ParamArgs,
        #[command(flatten)]
        promela: PromelaArgs,
        #[command(flatten)]
        replay: ReplayArgs,
    },
    /// Write the states and transitions of a model, for Graphviz and other tools
    Graph {
        /// A file with a Promela model, or the name of a model of the gallery
        model: String,
        #[command(flatten)]
        params: ParamArgs,
        /// Define a macro, for Promela
        #[arg(short = 'D', value_name = "NAME[=VALUE]")]
        define: Vec<String>,
        #[command(flatten)]
        graph: GraphArgs,
    },
    /// Translate a formula of linear temporal logic to a Büchi automaton, and say whether it notices stuttering
    Ltl {
        #[command(flatten)]
        ltl: LtlArgs,
    },
    /// Processes: labelled state transition systems, composition by rules, testers
    Lts {
        #[command(subcommand)]
        command: LtsCommand,
    },
    /// Explore a program as it is: every interleaving of its threads and processes that can matter
    Run {
        #[command(flatten)]
        run: RunArgs,
    },
    /// Compile a C program so that `stubborn run` sees its accesses to memory; takes the arguments of gcc
    #[command(after_help = "Example: stubborn cc -O1 -pthread racy.c -o racy && stubborn run -- ./racy")]
    Cc {
        /// What gcc would be given
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "ARGUMENT")]
        arguments: Vec<String>,
    },
    /// Rerun published tables, ours beside theirs
    Papers {
        /// Leave out what takes more than a second
        #[arg(long)]
        quick: bool,
        /// Only the rows whose name contains this
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
    },
}

/// Verify this model.
#[derive(Debug, Parser)]
#[command(
    args_conflicts_with_subcommands = true,
    max_term_width = 110,
    after_help = "\
Examples:
  MODEL                            verify with the best reduction that the model has rules for
  MODEL check --reduction none     visit every reachable state
  MODEL compare                    one row per reduction
  MODEL simulate --steps 20        a random run

Exit codes: 0 holds, 1 violated, 2 bad input, 3 inconclusive, 4 contradiction (a bug: please report it)."
)]
pub(crate) struct Own {
    #[command(subcommand)]
    pub(crate) command: Option<OwnCommand>,
    #[command(flatten)]
    pub(crate) params: ParamArgs,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OwnCommand {
    /// Verify the model (this is the default)
    Check {
        #[command(flatten)]
        params: ParamArgs,
        #[command(flatten)]
        check: CheckArgs,
    },
    /// Verify the model with every reduction and compare
    Compare {
        #[command(flatten)]
        params: ParamArgs,
        #[command(flatten)]
        check: CheckArgs,
    },
    /// Run the model: at random, step by step, or as a trail says
    Simulate {
        #[command(flatten)]
        params: ParamArgs,
        #[command(flatten)]
        simulate: SimulateArgs,
    },
    /// Replay a counterexample that was written with --json
    Replay {
        #[command(flatten)]
        params: ParamArgs,
        #[command(flatten)]
        replay: ReplayArgs,
    },
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ParamArgs {
    /// Size of the model, e.g. the number of processes
    #[arg(long, value_name = "N")]
    pub(crate) size: Option<usize>,
    /// Variant of the model
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PromelaArgs {
    /// For Promela: define a macro, as `#define NAME VALUE` would
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,
    /// For Promela: an expression that must hold in every state, as part of safety (may be repeated)
    #[arg(long, value_name = "EXPR")]
    pub(crate) invariant: Vec<String>,
    /// For Promela: a label, as P@LABEL, that no process of type P may come to, as part of safety (may be
    /// repeated)
    #[arg(long, value_name = "P@LABEL")]
    pub(crate) unreachable: Vec<String>,
    /// For Promela: ask whether this expression can always become true again, e.g. 'len(q) == 0'
    #[arg(long, value_name = "EXPR")]
    pub(crate) may_progress: Option<String>,
    /// For Promela: ask whether every run makes this expression true again and again
    #[arg(long, value_name = "EXPR")]
    pub(crate) must_progress: Option<String>,
}

/// Properties of runs.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LinearArgs {
    /// A formula of linear temporal logic that every run must satisfy, e.g. '[] (p -> <> q)' (may be repeated)
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,
    /// An automaton of forbidden runs, in the Hanoi omega-automata format; its propositions are expressions of
    /// the model (may be repeated)
    #[arg(long, value_name = "FILE.hoa")]
    pub(crate) automaton: Vec<PathBuf>,
    /// Check only this formula or claim of the model
    #[arg(short = 'N', long, value_name = "NAME")]
    pub(crate) property: Option<String>,
    /// For what does not notice stuttering: an automaton that moves only when something can be seen
    #[arg(long)]
    pub(crate) tester: bool,
    /// Whether to fire only what can lead the automaton on, where it must be led on to accept anything
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) guided: GuidedWord,
    /// Pairs of states after which cycles are looked for first: few, to test searches that are large
    #[arg(long, value_name = "N", hide = true)]
    pub(crate) first_look: Option<usize>,
    /// Only weakly fair runs count: a process that can always move from some point on does so again and again
    #[arg(long)]
    pub(crate) fair: bool,
}

/// When the automaton chooses what is fired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GuidedWord {
    /// For 4,096 pairs of states, if without it 4,096 were not enough
    #[default]
    Auto,
    /// Not at all
    Never,
    /// To the end
    Always,
}

impl From<GuidedWord> for Guided {
    fn from(word: GuidedWord) -> Self {
        match word {
            GuidedWord::Auto => Self::Auto,
            GuidedWord::Never => Self::Never,
            GuidedWord::Always => Self::Always,
        }
    }
}

impl PromelaArgs {
    /// Whether something is asked that only Promela models can be asked.
    pub(crate) fn has_expressions(&self) -> bool {
        !self.invariant.is_empty()
            || !self.unreachable.is_empty()
            || self.may_progress.is_some()
            || self.must_progress.is_some()
    }
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    /// Ask only this (may be repeated); by default everything that the model asks
    #[arg(long, value_enum, value_name = "QUESTION")]
    pub(crate) question: Vec<QuestionWord>,
    /// A terminal state is not excused from progress
    #[arg(long)]
    pub(crate) strict_progress: bool,
    /// How to choose what to fire; by default `scc` if the model has rules, `scc+deletion` for Promela and `scc` for rejections, but `none`
    /// where that is less work, or the model has no rules
    #[arg(long, value_enum)]
    pub(crate) reduction: Option<ReductionWord>,
    /// Which stubborn rules to use; by default hand-written ones if there are any
    #[arg(long, value_enum)]
    pub(crate) rules: Option<RulesWord>,
    /// Explore one representative of each orbit
    #[arg(long)]
    pub(crate) symmetry: bool,
    /// Hold the stubborn set of every state against its definition (slow)
    #[arg(long)]
    pub(crate) check_reduction: bool,
    /// Order of the search
    #[arg(long, value_enum, default_value = "bfs")]
    pub(crate) search: SearchWord,
    /// How states are remembered; only `exact` and `quotient` can prove that something holds
    #[arg(long, value_enum, default_value = "exact")]
    pub(crate) store: StoreWord,
    /// Who makes the successors
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineWord,
    /// Most threads to search with; where several cannot, one does, and the report says why
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads: u32,
    /// For bitstate: the field has two to this power of bits
    #[arg(long, value_name = "LOG2", default_value_t = 30, value_parser = clap::value_parser!(u32).range(10..=40))]
    pub(crate) bits: u32,
    /// For bitstate: bits per state
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) hashes: u32,
    /// Most memory to use, e.g. 4G; by default half of the machine's
    #[arg(long, value_name = "BYTES", value_parser = quantity::bytes)]
    pub(crate) memory: Option<usize>,
    /// Most time to take, e.g. 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time: Option<Duration>,
    /// Most states to find
    #[arg(long, value_name = "N")]
    pub(crate) max_states: Option<u64>,
    /// Go on after a violation
    #[arg(long)]
    pub(crate) all_errors: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the verdict words only, and no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Show whole states in counterexamples
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Draw the messages of every counterexample, one column per process
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    pub(crate) chart: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct SimulateArgs {
    /// How many steps to take at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) steps: usize,
    /// Seed of the random choices; by default a new one, which is printed
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Choose every step yourself, by number; `h` shows what else can be said
    #[arg(long, conflicts_with_all = ["steps", "seed"])]
    pub(crate) interactive: bool,
    /// Make the run in this file: a trail of SPIN (Promela only) or a report that --json wrote; with
    /// --interactive, go on from its end
    #[arg(long, value_name = "FILE", conflicts_with_all = ["steps", "seed"])]
    pub(crate) trail: Option<PathBuf>,
    /// Draw the messages of the run, one column per process
    #[arg(long)]
    pub(crate) chart: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct GraphArgs {
    /// What to write
    #[arg(long, value_enum, default_value = "dot")]
    pub(crate) format: FormatWord,
    /// Most states to write
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_states: u64,
    /// Where to write; by default to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatWord {
    /// Graphviz
    Dot,
    /// Aldebaran: CADP, mCRL2 and others
    Aut,
}

/// How to explore a program.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  stubborn run -- ./philosophers 3        every schedule that can matter
  stubborn run --random 1 --max-runs 10000 -- ./server
  stubborn run --replay 0x4.1.2x2 -- ./philosophers 3

Only calls of the C library are seen (threads, locks, semaphores, processes), and accesses to memory in programs that `stubborn
cc` has compiled: in others a race on plain memory that shows without a call in between is missed. Exit codes: 0 holds, 1 violated, 2 not fit to be explored, 3 inconclusive.")]
pub(crate) struct RunArgs {
    /// The program and its arguments, behind `--`
    #[arg(last = true, value_name = "PROGRAM", required_unless_present = "header")]
    pub(crate) program: Vec<String>,
    /// How runs are chosen: dfs, sleep, persistent-1, persistent-2, persistent-3, source or optimal
    #[arg(long, value_name = "ALGORITHM", default_value = "source", value_parser = algorithm)]
    pub(crate) algorithm: Algorithm,
    /// Make only runs with at most so many preemptions; then nothing is proved
    #[arg(long, value_name = "N")]
    pub(crate) preemptions: Option<u32>,
    /// Make runs at random, from this seed; give a limit, too
    #[arg(long, value_name = "SEED")]
    pub(crate) random: Option<u64>,
    /// Most runs to make
    #[arg(long, value_name = "N")]
    pub(crate) max_runs: Option<u64>,
    /// Most visible operations in a run; longer runs are cut, and the exploration goes on
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<usize>,
    /// Most time to take, e.g. 10m
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time: Option<Duration>,
    /// A thread that does nothing visible for so long diverges, e.g. 500ms; by default 5s
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) patience: Option<Duration>,
    /// How often every thread that waits on a condition variable may wake up for nothing, as POSIX allows; by default one does once
    /// in a run, in further explorations
    #[arg(long, value_name = "N")]
    pub(crate) spurious: Option<u32>,
    /// Ask the program at every step, also of a beginning that is repeated: slower, and no different
    #[arg(long)]
    pub(crate) stepwise: bool,
    /// Make this run again, as a report gave it
    #[arg(long, value_name = "SCHEDULE")]
    pub(crate) replay: Option<String>,
    /// Show what the program writes
    #[arg(long)]
    pub(crate) output: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the verdict word only, and no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Draw the run that fails, one column per thread
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    pub(crate) chart: bool,
    /// Print a C header with `VS_toss` and `VS_assert`, for programs that want them
    #[arg(long)]
    pub(crate) header: bool,
}

fn algorithm(word: &str) -> Result<Algorithm, String> {
    let words: Vec<&str> = Algorithm::ALL.iter().map(|algorithm| algorithm.word()).collect();
    Algorithm::from_word(word).ok_or_else(|| format!("expected one of {}", words.join(", ")))
}

#[derive(Clone, Debug, Args)]
pub(crate) struct LtlArgs {
    /// The formula, in SPIN's syntax: [] <> X U W V -> <-> && || !, or words
    #[arg(allow_hyphen_values = true)]
    pub(crate) formula: String,
    /// Negate the formula first, as for a never claim
    #[arg(long)]
    pub(crate) negate: bool,
    /// Print the closure under stuttering: the words that are equivalent to an accepted one
    #[arg(long)]
    pub(crate) closure: bool,
    /// How to write the automaton
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) format: AutomatonWord,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AutomatonWord {
    /// States and edges, for reading
    Text,
    /// Hanoi Omega-Automata format, version 1
    Hoa,
    /// A never claim for SPIN
    Never,
    /// Graphviz
    Dot,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The file that `--json` wrote
    pub(crate) witness: PathBuf,
    /// Show whole states
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Draw the messages of the run, one column per process
    #[arg(long)]
    pub(crate) chart: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum QuestionWord {
    /// No reachable state fails the check
    Safety,
    /// No illegal deadlock
    Deadlock,
    /// Progress always remains possible
    MayProgress,
    /// Progress is always made in the end
    MustProgress,
    /// Termination always remains possible
    MayTerminate,
    /// No transition goes on for ever without the others it should
    Fair,
    /// Promela: the formulas and claims of the model
    Linear,
    /// Promela: no run comes to a label that begins with `accept` again and again
    Acceptance,
    /// Promela: no run avoids labels that begin with `progress` for ever
    NonProgress,
}

impl QuestionWord {
    /// Whether it is answered by searching for runs.
    pub(crate) fn is_about_runs(self) -> bool {
        matches!(self, Self::Linear | Self::Acceptance | Self::NonProgress)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReductionWord {
    /// Fire everything
    None,
    /// Promela: the steps of one process, if nobody can ever be in their way
    Ample,
    /// Promela: closure over enabled transitions
    #[value(name = "persistent-1")]
    Persistent1,
    /// Promela: closure over processes
    #[value(name = "persistent-2")]
    Persistent2,
    /// Promela: closure with necessary enabling sets, the smallest
    #[value(name = "persistent-3")]
    Persistent3,
    /// The closure of one enabled transition
    Closure,
    /// The first strong component of the rules with an enabled transition
    Scc,
    /// Everything but what can be deleted
    Deletion,
    /// The smaller of scc and deletion, state by state
    #[value(name = "scc+deletion")]
    Smaller,
    /// Promela: the closure of everything that may fail
    #[value(name = "up-sets")]
    UpSets,
}

impl From<ReductionWord> for ReductionKind {
    fn from(word: ReductionWord) -> Self {
        match word {
            ReductionWord::None => Self::None,
            ReductionWord::Ample => Self::Ample,
            ReductionWord::Persistent1 => Self::Persistent1,
            ReductionWord::Persistent2 => Self::Persistent2,
            ReductionWord::Persistent3 => Self::Persistent3,
            ReductionWord::Closure => Self::Closure,
            ReductionWord::Scc => Self::StrongComponents,
            ReductionWord::Deletion => Self::Deletion,
            ReductionWord::Smaller => Self::Smaller,
            ReductionWord::UpSets => Self::UpSets,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OptimiseWord {
    /// The model as written: SPIN's plain semantics (spin -o1 -o2 -o3)
    None,
    /// Set local variables to zero when they are dead
    Dead,
    /// Leave out global variables that nobody reads
    Hide,
    /// Do steps that concern nobody else together with the step before (not for properties of runs)
    Merge,
    /// Dead and hide: with `--reduction none` the counts of SPIN's verifier (spin -o3)
    Spin,
    /// All three
    All,
}

impl From<OptimiseWord> for Optimisations {
    fn from(word: OptimiseWord) -> Self {
        Self {
            dead: matches!(word, OptimiseWord::Dead | OptimiseWord::Spin | OptimiseWord::All),
            hide: matches!(word, OptimiseWord::Hide | OptimiseWord::Spin | OptimiseWord::All),
            merge: matches!(word, OptimiseWord::Merge | OptimiseWord::All),
        }
    }
}

impl OptimiseWord {
    /// What was asked for. Who wants every reachable state wants those of the model as written.
    pub(crate) fn asked(word: Option<Self>, args: &CheckArgs) -> Self {
        let is_plain = args.reduction == Some(ReductionWord::None);
        word.unwrap_or(if is_plain { Self::None } else { Self::All })
    }

    /// The word itself.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Dead => "dead",
            Self::Hide => "hide",
            Self::Merge => "merge",
            Self::Spin => "spin",
            Self::All => "all",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesWord {
    /// Written by the model's author
    Hand,
    /// Derived from declared footprints
    Derived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchWord {
    /// Breadth-first: shortest counterexamples
    Bfs,
    /// Depth-first
    Dfs,
}

impl From<SearchWord> for SearchKind {
    fn from(word: SearchWord) -> Self {
        match word {
            SearchWord::Bfs => Self::BreadthFirst,
            SearchWord::Dfs => Self::DepthFirst,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreWord {
    /// Whole states
    Exact,
    /// The same with less memory and more time, on packed states and without reduction
    Quotient,
    /// 64-bit fingerprints
    Compact64,
    /// 128-bit fingerprints
    Compact128,
    /// A few bits per state (Supertrace)
    Bitstate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineWord {
    /// The model itself for some thousand states, then `packed`
    Auto,
    /// The model itself
    Interpreter,
    /// What is remembered of the model, on packed states
    Packed,
}

impl From<EngineWord> for EngineKind {
    fn from(word: EngineWord) -> Self {
        match word {
            EngineWord::Auto => Self::Auto,
            EngineWord::Interpreter => Self::Interpreter,
            EngineWord::Packed => Self::Packed,
        }
    }
}

impl CheckArgs {
    pub(crate) fn store_kind(&self) -> StoreKind {
        match self.store {
            StoreWord::Exact => StoreKind::Exact,
            StoreWord::Quotient => StoreKind::Quotient,
            StoreWord::Compact64 => StoreKind::Compact64,
            StoreWord::Compact128 => StoreKind::Compact128,
            StoreWord::Bitstate => StoreKind::Bitstate { log2: self.bits, functions: self.hashes },
        }
    }
}
