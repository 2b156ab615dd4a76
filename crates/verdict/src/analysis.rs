//! The plan: which searches answer which questions.
//!
//! First the search that the user asked for. What it leaves open (the model turned out not to be always
//! may-terminating, or the question is one that the reduction does not preserve) goes to a search without
//! reduction; what symmetry cannot answer goes to one without symmetry. So every question gets an answer
//! unless a limit is reached, and the answer says what it rests on.

use crate::engine::Search;
use crate::lift::lift;
use crate::phase::{self, Finding, PhaseReport, Searched};
use crate::race::Race;
use crate::replay::{Rejection, Replayed, Witness, go_on, replay, run};
use crate::representatives::SymmetricSearch;
use crate::{Contradiction, Inconclusive, Options, ReductionKind, Trace, Verdict, Violated};
use stubborn_explore::{End, Stats, Watch};
use stubborn_reduce::{Full, OnRules, Quotient, Reduction};
use stubborn_system::{Fault, Observed, Question, Rules, TransitionId, Whole};

/// The answers to all questions, and the searches that they came from.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// One answer per question, in the order in which they were asked.
    pub answers: Vec<Answer>,
    /// The searches, in order.
    pub phases: Vec<PhaseReport>,
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The question in words.
    pub text: String,
    /// What is claimed.
    pub verdict: Verdict,
    /// Which search it came from: a place in [`Analysis::phases`].
    pub phase: usize,
}

/// The model broke.
#[derive(Clone, Debug)]
pub struct Broken {
    /// How.
    pub fault: Fault,
    /// A run to the state in which it shows, if there is one.
    pub trace: Option<Trace>,
    /// How far the search was.
    pub stats: Stats,
}

/// Steps that are shown from a point of no return on, at most.
pub(crate) const GO_ON_STEPS: usize = 2_000;

/// States beyond a point of no return that are visited for a remark, at most: nothing rests on it.
const GLIMPSE: usize = 1_000;

/// Makes the reduction of a kind for a system that knows better than its rules say; `None` if it does not.
pub(crate) type Make<'m, Y> = dyn Fn(ReductionKind) -> Option<Box<dyn Reduction<Y> + 'm>> + 'm;

/// Answers the questions, with reductions of the system's own.
pub(crate) fn analyse<Y: Whole + ?Sized>(
    system: &Y,
    own: &Make<'_, Y>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Analysis, Box<Broken>> {
    let make = own;
    let questions = distinct(options.questions.clone().unwrap_or_else(|| system.questions()));
    let own = system.questions();
    let mut verdicts: Vec<Option<(Verdict, usize)>> = vec![None; questions.len()];
    let mut phases: Vec<PhaseReport> = Vec::new();
    for plan in plans(options) {
        let open: Vec<usize> = (0..questions.len())
            .filter(|&i| verdicts[i].is_none() && plan.can_answer(&questions[i], &own))
            .collect();
        if open.is_empty() {
            continue;
        }
        let asked: Vec<Question> = open.iter().map(|&i| questions[i].clone()).collect();
        let Searched { mut report, findings, cannot_terminate } = plan
            .search(system, make, &asked, options, watch)
            .map_err(|broken| explain(system, plan, *broken))?;
        let has_ended = report.end == End::Complete;
        for (&i, finding) in open.iter().zip(findings) {
            let verdict = judge(system, plan, &questions[i], finding, options)
                .map_err(|fault| Box::new(Broken { fault, trace: None, stats: report.stats }))?;
            verdicts[i] = verdict.map(|verdict| (verdict, phases.len()));
        }
        report.cannot_terminate = cannot_terminate
            .filter(|_| options.show_no_return)
            .and_then(|witness| {
                let options =
                    Options { replay_states: options.replay_states.min(GLIMPSE), ..options.clone() };
                confirm(system, plan, &Question::MayTerminate, witness, &options).ok()
            })
            .map(Box::new);
        phases.push(report);
        if !has_ended {
            break;
        }
    }
    let last = phases.len().saturating_sub(1);
    let answers = questions.into_iter().zip(verdicts).map(|(question, verdict)| {
        let (verdict, phase) = verdict.unwrap_or_else(|| (left_open(phases.last()), last));
        Answer { text: in_words(system, &question), question, verdict, phase }
    });
    Ok(Analysis { answers: answers.collect(), phases })
}

/// The question, with the names of its transitions.
fn in_words<Y: Rules + ?Sized>(system: &Y, question: &Question) -> String {
    let name = |t: &TransitionId| format!("`{}`", system.transition_name(*t));
    match question {
        Question::Fair { often, rarely } if rarely.is_empty() => {
            format!("no run fires {} for ever", name(often))
        }
        Question::Fair { often, rarely } => format!(
            "no run fires {} for ever but {} only finitely often",
            name(often),
            rarely.iter().map(name).collect::<Vec<_>>().join(", ")
        ),
        other => other.to_string(),
    }
}

/// The verdict on a question that no search got to.
fn left_open(last: Option<&PhaseReport>) -> Verdict {
    Verdict::Inconclusive(match last.map(|phase| &phase.end) {
        Some(End::Stopped(stop)) => Inconclusive::Stopped(stop.clone()),
        Some(End::Sighted) => Inconclusive::StoppedAtOther,
        _ => Inconclusive::NoMethod,
    })
}

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    reduction: ReductionKind,
    symmetry: bool,
}

/// The plans to try, in order.
fn plans(options: &Options) -> Vec<Plan> {
    let mut plans = vec![Plan { reduction: options.reduction, symmetry: options.symmetry }];
    for plan in [
        Plan { reduction: ReductionKind::None, symmetry: options.symmetry },
        Plan { reduction: ReductionKind::None, symmetry: false },
    ] {
        if !plans.contains(&plan) {
            plans.push(plan);
        }
    }
    plans
}

impl Plan {
    /// `own` are the questions that the system was made for.
    fn can_answer(self, question: &Question, own: &[Question]) -> bool {
        match question {
            // The rules speak of the check only if the system knows that it will be asked.
            Question::Safety => self.reduction == ReductionKind::None || own.contains(question),
            // It names transitions, whose numbers mean nothing among representatives.
            Question::Fair { .. } => !self.symmetry,
            // Nothing less than all cycles will do.
            Question::MustProgress { .. } => self.reduction == ReductionKind::None,
            _ => true,
        }
    }

    fn search<Y: Whole + ?Sized>(
        self,
        system: &Y,
        make: &Make<'_, Y>,
        questions: &[Question],
        options: &Options,
        watch: &mut dyn Watch,
    ) -> Result<Searched, Box<phase::Broken>> {
        if self.symmetry {
            let reduction = &|| self.reduction(system, options);
            return SymmetricSearch { system, reduction, questions, options, watch }.run();
        }
        let reduction = make(self.reduction).unwrap_or_else(|| self.reduction(system, options));
        Search { system, reduction, questions, options, watch, race: Race::default() }.run()
    }

    fn reduction<'y, Y: Whole + 'y + ?Sized>(
        self,
        system: &'y Y,
        options: &Options,
    ) -> Box<dyn Reduction<Y> + 'y> {
        match self.reduction {
            ReductionKind::None => Box::new(Full),
            kind => Box::new(OnRules::new(system, kind, options.check)),
        }
    }
}

/// Turns a finding into a verdict; `None` if another method is needed.
fn judge<Y: Whole + ?Sized>(
    system: &Y,
    plan: Plan,
    question: &Question,
    finding: Finding,
    options: &Options,
) -> Result<Option<Verdict>, Fault> {
    let witness = match finding {
        Finding::Holds(holds) => return Ok(Some(Verdict::Holds(holds))),
        Finding::Inconclusive(reason) => return Ok(Some(Verdict::Inconclusive(reason))),
        Finding::Open => return Ok(None),
        Finding::Candidate(witness) => witness,
    };
    let is_reduced = plan.reduction != ReductionKind::None;
    match confirm(system, plan, question, witness, options) {
        Ok(violated) => {
            // In a reduced space "there is no return" is only a suspicion until all of it is seen. In a
            // full one the search itself has seen it.
            let is_sure = !is_reduced || violated.region.as_ref().is_none_or(|region| region.complete);
            Ok(is_sure.then_some(Verdict::Violated(violated)))
        }
        Err(Rejection::Returns) if is_reduced && matches!(question, Question::MayProgress { .. }) => Ok(None),
        Err(Rejection::Fault(fault)) => Err(fault),
        Err(rejection) => {
            let what =
                format!("a counterexample to \"{question}\" was found but did not replay: {rejection}");
            Ok(Some(Verdict::Contradiction(Contradiction { what })))
        }
    }
}

/// The questions, each once.
fn distinct(questions: Vec<Question>) -> Vec<Question> {
    let mut once = Vec::new();
    for question in questions {
        if !once.contains(&question) {
            once.push(question);
        }
    }
    once
}

/// Makes a real run of a witness and replays it.
fn confirm<Y: Whole + ?Sized>(
    system: &Y,
    plan: Plan,
    question: &Question,
    witness: Witness,
    options: &Options,
) -> Result<Violated, Rejection> {
    let mut witness = real(system, plan, witness)?;
    if matches!(question, Question::MayProgress { .. } | Question::MayTerminate) {
        go_on(system, &mut witness, GO_ON_STEPS)?;
    }
    confirmed(system, question, &witness, options)
}

/// Replays a real run.
pub(crate) fn confirmed<Y: Observed + ?Sized>(
    system: &Y,
    question: &Question,
    witness: &Witness,
    options: &Options,
) -> Result<Violated, Rejection> {
    let Replayed { states, message, region } = replay(system, question, witness, options.replay_states)?;
    Ok(Violated { message, trace: Trace::new(system, &states, witness), region })
}

fn real<Y: Whole + ?Sized>(system: &Y, plan: Plan, witness: Witness) -> Result<Witness, Rejection> {
    if !plan.symmetry {
        return Ok(witness);
    }
    let representatives = run(&Quotient::new(system), &witness.steps)?;
    Ok(lift(system, &representatives, &witness)?)
}

/// A broken model, with the run that shows it.
fn explain<Y: Whole + ?Sized>(system: &Y, plan: Plan, broken: phase::Broken) -> Box<Broken> {
    let phase::Broken { fault, path, stats } = broken;
    let trace = path.and_then(|steps| {
        let witness = real(system, plan, Witness { steps, ..Witness::default() }).ok()?;
        let states = run(system, &witness.steps).ok()?;
        Some(Trace::new(system, &states, &witness))
    });
    Box::new(Broken { fault, trace, stats })
}
