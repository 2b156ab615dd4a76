//! Whether searches that leave fewer than half of the states take less time than full ones.
//!
//! `cargo bench -p stubborn-bench --bench faster [-- ROUNDS [DIRECTORY...]]`: all models of the front-end's tests and of SPIN's examples (if
//! they are there), or those in the directories, whose full search has between 300 and 5,000,000 states. Each is searched in full, with and without the optimisations
//! that the reduced search has, by default, and with the reduction in any case. Each run is a process of its own, runs are interleaved, and the least processor time
//! from the text to the verdict counts. The rows are those of which a search leaves fewer than half of the states of a full one; a star
//! behind a time means that it is longer than that of such a full search.

#[path = "../../promela/tests/all/support/files.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod files;
#[path = "support/search.rs"]
mod search;

use files::{EXAMPLES, compile_file, models, promela_files};
use search::{Way, search};
use std::path::{Path, PathBuf};
use stubborn_bench::Measured;

const WAYS: [Way; 4] = [Way::Full, Way::Optimised, Way::Default, Way::Reduced];

/// States of a full search.
const LEAST: f64 = 300.0;
const MOST: u64 = 5_000_000;

/// Seconds that all rounds of a model may take, if there were three.
const ENOUGH: f64 = 4.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [way, path] = &arguments[..]
        && let Some(way) = WAYS.into_iter().find(|known| format!("run:{known:?}") == *way)
    {
        return run(way, Path::new(path)).print();
    }
    let rounds = arguments.first().and_then(|r| r.parse().ok()).unwrap_or(15);
    let mut directories: Vec<PathBuf> = arguments.iter().skip(1).map(Into::into).collect();
    if directories.is_empty() {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        directories = vec![own, models(), PathBuf::from(EXAMPLES)];
    }
    println!(
        "| model | states: full | optimised | default | reduced | ms: full | optimised | default | reduced |"
    );
    println!("| --- |{}", " ---: |".repeat(8));
    let mut rows: Vec<Row> = Vec::new();
    for path in directories.iter().flat_map(|directory| promela_files(directory)) {
        if let Some(row) = Row::measure(&path, rounds).filter(Row::counts) {
            row.print();
            rows.push(row);
        }
    }
    for (way, name) in [(2, "default"), (3, "reduced")] {
        for (full, least) in [(0, "full"), (1, "optimised")] {
            let those: Vec<&Row> = rows.iter().filter(|row| row.is_half(way, full)).collect();
            let longer: Vec<&&Row> = those.iter().filter(|row| row.is_longer(way, full)).collect();
            let most = longer.iter().map(|row| row.runs[full].states).fold(0.0, f64::max);
            println!(
                "\n{name}: fewer than half of {least} {}, longer {}, none of them with more than {most} states.",
                those.len(),
                longer.len()
            );
        }
    }
}

/// Searches a model; no states if there are too many, or if it is not right.
fn run(way: Way, path: &Path) -> Measured {
    Measured::of(|| {
        let stats = compile_file(path).network.and_then(|network| search(network, way, MOST));
        stats.map_or((0, 0), |stats| (stats.states, stats.edges))
    })
}

/// A model, searched in all ways.
struct Row {
    name: String,
    runs: [Measured; WAYS.len()],
}

impl Row {
    fn measure(path: &Path, rounds: usize) -> Option<Self> {
        let once = |way: &Way| Measured::in_child(&[&format!("run:{way:?}"), &path.display().to_string()]);
        let first = once(&Way::Full);
        if first.states < LEAST {
            return None;
        }
        let mut runs = WAYS.map(|way| once(&way));
        let mut seconds: f64 = runs.iter().map(|run| run.cpu).sum();
        for round in 1..rounds {
            if round >= 3 && seconds > ENOUGH {
                break;
            }
            for (best, way) in runs.iter_mut().zip(&WAYS) {
                let run = once(way);
                seconds += run.cpu;
                if run.cpu < best.cpu {
                    *best = run;
                }
            }
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Some(Self { name, runs })
    }

    /// Whether one search leaves fewer than half of the states of another one.
    fn is_half(&self, way: usize, full: usize) -> bool {
        2.0 * self.runs[way].states < self.runs[full].states
    }

    fn is_longer(&self, way: usize, full: usize) -> bool {
        self.is_half(way, full) && self.runs[way].cpu >= self.runs[full].cpu
    }

    fn counts(&self) -> bool {
        self.is_half(2, 0) || self.is_half(3, 0)
    }

    fn print(&self) {
        let states: Vec<String> = self.runs.iter().map(|run| run.states.to_string()).collect();
        let time = |way: usize| {
            let star = |full| if way >= 2 && self.is_longer(way, full) { "*" } else { "" };
            format!("{:.2}{}{}", 1000.0 * self.runs[way].cpu, star(0), star(1))
        };
        let times: Vec<String> = (0..WAYS.len()).map(time).collect();
        println!("| {} | {} | {} |", self.name, states.join(" | "), times.join(" | "));
    }
}
