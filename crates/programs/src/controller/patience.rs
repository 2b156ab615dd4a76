//! Who tries again and again in vain is taken to wait, so that runs come to an end; that is counted. Who wakes up for nothing does so
//! a limited number of times.

use super::{Controller, Task, code};
use crate::objects;
use stubborn_schedule::{Action, Op, ProcessId, World};

/// A task that has waited so often in vain at one place is taken to wait until it is woken, unless nobody else can move:
/// else it could go on like that for ever.
pub(super) const MOST_TIMEOUTS: u32 = 3;
/// The same for a task that tries to get something without waiting.
const MOST_TRIES: u32 = 10;

impl Controller {
    /// What a task asks for; without a limit, if it has tried here in vain so often that it seems to do nothing else.
    pub(super) fn patient(&mut self, process: ProcessId, code: u32, site: u64, mut made: Op) -> Op {
        let Some(task) = self.tasks[process as usize].as_mut() else { return made };
        task.asked = None;
        let most = if code == code::TIMED_WAKE { MOST_TIMEOUTS } else { MOST_TRIES };
        let is_futile = task.timeouts.0 == site && task.timeouts.1 >= most;
        let action = made.parts.first().map(|part| part.action).filter(|_| in_vain(code, &made).is_some());
        if let Some((asked, patient)) =
            action.filter(|_| is_futile).and_then(|action| Some((action, patiently(action)?)))
        {
            self.n_spins += 1;
            task.is_patient = true;
            task.asked = Some(asked);
            made.parts[0].action = patient;
        }
        made
    }

    /// Nobody can move: a wait that was taken to be without a limit has one after all. Whether there is one.
    pub(super) fn lose_patience(&mut self, world: &mut World) -> bool {
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

    /// Whether a task may wake up although nobody has woken it. Each has so many of these for itself, so that it is nobody else's business.
    pub(super) fn may_wake_for_nothing(&self, process: ProcessId) -> bool {
        let task = self.tasks[process as usize].as_ref();
        let task = task.filter(|_| self.settings.only_waiter.is_none_or(|only| only == process));
        task.is_some_and(|task| task.n_spurious < self.settings.spurious)
    }

    /// Nobody can move but by waking up for nothing, which nobody can rely on: then nobody can move.
    pub(super) fn rely_on_no_chance(&mut self, world: &mut World) {
        let sleeps = |task: &Task| matches!(task.announced, Some((code::WAKE, _)));
        let is_leaving = self.tasks.iter().flatten().any(|task| task.is_leaving && !task.is_ended);
        if self.settings.spurious == 0 || is_leaving {
            return;
        }
        let enabled: Vec<ProcessId> = world.enabled().iter().collect();
        let is_for_nothing = |process: ProcessId| {
            let task = self.tasks.get(process as usize).and_then(Option::as_ref);
            let op = world.pending(process);
            task.is_some_and(sleeps)
                && op.is_some_and(|op| world.peek(process, op, 0).first().is_some_and(|e| e.out == 0))
        };
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
}

/// What comes of an operation that tries something, if it is in vain.
pub(super) fn in_vain(code: u32, op: &Op) -> Option<u64> {
    let action = op.parts.first()?.action;
    match code {
        code::TIMED_WAKE => Some(0),
        code::TRY_LOCK | code::TRY_READ_LOCK | code::TRY_WRITE_LOCK | code::TRY_ACQUIRE => Some(0),
        code::TRY_SEND | code::TRY_RECEIVE | code::SLEEP => Some(0),
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
        Action::Custom { code: objects::SLEEP, .. } => custom(objects::AWAIT_SIGNAL, 0),
        Action::Custom { code: objects::LOOK_AT_CHILD, input } => custom(objects::AWAIT_CHILD, input),
        Action::Custom { code: objects::AWAIT_ANY, input: 1 } => custom(objects::AWAIT_ANY, 0),
        _ => None,
    }
}
