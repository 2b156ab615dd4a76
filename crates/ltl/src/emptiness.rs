//! Products of automata, and whether a word is accepted at all.
//!
//! **Implements** emptiness of generalised Büchi automata by strong components: the language is not empty if
//! and only if a component with all marks is reachable. The witness is a shortest way to such a component
//! and, within it, shortest ways from one missing mark to the next and back.
//!
//! **Checked by** `tests/all/words.rs`: every witness is given back to the automata it came from.

use crate::components::Components;
use crate::{Automaton, Edge, Guard, Lasso, Letter, Propositions, State};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use thiserror::Error;

/// Why two automata have no product here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProductError {
    /// Together they have too many propositions.
    #[error(transparent)]
    Propositions(#[from] crate::TooManyPropositions),
    /// Together they have too many acceptance sets.
    #[error("more than 64 acceptance sets together")]
    Sets,
}

/// An accepting run: the states that it passes and the letters that it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptingRun {
    /// The word.
    pub word: Lasso,
    /// The state before each letter of the word, stem and cycle.
    pub states: Vec<State>,
}

/// The automaton of the words that both accept. Propositions with equal texts are one.
pub fn product(a: &Automaton, b: &Automaton) -> Result<Automaton, ProductError> {
    let mut names: Propositions = a.propositions().clone();
    let mut number = Vec::new();
    for proposition in b.propositions().iter() {
        number.push(names.number(&proposition.text, proposition.span.clone())?);
    }
    let b = b.renamed(names.clone(), &number);
    let n_sets = a.n_sets() + b.n_sets();
    if n_sets > crate::MAX_SETS {
        return Err(ProductError::Sets);
    }
    let mut out = Automaton::new(names, n_sets);
    let shift = |marks: u64| if a.n_sets() == 64 { 0 } else { marks << a.n_sets() };
    let mut numbers: FxHashMap<(State, State), State> = FxHashMap::default();
    let mut work = Vec::new();
    let mut add = |out: &mut Automaton, work: &mut Vec<_>, pair: (State, State)| {
        *numbers.entry(pair).or_insert_with(|| {
            work.push(pair);
            out.add_state(a.state_marks(pair.0) | shift(b.state_marks(pair.1)))
        })
    };
    for &x in a.initial() {
        for &y in b.initial() {
            let state = add(&mut out, &mut work, (x, y));
            out.add_initial(state);
        }
    }
    while let Some((x, y)) = work.pop() {
        let source = add(&mut out, &mut work, (x, y));
        for e in a.edges(x) {
            for f in b.edges(y) {
                let guard = e.guard.and(&f.guard);
                if !guard.is_never() {
                    let target = add(&mut out, &mut work, (e.target, f.target));
                    out.add_edge(source, guard, target, e.marks | shift(f.marks));
                }
            }
        }
    }
    Ok(out)
}

/// The automaton that accepts one word. Letters count as far as `propositions` go.
pub fn word_automaton(word: &Lasso, propositions: &Propositions) -> Automaton {
    let support = crate::automaton::sets(propositions.len() as u32);
    let mut out = Automaton::new(propositions.clone(), 0);
    (0..word.len()).for_each(|_| {
        out.add_state(0);
    });
    for position in 0..word.len() {
        let guard = Guard::from(crate::Cube::minterm(word.letter(position), support));
        out.add_edge(position as State, guard, word.next(position) as State, 0);
    }
    if !word.cycle.is_empty() {
        out.add_initial(0);
    }
    out
}

impl Automaton {
    /// Whether it accepts no word.
    pub fn is_empty(&self) -> bool {
        let components = Components::new(self);
        let reached = self.reached();
        !self.states().any(|s| reached[s as usize].is_some() && components.accepts[components.of[s as usize]])
    }

    /// Whether it accepts this word.
    pub fn accepts(&self, word: &Lasso) -> bool {
        if word.cycle.is_empty() {
            return false;
        }
        let number = |state: State, position: usize| state as usize * word.len() + position;
        let mut graph = Automaton::new(Propositions::new(), self.n_sets());
        for state in self.states() {
            for position in 0..word.len() {
                debug_assert_eq!(number(state, position), graph.n_states());
                graph.add_state(self.state_marks(state));
            }
        }
        for state in self.states() {
            for edge in self.edges(state) {
                for position in (0..word.len()).filter(|&p| edge.guard.holds(word.letter(p))) {
                    let source = number(state, position) as State;
                    let target = number(edge.target, word.next(position)) as State;
                    graph.add_edge(source, Guard::always(), target, edge.marks);
                }
            }
        }
        self.initial().iter().for_each(|&s| graph.add_initial(number(s, 0) as State));
        !graph.is_empty()
    }

    /// A word that it accepts with a run on it, or `None` if there is none.
    pub fn accepting_run(&self) -> Option<AcceptingRun> {
        let components = Components::new(self);
        let way_to = self.reached();
        // The first accepting state that a breadth-first search meets.
        let is_good =
            |s: &State| way_to[*s as usize].is_some() && components.accepts[components.of[*s as usize]];
        let start = self.states().filter(is_good).min_by_key(|&s| depth(&way_to, s))?;
        let mut stem = Vec::new();
        let mut at = start;
        while let Some(Some((source, edge))) = way_to[at as usize] {
            stem.push((source, edge));
            at = source;
        }
        stem.reverse();
        let cycle = self.cycle(start, &components)?;
        let letter = |&(s, e): &(State, usize)| -> Letter { self.edges(s)[e].guard.letter().unwrap_or(0) };
        let states = stem.iter().chain(&cycle).map(|(s, _)| *s).collect();
        let word =
            Lasso { stem: stem.iter().map(letter).collect(), cycle: cycle.iter().map(letter).collect() };
        Some(AcceptingRun { word, states })
    }

    /// For each state: not reached, initial, or the edge by which it was reached first.
    fn reached(&self) -> Vec<Option<Option<(State, usize)>>> {
        let mut way_to = vec![None; self.n_states()];
        let mut queue: VecDeque<State> = VecDeque::new();
        for &state in self.initial() {
            way_to[state as usize] = Some(None);
            queue.push_back(state);
        }
        while let Some(state) = queue.pop_front() {
            for (i, edge) in self.edges(state).iter().enumerate() {
                if way_to[edge.target as usize].is_none() {
                    way_to[edge.target as usize] = Some(Some((state, i)));
                    queue.push_back(edge.target);
                }
            }
        }
        way_to
    }

    /// A cycle from `start` with all marks, within its component.
    fn cycle(&self, start: State, components: &Components) -> Option<Vec<(State, usize)>> {
        let mut missing = self.all_sets();
        let mut cycle: Vec<(State, usize)> = Vec::new();
        let mut at = start;
        while missing != 0 {
            let way = self.way(at, components, |s, e| self.marks(s, e) & missing != 0)?;
            for &(s, e) in &way {
                missing &= !self.marks(s, &self.edges(s)[e]);
                at = self.edges(s)[e].target;
            }
            cycle.extend(way);
        }
        if at != start || cycle.is_empty() {
            cycle.extend(self.way(at, components, |_, e| e.target == start)?);
        }
        Some(cycle)
    }

    /// A shortest way within the component of `from` whose last edge is wanted.
    fn way(
        &self,
        from: State,
        components: &Components,
        wanted: impl Fn(State, &Edge) -> bool,
    ) -> Option<Vec<(State, usize)>> {
        let mut way_to: FxHashMap<State, Option<(State, usize)>> = FxHashMap::from_iter([(from, None)]);
        let mut queue = VecDeque::from([from]);
        while let Some(state) = queue.pop_front() {
            for (i, edge) in self.edges(state).iter().enumerate() {
                if !components.stays(state, edge.target) {
                    continue;
                }
                if wanted(state, edge) {
                    let mut way = vec![(state, i)];
                    let mut at = state;
                    while let Some(Some(step)) = way_to.get(&at) {
                        way.push(*step);
                        at = step.0;
                    }
                    way.reverse();
                    return Some(way);
                }
                way_to.entry(edge.target).or_insert_with(|| {
                    queue.push_back(edge.target);
                    Some((state, i))
                });
            }
        }
        None
    }
}

fn depth(way_to: &[Option<Option<(State, usize)>>], mut state: State) -> usize {
    let mut depth = 0;
    while let Some(Some((source, _))) = way_to[state as usize] {
        state = source;
        depth += 1;
    }
    depth
}
