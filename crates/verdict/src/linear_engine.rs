//! One search for a run that an automaton accepts, by either engine.
//!
//! **Implements** nothing of its own: the component search and the nested search are made on states of the system or on keys
//! ([`Packed`]). With keys, the reductions of the system choose through [`OnKeys`], and whoever looks at states (propositions,
//! and who takes part in what) sees the state behind the key. Which letter a state has is remembered by the parts that the
//! propositions looked at.
//! **Preserves** everything but the memory that is used: states are numbered, looked at and expanded in the same order. (A store that
//! is not exact may take other states for one another.) Transitions have the same numbers, so that a run that was found is
//! replayed by the system itself.
//! **Checked by** `cli/tests/all/linear_engines.rs` and the campaign of `cli/tests/all/linear_campaign.rs`.

use crate::attempts::{self, Attempt, by_engine, can_sift};
use crate::phase::make_store;
use crate::{Options, RunProperty};
use stubborn_explore::linear::{
    LinearJob, LinearOutcome, NestedJob, Participants, Processes, nested_search, search,
};
use stubborn_explore::{End, Limits, Stop, Watch};
use stubborn_ltl::{Automaton, Letter};
use stubborn_packed::{Packed, Recall, Sample};
use stubborn_reduce::{OnKeys, Reduction};
use stubborn_store::{Exact, Full, Guarantee, Store};
use stubborn_system::{Composed, Fault, System, TransitionId};

/// How to search.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// For strong components: by a tester or not, and whether only pairs with hope are made.
    Components { tester: bool, selective: bool },
    /// Nested depth-first search, with any store.
    Nested,
}

/// By state of an automaton: the sets that lead on from it, if they are guided.
pub(crate) type Guides<'a, Y> = Vec<Option<Box<dyn Reduction<Y> + 'a>>>;

/// A search for a run.
pub(crate) struct RunSearch<'a, 'g, Y: Composed + ?Sized> {
    pub(crate) reduction: &'a mut dyn Reduction<Y>,
    pub(crate) guides: Guides<'g, Y>,
    pub(crate) property: &'a mut dyn RunProperty<Y::State>,
    pub(crate) fairness: Option<&'a mut dyn Participants<Y::State>>,
    pub(crate) automaton: &'a Automaton,
    pub(crate) order: Order,
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn Watch,
}

/// What a search found, and on what.
pub(crate) struct Found {
    pub(crate) outcome: LinearOutcome,
    pub(crate) guarantee: Guarantee,
    pub(crate) key_words: Option<usize>,
}

/// The same on states of one kind.
struct Job<'a, Z: System + ?Sized> {
    system: &'a Z,
    reduction: &'a mut dyn Reduction<Z>,
    guides: Vec<Option<&'a mut dyn Reduction<Z>>>,
    letter: &'a mut dyn FnMut(&Z::State) -> Result<Letter, Fault>,
    fairness: Option<&'a mut dyn Participants<Z::State>>,
    extends: bool,
    limits: Limits,
}

impl<'y, Y: Composed + ?Sized> RunSearch<'_, '_, Y> {
    /// Searches with the engine that is asked for; an error if there is no room for the store.
    pub(crate) fn run(mut self, system: &'y Y, limits: Limits) -> Result<Found, Full> {
        self.reduction.within(limits.bytes);
        self.guides.iter_mut().flatten().for_each(|guide| guide.within(limits.bytes));
        let mut search = On { system, limits, search: &mut self };
        by_engine(system, search.search.options, limits, &mut search)
    }

    fn begin_again(&mut self) {
        self.reduction.begin_again();
        self.guides.iter_mut().flatten().for_each(|guide| guide.begin_again());
    }
}

/// Searches states of one kind.
fn find<Z: System + ?Sized>(
    job: Job<'_, Z>,
    automaton: &Automaton,
    order: Order,
    options: &Options,
    watch: &mut dyn Watch,
    key_words: Option<usize>,
) -> Result<Found, Full> {
    let Job { system, reduction, guides, letter, fairness, extends, limits } = job;
    let (outcome, guarantee) = match order {
        Order::Components { tester, selective } => {
            let mut store = Exact::new();
            let first_look = options.first_look;
            let outcome = search(LinearJob {
                system,
                reduction,
                store: &mut store,
                letter,
                automaton,
                extends,
                tester,
                guides: guides.into_iter().map(|guide| guide.map(|guide| guide as _)).collect(),
                selective,
                first_look,
                fairness: fairness.map(|fairness| fairness as _),
                watch,
                limits,
            });
            (outcome, Store::<Z::State>::guarantee(&store))
        }
        Order::Nested => {
            let mut store = make_store::<[u8]>(options)?;
            let outcome = nested_search(NestedJob {
                system,
                reduction,
                store: &mut *store,
                letter,
                automaton,
                extends,
                watch,
                limits,
            });
            (outcome, store.guarantee())
        }
    };
    Ok(Found { outcome, guarantee, key_words })
}

/// A search of a system.
struct On<'s, 'a, 'g, 'y, Y: Composed + ?Sized> {
    system: &'y Y,
    limits: Limits,
    search: &'s mut RunSearch<'a, 'g, Y>,
}

impl<'y, Y: Composed + ?Sized> attempts::Search<'y, Y> for On<'_, '_, '_, 'y, Y> {
    type Found = Result<Found, Full>;

    fn can_gain(&self) -> bool {
        let guides = self.search.guides.iter().flatten();
        can_sift(&*self.search.reduction) && guides.into_iter().all(|guide| can_sift(&**guide))
    }

    fn plain(&mut self, limits: Limits, _: bool) -> Self::Found {
        self.search.begin_again();
        let RunSearch { reduction, guides, property, fairness, automaton, order, options, watch } =
            &mut *self.search;
        let extends = property.extends();
        let job = Job {
            system: self.system,
            reduction: &mut **reduction,
            guides: guides.iter_mut().map(|guide| guide.as_mut().map(|guide| &mut **guide as _)).collect(),
            letter: &mut |state| property.letter(state),
            fairness: fairness.as_mut().map(|fairness| &mut **fairness as _),
            extends,
            limits,
        };
        find(job, automaton, *order, options, *watch, None)
    }

    fn is_cut(found: &Self::Found, states: u64) -> bool {
        let end = found.as_ref().ok().map(|found| &found.outcome.end);
        end == Some(&End::Stopped(Stop::States { limit: states }))
    }

    fn attempt<const N: usize>(
        &mut self,
        sample: Sample<'y, Y::State>,
    ) -> Attempt<'y, Y::State, Self::Found> {
        let packed = match Packed::<Y, N>::new(self.system, sample) {
            Ok(packed) => packed.within(self.limits.bytes),
            Err(sample) => return Attempt::Again(sample),
        };
        self.search.begin_again();
        let RunSearch { reduction, guides, property, fairness, automaton, order, options, watch } =
            &mut *self.search;
        let (extends, mut letters) = (property.extends(), Recall::default());
        let mut guides: Vec<_> = guides
            .iter_mut()
            .map(|guide| guide.as_mut().map(|guide| OnKeys::<_, Y::State, N>::new(&mut **guide)))
            .collect();
        let mut fairness = fairness.as_mut().map(|inner| Seen { packed: &packed, inner: &mut **inner });
        let job = Job {
            system: &packed,
            reduction: &mut OnKeys::<_, Y::State, N>::new(&mut **reduction),
            guides: guides.iter_mut().map(|guide| guide.as_mut().map(|guide| guide as _)).collect(),
            letter: &mut |key| {
                packed.recall(&mut letters, key, |state, bytes| {
                    match property.traced_letter(state, bytes)? {
                        Some(letter) => Ok((letter, true)),
                        None => Ok((property.letter(state)?, false)),
                    }
                })
            },
            fairness: fairness.as_mut().map(|fairness| fairness as _),
            extends,
            limits: self.limits,
        };
        let found = find(job, automaton, *order, options, *watch, Some(N));
        drop((guides, fairness));
        Attempt::new(packed, found)
    }
}

/// Who takes part in what, in the states behind keys.
struct Seen<'a, 'y, Y: Composed + ?Sized, const N: usize> {
    packed: &'a Packed<'y, Y, N>,
    inner: &'a mut dyn Participants<Y::State>,
}

impl<Y: Composed + ?Sized, const N: usize> Participants<[u64; N]> for Seen<'_, '_, Y, N> {
    fn participants(
        &mut self,
        key: &[u64; N],
        out: &mut Vec<(TransitionId, Processes)>,
    ) -> Result<(), Fault> {
        self.packed.with_state(key, |state| self.inner.participants(state, out))
    }
}
