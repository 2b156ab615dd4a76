//! The algorithms that pick a set in a situation.
//!
//! **Implements**, over the same rules:
//! * `ample`: the steps of one process, if nothing that others may ever do is in their way and no others can
//!   enable more of them; else everything. What SPIN does, as a baseline.
//! * `persistent-1`, `-2`, `-3` (VS): closures of one enabled node. Of disabled nodes that come in the first
//!   makes everything, the second the steps that their process may take now, the third one necessary enabling
//!   set. The smallest of the closures is taken.
//! * `closure`: the third from the youngest process only.
//! * `scc`, `deletion`: the kernel's algorithms on the rule graph of the state. They hold the faster deletion of
//!   `scc+deletion` to account.
//! * `up-sets`: the closure of everything that may fail, and of an enabled node if none is in it. Whatever goes
//!   wrong in the end, something of the set must happen first, so no cycle condition is needed (the up-sets
//!   of TAPAAL and LoLA).
//!   The same sets, for the goals of a state of an automaton, are what
//!   [`NetworkReduction::towards`](super::NetworkReduction::towards) gives.
//! * `scc+deletion`: the smallest closure, and where that needs more than one process, deletion, if smaller.
//!
//! **Preserves** D0, D1, D2; for properties of runs also V (a rule of the situation) and I (an invisible node is
//! added where the set would have none).
//! **Checked by** the definition, per state and algorithm, and by the campaign.

use super::closures::{Closures, Disabled, ample, seeds};
use super::deletion::Deletion;
use super::graph::Graph;
use super::memo::Choice;
use super::situation::Situation;
use crate::{Reduction, ReductionKind, StrongComponents};
use fixedbitset::FixedBitSet;
use stubborn_system::{Fault, TransitionId};

/// What must not be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Failures and terminal states.
    States,
    /// What runs look like.
    Runs,
    /// Ways to states of some sort.
    Goals,
}

/// What is to be picked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) kind: ReductionKind,
    pub(super) purpose: Purpose,
}

/// The algorithms, with their room.
#[derive(Default)]
pub(super) struct Algorithms {
    closures: Closures,
    deletion: Deletion,
    /// Those of the kernel.
    components: StrongComponents,
    deletion_by_lists: crate::Deletion<[u8]>,
    set: Vec<TransitionId>,
}

impl Algorithms {
    /// Picks a set.
    pub(super) fn pick(&mut self, wish: Wish, situation: Situation<'_, '_>) -> Result<Choice, Fault> {
        if (wish.purpose, wish.kind) != (Purpose::States, ReductionKind::Smaller) {
            situation.ask_about_all();
        }
        let set = match (wish.purpose, wish.kind) {
            (Purpose::Runs, _) => self.closures.for_runs(&situation),
            (Purpose::Goals, _) => self.closures.towards(&situation),
            (_, ReductionKind::None) => None,
            (_, ReductionKind::UpSets) => Some(self.closures.up_set(&situation)),
            (_, ReductionKind::Ample) => ample(&situation),
            (_, ReductionKind::Closure) => {
                let seed = seeds(&situation).next();
                seed.map(|seed| self.closures.close(&situation, &[seed]))
            }
            (_, ReductionKind::Persistent1) => self.closures.smallest(&situation, Disabled::Everything),
            (_, ReductionKind::Persistent2) => self.closures.smallest(&situation, Disabled::Process),
            (_, ReductionKind::Persistent3) => self.closures.smallest(&situation, Disabled::Necessary),
            (_, ReductionKind::StrongComponents) => Some(self.component(situation)?),
            (_, ReductionKind::Deletion) => Some(self.delete(situation)?),
            (_, ReductionKind::Smaller) => return self.smaller(situation),
        };
        Ok(Choice::of(set))
    }

    /// The smallest closure, or what deletion leaves.
    fn smaller(&mut self, situation: Situation<'_, '_>) -> Result<Choice, Fault> {
        let closed = self.closures.smallest(&situation, Disabled::Necessary);
        let enabled = situation.enabled();
        let size = closed.as_ref().map_or(usize::MAX, |set| set.intersection_count(enabled));
        let is_one_process = closed.as_ref().is_some_and(|set| {
            let mut pids = set.intersection(enabled).map(|n| situation.pid(n));
            let first = pids.next();
            pids.all(|pid| Some(pid) == first)
        });
        let minds_deletion = !is_one_process;
        if is_one_process || !situation.may_delete() {
            return Ok(Choice { minds_deletion, ..Choice::of(closed) });
        }
        situation.ask_about_all();
        let Some(deleted) = self.deletion.stubborn_set(&situation, size) else {
            return Ok(Choice { minds_deletion, is_vain: true, ..Choice::of(closed) });
        };
        Ok(Choice { minds_deletion, closed, ..Choice::of(Some(deleted)) })
    }

    fn component(&mut self, situation: Situation<'_, '_>) -> Result<FixedBitSet, Fault> {
        let graph = Graph::new(situation);
        self.set.clear();
        self.components.stubborn_set(&graph, &[], &mut self.set)?;
        Ok(graph.nodes(&self.set))
    }

    fn delete(&mut self, situation: Situation<'_, '_>) -> Result<FixedBitSet, Fault> {
        let graph = Graph::new(situation);
        self.set.clear();
        self.deletion_by_lists.stubborn_set(&graph, &[], &mut self.set)?;
        Ok(graph.nodes(&self.set))
    }
}
