//! Properties of runs of a Promela model: formulas, never claims, automata, acceptance cycles.
//!
//! Each is an automaton of forbidden runs over propositions, with a judge of its own for the runs that a search
//! finds: the formula is evaluated on the run, the claim is run beside it, step by step. **Checked by**
//! `tests/all/linear.rs`, and against SPIN in `oracle`.

use crate::args::{CheckArgs, LinearArgs, QuestionWord};
use crate::asked::Proposition;
use crate::run::Failure;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use stubborn_explore::linear::{Participants, Processes};
use stubborn_ltl::{
    Automaton, Cube, Formula, Guard, Lasso, Letter, Propositions, from_hoa, stuttering, translate,
};
use stubborn_network::{BinaryOp, Claim, Condition, Engine, Expr, LocationId, Micro, Network, UnaryOp};
use stubborn_promela::{Property, claim_automaton};
use stubborn_system::{Batch, Fault, TransitionId};
use stubborn_verdict::RunProperty;

/// What decides whether a run is forbidden, independent of the automaton.
#[derive(Clone, Debug)]
enum Judge {
    /// Forbidden if the formula does not hold.
    Formula(Formula),
    /// Forbidden if the claim can accept it.
    Claim(usize),
    /// Forbidden if the automaton from outside accepts it.
    Automaton,
    /// Forbidden if the proposition holds again and again.
    Often,
}

/// A property, not yet bound to a network.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    /// Its name, or itself if it has none.
    pub(crate) name: String,
    text: String,
    forbidden: Automaton,
    names: Propositions,
    /// The propositions.
    pub(crate) exprs: Vec<Expr>,
    judge: Judge,
    is_closed: bool,
    extends: bool,
}

/// The texts of an automaton's propositions are compiled with the model; the rest when that is done.
pub(crate) fn read_automata(args: &LinearArgs) -> Result<Vec<(String, Automaton)>, Failure> {
    let read = |path: &std::path::PathBuf| {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        let automaton = from_hoa(&text).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        Ok((name, automaton))
    };
    args.automaton.iter().map(read).collect()
}

/// The largest automaton that is read.
const MAX_BYTES: u64 = 4 << 20;

fn read_text(path: &Path) -> Result<String, String> {
    let about = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err(format!("not a file of at most {MAX_BYTES} bytes"));
    }
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

/// What a claim without a name is called.
const NEVER: &str = "never";

impl Runs {
    /// All that is asked about runs of a model.
    pub(crate) fn all(
        network: &Network,
        formulas: Vec<Property>,
        automata: Vec<(String, Automaton, Vec<Expr>)>,
        linear: &LinearArgs,
        check: &CheckArgs,
    ) -> Result<Vec<Self>, Failure> {
        let is_asked = |word| check.question.contains(&word);
        let mut all = Vec::new();
        // Other questions leave the properties of the model out, but not those of the command line.
        let n_own = formulas.len() - linear.ltl.len();
        let keeps_own = check.question.is_empty() || is_asked(QuestionWord::Linear);
        for (i, property) in formulas.into_iter().enumerate() {
            if i >= n_own || keeps_own {
                all.push(Self::formula(property)?);
            }
        }
        if keeps_own {
            for number in 0..network.claims.len() {
                all.push(Self::claim(network, number)?);
            }
        }
        for (name, automaton, exprs) in automata {
            all.push(Self::automaton(name, automaton, exprs));
        }
        if is_asked(QuestionWord::Acceptance) {
            all.push(Self::acceptance());
        }
        if is_asked(QuestionWord::NonProgress) {
            all.push(Self::non_progress());
        }
        if let Some(wanted) = &linear.property {
            let names: Vec<String> = all.iter().map(|property| property.name.clone()).collect();
            all.retain(|property| property.name == *wanted);
            if all.is_empty() {
                let known = if names.is_empty() { "no property".to_owned() } else { names.join(", ") };
                return Err(Failure::Usage(format!("--property {wanted}: the model has {known}")));
            }
        }
        Ok(all)
    }

    /// The property of a model that has this name.
    pub(crate) fn named(
        network: &Network,
        formulas: &[Property],
        name: &str,
    ) -> Result<Option<Self>, Failure> {
        if let Some(formula) = formulas.iter().find(|f| f.name.as_deref().unwrap_or(&f.text) == name) {
            return Self::formula(formula.clone()).map(Some);
        }
        let is_called = |claim: &Claim| claim.name.as_deref().unwrap_or(NEVER) == name;
        Ok(match network.claims.iter().position(is_called) {
            Some(number) => Some(Self::claim(network, number)?),
            None => [Self::acceptance(), Self::non_progress()].into_iter().find(|runs| runs.name == name),
        })
    }

    fn formula(property: Property) -> Result<Self, Failure> {
        let Property { name, text, formula, propositions, exprs } = property;
        let name = name.unwrap_or_else(|| text.clone());
        let translated = translate(&formula.clone().negated(), &propositions)
            .map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        let smaller = translated.generalised.n_states() < translated.buchi.n_states();
        let forbidden = if smaller { translated.generalised } else { translated.buchi };
        let is_closed = stuttering(&formula, &propositions).is_invariant();
        let judge = Judge::Formula(formula);
        Ok(Self { name, text, forbidden, names: propositions, exprs, judge, is_closed, extends: true })
    }

    fn claim(network: &Network, number: usize) -> Result<Self, Failure> {
        let claim = &network.claims[number];
        let name = claim.name.clone().unwrap_or_else(|| NEVER.to_owned());
        let (forbidden, exprs) =
            claim_automaton(claim).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
        let names = forbidden.propositions().clone();
        let text = "no run is accepted by the claim".to_owned();
        let judge = Judge::Claim(number);
        Ok(Self { name, text, forbidden, names, exprs, judge, is_closed: false, extends: true })
    }

    fn automaton(name: String, forbidden: Automaton, exprs: Vec<Expr>) -> Self {
        let names = forbidden.propositions().clone();
        let text = "no run is accepted by the automaton".to_owned();
        let judge = Judge::Automaton;
        Self { name, text, forbidden, names, exprs, judge, is_closed: false, extends: true }
    }

    /// Forbids that accept labels are met again and again. A run that ends stays in its last state, as in SPIN.
    fn acceptance() -> Self {
        let names = Propositions::from_texts(["accept_"]).unwrap_or_default();
        let mut forbidden = Automaton::new(names.clone(), 1);
        let state = forbidden.add_state(0);
        let holds = Guard::from(Cube::minterm(1, 1));
        forbidden.add_edge(state, holds.not(), state, 0);
        forbidden.add_edge(state, holds, state, 1);
        forbidden.add_initial(state);
        let text = "no run comes to an accept label again and again".to_owned();
        let (name, exprs, judge) = ("acceptance".to_owned(), vec![Expr::Accepting], Judge::Often);
        Self { name, text, forbidden, names, exprs, judge, is_closed: true, extends: true }
    }

    /// Forbids that progress is avoided for ever. A run that ends does not count.
    fn non_progress() -> Self {
        let names = Propositions::from_texts(["np_"]).unwrap_or_default();
        let forbidden = Formula::Eventually(Box::new(Formula::Always(Box::new(Formula::atom(0)))));
        let automaton = translate(&forbidden, &names).expect("it is small").buchi;
        Self {
            name: "non-progress".to_owned(),
            text: "no run avoids progress labels for ever from some point on".to_owned(),
            forbidden: automaton,
            names,
            exprs: vec![Expr::NonProgress],
            judge: Judge::Formula(forbidden.negated()),
            is_closed: true,
            extends: false,
        }
    }

    /// If all that it says is that something holds in every state: what.
    pub(crate) fn invariant(&self) -> Option<Proposition> {
        let Judge::Formula(Formula::Always(inside)) = &self.judge else { return None };
        let expr = self.extends.then(|| self.value(inside)).flatten()?;
        Some(Proposition { text: self.text.clone(), expr })
    }

    /// A formula without temporal operators as an expression.
    fn value(&self, formula: &Formula) -> Option<Expr> {
        let join = |op: BinaryOp, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
        let not = |a: Expr| Expr::Unary(UnaryOp::Not, Box::new(a));
        let all = |op: BinaryOp, parts: &[Formula], none: i32| {
            let mut parts = parts.iter().map(|part| self.value(part));
            let first = parts.next().unwrap_or(Some(Expr::Constant(none)))?;
            parts.try_fold(first, |all, part| Some(join(op, all, part?)))
        };
        Some(match formula {
            Formula::True => Expr::Constant(1),
            Formula::False => Expr::Constant(0),
            Formula::Atom(number) => self.exprs.get(*number)?.clone(),
            Formula::Not(a) => not(self.value(a)?),
            Formula::And(parts) => all(BinaryOp::And, parts, 1)?,
            Formula::Or(parts) => all(BinaryOp::Or, parts, 0)?,
            Formula::Implies(a, b) => join(BinaryOp::Or, not(self.value(a)?), self.value(b)?),
            Formula::Equivalent(a, b) => join(BinaryOp::Equal, not(self.value(a)?), not(self.value(b)?)),
            _ => return None,
        })
    }

    /// The propositions of a set, a word of bits.
    pub(crate) fn visible(&self, support: u64) -> Vec<Expr> {
        let exprs = self.exprs.iter().enumerate();
        exprs.filter(|(i, _)| support >> i & 1 == 1).map(|(_, expr)| expr.clone()).collect()
    }

    /// Guards as expressions; `None` if what they say is not a matter of the processes and variables that they name.
    pub(crate) fn goals(&self, guards: &[Guard]) -> Option<Vec<Expr>> {
        let mut is_plain = true;
        let plain = |expr: &Expr| !matches!(expr, Expr::Timeout | Expr::NonProgress | Expr::Accepting);
        self.exprs.iter().for_each(|expr| expr.walk(&mut |expr| is_plain &= plain(expr)));
        let literal = |i: usize, is_positive: bool| {
            let expr = self.exprs[i].clone();
            if is_positive { expr } else { Expr::Unary(UnaryOp::Not, Box::new(expr)) }
        };
        let join = |op: BinaryOp| move |a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
        let cube = |cube: &Cube| {
            let bits = (0..self.exprs.len()).filter(|i| cube.support() >> i & 1 == 1);
            let literals = bits.map(|i| literal(i, cube.positive >> i & 1 == 1));
            literals.reduce(join(BinaryOp::And)).unwrap_or(Expr::Constant(1))
        };
        let goal = |guard: &Guard| guard.cubes().iter().map(cube).reduce(join(BinaryOp::Or));
        is_plain.then(|| guards.iter().filter_map(goal).collect())
    }

    /// For searches of `searched` that stands for `original`.
    pub(crate) fn bound<'a>(&'a self, searched: &'a Network, original: &'a Network) -> Bound<'a> {
        let engine = searched.engine();
        // Whether nothing else can happen is not the engine's to say.
        let condition = |expr: &Expr| if expr.has_timeout() { None } else { engine.condition(expr) };
        let conditions = self.exprs.iter().map(condition).collect();
        Bound { runs: self, searched, original, conditions, engine: RefCell::new(engine), only_fair: false }
    }
}

/// A property of a network.
pub(crate) struct Bound<'a> {
    runs: &'a Runs,
    searched: &'a Network,
    original: &'a Network,
    /// The propositions as the engine evaluates them; `None` where only the network can.
    conditions: Vec<Option<Condition>>,
    engine: RefCell<Engine<'a>>,
    only_fair: bool,
}

impl Bound<'_> {
    /// Whether only weakly fair runs are forbidden.
    pub(crate) fn only_fair(self, only_fair: bool) -> Self {
        Self { only_fair, ..self }
    }

    /// The letter of a state, evaluated by the reference interpreter.
    fn reference_letter(&self, state: &[u8]) -> Letter {
        let holds = |expr: &Expr| self.original.holds(state, expr);
        self.runs.exprs.iter().enumerate().fold(0, |all, (i, expr)| all | Letter::from(holds(expr)) << i)
    }

    fn word(&self, states: &Batch<[u8]>, cycle: usize) -> Lasso {
        let letters = |range: std::ops::Range<usize>| {
            range.map(|i| self.reference_letter(states.state(i))).collect::<Vec<_>>()
        };
        Lasso { stem: letters(0..cycle), cycle: letters(cycle..states.len()) }
    }
}

impl RunProperty<[u8]> for Bound<'_> {
    fn name(&self) -> String {
        self.runs.name.clone()
    }

    fn text(&self) -> String {
        self.runs.text.clone()
    }

    fn forbidden(&self) -> &Automaton {
        &self.runs.forbidden
    }

    fn is_closed(&self) -> bool {
        self.runs.is_closed
    }

    fn extends(&self) -> bool {
        self.runs.extends
    }

    fn letter(&mut self, state: &[u8]) -> Result<Letter, Fault> {
        let engine = self.engine.get_mut();
        let mut letter = 0;
        for (i, (expr, condition)) in self.runs.exprs.iter().zip(&self.conditions).enumerate() {
            let holds = match condition {
                Some(condition) => engine.holds(state, condition),
                None => self.searched.holds(state, expr),
            };
            letter |= Letter::from(holds) << i;
        }
        Ok(letter)
    }

    fn traced_letter(
        &mut self,
        state: &[u8],
        bytes: &mut Vec<Range<usize>>,
    ) -> Result<Option<Letter>, Fault> {
        let engine = self.engine.get_mut();
        let mut letter = 0;
        for (i, condition) in self.conditions.iter().enumerate() {
            let Some(condition) = condition else { return Ok(None) };
            letter |= Letter::from(engine.holds_noting(state, condition, bytes)) << i;
        }
        Ok(Some(letter))
    }

    fn is_forbidden(&self, states: &Batch<[u8]>, cycle: usize) -> Result<bool, Fault> {
        let word = self.word(states, cycle);
        Ok(match &self.runs.judge {
            Judge::Formula(formula) => !word.satisfies(formula),
            Judge::Automaton => self.runs.forbidden.accepts(&word),
            Judge::Often => word.cycle.contains(&1),
            Judge::Claim(number) => {
                claim_accepts(self.original, &self.original.claims[*number], states, cycle)
            }
        })
    }

    /// Weakly fair, by the reference interpreter: whoever can take part in all states of the cycle does so in some step of it.
    fn counts(&self, states: &Batch<[u8]>, cycle: usize, steps: &[TransitionId]) -> Result<bool, Fault> {
        if !self.only_fair {
            return Ok(true);
        }
        let (mut always, mut moved) = ([u64::MAX; 4], Processes::default());
        for (i, step) in (cycle..states.len()).zip(steps) {
            let mut enabled = Processes::default();
            for successor in self.original.expand(states.state(i)).successors {
                let is_taken = successor.transition == *step;
                for (k, who) in participants(&successor.trail).into_iter().enumerate() {
                    enabled[k] |= who;
                    moved[k] |= if is_taken { who } else { 0 };
                }
            }
            (0..4).for_each(|k| always[k] &= enabled[k]);
        }
        Ok((0..4).all(|k| always[k] & !moved[k] == 0))
    }

    fn beside(&self, state: &[u8]) -> String {
        let letter = self.reference_letter(state);
        match self.runs.judge {
            Judge::Claim(_) => String::new(),
            _ => self.runs.names.show_letter(letter),
        }
    }
}

/// Whether a claim has an accepting run beside these states, of which those from `cycle` on repeat.
fn claim_accepts(network: &Network, claim: &Claim, states: &Batch<[u8]>, cycle: usize) -> bool {
    let next = |i: usize| if i + 1 < states.len() { i + 1 } else { cycle };
    // At its end, or at a label that begins with `end`.
    let is_over = |at: LocationId| claim.locations[at.index()].is_end;
    type Place = (usize, LocationId);
    // All that the claim can do in one state: within an atomic sequence it reads the same state again.
    let moves = |(i, at): Place| -> (Vec<Place>, bool) {
        let (mut out, mut is_violated) = (Vec::new(), false);
        let mut waiting = vec![at];
        let mut seen = HashSet::new();
        while let Some(from) = waiting.pop() {
            if !seen.insert(from) {
                continue;
            }
            let is_timeout = network.is_blocked(states.state(i));
            let possible = network.claim_moves(claim, from, states.state(i), is_timeout);
            if possible.is_empty() && from != at {
                out.push((next(i), from));
            }
            for found in possible {
                is_violated |= !found.troubles.is_empty() || is_over(found.next);
                if claim.locations[from.index()].steps[found.step].is_atomic {
                    waiting.push(found.next);
                } else {
                    out.push((next(i), found.next));
                }
            }
        }
        (out, is_violated)
    };
    // Reachable places; then those that reach themselves through an accepting one.
    let reachable = |from: &[Place]| -> Option<HashSet<Place>> {
        let mut seen: HashSet<Place> = HashSet::new();
        let mut waiting = from.to_vec();
        while let Some(place) = waiting.pop() {
            if seen.insert(place) {
                let (out, is_violated) = moves(place);
                if is_violated {
                    return None;
                }
                waiting.extend(out);
            }
        }
        Some(seen)
    };
    if is_over(claim.entry) {
        return true;
    }
    let Some(all) = reachable(&[(0, claim.entry)]) else { return true };
    all.iter().filter(|(_, at)| claim.locations[at.index()].is_accept).any(|&place| {
        let (out, _) = moves(place);
        reachable(&out).is_some_and(|again| again.contains(&place))
    })
}

/// Who takes part in the steps of a network.
pub(crate) struct Movers<'a>(pub(crate) &'a Network);

impl Participants<[u8]> for Movers<'_> {
    fn participants(&mut self, state: &[u8], out: &mut Vec<(TransitionId, Processes)>) -> Result<(), Fault> {
        for successor in self.0.expand(state).successors {
            out.push((successor.transition, participants(&successor.trail)));
        }
        Ok(())
    }
}

/// Who takes part in a transition that consists of these steps.
fn participants(trail: &[Micro]) -> Processes {
    let mut who = Processes::default();
    for micro in trail {
        who[(micro.pid / 64).min(3)] |= 1 << (micro.pid % 64);
    }
    who
}
