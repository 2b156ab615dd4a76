//! Statements that no run executes.
//!
//! SPIN lists the statements that control never comes to; here it is those that are never executed, so the
//! guard of an option that is never taken is one, too. The end of a process counts as executed once control
//! has come to it: a process may have to wait for others before it can die.
//!
//! One statement may be several steps of a network: the guard of an option is a step of every location that
//! offers it. A statement is unreached if none of its steps was executed. Not told are statements within a
//! `d_step` (it is one step) and jumps that are no steps of their own. The exit of a `for` loop is an `else`
//! on its line.

use std::collections::{HashMap, HashSet};
use stubborn_network::{Action, LocationId, Network, ProcessKind, Step};
use stubborn_report::{Unreached, clean};
use stubborn_text::Span;

/// The statements that were never executed, by process type and line; `executed` says which steps were.
pub(crate) fn unreached(network: &Network, executed: &[bool]) -> Vec<Unreached> {
    let mut first = 0;
    let mut out = Vec::new();
    for (kind, process) in network.processes.iter().enumerate() {
        let n_steps = network.steps_of(kind).count();
        let mut lines = unreached_in(network, kind, process, &executed[first..first + n_steps]);
        first += n_steps;
        lines.sort();
        out.extend(lines);
    }
    out
}

fn unreached_in(network: &Network, kind: usize, process: &ProcessKind, executed: &[bool]) -> Vec<Unreached> {
    let within_sequences = within_sequences(process);
    let places = follow(process, vec![process.entry]);
    let steps = || network.steps_of(kind).zip(executed.iter().copied());
    let mut arrived: HashSet<LocationId> =
        steps().filter(|(_, is_executed)| *is_executed).map(|((_, step), _)| step.next).collect();
    arrived.insert(process.entry);
    let mut statements: HashMap<(Span, &str), Statement> = HashMap::new();
    for ((location, step), is_executed) in steps() {
        let statement = statements.entry((step.span, &step.text)).or_insert(Statement::new(step));
        // A process that has come to its end may have to wait for others before it can die.
        let is_at_end = step.action == Action::End && arrived.contains(&location);
        statement.is_executed |= is_executed || is_at_end;
        statement.is_hidden |= within_sequences.contains(&location);
        let is_own_step = places.contains(&location) && step.text != "goto";
        statement.is_told |= step.action != Action::Skip || is_own_step;
    }
    let never = statements.into_values().filter(|s| s.is_told && !s.is_hidden && !s.is_executed);
    never.map(|statement| never_executed(process, statement.step)).collect()
}
/// What is known of the steps that are one statement.
struct Statement<'a> {
    step: &'a Step,
    is_executed: bool,
    /// It is within a sequence that is one step.
    is_hidden: bool,
    /// If it was not executed, there is something to tell.
    is_told: bool,
}

impl<'a> Statement<'a> {
    fn new(step: &'a Step) -> Self {
        Self { step, is_executed: false, is_hidden: false, is_told: false }
    }
}

/// The locations within steps that are sequences.
fn within_sequences(process: &ProcessKind) -> HashSet<LocationId> {
    let steps = process.locations.iter().flat_map(|location| &location.steps);
    let entries = steps.filter_map(|step| match step.action {
        Action::Sequence(entry) => Some(entry),
        _ => None,
    });
    follow(process, entries.collect())
}

/// All locations that steps lead to from `waiting`, including these.
fn follow(process: &ProcessKind, mut waiting: Vec<LocationId>) -> HashSet<LocationId> {
    let mut found = HashSet::new();
    while let Some(location) = waiting.pop() {
        if let Some(at) = process.locations.get(location.index())
            && found.insert(location)
        {
            waiting.extend(at.steps.iter().map(|step| step.next));
        }
    }
    found
}

/// A step as a statement that was never executed.
fn never_executed(process: &ProcessKind, step: &Step) -> Unreached {
    Unreached {
        // SPIN's name for `init` has colons.
        proctype: process.name.trim_matches(':').to_owned(),
        line: step.line,
        column: step.span.start,
        text: step.text.clone(),
    }
}

/// A line for each.
pub(crate) fn unreached_text(list: &[Unreached]) -> String {
    let line = |u: &Unreached| {
        format!("unreached in proctype {}: line {}: {}\n", clean(&u.proctype), u.line, clean(&u.text))
    };
    list.iter().map(line).collect()
}
