//! Reference counts: what somebody can tell is explored, and what nobody can tell is not.

use std::collections::BTreeSet;
use std::sync::Mutex as Plain;
use stubborn_threads::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use stubborn_threads::sync::{Arc, Mutex, Weak, mpsc};
use stubborn_threads::{Algorithm, Builder, Report, Verdict, thread};

/// What was seen in all runs, and the report.
fn seen<T: Ord + Send + 'static>(
    builder: Builder,
    f: impl Fn() -> T + Send + Sync + 'static,
) -> (Vec<T>, Report) {
    let all = std::sync::Arc::new(Plain::new(BTreeSet::new()));
    let into = all.clone();
    let report = builder.check(move || {
        let value = f();
        into.lock().unwrap().insert(value);
    });
    assert!(matches!(report.verdict, Verdict::Holds), "{report}");
    let all = std::mem::take(&mut *all.lock().unwrap());
    (all.into_iter().collect(), report)
}

#[test]
fn clones_that_nobody_counts_are_no_operations() {
    let (results, report) = seen(Builder::new(), || {
        let numbers = Arc::new(vec![1, 2, 3]);
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let numbers = numbers.clone();
                thread::spawn(move || numbers.clone().iter().sum::<i32>())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<i32>()
    });
    assert_eq!((results, report.stats.runs, report.stats.steps), (vec![24], 1, 0));
}

#[test]
fn counts_are_seen_as_they_can_be() {
    let (results, _) = seen(Builder::new(), || {
        let data = Arc::new(0);
        let other = thread::spawn({
            let data = data.clone();
            move || drop(data.clone())
        });
        let count = Arc::strong_count(&data);
        other.join().unwrap();
        (count, Arc::strong_count(&data))
    });
    assert_eq!(results, [(1, 1), (2, 1), (3, 1)]);
}

#[test]
fn one_of_two_gets_the_data_or_none() {
    let both = |take: fn(Arc<u8>) -> bool| {
        seen(Builder::new(), move || {
            let data = Arc::new(7);
            let other = thread::spawn({
                let data = data.clone();
                move || take(data)
            });
            (take(data), other.join().unwrap())
        })
        .0
    };
    assert_eq!(both(|data| Arc::try_unwrap(data).is_ok()), [(false, false), (false, true), (true, false)]);
    assert_eq!(both(|data| Arc::into_inner(data).is_some()), [(false, true), (true, false)]);
    let unique = both(|mut data| Arc::get_mut(&mut data).is_some());
    assert_eq!(unique, [(false, false), (false, true), (true, false)]);
}

#[test]
fn what_a_weak_one_refers_to_may_be_gone() {
    let (results, _) = seen(Builder::new(), || {
        let data = Arc::new(5);
        let weak: Weak<i32> = Arc::downgrade(&data);
        let other = thread::spawn(move || weak.upgrade().map(|data| *data));
        drop(data);
        other.join().unwrap()
    });
    assert_eq!(results, [None, Some(5)]);
}

struct Noisy(usize, std::sync::Arc<AtomicUsize>);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.1.fetch_add(self.0 * 10 + usize::from(thread::current().name() == Some("main")), SeqCst);
    }
}

#[test]
fn who_is_last_matters_if_the_destructor_can_be_seen() {
    let (results, _) = seen(Builder::new(), || {
        let sum = std::sync::Arc::new(AtomicUsize::new(0));
        let data = Arc::new(Noisy(1, sum.clone()));
        let other = thread::spawn({
            let data = data.clone();
            move || drop(data)
        });
        drop(data);
        other.join().unwrap();
        sum.load(SeqCst)
    });
    assert_eq!(results, [10, 11]);
    // The sender goes with the last owner: whether a message comes before that is seen.
    let (results, _) = seen(Builder::new(), || {
        let (sender, receiver) = mpsc::channel();
        let sender = Arc::new(Mutex::new(sender));
        let other = thread::spawn({
            let sender = sender.clone();
            move || sender.lock().unwrap().send(1).is_ok()
        });
        drop(sender);
        let first = receiver.try_recv();
        drop(receiver);
        (format!("{first:?}"), other.join().unwrap())
    });
    assert_eq!(results.len(), 3, "{results:?}");
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Clone,
    Drop,
    Look,
    Downgrade,
    Upgrade,
    Unwrap,
    Change,
}

fn perform(acts: &[Act], first: Arc<usize>, mut weak: Vec<Weak<usize>>) -> Vec<usize> {
    let mut seen = Vec::new();
    let mut owned = vec![first];
    for act in acts {
        match (act, owned.pop()) {
            (Act::Upgrade, last) => {
                owned.extend(last);
                let upgraded = weak.last().and_then(Weak::upgrade);
                seen.push(usize::from(upgraded.is_some()));
                owned.extend(upgraded);
            }
            (_, None) => {}
            (Act::Clone, Some(last)) => owned.extend([last.clone(), last]),
            (Act::Drop, Some(_)) => {}
            (Act::Look, Some(last)) => {
                seen.push(Arc::strong_count(&last));
                owned.push(last);
            }
            (Act::Downgrade, Some(last)) => {
                weak.push(Arc::downgrade(&last));
                owned.push(last);
            }
            (Act::Unwrap, Some(last)) => match Arc::try_unwrap(last) {
                Ok(value) => seen.push(100 + value),
                Err(last) => owned.push(last),
            },
            (Act::Change, Some(mut last)) => {
                seen.push(usize::from(Arc::get_mut(&mut last).is_some()));
                owned.push(last);
            }
        }
    }
    seen
}

#[test]
fn every_algorithm_sees_what_a_full_search_sees() {
    let mut seed = 1u64;
    let mut below = |n: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    };
    use Act::{Change, Clone, Downgrade, Drop, Look, Unwrap, Upgrade};
    let all = [Clone, Drop, Drop, Look, Downgrade, Upgrade, Unwrap, Change];
    let (mut n, mut different) = (0, 0);
    while n < 150 {
        let threads: [Vec<Act>; 2] =
            std::array::from_fn(|_| (0..1 + below(3)).map(|_| all[below(8) as usize]).collect());
        let results = |algorithm, max_runs| {
            let (threads, all) = (threads.clone(), std::sync::Arc::new(Plain::new(BTreeSet::new())));
            let into = all.clone();
            let report = Builder::new().algorithm(algorithm).max_runs(max_runs).check(move || {
                let data = Arc::new(3);
                let (weak, first) = (Arc::downgrade(&data), threads[0].clone());
                let other = thread::spawn({
                    let (data, weak) = (data.clone(), weak.clone());
                    move || perform(&first, data, vec![weak])
                });
                let mine = perform(&threads[1], data, vec![weak]);
                let both = (mine, other.join().unwrap());
                into.lock().unwrap().insert(both);
            });
            let all = all.lock().unwrap().clone();
            matches!(report.verdict, Verdict::Holds).then_some(all)
        };
        let Some(expected) = results(Algorithm::Dfs, 1000) else { continue };
        n += 1;
        different += usize::from(expected.len() > 1);
        for algorithm in Algorithm::ALL {
            assert_eq!(
                results(algorithm, 20_000).as_ref(),
                Some(&expected),
                "{} {threads:?}",
                algorithm.word()
            );
        }
    }
    assert!(different > 50, "{different}");
}

trait Speaks: Send + Sync {
    fn word(&self) -> &'static str;
}

struct Dog;

impl Speaks for Dog {
    fn word(&self) -> &'static str {
        "woof"
    }
}

#[test]
fn owners_of_a_type_become_owners_of_a_trait_and_are_counted_together() {
    let (results, _) = seen(Builder::new(), || {
        let dog = Arc::new(Dog);
        let speaker: Arc<dyn Speaks> = Arc::coerce(dog.clone(), |data| data);
        let weak: Weak<dyn Speaks> = Weak::coerce(Arc::downgrade(&dog), |data| data);
        let other = thread::spawn(move || speaker.word());
        let count = Arc::strong_count(&dog);
        assert_eq!(other.join().unwrap(), "woof");
        assert_eq!(weak.upgrade().map(|dog| dog.word()), Some("woof"));
        drop(dog);
        assert!(weak.upgrade().is_none());
        count
    });
    assert_eq!(results, [1, 2]);
}

#[test]
fn boxes_become_owners_and_anything_becomes_what_it_was() {
    let (results, _) = seen(Builder::new(), || {
        let speaker: Arc<dyn Speaks> = Arc::from(Box::new(Dog) as Box<dyn Speaks>);
        let any: Arc<dyn std::any::Any + Send + Sync> = Arc::coerce(Arc::new(7u8), |data| data);
        let wrong = any.downcast::<u16>();
        let number = wrong.expect_err("it is none").downcast::<u8>().expect("it is one");
        let slice: Arc<[u8]> = Arc::coerce(Arc::new([1, 2, 3]), |data| data);
        (speaker.word(), *number, slice.len())
    });
    assert_eq!(results, [("woof", 7, 3)]);
}
