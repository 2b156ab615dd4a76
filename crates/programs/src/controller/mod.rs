//! The controller: a program in processes of its own as a `Program` of the engine.
//!
//! Every run is forked off by a server that waits in the program before `main`. Between two visible operations one task
//! moves; when nobody does, all tasks have announced, and the engine chooses. Requests that are not visible (a task
//! begins, a semaphore gets its first value) are answered at once.
//!
//! Objects are known by their addresses, which are the same in every run, and by the process unless they are shared
//! between processes. They live here: nothing of theirs exists in the system.

mod announcements;
mod code;
mod server;

use self::server::signal_name;
use crate::Trouble;
use crate::ignored::Code;
use crate::memory::{Access, Owners, Spin};
use crate::objects;
use crate::objects::{CHILD_STARTS, Children, Life, Message, NO_CHILD, Pipe, Queue, SysV};
use crate::shared::{self, ANNOUNCED, CRASHED, ENDED, MOVING, Mapping, Pinned, SLOTS};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;
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
/// The same for a task that tries to get something without waiting.
const MOST_TRIES: u32 = 10;

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
    /// The life of a process: the address is the process.
    Life,
    /// Names of objects that processes share.
    Names,
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
    /// Its process ends; it is the only thread that is left there.
    is_dying: bool,
    /// It has ended with its process, and what it was about to do it never will.
    is_dead: bool,
    /// It was waited for.
    is_reaped: bool,
    /// It waits for its children, one after the other, does not ask which, and has done nothing else since.
    waits_for_all: bool,
    /// The access to memory that it has announced.
    access: Option<Access>,
    spin: Spin,
    /// Where it has waited in vain, and how often one after the other; and whether it waits without a limit now, because it
    /// would go on like that for ever.
    timeouts: (u64, u32),
    is_patient: bool,
    /// What it asked for, if it waits without a limit although it did not ask for that.
    asked: Option<Action>,
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
    /// Which child is waited for matters to somebody.
    asks_which_child: bool,
    /// A process ends while threads of it are left, and there are other processes, which can tell when; or it is copied.
    lives: bool,
    /// Memory on a stack to which a loop writes that seems to wait, and which somebody else looks at.
    public: FxHashSet<Key>,
    /// Names of objects, by number.
    names: FxHashMap<Vec<u8>, u64>,
    /// Texts of messages, by number and by text.
    texts: Vec<Vec<u8>>,
    numbers: FxHashMap<Vec<u8>, u32>,
}

impl Learned {
    /// The number of a name, the same in all runs.
    fn name(&mut self, text: Vec<u8>) -> u64 {
        let next = self.names.len() as u64;
        *self.names.entry(text).or_insert(next)
    }

    /// What the object with a number is called, or the number.
    pub(crate) fn name_of(&self, id: u64) -> String {
        let number = objects::Names::of_object(id);
        let name = self.names.iter().find(|name| Some(*name.1) == number).map(|name| name.0);
        let text = name.map(|name| String::from_utf8_lossy(name).into_owned());
        text.map_or(id.to_string(), |text| {
            text.split_once(':').map_or(text.clone(), |halves| halves.1.to_owned())
        })
    }

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
    code: Code,
    shared: Mapping,
    /// The library, as a file that the program inherits.
    library: OwnedFd,
    server: Option<Child>,
    /// Controller and program run on one processor.
    pinned: Option<Pinned>,
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
    /// Files behind shared memory, by its number.
    files: FxHashMap<u64, OwnedFd>,
    /// Numbers of objects that were removed.
    removed: FxHashSet<u64>,
    /// What is in each pipe.
    in_pipes: FxHashMap<u64, VecDeque<u8>>,
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

    /// Whether a task has ended with its process, in the middle of something.
    pub(crate) fn is_dead(&self, process: ProcessId) -> bool {
        self.tasks.get(process as usize).and_then(Option::as_ref).is_some_and(|task| task.is_dead)
    }

    /// Gives numbers to tasks that are new.
    fn meet_newcomers(&mut self, world: &mut World) -> Result<(), Failure> {
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
                    self.does_something_else(parent)?;
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
                is_dying: false,
                is_dead: false,
                is_reaped: false,
                waits_for_all: false,
                access: None,
                spin: Spin::default(),
                timeouts: (0, 0),
                is_patient: false,
                asked: None,
            });
            self.of_slot.push(number);
            if let Some(parent) = parent.filter(|_| !is_thread) {
                self.start_child(parent, number, world);
                self.copy_objects(parent, number, world);
            }
        }
        Ok(())
    }

    /// A new process has copies of what is in its parent's memory; what the parent's thread holds there, its copy holds.
    fn copy_objects(&mut self, parent: ProcessId, child: ProcessId, world: &mut World) {
        let space = |task: ProcessId| {
            let task = self.tasks[task as usize].as_ref();
            task.map_or(0, |task| {
                u64::from(task.process | self.shared.slots[task.slot].image.load(SeqCst) << 20)
            })
        };
        let (from, to) = (space(parent), space(child));
        let is_copied = |key: &Key| {
            use Kind::*;
            key.space == from && matches!(key.kind, Mutex | RwLock | Condvar | Semaphore | Barrier | Once)
        };
        let mut copied: Vec<(ObjectId, Key)> =
            self.objects.iter().filter(|(key, _)| is_copied(key)).map(|(&key, &id)| (id, key)).collect();
        copied.sort_by_key(|&(id, _)| id);
        for (id, key) in copied {
            let mut copy = world.object(id).clone();
            let value = copy.describe();
            let again = match key.kind {
                Kind::Mutex if value == format!("held by {parent}") => Some((Action::Unlock, Action::Lock)),
                Kind::RwLock if value == format!("written by {parent}") => {
                    Some((Action::WriteUnlock, Action::WriteLock))
                }
                _ => None,
            };
            if let Some((unlock, lock)) = again {
                copy.execute(parent, unlock, 0);
                copy.execute(child, lock, 0);
            }
            self.create(world, Key { space: to, ..key }, copy);
        }
    }

    /// Nobody can move, and somebody waits for what was removed: the system would have said so.
    fn look_for_removed_objects(&self) -> Result<(), Failure> {
        for (number, task) in self.tasks.iter().enumerate() {
            let Some((_, op)) = task.as_ref().and_then(|task| task.announced.as_ref()) else { continue };
            let is_removed = |part: &Part| {
                self.keys.get(part.object as usize).is_some_and(|key| {
                    matches!(key.kind, Kind::SysV | Kind::Queue) && self.removed.contains(&key.address)
                })
            };
            if op.parts.iter().any(is_removed) {
                let why = "a semaphore or queue was removed while somebody waits for it (EIDRM), which is not controlled";
                return Err(Failure::limit(number as ProcessId, why));
            }
        }
        Ok(())
    }

    /// The parent's children are one more.
    fn start_child(&mut self, parent: ProcessId, child: ProcessId, world: &mut World) {
        let own = self.tasks[parent as usize].as_ref().map_or(0, |task| task.process);
        let children = self.object(world, Key { kind: Kind::Children, space: 0, address: u64::from(own) }, 0);
        let start = Action::Custom { code: CHILD_STARTS, input: u64::from(child) };
        world.change(children, |children| children.execute(parent, start, 0));
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
            Kind::Children => custom(Box::<Children>::default()),
            Kind::Life => custom(Box::<Life>::default()),
            Kind::Names => custom(Box::<objects::Names>::default()),
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
            self.meet_newcomers(world)?;
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
            self.rely_on_no_chance(world);
            if world.enabled().is_empty() {
                self.look_for_other_children()?;
                self.look_for_removed_objects()?;
                if self.lose_patience(world) {
                    return Ok(());
                }
            }
            let leaving = self.tasks.iter_mut().flatten().find(|task| task.is_leaving && !task.is_ended);
            let Some(leaving) = leaving else { return Ok(()) };
            let (slot, process) = (leaving.slot, leaving.process);
            if self.tasks.iter().flatten().any(|task| task.process != process && !task.is_ended) {
                self.learned.lives = true;
                return Err(Failure::limit(0, AGAIN));
            }
            // Nobody else is there, so nobody can tell whether a process ended before its threads did all they could.
            if !world.enabled().is_empty() {
                return Ok(());
            }
            self.tasks
                .iter_mut()
                .flatten()
                .filter(|task| task.slot == slot)
                .for_each(|task| task.is_leaving = false);
            self.grant(slot, 0);
        }
    }

    /// Nobody can move but by waking up for nothing, which nobody can rely on: then nobody can move.
    fn rely_on_no_chance(&mut self, world: &mut World) {
        let sleeps = |task: &Task| matches!(task.announced, Some((code::WAKE, _)));
        let is_leaving = self.tasks.iter().flatten().any(|task| task.is_leaving && !task.is_ended);
        if !self.settings.wakes_spuriously || is_leaving {
            return;
        }
        let is_for_nothing = |process: ProcessId| {
            let task = self.tasks.get(process as usize).and_then(Option::as_ref);
            let op = world.pending(process);
            task.is_some_and(sleeps)
                && op.is_some_and(|op| world.peek(process, op, 0).first().is_some_and(|e| e.out == 0))
        };
        let enabled: Vec<ProcessId> = world.enabled().iter().collect();
        if !enabled.iter().all(|&process| is_for_nothing(process)) {
            return;
        }
        for process in enabled {
            if let Some((_, op)) =
                self.tasks[process as usize].as_mut().and_then(|task| task.announced.as_mut())
            {
                op.parts[0].action = Action::Wake;
                world.announce(process, op.clone());
            }
        }
    }

    /// Nobody can move: a wait that was taken to be without a limit has one after all. Whether there is one.
    fn lose_patience(&mut self, world: &mut World) -> bool {
        for (number, task) in self.tasks.iter_mut().enumerate() {
            let Some(task) = task.as_mut().filter(|task| task.is_patient && !task.is_ended) else { continue };
            task.is_patient = false;
            if let (Some(asked), Some((_, op))) = (task.asked.take(), &mut task.announced) {
                op.parts[0].action = asked;
                world.announce(number as ProcessId, op.clone());
                return true;
            }
        }
        false
    }

    /// Whether two tasks are about to access the same memory, which nothing but chance orders.
    fn look_for_races(&mut self) -> Result<(), Failure> {
        let pending: Vec<(ProcessId, u64, Access)> = self
            .tasks
            .iter()
            .enumerate()
            .filter_map(|(number, task)| {
                let task = task.as_ref().filter(|task| !task.is_ended)?;
                Some((number as ProcessId, task.site, task.access?))
            })
            .collect();
        for (i, one) in pending.iter().enumerate() {
            let other = pending[..i].iter().find(|two| two.2.races_with(one.2));
            if let Some(two) = other {
                self.race = Some([*two, *one]);
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
            // What it was about to do might have come before the end of its process.
            task.is_dead = self.learned.lives && task.announced.is_some();
            if !task.is_dead {
                world.end(process);
            }
        }
    }

    fn crash(&self, slot: usize) -> Failure {
        let signal = self.shared.slots[slot].op.load(SeqCst) as i32;
        let kind = if signal == libc::SIGABRT { FailureKind::Assertion } else { FailureKind::Panic };
        Failure::new(kind, self.process_of_slot(slot), format!("ended by {}", signal_name(signal)))
    }
}

/// What comes of an operation that tries something, if it is in vain.
fn in_vain(code: u32, op: &Op) -> Option<u64> {
    let action = op.parts.first()?.action;
    match code {
        code::TIMED_WAKE | code::WAKE => Some(0),
        code::TRY_LOCK | code::TRY_READ_LOCK | code::TRY_WRITE_LOCK | code::TRY_ACQUIRE => Some(0),
        code::TRY_SEND | code::TRY_RECEIVE => Some(0),
        code::PIPE_TRY_READ | code::PIPE_TRY_WRITE => Some(u64::MAX),
        code::SEMOP if action == Action::TryAcquire => Some(0),
        code::WAIT_CHILD => match action {
            Action::Custom { code: objects::LOOK_AT_CHILD, .. } => Some(0),
            Action::Custom { code: objects::AWAIT_ANY, input: 1 } => Some(0),
            _ => None,
        },
        _ => None,
    }
}

/// The same without a limit.
fn patiently(action: Action) -> Option<Action> {
    let custom = |code, input| Some(Action::Custom { code, input });
    match action {
        Action::TimedWake => Some(Action::Wake),
        Action::TryLock => Some(Action::Lock),
        Action::TryReadLock => Some(Action::ReadLock),
        Action::TryWriteLock => Some(Action::WriteLock),
        Action::TryAcquire => Some(Action::Acquire),
        Action::Custom { code: objects::TRY_SEND, input } => custom(objects::SEND, input),
        Action::Custom { code: objects::TRY_RECEIVE, input } => custom(objects::RECEIVE, input),
        Action::Custom { code: objects::TRY_READ, input } => custom(objects::READ, input),
        Action::Custom { code: objects::TRY_WRITE, input } => custom(objects::WRITE, input),
        Action::Custom { code: objects::LOOK_AT_CHILD, input } => custom(objects::AWAIT_CHILD, input),
        Action::Custom { code: objects::AWAIT_ANY, input: 1 } => custom(objects::AWAIT_ANY, 0),
        _ => None,
    }
}

impl Program for Controller {
    fn reset(&mut self, world: &mut World) {
        self.clear();
        self.tasks.clear();
        self.of_slot.clear();
        self.objects.clear();
        self.keys.clear();
        self.owners.clear();
        self.files.clear();
        self.removed.clear();
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
        let (slot, site, task_waits_for_all) = (task.slot, task.site, task.waits_for_all);
        task.access = None;
        task.is_patient = false;
        let got_all = task.asked.take().is_some();
        if let Some(failed) = in_vain(code, &op) {
            let before = if task.timeouts.0 == site { task.timeouts.1 } else { 0 };
            task.timeouts = (site, if out == failed && !got_all { before + 1 } else { 0 });
        }
        if let Some(recording) = &mut self.recording {
            recording.push(Noted { process, op: op.clone(), out, site });
        }
        if code == code::DIE {
            self.tasks[process as usize].iter_mut().for_each(|task| task.is_dying = true);
        }
        if code == AWAIT {
            // Nothing was done as yet: the task is asked again what it wants.
            return self.settle(world);
        }
        if code == code::WAIT_CHILD && out == NO_CHILD && task_waits_for_all {
            // Another thread has waited for that child; there may be others.
            return Err(self.which_child_matters(process));
        }
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
