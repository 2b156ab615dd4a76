//! What the kernel's questions need to know about single states of a network.
//!
//! Events happen in steps, the kernel judges states: a state fails the check if a step that can be done in
//! it goes wrong.

use crate::{Event, Network, Trouble};
use stubborn_system::{Fault, Observed, Question};

impl Network {
    /// What is wrong, for people.
    pub fn describe(&self, event: &Event) -> String {
        match event.step {
            Some((pid, step)) => {
                format!("{} in {}", event.trouble, self.micro_name(crate::Micro { pid, step }))
            }
            None => event.trouble.to_string(),
        }
    }

    /// A process and where it is, for people.
    fn whereabouts(&self, state: &[u8], pid: usize) -> String {
        let view = self.view(state);
        let kind = &self.processes[view.kind(pid)];
        let steps = &kind.locations[view.location(pid).index()].steps;
        match steps.first() {
            Some(step) => format!("{}[{pid}] at line {}", kind.name, step.line),
            None => format!("{}[{pid}]", kind.name),
        }
    }
}

impl Observed for Network {
    fn questions(&self) -> Vec<Question> {
        vec![Question::Safety, Question::Deadlock]
    }

    fn check(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        let expansion = self.expand(state);
        let found = expansion.all_events().find(|event| is_safety(event)).map(|event| self.describe(event));
        Ok(found)
    }

    fn fails_in_steps(&self) -> bool {
        true
    }

    fn looks_at_found(&self) -> bool {
        false
    }

    fn check_deadlock(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        let expansion = self.expand(state);
        Ok(expansion.events.iter().find(|event| is_end(event)).map(|event| match &event.trouble {
            Trouble::InvalidEnd { processes } => {
                let stuck: Vec<String> = processes.iter().map(|&pid| self.whereabouts(state, pid)).collect();
                format!("invalid end state: {}", stuck.join(", "))
            }
            _ => self.describe(event),
        }))
    }

    fn is_may_progress(&self, state: &[u8]) -> Result<bool, Fault> {
        Ok(self.is_progress(state))
    }

    fn is_must_progress(&self, state: &[u8]) -> Result<bool, Fault> {
        Ok(self.is_progress(state))
    }
}

/// Whether the event is a violation of safety.
pub(crate) fn is_safety(event: &Event) -> bool {
    event.trouble.is_error() && event.trouble.too_much().is_none() && !is_end(event)
}

/// Whether the event is about a state in which nothing can happen.
fn is_end(event: &Event) -> bool {
    matches!(event.trouble, Trouble::InvalidEnd { .. } | Trouble::TraceUnfinished)
}
