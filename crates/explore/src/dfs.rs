//! Depth-first search: little memory besides the store, long counterexamples.
//!
//! **Implements** depth-first search that marks states when they are generated, so that the successors of a
//! state go to the store as one batch. The sibling fired last is explored first.
//! **Preserves** everything that store and reduction preserve. It is not the strict depth-first order that
//! cycle detection on the stack needs (a state may be marked before the path to it is on the stack).
//! **Checked by** the campaign.

use crate::kinds::{AnySystem, search_any};
use crate::run::{Halt, Run};
use crate::{Job, Outcome};
use stubborn_system::{Batch, System, TransitionId, Vector};

/// Searches depth-first.
pub fn depth_first<Y: System + ?Sized>(job: Job<'_, Y>) -> Outcome {
    search_any(job, search_all)
}

fn search_all<'j, S: Vector + ?Sized>(job: Job<'j, AnySystem<'j, S>>) -> Outcome {
    let mut run = Run::new(job);
    let mut stack = Stack { pending: Batch::new(), ids: Vec::new(), open: Vec::new(), via: None };
    let result = search(&mut run, &mut stack);
    run.finish(result, |run| (run, stack.path().into_iter().chain(stack.via).collect()))
}

/// States waiting to be expanded, and between them the path to the state in hand.
struct Stack<S: Vector + ?Sized> {
    pending: Batch<S>,
    /// The number of each pending state.
    ids: Vec<u32>,
    /// Places in `pending` of the states on the path, from the initial state on.
    open: Vec<usize>,
    /// The transition whose successor is being looked at.
    via: Option<TransitionId>,
}

impl<S: Vector + ?Sized> Stack<S> {
    fn path(&self) -> Vec<TransitionId> {
        self.open.iter().skip(1).map(|&place| self.pending.via(place)).collect()
    }

    fn push(&mut self, batch: &Batch<S>, i: usize, id: u32) {
        self.pending.push(batch.via(i), batch.state(i));
        self.ids.push(id);
    }

    fn bytes(&self) -> usize {
        self.pending.bytes() + self.ids.len() * 4 + self.open.len() * size_of::<usize>()
    }
}

fn search<Y: System + ?Sized>(run: &mut Run<'_, Y>, stack: &mut Stack<Y::State>) -> Result<(), Halt> {
    run.seed()?;
    stack.push(&run.batch, 0, run.entries[0].id());
    if let Some(sighting) = run.arrive(0)? {
        run.sighted(sighting, |_| Ok(Vec::new()))?;
    }
    while let Some(top) = stack.pending.len().checked_sub(1) {
        if stack.open.last() == Some(&top) {
            stack.open.pop();
            stack.pending.pop();
            stack.ids.pop();
            continue;
        }
        stack.open.push(top);
        run.stats.depth = run.stats.depth.max(stack.open.len() as u64 - 1);
        run.stats.queue = (stack.pending.len() - stack.open.len()) as u64;
        run.tick()?;
        expand(run, stack, top)?;
    }
    run.stats.queue = 0;
    Ok(())
}

fn expand<Y: System + ?Sized>(
    run: &mut Run<'_, Y>,
    stack: &mut Stack<Y::State>,
    top: usize,
) -> Result<(), Halt> {
    run.batch.clear();
    run.job.reduction.expand(run.job.system, stack.pending.state(top), &mut run.batch)?;
    if run.batch.take_flag()
        && let Some(sighting) = run.job.visitor.flagged(stack.pending.state(top))?
    {
        run.sighted(sighting, |_| Ok(stack.path()))?;
    }
    let too_much = run.batch.take_cut();
    run.too_much = run.too_much.or(too_much);
    if run.batch.is_empty() && too_much.is_none() {
        run.stats.terminal_states += 1;
        if let Some(sighting) = run.job.visitor.terminal(stack.pending.state(top))? {
            run.sighted(sighting, |_| Ok(stack.path()))?;
        }
    }
    run.insert(stack.bytes())?;
    if let Some(graph) = &mut run.graph {
        let edges = (0..run.batch.len()).map(|i| (run.entries[i].id(), run.batch.via(i)));
        graph.add(stack.ids[top], edges).map_err(Halt::Stop)?;
    }
    for i in 0..run.batch.len() {
        run.stats.edges += 1;
        if !run.entries[i].is_new() {
            continue;
        }
        let via = run.batch.via(i);
        stack.via = Some(via);
        let sighting = run.arrive(i)?;
        stack.via = None;
        if let Some(sighting) = sighting {
            run.sighted(sighting, |_| {
                let mut path = stack.path();
                path.push(via);
                Ok(path)
            })?;
        }
        stack.push(&run.batch, i, run.entries[i].id());
    }
    Ok(())
}
