//! What tasks ask for, as operations on objects of the engine.

use super::{AGAIN, AWAIT, Controller, Key, Kind, MOST_TIMEOUTS, MOST_TRIES, Task, code, in_vain, patiently};
use crate::memory::Access;
use crate::objects::{
    ADD, AWAIT_ANY, AWAIT_CHILD, AWAIT_ZERO, CHILD_ENDS, CLOSE, COPY, DIE, GET, GO, LOOK_AT_CHILD, Message,
    NAMES, Names, OPEN, OPEN_NAME, READ, RECEIVE, REMOVE_NAME, SEND, SET, SUBTRACT, TRY_READ, TRY_RECEIVE,
    TRY_SEND, TRY_WRITE, WRITE,
};
use crate::shared;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::SeqCst;
use stubborn_schedule::objects::Table;
use stubborn_schedule::{Action, Failure, ObjectId, Op, Part, ProcessId, World};

impl Controller {
    /// Gives what a task has asked for to the world; or what to answer at once.
    pub(super) fn take_announcement(
        &mut self,
        process: ProcessId,
        world: &mut World,
    ) -> Result<Option<u64>, Failure> {
        let (slot, own) =
            self.tasks[process as usize].as_ref().map_or((0, 0), |task| (task.slot, task.process));
        if self.shared.slots[slot].op.load(SeqCst) != code::WAIT_CHILD {
            self.does_something_else(process)?;
        }
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
                world.change(pipe, |pipe| pipe.execute(process, open, 0));
                return Ok(Some(0));
            }
            code::FILE => return self.file(process, a).map(Some),
            code::NAME_OPEN | code::NAME_REMOVE => {
                let name = match a {
                    id if op == code::NAME_REMOVE && id != 0 => {
                        self.removed.insert(id);
                        match Names::of_object(id) {
                            Some(name) => name,
                            None => return Ok(Some(1)),
                        }
                    }
                    _ => self.learned.name(slot.bytes()),
                };
                if name >= NAMES {
                    return Err(Failure::limit(
                        process,
                        "more than 1,024 names of shared objects are not controlled",
                    ));
                }
                let names = self.object(world, Key { kind: Kind::Names, space: 0, address: 0 }, 0);
                let (code, input) = match op {
                    code::NAME_OPEN => (OPEN_NAME, name << 2 | b << 1 | a),
                    _ => (REMOVE_NAME, name),
                };
                Op::on(names, Action::Custom { code, input })
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
            code::DIE if !self.learned.lives => {
                self.tasks[process as usize].iter_mut().for_each(|task| task.is_leaving = true);
                return Ok(None);
            }
            code::FORK if !self.learned.lives => {
                self.learned.lives = true;
                return Err(Failure::limit(process, AGAIN));
            }
            code::DIE | code::FORK => {
                let life = self.object(world, Key { kind: Kind::Life, space: 0, address: u64::from(own) }, 0);
                let code = if op == code::DIE { DIE } else { COPY };
                Op::on(life, Action::Custom { code, input: 0 })
            }
            code::PROCESS_EXIT => match self.end_of_process(process, own, b == 1, world) {
                Some(op) => op,
                None => return Ok(Some(0)),
            },
            code::WAIT_CHILD => {
                let asked = Asked { wanted: a, only_looks: b == 1, for_status: c == 1, site };
                match self.await_child(process, own, asked, world)? {
                    Some(op) => op,
                    None => return Ok(Some(u64::MAX)),
                }
            }
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
                let Some(access) = Access::new(b, a, c) else {
                    let why = "an access to more than 4,096 bytes of memory at once is not controlled";
                    return Err(Failure::limit(process, why));
                };
                let cells: Vec<ObjectId> = access
                    .cells()
                    .map(|cell| self.object(world, Key { kind: Kind::Memory, space: b, address: cell }, 0))
                    .collect();
                let is_own = match self.owners.note(process, &cells, access) {
                    Ok(is_own) => {
                        is_own
                            && !cells
                                .iter()
                                .any(|&cell| self.learned.public.contains(&self.keys[cell as usize]))
                    }
                    Err(cell) => {
                        self.learned.public.insert(self.keys[cell as usize]);
                        return Err(Failure::limit(process, AGAIN));
                    }
                };
                let task = self.tasks[process as usize].as_mut().expect("it has announced");
                task.access = Some(access);
                match task.spin.before(site, &cells, (access, is_own), world) {
                    Some((awaited, own_cells)) => {
                        self.n_spins += 1;
                        self.owners.trust(&own_cells);
                        // The access itself comes when something has changed.
                        task.site = site;
                        let made = Op::on_all(&awaited);
                        let made = self.while_it_lives(process, own, made, world)?.at(site);
                        let task = self.tasks[process as usize].as_mut().expect("it has announced");
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
        let made = self.patient(process, op, site, made);
        let made = match op {
            code::DIE | code::FORK => made,
            _ => self.while_it_lives(process, own, made, world)?,
        };
        let made = made.at(site);
        let task = self.tasks[process as usize].as_mut().expect("it has announced");
        task.site = site;
        task.announced = Some((op, made.clone()));
        world.announce(process, made);
        Ok(None)
    }

    /// The file behind shared memory, as a number of ours.
    fn file(&mut self, process: ProcessId, id: u64) -> Result<u64, Failure> {
        if let Some(file) = self.files.get(&id) {
            return Ok(file.as_raw_fd() as u64);
        }
        let file = shared::own_memory_file()
            .map_err(|error| Failure::limit(process, format!("no shared memory: {error}")))?;
        let number = file.as_raw_fd() as u64;
        self.files.insert(id, file);
        Ok(number)
    }

    /// What a task asks for; without a limit, if it has tried here in vain so often that it seems to do nothing else.
    fn patient(&mut self, process: ProcessId, code: u32, site: u64, mut made: Op) -> Op {
        let Some(task) = self.tasks[process as usize].as_mut() else { return made };
        task.asked = None;
        let most = if matches!(code, code::WAKE | code::TIMED_WAKE) { MOST_TIMEOUTS } else { MOST_TRIES };
        let is_futile = task.timeouts.0 == site && task.timeouts.1 >= most;
        let action = made.parts.first().map(|part| part.action).filter(|_| in_vain(code, &made).is_some());
        if let Some((asked, patient)) =
            action.filter(|_| is_futile).and_then(|action| Some((action, patiently(action)?)))
        {
            self.n_spins += 1;
            task.is_patient = true;
            // Nobody asks to be woken up for nothing.
            task.asked = (code != code::WAKE).then_some(asked);
            made.parts[0].action = patient;
        }
        made
    }

    pub(super) fn slot(&self, process: ProcessId) -> usize {
        self.tasks[process as usize].as_ref().map_or(0, |task| task.slot)
    }

    pub(super) fn task_object(&self, process: ProcessId) -> ObjectId {
        self.tasks[process as usize].as_ref().map_or(0, |task| task.object)
    }

    /// An operation on a semaphore that is more than a counter of ones.
    pub(super) fn wide(
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
    pub(super) fn semop(
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

    /// The end of a process, which its parent may wait for; nothing if nobody can tell. The thread may have ended before.
    pub(super) fn end_of_process(
        &mut self,
        process: ProcessId,
        own: u32,
        has_exited: bool,
        world: &mut World,
    ) -> Option<Op> {
        let exit = Part { object: self.task_object(process), action: Action::Exit };
        let mut parts: Vec<Part> = (!has_exited).then_some(exit).into_iter().collect();
        if let Some((leader, parent)) = self.leader(own).filter(|_| own > 0) {
            let key = Key { kind: Kind::Children, space: 0, address: u64::from(parent) };
            let ends = Action::Custom { code: CHILD_ENDS, input: u64::from(leader) };
            parts.push(Part { object: self.object(world, key, 0), action: ends });
        }
        (!parts.is_empty()).then(|| Op::on_all(&parts))
    }

    /// What a task does it does before its process ends, or never.
    fn while_it_lives(
        &mut self,
        process: ProcessId,
        own: u32,
        mut made: Op,
        world: &mut World,
    ) -> Result<Op, Failure> {
        let has_threads = self.tasks.iter().flatten().any(|task| task.process == own && task.is_thread);
        let is_dying = self.tasks[process as usize].as_ref().is_some_and(|task| task.is_dying);
        if !self.learned.lives || !has_threads || is_dying {
            return Ok(made);
        }
        if matches!(made.parts.first(), Some(Part { action: Action::Await(_), .. })) {
            let why = "loops that wait for memory are not controlled in a process that ends with threads left beside other processes";
            return Err(Failure::limit(process, why));
        }
        let life = self.object(world, Key { kind: Kind::Life, space: 0, address: u64::from(own) }, 0);
        // A toss is a choice of this part.
        let input = if made.parts.is_empty() { u64::from(made.toss) } else { 0 };
        made.parts.push(Part { object: life, action: Action::Custom { code: GO, input } });
        made.toss = 1;
        Ok(made)
    }

    /// The first task of a process, and the process that started it.
    pub(super) fn leader(&self, process: u32) -> Option<(ProcessId, u32)> {
        let is_leader = |task: &Task| task.process == process && !task.is_thread;
        let number = self.tasks.iter().position(|task| task.as_ref().is_some_and(is_leader))?;
        let slot = self.tasks[number].as_ref()?.slot;
        let parent = self.process_of_slot(self.shared.slots[slot].parent.load(SeqCst) as usize);
        Some((number as ProcessId, self.tasks[parent as usize].as_ref()?.process))
    }

    /// Children of a process that nobody has waited for.
    fn children(&self, process: u32) -> impl Iterator<Item = (ProcessId, &Task)> {
        let tasks =
            self.tasks.iter().flatten().filter(|task| !task.is_thread && !task.is_reaped && task.process > 0);
        tasks.filter_map(move |task| {
            let (leader, _) = self.leader(task.process).filter(|&(_, parent)| parent == process)?;
            Some((leader, task))
        })
    }

    /// Waiting for a child; `None` if there is none.
    ///
    /// Who waits for all children one after the other, does not ask which, and does nothing in between cannot tell in which order they end: then
    /// the eldest is waited for. That nothing else is done is watched (see [`Controller::does_something_else`]); that nobody looks at what the call
    /// returns is in the code.
    fn await_child(
        &mut self,
        process: ProcessId,
        own: u32,
        asked: Asked,
        world: &mut World,
    ) -> Result<Option<Op>, Failure> {
        let is_wanted = |task: &Task| asked.wanted == u64::MAX || u64::from(task.process) == asked.wanted;
        let wanted = self.children(own).filter(|(_, task)| is_wanted(task)).map(|(leader, _)| leader).min();
        let Some(first) = wanted else { return Ok(None) };
        let children = self.object(world, Key { kind: Kind::Children, space: 0, address: u64::from(own) }, 0);
        let is_any = asked.wanted == u64::MAX;
        if !is_any || asked.only_looks {
            self.does_something_else(process)?;
        }
        let (code, input) = match (is_any, asked.only_looks) {
            (true, true) => (AWAIT_ANY, 1),
            (true, false) if self.learned.asks_which_child => (AWAIT_ANY, 0),
            (true, false) => {
                let returns_to = asked.site.wrapping_sub(self.base());
                if asked.for_status || !self.code.ignores_result(returns_to) {
                    return Err(self.which_child_matters(process));
                }
                self.tasks[process as usize].iter_mut().for_each(|task| task.waits_for_all = true);
                (AWAIT_CHILD, u64::from(first))
            }
            (false, true) => (LOOK_AT_CHILD, u64::from(first)),
            (false, false) => (AWAIT_CHILD, u64::from(first)),
        };
        Ok(Some(Op::on(children, Action::Custom { code, input })))
    }

    pub(super) fn which_child_matters(&mut self, process: ProcessId) -> Failure {
        self.learned.asks_which_child = true;
        Failure::limit(process, AGAIN)
    }

    /// A task does something other than waiting. If it was taken to wait for all of its children, and some are left, it was not so.
    pub(super) fn does_something_else(&mut self, process: ProcessId) -> Result<(), Failure> {
        let Some(task) = self.tasks[process as usize].as_mut() else { return Ok(()) };
        let own = task.process;
        if std::mem::take(&mut task.waits_for_all) && self.children(own).next().is_some() {
            return Err(self.which_child_matters(process));
        }
        Ok(())
    }

    /// Nobody can move. If one of those who wait for the eldest child has another that has ended, it could.
    pub(super) fn look_for_other_children(&mut self) -> Result<(), Failure> {
        let waits = |(number, task): (usize, &Option<Task>)| {
            let task = task.as_ref().filter(|task| task.waits_for_all && !task.is_ended)?;
            let has_other = self.children(task.process).any(|(_, child)| child.is_ended);
            has_other.then_some(number as ProcessId)
        };
        match self.tasks.iter().enumerate().find_map(waits) {
            Some(process) => Err(self.which_child_matters(process)),
            None => Ok(()),
        }
    }
}

/// What a call of `waitpid` asks for.
struct Asked {
    /// Which process, or `u64::MAX` for any.
    wanted: u64,
    only_looks: bool,
    for_status: bool,
    /// Where it returns to.
    site: u64,
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
