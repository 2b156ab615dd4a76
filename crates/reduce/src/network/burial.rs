//! Processes that have ended are buried at once.
//!
//! **Implements**: where the youngest process is at its end and nothing depends on numbers, its death is the only
//! transition taken. Death does not commute with starting a process (the new one gets the free number, or keeps the
//! dead one from dying), so no stubborn set may hold it alone; the reason here is another one. Call two states
//! alike if they differ in processes that are at their end and in the numbers of the others and of channels. If
//! nothing but `run` and death looks at numbers, alike states can do the same and come to alike states,
//! and a state is alike before and after a burial. So what is reached after it stands for what is reached without it.
//!
//! Channels: a process hands its channels only to processes that it starts (channels are not assigned, sent or
//! compared). These are younger and die before it, so nobody knows the channels that go with the youngest.
//!
//! **Preserves** failures, terminal states up to likeness, and which of them can be reached from where. What is
//! lost is "too many processes": the limit on their number is one of the tool, not of the system.
//! **Differs from** SPIN, which takes death as independent of all else in every model.
//! **Checked by** `oracle` (random programs that start processes, with and without), and `p108` of SPIN's examples.

use super::flow::{Flow, end_of};
use fixedbitset::FixedBitSet;
use stubborn_network::{Action, Expr, Initial, Initialiser, Network, Pattern, Place, Scope, Step, Variable};

/// The steps that bury a process, if that may be done at once, and processes are started again and again so that it pays.
pub(super) fn harmless_burials<'e>(
    network: &Network,
    flow: &Flow,
    watched: impl Iterator<Item = &'e Expr>,
) -> Option<FixedBitSet> {
    if !is_harmless(network, flow, watched) {
        return None;
    }
    let kinds = 0..network.processes.len();
    let steps = kinds.flat_map(|kind| network.steps_of(kind)).map(|(_, step)| step.action == Action::End);
    Some(steps.enumerate().filter(|&(_, is_burial)| is_burial).map(|(i, _)| i).collect())
}

fn is_harmless<'e>(network: &Network, flow: &Flow, mut watched: impl Iterator<Item = &'e Expr>) -> bool {
    let has_numbers = network.has_priorities || network.last.is_some() || network.trace.is_some();
    let globals = Owner { network, kind: None };
    !has_numbers
        && starts_again(network, flow)
        && network.initialisers.iter().all(|initialiser| globals.begins_blindly(initialiser))
        && watched.all(|expr| is_blind(network, expr))
        && (0..network.processes.len()).all(|kind| {
            let owner = Owner { network, kind: Some(kind) };
            let process = &network.processes[kind];
            process.provided.iter().all(|expr| owner.is_plain(expr))
                && process.initialisers.iter().all(|initialiser| owner.begins_blindly(initialiser))
                && network.steps_of(kind).all(|(_, step)| owner.is_blind(step))
        })
}

/// Whether an expression that looks at states from outside depends on no numbers.
pub(super) fn is_blind(network: &Network, expr: &Expr) -> bool {
    Owner { network, kind: None }.is_plain(expr)
}

/// Whether some process may start more than one other with the same step.
fn starts_again(network: &Network, flow: &Flow) -> bool {
    let n = network.processes.len();
    let mut starts = vec![vec![false; n]; n];
    for (kind, row) in starts.iter_mut().enumerate() {
        for (at, step) in network.steps_of(kind) {
            let Action::Run(run) = &step.action else { continue };
            row[run.kind] = true;
            if flow.reach[kind][step.next.index()].contains(at.index()) {
                return true;
            }
        }
    }
    for via in 0..n {
        for from in 0..n {
            for to in 0..n {
                starts[from][to] |= starts[from][via] && starts[via][to];
            }
        }
    }
    (0..n).any(|kind| starts[kind][kind])
}

/// Whether an expression depends on the numbers of processes, or on how many there are.
fn names_numbers(expr: &Expr) -> bool {
    let mut names = false;
    expr.walk(&mut |expr| {
        names |= matches!(
            expr,
            Expr::Pid
                | Expr::ProcessCount
                | Expr::Timeout
                | Expr::NonProgress
                | Expr::Accepting
                | Expr::Enabled(_)
                | Expr::PcValue(_)
                | Expr::Priority(_)
                | Expr::RemoteLocation { .. }
                | Expr::RemoteLoad { .. }
                | Expr::Started
        );
    });
    names
}

/// Whose variables an expression is about.
struct Owner<'n> {
    network: &'n Network,
    kind: Option<usize>,
}

impl Owner<'_> {
    /// Whether a variable begins with a new channel, or with a value that is none.
    fn begins_blindly(&self, initialiser: &Initialiser) -> bool {
        match &initialiser.initial {
            Initial::Value(value) => self.is_plain(value) && !self.is_channel(&initialiser.place),
            Initial::Channel(_) => true,
        }
    }

    /// Whether a step uses channels only to send, to receive, to ask, and as arguments of new processes, and nothing
    /// in it depends on numbers.
    fn is_blind(&self, step: &Step) -> bool {
        let plain = |exprs: &[Expr]| exprs.iter().all(|expr| self.is_plain(expr));
        let indices = step.action.targets();
        let mut indices = indices.iter().flat_map(|place| place.indices.iter().map(|index| &index.value));
        let is_blind = match &step.action {
            Action::Send { channel, fields, .. } => self.is_channel_variable(channel) && plain(fields),
            Action::Receive { channel, fields, .. } => {
                let is_plain = |field: &Pattern| !matches!(field, Pattern::Match(e) if !self.is_plain(e));
                self.is_channel_variable(channel) && fields.iter().all(is_plain)
            }
            Action::Run(run) => {
                let child = Owner { network: self.network, kind: Some(run.kind) };
                let parameters = &self.network.processes[run.kind].parameters;
                run.result.is_none()
                    && run.arguments.iter().zip(parameters).all(|(argument, parameter)| {
                        let is_channel = child.is_channel(parameter);
                        if is_channel { self.is_channel_variable(argument) } else { self.is_plain(argument) }
                    })
            }
            action => action.expressions().into_iter().all(|expr| self.is_plain(expr)),
        };
        is_blind
            && plain(&step.mentions)
            && indices.all(|index| self.is_plain(index))
            && !step.action.targets().into_iter().any(|place| self.is_channel(place))
    }

    /// Whether an expression is a variable that holds a channel.
    fn is_channel_variable(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Load(place) if self.is_channel(place)
            && place.indices.iter().all(|index| self.is_plain(&index.value)))
    }

    /// Whether no numbers matter, and channels are mentioned only to ask about what is in them.
    fn is_plain(&self, expr: &Expr) -> bool {
        let (mut n_mentioned, mut n_asked, mut is_plain) = (0, 0, !names_numbers(expr));
        expr.walk(&mut |expr| match expr {
            Expr::Load(place) if self.is_channel(place) => n_mentioned += 1,
            Expr::Channel(_, channel) | Expr::Poll { channel, .. } => {
                n_asked += 1;
                is_plain &= self.is_channel_variable(channel);
            }
            _ => {}
        });
        is_plain && n_mentioned == n_asked
    }

    /// Whether a place may be that of a channel.
    fn is_channel(&self, place: &Place) -> bool {
        let variables = match (place.scope, self.kind) {
            (Scope::Local, Some(kind)) => &self.network.processes[kind].locals,
            (Scope::Local, None) => return true,
            (Scope::Global, _) => &self.network.globals,
        };
        let holds = |v: &&Variable| {
            let end = v.offset + (v.length - 1) * v.stride + v.width.bytes();
            v.offset < end_of(place) && place.offset < end
        };
        variables.iter().filter(holds).any(|v| v.is_channel)
    }
}
