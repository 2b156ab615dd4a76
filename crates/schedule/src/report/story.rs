//! A run in words: steps, who waits for whom, and the recipe.

use super::{Counterexample, Step, Waiting};
use crate::objects::{DISCONNECTED, EMPTY, FULL, Table};
use crate::op::{Action, ObjectId, Op, ProcessId};
use crate::program::Failure;
use crate::schedule::{NoSchedule, Schedule};
use crate::world::World;
use rustc_hash::FxHashMap;

/// Numbers of processes: a process is known by who started it, and as the how manyeth. So it has the same number in every
/// run.
#[derive(Debug, Default)]
pub struct Names {
    numbers: FxHashMap<(ProcessId, u32), ProcessId>,
    origins: Vec<(ProcessId, u32)>,
}

impl Names {
    /// The number of the `k`-th child of a process, from 1. Main is 0.
    pub fn number(&mut self, parent: ProcessId, k: u32) -> ProcessId {
        let next = self.origins.len() as ProcessId + 1;
        let number = *self.numbers.entry((parent, k)).or_insert(next);
        if number == next {
            self.origins.push((parent, k));
        }
        number
    }

    /// The path to a process: `0` is main, `2` its second child, `2/1` the first child of that.
    pub fn path(&self, process: ProcessId) -> String {
        match process.checked_sub(1).and_then(|i| self.origins.get(i as usize)) {
            None => "0".to_owned(),
            Some((0, k)) => k.to_string(),
            Some((parent, k)) => format!("{}/{k}", self.path(*parent)),
        }
    }

    /// The process at the end of a path.
    pub fn find(&mut self, path: &str) -> Option<ProcessId> {
        if path == "0" {
            return Some(0);
        }
        path.split('/').take(64).try_fold(0, |parent, k| Some(self.number(parent, k.parse().ok()?)))
    }

    /// A schedule, with processes by their paths.
    pub fn text(&self, schedule: &Schedule) -> String {
        schedule.text_with(|process| self.path(process))
    }

    /// A schedule from its text.
    pub fn schedule(&mut self, text: &str) -> Result<Schedule, NoSchedule> {
        Schedule::from_text_with(text, |path| self.find(path))
    }
}

/// A step that was done.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Who did it.
    pub process: ProcessId,
    /// What was done.
    pub op: Op,
    /// What the process got.
    pub out: u64,
    /// Where: file and line.
    pub place: (String, u32),
}

/// What the things of a program are called.
pub trait Naming {
    /// The name of a process.
    fn process(&self, process: ProcessId) -> String;
    /// The name of an object.
    fn object(&self, object: ObjectId) -> String;
    /// Where a process is about to do something: file and line.
    fn place(&self, process: ProcessId) -> Option<(String, u32)>;
    /// What an operation of the program's own is called, and its value.
    fn operation(&self, _code: u32, _input: u64, _out: Option<u64>) -> Option<(String, String)> {
        None
    }
}

/// The story of a run that was recorded and led to a world.
pub fn tell(
    world: &World,
    recorded: &[Recorded],
    failure: Failure,
    (schedule, preemptions): (&Schedule, u32),
    (names, naming): (&Names, &dyn Naming),
) -> Counterexample {
    let teller = Teller { names, naming };
    Counterexample {
        kind: failure.kind,
        message: failure.message,
        thread: failure.process.map(|process| naming.process(process)),
        cycle: teller.cycle(world),
        steps: recorded.iter().enumerate().map(|(i, step)| teller.step(i + 1, step)).collect(),
        waiting: teller.all_waiting(world, recorded),
        preemptions,
        replay: names.text(schedule),
    }
}

struct Teller<'s> {
    names: &'s Names,
    naming: &'s dyn Naming,
}

impl Teller<'_> {
    fn name(&self, process: ProcessId) -> String {
        self.naming.process(process)
    }

    fn step(&self, number: usize, step: &Recorded) -> Step {
        let (operation, value) = self.words(&step.op, Some(step.out));
        Step {
            number,
            thread: self.name(step.process),
            operation,
            object: self.objects(&step.op),
            value,
            file: step.place.0.clone(),
            line: step.place.1,
        }
    }

    fn objects(&self, op: &Op) -> String {
        let names: Vec<String> = op.parts.iter().map(|part| self.naming.object(part.object)).collect();
        names.join(", ")
    }

    fn words(&self, op: &Op, out: Option<u64>) -> (String, String) {
        let own = match op.parts.first().map(|part| part.action) {
            Some(Action::Custom { code, input }) => self.naming.operation(code, input, out),
            _ => None,
        };
        own.unwrap_or_else(|| words(op, out))
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
        let (file, line) = self.naming.place(process).unwrap_or_default();
        let since = |holder: ProcessId| {
            let object = op.parts.first()?.object;
            let takes = |step: &Recorded| {
                step.process == holder && step.op.parts.iter().any(|part| part.object == object)
            };
            recorded.iter().rposition(takes).map(|i| i + 1)
        };
        Waiting {
            thread: self.name(process),
            operation: self.words(op, None).0,
            object: self.objects(op),
            value: op.parts.first().map_or(String::new(), |part| self.value(world, part.object)),
            file,
            line,
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
        Retry(_) => ("wait-for-change", String::new()),
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
