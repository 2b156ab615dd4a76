//! Random models: declarations and processes. `statements` and `expressions` make what is in them.
//!
//! What a model may name is decided first, for all processes, so that a process can refer to labels and
//! variables of another. Values stay small and loops mostly end, so that most models have between ten and
//! twenty thousand states. What SPIN refuses, or does not decide, is left out: jumps into a `d_step`, division
//! by zero, writing outside of an array, channels that are none. Reading outside of an array happens in
//! assertions only: the verifier of SPIN reads what is there and goes on.

use super::scope::{Channel, Field, Here, Inline, Parameter, Plan, Signature, Type, Variable, World};
use super::statements::append;
use super::{Model, Process, Statement};
use crate::Rng;

/// Writes a process.
pub(super) struct Author<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) world: &'a World,
    pub(super) plan: &'a Plan,
    /// Numbers of the process, those of the blocks around included.
    pub(super) locals: Vec<Variable>,
    /// For names that are used once.
    pub(super) n_names: usize,
    /// Remote references have no place in a `d_step`.
    pub(super) is_in_dstep: bool,
}

impl Model {
    /// A model.
    pub fn random(rng: &mut Rng) -> Self {
        let mut model = Self::default();
        let mut world =
            World { uses_last: rng.chance(1, 16), uses_remote: rng.chance(1, 3), ..World::default() };
        declare_numbers(rng, &mut world, &mut model.declarations);
        declare_channels(rng, &mut world, &mut model.declarations);
        plan_processes(rng, &mut world);
        declare_inline(rng, &mut world, &mut model.declarations);
        for plan in &world.plans {
            model.processes.push(Author::process(rng, &world, plan));
        }
        model.invariants = (0..2).map(|_| invariant(rng, &world)).collect();
        model.propositions = (0..3).map(|_| proposition(rng, &world)).collect();
        model
    }
}

fn scalar(name: impl Into<String>, of: Type) -> Variable {
    Variable { name: name.into(), of, length: None }
}

fn declare_numbers(rng: &mut Rng, world: &mut World, out: &mut Vec<String>) {
    for i in 0..rng.between(2, 4) {
        let variable = scalar(format!("g{i}"), Type::random(rng));
        let start = if rng.chance(1, 4) { " = 1" } else { "" };
        out.push(format!("{}{start};", variable.of.declare(&variable.name)));
        world.numbers.push(variable);
    }
    if rng.chance(1, 2) {
        let (of, length) = (Type::random_field(rng), rng.between(2, 3));
        out.push(format!("{} a[{length}];", of.word()));
        world.numbers.push(Variable { name: "a".into(), of, length: Some(length) });
    }
    if rng.chance(2, 5) {
        out.push("mtype = { red, green, blue };".into());
        out.push("mtype m = red;".into());
        world.constants = ["red", "green", "blue"].map(String::from).to_vec();
        world.mtypes.push(scalar("m", Type::Mtype));
    }
    if rng.chance(1, 4) {
        declare_records(rng, world, out);
    }
}

fn declare_records(rng: &mut Rng, world: &mut World, out: &mut Vec<String>) {
    let of = Type::random_field(rng);
    out.push(format!("typedef Inner {{ bit b; {} n[2] }};", of.word()));
    world.can_send_records = rng.chance(1, 2);
    let last = if world.can_send_records { Type::Short } else { Type::Unsigned(3) };
    out.push(format!("typedef Record {{ byte f; Inner i; {} }};", last.declare("u")));
    let is_array = rng.chance(1, 2);
    out.push(if is_array { "Record r[2];" } else { "Record r, s;" }.into());
    world.records = if is_array { ["r[0]", "r[1]"] } else { ["r", "s"] }.map(String::from).to_vec();
    for record in world.records.clone() {
        world.numbers.push(scalar(format!("{record}.f"), Type::Byte));
        world.numbers.push(scalar(format!("{record}.i.b"), Type::Bit));
        world.numbers.push(Variable { name: format!("{record}.i.n"), of, length: Some(2) });
        world.numbers.push(scalar(format!("{record}.u"), last));
    }
}

fn declare_channels(rng: &mut Rng, world: &mut World, out: &mut Vec<String>) {
    for s in 0..rng.between(1, 3) {
        let signature = random_signature(rng, world, s);
        let of = signature_text(&signature);
        world.signatures.push(signature);
        let channel = |text: String| Channel { text, signature: s, is_variable: false };
        if rng.chance(1, 4) {
            out.push(format!("chan q{s}[2] = {of};"));
            world.channels.extend((0..2).map(|i| channel(format!("q{s}[{i}]"))));
        } else {
            out.push(format!("chan q{s} = {of};"));
            world.channels.push(channel(format!("q{s}")));
        }
    }
}

fn random_signature(rng: &mut Rng, world: &World, number: usize) -> Signature {
    let capacity = *rng.pick(&[0, 0, 1, 1, 2]);
    if world.can_send_records && rng.chance(1, 3) {
        return Signature { fields: vec![Field::Record], capacity };
    }
    let mut fields = Vec::new();
    for _ in 0..*rng.pick(&[1, 1, 2, 2, 3]) {
        fields.push(match rng.below(8) {
            0 | 1 if !world.constants.is_empty() => Field::Mtype,
            2 if number > 0 => Field::Channel(rng.below(number)),
            _ => Field::Number(Type::random_field(rng)),
        });
    }
    Signature { fields, capacity }
}

/// The part of a declaration that makes a channel.
pub(super) fn signature_text(signature: &Signature) -> String {
    let fields: Vec<&str> = signature
        .fields
        .iter()
        .map(|field| match field {
            Field::Number(of) => of.word(),
            Field::Mtype => "mtype",
            Field::Channel(_) => "chan",
            Field::Record => "Record",
        })
        .collect();
    format!("[{}] of {{ {} }}", signature.capacity, fields.join(", "))
}

/// An inline works on the globals, on a variable and on an expression.
fn declare_inline(rng: &mut Rng, world: &mut World, out: &mut Vec<String>) {
    if !rng.chance(1, 4) {
        return;
    }
    let nobody = Plan::default();
    let mut author = Author { rng, world, plan: &nobody, locals: Vec::new(), n_names: 0, is_in_dstep: true };
    let (condition, value) = (author.condition(Here { is_in_dstep: true, ..TOP }), author.value());
    let body = match author.rng.below(4) {
        0 => format!("v = w; if :: {condition} -> v = {value} :: else fi"),
        1 => format!("atomic {{ v = w; {condition}; v = {value} }}"),
        2 => format!("d_step {{ v = w & 3; if :: (v < 2) -> v++ :: else -> v = {value} fi }}"),
        _ => format!("if :: (w == 1) -> v = {value} :: {condition} -> skip fi"),
    };
    out.push(format!("inline change(v, w) {{ {body} }}"));
    world.inlines.push(Inline { name: "change".into() });
}

/// The outermost place of a process.
pub(super) const TOP: Here =
    Here { depth: 0, is_in_loop: false, may_jump: true, is_in_dstep: false, is_in_atomic: false };

fn plan_processes(rng: &mut Rng, world: &mut World) {
    let n_active = *rng.pick(&[1, 2, 2, 3]);
    let n_dynamic = if n_active == 1 { 1 } else { rng.below(2) };
    let mut n_started = 0;
    for i in 0..n_active + n_dynamic {
        let is_active = i < n_active;
        let mut plan = Plan { name: format!("P{i}"), ..Plan::default() };
        let n_instances = if !is_active { 0 } else { *rng.pick(&[1, 1, 1, 2]) };
        plan.pids = (n_started..n_started + n_instances).collect();
        n_started += n_instances;
        if !is_active {
            plan.parameters = random_parameters(rng, world);
        }
        plan_locals(rng, world, &mut plan);
        world.plans.push(plan);
        if n_started >= 3 && is_active && n_dynamic == 0 {
            break;
        }
    }
    if n_dynamic > 0 {
        plan_init(rng, world);
    }
}

/// `init` stands anywhere among the processes; numbers go by the order in the text.
fn plan_init(rng: &mut Rng, world: &mut World) {
    let mut init = Plan { name: "init".into(), is_init: true, ..Plan::default() };
    plan_locals(rng, world, &mut init);
    let at = rng.below(world.plans.len() + 1);
    world.plans.insert(at, init);
    let mut n_started = 0;
    for plan in &mut world.plans {
        let n_instances = if plan.is_init { 1 } else { plan.pids.len() };
        plan.pids = (n_started..n_started + n_instances).collect();
        n_started += n_instances;
    }
}

fn random_parameters(rng: &mut Rng, world: &World) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    for i in 0..rng.below(3) {
        parameters.push(if rng.chance(1, 2) {
            Parameter::Number(scalar(format!("p{i}"), Type::random_field(rng)))
        } else {
            let signature = rng.below(world.signatures.len());
            Parameter::Channel(Channel { text: format!("p{i}"), signature, is_variable: true })
        });
    }
    parameters
}

fn plan_locals(rng: &mut Rng, world: &World, plan: &mut Plan) {
    for i in 0..rng.between(1, 2) {
        plan.locals.push(scalar(format!("l{i}"), Type::random(rng)));
    }
    if rng.chance(1, 6) {
        plan.locals.push(Variable { name: "la".into(), of: Type::random_field(rng), length: Some(2) });
    }
    let signature = rng.below(world.signatures.len());
    if rng.chance(1, 8) {
        plan.own.push(Channel { text: "own".into(), signature, is_variable: false });
    }
    if rng.chance(1, 5) {
        plan.borrowed.push(Channel { text: "lent".into(), signature, is_variable: true });
    }
    let prefixes = ["L", "L", "L", "end", "progress"];
    plan.labels = (0..rng.below(3)).map(|i| format!("{}{i}", rng.pick(&prefixes))).collect();
}

/// A condition over globals.
fn invariant(rng: &mut Rng, world: &World) -> String {
    let scalars: Vec<&Variable> = world.numbers.iter().filter(|v| v.length.is_none()).collect();
    let one = |rng: &mut Rng| {
        let variable = &rng.pick(&scalars).name;
        format!("{variable} {} {}", rng.pick(&["!=", "<", "<=", "=="]), rng.below(5))
    };
    match rng.below(3) {
        0 => one(rng),
        1 => format!("{} || {}", one(rng), one(rng)),
        _ => format!("!({} && {})", one(rng), one(rng)),
    }
}

/// A condition over globals, channels and labels.
fn proposition(rng: &mut Rng, world: &World) -> String {
    let started = world.plans.iter().flat_map(|plan| plan.pids.iter().map(move |pid| (plan, pid)));
    let labels: Vec<String> = started
        .filter(|(plan, _)| !plan.is_init)
        .flat_map(|(plan, pid)| plan.labels.iter().map(move |label| format!("{}[{pid}]@{label}", plan.name)))
        .collect();
    match rng.below(6) {
        0 if !labels.is_empty() => rng.pick(&labels).clone(),
        1 => format!("len({}) == {}", rng.pick(&world.channels).text, rng.below(2)),
        _ => {
            let variable = rng.pick(&world.numbers);
            let index = variable.length.map_or_else(String::new, |length| format!("[{}]", rng.below(length)));
            format!("{}{index} {} {}", variable.name, rng.pick(&["==", ">", "<="]), rng.below(3))
        }
    }
}

impl Author<'_> {
    fn process(rng: &mut Rng, world: &World, plan: &Plan) -> Process {
        let mut locals = plan.locals.clone();
        for parameter in &plan.parameters {
            if let Parameter::Number(variable) = parameter {
                locals.push(variable.clone());
            }
        }
        let mut author = Author { rng, world, plan, locals, n_names: 0, is_in_dstep: false };
        let head = author.head();
        let body = author.body();
        Process { head, body }
    }

    fn head(&mut self) -> String {
        if self.plan.is_init {
            return "init".to_owned();
        }
        let active = match self.plan.pids.len() {
            0 => String::new(),
            1 => "active ".to_owned(),
            n => format!("active [{n}] "),
        };
        let parameters: Vec<String> = self
            .plan
            .parameters
            .iter()
            .map(|parameter| match parameter {
                Parameter::Number(variable) => variable.of.declare(&variable.name),
                Parameter::Channel(channel) => format!("chan {}", channel.text),
            })
            .collect();
        let provided = if self.rng.chance(1, 12) {
            let globals: Vec<&Variable> = self.world.numbers.iter().filter(|v| v.length.is_none()).collect();
            let name = &self.rng.pick(&globals).name;
            format!(" provided ({name} != {})", self.rng.between(1, 3))
        } else {
            String::new()
        };
        format!("{active}proctype {}({}){provided}", self.plan.name, parameters.join("; "))
    }

    fn body(&mut self) -> Vec<Statement> {
        let mut body = self.declarations();
        for channel in &self.plan.borrowed {
            let start = self.channel_of(channel.signature);
            body.extend(start.map(|start| Statement::basic(format!("{} = {start}", channel.text))));
        }
        if self.plan.is_init {
            body.extend(self.runs());
        }
        let n = self.rng.between(2, 3).max(self.plan.labels.len());
        let labelled = self.rng.sample(self.plan.labels.len(), n);
        for i in 0..n {
            let mut statement = self.statement(TOP);
            if let Some(label) = labelled.iter().position(|&at| at == i) {
                // Nobody may jump into a `d_step`.
                if statement.begins_with_dstep() || statement.begins_with_jump() {
                    append(&mut body, statement);
                    statement = Statement::basic("skip");
                }
                statement = Statement::Labelled(self.plan.labels[label].clone(), Box::new(statement));
            }
            append(&mut body, statement);
        }
        body
    }

    fn declarations(&mut self) -> Vec<Statement> {
        let mut declarations = Vec::new();
        for local in &self.plan.locals {
            declarations.push(Statement::basic(match local.length {
                None if self.rng.chance(1, 3) => {
                    format!("{} = {}", local.of.declare(&local.name), self.rng.below(3))
                }
                None => local.of.declare(&local.name),
                Some(length) => format!("{} {}[{length}]", local.of.word(), local.name),
            }));
        }
        for channel in &self.plan.own {
            let of = signature_text(&self.world.signatures[channel.signature]);
            declarations.push(Statement::basic(format!("chan {} = {of}", channel.text)));
        }
        for channel in &self.plan.borrowed {
            declarations.push(Statement::basic(format!("chan {}", channel.text)));
        }
        declarations
    }

    /// The first processes that `init` starts.
    fn runs(&mut self) -> Vec<Statement> {
        let n = self.rng.between(1, 2);
        let runs: Vec<Statement> = (0..n).filter_map(|_| self.run().map(Statement::Basic)).collect();
        if self.rng.chance(1, 2) { vec![Statement::Block("atomic".into(), runs)] } else { runs }
    }
}
