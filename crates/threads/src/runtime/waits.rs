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
//! **Checked by** `tests/all/random_threads.rs` against a full search in which each of these is a step of its own; that a mistake
//! (`Builder::trusting_guards`) is made must be noticed there.

use super::state::{NOTIFICATIONS_MATTER, Settings, State, with_state};
use super::{Request, prepare, stop, switch, turn};
use std::panic::Location;
use stubborn_schedule::objects::{Object, Table};
use stubborn_schedule::{Action, ObjectId, Op, Part, ProcessId, World};

/// What the operation that a task has announced is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
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
struct Wait {
    condvar: ObjectId,
    mutex: ObjectId,
    /// Whether time may be up.
    is_timed: bool,
    place: &'static Location<'static>,
}

/// Who waits and notifies in a run.
#[derive(Debug)]
pub(crate) struct Waits {
    /// Waits and notifications are steps.
    are_visible: bool,
    /// A mistake to make: nobody looks whether the mutex is held.
    trusts: bool,
    /// Being woken is a step.
    waking_is_visible: bool,
    /// Condition variables, and the mutexes that guard them, as far as this run has shown.
    guards: Vec<(ObjectId, ObjectId)>,
    /// Per process, what it is about to do. Of this run if `turn` says that there is anything.
    stages: Vec<Stage>,
}

/// What became of a notification.
enum Notified {
    /// It is done.
    AtOnce,
    /// It is announced.
    Announced,
    /// It cannot be part of a step.
    Unguarded,
}

/// Notifies one or all.
#[track_caller]
pub(crate) fn notify(condvar: ObjectId, all: bool) {
    let place = Location::caller();
    if prepare(None, place).is_some() {
        return;
    }
    match with_state(|state| switch::with_world(|world| state.notify((condvar, all), place, world))) {
        Some(Notified::AtOnce) => {}
        Some(Notified::Unguarded) | None => stop(NOTIFICATIONS_MATTER.to_owned()),
        Some(Notified::Announced) => {
            turn::set_place(Some(place));
            switch::suspend(Request::Announced);
        }
    }
}

/// Leaves a mutex and waits, until it is woken and has the mutex again. Gives whether it was notified.
#[track_caller]
pub(crate) fn wait(condvar: ObjectId, mutex: ObjectId, is_timed: bool) -> bool {
    let place = Location::caller();
    if prepare(None, place).is_some() {
        return false;
    }
    let wait = Wait { condvar, mutex, is_timed, place };
    if with_state(|state| switch::with_world(|world| state.begin_to_wait(wait, world))) != Some(true) {
        stop(NOTIFICATIONS_MATTER.to_owned());
    }
    turn::set_place(Some(place));
    switch::suspend(Request::Announced) == 1
}

impl Waits {
    pub(crate) fn new(settings: &Settings) -> Waits {
        Waits {
            are_visible: settings.unlock_is_visible || settings.notify_is_visible,
            trusts: settings.trusts_guards,
            waking_is_visible: settings.unlock_is_visible,
            guards: Vec::new(),
            stages: Vec::new(),
        }
    }

    pub(crate) fn begin_run(&mut self) {
        self.guards.clear();
        self.stages.clear();
        turn::set_stages(0);
    }

    #[inline(always)]
    fn set(&mut self, process: ProcessId, stage: Stage) {
        let i = process as usize;
        if self.stages.len() <= i {
            self.stages.resize(i + 1, Stage::Alone);
        }
        self.stages[i] = stage;
        turn::add_stage(process);
    }

    fn guard(&self, condvar: ObjectId) -> Option<ObjectId> {
        self.guards.iter().find(|(of, _)| *of == condvar).map(|(_, mutex)| *mutex)
    }

    /// Whether a process that notifies holds the mutex that guards a condition variable.
    fn is_guarded(&mut self, process: ProcessId, condvar: ObjectId, world: &World) -> bool {
        let holds = |object: &Object| matches!(object, Object::Mutex(mutex) if mutex.is_held_by(process));
        match self.guard(condvar) {
            Some(mutex) => holds(world.object(mutex)),
            None => {
                // The one that was created last: it will turn out if that was wrong.
                let held = world.objects().iter().rposition(holds);
                self.guards.extend(held.map(|mutex| (condvar, mutex as ObjectId)));
                held.is_some()
            }
        }
    }

    /// Whether something that is not guarded is noticed.
    fn notices(&self) -> bool {
        !self.are_visible && !self.trusts
    }

    /// The same of a wait, which is made by who holds its mutex.
    fn is_wait_guarded(&mut self, wait: &Wait) -> bool {
        match self.guard(wait.condvar) {
            Some(mutex) => !wait.is_timed && mutex == wait.mutex,
            None => {
                self.guards.push((wait.condvar, wait.mutex));
                !wait.is_timed
            }
        }
    }
}

impl State {
    /// The task that runs notifies.
    fn notify(
        &mut self,
        (object, all): (ObjectId, bool),
        place: &'static Location<'static>,
        world: &mut World,
    ) -> Notified {
        let process = turn::current();
        if self.waits.notices() && !self.waits.is_guarded(process, object, world) {
            return Notified::Unguarded;
        }
        let follows = turn::may_follow() && !self.waits.are_visible;
        let is_heard = matches!(world.object(object), Object::Condvar(condvar) if condvar.is_waited_for());
        if follows && !is_heard && !turn::records() {
            // Nothing happens, and that nobody waits is known from who held the mutex before.
            return Notified::AtOnce;
        }
        let part = Part { object, action: if all { Action::NotifyAll } else { Action::NotifyOne } };
        if follows && world.object(object).choices(part.action) == 1 {
            if self.follow(process, part, place, world) > 0 {
                self.wake_up(object, world);
            }
            return Notified::AtOnce;
        }
        self.waits.set(process, Stage::Notifies(part.object));
        self.announce_on(process, part, place, world);
        Notified::Announced
    }

    /// The task that runs waits. False if waits must be steps and are not.
    fn begin_to_wait(&mut self, wait: Wait, world: &mut World) -> bool {
        let process = turn::current();
        if !self.waits.are_visible {
            if self.waits.notices() && !self.waits.is_wait_guarded(&wait) {
                return false;
            }
            if turn::may_follow() {
                let parts = [(wait.condvar, Action::Wait), (wait.mutex, Action::Unlock)];
                for (object, action) in parts {
                    self.follow(process, Part { object, action }, wait.place, world);
                }
                self.sleep(process, wait, world);
                return true;
            }
        }
        self.waits.set(process, Stage::Waits(wait));
        let site = std::ptr::from_ref(wait.place) as u64;
        let op = Op::wait(wait.condvar, wait.mutex).at(site);
        if turn::records() {
            self.announced(process, &op, wait.place);
        }
        world.announce(process, op);
        true
    }

    fn sleep(&mut self, process: ProcessId, wait: Wait, world: &mut World) {
        self.waits.set(process, Stage::Sleeps(wait));
        let wake = if wait.is_timed { Action::TimedWake } else { Action::Wake };
        self.announce_on(process, Part { object: wait.condvar, action: wake }, wait.place, world);
    }

    fn lock_again(&mut self, process: ProcessId, wait: Wait, notified: bool, world: &mut World) {
        self.waits.set(process, Stage::Locks(notified));
        self.announce_on(process, Part { object: wait.mutex, action: Action::Lock }, wait.place, world);
    }

    /// A process has moved: what its task gets, unless that is in a wait that goes on.
    pub(super) fn has_moved(&mut self, process: ProcessId, out: u64, world: &mut World) -> Option<u64> {
        let stage = self.waits.stages.get_mut(process as usize).map_or(Stage::Alone, std::mem::take);
        turn::remove_stage(process);
        match stage {
            Stage::Alone => return Some(out),
            Stage::Notifies(condvar) => {
                if out > 0 {
                    self.wake_up(condvar, world);
                }
                return Some(out);
            }
            Stage::Waits(wait) => self.sleep(process, wait, world),
            Stage::Sleeps(wait) => self.lock_again(process, wait, out == 1, world),
            Stage::Locks(notified) => return Some(u64::from(notified)),
        }
        None
    }

    /// Those who were notified in the last event are woken without a step, unless that is one.
    fn wake_up(&mut self, condvar: ObjectId, world: &mut World) {
        if self.waits.waking_is_visible {
            return;
        }
        for process in 0..self.waits.stages.len() as ProcessId {
            let Stage::Sleeps(wait) = self.waits.stages[process as usize] else { continue };
            if wait.condvar == condvar && !wait.is_timed && world.can_move(process) {
                world.change(condvar, |object| object.execute(process, Action::Wake, 0));
                world.wake(process);
                if turn::records() {
                    self.executed(process, 1);
                }
                self.lock_again(process, wait, true, world);
            }
        }
    }

    fn announce_on(
        &mut self,
        process: ProcessId,
        part: Part,
        place: &'static Location<'static>,
        world: &mut World,
    ) {
        let site = std::ptr::from_ref(place) as u64;
        if turn::records() {
            self.announced(process, &Op::on(part.object, part.action).at(site), place);
        }
        world.announce_on(process, part, site);
    }
}
