//! Hidden globals: variables that are only written.
//!
//! **Implements** SPIN's rule: a global scalar or array of scalars that the text does not read is hidden.
//! What counts as reading is [`crate::Variable::is_read`], which the front-end says because it depends on the text
//! (`x++` does not read `x`, `x = x + 1` does; `printf` does not read what it prints). That nobody reads the variable is checked here again:
//! whatever a front-end says, a variable that an expression loads is not hidden, unless the value goes to the
//! same variable and nothing can go wrong because of it, or is only printed and nothing can go wrong at all.
//!
//! An assignment to a hidden variable does nothing; if something can go wrong in it (an index, a division)
//! it is evaluated still, and zero is assigned.

use crate::{Action, BinaryOp, Expr, Initial, Network, Place, Scope, Step, Variable};

/// Takes the values of variables that are only written out of the states; which variables these are.
pub(super) fn hide(network: &mut Network, readers: &[&Expr]) -> Vec<usize> {
    let is_read = really_read(network, readers);
    let hidden: Vec<usize> = (0..network.globals.len())
        .filter(|&v| !is_read[v] && !network.globals[v].is_read && !network.globals[v].is_channel)
        .collect();
    if hidden.is_empty() {
        return hidden;
    }
    let globals = network.globals.clone();
    let is_hidden = |place: &Place| variable(&globals, place).is_some_and(|v| hidden.contains(&v));
    network.initialisers.retain(|initialiser| !is_hidden(&initialiser.place));
    let locations = network.processes.iter_mut().flat_map(|p| &mut p.locations);
    for step in locations.flat_map(|l| &mut l.steps) {
        drop_write(step, &is_hidden);
    }
    hidden
}

/// The index of the global that a place is in.
fn variable(globals: &[Variable], place: &Place) -> Option<usize> {
    let is_in = |v: &Variable| (v.offset..v.offset + v.length * v.stride).contains(&place.offset);
    globals.iter().position(|v| place.scope == Scope::Global && is_in(v))
}

/// Replaces the assignment to a hidden variable.
fn drop_write(step: &mut Step, is_hidden: &dyn Fn(&Place) -> bool) {
    match &mut step.action {
        Action::Assign(place, value) if is_hidden(place) => {
            if place.indices.is_empty() && !value.may_fail() {
                step.action = Action::Skip;
            } else {
                let evaluated = std::mem::replace(value, Expr::Constant(0));
                if evaluated.may_fail() {
                    *value = Expr::Binary(BinaryOp::And, Box::new(evaluated), Box::new(Expr::Constant(0)));
                }
            }
        }
        Action::Run(run) if run.result.as_ref().is_some_and(|(place, _)| is_hidden(place)) => {
            match &mut run.result {
                Some((place, value)) if !place.indices.is_empty() => *value = Expr::Constant(0),
                result => *result = None,
            }
        }
        _ => {}
    }
}

/// Whether values of variables have no part in what goes wrong in an expression: nothing does, or it is
/// `a[i] + 1`.
fn is_harmless(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) => match (&**a, &**b) {
            (Expr::Load(place), Expr::Constant(_)) => !place.indices.iter().any(|i| i.value.may_fail()),
            _ => !expr.may_fail(),
        },
        _ => !expr.may_fail(),
    }
}

/// The globals that something depends on.
fn really_read(network: &Network, readers: &[&Expr]) -> Vec<bool> {
    let globals = &network.globals;
    let mut is_read = vec![false; globals.len()];
    let mut note = |place: &Place| {
        if let Some(v) = variable(globals, place) {
            is_read[v] = true;
        }
    };
    network.last.iter().for_each(&mut note);
    network.trace.iter().for_each(|trace| note(&trace.place));
    // Expressions, with the variable that each is assigned to.
    let mut exprs: Vec<(&Expr, Option<&Place>)> = readers.iter().map(|reader| (*reader, None)).collect();
    let of_processes = network.processes.iter().flat_map(|p| &p.locations);
    let of_claims = network.claims.iter().flat_map(|c| &c.locations);
    let of_trace = network.trace.iter().flat_map(|t| &t.locations);
    for step in of_processes.chain(of_claims).chain(of_trace).flat_map(|l| &l.steps) {
        if let Action::Receive { fields, .. } = &step.action {
            // What is received stays, as in SPIN.
            fields.iter().filter_map(|field| field.target()).for_each(&mut note);
        }
        match &step.action {
            Action::Assign(place, value) => {
                exprs.push((value, Some(place)));
                exprs.extend(place.indices.iter().map(|index| (&index.value, None)));
            }
            other => exprs.extend(other.expressions().into_iter().map(|expr| (expr, None))),
        }
        exprs.extend(step.risks().into_iter().map(|expr| (expr, None)));
    }
    exprs.extend(network.processes.iter().flat_map(|p| &p.provided).map(|expr| (expr, None)));
    let of_processes = network.processes.iter().flat_map(|p| &p.initialisers);
    for initialiser in network.initialisers.iter().chain(of_processes) {
        if let Initial::Value(value) = &initialiser.initial {
            exprs.push((value, None));
        }
    }
    for (expr, target) in exprs {
        let target = target.and_then(|place| variable(globals, place)).filter(|_| is_harmless(expr));
        expr.walk(&mut |expr| {
            if let Expr::Load(place) = expr
                && (target.is_none() || variable(globals, place) != target)
            {
                note(place);
            }
        });
    }
    is_read
}
