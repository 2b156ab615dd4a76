//! A composition with processes that grow: a component is followed as far as the composition comes.
//!
//! **Implements** Definition 6 of HVV, as [`crate::Composition`] does, and its rules of stubborn sets, for plans of which
//! some components are [`crate::Growing`]. What can happen in a component's state is asked when a state of the
//! composition with it is made, so all that a search has in hand is known.
//! **Preserves** with closed sets D1 and D2. A transition whose number nobody has given yet is disabled, because some
//! component has fewer edges with its action than it would need; the transition with that component's first edge has a
//! number, and brings what the other would. So numbers may be given late, but every rule has some from the beginning.
//! **Differs from the text** in that the nodes of components and guards are numbered first, as transitions that never
//! happen: the number of transitions grows, theirs must not.
//! **Checked by** comparing it with `Composition` on random networks (`oracle`), and by `plain`.

use crate::composition::{CompositionError, MAX_TRANSITIONS, guards, rejections};
use crate::lsts::{Action, TAU};
use crate::plain::{self, Mover};
use crate::plan::Plan;
use crate::unfold::Composed;
use crate::ways::Ways;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use stubborn_system::{
    Batch, Fault, Observed, Question, Rejecting, Rejection, RejectionKind, Requirements, Rules, Symmetric,
    System, TransitionId,
};

/// A rule, ready to be fired.
#[derive(Clone, Debug)]
struct Ready {
    parts: Vec<(usize, Action)>,
    /// The rule of the plan; `None` for the tau moves of a component.
    rule: Option<usize>,
    result: Action,
}

/// Which edge each part of a rule takes.
type Digits = Box<[u32]>;

/// The edges of a component's state, by action and target.
type Edges = Rc<[(Action, u32)]>;

/// What is known so far.
#[derive(Debug, Default)]
struct Known {
    /// By component, and state of it.
    edges: Vec<FxHashMap<u32, Edges>>,
    /// By component and action: the most edges of a state so far.
    most: Vec<Vec<u32>>,
    /// The transitions, from [`Followed::n_fixed`] on.
    transitions: Vec<(u32, Digits)>,
    numbers: FxHashMap<(u32, Digits), u32>,
    of_rule: Vec<Vec<u32>>,
}

/// A composition of which some components grow.
#[derive(Debug)]
pub struct Followed<'p> {
    plan: &'p Plan,
    rules: Vec<Ready>,
    /// By component and action: the rules that they have a part in.
    involved: Vec<Vec<Vec<u32>>>,
    guards: Vec<Vec<usize>>,
    rejections: Vec<Rejection>,
    /// The proposition rule of each rejection.
    rejection_rules: Vec<usize>,
    ways: Ways,
    cuts: Vec<usize>,
    known: RefCell<Known>,
}

impl<'p> Followed<'p> {
    /// The composition of `plan`.
    pub fn new(plan: &'p Plan) -> Result<Self, CompositionError> {
        if plan.components().is_empty() {
            return Err(CompositionError::Empty);
        }
        let most: Vec<Vec<u32>> = (0..plan.components().len()).map(|i| plan.most_edges(i)).collect();
        let explicit = plan.rules().iter().enumerate();
        let mut rules: Vec<Ready> = explicit
            .map(|(i, rule)| Ready { parts: rule.parts.clone(), rule: Some(i), result: rule.result })
            .collect();
        let alone = |i: usize| Ready { parts: vec![(i, TAU)], rule: None, result: TAU };
        rules.extend((0..most.len()).map(alone));
        rules.retain(|rule| rule.parts.iter().all(|&(i, action)| most[i][action as usize] > 0));
        let mut involved: Vec<Vec<Vec<u32>>> = most.iter().map(|m| vec![Vec::new(); m.len()]).collect();
        for (number, rule) in rules.iter().enumerate() {
            for &(i, action) in &rule.parts {
                involved[i][action as usize].push(number as u32);
            }
        }
        let guards = guards(plan);
        let (rejection_rules, rejections) = rejections(plan, &guards).into_iter().unzip();
        let is_cut = |&i: &usize| plan.propositions()[i].result.is_cut();
        let known = Known {
            edges: vec![FxHashMap::default(); most.len()],
            of_rule: vec![Vec::new(); rules.len()],
            most,
            ..Known::default()
        };
        let followed = Self {
            plan,
            involved,
            guards,
            rejections,
            rejection_rules,
            ways: Ways::new(plan),
            cuts: (0..plan.propositions().len()).filter(is_cut).collect(),
            rules,
            known: RefCell::new(known),
        };
        for rule in 0..followed.rules.len() {
            followed.number_choices(rule as u32, None)?;
        }
        Ok(followed)
    }

    /// How many nodes there are before the first transition: components, then guards.
    fn n_fixed(&self) -> usize {
        self.plan.components().len() + self.guards.len()
    }

    fn component_node(&self, component: usize) -> TransitionId {
        TransitionId::from(component)
    }

    /// Gives numbers to all choices of a rule; or only to those in which a part takes one of these edges.
    fn number_choices(
        &self,
        rule: u32,
        new: Option<(usize, std::ops::Range<u32>)>,
    ) -> Result<(), CompositionError> {
        let known = &mut *self.known.borrow_mut();
        let parts = &self.rules[rule as usize].parts;
        let mut choices: Vec<Vec<u32>> = vec![Vec::new()];
        for &(component, action) in parts {
            let all = 0..known.most[component][action as usize];
            let range = match &new {
                Some((of, range)) if *of == component => range.clone(),
                _ => all,
            };
            if choices.len() * range.len() + known.transitions.len() > MAX_TRANSITIONS {
                return Err(CompositionError::Choices);
            }
            let longer = |choice: &Vec<u32>| {
                let choice = choice.clone();
                range.clone().map(move |digit| choice.iter().copied().chain([digit]).collect())
            };
            choices = choices.iter().flat_map(longer).collect();
        }
        for choice in choices {
            let digits: Digits = choice.into();
            let number = known.transitions.len() as u32;
            known.transitions.push((rule, digits.clone()));
            known.of_rule[rule as usize].push(number);
            known.numbers.insert((rule, digits), number);
        }
        Ok(())
    }

    /// The edges of a component's state. If it has more of them than any before, transitions get numbers.
    fn edges(&self, component: usize, local: u32) -> Result<Edges, Fault> {
        if let Some(edges) = self.known.borrow().edges[component].get(&local) {
            return Ok(edges.clone());
        }
        let edges: Edges =
            self.plan.edges(component, local).map_err(|error| Fault::Model(error.to_string()))?.into();
        for group in edges.chunk_by(|a, b| a.0 == b.0) {
            let (action, n) = (group[0].0 as usize, group.len() as u32);
            let before = self.known.borrow().most[component][action];
            if n > before {
                for &rule in &self.involved[component][action] {
                    let numbered = self.number_choices(rule, Some((component, before..n)));
                    numbered.map_err(|error| Fault::Model(error.to_string()))?;
                }
                self.known.borrow_mut().most[component][action] = n;
            }
        }
        self.known.borrow_mut().edges[component].insert(local, edges.clone());
        Ok(edges)
    }

    /// The targets that a component has for its part of a rule.
    fn offered(&self, state: &[u64], (component, action): (usize, Action)) -> Result<Vec<u32>, Fault> {
        let edges = self.edges(component, local(state, component))?;
        Ok(edges.iter().filter(|edge| edge.0 == action).map(|edge| edge.1).collect())
    }

    /// Appends a state; whatever can happen in its components is known then.
    fn push(
        &self,
        state: &[u64],
        t: TransitionId,
        parts: &[(usize, Action)],
        targets: &[u32],
        out: &mut Batch<[u64]>,
    ) -> Result<(), Fault> {
        for (&(component, _), &target) in parts.iter().zip(targets) {
            self.edges(component, target)?;
        }
        let after = out.push_copy(t, state);
        for (&(component, _), &target) in parts.iter().zip(targets) {
            set_local(after, component, target);
        }
        Ok(())
    }

    fn is_cut(&self, state: &[u64]) -> bool {
        self.cuts.iter().any(|&rule| self.holds(state, rule))
    }

    /// The rule of a transition and its choice; `None` for a node of a component or guard.
    fn transition(&self, t: TransitionId) -> Option<(u32, Digits)> {
        let number = t.index().checked_sub(self.n_fixed())?;
        self.known.borrow().transitions.get(number).cloned()
    }

    fn ready(&self, t: TransitionId) -> Option<&Ready> {
        self.transition(t).map(|(rule, _)| &self.rules[rule as usize])
    }
}

#[inline]
fn local(state: &[u64], component: usize) -> u32 {
    (state[component / 2] >> (32 * (component % 2))) as u32
}

#[inline]
fn set_local(state: &mut [u64], component: usize, local: u32) {
    let shift = 32 * (component % 2);
    let word = &mut state[component / 2];
    *word = *word & !(u64::from(u32::MAX) << shift) | u64::from(local) << shift;
}

/// Components that grow change the number of transitions, so nothing is remembered of them.
impl stubborn_system::Composed for Followed<'_> {}

impl Composed for Followed<'_> {
    fn plan(&self) -> &Plan {
        self.plan
    }

    fn action(&self, t: TransitionId) -> Action {
        self.ready(t).map_or(TAU, |rule| rule.result)
    }

    fn local(&self, state: &[u64], component: usize) -> u32 {
        local(state, component)
    }

    fn holds(&self, state: &[u64], rule: usize) -> bool {
        let holds = |component, proposition| self.plan.holds(component, proposition, local(state, component));
        self.plan.propositions()[rule].expr.value(&holds)
    }
}

impl System for Followed<'_> {
    type State = [u64];

    fn n_transitions(&self) -> usize {
        self.n_fixed() + self.known.borrow().transitions.len()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        let Some(rule) = self.ready(t) else { return format!("component {}", t.index() + 1) };
        let part = |&(component, action): &(usize, Action)| {
            let component = &self.plan.components()[component];
            format!("{}.{}", component.number, component.lsts.action_name(action))
        };
        let parts: Vec<String> = rule.parts.iter().map(part).collect();
        match rule.rule {
            None => parts.join(" "),
            Some(_) => format!("{} ({})", self.plan.action_name(rule.result), parts.join(" ")),
        }
    }

    fn initial(&self, out: &mut Batch<[u64]>) -> Result<(), Fault> {
        let tuple = plain::initial(self.plan);
        let mut words = vec![0; tuple.len().div_ceil(2)];
        for (component, &first) in tuple.iter().enumerate() {
            self.edges(component, first)?;
            set_local(&mut words, component, first);
        }
        out.push(TransitionId(0), &words);
        Ok(())
    }

    fn fire(&self, state: &[u64], t: TransitionId, out: &mut Batch<[u64]>) -> Result<bool, Fault> {
        let Some((rule, digits)) = self.transition(t) else { return Ok(false) };
        if !self.cuts.is_empty() && self.is_cut(state) {
            return Ok(false);
        }
        let parts = &self.rules[rule as usize].parts;
        let mut targets = Vec::with_capacity(parts.len());
        for (&part, &digit) in parts.iter().zip(&digits) {
            let Some(&target) = self.offered(state, part)?.get(digit as usize) else { return Ok(false) };
            targets.push(target);
        }
        self.push(state, t, parts, &targets, out)?;
        Ok(true)
    }

    fn successors(&self, state: &[u64], out: &mut Batch<[u64]>) -> Result<(), Fault> {
        if !self.cuts.is_empty() && self.is_cut(state) {
            return Ok(());
        }
        for component in (0..self.plan.components().len()).rev() {
            let edges = self.edges(component, local(state, component))?;
            let groups: Vec<&[(Action, u32)]> = edges.chunk_by(|a, b| a.0 == b.0).collect();
            for group in groups.into_iter().rev() {
                for &rule in self.involved[component][group[0].0 as usize].iter().rev() {
                    let parts = &self.rules[rule as usize].parts;
                    if parts[0].0 == component {
                        self.fire_rule(state, rule, parts, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn values(&self, state: &[u64]) -> Vec<(String, String)> {
        let components = self.plan.components().iter().enumerate();
        components.map(|(i, c)| (c.number.to_string(), (local(state, i) + 1).to_string())).collect()
    }
}

impl Followed<'_> {
    /// Appends what a rule can do.
    fn fire_rule(
        &self,
        state: &[u64],
        rule: u32,
        parts: &[(usize, Action)],
        out: &mut Batch<[u64]>,
    ) -> Result<(), Fault> {
        let offered = parts.iter().map(|&part| self.offered(state, part)).collect::<Result<Vec<_>, _>>()?;
        let mut digits = vec![0u32; parts.len()];
        if offered.iter().any(Vec::is_empty) {
            return Ok(());
        }
        loop {
            let number = self.known.borrow().numbers[&(rule, digits.clone().into_boxed_slice())];
            let t = TransitionId::from(self.n_fixed() + number as usize);
            let targets: Vec<u32> =
                offered.iter().zip(&digits).map(|(o, &digit)| o[digit as usize]).collect();
            self.push(state, t, parts, &targets, out)?;
            let Some(place) = (0..digits.len()).find(|&i| (digits[i] as usize) + 1 < offered[i].len()) else {
                return Ok(());
            };
            digits[place] += 1;
            digits[..place].fill(0);
        }
    }

    /// All transitions in which a component could take part where it is.
    fn offers(&self, state: &[u64], component: usize, out: &mut Requirements) -> Result<(), Fault> {
        let edges = self.edges(component, local(state, component))?;
        let known = self.known.borrow();
        for group in edges.chunk_by(|a, b| a.0 == b.0) {
            for &rule in &self.involved[component][group[0].0 as usize] {
                let parts = &self.rules[rule as usize].parts;
                let place = parts.iter().position(|part| part.0 == component);
                let place = place.expect("the component is involved");
                for &number in &known.of_rule[rule as usize] {
                    if (known.transitions[number as usize].1[place] as usize) < group.len() {
                        out.add(TransitionId::from(self.n_fixed() + number as usize));
                    }
                }
            }
        }
        Ok(())
    }
}

impl Rules for Followed<'_> {
    fn require(&self, state: &[u64], t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        let n = self.plan.components().len();
        if t.index() < n {
            return self.offers(state, t.index(), out);
        }
        let Some((rule, digits)) = self.transition(t) else {
            self.guards[t.index() - n].iter().for_each(|&component| out.add(self.component_node(component)));
            return Ok(());
        };
        let parts = &self.rules[rule as usize].parts;
        let mut is_enabled = true;
        for (&part, &digit) in parts.iter().zip(&digits) {
            if digit as usize >= self.offered(state, part)?.len() {
                // Any component that does not offer its part must move first.
                if !is_enabled {
                    out.or();
                }
                is_enabled = false;
                out.add(self.component_node(part.0));
            }
        }
        if is_enabled {
            parts.iter().for_each(|part| out.add(self.component_node(part.0)));
        }
        Ok(())
    }
}

impl Rejecting for Followed<'_> {
    fn rejections(&self) -> &[Rejection] {
        &self.rejections
    }

    fn rejects(&self, state: &[u64], rejection: usize) -> bool {
        let holds = self.holds(state, self.rejection_rules[rejection]);
        let is_deadlock = self.rejections[rejection].kind == RejectionKind::Deadlock;
        holds && !(is_deadlock && self.is_cut(state))
    }

    fn takes_part(&self, guard: usize, t: TransitionId) -> bool {
        let guard = &self.guards[guard];
        self.ready(t).is_some_and(|rule| rule.parts.iter().any(|part| guard.contains(&part.0)))
    }

    fn guard_node(&self, guard: usize) -> TransitionId {
        TransitionId::from(self.plan.components().len() + guard)
    }

    fn enablers(&self, state: &[u64], rejection: usize, out: &mut Requirements) {
        let expr = &self.plan.propositions()[self.rejection_rules[rejection]].expr;
        let local = |component| local(state, component);
        let holds = |component, proposition| self.plan.holds(component, proposition, local(component));
        for (i, components) in self.ways.towards(expr, true, &local, &holds).iter().enumerate() {
            if i > 0 {
                out.or();
            }
            components.iter().for_each(|&component| out.add(self.component_node(component)));
        }
    }

    fn confirm(
        &self,
        rejection: usize,
        states: &Batch<[u64]>,
        cycle_start: Option<usize>,
    ) -> Result<String, String> {
        let n = self.plan.components().len();
        let tuples: Vec<plain::Tuple> =
            (0..states.len()).map(|i| (0..n).map(|c| local(states.state(i), c)).collect()).collect();
        let mover = |i: usize| {
            let rule = self.ready(states.via(i))?;
            Some(rule.rule.map_or(Mover::Tau(rule.parts[0].0), Mover::Rule))
        };
        let movers: Option<Vec<Mover>> = (1..states.len()).map(mover).collect();
        let movers = movers.ok_or("a step is no transition")?;
        let actions: Vec<Action> = (1..states.len()).map(|i| self.action(states.via(i))).collect();
        let rule = self.rejection_rules[rejection];
        plain::confirm(self.plan, rule, &tuples, &movers, cycle_start)?;
        Ok(plain::told(self.plan, &self.rejections[rejection], &actions, cycle_start))
    }
}

/// Rejections are asked for by themselves, so there are no questions besides.
impl Observed for Followed<'_> {
    fn questions(&self) -> Vec<Question> {
        Vec::new()
    }

    fn check(&self, _: &[u64]) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    fn check_deadlock(&self, _: &[u64]) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    fn is_may_progress(&self, _: &[u64]) -> Result<bool, Fault> {
        Ok(false)
    }

    fn is_must_progress(&self, _: &[u64]) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// Compositions have no symmetry: every state represents itself.
impl Symmetric for Followed<'_> {
    fn represent(&self, _: &mut [u64]) -> Result<(), Fault> {
        Ok(())
    }
}
