//! Searches a model of the gallery for its safety: `cargo bench -p stubborn-bench --bench search_gallery -- NAME SIZE VARIANT ENGINE THREADS`.

use std::time::Instant;
use stubborn_explore::Unwatched;
use stubborn_model::{ModelSystem, Question, RuleSource};
use stubborn_verdict::{EngineKind, Options, analyse};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let word = |i: usize| args.get(i).map(String::as_str).filter(|word| *word != "-");
    let size = word(1).and_then(|size| size.parse().ok());
    let model = stubborn_gallery::build(word(0).unwrap_or("peterson"), size, word(2)).expect("a model");
    let system = ModelSystem::<[u64; 1]>::new(&*model, RuleSource::Hand).expect("states of one word");
    let engine = match word(3) {
        Some("interpreter") => EngineKind::Interpreter,
        Some("packed") => EngineKind::Packed,
        _ => EngineKind::Auto,
    };
    let threads = word(4).and_then(|n| n.parse().ok()).unwrap_or(1);
    let options = Options { engine, threads, questions: Some(vec![Question::Safety]), ..Options::default() };
    let started = Instant::now();
    let analysis = analyse(&system, &options, &mut Unwatched).expect("no fault");
    let stats = analysis.phases.last().expect("a search").stats;
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{} words {:?} states {} edges {} bytes/state {:.1} time {seconds:.2} ns/edge {:.1}",
        analysis.answers[0].verdict.word(),
        analysis.phases.last().and_then(|phase| phase.key_words),
        stats.states,
        stats.edges,
        stats.peak_bytes as f64 / stats.states as f64,
        seconds * 1e9 / stats.edges as f64
    );
}
