//! Processes that are started again and again, and buried at once where nothing depends on numbers.
//!
//! Small random programs of one shape: workers that start workers, with channels for their answers. What can be
//! reached in the end, up to processes that have ended and to numbers, must be the same with every reduction, and so must
//! be the verdicts. Some programs look at numbers; there burying at once would show.

use std::collections::{BTreeSet, HashSet};
use stubborn_explore::Unwatched;
use stubborn_network::{Network, Scope};
use stubborn_oracle::Rng;
use stubborn_oracle::campaign::{fail, seeds};
use stubborn_oracle::promela::compiled;
use stubborn_reduce::{NetworkReduction, Reduction};
use stubborn_system::{Batch, Question, System};
use stubborn_verdict::{AnySystem, EngineKind, Options, ReductionKind, analyse_with};

const LIMIT: usize = 4_000;

fn program(rng: &mut Rng) -> String {
    let body = |rng: &mut Rng, is_worker: bool| {
        let mut lines = Vec::new();
        for _ in 0..rng.between(1, 3) {
            lines.push(match rng.below(11) {
                0 => "g = (g + 1) % 3".to_owned(),
                1 => format!("h = {}", rng.below(3)),
                2 => format!("(g != {})", rng.below(3)),
                3 => format!("assert(g + h != {})", rng.between(2, 4)),
                4 => "q!g".into(),
                5 => "q?x".into(),
                6 => "x = h".into(),
                7 if rng.chance(1, 3) => format!("(_nr_pr < {})", rng.between(3, 5)),
                8 if rng.chance(1, 4) => "h = _pid % 3".into(),
                9 => "if :: nfull(q) -> g = x % 3 :: empty(q) -> h = 1 :: else fi".into(),
                _ => "skip".into(),
            });
        }
        if is_worker && rng.chance(3, 4) {
            let wait = *rng.pick(&["mine?x", "mine?x", "if :: mine?x :: skip fi", "skip"]);
            let run = *rng.pick(&["run worker(d - 1, mine)", "run worker(d - 1, up)", "run worker(0, mine)"]);
            lines.push(format!("if :: d > 0 -> {run}; {wait} :: else -> up!g fi"));
        } else if is_worker {
            lines.push("up!h".into());
        }
        lines.join(";\n    ")
    };
    let worker = body(rng, true);
    let before = body(rng, false);
    let after = body(rng, false);
    let times = rng.between(1, 3);
    let loops = match rng.below(3) {
        0 => format!("do :: n < {times} -> n++; run worker({}, top) :: else -> break od", rng.below(2)),
        1 => format!("do :: run worker({}, top); top?x od", rng.below(2)),
        _ => format!("run worker({}, top); top?x", rng.between(1, 2)),
    };
    let capacity = rng.below(2);
    format!(
        "byte g, h;\nchan q = [1] of {{ byte }};\n\
         proctype worker(byte d; chan up) {{\n    chan mine = [{capacity}] of {{ byte }};\n    byte x;\n    {worker}\n}}\n\
         init {{\n    chan top = [1] of {{ byte }};\n    byte n, x;\n    {before};\n    {loops};\n    {after}\n}}\n"
    )
}

/// A terminal state without what burying changes: numbers, and processes that have ended.
fn likeness(network: &Network, state: &[u8]) -> String {
    let view = network.view(state);
    let mut processes: Vec<String> = Vec::new();
    for pid in 0..view.n_processes() {
        let kind = &network.processes[view.kind(pid)];
        let location = &kind.locations[view.location(pid).index()];
        if location.steps.iter().any(|step| step.text == "-end-") {
            continue;
        }
        let plain = kind.locals.iter().filter(|v| !v.is_channel);
        let values = plain.map(|v| view.load(Scope::Local, pid, v.offset, v.width));
        processes.push(format!(
            "{} at {:?}: {:?}",
            kind.name,
            view.location(pid),
            values.collect::<Vec<_>>()
        ));
    }
    processes.sort();
    let globals = network.globals.iter().filter(|v| !v.is_channel);
    let globals = globals.map(|v| view.load(Scope::Global, 0, v.offset, v.width));
    format!("{:?} {processes:?}", globals.collect::<Vec<_>>())
}

/// The terminal states and how many states there are; `None` if they are too many.
fn ends(
    network: &Network,
    mut expand: impl FnMut(&[u8], &mut Batch<[u8]>),
) -> Option<(BTreeSet<String>, usize)> {
    let mut batch = Batch::new();
    network.initial(&mut batch).expect("a good model");
    let mut work = vec![batch.state(0).to_vec()];
    let mut seen: HashSet<Vec<u8>> = work.iter().cloned().collect();
    let mut ends = BTreeSet::new();
    while let Some(state) = work.pop() {
        batch.clear();
        expand(&state, &mut batch);
        if batch.is_empty() {
            ends.insert(likeness(network, &state));
        }
        for i in 0..batch.len() {
            if seen.insert(batch.state(i).to_vec()) {
                work.push(batch.state(i).to_vec());
            }
        }
        if seen.len() > LIMIT {
            return None;
        }
    }
    Some((ends, seen.len()))
}

/// The verdicts, in words.
fn verdicts(network: &Network, kind: ReductionKind) -> Vec<&'static str> {
    let make = |kind: ReductionKind| {
        let make =
            || Box::new(NetworkReduction::new(network, &[], kind)) as Box<dyn Reduction<AnySystem<'_, [u8]>>>;
        (kind != ReductionKind::None).then(make)
    };
    let questions = Some(vec![Question::Safety, Question::Deadlock, Question::MayTerminate]);
    let engine = EngineKind::Packed;
    let options = Options { questions, reduction: kind, engine, all_errors: true, ..Options::default() };
    let analysis = analyse_with(network, &make, &options, &mut Unwatched).expect("no fault");
    analysis.answers.iter().map(|answer| answer.verdict.word()).collect()
}

/// States in full and reduced; `None` if there are too many.
fn judge(text: &str) -> Result<Option<(usize, usize)>, String> {
    let (network, _) = compiled(text, &[])?;
    let all = |state: &[u8], out: &mut Batch<[u8]>| network.successors(state, out).expect("no fault");
    let Some((wanted, n_all)) = ends(&network, all) else { return Ok(None) };
    let mut least = n_all;
    let said = verdicts(&network, ReductionKind::None);
    for kind in ReductionKind::ALL.into_iter().filter(|&k| k != ReductionKind::UpSets) {
        let words = verdicts(&network, kind);
        // In full there may be too many processes that have ended.
        if words.iter().zip(&said).any(|(word, said)| word != said && *said != "inconclusive") {
            return Err(format!("{}: {words:?} instead of {said:?}", kind.word()));
        }
        let mut reduction = NetworkReduction::new(&network, &[], kind);
        let reduced = |state: &[u8], out: &mut Batch<[u8]>| {
            Reduction::<Network>::expand(&mut reduction, &network, state, out).expect("no fault");
        };
        let Some((found, n)) = ends(&network, reduced) else {
            return Err(format!("{}: more states than in full", kind.word()));
        };
        if found != wanted {
            return Err(format!("{}: terminal states {found:#?} instead of {wanted:#?}", kind.word()));
        }
        least = least.min(n);
    }
    Ok(Some((n_all, least)))
}

#[test]
fn what_is_buried_at_once_is_not_missed() {
    let (mut n_compared, mut n_smaller) = (0, 0);
    for seed in seeds(60) {
        let text = program(&mut Rng::new(seed));
        match judge(&text) {
            Ok(Some((all, least))) => {
                n_compared += 1;
                n_smaller += usize::from(least * 2 < all);
            }
            Ok(None) => {}
            Err(what) => fail(
                "promela_burial",
                "what_is_buried_at_once_is_not_missed",
                seed,
                format!("{what}\n{text}"),
            ),
        }
    }
    println!("{n_compared} compared, {n_smaller} less than half");
    assert!(n_compared > 40 && n_smaller > 2, "{n_compared} {n_smaller}");
}
