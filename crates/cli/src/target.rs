//! What a command is about: a model in Rust, or a Promela model in a file.

use crate::args::{ParamArgs, PromelaArgs};
use crate::promela::{self, Loaded};
use crate::run::{Failure, SystemJob, with_system};
use crate::subject::Subject;
use std::path::Path;
use stubborn_model::{Model, RuleSource};

/// A model of either kind.
pub(crate) enum Target {
    /// Written in Rust.
    Model(Box<dyn Model>),
    /// Written in Promela; with the name of its file.
    Promela(String, Box<Loaded>),
}

impl Target {
    /// A Promela model if `name` looks like the name of a file, else one of the gallery. `None` if the file is
    /// refused; what is wrong with it has been said.
    pub(crate) fn open(name: &str, params: &ParamArgs, args: &PromelaArgs) -> Result<Option<Self>, Failure> {
        if is_file_name(name) {
            let loaded = promela::load(Path::new(name), args)?;
            return Ok(loaded.map(|loaded| Self::Promela(name.to_owned(), Box::new(loaded))));
        }
        refuse_expressions(args)?;
        let built = stubborn_gallery::build(name, params.size, params.variant.as_deref());
        built.map(|model| Some(Self::Model(model))).map_err(|error| Failure::Usage(error.to_string()))
    }

    /// What it is called.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Model(model) => model.name(),
            Self::Promela(name, _) => name.clone(),
        }
    }

    /// Does `job` with it; no rules are needed.
    pub(crate) fn with<J: SystemJob>(&self, job: J) -> Result<J::Output, Failure> {
        match self {
            Self::Model(model) => Ok(with_system(&**model, RuleSource::None, job)?),
            Self::Promela(_, loaded) => Ok(job.run(&Subject::new(&loaded.network, &loaded.asked))),
        }
    }
}

/// Whether a name is that of a file, and not of a model of the gallery.
pub(crate) fn is_file_name(name: &str) -> bool {
    let path = Path::new(name);
    path.extension().is_some() || path.components().count() > 1
}

/// Refuses what only Promela models can be asked.
pub(crate) fn refuse_expressions(args: &PromelaArgs) -> Result<(), Failure> {
    if !args.has_expressions() {
        return Ok(());
    }
    Err(Failure::Usage(
        "--invariant, --unreachable, --may-progress and --must-progress are for Promela models".into(),
    ))
}
