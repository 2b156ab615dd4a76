//! Random models with random formulas and claims, and the truth about them.

use super::claims::random_claim;
use super::{Model, Statement, compiled};
use crate::Rng;
use crate::linear::{Belongs, Runs, acceptance_cycle, fulfilment, non_progress_cycle, violation};
use stubborn_ltl::random::Random;
use stubborn_ltl::{Formula, Propositions};

/// A model and formulas over its propositions.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// The model.
    pub model: Model,
    /// The formulas.
    pub formulas: Vec<Formula>,
    /// Never claims, `c0` and so on, as texts.
    pub claims: Vec<String>,
}

/// What is true of a model. The first of two is about all runs, the second about weakly fair ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truths {
    /// Of each formula: whether all runs satisfy it.
    pub formulas: Vec<[bool; 2]>,
    /// Of each claim: whether no run fulfils it.
    pub claims: Vec<[bool; 2]>,
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
        Self { model, formulas, claims: Vec::new() }
    }

    /// The same with so many claims.
    pub fn with_claims(mut self, seed: u64, n_claims: usize) -> Self {
        let mut rng = Rng::new(seed ^ 0xc1a1);
        let claim = |i| random_claim(&mut rng, &format!("c{i}"), &self.model.propositions);
        self.claims = (0..n_claims).map(claim).collect();
        self
    }

    /// A model that has one process with one way to go, and so a single run.
    pub fn single(seed: u64, n_formulas: usize) -> Self {
        let mut rng = Rng::new(seed);
        let mut model = Model::looping(&mut rng);
        model.processes.truncate(1);
        for statement in &mut model.processes[0].body {
            if let Statement::Repeat(options) = statement {
                options.truncate(1);
            }
        }
        // Labels of what is gone cannot be named.
        model.propositions.retain(|text| !text.contains('@'));
        model.propositions.push("b0 == 1".into());
        model.propositions.sort();
        model.propositions.dedup();
        let mut random = Random::new(rng.bits());
        let n = model.propositions.len();
        let formulas = (0..n_formulas).map(|_| {
            let size = 1 + random.below(8);
            random.formula(size, n, true)
        });
        let formulas = formulas.collect();
        Self { model, formulas, claims: Vec::new() }
    }

    /// The model with its claims.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.model, self.claims.concat())
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
        let (network, propositions) = compiled(&self.text(), &self.model.propositions).ok()?;
        let (runs, states) = Runs::of_network(&network, &propositions, belongs, limit)?;
        let both = |decide: &dyn Fn(bool) -> bool| [decide(false), decide(true)];
        let formula = |formula: &Formula| both(&|is_fair| violation(&runs, formula, is_fair).is_none());
        let claim = |claim| {
            both(&|is_fair| fulfilment(&network, claim, &runs, &states, is_fair).fulfilment.is_none())
        };
        Some(Truths {
            claims: network.claims.iter().map(claim).collect(),
            formulas: self.formulas.iter().map(formula).collect(),
            acceptance: both(&|is_fair| acceptance_cycle(&runs, is_fair).is_none()),
            progress: both(&|is_fair| non_progress_cycle(&runs, is_fair).is_none()),
            states: runs.n_states(),
        })
    }
}
