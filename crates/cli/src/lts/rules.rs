//! `stubborn lts rules`: rules that go without saying, and rules in another format.

use super::args::ReadArgs;
use super::{BAD_INPUT, files};
use crate::entry::say;
use crate::run::Failure;
use std::path::{Path, PathBuf};
use stubborn_lts::{
    Component, Files, Plan, Refusal, Renaming, default_plan, read_renaming, read_visible,
    write_extended_rules, write_numeric_rules,
};

/// Files with names.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) rename: Option<&'a Path>,
    pub(crate) visible: Option<&'a Path>,
}

/// Writes rules.
pub(crate) fn rules(
    inputs: &[PathBuf],
    names: Names<'_>,
    numeric: bool,
    output: Option<&Path>,
    read: &ReadArgs,
) -> Result<u8, Failure> {
    let plan = match inputs {
        [file] if is_rules(file) => files::open_rules(file, read)?,
        _ => made(inputs, names, read)?,
    };
    let Some(plan) = plan else { return Ok(BAD_INPUT) };
    files::write_to(output, |out| {
        if numeric { write_numeric_rules(&plan, out) } else { write_extended_rules(&plan, out) }
    })?;
    Ok(0)
}

/// Whether a file is one of rules, by its ending.
pub(crate) fn is_rules(file: &Path) -> bool {
    file.extension().is_some_and(|ending| {
        ["ext", "rules", "xrules", "rls"].iter().any(|known| ending.eq_ignore_ascii_case(known))
    })
}

fn made(inputs: &[PathBuf], names: Names<'_>, read: &ReadArgs) -> Result<Option<Plan>, Failure> {
    let mut components = Vec::new();
    for (i, file) in inputs.iter().enumerate() {
        let Some(lsts) = files::open(file, read)? else { return Ok(None) };
        let name = file.to_string_lossy().into_owned();
        let component = Component { number: i as u64 + 1, prefix: String::new(), name, lsts: lsts.into() };
        components.push(component);
    }
    let mut renaming = Renaming::default();
    if let Some(file) = names.rename {
        let Some(renamed) =
            list(file, |name, bytes, files| read_renaming(name, bytes, files, read.options()))?
        else {
            return Ok(None);
        };
        renaming.renamed = renamed;
    }
    if let Some(file) = names.visible {
        let visible = list(file, |name, bytes, files| read_visible(name, bytes, files, read.options()))?;
        let Some(visible) = visible else { return Ok(None) };
        renaming.visible = Some(visible);
    }
    let (plan, unknown) = default_plan(components, &renaming);
    for name in unknown {
        say(&format!("warning: nothing is called `{}`", stubborn_report::clean(&name)));
    }
    Ok(Some(plan))
}

fn list<T>(
    file: &Path,
    read: impl FnOnce(&str, Vec<u8>, &dyn Files) -> Result<T, Box<Refusal>>,
) -> Result<Option<T>, Failure> {
    let bytes = files::read(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    let (directory, name) = files::Directory::of(file)?;
    Ok(read(&name, bytes, &directory).map_err(|refusal| files::complain(&refusal)).ok())
}
