//! Cycles that labels ask for.
//!
//! **Implements** what SPIN's `pan -a` (without a claim) and `pan -l` look for: a run that passes states with a
//! process at an accepting label for ever, where the last state of a finite run counts as repeated; and a run
//! that from some point on passes no state with a process at a progress label, where a finite run is none.

use super::{Arc, Marked, Run, Runs};

const ACCEPTING: u128 = 1 << 64;

/// A run that passes accepting states for ever.
pub fn acceptance_cycle(runs: &Runs, is_fair: bool) -> Option<Run> {
    let mut graph = runs.marked();
    for (arcs, &is_accepting) in graph.arcs.iter_mut().zip(&runs.is_accepting) {
        arcs.iter_mut().filter(|_| is_accepting).for_each(|arc| arc.marks |= ACCEPTING);
    }
    run(&graph, ACCEPTING | if is_fair { Runs::FAIR } else { 0 }, |node| node)
}

/// A run that passes progress states only finitely often, and does not end.
pub fn non_progress_cycle(runs: &Runs, is_fair: bool) -> Option<Run> {
    // Two copies: in the second, which may be entered at any time, progress is forbidden.
    let n = runs.n_states();
    let mut arcs = vec![Vec::new(); 2 * n];
    for state in 0..n {
        for &step in &runs.steps[state] {
            let marks = runs.fair_marks(state, step);
            arcs[state].push(Arc { target: step.target, marks });
            if !runs.is_progress[step.target] {
                arcs[state].push(Arc { target: n + step.target, marks });
                arcs[n + state].push(Arc { target: n + step.target, marks: marks | ACCEPTING });
            }
        }
    }
    let graph = Marked { initial: vec![0], arcs };
    run(&graph, ACCEPTING | if is_fair { Runs::FAIR } else { 0 }, |node| node % n)
}

fn run(graph: &Marked, all: u128, state: impl Fn(usize) -> usize) -> Option<Run> {
    let (stem, cycle) = graph.lasso(all)?;
    let states = |nodes: Vec<usize>| nodes.into_iter().map(&state).collect();
    Some(Run { stem: states(stem), cycle: states(cycle) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring() -> Runs {
        Runs::new(&[0; 4], &[(0, 1), (1, 2), (2, 1), (0, 3)])
    }

    #[test]
    fn an_accepting_end_is_a_cycle_and_an_end_without_progress_is_none() {
        let mut runs = ring();
        assert_eq!(acceptance_cycle(&runs, false), None);
        runs.is_accepting[3] = true;
        assert_eq!(acceptance_cycle(&runs, false), Some(Run { stem: vec![0], cycle: vec![3] }));
        runs.is_progress[1] = true;
        assert_eq!(non_progress_cycle(&runs, false), None);
        runs.is_progress = vec![false, false, false, true];
        assert_eq!(non_progress_cycle(&runs, false).map(|run| run.cycle.len()), Some(2));
    }

    #[test]
    fn a_cycle_that_starves_a_process_is_not_fair() {
        let mut runs = ring();
        runs.is_accepting[2] = true;
        assert!(acceptance_cycle(&runs, true).is_some());
        runs.enabled = vec![3; 4];
        assert_eq!(acceptance_cycle(&runs, true), None);
        assert!(acceptance_cycle(&runs, false).is_some());
        assert_eq!(non_progress_cycle(&runs, true), None);
        runs.enabled[1] = 1;
        assert!(acceptance_cycle(&runs, true).is_some());
        assert!(non_progress_cycle(&runs, true).is_some());
    }
}
