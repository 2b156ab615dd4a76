//! Dead locals: analysis of live variables, and resets.
//!
//! **Implements** the textbook's backward analysis of live variables over the locations of each kind of
//! process. Who is reset and when is SPIN's choice: scalars that are no channels, right after a condition or
//! a receive that reads them, or after an assignment or a receive that writes them, if they are dead then.
//! A variable that an assignment, a send, an assertion or a print reads last keeps its value, and nothing is
//! reset within a sequence that is one step. As in SPIN, a remote reference to a variable anywhere in the
//! model switches all of this off.
//!
//! Reading is what can influence anything: guards, values, indices, `provided`, and what questions refer to.
//! What `printf` prints counts too: SPIN counts it.

use crate::{Action, Expr, Location, LocationId, Network, Place, ProcessKind, Scope, Step};
use std::collections::HashSet;

/// The locals of a kind that are dead where a process is.
#[derive(Clone, Debug)]
pub(super) struct Dead {
    /// By location and variable.
    is_live: Vec<Vec<bool>>,
    /// Variables that are never treated as dead.
    is_kept: Vec<bool>,
}

impl Dead {
    /// The variables that are dead at a location.
    pub(super) fn at(&self, location: LocationId) -> impl Iterator<Item = usize> {
        let live = &self.is_live[location.index()];
        live.iter()
            .zip(&self.is_kept)
            .enumerate()
            .filter(|(_, (live, kept))| !**live && !**kept)
            .map(|(v, _)| v)
    }
}

/// Adds resets to the steps of a network; what is dead where, for each kind.
pub(super) fn reset(network: &mut Network, readers: &[&Expr]) -> Vec<Dead> {
    if has_remote_load(network) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for kind in 0..network.processes.len() {
        let process = &network.processes[kind];
        let is_kept = kept(kind, process, readers);
        let liveness = Liveness::of(process);
        let within = within_sequences(process);
        let resets: Vec<Vec<Vec<Place>>> = process
            .locations
            .iter()
            .enumerate()
            .map(|(l, location)| {
                let is_within = within.contains(&LocationId(l as u16));
                let of_step = |step: &Step| match is_within {
                    true => Vec::new(),
                    false => liveness.resets(process, LocationId(l as u16), step, &is_kept),
                };
                location.steps.iter().map(of_step).collect()
            })
            .collect();
        let is_live = liveness.is_live;
        let locations = &mut network.processes[kind].locations;
        let steps = locations.iter_mut().flat_map(|l| &mut l.steps);
        steps.zip(resets.into_iter().flatten()).for_each(|(step, resets)| step.resets.extend(resets));
        all.push(Dead { is_live, is_kept });
    }
    all
}

/// Whether the model itself refers to locals of other processes.
fn has_remote_load(network: &Network) -> bool {
    let mut found = false;
    let mut look = |expr: &Expr| found |= matches!(expr, Expr::RemoteLoad { .. });
    let of_claims = network.claims.iter().flat_map(|claim| &claim.locations);
    let of_processes = network.processes.iter().flat_map(|process| &process.locations);
    for step in of_processes.chain(of_claims).flat_map(|l| &l.steps) {
        step.expressions().for_each(|e| e.walk(&mut look));
    }
    network.processes.iter().flat_map(|p| &p.provided).for_each(|e| e.walk(&mut look));
    found
}

/// The variables that must keep their values everywhere: arrays, records and channels, and what is read
/// without a step of the process.
fn kept(kind: usize, process: &ProcessKind, readers: &[&Expr]) -> Vec<bool> {
    let mut kept: Vec<bool> = process.locals.iter().map(|v| !v.is_scalar || v.is_channel).collect();
    if let Some(provided) = &process.provided {
        loads(process, provided, &mut kept);
    }
    for reader in readers {
        reader.walk(&mut |expr| {
            if let Expr::RemoteLoad { kind: other, place, .. } = expr
                && *other == kind
                && let Some(variable) = scalar(process, place)
            {
                kept[variable] = true;
            }
        });
    }
    kept
}

/// The index of the scalar that a place is.
fn scalar(process: &ProcessKind, place: &Place) -> Option<usize> {
    let is_meant = place.scope == Scope::Local && place.indices.is_empty();
    process.locals.iter().position(|v| is_meant && v.is_scalar && v.offset == place.offset)
}

/// Marks the scalars that an expression loads.
fn loads(process: &ProcessKind, expr: &Expr, marks: &mut [bool]) {
    expr.walk(&mut |expr| {
        if let Expr::Load(place) = expr
            && let Some(variable) = scalar(process, place)
        {
            marks[variable] = true;
        }
    });
}

/// The scalars that a step reads; those of a sequence are its steps' own.
fn reads(process: &ProcessKind, step: &Step) -> Vec<bool> {
    let mut marks = vec![false; process.locals.len()];
    let exprs = step.expressions();
    exprs.for_each(|expr| loads(process, expr, &mut marks));
    marks
}

/// The scalars that a step writes.
fn writes(process: &ProcessKind, step: &Step) -> Vec<bool> {
    let mut marks = vec![false; process.locals.len()];
    for variable in step.action.targets().into_iter().filter_map(|place| scalar(process, place)) {
        marks[variable] = true;
    }
    marks
}

/// The locations within steps that are sequences.
pub(super) fn within_sequences(process: &ProcessKind) -> HashSet<LocationId> {
    process.locations.iter().flat_map(|l| &l.steps).flat_map(|step| inside(process, step)).collect()
}

/// The locations within a step, if it is a sequence.
fn inside(process: &ProcessKind, step: &Step) -> HashSet<LocationId> {
    let mut found = HashSet::new();
    let mut waiting: Vec<LocationId> = match step.action {
        Action::Sequence(entry) => vec![entry],
        _ => Vec::new(),
    };
    while let Some(location) = waiting.pop() {
        if location != LocationId::EXIT && found.insert(location) {
            waiting.extend(process.locations[location.index()].steps.iter().map(|step| step.next));
        }
    }
    found
}

/// Which variables may be read before they are written.
struct Liveness {
    /// At each location.
    is_live: Vec<Vec<bool>>,
    /// Behind the exit of the sequences that a location is in.
    is_live_outside: Vec<Vec<bool>>,
}

impl Liveness {
    fn of(process: &ProcessKind) -> Self {
        let nothing = vec![vec![false; process.locals.len()]; process.locations.len()];
        let mut liveness = Self { is_live: nothing.clone(), is_live_outside: nothing };
        let effects: Vec<Vec<Effect>> = process
            .locations
            .iter()
            .map(|l| l.steps.iter().map(|s| Effect::of(process, s)).collect())
            .collect();
        while liveness.grows(process, &effects) {}
        liveness
    }

    /// One round over all locations, from the last; whether something was new.
    fn grows(&mut self, process: &ProcessKind, effects: &[Vec<Effect>]) -> bool {
        let mut is_new = false;
        for (l, location) in process.locations.iter().enumerate().rev() {
            for (step, effect) in location.steps.iter().zip(&effects[l]) {
                let after = self.after(LocationId(l as u16), step).clone();
                for &inner in &effect.inside {
                    is_new |= join(&mut self.is_live_outside[inner.index()], &after);
                }
                if is_never_done(location, step) {
                    continue;
                }
                let mut before = match step.action {
                    Action::Sequence(entry) => self.is_live[entry.index()].clone(),
                    _ => after,
                };
                for (v, is_live) in before.iter_mut().enumerate() {
                    *is_live = effect.reads[v] || *is_live && !effect.writes[v];
                }
                is_new |= join(&mut self.is_live[l], &before);
            }
        }
        is_new
    }

    /// What is live after a step.
    fn after(&self, location: LocationId, step: &Step) -> &Vec<bool> {
        match step.next {
            LocationId::EXIT => &self.is_live_outside[location.index()],
            next => &self.is_live[next.index()],
        }
    }

    /// The places that a step sets to zero.
    fn resets(&self, process: &ProcessKind, at: LocationId, step: &Step, is_kept: &[bool]) -> Vec<Place> {
        let nothing = || vec![false; process.locals.len()];
        let (read, written) = match &step.action {
            Action::Guard(_) => (reads(process, step), nothing()),
            Action::Run(run) if run.result.is_none() => (reads(process, step), nothing()),
            Action::Receive { .. } => (reads(process, step), writes(process, step)),
            Action::Assign(_, Expr::Constant(0)) => (nothing(), nothing()),
            Action::Assign(..) | Action::Run(_) => (nothing(), writes(process, step)),
            _ => (nothing(), nothing()),
        };
        let after = self.after(at, step);
        let is_reset = |v: &usize| (read[*v] || written[*v]) && !after[*v] && !is_kept[*v];
        let place = |v: usize| {
            let variable = &process.locals[v];
            let (offset, width, text) = (variable.offset, variable.width, variable.name.clone());
            Place { scope: Scope::Local, offset, width, indices: Vec::new(), text }
        };
        (0..process.locals.len()).filter(is_reset).map(place).collect()
    }
}

/// What the analysis needs of a step.
struct Effect {
    reads: Vec<bool>,
    writes: Vec<bool>,
    inside: HashSet<LocationId>,
}

impl Effect {
    fn of(process: &ProcessKind, step: &Step) -> Self {
        Self { reads: reads(process, step), writes: writes(process, step), inside: inside(process, step) }
    }
}

/// Adds marks; whether there were new ones.
fn join(marks: &mut [bool], more: &[bool]) -> bool {
    let mut is_new = false;
    for (mark, &more) in marks.iter_mut().zip(more) {
        is_new |= more && !*mark;
        *mark |= more;
    }
    is_new
}

/// An option that begins with `false`: SPIN does not look at what follows.
fn is_never_done(location: &Location, step: &Step) -> bool {
    let is_choice = location.steps.len() > 1 && location.steps.iter().all(|s| s.escape == 0);
    is_choice && step.action == Action::Guard(Expr::Constant(0))
}
