//! Dining philosophers: a round table, a fork between any two neighbours, and two forks to eat with.
//!
//! **From** E. W. Dijkstra, "Hierarchical Ordering of Sequential Processes" (1971). Every step touches
//! one fork: a philosopher takes a first fork, takes a second, eats, and returns them one by one.
//!
//! **Expect**: `deadlocking` has the famous deadlock, and so loses progress. `ordered` breaks the circle
//! of waiting and passes; it never terminates, which a reduction by stubborn sets has to point out. In
//! `leaving` whoever does not eat may put back what is in the hand and go for good, so termination always
//! remains possible and everything passes.
//!
//! Where all philosophers are alike, the rotations of the table are symmetries. Progress must not tell
//! the philosophers apart then: it means that somebody eats. In `ordered` it means that philosopher 0 does.

use crate::Entry;
use stubborn_model::{Array, Footprint, Layout, Model, Question, State};

pub(crate) const ENTRY: Entry = Entry {
    name: "philosophers",
    about: "philosophers around a table, each in need of both forks beside the plate",
    default_size: 5,
    sizes: 2..=MOST_PHILOSOPHERS,
    size_means: "philosophers",
    variants: &[
        (Variant::Deadlocking.word(), "everybody takes the left fork first: all may wait for ever"),
        (Variant::Ordered.word(), "the last philosopher takes the right fork first"),
        (Variant::Leaving.word(), "everybody takes the left fork first, but may leave the table for good"),
    ],
    default_variant: Variant::Deadlocking.word(),
    make: |size, variant| Box::new(Philosophers::new(size, Variant::ALL[variant])),
};

const MOST_PHILOSOPHERS: usize = 32;

/// How the philosophers behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Everybody takes the left fork first.
    Deadlocking,
    /// The last philosopher takes the right fork first, all others the left one.
    Ordered,
    /// Everybody takes the left fork first, and may leave for good unless eating.
    Leaving,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Deadlocking, Self::Ordered, Self::Leaving];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deadlocking => "deadlocking",
            Self::Ordered => "ordered",
            Self::Leaving => "leaving",
        }
    }
}

const THINKING: usize = 0;
/// Has the first fork.
const HUNGRY: usize = 1;
const EATING: usize = 2;
/// Has returned the first fork, but not the second.
const SATED: usize = 3;
const GONE: usize = 4;

const FREE: usize = 0;
const TAKEN: usize = 1;

/// A step with one fork: from one state of the philosopher to another, and what becomes of the fork.
#[derive(Clone, Copy)]
struct Step {
    from: usize,
    to: usize,
    is_first_fork: bool,
    fork_becomes: usize,
    name: &'static str,
}

const STEPS: [Step; 4] = [
    Step { from: THINKING, to: HUNGRY, is_first_fork: true, fork_becomes: TAKEN, name: "takes" },
    Step { from: HUNGRY, to: EATING, is_first_fork: false, fork_becomes: TAKEN, name: "takes" },
    Step { from: EATING, to: SATED, is_first_fork: true, fork_becomes: FREE, name: "returns" },
    Step { from: SATED, to: THINKING, is_first_fork: false, fork_becomes: FREE, name: "returns" },
];

/// The model.
pub struct Philosophers {
    n: usize,
    variant: Variant,
    layout: Layout,
    philosopher: Array,
    /// Fork `i` is to the left of philosopher `i`.
    fork: Array,
}

impl Philosophers {
    /// A table for `n` philosophers.
    ///
    /// # Panics
    ///
    /// If the size is out of the range that [`crate::entries`] gives.
    pub fn new(n: usize, variant: Variant) -> Self {
        ENTRY.expect_size(n);
        let labels = ["thinking", "hungry", "eating", "sated", "gone"];
        let n_labels = if variant == Variant::Leaving { 5 } else { 4 };
        let mut layout = Layout::new();
        let philosopher = layout.named_array("philosopher", n, &labels[..n_labels]);
        let fork = layout.named_array("fork", n, &["free", "taken"]);
        Self { n, variant, layout, philosopher, fork }
    }

    /// Number of the fork that philosopher `i` takes first, or second.
    fn fork_of(&self, i: usize, first: bool) -> usize {
        let starts_right = self.variant == Variant::Ordered && i + 1 == self.n;
        if first != starts_right { i } else { (i + 1) % self.n }
    }

    fn take_step(&self, i: usize, step: Step, s: &mut State<'_>) -> bool {
        let fork = self.fork[self.fork_of(i, step.is_first_fork)];
        let is_taking = step.fork_becomes == TAKEN;
        if !s.is(self.philosopher[i], step.from) || is_taking && s.is(fork, TAKEN) {
            return false;
        }
        s.set(self.philosopher[i], step.to);
        s.set(fork, step.fork_becomes);
        true
    }

    fn leave(&self, i: usize, s: &mut State<'_>) -> bool {
        let philosopher = self.philosopher[i];
        let has_fork = s.is(philosopher, HUNGRY);
        if !has_fork && !s.is(philosopher, THINKING) {
            return false;
        }
        if has_fork {
            s.set(self.fork[self.fork_of(i, true)], FREE);
        }
        s.set(philosopher, GONE);
        true
    }

    fn step_footprint(&self, i: usize, step: Step) -> Footprint {
        let fork = self.fork[self.fork_of(i, step.is_first_fork)];
        let footprint = Footprint::new()
            .tests(self.philosopher[i], [step.from])
            .writes_only(self.philosopher[i], [step.to])
            .writes_only(fork, [step.fork_becomes]);
        if step.fork_becomes == TAKEN { footprint.tests(fork, [TAKEN]) } else { footprint }
    }

    fn leave_footprint(&self, i: usize) -> Footprint {
        Footprint::new()
            .tests(self.philosopher[i], [HUNGRY])
            .tests(self.philosopher[i], [THINKING])
            .writes_only(self.philosopher[i], [GONE])
            .writes_only(self.fork[self.fork_of(i, true)], [FREE])
    }
}

impl Model for Philosophers {
    fn name(&self) -> String {
        format!("philosophers {} {}", self.n, self.variant.word())
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        let kinds = STEPS.len() + usize::from(self.variant == Variant::Leaving);
        kinds * self.n
    }

    fn questions(&self) -> Vec<Question> {
        let terminates = self.variant == Variant::Leaving;
        let mut questions = vec![Question::Deadlock, Question::MayProgress { terminal_counts: terminates }];
        if terminates {
            questions.push(Question::MayTerminate);
        }
        questions
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        let (kind, i) = (t / self.n, t % self.n);
        match STEPS.get(kind) {
            Some(&step) => self.take_step(i, step, s),
            None => self.leave(i, s),
        }
    }

    fn transition_name(&self, t: usize) -> String {
        let (kind, i) = (t / self.n, t % self.n);
        match STEPS.get(kind) {
            Some(step) => {
                let fork = self.fork_of(i, step.is_first_fork);
                format!("philosopher {i} {} fork {fork}", step.name)
            }
            None => format!("philosopher {i} leaves"),
        }
    }

    fn check_deadlock(&self, s: &State<'_>) -> Result<(), String> {
        let has_left = |i| self.variant == Variant::Leaving && s.is(self.philosopher[i], GONE);
        match (0..self.n).find(|&i| !has_left(i)) {
            Some(i) => Err(format!("philosopher {i} waits for a fork for ever")),
            None => Ok(()),
        }
    }

    fn is_may_progress(&self, s: &State<'_>) -> bool {
        if self.has_symmetry() {
            self.philosopher.iter().any(|philosopher| s.is(philosopher, EATING))
        } else {
            s.is(self.philosopher[0], EATING)
        }
    }

    fn has_symmetry(&self) -> bool {
        self.variant != Variant::Ordered
    }

    /// Rotates the table to the smallest list of places.
    fn represent(&self, s: &mut State<'_>) {
        if !self.has_symmetry() {
            return;
        }
        let mut places = [(0, 0); MOST_PHILOSOPHERS];
        let places = &mut places[..self.n];
        for (i, place) in places.iter_mut().enumerate() {
            *place = (s.get(self.philosopher[i]), s.get(self.fork[i]));
        }
        let rotated = |start: usize| places[start..].iter().chain(&places[..start]);
        let best = (0..self.n).min_by(|&one, &other| rotated(one).cmp(rotated(other))).unwrap_or(0);
        places.rotate_left(best);
        for (i, &(philosopher, fork)) in places.iter().enumerate() {
            s.set(self.philosopher[i], philosopher);
            s.set(self.fork[i], fork);
        }
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        let (kind, i) = (t / self.n, t % self.n);
        Some(match STEPS.get(kind) {
            Some(&step) => self.step_footprint(i, step),
            None => self.leave_footprint(i),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_explore::{Mode, answers, explore};

    #[test]
    fn the_answers_are_as_announced() {
        for n in 2..=4 {
            let model = Philosophers::new(n, Variant::Deadlocking);
            assert_eq!(answers(&model, Mode::Plain), [("deadlock", false), ("may-progress", false)]);
            let model = Philosophers::new(n, Variant::Ordered);
            assert_eq!(answers(&model, Mode::Plain), [("deadlock", true), ("may-progress", true)]);
            let model = Philosophers::new(n, Variant::Leaving);
            let expected = [("deadlock", true), ("may-progress", true), ("may-terminate", true)];
            assert_eq!(answers(&model, Mode::Plain), expected);
        }
    }

    #[test]
    fn there_is_one_deadlock_where_everybody_has_the_left_fork() {
        for n in 2..=5 {
            let model = Philosophers::new(n, Variant::Deadlocking);
            assert_eq!(explore(&model, Mode::Plain).terminal_states().len(), 1);
        }
    }
}
