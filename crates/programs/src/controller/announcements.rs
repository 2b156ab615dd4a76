//! What tasks ask for, as operations on objects of the engine.

use super::children::Asked;
use super::patience::MOST_TIMEOUTS;
use super::views::View;
use super::{AGAIN, AWAIT, Controller, Key, Kind, code};
use crate::memory::Access;
use crate::objects::{
    self, AWAIT_SIGNAL, CLOSE, COPY, DIE, GET, LISTEN, LOOK, Message, NAMES, Names, OPEN, OPEN_NAME, READ,
    RECEIVE, REMOVE_NAME, SEND, SET, STOP_LISTENING, TRY_READ, TRY_RECEIVE, TRY_SEND, TRY_WRITE, WRITE,
};
use crate::shared;
use std::os::fd::AsRawFd;
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
        if self.views[slot].op != code::WAIT_CHILD {
            self.does_something_else(process)?;
        }
        let View { op, args: [a, b, c, d], site, .. } = self.views[slot];
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
                    _ => self.learned.name(self.views[slot].data.clone()),
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
            code::PIPE_LOOK => {
                let pipe = self.object(world, Key { kind: Kind::Pipe, space: 0, address: a / 2 }, 0);
                Op::on(pipe, Action::Custom { code: LOOK, input: a % 2 })
            }
            code::LISTEN => match self.listen(process, (a == 1, b), world) {
                Some(op) => op,
                None => return Ok(Some(0)),
            },
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
            code::KILL => {
                self.learn_signals(process)?;
                match self.kill(a as u32, b, world) {
                    Some(op) => op,
                    None => return Ok(Some(1)),
                }
            }
            code::PAUSE | code::SLEEP | code::HANDLE => {
                self.learn_signals(process)?;
                let (code, input) = match op {
                    code::PAUSE => (AWAIT_SIGNAL, 0),
                    code::SLEEP => (objects::SLEEP, 0),
                    _ => (objects::HANDLE, 0),
                };
                Op::on(self.life(own, world), Action::Custom { code, input })
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
                self.learned.waiters.insert(process);
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
                        let text = self.views[slot].data.clone();
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
            code::WAKE if self.may_wake_for_nothing(process) => {
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
        let made = if op == code::LISTEN { made } else { self.patient(process, op, site, made) };
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

    /// Waits for something at the ends of pipes; nothing if there is a limit of time that may be up at once. Who has listened with one in vain
    /// for some times is taken to wait, unless nobody else can move.
    fn listen(
        &mut self,
        process: ProcessId,
        (is_timed, n_in_vain): (bool, u64),
        world: &mut World,
    ) -> Option<Op> {
        if is_timed && n_in_vain < u64::from(MOST_TIMEOUTS) {
            return None;
        }
        let bytes = self.views[self.slot(process)].data.clone();
        let ends = bytes.chunks_exact(4).map(|end| u32::from_ne_bytes([end[0], end[1], end[2], end[3]]));
        let parts: Vec<Part> = ends
            .map(|end| {
                let key = Key { kind: Kind::Pipe, space: 0, address: u64::from(end / 2) };
                let action = Action::Custom { code: LISTEN, input: u64::from(end % 2) };
                Part { object: self.object(world, key, 0), action }
            })
            .collect();
        if is_timed {
            self.n_spins += 1;
            let task = self.tasks[process as usize].as_mut()?;
            task.is_patient = true;
            task.asked = Some(Action::Custom { code: STOP_LISTENING, input: 0 });
        }
        Some(Op::on_all(&parts))
    }

    /// Files behind shared memory are as new.
    pub(super) fn empty_files(&mut self) {
        self.files.retain(|_, file| shared::empty(file).is_ok());
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
