//! `simulate --interactive`: the user chooses every step.
//!
//! Reads a line per choice from standard input. What is no choice is answered with what can be said; the end of
//! the input ends the run like `q`.

use crate::entry::print;
use std::io::{BufRead, Read};
use stubborn_report::clean;
use stubborn_system::{Batch, Fault, Observed, Part, Question};
use stubborn_verdict::{Trace, Witness};

const HELP: &str = "  a number   make this step
  r          make one of them at random
  u          undo the last step
  s          show the state, a line per variable
  h          this list
  q          end the run (so does the end of the input)
";

/// The longest line; what is longer is taken for several.
const MAX_LINE: u64 = 1000;

/// Extends a run by what the user chooses.
pub(crate) fn choose<Y: Observed>(system: &Y, seed: u64, states: &mut Batch<Y::State>) -> Result<(), Fault> {
    let mut random = seed;
    let mut input = std::io::stdin().lock();
    loop {
        let here = states.state(states.len() - 1);
        let mut successors = Batch::new();
        system.successors(here, &mut successors)?;
        print(list(system, here, &successors));
        let Some(word) = read_word(&mut input) else {
            print("\n");
            return Ok(());
        };
        let chosen = match (word.as_str(), word.parse::<usize>()) {
            ("", _) => None,
            ("q", _) => return Ok(()),
            ("u", _) if states.len() > 1 => {
                states.pop();
                print(format!("back in state {}\n", states.len() - 1));
                None
            }
            ("u", _) => {
                print("this is the initial state\n");
                None
            }
            ("s", _) => {
                print(values(system, here));
                None
            }
            ("r", _) if !successors.is_empty() => {
                Some((next(&mut random) % successors.len() as u64) as usize)
            }
            (_, Ok(number)) if (1..=successors.len()).contains(&number) => Some(number - 1),
            ("h", _) => {
                print(HELP);
                None
            }
            _ => {
                print(format!("`{}` is no choice here:\n{HELP}", clean(&word)));
                None
            }
        };
        if let Some(chosen) = chosen {
            states.push(successors.via(chosen), successors.state(chosen));
            print(last_step(system, states)?);
        }
    }
}

/// The next line without spaces around it; none at the end of the input, or if it cannot be read.
fn read_word(input: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    match input.take(MAX_LINE).read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(String::from_utf8_lossy(&line).trim().to_owned()),
    }
}

/// What can be done, by number.
fn list<Y: Observed>(system: &Y, here: &Y::State, successors: &Batch<Y::State>) -> String {
    let mut out = String::new();
    for i in 0..successors.len() {
        let parts: Vec<String> = system.explain(here, successors.via(i)).iter().map(part_text).collect();
        out += &format!("{:>6}  {}\n", i + 1, clean(&parts.join("; ")));
    }
    if successors.is_empty() {
        return "nothing can be done here\nu, s, h or q: ".to_owned();
    }
    out + &format!("1..{}, r, u, s, h or q: ", successors.len())
}

fn part_text(part: &Part) -> String {
    let process = part.process.as_ref().map_or(String::new(), |process| format!("{process} "));
    let line = part.line.map_or(String::new(), |line| format!("line {line}: "));
    format!("{process}{line}{}", part.text)
}

/// What the last step did, and whether something is wrong now.
fn last_step<Y: Observed>(system: &Y, states: &Batch<Y::State>) -> Result<String, Fault> {
    let last = states.len() - 1;
    let mut step = Batch::new();
    (last.saturating_sub(1)..=last).for_each(|i| step.push(states.via(i), states.state(i)));
    let trace = Trace::new(system, &step, &Witness::default());
    let mut out = String::new();
    if let Some(step) = trace.steps.last() {
        let parts: Vec<String> = step.parts.iter().map(part_text).collect();
        let changes: Vec<String> =
            step.changes.iter().map(|c| format!("{}: {} -> {}", c.variable, c.old, c.new)).collect();
        out += &format!("{last:>4}  {}  {}\n", clean(&parts.join("; ")), clean(&changes.join(", ")));
    }
    if system.questions().contains(&Question::Safety)
        && let Some(wrong) = system.check(states.state(last))?
    {
        out += &format!("state {last} violates safety: {}\n", clean(&wrong));
    }
    Ok(out)
}

fn values<Y: Observed>(system: &Y, state: &Y::State) -> String {
    let line = |(name, value): (String, String)| format!("  {} = {}\n", clean(&name), clean(&value));
    system.values(state).into_iter().map(line).collect()
}

/// SplitMix64.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
