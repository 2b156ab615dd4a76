//! Random programs over the objects of the operating system: every algorithm sees exactly what a search without reduction sees,
//! and a table that lies about one pair of operations is found out. `STUBBORN_TIMES=10` makes the campaign ten times as long.

use super::*;
use std::collections::BTreeSet;
use stubborn_schedule::objects::{Label, Object, Table};
use stubborn_schedule::{
    Action, Algorithm, Explorer, Fault, Instruction, Op, Options, Part, Script, Trace, World,
};

const CHILDREN: u32 = 0;
const SYSV: u32 = 1;
const QUEUE: u32 = 2;
const PIPE: u32 = 3;
const LIFE: u32 = 4;
const NAMED: u32 = 5;

const MAX_RUNS: u64 = 3000;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// An object whose table says of one pair of operations that it commutes.
#[derive(Clone, Debug)]
struct Lying(Box<dyn CustomObject>, (u32, u32));

impl CustomObject for Lying {
    fn enabled(&self, me: ProcessId, code: u32, input: u64) -> bool {
        (*self.0).enabled(me, code, input)
    }

    fn choices(&self, code: u32, input: u64) -> u32 {
        (*self.0).choices(code, input)
    }

    fn execute(&mut self, me: ProcessId, code: u32, input: u64) -> u64 {
        (*self.0).execute(me, code, input)
    }

    fn choose(&mut self, me: ProcessId, code: u32, input: u64, choice: u32) -> u64 {
        (*self.0).choose(me, code, input, choice)
    }

    fn relation(&self, first: (u32, u64, u64), second: (u32, u64, u64)) -> Relation {
        match (first.0, second.0) {
            pair if pair == self.1 || pair == (self.1.1, self.1.0) => Relation::Independent,
            _ => (*self.0).relation(first, second),
        }
    }

    fn copy(&self) -> Box<dyn CustomObject> {
        Box::new(self.clone())
    }

    fn describe(&self) -> String {
        (*self.0).describe()
    }
}

/// The objects, as `n` processes find them: the first has started the others, everybody can read from the pipe, and the last few can
/// write to it.
fn objects(n: u64, n_writers: u64, value: u64, lie: Option<(u32, u32)>) -> Vec<Object> {
    let children = Children { started: (1..n).collect(), ended: BTreeSet::new() };
    let pipe = Pipe { n_bytes: 0, n_readers: n, n_writers };
    let all: [Box<dyn CustomObject>; 6] = [
        Box::new(children),
        Box::new(SysV(value)),
        Box::<Queue>::default(),
        Box::new(pipe),
        Box::<Life>::default(),
        Box::<Names>::default(),
    ];
    let object = |object| match lie {
        Some(pair) => Object::Custom(Box::new(Lying(object, pair))),
        None => Object::Custom(object),
    };
    all.into_iter().map(object).collect()
}

fn part(object: u32, code: u32, input: u64) -> Part {
    Part { object, action: Action::Custom { code, input } }
}

/// Something that process `me` of `n` does, and where.
fn operation(rng: &mut Rng, me: u64, (n, n_writers): (u64, u64), before: &[Part]) -> Part {
    let closed = |input| before.contains(&part(PIPE, CLOSE, input)) || (input == 1 && me + n_writers < n);
    match rng.below(if me == 0 { 6 } else { 5 }) {
        0 => {
            let by = 1 + rng.below(2);
            let (code, input) =
                rng.pick(&[(ADD, by), (ADD, by), (SUBTRACT, by), (AWAIT_ZERO, 0), (SET, 1), (GET, 0)]);
            part(SYSV, code, input)
        }
        1 => {
            // Two long messages do not fit.
            let length = rng.pick(&[1, 9_000]);
            let message = Message::new(1 + rng.below(2), length, (me * 10) as u32 + before.len() as u32);
            let kind = rng.pick(&[0, 1, 2, -2_i64]);
            match (rng.below(4), message) {
                (0, Some(message)) => part(QUEUE, SEND, message.0),
                (1, Some(message)) => part(QUEUE, TRY_SEND, message.0),
                (2, _) => part(QUEUE, TRY_RECEIVE, kind as u64),
                _ => part(QUEUE, RECEIVE, kind as u64),
            }
        }
        2 | 3 => {
            let n_bytes = rng.pick(&[1, 40_000]);
            let code = rng.pick(&[READ, READ, TRY_READ, WRITE, WRITE, TRY_WRITE, CLOSE, CLOSE, LOOK, LISTEN]);
            let writes = match code {
                READ | TRY_READ => false,
                WRITE | TRY_WRITE => true,
                _ => rng.below(2) == 1,
            };
            match closed(u64::from(writes)) {
                true => part(SYSV, ADD, 1),
                false if matches!(code, CLOSE | LOOK | LISTEN) => part(PIPE, code, u64::from(writes)),
                false => part(PIPE, code, n_bytes),
            }
        }
        4 => {
            let name = rng.below(2);
            match rng.below(4) {
                0 => part(NAMED, REMOVE_NAME, name),
                how => part(NAMED, OPEN_NAME, name << 2 | rng.pick(&[how, 0, 1])),
            }
        }
        _ => {
            let child = 1 + rng.below(n - 1);
            let operations = [
                (AWAIT_CHILD, child),
                (LOOK_AT_CHILD, child),
                (AWAIT_ANY, 0),
                (AWAIT_ANY, 0),
                (AWAIT_ANY, 1),
            ];
            let (code, input) = rng.pick(&operations);
            part(CHILDREN, code, input)
        }
    }
}

/// Two or three processes. In some programs the first two are threads of one process, which one of them ends.
fn random_script(seed: u64, lie: Option<(u32, u32)>) -> Script {
    let rng = &mut Rng(seed);
    let n = 2 + rng.below(2);
    let has_threads = rng.below(4) == 0;
    let n_writers = rng.pick(&[1, 1, n]);
    let objects = objects(n, n_writers, rng.below(2), lie);
    let processes = (0..n).map(|me| {
        let mut done: Vec<Part> = Vec::new();
        let lives = has_threads && me < 2;
        let mut code: Vec<Instruction> = Vec::new();
        for _ in 0..1 + rng.below(if n == 2 { 4 } else { 3 }) {
            let next = operation(rng, me, (n, n_writers), &done);
            done.push(next);
            let parts = match (lives, rng.below(6)) {
                (true, 0) => vec![part(LIFE, rng.pick(&[GO, COPY]), 2)],
                (true, _) => vec![next, part(LIFE, GO, 0)],
                _ => vec![next],
            };
            code.push(Instruction::Do(Op::on_all(&parts)));
        }
        match (lives, me) {
            (true, 1) => {
                code.push(Instruction::Do(Op::on_all(&[part(LIFE, DIE, 0), part(CHILDREN, CHILD_ENDS, me)])))
            }
            (_, 0) => {}
            _ => code.push(Instruction::Do(Op::on_all(&[part(CHILDREN, CHILD_ENDS, me)]))),
        }
        code
    });
    let processes = processes.collect();
    Script::new(objects, processes)
}

/// What can be seen at the end of a run: what each process got, where it stands, and the values of the objects.
fn observation(world: &World, trace: &Trace) -> String {
    let mut seen = String::new();
    for process in 0..world.n_processes() {
        let outs = trace.events().iter().filter(|event| event.process == process).map(|event| event.out);
        seen += &format!("{:?}{:?};", outs.collect::<Vec<_>>(), world.pending(process).map(|op| &op.parts));
    }
    (0..world.n_objects()).for_each(|object| seen += &(world.object(object).describe() + ","));
    seen
}

/// All that an algorithm sees; nothing if there are too many runs.
fn observations(
    script: &Script,
    algorithm: Algorithm,
    fault: Option<Fault>,
    max_runs: u64,
) -> Option<BTreeSet<String>> {
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
    (outcome.stats.runs + outcome.stats.blocked < max_runs).then_some(seen)
}

/// Programs whose runs can all be made, with what is seen in them.
fn programs(first: u64, n: usize) -> impl Iterator<Item = (u64, BTreeSet<String>)> {
    let small =
        |seed| Some((seed, observations(&random_script(seed, None), Algorithm::Dfs, None, MAX_RUNS)?));
    (first..).filter_map(small).take(n)
}

fn differs(script: &Script, algorithm: Algorithm, fault: Option<Fault>, expected: &BTreeSet<String>) -> bool {
    // Repetitions may make a reduced search longer than the full one.
    observations(script, algorithm, fault, MAX_RUNS * 20).is_none_or(|seen| seen != *expected)
}

#[test]
fn every_algorithm_sees_what_a_full_search_sees() {
    let times = std::env::var("STUBBORN_TIMES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut wrong = Vec::new();
    for (seed, expected) in programs(0, 1500 * times) {
        let script = random_script(seed, None);
        for algorithm in Algorithm::ALL.into_iter().filter(|&algorithm| algorithm != Algorithm::Dfs) {
            if differs(&script, algorithm, None, &expected) {
                wrong.push((seed, algorithm));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {:?}", wrong.len(), &wrong[..wrong.len().min(50)]);
}

#[test]
fn mistakes_are_noticed() {
    let programs: Vec<_> = programs(1_000_000, 4000).collect();
    for fault in [Fault::DroppedRace, Fault::ForgottenWaiters] {
        let finds = |(seed, seen): &&(u64, BTreeSet<String>)| {
            differs(&random_script(*seed, None), Algorithm::Source, Some(fault), seen)
        };
        assert!(programs.iter().any(|program| finds(&program)), "{fault:?} is not noticed");
    }
    let lies = [
        (CHILD_ENDS, AWAIT_ANY),
        (CHILD_ENDS, LOOK_AT_CHILD),
        (ADD, SUBTRACT),
        (ADD, GET),
        (SET, AWAIT_ZERO),
        (SEND, SEND),
        (SEND, TRY_RECEIVE),
        (TRY_SEND, RECEIVE),
        (RECEIVE, RECEIVE),
        (WRITE, TRY_READ),
        (WRITE, READ),
        (CLOSE, TRY_READ),
        (CLOSE, TRY_WRITE),
        (WRITE, LOOK),
        (CLOSE, LOOK),
        (GO, DIE),
        (OPEN_NAME, OPEN_NAME),
        (OPEN_NAME, REMOVE_NAME),
    ];
    for lie in lies {
        let finds = |(seed, seen): &&(u64, BTreeSet<String>)| {
            differs(&random_script(*seed, Some(lie)), Algorithm::Source, None, seen)
        };
        assert!(programs.iter().any(|program| finds(&program)), "{lie:?} is not noticed");
    }
}

/// Walks at random through the values of the objects and tries all pairs of operations everywhere, in both orders.
#[test]
fn tables_are_kept() {
    let n = 3;
    let rng = &mut Rng(7);
    for object in 0..6 {
        for _ in 0..300 {
            let mut value = objects(n, n, rng.below(3), None).swap_remove(object as usize);
            let mut done: Vec<Part> = Vec::new();
            for _ in 0..8 {
                let some: Vec<(u64, Part)> = moves(rng, object, n, &done);
                for &(p, one) in &some {
                    some.iter()
                        .filter(|other| other.0 != p)
                        .for_each(|&(q, two)| check(&value, (p, one), (q, two)));
                }
                let Some(&(me, next)) = some.first() else { continue };
                if value.enabled(me as ProcessId, next.action) {
                    value.execute(me as ProcessId, next.action, 0);
                    done.push(next);
                }
            }
        }
    }
}

/// Some operations on an object; a child ends once.
fn moves(rng: &mut Rng, object: u32, n: u64, done: &[Part]) -> Vec<(u64, Part)> {
    let mut some: Vec<(u64, Part)> = Vec::new();
    for _ in 0..40 {
        let me = rng.below(n);
        some.push((me, operation(rng, me, (n, n), done)));
    }
    some.extend((1..n).map(|me| (me, part(CHILDREN, CHILD_ENDS, me))));
    some.extend((0..n).flat_map(|me| [(me, part(LIFE, GO, 0)), (me, part(LIFE, DIE, 0))]));
    let signals = [RING, TAKE, SLEEP, HANDLE].map(|code| part(LIFE, code, 10));
    some.extend((0..n).flat_map(|me| signals.map(|part| (me, part))));
    some.retain(|(_, part)| part.object == object && !(done.contains(part) && part.object == CHILDREN));
    let from = rng.below(some.len().max(1) as u64) as usize;
    some.rotate_left(from);
    some
}

fn check(object: &Object, (p, one): (u64, Part), (q, two): (u64, Part)) {
    let (p, q) = (p as ProcessId, q as ProcessId);
    let mut forth = object.clone();
    if !forth.enabled(p, one.action) {
        return;
    }
    let first = Label { process: p, action: one.action, effect: forth.execute(p, one.action, 0) };
    if !forth.enabled(q, two.action) {
        return;
    }
    let second = Label { process: q, action: two.action, effect: forth.execute(q, two.action, 0) };
    let was_possible = object.enabled(q, two.action);
    let place = || format!("{first:?} {second:?} in {object:?}");
    match object.relation(&first, &second) {
        Relation::Independent => {
            assert!(was_possible, "{}", place());
            let mut back = object.clone();
            let other = back.execute(q, two.action, 0);
            assert!(back.enabled(p, one.action), "{}", place());
            let again = back.execute(p, one.action, 0);
            assert_eq!((again.out, other.out), (first.effect.out, second.effect.out), "{}", place());
            assert_eq!(back.describe(), forth.describe(), "{}", place());
        }
        Relation::Ordered => assert!(!was_possible, "{}", place()),
        Relation::Conflict => assert!(was_possible, "{}", place()),
        Relation::Doubtful => {}
    }
}
