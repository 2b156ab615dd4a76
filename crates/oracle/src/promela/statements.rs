//! Random statements.

use super::Statement;
use super::random::Author;
use super::scope::{Channel, Here, Parameter, Type, Variable};

/// Appends a statement. What ends a loop may not lead into a `d_step` at once: SPIN calls it a jump.
pub(super) fn append(sequence: &mut Vec<Statement>, statement: Statement) {
    let is_after_block = sequence.last().is_some_and(|last| !matches!(last, Statement::Basic(_)));
    if is_after_block && statement.begins_with_dstep() {
        sequence.push(Statement::basic("skip"));
    }
    sequence.push(statement);
}

impl Author<'_> {
    /// Some statements in a row.
    pub(super) fn sequence(&mut self, most: usize, here: Here) -> Vec<Statement> {
        let mut sequence = Vec::new();
        for _ in 0..self.rng.between(1, most) {
            let statement = self.statement(here);
            append(&mut sequence, statement);
        }
        sequence
    }

    /// A statement of any kind.
    pub(super) fn statement(&mut self, here: Here) -> Statement {
        match self.rng.below(32) {
            _ if here.depth >= 3 || here.depth == 2 && self.rng.chance(1, 2) => self.basic(here),
            0..=4 => Statement::Select(self.options(here)),
            5..=7 if here.is_in_atomic && self.rng.chance(9, 10) => self.counting_loop(here),
            5..=7 => self.repeat(here),
            8..=11 => {
                let body = self.sequence(3, Here { is_in_atomic: true, ..here.deeper() });
                Statement::Block("atomic".into(), body)
            }
            12 | 13 => self.dstep(here),
            14 | 15 => self.unless(here),
            16 => self.counting_loop(here),
            17 => self.scoped_block(here),
            18 | 19 => self.jump(here).unwrap_or_else(|| self.basic(here)),
            20 => self.bounded_run().unwrap_or_else(|| self.basic(here)),
            _ => self.basic(here),
        }
    }

    fn basic(&mut self, here: Here) -> Statement {
        Statement::Basic(self.basic_text(here))
    }

    fn basic_text(&mut self, here: Here) -> String {
        match self.rng.below(24) {
            0..=4 => format!("{} = {}", self.place(), self.value()),
            5 if self.rng.chance(1, 3) => format!("{}{}", self.place(), self.rng.pick(&["++", "--"])),
            5 => {
                let place = self.scalar();
                format!("{place} = ({place} + 1) % {}", self.rng.between(2, 4))
            }
            6..=9 => self.send().unwrap_or_else(|| self.condition(here)),
            10..=13 => self.receive().unwrap_or_else(|| self.condition(here)),
            14 | 15 => self.assertion(here),
            16 => self.rng.pick(&["skip", "true", "printf(\"here\\n\")"]).to_string(),
            17 => {
                let least = self.rng.below(2);
                format!("select({} : {least} .. {})", self.scalar(), least + self.rng.between(1, 2))
            }
            18 => self.inline_call().unwrap_or_else(|| self.condition(here)),
            19 => self.mtype_change().unwrap_or_else(|| self.condition(here)),
            20 => self.lend().unwrap_or_else(|| self.condition(here)),
            _ => self.condition(here),
        }
    }

    fn assertion(&mut self, here: Here) -> String {
        let condition = match self.rng.below(5) {
            0 => format!("{} || {}", self.condition(Here { is_in_dstep: true, ..here }), self.expr(1)),
            1 => match self.wild_element() {
                Some(element) => format!("{element} < 200"),
                None => self.expr(0),
            },
            2 => format!("({} & 7) != {}", self.expr(0), self.rng.below(8)),
            _ => format!("{} < {}", self.place(), self.rng.between(1, 5)),
        };
        format!("assert({condition})")
    }

    fn inline_call(&mut self) -> Option<String> {
        let inlines = &self.world.inlines;
        let name = (!inlines.is_empty()).then(|| self.rng.pick(inlines).name.clone())?;
        Some(format!("{name}({}, {})", self.place(), self.small()))
    }

    fn mtype_change(&mut self) -> Option<String> {
        let variables = &self.world.mtypes;
        let name = (!variables.is_empty()).then(|| self.rng.pick(variables).name.clone())?;
        Some(format!("{name} = {}", self.rng.pick(&self.world.constants)))
    }

    /// A variable for channels gets another one.
    fn lend(&mut self) -> Option<String> {
        let variables: Vec<Channel> = self.channels().into_iter().filter(|c| c.is_variable).collect();
        let variable = (!variables.is_empty()).then(|| self.rng.pick(&variables).clone())?;
        let other = self.channel_of(variable.signature)?;
        Some(format!("{} = {other}", variable.text))
    }

    /// All channels in scope.
    pub(super) fn channels(&self) -> Vec<Channel> {
        let parameters = self.plan.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Channel(channel) => Some(channel),
            Parameter::Number(_) => None,
        });
        let all = self.world.channels.iter().chain(parameters).chain(&self.plan.own);
        all.chain(&self.plan.borrowed).cloned().collect()
    }

    /// A channel with a signature that is certainly one. A process's own channel dies with it, so it is not
    /// given away.
    pub(super) fn channel_of(&mut self, signature: usize) -> Option<String> {
        let fitting: Vec<Channel> =
            self.world.channels.iter().filter(|c| c.signature == signature).cloned().collect();
        (!fitting.is_empty()).then(|| self.rng.pick(&fitting).text.clone())
    }

    /// A channel with a buffer.
    pub(super) fn buffered(&mut self) -> Option<String> {
        let is_buffered = |c: &Channel| self.world.signatures[c.signature].capacity > 0;
        let channels: Vec<Channel> = self.channels().into_iter().filter(is_buffered).collect();
        (!channels.is_empty()).then(|| self.rng.pick(&channels).text.clone())
    }

    /// A channel, as written; an element of an array of channels sometimes by an index that is computed.
    fn written(&mut self, channel: &Channel) -> String {
        match channel.text.strip_suffix("[0]") {
            Some(array) if self.rng.chance(1, 2) => {
                let index = if self.rng.chance(1, 2) { "_pid % 2".into() } else { self.scalar() + " & 1" };
                format!("{array}[{index}]")
            }
            _ => channel.text.clone(),
        }
    }

    fn send(&mut self) -> Option<String> {
        let channels = self.channels();
        let channel = (!channels.is_empty()).then(|| self.rng.pick(&channels).clone())?;
        let signature = self.world.signatures[channel.signature].clone();
        let contents: Vec<String> = signature.fields.into_iter().map(|field| self.content(field)).collect();
        let operator = if signature.capacity > 1 && self.rng.chance(1, 4) { "!!" } else { "!" };
        Some(format!("{}{operator}{}", self.written(&channel), contents.join(",")))
    }

    fn receive(&mut self) -> Option<String> {
        let channels = self.channels();
        let channel = (!channels.is_empty()).then(|| self.rng.pick(&channels).clone())?;
        let signature = self.world.signatures[channel.signature].clone();
        let patterns = self.patterns(&signature.fields, false);
        let mut written = self.written(&channel);
        // SPIN evaluates the index again when a part of the message has been received.
        if written
            .split_once('[')
            .is_some_and(|(_, index)| patterns.contains(index.trim_end_matches(" & 1]")))
        {
            written = channel.text;
        }
        let operator = if signature.capacity > 0 && self.rng.chance(1, 4) { "??" } else { "?" };
        Some(if signature.capacity > 0 && self.rng.chance(1, 8) {
            format!("{written}{operator}<{patterns}>")
        } else {
            format!("{written}{operator}{patterns}")
        })
    }

    /// A `run` of a process type that does not exist at the beginning.
    pub(super) fn run(&mut self) -> Option<String> {
        let dynamic: Vec<_> =
            self.world.plans.iter().filter(|plan| plan.pids.is_empty() && !plan.is_init).collect();
        let plan = (!dynamic.is_empty()).then(|| *self.rng.pick(&dynamic))?;
        let mut arguments = Vec::new();
        for parameter in &plan.parameters {
            arguments.push(match parameter {
                Parameter::Number(_) if self.rng.chance(1, 2) => self.small(),
                Parameter::Number(_) => format!("({})", self.value()),
                Parameter::Channel(channel) => self.channel_of(channel.signature)?,
            });
        }
        let run = format!("run {}({})", plan.name, arguments.join(", "));
        Some(if self.rng.chance(1, 4) { format!("{} = {run}", self.scalar()) } else { run })
    }

    /// A `run` that does not run away.
    fn bounded_run(&mut self) -> Option<Statement> {
        let run = self.run()?;
        let guard = Statement::basic(format!("(_nr_pr < {})", self.rng.between(3, 4)));
        Some(Statement::Block("atomic".into(), vec![guard, Statement::Basic(run)]))
    }

    fn options(&mut self, here: Here) -> Vec<Vec<Statement>> {
        let mut options = Vec::new();
        for _ in 0..self.rng.between(1, 3) {
            options.push(self.option(here));
        }
        if self.rng.chance(1, 3) {
            let mut option = vec![Statement::basic("else")];
            if self.rng.chance(2, 3) {
                option.extend(self.sequence(2, here.deeper()));
            }
            options.insert(self.rng.below(options.len() + 1), option);
        }
        options
    }

    fn option(&mut self, here: Here) -> Vec<Statement> {
        let mut option = vec![match self.rng.below(10) {
            0..=5 => Statement::Basic(self.condition(here)),
            6..=8 => self.basic(here),
            _ => self.statement(here.deeper()),
        }];
        if self.rng.chance(2, 3) {
            option.extend(self.sequence(2, here.deeper()));
        }
        option
    }

    fn repeat(&mut self, here: Here) -> Statement {
        let inside = Here { is_in_loop: true, ..here };
        let mut options: Vec<_> = (0..self.rng.between(1, 2)).map(|_| self.option(inside)).collect();
        let exit = match self.rng.below(5) {
            0 => vec![Statement::basic("else"), Statement::basic("break")],
            1 => vec![Statement::basic("break")],
            2 => vec![Statement::Basic(self.condition(here)), Statement::basic("break")],
            3 => vec![Statement::basic("else")],
            _ => return Statement::Repeat(options),
        };
        options.insert(self.rng.below(options.len() + 1), exit);
        Statement::Repeat(options)
    }

    /// Blocks rarely and ends always: what SPIN says of others depends on its search.
    fn dstep(&mut self, here: Here) -> Statement {
        let inside = Here { is_in_dstep: true, may_jump: false, ..here };
        self.is_in_dstep = true;
        let mut body = Vec::new();
        if self.rng.chance(1, 2) {
            body.push(Statement::Basic(self.condition(inside)));
        }
        for _ in 0..self.rng.between(1, 3) {
            body.push(match self.rng.below(6) {
                0 => {
                    let (condition, other) = (self.condition(inside), self.condition(inside));
                    let assigned = |author: &mut Self| {
                        Statement::Basic(format!("{} = {}", author.place(), author.value()))
                    };
                    Statement::Select(vec![
                        vec![Statement::Basic(condition), assigned(self)],
                        vec![Statement::Basic(other)],
                        vec![Statement::basic("else"), assigned(self)],
                    ])
                }
                1 => match self.buffered_send() {
                    Some(send) => send,
                    None => Statement::basic("skip"),
                },
                // One that begins with an assertion is executed by SPIN in the middle of a rendezvous of others.
                2 if !body.is_empty() => Statement::Basic(self.assertion(inside)),
                3 => {
                    let (counter, place) = (self.scalar(), self.place());
                    let body = vec![Statement::basic(format!("{place} = {}", self.small()))];
                    let is_same = place == counter || !self.can_count(&counter);
                    match is_same {
                        true => Statement::basic("skip"),
                        false => Statement::Block(format!("for ({counter} : 0 .. 1)"), body),
                    }
                }
                _ => Statement::basic(format!("{} = {}", self.place(), self.value())),
            });
        }
        self.is_in_dstep = false;
        Statement::Block("d_step".into(), body)
    }

    /// Whether a variable can go up to two: a bit never gets there.
    fn can_count(&self, name: &str) -> bool {
        let all = self.world.numbers.iter().chain(&self.locals);
        let mut found = all.filter(|v| v.name == name);
        found.all(|v| !matches!(v.of, Type::Bit | Type::Unsigned(1)))
    }

    /// A send that does not block.
    fn buffered_send(&mut self) -> Option<Statement> {
        let channels = self.channels();
        let is_buffered = |c: &&Channel| self.world.signatures[c.signature].capacity > 0;
        let channel = channels.iter().find(is_buffered)?.clone();
        let fields = self.world.signatures[channel.signature].fields.clone();
        let contents: Vec<String> = fields.into_iter().map(|field| self.content(field)).collect();
        let send = format!("{}!{}", channel.text, contents.join(","));
        Some(Statement::Select(vec![
            vec![Statement::basic(format!("nfull({})", channel.text)), Statement::Basic(send)],
            vec![Statement::basic("else")],
        ]))
    }

    fn unless(&mut self, here: Here) -> Statement {
        let inside = Here { may_jump: here.may_jump && self.rng.chance(1, 3), ..here.deeper() };
        let main = self.sequence(3, inside);
        let mut escape = vec![match self.rng.below(4) {
            0 => Statement::Basic(self.receive().unwrap_or_else(|| "skip".into())),
            _ => Statement::Basic(self.condition(Here { is_in_dstep: true, ..here })),
        }];
        if self.rng.chance(2, 3) {
            escape.extend(self.sequence(2, inside));
        }
        Statement::Unless(main, escape)
    }

    fn counting_loop(&mut self, here: Here) -> Statement {
        let counter = self.scalar();
        let inside = Here { is_in_loop: true, ..here.deeper() };
        let most = if self.can_count(&counter) { self.rng.between(0, 2) } else { 0 };
        let body = self.sequence(2, inside);
        // A body that sets the counter back would make a loop without an end.
        let most = if here.is_in_atomic { 0 } else { most };
        Statement::Block(format!("for ({counter} : 0 .. {most})"), body)
    }

    /// A block with a variable of its own.
    fn scoped_block(&mut self, here: Here) -> Statement {
        self.n_names += 1;
        let (name, of) = (format!("t{}", self.n_names), Type::random(self.rng));
        let start = if self.rng.chance(1, 2) { format!(" = {}", self.place()) } else { String::new() };
        let mut body = vec![Statement::basic(format!("{}{start}", of.declare(&name)))];
        self.locals.push(Variable { name, of, length: None });
        body.extend(self.sequence(3, here.deeper()));
        self.locals.pop();
        Statement::Block(String::new(), body)
    }

    fn jump(&mut self, here: Here) -> Option<Statement> {
        if !here.may_jump {
            return None;
        }
        if here.is_in_loop && self.rng.chance(1, 2) {
            return Some(Statement::basic("break"));
        }
        let labels = &self.plan.labels;
        if here.is_in_atomic && self.rng.chance(3, 4) {
            return None;
        }
        (!labels.is_empty()).then(|| Statement::basic(format!("goto {}", self.rng.pick(labels))))
    }
}
