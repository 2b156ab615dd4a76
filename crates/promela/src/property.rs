//! Properties of runs: formulas over propositions, and never claims as automata.
//!
//! A never claim is a Büchi automaton of forbidden runs: its locations are states, its conditions guards, those
//! with an accept label accept. Where it ends, or an assertion of it fails, everything that follows is accepted.
//! Steps of an atomic sequence read the same state. **Checked by** `tests/all/claims.rs`: the product has as many
//! states as SPIN stores.

use stubborn_ltl::{Automaton, Cube, Formula, Guard, Propositions, State};
use stubborn_network::{Action, BinaryOp, Claim, Expr, LocationId, Step, UnaryOp};
use thiserror::Error;

/// What all runs must satisfy.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// As written, on one line.
    pub text: String,
    /// The formula; its atoms are numbers of propositions.
    pub formula: Formula,
    /// The propositions as texts.
    pub propositions: Propositions,
    /// The propositions as expressions: [`stubborn_network::Network::holds`] evaluates them.
    pub exprs: Vec<Expr>,
}

/// A claim has more conditions than an automaton can tell apart.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the claim has more than 64 different conditions")]
pub struct TooManyGuards;

/// The automaton of the runs that a claim forbids, and its propositions as expressions. States below the number
/// of locations are the locations.
pub fn claim_automaton(claim: &Claim) -> Result<(Automaton, Vec<Expr>), TooManyGuards> {
    let mut work = Work { exprs: Vec::new() };
    let n = claim.locations.len();
    let mut edges: Vec<(State, Guard, State)> = Vec::new();
    let end = n as State;
    for at in 0..n {
        let mut out = Vec::new();
        work.moves(claim, LocationId(at as u16), &Guard::always(), n, &mut out)?;
        edges.extend(out.into_iter().map(|(guard, to)| (at as State, guard, to.unwrap_or(end))));
    }
    let texts: Vec<String> = (0..work.exprs.len()).map(|i| format!("condition {i}")).collect();
    let names = Propositions::from_texts(texts.iter().map(String::as_str));
    let mut automaton = Automaton::new(names.map_err(|_| TooManyGuards)?, 1);
    for location in &claim.locations {
        automaton.add_state(u64::from(location.is_accept));
    }
    automaton.add_state(1);
    automaton.add_edge(end, Guard::always(), end, 0);
    for (source, guard, target) in edges {
        automaton.add_edge(source, guard, target, 0);
    }
    automaton.add_initial(if is_over(claim, claim.entry) { end } else { State::from(claim.entry.0) });
    Ok((automaton, work.exprs))
}

/// Whether a claim has ended at a location: the end of it, or a label that begins with `end`, as in SPIN.
fn is_over(claim: &Claim, location: LocationId) -> bool {
    claim.locations[location.index()].is_end
}

struct Work {
    exprs: Vec<Expr>,
}

impl Work {
    /// What a claim can do at a location on letters of `given`: guards, and where they lead; nowhere if the
    /// claim has ended. `left` bounds the length of atomic sequences.
    fn moves(
        &mut self,
        claim: &Claim,
        at: LocationId,
        given: &Guard,
        left: usize,
        out: &mut Vec<(Guard, Option<State>)>,
    ) -> Result<(), TooManyGuards> {
        let mut before = Guard::never();
        for step in &claim.locations[at.index()].steps {
            let can = match &step.action {
                Action::Guard(expr) => self.guard(expr)?,
                Action::Else => before.not(),
                Action::Assert(expr) => {
                    let holds = self.guard(expr)?;
                    out.push((given.and(&holds.not()), None));
                    before = Guard::always();
                    holds
                }
                _ => Guard::always(),
            };
            before = before.or(&can);
            self.follow(claim, step, &given.and(&can), left, out)?;
        }
        Ok(())
    }

    /// Goes on after a step that can be done on letters of `given`.
    fn follow(
        &mut self,
        claim: &Claim,
        step: &Step,
        given: &Guard,
        left: usize,
        out: &mut Vec<(Guard, Option<State>)>,
    ) -> Result<(), TooManyGuards> {
        if given.is_never() {
            return Ok(());
        }
        if step.action == Action::End || is_over(claim, step.next) {
            out.push((given.clone(), None));
            return Ok(());
        }
        if !step.is_atomic || left == 0 {
            out.push((given.clone(), Some(State::from(step.next.0))));
            return Ok(());
        }
        let mut inner = Vec::new();
        self.moves(claim, step.next, given, left - 1, &mut inner)?;
        let moved = inner.iter().fold(Guard::never(), |all, (guard, _)| all.or(guard));
        out.extend(inner);
        // Where it blocks it waits.
        out.push((given.and(&moved.not()), Some(State::from(step.next.0))));
        Ok(())
    }

    /// The letters on which an expression holds.
    fn guard(&mut self, expr: &Expr) -> Result<Guard, TooManyGuards> {
        Ok(match expr {
            Expr::Constant(value) => {
                if *value != 0 {
                    Guard::always()
                } else {
                    Guard::never()
                }
            }
            Expr::Unary(UnaryOp::Not, a) => self.guard(a)?.not(),
            Expr::Binary(BinaryOp::And, a, b) => self.guard(a)?.and(&self.guard(b)?),
            Expr::Binary(BinaryOp::Or, a, b) => self.guard(a)?.or(&self.guard(b)?),
            _ => {
                let number = self.exprs.iter().position(|known| known == expr).unwrap_or_else(|| {
                    self.exprs.push(expr.clone());
                    self.exprs.len() - 1
                });
                if number >= stubborn_ltl::MAX_PROPOSITIONS {
                    return Err(TooManyGuards);
                }
                Guard::from(Cube::minterm(1 << number, 1 << number))
            }
        })
    }
}
