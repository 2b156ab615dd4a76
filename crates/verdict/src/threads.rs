//! Searches by several threads: when, and what each of them does.

use crate::phase::{Checks, is_simple};
use crate::{Options, SearchKind, StoreKind};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use stubborn_explore::{Crew, Work};
use stubborn_packed::Team;
use stubborn_reduce::Preserves;
use stubborn_system::{Batch, Fault, Question, Shared, System, Vector};

/// Why a search was made by one thread though there were more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneThread {
    /// It was over soon.
    Small,
    /// Something was seen, and had to be told in order.
    Seen,
    /// The limit on states was reached, and they had to be counted in order.
    Limit,
    /// Threads do not share this order.
    Search,
    /// Threads do not share this store.
    Store,
    /// Threads do not choose together.
    Reduction,
    /// A question is about more than single states.
    Question,
    /// Threads share packed states only, and these were not possible, not wanted, or not worth it.
    Engine,
}

impl fmt::Display for OneThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Small => "the search was over before others were needed",
            Self::Seen => "something was found, and one thread searched again to tell the way to it",
            Self::Limit => "there are more states than the limit, and one thread searched again in order",
            Self::Search => "threads search breadth-first only",
            Self::Store => "threads do not share this store",
            Self::Reduction => "threads search without reduction only",
            Self::Question => "threads answer questions about single states only",
            Self::Engine => "threads need packed states, which this search did not have",
        })
    }
}

/// Why one thread must do, if it must.
pub(crate) fn must_be_one(
    questions: &[Question],
    preserves: Preserves,
    options: &Options,
) -> Option<OneThread> {
    if options.search != SearchKind::BreadthFirst {
        Some(OneThread::Search)
    } else if options.store != StoreKind::Exact {
        Some(OneThread::Store)
    } else if preserves.is_reduced() {
        Some(OneThread::Reduction)
    } else if !is_simple(questions, preserves, options) {
        Some(OneThread::Question)
    } else {
        None
    }
}

/// Threads that search on packed keys.
pub(crate) struct Members<'a, S: Vector + ?Sized, const N: usize> {
    shared: &'a dyn Shared<S>,
    team: &'a Team<N>,
    questions: &'a [Question],
    /// Memory that each thread has its part of, and how much all remember, in bytes.
    share: usize,
    remembered: AtomicUsize,
}

/// States that a thread expands between two looks at how much it remembers.
const LOOK: u32 = 1 << 8;

impl<'a, S: Vector + ?Sized, const N: usize> Members<'a, S, N> {
    /// Threads that have a share of the memory each.
    pub(crate) fn new(
        shared: &'a dyn Shared<S>,
        team: &'a Team<N>,
        questions: &'a [Question],
        share: usize,
    ) -> Self {
        Self { shared, team, questions, share, remembered: AtomicUsize::new(0) }
    }
}

impl<S: Vector + ?Sized, const N: usize> Crew<N> for Members<'_, S, N> {
    fn initial(&self, out: &mut Batch<[u64; N]>) -> Result<(), Fault> {
        let mut done = Err(Fault::Broken("there is no system for other threads".into()));
        self.shared.lend(&mut |system| {
            if let Some(packed) = self.team.member(system) {
                done = packed.initial(out);
            }
        });
        done
    }

    fn bytes(&self) -> usize {
        self.remembered.load(Relaxed)
    }

    fn join(&self, work: &mut Work<'_, N>) {
        self.shared.lend(&mut |system| {
            let Some(packed) = self.team.member(system) else { return };
            let packed = packed.within(self.share);
            let mut visitor = Checks::new(&packed, self.questions);
            let (mut n_expanded, mut counted) = (0u32, 0);
            let mut expand = |key: &[u64; N], out: &mut Batch<[u64; N]>| {
                n_expanded = n_expanded.wrapping_add(1);
                if n_expanded.is_multiple_of(LOOK) {
                    let now = packed.bytes();
                    self.remembered.fetch_add(now.wrapping_sub(counted), Relaxed);
                    counted = now;
                }
                packed.successors(key, out)
            };
            work(&mut expand, &mut visitor);
            packed.failure().into_iter().for_each(|failure| self.team.report(failure));
        });
    }
}
