//! Programs as text, for people who must find out why one fails.
//!
//! `x == 1` only tests, `value of x == 1` reads the value first; `2 of (...)` is true if at least two are.
//! The text is not read back: a program is repeated by its seed, so an error here misleads people only.

use crate::commands::{Assignment, Command, Declared, Program, Step, Value};
use crate::formula::{Comparison, Fact, Formula, Variable};
use std::fmt;
use stubborn_model::Layout;

/// Something of a program, and where the names of its variables are.
struct Shown<'a, T>(&'a T, &'a Layout);

impl<T> Shown<'_, T> {
    fn name(&self, variable: Variable) -> &str {
        self.1.name(variable.var)
    }
}

impl fmt::Display for Shown<'_, Fact> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fact = self.0;
        let operator = match (fact.comparison, fact.is_negated) {
            (Comparison::Is, false) => "==",
            (Comparison::Is, true) => "!=",
            (Comparison::AtMost, false) => "<=",
            (Comparison::AtMost, true) => "not <=",
            (Comparison::AtLeast, false) => ">=",
            (Comparison::AtLeast, true) => "not >=",
        };
        let how = if fact.reads_value { "value of " } else { "" };
        write!(f, "{how}{} {operator} {}", self.name(fact.variable), fact.number)
    }
}

impl fmt::Display for Shown<'_, Formula> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Formula::Fact(fact) => Shown(fact, self.1).fmt(f),
            Formula::Same(a, b) => write!(f, "value of {} == value of {}", self.name(*a), self.name(*b)),
            Formula::Cases(first, then, second) => {
                let (first, second) = (Shown(first, self.1), Shown(second, self.1));
                write!(f, "({first} ? {} : {second})", Shown(&**then, self.1))
            }
            Formula::AtLeast(n, formulas) => {
                let parts: Vec<String> = formulas.iter().map(|g| Shown(g, self.1).to_string()).collect();
                write!(f, "{n} of ({})", parts.join(", "))
            }
        }
    }
}

impl fmt::Display for Shown<'_, Assignment> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = self.name(self.0.target);
        match self.0.value {
            Value::Constant(value) => write!(f, "{target} := {value}"),
            Value::Copy(from) => write!(f, "{target} := {}", self.name(from)),
            Value::Next => write!(f, "{target} := next"),
        }
    }
}

impl fmt::Display for Shown<'_, Command> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Command { at, guard, effect, next } = self.0;
        write!(f, "at {at} if {}: ", Shown(guard, self.1))?;
        effect.iter().try_for_each(|assignment| write!(f, "{}; ", Shown(assignment, self.1)))?;
        write!(f, "go to {next}")
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = &self.layout;
        for (variable, value) in &self.initial {
            let Variable { var, least, most } = variable;
            writeln!(f, "{} in {least}..={most} is {value}", layout.name(*var))?;
        }
        for (t, (process, step)) in self.steps.iter().enumerate() {
            match step {
                Step::One(command) => writeln!(f, "t{t}, process {process}: {}", Shown(command, layout))?,
                Step::Merged(commands) => {
                    writeln!(f, "t{t}, process {process}, the first of:")?;
                    commands.iter().try_for_each(|c| writeln!(f, "    {}", Shown(c, layout)))?;
                }
            }
        }
        let declared = match self.declared {
            Declared::As(detail) => format!("{detail:?}"),
            Declared::Nowhere => "nothing".into(),
        };
        writeln!(f, "check (declares {declared}) fails if {}", Shown(&self.bad, layout))?;
        writeln!(f, "stuck if {}", Shown(&self.stuck, layout))?;
        writeln!(f, "may-progress if {}", Shown(&self.may_progress, layout))?;
        writeln!(f, "must-progress if {}", Shown(&self.must_progress, layout))?;
        self.questions.iter().try_for_each(|question| writeln!(f, "asked: {question}"))
    }
}
