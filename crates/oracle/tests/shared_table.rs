//! The table that threads share, in every interleaving of its atomic operations: each key is new for exactly one thread, and
//! none is lost. Mistakes that are planted in how slots are taken must be found.

use stubborn_store::{LastWordLast, Protocol, Table, Word};
use stubborn_system::Vector;
use stubborn_threads::sync::Arc;
use stubborn_threads::sync::atomic::{AtomicU64, Ordering::SeqCst};
use stubborn_threads::{Builder, Report, Verdict, hint, thread};

/// An atomic whose every interleaving is tried.
struct Tried(AtomicU64);

impl Word for Tried {
    #[track_caller]
    fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    fn load(&self) -> u64 {
        self.0.load(SeqCst)
    }

    fn store(&self, value: u64) {
        self.0.store(value, SeqCst);
    }

    fn claim(&self, value: u64) -> Result<(), u64> {
        self.0.compare_exchange(0, value, SeqCst, SeqCst).map(|_| ())
    }

    fn get_mut(&mut self) -> &mut u64 {
        self.0.get_mut()
    }

    fn wait(_: u32) {
        hint::spin_loop();
    }
}

/// Makes slots valid before their keys are written.
struct LastWordFirst;

impl Protocol for LastWordFirst {
    fn publish<W: Word, const N: usize>(slot: &[W], key: &[u64; N]) {
        for (word, &value) in slot.iter().zip(key).rev() {
            word.store(value);
        }
    }
}

/// Takes a slot that was free a moment ago.
struct LookThenTake;

impl Protocol for LookThenTake {
    fn claim<W: Word>(last: &W, mark: u64) -> Result<(), u64> {
        let now = last.load();
        if now == 0 {
            last.store(mark);
            Ok(())
        } else {
            Err(now)
        }
    }
}

/// Keys that one thread has inserted already, and then those of each thread.
#[derive(Clone)]
struct Case<const N: usize> {
    n_lines: usize,
    first: Vec<[u64; N]>,
    threads: Vec<Vec<[u64; N]>>,
}

/// Explores a case. Runs fail if a key is new for two threads or for none.
fn explored<const N: usize, P: Protocol + 'static>(case: &Case<N>) -> Report {
    let case = case.clone();
    Builder::new().check(move || {
        let table = Arc::new(Table::<Tried, N, P>::new(case.n_lines));
        for key in &case.first {
            assert!(table.insert(key.hash64(), key));
        }
        let insert = |table: &Table<Tried, N, P>, keys: &[[u64; N]]| {
            keys.iter().copied().filter(|key| table.insert(key.hash64(), key)).collect::<Vec<_>>()
        };
        let others: Vec<_> = case.threads[1..]
            .iter()
            .map(|keys| {
                let (table, keys) = (table.clone(), keys.clone());
                thread::spawn(move || insert(&table, &keys))
            })
            .collect();
        let mut new = insert(&table, &case.threads[0]);
        others.into_iter().for_each(|other| new.extend(other.join().unwrap()));
        new.sort_unstable();
        let mut expected: Vec<[u64; N]> = case.threads.concat();
        expected.sort_unstable();
        expected.dedup();
        expected.retain(|key| !case.first.contains(key));
        assert_eq!(new, expected, "each key is new once");
        for key in case.first.iter().chain(&expected) {
            assert!(!table.insert(key.hash64(), key), "a key is lost");
        }
    })
}

/// Keys that are all different.
fn keys<const N: usize>(range: std::ops::Range<u64>) -> Vec<[u64; N]> {
    range.map(|i| std::array::from_fn(|word| if word + 1 < N { i / 2 } else { i })).collect()
}

/// Two and three threads with keys in common; an empty table, one whose line is nearly full, one whose line is full.
fn cases<const N: usize>() -> Vec<Case<N>> {
    let k = |i: u64| keys::<N>(i..i + 1)[0];
    let per_line = 8 / N;
    let pairs = [
        vec![vec![k(100)], vec![k(100)]],
        vec![vec![k(100)], vec![k(101)]],
        vec![vec![k(100), k(101)], vec![k(101), k(100)]],
    ];
    let three =
        vec![vec![vec![k(100)], vec![k(100)], vec![k(100)]], vec![vec![k(100)], vec![k(101)], vec![k(100)]]];
    let mut cases = Vec::new();
    for (n_lines, n_first) in [(1, 0), (1, per_line - 2), (2, per_line - 1), (2, per_line)] {
        for threads in pairs.iter().chain(&three) {
            let first = keys(0..n_first as u64);
            cases.push(Case { n_lines, first, threads: threads.clone() });
        }
    }
    cases
}

fn holds<const N: usize>() {
    let mut n_runs = 0;
    for case in cases::<N>() {
        let report = explored::<N, LastWordLast>(&case);
        assert!(matches!(report.verdict, Verdict::Holds), "{report}");
        n_runs += report.stats.runs;
    }
    println!("{N} words: {n_runs} runs");
    assert!(n_runs > 100, "{n_runs} runs");
}

/// In how many cases the mistake is found.
fn n_found<const N: usize, P: Protocol + 'static>() -> usize {
    cases::<N>().iter().filter(|case| explored::<N, P>(case).counterexample().is_some()).count()
}

#[test]
fn keys_of_one_word_are_new_for_one_thread() {
    holds::<1>();
}

#[test]
fn keys_of_two_words_are_new_for_one_thread() {
    holds::<2>();
}

#[test]
fn keys_of_four_words_are_new_for_one_thread() {
    holds::<4>();
}

#[test]
fn a_slot_that_is_made_valid_too_early_is_found_out() {
    assert!(n_found::<2, LastWordFirst>() > 0);
    assert!(n_found::<4, LastWordFirst>() > 0);
}

#[test]
fn a_slot_that_is_claimed_by_a_read_and_a_write_is_found_out() {
    assert!(n_found::<1, LookThenTake>() > 0);
    assert!(n_found::<2, LookThenTake>() > 0);
    assert!(n_found::<4, LookThenTake>() > 0);
}
