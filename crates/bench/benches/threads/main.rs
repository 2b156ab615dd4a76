//! The same programs explored by `stubborn-threads`, loom and shuttle (depth-first): executions, time, executions per
//! second. `cargo bench -p stubborn-bench --bench threads`; with the name of a program, only that one.
//!
//! Each explorer runs in a process of its own, which is stopped after 30 seconds; times are processor time of that process. Programs that fail are explored until
//! they do. What loom finishes in less than half a second it repeats until that is over. Our rate is that of 20,000 random runs of the same program: a search of a few runs says more about
//! starting than about running.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stubborn_bench::cpu_seconds;

macro_rules! programs {
    ($module:ident, $explorer:ident) => {
        mod $module {
            use $explorer::sync::atomic::{AtomicBool, AtomicUsize};
            use $explorer::sync::{Condvar, Mutex, RwLock};
            use $explorer::thread;
            // The standard library's, which is the cheapest for all.
            use std::sync::Arc;
            use std::sync::atomic::Ordering::SeqCst;
            include!("../../../threads/tests/all/programs/all.rs");

            /// The program of a name.
            pub(super) fn program(name: &str) -> Option<Box<dyn Fn() + Send + Sync + 'static>> {
                Some(match name {
                    "phil 3" => Box::new(|| philosophers(3, false)),
                    "phil 4" => Box::new(|| philosophers(4, false)),
                    "philok 2" => Box::new(|| philosophers(2, true)),
                    "philok 3" => Box::new(|| philosophers(3, true)),
                    "philok 4" => Box::new(|| philosophers(4, true)),
                    "fifo 1P1C 3" => Box::new(|| fifo(1, 1, 3)),
                    "fifo 2P1C 1" => Box::new(|| fifo(2, 1, 1)),
                    "fifo 2P2C 1" => Box::new(|| fifo(2, 2, 1)),
                    "fifobug 2P2C" => Box::new(|| fifo_with_a_mistake(2, 2)),
                    "indexer 4" => Box::new(|| indexer(4)),
                    "readers 2" => Box::new(|| readers(2)),
                    "readers 3" => Box::new(|| readers(3)),
                    "rwreaders 4" => Box::new(|| lock_readers(4)),
                    "lastzero 3" => Box::new(|| last_zero(3)),
                    "counter 4x1" => Box::new(|| counter(4, 1)),
                    "counter 3x2" => Box::new(|| counter(3, 2)),
                    "private 4x2" => Box::new(|| private(4, 2)),
                    _ => return None,
                })
            }
        }
    };
}

programs!(ours, stubborn_threads);
programs!(on_loom, loom);
programs!(on_shuttle, shuttle);

const NAMES: [&str; 17] = [
    "phil 3",
    "phil 4",
    "philok 2",
    "philok 3",
    "philok 4",
    "fifo 1P1C 3",
    "fifo 2P1C 1",
    "fifo 2P2C 1",
    "fifobug 2P2C",
    "indexer 4",
    "readers 2",
    "readers 3",
    "rwreaders 4",
    "lastzero 3",
    "counter 4x1",
    "counter 3x2",
    "private 4x2",
];

const PATIENCE: Duration = Duration::from_secs(30);

/// Executions so far, for who panics and for who counts.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [contestant, name] = arguments.as_slice()
        && ["ours", "rate", "loom", "shuttle"].contains(&contestant.as_str())
    {
        return contest(contestant, name);
    }
    println!(
        "| program | ours: runs, time | loom: executions, time, per s | shuttle: executions, time | ours per s | ours / loom |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for name in NAMES.into_iter().filter(|name| arguments.is_empty() || arguments.iter().any(|a| a == name)) {
        let [ours, loom, shuttle, rate] = ["ours", "loom", "shuttle", "rate"].map(|who| measure(who, name));
        let cell = |result: Option<(f64, f64)>| match result {
            Some((executions, seconds)) => format!("{executions:.0}, {}", time(seconds)),
            None => "not in 30 s".to_owned(),
        };
        let per_second =
            |result: Option<(f64, f64)>| result.map(|(executions, seconds)| executions / seconds);
        let shown = |rate: Option<f64>| rate.map_or("-".to_owned(), |rate| format!("{rate:.0}"));
        // A program that fails ends the runs.
        let fails = name.starts_with("phil ") || name.starts_with("fifobug");
        let rate = rate.filter(|_| !fails);
        let loom_rate = per_second(loom).filter(|_| !fails);
        let ratio = per_second(rate).zip(loom_rate).map(|(ours, loom)| format!("{:.0}", ours / loom));
        println!(
            "| {name} | {} | {}, {} | {} | {} | {} |",
            cell(ours),
            cell(loom),
            shown(loom_rate),
            cell(shuttle),
            shown(per_second(rate)),
            ratio.unwrap_or("-".to_owned())
        );
    }
}

fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.2} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// Executions and seconds of a contestant in a process of its own.
fn measure(contestant: &str, name: &str) -> Option<(f64, f64)> {
    let program = std::env::current_exe().ok()?;
    let mut child = Command::new(program)
        .args([contestant, name])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let started = Instant::now();
    while started.elapsed() < PATIENCE && child.try_wait().ok()?.is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    let mut text = String::new();
    child.stdout.take()?.read_to_string(&mut text).ok()?;
    let mut numbers = text.lines().next()?.split_whitespace().filter_map(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

fn counted(program: Box<dyn Fn() + Send + Sync>) -> impl Fn() + Send + Sync + 'static {
    move || {
        EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        program();
    }
}

/// Explores, and prints executions and seconds. Explorers that panic at a failure are asked by a hook.
fn contest(contestant: &str, name: &str) {
    let told = || {
        println!("{} {}", EXECUTIONS.load(Ordering::Relaxed), cpu_seconds());
    };
    if matches!(contestant, "loom" | "shuttle") {
        std::panic::set_hook(Box::new(move |_| {
            told();
            std::process::exit(0);
        }));
    }
    match contestant {
        "loom" => {
            let mut n = 0.0;
            while cpu_seconds() < 0.5 {
                let Some(program) = on_loom::program(name) else { return };
                loom::model::Builder::new().check(counted(program));
                n += 1.0;
            }
            println!("{} {}", EXECUTIONS.load(Ordering::Relaxed) as f64 / n, cpu_seconds() / n);
        }
        "shuttle" => {
            let Some(program) = on_shuttle::program(name) else { return };
            shuttle::check_dfs(counted(program), None);
            told();
        }
        "rate" => {
            let builder = stubborn_threads::Builder::new().random(1);
            let mut total = (0, 0.0);
            while total.1 < 0.5 {
                let Some(program) = ours::program(name) else { return };
                let report = builder.clone().max_runs(20_000).check(program);
                total = (total.0 + report.stats.runs, cpu_seconds());
            }
            println!("{} {}", total.0, total.1);
        }
        _ => {
            let mut total = (0, 0.0, 0);
            while total.1 < 0.5 {
                let Some(program) = ours::program(name) else { return };
                let report = stubborn_threads::Builder::new().check(program);
                total = (report.stats.runs, cpu_seconds(), total.2 + 1);
            }
            println!("{} {}", total.0, total.1 / f64::from(total.2));
        }
    }
}
