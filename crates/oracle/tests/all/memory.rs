//! A limit on memory is one for all of it: what the packed engine remembers counts, and a process stays near its limit. Each
//! search has a process of its own, because what a process has used is not told test by test.

use std::process::Command;
use stubborn_explore::{End, Limits, Stop, Unwatched};
use stubborn_oracle::promela::compiled;
use stubborn_verdict::{EngineKind, Options, Verdict, analyse};

/// Five counters, and ten processes that look at three of them each, so there is much to be remembered.
fn counters() -> String {
    let names = ["a", "b", "c", "d", "e"];
    let mut text = String::from("byte a, b, c, d, e;\n");
    for (i, x) in names.iter().enumerate() {
        text += &format!("active proctype Count{i}() {{ do :: {x} = ({x} + 1) % 41 od }}\n");
        for (j, y) in names.iter().enumerate().skip(i + 1) {
            for (k, z) in names.iter().enumerate().skip(j + 1) {
                let is_hit = format!("({x} * {y} + {z}) % 41 == 40");
                text += &format!("active proctype Look{i}{j}{k}() {{ do :: {is_hit} -> {x} = 0 od }}\n");
            }
        }
    }
    text
}

/// Bytes that a search may use.
const LIMIT: usize = 48 << 20;

/// Tells a process of this test how many threads it is to search with.
const THREADS: &str = "STUBBORN_TEST_MEMORY_THREADS";

/// The name of the test, for a process that is to run nothing else.
const NAME: &str = "memory::what_is_remembered_is_within_the_limit_on_memory";

/// The largest amount of memory that this process has ever used, in bytes, without the pages of its program: which of them are
/// read is not a matter of the search.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = |key: &str| {
        let line = status.lines().find(|line| line.starts_with(key))?;
        line.split_whitespace().nth(1)?.parse::<usize>().ok()
    };
    Some(kilobytes("VmHWM:")?.saturating_sub(kilobytes("RssFile:")?) * 1024)
}

/// Searches with these threads, and what became of it.
fn search(threads: usize) {
    let (network, _) = compiled(&counters(), &[]).expect("it is right");
    let before = peak();
    let limits = Limits { bytes: LIMIT, ..Limits::default() };
    let options = Options { engine: EngineKind::Packed, threads, limits, ..Options::default() };
    let analysis = analyse(&network, &options, &mut Unwatched).expect("no fault");
    let phase = &analysis.phases[0];
    assert_eq!((phase.threads, phase.key_words), (threads, Some(1)));
    assert!(matches!(phase.end, End::Stopped(Stop::Memory { .. })), "{:?}", phase.end);
    assert!(analysis.answers.iter().all(|answer| matches!(answer.verdict, Verdict::Inconclusive(_))));
    // What is learned between two looks may be a little more than there was room for.
    let most = LIMIT + LIMIT / 64;
    assert!(phase.stats.states > 1_000_000 && phase.stats.peak_bytes <= most, "{:?}", phase.stats);
    if let (Some(before), Some(after)) = (before, peak()) {
        println!("{} of {LIMIT} bytes, {} by its own account", after - before, phase.stats.peak_bytes);
        // Regions of the table that are small are moved by the allocator when they grow, which leaves holes: a tenth of the
        // limit, and up to a fifth if the threads grow theirs at the same time.
        assert!(after - before < LIMIT + LIMIT / 4);
    }
}

#[test]
fn what_is_remembered_is_within_the_limit_on_memory() {
    // This test alone, in a process that does nothing else: an allocator does not give everything back that a search has used.
    if let Ok(threads) = std::env::var(THREADS) {
        return search(threads.parse().expect("a number"));
    }
    for threads in ["1", "2"] {
        let mut command = Command::new(std::env::current_exe().expect("a path"));
        let done = command
            .args(["--exact", NAME, "--nocapture"])
            .env(THREADS, threads)
            .output()
            .expect("it can be started");
        let said =
            [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(done.status.success() && said.contains("by its own account"), "{threads} threads: {said}");
        println!("{threads} threads: {said}");
    }
}
