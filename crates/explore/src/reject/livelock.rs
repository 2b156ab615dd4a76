//! Livelocks: cycles in which the guard of a condition takes no part, where the condition holds.
//!
//! **Implements** V93 Algorithm 3.4: depth-first searches over the moves without the guard from monitor states;
//! where all other moves lead is put aside and looked at when the search in hand has ended. A move to a state on the
//! stack is a livelock. States are shown to a visitor as they are entered, so C1 and C2 are found on the way.
//! **Preserves** everything if the store is exact and everything is fired; with sets of V93 Theorem 4.1 see `reduce`.
//! **Differs from the text** in that what was put aside comes first in, first out, so that stems are short, and
//! that states are looked at when they are entered, not when they are generated.
//! **Checked by** brute force on random networks (`oracle`) and by the faults of token rings.

use super::walk::Walk;
use super::{Cycle, CycleJob, CycleOutcome, Halt, Search};
use crate::{Found, Sighting};
use rustc_hash::FxHashMap;
use stubborn_system::{Batch, System, TransitionId, Vector};

const FOUND: u8 = 0;
const PUT_ASIDE: u8 = 1;

/// No state led to this one.
const NONE: u32 = u32::MAX;

/// Searches for a livelock.
pub fn livelock<Y: System + ?Sized>(job: CycleJob<'_, Y>) -> CycleOutcome {
    let mut search = Search::new(job);
    let mut state = State::new();
    let result = run(&mut search, &mut state);
    let path = state.path();
    search.finish(result, path)
}

struct State<S: Vector + ?Sized> {
    walk: Walk<S>,
    /// Of each state on the stack, its number among those that were found.
    numbers: Vec<u32>,
    /// Monitor states on the stack: where.
    places: FxHashMap<Vec<u8>, usize>,
    /// For each state that was found: which state led to it, and how.
    parents: Vec<(u32, TransitionId)>,
    /// States that were put aside, and which states led to them: those in hand from `next` on, and those to come.
    aside: Batch<S>,
    sources: Vec<u32>,
    next: usize,
    coming: Batch<S>,
    coming_sources: Vec<u32>,
}

impl<S: Vector + ?Sized> State<S> {
    fn new() -> Self {
        Self {
            walk: Walk::new(),
            numbers: Vec::new(),
            places: FxHashMap::default(),
            parents: Vec::new(),
            aside: Batch::new(),
            sources: Vec::new(),
            next: 0,
            coming: Batch::new(),
            coming_sources: Vec::new(),
        }
    }

    /// The transitions that lead to the state with this number.
    fn path_to(&self, mut number: u32) -> Vec<TransitionId> {
        let mut path = Vec::new();
        while number != NONE {
            let (parent, via) = self.parents[number as usize];
            if parent != NONE {
                path.push(via);
            }
            number = parent;
        }
        path.reverse();
        path
    }

    /// The transitions that lead to the state in hand.
    fn path(&self) -> Vec<TransitionId> {
        self.numbers.last().map_or_else(Vec::new, |&number| self.path_to(number))
    }

    fn bytes(&self) -> usize {
        let aside =
            self.aside.bytes() + self.coming.bytes() + 4 * (self.sources.len() + self.coming_sources.len());
        self.walk.bytes() + aside + 8 * self.parents.len() + 64 * self.places.len()
    }
}

fn run<Y: System + ?Sized>(search: &mut Search<'_, Y>, state: &mut State<Y::State>) -> Result<(), Halt> {
    search.job.system.initial(&mut state.coming)?;
    state.coming_sources.push(NONE);
    loop {
        if state.next == state.aside.len() {
            std::mem::swap(&mut state.aside, &mut state.coming);
            std::mem::swap(&mut state.sources, &mut state.coming_sources);
            state.coming.clear();
            state.coming_sources.clear();
            state.next = 0;
            if state.aside.is_empty() {
                return Ok(());
            }
        }
        let i = state.next;
        state.next += 1;
        if search.mark(state.aside.state(i), FOUND, state.bytes())? {
            let mut first = Batch::new();
            first.push(state.aside.via(i), state.aside.state(i));
            enter(search, state, &first, state.sources[i])?;
            depth_first(search, state)?;
        }
    }
}

/// Looks at everything that can be reached without the guard; the rest is put aside.
fn depth_first<Y: System + ?Sized>(
    search: &mut Search<'_, Y>,
    state: &mut State<Y::State>,
) -> Result<(), Halt> {
    let mut successor = Batch::new();
    while state.walk.len() > 0 {
        let Some(place) = state.walk.next() else {
            if !state.places.is_empty() {
                state.places.remove(state.walk.top().as_bytes());
            }
            state.walk.leave();
            state.numbers.pop();
            continue;
        };
        search.stats.edges += 1;
        let (t, target) = state.walk.successor(place);
        let number = *state.numbers.last().expect("there is a state on the stack");
        // The stack has a second state only above a monitor, and all of its states are monitors then.
        let is_monitor = !state.places.is_empty();
        if !is_monitor || (search.job.takes_part)(t) {
            if search.mark(target, PUT_ASIDE, state.bytes())? {
                state.coming.push(t, target);
                state.coming_sources.push(number);
            }
        } else if search.mark(target, FOUND, state.bytes())? {
            successor.clear();
            successor.push(t, target);
            enter(search, state, &successor, number)?;
        } else if let Some(&start) = state.places.get(target.as_bytes()) {
            let mut steps = state.path_to(state.numbers[start]);
            let start_of_cycle = steps.len();
            steps.extend(state.walk.steps_behind(start));
            steps.push(t);
            return Err(Halt::Cycle(Cycle { steps, start: start_of_cycle }));
        }
    }
    Ok(())
}

/// Puts a new state on the stack and shows it to the visitor.
fn enter<Y: System + ?Sized>(
    search: &mut Search<'_, Y>,
    state: &mut State<Y::State>,
    new: &Batch<Y::State>,
    parent: u32,
) -> Result<(), Halt> {
    search.count()?;
    let vector = new.state(0);
    state.numbers.push(state.parents.len() as u32);
    state.parents.push((parent, new.via(0)));
    let seen = search.job.visitor.arrive(vector)?;
    report(seen, state)?;
    if (search.job.condition)(vector) {
        state.places.insert(vector.as_bytes().to_vec(), state.walk.len());
    }
    let n = state.walk.enter(search.job.system, search.job.reduction, vector, new.via(0))?;
    search.stats.depth = search.stats.depth.max(state.walk.len() as u64);
    if n == 0 {
        search.stats.terminal_states += 1;
        let seen = search.job.visitor.terminal(vector)?;
        report(seen, state)?;
    }
    Ok(())
}

fn report<S: Vector + ?Sized>(seen: Option<Sighting>, state: &State<S>) -> Result<(), Halt> {
    seen.map_or(Ok(()), |sighting| Err(Halt::Found(Found { sighting, path: state.path() })))
}
