//! Testers: processes whose special propositions mark what is wrong.
//!
//! **Implements** V93 Definition 3.1: reject states (`Rej`), deadlock monitors (`Dl_rej`), livelock monitors (`Ll_rej`) and
//! infinite trace monitors (`Inf_rej`); a tester has no loop of tau, and its deadlock monitors have no tau. To be
//! attached, a tester takes part in every action of the system whose name it knows; all others it does not see.
//! **Differs from the text** in that the alphabet of the tester may be smaller than that of the system: what it does
//! not know is invisible to it.
//! **Checked by** `oracle` on random pairs of networks and testers.

use crate::lsts::{Lsts, Mark, Special, TAU};
use crate::plan::{Component, Plan};
use std::sync::Arc;
use thiserror::Error;

/// Why a process is no tester, or does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TesterError {
    /// It can run round by itself.
    #[error("the tester has a loop of tau through state {0}: it must not run for ever by itself")]
    TauLoop(u32),
    /// A deadlock monitor that is not stable.
    #[error(
        "state {0} of the tester is a deadlock monitor (Dl_rej) and has tau: such states must wait for the system"
    )]
    UnstableMonitor(u32),
    /// It rejects nothing.
    #[error("the tester marks no state with Rej, Dl_rej, Ll_rej or Inf_rej: it rejects nothing")]
    RejectsNothing,
    /// It knows an action that the system does not have.
    #[error("the tester knows the action `{0}`, which the system does not have")]
    UnknownAction(String),
}

/// What testers mark.
const MARKS: [Special; 4] = [Special::Rej, Special::DlRej, Special::LlRej, Special::InfRej];

/// Whether a process marks states as testers do.
pub fn is_tester(lsts: &Lsts) -> bool {
    MARKS.iter().any(|&special| lsts.marked(&Mark::Special(special)).is_some())
}

/// Checks the conditions of the definition. States are told by their numbers in files.
pub fn check_tester(lsts: &Lsts) -> Result<(), TesterError> {
    if !is_tester(lsts) {
        return Err(TesterError::RejectsNothing);
    }
    let has_tau = |&state: &u32| {
        lsts.labels().get(lsts.range(state).start) == Some(&TAU) && !lsts.range(state).is_empty()
    };
    if let Some(monitors) = lsts.marked(&Mark::Special(Special::DlRej))
        && let Some(state) = monitors.ones().map(|state| state as u32).find(has_tau)
    {
        return Err(TesterError::UnstableMonitor(state + 1));
    }
    match tau_loop(lsts) {
        Some(state) => Err(TesterError::TauLoop(state + 1)),
        None => Ok(()),
    }
}

/// A state on a loop of tau.
fn tau_loop(lsts: &Lsts) -> Option<u32> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut colours = vec![NEW; lsts.n_states()];
    let taus = |state: u32| {
        let range = lsts.range(state);
        range.start..range.start + lsts.labels()[range].iter().take_while(|&&label| label == TAU).count()
    };
    let mut stack: Vec<(u32, usize)> = Vec::new();
    for root in 0..lsts.n_states() as u32 {
        if colours[root as usize] != NEW {
            continue;
        }
        colours[root as usize] = OPEN;
        stack.push((root, taus(root).start));
        while let Some((state, edge)) = stack.last_mut() {
            if *edge == taus(*state).end {
                colours[*state as usize] = DONE;
                stack.pop();
                continue;
            }
            let target = lsts.targets()[*edge];
            *edge += 1;
            match colours[target as usize] {
                NEW => {
                    colours[target as usize] = OPEN;
                    stack.push((target, taus(target).start));
                }
                OPEN => return Some(target),
                _ => {}
            }
        }
    }
    None
}

/// A plan of one process that does what it does.
pub fn single(lsts: Lsts, name: &str) -> Plan {
    let component =
        Component { number: 1, prefix: String::new(), name: name.to_owned(), lsts: Arc::new(lsts) };
    crate::default_rules::default_plan(vec![component], &crate::Renaming::default()).0
}

/// The plan with a tester beside it. Gives also the visible actions that the tester does not see.
pub fn attach(plan: &Plan, tester: Lsts, name: &str) -> Result<(Plan, Vec<String>), TesterError> {
    check_tester(&tester)?;
    if let Some(unknown) = tester.action_names().iter().find(|name| !plan.alphabet().contains(name)) {
        return Err(TesterError::UnknownAction(unknown.clone()));
    }
    let mut tested = plan.clone();
    let number = plan.components().iter().map(|component| component.number).max().unwrap_or(0) + 1;
    let tester = Arc::new(tester);
    let component = Component { number, prefix: String::new(), name: name.to_owned(), lsts: tester.clone() };
    let place = tested.add_component(component);
    tested.change_rules(|rule, name| {
        if rule.result != TAU
            && let Some(action) = tester.action(&name(rule.result))
        {
            rule.parts.push((place, action));
        }
    });
    tested.finish();
    let unseen = plan.alphabet().iter().filter(|name| tester.action(name).is_none()).cloned().collect();
    Ok((tested, unseen))
}
