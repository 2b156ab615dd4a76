//! Stubborn sets for systems that are looked at from outside: what a semantics of processes needs.
//!
//! **Implements** V and I on top of closure, strong components and deletion. V (a set with an enabled visible transition has
//! all visible ones) is a rule like others: an imaginary node requires all visible transitions, and an enabled visible
//! transition requires the node. I (where an invisible transition is enabled, the set has an enabled invisible one)
//! says from which transitions a set may start, and which it must keep when it is made smaller. Where everything
//! that is enabled can be seen, V and I leave no choice.
//! **Preserves** D0, D1, D2, and what [`Semantics`] says; the search must see to the cycles.
//! **Differs from the text** (Valmari, *The state explosion problem*, section 7) in I: a set with all that can be seen
//! need not have an invisible transition if whatever is invisible outside it comes to an end. The end of it is
//! a stable state that offers what the set offers here, so that what looks like a stable state stands for a real one.
//! **Checked by** random networks against comparison (`oracle`), and by the sizes of token rings.

use crate::closure::Closer;
use crate::{Deletion, Preserves, Reduction, ReductionKind, StrongComponents};
use fixedbitset::FixedBitSet;
use std::collections::HashMap;
use stubborn_system::{Batch, Fault, Requirements, Rules, System, TransitionId, Vector, Visible};

/// What a reduced system must have in common with the full one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// The deadlocks, and whether it can run for ever: D0, D1, D2.
    Deadlocks,
    /// The traces: the same with V, and with S of the search.
    Traces,
    /// The traces and stable failures: the same with I.
    Failures,
    /// These and the divergence traces and infinite traces: the same with L of the search in place of S.
    Cffd,
}

impl Semantics {
    /// All of them, the coarsest first.
    pub const ALL: [Self; 4] = [Self::Deadlocks, Self::Traces, Self::Failures, Self::Cffd];

    /// The conditions, for people.
    pub fn conditions(self) -> &'static str {
        match self {
            Self::Deadlocks => "D0 D1 D2",
            Self::Traces => "D0 D1 D2 V S",
            Self::Failures => "D0 D1 D2 V I S",
            Self::Cffd => "D0 D1 D2 V I L",
        }
    }

    fn sees_actions(self) -> bool {
        self != Self::Deadlocks
    }

    fn sees_stability(self) -> bool {
        matches!(self, Self::Failures | Self::Cffd)
    }
}

/// Sets for a semantics.
#[derive(Debug)]
pub struct Observing<S: Vector + ?Sized> {
    algorithm: ReductionKind,
    semantics: Semantics,
    /// By transition; nothing if nothing is to be seen.
    visible: FixedBitSet,
    closer: Closer,
    components: StrongComponents,
    deletion: Deletion<S>,
    /// By imaginary nodes: whether what is invisible outside comes to an end.
    ends: HashMap<Box<[TransitionId]>, bool>,
    /// All successors of the state in hand.
    all: Batch<S>,
    enabled: FixedBitSet,
    /// The set.
    members: Vec<TransitionId>,
    is_partial: bool,
}

impl<S: Vector + ?Sized> Observing<S> {
    /// Sets by one of the algorithms of [`ReductionKind::BY_RULES`]; by any other, as strong components do.
    pub fn new<Y: Visible<State = S> + ?Sized>(
        system: &Y,
        algorithm: ReductionKind,
        semantics: Semantics,
    ) -> Self {
        let n = if semantics.sees_actions() { system.n_transitions() } else { 0 };
        let mut visible = FixedBitSet::with_capacity(n);
        visible.extend((0..n).filter(|&t| system.is_visible(TransitionId::from(t))));
        Self {
            algorithm,
            semantics,
            visible,
            closer: Closer::default(),
            components: StrongComponents::default(),
            deletion: Deletion::default(),
            ends: HashMap::default(),
            all: Batch::new(),
            enabled: FixedBitSet::new(),
            members: Vec::new(),
            is_partial: false,
        }
    }

    /// After this, `all` are the successors and `members` is the set; whether it is not everything.
    fn choose<Y: Visible<State = S> + ?Sized>(&mut self, system: &Y, state: &S) -> Result<bool, Fault> {
        self.all.clear();
        system.successors(state, &mut self.all)?;
        self.enabled.clear();
        self.enabled.grow(system.n_transitions());
        let n = self.all.len();
        (0..n).for_each(|i| self.enabled.insert(self.all.via(i).index()));
        let n_visible = self.enabled.intersection_count(&self.visible);
        if n <= 1 || self.algorithm == ReductionKind::None {
            return Ok(false);
        }
        if !self.semantics.sees_stability() {
            self.choose_among(system, state, |_| true)?;
            return Ok(true);
        }
        if n_visible == n {
            return Ok(false);
        }
        let visible = self.visible.clone();
        self.choose_among(system, state, |t| !visible.contains(t.index()))?;
        if n_visible > 0 && self.n_fired(&self.members) > 1 {
            self.try_without_invisible(system, state)?;
        }
        Ok(true)
    }

    /// How many of a set are enabled.
    fn n_fired(&self, members: &[TransitionId]) -> usize {
        members.iter().filter(|t| self.enabled.contains(t.index())).count()
    }

    /// A set with an enabled member that is `wanted`, of which there must be one.
    fn choose_among<Y: Visible<State = S> + ?Sized>(
        &mut self,
        system: &Y,
        state: &S,
        wanted: impl Fn(TransitionId) -> bool,
    ) -> Result<(), Fault> {
        let ruled = Ruled { system, visible: &self.visible, enabled: &self.enabled };
        let is_start = |t: TransitionId| self.enabled.contains(t.index()) && wanted(t);
        if self.algorithm != ReductionKind::Deletion {
            let start = if self.algorithm == ReductionKind::Closure {
                (0..self.all.len()).map(|i| self.all.via(i)).find(|&t| wanted(t))
            } else {
                first_in_components(&mut self.components, &ruled, state, is_start)?
            };
            let start: Vec<TransitionId> = start.into_iter().collect();
            self.members.clear();
            self.members.extend_from_slice(self.closer.close(&ruled, state, &start)?);
        }
        let is_smaller = self.algorithm == ReductionKind::Smaller && self.n_fired(&self.members) > 1;
        if self.algorithm == ReductionKind::Deletion || is_smaller {
            let visible = &self.visible;
            let ruled = Ruled { system, visible, enabled: &self.enabled };
            self.deletion.choose_with(&ruled, state, wanted, |t| visible.contains(t.index()))?;
            let nodes = (0..ruled.n_nodes()).map(TransitionId::from);
            let others: Vec<TransitionId> = nodes.filter(|&t| self.deletion.has(t)).collect();
            if !is_smaller || self.n_fired(&others) < self.n_fired(&self.members) {
                self.members = others;
            }
        }
        Ok(())
    }

    /// Takes all that can be seen and what comes with it, if that is less, has nothing invisible to fire, and nothing
    /// invisible can go on for ever without it.
    fn try_without_invisible<Y: Visible<State = S> + ?Sized>(
        &mut self,
        system: &Y,
        state: &S,
    ) -> Result<(), Fault> {
        let ruled = Ruled { system, visible: &self.visible, enabled: &self.enabled };
        let members = self.closer.close(&ruled, state, &[ruled.node()])?.to_vec();
        let is_invisible = |t: &&TransitionId| !self.visible.contains(t.index());
        let has_invisible = members.iter().filter(is_invisible).any(|t| self.enabled.contains(t.index()));
        if has_invisible || self.n_fired(&members) >= self.n_fired(&self.members) {
            return Ok(());
        }
        let is_imaginary = |t: &TransitionId| (system.n_transitions()..system.n_nodes()).contains(&t.index());
        let mut nodes: Vec<TransitionId> = members.iter().copied().filter(is_imaginary).collect();
        nodes.sort_unstable();
        let ends = match self.ends.get(nodes.as_slice()) {
            Some(&ends) => ends,
            None => {
                let ends = system.ends_unseen(&nodes);
                self.ends.insert(nodes.into(), ends);
                ends
            }
        };
        if ends {
            self.members = members;
        }
        Ok(())
    }
}

/// A transition that is wanted, in the first strong component of the rules that has one.
fn first_in_components<Y: Rules + ?Sized>(
    components: &mut StrongComponents,
    system: &Y,
    state: &Y::State,
    is_wanted: impl Fn(TransitionId) -> bool,
) -> Result<Option<TransitionId>, Fault> {
    components.begin(system.n_nodes());
    let mut found = None;
    let mut accept = |component: &[TransitionId]| {
        found = component.iter().copied().find(|&t| is_wanted(t));
        Ok(found.is_some())
    };
    for t in (0..system.n_transitions()).rev().map(TransitionId::from) {
        if components.search(system, state, t, &mut accept)? {
            break;
        }
    }
    Ok(found)
}

/// The system with V as a rule.
struct Ruled<'a, Y: ?Sized> {
    system: &'a Y,
    visible: &'a FixedBitSet,
    enabled: &'a FixedBitSet,
}

impl<Y: Rules + ?Sized> Ruled<'_, Y> {
    /// The node that requires everything visible.
    fn node(&self) -> TransitionId {
        TransitionId::from(self.system.n_nodes())
    }
}

impl<Y: Rules + ?Sized> System for Ruled<'_, Y> {
    type State = Y::State;

    fn n_transitions(&self) -> usize {
        self.system.n_transitions()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        self.system.transition_name(t)
    }

    fn initial(&self, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.system.initial(out)
    }

    fn fire(&self, state: &Y::State, t: TransitionId, out: &mut Batch<Y::State>) -> Result<bool, Fault> {
        self.system.fire(state, t, out)
    }

    fn successors(&self, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        self.system.successors(state, out)
    }

    fn values(&self, state: &Y::State) -> Vec<(String, String)> {
        self.system.values(state)
    }
}

impl<Y: Rules + ?Sized> Rules for Ruled<'_, Y> {
    fn n_nodes(&self) -> usize {
        self.system.n_nodes() + 1
    }

    fn require(&self, state: &Y::State, t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        if t == self.node() {
            self.visible.ones().for_each(|t| out.add(TransitionId::from(t)));
            return Ok(());
        }
        self.system.require(state, t, out)?;
        if self.visible.contains(t.index()) && self.enabled.contains(t.index()) {
            out.add_to_each(self.node());
        }
        Ok(())
    }
}

impl<Y: Visible + ?Sized> Reduction<Y> for Observing<Y::State> {
    fn name(&self) -> String {
        self.algorithm.word().into()
    }

    fn preserves(&self) -> Preserves {
        if self.semantics.sees_stability() { Preserves::Stuttering } else { Preserves::Basic }
    }

    fn expand(&mut self, system: &Y, state: &Y::State, out: &mut Batch<Y::State>) -> Result<(), Fault> {
        if !self.choose(system, state)? {
            self.is_partial = false;
            (0..self.all.len()).for_each(|i| out.push(self.all.via(i), self.all.state(i)));
            return Ok(());
        }
        let mut inside = FixedBitSet::with_capacity(system.n_nodes() + 1);
        inside.extend(self.members.iter().map(|t| t.index()));
        let before = out.len();
        for i in (0..self.all.len()).filter(|&i| inside.contains(self.all.via(i).index())) {
            out.push(self.all.via(i), self.all.state(i));
        }
        let is_everything = out.len() - before == self.all.len();
        self.is_partial = !is_everything && self.visible.ones().any(|t| !inside.contains(t));
        Ok(())
    }

    fn is_partial(&self) -> bool {
        self.is_partial
    }

    fn stubborn_set(
        &mut self,
        system: &Y,
        state: &Y::State,
        out: &mut Vec<TransitionId>,
    ) -> Result<(), Fault> {
        if self.choose(system, state)? {
            out.extend(self.members.iter().filter(|t| t.index() < system.n_nodes()));
        } else {
            out.extend((0..system.n_transitions()).map(TransitionId::from));
        }
        Ok(())
    }
}
