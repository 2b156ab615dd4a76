//! A composition as a system, made on the fly.
//!
//! **Implements** Definition 6 of HVV. A state is the components' states, each in as few bits as it needs, packed
//! into words. A transition is a rule and, where components are nondeterministic, a choice among the edges with its
//! action: so transitions are deterministic and numbered, and there are few of them however large components are.
//! The rules of stubborn sets are the graph of V93 section 4: an enabled transition brings its components, a component
//! all that it offers where it is, a disabled transition one component that does not offer its part.
//! **Preserves** with closed sets D1 and D2 (V93 Theorem 2.6).
//! **Differs from the text** in that the instances of a nondeterministic action are transitions of their own.
//! **Checked by** `Plain` state by state, the counts of token rings, and `reduce::Checked`.

use crate::lsts::{Action, Lsts, Mark, Special, TAU};
use crate::offers::{Edges, Moves, NO_TABLE};
use crate::plain::{self, Mover};
use crate::plan::{Plan, PropositionRule};
use crate::traced::Traced;
use crate::unfold::Composed;
use crate::ways::Ways;
use fixedbitset::FixedBitSet;
use std::marker::PhantomData;
use std::ops::Range;
use stubborn_system::{
    Batch, Bits, Fault, Observed, Question, Rejecting, Rejection, RejectionKind, Requirements, Rules,
    Symmetric, System, Tracer, TransitionId, Visible, WordVector,
};
use thiserror::Error;

/// Where a component's state lies.
#[derive(Clone, Copy, Debug)]
struct Field {
    word: usize,
    shift: u32,
    mask: u64,
}

impl Field {
    #[inline]
    fn get(self, words: &[u64]) -> u32 {
        (words[self.word] >> self.shift & self.mask) as u32
    }

    #[inline]
    fn set(self, words: &mut [u64], state: u32) {
        let word = &mut words[self.word];
        *word = *word & !(self.mask << self.shift) | u64::from(state) << self.shift;
    }
}

/// A component's part in a rule.
#[derive(Clone, Copy, Debug)]
struct Role {
    component: u32,
    action: Action,
    /// The most edges that any state of the component has with this action.
    radix: u32,
    /// Where its edges are to be found.
    table: u32,
}

impl Role {
    /// Takes its choice off what is left of a transition's. Most have none.
    #[inline]
    fn digit(self, left: &mut u32) -> u32 {
        if self.radix == 1 {
            return 0;
        }
        let digit = *left % self.radix;
        *left /= self.radix;
        digit
    }
}

/// A rule, ready to be fired.
#[derive(Clone, Debug)]
struct Compiled {
    /// Its transitions are numbered from here.
    first: u32,
    roles: Range<u32>,
    /// The rule of the plan; `None` for the tau moves of a component.
    rule: Option<u32>,
    result: Action,
}

/// Lists, one behind the other.
#[derive(Clone, Debug, Default)]
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(n: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        let mut starts = vec![0; n + 1];
        pairs.iter().for_each(|&(list, _)| starts[list as usize + 1] += 1);
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        Self { starts, items: pairs.into_iter().map(|(_, item)| item).collect() }
    }

    #[inline]
    fn get(&self, list: usize) -> &[u32] {
        &self.items[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}

/// Why a composition cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompositionError {
    /// There is nothing to compose.
    #[error("there is no component")]
    Empty,
    /// Components that grow.
    #[error("a component is followed while it is composed: this needs it as a whole")]
    Followed,
    /// Too many choices.
    #[error("the components are so nondeterministic that the transitions cannot be numbered")]
    Choices,
}

/// A composition.
#[derive(Debug)]
pub struct Composition<'p, S: ?Sized> {
    plan: &'p Plan,
    fields: Vec<Field>,
    n_words: usize,
    rules: Vec<Compiled>,
    roles: Vec<Role>,
    /// The rule of each transition.
    rule_of: Vec<u32>,
    /// For each action of each component the rules that it is the first component of, and those that it has a
    /// part in at all.
    owned: Lists,
    involved: Lists,
    /// The first action of each component in these lists.
    bases: Vec<usize>,
    /// The components that are looked at as one, for each guard; and the rules that they have a part in.
    guards: Vec<Vec<usize>>,
    /// The nodes of the component of each role, and of those of each guard.
    role_nodes: Vec<TransitionId>,
    guard_nodes: Vec<Vec<TransitionId>>,
    guard_rules: Vec<FixedBitSet>,
    rejections: Vec<Rejection>,
    /// The proposition rule of each rejection.
    rejection_rules: Vec<usize>,
    /// From where a component can come to where its proposition has a value.
    ways: Ways,
    cuts: Vec<usize>,
    /// The rules that can be seen.
    visible: FixedBitSet,
    /// What components offer where they are.
    edges: Edges,
    moves: Moves,
    state: PhantomData<fn(&S)>,
}

/// How many words a state of `plan` takes.
pub fn n_words(plan: &Plan) -> usize {
    layout(plan).1
}

/// How many bits of them say something.
pub fn n_bits(plan: &Plan) -> usize {
    layout(plan).0.iter().map(|field| field.mask.count_ones() as usize).sum()
}

fn layout(plan: &Plan) -> (Vec<Field>, usize) {
    let (mut word, mut shift) = (0, 0);
    let mut fields = Vec::new();
    for component in plan.components() {
        let bits = usize::BITS - (component.lsts.n_states() - 1).leading_zeros();
        if shift + bits > 64 {
            (word, shift) = (word + 1, 0);
        }
        // A component with one state takes no bits, wherever they would be.
        let at = if bits == 0 { 0 } else { shift };
        fields.push(Field { word, shift: at, mask: (1u64 << bits) - 1 });
        shift += bits;
    }
    (fields, word + 1)
}

impl<'p, S: WordVector + ?Sized> Composition<'p, S> {
    /// The composition of `plan`, whose states fit into `S`.
    pub fn new(plan: &'p Plan) -> Result<Self, CompositionError> {
        if plan.components().is_empty() {
            return Err(CompositionError::Empty);
        }
        if plan.is_followed() {
            return Err(CompositionError::Followed);
        }
        let (fields, n_words) = layout(plan);
        let mut bases = Vec::new();
        let mut n_actions = 0;
        let mut radixes: Vec<Vec<u32>> = Vec::new();
        for component in plan.components() {
            bases.push(n_actions);
            n_actions += component.lsts.n_actions();
            radixes.push(most_edges(&component.lsts));
        }
        let (mut rules, mut roles, mut rule_of) = (Vec::new(), Vec::new(), Vec::new());
        let (mut owned, mut involved) = (Vec::new(), Vec::new());
        let (mut edges, mut tables) = (Edges::default(), vec![NO_TABLE; n_actions]);
        for (parts, rule, result) in ordered(plan, &radixes) {
            let first = roles.len() as u32;
            let radix = |&(component, action): &(usize, Action)| radixes[component][action as usize];
            let choices = parts.iter().map(radix).try_fold(1u32, u32::checked_mul).unwrap_or(u32::MAX);
            if choices == 0 {
                continue;
            }
            for &(component, action) in &parts {
                let radix = radixes[component][action as usize];
                let table = &mut tables[bases[component] + action as usize];
                if *table == NO_TABLE {
                    let lsts = &plan.components()[component].lsts;
                    *table = edges.add(lsts.n_states(), |state| edges_with(lsts, state, action));
                }
                roles.push(Role { component: component as u32, action, radix, table: *table });
                involved.push(((bases[component] + action as usize) as u32, rules.len() as u32));
            }
            let (component, action) = parts[0];
            owned.push(((bases[component] + action as usize) as u32, rules.len() as u32));
            let n = rule_of.len();
            if n + choices as usize > MAX_TRANSITIONS {
                return Err(CompositionError::Choices);
            }
            rule_of.resize(n + choices as usize, rules.len() as u32);
            rules.push(Compiled { first: n as u32, roles: first..roles.len() as u32, rule, result });
        }
        let guards = guards(plan);
        let takes_part = |guard: &Vec<usize>, rule: &Compiled| {
            let roles = &roles[rule.roles.start as usize..rule.roles.end as usize];
            roles.iter().any(|role: &Role| guard.contains(&(role.component as usize)))
        };
        let guard_rules = guards.iter().map(|guard| {
            (0..rules.len()).filter(|&rule| takes_part(guard, &rules[rule])).collect::<FixedBitSet>()
        });
        let guard_rules = guard_rules.collect();
        let (rejection_rules, rejections) = rejections(plan, &guards).into_iter().unzip();
        let is_cut = |&i: &usize| plan.propositions()[i].result.is_cut();
        let visible = visible_rules(plan, &rules, &roles);
        let component_node = |component: usize| TransitionId::from(rule_of.len() + component);
        let role_nodes = roles.iter().map(|role: &Role| component_node(role.component as usize)).collect();
        let guard_nodes = guards.iter().map(|guard| guard.iter().copied().map(component_node).collect());
        let guard_nodes = guard_nodes.collect();
        let mut composition = Self {
            plan,
            fields,
            n_words,
            rules,
            roles,
            rule_of,
            owned: Lists::new(n_actions, owned),
            involved: Lists::new(n_actions, involved),
            bases,
            guards,
            role_nodes,
            guard_nodes,
            guard_rules,
            rejections,
            rejection_rules,
            ways: Ways::new(plan),
            cuts: (0..plan.propositions().len()).filter(is_cut).collect(),
            visible,
            edges,
            moves: Moves::default(),
            state: PhantomData,
        };
        let n_choices =
            |rule: &Compiled| composition.roles_of(rule).iter().map(|role| role.radix).product::<u32>();
        if composition.rules.iter().all(|rule| n_choices(rule) <= MOST_CHOICES) {
            let n_states: Vec<usize> = plan.components().iter().map(|c| c.lsts.n_states()).collect();
            composition.moves = Moves::new(&n_states, |component, local, out| {
                composition.each_move(component, local, |t| out.push(t));
            });
        }
        Ok(composition)
    }

    /// The plan.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// The state of a component.
    #[inline]
    pub fn local(&self, state: &S, component: usize) -> u32 {
        self.fields[component].get(state.words())
    }

    /// Whether the expression of a proposition rule holds.
    #[inline]
    pub fn holds(&self, state: &S, rule: usize) -> bool {
        let words = state.words();
        self.plan.propositions()[rule].expr.value(&|component, proposition| {
            let local = self.fields[component].get(words) as usize;
            self.plan.components()[component].lsts.propositions()[proposition].states.contains(local)
        })
    }

    /// The action of a transition.
    pub fn action(&self, t: TransitionId) -> Action {
        self.compiled(t).result
    }

    /// The rule of the plan that a transition comes from; `None` for a tau move.
    pub fn rule(&self, t: TransitionId) -> Option<usize> {
        self.compiled(t).rule.map(|rule| rule as usize)
    }

    /// The components that take part in a transition.
    pub fn participants(&self, t: TransitionId) -> impl Iterator<Item = usize> + '_ {
        self.roles_of(self.compiled(t)).iter().map(|role| role.component as usize)
    }

    /// The imaginary node of a component.
    fn component_node(&self, component: usize) -> TransitionId {
        TransitionId::from(self.rule_of.len() + component)
    }

    fn compiled(&self, t: TransitionId) -> &Compiled {
        &self.rules[self.rule_of[t.index()] as usize]
    }

    #[inline]
    fn roles_of(&self, rule: &Compiled) -> &[Role] {
        &self.roles[rule.roles.start as usize..rule.roles.end as usize]
    }

    #[inline]
    fn lsts(&self, component: u32) -> &Lsts {
        &self.plan.components()[component as usize].lsts
    }

    /// The edges that a component has for its role. (Called for each component of each node of each set.)
    #[inline(always)]
    fn offered(&self, words: &[u64], role: Role) -> Range<usize> {
        let local = self.fields[role.component as usize].get(words);
        let known = self.edges.get(role.table, local);
        known.unwrap_or_else(|| edges_with(self.lsts(role.component), local, role.action))
    }

    #[inline]
    pub(crate) fn is_cut(&self, state: &S) -> bool {
        self.cuts.iter().any(|&rule| self.holds(state, rule))
    }

    /// Calls `each` with the rules that a component is the first of and offers its part of, in the order of their successors,
    /// and with its edges for them.
    #[inline]
    pub(crate) fn each_owned(&self, state: &S, component: usize, mut each: impl FnMut(u32, Range<usize>)) {
        let lsts = self.lsts(component as u32);
        let edges = lsts.range(self.local(state, component));
        let mut end = edges.end;
        while end > edges.start {
            let action = lsts.labels()[end - 1];
            let mut start = end - 1;
            while start > edges.start && lsts.labels()[start - 1] == action {
                start -= 1;
            }
            for &rule in self.owned.get(self.bases[component] + action as usize).iter().rev() {
                each(rule, start..end);
            }
            end = start;
        }
    }

    /// Appends what a rule can do of which the first component has these edges.
    #[inline]
    pub(crate) fn fire_owned(&self, state: &S, rule: u32, first: Range<usize>, out: &mut Batch<S>) {
        self.fire_rule(state, &self.rules[rule as usize], first, out);
    }

    /// Appends what a rule can do, highest choice first.
    #[inline]
    fn fire_rule(&self, state: &S, rule: &Compiled, first: Range<usize>, out: &mut Batch<S>) {
        let roles = self.roles_of(rule);
        let words = state.words();
        if let [_] = roles {
            for digit in (0..first.len()).rev() {
                let t = TransitionId(rule.first + digit as u32);
                let target = self.lsts(roles[0].component).targets()[first.start + digit];
                let after = out.push_copy(t, state);
                self.fields[roles[0].component as usize].set(after.words_mut(), target);
            }
            return;
        }
        if let [_, role] = roles {
            let second = self.offered(words, *role);
            for digit in (0..first.len()).rev() {
                for other in (0..second.len()).rev() {
                    let t = TransitionId(rule.first + digit as u32 * role.radix + other as u32);
                    let after = out.push_copy(t, state).words_mut();
                    let target = self.lsts(roles[0].component).targets()[first.start + digit];
                    self.fields[roles[0].component as usize].set(after, target);
                    let target = self.lsts(role.component).targets()[second.start + other];
                    self.fields[role.component as usize].set(after, target);
                }
            }
            return;
        }
        if roles.iter().all(|&role| !self.offered(words, role).is_empty()) {
            let n_choices: u32 = roles.iter().map(|role| role.radix).product();
            for choice in (0..n_choices).rev() {
                self.fire_choice(state, rule, choice, out);
            }
        }
    }

    /// Fires one choice of a rule, if there is it.
    fn fire_choice(&self, state: &S, rule: &Compiled, choice: u32, out: &mut Batch<S>) -> bool {
        let roles = self.roles_of(rule);
        let words = state.words();
        let mut left = choice;
        for role in roles.iter().rev() {
            if role.digit(&mut left) as usize >= self.offered(words, *role).len() {
                return false;
            }
        }
        let after = out.push_copy(TransitionId(rule.first + choice), state).words_mut();
        let mut left = choice;
        for role in roles.iter().rev() {
            let edge = self.offered(words, *role).start + role.digit(&mut left) as usize;
            self.fields[role.component as usize].set(after, self.lsts(role.component).targets()[edge]);
        }
        true
    }
}

/// What there is to be known about components, for [`Traced`].
impl<S: WordVector + ?Sized> Composition<'_, S> {
    pub(crate) fn n_components(&self) -> usize {
        self.fields.len()
    }

    pub(crate) fn n_state_words(&self) -> usize {
        self.n_words
    }

    /// The components of a rule, its first one first.
    pub(crate) fn components_of(&self, rule: u32) -> impl Iterator<Item = u32> + '_ {
        self.roles_of(&self.rules[rule as usize]).iter().map(|role| role.component)
    }

    /// Whether a component is the first of any rule.
    pub(crate) fn owns_rules(&self, component: usize) -> bool {
        let first = self.bases[component];
        let actions = first..first + self.lsts(component as u32).n_actions();
        actions.into_iter().any(|action| !self.owned.get(action).is_empty())
    }

    /// The components that cuts are about.
    pub(crate) fn components_of_cuts(&self) -> Vec<usize> {
        let mut components = Vec::new();
        self.cuts.iter().for_each(|&cut| self.plan.propositions()[cut].expr.components(&mut components));
        components
    }

    /// Where a component's state lies.
    pub(crate) fn place(&self, component: usize) -> Bits {
        let Field { word, shift, mask } = self.fields[component];
        Bits { word: word as u16, shift: shift as u8, bits: mask.count_ones() as u8 }
    }

    /// The words of the state in which components are there.
    pub(crate) fn put_locals(&self, locals: impl Iterator<Item = u32>, words: &mut Vec<u64>) {
        words.resize(self.n_words, 0);
        self.fields.iter().zip(locals).for_each(|(field, local)| field.set(words, local));
    }
}

/// The bytes of a component's state, as if each had four.
pub(crate) fn bytes_of(component: usize) -> Range<usize> {
    4 * component..4 * component + 4
}

/// Choices of a rule that are tried for every state of its components when tables are made.
const MOST_CHOICES: u32 = 64;

/// Numbers of transitions that are still comfortable for tables.
pub(crate) const MAX_TRANSITIONS: usize = 5_000_000;

/// The edges of a state with an action: they lie together.
#[inline]
fn edges_with(lsts: &Lsts, state: u32, action: Action) -> Range<usize> {
    let range = lsts.range(state);
    let labels = &lsts.labels()[range.clone()];
    if labels.len() > 16 {
        let from = labels.partition_point(|&label| label < action);
        let to = labels.partition_point(|&label| label <= action);
        return range.start + from..range.start + to;
    }
    let Some(from) = labels.iter().position(|&label| label == action) else { return 0..0 };
    let n = labels[from..].iter().take_while(|&&label| label == action).count();
    range.start + from..range.start + from + n
}

/// For each action the most edges that a state has with it.
pub(crate) fn most_edges(lsts: &Lsts) -> Vec<u32> {
    let mut most = vec![0; lsts.n_actions()];
    for state in 0..lsts.n_states() as u32 {
        let labels = &lsts.labels()[lsts.range(state)];
        for group in labels.chunk_by(|a, b| a == b) {
            let most = &mut most[group[0] as usize];
            *most = (*most).max(group.len() as u32);
        }
    }
    most
}

/// A rule to be compiled: parts, rule of the plan, result.
type Uncompiled = (Vec<(usize, Action)>, Option<u32>, Action);

/// All rules, with the tau moves, by first component and its action: so successors come out by number.
fn ordered(plan: &Plan, radixes: &[Vec<u32>]) -> Vec<Uncompiled> {
    let explicit = plan.rules().iter().enumerate();
    let mut rules: Vec<Uncompiled> =
        explicit.map(|(i, rule)| (rule.parts.clone(), Some(i as u32), rule.result)).collect();
    let has_tau = |&i: &usize| radixes[i][TAU as usize] > 0;
    rules.extend((0..plan.components().len()).filter(has_tau).map(|i| (vec![(i, TAU)], None, TAU)));
    rules.sort_by_key(|(parts, rule, _)| (parts[0], *rule));
    rules
}

/// The kind of a rejection, if a proposition rule is one.
fn rejection_kind(rule: &PropositionRule) -> Option<RejectionKind> {
    match rule.result {
        Mark::Special(Special::Rej) => Some(RejectionKind::State),
        Mark::Special(Special::DlRej) => Some(RejectionKind::Deadlock),
        Mark::Special(Special::LlRej) => Some(RejectionKind::Livelock),
        Mark::Special(Special::InfRej) => Some(RejectionKind::Infinite),
        Mark::Special(Special::Cut) | Mark::Named(_) => None,
    }
}

/// The sets of components that the expressions of rejections mention, each once.
pub(crate) fn guards(plan: &Plan) -> Vec<Vec<usize>> {
    let mut guards: Vec<Vec<usize>> = Vec::new();
    for rule in plan.propositions().iter().filter(|rule| rejection_kind(rule).is_some()) {
        let guard = guard(rule);
        if !guards.contains(&guard) {
            guards.push(guard);
        }
    }
    guards
}

fn guard(rule: &PropositionRule) -> Vec<usize> {
    let mut components = Vec::new();
    rule.expr.components(&mut components);
    components
}

/// The rejections with their proposition rules.
pub(crate) fn rejections(plan: &Plan, guards: &[Vec<usize>]) -> Vec<(usize, Rejection)> {
    let mut out = Vec::new();
    for (i, rule) in plan.propositions().iter().enumerate() {
        if let Some(kind) = rejection_kind(rule) {
            let of = guard(rule);
            let guard = guards.iter().position(|known| *known == of).expect("every rejection has its guard");
            out.push((i, Rejection { kind, text: plan.show(&rule.expr), guard }));
        }
    }
    out
}

impl<S: WordVector + ?Sized> System for Composition<'_, S> {
    type State = S;

    fn n_transitions(&self) -> usize {
        self.rule_of.len()
    }

    fn transition_name(&self, t: TransitionId) -> String {
        let rule = self.compiled(t);
        let part = |role: &Role| {
            let component = &self.plan.components()[role.component as usize];
            format!("{}.{}", component.number, component.lsts.action_name(role.action))
        };
        let parts: Vec<String> = self.roles_of(rule).iter().map(part).collect();
        match rule.rule {
            None => parts.join(" "),
            Some(_) => format!("{} ({})", self.plan.action_name(rule.result), parts.join(" ")),
        }
    }

    fn initial(&self, out: &mut Batch<S>) -> Result<(), Fault> {
        let mut words = Vec::new();
        self.put_locals(self.plan.components().iter().map(|component| component.lsts.initial()), &mut words);
        S::push_words(&words, TransitionId(0), out);
        Ok(())
    }

    fn fire(&self, state: &S, t: TransitionId, out: &mut Batch<S>) -> Result<bool, Fault> {
        if !self.cuts.is_empty() && self.is_cut(state) {
            return Ok(false);
        }
        let rule = self.compiled(t);
        Ok(self.fire_choice(state, rule, t.0 - rule.first, out))
    }

    fn successors(&self, state: &S, out: &mut Batch<S>) -> Result<(), Fault> {
        if !self.cuts.is_empty() && self.is_cut(state) {
            return Ok(());
        }
        for component in (0..self.fields.len()).rev() {
            self.each_owned(state, component, |rule, edges| self.fire_owned(state, rule, edges, out));
        }
        Ok(())
    }

    fn values(&self, state: &S) -> Vec<(String, String)> {
        let value = |(i, component): (usize, &crate::plan::Component)| {
            let local = self.local(state, i);
            let name =
                component.lsts.state_name(local).map_or_else(|| (local + 1).to_string(), str::to_owned);
            (format!("{}", component.number), name)
        };
        self.plan.components().iter().enumerate().map(value).collect()
    }
}

impl<S: WordVector + ?Sized> Rules for Composition<'_, S> {
    fn n_nodes(&self) -> usize {
        self.rule_of.len() + self.fields.len() + self.guards.len()
    }

    fn require(&self, state: &S, t: TransitionId, out: &mut Requirements) -> Result<(), Fault> {
        let n = self.rule_of.len();
        if t.index() >= n + self.fields.len() {
            self.guard_nodes[t.index() - n - self.fields.len()].iter().for_each(|&node| out.add(node));
            return Ok(());
        }
        if t.index() >= n {
            self.offers(state, t.index() - n, out);
            return Ok(());
        }
        let mut is_enabled = true;
        self.missing(state, t).for_each(|node| {
            // Any component that does not offer its part must move first.
            if !is_enabled {
                out.or();
            }
            is_enabled = false;
            out.add(*node);
        });
        if is_enabled {
            self.nodes_of(t).iter().for_each(|&node| out.add(node));
        }
        Ok(())
    }

    fn ready(&self, state: &S, t: TransitionId) -> Option<&[TransitionId]> {
        let n = self.rule_of.len();
        if t.index() >= n + self.fields.len() {
            return Some(&self.guard_nodes[t.index() - n - self.fields.len()]);
        }
        if t.index() >= n {
            let component = t.index() - n;
            return self.moves.get(component, self.local(state, component));
        }
        // All alternatives are of one component.
        Some(self.missing(state, t).next().map_or(self.nodes_of(t), std::slice::from_ref))
    }
}

impl<S: WordVector + ?Sized> Composition<'_, S> {
    /// The nodes of the components of a transition.
    #[inline]
    fn nodes_of(&self, t: TransitionId) -> &[TransitionId] {
        let Range { start, end } = self.compiled(t).roles;
        &self.role_nodes[start as usize..end as usize]
    }

    /// The nodes of those that do not offer their part.
    #[inline]
    fn missing<'a>(&'a self, state: &S, t: TransitionId) -> impl Iterator<Item = &'a TransitionId> {
        let rule = self.compiled(t);
        let words = state.words();
        let mut left = t.0 - rule.first;
        let parts = self.roles_of(rule).iter().zip(self.nodes_of(t)).rev();
        parts.filter_map(move |(role, node)| {
            let is_missing = role.digit(&mut left) as usize >= self.offered(words, *role).len();
            is_missing.then_some(node)
        })
    }

    /// All transitions in which a component could take part where it is.
    fn offers(&self, state: &S, component: usize, out: &mut Requirements) {
        let local = self.local(state, component);
        match self.moves.get(component, local) {
            Some(moves) => moves.iter().for_each(|&t| out.add(t)),
            None => self.each_move(component, local, |t| out.add(t)),
        }
    }

    /// Calls `each` with them, where a component is in this state.
    fn each_move(&self, component: usize, local: u32, mut each: impl FnMut(TransitionId)) {
        let lsts = self.lsts(component as u32);
        let labels = &lsts.labels()[lsts.range(local)];
        for group in labels.chunk_by(|a, b| a == b) {
            for &rule in self.involved.get(self.bases[component] + group[0] as usize) {
                let rule = &self.rules[rule as usize];
                let roles = self.roles_of(rule);
                let place = roles.iter().position(|role| role.component as usize == component);
                let place = place.expect("the component is involved");
                let below: u32 = roles[place + 1..].iter().map(|role| role.radix).product();
                let n_choices: u32 = roles.iter().map(|role| role.radix).product();
                for choice in 0..n_choices {
                    if ((choice / below % roles[place].radix) as usize) < group.len() {
                        each(TransitionId(rule.first + choice));
                    }
                }
            }
        }
    }
}

impl<S: WordVector + ?Sized> Visible for Composition<'_, S> {
    /// A transition is seen if its result has a name, or if one of its edges may change what a proposition of the
    /// result depends on.
    fn is_visible(&self, t: TransitionId) -> bool {
        self.visible.contains(self.rule_of[t.index()] as usize)
    }

    /// A set with the node of a component has all that the component offers, so outside it the component does not
    /// move. In an endless run each step that is repeated is behind and before another one, in every component.
    fn ends_unseen(&self, nodes: &[TransitionId]) -> bool {
        let n_edges: usize = self.plan.components().iter().map(|c| c.lsts.n_transitions()).sum();
        if n_edges > MAX_EDGES_TO_SEARCH {
            return false;
        }
        let n = self.rule_of.len();
        let stands = |role: &Role| nodes.iter().any(|t| t.index() == n + role.component as usize);
        let mut alive: FixedBitSet = (0..self.rules.len())
            .filter(|&i| !self.visible.contains(i) && !self.roles_of(&self.rules[i]).iter().any(stands))
            .collect();
        alive.grow(self.rules.len());
        let mut waiting: Vec<usize> = (0..self.fields.len()).collect();
        while let Some(component) = waiting.pop() {
            let (base, lsts) = (self.bases[component], self.lsts(component as u32));
            let is_alive = |action: Action| {
                let rules = self.involved.get(base + action as usize);
                rules.iter().any(|&rule| alive.contains(rule as usize))
            };
            let repeated = repeated_actions(lsts, is_alive);
            for action in 0..lsts.n_actions() {
                for &rule in self.involved.get(base + action) {
                    if !repeated.contains(action) && alive.contains(rule as usize) {
                        alive.remove(rule as usize);
                        let roles = self.roles_of(&self.rules[rule as usize]);
                        waiting.extend(roles.iter().map(|role| role.component as usize));
                    }
                }
            }
        }
        alive.is_clear()
    }
}

/// Components with more edges in all are not searched for endless runs.
const MAX_EDGES_TO_SEARCH: usize = 10_000;

/// The actions of edges that are left if, again and again, those are taken away that no edge leads to or that lead to
/// no edge.
fn repeated_actions(lsts: &Lsts, is_alive: impl Fn(Action) -> bool) -> FixedBitSet {
    let alive: Vec<bool> = (0..lsts.n_actions() as Action).map(is_alive).collect();
    let mut edges: Vec<(u32, Action, u32)> = Vec::new();
    for state in 0..lsts.n_states() as u32 {
        let kept = lsts.edges(state).filter(|&(action, _)| alive[action as usize]);
        edges.extend(kept.map(|(action, target)| (state, action, target)));
    }
    loop {
        let before = edges.len();
        let (mut sources, mut targets) = (FixedBitSet::new(), FixedBitSet::new());
        sources.grow(lsts.n_states());
        targets.grow(lsts.n_states());
        sources.extend(edges.iter().map(|edge| edge.0 as usize));
        targets.extend(edges.iter().map(|edge| edge.2 as usize));
        edges.retain(|edge| sources.contains(edge.2 as usize) && targets.contains(edge.0 as usize));
        if edges.len() == before {
            break;
        }
    }
    let mut actions = FixedBitSet::with_capacity(lsts.n_actions());
    actions.extend(edges.iter().map(|edge| edge.1 as usize));
    actions
}

/// The rules that can be seen.
fn visible_rules(plan: &Plan, rules: &[Compiled], roles: &[Role]) -> FixedBitSet {
    let mut watched: Vec<(usize, usize)> = Vec::new();
    let named = plan.propositions().iter().filter(|rule| matches!(rule.result, Mark::Named(_)));
    named.for_each(|rule| rule.expr.propositions(&mut watched));
    let mut changing: Vec<FixedBitSet> =
        plan.components().iter().map(|c| FixedBitSet::with_capacity(c.lsts.n_actions())).collect();
    for (component, proposition) in watched {
        let lsts = &plan.components()[component].lsts;
        let holds = &lsts.propositions()[proposition].states;
        for state in 0..lsts.n_states() as u32 {
            let changes = |target: u32| holds.contains(state as usize) != holds.contains(target as usize);
            let actions = lsts.edges(state).filter(|&(_, target)| changes(target)).map(|edge| edge.0);
            changing[component].extend(actions.map(|action| action as usize));
        }
    }
    let is_seen = |rule: &Compiled| {
        let roles = &roles[rule.roles.start as usize..rule.roles.end as usize];
        let changes = |role: &Role| changing[role.component as usize].contains(role.action as usize);
        rule.result != TAU || roles.iter().any(changes)
    };
    (0..rules.len()).filter(|&i| is_seen(&rules[i])).collect()
}

impl<S: WordVector + ?Sized> Rejecting for Composition<'_, S> {
    fn rejections(&self) -> &[Rejection] {
        &self.rejections
    }

    #[inline]
    fn rejects(&self, state: &S, rejection: usize) -> bool {
        let holds = self.holds(state, self.rejection_rules[rejection]);
        // A state that is not expanded does not stop by itself.
        let is_deadlock = self.rejections[rejection].kind == RejectionKind::Deadlock;
        holds && !(is_deadlock && !self.cuts.is_empty() && self.is_cut(state))
    }

    fn looks_at(&self, rejection: usize, bytes: &mut Vec<Range<usize>>) -> bool {
        let cuts = self.components_of_cuts();
        let components = self.guards[self.rejections[rejection].guard].iter().chain(&cuts);
        bytes.extend(components.map(|&component| bytes_of(component)));
        true
    }

    #[inline]
    fn takes_part(&self, guard: usize, t: TransitionId) -> bool {
        self.guard_rules[guard].contains(self.rule_of[t.index()] as usize)
    }

    fn guard_node(&self, guard: usize) -> TransitionId {
        TransitionId::from(self.rule_of.len() + self.fields.len() + guard)
    }

    fn enablers(&self, state: &S, rejection: usize, out: &mut Requirements) {
        let expr = &self.plan.propositions()[self.rejection_rules[rejection]].expr;
        let local = |component| self.local(state, component);
        let holds = |component, proposition| self.plan.holds(component, proposition, local(component));
        let alternatives = self.ways.towards(expr, true, &local, &holds);
        for (i, components) in alternatives.iter().enumerate() {
            if i > 0 {
                out.or();
            }
            components.iter().for_each(|&component| out.add(self.component_node(component)));
        }
    }

    fn confirm(
        &self,
        rejection: usize,
        states: &Batch<S>,
        cycle_start: Option<usize>,
    ) -> Result<String, String> {
        let tuple = |i: usize| (0..self.fields.len()).map(|c| self.local(states.state(i), c)).collect();
        let tuples: Vec<plain::Tuple> = (0..states.len()).map(tuple).collect();
        let mover = |i: usize| {
            let t = states.via(i);
            let alone = self.participants(t).next().unwrap_or(0);
            self.rule(t).map_or(Mover::Tau(alone), Mover::Rule)
        };
        let movers: Vec<Mover> = (1..states.len()).map(mover).collect();
        plain::confirm(self.plan, self.rejection_rules[rejection], &tuples, &movers, cycle_start)?;
        let actions: Vec<Action> = (1..states.len()).map(|i| self.action(states.via(i))).collect();
        Ok(plain::told(self.plan, &self.rejections[rejection], &actions, cycle_start))
    }
}

impl<S: WordVector + ?Sized> stubborn_system::Composed for Composition<'_, S> {
    fn tracer(&self) -> Option<Box<dyn Tracer<S> + '_>> {
        Traced::new(self).map(|traced| Box::new(traced) as _)
    }
}

impl<S: WordVector + ?Sized> Composed for Composition<'_, S> {
    fn plan(&self) -> &Plan {
        self.plan
    }

    fn action(&self, t: TransitionId) -> Action {
        self.compiled(t).result
    }

    fn local(&self, state: &S, component: usize) -> u32 {
        self.fields[component].get(state.words())
    }

    fn holds(&self, state: &S, rule: usize) -> bool {
        Composition::holds(self, state, rule)
    }
}

/// Rejections are asked for by themselves, so there are no questions besides.
impl<S: WordVector + ?Sized> Observed for Composition<'_, S> {
    fn questions(&self) -> Vec<Question> {
        Vec::new()
    }

    fn check(&self, _: &S) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    fn check_deadlock(&self, _: &S) -> Result<Option<String>, Fault> {
        Ok(None)
    }

    fn is_may_progress(&self, _: &S) -> Result<bool, Fault> {
        Ok(false)
    }

    fn is_must_progress(&self, _: &S) -> Result<bool, Fault> {
        Ok(false)
    }
}

/// Compositions have no symmetry: every state represents itself.
impl<S: WordVector + ?Sized> Symmetric for Composition<'_, S> {
    fn represent(&self, _: &mut S) -> Result<(), Fault> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsts::LstsBuilder;
    use crate::plan::Component;

    /// Three components that choose: source, action, target.
    const EDGES: [&[(u32, Action, u32)]; 3] = [
        &[(0, 1, 1), (0, 1, 2), (1, 2, 0), (2, TAU, 0)],
        &[(0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 1, 2), (2, TAU, 0), (2, TAU, 1)],
        &[(0, 2, 1), (1, 2, 2), (1, 2, 0), (2, 1, 0)],
    ];

    fn plan() -> Plan {
        let mut plan = Plan::new();
        for (i, edges) in EDGES.iter().enumerate() {
            let mut builder = LstsBuilder::new(3).expect("it is small");
            assert_eq!(["a", "b"].map(|name| builder.action(name)), [1, 2]);
            edges.iter().for_each(|&(from, action, to)| builder.add_transition(from, action, to));
            let lsts = builder.build().expect("it is small").into();
            let (number, prefix, name) = (i as u64 + 1, String::new(), String::new());
            plan.add_component(Component { number, prefix, name, lsts });
        }
        let result = plan.result("c");
        for parts in [vec![(0, 1), (1, 1)], vec![(0, 2), (1, 2), (2, 2)], vec![(2, 1)]] {
            plan.add_rule(parts, result).expect("there are these actions");
        }
        plan.finish();
        plan
    }

    /// Successors, and what each node requires. What lies ready is the smallest of it.
    fn told(composition: &Composition<'_, [u64; 1]>, state: &[u64; 1]) -> (String, Vec<String>) {
        let mut successors = Batch::new();
        composition.successors(state, &mut successors).expect("nothing breaks");
        let required = |node: usize| {
            let mut out = Requirements::default();
            let node = TransitionId::from(node);
            composition.require(state, node, &mut out).expect("nothing breaks");
            if let Some(ready) = composition.ready(state, node) {
                assert_eq!(ready, out.smallest().iter().collect::<Vec<_>>(), "{state:?} {node:?}");
            }
            format!("{out:?}")
        };
        (format!("{successors:?}"), (0..composition.n_nodes()).map(required).collect())
    }

    #[test]
    fn without_room_for_tables_everything_is_the_same() {
        let plan = plan();
        let with = Composition::<[u64; 1]>::new(&plan).expect("it is small");
        let mut without = Composition::<[u64; 1]>::new(&plan).expect("it is small");
        without.roles.iter_mut().for_each(|role| role.table = NO_TABLE);
        without.moves = Moves::default();
        for number in 0..27 {
            let mut words = Vec::new();
            with.put_locals([number % 3, number / 3 % 3, number / 9].into_iter(), &mut words);
            assert_eq!(told(&with, &[words[0]]), told(&without, &[words[0]]), "state {number}");
        }
        assert!(with.roles.iter().all(|role| role.table != NO_TABLE) && with.moves.get(2, 2).is_some());
        let is_ready = |node: usize| with.ready(&[0], TransitionId::from(node)).is_some();
        assert!((0..with.n_nodes()).all(is_ready));
    }
}
