//! A run in words: steps, who waits for whom, and the recipe.

use super::{Counterexample, Step, Waiting};
use crate::runtime::state::{Names, Recorded, State, with_state};
use std::panic::Location;
use stubborn_schedule::objects::{DISCONNECTED, EMPTY, FULL, Table};
use stubborn_schedule::{
    Action, Explorer, Failure, NoSchedule, ObjectId, Op, ProcessId, Program, Schedule, World,
};

/// The name of a thread of which no more is known.
pub(super) fn plain_name(process: ProcessId, names: &Names) -> String {
    if process == 0 { "main".to_owned() } else { format!("thread {}", names.path(process)) }
}

/// A schedule, with threads by their paths.
pub(super) fn schedule_text(schedule: &Schedule, names: &Names) -> String {
    schedule.text_with(|process| names.path(process))
}

/// A schedule from its text.
pub(crate) fn schedule_from(text: &str, names: &mut Names) -> Result<Schedule, NoSchedule> {
    Schedule::from_text_with(text, |path| names.find(path))
}

/// The story of a run that was recorded.
pub(crate) fn tell<P: Program + ?Sized>(
    explorer: &Explorer<'_, P>,
    failure: Failure,
    schedule: &Schedule,
    preemptions: u32,
    names: &Names,
) -> Counterexample {
    let recorded = with_state(|state| state.recording.clone().unwrap_or_default());
    with_state(|state| {
        let teller = Teller { state, names };
        let steps: Vec<Step> =
            recorded.iter().enumerate().map(|(i, step)| teller.step(i + 1, step)).collect();
        let waiting = teller.all_waiting(explorer.world(), &recorded);
        Counterexample {
            kind: failure.kind,
            message: failure.message,
            thread: failure.process.map(|process| teller.name(process)),
            cycle: teller.cycle(explorer.world()),
            steps,
            waiting,
            preemptions,
            replay: schedule_text(schedule, names),
        }
    })
}

struct Teller<'s> {
    state: &'s State,
    names: &'s Names,
}

impl Teller<'_> {
    fn name(&self, process: ProcessId) -> String {
        let thread = self.state.threads.get(process as usize).and_then(Option::as_ref);
        let named = thread.and_then(|thread| thread.name.clone());
        named.unwrap_or_else(|| plain_name(process, self.names))
    }

    /// Kind and place of creation, with a number if several come from there.
    fn object(&self, id: ObjectId) -> String {
        let objects = &self.state.objects;
        let Some(object) = objects.get(id as usize) else { return "?".to_owned() };
        if let Some(process) = object.process {
            return self.name(process);
        }
        let Some(created) = object.created else { return object.kind.to_owned() };
        let is_twin = |other: &&crate::runtime::state::Registered| {
            let at = |place: &Location<'_>| (place.line(), place.file()) == (created.line(), created.file());
            other.kind == object.kind && other.created.is_some_and(at)
        };
        let twins = objects.iter().filter(is_twin).count();
        let number = objects[..id as usize].iter().filter(is_twin).count() + 1;
        let number = if twins > 1 { format!(" #{number}") } else { String::new() };
        format!("{}{number} ({}:{})", object.kind, file(created), created.line())
    }

    fn step(&self, number: usize, step: &Recorded) -> Step {
        let (operation, value) = words(&step.op, Some(step.out));
        Step {
            number,
            thread: self.name(step.process),
            operation,
            object: self.objects(&step.op),
            value,
            file: file(step.place),
            line: step.place.line(),
        }
    }

    fn objects(&self, op: &Op) -> String {
        let names: Vec<String> = op.parts.iter().map(|part| self.object(part.object)).collect();
        names.join(", ")
    }

    fn all_waiting(&self, world: &World, recorded: &[Recorded]) -> Vec<Waiting> {
        let blocked = |(process, op): &(ProcessId, &Op)| !world.is_enabled(*process, op);
        let waiting = self.in_order(world).into_iter().filter(blocked);
        waiting.map(|(process, op)| self.waiting(world, recorded, process, op)).collect()
    }

    /// Threads with something to do, by their place in the family: numbers differ from exploration to exploration.
    fn in_order<'w>(&self, world: &'w World) -> Vec<(ProcessId, &'w Op)> {
        let place = |process| -> Vec<u32> {
            self.names.path(process).split('/').map(|k| k.parse().unwrap_or(0)).collect()
        };
        let mut waiting: Vec<(ProcessId, &Op)> = world.waiting().collect();
        waiting.sort_by_cached_key(|(process, _)| place(*process));
        waiting
    }

    fn waiting(&self, world: &World, recorded: &[Recorded], process: ProcessId, op: &Op) -> Waiting {
        let thread = self.state.threads.get(process as usize).and_then(Option::as_ref);
        let place = thread.and_then(|thread| thread.place);
        let since = |holder: ProcessId| {
            let object = op.parts.first()?.object;
            let takes = |step: &Recorded| {
                step.process == holder && step.op.parts.iter().any(|part| part.object == object)
            };
            recorded.iter().rposition(takes).map(|i| i + 1)
        };
        Waiting {
            thread: self.name(process),
            operation: words(op, None).0,
            object: self.objects(op),
            value: op.parts.first().map_or(String::new(), |part| self.value(world, part.object)),
            file: place.map_or(String::new(), file),
            line: place.map_or(0, Location::line),
            held_by: holders(world, op)
                .into_iter()
                .map(|holder| (self.name(holder), since(holder)))
                .collect(),
        }
    }

    /// The value of an object, with threads by their names.
    fn value(&self, world: &World, object: ObjectId) -> String {
        let value = world.object(object).describe();
        match value.rsplit_once(" by ").and_then(|(what, who)| Some((what, who.parse().ok()?))) {
            Some((what, who)) => format!("{what} by {}", self.name(who)),
            None => value,
        }
    }

    /// Threads that wait for each other in a circle.
    fn cycle(&self, world: &World) -> Vec<String> {
        let next = |process: ProcessId| {
            let op = world.pending(process).filter(|op| !world.is_enabled(process, op))?;
            holders(world, op).into_iter().find(|&holder| world.pending(holder).is_some())
        };
        for (start, _) in self.in_order(world) {
            let mut path = vec![start];
            while let Some(following) = path.last().copied().and_then(next) {
                if let Some(i) = path.iter().position(|&process| process == following) {
                    return path[i..].iter().map(|&process| self.name(process)).collect();
                }
                path.push(following);
            }
        }
        Vec::new()
    }
}

fn holders(world: &World, op: &Op) -> Vec<ProcessId> {
    op.parts.iter().flat_map(|part| world.object(part.object).holders(part.action)).collect()
}

/// The path of a file as the compiler was given it.
fn file(place: &'static Location<'static>) -> String {
    place.file().to_owned()
}

/// An operation in a word, and its value.
fn words(op: &Op, out: Option<u64>) -> (String, String) {
    let Some(part) = op.parts.first() else {
        let value = out.map_or(String::new(), |out| out.to_string());
        return (if op.fails { "assert" } else { "toss" }.to_owned(), value);
    };
    let succeeded = |yes: &str, no: &str| match out {
        Some(0) => no.to_owned(),
        Some(_) => yes.to_owned(),
        None => String::new(),
    };
    let got = || out.map_or(String::new(), |out| out.to_string());
    let moved = |done: &str| match out {
        Some(DISCONNECTED) => "disconnected".to_owned(),
        Some(EMPTY) => "empty".to_owned(),
        Some(FULL) => "full".to_owned(),
        Some(_) => done.to_owned(),
        None => String::new(),
    };
    use Action::*;
    let (word, value) = match part.action {
        Read => ("load", got()),
        Write(value) => ("store", value.to_string()),
        Complement => ("complement", String::new()),
        Update(update, width, operand) => {
            let new = out.map(|old| format!("{old} -> {}", width.apply(update, old, operand)));
            return (format!("{update:?}").to_lowercase(), new.unwrap_or_default());
        }
        CompareExchange { expected, new } => {
            let value = match out {
                Some(old) if old == expected => format!("{old} -> {new}"),
                Some(old) => format!("{old}, expected {expected}"),
                None => String::new(),
            };
            ("compare-exchange", value)
        }
        Await(value) => ("wait-for-change", format!("from {value}")),
        Lock => ("lock", String::new()),
        TryLock => ("try-lock", succeeded("locked", "would block")),
        Unlock => ("unlock", String::new()),
        ReadLock => ("read-lock", String::new()),
        WriteLock => ("write-lock", String::new()),
        TryReadLock => ("try-read-lock", succeeded("locked", "would block")),
        TryWriteLock => ("try-write-lock", succeeded("locked", "would block")),
        ReadUnlock => ("read-unlock", String::new()),
        WriteUnlock => ("write-unlock", String::new()),
        Wait => ("wait", String::new()),
        Wake => ("wake-up", String::new()),
        TimedWake => ("wake-up", succeeded("notified", "timed out")),
        NotifyOne => ("notify-one", succeeded("woke one", "nobody waits")),
        NotifyAll => ("notify-all", out.map_or(String::new(), |n| format!("woke {n}"))),
        Acquire => ("acquire", String::new()),
        TryAcquire => ("try-acquire", succeeded("acquired", "would block")),
        Release => ("release", String::new()),
        Send(_) => ("send", moved("")),
        TrySend(_) => ("try-send", moved("sent")),
        Receive => ("receive", moved("")),
        TryReceive => ("try-receive", moved("received")),
        Length => ("length", got()),
        Empty => ("is-empty", succeeded("yes", "no")),
        Full => ("is-full", succeeded("yes", "no")),
        Taken(_) => ("wait-until-taken", String::new()),
        DropSender => ("drop-sender", String::new()),
        DropReceiver => ("drop-receiver", String::new()),
        Arrive => ("arrive", String::new()),
        Leave(_) => ("leave", String::new()),
        Begin => ("begin", succeeded("initialises", "is initialised")),
        Complete => ("complete", String::new()),
        Abandon => ("abandon", String::new()),
        IsComplete => ("is-complete", succeeded("yes", "no")),
        Exit => ("exit", String::new()),
        Join => ("join", String::new()),
        IsFinished => ("is-finished", succeeded("yes", "no")),
        Park => ("park", String::new()),
        TimedPark => ("park-timeout", succeeded("had a permit", "timed out")),
        Unpark => ("unpark", String::new()),
        Custom { code, .. } => return (format!("operation {code}"), got()),
    };
    (word.to_owned(), value)
}
