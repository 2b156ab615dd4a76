//! Pairs that may yet be accepted.
//!
//! **Implements** what makes products small: a pair whose state has been expanded for another pair tells nothing new
//! about the system. It is made only if there is hope for it, that is, a way from it in what was explored to states that go round,
//! or stay, with letters that an accepting component of the automaton can read for ever; or to where the automaton accepts whatever comes. Hope is judged on the graph of the states, with
//! one bit for each state of the automaton, whenever cycles are looked for.
//! **Preserves** whether an accepted run exists. When the search has ended, a way to an accepting cycle of the product
//! consists of pairs with hope, since what is asked of the cycle is less than acceptance; and so does a way to a pair that can go
//! on in a state that was not expanded. So, from the initial pairs on, all pairs of such ways are made, and the states of all of
//! them are expanded.
//! **Checked by** brute force on random systems and formulas (`oracle`), which fails if places where everything is accepted give no
//! hope; and by runs that need it to be handed back, or given by states that were not expanded (`tests/all/linear.rs` of the
//! command line).

use super::product::Product;
use super::{MAX_SWEEPS, Search};
use crate::Stop;
use crate::run::Halt;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use stubborn_ltl::{Automaton, Letter, State};
use stubborn_system::System;

/// A set of states of the automaton, of which there are few.
pub(super) type Places = u64;

/// Edges between two looks at the watch.
const PAUSE: u64 = 1 << 16;

/// Called for each edge: whether there is time to go on. What was found is of no use if there is not.
type GoesOn<'a> = dyn FnMut() -> bool + 'a;

/// A component of the automaton that has a cycle through all acceptance sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lasting {
    places: Places,
}

/// The components of an automaton that can accept, without those that accept whatever comes; `None` if it is too large.
pub(super) fn lasting(automaton: &Automaton, accepts_all: &[bool]) -> Option<Vec<Lasting>> {
    let n = automaton.n_states();
    if n > 64 {
        return None;
    }
    let direct = |q: usize| automaton.edges(q as State).iter().fold(0, |all, edge| all | 1u64 << edge.target);
    let mut reached: Vec<Places> = (0..n).map(direct).collect();
    for middle in 0..n {
        for from in 0..n {
            if reached[from] >> middle & 1 == 1 {
                reached[from] |= reached[middle];
            }
        }
    }
    let mut found = Vec::new();
    let mut done: Places = 0;
    for q in 0..n {
        let same = |&r: &usize| reached[q] >> r & 1 == 1 && reached[r] >> q & 1 == 1;
        let places = (0..n).filter(same).fold(0, |all, r| all | 1u64 << r);
        if places & !done == 0 || (0..n).all(|r| places >> r & 1 == 0 || accepts_all[r]) {
            continue;
        }
        done |= places;
        let all = automaton.all_sets();
        let marks = inner(automaton, places).fold(0, |sum, (_, _, marks)| sum | marks);
        if marks & all == all {
            found.push(Lasting { places });
        }
    }
    Some(found)
}

/// The edges within a set of places: source, guard, marks.
fn inner(
    automaton: &Automaton,
    places: Places,
) -> impl Iterator<Item = (State, &stubborn_ltl::Guard, u64)> + '_ {
    let has = move |q: State| places >> q & 1 == 1;
    let edges = automaton
        .states()
        .filter(move |&q| has(q))
        .flat_map(|q| automaton.edges(q).iter().map(move |edge| (q, edge)));
    edges
        .filter(move |(_, edge)| has(edge.target))
        .map(|(q, edge)| (q, &edge.guard, automaton.marks(q, edge)))
}

/// What the automaton can do with each letter, found once.
struct Readings<'a> {
    automaton: &'a Automaton,
    /// By letter, then by place: where it can go.
    next: FxHashMap<Letter, Vec<Places>>,
}

impl Readings<'_> {
    fn next(&mut self, letter: Letter) -> &[Places] {
        let automaton = self.automaton;
        self.next.entry(letter).or_insert_with(|| {
            let go = |q: State| {
                let taken = automaton.edges(q).iter().filter(|edge| edge.guard.holds(letter));
                taken.fold(0, |all, edge| all | 1u64 << edge.target)
            };
            automaton.states().map(go).collect()
        })
    }

    /// The places from which reading the letter leads to one of `targets`.
    fn before(&mut self, letter: Letter, targets: Places) -> Places {
        if targets == 0 {
            return 0;
        }
        let next = self.next(letter).iter().enumerate();
        next.fold(0, |all, (q, &reached)| all | u64::from(reached & targets != 0) << q)
    }
}

impl Product<'_> {
    /// States that go round, or stay, with letters that a component of the automaton can read for ever; each with the places of the
    /// component that can read its letter.
    fn give_hope(&self, lasting: Lasting, hope: &mut [Places], goes_on: &mut GoesOn<'_>) -> bool {
        let mut known: FxHashMap<Letter, (Places, u64)> = FxHashMap::default();
        let mut reads = |letter: Letter| {
            *known.entry(letter).or_insert_with(|| {
                let taken = inner(self.automaton, lasting.places).filter(|(_, guard, _)| guard.holds(letter));
                taken.fold((0, 0), |(from, sum), (q, _, marks)| (from | 1u64 << q, sum | marks))
            })
        };
        let readings: Vec<(Places, u64)> = self.letters.iter().map(|&letter| reads(letter)).collect();
        let can_read = |state: u32| readings[state as usize].0 != 0;
        let all = self.automaton.all_sets();
        let mut is_given = false;
        let roots = (0..self.graph.n_states() as u32).filter(|&state| can_read(state));
        crate::components(
            &self.graph,
            roots,
            |_, _, to| can_read(to) && goes_on(),
            |component| {
                let first = component.states[0];
                let goes_round = component.states.len() > 1
                    || self.graph.edges(first).any(|(_, to)| to == first)
                    || self.stays(first);
                let marks = component.states.iter().fold(0, |sum, &state| sum | readings[state as usize].1);
                if goes_round && marks & all == all {
                    is_given = true;
                    component
                        .states
                        .iter()
                        .for_each(|&state| hope[state as usize] |= readings[state as usize].0);
                }
            },
        );
        is_given
    }

    /// Hands hope back over the edges of the system, to all who can get to it.
    fn hand_back(&self, hope: &mut [Places], goes_on: &mut GoesOn<'_>) {
        let mut readings = Readings { automaton: self.automaton, next: FxHashMap::default() };
        let roots = 0..self.graph.n_states() as u32;
        let everything =
            if self.automaton.n_states() < 64 { (1 << self.automaton.n_states()) - 1 } else { u64::MAX };
        crate::components(
            &self.graph,
            roots,
            |_, _, _| goes_on(),
            |component| {
                let is_loop = component.states.len() > 1 || self.stays(component.states[0]);
                for sweep in 0.. {
                    let mut has_changed = false;
                    for &state in component.states {
                        let after = self.graph.edges(state).fold(0, |all, (_, to)| all | hope[to as usize]);
                        let after = if self.stays(state) { after | hope[state as usize] } else { after };
                        let mine = &mut hope[state as usize];
                        let more = *mine | readings.before(self.letters[state as usize], after);
                        has_changed |= more != std::mem::replace(mine, more);
                    }
                    if !has_changed || !is_loop && sweep > 0 {
                        break;
                    }
                    if sweep == MAX_SWEEPS {
                        // Too much is never wrong.
                        component.states.iter().for_each(|&state| hope[state as usize] = everything);
                        break;
                    }
                }
            },
        );
    }

    /// By state: from which places the automaton may yet accept, as far as the explored part goes; `None` if from none. `decided` are
    /// those where it accepts whatever comes. `is_over`:
    /// nothing else will be explored by itself, so that what was not expanded counts as hope.
    fn hopes(
        &self,
        lasting: &[Lasting],
        decided: Places,
        expanded: &FixedBitSet,
        is_over: bool,
        goes_on: &mut GoesOn<'_>,
    ) -> Option<Vec<Places>> {
        let mut readings = Readings { automaton: self.automaton, next: FxHashMap::default() };
        // Whoever comes to where everything is accepted is accepted.
        let mut hope: Vec<Places> = vec![decided; self.graph.n_states()];
        let mut is_given =
            self.letters.iter().any(|&letter| readings.before(letter, decided) & !decided != 0);
        for &lasting in lasting {
            is_given |= self.give_hope(lasting, &mut hope, goes_on);
        }
        if is_over {
            for (state, hope) in hope.iter_mut().enumerate().filter(|(state, _)| !expanded.contains(*state)) {
                *hope |= readings.before(self.letters[state], u64::MAX);
                is_given |= *hope & !decided != 0;
            }
        }
        is_given.then(|| {
            self.hand_back(&mut hope, goes_on);
            hope
        })
    }
}

impl<Y: System + ?Sized> Search<'_, Y> {
    /// Makes the pairs that wait and have hope, and goes on from them as far as states are expanded. Whether any pair has hope.
    pub(super) fn go_on_with_hope(&mut self, is_over: bool) -> Result<bool, Halt> {
        self.tick()?;
        let Some(lasting) = self.lasting.as_ref().filter(|_| self.is_selective) else { return Ok(true) };
        let decided =
            self.accepts_all.iter().enumerate().fold(0, |all, (q, &is_so)| all | u64::from(is_so) << q);
        let (watch, stats) = (&mut *self.job.watch, &self.stats);
        let (mut n_edges, mut goes_on) = (0u64, true);
        let hope = self.product.hopes(lasting, decided, &self.expanded, is_over, &mut || {
            n_edges += 1;
            if n_edges % PAUSE == 0 {
                goes_on &= watch.tick(stats).is_none();
            }
            goes_on
        });
        if !goes_on {
            // Whoever said so says it again.
            self.tick()?;
            return Err(Halt::Stop(Stop::Interrupted));
        }
        let Some(hope) = hope else { return Ok(false) };
        self.hope = hope;
        let rest = std::mem::take(&mut self.agenda);
        let n_edges = self.stats.edges;
        for node in 0..self.product.nodes.len() as u32 {
            if node % 4096 == 0 {
                self.tick()?;
            }
            if self.is_expanded(node) {
                self.follow(node)?;
            }
        }
        // They are not new.
        self.stats.edges = n_edges;
        let mut waiting = VecDeque::new();
        while let Some(node) = self.agenda.pop_front() {
            if self.is_expanded(node) {
                self.follow(node)?;
            } else {
                waiting.push_back(node);
            }
        }
        self.agenda = rest;
        self.agenda.append(&mut waiting);
        Ok(true)
    }

    /// Whether a pair is to be made: the automaton can read the letter; and nobody has expanded the state, or there is hope.
    pub(super) fn is_wanted(&self, state: u32, at: State) -> bool {
        let product = &self.product;
        let is_read = |at: State| product.can_read(at, state);
        is_read(at)
            && (self.hope.get(state as usize).is_some_and(|&places| places >> at & 1 == 1)
                || !product.nodes_of(state).any(|node| is_read(product.nodes[node as usize].at)))
    }
}
