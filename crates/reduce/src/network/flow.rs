//! What is true of a network in every state: which variables never change, where a process can stop after a
//! step, and where it can get to.
//!
//! A process stops after a step where it gives up the control: after a step that is not within an atomic
//! sequence, after the offer of a rendezvous, and where the next step of the sequence may block. The
//! transitions of a process begin only where it can stop.

use fixedbitset::FixedBitSet;
use std::collections::BTreeSet;
use std::rc::Rc;
use stubborn_network::{Action, Expr, Location, LocationId, Network, Place, Scope, Step};

/// Facts about a network.
#[derive(Debug)]
pub(super) struct Flow {
    /// For each byte of the globals: whether no step writes it. That a step resets a variable does not count:
    /// nobody reads it after that.
    stable_globals: Vec<bool>,
    /// For each kind and byte of its locals: the same.
    stable_locals: Vec<Vec<bool>>,
    /// For each kind and byte of its locals: whether it says which cell, channel or process is meant somewhere.
    selecting: Vec<Vec<bool>>,
    /// For each step: the locations where its process may stop.
    pub(super) stops: Vec<Rc<[LocationId]>>,
    /// No locations.
    pub(super) nowhere: Rc<[LocationId]>,
    /// For each step: the steps that may follow it before the process stops.
    pub(super) runs: Vec<Vec<(LocationId, usize)>>,
    /// For each step: whether what follows it before the process stops may come to a location twice.
    pub(super) loops: Vec<bool>,
    /// For each kind and location: where a process that stops there can stop later, itself included.
    pub(super) reach: Vec<Vec<FixedBitSet>>,
    /// For each kind: which of the different ones of these sets each location has, and the first location of each.
    pub(super) reach_numbers: Vec<(Rc<[u16]>, Vec<usize>)>,
    /// For each kind and location: whether a process that stops there may start others from there on.
    starts: Vec<Vec<bool>>,
    /// For each kind: its locations in an order in which as few steps as possible lead back.
    ranks: Vec<Vec<usize>>,
}

impl Flow {
    pub(super) fn new(network: &Network) -> Self {
        let mut flow = Self {
            stable_globals: vec![true; network.globals_size],
            stable_locals: network.processes.iter().map(|p| vec![true; p.locals_size]).collect(),
            selecting: network.processes.iter().map(|p| vec![false; p.locals_size]).collect(),
            stops: Vec::new(),
            nowhere: Rc::default(),
            runs: Vec::new(),
            loops: Vec::new(),
            reach: Vec::new(),
            reach_numbers: Vec::new(),
            starts: Vec::new(),
            ranks: Vec::new(),
        };
        for kind in 0..network.processes.len() {
            for (_, step) in network.steps_of(kind) {
                step.action.targets().iter().for_each(|place| flow.mark(kind, place));
                for_each_selector(&step.action, &mut |place| {
                    if place.scope == Scope::Local {
                        flow.selecting[kind][place.offset..end_of(place)].fill(true);
                    }
                });
            }
        }
        network.last.iter().for_each(|place| flow.mark(0, place));
        network.trace.iter().for_each(|trace| flow.mark(0, &trace.place));
        for kind in 0..network.processes.len() {
            flow.follow(network, kind);
        }
        flow
    }

    fn mark(&mut self, kind: usize, place: &Place) {
        let bytes = match place.scope {
            Scope::Global => &mut self.stable_globals,
            Scope::Local => &mut self.stable_locals[kind],
        };
        bytes[place.offset..end_of(place)].fill(false);
    }

    /// Whether no step writes to these bytes.
    pub(super) fn is_stable(&self, scope: Scope, kind: usize, from: usize, to: usize) -> bool {
        let bytes = match scope {
            Scope::Global => &self.stable_globals,
            Scope::Local => &self.stable_locals[kind],
        };
        bytes[from..to].iter().all(|&stable| stable)
    }

    /// Whether local bytes are stable, and their value is of use: see [`Flow::constant_bytes`].
    pub(super) fn is_constant(&self, kind: usize, from: usize, to: usize) -> bool {
        (from..to).all(|i| self.stable_locals[kind][i] && self.selecting[kind][i])
    }

    /// Whether there are locals of a kind that change and say which cell, channel or process is meant somewhere.
    pub(super) fn has_selectors(&self, kind: usize) -> bool {
        self.selecting[kind]
            .iter()
            .zip(&self.stable_locals[kind])
            .any(|(selecting, stable)| *selecting && !stable)
    }

    /// The bytes of the locals of a kind that make the tables of two processes of the kind differ: they never
    /// change, and they say which cell, channel or process is meant somewhere.
    pub(super) fn constant_bytes(&self, kind: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.stable_locals[kind].len()).filter(move |&i| self.is_constant(kind, i, i + 1))
    }

    fn follow(&mut self, network: &Network, kind: usize) {
        let locations = &network.processes[kind].locations;
        let mut next: Vec<FixedBitSet> = vec![FixedBitSet::with_capacity(locations.len()); locations.len()];
        for (l, location) in locations.iter().enumerate() {
            for step in &location.steps {
                let (stops, run) = follow_step(network, kind, step);
                next[l].extend(stops.iter().map(|stop| stop.index()));
                self.stops.push(stops.into());
                self.loops.push(has_loop(locations, &run));
                self.runs.push(run);
            }
        }
        let reach = (0..locations.len()).map(|l| {
            let mut seen = FixedBitSet::with_capacity(locations.len());
            let mut work = vec![l];
            while let Some(at) = work.pop() {
                if !seen.put(at) {
                    work.extend(next[at].ones());
                }
            }
            seen
        });
        let reach: Vec<FixedBitSet> = reach.collect();
        let all = locations.iter().flat_map(|location| &location.steps);
        let runs = all.clone().any(|step| matches!(step.action, Action::Run(_)));
        let mut starting = FixedBitSet::with_capacity(locations.len());
        if runs {
            let starts = |step: &Step| matches!(step.action, Action::Run(_) | Action::Sequence(_));
            for (l, location) in locations.iter().enumerate() {
                let first = location.first_step as usize;
                let goes_on = |i: usize| {
                    self.runs[first + i].iter().any(|(at, j)| starts(&locations[at.index()].steps[*j]))
                };
                if (0..location.steps.len()).any(|i| starts(&location.steps[i]) || goes_on(i)) {
                    starting.insert(l);
                }
            }
        }
        self.starts.push(reach.iter().map(|reach| !reach.is_disjoint(&starting)).collect());
        self.reach_numbers.push(different(&reach));
        self.reach.push(reach);
        self.ranks.push(ranks(&next, network.processes[kind].entry.index()));
    }

    /// Whether a process that is at a location may start others from there on.
    pub(super) fn may_start(&self, kind: usize, at: LocationId) -> bool {
        self.starts[kind][at.index()]
    }

    /// Whether a move of a process leads back in the order of its locations, or to where it was. A process that comes to
    /// where it was before has made such a move, whatever the order is.
    pub(super) fn leads_back(&self, kind: usize, from: LocationId, to: LocationId) -> bool {
        let ranks = &self.ranks[kind];
        ranks[to.index()] <= ranks[from.index()]
    }
}

/// Which of the different sets each one is, and the first of each.
fn different(sets: &[FixedBitSet]) -> (Rc<[u16]>, Vec<usize>) {
    let mut firsts: Vec<usize> = Vec::new();
    let number = |(i, set): (usize, &FixedBitSet)| {
        let known = firsts.iter().position(|&first| sets[first] == *set);
        known.unwrap_or_else(|| {
            firsts.push(i);
            firsts.len() - 1
        }) as u16
    };
    (sets.iter().enumerate().map(number).collect(), firsts)
}

/// Ranks of locations of which `next` tells where they lead: if a location is left for the last time by a depth-first search
/// later than another one, it comes before it.
fn ranks(next: &[FixedBitSet], entry: usize) -> Vec<usize> {
    let mut ranks = vec![0; next.len()];
    let mut seen = FixedBitSet::with_capacity(next.len());
    let mut free = next.len();
    for root in std::iter::once(entry).chain(0..next.len()) {
        if root >= next.len() || seen.put(root) {
            continue;
        }
        let mut stack = vec![(root, next[root].ones().collect::<Vec<usize>>())];
        while let Some((at, rest)) = stack.last_mut() {
            let Some(to) = rest.pop() else {
                free -= 1;
                ranks[*at] = free;
                stack.pop();
                continue;
            };
            if !seen.put(to) {
                stack.push((to, next[to].ones().collect()));
            }
        }
    }
    ranks
}

/// Visits the places whose values say which cell, channel or process an action is about.
pub(super) fn for_each_selector(action: &Action, visit: &mut dyn FnMut(&Place)) {
    for expr in action.expressions() {
        selectors_in(expr, visit);
    }
    if let Action::Send { channel, .. } | Action::Receive { channel, .. } = action {
        loads_in(channel, visit);
    }
    for index in action.targets().iter().flat_map(|place| &place.indices) {
        loads_in(&index.value, visit);
    }
}

fn selectors_in(expr: &Expr, visit: &mut dyn FnMut(&Place)) {
    expr.walk(&mut |expr| match expr {
        Expr::Load(place) => place.indices.iter().for_each(|index| loads_in(&index.value, visit)),
        Expr::Channel(_, channel) | Expr::Poll { channel, .. } => loads_in(channel, visit),
        Expr::RemoteLocation { process: Some(process), .. }
        | Expr::RemoteLoad { process: Some(process), .. } => loads_in(process, visit),
        _ => {}
    });
}

fn loads_in(expr: &Expr, visit: &mut dyn FnMut(&Place)) {
    expr.walk(&mut |expr| {
        if let Expr::Load(place) = expr {
            visit(place);
        }
    });
}

/// The first byte behind a place, wherever its indices may lead.
pub(super) fn end_of(place: &Place) -> usize {
    let reach: usize = place.indices.iter().map(|i| (i.length - 1) * i.stride).sum();
    place.offset + reach + place.width.bytes()
}

/// Where a process may stop after a step, and which steps may come before that.
fn follow_step(network: &Network, kind: usize, step: &Step) -> (Vec<LocationId>, Vec<(LocationId, usize)>) {
    let (mut stops, mut run) = (BTreeSet::new(), Vec::new());
    if step.action == Action::End || step.next == LocationId::EXIT {
        return (Vec::new(), run);
    }
    if !step.is_atomic {
        return (vec![step.next], run);
    }
    let mut seen = BTreeSet::new();
    let mut work = Vec::new();
    // An offer may find a partner, and then the control is lost; if the channel is buffered it is not.
    let mut arrive = |step: &Step, work: &mut Vec<LocationId>, stops: &mut BTreeSet<LocationId>| {
        if !step.is_atomic || may_offer(network, kind, &step.action) {
            stops.insert(step.next);
        }
        if step.is_atomic && seen.insert(step.next) {
            work.push(step.next);
        }
    };
    arrive(step, &mut work, &mut stops);
    while let Some(at) = work.pop() {
        let location = &network.processes[kind].locations[at.index()];
        if may_block(network, kind, at) {
            stops.insert(at);
        }
        for (i, step) in location.steps.iter().enumerate() {
            run.push((at, i));
            if step.action != Action::End {
                arrive(step, &mut work, &mut stops);
            }
        }
    }
    (stops.into_iter().collect(), run)
}

/// Whether an action may be the offer of a rendezvous.
fn may_offer(network: &Network, kind: usize, action: &Action) -> bool {
    let Action::Send { channel, .. } = action else { return false };
    network.channel_kind(kind, channel).is_none_or(|c| network.channels[c].capacity == 0)
}

/// Whether a process may have nothing to do at a location.
fn may_block(network: &Network, kind: usize, at: LocationId) -> bool {
    let process = &network.processes[kind];
    let always = |step: &Step| match &step.action {
        Action::Skip | Action::Assign(..) | Action::Assert(_) | Action::SetPriority(..) => true,
        Action::Guard(expr) => matches!(expr, Expr::Constant(c) if *c != 0),
        // An offer without a partner counts as something that cannot be done, so `else` can.
        Action::Else => true,
        _ => false,
    };
    process.provided.is_some() || !process.locations[at.index()].steps.iter().any(always)
}

/// Whether a run may come to a location twice: it can lose its locations one by one, always one that no other
/// leads to, unless there is a loop.
fn has_loop(locations: &[Location], run: &[(LocationId, usize)]) -> bool {
    let mut left: BTreeSet<LocationId> = run.iter().map(|(at, _)| *at).collect();
    let mut edges: Vec<(LocationId, LocationId)> = Vec::new();
    for &(at, i) in run {
        let step = &locations[at.index()].steps[i];
        if step.is_atomic {
            edges.push((at, step.next));
        }
    }
    while let Some(&free) =
        left.iter().find(|at| !edges.iter().any(|(from, to)| to == *at && left.contains(from)))
    {
        left.remove(&free);
    }
    !left.is_empty()
}
