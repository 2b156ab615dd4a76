//! Several workers, each with the runs that begin in its own way.
//!
//! **Implements** a split of the search tree: all beginnings of some length, reduced by sleep sets only, so that the
//! trees below them do not depend on each other and no race of one worker asks for runs of another. Sleep sets go
//! along with each beginning, so nothing is run twice that one worker would not run twice.
//! **Preserves** what the algorithm preserves. The number of complete runs is that of one worker, except that
//! repetitions may be more.

use super::node::{Choice, Node};
use super::run::Ended;
use super::search::Explorer;
use super::{Algorithm, Found, Options, Outcome, Stats};
use crate::program::Program;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Beginnings are at most so long.
const MAX_DEPTH: usize = 12;

/// Explores with several operating system threads, each with its own copy of the program.
pub fn explore_parallel<P: Program>(
    make: &(dyn Fn() -> P + Sync),
    options: &Options,
    workers: usize,
) -> Outcome {
    let whole = || Explorer::new(&mut make(), options.clone()).explore();
    if workers < 2 || options.random.is_some() || options.algorithm.is_persistent() {
        return whole();
    }
    let (jobs, mut stats, found) = split(make, options, workers * 8);
    if let Some(found) = found {
        return Outcome { found, stats };
    }
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Outcome)>> = Mutex::new(Vec::new());
    let options = Options { stop: std::sync::Arc::default(), ..options.clone() };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut program = make();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(i) else { return };
                    let mut search = Explorer::new(&mut program, options.clone());
                    search.floor = job.len();
                    search.nodes = job.clone();
                    let outcome = search.explore();
                    if !matches!(outcome.found, Found::Nothing) && !options.keep_going {
                        options.stop.store(true, Ordering::Relaxed);
                    }
                    results.lock().unwrap_or_else(|poison| poison.into_inner()).push((i, outcome));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|poison| poison.into_inner());
    results.sort_by_key(|(i, _)| *i);
    results.iter().for_each(|(_, outcome)| add(&mut stats, outcome.stats));
    let rank = |found: &Found| match found {
        Found::Failure(..) => 2,
        Found::Inconclusive(super::Why::Stopped) => 0,
        Found::Inconclusive(_) => 1,
        Found::Nothing => 0,
    };
    let worst = results.iter().map(|(_, outcome)| rank(&outcome.found)).max().unwrap_or(0);
    let first = results.into_iter().map(|(_, outcome)| outcome.found).find(|found| rank(found) == worst);
    Outcome { found: first.unwrap_or(Found::Nothing), stats }
}

fn add(stats: &mut Stats, more: Stats) {
    stats.runs += more.runs;
    stats.blocked += more.blocked;
    stats.cut += more.cut;
    stats.restarts += more.restarts;
    stats.steps += more.steps;
    stats.longest = stats.longest.max(more.longest);
}

type Jobs = Vec<Vec<Node>>;

/// Beginnings, at least `n` if there are so many; what ended before is counted.
fn split<P: Program>(
    make: &(dyn Fn() -> P + Sync),
    options: &Options,
    n: usize,
) -> (Jobs, Stats, Option<Found>) {
    let mut program = make();
    for depth in 1.. {
        let algorithm = if options.algorithm == Algorithm::Dfs { Algorithm::Dfs } else { Algorithm::Sleep };
        let options = Options { algorithm, check_determinism: false, ..options.clone() };
        let mut search = Explorer::new(&mut program, options);
        let (jobs, found) = search.beginnings(depth);
        if found.is_some() || jobs.len() >= n || jobs.is_empty() || depth >= MAX_DEPTH {
            return (jobs, search.stats, found);
        }
    }
    unreachable!("the last depth returns")
}

impl<P: Program + ?Sized> Explorer<'_, P> {
    /// All beginnings of a length, and the first failure of a run that is not so long.
    fn beginnings(&mut self, depth: usize) -> (Jobs, Option<Found>) {
        let mut jobs = Vec::new();
        loop {
            if let Some(why) = self.limit() {
                return (jobs, Some(Found::Inconclusive(why)));
            }
            match self.begin(depth, &mut jobs) {
                Ended::At(_) if self.nodes.len() == depth => {}
                ended => {
                    if let Some((failure, schedule)) = self.conclude(ended) {
                        return (jobs, Some(Found::of(failure, schedule)));
                    }
                }
            }
            if !self.backtrack() {
                return (jobs, None);
            }
        }
    }

    /// One beginning.
    fn begin(&mut self, depth: usize, jobs: &mut Jobs) -> Ended {
        if let Err(failure) = self.start_over() {
            return Ended::Failed(failure);
        }
        loop {
            let enabled = self.world.enabled().clone();
            if enabled.is_empty() {
                self.program.finish();
                // Counted by the worker, if it is a beginning of the right length.
                let end = self.end();
                if self.nodes.len() == depth {
                    jobs.push(self.nodes.clone());
                }
                return Ended::At(end);
            }
            if self.nodes.len() == depth {
                jobs.push(self.nodes.clone());
                return match self.drain() {
                    Ended::Blocked => Ended::At(super::End::Complete),
                    ended => ended,
                };
            }
            match self.node(enabled) {
                Choice::Made(node) => self.nodes.push(node),
                Choice::Blocked | Choice::Cut => return self.drain(),
            }
            if let Err(failure) = self.step(self.nodes.len() - 1) {
                return Ended::Failed(failure);
            }
        }
    }
}
