//! Doing the steps of a text that builds, one behind the other.
//!
//! What stands side by side is not composed before it must be: hiding and renaming only change the rules by which it
//! will be, so that nothing larger than needed is ever made, and stubborn sets see what is hidden.

use super::parse::parse;
use super::{Change, Expr, Named, Smaller, Step};
use crate::acceptance::Limit;
use crate::{Model, NoAnswer, determinise, minimize};
use std::collections::HashMap;
use std::sync::Arc;
use stubborn_explore::{Limits, Watch};
use stubborn_lts::{
    Action, Component, Lsts, LstsBuilder, Mark, Plan, Refusal, TAU, Unfinished, unfold, unfold_reduced,
};
use stubborn_reduce::{ReductionKind, Semantics};
use stubborn_text::{Diagnostic, SourceMap, Span};
use thiserror::Error;

/// What a file is.
#[derive(Debug)]
pub enum Loaded {
    /// A process.
    Process(Lsts),
    /// Rules and their components.
    Composition(Plan),
}

/// Where files come from, and how far to go.
pub struct Workshop<'a> {
    /// Gives what is in a file, or says what is wrong with it.
    pub load: &'a mut dyn FnMut(&str) -> Result<Loaded, String>,
    /// For each composition.
    pub limits: Limits,
    /// For each determinisation.
    pub limit: Limit,
    /// Who looks at the clock.
    pub watch: &'a mut dyn Watch,
}

/// Something that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line of the step that made it.
    pub line: usize,
    /// The name of the step.
    pub name: String,
    /// What was done.
    pub operation: String,
    /// States of the result.
    pub states: usize,
    /// Transitions of the result.
    pub transitions: usize,
}

/// What was built.
#[derive(Debug)]
pub struct Built {
    /// The result of the last step.
    pub lsts: Lsts,
    /// All that was made on the way.
    pub rows: Vec<Row>,
    /// The result is the same as if nothing had been made small, under this.
    pub same_under: Model,
}

impl Built {
    /// The row with the most states.
    pub fn peak(&self) -> Option<&Row> {
        self.rows.iter().max_by_key(|row| (row.states, std::cmp::Reverse(row.line)))
    }
}

/// Why nothing was built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The text is wrong, or a file of it.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// A limit was reached; with the line.
    #[error("line {line}: inconclusive: {why}")]
    Limit {
        /// The line of the step.
        line: usize,
        /// Which limit.
        why: String,
    },
}

/// Builds what a text says.
pub fn build(name: &str, text: &str, workshop: &mut Workshop<'_>) -> Result<Built, BuildError> {
    let mut map = SourceMap::new();
    let file = map.add(name, text.to_owned(), None);
    let wrong = |why: Wrong, map: SourceMap| match why {
        Wrong::Text(diagnostic) => BuildError::Refused(Box::new(Refusal { diagnostic: *diagnostic, map })),
        Wrong::Limit(span, why) => BuildError::Limit { line: map.position(span).line, why },
    };
    let steps = match parse(text, file) {
        Ok(steps) => steps,
        Err(diagnostic) => return Err(wrong(Wrong::from(diagnostic), map)),
    };
    let mut builder =
        Builder { workshop, known: HashMap::new(), rows: Vec::new(), same_under: Model::Strong, line: 0 };
    match builder.run(&steps, &map) {
        Ok(lsts) => Ok(Built { lsts, rows: builder.rows, same_under: builder.same_under }),
        Err(why) => Err(wrong(why, map)),
    }
}

enum Wrong {
    Text(Box<Diagnostic>),
    Limit(Span, String),
}

impl From<Diagnostic> for Wrong {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Text(Box::new(diagnostic))
    }
}

/// Something that may still have to be composed.
enum Value {
    Made(Arc<Lsts>),
    Ruled(Plan, Span),
    Beside(Beside),
}

/// Processes side by side.
struct Beside {
    parts: Vec<Arc<Lsts>>,
    /// The names that happen together, and what is seen of them.
    names: Vec<(String, Option<String>)>,
    forgotten: Vec<String>,
    span: Span,
}

struct Builder<'w, 'a> {
    workshop: &'w mut Workshop<'a>,
    known: HashMap<String, Arc<Lsts>>,
    rows: Vec<Row>,
    same_under: Model,
    line: usize,
}

impl Builder<'_, '_> {
    fn run(&mut self, steps: &[Step], map: &SourceMap) -> Result<Lsts, Wrong> {
        let mut last = None;
        for step in steps {
            self.line = map.position(step.span).line;
            let first = self.rows.len();
            let value = self.value(&step.made)?;
            let made = self.made(value, None)?;
            self.rows[first..].iter_mut().for_each(|row| row.name.clone_from(&step.name));
            self.known.insert(step.name.clone(), made.clone());
            last = Some(made);
        }
        Ok(last.map(|made| (*made).clone()).expect("a text has a step"))
    }

    fn value(&mut self, expr: &Expr) -> Result<Value, Wrong> {
        match expr {
            Expr::File((path, span)) => match (self.workshop.load)(path) {
                Ok(Loaded::Process(lsts)) => {
                    self.log(format!("file \"{path}\""), &lsts);
                    Ok(Value::Made(lsts.into()))
                }
                Ok(Loaded::Composition(plan)) => Ok(Value::Ruled(plan, *span)),
                Err(why) => Err(Diagnostic::error("T0406", *span, format!("`{path}`: {why}")).into()),
            },
            Expr::Name((name, span)) => match self.known.get(name) {
                Some(lsts) => Ok(Value::Made(lsts.clone())),
                None => {
                    let help = "a step must come before what uses it; files are written in quotes";
                    let message = format!("nothing is called `{name}` yet");
                    Err(Diagnostic::error("T0407", *span, message).help(help).into())
                }
            },
            Expr::Beside(parts, span) => {
                let parts: Result<Vec<_>, Wrong> = parts
                    .iter()
                    .map(|part| {
                        let value = self.value(part)?;
                        self.made(value, None)
                    })
                    .collect();
                Ok(Value::Beside(Beside::new(parts?, *span)))
            }
            Expr::Change(change, inside) => {
                let value = self.value(inside)?;
                self.change(change, value)
            }
            Expr::Small(how, inside, span) => {
                let value = self.value(inside)?;
                self.small(*how, value, *span)
            }
        }
    }

    fn log(&mut self, operation: String, lsts: &Lsts) {
        let (states, transitions) = (lsts.n_states(), lsts.n_transitions());
        self.rows.push(Row { line: self.line, name: String::new(), operation, states, transitions });
    }

    fn weaken(&mut self, model: Model) {
        let order = [Model::Strong, Model::Branching, Model::Cffd, Model::Failures, Model::Traces];
        let rank = |model: Model| order.iter().position(|&known| known == model);
        if rank(model) > rank(self.same_under) {
            self.same_under = model;
        }
    }

    /// Composes what is side by side; with stubborn sets, if a semantics is given.
    fn made(&mut self, value: Value, reduced: Option<Semantics>) -> Result<Arc<Lsts>, Wrong> {
        let (plan, span) = match value {
            Value::Made(lsts) => return Ok(lsts),
            Value::Ruled(plan, span) => (plan, span),
            Value::Beside(beside) => (beside.plan(), beside.span),
        };
        let Workshop { limits, watch, .. } = &mut *self.workshop;
        let unfolded = match reduced {
            None => unfold(&plan, *limits, false, &mut **watch),
            Some(semantics) => {
                let algorithm = ReductionKind::StrongComponents;
                unfold_reduced(&plan, algorithm, semantics, *limits, false, &mut **watch)
            }
        };
        let lsts = unfolded.map_err(|error| match error {
            Unfinished::Stopped(stop) => Wrong::Limit(span, stop.to_string()),
            other => Diagnostic::error("T0408", span, other.to_string()).into(),
        })?;
        let operation = reduced.map_or("compose", |semantics| Smaller::Reduced(semantics).words());
        self.log(operation.to_owned(), &lsts.lsts);
        Ok(lsts.lsts.into())
    }

    fn small(&mut self, how: Smaller, value: Value, span: Span) -> Result<Value, Wrong> {
        self.weaken(how.keeps());
        if let Smaller::Reduced(semantics) = how {
            if matches!(value, Value::Made(_)) {
                let message =
                    "there is nothing to compose here: `reduce` is for processes side by side and for rules";
                return Err(Diagnostic::error("T0409", span, message).into());
            }
            return Ok(Value::Made(self.made(value, Some(semantics))?));
        }
        let whole = self.made(value, None)?;
        let result = match how {
            Smaller::Minimal(how) => minimize(&whole, how, self.workshop.limit),
            _ => determinise(&whole, self.workshop.limit),
        };
        let lsts = result.map_err(|error| match error {
            NoAnswer::Limit { .. } => Wrong::Limit(span, error.to_string().replace("inconclusive: ", "")),
            other => Diagnostic::error("T0408", span, other.to_string()).into(),
        })?;
        self.log(how.words().to_owned(), &lsts);
        Ok(Value::Made(lsts.into()))
    }

    fn change(&mut self, change: &Change, value: Value) -> Result<Value, Wrong> {
        let mut beside = match value {
            Value::Beside(beside) => beside,
            Value::Made(lsts) => {
                check(change, lsts.action_names(), &lsts)?;
                return Ok(Value::Made(changed(&lsts, change).into()));
            }
            ruled @ Value::Ruled(..) => {
                let made = self.made(ruled, None)?;
                return self.change(change, Value::Made(made));
            }
        };
        if let Change::Forget(names) = change {
            for (name, span) in names {
                let mark = Mark::Named(name.clone());
                if !beside.parts.iter().any(|part| part.marked(&mark).is_some()) {
                    return Err(no_such("proposition", name, *span).into());
                }
                beside.forgotten.push(name.clone());
            }
            return Ok(Value::Beside(beside));
        }
        let seen: Vec<String> = beside.names.iter().filter_map(|(_, seen)| seen.clone()).collect();
        check(change, &seen, &beside.parts[0])?;
        for (_, seen) in &mut beside.names {
            *seen = seen.as_deref().and_then(|name| renamed(change, name));
        }
        Ok(Value::Beside(beside))
    }
}

impl Beside {
    fn new(parts: Vec<Arc<Lsts>>, span: Span) -> Self {
        let mut names: Vec<(String, Option<String>)> = Vec::new();
        for name in parts.iter().flat_map(|part| part.action_names()) {
            if !names.iter().any(|(known, _)| known == name) {
                names.push((name.clone(), Some(name.clone())));
            }
        }
        Self { parts, names, forgotten: Vec::new(), span }
    }

    fn plan(&self) -> Plan {
        let mut plan = Plan::new();
        for (number, lsts) in (1..).zip(&self.parts) {
            let (prefix, name) = (String::new(), number.to_string());
            plan.add_component(Component { number, prefix, name, lsts: lsts.clone() });
        }
        for (name, seen) in &self.names {
            let result = seen.as_deref().map_or(TAU, |seen| plan.result(seen));
            let part = |(i, lsts): (usize, &Arc<Lsts>)| lsts.action(name).map(|action| (i, action));
            let parts: Vec<(usize, Action)> = self.parts.iter().enumerate().filter_map(part).collect();
            plan.add_rule(parts, result).expect("the parts are actions of components");
        }
        self.forgotten.iter().for_each(|name| plan.hide(name));
        plan.finish();
        plan
    }
}

fn no_such(what: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("T0410", span, format!("no {what} is called `{name}` here"))
}

/// Refuses names that nobody has: they are misspelt, and what they mean would be left as it is.
fn check(change: &Change, actions: &[String], lsts: &Lsts) -> Result<(), Wrong> {
    let is_action = |(name, _): &&Named| !actions.contains(name);
    let is_mark = |(name, _): &&Named| lsts.marked(&Mark::Named(name.clone())).is_none();
    let (what, unknown) = match change {
        Change::Hide(names) | Change::Keep(names) => ("action", names.iter().find(is_action)),
        Change::Rename(pairs) => ("action", pairs.iter().map(|(old, _)| old).find(is_action)),
        Change::Forget(names) => ("proposition", names.iter().find(is_mark)),
    };
    unknown.map_or(Ok(()), |(name, span)| Err(no_such(what, name, *span).into()))
}

/// What becomes of the name of an action.
fn renamed(change: &Change, name: &str) -> Option<String> {
    let is_listed = |names: &[Named]| names.iter().any(|(listed, _)| listed == name);
    let is_seen = match change {
        Change::Hide(names) => !is_listed(names),
        Change::Keep(names) => is_listed(names),
        Change::Forget(_) => true,
        Change::Rename(pairs) => {
            let pair = pairs.iter().find(|((old, _), _)| old == name);
            return Some(pair.map_or(name, |(_, new)| new).to_owned());
        }
    };
    is_seen.then(|| name.to_owned())
}

/// The same process with other names.
fn changed(lsts: &Lsts, change: &Change) -> Lsts {
    let mut builder = LstsBuilder::new(lsts.n_states() as u64).expect("there is such a process");
    let mut numbers = vec![TAU];
    for name in lsts.action_names() {
        numbers.push(renamed(change, name).map_or(TAU, |name| builder.action(&name)));
    }
    builder.set_initial(lsts.initial());
    for state in 0..lsts.n_states() as u32 {
        for (action, target) in lsts.edges(state) {
            builder.add_transition(state, numbers[action as usize], target);
        }
    }
    for proposition in lsts.propositions() {
        let is_forgotten = |name: &str| matches!(change, Change::Forget(names) if names.iter().any(|(listed, _)| listed == name));
        if !proposition.mark.name().is_some_and(is_forgotten) {
            let states = proposition.states.ones().map(|state| state as u32);
            builder.add_proposition(proposition.mark.clone(), states);
        }
    }
    builder.build().expect("there is such a process")
}
