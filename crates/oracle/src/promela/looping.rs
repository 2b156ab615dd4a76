//! Random models that run for ever: small processes that go round, over a few small variables.
//!
//! [`Model::random`] makes models of everything that the language has, most of which end. Properties of linear
//! time are decided by cycles, and reductions for them go wrong where independent cycles meet; so these
//! models have little else. Most have fewer than a few hundred states.

use super::{Model, Process, Statement};
use crate::Rng;

/// What the processes share.
struct Shared {
    /// Bits, and numbers up to two.
    bits: usize,
    numbers: usize,
    /// The capacities of channels that carry a bit.
    channels: Vec<usize>,
}

impl Model {
    /// A model whose processes go round.
    pub fn looping(rng: &mut Rng) -> Self {
        let channels = match rng.below(4) {
            0 => vec![0],
            1 => vec![1],
            _ => Vec::new(),
        };
        let shared = Shared { bits: rng.between(1, 3), numbers: rng.below(2), channels };
        let mut model = Self::default();
        model.declarations.extend((0..shared.bits).map(|i| format!("bit b{i};")));
        model.declarations.extend((0..shared.numbers).map(|i| format!("byte n{i};")));
        for (i, capacity) in shared.channels.iter().enumerate() {
            model.declarations.push(format!("chan q{i} = [{capacity}] of {{ bit }};"));
        }
        let n_processes = *rng.pick(&[1, 2, 2, 2, 3, 3]);
        let mut labels = Vec::new();
        for i in 0..n_processes {
            model.processes.push(process(rng, &shared, i, &mut labels));
        }
        model.propositions = (0..3).map(|_| proposition(rng, &shared, &labels)).collect();
        model
    }
}

fn process(rng: &mut Rng, shared: &Shared, number: usize, labels: &mut Vec<String>) -> Process {
    let mut body = Vec::new();
    if rng.chance(1, 4) {
        body.push(Statement::basic("bit l"));
    }
    let has_local = !body.is_empty();
    if rng.chance(1, 3) {
        body.push(statement(rng, shared, has_local));
    }
    let mut options = Vec::new();
    for i in 0..*rng.pick(&[1, 1, 2, 2, 3]) {
        let mut option = Vec::new();
        if rng.chance(1, 2) {
            option.push(Statement::basic(guard(rng, shared, has_local)));
        }
        for _ in 0..rng.between(1, 2) {
            option.push(statement(rng, shared, has_local));
        }
        if rng.chance(1, 4) {
            let label = format!("{}{i}", rng.pick(&["L", "accept", "progress", "progress"]));
            labels.push(format!("P{number}@{label}"));
            let last = option.pop().expect("it has a statement");
            option.push(Statement::Labelled(label, Box::new(last)));
        }
        if rng.chance(1, 12) {
            option.push(Statement::basic("break"));
        }
        options.push(option);
    }
    body.push(Statement::Repeat(options));
    Process { head: format!("active proctype P{number}()"), body }
}

fn guard(rng: &mut Rng, shared: &Shared, has_local: bool) -> String {
    match rng.below(8) {
        0 if has_local => format!("(l == {})", rng.below(2)),
        1 | 2 if shared.numbers > 0 => {
            format!("(n{} {} {})", rng.below(shared.numbers), rng.pick(&["==", "!=", "<"]), rng.between(1, 2))
        }
        3 => "else".to_owned(),
        _ => format!("(b{} == {})", rng.below(shared.bits), rng.below(2)),
    }
}

fn statement(rng: &mut Rng, shared: &Shared, has_local: bool) -> Statement {
    if rng.chance(1, 8) {
        let inside = [basic(rng, shared, has_local), basic(rng, shared, has_local)];
        let head = *rng.pick(&["atomic", "atomic", "d_step"]);
        // What may wait has no place in the middle of a `d_step`.
        let waits = |text: &String| text.contains(['!', '?', '=']) && !text.contains(" = ");
        let head = if inside.iter().any(waits) { "atomic" } else { head };
        return Statement::Block(head.to_owned(), inside.map(Statement::basic).to_vec());
    }
    Statement::basic(basic(rng, shared, has_local))
}

fn basic(rng: &mut Rng, shared: &Shared, has_local: bool) -> String {
    let bit = rng.below(shared.bits);
    match rng.below(12) {
        0 if has_local => format!("l = {}", rng.below(2)),
        1 if has_local => format!("l = b{bit}"),
        2 | 3 if shared.numbers > 0 => {
            let number = rng.below(shared.numbers);
            format!("n{number} = (n{number} + 1) % 3")
        }
        4 | 5 if !shared.channels.is_empty() => {
            format!("q{}!{}", rng.below(shared.channels.len()), rng.below(2))
        }
        6 | 7 if !shared.channels.is_empty() => format!("q{}?b{bit}", rng.below(shared.channels.len())),
        8 => "skip".to_owned(),
        9 => format!("(b{bit} == {})", rng.below(2)),
        10 => format!("b{bit} = 1 - b{bit}"),
        _ => format!("b{bit} = {}", rng.below(2)),
    }
}

fn proposition(rng: &mut Rng, shared: &Shared, labels: &[String]) -> String {
    match rng.below(8) {
        0 if !labels.is_empty() => rng.pick(labels).clone(),
        1 if shared.channels.contains(&1) => "len(q0) > 0".to_owned(),
        2 if shared.numbers > 0 => format!("n0 == {}", rng.below(3)),
        3 if shared.bits > 1 => "b0 == b1".to_owned(),
        _ => format!("b{} == {}", rng.below(shared.bits), rng.below(2)),
    }
}
