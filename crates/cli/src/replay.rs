//! `replay`: run a counterexample from a file again.

use crate::args::ReplayArgs;
use crate::entry::print;
use crate::run::{Failure, SystemJob, with_system};
use stubborn_model::{Model, ModelSystem, RuleSource, WordVector};
use stubborn_report::{clean, witness_from_json};
use stubborn_system::{Observed, Question};
use stubborn_verdict::{Rejection, Trace, Witness, replay as replay_witness};

/// The largest file that is read.
const MAX_BYTES: u64 = 256 << 20;

/// How many states may be visited to confirm that there is no return.
const REPLAY_STATES: usize = 1_000_000;

/// Replays the witness in a file. Exit code 1 if it is one.
pub(crate) fn replay(model: &dyn Model, args: &ReplayArgs) -> Result<u8, Failure> {
    let file = args.witness.display();
    let unreadable = |error: std::io::Error| Failure::Usage(format!("{file}: {error}"));
    let size = std::fs::metadata(&args.witness).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(Failure::Usage(format!("{file}: larger than {MAX_BYTES} bytes")));
    }
    let text = std::fs::read_to_string(&args.witness).map_err(unreadable)?;
    let (word, witness) =
        witness_from_json(&text).map_err(|error| Failure::Usage(format!("{file}: {error}")))?;
    let job = Replay { word, witness, verbose: args.verbose };
    match with_system(model, RuleSource::None, job)? {
        Ok(text) => {
            print(text);
            Ok(1)
        }
        Err(rejection) => Err(Failure::Usage(format!("{file}: not a counterexample: {rejection}"))),
    }
}

struct Replay {
    word: String,
    witness: Witness,
    verbose: bool,
}

impl SystemJob for Replay {
    type Output = Result<String, Rejection>;

    fn run<S: WordVector + ?Sized>(self, system: &ModelSystem<'_, S>) -> Self::Output {
        // The question's parameters are the model's own; without its own, there is only one reading.
        let strict = [Question::Deadlock, Question::MayTerminate];
        let questions = system.questions().into_iter().chain(strict);
        let mut last = Rejection::NoViolation;
        for question in questions.filter(|q| q.word() == self.word) {
            match replay_witness(system, &question, &self.witness, REPLAY_STATES) {
                Ok(replayed) => {
                    let trace = Trace::new(system, &replayed.states, &self.witness);
                    return Ok(self.text(&question, &replayed.message, &trace));
                }
                Err(rejection) => last = rejection,
            }
        }
        Err(last)
    }
}

impl Replay {
    fn text(&self, question: &Question, message: &str, trace: &Trace) -> String {
        let mut out = format!("   0  {}\n", clean(&trace.initial));
        for (i, step) in trace.steps.iter().enumerate() {
            let state = if self.verbose { clean(&step.state).into_owned() } else { String::new() };
            out += format!("{:>4}  {}  {state}", i + 1, clean(&step.name)).trim_end();
            out.push('\n');
        }
        out + &format!("replayed: violates {}: {}\n", question.word(), clean(message))
    }
}
