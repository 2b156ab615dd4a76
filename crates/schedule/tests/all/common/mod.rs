//! Random programs over all objects.

#![allow(dead_code)] // The example that includes it uses some of it.

use std::collections::BTreeSet;
use stubborn_schedule::objects::{
    Barrier, Channel, Condvar, Mutex, Object, Once, Process, RwLock, Semaphore, Variable, WakeOrder,
};
use stubborn_schedule::{
    Action, Algorithm, Attempt, Explorer, Fault, Found, Instruction, Op, Options, Part, Script, Trace,
    Update, Width, World,
};

pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// What can be seen at the end of a run: what each process got, where it stands, and the values of the objects.
pub(crate) fn observation(world: &World, trace: &Trace) -> String {
    let mut seen = String::new();
    for process in 0..world.n_processes() {
        let outs = trace.events().iter().filter(|event| event.process == process).map(|event| {
            // Which of several tosses came up is seen, too.
            if event.op.parts.is_empty() { u64::from(event.choice) } else { event.out }
        });
        seen += &format!("{:?}{:?};", outs.collect::<Vec<_>>(), world.pending(process).map(|op| &op.parts));
    }
    for object in 0..world.n_objects() {
        seen += &stubborn_schedule::objects::Table::describe(world.object(object));
        seen.push(',');
    }
    seen
}

/// All observations that an algorithm makes; none if there are too many runs.
pub(crate) fn observations(
    script: &Script,
    algorithm: Algorithm,
    fault: Option<Fault>,
    max_runs: u64,
) -> Option<(BTreeSet<String>, u64, u64)> {
    let mut seen = BTreeSet::new();
    let mut program = script.clone();
    let mut visitor = |world: &World, trace: &Trace, _| {
        seen.insert(observation(world, trace));
    };
    let options = Options {
        algorithm,
        fault,
        keep_going: true,
        max_runs: Some(max_runs),
        check_determinism: false,
        ..Options::default()
    };
    let outcome = Explorer::new(&mut program, options).visit(&mut visitor).explore();
    assert!(
        !matches!(&outcome.found, Found::Failure(f, _)
        if f.kind != stubborn_schedule::FailureKind::Deadlock),
        "{:?} {script:?}",
        outcome.found
    );
    // After a deadlock the search goes on, so the limit must be looked at.
    let runs = outcome.stats.runs + outcome.stats.blocked;
    (runs < max_runs).then_some((seen, outcome.stats.runs, outcome.stats.blocked))
}

const VARIABLES: [u32; 2] = [0, 1];
const MUTEXES: [u32; 2] = [2, 3];
const RWLOCK: u32 = 4;
const CONDVAR: u32 = 5;
const SEMAPHORE: u32 = 6;
const CHANNEL: u32 = 7;
const BARRIER: u32 = 8;
const ONCE: u32 = 9;
const FIRST_PROCESS: u32 = 10;

/// A random program of two or three processes.
pub(crate) fn random_script(seed: u64) -> Script {
    let rng = &mut Rng(seed);
    let n = 2 + rng.below(2) as u32;
    let order = rng.pick(&[WakeOrder::Any, WakeOrder::Fifo]);
    let mut objects: Vec<Object> = vec![
        Variable::new(0).into(),
        Variable::new(rng.below(2)).into(),
        Mutex::new().into(),
        Mutex::new().into(),
        RwLock::new().into(),
        Condvar::new(order).into(),
        Semaphore::new(rng.below(3)).into(),
        Channel::with_ends(1 + rng.below(2), u64::from(n), u64::from(n)).into(),
        match seed % 4 {
            0 => Barrier::without_leader(2).into(),
            1 => Barrier::without_leader(3).into(),
            2 => Barrier::new(3).into(),
            _ => Barrier::new(2).into(),
        },
        Once::new().into(),
    ];
    objects.extend((0..n).map(|process| Object::from(Process::new(process))));
    // A few kinds per program, so that processes meet.
    let kinds: Vec<u64> = (0..2 + rng.below(2)).map(|_| rng.below(12)).collect();
    let length = if n == 2 { 5 } else { 3 };
    let processes = (0..n).map(|me| {
        let mut code = Vec::new();
        while code.len() < length {
            let kind = rng.pick(&kinds);
            piece(rng, kind, me, n, &mut code);
        }
        if kinds.contains(&11) {
            code.push(on(FIRST_PROCESS + me, Action::Exit));
        }
        code
    });
    let processes = processes.collect();
    Script::new(objects, processes)
}

fn on(object: u32, action: Action) -> Instruction {
    Instruction::Do(Op::on(object, action))
}

fn access(rng: &mut Rng) -> Instruction {
    let value = rng.below(3);
    let actions = [
        Action::Read,
        Action::Read,
        Action::Write(value),
        Action::Complement,
        Action::Update(Update::Add, Width::WORD, 1),
        Action::CompareExchange { expected: 0, new: value },
        Action::Await(value),
    ];
    let object = rng.pick(&VARIABLES);
    on(object, rng.pick(&actions))
}

fn piece(rng: &mut Rng, kind: u64, me: u32, n: u32, code: &mut Vec<Instruction>) {
    let other = FIRST_PROCESS + (me + 1 + rng.below(u64::from(n) - 1) as u32) % n;
    let mine = FIRST_PROCESS + me;
    match kind {
        0 | 1 => code.push(access(rng)),
        2 => {
            let mutex = rng.pick(&MUTEXES);
            code.push(on(mutex, Action::Lock));
            if rng.below(2) == 0 {
                code.push(access(rng));
            }
            code.push(on(mutex, Action::Unlock));
        }
        3 => {
            let mutex = rng.pick(&MUTEXES);
            if rng.below(8) == 0 {
                code.push(on(mutex, Action::Retry(Attempt::Lock)));
            }
            code.push(on(mutex, Action::TryLock));
            code.push(Instruction::SkipIf(0, 1));
            code.push(on(mutex, Action::Unlock));
        }
        4 => {
            let (one, two) = if rng.below(2) == 0 { (2, 3) } else { (3, 2) };
            let unlocks = [on(one, Action::Unlock), on(two, Action::Unlock)];
            code.extend([on(one, Action::Lock), on(two, Action::Lock)]);
            code.extend(unlocks);
        }
        5 => {
            let (lock, unlock) = rng.pick(&[
                (Action::ReadLock, Action::ReadUnlock),
                (Action::WriteLock, Action::WriteUnlock),
                (Action::TryReadLock, Action::ReadUnlock),
                (Action::TryWriteLock, Action::WriteUnlock),
            ]);
            if rng.below(8) == 0 {
                let attempt = rng.pick(&[Attempt::ReadLock, Attempt::WriteLock]);
                code.push(on(RWLOCK, Action::Retry(attempt)));
            }
            code.push(on(RWLOCK, lock));
            code.push(Instruction::SkipIf(0, 1 + usize::from(rng.0.is_multiple_of(2))));
            if rng.0.is_multiple_of(2) {
                code.push(access(rng));
            }
            code.push(on(RWLOCK, unlock));
        }
        6 => match rng.below(3) {
            0 => {
                let wake = rng.pick(&[Action::Wake, Action::Wake, Action::TimedWake]);
                code.push(on(2, Action::Lock));
                code.push(Instruction::Do(Op::wait(CONDVAR, 2)));
                code.push(on(CONDVAR, wake));
                code.push(on(2, Action::Lock));
                code.push(on(2, Action::Unlock));
            }
            1 => code.push(on(CONDVAR, Action::NotifyOne)),
            _ => code.push(on(CONDVAR, rng.pick(&[Action::NotifyOne, Action::NotifyAll]))),
        },
        7 => {
            let retry = Action::Retry(Attempt::Acquire);
            let actions = [Action::Acquire, Action::Release, Action::Release, Action::TryAcquire, retry];
            code.push(on(SEMAPHORE, rng.pick(&actions)));
        }
        8 => {
            let message = u64::from(me) * 10 + code.len() as u64;
            let actions = [
                Action::Send(message),
                Action::Send(message),
                Action::Receive,
                Action::Receive,
                Action::TrySend(message),
                Action::TryReceive,
                Action::Length,
                Action::Empty,
                Action::Full,
                Action::DropSender,
                Action::DropReceiver,
                Action::Taken(0),
                Action::Retry(Attempt::Send),
                Action::Retry(Attempt::Receive),
            ];
            let action = rng.pick(&actions);
            // Who has gone away neither sends nor receives.
            let gone = |end| code.contains(&on(CHANNEL, end));
            let is_past = match action {
                Action::Send(_) | Action::TrySend(_) | Action::DropSender => gone(Action::DropSender),
                Action::Receive | Action::TryReceive | Action::DropReceiver => gone(Action::DropReceiver),
                _ => false,
            };
            code.push(on(CHANNEL, if is_past { Action::Length } else { action }));
        }
        9 => {
            if rng.below(2) == 0 {
                code.push(on(BARRIER, Action::Arrive));
                code.push(Instruction::Leave(BARRIER));
            } else {
                code.push(on(
                    ONCE,
                    rng.pick(&[
                        Action::Begin,
                        Action::IsComplete,
                        Action::Begin,
                        Action::Retry(Attempt::Completion),
                    ]),
                ));
                if code.last() == Some(&on(ONCE, Action::Begin)) {
                    code.push(Instruction::SkipIf(0, 1));
                    code.push(on(ONCE, rng.pick(&[Action::Complete, Action::Complete, Action::Abandon])));
                }
            }
        }
        10 => match rng.below(4) {
            3 => code.push(Instruction::Do(Op::on_all(&[
                Part { object: 2, action: Action::Retry(Attempt::Lock) },
                Part { object: 1, action: Action::Await(0) },
            ]))),
            0 => code.push(Instruction::Do(Op::toss(2))),
            1 => code.push(Instruction::Do(Op::on_all(&[
                Part { object: 0, action: Action::Await(0) },
                Part { object: 1, action: Action::Await(0) },
            ]))),
            _ => code.push(access(rng)),
        },
        _ => match rng.below(6) {
            5 => code.push(on(other, Action::Retry(Attempt::End))),
            0 => code.push(on(mine, rng.pick(&[Action::Park, Action::TimedPark]))),
            1 => code.push(on(other, Action::IsFinished)),
            2 => code.push(on(other, Action::Join)),
            _ => code.push(on(other, Action::Unpark)),
        },
    }
}
