//! `simulate`: a random run.

use crate::args::SimulateArgs;
use crate::entry::print;
use crate::run::{Failure, SystemJob};
use crate::target::Target;
use std::time::{SystemTime, UNIX_EPOCH};
use stubborn_report::{chart_text, clean};
use stubborn_system::{Batch, Fault, Observed, Question, Rules, Symmetric};
use stubborn_verdict::{Trace, Witness};

/// Runs a model at random, and says what a run can violate along the way.
pub(crate) fn simulate(target: &Target, args: &SimulateArgs) -> Result<u8, Failure> {
    let fresh = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let seed = args.seed.unwrap_or_else(fresh);
    let job = Simulate { steps: args.steps, seed, chart: args.chart, name: target.name() };
    target.with(job)?.map_err(|fault| Failure::Usage(fault.to_string()))
}

struct Simulate {
    steps: usize,
    seed: u64,
    chart: bool,
    name: String,
}

impl SystemJob for Simulate {
    type Output = Result<u8, Fault>;

    fn run<Y: Rules + Observed + Symmetric>(self, system: &Y) -> Self::Output {
        print(format!("{}, --seed {}\n", clean(&self.name), self.seed));
        let mut random = self.seed;
        let mut states = Batch::new();
        system.initial(&mut states)?;
        let mut ends = false;
        let mut fault = None;
        for i in 0..self.steps {
            let mut successors = Batch::new();
            if let Err(broken) = system.successors(states.state(i), &mut successors) {
                fault = Some(broken);
                break;
            }
            if successors.is_empty() {
                ends = true;
                break;
            }
            let chosen = (next(&mut random) % successors.len() as u64) as usize;
            states.push(successors.via(chosen), successors.state(chosen));
        }
        let trace = Trace::new(system, &states, &Witness::default());
        let mut text = format!("{:>4}  {}\n", 0, clean(&trace.initial));
        for (i, step) in trace.steps.iter().enumerate() {
            text += &format!("{:>4}  {}  [{}]\n", i + 1, clean(&step.state), clean(&step.text()));
        }
        if self.chart {
            text += &chart_text(&trace);
        }
        print(text);
        match fault {
            Some(fault) => Err(fault),
            None => verdict(system, &states, ends),
        }
    }
}

/// Says what is wrong with the run, if anything. Exit code 1 if so.
fn verdict<Y: Observed>(system: &Y, states: &Batch<Y::State>, ends: bool) -> Result<u8, Fault> {
    let questions = system.questions();
    if questions.contains(&Question::Safety) {
        for i in 0..states.len() {
            if let Some(wrong) = system.check(states.state(i))? {
                print(format!("state {i} violates safety: {}\n", clean(&wrong)));
                return Ok(1);
            }
        }
    }
    if ends {
        let last = states.state(states.len() - 1);
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

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
