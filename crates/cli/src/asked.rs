//! What the user asks of a Promela model in expressions: invariants, labels that must not be reached, progress.
//!
//! A label may be passed within a step: in an atomic sequence, or as the first statement of an option. That
//! counts as reached. **Differs** from an invariant `!P@label` in this, and in that it speaks of all processes
//! of the type. **Checked by** `tests/all/progress.rs`.

use crate::args::{CheckArgs, PromelaArgs};
use stubborn_network::{Action, Expr, LocationId, Micro, Network, Optimisations};
use stubborn_system::Question;
use stubborn_verdict::Answer;

/// All that is asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// What must hold in every state.
    pub(crate) invariants: Vec<Proposition>,
    /// Where nobody may come.
    pub(crate) unreachable: Vec<Label>,
    /// What is progress for `may-progress`, instead of progress labels.
    pub(crate) may_progress: Option<Proposition>,
    /// The same for `must-progress`.
    pub(crate) must_progress: Option<Proposition>,
}

/// An expression over the state.
#[derive(Clone, Debug)]
pub(crate) struct Proposition {
    /// As the user wrote it.
    pub(crate) text: String,
    /// What it means.
    pub(crate) expr: Expr,
}

impl Proposition {
    pub(crate) fn holds(&self, network: &Network, state: &[u8]) -> bool {
        network.holds(state, &self.expr)
    }
}

/// A place in a type of processes.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    text: String,
    kind: usize,
    location: LocationId,
    /// The numbers of the statements that begin there.
    begins: Vec<u32>,
    /// Whether a process may come here and go on within one step.
    may_be_passed: bool,
}

impl Asked {
    /// The texts of all expressions, to be compiled with the model.
    pub(crate) fn texts(args: &PromelaArgs) -> Vec<String> {
        let progress = args.may_progress.iter().chain(&args.must_progress);
        args.invariant.iter().chain(&args.unreachable).chain(progress).cloned().collect()
    }

    /// What the texts mean: `exprs` are [`Asked::texts`], compiled.
    pub(crate) fn new(network: &Network, args: &PromelaArgs, exprs: Vec<Expr>) -> Result<Self, String> {
        let mut compiled =
            Self::texts(args).into_iter().zip(exprs).map(|(text, expr)| Proposition { text, expr });
        let invariants = compiled.by_ref().take(args.invariant.len()).collect();
        let labels: Vec<Proposition> = compiled.by_ref().take(args.unreachable.len()).collect();
        let may_progress = args.may_progress.as_ref().and_then(|_| compiled.next());
        let must_progress = args.must_progress.as_ref().and_then(|_| compiled.next());
        let unreachable = labels.into_iter().map(|l| Label::new(network, l)).collect::<Result<_, _>>()?;
        Ok(Self { invariants, unreachable, may_progress, must_progress })
    }

    /// All expressions that look at states from outside.
    pub(crate) fn readers(&self) -> Vec<&Expr> {
        let progress = self.may_progress.iter().chain(&self.must_progress);
        self.invariants.iter().chain(progress).map(|proposition| &proposition.expr).collect()
    }

    /// Of what makes a model smaller, what none of this notices: who asks about labels sees where processes come.
    pub(crate) fn unnoticed(&self, wanted: Optimisations) -> Optimisations {
        if self.unreachable.is_empty() { wanted } else { wanted.of_runs() }
    }

    /// The questions that expressions ask.
    pub(crate) fn questions(&self, args: &CheckArgs) -> Vec<Question> {
        let terminal_counts = !args.strict_progress;
        let may = self.may_progress.as_ref().map(|_| Question::MayProgress { terminal_counts });
        let must = self.must_progress.as_ref().map(|_| Question::MustProgress { terminal_counts });
        may.into_iter().chain(must).collect()
    }

    /// Says in an answer what progress is.
    pub(crate) fn name_progress(&self, answer: &mut Answer) {
        match (&answer.question, &self.may_progress, &self.must_progress) {
            (Question::MayProgress { terminal_counts }, Some(goal), _) => {
                let or = if *terminal_counts { " or a terminal state" } else { "" };
                answer.text = format!("from every state one with `{}`{or} can be reached", goal.text);
            }
            (Question::MustProgress { terminal_counts }, _, Some(goal)) => {
                let or = if *terminal_counts { ", or ends" } else { "" };
                answer.text = format!("every run comes to `{}` again and again{or}", goal.text);
            }
            _ => {}
        }
    }
}

impl Label {
    fn new(network: &Network, label: Proposition) -> Result<Self, String> {
        let Proposition { text, expr } = label;
        let (kind, location) = match expr {
            Expr::RemoteLocation { kind, process: None, location } => (kind, location),
            Expr::RemoteLocation { .. } => {
                return Err(format!(
                    "--unreachable '{text}': write P@LABEL, it is asked of all processes of type P; \
                     for one of them there is --invariant '!{text}'"
                ));
            }
            _ => {
                return Err(format!(
                    "--unreachable '{text}': write P@LABEL; for an expression there is --invariant '!({text})'"
                ));
            }
        };
        if is_in_sequence(network, kind, location) {
            return Err(format!(
                "--unreachable '{text}': the label is within a d_step, which is one step; \
                 put it before, or use atomic"
            ));
        }
        let steps = &network.processes[kind].locations[location.index()].steps;
        let own = steps.iter().filter(|step| step.escape == 0);
        let begins = own.filter_map(|step| step.number).collect();
        let mut label = Self { text, kind, location, begins, may_be_passed: false };
        // In an atomic sequence of its own, in a rendezvous with one of another process, or from a location that
        // offers the statement as well.
        let may_receive = |action: &Action| matches!(action, Action::Receive { .. } | Action::Sequence(_));
        label.may_be_passed = steps.iter().any(|step| may_receive(&step.action))
            || network.steps_of(kind).any(|(at, step)| {
                (step.next == location && step.is_atomic)
                    || (at != location && label.begins_with(network, at, step.number))
            });
        Ok(label)
    }

    /// Who comes here in this state, or in a step from it.
    pub(crate) fn reached(&self, network: &Network, state: &[u8]) -> Option<String> {
        let name = &network.processes[self.kind].name;
        if let Some(pid) = network.who_is_at(state, self.kind, self.location) {
            return Some(format!("label reached: {} by {name}[{pid}]", self.text));
        }
        if !self.may_be_passed {
            return None;
        }
        let expansion = network.expand(state);
        let mut ways = expansion.successors.iter().flat_map(|successor| &successor.trail);
        let micro = ways.find(|micro| self.is_passed(network, **micro))?;
        Some(format!("label passed: {} in {}", self.text, network.micro_name(*micro)))
    }

    fn is_passed(&self, network: &Network, micro: Micro) -> bool {
        network.step(micro.step).is_some_and(|(kind, location, step)| {
            kind == self.kind
                && (location == self.location || self.begins_with(network, location, step.number))
        })
    }

    /// Whether a step with this number leads from a location to the label and on: the location offers all that the
    /// label does, a selection the statements of its options.
    fn begins_with(&self, network: &Network, location: LocationId, number: Option<u32>) -> bool {
        let steps = &network.processes[self.kind].locations[location.index()].steps;
        let offers = |number: &u32| steps.iter().any(|step| step.number == Some(*number));
        number.is_some_and(|number| self.begins.contains(&number)) && self.begins.iter().all(offers)
    }
}

/// Whether a location is within a sequence that is one step.
fn is_in_sequence(network: &Network, kind: usize, location: LocationId) -> bool {
    let locations = &network.processes[kind].locations;
    let entries = network.steps_of(kind).filter_map(|(_, step)| match step.action {
        Action::Sequence(entry) => Some(entry),
        _ => None,
    });
    let mut waiting: Vec<LocationId> = entries.collect();
    let mut seen = vec![false; locations.len()];
    while let Some(at) = waiting.pop() {
        if at == LocationId::EXIT || std::mem::replace(&mut seen[at.index()], true) {
            continue;
        }
        waiting.extend(locations[at.index()].steps.iter().map(|step| step.next));
    }
    seen[location.index()]
}
