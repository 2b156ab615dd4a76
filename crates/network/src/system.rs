//! The network as a system of the kernel.
//!
//! A transition is named by the process that begins it, the step with which it begins, and which of the
//! outcomes of that step it is: a rendezvous may find several receivers, and an atomic sequence may choose
//! on its way. Numbers are dense: `(process * steps + step) * outcomes + outcome`, where `outcomes` is one
//! if the network has neither rendezvous nor atomic sequences. Outcomes are counted in the order in which
//! [`Network::expand`] finds them, so a transition is a function of the state, as the kernel wants it; but
//! the same outcome of a step may mean different things in different states. [`Network::group`] tells which
//! transitions belong together; a reduction chooses all of a group or none.

use crate::{Micro, Network, StepId, Told};
use stubborn_system::{Batch, Fault, Part, System, TransitionId};

impl Network {
    /// The number of a transition; those beyond `n_outcomes` share the last number.
    pub(crate) fn transition(&self, pid: usize, step: StepId, outcome: usize) -> TransitionId {
        let outcomes = self.n_outcomes;
        let group = pid * self.n_steps + step.0 as usize;
        TransitionId::from(group * outcomes + outcome.min(outcomes - 1))
    }

    /// How many groups of transitions there are: one per process and step.
    pub fn n_groups(&self) -> usize {
        self.n_slots * self.n_steps
    }

    /// The process and the step with which a transition begins.
    pub fn group(&self, t: TransitionId) -> Micro {
        let group = t.index() / self.n_outcomes;
        let n_steps = self.n_steps.max(1);
        Micro { pid: group / n_steps, step: StepId((group % n_steps) as u32) }
    }

    /// Whether one process begins all of these transitions.
    #[inline]
    pub fn is_of_one_process(&self, all: &[TransitionId]) -> bool {
        let Some(first) = all.first() else { return true };
        let n_of_one = self.n_steps.max(1) * self.n_outcomes;
        let start = first.index() / n_of_one * n_of_one;
        all.iter().all(|t| (start..start + n_of_one).contains(&t.index()))
    }

    fn part(&self, told: Told) -> Option<Part> {
        let Told { micro, messages, .. } = told;
        let (kind, _, step) = self.step(micro.step)?;
        let process = Some(format!("{}[{}]", self.processes[kind].name, micro.pid));
        Some(Part { process, line: Some(step.line), text: step.text.clone(), messages })
    }

    /// The name of a step of a process, for people.
    pub fn micro_name(&self, micro: Micro) -> String {
        match self.step(micro.step) {
            Some((kind, _, step)) => {
                format!("{}[{}] {}", self.processes[kind].name, micro.pid, step.text)
            }
            None => format!("process {}, step {}", micro.pid, micro.step.0),
        }
    }
}

impl System for Network {
    type State = [u8];

    fn n_transitions(&self) -> usize {
        self.n_slots * self.n_steps * self.n_outcomes
    }

    fn transition_name(&self, t: TransitionId) -> String {
        self.micro_name(self.group(t))
    }

    fn initial(&self, out: &mut Batch<[u8]>) -> Result<(), Fault> {
        let state = self.initial_state().map_err(|trouble| Fault::Model(trouble.to_string()))?;
        out.push(TransitionId(0), &state);
        Ok(())
    }

    fn fire(&self, state: &[u8], t: TransitionId, out: &mut Batch<[u8]>) -> Result<bool, Fault> {
        let expansion = self.expand(state);
        let found = expansion.successors.iter().find(|s| s.transition == t);
        if let Some(successor) = found {
            out.push(t, &successor.state);
        }
        Ok(found.is_some())
    }

    /// Appends all successors: the youngest process first, its steps in their order.
    fn successors(&self, state: &[u8], out: &mut Batch<[u8]>) -> Result<(), Fault> {
        self.successors_by_engine(state, out)
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        self.texts(state)
    }

    fn differing(&self, before: &[u8], after: &[u8]) -> [Vec<(String, String)>; 2] {
        self.differing_texts(before, after)
    }

    fn explain(&self, state: &[u8], t: TransitionId) -> Vec<Part> {
        let expansion = self.expand(state);
        let found = expansion.successors.into_iter().find(|s| s.transition == t);
        let told = found.map_or_else(Vec::new, |successor| self.narrate(state, &successor));
        told.into_iter().filter_map(|told| self.part(told)).collect()
    }
}
