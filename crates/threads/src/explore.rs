//! Explorations: what to explore, how, and how far.

use crate::report;
use crate::runtime::state::{Settings, State, with_state};
use crate::runtime::{Body, Runtime};
use crate::watchdog::{Progress, Watchdog};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stubborn_schedule::objects::WakeOrder;
use stubborn_schedule::report::{Counterexample, Names, Report, Verdict, replay_from_json};
use stubborn_schedule::{
    Algorithm, Explorer, Failure, FailureKind, Found, Options, Outcome, Schedule, Why, explore_parallel,
    shrink,
};

/// Explores all schedules of the code, with everything as it is by default.
///
/// # Panics
///
/// If a run fails, with the report; and if not all runs could be made.
#[track_caller]
pub fn explore<F>(f: F)
where
    F: Fn() + Send + Sync + 'static,
{
    Builder::new().explore(f);
}

/// How to explore.
#[derive(Clone, Debug)]
pub struct Builder {
    options: Options,
    first_pass: Option<u32>,
    workers: usize,
    stack_size: usize,
    max_threads: usize,
    wake_order: WakeOrder,
    spin_after: usize,
    divergence: Duration,
    unlock_is_visible: bool,
    trusts_guards: bool,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            // Code that goes on for ever would be cut for ever.
            options: Options { max_cut: Some(1), ..Options::default() },
            first_pass: None,
            workers: 1,
            stack_size: 256 << 10,
            max_threads: 10_000,
            wake_order: WakeOrder::Any,
            spin_after: 10,
            divergence: Duration::from_secs(10),
            unlock_is_visible: false,
            trusts_guards: false,
        }
    }
}

impl Builder {
    /// Everything as it is by default: `source`, one worker, no limits but those on steps and threads.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// How runs are chosen.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Builder {
        self.options.algorithm = algorithm;
        self
    }

    /// Makes only runs with at most so many preemptions. Without a failure the result is inconclusive, unless there
    /// are no other runs.
    pub fn preemptions(mut self, max: u32) -> Builder {
        self.options.preemptions = Some(max);
        self
    }

    /// Makes runs with at most so many preemptions first, and all runs if none of them fails.
    pub fn first_pass(mut self, preemptions: u32) -> Builder {
        self.first_pass = Some(preemptions);
        self
    }

    /// Makes runs at random, from a seed. Give a limit, too. Failing schedules are shrunk.
    pub fn random(mut self, seed: u64) -> Builder {
        self.options.random = Some(seed);
        self
    }

    /// At most so many runs.
    pub fn max_runs(mut self, max: u64) -> Builder {
        self.options.max_runs = Some(max);
        self
    }

    /// At most so many visible operations in a run. Runs that have more are cut, and the search goes on; if this is not
    /// set, it ends at the first run with more than 10,000.
    pub fn max_steps(mut self, max: usize) -> Builder {
        self.options.max_steps = max;
        self.options.max_cut = None;
        self
    }

    /// At most so much time.
    pub fn max_time(mut self, max: Duration) -> Builder {
        self.options.max_time = Some(max);
        self
    }

    /// At most so many threads in a run (10,000 if not set).
    pub fn max_threads(mut self, max: usize) -> Builder {
        self.max_threads = max.max(1);
        self
    }

    /// With so many operating system threads. Code that uses a `static` must be explored with one.
    pub fn workers(mut self, n: usize) -> Builder {
        self.workers = n.max(1);
        self
    }

    /// The stack of each thread (256 KiB if not set).
    pub fn stack_size(mut self, bytes: usize) -> Builder {
        self.stack_size = bytes.max(16 << 10);
        self
    }

    /// Whom `notify_one` wakes: any thread that waits (if not set), or the one that has waited longest.
    pub fn wake_order(mut self, order: WakeOrder) -> Builder {
        self.wake_order = order;
        self
    }

    /// A read that gets the same so many times is a loop that waits (10 if not set; at least 2).
    pub fn spin_after(mut self, n: usize) -> Builder {
        self.spin_after = n.max(2);
        self
    }

    /// A thread that runs for so long without a visible operation diverges (10 s if not set).
    pub fn divergence(mut self, time: Duration) -> Builder {
        self.divergence = time;
        self
    }

    /// Makes every unlock an operation of its own, also where nobody can tell when it is done. For tests.
    #[doc(hidden)]
    pub fn visible_unlocks(mut self) -> Builder {
        self.unlock_is_visible = true;
        self
    }

    /// Makes a mistake: takes every condition variable to be guarded by a mutex. For tests, which must notice.
    #[doc(hidden)]
    pub fn trusting_guards(mut self) -> Builder {
        self.trusts_guards = true;
        self
    }

    /// Calls a function every 256 runs, with the runs so far and an estimate of all runs, which grows on the way because
    /// races are found on the way. With several workers the numbers are those of one of them.
    pub fn progress<F>(mut self, f: F) -> Builder
    where
        F: Fn(u64, f64) + Send + Sync + 'static,
    {
        self.options.progress = Some(stubborn_schedule::Progress(Arc::new(f)));
        self
    }

    /// Explores.
    ///
    /// # Panics
    ///
    /// If a run fails, with the report; and if not all runs could be made, unless they are made at random or with
    /// few preemptions, when that was to be expected.
    #[track_caller]
    pub fn explore<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        let expects_less = self.options.random.is_some() || self.options.preemptions.is_some();
        let report = self.check(f);
        match &report.verdict {
            Verdict::Holds => {}
            Verdict::Inconclusive(_) if expects_less => {}
            _ => panic!("{report}"),
        }
    }

    /// Explores, and reports.
    pub fn check<F>(self, f: F) -> Report
    where
        F: Fn() + Send + Sync + 'static,
    {
        let started = Instant::now();
        let mut work = Work::new(&self, Arc::new(f));
        let mut outcome = Err(Failure::limit(0, "nothing was done"));
        if let Some(preemptions) = self.first_pass {
            let options = Options { preemptions: Some(preemptions), ..self.options.clone() };
            outcome = work.explore(&options, self.workers);
        }
        let is_decided = match &outcome {
            Ok(outcome) => !matches!(outcome.found, Found::Inconclusive(Why::Preemptions(_))),
            Err(failure) => !failure.is_limit,
        };
        if self.first_pass.is_none() || !is_decided {
            outcome = work.explore(&self.options, self.workers);
        }
        let mut report = Report::new(report::FORMAT, self.options.algorithm, started.elapsed());
        match outcome {
            Err(failure) => {
                let story = report::bare(failure, &Schedule::default(), work.names());
                report.verdict = Verdict::Violated(Box::new(story));
            }
            Ok(outcome) => {
                report.stats = outcome.stats;
                report.verdict = match outcome.found {
                    Found::Nothing => Verdict::Holds,
                    Found::Inconclusive(why) => Verdict::Inconclusive(work.says(&why)),
                    Found::Failure(failure, schedule) => {
                        let shrinks = self.options.random.is_some();
                        Verdict::Violated(Box::new(work.clone().tell(failure, schedule, shrinks)))
                    }
                };
            }
        }
        report.spins = work.spins.load(Ordering::Relaxed);
        report.seconds = started.elapsed().as_secs_f64();
        report
    }

    /// Makes the run of a schedule again, as a report gave it.
    pub fn replay<F>(self, schedule: &str, f: F) -> Result<Report, stubborn_schedule::NoSchedule>
    where
        F: Fn() + Send + Sync + 'static,
    {
        let started = Instant::now();
        let mut work = Work::new(&self, Arc::new(f));
        work.settings.unlock_is_visible = false;
        let schedule = work.settings.read_mark(schedule);
        let schedule = {
            let mut names = work.names.lock().unwrap_or_else(PoisonError::into_inner);
            names.schedule(schedule)?
        };
        let verdict = match work.run_again(schedule) {
            Some(story) => Verdict::Violated(Box::new(story)),
            None => Verdict::Inconclusive("one run was made, and it does not fail".to_owned()),
        };
        let mut report = Report::new(report::FORMAT, self.options.algorithm, started.elapsed());
        report.stats.runs = 1;
        report.verdict = verdict;
        Ok(report)
    }
}

/// Why a file cannot be replayed.
#[derive(Debug)]
pub enum ReplayError {
    /// It cannot be read.
    File(std::io::Error),
    /// It has no run that fails.
    NoRun,
    /// Its run is no schedule.
    NoSchedule(stubborn_schedule::NoSchedule),
}

impl std::fmt::Display for ReplayError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReplayError::File(error) => write!(f, "the file cannot be read: {error}"),
            ReplayError::NoRun => write!(f, "the file is no report of a run that fails"),
            ReplayError::NoSchedule(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ReplayError {}

impl Builder {
    /// Makes the run of a file again that [`Report::save`] wrote.
    pub fn replay_file<F>(self, path: impl AsRef<std::path::Path>, f: F) -> Result<Report, ReplayError>
    where
        F: Fn() + Send + Sync + 'static,
    {
        let text = std::fs::read_to_string(path).map_err(ReplayError::File)?;
        let replay = replay_from_json(&text, report::FORMAT).ok_or(ReplayError::NoRun)?;
        self.replay(&replay, f).map_err(ReplayError::NoSchedule)
    }
}

/// What workers share.
#[derive(Clone)]
struct Work {
    body: Body,
    settings: Settings,
    names: Arc<Mutex<Names>>,
    options: Options,
    watchdog: Watchdog,
    patience: Duration,
    spins: Arc<AtomicU64>,
}

/// A worker's program, which tells the watchdog when it is done.
struct Watched {
    runtime: Runtime,
    progress: Arc<Progress>,
    spins: Arc<AtomicU64>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.spins.fetch_add(with_state(|state| state.n_spins), Ordering::Relaxed);
        self.progress.rest();
    }
}

impl stubborn_schedule::Program for Watched {
    fn reset(&mut self, world: &mut stubborn_schedule::World) {
        self.runtime.reset(world);
    }

    fn resume(
        &mut self,
        process: stubborn_schedule::ProcessId,
        out: u64,
        world: &mut stubborn_schedule::World,
    ) -> Result<(), Failure> {
        self.runtime.resume(process, out, world)
    }

    fn limit_of_reset(&self) -> Option<Failure> {
        self.runtime.limit_of_reset()
    }

    fn is_deadlock(&self, blocked: &[stubborn_schedule::ProcessId]) -> bool {
        self.runtime.is_deadlock(blocked)
    }

    fn must_end(&self) -> bool {
        true
    }

    fn finish(&mut self) {
        self.runtime.finish();
    }
}

impl Work {
    fn new(builder: &Builder, body: Body) -> Work {
        let names: Arc<Mutex<Names>> = Arc::default();
        let settings = Settings {
            stack_size: builder.stack_size,
            max_threads: builder.max_threads,
            wake_order: builder.wake_order,
            spin_after: builder.spin_after,
            names: names.clone(),
            leader_is_visible: false,
            counted: Arc::default(),
            loops: Arc::default(),
            exit_is_visible: false,
            // Persistent sets are computed from what processes were seen to announce, and wake-up trees from single operations.
            unlock_is_visible: builder.unlock_is_visible
                || !matches!(
                    builder.options.algorithm,
                    Algorithm::Dfs | Algorithm::Sleep | Algorithm::Source
                ),
            notify_is_visible: false,
            trusts_guards: builder.trusts_guards,
            busy: Arc::default(),
            progress: Arc::default(),
        };
        Work {
            body,
            settings,
            names,
            options: builder.options.clone(),
            watchdog: Watchdog::default(),
            patience: builder.divergence,
            spins: Arc::default(),
        }
    }

    fn names(&self) -> &Mutex<Names> {
        &self.names
    }

    /// Why nothing is known; of a run that was cut also who kept it going.
    fn says(&self, why: &Why) -> String {
        let busy = self.settings.busy.lock().unwrap_or_else(PoisonError::into_inner);
        match (why, &*busy) {
            (Why::Steps(_), Some(busy)) => format!(
                "{why}: {busy} (a loop that waits must do so by atomics, attempts, channels or condition variables: what it \
                 reads under a lock is not seen)"
            ),
            _ => why.to_string(),
        }
    }

    fn program(&self) -> Watched {
        let progress = self.watchdog.progress();
        let settings = Settings { progress: progress.clone(), ..self.settings.clone() };
        Watched { runtime: Runtime::new(self.body.clone(), settings), progress, spins: self.spins.clone() }
    }

    /// Does something on another thread, and gives up waiting for it if a worker diverges.
    fn watched<R: Send + 'static>(
        self,
        work: impl FnOnce(&Work) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        let (sender, receiver) = channel();
        let watchdog = self.watchdog.clone();
        let patience = self.patience;
        let mut look = watchdog.first_look();
        std::thread::spawn(move || {
            let result = work(&self);
            // The user's code is dropped before anybody goes on.
            drop(self);
            // Nobody may be waiting any more.
            let _ = sender.send(result);
        });
        loop {
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::new(
                        FailureKind::Panic,
                        0,
                        "a worker of the exploration has panicked",
                    ));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(stuck) = watchdog.look(&mut look, patience) {
                let after = stuck.place.map_or("from its beginning on".to_owned(), |at| {
                    format!("after its operation at {}:{}", at.file(), at.line())
                });
                let message =
                    format!("ran for {:.1} s without a visible operation, {after}", patience.as_secs_f64());
                return Err(Failure::new(FailureKind::Divergence, stuck.process, message));
            }
        }
    }

    /// Explores; begins again with more visible operations if they turn out to matter.
    fn explore(&mut self, options: &Options, workers: usize) -> Result<Outcome, Failure> {
        loop {
            let again = options.clone();
            let explore = move |work: &Work| explore_parallel(&|| work.program(), &again, workers);
            let outcome = self.clone().watched(explore)?;
            match &outcome.found {
                Found::Inconclusive(Why::Program(why)) if self.settings.see_more(why) => {}
                _ => return Ok(outcome),
            }
        }
    }

    /// The story of a failure: the schedule, shorter if that is asked for, run again and recorded.
    fn tell(self, failure: Failure, schedule: Schedule, shrinks: bool) -> Counterexample {
        if failure.kind == FailureKind::Nondeterminism {
            return report::bare(failure, &schedule, &self.names);
        }
        let kind = failure.kind;
        let schedule = match shrinks {
            true => {
                let before = schedule.clone();
                let shorter = move |work: &Work| shrink(&mut work.program(), &work.options, &schedule, kind);
                self.clone().watched(shorter).unwrap_or(before)
            }
            false => schedule,
        };
        match self.clone().run_again(schedule.clone()) {
            Some(story) if story.kind == kind => story,
            // What does not fail again depends on something else.
            _ => {
                let message = format!(
                    "a run failed ({}: {}), but not when it was repeated: the program depends on something that is \
                     not controlled",
                    kind.word(),
                    failure.message
                );
                let failure = Failure { kind: FailureKind::Nondeterminism, message, ..failure };
                report::bare(failure, &schedule, &self.names)
            }
        }
    }

    /// Makes a run again and records it; gives its failure.
    fn run_again(mut self, schedule: Schedule) -> Option<Counterexample> {
        loop {
            let schedule = schedule.clone();
            match self.clone().watched(move |work| work.run_once(&schedule)) {
                // The schedule is of an exploration that had begun again.
                Ok(Some(story)) if self.settings.see_more(&story.message) => {}
                Ok(story) => return story,
                Err(failure) => return Some(report::bare(failure, &Schedule::default(), &self.names)),
            }
        }
    }

    fn run_once(&self, schedule: &Schedule) -> Option<Counterexample> {
        let mut program = self.program();
        with_state(State::record);
        let options = Options { check_determinism: false, ..self.options.clone() };
        let preemptions = Explorer::new(&mut program, options.clone()).count_preemptions(schedule);
        let mut explorer = Explorer::new(&mut program, options);
        let (schedule, failure) = explorer.replay(schedule);
        let failure = failure?;
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let mut story = report::tell(&explorer, failure, (&schedule, preemptions), &names);
        story.replay = self.settings.mark(&story.replay);
        Some(story)
    }
}
