//! Exact numbers of runs on programs as data: conditional dependency on a bounded channel, and reads and writes.

use stubborn_schedule::objects::{Channel, Object, Tables, Variable};
use stubborn_schedule::{Action, Algorithm, Explorer, Found, Instruction, Op, Options, Script, Stats};

fn explore(mut script: Script, algorithm: Algorithm) -> Stats {
    let options = Options { algorithm, ..Options::default() };
    let outcome = Explorer::new(&mut script, options).explore();
    assert!(matches!(outcome.found, Found::Nothing), "{:?}", outcome.found);
    outcome.stats
}

fn on(object: u32, action: Action) -> Instruction {
    Instruction::Do(Op::on(object, action))
}

/// Producers that send `k` messages each, consumers that receive `k` each.
fn channel(producers: usize, consumers: usize, k: usize, capacity: u64, tables: Tables) -> Script {
    let send = vec![on(0, Action::Send(1)); k];
    let receive = vec![on(0, Action::Receive); k];
    let mut processes = vec![send; producers];
    processes.extend(vec![receive; consumers]);
    Script::new(vec![Channel::with_tables(capacity, tables).into()], processes)
}

#[test]
fn conditional_dependency_makes_a_pipe_one_run() {
    for (k, capacity, constant) in [(3, 2, 4), (6, 3, 89)] {
        for algorithm in [Algorithm::Sleep, Algorithm::Source] {
            let runs = |tables| explore(channel(1, 1, k, capacity, tables), algorithm).runs;
            assert_eq!(runs(Tables::Constant), constant, "{k} {capacity} {}", algorithm.word());
            assert_eq!(runs(Tables::Conditional), 1, "{k} {capacity} {}", algorithm.word());
        }
    }
    assert_eq!(explore(channel(1, 1, 10, 4, Tables::Constant), Algorithm::Source).runs, 9842);
    for algorithm in Algorithm::ALL.into_iter().filter(|&algorithm| algorithm != Algorithm::Dfs) {
        assert_eq!(
            explore(channel(1, 1, 10, 4, Tables::Conditional), algorithm).runs,
            1,
            "{}",
            algorithm.word()
        );
    }
}

#[test]
fn only_the_order_among_producers_and_among_consumers_counts() {
    for algorithm in [Algorithm::Sleep, Algorithm::Persistent2, Algorithm::Source] {
        assert_eq!(explore(two_to_one(), algorithm).runs, 6, "{}", algorithm.word());
        assert_eq!(
            explore(channel(2, 2, 2, 2, Tables::Conditional), algorithm).runs,
            36,
            "{}",
            algorithm.word()
        );
    }
}

/// Two producers of two messages, one consumer of four.
fn two_to_one() -> Script {
    let mut script = channel(2, 1, 2, 2, Tables::Conditional);
    script.processes[2].extend([on(0, Action::Receive), on(0, Action::Receive)]);
    script
}

/// One writer per variable and a reader of all: the last zero (Abdulla and others, 2014).
fn last_zero(n: u64) -> Script {
    let objects: Vec<Object> = (0..=n).map(|_| Object::from(Variable::new(0))).collect();
    let add = |i: u32| {
        let write = |value| on(i, Action::Write(value));
        // a[i] = a[i - 1] + 1: only whether it is zero matters here, so the value read decides nothing.
        vec![on(i - 1, Action::Read), write(1)]
    };
    let mut searcher = Vec::new();
    for i in (0..=n as u32).rev() {
        // Ends when it has read a zero.
        searcher.push(on(i, Action::Read));
        searcher.push(Instruction::SkipIf(0, usize::MAX / 2));
    }
    let mut processes = vec![searcher];
    processes.extend((1..=n as u32).map(add));
    Script::new(objects, processes)
}

#[test]
fn optimal_repeats_nothing_where_programs_only_read_and_write() {
    for n in 2..7 {
        let optimal = explore(last_zero(n), Algorithm::Optimal);
        let source = explore(last_zero(n), Algorithm::Source);
        assert_eq!(optimal.blocked, 0, "{n}");
        assert_eq!(optimal.runs, source.runs, "{n}");
    }
    assert_eq!(explore(last_zero(3), Algorithm::Optimal).runs, 12);
}

#[test]
fn private_variables_need_one_run() {
    let objects = (0..4).map(|_| Object::from(Variable::new(0))).collect();
    let processes = (0..4).map(|i| vec![on(i, Action::Write(1)), on(i, Action::Write(2))]).collect();
    let script = Script::new(objects, processes);
    for algorithm in Algorithm::ALL.into_iter().filter(|&algorithm| algorithm != Algorithm::Dfs) {
        assert_eq!(explore(script.clone(), algorithm).runs, 1, "{}", algorithm.word());
    }
}
