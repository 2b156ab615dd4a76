//! Expressions: names become places, operators stay.

use super::Lowering;
use super::types::{Scalar, Type};
use crate::ast::{self, ExprKind, ReceiveArgument, Reference};
use stubborn_network::{Expr, LocationId, Pattern, Place, Scope, Width};
use stubborn_text::{Diagnostic, Span};

impl Lowering<'_> {
    /// Lowers an expression; none if an error was reported.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Option<Expr> {
        Some(match &expr.kind {
            ExprKind::Number(value) => Expr::Constant(*value),
            ExprKind::Reference(reference) => return self.load(reference),
            ExprKind::Unary(op, a) => {
                let ast::UnaryOp::Plain(op) = op else { return self.temporal(expr.span) };
                Expr::Unary(*op, Box::new(self.expr(a)?))
            }
            ExprKind::Binary(op, a, b) => {
                let ast::BinaryOp::Plain(op) = op else { return self.temporal(expr.span) };
                let (a, b) = (self.expr(a), self.expr(b));
                Expr::Binary(*op, Box::new(a?), Box::new(b?))
            }
            ExprKind::Conditional(a, b, c) => {
                let (a, b, c) = (self.expr(a), self.expr(b), self.expr(c));
                Expr::Conditional(Box::new(a?), Box::new(b?), Box::new(c?))
            }
            ExprKind::Channel(test, channel) => Expr::Channel(*test, Box::new(self.channel(channel)?)),
            ExprKind::Poll { channel: name, is_random, arguments } => {
                let channel = Box::new(self.channel(name)?);
                let fields = self.patterns(arguments)?;
                self.check_length(name, fields.len())?;
                Expr::Poll { channel, is_random: *is_random, fields }
            }
            ExprKind::Run { .. } => {
                self.error("P0319", expr.span, "`run` can only stand alone or be assigned");
                return None;
            }
            ExprKind::Timeout => Expr::Timeout,
            ExprKind::NonProgress => Expr::NonProgress,
            ExprKind::Enabled(process) => Expr::Enabled(Box::new(self.expr(process)?)),
            ExprKind::PcValue(process) => Expr::PcValue(Box::new(self.expr(process)?)),
            ExprKind::GetPriority(process) => {
                self.uses_priority = true;
                Expr::Priority(Box::new(self.expr(process)?))
            }
            ExprKind::RemoteLabel { process, index, label } => {
                return self.remote_label(process, index.as_deref(), label);
            }
            ExprKind::RemoteVariable { process, index, variable } => {
                return self.remote_variable(process, index.as_deref(), variable);
            }
        })
    }

    fn temporal(&mut self, span: Span) -> Option<Expr> {
        self.error("P0320", span, "a temporal operator can stand in an `ltl` formula only, and there not within a value: join formulas with `&&`, `||`, `!`, `->`, `<->`");
        None
    }

    /// The value of a reference, which may also be a constant or a predefined name.
    pub(super) fn load(&mut self, reference: &Reference) -> Option<Expr> {
        if let [part] = reference.parts.as_slice()
            && part.index.is_none()
            && self.lookup(&part.name.name).is_none()
        {
            if let Some(&value) = self.mtypes.get(&part.name.name) {
                return Some(Expr::Constant(value));
            }
            if let Some(expr) = self.predefined(&part.name.name) {
                return Some(expr);
            }
            if &*part.name.name == "_" {
                self.error("P0321", reference.span, "`_` can be written but not read");
                return None;
            }
        }
        let place = self.scalar(reference)?;
        self.note_read(&place);
        Some(Expr::Load(place))
    }

    /// The value of a reference that must mean a channel.
    pub(super) fn channel(&mut self, reference: &Reference) -> Option<Expr> {
        let value = self.load(reference)?;
        let is_variable = self.lookup(&reference.parts[0].name.name).is_some();
        if is_variable && self.target(reference)?.type_of == Type::Scalar(Scalar::Chan) {
            return Some(value);
        }
        let message = format!("`{}` is no channel", self.map.snippet(reference.span));
        let diagnostic = Diagnostic::error("P0331", reference.span, message);
        self.report(diagnostic.help("only a `chan` has messages"));
        None
    }

    /// Warns of a message of `found` fields if the channel was declared with another number of them. The
    /// variable may hold another channel when the model runs.
    pub(super) fn check_length(&mut self, channel: &Reference, found: usize) -> Option<()> {
        let target = self.target(channel)?;
        let declared = target.channel.filter(|_| channel.parts.len() == 1);
        let expected = declared.map(|kind| self.channels[kind].fields.len());
        if let Some(expected) = expected.filter(|&expected| expected != found) {
            let name = target.place.text;
            let message = format!("`{name}` was declared with messages of {expected} fields, not {found}");
            self.report(Diagnostic::warning("P0333", channel.span, message));
        }
        Some(())
    }

    /// A variable is read, or SPIN counts it so.
    pub(super) fn note_read(&mut self, place: &Place) {
        if !self.is_quiet && place.scope == Scope::Global {
            self.read.insert(place.offset);
        }
    }

    /// Does `work`; nothing that it mentions counts as read.
    pub(super) fn quietly<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_quiet, true);
        let result = work(self);
        self.is_quiet = before;
        result
    }

    fn predefined(&mut self, name: &str) -> Option<Expr> {
        Some(match name {
            "_pid" => Expr::Pid,
            "_nr_pr" => Expr::ProcessCount,
            "_last" => {
                self.uses_last = true;
                Expr::Load(self.last())
            }
            "_priority" => {
                self.uses_priority = true;
                Expr::Priority(Box::new(Expr::Pid))
            }
            _ => return None,
        })
    }

    /// Several expressions; a record stands for its fields.
    pub(super) fn expressions(&mut self, list: &[ast::Expr]) -> Option<Vec<Expr>> {
        let mut out = Vec::new();
        let mut is_complete = true;
        for expr in list {
            if let ExprKind::Reference(reference) = &expr.kind
                && &*reference.parts[0].name.name == "_"
                && &*self.process == ":trace:"
            {
                // What is not constant in an event of a trace matches anything.
                out.push(Expr::Pid);
                continue;
            }
            if let ExprKind::Reference(reference) = &expr.kind
                && self.lookup(&reference.parts[0].name.name).is_some()
            {
                match self.scalars(reference) {
                    Some(places) => {
                        places.iter().for_each(|place| self.note_read(place));
                        out.extend(places.into_iter().map(Expr::Load));
                    }
                    None => is_complete = false,
                }
                continue;
            }
            match self.expr(expr) {
                Some(expr) => out.push(expr),
                None => is_complete = false,
            }
        }
        is_complete.then_some(out)
    }

    /// The arguments of a receive or poll.
    pub(super) fn patterns(&mut self, arguments: &[ReceiveArgument]) -> Option<Vec<Pattern>> {
        let mut out = Vec::new();
        for argument in arguments {
            match argument {
                ReceiveArgument::Eval(expr) | ReceiveArgument::Constant(expr) => {
                    out.push(Pattern::Match(self.expr(expr)?));
                }
                ReceiveArgument::Variable(reference) => {
                    let name = &reference.parts[0].name.name;
                    if self.lookup(name).is_some() {
                        let places = self.scalars(reference)?;
                        places.iter().for_each(|place| self.note_read(place));
                        out.extend(places.into_iter().map(Pattern::Bind));
                    } else if &**name == "_" {
                        out.push(Pattern::Ignore);
                    } else {
                        match self.load(reference)? {
                            expr @ Expr::Constant(_) => out.push(Pattern::Match(expr)),
                            _ => {
                                let message = format!("`{name}` cannot be assigned");
                                let diagnostic = Diagnostic::error("P0322", reference.span, message);
                                let help = format!("`eval({name})` receives only what is equal to it");
                                self.report(diagnostic.help(help));
                                return None;
                            }
                        }
                    }
                }
            }
        }
        Some(out)
    }

    /// The index of a process type.
    pub(super) fn process_kind(&mut self, name: &ast::Ident) -> Option<usize> {
        let found = self.signatures.iter().position(|(known, _)| *known == name.name);
        if found.is_none() {
            self.error("P0323", name.span, format!("there is no proctype `{}`", name.name));
        }
        found
    }

    fn remote_label(
        &mut self,
        process: &ast::Ident,
        index: Option<&ast::Expr>,
        label: &ast::Ident,
    ) -> Option<Expr> {
        let kind = self.process_kind(process)?;
        let index = self.optional(index)?;
        self.remote_labels.insert((process.name.clone(), label.name.clone()));
        let known = self.facts.processes.get(&process.name);
        let location = known.and_then(|known| known.labels.get(&label.name)).copied();
        if location.is_none() && self.is_final {
            let message = format!("proctype `{}` has no label `{}`", process.name, label.name);
            self.error("P0324", label.span, message);
            return None;
        }
        let location = LocationId(location.unwrap_or(0));
        Some(Expr::RemoteLocation { kind, process: index, location })
    }

    fn remote_variable(
        &mut self,
        process: &ast::Ident,
        index: Option<&ast::Expr>,
        variable: &ast::ReferencePart,
    ) -> Option<Expr> {
        let kind = self.process_kind(process)?;
        let index = self.optional(index)?;
        let name = &variable.name;
        let known = self.facts.processes.get(&process.name);
        let Some(symbol) = known.and_then(|k| k.locals.get(&name.name)).cloned() else {
            if self.is_final {
                let message = format!("proctype `{}` has no variable `{}`", process.name, name.name);
                self.error("P0324", name.span, message);
            }
            return (!self.is_final).then_some(Expr::Constant(0));
        };
        let reference = Reference { parts: vec![variable.clone()], span: name.span };
        let place: Place = self.target_in(&reference, symbol)?.place;
        Some(Expr::RemoteLoad { kind, process: index, place })
    }

    /// `None` inside means that there was no expression, outside that there was an error.
    #[allow(clippy::option_option)]
    fn optional(&mut self, expr: Option<&ast::Expr>) -> Option<Option<Box<Expr>>> {
        match expr {
            None => Some(None),
            Some(expr) => Some(Some(Box::new(self.expr(expr)?))),
        }
    }

    /// The place that an assignment writes to; none inside for `_`.
    #[allow(clippy::option_option)]
    pub(super) fn assignable(&mut self, reference: &Reference) -> Option<Option<Place>> {
        let name = &reference.parts[0].name.name;
        if self.lookup(name).is_some() {
            return self.scalar(reference).map(Some);
        }
        if &**name == "_" {
            return Some(None);
        }
        let is_fixed = self.mtypes.contains_key(name) || matches!(&**name, "_pid" | "_nr_pr" | "_last");
        if is_fixed {
            self.error("P0322", reference.span, format!("`{name}` cannot be assigned"));
            return None;
        }
        self.scalar(reference).map(Some)
    }

    /// A scalar that only lowering knows.
    pub(super) fn hidden_local(&mut self, name: &str, width: Width) -> Place {
        let offset = self.locals_size;
        self.locals_size += width.bytes();
        let scope = Scope::Local;
        let (length, stride) = (1, width.bytes());
        self.locals.push(stubborn_network::Variable {
            name: name.to_owned(),
            offset,
            width,
            length,
            stride,
            is_channel: false,
            names: None,
            is_scalar: true,
            is_read: true,
        });
        Place { scope, offset, width, indices: Vec::new(), text: name.to_owned() }
    }
}
