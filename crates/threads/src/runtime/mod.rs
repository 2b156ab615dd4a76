//! The runtime: Rust code as a `Program` of the engine.
//!
//! A task is a coroutine that runs until it asks for something. Visible operations are requests; everything else a
//! primitive does is done at once, because nobody else runs. What a task creates and starts between two requests is
//! noted in `State` and given to the engine when the task asks.

pub(crate) mod counts;
pub(crate) mod object;
pub(crate) mod overflow;
pub(crate) mod panics;
pub(crate) mod spin;
pub(crate) mod state;
pub(crate) mod switch;
pub(crate) mod turn;
mod waits;

use crate::watchdog::Progress;
use spin::Before;
use state::{Deferred, State, with_state};
use std::panic::Location;
use std::sync::Arc;
use stubborn_schedule::objects::Object;
use stubborn_schedule::{Action, Failure, FailureKind, ObjectId, Op, Part, ProcessId, Program, World};
use switch::{Ending, Next, Task};
use waits::{Guards, Stage};

/// What a task asks for.
pub(crate) enum Request {
    /// To do this.
    Visible(Op, &'static Location<'static>),
    /// To wait on a condition variable, to be woken, and to lock the mutex again.
    Wait(Op, Action, &'static Location<'static>),
    /// To be stopped: a limit was reached.
    Limit(String),
    /// To be stopped in the middle of a panic.
    Panicked,
}

/// Does a visible operation: waits until it is the task's turn, and gives the output.
#[track_caller]
pub(crate) fn visible(op: Op) -> u64 {
    visible_at(op, Location::caller())
}

/// Waits on a condition variable, as `Op::wait` says, until `wake` is done and the mutex is locked again. Gives whether it was notified.
#[track_caller]
pub(crate) fn visible_wait(op: Op, wake: Action) -> u64 {
    let place = Location::caller();
    ask(op, place, |op| Request::Wait(op, wake, place))
}

/// The same, said to be somewhere else: a destructor does not know where it is called.
pub(crate) fn visible_at(op: Op, place: &'static Location<'static>) -> u64 {
    ask(op, place, |op| Request::Visible(op, place))
}

/// Asks for an operation, when everything is done that must come before.
#[inline]
fn ask(op: Op, place: &'static Location<'static>, request: impl FnOnce(Op) -> Request) -> u64 {
    if !switch::is_task() {
        panic!("an operation of stubborn-threads at {place} outside of `explore`");
    }
    let op = op.at(std::ptr::from_ref(place) as u64);
    let site = op.site;
    let spins = spin::may_spin(&op);
    if turn::is_ending() {
        return 0;
    }
    if counts::destroying() != 0 {
        // It matters who is the last owner of what is being destroyed.
        let site = counts::destroying();
        counts::set_destroying(0);
        counts::see(site);
    }
    let (mut owes, mut awaited) = (false, None);
    if turn::is_noted() {
        let before = with_state(|state| {
            let before = spin::before(state, site, spins);
            owes = !state.me().owed.is_empty();
            before
        });
        match before {
            Before::Do => {}
            Before::Wait(parts) => awaited = Some(parts),
            Before::Again(out) => return out,
            Before::Learned => stop(state::LOOPS_MATTER.to_owned()),
        }
        // Debts are paid now.
        turn::set_noted(spins.is_some());
    }
    if std::thread::panicking() {
        // Others must not run while this thread unwinds: to the standard library they would all be panicking.
        switch::suspend(Request::Panicked);
    }
    while let Some((owed, place)) = if owes { with_state(|state| state.me().owed.pop()) } else { None } {
        switch::suspend(Request::Visible(owed, place));
    }
    if let Some(parts) = awaited {
        // The operation is repeated and gets the same: wait until it would get something else.
        switch::suspend(Request::Visible(Op::on_all(&parts).at(site), place));
    }
    let out = switch::suspend(request(op));
    if let Some(part) = spins {
        spin::after(site, part, out);
    }
    out
}

/// A visible operation of a destructor: outside of an exploration, and when a run is given up, it is nothing; while a
/// panic unwinds it is put off until the thread does something else.
pub(crate) fn visible_in_drop(place: &'static Location<'static>, op: impl FnOnce() -> Op) {
    if !switch::is_task() || turn::is_ending() {
        return;
    }
    if std::thread::panicking() {
        let op = op().at(std::ptr::from_ref(place) as u64);
        with_state(|state| state.me().owed.insert(0, (op, place)));
        turn::set_noted(true);
    } else {
        visible_at(op(), place);
    }
}

/// The end of a critical section, in a destructor. If it belongs to the step in which the task moved, the task goes on.
pub(crate) fn unlock(place: &'static Location<'static>, object: impl FnOnce() -> ObjectId, action: Action) {
    let goes_on =
        turn::may_follow() && !turn::is_noted() && turn::unlocked().is_none() && counts::destroying() == 0;
    if goes_on && switch::is_task() && !turn::is_ending() && !std::thread::panicking() {
        turn::set_unlocked(Some((Part { object: object(), action }, place)));
    } else {
        visible_in_drop(place, || Op::on(object(), action));
    }
}

/// Somebody is about to ask whether a lock is held: unlocks must be operations then.
pub(crate) fn see_unlocks() {
    let is_given_up = !switch::is_task() || turn::is_ending() || std::thread::panicking();
    if !is_given_up && !with_state(|state| state.settings.unlock_is_visible) {
        stop(state::UNLOCKS_MATTER.to_owned());
    }
}

/// Somebody is about to ask who was the last at a barrier.
pub(crate) fn see_leaders() {
    let is_given_up = !switch::is_task() || turn::is_ending() || std::thread::panicking();
    if !is_given_up && !with_state(|state| state.settings.leader_is_visible) {
        stop(state::LEADERS_MATTER.to_owned());
    }
}

/// Stops the exploration.
pub(crate) fn stop(message: String) -> ! {
    switch::suspend(Request::Limit(message));
    unreachable!("a task that has stopped is not resumed")
}

/// The code to be explored.
pub(crate) type Body = Arc<dyn Fn() + Send + Sync>;

/// A task, and what is known of it.
#[derive(Default)]
struct Slot {
    task: Option<Task>,
    /// Where it has announced.
    place: Option<&'static Location<'static>>,
    /// Whether something is noted of it, see `turn`.
    is_noted: bool,
    /// What its next operation is part of.
    stage: Stage,
}

/// Rust code as a program of the engine.
pub(crate) struct Runtime {
    body: Body,
    tasks: Vec<Slot>,
    progress: Arc<Progress>,
    stack_size: usize,
    /// Whether threads were started that have not run.
    has_newborn: bool,
    /// Threads that can go on because those whose end they waited for have ended.
    ready: Vec<ProcessId>,
    exit_is_visible: bool,
    unlock_is_visible: bool,
    guards: Guards,
    /// The run was stopped: its tasks can be left in good order.
    was_stopped: bool,
    /// A failure before the first operation.
    early: Option<Failure>,
    /// What the task that ran last has left to do.
    deferred: Vec<Deferred>,
}

impl Runtime {
    pub(crate) fn new(body: Body, settings: state::Settings) -> Runtime {
        panics::install();
        overflow::install();
        let (stack_size, exit_is_visible) = (settings.stack_size, settings.exit_is_visible);
        let unlock_is_visible = settings.unlock_is_visible;
        let guards = Guards::new(unlock_is_visible || settings.notify_is_visible);
        let progress = settings.progress.clone();
        switch::fetch_stacks(stack_size);
        state::install(State::new(settings));
        Runtime {
            body,
            tasks: Vec::new(),
            progress,
            stack_size,
            has_newborn: false,
            ready: Vec::new(),
            exit_is_visible,
            unlock_is_visible,
            guards,
            was_stopped: false,
            early: None,
            deferred: Vec::new(),
        }
    }

    /// Lets those run who can, until everybody has announced.
    fn run_others(&mut self, world: &mut World) -> Result<(), Failure> {
        while self.has_newborn || !self.ready.is_empty() {
            if let Some(ready) = self.ready.pop() {
                self.run_one(ready, 0, world)?;
            } else if let Some((newborn, body)) = with_state(|state| state.newborn.pop_front()) {
                self.begin(newborn, body, world)?;
            } else {
                self.has_newborn = false;
            }
        }
        Ok(())
    }

    fn begin(
        &mut self,
        newborn: ProcessId,
        body: Box<dyn FnOnce()>,
        world: &mut World,
    ) -> Result<(), Failure> {
        let Some(task) = Task::new(self.stack_size, body) else {
            return Err(Failure::limit(newborn, "there is no memory for another stack"));
        };
        let i = newborn as usize;
        if self.tasks.len() <= i {
            self.tasks.resize_with(i + 1, Slot::default);
        }
        self.tasks[i] = Slot { task: Some(task), ..Slot::default() };
        self.run_one(newborn, 0, world)
    }

    fn run_one(&mut self, process: ProcessId, answer: u64, world: &mut World) -> Result<(), Failure> {
        let i = process as usize;
        let Some(slot) = self.tasks.get(i).filter(|slot| slot.task.is_some()) else { return Ok(()) };
        turn::set_current(process);
        turn::set_noted(slot.is_noted);
        self.progress.turn(process, slot.place);
        turn::set_may_follow(!self.unlock_is_visible && world.mover() == Some(process));
        let mut next = self.resume_task(process, answer, world);
        while let Next::Asks(Request::Visible(op, place)) = &next
            && let &[part] = op.parts.as_slice()
            && self.follows(process, part, world)?
        {
            let out = follow(process, part, place, world);
            if out > 0 && matches!(part.action, Action::NotifyOne | Action::NotifyAll) {
                self.wake_up(part.object, world);
            }
            next = self.resume_task(process, 0, world);
        }
        let slot = &mut self.tasks[i];
        slot.is_noted = turn::is_noted();
        if let Next::Asks(Request::Visible(_, place) | Request::Wait(_, _, place)) = &next {
            slot.place = Some(place);
        }
        if turn::has_news() {
            self.catch_up(world);
        }
        match next {
            Next::Asks(Request::Visible(op, place)) => {
                if turn::records() {
                    with_state(|state| state.announced(process, &op, place));
                }
                // Nothing can come between the end of a thread and who has waited for it.
                if let Some(ended) = self.joins(&op, world) {
                    world.join(process, ended);
                    self.ready.push(process);
                    return Ok(());
                }
                world.announce(process, op);
                Ok(())
            }
            Next::Asks(Request::Wait(op, wake, place)) => self.wait(process, (op, wake), place, world),
            Next::Asks(Request::Panicked) => Err(panic_failure(process)),
            Next::Asks(Request::Limit(message)) => Err(self.stop(process, message)),
            Next::Ends(ending) => self.ended(process, ending, world),
        }
    }

    /// Lets a task run until it asks for something; a lock that it left meanwhile is left.
    #[inline]
    fn resume_task(&mut self, process: ProcessId, answer: u64, world: &mut World) -> Next {
        let Some(task) = &mut self.tasks[process as usize].task else { return Next::Ends(Ending::Returned) };
        let next = task.resume(answer);
        if let Some((part, place)) = turn::unlocked() {
            turn::set_unlocked(None);
            follow(process, part, place, world);
        }
        next
    }

    /// Whether what a task asks for belongs to the step in which it moved.
    #[inline]
    fn follows(&mut self, process: ProcessId, part: Part, world: &mut World) -> Result<bool, Failure> {
        match part.action {
            Action::Unlock | Action::ReadUnlock | Action::WriteUnlock => {
                Ok(!self.unlock_is_visible && world.mover() == Some(process))
            }
            Action::NotifyOne | Action::NotifyAll => self.notifies_at_once(process, part, world),
            _ => Ok(false),
        }
    }

    /// The failure of a run that is stopped: its tasks can be left in good order.
    fn stop(&mut self, process: ProcessId, message: String) -> Failure {
        self.was_stopped = true;
        Failure::limit(process, message)
    }

    /// Tells the world what the task that ran last has created and started.
    fn catch_up(&mut self, world: &mut World) {
        turn::set_news(false);
        with_state(|state| {
            std::mem::swap(&mut state.deferred, &mut self.deferred);
            self.has_newborn |= !state.newborn.is_empty();
        });
        for deferred in self.deferred.drain(..) {
            match deferred {
                Deferred::Create(object) => {
                    world.create(object);
                }
                Deferred::Start(child, parent) => world.start(child, parent),
                Deferred::AddSender(id) => world.change(id, |object| {
                    if let Object::Channel(channel) = object {
                        channel.add_sender();
                    }
                }),
                Deferred::AddReceiver(id) => world.change(id, |object| {
                    if let Object::Channel(channel) = object {
                        channel.add_receiver();
                    }
                }),
            }
        }
    }

    fn ended(&mut self, process: ProcessId, ending: Ending, world: &mut World) -> Result<(), Failure> {
        if let Some(task) = self.tasks[process as usize].task.take() {
            task.recycle();
        }
        match ending {
            Ending::Returned => {
                world.end(process);
                if !self.exit_is_visible {
                    self.let_joiners_go_on(process, world);
                }
                Ok(())
            }
            Ending::Panicked => Err(panic_failure(process)),
            Ending::Overflowed => {
                let message = format!(
                    "more stack was used than a task has ({} bytes; `stack_size` gives it more)",
                    self.stack_size
                );
                Err(Failure::new(FailureKind::StackOverflow, process, message))
            }
        }
    }
}

impl Runtime {
    /// The thread whose end an operation waits for, if it has ended.
    fn joins(&self, op: &Op, world: &World) -> Option<ProcessId> {
        let [Part { object, action: Action::Join }] = op.parts.as_slice() else { return None };
        match world.object(*object) {
            Object::Process(process) if process.is_ended() && !self.exit_is_visible => Some(process.me()),
            _ => None,
        }
    }

    /// The end of a thread is no operation of its own: whoever waits for it goes on.
    fn let_joiners_go_on(&mut self, ended: ProcessId, world: &mut World) {
        let Some(object) = with_state(|state| state.thread(ended).map(|thread| thread.object)) else {
            return;
        };
        world.change(object, |object| {
            if let Object::Process(process) = object {
                process.end();
            }
        });
        let joins = |(_, op): &(ProcessId, &Op)| op.parts[0].action == Action::Join;
        let first = self.ready.len();
        self.ready.extend(world.waiting_for(object).filter(joins).map(|(process, _)| process));
        self.ready[first..].iter().for_each(|&joiner| world.join(joiner, ended));
    }
}

impl Runtime {
    /// Gives up what a run has left that has failed. Destructors of its tasks might fail, too, so they are not run unless the run was
    /// only stopped.
    fn leave_failed(&mut self) {
        match std::mem::take(&mut self.was_stopped) {
            true => self.finish(),
            false => self.give_up(Task::leak),
        }
    }

    /// Gives all tasks up that have not ended.
    fn give_up(&mut self, how: fn(Task)) {
        self.tasks.drain(..).filter_map(|slot| slot.task).for_each(how);
    }
}

/// Does something that belongs to the step in which a process moved. Gives what came of it.
#[inline]
fn follow(process: ProcessId, part: Part, place: &'static Location<'static>, world: &mut World) -> u64 {
    let out = world.follow(process, part).unwrap_or(0);
    if turn::records() {
        let op = Op::on(part.object, part.action).at(std::ptr::from_ref(place) as u64);
        with_state(|state| state.followed(process, &op, place, out));
    }
    out
}

fn panic_failure(process: ProcessId) -> Failure {
    // The run is made again with all the reads of the loop that was being tried out.
    if with_state(spin::ends) {
        return Failure::limit(process, state::LOOPS_MATTER);
    }
    let said = panics::said();
    let is_assertion = said.starts_with("assertion");
    let kind = if is_assertion { FailureKind::Assertion } else { FailureKind::Panic };
    Failure::new(kind, process, said)
}

impl Program for Runtime {
    fn reset(&mut self, world: &mut World) {
        self.leave_failed();
        self.ready.clear();
        self.deferred.clear();
        self.guards.begin_run();
        counts::set_destroying(0);
        with_state(State::begin_run);
        let body = self.body.clone();
        let main = crate::thread::main_task(move || body());
        with_state(|state| state.newborn.push_back((0, main)));
        self.has_newborn = true;
        // Nothing can fail that would not fail again when the first operation is done.
        self.early = self.run_others(world).err();
        if self.early.is_some() {
            world.announce(0, Op::toss(1));
        }
    }

    fn resume(&mut self, process: ProcessId, out: u64, world: &mut World) -> Result<(), Failure> {
        if turn::records() {
            with_state(|state| state.executed(process, out));
        }
        if let Some(failure) = &self.early {
            return Err(failure.clone());
        }
        self.go_on(process, out, world)?;
        if self.has_newborn || !self.ready.is_empty() {
            self.run_others(world)?;
        }
        Ok(())
    }

    fn limit_of_reset(&self) -> Option<Failure> {
        self.early.clone().filter(|failure| failure.is_limit)
    }

    fn is_deadlock(&self, blocked: &[ProcessId]) -> bool {
        // A process ends with its main thread; threads that nobody will join may wait for ever.
        with_state(|state| blocked.contains(&0) || blocked.iter().any(|&p| !state.is_detached(p)))
    }

    fn must_end(&self) -> bool {
        true
    }

    fn finish(&mut self) {
        turn::set_ending(true);
        self.give_up(Task::unwind);
        turn::set_ending(false);
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.leave_failed();
        switch::return_stacks(self.stack_size);
        state::remove();
    }
}

/// The end of a task.
pub(crate) fn exit(object: stubborn_schedule::ObjectId, created: &'static Location<'static>) {
    visible_at(Op::on(object, Action::Exit), created);
}
