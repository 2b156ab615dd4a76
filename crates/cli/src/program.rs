//! `stubborn run` and `stubborn cc`: programs as they are.

use crate::args::RunArgs;
use crate::entry::{print, say};
use crate::run::Failure;
use crate::watch::{is_interrupted, listen_for_interrupt};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stubborn_programs::{HEADER, Run};
use stubborn_report::with_commas;
use stubborn_schedule::Progress;
use stubborn_schedule::report::Verdict;

/// Nothing is shown of explorations shorter than this.
const PATIENCE: Duration = Duration::from_secs(2);

/// Explores a program, or makes one of its runs again.
pub(crate) fn run(args: &RunArgs) -> Result<u8, Failure> {
    if args.header {
        print(HEADER);
        return Ok(0);
    }
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_interrupt(stop.clone());
    let run = Run::new(args.program.iter().cloned()).shows_output(args.output).options(|options| {
        options.algorithm = args.algorithm;
        options.preemptions = args.preemptions;
        options.random = args.random;
        options.max_runs = args.max_runs;
        options.max_time = args.time;
        if let Some(max) = args.max_steps {
            (options.max_steps, options.max_cut) = (max, None);
        }
        options.stop = stop;
        options.progress = (!args.quiet).then(progress);
    });
    let run = args.patience.into_iter().fold(run, Run::patience);
    let run = args.spurious.into_iter().fold(run, Run::spurious).is_stepwise(args.stepwise);
    let report = match &args.replay {
        Some(schedule) => run.replay(schedule),
        None => run.explore(),
    };
    let report = report.map_err(|trouble| Failure::Usage(trouble.to_string()))?;
    if args.json {
        print(report.json() + "\n");
    } else if args.quiet {
        let word = match report.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Inconclusive(_) => "inconclusive",
        };
        print(format!("{word}\n"));
    } else {
        print(report.to_string());
        if args.chart {
            print(report.chart());
        }
    }
    Ok(report.exit_code())
}

/// Compiles a program whose accesses to memory are seen.
pub(crate) fn compile(arguments: &[String]) -> Result<u8, Failure> {
    let code =
        stubborn_programs::compile(arguments, say).map_err(|trouble| Failure::Usage(trouble.to_string()))?;
    Ok(if code == 0 { 0 } else { 2 })
}

/// The engine looks at a flag of its own.
fn stop_on_interrupt(stop: Arc<AtomicBool>) {
    listen_for_interrupt();
    std::thread::spawn(move || {
        while Arc::strong_count(&stop) > 1 {
            stop.fetch_or(is_interrupted(), Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
}

/// A line about every two seconds.
fn progress() -> Progress {
    let started = Instant::now();
    let next = std::sync::Mutex::new(PATIENCE);
    Progress(Arc::new(move |runs, estimate| {
        let Ok(mut next) = next.lock() else { return };
        let elapsed = started.elapsed();
        if elapsed >= *next {
            *next = elapsed + PATIENCE;
            let about = with_commas(estimate as u64);
            say(&format!("{} runs of about {about}, {:.0} s", with_commas(runs), elapsed.as_secs_f64()));
        }
    }))
}
