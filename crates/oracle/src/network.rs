//! Label-synchronised networks of small components: the systems that the campaigns are run on.
//!
//! A component has a few local states and edges with labels. A label has participants; a transition of
//! the network is a label and one edge of each participant, fired together. So transitions are
//! deterministic even where components are not. The state is one byte per component, all zero at first.
//!
//! A [`Plan`] is the data that generators, the shrinker and the text form work on; a [`Network`] is a
//! plan with the tables that firing and the rules need. What a network says about its states is kept as
//! simple as can be, so that an error in it would show as a disagreement of everything with everything.

use crate::Planted;
use stubborn_system::{Batch, Composed, Fault, Observed, Question, Symmetric, System, TransitionId};

/// An edge of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalEdge {
    /// Number of the label.
    pub label: usize,
    /// The local state that it leaves.
    pub source: u8,
    /// The local state that it leads to.
    pub target: u8,
}

/// A component: local states from 0, the initial one, and edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Component {
    /// Number of local states, at least one.
    pub n_states: u8,
    /// Edges; every label has the component among its participants.
    pub edges: Vec<LocalEdge>,
}

/// A label and who must take part in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Its name, for people.
    pub name: String,
    /// The components that take part, in ascending order. If one has no edge, the label never occurs.
    pub participants: Vec<usize>,
}

/// "This component is in this local state."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The component.
    pub component: usize,
    /// Its local state.
    pub state: u8,
}

/// "This component is in one of these local states."
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOf {
    /// The component.
    pub component: usize,
    /// The local states, in ascending order.
    pub states: Vec<u8>,
}

impl OneOf {
    fn holds(&self, state: &[u8]) -> bool {
        self.states.contains(&state[self.component])
    }
}

/// A fairness question in terms of labels, so that it survives shrinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fairness {
    /// The label of the transition that occurs infinitely often.
    pub often: usize,
    /// Which of its transitions, counted around.
    pub instance: usize,
    /// The labels whose transitions all occur only finitely often.
    pub rarely: Vec<usize>,
}

/// Which transitions the rules take to be in conflict with an enabled one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Conflicts {
    /// Those that a participant can take part in from its current local state: the next(P, s) of V93.
    #[default]
    Current,
    /// All those that share a participant: coarser, so that more disabled members must be expanded.
    Shared,
}

/// Everything that there is to say about a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The components.
    pub components: Vec<Component>,
    /// The labels.
    pub labels: Vec<Label>,
    /// The state check fails where all of these hold. If there are none, there is no state check.
    pub check: Vec<Watch>,
    /// The terminal states where it is wrong to stop; all of them, if not given.
    pub stuck: Option<OneOf>,
    /// The may-progress states; none, if not given.
    pub may_progress: Option<OneOf>,
    /// The must-progress states; none, if not given.
    pub must_progress: Option<OneOf>,
    /// What is asked about fairness.
    pub fairness: Option<Fairness>,
    /// How the rules see conflicts.
    pub conflicts: Conflicts,
    /// What is wrong with the rules, on purpose.
    pub planted: Option<Planted>,
}

/// How one component moves in a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) component: usize,
    pub(crate) source: u8,
    pub(crate) target: u8,
}

/// A transition of the network: a label and one edge per participant.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub(crate) label: usize,
    pub(crate) moves: Vec<Move>,
}

/// A plan, made ready to run.
#[derive(Clone, Debug)]
pub struct Network {
    pub(crate) plan: Plan,
    pub(crate) transitions: Vec<Transition>,
    /// By component and local state: the transitions in which the component takes part from there.
    pub(crate) leaving: Vec<Vec<Vec<TransitionId>>>,
}

impl Network {
    /// The network of `plan`.
    ///
    /// # Panics
    /// If the plan names components, labels or local states that it does not have.
    pub fn new(plan: Plan) -> Self {
        if let Err(mistake) = plan.validate() {
            panic!("{mistake}");
        }
        let transitions: Vec<Transition> =
            (0..plan.labels.len()).flat_map(|label| plan.transitions_of(label)).collect();
        let mut leaving: Vec<_> =
            plan.components.iter().map(|c| vec![Vec::new(); usize::from(c.n_states)]).collect();
        for (t, transition) in transitions.iter().enumerate() {
            for m in &transition.moves {
                leaving[m.component][usize::from(m.source)].push(TransitionId::from(t));
            }
        }
        Self { plan, transitions, leaving }
    }

    /// What the network was made from.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The same network with a fault in its rules, or with none.
    pub fn with_planted(&self, planted: Option<Planted>) -> Self {
        Self::new(Plan { planted, ..self.plan.clone() })
    }

    pub(crate) fn is_enabled(&self, state: &[u8], t: TransitionId) -> bool {
        self.transitions[t.index()].moves.iter().all(|m| state[m.component] == m.source)
    }

    fn fails(&self, state: &[u8]) -> bool {
        !self.plan.check.is_empty() && self.plan.check.iter().all(|w| state[w.component] == w.state)
    }

    /// The fairness question in terms of transitions, if its label has any.
    fn fair(&self) -> Option<Question> {
        let fairness = self.plan.fairness.as_ref()?;
        let numbers = (0..self.transitions.len()).map(TransitionId::from);
        let (mut often, mut rarely) = (Vec::new(), Vec::new());
        for t in numbers {
            let label = self.transitions[t.index()].label;
            if label == fairness.often {
                often.push(t);
            }
            if fairness.rarely.contains(&label) {
                rarely.push(t);
            }
        }
        let often = *often.get(fairness.instance.checked_rem(often.len())?)?;
        Some(Question::Fair { often, rarely })
    }
}

impl Plan {
    /// Says what the plan names but does not have.
    pub fn validate(&self) -> Result<(), String> {
        let n_states = |component: usize| {
            let found = self.components.get(component).map(|c| c.n_states);
            found.ok_or_else(|| format!("there is no component {component}"))
        };
        let has = |component: usize, state: u8| match n_states(component)? {
            n if state < n => Ok(()),
            n => Err(format!("component {component} has {n} local states, not a state {state}")),
        };
        for (i, component) in self.components.iter().enumerate() {
            for edge in &component.edges {
                has(i, edge.source)?;
                has(i, edge.target)?;
                let label = self.labels.get(edge.label).ok_or(format!("there is no label {}", edge.label))?;
                if !label.participants.contains(&i) {
                    return Err(format!("component {i} does not take part in `{}`", label.name));
                }
            }
        }
        for &component in self.labels.iter().flat_map(|l| &l.participants) {
            n_states(component)?;
        }
        for watch in &self.check {
            has(watch.component, watch.state)?;
        }
        for one_of in [&self.stuck, &self.may_progress, &self.must_progress].into_iter().flatten() {
            one_of.states.iter().try_for_each(|&state| has(one_of.component, state))?;
        }
        let fair = self.fairness.iter().flat_map(|f| f.rarely.iter().chain([&f.often]));
        match fair.max() {
            Some(&label) if label >= self.labels.len() => Err(format!("there is no label {label}")),
            _ => Ok(()),
        }
    }

    /// All combinations of one edge per participant.
    fn transitions_of(&self, label: usize) -> Vec<Transition> {
        let mut combinations = vec![Vec::new()];
        for &component in &self.labels[label].participants {
            let edges = self.components[component].edges.iter().filter(|e| e.label == label);
            let moves: Vec<Move> =
                edges.map(|e| Move { component, source: e.source, target: e.target }).collect();
            combinations = combinations
                .iter()
                .flat_map(|before| moves.iter().map(|&m| [before.as_slice(), &[m]].concat()))
                .collect();
        }
        combinations.retain(|moves| !moves.is_empty());
        combinations.into_iter().map(|moves| Transition { label, moves }).collect()
    }
}

impl System for Network {
    type State = [u8];

    fn n_transitions(&self) -> usize {
        self.transitions.len()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        let Some(transition) = self.transitions.get(t.index()) else { return "the check".into() };
        let show = |m: &Move| format!("{}.{}>{}", m.component, m.source, m.target);
        let moves: Vec<String> = transition.moves.iter().map(show).collect();
        format!("{}({})", self.plan.labels[transition.label].name, moves.join(" "))
    }

    fn initial(&self, out: &mut Batch<[u8]>) -> Result<(), Fault> {
        out.push(TransitionId(0), &vec![0; self.plan.components.len()]);
        Ok(())
    }

    fn fire(&self, state: &[u8], t: TransitionId, out: &mut Batch<[u8]>) -> Result<bool, Fault> {
        if !self.is_enabled(state, t) {
            return Ok(false);
        }
        let after = out.push_copy(t, state);
        for m in &self.transitions[t.index()].moves {
            after[m.component] = m.target;
        }
        Ok(true)
    }

    fn values(&self, state: &[u8]) -> Vec<(String, String)> {
        state.iter().enumerate().map(|(i, local)| (format!("c{i}"), local.to_string())).collect()
    }
}

impl Observed for Network {
    fn questions(&self) -> Vec<Question> {
        let mut questions = vec![
            Question::Deadlock,
            Question::MayProgress { terminal_counts: false },
            Question::MayProgress { terminal_counts: true },
            Question::MustProgress { terminal_counts: false },
            Question::MustProgress { terminal_counts: true },
            Question::MayTerminate,
        ];
        if !self.plan.check.is_empty() {
            questions.push(Question::Safety);
        }
        questions.extend(self.fair());
        questions
    }

    fn check(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        Ok(self.fails(state).then(|| "all watched components are where they should not be".into()))
    }

    fn check_deadlock(&self, state: &[u8]) -> Result<Option<String>, Fault> {
        let is_wrong = self.plan.stuck.as_ref().is_none_or(|stuck| stuck.holds(state));
        Ok(is_wrong.then(|| "deadlock".into()))
    }

    fn is_may_progress(&self, state: &[u8]) -> Result<bool, Fault> {
        Ok(self.plan.may_progress.as_ref().is_some_and(|progress| progress.holds(state)))
    }

    fn is_must_progress(&self, state: &[u8]) -> Result<bool, Fault> {
        Ok(self.plan.must_progress.as_ref().is_some_and(|progress| progress.holds(state)))
    }
}

/// Networks have no symmetry: every state represents itself.
impl Symmetric for Network {
    fn represent(&self, _: &mut [u8]) -> Result<(), Fault> {
        Ok(())
    }
}

impl Composed for Network {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_is_one_edge_of_each_participant() {
        let network =
            Network::parse("label a 0 1\nlabel b 0\ncomponent 3 a:0>1 a:0>2 b:1>0\ncomponent 2 a:0>1 a:1>0")
                .unwrap();
        let names: Vec<String> =
            (0..network.n_transitions()).map(|t| network.transition_name(t.into())).collect();
        assert_eq!(
            names,
            ["a(0.0>1 1.0>1)", "a(0.0>1 1.1>0)", "a(0.0>2 1.0>1)", "a(0.0>2 1.1>0)", "b(0.1>0)"]
        );
        let mut out = Batch::new();
        network.successors(&[0, 1], &mut out).unwrap();
        let after: Vec<&[u8]> = (0..out.len()).map(|i| out.state(i)).collect();
        assert_eq!(after, [[2, 0], [1, 0]]);
    }

    #[test]
    fn a_label_that_a_participant_never_offers_never_occurs() {
        let network = Network::parse("label a 0 1\ncomponent 2 a:0>1\ncomponent 1").unwrap();
        assert_eq!(network.n_transitions(), 0);
    }

    #[test]
    fn fairness_is_asked_of_the_transitions_of_labels() {
        let text = "label a 0\nlabel b 0\ncomponent 2 a:0>1 a:1>0 b:0>0\n";
        let with = |line: &str| Network::parse(&format!("{text}{line}")).unwrap();
        let fair = with("fair a#3 b").fair();
        assert_eq!(fair, Some(Question::Fair { often: TransitionId(1), rarely: vec![TransitionId(2)] }));
        assert_eq!(with("label c\nfair c#0 b").fair(), None);
        assert!(!with("").questions().contains(&Question::Safety));
        assert!(with("check 0=1").questions().contains(&Question::Safety));
    }

    #[test]
    fn a_plan_that_names_what_is_not_there_is_refused() {
        let label = Label { name: "a".into(), participants: vec![0] };
        let edge = LocalEdge { label: 0, source: 0, target: 1 };
        let component = Component { n_states: 2, edges: vec![edge] };
        let plan = Plan { components: vec![component], labels: vec![label], ..Plan::default() };
        assert_eq!(plan.validate(), Ok(()));
        let refused = |change: &dyn Fn(&mut Plan)| {
            let mut plan = plan.clone();
            change(&mut plan);
            plan.validate().is_err()
        };
        assert!(refused(&|p| p.components[0].n_states = 1));
        assert!(refused(&|p| p.labels.clear()));
        assert!(refused(&|p| p.labels[0].participants.clear()));
        assert!(refused(&|p| p.labels[0].participants.push(1)));
        assert!(refused(&|p| p.check.push(Watch { component: 0, state: 2 })));
        assert!(refused(&|p| p.stuck = Some(OneOf { component: 1, states: vec![0] })));
        assert!(refused(&|p| p.fairness = Some(Fairness { often: 0, instance: 0, rarely: vec![1] })));
    }
}
