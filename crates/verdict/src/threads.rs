//! Searches by several threads: when, and what each of them does.

use crate::phase::{Checks, is_simple};
use crate::{Options, SearchKind, StoreKind};
use std::cell::RefCell;
use std::fmt;
use stubborn_explore::{Crew, Scout, SiftingScout, Work};
use stubborn_packed::{Packed, Team};
use stubborn_reduce::{Sieve, Sieves};
use stubborn_system::{Batch, Fault, Observed, Question, Shared, System, Vector};

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
    /// Threads cannot choose the same.
    Reduction,
    /// Something had to be looked after so that it is not ignored, or choices turned out to depend on others.
    Unsteady,
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
            Self::Reduction => "with this reduction threads would not choose the same",
            Self::Unsteady => {
                "something would be put off for ever, and who looks after it first makes a difference"
            }
            Self::Question => "threads answer questions about single states only",
            Self::Engine => "threads need packed states, which this search did not have",
        })
    }
}

/// Why one thread must do, if it must. `can_choose`: threads can do what the reduction does.
pub(crate) fn must_be_one(questions: &[Question], can_choose: bool, options: &Options) -> Option<OneThread> {
    if options.search != SearchKind::BreadthFirst {
        Some(OneThread::Search)
    } else if options.store != StoreKind::Exact {
        Some(OneThread::Store)
    } else if !is_simple(questions, options) {
        Some(OneThread::Question)
    } else if !can_choose {
        Some(OneThread::Reduction)
    } else {
        None
    }
}

/// Whether it matters to one of the questions that something may be put off for ever.
pub(crate) fn minds_ignoring(questions: &[Question]) -> bool {
    questions.contains(&Question::Safety)
}

/// A scout of what a sieve leaves.
fn sifting<'a, 'y, Y: Observed + ?Sized, const N: usize>(
    packed: &'a Packed<'y, Y, N>,
    questions: &[Question],
    sieve: &'a mut dyn Sieve<Y::State>,
) -> SiftingScout<'a, 'y, Y, Checks<'a, Packed<'y, Y, N>>, N> {
    let may_repair = sieve.may_repair();
    let scout = SiftingScout::new(packed, sieve, Checks::new(packed, questions));
    let scout = if may_repair { scout } else { scout.without_repairs() };
    if minds_ignoring(questions) { scout } else { scout.ignoring() }
}

/// Threads that search on packed keys.
pub(crate) struct Members<'a, S: Vector + ?Sized, const N: usize> {
    pub(crate) shared: &'a dyn Shared<S>,
    pub(crate) team: &'a Team<N>,
    pub(crate) sieves: Option<&'a dyn Sieves<S>>,
    pub(crate) questions: &'a [Question],
    /// Memory that each thread has its part of, in bytes.
    pub(crate) share: usize,
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

    fn join(&self, work: &mut Work<'_, N>) {
        self.shared.lend(&mut |system| {
            let Some(packed) = self.team.member(system) else { return };
            let packed = packed.within(self.share);
            match self.sieves {
                None => work(&mut Scout::new(&packed, Checks::new(&packed, self.questions))),
                Some(sieves) => sieves.lend(&mut |sieve| {
                    work(&mut sifting(&packed, self.questions, sieve).without_repairs());
                }),
            }
            packed.failure().into_iter().for_each(|failure| self.team.report(failure));
        });
    }
}

/// One thread that searches on packed keys.
pub(crate) struct Alone<'a, 'y, Y: Observed + ?Sized, const N: usize> {
    pub(crate) packed: &'a Packed<'y, Y, N>,
    pub(crate) sieve: Option<RefCell<&'a mut dyn Sieve<Y::State>>>,
    pub(crate) questions: &'a [Question],
}

impl<Y: Observed + ?Sized, const N: usize> Crew<N> for Alone<'_, '_, Y, N> {
    fn initial(&self, out: &mut Batch<[u64; N]>) -> Result<(), Fault> {
        self.packed.initial(out)
    }

    fn join(&self, work: &mut Work<'_, N>) {
        match &self.sieve {
            None => work(&mut Scout::new(self.packed, Checks::new(self.packed, self.questions))),
            Some(sieve) => work(&mut sifting(self.packed, self.questions, &mut **sieve.borrow_mut())),
        }
    }
}
