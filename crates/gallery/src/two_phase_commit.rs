//! Two-phase commit: a coordinator and `n` participants agree whether a transaction happens.
//!
//! **From** J. N. Gray, "Notes on Data Base Operating Systems" (1978), without crashes. In the first phase
//! each participant either votes yes, and from then on waits for orders, or refuses and aborts on its own.
//! In the second phase the coordinator decides to commit if all votes are yes and to abort if one is no,
//! and sends the order to each participant separately. Votes and orders are messages that stay in a
//! variable of their own once they are sent.
//!
//! **Expect**: `correct` passes. In `hasty` the coordinator commits if nobody has refused *so far*; it
//! fails safety, and ends where participants have decided differently. Participants are alike, so any
//! permutation of them is a symmetry.

use crate::Entry;
use stubborn_model::{Array, Footprint, Layout, Model, Question, State, Var};

pub(crate) const ENTRY: Entry = Entry {
    name: "two-phase-commit",
    about: "a coordinator and participants commit a transaction together or not at all",
    default_size: 4,
    sizes: 1..=MOST_PARTICIPANTS,
    size_means: "participants",
    variants: &[
        (Variant::Correct.word(), "the coordinator waits for all votes before it commits"),
        (Variant::Hasty.word(), "the coordinator commits as long as nobody has refused"),
    ],
    default_variant: Variant::Correct.word(),
    make: |size, variant| Box::new(TwoPhaseCommit::new(size, Variant::ALL[variant])),
};

const MOST_PARTICIPANTS: usize = 32;

/// When the coordinator commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// When all votes are yes.
    Correct,
    /// While no vote is no.
    Hasty,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 2] = [Self::Correct, Self::Hasty];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::Hasty => "hasty",
        }
    }
}

/// The coordinator has not decided; the order has not been sent.
const UNDECIDED: usize = 0;
const COMMIT: usize = 1;
const ABORT: usize = 2;

const WORKING: usize = 0;
/// Has voted yes and waits for the order.
const READY: usize = 1;
const COMMITTED: usize = 2;
const ABORTED: usize = 3;

const YES: usize = 1;
const NO: usize = 2;

/// The model.
pub struct TwoPhaseCommit {
    n: usize,
    variant: Variant,
    layout: Layout,
    coordinator: Var,
    participant: Array,
    /// The message from each participant.
    vote: Array,
    /// The message to each participant.
    order: Array,
}

/// What a transition is about.
#[derive(Clone, Copy)]
enum Part {
    /// This participant votes yes.
    Agree(usize),
    /// This participant aborts on its own and votes no.
    Refuse(usize),
    /// The coordinator tells this participant what it has decided.
    Order(usize),
    /// This participant does what it was told.
    Obey(usize),
    /// The coordinator decides to commit.
    Commit,
    /// The coordinator decides to abort.
    Abort,
}

impl TwoPhaseCommit {
    /// The protocol for `n` participants.
    ///
    /// # Panics
    ///
    /// If the size is out of the range that [`crate::entries`] gives.
    pub fn new(n: usize, variant: Variant) -> Self {
        ENTRY.expect_size(n);
        let mut layout = Layout::new();
        let coordinator = layout.named("coordinator", &["undecided", "commit", "abort"]);
        let states = ["working", "ready", "committed", "aborted"];
        let participant = layout.named_array("participant", n, &states);
        let vote = layout.named_array("vote", n, &["none", "yes", "no"]);
        let order = layout.named_array("order", n, &["none", "commit", "abort"]);
        Self { n, variant, layout, coordinator, participant, vote, order }
    }

    fn part(&self, t: usize) -> Part {
        let i = t % self.n;
        match t / self.n {
            0 => Part::Agree(i),
            1 => Part::Refuse(i),
            2 => Part::Order(i),
            3 => Part::Obey(i),
            _ if t == 4 * self.n => Part::Commit,
            _ => Part::Abort,
        }
    }

    fn vote(&self, i: usize, next: usize, vote: usize, s: &mut State<'_>) -> bool {
        if !s.is(self.participant[i], WORKING) {
            return false;
        }
        s.set(self.participant[i], next);
        s.set(self.vote[i], vote);
        true
    }

    fn order(&self, i: usize, s: &mut State<'_>) -> bool {
        if s.is(self.coordinator, UNDECIDED) || !s.is(self.order[i], UNDECIDED) {
            return false;
        }
        let decision = if s.is(self.coordinator, COMMIT) { COMMIT } else { ABORT };
        s.set(self.order[i], decision);
        true
    }

    fn obey(&self, i: usize, s: &mut State<'_>) -> bool {
        if !s.is(self.participant[i], READY) || s.is(self.order[i], UNDECIDED) {
            return false;
        }
        let next = if s.is(self.order[i], COMMIT) { COMMITTED } else { ABORTED };
        s.set(self.participant[i], next);
        true
    }

    fn decide(&self, decision: usize, s: &mut State<'_>) -> bool {
        if !s.is(self.coordinator, UNDECIDED) || !self.may_decide(decision, s) {
            return false;
        }
        s.set(self.coordinator, decision);
        true
    }

    fn may_decide(&self, decision: usize, s: &State<'_>) -> bool {
        match (decision, self.variant) {
            (ABORT, _) => self.vote.iter().any(|vote| s.is(vote, NO)),
            (_, Variant::Correct) => self.vote.iter().all(|vote| s.is(vote, YES)),
            (_, Variant::Hasty) => !self.vote.iter().any(|vote| s.is(vote, NO)),
        }
    }

    fn vote_footprint(&self, i: usize, next: usize, vote: usize) -> Footprint {
        Footprint::new()
            .tests(self.participant[i], [WORKING])
            .writes_only(self.participant[i], [next])
            .writes_only(self.vote[i], [vote])
    }

    fn order_footprint(&self, i: usize) -> Footprint {
        Footprint::new()
            .tests(self.coordinator, [UNDECIDED])
            .tests(self.coordinator, [COMMIT])
            .tests(self.order[i], [UNDECIDED])
            .writes_only(self.order[i], [COMMIT, ABORT])
    }

    fn obey_footprint(&self, i: usize) -> Footprint {
        Footprint::new()
            .tests(self.participant[i], [READY])
            .tests(self.order[i], [UNDECIDED])
            .tests(self.order[i], [COMMIT])
            .writes_only(self.participant[i], [COMMITTED, ABORTED])
    }

    fn decision_footprint(&self, decision: usize) -> Footprint {
        let waits = decision == COMMIT && self.variant == Variant::Correct;
        let looked_for = if waits { YES } else { NO };
        let own =
            Footprint::new().tests(self.coordinator, [UNDECIDED]).writes_only(self.coordinator, [decision]);
        self.vote.iter().fold(own, |f, vote| f.tests(vote, [looked_for]))
    }

    /// The first participant in this state.
    fn first_in(&self, state: usize, s: &State<'_>) -> Option<usize> {
        (0..self.n).find(|&i| s.is(self.participant[i], state))
    }
}

impl Model for TwoPhaseCommit {
    fn name(&self) -> String {
        format!("two-phase-commit {} {}", self.n, self.variant.word())
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        4 * self.n + 2
    }

    fn questions(&self) -> Vec<Question> {
        vec![Question::Safety, Question::Deadlock, Question::MayTerminate]
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        match self.part(t) {
            Part::Agree(i) => self.vote(i, READY, YES, s),
            Part::Refuse(i) => self.vote(i, ABORTED, NO, s),
            Part::Order(i) => self.order(i, s),
            Part::Obey(i) => self.obey(i, s),
            Part::Commit => self.decide(COMMIT, s),
            Part::Abort => self.decide(ABORT, s),
        }
    }

    fn transition_name(&self, t: usize) -> String {
        match self.part(t) {
            Part::Agree(i) => format!("participant {i} votes yes"),
            Part::Refuse(i) => format!("participant {i} refuses"),
            Part::Order(i) => format!("order to participant {i}"),
            Part::Obey(i) => format!("participant {i} obeys"),
            Part::Commit => "coordinator commits".into(),
            Part::Abort => "coordinator aborts".into(),
        }
    }

    fn check(&self, s: &State<'_>) -> Result<(), String> {
        match (self.first_in(COMMITTED, s), self.first_in(ABORTED, s)) {
            (Some(one), Some(other)) => {
                Err(format!("participant {one} has committed and participant {other} has aborted"))
            }
            _ => Ok(()),
        }
    }

    fn check_deadlock(&self, s: &State<'_>) -> Result<(), String> {
        for undecided in [WORKING, READY] {
            if let Some(i) = self.first_in(undecided, s) {
                return Err(format!("participant {i} never learns the outcome"));
            }
        }
        self.check(s)
    }

    fn has_symmetry(&self) -> bool {
        true
    }

    /// Sorts the participants.
    fn represent(&self, s: &mut State<'_>) {
        let mut all = [(0, 0, 0); MOST_PARTICIPANTS];
        let all = &mut all[..self.n];
        for (i, one) in all.iter_mut().enumerate() {
            *one = (s.get(self.participant[i]), s.get(self.vote[i]), s.get(self.order[i]));
        }
        all.sort_unstable();
        for (i, &(participant, vote, order)) in all.iter().enumerate() {
            s.set(self.participant[i], participant);
            s.set(self.vote[i], vote);
            s.set(self.order[i], order);
        }
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        Some(match self.part(t) {
            Part::Agree(i) => self.vote_footprint(i, READY, YES),
            Part::Refuse(i) => self.vote_footprint(i, ABORTED, NO),
            Part::Order(i) => self.order_footprint(i),
            Part::Obey(i) => self.obey_footprint(i),
            Part::Commit => self.decision_footprint(COMMIT),
            Part::Abort => self.decision_footprint(ABORT),
        })
    }

    fn check_footprint(&self) -> Option<Footprint> {
        let looks = |f: Footprint, participant: Var| {
            f.fails_by(participant, [COMMITTED]).fails_by(participant, [ABORTED])
        };
        Some(self.participant.iter().fold(Footprint::new(), looks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_explore::{Mode, answers};

    #[test]
    fn the_answers_are_as_announced() {
        for n in 2..=3 {
            let model = TwoPhaseCommit::new(n, Variant::Correct);
            let expected = [("safety", true), ("deadlock", true), ("may-terminate", true)];
            assert_eq!(answers(&model, Mode::Plain), expected);
            assert_eq!(answers(&model, Mode::Symmetric), expected);
            let model = TwoPhaseCommit::new(n, Variant::Hasty);
            let expected = [("safety", false), ("deadlock", false), ("may-terminate", true)];
            assert_eq!(answers(&model, Mode::Plain), expected);
            assert_eq!(answers(&model, Mode::Symmetric), expected);
        }
    }
}
