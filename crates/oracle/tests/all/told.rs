//! Sets that are chosen by rules, on keys: what is explored of each state is what the algorithm explores there, in the same order; searches find the same; and who does not tell all that
//! rules look at is found out.

use crate::engines::{compare, told_of};
use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use stubborn_model::{Model, ModelSystem, RuleSource};
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::{Program, Rng};
use stubborn_packed::{Packed, Sample, States};
use stubborn_reduce::{CheckDepth, OnKeys, OnRules, Reduction, ReductionKind, SieveOnKeys, Sifted};
use stubborn_system::{
    Batch, Composed, Fault, Observed, Question, Requirements, Rules, Symmetric, System, Told, Tracer,
    TransitionId, Whole, WordVector,
};
use stubborn_verdict::{EngineKind, Options, RaceRules, SearchKind};

/// States of a model that are looked at.
const MOST: usize = 1_000;

/// Algorithms that leave something out.
const KINDS: [ReductionKind; 4] = [
    ReductionKind::Closure,
    ReductionKind::StrongComponents,
    ReductionKind::Deletion,
    ReductionKind::Smaller,
];

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    states: usize,
    /// States in which something was left out.
    partial: usize,
}

impl Compared {
    fn add(&mut self, other: Self) {
        self.states += other.states;
        self.partial += other.partial;
    }
}

/// Compares what is explored on keys with what is explored of the states behind them; what differs.
fn compare_choices<Y: Whole, const N: usize>(system: &Y, kind: ReductionKind) -> Result<Compared, String> {
    let mut compared = Compared::default();
    let Ok(Some(sample)) = Sample::new(system, 200) else { return Ok(compared) };
    let Ok(packed) = Packed::<Y, N>::new(system, sample) else { return Ok(compared) };
    let (mut by_state, mut by_key) = (OnRules::new(system, kind, None), OnRules::new(system, kind, None));
    let mut for_states = OnRules::new(system, kind, None);
    let sieve = for_states.sieve().ok_or("there is no sieve")?;
    let mut sieve = SieveOnKeys::<Y::State, N>::new(sieve);
    let mut on_keys = OnKeys::<_, Y::State, N>::new(&mut by_key);
    let (mut all, mut made, mut expected) = (Batch::new(), Batch::new(), Batch::new());
    if packed.initial(&mut all).is_err() {
        return Ok(compared);
    }
    let (mut seen, mut waiting) = (HashSet::from([*all.state(0)]), VecDeque::from([*all.state(0)]));
    while let Some(key) = waiting.pop_front() {
        all.clear();
        made.clear();
        expected.clear();
        if packed.successors(&key, &mut all).is_err() {
            continue;
        }
        let by_algorithm = packed.with_state(&key, |state| by_state.expand(system, state, &mut expected));
        let on_key = on_keys.expand(&packed, &key, &mut made);
        let show = || packed.show(&key);
        if let Err(fault) = by_algorithm {
            // Rules may look at more than moves.
            if on_key.as_ref().err().is_none_or(|other| *other != fault) {
                return Err(format!("{on_key:?}, not {fault:?}, in {}", show()));
            }
            continue;
        }
        let vias = |batch: &Batch<[u64; N]>| (0..batch.len()).map(|i| batch.via(i).0).collect::<Vec<_>>();
        let expected_vias: Vec<u32> = (0..expected.len()).map(|i| expected.via(i).0).collect();
        if on_key.is_err() || vias(&made) != expected_vias {
            return Err(format!("{on_key:?} {:?}, not {expected_vias:?}, in {}", vias(&made), show()));
        }
        for i in 0..made.len() {
            if !packed.with_state(made.state(i), |state| state == expected.state(i)) {
                return Err(format!("successor {i} of {}", show()));
            }
        }
        let mut sifted = States::default();
        let what = sieve.successors(&packed, &key, 0, &mut sifted);
        let is_whole = expected.len() == all.len();
        if what != Ok(if is_whole { Sifted::Whole } else { Sifted::Partial }) {
            return Err(format!("{what:?} with {} of {} in {}", expected.len(), all.len(), show()));
        }
        let mut keys: Vec<[u64; N]> = (0..made.len()).map(|i| *made.state(i)).collect();
        keys.sort_unstable();
        sifted.keys.sort_unstable();
        if sifted.keys != keys {
            return Err(format!("a sieve leaves others of {}", show()));
        }
        compared.states += 1;
        compared.partial += usize::from(!is_whole);
        for i in 0..all.len() {
            if seen.len() < MOST && seen.insert(*all.state(i)) {
                waiting.push_back(*all.state(i));
            }
        }
    }
    // Answers are forgotten where it turns out that more is looked at than was known.
    let mut go_through = || {
        for key in &seen {
            let _ = sieve.successors(&packed, key, 0, &mut States::default());
        }
        sieve.work()
    };
    if go_through() != go_through() {
        return Err("what was chosen once is chosen anew".into());
    }
    Ok(compared)
}

/// The same for a model, with or without somebody in between.
fn compare_model(
    model: &dyn Model,
    source: RuleSource,
    kind: ReductionKind,
    is_forgetful: bool,
) -> Result<Compared, String> {
    fn with<S: WordVector + ?Sized, const N: usize>(
        model: &dyn Model,
        source: RuleSource,
        kind: ReductionKind,
        is_forgetful: bool,
    ) -> Result<Compared, String> {
        let Ok(system) = ModelSystem::<S>::new(model, source) else { return Ok(Compared::default()) };
        if is_forgetful {
            compare_choices::<_, N>(&Forgetful(system), kind)
        } else {
            compare_choices::<_, N>(&system, kind)
        }
    }
    match model.layout().n_words() {
        1 => with::<[u64; 1], 1>(model, source, kind, is_forgetful),
        2 => with::<[u64; 2], 2>(model, source, kind, is_forgetful),
        3 | 4 => with::<[u64; 4], 4>(model, source, kind, is_forgetful),
        // Values have numbers then.
        _ => with::<[u64], 4>(model, source, kind, is_forgetful),
    }
}

/// A system that does not tell of the last variable that a rule looks at.
struct Forgetful<'m, S: ?Sized>(ModelSystem<'m, S>);

impl<S: WordVector + ?Sized> System for Forgetful<'_, S> {
    type State = S;
    fn n_transitions(&self) -> usize {
        self.0.n_transitions()
    }
    fn transition_name(&self, t: TransitionId) -> String {
        self.0.transition_name(t)
    }
    fn initial(&self, out: &mut Batch<S>) -> Result<(), Fault> {
        self.0.initial(out)
    }
    fn fire(&self, state: &S, t: TransitionId, out: &mut Batch<S>) -> Result<bool, Fault> {
        self.0.fire(state, t, out)
    }
    fn values(&self, state: &S) -> Vec<(String, String)> {
        self.0.values(state)
    }
}

impl<S: WordVector + ?Sized> Rules for Forgetful<'_, S> {
    fn n_nodes(&self) -> usize {
        self.0.n_nodes()
    }
    fn require(&self, state: &S, t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        self.0.require(state, t, out)
    }
    fn tell(
        &self,
        state: &S,
        t: TransitionId,
        out: &mut Requirements,
        places: &mut Vec<Range<usize>>,
    ) -> Result<Option<Told>, Fault> {
        let told = self.0.tell(state, t, out, places);
        if let Some(last) = places.last().cloned() {
            places.retain(|place| *place != last);
        }
        told
    }
    fn tells(&self) -> bool {
        true
    }
}

impl<S: WordVector + ?Sized> Observed for Forgetful<'_, S> {
    fn questions(&self) -> Vec<Question> {
        self.0.questions()
    }
    fn check(&self, state: &S) -> Result<Option<String>, Fault> {
        self.0.check(state)
    }
    fn check_deadlock(&self, state: &S) -> Result<Option<String>, Fault> {
        self.0.check_deadlock(state)
    }
    fn is_may_progress(&self, state: &S) -> Result<bool, Fault> {
        self.0.is_may_progress(state)
    }
    fn is_must_progress(&self, state: &S) -> Result<bool, Fault> {
        self.0.is_must_progress(state)
    }
}

impl<S: WordVector + ?Sized> Symmetric for Forgetful<'_, S> {
    fn represent(&self, state: &mut S) -> Result<(), Fault> {
        self.0.represent(state)
    }
}

impl<S: WordVector + ?Sized> Composed for Forgetful<'_, S> {
    fn tracer(&self) -> Option<Box<dyn Tracer<S> + '_>> {
        self.0.tracer()
    }
}

/// The rules that a model has.
fn sources(model: &dyn Model) -> Vec<RuleSource> {
    let all = [RuleSource::None, RuleSource::Derived, RuleSource::Hand];
    let has = |source: &RuleSource| ModelSystem::<[u64]>::new(model, *source).is_ok();
    all.into_iter().filter(has).collect()
}

/// Models of the gallery that are not large, and one whose states have many words.
fn gallery() -> Vec<Box<dyn Model>> {
    let mut models = vec![stubborn_gallery::build("peterson", Some(16), None).expect("it makes sense")];
    assert!(models[0].layout().n_words() > 4);
    for entry in stubborn_gallery::entries() {
        for (variant, _) in entry.variants {
            let small = (*entry.sizes.start()).max(2).min(*entry.sizes.end());
            for size in [small, entry.default_size] {
                models.extend(entry.build(Some(size), Some(variant)).ok());
            }
        }
    }
    models
}

#[test]
fn what_is_explored_of_the_gallery_is_the_same_on_keys() {
    let mut all = Compared::default();
    for model in gallery() {
        for source in sources(&*model) {
            for kind in KINDS {
                let compared = compare_model(&*model, source, kind, false);
                all.add(
                    compared.unwrap_or_else(|wrong| panic!("{} {source:?} {kind:?}: {wrong}", model.name())),
                );
            }
        }
    }
    println!("{all:?}");
    assert!(all.states > 50_000 && all.partial * 5 > all.states, "{all:?}");
}

#[test]
fn what_is_explored_of_random_models_is_the_same_on_keys() {
    let mut all = Compared::default();
    for seed in seeds(500) {
        let model = Program::random(&mut Rng::new(seed));
        for source in sources(&model) {
            let kind = KINDS[seed as usize % KINDS.len()];
            match compare_model(&model, source, kind, false) {
                Ok(compared) => all.add(compared),
                Err(wrong) => {
                    fail("told", "what_is_explored_of_random_models_is_the_same_on_keys", seed, wrong)
                }
            }
        }
    }
    println!("{all:?}");
    assert!(all.states > 10_000 && all.partial * 20 > all.states, "{all:?}");
}

#[test]
fn a_variable_that_rules_look_at_and_do_not_tell_is_noticed() {
    let mut n_found = 0;
    for seed in 0..300 {
        let model = Program::random(&mut Rng::new(seed));
        let kind = KINDS[seed as usize % KINDS.len()];
        n_found += usize::from(compare_model(&model, RuleSource::Derived, kind, true).is_err());
    }
    assert!(n_found > 10, "found in {n_found} models");
}

/// Options by chance.
fn any_options(rng: &mut Rng, questions: Option<Vec<Question>>) -> Options {
    Options {
        questions,
        reduction: *rng.pick(&KINDS),
        search: *rng.pick(&[SearchKind::BreadthFirst, SearchKind::BreadthFirst, SearchKind::DepthFirst]),
        check: rng.chance(3, 4).then_some(CheckDepth::Sample),
        all_errors: rng.chance(1, 2),
        ..Options::default()
    }
}

#[test]
fn searches_with_rules_find_the_same_on_keys() {
    let mut n_packed = 0;
    for seed in seeds(600) {
        let mut rng = Rng::new(seed);
        let model = Program::random(&mut rng);
        let options = any_options(&mut rng, None);
        let source = *rng.pick(&sources(&model));
        match compare(&model, source, EngineKind::Packed, &options) {
            Ok(is_packed) => n_packed += usize::from(is_packed),
            Err(wrong) => fail("told", "searches_with_rules_find_the_same_on_keys", seed, wrong),
        }
    }
    assert!(n_packed > 300, "{n_packed}");
}

/// What is claimed, in one word each.
#[cfg(not(any(feature = "always-packed", feature = "always-interpreter")))]
fn verdicts(told: &str) -> Vec<String> {
    let is_verdict = |line: &&str| !line.starts_with(|c: char| c.is_ascii_digit());
    in_short(told).lines().filter(is_verdict).map(str::to_owned).collect()
}

/// What is told but the rows that it rests on, and what was looked at that nobody asked.
fn in_short(told: &str) -> String {
    let verdict = |line: &str| {
        ["Holds", "Violated", "Inconclusive"]
            .into_iter()
            .find(|word| line.contains(&format!(": {word}")))
            .map(str::to_owned)
    };
    let numbers = |line: &str| line.split(' ').take(4).collect::<Vec<_>>().join(" ");
    told.lines().map(|line| verdict(line).unwrap_or_else(|| numbers(line))).collect::<Vec<_>>().join("\n")
}

#[test]
fn searches_that_keep_nothing_but_states_find_the_same_by_one_thread_or_two() {
    let (mut n_packed, mut n_holds) = (0, 0);
    for seed in seeds(400) {
        let mut rng = Rng::new(seed);
        let model = Program::random(&mut rng);
        let questions = vec![Question::Safety, Question::Deadlock];
        let search = SearchKind::BreadthFirst;
        let options = Options { search, show_no_return: false, ..any_options(&mut rng, Some(questions)) };
        let source = *rng.pick(&sources(&model));
        let plain = Options { engine: EngineKind::Interpreter, ..options.clone() };
        let (expected, _) = told_of(&model, source, &plain);
        for threads in [1, 2] {
            let options = Options { engine: EngineKind::Packed, threads, ..options.clone() };
            let (told, is_packed) = told_of(&model, source, &options);
            n_packed += usize::from(is_packed);
            n_holds += usize::from(told.contains("Holds"));
            if in_short(&told) != in_short(&expected) {
                let what = format!("{threads} threads: {told}\nnot\n{expected}\n{options:?}");
                fail(
                    "told",
                    "searches_that_keep_nothing_but_states_find_the_same_by_one_thread_or_two",
                    seed,
                    what,
                );
            }
        }
    }
    println!("{n_packed} on keys, something holds in {n_holds}");
    assert!(n_packed > 400 && n_holds > 100, "{n_packed} {n_holds}");
}

/// Who wins is a matter of counts: with turns as short as these both sides win, and both come to their end.
// Builds with one engine have no race.
#[cfg(not(any(feature = "always-packed", feature = "always-interpreter")))]
#[test]
fn a_search_without_reduction_that_takes_the_place_of_one_by_rules_finds_the_same() {
    let (mut n_full, mut n_reduced, mut n_holds) = (0, 0, 0);
    for seed in seeds(300) {
        let mut rng = Rng::new(seed);
        let model = Program::random(&mut rng);
        let questions = vec![Question::Safety, Question::Deadlock];
        let (search, all_errors) = (SearchKind::BreadthFirst, true);
        let options = Options { search, show_no_return: false, ..any_options(&mut rng, Some(questions)) };
        let source = *rng.pick(&sources(&model));
        let plain = Options { engine: EngineKind::Interpreter, all_errors, ..options.clone() };
        let first = |told: &str| in_short(told).lines().next().map(str::to_owned);
        let reduced = first(&told_of(&model, source, &plain).0);
        let in_full = Options { reduction: ReductionKind::None, ..plain };
        let (expected, _) = told_of(&model, source, &in_full);
        for (most_work, first_turn) in [(1, 2), (100, 2), (1, 1 << 20), (100, 1 << 20)] {
            let race = RaceRules { most_work, first_turn, next_turn: 2, ..RaceRules::by_rules() };
            let threads = 1 + usize::from(rng.chance(1, 3));
            let options = Options { race: Some(race), threads, all_errors, ..options.clone() };
            let (told, is_packed) = told_of(&model, source, &options);
            let counts = first(&told);
            n_full += usize::from(is_packed && counts != reduced);
            n_reduced += usize::from(is_packed && counts != first(&expected));
            n_holds += usize::from(told.contains("Holds"));
            let is_one_of_both = counts == reduced || counts == first(&expected);
            if !is_one_of_both || verdicts(&told) != verdicts(&expected) {
                let what = format!("{told}\nnot\n{expected}\n{options:?}");
                fail(
                    "told",
                    "a_search_without_reduction_that_takes_the_place_of_one_by_rules_finds_the_same",
                    seed,
                    what,
                );
            }
        }
    }
    println!("{n_full} in full, {n_reduced} reduced, something holds in {n_holds}");
    assert!(n_full > 20 && n_reduced > 20 && n_holds > 300, "{n_full} {n_reduced} {n_holds}");
}
