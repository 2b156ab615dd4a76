//! Facts about variables and monotone combinations of them: the guards and checks of random programs.
//!
//! A formula is evaluated from left to right and stops as soon as its value is known, as hand-written
//! code does, so that what is looked at differs from state to state. Its declared footprint is computed
//! from the same data, and names every look that may happen in any state. Were one forgotten, the derived
//! rules would report it as a fault of the model, and every campaign would stop there.

use stubborn_model::{Footprint, State, Var};

/// A variable and its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) var: Var,
    pub(crate) least: usize,
    pub(crate) most: usize,
}

impl Variable {
    pub(crate) fn n_values(self) -> usize {
        self.most - self.least + 1
    }

    /// The value of the variable that `n` is folded to.
    pub(crate) fn fold(self, n: usize) -> usize {
        self.least + n % self.n_values()
    }
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Is,
    AtMost,
    AtLeast,
}

/// A comparison of a variable with a number, or the negation of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    pub(crate) variable: Variable,
    pub(crate) comparison: Comparison,
    pub(crate) number: usize,
    pub(crate) is_negated: bool,
    /// Whether the value is read and then compared, instead of being tested.
    pub(crate) reads_value: bool,
}

impl Fact {
    fn holds(&self, s: &State<'_>) -> bool {
        let var = self.variable.var;
        if self.reads_value {
            return self.is_true_of(s.get(var));
        }
        let is_so = match self.comparison {
            Comparison::Is => s.is(var, self.number),
            Comparison::AtMost => s.at_most(var, self.number),
            Comparison::AtLeast => s.at_least(var, self.number),
        };
        is_so != self.is_negated
    }

    fn map(&self, to: &impl Fn(Variable) -> Variable) -> Self {
        Self { variable: to(self.variable), ..*self }
    }

    fn is_true_of(&self, value: usize) -> bool {
        let is_so = match self.comparison {
            Comparison::Is => value == self.number,
            Comparison::AtMost => value <= self.number,
            Comparison::AtLeast => value >= self.number,
        };
        is_so != self.is_negated
    }

    fn declare(&self, footprint: Footprint, detail: Detail) -> Footprint {
        let var = self.variable.var;
        match detail {
            _ if self.reads_value => footprint.reads(var),
            Detail::Direction => footprint.fails_by(var, self.values()),
            Detail::Tests => footprint.tests(var, self.values()),
            Detail::Values => footprint.reads(var),
        }
    }

    /// The values of which it is true.
    fn values(&self) -> Vec<usize> {
        (self.variable.least..=self.variable.most).filter(|&value| self.is_true_of(value)).collect()
    }
}

/// Something that may be true of a state.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    Fact(Fact),
    /// The two variables have the same value.
    Same(Variable, Variable),
    /// At least so many are true: all of them for "and", one of them for "or".
    AtLeast(usize, Vec<Formula>),
    /// The first fact and the formula, or the second fact. The facts exclude each other, so that evaluation
    /// looks at the formula only if the first is true and at the second only if it is not: what is looked at
    /// changes although the formula is monotone.
    Cases(Fact, Box<Formula>, Fact),
}

/// How much a footprint says about what is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Which values help the formula to be true.
    Direction,
    /// Which values are told apart.
    Tests,
    /// Only the variables.
    Values,
}

impl Formula {
    pub(crate) fn all(formulas: Vec<Self>) -> Self {
        Self::AtLeast(formulas.len(), formulas)
    }

    pub(crate) fn any(formulas: Vec<Self>) -> Self {
        Self::AtLeast(1, formulas)
    }

    pub(crate) fn holds(&self, s: &State<'_>) -> bool {
        match self {
            Self::Fact(fact) => fact.holds(s),
            Self::Same(a, b) => s.get(a.var) == s.get(b.var),
            Self::AtLeast(n, formulas) => {
                let mut n_missing = *n;
                for (i, formula) in formulas.iter().enumerate() {
                    if n_missing == 0 || n_missing > formulas.len() - i {
                        break;
                    }
                    n_missing -= usize::from(formula.holds(s));
                }
                n_missing == 0
            }
            Self::Cases(first, then, second) => {
                if first.holds(s) {
                    then.holds(s)
                } else {
                    second.holds(s)
                }
            }
        }
    }

    /// Adds to `footprint` every look at a variable that evaluation may take.
    pub(crate) fn declare(&self, footprint: Footprint, detail: Detail) -> Footprint {
        match self {
            Self::Fact(fact) => fact.declare(footprint, detail),
            Self::Cases(first, then, second) => {
                then.declare(second.declare(first.declare(footprint, detail), detail), detail)
            }
            Self::Same(a, b) => footprint.reads(a.var).reads(b.var),
            Self::AtLeast(_, formulas) => formulas.iter().fold(footprint, |f, g| g.declare(f, detail)),
        }
    }

    /// The same formula about other variables.
    pub(crate) fn map(&self, to: &impl Fn(Variable) -> Variable) -> Self {
        match self {
            Self::Fact(fact) => Self::Fact(fact.map(to)),
            Self::Cases(first, then, second) => {
                Self::Cases(first.map(to), Box::new(then.map(to)), second.map(to))
            }
            Self::Same(a, b) => Self::Same(to(*a), to(*b)),
            Self::AtLeast(n, formulas) => Self::AtLeast(*n, formulas.iter().map(|f| f.map(to)).collect()),
        }
    }
}
