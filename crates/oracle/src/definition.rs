//! The definition of stubborn sets, tested by brute force.
//!
//! **Implements** D0, D1 and D2 (V15 section III) for a given set at a given state, by looking at every
//! state that transitions outside the set can reach from there:
//! * D0: the set has an enabled transition, unless nothing is enabled;
//! * D2: a member that is enabled at the state is enabled in all of them;
//! * D1: it commutes with every outside edge between them; and a member that is disabled at the state is
//!   disabled in all of them;
//! * the same for the imaginary `t_c`, the node after the transitions, which is enabled where the check
//!   fails and changes nothing: if it is in the set and disabled, it stays so; if it is not in the set,
//!   no enabled member turns a failing check off.
//!
//! **Differs from the text** in looking at single steps: with D2, and with all prefixes of outside paths at
//! hand, commuting with each outside step is the same as commuting with each outside path.
//! **Checked by** the planted faults, each of which must be caught.

use crate::graph::{FullGraph, fire, not_faulty};
use fixedbitset::FixedBitSet;
use stubborn_system::{Batch, Observed, Rules, TransitionId, Vector};

/// Says how `set` fails to be a stubborn set of `state`: D0, D1 or D2, and which transitions show it.
///
/// # Panics
/// If the system is faulty.
pub fn check_definition<Y: Rules + Observed>(
    system: &Y,
    set: &[TransitionId],
    state: &Y::State,
) -> Result<(), String> {
    let is_enabled = |t: &TransitionId| fire(system, state, *t).is_some();
    let mut real = set.iter().copied().filter(|t| t.index() < system.n_transitions());
    let mut all = (0..system.n_transitions()).map(TransitionId::from);
    if !real.any(|t| is_enabled(&t))
        && let Some(t) = all.find(is_enabled)
    {
        let t = system.transition_name(t);
        return Err(format!("D0: nothing in the set is enabled, but {t} is, at {}", system.show(state)));
    }
    check_outside(system, set, state)
}

/// As [`check_definition`], without D0: what is owed for every closed set, also for one that was not
/// started from an enabled transition.
///
/// # Panics
/// If the system is faulty.
pub fn check_outside<Y: Rules + Observed>(
    system: &Y,
    set: &[TransitionId],
    state: &Y::State,
) -> Result<(), String> {
    let mut is_member = FixedBitSet::with_capacity(system.n_nodes());
    set.iter().for_each(|t| is_member.insert(t.index()));
    let outside = |t: TransitionId| !is_member.contains(t.index());
    let reached = FullGraph::explore_where(system, state, usize::MAX, outside).expect("there is no limit");
    let definition = Definition { system, reached };
    let has_check = system.n_nodes() > system.n_transitions();
    let check_is_member = has_check && is_member.contains(system.n_transitions());
    for &t in set.iter().filter(|t| t.index() < system.n_transitions()) {
        match definition.after_each(t) {
            After::Nowhere => {}
            After::Everywhere(after) => {
                definition.commutes(t, &after)?;
                if has_check && !check_is_member {
                    definition.keeps_check_failing(t, &after)?;
                }
            }
            After::Differs(i) => return Err(definition.not_the_same(t, i)),
        }
    }
    if check_is_member { definition.check_still_passes() } else { Ok(()) }
}

/// A system and what is reachable by outside transitions; state 0 is the state of the set.
struct Definition<'a, Y: Rules + Observed> {
    system: &'a Y,
    reached: FullGraph<Y::State>,
}

/// The states that a transition leads to from the outside-reachable ones.
enum After<S: Vector + ?Sized> {
    /// It is enabled in none of them.
    Nowhere,
    /// It is enabled in all of them and leads to these.
    Everywhere(Batch<S>),
    /// It is enabled at the state of the set, but not in this one; or the other way round.
    Differs(usize),
}

impl<Y: Rules + Observed> Definition<'_, Y> {
    fn after_each(&self, t: TransitionId) -> After<Y::State> {
        let mut after = Batch::new();
        let mut is_enabled_at_first = None;
        for i in 0..self.reached.n_states() {
            let is_enabled = not_faulty(self.system.fire(self.reached.state(i), t, &mut after));
            if *is_enabled_at_first.get_or_insert(is_enabled) != is_enabled {
                return After::Differs(i);
            }
        }
        if after.is_empty() { After::Nowhere } else { After::Everywhere(after) }
    }

    /// D1 for the enabled member `t`, which leads to `after[i]` from state `i`.
    fn commutes(&self, t: TransitionId, after: &Batch<Y::State>) -> Result<(), String> {
        for edge in self.reached.edges() {
            let closed = fire(self.system, after.state(edge.source), edge.transition);
            if closed.as_ref().map(|c| c.state(0)) != Some(after.state(edge.target)) {
                let (t, u) = (self.name(t), self.name(edge.transition));
                let how = if closed.is_some() { "leads elsewhere after it" } else { "is disabled by it" };
                return Err(format!(
                    "D1: {t} is in the set, {u} is not and {how}, at {}",
                    self.show(edge.source)
                ));
            }
        }
        Ok(())
    }

    /// D1 for the enabled member `t` and the check, which is outside.
    fn keeps_check_failing(&self, t: TransitionId, after: &Batch<Y::State>) -> Result<(), String> {
        for i in 0..self.reached.n_states() {
            if self.check_fails(self.reached.state(i)) && !self.check_fails(after.state(i)) {
                let t = self.name(t);
                return Err(format!("D1: {t} is in the set and turns the check off at {}", self.show(i)));
            }
        }
        Ok(())
    }

    /// D1 for the check as a disabled member; nothing is owed where it fails already.
    fn check_still_passes(&self) -> Result<(), String> {
        let fails = |i: &usize| self.check_fails(self.reached.state(*i));
        match (0..self.reached.n_states()).find(fails) {
            None | Some(0) => Ok(()),
            Some(i) => Err(format!("D1: the check is in the set, but fails outside at {}", self.show(i))),
        }
    }

    fn not_the_same(&self, t: TransitionId, i: usize) -> String {
        let was_enabled = fire(self.system, self.reached.state(0), t).is_some();
        let how =
            if was_enabled { "D2: outside transitions disable" } else { "D1: outside transitions enable" };
        format!("{how} the member {}, at {}", self.name(t), self.show(i))
    }

    fn check_fails(&self, state: &Y::State) -> bool {
        not_faulty(self.system.check(state)).is_some()
    }

    fn name(&self, t: TransitionId) -> String {
        self.system.transition_name(t)
    }

    fn show(&self, i: usize) -> String {
        let (system, here) = (self.system, self.reached.state(i));
        format!("{}, reached from {}", system.show(here), system.show(self.reached.state(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Network;

    /// 0 moves alone, 1 moves alone or with 2, 2 moves alone first.
    const TEXT: &str = "label a 0\nlabel b 1\nlabel c 1 2\nlabel d 2\ncomponent 2 a:0>1\n\
                        component 3 b:0>1 c:0>2\ncomponent 3 c:1>2 d:0>1\n";

    fn verdict(text: &str, set: &[u32], state: &[u8]) -> String {
        let set: Vec<TransitionId> = set.iter().map(|&t| TransitionId(t)).collect();
        check_definition(&Network::parse(text).unwrap(), &set, state).err().unwrap_or_default()
    }

    #[test]
    fn an_independent_transition_is_a_stubborn_set() {
        assert_eq!(verdict(TEXT, &[0], &[0, 0, 0]), "");
        assert_eq!(verdict(TEXT, &[1, 2, 3], &[0, 0, 0]), "");
        assert_eq!(verdict(TEXT, &[], &[1, 1, 2]), "");
    }

    #[test]
    fn each_condition_is_seen_to_fail() {
        assert!(verdict(TEXT, &[2], &[0, 0, 0]).starts_with("D0: nothing in the set is enabled"));
        assert!(verdict(TEXT, &[1], &[0, 0, 0]).starts_with("D2: outside transitions disable"));
        assert!(verdict(TEXT, &[1, 2], &[0, 0, 0]).starts_with("D1: outside transitions enable"));
        let text = "label a 0 1\nlabel b 0\ncomponent 2 a:0>0 b:0>1\ncomponent 2 a:0>1";
        assert!(verdict(text, &[1], &[0, 0]).contains("is disabled by it"));
    }

    #[test]
    fn the_check_is_judged_in_both_roles() {
        let text = format!("{TEXT}check 0=1 1=1");
        // t_c is node 4: in the set it must stay disabled, so one of the two must come too.
        assert!(verdict(&text, &[3, 4], &[0, 0, 0]).contains("the check is in the set, but fails outside"));
        assert_eq!(verdict(&text, &[0, 4], &[0, 0, 0]), "");
        // Outside the set it must not be turned off.
        let text = format!("{TEXT}check 0=0 1=1");
        assert!(verdict(&text, &[0], &[0, 0, 0]).contains("turns the check off"));
        assert_eq!(verdict(&text, &[0, 1, 2, 3, 4], &[0, 0, 0]), "");
    }
}
