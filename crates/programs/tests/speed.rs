//! How fast runs are made, in processor time of everybody who takes part, and what limits it. A binary of its own:
//! the processor time of a process is that of all its tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use stubborn_programs::Run;
use stubborn_schedule::Algorithm;

/// Processor time so far, of this process and of those that it has waited for: in the program, and in the kernel.
fn processor_time() -> [f64; 2] {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("the system says");
    let fields: Vec<f64> = stat
        .rsplit_once(") ")
        .map_or("", |halves| halves.1)
        .split(' ')
        .map(|word| word.parse().unwrap_or(0.0))
        .collect();
    // Ticks, of which Linux shows a hundred per second.
    [(fields[11] + fields[13]) / 100.0, (fields[12] + fields[14]) / 100.0]
}

#[test]
fn five_hundred_runs_of_the_philosophers_per_second_of_processor_time() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/pphil.c");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pphil-speed");
    let mut gcc = Command::new("gcc");
    assert!(gcc.args(["-O1", "-pthread", "-o"]).arg(&program).arg(source).status().expect("gcc").success());
    for n in ["3", "5"] {
        let before = processor_time();
        let run = Run::new([&*program.to_string_lossy(), n, "ordered"]).options(|options| {
            options.algorithm = Algorithm::Dfs;
            options.max_runs = Some(2000);
        });
        let report = run.explore().expect("it can be explored");
        let after = processor_time();
        let [own, kernel] = [after[0] - before[0], after[1] - before[1]];
        let (runs, steps) = (report.stats.runs as f64, report.stats.steps as f64);
        let rate = runs / (own + kernel);
        eprintln!(
            "{n} philosophers: {rate:.0} runs per second of processor time, {:.0} steps a run, {:.0} us a step; {:.0} % of it in the kernel; {:.2} s elapsed",
            steps / runs,
            1e6 * (own + kernel) / steps,
            100.0 * kernel / (own + kernel),
            report.seconds,
        );
        assert!(runs >= 1999.0 && (rate >= 500.0 || n != "3"), "{rate}");
    }
}
