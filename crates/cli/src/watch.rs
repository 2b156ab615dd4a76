//! The clock, Ctrl-C and the progress line.

use crate::entry::say;
use crate::quantity::show_duration;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::process::exit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use stubborn_explore::{Stats, Stop, Watch};
use stubborn_report::{human_bytes, with_commas};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static HANDLER: Once = Once::new();

/// The first Ctrl-C asks the search to stop and report; the second ends the process.
pub(crate) fn listen_for_interrupt() {
    HANDLER.call_once(|| {
        let result = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                exit(130);
            }
            say("stopping; once more to quit at once");
        });
        if let Err(error) = result {
            say(&format!("warning: Ctrl-C will not be answered with a report: {error}"));
        }
    });
}

/// Whether the user has pressed Ctrl-C.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Watches a search from the command line.
pub(crate) struct Terminal {
    started: Instant,
    limit: Option<Duration>,
    progress: Progress,
    /// When to show progress next.
    next: Duration,
}

enum Progress {
    None,
    Bar(ProgressBar),
    Lines,
}

/// Nothing is shown of runs shorter than this.
const PATIENCE: Duration = Duration::from_secs(2);

impl Terminal {
    pub(crate) fn new(limit: Option<Duration>, quiet: bool) -> Self {
        listen_for_interrupt();
        let progress = if quiet {
            Progress::None
        } else if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            Progress::Bar(bar)
        } else {
            Progress::Lines
        };
        Self { started: Instant::now(), limit, progress, next: PATIENCE }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn show(&mut self, elapsed: Duration, stats: &Stats) {
        let seconds = elapsed.as_secs_f64();
        let line = format!(
            "{seconds:.0} s: {} states ({}/s), {} transitions, {} waiting, depth {}, {}",
            with_commas(stats.states),
            with_commas((stats.states as f64 / seconds) as u64),
            with_commas(stats.edges),
            with_commas(stats.queue),
            with_commas(stats.depth),
            human_bytes(stats.peak_bytes)
        );
        match &self.progress {
            Progress::None => {}
            Progress::Bar(bar) => {
                bar.set_message(line);
                bar.tick();
                self.next = elapsed + Duration::from_millis(200);
            }
            Progress::Lines => {
                say(&line);
                self.next = elapsed + Duration::from_secs(10);
            }
        }
    }
}

impl Watch for Terminal {
    fn tick(&mut self, stats: &Stats) -> Option<Stop> {
        if is_interrupted() {
            return Some(Stop::Interrupted);
        }
        let elapsed = self.started.elapsed();
        if elapsed >= self.next && !matches!(self.progress, Progress::None) {
            self.show(elapsed, stats);
        }
        match self.limit {
            Some(limit) if elapsed >= limit => Some(Stop::Time { limit: show_duration(limit) }),
            _ => None,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Progress::Bar(bar) = &self.progress {
            bar.finish_and_clear();
        }
    }
}
