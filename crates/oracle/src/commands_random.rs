//! Random programs: two to four processes over a few shared variables.
//!
//! Ranges do not always start at zero, and now and then a variable is wider than the 64 values that sets
//! of values can hold, because those are the places where derived rules could go wrong. Processes have
//! spines like those of shaped networks, and half of the programs can always or sometimes stop.
//! The state check never fails at once.

use crate::Rng;
use crate::commands::{Assignment, Command, Declared, Program, Step, Value};
use crate::formula::{Comparison, Detail, Fact, Formula, Variable};
use stubborn_model::{Layout, ModelSystem, Question, RuleSource, TransitionId};
use stubborn_system::{Batch, Observed, System};

impl Program {
    /// A random program whose processes differ.
    pub fn random(rng: &mut Rng) -> Self {
        let n_processes = rng.between(2, 3);
        let mut draft = Draft::new(n_processes, rng);
        let n_locations = rng.between(2, 4);
        for process in 0..n_processes {
            let counter = draft.declare(&format!("at[{process}]"), 0, n_locations - 1);
            draft.blocks.push(vec![counter]);
        }
        let all = draft.all();
        let own = |process: usize| [&draft.blocks[process][1..], &draft.shared].concat();
        let processes: Vec<Vec<Command>> = (0..n_processes)
            .map(|process| random_commands(n_locations, &all, &own(process), draft.stops, rng))
            .collect();
        draft.finish(processes, false, |rng| random_formula(&all, rng), rng)
    }

    /// A random program of identical processes; exchanging two of them is a symmetry.
    pub fn random_symmetric(rng: &mut Rng) -> Self {
        let n_processes = rng.between(2, 4);
        let mut draft = Draft::new(n_processes, rng);
        let n_locations = rng.between(2, 3);
        let has_local = rng.chance(1, 2);
        for process in 0..n_processes {
            let mut block = vec![draft.declare(&format!("at[{process}]"), 0, n_locations - 1)];
            if has_local {
                block.push(draft.declare(&format!("local[{process}]"), 1, 2));
            }
            draft.blocks.push(block);
        }
        let first = draft.blocks[0].clone();
        let own = [&first[1..], &draft.shared].concat();
        let commands = random_commands(n_locations, &own, &own, draft.stops, rng);
        let processes: Vec<Vec<Command>> = draft
            .blocks
            .iter()
            .map(|block| commands.iter().map(|c| c.map(&|v| exchanged(v, &first, block))).collect())
            .collect();
        let Draft { blocks, shared, .. } = &draft;
        let (blocks, shared) = (blocks.clone(), shared.clone());
        draft.finish(processes, true, |rng| random_symmetric_formula(&blocks, &shared, rng), rng)
    }
}

/// The variable of `block` that stands where `variable` stands in `first`; shared ones stay.
fn exchanged(variable: Variable, first: &[Variable], block: &[Variable]) -> Variable {
    first.iter().position(|&v| v == variable).map_or(variable, |i| block[i])
}

/// In which locations a process has an unguarded command to the last one, from where nothing leads on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stops {
    Nowhere,
    InSomePlaces,
    Everywhere,
}

/// A program in the making.
struct Draft {
    layout: Layout,
    shared: Vec<Variable>,
    blocks: Vec<Vec<Variable>>,
    stops: Stops,
}

impl Draft {
    fn new(n_processes: usize, rng: &mut Rng) -> Self {
        let stops = *rng.pick(&[Stops::Nowhere, Stops::Nowhere, Stops::InSomePlaces, Stops::Everywhere]);
        let mut draft = Self { layout: Layout::new(), shared: Vec::new(), blocks: Vec::new(), stops };
        let n_shared = rng.between(1, if n_processes > 2 { 3 } else { 4 });
        for i in 0..n_shared {
            let is_wide = rng.chance(1, 20);
            let least = rng.below(3);
            let most = least + if is_wide { 79 } else { rng.between(1, 3).min(2) };
            let variable = draft.declare(&format!("x[{i}]"), least, most);
            draft.shared.push(variable);
        }
        if rng.chance(1, 8) {
            // Nobody touches these; they push what is declared next into another word of the state.
            draft.layout.bits("ballast", 31);
            draft.layout.bits("more ballast", 31);
        }
        draft
    }

    fn declare(&mut self, name: &str, least: usize, most: usize) -> Variable {
        Variable { var: self.layout.var(name, least..=most), least, most }
    }

    fn all(&self) -> Vec<Variable> {
        self.blocks.iter().flatten().chain(&self.shared).copied().collect()
    }

    fn finish(
        self,
        processes: Vec<Vec<Command>>,
        is_symmetric: bool,
        formula: impl Fn(&mut Rng) -> Formula,
        rng: &mut Rng,
    ) -> Program {
        let one_per_process = rng.chance(1, 3);
        let mut steps = Vec::new();
        for (process, commands) in processes.into_iter().enumerate() {
            if one_per_process {
                steps.push((process, Step::Merged(commands)));
            } else {
                steps.extend(commands.into_iter().map(|command| (process, Step::One(command))));
            }
        }
        let initial = self.shared.iter().map(|&v| (v, random_value(v, rng))).collect();
        let questions = random_questions(steps.len(), is_symmetric, rng);
        let declared = *rng.pick(&[
            Declared::As(Detail::Direction),
            Declared::As(Detail::Direction),
            Declared::As(Detail::Direction),
            Declared::As(Detail::Direction),
            Declared::As(Detail::Tests),
            Declared::As(Detail::Tests),
            Declared::As(Detail::Values),
            Declared::Nowhere,
        ]);
        let Self { layout, blocks, .. } = self;
        let mut program = Program {
            layout,
            blocks,
            initial,
            steps,
            bad: formula(rng),
            declared,
            stuck: formula(rng),
            may_progress: formula(rng),
            must_progress: formula(rng),
            questions,
            is_symmetric,
        };
        while fails_at_once(&program) {
            program.bad = formula(rng);
        }
        program
    }
}

fn fails_at_once(program: &Program) -> bool {
    let system = ModelSystem::<[u64]>::new(program, RuleSource::None).expect("a random program is proper");
    let mut initial = Batch::new();
    let checked = system.initial(&mut initial).and_then(|()| system.check(initial.state(0)));
    checked.expect("a random program has no faults").is_some()
}

/// Commands that test `seen` variables and assign to `own` ones.
fn random_commands(
    n_locations: usize,
    seen: &[Variable],
    own: &[Variable],
    stops: Stops,
    rng: &mut Rng,
) -> Vec<Command> {
    let n_sources = n_locations - usize::from(stops != Stops::Nowhere);
    let n_extra = rng.between(1, 2);
    let mut commands = Vec::new();
    for i in 0..n_locations - 1 + n_extra {
        let in_spine = i + 1 < n_locations;
        let (at, next) =
            if in_spine { (rng.below(i + 1), i + 1) } else { (rng.below(n_sources), rng.below(n_locations)) };
        let guard = random_guard(seen, rng);
        let n_assignments = *rng.pick(&[0, 1, 1, 1, 2]);
        let effect = (0..n_assignments).map(|_| random_assignment(seen, own, rng)).collect();
        commands.push(Command { at, guard, effect, next });
    }
    if stops != Stops::Nowhere {
        let stops_at = |_: &usize| stops == Stops::Everywhere || rng.chance(1, 2);
        let places: Vec<usize> = (0..n_sources).filter(stops_at).collect();
        let guard = || Formula::all(Vec::new());
        let stop = |at: usize| Command { at, guard: guard(), effect: Vec::new(), next: n_locations - 1 };
        commands.extend(places.into_iter().map(stop));
    }
    commands
}

fn random_guard(seen: &[Variable], rng: &mut Rng) -> Formula {
    let n_facts = *rng.pick(&[0, 0, 1, 1, 1, 2]);
    let facts: Vec<Formula> = (0..n_facts).map(|_| Formula::Fact(random_fact(seen, rng))).collect();
    if n_facts > 0 && rng.chance(1, 4) { Formula::any(facts) } else { Formula::all(facts) }
}

fn random_fact(seen: &[Variable], rng: &mut Rng) -> Fact {
    let variable = *rng.pick(seen);
    let comparison = *rng.pick(&[Comparison::Is, Comparison::Is, Comparison::AtMost, Comparison::AtLeast]);
    Fact {
        variable,
        comparison,
        number: random_value(variable, rng),
        is_negated: rng.chance(1, 4),
        reads_value: rng.chance(1, 8),
    }
}

fn random_assignment(seen: &[Variable], own: &[Variable], rng: &mut Rng) -> Assignment {
    let target = *rng.pick(own);
    let value = match rng.below(6) {
        0 => Value::Copy(*rng.pick(seen)),
        // Counting through a wide variable would make the graph large and the program no better.
        1 | 2 if target.n_values() <= 4 => Value::Next,
        _ => Value::Constant(random_value(target, rng)),
    };
    Assignment { target, value }
}

/// A value of the variable; of a wide one, one of a few near both ends of what sets can hold.
fn random_value(variable: Variable, rng: &mut Rng) -> usize {
    let n = variable.n_values();
    variable.least + if n > 64 { *rng.pick(&[0, 1, 63, 64, n - 1]) } else { rng.below(n) }
}

/// An alternative of one or two conjunctions of one or two facts.
fn random_formula(seen: &[Variable], rng: &mut Rng) -> Formula {
    if rng.chance(1, 12) {
        return Formula::Same(*rng.pick(seen), *rng.pick(seen));
    }
    if rng.chance(1, 6) {
        return random_cases(seen, rng);
    }
    let n_conjunctions = rng.between(1, 2);
    let conjunction = |rng: &mut Rng| {
        let n_facts = rng.between(1, 2);
        Formula::all((0..n_facts).map(|_| Formula::Fact(random_fact(seen, rng))).collect())
    };
    Formula::any((0..n_conjunctions).map(|_| conjunction(rng)).collect())
}

/// Two values of one variable, each of which makes the formula true in its own way.
fn random_cases(seen: &[Variable], rng: &mut Rng) -> Formula {
    let variable = *rng.pick(seen);
    let (a, b) = (random_value(variable, rng), random_value(variable, rng));
    let then = Box::new(Formula::Fact(random_fact(seen, rng)));
    let is =
        |number| Fact { variable, comparison: Comparison::Is, number, is_negated: false, reads_value: false };
    if a == b { *then } else { Formula::Cases(is(a), then, is(b)) }
}

/// A formula that does not tell the processes apart.
fn random_symmetric_formula(blocks: &[Vec<Variable>], shared: &[Variable], rng: &mut Rng) -> Formula {
    let first = &blocks[0];
    let fact = |rng: &mut Rng| {
        if rng.chance(1, 3) {
            return Formula::Fact(random_fact(shared, rng));
        }
        let one = Formula::Fact(random_fact(first, rng));
        let each = blocks.iter().map(|block| one.map(&|v| exchanged(v, first, block))).collect();
        Formula::AtLeast(rng.between(1, blocks.len()), each)
    };
    let facts = [fact(rng), fact(rng)].to_vec();
    if rng.chance(1, 2) { Formula::all(facts) } else { Formula::any(facts) }
}

/// All questions, except that now and then there is no check to preserve, and that a fairness question
/// names transitions of single processes, which a symmetric program must not.
fn random_questions(n_transitions: usize, is_symmetric: bool, rng: &mut Rng) -> Vec<Question> {
    let mut questions = vec![
        Question::Deadlock,
        Question::MayProgress { terminal_counts: false },
        Question::MayProgress { terminal_counts: true },
        Question::MustProgress { terminal_counts: false },
        Question::MustProgress { terminal_counts: true },
        Question::MayTerminate,
    ];
    if rng.chance(7, 8) {
        questions.push(Question::Safety);
    }
    if !is_symmetric {
        let often = rng.below(n_transitions);
        let rarely = (0..n_transitions).filter(|&t| t != often && rng.chance(1, 4));
        let rarely = rarely.map(TransitionId::from).collect();
        questions.push(Question::Fair { often: TransitionId::from(often), rarely });
    }
    questions
}
