//! Packed keys against the system itself, state by state: the same transitions in the same order lead to the same
//! states, flags and limits included; for parts as they come and taken as fine as possible, with keys that have room
//! from the beginning and with keys that turn out to be too narrow.

#[path = "../../promela/tests/support/files.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod files;

use files::{EXAMPLES, compile_file, models, promela_files};
use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use stubborn_explore::{End, Limits, Stop, Unwatched};
use stubborn_model::{ModelSystem, RuleSource};
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::promela::{Model, compiled};
use stubborn_oracle::{Program, Rng};
use stubborn_packed::{Failure, Odd, Packed, Sample, States};
use stubborn_system::{Batch, Composed, Fault, FlatRows, Observed, Parts, System, Tracer, Unit};
use stubborn_verdict::{EngineKind, Options, Verdict, analyse};

/// States of a model that are looked at.
const MOST: usize = 1_500;

/// How states are taken apart.
#[derive(Clone, Copy)]
struct Way {
    n_steps: usize,
    many: usize,
}

const WAYS: [Way; 3] = [
    Way { n_steps: 2_000, many: 512 },
    // Nearly every value is new to the keys.
    Way { n_steps: 2, many: 512 },
    // Every local is a part.
    Way { n_steps: 100, many: 0 },
];

/// What differs, if anything; and how many states were compared.
fn compare<'y, Y: Observed>(
    system: &'y Y,
    tracer: Option<Box<dyn Tracer<Y::State> + 'y>>,
    way: Way,
) -> Result<usize, String> {
    let Some(tracer) = tracer else { return Ok(0) };
    let Ok(mut sample) = Sample::traced(system, tracer, way.n_steps, way.many) else { return Ok(0) };
    for _ in 0..200 {
        let done = match sample.n_words() {
            1 => compare_keys::<_, 1>(system, sample),
            2 => compare_keys::<_, 2>(system, sample),
            3 | 4 => compare_keys::<_, 4>(system, sample),
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
fn compare_keys<'y, Y: Observed, const N: usize>(
    system: &'y Y,
    sample: Sample<'y, Y::State>,
) -> Result<Result<usize, String>, Sample<'y, Y::State>> {
    let packed = Packed::<Y, N>::new(system, sample)?;
    let result = compare_states(system, &packed);
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
        if flags[0] != flags[1] || cuts[0] != cuts[1] || keys.len() != states.len() {
            return Err(format!("{} successors, not {}, in {}", keys.len(), states.len(), packed.show(&key)));
        }
        let mut made: Vec<[u64; N]> = (0..keys.len()).map(|i| *keys.state(i)).collect();
        if by_keys.is_ok() {
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
            if seen.len() < MOST && seen.insert(*keys.state(i)) {
                waiting.push_back(*keys.state(i));
            }
        }
    }
    // All of them in one go, if nothing goes wrong.
    let mut states = States::default();
    seen.iter().for_each(|key| states.push(key));
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

/// Compares the successors of a state that are made without transitions, and what is told of it.
fn same_without_transitions<Y: System, const N: usize>(
    packed: &Packed<'_, Y, N>,
    key: &[u64; N],
    expected: &mut [[u64; N]],
    [is_flagged, is_cut]: [bool; 2],
) -> Result<(), String> {
    let (mut states, mut made, mut told) = (States::default(), States::default(), Vec::new());
    states.push(key);
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

#[test]
fn the_successors_of_all_models_are_the_same_on_keys() {
    let (mut n_models, mut n_states) = (0, 0);
    for path in [models(), PathBuf::from(EXAMPLES)].iter().flat_map(|directory| promela_files(directory)) {
        let Some(network) = compile_file(&path).network else { continue };
        for way in WAYS {
            let compared = compare(&network, network.tracer(), way);
            n_states += compared.unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
        }
        n_models += 1;
    }
    assert!(n_models > 100 && n_states > 50_000, "{n_models} models, {n_states} states");
}

#[test]
fn the_successors_of_random_models_are_the_same_on_keys() {
    let mut n_states = 0;
    for seed in seeds(300) {
        let mut rng = Rng::new(seed);
        let model = Model::random(&mut rng);
        let Ok((network, _)) = compiled(&model.to_string(), &[]) else { continue };
        for way in WAYS {
            match compare(&network, network.tracer(), way) {
                Ok(n) => n_states += n,
                Err(wrong) => fail(file!(), "random_models", seed, format!("{wrong}\n{model}")),
            }
        }
    }
    assert!(n_states > 20_000, "{n_states} states");
}

#[test]
fn the_successors_of_models_as_code_are_the_same_on_keys() {
    let mut n_states = 0;
    for seed in seeds(300) {
        let mut rng = Rng::new(seed);
        let model = Program::random(&mut rng);
        for source in [RuleSource::None, RuleSource::of(&model)] {
            let Ok(system) = ModelSystem::<[u64; 4]>::new(&model, source) else { continue };
            match compare(&system, system.tracer(), WAYS[seed as usize % 2]) {
                Ok(n) => n_states += n,
                Err(wrong) => fail(file!(), "models_as_code", seed, wrong),
            }
        }
    }
    assert!(n_states > 5_000, "{n_states} states");
}

/// Four processes with Peterson's algorithm, 8,564,375 states.
const PETERSON: &str = include_str!("../../bench/models/peterson4.pml");

#[test]
fn a_search_that_is_too_large_ends_inconclusive_within_its_memory() {
    let (network, _) = compiled(PETERSON, &[]).expect("it is right");
    for engine in [EngineKind::Auto, EngineKind::Packed] {
        let limits = Limits { bytes: 4 << 20, ..Limits::default() };
        let options = Options { engine, limits, ..Options::default() };
        let analysis = analyse(&network, &options, &mut Unwatched).expect("no fault");
        let phase = &analysis.phases[0];
        assert!(matches!(phase.end, End::Stopped(Stop::Memory { .. })), "{:?}", phase.end);
        // At sixteen bytes each, with the front and what is being inserted, it comes this far at least.
        assert!(phase.stats.states > 150_000 && phase.stats.peak_bytes <= 4 << 20, "{:?}", phase.stats);
        let answers = &analysis.answers;
        assert!(answers.iter().all(|answer| matches!(answer.verdict, Verdict::Inconclusive(_))));
    }
}

#[test]
fn values_that_do_not_come_again_are_left_to_the_system() {
    let counting = "int n; active proctype P() { do :: n < 150000 -> n++ od }\nactive proctype Q() { int a[3]; do :: a[0] < 150000 -> a[0]++; a[1] = a[0] * 7; a[2] = a[1] ^ n :: a[0] == 150000 -> break od }";
    let (network, _) = compiled(counting, &[]).expect("it is right");
    let limits = Limits { states: 200_000, ..Limits::default() };
    let counts = [EngineKind::Packed, EngineKind::Interpreter].map(|engine| {
        let options = Options { engine, limits, ..Options::default() };
        let analysis = analyse(&network, &options, &mut Unwatched).expect("no fault");
        (analysis.phases[0].stats.states, analysis.phases[0].stats.edges, analysis.phases[0].stats.depth)
    });
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[0].0, 200_000);
}

/// A tracer that does not tell everything.
struct Forgetful<'n> {
    inner: Box<dyn Tracer<[u8]> + 'n>,
}

impl Tracer<[u8]> for Forgetful<'_> {
    fn take_apart(&mut self, state: &[u8], parts: &mut Parts) {
        self.inner.take_apart(state, parts);
    }
    fn put_together(&mut self, parts: &Parts, out: &mut FlatRows<u8>) {
        self.inner.put_together(parts, out);
    }
    fn agents(&mut self, roots: &mut Vec<u16>) {
        self.inner.agents(roots);
    }
    fn units(&mut self, state: &[u8], agent: usize, units: &mut Vec<Unit>) {
        self.inner.units(state, agent, units);
    }
    fn expand(
        &mut self,
        state: &[u8],
        agent: usize,
        unit: Unit,
        touched: &mut Vec<u16>,
        out: &mut Batch<[u8]>,
    ) -> Result<Option<()>, Fault> {
        let done = self.inner.expand(state, agent, unit, touched, out);
        if touched.len() > 1 {
            touched.remove(0);
        }
        done
    }
    fn is_complete(&self) -> bool {
        self.inner.is_complete()
    }
    fn n_outcomes(&self) -> u32 {
        self.inner.n_outcomes()
    }
    fn is_by_number(&self) -> bool {
        self.inner.is_by_number()
    }
    fn split(&mut self, shape: &[u8], part: u16) -> bool {
        self.inner.split(shape, part)
    }
}

#[test]
fn a_part_that_is_not_told_is_noticed() {
    let mut n_found = 0;
    for path in promela_files(&models()) {
        let Some(network) = compile_file(&path).network else { continue };
        let Some(inner) = network.tracer() else { continue };
        let forgetful = Forgetful { inner };
        n_found += usize::from(compare(&network, Some(Box::new(forgetful)), WAYS[0]).is_err());
    }
    assert!(n_found > 10, "found in {n_found} models");
}
