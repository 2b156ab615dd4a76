//! Peterson's mutual exclusion algorithm for `n` customers, at the level where an atomic step touches at
//! most one variable that others touch, too.
//!
//! **From** A. Valmari, "Stop It, and Be Stubborn!" (ACSD 2015): the model is figure 2 with the changes
//! that section II describes, the hand-written rules are figure 4, and table I has the numbers of states
//! and edges that a faithful model must give.
//!
//! A customer passes `n - 1` gates. At gate `j` it announces itself in `Q`, then leaves the way to others
//! by writing its own number to `T[j]`, and waits until somebody else has written there or nobody else is
//! at this gate or further. The wait is a loop over `k`, because a step may look at one `Q[k]` only.
//!
//! Variables and local states have the names and numbers of the figure: 0 idle, 1 to 6 trying, 7 critical,
//! 8 stopped. Values that no longer matter (`k` after the loop, `T` of a gate left behind) are kept, as
//! in the figure: the published counts depend on it.
//!
//! **Expect**: `naive` passes, though the algorithm in it is wrong: nobody can stop, so nobody is ever
//! alone at a gate. `revealing` fails may-progress, `correct` passes, `violating` fails safety.

use crate::Entry;
use stubborn_model::{Array, Footprint, Layout, Model, Needs, Question, State};

pub(crate) const ENTRY: Entry = Entry {
    name: "peterson",
    about: "mutual exclusion for n customers by Peterson's algorithm",
    default_size: 3,
    sizes: 1..=16,
    size_means: "customers",
    variants: &[
        (Variant::Naive.word(), "gates counted from zero, customers never stop: the error does not show"),
        (Variant::Revealing.word(), "as naive, but customers may stop: the error shows as lost progress"),
        (Variant::Correct.word(), "gates counted from one, customers may stop"),
        (Variant::Violating.word(), "as correct, but with two statements swapped: exclusion is violated"),
    ],
    default_variant: Variant::Correct.word(),
    make: |size, variant| Box::new(Peterson::new(size, Variant::ALL[variant])),
};

/// Which of the four models of the publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// Gates counted from zero, and customers never stop.
    Naive,
    /// Gates counted from zero, and customers may stop.
    Revealing,
    /// Gates counted from one, and customers may stop.
    Correct,
    /// As [`Variant::Correct`], but `T` is written before `Q`.
    Violating,
}

impl Variant {
    /// All variants.
    pub const ALL: [Self; 4] = [Self::Naive, Self::Revealing, Self::Correct, Self::Violating];

    /// The word for it on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Revealing => "revealing",
            Self::Correct => "correct",
            Self::Violating => "violating",
        }
    }

    /// Whether `Q` tells gate zero from not trying at all.
    fn counts_from_one(self) -> bool {
        matches!(self, Self::Correct | Self::Violating)
    }
}

/// The local state of a customer in the critical section.
const CRITICAL: usize = 7;
/// The local state of a customer that has stopped.
const STOPPED: usize = 8;

/// The model.
pub struct Peterson {
    n: usize,
    variant: Variant,
    layout: Layout,
    /// `S`: local state of each customer.
    state: Array,
    /// `j`: the gate at which each customer is.
    gate: Array,
    /// `k`: the customer that each customer compares itself with.
    compared: Array,
    /// `Q`: the gate that each customer has announced.
    announced: Array,
    /// `T`: the customer without priority at each gate.
    yielding: Array,
}

impl Peterson {
    /// The model for `n` customers.
    ///
    /// # Panics
    ///
    /// If the size is out of the range that [`crate::entries`] gives.
    pub fn new(n: usize, variant: Variant) -> Self {
        ENTRY.expect_size(n);
        let last = n - 1;
        let mut layout = Layout::new();
        let state = layout.array("S", n, 0..=STOPPED);
        let gate = layout.array("j", n, 0..=last);
        let compared = layout.array("k", n, 0..=n);
        let announced = layout.array("Q", n, 0..=last);
        let yielding = layout.array("T", last, 0..=last);
        Self { n, variant, layout, state, gate, compared, announced, yielding }
    }

    /// Customer `i` takes its next step.
    fn step(&self, i: usize, s: &mut State<'_>) -> bool {
        let next = match s.get(self.state[i]) {
            0 => self.begin(i, s),
            1 if s.at_least(self.gate[i], self.n - 1) => CRITICAL,
            1 => 2,
            2 if self.variant == Variant::Violating => self.give_way(i, s, 3),
            2 => self.announce(i, s, 3),
            3 if self.variant == Variant::Violating => self.announce(i, s, 4),
            3 => self.give_way(i, s, 4),
            4 => self.look_at_turn(i, s),
            5 if s.at_least(self.compared[i], self.n) => self.pass_gate(i, s),
            5 => 6,
            6 => self.look_at_other(i, s),
            CRITICAL => self.leave(i, s),
            STOPPED => return false,
            _ => {
                s.fail("illegal local state");
                return false;
            }
        };
        s.set(self.state[i], next);
        true
    }

    fn begin(&self, i: usize, s: &mut State<'_>) -> usize {
        s.set(self.gate[i], 0);
        1
    }

    fn announce(&self, i: usize, s: &mut State<'_>, next: usize) -> usize {
        let gate = s.get(self.gate[i]);
        s.set(self.announced[i], gate + usize::from(self.variant.counts_from_one()));
        next
    }

    fn give_way(&self, i: usize, s: &mut State<'_>, next: usize) -> usize {
        let gate = s.get(self.gate[i]);
        s.set(self.yielding[gate], i);
        next
    }

    fn look_at_turn(&self, i: usize, s: &mut State<'_>) -> usize {
        let gate = s.get(self.gate[i]);
        if !s.is(self.yielding[gate], i) {
            return self.pass_gate(i, s);
        }
        s.set(self.compared[i], 0);
        5
    }

    fn look_at_other(&self, i: usize, s: &mut State<'_>) -> usize {
        let other = s.get(self.compared[i]);
        if other != i && !self.is_behind(other, s.get(self.gate[i]), s) {
            return 4;
        }
        s.set(self.compared[i], other + 1);
        5
    }

    /// Whether the gate that customer `other` has announced is before `gate`.
    fn is_behind(&self, other: usize, gate: usize, s: &State<'_>) -> bool {
        if self.variant.counts_from_one() {
            s.at_most(self.announced[other], gate)
        } else {
            gate > 0 && s.at_most(self.announced[other], gate - 1)
        }
    }

    /// The largest value that a customer writes to `Q`.
    fn highest_announced(&self) -> usize {
        if self.variant.counts_from_one() { self.n - 1 } else { self.n.saturating_sub(2) }
    }

    fn pass_gate(&self, i: usize, s: &mut State<'_>) -> usize {
        s.add(self.gate[i], 1);
        1
    }

    fn leave(&self, i: usize, s: &mut State<'_>) -> usize {
        s.set(self.announced[i], 0);
        0
    }

    fn stop(&self, i: usize, s: &mut State<'_>) -> bool {
        if !s.is(self.state[i], 0) {
            return false;
        }
        s.set(self.state[i], STOPPED);
        true
    }

    /// What customer `i` touches when it does not stop.
    fn step_footprint(&self, i: usize) -> Footprint {
        let own = Footprint::new()
            .reads(self.state[i])
            .writes_only(self.state[i], 0..=CRITICAL)
            .updates(self.gate[i])
            .updates(self.compared[i])
            .writes_only(self.announced[i], 0..=self.highest_announced());
        let gates = self.yielding.iter().fold(own, |f, gate| f.tests(gate, [i]).writes_only(gate, [i]));
        let others = (0..self.n).filter(|&other| other != i);
        others.fold(gates, |f, other| f.reads(self.announced[other]))
    }

    /// Figure 4 for the transition of customer `i`.
    fn step_rules(&self, i: usize, s: &State<'_>, need: &mut Needs<'_>) {
        match s.get(self.state[i]) {
            0 if self.variant == Variant::Naive => {}
            0 => need.transition(i + self.n),
            1 | 5 | STOPPED => {}
            // Nobody else writes `i` to `T[j]`, so nobody else can make this test fail again.
            4 if !s.is(self.yielding[s.get(self.gate[i])], i) => {}
            _ => need.all(),
        }
    }
}

impl Model for Peterson {
    fn name(&self) -> String {
        format!("peterson {} {}", self.n, self.variant.word())
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        if self.variant == Variant::Naive { self.n } else { 2 * self.n }
    }

    fn questions(&self) -> Vec<Question> {
        vec![Question::Safety, Question::MayProgress { terminal_counts: true }]
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        if t < self.n { self.step(t, s) } else { self.stop(t - self.n, s) }
    }

    fn transition_name(&self, t: usize) -> String {
        if t < self.n { format!("customer {t}") } else { format!("stop {}", t - self.n) }
    }

    fn show(&self, s: &State<'_>) -> Option<String> {
        let letters = ['-', 'j', 'Q', 'T', 'w', 'k', 'A', '*', ' '];
        let mut line = String::new();
        for i in 0..self.n {
            let letter = letters[s.get(self.state[i])];
            let (gate, compared) = (s.get(self.gate[i]), s.get(self.compared[i]));
            line += &format!("{gate}{letter}{compared}{} ", s.get(self.announced[i]));
        }
        line.extend(self.yielding.iter().map(|gate| s.get(gate).to_string()));
        Some(line)
    }

    fn check(&self, s: &State<'_>) -> Result<(), String> {
        let mut critical = (0..self.n).filter(|&i| s.is(self.state[i], CRITICAL));
        match (critical.next(), critical.next()) {
            (Some(one), Some(other)) => {
                Err(format!("mutual exclusion violated: customers {one} and {other} are both critical"))
            }
            _ => Ok(()),
        }
    }

    fn is_may_progress(&self, s: &State<'_>) -> bool {
        if self.variant == Variant::Naive {
            s.is(self.state[0], CRITICAL)
        } else {
            s.at_least(self.state[0], CRITICAL)
        }
    }

    fn has_rules(&self) -> bool {
        true
    }

    fn rules(&self, t: usize, s: &State<'_>, need: &mut Needs<'_>) {
        if t < self.n { self.step_rules(t, s, need) } else { need.transition(t - self.n) }
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        Some(if t < self.n {
            self.step_footprint(t)
        } else {
            let state = self.state[t - self.n];
            Footprint::new().tests(state, [0]).writes_only(state, [STOPPED])
        })
    }

    fn check_footprint(&self) -> Option<Footprint> {
        Some(self.state.iter().fold(Footprint::new(), |f, state| f.fails_by(state, [CRITICAL])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_explore::{Mode, counts_to_violation, explore, path_to_violation, shown};
    use stubborn_model::RuleSource;

    fn counts(n: usize, variant: Variant, mode: Mode) -> (usize, usize, usize) {
        let graph = explore(&Peterson::new(n, variant), mode);
        (graph.states.len(), graph.edges.len(), graph.terminal_states().len())
    }

    #[test]
    fn four_customers_fit_a_word() {
        assert_eq!(Peterson::new(4, Variant::Correct).layout().n_bits(), 50);
    }

    #[test]
    fn plain_counts_are_those_of_the_publication() {
        assert_eq!(counts(2, Variant::Naive, Mode::Plain), (133, 266, 0));
        assert_eq!(counts(3, Variant::Naive, Mode::Plain), (38_038, 114_114, 0));
        assert_eq!(counts(2, Variant::Revealing, Mode::Plain), (163, 326, 1));
        assert_eq!(counts(3, Variant::Revealing, Mode::Plain), (43_675, 131_025, 1));
        assert_eq!(counts(2, Variant::Correct, Mode::Plain), (574, 1_148, 8));
        assert_eq!(counts(3, Variant::Correct, Mode::Plain), (96_854, 290_562, 27));
    }

    #[test]
    fn plain_counts_beyond_the_violation() {
        let (states, edges, _) = counts(2, Variant::Violating, Mode::Plain);
        assert_eq!((states, edges), (788, 1_576));
        let (states, edges, _) = counts(3, Variant::Violating, Mode::Plain);
        assert_eq!((states, edges), (410_511, 1_231_533));
    }

    #[test]
    fn stubborn_counts_with_the_rules_of_figure_4() {
        let reduced = Mode::Stubborn(RuleSource::Hand);
        assert_eq!(counts(2, Variant::Naive, reduced), (88, 124, 0));
        assert_eq!(counts(3, Variant::Naive, reduced), (18_817, 34_083, 0));
        assert_eq!(counts(2, Variant::Revealing, reduced), (116, 162, 1));
        assert_eq!(counts(3, Variant::Revealing, reduced), (23_134, 41_562, 1));
        assert_eq!(counts(2, Variant::Correct, reduced), (378, 522, 8));
        assert_eq!(counts(3, Variant::Correct, reduced), (44_868, 78_750, 27));
        let (states, edges, _) = counts(2, Variant::Violating, reduced);
        assert_eq!((states, edges), (595, 820));
        let (states, edges, _) = counts(3, Variant::Violating, reduced);
        assert_eq!((states, edges), (214_226, 346_676));
    }

    #[test]
    fn the_violation_is_as_far_away_as_published() {
        for (n, length) in [(2, 18), (3, 31)] {
            let model = Peterson::new(n, Variant::Violating);
            let (path, message) = path_to_violation(&model).unwrap();
            assert_eq!(path.len(), length);
            assert!(message.starts_with("mutual exclusion violated: customers "));
            assert!(message.ends_with(" are both critical"));
        }
    }

    /// These numbers also depend on the order in which transitions are fired.
    #[test]
    fn counts_up_to_the_violation_are_those_of_the_publication() {
        let counts = |n, mode| counts_to_violation(&Peterson::new(n, Variant::Violating), mode);
        assert_eq!(counts(2, Mode::Plain), Some((336, 602)));
        assert_eq!(counts(3, Mode::Plain), Some((32_957, 87_081)));
        assert_eq!(counts(2, Mode::Stubborn(RuleSource::Hand)), Some((219, 258)));
        assert_eq!(counts(3, Mode::Stubborn(RuleSource::Hand)), Some((15_164, 22_100)));
    }

    #[test]
    fn states_look_as_in_the_figure() {
        let model = Peterson::new(2, Variant::Revealing);
        // Customer 1 stops, then customer 0 goes round its waiting loop.
        let steps = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let expected = [
            "0-00 0-00 0",
            "0-00 0 00 0",
            "0j00 0 00 0",
            "0Q00 0 00 0",
            "0T00 0 00 0",
            "0w00 0 00 0",
            "0k00 0 00 0",
            "0A00 0 00 0",
            "0k10 0 00 0",
            "0A10 0 00 0",
            "0w10 0 00 0",
        ];
        assert_eq!(shown(&model, &steps), expected);
    }
}
