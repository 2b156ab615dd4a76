//! States with our default reduction, with SPIN's, and with none, for the same question: assertions and invalid
//! end states, all errors. `cargo bench --bench reduction -- [DIRECTORY...]`; by default the models of the
//! front-end's tests and the examples that come with SPIN. Needs `spin` and `gcc`.
//!
//! SPIN runs twice, `-a -o3` (every statement is a step, as with us) and `-a` (statements merged), both with its
//! partial-order reduction and its dead-variable and write-only optimisations; ours has the same two
//! optimisations. Models with at most 1,000 states are left out, and those that SPIN does not finish in a
//! minute are named.

#[path = "../../promela/tests/all/support/files.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod files;

use files::{EXAMPLES, compile_file, models, promela_files};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use stubborn_explore::{End, Limits, Unwatched};
use stubborn_network::{Network, Optimisations};
use stubborn_reduce::{NetworkReduction, Reduction};
use stubborn_system::Question;
use stubborn_verdict::{AnySystem, Options, ReductionKind, analyse_with};

fn main() {
    let mut directories: Vec<PathBuf> =
        std::env::args().skip(1).filter(|a| a != "--bench").map(Into::into).collect();
    if directories.is_empty() {
        directories = vec![models(), PathBuf::from(EXAMPLES)];
    }
    println!("| model | states | ours | SPIN -o3 | SPIN | ours / SPIN -o3 |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    let (mut sum, mut n) = (0.0, 0);
    for path in directories.iter().flat_map(|directory| promela_files(directory)) {
        let Some(network) = compile_file(&path).network else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Without optimisation and reduction, as far as it takes to see that it is not too small.
        let Some(full) = states(&network, ReductionKind::None, 1_500_000) else { continue };
        if full.unwrap_or(u64::MAX) <= 1_000 {
            continue;
        }
        let optimised = network.optimised(Optimisations::ALL, &[]).network;
        let ours =
            states(&optimised, ReductionKind::Smaller, if full.is_some() { 1_500_000 } else { 200_000 })
                .flatten();
        let (unmerged, merged) = (spin(&path, &["-o3"]), spin(&path, &[]));
        let show = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        let ratio = ours.zip(unmerged).map(|(ours, spin)| ours as f64 / spin as f64);
        if let Some(ratio) = ratio {
            sum += ratio.ln();
            n += 1;
        }
        let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}"));
        let counts = [full, ours, unmerged, merged].map(show).join(" | ");
        println!("| {name} | {counts} | {ratio} |");
    }
    println!("\nGeometric mean over {n} models: {:.3}", (sum / f64::from(n)).exp());
}

/// The states of the first search; `Some(None)` if there are more than `most`.
fn states(network: &Network, reduction: ReductionKind, most: u64) -> Option<Option<u64>> {
    let make = |kind: ReductionKind| {
        let make =
            || Box::new(NetworkReduction::new(network, &[], kind)) as Box<dyn Reduction<AnySystem<'_, [u8]>>>;
        (kind != ReductionKind::None).then(make)
    };
    let options = Options {
        questions: Some(vec![Question::Safety, Question::Deadlock]),
        reduction,
        limits: Limits { states: most, ..Limits::default() },
        all_errors: true,
        ..Options::default()
    };
    let analysis = analyse_with(network, &make, &options, &mut Unwatched).ok()?;
    let phase = analysis.phases.first()?;
    Some((phase.end == End::Complete).then_some(phase.stats.states))
}

/// The states that SPIN stores, with reduction.
fn spin(path: &Path, options: &[&str]) -> Option<u64> {
    let work = std::env::temp_dir().join(format!("stubborn-reduction-{}", std::process::id()));
    std::fs::create_dir_all(&work).ok()?;
    for entry in std::fs::read_dir(path.parent()?).ok()?.flatten().filter(|e| e.path().is_file()) {
        std::fs::copy(entry.path(), work.join(entry.file_name())).ok()?;
    }
    let run = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(args).current_dir(&work).stderr(Stdio::null()).output().ok()
    };
    let name = path.file_name()?.to_string_lossy().into_owned();
    run("timeout", &[&["60", "spin", "-a"], options, &[&name]].concat())?;
    let compiled =
        ["-O2", "-w", "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=4096", "-DMEMLIM=8000", "-o", "pan", "pan.c"];
    run("gcc", &compiled)?;
    let output = run("timeout", &["60", "./pan", "-c0", "-n", "-m3000000", "-w22"]);
    let _ = std::fs::remove_dir_all(&work);
    let output = output.filter(|o| o.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.contains("states, stored"))?;
    line.split_whitespace().next()?.parse().ok().filter(|_| !text.contains("max search depth too small"))
}
