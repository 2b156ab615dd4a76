//! `replay`: run a counterexample from a file again.

use crate::args::ReplayArgs;
use crate::entry::print;
use crate::run::{Failure, SystemJob};
use crate::runs::Runs;
use crate::target::Target;
use stubborn_report::{RecordedWitness, Report, chart_text, clean, witnesses_from_json};
use stubborn_system::{Question, Whole};
use stubborn_verdict::{Kind, Rejection, Replayed, Trace, replay as replay_witness, replay_run};

/// The largest file that is read.
const MAX_BYTES: u64 = 256 << 20;

/// How many states may be visited to confirm that there is no return.
const REPLAY_STATES: usize = 1_000_000;

/// Replays the witnesses in a file. Exit code 1 if they are what they say, 3 if that cannot be told.
pub(crate) fn replay(target: &Target, args: &ReplayArgs) -> Result<u8, Failure> {
    let file = args.witness.display();
    let unreadable = |error: std::io::Error| Failure::Usage(format!("{file}: {error}"));
    let about = std::fs::metadata(&args.witness).map_err(unreadable)?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err(Failure::Usage(format!("{file}: not a file of at most {MAX_BYTES} bytes")));
    }
    let text = std::fs::read_to_string(&args.witness).map_err(unreadable)?;
    let witnesses = witnesses_from_json(&text).map_err(|e| Failure::Usage(format!("{file}: {e}")))?;
    let mut code = 0;
    for recorded in witnesses {
        if !recorded.model.is_empty() && recorded.model != target.name() {
            return Err(Failure::Usage(format!(
                "{file}: a counterexample of `{}`, but this is `{}`",
                recorded.model,
                target.name()
            )));
        }
        let shown = Replay { recorded, verbose: args.verbose, chart: args.chart };
        let result = match &shown.recorded.question {
            Question::Linear { name } => shown.of_runs(target, name)?,
            _ => target.with(shown)?,
        };
        match result {
            Ok((text, this)) => {
                print(text);
                code = Report::worse(code, this);
            }
            Err(rejection) => {
                return Err(Failure::Usage(format!("{file}: not a counterexample: {rejection}")));
            }
        }
    }
    Ok(code)
}

struct Replay {
    recorded: RecordedWitness,
    verbose: bool,
    chart: bool,
}

impl SystemJob for Replay {
    type Output = Result<(String, u8), Rejection>;

    fn run<Y: Whole<State: Kind>>(self, system: &Y) -> Self::Output {
        let RecordedWitness { question, witness, .. } = &self.recorded;
        let Replayed { states, message, region } = replay_witness(system, question, witness, REPLAY_STATES)?;
        let trace = Trace::new(system, &states, witness);
        let mut text = self.steps(&trace);
        if self.chart {
            text += &chart_text(&trace);
        }
        if region.is_some_and(|region| !region.complete) {
            text += &format!(
                "replayed, but not confirmed: {REPLAY_STATES} states were visited without a return, and there are more\n"
            );
            return Ok((text, 3));
        }
        text += &format!("replayed: violates {}: {}\n", question.word(), clean(&message));
        Ok((text, 1))
    }
}

impl Replay {
    /// A counterexample to a property of runs, which the model must have.
    fn of_runs(&self, target: &Target, name: &str) -> Result<Result<(String, u8), Rejection>, Failure> {
        let runs = match target {
            Target::Promela(_, loaded) => Runs::named(&loaded.network, &loaded.formulas, name)?,
            Target::Model(_) => None,
        };
        let (Target::Promela(_, loaded), Some(runs)) = (target, runs) else {
            return Err(Failure::Usage(format!(
                "the model has no property `{}`: check it again instead",
                clean(name)
            )));
        };
        let property = runs.bound(&loaded.network, &loaded.network);
        Ok(replay_run(&loaded.network, &property, &self.recorded.witness, REPLAY_STATES).map(|replayed| {
            let trace = Trace::new(&loaded.network, &replayed.states, &self.recorded.witness);
            let chart = if self.chart { chart_text(&trace) } else { String::new() };
            let end = format!("replayed: violates {}: {}\n", clean(name), clean(&replayed.message));
            (self.steps(&trace) + &chart + &end, 1)
        }))
    }

    fn steps(&self, trace: &Trace) -> String {
        let mut out = format!("   0  {}\n", clean(&trace.initial));
        for (i, step) in trace.steps.iter().enumerate() {
            let state = if self.verbose { clean(step.state_text()).into_owned() } else { String::new() };
            out += format!("{:>4}  {}  {state}", i + 1, clean(&step.text())).trim_end();
            out.push('\n');
        }
        out
    }
}
