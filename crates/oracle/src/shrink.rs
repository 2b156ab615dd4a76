//! Making a failing network small, so that a person can see why it fails.
//!
//! Tries to drop a component, drop a label, merge two local states, take a component out of a label, drop
//! an edge, or simplify what is asked, and keeps whatever still fails, until nothing more can go. Each step
//! makes the plan smaller, so it ends. The result fails by construction; that it is small is tested.

use crate::{Conflicts, Fairness, Network, OneOf, Plan};

/// A smallest network, in the sense that no single step makes it smaller, for which `fails` is true.
/// It must be true of `network`.
///
/// # Panics
/// If `network` does not fail.
pub fn shrink(network: &Network, fails: impl Fn(&Network) -> bool) -> Network {
    assert!(fails(network), "a network that does not fail cannot be shrunk");
    let mut best = network.clone();
    loop {
        let smaller = simpler_plans(best.plan()).into_iter().map(Network::new).find(|n| fails(n));
        match smaller {
            Some(smaller) => best = smaller,
            None => return best,
        }
    }
}

/// All plans that are one step simpler, the largest steps first.
fn simpler_plans(plan: &Plan) -> Vec<Plan> {
    let mut simpler = Vec::new();
    simpler.extend((0..plan.components.len()).map(|c| without_component(plan, c)));
    simpler.extend((0..plan.labels.len()).map(|l| without_label(plan, l)));
    for (c, component) in plan.components.iter().enumerate() {
        let pairs = (1..component.n_states).flat_map(|from| (0..from).map(move |into| (from, into)));
        simpler.extend(pairs.map(|(from, into)| with_merged_states(plan, c, from, into)));
    }
    for (l, label) in plan.labels.iter().enumerate().filter(|(_, label)| label.participants.len() > 1) {
        simpler.extend(label.participants.iter().map(|&c| without_participant(plan, l, c)));
    }
    for (c, component) in plan.components.iter().enumerate() {
        simpler.extend((0..component.edges.len()).map(|e| {
            changed(plan, |p| {
                p.components[c].edges.remove(e);
            })
        }));
    }
    simpler.extend(simpler_questions(plan));
    simpler
}

fn changed(plan: &Plan, change: impl FnOnce(&mut Plan)) -> Plan {
    let mut plan = plan.clone();
    change(&mut plan);
    plan
}

fn simpler_questions(plan: &Plan) -> Vec<Plan> {
    let mut simpler: Vec<Plan> = (0..plan.check.len())
        .map(|w| {
            changed(plan, |p| {
                p.check.remove(w);
            })
        })
        .collect();
    if let Some(fairness) = &plan.fairness {
        simpler.push(changed(plan, |p| p.fairness = None));
        for r in 0..fairness.rarely.len() {
            let mut fewer = fairness.clone();
            fewer.rarely.remove(r);
            simpler.push(changed(plan, |p| p.fairness = Some(fewer)));
        }
        if fairness.instance > 0 {
            let first = Fairness { instance: 0, ..fairness.clone() };
            simpler.push(changed(plan, |p| p.fairness = Some(first)));
        }
    }
    let forget: [fn(&mut Plan) -> &mut Option<OneOf>; 3] =
        [|p| &mut p.stuck, |p| &mut p.may_progress, |p| &mut p.must_progress];
    for field in forget {
        let mut without = plan.clone();
        if field(&mut without).take().is_some() {
            simpler.push(without);
        }
    }
    if plan.conflicts == Conflicts::Shared {
        simpler.push(changed(plan, |p| p.conflicts = Conflicts::Current));
    }
    simpler
}

fn without_component(plan: &Plan, c: usize) -> Plan {
    let mut plan = plan.clone();
    plan.components.remove(c);
    let moved = |component: usize| component - usize::from(component > c);
    for label in &mut plan.labels {
        label.participants.retain(|&p| p != c);
        label.participants.iter_mut().for_each(|p| *p = moved(*p));
    }
    plan.check.retain(|w| w.component != c);
    plan.check.iter_mut().for_each(|w| w.component = moved(w.component));
    for field in [&mut plan.stuck, &mut plan.may_progress, &mut plan.must_progress] {
        *field = field.take().filter(|one_of| one_of.component != c);
        field.iter_mut().for_each(|one_of| one_of.component = moved(one_of.component));
    }
    let lost = (0..plan.labels.len()).rev().filter(|&l| plan.labels[l].participants.is_empty());
    lost.collect::<Vec<_>>().into_iter().fold(plan, |plan, l| without_label(&plan, l))
}

fn without_label(plan: &Plan, l: usize) -> Plan {
    let mut plan = plan.clone();
    plan.labels.remove(l);
    let moved = |label: usize| label - usize::from(label > l);
    for component in &mut plan.components {
        component.edges.retain(|e| e.label != l);
        component.edges.iter_mut().for_each(|e| e.label = moved(e.label));
    }
    plan.fairness = plan.fairness.filter(|f| f.often != l).map(|mut f| {
        f.often = moved(f.often);
        f.rarely.retain(|&r| r != l);
        f.rarely.iter_mut().for_each(|r| *r = moved(*r));
        f
    });
    plan
}

fn without_participant(plan: &Plan, l: usize, c: usize) -> Plan {
    let mut plan = plan.clone();
    plan.labels[l].participants.retain(|&p| p != c);
    plan.components[c].edges.retain(|e| e.label != l);
    plan
}

/// Local state `from` of component `c` becomes the same as `into`, which is smaller.
fn with_merged_states(plan: &Plan, c: usize, from: u8, into: u8) -> Plan {
    let mut plan = plan.clone();
    let moved = |state: u8| if state == from { into } else { state - u8::from(state > from) };
    let component = &mut plan.components[c];
    component.n_states -= 1;
    for edge in &mut component.edges {
        (edge.source, edge.target) = (moved(edge.source), moved(edge.target));
    }
    let mut kept = Vec::new();
    for &edge in &component.edges {
        if !kept.contains(&edge) {
            kept.push(edge);
        }
    }
    component.edges = kept;
    plan.check.iter_mut().filter(|w| w.component == c).for_each(|w| w.state = moved(w.state));
    for field in [&mut plan.stuck, &mut plan.may_progress, &mut plan.must_progress] {
        for one_of in field.iter_mut().filter(|one_of| one_of.component == c) {
            one_of.states.iter_mut().for_each(|state| *state = moved(*state));
            one_of.states.sort_unstable();
            one_of.states.dedup();
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Brute, FullGraph, Rng, Shape};
    use stubborn_system::{Question, System};

    fn reaches_deadlock_after(network: &Network, n: usize) -> bool {
        let Some(graph) = FullGraph::explore(network, 2000) else { return false };
        Brute::new(network, &graph).shortest_violation(&Question::Deadlock) == Some(n)
    }

    #[test]
    fn what_does_not_matter_goes() {
        let mut rng = Rng::new(11);
        let mut n_shrunk = 0;
        while n_shrunk < 10 {
            let network = Network::random(&Shape::SHAPED_4X4, &mut rng);
            if !reaches_deadlock_after(&network, 2) {
                continue;
            }
            let small = shrink(&network, |n| reaches_deadlock_after(n, 2));
            assert!(reaches_deadlock_after(&small, 2));
            // Two transitions in a row, and nothing else.
            assert!(small.n_transitions() <= 2 && small.plan().labels.len() <= 2, "{small}");
            assert!(small.plan().fairness.is_none() && small.plan().check.is_empty(), "{small}");
            n_shrunk += 1;
        }
    }

    #[test]
    fn every_step_leaves_a_proper_plan() {
        let mut rng = Rng::new(12);
        for i in 0..40 {
            let network = Network::random(&Shape::PRESETS[i % 4].1, &mut rng);
            for plan in simpler_plans(network.plan()) {
                assert_eq!(plan.validate(), Ok(()), "{plan}\nfrom\n{network}");
                assert_ne!(&plan, network.plan());
            }
        }
    }

    #[test]
    fn shrinking_goes_down_to_nothing() {
        let network = Network::random(&Shape::SHAPED_5X4, &mut Rng::new(13));
        assert_eq!(shrink(&network, |_| true).to_string(), "");
    }
}
