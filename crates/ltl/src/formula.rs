//! Formulas as they are written, and how they are written back.
//!
//! A formula is a plain tree: a front-end with a parser of its own builds it from these constructors, with
//! the numbers that [`Propositions`] gives. Conjunctions and disjunctions have any number of parts, so that a
//! long one is no deep one.

use crate::Propositions;
use std::fmt::Write;

/// A formula of linear temporal logic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// `true`.
    True,
    /// `false`.
    False,
    /// A proposition, by number.
    Atom(usize),
    /// `!a`.
    Not(Box<Formula>),
    /// `a && b && ...`.
    And(Vec<Formula>),
    /// `a || b || ...`.
    Or(Vec<Formula>),
    /// `a -> b`.
    Implies(Box<Formula>, Box<Formula>),
    /// `a <-> b`.
    Equivalent(Box<Formula>, Box<Formula>),
    /// `X a`: a holds in the next state.
    Next(Box<Formula>),
    /// `[] a`: a holds from now on.
    Always(Box<Formula>),
    /// `<> a`: a holds now or later.
    Eventually(Box<Formula>),
    /// `a U b`: b holds now or later, and a until then.
    Until(Box<Formula>, Box<Formula>),
    /// `a W b`: a until b, or a for ever.
    WeakUntil(Box<Formula>, Box<Formula>),
    /// `a V b` (also `a R b`): b holds up to and including the first state where a does, or for ever.
    Release(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// Proposition number `number`.
    pub fn atom(number: usize) -> Self {
        Self::Atom(number)
    }

    /// All of them; conjunctions among them are flattened.
    pub fn and(parts: impl IntoIterator<Item = Formula>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Self::And(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        if all.len() == 1 { all.remove(0) } else { Self::And(all) }
    }

    /// One of them; disjunctions among them are flattened.
    pub fn or(parts: impl IntoIterator<Item = Formula>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Self::Or(inner) => all.extend(inner),
                other => all.push(other),
            }
        }
        if all.len() == 1 { all.remove(0) } else { Self::Or(all) }
    }

    /// Its negation; a double negation is none.
    pub fn negated(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// The formulas directly below.
    pub fn parts(&self) -> Vec<&Formula> {
        match self {
            Self::True | Self::False | Self::Atom(_) => Vec::new(),
            Self::Not(a) | Self::Next(a) | Self::Always(a) | Self::Eventually(a) => vec![a],
            Self::And(parts) | Self::Or(parts) => parts.iter().collect(),
            Self::Implies(a, b)
            | Self::Equivalent(a, b)
            | Self::Until(a, b)
            | Self::WeakUntil(a, b)
            | Self::Release(a, b) => vec![a, b],
        }
    }

    /// How deep it is nested. Found without recursion, so that it can be asked of any formula.
    pub fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut stack = vec![(self, 1)];
        while let Some((formula, depth)) = stack.pop() {
            deepest = deepest.max(depth);
            stack.extend(formula.parts().into_iter().map(|part| (part, depth + 1)));
        }
        deepest
    }

    /// Whether `X` occurs in it. A formula without `X` does not notice stuttering.
    pub fn has_next(&self) -> bool {
        let mut stack = vec![self];
        while let Some(formula) = stack.pop() {
            if matches!(formula, Self::Next(_)) {
                return true;
            }
            stack.extend(formula.parts());
        }
        false
    }

    /// In SPIN's syntax, every binary operator in parentheses, so that both of SPIN's parsers (that of models
    /// and that of `spin -f`, whose priorities differ) read the same formula. `W` is written out, because
    /// `spin -f` does not know it.
    pub fn show(&self, propositions: &Propositions) -> String {
        let mut out = String::new();
        self.write(propositions, &mut out);
        out
    }

    fn write(&self, names: &Propositions, out: &mut String) {
        match self {
            Self::True => out.push_str("true"),
            Self::False => out.push_str("false"),
            Self::Atom(number) => out.push_str(&names.operand(*number)),
            Self::Not(a) => unary("!", a, names, out),
            Self::Next(a) => unary("X ", a, names, out),
            Self::Always(a) => unary("[] ", a, names, out),
            Self::Eventually(a) => unary("<> ", a, names, out),
            Self::And(parts) => join(parts, " && ", "true", names, out),
            Self::Or(parts) => join(parts, " || ", "false", names, out),
            Self::Implies(a, b) => binary(a, "->", b, names, out),
            Self::Equivalent(a, b) => binary(a, "<->", b, names, out),
            Self::Until(a, b) => binary(a, "U", b, names, out),
            Self::Release(a, b) => binary(a, "V", b, names, out),
            Self::WeakUntil(a, b) => {
                out.push_str("(([] ");
                a.write(names, out);
                out.push_str(") || ");
                binary(a, "U", b, names, out);
                out.push(')');
            }
        }
    }
}

fn unary(sign: &str, a: &Formula, names: &Propositions, out: &mut String) {
    let _ = write!(out, "({sign}");
    a.write(names, out);
    out.push(')');
}

fn binary(a: &Formula, sign: &str, b: &Formula, names: &Propositions, out: &mut String) {
    out.push('(');
    a.write(names, out);
    let _ = write!(out, " {sign} ");
    b.write(names, out);
    out.push(')');
}

fn join(parts: &[Formula], sign: &str, none: &str, names: &Propositions, out: &mut String) {
    if parts.is_empty() {
        out.push_str(none);
        return;
    }
    out.push('(');
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            out.push_str(sign);
        }
        part.write(names, out);
    }
    out.push(')');
}
