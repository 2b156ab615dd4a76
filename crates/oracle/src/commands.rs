//! Random programs of guarded commands, as models with exact footprints.
//!
//! Each process has a program counter and perhaps local variables; there are a few small shared
//! variables. A command waits for a guard and then makes some assignments. A transition is one command, or
//! all commands of a process: then the program counter says which, and the first whose guard holds is
//! taken, as in hand-written models with one transition per process.
//!
//! What a transition may touch is computed from the same data that it runs on. So if a set that is closed
//! under the derived rules is not stubborn, the derivation is wrong, not the model. And if this file
//! declared too little, the derivation would complain.

use crate::formula::{Detail, Formula, Variable};
use stubborn_model::{Footprint, Layout, Model, Question, State};

/// What is assigned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Constant(usize),
    /// The value of another variable, folded into the range.
    Copy(Variable),
    /// The next value of the same variable, around.
    Next,
}

/// An assignment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assignment {
    pub(crate) target: Variable,
    pub(crate) value: Value,
}

impl Assignment {
    fn run(&self, s: &mut State<'_>) {
        let target = self.target;
        let value = match self.value {
            Value::Constant(value) => value,
            Value::Copy(from) => target.fold(s.get(from.var)),
            Value::Next => target.fold(s.get(target.var) - target.least + 1),
        };
        s.set(target.var, value);
    }

    fn declare(&self, footprint: Footprint) -> Footprint {
        let target = self.target;
        match self.value {
            Value::Constant(value) => footprint.writes_only(target.var, [value]),
            Value::Copy(from) => {
                let values = (from.least..=from.most).map(|value| target.fold(value));
                footprint.reads(from.var).writes_only(target.var, values)
            }
            Value::Next => footprint.updates(target.var),
        }
    }

    fn map(&self, to: &impl Fn(Variable) -> Variable) -> Self {
        let value = match self.value {
            Value::Copy(from) => Value::Copy(to(from)),
            value => value,
        };
        Self { target: to(self.target), value }
    }
}

/// From program location `at`, if `guard` holds: do `effect` and go on at `next`.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) at: usize,
    pub(crate) guard: Formula,
    pub(crate) effect: Vec<Assignment>,
    pub(crate) next: usize,
}

impl Command {
    fn run(&self, counter: Variable, s: &mut State<'_>) {
        self.effect.iter().for_each(|assignment| assignment.run(s));
        s.set(counter.var, self.next);
    }

    fn declare(&self, counter: Variable, footprint: Footprint) -> Footprint {
        let footprint = self.guard.declare(footprint, Detail::Tests);
        let footprint = self.effect.iter().fold(footprint, |f, assignment| assignment.declare(f));
        footprint.writes_only(counter.var, [self.next])
    }

    pub(crate) fn map(&self, to: &impl Fn(Variable) -> Variable) -> Self {
        Self {
            guard: self.guard.map(to),
            effect: self.effect.iter().map(|assignment| assignment.map(to)).collect(),
            ..*self
        }
    }
}

/// A transition.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// One command, which waits for the program counter.
    One(Command),
    /// Whatever the program counter says: the first command there whose guard holds.
    Merged(Vec<Command>),
}

/// How the state check is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    As(Detail),
    Nowhere,
}

/// A program: a model of the random kind.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) layout: Layout,
    /// By process: its program counter, then its local variables.
    pub(crate) blocks: Vec<Vec<Variable>>,
    pub(crate) initial: Vec<(Variable, usize)>,
    /// The transitions, each with its process.
    pub(crate) steps: Vec<(usize, Step)>,
    /// The state check fails where this holds.
    pub(crate) bad: Formula,
    pub(crate) declared: Declared,
    /// The terminal states where it is wrong to stop.
    pub(crate) stuck: Formula,
    pub(crate) may_progress: Formula,
    pub(crate) must_progress: Formula,
    pub(crate) questions: Vec<Question>,
    pub(crate) is_symmetric: bool,
}

impl Program {
    fn counter(&self, t: usize) -> Variable {
        self.blocks[self.steps[t].0][0]
    }
}

impl Model for Program {
    fn name(&self) -> String {
        "a random program".into()
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        self.steps.len()
    }

    fn questions(&self) -> Vec<Question> {
        self.questions.clone()
    }

    fn initial(&self, s: &mut State<'_>) {
        self.initial.iter().for_each(|&(variable, value)| s.set(variable.var, value));
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        let counter = self.counter(t);
        let chosen = match &self.steps[t].1 {
            Step::One(command) => {
                Some(command).filter(|c| s.is(counter.var, c.at)).filter(|c| c.guard.holds(s))
            }
            Step::Merged(commands) => {
                let at = s.get(counter.var);
                commands.iter().find(|c| c.at == at && c.guard.holds(s))
            }
        };
        if let Some(command) = chosen {
            command.run(counter, s);
        }
        chosen.is_some()
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        let counter = self.counter(t);
        Some(match &self.steps[t].1 {
            Step::One(command) => command.declare(counter, Footprint::new().tests(counter.var, [command.at])),
            Step::Merged(commands) => {
                let start = Footprint::new().reads(counter.var);
                commands.iter().fold(start, |footprint, command| command.declare(counter, footprint))
            }
        })
    }

    fn check(&self, s: &State<'_>) -> Result<(), String> {
        if self.bad.holds(s) { Err("this state is bad".into()) } else { Ok(()) }
    }

    fn check_footprint(&self) -> Option<Footprint> {
        match self.declared {
            Declared::As(detail) => Some(self.bad.declare(Footprint::new(), detail)),
            Declared::Nowhere => None,
        }
    }

    fn check_deadlock(&self, s: &State<'_>) -> Result<(), String> {
        if self.stuck.holds(s) { Err("it is bad to stop here".into()) } else { Ok(()) }
    }

    fn is_may_progress(&self, s: &State<'_>) -> bool {
        self.may_progress.holds(s)
    }

    fn is_must_progress(&self, s: &State<'_>) -> bool {
        self.must_progress.holds(s)
    }

    fn has_symmetry(&self) -> bool {
        self.is_symmetric
    }

    fn represent(&self, s: &mut State<'_>) {
        let read = |block: &Vec<Variable>| block.iter().map(|v| s.get(v.var)).collect::<Vec<usize>>();
        let mut values: Vec<Vec<usize>> = self.blocks.iter().map(read).collect();
        values.sort_unstable();
        for (variable, value) in self.blocks.iter().flatten().zip(values.into_iter().flatten()) {
            s.set(variable.var, value);
        }
    }
}
