//! Where testers come from: files, specifications, formulas, automata; and `stubborn lts tester`.

use super::args::{FormatWord, ReadArgs, TesterArgs};
use super::{BAD_INPUT, files};
use crate::run::Failure;
use std::fmt;
use std::path::{Path, PathBuf};
use stubborn_ltl::{Automaton, degeneralise, from_hoa};
use stubborn_lts::{
    Lsts, Plan, automaton_tester, canonical_tester, formula_tester, with_automaton, with_formula,
};

/// What a tester is made of.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Tester(PathBuf),
    Specification(PathBuf),
    Formula(String),
    Automaton(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tester(file) | Self::Specification(file) | Self::Automaton(file) => {
                write!(f, "{}", file.display())
            }
            Self::Formula(formula) => f.write_str(formula),
        }
    }
}

/// All testers that were asked for.
pub(crate) fn sources(args: &TesterArgs) -> Vec<Source> {
    let testers = args.tester.iter().cloned().map(Source::Tester);
    let specifications = args.specification.iter().cloned().map(Source::Specification);
    let formulas = args.ltl.iter().cloned().map(Source::Formula);
    let automata = args.automaton.iter().cloned().map(Source::Automaton);
    testers.chain(specifications).chain(formulas).chain(automata).collect()
}

impl Source {
    /// The one that was given.
    pub(crate) fn new(
        specification: Option<PathBuf>,
        ltl: Option<String>,
        automaton: Option<PathBuf>,
    ) -> Self {
        match (ltl, automaton) {
            (Some(formula), _) => Self::Formula(formula),
            (None, Some(file)) => Self::Automaton(file),
            (None, None) => Self::Specification(specification.unwrap_or_default()),
        }
    }

    /// The tester; `visible` are the actions that can be seen of the system. `None` if a file is refused; the reason is then on the screen.
    pub(crate) fn make(
        &self,
        limit: usize,
        visible: &[String],
        read: &ReadArgs,
    ) -> Result<Option<Lsts>, Failure> {
        let wrong = |error: String| Failure::Usage(format!("{self}: {error}"));
        match self {
            Self::Tester(file) => files::open(file, read),
            Self::Specification(file) => {
                let Some(specification) = files::open(file, read)? else { return Ok(None) };
                canonical_tester(&specification, limit).map(Some).map_err(|error| wrong(error.to_string()))
            }
            Self::Formula(formula) => {
                formula_tester(formula, visible).map(Some).map_err(|error| wrong(error.to_string()))
            }
            Self::Automaton(file) => {
                let automaton = read_automaton(file)?;
                automaton_tester(&automaton, visible).map(Some).map_err(|error| wrong(error.to_string()))
            }
        }
    }

    /// Whether it may speak of propositions, too.
    pub(crate) fn has_propositions(&self) -> bool {
        matches!(self, Self::Formula(_) | Self::Automaton(_))
    }

    /// The system with a tester beside it that sees actions and propositions.
    pub(crate) fn beside(&self, plan: &Plan, limit: usize) -> Result<Plan, Failure> {
        let tested = match self {
            Self::Formula(formula) => with_formula(plan, formula, limit),
            Self::Automaton(file) => with_automaton(plan, &read_automaton(file)?, limit),
            Self::Tester(_) | Self::Specification(_) => return Ok(plan.clone()),
        };
        tested.map_err(|error| Failure::Usage(format!("{self}: {error}")))
    }
}

/// An automaton with accepting states.
fn read_automaton(file: &Path) -> Result<Automaton, Failure> {
    let wrong = |error: String| Failure::Usage(format!("{}: {error}", file.display()));
    let bytes = files::read(file).map_err(wrong)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let automaton = from_hoa(&text).map_err(|error| wrong(error.to_string()))?;
    Ok(if automaton.is_buchi() { automaton } else { degeneralise(&automaton) })
}

/// Writes a tester.
pub(crate) fn write(
    source: &Source,
    visible: &[String],
    max_states: usize,
    output: Option<&Path>,
    read: &ReadArgs,
) -> Result<u8, Failure> {
    let Some(tester) = source.make(max_states, visible, read)? else { return Ok(BAD_INPUT) };
    files::save(&tester, output, FormatWord::Lsts, read)?;
    Ok(0)
}
