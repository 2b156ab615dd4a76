//! `stubborn cc`: programs whose accesses to memory are seen.
//!
//! The compiler is asked for the calls of its thread sanitizer, and ours are linked instead of the sanitizer's.

use crate::Trouble;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What stands in for the sanitizer's library.
const CALLS: &str = concat!(include_str!("../preload/deep.c"), include_str!("../preload/formats.c"));

/// Functions of the C library whose accesses to memory are seen, too: calls of them go through what we link.
const WRAPPED: [&str; 29] = [
    "memcpy", "memmove", "memset", "memcmp", "strlen", "strcpy", "strncpy", "strcat", "strcmp", "strncmp",
    "strchr", "strdup", "qsort", "read", "write", "printf", "fprintf", "sprintf", "snprintf", "puts",
    "fputs", "fwrite", "fread", "fgets", "strncat", "strrchr", "strstr", "atoi", "strtol",
];

/// Options with a value of their own behind them.
const WITH_VALUE: [&str; 9] = ["-o", "-I", "-D", "-U", "-L", "-l", "-include", "-x", "-isystem"];

/// Compiles as gcc would with these arguments, and says which commands do it. Gives the exit code of the one that failed,
/// or zero.
pub fn compile(arguments: &[String], mut say: impl FnMut(&str)) -> Result<i32, Trouble> {
    let mut run = |arguments: &[String]| -> Result<i32, Trouble> {
        say(&format!("gcc {}", arguments.join(" ")));
        let status = Command::new("gcc").args(arguments).status();
        let status = status.map_err(|error| Trouble::Start("gcc".to_owned(), error))?;
        Ok(status.code().unwrap_or(1))
    };
    let instrumented = |rest: &[String]| {
        let first = ["-fsanitize=thread", "-g"].map(str::to_owned);
        // The compiler knows what these do, and might do it itself.
        let calls = WRAPPED.map(|name| format!("-fno-builtin-{name}"));
        first.into_iter().chain(calls).chain(rest.iter().cloned()).collect::<Vec<String>>()
    };
    if arguments.iter().any(|argument| ["-c", "-S", "-E", "--version"].contains(&argument.as_str())) {
        return run(&instrumented(arguments));
    }
    let directory = std::env::temp_dir().join(format!("stubborn-cc-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(Trouble::System)?;
    let code = link(arguments, &directory, &mut run, instrumented);
    // What is temporary; nobody needs it any more.
    let _ = std::fs::remove_dir_all(&directory);
    code
}

fn link(
    arguments: &[String],
    directory: &Path,
    run: &mut impl FnMut(&[String]) -> Result<i32, Trouble>,
    instrumented: impl Fn(&[String]) -> Vec<String>,
) -> Result<i32, Trouble> {
    let word = |path: PathBuf| path.to_string_lossy().into_owned();
    let (sources, others) = split(arguments);
    let mut objects = Vec::new();
    for (i, source) in sources.iter().enumerate() {
        let object = word(directory.join(format!("{i}.o")));
        let rest = [&for_compiling(&others)[..], &["-c".into(), source.clone(), "-o".into(), object.clone()]]
            .concat();
        let code = run(&instrumented(&rest))?;
        if code != 0 {
            return Ok(code);
        }
        objects.push(object);
    }
    let calls = word(directory.join("deep.c"));
    std::fs::write(&calls, CALLS).map_err(Trouble::System)?;
    let object = word(directory.join("deep.o"));
    let compiled = run(&["-O1", "-fPIC", "-c", &calls, "-o", &object].map(str::to_owned))?;
    if compiled != 0 {
        return Ok(compiled);
    }
    objects.push(object);
    let wrapped = WRAPPED.map(|name| format!("-Wl,--wrap={name}"));
    // Objects come before libraries.
    run(&[&wrapped[..], &objects[..], &others[..]].concat())
}

/// Sources, and everything else.
fn split(arguments: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut sources, mut others) = (Vec::new(), Vec::new());
    let mut is_value = false;
    for argument in arguments {
        let is_source = [".c", ".cc", ".cpp", ".cxx"].iter().any(|end| argument.ends_with(end));
        let list =
            if is_source && !is_value && !argument.starts_with('-') { &mut sources } else { &mut others };
        list.push(argument.clone());
        is_value = WITH_VALUE.contains(&argument.as_str());
    }
    (sources, others)
}

/// Without what is for linking only.
fn for_compiling(others: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = others.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-o" | "-L" | "-l" => {
                rest.next();
            }
            word if word.starts_with("-l") || word.starts_with("-L") || word.starts_with("-Wl,") => {}
            word if !word.starts_with('-') && [".o", ".a", ".so"].iter().any(|end| word.ends_with(end)) => {}
            word if WITH_VALUE.contains(&word) => {
                kept.push(argument.clone());
                kept.extend(rest.next().cloned());
            }
            _ => kept.push(argument.clone()),
        }
    }
    kept
}
