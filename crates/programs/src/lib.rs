//! Unmodified programs, explored systematically: every interleaving of their threads and processes that can matter.
//!
//! Memory is sequentially consistent, and what is explored are calls of the C library: locks, condition variables,
//! semaphores, barriers, threads, processes, System V semaphores and message queues, pipes, tosses and assertions. Accesses to plain memory are
//! seen only in programs that [`compile`] has made; in others a race that shows without any call in between is missed.
//!
//! The program is started once, with a library of ours in front of the C library's, and waits before `main`; every run is
//! a process forked off there. See `controller` for how it is driven and `preload/preload.c` for what is in the program.

mod binary;
mod controller;
mod deep;
mod ignored;
mod memory;
mod objects;
mod shared;

pub use deep::compile;

use binary::Binary;
use controller::{AGAIN, Controller, Key, Kind, Settings};
use std::time::{Duration, Instant};
use stubborn_schedule::objects::WakeOrder;
use stubborn_schedule::report::{Counterexample, Naming, Recorded, Report, Spurious, Verdict, tell};
use stubborn_schedule::{
    Explorer, Failure, FailureKind, Found, ObjectId, Options, Outcome, ProcessId, Schedule, Stats, Why,
    shrink,
};

/// The format of reports for machines.
pub const FORMAT: &str = "stubborn-run-1";

/// The header with tosses and assertions, for programs that want them.
pub const HEADER: &str = include_str!("../preload/stubborn.h");

/// How often an exploration begins again because it has learned something.
const MOST_BEGINNINGS: usize = 100;

/// Why a program cannot be explored.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// No program was named.
    #[error("no program was named; write it behind `--`: `stubborn run -- ./program arguments`")]
    Nothing,
    /// It is not there.
    #[error("there is no program `{0}`{hint}", hint = if .0.contains('/') { "" } else { " in the search path; one in this directory is written with ./ before its name" })]
    Missing(String),
    /// It is a script.
    #[error("`{0}` is a script; name the program that interprets it, if that is what is to be explored")]
    Script(String),
    /// It is something else.
    #[error("`{0}` is not a 64-bit ELF program")]
    NoProgram(String),
    /// It is linked statically.
    #[error(
        "`{0}` is linked statically, so no library can be put in front of the C library's calls; link it dynamically"
    )]
    Static(String),
    /// It could not be started.
    #[error("`{0}` could not be started: {1}")]
    Start(String, std::io::Error),
    /// It did not load the library.
    #[error(
        "`{0}` did not load the library that controls it ({1}); programs with special rights and other C libraries than glibc do not"
    )]
    NotLoaded(String, String),
    /// The system refused something.
    #[error("the system refused: {0}")]
    System(std::io::Error),
    /// A schedule was not understood.
    #[error("{0}")]
    Schedule(#[from] stubborn_schedule::NoSchedule),
}

/// How to explore a program.
#[derive(Clone, Debug)]
pub struct Run {
    options: Options,
    settings: Settings,
    spurious: Option<u32>,
}

impl Run {
    /// A program and its arguments, with everything as it is by default.
    pub fn new(program: impl IntoIterator<Item = impl Into<String>>) -> Run {
        let program = program.into_iter().map(Into::into).collect();
        let patience = Duration::from_secs(5);
        Run {
            options: Options { max_cut: Some(1), ..Options::default() },
            settings: Settings {
                program,
                patience,
                wake_order: WakeOrder::Any,
                shows_output: false,
                spurious: 0,
                only_waiter: None,
                is_stepwise: false,
            },
            spurious: None,
        }
    }

    /// What to do and how far to go.
    pub fn options(mut self, change: impl FnOnce(&mut Options)) -> Run {
        change(&mut self.options);
        self
    }

    /// A task that moves for so long without a visible operation diverges (5 s if not set).
    pub fn patience(mut self, time: Duration) -> Run {
        self.settings.patience = time;
        self
    }

    /// Whether what the program writes is shown.
    pub fn shows_output(mut self, shows: bool) -> Run {
        self.settings.shows_output = shows;
        self
    }

    /// How often every thread may wake up for nothing where it waits on a condition variable, as POSIX allows; if not set, one thread does once
    /// in each run. Explored after everything else, if there are such waits and nothing was found; of random runs, only if it is set.
    pub fn spurious(mut self, most: u32) -> Run {
        self.spurious = Some(most);
        self
    }

    /// Whether the program asks what to do at every step, also of a beginning that is repeated (which is slower, and no different).
    pub fn is_stepwise(mut self, is_stepwise: bool) -> Run {
        self.settings.is_stepwise = is_stepwise;
        self
    }

    fn binary(&self) -> Result<Binary, Trouble> {
        let program = self.settings.program.first().ok_or(Trouble::Nothing)?;
        Binary::new(program, &binary::find(program)?)
    }

    /// Explores, and reports.
    pub fn explore(&self) -> Result<Report, Trouble> {
        let started = Instant::now();
        let binary = self.binary()?;
        let mut controller = Controller::new(self.settings.clone(), binary.code.clone())?;
        controller.settings.spurious = self.spurious.filter(|_| self.options.random.is_some()).unwrap_or(0);
        let outcome = self.explore_until_known(&mut controller, &self.options);
        let mut report = Report::new(FORMAT, self.options.algorithm, started.elapsed());
        report.stats = outcome.stats;
        let mut found = outcome.found;
        if matches!(found, Found::Nothing)
            && !controller.learned.waiters.is_empty()
            && self.most_spurious() > 0
        {
            let (stats, other) = self.explore_spurious(&mut controller, &report.stats, started);
            report.spurious = Some(Spurious { most: self.spurious, stats });
            found = other;
        }
        report.spins = controller.n_spins;
        report.verdict = match found {
            Found::Inconclusive(why) if report.spurious.is_some() => {
                let why = match (why, self.options.max_runs, self.options.max_time) {
                    // The limit that was set, not what was left of it.
                    (Why::Runs(_), Some(max), _) => Why::Runs(max),
                    (Why::Time(_), _, Some(max)) => Why::Time(max),
                    (why, _, _) => why,
                };
                Verdict::Inconclusive(format!("with wake-ups for nothing, {why}; without them no run fails"))
            }
            Found::Nothing => Verdict::Holds,
            Found::Inconclusive(why) => Verdict::Inconclusive(why.to_string()),
            Found::Failure(failure, schedule) => {
                Verdict::Violated(Box::new(self.story(&mut controller, &binary, failure, schedule)))
            }
        };
        report.seconds = started.elapsed().as_secs_f64();
        Ok(report)
    }

    /// Explores what wake-ups for nothing bring. If nothing was said, one thread after the other has one, so that there is one in each run.
    fn explore_spurious(
        &self,
        controller: &mut Controller,
        before: &Stats,
        started: Instant,
    ) -> (Stats, Found) {
        let mut all = Stats::default();
        let mut done = Vec::new();
        controller.settings.spurious = self.most_spurious();
        loop {
            let next = controller.learned.waiters.iter().copied().find(|waiter| !done.contains(waiter));
            let Some(waiter) = next.filter(|_| self.spurious.is_none() || done.is_empty()) else {
                return (all, Found::Nothing);
            };
            done.push(waiter);
            controller.settings.only_waiter = self.spurious.is_none().then_some(waiter);
            let options = self.remaining_options(&sum(before, &all), started.elapsed());
            let outcome = self.explore_until_known(controller, &options);
            all = sum(&all, &outcome.stats);
            if !matches!(outcome.found, Found::Nothing) {
                return (all, outcome.found);
            }
        }
    }

    fn most_spurious(&self) -> u32 {
        self.spurious.unwrap_or(1)
    }

    /// What is left of the limits.
    fn remaining_options(&self, stats: &Stats, time: Duration) -> Options {
        let mut options = self.options.clone();
        let runs = stats.runs + stats.blocked + stats.cut;
        options.max_runs = options.max_runs.map(|max| max.saturating_sub(runs));
        options.max_time = options.max_time.map(|max| max.saturating_sub(time));
        options
    }

    fn explore_until_known(&self, controller: &mut Controller, options: &Options) -> Outcome {
        for _ in 1..MOST_BEGINNINGS {
            let outcome = Explorer::new(controller, options.clone()).explore();
            match &outcome.found {
                Found::Inconclusive(Why::Program(why)) if why == AGAIN => {}
                _ => return outcome,
            }
        }
        Explorer::new(controller, options.clone()).explore()
    }

    /// Makes the run of a schedule again, as a report gave it.
    pub fn replay(&self, schedule: &str) -> Result<Report, Trouble> {
        let started = Instant::now();
        let binary = self.binary()?;
        let mut controller = Controller::new(self.settings.clone(), binary.code.clone())?;
        // What fails without wake-ups for nothing fails with them, too, in the same way.
        controller.settings.spurious = self.most_spurious();
        let schedule = controller.names.schedule(schedule)?;
        let mut report = Report::new(FORMAT, self.options.algorithm, started.elapsed());
        report.stats.runs = 1;
        report.verdict = match self.run_again(&mut controller, &binary, &schedule) {
            Some(story) => Verdict::Violated(Box::new(story)),
            None => Verdict::Inconclusive("one run was made, and it does not fail".to_owned()),
        };
        report.seconds = started.elapsed().as_secs_f64();
        Ok(report)
    }

    /// The run again, recorded; shorter if it was found at random.
    fn story(
        &self,
        controller: &mut Controller,
        binary: &Binary,
        failure: Failure,
        schedule: Schedule,
    ) -> Counterexample {
        let kind = failure.kind;
        if kind == FailureKind::Nondeterminism {
            let thread = failure.process.map(|process| called(process, controller));
            return Counterexample::bare(failure, thread, controller.names.text(&schedule));
        }
        let schedule = match self.options.random {
            Some(_) => shrink(controller, &self.options, &schedule, kind),
            None => schedule,
        };
        match self.run_again(controller, binary, &schedule) {
            Some(story) if story.kind == kind => story,
            _ => {
                let message = format!(
                    "a run failed ({}: {}), but not when it was repeated: the program depends on something that is not \
                     controlled",
                    kind.word(),
                    failure.message
                );
                let failure = Failure { kind: FailureKind::Nondeterminism, message, ..failure };
                Counterexample::bare(failure, None, controller.names.text(&schedule))
            }
        }
    }

    fn run_again(
        &self,
        controller: &mut Controller,
        binary: &Binary,
        schedule: &Schedule,
    ) -> Option<Counterexample> {
        let options = Options { check_determinism: false, ..self.options.clone() };
        let preemptions = Explorer::new(controller, options.clone()).count_preemptions(schedule);
        controller.recording = Some(Vec::new());
        let mut explorer = Explorer::new(controller, options);
        let (schedule, failure) = explorer.replay(schedule);
        let mut world = explorer.world().clone();
        drop(explorer);
        let mut failure = failure?;
        // Threads that ended with their process wait for nothing.
        (0..world.n_processes())
            .filter(|&process| controller.is_dead(process))
            .for_each(|process| world.end(process));
        if failure.kind == FailureKind::Deadlock {
            failure.message = match world.waiting().count() {
                1 => "a process waits for ever".to_owned(),
                n => format!("{n} processes wait for ever"),
            };
        }
        if let Some(race) = controller.race.filter(|_| failure.kind == FailureKind::DataRace) {
            let [one, two] = race.map(|(process, site, access)| {
                let (file, line) = binary.place(controller.base(), site);
                let what = if access.is_write { "writes" } else { "reads" };
                let variable = binary.variable(controller.base(), access.address);
                format!("{} {what} {variable} at {file}:{line}", called(process, controller))
            });
            failure.message = format!("{one}, {two}, and nothing orders the two");
        }
        let noted = controller.recording.take().unwrap_or_default();
        let for_nothing: Vec<usize> = (0..noted.len()).filter(|&i| noted[i].is_for_nothing).collect();
        let recorded: Vec<Recorded> = noted
            .into_iter()
            .map(|step| Recorded {
                process: step.process,
                place: binary.place(controller.base(), step.site),
                op: step.op,
                out: step.out,
            })
            .collect();
        let naming = Called { controller, binary };
        let mut story =
            tell(&world, &recorded, failure, (&schedule, preemptions), (&controller.names, &naming));
        for i in for_nothing {
            story.steps.get_mut(i).into_iter().for_each(|step| step.value = "for nothing".to_owned());
        }
        Some(story)
    }
}

/// Two explorations as one.
fn sum(one: &Stats, two: &Stats) -> Stats {
    Stats {
        runs: one.runs + two.runs,
        blocked: one.blocked + two.blocked,
        cut: one.cut + two.cut,
        restarts: one.restarts + two.restarts,
        steps: one.steps + two.steps,
        longest: one.longest.max(two.longest),
    }
}

struct Called<'c> {
    controller: &'c Controller,
    binary: &'c Binary,
}

fn called(process: ProcessId, controller: &Controller) -> String {
    let is_thread =
        controller.tasks.get(process as usize).and_then(Option::as_ref).is_some_and(|t| t.is_thread);
    match process {
        0 => "main".to_owned(),
        _ if is_thread => format!("thread {}", controller.names.path(process)),
        _ => format!("process {}", controller.names.path(process)),
    }
}

impl Naming for Called<'_> {
    fn process(&self, process: ProcessId) -> String {
        called(process, self.controller)
    }

    fn object(&self, object: ObjectId) -> String {
        let Some(&Key { kind, space, address }) = self.controller.keys.get(object as usize) else {
            return "?".to_owned();
        };
        // Places in shared memory are numbers of bytes, and named semaphores have numbers.
        let is_shared = space >= u64::from(u32::MAX) - 1;
        let word = match kind {
            Kind::Mutex => "mutex",
            Kind::RwLock => "rwlock",
            Kind::Condvar => "condition",
            Kind::Semaphore => "semaphore",
            Kind::Barrier => "barrier",
            Kind::Once => "once",
            Kind::SysV => return format!("semaphore {address}[{space}]"),
            Kind::Memory if is_shared => return format!("shared+{address}"),
            Kind::Memory => return self.binary.variable(self.controller.base(), address),
            Kind::Pipe => return format!("pipe {address}"),
            Kind::Queue => return format!("queue {address}"),
            Kind::Task => return self.process(address as ProcessId),
            Kind::Children => return "child".to_owned(),
            Kind::Names => return "names".to_owned(),
            Kind::Life => return format!("process {}", 1000 + address),
        };
        match is_shared {
            true if space == u64::from(u32::MAX) - 1 => {
                format!("{word} {}", self.controller.learned.name_of(address))
            }
            true if space > u64::from(u32::MAX) => format!("{word} shared+{address}"),
            // Of another program than the first nothing is known.
            false if space >= 1 << 20 => format!("{word} at {address:#x}"),
            _ => format!("{word} {}", self.binary.variable(self.controller.base(), address)),
        }
    }

    fn place(&self, process: ProcessId) -> Option<(String, u32)> {
        let task = self.controller.tasks.get(process as usize).and_then(Option::as_ref)?;
        Some(self.binary.place(self.controller.base(), task.site))
    }

    fn operation(&self, code: u32, input: u64, out: Option<u64>) -> Option<(String, String)> {
        let got = out.map_or(String::new(), |out| out.to_string());
        let child = |number: Option<u64>| match number {
            None | Some(0) => String::new(),
            Some(child) => self.process((child - 1) as ProcessId),
        };
        let bytes = |out: Option<u64>| match out {
            None => String::new(),
            Some(u64::MAX) => "would block".to_owned(),
            Some(n) => format!("{n} bytes"),
        };
        let (word, value) = match code {
            objects::CHILD_ENDS => ("end", child(Some(input + 1))),
            objects::AWAIT_CHILD => ("wait", child(Some(input + 1))),
            objects::AWAIT_ANY => ("wait", child(out.filter(|&out| out != objects::NO_CHILD))),
            objects::LOOK_AT_CHILD => ("look", child(Some(input + 1))),
            objects::OPEN_NAME => match out {
                Some(0) => ("open", "not there".to_owned()),
                Some(u64::MAX) => ("open", "is there".to_owned()),
                _ => ("open", String::new()),
            },
            objects::REMOVE_NAME => ("remove", String::new()),
            objects::GO => ("toss", got),
            objects::RING => ("kill", input.to_string()),
            objects::TAKE => ("signal", (input % objects::EITHER).to_string()),
            objects::AWAIT_SIGNAL => ("pause", String::new()),
            objects::HANDLE => ("handle-signals", String::new()),
            objects::SLEEP => ("sleep", String::new()),
            objects::COPY => ("fork", String::new()),
            objects::DIE => ("exit", String::new()),
            objects::ADD => ("add", input.to_string()),
            objects::SUBTRACT => ("subtract", input.to_string()),
            objects::AWAIT_ZERO => ("wait-for-zero", String::new()),
            objects::SET => ("set", input.to_string()),
            objects::CLOSE => {
                ("close", if input == 1 { "its writing end" } else { "its reading end" }.to_owned())
            }
            objects::READ | objects::TRY_READ => ("read", bytes(out)),
            objects::WRITE | objects::TRY_WRITE => ("write", bytes(out)),
            objects::LOOK => ("look", String::new()),
            objects::LISTEN | objects::STOP_LISTENING => ("poll", String::new()),
            objects::SEND => ("send", String::new()),
            objects::TRY_SEND => ("try-send", if out == Some(0) { "full".to_owned() } else { String::new() }),
            objects::RECEIVE => ("receive", String::new()),
            objects::TRY_RECEIVE => {
                ("try-receive", if out == Some(0) { "none".to_owned() } else { String::new() })
            }
            _ => ("get", got),
        };
        Some((word.to_owned(), value))
    }
}
