//! Formulas over actions and propositions: a tester that sees both.
//!
//! **Implements** section 2 of HVV: propositions are attached to actions. Of each component that the formula's propositions
//! depend on, a move that changes them becomes an action of its own, even a tau; all moves that leave them as they are stay
//! what they were. The tester follows the changes, so it knows at all times which propositions hold, and moves with the
//! automaton of the forbidden runs.
//!
//! The word of a run has a letter for each event: a visible action, or a change of a proposition of a component on which a
//! proposition of the formula depends. In the letter those propositions hold that hold before the event, and the action, if it is one. When no event
//! comes any more, because the system stops or because it goes on unseen, the propositions of the last state hold
//! for ever, and no action. A formula over actions alone, or one without `X` over propositions alone, so means what it means
//! elsewhere.
//! **Checked by** brute force on random networks and formulas (`oracle`).

use crate::automaton_tester::{AutomatonTesterError, forbidden, strip_quotes};
use crate::expr::Expr;
use crate::lsts::{Action, Lsts, LstsBuilder, Mark, Special, TAU};
use crate::plan::{Component, Plan};
use rustc_hash::{FxHashMap, FxHashSet};
use stubborn_ltl::Automaton;

/// The plan with a tester that rejects exactly the runs that do not satisfy the formula.
pub fn with_formula(plan: &Plan, text: &str, limit: usize) -> Result<Plan, AutomatonTesterError> {
    with_automaton(plan, &forbidden(text)?, limit)
}

/// The plan with a tester that rejects exactly the runs whose words the automaton, which has accepting states, accepts.
pub fn with_automaton(
    plan: &Plan,
    forbidden: &Automaton,
    limit: usize,
) -> Result<Plan, AutomatonTesterError> {
    let mut atoms = Vec::new();
    for proposition in forbidden.propositions().iter() {
        atoms.push(atom(plan, strip_quotes(&proposition.text))?);
    }
    let observed = Observed::new(plan, &atoms);
    let mut refined = observed.refined(plan);
    let events = refined.events;
    let tester = observed.tester(plan, &atoms, forbidden, &events, limit)?;
    let place = refined.plan.components().len();
    let number = plan.components().iter().map(|component| component.number).max().unwrap_or(0) + 1;
    let name = "formula".to_owned();
    refined.plan.add_component(Component { number, prefix: String::new(), name, lsts: tester.into() });
    for (parts, result, event) in refined.rules {
        let mut parts = parts;
        if let Some(event) = event {
            parts.push((place, event as Action + 1));
        }
        refined.plan.add_rule(parts, result).expect("parts are actions of components");
    }
    refined.plan.finish();
    Ok(refined.plan)
}

/// What a proposition of the formula is.
#[derive(Clone, Debug)]
enum Atom {
    Action(Action),
    /// An expression over the propositions of components.
    State(Expr),
}

fn atom(plan: &Plan, name: &str) -> Result<Atom, AutomatonTesterError> {
    let rules = plan.propositions().iter().filter(|rule| rule.result.name() == Some(name));
    let exprs: Vec<Expr> = rules.map(|rule| rule.expr.clone()).collect();
    let action = plan.alphabet().iter().position(|known| known == name).map(|i| i as Action + 1);
    match (action, exprs.is_empty()) {
        (Some(action), true) => Ok(Atom::Action(action)),
        (None, false) => Ok(Atom::State(Expr::Or(exprs))),
        (Some(_), false) => Err(AutomatonTesterError::Ambiguous(name.to_owned())),
        (None, true) => Err(AutomatonTesterError::Unknown(name.to_owned())),
    }
}

/// What holds of the propositions of a component that matter: one bit each.
type Bits = u64;

/// An event: the visible action, and for each component whose propositions change what holds then.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Event {
    action: Action,
    changes: Vec<(usize, Bits)>,
}

/// The components that matter.
struct Observed {
    /// For each: its place, and which of its propositions.
    components: Vec<(usize, Vec<usize>)>,
}

/// A rule whose parts change something or not: its parts, and what changes.
type Variant = (Vec<(usize, Action)>, Vec<(usize, Bits)>);

/// Parts, result, and the event that the tester sees.
type RefinedRule = (Vec<(usize, Action)>, Action, Option<usize>);

struct Refined {
    plan: Plan,
    rules: Vec<RefinedRule>,
    events: Vec<Event>,
}

impl Observed {
    fn new(plan: &Plan, atoms: &[Atom]) -> Self {
        let mut wanted = Vec::new();
        for atom in atoms {
            if let Atom::State(expr) = atom {
                propositions(expr, &mut wanted);
            }
        }
        wanted.sort_unstable();
        wanted.dedup();
        let of = |component: usize| -> Vec<usize> {
            wanted.iter().filter(|pair| pair.0 == component).map(|pair| pair.1).collect()
        };
        let all = (0..plan.components().len()).map(|component| (component, of(component)));
        Self { components: all.filter(|(_, propositions)| !propositions.is_empty()).collect() }
    }

    /// What holds of a component that matters.
    fn bits(&self, lsts: &Lsts, propositions: &[usize], state: u32) -> Bits {
        let holds = |&p: &usize| lsts.propositions()[p].states.contains(state as usize);
        propositions.iter().enumerate().fold(0, |bits, (i, p)| bits | Bits::from(holds(p)) << i)
    }

    /// The plan with moves that change something as actions of their own, and its rules.
    fn refined(&self, plan: &Plan) -> Refined {
        let mut out = Plan::new();
        plan.alphabet().iter().for_each(|name| {
            out.result(name);
        });
        // By component and action: what it is called if it changes something, and what holds then.
        let mut changing: FxHashMap<(usize, Action), Vec<(Action, Bits)>> = FxHashMap::default();
        for (place, component) in plan.components().iter().enumerate() {
            let lsts = match self.components.iter().find(|known| known.0 == place) {
                None => component.lsts.clone(),
                Some((_, propositions)) => {
                    let (lsts, names) = self.relabelled(&component.lsts, propositions);
                    for (action, name, bits) in names {
                        changing.entry((place, action)).or_default().push((name, bits));
                    }
                    lsts.into()
                }
            };
            out.add_component(Component { lsts, ..component.clone() });
        }
        for rule in plan.propositions().iter().filter(|rule| !rule.is_implied) {
            out.add_proposition(rule.expr.clone(), rule.result.clone());
        }
        plan.hidden().iter().for_each(|name| out.hide(name));
        let mut refined = Refined { plan: out, rules: Vec::new(), events: Vec::new() };
        let mut numbers: FxHashMap<Event, usize> = FxHashMap::default();
        let mut sources: Vec<(Vec<(usize, Action)>, Action)> =
            plan.rules().iter().map(|rule| (rule.parts.clone(), rule.result)).collect();
        // Tau moves that change something need a rule now.
        sources.extend(self.components.iter().map(|&(place, _)| (vec![(place, TAU)], TAU)));
        for (parts, result) in sources {
            // Each part changes nothing, or something.
            let mut variants: Vec<Variant> = vec![Variant::default()];
            for (place, action) in parts {
                let changed = changing.get(&(place, action)).map_or(&[][..], Vec::as_slice);
                let mut next = Vec::new();
                for (parts, changes) in &variants {
                    let mut same = parts.clone();
                    same.push((place, action));
                    next.push((same, changes.clone()));
                    for &(name, bits) in changed {
                        let (mut parts, mut changes) = (parts.clone(), changes.clone());
                        parts.push((place, name));
                        changes.push((place, bits));
                        next.push((parts, changes));
                    }
                }
                variants = next;
            }
            for (parts, changes) in variants {
                if parts.iter().any(|part| part.1 == TAU) {
                    continue; // a tau that changes nothing needs no rule
                }
                let is_event = result != TAU || !changes.is_empty();
                let event = is_event.then(|| {
                    let event = Event { action: result, changes };
                    *numbers.entry(event.clone()).or_insert_with(|| {
                        refined.events.push(event);
                        refined.events.len() - 1
                    })
                });
                refined.rules.push((parts, result, event));
            }
        }
        refined
    }

    /// A component with moves that change something as actions of their own: for each the action that it was, its number,
    /// and what holds then.
    fn relabelled(&self, lsts: &Lsts, propositions: &[usize]) -> (Lsts, Vec<(Action, Action, Bits)>) {
        let mut builder = LstsBuilder::new(lsts.n_states() as u64).expect("it is as large as before");
        lsts.action_names().iter().for_each(|name| {
            builder.action(name);
        });
        let mut names: FxHashMap<(Action, Bits), Action> = FxHashMap::default();
        for source in 0..lsts.n_states() as u32 {
            let before = self.bits(lsts, propositions, source);
            for (action, target) in lsts.edges(source) {
                let after = self.bits(lsts, propositions, target);
                let label = if before == after {
                    action
                } else {
                    // No file can have this byte in a name of an action by itself.
                    *names.entry((action, after)).or_insert_with(|| {
                        builder.action(&format!("{}\u{0}{after}", lsts.action_name(action)))
                    })
                };
                builder.add_transition(source, label, target);
            }
        }
        for proposition in lsts.propositions() {
            let states = proposition.states.ones().map(|state| state as u32);
            builder.add_proposition(proposition.mark.clone(), states);
        }
        for state in 0..lsts.n_states() as u32 {
            if let Some(name) = lsts.state_name(state) {
                builder.name_state(state, name.to_owned());
            }
        }
        builder.set_initial(lsts.initial());
        let names = names.into_iter().map(|((action, bits), name)| (action, name, bits));
        let mut names: Vec<(Action, Action, Bits)> = names.collect();
        names.sort_unstable();
        (builder.build().expect("it is as large as before"), names)
    }

    /// The tester: where the automaton is, and what holds of the components that matter.
    fn tester(
        &self,
        plan: &Plan,
        atoms: &[Atom],
        forbidden: &Automaton,
        events: &[Event],
        limit: usize,
    ) -> Result<Lsts, AutomatonTesterError> {
        let forbidden = forbidden.with_one_initial();
        let bits_of = |(place, propositions): &(usize, Vec<usize>)| {
            let lsts = &plan.components()[*place].lsts;
            self.bits(lsts, propositions, lsts.initial())
        };
        let start: Vec<Bits> = self.components.iter().map(bits_of).collect();
        let letter = |valuation: &[Bits], action: Action| {
            let mut letter = 0u64;
            for (i, atom) in atoms.iter().enumerate() {
                let holds = match atom {
                    Atom::Action(known) => *known == action,
                    Atom::State(expr) => expr.value(&|component, proposition| {
                        let place = self.components.iter().position(|known| known.0 == component);
                        place.is_some_and(|place| {
                            let propositions = &self.components[place].1;
                            let bit = propositions.iter().position(|&p| p == proposition);
                            bit.is_some_and(|bit| valuation[place] >> bit & 1 == 1)
                        })
                    }),
                };
                letter |= u64::from(holds) << i;
            }
            letter
        };
        // State 0 is where nothing is rejected any more.
        let mut states: Vec<(u32, Vec<Bits>)> = vec![(u32::MAX, Vec::new())];
        let mut numbers: FxHashMap<(u32, Vec<Bits>), u32> = FxHashMap::default();
        for &initial in forbidden.initial() {
            numbers.insert((initial, start.clone()), 1);
            states.push((initial, start.clone()));
        }
        let (mut edges, mut rej, mut silent, mut infinite) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut next = 1;
        while next < states.len() {
            let (at, valuation) = states[next].clone();
            let is_silent = accepts_for_ever(&forbidden, at, letter(&valuation, TAU));
            if forbidden.accepts_everything_from(at) {
                rej.push(next as u32);
            }
            if is_silent {
                silent.push(next as u32);
            }
            if forbidden.is_accepting(at) {
                infinite.push(next as u32);
            }
            for (number, event) in events.iter().enumerate() {
                let mut after = valuation.clone();
                let mut is_possible = true;
                for &(place, bits) in &event.changes {
                    let i = self.components.iter().position(|known| known.0 == place).expect("it matters");
                    is_possible &= after[i] != bits;
                    after[i] = bits;
                }
                if !is_possible {
                    continue;
                }
                let read = letter(&valuation, event.action);
                let mut has_way = false;
                for edge in forbidden.edges(at).iter().filter(|edge| edge.guard.holds(read)) {
                    has_way = true;
                    let key = (edge.target, after.clone());
                    let target = *numbers.entry(key.clone()).or_insert_with(|| {
                        states.push(key);
                        states.len() as u32 - 1
                    });
                    edges.push((next as u32, number as Action + 1, target));
                }
                if is_silent && !has_way {
                    edges.push((next as u32, number as Action + 1, 0));
                }
            }
            if states.len() > limit {
                return Err(AutomatonTesterError::States { limit });
            }
            next += 1;
        }
        let mut builder = LstsBuilder::new(states.len() as u64)?;
        for (number, event) in events.iter().enumerate() {
            // For people: the action, and what changes.
            let name = if event.action == TAU { "" } else { plan.action_name(event.action) };
            builder.action(&format!("{name}#{}", number + 1));
        }
        edges.into_iter().for_each(|(source, action, target)| builder.add_transition(source, action, target));
        builder.set_initial(if forbidden.initial().is_empty() { 0 } else { 1 });
        let marks = [
            (Special::Rej, rej),
            (Special::DlRej, silent.clone()),
            (Special::LlRej, silent),
            (Special::InfRej, infinite),
        ];
        for (special, marked) in marks {
            builder.add_proposition(Mark::Special(special), marked);
        }
        Ok(builder.build()?)
    }
}

fn propositions(expr: &Expr, out: &mut Vec<(usize, usize)>) {
    match expr {
        Expr::Constant(_) => {}
        Expr::Holds { component, proposition } => out.push((*component, *proposition)),
        Expr::Not(inside) => propositions(inside, out),
        Expr::And(parts) | Expr::Or(parts) => parts.iter().for_each(|part| propositions(part, out)),
    }
}

/// Whether the automaton accepts a letter repeated for ever.
pub(crate) fn accepts_for_ever(automaton: &Automaton, from: u32, letter: u64) -> bool {
    let reached = |from: u32| {
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut waiting = vec![from];
        while let Some(state) = waiting.pop() {
            for edge in automaton.edges(state).iter().filter(|edge| edge.guard.holds(letter)) {
                if seen.insert(edge.target) {
                    waiting.push(edge.target);
                }
            }
        }
        seen
    };
    let all = reached(from);
    let mut accepting = all.iter().chain([&from]).filter(|&&state| automaton.is_accepting(state));
    accepting.any(|&state| reached(state).contains(&state))
}
