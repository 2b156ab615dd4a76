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
        let path = Path::new(name);
        if path.extension().is_some() || path.components().count() > 1 {
            let loaded = promela::load(path, args)?;
            return Ok(loaded.map(|loaded| Self::Promela(name.to_owned(), Box::new(loaded))));
        }
        if !args.invariant.is_empty() {
            return Err(Failure::Usage("--invariant is for Promela models".into()));
        }
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
            Self::Promela(_, loaded) => Ok(job.run(&Subject::new(&loaded.network, &loaded.invariants))),
        }
    }
}
