//! The runtime: Rust code as a `Program` of the engine.
//!
//! A task is a coroutine that runs until it asks for something. It has the engine's world while it runs: what it creates and starts, and what belongs
//! to the step in which it moved, it does there by itself. Visible operations it announces there, and then it waits for its turn.

pub(crate) mod counts;
pub(crate) mod object;
pub(crate) mod overflow;
pub(crate) mod panics;
pub(crate) mod spin;
pub(crate) mod state;
pub(crate) mod switch;
pub(crate) mod turn;
pub(crate) mod waits;

use crate::watchdog::Progress;
use spin::Before;
use state::{State, with_state};
use std::panic::Location;
use std::sync::Arc;
use stubborn_schedule::objects::Object;
use stubborn_schedule::{Action, Failure, FailureKind, ObjectId, Op, Part, ProcessId, Program, World};
use switch::{Ending, Next, Task};

/// What a task asks for.
pub(crate) enum Request {
    /// To go on when what it has announced is done.
    Announced,
    /// To be stopped: a limit was reached.
    Limit(String),
    /// To be stopped in the middle of a panic.
    Panicked,
}

/// Does a visible operation: waits until it is the task's turn, and gives the output.
#[track_caller]
#[inline]
pub(crate) fn visible(op: Op) -> u64 {
    visible_at(op, Location::caller())
}

/// The same for an action on one object, which nearly all operations are: it is written where it is announced, and nowhere before.
#[track_caller]
#[inline(always)]
pub(crate) fn visible_on(object: ObjectId, action: Action) -> u64 {
    let place = Location::caller();
    let part = Part { object, action };
    let spins = spin::may_spin(part);
    if let Some(out) = prepare(spins, place) {
        return out;
    }
    let out = announce_on(part, place);
    if spins.is_some() {
        spin::after(std::ptr::from_ref(place) as u64, part, out);
    }
    out
}

/// The same, said to be somewhere else: a destructor does not know where it is called.
pub(crate) fn visible_at(op: Op, place: &'static Location<'static>) -> u64 {
    let op = op.at(std::ptr::from_ref(place) as u64);
    let only = if op.parts.len() == 1 { Some(op.parts[0]) } else { None };
    let (site, spins) = (op.site, only.and_then(spin::may_spin));
    if let Some(out) = prepare(spins, place) {
        return out;
    }
    let out = announce(op, place);
    if let Some(part) = spins {
        spin::after(site, part, out);
    }
    out
}

/// Does what must come before an operation; `spins` is given if it may be one of a loop that waits. Gives what the operation gets if it
/// must not be done.
#[inline]
fn prepare(spins: Option<Part>, place: &'static Location<'static>) -> Option<u64> {
    if !switch::is_task() {
        panic!("an operation of stubborn-threads at {place} outside of `explore`");
    }
    if turn::is_ending() {
        return Some(0);
    }
    if counts::destroying() != 0 {
        // It matters who is the last owner of what is being destroyed.
        let site = counts::destroying();
        counts::set_destroying(0);
        counts::see(site);
    }
    if turn::is_noted() {
        return settle(spins, place);
    }
    if std::thread::panicking() {
        // Others must not run while this thread unwinds: to the standard library they would all be panicking.
        switch::suspend(Request::Panicked);
    }
    None
}

/// The same, for a task of which something is noted.
#[cold]
fn settle(spins: Option<Part>, place: &'static Location<'static>) -> Option<u64> {
    let site = std::ptr::from_ref(place) as u64;
    let (before, owes) = with_state(|state| {
        let before = spin::before(state, site, spins);
        (before, !state.me().owed.is_empty())
    });
    let awaited = match before {
        Before::Do => None,
        Before::Wait(parts) => Some(parts),
        Before::Again(out) => return Some(out),
        Before::Learned => stop(state::LOOPS_MATTER.to_owned()),
    };
    // Debts are paid now.
    turn::set_noted(spins.is_some());
    if std::thread::panicking() {
        switch::suspend(Request::Panicked);
    }
    while let Some((owed, place)) = if owes { with_state(|state| state.me().owed.pop()) } else { None } {
        announce(owed, place);
    }
    if let Some(parts) = awaited {
        // The operation is repeated and gets the same: wait until it would get something else.
        announce(Op::on_all(&parts).at(site), place);
    }
    None
}

/// Announces an operation and waits until it is done, unless it belongs to the step in which the task moved.
#[inline]
fn announce(op: Op, place: &'static Location<'static>) -> u64 {
    let process = turn::current();
    let is_done = switch::with_world(|world| {
        let is_done = op.parts.len() == 1 && is_done_at_once(process, op.parts[0], place, world);
        if !is_done {
            if turn::records() {
                with_state(|state| state.announced(process, &op, place));
            }
            world.announce(process, op);
        }
        is_done
    });
    if is_done == Some(true) {
        return 0;
    }
    turn::set_place(Some(place));
    switch::suspend(Request::Announced)
}

/// The same for an action on one object.
#[inline(always)]
fn announce_on(part: Part, place: &'static Location<'static>) -> u64 {
    let process = turn::current();
    let is_done = switch::with_world(|world| {
        let is_done = is_done_at_once(process, part, place, world);
        if !is_done {
            let site = std::ptr::from_ref(place) as u64;
            if turn::records() {
                let op = Op::on(part.object, part.action).at(site);
                with_state(|state| state.announced(process, &op, place));
            }
            world.announce_on(process, part, site);
        }
        is_done
    });
    if is_done == Some(true) {
        return 0;
    }
    turn::set_place(Some(place));
    switch::suspend(Request::Announced)
}

/// The end of a critical section is no operation of its own unless somebody asks whether a lock is held, and nothing can come between the end of a
/// thread and who has waited for it.
#[inline]
fn is_done_at_once(
    process: ProcessId,
    part: Part,
    place: &'static Location<'static>,
    world: &mut World,
) -> bool {
    match part.action {
        Action::Unlock | Action::ReadUnlock | Action::WriteUnlock if turn::may_follow() => {
            follow(process, part, place, world);
            true
        }
        Action::Join => {
            let Object::Process(other) = world.object(part.object) else { return false };
            let ended = other.me();
            let is_over = other.is_ended() && !with_state(|state| state.settings.exit_is_visible);
            if is_over {
                world.join(process, ended);
            }
            is_over
        }
        _ => false,
    }
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

/// The end of a critical section, in a destructor.
#[inline(always)]
pub(crate) fn unlock(place: &'static Location<'static>, object: impl FnOnce() -> ObjectId, action: Action) {
    let is_quiet = turn::may_follow() && !turn::is_noted() && counts::destroying() == 0 && !turn::is_ending();
    if is_quiet && switch::is_task() && !std::thread::panicking() {
        let part = Part { object: object(), action };
        switch::with_world(|world| follow(turn::current(), part, place, world));
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

/// A task that has asked so often in one run is busy.
const BUSY: u32 = 1000;

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
    /// How often it has asked for something in this run.
    n_asked: u32,
}

/// Rust code as a program of the engine.
pub(crate) struct Runtime {
    body: Body,
    tasks: Vec<Slot>,
    progress: Arc<Progress>,
    stack_size: usize,
    /// Threads that can go on because those whose end they waited for have ended.
    ready: Vec<ProcessId>,
    exit_is_visible: bool,
    unlock_is_visible: bool,
    /// The run was stopped: its tasks can be left in good order.
    was_stopped: bool,
    /// A failure before the first operation.
    early: Option<Failure>,
}

impl Runtime {
    pub(crate) fn new(body: Body, settings: state::Settings) -> Runtime {
        panics::install();
        overflow::install();
        let (stack_size, exit_is_visible) = (settings.stack_size, settings.exit_is_visible);
        let unlock_is_visible = settings.unlock_is_visible;
        let progress = settings.progress.clone();
        switch::fetch_stacks(stack_size);
        state::install(State::new(settings));
        Runtime {
            body,
            tasks: Vec::new(),
            progress,
            stack_size,
            ready: Vec::new(),
            exit_is_visible,
            unlock_is_visible,
            was_stopped: false,
            early: None,
        }
    }

    /// Lets those run who can, until everybody has announced.
    fn run_others(&mut self, world: &mut World) -> Result<(), Failure> {
        while turn::has_news() || !self.ready.is_empty() {
            if let Some(ready) = self.ready.pop() {
                self.run_one(ready, 0, world)?;
            } else if let Some((newborn, body)) = with_state(|state| state.newborn.pop_front()) {
                self.begin(newborn, body, world)?;
            } else {
                turn::set_news(false);
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
        let Some(slot) = self.tasks.get_mut(process as usize) else { return Ok(()) };
        let Some(task) = &mut slot.task else { return Ok(()) };
        turn::set_current(process);
        turn::set_noted(slot.is_noted);
        self.progress.turn(process, slot.place);
        turn::set_may_follow(!self.unlock_is_visible && world.mover() == Some(process));
        let next = task.resume(answer, world);
        slot.is_noted = turn::is_noted();
        match next {
            Next::Asks(Request::Announced) => {
                slot.place = turn::place();
                slot.n_asked += 1;
                Ok(())
            }
            Next::Asks(Request::Panicked) => Err(panic_failure(process)),
            Next::Asks(Request::Limit(message)) => {
                self.was_stopped = true;
                Err(Failure::limit(process, message))
            }
            Next::Ends(ending) => self.ended(process, ending, world),
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
        if !world.is_waited_for(object) {
            return;
        }
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

    /// Notes who does more than anybody would expect, for the message of a run that is cut.
    fn note_busy(&mut self) {
        let busiest = self.tasks.iter().enumerate().filter(|(_, slot)| slot.task.is_some());
        let Some((i, slot)) = busiest.max_by_key(|(_, slot)| slot.n_asked) else { return };
        if let Some(place) = slot.place.filter(|_| slot.n_asked >= BUSY) {
            with_state(|state| state.note_busy(i as ProcessId, slot.n_asked, place));
        }
    }

    /// Gives all tasks up that have not ended.
    fn give_up(&mut self, how: fn(Task)) {
        for slot in &mut self.tasks {
            if let Some(task) = slot.task.take() {
                how(task);
            }
        }
    }
}

/// Does something that belongs to the step in which a process moved.
#[inline]
fn follow(process: ProcessId, part: Part, place: &'static Location<'static>, world: &mut World) {
    if turn::records() {
        with_state(|state| state.follow(process, part, place, world));
    } else {
        world.follow(process, part);
    }
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
        counts::set_destroying(0);
        with_state(State::begin_run);
        let body = self.body.clone();
        let main = crate::thread::main_task(move || body(), world);
        with_state(|state| state.newborn.push_back((0, main)));
        turn::set_news(true);
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
        let out = match turn::has_stage(process) {
            true => with_state(|state| state.has_moved(process, out, world)),
            false => Some(out),
        };
        if let Some(out) = out {
            self.run_one(process, out, world)?;
        }
        if turn::has_news() || !self.ready.is_empty() {
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
        self.note_busy();
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
