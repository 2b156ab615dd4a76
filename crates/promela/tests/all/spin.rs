//! The semantics, against SPIN.
//!
//! `spin.csv` holds what SPIN 6.5.2 counts for each model of `tests/models`: `spin -a -o1 -o2 -o3`, compiled
//! with `-DNOREDUCE -DSAFETY -DNOCLAIM`, run with `-c0`; transitions are SPIN's minus one, because it counts
//! the initial state as one. `spin-optimised.csv` holds the same for `spin -a -o3`, where dead variables are
//! reset and variables that are only written are hidden. The live comparisons need `spin` and `gcc` (Debian packages), and fail without
//! them unless `STUBBORN_WITHOUT_SPIN` is set. They look at the models here and at the examples that come with
//! SPIN; `STUBBORN_SPIN_MODELS=/a/directory` has them look elsewhere:
//!
//! ```text
//! STUBBORN_SPIN_MODELS=/a/directory cargo test -p stubborn-promela --test all spin::live -- --nocapture
//! ```
//!
//! Nothing is skipped silently: a model that cannot be compared is listed in [`EXCEPTIONS`] with the reason,
//! or printed with what SPIN said.

use crate::support::{Counts, EXAMPLES, count, models, network, promela_files};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use stubborn_network::{Network, Optimisations};
use stubborn_promela::{Options, compile};
use stubborn_text::NoLoader;

/// What SPIN is told about its optimisations, and what is done here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// None of them.
    Plain,
    /// Dead variables are reset, variables that are only written are hidden.
    Optimised,
}

impl Mode {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &["-o1", "-o2", "-o3"],
            Self::Optimised => &["-o3"],
        }
    }

    fn table(self) -> PathBuf {
        models().join(match self {
            Self::Plain => "spin.csv",
            Self::Optimised => "spin-optimised.csv",
        })
    }

    fn network(self, path: &Path) -> Result<Network, String> {
        let network = network(path)?;
        Ok(match self {
            Self::Plain => network,
            Self::Optimised => network.optimised(Optimisations::OF_RUNS, &[]).network,
        })
    }
}

/// Models whose counts differ from SPIN's, and why.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("e18_hidden", "hidden variables are part of our states; SPIN's count depends on its search order"),
    ("e29_div0", "SPIN's verifier dies of a division by zero; we report it"),
    ("s21_setprio", "SPIN masks the priority of processes without locals as if it were padding"),
];

/// Models whose counts differ only where SPIN optimises.
const OPTIMISED_EXCEPTIONS: [(&str, &str); 1] = [(
    "d31_record_twice",
    "SPIN overlooks the index of the second mention of a record and resets it although it is read",
)];

/// Most states of a model that is compared.
const MOST_STATES: usize = 500_000;

/// Examples that have more, optimised or not. Their verifiers would only run until the time is up.
const LARGE_EXAMPLES: [&str; 10] = [
    "App.F.pftp",
    "p108",
    "ex_6",
    "leader",
    "leader_pre",
    "ltl_gen",
    "petersonN",
    "cambridge",
    "life",
    "sort",
];

fn exception(model: &str, mode: Mode) -> Option<&'static str> {
    let of_mode: &[_] = if mode == Mode::Plain { &[] } else { &OPTIMISED_EXCEPTIONS };
    let mut all = EXCEPTIONS.iter().chain(of_mode);
    all.find(|(name, _)| *name == model).map(|(_, reason)| *reason)
}

fn recorded(mode: Mode) -> Vec<(String, Option<Counts>)> {
    let table = std::fs::read_to_string(mode.table()).expect("the table is there");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |i: usize| fields[i].parse::<usize>().ok();
        let counts = number(1).zip(number(2)).zip(number(3));
        let counts = counts.map(|((states, transitions), errors)| Counts {
            states,
            transitions,
            has_errors: errors > 0,
        });
        (fields[0].to_owned(), counts)
    };
    table.lines().skip(1).map(row).collect()
}

#[test]
fn counts_are_those_that_spin_recorded() {
    compare_with_recorded(Mode::Plain);
}

#[test]
fn optimised_counts_are_those_that_spin_recorded() {
    compare_with_recorded(Mode::Optimised);
}

fn compare_with_recorded(mode: Mode) {
    let mut differences = Vec::new();
    let recorded = recorded(mode);
    for (model, expected) in &recorded {
        let found = mode
            .network(&models().join(format!("{model}.pml")))
            .map(|network| count(&network, 1_000_000))
            .unwrap_or_else(|problems| panic!("{model} is refused:\n{problems}"));
        let is_equal = expected.is_some() && found == *expected;
        match exception(model, mode) {
            None if !is_equal => differences.push(format!("{model}: SPIN {expected:?}, ours {found:?}")),
            Some(reason) if is_equal => differences.push(format!("{model} is equal after all: {reason}")),
            _ => {}
        }
    }
    assert!(recorded.len() >= 110, "only {} models", recorded.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_model_has_a_recorded_count() {
    for mode in [Mode::Plain, Mode::Optimised] {
        let recorded = recorded(mode);
        for path in promela_files(&models()) {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let is_there = recorded.iter().any(|(model, _)| *model == name);
            assert!(is_there, "{name} is not in {}", mode.table().display());
        }
    }
}

/// SPIN takes the end of a loop, and a jump to the label, for jumps into the `d_step`. It accepts the same with an
/// `atomic` around it, which changes nothing.
#[test]
fn a_d_step_may_follow_a_loop_or_a_label() {
    let model = |d_step: &str| {
        let text = format!(
            "byte x, y; active [2] proctype P() {{
                do :: x < 3 -> x++ :: else -> break od;
                L: {d_step};
                if :: y < 3 -> y++; goto L :: else fi
            }}"
        );
        let compiled = compile("m.pml", &text, &NoLoader, &Options::default());
        count(&compiled.network.expect("a good model"), 10_000).expect("a small model")
    };
    let bare = model("d_step { x > 1; x--; y = x }");
    assert_eq!(bare, model("atomic { d_step { x > 1; x--; y = x } }"));
    // As SPIN counts the second.
    assert_eq!((bare.states, bare.transitions), (138, 241));
}

#[test]
fn live_counts_of_our_models_are_those_of_spin() {
    compare_our_models(Mode::Plain);
}

#[test]
fn live_optimised_counts_of_our_models_are_those_of_spin() {
    compare_our_models(Mode::Optimised);
}

fn compare_our_models(mode: Mode) {
    let elsewhere = std::env::var_os("STUBBORN_SPIN_MODELS").map(PathBuf::from);
    let n_equal = compare_live(&elsewhere.clone().unwrap_or_else(models), 60, mode);
    assert!(elsewhere.is_some() || n_equal.is_none_or(|n| n >= 110), "only {n_equal:?} were compared");
}

#[test]
fn live_counts_of_the_examples_are_those_of_spin() {
    compare_the_examples(Mode::Plain);
}

#[test]
fn live_optimised_counts_of_the_examples_are_those_of_spin() {
    compare_the_examples(Mode::Optimised);
}

fn compare_the_examples(mode: Mode) {
    let examples = Path::new(EXAMPLES);
    if !examples.is_dir() {
        println!("not compared: {EXAMPLES} is not there");
        return;
    }
    let n_equal = compare_live(examples, 10, mode);
    assert!(n_equal.is_none_or(|n| n >= 55), "only {n_equal:?} were compared");
}

/// Compares all models of a directory that SPIN finishes in so many seconds; how many there were. `None` if
/// there is no SPIN and that was said to be all right.
fn compare_live(directory: &Path, seconds: u32, mode: Mode) -> Option<usize> {
    let has = |tool: &str| {
        Command::new(tool).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    if !has("spin") || !has("gcc") {
        assert!(
            std::env::var_os("STUBBORN_WITHOUT_SPIN").is_some(),
            "spin or gcc is missing: install them, or set STUBBORN_WITHOUT_SPIN=1"
        );
        println!("not compared: there is no spin or no gcc");
        return None;
    }
    let (mut n_equal, mut n_different) = (0, 0);
    for path in promela_files(directory) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.starts_with(EXAMPLES) && LARGE_EXAMPLES.contains(&&*name) {
            println!("{name}: not compared: more than {MOST_STATES} states");
            continue;
        }
        let spin = match run_spin(&path, seconds, mode) {
            Ok(counts) => counts,
            Err(reason) => {
                println!("{name}: not compared: {reason}");
                continue;
            }
        };
        if spin.states > MOST_STATES {
            println!("{name}: not compared: {} states", spin.states);
            continue;
        }
        let ours = mode.network(&path).map(|network| count(&network, spin.states * 4 + 1000));
        if ours == Ok(Some(spin)) {
            n_equal += 1;
        } else if let Some(reason) = exception(&name, mode) {
            println!("{name}: differs: {reason}");
        } else {
            n_different += 1;
            println!("{name}: SPIN {spin:?}, ours {ours:?}");
        }
    }
    println!("{n_equal} equal, {n_different} different");
    assert_eq!(n_different, 0);
    Some(n_equal)
}

/// What SPIN counts, or why it does not.
fn run_spin(model: &Path, seconds: u32, mode: Mode) -> Result<Counts, String> {
    let name = model.file_name().expect("a file").to_string_lossy().into_owned();
    let work = std::env::temp_dir().join(format!("stubborn-spin-{}-{mode:?}-{name}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
    let result = spin_in(&work, model, seconds, mode);
    let _ = std::fs::remove_dir_all(&work);
    result
}

/// How much a verifier is prepared for: what gcc optimises, the depth of the search, and for how long it may run.
/// Most models are small, and then compiling and clearing memory take longest.
const SMALL: (&str, &str, &str, u32) = ("-O0", "-m20000", "-w16", 3);

fn spin_in(work: &Path, model: &Path, seconds: u32, mode: Mode) -> Result<Counts, String> {
    let model = model.to_string_lossy();
    let spin: Vec<&str> = ["timeout", "30", "spin", "-a"]
        .into_iter()
        .chain(mode.flags().iter().copied())
        .chain([&*model])
        .collect();
    let said = run(work, &spin)?;
    if !work.join("pan.c").exists() {
        return Err(format!("SPIN refuses it: {}", said.lines().next().unwrap_or("")));
    }
    verify(work, SMALL).or_else(|_| verify(work, ("-O1", "-m4000000", "-w22", seconds)))
}

fn verify(work: &Path, (level, depth, table, seconds): (&str, &str, &str, u32)) -> Result<Counts, String> {
    let flags = ["-DNOREDUCE", "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=16384", "-DMEMLIM=2000"];
    let gcc: Vec<&str> =
        ["gcc", level, "-w"].into_iter().chain(flags).chain(["-o", "pan", "pan.c"]).collect();
    run(work, &gcc)?;
    let said = run(work, &["timeout", &seconds.to_string(), "./pan", "-c0", depth, table])?;
    let number = |what: &str| {
        let line = said.lines().find(|line| line.contains(what))?;
        line.split_whitespace().next()?.parse::<f64>().ok().map(|n| n as usize)
    };
    let states = number("states, stored").ok_or("the verifier did not finish")?;
    let transitions = number("transitions (").ok_or("the verifier did not finish")?;
    if said.contains("max search depth too small") || said.contains("reached -DMEMLIM") {
        return Err("SPIN's search was cut".into());
    }
    let has_errors = !said.contains("errors: 0");
    Ok(Counts { states, transitions: transitions - 1, has_errors })
}

fn run(work: &Path, command: &[&str]) -> Result<String, String> {
    let output = Command::new(command[0])
        .args(&command[1..])
        .current_dir(work)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("`{}` cannot be started: {e}", command[0]))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
