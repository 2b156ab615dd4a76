//! Weak fairness of cycles.
//!
//! **Implements** one more acceptance set for each process: "it takes part in this edge, or it cannot in this state". Who can take part is
//! asked of the system as a whole, not of the part that was explored, so a cycle that is fair here is fair.
//! **Differs from the text** (copies of the state space, one for each process) in that nothing is kept for it: states of a component are asked one after the other until nobody
//! can complain any more, and again for those that a way is looked for through.
//! **Checked by** brute force (`oracle`), and by the judge of runs that are shown, who counts for himself.

use super::cycles::Left;
use super::product::Product;
use super::{Participants, Processes};
use crate::run::Halt;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use stubborn_store::Store;
use stubborn_system::{Fault, TransitionId, Vector};

/// Nodes between two looks at the watch.
const PAUSE: usize = 1 << 12;

/// Who can take part in something in a state, and who does in each transition.
#[derive(Clone, Default)]
struct Involved {
    all: Processes,
    movers: Vec<(TransitionId, Processes)>,
}

impl Involved {
    fn in_transition(&self, label: Option<TransitionId>) -> Processes {
        let of_label = self.movers.iter().find(|(t, _)| Some(*t) == label);
        of_label.map_or(Processes::default(), |(_, who)| *who)
    }
}

/// Asks who can take part and who does.
pub(super) struct Census<'s, S: Vector + ?Sized> {
    fairness: &'s mut dyn Participants<S>,
    store: &'s dyn Store<S>,
    room: S::Rows,
    /// The answers about states that a way may lead through.
    known: FxHashMap<u32, Involved>,
    /// What went wrong.
    pub(super) fault: Option<Fault>,
}

impl<'s, S: Vector + ?Sized> Census<'s, S> {
    pub(super) fn new(fairness: &'s mut dyn Participants<S>, store: &'s dyn Store<S>) -> Self {
        Self { fairness, store, room: S::Rows::default(), known: FxHashMap::default(), fault: None }
    }

    fn ask(&mut self, state: u32, answer: &mut Involved) -> Result<(), Fault> {
        answer.movers.clear();
        let vector = self.store.state(state, &mut self.room).expect("the store keeps states");
        self.fairness.participants(vector, &mut answer.movers)?;
        answer.all = answer.movers.iter().fold(Processes::default(), |all, (_, who)| union(all, *who));
        Ok(())
    }

    /// Whether each process takes part somewhere in the component, or cannot.
    pub(super) fn is_fair(
        &mut self,
        product: &Product<'_>,
        component: &[u32],
        of: &FixedBitSet,
        mut pause: impl FnMut() -> Result<(), Halt>,
    ) -> Result<bool, Halt> {
        let mut always = [u64::MAX; 4];
        let mut moved = Processes::default();
        let mut answer = Involved::default();
        for (i, &node) in component.iter().enumerate() {
            if i % PAUSE == 0 {
                pause()?;
            }
            self.ask(product.nodes[node as usize].state, &mut answer)?;
            always = intersection(always, answer.all);
            for (_, found) in product.moves(node).filter(|(target, _)| of.contains(*target as usize)) {
                let label = found.edge.and_then(|edge| product.graph.label(edge));
                moved = union(moved, answer.in_transition(label));
            }
            if is_subset(always, moved) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The same answer again, if it was given. A fault is kept for later.
    fn involved(&mut self, product: &Product<'_>, node: u32) -> &Involved {
        let state = product.nodes[node as usize].state;
        if !self.known.contains_key(&state) {
            let mut answer = Involved::default();
            if let Err(fault) = self.ask(state, &mut answer) {
                self.fault.get_or_insert(fault);
            }
            self.known.insert(state, answer);
        }
        &self.known[&state]
    }

    /// A process that could always take part on the way but does not; `end` is where the way leads.
    pub(super) fn left_behind(&mut self, product: &Product<'_>, way: &[Left], end: u32) -> Option<usize> {
        let mut always = self.involved(product, end).all;
        let mut moved = Processes::default();
        for &(node, edge) in way {
            let label = edge.and_then(|edge| product.graph.label(edge));
            let involved = self.involved(product, node);
            always = intersection(always, involved.all);
            moved = union(moved, involved.in_transition(label));
        }
        (0..256).find(|&p| has(always, p) && !has(moved, p))
    }

    /// Whether a process cannot complain of a step: it takes part in it, or cannot in its state.
    pub(super) fn is_satisfied(
        &mut self,
        product: &Product<'_>,
        process: usize,
        node: u32,
        edge: Option<u32>,
    ) -> bool {
        let label = edge.and_then(|edge| product.graph.label(edge));
        let involved = self.involved(product, node);
        !has(involved.all, process) || has(involved.in_transition(label), process)
    }
}

fn union(a: Processes, b: Processes) -> Processes {
    std::array::from_fn(|i| a[i] | b[i])
}

fn intersection(a: Processes, b: Processes) -> Processes {
    std::array::from_fn(|i| a[i] & b[i])
}

fn is_subset(a: Processes, b: Processes) -> bool {
    intersection(a, b) == a
}

fn has(set: Processes, process: usize) -> bool {
    set[process / 64] >> (process % 64) & 1 == 1
}
