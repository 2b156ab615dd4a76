//! The runtime: Rust code as a `Program` of the engine.
//!
//! A task is a coroutine that runs until it asks for something. Visible operations are requests; everything else a
//! primitive does is done at once, because nobody else runs. What a task creates and starts between two requests is
//! noted in `State` and given to the engine when the task asks.

pub(crate) mod object;
pub(crate) mod overflow;
pub(crate) mod panics;
pub(crate) mod spin;
pub(crate) mod state;
pub(crate) mod switch;

use state::{Deferred, State, with_state};
use std::panic::Location;
use std::sync::Arc;
use stubborn_schedule::objects::Object;
use stubborn_schedule::{Action, Failure, FailureKind, Op, Part, ProcessId, Program, World};
use switch::{Ending, Next, Task};

/// What a task asks for.
pub(crate) enum Request {
    /// To do this.
    Visible(Op, &'static Location<'static>),
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

/// The same, said to be somewhere else: a destructor does not know where it is called.
pub(crate) fn visible_at(op: Op, place: &'static Location<'static>) -> u64 {
    if !switch::is_task() {
        panic!("an operation of stubborn-threads at {place} outside of `explore`");
    }
    let op = op.at(std::ptr::from_ref(place) as u64);
    let site = op.site;
    let spins = spin::may_spin(&op);
    let (is_ending, owes, awaited) = with_state(|state| {
        let awaited = spins.and_then(|part| spin::before(state, site, &part));
        let me = state.me();
        if spins.is_none() {
            me.spin.clear();
        }
        let owes = !me.owed.is_empty();
        (state.is_ending, owes, awaited)
    });
    if is_ending {
        return 0;
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
    let out = switch::suspend(Request::Visible(op, place));
    if let Some(part) = spins {
        spin::after(site, part, out);
    }
    out
}

/// A visible operation of a destructor: outside of an exploration, and when a run is given up, it is nothing; while a
/// panic unwinds it is put off until the thread does something else.
pub(crate) fn visible_in_drop(place: &'static Location<'static>, op: impl FnOnce() -> Op) {
    if !switch::is_task() || with_state(|state| state.is_ending) {
        return;
    }
    if std::thread::panicking() {
        let op = op().at(std::ptr::from_ref(place) as u64);
        with_state(|state| state.me().owed.insert(0, (op, place)));
    } else {
        visible_at(op(), place);
    }
}

/// Stops the exploration.
pub(crate) fn stop(message: String) -> ! {
    switch::suspend(Request::Limit(message));
    unreachable!("a task that has stopped is not resumed")
}

/// The code to be explored.
pub(crate) type Body = Arc<dyn Fn() + Send + Sync>;

/// Rust code as a program of the engine.
pub(crate) struct Runtime {
    body: Body,
    tasks: Vec<Option<Task>>,
    stack_size: usize,
    /// Whether threads were started that have not run.
    has_newborn: bool,
    /// Threads that can go on because those whose end they waited for have ended.
    ready: Vec<ProcessId>,
    exit_is_visible: bool,
}

impl Runtime {
    pub(crate) fn new(body: Body, settings: state::Settings) -> Runtime {
        panics::install();
        overflow::install();
        let (stack_size, exit_is_visible) = (settings.stack_size, settings.exit_is_visible);
        switch::fetch_stacks(stack_size);
        state::install(State::new(settings));
        Runtime {
            body,
            tasks: Vec::new(),
            stack_size,
            has_newborn: false,
            ready: Vec::new(),
            exit_is_visible,
        }
    }

    /// Lets a task run until everybody has announced.
    fn run(&mut self, process: ProcessId, answer: u64, world: &mut World) -> Result<(), Failure> {
        self.run_one(process, answer, world)?;
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
            self.tasks.resize_with(i + 1, || None);
        }
        self.tasks[i] = Some(task);
        self.run_one(newborn, 0, world)
    }

    fn run_one(&mut self, process: ProcessId, answer: u64, world: &mut World) -> Result<(), Failure> {
        // At the beginning nobody has moved.
        let Some(task) = self.tasks.get_mut(process as usize).and_then(Option::as_mut) else {
            return Ok(());
        };
        with_state(|state| state.begin_turn(process));
        let next = task.resume(answer);
        let mut deferred = Vec::new();
        let has_newborn = with_state(|state| {
            if !state.deferred.is_empty() {
                deferred = std::mem::take(&mut state.deferred);
            }
            if let Next::Asks(Request::Visible(op, place)) = &next {
                state.announced(process, op, place);
            }
            !state.newborn.is_empty()
        });
        self.has_newborn |= has_newborn;
        for deferred in deferred {
            match deferred {
                Deferred::Create(object) => {
                    world.create(object);
                }
                Deferred::Start(child, parent) => world.start(child, parent),
                Deferred::AddSender(id) => {
                    if let Object::Channel(channel) = world.object_mut(id) {
                        channel.add_sender();
                    }
                }
                Deferred::AddReceiver(id) => {
                    if let Object::Channel(channel) = world.object_mut(id) {
                        channel.add_receiver();
                    }
                }
            }
        }
        match next {
            Next::Asks(Request::Visible(op, _)) => {
                // Nothing can come between the end of a thread and who has waited for it.
                if let Some(ended) = self.joins(&op, world) {
                    world.join(process, ended);
                    self.ready.push(process);
                    return Ok(());
                }
                world.announce(process, op);
                Ok(())
            }
            Next::Asks(Request::Panicked) => Err(panic_failure(process)),
            Next::Asks(Request::Limit(message)) => Err(Failure::limit(process, message)),
            Next::Ends(ending) => self.ended(process, ending, world),
        }
    }

    fn ended(&mut self, process: ProcessId, ending: Ending, world: &mut World) -> Result<(), Failure> {
        if let Some(task) = self.tasks[process as usize].take() {
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
        if let Object::Process(process) = world.object_mut(object) {
            process.end();
        }
        let join = Part { object, action: Action::Join };
        let waits = |(_, op): &(ProcessId, &Op)| op.parts.as_slice() == [join];
        let joiners: Vec<ProcessId> = world.waiting().filter(waits).map(|(process, _)| process).collect();
        for joiner in joiners {
            world.join(joiner, ended);
            self.ready.push(joiner);
        }
    }
}

fn panic_failure(process: ProcessId) -> Failure {
    let said = panics::said();
    let is_assertion = said.starts_with("assertion");
    let kind = if is_assertion { FailureKind::Assertion } else { FailureKind::Panic };
    Failure::new(kind, process, said)
}

impl Program for Runtime {
    fn reset(&mut self, world: &mut World) {
        // After a failure tasks are left; their destructors might fail, too.
        self.tasks.drain(..).flatten().for_each(Task::leak);
        self.ready.clear();
        with_state(State::begin_run);
        let body = self.body.clone();
        let main = crate::thread::main_task(move || body());
        with_state(|state| state.newborn.push_back((0, main)));
        self.has_newborn = true;
        // Nothing can fail that would not fail again when the first operation is done.
        if let Err(failure) = self.run(u32::MAX, 0, world) {
            with_state(|state| state.early = Some(failure));
            world.announce(0, Op::toss(1));
        }
    }

    fn resume(&mut self, process: ProcessId, out: u64, world: &mut World) -> Result<(), Failure> {
        let early = with_state(|state| {
            state.executed(process, out);
            state.early.clone()
        });
        if let Some(failure) = early {
            return Err(failure);
        }
        self.run(process, out, world)
    }

    fn is_deadlock(&self, blocked: &[ProcessId]) -> bool {
        // A process ends with its main thread; threads that nobody will join may wait for ever.
        with_state(|state| blocked.contains(&0) || blocked.iter().any(|&p| !state.is_detached(p)))
    }

    fn must_end(&self) -> bool {
        true
    }

    fn finish(&mut self) {
        if self.tasks.iter().any(Option::is_some) {
            with_state(|state| state.is_ending = true);
            self.tasks.drain(..).flatten().for_each(Task::unwind);
            with_state(|state| state.is_ending = false);
        }
        self.tasks.clear();
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.tasks.drain(..).flatten().for_each(Task::leak);
        switch::return_stacks(self.stack_size);
        state::remove();
    }
}

/// The end of a task.
pub(crate) fn exit(object: stubborn_schedule::ObjectId, created: &'static Location<'static>) {
    visible_at(Op::on(object, Action::Exit), created);
}
