//! The semantics, against SPIN.
//!
//! `spin.csv` holds what SPIN 6.5.2 counts for each model of `tests/models`: `spin -a -o1 -o2 -o3`, compiled
//! with `-DNOREDUCE -DSAFETY -DNOCLAIM`, run with `-c0`; transitions are SPIN's minus one, because it counts
//! the initial state as one. `spin-optimised.csv` holds the same for `spin -a -o3`, where dead variables are
//! reset and variables that are only written are hidden. `spin-examples.csv` and `spin-examples-optimised.csv` have the examples
//! that come with SPIN; `STUBBORN_ONLY=mobile` records the rows of such examples again:
//!
//! ```text
//! cargo test -p stubborn-promela --test all spin::record_the_examples -- --ignored --nocapture
//! ```
//!
//! The live comparisons, whether SPIN says what is recorded, need `spin` and `gcc` (Debian packages), and fail without
//! them unless `STUBBORN_WITHOUT_SPIN` is set. To compile SPIN's verifiers takes long, so a test run looks at an eighth of the models,
//! at another one each day. The first command looks at all of them; the second compares all models of a directory with what we count:
//!
//! ```text
//! STUBBORN_TIMES=4 cargo test -p stubborn-promela --test all spin::live -- --nocapture
//! STUBBORN_SPIN_MODELS=/a/directory cargo test -p stubborn-promela --test all spin::elsewhere -- --nocapture
//! ```
//!
//! Nothing is skipped silently: a model that cannot be compared is listed in [`EXCEPTIONS`] with the reason,
//! or in a table with what SPIN said.

use crate::support::{Counts, EXAMPLES, count, models, network, promela_files};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};
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

    fn network(self, path: &Path) -> Result<Network, String> {
        let network = network(path)?;
        Ok(match self {
            Self::Plain => network,
            Self::Optimised => network.optimised(Optimisations::OF_RUNS, &[]).network,
        })
    }
}

/// Models of which it is recorded what SPIN counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// Those of `tests/models`.
    Ours,
    /// Those that come with SPIN.
    Examples,
}

impl Set {
    fn directory(self) -> PathBuf {
        match self {
            Self::Ours => models(),
            Self::Examples => PathBuf::from(EXAMPLES),
        }
    }

    fn table(self, mode: Mode) -> PathBuf {
        models().join(match (self, mode) {
            (Self::Ours, Mode::Plain) => "spin.csv",
            (Self::Ours, Mode::Optimised) => "spin-optimised.csv",
            (Self::Examples, Mode::Plain) => "spin-examples.csv",
            (Self::Examples, Mode::Optimised) => "spin-examples-optimised.csv",
        })
    }

    /// The file of a row: of our models it names the stem.
    fn file(self, name: &str) -> PathBuf {
        let extension = if self == Self::Ours { ".pml" } else { "" };
        self.directory().join(format!("{name}{extension}"))
    }

    /// Says so if the models are not there.
    fn is_there(self) -> bool {
        let is_there = self.directory().is_dir();
        if !is_there {
            println!("not compared: {EXAMPLES} is not there");
        }
        is_there
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

/// How long one of SPIN's verifiers may run.
const SECONDS: u32 = 60;

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

/// What SPIN counts, for each model by its name; `None` if it does not finish, or if that is not compared.
fn recorded(set: Set, mode: Mode) -> Vec<(String, Option<Counts>)> {
    let table = std::fs::read_to_string(set.table(mode)).expect("the table is there");
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
    compare_with_recorded(Set::Ours, Mode::Plain);
}

#[test]
fn optimised_counts_are_those_that_spin_recorded() {
    compare_with_recorded(Set::Ours, Mode::Optimised);
}

#[test]
fn counts_of_the_examples_are_those_that_spin_recorded() {
    compare_with_recorded(Set::Examples, Mode::Plain);
}

#[test]
fn optimised_counts_of_the_examples_are_those_that_spin_recorded() {
    compare_with_recorded(Set::Examples, Mode::Optimised);
}

fn compare_with_recorded(set: Set, mode: Mode) {
    if !set.is_there() {
        return;
    }
    let (mut n_equal, mut differences) = (0, Vec::new());
    for (model, expected) in recorded(set, mode) {
        if expected.is_none() && set == Set::Examples {
            // The table says why.
            continue;
        }
        let found = mode
            .network(&set.file(&model))
            .map(|network| count(&network, 1_000_000))
            .unwrap_or_else(|problems| panic!("{model} is refused:\n{problems}"));
        let is_equal = expected.is_some() && found == expected;
        n_equal += usize::from(is_equal);
        match exception(&model, mode) {
            None if !is_equal => differences.push(format!("{model}: SPIN {expected:?}, ours {found:?}")),
            Some(reason) if is_equal => differences.push(format!("{model} is equal after all: {reason}")),
            _ => {}
        }
    }
    let at_least = if set == Set::Ours { 110 } else { 55 };
    assert!(n_equal >= at_least, "only {n_equal} models");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn every_model_has_a_recorded_count() {
    for mode in [Mode::Plain, Mode::Optimised] {
        let recorded = recorded(Set::Ours, mode);
        for path in promela_files(&models()) {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let is_there = recorded.iter().any(|(model, _)| *model == name);
            assert!(is_there, "{name} is not in {}", Set::Ours.table(mode).display());
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
fn live_counts_of_our_models_are_recorded() {
    compare_live(Set::Ours, Mode::Plain);
}

#[test]
fn live_optimised_counts_of_our_models_are_recorded() {
    compare_live(Set::Ours, Mode::Optimised);
}

#[test]
fn live_counts_of_the_examples_are_recorded() {
    compare_live(Set::Examples, Mode::Plain);
}

#[test]
fn live_optimised_counts_of_the_examples_are_recorded() {
    compare_live(Set::Examples, Mode::Optimised);
}

/// SPIN looks at one in so many models in a test run.
const SHARES: usize = 8;

/// With this value of `STUBBORN_TIMES` it looks at all.
const ALL: usize = 4;

/// Whether a model is among those that it is the turn of today.
fn is_in_turn(number: usize, mode: Mode) -> bool {
    let times = std::env::var("STUBBORN_TIMES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let shift = if mode == Mode::Plain { 0 } else { SHARES / 2 };
    times >= ALL || (number + (seconds / 86_400) as usize + shift).is_multiple_of(SHARES)
}

/// Whether there is what SPIN needs. It is an error if not, unless that was said to be all right.
fn has_spin() -> bool {
    let has = |tool: &str| {
        Command::new(tool).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let is_there = has("spin") && has("gcc");
    if !is_there {
        assert!(
            std::env::var_os("STUBBORN_WITHOUT_SPIN").is_some(),
            "spin or gcc is missing: install them, or set STUBBORN_WITHOUT_SPIN=1"
        );
        println!("not compared: there is no spin or no gcc");
    }
    is_there
}

/// Whether SPIN still says what is recorded.
fn compare_live(set: Set, mode: Mode) {
    if !has_spin() || !set.is_there() {
        return;
    }
    let (mut n, mut n_equal, mut n_different) = (0, 0, 0);
    for (i, (name, expected)) in recorded(set, mode).into_iter().enumerate() {
        let Some(expected) = expected.filter(|_| is_in_turn(i, mode)) else { continue };
        n += 1;
        match run_spin(&set.file(&name), mode) {
            Ok(spin) if spin == expected => n_equal += 1,
            Ok(spin) => {
                n_different += 1;
                println!("{name}: SPIN {spin:?}, recorded {expected:?}");
            }
            Err(reason) => println!("{name}: not compared: {reason}"),
        }
    }
    println!("{n_equal} of {n} equal, {n_different} different");
    assert_eq!(n_different, 0);
    // On a busy machine a verifier may not finish.
    assert!(n >= 5 && n_equal * 10 >= n * 9, "only {n_equal} of {n} were compared");
}

#[test]
fn elsewhere_counts_are_those_of_spin() {
    if let Some(directory) = std::env::var_os("STUBBORN_SPIN_MODELS").filter(|_| has_spin()) {
        compare_directory(Path::new(&directory), Mode::Plain);
        compare_directory(Path::new(&directory), Mode::Optimised);
    }
}

/// Compares all models of a directory that SPIN finishes in time with what we count.
fn compare_directory(directory: &Path, mode: Mode) {
    let (mut n_equal, mut n_different) = (0, 0);
    for path in promela_files(directory) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let spin = match run_spin(&path, mode) {
            Ok(counts) if counts.states > MOST_STATES => {
                println!("{name}: not compared: {} states", counts.states);
                continue;
            }
            Ok(counts) => counts,
            Err(reason) => {
                println!("{name}: not compared: {reason}");
                continue;
            }
        };
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
    println!("{mode:?}: {n_equal} equal, {n_different} different");
    assert_eq!(n_different, 0);
}

#[test]
#[ignore = "writes what SPIN counts"]
fn record_the_examples() {
    assert!(has_spin() && Set::Examples.is_there());
    let only = std::env::var("STUBBORN_ONLY").unwrap_or_default();
    for mode in [Mode::Plain, Mode::Optimised] {
        let file = Set::Examples.table(mode);
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        let mut table = "model,states,transitions,errors,note\n".to_owned();
        for path in promela_files(Path::new(EXAMPLES)) {
            let name = path.strip_prefix(EXAMPLES).expect("an example").to_string_lossy().into_owned();
            let stem = path.file_stem().expect("a name").to_string_lossy();
            let old = kept.lines().find(|line| line.split(',').next() == Some(&name));
            let row = match old {
                Some(row) if !name.contains(&only) => row.to_owned(),
                _ if LARGE_EXAMPLES.contains(&&*stem) => {
                    format!("{name},,,,more than {MOST_STATES} states")
                }
                _ => match run_spin(&path, mode) {
                    Ok(Counts { states, .. }) if states > MOST_STATES => format!("{name},,,,{states} states"),
                    Ok(Counts { states, transitions, has_errors }) => {
                        format!("{name},{states},{transitions},{},", usize::from(has_errors))
                    }
                    Err(reason) => format!("{name},,,,{}", reason.replace(',', ";")),
                },
            };
            println!("{row}");
            table += &(row + "\n");
        }
        std::fs::write(file, table).expect("the table can be written");
    }
}

/// What SPIN counts, or why it does not.
fn run_spin(model: &Path, mode: Mode) -> Result<Counts, String> {
    let name = model.file_name().expect("a file").to_string_lossy().into_owned();
    let work = std::env::temp_dir().join(format!("stubborn-spin-{}-{mode:?}-{name}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
    let result = spin_in(&work, model, mode);
    let _ = std::fs::remove_dir_all(&work);
    result
}

/// How much a verifier is prepared for: what gcc optimises, the depth of the search, and for how long it may run.
/// Most models are small, and then compiling and clearing memory take longest.
const SMALL: (&str, &str, &str, u32) = ("-O0", "-m20000", "-w16", 3);

fn spin_in(work: &Path, model: &Path, mode: Mode) -> Result<Counts, String> {
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
    verify(work, SMALL).or_else(|_| verify(work, ("-O1", "-m4000000", "-w22", SECONDS)))
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
