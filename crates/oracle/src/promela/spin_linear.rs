//! SPIN as a judge of linear time: claims, acceptance cycles, non-progress cycles, weak fairness.
//!
//! [`Verifier::new`] has SPIN translate a model (`spin -a -o1 -o2 -o3`, no optimisations, so that states are
//! those of the text) and [`Verifier::ask`] compiles what it made, once for each kind of question and of
//! reduction, and runs it: `pan -a -N name` for a claim, `pan -a` without claims (`-DNOCLAIM`) for acceptance
//! cycles, `pan -l` (`-DNP`) for non-progress cycles, `-f` for weak fairness, to the first error.
//!
//! What it counts means something only when it found no error: then its states are those of the product. With
//! an error it stops early. An error is one of the property only if it is about the property: an assertion of
//! the model that fails is none, and says nothing about the rest of the search ([`NoCount::Undecided`]).

use super::spin::{NoCount, fresh_directory, run};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is asked of a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// The claim of this name: of `never` or `ltl`. One without a name is found if it is the only one.
    Claim(Option<String>),
    /// Is there a run that passes accepting labels for ever?
    Acceptance,
    /// Is there a run that passes progress labels only finitely often?
    NonProgress,
}

/// How it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// Only runs count in which no process that could move for ever stands still for ever.
    pub is_fair: bool,
    /// With partial-order reduction.
    pub is_reduced: bool,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What was found, in SPIN's words, if anything.
    pub error: Option<String>,
    /// Distinct states stored; all of the product if nothing was found.
    pub states: usize,
    /// Transitions, those of the second search included; the initial state counts as one.
    pub transitions: usize,
}

impl Said {
    /// Whether the property is violated.
    pub fn is_violated(&self) -> bool {
        self.error.is_some()
    }
}

/// What SPIN made of a model. Its files are removed with it.
#[derive(Debug)]
pub struct Verifier {
    work: PathBuf,
    /// How much time to spend on compiling, in the words of gcc.
    level: &'static str,
    /// Names of the verifiers that are compiled, or why one is not.
    compiled: RefCell<BTreeMap<String, Result<(), NoCount>>>,
}

impl Drop for Verifier {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.work);
    }
}

impl Verifier {
    /// Translates a model: `text`, which may include the files of a directory.
    pub fn new(text: &str, includes: Option<&Path>) -> Result<Self, NoCount> {
        let verifier = Self { work: fresh_directory(), level: "-O1", compiled: RefCell::default() };
        let undecided = |error: std::io::Error| NoCount::Undecided(error.to_string());
        std::fs::create_dir_all(&verifier.work).map_err(undecided)?;
        if let Some(directory) = includes {
            copy_files(directory, &verifier.work).map_err(undecided)?;
        }
        std::fs::write(verifier.work.join("asked.pml"), text).map_err(undecided)?;
        let said = run(&verifier.work, &["timeout", "60", "spin", "-a", "-o1", "-o2", "-o3", "asked.pml"])?;
        if !verifier.work.join("pan.c").exists() {
            let errors: Vec<&str> = said.lines().filter(|line| line.contains("rror")).take(2).collect();
            return Err(NoCount::Refused(errors.join("; ")));
        }
        Ok(verifier)
    }

    /// For a small model: compiled quickly, run slowly.
    pub fn quick(self) -> Self {
        let mut quick = self;
        quick.level = "-O0";
        quick
    }

    /// The claims that SPIN made of the formulas of the model, as text: one `never` each.
    pub fn claims(&self) -> String {
        std::fs::read_to_string(self.work.join("_spin_nvr.tmp")).unwrap_or_default()
    }

    /// Where assertions of claims are: the claims of formulas, and those of the text.
    fn claim_texts(&self) -> String {
        let text = std::fs::read_to_string(self.work.join("asked.pml")).unwrap_or_default();
        let written = text.find("never").map_or("", |at| &text[at..]);
        self.claims() + written
    }

    /// Asks, for at most so many seconds.
    pub fn ask(&self, asked: &Asked, way: Way, seconds: usize) -> Result<Said, NoCount> {
        let program = self.program(asked, way.is_reduced)?;
        let program = format!("./{program}");
        let seconds = seconds.to_string();
        let mut command = vec!["timeout", &seconds, &program, "-c1", "-m2000000", "-w22", "-n"];
        command.push(if *asked == Asked::NonProgress { "-l" } else { "-a" });
        if way.is_fair {
            command.push("-f");
        }
        if let Asked::Claim(Some(name)) = asked {
            command.extend(["-N", name]);
        }
        let said = run(&self.work, &command)?;
        answer_in(&said, &self.claim_texts())
    }

    /// Compiles the verifier for a kind of question, if that was not done yet; its name.
    fn program(&self, asked: &Asked, is_reduced: bool) -> Result<String, NoCount> {
        let mut flags = vec![self.level, "-w", "-DVECTORSZ=16384", "-DMEMLIM=6000", "-DNFAIR=3"];
        let kind = match asked {
            Asked::Claim(_) => "claim",
            Asked::Acceptance => {
                flags.push("-DNOCLAIM");
                "accept"
            }
            Asked::NonProgress => {
                flags.push("-DNP");
                "progress"
            }
        };
        if !is_reduced {
            flags.push("-DNOREDUCE");
        }
        let name = format!("{kind}-{}", if is_reduced { "reduced" } else { "full" });
        let mut compiled = self.compiled.borrow_mut();
        let made = compiled.entry(name.clone()).or_insert_with(|| {
            let gcc: Vec<&str> = ["gcc"].into_iter().chain(flags).chain(["-o", &name, "pan.c"]).collect();
            let said = run(&self.work, &gcc)?;
            if self.work.join(&name).exists() {
                return Ok(());
            }
            let error = said.lines().find(|line| line.contains("error")).unwrap_or("");
            Err(NoCount::Refused(format!("gcc: {error}")))
        });
        made.clone().map(|()| name)
    }
}

/// Copies the files of a directory; those that a package has compressed are restored.
fn copy_files(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)?.flatten() {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// What the verifier prints when it did not look at everything.
const CUT: [&str; 6] = [
    "max search depth too small",
    "reached -DMEMLIM",
    "VECTORSZ too small",
    "too many processes",
    "aborting",
    "recompile with",
];

/// The answer in what the verifier printed.
fn answer_in(said: &str, claims: &str) -> Result<Said, NoCount> {
    let undecided = |why: &str| NoCount::Undecided(why.to_owned());
    let number = |what: &str| {
        let line = said.lines().find(|line| line.contains(what))?;
        line.split_whitespace().next()?.parse::<f64>().ok().map(|n| n as usize)
    };
    let error = said.lines().find_map(|line| line.strip_prefix("pan:1: ")).map(|line| {
        let end = line.rfind(" (at depth").unwrap_or(line.len());
        line[..end].to_owned()
    });
    if said.contains("p.o. reduction not compatible with fairness") {
        return Err(NoCount::Refused("no reduction with fairness where there are rendezvous".into()));
    }
    match &error {
        Some(error) if !is_about_claims(error, claims) => return Err(undecided(error)),
        None if CUT.iter().any(|cut| said.contains(cut)) => {
            return Err(undecided("the search was cut"));
        }
        _ => {}
    }
    let numbers = number("states, stored").zip(number("transitions ("));
    let (states, transitions) = numbers.ok_or_else(|| undecided("the verifier did not finish"))?;
    Ok(Said { error, states, transitions })
}

/// Whether an error is one of a property, and not of the model. Formulas of the form `[] p` become claims with
/// an assertion of a form that people do not write; a claim may have other assertions.
fn is_about_claims(error: &str, claims: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    match error.strip_prefix("assertion violated") {
        Some(assertion) => {
            let assertion = plain(assertion);
            assertion.starts_with("!(!(") || plain(claims).contains(&format!("assert({assertion})"))
        }
        None => !error.starts_with("invalid end state"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_found_in_the_report() {
        let numbers = "        13 states, stored (15 visited)\n  17 transitions (= visited+matched)\n";
        let with = |line: &str| answer_in(&format!("{line}\n{numbers}"), "never { assert(!( !(p))) }");
        let said =
            |error: Option<&str>| Said { error: error.map(str::to_owned), states: 13, transitions: 17 };
        assert_eq!(with("errors: 0"), Ok(said(None)));
        assert_eq!(with("pan:1: acceptance cycle (at depth 0)"), Ok(said(Some("acceptance cycle"))));
        assert!(with("pan:1: assertion violated  !( !(p)) (at depth 3)").is_ok());
        assert!(with("pan:1: assertion violated (x==1) (at depth 3)").is_err());
        assert!(with("error: max search depth too small").is_err());
        assert!(answer_in("", "").is_err());
    }
}
