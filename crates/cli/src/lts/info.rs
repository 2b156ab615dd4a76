//! `stubborn lts info`: what is in a file.

use crate::entry::print;
use stubborn_lts::{Lsts, Mark, TAU};
use stubborn_report::{clean, with_commas};

/// Prints the figures of a system.
pub(crate) fn info(lsts: &Lsts) {
    let reachable = lsts.reachable();
    let n_tau = lsts.labels().iter().filter(|&&action| action == TAU).count();
    let n = |count: usize| with_commas(count as u64);
    let mut out = format!("states:       {}", n(lsts.n_states()));
    out += &format!(" ({} reachable)\n", n(reachable.count_ones(..)));
    out += &format!("initial:      {}\n", lsts.initial() + 1);
    out += &format!("transitions:  {} ({} with tau)\n", n(lsts.n_transitions()), n(n_tau));
    out += &format!(
        "deadlocks:    {}\n",
        n(lsts.deadlocks().filter(|&s| reachable.contains(s as usize)).count())
    );
    let degree = |state: u32| lsts.range(state).len();
    out += &format!("most edges:   {}\n", (0..lsts.n_states() as u32).map(degree).max().unwrap_or(0));
    out += &format!("deterministic: {}\n", if is_deterministic(lsts) { "yes" } else { "no" });
    out += &format!("actions:      {}\n", n(lsts.action_names().len()));
    let mut counts = vec![0usize; lsts.n_actions()];
    lsts.labels().iter().for_each(|&action| counts[action as usize] += 1);
    for (i, name) in lsts.action_names().iter().enumerate() {
        out += &format!("  {} ({} transitions)\n", clean(name), n(counts[i + 1]));
    }
    out += &format!("propositions: {}\n", n(lsts.propositions().len()));
    for proposition in lsts.propositions() {
        let name = match &proposition.mark {
            Mark::Named(name) => clean(name).into_owned(),
            Mark::Special(special) => special.word().to_owned(),
        };
        let permanent = if proposition.mark.is_permanent() { ", permanent" } else { "" };
        out += &format!("  {name} ({} states{permanent})\n", n(proposition.states.count_ones(..)));
    }
    out += &format!("memory:       {} bytes\n", n(lsts.bytes()));
    print(out);
}

/// Whether no state has tau or two edges with one action.
fn is_deterministic(lsts: &Lsts) -> bool {
    (0..lsts.n_states() as u32).all(|state| {
        let labels = &lsts.labels()[lsts.range(state)];
        labels.first() != Some(&TAU) && labels.windows(2).all(|pair| pair[0] != pair[1])
    })
}
