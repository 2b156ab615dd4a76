//! What is remembered of propositions, state by state: the letters of random models, told by keys and by the reference interpreter.
//! A proposition that does not tell all that it looks at is noticed.

use std::collections::{HashSet, VecDeque};
use stubborn_network::{Expr, Network};
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::promela::{Pairs, compiled};
use stubborn_packed::{Packed, Recall, Sample};
use stubborn_system::{Batch, System};

/// States of a model that are looked at.
const MOST: usize = 500;

/// Compares the letters of states on keys of `N` words. How many were compared, and how often a state was looked at; `None` if
/// the words are too few.
fn compare<const N: usize>(
    network: &Network,
    exprs: &[Expr],
    is_honest: bool,
) -> Option<Result<[usize; 2], String>> {
    let sample = Sample::new(network, 4_000).ok().flatten()?;
    let packed = Packed::<_, N>::new(network, sample).ok()?;
    let mut engine = network.engine();
    let conditions: Vec<_> =
        exprs.iter().map(|expr| engine.condition(expr)).collect::<Option<_>>().unwrap_or_default();
    let mut letters: Recall<N, u64> = Recall::default();
    let mut keys = Batch::new();
    packed.initial(&mut keys).ok()?;
    let mut seen = HashSet::from([*keys.state(0)]);
    let mut waiting = VecDeque::from([*keys.state(0)]);
    let mut n_looks = 0;
    while let Some(key) = waiting.pop_front() {
        let by_key = packed.recall(&mut letters, &key, |state, bytes| {
            n_looks += 1;
            let mut letter = 0;
            for (i, condition) in conditions.iter().enumerate() {
                letter |= u64::from(engine.holds_noting(state, condition, bytes)) << i;
            }
            if !is_honest {
                bytes.truncate(bytes.len() / 2);
            }
            Ok::<_, ()>((letter, true))
        });
        let by_reference = packed.with_state(&key, |state| {
            let holds = |i: usize| u64::from(network.holds(state, &exprs[i]));
            (0..conditions.len()).fold(0, |all, i| all | holds(i) << i)
        });
        if by_key != Ok(by_reference) {
            return Some(Err(format!("{by_key:?}, not {by_reference}, in {}", packed.show(&key))));
        }
        keys.clear();
        if packed.successors(&key, &mut keys).is_err() {
            break;
        }
        for i in 0..keys.len() {
            if seen.len() < MOST && seen.insert(*keys.state(i)) {
                waiting.push_back(*keys.state(i));
            }
        }
    }
    Some(Ok([seen.len(), n_looks]))
}

fn compare_any(network: &Network, exprs: &[Expr], is_honest: bool) -> Result<[usize; 2], String> {
    let one = || compare::<1>(network, exprs, is_honest);
    let two = || compare::<2>(network, exprs, is_honest);
    one().or_else(two).or_else(|| compare::<4>(network, exprs, is_honest)).unwrap_or(Ok([0, 0]))
}

fn model(seed: u64) -> Option<(Pairs, Network, Vec<Expr>)> {
    let pairs = Pairs::random(seed, 8);
    let texts: Vec<String> = pairs.names().iter().map(|proposition| proposition.text.clone()).collect();
    let (network, exprs) = compiled(&pairs.text(), &texts).ok()?;
    Some((pairs, network, exprs))
}

#[test]
fn letters_that_are_remembered_are_those_of_the_states() {
    let (mut n_states, mut n_looks) = (0, 0);
    for seed in seeds(400) {
        let Some((pairs, network, exprs)) = model(seed) else { continue };
        match compare_any(&network, &exprs, true) {
            Ok([states, looks]) => (n_states, n_looks) = (n_states + states, n_looks + looks),
            Err(wrong) => {
                let test = "letters_that_are_remembered_are_those_of_the_states";
                fail("recall", test, seed, format!("{wrong}\n{}", pairs.text()));
            }
        }
    }
    println!("{n_states} states, {n_looks} were looked at");
    assert!(n_states > 10_000 && n_looks * 3 < n_states * 2, "{n_looks} of {n_states} states");
}

#[test]
fn a_byte_that_is_not_told_is_noticed() {
    let models = seeds(200).into_iter().filter_map(model);
    let n_found = models.filter(|(_, network, exprs)| compare_any(network, exprs, false).is_err()).count();
    assert!(n_found > 20, "found in {n_found} models");
}
