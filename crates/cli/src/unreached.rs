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
use stubborn_network::{Action, LocationId, Network, ProcessKind, Step, StepId};
use stubborn_report::{Unreached, clean};
use stubborn_system::TransitionId;
use stubborn_text::Span;

/// Which steps were executed.
pub(crate) struct Executed<'a> {
    network: &'a Network,
    /// By number of the step.
    steps: Vec<bool>,
    /// By number of the step: those that it may follow at once in the same transition. The last entry is not
    /// a step: it stands for all receives, and follows every send that may be a rendezvous.
    follows: Vec<Vec<usize>>,
    /// By number of the step: whether a transition that begins with it may execute something new after it.
    may_teach: Vec<bool>,
}

impl<'a> Executed<'a> {
    /// Nothing yet.
    pub(crate) fn new(network: &'a Network) -> Self {
        let follows = follows(network);
        let n_steps = follows.len() - 1;
        let may_teach = vec![false; follows.len()];
        let mut executed = Self { network, steps: vec![false; n_steps], follows, may_teach };
        executed.look_ahead();
        executed
    }

    /// Notes the transitions that were made from `state`. Their first steps are known from their numbers; what
    /// follows in the same transition is asked for only where there may be something to learn.
    pub(crate) fn note(&mut self, state: &[u8], transitions: impl Iterator<Item = TransitionId>) {
        let (mut is_new, mut may_teach) = (false, false);
        for t in transitions {
            let first = self.network.group(t).step;
            is_new |= self.mark(first);
            may_teach |= self.may_teach[first.0 as usize];
        }
        if may_teach {
            let successors = self.network.expand(state).successors;
            for micro in successors.iter().flat_map(|successor| &successor.trail) {
                is_new |= self.mark(micro.step);
            }
        }
        if is_new {
            self.look_ahead();
        }
    }

    /// Whether this is news.
    fn mark(&mut self, step: StepId) -> bool {
        !std::mem::replace(&mut self.steps[step.0 as usize], true)
    }

    /// Finds out after which steps something new may follow.
    fn look_ahead(&mut self) {
        self.may_teach.fill(false);
        let mut waiting: Vec<usize> = (0..self.steps.len()).filter(|&step| !self.steps[step]).collect();
        while let Some(step) = waiting.pop() {
            for &before in &self.follows[step] {
                if !std::mem::replace(&mut self.may_teach[before], true) {
                    waiting.push(before);
                }
            }
        }
    }

    /// The statements that were never executed, by process type and line.
    pub(crate) fn unreached(&self) -> Vec<Unreached> {
        let mut first = 0;
        let mut out = Vec::new();
        for (kind, process) in self.network.processes.iter().enumerate() {
            let n_steps = self.network.steps_of(kind).count();
            let executed = &self.steps[first..first + n_steps];
            first += n_steps;
            let mut lines = self.unreached_in(kind, process, executed);
            lines.sort();
            out.extend(lines);
        }
        out
    }

    fn unreached_in(&self, kind: usize, process: &ProcessKind, executed: &[bool]) -> Vec<Unreached> {
        let within_sequences = within_sequences(process);
        let places = follow(process, vec![process.entry]);
        let steps = || self.network.steps_of(kind).zip(executed.iter().copied());
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

/// See [`Executed::follows`].
fn follows(network: &Network) -> Vec<Vec<usize>> {
    let has_rendezvous = network.channels.iter().any(|channel| channel.capacity == 0);
    let kinds = 0..network.processes.len();
    let steps: Vec<(usize, &Step)> =
        kinds.flat_map(|kind| network.steps_of(kind).map(move |(_, step)| (kind, step))).collect();
    let any_receive = steps.len();
    let mut follows = vec![Vec::new(); steps.len() + 1];
    for (number, &(kind, step)) in steps.iter().enumerate() {
        match step.action {
            Action::Send { .. } if has_rendezvous => follows[any_receive].push(number),
            Action::Receive { .. } if has_rendezvous => follows[number].push(any_receive),
            _ => {}
        }
        if let Some(next) = network.processes[kind].locations.get(step.next.index())
            && step.is_atomic
        {
            let first = network.first_step(kind, step.next).0 as usize;
            follows[first..first + next.steps.len()].iter_mut().for_each(|before| before.push(number));
        }
    }
    follows
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
