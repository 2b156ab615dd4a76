//! One search for rejected states and deadlocks, by either engine.
//!
//! **Implements** nothing of its own: the search is made on states of the system or on keys ([`Packed`]). Without reduction and
//! breadth-first it only asks which states there are, until something is seen; then it begins again in order, to tell the way.
//! With reduction, sets are chosen by the state behind the key. That no condition holds in a state is remembered by the parts that
//! they are about.
//! **Preserves** everything but time and memory: transitions have the same numbers and come in the same order.
//! **Checked by** `oracle/tests/all/packed.rs` and `oracle/tests/all/testers.rs`.

use crate::attempts::{self, Attempt, by_engine};
use crate::engine::Lean;
use crate::phase::make_store;
use crate::{Options, SearchKind, StoreKind};
use stubborn_explore::{
    Crew, End, Job, Keep, Limits, Outcome, Scout, Sighting, Stop, Visitor, Watch, Work, breadth_first,
    breadth_first_alone, depth_first,
};
use stubborn_packed::{Packed, Recall, Sample};
use stubborn_reduce::{OnKeys, Preserves, Reduction};
use stubborn_store::{Full, Guarantee};
use stubborn_system::{Batch, Fault, Rejecting, RejectionKind, System};

/// A search for states that are rejected.
pub(crate) struct StateSearch<'a, 'y, Y: Rejecting + ?Sized> {
    pub(crate) system: &'y Y,
    pub(crate) reduction: &'a mut (dyn Reduction<Y> + 'a),
    /// The rejections that are looked for.
    pub(crate) open: &'a [usize],
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn Watch,
}

/// What it found, and on what.
pub(crate) struct StatesFound {
    pub(crate) outcome: Outcome,
    /// By rejection: whether it was seen, reported or not.
    pub(crate) seen: Vec<bool>,
    pub(crate) guarantee: Guarantee,
    pub(crate) store: StoreKind,
    pub(crate) key_words: Option<usize>,
}

impl<Y: Rejecting + ?Sized> StateSearch<'_, '_, Y> {
    /// Searches with the engine that is asked for; an error if there is no room for the store.
    pub(crate) fn run(mut self) -> Result<StatesFound, Full> {
        let (system, options) = (self.system, self.options);
        by_engine(system, options, options.limits, &mut self)
    }

    /// Whether nobody needs numbers of states unless something is seen.
    fn is_simple(&self) -> bool {
        self.reduction.preserves() == Preserves::Everything
            && self.options.search == SearchKind::BreadthFirst
            && self.options.store.is_exact()
    }

    /// Searches for states alone.
    fn alone<const N: usize>(&mut self, packed: &Packed<'_, Y, N>) -> Lean {
        let crew = Alone { packed, system: self.system, open: self.open };
        let limits = self.options.limits;
        let store = self.options.store.key_set();
        let ended = breadth_first_alone(&crew, &store, limits, self.watch);
        packed.failure().map_or_else(|| Lean::new(ended, 1, false), Lean::Failed)
    }
}

/// Searches states of one kind, in order.
fn in_order<Z: System + ?Sized>(
    system: &Z,
    reduction: &mut dyn Reduction<Z>,
    visitor: &mut dyn Visitor<Z::State>,
    options: &Options,
    limits: Limits,
    watch: &mut dyn Watch,
) -> Result<(Outcome, Guarantee), Full> {
    let mut store = make_store::<Z::State>(options)?;
    let job = Job {
        system,
        reduction,
        store: &mut *store,
        visitor,
        watch,
        limits,
        keep: Keep::Nothing,
        all_errors: options.all_errors,
        no_ignoring: false,
    };
    let outcome = match options.search {
        SearchKind::BreadthFirst => breadth_first(job),
        SearchKind::DepthFirst => depth_first(job),
    };
    Ok((outcome, store.guarantee()))
}

impl<'y, Y: Rejecting + ?Sized> attempts::Search<'y, Y> for StateSearch<'_, 'y, Y> {
    type Found = Result<StatesFound, Full>;

    /// In order, keys save a tenth of the time and take more memory; sets are chosen by states, whoever makes the successors.
    fn can_gain(&self) -> bool {
        self.is_simple()
    }

    fn plain(&mut self, limits: Limits, _: bool) -> Self::Found {
        self.reduction.begin_again();
        let mut look = Look::new(self.system, self.open);
        let (options, store) = (self.options, self.options.store.with_numbers());
        let (outcome, guarantee) =
            in_order(self.system, self.reduction, &mut look, options, limits, self.watch)?;
        Ok(StatesFound { outcome, seen: look.seen, guarantee, store, key_words: None })
    }

    fn is_cut(found: &Self::Found, states: u64) -> bool {
        let end = found.as_ref().ok().map(|found| &found.outcome.end);
        end == Some(&End::Stopped(Stop::States { limit: states }))
    }

    fn attempt<const N: usize>(
        &mut self,
        sample: Sample<'y, Y::State>,
    ) -> Attempt<'y, Y::State, Self::Found> {
        let (options, limits) = (self.options, self.options.limits);
        let packed = match Packed::<Y, N>::new(self.system, sample) {
            Ok(packed) => packed.within(limits.bytes),
            Err(sample) => return Attempt::Again(sample),
        };
        let key_words = Some(N);
        if self.is_simple() {
            match self.alone(&packed) {
                Lean::Failed(failure) => return Attempt::after(failure, || packed.into_sample()),
                Lean::InOrder(_) => {}
                Lean::Made(made) => {
                    let seen = vec![false; self.system.rejections().len()];
                    let (outcome, guarantee, store) = (made.0, Guarantee::Exact, options.store);
                    return Attempt::Done(Ok(StatesFound { outcome, seen, guarantee, store, key_words }));
                }
            }
        }
        self.reduction.begin_again();
        let mut look = LookAtKeys::new(Look::new(self.system, self.open), &packed);
        let mut reduction = OnKeys::<_, Y::State, N>::new(&mut *self.reduction);
        let done = in_order(&packed, &mut reduction, &mut look, options, limits, self.watch);
        let (seen, store) = (look.look.seen, options.store.with_numbers());
        let found =
            done.map(|(outcome, guarantee)| StatesFound { outcome, seen, guarantee, store, key_words });
        Attempt::new(packed, found)
    }
}

/// One thread that searches on keys.
struct Alone<'a, 'y, Y: System + ?Sized, const N: usize> {
    packed: &'a Packed<'y, Y, N>,
    system: &'a Y,
    open: &'a [usize],
}

impl<Y: Rejecting + ?Sized, const N: usize> Crew<N> for Alone<'_, '_, Y, N> {
    fn initial(&self, out: &mut Batch<[u64; N]>) -> Result<(), Fault> {
        self.packed.initial(out)
    }

    fn join(&self, work: &mut Work<'_, N>) {
        let look = LookAtKeys::new(Look::new(self.system, self.open), self.packed);
        work(&mut Scout::new(self.packed, look));
    }
}

/// Looks at states for the rejections that are open. Each is reported where it is seen first, or not at all: if
/// several are seen first in one state, one of them is reported.
struct Look<'a, Y: ?Sized> {
    system: &'a Y,
    open: &'a [usize],
    seen: Vec<bool>,
}

impl<'a, Y: Rejecting + ?Sized> Look<'a, Y> {
    fn new(system: &'a Y, open: &'a [usize]) -> Self {
        Self { system, open, seen: vec![false; system.rejections().len()] }
    }

    /// The open rejections of a kind.
    fn of(&self, kind: RejectionKind) -> impl Iterator<Item = usize> + use<'a, Y> {
        let system = self.system;
        self.open.iter().copied().filter(move |&i| system.rejections()[i].kind == kind)
    }

    fn look(&mut self, state: &Y::State, kind: RejectionKind) -> Option<Sighting> {
        let mut reported = None;
        for i in self.of(kind) {
            if !self.seen[i] && self.system.rejects(state, i) {
                self.seen[i] = true;
                reported = reported.or(Some(i));
            }
        }
        let text = |question: usize| self.system.rejections()[question].text.clone();
        reported.map(|question| Sighting { question, message: text(question) })
    }
}

impl<Y: Rejecting + ?Sized> Visitor<Y::State> for Look<'_, Y> {
    fn arrive(&mut self, state: &Y::State) -> Result<Option<Sighting>, Fault> {
        Ok(self.look(state, RejectionKind::State))
    }

    fn looks_at_found(&self) -> bool {
        self.of(RejectionKind::State).next().is_some()
    }

    fn flagged(&mut self, _: &Y::State) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }

    fn terminal(&mut self, state: &Y::State) -> Result<Option<Sighting>, Fault> {
        Ok(self.look(state, RejectionKind::Deadlock))
    }
}

/// Looks at the states behind keys.
struct LookAtKeys<'a, 'y, Y: System + ?Sized, const N: usize> {
    look: Look<'a, Y>,
    packed: &'a Packed<'y, Y, N>,
    /// Whether any condition on states holds.
    memory: Recall<N, bool>,
}

impl<'a, 'y, Y: Rejecting + ?Sized, const N: usize> LookAtKeys<'a, 'y, Y, N> {
    fn new(look: Look<'a, Y>, packed: &'a Packed<'y, Y, N>) -> Self {
        Self { look, packed, memory: Recall::default() }
    }
}

impl<Y: Rejecting + ?Sized, const N: usize> Visitor<[u64; N]> for LookAtKeys<'_, '_, Y, N> {
    fn arrive(&mut self, key: &[u64; N]) -> Result<Option<Sighting>, Fault> {
        let Self { look, packed, memory } = self;
        let holds = packed.recall(memory, key, |state, bytes| {
            let mut is_noted = true;
            look.of(RejectionKind::State).for_each(|i| is_noted &= look.system.looks_at(i, bytes));
            let holds = look.of(RejectionKind::State).any(|i| look.system.rejects(state, i));
            Ok::<_, Fault>((holds, is_noted))
        })?;
        if !holds {
            return Ok(None);
        }
        packed.with_state(key, |state| look.arrive(state))
    }

    fn looks_at_found(&self) -> bool {
        self.look.looks_at_found()
    }

    fn flagged(&mut self, _: &[u64; N]) -> Result<Option<Sighting>, Fault> {
        Ok(None)
    }

    fn terminal(&mut self, key: &[u64; N]) -> Result<Option<Sighting>, Fault> {
        self.packed.with_state(key, |state| self.look.terminal(state))
    }
}
