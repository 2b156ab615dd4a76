//! Names: variables in nested scopes, constants, and what is known of other processes.

use super::Lowering;
use super::types::Type;
use crate::ast;
use std::collections::HashMap;
use std::sync::Arc;
use stubborn_network::{Expr, Scope};
use stubborn_text::{Diagnostic, Span};

/// A variable.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) type_of: Type,
    /// How many elements, if it is an array.
    pub(super) length: Option<usize>,
    pub(super) scope: Scope,
    pub(super) offset: usize,
    pub(super) span: Span,
    /// The value it begins with, if that is a constant.
    pub(super) constant: Option<i32>,
    /// The kind of channel it begins with.
    pub(super) channel: Option<usize>,
}

/// A block of the process that is being lowered.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockScope {
    pub(super) symbols: HashMap<Arc<str>, Symbol>,
    /// Unique in the process.
    pub(super) id: usize,
}

/// What other processes may know of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Label, and the number of its location.
    pub(super) labels: HashMap<Arc<str>, u16>,
    /// Local variables.
    pub(super) locals: HashMap<Arc<str>, Symbol>,
}

impl Lowering<'_> {
    /// The variable that a name means here.
    pub(super) fn lookup(&self, name: &str) -> Option<&Symbol> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.symbols.get(name));
        local.or_else(|| self.globals.get(name))
    }

    /// Declares a variable in the innermost scope.
    pub(super) fn declare(&mut self, name: &ast::Ident, symbol: Symbol) {
        let known = match self.scopes.last_mut() {
            Some(scope) => scope.symbols.insert(name.name.clone(), symbol.clone()),
            None => self.globals.insert(name.name.clone(), symbol.clone()),
        };
        if !self.scopes.is_empty() {
            self.known.locals.entry(name.name.clone()).or_insert(symbol);
        }
        if let Some(known) = known {
            let message = format!("`{}` is declared twice", name.name);
            let diagnostic = Diagnostic::error("P0302", name.span, message);
            self.report(diagnostic.label(known.span, "first declared here"));
        }
    }

    /// The path of the current scope, for labels.
    pub(super) fn scope_path(&self) -> Vec<usize> {
        self.scopes.iter().map(|scope| scope.id).collect()
    }

    /// Runs `work` in a new scope.
    pub(super) fn scoped<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.n_scopes += 1;
        self.scopes.push(BlockScope { id: self.n_scopes, ..BlockScope::default() });
        let result = work(self);
        self.scopes.pop();
        result
    }

    /// The value of a constant expression.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Option<i32> {
        let value = self.expr(expr)?;
        let value = self.fold(&value);
        if value.is_none() {
            self.error("P0306", expr.span, "this must be a constant");
        }
        value
    }

    fn fold(&self, expr: &Expr) -> Option<i32> {
        use stubborn_network::{BinaryOp, UnaryOp, arithmetic};
        match expr {
            Expr::Constant(value) => Some(*value),
            // A variable that begins with a constant stands for it, as in SPIN.
            Expr::Load(place) => self.lookup(&place.text).and_then(|symbol| symbol.constant),
            Expr::Unary(UnaryOp::Minus, a) => Some(self.fold(a)?.wrapping_neg()),
            Expr::Binary(op, a, b) => {
                let is_calculated = matches!(
                    op,
                    BinaryOp::Add
                        | BinaryOp::Subtract
                        | BinaryOp::Multiply
                        | BinaryOp::Divide
                        | BinaryOp::Modulo
                        | BinaryOp::ShiftLeft
                        | BinaryOp::ShiftRight
                );
                is_calculated.then(|| arithmetic(*op, self.fold(a)?, self.fold(b)?)).flatten()
            }
            _ => None,
        }
    }
}
