//! Loops that wait: a thread that repeats the same reads and gets the same waits until one of them would change.
//!
//! A loop with `yield_now` or `spin_loop` is recognised when it has read the same twice; one without, when it has
//! done so `spin_after` times. A loop that gives up after some rounds is not told apart from one that goes on for
//! ever if it makes as many rounds: what it does after giving up is then not explored. The number of such assumptions is
//! in the report.

use super::state::{State, with_state};
use super::turn;
use stubborn_schedule::{Action, Op, Part};

/// What a thread has read since it last did anything else.
#[derive(Default)]
pub(crate) struct Spin {
    reads: Vec<(u64, Part, u64)>,
    /// Where `yield_now` was called, as lengths of `reads`.
    yields: Vec<usize>,
}

/// Loops of at most so many reads are recognised.
const MAX_PERIOD: usize = 8;

/// Whether an operation may be one of a loop that waits.
pub(super) fn may_spin(op: &Op) -> Option<Part> {
    match op.parts.as_slice() {
        [part] if matches!(part.action, Action::Read | Action::CompareExchange { .. }) => Some(*part),
        _ => None,
    }
}

/// Before such an operation: what to wait for, if it is the next of a loop that waits.
pub(super) fn before(state: &mut State, site: u64, part: &Part) -> Option<Vec<Part>> {
    let spin_after = state.settings.spin_after;
    let spin = &mut state.me().spin;
    let period = spin.period(site, part, spin_after)?;
    let mut parts: Vec<Part> = Vec::new();
    for (_, read, value) in &spin.reads[spin.reads.len() - period..] {
        let awaited = Part { object: read.object, action: Action::Await(*value) };
        if !parts.contains(&awaited) {
            parts.push(awaited);
        }
    }
    spin.clear();
    state.n_spins += 1;
    Some(parts)
}

/// After such an operation: notes what was read, or that something was done.
pub(super) fn after(site: u64, part: Part, out: u64) {
    let reads = !matches!(part.action, Action::CompareExchange { expected, .. } if expected == out);
    if !reads && !turn::is_noted() {
        return;
    }
    with_state(|state| {
        let spin = &mut state.me().spin;
        if reads {
            spin.reads.push((site, part, out))
        } else {
            spin.clear()
        }
        turn::set_noted(reads);
    });
}

/// Notes that a thread has nothing better to do.
pub(crate) fn hint() {
    if super::switch::is_task() {
        with_state(|state| {
            let spin = &mut state.me().spin;
            let here = spin.reads.len();
            spin.yields.push(here);
            turn::set_noted(true);
        });
    }
}

impl Spin {
    /// Something else was done.
    pub(super) fn clear(&mut self) {
        self.reads.clear();
        self.yields.clear();
    }

    /// The length of the loop whose next operation this is.
    fn period(&self, site: u64, part: &Part, spin_after: usize) -> Option<usize> {
        if let [.., before, last] = self.yields.as_slice() {
            let first = self.yields.len().checked_sub(3).map_or(0, |i| self.yields[i]);
            let (one, two) = (&self.reads[first..*before], &self.reads[*before..*last]);
            if *last == self.reads.len()
                && !two.is_empty()
                && one == two
                && (two[0].0, two[0].1) == (site, *part)
            {
                return Some(two.len());
            }
        }
        (1..=MAX_PERIOD).find(|&period| {
            let n = self.reads.len();
            n >= period * spin_after
                && (self.reads[n - period].0, self.reads[n - period].1) == (site, *part)
                && (n - period * (spin_after - 1)..n).all(|i| self.reads[i] == self.reads[i - period])
        })
    }
}
