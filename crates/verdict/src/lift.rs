//! From a path of representatives to a real run.
//!
//! A step between representatives stands for some step of the real system that leads to a state with the
//! right representative. If the symmetry is one, such a step always exists; if none does, the symmetry is
//! wrong and we say so. Of several the transition that was found is taken, if it is one of them: whether a run is
//! fair depends on who moves, and not only on where it leads. A cycle of representatives need not be a cycle of
//! states: it is run through again until a state repeats. What stands in for a system may do several of its steps in one
//! go ([`Symmetric::done_at_once`]); the run of the system has all of them.

use crate::Witness;
use std::collections::HashMap;
use stubborn_system::{Batch, Fault, Symmetric, System, TransitionId, Vector};

/// Laps around a cycle of representatives before we give up.
const MAX_LAPS: usize = 10_000;

/// Steps that are done in one go, and states looked at for them, before we give up.
const MAX_AT_ONCE: usize = 10_000;

/// Turns a run through `representatives` into a run of `system`.
pub(crate) fn lift<Y: Symmetric + ?Sized>(
    system: &Y,
    representatives: &Batch<Y::State>,
    witness: &Witness,
) -> Result<Witness, Fault> {
    let mut real = Run { system, at: Batch::new(), steps: Vec::new() };
    system.initial(&mut real.at)?;
    let last = representatives.len() - 1;
    let stem_end = witness.cycle_start.unwrap_or(last);
    let mut lifted = Witness { no_return: witness.no_return.filter(|&i| i == 0), ..Witness::default() };
    for i in 1..=stem_end {
        real.step_to(representatives.state(i), witness.steps[i - 1])?;
        if witness.no_return == Some(i) {
            lifted.no_return = Some(real.steps.len());
        }
    }
    if witness.cycle_start.is_some() {
        let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
        while seen.insert(real.at.state(0).as_bytes().to_vec(), real.steps.len()).is_none() {
            if seen.len() > MAX_LAPS {
                return Err(Fault::Broken("a cycle of representatives does not close".into()));
            }
            for i in stem_end + 1..=last {
                real.step_to(representatives.state(i), witness.steps[i - 1])?;
            }
            lifted.cycle_start = seen.get(real.at.state(0).as_bytes()).copied();
        }
    }
    lifted.steps = real.steps;
    Ok(lifted)
}

/// A real run so far.
struct Run<'y, Y: Symmetric + ?Sized> {
    system: &'y Y,
    at: Batch<Y::State>,
    steps: Vec<TransitionId>,
}

impl<Y: Symmetric + ?Sized> Run<'_, Y> {
    /// Takes a step to a state whose representative is `wanted`: by transition `found`, if that leads there.
    fn step_to(&mut self, wanted: &Y::State, found: TransitionId) -> Result<(), Fault> {
        let mut successors = Batch::new();
        self.system.successors(self.at.state(0), &mut successors)?;
        let mut represented = successors.clone();
        let mut chosen = None;
        for i in 0..successors.len() {
            self.system.represent(represented.state_mut(i))?;
            let is_found = successors.via(i) == found;
            if represented.state(i) == wanted && (chosen.is_none() || is_found) {
                chosen = Some(i);
            }
        }
        let (steps, end) = match chosen {
            Some(i) => (vec![successors.via(i)], Some((successors, i))),
            None => self.steps_at_once(&successors, wanted, found)?,
        };
        let Some((states, i)) = end else {
            return Err(Fault::Broken(format!(
                "{} and its representative do not have the same successors: the symmetry, or what was left out, is wrong",
                self.system.show(self.at.state(0))
            )));
        };
        self.at.clear();
        self.at.push(states.via(i), states.state(i));
        self.steps.extend(steps);
        Ok(())
    }

    /// Transition `found` and then what is done with it in one go, up to a state whose representative is `wanted`; the
    /// steps, and where that state is.
    fn steps_at_once(
        &self,
        successors: &Batch<Y::State>,
        wanted: &Y::State,
        found: TransitionId,
    ) -> AtOnce<Y> {
        // The states come with the transitions that led to them; for each, from where.
        let (mut states, mut parents) = (Batch::new(), Vec::new());
        for i in (0..successors.len()).filter(|&i| successors.via(i) == found) {
            states.push(found, successors.state(i));
            parents.push(None);
        }
        let mut at = 0;
        while at < states.len() && at < MAX_AT_ONCE {
            let mut next = Batch::new();
            let possible = self.system.done_at_once(states.state(at));
            for t in possible {
                self.system.fire(states.state(at), t, &mut next)?;
            }
            for i in 0..next.len() {
                states.push(next.via(i), next.state(i));
                parents.push(Some(at));
                self.system.represent(next.state_mut(i))?;
                if next.state(i) == wanted {
                    let mut steps = vec![next.via(i)];
                    let mut from = Some(at);
                    while let Some(state) = from {
                        steps.push(states.via(state));
                        from = parents[state];
                    }
                    steps.reverse();
                    let last = states.len() - 1;
                    return Ok((steps, Some((states, last))));
                }
            }
            at += 1;
        }
        Ok((Vec::new(), None))
    }
}

/// Steps, and the state where they end among others.
type AtOnce<Y> = Result<(Vec<TransitionId>, Option<(Batch<<Y as System>::State>, usize)>), Fault>;
