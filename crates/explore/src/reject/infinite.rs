//! Infinite traces: cycles in which the guard of a condition moves from a state where the condition holds.
//!
//! **Implements** the nested depth-first search of Courcoubetis, Vardi, Wolper and Yannakakis, in the form of V93 section
//! 3: each move of the guard from such a state is taken for an imaginary accepting state in its middle. When the first
//! search leaves it, a second one looks for a way from behind the move to its beginning.
//! **Preserves** everything if the store is exact and everything is fired; with sets of V93 Theorem 4.1 see `reduce`.
//! Both searches fire the same in the same state.
//! **Differs from the text** nowhere.
//! **Checked by** brute force on random networks (`oracle`).

use super::walk::Walk;
use super::{Cycle, CycleJob, CycleOutcome, Halt, Search};
use crate::Found;
use stubborn_system::{Batch, System, TransitionId};

const FIRST: u8 = 0;
const SECOND: u8 = 1;

/// Searches for an infinite trace through the condition.
pub fn infinite_trace<Y: System + ?Sized>(job: CycleJob<'_, Y>) -> CycleOutcome {
    let mut search = Search::new(job);
    let (mut first, mut second) = (Walk::new(), Walk::new());
    let result = run(&mut search, &mut first, &mut second);
    let path = if first.len() > 0 { first.steps_behind(0).collect() } else { Vec::new() };
    search.finish(result, path)
}

fn run<Y: System + ?Sized>(
    search: &mut Search<'_, Y>,
    first: &mut Walk<Y::State>,
    second: &mut Walk<Y::State>,
) -> Result<(), Halt> {
    let mut new = Batch::new();
    search.job.system.initial(&mut new)?;
    search.mark(new.state(0), FIRST, 0)?;
    enter(search, first, &new)?;
    while first.len() > 0 {
        if let Some(place) = first.next() {
            search.stats.edges += 1;
            let (t, target) = first.successor(place);
            new.clear();
            new.push(t, target);
            if search.mark(target, FIRST, first.bytes())? {
                enter(search, first, &new)?;
            } else {
                // Nothing to do between going in and coming out.
                look_back(search, first, &new, second)?;
            }
            continue;
        }
        new.clear();
        new.push(first.via(first.len() - 1), first.top());
        first.leave();
        if first.len() > 0 {
            look_back(search, first, &new, second)?;
        }
    }
    Ok(())
}

fn enter<Y: System + ?Sized>(
    search: &mut Search<'_, Y>,
    first: &mut Walk<Y::State>,
    new: &Batch<Y::State>,
) -> Result<(), Halt> {
    search.count()?;
    let state = new.state(0);
    let n = first.enter(search.job.system, search.job.reduction, state, new.via(0))?;
    search.stats.depth = search.stats.depth.max(first.len() as u64);
    let mut seen = search.job.visitor.arrive(state)?;
    if n == 0 {
        search.stats.terminal_states += 1;
        if seen.is_none() {
            seen = search.job.visitor.terminal(state)?;
        }
    }
    seen.map_or(Ok(()), |sighting| {
        Err(Halt::Found(Found { sighting, path: first.steps_behind(0).collect() }))
    })
}

/// The move from the last state of `first` to `target` is done with: if it is one that is looked for, and a way leads
/// back, that is a cycle.
fn look_back<Y: System + ?Sized>(
    search: &mut Search<'_, Y>,
    first: &Walk<Y::State>,
    target: &Batch<Y::State>,
    second: &mut Walk<Y::State>,
) -> Result<(), Halt> {
    let t = target.via(0);
    if !(search.job.takes_part)(t) || !(search.job.condition)(first.top()) {
        return Ok(());
    }
    let cycle = |back: &mut dyn Iterator<Item = TransitionId>| {
        let mut steps: Vec<TransitionId> = first.steps_behind(0).collect();
        let start = steps.len();
        steps.push(t);
        steps.extend(back);
        Err(Halt::Cycle(Cycle { steps, start }))
    };
    if target.state(0) == first.top() {
        return cycle(&mut std::iter::empty());
    }
    if !search.mark(target.state(0), SECOND, first.bytes())? {
        return Ok(());
    }
    second.clear();
    second.enter(search.job.system, search.job.reduction, target.state(0), t)?;
    while second.len() > 0 {
        let Some(place) = second.next() else {
            second.leave();
            continue;
        };
        search.stats.edges += 1;
        let (u, state) = second.successor(place);
        if state == first.top() {
            return cycle(&mut second.steps_behind(0).chain([u]));
        }
        if search.mark(state, SECOND, first.bytes() + second.bytes())? {
            let mut new = Batch::new();
            new.push(u, state);
            second.enter(search.job.system, search.job.reduction, new.state(0), u)?;
        }
    }
    Ok(())
}
