//! Random networks of processes, and what they reject by brute force.
//!
//! A network is processes with alphabets; those that have a label in their alphabet do it together (V93 Definition
//! 2.3), and each has invisible moves of its own. What is rejected is a condition on the states of some processes.
//! `brute` builds the whole graph of tuples and answers by the definitions; `random` draws networks. Nothing here
//! uses the compositions, searches and reductions that are judged.

mod brute;
mod preorder;
mod random;
mod words;

pub use brute::{Brute, Move};
pub use preorder::{Excess, excess};
pub use random::{random_network, random_pair, random_refinement};
pub use words::violates;

use stubborn_lts::{Component, Expr, Lsts, LstsBuilder, Mark, Plan, Special, TAU};
use stubborn_system::RejectionKind;

/// A process. It begins in state 0.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// How many states it has.
    pub n_states: usize,
    /// Edges: source, label (`None` is invisible), target.
    pub edges: Vec<(usize, Option<usize>, usize)>,
    /// The labels that it takes part in.
    pub alphabet: Vec<usize>,
}

/// How the parts of a condition are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// All hold.
    All,
    /// One holds.
    Any,
    /// Not all hold.
    NotAll,
}

/// Something that is rejected.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// What is wrong.
    pub kind: RejectionKind,
    /// Processes, and in which of their states the part holds.
    pub parts: Vec<(usize, Vec<bool>)>,
    /// How the parts are joined.
    pub join: Join,
}

impl Rejected {
    /// Whether the condition holds in a tuple.
    pub fn holds(&self, tuple: &[usize]) -> bool {
        let mut parts = self.parts.iter().map(|(process, states)| states[tuple[*process]]);
        match self.join {
            Join::All => parts.all(|part| part),
            Join::Any => parts.any(|part| part),
            Join::NotAll => !parts.all(|part| part),
        }
    }

    /// Whether one of its processes is among these.
    pub fn takes_part(&self, processes: &[usize]) -> bool {
        self.parts.iter().any(|(process, _)| processes.contains(process))
    }
}

/// Processes and what is rejected.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The processes.
    pub processes: Vec<Process>,
    /// How many labels there are.
    pub n_labels: usize,
    /// What is rejected.
    pub rejected: Vec<Rejected>,
}

impl Network {
    /// The same for the program: each label is a rule.
    pub fn plan(&self) -> Plan {
        self.plan_with(|_, rejected| {
            Mark::Special(match rejected.kind {
                RejectionKind::State => Special::Rej,
                RejectionKind::Deadlock => Special::DlRej,
                RejectionKind::Livelock => Special::LlRej,
                RejectionKind::Infinite => Special::InfRej,
            })
        })
    }

    /// The same with propositions `c0`, `c1`, ... in place of what is rejected.
    pub fn plan_with_propositions(&self) -> Plan {
        self.plan_with(|i, _| Mark::Named(format!("c{i}")))
    }

    fn plan_with(&self, result: impl Fn(usize, &Rejected) -> Mark) -> Plan {
        let mut plan = Plan::new();
        let name = |label: usize| format!("l{label}");
        for (i, process) in self.processes.iter().enumerate() {
            let lsts = self.lsts(i, process);
            let component = Component {
                number: i as u64 + 1,
                prefix: String::new(),
                name: format!("p{i}"),
                lsts: lsts.into(),
            };
            plan.add_component(component);
        }
        for label in 0..self.n_labels {
            let takes_part = |&i: &usize| self.processes[i].alphabet.contains(&label);
            let parts: Vec<(usize, u32)> = (0..self.processes.len())
                .filter(takes_part)
                .map(|i| (i, plan.components()[i].lsts.action(&name(label)).expect("it is in the alphabet")))
                .collect();
            if !parts.is_empty() {
                let result = plan.result(&name(label));
                plan.add_rule(parts, result).expect("the parts are actions of processes");
            }
        }
        for (i, rejected) in self.rejected.iter().enumerate() {
            let holds = |(j, (process, _)): (usize, &(usize, Vec<bool>))| {
                let mark = Mark::Named(format!("{i}.{j}"));
                let propositions = plan.components()[*process].lsts.propositions();
                let proposition = propositions.iter().position(|p| p.mark == mark).expect("it was added");
                Expr::Holds { component: *process, proposition }
            };
            let parts: Vec<Expr> = rejected.parts.iter().enumerate().map(holds).collect();
            let expr = match rejected.join {
                Join::All => Expr::And(parts),
                Join::Any => Expr::Or(parts),
                Join::NotAll => Expr::Not(Box::new(Expr::And(parts))),
            };
            plan.add_proposition(expr, result(i, rejected));
        }
        plan.finish();
        plan
    }

    /// A process of the network for the program.
    pub fn lsts(&self, number: usize, process: &Process) -> Lsts {
        let mut builder = LstsBuilder::new(process.n_states as u64).expect("it is small");
        for label in &process.alphabet {
            builder.action(&format!("l{label}"));
        }
        for &(source, label, target) in &process.edges {
            let action = label.map_or(TAU, |label| builder.action(&format!("l{label}")));
            builder.add_transition(source as u32, action, target as u32);
        }
        for (i, rejected) in self.rejected.iter().enumerate() {
            for (j, (of, states)) in rejected.parts.iter().enumerate() {
                if *of == number {
                    let holding = (0..states.len() as u32).filter(|&s| states[s as usize]);
                    builder.add_proposition(Mark::Named(format!("{i}.{j}")), holding);
                }
            }
        }
        builder.build().expect("it is small")
    }
}
