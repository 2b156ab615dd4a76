//! The judge of linear time is judged: on random graphs and random formulas, what truth assignments say agrees
//! with the meaning of formulas on single runs, in both directions. A run that is said to violate a formula
//! is a run of the graph, is fair if that was asked for, and does violate it; where all runs are said to
//! satisfy a formula, all short ones do.

use stubborn_ltl::{Formula, random::Random};
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::linear::{MAX_TEMPORAL, Runs, violation};

/// A graph of up to seven states, with three propositions and two processes; some states may have no steps.
fn graph(random: &mut Random) -> Runs {
    let n = 2 + random.below(6);
    let letters: Vec<u64> = (0..n).map(|_| random.next() & 7).collect();
    let n_steps = random.below(3 * n + 1);
    let steps: Vec<(usize, usize)> = (0..n_steps).map(|_| (random.below(n), random.below(n))).collect();
    let mut runs = Runs::new(&letters, &steps);
    for state in 0..n {
        for i in 0..runs.steps[state].len() {
            runs.steps[state][i].movers = [1, 2, 2, 1, 3][random.below(5)];
        }
        let movers = runs.steps[state].iter().fold(0, |all, step| all | step.movers);
        // Of a step that two processes do together, one may be said to be unable.
        runs.enabled[state] = if random.below(4) == 0 { movers & random.next() } else { movers };
    }
    runs
}

/// Whether a run that is fair for one step between two states may be unfair by another.
fn has_parallel_steps(runs: &Runs) -> bool {
    (0..runs.n_states()).any(|state| {
        let mut targets: Vec<usize> = runs.steps[state].iter().map(|step| step.target).collect();
        let n = targets.len();
        targets.sort_unstable();
        targets.dedup();
        targets.len() < n
    })
}

fn agree(runs: &Runs, formula: &Formula, is_fair: bool) -> Result<bool, String> {
    let not = formula.clone().negated();
    match violation(runs, formula, is_fair) {
        Some(run) => {
            let word = runs.word(&run);
            if !runs.has(&run) {
                return Err(format!("{run:?} is no run"));
            }
            if word.satisfies(formula) || !word.satisfies(&not) {
                return Err(format!("{run:?} does not violate it"));
            }
            if is_fair && !runs.can_be_fair(&run) {
                return Err(format!("{run:?} is not fair"));
            }
            Ok(false)
        }
        None => {
            for run in runs.lassos(7, 3000) {
                let counts = !is_fair || (runs.can_be_fair(&run) && !has_parallel_steps(runs));
                if counts && !runs.word(&run).satisfies(formula) {
                    return Err(format!("{run:?} violates it"));
                }
            }
            Ok(true)
        }
    }
}

#[test]
fn truth_assignments_and_single_runs_agree() {
    let (mut n_hold, mut n_violated, mut n_fair_only) = (0, 0, 0);
    for seed in seeds(6000) {
        let mut random = Random::new(seed);
        let runs = graph(&mut random);
        let size = 1 + random.below(9);
        let formula = random.formula(size, 3, true);
        let both = [false, true].map(|is_fair| {
            agree(&runs, &formula, is_fair).unwrap_or_else(|what| {
                let what = format!("fair: {is_fair}: {what}\n{formula:?}\n{runs:?}");
                fail("linear_brute", "truth_assignments_and_single_runs_agree", seed, what)
            })
        });
        n_hold += usize::from(both[0]);
        n_violated += usize::from(!both[1]);
        n_fair_only += usize::from(both == [false, true]);
    }
    println!("{n_hold} hold, {n_violated} are violated, {n_fair_only} hold of fair runs only");
    assert!(n_hold + n_violated <= 1 || (n_hold > 1000 && n_violated > 1000 && n_fair_only > 5));
}

#[test]
fn of_a_single_run_a_formula_or_its_negation_holds_and_not_both() {
    for seed in seeds(3000) {
        let mut random = Random::new(seed);
        let n = 1 + random.below(6);
        let letters: Vec<u64> = (0..n).map(|_| random.next() & 7).collect();
        let mut steps: Vec<(usize, usize)> = (1..n).map(|i| (i - 1, i)).collect();
        if random.below(3) > 0 {
            steps.push((n - 1, random.below(n)));
        }
        let runs = Runs::new(&letters, &steps);
        let formula = random.formula(8, 3, true);
        let holds = violation(&runs, &formula, false).is_none();
        let not = violation(&runs, &formula.clone().negated(), false).is_none();
        if holds == not {
            let what = format!("both {holds}: {formula:?}\n{runs:?}");
            fail("linear_brute", "of_a_single_run_a_formula_or_its_negation_holds_and_not_both", seed, what);
        }
    }
}

#[test]
#[should_panic(expected = "temporal operators")]
fn a_formula_that_is_too_large_is_not_decided() {
    let atom = || Formula::atom(0);
    let long = (0..=MAX_TEMPORAL).fold(atom(), |f, _| Formula::Next(Box::new(f)));
    violation(&Runs::new(&[0], &[]), &long, false);
}
