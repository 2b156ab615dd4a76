//! `stubborn lts build`: a system step by step.

use super::args::{LimitArgs, ReadArgs};
use super::rules::is_rules;
use super::{BAD_INPUT, files, promela};
use crate::entry::{print, say};
use crate::run::Failure;
use crate::watch::Terminal;
use std::path::Path;
use stubborn_report::{built_json, built_text};
use stubborn_semantics::{BuildError, Limit, Loaded, Workshop, build as build_text};
use stubborn_text::LoadError;

/// What is wanted besides.
pub(crate) struct Wanted<'a> {
    pub(crate) output: Option<&'a Path>,
    pub(crate) json: bool,
    pub(crate) max_nodes: usize,
}

/// Why a file beside the text cannot be read.
fn why(error: &LoadError) -> String {
    match error {
        LoadError::Outside => "the file is outside the directory of the text".into(),
        LoadError::Missing => "there is no such file".into(),
        LoadError::Unreadable(why) => why.clone(),
    }
}

/// Builds what a file says, shows the sizes on the way, and writes the result if that is wanted.
pub(crate) fn build(
    file: &Path,
    wanted: &Wanted<'_>,
    limits: &LimitArgs,
    read: &ReadArgs,
) -> Result<u8, Failure> {
    let format = files::format(wanted.output, None)?;
    let unreadable = |error: String| Failure::Usage(format!("{}: {error}", file.display()));
    let bytes = files::read(file).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("not a text in UTF-8".into()))?;
    let (directory, name) = files::Directory::of(file)?;
    let mut load = |path: &str| {
        let found = directory.path(path).map_err(|error| why(&error))?;
        let refused = || "the file is refused".to_owned();
        if is_rules(&found) {
            let plan = files::open_rules(&found, read).map_err(|failure| failure.to_string())?;
            return plan.map(Loaded::Composition).ok_or_else(refused);
        }
        let is_process = promela::is_promela(&found) || files::is_process(path);
        if !is_process {
            return Err(
                "a process is in a file that ends in .lsts, .aut or .pml, rules in .ext or .rules".into()
            );
        }
        let lsts = files::open(&found, read).map_err(|failure| failure.to_string())?;
        lsts.map(Loaded::Process).ok_or_else(refused)
    };
    let mut watch = Terminal::new(limits.time, limits.quiet || wanted.json);
    let mut workshop = Workshop {
        load: &mut load,
        limits: limits.limits(),
        limit: Limit::of_nodes(wanted.max_nodes),
        watch: &mut watch,
    };
    let built = match build_text(&name, &text, &mut workshop) {
        Ok(built) => built,
        Err(BuildError::Refused(refusal)) => {
            drop(watch);
            files::complain(&refusal);
            return Ok(BAD_INPUT);
        }
        Err(limit @ BuildError::Limit { .. }) => {
            drop(watch);
            say(&limit.to_string());
            return Ok(3);
        }
    };
    drop(watch);
    if wanted.json {
        print(built_json(&file.display().to_string(), &built) + "\n");
    } else if !limits.quiet {
        print(built_text(&built));
    }
    if wanted.output.is_some() {
        files::save(&built.lsts, wanted.output, format, read)?;
    }
    Ok(0)
}
