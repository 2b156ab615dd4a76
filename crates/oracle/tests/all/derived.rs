//! Derived rules: the smallest models on which a set that is closed under them was seen not to be stubborn.

use stubborn_model::{Footprint, Layout, Model, ModelSystem, Question, RuleSource, State, TransitionId, Var};
use stubborn_oracle::FullGraph;
use stubborn_oracle::closure::{close, smallest};
use stubborn_oracle::definition::check_outside;

/// One transition, `x := 1`. The check fails if `x` is 1, or if `x` is 0 and `y` is 1: both values of `x`
/// can help it to fail, and both are declared. What the check looks at depends on what it has seen.
struct BothWays {
    layout: Layout,
    x: Var,
    y: Var,
}

impl BothWays {
    fn new(largest: usize) -> Self {
        let mut layout = Layout::new();
        let (x, y) = (layout.var("x", 0..=largest), layout.var("y", 0..=1));
        Self { layout, x, y }
    }
}

impl Model for BothWays {
    fn name(&self) -> String {
        "both ways".into()
    }
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn n_transitions(&self) -> usize {
        1
    }
    fn questions(&self) -> Vec<Question> {
        vec![Question::Safety]
    }
    fn fire(&self, _: usize, s: &mut State<'_>) -> bool {
        let is_enabled = s.is(self.x, 0);
        if is_enabled {
            s.set(self.x, 1);
        }
        is_enabled
    }
    fn footprint(&self, _: usize) -> Option<Footprint> {
        Some(Footprint::new().tests(self.x, [0]).writes_only(self.x, [1]))
    }
    fn check(&self, s: &State<'_>) -> Result<(), String> {
        let is_bad = if s.is(self.x, 0) { s.is(self.y, 1) } else { s.is(self.x, 1) };
        if is_bad { Err("bad".into()) } else { Ok(()) }
    }
    fn check_footprint(&self) -> Option<Footprint> {
        Some(Footprint::new().fails_by(self.x, [0]).fails_by(self.y, [1]).fails_by(self.x, [1]))
    }
}

/// The closure of `t_c` in the initial state is stubborn there.
fn check(largest: usize) {
    let model = BothWays::new(largest);
    let system = ModelSystem::<[u64; 1]>::new(&model, RuleSource::Derived).unwrap();
    let graph = FullGraph::explore(&system, 10).unwrap();
    let set = close(&system, graph.state(0), TransitionId(1), smallest).unwrap();
    assert_eq!(check_outside(&system, &set, graph.state(0)), Ok(()));
}

#[test]
fn a_variable_may_help_the_check_to_fail_both_ways() {
    check(1);
}

#[test]
fn a_fact_that_the_check_did_not_look_at_may_make_it_fail() {
    check(2);
}
