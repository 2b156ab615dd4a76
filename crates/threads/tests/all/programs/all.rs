// The programs themselves. The file is included where `sync` and `thread` are those of an explorer: the benchmarks include
// it once for each.

/// Philosophers who take the left fork first: a deadlock. With `ordered`, the last one takes the right one first.
pub(crate) fn philosophers(n: usize, ordered: bool) {
    let forks: Vec<_> = (0..n).map(|_| Arc::new(Mutex::new(()))).collect();
    let threads: Vec<_> = (0..n)
        .map(|i| {
            let (mut left, mut right) = (forks[i].clone(), forks[(i + 1) % n].clone());
            if ordered && i + 1 == n {
                std::mem::swap(&mut left, &mut right);
            }
            thread::spawn(move || {
                let _left = left.lock().unwrap();
                let _right = right.lock().unwrap();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

struct Buffer {
    messages: Mutex<usize>,
    not_full: Condvar,
    not_empty: Condvar,
}

/// Producers and consumers over a buffer for one message, a mutex and two condition variables.
pub(crate) fn fifo(producers: usize, consumers: usize, messages: usize) {
    let buffer =
        Arc::new(Buffer { messages: Mutex::new(0), not_full: Condvar::new(), not_empty: Condvar::new() });
    let total = producers * messages;
    let mut threads = Vec::new();
    for _ in 0..producers {
        let buffer = buffer.clone();
        threads.push(thread::spawn(move || {
            for _ in 0..messages {
                let mut n = buffer.messages.lock().unwrap();
                while *n == 1 {
                    n = buffer.not_full.wait(n).unwrap();
                }
                *n += 1;
                buffer.not_empty.notify_one();
            }
        }));
    }
    for _ in 0..consumers {
        let buffer = buffer.clone();
        threads.push(thread::spawn(move || {
            for _ in 0..total / consumers {
                let mut n = buffer.messages.lock().unwrap();
                while *n == 0 {
                    n = buffer.not_empty.wait(n).unwrap();
                }
                *n -= 1;
                buffer.not_full.notify_one();
            }
        }));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// The same with one condition variable for both: a notification can wake the wrong one.
pub(crate) fn fifo_with_a_mistake(producers: usize, consumers: usize) {
    let buffer = Arc::new((Mutex::new(0), Condvar::new()));
    let mut threads = Vec::new();
    for i in 0..producers + consumers {
        let buffer = buffer.clone();
        let from = usize::from(i < producers);
        threads.push(thread::spawn(move || {
            let (messages, changed) = &*buffer;
            let mut n = messages.lock().unwrap();
            while *n == from {
                n = changed.wait(n).unwrap();
            }
            *n = from;
            changed.notify_one();
        }));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// The indexer of Flanagan and Godefroid: threads insert numbers into a hash table of 128 places.
pub(crate) fn indexer(n: usize) {
    const SIZE: usize = 128;
    let table: Arc<Vec<AtomicUsize>> = Arc::new((0..SIZE).map(|_| AtomicUsize::new(0)).collect());
    let threads: Vec<_> = (0..n)
        .map(|id| {
            let table = table.clone();
            thread::spawn(move || {
                for m in 1..=4 {
                    let message = m * 11 + id;
                    let mut place = (message * 7) % SIZE;
                    while table[place].compare_exchange(0, message, SeqCst, SeqCst).is_err() {
                        place = (place + 1) % SIZE;
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// One writer and `n` readers.
pub(crate) fn readers(n: usize) {
    let x = Arc::new(AtomicUsize::new(0));
    let mut threads = Vec::new();
    let writer = x.clone();
    threads.push(thread::spawn(move || writer.store(1, SeqCst)));
    for _ in 0..n {
        let x = x.clone();
        threads.push(thread::spawn(move || {
            x.load(SeqCst);
        }));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Readers of a lock: nothing to choose.
pub(crate) fn lock_readers(n: usize) {
    let lock = Arc::new(RwLock::new(0));
    let threads: Vec<_> = (0..n)
        .map(|_| {
            let lock = lock.clone();
            thread::spawn(move || *lock.read().unwrap())
        })
        .collect();
    threads.into_iter().for_each(|thread| {
        thread.join().unwrap();
    });
}

/// The last zero of an array that is being filled (Abdulla and others, 2014).
pub(crate) fn last_zero(n: usize) {
    let array: Arc<Vec<AtomicUsize>> = Arc::new((0..=n).map(|_| AtomicUsize::new(0)).collect());
    let mut threads = Vec::new();
    let reader = array.clone();
    threads.push(thread::spawn(move || {
        let mut i = n;
        while reader[i].load(SeqCst) != 0 {
            i -= 1;
        }
    }));
    for j in 1..=n {
        let array = array.clone();
        threads.push(thread::spawn(move || {
            let before = array[j - 1].load(SeqCst);
            array[j].store(before + 1, SeqCst);
        }));
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Threads that add to a counter under a lock.
pub(crate) fn counter(n: usize, times: usize) {
    let sum = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..n)
        .map(|_| {
            let sum = sum.clone();
            thread::spawn(move || {
                for _ in 0..times {
                    *sum.lock().unwrap() += 1;
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*sum.lock().unwrap(), n * times);
}

/// Threads with variables of their own.
pub(crate) fn private(n: usize, times: usize) {
    let variables: Arc<Vec<AtomicBool>> = Arc::new((0..n).map(|_| AtomicBool::new(false)).collect());
    let threads: Vec<_> = (0..n)
        .map(|i| {
            let variables = variables.clone();
            thread::spawn(move || {
                for _ in 0..times {
                    variables[i].store(true, SeqCst);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
