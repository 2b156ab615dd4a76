//! Shows one of the random programs of `tests/all/random_programs.rs`, and what an algorithm misses of it:
//! `cargo run -p stubborn-schedule --example random_program -- SEED ALGORITHM`.

#[path = "../tests/all/common/mod.rs"]
mod common;

use common::{observations, random_script};
use stubborn_schedule::{Algorithm, Instruction};

const MAX_RUNS: u64 = 3000;

fn main() -> Result<(), &'static str> {
    let mut arguments = std::env::args().skip(1);
    let seed = arguments.next().and_then(|seed| seed.parse().ok()).ok_or("which seed?")?;
    let algorithm =
        arguments.next().and_then(|word| Algorithm::from_word(&word)).ok_or("which algorithm?")?;
    let script = random_script(seed);
    for (process, code) in script.processes.iter().enumerate() {
        println!("process {process}");
        for instruction in code {
            match instruction {
                Instruction::Do(op) => println!("  {:?} {}", op.parts, op.toss),
                other => println!("  {other:?}"),
            }
        }
    }
    let too_many = "it has too many runs";
    let (all, runs, _) = observations(&script, Algorithm::Dfs, None, MAX_RUNS).ok_or(too_many)?;
    let (seen, reduced, blocked) = observations(&script, algorithm, None, MAX_RUNS * 20).ok_or(too_many)?;
    println!("{runs} runs, {reduced} and {blocked} repetitions with {}", algorithm.word());
    all.difference(&seen).for_each(|missed| println!("missed {missed}"));
    seen.difference(&all).for_each(|wrong| println!("wrong {wrong}"));
    Ok(())
}
