//! Which engine makes the successors of representatives.
//!
//! As without symmetry (`engine.rs`), small systems are searched as they are, and a search that does not end soon begins
//! again with keys: [`Packed`] makes the successors, and each is replaced by its representative. A reduction chooses by looking at
//! states, so with one the system itself makes the successors.
//! **Checked by** `oracle/tests/packed_symmetry.rs`: counts, verdicts and counterexamples are the same with both engines.

use crate::engine::{EngineKind, first_limit, lean, sampled_steps};
use crate::phase::{Broken, Lean, Searched, run_phase};
use crate::{OneThread, Options};
use stubborn_explore::{Limits, Watch};
use stubborn_packed::{Packed, Sample};
use stubborn_reduce::{Full, OnRepresentatives, Quotient, Reduction};
use stubborn_system::{Composed, Observed, Question, Symmetric};

/// A search of representatives under way.
pub(crate) struct SymmetricSearch<'a, Y: Symmetric + Observed + Composed> {
    pub(crate) system: &'a Y,
    /// Made again for each attempt.
    pub(crate) reduction: &'a dyn Fn() -> Box<dyn Reduction<Y> + 'a>,
    pub(crate) questions: &'a [Question],
    pub(crate) options: &'a Options,
    pub(crate) watch: &'a mut dyn Watch,
}

impl<Y: Symmetric + Observed + Composed> SymmetricSearch<'_, Y> {
    /// Searches with the engine that is asked for.
    pub(crate) fn run(mut self) -> Result<Searched, Box<Broken>> {
        let mut searched = self.run_by_engine()?;
        searched.report.one_thread = (self.options.threads > 1).then_some(OneThread::Engine);
        Ok(searched)
    }

    fn run_by_engine(&mut self) -> Result<Searched, Box<Broken>> {
        let limits = self.options.limits;
        let is_reduced = (self.reduction)().preserves().is_reduced();
        if is_reduced || self.options.engine == EngineKind::Interpreter || self.system.tracer().is_none() {
            return self.plain(limits);
        }
        if self.options.engine == EngineKind::Auto {
            let first = first_limit(limits);
            let searched = self.plain(first)?;
            if first.states == limits.states || !searched.was_cut_at(first.states) {
                return Ok(searched);
            }
        }
        match self.packed() {
            Some(done) => done,
            None => self.plain(limits),
        }
    }

    fn plain(&mut self, limits: Limits) -> Result<Searched, Box<Broken>> {
        let options = Options { limits, ..self.options.clone() };
        let mut reduction = OnRepresentatives::new((self.reduction)(), options.check);
        let quotient = Quotient::new(self.system);
        run_phase(&quotient, &mut reduction, true, Lean::No, self.questions, &options, self.watch)
    }

    /// Searches with keys; `None` if that is not possible or not worth it.
    fn packed(&mut self) -> Option<Result<Searched, Box<Broken>>> {
        let sample = Sample::new(self.system, sampled_steps(self.options.engine)).ok()??;
        match sample.n_words() {
            1 => self.attempt::<1>(sample),
            2 => self.attempt::<2>(sample),
            3 | 4 => self.attempt::<4>(sample),
            _ => None,
        }
    }

    fn attempt<const N: usize>(
        &mut self,
        sample: Sample<'_, Y::State>,
    ) -> Option<Result<Searched, Box<Broken>>> {
        let options = self.options;
        let packed = Packed::<Y, N>::new(self.system, sample).ok()?.within(options.limits.bytes);
        let quotient = Quotient::new(&packed);
        let mut reduction = OnRepresentatives::new(Full, options.check);
        let lean = Lean::By(lean::<N>(options.store));
        let mut done = run_phase(&quotient, &mut reduction, true, lean, self.questions, options, self.watch);
        if let Ok(searched) = &mut done {
            searched.report.key_words = Some(N);
        }
        // States of models are keys as they are, so that wider fields need not be tried.
        packed.failure().is_none().then_some(done)
    }
}
