//! Semantics of processes by definition, and random pairs of processes to compare.
//!
//! Traces are followed in sets of states on both sides; a step is seen by its action and by the propositions that it
//! changes (HVV Definition 5). Refusals are looked at set by set, all of them. Bisimilarities are found by putting apart
//! what can be told apart, pair by pair, until nothing changes. Nothing here uses what is judged.

use crate::Rng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use stubborn_lts::{Component, Expr, Lsts, LstsBuilder, Mark, Plan, TAU};

/// What can be seen of a step: the action, none for tau, and the propositions that change.
pub type Seen = (Option<String>, BTreeSet<String>);

type States = BTreeSet<u32>;

/// The propositions of a state.
pub fn holding(lsts: &Lsts, state: u32) -> BTreeSet<String> {
    let propositions = lsts.propositions().iter().filter(|p| p.states.contains(state as usize));
    propositions.filter_map(|p| p.mark.name().map(str::to_owned)).collect()
}

fn seen(lsts: &Lsts, source: u32, action: u32, target: u32) -> Option<Seen> {
    let (before, after) = (holding(lsts, source), holding(lsts, target));
    let changed: BTreeSet<String> = before.symmetric_difference(&after).cloned().collect();
    let name = (action != TAU).then(|| lsts.action_name(action).to_owned());
    (name.is_some() || !changed.is_empty()).then_some((name, changed))
}

fn closed(lsts: &Lsts, mut states: States) -> States {
    loop {
        let unseen = |&state: &u32| {
            lsts.edges(state).filter(move |e| seen(lsts, state, e.0, e.1).is_none()).map(|e| e.1)
        };
        let more: Vec<u32> = states.iter().flat_map(unseen).filter(|t| !states.contains(t)).collect();
        if more.is_empty() {
            return states;
        }
        states.extend(more);
    }
}

/// The states before any visible step.
pub fn start(lsts: &Lsts) -> BTreeSet<u32> {
    closed(lsts, [lsts.initial()].into())
}

/// What can be seen next, and the states behind it.
pub fn steps(lsts: &Lsts, states: &BTreeSet<u32>) -> BTreeMap<Seen, BTreeSet<u32>> {
    let mut next: BTreeMap<Seen, States> = BTreeMap::new();
    for &state in states {
        for (action, target) in lsts.edges(state) {
            if let Some(seen) = seen(lsts, state, action, target) {
                next.entry(seen).or_default().insert(target);
            }
        }
    }
    next.into_iter().map(|(seen, targets)| (seen, closed(lsts, targets))).collect()
}

/// Whether an unseen cycle is among the states.
pub fn diverges(lsts: &Lsts, states: &BTreeSet<u32>) -> bool {
    states.iter().any(|&state| {
        let next = lsts.edges(state).filter(|e| seen(lsts, state, e.0, e.1).is_none()).map(|e| e.1);
        closed(lsts, next.collect()).contains(&state)
    })
}

/// Whether a state of the set has no tau and none of these actions.
pub fn refuses(lsts: &Lsts, states: &BTreeSet<u32>, actions: &BTreeSet<String>) -> bool {
    states.iter().any(|&state| {
        lsts.edges(state).all(|(action, _)| action != TAU && !actions.contains(lsts.action_name(action)))
    })
}

/// By what one system exceeds another: the length of a shortest trace to it, if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excesses {
    /// Traces, stable failures, divergence traces: CFFD.
    pub cffd: Option<usize>,
    /// The same without failures after divergence traces of the other.
    pub ndfd: Option<usize>,
    /// Traces and stable failures.
    pub failures: Option<usize>,
    /// All of them, but nothing from a divergence trace of the other on.
    pub csp: Option<usize>,
    /// Traces.
    pub traces: Option<usize>,
}

/// By what `left` exceeds `right`. Both have the same actions and propositions.
pub fn excesses(left: &Lsts, right: &Lsts) -> Excesses {
    let mut found = Excesses::default();
    let least =
        |slot: &mut Option<usize>, length: usize| *slot = Some(slot.map_or(length, |l| l.min(length)));
    if holding(left, left.initial()) != holding(right, right.initial()) {
        let zero = Some(0);
        return Excesses { cffd: zero, ndfd: zero, failures: zero, csp: zero, traces: zero };
    }
    let first = (start(left), start(right), false);
    let mut known = BTreeSet::from([first.clone()]);
    let mut waiting = VecDeque::from([(first, 0)]);
    while let Some(((these, those, was_chaos), length)) = waiting.pop_front() {
        let may_diverge = diverges(right, &those);
        let is_chaos = was_chaos || may_diverge;
        if diverges(left, &these) && !may_diverge {
            least(&mut found.cffd, length);
            least(&mut found.ndfd, length);
            if !is_chaos {
                least(&mut found.csp, length);
            }
        }
        let is_new = |set: &BTreeSet<String>| refuses(left, &these, set) && !refuses(right, &those, set);
        if subsets(left.action_names()).iter().any(is_new) {
            least(&mut found.cffd, length);
            least(&mut found.failures, length);
            if !may_diverge {
                least(&mut found.ndfd, length);
            }
            if !is_chaos {
                least(&mut found.csp, length);
            }
        }
        let mut allowed = steps(right, &those);
        for (seen, next) in steps(left, &these) {
            let Some(behind) = allowed.remove(&seen) else {
                let Excesses { cffd, ndfd, failures, csp, traces } = &mut found;
                [cffd, ndfd, failures, traces].into_iter().for_each(|slot| least(slot, length + 1));
                if !is_chaos {
                    least(csp, length + 1);
                }
                continue;
            };
            let pair = (next, behind, is_chaos);
            if known.insert(pair.clone()) {
                waiting.push_back((pair, length + 1));
            }
        }
    }
    found
}

fn subsets(names: &[String]) -> Vec<BTreeSet<String>> {
    let is_in = |set: u32, i: usize| set >> i & 1 == 1;
    (0..1u32 << names.len())
        .map(|set| names.iter().enumerate().filter(|(i, _)| is_in(set, *i)).map(|(_, n)| n.clone()).collect())
        .collect()
}

/// The classes of the states of both systems, those of the second behind those of the first.
struct Classes<'a> {
    systems: [&'a Lsts; 2],
    class: Vec<usize>,
}

impl Classes<'_> {
    fn edges(&self, state: usize) -> Vec<(String, usize)> {
        let first = self.systems[0].n_states();
        let (lsts, offset) = if state < first { (self.systems[0], 0) } else { (self.systems[1], first) };
        let edges = lsts.edges((state - offset) as u32);
        edges.map(|(a, t)| (lsts.action_name(a).to_owned(), t as usize + offset)).collect()
    }

    /// What can be reached by tau inside the class, the state itself included.
    fn inside(&self, state: usize) -> BTreeSet<usize> {
        let mut all = BTreeSet::from([state]);
        loop {
            let more: Vec<usize> =
                all.iter().flat_map(|&s| self.unseen(s)).filter(|t| !all.contains(t)).collect();
            if more.is_empty() {
                return all;
            }
            all.extend(more);
        }
    }

    fn unseen(&self, state: usize) -> Vec<usize> {
        let stays =
            |(action, target): &(String, usize)| action == "tau" && self.class[*target] == self.class[state];
        self.edges(state).into_iter().filter(stays).map(|edge| edge.1).collect()
    }

    /// What a state can do as far as its class shows: action and class behind it.
    fn strong(&self, state: usize) -> (BTreeSet<(String, usize)>, bool) {
        (self.edges(state).into_iter().map(|(action, target)| (action, self.class[target])).collect(), false)
    }

    /// The same after tau inside the class, and whether that can go on for ever.
    fn branching(&self, state: usize) -> (BTreeSet<(String, usize)>, bool) {
        let inside = self.inside(state);
        let leaves = |(action, class): &(String, usize)| action != "tau" || *class != self.class[state];
        let moves = inside.iter().flat_map(|&s| self.strong(s).0).filter(leaves).collect();
        let is_endless =
            inside.iter().any(|&s| self.unseen(s).iter().any(|&next| self.inside(next).contains(&s)));
        (moves, is_endless)
    }
}

/// Whether the initial states are bisimilar: strongly, or branching with divergence preserved.
pub fn are_bisimilar(left: &Lsts, right: &Lsts, is_strong: bool) -> bool {
    let values: Vec<BTreeSet<String>> = [left, right]
        .iter()
        .flat_map(|lsts| (0..lsts.n_states() as u32).map(|state| holding(lsts, state)))
        .collect();
    let first = |value| values.iter().position(|other| other == value).unwrap_or(0);
    let mut classes = Classes { systems: [left, right], class: values.iter().map(first).collect() };
    loop {
        let facts: Vec<_> = (0..values.len())
            .map(|s| (classes.class[s], if is_strong { classes.strong(s) } else { classes.branching(s) }))
            .collect();
        let next: Vec<usize> =
            facts.iter().map(|fact| facts.iter().position(|other| other == fact).unwrap_or(0)).collect();
        if next == classes.class {
            break;
        }
        classes.class = next;
    }
    classes.class[left.initial() as usize] == classes.class[left.n_states() + right.initial() as usize]
}

/// A system before it is one: valuations, edges with tau as 0.
#[derive(Clone, Debug)]
struct Draft {
    holds: Vec<u32>,
    edges: Vec<(u32, u32, u32)>,
}

/// Two systems with the same actions and propositions; often the second is the first with a small change, and often
/// the change is none that counts.
pub fn random_systems(rng: &mut Rng) -> (Lsts, Lsts) {
    let n_actions = rng.between(1, 3) as u32;
    let n_propositions = if rng.chance(1, 2) { 0 } else { rng.between(1, 2) };
    let one = draft(rng, n_actions, n_propositions);
    let mut two = if rng.chance(1, 6) { draft(rng, n_actions, n_propositions) } else { one.clone() };
    for _ in 0..rng.between(1, 3) {
        change(rng, &mut two, n_actions);
    }
    let pair = (one.lsts(n_actions, n_propositions), two.lsts(n_actions, n_propositions));
    if rng.chance(1, 2) { pair } else { (pair.1, pair.0) }
}

/// A network of two or three such systems: rules for one or two of them, of which some are hidden, and propositions of
/// the result that depend on those of one or two.
pub fn random_composition(rng: &mut Rng) -> Plan {
    let n_actions = 3;
    let mut plan = Plan::new();
    let n = rng.between(2, 3);
    for i in 0..n {
        let mut draft = draft(rng, n_actions, 2);
        // States that are the same, so that there is something to merge.
        (0..3).for_each(|_| change(rng, &mut draft, n_actions));
        let lsts = draft.lsts(n_actions, 2);
        let (prefix, name) = (String::new(), format!("c{i}"));
        plan.add_component(Component { number: i as u64 + 1, prefix, name, lsts: lsts.into() });
    }
    let action = |rng: &mut Rng| rng.between(1, n_actions as usize) as u32;
    for _ in 0..rng.between(6, 12) {
        let n_parts = rng.between(1, 2);
        let mut parts: Vec<(usize, u32)> =
            rng.sample(n_parts, n).into_iter().map(|component| (component, action(rng))).collect();
        parts.sort_unstable();
        let result = if rng.chance(1, 3) { TAU } else { plan.result(&format!("r{}", rng.below(3))) };
        plan.add_rule(parts, result).expect("the parts are actions of processes");
    }
    for i in 0..rng.below(3) {
        let holds = |rng: &mut Rng| Expr::Holds { component: rng.below(n), proposition: rng.below(2) };
        let both = vec![holds(rng), holds(rng)];
        let expr = if rng.chance(1, 2) { Expr::And(both) } else { Expr::Or(both) };
        plan.add_proposition(expr, Mark::Named(format!("q{i}")));
    }
    plan.finish();
    plan
}

/// A network of components that have little to do with each other, so that there is something to leave out: most
/// actions happen alone or with one other, and most are not seen.
pub fn random_loose_composition(rng: &mut Rng) -> Plan {
    let n_actions = 3;
    let mut plan = Plan::new();
    let n = rng.between(2, 4);
    for i in 0..n {
        let lsts = draft(rng, n_actions, 1).lsts(n_actions, 1);
        let (prefix, name) = (String::new(), format!("c{i}"));
        plan.add_component(Component { number: i as u64 + 1, prefix, name, lsts: lsts.into() });
    }
    for component in 0..n {
        for action in 1..=n_actions {
            let mut parts = vec![(component, action)];
            let other = rng.below(n);
            if other != component && rng.chance(1, 2) {
                parts.push((other, rng.between(1, n_actions as usize) as u32));
            }
            parts.sort_unstable();
            let result = if rng.chance(3, 5) { TAU } else { plan.result(&format!("r{}", rng.below(3))) };
            plan.add_rule(parts, result).expect("the parts are actions of processes");
        }
    }
    if rng.chance(1, 2) {
        let holds = |rng: &mut Rng| Expr::Holds { component: rng.below(n), proposition: 0 };
        let expr = if rng.chance(1, 2) { holds(rng) } else { Expr::And(vec![holds(rng), holds(rng)]) };
        plan.add_proposition(expr, Mark::Named("q".into()));
    }
    plan.finish();
    plan
}

/// The same network of other components, which have the same actions and propositions in the same order.
pub fn with_components(plan: &Plan, change: impl Fn(&Lsts) -> Lsts) -> Plan {
    let mut changed = Plan::new();
    for component in plan.components() {
        changed.add_component(Component { lsts: change(&component.lsts).into(), ..component.clone() });
    }
    for rule in plan.rules() {
        let result = if rule.result == TAU { TAU } else { changed.result(plan.action_name(rule.result)) };
        changed.add_rule(rule.parts.clone(), result).expect("the parts are actions of processes");
    }
    for rule in plan.propositions().iter().filter(|rule| !rule.is_implied) {
        changed.add_proposition(rule.expr.clone(), rule.result.clone());
    }
    changed.finish();
    changed
}

fn draft(rng: &mut Rng, n_actions: u32, n_propositions: usize) -> Draft {
    let n = rng.between(1, 5);
    let value = |rng: &mut Rng| if rng.chance(1, 2) { 0 } else { rng.below(1 << n_propositions) as u32 };
    let holds = (0..n).map(|_| value(rng)).collect();
    let mut edges = Vec::new();
    for state in 1..n {
        edges.push((rng.below(state) as u32, label(rng, n_actions), state as u32));
    }
    for _ in 0..rng.below(2 * n + 1) {
        edges.push((rng.below(n) as u32, label(rng, n_actions), rng.below(n) as u32));
    }
    Draft { holds, edges }
}

fn label(rng: &mut Rng, n_actions: u32) -> u32 {
    if rng.chance(2, 5) { TAU } else { rng.between(1, n_actions as usize) as u32 }
}

/// A small change of a system.
fn change(rng: &mut Rng, draft: &mut Draft, n_actions: u32) {
    let n = draft.holds.len();
    let state = rng.below(n);
    match rng.below(6) {
        0 if !draft.edges.is_empty() => {
            draft.edges.swap_remove(rng.below(draft.edges.len()));
        }
        1 => draft.edges.push((state as u32, label(rng, n_actions), rng.below(n) as u32)),
        // A second copy of a state, to which some edges lead.
        2 if n < 7 => {
            draft.holds.push(draft.holds[state]);
            let copies: Vec<_> = draft.edges.iter().filter(|e| e.0 as usize == state).copied().collect();
            draft.edges.extend(copies.iter().map(|e| (n as u32, e.1, e.2)));
            for edge in draft.edges.iter_mut().filter(|e| e.2 as usize == state) {
                if rng.chance(1, 2) {
                    edge.2 = n as u32;
                }
            }
        }
        // A tau on the way.
        3 | 4 if n < 7 && !draft.edges.is_empty() => {
            let edge = rng.below(draft.edges.len());
            let (_, _, target) = draft.edges[edge];
            draft.holds.push(draft.holds[target as usize]);
            draft.edges[edge].2 = n as u32;
            draft.edges.push((n as u32, TAU, target));
        }
        // What is behind a tau can be done at once.
        _ => {
            let unseen: Vec<_> = draft.edges.iter().filter(|e| e.1 == TAU).copied().collect();
            if let Some(&(source, _, target)) = unseen.get(state % unseen.len().max(1)) {
                let behind: Vec<_> = draft.edges.iter().filter(|e| e.0 == target).copied().collect();
                draft.edges.extend(behind.iter().map(|e| (source, e.1, e.2)));
            }
        }
    }
}

impl Draft {
    fn lsts(&self, n_actions: u32, n_propositions: usize) -> Lsts {
        let mut builder = LstsBuilder::new(self.holds.len() as u64).expect("it is small");
        (1..=n_actions).for_each(|action| {
            builder.action(&format!("l{action}"));
        });
        for &(source, action, target) in &self.edges {
            builder.add_transition(source, action, target);
        }
        for i in 0..n_propositions {
            let states = (0..).zip(&self.holds).filter(|(_, holds)| **holds >> i & 1 == 1).map(|s| s.0);
            builder.add_proposition(Mark::Named(format!("p{i}")), states);
        }
        builder.build().expect("it is small")
    }
}
