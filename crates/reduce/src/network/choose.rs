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
//! * `scc+deletion`: the smallest closure, and where that needs more than one process, deletion, if smaller.
//!
//! **Preserves** D0, D1, D2; for properties of runs also V (a rule of the situation) and I (an invisible node is
//! added where the set would have none), and says where something visible was left out, for L.
//! **Checked by** the definition, per state and algorithm, and by the campaign.

use super::definition;
use super::flow::Flow;
use super::population::{Population, Watched};
use super::situation::Situation;
use crate::{CheckDepth, Deletion, Preserves, Reduction, ReductionKind, StrongComponents};
use fixedbitset::FixedBitSet;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use stubborn_network::{Expr, Micro, Network};
use stubborn_system::{Batch, Fault, Requirements, Rules, System, TransitionId};

/// Populations whose tables are kept, at most; states of others are expanded in full.
const MOST_POPULATIONS: u64 = 4_096;

/// Populations that get tables in any case, and how many states each further one must be worth.
const FREE_POPULATIONS: u64 = 32;
const STATES_PER_POPULATION: u64 = 200;

/// Populations without tables that are remembered; if there are more, the choice is given up.
const MOST_REFUSED: usize = 100_000;

/// Choices that are remembered, at most.
const MOST_CHOICES: usize = 200_000;

/// Nodes for which tables are made, at most.
const MOST_NODES: usize = 8_192;

/// Comparisons of two orders at a state that is looked at now and then.
const SAMPLE: u64 = 30;

/// What the choice brings. Where it brings next to nothing it is given up for good: everything is fired from
/// then on. (A search that expands a state again may then see more successors than before, never fewer.)
#[derive(Debug, Default)]
struct Yield {
    n_states: u64,
    n_enabled: u64,
    n_fired: u64,
}

impl Yield {
    /// Counts a state; whether it is time to give up.
    fn is_poor(&mut self, n_enabled: usize, n_fired: usize) -> bool {
        self.n_states += 1;
        self.n_enabled += n_enabled as u64;
        self.n_fired += n_fired as u64;
        if self.n_states < TRIAL {
            return false;
        }
        let is_poor = self.n_fired * 100 > self.n_enabled * MOST_PERCENT;
        *self = Self::default();
        is_poor
    }
}

/// States after which it is judged whether the choice pays, and the share of what is enabled that may be fired.
const TRIAL: u64 = 16_384;
const MOST_PERCENT: u64 = 98;

/// Stubborn sets of the states of a network.
pub struct NetworkReduction<'n> {
    network: &'n Network,
    flow: Flow,
    watched: Watched,
    /// Whether runs are to look the same, and not only failures and terminal states.
    is_for_runs: bool,
    /// Whether something visible was left out of the last set.
    is_partial: bool,
    kind: ReductionKind,
    is_off: bool,
    depth: Option<CheckDepth>,
    /// States looked at so far.
    n_seen: u64,
    yields: Yield,
    populations: HashMap<Vec<u8>, Population>,
    /// What was chosen where the facts were these, and the facts of the state at hand.
    memo: HashMap<Vec<u8>, Option<FixedBitSet>>,
    facts: Vec<u8>,
    refused: HashSet<Vec<u8>>,
    key: Vec<u8>,
    successors: Batch<[u8]>,
    components: StrongComponents,
}

impl<'n> NetworkReduction<'n> {
    /// `checks` are expressions that are to hold in every state.
    pub fn new(network: &'n Network, checks: &[Expr], kind: ReductionKind) -> Self {
        let watched = Watched { checks: checks.to_vec(), propositions: Vec::new() };
        Self::watching(network, watched, false, kind)
    }

    /// For properties of runs over these propositions.
    pub fn for_runs(network: &'n Network, propositions: &[Expr], kind: ReductionKind) -> Self {
        let watched = Watched { checks: Vec::new(), propositions: propositions.to_vec() };
        Self::watching(network, watched, true, kind)
    }

    fn watching(network: &'n Network, watched: Watched, is_for_runs: bool, kind: ReductionKind) -> Self {
        Self {
            network,
            flow: Flow::new(network),
            watched,
            is_for_runs,
            is_partial: false,
            kind,
            // A step of anybody changes who may move next, or what somebody can see.
            is_off: kind == ReductionKind::None || network.has_priorities || network.last.is_some(),
            depth: None,
            n_seen: 0,
            yields: Yield::default(),
            populations: HashMap::new(),
            memo: HashMap::new(),
            facts: Vec::new(),
            refused: HashSet::new(),
            key: Vec::new(),
            successors: Batch::new(),
            components: StrongComponents::default(),
        }
    }

    /// The same, with sets held against their definition: in a few states, or in all.
    pub fn checked(self, depth: CheckDepth) -> Self {
        Self { depth: Some(depth), ..self }
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
            Some(set) => definition::check(self.network, state, &set, budget),
            None => Ok(()),
        }
    }

    /// The set for a state: its steps by process, enabled or not. `None` means everything.
    pub fn set(&mut self, state: &[u8]) -> Result<Option<Vec<Micro>>, Fault> {
        self.successors.clear();
        self.network.successors(state, &mut self.successors)?;
        let Some(set) = self.choose(state)? else { return Ok(None) };
        let population = &self.populations[&self.key];
        let steps = set.ones().filter(|&n| n < population.nodes.len());
        let micro = |n: usize| {
            let node = population.nodes[n];
            Micro { pid: node.pid, step: stubborn_network::StepId(node.step as u32) }
        };
        Ok(Some(steps.map(micro).collect()))
    }

    /// Chooses a set for the state whose successors are at hand. `None` means everything.
    fn choose(&mut self, state: &[u8]) -> Result<Option<FixedBitSet>, Fault> {
        if self.is_off || self.successors.len() <= 1 {
            return Ok(None);
        }
        self.n_seen += 1;
        let view = self.network.view(state);
        let groups: Vec<Micro> =
            (0..self.successors.len()).map(|i| self.network.group(self.successors.via(i))).collect();
        if groups.iter().all(|micro| micro.pid == groups[0].pid) {
            return Ok(None);
        }
        self.key.clear();
        for pid in 0..view.n_processes() {
            let kind = view.kind(pid);
            self.key.push(kind as u8);
            let locals = view.locals(pid);
            self.key.extend(self.flow.constant_bytes(kind).map(|i| locals[i]));
        }
        if self.refused.contains(&self.key) {
            return Ok(None);
        }
        if !self.populations.contains_key(&self.key) {
            // Tables that serve a few states only cost more than they save.
            let n = self.populations.len() as u64;
            if n >= MOST_POPULATIONS || (n > FREE_POPULATIONS && n * STATES_PER_POPULATION > self.n_seen) {
                // For good: a state that is expanded again must not lose successors.
                self.refused.insert(self.key.clone());
                self.is_off |= self.refused.len() >= MOST_REFUSED;
                return Ok(None);
            }
            let is_up = self.kind == ReductionKind::UpSets;
            let made = Population::new(self.network, &self.flow, &view, &self.watched, is_up);
            self.populations.insert(self.key.clone(), made);
        }
        let Some(population) = self.populations.get_mut(&self.key) else { return Ok(None) };
        if population.nodes.len() > MOST_NODES {
            return Ok(None);
        }
        let mut enabled = FixedBitSet::with_capacity(population.n_nodes());
        for micro in &groups {
            let first = population.nodes[population.bases[micro.pid]].step;
            enabled.insert(population.bases[micro.pid] + micro.step.0 as usize - first);
        }
        if enabled.ones().any(|n| population.is_timeout(n)) {
            return Ok(None);
        }
        let situation = Situation::new(self.network, &self.flow, &view, population, enabled);
        // The choice is a function of fewer facts than there are states.
        self.facts.clear();
        self.facts.extend_from_slice(&self.key);
        situation.facts(&mut self.facts);
        if let Some(known) = self.memo.get(&self.facts) {
            return Ok(known.clone());
        }
        let chosen = Self::pick(self.kind, &mut self.components, situation, self.is_for_runs)?;
        if self.memo.len() >= MOST_CHOICES {
            self.memo.clear();
        }
        self.memo.insert(self.facts.clone(), chosen.clone());
        Ok(chosen)
    }

    /// Picks a set. `None` means everything.
    fn pick(
        kind: ReductionKind,
        components: &mut StrongComponents,
        situation: Situation<'_>,
        is_for_runs: bool,
    ) -> Result<Option<FixedBitSet>, Fault> {
        let seeds = seeds(&situation);
        if is_for_runs {
            return Ok(for_runs(&situation, &seeds));
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
                let mut set = Vec::new();
                components.stubborn_set(&graph, &[], &mut set)?;
                Some(graph.nodes(&set))
            }
            ReductionKind::Deletion => Some(delete(situation)?),
            ReductionKind::Smaller => {
                let closed = smallest(&situation, &seeds, Disabled::Necessary);
                let count = |set: &FixedBitSet| set.intersection(&situation.enabled).count();
                let size = closed.as_ref().map_or(usize::MAX, &count);
                let is_one_process = closed.as_ref().is_some_and(|set| {
                    let mut pids = set.intersection(&situation.enabled).map(|n| situation.pid(n));
                    let first = pids.next();
                    pids.all(|pid| Some(pid) == first)
                });
                if is_one_process {
                    closed
                } else {
                    let enabled = situation.enabled.clone();
                    let deleted = delete(situation)?;
                    if deleted.intersection(&enabled).count() < size { Some(deleted) } else { closed }
                }
            }
        })
    }
}

impl<Y: System<State = [u8]> + ?Sized> Reduction<Y> for NetworkReduction<'_> {
    fn name(&self) -> String {
        self.kind.word().into()
    }

    fn preserves(&self) -> Preserves {
        match self.kind {
            _ if self.is_for_runs => Preserves::Stuttering,
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
        if self.is_to_be_checked() {
            self.check(state)?;
            self.successors.clear();
            system.successors(state, &mut self.successors)?;
            self.successors.take_flag();
        }
        let set = self.choose(state)?;
        let before = out.len();
        let population = set.as_ref().map(|_| &self.populations[&self.key]);
        let left_out = |set: &FixedBitSet| population.is_some_and(|p| !p.visible.is_subset(set));
        self.is_partial = set.as_ref().is_some_and(left_out);
        for i in 0..self.successors.len() {
            let via = self.successors.via(i);
            let is_in = set.as_ref().zip(population).is_none_or(|(set, population)| {
                let Micro { pid, step } = self.network.group(via);
                let base = population.bases[pid];
                set.contains(base + step.0 as usize - population.nodes[base].step)
            });
            if is_in {
                out.push(via, self.successors.state(i));
            }
        }
        self.is_off |= !self.is_off && self.yields.is_poor(self.successors.len(), out.len() - before);
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

fn delete(situation: Situation<'_>) -> Result<FixedBitSet, Fault> {
    let graph = Graph::new(situation);
    let mut set = Vec::new();
    Deletion::default().stubborn_set(&graph, &[], &mut set)?;
    Ok(graph.nodes(&set))
}

/// One enabled node of each process that has one, the youngest first.
fn seeds(situation: &Situation<'_>) -> Vec<usize> {
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
fn smallest(situation: &Situation<'_>, seeds: &[usize], disabled: Disabled) -> Option<FixedBitSet> {
    let n_enabled = situation.enabled.count_ones(..);
    let mut best: Option<FixedBitSet> = None;
    let mut best_size = n_enabled;
    for &seed in seeds {
        let set = close(situation, &[seed], disabled, best_size);
        let size = set.intersection(&situation.enabled).count();
        if size < best_size {
            (best, best_size) = (Some(set), size);
        }
    }
    best
}

/// The smallest closure that has an invisible node if one is enabled: without any visible one if possible (I).
fn for_runs(situation: &Situation<'_>, seeds: &[usize]) -> Option<FixedBitSet> {
    let visible = situation.population.borrow().visible.clone();
    let is_visible = |n: &usize| visible.contains(*n);
    let n_enabled = situation.enabled.count_ones(..);
    let has_invisible = |set: &FixedBitSet| set.intersection(&situation.enabled).any(|n| !is_visible(&n));
    let must_have_invisible = situation.enabled.ones().any(|n| !is_visible(&n));
    let mut best: Option<FixedBitSet> = None;
    let mut best_size = n_enabled;
    for &seed in seeds {
        let set = close(situation, &[seed], Disabled::Necessary, best_size);
        let size = set.intersection(&situation.enabled).count();
        if size < best_size && (!must_have_invisible || has_invisible(&set)) {
            (best, best_size) = (Some(set), size);
        }
    }
    // What can never be enabled again is in every set.
    let dead: Vec<usize> = visible.difference(&situation.live).collect();
    best.map(|mut set| {
        set.extend(dead);
        set
    })
}

/// Everything that may fail, closed; and an enabled node.
fn up_set(situation: &Situation<'_>, seeds: &[usize]) -> FixedBitSet {
    let may_fail = |&n: &usize| !situation.is_step(n) || situation.population.borrow().may_fail(n);
    let mut failing: Vec<usize> = situation.live.ones().filter(may_fail).collect();
    let set = close(situation, &failing, Disabled::Necessary, usize::MAX);
    if set.intersection(&situation.enabled).next().is_some() {
        return set;
    }
    let closures = seeds.iter().map(|&seed| {
        failing.push(seed);
        let set = close(situation, &failing, Disabled::Necessary, usize::MAX);
        failing.pop();
        set
    });
    closures.min_by_key(|set| set.intersection(&situation.enabled).count()).unwrap_or(set)
}

/// The closure of some nodes. Given up, with some set, once it has `limit` enabled nodes.
fn close(situation: &Situation<'_>, seeds: &[usize], disabled: Disabled, limit: usize) -> FixedBitSet {
    let mut set = FixedBitSet::with_capacity(situation.n_nodes());
    let mut work = seeds.to_vec();
    set.extend(seeds.iter().copied());
    let mut n_enabled = set.intersection(&situation.enabled).count();
    while let Some(node) = work.pop() {
        let alternatives;
        let is_step = situation.is_step(node);
        if is_step && !situation.enabled.contains(node) && disabled != Disabled::Necessary {
            match disabled {
                Disabled::Everything => return situation.live.clone(),
                _ if situation.is_current(node) => {
                    // All that may change what it waits for.
                    let mut all = FixedBitSet::with_capacity(situation.n_nodes());
                    situation.alternatives(node).iter().for_each(|set| all.union_with(set));
                    alternatives = Rc::new(vec![all]);
                }
                _ => {
                    let mut all = FixedBitSet::with_capacity(situation.n_nodes());
                    all.extend(situation.current(situation.pid(node)));
                    alternatives = Rc::new(vec![all]);
                }
            }
        } else {
            alternatives = situation.alternatives(node);
        }
        // The alternative that costs least: enabled nodes that are new, then nodes that are new.
        let cost = |wanted: &FixedBitSet| {
            let new = wanted.difference(&set);
            let (mut steps, mut enabled) = (0, 0);
            for n in new {
                steps += 1;
                enabled += usize::from(situation.enabled.contains(n));
            }
            (enabled, steps)
        };
        let Some(chosen) = alternatives.iter().min_by_key(|wanted| cost(wanted)) else { continue };
        for n in chosen.difference(&set).collect::<Vec<_>>() {
            set.insert(n);
            work.push(n);
            n_enabled += usize::from(situation.enabled.contains(n));
        }
        if n_enabled >= limit {
            return set;
        }
    }
    set
}

/// The steps of one process if nobody can ever be in their way. `None` means everything.
fn ample(situation: &Situation<'_>, seeds: &[usize]) -> Option<FixedBitSet> {
    seeds.iter().find_map(|&seed| {
        let pid = situation.pid(seed);
        let current = situation.current(pid);
        let mut set = FixedBitSet::with_capacity(situation.n_nodes());
        set.extend(current.clone());
        for node in current {
            let alternatives = situation.alternatives(node);
            if !alternatives.is_empty() && !alternatives.iter().any(|wanted| wanted.is_subset(&set)) {
                return None;
            }
        }
        Some(set)
    })
}

/// The rule graph of one state, for the algorithms of the kernel: nodes that may be enabled some time, and
/// behind them the checks. Its states mean nothing.
struct Graph<'a> {
    situation: Situation<'a>,
    /// The node of the situation for each node here.
    global: Vec<usize>,
    local: Vec<u32>,
    n_steps: usize,
}

impl<'a> Graph<'a> {
    fn new(situation: Situation<'a>) -> Self {
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

impl System for Graph<'_> {
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

impl Rules for Graph<'_> {
    fn n_nodes(&self) -> usize {
        self.global.len()
    }

    fn require(&self, _: &[u8], t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        let alternatives = self.situation.alternatives(self.global[t.index()]);
        for (i, set) in alternatives.iter().enumerate() {
            if i > 0 {
                out.or();
            }
            set.ones().for_each(|n| out.add(TransitionId(self.local[n])));
        }
        Ok(())
    }
}
