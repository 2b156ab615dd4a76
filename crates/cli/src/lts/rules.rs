//! `stubborn lts rules`: rules that go without saying, and rules in another format.

use super::args::ReadArgs;
use super::{BAD_INPUT, files, promela};
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
        _ => made(inputs, names, output, read)?,
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

fn made(
    inputs: &[PathBuf],
    names: Names<'_>,
    output: Option<&Path>,
    read: &ReadArgs,
) -> Result<Option<Plan>, Failure> {
    let mut components = Vec::new();
    for (i, file) in inputs.iter().enumerate() {
        let Some(lsts) = files::open(file, read)? else { return Ok(None) };
        let name = seen_from(output, file);
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

/// The name of a file as seen from the directory of the rules: their components must be there or below.
fn seen_from(output: Option<&Path>, file: &Path) -> String {
    let parent = output.and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty());
    let directory = parent.unwrap_or(Path::new(".")).canonicalize();
    let inside = directory.ok().and_then(|directory| {
        let file = promela::found(file, Path::canonicalize).ok()?;
        Some(file.strip_prefix(directory).ok()?.to_string_lossy().into_owned())
    });
    inside.unwrap_or_else(|| {
        let name = file.to_string_lossy().into_owned();
        say(&format!(
            "warning: `{}` is not in the directory of the rules or below",
            stubborn_report::clean(&name)
        ));
        name
    })
}

fn list<T>(
    file: &Path,
    read: impl FnOnce(&str, Vec<u8>, &dyn Files) -> Result<T, Box<Refusal>>,
) -> Result<Option<T>, Failure> {
    let bytes = files::read(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    let (directory, name) = files::Directory::of(file)?;
    Ok(read(&name, bytes, &directory).map_err(|refusal| files::complain(&refusal)).ok())
}
