//! Sets that depend on where the automaton is: what leads it on, and nothing else.
//!
//! **Implements** automaton-guided stubborn sets (Jensen, Srba, Ulrik and Virenfeldt, *Automata-driven partial order reduction and
//! guided search for LTL model checking*, 2022) for the states of an automaton that no accepting cycle goes through. A run
//! that is accepted leaves such a state q again, by an edge whose guard comes to hold. In a node (s, q) where none holds
//! yet, only a stubborn set is fired that has everything that may make one of them hold, and nothing that
//! may change what q needs to stay; where a guard holds, or no such set is found, everything is fired.
//! **Preserves** whether an accepted run exists. Let `t1 t2 ...` be one from (s, q), and let the automaton leave q when it
//! reads the state after `tk`. If `k` is 0, a guard holds in s, and `t1` is fired. Otherwise some of `t1 .. tk` are in
//! the set; the first of them can come first (D1), the automaton stays in q on the states that are new, because what it
//! needs there did not change, and the rest of the run is one shorter. No cycle condition is needed. From the other
//! states of the automaton no edge leads back, and their nodes are explored with the sets of the system's states alone.
//! **Differs from the text** in that accepting states are not guided, but reduced as usual.
//! **Checked by** brute force on random systems and formulas (`oracle`).

use stubborn_ltl::{Automaton, Guard, State};

/// How the automaton leaves a state that no accepting cycle goes through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exits {
    /// The guards of the edges that leave it.
    pub goals: Vec<Guard>,
    /// The propositions that decide whether it can stay, a word of bits.
    pub kept: u64,
}

/// By state of the automaton: its exits, if it can be guided. All of them must be, or none: the sets of the others do not
/// mind where the automaton is.
pub fn exits(automaton: &Automaton) -> Vec<Option<Exits>> {
    let lasting = lasting(automaton);
    let of = |state: State| {
        let edges = automaton.edges(state).iter();
        let stays = edges.clone().filter(|edge| edge.target == state).map(|edge| &edge.guard);
        let stay = stays.fold(Guard::never(), |all, guard| all.or(guard));
        let goals = edges.filter(|edge| edge.target != state).map(|edge| edge.guard.clone()).collect();
        let kept = if stay.is_always() { 0 } else { stay.support() };
        (!lasting[state as usize]).then_some(Exits { goals, kept })
    };
    automaton.states().map(of).collect()
}

/// States on cycles, other than loops that are in no acceptance set or not in all, and what can be reached from them.
fn lasting(automaton: &Automaton) -> Vec<bool> {
    let reach = |from: Vec<State>| {
        let mut seen = vec![false; automaton.n_states()];
        let mut work = from;
        while let Some(state) = work.pop() {
            if !std::mem::replace(&mut seen[state as usize], true) {
                work.extend(automaton.edges(state).iter().map(|edge| edge.target));
            }
        }
        seen
    };
    let is_lasting = |&state: &State| {
        let edges = || automaton.edges(state).iter();
        let marks = edges().filter(|edge| edge.target == state).map(|edge| automaton.marks(state, edge));
        let all = automaton.all_sets();
        let has_loop = edges().any(|edge| edge.target == state);
        let accepts = has_loop && marks.fold(0, |sum, marks| sum | marks) & all == all;
        let others = edges().map(|edge| edge.target).filter(|&target| target != state).collect();
        accepts || reach(others)[state as usize]
    };
    reach(automaton.states().filter(is_lasting).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use stubborn_ltl::{Propositions, parse, translate};

    fn exits_of(text: &str) -> Vec<Option<Exits>> {
        let mut propositions = Propositions::default();
        let formula = parse(text, &mut propositions).expect("a formula");
        exits(&translate(&formula, &propositions).expect("small").buchi)
    }

    #[test]
    fn the_beginning_of_what_happens_in_the_end_is_guided_and_the_end_is_not() {
        let found = exits_of("<> [] p");
        assert_eq!(found.iter().filter(|exits| exits.is_some()).count(), 1, "{found:?}");
        assert!(found.iter().flatten().all(|exits| exits.kept == 0 && exits.goals.len() == 1));
    }

    #[test]
    fn what_must_stay_until_something_else_is_kept() {
        let found = exits_of("p U q");
        assert!(found.iter().flatten().any(|exits| exits.kept != 0), "{found:?}");
    }

    #[test]
    fn nothing_is_guided_where_something_happens_again_and_again() {
        assert!(exits_of("[] <> p").iter().all(Option::is_none));
    }
}
