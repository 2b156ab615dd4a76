//! From a path of representatives to a real run.
//!
//! A step between representatives stands for some step of the real system that leads to a state with the
//! right representative. If the symmetry is one, such a step always exists; if none does, the symmetry is
//! wrong and we say so. Of several the transition that was found is taken, if it is one of them: whether a run is
//! fair depends on who moves, and not only on where it leads. A cycle of representatives need not be a cycle of
//! states: it is run through again until a state repeats.

use crate::Witness;
use std::collections::HashMap;
use stubborn_system::{Batch, Fault, Symmetric, TransitionId, Vector};

/// Laps around a cycle of representatives before we give up.
const MAX_LAPS: usize = 10_000;

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
    for i in 1..=stem_end {
        real.step_to(representatives.state(i), witness.steps[i - 1])?;
    }
    let mut lifted = Witness { no_return: witness.no_return, ..Witness::default() };
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
        let Some(i) = chosen else {
            return Err(Fault::Broken(format!(
                "{} and its representative do not have the same successors: the symmetry, or what was left out, is wrong",
                self.system.show(self.at.state(0))
            )));
        };
        self.at.clear();
        self.at.push(successors.via(i), successors.state(i));
        self.steps.push(successors.via(i));
        Ok(())
    }
}
