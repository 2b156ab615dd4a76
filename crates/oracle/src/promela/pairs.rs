//! Random models with random formulas, and the truth about them.

use super::{Model, compiled};
use crate::Rng;
use crate::linear::{Belongs, Runs, acceptance_cycle, non_progress_cycle, violation};
use stubborn_ltl::random::Random;
use stubborn_ltl::{Formula, Propositions};

/// A model and formulas over its propositions.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// The model.
    pub model: Model,
    /// The formulas.
    pub formulas: Vec<Formula>,
}

/// What is true of a model. The first of two is about all runs, the second about weakly fair ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truths {
    /// Of each formula: whether all runs satisfy it.
    pub formulas: Vec<[bool; 2]>,
    /// Whether no run passes accepting labels for ever.
    pub acceptance: [bool; 2],
    /// Whether no run avoids progress labels for ever.
    pub progress: [bool; 2],
    /// Number of states.
    pub states: usize,
}

impl Pairs {
    /// A model of a seed with so many formulas. Three of four models go round for ever.
    pub fn random(seed: u64, n_formulas: usize) -> Self {
        let mut rng = Rng::new(seed);
        let mut model = if rng.chance(3, 4) { Model::looping(&mut rng) } else { Model::random(&mut rng) };
        model.propositions.sort();
        model.propositions.dedup();
        let mut random = Random::new(rng.bits());
        let formulas = (0..n_formulas).map(|_| {
            let size = 1 + random.below(6);
            let with_next = random.below(5) == 0;
            random.formula(size, model.propositions.len(), with_next)
        });
        let formulas = formulas.collect();
        Self { model, formulas }
    }

    /// The propositions by number.
    pub fn names(&self) -> Propositions {
        Propositions::from_texts(self.model.propositions.iter().map(String::as_str))
            .expect("there are few propositions")
    }

    /// A formula in SPIN's syntax.
    pub fn show(&self, formula: &Formula) -> String {
        formula.show(&self.names())
    }

    /// The truth by brute force; `None` if the model has more than `limit` states or is refused.
    pub fn truths(&self, belongs: Belongs, limit: usize) -> Option<Truths> {
        let (network, propositions) = compiled(&self.model.to_string(), &self.model.propositions).ok()?;
        let (runs, _) = Runs::of_network(&network, &propositions, belongs, limit)?;
        let both = |decide: &dyn Fn(bool) -> bool| [decide(false), decide(true)];
        let formula = |formula: &Formula| both(&|is_fair| violation(&runs, formula, is_fair).is_none());
        Some(Truths {
            formulas: self.formulas.iter().map(formula).collect(),
            acceptance: both(&|is_fair| acceptance_cycle(&runs, is_fair).is_none()),
            progress: both(&|is_fair| non_progress_cycle(&runs, is_fair).is_none()),
            states: runs.n_states(),
        })
    }
}
