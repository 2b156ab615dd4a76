//! Packed keys against the system itself, state by state.
//!
//! [`compare_keys`] walks through the states of a system and compares what is made on keys with what the system makes: the same
//! transitions in the same order lead to the same states, flags, limits and faults included; successors in lists, and without transitions, are
//! the same; and what is wrong with a state is the same, when it is found out and when it is remembered. Tests and the fuzzer use it
//! (`tests/all/packed.rs`, [`crate::promela::engines_agree`]).

use std::collections::{HashSet, VecDeque};
use stubborn_packed::{Failure, Odd, Packed, Sample, States};
use stubborn_system::{Batch, Fault, Observed, System, Tracer, TransitionId};

/// How states are taken apart, and how wide keys are.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Steps after which it is decided how keys are made.
    pub n_steps: usize,
    /// A part that has more values is taken finer apart.
    pub many: usize,
    /// Words of a key, at least: one, two or four.
    pub n_words: usize,
}

/// Ways that differ as much as they can.
pub const WAYS: [Way; 3] = [
    Way { n_steps: 2_000, many: 512, n_words: 1 },
    // Nearly every value is new to the keys.
    Way { n_steps: 2, many: 512, n_words: 2 },
    // Every local is a part.
    Way { n_steps: 100, many: 0, n_words: 1 },
];

/// Compares the first `most` states. How many there were, 0 if keys are of no use for the system; or what differs.
pub fn compare_keys<'y, Y: Observed>(
    system: &'y Y,
    tracer: Box<dyn Tracer<Y::State> + 'y>,
    way: Way,
    most: usize,
) -> Result<usize, String> {
    let Ok(mut sample) = Sample::traced(system, tracer, way.n_steps, way.many) else { return Ok(0) };
    for _ in 0..200 {
        let done = match sample.n_words().max(way.n_words) {
            1 => compare_words::<_, 1>(system, sample, most),
            2 => compare_words::<_, 2>(system, sample, most),
            3 | 4 => compare_words::<_, 4>(system, sample, most),
            _ => return Ok(0),
        };
        match done {
            Ok(done) => return done,
            Err(wider) => sample = wider,
        }
    }
    Err("the keys are too narrow again and again".into())
}

/// The same with keys of `N` words; a sample if they are too narrow.
fn compare_words<'y, Y: Observed, const N: usize>(
    system: &'y Y,
    sample: Sample<'y, Y::State>,
    most: usize,
) -> Result<Result<usize, String>, Sample<'y, Y::State>> {
    let is_by_number = sample.is_by_number();
    let packed = Packed::<Y, N>::new(system, sample)?;
    let result = compare_states(system, &packed, is_by_number, most);
    match packed.failure() {
        Some(Failure::TooNarrow) => Err(packed.into_sample()),
        Some(Failure::Useless) => Ok(Ok(0)),
        None => Ok(result),
    }
}

/// Looks at the states from the initial one on.
fn compare_states<Y: Observed, const N: usize>(
    system: &Y,
    packed: &Packed<'_, Y, N>,
    is_by_number: bool,
    most: usize,
) -> Result<usize, String> {
    let mut keys = Batch::new();
    if packed.initial(&mut keys).is_err() {
        return Ok(0);
    }
    let mut seen = HashSet::from([*keys.state(0)]);
    // All successors.
    let mut all = Vec::new();
    let mut waiting = VecDeque::from([*keys.state(0)]);
    while let Some(key) = waiting.pop_front() {
        keys.clear();
        let by_keys = packed.successors(&key, &mut keys);
        if packed.failure().is_some() {
            return Ok(0);
        }
        let mut states = Batch::new();
        let by_system = packed.with_state(&key, |state| system.successors(state, &mut states));
        same(by_keys.clone(), by_system)?;
        let flags = [keys.take_flag(), states.take_flag()];
        let cuts = [keys.take_cut(), states.take_cut()];
        if flags[0] != flags[1] || cuts[0] != cuts[1] {
            return Err(format!("{flags:?}, {cuts:?} in {}", packed.show(&key)));
        }
        if keys.len() != states.len() {
            return Err(format!("{} successors, not {}, in {}", keys.len(), states.len(), packed.show(&key)));
        }
        let mut made: Vec<[u64; N]> = (0..keys.len()).map(|i| *keys.state(i)).collect();
        if by_keys.is_ok() {
            same_fan(packed, &key, &keys, is_by_number, [flags[0], cuts[0].is_some()])?;
            same_without_transitions(packed, &key, &mut made, [flags[0], cuts[0].is_some()])?;
            all.append(&mut made);
        }
        // What was found out is remembered.
        for _ in 0..2 {
            let expected = packed.with_state(&key, |state| system.check_found(state));
            if packed.check_found(&key) != expected {
                return Err(format!("something else is wrong with {}", packed.show(&key)));
            }
        }
        for i in 0..keys.len() {
            let is_same = packed.with_state(keys.state(i), |state| state == states.state(i));
            if !is_same || keys.via(i) != states.via(i) {
                return Err(format!("successor {i} of {}", packed.show(&key)));
            }
            if seen.len() < most && seen.insert(*keys.state(i)) {
                waiting.push_back(*keys.state(i));
            }
        }
    }
    // All of them in one go, if nothing goes wrong.
    let mut states = States::default();
    seen.iter().for_each(|key| states.push(key, 0));
    let mut made = States::default();
    let mut n = 0;
    let look = &mut |_: &[u64; N], _: Odd| Ok::<(), Fault>(());
    let done = packed.successors_of(&states, &mut n, usize::MAX, &mut made, look);
    made.keys.sort_unstable();
    all.sort_unstable();
    if done.is_ok() && (made.keys != all || done != Ok(all.len() as u64)) {
        return Err(format!("{} successors in all, not {}", made.len(), all.len()));
    }
    Ok(seen.len())
}

/// Compares the successors of a state that are made in lists, with their transitions, and what is told of it.
fn same_fan<Y: System, const N: usize>(
    packed: &Packed<'_, Y, N>,
    key: &[u64; N],
    expected: &Batch<[u64; N]>,
    is_by_number: bool,
    [is_flagged, is_cut]: [bool; 2],
) -> Result<(), String> {
    let (mut made, mut vias) = (States::default(), Vec::new());
    made.push(key, 7);
    let odd = packed.fan_out(key, 3, &mut made, &mut vias);
    let told = if is_cut { Some(Odd::Cut) } else { is_flagged.then_some(Odd::Flagged) };
    let is_noted = made.notes[0] == 7 && made.notes[1..].iter().all(|note| *note == 3);
    let mut found: Vec<(TransitionId, [u64; N])> =
        vias.iter().copied().zip(made.keys[1..].iter().copied()).collect();
    if is_by_number {
        found.sort_by_key(|(via, _)| std::cmp::Reverse(*via));
    }
    let expected: Vec<_> = (0..expected.len()).map(|i| (expected.via(i), *expected.state(i))).collect();
    let is_same = made.keys[0] == *key && made.len() == vias.len() + 1 && found == expected;
    if odd != Ok(told) || !is_same || !is_noted {
        return Err(format!("{odd:?}, {vias:?} in lists, not {expected:?} of {}", packed.show(key)));
    }
    Ok(())
}

/// Compares the successors of a state that are made without transitions, and what is told of it.
fn same_without_transitions<Y: System, const N: usize>(
    packed: &Packed<'_, Y, N>,
    key: &[u64; N],
    expected: &mut [[u64; N]],
    [is_flagged, is_cut]: [bool; 2],
) -> Result<(), String> {
    let (mut states, mut made, mut told) = (States::default(), States::default(), Vec::new());
    states.push(key, 0);
    let done = packed.successors_of(&states, &mut 0, usize::MAX, &mut made, &mut |_, odd| {
        told.push(odd);
        Ok::<(), Fault>(())
    });
    made.keys.sort_unstable();
    expected.sort_unstable();
    let is_terminal = expected.is_empty() && !is_cut;
    let odd = [(is_flagged, Odd::Flagged), (is_cut, Odd::Cut), (is_terminal, Odd::Terminal)];
    let odd: Vec<Odd> = odd.into_iter().filter(|(is_so, _)| *is_so).map(|(_, odd)| odd).collect();
    if done != Ok(expected.len() as u64) || made.keys != expected || told != odd {
        return Err(format!("{done:?}, {told:?}, {} successors without transitions", made.len()));
    }
    Ok(())
}

fn same(a: Result<(), Fault>, b: Result<(), Fault>) -> Result<(), String> {
    if a == b { Ok(()) } else { Err(format!("{a:?}, not {b:?}")) }
}
