//! SPIN's trails: files that tell which process made which statement, step by step.
//!
//! A line is `depth:process:statement`. Statements are numbered over the whole model in the order in which
//! SPIN's parser makes them ([`stubborn_network::Step::number`]). Lines that begin with a negative number are
//! remarks: `-2:n:-2` says that process 0 is a claim (and the others are one higher), `-4:-4:-4` that
//! statements were merged (only the first of a chain has a line), `-1:-1:-1` that a cycle begins.
//!
//! What is written here has no merged statements and no claim; `spin -t` replays it without options. A run that violates
//! a property of runs is written in the same way, without the moves of a claim: SPIN's simulator starts a claim only
//! if the trail says so, and the moves would be those of SPIN's own automaton for a formula. What is
//! read may be from SPIN's verifier, merged or not. **Checked by** SPIN itself, in the tests of the command
//! line.

use std::collections::HashSet;
use std::fmt::Write;
use stubborn_network::{Micro, Network, Successor};
use stubborn_system::TransitionId;

/// A trail that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// Who makes which statement.
    pub steps: Vec<TrailStep>,
    /// Whether chains of statements have one line.
    pub is_merged: bool,
    /// Before which step a cycle begins.
    pub cycle_start: Option<usize>,
}

/// A line of a trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrailStep {
    /// The process.
    pub pid: usize,
    /// The number of the statement.
    pub statement: u32,
    /// The line of the file, from one.
    pub line: usize,
}

/// The longest trail that is read.
const MAX_STEPS: usize = 10_000_000;

/// How many states may be looked at beyond one per step of a trail.
const MAX_DETOUR: usize = 100_000;

/// A run as a trail. With `with_error` the step that goes wrong in the last state is part of it, up to where
/// it goes wrong. `None` if it is no run of the network.
pub fn write_trail(
    network: &Network,
    run: &[TransitionId],
    cycle_start: Option<usize>,
    with_error: bool,
) -> Option<String> {
    let mut out = String::new();
    let mut depth = 0;
    let mut tell = |out: &mut String, micro: &Micro| {
        // A statement that SPIN does not have is one that does nothing.
        if let Some(number) = network.step(micro.step).and_then(|(_, _, step)| step.number) {
            depth += 1;
            let _ = writeln!(out, "{depth}:{}:{number}", micro.pid);
        }
    };
    let mut state = network.initial_state().ok()?;
    for (i, t) in run.iter().enumerate() {
        if cycle_start == Some(i) {
            out.push_str("-1:-1:-1\n");
        }
        let successor = network.expand(&state).successors.into_iter().find(|s| s.transition == *t)?;
        successor.trail.iter().for_each(|micro| tell(&mut out, micro));
        state = successor.state;
    }
    if with_error {
        network.way_to_error(&state).iter().for_each(|micro| tell(&mut out, micro));
    }
    Some(out)
}

/// Reads a trail.
pub fn read_trail(text: &str) -> Result<Trail, String> {
    let mut trail = Trail::default();
    let mut has_claim = false;
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line_number = i + 1;
        let odd = || format!("line {line_number}: not `depth:process:statement`");
        let fields: Vec<i64> =
            line.trim().split(':').map(str::parse).collect::<Result<_, _>>().map_err(|_| odd())?;
        let &[depth, process, statement] = fields.as_slice() else { return Err(odd()) };
        match depth {
            -1 => trail.cycle_start = Some(trail.steps.len()),
            -2 => has_claim = true,
            -4 => trail.is_merged = true,
            -8..=-5 => {
                return Err(format!(
                    "line {line_number}: a search with permuted processes cannot be replayed"
                ));
            }
            0.. => {
                // The claim only watches.
                if has_claim && process == 0 {
                    continue;
                }
                let pid = usize::try_from(process - i64::from(has_claim)).map_err(|_| odd())?;
                let statement = u32::try_from(statement).map_err(|_| odd())?;
                trail.steps.push(TrailStep { pid, statement, line: line_number });
                if trail.steps.len() > MAX_STEPS {
                    return Err(format!("more than {MAX_STEPS} steps"));
                }
            }
            _ => return Err(odd()),
        }
    }
    Ok(trail)
}

/// A run that was found for a trail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Its transitions.
    pub run: Vec<TransitionId>,
    /// How many steps of the trail it makes. The last ones may lie within a transition that goes wrong, or
    /// that goes on beyond the trail.
    pub n_steps: usize,
}

/// A place in the search for a run.
struct At {
    state: Vec<u8>,
    n_steps: usize,
    run: usize,
    via: Option<TransitionId>,
}

/// The run that a trail describes; as far as it goes, if it is not one of the network. Transitions without a
/// line are only tried if statements were merged.
pub fn follow_trail(network: &Network, trail: &Trail) -> Result<Followed, String> {
    let initial = network.initial_state().map_err(|trouble| trouble.to_string())?;
    let mut best = Followed::default();
    let mut run: Vec<TransitionId> = Vec::new();
    let mut seen: HashSet<(usize, Vec<u8>)> = HashSet::new();
    let mut stack = vec![At { state: initial, n_steps: 0, run: 0, via: None }];
    let mut budget = trail.steps.len() + MAX_DETOUR;
    while let Some(at) = stack.pop() {
        run.truncate(at.run);
        run.extend(at.via);
        let rest = &trail.steps[at.n_steps..];
        let Some(first) = rest.first() else { return Ok(Followed { run, n_steps: at.n_steps }) };
        budget = budget.saturating_sub(1);
        if budget == 0 {
            return Err("too many ways to read it: statements were merged; use `spin -a -o3`".to_owned());
        }
        let mut next: Vec<(usize, Successor)> = Vec::new();
        for successor in network.expand(&at.state).successors {
            match covered(network, &successor, rest, trail.is_merged) {
                Some(0) if successor.trail[0].pid != first.pid => {}
                Some(n) => next.push((n, successor)),
                None => {}
            }
        }
        if next.is_empty() && at.n_steps >= best.n_steps {
            best = Followed { run: run.clone(), n_steps: at.n_steps };
        }
        // What explains most lines is tried first; it is on top of the stack.
        next.sort_by_key(|(n, _)| *n);
        for (n, successor) in next {
            let n_steps = at.n_steps + n;
            if trail.is_merged && !seen.insert((n_steps, successor.state.clone())) {
                continue;
            }
            let via = Some(successor.transition);
            stack.push(At { state: successor.state, n_steps, run: run.len(), via });
        }
    }
    Ok(best)
}

/// How many of the next lines a transition makes; none if it is not what they say. A transition whose lines
/// end with the trail is one that was not finished.
fn covered(network: &Network, successor: &Successor, rest: &[TrailStep], is_merged: bool) -> Option<usize> {
    let mut n = 0;
    for micro in &successor.trail {
        let number = network.step(micro.step).and_then(|(_, _, step)| step.number);
        match rest.get(n) {
            None if n > 0 => return Some(n),
            Some(line) if line.pid == micro.pid && Some(line.statement) == number => n += 1,
            _ if is_merged || number.is_none() => {}
            _ => return None,
        }
    }
    Some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_understood() {
        let trail = read_trail("-2:1:-2\n-4:-4:-4\n1:0:7\n2:1:3\n-1:-1:-1\n3:2:4\n").unwrap();
        assert!(trail.is_merged);
        assert_eq!(trail.cycle_start, Some(1));
        let steps: Vec<(usize, u32)> = trail.steps.iter().map(|s| (s.pid, s.statement)).collect();
        assert_eq!(steps, [(0, 3), (1, 4)]);
    }

    #[test]
    fn what_is_no_trail_is_refused() {
        for text in ["1:2", "a:b:c", "1:2:3:4", "1:-2:3", "-6:1:1", "1:0:99999999999999999999", "{}"] {
            assert!(read_trail(text).is_err(), "{text}");
        }
        assert_eq!(read_trail("").unwrap(), Trail::default());
    }
}
