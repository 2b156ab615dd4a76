//! The stubborn sets of a network's states.
//!
//! Finds the tables for a state, remembers sets or has one picked, and fires what is in it. Where that does not pay
//! everything is fired.
//!
//! **Preserves** what the [`algorithms`](super::algorithms) do, and says where something visible was left out, for L.
//! **Checked by** the definition, per state and algorithm, and by the campaign.

use super::algorithms::{Algorithms, Purpose, Wish};
use super::burial;
use super::census::{Census, OTHERS};
use super::definition;
use super::flow::Flow;
use super::glance::Glance;
use super::look::{Here, Look, Notes};
use super::memo::{Choice, Known, Memo};
use super::patience::{Patience, Seen, hash};
use super::population::{Population, Watched};
use super::shape::Shape;
use super::shortcuts::Shortcut;
use super::situation::{Room, Situation};
use crate::{AsItIs, CheckDepth, Preserves, Reduction, ReductionKind, Shown, Sieve, Sieves};
use fixedbitset::FixedBitSet;
use std::collections::HashMap;
use stubborn_network::{Engine, Expr, Micro, Network, StepId, UnaryOp};
use stubborn_system::{Batch, Fault, System, TransitionId};

/// Populations whose tables are kept, at most; states of others are expanded in full.
const MOST_POPULATIONS: u64 = 4_096;

/// Populations that get tables in any case, and how many states each further one must be worth.
const FREE_POPULATIONS: u64 = 32;
const STATES_PER_POPULATION: u64 = 200;

/// Populations without tables that are remembered; if there are more, the choice is given up.
const MOST_REFUSED: usize = 100_000;

/// Comparisons of two orders at a state that is looked at now and then.
const SAMPLE: u64 = 30;

/// Stubborn sets of the states of a network.
pub struct NetworkReduction<'n> {
    pub(super) network: &'n Network,
    flow: Flow,
    pub(super) watched: Watched,
    pub(super) purpose: Purpose,
    pub(super) kind: ReductionKind,
    pub(super) is_off: bool,
    /// Whether it was given up during the search at hand.
    is_given_up: bool,
    /// The steps that bury a process, if that is done at once.
    pub(super) burials: Option<FixedBitSet>,
    pub(super) depth: Option<CheckDepth>,
    /// States looked at so far, and how many there were when one was held against the definition, in this search or one before.
    n_seen: u64,
    n_seen_at_check: u64,
    /// Nodes of the populations for which sets were picked, each time.
    pub(super) n_compared: u64,
    /// Whether a choice pays, and whether deletion does where a closure is not small.
    patience: Patience,
    deletion: Patience,
    seen: Seen,
    pub(super) memo: Memo,
    /// What was chosen for the state at hand: something that is remembered, or this.
    known: Option<Known>,
    chosen: Choice,
    /// Which of its successors are kept, if that is known already.
    pub(super) shortcut: Option<Shortcut>,
    populations: Vec<Population>,
    /// The population for each key; `None` if it has no tables.
    numbers: HashMap<Vec<i32>, Option<usize>>,
    n_numbered: u64,
    n_refused: usize,
    /// The same of searches before.
    of_others: HashMap<Vec<i32>, usize>,
    /// Whether what was chosen for a state once is chosen for it always.
    is_steady: bool,
    /// The same for the search at hand: whether deletion is tried.
    pub(super) sifts: Option<bool>,
    /// What was found wrong by a search without order.
    pub(super) fault: Option<Fault>,
    /// What the tables depend on in the state at hand, and the population of the state with this key.
    census: Census,
    last_key: Vec<i32>,
    number: Option<usize>,
    engine: Engine<'n>,
    shape: Shape,
    notes: Notes,
    here: Here,
    room: Room,
    pub(super) groups: Vec<Micro>,
    /// What is enabled in the state at hand, and a hash of what it leads to.
    pub(super) made: Vec<TransitionId>,
    hashes: Vec<u64>,
    pub(super) kept: FixedBitSet,
    /// Whether everything was kept.
    is_whole: bool,
    successors: Batch<[u8]>,
    algorithms: Algorithms,
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

    pub(super) fn watching(
        network: &'n Network,
        watched: Watched,
        purpose: Purpose,
        kind: ReductionKind,
    ) -> Self {
        let flow = Flow::new(network);
        let census = Census::new(network, &flow);
        let all_watched = watched.checks.iter().chain(&watched.propositions);
        let is_burying = purpose == Purpose::States && kind != ReductionKind::None;
        let burials = if is_burying { burial::harmless_burials(network, &flow, all_watched) } else { None };
        Self {
            network,
            flow,
            burials,
            watched,
            purpose,
            kind,
            // A step of anybody changes who may move next, or what somebody can see.
            is_off: kind == ReductionKind::None || network.has_priorities || network.last.is_some(),
            is_given_up: false,
            depth: None,
            n_seen: 0,
            n_seen_at_check: 0,
            n_compared: 0,
            patience: Patience::default(),
            deletion: Patience::default(),
            seen: Seen::default(),
            memo: Memo::default(),
            known: None,
            chosen: Choice::default(),
            shortcut: None,
            populations: Vec::new(),
            numbers: HashMap::new(),
            n_numbered: 0,
            n_refused: 0,
            of_others: HashMap::new(),
            is_steady: false,
            sifts: None,
            fault: None,
            census,
            last_key: Vec::new(),
            number: None,
            engine: network.engine(),
            shape: Shape::default(),
            notes: Notes::default(),
            here: Here::default(),
            room: Room::default(),
            groups: Vec::new(),
            made: Vec::new(),
            hashes: Vec::new(),
            kept: FixedBitSet::new(),
            is_whole: false,
            successors: Batch::new(),
            algorithms: Algorithms::default(),
        }
    }

    /// The same for searches that come to a state more than once and do not look for cycles that put something off: the choice is a
    /// function of the state during all of the search, and every cycle has a state whose set has all that is visible (L).
    pub fn steady(mut self) -> Self {
        self.watched.minds_cycles = true;
        self.is_steady = true;
        self
    }

    /// The same, with sets held against their definition: in a few states, or in all.
    pub fn checked(self, depth: CheckDepth) -> Self {
        Self { depth: Some(depth), ..self }
    }

    /// Tries as hard in every state, however little that brings: for tests, because on keys, where states have other hashes, it may seem to bring more or less.
    #[must_use]
    pub fn tireless(mut self) -> Self {
        (self.patience.is_tireless, self.deletion.is_tireless) = (true, true);
        self
    }

    /// The same without a memory of what was picked before, to hold others against.
    pub fn forgetful(mut self) -> Self {
        self.memo.forget();
        self
    }

    /// The same if somebody looks at these expressions as well, in whatever states are found.
    pub fn observed_by(self, readers: &[&Expr]) -> Self {
        let is_blind = readers.iter().all(|expr| burial::is_blind(self.network, expr));
        Self { burials: self.burials.filter(|_| is_blind), ..self }
    }

    pub(super) fn is_to_be_checked(&self) -> bool {
        match self.depth {
            _ if self.is_off || self.is_given_up => false,
            None => false,
            Some(CheckDepth::Everything) => true,
            Some(CheckDepth::Sample) => {
                // 1, 4, 16 and so on.
                let is_chosen =
                    self.n_seen.is_power_of_two() && self.n_seen.trailing_zeros().is_multiple_of(2);
                is_chosen && self.n_seen > self.n_seen_at_check
            }
        }
    }

    /// Holds the set of a state against the definition, and what is remembered against what would be picked.
    pub(super) fn check(&mut self, state: &[u8]) -> Result<(), Fault> {
        let budget = if self.depth == Some(CheckDepth::Everything) { u64::MAX } else { SAMPLE };
        self.n_seen_at_check = self.n_seen;
        let Some(set) = self.set(state)? else { return Ok(()) };
        let remembered = self.choice().clone();
        // Whoever knew a shorter way has not looked.
        if let Some(number) = self.number {
            self.here.find_out(&self.groups, &self.census.locations, &mut self.populations[number]);
        }
        self.pick(state)?;
        if remembered != self.chosen {
            let explanation = "the set that is remembered is not the one that would be picked".into();
            return Err(Fault::Rules { condition: "the same choice for the same answers", explanation });
        }
        // Where no goal can be reached nothing need be enabled.
        if self.purpose == Purpose::Goals && !self.is_any_enabled(&set) {
            return Ok(());
        }
        definition::check(self.network, state, &set, budget)
    }

    /// Whether something in a set is enabled in the state whose successors are at hand.
    fn is_any_enabled(&self, set: &[Micro]) -> bool {
        self.groups.iter().any(|micro| set.contains(micro))
    }

    /// The set for a state: its steps by process, enabled or not. `None` means everything.
    pub fn set(&mut self, state: &[u8]) -> Result<Option<Vec<Micro>>, Fault> {
        self.successors.clear();
        self.network.successors(state, &mut self.successors)?;
        self.successors.take_flag();
        self.successors.take_cut();
        self.note_successors();
        if self.is_worth_it() {
            self.choose(&mut AsItIs(state))?;
        }
        if self.choice().is_everything {
            return Ok(None);
        }
        let Some(population) = self.number.map(|number| &self.populations[number]) else { return Ok(None) };
        let steps = self.choice().set.ones().filter(|&n| n < population.nodes.len());
        let micro = |n: usize| {
            let node = population.nodes[n];
            Micro { pid: node.pid, step: StepId(node.step as u32) }
        };
        Ok(Some(steps.map(micro).collect()))
    }

    /// What was chosen for the state at hand.
    fn choice(&self) -> &Choice {
        self.known.and_then(|known| self.memo.choice(known)).unwrap_or(&self.chosen)
    }

    /// Chooses a set for the state whose successors are at hand, where that is worth it.
    pub(super) fn choose(&mut self, state: &mut dyn Shown<[u8]>) -> Result<(), Fault> {
        self.n_seen += 1;
        self.here.may_delete = self.sifts.unwrap_or_else(|| self.deletion.would_begin());
        self.shortcut = self.memo.find_short(self.here.may_delete, &self.made, state);
        if let Some(shortcut) = self.shortcut {
            self.known = Some(shortcut.known);
            self.note_deletion();
            return Ok(());
        }
        self.census.take(self.network, &self.flow, &mut self.shape, state);
        self.find_population(state);
        let Some(number) = self.number else { return Ok(()) };
        if self.groups.is_empty() {
            self.groups.extend(self.made.iter().map(|&via| self.network.group(via)));
        }
        let population = &mut self.populations[number];
        if !self.here.find_out(&self.groups, &self.census.locations, population) {
            return Ok(());
        }
        self.memo.key = (number, self.here.live);
        if !self.recall(number, state) {
            let mut picked = Ok(());
            state.show(&mut |state| picked = self.pick(state));
            picked?;
            self.memo.insert(&self.notes.answers.asked, &self.chosen);
        } else if self.memo.wants_short() {
            self.shorten();
        }
        self.note_deletion();
        Ok(())
    }

    /// Whether it is remembered what was chosen for a state that looks the same.
    fn recall(&mut self, number: usize, state: &mut dyn Shown<[u8]>) -> bool {
        let mut glance = Glance {
            network: self.network,
            flow: &self.flow,
            shape: &mut self.shape,
            engine: &mut self.engine,
            population: &mut self.populations[number],
            shown: state,
            looks: false,
        };
        self.known = self.memo.find(&mut glance, &self.here, &self.census, &self.groups);
        self.known.is_some()
    }

    /// Notes which successors are kept by what was found for the state at hand, for states that look the same.
    fn shorten(&mut self) {
        let (Some(known), Some(number)) = (self.known, self.number) else { return };
        let population = &self.populations[number];
        let Some(choice) = self.memo.choice(known) else { return };
        let bits = |set: Option<&FixedBitSet>| {
            let is_in = |micro| set.is_none_or(|set: &FixedBitSet| set.contains(population.node(micro)));
            self.groups.iter().rev().fold(0, |bits, micro| bits << 1 | u64::from(is_in(micro)))
        };
        let kept = bits(Some(&choice.set).filter(|_| !choice.is_everything));
        let closed = choice.closed.as_ref().map_or(0, |closed| bits(Some(closed)));
        let shortcut = Shortcut { known, kept, closed };
        self.shortcut = Some(shortcut);
        self.memo.insert_short(shortcut);
    }

    /// Counts whether deletion brought something.
    fn note_deletion(&mut self) {
        if self.sifts.is_some() {
            return;
        }
        let Choice { minds_deletion, is_vain, .. } = *self.choice();
        if minds_deletion {
            self.deletion.begins();
            if is_vain {
                self.deletion.was_in_vain();
            }
        }
    }

    /// Nothing was chosen for the state at hand yet.
    pub(super) fn choose_everything(&mut self) {
        (self.known, self.shortcut) = (None, None);
        (self.chosen.is_everything, self.chosen.is_partial, self.chosen.closed) = (true, false, None);
    }

    /// Whether there is something to choose from at the state whose successors are at hand, and choosing pays.
    fn is_worth_it(&mut self) -> bool {
        self.choose_everything();
        if self.is_off || self.is_given_up || self.made.len() <= 1 {
            return false;
        }
        !self.network.is_of_one_process(&self.made)
            && (self.purpose != Purpose::States || self.patience.begins())
    }

    /// Picks a set for the state at hand.
    fn pick(&mut self, state: &[u8]) -> Result<(), Fault> {
        let population = self.number.map(|number| &mut self.populations[number]);
        let Some(population) = population else { return Ok(()) };
        self.known = None;
        self.n_compared += population.n_nodes() as u64;
        self.shape.fit(self.network, state);
        let (engine, notes) = (&mut self.engine, &mut self.notes);
        let look = Look::new(
            (self.network, &self.flow),
            (state, &self.shape, &self.here),
            engine,
            population,
            notes,
        );
        let situation = Situation::new(look, &mut self.room);
        let wish = Wish { kind: self.kind, purpose: self.purpose };
        self.chosen = self.algorithms.pick(wish, situation)?;
        // What its process cannot come to any more is left out of nothing. (A later process with the same number is
        // another one; the step that starts it stands for it.)
        let (set, live) = (&self.chosen.set, population.live(self.here.live));
        let leaves_out = population.visible.intersection(&live).any(|n| !set.contains(n));
        self.chosen.is_partial = !self.chosen.is_everything && leaves_out;
        Ok(())
    }

    /// The successor at hand that is a burial, if processes are buried at once.
    pub(super) fn burial(&self) -> Option<usize> {
        let burials = self.burials.as_ref()?;
        self.groups.iter().position(|micro| burials.contains(micro.step.0 as usize))
    }

    /// Takes down the successors at hand.
    fn note_successors(&mut self) {
        let Self { made, hashes, successors, .. } = self;
        made.clear();
        made.extend_from_slice(successors.vias());
        hashes.clear();
        hashes.extend((0..successors.len()).map(|i| hash(successors.state(i))));
        self.note_groups();
    }

    /// Takes down which steps made the successors at hand.
    pub(super) fn note_groups(&mut self) {
        self.groups.clear();
        self.groups.extend(self.made.iter().map(|&via| self.network.group(via)));
    }

    /// Whether a successor at hand is kept; and if not, whether it would have been without deletion.
    #[inline]
    pub(super) fn fate(&self, i: usize) -> (bool, bool) {
        if let Some(Shortcut { kept, closed, .. }) = self.shortcut {
            return (kept >> i & 1 != 0, closed >> i & 1 != 0);
        }
        let choice = self.choice();
        let is_in = |set: &FixedBitSet| {
            let node = self.number.map(|number| self.populations[number].node(&self.groups[i]));
            node.is_none_or(|node| set.contains(node))
        };
        let is_kept = choice.is_everything || is_in(&choice.set);
        (is_kept, !is_kept && choice.closed.as_ref().is_some_and(is_in))
    }

    /// Takes out of `kept` what is not explored of the successors at hand. `state` is looked at only if there is a choice.
    fn leave_out(&mut self, state: &mut dyn Shown<[u8]>, kept: &mut FixedBitSet) -> Result<(), Fault> {
        let n_seen = self.n_seen;
        let is_worth_it = self.is_worth_it();
        if is_worth_it {
            self.choose(state)?;
        }
        let (is_asked, mut n_fired) = (self.n_seen > n_seen, 0);
        for i in 0..self.made.len() {
            let (is_kept, is_closed) = self.fate(i);
            let hash = self.hashes[i];
            if is_kept {
                n_fired += 1;
                self.seen.insert(hash);
                self.patience.fire(hash);
                self.deletion.fire(hash);
                continue;
            }
            kept.set(i, false);
            if is_asked {
                if self.patience.is_on_trial() {
                    self.patience.leave_out(hash, &self.seen);
                }
                if self.deletion.is_on_trial() && is_closed {
                    self.deletion.leave_out(hash, &self.seen);
                }
            }
        }
        if is_asked {
            self.patience.count(self.made.len(), n_fired);
        }
        Ok(())
    }

    /// Another search begins: which populations are worth tables is decided again. The tables stay.
    pub(super) fn forget_numbers(&mut self) {
        let made = std::mem::take(&mut self.numbers).into_iter();
        self.of_others.extend(made.filter_map(|(key, number)| number.map(|number| (key, number))));
        (self.n_numbered, self.n_refused, self.is_given_up) = (0, 0, false);
        self.last_key.clear();
        (self.n_seen, self.n_compared) = (0, 0);
    }

    /// Whether there are tables for the state at hand that depend on nothing else.
    pub(super) fn has_tables(&self) -> bool {
        self.number.is_some_and(|number| !self.populations[number].is_crowded)
    }

    /// Whether deletion would be tried in the next state.
    pub(super) fn tries_deletion(&self) -> bool {
        self.deletion.would_begin()
    }

    /// What is remembered takes so many bytes.
    pub(super) fn n_bytes(&self) -> usize {
        self.memo.bytes()
    }

    /// Finds the tables for the state at hand, or makes them.
    fn find_population(&mut self, state: &mut dyn Shown<[u8]>) {
        let key = &self.census.key;
        if *key == self.last_key {
            return;
        }
        self.last_key.clone_from(key);
        if let Some(&known) = self.numbers.get(key) {
            self.number = known;
            return;
        }
        // Tables that serve a few states only cost more than they save.
        let n = self.n_numbered;
        if key[1..].contains(&OTHERS) {
            // It is not known which values these are.
            self.number = None;
            return;
        }
        if self.is_steady && self.n_refused >= MOST_REFUSED {
            // From here on no tables are made, so nothing need be remembered.
            self.number = None;
            return;
        }
        if n >= MOST_POPULATIONS || (n > FREE_POPULATIONS && n * STATES_PER_POPULATION > self.n_seen) {
            self.number = None;
            self.n_refused += 1;
            self.is_given_up |= !self.is_steady && self.n_refused >= MOST_REFUSED;
        } else if let Some(known) = self.of_others.remove(key) {
            self.n_numbered += 1;
            self.number = Some(known);
        } else {
            self.n_numbered += 1;
            let is_up = self.kind == ReductionKind::UpSets;
            self.number = Some(self.populations.len());
            state.show(&mut |state| {
                let view = self.network.view(state);
                let starts = self.census.may_start(&self.flow);
                let made = Population::new(self.network, &self.flow, &view, &self.watched, is_up, starts);
                self.populations.push(made);
            });
        }
        self.numbers.insert(key.clone(), self.number);
    }
}

impl<Y: System<State = [u8]> + ?Sized> Reduction<Y> for NetworkReduction<'_> {
    fn name(&self) -> String {
        let burying = if self.burials.is_some() { ", burying" } else { "" };
        let steady = if self.is_steady { ", steady" } else { "" };
        format!("{}{burying}{steady}", self.kind.word())
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
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.successors.clear();
        system.successors(state, &mut self.successors)?;
        if self.successors.take_flag() {
            out.flag();
        }
        let too_much = self.successors.take_cut();
        self.note_successors();
        if let Some(burial) = self.burial() {
            out.push(self.successors.via(burial), self.successors.state(burial));
            (self.chosen.is_partial, self.is_whole) = (false, false);
            return Ok(());
        }
        too_much.into_iter().for_each(|too_much| out.cut(too_much));
        if self.is_to_be_checked() {
            self.check(state)?;
            self.successors.clear();
            system.successors(state, &mut self.successors)?;
            self.successors.take_flag();
            self.successors.take_cut();
            self.note_successors();
        }
        let mut kept = std::mem::take(&mut self.kept);
        kept.clear();
        kept.grow(self.successors.len());
        kept.insert_range(..self.successors.len());
        let left_out = self.leave_out(&mut AsItIs(state), &mut kept);
        let before = out.len();
        for i in (0..self.successors.len()).filter(|&i| kept.contains(i)) {
            out.push(self.successors.via(i), self.successors.state(i));
        }
        self.is_whole = out.len() - before == self.successors.len();
        self.kept = kept;
        left_out
    }

    fn can_sift(&self) -> bool {
        true
    }

    /// Tables and what is remembered stay: they are true of the network. Which populations are worth tables is decided again, so
    /// that what is chosen does not depend on searches before.
    fn begin_again(&mut self) {
        self.forget_numbers();
        self.patience = Patience::default();
        self.deletion = Patience::default();
        self.seen = Seen::default();
        self.sifts = None;
    }

    fn sieve(&mut self) -> Option<&mut dyn Sieve<[u8]>> {
        self.begin_sifting()
    }

    fn sieves(&self) -> Option<Box<dyn Sieves<[u8]> + '_>> {
        self.elsewhere()
    }

    fn within(&mut self, limit: usize) {
        self.memo.within(limit);
    }

    fn bytes(&self) -> usize {
        self.n_bytes()
    }

    fn work(&self) -> u64 {
        self.n_compared
    }

    fn sift(
        &mut self,
        made: &[(TransitionId, u64)],
        state: &mut dyn Shown<[u8]>,
        kept: &mut FixedBitSet,
    ) -> Result<Option<()>, Fault> {
        if self.is_to_be_checked() {
            return Ok(None);
        }
        self.made.clear();
        self.made.extend(made.iter().map(|&(via, _)| via));
        self.hashes.clear();
        self.hashes.extend(made.iter().map(|&(_, hash)| hash));
        self.note_groups();
        if let Some(burial) = self.burial() {
            kept.clear();
            kept.insert(burial);
            self.chosen.is_partial = false;
            return Ok(Some(()));
        }
        self.leave_out(state, kept).map(Some)
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn is_partial(&self) -> bool {
        self.choice().is_partial
    }

    fn is_steady(&self) -> bool {
        // How hard deletion tries, and whether states are looked at at all, depends on counts for questions about states.
        self.is_steady && self.purpose == Purpose::Runs
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
