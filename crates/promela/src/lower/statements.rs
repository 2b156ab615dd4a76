//! Statements: from the syntax tree to elements of the control flow, in the order of SPIN's parser.

use super::Lowering;
use super::flow::{Goto, Idle, Kind, Label, Target};
use super::types::Type;
use crate::ast::{self, Block, ExprKind, Reference, SendOrder, Statement, StatementKind};
use stubborn_network::{Action, BinaryOp, ChannelTest, Expr, Pattern, Place, Run, Width};
use stubborn_text::Span;

impl Lowering<'_> {
    /// The body of a process.
    pub(super) fn body(&mut self, block: &Block) {
        self.flow.open();
        self.scoped(|lowering| lowering.statements(&block.statements));
        // The process ends at its closing brace.
        let start = block.span.end.saturating_sub(1).max(block.span.start);
        self.flow.add(Kind::Stop, Span { start, ..block.span });
        self.flow.close();
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// `{ ... }` as a sequence of its own, with a scope.
    fn block(&mut self, block: &Block) -> usize {
        self.flow.open();
        self.is_start = false;
        self.scoped(|lowering| lowering.statements(&block.statements));
        self.pad(block.span);
        self.flow.close()
    }

    /// A sequence without elements (it held only promises about channels, or errors) gets a skip.
    fn pad(&mut self, span: Span) {
        if self.flow.sequences[self.flow.current()].first.is_none() {
            self.flow.add(Kind::Statement(Action::Skip), span);
        }
    }

    /// Adds a statement to the innermost sequence; returns the element that a label before it labels.
    fn statement(&mut self, statement: &Statement) -> Option<usize> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Declaration(declaration) => {
                self.local(declaration);
                return None;
            }
            StatementKind::Exclusive { channels, .. } => {
                for channel in channels {
                    self.channel(channel);
                }
                return None;
            }
            _ => self.is_start = false,
        }
        match &statement.kind {
            StatementKind::Labelled(label, inner) => return self.labelled(label, inner),
            StatementKind::If(options) => {
                let options = self.options(options);
                return Some(self.flow.select(options, span));
            }
            StatementKind::Do(options) => {
                self.flow.begin_loop();
                let options = self.options(options);
                return Some(self.flow.repeat(options, span));
            }
            StatementKind::For(variable, from, to, body) => {
                return self.for_range(variable, from, to, body, span);
            }
            StatementKind::ForIn(variable, list, body) => return self.for_in(variable, list, body, span),
            StatementKind::Select(variable, from, to) => return self.select_loop(variable, from, to, span),
            StatementKind::Unless(main, escape) => return self.unless(main, escape, span),
            _ => {}
        }
        let kind = match &statement.kind {
            StatementKind::Atomic(block) => {
                let sequence = self.block(block);
                self.flow.make_atomic(sequence, false);
                Kind::Atomic(sequence)
            }
            StatementKind::DStep(block) => {
                let sequence = self.block(block);
                self.flow.make_atomic(sequence, true);
                Kind::DStep(sequence)
            }
            StatementKind::Block(block) => Kind::Block(self.block(block)),
            StatementKind::Break => match self.flow.loops.last() {
                Some(&number) => Kind::Jump(Target::Break(number)),
                None => {
                    self.error("P0325", span, "`break` outside a loop");
                    return None;
                }
            },
            StatementKind::Goto(label) => {
                let scope = self.scope_path();
                self.flow.gotos.push(Goto { name: label.name.clone(), scope, span: label.span });
                Kind::Jump(Target::Label(self.flow.gotos.len() - 1))
            }
            basic => Kind::Statement(self.action(basic)?),
        };
        let idle = match &statement.kind {
            StatementKind::Print { .. } => Some(Idle::Print),
            // What goes to `_` is evaluated.
            _ if kind == Kind::Statement(Action::Skip) && self.mentions.is_empty() => Some(Idle::Skip),
            _ => None,
        };
        let element = self.flow.add(kind, span);
        self.flow.elements[element].idle = idle;
        self.flow.elements[element].mentions = std::mem::take(&mut self.mentions);
        Some(element)
    }

    fn labelled(&mut self, label: &ast::Ident, inner: &Statement) -> Option<usize> {
        let scope = self.scope_path();
        let element = self.statement(inner)?;
        self.add_label(label, scope, element);
        Some(self.separate_label(label, element))
    }

    fn add_label(&mut self, label: &ast::Ident, scope: Vec<usize>, element: usize) {
        if self.flow.labels.iter().any(|l| l.name == label.name && l.scope == scope) {
            self.error("P0302", label.span, format!("label `{}` is declared twice", label.name));
        }
        self.flow.labels.push(Label { name: label.name.clone(), scope, element });
    }

    /// A special label before a `goto`, or one that somebody refers to from outside, needs a state: the jump
    /// gets a `skip` before it.
    fn separate_label(&mut self, label: &ast::Ident, element: usize) -> usize {
        if !matches!(self.flow.elements[element].kind, Kind::Jump(_)) {
            return element;
        }
        let is_special = ["accept", "end", "progress"].iter().any(|p| label.name.starts_with(p));
        let is_remote = self.facts.remote_labels.contains(&(self.process.clone(), label.name.clone()));
        if !is_special && !is_remote {
            return element;
        }
        let span = self.flow.elements[element].span;
        // The skip takes the place of the jump, which moves behind it.
        let jump = self.flow.element(self.flow.elements[element].kind.clone(), span);
        self.flow.elements[element].kind = Kind::Statement(Action::Skip);
        if is_special {
            // SPIN makes the skip after the jump.
            let number = self.flow.elements[element].number.take();
            self.flow.elements[element].number = self.flow.elements[jump].number.take();
            self.flow.elements[jump].number = number;
        } else {
            // SPIN makes the second jump when everything else is there; it is never a step.
            self.flow.elements[jump].number = None;
            self.flow.n_numbered -= 1;
        }
        self.flow.append(jump, self.flow.current());
        element
    }

    fn options(&mut self, options: &[Block]) -> Vec<usize> {
        let mut sequences = Vec::new();
        for option in options {
            self.flow.open();
            self.statements(&option.statements);
            self.pad(option.span);
            sequences.push(self.flow.close());
        }
        for &option in &sequences {
            self.flow.prune(option);
        }
        sequences
    }

    fn assign(&mut self, place: &Place, value: Expr, span: Span) -> usize {
        self.flow.add(Kind::Statement(Action::Assign(place.clone(), value)), span)
    }

    fn increment(&mut self, place: &Place, span: Span) {
        let one = Box::new(Expr::Constant(1));
        let value = Expr::Binary(BinaryOp::Add, Box::new(Expr::Load(place.clone())), one);
        self.assign(place, value, span);
    }

    fn compare(&mut self, op: BinaryOp, place: &Place, bound: Expr, span: Span) {
        let condition = Expr::Binary(op, Box::new(Expr::Load(place.clone())), Box::new(bound));
        self.flow.add(Kind::Statement(Action::Guard(condition)), span);
    }

    /// The option that leaves a loop.
    fn leave(&mut self, with_else: bool, span: Span) -> usize {
        self.flow.open();
        if with_else {
            self.flow.add(Kind::Statement(Action::Else), span);
        }
        let number = *self.flow.loops.last().expect("in a loop");
        self.flow.add(Kind::Jump(Target::Break(number)), span);
        self.flow.close()
    }

    fn for_range(
        &mut self,
        variable: &Reference,
        from: &ast::Expr,
        to: &ast::Expr,
        body: &Block,
        span: Span,
    ) -> Option<usize> {
        let place = self.scalar(variable)?;
        self.note_read(&place);
        let (from, to) = (self.expr(from)?, self.expr(to)?);
        self.count_loop(&place, from, to, body, span)
    }

    fn count_loop(&mut self, place: &Place, from: Expr, to: Expr, body: &Block, span: Span) -> Option<usize> {
        self.flow.begin_loop();
        self.assign(place, from, span);
        self.flow.open();
        self.compare(BinaryOp::LessEqual, place, to, span);
        self.scoped(|lowering| lowering.statements(&body.statements));
        self.increment(place, span);
        let body = self.flow.close();
        let leave = self.leave(true, span);
        Some(self.flow.repeat(vec![leave, body], span))
    }

    /// Over the indices of an array, or over the messages of a channel (by turning it round once).
    fn for_in(&mut self, variable: &Reference, list: &Reference, body: &Block, span: Span) -> Option<usize> {
        let target = self.target(list)?;
        if let Some(length) = target.length {
            let place = self.scalar(variable)?;
            self.note_read(&place);
            let (from, to) = (Expr::Constant(0), Expr::Constant(length as i32 - 1));
            return self.count_loop(&place, from, to, body, span);
        }
        let fields = self.scalars(variable)?;
        fields.iter().for_each(|place| self.note_read(place));
        if target.type_of != Type::Scalar(super::types::Scalar::Chan) {
            self.error("P0326", list.span, "`for ... in` needs an array or a channel");
            return None;
        }
        let counter = self.hidden_local("_for", Width::Byte);
        let channel = Expr::Load(target.place);
        self.flow.begin_loop();
        self.assign(&counter, Expr::Constant(0), span);
        self.flow.open();
        let length = Expr::Channel(ChannelTest::Len, Box::new(channel.clone()));
        self.compare(BinaryOp::Less, &counter, length, span);
        let receive = Action::Receive {
            channel: channel.clone(),
            is_random: false,
            is_copy: false,
            fields: fields.iter().cloned().map(Pattern::Bind).collect(),
        };
        self.flow.add(Kind::Statement(receive), span);
        let fields = fields.into_iter().map(Expr::Load).collect();
        self.flow.add(Kind::Statement(Action::Send { channel, is_sorted: false, fields }), span);
        self.scoped(|lowering| lowering.statements(&body.statements));
        self.increment(&counter, span);
        let body = self.flow.close();
        let leave = self.leave(true, span);
        Some(self.flow.repeat(vec![leave, body], span))
    }

    fn select_loop(
        &mut self,
        variable: &Reference,
        from: &ast::Expr,
        to: &ast::Expr,
        span: Span,
    ) -> Option<usize> {
        let place = self.scalar(variable)?;
        self.note_read(&place);
        let (from, to) = (self.expr(from)?, self.expr(to)?);
        self.assign(&place, from, span);
        self.flow.open();
        self.compare(BinaryOp::Less, &place, to, span);
        self.flow.begin_loop();
        self.increment(&place, span);
        let body = self.flow.close();
        let leave = self.leave(false, span);
        Some(self.flow.repeat(vec![leave, body], span))
    }

    fn unless(&mut self, main: &Statement, escape: &Statement, span: Span) -> Option<usize> {
        // `label: { ... } unless ...`: the label belongs to a block around it all.
        if let StatementKind::Labelled(label, inner) = &main.kind
            && let StatementKind::Block(_) | StatementKind::Atomic(_) | StatementKind::DStep(_) = &inner.kind
        {
            let scope = self.scope_path();
            self.flow.open();
            self.unless(inner, escape, span);
            let sequence = self.flow.close();
            let element = self.flow.add(Kind::Block(sequence), span);
            self.add_label(label, scope, element);
            return Some(element);
        }
        let before = self.flow.elements.len();
        let main_sequence = self.unless_part(main);
        let escape_sequence = self.unless_part(escape);
        // SPIN makes what stands in braces first, then a bare escape, then a bare main statement.
        let is_bare = |part: &Statement| !matches!(part.kind, StatementKind::Block(_));
        let late = [(escape, escape_sequence), (main, main_sequence)];
        let late = late.into_iter().filter(|(part, _)| is_bare(part)).map(|(_, sequence)| sequence);
        self.flow.number_last(before, late);
        Some(self.flow.unless(main_sequence, escape_sequence, span))
    }

    fn unless_part(&mut self, part: &Statement) -> usize {
        if let StatementKind::Block(block) = &part.kind {
            return self.block(block);
        }
        self.flow.open();
        self.statement(part);
        self.pad(part.span);
        self.flow.close()
    }

    /// A basic statement.
    fn action(&mut self, statement: &StatementKind) -> Option<Action> {
        match statement {
            StatementKind::Assign(target, value) => self.assignment(target, value),
            StatementKind::Increment(target, value) => {
                // What is in its indices is read all the same.
                self.assignable(target)?;
                self.quietly(|lowering| lowering.assignment(target, value))
            }
            StatementKind::Guard(expr) => match &expr.kind {
                ExprKind::Run { name, arguments, priority } => {
                    self.run(name, arguments, priority.as_deref(), None)
                }
                _ => match self.expr(expr)? {
                    Expr::Constant(1) => Some(Action::Skip),
                    condition => Some(Action::Guard(condition)),
                },
            },
            StatementKind::Else => Some(Action::Else),
            StatementKind::Send { channel: name, order, arguments } => {
                let channel = self.channel(name);
                let fields = self.expressions(arguments);
                let (channel, fields) = (channel?, fields?);
                self.check_message(name, fields.len())?;
                let is_sorted = *order == SendOrder::Sorted;
                Some(Action::Send { channel, is_sorted, fields })
            }
            StatementKind::Receive { channel: name, mode, arguments } => {
                let channel = self.channel(name);
                let fields = self.patterns(arguments);
                let (channel, fields) = (channel?, fields?);
                self.check_message(name, fields.len())?;
                let (is_random, is_copy) = (mode.is_random, mode.is_copy);
                Some(Action::Receive { channel, is_random, is_copy, fields })
            }
            StatementKind::Print { arguments, .. } => {
                self.mentions = self.quietly(|lowering| lowering.expressions(arguments))?;
                Some(Action::Skip)
            }
            StatementKind::Assert(expr) => Some(Action::Assert(self.expr(expr)?)),
            StatementKind::SetPriority(process, priority) => {
                self.uses_priority = true;
                let (process, priority) = (self.expr(process), self.expr(priority));
                Some(Action::SetPriority(process?, priority?))
            }
            _ => None,
        }
    }

    /// What is wrong with a message of `found` fields on this channel, as far as it can be known before the
    /// model runs. As in SPIN, only what no channel could take is an error.
    fn check_message(&mut self, channel: &Reference, found: usize) -> Option<()> {
        let most = self.facts.most_fields;
        // SPIN's simulator reads from the keyboard through a channel of this name.
        if self.is_final && found > most && &*channel.parts[0].name.name != "STDIN" {
            let message = match most {
                0 => "no channel has messages".to_owned(),
                _ => format!("a message of {found} fields, but no channel has more than {most}"),
            };
            self.error("P0332", channel.span, message);
            return None;
        }
        self.check_length(channel, found)
    }

    fn assignment(&mut self, target: &Reference, value: &ast::Expr) -> Option<Action> {
        if let [part] = target.parts.as_slice()
            && &*part.name.name == "_priority"
        {
            self.uses_priority = true;
            return Some(Action::SetPriority(Expr::Pid, self.expr(value)?));
        }
        let place = self.assignable(target);
        if let ExprKind::Run { name, arguments, priority } = &value.kind {
            let result = place?.map(|place| (place, Expr::Started));
            return self.run(name, arguments, priority.as_deref(), result);
        }
        let value = self.expr(value);
        match (place?, value?) {
            (Some(place), value) => Some(Action::Assign(place, value)),
            (None, value) => {
                self.mentions.push(value);
                Some(Action::Skip)
            }
        }
    }

    fn run(
        &mut self,
        name: &ast::Ident,
        arguments: &[ast::Expr],
        priority: Option<&ast::Expr>,
        result: Option<(Place, Expr)>,
    ) -> Option<Action> {
        let kind = self.process_kind(name)?;
        let arguments = self.expressions(arguments)?;
        let wanted = self.signatures[kind].1;
        if arguments.len() != wanted {
            let found = arguments.len();
            let message = format!("proctype `{}` takes {wanted} arguments, not {found}", name.name);
            self.error("P0327", name.span, message);
            return None;
        }
        let priority = self.priority(priority);
        Some(Action::Run(Run { kind, arguments, priority, result }))
    }
}
