//! The choice among stubborn sets of a network's state.
//!
//! **Implements**, over the same rules:
//! * `ample`: the steps of one process, if nothing that others may ever do is in their way and no others can
//!   enable more of them; else everything. What SPIN does, as a baseline.
//! * `persistent-1`, `-2`, `-3` (VS): closures of one enabled node. Of disabled nodes that come in the first
//!   makes everything, the second the steps that their process may take now, the third one necessary enabling
//!   set. The smallest of the closures is taken.
//! * `closure`: the third from the youngest process only.
//! * `scc`, `deletion`: the kernel's algorithms on the rule graph of the state.
//! * `up-sets`: the closure of everything that may fail, and of an enabled node if none is in it. Whatever goes
//!   wrong in the end, something of the set must happen first, so no cycle condition is needed (the up-sets
//!   of TAPAAL and LoLA).
//!   The same sets, for the goals of a state of an automaton, are what [`NetworkReduction::towards`] gives.
//! * `scc+deletion`: the smallest closure, and where that needs more than one process, deletion, if smaller.
//!
//! **Preserves** D0, D1, D2; for properties of runs also V (a rule of the situation) and I (an invisible node is
//! added where the set would have none), and says where something visible was left out, for L.
//! **Checked by** the definition, per state and algorithm, and by the campaign.

use super::burial;
use super::definition;
use super::flow::Flow;
use super::patience::{Patience, Seen, hash};
use super::population::{Population, Watched};
use super::situation::{Room, Situation};
use crate::{CheckDepth, Deletion, Preserves, Reduction, ReductionKind, StrongComponents};
use fixedbitset::FixedBitSet;
use std::collections::HashMap;
use stubborn_network::{Engine, Expr, Micro, Network, StepId, UnaryOp, Width};
use stubborn_system::{Batch, Fault, Requirements, Rules, System, TransitionId};

/// Populations whose tables are kept, at most; states of others are expanded in full.
const MOST_POPULATIONS: u64 = 4_096;

/// Populations that get tables in any case, and how many states each further one must be worth.
const FREE_POPULATIONS: u64 = 32;
const STATES_PER_POPULATION: u64 = 200;

/// Populations without tables that are remembered; if there are more, the choice is given up.
const MOST_REFUSED: usize = 100_000;

/// Nodes for which tables are made, at most.
const MOST_NODES: usize = 8_192;

/// Comparisons of two orders at a state that is looked at now and then.
const SAMPLE: u64 = 30;

/// What must not be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Failures and terminal states.
    States,
    /// What runs look like.
    Runs,
    /// Ways to states of some sort.
    Goals,
}

/// Stubborn sets of the states of a network.
pub struct NetworkReduction<'n> {
    network: &'n Network,
    flow: Flow,
    watched: Watched,
    purpose: Purpose,
    /// Whether something visible was left out of the last set.
    is_partial: bool,
    kind: ReductionKind,
    is_off: bool,
    /// The steps that bury a process, if that is done at once.
    burials: Option<FixedBitSet>,
    depth: Option<CheckDepth>,
    /// States looked at so far.
    n_seen: u64,
    /// Whether a choice pays, and whether deletion does where a closure is not small.
    patience: Patience,
    deletion: Patience,
    seen: Seen,
    /// What would have been chosen without deletion.
    closed: Option<FixedBitSet>,
    populations: Vec<Population>,
    /// The population for each key; `None` if it has no tables.
    numbers: HashMap<Vec<u8>, Option<usize>>,
    n_refused: usize,
    /// What the tables depend on in the state at hand, and the population.
    key: Vec<u8>,
    last_key: Vec<u8>,
    number: Option<usize>,
    /// For each kind: the bytes of its locals that are part of the key.
    key_bytes: Vec<Vec<usize>>,
    engine: Engine<'n>,
    room: Room,
    groups: Vec<Micro>,
    successors: Batch<[u8]>,
    algorithms: Algorithms,
}

/// The kernel's algorithms, with their room.
#[derive(Default)]
struct Algorithms {
    components: StrongComponents,
    deletion: Deletion<[u8]>,
    set: Vec<TransitionId>,
}

impl<'n> NetworkReduction<'n> {
    /// `checks` are expressions that are to hold in every state.
    pub fn new(network: &'n Network, checks: &[Expr], kind: ReductionKind) -> Self {
        let watched = Watched { checks: checks.to_vec(), ..Watched::default() };
        Self::watching(network, watched, Purpose::States, kind)
    }

    /// For properties of runs over these propositions.
    pub fn for_runs(network: &'n Network, propositions: &[Expr], kind: ReductionKind) -> Self {
        let watched = Watched { propositions: propositions.to_vec(), ..Watched::default() };
        Self::watching(network, watched, Purpose::Runs, kind)
    }

    /// For ways to a state in which one of `goals` holds, along which nothing in `kept` changes: sets without any of which
    /// no goal is reached. They may be empty where none can be reached at all.
    pub fn towards(network: &'n Network, goals: &[Expr], kept: &[Expr], kind: ReductionKind) -> Self {
        let not = |goal: &Expr| Expr::Unary(UnaryOp::Not, Box::new(goal.clone()));
        let checks = goals.iter().map(not).collect();
        let watched = Watched { checks, kept: kept.to_vec(), ..Watched::default() };
        Self::watching(network, watched, Purpose::Goals, kind)
    }

    fn watching(network: &'n Network, watched: Watched, purpose: Purpose, kind: ReductionKind) -> Self {
        let flow = Flow::new(network);
        let n_kinds = network.processes.len();
        let key_bytes = (0..n_kinds).map(|kind| flow.constant_bytes(kind).collect()).collect();
        let all_watched = watched.checks.iter().chain(&watched.propositions);
        let is_burying = purpose == Purpose::States && kind != ReductionKind::None;
        let burials = if is_burying { burial::harmless_burials(network, &flow, all_watched) } else { None };
        Self {
            network,
            flow,
            burials,
            watched,
            purpose,
            is_partial: false,
            kind,
            // A step of anybody changes who may move next, or what somebody can see.
            is_off: kind == ReductionKind::None || network.has_priorities || network.last.is_some(),
            depth: None,
            n_seen: 0,
            patience: Patience::default(),
            deletion: Patience::default(),
            seen: Seen::default(),
            closed: None,
            populations: Vec::new(),
            numbers: HashMap::new(),
            n_refused: 0,
            key: Vec::new(),
            last_key: Vec::new(),
            number: None,
            key_bytes,
            engine: network.engine(),
            room: Room::default(),
            groups: Vec::new(),
            successors: Batch::new(),
            algorithms: Algorithms::default(),
        }
    }

    /// The same, with sets held against their definition: in a few states, or in all.
    pub fn checked(self, depth: CheckDepth) -> Self {
        Self { depth: Some(depth), ..self }
    }

    /// The same if somebody looks at these expressions as well, in whatever states are found.
    pub fn observed_by(self, readers: &[&Expr]) -> Self {
        let is_blind = readers.iter().all(|expr| burial::is_blind(self.network, expr));
        Self { burials: self.burials.filter(|_| is_blind), ..self }
    }

    fn is_to_be_checked(&self) -> bool {
        match self.depth {
            _ if self.is_off => false,
            None => false,
            Some(CheckDepth::Everything) => true,
            Some(CheckDepth::Sample) => self.n_seen.is_power_of_two(),
        }
    }

    /// Holds the set of a state against the definition.
    fn check(&mut self, state: &[u8]) -> Result<(), Fault> {
        let budget = if self.depth == Some(CheckDepth::Everything) { u64::MAX } else { SAMPLE };
        match self.set(state)? {
            // Where no goal can be reached nothing need be enabled.
            Some(set) if self.purpose == Purpose::Goals && !self.is_any_enabled(&set) => Ok(()),
            Some(set) => definition::check(self.network, state, &set, budget),
            None => Ok(()),
        }
    }

    /// Whether something in a set is enabled in the state whose successors are at hand.
    fn is_any_enabled(&self, set: &[Micro]) -> bool {
        (0..self.successors.len()).any(|i| set.contains(&self.network.group(self.successors.via(i))))
    }

    /// The set for a state: its steps by process, enabled or not. `None` means everything.
    pub fn set(&mut self, state: &[u8]) -> Result<Option<Vec<Micro>>, Fault> {
        self.successors.clear();
        self.network.successors(state, &mut self.successors)?;
        self.successors.take_flag();
        self.successors.take_cut();
        let Some(set) = self.choose(state)? else { return Ok(None) };
        let Some(population) = self.number.map(|number| &self.populations[number]) else { return Ok(None) };
        let steps = set.ones().filter(|&n| n < population.nodes.len());
        let micro = |n: usize| {
            let node = population.nodes[n];
            Micro { pid: node.pid, step: StepId(node.step as u32) }
        };
        Ok(Some(steps.map(micro).collect()))
    }

    /// Chooses a set for the state whose successors are at hand. `None` means everything.
    fn choose(&mut self, state: &[u8]) -> Result<Option<FixedBitSet>, Fault> {
        if self.is_off || self.successors.len() <= 1 {
            return Ok(None);
        }
        self.closed = None;
        self.groups.clear();
        let vias = (0..self.successors.len()).map(|i| self.successors.via(i));
        self.groups.extend(vias.map(|via| self.network.group(via)));
        if self.groups.iter().all(|micro| micro.pid == self.groups[0].pid) {
            return Ok(None);
        }
        if self.purpose == Purpose::States && !self.patience.begins() {
            return Ok(None);
        }
        self.n_seen += 1;
        self.room.shape.fit(self.network, state);
        self.find_population(state);
        let Some(number) = self.number else { return Ok(None) };
        let population = &mut self.populations[number];
        if population.nodes.len() > MOST_NODES {
            return Ok(None);
        }
        let enabled = &mut self.room.enabled;
        if enabled.len() != population.n_nodes() {
            *enabled = FixedBitSet::with_capacity(population.n_nodes());
        }
        enabled.clear();
        for micro in &self.groups {
            let first = population.nodes[population.bases[micro.pid]].step;
            enabled.insert(population.bases[micro.pid] + micro.step.0 as usize - first);
        }
        if enabled.ones().any(|n| population.is_timeout(n)) {
            return Ok(None);
        }
        let situation =
            Situation::new(self.network, &self.flow, state, &mut self.engine, population, &mut self.room);
        let room = (&mut self.algorithms, &mut self.deletion, &mut self.closed);
        Self::pick(self.kind, room, situation, self.purpose)
    }

    /// The successor at hand that is a burial, if processes are buried at once.
    fn burial(&self) -> Option<usize> {
        let burials = self.burials.as_ref()?;
        let step = |i: usize| self.network.group(self.successors.via(i)).step.0 as usize;
        (0..self.successors.len()).find(|&i| burials.contains(step(i)))
    }

    /// Finds the tables for the state at hand, or makes them.
    fn find_population(&mut self, state: &[u8]) {
        let shape = &self.room.shape;
        self.key.clear();
        for pid in 0..shape.n_processes() {
            let kind = shape.kind(pid);
            self.key.push(kind as u8);
            let bytes = self.key_bytes[kind].iter();
            self.key.extend(bytes.map(|&i| shape.local(state, pid, i, Width::Byte) as u8));
        }
        if self.key == self.last_key && !self.key.is_empty() {
            return;
        }
        self.last_key.clone_from(&self.key);
        if let Some(&known) = self.numbers.get(&self.key) {
            self.number = known;
            return;
        }
        // Tables that serve a few states only cost more than they save.
        let n = self.populations.len() as u64;
        if n >= MOST_POPULATIONS || (n > FREE_POPULATIONS && n * STATES_PER_POPULATION > self.n_seen) {
            self.number = None;
            self.n_refused += 1;
            self.is_off |= self.n_refused >= MOST_REFUSED;
        } else {
            let is_up = self.kind == ReductionKind::UpSets;
            let view = self.network.view(state);
            let made = Population::new(self.network, &self.flow, &view, &self.watched, is_up);
            self.number = Some(self.populations.len());
            self.populations.push(made);
        }
        self.numbers.insert(self.key.clone(), self.number);
    }

    /// Picks a set. `None` means everything.
    fn pick(
        kind: ReductionKind,
        (algorithms, patience, kept): (&mut Algorithms, &mut Patience, &mut Option<FixedBitSet>),
        situation: Situation<'_, '_>,
        purpose: Purpose,
    ) -> Result<Option<FixedBitSet>, Fault> {
        let seeds = seeds(&situation);
        match purpose {
            Purpose::Runs => return Ok(for_runs(&situation, &seeds)),
            Purpose::Goals => return Ok(towards(&situation)),
            Purpose::States => {}
        }
        Ok(match kind {
            ReductionKind::None => None,
            ReductionKind::UpSets => Some(up_set(&situation, &seeds)),
            ReductionKind::Ample => ample(&situation, &seeds),
            ReductionKind::Closure => Some(close(&situation, &seeds[..1], Disabled::Necessary, usize::MAX)),
            ReductionKind::Persistent1 => smallest(&situation, &seeds, Disabled::Everything),
            ReductionKind::Persistent2 => smallest(&situation, &seeds, Disabled::Process),
            ReductionKind::Persistent3 => smallest(&situation, &seeds, Disabled::Necessary),
            ReductionKind::StrongComponents => {
                let graph = Graph::new(situation);
                algorithms.set.clear();
                algorithms.components.stubborn_set(&graph, &[], &mut algorithms.set)?;
                Some(graph.nodes(&algorithms.set))
            }
            ReductionKind::Deletion => Some(algorithms.delete(situation)?),
            ReductionKind::Smaller => {
                let closed = smallest(&situation, &seeds, Disabled::Necessary);
                let size =
                    closed.as_ref().map_or(usize::MAX, |set| set.intersection_count(situation.enabled));
                let is_one_process = closed.as_ref().is_some_and(|set| {
                    let mut pids = set.intersection(situation.enabled).map(|n| situation.pid(n));
                    let first = pids.next();
                    pids.all(|pid| Some(pid) == first)
                });
                if is_one_process || !patience.begins() {
                    return Ok(closed);
                }
                let enabled = situation.enabled;
                let deleted = algorithms.delete(situation)?;
                if deleted.intersection_count(enabled) >= size {
                    patience.was_in_vain();
                    return Ok(closed);
                }
                *kept = closed;
                Some(deleted)
            }
        })
    }
}

impl<Y: System<State = [u8]> + ?Sized> Reduction<Y> for NetworkReduction<'_> {
    fn name(&self) -> String {
        let burying = if self.burials.is_some() { ", burying" } else { "" };
        format!("{}{burying}", self.kind.word())
    }

    fn preserves(&self) -> Preserves {
        match self.kind {
            _ if self.purpose == Purpose::Runs => Preserves::Stuttering,
            _ if self.purpose == Purpose::Goals => Preserves::Acceptance,
            ReductionKind::None => Preserves::Everything,
            ReductionKind::UpSets => Preserves::Failures,
            _ => Preserves::Basic,
        }
    }

    fn expand(&mut self, system: &Y, state: &[u8], out: &mut Batch<[u8]>) -> Result<(), Fault> {
        self.successors.clear();
        system.successors(state, &mut self.successors)?;
        if self.successors.take_flag() {
            out.flag();
        }
        let too_much = self.successors.take_cut();
        if let Some(burial) = self.burial() {
            out.push(self.successors.via(burial), self.successors.state(burial));
            self.is_partial = false;
            return Ok(());
        }
        too_much.into_iter().for_each(|too_much| out.cut(too_much));
        if self.is_to_be_checked() {
            self.check(state)?;
            self.successors.clear();
            system.successors(state, &mut self.successors)?;
            self.successors.take_flag();
            self.successors.take_cut();
        }
        let n_seen = self.n_seen;
        let set = self.choose(state)?;
        let population = set.as_ref().and(self.number).map(|number| &self.populations[number]);
        // What its process cannot come to any more is left out of nothing. (A later process with the same number is
        // another one; the step that starts it stands for it.)
        let live = &self.room.live;
        let left_out = |set: &FixedBitSet| {
            population.is_some_and(|p| p.visible.intersection(live).any(|n| !set.contains(n)))
        };
        self.is_partial = set.as_ref().is_some_and(left_out);
        let (is_asked, before) = (self.n_seen > n_seen, out.len());
        for i in 0..self.successors.len() {
            let (via, successor) = (self.successors.via(i), self.successors.state(i));
            let is_in = |set: &FixedBitSet| {
                let Micro { pid, step } = self.network.group(via);
                population
                    .is_none_or(|p| set.contains(p.bases[pid] + step.0 as usize - p.nodes[p.bases[pid]].step))
            };
            let is_fired = set.as_ref().is_none_or(is_in);
            if is_fired {
                out.push(via, successor);
            }
            let hash = hash(successor);
            if is_fired {
                self.seen.insert(hash);
                self.patience.fire(hash);
                self.deletion.fire(hash);
            } else if is_asked {
                if self.patience.is_on_trial() {
                    self.patience.leave_out(hash, &self.seen);
                }
                if self.deletion.is_on_trial() && self.closed.as_ref().is_some_and(is_in) {
                    self.deletion.leave_out(hash, &self.seen);
                }
            }
        }
        if is_asked {
            self.patience.count(self.successors.len(), out.len() - before);
        }
        Ok(())
    }

    fn is_partial(&self) -> bool {
        self.is_partial
    }

    fn class(&self, t: TransitionId) -> u32 {
        t.0 / self.network.n_outcomes as u32
    }

    fn stubborn_set(&mut self, system: &Y, state: &[u8], out: &mut Vec<TransitionId>) -> Result<(), Fault> {
        let _ = system;
        match self.set(state)? {
            None => out.extend((0..self.network.n_transitions()).map(TransitionId::from)),
            Some(set) => {
                for micro in set {
                    let group = micro.pid * self.network.n_steps + micro.step.0 as usize;
                    let first = group * self.network.n_outcomes;
                    out.extend((first..first + self.network.n_outcomes).map(TransitionId::from));
                }
            }
        }
        Ok(())
    }
}

impl Algorithms {
    fn delete(&mut self, situation: Situation<'_, '_>) -> Result<FixedBitSet, Fault> {
        let graph = Graph::new(situation);
        self.set.clear();
        self.deletion.stubborn_set(&graph, &[], &mut self.set)?;
        Ok(graph.nodes(&self.set))
    }
}

/// One enabled node of each process that has one, the youngest first.
fn seeds(situation: &Situation<'_, '_>) -> Vec<usize> {
    let mut seeds: Vec<usize> = Vec::new();
    for node in situation.enabled.ones() {
        if seeds.last().is_none_or(|&last| situation.pid(last) != situation.pid(node)) {
            seeds.push(node);
        }
    }
    seeds.reverse();
    seeds
}

/// What to do about disabled nodes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Disabled {
    Everything,
    Process,
    Necessary,
}

/// The smallest closure of a seed, in enabled nodes. `None` means everything.
fn smallest(situation: &Situation<'_, '_>, seeds: &[usize], disabled: Disabled) -> Option<FixedBitSet> {
    let mut best: Option<FixedBitSet> = None;
    let mut best_size = situation.enabled.count_ones(..);
    if disabled == Disabled::Necessary {
        // What is independent whatever the state is found at once.
        for &seed in seeds {
            let current = situation.current(situation.pid(seed));
            let size = situation.enabled.count_ones(current.clone());
            if size < best_size && situation.is_apart(situation.pid(seed)) {
                let mut set = situation.take();
                set.insert_range(current);
                (best, best_size) = (Some(set), size);
            }
        }
    }
    for &seed in seeds {
        if best_size == 1 {
            break;
        }
        let (set, size) = close_and_count(situation, &[seed], disabled, best_size);
        if size < best_size {
            (best, best_size) = (Some(set), size);
        } else {
            situation.give(set);
        }
    }
    best
}

/// The smallest closure that has an invisible node if one is enabled: without any visible one if possible (I).
fn for_runs(situation: &Situation<'_, '_>, seeds: &[usize]) -> Option<FixedBitSet> {
    let visible = situation.population.borrow().visible.clone();
    let is_visible = |n: &usize| visible.contains(*n);
    let n_enabled = situation.enabled.count_ones(..);
    let has_invisible = |set: &FixedBitSet| set.intersection(situation.enabled).any(|n| !is_visible(&n));
    let must_have_invisible = situation.enabled.ones().any(|n| !is_visible(&n));
    let mut best: Option<FixedBitSet> = None;
    let mut best_size = n_enabled;
    for &seed in seeds {
        let (set, size) = close_and_count(situation, &[seed], Disabled::Necessary, best_size);
        if size < best_size && (!must_have_invisible || has_invisible(&set)) {
            (best, best_size) = (Some(set), size);
        }
    }
    best
}

/// Whatever may bring a goal about, closed. `None` means everything: something in it may change what is to be kept.
fn towards(situation: &Situation<'_, '_>) -> Option<FixedBitSet> {
    let goals: Vec<usize> = situation.live.ones().filter(|&n| !situation.is_step(n)).collect();
    let set = close(situation, &goals, Disabled::Necessary, usize::MAX);
    let population = situation.population.borrow();
    let keeps = set.intersection(situation.enabled).all(|n| !population.changing.contains(n));
    keeps.then_some(set)
}

/// Everything that may fail, closed; and an enabled node.
fn up_set(situation: &Situation<'_, '_>, seeds: &[usize]) -> FixedBitSet {
    let may_fail = |&n: &usize| !situation.is_step(n) || situation.population.borrow().may_fail(n);
    let mut failing: Vec<usize> = situation.live.ones().filter(may_fail).collect();
    let set = close(situation, &failing, Disabled::Necessary, usize::MAX);
    if set.intersection(situation.enabled).next().is_some() {
        return set;
    }
    let closures = seeds.iter().map(|&seed| {
        failing.push(seed);
        let set = close(situation, &failing, Disabled::Necessary, usize::MAX);
        failing.pop();
        set
    });
    closures.min_by_key(|set| set.intersection_count(situation.enabled)).unwrap_or(set)
}

/// The closure of some nodes. Given up, with some set, once it has `limit` enabled nodes.
fn close(situation: &Situation<'_, '_>, seeds: &[usize], disabled: Disabled, limit: usize) -> FixedBitSet {
    close_and_count(situation, seeds, disabled, limit).0
}

/// The same, with the number of its enabled nodes.
fn close_and_count(
    situation: &Situation<'_, '_>,
    seeds: &[usize],
    disabled: Disabled,
    limit: usize,
) -> (FixedBitSet, usize) {
    let mut closure = Closure::new(situation);
    closure.set.extend(seeds.iter().copied());
    closure.work.extend(seeds);
    closure.n_enabled = closure.set.intersection_count(situation.enabled);
    while let Some(node) = closure.work.pop() {
        let is_waiting = situation.is_step(node) && !situation.enabled.contains(node);
        if is_waiting && disabled == Disabled::Everything {
            closure.set.union_with(situation.live);
            closure.n_enabled = closure.set.intersection_count(situation.enabled);
            break;
        }
        if is_waiting && !situation.is_current(node) && closure.covers(situation.pid(node)) {
            // Before it can be enabled its process must take one of the steps that are in already.
            continue;
        }
        if is_waiting && disabled == Disabled::Process {
            let mut all = situation.take();
            if situation.is_current(node) {
                // All that may change what it waits for.
                let range = situation.alternatives(node);
                situation.sets()[range].iter().for_each(|set| all.union_with(set));
            } else {
                all.extend(situation.current(situation.pid(node)));
            }
            closure.add(&all);
            situation.give(all);
        } else {
            let range = situation.alternatives(node);
            let sets = situation.sets();
            // The alternative that costs least: enabled nodes that are new, then nodes that are new.
            match &sets[range] {
                [] => {}
                [only] => closure.add(only),
                several => {
                    let least = several.iter().min_by_key(|wanted| closure.cost(wanted));
                    least.into_iter().for_each(|wanted| closure.add(wanted));
                }
            }
        }
        if closure.n_enabled >= limit {
            break;
        }
    }
    let Closure { set, covered, work, n_enabled, .. } = closure;
    situation.give(covered);
    situation.sets_mut().work = work;
    (set, n_enabled)
}

/// A set that is being closed.
struct Closure<'s, 'a, 'n> {
    situation: &'s Situation<'a, 'n>,
    set: FixedBitSet,
    /// Nodes of processes all of whose current steps are in the set. They come in without bringing anything.
    covered: FixedBitSet,
    /// Nodes of the set that may bring others.
    work: Vec<usize>,
    n_enabled: usize,
}

impl<'s, 'a, 'n> Closure<'s, 'a, 'n> {
    fn new(situation: &'s Situation<'a, 'n>) -> Self {
        let (set, covered) = (situation.take(), situation.take());
        let mut work = std::mem::take(&mut situation.sets_mut().work);
        work.clear();
        Self { situation, set, covered, work, n_enabled: 0 }
    }

    /// Whether all steps that a process may take now are in the set.
    fn covers(&mut self, pid: usize) -> bool {
        let current = self.situation.current(pid);
        let covers = self.set.contains_all_in_range(current.clone());
        if covers {
            let all = self.situation.population.borrow().range(pid);
            self.covered.insert_range(all.start..current.start);
            self.covered.insert_range(current.end..all.end);
        }
        covers
    }

    /// How many enabled nodes, and how many nodes, would be new.
    fn cost(&self, wanted: &FixedBitSet) -> (u32, u32) {
        let mut cost = (0, 0);
        let blocks = wanted.as_slice().iter().zip(self.set.as_slice());
        for ((w, s), e) in blocks.zip(self.situation.enabled.as_slice()) {
            let new = w & !s;
            if new == 0 {
                continue;
            }
            cost.0 += (new & e).count_ones();
            cost.1 += new.count_ones();
        }
        cost
    }

    /// Adds nodes.
    fn add(&mut self, wanted: &FixedBitSet) {
        let blocks = self.set.as_mut_slice().iter_mut().zip(wanted.as_slice());
        let others = self.situation.enabled.as_slice().iter().zip(self.covered.as_slice());
        for (i, ((s, w), (e, covered))) in blocks.zip(others).enumerate() {
            let mut new = w & !*s;
            if new == 0 {
                continue;
            }
            *s |= new;
            self.n_enabled += (new & e).count_ones() as usize;
            new &= !covered;
            while new != 0 {
                self.work.push(i * usize::BITS as usize + new.trailing_zeros() as usize);
                new &= new - 1;
            }
        }
    }
}

/// The steps of one process if nobody can ever be in their way. `None` means everything.
fn ample(situation: &Situation<'_, '_>, seeds: &[usize]) -> Option<FixedBitSet> {
    seeds.iter().find_map(|&seed| {
        let pid = situation.pid(seed);
        let current = situation.current(pid);
        let mut set = FixedBitSet::with_capacity(situation.n_nodes());
        set.extend(current.clone());
        for node in current {
            let range = situation.alternatives(node);
            let alternatives = &situation.sets()[range];
            if !alternatives.is_empty() && !alternatives.iter().any(|wanted| wanted.is_subset(&set)) {
                return None;
            }
        }
        Some(set)
    })
}

/// The rule graph of one state, for the algorithms of the kernel: nodes that may be enabled some time, and
/// behind them the checks. Its states mean nothing.
struct Graph<'a, 'n> {
    situation: Situation<'a, 'n>,
    /// The node of the situation for each node here.
    global: Vec<usize>,
    local: Vec<u32>,
    n_steps: usize,
}

impl<'a, 'n> Graph<'a, 'n> {
    fn new(situation: Situation<'a, 'n>) -> Self {
        let global: Vec<usize> = situation.live.ones().collect();
        let mut local = vec![u32::MAX; situation.n_nodes()];
        global.iter().enumerate().for_each(|(i, &n)| local[n] = i as u32);
        let n_steps = global.iter().filter(|&&n| situation.is_step(n)).count();
        Self { situation, global, local, n_steps }
    }

    fn nodes(&self, set: &[TransitionId]) -> FixedBitSet {
        let mut nodes = FixedBitSet::with_capacity(self.situation.n_nodes());
        nodes.extend(set.iter().map(|t| self.global[t.index()]));
        nodes
    }
}

impl System for Graph<'_, '_> {
    type State = [u8];

    fn n_transitions(&self) -> usize {
        self.n_steps
    }

    fn transition_name(&self, t: TransitionId) -> String {
        t.to_string()
    }

    fn initial(&self, out: &mut Batch<[u8]>) -> Result<(), Fault> {
        out.push(TransitionId(0), &[]);
        Ok(())
    }

    fn fire(&self, _: &[u8], t: TransitionId, out: &mut Batch<[u8]>) -> Result<bool, Fault> {
        let is_enabled = self.situation.enabled.contains(self.global[t.index()]);
        if is_enabled {
            out.push(t, &[]);
        }
        Ok(is_enabled)
    }

    fn values(&self, _: &[u8]) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl Rules for Graph<'_, '_> {
    fn n_nodes(&self) -> usize {
        self.global.len()
    }

    fn require(&self, _: &[u8], t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        let range = self.situation.alternatives(self.global[t.index()]);
        for (i, set) in self.situation.sets()[range].iter().enumerate() {
            if i > 0 {
                out.or();
            }
            set.ones().for_each(|n| out.add(TransitionId(self.local[n])));
        }
        Ok(())
    }
}
