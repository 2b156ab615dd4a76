//! Sleep sets of one step by their definition: a search level by level on whole states, with sets of parts.
//!
//! `packed` has the same on keys, with masks (`keys_only.rs`), where there is no room for a planted fault. Here the condition under which an
//! agent is asleep can be asked for by half, to see whether random models notice the half that is missing.

use std::collections::{BTreeSet, HashSet};
use stubborn_system::{Batch, Composed, Fault, Parts, Tracer};

/// When an earlier agent is asleep where a later one leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asleep {
    /// Never: a search without sleep sets.
    Never,
    /// If neither looks at what the other changes.
    IfIndependent,
    /// A fault: if the later one changes nothing that the earlier one looks at.
    IfUndisturbed,
    /// A fault: if the earlier one changes nothing that the later one looks at.
    IfHarmless,
}

/// What a search has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// States, by level.
    pub levels: Vec<usize>,
    /// Transitions, those of agents that are asleep included.
    pub edges: usize,
    /// States without successors.
    pub terminal: usize,
    /// How often an agent that can move was asleep.
    pub slept: usize,
}

/// Stands for the shape, at which everybody looks.
const SHAPE: u16 = u16::MAX;

/// What an agent does in a state.
#[derive(Default)]
struct Moves {
    looks: BTreeSet<u16>,
    changes: BTreeSet<u16>,
    to: Vec<Vec<u8>>,
}

/// Counts the states of a system; `None` if there are more than `most`, or something is wrong with it.
pub fn census<Y: Composed<State = [u8]>>(system: &Y, asleep: Asleep, most: usize) -> Option<Census> {
    let mut tracer = system.tracer()?;
    let mut batch = Batch::new();
    system.initial(&mut batch).ok()?;
    let mut level = vec![(batch.state(0).to_vec(), BTreeSet::new())];
    let mut seen: HashSet<Vec<u8>> = level.iter().map(|(state, _)| state.clone()).collect();
    let mut census = Census::default();
    while !level.is_empty() {
        census.levels.push(level.len());
        let mut next = Vec::new();
        for (state, sleepers) in std::mem::take(&mut level) {
            let (agents, sleepers) = match moves(&mut *tracer, &state) {
                Ok(Some(agents)) => (agents, sleepers),
                // Only the system can say; then nobody sleeps here or afterwards.
                Ok(None) | Err(_) => (vec![all_moves(system, &state)?], BTreeSet::new()),
            };
            let n_moves: usize = agents.iter().map(|agent| agent.to.len()).sum();
            census.edges += n_moves;
            census.terminal += usize::from(n_moves == 0);
            for (b, later) in agents.iter().enumerate() {
                if sleepers.contains(&b) {
                    census.slept += usize::from(!later.to.is_empty());
                    continue;
                }
                let is_asleep = |&a: &usize| !agents[a].to.is_empty() && asleep.says(&agents[a], later);
                let sleepers: BTreeSet<usize> = (0..b).filter(is_asleep).collect();
                for to in &later.to {
                    if seen.insert(to.clone()) {
                        next.push((to.clone(), sleepers.clone()));
                    }
                }
            }
        }
        if seen.len() > most {
            return None;
        }
        level = next;
    }
    Some(census)
}

impl Asleep {
    fn says(self, earlier: &Moves, later: &Moves) -> bool {
        let is_undisturbed = later.changes.is_disjoint(&earlier.looks);
        let is_harmless = earlier.changes.is_disjoint(&later.looks);
        match self {
            Self::Never => false,
            Self::IfIndependent => is_undisturbed && is_harmless,
            Self::IfUndisturbed => is_undisturbed,
            Self::IfHarmless => is_harmless,
        }
    }
}

/// What each agent does in a state, in their order; `None` if only the system can say.
fn moves(tracer: &mut dyn Tracer<[u8]>, state: &[u8]) -> Result<Option<Vec<Moves>>, Fault> {
    let (mut parts, mut roots) = (Parts::default(), Vec::new());
    tracer.take_apart(state, &mut parts);
    tracer.agents(&mut roots);
    let mut agents = Vec::new();
    for (agent, root) in roots.into_iter().enumerate() {
        let mut moves = Moves { looks: BTreeSet::from([root, SHAPE]), ..Moves::default() };
        let mut units = Vec::new();
        tracer.units(state, agent, &mut units);
        let mut n_of_step = 0;
        for unit in units {
            let (mut touched, mut made) = (Vec::new(), Batch::new());
            if tracer.expand(state, agent, unit, &mut touched, &mut made)?.is_none() {
                return Ok(None);
            }
            n_of_step = if unit.goes_on { n_of_step + made.len() } else { made.len() };
            if unit.goes_on && n_of_step > tracer.n_outcomes() as usize {
                return Ok(None);
            }
            moves.looks.extend(touched);
            for i in 0..made.len() {
                let mut after = Parts::default();
                tracer.take_apart(made.state(i), &mut after);
                moves.changes.extend(differing(&parts, &after));
                moves.to.push(made.state(i).to_vec());
            }
        }
        // Who changes something looks at it: what it was is part of the difference that is made.
        moves.looks.extend(moves.changes.iter().copied());
        agents.push(moves);
    }
    let is_known = tracer.is_complete() || agents.iter().any(|agent| !agent.to.is_empty());
    Ok(is_known.then_some(agents))
}

/// The parts in which states differ.
fn differing(before: &Parts, after: &Parts) -> Vec<u16> {
    if before.shape != after.shape {
        return vec![SHAPE];
    }
    let values: Vec<(u16, &[u8])> = after.iter().collect();
    before.iter().filter(|value| !values.contains(value)).map(|(part, _)| part).collect()
}

/// All successors as moves of one agent; `None` if something is wrong.
fn all_moves<Y: Composed<State = [u8]>>(system: &Y, state: &[u8]) -> Option<Moves> {
    let mut made = Batch::new();
    system.successors(state, &mut made).ok()?;
    let to = (0..made.len()).map(|i| made.state(i).to_vec()).collect();
    Some(Moves { to, ..Moves::default() })
}
