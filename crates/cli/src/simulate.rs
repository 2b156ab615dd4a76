//! `simulate`: a run at random, as a trail says, or as the user chooses.

use crate::args::SimulateArgs;
use crate::entry::print;
use crate::interactive::{choose, next};
use crate::run::{Failure, SystemJob};
use crate::target::Target;
use crate::trail::{Given, given};
use std::time::{SystemTime, UNIX_EPOCH};
use stubborn_report::{chart_text, clean};
use stubborn_system::{Batch, Fault, Observed, Question, TransitionId, Whole};
use stubborn_verdict::{Kind, Trace, Witness};

/// Runs a model, and says what a run can violate along the way.
pub(crate) fn simulate(target: &Target, args: &SimulateArgs) -> Result<u8, Failure> {
    let fresh = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let seed = args.seed.unwrap_or_else(fresh);
    let given = args.trail.as_deref().map(|file| given(target, file)).transpose()?;
    let name = clean(&target.name()).into_owned();
    let (mode, title) = match (args.interactive, &args.trail) {
        (true, _) => (Mode::Interactive(seed), format!("{name}, step by step")),
        (false, Some(file)) => {
            (Mode::Given, format!("{name}, --trail {}", clean(&file.display().to_string())))
        }
        (false, None) => (Mode::Random(seed, args.steps), format!("{name}, --seed {seed}")),
    };
    print(title + "\n");
    let left_over = given.as_ref().and_then(|given| given.left_over.clone());
    let start = given.map_or_else(Vec::new, |Given { run, .. }| run);
    let broken = |fault: Fault| Failure::Usage(fault.to_string());
    let code = target.with(Simulate { mode, start, chart: args.chart })?.map_err(broken)?;
    match left_over {
        // What goes wrong in a step may keep it from being finished.
        Some(problem) if code == 0 => Err(Failure::Usage(problem)),
        _ => Ok(code),
    }
}

/// How the steps are chosen.
enum Mode {
    /// With this seed, at most so many.
    Random(u64, usize),
    /// None but those that are given.
    Given,
    /// By the user; this is the seed for those that the user leaves to chance.
    Interactive(u64),
}

struct Simulate {
    mode: Mode,
    start: Vec<TransitionId>,
    chart: bool,
}

impl SystemJob for Simulate {
    type Output = Result<u8, Fault>;

    fn run<Y: Whole<State: Kind>>(self, system: &Y) -> Self::Output {
        let mut states = Batch::new();
        system.initial(&mut states)?;
        let mut fault = begin(system, &self.start, &mut states).err();
        if fault.is_none() {
            fault = match self.mode {
                Mode::Random(seed, steps) => at_random(system, seed, steps, &mut states).err(),
                Mode::Given => None,
                Mode::Interactive(seed) => {
                    print(text(&Trace::new(system, &states, &Witness::default())));
                    return choose(system, seed, &mut states)
                        .and_then(|()| verdict(system, &states, self.chart));
                }
            };
        }
        print(text(&Trace::new(system, &states, &Witness::default())));
        match fault {
            Some(fault) => Err(fault),
            None => verdict(system, &states, self.chart),
        }
    }
}

/// Makes the steps that are given.
fn begin<Y: Observed>(system: &Y, run: &[TransitionId], states: &mut Batch<Y::State>) -> Result<(), Fault> {
    for (i, &t) in run.iter().enumerate() {
        let mut next = Batch::new();
        if t.index() >= system.n_transitions() || !system.fire(states.state(i), t, &mut next)? {
            return Err(Fault::Model(format!("step {} of the run that is given cannot be made", i + 1)));
        }
        states.push(t, next.state(0));
    }
    Ok(())
}

fn at_random<Y: Observed>(
    system: &Y,
    seed: u64,
    steps: usize,
    states: &mut Batch<Y::State>,
) -> Result<(), Fault> {
    let mut random = seed;
    for i in 0..steps {
        let mut successors = Batch::new();
        system.successors(states.state(i), &mut successors)?;
        if successors.is_empty() {
            break;
        }
        let chosen = (next(&mut random) % successors.len() as u64) as usize;
        states.push(successors.via(chosen), successors.state(chosen));
    }
    Ok(())
}

/// The run, a line per state.
fn text(trace: &Trace) -> String {
    let mut text = format!("{:>4}  {}\n", 0, clean(&trace.initial));
    for (i, step) in trace.steps.iter().enumerate() {
        text += &format!("{:>4}  {}  [{}]\n", i + 1, clean(step.state_text()), clean(&step.text()));
    }
    text
}

/// Says what is wrong with the run, if anything. Exit code 1 if so.
fn verdict<Y: Observed>(system: &Y, states: &Batch<Y::State>, chart: bool) -> Result<u8, Fault> {
    if chart {
        print(chart_text(&Trace::new(system, states, &Witness::default())));
    }
    let questions = system.questions();
    if questions.contains(&Question::Safety) {
        for i in 0..states.len() {
            if let Some(wrong) = system.check(states.state(i))? {
                print(format!("state {i} violates safety: {}\n", clean(&wrong)));
                return Ok(1);
            }
        }
    }
    let last = states.state(states.len() - 1);
    let mut successors = Batch::new();
    system.successors(last, &mut successors)?;
    if successors.is_empty() {
        if questions.contains(&Question::Deadlock)
            && let Some(wrong) = system.check_deadlock(last)?
        {
            print(format!("the run ends in an illegal deadlock: {}\n", clean(&wrong)));
            return Ok(1);
        }
        print("the run ends in a terminal state\n");
    }
    Ok(0)
}
