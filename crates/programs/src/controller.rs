//! The controller: a program in processes of its own as a `Program` of the engine.
//!
//! Every run is forked off by a server that waits in the program before `main`. Between two visible operations one task
//! moves; when nobody does, all tasks have announced, and the engine chooses. Requests that are not visible (a task
//! begins, a semaphore gets its first value) are answered at once.
//!
//! Objects are known by their addresses, which are the same in every run, and by the process unless they are shared
//! between processes. They live here: nothing of theirs exists in the system.

use crate::Trouble;
use crate::memory::{Access, Spin};
use crate::objects::{
    ADD, AWAIT_ANY, AWAIT_CHILD, AWAIT_ZERO, CHILD_ENDS, CLOSE, Children, GET, Message, OPEN, Pipe, Queue,
    READ, RECEIVE, SEND, SET, SUBTRACT, SysV, TRY_READ, TRY_RECEIVE, TRY_SEND, TRY_WRITE, WRITE,
};
use crate::shared::{self, ANNOUNCED, CRASHED, ENDED, MOVING, Mapping, SLOTS, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};
use stubborn_schedule::objects::{
    Barrier, Condvar, CustomObject, Mutex, Object, Once, Process, RwLock, Semaphore, Table, Variable,
    WakeOrder,
};
use stubborn_schedule::report::Names;
use stubborn_schedule::{Action, Failure, FailureKind, ObjectId, Op, Part, ProcessId, Program, World};

/// The library that is loaded into the program.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/preload.so"));

/// A run said something that the exploration did not know: it must begin again.
pub(crate) const AGAIN: &str = "the exploration must begin again";

/// Waiting for memory to change, which no program asks for in so many words.
const AWAIT: u32 = u32::MAX;

/// A task that has waited so often in vain at one place is taken to wait until it is woken, unless nobody else can move:
/// else it could go on like that for ever.
const MOST_TIMEOUTS: u32 = 3;

/// Operations, as in `preload/protocol.h`.
mod code {
    pub(super) const START: u32 = 1;
    pub(super) const SEM_INIT: u32 = 2;
    pub(super) const BARRIER_INIT: u32 = 3;
    pub(super) const SYSV_SET: u32 = 4;
    pub(super) const FORGET: u32 = 5;
    pub(super) const PIPE_END: u32 = 6;
    pub(super) const REFUSE: u32 = 7;
    pub(super) const EXIT: u32 = 16;
    pub(super) const PROCESS_EXIT: u32 = 17;
    pub(super) const JOIN: u32 = 18;
    pub(super) const WAIT_CHILD: u32 = 19;
    pub(super) const LOCK: u32 = 20;
    pub(super) const TRY_LOCK: u32 = 21;
    pub(super) const UNLOCK: u32 = 22;
    pub(super) const READ_LOCK: u32 = 23;
    pub(super) const WRITE_LOCK: u32 = 24;
    pub(super) const TRY_READ_LOCK: u32 = 25;
    pub(super) const TRY_WRITE_LOCK: u32 = 26;
    pub(super) const READ_UNLOCK: u32 = 27;
    pub(super) const WRITE_UNLOCK: u32 = 28;
    pub(super) const WAIT: u32 = 29;
    pub(super) const WAKE: u32 = 30;
    pub(super) const TIMED_WAKE: u32 = 31;
    pub(super) const SIGNAL: u32 = 32;
    pub(super) const BROADCAST: u32 = 33;
    pub(super) const ACQUIRE: u32 = 34;
    pub(super) const TRY_ACQUIRE: u32 = 35;
    pub(super) const RELEASE: u32 = 36;
    pub(super) const ARRIVE: u32 = 37;
    pub(super) const LEAVE: u32 = 38;
    pub(super) const TOSS: u32 = 39;
    pub(super) const ASSERT: u32 = 40;
    pub(super) const SEMOP: u32 = 41;
    pub(super) const SYSV_GET: u32 = 42;
    pub(super) const BEGIN: u32 = 43;
    pub(super) const COMPLETE: u32 = 44;
    pub(super) const SEND: u32 = 45;
    pub(super) const RECEIVE: u32 = 46;
    pub(super) const TRY_SEND: u32 = 47;
    pub(super) const TRY_RECEIVE: u32 = 48;
    pub(super) const ACCESS: u32 = 49;
    pub(super) const PIPE_READ: u32 = 50;
    pub(super) const PIPE_WRITE: u32 = 51;
    pub(super) const PIPE_TRY_READ: u32 = 52;
    pub(super) const PIPE_TRY_WRITE: u32 = 53;
    pub(super) const PIPE_CLOSE: u32 = 54;
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Mutex,
    RwLock,
    Condvar,
    Semaphore,
    Barrier,
    Once,
    /// A semaphore of a set: the address is the set, the space its number there.
    SysV,
    /// A message queue: the address is its number.
    Queue,
    /// A pipe: the address is its number.
    Pipe,
    /// Four bytes of memory. Their value is how often they were written.
    Memory,
    /// A task: the address is its number.
    Task,
    /// The children of a process: the address is the process.
    Children,
}

/// An object: what it is, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    pub(crate) space: u64,
    pub(crate) address: u64,
}

/// A thread of the program.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    slot: usize,
    process: u32,
    pub(crate) is_thread: bool,
    object: ObjectId,
    n_children: u32,
    /// What it has announced, and where.
    announced: Option<(u32, Op)>,
    pub(crate) site: u64,
    is_ended: bool,
    /// It is about to end its process, in which others are left.
    is_leaving: bool,
    /// It was waited for.
    is_reaped: bool,
    /// The access to memory that it has announced.
    access: Option<Access>,
    spin: Spin,
    /// Where it has waited in vain, and how often one after the other; and whether it waits without a limit now, because it
    /// would go on like that for ever.
    timeouts: (u64, u32),
    is_patient: bool,
}

/// Two accesses at the same time: who, where, and what.
pub(crate) type Race = [(ProcessId, u64, Access); 2];

/// A step as it was recorded: who, what, what came of it, where.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) process: ProcessId,
    pub(crate) op: Op,
    pub(crate) out: u64,
    pub(crate) site: u64,
}

/// What is known from one exploration to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Learned {
    /// Semaphores (set, number) that are more than counters of ones.
    wide: FxHashSet<(u64, u64)>,
    /// Somebody asks which child has ended.
    asks_which_child: bool,
    /// Texts of messages, by number and by text.
    texts: Vec<Vec<u8>>,
    numbers: FxHashMap<Vec<u8>, u32>,
}

impl Learned {
    /// The number of a text, the same in all runs.
    fn number(&mut self, text: Vec<u8>) -> u32 {
        let next = self.texts.len() as u32;
        let number = *self.numbers.entry(text.clone()).or_insert(next);
        if number == next {
            self.texts.push(text);
        }
        number
    }
}

/// How to run a program.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) program: Vec<String>,
    pub(crate) patience: Duration,
    pub(crate) wake_order: WakeOrder,
    pub(crate) shows_output: bool,
    /// Whether who waits on a condition may be woken by nobody.
    pub(crate) wakes_spuriously: bool,
}

/// A program in processes of its own.
pub(crate) struct Controller {
    settings: Settings,
    shared: Mapping,
    /// The library, as a file that the program inherits.
    library: OwnedFd,
    server: Option<Child>,
    run: u32,
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
    /// What is in each pipe.
    in_pipes: FxHashMap<u64, VecDeque<u8>>,
    /// Loops that were assumed to wait.
    pub(crate) n_spins: u64,
    early: Option<Failure>,
}

impl Controller {
    pub(crate) fn new(settings: Settings) -> Result<Controller, Trouble> {
        let library = shared::memory_file(c"stubborn-preload").map_err(Trouble::System)?;
        let mut file = std::fs::File::from(library.try_clone().map_err(Trouble::System)?);
        std::io::Write::write_all(&mut file, LIBRARY).map_err(Trouble::System)?;
        let mut controller = Controller {
            settings,
            shared: Mapping::new().map_err(Trouble::System)?,
            library,
            server: None,
            run: 0,
            learned: Learned::default(),
            names: Names::default(),
            tasks: Vec::new(),
            of_slot: Vec::new(),
            objects: FxHashMap::default(),
            keys: Vec::new(),
            recording: None,
            race: None,
            in_pipes: FxHashMap::default(),
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

    fn begin_server(&mut self) -> Result<(), Trouble> {
        self.shared.is_ready.store(0, SeqCst);
        self.shared.wanted.store(0, SeqCst);
        self.shared.cleared.store(0, SeqCst);
        self.run = 0;
        let [program, arguments @ ..] = self.settings.program.as_slice() else {
            return Err(Trouble::Nothing);
        };
        let mut command = Command::new(program);
        command.args(arguments);
        command.env("LD_PRELOAD", format!("/proc/self/fd/{}", self.library.as_raw_fd()));
        command.env("STUBBORN_FD", self.shared.file.as_raw_fd().to_string());
        command.stdin(Stdio::null());
        if !self.settings.shows_output {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        // Ctrl-C is for the controller.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        shared::without_random_addresses(&mut command);
        let mut server = command.spawn().map_err(|error| Trouble::Start(program.clone(), error))?;
        let deadline = Instant::now() + self.settings.patience;
        loop {
            let event = self.shared.event.load(SeqCst);
            if self.shared.is_ready.load(SeqCst) == 1 {
                break;
            }
            if let Ok(Some(status)) = server.try_wait() {
                return Err(Trouble::NotLoaded(program.clone(), status.to_string()));
            }
            if Instant::now() > deadline {
                // Nothing is left behind.
                let _ = server.kill();
                let _ = server.wait();
                return Err(Trouble::NotLoaded(program.clone(), "it runs without it".to_owned()));
            }
            shared::sleep_on(&self.shared.event, event, Duration::from_millis(20));
        }
        self.server = Some(server);
        Ok(())
    }

    /// Ends the present run, whatever its processes do.
    fn clear(&mut self) {
        if self.shared.cleared.load(SeqCst) == self.run {
            return;
        }
        let all_ended = self.tasks.iter().flatten().all(|task| task.is_ended);
        if !all_ended {
            self.kill_all();
        }
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.shared.cleared.load(SeqCst) != self.run {
            let event = self.shared.event.load(SeqCst);
            if self.shared.cleared.load(SeqCst) == self.run {
                break;
            }
            shared::sleep_on(&self.shared.event, event, Duration::from_millis(20));
            let is_gone = self.server.as_mut().is_none_or(|server| !matches!(server.try_wait(), Ok(None)));
            if is_gone || Instant::now() > deadline {
                self.end_server();
                return;
            }
            // Who is about to end may have started somebody.
            self.kill_all();
        }
    }

    fn kill_all(&self) {
        let main = self.shared.main_pid.load(SeqCst);
        shared::kill(-main);
        shared::kill(main);
        let n = (self.shared.n_slots.load(SeqCst) as usize).min(SLOTS);
        for slot in self.shared.slots[..n].iter().filter(|slot| slot.state.load(SeqCst) != ENDED) {
            shared::kill(slot.os_pid.load(SeqCst));
        }
    }

    fn end_server(&mut self) {
        self.kill_all();
        if let Some(mut server) = self.server.take() {
            // It may have ended by itself.
            let _ = server.kill();
            let _ = server.wait();
        }
        self.shared.cleared.store(self.run, SeqCst);
    }

    /// Waits until nobody moves.
    fn wait_until_quiet(&self) -> Result<(), Failure> {
        let began = Instant::now();
        loop {
            let event = self.shared.event.load(SeqCst);
            if self.shared.running.load(SeqCst) == 0 {
                return Ok(());
            }
            if self.shared.cleared.load(SeqCst) == self.run {
                let status = self.shared.main_status.load(SeqCst);
                return Err(Failure::new(
                    FailureKind::Panic,
                    0,
                    format!("the program ended {}", ending(status)),
                ));
            }
            shared::sleep_on(&self.shared.event, event, Duration::from_millis(20));
            if began.elapsed() < Duration::from_millis(20) {
                continue;
            }
            self.look_for_the_dead()?;
            if began.elapsed() > self.settings.patience {
                return Err(self.diverged());
            }
        }
    }

    /// Tasks that were counted as moving.
    fn movers(&self) -> impl Iterator<Item = (usize, &Slot)> {
        let n = (self.shared.n_slots.load(SeqCst) as usize).min(SLOTS);
        self.shared.slots[..n].iter().enumerate().filter(|(_, slot)| slot.state.load(SeqCst) == MOVING)
    }

    fn process_of_slot(&self, slot: usize) -> ProcessId {
        self.of_slot.get(slot).copied().unwrap_or(0)
    }

    /// A process that was killed does not say so.
    fn look_for_the_dead(&self) -> Result<(), Failure> {
        for (i, slot) in self.movers() {
            let pid = slot.os_pid.load(SeqCst);
            if pid > 0 && matches!(state_of(pid, slot.os_tid.load(SeqCst)), None | Some('Z' | 'X')) {
                let message = "the process was killed, or ended without a word";
                return Err(Failure::new(FailureKind::Panic, self.process_of_slot(i), message));
            }
        }
        Ok(())
    }

    fn diverged(&self) -> Failure {
        let seconds = self.settings.patience.as_secs_f64();
        let Some((i, slot)) = self.movers().next() else {
            return Failure::new(FailureKind::Divergence, 0, format!("nobody answered for {seconds:.1} s"));
        };
        let (pid, tid) = (slot.os_pid.load(SeqCst), slot.os_tid.load(SeqCst));
        let what = match state_of(pid, tid) {
            Some('R') => "ran without a visible operation",
            _ => "waited in a system call that is not controlled",
        };
        Failure::new(FailureKind::Divergence, self.process_of_slot(i), format!("{what} for {seconds:.1} s"))
    }

    /// Gives numbers to tasks that are new.
    fn meet_newcomers(&mut self, world: &mut World) {
        let n = (self.shared.n_slots.load(SeqCst) as usize).min(SLOTS);
        while self.of_slot.len() < n {
            let i = self.of_slot.len();
            let slot = &self.shared.slots[i];
            let (process, is_thread) = (slot.process.load(SeqCst), slot.is_thread.load(SeqCst) == 1);
            let site = slot.site.load(SeqCst);
            let parent = (i > 0).then(|| self.process_of_slot(slot.parent.load(SeqCst) as usize));
            let number = match parent {
                None => 0,
                Some(parent) => {
                    let elder = self.tasks[parent as usize].as_mut().expect("it has started another");
                    elder.n_children += 1;
                    let number = self.names.number(parent, elder.n_children);
                    world.start(number, parent);
                    number
                }
            };
            let key = Key { kind: Kind::Task, space: 0, address: u64::from(number) };
            let object = self.create(world, key, Process::new(number).into());
            if self.tasks.len() <= number as usize {
                self.tasks.resize(number as usize + 1, None);
            }
            self.tasks[number as usize] = Some(Task {
                slot: i,
                process,
                is_thread,
                object,
                n_children: 0,
                announced: None,
                site,
                is_ended: false,
                is_leaving: false,
                is_reaped: false,
                access: None,
                spin: Spin::default(),
                timeouts: (0, 0),
                is_patient: false,
            });
            self.of_slot.push(number);
        }
    }

    fn create(&mut self, world: &mut World, key: Key, object: Object) -> ObjectId {
        let id = world.create(object);
        self.keys.push(key);
        self.objects.insert(key, id);
        id
    }

    /// The object of a key, made when it is first met.
    fn object(&mut self, world: &mut World, key: Key, first: u64) -> ObjectId {
        if let Some(&id) = self.objects.get(&key) {
            return id;
        }
        let custom = |object: Box<dyn CustomObject>| Object::Custom(object);
        let object: Object = match key.kind {
            Kind::Mutex => Mutex::new().into(),
            Kind::RwLock => RwLock::new().into(),
            Kind::Condvar => Condvar::new(self.settings.wake_order).into(),
            Kind::Semaphore => Semaphore::new(first).into(),
            Kind::Barrier => Barrier::new(first).into(),
            Kind::Once => Once::new().into(),
            Kind::SysV if self.learned.wide.contains(&(key.address, key.space)) => {
                custom(Box::new(SysV(first)))
            }
            Kind::SysV => Semaphore::new(first).into(),
            Kind::Pipe => custom(Box::<Pipe>::default()),
            Kind::Memory => Variable::new(0).into(),
            Kind::Queue => custom(Box::<Queue>::default()),
            Kind::Task => Process::new(key.address as ProcessId).into(),
            Kind::Children => custom(Box::new(Children::new(self.learned.asks_which_child))),
        };
        self.create(world, key, object)
    }

    /// Lets a task go on.
    fn grant(&self, slot: usize, out: u64) {
        let slot = &self.shared.slots[slot];
        slot.out.store(out, SeqCst);
        self.shared.running.fetch_add(1, SeqCst);
        slot.state.store(MOVING, SeqCst);
        shared::wake(&slot.state);
    }

    /// Lets everybody go on until all have announced something visible, or have ended.
    fn settle(&mut self, world: &mut World) -> Result<(), Failure> {
        loop {
            self.wait_until_quiet()?;
            self.meet_newcomers(world);
            let mut is_granted = false;
            for slot in 0..self.of_slot.len() {
                let process = self.of_slot[slot];
                match self.shared.slots[slot].state.load(SeqCst) {
                    CRASHED => return Err(self.crash(slot)),
                    ENDED => self.note_end(process, world),
                    ANNOUNCED if self.is_news(process) => {
                        if let Some(out) = self.take_announcement(process, world)? {
                            self.grant(slot, out);
                            is_granted = true;
                            break;
                        }
                    }
                    _ => {}
                }
            }
            if is_granted {
                continue;
            }
            self.look_for_races()?;
            if world.enabled().is_empty() && self.lose_patience(world) {
                return Ok(());
            }
            // A process ends when its main thread does, whatever its other threads wait for.
            let leaving = self.tasks.iter().flatten().find(|task| task.is_leaving && !task.is_ended);
            match leaving.map(|task| task.slot) {
                Some(slot) if world.enabled().is_empty() => self.grant(slot, 0),
                _ => return Ok(()),
            }
        }
    }

    /// Nobody can move: a wait that was taken to be without a limit has one after all. Whether there is one.
    fn lose_patience(&mut self, world: &mut World) -> bool {
        for (number, task) in self.tasks.iter_mut().enumerate() {
            let Some(task) = task.as_mut().filter(|task| task.is_patient && !task.is_ended) else { continue };
            task.is_patient = false;
            if let Some((_, op)) = &mut task.announced {
                op.parts.iter_mut().for_each(|part| part.action = Action::TimedWake);
                world.announce(number as ProcessId, op.clone());
                return true;
            }
        }
        false
    }

    /// Whether two tasks are about to access the same memory, which nothing but chance orders.
    fn look_for_races(&mut self) -> Result<(), Failure> {
        let pending: Vec<(ProcessId, u64, u32, Access)> = self
            .tasks
            .iter()
            .enumerate()
            .filter_map(|(number, task)| {
                let task = task.as_ref().filter(|task| !task.is_ended)?;
                Some((number as ProcessId, task.site, task.process, task.access?))
            })
            .collect();
        for (i, one) in pending.iter().enumerate() {
            let other = pending[..i].iter().find(|two| two.2 == one.2 && two.3.races_with(one.3));
            if let Some(two) = other {
                self.race = Some([(two.0, two.1, two.3), (one.0, one.1, one.3)]);
                return Err(Failure::new(FailureKind::DataRace, one.0, "two accesses at the same time"));
            }
        }
        Ok(())
    }

    fn is_news(&self, process: ProcessId) -> bool {
        let task = self.tasks[process as usize].as_ref();
        task.is_some_and(|task| task.announced.is_none() && !task.is_leaving && !task.is_ended)
    }

    fn note_end(&mut self, process: ProcessId, world: &mut World) {
        if let Some(task) = self.tasks[process as usize].as_mut().filter(|task| !task.is_ended) {
            task.is_ended = true;
            world.end(process);
        }
    }

    fn crash(&self, slot: usize) -> Failure {
        let signal = self.shared.slots[slot].op.load(SeqCst) as i32;
        let kind = if signal == libc::SIGABRT { FailureKind::Assertion } else { FailureKind::Panic };
        Failure::new(kind, self.process_of_slot(slot), format!("ended by {}", signal_name(signal)))
    }

    /// Gives what a task has asked for to the world; or what to answer at once.
    fn take_announcement(&mut self, process: ProcessId, world: &mut World) -> Result<Option<u64>, Failure> {
        let (slot, own) =
            self.tasks[process as usize].as_ref().map_or((0, 0), |task| (task.slot, task.process));
        let slot = &self.shared.slots[slot];
        let (op, a, b, c, d) = (slot.op.load(SeqCst), slot.arg(0), slot.arg(1), slot.arg(2), slot.arg(3));
        let site = slot.site.load(SeqCst);
        let at = |kind: Kind| Key { kind, space: b, address: a };
        let made = match op {
            code::START => return Ok(Some(0)),
            code::REFUSE => return Err(Failure::limit(process, self.shared.message())),
            code::FORGET => {
                let kinds =
                    [Kind::Mutex, Kind::RwLock, Kind::Condvar, Kind::Semaphore, Kind::Barrier, Kind::Once];
                kinds.iter().for_each(|&kind| {
                    self.objects.remove(&at(kind));
                });
                return Ok(Some(0));
            }
            code::PIPE_END => {
                // Who opens an end has one already, so nobody can tell when.
                let pipe = self.object(world, Key { kind: Kind::Pipe, space: 0, address: a / 2 }, 0);
                let open = Action::Custom { code: OPEN, input: a % 2 };
                world.object_mut(pipe).execute(process, open, 0);
                return Ok(Some(0));
            }
            code::PIPE_READ..=code::PIPE_CLOSE => {
                let pipe = self.object(world, Key { kind: Kind::Pipe, space: 0, address: a / 2 }, 0);
                let (code, input) = match op {
                    code::PIPE_READ => (READ, b),
                    code::PIPE_WRITE => (WRITE, b),
                    code::PIPE_TRY_READ => (TRY_READ, b),
                    code::PIPE_TRY_WRITE => (TRY_WRITE, b),
                    _ => (CLOSE, a % 2),
                };
                Op::on(pipe, Action::Custom { code, input })
            }
            code::SEM_INIT | code::BARRIER_INIT => {
                let kind = if op == code::SEM_INIT { Kind::Semaphore } else { Kind::Barrier };
                self.objects.remove(&at(kind));
                self.object(world, at(kind), c);
                return Ok(Some(0));
            }
            code::SYSV_SET => {
                let key = Key { kind: Kind::SysV, space: b, address: a };
                if !self.objects.contains_key(&key) {
                    // Its first value.
                    self.object(world, key, c);
                    return Ok(Some(0));
                }
                self.wide(world, key, SET, c, process)?
            }
            code::SYSV_GET => {
                let key = Key { kind: Kind::SysV, space: b, address: a };
                self.wide(world, key, GET, 0, process)?
            }
            code::SEMOP => match self.semop(process, a, b as usize, world)? {
                Ok(op) => op,
                Err(answer) => return Ok(Some(answer)),
            },
            code::PROCESS_EXIT => {
                let others = self.tasks.iter().flatten();
                if others.filter(|task| task.process == own && !task.is_ended).count() > 1 {
                    self.tasks[process as usize].iter_mut().for_each(|task| task.is_leaving = true);
                    return Ok(None);
                }
                self.end_of_process(process, own, world)
            }
            code::WAIT_CHILD => match self.await_child(process, own, (a, b == 1, c == 1), world)? {
                Some(op) => op,
                None => return Ok(Some(u64::MAX)),
            },
            code::EXIT => Op::on(self.task_object(process), Action::Exit),
            code::JOIN => {
                let other = self.process_of_slot(a as usize);
                Op::on(self.task_object(other), Action::Join)
            }
            code::TOSS => Op::toss(a.min(u64::from(u32::MAX)) as u32),
            code::ASSERT => Op::assert(a == 0),
            code::WAIT => {
                let condvar = self.object(world, at(Kind::Condvar), 0);
                let mutex = Key { kind: Kind::Mutex, space: d, address: c };
                Op::wait(condvar, self.object(world, mutex, 0))
            }
            code::BEGIN if c == 1 => return Ok(Some(0)),
            code::ACCESS => {
                let Some(access) = Access::new(a, c) else {
                    let why = "an access to more than 4,096 bytes of memory at once is not controlled";
                    return Err(Failure::limit(process, why));
                };
                let cells: Vec<ObjectId> = access
                    .cells()
                    .map(|cell| self.object(world, Key { kind: Kind::Memory, space: b, address: cell }, 0))
                    .collect();
                let task = self.tasks[process as usize].as_mut().expect("it has announced");
                task.access = Some(access);
                match task.spin.before(site, &cells, access, world) {
                    Some(awaited) => {
                        self.n_spins += 1;
                        // The access itself comes when something has changed.
                        task.site = site;
                        let made = Op::on_all(&awaited).at(site);
                        task.announced = Some((AWAIT, made.clone()));
                        world.announce(process, made);
                        return Ok(None);
                    }
                    None => access.op(&cells),
                }
            }
            code::SEND | code::TRY_SEND | code::RECEIVE | code::TRY_RECEIVE => {
                let input = match op {
                    code::SEND | code::TRY_SEND => {
                        let text = slot.bytes();
                        let length = text.len();
                        let Some(message) = Message::new(b, length, self.learned.number(text)) else {
                            let why = "types of messages above 65,535 are not controlled";
                            return Err(Failure::limit(process, why));
                        };
                        message.0
                    }
                    _ => b,
                };
                let code = match op {
                    code::SEND => SEND,
                    code::TRY_SEND => TRY_SEND,
                    code::RECEIVE => RECEIVE,
                    _ => TRY_RECEIVE,
                };
                let key = Key { kind: Kind::Queue, space: 0, address: a };
                Op::on(self.object(world, key, 0), Action::Custom { code, input })
            }
            code::WAKE | code::TIMED_WAKE if self.waits_in_vain(process, site) => {
                self.n_spins += 1;
                Op::on(self.object(world, at(Kind::Condvar), 0), Action::Wake)
            }
            code::WAKE if self.settings.wakes_spuriously => {
                Op::on(self.object(world, at(Kind::Condvar), 0), Action::TimedWake)
            }
            _ => {
                let Some((kind, action)) = simple(op, c) else {
                    return Err(Failure::limit(
                        process,
                        format!("the program asked for an unknown operation {op}"),
                    ));
                };
                Op::on(self.object(world, at(kind), 0), action)
            }
        };
        if op != code::ACCESS {
            self.tasks[process as usize].iter_mut().for_each(|task| task.spin.clear());
        }
        let made = made.at(site);
        let task = self.tasks[process as usize].as_mut().expect("it has announced");
        task.site = site;
        task.announced = Some((op, made.clone()));
        world.announce(process, made);
        Ok(None)
    }

    /// Whether a task has waited here in vain so often that it seems to do nothing else.
    fn waits_in_vain(&mut self, process: ProcessId, site: u64) -> bool {
        let Some(task) = self.tasks[process as usize].as_mut() else { return false };
        task.is_patient = task.timeouts.0 == site && task.timeouts.1 >= MOST_TIMEOUTS;
        task.is_patient
    }

    fn slot(&self, process: ProcessId) -> usize {
        self.tasks[process as usize].as_ref().map_or(0, |task| task.slot)
    }

    fn task_object(&self, process: ProcessId) -> ObjectId {
        self.tasks[process as usize].as_ref().map_or(0, |task| task.object)
    }

    /// An operation on a semaphore that is more than a counter of ones.
    fn wide(
        &mut self,
        world: &mut World,
        key: Key,
        code: u32,
        input: u64,
        by: ProcessId,
    ) -> Result<Op, Failure> {
        if self.learned.wide.insert((key.address, key.space)) {
            return Err(Failure::limit(by, AGAIN));
        }
        Ok(Op::on(self.object(world, key, 0), Action::Custom { code, input }))
    }

    /// What `semop` asks for; or its answer, if nothing is to be waited for.
    fn semop(
        &mut self,
        process: ProcessId,
        set: u64,
        n: usize,
        world: &mut World,
    ) -> Result<Result<Op, u64>, Failure> {
        const NOWAIT: u16 = libc::IPC_NOWAIT as u16;
        let slot = self.slot(process);
        let buffers: Vec<(u64, i16, u16)> = (0..n.min(80))
            .map(|i| {
                let short = |k: usize| self.shared.slots[slot].short(6 * i + 2 * k);
                (u64::from(short(0)), short(1) as i16, short(2))
            })
            .collect();
        let mut parts = Vec::new();
        for &(number, by, flags) in &buffers {
            let key = Key { kind: Kind::SysV, space: number, address: set };
            let is_wide = self.learned.wide.contains(&(set, number));
            let is_try = flags & NOWAIT != 0;
            if buffers.iter().filter(|other| other.0 == number).count() > 1 || (is_try && n > 1) {
                return Err(Failure::limit(
                    process,
                    "semop with several operations on one semaphore, or with several and IPC_NOWAIT, is not controlled",
                ));
            }
            let action = match by {
                -1 if !is_wide && is_try => Action::TryAcquire,
                -1 if !is_wide => Action::Acquire,
                1 if !is_wide => Action::Release,
                _ if is_try && by <= 0 => {
                    return Err(Failure::limit(
                        process,
                        "semop with IPC_NOWAIT by more than one is not controlled",
                    ));
                }
                _ if !is_wide => {
                    self.learned.wide.insert((set, number));
                    return Err(Failure::limit(process, AGAIN));
                }
                0 => Action::Custom { code: AWAIT_ZERO, input: 0 },
                by if by < 0 => Action::Custom { code: SUBTRACT, input: u64::from(by.unsigned_abs()) },
                by => Action::Custom { code: ADD, input: by as u64 },
            };
            parts.push(Part { object: self.object(world, key, 0), action });
        }
        Ok(if parts.is_empty() { Err(0) } else { Ok(Op::on_all(&parts)) })
    }

    /// The end of a process, which its parent may wait for.
    fn end_of_process(&mut self, process: ProcessId, own: u32, world: &mut World) -> Op {
        let exit = Part { object: self.task_object(process), action: Action::Exit };
        let Some((leader, parent)) = self.leader(own).filter(|_| own > 0) else { return Op::on_all(&[exit]) };
        let key = Key { kind: Kind::Children, space: 0, address: u64::from(parent) };
        let children = self.object(world, key, 0);
        let ends = Action::Custom { code: CHILD_ENDS, input: u64::from(leader) };
        Op::on_all(&[exit, Part { object: children, action: ends }])
    }

    /// The first task of a process, and the process that started it.
    fn leader(&self, process: u32) -> Option<(ProcessId, u32)> {
        let is_leader = |task: &Task| task.process == process && !task.is_thread;
        let number = self.tasks.iter().position(|task| task.as_ref().is_some_and(is_leader))?;
        let slot = self.tasks[number].as_ref()?.slot;
        let parent = self.process_of_slot(self.shared.slots[slot].parent.load(SeqCst) as usize);
        Some((number as ProcessId, self.tasks[parent as usize].as_ref()?.process))
    }

    /// Waiting for a child; `None` if there is none.
    fn await_child(
        &mut self,
        process: ProcessId,
        own: u32,
        (wanted, only_looks, asks_which): (u64, bool, bool),
        world: &mut World,
    ) -> Result<Option<Op>, Failure> {
        let processes = self.tasks.iter().flatten().filter(|task| !task.is_thread && !task.is_reaped);
        let wanted_process = |task: &&Task| wanted == u64::MAX || u64::from(task.process) == wanted;
        let children: Vec<ProcessId> = processes
            .filter(wanted_process)
            .filter_map(|task| self.leader(task.process).filter(|_| task.process > 0))
            .filter(|&(_, parent)| parent == own)
            .map(|(leader, _)| leader)
            .collect();
        let Some(&first) = children.iter().min() else { return Ok(None) };
        let key = Key { kind: Kind::Children, space: 0, address: u64::from(own) };
        let children = self.object(world, key, 0);
        let is_any = only_looks || (wanted == u64::MAX && asks_which);
        if is_any && !self.learned.asks_which_child {
            self.learned.asks_which_child = true;
            return Err(Failure::limit(process, AGAIN));
        }
        Ok(Some(Op::on(
            children,
            match is_any {
                true => Action::Custom { code: AWAIT_ANY, input: u64::from(only_looks) },
                false => Action::Custom { code: AWAIT_CHILD, input: u64::from(first) },
            },
        )))
    }
}

/// Operations that are an action on one object.
fn simple(op: u32, c: u64) -> Option<(Kind, Action)> {
    Some(match op {
        code::LOCK => (Kind::Mutex, Action::Lock),
        code::TRY_LOCK => (Kind::Mutex, Action::TryLock),
        code::UNLOCK => (Kind::Mutex, Action::Unlock),
        code::READ_LOCK => (Kind::RwLock, Action::ReadLock),
        code::WRITE_LOCK => (Kind::RwLock, Action::WriteLock),
        code::TRY_READ_LOCK => (Kind::RwLock, Action::TryReadLock),
        code::TRY_WRITE_LOCK => (Kind::RwLock, Action::TryWriteLock),
        code::READ_UNLOCK => (Kind::RwLock, Action::ReadUnlock),
        code::WRITE_UNLOCK => (Kind::RwLock, Action::WriteUnlock),
        code::WAKE => (Kind::Condvar, Action::Wake),
        code::TIMED_WAKE => (Kind::Condvar, Action::TimedWake),
        code::SIGNAL => (Kind::Condvar, Action::NotifyOne),
        code::BROADCAST => (Kind::Condvar, Action::NotifyAll),
        code::ACQUIRE => (Kind::Semaphore, Action::Acquire),
        code::TRY_ACQUIRE => (Kind::Semaphore, Action::TryAcquire),
        code::RELEASE => (Kind::Semaphore, Action::Release),
        code::ARRIVE => (Kind::Barrier, Action::Arrive),
        code::LEAVE => (Kind::Barrier, Action::Leave(c)),
        code::BEGIN => (Kind::Once, Action::Begin),
        code::COMPLETE => (Kind::Once, Action::Complete),
        _ => return None,
    })
}

/// The letter of the state of a thread.
fn state_of(pid: i32, tid: i32) -> Option<char> {
    let tid = if tid > 0 { tid } else { pid };
    let stat = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
}

fn ending(status: i32) -> String {
    if libc::WIFSIGNALED(status) {
        format!("by {}", signal_name(libc::WTERMSIG(status)))
    } else {
        format!("with exit code {}", libc::WEXITSTATUS(status))
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT (abort, or an assertion that does not hold)",
        libc::SIGSEGV => "SIGSEGV (memory that is not there)",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE (division by zero, or the like)",
        libc::SIGILL => "SIGILL",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGPIPE => "SIGPIPE",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

impl Program for Controller {
    fn reset(&mut self, world: &mut World) {
        self.clear();
        self.tasks.clear();
        self.of_slot.clear();
        self.objects.clear();
        self.keys.clear();
        self.in_pipes.clear();
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
            let main = &self.shared.slots[0];
            main.process.store(0, SeqCst);
            main.is_thread.store(0, SeqCst);
            main.site.store(0, SeqCst);
            main.os_pid.store(0, SeqCst);
            main.state.store(MOVING, SeqCst);
            self.shared.n_slots.store(1, SeqCst);
            self.shared.n_processes.store(1, SeqCst);
            self.shared.n_sets.store(0, SeqCst);
            self.shared.n_pipes.store(0, SeqCst);
            self.shared.running.store(1, SeqCst);
            self.run += 1;
            self.shared.wanted.store(self.run, SeqCst);
            shared::wake(&self.shared.wanted);
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
        let Some(task) = self.tasks.get_mut(process as usize).and_then(Option::as_mut) else { return Ok(()) };
        let Some((code, op)) = task.announced.take() else { return Ok(()) };
        let (slot, site) = (task.slot, task.site);
        task.access = None;
        task.is_patient = false;
        if code == code::TIMED_WAKE || code == code::WAKE {
            let before = if task.timeouts.0 == site { task.timeouts.1 } else { 0 };
            task.timeouts = (site, if out == 0 { before + 1 } else { 0 });
        }
        if let Some(recording) = &mut self.recording {
            recording.push(Noted { process, op: op.clone(), out, site });
        }
        if code == AWAIT {
            // Nothing was done as yet: the task is asked again what it wants.
            return self.settle(world);
        }
        let answer = match code {
            code::WAIT_CHILD if out > 0 => {
                let child = (out - 1) as usize;
                let reaped = self.tasks.get_mut(child).and_then(Option::as_mut);
                reaped.map_or(u64::MAX, |task| {
                    task.is_reaped = true;
                    task.slot as u64
                })
            }
            code::PIPE_READ | code::PIPE_TRY_READ if out != u64::MAX => {
                let pipe = self.in_pipes.entry(self.shared.slots[slot].arg(0) / 2).or_default();
                let n = (out as usize).min(pipe.len());
                let bytes: Vec<u8> = pipe.drain(..n).collect();
                self.shared.slots[slot].set_bytes(&bytes);
                out
            }
            code::PIPE_WRITE | code::PIPE_TRY_WRITE if out != u64::MAX && out > 0 => {
                let pipe = self.in_pipes.entry(self.shared.slots[slot].arg(0) / 2).or_default();
                pipe.extend(self.shared.slots[slot].bytes());
                out
            }
            code::RECEIVE | code::TRY_RECEIVE if out > 0 => {
                let message = Message(out);
                let text = self.learned.texts.get(message.text() as usize);
                self.shared.slots[slot].set_bytes(text.map_or(&[], Vec::as_slice));
                message.kind()
            }
            code::SEMOP => match op.parts.first().map(|part| part.action) {
                Some(Action::TryAcquire) if out == 0 => u64::MAX,
                _ => 0,
            },
            _ => out,
        };
        self.grant(slot, answer);
        self.settle(world)
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
