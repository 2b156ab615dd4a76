//! Measurements: what a process has used so far, and runs in processes of their own.
//!
//! A contestant runs in a child process, so that memory is its own; rounds are interleaved, so that a busy
//! machine is busy for all.

#![forbid(unsafe_code)]

use rustix::time::{ClockId, clock_gettime};
use std::fs::read_to_string;
use std::process::{Command, Stdio};

/// Processor time of this process so far, of all of its threads, in seconds.
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Processor time of all children of this process that have ended, in seconds (Linux; resolution 10 ms).
pub fn children_seconds() -> f64 {
    let stat = read_to_string("/proc/self/stat").unwrap_or_default();
    // The command name may contain blanks; the fields are counted from behind it.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|f| f.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(13) + ticks(14)) / 100.0
}

/// Largest resident size of this process so far, in bytes (Linux).
pub fn peak_rss() -> f64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}

/// What one run gave.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Distinct states.
    pub states: f64,
    /// Transitions fired.
    pub edges: f64,
    /// Processor time in seconds.
    pub cpu: f64,
    /// Largest resident size in bytes.
    pub rss: f64,
}

impl Measured {
    /// Measures `run`, which gives states and edges, in this process.
    pub fn of(run: impl FnOnce() -> (u64, u64)) -> Self {
        let before = cpu_seconds();
        let (states, edges) = run();
        let cpu = cpu_seconds() - before;
        Self { states: states as f64, edges: edges as f64, cpu, rss: peak_rss() }
    }

    /// Prints for the parent process.
    pub fn print(&self) {
        println!("{} {} {} {}", self.states, self.edges, self.cpu, self.rss);
    }

    /// Runs this program again with these arguments, and reads what it prints.
    ///
    /// # Panics
    /// If the child fails.
    pub fn in_child(arguments: &[&str]) -> Self {
        let program = std::env::current_exe().expect("this program has a path");
        let child = Command::new(program).args(arguments).stderr(Stdio::inherit()).output();
        let output = child.expect("the child runs").stdout;
        let text = String::from_utf8_lossy(&output);
        let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [states, edges, cpu, rss] = numbers[..] else { panic!("{arguments:?} printed {text:?}") };
        Self { states, edges, cpu, rss }
    }
}

/// The middle one, by processor time.
pub fn median(mut runs: Vec<Measured>) -> Measured {
    runs.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
    runs[runs.len() / 2]
}
