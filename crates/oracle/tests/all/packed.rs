//! Packed keys against the system itself, state by state: the same transitions in the same order lead to the same
//! states, flags and limits included; for parts as they come and taken as fine as possible, with keys that have room
//! from the beginning and with keys that turn out to be too narrow.

use crate::files::{compile_file, models, promela_files};
use crate::networks::{all_networks, for_random_networks};
use stubborn_explore::{End, Limits, Stats, Stop, Unwatched, Watch};
use stubborn_lts::{Composition, CompositionJob, Expr, Mark, Plan, Special, with_composition};
use stubborn_model::{ModelSystem, RuleSource};
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::keys::{WAYS, Way, compare_keys};
use stubborn_oracle::processes::{random_network, random_pair};
use stubborn_oracle::promela::compiled;
use stubborn_oracle::{Program, Rng};
use stubborn_system::{Batch, Bits, Composed, Fault, Observed, Parts, Tracer, Unit, Vector, WordVector};
use stubborn_verdict::{EngineKind, Options, Verdict, analyse};

/// States of a model that are looked at.
const MOST: usize = 1_500;

/// What differs, if anything; and how many states were compared.
fn compare<'y, Y: Observed>(
    system: &'y Y,
    tracer: Option<Box<dyn Tracer<Y::State> + 'y>>,
    way: Way,
) -> Result<usize, String> {
    tracer.map_or(Ok(0), |tracer| compare_keys(system, tracer, way, MOST))
}

#[test]
fn the_successors_of_all_models_are_the_same_on_keys() {
    let (mut n_models, mut n_states) = (0, 0);
    for (path, network) in all_networks() {
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
    let test = ("packed", "the_successors_of_random_models_are_the_same_on_keys");
    for_random_networks(300, test, |_, _, network| {
        for way in WAYS {
            n_states += compare(network, network.tracer(), way)?;
        }
        Ok(())
    });
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
                Err(wrong) => {
                    fail("packed", "the_successors_of_models_as_code_are_the_same_on_keys", seed, wrong)
                }
            }
        }
    }
    assert!(n_states > 5_000, "{n_states} states");
}

/// Four processes with Peterson's algorithm, 8,564,375 states.
const PETERSON: &str = include_str!("../../../bench/models/peterson4.pml");

/// Compares the successors of a composition.
struct CompareProcesses {
    is_forgetful: bool,
    way: Way,
}

impl<S: WordVector + ?Sized> CompositionJob<S> for CompareProcesses {
    type Output = Result<usize, String>;

    fn run(self, composition: &Composition<'_, S>) -> Self::Output {
        let tracer = composition.tracer().map(|inner| {
            if self.is_forgetful {
                Box::new(Forgetful { inner, forgets: Forgets::Moves }) as Box<dyn Tracer<S>>
            } else {
                inner
            }
        });
        compare(composition, tracer, self.way)
    }
}

/// A random network, of every third some states are not expanded.
fn random_plan(seed: u64) -> Plan {
    let mut rng = Rng::new(seed);
    let network = if seed.is_multiple_of(2) { random_network(&mut rng) } else { random_pair(&mut rng) };
    let mut plan = network.plan();
    let has_any = |&i: &usize| !plan.components()[i].lsts.propositions().is_empty();
    if seed.is_multiple_of(3)
        && let Some(component) = (0..plan.components().len()).find(has_any)
    {
        plan.add_proposition(Expr::Holds { component, proposition: 0 }, Mark::Special(Special::Cut));
        plan.finish();
    }
    plan
}

#[test]
fn the_successors_of_compositions_are_the_same_on_keys() {
    let (mut n_states, mut n_cut) = (0, 0);
    for seed in seeds(1_000) {
        let plan = random_plan(seed);
        n_cut += usize::from(plan.has_cuts());
        for way in &WAYS[..2] {
            let job = CompareProcesses { is_forgetful: false, way: *way };
            match with_composition(&plan, job).expect("it can be made") {
                Ok(n) => n_states += n,
                Err(wrong) => {
                    fail("packed", "the_successors_of_compositions_are_the_same_on_keys", seed, wrong)
                }
            }
        }
    }
    assert!(n_states > 10_000 && n_cut > 100, "{n_states} states, {n_cut} with cuts");
}

#[test]
fn a_component_that_is_not_told_is_noticed() {
    let mut n_found = 0;
    for seed in seeds(300) {
        let job = CompareProcesses { is_forgetful: true, way: WAYS[0] };
        n_found += usize::from(with_composition(&random_plan(seed), job).expect("it can be made").is_err());
    }
    assert!(n_found > 20, "found in {n_found} networks");
}

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

#[test]
fn atomic_sequences_that_go_on_and_on_are_cut() {
    let text = "int x, y; active proctype P() { atomic { do :: x++ od } } active proctype Q() { y = x }";
    let (network, _) = compiled(text, &[]).expect("it is right");
    for engine in [EngineKind::Auto, EngineKind::Packed, EngineKind::Interpreter] {
        let options = Options { engine, ..Options::default() };
        let analysis = analyse(&network, &options, &mut Unwatched).expect("no fault");
        let too_much = "steps in an atomic sequence";
        assert_eq!(analysis.phases[0].end, End::Stopped(Stop::TooMuch { too_much }));
        assert!(analysis.answers.iter().all(|answer| matches!(answer.verdict, Verdict::Inconclusive(_))));
    }
}

#[test]
fn atomic_sequences_that_branch_again_and_again_are_refused() {
    let text = "byte a[40]; byte s; active proctype P() { byte i;
        atomic { do :: i < 40 -> if :: a[i] = 0 :: a[i] = 1 fi; i++ :: else -> break od }; s = a[3] }";
    let (network, _) = compiled(text, &[]).expect("it is right");
    let broken = analyse(&network, &Options::default(), &mut Unwatched).expect_err("too many outcomes");
    assert!(broken.fault.to_string().contains("outcomes"), "{}", broken.fault);
}

/// Counts how often a search begins.
#[derive(Default)]
struct Beginnings {
    states: u64,
    n: usize,
}

impl Watch for Beginnings {
    fn tick(&mut self, stats: &Stats) -> Option<Stop> {
        self.n += usize::from(stats.states < self.states);
        self.states = stats.states;
        None
    }
}

#[test]
#[cfg_attr(feature = "always-interpreter", ignore = "this build has no keys")]
fn many_values_that_become_more_one_after_the_other_are_given_up_soon() {
    // Sixty parts, each of which has one value more than there is room for at another time.
    let text = "int n; int a[40]; active proctype P() { do :: n < 400000 -> n++; a[n % 40] = n * 17 od }
        active proctype Q() { int b[20]; int i; do :: i < 3000 -> b[i % 20] = b[(i+7) % 20] * 31 + i; i++ :: else -> break od }";
    let (network, _) = compiled(text, &[]).expect("it is right");
    let limits = Limits { states: 500_000, ..Limits::default() };
    let mut watch = Beginnings::default();
    let analysis =
        analyse(&network, &Options { limits, ..Options::default() }, &mut watch).expect("no fault");
    assert_eq!(analysis.phases[0].stats.states, 500_000);
    assert!((1..=5).contains(&watch.n), "it began again {} times", watch.n);
}

/// What a tracer does not tell the first part of.
#[derive(Clone, Copy, PartialEq)]
enum Forgets {
    Moves,
    Checks,
}

/// A tracer that does not tell everything.
struct Forgetful<'n, S: Vector + ?Sized> {
    inner: Box<dyn Tracer<S> + 'n>,
    forgets: Forgets,
}

impl<S: Vector + ?Sized> Tracer<S> for Forgetful<'_, S> {
    fn take_apart(&mut self, state: &S, parts: &mut Parts) {
        self.inner.take_apart(state, parts);
    }
    fn put_together(&mut self, parts: &Parts, out: &mut S::Rows) {
        self.inner.put_together(parts, out);
    }
    fn places(&self) -> Option<Vec<Bits>> {
        self.inner.places()
    }
    fn put_words(&mut self, words: &[u64], out: &mut S::Rows) {
        self.inner.put_words(words, out);
    }
    fn agents(&mut self, roots: &mut Vec<u16>) {
        self.inner.agents(roots);
    }
    fn units(&mut self, state: &S, agent: usize, units: &mut Vec<Unit>) {
        self.inner.units(state, agent, units);
    }
    fn expand(
        &mut self,
        state: &S,
        agent: usize,
        unit: Unit,
        touched: &mut Vec<u16>,
        out: &mut Batch<S>,
    ) -> Result<Option<()>, Fault> {
        let done = self.inner.expand(state, agent, unit, touched, out);
        let mut roots = Vec::new();
        self.inner.agents(&mut roots);
        // The root is compared in any case.
        let forgotten = touched.iter().copied().find(|&part| part != roots[agent]);
        touched.retain(|&part| self.forgets != Forgets::Moves || Some(part) != forgotten);
        done
    }
    fn is_fine(&mut self, state: &S, touched: &mut Vec<u16>) -> Option<bool> {
        let is_fine = self.inner.is_fine(state, touched);
        if self.forgets == Forgets::Checks {
            let first = touched.first().copied();
            touched.retain(|&part| Some(part) != first);
        }
        is_fine
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
        let forgetful = Forgetful { inner, forgets: Forgets::Moves };
        n_found += usize::from(compare(&network, Some(Box::new(forgetful)), WAYS[0]).is_err());
    }
    assert!(n_found > 10, "found in {n_found} models");
}

#[test]
fn a_variable_that_a_check_looks_at_and_does_not_tell_is_noticed() {
    let (mut n_found, mut n_others) = (0, 0);
    for seed in seeds(300) {
        let model = Program::random(&mut Rng::new(seed));
        let Ok(system) = ModelSystem::<[u64; 4]>::new(&model, RuleSource::None) else { continue };
        let Some(inner) = system.tracer() else { continue };
        let forgetful = Forgetful { inner, forgets: Forgets::Checks };
        match compare(&system, Some(Box::new(forgetful)), WAYS[0]) {
            Err(wrong) if wrong.starts_with("something else is wrong with") => n_found += 1,
            Err(_) => n_others += 1,
            Ok(_) => {}
        }
    }
    println!("found in {n_found} models");
    assert!(n_found > 10 && n_others == 0, "found in {n_found} models, as something else in {n_others}");
}
