//! Taking turns: the smallest model with a question about what *must* happen.
//!
//! `n` processes start to work and finish again, until the workshop closes. In `fair` a process starts
//! only in its turn and passes the turn on when it finishes. In `unfair` nobody cares about turns.
//!
//! **From** scratch. **Expect**: both may always close, so termination always remains possible. In `fair`
//! the last process must work again and again until then; in `unfair` the others may keep it from working
//! for ever, so must-progress and the question about fairness fail.

use crate::Entry;
use stubborn_model::{Array, Footprint, Layout, Model, Question, State, TransitionId, Var};

pub(crate) const ENTRY: Entry = Entry {
    name: "turns",
    about: "processes that work in turn, or whenever they like",
    default_size: 2,
    sizes: 2..=16,
    size_means: "processes",
    variants: &[
        (Variant::Fair.word(), "a process works only in its turn"),
        (Variant::Unfair.word(), "a process works whenever it likes"),
    ],
    default_variant: Variant::Fair.word(),
    make: |size, variant| Box::new(Turns::new(size, Variant::ALL[variant])),
};

/// Whether turns are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// They are.
    Fair,
    /// They are not.
    Unfair,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::Fair, Self::Unfair];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fair => "fair",
            Self::Unfair => "unfair",
        }
    }
}

const IDLE: usize = 0;
const WORKING: usize = 1;

const OPEN: usize = 0;
const CLOSED: usize = 1;

/// The model.
pub struct Turns {
    n: usize,
    variant: Variant,
    layout: Layout,
    workshop: Var,
    turn: Var,
    process: Array,
}

/// What a transition is about.
#[derive(Clone, Copy)]
enum Part {
    /// This process starts to work.
    Start(usize),
    /// This process finishes.
    Finish(usize),
    /// Nobody starts any more.
    Close,
}

impl Turns {
    /// The model for `n` processes.
    ///
    /// # Panics
    ///
    /// If the size is out of the range that [`crate::entries`] gives.
    pub fn new(n: usize, variant: Variant) -> Self {
        ENTRY.expect_size(n);
        let mut layout = Layout::new();
        let workshop = layout.named("workshop", &["open", "closed"]);
        let turn = layout.var("turn", 0..=n - 1);
        let process = layout.named_array("process", n, &["idle", "working"]);
        Self { n, variant, layout, workshop, turn, process }
    }

    fn part(&self, t: usize) -> Part {
        match t / self.n {
            0 => Part::Start(t),
            1 => Part::Finish(t - self.n),
            _ => Part::Close,
        }
    }

    fn takes_turns(&self) -> bool {
        self.variant == Variant::Fair
    }

    fn next(&self, i: usize) -> usize {
        (i + 1) % self.n
    }

    fn start(&self, i: usize, s: &mut State<'_>) -> bool {
        let may_start = s.is(self.workshop, OPEN) && s.is(self.process[i], IDLE);
        if !may_start || self.takes_turns() && !s.is(self.turn, i) {
            return false;
        }
        s.set(self.process[i], WORKING);
        true
    }

    fn finish(&self, i: usize, s: &mut State<'_>) -> bool {
        if !s.is(self.process[i], WORKING) {
            return false;
        }
        s.set(self.process[i], IDLE);
        if self.takes_turns() {
            s.set(self.turn, self.next(i));
        }
        true
    }

    fn close(&self, s: &mut State<'_>) -> bool {
        if s.is(self.workshop, CLOSED) {
            return false;
        }
        s.set(self.workshop, CLOSED);
        true
    }

    fn start_footprint(&self, i: usize) -> Footprint {
        let footprint = Footprint::new()
            .tests(self.workshop, [OPEN])
            .tests(self.process[i], [IDLE])
            .writes_only(self.process[i], [WORKING]);
        if self.takes_turns() { footprint.tests(self.turn, [i]) } else { footprint }
    }

    fn finish_footprint(&self, i: usize) -> Footprint {
        let footprint =
            Footprint::new().tests(self.process[i], [WORKING]).writes_only(self.process[i], [IDLE]);
        if self.takes_turns() { footprint.writes_only(self.turn, [self.next(i)]) } else { footprint }
    }
}

impl Model for Turns {
    fn name(&self) -> String {
        format!("turns {} {}", self.n, self.variant.word())
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        2 * self.n + 1
    }

    fn questions(&self) -> Vec<Question> {
        let often = TransitionId::from(0);
        let rarely = vec![TransitionId::from(self.n - 1)];
        vec![
            Question::MustProgress { terminal_counts: true },
            Question::Fair { often, rarely },
            Question::MayTerminate,
        ]
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        match self.part(t) {
            Part::Start(i) => self.start(i, s),
            Part::Finish(i) => self.finish(i, s),
            Part::Close => self.close(s),
        }
    }

    fn transition_name(&self, t: usize) -> String {
        match self.part(t) {
            Part::Start(i) => format!("start {i}"),
            Part::Finish(i) => format!("finish {i}"),
            Part::Close => "close".into(),
        }
    }

    fn is_must_progress(&self, s: &State<'_>) -> bool {
        s.is(self.process[self.n - 1], WORKING)
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        Some(match self.part(t) {
            Part::Start(i) => self.start_footprint(i),
            Part::Finish(i) => self.finish_footprint(i),
            Part::Close => Footprint::new().tests(self.workshop, [OPEN]).writes_only(self.workshop, [CLOSED]),
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
            let fair = answers(&Turns::new(n, Variant::Fair), Mode::Plain);
            assert_eq!(fair, [("must-progress", true), ("fair", true), ("may-terminate", true)]);
            let unfair = answers(&Turns::new(n, Variant::Unfair), Mode::Plain);
            assert_eq!(unfair, [("must-progress", false), ("fair", false), ("may-terminate", true)]);
        }
    }

    #[test]
    fn counts_can_be_counted_by_hand() {
        // Open or closed, whose turn it is, and whether that process works.
        let graph = explore(&Turns::new(3, Variant::Fair), Mode::Plain);
        assert_eq!((graph.states.len(), graph.terminal_states().len()), (12, 3));
        // Open or closed, and who works.
        let graph = explore(&Turns::new(3, Variant::Unfair), Mode::Plain);
        assert_eq!((graph.states.len(), graph.terminal_states().len()), (16, 1));
    }
}
