//! Visits all expressions of a statement.

use crate::ast::{
    Block, Declaration, Expr, ExprKind, Initial, ReceiveArgument, Reference, Statement, StatementKind,
};

/// Calls `visit` with every expression in a block.
pub(crate) fn block(block: &Block, visit: &mut dyn FnMut(&Expr)) {
    block.statements.iter().for_each(|s| statement(s, visit));
}

fn statement(statement: &Statement, visit: &mut dyn FnMut(&Expr)) {
    match &statement.kind {
        StatementKind::Declaration(declaration) => declared(declaration, visit),
        StatementKind::Exclusive { channels, .. } => channels.iter().for_each(|c| reference(c, visit)),
        StatementKind::Labelled(_, inner) => self::statement(inner, visit),
        StatementKind::Assign(target, value) | StatementKind::Increment(target, value) => {
            reference(target, visit);
            expr(value, visit);
        }
        StatementKind::Guard(e) | StatementKind::Assert(e) => expr(e, visit),
        StatementKind::Else | StatementKind::Break | StatementKind::Goto(_) => {}
        StatementKind::Send { channel, arguments, .. } => {
            reference(channel, visit);
            arguments.iter().for_each(|e| expr(e, visit));
        }
        StatementKind::Receive { channel, arguments, .. } => {
            reference(channel, visit);
            arguments.iter().for_each(|a| argument(a, visit));
        }
        StatementKind::Print { arguments, .. } => arguments.iter().for_each(|e| expr(e, visit)),
        StatementKind::SetPriority(a, b) => [a, b].into_iter().for_each(|e| expr(e, visit)),
        StatementKind::If(options) | StatementKind::Do(options) => {
            options.iter().for_each(|option| block(option, visit));
        }
        StatementKind::For(variable, from, to, body) => {
            reference(variable, visit);
            [from, to].into_iter().for_each(|e| expr(e, visit));
            block(body, visit);
        }
        StatementKind::ForIn(variable, list, body) => {
            [variable, list].into_iter().for_each(|r| reference(r, visit));
            block(body, visit);
        }
        StatementKind::Select(variable, from, to) => {
            reference(variable, visit);
            [from, to].into_iter().for_each(|e| expr(e, visit));
        }
        StatementKind::Atomic(inner) | StatementKind::DStep(inner) | StatementKind::Block(inner) => {
            block(inner, visit);
        }
        StatementKind::Unless(main, escape) => {
            [main, escape].into_iter().for_each(|s| self::statement(s, visit));
        }
    }
}

fn declared(declaration: &Declaration, visit: &mut dyn FnMut(&Expr)) {
    for variable in &declaration.variables {
        match &variable.initial {
            Initial::Value(e) => expr(e, visit),
            Initial::List(list) => list.iter().for_each(|e| expr(e, visit)),
            Initial::Zero | Initial::Channel(_) => {}
        }
    }
}

fn reference(reference: &Reference, visit: &mut dyn FnMut(&Expr)) {
    reference.parts.iter().filter_map(|p| p.index.as_deref()).for_each(|e| expr(e, visit));
}

fn argument(argument: &ReceiveArgument, visit: &mut dyn FnMut(&Expr)) {
    match argument {
        ReceiveArgument::Variable(r) => reference(r, visit),
        ReceiveArgument::Eval(e) | ReceiveArgument::Constant(e) => expr(e, visit),
    }
}

/// Calls `visit` with an expression and all within it.
pub(crate) fn expr(e: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(e);
    match &e.kind {
        ExprKind::Number(_) | ExprKind::Timeout | ExprKind::NonProgress => {}
        ExprKind::Reference(r) | ExprKind::Channel(_, r) => reference(r, visit),
        ExprKind::Unary(_, a) | ExprKind::Enabled(a) | ExprKind::PcValue(a) | ExprKind::GetPriority(a) => {
            expr(a, visit)
        }
        ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| expr(e, visit)),
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| expr(e, visit)),
        ExprKind::Poll { channel, arguments, .. } => {
            reference(channel, visit);
            arguments.iter().for_each(|a| argument(a, visit));
        }
        ExprKind::Run { arguments, .. } => arguments.iter().for_each(|e| expr(e, visit)),
        ExprKind::RemoteLabel { index, .. } => index.iter().for_each(|e| expr(e, visit)),
        ExprKind::RemoteVariable { index, variable, .. } => {
            index.iter().chain(&variable.index).for_each(|e| expr(e, visit));
        }
    }
}
