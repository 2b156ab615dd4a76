//! `ltl` formulas: their skeleton of boolean and temporal operators becomes a formula, the rest propositions.
//!
//! Equal expressions are one proposition, whatever they were called. **Checked by** `tests/all/syntax.rs` and by
//! SPIN's verdicts.

use super::Lowering;
use crate::Property;
use crate::ast::{self, BinaryOp, ExprKind, UnaryOp};
use std::sync::Arc;
use stubborn_ltl::{Formula, Propositions};
use stubborn_network::{BinaryOp as Plain, Expr};
use stubborn_text::Span;

/// The propositions found so far.
#[derive(Default)]
struct Atoms {
    texts: Propositions,
    exprs: Vec<Expr>,
}

impl Lowering<'_> {
    /// `ltl name { formula }`, or a formula of the command line.
    pub(super) fn formula_item(&mut self, name: Option<&ast::Ident>, formula: &ast::Expr) {
        self.read_by(formula);
        self.begin_process(Arc::from(":ltl:"), formula.span);
        let mut atoms = Atoms::default();
        if !self.means_something(formula, "a formula") {
            return;
        }
        if let Some(lowered) = self.formula(formula, &mut atoms) {
            self.formulas.push(Property {
                name: name.map(|name| name.name.to_string()),
                text: self.on_one_line(formula.span),
                formula: lowered,
                propositions: atoms.texts,
                exprs: atoms.exprs,
            });
        }
    }

    fn formula(&mut self, expr: &ast::Expr, atoms: &mut Atoms) -> Option<Formula> {
        Some(match &expr.kind {
            ExprKind::Number(value) => [Formula::False, Formula::True][usize::from(*value != 0)].clone(),
            ExprKind::Unary(op, a) if is_logical(*op) => {
                let a = Box::new(self.formula(a, atoms)?);
                match op {
                    UnaryOp::Always => Formula::Always(a),
                    UnaryOp::Eventually => Formula::Eventually(a),
                    UnaryOp::Next => Formula::Next(a),
                    UnaryOp::Plain(_) => a.negated(),
                }
            }
            ExprKind::Binary(op, a, b) if joins_formulas(*op) => {
                let (a, b) = (self.formula(a, atoms), self.formula(b, atoms));
                let (a, b) = (a?, b?);
                match op {
                    BinaryOp::Plain(Plain::And) => Formula::and([a, b]),
                    BinaryOp::Plain(_) => Formula::or([a, b]),
                    BinaryOp::Until => Formula::Until(a.into(), b.into()),
                    BinaryOp::WeakUntil => Formula::WeakUntil(a.into(), b.into()),
                    BinaryOp::Release => Formula::Release(a.into(), b.into()),
                    BinaryOp::Implies => Formula::Implies(a.into(), b.into()),
                    BinaryOp::Equivalent => Formula::Equivalent(a.into(), b.into()),
                }
            }
            _ => Formula::atom(self.atom(expr, atoms)?),
        })
    }

    fn atom(&mut self, expr: &ast::Expr, atoms: &mut Atoms) -> Option<usize> {
        let lowered = self.expr(expr)?;
        if let Some(number) = atoms.exprs.iter().position(|known| *known == lowered) {
            return Some(number);
        }
        let mut text = self.on_one_line(expr.span);
        while atoms.texts.find(&text).is_some() {
            // The same words may mean something else where a macro was defined anew.
            text.push('\'');
        }
        match atoms.texts.number(&text, 0..0) {
            Ok(number) => {
                atoms.exprs.push(lowered);
                Some(number)
            }
            Err(error) => {
                self.error("P0331", expr.span, format!("{error} in one formula"));
                None
            }
        }
    }

    fn on_one_line(&self, span: Span) -> String {
        self.map.snippet(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Whether an operator makes a formula of a formula, and not a value of a value.
fn is_logical(op: UnaryOp) -> bool {
    !matches!(op, UnaryOp::Plain(op) if op != stubborn_network::UnaryOp::Not)
}

fn joins_formulas(op: BinaryOp) -> bool {
    !matches!(op, BinaryOp::Plain(op) if !matches!(op, Plain::And | Plain::Or))
}
