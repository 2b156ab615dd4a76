//! The controller: a program in processes of its own as a `Program` of the engine.
//!
//! Every run is forked off by a server that waits in the program before `main`. Between two visible operations one task
//! moves; when nobody does, all tasks have announced, and the engine chooses. Requests that are not visible (a task
//! begins, a semaphore gets its first value) are answered at once.
//!
//! Objects are known by their addresses, which are the same in every run, and by the process unless they are shared
//! between processes. They live here: nothing of theirs exists in the system.

mod announcements;
mod children;
mod code;
mod keys;
mod learned;
mod patience;
mod server;
mod settle;
mod signals;
mod sysv;
mod tasks;
mod views;

pub(crate) use self::keys::{Key, Kind};
pub(crate) use self::learned::Learned;
pub(crate) use self::tasks::Task;

use self::patience::in_vain;
use self::views::{Log, View};
use crate::Trouble;
use crate::ignored::Code;
use crate::memory::{Access, Owners};
use crate::objects::{Message, NO_CHILD, RING};
use crate::shared::{self, Mapping, Pinned};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
use stubborn_schedule::objects::WakeOrder;
use stubborn_schedule::report::Names;
use stubborn_schedule::{Action, Failure, ObjectId, Op, ProcessId, Program, World};

/// The library that is loaded into the program.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/preload.so"));

/// A run said something that the exploration did not know: it must begin again.
pub(crate) const AGAIN: &str = "the exploration must begin again";

/// Waiting for memory to change, which no program asks for in so many words.
const AWAIT: u32 = u32::MAX;
/// Taking a signal, which no program asks for at all.
const INTERRUPT: u32 = u32::MAX - 1;

/// Two accesses at the same time: who, where, and what.
pub(crate) type Race = [(ProcessId, u64, Access); 2];

/// A step as it was recorded: who, what, what came of it, where.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) process: ProcessId,
    pub(crate) op: Op,
    pub(crate) out: u64,
    pub(crate) site: u64,
    /// A wake-up that nobody asked for.
    pub(crate) is_for_nothing: bool,
}

/// How to run a program.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) program: Vec<String>,
    pub(crate) patience: Duration,
    pub(crate) wake_order: WakeOrder,
    pub(crate) shows_output: bool,
    /// Whether the program asks at every step, also of beginnings that are repeated.
    pub(crate) is_stepwise: bool,
    /// How often each task may wake up for nothing where it waits on a condition variable.
    pub(crate) spurious: u32,
    /// The one that may, if not all.
    pub(crate) only_waiter: Option<ProcessId>,
}

/// A program in processes of its own.
pub(crate) struct Controller {
    pub(crate) settings: Settings,
    code: Code,
    shared: Mapping,
    /// The library, as a file that the program inherits.
    library: OwnedFd,
    server: Option<Child>,
    /// Controller and program run on one processor.
    pinned: Option<Pinned>,
    run: u32,
    /// What each slot has said.
    views: Vec<View>,
    log: Log,
    pub(crate) learned: Learned,
    pub(crate) names: Names,
    pub(crate) tasks: Vec<Option<Task>>,
    /// The task of each slot that is known.
    of_slot: Vec<ProcessId>,
    objects: FxHashMap<Key, ObjectId>,
    /// What each object is.
    pub(crate) keys: Vec<Key>,
    pub(crate) recording: Option<Vec<Noted>>,
    /// The data race that ended the last run.
    pub(crate) race: Option<Race>,
    /// Files behind shared memory, by its number.
    files: FxHashMap<u64, OwnedFd>,
    /// Numbers of objects that were removed.
    removed: FxHashSet<u64>,
    /// What is in each pipe.
    in_pipes: FxHashMap<u64, VecDeque<u8>>,
    /// Signals that have come and were not taken, by process.
    pending_signals: FxHashMap<u32, u64>,
    /// Who has touched which memory.
    owners: Owners,
    /// Loops that were assumed to wait.
    pub(crate) n_spins: u64,
    early: Option<Failure>,
}

impl Controller {
    pub(crate) fn new(settings: Settings, code: Code) -> Result<Controller, Trouble> {
        let library = shared::memory_file(c"stubborn-preload").map_err(Trouble::System)?;
        let mut file = std::fs::File::from(library.try_clone().map_err(Trouble::System)?);
        std::io::Write::write_all(&mut file, LIBRARY).map_err(Trouble::System)?;
        let mut controller = Controller {
            settings,
            code,
            shared: Mapping::new().map_err(Trouble::System)?,
            library,
            server: None,
            pinned: None,
            run: 0,
            views: Vec::new(),
            log: Log::default(),
            learned: Learned::default(),
            names: Names::default(),
            tasks: Vec::new(),
            of_slot: Vec::new(),
            objects: FxHashMap::default(),
            keys: Vec::new(),
            recording: None,
            race: None,
            files: FxHashMap::default(),
            removed: FxHashSet::default(),
            in_pipes: FxHashMap::default(),
            pending_signals: FxHashMap::default(),
            owners: Owners::default(),
            n_spins: 0,
            early: None,
        };
        controller.begin_server()?;
        Ok(controller)
    }

    /// Where the program was loaded.
    pub(crate) fn base(&self) -> u64 {
        self.shared.base.load(SeqCst)
    }
}

impl Program for Controller {
    fn repeat(&mut self, steps: usize) {
        self.log.repeat(steps);
    }

    fn reset(&mut self, world: &mut World) {
        self.clear();
        self.tasks.clear();
        self.of_slot.clear();
        self.objects.clear();
        self.keys.clear();
        self.owners.clear();
        self.empty_files();
        self.removed.clear();
        self.in_pipes.clear();
        self.pending_signals.clear();
        self.early = None;
        self.race = None;
        if let Some(recording) = &mut self.recording {
            recording.clear();
        }
        let began = match self.server {
            Some(_) => Ok(()),
            None => self.begin_server(),
        };
        let began = began.map_err(|trouble| Failure::limit(0, trouble.to_string())).and_then(|()| {
            self.begin_run()?;
            self.settle(world)
        });
        if let Err(failure) = began {
            // It comes again when the first step is done.
            self.early = Some(failure);
            world.announce(0, Op::toss(1));
        }
    }

    fn resume(&mut self, process: ProcessId, out: u64, world: &mut World) -> Result<(), Failure> {
        if let Some(failure) = &self.early {
            return Err(failure.clone());
        }
        self.log.begin_step();
        let Some(task) = self.tasks.get_mut(process as usize).and_then(Option::as_mut) else { return Ok(()) };
        let Some((code, op)) = task.announced.take() else { return Ok(()) };
        let (slot, site, task_waits_for_all) = (task.slot, task.site, task.waits_for_all);
        task.access = None;
        task.is_patient = false;
        let got_all = task.asked.take().is_some();
        if let Some(failed) = in_vain(code, &op) {
            let before = if task.timeouts.0 == site { task.timeouts.1 } else { 0 };
            task.timeouts = (site, if out == failed && !got_all { before + 1 } else { 0 });
        }
        let is_for_nothing = code == code::WAKE && out == 0;
        task.n_spurious += u32::from(is_for_nothing);
        if let Some(recording) = &mut self.recording {
            recording.push(Noted { process, op: op.clone(), out, site, is_for_nothing });
        }
        if code == code::DIE {
            self.tasks[process as usize].iter_mut().for_each(|task| task.is_dying = true);
        }
        if code == INTERRUPT {
            self.take_signal(process, out);
            return self.settle(world);
        }
        for part in &op.parts {
            if let (Action::Custom { code: RING, input }, Some(key)) =
                (part.action, self.keys.get(part.object as usize))
            {
                self.ring(key.address as u32, input);
            }
        }
        if code == AWAIT {
            // Nothing was done as yet: the task is asked again what it wants.
            return self.settle(world);
        }
        if code == code::WAIT_CHILD && out == NO_CHILD && task_waits_for_all {
            // Another thread has waited for that child; there may be others.
            return Err(self.which_child_matters(process));
        }
        let mut data = None;
        let answer = match code {
            // Who waited for a lock that it only tried to get has got it.
            code::TRY_LOCK | code::TRY_READ_LOCK | code::TRY_WRITE_LOCK if got_all => 1,
            code::WAIT_CHILD if out > 0 && out != NO_CHILD => {
                let child = (out - 1) as usize;
                let reaped = self.tasks.get_mut(child).and_then(Option::as_mut);
                reaped.map_or(u64::MAX, |task| {
                    task.is_reaped = true;
                    task.slot as u64
                })
            }
            code::PIPE_READ | code::PIPE_TRY_READ if out != u64::MAX => {
                let pipe = self.in_pipes.entry(self.views[slot].args[0] / 2).or_default();
                let n = (out as usize).min(pipe.len());
                data = Some(pipe.drain(..n).collect());
                out
            }
            code::PIPE_WRITE | code::PIPE_TRY_WRITE if out != u64::MAX && out > 0 => {
                let view = &self.views[slot];
                self.in_pipes.entry(view.args[0] / 2).or_default().extend(&view.data);
                out
            }
            code::RECEIVE | code::TRY_RECEIVE if out > 0 => {
                let message = Message(out);
                let text = self.learned.texts.get(message.text() as usize);
                data = Some(text.cloned().unwrap_or_default());
                message.kind()
            }
            code::SEMOP => match op.parts.first().map(|part| part.action) {
                Some(Action::TryAcquire) if out == 0 => u64::MAX,
                _ => 0,
            },
            _ => out,
        };
        self.grant(slot, answer, data);
        self.settle(world)
    }

    fn is_deadlock(&self, blocked: &[ProcessId]) -> bool {
        blocked.iter().any(|&process| !self.is_dead(process))
    }

    fn finish(&mut self) {
        self.clear();
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.end_server();
    }
}
