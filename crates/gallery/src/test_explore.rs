//! Brute force for the tests of the gallery: whole state spaces in a hash map, questions answered by
//! definition, and the oldest algorithm for stubborn sets. Shares no code with the crates that do this in
//! earnest.

use std::collections::{BTreeSet, HashMap};
use stubborn_model::{Model, ModelSystem, Question, RuleSource};
use stubborn_system::{Batch, Observed, Requirements, Rules, Symmetric, System, TransitionId};

/// All models are small enough for one word here.
type Key = [u64; 1];
type Small<'m> = ModelSystem<'m, Key>;

/// How a state space is constructed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All transitions, all states.
    Plain,
    /// One state per orbit.
    Symmetric,
    /// Stubborn sets from these rules.
    Stubborn(RuleSource),
    /// Stubborn sets and one state per orbit.
    Both(RuleSource),
}

impl Mode {
    fn rules(self) -> Option<RuleSource> {
        match self {
            Self::Plain | Self::Symmetric => None,
            Self::Stubborn(source) | Self::Both(source) => Some(source),
        }
    }

    fn is_symmetric(self) -> bool {
        matches!(self, Self::Symmetric | Self::Both(_))
    }
}

/// A state space. State 0 is the initial one, and states are in breadth-first order.
pub(crate) struct Graph {
    pub(crate) states: Vec<Key>,
    /// From, transition, to.
    pub(crate) edges: Vec<(usize, usize, usize)>,
    /// The state from which each state was found; the initial state is its own.
    parents: Vec<usize>,
}

impl Graph {
    /// The states without edges.
    pub(crate) fn terminal_states(&self) -> Vec<usize> {
        let mut has_edge = vec![false; self.states.len()];
        self.edges.iter().for_each(|&(from, _, _)| has_edge[from] = true);
        (0..self.states.len()).filter(|&state| !has_edge[state]).collect()
    }

    /// By state: whether a state of `goal` can be reached from it.
    fn can_reach(&self, goal: &[bool]) -> Vec<bool> {
        let mut predecessors = vec![Vec::new(); self.states.len()];
        self.edges.iter().for_each(|&(from, _, to)| predecessors[to].push(from));
        let mut reaching = goal.to_vec();
        let mut todo: Vec<usize> = (0..goal.len()).filter(|&state| goal[state]).collect();
        while let Some(state) = todo.pop() {
            for &from in &predecessors[state] {
                if !std::mem::replace(&mut reaching[from], true) {
                    todo.push(from);
                }
            }
        }
        reaching
    }

    /// The same states with the edges that `keep` keeps.
    fn with_edges(&self, keep: impl Fn(&(usize, usize, usize)) -> bool) -> Self {
        let edges = self.edges.iter().copied().filter(keep).collect();
        Self { states: self.states.clone(), edges, parents: self.parents.clone() }
    }

    /// Whether some edge of `transition` is on a cycle.
    fn repeats(&self, transition: usize) -> bool {
        self.edges.iter().filter(|&&(_, t, _)| t == transition).any(|&(from, _, to)| {
            let mut goal = vec![false; self.states.len()];
            goal[from] = true;
            self.can_reach(&goal)[to]
        })
    }

    /// Whether there is a cycle: some state survives when states without successors are taken away again
    /// and again.
    fn has_cycle(&self) -> bool {
        let mut predecessors = vec![Vec::new(); self.states.len()];
        let mut left = vec![0; self.states.len()];
        for &(from, _, to) in &self.edges {
            predecessors[to].push(from);
            left[from] += 1;
        }
        let mut todo: Vec<usize> = (0..left.len()).filter(|&state| left[state] == 0).collect();
        let mut removed = 0;
        while let Some(state) = todo.pop() {
            removed += 1;
            for &from in &predecessors[state] {
                left[from] -= 1;
                if left[from] == 0 {
                    todo.push(from);
                }
            }
        }
        removed < self.states.len()
    }
}

fn system(model: &dyn Model, source: RuleSource) -> Small<'_> {
    assert_eq!(model.layout().n_words(), 1, "{}", model.name());
    ModelSystem::new(model, source).unwrap()
}

fn initial(system: &Small<'_>) -> Key {
    let mut batch = Batch::new();
    system.initial(&mut batch).unwrap();
    *batch.state(0)
}

fn fire(system: &Small<'_>, state: &Key, t: usize) -> Option<Key> {
    let mut batch = Batch::new();
    let fired = system.fire(state, TransitionId::from(t), &mut batch).unwrap();
    fired.then(|| *batch.state(0))
}

fn representative(system: &Small<'_>, mut state: Key) -> Key {
    system.represent(&mut state).unwrap();
    state
}

/// Constructs the state space of `model`.
pub(crate) fn explore(model: &dyn Model, mode: Mode) -> Graph {
    let system = system(model, mode.rules().unwrap_or(RuleSource::None));
    let represent = |state: Key| if mode.is_symmetric() { representative(&system, state) } else { state };
    let first = represent(initial(&system));
    let mut numbers = HashMap::from([(first, 0)]);
    let mut graph = Graph { states: vec![first], edges: Vec::new(), parents: vec![0] };
    let mut from = 0;
    while from < graph.states.len() {
        let state = graph.states[from];
        for t in chosen(&system, &state, mode) {
            let Some(next) = fire(&system, &state, t).map(represent) else { continue };
            let to = *numbers.entry(next).or_insert_with(|| {
                graph.states.push(next);
                graph.parents.push(from);
                graph.states.len() - 1
            });
            graph.edges.push((from, t, to));
        }
        from += 1;
    }
    graph
}

/// The transitions to try in `state`, in this order.
fn chosen(system: &Small<'_>, state: &Key, mode: Mode) -> Vec<usize> {
    if mode.rules().is_some() {
        return StubbornSearch::new(system, state).run();
    }
    (0..system.n_transitions()).rev().collect()
}

/// Tarjan's algorithm over the rules of one state: the first strong component with an enabled member.
struct StubbornSearch<'a, 'm> {
    system: &'a Small<'m>,
    state: &'a Key,
    /// By node: the smallest place on the stack that is known to be reachable.
    low: Vec<usize>,
    stack: Vec<usize>,
}

impl<'a, 'm> StubbornSearch<'a, 'm> {
    const NEW: usize = usize::MAX;
    const DONE: usize = usize::MAX - 1;

    fn new(system: &'a Small<'m>, state: &'a Key) -> Self {
        Self { system, state, low: vec![Self::NEW; system.n_nodes()], stack: Vec::new() }
    }

    fn run(&mut self) -> Vec<usize> {
        for start in (0..self.system.n_transitions()).rev() {
            if self.low[start] == Self::NEW
                && let Some(component) = self.visit(start)
            {
                return component;
            }
        }
        Vec::new()
    }

    fn visit(&mut self, node: usize) -> Option<Vec<usize>> {
        let place = self.stack.len();
        self.stack.push(node);
        self.low[node] = place;
        let mut needed = Requirements::default();
        self.system.require(self.state, TransitionId::from(node), &mut needed).unwrap();
        for next in needed.smallest().iter().map(|t| t.index()) {
            if self.low[next] == Self::NEW
                && let Some(component) = self.visit(next)
            {
                return Some(component);
            }
            if self.low[next] != Self::DONE {
                self.low[node] = self.low[node].min(self.low[next]);
            }
        }
        if self.low[node] < place { None } else { self.complete(place) }
    }

    fn complete(&mut self, place: usize) -> Option<Vec<usize>> {
        let mut component = self.stack.split_off(place);
        component.iter().for_each(|&node| self.low[node] = Self::DONE);
        component.retain(|&node| node < self.system.n_transitions());
        component.iter().any(|&t| fire(self.system, self.state, t).is_some()).then_some(component)
    }
}

/// Whether each question of the model is answered with yes, by definition.
pub(crate) fn answers(model: &dyn Model, mode: Mode) -> Vec<(&'static str, bool)> {
    let system = system(model, RuleSource::None);
    let graph = explore(model, mode);
    model.questions().iter().map(|question| (question.word(), answer(&system, &graph, question))).collect()
}

fn answer(system: &Small<'_>, graph: &Graph, question: &Question) -> bool {
    let terminals = graph.terminal_states();
    let everywhere = |holds: Vec<bool>| holds.into_iter().all(|holds| holds);
    let goal = |progress: &dyn Fn(&Key) -> bool, terminal_counts: bool| {
        let mut goal: Vec<bool> = graph.states.iter().map(progress).collect();
        terminals.iter().for_each(|&state| goal[state] |= terminal_counts);
        goal
    };
    match question {
        Question::Safety => graph.states.iter().all(|state| system.check(state).unwrap().is_none()),
        Question::Deadlock => {
            let is_fine = |&state: &usize| system.check_deadlock(&graph.states[state]).unwrap().is_none();
            terminals.iter().all(is_fine)
        }
        Question::MayProgress { terminal_counts } => {
            let progress = |state: &Key| system.is_may_progress(state).unwrap();
            everywhere(graph.can_reach(&goal(&progress, *terminal_counts)))
        }
        Question::MayTerminate => everywhere(graph.can_reach(&goal(&|_| false, true))),
        Question::MustProgress { terminal_counts } => {
            let goal = goal(&|state| system.is_must_progress(state).unwrap(), *terminal_counts);
            let rest = graph.with_edges(|&(from, _, to)| !goal[from] && !goal[to]);
            terminals.iter().all(|&state| goal[state]) && !rest.has_cycle()
        }
        Question::Fair { often, rarely } => {
            let rest = graph.with_edges(|&(_, t, _)| rarely.iter().all(|rare| rare.index() != t));
            !rest.repeats(often.index())
        }
        other => panic!("no definition of {other}"),
    }
}

/// A shortest path to a state that fails the check, with the message of the check.
pub(crate) fn path_to_violation(model: &dyn Model) -> Option<(Vec<String>, String)> {
    let system = system(model, RuleSource::None);
    let graph = explore(model, Mode::Plain);
    let message = |state: usize| system.check(&graph.states[state]).unwrap();
    let mut state = (0..graph.states.len()).find(|&state| message(state).is_some())?;
    let message = message(state)?;
    let mut path = vec![system.show(&graph.states[state])];
    while state > 0 {
        state = graph.parents[state];
        path.insert(0, system.show(&graph.states[state]));
    }
    Some((path, message))
}

/// States and edges of a search that stops as soon as it finds a state that fails the check.
pub(crate) fn counts_to_violation(model: &dyn Model, mode: Mode) -> Option<(usize, usize)> {
    let system = system(model, RuleSource::None);
    let graph = explore(model, mode);
    let fails = |state: &Key| system.check(state).unwrap().is_some();
    let violation = graph.states.iter().position(fails)?;
    let last_edge = graph.edges.iter().position(|&(_, _, to)| to == violation);
    Some((violation + 1, last_edge.map_or(0, |edge| edge + 1)))
}

/// The states along the firing of `steps`, as people see them.
pub(crate) fn shown(model: &dyn Model, steps: &[usize]) -> Vec<String> {
    let system = system(model, RuleSource::None);
    let mut state = initial(&system);
    let mut lines = vec![system.show(&state)];
    for &t in steps {
        state = fire(&system, &state, t).expect("the step is enabled");
        lines.push(system.show(&state));
    }
    lines
}

/// Every model in every variant, up to the size at which brute force is still quick.
fn small_models() -> impl Iterator<Item = Box<dyn Model>> {
    let limit = |name| match name {
        "token-ring" | "philosophers" => 4,
        "alternating-bit" => 2,
        _ => 3,
    };
    crate::entries().iter().flat_map(move |entry| {
        let sizes = *entry.sizes.start()..=limit(entry.name);
        sizes.flat_map(move |size| {
            entry.variants.iter().map(move |(word, _)| entry.build(Some(size), Some(word)).unwrap())
        })
    })
}

/// The rules that `model` has.
fn sources(model: &dyn Model) -> Vec<RuleSource> {
    let hand = model.has_rules().then_some(RuleSource::Hand);
    hand.into_iter().chain([RuleSource::Derived]).collect()
}

#[test]
fn every_access_is_declared() {
    for model in small_models() {
        let system = system(&*model, RuleSource::Derived);
        let mut needed = Requirements::default();
        for state in explore(&*model, Mode::Plain).states {
            for node in (0..system.n_nodes()).map(TransitionId::from) {
                needed.clear();
                if let Err(fault) = system.require(&state, node, &mut needed) {
                    panic!("{}: {fault} in {}", model.name(), system.show(&state));
                }
            }
        }
    }
}

/// The representatives of the successors of `state`, in order and with repetitions.
fn orbits_ahead(system: &Small<'_>, state: &Key) -> Vec<Key> {
    let fired = (0..system.n_transitions()).filter_map(|t| fire(system, state, t));
    let mut orbits: Vec<Key> = fired.map(|next| representative(system, next)).collect();
    orbits.sort_unstable();
    orbits
}

#[test]
fn symmetric_models_are_symmetric() {
    for model in small_models().filter(|model| model.has_symmetry()) {
        let system = system(&*model, RuleSource::None);
        for state in explore(&*model, Mode::Plain).states {
            let other = representative(&system, state);
            let place = || format!("{} in {}", model.name(), system.show(&state));
            assert_eq!(other, representative(&system, other), "{}", place());
            assert_eq!(orbits_ahead(&system, &state), orbits_ahead(&system, &other), "{}", place());
            let fails = |s: &Key| system.check(s).unwrap().is_some();
            assert_eq!(fails(&state), fails(&other), "{}", place());
            let is_wrong_end = |s: &Key| system.check_deadlock(s).unwrap().is_some();
            assert_eq!(is_wrong_end(&state), is_wrong_end(&other), "{}", place());
            let progress = |s: &Key| system.is_may_progress(s).unwrap();
            assert_eq!(progress(&state), progress(&other), "{}", place());
        }
    }
}

#[test]
fn symmetry_changes_no_answer() {
    for model in small_models().filter(|model| model.has_symmetry()) {
        assert_eq!(answers(&*model, Mode::Symmetric), answers(&*model, Mode::Plain), "{}", model.name());
    }
}

#[test]
fn rules_preserve_terminal_states() {
    let terminal_keys = |graph: &Graph| -> BTreeSet<Key> {
        graph.terminal_states().into_iter().map(|state| graph.states[state]).collect()
    };
    for model in small_models() {
        let plain = explore(&*model, Mode::Plain);
        for source in sources(&*model) {
            let reduced = explore(&*model, Mode::Stubborn(source));
            assert!(reduced.states.len() <= plain.states.len());
            assert_eq!(terminal_keys(&reduced), terminal_keys(&plain), "{} {source:?}", model.name());
        }
    }
}

/// Where termination always remains possible, stubborn sets preserve every question but must-progress.
#[test]
fn rules_change_no_answer_where_termination_remains_possible() {
    for model in small_models() {
        let graph = explore(&*model, Mode::Plain);
        let system = system(&*model, RuleSource::None);
        if !answer(&system, &graph, &Question::MayTerminate) {
            continue;
        }
        let preserved = |mode| {
            let mut answers = answers(&*model, mode);
            answers.retain(|(word, _)| *word != "must-progress");
            answers
        };
        for source in sources(&*model) {
            let reduced = preserved(Mode::Stubborn(source));
            assert_eq!(reduced, preserved(Mode::Plain), "{} {source:?}", model.name());
        }
    }
}

#[test]
fn the_announced_answers_hold() {
    let failing = |name: &str, size, variant: &str| -> Vec<&'static str> {
        let model = crate::build(name, Some(size), Some(variant)).unwrap();
        let all = answers(&*model, Mode::Plain);
        all.into_iter().filter(|(_, holds)| !holds).map(|(word, _)| word).collect()
    };
    let nothing: [&str; 0] = [];
    for n in 2..=3 {
        assert_eq!(failing("peterson", n, "naive"), nothing);
        assert_eq!(failing("peterson", n, "revealing"), ["may-progress"]);
        assert_eq!(failing("peterson", n, "correct"), nothing);
        assert!(failing("peterson", n, "violating").contains(&"safety"));
        assert_eq!(failing("token-ring", n, "correct"), nothing);
    }
    for n in 1..=3 {
        assert_eq!(failing("river", n, "classic"), ["safety"]);
    }
    // One customer is always alone, and one participant always agrees with itself.
    for (word, _) in crate::peterson::ENTRY.variants {
        assert_eq!(failing("peterson", 1, word), nothing);
    }
    assert_eq!(failing("two-phase-commit", 1, "correct"), nothing);
}
