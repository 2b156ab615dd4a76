//! The stubborn rules of networks, and where the planted faults bite.
//!
//! **Implements** the rules of V93 section 4 for labels. For `t` in the stubborn set of a state:
//! * `t` enabled: every transition, enabled or not, in which a participant of `t` can take part from its
//!   current local state; and the check `t_c`, if `t` moves a watched component away;
//! * `t` disabled: choose one participant that is not where `t` needs it; every transition that moves
//!   that participant from its current local state. The same for `t_c` and its watched components.
//!
//! **Preserves** D1 and D2 for every closed set, whichever alternatives it contains: as long as only
//! outside transitions occur, no participant of an enabled member moves, and of each disabled member the
//! chosen participant does not move.
//! **Checked by** `definition` on thousands of networks; and each planted fault is seen to be caught.

use crate::network::Move;
use crate::{Conflicts, Network, Planted, Watch};
use stubborn_system::{Fault, Requirements, Rules, System, TransitionId};

impl Rules for Network {
    fn n_nodes(&self) -> usize {
        self.n_transitions() + usize::from(!self.plan.check.is_empty())
    }

    fn require(&self, state: &[u8], t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        let Some(transition) = self.transitions.get(t.index()) else {
            self.require_enablers(state, &self.plan.check, out);
            return Ok(());
        };
        if self.is_enabled(state, t) {
            self.require_conflicts(state, &transition.moves, out);
        } else {
            let needs: Vec<Watch> =
                transition.moves.iter().map(|m| Watch { component: m.component, state: m.source }).collect();
            self.require_enablers(state, &needs, out);
        }
        Ok(())
    }
}

impl Network {
    /// What an enabled transition that makes `moves` requires.
    fn require_conflicts(&self, state: &[u8], moves: &[Move], out: &mut Requirements) {
        let judged = match self.plan.planted {
            Some(Planted::ConflictsOfFirstParticipantOnly) => &moves[..1],
            _ => moves,
        };
        for m in judged {
            let of_component = &self.leaving[m.component];
            let conflicts = match self.plan.conflicts {
                Conflicts::Current => std::slice::from_ref(&of_component[usize::from(m.source)]),
                Conflicts::Shared => of_component,
            };
            for &u in conflicts.iter().flatten() {
                if self.plan.planted != Some(Planted::OnlyEnabledConflicts) || self.is_enabled(state, u) {
                    out.add(u);
                }
            }
        }
        let turns_off = |m: &Move| {
            let watched = Watch { component: m.component, state: m.source };
            m.source != m.target && self.plan.check.contains(&watched)
        };
        if moves.iter().any(turns_off) {
            out.add(TransitionId::from(self.n_transitions()));
        }
    }

    /// What something that is disabled because not all of `needs` hold requires: the enablers of any one
    /// that does not. Where all hold, which is only asked of a check that fails, nothing is required.
    fn require_enablers(&self, state: &[u8], needs: &[Watch], out: &mut Requirements) {
        if self.plan.planted == Some(Planted::DisabledMembersNotExpanded) {
            return;
        }
        let is_met = |need: &&Watch| state[need.component] == need.state;
        let (met, missing): (Vec<&Watch>, Vec<&Watch>) = needs.iter().partition(is_met);
        let is_wrong = self.plan.planted == Some(Planted::WrongGuardChosen) && !met.is_empty();
        let alternatives = if is_wrong { &met } else { &missing };
        for (i, need) in alternatives.iter().enumerate() {
            if i > 0 {
                out.or();
            }
            self.enablers(state, need.component).for_each(|u| out.add(u));
        }
    }

    /// The transitions that move `component` away from where it is.
    fn enablers(&self, state: &[u8], component: usize) -> impl Iterator<Item = TransitionId> + '_ {
        let here = state[component];
        let moves_it = move |m: &Move| m.component == component && m.target != here;
        let most_participants = match self.plan.planted {
            Some(Planted::SynchronisedEnablersForgotten) => 1,
            Some(Planted::ThreePartyEnablersForgotten) => 2,
            _ => usize::MAX,
        };
        let most = if self.plan.planted == Some(Planted::EnablingSetCutToOne) { 1 } else { usize::MAX };
        self.leaving[component][usize::from(here)]
            .iter()
            .copied()
            .filter(move |u| {
                let moves = &self.transitions[u.index()].moves;
                moves.len() <= most_participants && moves.iter().any(moves_it)
            })
            .take(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Component 0 moves alone or with 1 and 2; 1 may leave by itself.
    const TEXT: &str = "label a 0\nlabel b 0 1 2\nlabel c 1\ncomponent 3 a:0>1 b:0>2 b:1>2\n\
                        component 3 b:1>2 c:0>1 c:0>2 c:0>0\ncomponent 2 b:1>0\n";

    fn required(text: &str, state: &[u8], t: u32) -> Vec<Vec<u32>> {
        let network = Network::parse(text).unwrap();
        let mut out = Requirements::default();
        network.require(state, TransitionId(t), &mut out).unwrap();
        (0..out.n_alternatives()).map(|i| out.alternative(i).iter().map(|t| t.0).collect()).collect()
    }

    #[test]
    fn an_enabled_transition_requires_what_its_participants_can_do_now() {
        assert_eq!(required(TEXT, &[0, 0, 0], 0), [[0, 1]]);
        assert_eq!(required(&format!("{TEXT}rules shared"), &[0, 0, 0], 0), [[0, 1, 2]]);
        let planted = format!("{TEXT}planted only-enabled-conflicts");
        assert_eq!(required(&planted, &[0, 0, 0], 0), [[0]]);
        assert_eq!(required(TEXT, &[0, 1, 1], 1), [vec![0, 1, 1, 2, 1, 2]]);
        let planted = format!("{TEXT}planted conflicts-of-first-participant-only");
        assert_eq!(required(&planted, &[0, 1, 1], 1), [[0, 1]]);
    }

    #[test]
    fn a_disabled_transition_has_an_alternative_for_each_participant_that_is_not_ready() {
        assert_eq!(required(TEXT, &[0, 0, 0], 1), [vec![3, 4], vec![]]);
        assert_eq!(required(TEXT, &[1, 0, 0], 1), [vec![2], vec![3, 4], vec![]]);
    }

    #[test]
    fn faults_change_what_a_disabled_transition_requires() {
        let with = |planted: &str, state: &[u8]| required(&format!("{TEXT}planted {planted}"), state, 1);
        assert_eq!(with("enabling-set-cut-to-one", &[1, 0, 0]), [vec![2], vec![3], vec![]]);
        assert_eq!(with("disabled-members-not-expanded", &[1, 0, 0]), [vec![]; 1]);
        assert_eq!(with("synchronised-enablers-forgotten", &[1, 0, 0]), [vec![], vec![3, 4], vec![]]);
        assert_eq!(with("three-party-enablers-forgotten", &[1, 0, 0]), [vec![], vec![3, 4], vec![]]);
        assert_eq!(with("wrong-guard-chosen", &[0, 0, 0]), [[0, 1]]);
    }

    #[test]
    fn the_check_is_a_transition_too() {
        let text = format!("{TEXT}check 0=1 1=2");
        assert_eq!(required(&text, &[0, 0, 0], 6), [[0, 1], [3, 4]]);
        assert_eq!(required(&text, &[1, 0, 0], 6), [[3, 4]]);
        assert_eq!(required(&text, &[1, 2, 0], 6), [vec![]; 1]);
        // Leaving a watched state may turn the check off; entering it may not.
        assert_eq!(required(&text, &[1, 1, 1], 2).concat().last(), Some(&6));
        assert_eq!(required(&text, &[0, 0, 0], 0), [[0, 1]]);
    }
}
