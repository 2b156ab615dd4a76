//! Waiting on condition variables, with as few steps as can be told apart.
//!
//! A wait is: to enter the queue and leave the mutex; to be woken; to lock the mutex again. The task asks once for all three.
//! * Being woken depends on the notification and on nothing else, so it is no step: whom a notification wakes is about to lock, and its next
//!   event comes after the notification.
//! * If everything that is done to a condition variable is done by who holds one and the same mutex, then waits and notifications commute
//!   with whatever others can do meanwhile. Like the end of a critical section they belong to the step before them (`World::follow`). A notification
//!   that can wake one of several remains a step: it has several outcomes.
//!
//! Whether the mutex is held is looked at whenever somebody waits or notifies (`Guards`). If it is not, or if somebody waits for a time, the
//! exploration begins again with notifications that are steps. That is in time: before the first operation without the mutex all others have kept to the
//! rule, so every run up to there has an equivalent one among those that are made.
//! **Checked by** `tests/random_threads.rs` against a full search in which each of these is a step of its own.

use super::state::{NOTIFICATIONS_MATTER, with_state};
use super::{Runtime, follow, turn};
use std::panic::Location;
use stubborn_schedule::objects::{Object, Table};
use stubborn_schedule::{Action, Failure, ObjectId, Op, Part, ProcessId, World};

/// What the operation that a task has announced is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Of nothing else.
    #[default]
    Alone,
    /// A notification.
    Notifies(ObjectId),
    /// The beginning of a wait.
    Waits(Wait),
    /// Its middle: the task is about to be woken.
    Sleeps(Wait),
    /// Its end: the task locks the mutex again. Whether it was notified.
    Locks(bool),
}

/// A wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    condvar: ObjectId,
    mutex: ObjectId,
    wake: Action,
    site: u64,
}

/// Which mutex guards which condition variable, as far as this run has shown.
#[derive(Debug)]
pub(super) struct Guards {
    /// Waits and notifications are steps.
    is_off: bool,
    /// Condition variables and mutexes.
    known: Vec<(ObjectId, ObjectId)>,
}

impl Guards {
    pub(super) fn new(is_off: bool) -> Guards {
        Guards { is_off, known: Vec::new() }
    }

    pub(super) fn begin_run(&mut self) {
        self.known.clear();
    }

    /// Whether what a process does to a condition variable is guarded; nothing if it ought to be and is not.
    fn covers(&mut self, process: ProcessId, condvar: ObjectId, world: &World) -> Option<bool> {
        if self.is_off {
            return Some(false);
        }
        let holds = |object: &Object| matches!(object, Object::Mutex(mutex) if mutex.is_held_by(process));
        let known = self.known.iter().find(|(of, _)| *of == condvar).map(|(_, mutex)| *mutex);
        let is_held = match known {
            Some(mutex) => holds(world.object(mutex)),
            None => {
                // The one that was created last: it will turn out if that was wrong.
                let held = world.objects().iter().rposition(holds);
                self.known.extend(held.map(|mutex| (condvar, mutex as ObjectId)));
                held.is_some()
            }
        };
        is_held.then_some(true)
    }

    /// The same for a wait, which is made by who holds the mutex.
    fn covers_wait(&mut self, wait: &Wait) -> Option<bool> {
        if self.is_off {
            return Some(false);
        }
        let known = self.known.iter().find(|(of, _)| *of == wait.condvar);
        if wait.wake != Action::Wake || known.is_some_and(|(_, mutex)| *mutex != wait.mutex) {
            return None;
        }
        if known.is_none() {
            self.known.push((wait.condvar, wait.mutex));
        }
        Some(true)
    }
}

impl Runtime {
    /// An operation was done: lets the task run, if it was not part of a wait that goes on.
    pub(super) fn go_on(&mut self, process: ProcessId, out: u64, world: &mut World) -> Result<(), Failure> {
        let Some(slot) = self.tasks.get_mut(process as usize) else { return Ok(()) };
        match std::mem::take(&mut slot.stage) {
            Stage::Alone => self.run_one(process, out, world),
            Stage::Notifies(condvar) => {
                if out > 0 {
                    self.wake_up(condvar, world);
                }
                self.run_one(process, out, world)
            }
            Stage::Waits(wait) => {
                self.sleep(process, wait, world);
                Ok(())
            }
            Stage::Sleeps(wait) => {
                self.lock_again(process, wait, out == 1, world);
                Ok(())
            }
            Stage::Locks(notified) => self.run_one(process, u64::from(notified), world),
        }
    }

    /// Whether a notification that was asked for belongs to the step in which the process moved. It is announced if not.
    pub(super) fn notifies_at_once(
        &mut self,
        process: ProcessId,
        part: Part,
        world: &mut World,
    ) -> Result<bool, Failure> {
        // The condition variable may be new.
        if turn::has_news() {
            self.catch_up(world);
        }
        let Some(is_guarded) = self.guards.covers(process, part.object, world) else {
            return Err(self.stop(process, NOTIFICATIONS_MATTER.to_owned()));
        };
        let follows = is_guarded
            && world.mover() == Some(process)
            && world.object(part.object).choices(part.action) == 1;
        if !follows {
            self.tasks[process as usize].stage = Stage::Notifies(part.object);
        }
        Ok(follows)
    }

    /// A task asks to wait.
    pub(super) fn wait(
        &mut self,
        process: ProcessId,
        (op, wake): (Op, Action),
        place: &'static Location<'static>,
        world: &mut World,
    ) -> Result<(), Failure> {
        let &[condvar, mutex] = op.parts.as_slice() else { return Ok(()) };
        let wait = Wait { condvar: condvar.object, mutex: mutex.object, wake, site: op.site };
        let Some(is_guarded) = self.guards.covers_wait(&wait) else {
            return Err(self.stop(process, NOTIFICATIONS_MATTER.to_owned()));
        };
        if is_guarded && world.mover() == Some(process) {
            follow(process, condvar, place, world);
            follow(process, mutex, place, world);
            self.sleep(process, wait, world);
        } else {
            self.tasks[process as usize].stage = Stage::Waits(wait);
            self.announce(process, op, world);
        }
        Ok(())
    }

    fn sleep(&mut self, process: ProcessId, wait: Wait, world: &mut World) {
        self.tasks[process as usize].stage = Stage::Sleeps(wait);
        self.announce(process, Op::on(wait.condvar, wait.wake).at(wait.site), world);
    }

    fn lock_again(&mut self, process: ProcessId, wait: Wait, notified: bool, world: &mut World) {
        self.tasks[process as usize].stage = Stage::Locks(notified);
        self.announce(process, Op::on(wait.mutex, Action::Lock).at(wait.site), world);
    }

    /// Those who were notified in the last event are woken without a step, unless every step is one.
    pub(super) fn wake_up(&mut self, condvar: ObjectId, world: &mut World) {
        if self.unlock_is_visible {
            return;
        }
        for process in 0..self.tasks.len() as ProcessId {
            let Stage::Sleeps(wait) = self.tasks[process as usize].stage else { continue };
            let is_woken = wait.condvar == condvar && wait.wake == Action::Wake;
            if !is_woken || !world.enabled().contains(process) {
                continue;
            }
            world.change(condvar, |object| object.execute(process, Action::Wake, 0));
            world.wake(process);
            if turn::records() {
                with_state(|state| state.executed(process, 1));
            }
            self.lock_again(process, wait, true, world);
        }
    }

    /// Announces an operation of a task at the place where it last asked for one.
    fn announce(&mut self, process: ProcessId, op: Op, world: &mut World) {
        if let Some(place) = self.tasks[process as usize].place.filter(|_| turn::records()) {
            with_state(|state| state.announced(process, &op, place));
        }
        world.announce(process, op);
    }
}
