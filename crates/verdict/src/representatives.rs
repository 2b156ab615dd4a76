//! Which engine makes the successors of representatives.
//!
//! As without symmetry (`engine.rs`), small systems are searched as they are, and a search that does not end soon begins
//! again with keys: [`Packed`] makes the successors, and each is replaced by its representative. A reduction chooses among them on keys, too, where it can.
//! **Checked by** `oracle/tests/all/packed_symmetry.rs`: counts, verdicts and counterexamples are the same with both engines.

use crate::attempts::{self, Attempt, Search, by_engine, can_sift};
use crate::phase::{Broken, Searched, run_phase};
use crate::{EngineKind, OneThread, Options};
use stubborn_explore::{Limits, Watch};
use stubborn_packed::{Packed, Sample};
use stubborn_reduce::{OnKeys, OnRepresentatives, Quotient, Reduction};
use stubborn_system::{Composed, Observed, Question, Symmetric};

/// A search of representatives under way.
pub(crate) struct SymmetricSearch<'a, Y: Symmetric + Observed + Composed + ?Sized> {
    pub(crate) system: &'a Y,
    /// Made again for each attempt.
    pub(crate) reduction: &'a dyn Fn() -> Box<dyn Reduction<Y> + 'a>,
    pub(crate) questions: &'a [Question],
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn Watch,
}

impl<'a, Y: Symmetric + Observed + Composed + ?Sized> SymmetricSearch<'a, Y> {
    /// Searches with the engine that is asked for.
    pub(crate) fn run(mut self) -> Result<Searched, Box<Broken>> {
        let (system, options) = (self.system, self.options);
        let engine = if self.can_gain() { options.engine } else { EngineKind::Interpreter };
        let options = Options { engine, ..options.clone() };
        let mut searched = by_engine(system, &options, options.limits, &mut self)?;
        searched.report.one_thread = (self.options.threads > 1).then_some(OneThread::Engine);
        Ok(searched)
    }
}

impl<'a, Y: Symmetric + Observed + Composed + ?Sized> attempts::Search<'a, Y> for SymmetricSearch<'a, Y> {
    type Found = Result<Searched, Box<Broken>>;

    fn can_gain(&self) -> bool {
        can_sift(&*(self.reduction)())
    }

    fn plain(&mut self, limits: Limits, _: bool) -> Self::Found {
        let options = Options { limits, ..self.options.clone() };
        let mut reduction = OnRepresentatives::new((self.reduction)(), options.check);
        let quotient = Quotient::new(self.system);
        run_phase(&quotient, &mut reduction, true, None, self.questions, &options, self.watch)
    }

    fn is_cut(found: &Self::Found, states: u64) -> bool {
        found.as_ref().is_ok_and(|searched| searched.was_cut_at(states))
    }

    fn attempt<const N: usize>(
        &mut self,
        sample: Sample<'a, Y::State>,
    ) -> Attempt<'a, Y::State, Self::Found> {
        let options = self.options;
        let packed = match Packed::<Y, N>::new(self.system, sample) {
            Ok(packed) => packed.within(options.limits.bytes),
            Err(sample) => return Attempt::Again(sample),
        };
        let quotient = Quotient::new(&packed);
        let mut reduction = (self.reduction)();
        reduction.within(options.limits.bytes);
        let on_keys = OnKeys::<_, Y::State, N>::new(&mut *reduction);
        let mut reduction = OnRepresentatives::new(on_keys, options.check);
        let mut done = run_phase(&quotient, &mut reduction, true, None, self.questions, options, self.watch);
        if let Ok(searched) = &mut done {
            searched.report.key_words = Some(N);
        }
        Attempt::new(packed, done)
    }
}
