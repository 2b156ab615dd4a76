//! Making a model small for which something fails.
//!
//! Takes away processes, declarations, statements and options, puts bodies in the place of blocks, and `skip`
//! in the place of statements, and keeps whatever still fails. What names something that is gone is refused
//! by the compiler and so does not fail; nothing has to be kept consistent here. A judge may be slow, so the
//! number of tries is limited, and after a success the search goes on where it was.

use super::{Model, Process, Statement};

/// A smaller model that still fails. At most `tries` models are judged.
pub fn shrink_model(model: &Model, tries: usize, mut fails: impl FnMut(&Model) -> bool) -> Model {
    let mut best = model.clone();
    let (mut at, mut n_idle, mut n_tried) = (0, 0, 0);
    loop {
        let candidates = simpler(&best);
        if n_idle >= candidates.len() || n_tried >= tries {
            return best;
        }
        at %= candidates.len();
        n_tried += 1;
        if fails(&candidates[at]) {
            best = candidates[at].clone();
            n_idle = 0;
        } else {
            (at, n_idle) = (at + 1, n_idle + 1);
        }
    }
}

/// All models that are one step simpler.
fn simpler(model: &Model) -> Vec<Model> {
    let mut all = Vec::new();
    for i in 0..model.processes.len() {
        all.push(changed(model, |m| drop(m.processes.remove(i))));
    }
    for (i, process) in model.processes.iter().enumerate() {
        for head in simpler_heads(&process.head) {
            all.push(changed(model, |m| m.processes[i].head = head));
        }
        for body in simpler_bodies(&process.body) {
            let process = Process { head: process.head.clone(), body };
            all.push(changed(model, |m| m.processes[i] = process));
        }
    }
    for i in 0..model.declarations.len() {
        all.push(changed(model, |m| drop(m.declarations.remove(i))));
    }
    // Propositions are named by numbers and stay.
    for i in 0..model.invariants.len() {
        all.push(changed(model, |m| drop(m.invariants.remove(i))));
    }
    all
}

fn changed(model: &Model, change: impl FnOnce(&mut Model)) -> Model {
    let mut model = model.clone();
    change(&mut model);
    model
}

/// Without a condition for all steps, and with one process instead of several.
fn simpler_heads(head: &str) -> Vec<String> {
    let without = head.split_once(" provided").map(|(before, _)| before.to_owned());
    let single = head.strip_prefix("active [2]").map(|rest| format!("active{rest}"));
    without.into_iter().chain(single).collect()
}

/// The larger steps first: without half of it, without one statement, with one statement made simpler.
fn simpler_bodies(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    if body.len() > 3 {
        all.push(body[..body.len() / 2].to_vec());
        all.push(body[body.len() / 2..].to_vec());
    }
    if body.len() > 1 {
        all.extend((0..body.len()).map(|i| replaced(body, i, &[])));
    }
    for (i, statement) in body.iter().enumerate() {
        all.extend(simpler_statements(statement).iter().map(|instead| replaced(body, i, instead)));
    }
    all
}

fn replaced(body: &[Statement], i: usize, instead: &[Statement]) -> Vec<Statement> {
    [&body[..i], instead, &body[i + 1..]].concat()
}

/// What can stand in the place of a statement: some statements each.
fn simpler_statements(statement: &Statement) -> Vec<Vec<Statement>> {
    match statement {
        Statement::Basic(text) if text == "skip" || text == "break" => Vec::new(),
        Statement::Basic(_) => vec![vec![Statement::basic("skip")]],
        Statement::Labelled(label, inner) => {
            let mut all = vec![vec![(**inner).clone()]];
            for mut instead in simpler_statements(inner).into_iter().filter(|s| !s.is_empty()) {
                let first = instead.remove(0);
                instead.insert(0, Statement::Labelled(label.clone(), Box::new(first)));
                all.push(instead);
            }
            all
        }
        Statement::Select(options) => {
            let simpler =
                simpler_options(options).into_iter().map(|options| vec![Statement::Select(options)]);
            options.iter().cloned().chain(simpler).collect()
        }
        Statement::Repeat(options) => {
            let simpler =
                simpler_options(options).into_iter().map(|options| vec![Statement::Repeat(options)]);
            options.iter().cloned().chain(simpler).collect()
        }
        Statement::Block(head, body) => {
            let simpler = simpler_bodies(body).into_iter();
            let simpler = simpler.map(|body| vec![Statement::Block(head.clone(), body)]);
            [body.clone()].into_iter().chain(simpler).collect()
        }
        Statement::Unless(main, escape) => {
            let mut all = vec![main.clone(), escape.clone()];
            let simpler = simpler_bodies(main).into_iter();
            all.extend(simpler.map(|main| vec![Statement::Unless(main, escape.clone())]));
            let simpler = simpler_bodies(escape).into_iter();
            all.extend(simpler.map(|escape| vec![Statement::Unless(main.clone(), escape)]));
            all
        }
    }
}

fn simpler_options(options: &[Vec<Statement>]) -> Vec<Vec<Vec<Statement>>> {
    let mut all = Vec::new();
    for (i, option) in options.iter().enumerate() {
        let with = |instead: Vec<Vec<Statement>>| [&options[..i], &instead, &options[i + 1..]].concat();
        if options.len() > 1 {
            all.push(with(Vec::new()));
        }
        all.extend(simpler_bodies(option).into_iter().map(|body| with(vec![body])));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn what_does_not_matter_goes() {
        let mut rng = Rng::new(31);
        let with_assert = |m: &Model| m.to_string().contains("assert(");
        let model = std::iter::repeat_with(|| Model::random(&mut rng)).find(with_assert).expect("no end");
        let small = shrink_model(&model, 100_000, with_assert);
        let text = small.to_string();
        assert!(small.declarations.is_empty() && small.processes.len() == 1, "{text}");
        assert_eq!(small.processes[0].body.len(), 1, "{text}");
        assert!(text.lines().count() <= 4, "{text}");
    }

    #[test]
    fn the_number_of_tries_is_limited() {
        let model = Model::random(&mut Rng::new(32));
        let mut n_tried = 0;
        shrink_model(&model, 7, |_| {
            n_tried += 1;
            false
        });
        assert_eq!(n_tried, 7);
    }
}
