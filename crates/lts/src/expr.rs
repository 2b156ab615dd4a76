//! Boolean expressions over the propositions of components.

use crate::lsts::Lsts;
use std::fmt;

/// An expression over propositions of numbered components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant.
    Constant(bool),
    /// Whether a component is where its proposition holds.
    Holds {
        /// The component, from zero.
        component: usize,
        /// Its proposition, from zero.
        proposition: usize,
    },
    /// Negation.
    Not(Box<Expr>),
    /// Conjunction.
    And(Vec<Expr>),
    /// Disjunction.
    Or(Vec<Expr>),
}

impl Expr {
    /// Its value; `holds` says whether a component is where its proposition holds.
    #[inline]
    pub fn value(&self, holds: &impl Fn(usize, usize) -> bool) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::Holds { component, proposition } => holds(*component, *proposition),
            Self::Not(inside) => !inside.value(holds),
            Self::And(parts) => parts.iter().all(|part| part.value(holds)),
            Self::Or(parts) => parts.iter().any(|part| part.value(holds)),
        }
    }

    /// Adds the components that it mentions to `out`, each once, sorted.
    pub fn components(&self, out: &mut Vec<usize>) {
        match self {
            Self::Constant(_) => {}
            Self::Holds { component, .. } => {
                if let Err(place) = out.binary_search(component) {
                    out.insert(place, *component);
                }
            }
            Self::Not(inside) => inside.components(out),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.components(out)),
        }
    }

    /// Adds the propositions that it mentions, with their components, to `out`, each once, sorted.
    pub fn propositions(&self, out: &mut Vec<(usize, usize)>) {
        match self {
            Self::Constant(_) => {}
            Self::Holds { component, proposition } => {
                if let Err(place) = out.binary_search(&(*component, *proposition)) {
                    out.insert(place, (*component, *proposition));
                }
            }
            Self::Not(inside) => inside.propositions(out),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.propositions(out)),
        }
    }

    /// As it is written in rules; `numbers` are the components' numbers there.
    pub(crate) fn show<'a>(&'a self, numbers: &'a [u64], systems: &'a [&'a Lsts]) -> Shown<'a> {
        Shown { expr: self, numbers, systems }
    }
}

/// An expression to be written.
pub(crate) struct Shown<'a> {
    expr: &'a Expr,
    numbers: &'a [u64],
    systems: &'a [&'a Lsts],
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inside = |expr| Shown { expr, ..*self };
        match self.expr {
            Expr::Constant(value) => write!(f, "{value}"),
            Expr::Holds { component, proposition } => {
                let mark = &self.systems[*component].propositions()[*proposition].mark;
                let mut name = Vec::new();
                match mark {
                    crate::Mark::Named(text) => {
                        let _ = crate::write_lsts::write_string(text, &mut name);
                    }
                    crate::Mark::Special(special) => name.extend(special.word().bytes()),
                }
                write!(f, "{}.{}", self.numbers[*component], crate::latin1(&name))
            }
            Expr::Not(expr) => write!(f, "!{}", inside(expr)),
            Expr::And(parts) | Expr::Or(parts) => {
                let operator = if matches!(self.expr, Expr::And(_)) { " & " } else { " | " };
                write!(f, "(")?;
                for (i, part) in parts.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { operator }, inside(part))?;
                }
                write!(f, ")")
            }
        }
    }
}
