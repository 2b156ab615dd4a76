//! `--trail`: counterexamples for SPIN, and runs from SPIN.

use crate::entry::say;
use crate::graph::write;
use crate::run::Failure;
use crate::subject::Subject;
use crate::target::Target;
use std::path::{Path, PathBuf};
use stubborn_network::Network;
use stubborn_promela::trail::{Followed, follow_trail, read_trail, write_trail};
use stubborn_report::{Report, clean, witnesses_from_json};
use stubborn_system::{Batch, Question, System, TransitionId};
use stubborn_verdict::{Trace, Verdict};

/// Where SPIN looks for the trail of a model.
pub(crate) fn default_file(model: &Path) -> PathBuf {
    let mut name = model.as_os_str().to_owned();
    name.push(".trail");
    PathBuf::from(name)
}

/// Writes the first counterexample of a report.
pub(crate) fn save(file: &Path, model: &Path, subject: &Subject<'_>, report: &Report) -> Result<(), Failure> {
    let violated = report.analysis.answers.iter().find_map(|answer| match &answer.verdict {
        Verdict::Violated(violated) => Some((&answer.question, violated.trace())),
        _ => None,
    });
    let Some((question, trace)) = violated else {
        say("no trail is written: there is no counterexample");
        return Ok(());
    };
    let run: Vec<TransitionId> = trace.steps.iter().map(|step| TransitionId(step.transition)).collect();
    // An assertion fails in a step, an invariant in a state.
    let with_error = *question == Question::Safety && !ends_wrong(subject, trace);
    let text = write_trail(subject.network(), &run, trace.cycle_start, with_error);
    let text = text.ok_or_else(|| Failure::Usage("the counterexample is no run of the model".into()))?;
    write(file, &text)?;
    let name = file.display().to_string();
    let which = if file == default_file(model) { String::new() } else { format!("-k {name} ") };
    let how = format!("spin -t -p {which}{}", model.display());
    let line = format!("the counterexample to {} is in {name}; replay it with: {how}", question.word());
    say(&clean(&line));
    Ok(())
}

/// Whether the last state of a run is wrong by itself.
fn ends_wrong(subject: &Subject<'_>, trace: &Trace) -> bool {
    let mut at = Batch::new();
    if subject.initial(&mut at).is_err() {
        return false;
    }
    for step in &trace.steps {
        let mut next = Batch::new();
        if !subject.fire(at.state(0), TransitionId(step.transition), &mut next).unwrap_or(false) {
            return false;
        }
        at = next;
    }
    subject.is_wrong(at.state(0))
}

/// The largest file that is read.
const MAX_BYTES: u64 = 256 << 20;

/// A run from a file.
pub(crate) struct Given {
    pub(crate) run: Vec<TransitionId>,
    /// What is wrong if the file says more than the run.
    pub(crate) left_over: Option<String>,
}

/// Reads a run of this model: a trail of SPIN, or the first counterexample of a report in JSON.
pub(crate) fn given(target: &Target, file: &Path) -> Result<Given, Failure> {
    let name = file.display();
    let unreadable = |error: std::io::Error| Failure::Usage(format!("{name}: {error}"));
    let about = std::fs::metadata(file).map_err(unreadable)?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err(Failure::Usage(format!("{name}: not a file of at most {MAX_BYTES} bytes")));
    }
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    if text.trim_start().starts_with('{') {
        let witnesses = witnesses_from_json(&text).map_err(|e| Failure::Usage(format!("{name}: {e}")))?;
        let Some(recorded) = witnesses.into_iter().next() else {
            return Err(Failure::Usage(format!("{name}: there is no counterexample in it")));
        };
        let (theirs, ours) = (recorded.model, target.name());
        if !theirs.is_empty() && theirs != ours {
            let message = format!("{name}: a counterexample of `{theirs}`, but this is `{ours}`");
            return Err(Failure::Usage(message));
        }
        return Ok(Given { run: recorded.witness.steps, left_over: None });
    }
    match target {
        Target::Promela(_, loaded) => {
            from_spin(&loaded.network, &text).map_err(|e| Failure::Usage(format!("{name}: {e}")))
        }
        Target::Model(_) => Err(Failure::Usage(format!(
            "{name}: this is no report that --json wrote; trails of SPIN are for Promela models"
        ))),
    }
}

fn from_spin(network: &Network, text: &str) -> Result<Given, String> {
    let trail = read_trail(text)?;
    let Followed { run, n_steps } = follow_trail(network, &trail)?;
    let left_over = trail.steps.get(n_steps).map(|step| {
        format!(
            "line {} of the trail cannot be followed: process {} cannot make statement {} here; \
             is it the trail of this model, made with the same -D?",
            step.line, step.pid, step.statement
        )
    });
    Ok(Given { run, left_over })
}
