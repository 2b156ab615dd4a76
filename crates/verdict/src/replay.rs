//! The replayer: accepts or rejects a counterexample.
//!
//! It fires the transitions of the witness one by one on the original system and looks at the states with
//! the system's own checks. It uses nothing of the searches, stores and reductions, and its own set of
//! states is the standard library's. What it accepts is true whatever else is wrong; with one exception, which
//! it names: "there is no return" is known only as far as [`Region::complete`] says.

use std::collections::{BTreeSet, HashMap, HashSet};
use stubborn_system::{Batch, Fault, Observed, Question, System, TransitionId, Vector};
use thiserror::Error;

/// A counterexample as data: a run from the initial state.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Witness {
    /// The transitions, in order.
    pub steps: Vec<TransitionId>,
    /// The number of the state from which there is no return (the initial state is number 0).
    pub no_return: Option<usize>,
    /// The number of the state to which the last state is equal: from there on the run repeats.
    pub cycle_start: Option<usize>,
}

/// The states from which there is no return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// How many were visited.
    pub states: usize,
    /// Whether these were all.
    pub complete: bool,
    /// The transitions that occur among them.
    pub transitions: Vec<TransitionId>,
    /// Their names.
    pub names: Vec<String>,
}

/// A witness that was accepted.
#[derive(Debug)]
pub struct Replayed<S: Vector + ?Sized> {
    /// The states of the run, from the initial one on.
    pub states: Batch<S>,
    /// What is wrong.
    pub message: String,
    /// For progress and termination: what lies beyond the point of no return.
    pub region: Option<Region>,
}

/// Why a witness is none.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A step cannot be taken.
    #[error("step {step} of the counterexample cannot be taken")]
    Disabled {
        /// Its number, from 1.
        step: usize,
    },
    /// The last state is not what it should be.
    #[error("the counterexample does not end in a violation")]
    NoViolation,
    /// The cycle does not close, or is not the kind of cycle that it should be.
    #[error("the cycle of the counterexample is not a violation")]
    BadCycle,
    /// What was said to be out of reach was reached.
    #[error("from the point of no return there is a return")]
    Returns,
    /// The model broke.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Runs `witness` and checks that it violates `question`. For progress and termination everything that is
/// reachable from the point of no return is visited, up to `limit` states.
///
pub fn replay<Y: Observed + ?Sized>(
    system: &Y,
    question: &Question,
    witness: &Witness,
    limit: usize,
) -> Result<Replayed<Y::State>, Rejection> {
    let states = run(system, &witness.steps)?;
    let last = states.state(states.len() - 1);
    let mut region = None;
    let message = match question {
        Question::Safety => system.check(last)?.ok_or(Rejection::NoViolation)?,
        Question::Deadlock if is_terminal(system, last)? => {
            system.check_deadlock(last)?.ok_or(Rejection::NoViolation)?
        }
        Question::MayProgress { terminal_counts } => {
            let good = |s: &Y::State, terminal: bool| {
                Ok(system.is_may_progress(s)? || (terminal && *terminal_counts))
            };
            region = Some(no_return(system, &states, witness, limit, good)?);
            "progress is no longer possible".into()
        }
        Question::MayTerminate => {
            region = Some(no_return(system, &states, witness, limit, |_, terminal| Ok(terminal))?);
            "termination is no longer possible".into()
        }
        Question::MustProgress { terminal_counts } => {
            check_no_progress(system, &states, witness, *terminal_counts)?
        }
        Question::Fair { often, rarely } => {
            let start = check_cycle(&states, witness)?;
            let cycle = &witness.steps[start..];
            if !cycle.contains(often) || cycle.iter().any(|t| rarely.contains(t)) {
                return Err(Rejection::BadCycle);
            }
            format!("`{}` can go on for ever alone", system.transition_name(*often))
        }
        _ => return Err(Rejection::NoViolation),
    };
    Ok(Replayed { states, message, region })
}

/// The states of the run, from the initial one on.
pub(crate) fn run<Y: System + ?Sized>(
    system: &Y,
    steps: &[TransitionId],
) -> Result<Batch<Y::State>, Rejection> {
    let mut states = Batch::new();
    system.initial(&mut states)?;
    let mut next = Batch::new();
    for (i, &t) in steps.iter().enumerate() {
        next.clear();
        let fired = t.index() < system.n_transitions() && system.fire(states.state(i), t, &mut next)?;
        if !fired {
            return Err(Rejection::Disabled { step: i + 1 });
        }
        states.push(t, next.state(0));
    }
    Ok(states)
}

fn is_terminal<Y: System + ?Sized>(system: &Y, state: &Y::State) -> Result<bool, Fault> {
    let mut out = Batch::new();
    system.successors(state, &mut out)?;
    Ok(out.is_empty())
}

/// Where the cycle starts, if it closes and is not empty.
fn check_cycle<S: Vector + ?Sized>(states: &Batch<S>, witness: &Witness) -> Result<usize, Rejection> {
    let last = states.len() - 1;
    match witness.cycle_start {
        Some(start) if start < last && states.state(start) == states.state(last) => Ok(start),
        _ => Err(Rejection::BadCycle),
    }
}

fn check_no_progress<Y: Observed + ?Sized>(
    system: &Y,
    states: &Batch<Y::State>,
    witness: &Witness,
    terminal_counts: bool,
) -> Result<String, Rejection> {
    let last = states.state(states.len() - 1);
    if witness.cycle_start.is_none() {
        let stuck = !terminal_counts && is_terminal(system, last)? && !system.is_must_progress(last)?;
        return if stuck { Ok("the run ends without progress".into()) } else { Err(Rejection::NoViolation) };
    }
    for i in check_cycle(states, witness)?..states.len() {
        if system.is_must_progress(states.state(i))? {
            return Err(Rejection::BadCycle);
        }
    }
    Ok("the run goes round for ever without progress".into())
}

/// Visits what is reachable from the point of no return; none of it may be good.
fn no_return<Y: System + ?Sized>(
    system: &Y,
    states: &Batch<Y::State>,
    witness: &Witness,
    limit: usize,
    good: impl Fn(&Y::State, bool) -> Result<bool, Fault>,
) -> Result<Region, Rejection> {
    let start = witness.no_return.filter(|&i| i < states.len()).ok_or(Rejection::NoViolation)?;
    let mut seen: HashSet<Vec<u8>> = HashSet::from([states.state(start).as_bytes().to_vec()]);
    let mut queue = Batch::new();
    queue.push(TransitionId(0), states.state(start));
    let mut occurs: BTreeSet<TransitionId> = BTreeSet::new();
    let mut next = 0;
    let mut out = Batch::new();
    while next < queue.len() && next < limit {
        out.clear();
        system.successors(queue.state(next), &mut out)?;
        if good(queue.state(next), out.is_empty())? {
            return Err(Rejection::Returns);
        }
        for i in 0..out.len() {
            occurs.insert(out.via(i));
            if !seen.contains(out.state(i).as_bytes()) {
                seen.insert(out.state(i).as_bytes().to_vec());
                queue.push(out.via(i), out.state(i));
            }
        }
        next += 1;
    }
    let transitions: Vec<TransitionId> = occurs.into_iter().collect();
    let names = transitions.iter().map(|&t| system.transition_name(t)).collect();
    Ok(Region { states: next, complete: next == queue.len(), transitions, names })
}

/// Goes on from the last state of a run by the lowest enabled transitions, until a state repeats or nothing
/// is enabled: shows what the system does from the point of no return on. Gives up after `limit` steps.
pub(crate) fn go_on<Y: System + ?Sized>(
    system: &Y,
    witness: &mut Witness,
    limit: usize,
) -> Result<(), Rejection> {
    let states = run(system, &witness.steps)?;
    let mut at = Batch::new();
    at.push(TransitionId(0), states.state(states.len() - 1));
    let mut seen: HashMap<Vec<u8>, usize> = HashMap::new();
    let before = witness.steps.len();
    for step in 0..=limit {
        if let Some(&start) = seen.get(at.state(0).as_bytes()) {
            witness.cycle_start = Some(before + start);
            return Ok(());
        }
        seen.insert(at.state(0).as_bytes().to_vec(), step);
        let mut successors = Batch::new();
        system.successors(at.state(0), &mut successors)?;
        let Some(lowest) = (0..successors.len()).min_by_key(|&i| successors.via(i)) else { return Ok(()) };
        witness.steps.push(successors.via(lowest));
        at.clear();
        at.push(successors.via(lowest), successors.state(lowest));
    }
    witness.steps.truncate(before);
    Ok(())
}
