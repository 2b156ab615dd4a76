//! Random networks.
//!
//! "Naive" draws edges and labels blindly, and most of what it draws can never happen. "Shaped" lets a
//! component use only its own labels and gives it a spine: a tree of edges that makes every local state
//! locally reachable. Shaped networks show most planted faults several times sooner, but the small ones
//! hardly lose a deadlock to a fault that needs three parties: so mix the presets.
//!
//! In half of the networks the components can stop for good, everywhere or somewhere; in a quarter no
//! component ever runs out of things to do. So no question is always answered the same way.
//!
//! The campaigns measure median size and the share that reduction acts on, and fail if these fall.

use crate::{Component, Conflicts, Fairness, Label, LocalEdge, Network, OneOf, Plan, Rng, Watch};

/// What random networks look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of components.
    pub components: usize,
    /// Number of local states of each.
    pub local_states: u8,
    /// Number of labels, before each component gets one of its own that it may need.
    pub labels: usize,
    /// Number of edges of each component, before the private ones that decide how it ends.
    pub edges_per_component: usize,
    /// Whether components use only their own labels and have a spine.
    pub is_shaped: bool,
}

impl Shape {
    /// Four components of four states, drawn blindly.
    pub const NAIVE_4X4: Self =
        Self { components: 4, local_states: 4, labels: 6, edges_per_component: 5, is_shaped: false };
    /// Three shaped components of three states.
    pub const SHAPED_3X3: Self =
        Self { components: 3, local_states: 3, labels: 5, edges_per_component: 4, is_shaped: true };
    /// Four shaped components of four states.
    pub const SHAPED_4X4: Self =
        Self { components: 4, local_states: 4, labels: 8, edges_per_component: 6, is_shaped: true };
    /// Five shaped components of four states.
    pub const SHAPED_5X4: Self =
        Self { components: 5, local_states: 4, labels: 10, edges_per_component: 6, is_shaped: true };

    /// The four that a campaign mixes, with their names.
    pub const PRESETS: [(&str, Self); 4] = [
        ("naive 4x4", Self::NAIVE_4X4),
        ("shaped 3x3", Self::SHAPED_3X3),
        ("shaped 4x4", Self::SHAPED_4X4),
        ("shaped 5x4", Self::SHAPED_5X4),
    ];
}

/// How components end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// As it happens.
    ByChance,
    /// Never: what has no exit gets a private one.
    Never,
    /// In some local states there is a private edge to the last one, from where nothing leads on.
    SomeStop,
    /// In all local states there is.
    AllStop,
}

impl Ends {
    fn has_stop(self) -> bool {
        matches!(self, Self::SomeStop | Self::AllStop)
    }
}

impl Network {
    /// A random network of this shape.
    pub fn random(shape: &Shape, rng: &mut Rng) -> Self {
        let ends = *rng.pick(&[Ends::ByChance, Ends::Never, Ends::SomeStop, Ends::AllStop]);
        let mut plan = Plan { labels: random_labels(shape, rng), ..Plan::default() };
        for i in 0..shape.components {
            let component = random_component(i, shape, ends, &mut plan.labels, rng);
            plan.components.push(component);
        }
        add_questions(&mut plan, rng);
        plan.conflicts = if rng.chance(1, 4) { Conflicts::Shared } else { Conflicts::Current };
        Self::new(plan)
    }
}

/// Labels with one to three participants.
fn random_labels(shape: &Shape, rng: &mut Rng) -> Vec<Label> {
    let label = |i: usize| {
        let n_participants = rng.between(1, shape.components.min(3));
        let mut participants = rng.sample(n_participants, shape.components);
        participants.sort_unstable();
        Label { name: name_of(i), participants }
    };
    (0..shape.labels).map(label).collect()
}

/// a, b, ..., z, a1, b1, ...
fn name_of(label: usize) -> String {
    let letter = char::from(b'a' + (label % 26) as u8);
    if label < 26 { letter.to_string() } else { format!("{letter}{}", label / 26) }
}

fn random_component(
    number: usize,
    shape: &Shape,
    ends: Ends,
    labels: &mut Vec<Label>,
    rng: &mut Rng,
) -> Component {
    let n_states = shape.local_states;
    let n_sources = n_states - u8::from(ends.has_stop());
    let own = own_labels(number, labels);
    let mut edges = Vec::new();
    for i in 0..shape.edges_per_component as u8 {
        let label = if shape.is_shaped { *rng.pick(&own) } else { rng.below(labels.len()) };
        let in_spine = shape.is_shaped && i + 1 < n_states;
        let (source, target) =
            if in_spine { (below(i + 1, rng), i + 1) } else { (below(n_sources, rng), below(n_states, rng)) };
        let edge = LocalEdge { label, source, target };
        // A naive component often draws a label that is not its own; the edge is then wasted.
        if own.contains(&label) && !edges.contains(&edge) {
            edges.push(edge);
        }
    }
    if ends != Ends::ByChance {
        let private = labels.len();
        labels.push(Label { name: name_of(private), participants: vec![number] });
        add_ends(&mut edges, private, n_states, ends, rng);
    }
    Component { n_states, edges }
}

/// Adds the edges with the private label that make the component end as it should.
fn add_ends(edges: &mut Vec<LocalEdge>, label: usize, n_states: u8, ends: Ends, rng: &mut Rng) {
    if ends.has_stop() {
        let stops = |_: &u8| ends == Ends::AllStop || rng.chance(1, 2);
        let sources: Vec<u8> = (0..n_states - 1).filter(stops).collect();
        edges.extend(sources.into_iter().map(|source| LocalEdge { label, source, target: n_states - 1 }));
    } else {
        let is_dead_end = |source: &u8| edges.iter().all(|e| e.source != *source);
        let dead_ends: Vec<u8> = (0..n_states).filter(is_dead_end).collect();
        let exit = |source: u8| LocalEdge { label, source, target: below(n_states, rng) };
        edges.extend(dead_ends.into_iter().map(exit));
    }
}

fn below(n: u8, rng: &mut Rng) -> u8 {
    rng.below(usize::from(n)) as u8
}

/// The labels of a component; a private one is made if it has none.
fn own_labels(component: usize, labels: &mut Vec<Label>) -> Vec<usize> {
    let takes_part = |&l: &usize| labels[l].participants.contains(&component);
    let own: Vec<usize> = (0..labels.len()).filter(takes_part).collect();
    if !own.is_empty() {
        return own;
    }
    labels.push(Label { name: name_of(labels.len()), participants: vec![component] });
    vec![labels.len() - 1]
}

fn add_questions(plan: &mut Plan, rng: &mut Rng) {
    if rng.chance(3, 4) {
        let n_watched = rng.between(1, 2).min(plan.components.len());
        for component in rng.sample(n_watched, plan.components.len()) {
            // The first is watched for a state that it is not in yet, so that there is something to do.
            let least = u8::from(plan.check.is_empty());
            let state = least + below(plan.components[component].n_states - least, rng);
            plan.check.push(Watch { component, state });
        }
    }
    plan.stuck = rng.chance(3, 4).then(|| random_one_of(plan, rng));
    plan.may_progress = Some(random_one_of(plan, rng));
    plan.must_progress = Some(random_one_of(plan, rng));
    plan.fairness = random_fairness(plan, rng);
}

/// Asks about a label that all its participants offer somewhere, if there is one.
fn random_fairness(plan: &Plan, rng: &mut Rng) -> Option<Fairness> {
    let offers = |component: usize, l: usize| plan.components[component].edges.iter().any(|e| e.label == l);
    let occurs = |&l: &usize| plan.labels[l].participants.iter().all(|&component| offers(component, l));
    let possible: Vec<usize> = (0..plan.labels.len()).filter(occurs).collect();
    if possible.is_empty() {
        return None;
    }
    let often = *rng.pick(&possible);
    let rarely = (0..plan.labels.len()).filter(|&l| l != often && rng.chance(1, 4)).collect();
    Some(Fairness { often, instance: rng.below(4), rarely })
}

/// A component and some, but not all, of its local states.
fn random_one_of(plan: &Plan, rng: &mut Rng) -> OneOf {
    let component = rng.below(plan.components.len());
    let n_states = usize::from(plan.components[component].n_states);
    let n_chosen = rng.between(1, (n_states - 1).max(1));
    let mut states: Vec<u8> = rng.sample(n_chosen, n_states).into_iter().map(|s| s as u8).collect();
    states.sort_unstable();
    OneOf { component, states }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stubborn_system::System;

    #[test]
    fn seeds_make_the_same_networks_for_ever() {
        let network = Network::random(&Shape::SHAPED_3X3, &mut Rng::new(2024));
        let expected = "\
label a 0
label b 2
label c 0 2
label d 1
label e 0 2
label f 0
label g 1
label h 2
component 3 c:0>1 e:1>2 c:1>1 c:1>0 f:0>2
component 3 d:0>1 d:0>2 d:1>0 d:0>0
component 3 c:0>1 c:1>2 b:1>2 h:0>2
check 0=2
stuck 2=2
may 0=0,2
must 1=2
fair d#0 g
";
        assert_eq!(network.to_string(), expected);
    }

    #[test]
    fn every_local_state_of_a_shaped_component_is_on_the_spine() {
        let mut rng = Rng::new(5);
        for _ in 0..100 {
            let network = Network::random(&Shape::SHAPED_4X4, &mut rng);
            for component in &network.plan().components {
                let is_reached = |s: u8| component.edges.iter().any(|e| e.target == s && e.source < s);
                assert!((1..component.n_states).all(is_reached), "{network}");
            }
        }
    }

    #[test]
    fn transitions_of_one_two_and_three_parties_all_occur() {
        let mut rng = Rng::new(6);
        let mut n_parties = [0; 4];
        for _ in 0..50 {
            let network = Network::random(&Shape::SHAPED_5X4, &mut rng);
            assert!(network.n_transitions() < 500);
            network.transitions.iter().for_each(|t| n_parties[t.moves.len()] += 1);
        }
        assert!(n_parties[1..].iter().all(|&n| n > 100), "{n_parties:?}");
    }
}
