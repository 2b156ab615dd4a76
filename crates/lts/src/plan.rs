//! What a composition is made of: components, synchronisation rules, proposition rules.
//!
//! **Implements** Definitions 3, 4 and 6 of HVV as data: a rule names an action for each component that takes part and
//! the action of the result; tau moves of components need no rule. Permanent propositions (`/p`) come out by
//! themselves, with the prefix of their component, unless they are hidden; so do cuts (`%p`), and the special
//! marks of testers, which become rejections.
//! **Differs from the text** in that a rule for Llrej and Infrej may be any expression: the components that it
//! mentions, its *guard*, are then looked at as one. For an expression about one component this is the text.
//! **Checked by** `Plain`, which does by definition what [`crate::Composition`] does fast.

use crate::composition::most_edges;
use crate::expr::Expr;
use crate::growing::{Growing, NotGrown};
use crate::lsts::{Action, Lsts, Mark, TAU};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use thiserror::Error;

/// A process that takes part.
#[derive(Clone, Debug)]
pub struct Component {
    /// Its number in the rules.
    pub number: u64,
    /// What the names of its permanent propositions get in front.
    pub prefix: String,
    /// Where it came from.
    pub name: String,
    /// The process itself.
    pub lsts: Arc<Lsts>,
}

/// A synchronisation rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The components that take part, from zero, and their actions, which are visible; by component.
    pub parts: Vec<(usize, Action)>,
    /// The action of the result; [`TAU`] hides it.
    pub result: Action,
}

/// A rule for a proposition or a rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropositionRule {
    /// Where it holds.
    pub expr: Expr,
    /// What holds there. Several rules for one result are a disjunction.
    pub result: Mark,
    /// Whether it was not written but comes out by itself.
    pub is_implied: bool,
}

/// Components and rules.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    components: Vec<Component>,
    /// The names of the result's actions; that of tau is empty.
    alphabet: Vec<String>,
    numbers: FxHashMap<String, Action>,
    rules: Vec<Rule>,
    propositions: Vec<PropositionRule>,
    hidden: Vec<String>,
    /// Components that grow, and whether what no rule mentions of them happens unseen.
    growing: FxHashMap<usize, (Rc<Growing>, bool)>,
    /// What rules mention of components that are open: names of actions that they do not have yet, or all.
    wanted: Vec<(usize, Option<String>)>,
}

/// Why components and rules do not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A rule without parts.
    #[error("a rule needs a component that takes part")]
    NoParts,
    /// A component that is not there.
    #[error("there is no component {0}")]
    NoComponent(usize),
    /// An action that its component does not have.
    #[error("component {component} has no action {action}")]
    NoAction {
        /// The component.
        component: usize,
        /// The action.
        action: Action,
    },
    /// A component that occurs twice in a rule.
    #[error("component {0} occurs twice in a rule")]
    Twice(usize),
}

impl Plan {
    /// Nothing yet.
    pub fn new() -> Self {
        Self { alphabet: vec![String::new()], ..Self::default() }
    }

    /// Adds a component.
    pub fn add_component(&mut self, component: Component) -> usize {
        self.components.push(component);
        self.components.len() - 1
    }

    /// The number of the result's action with this name.
    pub fn result(&mut self, name: &str) -> Action {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.alphabet.len() as Action;
        self.alphabet.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Adds a rule; one that is there already is not added again.
    pub fn add_rule(&mut self, mut parts: Vec<(usize, Action)>, result: Action) -> Result<(), PlanError> {
        parts.sort_unstable();
        if parts.is_empty() {
            return Err(PlanError::NoParts);
        }
        for (i, &(component, action)) in parts.iter().enumerate() {
            let system = self.components.get(component).ok_or(PlanError::NoComponent(component))?;
            if action == TAU || action as usize >= system.lsts.n_actions() {
                return Err(PlanError::NoAction { component, action });
            }
            if i > 0 && parts[i - 1].0 == component {
                return Err(PlanError::Twice(component));
            }
        }
        self.rules.push(Rule { parts, result });
        Ok(())
    }

    /// Changes every rule; the names of results are at hand. Parts must be those of components, each once.
    pub(crate) fn change_rules(&mut self, mut change: impl FnMut(&mut Rule, &dyn Fn(Action) -> String)) {
        let alphabet = &self.alphabet;
        // Tau has no name that anybody could know.
        let name = |action: Action| alphabet[action as usize].clone();
        self.rules.iter_mut().for_each(|rule| change(rule, &name));
    }

    /// Adds a proposition rule.
    pub fn add_proposition(&mut self, expr: Expr, result: Mark) {
        self.propositions.push(PropositionRule { expr, result, is_implied: false });
    }

    /// Permanent propositions with this name do not come out.
    pub fn hide(&mut self, name: &str) {
        self.hidden.push(name.to_owned());
    }

    /// To be called when everything was added: rules that occur twice go, and what comes out by itself gets its
    /// rules.
    pub fn finish(&mut self) {
        let mut seen = rustc_hash::FxHashSet::default();
        self.rules.retain(|rule| seen.insert((rule.parts.clone(), rule.result)));
        self.propositions.retain(|rule| !rule.is_implied);
        for (i, component) in self.components.iter().enumerate() {
            for (j, proposition) in component.lsts.propositions().iter().enumerate() {
                let Some(result) = implied(&proposition.mark, &component.prefix) else { continue };
                let is_hidden =
                    |mark: &Mark| mark.name().is_some_and(|name| self.hidden.iter().any(|h| h == name));
                if is_hidden(&proposition.mark) || is_hidden(&result) {
                    continue;
                }
                let expr = Expr::Holds { component: i, proposition: j };
                self.propositions.push(PropositionRule { expr, result, is_implied: true });
            }
        }
    }

    /// The components.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The synchronisation rules, as they were added.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The proposition rules: those that were added, then those that come out by themselves.
    pub fn propositions(&self) -> &[PropositionRule] {
        &self.propositions
    }

    /// The names that were hidden.
    pub fn hidden(&self) -> &[String] {
        &self.hidden
    }

    /// The names of the visible actions of the result, numbered from one.
    pub fn alphabet(&self) -> &[String] {
        &self.alphabet[1..]
    }

    /// The name of an action of the result.
    pub fn action_name(&self, action: Action) -> &str {
        if action == TAU { "tau" } else { &self.alphabet[action as usize] }
    }

    /// An expression as it is written in rules.
    pub fn show(&self, expr: &Expr) -> String {
        let numbers: Vec<u64> = self.components.iter().map(|c| c.number).collect();
        let systems: Vec<&Lsts> = self.components.iter().map(|c| &*c.lsts).collect();
        expr.show(&numbers, &systems).to_string()
    }

    /// A component is followed, not explicit: its process in the plan only has the names. What no rule mentions of it
    /// cannot happen, or, with `alone`, happens unseen.
    pub fn follow(&mut self, component: usize, growing: Rc<Growing>, alone: bool) {
        self.growing.insert(component, (growing, alone));
    }

    /// Whether a component is followed.
    pub fn is_followed(&self) -> bool {
        !self.growing.is_empty()
    }

    /// The process that a component follows.
    pub fn growing(&self, component: usize) -> Option<&Growing> {
        self.growing.get(&component).map(|(growing, _)| &**growing)
    }

    /// What rules mention of open components although they do not have it yet: the name of an action, or, where a
    /// wild card may stand for any, all of them.
    pub fn wanted(&self) -> &[(usize, Option<String>)] {
        &self.wanted
    }

    pub(crate) fn want(&mut self, wanted: Vec<(usize, Option<String>)>) {
        self.wanted = wanted;
    }

    /// The initial state of a component.
    pub fn initial(&self, component: usize) -> u32 {
        if self.growing.contains_key(&component) { 0 } else { self.components[component].lsts.initial() }
    }

    /// The edges of a state of a component, by action and target.
    pub fn edges(&self, component: usize, local: u32) -> Result<Vec<(Action, u32)>, NotGrown> {
        let lsts = &self.components[component].lsts;
        let Some((growing, alone)) = self.growing.get(&component) else {
            return Ok(lsts.edges(local).collect());
        };
        let is_known = |action: Action| (action as usize) < lsts.n_actions();
        let moves = growing.moves(local)?;
        let mut edges: Vec<(Action, u32)> = moves
            .iter()
            .filter(|&&(action, _)| is_known(action) || *alone)
            .map(|&(action, target)| (if is_known(action) { action } else { TAU }, target))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        Ok(edges)
    }

    /// Whether a component's proposition holds in its state.
    #[inline]
    pub fn holds(&self, component: usize, proposition: usize, local: u32) -> bool {
        match self.growing(component) {
            Some(growing) => growing.holds(local, proposition),
            None => {
                self.components[component].lsts.propositions()[proposition].states.contains(local as usize)
            }
        }
    }

    /// For each action of a component the most edges that a state has with it; for one that is followed, at least one.
    pub(crate) fn most_edges(&self, component: usize) -> Vec<u32> {
        let lsts = &self.components[component].lsts;
        if self.growing.contains_key(&component) { vec![1; lsts.n_actions()] } else { most_edges(lsts) }
    }

    /// Whether some states are not to be expanded.
    pub fn has_cuts(&self) -> bool {
        self.propositions.iter().any(|rule| rule.result.is_cut())
    }
}

/// What comes out of a proposition by itself.
fn implied(mark: &Mark, prefix: &str) -> Option<Mark> {
    match mark {
        Mark::Special(special) => Some(Mark::Special(*special)),
        Mark::Named(name) if mark.is_permanent() || mark.is_cut() => {
            let (first, rest) = name.split_at(1);
            Some(Mark::Named(format!("{first}{prefix}{rest}")))
        }
        Mark::Named(_) => None,
    }
}
