//! The answers to all questions, by their definitions, on the full graph.
//!
//! Backward reachability for what is always possible, the strong components of petgraph for what can go
//! on for ever. Nothing is reduced, nothing is clever. The tests compare each answer with a second
//! definition (fixed points and paths instead of components) on random networks.

use crate::graph::{FullGraph, not_faulty};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use std::collections::BTreeSet;
use stubborn_system::{Observed, Question, TransitionId, Vector};

/// A system and its full graph, ready to be asked.
#[derive(Debug)]
pub struct Brute<'a, Y: Observed> {
    system: &'a Y,
    graph: &'a FullGraph<Y::State>,
}

impl<'a, Y: Observed> Brute<'a, Y> {
    /// Answers by means of `graph`, which must be the full graph of `system`.
    pub fn new(system: &'a Y, graph: &'a FullGraph<Y::State>) -> Self {
        Self { system, graph }
    }

    /// Whether what `question` asks for is so.
    ///
    /// # Panics
    /// If the question is of a kind that the oracle does not know, or the system is faulty.
    pub fn holds(&self, question: &Question) -> bool {
        match question {
            Question::Safety | Question::Deadlock => self.violations(question).is_empty(),
            Question::MayProgress { terminal_counts } => {
                let goal = self.states_where(|i| {
                    not_faulty(self.system.is_may_progress(self.graph.state(i)))
                        || *terminal_counts && self.graph.is_terminal(i)
                });
                self.always_possible(&goal)
            }
            Question::MustProgress { terminal_counts } => {
                let lazy = |i: usize| !not_faulty(self.system.is_must_progress(self.graph.state(i)));
                let stops = |i: usize| lazy(i) && self.graph.is_terminal(i);
                let is_stuck = !terminal_counts && self.states().any(stops);
                !is_stuck && !self.has_cycle(lazy)
            }
            Question::MayTerminate => {
                let terminal = self.states_where(|i| self.graph.is_terminal(i));
                self.always_possible(&terminal)
            }
            Question::Fair { often, rarely } => !self.is_unfair(*often, rarely),
            other => panic!("the oracle has no definition of `{other}`"),
        }
    }

    /// Number of transitions on a shortest path to a violation of a safety or deadlock question;
    /// `None` if it holds or is another kind of question.
    pub fn shortest_violation(&self, question: &Question) -> Option<usize> {
        self.violations(question).iter().map(|&i| self.graph.depth(i)).min()
    }

    /// The numbers of the states that violate a safety or deadlock question; none for other questions.
    pub fn violations(&self, question: &Question) -> Vec<usize> {
        let state = |i: usize| self.graph.state(i);
        let fails = |i: &usize| match question {
            Question::Safety => not_faulty(self.system.check(state(*i))).is_some(),
            Question::Deadlock => {
                self.graph.is_terminal(*i) && not_faulty(self.system.check_deadlock(state(*i))).is_some()
            }
            _ => false,
        };
        self.states().filter(fails).collect()
    }

    /// The terminal states, as bytes.
    pub fn terminal_states(&self) -> BTreeSet<Vec<u8>> {
        let terminal = self.states().filter(|&i| self.graph.is_terminal(i));
        terminal.map(|i| self.graph.state(i).as_bytes().to_vec()).collect()
    }

    /// Whether there is an infinite run.
    pub fn can_run_for_ever(&self) -> bool {
        self.has_cycle(|_| true)
    }

    fn states(&self) -> std::ops::Range<usize> {
        0..self.graph.n_states()
    }

    fn states_where(&self, is_in: impl Fn(usize) -> bool) -> Vec<usize> {
        self.states().filter(|&i| is_in(i)).collect()
    }

    /// Whether a state of `goal` is reachable from every state.
    fn always_possible(&self, goal: &[usize]) -> bool {
        let mut sources = vec![Vec::new(); self.graph.n_states()];
        for edge in self.graph.edges() {
            sources[edge.target].push(edge.source);
        }
        let mut is_reached = vec![false; self.graph.n_states()];
        let mut work = goal.to_vec();
        while let Some(i) = work.pop() {
            if !is_reached[i] {
                is_reached[i] = true;
                work.extend(&sources[i]);
            }
        }
        is_reached.iter().all(|&reached| reached)
    }

    /// Whether there is a cycle that stays inside the states where `is_in` holds.
    fn has_cycle(&self, is_in: impl Fn(usize) -> bool) -> bool {
        let inside = |source, _, target| is_in(source) && is_in(target);
        let component = self.components(inside);
        self.graph
            .edges()
            .iter()
            .any(|e| is_in(e.source) && is_in(e.target) && component[e.source] == component[e.target])
    }

    /// Whether some cycle fires `often` and nothing of `rarely`.
    fn is_unfair(&self, often: TransitionId, rarely: &[TransitionId]) -> bool {
        let component = self.components(|_, t, _| !rarely.contains(&t));
        !rarely.contains(&often)
            && self
                .graph
                .edges()
                .iter()
                .any(|e| e.transition == often && component[e.source] == component[e.target])
    }

    /// For each state, the number of its strong component in the graph of the edges that `keep` keeps.
    fn components(&self, keep: impl Fn(usize, TransitionId, usize) -> bool) -> Vec<usize> {
        let mut kept = DiGraph::<(), ()>::new();
        let nodes: Vec<_> = self.states().map(|_| kept.add_node(())).collect();
        for edge in self.graph.edges() {
            if keep(edge.source, edge.transition, edge.target) {
                kept.add_edge(nodes[edge.source], nodes[edge.target], ());
            }
        }
        let mut component = vec![0; self.graph.n_states()];
        for (number, members) in kosaraju_scc(&kept).into_iter().enumerate() {
            members.into_iter().for_each(|node| component[node.index()] = number);
        }
        component
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Network, Rng, Shape};

    fn with_brute<R>(text: &str, ask: impl FnOnce(&Brute<'_, Network>) -> R) -> R {
        let network = Network::parse(text).unwrap();
        let graph = FullGraph::explore(&network, 1000).unwrap();
        ask(&Brute::new(&network, &graph))
    }

    /// Two steps, or a loop for ever beside the goal; the check watches the end.
    const FORK: &str = "label a 0\nlabel b 0\nlabel c 0\ncomponent 4 a:0>1 b:1>2 c:0>3 c:3>3\n";

    #[test]
    fn shortest_violations_are_counted_in_transitions() {
        let text = format!("{FORK}check 0=2\nstuck 0=2");
        with_brute(&text, |brute| {
            assert!(!brute.holds(&Question::Safety) && !brute.holds(&Question::Deadlock));
            assert_eq!(brute.shortest_violation(&Question::Safety), Some(2));
            assert_eq!(brute.shortest_violation(&Question::Deadlock), Some(2));
            assert_eq!(brute.shortest_violation(&Question::MayTerminate), None);
            assert_eq!(brute.terminal_states(), BTreeSet::from([vec![2]]));
        });
        with_brute(&format!("{FORK}stuck 0=1,3"), |brute| assert!(brute.holds(&Question::Deadlock)));
    }

    #[test]
    fn a_loop_beside_the_goal_spoils_what_should_always_be_possible() {
        with_brute(&format!("{FORK}may 0=2,3\nmust 0=3"), |brute| {
            assert!(brute.can_run_for_ever() && !brute.holds(&Question::MayTerminate));
            assert!(brute.holds(&Question::MayProgress { terminal_counts: false }));
            assert!(brute.holds(&Question::MustProgress { terminal_counts: true }));
            assert!(!brute.holds(&Question::MustProgress { terminal_counts: false }));
        });
        with_brute(&format!("{FORK}may 0=1\nmust 0=0,1,2"), |brute| {
            assert!(!brute.holds(&Question::MayProgress { terminal_counts: true }));
            assert!(!brute.holds(&Question::MustProgress { terminal_counts: true }));
        });
        with_brute(&format!("{FORK}may 0=3"), |brute| {
            assert!(brute.holds(&Question::MayProgress { terminal_counts: true }));
            assert!(!brute.holds(&Question::MayProgress { terminal_counts: false }));
        });
    }

    #[test]
    fn a_run_is_unfair_only_if_the_rare_ones_stay_away() {
        with_brute("label a 0\nlabel b 0\ncomponent 2 a:0>1 b:1>0 b:1>1", |brute| {
            let fair = |often: u32, rarely: &[u32]| {
                let rarely = rarely.iter().map(|&t| TransitionId(t)).collect();
                brute.holds(&Question::Fair { often: TransitionId(often), rarely })
            };
            assert!(!fair(0, &[]) && !fair(0, &[2]) && !fair(2, &[0, 1]));
            assert!(fair(0, &[1]) && fair(1, &[0]) && fair(2, &[2]));
        });
    }

    /// The least set that has `start` and every other state for which `step` holds of the set so far.
    fn least(n: usize, start: impl Fn(usize) -> bool, step: impl Fn(usize, &[bool]) -> bool) -> Vec<bool> {
        let mut set: Vec<bool> = (0..n).map(start).collect();
        loop {
            let larger: Vec<bool> = (0..n).map(|i| set[i] || step(i, &set)).collect();
            if larger == set {
                return set;
            }
            set = larger;
        }
    }

    fn by_fixed_point(network: &Network, graph: &FullGraph<[u8]>, question: &Question) -> Option<bool> {
        let n = graph.n_states();
        let terminal = |i: usize| graph.is_terminal(i);
        let may = |i: usize| network.is_may_progress(graph.state(i)).unwrap();
        let must = |i: usize| network.is_must_progress(graph.state(i)).unwrap();
        let some = |i: usize, set: &[bool]| graph.outgoing(i).iter().any(|e| set[e.target]);
        let all = |i: usize, set: &[bool]| !terminal(i) && graph.outgoing(i).iter().all(|e| set[e.target]);
        let set = match question {
            Question::MayTerminate => least(n, terminal, some),
            Question::MayProgress { terminal_counts } => {
                least(n, |i| may(i) || *terminal_counts && terminal(i), some)
            }
            Question::MustProgress { terminal_counts } => {
                least(n, |i| must(i) || *terminal_counts && terminal(i), all)
            }
            Question::Fair { often, rarely } => {
                let is_unfair = graph.edges().iter().any(|e| {
                    let allowed =
                        |i: usize| graph.outgoing(i).iter().filter(|e| !rarely.contains(&e.transition));
                    let back = least(n, |i| i == e.source, |i, set| allowed(i).any(|e| set[e.target]));
                    e.transition == *often && !rarely.contains(often) && back[e.target]
                });
                return Some(!is_unfair);
            }
            _ => return None,
        };
        Some(set.iter().all(|&is_in| is_in))
    }

    #[test]
    fn components_and_fixed_points_agree_on_random_networks() {
        let mut rng = Rng::new(7);
        let (mut asked, mut held) = (0, 0);
        for i in 0..300 {
            let network = Network::random(&Shape::PRESETS[i % 3].1, &mut rng);
            let Some(graph) = FullGraph::explore(&network, 300) else { continue };
            for question in network.questions() {
                let Some(expected) = by_fixed_point(&network, &graph, &question) else { continue };
                let answer = Brute::new(&network, &graph).holds(&question);
                assert_eq!(answer, expected, "{question}\n{network}");
                asked += 1;
                held += usize::from(answer);
            }
        }
        assert!(held * 5 > asked && held * 5 < asked * 4, "one-sided: {held} of {asked} hold");
    }
}
