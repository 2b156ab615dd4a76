//! Searches a Promela model with one engine: `cargo bench -p stubborn-bench --bench search_promela -- MODEL.pml ENGINE REDUCTION OPTIMISED THREADS STORE RACE`.

#[path = "../../promela/tests/all/support/files.rs"]
#[allow(dead_code, reason = "others use the rest")]
mod files;

use std::path::Path;
use std::time::Instant;
use stubborn_explore::Unwatched;
use stubborn_network::Optimisations;
use stubborn_reduce::{NetworkReduction, Reduction, ReductionKind};
use stubborn_system::Question;
use stubborn_verdict::{AnySystem, EngineKind, Options, StoreKind, analyse_with};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let word = |i: usize| args.get(i).map_or("", String::as_str);
    let mut network = files::compile_file(Path::new(&args[0])).network.expect("no errors");
    if word(3) == "optimised" {
        network = network.optimised(Optimisations::ALL, &[]).network;
    }
    let engine = match word(1) {
        "interpreter" => EngineKind::Interpreter,
        "packed" => EngineKind::Packed,
        _ => EngineKind::Auto,
    };
    let reduction = if word(2) == "smaller" { ReductionKind::Smaller } else { ReductionKind::None };
    let make = |kind: ReductionKind| {
        let make = || {
            Box::new(NetworkReduction::new(&network, &[], kind)) as Box<dyn Reduction<AnySystem<'_, [u8]>>>
        };
        (kind != ReductionKind::None).then(make)
    };
    let questions = Some(vec![Question::Safety, Question::Deadlock]);
    let show_no_return = false;
    let threads = word(4).parse().unwrap_or(1);
    let options = Options {
        questions,
        reduction,
        engine,
        threads,
        store: if word(5) == "quotient" { StoreKind::Quotient } else { StoreKind::Exact },
        all_errors: true,
        race: (word(6) == "race").then(Default::default),
        show_no_return,
        ..Options::default()
    };
    let started = Instant::now();
    let analysis = analyse_with(&network, &make, &options, &mut Unwatched).expect("no fault");
    let seconds = started.elapsed().as_secs_f64();
    for phase in &analysis.phases {
        let stats = phase.stats;
        println!(
            "{:?} threads {} repairs {} states {} edges {} terminal {} depth {} choosing {} bytes/state {:.1} time {seconds:.3} ns/edge {:.1}",
            phase.end,
            phase.threads,
            stats.repairs,
            stats.states,
            stats.edges,
            stats.terminal_states,
            stats.depth,
            stats.choosing,
            stats.peak_bytes as f64 / stats.states as f64,
            1e9 * seconds / stats.edges as f64
        );
    }
}
