//! What a model as code is told by one engine and by the other.

use stubborn_explore::Unwatched;
use stubborn_model::{Model, ModelSystem, RuleSource};
use stubborn_system::WordVector;
use stubborn_verdict::{EngineKind, Kind, Options, analyse};

/// What must not depend on the engine, and whether keys were used in the first search.
fn told<S: WordVector + Kind + ?Sized>(
    model: &dyn Model,
    source: RuleSource,
    options: &Options,
) -> (String, bool) {
    let system = ModelSystem::<S>::new(model, source).expect("it is right");
    match analyse(&system, options, &mut Unwatched) {
        Ok(analysis) => {
            let mut told = String::new();
            for phase in &analysis.phases {
                let stats = &phase.stats;
                told += &format!(
                    "{} {} {} {} {} {} {:?} {:?} {:?}\n",
                    stats.states,
                    stats.edges,
                    stats.terminal_states,
                    stats.depth,
                    stats.queue,
                    stats.sightings,
                    phase.end,
                    phase.store,
                    phase.always_may_terminate
                );
            }
            for answer in &analysis.answers {
                told += &format!("{}: {:?}, {}\n", answer.text, answer.verdict, answer.phase);
            }
            (told, analysis.phases[0].key_words.is_some())
        }
        Err(broken) => (format!("{:?} {:?}", broken.fault, broken.trace), false),
    }
}

pub(crate) fn told_of(model: &dyn Model, source: RuleSource, options: &Options) -> (String, bool) {
    match model.layout().n_words() {
        1 => told::<[u64; 1]>(model, source, options),
        2 => told::<[u64; 2]>(model, source, options),
        3 | 4 => told::<[u64; 4]>(model, source, options),
        _ => told::<[u64]>(model, source, options),
    }
}

/// What differs from the interpreter, if anything; and whether keys were used.
pub(crate) fn compare(
    model: &dyn Model,
    source: RuleSource,
    engine: EngineKind,
    options: &Options,
) -> Result<bool, String> {
    let (expected, _) =
        told_of(model, source, &Options { engine: EngineKind::Interpreter, ..options.clone() });
    let (told, is_packed) = told_of(model, source, &Options { engine, ..options.clone() });
    if told == expected { Ok(is_packed) } else { Err(format!("{told}\nnot\n{expected}\n{options:?}")) }
}
