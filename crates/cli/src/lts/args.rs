//! The words of `stubborn lts`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use stubborn_lts::{ReadOptions, Tau};

#[derive(Debug, Subcommand)]
pub(crate) enum LtsCommand {
    /// Convert between LSTS and .aut, or write for Graphviz
    Convert {
        /// An LSTS or .aut file
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
        /// An LSTS or .aut file
        input: PathBuf,
        #[command(flatten)]
        read: ReadArgs,
    },
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
