//! The packed engine against SPIN's verifier, on one suite, in one interleaved run.
//!
//! `cargo bench -p stubborn-bench --bench engine [-- ROUNDS [MODEL...]]`; needs `spin` and `gcc`, and SPIN's examples for
//! most of the models. First the same graph: every statement a step, no reduction, no optimisation, on both sides
//! (`spin -a -o1 -o2 -o3`, `gcc -O2 -DNOREDUCE -DSAFETY`), also with `-DCOLLAPSE`. Then both as they come: SPIN's
//! optimisations and partial-order reduction, ours, from the text to the verdict; compiling is not counted for SPIN.
//! Each contestant runs in a process of its own; processor time, least of the rounds.

#[path = "../../promela/tests/all/support/files.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod files;
#[path = "support/search.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod search;

use files::{Directory, EXAMPLES};
use search::{Way, search};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use stubborn_bench::{Measured, children_seconds};
use stubborn_network::Network;

/// A model, with other values for some of its constants.
struct Subject {
    name: &'static str,
    file: &'static str,
    constants: &'static [(&'static str, &'static str)],
}

const fn own(name: &'static str, file: &'static str) -> Subject {
    Subject { name, file, constants: &[] }
}

/// Files without a directory are ours.
const SUITE: &[Subject] = &[
    own("peterson4", "peterson4.pml"),
    own("philosophers", "philosophers.pml"),
    own("window", "window.pml"),
    own("p347.pftp.ses5", "Book_1991/p347.pftp.ses5.pml"),
    own("p337.pftp.ses", "Book_1991/p337.pftp.ses.pml"),
    Subject { name: "leader0, N = 6", file: "./leader0.pml", constants: &[("N", "6"), ("L", "12")] },
    Subject { name: "leader0, N = 7", file: "./leader0.pml", constants: &[("N", "7"), ("L", "14")] },
    own("pftp", "LTL/pftp.pml"),
    own("sort", "./sort.pml"),
    Subject { name: "eratosthenes, MAX = 40", file: "./eratosthenes.pml", constants: &[("MAX", "40")] },
    own("cambridge", "./cambridge.pml"),
    own("leader", "LTL/leader.pml"),
    Subject { name: "petersonN, N = 4", file: "LTL/petersonN.pml", constants: &[("N", "4")] },
];

impl Subject {
    fn directory(&self) -> PathBuf {
        if self.file.contains('/') {
            Path::new(EXAMPLES).join(self.file).parent().expect("in a directory").to_owned()
        } else {
            Path::new(env!("CARGO_MANIFEST_DIR")).join("models")
        }
    }

    /// The text, with its constants.
    fn text(&self) -> Option<String> {
        let name = Path::new(self.file).file_name()?;
        let text = String::from_utf8_lossy(&std::fs::read(self.directory().join(name)).ok()?).into_owned();
        let line = |line: &str| {
            let mut words = line.split_whitespace();
            let is_define = words.next() == Some("#define");
            let constant = self.constants.iter().find(|(name, _)| is_define && words.next() == Some(name));
            constant.map_or_else(|| line.to_owned(), |(name, value)| format!("#define {name} {value}"))
        };
        Some(text.lines().map(line).collect::<Vec<_>>().join("\n") + "\n")
    }

    fn network(&self) -> Option<Network> {
        let loader = Directory(self.directory());
        stubborn_promela::compile(self.name, &self.text()?, &loader, &Default::default()).network
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let Some(run) = arguments.first().and_then(|a| a.strip_prefix("run:")) {
        let (number, way) = run.split_once(':').expect("a number and a way");
        let subject = &SUITE[number.parse::<usize>().expect("a number")];
        return Measured::of(|| ours(subject, if way == "default" { Way::Default } else { Way::Full }))
            .print();
    }
    let rounds = arguments.first().and_then(|r| r.parse().ok()).unwrap_or(3);
    let wanted = |subject: &Subject| {
        arguments.len() < 2 || arguments[1..].iter().any(|name| subject.name.contains(name.as_str()))
    };
    println!(
        "| model | states | transitions | pan | collapse | ours | pan / ours | bytes per state: pan | collapse | ours | as they come: pan | ours | pan / ours |"
    );
    println!("| --- |{}", " ---: |".repeat(12));
    let (mut same, mut default) = (Mean::default(), Mean::default());
    for (number, subject) in SUITE.iter().enumerate().filter(|(_, subject)| wanted(subject)) {
        let Some(row) = Row::measure(number, subject, rounds) else {
            println!("| {} | not here, or more than SPIN's verifier could do |", subject.name);
            continue;
        };
        same.add(row.pan.cpu / row.ours.cpu);
        default.add(row.pan_default.cpu / row.ours_default.cpu);
        row.print(subject.name);
    }
    println!(
        "\nGeometric means: {:.1} on the same graph, {:.1} as they come.",
        same.value(),
        default.value()
    );
}

#[derive(Default)]
struct Mean {
    sum: f64,
    n: f64,
}

impl Mean {
    fn add(&mut self, ratio: f64) {
        self.sum += ratio.ln();
        self.n += 1.0;
    }

    fn value(&self) -> f64 {
        (self.sum / self.n).exp()
    }
}

struct Row {
    pan: Measured,
    collapse: Measured,
    ours: Measured,
    pan_default: Measured,
    ours_default: Measured,
}

impl Row {
    fn measure(number: usize, subject: &Subject, rounds: usize) -> Option<Self> {
        let work = Work::new(subject)?;
        let plain = work.compile("plain", &["-o1", "-o2", "-o3"], &["-DNOREDUCE", "-DSAFETY"])?;
        let collapse =
            work.compile("collapse", &["-o1", "-o2", "-o3"], &["-DNOREDUCE", "-DSAFETY", "-DCOLLAPSE"])?;
        let default = work.compile("default", &[], &["-DSAFETY"])?;
        let mut best: [Option<Measured>; 5] = [None; 5];
        for _ in 0..rounds {
            let runs = [
                pan(&plain)?,
                Measured::in_child(&[&format!("run:{number}:same")]),
                pan(&collapse)?,
                pan(&default)?,
                Measured::in_child(&[&format!("run:{number}:default")]),
            ];
            for (best, run) in best.iter_mut().zip(runs) {
                *best = Some(best.filter(|best| best.cpu <= run.cpu).unwrap_or(run));
            }
        }
        let [pan, ours, collapse, pan_default, ours_default] = best;
        let row = Self {
            pan: pan?,
            collapse: collapse?,
            ours: ours?,
            pan_default: pan_default?,
            ours_default: ours_default?,
        };
        assert!(
            row.pan.states == row.ours.states && row.pan.edges == row.ours.edges + 1.0,
            "{}: {:?}, not {:?}",
            subject.name,
            row.ours,
            row.pan
        );
        Some(row)
    }

    fn print(&self, name: &str) {
        let Self { pan, collapse, ours, pan_default, ours_default } = self;
        println!(
            "| {name} | {} | {} | {:.2} | {:.2} | {:.2} | {:.1} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} | {:.1} |",
            ours.states,
            ours.edges,
            pan.cpu,
            collapse.cpu,
            ours.cpu,
            pan.cpu / ours.cpu,
            pan.rss / pan.states,
            collapse.rss / pan.states,
            ours.rss / ours.states,
            pan_default.cpu,
            ours_default.cpu,
            pan_default.cpu / ours_default.cpu
        );
    }
}

/// States and transitions by our search.
fn ours(subject: &Subject, way: Way) -> (u64, u64) {
    let network = subject.network().expect("the model is right");
    let stats = search(network, way, u64::MAX).expect("it ends");
    (stats.states, stats.edges)
}

/// A directory in which SPIN works.
struct Work(PathBuf);

impl Work {
    fn new(subject: &Subject) -> Option<Self> {
        let work = Self(std::env::temp_dir().join(format!("stubborn-engine-{}", std::process::id())));
        std::fs::create_dir_all(&work.0).ok()?;
        for entry in std::fs::read_dir(subject.directory()).ok()?.flatten().filter(|e| e.path().is_file()) {
            std::fs::copy(entry.path(), work.0.join(entry.file_name())).ok()?;
        }
        std::fs::write(work.0.join("model.pml"), subject.text()?).ok()?;
        Some(work)
    }

    fn compile(&self, name: &str, spin: &[&str], defines: &[&str]) -> Option<PathBuf> {
        let run = |program: &str, args: &[&str]| {
            let mut command = Command::new(program);
            let status = command.args(args).current_dir(&self.0).stdout(Stdio::null()).stderr(Stdio::null());
            status.status().ok().filter(std::process::ExitStatus::success)
        };
        run("spin", &[&["-a"], spin, &["model.pml"]].concat())?;
        let always = ["-O2", "-w", "-DNOCLAIM", "-DVECTORSZ=4096", "-DMEMLIM=12000", "-o", name, "pan.c"];
        run("gcc", &[defines, &always].concat())?;
        Some(self.0.join(name))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a verifier that SPIN made. `None` if it does not end well within ten minutes.
fn pan(program: &Path) -> Option<Measured> {
    let before = children_seconds();
    let mut command = Command::new("timeout");
    command.arg("600").arg(program).args(["-c0", "-n", "-m9000000", "-w24"]);
    let output = command.stderr(Stdio::null()).output().ok()?;
    let cpu = children_seconds() - before;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.contains("max search depth too small") || text.contains("out of memory") {
        return None;
    }
    let number = |what: &str| {
        let line = text.lines().find(|line| line.contains(what))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let states = number("states, stored")?;
    let edges = number("transitions (= ")?;
    let rss = number("total actual memory usage")? * 1024.0 * 1024.0;
    Some(Measured { states, edges, cpu, rss })
}
