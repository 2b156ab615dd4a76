//! From the system that was searched to the one that it stands for.
//!
//! A model may be made smaller before it is searched, by leaving out what nobody can notice. What people get
//! to see are runs of the model as written: each counterexample is lifted, as a path of representatives is,
//! and replayed there. [`Symmetric::represent`] of the original must map bisimilar states of both systems to
//! the same state.

use crate::analysis::{GO_ON_STEPS, confirmed};
use crate::lift::lift;
use crate::replay::{Rejection, go_on, run};
use crate::{Analysis, Contradiction, Options, Verdict, Violated, Witness};
use stubborn_system::{Fault, Observed, Question, Symmetric, System, TransitionId};
use thiserror::Error;

/// A cycle of the system that was searched is not one of the original, at least not for many laps: what was
/// left out counts them. The question must be put to the original.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a cycle does not close in the original")]
pub struct OpenCycle;

/// Replaces all counterexamples of `analysis`, which are runs of `searched`, by runs of `original`.
pub fn on_original<Z, Y>(
    searched: &Z,
    original: &Y,
    analysis: &mut Analysis,
    options: &Options,
) -> Result<(), OpenCycle>
where
    Z: System + ?Sized,
    Y: Observed + Symmetric + System<State = Z::State> + ?Sized,
{
    for answer in &mut analysis.answers {
        if let Verdict::Violated(violated) = &answer.verdict {
            let moved = move_one(searched, original, &answer.question, violated, options);
            answer.verdict = match moved {
                Ok(moved) => Verdict::Violated(moved),
                Err(_) if matches!(answer.question, Question::MustProgress { .. }) => return Err(OpenCycle),
                Err(rejection) => Verdict::Contradiction(Contradiction {
                    what: format!(
                        "a counterexample to \"{}\" is no run of the model as written: {rejection}",
                        answer.question
                    ),
                }),
            };
        }
    }
    for phase in &mut analysis.phases {
        let moved = phase.cannot_terminate.take().and_then(|violated| {
            move_one(searched, original, &Question::MayTerminate, &violated, options).ok()
        });
        phase.cannot_terminate = moved.map(Box::new);
    }
    Ok(())
}

fn move_one<Z, Y>(
    searched: &Z,
    original: &Y,
    question: &Question,
    violated: &Violated,
    options: &Options,
) -> Result<Violated, Rejection>
where
    Z: System + ?Sized,
    Y: Observed + Symmetric + System<State = Z::State> + ?Sized,
{
    let trace = violated.trace();
    let mut witness = Witness {
        steps: trace.steps.iter().map(|step| TransitionId(step.transition)).collect(),
        no_return: trace.no_return,
        cycle_start: trace.cycle_start,
    };
    let is_branching = matches!(question, Question::MayProgress { .. } | Question::MayTerminate);
    if let (true, Some(end)) = (is_branching, witness.no_return) {
        // What was shown beyond the point of no return need not be a cycle of the original.
        witness.steps.truncate(end);
        witness.cycle_start = None;
    }
    let mut lifted = lifted(searched, original, &witness)?;
    if is_branching {
        go_on(original, &mut lifted, GO_ON_STEPS)?;
    }
    confirmed(original, question, &lifted, options)
}

fn lifted<Z, Y>(searched: &Z, original: &Y, witness: &Witness) -> Result<Witness, Rejection>
where
    Z: System + ?Sized,
    Y: Observed + Symmetric + System<State = Z::State> + ?Sized,
{
    let mut states = run(searched, &witness.steps)?;
    (0..states.len()).try_for_each(|i| original.represent(states.state_mut(i)))?;
    lift(original, &states, witness).map_err(|fault: Fault| Rejection::Fault(fault))
}
