//! SPIN as a judge: how many states and transitions a model has, and whether something goes wrong.
//!
//! Its plain semantics: `spin -a -o1 -o2 -o3`, compiled without reduction, run to the end past all errors.
//! There are things that it does not decide, and says so: a search that is cut by depth or memory, a `d_step`
//! that blocks (it stops the path at an error whose place depends on its search order), a verifier that dies.

use super::Counts;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Why there is no count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCount {
    /// SPIN does not accept the model: what it said.
    Refused(String),
    /// It did not get to an end that means something: why.
    Undecided(String),
}

/// What the verifier prints when its numbers are not those of the whole graph.
const CUT: [&str; 7] = [
    "max search depth too small",
    "reached -DMEMLIM",
    "block in d_step seq",
    "VECTORSZ too small",
    "too many processes",
    "aborting",
    "has unconditional self-loop",
];

/// Whether `spin` and `gcc` can be started.
pub fn is_there() -> bool {
    let can_start = |tool: &str| {
        let quiet = |command: &mut Command| command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        quiet(Command::new(tool).arg("-V")).is_ok()
    };
    can_start("spin") && can_start("gcc")
}

/// The name of a directory that nobody else uses.
pub(super) fn fresh_directory() -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("stubborn-random-{}-{number}", std::process::id()))
}

/// Has SPIN count, for at most so many seconds.
pub fn count(text: &str, seconds: usize) -> Result<Counts, NoCount> {
    let work = fresh_directory();
    let result = count_in(&work, text, seconds);
    let _ = std::fs::remove_dir_all(&work);
    result
}

fn count_in(work: &PathBuf, text: &str, seconds: usize) -> Result<Counts, NoCount> {
    let undecided = |error: std::io::Error| NoCount::Undecided(error.to_string());
    std::fs::create_dir_all(work).map_err(undecided)?;
    std::fs::write(work.join("model.pml"), text).map_err(undecided)?;
    let said = run(work, &["timeout", "20", "spin", "-a", "-o1", "-o2", "-o3", "model.pml"])?;
    if !work.join("pan.c").exists() {
        let errors: Vec<&str> = said.lines().filter(|line| line.contains("rror")).take(2).collect();
        return Err(NoCount::Refused(errors.join("; ")));
    }
    let flags = ["-O0", "-w", "-DNOREDUCE", "-DSAFETY", "-DNOFAIR", "-DVECTORSZ=4096", "-DMEMLIM=1000"];
    let gcc: Vec<&str> = ["gcc"].into_iter().chain(flags).chain(["-o", "pan", "pan.c"]).collect();
    let said = run(work, &gcc)?;
    if !work.join("pan").exists() {
        let error = said.lines().find(|line| line.contains("error")).unwrap_or("");
        return Err(NoCount::Refused(format!("gcc: {error}")));
    }
    let seconds = seconds.to_string();
    let said = run(work, &["timeout", &seconds, "./pan", "-c0", "-m300000", "-n", "-w18"])?;
    if let Some(cut) = CUT.iter().find(|cut| said.contains(**cut)) {
        return Err(NoCount::Undecided((*cut).to_owned()));
    }
    counts_in(&said).ok_or_else(|| NoCount::Undecided("the verifier did not finish".into()))
}

/// The numbers in what the verifier printed. It counts the first state as a transition.
fn counts_in(said: &str) -> Option<Counts> {
    let number = |what: &str| {
        let line = said.lines().find(|line| line.contains(what))?;
        line.split_whitespace().next()?.parse::<f64>().ok().map(|n| n as usize)
    };
    Some(Counts {
        states: number("states, stored")?,
        transitions: number("transitions (")?.checked_sub(1)?,
        has_errors: !said.contains("errors: 0"),
    })
}

/// What a command prints, errors included.
pub(super) fn run(work: &Path, command: &[&str]) -> Result<String, NoCount> {
    let output = Command::new(command[0])
        .args(&command[1..])
        .current_dir(work)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| NoCount::Undecided(format!("`{}` cannot be started: {error}", command[0])))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_found_in_the_report() {
        let said = "State-vector 20 byte, depth reached 4, errors: 2\n        \
                    5 states, stored\n        1 states, matched\n        6 transitions (= stored+matched)\n";
        assert_eq!(counts_in(said), Some(Counts { states: 5, transitions: 5, has_errors: true }));
        assert_eq!(counts_in("pan: out of memory"), None);
    }
}
