//! The tables of the objects against their definition, by doing both orders: labels that are called independent
//! commute, labels that are called a conflict can be swapped, labels that are called ordered cannot.

use crate::common::Rng;
use stubborn_schedule::objects::{
    Barrier, Channel, Condvar, Label, Mutex, Object, Once, Process, Relation, RwLock, Semaphore, Table,
    Variable, WakeOrder,
};
use stubborn_schedule::{Action, Attempt, Update, Width};

const N: u32 = 3;

/// Which operations a process may attempt now: nobody unlocks what another has locked.
fn is_legal(object: &Object, history: &[(u32, Action)], me: u32, action: Action) -> bool {
    let mine = || history.iter().rev().filter(|(process, _)| *process == me).map(|(_, action)| *action);
    let last = mine().next();
    let value = object.describe();
    match action {
        Action::Unlock => value == format!("held by {me}"),
        Action::WriteUnlock => value == format!("written by {me}"),
        Action::ReadUnlock => value.starts_with("read by") && value.contains(&me.to_string()),
        Action::Complete | Action::Abandon => value == format!("being initialised by {me}"),
        Action::Wake | Action::TimedWake => last == Some(Action::Wait),
        Action::Wait | Action::NotifyOne | Action::NotifyAll => last != Some(Action::Wait),
        Action::Park | Action::TimedPark => me == 0,
        Action::Exit => me == 0 && value == "running",
        Action::Join | Action::IsFinished | Action::Unpark => me != 0,
        Action::Retry(Attempt::End) => me != 0,
        Action::Leave(_) => matches!(last, Some(Action::Arrive)),
        Action::Arrive => last != Some(Action::Arrive),
        Action::Send(_) | Action::TrySend(_) | Action::DropSender => !mine().any(|a| a == Action::DropSender),
        Action::Receive | Action::TryReceive | Action::DropReceiver => {
            !mine().any(|a| a == Action::DropReceiver)
        }
        _ => true,
    }
}

/// Walks at random through the values of an object, and tries all pairs of operations everywhere.
fn check(first: Object, actions: &[Action]) {
    let rng = &mut Rng::new(7);
    for _ in 0..300 {
        let mut object = first.clone();
        let mut history = Vec::new();
        for _ in 0..12 {
            check_pairs(&object, &history, actions);
            let me = rng.below(u64::from(N)) as u32;
            let action = rng.pick(actions);
            if is_legal(&object, &history, me, action) && object.enabled(me, action) {
                object.execute(me, action, 0);
                history.push((me, action));
            }
        }
    }
}

fn check_pairs(object: &Object, history: &[(u32, Action)], actions: &[Action]) {
    let moves = || (0..N).flat_map(|me| actions.iter().map(move |&action| (me, action)));
    for (p, a) in moves().filter(|&(p, a)| is_legal(object, history, p, a) && object.enabled(p, a)) {
        for (q, b) in moves().filter(|&(q, b)| q != p && is_legal(object, history, q, b)) {
            let mut forth = object.clone();
            let first = Label { process: p, action: a, effect: forth.execute(p, a, 0) };
            if !forth.enabled(q, b) {
                continue;
            }
            let second = Label { process: q, action: b, effect: forth.execute(q, b, 0) };
            let was_possible = object.enabled(q, b);
            let place = || format!("{first:?} {second:?} in {object:?}");
            match object.relation(&first, &second) {
                Relation::Independent => {
                    assert!(was_possible, "{}", place());
                    let mut back = object.clone();
                    let other = back.execute(q, b, 0);
                    assert!(back.enabled(p, a), "{}", place());
                    assert_eq!(
                        (back.execute(p, a, 0).out, other.out),
                        (first.effect.out, second.effect.out),
                        "{}",
                        place()
                    );
                    assert_eq!(back.describe(), forth.describe(), "{}", place());
                }
                Relation::Conflict => assert!(was_possible, "{}", place()),
                Relation::Ordered => assert!(!was_possible, "{}", place()),
                Relation::Doubtful => {}
            }
            if object.commutes(a, b) {
                assert_eq!(object.relation(&first, &second), Relation::Independent, "{}", place());
            }
        }
    }
}

#[test]
fn variables_keep_their_table() {
    let actions = [
        Action::Read,
        Action::Write(0),
        Action::Write(1),
        Action::Complement,
        Action::Await(0),
        Action::Await(1),
        Action::Update(Update::Add, Width::WORD, 1),
        Action::CompareExchange { expected: 0, new: 1 },
    ];
    check(Variable::new(0).into(), &actions);
}

#[test]
fn locks_keep_their_tables() {
    check(
        Mutex::new().into(),
        &[Action::Lock, Action::TryLock, Action::Unlock, Action::Retry(Attempt::Lock)],
    );
    let actions = [
        Action::ReadLock,
        Action::WriteLock,
        Action::TryReadLock,
        Action::TryWriteLock,
        Action::ReadUnlock,
        Action::WriteUnlock,
        Action::Retry(Attempt::ReadLock),
        Action::Retry(Attempt::WriteLock),
    ];
    check(RwLock::new().into(), &actions);
}

#[test]
fn condition_variables_keep_their_table() {
    let actions = [Action::Wait, Action::Wake, Action::TimedWake, Action::NotifyOne, Action::NotifyAll];
    check(Condvar::new(WakeOrder::Any).into(), &actions);
    check(Condvar::new(WakeOrder::Fifo).into(), &actions);
}

#[test]
fn semaphores_keep_their_table() {
    for permits in 0..3 {
        let retry = Action::Retry(Attempt::Acquire);
        check(Semaphore::new(permits).into(), &[Action::Acquire, Action::TryAcquire, Action::Release, retry]);
    }
}

#[test]
fn channels_keep_their_table() {
    let actions = [
        Action::Send(5),
        Action::TrySend(6),
        Action::Receive,
        Action::TryReceive,
        Action::Length,
        Action::Empty,
        Action::Full,
        Action::Taken(0),
        Action::Retry(Attempt::Send),
        Action::Retry(Attempt::Receive),
        Action::DropSender,
        Action::DropReceiver,
    ];
    for capacity in 1..4 {
        check(Channel::with_ends(capacity, u64::from(N), u64::from(N)).into(), &actions);
    }
}

#[test]
fn barriers_cells_and_processes_keep_their_tables() {
    for size in 1..5 {
        check(Barrier::new(size).into(), &[Action::Arrive, Action::Leave(0), Action::Leave(1)]);
        check(Barrier::without_leader(size).into(), &[Action::Arrive, Action::Leave(0), Action::Leave(1)]);
    }
    let retry = Action::Retry(Attempt::Completion);
    check(Once::new().into(), &[Action::Begin, Action::Complete, Action::Abandon, Action::IsComplete, retry]);
    let actions = [
        Action::Exit,
        Action::Join,
        Action::IsFinished,
        Action::Park,
        Action::TimedPark,
        Action::Unpark,
        Action::Retry(Attempt::End),
    ];
    check(Process::new(0).into(), &actions);
}
