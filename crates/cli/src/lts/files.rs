//! Files of processes: where they are, which format they have, and how a result is written.

use super::args::{FormatWord, ReadArgs};
use super::promela;
use crate::entry::say;
use crate::run::Failure;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use stubborn_lts::{
    Component, Files, Growing, Lsts, NoComponent, Plan, Refusal, read_aut, read_document, read_lsts,
    read_rules, write_aut, write_document, write_dot, write_lsts,
};
use stubborn_text::{LoadError, resolve};

/// The largest file that is read.
const MAX_BYTES: u64 = 1 << 30;

/// Files from a directory and below.
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// The directory of `file`, and the name of the file in it.
    pub(crate) fn of(file: &Path) -> Result<(Self, String), Failure> {
        let parent = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let unreadable = |error: io::Error| Failure::Usage(format!("{}: {error}", file.display()));
        let directory = parent.canonicalize().map_err(unreadable)?;
        let name = file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        Ok((Self(directory), name))
    }
}

impl Directory {
    /// Where a file of the directory is.
    pub(crate) fn path(&self, path: &str) -> Result<PathBuf, LoadError> {
        let path = self.0.join(path).canonicalize().map_err(|_| LoadError::Missing)?;
        // A link may lead out of the directory although its name does not.
        if path.starts_with(&self.0) { Ok(path) } else { Err(LoadError::Outside) }
    }
}

impl Files for Directory {
    fn load(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        read(&self.path(path)?).map_err(LoadError::Unreadable)
    }
}

/// The bytes of a file that is not too large.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err(format!("not a file of at most {MAX_BYTES} bytes"));
    }
    std::fs::read(path).map_err(|error| error.to_string())
}

/// Reads the file that was named on the command line. `None` if it is refused; the reason is then on the screen.
pub(crate) fn open(file: &Path, args: &ReadArgs) -> Result<Option<Lsts>, Failure> {
    if promela::is_promela(file) {
        return promela::open(file, args);
    }
    let bytes = read(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    let (directory, name) = Directory::of(file)?;
    let lsts = if is_aut(&name) {
        read_aut(&name, bytes, args.tau())
    } else {
        read_lsts(&name, bytes, &directory, args.options())
    };
    Ok(lsts.map_err(|refusal| complain(&refusal)).ok())
}

/// Reads rules and their components. `None` if they are refused; the reason is then on the screen.
pub(crate) fn open_rules(file: &Path, args: &ReadArgs) -> Result<Option<Plan>, Failure> {
    let bytes = read(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    let (directory, name) = Directory::of(file)?;
    let mut load = |path: &str| {
        if promela::is_promela(Path::new(path)) {
            let find = |model: &Path| directory.path(&model.to_string_lossy());
            let file = promela::found(Path::new(path), find).map_err(NoComponent::Load)?;
            let model =
                promela::open(&file, args).map_err(|failure| NoComponent::Other(failure.to_string()))?;
            return model.ok_or_else(|| NoComponent::Other(format!("`{path}` is refused")));
        }
        read_component(&directory, path, args)
    };
    let plan = read_rules(&name, bytes, &directory, &mut load, args.options());
    Ok(plan.map_err(|refusal| complain(&refusal)).ok())
}

/// The same, with Promela components that are not small followed as far as the composition will come. Where rules
/// cannot be read without knowing all of a component, it is explored first.
pub(crate) fn follow_rules(file: &Path, args: &ReadArgs) -> Result<Option<Plan>, Failure> {
    let bytes = read(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    let (directory, name) = Directory::of(file)?;
    let mut small: HashMap<String, Lsts> = HashMap::new();
    let mut growing: HashMap<String, Rc<Growing>> = HashMap::new();
    loop {
        let mut load = |path: &str| {
            if !promela::is_promela(Path::new(path)) {
                return read_component(&directory, path, args);
            }
            if let Some(known) = small.get(path) {
                return Ok(known.clone());
            }
            if let Some(known) = growing.get(path) {
                return Ok(known.names());
            }
            let other = |failure: Failure| NoComponent::Other(failure.to_string());
            let find = |model: &Path| directory.path(&model.to_string_lossy());
            let file = promela::found(Path::new(path), find).map_err(NoComponent::Load)?;
            let model = promela::grow(&file, args).map_err(other)?;
            let model = model.ok_or_else(|| NoComponent::Other(format!("`{path}` is refused")))?;
            let whole = model.whole(args.unfold_first);
            match whole.map_err(|error| other(promela::not_grown(&file, &error)))? {
                Some(lsts) => Ok(small.entry(path.to_owned()).or_insert(lsts).clone()),
                None => Ok(growing.entry(path.to_owned()).or_insert(Rc::new(model)).names()),
            }
        };
        let plan = read_rules(&name, bytes.clone(), &directory, &mut load, args.options());
        let mut plan = match plan {
            Ok(plan) => plan,
            // Once more, so that the message knows everything.
            Err(_) if !growing.is_empty() => return open_rules(file, args),
            Err(refusal) => {
                complain(&refusal);
                return Ok(None);
            }
        };
        if plan.wanted().iter().any(|(_, action)| action.is_none()) {
            return open_rules(file, args);
        }
        let process = |component: &Component| {
            resolve(&name, &component.name).ok().and_then(|path| growing.get(&path).cloned())
        };
        let followed: Vec<Option<Rc<Growing>>> = plan.components().iter().map(process).collect();
        if plan.wanted().is_empty() {
            for (i, process) in followed.into_iter().enumerate() {
                process.into_iter().for_each(|process| plan.follow(i, process, false));
            }
            return Ok(Some(plan));
        }
        for (component, action) in plan.wanted() {
            if let (Some(process), Some(action)) = (&followed[*component], action) {
                process.action(action);
            }
        }
    }
}

/// If a component that is followed did not grow as far as it should have: says so. Gives the exit code.
pub(crate) fn not_followed(plan: &Plan) -> Option<u8> {
    let failures = (0..plan.components().len()).filter_map(|i| Some((i, plan.growing(i)?.failure()?)));
    let mut code = None;
    for (i, failure) in failures {
        let is_limit = failure.is_limit();
        let Failure::Usage(what) = promela::not_grown(Path::new(&plan.components()[i].name), &failure) else {
            continue;
        };
        say(&if is_limit { format!("inconclusive: {what}") } else { format!("error: {what}") });
        code = Some(if is_limit { 3 } else { super::BAD_INPUT });
    }
    code
}

fn read_component(directory: &Directory, path: &str, args: &ReadArgs) -> Result<Lsts, NoComponent> {
    let bytes = directory.load(path).map_err(NoComponent::Load)?;
    let lsts = if is_aut(path) {
        read_aut(path, bytes, args.tau())
    } else {
        read_lsts(path, bytes, directory, args.options())
    };
    lsts.map_err(NoComponent::Refused)
}

/// Shows why a text is refused.
pub(crate) fn complain(refusal: &Refusal) {
    say(refusal.render().trim_end());
}

pub(crate) fn is_aut(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("aut"))
}

/// Whether a file is a process in one of the formats, by its ending.
pub(crate) fn is_process(name: &str) -> bool {
    is_aut(name) || Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("lsts"))
}

/// Whether a file is one of the text format of TVT: everything is that has no other ending that is known.
pub(crate) fn is_lsts(file: &Path) -> bool {
    !promela::is_promela(file) && !is_aut(&file.to_string_lossy())
}

/// Reads a file of the text format and writes it again, with all that is in it.
pub(crate) fn rewrite(file: &Path, output: Option<&Path>, args: &ReadArgs) -> Result<u8, Failure> {
    let bytes = read(file).map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    let (directory, name) = Directory::of(file)?;
    match read_document(&name, bytes, &directory, args.options()) {
        Ok(document) => write_to(output, |out| write_document(&document, out)).map(|()| 0),
        Err(refusal) => {
            complain(&refusal);
            Ok(super::BAD_INPUT)
        }
    }
}

/// The format that was asked for, or else that of the file's ending, or else LSTS.
pub(crate) fn format(output: Option<&Path>, asked: Option<FormatWord>) -> Result<FormatWord, Failure> {
    if let Some(asked) = asked {
        return Ok(asked);
    }
    let ending = output.and_then(Path::extension).map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        None | Some("lsts") => Ok(FormatWord::Lsts),
        Some("aut") => Ok(FormatWord::Aut),
        Some("dot" | "gv") => Ok(FormatWord::Dot),
        Some(other) => Err(Failure::Usage(format!(
            "no format has the ending `.{other}`; say --to lsts, --to aut or --to dot"
        ))),
    }
}

/// Writes a system to a file or to standard output.
pub(crate) fn save(
    lsts: &Lsts,
    output: Option<&Path>,
    format: FormatWord,
    args: &ReadArgs,
) -> Result<(), Failure> {
    if format == FormatWord::Aut && !lsts.propositions().is_empty() {
        say("warning: .aut has no propositions; they are lost");
    }
    write_to(output, |out| match format {
        FormatWord::Lsts => write_lsts(lsts, out),
        FormatWord::Aut => write_aut(lsts, args.tau(), out),
        FormatWord::Dot => write_dot(lsts, out),
    })
}

/// Writes to standard output, or replaces a file as a whole.
pub(crate) fn write_to(
    output: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let Some(file) = output else {
        let mut out = BufWriter::new(io::stdout().lock());
        return match write(&mut out).and_then(|()| out.flush()) {
            // A reader that has gone away is no error.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(|error| Failure::Usage(error.to_string())),
        };
    };
    let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let beside = file.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = File::create(&beside).and_then(|out| {
        let mut out = BufWriter::with_capacity(1 << 18, out);
        write(&mut out).and_then(|()| out.flush())
    });
    let written = written.and_then(|()| std::fs::rename(&beside, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written.map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))
}
